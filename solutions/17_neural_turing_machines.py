# %% [markdown]
# You write the parts of a machine that has a memory beside its network: where a head goes, what it reads, what it erases and adds, and how it keeps track of its places. At the end you write a test that tells right writes from wrong ones. The letters:
# B rows of the batch, each with a memory of its own, N places of a memory, W numbers in each place, R heads that read. **Places are counted from 0.** The equations are those of Graves et al. (2014) and, from 17.usage on, of Graves et al. (2016). They are written for one row of the batch.

# %%
import torch
import torch.nn.functional as F

from course_utils import check, hint, progress, solution

# %% [markdown]
# ## 17.content_weights
#
# A head that looks for something gives out a **key**, the vector $k$ it is looking for, and a **strength** $\beta$, a number above 0. Each place $M(i)$ of the memory is compared with the key by the cosine $K$, as in lesson 04, and a softmax over the places turns the products into weights (equations 5 and 6):
#
# $$w^c(i) = \frac{\exp\big(\beta\, K[k, M(i)]\big)}{\sum_j \exp\big(\beta\, K[k, M(j)]\big)} \qquad K[u, v] = \frac{u \cdot v}{\lVert u\rVert\, \lVert v\rVert}$$
#
# A vector of zeros has no direction: let its cosine be 0. (Gradients are not checked where a vector is zero.) Strengths may be as large as some hundreds.


# %%
def content_weights(memory, key, strength):
    """Return the weights of the places, by their likeness to the key.

    Args:
        memory: B×N×W.
        key: B×W.
        strength: B, numbers above 0.

    Returns:
        The weights, B×N.

    Example:
        >>> memory = torch.tensor([[[0.0, 2.0], [3.0, 0.0]]])
        >>> content_weights(memory, torch.tensor([[0.0, 5.0]]), torch.tensor([1.0986]))
        tensor([[0.7500, 0.2500]])
    """
    ### BEGIN SOLUTION
    cosine = F.cosine_similarity(memory, key[:, None], dim=-1)  # B N
    return torch.softmax(strength[:, None] * cosine, dim=-1)
    ### END SOLUTION


# %%
check("17.content_weights", content_weights)

# %% [markdown]
# ## 17.interpolate
#
# A head can also stay where it is, or go on from there, whatever the memory holds. A **gate** $g$ between 0 and 1 mixes the weights by content with those of the step before (equation 7):
#
# $$w^g_t = g_t\, w^c_t + (1 - g_t)\, w_{t-1}$$
#
# A gate of 1 gives the weights by content. `previous` may be all zeros, as before the first step: return what the equation gives, even if it does not sum to 1.


# %%
def interpolate(content, previous, gate):
    """Return a mix of the weights by content and the previous weights.

    Args:
        content: B×N.
        previous: B×N, the weights of the same head after the step before.
        gate: B, numbers from 0 to 1.

    Returns:
        The weights, B×N.

    Example:
        >>> interpolate(torch.tensor([[0.8, 0.2]]), torch.tensor([[0.1, 0.9]]), torch.tensor([0.75]))
        tensor([[0.6250, 0.3750]])
    """
    ### BEGIN SOLUTION
    gate = gate[:, None]  # B 1
    return gate * content + (1 - gate) * previous
    ### END SOLUTION


# %%
check("17.interpolate", interpolate)

# %% [markdown]
# ## 17.shift
#
# Now the head may move. A **kernel** $s$ of three numbers says how much of the weights goes one place back, how much stays, and how much goes one place forward: `kernel[:, 0]` is $s(-1)$, `kernel[:, 1]` is $s(0)$ and `kernel[:, 2]` is $s(+1)$. What goes forward moves from place $i$ to place $i + 1$. The places form a circle: after the last one comes the first (equation 8, where $j$ runs over all places and $i - j$ counts around the circle):
#
# $$\tilde w(i) = \sum_{j} w^g(j)\, s(i - j)$$
#
# A kernel sums to 1. With one or two places some shifts lead to the same place, which then gets the sum of their parts.


