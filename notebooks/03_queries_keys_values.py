# %%
import ipywidgets
import torch

from course_utils.figures import plots
from course_utils.figures.widgets import explore
from course_utils.models.attention import attention, causal_mask, dot, padding_mask

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## Many θ, one function
#
# Several fixed attentions $g_1(x) = x^\top\theta_1, \dots, g_N(x) = x^\top\theta_N$ differ in their θ alone.
# So we take one function and hand it θ as a second argument:
#
# $$g(q, k) = q^\top k$$
#
# The vector that asks is the **query** $q$. The vector that is asked is the **key** $k$.

# %% tags=["nbval-check-output"]
words = ["not", "really", "great"]
k = torch.tensor([[0.0, 2.0], [1.0, 1.0], [3.0, 0.0]])  # S D: the words of lesson 02
q = torch.tensor([[0.0, 1.0], [1.0, 0.0]])  # T D: θ₁ and θ₂

for theta in q:
    print("one θ at a time", k @ theta)
print("all at once    ", (q @ k.T).tolist())

# %% [markdown]
# A row of scores belongs to a query, a column to a key. Once the query is an argument, nobody says that it
# must be learned and fixed: a word can be one.
#
# ## Score, normalise, sum
#
# Each key has a **value** $v$, the vector that is summed. Three steps make the context of query $t$:
#
# $$z_{ts} = q_t^\top k_s \qquad a_{ts} = \frac{e^{z_{ts}}}{\sum_r e^{z_{tr}}}
# \qquad c_t = \sum_s a_{ts}\, v_s$$

# %%
v = k  # for now each word is its own value
c = torch.zeros(2, 2)  # T E
for t in range(2):
    z = [sum(q[t, d] * k[s, d] for d in range(2)) for s in range(3)]  # 1. score
    total = sum(torch.exp(score) for score in z)
    a = [torch.exp(score) / total for score in z]  # 2. normalise
    c[t] = sum(a[s] * v[s] for s in range(3))  # 3. sum
    print("scores", torch.stack(z), " weights", torch.stack(a), " context", c[t])

# %% [markdown]
# On paper, for $\theta_1$: the scores are $(2, 1, 0)$, their exponentials $7.39 + 2.72 + 1 = 11.11$, so the
# weights are $0.665, 0.245, 0.090$. The context is
# $0.665 \cdot (0, 2) + 0.245 \cdot (1, 1) + 0.090 \cdot (3, 0) = (0.515, 1.575)$.
#
# The loops are two matrix products with a softmax between them. The library has it all in one call; by
# default it divides the scores, which `scale=1.0` turns off until lesson 04.

# %% tags=["nbval-check-output"]
a = (q @ k.T).softmax(-1)  # T S
by_matrix = a @ v  # T E
by_library = torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None], scale=1.0)[0]
by_course, _ = attention(q[None], k[None], v[None])  # B T E
for context in (by_matrix, by_library, by_course[0]):
    print(torch.allclose(c, context, atol=1e-6), context.shape)

# %% [markdown]
# All four agree; `attention` from the course also returns the weights. Each row of them sums to 1. Must each
# column, too?

# %%
plots.weights(a, words, ["θ₁", "θ₂"], title="two queries, three keys")

# %% [markdown]
# The weights of two queries over three words: θ₁ puts 0.67 on "not", θ₂ puts 0.84 on "great". Each row sums
# to 1; columns need not, for queries do not compete: all of them may choose one word.
#
# ## A dictionary that answers softly
#
# Values may differ from the keys. A Python dictionary compares keys and hands back the value of the one that
# matches. $f(Q, K, V)$ compares with all keys, and hands back a mean.

# %% tags=["nbval-check-output"]
k = torch.eye(3)[None]  # B S D: three keys that have nothing in common
v = torch.tensor([[[10.0], [20.0], [40.0]]])  # B S E
print("dictionary", dict(zip(words, v.flatten().tolist(), strict=True))["really"])
for sharpness in (0, 1, 2, 4, 8):
    context, a = attention(sharpness * k[:, 1:2], k, v)  # ask for "really"
    print(f"query × {sharpness}  weights", a.flatten(), f" answer {context.item():.2f}")

