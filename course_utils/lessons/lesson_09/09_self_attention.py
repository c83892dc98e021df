# %%
import torch
import torch.nn.functional as F
from torch import nn

from course_utils import check, predict, reveal
from course_utils.data.measured import measured
from course_utils.data.recall import recall_at_distance
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table
from course_utils.models import layers as package
from course_utils.models.attention import causal_mask
from course_utils.models.layers import Answerer, Convolution, Recurrent, RestrictedSelfAttention, fit

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## Leave the network out
#
# In lesson 08 an LSTM read a sentence, and each state attended to the states before it. Now we leave out the LSTM, and let each word's own vector attend to the vectors of *all* words. This is the self-attention of lesson 03: queries, keys and values come from the same words.
#
# In its plainest form a word's vector is all three. Take three words with the vectors [1, 0], [0, 1] and [1, 1], and work out the third word's scores on paper, before the division by √D. Which word gets the most weight?

# %% tags=["nbval-check-output"]
x = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])  # T D
contexts = torch.zeros(3, 2)
for t in range(3):
    scores = torch.stack([x[t] @ x[s] for s in range(3)]) / 2**0.5
    weights = scores.softmax(0)
    contexts[t] = sum(weights[s] * x[s] for s in range(3))
print("the third word's weights:", weights, "and context:", contexts[2])

# %% [markdown]
# The third word's scores are 1, 1 and 2, so about half of the weight goes to the word itself. The steps of the loop do not wait for each other, so two matrix products do the same for all words at once. The library has a function for it, too. Do the three agree?

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
# It is `weight_q[1, 0]`, which turns "pronoun" into a query for "thing". Now "it" looks at "dog" and "ball", and the other words, which ask for nothing, spread their weight evenly. Change one more entry so that things look for pronouns, and run the cell again.
#
# In a trained model the matrices and the features are learned. Here is the whole layer. It adds each word's own vector to its context, as the Transformer will. Its mask is True where a word (row) may see a word (column). With a mask that leaves each word only its neighbours, this is **restricted self-attention**.


# %% tags=["nbval-check-output"]
class SelfAttention(nn.Module):
    def __init__(self, D, mask=None):  # mask T T; None lets every word see every word
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(D, D, bias=False) for _ in range(3))
        self.mask = mask

    def forward(self, x):  # B T D
        q, k, v = self.query(x), self.key(x), self.value(x)  # B T D
        scores = q @ k.mT / q.shape[-1] ** 0.5  # B T T
        if self.mask is not None:
            scores = scores.masked_fill(~self.mask, -torch.inf)
        return x + scores.softmax(-1) @ v  # B T D


torch.manual_seed(0)
layer, shipped, x = SelfAttention(4), package.SelfAttention(4), torch.randn(1, 12, 4)
shipped.load_state_dict(layer.state_dict())
print("the package's layer agrees:", torch.allclose(layer(x), shipped(x), atol=1e-5))

near = (torch.arange(12)[:, None] - torch.arange(12)).abs() <= 2  # T T: lets a word see two to each side
restricted, shipped = SelfAttention(4, near), RestrictedSelfAttention(4, radius=2)
shipped.load_state_dict(restricted.state_dict())
print("so does the package's restricted one:", torch.allclose(restricted(x), shipped(x), atol=1e-5))

# %% [markdown]
# ## Where is the order?
#
# An LSTM reads one word after the other. Self-attention sees all of them at once, as a set. What happens to a word's output if we put the words in another order? And what happens if we add to each vector the number of its position, as one line below does?


# %% tags=["nbval-check-output"]
vectors = {word: torch.randn(4) for word in ("dog", "bites", "man")}


def context_of(sentence, numbered):
    """What the layer returns for each word, by word."""
    words = sentence.split()
    x = torch.stack([vectors[word] for word in words])  # T D
    if numbered:
        x = x + torch.arange(len(words))[:, None]  # T D
    return dict(zip(words, layer(x[None])[0].detach(), strict=True))


rows = {}
for numbered in (False, True):
    one, other = (context_of(sentence, numbered) for sentence in ("dog bites man", "man bites dog"))
    changes = [(one[word] - other[word]).abs().max() for word in one]
    rows["with the number of its position" if numbered else "as it is"] = changes
table(rows, list(one), corner="largest change", digits=2)

# %% [markdown]
# As it is, nothing changes: who bites whom is lost. Self-attention is **permutation equivariant**: if the words change places, their contexts change places with them, and that is all. A sum over all words does not depend on their order, and a score depends on two vectors alone. With numbers added, the order matters; lesson 11 will look for better ones. In the exercises you test whether a model notices the order.
#
# ## Who may see whom
#
# Three masks matter here. Which one does a decoder need if it writes from left to right?

