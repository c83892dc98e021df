# %% [markdown]
# You begin with the steps that attention should point to. Then you set a small SNAIL's weights by hand and let training find them. You choose the dilation of each convolution, repair SNAIL's two blocks and write a test that catches models that see the label they should predict.
#
# Shape letters: B sequences, T steps, D dimension of a step, F new features that a convolution computes, K dimension of queries and keys, E dimension of values, L labels.

# %%
import torch
import torch.nn.functional as F

from course_utils import check, hint, predict, progress, reveal, solution


def attend(weights, x):  # x B T D
    """Return the attention weights B×T×T and the answers B×T×L."""
    beginning = torch.zeros_like(x[:, :1])  # B 1 D
    earlier = torch.cat([beginning, x[:, :-1]], dim=1)  # B T D: the previous step
    z = x @ weights["W_1"].T + earlier @ weights["W_0"].T  # B T F
    h = torch.cat([x, z], dim=-1)  # B T D+F
    queries = h @ weights["W_q"]  # B T K
    keys = h @ weights["W_k"]  # B T K
    T = x.shape[1]
    causal_mask = torch.ones(T, T, dtype=torch.bool).tril()  # T T: True may look
    scores = (queries @ keys.mT).masked_fill(~causal_mask, -torch.inf)  # B T T
    attention = scores.softmax(-1)  # B T T
    return attention, attention @ h @ weights["W_v"]  # B T T, B T L


# %% [markdown]
# ## 19.ideal_weights
#
# Here, an episode contains **characters** instead of pictures, and each character is an integer. Step t reads the character `characters[t]` and, along with it, the label of the *previous* step. The last character has been shown before, once or several times.
#
# Return the weights with which the last step should attend to all steps. It should find the labels of its character, so all steps at which such a label is read get the same weight, all other steps get 0, and the weights sum to 1. A step may attend to itself.
#
# For example, suppose the characters are 3, 1, 3, 2, 3. Steps 0 and 2 also show a 3. Where are their labels read, and what are the five weights? Compare with the example below.


# %%
def ideal_weights(characters):
    """Return the attention weights of the last step.

    Args:
        characters: T whole numbers, the last of which also occurs earlier.

    Returns:
        The weights of the T steps, T numbers that sum to 1.

    Example:
        >>> ideal_weights(torch.tensor([3, 1, 3, 2, 3]))
        tensor([0.0000, 0.5000, 0.0000, 0.5000, 0.0000])
    """
    ### BEGIN SOLUTION
    shown = characters[:-1] == characters[-1]  # T-1
    read = torch.cat([torch.tensor([False]), shown])  # T: a label is read one step later
    return read / read.sum()
    ### END SOLUTION


# %%
check("19.ideal_weights", ideal_weights)

# %% [markdown]
# ## 19.labels_by_hand
#
# Now each character is a one-hot vector. Step t reads $x_t$, which consists of the character and the one-hot label of the *previous* step. A convolution and an attention layer follow, without activations or scaling:
#
# $$z_t = W_1 x_t + W_0 x_{t-1} \qquad h_t = [x_t;\ z_t] \qquad \text{answer}_t = \sum_{s \le t} \text{softmax}_s\big((h_t W_q) \cdot (h_s W_k)\big)\, h_s W_v$$
#
# Choose F, K and the five matrices. Wherever a character has been shown before in the episode, the answer's largest entry must be the entry for its label, and most of the weight must be where that label was read. Episodes have up to `steps` steps. Many choices are correct. Try yours with `attend` from the first cell.


# %%
def labels_by_hand(characters, labels, steps):
    """Return the weights of a network that labels what it has seen before.

    Args:
        characters: how many characters there are, at least 2.
        labels: how many labels there are, L; at least 2. So D is characters + labels.
        steps: how many steps the longest episode has.

    Returns:
        A dict with W_0 and W_1, F×D; W_q and W_k, (D+F)×K; W_v, (D+F)×L.

    Example:
        >>> weights = labels_by_hand(2, 2, 3)
        >>> episode = torch.tensor([[[1.0, 0, 0, 0], [0, 1, 0, 1], [1, 0, 1, 0]]])  # characters 0, 1, 0 with labels 1, 0
        >>> attend(weights, episode)[1][0, 2].argmax()
        tensor(1)
    """
    ### BEGIN SOLUTION
    sizes = (characters, labels, characters)  # the parts of h: character, label, character of the step before
    character, label, before = torch.eye(sum(sizes)).split(sizes, dim=1)  # each picks its part out of h
    W_0 = torch.eye(characters, characters + labels)  # z is the character of the step before
    return {"W_0": W_0, "W_1": 0 * W_0, "W_q": 30 * character, "W_k": before, "W_v": label}
    ### END SOLUTION


