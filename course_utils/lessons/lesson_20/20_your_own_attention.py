# %%
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from course_utils import check, predict, reveal
from course_utils.data.lookups import KEYS, VALUES, lookups, most_told
from course_utils.data.measured import measured, measured_once
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table
from course_utils.models import compared, faulty_attention, properties, variants
from course_utils.models.attention import causal_mask, masked_softmax

torch.set_printoptions(precision=3, sci_mode=False)


def drawn(seed):
    return torch.Generator().manual_seed(seed)


# %% [markdown]
# ## Three parts to change
#
# Nearly every attention of this course has three parts. A **score** says how well a key fits the query. A **normaliser** turns the scores of a row into weights that are not negative and add up to 1. A **memory** holds the values, and is read with these weights.
#
# In the drawing, the upper row is the attention you know; the boxes below show what this lesson puts in place of each part. So that any attention fits into the same model and the same tests, each is a function of one form:


# %%
def attend(query, key, value, mask, normalise=masked_softmax):  # B H T D, B H T D, B H T E, True where it may look
    scores = query @ key.mT / query.shape[-1] ** 0.5  # B H T T
    weights = normalise(scores, mask)  # B H T T
    return weights @ value, weights  # B H T E, B H T T


diagrams.three_parts()

# %% [markdown]
# ## What must every attention do?
#
# Before we ask which attention is better, each has to be an attention at all: it must neither see later steps nor depend on padding. So we write down what each of them **promises**, and test it on `attend` and on nine attentions with one fault each. For instance, `mask_after_softmax` has the weights `scores.softmax(-1) * mask`. So each later step gets 0: which promises can it break? Does one of the nine keep them all?


# %%
def broken(attentions, promises=properties.PROMISES):
    found = {name: properties.broken(one, promises) for name, one in attentions.items()}
    rows = {
        name: [test.__doc__, ", ".join(one for one in found if name in found[one])] for name, test in promises.items()
    }
    rows["all kept"] = ["", "by " + ", ".join(one for one in found if not found[one])]
    return table(rows, ["what it says", "broken by"], left=["what it says", "broken by"])


broken({"attend": attend} | faulty_attention.FAULTS)

# %% [markdown]
# `mask_after_softmax` even breaks `leak`: the later scores are still in the sum that softmax divides by, so a row adds up to less than 1, and how much less depends on later steps.
#
# `mask_ends_early` keeps all eight, and yet it is wrong: it sets the mask to True for the keys from 20 on, so that every step sees them. The eight promises are tested with 7 steps. A promise is a function, so we can add one. How must it differ from the others?


# %%
def leak_later(attend):
    """The last of 40 steps has no effect on those before it."""
    query, key, value = torch.randn(3, 1, 1, 40, 4, generator=drawn(0))
    before = attend(query, key, value, causal_mask(40)[None, None])[0]
    after = attend(query, key, value.index_fill(2, torch.tensor(39), 5.0), causal_mask(40)[None, None])[0]
    seen = properties.differ(before[:, :, :39], after[:, :, :39])
    return "the last of 40 steps changes earlier ones" if seen else None


more = properties.PROMISES | {"leak_later": leak_later}
for name, one in {"attend": attend, "mask_ends_early": faulty_attention.FAULTS["mask_ends_early"]}.items():
    print(name, "breaks", list(properties.broken(one, more)) or "none")

# %% [markdown]
# It must try more than 20 steps. The new promise tries 40: it finds the fault, and `attend` keeps it. Trust a promise more once it has found a fault: `shape` has found none yet.
#
# ## What should another one do better?
#
# To measure that, we need worlds in which we know what is hard. At each step, the model reads a key with its value, and is asked for the value of one of the keys read so far. In the world `once`, each key comes once. In `latest`, eight keys come again and again, and the latest value is the answer. Here, key 94 comes at steps 0 and 7. If step 9 asked for it, what would be the answer?

# %%
asked = lookups(1, "latest", drawn(0), 10)
rows = {name: column[0].tolist() for name, column in zip(asked._fields, asked, strict=True)}
table(rows, [str(t) for t in range(10)], corner="step")

