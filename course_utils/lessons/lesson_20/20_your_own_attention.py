# %%
from functools import partial

import torch
import torch.nn.functional as F

from course_utils import check, predict, reveal
from course_utils.data.lookups import lookups, most_told
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
# In the drawing, the upper row is the attention that you know; below each part stands what this lesson puts in its place. So that any attention fits into the same model and the same tests, each is a function of one form:


# %%
def attend(query, key, value, mask, normalise=masked_softmax):  # B H T D, B H T D, B H T E, True where it may look
    scores = query @ key.mT / query.shape[-1] ** 0.5  # B H T T
    weights = normalise(scores, mask)  # B H T T
    return weights @ value, weights  # B H T E, B H T T


diagrams.three_parts()

# %% [markdown]
# ## What must every attention do?
#
# Before an attention may be better than others, it has to be an attention: it may not see later steps, nor depend on padding. So we write down what each of them **promises**, and test it. In the table, `attend` comes first, then nine attentions with one fault each. Which promise does each fault break? Does one keep them all?


# %%
def broken(attentions):
    rows = {}
    for name, one in attentions.items():
        found = properties.broken(one)
        rows[name] = ["broken" if promise in found else "" for promise in properties.PROMISES]
    return table(rows, list(properties.PROMISES))


for promise in properties.PROMISES.values():
    print(f"{promise.__name__}: {promise.__doc__}")
broken({"attend": attend} | faulty_attention.FAULTS)

# %% [markdown]
# `mask_ends_early` keeps all eight, and yet it is wrong: it lets every step see the keys from 20 on. The promises are tested with 7 steps. A promise is a function, so we can add one. How must it differ from the others?


# %%
def leak_later(attend):
    query, key, value = torch.randn(3, 1, 1, 40, 4, generator=drawn(0))
    before = attend(query, key, value, causal_mask(40)[None, None])[0]
    after = attend(query, key, value.index_fill(2, torch.tensor(39), 5.0), causal_mask(40)[None, None])[0]
    seen = properties.differ(before[:, :, :39], after[:, :, :39])
    return "the last of 40 steps changes earlier ones" if seen else None


more = properties.PROMISES | {"leak_later": leak_later}
for name, one in {"attend": attend, "mask_ends_early": faulty_attention.FAULTS["mask_ends_early"]}.items():
    print(name, "breaks", properties.broken(one, more) or "none")

# %% [markdown]
# It has to try more than 20 steps. The new promise finds the fault, and `attend` keeps it. Trust a promise more once it has found a fault.
#
# ## What should another one do better?
#
# To say so, we need worlds in which we know what is hard. At each step, the model reads a key with its value, and is asked for the value of one of the keys read so far. In the world ***once***, each key comes once. In ***latest***, eight keys come again and again, and the latest value is the answer. Here, key 94 comes at steps 0 and 7. If step 9 asked for it, what would be the answer?

# %%
asked = lookups(1, "latest", drawn(0), 10)
rows = {name: column[0].tolist() for name, column in zip(asked._fields, asked, strict=True)}
table(rows, [str(t) for t in range(10)], corner="step")

# %% [markdown]
# The answer is 0, the value of step 7. Before step 7 it was 2.
#
# Our model is one layer with four heads of width 16, and learns from sequences of 32 steps. Its scores do not depend on the order of the steps. There are eight values, so a guess is right one time in eight. We count the answers in the last quarter of each sequence. What share can the model get right in *latest*?

# %% tags=["nbval-check-output"]
predict("20.latest", ...)


# %% tags=["reveals"]
def trained(attend, *worlds):
    """The shares of right answers in these worlds, at 32, 64 and 128 steps."""
    found = {}
    for world in worlds:
        torch.manual_seed(0)
        model = variants.reader(attend)
        variants.fit(model, world)
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
# At 32 steps, the model answers everything right in *once*. In *latest* it answers fewer than half, hardly more than the value that came most often would. So there is something to win in both worlds: most of *latest*, and the longest sequences of *once*.
#
# ## Another normaliser
#
# What is lost in long sequences of *once*? Perhaps softmax is at fault: it never gives a weight of 0, and many small weights add up. **Sparsemax** (Martins & Astudillo 2016) subtracts one threshold $\tau$ from all scores and sets negative results to 0:
#
# $$p_i = \max(z_i - \tau, 0), \quad \sum_i p_i = 1$$
#
# The scores are 1, 0.6 and -0.5. What is $\tau$, if the third gets nothing?


