# %%
import copy

import torch
from torch import nn

from course_lessons.lesson_10_multi_head_attention import figures
from course_utils import check, predict, reveal
from course_utils.data.measured import by_seed
from course_utils.figures.tables import table
from course_utils.models.attention import causal_mask
from course_utils.models.serialization import load_pretrained
from course_utils.models.train_model import train_model

torch.set_printoptions(precision=3, sci_mode=False, linewidth=110)

# %% [markdown]
# In lesson 09, each word had one query and got back one weighted sum of values. Most models that use attention today compute several such sums for each word, each with its own weights. The part that computes one of these sums is called a **head**.
#
# Why several heads? We first look at what one sum loses and build attention with two heads. Then we compare trained models with one head and with several.
#
# ## One head, one sum
#
# A verb needs to know two things: who acts, and on whom. In "dog bites man", suppose that "bites" gives each noun a weight of 0.5. The value of "dog" is [4, 0], and the value of "man" is [0, 8]. Work out the context of "bites" on paper, here and in "man bites dog".

# %% tags=["nbval-check-output"]
dog = torch.tensor([4.0, 0.0])
man = torch.tensor([0.0, 8.0])
print("dog bites man:", 0.5 * dog + 0.5 * man)
print("man bites dog:", 0.5 * man + 0.5 * dog)

# %% [markdown]
# The context is [2, 4] in both sentences. With equal weights, the sum does not show which noun comes first: "bites" knows that there is a dog and a man, but not who bites.
#
# ## Two heads by hand
#
# We give "bites" two heads: one looks for the noun before the verb, the other for the noun after it. Each head has its own matrices for queries, keys and values.
#
# Here a word vector has D = 4 entries. The first two identify the noun, the third is 1 for a verb, and the fourth is -1 before the verb and 1 after it. Each of the H = 2 heads works with vectors of dimension $d = D / H = 2$. We choose the matrices by hand so that both heads have the same keys and values but "bites" has a different query in each head:
#
# | word | vector | key | value | query in head 0 | query in head 1 |
# | --- | --- | --- | --- | --- | --- |
# | dog | [4, 0, 0, -1] | [1, -1] | [4, 0] | [0, 0] | [0, 0] |
# | bites | [0, 0, 1, 0] | [0, 0] | [0, 0] | [4, 0] | [0, 4] |
# | man | [0, 8, 0, 1] | [-1, 1] | [0, 8] | [0, 0] | [0, 0] |
#
# A score is the dot product of query and key, divided by $\sqrt{d}$, as in lesson 04. In head 0, the scores of "bites" are $4/\sqrt{2} = 2.83$ for "dog", 0 for itself and -2.83 for "man". Their exponentials are 16.9, 1 and 0.06. How much weight does head 0 give "dog"?

# %%
dog_first = torch.tensor([  # S D: dog bites man
    [4.0, 0.0, 0.0, -1.0],
    [0.0, 0.0, 1.0, 0.0],
    [0.0, 8.0, 0.0, 1.0],
])  # fmt: skip
man_first = torch.tensor([  # S D: man bites dog
    [0.0, 8.0, 0.0, -1.0],
    [0.0, 0.0, 1.0, 0.0],
    [4.0, 0.0, 0.0, 1.0],
])  # fmt: skip
W_Q = torch.zeros(2, 4, 2)  # H D d
W_Q[0, 2] = torch.tensor([4.0, 0.0])  # head 0: the third entry times this
W_Q[1, 2] = torch.tensor([0.0, 4.0])  # head 1
W_K = torch.zeros(2, 4, 2)  # H D d
W_K[:, 3] = torch.tensor([-1.0, 1.0])  # the fourth entry, -1 or 1, times this
W_V = torch.zeros(2, 4, 2)  # H D d
W_V[:, :2] = torch.eye(2)  # the first two entries as they are
W_O = torch.eye(4)  # D D: it will combine the heads, and changes nothing yet


# %% tags=["nbval-check-output"]
def attention(Q, K, V):  # T d, S d, S d
    scores = Q @ K.T / K.shape[-1] ** 0.5  # T S
    weights = scores.softmax(-1)  # T S
    return weights @ V, weights  # T d, T S


