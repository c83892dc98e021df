# %% [markdown]
# You begin with two things you can calculate by hand: the location of a bright spot in a coarse patch, and where a training step moves the mean of the next look. Then you repair the sensor, take the step from one look to the next, and repair the loss. Finally, you write a test that catches models that see more than their glimpses.
#
# The letters: B images, Y and X their height and width in pixels, T glimpses, D the dimension of the features and of the state, V classes.
#
# **A location is a pair (x, y) of numbers from −1 to 1**: (−1, −1) is the upper left corner of the image, and (0, 0) is its centre. x runs to the right and y down.

# %%
import torch
import torch.nn.functional as F

from course_utils import check, hint, predict, progress, reveal, solution
from course_utils.data.digit_fields import digit_fields
from course_utils.figures.tables import table
from course_utils.learner.train_answers import train_own
from course_utils.models import glimpses as ram
from course_utils.models.glimpses import corner as reference_corner
from course_utils.models.glimpses import glimpse as reference_glimpse
from course_utils.models.train_model import train_model

# %% [markdown]
# ## 14.bright_cell
#
# A look at `location` shows a bright cell in patch k, in row `row` and column `column`. At which location is the middle of this cell? That would be a good place to look next.
#
# Each patch has 8×8 cells. Take its middle to be at `location`, although the sensor rounds it to a pixel. Rows and columns of cells are counted from 0, so the middle of a patch is between cells 3 and 4. A cell in patch k is $2^k$ pixels wide and high. The picture has `side`×`side` pixels.
#
# Begin by hand: the model looks at a 24×24 field from (0, 0), and patch 1 is bright in column 0. How many cells, pixels and units of x lie between the two middles?
#
# <details><summary>Answer</summary>
#
# The middle of column 0 is 3.5 cells to the left, which is 7 pixels. A pixel is 2/24 wide, so x is -7 · 2/24 = -0.583.
#
# </details>


# %%
def bright_cell(location, row, column, k, side):
    """Return the location of the middle of a cell.

    Args:
        location: the centre of the look, 2 numbers, x and y.
        row, column: of the cell in its patch, from 0 to 7.
        k: the number of the patch, counted from 0.
        side: the height and width of the picture, in pixels.

    Returns:
        The location of the cell's middle, 2 numbers, x and y.

    Example:
        >>> bright_cell(torch.tensor([0.0, 0.5]), 5, 0, 1, 24)
        tensor([-0.5833,  0.7500])
    """
    ### BEGIN SOLUTION
    cells = torch.tensor([column + 0.5 - 4, row + 0.5 - 4])  # from the middle of the patch to that of the cell
    return location + cells * 2**k * 2 / side
    ### END SOLUTION


# %%
check("14.bright_cell", bright_cell)

# %% [markdown]
# ## 14.next_mean
#
# Predict where a training step moves the mean before the step is taken. There is no network here: the mean $\mu$ itself is learned.
#
# B locations were sampled from a Gaussian around the mean with standard deviation `std`. Each location earned a reward, and a baseline says what reward was expected. Now we take one step of gradient descent with step size `rate` on the second term of the hybrid loss:
#
# $$-\frac1B \sum_i (R_i - b_i) \ln p(l_i)$$
#
# Here, rewards, baselines and locations are plain numbers. Where is the mean afterwards? First calculate the example below by hand. The mean may leave the image, and your result need not be differentiable.


# %%
def next_mean(mean, location, std, reward, baseline, rate):
    """Return where the mean is after one step.

    Args:
        mean: 2 numbers, x and y.
        location: the sampled locations, B×2.
        std: a number above 0.
        reward: B.
        baseline: the reward that was expected, B.
        rate: the step size of gradient descent, a number.

    Returns:
        The mean after the step, 2 numbers.

    Example:
        >>> one = torch.tensor([1.0])
        >>> next_mean(torch.zeros(2), torch.tensor([[0.5, -0.5]]), 0.5, one, one / 2, 0.5)
        tensor([ 0.5000, -0.5000])
    """
    ### BEGIN SOLUTION
    surprise = reward - baseline  # B
    pushes = surprise[:, None] * (location - mean) / std**2  # B 2
    return mean + rate * pushes.mean(0)
    ### END SOLUTION


