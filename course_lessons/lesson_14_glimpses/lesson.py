# %%
import math
from copy import deepcopy
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn

from course_lessons.lesson_14_glimpses import figures
from course_utils import check, predict, reveal
from course_utils.data.digit_fields import digit_fields
from course_utils.figures import diagrams
from course_utils.figures.tables import table
from course_utils.models import glimpses as ram  # the recurrent attention model
from course_utils.models.train_model import train_model

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# When you look for a friend in a crowd, your eyes jump from face to face, and what you have seen tells them where to go next. We build a network that looks at pictures in a similar way, a small part at a time, and train it with rewards.
#
# ## A digit somewhere on a field
#
# Our pictures are black fields of 24×24 pixels. Somewhere on each is a handwritten digit of 8×8 pixels, marked below by a dashed box. How many of the 576 pixels do you need to read it?

# %%
draw = torch.Generator().manual_seed(7)
fields, labels, corners = digit_fields(1000, side=24, clutter=0, draw=draw, part="test")
# fields: N Y X, labels: N, corners: N 2, the row and column where each box begins
figures.show_digits(fields, labels, corners)

# %% [markdown]
# The 64 pixels in the dashed box are enough. The **recurrent attention model** (Mnih et al., 2014) exploits this: instead of reading the whole picture, it takes a few looks, each of which shows a small part, called a **glimpse**. Our model starts in the centre, but in field 0 the 9 is at the left edge. How much of it does the first look show?
#
# ## A sensor: sharp in the middle, coarse at the edges
#
# To answer this, we need the **sensor**, the part of the model that cuts glimpses out of the picture. A **location** $l = (x, y)$ tells it where to look. Both coordinates range from -1 to 1: x runs to the right and y runs down, so (-1, -1) is the upper left corner and (0, 0) the centre.
#
# Pixels, however, are counted in rows and columns, so the sensor first finds the pixel in which the location lies. The square around the location begins half a side length above and to the left of that pixel. For example, x = 0.5 is three quarters of the way from -1 to 1, which is column 18 in a 24×24 field. Work out the row and column where the 8×8 square around (0.5, -0.5) begins.


# %% tags=["nbval-check-output"]
def corner(l, height, width, side):
    x, y = l
    column = int((x + 1) / 2 * width)  # of the pixel in which l lies
    row = int((y + 1) / 2 * height)
    return row - side // 2, column - side // 2


print("row and column:", corner((0.5, -0.5), height=24, width=24, side=8))

# %% [markdown]
# The square begins in row 2 and column 14, because the location is in row 6 and column 18 and half the side length is 4.
#
# A single small square would leave the rest of the picture unseen. Our eyes solve this by seeing sharply in the middle and coarsely further out, and the sensor imitates them: a glimpse combines several squares around the same location, called **patches**. Patch 0 is `size` pixels wide. Each subsequent patch is twice as wide as the previous one but is downsampled to `size` × `size` cells, so a cell in patch $k$ is the mean of $2^k \times 2^k$ pixels. Outside the picture, all pixels are 0. In the code, `F.avg_pool2d` computes the means and needs the extra axis that `[None]` adds.
#
# Calculate how many numbers a glimpse with two patches of 8×8 cells contains.


# %% tags=["nbval-check-output"]
def glimpse(picture, l, size, scales):  # picture: Y X, scales: how many patches
    Y, X = picture.shape
    patches = []
    for k in range(scales):
        side = size * 2**k  # in pixels
        row, column = corner(l, Y, X, side)
        padded = F.pad(picture, [side] * 4)  # with `side` zeros at each edge
        row = row + side  # in the padded picture, all rows have moved by `side`
        column = column + side
        square = padded[row : row + side, column : column + side]  # side side
        cells = F.avg_pool2d(square[None], 2**k)  # 1 size size
        patches.append(cells)
    return torch.cat(patches)  # scales size size


patches = glimpse(fields[0], (0.0, 0.0), size=8, scales=2)
by_package = ram.glimpse(fields[:1], torch.zeros(1, 2), size=8, scales=2)
print("numbers in a glimpse of a field:    ", patches.numel())
print("the package's sensor gives the same:", torch.allclose(patches, by_package[0]))

