# %% [markdown]
# You write the eight scores, most of them in a line or two, and a test that tells right ones from wrong. Then you find out when a softmax saturates, and which scores ignore the
# query. The letters: B sentences, T states (queries), S hidden states (keys), D and E widths, A hidden units. Rows of the result are states, columns hidden states.

# %%
import math

import torch

from course_utils import check, hint, progress, solution
from course_utils.models.attention import SCORES

# %% [markdown]
# ## A dot product, and what is done to it
#
# These three compare the state and the hidden state directly, so both must have the same width. They have no weights to learn.

# %% [markdown]
# ## 04.dot
#
# Score each state against each hidden state of its own sentence by their dot product. Most of today's attention starts here. Return the scores, without a softmax.
#
# $$\text{scores}_{bti} = s_{bt}^\top h_{bi}$$


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
# ## 04.scaled_dot
#
# Divide the dot product by the square root of the width, so that the spread of the scores does not grow with it. Read D from the input: it differs from case to case.
#
# $$\text{scores}_{bti} = \frac{s_{bt}^\top h_{bi}}{\sqrt{D}}$$


# %%
def scaled_dot(state, hidden):
    """Return the dot product of each state with each hidden state, divided by the square root of the width D.

    Args:
        state: B×T×D.
        hidden: B×S×D.

    Returns:
        The scores, B×T×S.

    Example:
        >>> scaled_dot(torch.tensor([[[1.0, 0.0, 2.0, 0.0]]]), torch.tensor([[[2.0, 5.0, 1.0, 5.0], [0.0, 1.0, 3.0, 1.0]]]))
        tensor([[[2., 3.]]])
    """
    ### BEGIN SOLUTION
    return state @ hidden.mT / state.shape[-1] ** 0.5
    ### END SOLUTION


# %%
check("04.scaled_dot", scaled_dot)

# %% [markdown]
# ## 04.content_based
#
# Score by the cosine of the angle, so that lengths do not count. A zero vector has no direction: its score is 0, not NaN.
#
# $$\text{scores}_{bti} = \frac{s_{bt}^\top h_{bi}}{\lVert s_{bt} \rVert \, \lVert h_{bi} \rVert}$$