# %%
def shift(weights, kernel):
    """Return the weights, moved around the circle of places as the kernel says.

    Args:
        weights: B×N.
        kernel: B×3, for the shifts −1, 0 and +1.

    Returns:
        The shifted weights, B×N.

    Example:
        >>> shift(torch.tensor([[0.7, 0.2, 0.1]]), torch.tensor([[0.0, 0.0, 1.0]]))
        tensor([[0.1000, 0.7000, 0.2000]])
    """
    ### BEGIN SOLUTION
    back, stay, forward = kernel[:, :, None].unbind(dim=1)  # B 1 each
    moved_back, moved_forward = weights.roll(-1, dims=1), weights.roll(1, dims=1)  # B N each
    return back * moved_back + stay * weights + forward * moved_forward
    ### END SOLUTION


# %%
check("17.shift", shift)

# %% [markdown]
# ## 17.sharpen
#
# A shift with a kernel such as [0.1, 0.8, 0.1] spreads the weights a little at every step, and after many steps the head is everywhere. So it ends with a power $\gamma$ that draws them together again (equation 9):
#
# $$w(i) = \frac{\tilde w(i)^{\gamma}}{\sum_j \tilde w(j)^{\gamma}}$$
#
# Each row of `weights` sums to 1, and some of its numbers may be 0. The gradient has to be finite there, too. (At a `gamma` of exactly 1, gradients are not checked.) Add nothing to the sum that you divide by: it is never 0, but with 200 places and a `gamma` of 10 it may be as small as $10^{-21}$.


# %%
def sharpen(weights, gamma):
    """Return the weights to the power of gamma, divided by their sum.

    Args:
        weights: B×N, rows that sum to 1.
        gamma: B, numbers from 1 to 10.

    Returns:
        The sharpened weights, B×N.

    Example:
        >>> sharpen(torch.tensor([[0.5, 0.25, 0.25]]), torch.tensor([2.0]))
        tensor([[0.6667, 0.1667, 0.1667]])
    """
    ### BEGIN SOLUTION
    powers = weights ** gamma[:, None]  # B N
    return powers / powers.sum(dim=-1, keepdim=True)
    ### END SOLUTION


# %%
check("17.sharpen", sharpen)

# %% [markdown]
# ## 17.read
#
# With its weights a head **reads**: what it gets is the weighted sum of the places (equation 2). The weights of a row may sum to less than 1. The equation holds then as well.
#
# $$r = \sum_i w(i)\, M(i)$$


# %%
def read(memory, weights):
    """Return what a head reads from a memory.

    Args:
        memory: B×N×W.
        weights: B×N.

    Returns:
        What is read, B×W.

    Example:
        >>> read(torch.tensor([[[1.0, 2.0], [3.0, 0.0]]]), torch.tensor([[0.75, 0.25]]))
        tensor([[1.5000, 1.5000]])
    """
    ### BEGIN SOLUTION
    weighed = weights[:, :, None] * memory  # B N W
    return weighed.sum(dim=1)
    ### END SOLUTION


# %%
check("17.read", read)

# %% [markdown]
# ## 17.write
#
# And with its weights a head **writes**, in two parts. First it erases: the vector $e$, with numbers between 0 and 1, says which numbers of a place are to go. Then it adds the vector $a$. Both happen at all places, at each as much as its weight says (equations 3 and 4, where products of vectors are taken number by number):
#
# $$\tilde M(i) = M(i)\,\big[1 - w(i)\, e\big] \qquad M^{\text{new}}(i) = \tilde M(i) + w(i)\, a$$
#
# Return the new memory, and leave the old one as it is.


# %%
def write(memory, weights, erase, add):
    """Return the memory after a head has erased and added.

    Args:
        memory: B×N×W, which stays as it is.
        weights: B×N.
        erase: B×W, numbers from 0 to 1.
        add: B×W.

    Returns:
        The new memory, B×N×W.

    Example:
        >>> memory, weights = torch.tensor([[[4.0, 2.0], [6.0, 8.0]]]), torch.tensor([[0.5, 0.0]])
        >>> write(memory, weights, torch.tensor([[1.0, 0.0]]), torch.tensor([[2.0, -4.0]]))
        tensor([[[3., 0.],
                 [6., 8.]]])
    """
    ### BEGIN SOLUTION
    weights = weights[:, :, None]  # B N 1
    kept = memory * (1 - weights * erase[:, None])  # B N W
    return kept + weights * add[:, None]
    ### END SOLUTION


# %%
check("17.write", write)

