# %% [markdown]
# You write two kinds of attention that read less than soft attention does. The first draws one position and needs its own loss to learn; the second has a window whose centre is learned. Then you let the states of a network attend to earlier states.
# Finally, you write a test that catches biased estimates of a gradient.
#
# The letters mean: B rows, T length of a sequence, S positions, D dimension of a state that attends to others, E dimension of a value, H dimension of a decoder's state, A dimension of a hidden layer.
# **Positions are counted from 0.**

# %%
import itertools

import torch

from course_utils import check, hint, progress, solution

# %% [markdown]
# ## One position
#
# Soft attention returns a weighted mean over all positions. Hard attention uses the weights as probabilities to draw one position and returns the value there. Because the random number is given here, we say that it *picks* a position.

# %% [markdown]
# ## 08.hard_attention
#
# Pick one position in each row. Return its value and the natural logarithm of its probability.
#
# The random numbers are given: `uniform` holds one number from 0 to 1 for each row. The **cumulative weight** of a position is the sum of the weights up to and including its own. Pick the first position whose cumulative weight is larger than the number for its row.
#
# $$k_b = \min \Big\{ s : \sum_{j \le s} w_{bj} > u_b \Big\} \qquad \text{picked}_b = \text{values}_{b, k_b} \qquad \text{log probability}_b = \ln w_{b, k_b}$$
#
# - Weights may be 0. If, because of rounding, no cumulative weight is larger than the number, pick the last position whose weight is above 0.
# - The log probability passes a gradient to the picked weight and to no other weight. The picked value passes no gradient to the weights.


# %%
def hard_attention(weights, values, uniform):
    """Return the value picked from each row and the logarithm of the probability of picking it.

    Args:
        weights: B×S, at least 0; each row sums to 1, up to rounding.
        values: B×S×E.
        uniform: B, numbers from 0 up to but not 1.

    Returns:
        picked: B×E, one value from each row.
        log_probability: B, the natural logarithm of its weight.

    Example:
        >>> weights, values = torch.tensor([[0.5, 0.25, 0.25]]), torch.tensor([[[1.0], [2.0], [4.0]]])
        >>> hard_attention(weights, values, torch.tensor([0.6]))
        (tensor([[2.]]), tensor([-1.3863]))
    """
    ### BEGIN SOLUTION
    cumulative = weights.cumsum(1)  # B S
    passed = (cumulative <= uniform[:, None]) & (cumulative < cumulative[:, -1:])  # never the last position with weight
    row, place = torch.arange(len(weights)), passed.sum(1)
    return values[row, place], weights[row, place].log()
    ### END SOLUTION


# %%
check("08.hard_attention", hard_attention)

# %% [markdown]
# ## 08.reinforce_loss
#
# No gradient passes through a pick. Instead, we make a pick more probable if its **reward** was high (REINFORCE; Williams, 1992). The reward is compared with a **baseline**, the reward that was expected before the pick.
#
# Return the loss whose gradient, averaged over many picks, is minus the gradient of the expected reward:
#
# $$\text{loss} = -\frac1B \sum_b (\text{reward}_b - \text{baseline}_b) \cdot \log p_b$$
#
# The reward and the baseline may themselves come from networks. This loss must not train those networks: **gradients reach `log_probability` alone**.


# %%
def reinforce_loss(log_probability, reward, baseline):
    """Return the loss that makes picks with a good reward more probable.

    Args:
        log_probability: B, the logarithm of the probability of what was picked.
        reward: B, how good each pick turned out to be.
        baseline: B, the reward that was expected.

    Returns:
        The loss, a tensor with one number and no axis.

    Example:
        >>> reinforce_loss(torch.tensor([-2.0, -1.0]), torch.tensor([3.0, 0.0]), torch.tensor([1.0, 1.0]))
        tensor(1.5000)
    """
    ### BEGIN SOLUTION
    advantage = (reward - baseline).detach()
    return -(advantage * log_probability).mean()
    ### END SOLUTION


# %%
check("08.reinforce_loss", reinforce_loss)

# %% [markdown]
# ## 08.best_baseline
#
# Which baseline makes the estimates vary least? If word $k$ is drawn, the estimate is $(R_k - b)\, g_k$, where $g_k = \nabla \log p_k$ has one entry for each score. Because the mean of the estimates is the same for every $b$, their variance is smallest where the mean of their squared lengths is smallest:
#
# $$\sum_k p_k\, (R_k - b)^2\, |g_k|^2$$
#
# Return the $b$ that minimises this sum. At this $b$, the derivative of the sum with respect to $b$ is 0. The squared length $|g_k|^2$ is the sum of the squares of all the entries of $g_k$. At least two words have a probability above 0.