# %%
def sparsemax(scores, mask):  # B H T T, True where it may look
    hidden = scores.masked_fill(~mask, -torch.inf)
    high = hidden.amax(-1, keepdim=True)
    low = high - 1  # τ lies between low and high, a range that we halve 30 times
    for _ in range(30):
        tau = (low + high) / 2
        too_low = (hidden - tau).clamp(min=0).sum(-1, keepdim=True) > 1
        low, high = torch.where(too_low, tau, low), torch.where(too_low, high, tau)
    found = hidden > low  # the keys that get a weight: τ, computed from their scores, has the right gradient
    tau = (hidden.masked_fill(~found, 0.0).sum(-1, keepdim=True) - 1) / found.sum(-1, keepdim=True)
    return (hidden - tau).clamp(min=0)


scores = torch.tensor([[1.0, 0.6, -0.5]])
weights = sparsemax(scores, torch.ones(1, 3, dtype=torch.bool))
print("sparsemax", weights, "softmax", scores.softmax(-1))
bars = {f"key {j}\nweight {p:.2g}": [score] for j, (score, p) in enumerate(zip(scores[0], weights[0], strict=True))}
plots.bars(bars, "score", ylim=(-0.6, 1.2), lines={"τ": (scores - weights)[0, 0].item()})

# %% [markdown]
# The weight of a key is the part of its score above the line τ, which is at 0.3: 0.7 and 0.3 are left, and add up to 1. If the first score were larger than the others by 1 or more, it would get all the weight.
#
# ## Another score
#
# To find the latest value, an attention must know the order. **ALiBi** (Press et al. 2022) subtracts from each score a number that grows with the distance, with a slope for each head $h$ of $H$:
#
# $$\text{score} = \frac{q_i^\top k_j}{\sqrt{D}} - 2^{-8h/H}\,|i - j|$$
#
# With four heads, how much does the first subtract for a distance of 10 steps, and how much the last?


# %% tags=["nbval-check-output"]
SLOPES = 2 ** (-8 * torch.arange(1, 5) / 4)  # H = 4


def alibi(query, key, value, mask, slopes=SLOPES):
    step = torch.arange(query.shape[2])
    distance = (step[:, None] - step).abs()  # T T
    scores = query @ key.mT / query.shape[-1] ** 0.5 - slopes[:, None, None] * distance  # B H T T
    weights = masked_softmax(scores, mask)  # B H T T
    return weights @ value, weights


print(10 * SLOPES)

# %% [markdown]
# The first head subtracts 2.5, so it sees mostly recent steps; the last subtracts only 0.04.
#
# ## Another memory
#
# For each new query, softmax looks at every key again. **Linear attention** (Katharopoulos et al. 2020) replaces $\exp(q^\top k)$ by $\phi(q)^\top \phi(k)$. Then two sums over the steps can be kept in place of all keys and values:
#
# $$c_i^\top = \frac{\sum_{j \le i} \phi(q_i)^\top \phi(k_j)\, v_j^\top}{\sum_{j \le i} \phi(q_i)^\top \phi(k_j)} = \frac{\phi(q_i)^\top \sum_{j \le i} \phi(k_j)\, v_j^\top}{\phi(q_i)^\top \sum_{j \le i} \phi(k_j)}$$
#
# What must $\phi$ be like? Let the query be 1, and the keys 1 and -1. By hand: which weights do you get with $\phi(x) = x$, with relu, which is 0 below 0, and with $\text{elu}(x) + 1$, which is $x + 1$ above 0 and $e^x$ below? Which keys get a gradient?


