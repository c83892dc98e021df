# %% [markdown]
# First, you decide what may be forgotten when experts learn something new. Then you write three parts of a mixture: the loss that makes experts compete, a step of balancing without a loss, and a limit on how many tokens an expert accepts. The last task, for those who want more, is to write a test that tells correct layers from incorrect ones.
#
# The letters: B is the number of rows in the batch (inputs or tokens), N the number of experts, and D the dimension of an expert's output. The weights that a gate gives to the experts are called **gates** here, as in most papers. Row b, column i of `gates` is the weight $g_i$ of expert i for row b of the batch.

# %%
import torch
import torch.nn.functional as F

from course_utils import check, hint, predict, progress, reveal, solution
from course_utils.figures import plots
from course_utils.learner.train_answers import train_own
from course_utils.models import experts
from course_utils.models.train_model import train_model

# %% [markdown]
# ## Gates that are tiny
#
# Three outputs, 2, 6 and 4, are learned parameters. One step moves them so that their weighted sum gets closer to a target of 5. The outputs' gates are 0, 0.9999 and 0.0001. Which outputs change with SGD, which uses the plain gradient, and which with Adam (lesson 13)?

# %%
gates = torch.tensor([0.0, 0.9999, 0.0001])  # N
for optimizer in (torch.optim.SGD, torch.optim.Adam):
    outputs = torch.tensor([2.0, 6.0, 4.0], requires_grad=True)  # N
    stepper = optimizer([outputs], lr=0.1)
    loss = (gates @ outputs - 5).square() / 2
    loss.backward()
    stepper.step()
    print(f"{optimizer.__name__:5}", outputs.detach())

# %% [markdown]
# <details><summary>Answer</summary>
#
# With SGD, only the second output changes visibly. With Adam, the third output moves by the same amount as the second, although its gate is 10,000 times smaller. Adam divides a gradient by its usual size, so even a gradient of 0.0001 leads to a full step. A gate of exactly 0 gives no gradient.
#
# </details>

# %% [markdown]
# ## 18.at_risk
#
# A mixture has learned an old task. Now its experts learn new targets for new inputs, with a new Adam optimiser, for as long as you like. The gate does not change, so every input keeps its gates. Some gates are exactly 0, because each input is routed only to its best experts.
#
# Which of the old inputs may be answered differently afterwards? Decide from the gates alone.


# %%
def at_risk(old, new):
    """Tell for which old inputs the answer may change while the experts learn from new ones.

    Args:
        old: B×N, the gates of the old inputs, 0 or above.
        new: C×N, the gates of the inputs that are trained on, 0 or above.

    Returns:
        A tensor of B truth values: True where the answer may change.

    Example:
        >>> at_risk(torch.tensor([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]]), torch.tensor([[1.0, 0.0, 0.0]]))
        tensor([ True, False])
    """
    ### BEGIN SOLUTION
    changing = (new > 0).any(dim=0)  # N
    return torch.logical_and(old > 0, changing).any(dim=1)
    ### END SOLUTION


# %%
check("18.at_risk", at_risk)

# %% [markdown]
# ## 18.mixture_loss
#
# Write the loss that makes experts compete (Jacobs et al., 1991, equation 1.3). It is small whenever one expert with a large gate comes close to the target $t$. Here, $o_i$ is the output of expert i:
#
# $$L = -\log \sum_{i=1}^{N} g_i \exp\Big(-\tfrac12\, \lVert t - o_i\rVert^2\Big)$$
#
# Return the mean of $L$ over the batch. Targets may be so far from all the outputs that every $\exp$ is 0 in float32. The lesson's `competing_loss` is then infinite; yours should be finite. Gates may be 0, but at least one in each row is above 0. Gradients are checked only where all gates are above 0.