# %%
def best_baseline(probabilities, rewards):
    """Return the baseline that minimises the variance of the estimated gradient.

    Args:
        probabilities: S, the probability of drawing each word: the softmax of the scores.
        rewards: S, the reward for reading each word.

    Returns:
        The baseline, one number.

    Example:
        >>> best_baseline(torch.tensor([0.8, 0.2]), torch.tensor([1.0, 3.0]))
        tensor(2.6000)
    """
    ### BEGIN SOLUTION
    squared_length = 1 - 2 * probabilities + probabilities.square().sum()  # S: of e_k - p
    weight = probabilities * squared_length  # S
    return (weight * rewards).sum() / weight.sum()
    ### END SOLUTION


# %%
check("08.best_baseline", best_baseline)

# %% [markdown]
# ## A window
#
# Local attention looks at all positions within a window whose centre can be learned (Luong et al., 2015, section 3.2).

# %% [markdown]
# ## 08.local_weights
#
# Turn scores into weights around a centre, for a batch with padding. The centre may lie between two positions.
#
# 1. A position is within reach if it holds a word **and** is at most `window` away from the centre (exactly `window` is still within reach).
# 2. Take the softmax over the positions within reach.
# 3. Multiply by a Gaussian, which is 1 at the centre (equation 10 of the paper). Do not normalise again.
#
# $$w_{bs} = \operatorname{softmax}_s(\text{scores}_b) \cdot \exp\Big(-\frac{(s - \text{centre}_b)^2}{2 \sigma^2}\Big) \quad \text{where } |s - \text{centre}_b| \le \text{window}, \text{ else } 0, \qquad \sigma = \frac{\text{window}}{2}$$
#
# - In each row, the words come first. Scores have no effect where the mask is False.
# - A row with no position within reach gets zeros.
# - A gradient reaches the scores and, through the Gaussian, the centre.


# %%
def local_weights(scores, centre, window, mask):
    """Return the weights of local attention.

    Args:
        scores: B×S.
        centre: B, real numbers: where each row looks.
        window: a number above 0: the distance it covers on each side.
        mask: B×S, True at words, which come first, False at padding.

    Returns:
        The weights, B×S, which sum to at most 1 in each row.

    Example:
        >>> local_weights(torch.zeros(1, 5), torch.tensor([1.5]), 1, torch.ones(1, 5, dtype=torch.bool))
        tensor([[0.0000, 0.3033, 0.3033, 0.0000, 0.0000]])
    """
    ### BEGIN SOLUTION
    distance = torch.arange(scores.shape[1]) - centre[:, None]  # B S
    near = mask & (distance.abs() <= window)
    weights = scores.masked_fill(~near, -torch.inf).softmax(-1).masked_fill(~near, 0.0)  # turns NaN into zeros
    return weights * torch.exp(-2 * (distance / window) ** 2)  # 2 σ² is half of the squared window
    ### END SOLUTION


# %%
check("08.local_weights", local_weights)

# %% [markdown]
# ## 08.local_centre
#
# Predict the centre from the decoder's state, as local-p does (equation 9 of the paper):
#
# 1. Multiply the state by `weight`, without a bias, and apply a tanh. The result is the hidden layer.
# 2. Take the dot product of the hidden layer with `v`. The sigmoid of this number is a share between 0 and 1.
# 3. The centre is this share of the sentence length.
#
# `state` has a row for each sentence. The centre is **not rounded**, because it may lie between two positions and a gradient must pass back through it.


# %%
def local_centre(state, weight, v, length):
    """Return the position at which local attention looks in each sentence.

    Args:
        state: B×H, the decoder's state.
        weight: A×H, of the hidden layer.
        v: A.
        length: B, integers: the number of words in each source sentence.

    Returns:
        The centres, B, real numbers between 0 and the length.

    Example:
        >>> state, weight = torch.tensor([[0.0, 0.0], [1.0, 2.0]]), torch.tensor([[1.0, 0.5]])
        >>> local_centre(state, weight, torch.tensor([2.0]), torch.tensor([6, 10]))
        tensor([3.0000, 8.7303])
    """
    ### BEGIN SOLUTION
    share = torch.sigmoid(torch.tanh(state @ weight.T) @ v)  # B
    return length * share
    ### END SOLUTION