# %% tags=["nbval-check-output"]
def positive(x):
    return F.elu(x) + 1


def linear(query, key, value, mask, phi=positive, divide=True):
    weights = (phi(query) @ phi(key).mT).masked_fill(~mask, 0.0)  # B H T T
    if divide:
        weights = weights / weights.sum(-1, keepdim=True)
    return weights @ value, weights


rows, q = {}, torch.tensor([[1.0]])
for name, phi in {"x": lambda x: x, "relu(x)": F.relu, "elu(x) + 1": positive}.items():
    k = torch.tensor([[1.0], [-1.0]], requires_grad=True)
    weights = phi(q) @ phi(k).mT
    (gradient,) = torch.autograd.grad(weights.sum(), k)
    shown = (weights, weights / weights.sum(), gradient)
    rows[name] = [", ".join(f"{n:.3g}" for n in numbers.flatten().tolist()) for numbers in shown]
table(rows, ["φ(q)ᵀφ(k)", "divided by their sum", "gradient of each key"], corner="φ(x) =")

# %% [markdown]
# With $\phi(x) = x$ the sum is 0, and we cannot divide by it. With relu no weight is negative, but the key -1 gets no gradient: it can't learn to be found. With elu + 1 all weights are above 0 and both keys learn, which is the authors' reason for it.
#
# `linear` still makes T×T weights. But we may also go through the sequence in chunks, and keep only the two sums. How many numbers does this memory hold for each head, if D = E = 8? And how does the time grow, beside softmax with its T×T weights, and PyTorch's own, which never stores them all? (Measured on one core, with chunks of 64.)


# %%
def linear_in_chunks(query, key, value, size):
    query, key, value = positive(query), positive(key), F.pad(value, (0, 1), value=1.0)  # B H T E+1
    memory, contexts = torch.zeros(query.shape[-1], value.shape[-1]), []  # D E+1: Σ φ(k) vᵀ and Σ φ(k)
    for q, k, v in zip(query.split(size, 2), key.split(size, 2), value.split(size, 2), strict=True):
        read = (q @ k.mT).tril() @ v + q @ memory  # B H size E+1: this chunk, and all before it
        contexts.append(read[..., :-1] / read[..., -1:])
        memory = memory + k.mT @ v  # B H D E+1
    return torch.cat(contexts, 2), memory[0, 0].numel()


query, key, value = torch.randn(3, 1, 4, 50, 8, generator=drawn(0))
by_weights = linear(query, key, value, causal_mask(50))[0]
for size in (1, 16, 50):
    contexts, kept = linear_in_chunks(query, key, value, size)
    print(f"chunks of {size}: the same {torch.allclose(contexts, by_weights, atol=1e-5)}, a memory of {kept}")
ways = ("softmax", "softmax, PyTorch's own", "linear, in chunks")
times = {way: measured("cost", "milliseconds", "length", way=way)[1] for way in ways}
plots.curves((256, 1024, 4096), times, "steps", "CPU milliseconds, three runs", ax=plots.axes(width=5.6), log=True)

# %% [markdown]
# The time of the chunks grows no faster than the steps, that of softmax does, and at 4,096 steps the chunks are the fastest. Their memory holds 8 × 9 = 72 numbers, however many steps there are: 8 × 8 for the values, and one column that adds up the keys.
#
# This memory only adds. The **delta rule** (Schlag et al. 2021) first reads what the memory holds for a key, and writes a share $\beta$ of the difference:
#
# $$S_t = S_{t-1} + \beta\, k_t\,(v_t - S_{t-1}^\top k_t)^\top$$
#
# The memory holds 1 for the key (1, 0) and 2 for (0, 1). Now the key (0.6, 0.8) comes with the value 5. What do the three keys read then? And with β = 0.5?