def multi_head(Q, K, V):  # T D, S D, S D
    contexts = []  # of the heads, T d each
    all_weights = []  # T S each
    for i in range(2):
        context, weights = attention(Q @ W_Q[i], K @ W_K[i], V @ W_V[i])
        contexts.append(context)
        all_weights.append(weights)
    together = torch.cat(contexts, -1)  # T D: side by side
    return together @ W_O, contexts, all_weights


query = dog_first[1:2]  # T D: only "bites" asks, so T = 1
output, contexts, all_weights = multi_head(query, dog_first, dog_first)
for i in range(2):
    print(f"head {i}: weights {all_weights[i]}  context {contexts[i]}")
print("output:", output)

# %% [markdown]
# Head 0 gives "dog" a weight of 16.9 / 17.96 = 0.94, and head 1 gives the same weight to "man". The output contains both contexts side by side: first the noun before the verb, then the noun after it.
#
# This is **multi-head attention** (Vaswani et al., 2017, section 3.2.2). Head $i$ has the matrices $W_i^Q$, $W_i^K$ and $W_i^V$. In the formulas, $Q$, $K$ and $V$ are the word vectors before any projection, and Concat puts the contexts side by side:
#
# $$\text{head}_i = \text{Attention}(Q W_i^Q, K W_i^K, V W_i^V)$$
#
# $$\text{MultiHead}(Q, K, V) = \text{Concat}(\text{head}_0, \dots, \text{head}_{H-1})\, W^O$$
#
# The last matrix, $W^O$, combines the heads.
#
# In the diagram, the queries of both heads are written as one column with four entries, which is split in two. In which box are the two heads joined?

# %%
queries = torch.cat([query @ W_Q[0], query @ W_Q[1]])  # H d
weights = torch.cat(all_weights)  # H S
words = ["dog", "bites", "man"]
figures.draw_two_heads(words, 1, queries, weights, contexts, output)

# %% [markdown]
# The heads are joined in the box "merged", which places the contexts side by side.
#
# What is $W^O$ for? With the $W^O$ in the next cell, the first two entries of the output are the context of head 0 minus the context of head 1. The context of head 0 is about [4, 0] in "dog bites man" and about [0, 8] in "man bites dog". What is the sign of the first entry of the output in each sentence?

# %% tags=["nbval-check-output"]
W_O = torch.tensor([  # D D
    [1.0, 0.0, 0.0, 0.0],  # head 0 adds its context to the first two entries
    [0.0, 1.0, 0.0, 0.0],
    [-1.0, 0.0, 1.0, 0.0],  # head 1 subtracts its context from them
    [0.0, -1.0, 0.0, 1.0],
])  # fmt: skip
sentences = {"dog bites man": dog_first, "man bites dog": man_first}
for sentence, x in sentences.items():
    output, _, _ = multi_head(x[1:2], x, x)
    print(sentence, output)

# %% [markdown]
# The first entry is positive when the dog bites and negative when the man bites. $W^O$ thus lets one entry of the output compare what the two heads have found. Without $W^O$, each entry would come from a single head.
#
# **Your turn**: write a $W^O$ that outputs head 1's context followed by head 0's context.
#
# <details><summary>Answer</summary>
#
# The first two rows are [0, 0, 1, 0] and [0, 0, 0, 1], and the last two are [1, 0, 0, 0] and [0, 1, 0, 0].
#
# </details>
#
# ## All heads at once
#
# No loop is needed. Placed side by side, $W_0^Q, \dots, W_{H-1}^Q$ form one matrix with D rows and D columns. A single multiplication by this matrix gives the queries of all the heads, which we then split into H parts. Keys and values are computed in the same way.
#
# Together, the H heads therefore have as many parameters as one head of width D. Their scores also need the same number of multiplications as those of one such head: H·T·S·d = T·S·D, because d = D / H. Only the number of attention weights grows, by a factor of H. But each head is narrower: with D = 32 and eight heads, each query and each key has only four entries.
#
# `K.mT` swaps the last two axes of K. With D = 12 and H = 3, what is the shape of Q after `split`?


