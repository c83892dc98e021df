# %% [markdown]
# First, you read queries, keys and values stored in another library's layout. Then you compute what each head adds to the output, build multi-head attention from the weights of PyTorch's own layer and measure what a head is worth. Finally, you write a test that tells correct multi-head attention from incorrect.
#
# The letters: B sentences, T query words, S key words, H heads; a word has dimension D, and a head d = D / H. A mask is True where a word may attend to another. Heads and positions are counted from 0.

# %%
import torch

from course_utils import check, hint, progress, solution
from course_utils.models.minimal import multi_head_attention as reference

# %% [markdown]
# ## 10.split_heads
#
# Queries, keys and values are often computed in a single product, which gives each word a vector of dimension 3D. Libraries do not agree on the layout of this vector. In PyTorch, the queries of all the heads come first, then all the keys, then all the values. In GPT-NeoX, each *head's* entries are stored together: first the query, the key and the value of head 0, with d entries each, then the same for head 1, and so on.
#
# Read this layout: return queries, keys and values, in this order, each split into heads.


# %%
def split_heads(qkv, heads):
    """Read queries, keys and values of all heads from vectors that contain them head by head.

    Args:
        qkv: B×T×3D; for each head its query, its key and its value, d entries each.
        heads: H, an int that divides D.

    Returns:
        Queries, keys and values in one tensor, 3×B×H×T×d with d = D / H.

    Example:
        >>> split_heads(torch.tensor([[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]]), 2).flatten(1)
        tensor([[1., 4.],
                [2., 5.],
                [3., 6.]])
    """
    ### BEGIN SOLUTION
    B, T, width = qkv.shape
    parts = qkv.reshape(B, T, heads, 3, width // (3 * heads))  # B T H 3 d
    return parts.permute(3, 0, 2, 1, 4)  # 3 B H T d
    ### END SOLUTION


# %%
check("10.split_heads", split_heads)

# %% [markdown]
# ## 10.merge_heads
#
# The lesson merges the heads and then multiplies by $W^O$, after which we cannot see which head contributed what. But the output is a *sum over heads*. Return what each head adds to this sum, so that
#
# $$\text{Concat}(\text{head}_0, \dots, \text{head}_{H-1})\, W^O = \sum_i \text{share}_i$$
#
# `out_weight` has the layout of `nn.Linear`, with a row for each output and a column for each input, so it is $W^O$ transposed. Which part of it belongs to head $i$?


# %%
def merge_heads(x, out_weight):
    """Return what each head adds to the output of merging and projecting the heads.

    Args:
        x: B×H×T×d, what each head has found.
        out_weight: D×D with D = H · d, W^O transposed.

    Returns:
        The shares of the heads, B×H×T×D. Their sum over the heads is the output without its bias.

    Example:
        >>> merge_heads(torch.tensor([[[[2.0]], [[3.0]]]]), torch.tensor([[1.0, 10.0], [0.0, 5.0]]))
        tensor([[[[ 2.,  0.]],
        <BLANKLINE>
                 [[30., 15.]]]])
    """
    ### BEGIN SOLUTION
    columns = out_weight.unflatten(1, (x.shape[1], -1))  # D H d: the columns of each head
    return x @ columns.permute(1, 2, 0)  # B H T d @ H d D
    ### END SOLUTION


# %%
check("10.merge_heads", merge_heads)

# %% [markdown]
# ## 10.multi_head_attention
#
# Put the pieces together (Vaswani et al., 2017, section 3.2.2):
#
# $$\text{MultiHead}(Q, K, V) = \text{Concat}(\text{head}_0, \dots, \text{head}_{H-1})\, W^O \qquad \text{head}_i = \text{Attention}(Q W_i^Q, K W_i^K, V W_i^V)$$
#
# The weights have the layout of `nn.MultiheadAttention`. `in_weight` contains $W^Q$, $W^K$ and $W^V$, each transposed, stacked vertically in this order, and `in_bias` contains their biases; $x$ is projected to `x @ weight.T + bias`. In $W^Q$, the $d$ columns of $W_0^Q$ come first, then the columns of $W_1^Q$, and so on.
#
# `mask` applies to all heads, and `None` allows everything. **True means "may attend"**, unlike in `nn.MultiheadAttention`. A word that may attend to nothing has contexts of **zeros**, which go through the output projection like any other. A wrong result for such a word, such as NaN, earns a remark but costs no points.


# %%
def multi_head_attention(query, key, value, in_weight, in_bias, out_weight, out_bias, heads, mask=None):
    """Attend with several heads, as nn.MultiheadAttention does.

    Args:
        query: B×T×D, the words from which queries are computed.
        key: B×S×D, the words from which keys are computed.
        value: B×S×D, the words from which values are computed.
        in_weight: 3D×D: W^Q transposed, below it W^K, then W^V.
        in_bias: 3D, their biases in the same order.
        out_weight: D×D, W^O transposed.
        out_bias: D, its bias.
        heads: H, an int that divides D.
        mask: B×T×S, True where a query (row) may attend to a key (column), for all heads; None allows everything.

    Returns:
        The output, B×T×D.

    Example:
        >>> query = torch.tensor([[[1.0, 1.0]]])
        >>> key = torch.tensor([[[1.0986, 0.0], [0.0, 1.0986]]])
        >>> value = torch.tensor([[[4.0, 4.0], [8.0, 8.0]]])
        >>> one = torch.eye(2)  # projections that change nothing
        >>> multi_head_attention(query, key, value, one.repeat(3, 1), torch.zeros(6), one, torch.tensor([1.0, 0.0]), 2)
        tensor([[[6.0000, 7.0000]]])
    """
    ### BEGIN SOLUTION
    if mask is not None:
        query = query.masked_fill(~mask.any(2)[..., None], 0.0)  # what attends to nothing
        key = key.masked_fill(~mask.any(1)[..., None], 0.0)  # what nothing attends to
        value = value.masked_fill(~mask.any(1)[..., None], 0.0)
        mask = mask[:, None]  # B 1 T S

    def projected(x, block):
        whole = x @ in_weight.chunk(3)[block].T + in_bias.chunk(3)[block]
        return whole.unflatten(2, (heads, -1)).transpose(1, 2)  # B H T d

    query, key, value = projected(query, 0), projected(key, 1), projected(value, 2)
    scores = query @ key.mT / query.shape[-1] ** 0.5  # B H T S
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = scores.softmax(-1)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)  # a row of only -inf is NaN until here
    merged = (weights @ value).transpose(1, 2).flatten(2)  # B T D
    return merged @ out_weight.T + out_bias
    ### END SOLUTION


