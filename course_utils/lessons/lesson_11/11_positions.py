# %%
import ipywidgets
import torch
from IPython.display import display
from torch import nn

from course_utils import check, predict, reveal
from course_utils.base.edits import edited
from course_utils.data.measured import by_seed, measured
from course_utils.data.recall import WORDS, recall_next
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import difference, table
from course_utils.figures.widgets import explore
from course_utils.models.files import load_pretrained
from course_utils.models.positions import fit, share_right
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
# Our model has two layers of the self-attention of lesson 09, and keeps the weights of both. It leaves two places open where positions can come in, as the drawing below shows: the function `add` may change the word vectors, and `turn` may change queries and keys. For now both return what they are given.


# %%
def unchanged(x):
    return x


class Reader(nn.Module):
    def __init__(self, add=unchanged, turn=unchanged, D=64):
        super().__init__()
        self.add, self.turn = add, turn
        self.embedding = nn.Embedding(WORDS, D)
        self.query, self.key, self.value = (nn.ModuleList(nn.Linear(D, D) for _ in range(2)) for _ in range(3))
        self.readout = nn.Linear(D, WORDS)

    def weights(self, layer, x):  # B T D
        q, k = self.turn(self.query[layer](x)), self.turn(self.key[layer](x))  # B T D
        return (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)  # B T T

    def forward(self, words):  # B T
        x, self.seen = self.add(self.embedding(words)), []  # B T D
        for layer in range(2):
            self.seen.append(self.weights(layer, x))  # B T T
            x = x + self.seen[-1] @ self.value[layer](x)  # B T D
        return self.readout(x[:, -1])  # B V


diagrams.positions(new=["added", "turned"])


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
# Without positions the model guesses among the other T - 1 words: so here no training can replace positions. And in translation? With positions, a Transformer reaches about 32 BLEU after three epochs on captions. How many points does one reach if it is *trained* without them?

# %% tags=["nbval-check-output"]
rows = {}
for kind, name in (("sinusoidal", "with positions"), ("none", "without positions")):
    rows[name] = [run[0] for run in measured("translated", "bleu", "epochs", positions=kind, heads=4)[1]]
table(rows, ["seed 0", "seed 1", "seed 2"], corner="BLEU", digits=1)

# %% [markdown]
# Positions bring about six points with each seed. As for the other 26 points, the words alone may often be enough, and this decoder's causal mask can tell it where it is (Haviv et al. 2022): the first word sees one word, the second two.
#
# Back to our task. We begin with what is added to the word vectors. Is one number enough? In `mine` a tenth of the position p is added to each dimension. What share of the texts of 12 words will be right?
#
# Then write a line of your own: give each position a random *vector*. Make `R = torch.randn(13, 64)` once, above `mine`, let `mine` return `x + R[: x.shape[1]]`, predict again, and run both cells.


# %%
def mine(x):  # B T D
    p = torch.arange(x.shape[1])[:, None]  # T 1
    return x + p / 10  # B T D; later, a line of your own


predict("11.mine", ...)

# %% tags=["reveals"]
print("Trained for twice as many steps, with what `mine` adds:")
torch.manual_seed(0)
own = Reader(add=mine)
fit(own, steps=600, rate=5e-3)
shares["what mine adds"] = [share_right(own, length) for length in lengths]
reveal("11.mine", round(shares["what mine adds"][-1], 2))
table(shares, [f"{length} words" for length in lengths], corner="share right", digits=2)

# %% [markdown]
# With p / 10 most answers are wrong. A query multiplies p by some slope, so its scores favour one of the ends, not the word before. A product with a *vector* can pick out any position: with random ones your model should get most texts right. But can we compute vectors, so that neighbours are related?
#
# ## A clock for each pair of dimensions
#
# Vaswani et al. 2017 take the D dimensions in pairs. Pair i is the hand of a clock, which turns by the same angle at each step, with a speed of its own, and holds the sine and the cosine of its angle:
#
# $$P_{p,\,2i} = \sin\frac{p}{10000^{2i/D}} \qquad P_{p,\,2i+1} = \cos\frac{p}{10000^{2i/D}}$$
#
# These are **sinusoidal positions**. Work out the four entries for $D = 4$ and $p = 1$ on paper. ($\sin 1 = 0.841$, $\cos 1 = 0.540$)


