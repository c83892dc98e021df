# %%
import inspect

import ipywidgets
import torch

from course_utils import check, predict, reveal
from course_utils.data.lookups import lookups, most_told
from course_utils.data.measured import measured, measured_once
from course_utils.figures import plots
from course_utils.figures.tables import table
from course_utils.figures.widgets import explore
from course_utils.models import compared, faults, properties, variants
from course_utils.models.attention import causal_mask, masked_softmax

torch.set_printoptions(precision=3, sci_mode=False)


def drawn(seed):
    return torch.Generator().manual_seed(seed)


# %% [markdown]
# ## Three places to change
#
# Nearly all attentions of this course do three things: they **score** each key for a query, they **normalise** the scores to weights, and they add up the values in a **memory** with these weights. Each of the three can be changed. So that any attention fits into the same model and the same tests, all of them are functions of one form:


# %%
def attend(query, key, value, mask):  # B H T D, B H T D, B H T E, True where it may look
    scores = query @ key.mT / query.shape[-1] ** 0.5
    weights = masked_softmax(scores, mask)
    return weights @ value, weights  # B H T E, B H T T


# %% [markdown]
# This is the attention that you know. What should a new one do better? To find out, we need worlds in which we know what is hard.
#
# ## Two worlds
#
# At each step, the model is told a key with its value, and is asked for the value of one of the keys told so far. In the world **once**, each key comes once. In **latest**, eight keys come again and again, and the latest value is the answer. Key 94 comes twice here, at steps 0 and 7. If it were asked for at the end, what would be the answer?

# %%
asked = lookups(1, "latest", drawn(0), 10)
rows = {name: column[0].tolist() for name, column in zip(asked._fields, asked, strict=True)}
table(rows, [str(t) for t in range(10)], corner="step")

# %% [markdown]
# 0, the value of step 7. Before that, it was 2.
#
# A model of one layer with four heads learns both worlds from sequences of 32 steps. The attention above is not told the order of steps. A guess is right one time in eight. We count the answers in the last quarter of each sequence. What share can the model get right in latest?

# %% tags=["nbval-check-output"]
predict("20.latest", ...)

# %% tags=["reveals"]
print("Tested on sequences as long, twice and four times as long:")
own = {}
for world in compared.WORLDS:
    torch.manual_seed(0)
    model = variants.reader(attend)
    losses = variants.fit(model, world)
    own[world] = [round(variants.right(model, world, length), 2) for length in compared.LENGTHS]
print(own)
asked = lookups(200, "latest", drawn(10_000), 32)
most = (most_told(asked) == asked.answer)[:, -8:].float().mean()
print(f"the value told most often with the key: {most:.2f}")
reveal("20.latest", round(own["latest"][0], 2))

# %% [markdown]
# With 32 steps, it answers everything right if keys come once, but fewer than half if the latest counts. In latest it is hardly better than the value that was told most often. So there is something to win in both: in latest more than half of the answers, in once the longest sequences.
#
# ## Another normaliser
#
# Softmax never gives a weight of 0. Over many steps, small weights add up. **Sparsemax** (Martins & Astudillo 2016) subtracts the same threshold $\tau$ from each score and sets negative results to 0:
#
# $$p_i = \max(z_i - \tau, 0), \quad \sum_i p_i = 1$$
#
# The scores are 1, 0.6 and -0.5. What is $\tau$, if the third gets nothing?

# %% tags=["nbval-check-output"]
scores = torch.tensor([[1.0, 0.6, -0.5]])
print(variants.sparsemax(scores, torch.ones(1, 3, dtype=torch.bool)), scores.softmax(-1))

# %% [markdown]
# 0.3: then 0.7 and 0.3 are left, which add up to 1. Move the first score away from the two others, which are 0 and -0.5. When does sparsemax give it everything?


# %%
def weights_of(first):
    z = torch.tensor([[first, 0.0, -0.5]])
    given = {"softmax": z.softmax(-1), "sparsemax": variants.sparsemax(z, torch.ones(1, 3, dtype=torch.bool))}
    left, right = plots.axes(2, width=3.4, height=2.6)
    for ax, (name, p) in zip((left, right), given.items(), strict=True):
        plots.bars(
            {f"{v:.1f}": [w] for v, w in zip(z[0].tolist(), p[0].tolist(), strict=True)}, "weight", name, ax
        )
    return f"With scores of {first:.1f}, 0 and -0.5, softmax gives the first {given['softmax'][0, 0]:.2f}, sparsemax {given['sparsemax'][0, 0]:.2f}."


