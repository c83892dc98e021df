# %% [markdown]
# You will build clocks for measurements, write the matrix that lets a head look back, and rotate pairs as many language models do. Then you will write two tests: one finds scores that depend only on distance, and the other finds models that ignore word order. B is the number of sentences, T the number of words in a sentence and D the dimension of a vector; p is a position and i a pair of dimensions, both counted from 0.

# %%
import torch

from course_utils import check, hint, progress, solution

# %% [markdown]
# ## 11.sinusoidal_positions
#
# Words are at positions 0, 1, 2 and so on, whereas a sensor may report at times such as 0.25 or 86,400 seconds. Give each time a vector of clocks, as the lesson does for each position. Here, however, the clocks are specified by their **periods**, the time that each full turn takes:
#
# 1. The period of the first hand is `shortest`, and the period of the last hand is `longest`.
# 2. From each hand to the next, the period grows by the same *factor*.
# 3. The vector contains a sine and then a cosine for each hand: at time 0 it is 0, 1, 0, 1, and so on.
#
# The width D is even and at least 4, so there are at least two hands.


# %%
def sinusoidal_positions(times, width, shortest, longest):
    """Return a vector of sines and cosines for each time, sine and cosine in turn.

    Args:
        times: N, numbers of 0 or more, in any order.
        width: D, an even int of 4 or more.
        shortest: the period of the first hand, a number above 0.
        longest: the period of the last hand, a larger number.

    Returns:
        The vectors, N×width.

    Example:
        >>> sinusoidal_positions(torch.tensor([0.0, 1.0]), 4, 12.0, 36.0)
        tensor([[0.0000, 1.0000, 0.0000, 1.0000],
                [0.5000, 0.8660, 0.1736, 0.9848]])
    """
    ### BEGIN SOLUTION
    hands = torch.arange(width // 2)  # D/2
    periods = shortest * (longest / shortest) ** (hands / (width // 2 - 1))  # D/2
    angles = 2 * torch.pi * times[:, None] / periods  # N D/2
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)  # N D
    ### END SOLUTION


# %%
check("11.sinusoidal_positions", sinusoidal_positions)

# %% [markdown]
# ## 11.shift_matrix
#
# The lesson's hand-built head used only positions. Each row of x, T×(words + width), now begins with the entries of a word, followed by its sinusoidal position, as in the lesson (base 10,000). The keys are the position vectors $P$. Write the query matrix $W^Q$ of a head that looks `back` words back, whatever the words are:
#
# 1. The scores $x W^Q P^\top$ do not depend on the words.
# 2. The query at position $p$ is the position vector of $p - \text{back}$ times a number, so the score is largest for the word at $p - \text{back}$.
# 3. The score of that word is `peak`.
#
# `words` is an int of 0 or more, and `back` an int from 0 to 100. Compute the matrix from these numbers. Solving for the whole matrix at once would not work: slow pairs hardly differ between neighbours, so rounding would leave much of the matrix undetermined.


# %%
def shift_matrix(words, width, back, peak):
    """Return the query matrix of a head that looks `back` words back.

    Args:
        words: how many entries of a row belong to the word, an int of 0 or more.
        width: D, how many entries belong to its position, an even int of 2 or more.
        back: how many words the head looks back, an int of 0 or more.
        peak: the score of the word that it looks at, a number above 0.

    Returns:
        W^Q, (words + width)×width.

    Example:
        >>> shift_matrix(1, 2, 1, 1.0)
        tensor([[ 0.0000,  0.0000],
                [ 0.5403,  0.8415],
                [-0.8415,  0.5403]])
    """
    ### BEGIN SOLUTION
    angles = back / 10_000 ** (2 * torch.arange(width // 2) / width)  # D/2
    sin, cos = angles.sin(), angles.cos()
    blocks = torch.stack([cos, sin, -sin, cos], dim=-1).unflatten(-1, (2, 2))  # D/2 2 2
    turned = torch.block_diag(*blocks) * peak / (width / 2)  # D D; the product of a position with itself is D/2
    return torch.cat([torch.zeros(words, width), turned])
    ### END SOLUTION


# %%
check("11.shift_matrix", shift_matrix)

# %% [markdown]
# ## 11.rotate
#
# The lesson's `turn` pairs neighbouring dimensions, as Su et al. (2021) do. The code of many language models, including GPT-NeoX, pairs dimension $i$ with dimension $i + D/2$ instead. In both versions, scores depend on positions only through distances, but trained weights, left unchanged, work only with the version used in training. Write the second version:
#
# $$(a, b) \;\to\; (a \cos\varphi - b \sin\varphi,\; a \sin\varphi + b \cos\varphi) \qquad \varphi = (\text{start} + t) \cdot 10000^{-2i/D}$$
#
# Here $a$ is dimension $i$ and $b$ is dimension $i + D/2$ of word $t$, for each $i$ from 0 to $D/2 - 1$, and both stay in their dimensions. `start` is the number of words that come before these in every sentence of the batch. D is even, and start + T is at most 300.


# %%
def rotate(x, start):
    """Rotate each pair of dimensions, i and i + D/2, of each word by an angle that grows with the word's position.

    Args:
        x: B×T×D, queries or keys, with an even D.
        start: the position of the first word, an int of 0 or more.

    Returns:
        The rotated vectors, B×T×D.

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
# Which scores still make sense in a text longer than any in training? Perhaps scores that depend only on the *distance* between query and key. The check passes functions `score(query, key, p, s)` to yours; they take two vectors with 4 entries each and their positions. Return `True` if a function keeps this promise:
#
# 1. Moving both positions by the same amount leaves the score unchanged, up to rounding (below $10^{-4}$), for every query, key, p and s.
#
# Positions are ints from 0 to 1,000, but only those below 64 occurred in training. A function may keep the promise only for trained positions, or only for some shifts or vectors. If a function breaks the promise, then with random vectors and positions at least one move in ten changes the score by more than $10^{-3}$.


# %%
def relative_only(score):
    """Tell whether a score depends only on the distance between query and key.

    Args:
        score: a function (query 4, key 4, p, s) → number, for the positions p of the query and s of the key.

    Returns:
        True if the score stays the same whenever both positions move by the same amount, False if not.

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
# ## Which models are blind to order?
#
# A model without positions may still learn something: no error is raised and the loss falls, so nobody notices what is missing. A model with positions may lose the order along the way, for example if a mean is taken too early. That is why we test for it.

# %% [markdown]
# ## 11.catch_order_blind
#
# The check passes your function **models**, which map rows T×4, float32, T ≥ 1, to **one vector** with 4 entries. Return `True` if a model sees the order of its rows and `False` if it is blind:
#
# 1. A blind model returns the same vector for every order of the rows, up to rounding below $10^{-5}$.
# 2. A model that sees the order returns a different vector for many orders, though perhaps not when two rows are swapped or all are reversed, and perhaps only in short or only in long sequences.
#
# If a model sees the order, then at T = 5 or T = 12, at least half of all orders of random rows change some entry by more than $10^{-4}$. No model raises an error, and gradients do not flow through them.


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
            verdicts.append(not torch.allclose(after, before, rtol=0, atol=1e-5))
    return any(verdicts)
    ### END SOLUTION


# %%
check("11.catch_order_blind", catch_order_blind)

# %% tags=["own-machine"]
progress()

# %% [markdown]
# Stuck on one? `hint("11.rotate")` gives the next hint, and `solution("11.rotate")` shows a solution after a try.
#
# Next, lesson 12: the whole Transformer, built from the parts of the last three lessons.
