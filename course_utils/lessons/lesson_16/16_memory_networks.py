# %%
from copy import deepcopy
from functools import partial
from itertools import pairwise

import ipywidgets
import torch
from torch import nn

from course_utils import check, predict, reveal
from course_utils.data.measured import measured_once
from course_utils.data.stories import ANSWERS, VOCABULARY, stories, trails
from course_utils.figures import diagrams, plots
from course_utils.figures.widgets import explore
from course_utils.models.memory import Answered, fit, score

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## A story and a question
#
# In lesson 15 a decoder looked at a picture. Now the network reads a story, and then it is asked a question about it. A small program makes our stories: people go to places, take things and drop them. Which facts do you need for the answer?

# %% tags=["nbval-check-output"]
texts, training = stories("two facts", 4000, seed=0)
new_texts, unseen = stories("two facts", 4000, seed=1)
for number, fact in enumerate(texts[1].facts, 1):
    print(number, fact)
print(f"\n{texts[1].question}?")

# %% [markdown]
# You need fact 4 (who has the ball) and fact 5 (where John went). We know these **supporting facts**, so we can check where a network looks. But fact 5 does not mention the ball: how can the question find it?
#
# ## A sentence becomes a vector
#
# A **memory network** (Weston et al. 2014; here in the version of Sukhbaatar et al. 2015) stores each fact as a **memory** $m$, the sum of its word vectors $x_j$. A **position encoding** (section 4.1) gives feature $k$ of $D$ a weight for the word's position $j$ of $J$, the number of words (in a batch, that of the longest sentence):
#
# $$l_{kj} = \Big(1 - \frac{j}{J}\Big) - \frac{k}{D}\Big(1 - \frac{2j}{J}\Big) \qquad\qquad m_k = \sum_j l_{kj}\, x_{jk}$$
#
# Can a plain sum tell the two questions below apart?


# %%
def position_encoding(J, D):
    j, k = torch.arange(1, J + 1)[:, None] / J, torch.arange(1, D + 1) / D  # J 1, D
    return (1 - j) - k * (1 - 2 * j)  # J D


torch.manual_seed(0)
one, other = "what is north of the garden", "what is the garden north of"
vectors = {word: torch.randn(8) for word in one.split()}
x, other_x = (torch.stack([vectors[word] for word in text.split()]) for text in (one, other))  # 6 8 each
weights = position_encoding(6, 8)
print(f"distance between the two, plain sums: {(x.sum(0) - other_x.sum(0)).norm():.2f}")
print(f"distance between the two, weighted sums: {(weights * (x - other_x)).sum(0).norm():.2f}")
ax = plots.axes(width=6.4, height=3.4)
plots.weights(weights, range(1, 9), one.split(), ax=ax, xlabel="feature k", ylabel="word j")
ax.tick_params(axis="x", rotation=0)

# %% [markdown]
# It cannot, although the answers differ; the weighted sums can, because the first word counts most in the first features and the last word in the last ones.
#
# The *facts* have an order, too (lesson 11). So each memory also gets a learned vector for the fact's **age**: one for the latest fact, another for the one before.
#
# ## One hop
#
# The question becomes a vector $u$. Each fact has two memories, a key $m_i$ and a value $c_i$. A **hop** looks at all facts:
#
# $$p = \text{softmax}(u^\top m_i) \qquad o = \sum_i p_i\, c_i \qquad u' = u + o$$
#
# Take $u$ = (1, 0), the keys (ln 3, 0) and (0, 1), and the values (0, 4) and (8, 0). What is $u'$?


# %% tags=["nbval-check-output"]
def hop(u, m, c, mask):  # B D, B M D, B M D, B M: True at facts
    scores = (m @ u[..., None])[..., 0]  # B M
    p = scores.masked_fill(~mask, -torch.inf).softmax(-1)  # B M
    o = (p[..., None] * c).sum(1)  # B D
    return u + o, p


u = torch.tensor([[1.0, 0.0]])
m = torch.tensor([[[3.0, 1.0], [1.0, torch.e]]]).log()  # (ln 3, 0) and (0, 1)
c = torch.tensor([[[0.0, 4.0], [8.0, 0.0]]])
after, weights = hop(u, m, c, torch.tensor([[True, True]]))
print("weights:", weights, " next question:", after)

