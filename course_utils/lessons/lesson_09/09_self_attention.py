# %%
import platform
from datetime import date

import torch
import torch.nn.functional as F
from torch import nn

from course_utils import check, predict, reveal
from course_utils.data.measured import by_seed, measured
from course_utils.data.recall import recall_at_distance
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table
from course_utils.models import layers as package
from course_utils.models.attention import causal_mask
from course_utils.models.layers import Answerer, Convolution, Recurrent, RestrictedSelfAttention, fit
from course_utils.models.train_model import train_model

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## Leave the network out
#
# At the end of lesson 08 an LSTM read one symbol after the other, and each state attended to the states before it. Now we leave out the LSTM, and let each word's own vector attend to the vectors of *all* words. This is the self-attention of lesson 03: queries, keys and values come from the same words.
#
# In the plainest form, a word's vector serves as all three. Take three words with the vectors [1, 0], [0, 1] and [1, 1], and work out the third word's scores on paper, before the division by √D. Which word gets the most weight?

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
# With one vector for everything, words look mostly at words like themselves, or with long vectors. But "it" should look at a thing, not at another pronoun. So three matrices turn a word's vector into its query, its key and its value (Vaswani et al. 2017); $d$ is the width of queries and keys:
#
# $$Q = X W_Q \qquad K = X W_K \qquad V = X W_V \qquad \text{contexts} = \text{softmax}\left(\frac{Q K^\top}{\sqrt{d}}\right) V$$
#
# Take "dog", "ball" and "it". The first feature says "I am a thing", the second "I am a pronoun". We want pronouns to look for things, and give one entry of $W_Q$ a 6. Who will look at whom?

# %% tags=["nbval-check-output"]
X = torch.tensor([[1.0, 0.0], [0.8, 0.0], [0.0, 1.0]])  # T D: thing, pronoun
W_Q = torch.tensor([[0.0, 0.0], [6.0, 0.0]])  # a row for each feature of a word, a column for what it asks for
W_K, W_V = torch.eye(2), torch.eye(2)
Q, K, V = X @ W_Q, X @ W_K, X @ W_V  # T d
scores = Q @ K.T / 2**0.5  # T T
weights = scores.softmax(-1)  # T T
diagrams.same_words(["dog", "ball", "it"], X, (Q, K, V), scores, weights, weights @ V)

# %% [markdown]
# The 6 turns "pronoun" into a query for "thing": in the third row of weights, "it" looks at "dog" and "ball". The others ask for nothing, so their weight is spread evenly. Change one more entry of `W_Q`, so that things look for pronouns, and run the cell again: then "dog" and "ball" look at "it".
#
# Here is the same as a layer, with matrices that can be trained. It adds each word's own vector to its context: with this **residual connection** (lesson 03) a word keeps what it is. The mask is True where a word (row) may see a word (column). Which line is the score of the equation, which the weighted sum?


# %% tags=["nbval-check-output"]
class SelfAttention(nn.Module):
    def __init__(self, D, mask=None):  # mask T T; None lets every word see every word
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(D, D, bias=False) for _ in range(3))
        self.mask = mask

    def weights(self, x):  # B T D
        q, k = self.query(x), self.key(x)  # B T D
        scores = q @ k.mT / q.shape[-1] ** 0.5  # B T T
        if self.mask is not None:
            scores = scores.masked_fill(~self.mask, -torch.inf)
        return scores.softmax(-1)  # B T T

    def forward(self, x):  # B T D
        return x + self.weights(x) @ self.value(x)  # B T D


layer, shipped, x = SelfAttention(4), package.SelfAttention(4), torch.randn(1, 5, 4)
shipped.load_state_dict(layer.state_dict())
print("the package's layer agrees:", torch.allclose(layer(x), shipped(x), atol=1e-5))

