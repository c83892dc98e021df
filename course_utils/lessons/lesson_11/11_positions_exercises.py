# %% [markdown]
# You repair the positions of the first Transformer, write the matrix that shifts them, and turn pairs as many language models do. Then you write two tests: one finds scores that depend on the distance alone, the other finds models that cannot see the order of their words. The letters: B sentences, T words of a sentence,
# D width of a vector, p a position, counted from 0, and i a pair of dimensions, counted from 0.

# %%
import torch

from course_utils import check, hint, progress, solution

# %% [markdown]
# ## 11.sinusoidal_positions
#
# This version of the sinusoidal positions raises no error, and models learn with it. But it is not what Vaswani et al. (2017, section 3.5) describe:
#
# ```python
# def sinusoidal_positions(length, width):
#     column = torch.arange(width)  # D
#     angles = torch.arange(1, length + 1)[:, None] / 10_000 ** (column / width)  # length D
#     return torch.cat([angles[:, 0::2].sin(), angles[:, 1::2].cos()], dim=1)  # length D
# ```
#
# Repair it, so that the table keeps these promises:
#
# 1. The first row, position 0, is 0, 1, 0, 1, and so on.
# 2. The dimensions 2i and 2i + 1 are the sine and the cosine of the *same* angle, so their squares add up to 1.
# 3. At position 1 the angle of pair i is $10000^{-2i/D}$, and at position p it is p times as large.
#
# The width D is even, and length is at most 300.


# %%
def sinusoidal_positions(length, width):
    """Return a vector of sines and cosines for each position, sine and cosine in turn.

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
# Vaswani et al. (2017) hoped that a model would easily learn to look a fixed number of words back or ahead, since the position $p + k$ is a **linear function** of the position $p$: there is a matrix $M_k$ that does not depend on $p$, with
#
# $$\text{position}_{p+k} = M_k\; \text{position}_p \quad \text{for every } p$$
#
# Return this matrix for the positions of `11.sinusoidal_positions`, where sines and cosines alternate and the base is 10,000. `offset` is k, a whole number from 0 to 100. Compute it from the width and the offset alone. Solving equations for it would not do: slow pairs hardly differ between neighbouring positions, so rounding would leave much of the matrix undetermined.


# %%
def shift_matrix(width, offset):
    """Return the matrix that takes each position to the one that is `offset` further on.

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
# The lesson's `turn` makes pairs of neighbouring dimensions, as the paper of Su et al. (2021) does. The code of many language models, GPT-NeoX among them, pairs the dimension $i$ with the dimension $i + D/2$ instead. In both, scores depend on positions only through distances, but trained weights fit only the one that they were trained with. Write the second one:
#
# $$(a, b) \;\to\; (a \cos\varphi - b \sin\varphi,\; a \sin\varphi + b \cos\varphi) \qquad \varphi = (\text{start} + t) \cdot 10000^{-2i/D}$$
#
# Here $a$ is dimension $i$ and $b$ is dimension $i + D/2$ of word $t$, for each $i$ from 0 to $D/2 - 1$, and both stay where they were. `start` says how many words came before these, in every sentence of the batch. D is even, and start + T is at most 300.


# %%
def rotate(x, start):
    """Turn each pair of dimensions, i and i + D/2, of each word by an angle that grows with the word's position.

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
    a, b = x.chunk(2, dim=-1)  # B T D/2 each
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)  # B T D
    ### END SOLUTION


# %%
check("11.rotate", rotate)

# %% [markdown]
# ## 11.relative_only
#
# Which scores still make sense in a text that is longer than all in training? Perhaps those that depend on the *distance* of query and key alone. The check hands you functions `score(query, key, p, s)` of two vectors of 4 numbers and their positions. Return `True` if one keeps this promise:
#
# 1. Moving both positions by the same amount leaves the score as it is, up to rounding (below $10^{-4}$), for every query, key, p and s.
#
# Positions are ints from 0 to 1,000; training has seen those below 64. A function may keep the promise there, or for some shifts or vectors. With random vectors and positions, at least one move in ten breaks it by more than $10^{-3}$.


# %%
def relative_only(score):
    """Tell whether a score depends on the distance of query and key alone.

    Args:
        score: a function (query 4, key 4, p, s) → number, for the positions p of the query and s of the key.

    Returns:
        True if it stays the same whenever both positions move by the same amount, False if not.

    Example:
        >>> relative_only(lambda query, key, p, s: query @ key - abs(p - s))
        True
        >>> relative_only(lambda query, key, p, s: query @ key + p / 100)
        False
    """
    ### BEGIN SOLUTION
    draw, differences = torch.Generator().manual_seed(0), []
    for _ in range(100):
        query, key = torch.randn(2, 4, generator=draw)
        p, s, move = torch.randint(300, (3,), generator=draw).tolist()
        before, after = score(query, key, p, s), score(query, key, p + move, s + move)
        differences.append(abs(float(after) - float(before)))
    return max(differences) < 5e-4
    ### END SOLUTION


# %%
check("11.relative_only", relative_only)

# %% [markdown]
# ## Who is blind to order?
#
# A model without positions may still learn something, so nobody notices what is missing: no error is raised, and the loss falls. And a model with positions may lose them on its way, for example where a mean is taken too early. So we test for it.

# %% [markdown]
# ## 11.catch_order_blind
#
# The check hands your function **models**, which turn rows T×4, float32, T ≥ 1, into **one vector** of 4 numbers. Return `True` if the model sees the order of the rows, and `False` if it is blind:
#
# 1. A blind model returns the same vector for every order of the rows, up to rounding below $10^{-5}$.
# 2. A model that sees the order returns another vector for many orders, though perhaps not when two rows change places, or all are reversed, and perhaps in short or in long sequences only.
#
# At T = 5 or T = 12, at least half of all orders of random rows move some number by more than $10^{-4}$. No model raises an error, and no gradient passes through.


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