# %%
check("10.multi_head_attention", multi_head_attention)

# %% [markdown]
# ## 10.head_worth
#
# What is a head worth? We switch off one head at a time and see how much the score falls. You are given a function `score`, which takes a mask with one entry per head, **True where the head is on**, and returns a number, such as BLEU, for the model with these heads. For each head, return the score of the whole model minus the score without that head:
#
# $$\text{worth}_h = \text{score}(\text{all heads}) - \text{score}(\text{all heads but } h)$$
#
# A head's worth is negative when the score is higher without it.
#
# In the example below, heads 1 and 2 are each worth 0. What is lost if both are switched off?
#
# <details><summary>Answer</summary>
#
# The score falls from 27 to 23, so 4 points are lost. The two heads do the same thing: either one is enough, but one of them is needed. The worths of heads therefore cannot be added up.
#
# </details>


# %%
def head_worth(score, heads):
    """Return what each head is worth when it alone is switched off.

    Args:
        score: a function that takes a mask, a tensor of H Booleans, and returns a number.
        heads: H, an int.

    Returns:
        The worths, H.

    Example:
        >>> head_worth(lambda on: 20.0 + 3.0 * on[0].item() + 4.0 * (on[1] or on[2]).item(), 3)
        tensor([3., 0., 0.])
    """
    ### BEGIN SOLUTION
    everything = torch.ones(heads, dtype=torch.bool)
    without = []
    for head in range(heads):
        mask = everything.clone()
        mask[head] = False
        without.append(score(mask))
    return score(everything) - torch.tensor(without)
    ### END SOLUTION


# %%
check("10.head_worth", head_worth)

# %% [markdown]
# ## 10.catch_wrong_heads
#
# Incorrect multi-head attention hardly ever raises an error. The check passes your function **candidates** for `10.multi_head_attention`. Return `True` for a candidate that keeps these promises to within $10^{-5}$, and `False` for any other:
#
# 1. It returns the same result as `reference`, the course's own function with the same arguments: for several sentences and heads, including when T and S differ.
# 2. It accepts `None` and a B×T×S mask, which differs from sentence to sentence.
# 3. For a word that may attend to nothing, it returns `out_bias`.
# 4. It raises no error. An error must not stop your test.
#
# Random numbers of magnitude about 1 are enough, but choose the sizes, biases and masks with care.


# %%
def catch_wrong_heads(candidate):
    """Tell whether a candidate is multi-head attention as in 10.multi_head_attention.

    Args:
        candidate: a function of the arguments of multi_head_attention, which may be wrong and may raise.

    Returns:
        True if the candidate is correct, False if it is not.

    Example:
        >>> catch_wrong_heads(reference)
        True
        >>> catch_wrong_heads(lambda *args: reference(*args) * 2)
        False
    """

    ### BEGIN SOLUTION
    def agrees(*args):
        right = reference(*args)
        try:
            result = candidate(*args)
            return result.shape == right.shape and torch.allclose(result, right, atol=1e-5)
        except Exception:
            return False

    draw = torch.Generator().manual_seed(0)
    B, T, S, heads, D = 2, 3, 5, 3, 6
    shapes = ((B, T, D), (B, S, D), (B, S, D), (3 * D, D), (3 * D,), (D, D), (D,))
    query, *given = (torch.randn(shape, generator=draw) for shape in shapes)
    mask = torch.rand(B, T, S, generator=draw) < 0.6
    mask[0, 1] = False  # a word that may attend to nothing
    return agrees(query, *given, heads, None) and agrees(query, *given, heads, mask)
    ### END SOLUTION


# %%
check("10.catch_wrong_heads", catch_wrong_heads)

# %% tags=["own-machine"]
progress()

# %% [markdown]
# Stuck on one? `hint("10.merge_heads")` gives the next hint, and `solution("10.merge_heads")` shows a solution after a try.
#
# Next, lesson 11: how a model can tell where a word is.
