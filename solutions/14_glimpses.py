# %% [markdown]
# You build parts of a model that sees an image only through a few small glimpses: its sensor, the layers that read a glimpse, and the loss that teaches it both what it sees and where to look. At the end you write a test that finds models which have seen more than their glimpses show. The letters:
# B images, Y and X height and width of an image in pixels, T glimpses, P pixels of a glimpse, H width of a hidden layer, D width of a glimpse's features, V classes.
# **A location is a pair (x, y) of numbers from −1 to 1**: (−1, −1) is the upper left corner of the image, (0, 0) its centre, and (1, 1) its lower right corner. x runs to the right and y down.

# %%
import torch
import torch.nn.functional as F

from course_utils import check, hint, progress, solution
from course_utils.models.glimpses import corner as reference_corner
from course_utils.models.glimpses import glimpse as reference_glimpse

# %% [markdown]
# ## 14.corner
#
# A location says where to look, whatever the size of the image. To cut something out, we need pixels. An image has `width` columns of pixels, counted from 0, and the location's pixel is the one in which it lies; a **patch** of `side` × `side` pixels is cut out around it. Its upper left corner is
#
# $$\text{left} = \left\lfloor \frac{x + 1}{2} \cdot \text{width} \right\rfloor - \left\lfloor \frac{\text{side}}{2} \right\rfloor \qquad \text{top} = \left\lfloor \frac{y + 1}{2} \cdot \text{height} \right\rfloor - \left\lfloor \frac{\text{side}}{2} \right\rfloor$$
#
# where $\lfloor\;\rfloor$ rounds down. Near a border the patch reaches beyond the image, and its corner may be negative: leave it as it is. Return `top` first, then `left`, as tensors of whole numbers.


# %%
def corner(location, height, width, side):
    """Return the upper left corner of a square patch around a location.

    Args:
        location: B×2, (x, y) from -1 to 1.
        height: of the image in pixels, an int.
        width: likewise.
        side: of the patch in pixels, an int.

    Returns:
        top: B, the patch's first row, a whole number, perhaps below 0.
        left: B, its first column.

    Example:
        >>> corner(torch.tensor([[0.0, 0.0], [0.9, -0.7]]), 10, 20, 4)
        (tensor([ 3, -1]), tensor([ 8, 17]))
    """
    ### BEGIN SOLUTION
    x, y = location[:, 0], location[:, 1]  # B each
    column = ((x + 1) / 2 * width).floor().long()
    row = ((y + 1) / 2 * height).floor().long()
    return row - side // 2, column - side // 2
    ### END SOLUTION


# %%
check("14.corner", corner)

# %% [markdown]
# ## 14.glimpse
#
# The sensor of Mnih et al. (2014, section 3.1) works like a retina: sharp in the middle, coarse around it. A **glimpse** is made of several patches around one location. Patch $k$, counted from 0, has a side of $\text{size} \cdot 2^k$ pixels and begins at the corner that `14.corner` gives for this side.
# Then it is reduced to $\text{size} \times \text{size}$ cells: each cell is the mean of a block of $2^k \times 2^k$ pixels. With $p$ for the pixels of patch $k$,
#
# $$\text{patches}_{k, i, j} = \frac{1}{4^k} \sum_{a = 0}^{2^k - 1} \sum_{c = 0}^{2^k - 1} p_{\, i \cdot 2^k + a,\; j \cdot 2^k + c}$$
#
# Where a patch reaches beyond the image there are **zeros**, and they count in the mean. A gradient reaches the image but not the location, which has been rounded. `reference_corner(location, height, width, side)` is `14.corner`; the first cell has imported it from `course_utils.models.glimpses`.


# %%
def glimpse(image, location, size, scales):
    """Return patches around a location, each twice as wide as the one before, all reduced to the same size.

    Args:
        image: B×Y×X.
        location: B×2, (x, y) from -1 to 1.
        size: of a patch, in cells, an int from 1 on.
        scales: how many patches, an int from 1 on.

    Returns:
        The patches, B×scales×size×size.

    Example:
        >>> image = torch.tensor([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]])
        >>> glimpse(image, torch.tensor([[0.0, 0.0]]), 1, 2)
        tensor([[[[5.]],
        <BLANKLINE>
                 [[3.]]]])
    """
    ### BEGIN SOLUTION
    patches = []
    for k in range(scales):
        side = size * 2**k
        top, left = reference_corner(location, image.shape[1], image.shape[2], side)  # B each
        padded = F.pad(image, (side, side, side, side))  # zeros around it: everything moves by `side`
        rows = (top + side)[:, None] + torch.arange(side)  # B side
        columns = (left + side)[:, None] + torch.arange(side)
        batch = torch.arange(len(image))[:, None, None]
        pixels = padded[batch, rows[:, :, None], columns[:, None]]  # B side side
        patches.append(F.avg_pool2d(pixels, 2**k))  # B size size
    return torch.stack(patches, dim=1)
    ### END SOLUTION