# %% [markdown]
# Two patches of 64 cells make 128 numbers, however large the picture is. From now on, we use the package's sensor, which gives the same glimpse but handles many pictures at once.
#
# What does the first look at field 0 show? Below, each of the two patches is framed in the colour of its square. Which patch could tell the model where the 9 is?

# %%
first_glimpse = figures.explore_glimpse(fields[0], corners[0])
first_glimpse

# %% [markdown]
# Patch 0 is of no help, because it is completely black. Patch 1, however, has a bright spot at its left edge: the right half of the 9, blurred. To see the 9 sharply, the model should next look further to the left.
#
# **Your turn**: move the sliders until patch 0 contains the whole digit. Which location have you found?
#
# <details><summary>Answer</summary>
#
# At x = -0.65 and y = 0.2, for example, patch 0 contains all 64 pixels of the box.
#
# </details>
#
# ## Four networks
#
# You could see the whole field when you chose that location, whereas the model has to choose from what it remembers of its glimpses. Four networks share this work (section 3 of the paper):
#
# - The **glimpse network** turns the glimpse of look $t$ and its location into a vector of features, $g_t$.
# - The **core** is the memory, a recurrent network that updates its state from $h_{t-1}$ to $h_t$ with these features.
# - The **location network** reads the state and outputs a mean $\mu$, around which the next location is sampled.
# - The **action network** reads the last state and outputs a logit, a score before the softmax, for each of the ten digits.
#
# In the diagram, B is the number of fields, P the number of cells in a glimpse, D the dimension of the state, and V the number of digits. Why does the glimpse network also need the location?

# %%
diagrams.recurrent_attention(new=["sensor", "glimpse", "location", "aim"])

# %% [markdown]
# The patches do not show where they were cut from, so the glimpse network has to be told. Its layer `what` reads the cells ρ of all patches, and `where` reads the location. Two more linear layers, `from_what` and `from_where`, combine the results:
#
# $$u = \text{ReLU}(\text{what}(\rho)) \qquad w = \text{ReLU}(\text{where}(l)) \qquad g = \text{ReLU}(\text{from\_what}(u) + \text{from\_where}(w))$$
#
# The other three networks have only one layer each. The core is the GRU cell from lesson 05, and the tanh keeps $\mu$ within the picture:
#
# $$h_t = \text{core}(g_t, h_{t-1}) \qquad \mu = \tanh(\text{location}(h_t)) \qquad \text{logits} = \text{action}(h_T),$$
#
# where $T$ is the number of looks.


# %%
class Networks(nn.Module):
    def __init__(self, size=8, scales=2, H=64, D=64, V=10):  # H: dimension of u and w
        super().__init__()
        self.size = size
        self.scales = scales
        self.what = nn.Linear(scales * size**2, H)
        self.where = nn.Linear(2, H)
        self.from_what = nn.Linear(H, D)
        self.from_where = nn.Linear(H, D)
        self.core = nn.GRUCell(D, D)
        self.location = nn.Linear(D, 2)
        self.action = nn.Linear(D, V)
        self.value = nn.Linear(D, 1)  # the expected reward, for training: see below

    def see(self, fields, l):  # B Y X, B 2
        rho = ram.glimpse(fields, l, self.size, self.scales)  # B scales size size
        u = self.what(rho.flatten(1)).relu()  # B H
        w = self.where(l).relu()  # B H
        return (self.from_what(u) + self.from_where(w)).relu()  # B D

    def aim(self, h):  # B D
        return self.location(h).tanh()  # B 2


# %% [markdown]
# ## How can it learn where to look?
#
# Suppose an answer is wrong because the last look missed the digit. Can the gradient of the loss tell us in which direction the location has to move? A gradient can reach the location through `where`, but that layer reads only the two coordinates. To depend on what the model would see elsewhere, the gradient would have to flow through the sensor as well. PyTorch can tell us whether it does: a result's `requires_grad` is True if a gradient can flow back from it.