# %% [markdown]
# The answer is 0, the value of step 7. Before step 7 it was 2.
#
# Our model is one layer, with a readout. A step is the key, its value and the key asked for, as one-hot vectors side by side; a linear layer makes query, key and value of each head from them. As you read, ask: which line depends on the order of the steps?
#
# It learns from sequences of 32 steps, and we count the answers in the last quarter of each. There are eight values, so a guess is right one time in eight. What share can it get right in `latest`?


# %% tags=["nbval-check-output"]
class Reader(nn.Module):
    def __init__(self, attend, H=4, D=16):  # heads, and their width
        super().__init__()
        self.attend, self.H = attend, H
        self.project, self.readout = nn.Linear(2 * KEYS + VALUES, 3 * H * D), nn.Linear(H * D, VALUES)

    def forward(self, x):  # B T (2·KEYS + VALUES)
        query, key, value = self.project(x).unflatten(-1, (3, self.H, -1)).permute(2, 0, 3, 1, 4)  # each B H T D
        contexts, _ = self.attend(query, key, value, causal_mask(x.shape[1]))  # a step sees itself and all before
        return self.readout(contexts.transpose(1, 2).flatten(2))  # B T VALUES


predict("20.latest", ...)


# %% tags=["reveals"]
def trained(attend, *worlds, seed=0):
    """The shares of right answers in these worlds, at 32, 64 and 128 steps."""
    found = {}
    for world in worlds:
        torch.manual_seed(seed)
        model = Reader(attend)
        variants.fit(model, world, seed)
        found[world] = [round(variants.accuracy(model, world, length), 2) for length in compared.LENGTHS]
    return found


print("Tested on sequences as long as in training, twice and four times as long:")
own = trained(attend, "once", "latest")
print(own)
asked = lookups(200, "latest", drawn(10_000), 32)
most = (most_told(asked) == asked.answer)[:, -8:].float().mean()
print(f"the value that came most often with the key: {most:.2f}")
reveal("20.latest", own["latest"][0])

# %% [markdown]
# At 32 steps, the model answers nearly everything right in `once`, and a little less at 128. In `latest` it answers fewer than half, hardly more than if it always gave the key's most frequent value: only the mask depends on the order, and it hides no earlier step.
#
# ## Another normaliser
#
# Perhaps softmax is at fault in `once`: it never gives a weight of 0. **Sparsemax** (Martins & Astudillo 2016) subtracts one threshold $\tau$ from all scores and sets negative results to 0:
#
# $$p_i = \max(z_i - \tau, 0), \quad \sum_i p_i = 1$$
#
# The scores are 1, 0.6 and -0.5. If all three got a weight, $\tau$ would be $(1 + 0.6 - 0.5 - 1) / 3 = 0.03$. But -0.5 lies below that, and gets nothing. What is $\tau$ for the other two?


# %%
def sparsemax(scores, mask):  # B H T T, True where it may look
    above = mask
    while True:
        total = scores.masked_fill(~above, 0.0).sum(-1, keepdim=True)
        tau = (total - 1) / above.sum(-1, keepdim=True).clamp(min=1)  # if all of these got a weight
        if (still := above & (scores > tau)).equal(above):
            return (scores - tau).masked_fill(~above, 0.0)
        above = still


scores = torch.tensor([[1.0, 0.6, -0.5]])
weights = sparsemax(scores, torch.ones(1, 3, dtype=torch.bool))
print("sparsemax", weights, "softmax", scores.softmax(-1))
print("sparsemax of 1.6, 0.6, -0.5:", sparsemax(torch.tensor([[1.6, 0.6, -0.5]]), torch.ones(1, 3, dtype=torch.bool)))
names = [f"key {j}\nweight {p:.2g}" for j, p in enumerate(weights[0])]
plots.above_line(dict(zip(names, scores[0].tolist(), strict=True)), (scores - weights)[0, 0].item(), "score", "τ")