# %% tags=["nbval-check-output"]
def sinusoidal(length, D):
    i = torch.arange(D // 2)  # D/2
    angle = torch.arange(length)[:, None] / 10_000 ** (2 * i / D)  # length D/2
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)  # length D


print(sinusoidal(length=3, D=4))

# %% [markdown]
# The second row is position 1. Pair 0 has turned by 1 / 10000⁰ = 1 radian, so the row begins with sin 1 and cos 1. Pair 1 has turned by 1 / 10000^(2/4) = 0.01: sin 0.01 = 0.010 and cos 0.01 ≈ 1.
#
# Here are four of the 32 clocks for D = 64. The ticks count radians, and a full turn has 6.28 of them. How far the tip is to the right is the cosine, and how far up, the sine. Move the slider. At which position has pair 0 first passed a full turn, and where is pair 12 then?


# %%
def clocks_at(position):
    for pair, ax in zip((0, 4, 8, 12), plots.axes(4, width=2.5, height=2.6), strict=True):
        angle = position / 10_000 ** (2 * pair / 64)
        plots.dial({"": angle}, f"pair {pair}: {angle:.2f}", ax)
    return f"At position {position} pair 0 has turned by {position} radians and pair 12 by {angle:.2f}."


clocks = explore(clocks_at, position=ipywidgets.IntSlider(value=3, min=0, max=60))
clocks

# %% [markdown]
# At position 7 pair 0 has begun its second turn, while pair 12 has moved by only 0.22 radians. A fast hand tells neighbours apart, but it repeats. A slow one tells near from far, but hardly neighbours. So we need both, as a clock needs hands for seconds and for hours.
#
# Here are the vectors for D = 8, one per column: on the left 30 neighbours, on the right every hundredth position. In which rows do neighbours differ most? Which rows change steadily from position 0 to 500?

# %%
for step, ax in zip((1, 100), plots.axes(2, width=6, height=3.2), strict=True):
    plots.scores(sinusoidal(length=30 * step, D=8)[::step].T, ax=ax, ylabel="dimension", xlabel="position")
    ax.set_xticks(range(0, 30, 5), [step * column for column in range(0, 30, 5)])
_ = ax.figure.colorbar(ax.images[0], ax=ax, label="entry")

# %% [markdown]
# The rows at the top change from neighbour to neighbour. The two at the bottom hardly do, but change steadily from 0 to 500: this pair takes 10000^(6/8) = 1,000 positions for one radian.
#
# ## How can a head find the word before?
#
# In k positions a hand turns by the same angle wherever it stood. So one matrix $M_k$ turns each position into the one k further on:
#
# $$P_{p+k} = M_k\,P_p \quad \text{for every } p$$
#
# It turns each pair by k times its angle. (A rotation is usually written for (cos, sin). Our pairs are (sin, cos), so the minus stands below.) We build M for k = 1 and D = 4.


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
# Lesson 10 left the question how a head can look at the word before. Let the query be the word's position moved *back* by one, and the keys the positions. Then the score is highest at the word before. (P holds positions as *rows*, so M acts as `P @ M.T`. Its transpose undoes it, as a rotation's does, so `P @ M` is one step back.) We do it for D = 64, without any training. Where will the weights lie for one step back, and for two? Try -1 in place of 2.

# %%
P, M = sinusoidal(7, 64), one_further(64)  # T D, D D
for steps, ax in zip((1, 2), plots.axes(2, width=4.6, height=3.4), strict=True):
    queries = P @ torch.linalg.matrix_power(M, steps)  # T D
    weights = (3 * queries @ P.T).softmax(-1)  # T T; the 3 concentrates the weights
    plots.weights(weights, title=f"{steps} back", ax=ax, xlabel="keys: positions", ylabel="queries: positions")