# %% tags=["nbval-check-output"]
l = torch.zeros(1, 2, requires_grad=True)  # B 2
print("gradient for the location:", ram.glimpse(fields[:1], l, 8, 2).requires_grad)
pixels = fields[:1].clone().requires_grad_()  # B Y X
print("gradient for the pixels:  ", ram.glimpse(pixels, l, 8, 2).requires_grad)

# %% [markdown]
# A gradient can flow through the sensor to the pixels, but not to the location. The sensor rounds a location to a whole row and column, so moving it by a tiny amount changes nothing.
#
# The model therefore has to learn by trial and error, from a reward that tells it how good its locations were. In the paper, the reward is 1 for a correct answer and 0 for a wrong one. We use the probability that the model assigns to the correct digit, which also shows how close a wrong answer was.
#
# As in lesson 08, we use REINFORCE: a sampled location becomes more probable if its reward was higher than expected, and less probable if it was lower. Since a location can be anywhere, we sample it from a Gaussian around the mean μ, with standard deviation σ for both x and y. Its density $p(l)$ is largest at μ and falls with the distance from μ. In the logarithm, only the squared distance depends on μ:
#
# $$\log p(l) = -\frac{\lVert l - \mu \rVert^2}{2 \sigma^2} - \log(2 \pi \sigma^2) \qquad\qquad \nabla_{\!\mu} \log p(l) = \frac{l - \mu}{\sigma^2}$$
#
# In field 0, the 9 is on the left. Suppose the mean is (0.1, 0), σ is 0.2, and the location (0.3, 0) is sampled. The look misses the 9, so the reward is only 0.2, although 0.6 was expected. REINFORCE moves the mean by a multiple of (0.2 - 0.6) · ∇ log p(l).

# %% tags=["nbval-check-output"]
predict("14.mean", ...)


# %% tags=["reveals"]
def log_density(l, mu, sigma):  # B 2, B 2
    squared_distance = (l - mu).square().sum(-1)  # B
    return -squared_distance / (2 * sigma**2) - math.log(2 * math.pi * sigma**2)  # B


mu = torch.tensor([[0.1, 0.0]], requires_grad=True)  # B 2
l = torch.tensor([[0.3, 0.0]])  # B 2
log_density(l, mu, sigma=0.2).sum().backward()
gradient = mu.grad[0, 0].item()  # for x
print("The gradient for x, and the direction of the mean:")
print(f"by hand:    {(0.3 - 0.1) / 0.2**2:.1f}")
print(f"by PyTorch: {gradient:.1f}")
print(f"direction:  {(0.2 - 0.6) * gradient:.1f}")
reveal("14.mean", "left")

# %% [markdown]
# The mean moves to the left. The gradient of the log density always points from the mean to the sampled location, which is to the right here. But because the reward was lower than expected, the mean moves the other way.
#
# ## The whole model
#
# Now we can put the parts together. The first look is at the centre, and the other `looks` - 1 locations are sampled around μ.
#
# A reward may be high only because the digit is easy to read, so we compare it with the expected reward, the **baseline**, as in lesson 08. Here the baseline is learned: before each sample, the layer `value` predicts the reward from the state. In the line that calls `value`, `h.detach()` keeps this prediction from training the other layers.
#
# There is one trap. REINFORCE asks how probable a fixed location was, so the sampled location must not move along with its mean: no gradient may flow back through it. Find the line that ensures this.


# %%
class Output(NamedTuple):
    logits: torch.Tensor  # B V
    locations: torch.Tensor  # B T 2: T is the number of looks
    log_p: torch.Tensor  # B T-1: the first location is not sampled
    b: torch.Tensor  # B T-1: the reward expected before each sample


# %%
class Looker(Networks):
    def forward(self, fields, looks, sigma=0.0, draw=None):  # B Y X
        l = torch.zeros(len(fields), 2)  # B 2
        h = self.core(self.see(fields, l))  # B D
        locations = [l]
        log_p = []
        b = []
        for _ in range(looks - 1):
            mu = self.aim(h)  # B 2
            noise = sigma * torch.randn(mu.shape, generator=draw)  # B 2
            drawn = (mu + noise).detach()  # B 2
            if sigma > 0:
                log_p.append(log_density(drawn, mu, sigma))  # B
            else:
                log_p.append(torch.zeros(len(fields)))  # nothing was sampled
            b.append(self.value(h.detach())[:, 0])  # B: the expected reward
            l = drawn.clamp(-1, 1)  # B 2: it stays in the picture
            h = self.core(self.see(fields, l), h)  # B D
            locations.append(l)
        per_look = [torch.stack(one, 1) for one in (locations, log_p, b)]
        return Output(self.action(h), *per_look)