# %% [markdown]
# The weight of a key is the dark part of its bar, above the line τ = (1 + 0.6 - 1) / 2 = 0.3: 0.7 and 0.3 are left, and add up to 1. If the first score is larger than the others by 1 or more, such as 1.6, it gets all the weight.
#
# ## Another score
#
# To find the latest value, an attention must know the order. **ALiBi** (Press et al. 2022) subtracts from each score a number that grows with the distance, with a slope for each head $h$ of $H$:
#
# $$\text{score} = \frac{q_i^\top k_j}{\sqrt{D}} - 2^{-8h/H}\,|i - j|$$
#
# With four heads, how much does the first subtract for a distance of 10 steps, and how much the last?


# %%
def slopes(H):
    return 2 ** (-8 * torch.arange(1, H + 1) / H)  # H


def alibi(query, key, value, mask):
    step, slope = torch.arange(query.shape[2]), slopes(query.shape[1])
    distance = (step[:, None] - step).abs()  # T T
    scores = query @ key.mT / query.shape[-1] ** 0.5 - slope[:, None, None] * distance  # B H T T
    weights = masked_softmax(scores, mask)  # B H T T
    return weights @ value, weights


print("for a distance of 10 steps:", 10 * slopes(4))
distance = torch.arange(0, 33, 4)
lines = {f"head {h}, slope {m:.3g}": -m * distance[None] for h, m in enumerate(slopes(4), start=1)}
plots.curves(distance, lines, "distance in steps", "added to the score", ax=plots.axes(width=5.6))

# %% [markdown]
# For 10 steps the first head subtracts 2.5, so it prefers recent ones; the last subtracts only 0.04.
#
# ## Another memory
#
# For each new query, softmax looks at every key again. **Linear attention** (Katharopoulos et al. 2020) replaces $\exp(q^\top k)$ by $\phi(q)^\top \phi(k)$. Then two sums over the steps can be kept in place of all keys and values:
#
# $$c_i^\top = \frac{\sum_{j \le i} \phi(q_i)^\top \phi(k_j)\, v_j^\top}{\sum_{j \le i} \phi(q_i)^\top \phi(k_j)} = \frac{\phi(q_i)^\top \sum_{j \le i} \phi(k_j)\, v_j^\top}{\phi(q_i)^\top \sum_{j \le i} \phi(k_j)}$$
#
# What must $\phi$ be like? Let the query be 1, and the keys 1 and -1. By hand: which weights do you get with $\phi(x) = x$, and with $\text{elu}(x) + 1$, which is $x + 1$ above 0 and $e^x$ below?


# %% tags=["nbval-check-output"]
def positive(x):
    return F.elu(x) + 1


def linear(query, key, value, mask, phi=positive, divide=True):
    weights = (phi(query) @ phi(key).mT).masked_fill(~mask, 0.0)  # B H T T
    if divide:
        weights = weights / weights.sum(-1, keepdim=True)
    return weights @ value, weights


q, k = torch.tensor([[1.0]]), torch.tensor([[1.0], [-1.0]])
for name, phi in {"x": lambda x: x, "elu(x) + 1": positive}.items():
    weights = phi(q) @ phi(k).T
    print(f"φ(x) = {name}:", weights, "divided by their sum:", weights / weights.sum())

# %% [markdown]
# With $\phi(x) = x$ one weight is negative, and the sum is 0: we cannot divide by it. With elu + 1 all weights are above 0.
#
# `linear` still makes T×T weights. But we may go through the sequence in chunks, and keep only two sums. How many numbers does this memory hold for each head, if D = E = 8? And how does the time grow, beside softmax with its T×T weights, and PyTorch's own, which never stores them all? (Measured on one core, with chunks of 64.)


# %%
def linear_in_chunks(query, key, value, size):
    query, key, value = positive(query), positive(key), F.pad(value, (0, 1), value=1.0)  # B H T E+1: ones last
    memory, contexts = torch.zeros(query.shape[-1], value.shape[-1]), []  # D E+1: Σ φ(k) vᵀ and Σ φ(k)
    for q, k, v in zip(query.split(size, 2), key.split(size, 2), value.split(size, 2), strict=True):
        read = (q @ k.mT).tril() @ v + q @ memory  # B H size E+1: this chunk, and all before it
        contexts.append(read[..., :-1] / read[..., -1:])
        memory = memory + k.mT @ v  # B H D E+1
    return torch.cat(contexts, 2), memory[0, 0].numel()