# %% [markdown]
# The scores are ln 3 and 0, so the weights are 3/4 and 1/4, and $o$ = (2, 3). Adding $u$ gives (3, 3).
#
# ## Several hops
#
# After one hop, $u'$ holds the question *and* what was read, so it can ask again. The values of one hop are the keys of the next (**adjacent tying**), so $K$ hops need $K+1$ embeddings. In the diagram, $M^0, M^1, M^2$ are the memories of *all* facts by three embeddings, and $M^1$ is both: what hop 1 reads, and the keys of hop 2. The question uses the first embedding. Which hop has to find which fact?


# %%
class MemoryNetwork(nn.Module):
    def __init__(self, hops, D=20, longest=50):
        super().__init__()
        self.embeddings = nn.ModuleList(nn.Embedding(len(VOCABULARY), D, padding_idx=0) for _ in range(hops + 1))
        self.ages = nn.ParameterList(0.1 * torch.randn(longest, D) for _ in range(hops + 1))
        self.readout, self.hop = nn.Linear(D, len(ANSWERS), bias=False), hop
        for embedding in self.embeddings:
            nn.init.normal_(embedding.weight.data[1:], std=0.1)  # padding, word 0, stays zeros

    def encode(self, sentences, k):  # … J: words, 0 at padding
        x = self.embeddings[k](sentences)  # … J D
        return (x * position_encoding(*x.shape[-2:])).sum(-2)  # … D

    def forward(self, facts, mask, question, linear=False):  # B M J, B M, B J
        age = (mask.flip(1).cumsum(1).flip(1) - 1).clamp(min=0)  # B M; a mask 1 1 1 0 gives 2 1 0 0
        memories = [self.encode(facts, k) + self.ages[k][age] for k in range(len(self.ages))]  # each B M D
        u, weights = self.encode(question, 0), []  # B D
        for m, c in pairwise(memories):
            u, p = (linear_hop if linear else self.hop)(u, m, c, mask)  # linear_hop: for the start of training
            weights.append(p)
        return Answered(self.readout(u), torch.stack(weights, 1))  # B V, B hops M


diagrams.memory_hops()

# %% [markdown]
# "Where is the ball" can find "john took the ball". The first hop reads the whole fact, and so "john"; then the second can ask where John went.
#
# A hop adds up the facts, and a sum has no order: without ages the facts are a set. We train networks without ages, and others without word order. What happens to each kind of question?


# %%
def runs(setup, kind, hops, value="right"):
    """What was measured with each seed, in the order of the seeds."""
    found = measured_once("memory", "seed", value, setup=setup, kind=kind, hops=hops)
    return torch.tensor([number for _, number in sorted(zip(*found, strict=True))])


rows = [("ages: where is mary?", "one fact", "no age"), ("ages: where is the ball?", "two facts", "no age")]
rows += [
    ("word order: north of …?", "north of", "no order"),
    ("word order: where is the ball?", "two facts", "no order"),
]
marks = {row: {"with": runs("linear start", kind, 2), "without": runs(without, kind, 2)} for row, kind, without in rows}
plots.dots(marks, "right answers with two hops, five networks each")

# %% [markdown]
# Without ages the network cannot tell the last move from earlier ones. Without word order, a question about "north of" is answered correctly half of the time, as two places remain possible; "where is the ball" loses little.
#
# ## Take a hop out
#
# We train two hops on 4,000 stories. In the first 150 steps the scores themselves are the weights: this **linear start** (section 4.2) is meant to avoid poor local minima. The network learns from answers only: nobody tells it which fact to look at. Does each hop find the fact it needs?


# %%
def linear_hop(u, m, c, mask):
    p = (m @ u[..., None])[..., 0] * mask  # B M, without a softmax
    return u + (p[..., None] * c).sum(1), p


def train(hops, seed=0, steps=600):
    torch.manual_seed(seed)
    network = MemoryNetwork(hops)
    fit(network, training, seed, steps, linear_steps=150)
    return network


