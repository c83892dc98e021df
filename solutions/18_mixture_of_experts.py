# %% [markdown]
# You write the parts of a mixture of experts: the gates, which choose the best k; the sum of what the experts say; the loss that makes each of them answer for itself; two losses that share out the work; and the limit on how many tokens an expert takes. At the end you write a test that tells right layers from wrong ones.
#
# The letters: B rows of the batch (examples, or tokens), N experts, D numbers in what an expert puts out. Row b, column i of `gates` is the weight $g_i$ that row b of the batch gives to expert i.

# %%
import torch
import torch.nn.functional as F

from course_utils import check, hint, progress, solution

# %% [markdown]
# ## 18.top_k_gates
#
# A gating network gives each row of the batch a logit per expert. If the gates were a softmax over all of them, every expert would have to run. Shazeer et al. (2017) keep only the k largest logits of a row, and take the softmax over these (equations 3 and 5, here without their noise $H$):
#
# $$G(x) = \text{softmax}\big(\text{KeepTopK}(h, k)\big) \qquad \text{KeepTopK}(h, k)_i = \begin{cases} h_i & \text{if } h_i \text{ is among the } k \text{ largest} \\ -\infty & \text{otherwise} \end{cases}$$
#
# So every row of gates sums to 1, has k gates above 0, and exact zeros elsewhere. Where logits are equal, the first ones come first: with k = 2, the logits [1, 3, 1] keep the experts 1 and 0. `torch.topk` promises no order for equal logits.


# %%
def top_k_gates(logits, k):
    """Return gates over the k best experts of each row.

    Args:
        logits: B×N, of the gating network.
        k: how many experts a row keeps, from 1 to N.

    Returns:
        The gates, B×N, with zeros at all other experts.

    Example:
        >>> top_k_gates(torch.tensor([[1.0986, -5.0, 0.0]]), 2)
        tensor([[0.7500, 0.0000, 0.2500]])
    """
    ### BEGIN SOLUTION
    best = logits.sort(dim=1, descending=True, stable=True).indices[:, :k]  # B k
    others = torch.ones_like(logits, dtype=torch.bool).scatter(1, best, False)  # B N
    return logits.masked_fill(others, -torch.inf).softmax(dim=1)
    ### END SOLUTION


# %%
check("18.top_k_gates", top_k_gates)

# %% [markdown]
# ## 18.mix
#
# What the layer gives for a row is the sum of what the experts put out, each weighted by its gate (Shazeer et al., equation 1):
#
# $$y = \sum_{i=1}^{N} g_i\, o_i$$
#
# Gates are 0 or above, and a row of them need not sum to 1. **An expert with a gate of 0 has no effect.** It has not been run, and what stands in its place is not its output. (Gradients are checked for the outputs and for gates that are not 0. At a gate of 0 any gradient will do that is a finite number.)


# %%
def mix(outputs, gates):
    """Return the sum of the experts' outputs, weighted by their gates.

    Args:
        outputs: B×N×D, what expert i puts out for row b; anything where the gate is 0.
        gates: B×N, 0 or above.

    Returns:
        The mixed outputs, B×D.

    Example:
        >>> outputs = torch.tensor([[[4.0, 8.0], [2.0, 0.0], [torch.nan, torch.nan]]])
        >>> mix(outputs, torch.tensor([[0.75, 0.25, 0.0]]))
        tensor([[3.5000, 6.0000]])
    """
    ### BEGIN SOLUTION
    clean = outputs.masked_fill(gates[:, :, None] == 0, 0.0)  # B N D
    return torch.einsum("bn,bnd->bd", gates, clean)
    ### END SOLUTION


# %%
check("18.mix", mix)

# %% [markdown]
# ## 18.mixture_loss
#
# If the loss compares the sum of all experts with the target, every expert has to make up for the errors of the others, and they all work on everything. Jacobs et al. (1991) let each expert answer for itself: the loss is small as soon as one expert with a large gate comes near the target $d$ (equation 1.3):
#
# $$E = -\log \sum_{i=1}^{N} g_i \exp\Big(-\tfrac12\, \lVert d - o_i\rVert^2\Big)$$
#
# Return the mean of $E$ over the batch. Targets may be so far away from all outputs that every $\exp$ is 0 in float32. The loss should be finite even then. At least one gate in each row is above 0. (Gradients are checked where all of them are.)