# %% [markdown]
# A query of length 0 gets the mean of the values; a longer query comes ever nearer to the hard lookup, 20.
# Unlike the dictionary it has a gradient, faint where the answer is sure (lesson 02), so the question can be learned.
#
# Now three keys lie in the plane, and each owns a value elsewhere. Turn the query: which angle puts the
# context halfway between v₁ and v₂, and can the context ever leave the triangle of the values?

# %%
keys = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-0.7, -0.7]])
values = torch.tensor([[0.0, 0.0], [4.0, 0.0], [1.0, 3.0]])


def look_up(angle, length):
    turn = torch.tensor(float(angle)).deg2rad()
    query = length * torch.stack([turn.cos(), turn.sin()])
    context, a = (part[0, 0] for part in attention(query[None, None], keys[None], values[None]))
    left, right = plots.axes(2, width=4.2, height=3.6)
    plots.directions(keys, ["", "", ""], query, "keys and their weights", left, direction_name="query")
    right.plot(*values[[0, 1, 2, 0]].T.tolist(), "o-", color="0.6")
    right.plot(*context.tolist(), "*", markersize=18, color=plots.COLOURS[1])
    for s in range(3):
        left.text(keys[s, 0] + 0.1, keys[s, 1] - 0.2, f"$k_{s + 1}$: {a[s]:.2f}")
        right.text(values[s, 0], values[s, 1] + 0.15, f"$v_{s + 1}$", ha="center", fontsize=13)
    right.set(xlim=(-0.5, 4.5), ylim=(-0.5, 3.6), title="values and the context ★", xlabel="feature 0")
    return f"At {angle}° the weights are {a[0]:.2f}, {a[1]:.2f}, {a[2]:.2f}."


angle = ipywidgets.IntSlider(value=20, min=-180, max=180, step=5, description="angle of the query")
length = ipywidgets.FloatSlider(value=4.0, min=0, max=12, step=0.5, description="length of the query")
lookup_explorer = explore(look_up, angle=angle, length=length)
lookup_explorer

# %% [markdown]
# The query at 20° lies nearest to the key k₁, which gets 0.92 of the weight, so the context stands close to
# the value v₁, inside the triangle of the three values. It never leaves the triangle: a weighted mean stays
# among what it averages. At 45° two keys are equally near, and the context is halfway.

# %% tags=["nbval-check-output"]
for angle in (20, 45, 90, 225):
    turn = torch.tensor(float(angle)).deg2rad()
    query = 4 * torch.stack([turn.cos(), turn.sin()])
    context, a = attention(query[None, None], keys[None], values[None])
    print(f"{angle:3}°  weights", a.flatten(), " context", context.flatten())

# %% [markdown]
# ## How well does a noisy question find its key?
#
# Keys are random, the query is one of them plus noise. How much weight does the right key get? A fixed θ
# answers all $S$ questions alike, and its weights sum to 1: on average it gives $1/S$.
#
# Predict: at width 16, with noise as large as the keys, among how many does the right one still get half of the
# weight? And do wider keys help?


# %%
def share(S, D, noise, seed, worlds=100):
    draw = torch.Generator().manual_seed(seed)
    key = torch.randn(worlds, S, D, generator=draw)
    query = key[:, :1] + noise * torch.randn(worlds, 1, D, generator=draw)  # every world asks for its key 0
    return attention(query, key, key)[1][:, 0, 0].mean().item()


sizes, noises, seeds = (2, 4, 8, 16, 32, 64, 128, 256), (0, 0.5, 1, 1.5, 2, 3), range(5)
by_size = {f"noise {n}": [[share(S, 16, n, seed) for S in sizes] for seed in seeds] for n in (0, 1, 2)}
by_noise = {f"D = {D}": [[share(32, D, n, seed) for n in noises] for seed in seeds] for D in (4, 16, 64)}