# %%
at = torch.arange(7)
masks = {"padding: 5 words": (at < 5).expand(7, 7), "causal": causal_mask(7)}
masks["neighbourhood, radius 2"] = (at[:, None] - at).abs() <= 2
for ax, (name, mask) in zip(plots.axes(3, width=3.6, height=3.4), masks.items(), strict=True):
    plots.mask(mask, title=name, ax=ax, xlabel="is seen", ylabel="sees")

# %% [markdown]
# It needs the causal one, under which a word sees itself and what is before it. In training all words of the target are present, and this mask hides what comes next. In the exercises you test whether a model obeys it. (What the padding's own rows return is ignored.)
#
# Under the third mask each word sees those at most `radius` away. One such layer sees only neighbours, but the next sees the neighbours' neighbours. The gradient shows on how many of 12 words the last output depends. How many layers does each mask below need to reach all of them?


# %% tags=["nbval-check-output"]
def words_seen(mask, layers):
    """How many words the last output depends on."""
    stack = nn.Sequential(*(SelfAttention(4, mask) for _ in range(layers)))
    x = torch.randn(1, 12, 4, requires_grad=True)
    (gradient,) = torch.autograd.grad(stack(x)[0, -1].sum(), x)  # 1 T D
    return f"{(gradient[0].abs().sum(-1) > 0).sum()}"


distance = (torch.arange(12)[:, None] - torch.arange(12)).abs()  # T T
masks = {"radius 2": distance <= 2, "radius 4": distance <= 4, "even distances": distance % 2 == 0}
rows, layers = {}, (1, 2, 3, 5, 6)
for name, mask in masks.items():
    rows[name] = [words_seen(mask, number) for number in layers]
table(rows, [f"{number} layers" if number > 1 else "1 layer" for number in layers], corner="words seen")

# %% [markdown]
# Radius 2 takes six layers: the first and the last word are 11 positions apart, and a layer bridges 2. Even distances never add up to an odd one, so no number suffices. Add a mask in which each word sees at most seven: can two layers reach all?
#
# ## Four kinds of layers
#
# A **recurrent** layer is lesson 05's tanh cell. A **convolution** adds up $k$ words, each times a matrix of its own; these matrices are its **kernel**. Here $k = 2$, and the gap doubles with each layer. How long is the way from the first of eight words to the last?

# %%
diagrams.paths()

# %% [markdown]
# It is one step, or eight, three and four: the **longest path** between two words. (In the puzzle above, let each word see its block of four, and its place in both other blocks.)
#
# ## What does it cost?
#
# Vaswani et al. 2017 compare the four in their table 1, for $n$ words of width $d$, without constant factors. Restricted attention compares each word with $r$ words, 2 · radius + 1. A layer carries a signal about $r / 2$ positions, so the true path is about twice $n / r$.
#
# | layer | work | steps one after another | longest path |
# | --- | --- | --- | --- |
# | self-attention | $n^2 d$ | 1 | 1 |
# | recurrent | $n d^2$ | $n$ | $n$ |
# | convolution | $k n d^2$ | 1 | $\log_k n$, if gaps grow from layer to layer |
# | restricted self-attention | $r n d$ | 1 | $n / r$ |
#
# Self-attention compares each word with $n$ words; a recurrent layer multiplies it by a $d \times d$ matrix. For 50 words of width 512, by what factor does the recurrent layer need more multiplications?

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
# By the formulas self-attention is cheaper than the recurrent layer as long as a sentence has fewer words than its vectors have dimensions, and more expensive beyond that. But a formula without constants says how work *grows*, not what a layer costs. So we let PyTorch count while whole layers compute. (It counts a multiplication and an addition as two, so we halve its count.) Which layers will need far more than their formulas say?

# %% tags=["nbval-check-output"]
cell = nn.Linear(2 * 512, 512)  # the tanh cell reads a word and the state before it


def recurrent(x):
    state = torch.zeros(1, 512)
    for word in x[0]:
        state = torch.tanh(cell(torch.cat([word[None], state], 1)))


layers = [SelfAttention(512), recurrent, Convolution(512, 3), RestrictedSelfAttention(512, 4)]
rows = {
    f"{n:,} words": [package.multiplications(layer, torch.randn(1, n, 512)) / 1e6 for layer in layers]
    for n in (50, 5000)
}
table(rows, names, corner="millions, counted", digits=1)

