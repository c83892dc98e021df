# %% [markdown]
# You write three attentions that change one thing each: another normaliser, another score, another memory. A fourth one corrects what its memory holds. Then you write a test that any attention has to pass, whatever its scores are. Last comes an attention of your own, with a report.
#
# The letters: B sentences or sequences, H heads, T places or steps, S keys, D the width of queries and keys, E that of values. A mask is True where a place may be attended to.

# %%
import itertools

import torch
import torch.nn.functional as F

from course_utils import check, hint, progress, solution
from course_utils.models import compared, properties

# %% [markdown]
# ## 20.sparsemax
#
# Softmax leaves some weight everywhere. **Sparsemax** gives a row the weights that lie nearest to its scores, among all weights that are 0 or more and sum to 1 (Martins & Astudillo 2016, equation 2):
#
# $$\text{sparsemax}(z) = \underset{p \,\ge\, 0,\; \sum_j p_j = 1}{\text{argmin}}\ \lVert p - z \rVert^2 = \max(z - \tau,\ 0)$$
#
# So every weight is either 0 or its score minus one number $\tau$, the **threshold** of the row. Algorithm 1 finds it. Sort the scores, $z_{(1)} \ge z_{(2)} \ge \dots$, and let $k$ be the largest number for which $1 + k\, z_{(k)} > \sum_{j \le k} z_{(j)}$. Then
#
# $$\tau = \frac{\big(\sum_{j \le k} z_{(j)}\big) - 1}{k}$$
#
# Only places where the mask is True take part. The scores at all others have no effect on weights or gradients. All other places, and rows without any True, get 0.


# %%
def sparsemax(scores, mask):
    """Return the weights nearest to the scores.

    Args:
        scores: B×T×S.
        mask: B×T×S, True where a place may be attended to.

    Returns:
        The weights, B×T×S. Each row sums to 1, or to 0 if nothing in it may be attended to.

    Example:
        >>> sparsemax(torch.tensor([[[1.0, 0.5, -1.0]]]), torch.tensor([[[True, True, True]]]))
        tensor([[[0.7500, 0.2500, 0.0000]]])
    """
    ### BEGIN SOLUTION
    hidden = scores.masked_fill(~mask, -torch.inf)
    down = hidden.sort(dim=-1, descending=True).values  # B T S, the largest first
    total = down.cumsum(dim=-1)  # B T S
    k = torch.arange(1, scores.shape[-1] + 1)
    count = (
        (1 + k * down > total).sum(dim=-1, keepdim=True).clamp(min=1)
    )  # B T 1, how many weights are above 0
    threshold = (total.gather(-1, count - 1) - 1) / count  # B T 1
    return (hidden - threshold).clamp(min=0).masked_fill(~mask, 0.0)
    ### END SOLUTION


# %%
check("20.sparsemax", sparsemax)

# %% [markdown]
# ## 20.alibi_scores
#
# **ALiBi** needs no vectors for positions: it subtracts a number from each score, which is larger the farther apart two places are (Press et al. 2022, section 3). Each head has its own slope. For head $h = 1, \dots, H$, row $i$ and column $j$, in both directions alike:
#
# $$\text{biased}_{hij} = \text{scores}_{hij} - 2^{-8h/H}\, |i - j|$$
#
# So the first head has the slope $2^{-8/H}$ and sees best what is near; the last one has $2^{-8}$, so that distance hardly counts for it. The scores are already scaled. The mask and the softmax come later: leave both out here.


# %%
def alibi_scores(scores):
    """Return the scores less a slope times the distance.

    Args:
        scores: B×H×T×T, with queries along axis 2 and keys along axis 3.

    Returns:
        What is left of the scores, B×H×T×T.

    Example:
        >>> alibi_scores(torch.zeros(1, 4, 2, 2))[0, :, 0]  # row 0 of each head: slopes 1/4, 1/16, 1/64, 1/256
        tensor([[ 0.0000, -0.2500],
                [ 0.0000, -0.0625],
                [ 0.0000, -0.0156],
                [ 0.0000, -0.0039]])
    """
    ### BEGIN SOLUTION
    H, T = scores.shape[1:3]
    slopes = 2 ** (-8 * torch.arange(1, H + 1) / H)  # H
    place = torch.arange(T)
    distance = (place[:, None] - place).abs()  # T T
    return scores - slopes[:, None, None] * distance
    ### END SOLUTION


# %%
check("20.alibi_scores", alibi_scores)

