# %%
import math
from copy import deepcopy
from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional as F

from course_lessons.lesson_16_memory_networks import figures
from course_utils import check, predict, reveal
from course_utils.data.stories import ANSWERS, VOCABULARY, stories
from course_utils.figures import diagrams
from course_utils.figures.tables import table
from course_utils.models.train_model import train_model

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# A network reads a story and is then asked a question. Often, no single sentence is enough: the network has to find one fact and use it to find another, or compare a fact with the question. We call this *reasoning*. Can attention do it?
#
# We build a network that queries its story several times and test whether its answers depend on the facts that it looks at. Then we look for its limits.
#
# ## A story and a question
#
# A small program writes our stories, in which people go to places, take things and drop them. We use 4,000 stories for training and another 4,000 for testing. We follow one of the test stories through the lesson. Which of its facts do you need for the answer?

# %% tags=["nbval-check-output"]
_, training = stories("two facts", number=4000, seed=0)
new_texts, new = stories("two facts", number=4000, seed=1)  # as text, as numbers
example = new_texts[1003]
for number, fact in enumerate(example.facts, 1):
    print(number, fact)
print(example.question)

# %% [markdown]
# You need fact 4, which says who has the milk, and fact 7, which says where Daniel went. The facts that an answer rests on are called its **supporting facts**. Fact 7 is the difficult one, because it does not mention the milk: the question leads to it only through Daniel.
#
# ## A sentence becomes a vector
#
# A **memory network** turns each fact into a vector, called a **memory** (Weston et al., 2014). We build the version proposed by Sukhbaatar et al. (2015). The simplest memory is the sum of the word vectors, as in a bag of words.
#
# Does a sum preserve enough information? Questions are encoded in the same way as facts. Here are two questions with the same words but different answers: one asks what lies north of the garden, the other what lies south of it. How far apart are the sums of their word vectors?


# %% tags=["nbval-check-output"]
torch.manual_seed(0)
one = "what is north of the garden".split()
other = "what is the garden north of".split()
vectors = {word: torch.randn(8) for word in one}  # D = 8
x = torch.stack([vectors[word] for word in one])  # J D: J words
y = torch.stack([vectors[word] for word in other])  # J D
distance = (x.sum(0) - y.sum(0)).norm()
print(f"the two sums are {distance:.2f} apart")

# %% [markdown]
# The two sums are the same, because the two questions contain the same words and a sum ignores their order.
#
# To preserve the order, each word vector is multiplied by position-dependent weights before the vectors are summed. The paper calls this **position encoding** (section 4.1). For a sentence of J words with vectors $x_1, \dots, x_J$ of dimension D, each feature d of $x_j$ is multiplied by a weight $l_{jd}$ ($\circ$ denotes elementwise multiplication):
#
# $$m = \sum_{j=1}^{J} l_j \circ x_j \qquad\qquad l_{jd} = \Big(1 - \frac{j}{J}\Big) - \frac{d}{D}\Big(1 - \frac{2j}{J}\Big)$$
#
# The weight equals $(1 - d/D)(1 - j/J) + (d/D)(j/J)$, the sum of a decreasing and an increasing term. For $d$ below $D/2$, it falls from word to word, and above $D/2$ it rises. The plot shows these weights for the first question. Do they give the two questions different vectors?


# %%
def position_encoding(J, D):
    j = torch.arange(1, J + 1).unsqueeze(1)  # J 1: a row for each word
    d = torch.arange(1, D + 1)  # D: a column for each feature
    return (1 - j / J) - d / D * (1 - 2 * j / J)  # J D


encoding = position_encoding(6, 8)  # J D
distance = ((encoding * x).sum(0) - (encoding * y).sum(0)).norm()
print(f"the two weighted sums are {distance:.2f} apart")
figures.draw_position_encoding(encoding, one)