def look(network):
    found = score(network, unseen)
    rows = [on_facts[:2] for on_facts in found.on_facts] + [[(1 / unseen.mask.sum(1)).mean()] * 2]
    names = [*(f"hop {k}" for k in range(1, len(rows))), "equal weights"]
    print(f"right answers to 4,000 new questions: {found.right:.2f}")
    facts, ax = ["who had it last", "where that was"], plots.axes(width=5.6, height=1 + 0.42 * len(rows))
    plots.weights(torch.tensor(rows), facts, names, ax=ax, xlabel="mean weight on the fact", ylabel="")
    _ = ax.set_xticks(range(2), facts, rotation=0, ha="center")


two_hops = train(hops=2)
look(two_hops)
commonest = unseen.answer.bincount().max() / len(unseen.answer)
print(f"right answers if we always name the most frequent place: {commonest:.2f}")

# %% [markdown]
# Yes: hop 1 finds who had the thing last, hop 2 finds where that was, and nearly all answers are right. Now take one hop out. What share will still be right?

# %%
hops, seed = 1, 0  # change them afterwards: three hops, other seeds
predict("16.one_hop", ...)

# %% tags=["reveals"]
print("With the hops and the seed that you chose:")
changed = train(hops, seed)
if hops == 1:
    reveal("16.one_hop", round(score(changed, unseen).right, 2))
look(changed)
with torch.no_grad():
    answered = changed(unseen.facts, unseen.mask, unseen.question).logits.argmax(-1)
moves = [[fact.split()[-1] for fact in one.facts if "went" in fact] for one in new_texts]
often = [[place for place in set(went) if went.count(place) == max(map(went.count, went))] for went in moves]
said = sum(ANSWERS[a] in places for a, places in zip(answered, often, strict=True)) / len(often)
right = sum((one.answer in places) / len(places) for one, places in zip(new_texts, often, strict=True)) / len(often)
print(f"it says a place to which most moves lead: {said:.2f} of its answers")
print(f"right answers if we always name such a place: {right:.2f}")

# %% [markdown]
# It is less than half, as the hop gives almost no weight to who had the thing. The question holds "ball" and not "John", so John's moves look no different from Mary's. Still, it is far more than the most frequent place would get: the moves vote, and in short stories the place with most of them is quite often right.
#
# Now change the line above: `hops, seed = 3, 0`, then `3, 1`. Does a third hop, one more than the story needs, help, do nothing, or harm? Below are the results of five seeds, trained for 1,500 steps.

# %%
marks = {}
for name, setup, hops in (
    ("2 hops", "linear start", 2),
    ("3 hops", "linear start", 3),
    ("3 hops, softmax from the start", "no linear start", 3),
):
    found = torch.stack([runs(setup, "two facts", hops, f"hop{k}_fact1") for k in range(1, hops + 1)])
    marks[name] = {"right answers": runs(setup, "two facts", hops), "weight on who had it last": found.amax(0)}
plots.dots(marks, "two facts, five seeds; the weight is that of the hop that gives most")

# %% [markdown]
# With two hops no network fails; with three hops two of five do, and in these two no hop gives even a third of its weight to who had the thing last. Without the linear start three of five fail: this difference is too small to say that the linear start helps.
#
# ## Does it follow the story?
#
# Look at stories in which somebody drops a thing and goes on. Frames mark the facts that the answer rests on. Move the slider: where does the network say that the thing is?

# %%
trail = trails(new_texts)  # of each story: where the thing was taken, and where its taker went
(hard,) = trail.went_on.nonzero(as_tuple=True)  # stories in which it was dropped, and the person went on
with torch.no_grad():
    seen = two_hops(unseen.facts, unseen.mask, unseen.question)


def weights_of(story):
    number = int(hard[story])
    one, weights = new_texts[number], seen.weights[number, :, : len(new_texts[number].facts)]  # hops M
    answer = ANSWERS[seen.logits[number].argmax()]
    ax = plots.axes(width=4.6, height=0.6 + 0.3 * len(one.facts))
    frames = [(fact, hop) for hop, fact in enumerate(one.support)]
    plots.weights(weights.T, ["hop 1", "hop 2"], one.facts, f"{one.question}?", ax, xlabel="", ylabel="", marked=frames)
    ax.tick_params(axis="x", rotation=0)
    first, second = (one.facts[int(row.argmax())] for row in weights)
    return f"{one.question}? Hop 1 looks most at “{first}” and hop 2 at “{second}”. The network says {answer}; right is {one.answer}."


