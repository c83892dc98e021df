# %% [markdown]
# You write the positions of the first Transformer, the matrix that shifts them, and the rotation that many of today's models use in their place. Then you write a test that finds models which cannot see the order of their words. The letters: B sentences, T words of a sentence,
# D width of a vector, p a position, counted from 0, and i a pair of places, counted from 0: it consists of the places 2i and 2i + 1.

# %%
import torch

from course_utils import check, hint, progress, solution

# %% [markdown]
# ## 11.sinusoidal_positions
#
# Self-attention does not notice the order of words, so each word gets a vector that says where it stands. Vaswani et al. (2017, section 3.5) fill it with sines and cosines. Each pair of places is like the hand of a clock, and turns with a frequency of its own, the first one fastest:
#
# $$\text{position}_{p,\,2i} = \sin\!\left(\frac{p}{10000^{2i/D}}\right) \qquad \text{position}_{p,\,2i+1} = \cos\!\left(\frac{p}{10000^{2i/D}}\right)$$
#
# Return the vectors of the positions $0 … \text{length} - 1$, one per row. Sines and cosines **alternate**, as in the formula; some libraries put all sines first. The width D is always even, and length is at most 300.


# %%
def sinusoidal_positions(length, width):
    """Return a vector of sines and cosines for each position.

    Args:
        length: how many positions there are, an int from 1.
        width: D, an even int from 2.

    Returns:
        The positions, length×width.

    Example:
        >>> sinusoidal_positions(2, 4)
        tensor([[0.0000, 1.0000, 0.0000, 1.0000],
                [0.8415, 0.5403, 0.0100, 0.9999]])
    """
    ### BEGIN SOLUTION
    column = torch.arange(width)  # D
    even = column - column % 2  # D: 2i, for both columns of a pair
    angles = torch.arange(length)[:, None] / 10_000 ** (even / width)  # length D
    return torch.where(column == even, angles.sin(), angles.cos())
    ### END SOLUTION


# %%
check("11.sinusoidal_positions", sinusoidal_positions)

# %% [markdown]
# ## 11.shift_matrix
#
# Why sines and cosines? Vaswani et al. (2017) hoped that a model would easily learn to look a fixed number of places back or ahead, since the position $p + k$ is a **linear function** of the position $p$: there is a matrix $M_k$ that does not depend on $p$, with
#
# $$\text{position}_{p+k} = M_k\; \text{position}_p \quad \text{for every } p$$
#
# Return this matrix for the positions of `11.sinusoidal_positions`, where sines and cosines alternate and the base is 10,000. `offset` is k, a whole number from 0 to 100. Compute it from the width and the offset alone. Solving equations for it would not do: slow pairs hardly differ between neighbouring positions, so rounding would leave much of the matrix undetermined.


# %%
def shift_matrix(width, offset):
    """Return the matrix that takes each position to the one `offset` places further on.

    Args:
        width: D, an even int from 2.
        offset: k, an int from 0.

    Returns:
        M with positions[p + offset] = M @ positions[p] for every p, width×width.

    Example:
        >>> shift_matrix(2, 1)
        tensor([[ 0.5403,  0.8415],
                [-0.8415,  0.5403]])
    """
    ### BEGIN SOLUTION
    angles = offset / 10_000 ** (2 * torch.arange(width // 2) / width)  # D/2
    sin, cos = angles.sin(), angles.cos()
    blocks = torch.stack([cos, sin, -sin, cos], dim=-1).unflatten(-1, (2, 2))  # D/2 2 2
    return torch.block_diag(*blocks)
    ### END SOLUTION


# %%
check("11.shift_matrix", shift_matrix)

# %% [markdown]
# ## 11.rotate
#
# In place of adding a vector, Su et al. (2021) turn queries and keys, and many large language models of today do the same. Each pair $(a, b)$ of neighbouring places, 2i and 2i + 1, is turned by an angle that grows with the position of the word:
#
# $$(a, b) \;\to\; (a \cos\varphi - b \sin\varphi,\; a \sin\varphi + b \cos\varphi) \qquad \varphi = (\text{start} + t) \cdot 10000^{-2i/D}$$
#
# If both a query and a key are turned, their dot product depends on how far apart they are, and no longer on where they stand. Return all vectors of `x`, turned. The word t of each sentence stands at the position start + t: a model that writes word by word turns each new word by itself, and `start` says how many came before it.
#
# Some code pairs the places i and i + D/2 instead. Here a pair consists of **neighbours**. D is always even, and start + T is at most 300.


# %%
def rotate(x, start):
    """Turn each pair of places of each word by an angle that grows with its position.

    Args:
        x: B×T×D, queries or keys, with an even D.
        start: the position of the first word, an int from 0.

    Returns:
        The turned vectors, B×T×D.

    Example:
        >>> rotate(torch.tensor([[[1.0, 0.0], [1.0, 0.0]]]), 1)
        tensor([[[ 0.5403,  0.8415],
                 [-0.4161,  0.9093]]])
    """
    ### BEGIN SOLUTION
    T, D = x.shape[1:]
    positions = start + torch.arange(T, dtype=x.dtype)  # T
    angles = positions[:, None] / 10_000 ** (torch.arange(0, D, 2, dtype=x.dtype) / D)  # T D/2
    sin, cos = angles.sin(), angles.cos()
    a, b = x[..., 0::2], x[..., 1::2]  # B T D/2 each
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(2)  # B T D
    ### END SOLUTION


# %%
check("11.rotate", rotate)

# %% [markdown]
# ## Who is blind to order?
#
# A model without positions may still learn something, so nobody notices what is missing: no error is raised, and the loss falls. And a model with positions may lose them on its way, for example where a mean is taken too early. So we test for it.

# %% [markdown]
# ## 11.catch_order_blind
#
# The check hands your function one **model** after another. Each takes rows T×4, float32, for any T from 1, and returns **one vector** of 4 numbers for the whole sequence. Return `True` if the model sees the order of the rows, and `False` if it is blind:
#
# 1. A blind model returns the same vector for every order of the rows, up to rounding, which stays below $10^{-5}$.
# 2. A model that sees the order returns another vector for many orders, though not for all: it may not notice that the rows are reversed, or that two of them have changed places.
# 3. It may see the order in short sequences only, or in long ones only.
#
# T = 5 or T = 12 shows it: there at least half of all orders of random rows move some number by more than $10^{-4}$. No model raises an error, and no gradient passes through.


# %%
def catch_order_blind(model):
    """Tell whether a model sees the order of its rows.

    Args:
        model: a function (x T×4) → 4.

    Returns:
        True if some reordering of the rows changes the output, False if the model is blind to their order.

    Example:
        >>> catch_order_blind(lambda x: x.mean(0))
        False
        >>> catch_order_blind(lambda x: x[-1])
        True
    """
    ### BEGIN SOLUTION
    draw = torch.Generator().manual_seed(0)
    verdicts = []
    for T in (5, 12):
        x = torch.randn(T, 4, generator=draw)
        before = model(x)
        for _ in range(6):
            after = model(x[torch.randperm(T, generator=draw)])
            verdicts.append(not torch.allclose(after, before, atol=1e-5))
    return any(verdicts)
    ### END SOLUTION


# %%
check("11.catch_order_blind", catch_order_blind)

# %% tags=["own-machine"]
progress()

# %% [markdown]
# Stuck on one? `hint("11.rotate")` gives the next hint, and `solution("11.rotate")` shows an answer after a try.
#
# Next, lesson 12: the whole Transformer, built from what the last three lessons have made.