# %% [markdown]
# The two questions now get different vectors, because the first word has the largest weight in the first features and the last word in the last features.
#
# ## One hop
#
# The question is encoded as a vector $u$ in the same way. One pass over all the facts is called a **hop**. A hop needs two memories of each fact $i$, computed from different word vectors: a key $m_i$ and a value $c_i$. It works like attention in lesson 03: $p_i$ is the weight of fact $i$, and $o$ is what the hop reads from the facts. Finally, $o$ is added to the question:
#
# $$p = \text{softmax}(u^\top m_1,\, u^\top m_2,\, \dots) \qquad o = \sum_i p_i\, c_i \qquad u' = u + o$$
#
# For the two facts in the next cell, compute $u'$, the next question, on paper. Remember that $e^{\ln 3}$ is 3.

# %% tags=["nbval-check-output"]
u = torch.tensor([1.0, 0.0])  # D: the question
m = torch.tensor([[math.log(3), 0.0], [0.0, 1.0]])  # M D: a key for each fact
c = torch.tensor([[0.0, 4.0], [8.0, 0.0]])  # M D: a value for each fact
p = (m @ u).softmax(0)  # M
o = p[0] * c[0] + p[1] * c[1]  # D
print("weights      ", p)
print("read         ", o)
print("next question", u + o)

# %% [markdown]
# The next question is (3, 3). The scores are ln 3 and 0, so the weights are 3/4 and 1/4. The vector $o$ is $3/4 \cdot (0, 4) + 1/4 \cdot (8, 0) = (2, 3)$, to which we add $u = (1, 0)$.
#
# The function `hop` does the same for a batch of B stories with M facts each. Shorter stories are padded, and the mask is True for real facts. Does the next question change if we swap the two facts?


# %% tags=["nbval-check-output"]
def hop(u, m, c, mask):  # B D, B M D, B M D, B M
    scores = (m @ u.unsqueeze(-1)).squeeze(-1)  # B M D @ B D 1 is B M 1; then B M
    p = scores.masked_fill(~mask, -torch.inf).softmax(-1)  # B M: the weights
    o = (p.unsqueeze(1) @ c).squeeze(1)  # B 1 M @ B M D is B 1 D; then B D
    return u + o, p


questions = u.unsqueeze(0)  # B D: a batch of one
keys = m.unsqueeze(0)  # B M D
values = c.unsqueeze(0)  # B M D
mask = torch.tensor([[True, True]])  # B M
in_order, _ = hop(questions, keys, values, mask)  # B D
swapped, _ = hop(questions, keys.flip(1), values.flip(1), mask)  # B D
print("in order", in_order)
print("swapped ", swapped)

# %% [markdown]
# Swapping the facts makes no difference, because a hop sums their values, and a sum ignores their order. But if Daniel goes to the garden and then to the office, the order determines where he is.
#
# We therefore add to each memory a learned vector for the **age** of its fact: the latest fact has age 0, the one before it age 1, and so on. The position encoding preserves the order of the words in a fact, and the ages preserve the order of the facts.
#
# ## Several hops
#
# Our question needs two facts, one of which leads to the other. After one hop, $u'$ contains both the question and what the hop read, so it can query the facts again in a second hop.
#
# You have seen this step in the Transformer (lesson 12): an attention layer adds what it reads to its input. A hop does the same for a single query, and two hops are like two such layers, except that only the question is updated, never the facts. In the diagram, $M^0$, $M^1$ and $M^2$ each hold a memory of every fact. They are computed with three different embeddings. Each is a table with a learned vector for each word, and the first also produces the question vector. Guess which set of memories is used twice.

# %%
diagrams.memory_hops()