# %% [markdown]
# It is the line that begins with `drawn`: after `.detach()`, the location is only a pair of numbers.
#
# ## What to say, where to look, what to expect
#
# The loss for each field has one term for each of these tasks and is called the **hybrid loss** (section 3.2 of the paper). Here, $R$ is the reward and $b_t$ the baseline before look $t$. The sum begins with the second look because the first location is not sampled:
#
# $$\text{cross-entropy} \;-\; \sum_{t=2}^{T} (R - b_t) \log p(l_t) \;+\; \text{mean of } (R - b_t)^2$$
#
# The first term, the negative log probability of the correct digit, teaches the model what to say. The second is REINFORCE and teaches it where to look, while the third teaches `value` what to expect. In the second term, $R - b_t$ is treated as a constant, so no gradient flows through it.


# %%
def terms_of(output, labels):  # labels: B
    p = output.logits.detach().softmax(-1)  # B V
    reward = p[range(len(labels)), labels]  # B: of the correct digit in each field
    surprise = reward.unsqueeze(1) - output.b  # B T-1
    return {
        "cross-entropy": F.cross_entropy(output.logits, labels),
        "log density": -(surprise.detach() * output.log_p).sum(1).mean(),
        "squares": surprise.square().mean(),
    }


# %% [markdown]
# A term moves a layer if its gradient for that layer is not 0, which we check on the bias. Guess which term moves `location` and which terms move `core`.


# %% tags=["nbval-check-output"]
def moved_by(term, model):
    model.zero_grad()
    term.backward(retain_graph=True)  # the other terms need the same graph
    moved = []
    for layer in model.children():
        bias = list(layer.parameters())[-1]  # a layer's last parameter
        moved.append(bias.grad is not None and bool(bias.grad.any()))
    return moved


torch.manual_seed(0)
model = Looker()
draw = torch.Generator().manual_seed(0)
output = model(fields[:4], looks=2, sigma=0.2, draw=draw)  # B = 4 fields
rows = {}
for name, term in terms_of(output, labels[:4]).items():
    rows[name] = moved_by(term, model)
layers = [name for name, _ in model.named_children()]
table(rows, layers, corner="Does the term move the layer?")

# %% [markdown]
# Only the log density moves `location`. Both the log density and the cross-entropy move the core, whereas the squares move nothing but `value`.
#
# **Your turn**: delete `.detach()` in the line with `drawn` and run the cells from there. Which term moves `location` now?
#
# <details><summary>Answer</summary>
#
# Now only the cross-entropy moves `location`, because its gradient comes back through `where`. The log density no longer moves anything: the sampled location moves along with μ, so l - μ is always the noise. Put `.detach()` back.
#
# </details>
#
# ## Does it find the digit?
#
# We train the model for 2,000 steps, with two looks and new fields at each step. Over the first two thirds of the steps, σ falls from 0.5 to 0.1, where it stays, so the model tries locations far apart at first and close to μ later. In the test, σ is 0, and the model looks exactly at μ.
#
# A look **hits** if its centre is in the digit's box. Before training, the second look does so in about 20 of 100 fields, by chance.


# %%
def all_terms(terms):
    return sum(terms.values())


def train(model, loss):
    progress = torch.linspace(0, 1.5, 2000).clamp(max=1)
    sigmas = iter((0.5 - 0.4 * progress).tolist())  # one for each step

    def batch_loss(draw):
        fields, labels, _ = digit_fields(128, side=24, clutter=0, draw=draw)
        output = model(fields, looks=2, sigma=next(sigmas), draw=draw)
        return loss(terms_of(output, labels))

    train_model(model, batch_loss, seed=0, steps=2000, rate=3e-3)