# %% [markdown]
# Each position gives most of its weight to the one before it, or two before. Where there is none, position 0 gets it.
#
# Will a model find this by training? The function `add` below gives ours positions. What share do you expect? Then we look at the weights of both layers for the first text from above. Its last word is 27, so the answer is 2. Which layer looks at the word before? What does the last word look at in the other one, and why?


# %%
def add(x):
    return x + sinusoidal(x.shape[1], x.shape[2])  # B T D


torch.manual_seed(0)
sinus = Reader(add=add)
fit(sinus, steps=1000, rate=5e-3)
shares["sinusoidal positions"] = [share_right(sinus, length) for length in lengths]
display(table(shares, [f"{length} words" for length in lengths], corner="share right", digits=2))
sinus(words[:1])
names = words[0].tolist()
for layer, ax in enumerate(plots.axes(2, width=5.2, height=3.7)):
    plots.weights(sinus.seen[layer][0], names, names, f"layer {layer}", ax, "keys: words", "queries: words")

# %% [markdown]
# Nearly all texts come out right. In layer 0 each word but the first looks mostly at the word before. In layer 1 the last word, 27, looks at 2, which took along the 27 before it (layer 0) and so matches the query. Other words do likewise.
#
# ## Rotary positions
#
# Many language models *turn* queries and keys (Su et al. 2021). A pair $(a, b)$ of a query has an angle $\alpha$ and a length $r_q$. Turning by $\varphi$ adds $\varphi$ to $\alpha$:
#
# $$(a\cos\varphi - b\sin\varphi,\;\; a\sin\varphi + b\cos\varphi) = r_q\,(\cos(\alpha + \varphi),\;\; \sin(\alpha + \varphi))$$
#
# **Rotary positions** turn the query at position $m$ by $m\theta$ and the key (with $\beta$, $r_k$) at $n$ by $n\theta$, with a speed $\theta$ for each pair. As $\cos x\cos y + \sin x\sin y = \cos(x - y)$, a pair adds to the score
#
# $$\begin{aligned}& r_q\,r_k\,\big(\cos(\alpha + m\theta)\cos(\beta + n\theta) + \sin(\alpha + m\theta)\sin(\beta + n\theta)\big)\\ ={}& r_q\,r_k\,\cos\big(\alpha - \beta + (m - n)\,\theta\big)\end{aligned}$$
#
# So only $m - n$ counts. What is the score of $q = k = [1, 0]$ for $\theta = 1$, $m = 3$, $n = 1$, and if both grow by 10? ($\cos 3 = -0.990$, $\sin 3 = 0.141$, $\cos 1 = 0.540$, $\sin 1 = 0.841$)


# %%
def turn(x, first=0):  # … T D; the first row is at the position `first`
    T, D = x.shape[-2:]
    angle = torch.arange(first, first + T)[:, None] / 10_000 ** (torch.arange(0, D, 2) / D)  # T D/2
    a, b = x[..., 0::2], x[..., 1::2]  # … T D/2
    pairs = a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()
    return torch.stack(pairs, -1).flatten(-2)  # … T D


q, k = torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 0.0]])
for (m, n), ax in zip(((3, 1), (13, 11), (13, 1)), plots.axes(3, width=2.8, height=2.8), strict=True):
    turned_q, turned_k = turn(q, m), turn(k, n)
    print(f"q at {m:2}: {turned_q[0]}  k at {n:2}: {turned_k[0]}  product {(turned_q @ turned_k.T).item():.3f}")
    plots.dial({"q": m, "k": n}, f"q at {m}, k at {n}", ax)

