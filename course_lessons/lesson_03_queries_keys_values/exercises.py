# %% [markdown]
# You write the two masks, attention as $f(Q, K, V)$ and self-attention with its projections. Then you find out which words a function looks at and write a test that tells correct attention from
# incorrect.

# %%
import torch

from course_utils import check, hint, progress, solution
from course_utils.models.attention import attention as reference

# %% [markdown]
# ## 03.padding_mask
#
# Sentences of different lengths share one tensor: the words come first, and padding fills the rest. Mark the
# positions that contain a word. **True means "is a word"** and therefore "may be attended to"; the result has `size` positions, even
# if every sentence is shorter. Without this mask, padding would get weight as words do.
#
# $$\text{mask}_{bs} = (s < \text{lengths}_b), \quad s = 0, \dots, \text{size} - 1$$


# %%
def padding_mask(lengths, size):
    """Return True at the words of each sentence, False at the padding after them.

    Args:
        lengths: B, the number of words of each sentence, whole numbers from 0 to size.
        size: how many positions each row has.

    Returns:
        The mask, B×size, of True and False (torch.bool).

    Example:
        >>> padding_mask(torch.tensor([1, 3]), 4)
        tensor([[ True, False, False, False],
                [ True,  True,  True, False]])
    """
    ### BEGIN SOLUTION
    return torch.arange(size) < lengths[:, None]
    ### END SOLUTION


# %%
check("03.padding_mask", padding_mask)

# %% [markdown]
# ## 03.causal_mask
#
# A word may attend to itself and to earlier words but never to later ones, because a model that predicts the
# next word must not see it. **Rows are queries, columns are keys, True means "may attend".**
#
# $$\text{mask}_{ts} = (s \le t)$$


# %%
def causal_mask(size):
    """Return True where the key is not later than the query.

    Args:
        size: the number of words, which are both the queries and the keys.

    Returns:
        The mask, size×size, of True and False (torch.bool).

    Example:
        >>> causal_mask(3)
        tensor([[ True, False, False],
                [ True,  True, False],
                [ True,  True,  True]])
    """
    ### BEGIN SOLUTION
    return torch.ones(size, size, dtype=torch.bool).tril()
    ### END SOLUTION


# %%
check("03.causal_mask", causal_mask)

# %% [markdown]
# ## 03.attention
#
# Score every query against every key, normalise over the keys and sum the values. The dot product is **not
# scaled**. A key gets no weight where the mask is False; a query that may attend to nothing gets **zeros** as its
# weights and context. Scores may be as large as ±30,000. If `mask` is `None`, every query may attend to every key. From lesson 09 on, scores are mostly divided by √D (lesson 04).
#
# $$z_{bts} = q_{bt}^\top k_{bs} \qquad a_{bt} = \operatorname{softmax}_s(z_{bt})
# \text{ where the mask is True}
# \qquad c_{bt} = \sum_s a_{bts}\, v_{bs}$$


# %%
def attention(query, key, value, mask=None):
    """Score by dot product, normalise, sum: f(Q, K, V), unscaled.

    Args:
        query: B×T×D.
        key: B×S×D.
        value: B×S×E.
        mask: B×T×S, True where the query may attend to the key; None allows everything.

    Returns:
        Two tensors: the contexts B×T×E, then the weights B×T×S.

    Example:
        >>> query = torch.tensor([[[0.0, 1.0]]])                           # B T D = 1 1 2
        >>> key = torch.tensor([[[0.0, 2.0], [1.0, 1.0], [3.0, 0.0]]])     # B S D = 1 3 2
        >>> value = torch.tensor([[[10.0], [20.0], [40.0]]])               # B S E = 1 3 1
        >>> context, weights = attention(query, key, value)                # scores 2, 1, 0
        >>> weights
        tensor([[[0.6652, 0.2447, 0.0900]]])
        >>> context
        tensor([[[15.1482]]])
        >>> mask = torch.tensor([[[False, True, False]]])
        >>> attention(query, key, value, mask)
        (tensor([[[20.]]]), tensor([[[0., 1., 0.]]]))
    """
    ### BEGIN SOLUTION
    scores = query @ key.mT  # B T S
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = scores.softmax(-1)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)  # a row of only -inf is NaN until here
    return weights @ value, weights
    ### END SOLUTION


# %%
check("03.attention", attention)

# %% [markdown]
# ## 03.self_attention
#
# In self-attention, one sentence plays all three roles. Multiplying a word's vector by `weight_q` gives what the word asks for, multiplying it by `weight_k` what it is found by, and by `weight_v` what it
# hands over. The rest is attention as before, **not scaled** and with zeros for a word that may attend to nothing. You write the first part; for the rest, you may call `reference`.
#
# $$q_{bt} = x_{bt} W_q \qquad k_{bs} = x_{bs} W_k \qquad v_{bs} = x_{bs} W_v \qquad \text{then attention of } q, k, v$$