left, right = plots.axes(2, width=5.0, height=3.8)
expected = {"any fixed θ: 1/S": [1 / S for S in sizes]}
plots.curves(sizes, by_size, "number of keys S", "weight on the right key", "D = 16", left, expected)
plots.curves(noises, by_noise, "noise per feature", "weight on the right key", "S = 32", right)
left.set_xscale("log", base=2)
for ax in (left, right):
    ax.legend(loc="upper center", ncols=2, frameon=False)
    ax.set(ylim=(0, 1.4), yticks=[0, 0.25, 0.5, 0.75, 1])

# %% [markdown]
# The weight on the right key falls as keys and noise are added, and rises with the width; bands are the range
# of five seeds. At width 16 and without noise it stays above 0.75 even among 256 keys; with noise 1 it falls to about a half
# at 128. At width 4 even a question without noise gives the right one of 32 keys only 0.28: another, longer key often scores higher.

# %%
for name, runs in {**by_size, **by_noise}.items():
    runs = torch.tensor(runs)
    spread = (runs.amax(0) - runs.amin(0)).max().item()
    print(f"{name:8}", " ".join(f"{m:.2f}" for m in runs.mean(0)), f"  widest band {spread:.2f}")

# %% [markdown]
# ## Who may attend to whom?
#
# A **padding mask** says which places of a row hold a word: one row a sentence, B×S. A **causal mask** says
# that a word may attend to itself and to what came before: T×T. True means "may attend". For both at once we
# broadcast B×1×S against T×T.
#
# How many pairs are open in sentence 1 (counted from 0), which has three words, when both masks hold?

# %%
padding, causal = padding_mask(torch.tensor([5, 3, 0]), size=5), causal_mask(5)  # B S, T T
both = padding[:, None] & causal  # B T T

one, two, three = plots.axes(3, width=3.6, height=3.2)
plots.mask(padding, ax=one, title="padding", xlabel="places", ylabel="sentences")
plots.mask(causal, ax=two, title="causal", xlabel="keys", ylabel="queries")
plots.mask(both[1], ax=three, title="both, sentence 1", xlabel="keys", ylabel="queries")

# %% [markdown]
# The padding mask is open for 5, 3 and 0 places in its three rows, the causal mask on the diagonal and below
# it, and both together for 12 pairs: 1, 2, 3, 3 and 3 in the five rows. Rows 3 and 4 belong to padding that
# asks; their contexts mean nothing and nobody reads them.
#
# Sentence 2 is empty: each of its rows has nothing to attend to. What should come out?

# %% tags=["nbval-check-output"]
x = torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(0))  # B T D
context, a = attention(x, x, x, both)
naive = dot(x, x).masked_fill(~both, -torch.inf).softmax(-1)
print("shapes", *(tuple(mask.shape) for mask in (padding, padding[:, None], causal, both)))
print("open pairs          ", both.sum((1, 2)).tolist())
print("sums of sentence 1  ", a[1].sum(-1))
print("sums of sentence 2  ", a[2].sum(-1), " context all zero:", bool((context[2] == 0).all()))
print("without that care   ", naive[2].sum(-1))

# %% [markdown]
# In this course such a row gives zeros: zero weights, zero context. A softmax of only $-\infty$ gives NaN,
# which spreads through every sum it enters.
#
# ## Does the future leak?
#
# A mask that is a little wrong still gives plausible numbers. A **leak test** finds out: change one word, and
# see which outputs move. Of the three masks here, one is wrong by one place. What will each picture look
# like, and in which do we see the leak?


# %%
def influence(mask, size=5):
    x = torch.randn(1, size, 4, generator=torch.Generator().manual_seed(0))
    before, _ = attention(x, x, x, mask)
    moved = torch.zeros(size, size, dtype=torch.bool)
    for s in range(size):
        changed = x.clone()
        changed[0, s] += 1
        after, _ = attention(changed, changed, changed, mask)
        moved[:, s] = (after - before).abs().amax(-1)[0] > 1e-6
    return moved