weights_explorer = explore(weights_of, first=ipywidgets.FloatSlider(value=0.4, min=-1.5, max=2, step=0.1))
weights_explorer

# %% [markdown]
# Sparsemax does so once its lead is 1. Does this help with sequences four times as long as in training?

# %%
compared.beside("dot product", "sparsemax")

# %% [markdown]
# Sparsemax does help: with weights of exactly 0, a hundred other keys add up to nothing, and every answer is right at 128 steps, too. (A line is the mean of five models, its band reaches from the lowest to the highest.) It gains little in latest: no normaliser tells which step came later.
#
# ## Another score
#
# To find the latest value, attention must know the order. **ALiBi** (Press et al. 2022) subtracts from each score a number that grows with the distance, faster in some heads $h$ of $H$ than in others:
#
# $$\text{score} = \frac{q_i^\top k_j}{\sqrt{D}} - 2^{-8h/H}\,|i - j|$$
#
# With four heads, how much does the first take off for 10 steps, and how much the last?

# %% tags=["nbval-check-output"]
print(10 * variants.slopes(4))

# %% [markdown]
# 2.5 and 0.04: the first head sees little but the most recent steps, the last head nearly everything. Which world will ALiBi win, and which will it lose?

# %%
compared.beside("dot product", "ALiBi")

# %% [markdown]
# In latest, ALiBi is far better at all three lengths. In once it is as good at 32 steps, but falls to 0.78 at 128, perhaps because the key is farther back than any in training. Knowing the order may cost something if the order doesn't matter.
#
# ## Another memory
#
# For a new query, softmax has to look at every key again. **Linear attention** (Katharopoulos et al. 2020) replaces $\exp(q^\top k)$ by $\phi(q)^\top \phi(k)$ with $\phi(x) = \text{elu}(x) + 1$. Then the sum over the steps can be computed by itself. It is a memory of fixed size, however long the sequence:
#
# $$\sum_{j \le i} \phi(q_i)^\top \phi(k_j)\, v_j = \phi(q_i)^\top \Big(\sum_{j \le i} \phi(k_j)\, v_j^\top\Big)$$
#
# Both are divided by the sum of the weights, which is computed in the same way. Do they give the same?

# %% tags=["nbval-check-output"]
query, key, value = torch.randn(3, 1, 2, 50, 8, generator=drawn(0))
by_weights = variants.linear(query, key, value, causal_mask(50))[0]
by_sums = variants.linear_by_steps(query, key, value)
print("less than 1e-5 apart:", torch.allclose(by_weights, by_sums, rtol=0, atol=1e-5))

# %% [markdown]
# Yes, up to rounding. The first way computes a weight for each pair of steps, the second goes through the steps once. Which one takes less time? And what about PyTorch's own function for softmax, which never writes the weights down?

# %%
times = {}
for way in ("softmax", "softmax, PyTorch's own", "sums"):
    lengths, times[way] = measured("cost", "milliseconds", "length", way=way)
    times[way] = [list(run) for run in zip(*times[way], strict=True)]
table(times, [f"{length:.0f} steps" for length in lengths], corner="milliseconds", digits=1)

# %% [markdown]
# Four times as many steps take the sums four to ten times as long, and softmax 17 to 42 times. But PyTorch's own softmax is faster than the sums up to 512 steps, a little slower at 2,048, and takes 1.6 times as long at 8,192: a well-written program can make up for a slower method.
#
# Such a memory can only add. The **delta rule** (Schlag et al. 2021) first reads what the memory holds for a key, and then writes only the difference. If keys have length 1, the new value takes the place of the old one:
#
# $$S_t = S_{t-1} + k_t\,(v_t - S_{t-1}^\top k_t)^\top$$
#
# For which of the two worlds is this made?

# %%
compared.beside("dot product", "linear", "delta rule")

# %% [markdown]
# The delta rule is made for latest, where it is nearly perfect. Linear attention mixes up keys: what was written for one is partly read for another. The delta rule, with a memory of the same size, writes only what is missing. In once this helps much at 32 steps, but at 128 it knows less than half, too.
#
# ## What does every attention promise?
#
# A new attention that gives good answers may still be wrong: it may see later steps, or depend on padding. So we write down what an attention promises, and test each promise with random numbers. A promise is a function. What does this one try?