# %% [markdown]
# By hand the product is -0.990 · 0.540 + 0.141 · 0.841 = -0.416, which is cos 2. At 13 and 11 both hands have moved on together and are still 2 radians apart. At a distance of 12 it is cos 12 = 0.844.
#
# Must we turn both? `edited` copies a function and replaces a piece of its code: here it takes the turning of the keys out of `Reader.weights`. The queries are still turned. What share of the texts of 12 words will such a model get right?


# %%
class HalfTurned(Reader):
    weights = edited(Reader.weights, "self.turn(self.key[layer](x))", "self.key[layer](x)")


predict("11.half", ...)

# %% tags=["reveals"]
print("Both trained as the model that adds was:")
found = {}
for name, Model in {"both are turned": Reader, "after the change": HalfTurned}.items():
    torch.manual_seed(0)
    found[name] = Model(turn=turn)
    fit(found[name], steps=1000, rate=5e-3)
    shares[name] = [share_right(found[name], length) for length in lengths]
rotary = found["both are turned"]
reveal("11.half", round(shares["after the change"][-1], 2))
display(difference(Reader.weights, HalfTurned.weights, around=0))  # "+" is new, "-" is gone
table(shares, [f"{length} words" for length in lengths], corner="share right", digits=2)

# %% [markdown]
# The model guesses. In layer 0 an unturned key does not show where its word stands. Now edit so that only the keys are turned. Does that help? A little: perhaps turned keys show which word is first, and the first is never the answer. But "before" needs both: where the key's word stands, and the query's.
#
# ## What happens beyond the trained lengths?
#
# **Learned positions** are the third way: one trained vector per position, a row of `nn.Embedding(length, D).weight`. A row whose position never occurs in training stays random. Sinusoidal positions can be computed for any position; Vaswani et al. hoped that they might hold in longer texts. What share will be right in texts of 24 words?

# %% tags=["nbval-check-output"]
predict("11.beyond", ...)

# %% tags=["reveals"]
print("Trained on texts of two to twelve words, five seeds (lines: means, bands: lowest to highest):")
right = {}
for kind in ("rotary", "sinusoidal", "learned", "none"):
    numbers, right[kind] = measured("positions", "answers_right", "length", positions=kind)
at_24 = torch.tensor(right["sinusoidal"])[:, numbers.index(24)]
reveal("11.beyond", round(at_24.mean().item(), 2))
at_32 = {kind: torch.tensor(right[kind])[:, numbers.index(32)] for kind in ("learned", "sinusoidal")}
print("learned minus sinusoidal at 32 words, seed by seed:", at_32["learned"] - at_32["sinusoidal"])
bleu = {kind: by_seed("translated", "bleu", positions=kind, heads=4) for kind in ("learned", "sinusoidal")}
lost = [f"{bleu['learned'][seed] - bleu['sinusoidal'][seed]:.1f}" for seed in bleu["learned"]]
print("learned minus sinusoidal in the BLEU of our translators, seed by seed:", *lost)
plots.curves(numbers, right, "words of the text, T", "share right", legend="above")

# %% [markdown]
# Here the hope fails: beyond 12 words, sinusoidal positions are about as bad as learned ones, whose rows beyond 12 are still random, and at 32 worse with every seed. Rotary positions hold up for much longer.
#
# In translation, Vaswani et al. found "nearly identical results" with both kinds (section 3.5). Our translators lose about one BLEU with learned ones, with each of three seeds, perhaps because three epochs are few.
#
# Which answers are lost in texts of 24 words? On the left, the five seeds by the position of the answer; on the right, the weight that layer 0 of our models gives to the word before. Dotted: the last position that occurred in training.

# %%
right = {}
for kind in ("rotary", "sinusoidal", "learned"):
    places, right[kind] = measured("places", "answers_right", "place", positions=kind)
shorter, longer = (recall_next(2000, T, torch.Generator().manual_seed(1)) for T in (12, 24))
shown = {"rotary": (rotary, longer), "sinusoidal": (sinus, longer), "sinusoidal, 12 words": (sinus, shorter)}
seen = {}
for name, (model, (texts, _)) in shown.items():
    model(texts)
    seen[name] = model.seen[0].detach().mean(0)  # T T