story_explorer = explore(weights_of, story=ipywidgets.IntSlider(value=2, min=0, max=20))
story_explorer

# %% [markdown]
# In story 2 it follows the person and not the thing: hop 1 looks at the *take*, "mary took the milk", and hardly at the *drop*, where the frame is. How often? For three kinds of stories and three seeds we count right answers, and answers that name the place where the person is at the end. On the right is how hop 1 looks at the take and at the drop.


# %%
@torch.no_grad()
def follows(network, some):
    seen, number = network(unseen.facts, unseen.mask, unseen.question), torch.arange(len(unseen.answer))
    answers, first = seen.logits.argmax(-1), seen.weights[:, 0]  # N, N M
    found = [answers == unseen.answer, answers == trail.person_at]
    found += [first[number, trail.taken], first[number, unseen.support[:, 0]]]
    return torch.stack([each[some].float().mean() for each in found])  # 4


groups = {"dropped, and went on": trail.went_on, "dropped, and stayed": trail.dropped & ~trail.went_on}
groups["not dropped"] = ~trail.dropped
short = [two_hops, train(hops=2, seed=1), train(hops=2, seed=2)]
found = {f"{name}: {some.sum():,}": torch.stack([follows(net, some) for net in short]) for name, some in groups.items()}
answers = {name: {"right": f[:, 0], "person's last place": f[:, 1]} for name, f in found.items()}
looks = {name: {"the take": f[:, 2], "the drop": f[:, 3]} for name, f in list(found.items())[:2]}
left, right = plots.axes(2, width=6, height=2.4)
plots.dots(answers, "share of answers", ax=left)
plots.dots(looks, "weight of hop 1", ax=right)

# %% [markdown]
# Where the thing was dropped and the person went on, most answers are the person's last place. This shortcut goes wrong only in those stories, so the good result on all 4,000 hides it.
#
# Is this the best that the network can do, or has it not finished learning? All three go on training on the same 4,000 stories, for two more rounds of 300 steps, each starting at the full learning rate, and we look at the stories of the first row. Which lines will rise, and which will fall?


# %%
def go_on(network, seed):
    network = deepcopy(network)
    points = [follows(network, trail.went_on)]
    for part in (1, 2):
        fit(network, training, seed=10 * part + seed, steps=300)
        points.append(follows(network, trail.went_on))
    return torch.stack(points, 1)  # 4 3: after 600, 900 and 1,200 steps


columns = ("right answers", "person's last place", "weight of hop 1 on the drop")
panels = plots.axes(3, width=3.3, height=3.2)
for seed, ax in enumerate(panels):
    right, last_place, _, drop = go_on(short[seed], seed)
    lines = {name: line[None] for name, line in zip(columns, (right, last_place, drop), strict=True)}
    plots.curves(range(600, 1201, 300), lines, f"steps, seed {seed}", "" if seed else "share, or weight", ax=ax)
    ax.set(ylim=(0, 1), xticks=range(600, 1201, 300))
    ax.get_legend().remove()
_ = panels[0].figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)

# %% [markdown]
# They had not finished: with more steps, and the learning rate raised again, hop 1 moves weight to the drop with every seed, and right answers rise from a few to most. Some answers still follow the person: the shortcut was learned *first*, and fades slowly.
#
# ## How many hops for which question?
#
# Our program asks other questions, too, modelled on bAbI, a set of small reasoning tasks (Weston et al. 2015). For each kind we train networks with one to three hops. Which kind gets the fewest right answers with two hops?

# %% tags=["nbval-check-output"]
kinds = ("one fact", "two facts", "three facts", "north of", "yes or no", "counting")
for kind in kinds:
    example = stories(kind, 3, seed=0)[0][2]
    print(f"{kind:12} {example.question}? {example.answer}")