# %% [markdown]
# $M^1$ is used twice: its memories are the values of hop 1 and the keys of hop 2. With this **adjacent tying**, K hops need K + 1 embeddings.
#
# For our story, the plan is this: hop 1 compares the question with $M^0$, finds "daniel took the milk" and reads this fact's vector from $M^1$. The keys of hop 2 are in $M^1$ too, so the "daniel" that hop 1 reads and the "daniel" in these keys come from the same embedding. The facts about Daniel therefore match the next question, and their ages show which is the latest, so hop 2 can find "daniel went to the bathroom".
#
# The first half of the network turns sentences into memories. Shorter sentences are padded with word number 0, whose vector is zero, so J is the same for all sentences.


# %%
class SentenceReader(nn.Module):
    def __init__(self, hops, D, longest):  # longest: facts in the longest story
        super().__init__()
        V = len(VOCABULARY)
        ks = range(hops + 1)  # for each k: an embedding, and a vector for each age
        self.embeddings = nn.ModuleList(nn.Embedding(V, D, padding_idx=0) for _ in ks)
        self.ages = nn.ParameterList(0.1 * torch.randn(longest, D) for _ in ks)

    # k is the number of an embedding, as in M^k
    def encode(self, sentences, k):  # B J, or B M J: each word as its number
        x = self.embeddings[k](sentences)  # B J D, or B M J D
        J, D = x.shape[-2:]  # its last two axes
        return (x * position_encoding(J, D)).sum(-2)  # B D, or B M D

    def as_memories(self, facts, mask, k):  # B M J, B M
        number = mask.cumsum(1)  # B M: 1 at the first fact, 2 at the second
        age = mask.sum(1, keepdim=True) - number  # B M: 0 at the last fact
        return self.encode(facts, k) + self.ages[k][age]  # B M D


# %% [markdown]
# The second half answers the questions. Its **readout** is a single matrix that turns the last $u$ into a logit for each possible answer.


# %%
class Answered(NamedTuple):
    logits: torch.Tensor  # B A: A possible answers
    weights: torch.Tensor  # B K M: of each hop


class MemoryNetwork(SentenceReader):
    def __init__(self, hops, D=20, longest=50):
        super().__init__(hops, D, longest)
        self.readout = nn.Linear(D, len(ANSWERS), bias=False)
        for embedding in self.embeddings:
            nn.init.normal_(embedding.weight.data[1:], std=0.1)  # all but padding
        self.hops = hops
        self.hop = hop  # kept here so that it can be replaced

    def forward(self, facts, mask, question):  # B M J, B M, B J
        u = self.encode(question, 0)  # B D
        weights = []
        for k in range(self.hops):  # 0 for hop 1
            keys = self.as_memories(facts, mask, k)  # B M D
            values = self.as_memories(facts, mask, k + 1)  # B M D
            u, p = self.hop(u, keys, values, mask)  # B D, B M
            weights.append(p)
        return Answered(self.readout(u), torch.stack(weights, 1))


# %% [markdown]
# ## Does each hop find its fact?
#
# We train a network with two hops for 600 steps. The loss depends only on the answers: nothing tells the network which facts support them. As in the paper, we begin with a **linear start**: for the first 300 steps, `fit` replaces `network.hop` with a hop that uses the raw scores as weights, without a softmax. This is meant to help avoid poor solutions.
#
# After training, we ask the network about our story. The plot shows both hops' weights, with red frames around the supporting facts. Does each hop look at the fact it needs?


# %%
def linear_hop(u, m, c, mask):  # B D, B M D, B M D, B M
    p = (m @ u.unsqueeze(-1)).squeeze(-1) * mask  # B M
    return u + (p.unsqueeze(1) @ c).squeeze(1), p


def fit(network, data, seed, steps, linear_steps=0):
    step = 0

    def batch_loss(generator):  # train_model calls this at every step
        nonlocal step  # the step of fit
        network.hop = linear_hop if step < linear_steps else hop
        step += 1
        rows = torch.randint(len(data.answer), (32,), generator=generator)  # B
        facts = data.facts[rows]  # B M J
        logits, _ = network(facts, data.mask[rows], data.question[rows])
        return F.cross_entropy(logits, data.answer[rows])

    train_model(network, batch_loss, seed, steps, rate=0.01)