query, key, value = torch.randn(3, 1, 4, 50, 8, generator=drawn(0))
by_weights = linear(query, key, value, causal_mask(50))[0]
contexts, kept = linear_in_chunks(query, key, value, size=16)
print("chunks of 16: the same", torch.allclose(contexts, by_weights, atol=1e-5), "with a memory of", kept)
ways = ("softmax", "softmax, PyTorch's own", "linear, in chunks")
times = {way: measured("cost", "milliseconds", "length", way=way)[1] for way in ways}
plots.curves((256, 1024, 4096), times, "steps", "CPU milliseconds, three runs", ax=plots.axes(width=5.6), log=True)

# %% [markdown]
# The time of the chunks grows no faster than the number of steps; softmax's time grows faster. At 256 steps PyTorch's own is the fastest, at 4,096 the chunks. Their memory holds 8 × 9 = 72 numbers, however many steps there are: 8 × 8 for the values, one column for the sum of keys.
#
# This memory only adds. The **delta rule** (Schlag et al. 2021) first reads what the memory holds for a key, and writes a share $\beta$ of the difference:
#
# $$S_t = S_{t-1} + \beta\, k_t\,(v_t - S_{t-1}^\top k_t)^\top$$
#
# The memory holds 1 for the key (1, 0) and 2 for (0, 1). Now (0.6, 0.8) comes with the value 5. What do the three keys read then? And the new one with β = 0.5?

# %%
keys = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
S, k, v = torch.tensor([[1.0], [2.0]]), keys[2:], torch.tensor([[5.0]])  # D E, 1 D, 1 E
for beta in (0.5, 1.0):
    new = S + beta * k.mT @ (v - k @ S)
    print(f"β = {beta}: the new key finds {(k @ S).item():.1f} and then reads {(k @ new).item():.1f}")
names = [f"{one:.3g} → {other:.3g}" for one, other in zip((keys @ S)[:, 0], (keys @ new)[:, 0], strict=True)]
ax = plots.axes(width=4.2, height=3.4)
plots.directions(keys, names, title="what each key reads, before → after", ax=ax)
ax.plot([1, 0.36], [0, 0.48], "k:")  # from the key (1, 0) straight onto the new one
_ = ax.text(0.22, 0.2, "0.6"), ax.set(xlim=(-0.2, 1.6), ylim=(-0.2, 1.3))

# %% [markdown]
# With β = 1 the new key reads 5, with β = 0.5 it reads 3.6, half-way between the old 2.2 and 5. But the other two no longer read 1 and 2. The key (1, 0) **overlaps** with the new one: 0.6 of it lies in the new key's direction (up to the dotted line), which is their dot product, so it reads $0.6 \cdot 2.8 = 1.68$ more. Only keys at right angles leave each other alone, and in two dimensions only two can be at right angles.
#
# Here is the rule as a loop. Does each of our five attentions give what the course's version gives, padding included? And which promises do they break?


# %% tags=["nbval-check-output"]
def delta(query, key, value, mask, beta=1.0):
    query, key = F.normalize(query, dim=-1), F.normalize(key, dim=-1)  # length 1
    key = key * mask.any(-2)[..., None]  # a step that no query may see writes nothing
    S, contexts = value.new_zeros(key.shape[-1], value.shape[-1]), []  # D E
    for q, k, v in zip(query.split(1, 2), key.split(1, 2), value.split(1, 2), strict=True):
        S = S + beta * k.mT @ (v - k @ S)  # B H D E
        contexts.append(q @ S)  # B H 1 E
    return torch.cat(contexts, 2), None  # there are no weights


sparse, inputs = partial(attend, normalise=sparsemax), properties.drawn()
ours = dict(zip(variants.VARIANTS, (attend, sparse, alibi, linear, delta), strict=True))
same = [(one(*inputs)[0] - variants.VARIANTS[name](*inputs)[0]).abs().max() < 1e-5 for name, one in ours.items()]
print("each gives what the course's version gives:", all(same))
broken(ours, more)