# %%
check("14.next_mean", next_mean)

# %% [markdown]
# ## 14.glimpse
#
# This sensor has three faults, none of which shows with a single patch well inside a square image.
#
# ```python
# def glimpse(image, location, size, scales):
#     B, Y, X = image.shape
#     patches = []
#     columns, rows = ((location + 1) / 2 * Y).floor().long().unbind(1)  # B each
#     for k in range(scales):
#         side = size * 2**k
#         left = (columns - side // 2).clamp(0, X - side)
#         top = (rows - side // 2).clamp(0, Y - side)
#         pixels = [image[b, top[b] :, left[b] :][:side, :side] for b in range(B)]
#         patches.append(torch.stack(pixels)[:, :: 2**k, :: 2**k])
#     return torch.stack(patches, 1)
# ```
#
# Repair it so that it keeps these promises ([lesson 14](../notebooks/14_glimpses.ipynb)):
#
# 1. Before a patch is reduced, the location's pixel is in row and column side // 2 of the patch, even if the image is not square. A location of 1 falls in the pixel after the last, outside the image.
# 2. Outside the image there are zeros, which count in the mean.
# 3. A cell in patch $k$ is the mean of $2^k \times 2^k$ pixels.
#
# Only the image gets a gradient.


# %%
def glimpse(image, location, size, scales):
    """Return patches around a location: each is twice as wide as the previous one, and all are reduced to the same size.

    Args:
        image: B×Y×X.
        location: B×2, (x, y) from -1 to 1.
        size: the side of a patch in cells, an int of 1 or more.
        scales: the number of patches, an int of 1 or more.

    Returns:
        The patches, B×scales×size×size.

    Example:
        >>> image = torch.tensor([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]])
        >>> glimpse(image, torch.tensor([[0.0, 0.0]]), 1, 2).flatten()
        tensor([5., 3.])
    """
    ### BEGIN SOLUTION
    patches, (Y, X), batch = [], image.shape[1:], torch.arange(len(image))[:, None, None]
    column, row = ((location + 1) / 2 * torch.tensor([X, Y])).floor().long().unbind(1)  # B each
    for k in range(scales):
        side = size * 2**k
        padded = F.pad(image, (side, side, side, side))  # zeros around it: everything moves by `side`
        rows, columns = (middle[:, None] + side - side // 2 + torch.arange(side) for middle in (row, column))
        pixels = padded[batch, rows[:, :, None], columns[:, None]]  # B side side
        patches.append(F.avg_pool2d(pixels, 2**k))  # B size size
    return torch.stack(patches, dim=1)
    ### END SOLUTION


# %%
check("14.glimpse", glimpse)

# %% [markdown]
# ## 14.next_look
#
# Take the step from one look to the next, with the paper's core and location network (section 4), without biases:
#
# $$h_t = \text{ReLU}(W_\text{features}\, g_t + W_\text{state}\, h_{t-1}) \qquad \mu = W_\text{location}\, h_t$$
#
# A location is sampled from a Gaussian around $\mu$: it is the mean plus `std` times `noise`, and the noise is standard normal. Return the new state, the next location, and the natural logarithm of the sampled location's density. Decide what has to be detached, so that these promises hold:
#
# 1. The sampled location is not a function of the weights. Its density trains them through $\mu$.
# 2. The density is computed for the location as it was sampled. In the location you return, coordinates beyond -1 or 1 become -1 or 1.
# 3. A loss on the returned state trains the core's weights, and so does the density.


# %%
def next_look(features, state, weight_features, weight_state, weight_location, noise, std):
    """Take the step from what a glimpse has shown to the next location.

    Args:
        features: what the glimpse has shown, B×D.
        state: the core's state before this glimpse, B×D.
        weight_features: D×D.
        weight_state: D×D.
        weight_location: 2×D, one row for x and one for y.
        noise: B×2.
        std: a number above 0.

    Returns:
        state: the new state, B×D.
        location: where to look next, B×2.
        log_probability: the log density of the sampled location, B.

    Example:
        >>> one, xy = torch.ones(1, 1), torch.tensor([[1.0], [-1.0]])
        >>> next_look(one / 4, one / 4, one, one, xy, torch.tensor([[2.0, 0.0]]), 1.0)
        (tensor([[0.5000]]), tensor([[ 1.0000, -0.5000]]), tensor([-3.8379]))
    """
    ### BEGIN SOLUTION
    state = torch.relu(features @ weight_features.T + state @ weight_state.T)  # B D
    mean = state @ weight_location.T  # B 2
    drawn = (mean + std * noise).detach()  # B 2
    away = (drawn - mean) / std  # B 2
    log_probability = -(away**2).sum(1) / 2 - torch.log(torch.tensor(2 * torch.pi * std**2))  # B
    return state, drawn.clamp(-1, 1), log_probability
    ### END SOLUTION


# %%
check("14.next_look", next_look)

# %% [markdown]
# ## 14.hybrid_loss
#
# The hybrid loss (section 3.2) has three terms: cross-entropy, REINFORCE for the looks, and the squared error of the baseline. The version below runs, but it has five faults. How would each fault affect training?
#
# ```python
# def hybrid_loss(logits, label, log_probability, reward, baseline):
#     surprise = reward[:, None] - baseline
#     look = (surprise.mean(1, keepdim=True) * log_probability).mean()
#     guess = surprise.detach().square().mean()
#     return F.cross_entropy(logits, label) + look + guess
# ```
#
# Repair it so that it keeps these promises:
#
# 1. Looks that earned more than expected become more probable, and the others less probable.
# 2. All looks of an image share its reward. Each look has its own baseline. Their term is a sum over T and a mean over B.
# 3. The baseline learns from its mean squared error over B and T, and from nothing else.
#
# The reward is given, and the check ignores its gradient.


# %%
def hybrid_loss(logits, label, log_probability, reward, baseline):
    """Return the loss that trains what is seen, where to look, and the baseline.

    Args:
        logits: B×V.
        label: the correct classes, B ids.
        log_probability: the log densities of the sampled locations, B×T.
        reward: B.
        baseline: the reward that was expected before each look, B×T.

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
# A model that learns where to look must not know what is elsewhere, and it is easy to give this away by accident: by subtracting the mean of the whole image, blurring the image before cutting, or moving a glimpse that reaches beyond the border. The model may then learn well, but what it seems to show about glimpses is wrong.

# %% [markdown]
# ## 14.catch_peeking
#
# The check passes your function one **model** after another. A model is called as `model(image, locations, size, scales)`, with an image Y×X and locations T×2, both float32. It returns V numbers, through which no gradient flows. Return `True` if the model keeps these promises and `False` otherwise:
#
# 1. Pixels that are in none of the model's T glimpses, made as in `14.glimpse`, have **no effect** on its output.
# 2. It raises no error.
#
# Twenty random settings are enough: sides of 5 to 20 pixels, 1 to 4 locations, `size` and `scales` from 1 to 3, pixel values of about 1. If a model peeks, at least one output then changes by more than $10^{-4}$. Rounding stays below $10^{-5}$. `reference_glimpse` is `14.glimpse`, and `reference_corner(location, height, width, side)` returns top rows and left columns.


# %%
def catch_peeking(model):
    """Tell whether a model sees an image only through its glimpses.

    Args:
        model: a function (image Y×X, locations T×2, size, scales) → V numbers. It may be wrong, and it may raise an error.

    Returns:
        True if pixels outside all its glimpses have no effect, False otherwise.

    Example:
        >>> catch_peeking(lambda image, locations, size, scales: locations.sum(0))
        True
        >>> catch_peeking(lambda image, locations, size, scales: image.mean().reshape(1))
        False
    """
    ### BEGIN SOLUTION
    draw = torch.Generator().manual_seed(0)

    def stays(trial):
        Y, X = torch.randint(5, 21, (2,), generator=draw).tolist()
        T, size, scales = trial % 4 + 1, trial // 3 % 3 + 1, trial % 3 + 1
        image, other = torch.randn(2, Y, X, generator=draw).clamp(-9, 9)
        locations = 2 * torch.rand(T, 2, generator=draw) - 1

        pixels = torch.zeros(T, Y, X, requires_grad=True)  # a gradient reaches those that are seen
        reference_glimpse(pixels, locations, size, scales).sum().backward()
        seen = (pixels.grad != 0).any(0)  # Y X

        before = model(image, locations, size, scales)
        after = model(torch.where(seen, image, other), locations, size, scales)
        return torch.allclose(before, after, rtol=0, atol=1e-5)

    try:
        return all(stays(trial) for trial in range(20))
    except Exception:
        return False
    ### END SOLUTION


# %%
check("14.catch_peeking", catch_peeking)

# %% [markdown]
# ## Your own loss: what should it reward?
#
# Your `hybrid_loss` takes the reward as an argument, so we can choose what to reward. The next cells train two small models with your loss, for 600 steps on fields of 24×24 pixels, with two looks each. One model is rewarded for its **answer**, as in the lesson: with the probability of the correct digit. The other is rewarded for its **look**: with 1 if the second look is in the digit's box and 0 otherwise. Cross-entropy teaches both models to answer. Which of them will name more digits correctly after so few steps?

# %%
predict("14.own", ...)


# %% tags=["own-machine"]
def for_the_answer(looks, labels, boxes):
    return looks.logits.detach().softmax(-1)[range(len(labels)), labels]  # B


def for_the_look(looks, labels, boxes):
    return ram.in_box(looks.locations[:, 1], boxes, side=24).float()  # B


def trained(hybrid_loss, reward):
    def loss_of_batch(draw):
        fields, labels, boxes = digit_fields(64, side=24, clutter=0, draw=draw)
        looks = model(fields, 2, 0.2, draw)
        earned = reward(looks, labels, boxes)
        return hybrid_loss(looks.logits, labels, looks.log_probability, earned, looks.baseline)

    torch.manual_seed(0)
    model = ram.RecurrentAttentionModel(size=8, scales=2, width=64)
    train_model(model, loss_of_batch, seed=0, steps=600, rate=3e-3)
    return ram.evaluate(model, side=24, looks=2)


# %% tags=["own-machine"]
def train(hybrid_loss):
    rows = {"the answer": trained(hybrid_loss, for_the_answer), "the look": trained(hybrid_loss, for_the_look)}
    reveal("14.own", max(rows, key=lambda name: rows[name][0]))
    return table(rows, ["right answers", "last look in the digit's box"], corner="rewarded for", digits=2)


train_own(train, {"14.hybrid_loss": hybrid_loss})

# %% [markdown]
# The model that is rewarded for its look soon hits the digit in nearly every field. The model that is rewarded for its answer hits no more often than before training in these 600 steps, and yet it names more digits correctly for each of five seeds. Finding a digit is therefore not the same as reading it. After five times as many steps, the order is reversed: averaged over two seeds, the model rewarded for its look names 74% of the digits correctly and the other model 69%. We have not tested why.

# %% tags=["own-machine"]
progress()

# %% [markdown]
# Stuck on one? `hint("14.glimpse")` gives the next hint, and `solution("14.glimpse")` shows a solution after a try.