# %%
class MultiHead(nn.Module):
    def __init__(self, D, H):  # dimension of a word, number of heads
        super().__init__()
        self.H = H
        self.W_Q = nn.Linear(D, D)
        self.W_K = nn.Linear(D, D)
        self.W_V = nn.Linear(D, D)
        self.W_O = nn.Linear(D, D)

    def split(self, x):  # B T D
        parts = x.unflatten(-1, (self.H, -1))  # B T H d: -1 is the rest, D / H
        return parts.transpose(1, 2)  # B H T d

    def merge(self, heads):  # B H T d
        return heads.transpose(1, 2).flatten(2)  # B T D: the heads side by side

    def scores(self, Q, K):  # B H T d, B H S d
        return Q @ K.mT / K.shape[-1] ** 0.5  # B H T S

    def forward(self, Q, K, V, mask=None):  # B T D, B S D, B S D, B T S
        Q = self.split(self.W_Q(Q))  # B H T d
        K = self.split(self.W_K(K))  # B H S d
        V = self.split(self.W_V(V))  # B H S d
        scores = self.scores(Q, K)  # B H T S
        if mask is not None:
            mask = mask[:, None]  # B 1 T S: the same for all heads
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = scores.softmax(-1)  # B H T S
        return self.W_O(self.merge(weights @ V)), weights  # B T D, B H T S


# %% [markdown]
# The shape of Q is B×3×T×4: three heads with four entries for each word.
#
# To compare the module with our loop, we give it our matrices, transposed because `nn.Linear` stores them that way.

# %% tags=["nbval-check-output"]
at_once = MultiHead(D=4, H=2)
given = {}
for letter, matrices in (("Q", W_Q), ("K", W_K), ("V", W_V)):
    given[f"W_{letter}.weight"] = torch.cat([matrices[0], matrices[1]], 1).T  # D D
    given[f"W_{letter}.bias"] = torch.zeros(4)  # our loop has no biases
given["W_O.weight"] = W_O.T
given["W_O.bias"] = torch.zeros(4)
at_once.load_state_dict(given)
x = man_first[None]  # B S D with B = 1
by_module, _ = at_once(x[:, 1:2], x, x)  # B T D: "bites" asks
by_loop, _, _ = multi_head(man_first[1:2], man_first, man_first)  # T D
print("the loop gives the same:", torch.allclose(by_module[0], by_loop))

# %% [markdown]
# The module gives the same output as our loop. PyTorch's own module is `nn.MultiheadAttention`. It keeps the three matrices for queries, keys and values in one, `in_proj_weight`, which we split to copy them. There is one trap: in its mask, True means "must not be seen". In our masks and in `scaled_dot_product_attention`, True means "may be seen", so we invert our masks with `~`. What is the output for the last word if we forget to invert the mask?


# %% tags=["nbval-check-output"]
def copy_parameters(theirs, ours):
    weights = [*theirs.in_proj_weight.chunk(3), theirs.out_proj.weight]  # D D each
    biases = [*theirs.in_proj_bias.chunk(3), theirs.out_proj.bias]  # D each
    layers = [ours.W_Q, ours.W_K, ours.W_V, ours.W_O]
    for layer, weight, bias in zip(layers, weights, biases, strict=True):
        layer.weight.data = weight.detach().clone()
        layer.bias.data = bias.detach().clone()


torch.manual_seed(0)
theirs = nn.MultiheadAttention(12, 3, batch_first=True)
ours = MultiHead(12, 3)
copy_parameters(theirs, ours)
x = torch.randn(2, 5, 12)  # B T D
may_look = causal_mask(5)  # T T
of_ours, _ = ours(x, x, x, may_look[None])  # B T D
of_theirs, _ = theirs(x, x, x, attn_mask=~may_look)  # B T D
same = torch.allclose(of_ours, of_theirs, atol=1e-5)
print("the library gives the same:", same)
wrong, _ = theirs(x, x, x, attn_mask=may_look)  # not inverted
print("the last word with the wrong mask:", wrong[0, -1, :3].tolist())

# %% [markdown]
# PyTorch's module gives the same output as ours. The wrong mask raises no error, but each word sees only the words after it. The last word sees nothing, so its output is NaN.
#
# ## Does one head find both facts?
#
# Our model reads four letter-digit pairs, such as e8, b1, g1, c2. It is then asked for the digits paired with two of the letters, such as "b, c?", and has to answer 1, 2.
#
# Letters and digits are numbered from 0, so e8 is 8 · 4 + 7 = 39. The letter "c" is 2 at the first position of a question and 8 + 2 = 10 at the second. The next cell generates the example above. In the comments, F is the number of letters in a question.


