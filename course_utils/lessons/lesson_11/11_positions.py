# %%
import ipywidgets
import torch
from torch import nn

from course_utils import check, predict, reveal
from course_utils.data.measured import measured
from course_utils.data.recall import WORDS, recall_next
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table
from course_utils.figures.widgets import explore
from course_utils.models.files import load_pretrained
from course_utils.models.plain import rotate, sinusoidal_positions
from course_utils.models.positions import NextWord, fit, share_right
from course_utils.translation.translate import translate

torch.set_printoptions(precision=3, sci_mode=False, linewidth=110)

# %% [markdown]
# ## The same words in another order
#
# A dog that chases a boy is not a boy who chases a dog. But lesson 09 has shown that self-attention does not notice the order of words: put them in another order, and each word gets the same vector as before.
#
# The Transformer that ships with the course adds a vector to each word that says where the word is, its **position**. What does this model make of the two sentences, and what happens if we set all positions to zero?

# %% tags=["nbval-check-output"]
model, subwords = load_pretrained("transformer-en-de")
texts = ["a dog is chasing a boy .", "a boy is chasing a dog ."]
print("with positions:   ", translate(model, subwords, texts))
model.embedding.positions.zero_()
print("without positions:", translate(model, subwords, texts))

# %% [markdown]
# Without positions both sentences get the same translation. It is good German, but it is right for one of them only by luck: to the encoder they are the same set of words.
#
# This model was trained with positions. Could another one learn to do without them? Let us take a task in which order is everything. A text has T different words. Then one of them is repeated, though never the last. **Which word comes next?** It should be the word that came after it the first time.

# %% tags=["nbval-check-output"]
words, answers = recall_next(3, 6, torch.Generator().manual_seed(0))
for text, answer in zip(words.tolist(), answers.tolist(), strict=True):
    print("text:", text[:-1], "  again:", text[-1], "  next:", answer)

# %% [markdown]
# Our model has two layers of the self-attention of lesson 09. It leaves two places open where positions can come in: the function `add` may change the word vectors, and `turn` may change queries and keys. For now both return what they are given.


# %%
def unchanged(x):
    return x