# %%
check("14.glimpse", glimpse)

# %% [markdown]
# ## 14.glimpse_features
#
# A stroke in the upper left means something else than the same stroke in the middle, so the model has to know **what** it has seen and **where**. Two small layers stand side by side, and their outputs are joined by a sum. With $p$ for all numbers of a glimpse in one row and $l$ for its location,
#
# $$g = \text{ReLU}\big(W_1 \, \text{ReLU}(W_{\text{what}}\, p) + W_2 \, \text{ReLU}(W_{\text{where}}\, l)\big)$$
#
# ReLU leaves what is above 0 and turns everything else into 0. The paper's layers (section 4) have biases as well; here we leave them out.


# %%
def glimpse_features(patches, location, weight_what, weight_where, weight_1, weight_2):
    """Return one vector for what was seen and where.

    Args:
        patches: B×P, all pixels of a glimpse in one row.
        location: B×2.
        weight_what: H×P.
        weight_where: H×2.
        weight_1: D×H, for what.
        weight_2: D×H, for where.

    Returns:
        The features, B×D.

    Example:
        >>> patches, location = torch.tensor([[1.0, 2.0]]), torch.tensor([[0.5, -1.0]])
        >>> glimpse_features(patches, location, torch.ones(1, 2), torch.eye(2)[:1], torch.ones(1, 1), torch.ones(1, 1))
        tensor([[3.5000]])
    """
    ### BEGIN SOLUTION
    what = torch.relu(patches @ weight_what.T)  # B H
    where = torch.relu(location @ weight_where.T)  # B H
    return torch.relu(what @ weight_1.T + where @ weight_2.T)
    ### END SOLUTION


# %%
check("14.glimpse_features", glimpse_features)

# %% [markdown]
# ## 14.location_log_probability
#
# The network does not return the next location itself, but the mean $\mu$ of a **Gaussian** around which the location $l$ is drawn. Its spread $\sigma$ (`std`) is fixed and the same in both directions, and x and y are drawn independently of each other. To make good locations more probable, we need the logarithm of their density:
#
# $$\ln p(l) = \sum_{c \in \{x, y\}} \left( -\frac{(l_c - \mu_c)^2}{2 \sigma^2} - \ln \sigma - \frac12 \ln 2\pi \right)$$
#
# Return one number for each location, also where it lies 50 standard deviations away. A gradient reaches both `location` and `mean`: while the model learns, the location that was drawn is cut off with `.detach()` before it comes in here, so you need not do it again.


# %%
def location_log_probability(location, mean, std):
    """Return the log density of a location under a Gaussian.

    Args:
        location: B×2, what was drawn.
        mean: B×2, the middle of the Gaussian.
        std: its standard deviation in both directions, a number above 0.

    Returns:
        log_probability: B, the natural logarithm of the density.

    Example:
        >>> location_log_probability(torch.tensor([[0.5, 0.0]]), torch.tensor([[0.0, 0.0]]), 1.0)
        tensor([-1.9629])
    """
    ### BEGIN SOLUTION
    away = (location - mean) / std  # B 2
    constant = torch.log(torch.tensor(2 * torch.pi * std**2))  # ln σ + ½ ln 2π, for both directions
    return -(away**2).sum(1) / 2 - constant
    ### END SOLUTION


# %%
check("14.location_log_probability", location_log_probability)

# %% [markdown]
# ## 14.hybrid_loss
#
# The label says what is in the image, but nobody says where to look. So the loss has three parts (section 3.2, "hybrid supervised loss"). The **cross-entropy** of the logits and the label trains what the model makes of its glimpses. **REINFORCE** trains where it looks: the reward $R$ of an image, such as 1 for a right answer and 0 for a wrong one, comes at the end, and all of its $T$ choices share it, as in `08.reinforce_loss`.
# And each step's baseline $b_t$, which is a guess of the reward, learns from its own **squared error**:
#
# $$\frac1B \sum_b -\ln \text{softmax}(\text{logits}_b)_{\text{label}_b} \;-\; \frac1B \sum_b \sum_t \underbrace{(R_b - b_{bt})}_{\text{a plain number}} \ln p_{bt} \;+\; \frac{1}{B\,T} \sum_b \sum_t (R_b - b_{bt})^2$$
#
# No gradient reaches the baseline through the second part, but one does through the third. The reward is given, and the check does not look at its gradient.