# %%
beta = 1.0
keys = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
S, k, v = torch.tensor([[1.0], [2.0]]), keys[2:], torch.tensor([[5.0]])  # D E, 1 D, 1 E
old = k @ S
written = beta * k.mT @ (v - old)
before, after = (keys @ S).flatten().tolist(), (keys @ (S + written)).flatten().tolist()
names = [f"{one:.3g} → {other:.3g}" for one, other in zip(before, after, strict=True)]
ax = plots.axes(width=4.2, height=3.4)
plots.directions(keys, names, title="what each key reads, before → after", ax=ax)
ax.set(xlim=(-0.2, 1.6), ylim=(-0.2, 1.3))
shown = [", ".join(f"{n:.3g}" for n in x.flatten().tolist()) for x in (k, v, S, old, v - old, written)]
diagrams.delta_write(*shown, "\n".join(f"{n:.3g}" for n in (S + written).flatten()), new=["read"])

# %% [markdown]
# With β = 1 the new key reads 5, with 0.5 half-way from the old 2.2. But the other two no longer read 1 and 2. The key (1, 0) **overlaps** with the new one: their dot product is 0.6, so it reads $0.6 \cdot 2.8 = 1.68$ more. Only keys at right angles leave each other alone, and in two dimensions there are no more than two of these.
#
# Here is the rule as a loop. The course's version finds all differences at once, from a triangular system of equations (Yang et al. 2024 do so in chunks). Do the two agree, and the other attentions of this page? And which promises do they break?


# %% tags=["nbval-check-output"]
def delta(query, key, value, mask, beta=1.0):
    query, key = F.normalize(query, dim=-1), F.normalize(key, dim=-1)  # length 1
    S, contexts = torch.zeros(key.shape[-1], value.shape[-1]), []  # D E
    for q, k, v in zip(query.split(1, 2), key.split(1, 2), value.split(1, 2), strict=True):
        S = S + beta * k.mT @ (v - k @ S)  # B H D E
        contexts.append(q @ S)  # B H 1 E
    return torch.cat(contexts, 2), None  # there are no weights


sparse = partial(attend, normalise=sparsemax)
for ours, name in zip((attend, sparse, alibi, linear, delta), variants.VARIANTS, strict=True):
    found, theirs = (f(query, key, value, causal_mask(50))[0] for f in (ours, variants.VARIANTS[name]))
    print(f"{name}: the same {torch.allclose(found, theirs, rtol=0, atol=1e-5)}, leak_later {leak_later(ours)}")
broken(variants.VARIANTS)

# %% [markdown]
# They agree, and none lets a later step leak. ALiBi breaks `order`: in another order, the same keys get other weights. So does the delta rule, which overwrites; as it has no weights, it breaks `rows`, too. An attention may break these two on purpose, if you say so; the other six it has to keep.
#
# ## Which one wins?
#
# How many keys does each world write, and how many fit into 16 dimensions? For each new one, say which world it should win, and which it may lose. Then look: five models of each have learned each world, from 600 batches of 32 sequences. All have the same learning rate, 0.005, so another rate might help some of them.


# %%
def shares(name):
    """A row for each seed: once at 32 and 128 steps, latest at 32 and 128."""
    where = [(world, length) for world in compared.WORLDS for length in (32, 128)]
    runs = [measured_once("variants", "right", variant=name, world=w, length=n)[0] for w, n in where]
    return torch.tensor(runs).T  # seeds, columns


def gained(name, beside):
    """What the first has more than the other, seed by seed."""
    own = shares(name)
    return own - shares(beside)[: len(own)]


columns = ["once, 32 steps", "once, 128", "latest, 32", "latest, 128"]
compared.draw_accuracy(*variants.VARIANTS)
table({"sparsemax": gained("sparsemax", "dot product")}, columns, corner="more than dot product", digits=2)

# %% [markdown]
# ALiBi and the delta rule win *latest*, but lose in long sequences of *once*; linear attention loses everywhere, and sparsemax gains a little in both worlds, at 128 steps with every seed.
#
# ## Two changes at once
#
# A normaliser helps a little in both worlds, and a score that knows the distance helps a great deal in one. Can an attention have both? Here is one, with a milder slope. What will each change do alone, and what will they do together?