one_too_far = torch.ones(5, 5, dtype=torch.bool).tril(1)
masks = {"no mask": None, "causal": causal, "one place too far": one_too_far}
for (title, mask), ax in zip(masks.items(), plots.axes(3, width=3.6, height=3.2), strict=True):
    plots.mask(influence(mask), ax=ax, title=title, xlabel="word that is changed", ylabel="output that moves")

# %% [markdown]
# Without a mask every change moves every output; with the causal mask a change moves only its own and later
# outputs; with the wrong mask it also moves the output one place earlier, a leak. The measured picture is the
# mask itself, and we did not have to read the code.
#
# ## Which inputs expose a wrong attention?
#
# A test is a choice of inputs and of what to look at. Three wrong candidates, each a slip that people make:


# %%
def softmax_over_queries(query, key, value, mask):
    weights = dot(query, key).masked_fill(~mask, -torch.inf).softmax(1).nan_to_num()
    return weights @ value, weights


def mask_forgotten(query, key, value, mask):
    return attention(query, key, value)


def masked_too_late(query, key, value, mask):
    weights = dot(query, key).softmax(-1) * mask
    return weights @ value, weights


# %% [markdown]
# We try four tests. Which candidate slips through the most of them?

# %% tags=["nbval-check-output"]
draw = torch.Generator().manual_seed(0)
inputs = [torch.randn(*shape, generator=draw) for shape in ((2, 3, 7), (2, 5, 7), (2, 5, 11))]
every = torch.ones(2, 3, 5, dtype=torch.bool)  # B T S
some = padding_mask(torch.tensor([5, 3]), 5)[:, None].expand(2, 3, 5)

for candidate in (attention, softmax_over_queries, mask_forgotten, masked_too_late):
    (free, _), (masked, weights) = candidate(*inputs, every), candidate(*inputs, some)
    verdicts = {
        "shape": masked.shape == (2, 3, 11),
        "row sums": torch.allclose(weights.sum(-1), torch.ones(2, 3)),
        "values when open": torch.allclose(free, attention(*inputs, every)[0], atol=1e-5),
        "values when masked": torch.allclose(masked, attention(*inputs, some)[0], atol=1e-5),
    }
    caught = [test for test, passed in verdicts.items() if not passed]
    print(f"{candidate.__name__:21}", "caught by:", ", ".join(caught) or "none")

# %% [markdown]
# The shape catches nobody. The forgotten mask passes three tests of four: only a mask that hides something
# shows it. Each slip has an input that exposes it. In the exercises you write a test with all these inputs.
#
# ## One function, three uses
#
# What differs between kinds of attention is where the queries come from. Five English words have features
# that we set by hand:

