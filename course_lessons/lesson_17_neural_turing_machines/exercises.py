# %% [markdown]
# You calculate how much of a vector comes back from a memory, repair a write, put a head together and write a program for two heads by hand. Then you build two parts of a differentiable neural computer. At the end, you train a machine that uses your own write.
#
# Shape letters: B memories in a batch, N positions in a memory, W width of a position, R read heads. **Positions are counted from 0.** The equations are from Graves et al. (2014) and, from 17.dnc_write on, from Graves et al. (2016). They are written for one memory of the batch.

# %%
import torch
import torch.nn.functional as F

from course_utils import check, hint, predict, progress, reveal, solution
from course_utils.data.sequences import GIVEN, WANTED, copy
from course_utils.figures.tables import table
from course_utils.learner.train_answers import train_own
from course_utils.models import turing

# %% [markdown]
# ## 17.read_back
#
# A machine writes a vector to its memory and reads it later. How much of the vector does it get back?
#
# At first, the memory of $N$ positions contains only zeros. One head writes the add vector $a$ with weights $w_\text{write}$, and then another head reads with weights $w_\text{read}$. Each head's weights sum to 1. What is read is always $c\, a$, where $c$ is a number that does not depend on $a$. Return $c$.
#
# Work it out on paper first. Suppose both heads' weights are (0.5, 0.5, 0). After the write, positions 0 and 1 each contain half of $a$. The read head takes half of each, which is a quarter of $a$ twice. Therefore $c$ is 0.5: half of the vector comes back.


# %%
def read_back(write_weights, read_weights):
    """Return how much of a vector comes back after it is written to an empty memory and then read.

    Args:
        write_weights: N, of the write head.
        read_weights: N, of the read head.

    Returns:
        c, one number.

    Example:
        >>> read_back(torch.tensor([0.5, 0.5, 0.0]), torch.tensor([0.5, 0.5, 0.0]))
        tensor(0.5000)
    """
    ### BEGIN SOLUTION
    return (write_weights * read_weights).sum()
    ### END SOLUTION


# %%
check("17.read_back", read_back)

# %% [markdown]
# Suppose both heads have the same weights, as in the example. When does the whole vector come back?
#
# <details><summary>Answer</summary>
#
# The whole vector comes back only if one position has all of the weight. If the weights are spread evenly over four positions, only a quarter comes back, although both heads are at the same positions. Sharpening helps if the weights above 0 differ, because the largest one then grows.
#
# </details>

# %% [markdown]
# ## Two heads on paper
#
# This takes five minutes and needs no code. A machine may have two heads that write at the same step. Suppose a position contains (4, 8).
#
# - Head A has a weight of 0.5 there, an erase vector of (1, 0) and an add vector of (2, 2).
# - Head B has a weight of 1 there, an erase vector of (0, 1) and an add vector of (1, 1).
#
# What does the position contain if A erases and adds first, and then B? What if B goes first? And what if both erase first and then both add?
#
# <details><summary>Answer</summary>
#
# If A goes first, it leaves (3, 9), which B turns into (4, 1). If B goes first, it leaves (5, 1), which A turns into (3.5, 2). The order therefore matters.
#
# If both erase first, (2, 0) is left, and adding then gives (4, 2). In this case, the order of the two heads does not matter, because products and sums can be computed in any order. The paper does it this way.
#
# </details>

# %% [markdown]
# ## 17.write
#
# Fix this write:
#
# ```python
# memory += weights[:, :, None] * add[:, None]
# memory *= (1 - weights[:, :, None]) * erase[:, None]
# return memory
# ```
#
# A single call raises no error, but the code has four symptoms:
#
# 1. Where the entries of `erase` are 0, nothing is left of the memory.
# 2. Positions with a weight of 0 are unchanged only where `erase` is 1.
# 3. Part of what a write adds is erased immediately.
# 4. If the memories of several steps are stored in a list, they all end up the same, and `backward` raises an error if a step has read the memory before the next write.
#
# Which part of the code causes which symptom? Return the new memory as in the lesson, and leave the old one unchanged.


