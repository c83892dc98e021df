# %%
import ipywidgets
import torch
import torch.nn.functional as F
from torch import nn

from course_utils import check, predict, reveal
from course_utils.data.measured import measured
from course_utils.data.recall import recall_at_distance
from course_utils.figures import plots
from course_utils.figures.tables import table
from course_utils.figures.widgets import explore
from course_utils.models.attention import causal_mask
from course_utils.models.layers import (
    Answerer,
    Convolution,
    Recurrent,
    RestrictedSelfAttention,
    SelfAttention,
    fit,
    multiplications,
    seconds_of,
)

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## Leave the network out
#
# In lesson 08 an LSTM read a sentence, and each state attended to the states before it. Now we leave out the LSTM, and let each word's own vector attend to the vectors of *all* words: this is **self-attention**. Queries, keys and values are made from the same words.
#
# Start with the plainest form, in which a word's vector serves as query, key and value. Take three words with the vectors [1, 0], [0, 1] and [1, 1]. Work out on paper the scores of the third word before any scaling. Which word gets the most weight?

# %% tags=["nbval-check-output"]
x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])  # T D
contexts = torch.zeros(3, 2)
for t in range(3):
    scores = torch.stack([x[t] @ x[s] for s in range(3)]) / 2**0.5
    weights = scores.softmax(0)
    contexts[t] = sum(weights[s] * x[s] for s in range(3))
print("the third word's weights:", weights, "and context:", contexts[2])

# %% [markdown]
# Its scores are 1, 1 and 2, so about half of the weight goes to the word itself. The loop's steps do not wait for each other, so two matrix products do the same for all words at once. And the library has a function for it. Do the three agree?

# %% tags=["nbval-check-output"]
matrix = (x @ x.T / 2**0.5).softmax(-1) @ x
library = F.scaled_dot_product_attention(x[None], x[None], x[None])[0]
print("they agree:", torch.allclose(contexts, matrix) and torch.allclose(matrix, library))

# %% [markdown]
# ## What a word asks for is not what it is
#
# With one vector for everything, words look mostly at words like themselves, or at long vectors. But "it" should look at a thing, not at another pronoun. So three matrices turn a word's vector into its query, its key and its value (Vaswani et al. 2017):
#
# $$Q = X W_Q \qquad K = X W_K \qquad V = X W_V \qquad \text{contexts} = \text{softmax}\left(\frac{Q K^\top}{\sqrt{d}}\right) V$$
#
# Here the first feature says "I am a thing", the second "I am a pronoun". We want pronouns to look for things. Which entry of $W_Q$ must be large?

# %%
words = "the dog saw the ball and it barked".split()
x = torch.zeros(8, 2)  # thing, pronoun
x[1, 0], x[4, 0], x[6, 1] = 1.0, 0.8, 1.0  # dog, ball; it
weight_q, weight_k = torch.tensor([[0.0, 0.0], [6.0, 0.0]]), torch.eye(2)
weights = ((x @ weight_q) @ (x @ weight_k).T / 2**0.5).softmax(-1)
plots.weights(weights, words, words)

# %% [markdown]
# It is `weight_q[1, 0]`, which turns "pronoun" into a query for "thing". Now "it" looks at "dog" and "ball", and the other words, which ask for nothing, spread their weight evenly. The values, which the weights then add up, have a matrix of their own. In a trained model these matrices are learned, and so are the words' features.
#
# ## Where is the order?
#
# An LSTM reads one word after the other. Self-attention sees all of them at once, as a set. The layer below also adds each word's own vector to its context, as the Transformer will. What happens to its outputs if we put the words in another order?

# %% tags=["nbval-check-output"]
torch.manual_seed(0)
layer = SelfAttention(4)
vectors = {word: torch.randn(4) for word in ("dog", "bites", "man")}


def context_of(sentence):
    """What the layer returns for each word, by word."""
    words = sentence.split()
    x = torch.stack([vectors[word] for word in words])  # T D
    return dict(zip(words, layer(x[None])[0].detach(), strict=True))