# %% [markdown]
# For 50 words self-attention now needs *more* multiplications than the recurrent layer. The paper's table leaves out the three projections, $3 n d^2$, which are nearly all of the work for short sentences, in the restricted layer too. The recurrent layer has two matrices instead of one. For 5,000 words the squared term dominates.
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
    name: torch.tensor([package.seconds_of(layer, 64, sizes) for _ in range(5)]).amin(0, keepdim=True)
    for name, layer in layers.items()
}
plots.curves(sizes, seconds, "words", "seconds", log=True, ax=plots.axes(width=7, height=4))
growth = {}
for name, layer in layers.items():
    half, whole = (package.multiplications(layer, torch.randn(1, n, 64)) for n in sizes[-2:])
    growth[name] = [whole / half, seconds[name][0, -1] / seconds[name][0, -2]]
table(growth, ["multiplications", "seconds"], corner="1,024 words against 512", digits=1)

# %% [markdown]
# Self-attention needs 3.7 times as many multiplications for twice as many words, not four times, as its projections only double; the other layers need twice as many. On a quiet computer the seconds roughly follow; on a busy one they may not. The recurrent layer multiplies least and yet takes long: its $n$ steps are small products, and each has to wait for the one before it.
#
# ## How far can it see?
#
# A model reads three pairs of letter and digit, each one token, then filler words, then one letter, and must say its digit. The number of filler words is the distance; we trained each kind at 0 to 32, with five seeds. Which can answer at distance 16?

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
# The restricted layer loses one pair at distance 2 and all three at distance 4, where it guesses one of eight digits. Training cannot help, as nothing reaches the last position. Self-attention answers equally well at every distance. So does the LSTM from distance 2 on, although its path is as long as the text: here only *reach* decides.
#
# Vaswani et al. give another reason for short paths: long ones are hard to *learn*. Without gates, the LSTM is a layer of tanh cells. We train one in the same way, and one without filler words. What do you expect?

# %%
word_by_word = {"LSTM": curves.pop("LSTM")}
for setup in ("tanh cell", "tanh cell, trained at distance 0"):
    word_by_word[setup] = torch.tensor(measured("paths", "answers_right", "distance", setup=setup)[1])
plots.curves(distances, word_by_word, "distance", "share of answers right", ax=plots.axes(width=7, height=4))

# %% [markdown]
# Without filler words the tanh cell learns to answer four of five questions. Trained on distances up to 32, it hardly learns anything, not even at distance 0. Its state reaches every position, but perhaps the path is too long to learn from. (Few texts have distance 0, but they were enough for the restricted layer.) The LSTM has the same path and learns: it has gates, and with them four times as many weights. Self-attention needs no gates. Do more restricted layers help, or a convolution?

# %%
for setup in ("two restricted, radius 4", "convolution, kernel 9"):
    curves[setup] = torch.tensor(measured("paths", "answers_right", "distance", setup=setup)[1])
plots.curves(distances, curves, "distance", "share of answers right", ax=plots.axes(width=7, height=4))

# %% [markdown]
# Two layers see twice as far, but they have not learned to use all of it: a path is necessary, but not sufficient. The convolution has the same reach as one restricted layer, and does worse where all three pairs are in reach. Perhaps this is because it weights words by their position in the kernel, and cannot choose them by content.
#
# And why does self-attention not answer everything, although it reaches everything? We train one here, and look at the questions that it gets wrong. How much weight does the needed pair get?

# %%
torch.manual_seed(2)
model = Answerer(SelfAttention(32), width=32)
fit(model, seed=2, steps=2500)
draw = torch.Generator().manual_seed(0)
tokens, answers = recall_at_distance(500, 3, 8, draw)  # 3 pairs, 8 fillers, a letter
with torch.no_grad():
    right = model(tokens).argmax(-1) == answers
    x, layer = model.embedding(tokens), model.layers[0]
    weights = (layer.query(x[:, -1:]) @ layer.key(x).mT / 32**0.5).softmax(-1)[:, 0]  # N T
needed = 8 * (tokens[:, -1] - 64) + answers  # a pair's token is 8 · letter + digit, a question's 64 + letter
weight = (weights * (tokens == needed[:, None])).sum(1)
rows = {}
for name, of in (("right", right), ("wrong", ~right)):
    rows[name] = [f"{of.sum()}", f"{len(needed[of].unique())}", weight[of].mean()]
table(rows, ["questions", "different pairs", "weight of the needed pair"], corner="answer", digits=2)

# %% [markdown]
# Where the answer is wrong, this pair has no weight. All wrong answers concern a few of the 64 pairs, where the model has not learned to look. Almost no weight means almost no gradient, so they may stay unlearned.
#
# ## So: what if every word looks at every word at once?
#
# Then any two words are one step apart, and no step waits for another. But the work grows with the square of the length, and the order is lost.
#
# ## Questions
#
# Run a cell to see its question, then replace the dots with a letter in quotes or a number.

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