# %%
check("19.labels_by_hand", labels_by_hand)

# %% [markdown]
# ## Can training find the weights?
#
# Now the network starts from random weights. It learns from episodes of 20 steps with five characters, whose labels are assigned anew in each episode. You need not follow the code in the next two cells.


# %%
N = L = 5


def episodes(draw, batch=64, steps=20):
    """Return x B×T×D, the labels B×T, and True where the label of a character was read at a step, B×T×T."""
    ids = torch.randint(N, (batch, steps), generator=draw)  # B T
    labels = torch.rand(batch, N, generator=draw).argsort(-1).gather(1, ids)  # B T
    read = F.pad(F.one_hot(labels, L).float(), (0, 0, 1, 0))[:, :-1]  # B T L
    found = F.pad(ids[:, :, None] == ids[:, None, :], (1, 0))[..., :-1].tril()  # B T T
    return torch.cat([F.one_hot(ids, N).float(), read], -1), labels, found


# %% [markdown]
# The loss depends only on the labels. Will training shift the weight to where you have put it? Guess what share of the weight is on the correct label after 300 steps. If all weights were equal, it would be about 0.2.

# %%
predict("19.by_training", ...)

# %% tags=["reveals"]
sizes = {"W_0": (N, N + L), "W_1": (N, N + L), "W_q": (2 * N + L, N), "W_k": (2 * N + L, N), "W_v": (2 * N + L, L)}
torch.manual_seed(0)
network = torch.nn.ParameterDict({name: torch.nn.Parameter(0.3 * torch.randn(size)) for name, size in sizes.items()})
optimizer, draw = torch.optim.Adam(network.parameters(), lr=0.02), torch.Generator().manual_seed(0)
for _ in range(300):
    x, labels, found = episodes(draw)
    known = found.any(-1)  # B T
    optimizer.zero_grad()
    F.cross_entropy(10 * attend(dict(network), x)[1][known], labels[known]).backward()
    optimizer.step()
x, labels, found = episodes(torch.Generator().manual_seed(1))
weights, answers = attend(network, x)
known = found.any(-1)  # B T
print(f"The trained network: {(answers.argmax(-1) == labels)[known].float().mean():.2f} of the labels are right.")
reveal("19.by_training", round((weights * found).sum(-1)[known].mean().item(), 2))

# %% [markdown]
# ## 19.dilations
#
# In the lesson, a convolution reads two steps. It can also read more: with a **kernel** of k weights and a dilation d, it reads the step itself and the steps that are d, 2d, …, (k-1)d before it. Each layer reads the previous layer's output.
#
# Begin by hand: with a kernel of 3, the first layer has a dilation of 1, so each step sees 3 steps. What is the largest dilation of the second layer that leaves no gap, and how many steps does each step then see?
#
# <details><summary>Answer</summary>
#
# The largest dilation is 3. The second layer joins three stretches of 3 steps, so each step sees 9.
#
# </details>
#
# Now choose the dilations for any kernel so that they keep these promises:
#
# 1. The last of `steps` steps sees **every** step.
# 2. There are **as few layers** as possible.
# 3. The first dilation is 1, and each later one, including the last, is as large as it can be without leaving a gap.


# %%
def dilations(steps, kernel):
    """Return the dilations of a stack of convolutions through which the last step sees all steps.

    Args:
        steps: how many steps a sequence has, at least 1.
        kernel: how many weights a convolution has, at least 2.

    Returns:
        A list of whole numbers, which is empty for a single step.

    Example:
        >>> dilations(10, 2)
        [1, 2, 4, 8]
    """
    ### BEGIN SOLUTION
    layers, seen = 0, 1
    while seen < steps:
        layers, seen = layers + 1, seen * kernel
    return [kernel**layer for layer in range(layers)]
    ### END SOLUTION


# %%
check("19.dilations", dilations)