# %%
check("08.local_centre", local_centre)

# %% [markdown]
# ## Attending to one's own past
#
# Until now, a decoder has looked at the states of an encoder. A network that reads one word after another can also look at its own earlier states (Cheng et al., 2016). Doing so prepares you for lesson 09, where every word looks at the other words of its sentence.

# %% [markdown]
# ## 08.attend_to_past
#
# Let each state attend to the **earlier** states of its own sequence, using the scaled dot product. The state is the query, and the previous states are the keys and values. A state sees neither itself nor later states. The first state has no past, so its context is zeros; its gradient
# is finite.
#
# $$\text{context}_t = \sum_{j < t} \alpha_{tj} s_j \qquad \alpha_t = \operatorname{softmax}_{j < t} \Big( \frac{s_t^\top s_j}{\sqrt D} \Big)$$


# %%
def attend_to_past(states):
    """Return the context that each state reads from the states before it.

    Args:
        states: B×T×D.

    Returns:
        The contexts, B×T×D, with zeros for the first state.

    Example:
        >>> attend_to_past(torch.tensor([[[0.0], [2.0], [0.0]]]))
        tensor([[[0.],
                 [0.],
                 [1.]]])
    """
    ### BEGIN SOLUTION
    _, T, D = states.shape
    scores = states @ states.mT / D**0.5  # B T T
    past = torch.ones(T, T, dtype=torch.bool).tril(-1)
    weights = (
        scores.masked_fill(~past, -torch.inf).softmax(-1).masked_fill(~past, 0.0)
    )  # the first row is NaN until here
    return weights @ states
    ### END SOLUTION


# %%
check("08.attend_to_past", attend_to_past)

# %% [markdown]
# ## Right on average
#
# The gradient of a REINFORCE loss differs from draw to draw. Only its mean can show whether such an estimate is correct.

# %% [markdown]
# ## 08.catch_biased_gradient
#
# One of S positions is picked with the probabilities $p = \operatorname{softmax}(\text{logits})$, and its reward is $r_s$. The expected reward $R$ has the gradient $p_s (r_s - R)$ at each logit. A **candidate**, `estimator(logits, rewards, uniform)`, estimates this gradient from N draws. It picks as in `08.hard_attention`. Return `True` if the candidate keeps these promises and `False` otherwise:
#
# 1. It is **unbiased**: its mean over all possible draws is the gradient, for every N ≥ 2.
# 2. Promise 1 holds for any S ≥ 2, for any rewards and for logits that are not normalised.
# 3. It raises no error. If it does, your test must catch the error and return `False`.
#
# You need no more than 200 calls. With a good choice of `uniform`, nothing is left to chance.


# %%
def catch_biased_gradient(estimator):
    """Tell whether an estimator of the gradient of the expected reward is unbiased.

    Args:
        estimator: a function (logits S, rewards S, uniform N) → gradient S, which may be wrong and may raise an error.

    Returns:
        True if it is unbiased, False if it is biased.

    Example:
        >>> def exact(logits, rewards, uniform):
        ...     p = logits.softmax(0)
        ...     return p * (rewards - p @ rewards)
        >>> catch_biased_gradient(exact)
        True
        >>> catch_biased_gradient(lambda logits, rewards, uniform: -exact(logits, rewards, uniform))
        False
    """

    ### BEGIN SOLUTION
    p, rewards = torch.tensor([0.5, 0.25, 0.25]), torch.tensor([2.0, -1.0, 0.25])
    cases = [(p, rewards, 2), (p, rewards, 3), (p[1:] * 2, rewards[:2], 2)]
    for p, rewards, N in cases:
        right = p * (rewards - p @ rewards)
        draws = itertools.product((0.125, 0.375, 0.625, 0.875), repeat=N)  # each as probable as the others
        try:
            estimates = [estimator(p.log() + 1, rewards.clone(), torch.tensor(uniform)) for uniform in draws]
            mean = torch.stack(estimates).mean(0)
            if not torch.allclose(mean, right, atol=1e-5):
                return False
        except Exception:
            return False
    return True
    ### END SOLUTION


# %%
check("08.catch_biased_gradient", catch_biased_gradient)

# %% tags=["own-machine"]
progress()

# %% [markdown]
# Stuck on one? `hint("08.local_weights")` gives the next hint, and `solution("08.local_weights")` shows a solution once you have tried.
#
# Next, lesson 09: attention without a recurrent network.