late = seen["sinusoidal"][9:12, 13:].sum(1).mean()
print(f"sinusoidal, 24 words: queries 9 to 11 give {late:.2f} of their weight to keys after 12")
before = {name: [w.diagonal(-1).tolist() + [torch.nan] * (25 - len(w))] for name, w in seen.items()}
by_place, by_query = plots.axes(2, width=5.2, height=3.6)
plots.curves(places, right, "position of the answer", "share right", ax=by_place, legend="above")
plots.curves(range(1, 25), before, "position of the query", "weight on the word before", ax=by_query, legend="above")
for ax in (by_place, by_query):
    ax.axvline(12, color="0.5", linestyle=":")  # the last position that occurred in training

# %% [markdown]
# Position 12 did occur in training, but only as the repeated word, never as an answer: learned positions fail from there. (Rotary ones lose some of the first answers, perhaps because these are farther from the last word than any in training.) Sinusoidal ones lose answers from 9 on. Layer 0 gives the word before less weight there, but it does so in texts of 12 words, too. New is the weight on keys after 12. Is that the cause?
#
# We try two changes to layer 0 and nothing else. First we hide the keys after 12 from earlier queries. Then our head by hand, whose M works at any position, takes its place. What does each bring back?


# %%
def hide(layer, x):
    weights = Reader.weights(sinus, layer, x)  # B T T
    if layer == 0:
        weights[:, :13, 13:] = 0
    return weights / weights.sum(-1, keepdim=True)


def by_hand(layer, x):
    P = sinusoidal(x.shape[1], 64)  # T D
    return (3 * P @ M @ P.T).softmax(-1) if layer == 0 else Reader.weights(sinus, layer, x)  # T T or B T T


rows, (texts, answers) = {}, longer
there = (texts[:, 9:12] == answers[:, None]).any(1)  # the answer is at position 9, 10 or 11
for name, weights in {"as trained": sinus.weights, "late keys hidden": hide, "layer 0 by hand": by_hand}.items():
    sinus.weights = weights
    rows[name] = [share_right(sinus, length) for length in (12, 24, 32)]
    rows[name].append((sinus(texts).argmax(-1) == answers)[there].double().mean().item())
del sinus.weights  # back to those of its class
table(rows, ["12 words", "24 words", "32 words", "24, answer at 9 to 11"], corner="share right", digits=2)

# %% [markdown]
# With the late keys hidden, most answers at 9 to 11 are right again: new positions draw weight as keys before they fail as queries. With the head by hand nearly all texts are right. So the positions are good for longer texts; the trained layer 0 is not.
#
# ## So: where does the order come from?
#
# Not from attention itself, but from positions that are added or that turn, and in a decoder perhaps partly from the mask. Added positions tell where each word is; our model loses many answers at new ones. Rotary positions tell how far apart words are, and less is lost.
#
# ## Questions
#
# Run a cell, then replace the dots with a letter (in quotes) or number.

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
# - Where does the order come from? From positions that are added to the words or that turn queries and keys, and in a decoder perhaps partly from the mask.
# - Without them an encoder cannot tell two orders of the same words apart.
# - Sinusoidal positions are clocks: fast pairs tell neighbours apart, and slow pairs tell near from far. A shift by k is one matrix for all positions, so a head can look at the word before.
# - Turning queries and keys makes a score depend on positions only through their distance, m - n: if all positions move on together, nothing changes.
# - In our task, models with sinusoidal positions lose many answers beyond the trained lengths, as those with learned positions do. In the sinusoidal one that we opened, the first layer no longer finds the word before. Those with rotary positions hold up longer.
#
# **Exercises**: [open them](../exercises/11_positions_exercises.ipynb)
#
# **Next**: words that look at each other, in several heads, with positions. [What else does attention need to become a translator?](12_transformer.ipynb)