# %% [markdown]
# ## 19.two_blocks
#
# The code below is meant to be a dense block and an attention block. It raises no error but has three faults, two of which let later steps change a step's result. `F.conv1d` is also a convolution: it expects the feature axis before the step axis and applies the first matrix to the earlier step.
#
# ```python
# padded = F.pad(x.mT, (0, dilation))
# f, g = (F.conv1d(padded, weight, dilation=dilation).mT for weight in (weight_f, weight_g))
# x = torch.cat([x, f.tanh() * g.sigmoid()], -1)
# scores = (x @ weight_q) @ (x @ weight_k).mT / weight_k.shape[1] ** 0.5
# later = torch.ones(scores.shape[1:], dtype=torch.bool).triu()
# weights = scores.softmax(-1).masked_fill(later, 0.0)
# return torch.cat([x, weights @ (x @ weight_v)], -1)
# ```
#
# Repair them:
#
# 1. The result at t depends on **no later step**.
# 2. Each step attends to itself and all earlier steps, and its weights sum to 1.
# 3. The result contains x, then the new features, then the context.


# %%
def two_blocks(x, weight_f, weight_g, dilation, weight_q, weight_k, weight_v):
    """Return the result of a dense block and an attention block for x.

    Args:
        x: B×T×D.
        weight_f, weight_g: F×D×2, of values and gates; the last of the two is for the step itself.
        dilation: how many steps back the other one is, from 1.
        weight_q, weight_k: (D+F)×K.
        weight_v: (D+F)×E.

    Returns:
        B×T×(D+F+E).

    Example:
        >>> weight, zero, one = torch.zeros(1, 1, 2), torch.zeros(2, 1), torch.tensor([[1.0], [0.0]])
        >>> two_blocks(torch.tensor([[[2.0], [6.0]]]), weight, weight, 1, zero, zero, one)  # equal weights
        tensor([[[2., 0., 2.],
                 [6., 0., 4.]]])
    """
    ### BEGIN SOLUTION
    padded = F.pad(x.mT, (dilation, 0))  # B D dilation+T
    f, g = (F.conv1d(padded, weight, dilation=dilation).mT for weight in (weight_f, weight_g))  # B T F
    x = torch.cat([x, f.tanh() * g.sigmoid()], -1)  # B T D+F
    scores = (x @ weight_q) @ (x @ weight_k).mT / weight_k.shape[1] ** 0.5  # B T T
    later = torch.ones(scores.shape[1:], dtype=torch.bool).triu(1)  # T T
    weights = scores.masked_fill(later, -torch.inf).softmax(-1)  # B T T
    return torch.cat([x, weights @ (x @ weight_v)], -1)
    ### END SOLUTION


# %%
check("19.two_blocks", two_blocks)

# %% [markdown]
# ## 19.catch_label_leak
#
# A model takes inputs T×3 (float32) and labels T (int64, from 0 to 4), and `model(inputs, labels)` returns predictions T×V. Write a test that returns `True` if a **model** keeps these promises and `False` otherwise:
#
# 1. The prediction at t depends on **no label from t onwards**.
# 2. At each step t > 0, the prediction depends on **at least one label before t**, no matter which.
# 3. The model accepts a single step and raises no error.
#
# Random inputs and labels with T = 1 and T = 10 are enough. Try all five labels at each step, because a model may depend on only one of them. If a prediction depends on a label, some number changes by more than $10^{-4}$, whereas rounding changes numbers by less than $10^{-5}$. Call the model fewer than 1,000 times.


# %%
def catch_label_leak(model):
    """Tell whether a model sees labels before each step, and none from that step on.

    Args:
        model: a function (inputs T×3, labels T) → predictions T×V, which may be incorrect and may raise.

    Returns:
        True if it is correct, False if it is not.

    Example:
        >>> catch_label_leak(lambda inputs, labels: labels[:, None].float())  # it returns the label itself
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
                    if not torch.allclose(after[: s + 1], before[: s + 1], rtol=0, atol=1e-5):
                        return False
                    moved |= (after - before).abs().amax(dim=1) > 1e-5
            blind += (~moved[1:]).sum()  # steps that no label before them has moved
        return bool(blind == 0)
    except Exception:
        return False
    ### END SOLUTION


# %%
check("19.catch_label_leak", catch_label_leak)

# %% tags=["own-machine"]
progress()

# %% [markdown]
# Stuck on one? `hint("19.labels_by_hand")` gives the next hint, and `solution("19.labels_by_hand")` shows a solution after a try.