# %%
def self_attention(x, weight_q, weight_k, weight_v, mask=None):
    """Let the words of each sentence attend to one another, through three projections.

    Args:
        x: B×T×D, the words.
        weight_q: D×A.
        weight_k: D×A.
        weight_v: D×E.
        mask: B×T×T, True where a word (row) may attend to a word (column); None allows everything.

    Returns:
        Two tensors: the contexts B×T×E, then the weights B×T×T.

    Example:
        >>> x = torch.eye(2)[None]  # two words: B T D = 1 2 2
        >>> exchange = torch.tensor([[0.0, 9.0], [9.0, 0.0]])
        >>> context, weights = self_attention(x, exchange, torch.eye(2), torch.tensor([[10.0], [20.0]]))
        >>> weights  # each word asks for the other one
        tensor([[[1.2339e-04, 9.9988e-01],
                 [9.9988e-01, 1.2339e-04]]])
        >>> context
        tensor([[[19.9988],
                 [10.0012]]])
    """
    ### BEGIN SOLUTION
    query, key, value = x @ weight_q, x @ weight_k, x @ weight_v
    return reference(query, key, value, mask)
    ### END SOLUTION


# %%
check("03.self_attention", self_attention)

# %% [markdown]
# ## 03.influence
#
# Does the future leak? A model that predicts the next word must not see it, but one wrong mask is enough to reveal it. Write a function that detects such leaks without reading any code. It gets a `function` and an input; `influence[t, s]` is True if output `t` changes, in any sentence of the batch, when word `s` changes. With a correct causal mask, nothing above the diagonal is True.
#
# Change a word by about 1, and treat numbers that differ by less than $10^{-5}$ as equal, because such differences are rounding errors. No gradient flows through the function. Some functions respond only to some changes: one looks only at the last feature, another at a word's direction but not its length.


# %%
def influence(function, x):
    """Tell which outputs of a function depend on which words.

    Args:
        function: takes a tensor B×T×D and returns one B×T×E; it treats each sentence on its own, and perhaps not all of them alike.
        x: B×T×D, an input to begin with.

    Returns:
        The influence, T×T, of True and False: True in row t and column s where output t moves when word s is changed.

    Example:
        >>> influence(lambda x: x.cumsum(1), torch.zeros(1, 3, 2))  # each output is the sum of the words so far
        tensor([[ True, False, False],
                [ True,  True, False],
                [ True,  True,  True]])
    """
    ### BEGIN SOLUTION
    before, columns = function(x), []
    for s in range(x.shape[1]):
        changed = x.clone()
        changed[:, s] += torch.randn_like(changed[:, s])
        moved = (function(changed) - before).abs() > 1e-5  # B T E
        columns.append(moved.any(-1).any(0))
    return torch.stack(columns, dim=1)
    ### END SOLUTION


# %%
check("03.influence", influence)

# %% [markdown]
# ## 03.catch_wrong_attention
#
# The check gives your function **candidates** that claim to solve `03.attention` for float32 tensors of ordinary size and a mask B×T×S or `None`. Return `True` for one that keeps these promises, up to rounding errors of about $10^{-5}$, and `False` otherwise:
#
# - It returns the context and the weights of `reference(query, key, value, mask)`, for all sizes B, T, S, D and E.
# - It does so for any mask, even one that hides every key from a query, and for `None`.
# - A sentence's result does not depend on the other sentences in the batch.
# - It raises no error.
#
# You will not be shown all the wrong candidates. Which inputs expose them, and what must you compare?


# %%
def catch_wrong_attention(candidate):
    """Tell whether a candidate computes attention as in 03.attention.

    Args:
        candidate: a function (query B×T×D, key B×S×D, value B×S×E, mask B×T×S or None)
            → (context B×T×E, weights B×T×S), which may be wrong and may raise.

    Returns:
        True if it is right, False if it is wrong.

    Example:
        >>> catch_wrong_attention(reference)
        True
        >>> def forgets_the_mask(query, key, value, mask=None):
        ...     return reference(query, key, value)
        >>> catch_wrong_attention(forgets_the_mask)
        False
    """
    ### BEGIN SOLUTION
    draw = torch.Generator().manual_seed(0)
    inputs = [torch.randn(*shape, generator=draw) for shape in ((2, 3, 7), (2, 5, 7), (2, 5, 11))]
    mask = torch.rand(2, 3, 5, generator=draw) < 0.5
    mask[1, 2] = False  # a query with nothing to attend to
    for allowed in (None, mask):
        expected = reference(*inputs, allowed)
        try:
            received = candidate(*inputs, allowed)
            for right, part in zip(expected, received, strict=True):
                if part.shape != right.shape or not torch.allclose(part, right, atol=1e-5):
                    return False
        except Exception:
            return False
    return True
    ### END SOLUTION


# %%
check("03.catch_wrong_attention", catch_wrong_attention)

# %% tags=["own-machine"]
progress()

# %% [markdown]
# Attention now works with any query. Lesson 04 compares the dot product with seven other scores and shows
# what scaling is for.