# %%
def mixture_loss(outputs, gates, target):
    """Return the mean loss of experts that each answer for themselves.

    Args:
        outputs: B×N×D, the output of expert i for row b.
        gates: B×N, rows that sum to 1.
        target: B×D.

    Returns:
        The mean loss, one number.

    Example:
        >>> outputs, gates = torch.tensor([[[3.0], [5.0]]]), torch.tensor([[0.5, 0.5]])
        >>> mixture_loss(outputs, gates, torch.tensor([[3.0]]))  # -log(0.5 + 0.5 exp(-2))
        tensor(0.5662)
    """
    ### BEGIN SOLUTION
    squared = (target[:, None] - outputs).square().sum(dim=2)  # B N
    likelihoods = torch.logsumexp(gates.log() - squared / 2, dim=1)  # B, their logarithms
    return torch.neg(likelihoods).mean()
    ### END SOLUTION


# %%
check("18.mixture_loss", mixture_loss)

# %% [markdown]
# ## 18.balance_by_offsets
#
# DeepSeek-V3 balances its experts mainly with offsets, a method proposed by Wang et al. (2024), rather than with a loss. Write one step for a batch:
#
# 1. Each row asks k experts: those with the largest sums of score and offset. No two sums in a row are equal.
# 2. The gates are the scores of the experts that are asked, divided by their sum in the row. All other gates are exactly 0. The offsets do not count here.
# 3. After the batch, each offset moves by `step`. It rises if fewer rows asked this expert than the mean over the experts, falls if more did and stays the same if the numbers are equal.
#
# Scores are above 0, and their gradients are checked.


# %%
def balance_by_offsets(scores, offsets, k, step):
    """Return the gates for a batch and the offsets for the next one.

    Args:
        scores: B×N, between 0 and 1.
        offsets: N, of either sign.
        k: the number of experts that a row asks, from 1 to N.
        step: the amount by which an offset moves.

    Returns:
        The gates, B×N, and the moved offsets, N.

    Example:
        >>> balance_by_offsets(torch.tensor([[0.6, 0.2, 0.1]]), torch.tensor([0.0, 0.0, 0.25]), 2, 0.25)
        (tensor([[0.8571, 0.0000, 0.1429]]), tensor([-0.2500,  0.2500,  0.0000]))
    """
    ### BEGIN SOLUTION
    best = (scores + offsets).topk(k, dim=1).indices  # B k
    chosen = torch.zeros_like(scores).scatter(1, best, 1.0)  # B N
    kept, load = scores * chosen, chosen.sum(dim=0)  # B N, N
    return kept / kept.sum(dim=1, keepdim=True), offsets + step * torch.sign(load.mean() - load)
    ### END SOLUTION


# %%
check("18.balance_by_offsets", balance_by_offsets)

# %% [markdown]
# ## 18.within_capacity
#
# Some large models limit how many tokens in a batch an expert accepts, so that the sizes of all tensors are known in advance. This limit is the expert's **capacity** (Fedus et al., 2021, section 2.2). Tokens arrive in batch order, and each takes a place at the expert it was sent to. If all the places are taken, the token is left out and passes through the residual connection alone.
#
# This costs accuracy. If each expert of the lesson's translation model accepts at most an eighth of the tokens in a batch during training, the model gets 82% of the words right instead of 87% ([our measurements](../docs/measurements.md#what-experts-know)).


# %%
def within_capacity(chosen, experts, capacity):
    """Tell which tokens find a place at their expert.

    Args:
        chosen: B, whole numbers from 0 to experts - 1: the expert that each token was sent to.
        experts: the number of experts.
        capacity: the number of tokens each of them accepts, 0 or more.

    Returns:
        A tensor of B truth values: True where a token is among the first `capacity` tokens of its expert.

    Example:
        >>> within_capacity(torch.tensor([1, 0, 1, 1]), 2, 2)
        tensor([ True,  True,  True, False])
    """
    ### BEGIN SOLUTION
    sent = F.one_hot(chosen, experts)  # B N
    so_far = sent.cumsum(dim=0).gather(1, chosen[:, None])[:, 0]  # B, each token counts itself
    return torch.le(so_far, capacity)
    ### END SOLUTION


# %%
check("18.within_capacity", within_capacity)