# %%
@torch.no_grad()
def results(model):
    output = model(fields, looks=2)
    right = output.logits.argmax(-1) == labels  # N
    x_y = (output.locations[:, 1] + 1) / 2 * 24  # N 2: in pixels
    pixels = x_y.flip(-1)  # N 2: row and column, as corners have them
    hits = ((corners <= pixels) & (pixels <= corners + 8)).all(-1)  # N
    return [right.float().mean().item(), hits.float().mean().item()]


# %% tags=["nbval-check-output"]
predict("14.found", ...)

# %% tags=["reveals"]
print("Shares of fields with digits that the model has not seen in training:")
torch.manual_seed(0)
model = Looker()
before = results(model)
train(model, all_terms)
whole = results(model)
reveal("14.found", round(100 * whole[1]))
columns = ["right answers", "second look hits"]
rows = {"before training": before, "after 2,000 steps": whole}
table(rows, columns, digits=2)

# %% [markdown]
# The second look hits most digits, although the model was only ever told which digit it is. Before we compare five training runs, let us watch this one: where does the model look in our five fields? In the next picture, the orange squares are patch 0 of both looks, and the blue square is patch 1 of the first look.

# %%
with torch.no_grad():
    figures.show_looks(fields, labels, corners, model(fields, looks=2))

# %% [markdown]
# In all five fields, the second look goes from the centre towards the digit. A hit does not decide the answer, however: in field 0 the second look hits the 9, yet the model reads a 0. In field 4 it misses the 6, yet the model reads it correctly.
#
# Does the model see nothing but its glimpses? We can test this as we tested a mask in lesson 09, by changing the input. In field 0, no patch of either look reaches column 20. We turn four columns white from there on, and then, in a fresh copy, four columns that the first look shows. When will the logits change?

# %%
with torch.no_grad():
    usual = model(fields[:1], looks=2).logits  # B V
    for start in (20, 8):
        changed = fields[:1].clone()  # B Y X
        changed[:, :, start : start + 4] = 1.0  # four white columns
        change = model(changed, looks=2).logits - usual  # B V
        print(f"columns from {start}: largest change {change.abs().max():.2f}")

# %% [markdown]
# Only the change inside the glimpses changes the logits.
#
# ## Does the reward teach it where to look?
#
# Was it the reward that taught the model where to look? We train the same model again with the same seed, leaving the log density out of the loss. The cross-entropy still trains all the networks except the location network.


# %% tags=["nbval-check-output"]
def loss_without_looking(terms):
    return terms["cross-entropy"] + terms["squares"]


predict("14.without", ...)

# %% tags=["reveals"]
print("Without the reward for looking, after the same training:")
torch.manual_seed(0)
other = Looker()
train(other, loss_without_looking)
without = results(other)
reveal("14.without", "about as often")
rows["2,000 steps, without reward for looking"] = without
table(rows, columns, digits=2)

# %% [markdown]
# Without the reward for looking, the second look hits about as often as before training, and the model gets fewer answers right. The location network still has its random initial weights, so for this seed, it is the reward that teaches the model where to look.
#
# But how does the model know where the digit is? Our suspect is patch 1, so we compare the whole model, the model without the reward, and a copy of the whole model that gets no information from patch 1. Each dot in the plot stands for one of the 1,000 fields and is on the grey line if the second look has the same x as the digit. For which of the models will the dots lie along it?

# %%
blind = deepcopy(model)
blind.what.weight.data[:, 64:] = 0  # these columns read patch 1
models = {
    "whole model": model,
    "without reward for looking": other,
    "blind to patch 1": blind,
}
figures.show_following(models, fields, corners)

# %% [markdown]
# Only the second looks of the whole model follow the digit from left to right. The titles show the same for y: a correlation near 1 means that the look moves with the digit. The blind copy follows the digit at best near the centre. If the digit is at the left or right edge, none of it is in patch 0, and the second look always has the same x. The whole model has therefore learned to look where patch 1 shows a spot.
#
# ## Was it luck?
#
# One result of each kind may be luck, and the blind copy was trained with both patches, so it never learned to do without patch 1. The next table therefore shows five seeds for each kind, including models trained on patch 0 alone and models with only the first look. Fields now have 32×32 pixels, models are wider and train longer, and all but those on patch 0 have three patches of 64 cells. The last row is a convolutional network that reads all 1,024 pixels. Guess which change costs the most correct answers and which the most hits.