# %%
print(inspect.getsource(properties.leak))

# %% [markdown]
# It changes everything from a step on, and looks whether contexts before that step stay the same. There are eight of them. Which does ALiBi break, as it should?

# %%
for promise in properties.PROMISES.values():
    print(f"{promise.__name__}: {promise.__doc__}")
ticks = {}
for name, one in variants.VARIANTS.items():
    found = properties.broken(one)
    ticks[name] = [promise not in found for promise in properties.PROMISES]
table(ticks, list(properties.PROMISES), corner="keeps")

# %% [markdown]
# It breaks `order`: in a different order, the same keys get different weights. So does the delta rule, since it overwrites; it also breaks `rows`, since it has no weights. You may break such promises on purpose, if you say so. All others should be kept.
#
# Each of the next attentions has one fault. Is there one that nevertheless keeps every promise?

# %%
ticks = {}
for name, one in faults.FAULTS.items():
    found = properties.broken(one)
    ticks[name] = [promise not in found for promise in properties.PROMISES]
table(ticks, list(properties.PROMISES), corner="keeps")

# %% [markdown]
# `mask_ends_early` does. It lets every step see the keys from 20 on, and the promises are tested with 7 steps. We can add a promise. How must it differ from the others?


# %%
def leak_later(attend):
    query, key, value = torch.randn(3, 1, 1, 40, 4, generator=drawn(0))
    before = attend(query, key, value, causal_mask(40)[None, None])[0]
    after = attend(query, key, value.index_fill(2, torch.tensor(39), 5.0), causal_mask(40)[None, None])[0]
    return (
        "the last of 40 steps changes earlier ones"
        if properties.differ(before[:, :, :39], after[:, :, :39])
        else None
    )


more = properties.PROMISES | {"leak_later": leak_later}
print(
    {name: properties.broken(one, more) for name, one in faults.FAULTS.items() if name == "mask_ends_early"}
)
print([name for name, one in variants.VARIANTS.items() if "leak_later" in properties.broken(one, more)])

# %% [markdown]
# It needs more than 20 steps. The new promise finds the fault, and all five attentions keep it. Trust a promise more once you have seen it find a fault.
#
# ## Two changes at once
#
# Sparsemax wins one world, and a score that knows the distance wins the other. Here we change both. What we subtract grows ever more slowly with the distance: $0.3 \ln(1 + |i - j|)$. What will it win?

# %%
done = compared.report("sparsemax, near first", variants.sparse_and_near)
print(done)

# %% [markdown]
# It breaks one promise, as every score with distances does. In the picture, most weights are few and near, but some reach far back. How does it compare to the others, over five seeds?

# %%
rows = {}
for name in [*variants.VARIANTS, "sparsemax, near first"]:
    rows[name] = [
        measured_once("variants", "right", variant=name, world=world, length=length)[0]
        for world in compared.WORLDS
        for length in (32, 128)
    ]
table(rows, ["once, 32 steps", "128", "latest, 32 steps", "128"], corner="right answers", digits=2)

# %% [markdown]
# At 128 steps it gets 0.86 or more in once and 0.90 in latest; no other gets 0.85 in both on average. But it is best in neither: what helps in one world costs in the other.
#
# ## So: what will yours be?
#
# One that has a reason. Change one thing, say beforehand what it should win and what it may lose, test its promises, and train it with several seeds. The exercises have a place for it, with the report drawn above and headings for what you found.
#
# ## Questions
#
# These five questions test the goals at the top. Run a cell to see its question, then replace the dots with a letter in quotes or a number.

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
# - An attention can be changed in its score, its normaliser and its memory.
# - Sparsemax tells keys apart in long sequences, ALiBi and the delta rule know what came last, and linear attention is cheap for long sequences.
# - We can test promises: shape, rows, leak, padding, apart, order, large numbers, gradient. Trust a promise more once it has found a fault.
# - One run shows little: compare several seeds of both.
#
# **Exercises**: [open them](../exercises/20_your_own_attention_exercises.ipynb)
#
# **Next**: attention can be changed in many ways. [What is inside the models that we use every day?](21_gpt.ipynb)