# %% [markdown]
# The line `scores = ...` is the score of the equation; the product in the last line is the weighted sum.
#
# ## What does it learn to look at?
#
# In a trained model nobody chooses features or matrices. In "the sleepy dog took the wooden ball", "sleepy" and "took" are about the animal, "wooden" is about the thing. We train one layer to say for each word, except "the", which of eight nouns it is about. Where will "wooden" have to look?


# %%
nouns = "dog cat horse bird ball box chair stone".split()  # four animals, four things
vocabulary = ["the", *nouns, *"hungry sleepy young found took broke wooden round new".split()]


def sentences(draw, B=64):
    """Sentences like the one above, and for each word the number of its noun; -100: not asked."""
    (animal, thing), the = torch.randint(4, (2, B), generator=draw), torch.zeros(B, dtype=torch.long)
    adjective, verb, other = torch.randint(3, (3, B), generator=draw)
    ids = [the, 9 + adjective, 1 + animal, 12 + verb, the, 15 + other, 5 + thing]
    about = [the - 100, animal, animal, animal, the - 100, 4 + thing, 4 + thing]
    return torch.stack(ids, 1), torch.stack(about, 1)  # B T each


# %%
def loss_of_batch(draw):
    ids, about = sentences(draw)
    return F.cross_entropy(model(ids).flatten(0, 1), about.flatten())  # it leaves out what is -100


torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(len(vocabulary), 16), SelfAttention(16), nn.Linear(16, 8))
train_model(model, loss_of_batch, seed=0, steps=300, rate=1e-2)


@torch.no_grad()
def look(*texts):
    for text, ax in zip(texts, plots.axes(max(2, len(texts)), width=4.8, height=3.2), strict=False):
        words = text.split()
        x = model[0](torch.tensor([[vocabulary.index(word) for word in words]]))  # 1 T D
        asked = [t for t, word in enumerate(words) if word != "the"]
        plots.weights(model[1].weights(x)[0, asked], words, [words[t] for t in asked], ax=ax)


look("the sleepy dog took the wooden ball", "the sleepy dog took the hungry cat")

# %% [markdown]
# On the left each word looks at its noun. Nobody told the model where to look: the labels were enough.
#
# On the right there are two animals. "sleepy" and "hungry" look mostly at the same one, and at most one of them can be right. Why? (No sentence in training had two animals. But would more training help?) Give `look` a third sentence, in which "dog" and "cat" change places, and compare.
#
# ## Where is the order?
#
# An LSTM reads one word after the other. Self-attention sees all of them at once, as a set. By how much does each word's output change if two words change places?


# %% tags=["nbval-check-output"]
@torch.no_grad()
def outputs(sentence):  # of the trained layer, by word
    words = sentence.split()
    x = model[0](torch.tensor([[vocabulary.index(word) for word in words]]))  # 1 T D
    # Write here a line that adds to each vector the number of its position, from 0.
    return dict(zip(words, model[1](x)[0], strict=True))


one, other = outputs("sleepy dog took hungry cat"), outputs("sleepy cat took hungry dog")
table({"change": [(one[word] - other[word]).abs().max() for word in one]}, list(one), corner="word", digits=2)

# %% [markdown]
# Nothing changes: which animal is sleepy is lost. Self-attention is **permutation equivariant**: if words change places, their contexts move with them, and nothing else changes. A sum over all words does not depend on their order, and a score depends on two vectors alone. So "sleepy" and "hungry" cannot tell which animal is the nearer one: whichever suits their queries better gets most of the weight, wherever it stands. Now write the line that is missing in the cell (`x = x + torch.arange(len(words))[:, None]`), and the order matters: now every word's output changes. Lesson 11 looks for better positions.
#
# ## Who may see whom?
#
# Three masks matter here. Which one does a decoder need if it writes from left to right?

# %%
at = torch.arange(7)
masks = {"padding: 5 words": (at < 5).expand(7, 7), "causal": causal_mask(7)}
masks["neighbourhood, radius 2"] = (at[:, None] - at).abs() <= 2
for ax, (name, mask) in zip(plots.axes(3, width=3.6, height=3.4), masks.items(), strict=True):
    plots.mask(mask, title=name, ax=ax, xlabel="word that is seen (key)", ylabel="word that looks (query)")