# %%
def hybrid_loss(logits, label, log_probability, reward, baseline):
    """Return the loss that trains what is seen, where to look, and the baseline.

    Args:
        logits: B×V.
        label: the right classes, B ids.
        log_probability: of the chosen locations, B×T.
        reward: B.
        baseline: a guess of the reward at each step, B×T.

    Returns:
        The loss, one number.

    Example:
        >>> logits, label, reward = torch.tensor([[0.0, 0.0]]), torch.tensor([1]), torch.tensor([1.0])
        >>> hybrid_loss(logits, label, torch.tensor([[-1.0, -3.0]]), reward, torch.tensor([[0.0, 0.5]]))
        tensor(3.8181)
    """
    ### BEGIN SOLUTION
    advantage = reward[:, None] - baseline  # B T
    classify = F.cross_entropy(logits, label)
    look = -(advantage.detach() * log_probability).sum(1).mean()
    guess = (advantage**2).mean()
    return classify + look + guess
    ### END SOLUTION


# %%
check("14.hybrid_loss", hybrid_loss)

# %% [markdown]
# ## What has it seen?
#
# A model that is to learn where to look must not know what lies elsewhere. It is easy to tell it by accident: somebody subtracts the mean of the whole image, blurs it before cutting, or moves a glimpse that reaches beyond the border. The model then learns well, and what it shows about glimpses is wrong.

# %% [markdown]
# ## 14.catch_peeking
#
# The check hands your function one **model** after another, called as `model(image, locations, size, scales)`: an image Y×X and locations T×2, float32. It returns V numbers. Return `True` for one that keeps these promises, and `False` for any other:
#
# 1. It sees the image only through its T glimpses, made as in `14.glimpse`: pixels that lie in none of them have **no effect** on any of its numbers.
# 2. So it is for images of any shape, and for locations anywhere from −1 to 1.
# 3. Its numbers are finite.
#
# It may use its glimpses as it likes, or not at all, and may know the locations and the image's shape. Thirty random settings show a broken promise: sides of 5 to 30 pixels, 1 to 4 locations, `size` and `scales` from 1 to 3. With random pixels of about 1, what peeks moves by more than $10^{-4}$ in some of them; rounding stays below $10^{-5}$. A model that raises an error is wrong, and must not stop your test. No gradient passes through models.
# `reference_corner` and `reference_glimpse` are `14.corner` and `14.glimpse`.


# %%
def catch_peeking(model):
    """Tell whether a model sees an image through its glimpses alone.

    Args:
        model: a function (image Y×X, locations T×2, size, scales) → V numbers, which may be wrong and may raise.

    Returns:
        True if pixels outside all its glimpses have no effect, False if they have.

    Example:
        >>> catch_peeking(lambda image, locations, size, scales: locations.sum(0))
        True
        >>> catch_peeking(lambda image, locations, size, scales: image.mean().reshape(1))
        False
    """
    ### BEGIN SOLUTION
    draw = torch.Generator().manual_seed(0)

    def stays(trial):
        Y, X = torch.randint(4, 31, (2,), generator=draw).tolist()
        T, size, scales = trial % 5 + 1, trial % 4 + 1, trial % 3 + 1
        image, other = torch.randn(2, Y, X, generator=draw).clamp(-9, 9)
        locations = 2 * torch.rand(T, 2, generator=draw) - 1

        pixels = torch.zeros(T, Y, X, requires_grad=True)  # a gradient reaches those that are seen
        reference_glimpse(pixels, locations, size, scales).sum().backward()
        seen = (pixels.grad != 0).any(0)  # Y X

        before = model(image, locations, size, scales)
        after = model(torch.where(seen, image, other), locations, size, scales)
        return torch.allclose(before, after, atol=1e-5)

    try:
        return all(stays(trial) for trial in range(30))
    except Exception:
        return False
    ### END SOLUTION


# %%
check("14.catch_peeking", catch_peeking)

# %% tags=["own-machine"]
progress()

# %% [markdown]
# Stuck on one? `hint("14.glimpse")` gives the next hint, and `solution("14.glimpse")` shows an answer after a try.