# %% tags=["nbval-check-output"]
def draw_questions(number, facts, draw):  # draw: the generator of random numbers
    # argsort of random numbers is a random order: no letter is drawn twice
    letters = torch.rand(number, 8, generator=draw).argsort(1)[:, :4]  # B S
    digits = torch.randint(8, (number, 4), generator=draw)  # B S
    pairs = 8 * letters + digits  # B S
    # the places of the pairs that the question asks for
    places = torch.rand(number, 4, generator=draw).argsort(1)[:, :facts]  # B F
    asked = letters.gather(1, places) + 8 * torch.arange(facts)  # B F
    answers = digits.gather(1, places)  # B F
    return pairs, asked, answers, places


one_question = draw_questions(1, 2, torch.Generator().manual_seed(1))
pairs, letters, digits, places = one_question
print("pairs", pairs)
print("letters", letters, "digits", digits, "places", places)

# %% [markdown]
# The model has one attention layer followed by one linear layer. The question is also represented by a vector: the sum of a vector for "b" at the first position and a vector for "c" at the second. The query is computed from this vector, the keys and values from the pairs. The input of the linear layer is the sum of the context and the question vector.


# %%
class Answerer(nn.Module):
    def __init__(self, H, F, D=32):
        super().__init__()
        self.pair = nn.Embedding(64, D)  # 8 letters times 8 digits
        self.letter = nn.Embedding(8 * F, D)  # 8 letters in each of F places
        self.attention = MultiHead(D, H)
        self.readout = nn.Linear(D, 8 * F)  # 8 logits for each digit

    def forward(self, pairs, letters):  # B S, B F
        x = self.pair(pairs)  # B S D
        question = self.letter(letters).sum(1, keepdim=True)  # B 1 D
        context, weights = self.attention(question, x, x)  # B 1 D, B H 1 S
        logits = self.readout(question + context)  # B 1 8F
        return logits.view(len(pairs), -1, 8), weights  # B F 8


# %% [markdown]
# `train_model`, the loop from lesson 05, trains on a new batch of 64 questions at each step. Each model then answers 1,000 new questions.


# %%
def fit(model, facts, seed, steps, rate):
    def loss_of_batch(draw):
        pairs, letters, digits, _ = draw_questions(64, facts, draw)
        logits, _ = model(pairs, letters)  # B F 8
        return nn.functional.cross_entropy(logits.flatten(0, 1), digits.flatten())

    train_model(model, loss_of_batch, seed, steps, rate)


def new_questions(facts):
    return draw_questions(1000, facts, torch.Generator().manual_seed(99))


@torch.no_grad()
def right_answers(model, facts):
    pairs, letters, digits, _ = new_questions(facts)
    logits, _ = model(pairs, letters)  # B F 8
    return (logits.argmax(-1) == digits).float()  # B F: 1 if right


def share_right(model, facts):
    return right_answers(model, facts).mean().item()


# %% [markdown]
# We train models with one head and with two for 500 steps, with three seeds each. Guessing would get 1/8 of the digits right.

# %% tags=["nbval-check-output"]
predict("10.one_head", ...)


# %% tags=["reveals"]
def trained(model, seed):
    fit(model, facts=2, seed=seed, steps=500, rate=0.01)  # questions for two letters
    return model


models = {}
shares = {1: [], 2: []}  # for each number of heads
for H in (1, 2):
    for seed in range(3):
        torch.manual_seed(seed)
        models[H, seed] = trained(Answerer(H, F=2), seed)
        shares[H].append(share_right(models[H, seed], facts=2))
print("The mean of three models with one head:")
reveal("10.one_head", round(sum(shares[1]) / 3, 2))

# %%
rows = {"one head": shares[1], "two heads": shares[2]}
table(rows, ["seed 0", "seed 1", "seed 2"], "digits right", digits=2)

# %% [markdown]
# With one head, the model gets a little more than half of the digits right. With two heads, it gets all of them right. Both models have the same number of parameters, because each of the two heads is half as wide.
#
# Where do the heads look? The next plot shows their weights for one question, with frames around the two pairs asked for.

# %%
two_models = {"one head": models[1, 0], "two heads": models[2, 0]}
figures.show_weights(two_models, one_question)

# %% [markdown]
# For this question, the single head divides its weight between the two pairs, so the linear layer receives a single mixture of the two digits. With equal weights, the question "b, c" and its reverse get the same mixture, but the first digit of one answer is the second digit of the other. The layer also knows the question, but can only add a fixed contribution for it, whatever the digits are. It therefore cannot answer both questions correctly for all digits. With two heads, each looks at one of the pairs.
#
# Is it the different weights that help, or only the number of heads? We train a model whose two heads both use the scores of head 0 but still have their own values.