class Reader(nn.Module):
    def __init__(self, add=unchanged, turn=unchanged, D=64):
        super().__init__()
        self.add, self.turn = add, turn
        self.embedding = nn.Embedding(WORDS, D)
        self.layers = nn.ModuleList(nn.ModuleList(nn.Linear(D, D, bias=False) for _ in range(3)) for _ in range(2))
        self.readout = nn.Linear(D, WORDS)

    def forward(self, words):  # B T
        x = self.add(self.embedding(words))  # B T D
        for query, key, value in self.layers:
            q, k, v = self.turn(query(x)), self.turn(key(x)), value(x)  # B T D
            x = x + (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v  # B T D
        return self.readout(x[:, -1])  # B V


# %% [markdown]
# In training, texts have 2 to 12 words, so with the repeated word the positions are 0 to 12. If the model can't tell positions apart, it knows which words are there, and that the answer is not the repeated word. What share will it get right in texts of 12 words?

# %% tags=["nbval-check-output"]
predict("11.blind", ...)

# %% tags=["reveals"]
print("Trained on texts of two to twelve words, without positions:")
lengths = [3, 6, 9, 12]
torch.manual_seed(0)
blind = Reader()
fit(blind, steps=300, rate=5e-3)
shares = {"a guess: 1 / (T - 1)": [1 / (length - 1) for length in lengths]}
shares["without positions"] = [share_right(blind, length) for length in lengths]
reveal("11.blind", round(shares["without positions"][-1], 2))
table(shares, [f"{length} words" for length in lengths], corner="share right", digits=2)

# %% [markdown]
# Without positions the model guesses among the other T - 1 words. At which points of self-attention could it be told the order?

# %%
diagrams.positions(new=["added", "turned"])

# %% [markdown]
# There are two such points: a position can be added to each word vector, or it can turn each query and each key. We begin with the first.
#
# ## Is one number enough?
#
# We could give each word its position p as one more number. A query then multiplies p by some slope, so its scores rise from key to key, or they fall. Can you find a slope that gives most of the weight to position 2? Put other slopes into the list and run the cell again.

# %%
p = torch.arange(6.0)
for slope in (-2, -0.5, 0, 0.5, 2):
    print(f"slope {slope:4}:", (slope * p).softmax(0))

# %% [markdown]
# There is none. The largest weight is at one of the ends, or all weights are equal. We need *vectors* with which a product can pick out any position.
#
# ## A clock for each pair of dimensions
#
# Vaswani et al. 2017 take the D dimensions of the vector in pairs. Pair i is the hand of a clock. From each position to the next it turns by the same angle, at a speed of its own. The pair holds the sine and the cosine of its angle:
#
# $$P_{p,\,2i} = \sin\frac{p}{10000^{2i/D}} \qquad P_{p,\,2i+1} = \cos\frac{p}{10000^{2i/D}}$$
#
# These are **sinusoidal positions**. Work out the four entries for D = 4 and p = 1, with pencil and paper. (sin 1 = 0.841, cos 1 = 0.540.)


# %% tags=["nbval-check-output"]
def sinusoidal(length, D, base=10_000):
    i = torch.arange(D // 2)  # D/2
    angle = torch.arange(length)[:, None] / base ** (2 * i / D)  # length D/2
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)  # length D


print(sinusoidal(length=3, D=4))
agree = torch.allclose(sinusoidal(50, 64), sinusoidal_positions(50, 64), atol=1e-4)
print("the package's function agrees:", agree)

# %% [markdown]
# The second row is position 1. Pair 0 has turned by 1 / 10000⁰ = 1 radian, so the row begins with sin 1 and cos 1. Pair 1 has turned by 1 / 10000^(2/4) = 0.01: sin 0.01 = 0.010 and cos 0.01 ≈ 1.
#
# Here are four of the 32 clocks for D = 64. The ticks count radians, and a full turn has 6.28 of them. Move the slider. At which position has pair 0 first passed a full turn, and where is pair 12 then?


# %%
def clocks_at(position):
    for pair, ax in zip((0, 4, 8, 12), plots.axes(4, width=2.5, height=2.6), strict=True):
        plots.dial({"": position / 10_000 ** (2 * pair / 64)}, f"pair {pair}", ax)
    slow = position / 10_000 ** (2 * 12 / 64)
    return f"At position {position} pair 0 has turned by {position} radians and pair 12 by {slow:.2f}."


clocks = explore(clocks_at, position=ipywidgets.IntSlider(value=3, min=0, max=60))
clocks

# %% [markdown]
# At position 7 pair 0 has begun its second turn, while pair 12 has moved by only 0.22 radians. Fast hands tell neighbours apart, and slow hands tell near from far, as on a clock with hands for seconds and hours.
#
# Here are the vectors of 30 positions for D = 16, one per column. In which rows do neighbouring columns differ most?

# %%
shown = sinusoidal(length=30, D=16).T
ax = plots.axes(width=10, height=4.2)
plots.scores(shown, ax=ax, ylabel="dimension", xlabel="position")
_ = ax.figure.colorbar(ax.images[0], ax=ax, label="entry")

# %% [markdown]
# The rows at the top change quickly from position to position. Those at the bottom hardly change over 30 positions: the slowest pair takes 10000^(14/16) ≈ 3,162 positions for one radian. Rows come in pairs: a sine, which begins with 0, and a cosine, which begins with 1.
#
# What is the base 10,000 for? With the base 1 all hands turn at the same speed. Which positions do you then expect to look like position 0? We list the three with the largest product. Put a base of your own into the list, too.

# %% tags=["nbval-check-output"]
for base in (1, 100, 10_000):
    P = sinusoidal(100, 64, base)  # length D
    alike = (P @ P[0] / 32)[1:].topk(3)  # 1 is the product of position 0 with itself
    print(f"base {base:6,}: positions {[p + 1 for p in alike.indices.tolist()]}, products {alike.values}")

# %% [markdown]
# With the base 1 it is position 44, since 44 radians are almost exactly seven turns. With the other two bases, the positions next to 0 are most like it, and the larger the base, the more slowly the products fall.
#
# ## How can a head find the word before?
#
# When we go k positions further, a hand turns by the same angle wherever it stood. So one matrix $M_k$ turns each position into the one that is k further on:
#
# $$P_{p+k} = M_k\,P_p \quad \text{for every } p$$
#
# For each pair, it holds a rotation by k times the pair's angle. (The sine comes first here, so the signs differ from the usual ones.) We build M for k = 1 and D = 4.


# %% tags=["nbval-check-output"]
def one_further(D):
    angles = 1 / 10_000 ** (torch.arange(0, D, 2) / D)  # D/2
    blocks = [torch.tensor([[a.cos(), a.sin()], [-a.sin(), a.cos()]]) for a in angles]
    return torch.block_diag(*blocks)  # D D


M, P = one_further(4), sinusoidal(100, 4)
print(M)
print("M moves every position by one:", torch.allclose(P[:-1] @ M.T, P[1:], atol=1e-4))
print("its transpose moves it back:  ", torch.allclose(P[1:] @ M, P[:-1], atol=1e-4))

# %% [markdown]
# Lesson 10 left the question how a head can look at the word before. Here is the answer. Let the query be the word's position moved *back* by one, and the keys the positions. Then the score is highest at the word before. We do it for D = 64, without any training. Where will the weights lie? And where, if you write `P @ M @ M`?

# %%
P, M = sinusoidal(10, 64), one_further(64)  # T D, D D
queries = P @ M  # T D: each position moved back by one
weights = (3 * queries @ P.T).softmax(-1)  # T T; the 3 concentrates the weights
plots.weights(weights, range(10), range(10), xlabel="keys: positions", ylabel="queries: positions")

# %% [markdown]
# Each position gives most of its weight to the one before it. The first has none, and practically all its weight goes to its own position, the nearest one. If you write `P @ M @ M`, the weights move to the position two before. In a model the word and its position share one vector, so such a head would have to ignore the word as well.
#
# Now we give our model positions. The function `add` below is all it takes. What share do you expect?


# %%
def add(x):
    return x + sinusoidal(x.shape[1], x.shape[2])  # B T D


torch.manual_seed(0)
sinus = Reader(add=add)
losses = fit(sinus, steps=1000, rate=5e-3)
shares["sinusoidal positions"] = [share_right(sinus, length) for length in lengths]

torch.manual_seed(0)
package = fit(NextWord("sinusoidal"), steps=1, rate=5e-3)
print("the package's model begins with the same loss:", abs(package[0] - losses[0]) < 1e-3)
table(shares, [f"{length} words" for length in lengths], corner="share right", digits=2)

# %% [markdown]
# Now nearly all texts come out right.
#
# ## Rotary positions
#
# Positions can also *turn* queries and keys (Su et al. 2021). A pair $(a, b)$ of a query is a point at the angle $\alpha$: $a = r_q\cos\alpha$, $b = r_q\sin\alpha$. Turning by $\varphi$ adds $\varphi$ to it:
#
# $$\begin{aligned}(a\cos\varphi - b\sin\varphi,\;\; a\sin\varphi + b\cos\varphi) &= r_q\,(\cos\alpha\cos\varphi - \sin\alpha\sin\varphi,\;\; \cos\alpha\sin\varphi + \sin\alpha\cos\varphi)\\ &= r_q\,(\cos(\alpha + \varphi),\;\; \sin(\alpha + \varphi))\end{aligned}$$
#
# **Rotary positions** turn the query at position $m$ by $m\theta$ and the key at $n$, with $r_k$ and $\beta$, by $n\theta$; each pair has a speed $\theta$ of its own, and adds to the score
#
# $$\begin{aligned}& r_q\,r_k\,\big(\cos(\alpha + m\theta)\cos(\beta + n\theta) + \sin(\alpha + m\theta)\sin(\beta + n\theta)\big)\\ ={}& r_q\,r_k\,\cos\big(\alpha - \beta + (m - n)\,\theta\big)\end{aligned}$$
#
# since $\cos x \cos y + \sin x \sin y = \cos(x - y)$. The score sums over all pairs, so of the positions it contains only $m - n$. What is it for q = k = [1, 0], θ = 1, m = 3, n = 1, and if both positions grow by 10? (cos 3 = -0.990, sin 3 = 0.141, cos 1 = 0.540, sin 1 = 0.841.)


# %%
def turn(x, first=0):  # … T D; the first row is at the position `first`
    T, D = x.shape[-2:]
    angle = torch.arange(first, first + T)[:, None] / 10_000 ** (torch.arange(0, D, 2) / D)  # T D/2
    a, b = x[..., 0::2], x[..., 1::2]  # … T D/2
    pairs = a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()
    return torch.stack(pairs, -1).flatten(-2)  # … T D


q, k, x = torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 0.0]]), torch.randn(2, 7, 64)
print("the package's function agrees:", torch.allclose(turn(x, 5), rotate(x, 5), atol=1e-4))
for (m, n), ax in zip(((3, 1), (13, 11), (13, 1)), plots.axes(3, width=2.8, height=2.8), strict=True):
    turned_q, turned_k = turn(q, m), turn(k, n)
    print(f"q at {m:2}: {turned_q[0]}  k at {n:2}: {turned_k[0]}  product {(turned_q @ turned_k.T).item():.3f}")
    plots.dial({"q": m, "k": n}, f"q at {m}, k at {n}", ax)