predict("16.hardest", ...)

# %% tags=["reveals"]
marks = {}
for kind in kinds:
    marks[kind] = {f"{hops} hop{'s' * (hops > 1)}": runs("linear start", kind, hops) for hops in (1, 2, 3)}
plots.dots(marks, "right answers, after 1,500 steps, five networks each")
reveal("16.hardest", min(marks, key=lambda kind: marks[kind]["2 hops"].mean()))

# %% [markdown]
# "Yes or no" has the fewest right answers with two hops, and we come back to it.
#
# "Two facts" and "three facts" need a second hop. But "three facts" needs no third one: which fact do two hops leave out?

# %%
facts = ["who had it", "the move to the hallway", "the move before"]
looks = [[runs("linear start", "three facts", 2, f"hop{k}_fact{i}").mean() for i in (1, 2, 3)] for k in (1, 2)]
ax, title = plots.axes(width=6.4, height=2), "such as: where was the apple before the hallway?"
plots.weights(torch.tensor(looks), facts, ["hop 1", "hop 2"], title, ax, "mean weight on the fact", "")
_ = ax.set_xticks(range(3), facts, rotation=0, ha="center")

# %% [markdown]
# They hardly look at the move to the hallway, perhaps because the question already names this place. So hops need not be as many as facts. Who had the apple must be known before that person's moves can be found: these two steps take two hops.
#
# Much of bAbI can be answered without seeing the question (Kaushik & Lipton 2018). How much of ours?

# %%
marks, without = {}, "no question"
for kind in kinds:
    marks[kind] = {"the most frequent answer": runs(without, kind, 2, "commonest")}
    marks[kind]["2 hops, no question"] = runs(without, kind, 2)
    marks[kind]["1 hop, with the question"] = runs("linear start", kind, 1)
plots.dots(marks, "right answers, after 1,500 steps, five networks each")
hop_1, hop_2, equal = (runs(without, "two facts", 2, of).mean() for of in ("hop1_fact1", "hop2_fact2", "chance"))
print("“two facts” without the question, mean weights:")
print(f"hop 1, who had it last: {hop_1:.2f}; hop 2, where that was: {hop_2:.2f}; equal weights: {equal:.2f}")

# %% [markdown]
# On "two facts" and "three facts", two hops that never see the question beat one hop that does. The question is then a vector of zeros, so hop 1 gives all facts equal weight; hop 2 asks with their mean. So compare every score with what a network gets without the question.
#
# ## Why is "yes or no" so hard?
#
# If a hop has found the fact that answers "Is Mary in the kitchen?", $u'$ is the place asked for plus the place read. A linear readout gives "yes" a lead over "no" of $a$(asked) + $b$(read). Can you make the lead positive where the places are the same (the diagonal), and negative elsewhere?

# %%
a = torch.tensor([2.0, -3.0])  # asked: kitchen, garden; change them
b = torch.tensor([1.0, 4.0])  # read: kitchen, garden; change them
lead = a[:, None] + b  # asked read: how far "yes" is ahead of "no"
same = lead.diag().sum()
print(f"the two leads where the places are the same add up to {same:.2f}, the two others to {lead.sum() - same:.2f}")
ax = plots.axes(width=4.8, height=2.2)
plots.scores(lead, None, ["asked: kitchen", "asked: garden"], ax=ax, xlabel="", ylabel="")
_ = ax.set_xticks(range(2), ["read: kitchen", "read: garden"])

# %% [markdown]
# Nobody can: both totals are sums of the same four numbers, $a_1 + a_2 + b_1 + b_2$, so one cannot be above 0 and the other below. This is the problem of XOR, the exclusive "or".
#
# If this is the reason, a ReLU between two layers of the readout will help, and the same two layers without it will not. We change only the readout. What share of the answers will be right with the ReLU?

# %% tags=["nbval-check-output"]
predict("16.hidden", ...)

