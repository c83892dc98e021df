# %% [markdown]
# In the lesson, you saw the scores for one query. Here you write three of them for whole batches and rewrite the general score. Then you find out when a softmax saturates and which scores ignore the query. Finally, you can write a test that tells correct scores from incorrect ones.
#
# Here a query is called a *state* and a key a *hidden state*. The letters are as in the lesson: B sentences, T states with D entries, S hidden states with E entries, and A hidden units. In the result, each row belongs to a state and each column to a hidden state.

# %%
import math

import torch

from course_utils import check, hint, progress, solution
from course_utils.models.attention import SCORES

# %% [markdown]
# ## 04.dot
#
# Compute the dot product of each state with each hidden state in the same sentence, $\text{scores}_{bti} = s_{bt}^\top h_{bi}$. Process all sentences at once and return the scores without a softmax.


# %%
def dot(state, hidden):
    """Return the dot product of each state with each hidden state.

    Args:
        state: B×T×D.
        hidden: B×S×D.

    Returns:
        The scores, B×T×S.

    Example:
        >>> dot(torch.tensor([[[1.0, 0.0], [0.0, 2.0]]]), torch.tensor([[[2.0, 0.0], [0.0, 1.0], [3.0, 4.0]]]))
        tensor([[[2., 0., 3.],
                 [0., 2., 8.]]])
    """
    ### BEGIN SOLUTION
    return state @ hidden.mT
    ### END SOLUTION


# %%
check("04.dot", dot)

# %% [markdown]
# ## 04.content_based
#
# This score is the cosine of the angle, so it ignores the vectors' lengths. A zero vector has no direction, so its score is 0, not NaN.
#
# $$\text{scores}_{bti} = \frac{s_{bt}^\top h_{bi}}{\lVert s_{bt} \rVert \, \lVert h_{bi} \rVert}$$


# %%
def content_based(state, hidden):
    """Return the cosine between each state and each hidden state; 0 where either is a zero vector.

    Args:
        state: B×T×D.
        hidden: B×S×D.

    Returns:
        The scores, B×T×S, between -1 and 1.

    Example:
        >>> content_based(torch.tensor([[[0.0, 2.0]]]), torch.tensor([[[3.0, 4.0], [0.0, 10.0], [0.0, 0.0]]]))
        tensor([[[0.8000, 1.0000, 0.0000]]])
    """
    ### BEGIN SOLUTION
    unit = torch.nn.functional.normalize
    return unit(state, dim=-1) @ unit(hidden, dim=-1).mT
    ### END SOLUTION


# %%
check("04.content_based", content_based)

# %% [markdown]
# ## 04.two_projections
#
# The general score $s^\top W h$ can be written as a dot product of two projections, $(W_s s)^\top (W_h h)$. Given $W$, find two such matrices $W_s$ and $W_h$.
#
# There are many correct answers; choose one that is the same for every call. Both matrices have A rows, where A is your choice; their columns have to match a state and a hidden state, respectively.


# %%
def two_projections(weight):
    """Return two matrices whose projections have the dot product s·W h, for every state s and hidden state h.

    Args:
        weight: D×E, W in the equation.

    Returns:
        weight_s, A×D, and weight_h, A×E, for an A of your choice.

    Example:
        >>> weight_s, weight_h = two_projections(torch.tensor([[2.0, 0.0, 1.0], [0.0, 3.0, 1.0]]))
        >>> state, hidden = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 1.0, 1.0])
        >>> (weight_s @ state) @ (weight_h @ hidden)  # s·W h = 1·3 + 2·4
        tensor(11.)
    """
    ### BEGIN SOLUTION
    return torch.eye(len(weight), dtype=weight.dtype), weight
    ### END SOLUTION


# %%
check("04.two_projections", two_projections)

# %% [markdown]
# ## 04.perceptron
#
# Write the score of Bahdanau et al. (2014), $\text{scores}_{bti} = v^\top \tanh(W s_{bt} + U h_{bi})$. Multiply each state and hidden state by its matrix once, not once per pair. Then add every state's product to every hidden state's product. Which axes do the two products need before you add them?


# %%
def perceptron(state, hidden, weight_s, weight_h, v):
    """Return v times tanh of weight_s times state plus weight_h times hidden.

    Args:
        state: B×T×D.
        hidden: B×S×E.
        weight_s: A×D, W in the equation.
        weight_h: A×E, U in the equation.
        v: A.

    Returns:
        The scores, B×T×S.

    Example:
        >>> state, hidden = torch.tensor([[[1.0], [2.0]]]), torch.tensor([[[1.0], [0.0], [-1.0]]])
        >>> perceptron(state, hidden, torch.tensor([[1.0]]), torch.tensor([[-1.0]]), torch.tensor([2.0]))  # 2 tanh(s - h)
        tensor([[[0.0000, 1.5232, 1.9281],
                 [1.5232, 1.9281, 1.9901]]])
    """
    ### BEGIN SOLUTION
    layer = (state @ weight_s.T)[:, :, None] + (hidden @ weight_h.T)[:, None]  # B T S A
    return layer.tanh() @ v
    ### END SOLUTION


# %%
check("04.perceptron", perceptron)