# %% [markdown]
# ## 20.linear_attention
#
# Put $\varphi(q)^\top \varphi(k)$ in the place of $\exp(q^\top k)$, and attention becomes a memory of a fixed size (Katharopoulos et al. 2020, sections 3.2 and 3.3). With $\varphi(x) = \text{elu}(x) + 1$, taken number by number, step $i$ reads
#
# $$c_i = \frac{\sum_{j \le i} \varphi(q_i)^\top \varphi(k_j)\, v_j}{\sum_{j \le i} \varphi(q_i)^\top \varphi(k_j)} = \frac{\varphi(q_i)^\top S_i}{\varphi(q_i)^\top z_i} \qquad S_i = \sum_{j \le i} \varphi(k_j)\, v_j^\top \qquad z_i = \sum_{j \le i} \varphi(k_j)$$
#
# It is causal: step $i$ reads itself and all steps before it. You may compute the T×T weights of the fraction on the left, or keep the two sums on the right; either will do. Here elu$(x)$ is $x$ for numbers above 0 and $e^x - 1$ below, as `F.elu` gives it. Numbers may be as large as 20,000; no number in query or key is so far below 0 that its $\varphi$ is 0.


# %%
def linear_attention(query, key, value):
    """Return what each step reads from all steps so far, without a softmax.

    Args:
        query: B×T×D.
        key: B×T×D.
        value: B×T×E.

    Returns:
        The contexts, B×T×E.

    Example:
        >>> query, key = torch.tensor([[[0.0], [0.0]]]), torch.tensor([[[0.0], [2.0]]])  # φ: 1 and 1, 1 and 3
        >>> linear_attention(query, key, torch.tensor([[[4.0], [8.0]]]))
        tensor([[[4.],
                 [7.]]])
    """
    ### BEGIN SOLUTION
    query, key = F.elu(query) + 1, F.elu(key) + 1
    memory = (key[..., :, None] * value[..., None, :]).cumsum(dim=1)  # B T D E
    total = key.cumsum(dim=1)  # B T D
    read = (query[..., :, None] * memory).sum(dim=2)  # B T E
    return read / (query * total).sum(dim=2, keepdim=True)
    ### END SOLUTION


# %%
check("20.linear_attention", linear_attention)

# %% [markdown]
# ## 20.delta_memory
#
# A memory that only adds can't forget: if two values are written under the same key, it holds their sum. The **delta rule** writes only what is missing (Schlag, Irie & Schmidhuber 2021, section 4.2). The memory $S$ is a D×E matrix of zeros at the beginning of each sequence. At step $t$ it is written to, and then read:
#
# $$S \leftarrow S + \beta_t\, k_t\, \big(v_t - S^\top k_t\big)^\top \qquad \text{read}_t = S^\top q_t$$
#
# $S^\top k_t$ is what the memory holds for the key so far. The rate $\beta_t$, between 0 and 1, says how much of it is replaced. Use keys and queries as they are.


# %%
def delta_memory(key, value, query, rate):
    """Return what each step reads from a memory that replaces what it held.

    Args:
        key: B×T×D.
        value: B×T×E.
        query: B×T×D.
        rate: B×T, between 0 and 1.

    Returns:
        What is read at each step, after it has written: B×T×E.

    Example:
        >>> same, value = torch.tensor([[[1.0], [1.0]]]), torch.tensor([[[6.0], [8.0]]])
        >>> delta_memory(same, value, same, torch.tensor([[1.0, 0.5]]))
        tensor([[[6.],
                 [7.]]])
    """
    ### BEGIN SOLUTION
    memory, read = key.new_zeros(len(key), key.shape[2], value.shape[2]), []  # B D E
    for t in range(key.shape[1]):
        old = key[:, t, None] @ memory  # B 1 E
        difference = rate[:, t, None, None] * (value[:, t, None] - old)  # B 1 E
        memory = memory + key[:, t, :, None] * difference
        read.append(query[:, t, None] @ memory)  # B 1 E
    return torch.cat(read, dim=1)
    ### END SOLUTION


# %%
check("20.delta_memory", delta_memory)

# %% [markdown]
# ## 20.catch_broken_attention
#
# How do you test an attention that nobody has written before? By the promises that every attention keeps. The check hands your function one after another, and says whether **order matters** there: `attend(query, key, value, mask)` takes three tensors B×2×T×4 (float32) and a mask B×1×T×T (bool), and returns contexts B×2×T×4 and weights B×2×T×T. Return `True` for one that keeps these promises, and `False` for any other:
#
# 1. The results have these shapes, and the arguments stay as they were.
# 2. No weight is below 0. A weight is 0 where the mask is False. A row sums to 1 if its mask has a True, and to 0 if not.
# 3. The contexts are `weights @ value`.
# 4. A row of a sentence and a head depends on nothing but its own query, the keys and values **that its mask lets it see** in this sentence and head, and its own row of the mask.
# 5. If `order_matters` is False: when keys, values and the mask's last axis are reordered together, the contexts stay, and the weights come in the new order.
#
# T = 1 or T = 8 shows a broken promise, with three sentences of random numbers of about 1 and a random mask for each; at both T let some row see nothing, and some row something. Rounding stays below $10^{-5}$. An attention that raises an error or gives NaN is wrong, and must not stop your test. A thousand calls may take too long.