# %% tags=["reveals"]
print("One hop, yes-or-no questions:")
asked, asked_later = (stories("yes or no", number, seed)[1] for number, seed in ((4000, 0), (1000, 1)))
torch.manual_seed(0)
network = MemoryNetwork(hops=1)
between = nn.ReLU()  # nn.Identity() leaves it out
network.readout = nn.Sequential(nn.Linear(20, 64), between, nn.Linear(64, len(ANSWERS), bias=False))
fit(network, asked, steps=800, rate=2e-2, linear_steps=150)
right = score(network, asked_later).right
print(f"a run of 800 steps: {right:.2f} right")
if isinstance(between, nn.ReLU):
    reveal("16.hidden", round(right, 2))
setups = {"one linear layer": "linear start", "two linear layers": "hidden layer, no ReLU"}
setups |= {"ReLU between them": "hidden layer"}
marks = {}
for name, setup in setups.items():
    found = (runs(setup, "yes or no", 1, value) for value in ("right", "hop1_fact1"))
    marks[name] = dict(zip(("right answers", "weight on the fact"), found, strict=True))
plots.dots(marks, "one hop, 1,500 steps, five seeds")

# %% [markdown]
# With the ReLU nearly all answers are right, with every seed; two layers without it are hardly better than one. So the readout could not compare. That also kept the hop from learning where to look: with the ReLU it gives more weight to the fact. Put `nn.Identity()` in its place, and run the cell again: does your run, of 800 steps, come near the dots in the middle row?
#
# ## Memory networks today: retrieval
#
# A hop reads *every* memory. With millions of memories this takes too long. Could a few be enough? Let each hop read only the nearest fact (with the largest score), or all the others. What share is right with the nearest alone?


# %% tags=["nbval-check-output"]
predict("16.nearest", ...)


# %% tags=["reveals"]
def nearest_hop(u, m, c, mask, kept=True):
    scores = (m @ u[..., None])[..., 0].masked_fill(~mask, -torch.inf)  # B M
    nearest = scores == scores.amax(1, keepdim=True)  # B M
    return hop(u, m, c, mask & (nearest if kept else ~nearest))


print("What each hop reads, and how many answers are right:")
marks, every_other = {}, partial(nearest_hop, kept=False)
for name, way in {"all facts": hop, "the nearest alone": nearest_hop, "all but the nearest": every_other}.items():
    for network in short:
        network.hop = way
    marks[name] = {"right": torch.tensor([score(network, unseen).right for network in short])}
for network in short:
    network.hop = hop  # as it was
ax = plots.axes(width=8, height=1.7)
plots.dots(marks, "right answers after 600 steps, three seeds", "What each hop reads", ax)
ax.get_legend().remove()
reveal("16.nearest", round(marks["the nearest alone"]["right"].mean().item(), 2))

# %% [markdown]
# One fact per hop is enough, and without it few answers are right: for most of these stories the weights can be trusted (lesson 15). Today's systems retrieve only the nearest:
#
# | | memories | looked up with |
# | --- | --- | --- |
# | RAG (Lewis et al. 2020) | passages of Wikipedia | the question |
# | MDR (Xiong et al. 2021) | passages | the question *and the passages found so far*: several hops |
#
# ## So: can it reason over what it read?
#
# Yes, it can follow a chain of facts, with a hop for each step that depends on what was read before: two hops nearly always say where a thing is, one hop does less than half the time.
#
# No, not reliably: training with a third hop may fail, a shortcut is learned first, and a linear readout cannot compare two places.
#
# ## Questions
#
# Run a cell to see its question; replace the dots with a letter in quotes or a number.

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
# - Can it reason over what it read? It can follow a chain, with a hop for each step that depends on what was read before; what it learns first may be a shortcut that answers nearly all questions.
# - A memory is a sum of word vectors weighted by position, with a vector for its age added.
# - A hop attends, reads, and adds what it has read to the question, which then asks again.
# - We can measure whether hops look at the supporting facts, and test it: let them read only the nearest fact, or all the others.
# - A linear readout cannot compare what was asked with what one hop has read; with a ReLU between two layers it can.
#
# **Exercises**: [open them](../exercises/16_memory_networks_exercises.ipynb)
#
# **Next**: this memory is written once, before the question comes. Can attention also write? [Lesson 17](17_neural_turing_machines.ipynb) answers this.