# %% [markdown]
# ## 18.catch_wrong_routing
#
# This task is for those who want more. The check hands your function one **layer** after another. `layer(x)` maps x, B×4 (float32), to `(y, gates, outputs)`, which are B×4, B×N and B×N×4. Each layer has its own N. Return `True` for a layer that keeps these promises and `False` for any other:
#
# 1. Each row of y is the sum of its own outputs, weighted by its gates: $y_b = \sum_i g_{b,i}\, o_{b,i}$.
# 2. This holds for batches of one row, a few rows, and 50 rows, where some layers run out of room.
# 3. y has the shape B×4, and no error is raised.
#
# Gates may be any numbers. With random x of about 1, a wrong y is off by more than $10^{-4}$, and rounding stays below $10^{-5}$.


# %%
def catch_wrong_routing(layer):
    """Tell whether a layer of experts returns the sum that its own gates and outputs give.

    Args:
        layer: a function (x B×4) → (y B×4, gates B×N, outputs B×N×4), which may be wrong and may raise.

    Returns:
        True if it is right, False if it is wrong.

    Example:
        >>> catch_wrong_routing(lambda x: (x, torch.ones(len(x), 2), torch.stack([x, x], dim=1)))  # the sum is 2x
        False
    """
    ### BEGIN SOLUTION
    draw = torch.Generator().manual_seed(0)

    def right(B):
        y, gates, outputs = layer(torch.randn(B, 4, generator=draw))
        expected = (gates[:, :, None] * outputs).sum(dim=1)  # B 4
        return y.shape == (B, 4) and torch.allclose(y, expected, rtol=0, atol=1e-5)

    try:
        return all(right(B) for B in (1, 2, 7, 50))
    except Exception:
        return False
    ### END SOLUTION


# %%
check("18.catch_wrong_routing", catch_wrong_routing)

# %% [markdown]
# ## Your own loss, where two answers are correct
#
# Now each x from 0 to 1 has two correct answers, $6\sqrt{x}$ and $-6\sqrt{x}$, and chance decides which one is the target. Two experts, each with a hidden layer, learn from such targets. One mixture is trained with the squared error of the weighted sum, the other with your `mixture_loss`. At x = 1, the targets are 6 and -6. What will the weighted sum be there after training with your loss?

# %%
predict("18.own", ...)


# %% tags=["own-machine"]
def squared_error(outputs, gates, target):
    return (experts.mix(outputs, gates) - target).square().mean()


def trained(loss):
    def loss_of_batch(draw):
        x, coin = torch.rand(64, 1, generator=draw), torch.randint(2, (64, 1), generator=draw)  # B 1 each
        return loss(*mixture(x), (12 * coin - 6) * x.sqrt())

    torch.manual_seed(0)
    mixture = experts.Mixture(1, 1, experts=2, hidden=16)
    train_model(mixture, loss_of_batch, seed=0, steps=600, rate=0.01)
    return mixture


def train(mixture_loss):
    x = torch.linspace(0, 1, 21)[:, None]  # B 1
    for ax, loss in zip(plots.axes(2, width=4, height=4), (squared_error, mixture_loss), strict=True):
        outputs, gates = (each.detach() for each in trained(loss)(x))  # B N 1, B N
        lines = {"expert 1": outputs[:, 0].mT, "expert 2": outputs[:, 1].mT}
        lines["weighted sum"] = experts.mix(outputs, gates).mT
        targets = {"6√x": 6 * x.sqrt(), "-6√x": -6 * x.sqrt()}
        plots.curves(x[:, 0], lines, "x", "answer", loss.__name__, ax, targets, legend="upper left")
        ax.set(ylim=(-7, 17))
        print(f"{loss.__name__}: the gates at x = 1 are {gates[-1, 0]:.2f} and {gates[-1, 1]:.2f}")
    reveal("18.own", "near 0" if lines["weighted sum"][0, -1].abs() < 3 else "near 6 or near -6")


train_own(train, {"18.mixture_loss": mixture_loss})

# %% [markdown]
# Trained with the squared error, the sum stays near 0, halfway between the two targets. For x above 0, this answer is never correct. Your loss gives each target an expert of its own. But nothing in x tells us which target will come, so both gates are near 1/2, and the weighted sum is still near 0. If several answers are correct, it is better to ask one expert than to mix the answers.

# %% tags=["own-machine"]
progress()

# %% [markdown]
# Stuck on one? `hint("18.at_risk")` gives the next hint, and `solution("18.at_risk")` shows a solution after a try.
#
# Next, lesson 19: a network that learns from a few examples.
