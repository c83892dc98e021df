# %% [markdown]
# You measure how often a word points to what it names, repair the attention before the first word and write the penalty on overlooked cells. Then you empty one cell at a time to see what a word depends on. The last task, for those who want more, is a test that catches captioners that do not see the whole picture.
#
# The letters: B captions, each with its picture; T steps of a caption; L cells of a picture; E dimension of an annotation; H dimension of a state; A dimension in which scores are computed; F features. **Cells are counted from 0.**

# %%
import torch
import torch.nn.functional as F
from torch import nn

from course_utils import check, hint, predict, progress, reveal, solution
from course_utils.data.scenes import FIRST, THINGS, scenes
from course_utils.figures.tables import table
from course_utils.learner.train_answers import train_own
from course_utils.models.captions import Encoder
from course_utils.models.train_model import train_model

# %% [markdown]
# ## 15.pointing_accuracy
#
# In the lesson, `share_pointed` measured how often the largest weight is on the named object. Now you write such a measure for captions with padding. A word **points** to the cell with its largest weight and is correct if this is its true cell. Return the share of correct words among all real words in the batch, from 0 to 1.
#
# `mask` is True at real words. Padding may also come before real words. At padded positions, `true` may be any number, even one that is not a cell, and the weights may be any numbers. At real words, no two weights are equal. The result may be a Python number or a tensor.


# %%
def pointing_accuracy(weights, true, mask):
    """Return the share of the words whose largest weight is at the true cell.

    Args:
        weights: B×T×L.
        true: B×T, the true cell of each word, a whole number from 0 to L − 1; anything at padding.
        mask: B×T, True at real words, False at padding.

    Returns:
        The share, a number from 0 to 1.

    Example:
        >>> weights = torch.tensor([[[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.2, 0.5, 0.3]]])
        >>> pointing_accuracy(weights, torch.tensor([[0, 1, -1]]), torch.tensor([[True, True, False]]))
        0.5
    """
    ### BEGIN SOLUTION
    right = (weights.argmax(dim=-1) == true) & mask  # B T
    words = mask.sum().item()
    return right.sum().item() / words if words else 0.0
    ### END SOLUTION


# %%
check("15.pointing_accuracy", pointing_accuracy)

# %% [markdown]
# ## 15.first_look
#
# Before its first word, a captioner attends to the picture for the first time and gets the lesson's $\hat z_1$. All biases are omitted here. This version runs but has four bugs:
#
# ```python
# def first_look(annotations, weights):
#     state = torch.tanh(annotations.sum(1) @ weights["first"].T)
#     query = torch.tanh(state @ weights["query"].T)[:, None]
#     scores = (query + annotations @ weights["key"].T) @ weights["v"]
#     context = (scores.softmax(0)[..., None] * annotations).sum(1)
#     return torch.tanh(state @ weights["gate"])[:, None] * context
# ```
#
# Fix them so that the function computes the lesson's equations. It should keep four promises:
#
# 1. If every cell occurs twice, the result stays the same.
# 2. The weights of the cells depend on the state, as with the perceptron of lesson 04.
# 3. No picture affects the result for another picture.
# 4. The gate lies between 0 and 1. For an all-zero state, it is 1/2.


# %%
def first_look(annotations, weights):
    """Return the gated context of the first word.

    Args:
        annotations: B×L×E.
        weights: a dict with "first", H×E, which computes the state from the mean annotation; "query", A×H, "key", A×E, and "v", A,
            which compute the scores; and "gate", H.

    Returns:
        The gated context, B×E.

    Example:
        >>> weights = {"first": torch.tensor([[1.0, -1.0]]), "query": torch.zeros(1, 1), "key": torch.zeros(1, 2)}
        >>> weights |= {"v": torch.ones(1), "gate": torch.ones(1)}
        >>> first_look(torch.tensor([[[1.0, 0.0], [3.0, 4.0]]]), weights)
        tensor([[1., 1.]])
    """
    ### BEGIN SOLUTION
    state = torch.tanh(annotations.mean(1) @ weights["first"].T)  # B H
    query = (state @ weights["query"].T)[:, None]  # B 1 A
    scores = torch.tanh(query + annotations @ weights["key"].T) @ weights["v"]  # B L
    context = (scores.softmax(1)[..., None] * annotations).sum(1)  # B E
    return torch.sigmoid(state @ weights["gate"])[:, None] * context
    ### END SOLUTION


# %%
check("15.first_look", first_look)