# %% tags=["nbval-check-output"]
predict("10.changed", ...)


# %% tags=["reveals"]
class SharedScores(MultiHead):
    def scores(self, Q, K):  # B H T d, B H S d
        scores = super().scores(Q, K)  # B H T S
        return scores[:, :1]  # B 1 T S: head 0 alone, for all heads


torch.manual_seed(0)
shared = Answerer(H=2, F=2)
shared.attention = SharedScores(32, 2)
trained(shared, seed=0)
print("Two heads with the same scores:")
reveal("10.changed", round(share_right(shared, facts=2), 2))

# %% [markdown]
# Two heads with the same scores do as poorly as one head. Because the weights are the same, the two contexts, placed side by side, form a single weighted sum of longer value vectors, and the two heads act as one. Heads help because each has its own weights.
#
# Does each head carry one of the two digits? To find out, we switch a head off. A head's context is multiplied by its own d rows of $W^O$. With zeros in these rows, the head contributes nothing (Michel et al., 2019). `nn.Linear` stores $W^O$ transposed, so we write the zeros into that head's columns. Which digit is lost without head 0, and which digit does the model with one head get right?


# %%
def without(model, head):
    model = copy.deepcopy(model)  # the model itself stays as it is
    W_O = model.attention.W_O.weight.data  # D D, transposed
    d = 32 // 2  # D / H
    W_O[:, head * d : (head + 1) * d] = 0  # the d columns of this head
    return model


both_on = models[2, 0]
tested = {"one head": models[1, 0], "both heads": both_on}
for head in range(2):
    tested[f"without head {head}"] = without(both_on, head)
rows = {name: right_answers(each, facts=2).mean(0) for name, each in tested.items()}
table(rows, ["first digit right", "second digit right"], digits=2)

# %% [markdown]
# With one of the heads switched off, one digit falls to chance level while the model still gets the other right, so each head carries one fact. The model with one head gets most of the first digits right but few of the second ones.
#
# ## Can one head be enough?
#
# So far, attention has been followed only by a linear layer. In a Transformer, a small network with a **hidden layer** follows (lesson 12): a linear layer, a step that replaces negative numbers with 0, and another linear layer. Such a network can compute more than sums. Can it separate the digits that one head mixes?
#
# In Vaswani et al. (2017), the hidden layer is four times as wide as a word vector, so here it would have 128 units. We also try a narrow one with 32 units. All models, including those without a hidden layer, are trained for 2,000 steps. The results are stored; the cell retrains one of the models, which the next test needs. How many digits will one head get right?


# %%
def with_hidden_layer(H, F, units):
    model = Answerer(H, F)
    model.readout = nn.Sequential(
        nn.Linear(32, units),
        nn.ReLU(),  # negative numbers become 0
        nn.Linear(units, 8 * F),
    )
    return model


torch.manual_seed(0)
hidden = with_hidden_layer(H=1, F=2, units=32)
fit(hidden, facts=2, seed=0, steps=2000, rate=0.005)
print(f"trained here, one head and 32 units: {share_right(hidden, facts=2):.2f}")
figures.table_of_facts(2)

# %% [markdown]
# With a hidden layer, one head gets nearly all the digits right for every seed. Without a hidden layer, more training does not help: after 2,500 steps at three learning rates, the model got 0.58 or 0.59 of the digits right. How does our model with 32 units know which digit belongs to which letter?
#
# It may have learned unequal weights. Think of "dog bites man" again. With a weight of 0.75 for the first noun and 0.25 for the second, the context is [3, 2]; in "man bites dog", it is [1, 6]. Unequal weights thus leave a trace of the order in the sum.
#
# A linear layer can use this trace for only one of the two digits, the one with the larger weight. Perhaps this is why the model with one head got most of the first digits right but few of the second ones. With unequal weights, however, the mixture shows which digit is which, and a hidden layer can learn to tell them apart.
#
# To test this, we swap the two weights by hand. `gather` picks out the weights of the two pairs that the question asks for, and `scatter` puts them back in the opposite order. Everything else stays the same.