one, other = context_of("dog bites man"), context_of("man bites dog")
rows = {word: [*one[word], (one[word] - other[word]).abs().max()] for word in one}
table(rows, [*(f"feature {i}" for i in range(4)), "change"], digits=2)

# %% [markdown]
# Nothing changes: who bites whom is lost. Self-attention is **permutation equivariant**: if the words change places, their contexts change places with them, and that is all.
#
# It has to be so. The sum over all words does not depend on their order, and neither does a score, which depends only on two vectors. Lesson 11 will add the places to the vectors. In the exercises you write a test that finds out whether a model notices the order.
#
# ## Who may see whom
#
# A mask says which words a word may see. Three masks matter here. Which one does a decoder need if it writes from left to right?

# %%
place = torch.arange(7)
masks = {"padding: 5 words": (place < 5).expand(7, 7), "causal": causal_mask(7)}
masks["neighbourhood, radius 2"] = (place[:, None] - place).abs() <= 2
for ax, (name, mask) in zip(plots.axes(3, width=3.6, height=3.4), masks.items(), strict=True):
    plots.mask(mask, title=name, ax=ax, xlabel="is seen", ylabel="sees")

# %% [markdown]
# It needs the causal one: in training, where all words of the target are present at once, it hides what the decoder is about to say. (What the padding's own rows return is ignored.) Whether a mask keeps its promise can be tested: change the words that must not be seen, and see whether anything else moves. You will write that test too.
#
# The third mask gives **restricted self-attention**, which is lesson 08's window around a word's own place. One layer of it sees only neighbours. But the next layer sees the neighbours' neighbours. How many layers of radius 2 does it take until the first of 12 words reaches the last?


# %%
def reach_of(radius, layers):
    torch.manual_seed(0)
    stack = torch.nn.Sequential(*(RestrictedSelfAttention(4, radius) for _ in range(layers)))
    x = torch.randn(1, 12, 4, requires_grad=True)
    y = stack(x)
    seen = [
        torch.autograd.grad(y[0, t].sum(), x, retain_graph=True)[0][0].abs().sum(-1) > 0 for t in range(12)
    ]
    plots.mask(torch.stack(seen), xlabel="input word", ylabel="output word")
    return f"With radius {radius}, the last of {layers} layers sees {int(seen[-1].sum())} of 12 words at the last place."


reach_explorer = explore(
    reach_of,
    radius=ipywidgets.IntSlider(value=2, min=1, max=6, description="radius"),
    layers=ipywidgets.IntSlider(value=1, min=1, max=11, description="layers"),
)
reach_explorer

# %% [markdown]
# Six: the first and the last of 12 words are 11 places apart, and each layer bridges 2. The picture is computed from gradients, so it shows what really depends on what.
#
# ## What does it cost?
#
# Vaswani et al. 2017 compare four kinds of layers over $n$ words of width $d$ (table 1). A **convolution** adds up, at each place, the $k$ words around it, each times a matrix of its own; these $k$ matrices are its **kernel**. Constants are left out:
#
# | layer | work | steps one after another | longest path |
# | --- | --- | --- | --- |
# | self-attention | $n^2 d$ | 1 | 1 |
# | recurrent | $n d^2$ | $n$ | $n$ |
# | convolution | $k n d^2$ | 1 | $\log_k n$, if gaps grow from layer to layer |
# | restricted self-attention | $r n d$ | 1 | $n / r$ |
#
# Self-attention compares each word with $n$ words of width $d$, or, if restricted, with $r$ of them. A recurrent network multiplies each word by a $d \times d$ matrix. For 50 words of width 512 the recurrent layer needs more multiplications than self-attention. How many times as many?

# %% tags=["nbval-check-output"]
predict("09.cheaper", ...)


# %% tags=["reveals"]
print("In millions of multiplications:")


