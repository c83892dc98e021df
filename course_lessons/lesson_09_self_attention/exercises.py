# %% [markdown]
# You write self-attention as used in the Transformer and a cheaper form for long sentences, and you count what layers actually cost. Then you write two tests: one finds models that see later words, the other models that depend on word order.
#
# The letters: B sentences of T words; words have dimension D, queries and keys d, values E. A mask is True where a word may attend to another.

# %%
import torch

from course_utils import check, hint, progress, solution

# %% [markdown]
# ## 09.self_attention
#
# Each word in a sentence looks at all the words in it, itself included, using the equation from Vaswani et al. (2017). Here $d$ is the dimension of the queries and keys.
#
# $$Q = X W_Q \qquad K = X W_K \qquad V = X W_V \qquad \text{context} = \operatorname{softmax}\!\left(\frac{Q K^\top}{\sqrt d}\right) V$$
#
# If `mask` is `None`, each word may attend to all words. Where the mask is False, the word in that row gets nothing from the word in that column.
#
# - A word that may attend to nothing has a context of **zeros** and a finite gradient.
# - **Padding** attends to nothing, and nothing attends to it: its row and column in the mask are False throughout. Padding may occur anywhere. What it contains affects neither the result nor any gradient.
#
# If NaN in the padding gets through, you get a remark but lose no points.


# %%
def self_attention(x, weight_q, weight_k, weight_v, mask=None):
    """Let the words of each sentence attend to one another, with scaled scores.

    Args:
        x: B×T×D, the words.
        weight_q: D×d, W_Q in the equation.
        weight_k: D×d, W_K.
        weight_v: D×E, W_V.
        mask: B×T×T, True where a word (row) may attend to a word (column); None allows everything.

    Returns:
        The contexts, B×T×E.

    Example:
        >>> x = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]])  # two words: B T D = 1 2 2
        >>> weight_q, weight_k = torch.tensor([[2.0], [0.0]]), torch.tensor([[0.0], [1.0986]])
        >>> self_attention(x, weight_q, weight_k, torch.tensor([[4.0], [8.0]]))
        tensor([[[7.6000],
                 [6.0000]]])
    """
    ### BEGIN SOLUTION
    if mask is not None:
        padding = ~(mask.any(1) | mask.any(2))  # B T
        x = x.masked_fill(padding[..., None], 0.0)  # B T D
    query, key, value = x @ weight_q, x @ weight_k, x @ weight_v
    scores = query @ key.mT / query.shape[-1] ** 0.5  # B T T
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = scores.softmax(-1)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)  # a row of only -inf is NaN until here
    return weights @ value
    ### END SOLUTION


# %%
check("09.self_attention", self_attention)

# %% [markdown]
# ## 09.restricted_self_attention
#
# For long sentences, Vaswani et al. (2017, section 4) propose that each word look only at itself and at positions at most `radius` away on either side. Distant words are then many layers apart. Longformer (Beltagy et al., 2020) adds a few words without this limit. We call them **hubs**: a hub looks at all positions, and all positions look at it, so two layers are enough to connect any two words.
#
# The queries, keys and values are given. Decide which of the B×T×T pairs may attend. Positions beyond the ends do not exist, and **nothing is padded with zeros**. The radius may be 0, and it may be larger than the sentence. Each sentence has its own hubs, or none.


# %%
def restricted_self_attention(query, key, value, radius, hub):
    """Let each position attend to positions at most `radius` away, and let hubs see all and be seen by all.

    Args:
        query: B×T×D.
        key: B×T×D.
        value: B×T×E.
        radius: an int of 0 or more.
        hub: B×T, True for positions that are hubs.

    Returns:
        The contexts, B×T×E.

    Example:
        >>> query, key = torch.ones(1, 3, 1), torch.tensor([[[0.0], [1.0986], [0.0]]])
        >>> value, hub = torch.tensor([[[4.0], [8.0], [16.0]]]), torch.tensor([[False, False, False]])
        >>> restricted_self_attention(query, key, value, 1, hub)
        tensor([[[ 7.0000],
                 [ 8.8000],
                 [10.0000]]])
    """
    ### BEGIN SOLUTION
    position = torch.arange(query.shape[1])  # T
    near = (position[:, None] - position).abs() <= radius  # T T
    seen = near | hub[:, :, None] | hub[:, None, :]  # B T T
    scores = query @ key.mT / query.shape[-1] ** 0.5  # B T T
    weights = scores.masked_fill(~seen, -torch.inf).softmax(-1)
    return weights @ value
    ### END SOLUTION


# %%
check("09.restricted_self_attention", restricted_self_attention)

# %% [markdown]
# ## 09.layer_cost
#
# The paper's table leaves out constant factors. Count **all multiplications** in the lesson's layers, for n words of dimension d: projections, matrices, scores and weighted sums. Leave out the softmax and the division by √d. You can check your counts against the lesson's table, which uses d = 512, k = 3 and radius = 4.
#
# Also return the **sequential steps**, which wait for one another, and the **longest path**: how many layers, or steps, lead from the first word to the last.
#
# - `"self"`: the lesson's `SelfAttention`.
# - `"recurrent"`: a tanh cell for words and states of dimension d.
# - `"convolution"`: a d×d matrix for each of k words. With dilation, the last word sees $k^l$ words after $l$ layers, itself included.
# - `"restricted"`: like `"self"`, but each word is compared with 2 · radius + 1 words, even past the ends of the sentence.