# %% [markdown]
# The three masks hide padding, what comes later, and what is far away. A decoder needs the causal one. (What padding itself sees does not matter: nobody reads it. In the exercises it sees nothing.) In training all words of the target are present, and this mask hides what comes next. In the exercises you test whether a model obeys it.
#
# With the third mask a word sees only the words at most `radius` positions away: **restricted self-attention**. How far a layer sees is its **reach**. But the next layer sees the neighbours' neighbours. Gradients show on which words an output depends. With radius 2, how many layers does it take until each of 12 words depends on all?


# %%
def depends(mask, layers):  # T T: which words (columns) the output of each word (rows) depends on
    stack = nn.Sequential(*(SelfAttention(4, mask) for _ in range(layers)))
    x = torch.randn(1, 12, 4)
    gradients = torch.autograd.functional.jacobian(lambda x: stack(x)[0].sum(-1), x)  # T 1 T D
    return gradients[:, 0].abs().sum(-1) > 0  # T T


distance = (torch.arange(12)[:, None] - torch.arange(12)).abs()  # T T
mine = distance <= 3  # your own mask
shown = {f"radius 2, {layers} layers": depends(distance <= 2, layers) for layers in (2, 5, 6)}
shown["your mask, 2 layers"] = depends(mine, 2)
for ax, (name, seen) in zip(plots.axes(4, width=2.9, height=3), shown.items(), strict=True):
    plots.mask(seen, title=name, ax=ax, xlabel="keys: words", ylabel="outputs" if name == "radius 2, 2 layers" else "")
    ax.tick_params(labelsize=8)
print(f"Yours: a word sees at most {mine.sum(1).max()}, and two layers reach {int(seen.sum())} of 144 pairs.")

# %% [markdown]
# With radius 2 it takes six layers: the first and the last word are 11 positions apart, and a layer bridges 2. Now write a better `mine`: each word may see at most seven words, and two layers must reach all 144 pairs. (An answer follows the drawing.)
#
# ## Do other layers need more steps?
#
# In self-attention any two words are one step apart. A **recurrent** layer is lesson 05's tanh cell. A **convolution** multiplies each of $k$ words by a matrix of its own and adds the results; these matrices are its **kernel**. Here $k = 2$, and the gap doubles with each layer. How long is the way from the first of eight words to the last?

# %%
diagrams.paths()

# %% [markdown]
# One step for self-attention, eight, three and four for the others: this is the **longest path** between two words. (For `mine`, each word sees its own block of four, and the words at its own place in the other two blocks.)
#
# ## What does one step cost?
#
# Self-attention scores all $n^2$ pairs. Vaswani et al. 2017 compare the four in their table 1, for $n$ words of width $d$, without constant factors. Restricted attention compares each word with $r$ words, 2 · radius + 1. A layer carries a signal about $r / 2$ positions, so the true path is about twice $n / r$.
#
# | layer | work | sequential steps | longest path |
# | --- | --- | --- | --- |
# | self-attention | $n^2 d$ | 1 | 1 |
# | recurrent | $n d^2$ | $n$ | $n$ |
# | convolution | $k n d^2$ | 1 | $\log_k n$, if gaps grow from layer to layer |
# | restricted self-attention | $r n d$ | 1 | $n / r$ |
#
# By these formulas, by what factor is the recurrent layer's work larger than self-attention's, for 50 words of width 512? Will PyTorch, which counts what a layer multiplies, agree?

# %% tags=["nbval-check-output"]
predict("09.cheaper", ...)


# %% tags=["reveals"]
print("In millions of multiplications:")
names = ["self-attention", "recurrent", "convolution", "restricted"]