# %% [markdown]
# ALiBi breaks `order` on purpose, and so does the delta rule, which overwrites; without weights, it also breaks `rows`. But `linear` has a fault: below -18, φ is rounded to 0, and 0 / 0 is NaN. Put a 1 in place of a sum of 0 (`Tensor.where`) *before* you divide; afterwards is too late, as the gradient is then NaN already. Run both cells again: none breaks `large`.
#
# ## Which one wins?
#
# Now we know which promises our five attentions keep. Five models of each learned each world. Our delta rule has β = 1 (Schlag et al. learn it), and each of its four heads a memory of 16 dimensions. How many keys can be at right angles there? How many does each world write?

# %% tags=["nbval-check-output"]
predict("20.wins", ...)


# %% tags=["reveals"]
def shares(name, world):
    """A row for each seed: the shares of right answers at 32 and at 128 steps."""
    runs = [measured_once("variants", "right", variant=name, world=world, length=n)[0] for n in (32, 128)]
    return torch.tensor(runs).T  # seeds, lengths


compared.draw_accuracy(*variants.VARIANTS)
reveal("20.wins", max(variants.VARIANTS, key=lambda name: shares(name, "latest").mean()))

# %% [markdown]
# - `latest` writes eight keys, for which each head's 16 dimensions are enough: the delta rule wins, and ALiBi comes second. Sparsemax gains little.
# - `once` writes 32 to 128 keys. There the delta rule gets fewer right than softmax at every length, and ALiBi falls behind in long sequences. So softmax was at fault: sparsemax gets 1.00 at 128 steps.
#
# ## Take one part out
#
# Why does linear attention lose in both worlds? Its memory is larger than the delta rule's. Take out a part, and predict the share of right answers. Below, a query asks for one of 32 or 128 keys: what weight does that key get with φ?


# %% tags=["nbval-check-output"]
part, world = "φ and the division", "once"  # next "the reading of the delta rule", "latest"
without = {
    "φ": partial(linear, phi=lambda x: x),
    "the division": partial(linear, divide=False),
    "φ and the division": partial(linear, phi=lambda x: x, divide=False),
    "the reading of the delta rule": partial(linear, phi=lambda x: F.normalize(x, dim=-1), divide=False),
}
predict("20.part", ...)

# %% tags=["reveals"]
print(f"Without {part}, by the length of the sequences:")
its_own = trained(without[part], world)
print(its_own)
reveal("20.part", its_own[world][0])
tried = {"softmax": attend, "linear": linear} | {f"linear without {one}": without[one] for one in list(without)[:3]}
rows = {name: [] for name in tried}
for T in (32, 128):
    keys = 8 * F.normalize(torch.randn(200, 1, T, 16, generator=drawn(0)), dim=-1)
    for name, one in tried.items():
        weights = one(keys[:, :, :1], keys, keys, torch.ones(1, T, dtype=torch.bool))[1][:, 0, 0]  # 200 T
        right, others = weights[:, 0], weights[:, 1:].sum(-1).mean()
        rows[name] += [f"{right.min():.2f} to {right.max():.2f}", f"{others:.2f}"]
table(rows, ["32 keys: the right one", "all others (mean)", "128 keys: the right one", "all others (mean)"])

# %% [markdown]
# Without φ and the division, `once` is nearly solved at 32 steps, with a memory no larger, so its size was not to blame. With φ the right key gets less than a tenth of the weight, since all others have positive products, too. Softmax gives it nearly all.
#
# Now try another part. Which one helps one world and harms the other? Here are all of them, with three seeds; *both* are φ and the division.

# %%
changes = [("linear", "φ"), ("linear", "the division"), ("linear", "both"), ("delta rule", "the reading")]
for world, ax in zip(compared.WORLDS, plots.axes(2, width=4.6, height=3), strict=True):
    rows = {}
    for whole, one in changes:
        difference = shares(f"{whole} without {one}", world) - shares(whole, world)[:3]  # seed by seed
        rows[f"{whole} →\nwithout {one}"] = dict(zip(("32 steps", "128 steps"), difference.T, strict=True))
    ax.axvline(0, color="0.6", linewidth=1)
    plots.dots(rows, f"{world}: change in the share right", ax=ax, xlim=(-0.75, 0.65))