# %% [markdown]
# ## 17.usage
#
# The differentiable neural computer (Graves et al. 2016) keeps a **usage** for each place of its memory, from 0 for a free place to 1 for a full one. Two things change it (Methods, "Dynamic memory allocation"). A write fills a share of what was free. Then each read head may let go of what it has read: its **free gate** $f_r$ says how much of it is no longer needed.
#
# $$u' = (u + w - u \circ w) \circ \prod_{r=1}^{R} (1 - f_r\, w_r)$$
#
# $u$ is `usage`, $w$ is `write`, the weights of the last write; $w_r$ is row $r$ of `reads`, the weights of head $r$ in the step before, and $f_r$ its gate in `free`, one number for the whole head. The product $\circ$ is taken place by place, and so is the product over the heads. All numbers lie between 0 and 1.


# %%
def usage(usage, write, reads, free):
    """Return how full each place is after a write, and after the read heads have let go of what they have read.

    Args:
        usage: B×N, before the step, from 0 (free) to 1 (full).
        write: B×N, the weights of the write.
        reads: B×R×N, the weights of each read head.
        free: B×R, the gate of each read head; 1 lets go of all that the head has read.

    Returns:
        The new usage, B×N.

    Example:
        >>> usage_before, write = torch.tensor([[0.5, 1.0]]), torch.tensor([[0.5, 0.0]])
        >>> usage(usage_before, write, torch.tensor([[[0.0, 0.5]]]), torch.tensor([[1.0]]))
        tensor([[0.7500, 0.5000]])
    """
    ### BEGIN SOLUTION
    written = usage + write - usage * write  # B N
    kept = (1 - free[..., None] * reads).prod(dim=1)  # B N
    return written * kept
    ### END SOLUTION


# %%
check("17.usage", usage)

# %% [markdown]
# ## 17.allocation
#
# Where should something new be written? A neural Turing machine has no way to look for a free place. The 2016 machine goes through its places from the freest to the fullest and gives away a weight of 1: each place takes a share of what is left, 1 minus its usage, and leaves the rest to the next (Methods, equation 1). With $\phi_1, \phi_2, \dots$ the places in the order of their usage, smallest first,
#
# $$a_{\phi_j} = (1 - u_{\phi_j}) \prod_{i=1}^{j-1} u_{\phi_i}$$
#
# The product over no places, for the freest one, is 1. Of equally free places, the first one comes first. The result is in the order of the memory: number $n$ of a row is the weight of place $n$. In a full memory all weights are 0. The gradient flows through the usage, and takes the order as given.


# %%
def allocation(usage):
    """Return weights for a write, which go to the freest places first.

    Args:
        usage: B×N, from 0 (free) to 1 (full).

    Returns:
        The weights, B×N. Each row sums to 1 at most.

    Example:
        >>> allocation(torch.tensor([[0.5, 0.25, 1.0]]))
        tensor([[0.1250, 0.7500, 0.0000]])
    """
    ### BEGIN SOLUTION
    ordered, order = usage.sort(dim=1, stable=True)  # B N
    before = torch.cat([torch.ones_like(ordered[:, :1]), ordered[:, :-1]], dim=1).cumprod(dim=1)
    return torch.zeros_like(usage).scatter(1, order, (1 - ordered) * before)
    ### END SOLUTION


# %%
check("17.allocation", allocation)

# %% [markdown]
# ## 17.temporal_link
#
# A memory that puts things wherever there is room has to remember in which order it wrote them. The **link** does this: $L_{ij}$ says to what degree place $i$ was written directly after place $j$. The **precedence** $p_j$ says to what degree place $j$ is the one that was written last. With the weights $w$ of a new write (Methods, "Temporal memory linkage"):
#
# $$L'_{ij} = (1 - w_i - w_j)\, L_{ij} + w_i\, p_j \qquad L'_{ii} = 0$$
#
# $$p' = \Big(1 - \sum_n w_n\Big)\, p + w$$
#
# The link is made with $p$, the precedence before the step. The diagonal of the new link is 0, whatever stood there before. Return both, the link first.