def train(hops, seed=0):
    torch.manual_seed(seed)
    network = MemoryNetwork(hops)
    fit(network, training, seed, steps=600, linear_steps=300)
    return network


two_hops = train(hops=2)
print(figures.draw_hops(two_hops, example.facts, example.question, support=(4, 7)))

# %% [markdown]
# In our story, each hop finds its fact: hop 1 finds "daniel took the milk" and hop 2 "daniel went to the bathroom".
#
# Now we compute each hop's mean weight on the two supporting facts over all 4,000 new stories. One of these facts is the last in which somebody takes or drops the object; it says who had it. The table has one column for takes and one for drops. The other fact says where that person was. Check whether each hop's weight on its fact is far larger than equal weights would be.

# %%
figures.mean_weights(two_hops, new_texts, new)

# %% [markdown]
# Two of the mean weights are more than five times the equal weights: hop 1 looks at who took the object, and hop 2 at where that person was. Nearly all answers are correct. But hop 1 gives hardly any weight to facts in which the object is dropped, although the object then stays where it was dropped. We return to this below.
#
# ## Do the answers depend on the facts with large weights?
#
# Weights show which facts a hop looks at, but not whether the answer depends on them, so we remove facts. A hop's **top fact** is the fact with the largest score. The functions below are hops that read either only their top fact or every fact except it.


# %%
def top_fact(u, m, mask):  # B D, B M D, B M
    scores = (m * u.unsqueeze(1)).sum(-1)  # B M D times B 1 D, summed: B M
    scores = scores.masked_fill(~mask, -torch.inf)  # B M
    best = scores.argmax(-1)  # B
    return F.one_hot(best, mask.shape[1]).bool()  # B M: True at one fact


def hop_to_top_fact(u, m, c, mask):  # B D, B M D, B M D, B M
    return hop(u, m, c, top_fact(u, m, mask))


def hop_to_others(u, m, c, mask):  # B D, B M D, B M D, B M
    return hop(u, m, c, mask & ~top_fact(u, m, mask))


# %% [markdown]
# We use these hops in our network and in two more, trained with different seeds. What share of the new questions will they answer correctly with the top facts alone?

# %%
predict("16.top", ...)


# %% tags=["reveals"]
@torch.no_grad()
def share_right(network, asked):
    logits, _ = network(asked.facts, asked.mask, asked.question)
    return (logits.argmax(-1) == asked.answer).float().mean().item()


networks = [two_hops, train(hops=2, seed=1), train(hops=2, seed=2)]
ways = {
    "all facts": hop,
    "the top fact alone": hop_to_top_fact,
    "all but the top fact": hop_to_others,
}
rows = {}
for name, way in ways.items():
    shares = []
    for network in networks:
        network.hop = way
        shares.append(share_right(network, new))
        network.hop = hop  # as it was
    rows[name] = [torch.tensor(shares)]  # shown as mean [lowest to highest]
by_top_fact = rows["the top fact alone"][0].mean().item()
print("With the top fact alone:")
reveal("16.top", round(by_top_fact, 2))
table(rows, ["right answers of three networks"], corner="what each hop reads", digits=2)

# %% [markdown]
# The top fact is enough: with it alone, the networks get nearly all questions right. Without it, they get only about a quarter right. The answers therefore depend on the facts that the hops look at.
#
# ## Remove a hop
#
# If it takes a second hop to reach fact 7, a network with one hop should fail. What share of the new questions will it answer correctly?

# %%
predict("16.one_hop", ...)

# %% tags=["reveals"]
print("With one hop:")
one_hop = train(hops=1)
right = share_right(one_hop, new)
reveal("16.one_hop", round(right, 2))