# %%
def near_first(query, key, value, mask, normalise=sparsemax):
    step = torch.arange(query.shape[2])
    near = 0.3 * ((step[:, None] - step).abs() + 1).log()  # T T
    weights = normalise(query @ key.mT / query.shape[-1] ** 0.5 - near, mask)  # B H T T
    return weights @ value, weights


print("it breaks", properties.broken(near_first, more))
names = ("dot product", "sparsemax", "softmax, near first", "sparsemax, near first")
plots.dots(
    {c: {n: shares(n)[:, i] for n in names} for i, c in enumerate(columns)}, "share of right answers, five seeds"
)

# %% [markdown]
# Only together the two keep *latest* near 0.9, at 128 steps as at 32; at 128 neither change gets half of it alone. In *once* the new score costs more with sparsemax than with softmax. What a part does depends on the others.
#
# ## Take one part out
#
# Linear attention loses in both worlds, although its memory has as many numbers as the delta rule's and one column more. Why?
#
# Perhaps because of $\phi$, or of the division, or because it does not read before it writes. Choose a part to take out, predict the share that the model will then get right, run the cells, and explain what you see.


# %%
def not_negative(query, key, value, mask):
    weights = (query @ key.mT).clamp(min=0).masked_fill(~mask, 0.0)  # B H T T
    return weights @ value, weights


part = "the reading of the delta rule"  # or another one of these:
without = {
    "φ": partial(linear, phi=lambda x: x),
    "the division": partial(linear, divide=False),
    "φ and the division": partial(linear, phi=lambda x: x, divide=False),
    "φ, the division and all negative weights": not_negative,
    "the reading of the delta rule": partial(linear, phi=lambda x: F.normalize(x, dim=-1), divide=False),
    "all slopes of ALiBi but the first": partial(alibi, slopes=SLOPES[[0, 0, 0, 0]]),
    "all slopes of ALiBi but the last": partial(alibi, slopes=SLOPES[[3, 3, 3, 3]]),
}
predict("20.part", ...)

# %% tags=["reveals"]
print(f"Without {part}, by the length of the sequences:")
its_own = trained(without[part], "latest")
print(its_own)
reveal("20.part", its_own["latest"][0])

# %% [markdown]
# Without its reading, the delta rule adds $k\,v^\top$: this is linear attention with keys of length 1 and without the division. In *latest* fewer than half of the answers are right: all values of a key are added up, whatever their order. Is it worse in *once*, too? Now try another part. Here are all of them, with three seeds: how much more each gets right than the same attention with this part.

# %%
rows = {}
for whole, taken in {
    "linear": ("linear without φ", "linear without the division", "linear without both"),
    "linear without both": ("linear without both, negative weights as 0",),
    "delta rule": ("delta rule without the reading", "delta rule with β = 0.5"),
    "ALiBi": ("ALiBi with the first slope only", "ALiBi with the last slope only"),
}.items():
    for name in taken:
        rows[name.replace(", ", ",\n")] = dict(zip(columns, gained(name, whole).T, strict=True))
ax = plots.axes(width=8.5, height=5.5)
ax.axvline(0, color="0.6", linewidth=1)
plots.dots(rows, "more right answers than with this part", ax=ax, xlim=(-0.75, 0.65))

# %% [markdown]
# Linear attention is worse without φ or without the division, but better without both: the two need each other. Do negative weights help there, since they can cancel? No: counted as 0, they leave *once* better still. With only its steepest slope ALiBi loses in *once*, with only its flattest in *latest*. Reading wins *latest*. Why does it cost something in *once*?
#
# ## What can a fixed memory hold?
#
# With β = 1 and keys of length 1, the delta rule is $S_t = (I - k k^\top)\, S_{t-1} + k\, v^\top$: it removes what stands in the key's direction, one of D. So $n$ random keys leave about $(1 - 1/D)^n$, the grey lines. We write 128, then read all. Which will be known, with D = 16 and 128?


