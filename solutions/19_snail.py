# %% [markdown]
# You write the two blocks that SNAIL is made of: a convolution that never looks ahead, with a gate, and attention to all places so far. In between you compute how many convolutions it takes to see a whole sequence, and at the end you write a test that finds models which see the label that they should predict.
#
# The letters: B sequences, T places in each, D features of a place, F new features that a convolution makes, K the width of queries and keys, E that of values. All the blocks are described in section 3 of Mishra et al. (2018), in figure 2 and the listings beside it.

# %%
import math

import torch
import torch.nn.functional as F

from course_utils import check, hint, progress, solution
from course_utils.models.snail import causal_convolution as reference_convolution

# %% [markdown]
# ## 19.causal_convolution
#
# A **causal** convolution sees no later place. With two weights, each place reads itself and the place that stands `dilation` places before it:
#
# $$y_t = W_1\, x_t + W_0\, x_{t - \text{dilation}} + b$$
#
# $W_1$ is `weight[..., 1]` and $W_0$ is `weight[..., 0]`, each F×D. Before the start of a sequence there are zeros, even if the dilation is larger than T. The result has as many places as `x`.


# %%
def causal_convolution(x, weight, bias, dilation):
    """Return a convolution in which each place sees itself and one place before it.

    Args:
        x: B×T×D.
        weight: F×D×2; the last of the two is for the place itself.
        bias: F.
        dilation: how many places back the other one is; at least 1.

    Returns:
        The convolved sequences, B×T×F.

    Example:
        >>> x, weight = torch.tensor([[[1.0], [2.0], [3.0]]]), torch.tensor([[[10.0, 1.0]]])
        >>> causal_convolution(x, weight, torch.tensor([0.5]), 1)
        tensor([[[ 1.5000],
                 [12.5000],
                 [23.5000]]])
    """
    ### BEGIN SOLUTION
    padded = F.pad(x.mT, (dilation, 0))  # B D dilation+T
    return F.conv1d(padded, weight, bias, dilation=dilation).mT
    ### END SOLUTION


# %%
check("19.causal_convolution", causal_convolution)

# %% [markdown]
# ## 19.dense_block
#
# A **dense block** keeps its input and puts F new features beside it. Two causal convolutions make them: one gives the values, and the other, through a sigmoid, a gate for each of them (the listing DenseBlock):
#
# $$\text{block}_t = \big[\,x_t;\ \tanh(f_t) \odot \sigma(g_t)\,\big]$$
#
# $f$ is the convolution with `weight_f` and `bias_f`, $g$ the one with `weight_g` and `bias_g`, and both have the same dilation. $\odot$ multiplies number by number. `reference_convolution(x, weight, bias, dilation)` is `19.causal_convolution`; the first cell has imported it from `course_utils.models.snail`.


# %%
def dense_block(x, weight_f, bias_f, weight_g, bias_g, dilation):
    """Return x with gated features of two causal convolutions beside it.

    Args:
        x: B×T×D.
        weight_f, bias_f: F×D×2 and F, of the convolution that makes the values.
        weight_g, bias_g: F×D×2 and F, of the one that makes the gates.
        dilation: of both, from 1.

    Returns:
        The block's result, B×T×(D+F): x first, then what is new.

    Example:
        >>> weight_f, weight_g = torch.tensor([[[1.0, 0.0]]]), torch.tensor([[[0.0, 0.0]]])
        >>> zero = torch.zeros(1)
        >>> dense_block(torch.tensor([[[2.0], [0.0]]]), weight_f, zero, weight_g, zero, 1)  # tanh(2) / 2
        tensor([[[2.0000, 0.0000],
                 [0.0000, 0.4820]]])
    """
    ### BEGIN SOLUTION
    values = torch.tanh(reference_convolution(x, weight_f, bias_f, dilation))  # B T F
    gates = torch.sigmoid(reference_convolution(x, weight_g, bias_g, dilation))  # B T F
    return torch.cat([x, values * gates], dim=-1)
    ### END SOLUTION


# %%
check("19.dense_block", dense_block)

# %% [markdown]
# ## 19.dilations
#
# A stack of dense blocks whose dilation doubles from one to the next sees far with few layers (the listing TCBlock). Return the dilations that it takes for the last of `steps` places to see the first one: the list $1, 2, 4, \dots$ of $\lceil \log_2 \text{steps} \rceil$ numbers. For a single step the list is empty.
#
# The paper's listing runs over `i in 1, …, ⌈log2 T⌉` and takes the dilation `2^i`. Read literally, it begins with 2, and no place ever sees the one right before it, since sums of 2, 4, 8 … are even. Begin with 1.