# %%
english = ["the", "film", "was", "not", "great"]
x = 2 * torch.tensor([[1.0, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])  # S D
german = ["kein", "toller", "Film"]
y = x[[3, 4, 1]]  # T D: no, great, film
theta = 2 * torch.tensor([[0.0, 0, 1, 0], [0, 1, 0, 1]])  # N D: negation; film and praise

kinds = {"fixed": theta, "cross": y, "self": x}
matrices = {kind: attention(queries[None], x[None], x[None])[1][0] for kind, queries in kinds.items()}
{kind: tuple(a.shape) for kind, a in matrices.items()}

# %% [markdown]
# Fixed attention asks with learned θ, **cross-attention** with the words of another sentence,
# **self-attention** with the words of the sentence itself. Keys and values are the same in all three. Which
# two English words will share their weight in self-attention?

# %%
rows = {"fixed": ["θ₁", "θ₂"], "cross": german, "self": english}
for (kind, a), ax in zip(matrices.items(), plots.axes(3, width=4.2, height=3.4), strict=True):
    plots.weights(a, english, rows[kind], title=kind, ax=ax, xlabel="keys")

# %% [markdown]
# In fixed attention θ₁ puts 0.93 on "not" and θ₂ nearly half each on "film" and "great"; in cross-attention
# "kein", "toller" and "Film" put 0.93 on "not", "great" and "film"; in self-attention words attend to
# themselves, and "the" and "was" share.
#
# ## Does the order of the words matter?
#
# We shuffle the keys with their values, then the keys alone: does the context stay? We shuffle all words of
# self-attention: are the contexts shuffled alike?

# %% tags=["nbval-check-output"]
draw = torch.Generator().manual_seed(0)
same = {"keys with values": [], "keys alone": [], "all words": [], "all words, causal": []}
for _ in range(20):
    q, k, v = (torch.randn(1, n, 7, generator=draw) for n in (3, 5, 5))  # 1 T D, 1 S D, 1 S E
    p = torch.randperm(5, generator=draw)
    context, _ = attention(q, k, v)
    same["keys with values"].append(torch.allclose(attention(q, k[:, p], v[:, p])[0], context, atol=1e-5))
    same["keys alone"].append(torch.allclose(attention(q, k[:, p], v)[0], context, atol=1e-5))
    for what, mask in (("all words", None), ("all words, causal", causal_mask(5).expand(1, 5, 5))):
        shuffled = attention(k[:, p], k[:, p], k[:, p], mask)[0]
        same[what].append(torch.allclose(shuffled, attention(k, k, k, mask)[0][:, p], atol=1e-5))
for what, results in same.items():
    print(f"{what:18}", sum(results), "of", len(results))

# %% [markdown]
# Without a mask, keys and values are a set of pairs: in "not bad, great" and "not great, bad" each word gets the same context. A causal mask lets order in; lesson 11 gives words positions.
#
# ## When others say "query" for our "key"
#
# | there | here |
# | --- | --- |
# | slides of Ylipää 2020: *query set*, one element for each value | keys |
# | the same: *key set*, one weighted vector for each element | queries |
# | the same: in fixed attention, each θ is a *key* | θ is a query |
# | slides of MAIL-ECNU 2019: MultiHead($V, K, Q$), with ($X_e, X_e, X_d$) | $f(Q, K, V) = f(X_d, X_e, X_e)$ |
# | the same: softmax($Q^\top K / \sqrt{d}$) $V$ | words are rows: softmax($QK^\top$) $V$; lesson 04 scales |
#
# The second slides have our names in reverse order; $X_e$ are the encoder's words, $X_d$ the decoder's. We
# follow Vaswani et al. 2017: a query asks, keys are asked. The dot product is symmetric, the softmax is not.

# %% tags=["nbval-check-output"]
theirs = dot(x[None], theta[None]).softmax(-1)[0]  # S N
print("ours", tuple(matrices["fixed"].shape), " swapped", tuple(theirs.shape), ' row "was":', theirs[2])
try:
    attention(x[None], theta[None], x[None])
except ValueError as error:
    print(error)

# %% [markdown]
# Exchanged, the matrix is S×T, and each word divides itself between the θ: "was", which no θ listens for,
# goes half to each. That is another question, and there is no value for each θ. Where T = S no error warns
# us, which is why the course tests with sizes that all differ.
#
# ## Recap
#
# - Fixed attention is $g(q, k) = q^\top k$ with learned queries; a query may also come from a sentence.
# - Score, normalise, sum: $f(Q, K, V)$, a lookup that is soft and has a gradient.
# - Masks are True where a query may attend; they combine by broadcasting; an empty row gives zeros.
# - Without a mask by position, keys with their values are a set: order does not matter.
# - A wrong attention needs an input that shows it: a changed future word, a mask, sizes that differ.
#
# **Exercises**: [open them](../exercises/03_queries_keys_values.ipynb)
#
# **Next**: the dot product is one way to compare $q$ and $k$. Which score should we
# take, and why is it divided?