def by_the_formulas(n, d=512, k=3, r=9):
    """Multiplications in millions: self-attention, recurrent, convolution, restricted."""
    return [n * n * d / 1e6, n * d * d / 1e6, k * n * d * d / 1e6, r * n * d / 1e6]


reveal("09.cheaper", 512 / 50)
names = ["self-attention", "recurrent", "convolution", "restricted"]
table(
    {f"{n:,} words": by_the_formulas(n) for n in (50, 5000)},
    names,
    corner="millions, by the formulas",
    digits=1,
)

# %% [markdown]
# By the formulas self-attention is cheaper than the recurrent layer as long as a sentence has fewer words than its vectors have numbers, and more expensive beyond. But a formula without constants says how work *grows*, not what a layer costs. So we let PyTorch count while whole layers compute. (It counts a multiplication and an addition as two, so we halve its count.) Which layers will need far more than their formulas say?

# %% tags=["nbval-check-output"]
cell = nn.Linear(2 * 512, 512)  # the tanh cell of lesson 05: it reads a word and the state before it


def recurrent(x):
    state = torch.zeros(1, 512)
    for word in x[0]:
        state = torch.tanh(cell(torch.cat([word[None], state], 1)))


layers = [SelfAttention(512), recurrent, Convolution(512, 3), RestrictedSelfAttention(512, 4)]
rows = {
    f"{n:,} words": [multiplications(layer, torch.randn(1, n, 512)) / 1e6 for layer in layers]
    for n in (50, 5000)
}
table(rows, names, corner="millions, counted", digits=1)

# %% [markdown]
# For 50 words self-attention now multiplies *more* than the recurrent layer. The table leaves out its three projections, $3 n d^2$, which for short sentences are nearly all of the work, in the restricted layer too; the recurrent layer has two matrices instead of one. For 5,000 words the squared term dominates.
#
# Does the time grow as the work does? We double the number of words, again and again, at width 64. By what factor should each layer's time grow?

# %%
sizes = [64, 128, 256, 512, 1024]
layers = dict(
    zip(
        names,
        (SelfAttention(64), Recurrent(64), Convolution(64, 3), RestrictedSelfAttention(64, 4)),
        strict=True,
    )
)
seconds = {
    name: torch.tensor([seconds_of(layer, 64, sizes) for _ in range(5)]) for name, layer in layers.items()
}
plots.curves(sizes, seconds, "words", "seconds", log=True, ax=plots.axes(width=7, height=4))
growth = {name: [runs[:, -1].min() / runs[:, -2].min()] for name, runs in seconds.items()}
table(growth, ["1,024 words against 512"], corner="times as long", digits=1)

# %% [markdown]
# Twice as many words should take self-attention four times as long and the others twice, and they roughly do. What the clock does not show here is that a recurrent layer's $n$ steps must wait for one another, even on a computer that can do a thousand things at once.
#
# ## How far can it see?
#
# The **longest path** says how many steps at most lie between two words. Here is a test: the model reads three pairs of a letter and a digit, each pair one token, then some filler words, then one of the letters, whose digit it must give. Which layers can answer at distance 16, with 16 filler words in between?

# %% tags=["nbval-check-output"]
predict("09.reach", ...)

# %% tags=["reveals"]
setups = ("self-attention", "LSTM", "restricted, radius 4")
curves = {}
for setup in setups:
    distances, runs = measured("paths", "answers_right", "distance", setup=setup)
    curves[setup] = torch.tensor(runs)
far = [name for name in setups if curves[name][:, distances.index(16)].mean() > 0.5]
reveal("09.reach", " and ".join(far))
plots.curves(distances, curves, "distance", "share of answers right", ax=plots.axes(width=7, height=4))