_ = ax.set_yticklabels([])  # the same as on the left

# %% [markdown]
# Dots on the right are gains. *linear* gets worse without φ alone or the division alone, but better without both. The table suggests why: without φ, products have both signs, and sums near 0 make weights huge. Without the division, φ's positive products add up, the more so with more keys. Without both, what others add is near 0 on average.
#
# Without the reading, the delta rule gains in `once` and loses in `latest`, which the reading wins. Why does it lose in `once`?
#
# ## What can a fixed memory hold?
#
# With β = 1 and keys of length 1, the delta rule is $S_t = (I - k k^\top)\, S_{t-1} + k\, v^\top$: it clears the key's direction before it writes. We write 128 random keys, then read all. Which values come back right?


# %%
def remembered(reads, seed, D=16, T=128, V=8):
    key = F.normalize(torch.randn(200, T, D, generator=drawn(seed)), dim=-1)  # B T D
    value = torch.randint(V, (200, T), generator=drawn(seed + 1))  # B T
    S = torch.zeros(200, D, V)
    for k, v in zip(key.split(1, 1), F.one_hot(value, V).float().split(1, 1), strict=True):
        S = S + k.mT @ (v - (k @ S if reads else 0))
    right = ((key @ S).argmax(-1) == value).float().mean(0)  # T
    return right.flip(0).view(-1, 8).mean(1)  # the latest eight first


runs = {}
for name, reads in (("delta rule", True), ("only added", False)):
    runs[name] = torch.stack([remembered(reads, seed) for seed in range(0, 6, 2)])
    print(f"{name}: of all 128 keys {runs[name].mean():.2f} right")
ax = plots.axes(width=5.6)
since = torch.arange(0, 128, 8) + 3.5  # the middle of eight
plots.curves(since, runs, "keys written since", "share of right answers", ax=ax)
_ = ax.axhline(1 / 8, color="0.6", linewidth=1), ax.set(ylim=(0, 1.05))  # grey: guessing

# %% [markdown]
# In 16 dimensions the delta rule knows most of the latest eight keys; after 60 more it only guesses (grey line). One that only adds blurs all equally, and gets more right: perhaps this helps in `once`.
#
# ## Two changes at once
#
# Can an attention have both worlds? We take sparsemax, and subtract a penalty from each score, $s \ln(1 + |i - j|)$. Suppose that a key came 15 times, eight steps apart; without a penalty, a dot product gives all 15 the same score. With $s = 0.3$ and $s = 1$, how often does the latest value gather the most weight? The second cell has models with both normalisers, trained at strengths from 0 to 3 with three seeds. Draw their four curves first.


# %%
def near_first(query, key, value, mask, normalise=sparsemax, strength=0.3):
    step = torch.arange(query.shape[2])
    near = strength * ((step[:, None] - step).abs() + 1).log()  # T T
    weights = normalise(query @ key.mT / query.shape[-1] ** 0.5 - near, mask)  # B H T T
    return weights @ value, weights


values, distances = torch.randint(8, (4000, 15), generator=drawn(0)), torch.arange(8, 121, 8)  # the latest first
for strength in (0.3, 1):
    for normalise in (masked_softmax, sparsemax):
        weights = normalise(-strength * (1 + distances).log()[None], torch.ones(1, 15, dtype=torch.bool))  # 1 15
        votes = (weights @ F.one_hot(values, 8).float())[:, 0]  # 4000 8: the weight of each value
        wins = (votes.argmax(-1) == values[:, 0]).float().mean()
        print(f"s = {strength}, {normalise.__name__}: the latest wins in {wins:.2f}; first weights", weights[0, :5])


# %%
def at_128(normaliser, s, world):
    plain = {"softmax": "dot product", "sparsemax": "sparsemax"}[normaliser]
    near = f"{normaliser}, near first" + f", strength {s}" * (s != 0.3)
    return measured_once("variants", "right", variant=near if s else plain, world=world, length=128)[0][:3]