# %% [markdown]
# In the first two dials, q and k are 2 radians apart. By hand the product is -0.990 · 0.540 + 0.141 · 0.841 = -0.416, which is cos 2. At 13 and 11 both hands have moved on together. At a distance of 12 it is cos 12 = 0.844.
#
# ## Move all positions by five
#
# We train a model that turns instead of adding (for 1,500 steps, since with this seed it learns more slowly), and test both on texts whose first word is at position 5 instead of 0. What share of the texts of 12 words does the model with sinusoidal positions still get right, and what share the one with rotary positions?

# %% tags=["nbval-check-output"]
predict("11.shifted", ...)

# %% tags=["reveals"]
print("Both models, with positions as in training and with positions moved on:")
moved = 5
torch.manual_seed(0)
rotary = Reader(turn=turn)
losses = fit(rotary, steps=1500, rate=5e-3)
print(f"mean loss of the rotary model, steps 901 to 1,000: {sum(losses[900:1000]) / 100:.2f}", end=", ")
print(f"last 100 steps: {sum(losses[-100:]) / 100:.2f}")
rows = {}
for first in (0, moved):
    sinus.add = lambda x, first=first: x + sinusoidal(x.shape[1] + first, x.shape[2])[first:]
    rotary.turn = lambda x, first=first: turn(x, first)
    for name, reader in (("sinusoidal", sinus), ("rotary", rotary)):
        rows[f"{name}, first word at {first}"] = [share_right(reader, length) for length in (6, 12)]