# %%
def content_based(state, hidden):
    """Return the cosine of each state with each hidden state; 0 where one of the two is a zero vector.

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
# ## A matrix in between
#
# A learned matrix lets the two widths differ, and says which feature of the one belongs to which feature of the other.

# %% [markdown]
# ## 04.general
#
# Put a matrix between state and hidden state. It learns how the two spaces correspond, and their widths D and E may differ.
#
# $$\text{scores}_{bti} = s_{bt}^\top W h_{bi}$$


# %%
def general(state, hidden, weight):
    """Return the dot product of each state with each hidden state, with a matrix in between.

    Args:
        state: B×T×D.
        hidden: B×S×E.
        weight: D×E, W in the equation.

    Returns:
        The scores, B×T×S.

    Example:
        >>> state, hidden = torch.tensor([[[1.0, 2.0]]]), torch.tensor([[[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]])
        >>> general(state, hidden, torch.tensor([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0]]))
        tensor([[[4., 4.]]])
    """
    ### BEGIN SOLUTION
    return state @ weight @ hidden.mT
    ### END SOLUTION


# %%
check("04.general", general)

# %% [markdown]
# ## A small network
#
# Both are the same score, computed in two ways: a hidden layer with tanh looks at each pair of a state and a hidden state.

# %% [markdown]
# ## 04.perceptron
#
# Give state and hidden state a matrix each, add the two for every pair, then tanh, then $v$. This gives the same as the additive score with its $W$ cut into two, at a fraction of the cost: each side is multiplied once, not once per pair.
# Bahdanau et al. (2014) introduced it as a multilayer perceptron; most papers call it "additive".
#
# $$\text{scores}_{bti} = v^\top \tanh(W s_{bt} + U h_{bi})$$


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
# ## 04.additive
#
# Lay each state and each hidden state end to end, the state first, and put the pair through a hidden layer with tanh. Every state meets every hidden state: T·S pairs per sentence.
# Luong et al. (2015) call this score "concat". Most papers keep the name "additive" for the form of Bahdanau et al. (2014), with a matrix for each side, which here is `04.perceptron`.
#
# $$\text{scores}_{bti} = v^\top \tanh(W [s_{bt}; h_{bi}])$$


# %%
def additive(state, hidden, weight, v):
    """Return v times tanh of weight times the pair [state; hidden].

    Args:
        state: B×T×D.
        hidden: B×S×E.
        weight: A×(D+E), W in the equation.
        v: A.

    Returns:
        The scores, B×T×S.

    Example:
        >>> state, hidden = torch.tensor([[[1.0], [2.0]]]), torch.tensor([[[1.0], [0.0], [-1.0]]])
        >>> additive(state, hidden, torch.tensor([[1.0, -1.0]]), torch.tensor([2.0]))  # 2 tanh(s - h)
        tensor([[[0.0000, 1.5232, 1.9281],
                 [1.5232, 1.9281, 1.9901]]])
    """
    ### BEGIN SOLUTION
    T, S = state.shape[1], hidden.shape[1]
    pairs = torch.cat(
        [state[:, :, None].expand(-1, -1, S, -1), hidden[:, None].expand(-1, T, -1, -1)], dim=-1
    )  # B T S D+E
    return torch.tanh(pairs @ weight.T) @ v
    ### END SOLUTION


# %%
check("04.additive", additive)

# %% [markdown]
# ## Only one side counts
#
# The weights of these two depend on one side of the pair alone: those of one on the hidden states, those of the other on the state. Which is which?

# %% [markdown]
# ## 04.concatenating
#
# Lay state and hidden state end to end, the state first, and multiply by one weight vector: no tanh. The lesson shows why the weights that come out of it ignore the state, although the scores do not.
#
# $$\text{scores}_{bti} = W [s_{bt}; h_{bi}]$$


# %%
def concatenating(state, hidden, weight):
    """Return one weight vector times the pair [state; hidden].

    Args:
        state: B×T×D.
        hidden: B×S×E.
        weight: D+E, W in the equation.

    Returns:
        The scores, B×T×S.

    Example:
        >>> state, hidden = torch.tensor([[[1.0, 0.0], [0.0, 2.0]]]), torch.tensor([[[3.0], [0.0], [-1.0]]])
        >>> concatenating(state, hidden, torch.tensor([1.0, 2.0, 10.0]))
        tensor([[[31.,  1., -9.],
                 [34.,  4., -6.]]])
    """
    ### BEGIN SOLUTION
    D = state.shape[-1]
    return (state @ weight[:D])[:, :, None] + (hidden @ weight[D:])[:, None]
    ### END SOLUTION


# %%
check("04.concatenating", concatenating)

# %% [markdown]
# ## 04.location_based
#
# Let the state alone choose positions: no hidden state enters. This one gives weights, so the softmax belongs to it: each state shares out its weight over the S positions.
#
# $$\text{weights}_{bt} = \mathrm{softmax}(W s_{bt})$$


# %%
def location_based(state, weight):
    """Return weights over positions, from the state alone.

    Args:
        state: B×T×D.
        weight: S×D, one row for each position, W in the equation.

    Returns:
        The weights, B×T×S; those of one state sum to 1.

    Example:
        >>> location_based(torch.tensor([[[1.0, 0.0], [0.0, 0.0]]]), torch.tensor([[0.0, 5.0], [1.0, 5.0], [0.0, 5.0]]))
        tensor([[[0.2119, 0.5761, 0.2119],
                 [0.3333, 0.3333, 0.3333]]])
    """
    ### BEGIN SOLUTION
    return (state @ weight.T).softmax(dim=-1)
    ### END SOLUTION


# %%
check("04.location_based", location_based)

# %% [markdown]
# ## Which score does what?
#
# These three exercises need more thought than lines: you test scores, and find out what they can and cannot do.

# %% [markdown]
# ## 04.catch_wrong_scores
#
# Now you write the test. Given a score's name and a candidate, say whether the candidate computes that score correctly; `SCORES[name]` is right. The inputs are yours to choose:
# with some, wrong candidates look right. Right candidates may compute in another order and agree only up to rounding: allow about $10^{-5}$. A wrong candidate may return numbers
# of another shape, or raise an error, and must not stop your test.
#
# $$\text{candidate}(s, h, \dots) \approx \text{score}(s, h, \dots) \quad \text{for every input}$$


# %%
def catch_wrong_scores(name, candidate):
    """Return True if the candidate computes the named score correctly, else False.

    Args:
        name: "dot", "scaled_dot", "additive", "general", "concatenating", "perceptron", "content_based" or "location_based".
        candidate: takes the same arguments as the task of that name above, and may return anything or raise.

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

# %% [markdown]
# ## 04.width_that_saturates
#
# A query meets two keys, all of width D, and all their numbers are independent, with mean 0 and variance 1. The scores are plain dot products. Their difference has the mean 0; call its
# standard deviation a typical difference. For which D does a typical difference give the higher score at least `share` of the weight? Return the smallest. You need no trial with
# random numbers: begin with the variance of one dot product, and remember that $\operatorname{Var}(a - b) = \operatorname{Var}(a) + \operatorname{Var}(b)$ where $a$ and $b$ are uncorrelated, as the two scores are.


# %%
def width_that_saturates(share):
    """Return the smallest width at which a typical difference of two dot products gives one key at least this share of the weight.

    Args:
        share: of the weight, a number above 0.5 and below 1.

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
# Some scores lead to the same weights whatever the query is, even though the scores themselves change with it. You write a function that finds them out. It is given a `score` and an
# example of what the score takes, and returns True if the weights, the softmax over the hidden states, are the same for every state. The states in the example may be few, equal or
# zero, so try others. Count numbers that differ by less than $10^{-5}$ as equal. The scores come as plain numbers, through which no gradient flows.


# %%
def ignores_query(score, state, hidden):
    """Tell whether the weights of a score do not depend on the state.

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

# %% tags=["own-machine"]
progress()

# %% [markdown]
# Stuck on one? `hint("04.additive")` gives the next hint, and `solution("04.additive")` shows an answer after a try.
#
# Next, lesson 05: an encoder and a decoder make the states from sequences, and these scores compare them.