strengths, found, both = (0, 0.1, 0.3, 1, 3), {}, ("softmax", "sparsemax")
for world, ax in zip(compared.WORLDS, plots.axes(2, width=4.6), strict=True):
    found[world] = {one: torch.tensor([at_128(one, s, world) for s in strengths]).T for one in both}
    plots.curves(range(5), found[world], "strength s of the penalty", "share right at 128 steps", world, ax)
    ax.set_xticks(range(5), strengths)
    ax.set(ylim=(0, 1.05))
for one in both:
    worse = torch.minimum(*(found[world][one].mean(0) for world in found))
    print(f"{one}: strength {strengths[worse.argmax()]} gets at least {worse.max():.2f} right in both worlds")

# %% [markdown]
# - With $s = 0.3$, softmax gives the latest 0.11, and 14 older ones share 0.89 among eight values: one often gathers more. Sparsemax gives it 0.47; it loses only if the next three share another.
# - Trained in `latest`, sparsemax needs a strength of only 0.3, softmax 1. `once` asks for old keys: there a larger strength costs more. 3 is worse than 1 everywhere.
#
# Sparsemax with 0.3 has the best balance.
#
# ## So: what will your own attention be?
#
# One that changes a part for a reason. The penalty helps `latest` and harms `once`: must all heads have it? Below, every other head of softmax has strength 2, the rest 0. Does this beat softmax with one strength?


# %%
def mine(query, key, value, mask):  # then write your own
    head = torch.arange(query.shape[1])[:, None, None]  # H 1 1
    return near_first(query, key, value, mask, masked_softmax, strength=2.0 * (head % 2))


print("mine breaks", list(properties.broken(mine, more)) or "none")
print("right at 32, 64 and 128 steps, and what one strength for all heads gets in its worse world at 128:")
for seed in (0, 1):
    print(f"seed {seed}, mine:", trained(mine, "once", "latest", seed=seed))
    for one in both:
        worse = torch.minimum(*(found[world][one][seed] for world in found))
        print(f"seed {seed}, {one}, strength {strengths[worse.argmax()]}: {worse.max():.2f}")

# %% [markdown]
# Compare the worse of the two worlds: at 128 steps, `mine` gets more right there than softmax with the best of our five strengths, with both seeds. (We show no other strength of such heads, and two seeds are a hint, not a proof.) Sparsemax with one strength is still ahead. So start here: what if sparsemax has such heads? That `mine` breaks `order` is on purpose.
#
# ## Questions
#
# Run a cell to see its question, then replace the dots with a letter in quotes or a number.

# %%
check("20.q1", ...)

# %%
check("20.q2", ...)

# %%
check("20.q3", ...)

# %%
check("20.q4", ...)

# %%
check("20.q5", ...)

# %% [markdown]
# ## Recap
#
# - An attention can be changed in its score, its normaliser and its memory. What it promises comes first, and can be tested: trust a promise more once it has found a fault.
# - In our worlds sparsemax gains in both. The delta rule wins `latest`, and ALiBi comes second; in `once`, ALiBi falls behind in long sequences, the delta rule at every length. Linear attention needs no list of keys, but loses in both.
# - To see what a part is for, take it out and compare seed by seed. What it does depends on the other parts: in linear attention, leaving out only one of φ and the division makes it worse, leaving out both makes it better; a mild penalty helps far more in `latest` with sparsemax than with softmax. A strong one costs `once`; sparing some heads may help: two seeds say so, which is a hint.
# - A memory of fixed size forgets or blurs. But softmax keeps 2·heads·d numbers more for each token and layer, the delta rule always heads·d². Today's [Qwen3-Next](https://huggingface.co/Qwen/Qwen3-Next-80B-A3B-Instruct) and [Kimi Linear](https://arxiv.org/abs/2510.26692) combine both: a *gated* delta rule in three of four layers, softmax in the fourth.
#
# **Exercises**: [open them](../exercises/20_your_own_attention_exercises.ipynb)
#
# **Next**: attention can be changed in many ways. [What is inside the models that we use every day?](21_gpt.ipynb)