def by_the_formulas(n, d=512, k=3, r=9):  # a kernel of 3 words, radius 4
    return [n * n * d / 1e6, n * d * d / 1e6, k * n * d * d / 1e6, r * n * d / 1e6]


def make_layers(D):
    return [SelfAttention(D), Recurrent(D), Convolution(D, 3), RestrictedSelfAttention(D, 4)]


def counted(D, n):  # by PyTorch, while the layers compute
    return [package.multiplications(layer, torch.randn(1, n, D)) / 1e6 for layer in make_layers(D)]


reveal("09.cheaper", 512 / 50)
rows = {"50 words, by the formulas": by_the_formulas(50), "50 words, counted": counted(512, 50)}
rows |= {"2,000 words, by the formulas": by_the_formulas(2000), "2,000 words, counted": counted(512, 2000)}
table(rows, names, corner="millions", digits=1)

# %% [markdown]
# By the formulas self-attention is cheaper than the recurrent layer if a sentence has fewer words than its vectors have dimensions. Counted, it needs *more*, in fact for every $n$: $3 n d^2 + 2 n^2 d$ against $2 n d^2$. The formulas say how work *grows*, not what a layer costs. They leave out constant factors and the three projections, $3 n d^2$: nearly all of the work for 50 words (in the restricted layer even for 2,000).
#
# Does the layer that multiplies least also take the least time? We double the number of words, again and again, at width 64.

# %%
sizes = [64, 128, 256, 512, 1024]
work = torch.tensor([counted(64, n) for n in sizes]).T  # 4 sizes
seconds = [torch.tensor([package.seconds_of(layer, 64, sizes) for _ in range(15)]).amin(0) for layer in make_layers(64)]
left, right = plots.axes(2, height=3.6)
for ax, numbers, label in ((left, work, "millions of multiplications"), (right, seconds, "seconds")):
    runs = {name: numbers[i][None] for i, name in enumerate(names)}
    plots.curves(sizes, runs, "words", label, log=True, ax=ax)
    ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
W = torch.randn(64, 64)
products = (lambda x: x @ W), (lambda x: [word @ W for word in x[0]])
large, small = (min(package.seconds_of(product, 64, [1024])[0] for _ in range(15)) for product in products)
print(f"1,024 words times a matrix: 1,024 small products take {small / large:.0f} times as long as one large product")
print(f"timed on {date.today()} with {torch.get_num_threads()} thread(s) of a processor {platform.machine()}")

# %% [markdown]
# No: the recurrent layer multiplies least, yet it takes longer than the convolution and the restricted layer, and in short texts the longest of all. Its products with the state must wait for each other, and many small products take longer than one large one: each call has a fixed cost. Self-attention grows fastest.
#
# ## How far can it see?
#
# A model reads three pairs of letter and digit, then filler words, then one letter, and must say its digit. (A pair is one token, so order does not matter.) The number of filler words is the distance. Models were trained on distances 0 to 32, unless their names say otherwise, at a rate of 0.005, with five seeds.

# %% tags=["nbval-check-output"]
predict("09.reach", ...)

# %% tags=["reveals"]
left = "self-attention", "restricted, radius 4", "two restricted, radius 4"
right = "LSTM", "tanh cell", "tanh cell, trained at distance 0"
distances, _ = measured("paths", "answers_right", "distance", setup="LSTM")
runs = {kind: torch.tensor(measured("paths", "answers_right", "distance", setup=kind)[1]) for kind in left + right}
reveal("09.reach", " and ".join(kind for kind in runs if runs[kind][:, distances.index(16)].mean() > 0.5))
for ax, kinds in zip(plots.axes(2, width=5.4, height=4.2), (left, right), strict=True):
    shown = {kind: runs[kind] for kind in kinds}
    plots.curves(distances, shown, "distance", "share of answers right", ax=ax, legend="above")
    ax.axhline(1 / 8, color="0.5", linestyle=":")  # a guess among eight digits
    ax.set_ylim(0, 1.02)