# %% [markdown]
# With one hop, the network answers fewer than half of the questions correctly. But a guess among six places would be right only one time in six, so perhaps the network follows a simple rule: name the place to which most moves lead. Do the network and the rule agree?

# %%
figures.compare_with_votes(one_hop, new_texts, new)

# %% [markdown]
# On most stories, the network names a place that people move to most often, and it is right about as often as the rule. The second hop is therefore needed: one hop adds up what each fact says by itself, and a move does not say who has the object.
#
# ## Does it follow the milk?
#
# But does our two-hop network know what happens to the milk? We continue our story: Daniel drops the milk and goes to the kitchen. The milk stays in the bathroom, so the supporting facts are now the drop and Daniel's last move before it. What does the network say?

# %%
goes_on = example.facts + ["daniel dropped the milk", "daniel went to the kitchen"]
print(figures.draw_hops(two_hops, goes_on, "where is the milk", support=(9, 7)))

# %% [markdown]
# The network says "kitchen", which is wrong. Hop 1 hardly looks at the drop and still looks at "daniel took the milk", while hop 2 looks most at Daniel's last move. The network follows the person, not the milk.
#
# Following the person is a **shortcut**: it is not the correct rule, but it gives the correct answer in most stories. It fails only if the person drops the object, moves on and does not come back, which is so rare that the good score hides the shortcut.
#
# But the shortcut also fails in about 3% of the training stories. Can the networks learn from these in a second round of training? We train copies of our three networks for another 600 steps, without a linear start. In the new stories where the shortcut fails, do the copies still name the person's last place?

# %%
second_round = []
for seed, network in enumerate(networks):
    copied = deepcopy(network)
    fit(copied, training, seed=10 + seed, steps=600)  # it trains the copy
    second_round.append(copied)
rounds = {"first round": networks, "second round": second_round}
figures.draw_what_is_followed(rounds, new_texts, new)
print("after the second round:")
figures.mean_weights(second_round[0], new_texts, new)

# %% [markdown]
# The shortcut fails in 116 of the 4,000 new stories. In these stories, nearly all answers after the first round name the person's last place, and hardly any are correct. After the second round, about one in six names this place, and most answers are correct. Hop 1 now gives most of its weight to a drop as well. The second round removes most of the shortcut. Would one longer run do the same? If the first 300 of its 1,200 steps are linear, it hardly removes the shortcut. If only the first 150 are, it usually removes as much of the shortcut as the second round does, but not for every seed ([our measurements](../docs/measurements.md#what-memories-can-do)).
#
# **Your turn**: in a new cell, run `print(figures.draw_hops(second_round[0], goes_on, "where is the milk"))`. Then change the list `goes_on`, using the same words, and try to fool this network.
#
# <details><summary>Answer</summary>
#
# Our story no longer fools the network, which now says "bathroom". Try a story in which several people take and drop the milk.
#
# </details>
#
# ## Are longer stories harder?
#
# So far, no story has had more than 10 facts. We now ask the three networks from the second round about stories of 12 to 20 facts, in which facts can have ages of 10 to 19. These ages never occurred in training, so their vectors are still random. In copies of the networks, we replace them with the vector for age 9. Does that help?

# %%
_, longer = stories("two facts", number=1000, seed=2, shortest=12, longest=20)
repaired = deepcopy(second_round)
for network in repaired:
    for ages in network.ages:  # 50 D: a vector for each age
        ages.data[10:] = ages.data[9]


def share_wrong(networks, asked):
    shares = [1 - share_right(network, asked) for network in networks]
    return [torch.tensor(shares)]  # shown as mean [lowest to highest]


rows = {
    "2 to 10 facts": share_wrong(second_round, new),
    "12 to 20 facts": share_wrong(second_round, longer),
    "12 to 20, ages up to 9": share_wrong(repaired, longer),
}
table(rows, ["wrong answers of three networks"], corner="stories", digits=2)