reveal("11.shifted", round(rows[f"sinusoidal, first word at {moved}"][1], 2))
table(rows, ["6 words", "12 words"], corner="share right", digits=2)

# %% [markdown]
# The rotary model answers as before, since every distance is the same. The sinusoidal one loses a few answers in texts of 6 words, whose positions 5 to 11 all occurred in training, and many in texts of 12 words, where 13 to 17 never did. Try 1 or 20 in place of 5.
#
# ## What happens beyond the trained lengths?
#
# **Learned positions** are the third way: one vector per position, begun at random and trained, as rows of `nn.Embedding(length, D).weight`. A row whose position never occurs in training stays random. Sinusoidal positions can be computed for any position, and Vaswani et al. hoped that they would hold in longer texts. What share will their model get right in texts of 24 words?

# %% tags=["nbval-check-output"]
predict("11.beyond", ...)

# %% tags=["reveals"]
print("Trained on texts of two to twelve words, five seeds:")
right = {}
for kind in ("rotary", "sinusoidal", "learned", "none"):
    numbers, right[kind] = measured("positions", "answers_right", "length", positions=kind)
at_24 = torch.tensor(right["sinusoidal"])[:, numbers.index(24)]
reveal("11.beyond", round(at_24.mean().item(), 2))
plots.curves(numbers, right, "words of the text, T", "share right", legend="above")