# %% [markdown]
# ## 15.doubly_stochastic
#
# The code of Xu et al. (2015) computes the penalty for weights T×B×L as `((1 - weights.sum(0)) ** 2).sum(0).mean()`. In this code, padding counts, and the penalty grows with the number of captions in a batch. Fix it for weights B×T×L. For one caption, the penalty without its factor λ is
#
# $$\sum_{i=1}^{L} \Big(1 - \sum_{t} \alpha_{ti}\Big)^2$$
#
# The inner sum runs over the real words, where `mask` is True. Return the mean over the B captions. Padding may come before real words and must not affect the penalty or its gradient. A caption without words counts like any other: its penalty is L.
#
# First, by hand: the weights of a cell sum to 0.3. What is the gradient of the penalty with respect to one of its weights $\alpha_{ti}$?
#
# <details><summary>Answer</summary>
#
# It is -2 (1 - 0.3) = -1.4 for each word t. If the weights were free parameters, a step of gradient descent would therefore raise the weights of a cell whose weights sum to less than 1.
#
# </details>


# %%
def doubly_stochastic(weights, mask):
    """Return the mean penalty of captions whose cells do not get 1 in all steps together.

    Args:
        weights: B×T×L, α in the equation.
        mask: B×T, True at real words, False at padding.

    Returns:
        The penalty, one number.

    Example:
        >>> weights = torch.tensor([[[1.0, 0.0], [0.5, 0.5], [0.5, 0.5]]])
        >>> doubly_stochastic(weights, torch.tensor([[True, True, False]]))
        tensor(0.5000)
    """
    ### BEGIN SOLUTION
    kept = weights.masked_fill(~mask[..., None], 0.0)  # B T L
    total = kept.sum(dim=1)  # B L
    return ((1 - total) ** 2).sum(dim=1).mean()
    ### END SOLUTION


# %%
check("15.doubly_stochastic", doubly_stochastic)

# %% [markdown]
# ## 15.effect_map
#
# In the lesson, we emptied the cell with a name's largest weight. Now you empty every cell for every word of a batch, with log probabilities.
#
# The check gives you a `captioner` whose code you cannot see. It takes annotations and words, processes each row separately and returns logits B×T×V without gradients. For each wanted word and each cell, return how much the word's log probability falls if only this cell gets the annotation of an empty cell:
#
# $$\text{effect}_{tl} = \log p(w_t \mid \text{picture}) - \log p(w_t \mid \text{picture with cell } l \text{ emptied})$$
#
# If an effect is near 0, the word does not need the cell, whatever the weight of the cell. `15.pointing_accuracy` can also evaluate this map.


# %%
def effect_map(captioner, annotations, words, wanted, empty):
    """Return by how much each wanted word's log probability falls when one cell is emptied.

    Args:
        captioner: a function (annotations B×L×E, words B×T×D) → logits B×T×V.
        annotations: B×L×E.
        words: B×T×D, what the captioner reads.
        wanted: B×T, whole numbers from 0 to V − 1, the word that each step should predict.
        empty: L×E, the annotations of a picture without things.

    Returns:
        The effects, B×T×L.

    Example:
        >>> def captioner(annotations, words):  # looks only at the first cell
        ...     return annotations[:, :1].expand(-1, words.shape[1], -1)
        >>> picture = torch.tensor([[[2.0, 0.0], [5.0, 0.0]]])
        >>> effect_map(captioner, picture, torch.zeros(1, 1, 3), torch.tensor([[0]]), torch.zeros(2, 2))
        tensor([[[0.5662, 0.0000]]])
    """

    ### BEGIN SOLUTION
    def log_p(picture):
        return captioner(picture, words).log_softmax(-1).gather(-1, wanted[..., None])[..., 0]  # B T

    before, effects = log_p(annotations), []
    for cell in range(len(empty)):
        emptied = annotations.clone()
        emptied[:, cell] = empty[cell]
        effects.append(before - log_p(emptied))
    return torch.stack(effects, dim=-1)
    ### END SOLUTION


# %%
check("15.effect_map", effect_map)

# %% [markdown]
# ## Captions that never look
#
# A captioner that never looks may still write fluent and even true sentences, because most pictures of a street contain a car. Its loss alone does not tell us whether it looks. A change to the picture does, because the features from which a blind captioner predicts its words stay the same.

# %% [markdown]
# ## 15.catch_blind_captioner
#
# This task is for those who want more. Your function judges a **captioner**. `captioner(annotations, words)` takes float32 annotations B×L×5 and words B×T×3 and returns features B×T×F. Return `True` if it keeps these promises and `False` otherwise:
#
# 1. **It sees the whole picture.** If random numbers of about 1 are added to any one annotation, some feature of its row changes by more than $10^{-4}$.
# 2. **It sees no later words.** If words after step t change, the features at steps 0 to t stay the same, within $10^{-5}$.
# 3. It accepts any B, L and T and raises no error.
#
# A captioner may look only once, and words need not have an effect. Try more than one shape. Use at least two rows, and different L and T of at least 3.