# %% [markdown]
# ## 04.width_that_saturates
#
# A query attends to two keys. All three vectors have dimension D and independent entries with mean 0 and variance 1. The scores are plain dot products, so their difference has mean 0. We call its standard deviation a typical difference.
#
# Return the smallest D for which a typical difference gives the higher score at least `share` of the weight. You do not need to experiment with random numbers: begin with the variance of one dot product, and remember that $\operatorname{Var}(a - b) = \operatorname{Var}(a) + \operatorname{Var}(b)$ if $a$ and $b$ are uncorrelated, as the two scores are.


# %%
def width_that_saturates(share):
    """Return the smallest width at which a typical difference between two dot products gives one key at least this share of the weight.

    Args:
        share: a share of the weight, above 0.5 and below 1.

    Returns:
        The width, a whole number.

    Example:
        >>> width_that_saturates(0.8)  # a lead of 1.39: at width 1 a typical difference is 1.41
        1
    """
    ### BEGIN SOLUTION
    lead = math.log(share / (1 - share))
    return math.ceil(lead**2 / 2)
    ### END SOLUTION


# %%
check("04.width_that_saturates", width_that_saturates)

# %% [markdown]
# ## 04.ignores_query
#
# Some scores lead to the same weights whatever the query is, even though the scores themselves change with the query. Write a function that recognises such scores.
#
# Your function gets a `score` and an example of its arguments. It returns True if the weights, the softmax over the hidden states, are the same for every state. The states in the example may be few, equal or zero, so try different states. Treat numbers that differ by less than $10^{-5}$ as equal. The scores are plain numbers, without gradients.


# %%
def ignores_query(score, state, hidden):
    """Tell whether a score's weights are independent of the state.

    Args:
        score: takes a state B×T×D and a hidden B×S×D, and returns scores B×T×S.
        state: B×T×D, an example.
        hidden: B×S×D, an example.

    Returns:
        True if the weights stay the same whatever the state is, else False.

    Example:
        >>> state, hidden = torch.randn(2, 3, 5), torch.randn(2, 4, 5)
        >>> ignores_query(lambda state, hidden: state @ hidden.mT, state, hidden)
        False
        >>> ignores_query(lambda state, hidden: state.sum(-1)[:, :, None] + hidden.sum(-1)[:, None], state, hidden)
        True
    """
    ### BEGIN SOLUTION
    weights = score(state, hidden).softmax(-1)
    others = [score(torch.randn_like(state), hidden).softmax(-1) for _ in range(3)]
    return all(torch.allclose(weights, other, atol=1e-5) for other in others)
    ### END SOLUTION


# %%
check("04.ignores_query", ignores_query)

# %% [markdown]
# ## 04.catch_wrong_scores
#
# *This exercise is optional.* Now you write the test. It gets the name of a score and a **candidate**. Return `True` if the candidate computes that score and `False` otherwise. `SCORES[name]` is correct; its location-based score is $\mathrm{softmax}(P s)$. A correct candidate keeps these promises:
#
# - It returns the scores of `SCORES[name]` for every state, hidden state and sentence, up to rounding errors of about $10^{-5}$, whatever the sizes are.
# - It uses all of its weights, each in the same way as the score does.
# - It gives a zero vector a cosine of 0.
# - It raises no error. A candidate that raises one is wrong and must not stop your test.


# %%
def catch_wrong_scores(name, candidate):
    """Return True if the candidate computes the named score correctly, else False.

    Args:
        name: "dot", "scaled_dot", "additive", "general", "concatenating", "perceptron", "content_based" or "location_based".
        candidate: takes the same arguments as SCORES[name], and may return anything or raise.

    Returns:
        True or False.

    Example:
        >>> catch_wrong_scores("dot", lambda state, hidden: torch.einsum("btd,bsd->bts", state, hidden))
        True
        >>> catch_wrong_scores("dot", lambda state, hidden: 2 * state @ hidden.mT)
        False
    """
    ### BEGIN SOLUTION
    B, T, S, D, E, A = 2, 3, 5, 7, 11, 13  # all different: no two axes can be mistaken for each other
    state, hidden, same = (B, T, D), (B, S, E), (B, S, D)
    shapes = {
        "dot": [state, same],
        "scaled_dot": [state, same],
        "additive": [state, hidden, (A, D + E), (A,)],
        "general": [state, hidden, (D, E)],
        "concatenating": [state, hidden, (D + E,)],
        "perceptron": [state, hidden, (A, D), (A, E), (A,)],
        "content_based": [state, same],
        "location_based": [state, (S, D)],
    }
    draw = torch.Generator().manual_seed(0)
    arguments = [torch.randn(shape, generator=draw) for shape in shapes[name]]
    arguments[0][0, 0] = 0  # a cosine must not divide by a length of zero
    expected = SCORES[name](*arguments)
    try:
        received = candidate(*arguments)
        return received.shape == expected.shape and torch.allclose(received, expected, atol=1e-5)
    except Exception:
        return False
    ### END SOLUTION


# %%
check("04.catch_wrong_scores", catch_wrong_scores)

# %% tags=["own-machine"]
progress()

# %% [markdown]
# Stuck? `hint("04.perceptron")` gives the next hint, and `solution("04.perceptron")` shows a solution once you have tried.
#
# Next: lesson 05, in which an encoder and a decoder compute the states from sequences.