# %%
def write(memory, weights, erase, add):
    """Return the memory after a head has erased and added.

    Args:
        memory: B×N×W, which is left unchanged.
        weights: B×N.
        erase: B×W, entries from 0 to 1.
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
# ## 17.head
#
# The lesson's head shifts by -1, 0 or +1, but the paper allows any range. Write a head whose kernel has K entries, where K is odd. The middle entry is for a shift of 0, and the last one for a shift of K // 2 positions forward. The four steps are the lesson's (equations 5 to 9):
#
# $$w_c = \text{softmax}(\beta \cos(k, M(i))) \qquad w_g = g\, w_c + (1 - g)\, w_\text{before} \qquad \tilde w(i) = \sum_j w_g(j)\, s(i - j) \qquad w(i) = \tilde w(i)^\gamma \big/ \textstyle\sum_j \tilde w(j)^\gamma$$
#
# The positions form a circle. If two shifts lead to the same position, their weights are added.


# %%
def head(memory, previous, key, strength, gate, kernel, gamma):
    """Return where a head goes.

    Args:
        memory: B×N×W, no position of which is a zero vector.
        previous: B×N, the head's weights after the previous step.
        key: B×W, not zero.
        strength: B, numbers above 0.
        gate: B, from 0 to 1; 1 uses only the weights by content.
        kernel: B×K, rows that sum to 1, for the shifts -(K // 2) to K // 2.
        gamma: B, from 1 to 10.

    Returns:
        The weights, B×N.

    Example:
        >>> one, kernel = torch.ones(1), torch.tensor([[0.0, 0.0, 0.1, 0.2, 0.7]])
        >>> head(torch.ones(1, 5, 2), torch.eye(5)[:1], torch.ones(1, 2), one, 0 * one, kernel, one)
        tensor([[0.1000, 0.2000, 0.7000, 0.0000, 0.0000]])
    """
    ### BEGIN SOLUTION
    cosine = F.cosine_similarity(memory, key[:, None], dim=-1)  # B N
    content = torch.softmax(strength[:, None] * cosine, dim=-1)  # B N
    mixed = gate[:, None] * content + (1 - gate[:, None]) * previous  # B N
    half = kernel.shape[1] // 2
    moved = sum(column[:, None] * mixed.roll(i - half, dims=1) for i, column in enumerate(kernel.unbind(1)))
    powers = moved ** gamma[:, None]  # B N
    return powers / powers.sum(dim=-1, keepdim=True)
    ### END SOLUTION


# %%
check("17.head", head)

# %% [markdown]
# ## 17.backwards
#
# Now you are the controller. The input consists of L vectors, a delimiter and L silent steps, so T = 2L + 1. Two heads should repeat the vectors **in reverse**, the last one first. Return the kernels that make them do so, T×2×3.
#
# Both heads begin at position 0. Their gates are 0, so only the kernels move them. Each kernel has a single 1 and two zeros, such as (0, 0, 1) for one position forward.
#
# At each step, both heads move first. While vectors arrive, the write head then erases everything at its position and adds the vector. During the silent steps, the output is whatever the read head finds. Decide on paper where each head has to be at which step. The memory has N ≥ L positions.


# %%
def backwards(length, places):
    """Return the kernels of two heads that repeat a sequence in reverse.

    Args:
        length: L, the number of vectors, 1 or more.
        places: N, the number of positions in the memory.

    Returns:
        Kernels, T×2×3 with T = 2L + 1: at each step the write head's, then the read head's.

    Example:
        >>> backwards(4, 20).shape
        torch.Size([9, 2, 3])
    """
    ### BEGIN SOLUTION
    shifts = torch.ones(2 * length + 1, 2, dtype=torch.long)  # both heads walk forward
    shifts[length + 1 :, 1] = -1  # the read head walks back in the silence
    return F.one_hot(shifts + 1, 3).float()  # T 2 3
    ### END SOLUTION


# %%
check("17.backwards", backwards)

# %% [markdown]
# ## Which position is free?
#
# A head that walks has a weakness: once it has gone around the circle, it overwrites what is there, whether or not this is still needed. The **differentiable neural computer** (DNC; Graves et al., 2016) looks for a free position instead. For each position, it tracks a **usage** $u$, from 0 for free to 1 for full. Writing to a position makes it fuller, and after reading it, the controller may free it.
#
# A write's weight goes to the freest position first, which is called **allocation**. Each position gets a share of the weight that is left, namely 1 minus its usage, and the next one gets its share of the rest. Suppose three positions have usages of 0.9, 0.2 and 0.5. Which weights do they get?
#
# <details><summary>Answer</summary>
#
# Position 1 is the freest and gets 1 - 0.2 = 0.8, which leaves 0.2. Position 2 gets half of this, 0.1, and position 0 gets a tenth of the remaining 0.1.
#
# </details>

# %% [markdown]
# ## 17.dnc_write
#
# Where does a differentiable neural computer write? First, the usage changes. At each position, the last write's weight $w$ fills its share of what was still free. Then each read head frees the share $f_r\, w_r$ of what is full, where $f_r$ is its free gate. Write this as an equation for the new usage $u'$.
#
# Then positions are allocated from the freest, $\phi_1$, to the fullest. An allocation gate $g_a$ mixes the allocation $a$ with weights by content, $c$, and a write gate $g_w$ determines how much is written at all (Methods):
#
# $$a[\phi_j] = (1 - u'[\phi_j]) \prod_{i<j} u'[\phi_i] \qquad w' = g_w \big(g_a\, a + (1 - g_a)\, c\big)$$
#
# Of equally free positions, the one with the smaller number comes first. The gradient flows through the usage but not through the order.


# %%
def dnc_write(usage, written, reads, free, content, allocate, enter):
    """Return how full each position is, and where the computer writes next.

    Args:
        usage: B×N, before the step, from 0 (free) to 1 (full).
        written: B×N, w, the weights of the last write.
        reads: B×R×N, w_r, the weights of each read head in the last step.
        free: B×R, f_r, the free gate of each read head; 1 frees what it has read.
        content: B×N, c, the weights by content.
        allocate: B, g_a; 1 uses only the allocation.
        enter: B, g_w; 0 writes nothing.

    Returns:
        (usage, weights): the new usage and the weights of the new write, B×N each.

    Example:
        >>> nothing, one = torch.zeros(1, 2), torch.ones(1)
        >>> dnc_write(torch.tensor([[0.5, 0.2]]), nothing, nothing[None], one[None], nothing, one, one)
        (tensor([[0.5000, 0.2000]]), tensor([[0.1000, 0.8000]]))
    """
    ### BEGIN SOLUTION
    usage = (usage + written - usage * written) * (1 - free[..., None] * reads).prod(dim=1)  # B N
    ordered, order = usage.sort(dim=1, stable=True)  # B N
    before = torch.cat([torch.ones_like(ordered[:, :1]), ordered[:, :-1]], dim=1).cumprod(dim=1)
    room = torch.zeros_like(usage).scatter(1, order, (1 - ordered) * before)  # B N
    allocate, enter = allocate[:, None], enter[:, None]  # B 1
    return usage, enter * (allocate * room + (1 - allocate) * content)
    ### END SOLUTION


# %%
check("17.dnc_write", dnc_write)

# %% [markdown]
# ## 17.link_step
#
# A memory that writes wherever there is room has to remember the order in which it wrote. For this, a DNC stores **temporal links**: $L_{ij}$ says to what extent position $i$ was written right after position $j$. The **precedence** $p_i$ says to what extent position $i$ was written last. A new write has weights $w$ (Methods, "Temporal memory linkage"):
#
# $$L'_{ij} = (1 - w_i - w_j)\, L_{ij} + w_i\, p_j, \quad L'_{ii} = 0 \qquad p' = \Big(1 - \sum_i w_i\Big)\, p + w$$
#
# An old link therefore fades if one of its two positions is overwritten. A head that has read with weights $r$ then mixes three ways: back to what was written right before, by content $c$, and on to what was written right after. Its three modes $\pi$ are the shares of these ways. Decide which product of $L'$ and $r$ leads where.


# %%
def link_step(link, precedence, weights, at, content, modes):
    """Return the new links and precedence, and where a head that may follow the links reads.

    Args:
        link: B×N×N, before the step.
        precedence: B×N, before the step.
        weights: B×N, w, of the new write; they sum to 1 at most.
        at: B×N, r, where the head read in the last step.
        content: B×N, c.
        modes: B×3, π, the shares of backward, by content and forward; rows sum to 1.

    Returns:
        (link, precedence, at) after the step: B×N×N, B×N and B×N.

    Example:
        >>> first, second = torch.eye(2).split(1)
        >>> modes = torch.tensor([[0.0, 0.0, 1.0]])  # forward
        >>> link_step(torch.zeros(1, 2, 2), first, second, first, first, modes)
        (tensor([[[0., 0.],
                 [1., 0.]]]), tensor([[0., 1.]]), tensor([[0., 1.]]))
    """
    ### BEGIN SOLUTION
    row, column = weights[:, :, None], weights[:, None, :]
    link = (1 - row - column) * link + row * precedence[:, None, :]  # B N N
    link = link.masked_fill(torch.eye(link.shape[1], dtype=torch.bool), 0.0)
    precedence = (1 - weights.sum(dim=1, keepdim=True)) * precedence + weights
    forward = torch.einsum("bij,bj->bi", link, at)  # B N
    backward = torch.einsum("bij,bi->bj", link, at)  # B N
    ways = torch.stack([backward, content, forward], dim=1)  # B 3 N
    return link, precedence, (modes[:, :, None] * ways).sum(dim=1)
    ### END SOLUTION


# %%
check("17.link_step", link_step)

# %% [markdown]
# ## 17.catch_wrong_write
#
# This task is optional. A machine with a faulty write may still learn, and then its loss does not show the mistake. The check calls your function with **candidates**: `candidate(memory, weights, erase, add)`. Return `True` for one that keeps these promises and `False` otherwise:
#
# 1. It returns the new memory, as given by the equations of `17.write`.
# 2. Each row of the batch uses its own weights, erase and add.
# 3. All of this holds for weights and `erase` from 0 to 1, including weights that sum to less than 1, and for numbers of any sign in `memory` and `add`.
# 4. It leaves the `memory` that it is given unchanged.
#
# Use float32 and different values above 1 for B, N and W. Rounding stays below $10^{-5}$. A candidate that raises an error is incorrect.


# %%
def catch_wrong_write(candidate):
    """Tell whether a candidate writes to a memory as 17.write asks.

    Args:
        candidate: a function (memory B×N×W, weights B×N, erase B×W, add B×W) → B×N×W, which may be incorrect and may raise.

    Returns:
        True if it is correct, False if it is not.

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

# %% [markdown]
# ## Your own write in a machine
#
# Two machines of the lesson's size learn to copy 1 to 5 vectors. One of them uses your `write`, the other the two lines that you fixed. Here, these two lines do not change the old memory, so that training raises no error.
#
# What share of the bits will be wrong when the second machine copies ten vectors? Guessing gets half of them wrong.

# %%
predict("17.own", ...)


# %% tags=["own-machine"]
def as_given(memory, weights, erase, add):
    memory = memory + weights[:, :, None] * add[:, None]
    return memory * ((1 - weights[:, :, None]) * erase[:, None])


def trained(write, seed=3):
    torch.manual_seed(seed)
    machine = turing.Machine(GIVEN, WANTED, places=32, width=16, write=write)
    turing.fit(machine, lambda draw: copy(draw, 16, 1, 5), seed, steps=600, rate=0.02, warmup=20)
    draw = torch.Generator().manual_seed(1)
    return [turing.wrong_bits(machine, copy(draw, 50, n, n)) for n in (3, 5, 10)]


def train(write):
    wrong = {"your write": trained(write), "before fixing": trained(as_given)}
    reveal("17.own", round(wrong["before fixing"][-1], 2))
    return table(wrong, ["3 vectors", "5 vectors", "10 vectors"], corner="share of wrong bits", digits=2)


train_own(train, {"17.write": write})

# %% [markdown]
# Does your write make the difference? If both machines fail, you cannot tell, because [not every seed learns to copy](../docs/measurements.md#what-memories-can-do). In that case, try a different seed in `trained`.

# %% tags=["own-machine"]
progress()

# %% [markdown]
# Stuck on one? `hint("17.write")` gives the next hint, and `solution("17.write")` shows a solution after a try.
#
# Next, in lesson 18, attention chooses among several networks.