# %% [markdown]
# In longer stories, each of the three networks gets far more answers wrong. The vector for age 9 helps, so the random vectors are one reason, but not the only one.
#
# ## Which questions does it get wrong?
#
# Our program also asks other kinds of questions, like those in bAbI, a set of small reasoning tasks (Weston et al., 2015). For each kind and number of hops, we have trained five networks for 1,500 steps, with a linear start of 150. For each kind, the next cell prints the facts that one question needs, then this question and its answer. Guess which kind the networks with two hops get wrong most often.

# %% tags=["nbval-check-output"]
kinds = ["one fact", "two facts", "three facts", "north of", "yes or no"]
for kind in kinds:
    texts, _ = stories(kind, number=3, seed=0)
    story = texts[2]
    needed = [story.facts[i] for i in sorted(story.support)]
    print(f"{kind}: {', '.join(needed)}. {story.question}? {story.answer}")
predict("16.hardest", ...)

# %% tags=["reveals"]
print("The kind with the fewest right answers:")
right = figures.right_by_kind(kinds)  # right[kind]["2 hops"]: five shares
means = {kind: right[kind]["2 hops"].mean() for kind in kinds}
reveal("16.hardest", min(means, key=means.get))
figures.draw_by_kind(right)

# %% [markdown]
# With two hops, the networks get "yes or no" questions wrong most often. For "one fact" and "north of", one hop is enough; for "two facts" and "three facts", every network with two hops beats every network with one. With three hops, two of the five networks for "two facts" get at most about half of the answers right. After 7,500 steps, these two get 98% and 99% right ([our measurements](../docs/measurements.md#what-more-steps-and-other-rates-change)).
#
# A question such as "where was the apple before the hallway?" rests on three facts: who took the apple, that person's move to the hallway, and the move before it. To see how two hops can be enough, we hid one fact at a time from both hops in all five networks. Which facts does an answer need?

# %% tags=["nbval-check-output"]
figures.each_fact_hidden()

# %% [markdown]
# Two hops are enough here, because these networks need only two of the three facts. Hop 1 looks at who took the object, and hop 2 mostly at the move before the one to the named place. Without the move to the named place, the networks get as many answers right as before. The stories make this easy: in 92% of them, the answer is the place where the object was taken. It is then enough to know who took it and where that person was at that moment. A good score does not show that a network follows the whole chain.
#
# For "yes or no", some of the networks do hardly better than a constant answer. These questions require a different kind of reasoning: a comparison rather than a chain of facts.
#
# ## Why is "yes or no" so hard?
#
# For "Is Mary in the kitchen?", the network only has to find her last move. If the hop finds this move, then $u' = u + o$ contains both the place that the question names and the place that the hop has read. To say "yes" if the two are the same, the readout has to compare them. But the readout is one matrix R. The **lead** of "yes" over "no" is the difference of their logits: if it is above 0, the answer is "yes". Since $R(u + o) = Ru + Ro$, the lead is a sum too: a number for the place asked about, from $Ru$, plus a number for the place read, from $Ro$.
#
# In the next cell, choose four numbers for two places so that the lead is above 0 when the places are the same and below 0 otherwise.

# %% tags=["nbval-check-output"]
# what Ru adds for the place asked about, and Ro for the place read
asked = torch.tensor([2.0, -3.0])  # kitchen, garden: change them
read = torch.tensor([1.0, 4.0])  # kitchen, garden: change them
lead = asked.unsqueeze(1) + read  # (2, 1) + (2,) = (2, 2): a row per place asked
same = lead[0, 0] + lead[1, 1]
different = lead[0, 1] + lead[1, 0]
print(f"sum of the two leads, same place: {same:.0f}, different: {different:.0f}")
rows = {"asked: kitchen": lead[0], "asked: garden": lead[1]}
table(rows, ["read: kitchen", "read: garden"], corner='lead of "yes"', digits=0)