# %%
def mixture_loss(outputs, gates, target):
    """Return the mean loss of experts that each answer for themselves.

    Args:
        outputs: B×N×D, what expert i puts out for row b.
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
# ## 18.importance_loss
#
# An expert that is chosen learns, and one that has learned is chosen again. Without help, a few experts soon do all the work. Shazeer et al. call the sum of all gates that an expert gets in a batch its **importance**, and add a loss that is small when it is the same for all experts (equations 6 and 7, here without their weight $w_{\text{importance}}$):
#
# $$\text{Importance}_i = \sum_{b=1}^{B} g_{b,i} \qquad L = \text{CV}(\text{Importance})^2$$
#
# The **coefficient of variation** CV is the standard deviation divided by the mean, so its square is the variance divided by the square of the mean. Take the variance of the population, which divides by N. In perfect balance the loss is 0, and its gradient is finite.


# %%
def importance_loss(gates):
    """Return the squared coefficient of variation of the experts' importance.

    Args:
        gates: B×N, 0 or above, not all 0.

    Returns:
        The loss, one number.

    Example:
        >>> importance_loss(torch.tensor([[0.75, 0.25], [0.75, 0.25]]))  # importance 1.5 and 0.5
        tensor(0.2500)
    """
    ### BEGIN SOLUTION
    importance = gates.sum(dim=0)  # N
    return importance.var(correction=0) / importance.mean().square()
    ### END SOLUTION


# %%
check("18.importance_loss", importance_loss)

# %% [markdown]
# ## 18.balance_loss
#
# The Switch Transformer (Fedus et al., 2021) sends each token to a single expert. Its loss compares two vectors: $f_i$, the fraction of the tokens that were sent to expert i, and $P_i$, the mean probability that the router gave to it (equations 4 to 6, here without $\alpha$):
#
# $$L = N \sum_{i=1}^{N} f_i\, P_i \qquad f_i = \frac1B \sum_{b} \mathbb 1[\text{token } b \text{ was sent to } i] \qquad P_i = \frac1B \sum_{b} p_i(b)$$
#
# Counting passes no gradient, so the gradient flows through $P$ only. `chosen` says where each token was sent. That need not be the expert with the largest probability, and there may be experts that no token was sent to.


# %%
def balance_loss(probabilities, chosen):
    """Return the loss that asks a router to share out its tokens evenly.

    Args:
        probabilities: B×N, the router's, rows that sum to 1.
        chosen: B, whole numbers from 0 to N - 1: the expert that each token was sent to.

    Returns:
        The loss, one number; 1 in perfect balance.

    Example:
        >>> balance_loss(torch.tensor([[0.75, 0.25], [0.5, 0.5]]), torch.tensor([0, 0]))
        tensor(1.2500)
    """
    ### BEGIN SOLUTION
    experts = probabilities.shape[1]
    sent = F.one_hot(chosen, experts).to(probabilities.dtype).mean(dim=0)  # N
    return experts * (sent * probabilities.mean(dim=0)).sum()
    ### END SOLUTION


# %%
check("18.balance_loss", balance_loss)

# %% [markdown]
# ## 18.within_capacity
#
# On a real machine each expert has room for a fixed number of tokens, its **capacity**, so that all tensors have a known size. Tokens come in the order of the batch. Each takes a place at the expert it was sent to, and a token that comes when all places are taken is left out (Fedus et al., section 2.2).


# %%
def within_capacity(chosen, experts, capacity):
    """Tell which tokens find a place at their expert.

    Args:
        chosen: B, whole numbers from 0 to experts - 1: the expert that each token was sent to.
        experts: how many experts there are.
        capacity: how many tokens each of them takes, 0 or more.

    Returns:
        A tensor of B truth values: True where a token is among the first `capacity` of its expert.

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
# A layer that runs each expert only on the rows that chose it gathers these rows, and puts the results back. Many mistakes in that leave all shapes right. The check hands your function one **layer** after another: `layer(x)` takes x, B×4 (float32), and returns `(y, gates, outputs)`: B×4, B×N and B×N×4, what each expert puts out for each row. N is the layer's own. Return `True` for one that keeps these promises, and `False` for any other:
#
# 1. Each row of y is the sum of its own row's outputs, weighted by its gates: $y_b = \sum_i g_{b,i}\, o_{b,i}$.
# 2. So it is in a batch of a single row, in one of a few, and in one of 50, where some layers run out of room.
# 3. y has the shape B×4 and is finite.
#
# Gates may be any numbers: they need not sum to 1. With random x of about 1, a wrong y is off by more than $10^{-3}$, and rounding stays below $10^{-5}$. A layer that raises an error is wrong, and must not stop your test.


# %%
def catch_wrong_routing(layer):
    """Tell whether a layer of experts returns what its own gates and outputs come to.

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
    try:
        for B in (1, 2, 7, 50):
            y, gates, outputs = layer(torch.randn(B, 4, generator=draw))
            expected = (gates[:, :, None] * outputs).sum(dim=1)  # B 4
            if y.shape != (B, 4) or not torch.allclose(y, expected, atol=1e-5):
                return False
        return bool(expected.isfinite().all())
    except Exception:
        return False
    ### END SOLUTION


# %%
check("18.catch_wrong_routing", catch_wrong_routing)

# %% tags=["own-machine"]
progress()

# %% [markdown]
# Stuck on one? `hint("18.mix")` gives the next hint, and `solution("18.mix")` shows an answer after a try.