# %%
def catch_blind_captioner(captioner):
    """Tell whether a captioner sees the whole picture and no later words.

    Args:
        captioner: a function (annotations B×L×5, words B×T×3) → features B×T×F, which may be wrong and may raise.

    Returns:
        True if it does, False if not.

    Example:
        >>> catch_blind_captioner(lambda annotations, words: words)  # it ignores the picture
        False
    """

    ### BEGIN SOLUTION
    def same(a, b):
        return torch.allclose(a, b, rtol=0, atol=1e-5)

    def random(*shape):
        return torch.randn(shape, generator=draw)

    def keeps(B, L, T):
        annotations, words = random(B, L, 5), random(B, T, 3)
        before = captioner(annotations, words)
        for b in range(B):
            for cell in range(L):
                changed = annotations.clone()
                changed[b, cell] += random(5)
                if same(captioner(changed, words)[b], before[b]):
                    return False
        for t in range(1, T):
            later = torch.cat([words[:, :t], random(B, T - t, 3)], dim=1)
            if not same(captioner(annotations, later)[:, :t], before[:, :t]):
                return False
        return True

    draw = torch.Generator().manual_seed(0)
    try:
        return keeps(2, 5, 3) and keeps(3, 4, 6)
    except Exception:
        return False
    ### END SOLUTION


# %%
check("15.catch_blind_captioner", catch_blind_captioner)

# %% [markdown]
# ## Your own first look
#
# The first name in a caption belongs to the leftmost object. Is one look enough to find it? The next cells train your `first_look` to name it in scenes of two or three objects. A readout turns what the look reads into logits.
#
# The same network is also trained without attention: all scores are 0, so it reads the mean of all cells. Then your `effect_map` and `pointing_accuracy` show which cell each name depends on most. How many of 100 first names does the network without attention get right?

# %%
predict("15.own", ...)


# %% tags=["own-machine"]
class FirstName(nn.Module):
    def __init__(self, first_look, attends, E=74, H=32, A=32):
        super().__init__()
        shapes = {"first": (H, E), "query": (A, H), "key": (A, E), "gate": (H,)}
        weights = {name: torch.randn(shape) / shape[-1] ** 0.5 for name, shape in shapes.items()}
        self.weights = nn.ParameterDict(weights | {"v": torch.randn(A) / A**0.5})
        self.readout, self.first_look, self.attends = nn.Linear(E, len(THINGS)), first_look, attends

    def forward(self, annotations, words=None):  # B L E
        weights = {name: self.weights[name] for name in self.weights}
        weights["v"] = self.attends * weights["v"]  # 0 makes all scores 0
        return self.readout(self.first_look(annotations, weights))[:, None]  # B 1 V


# %% tags=["own-machine"]
def trained(first_look, attends, annotations, names):
    def loss_of_batch(draw):
        batch = torch.randint(len(names), (64,), generator=draw)
        return F.cross_entropy(model(annotations[batch])[:, 0], names[batch])

    torch.manual_seed(0)
    model = FirstName(first_look, attends)
    train_model(model, loss_of_batch, seed=0, steps=500, rate=0.01)
    return model.requires_grad_(False)


# %% tags=["own-machine"]
def train(first_look, effect_map, pointing_accuracy):
    torch.manual_seed(0)
    draw, encoder, rows = torch.Generator().manual_seed(0), Encoder(), {}
    encoder.fit(steps=300, batch=64)
    training, unseen = scenes(1500, draw, most=3), scenes(300, draw, part="test", most=3)
    seen, other, empty = encoder(training.images), encoder(unseen.images), encoder(torch.zeros(1, 50, 50))[0]
    wanted, cells = unseen.wanted[:, 1:2] - FIRST, unseen.true[:, 1:2]  # the first name, after "a"
    for name, attends in (("your look", 1), ("without attention", 0)):
        model = trained(first_look, attends, seen, training.wanted[:, 1] - FIRST)
        right = (model(other).argmax(-1) == wanted).float().mean().item()
        effects = effect_map(model, other, wanted[..., None], wanted, empty)  # B 1 L
        rows[name] = [right, float(pointing_accuracy(effects, cells, torch.ones_like(cells).bool()))]
    reveal("15.own", round(100 * right))
    return table(rows, ["first names right", "largest effect on the object"], corner="share", digits=2)


answers = {"15.first_look": first_look, "15.effect_map": effect_map, "15.pointing_accuracy": pointing_accuracy}
train_own(train, answers)

# %% [markdown]
# One look is enough to find the leftmost object. In five runs with different seeds, the network got 88% to 92% of the first names right, and more than nine in ten names depended most on the object's cell.
#
# Without attention, it got 6% to 26% of the names right after these 500 steps. The cell with the largest effect was the object's cell for 31% to 60% of the names: a word may depend on a cell and still be wrong.

# %% tags=["own-machine"]
progress()

# %% [markdown]
# Stuck on one? `hint("15.doubly_stochastic")` gives the next hint, and `solution("15.doubly_stochastic")` shows a solution after a try.