# %% [markdown]
# Beyond 12 words, sinusoidal positions fail about as often as learned ones, whose vectors are still random there. Rotary positions hold up in much longer texts. (Without positions the model guesses, although it was trained as long as the others.) What fails? We sort the texts of 24 words by the position at which the repeated word first occurred. Which questions does each model still answer?

# %%
right = {}
for kind in ("rotary", "sinusoidal", "learned"):
    at, right[kind] = measured("asked", "answers_right", "place", positions=kind)
plots.curves(at, right, "position of the word that is asked about", "share right")

# %% [markdown]
# With learned positions the model answers nearly all questions about the positions 0 to 10, the only ones that texts in training ask about, and hardly any later ones. With sinusoidal positions the fall begins at position 8, though it answers there in texts of 12 words: perhaps words at new positions disturb it.
#
# With rotary positions nearly every answer is right from position 12 on. From there to the question at the end is a distance that occurred in training, although twice as many words compete. Perhaps it is new *distances* that cost.
#
# ## And in translation?
#
# How many BLEU points do positions bring after three epochs on captions?

# %%
rows = {}
for kind in ("sinusoidal", "learned", "none"):
    _, runs = measured("translated", "bleu", "epochs", positions=kind, heads=4)
    rows[kind] = {f"seed {seed}": run for seed, run in enumerate(runs)}
plots.dots(rows, "BLEU", xlim=(0, 35))
for kind in ("learned", "none"):
    lost = [rows["sinusoidal"][seed][0] - rows[kind][seed][0] for seed in rows[kind]]
    print(f"sinusoidal minus {kind}, by seed:", *[f"{points:.1f}" for points in lost])

# %% [markdown]
# Sinusoidal positions bring about six points; learned ones bring about one point less, with every seed; Vaswani et al. saw hardly any difference. Most of the score is reached without any: perhaps words often suffice, and a causal mask can tell a decoder where it is (Haviv et al. 2022).
#
# ## So: where does the order come from?
#
# From positions, and in a decoder perhaps partly from the mask. Added to the words, positions tell where each word is; in our task they fail beyond the trained lengths. Turning queries and keys, they tell how far apart words are, and less is lost.
#
# ## Questions
#
# Run a cell, then replace the dots with a letter in quotes or a number.

# %%
check("11.q1", ...)

# %%
check("11.q2", ...)

# %%
check("11.q3", ...)

# %%
check("11.q4", ...)

# %%
check("11.q5", ...)

# %% [markdown]
# ## Recap
#
# - Where does the order come from? From positions that are added to the words, or that turn queries and keys.
# - Without them an encoder cannot tell two orders of the same words apart.
# - Sinusoidal positions are clocks: fast pairs tell neighbours apart, and slow pairs tell near from far. A shift by k is one matrix for all positions, so a head can look at the word before.
# - Turning queries and keys makes a score depend on positions only through their distance, m - n: if all positions move on by five, nothing changes.
# - In our task, models with sinusoidal positions fail at positions beyond the trained lengths, as those with learned positions do. Those with rotary positions hold up longer.
#
# **Exercises**: [open them](../exercises/11_positions_exercises.ipynb)
#
# **Next**: words that look at each other, in several heads, with positions. [What else does attention need to become a translator?](12_transformer.ipynb)