# %% [markdown]
# The dotted line is a guess. Left: the restricted layer loses one pair at distance 2 and all three at 4, and no training helps. Two layers see farther, but miss many at 4, with all pairs in reach.
#
# Right: the LSTM's path is as long as the text, and it still answers, so path length alone does not decide. But long paths can be hard to *learn* (Vaswani et al. 2017). A tanh cell learns hardly anything; trained without filler words, it answers most questions at distance 0.
#
# At 0 the restricted layer is above self-attention, at 16 the LSTM is. Are they better? We subtract seed by seed, since equal seeds have equal texts. And at another rate?


# %% tags=["nbval-check-output"]
def shares(setup, distance):
    return torch.tensor([*by_seed("paths", "answers_right", setup=setup, distance=distance).values()])


rows = {}
for kind, distance in (("restricted, radius 4", 0), ("LSTM", 16)):
    for rate, ending in (("0.005", ""), ("0.01", ", rate 0.01")):
        more = shares(kind + ending, distance) - shares("self-attention" + ending, distance)
        rows[f"{kind}, distance {distance}, rate {rate}"] = [f"{one:+.2f}" for one in (*more, more.mean())]
table(rows, [*(f"seed {seed}" for seed in range(5)), "mean"], corner="share of answers right, minus self-attention's")

# %% [markdown]
# No: at the rate 0.005 the restricted layer is better with four seeds, at 0.01 it is worse with four. No layer had its rate tuned, so this says more about rates than about layers. The LSTM is better with two of five seeds, then with one: no clear lead either.
#
# Why does self-attention not answer everything? How much weight does each of the 64 pairs get when it is needed?

# %%
torch.manual_seed(2)
answerer = Answerer(SelfAttention(32), width=32)
fit(answerer, seed=2, steps=1500)
tokens, answers = recall_at_distance(2000, 3, 4, torch.Generator().manual_seed(0))  # 3 pairs, 4 fillers, a letter
with torch.no_grad():
    given = answerer(tokens).argmax(-1)  # N
    right = (given == answers).float()  # N
    weights = answerer.layers[0].weights(answerer.embedding(tokens))[:, -1]  # N T: where the last position looks
needed = 8 * (tokens[:, -1] - 64) + answers  # a pair's token is 8 · letter + digit, a question's 64 + letter
weight = (weights * (tokens == needed[:, None])).sum(1)  # N
number = needed.bincount(minlength=64)
without = {
    name: {1 + digit for digit in given[(weight < 0.1) & (tokens[:, -1] == 64 + i)].tolist()}
    for i, name in enumerate("abcdefgh")
}
print("digits given where the needed pair has no weight:", without)
pictures = {"weight of the needed pair": weight, "share of answers right": right}
for ax, (title, values) in zip(plots.axes(2, height=3.8), pictures.items(), strict=True):
    means = (needed.bincount(values, minlength=64) / number).view(8, 8)  # letter digit
    plots.weights(means, range(1, 9), list("abcdefgh"), title, ax, "digit", "letter")

# %% [markdown]
# Most pairs get nearly all the weight, some get none. Where the needed pair has none, each letter gets one digit, as printed: right for one such pair, wrong for any others.
#
# ## So: what if every word looks at every word at once?
#
# Then any two words are one step apart, no step waits for another, and each word can learn to find the one it needs, as ours did for most pairs. But the work grows with the square of the length, the order is lost, and a decoder needs a mask that hides what comes later.
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
# - Queries, keys and values are three projections of the same words, so that a word can ask for something other than what it is.
# - Self-attention does not notice the order of words: if they change places, their contexts change places.
# - A mask says who may see whom, and a test can find out whether a model keeps to it.
# - The work grows with the square of the length. For short sentences the projections are most of it.
#
# **Exercises**: [open them](../exercises/09_self_attention_exercises.ipynb)
#
# **Next**: each word has one set of weights, so it gets one average. What if it has to look for two things at once? [Lesson 10](10_multi_head_attention.ipynb) answers this.