# %%
def catch_broken_attention(attend, order_matters):
    """Tell whether an attention keeps the promises of all attentions.

    Args:
        attend: a function (query B×2×T×4, key B×2×T×4, value B×2×T×4, mask B×1×T×T) → contexts B×2×T×4, weights B×2×T×T;
            it may be wrong and may raise.
        order_matters: True if the order of the keys may have an effect.

    Returns:
        True if it is right, False if it is wrong.

    Example:
        >>> catch_broken_attention(lambda query, key, value, mask: (value, mask.float()), False)
        False
    """
    ### BEGIN SOLUTION
    draw = torch.Generator().manual_seed(0)

    def same(one, other):
        return one.shape == other.shape and torch.allclose(one, other, atol=1e-5)

    def is_right(T):
        query, key, value = torch.randn(3, 3, 2, T, 4, generator=draw)
        mask = torch.rand(3, 1, T, T, generator=draw) < 0.5
        mask[0, 0, 0], mask[1, 0, 0] = False, True  # a row that sees nothing, and one that sees all
        given = [tensor.clone() for tensor in (query, key, value, mask)]
        contexts, weights = attend(*given)
        if not all(map(torch.equal, given, (query, key, value, mask))) or weights.shape != (3, 2, T, T):
            return False
        if (weights < 0).any() or (weights.masked_fill(mask, 0.0) != 0).any():
            return False
        sums = mask.any(dim=-1).float().expand(3, 2, T)
        if not same(weights.sum(dim=-1), sums) or not same(contexts, weights @ value):
            return False
        for b, h, t in itertools.product(range(3), range(2), range(T)):
            other, seen = torch.randn(3, 3, 2, T, 4, generator=draw), mask[b, 0, t]
            other[0, b, h, t] = query[b, h, t]
            other[1, b, h, seen], other[2, b, h, seen] = key[b, h, seen], value[b, h, seen]
            now = attend(*other, mask)
            if not same(now[0][b, h, t], contexts[b, h, t]) or not same(now[1][b, h, t], weights[b, h, t]):
                return False
        if order_matters:
            return True
        order = torch.randperm(T, generator=draw)
        now = attend(query, key[:, :, order], value[:, :, order], mask[..., order])
        return same(now[0], contexts) and same(now[1], weights[..., order])

    try:
        return is_right(1) and is_right(8)
    except Exception:
        return False
    ### END SOLUTION


# %%
check("20.catch_broken_attention", catch_broken_attention)

# %% [markdown]
# ## 20.my_attention
#
# Now yours: change the score, the normaliser or the memory, or two of them. Before you write it, say which of the lesson's worlds it should win, and why.
#
# The check asks only for what any attention promises. Under a causal mask, a step sees no later one. It sees nothing of padding, for which a whole column of the mask is False. If a whole row of the mask is False, the step gets zeros. The same sequence gives the same contexts anywhere in the batch, heads have no effect on each other, queries and values do have one, and nothing is NaN. And it must not be dot-product attention, with or without another factor; a dot product with something added, such as a bias, is another score.


# %%
def my_attention(query, key, value, mask):
    """Return contexts, and weights if there are any.

    Args:
        query, key: B×H×T×D.
        value: B×H×T×E.
        mask: B×1×T×T or T×T, True where a step may be attended to.

    Returns:
        The contexts, B×H×T×E, and the weights, B×H×T×T, or None.

    Example:
        >>> ones = torch.ones(1, 1, 2, 3)
        >>> my_attention(ones, ones, ones, torch.ones(1, 1, 2, 2).tril() > 0)[0].shape
        torch.Size([1, 1, 2, 3])
    """
    ### BEGIN SOLUTION
    place = torch.arange(query.shape[2])
    near = -0.5 * ((place[:, None] - place).abs() + 1).log()  # T T
    scores = query @ key.mT / query.shape[-1] ** 0.5 + near  # B H T T
    weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1).masked_fill(~mask, 0.0)
    return weights @ value, weights
    ### END SOLUTION


# %%
check("20.my_attention", my_attention)

# %% [markdown]
# How does it do? The next cell tries the lesson's promises, and one of yours if you add it, and trains one model in each world. That takes ten seconds or more for each seed. Use five seeds before you claim anything.


# %%
def my_promise(attend):
    """Return a sentence if `attend` breaks it, else None."""


mine = compared.report(
    "mine", my_attention, seeds=1, promises=properties.PROMISES | {"my promise": my_promise}
)
print(mine)

# %% [markdown]
# ### My report
#
# Replace the dots. A page is enough.
#
# - **What I changed**, and why: …
# - **What I expected** before the first run, in once and in latest: …
# - **What came out**, with the lowest and the highest of the seeds, beside dot products: …
# - **What it gives up**: promises it breaks on purpose, time, memory: …
# - **What I tried that did not work**: …
# - **What I do not know yet**: …

# %% tags=["own-machine"]
progress()

# %% [markdown]
# Stuck on one? `hint("20.alibi_scores")` gives the next hint, and `solution("20.alibi_scores")` shows an answer after a try.