# %%
def remembered(D, reads, seed, T=128, V=8):
    key = F.normalize(torch.randn(200, T, D, generator=drawn(seed)), dim=-1)  # B T D
    value = torch.randint(V, (200, T), generator=drawn(seed + 1))  # B T
    S = torch.zeros(200, D, V)
    for k, v in zip(key.split(1, 1), F.one_hot(value, V).float().split(1, 1), strict=True):
        S = S + k.mT @ (v - (k @ S if reads else 0))
    right = ((key @ S).argmax(-1) == value).float().mean(0)  # T
    return right.flip(0).view(-1, 8).mean(1)  # the latest eight first


for D, ax in zip((16, 128), plots.axes(2, width=4.2), strict=True):
    runs = {}
    for name, reads in (("delta rule", True), ("only added", False)):
        runs[name] = torch.stack([remembered(D, reads, seed) for seed in range(0, 6, 2)])
    since = torch.arange(0, 128, 8)
    left = {"(1 - 1/D)ⁿ": (1 - 1 / D) ** since}
    plots.curves(since, runs, "n: keys written since", "share of right answers", f"D = {D}", ax, theory=left)
    ax.set(ylim=(0, 1.05))

# %% [markdown]
# In 16 dimensions the delta rule knows the latest keys; after 60 more, next to nothing of a key is left, and the answer is a guess, 1 in 8. In 128 about half of the oldest answers are right. (*latest* has only eight keys.) Values that are only added are blurred alike.
#
# ## What is used today?
#
# A model that generates text keeps all keys and values in a cache (lesson 13), a delta rule one matrix per head:
#
# $$\text{cache} = 2 \cdot \text{layers} \cdot \text{heads} \cdot D\, T \qquad \text{state} = \text{layers} \cdot \text{heads} \cdot D\, E$$
#
# [Qwen3-Next](https://huggingface.co/Qwen/Qwen3-Next-80B-A3B-Instruct) has 12 layers with softmax (2 heads of keys and values, $D = 256$), 36 with [a delta rule whose memory also fades](https://arxiv.org/abs/2412.06464) (32 heads, $D = E = 128$). When does one of the 12 keep more than one of the 36?

# %%
print("as much after", 32 * 128 * 128 // (2 * 2 * 256), "steps")  # state / cache of one step
steps = 2 ** torch.arange(6, 19)  # up to 262,144
layer, states = 2 * 2 * 256 * steps * 2 / 2**30, torch.full((13,), 36 * 32 * 128 * 128 * 2 / 2**30)  # 2 bytes a number
kept = {"softmax in all 48 layers": 48 * layer, "as it is": 12 * layer + states, "its 36 states": states}
print("GiB at the end:", {name: round(numbers[-1].item(), 2) for name, numbers in kept.items()})
lines = {name: numbers[None] for name, numbers in kept.items()}
plots.curves(steps, lines, "steps", "GiB kept for Qwen3-Next", ax=plots.axes(width=5.6), log=True)

# %% [markdown]
# The states stay as large, the cache grows with each step: so the 12 layers decide. Others mix, too: [MiniMax-01](https://arxiv.org/abs/2501.08313) and [Jamba](https://arxiv.org/abs/2403.19887) have softmax in one layer of 8, beside linear attention and recurrent layers, [Kimi Linear](https://arxiv.org/abs/2510.26692) in one of 4, beside a delta rule. Perhaps all keep some since a state forgets.
#
# ## So: what will your own attention be?
#
# One that changes a part for a reason: test its promises, say which world it should win, and take each part out again. Here, sparsemax won long sequences of *once*, slopes and overwriting won *latest*.
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
# - In our worlds sparsemax gains in both. ALiBi and the delta rule win *latest* and lose in long sequences of *once*. Linear attention needs no list of keys, but loses in both.
# - What a part is for shows when it is taken out, seed by seed. Two parts may need each other, as φ and the division do, and as sparsemax and the nearer score do in *latest*.
# - A memory of fixed size forgets or blurs. Some models of today mix it with softmax, to save cache.
#
# **Exercises**: [open them](../exercises/20_your_own_attention_exercises.ipynb)
#
# **Next**: attention can be changed in many ways. [What is inside the models that we use every day?](21_gpt.ipynb)