# %%
def temporal_link(link, precedence, weights):
    """Return what was written after what, and where the last write went, after one more write.

    Args:
        link: B×N×N, before the step; row i, column j: to what degree place i was written directly after place j.
        precedence: B×N, before the step.
        weights: B×N, of the write; they sum to 1 at most.

    Returns:
        (link, precedence) after the step: B×N×N and B×N.

    Example:
        >>> precedence, weights = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])
        >>> temporal_link(torch.zeros(1, 2, 2), precedence, weights)  # place 1 is written after place 0
        (tensor([[[0., 0.],
                 [1., 0.]]]), tensor([[0., 1.]]))
    """
    ### BEGIN SOLUTION
    row, column = weights[:, :, None], weights[:, None, :]
    link = (1 - row - column) * link + row * precedence[:, None, :]  # B N N
    link = link.masked_fill(torch.eye(link.shape[1], dtype=torch.bool), 0.0)
    return link, (1 - weights.sum(dim=1, keepdim=True)) * precedence + weights
    ### END SOLUTION


# %%
check("17.temporal_link", temporal_link)

# %% [markdown]
# ## 17.follow_link
#
# With the link a head can go from what it has read to what was written next, or before (Methods, "Temporal memory linkage"). `weights` are $w$, where the head has read in the step before, and $L_{ij}$ says to what degree place $i$ was written directly after place $j$:
#
# $$\text{forward} = L\, w \qquad \text{backward} = L^\top w$$
#
# The equations are written for one row of the batch, with columns. Return both, forward first. Nothing leads on from the place that was written last, so the results may sum to less than $w$.


# %%
def follow_link(link, weights):
    """Return the weights of the places that were written directly after those that were read, and directly before.

    Args:
        link: B×N×N; row i, column j: to what degree place i was written directly after place j.
        weights: B×N, where a head has read.

    Returns:
        (forward, backward), each B×N.

    Example:
        >>> link = torch.tensor([[[0.0, 0.0], [1.0, 0.0]]])  # place 1 was written after place 0
        >>> follow_link(link, torch.tensor([[0.75, 0.25]]))
        (tensor([[0.0000, 0.7500]]), tensor([[0.2500, 0.0000]]))
    """
    ### BEGIN SOLUTION
    forward = torch.einsum("bij,bj->bi", link, weights)  # B N
    backward = torch.einsum("bij,bi->bj", link, weights)  # B N
    return forward, backward
    ### END SOLUTION


# %%
check("17.follow_link", follow_link)

# %% [markdown]
# ## 17.catch_wrong_write
#
# A machine that writes wrongly still learns something, and its loss does not show what is wrong. The check hands your function one **candidate** after another: `candidate(memory, weights, erase, add)`. Return `True` for one that keeps these promises, and `False` for any other:
#
# 1. It returns the new memory, B×N×W, as the equations of `17.write` give it.
# 2. Each row of the batch uses its own weights, erase and add.
# 3. It does so for all weights and all `erase` from 0 to 1, also where a row of weights sums to less than 1, and for numbers of any sign in `memory` and `add`.
# 4. The `memory` that it is given stays as it was.
#
# Random numbers show each mistake, in float32 and with B, N and W that differ and are above 1. Rounding stays below $10^{-5}$. A candidate that raises an error is wrong, and must not stop your test.


# %%
def catch_wrong_write(candidate):
    """Tell whether a candidate writes to a memory as 17.write asks for.

    Args:
        candidate: a function (memory B×N×W, weights B×N, erase B×W, add B×W) → B×N×W, which may be wrong and may raise.

    Returns:
        True if it is right, False if it is wrong.

    Example:
        >>> catch_wrong_write(lambda memory, weights, erase, add: memory)
        False
    """
    ### BEGIN SOLUTION
    draw = torch.Generator().manual_seed(0)
    memory, add = torch.randn(2, 5, 3, generator=draw), 2 * torch.randn(2, 3, generator=draw)
    weights, erase = torch.rand(2, 5, generator=draw) / 5, torch.rand(2, 3, generator=draw)
    expected = torch.empty(2, 5, 3)
    for b in range(2):
        for i in range(5):
            expected[b, i] = memory[b, i] * (1 - weights[b, i] * erase[b]) + weights[b, i] * add[b]
    given = memory.clone()
    try:
        came = candidate(given, weights, erase, add)
        close = came.shape == expected.shape and torch.allclose(came, expected, atol=1e-5)
    except Exception:
        return False
    return close and torch.equal(given, memory)
    ### END SOLUTION


# %%
check("17.catch_wrong_write", catch_wrong_write)

# %% tags=["own-machine"]
progress()

# %% [markdown]
# Stuck on one? `hint("17.write")` gives the next hint, and `solution("17.write")` shows an answer after a try.