# %%
@torch.no_grad()
def answered(model, swap):
    pairs, letters, digits, places = new_questions(2)  # B S, and three of B F
    x = model.pair(pairs)  # B S D
    question = model.letter(letters).sum(1, keepdim=True)  # B 1 D
    _, weights = model.attention(question, x, x)  # B 1 1 S
    weights = weights[:, 0]  # B 1 S: of the only head
    places = places[:, None]  # B 1 F: where the two pairs are
    asked = weights.gather(2, places)  # B 1 F
    if swap:
        asked = asked.flip(-1)
    weights = weights.scatter(2, places, asked)  # B 1 S
    context = model.attention.W_O(weights @ model.attention.W_V(x))  # B 1 D
    answers = model.readout(question + context).view(-1, 2, 8).argmax(-1)  # B F
    right = (answers == digits).float().mean().item()
    of_the_other = (answers == digits.flip(-1)).float().mean().item()
    return [*asked.mean((0, 1)).tolist(), right, of_the_other]


# %% tags=["nbval-check-output"]
predict("10.swapped", ...)

# %% tags=["reveals"]
rows = {"as they are": answered(hidden, False), "swapped": answered(hidden, True)}
print("The same model, after the two weights were swapped:")
# column 2 of the table below: the share of digits right
reveal("10.swapped", round(rows["swapped"][2], 2))

# %%
columns = [
    "mean weight of the first letter's pair",
    "of the second",
    "right digit",
    "other letter's digit",
]
table(rows, columns, "the two weights", digits=2)

# %% [markdown]
# With swapped weights, the model usually gives each letter the other letter's digit. This model tells the two digits apart by their unequal weights. Other models can use the letters, which the values also contain: with 128 units, one of three models loses hardly anything (95% of its answers stay correct).
#
# One head can be enough for two facts. Is it still as good as several heads for three?
#
# ## Three facts and a hidden layer
#
# Now each question names three of the four letters. With four heads, each digit can have its own. We use four rather than three because the width, 32, must be a multiple of H.
#
# The hidden layer has 32 or 128 units. Each model is trained for 1,000 steps at a learning rate of 0.01, and again from scratch for 4,000 steps. With 32 units and 1,000 steps, we also tried rates of 0.005 and 0.02, once each: with one head, 0.01 worked best; with four, 0.005 did equally well.

# %% tags=["nbval-check-output"]
predict("10.three_facts", ...)

# %% tags=["reveals"]
which = {"facts": 3, "heads": 1, "units": 32, "steps": 1000}
narrow = by_seed("facts", "right", **which)  # three shares
print("Three facts, the mean of three models with one head and the narrow layer:")
reveal("10.three_facts", round(narrow.mean().item(), 2))

# %%
figures.table_of_facts(3)

# %% [markdown]
# After 1,000 steps, one head is behind four for all three seeds: clearly with 32 units, less so with 128. After 4,000 steps, one head with 128 units has caught up. One head can therefore be enough here as well, but four heads learn faster, most clearly with a narrow hidden layer. The models compared have the same number of parameters and were trained on the same questions.
#
# ## Does a translation model gain from more heads?
#
# In a Transformer that translates, each layer also has a wide hidden layer. We trained small Transformers with one, two, four and eight heads on 29,000 photo captions. The table shows their BLEU on 1,000 new captions, seed by seed. Is the same number of heads best for every seed?

# %% tags=["nbval-check-output"]
figures.table_of_bleu()

# %% [markdown]
# No number of heads is best for every seed. After three epochs, we see no clear gain from two or four heads, and with eight heads the mean is 0.4 BLEU lower than with one. Perhaps eight heads are too narrow. In the larger model of Vaswani et al. (2017), a single head scored 0.9 BLEU below the best number of heads, and too many heads made the model worse again. Our evidence for several heads therefore comes from the letter-digit task.
#
# ## What do trained heads look at?
#
# In our task, each head looked at a different pair. Do the heads of a translation model also look at different words? We load a trained Transformer, which lesson 12 explains. Its encoder has three layers with four heads each; we count both from 0.
#
# The plot shows the weights of head 2 in layer 2, the last layer, for one sentence. Its rows are queries. The text is cut into **tokens**: ▁ marks the beginning of a word, and the full stop is two tokens, ▁ and the dot. In each row, a frame marks the previous token. How much weight does it get? Move the sliders to see other heads.