# %%
figures.compare_five_seeds()

# %% [markdown]
# Using patch 0 alone costs the most correct answers, and leaving out the reward costs the most hits. In both cases, the second look misses most digits for every seed, so the coarse patches and the reward both help to find the digit.
#
# But coarse patches can also be read. With only the first look, which hits by chance, the model gets 47% of the answers right, more than with two looks at patch 0 alone. With two looks and all the patches, the model reads 384 numbers and gets 80% of the answers right, whereas the network that reads all 1,024 pixels gets 94%. For every seed, the model reads more digits correctly with four looks than with two. On average, the last of the four hits less often, but an earlier look may have hit.
#
# ## What if one look is not enough?
#
# Until now, every bright spot was the digit. Now we add **clutter**, four pieces of other digits, so that a coarse patch shows several spots. The next models have four looks and were trained among clutter. The picture shows patches 0 and 1 of one model's looks; patch 2, which covers the whole field at the first look, is not shown.
#
# The table shows how often each look is the first to hit, in 1,000 fields for each of five seeds. Its second row lays the looks from one field over a different field. When the first two looks miss, how often does a later look still find the digit?

# %%
figures.show_looks_among_clutter(4)  # eight fields are stored, from 0 to 7

# %% [markdown]
# In 46 of 100 fields, on average, both of the first two looks miss. In 33 of these 46, the third or fourth look hits. Laid over a different field, these later looks are the first to hit in fewer than 10 of 100 fields, so where they go depends on what the model has seen. Finding a digit is not the same as reading it, though: among clutter, a model with four looks reads far fewer digits correctly than a network that sees all the pixels.
#
# ## Where should a network look next?
#
# A network should look next where, after similar glimpses in training, a look earned more than expected, and REINFORCE leads it towards such places. In our fields, such a place is a bright spot in a coarse patch: the patch shows where it is, and the reward teaches the model to look there.
#
# ## Where you will meet this
#
# In the paper's preprint, the best models misread 1.07% of MNIST's 28×28 digits and 1.20% of digits at random places on 60×60 pixels. Today, language models that read pictures can learn from rewards which part to enlarge, as in DeepEyes (Zheng et al., 2025).
#
# | here | in papers | in PyTorch |
# | --- | --- | --- |
# | `glimpse` | sensor, $\rho(x_t, l_{t-1})$ | `F.grid_sample`: same (x, y), but a gradient reaches them |
# | `log_density` | $\log \pi$ | `Normal.log_prob`, summed over x and y |
# | `drawn` | $l_t$ | `Normal.sample()`; a gradient flows through `rsample()` |
# | `core` | $f_h$, with ReLU | `nn.GRUCell` |

# %% tags=["nbval-check-output"]
normal = torch.distributions.Normal(mu, 0.2)
torch.allclose(normal.log_prob(l).sum(-1), log_density(l, mu, sigma=0.2))

# %% [markdown]
# ## Questions

# %%
check("14.q1", ...)

# %%
check("14.q2", ...)

# %%
check("14.q3", ...)

# %%
check("14.q4", ...)

# %%
check("14.q5", ...)

# %% [markdown]
# ## Recap
#
# - The model should look next where its coarse patches show a spot, as the reward has taught it to. Without coarse patches, or without the reward, the second look missed most digits.
# - A glimpse consists of a few patches around one location, sharp in the middle and coarse at the edges.
# - No gradient flows through the sensor to the location, so a location is sampled from a Gaussian. REINFORCE moves the mean towards the sampled location if the reward is higher than expected, and away from it if lower.
# - The hybrid loss has three terms: what to say, where to look and what to expect. Only the second moves the location network.
# - Whether a model sees only its glimpses can be tested: change all other pixels, and its logits must stay the same.
#
# **Exercises**: [open them](../exercises/14_glimpses_exercises.ipynb)
#
# **Next**: this model takes its looks to give one answer, whereas a sentence about a picture needs a look for each word. [Which part of the picture does this word describe?](15_captions.ipynb)