# %%
def dilations(steps):
    """Return the dilations of a stack of convolutions through which the last place sees all steps.

    Args:
        steps: how many places a sequence has, from 1 to 1,000,000.

    Returns:
        A list of whole numbers, each twice the one before.

    Example:
        >>> dilations(10)
        [1, 2, 4, 8]
    """
    ### BEGIN SOLUTION
    layers = math.ceil(math.log2(steps))
    return [2**i for i in range(layers)]
    ### END SOLUTION


# %%
check("19.dilations", dilations)

# %% [markdown]
# ## 19.attention_block
#
# Convolutions see far, but through a few numbers. The other block of SNAIL is attention: each place asks all places so far, **itself included**, and what it reads is put beside its own vector (the listing AttentionBlock, here without the biases of its three maps):
#
# $$\text{block}_t = \big[\,x_t;\ \textstyle\sum_{s \le t} \alpha_{ts}\, x_s W_v\,\big] \qquad \alpha_t = \text{softmax}_{s \le t}\Big(\frac{(x_t W_q) \cdot (x_s W_k)}{\sqrt{K}}\Big)$$
#
# The softmax runs only over the places up to $t$. Scores may be very large, above and below 0.


# %%
def attention_block(x, weight_q, weight_k, weight_v):
    """Return x with what each place reads from all places so far beside it.

    Args:
        x: B×T×D.
        weight_q: D×K.
        weight_k: D×K.
        weight_v: D×E.

    Returns:
        The block's result, B×T×(D+E): x first, then what is read.

    Example:
        >>> zero, one = torch.zeros(1, 1), torch.ones(1, 1)
        >>> attention_block(torch.tensor([[[2.0], [6.0]]]), zero, zero, one)  # even weights
        tensor([[[2., 2.],
                 [6., 4.]]])
    """
    ### BEGIN SOLUTION
    query, key, value = x @ weight_q, x @ weight_k, x @ weight_v  # B T K, B T K, B T E
    scores = query @ key.mT / key.shape[-1] ** 0.5  # B T T
    later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)  # T T
    weights = scores.masked_fill(later, -torch.inf).softmax(dim=-1)  # B T T
    return torch.cat([x, weights @ value], dim=-1)
    ### END SOLUTION


# %%
check("19.attention_block", attention_block)

# %% [markdown]
# ## 19.catch_label_leak
#
# A model that learns from a few examples reads pairs of an input and a label, and predicts each label from the pairs before. The check hands your function one **model** after another: `model(inputs, labels)` takes inputs T×3 (float32) and labels T (int64, classes 0 to 4), and returns T×V numbers, one row of predictions for each place. Return `True` for one that keeps these promises, and `False` for any other:
#
# 1. The prediction at each place t, from 0 on, depends **neither on the label at t nor on any later one**.
# 2. The prediction at each place t > 0 depends on **at least one label before t**, whichever it is.
# 3. It takes a single place, too, and its numbers are finite.
#
# T = 1 or T = 10 shows a broken promise. A model may notice only changes to or from one class, so try all five at each place. Then what is seen moves some number by more than $10^{-4}$, and rounding stays below $10^{-5}$. Let inputs be random, of about 1. A model that raises an error is wrong, and must not stop your test; one that is called a thousand times may take too long.


# %%
def catch_label_leak(model):
    """Tell whether a model sees labels before each place, and none from that place on.

    Args:
        model: a function (inputs T×3, labels T) → predictions T×V, which may be wrong and may raise.

    Returns:
        True if it is right, False if it is wrong.

    Example:
        >>> catch_label_leak(lambda inputs, labels: labels[:, None].float())  # it says what it is asked for
        False
    """
    ### BEGIN SOLUTION
    draw, blind = torch.Generator().manual_seed(0), 0
    try:
        for T in (1, 10):
            inputs, labels = torch.randn(T, 3, generator=draw), torch.randint(0, 5, (T,), generator=draw)
            before = model(inputs, labels)  # T V
            moved = torch.zeros(T, dtype=torch.bool)
            for s in range(T):
                for shift in range(1, 5):
                    changed = labels.clone()
                    changed[s] = (labels[s] + shift) % 5
                    after = model(inputs, changed)
                    if not torch.allclose(after[: s + 1], before[: s + 1], atol=1e-5):
                        return False
                    moved |= (after - before).abs().amax(dim=1) > 1e-5
            blind += (~moved[1:]).sum()  # places that no label before them has moved
        return bool(blind == 0)
    except Exception:
        return False
    ### END SOLUTION


# %%
check("19.catch_label_leak", catch_label_leak)

# %% tags=["own-machine"]
progress()

# %% [markdown]
# Stuck on one? `hint("19.dilations")` gives the next hint, and `solution("19.dilations")` shows an answer after a try.