# %% [markdown]
# The restricted layer loses one pair at distance 2 and all three at distance 4, where it guesses one of eight digits. Training cannot help: nothing reaches the last place. Self-attention answers equally well at every distance. So does the LSTM, though its path is as long as the text: here only *reach* decides.
#
# Vaswani et al. give another reason for short paths: what has a long way to go is hard to *learn*. We take the LSTM's gates away, which leaves the tanh cell of lesson 05, and train it in the same way, and once with texts that have no filler words. What do you expect?

# %%
recurrent = {"LSTM": curves.pop("LSTM")}
for setup in ("tanh cell", "tanh cell, trained at distance 0"):
    recurrent[setup] = torch.tensor(measured("paths", "answers_right", "distance", setup=setup)[1])
plots.curves(distances, recurrent, "distance", "share of answers right", ax=plots.axes(width=7, height=4))

# %% [markdown]
# Without filler words the tanh cell learns to answer four of five questions. Trained on distances up to 32, it hardly learns anything, not even at distance 0. It reaches every place, but the path is too long to learn from. Gates shorten it for an LSTM; self-attention needs none. Do more restricted layers help, or a convolution?

# %%
for setup in ("two restricted, radius 4", "convolution, kernel 9"):
    curves[setup] = torch.tensor(measured("paths", "answers_right", "distance", setup=setup)[1])
plots.curves(distances, curves, "distance", "share of answers right", ax=plots.axes(width=7, height=4))

# %% [markdown]
# Two layers see twice as far, but they have not learned to use all of it: a path is necessary, but not sufficient. The convolution has the same reach as one restricted layer, and does worse within it. It weights words by place, and cannot choose by content.
#
# And why does self-attention stop at 0.91, though it reaches everything? We train one here, and look at the questions that it gets wrong. How much weight has the pair that it needs?

# %%
torch.manual_seed(2)
model = Answerer(SelfAttention(32), width=32)
fit(model, seed=2, steps=2500)
tokens, answers = recall_at_distance(
    500, 3, 8, torch.Generator().manual_seed(0)
)  # 3 pairs, 8 fillers, a letter
with torch.no_grad():
    right = model(tokens).argmax(-1) == answers
    x, layer = model.embedding(tokens), model.layers[0]
    weights = (layer.query(x[:, -1:]) @ layer.key(x).mT / 32**0.5).softmax(-1)[:, 0]  # N T
needed = (weights[:, :3] * (tokens[:, :3] // 8 == tokens[:, -1:] - 64)).sum(
    1
)  # a token is 8 · letter + digit
rows = {name: [f"{of.sum()}", needed[of].mean()] for name, of in (("right", right), ("wrong", ~right))}
table(rows, ["questions", "weight of the pair that is needed"], corner="answer", digits=2)

# %% [markdown]
# Where it is wrong, this pair has no weight. There are 64 pairs of a letter and a digit, and for some of them it has not learned to look there. A weight of 0 lets no gradient through, so it can't learn it any more.
#
# ## So: what if every word looks at every word at once?
#
# Then any two words are one step apart, and no step waits for another. The price is work that grows with the square of the length, and the order is lost.
#
# ## Questions
#
# These five questions test the goals at the top. Run a cell to see its question, then replace the dots with a letter in quotes or a number.

# %%
check("09.q1", ...)

# %%
check("09.q2", ...)

# %%
check("09.q3", ...)

# %%
check("09.q4", ...)

# %%
check("09.q5", ...)

# %% [markdown]
# ## Recap
#
# - What if every word looks at every word at once? Any two words are one step apart, and all steps can be done together.
# - Queries, keys and values are three projections of the same words, so that a word can ask for something other than what it is.
# - Self-attention does not notice the order of words: if they change places, their contexts change places.
# - A mask says who may see whom, and a test can find out whether a model keeps to it.
# - The work grows with the square of the length. For short sentences the projections are most of it.
#
# **Exercises**: [open them](../exercises/09_self_attention_exercises.ipynb)
#
# **Next**: each word has one set of weights, so it gets one average. What if it has to look for two things at once? [Lesson 10](10_multi_head_attention.ipynb) answers this.