# %% [markdown]
# No four numbers do this: the two leads for equal places have the same sum as the other two, because each sum contains all four numbers. The first two therefore cannot both be above 0 while the other two are below it. This is the XOR (exclusive "or") problem, which two layers can solve with a ReLU between them, a function that replaces negative numbers with 0.
#
# If the readout is at fault, two such layers should help, even with one hop. We train a network with such a readout for as many steps as the networks in the figure. What share of the yes-or-no questions will it answer correctly?

# %%
predict("16.hidden", ...)

# %% tags=["reveals"]
_, yes_or_no = stories("yes or no", number=4000, seed=0)
_, new_yes_or_no = stories("yes or no", number=1000, seed=1)
torch.manual_seed(0)
network = MemoryNetwork(hops=1)
first = nn.Linear(20, 64)  # D to 64 hidden units
last = nn.Linear(64, len(ANSWERS), bias=False)
network.readout = nn.Sequential(first, nn.ReLU(), last)
fit(network, yes_or_no, seed=0, steps=1500, linear_steps=150)
print("With the ReLU:")
reveal("16.hidden", round(share_right(network, new_yes_or_no), 2))
figures.compare_readouts()

# %% [markdown]
# The networks in the table were trained in advance. With the ReLU, nearly all answers are correct, and all five networks beat every network with one matrix. Two matrices without a ReLU do not help, because they amount to a single matrix. With one hop, the readout was therefore at fault.
#
# One matrix still does better than chance. With the four numbers, we assumed that the number for the place read does not depend on the place asked about. But the hop also compares: it gives the last move more weight if this move leads to the place asked about ([our measurements](../docs/measurements.md#what-memories-can-do)). With three hops and 4,000 steps, a network with one matrix gets about nine answers in ten right ([two runs](../docs/measurements.md#what-memories-can-do)).
#
# ## Can a network reason about what it has read?
#
# Yes, if two facts lead to the answer and the stories are like those in training. Hop 1 finds who last took the object and, after a second round of training, who last dropped it. From this, hop 2 finds where that person was. With two hops, the network nearly always names the correct place; with one hop, less than half the time.
#
# This answer has three limits. The network may learn a shortcut that a good score hides, as with drops and with three facts. In longer stories, it gets many more answers wrong. And without a ReLU, its readout cannot compare what was asked with what was read.
#
# ## Where you will meet this
#
# | here | in the paper | in PyTorch |
# | --- | --- | --- |
# | `hop` | hop | `scaled_dot_product_attention(…, scale=1.0)` |
# | embedding k, for the keys of hop k + 1 and the values of hop k | $A^{k+1} = C^k$ (A: keys, C: values) | `nn.Embedding(…, padding_idx=0)` |
# | readout | $W$, tied to $C^K$ | `nn.Linear(…, bias=False)`, not tied |

# %% tags=["nbval-check-output"]
attention = F.scaled_dot_product_attention
read = attention(questions[:, None], keys, values, mask[:, None], scale=1.0)  # B 1 D
print("PyTorch reads the same:", torch.allclose(questions + read[:, 0], in_order))

# %% [markdown]
# ## Questions

# %%
check("16.q1", ...)

# %%
check("16.q2", ...)

# %%
check("16.q3", ...)

# %%
check("16.q4", ...)

# %%
check("16.q5", ...)

# %% [markdown]
# ## Recap
#
# - A memory is a sum of word vectors, weighted by position, plus a vector for the fact's age.
# - A hop attends to all facts and adds what it reads to the question. The next hop queries with this sum, so two hops can follow a chain that one hop cannot.
# - A good score can hide a shortcut, which we find by looking at the weights and changing the story.
# - With one hop, one matrix cannot compare two places, but a readout with a ReLU can.
#
# **Exercises**: [open them](../exercises/16_memory_networks_exercises.ipynb)
#
# **Next**: this memory is written once, before the question is asked. [Can attention also write?](17_neural_turing_machines.ipynb)