# %%
def layer_cost(kind, n, d, k, radius):
    """Return what a layer costs: multiplications, sequential steps, longest path.

    Args:
        kind: "self", "recurrent", "convolution" or "restricted".
        n: the number of words, an int of 2 or more.
        d: their dimension, an int of 1 or more.
        k: how many words a convolution's kernel covers, an int of 2 or more.
        radius: how many words restricted attention sees on each side, an int of 1 or more.

    Returns:
        A tuple of three ints.

    Example:
        >>> layer_cost("convolution", 9, 2, 3, 4)
        (108, 1, 2)
    """
    ### BEGIN SOLUTION
    projections = 3 * n * d * d
    if kind == "self":
        return projections + 2 * n * n * d, 1, 1
    if kind == "recurrent":
        return 2 * n * d * d, n, n
    if kind == "restricted":
        return projections + 2 * (2 * radius + 1) * n * d, 1, -(-(n - 1) // radius)
    layers, reach = 0, 1
    while reach < n:
        layers, reach = layers + 1, reach * k
    return k * n * d * d, 1, layers
    ### END SOLUTION


# %%
check("09.layer_cost", layer_cost)

# %% [markdown]
# ## Who has seen the future?
#
# A model that predicts the next word must not see it. If it does, no error is raised, and its training loss may look excellent. But when it has to generate text, there is no next word to see. That is why we need a test.

# %% [markdown]
# ## 09.catch_leak
#
# A **model** is a function from rows T×4, float32, to rows T×4. Return `True` for a model that keeps these three promises, and `False` for any other:
#
# 1. It accepts any number of rows (even a single one) and raises no error.
# 2. Its output is finite.
# 3. For every position t: new numbers in the rows after t, **at the same T**, leave rows 0 … t of its output unchanged, in every feature.
#
# The output may depend on T itself. Every broken promise that counts shows at T = 1, 5 or 12. Use random numbers of magnitude about 1: an output that sees them changes by more than $10^{-4}$, and rounding errors stay below $10^{-5}$. Your test must not raise an error. Gradients do not flow through the models.


# %%
def catch_leak(model):
    """Tell whether the rows of a model see no later rows.

    Args:
        model: a function (x T×4) → T×4, which may leak and may raise.

    Returns:
        True if no output depends on later rows, False if one does.

    Example:
        >>> catch_leak(lambda x: x - x.mean(0))  # each row sees the mean of all
        False
        >>> catch_leak(lambda x: x.cumsum(0))
        True
    """
    ### BEGIN SOLUTION
    draw, kept = torch.Generator().manual_seed(0), []
    try:
        for T in (1, 5, 12):
            x = torch.randn(T, 4, generator=draw)
            before = model(x)
            kept.append(before.isfinite().all())
            for t in range(T):
                later = torch.randn(T - t - 1, 4, generator=draw)
                after = model(torch.cat([x[: t + 1], later]))
                kept.append(torch.allclose(after[: t + 1], before[: t + 1], rtol=0, atol=1e-5))
    except Exception:
        return False
    return all(bool(promise) for promise in kept)
    ### END SOLUTION


# %%
check("09.catch_leak", catch_leak)

# %% [markdown]
# ## 09.sees_order
#
# On its own, self-attention ignores order. For a matrix $P$ that reorders rows, this property is **permutation equivariance**:
#
# $$f(P X) = P f(X) \quad \text{for every order } P$$
#
# A model is again a function from rows T×4, float32, to rows T×4. Return `False` for a model that keeps this promise and `True` for a model that breaks it because it depends on the order:
#
# - For every T ≥ 1 and every order of the rows, each row's output stays the same and moves with its row.
#
# A broken promise shows at some T from 2 to 12. There, for most random orders of random rows, some output differs by more than $10^{-4}$. Try several orders for each T, and allow $10^{-5}$ for rounding. No model raises an error, and gradients do not flow through them.


# %%
def sees_order(model):
    """Tell whether a model depends on the order of its rows.

    Args:
        model: a function (x T×4) → T×4.

    Returns:
        True if it depends on the order, False if it is permutation equivariant.

    Example:
        >>> sees_order(lambda x: x - x.mean(0))
        False
        >>> sees_order(lambda x: x.cumsum(0))
        True
    """
    ### BEGIN SOLUTION
    draw = torch.Generator().manual_seed(0)
    moved_somewhere = []
    for T in [*range(2, 13)] * 3:
        x, order = torch.randn(T, 4, generator=draw), torch.randperm(T, generator=draw)
        moved_somewhere.append(not torch.allclose(model(x[order]), model(x)[order], rtol=0, atol=1e-5))
    return any(moved_somewhere)
    ### END SOLUTION


# %%
check("09.sees_order", sees_order)

# %% tags=["own-machine"]
progress()

# %% [markdown]
# Stuck on one? `hint("09.self_attention")` gives the next hint, and `solution("09.self_attention")` shows a solution after a try.
#
# Next, lesson 10: several heads at once, each with its own projections.