# %%
model, subwords = load_pretrained("transformer-en-de")
sentence = "two young men are playing guitar in front of a red house ."
head_explorer = figures.explore_heads(model, subwords, sentence)
head_explorer

# %% [markdown]
# On average, this head gives 46% of its weight to the previous token. In a single sentence this may be chance, so the next plot shows the mean weight at each distance over 300 captions. The distance -1 means the previous token. In a 15-token caption, equal weights would give each token 0.07. The rest of each row's weight lies beyond the plotted distances. Which head gives the most weight to the *next* token?

# %%
figures.show_weight_by_distance()

# %% [markdown]
# Head 1 of layer 2 gives a weight of 0.24 to the next token and 0.21 to the one after that: it looks ahead, but not at any single position. Head 2 of the same layer gives half of its weight to the previous token. More precisely, it looks at that token's *position*: after two layers, the vector there also carries information about other tokens. Two heads in one layer thus look in opposite directions. Voita et al. (2019) found much sharper heads of this kind in larger models.
#
# Does the model need all its heads? We switched off one head at a time and retranslated the 1,000 captions. There are nine attention layers with four heads each: three in the encoder, three in the decoder, and three from the decoder to the source. Guess whether losing the heads with a clear direction costs the most.

# %%
whole, lost = figures.bleu_lost_by_head()
lost_bleu = torch.tensor(list(lost.values()))  # attentions, heads
below_one = lost_bleu < 1
print(f"The whole model has {whole:.1f} BLEU.")
print(f"{below_one.sum()} of the 36 heads: less than 1 BLEU is lost without it.")
figures.show_lost_bleu(lost)

# %% [markdown]
# In the encoder, losing head 2 of layer 1 or head 1 of layer 2 costs the most, and both look in a clear direction. But head 2 of layer 2 has the clearest direction of all, and losing it costs only 0.77 BLEU. A clear direction alone does not make a head necessary. The three largest losses are in "source 2", the decoder's last attention layer over the source. This is one model and one set of captions, so small differences may be chance.
#
# For 21 of the 36 heads, switching off that head alone costs less than 1 BLEU. This does not show that all 21 could be switched off together. If two heads do the same thing, losing either one alone may do no harm even where losing both does.
#
# ## Why several heads?
#
# One head computes only one weighted sum, in which several facts are mixed. Several heads keep the facts apart if each has its own weights. They need no more parameters than one head, but compute more weights, and each head is narrower.
#
# A hidden layer can also separate the facts in one head's sum. But with three facts, one head was behind four after 1,000 steps, and with a narrow hidden layer it was still behind after 4,000. In a trained translation model, some heads look in clearly different directions. In a short training run, however, more heads brought our small translation models no clear gain.
#
# ## Where you will meet this
#
# | here and in the paper | in PyTorch | in Hugging Face's `transformers` |
# | --- | --- | --- |
# | D ($d_\text{model}$), H ($h$) | `embed_dim`, `num_heads` | `hidden_size`, `num_attention_heads` |
# | $W^Q$, $W^K$, $W^V$ | `in_proj_weight`, 3D×D | `q_proj`, `k_proj`, `v_proj` (Llama) |
# | $W^O$ | `out_proj` | `o_proj` |
# | mask: True means "may be seen" | `attn_mask`: True means "must not be seen" | `attention_mask`: 1 means "may be seen" |
# | B T D | T B D, unless `batch_first=True` | B T D |
#
# ## Questions
#
# Run a cell to see its question, then replace the dots with a number or a letter in quotes.

# %%
check("10.q1", ...)

# %%
check("10.q2", ...)

# %%
check("10.q3", ...)

# %%
check("10.q4", ...)

# %%
check("10.q5", ...)

# %% [markdown]
# ## Recap
#
# - One head computes one weighted sum, in which facts are mixed. Several heads keep them apart without additional parameters, but each is narrower.
# - A hidden layer can also separate the facts that one head mixes. With three facts, four heads learned faster than one.
# - $W^O$ combines what the heads have found.
# - In the mask of `nn.MultiheadAttention`, True means "must not be seen".
# - What a head looks at can be measured over many sentences. A head that can be lost without harm may still matter when others are also lost.
#
# **Exercises**: [open them](../exercises/10_multi_head_attention_exercises.ipynb)
#
# **Next**: some heads look at the previous word, although self-attention ignores the order of words. [How can attention know the order of the words?](11_positions.ipynb)
