# %% [markdown]
# You write parts of a model that describes a picture: the state before its first word, the gate that says how much of the picture a word needs, the penalty on places that are overlooked, and a measure of whether a word points to what it names. At the end you write a test that finds captioners which do not see the whole picture. The letters:
# B captions, each with its picture, T steps of a caption, L places of a picture, E width of an annotation, H width of a state, F features. **Places are counted from 0.**

# %%
import torch

from course_utils import check, hint, progress, solution

# %% [markdown]
# ## 15.first_state
#
# The encoder has turned a picture into L **annotations** $a_i$, one vector for each place. The decoder's state before the first word is made from their mean (Xu et al. 2015, section 3.1.2). The paper has a small network for this; here, as in the authors' code, it is one layer with tanh:
#
# $$s_0 = \tanh\Big(W\, \frac1L \sum_{i=1}^{L} a_i + b\Big)$$
#
# (The authors' LSTM has two vectors to begin with, its state and its memory, and makes both in this way, with weights for each.) `weight` is $W$ and `bias` is $b$. The formula is written for one picture, with columns; `annotations` holds one picture per row, and each annotation as a row of it.


# %%
def first_state(annotations, weight, bias):
    """Return the state before the first word, from the mean annotation.

    Args:
        annotations: B×L×E.
        weight: H×E.
        bias: H.

    Returns:
        The state, B×H.

    Example:
        >>> annotations = torch.tensor([[[1.0, 0.0], [3.0, 4.0]]])
        >>> first_state(annotations, torch.tensor([[1.0, -1.0], [0.5, 0.0]]), torch.tensor([1.0, 0.0]))
        tensor([[0.7616, 0.7616]])
    """
    ### BEGIN SOLUTION
    mean = annotations.mean(dim=1)  # B E
    return torch.tanh(mean @ weight.T + bias)
    ### END SOLUTION


# %%
check("15.first_state", first_state)

# %% [markdown]
# ## 15.gated_context
#
# "Bird" has to be seen in the picture; "of", after "a flock", follows from the words. So the state of the step before decides how much of the context $\hat z_t$ the next word is given. It makes one number between 0 and 1 for each caption, a **gate** $\beta$, and the whole context is multiplied by it (section 4.2.1):
#
# $$\beta_t = \sigma(w^\top s_{t-1} + b) \qquad \text{gated}_t = \beta_t\, \hat z_t$$
#
# `state` is $s_{t-1}$, the state before the step; `weight` is $w$, and `bias` is $b$, a tensor with one number and no axis.


# %%
def gated_context(context, state, weight, bias):
    """Return the context, multiplied by the gate that the state before the step decides on.

    Args:
        context: B×E.
        state: B×H, before the step.
        weight: H.
        bias: one number, a tensor without an axis.

    Returns:
        The gated context, B×E.

    Example:
        >>> context, state = torch.tensor([[4.0, -8.0]]), torch.tensor([[1.0, 2.0]])
        >>> gated_context(context, state, torch.tensor([1.0986, 0.0]), torch.tensor(0.0))
        tensor([[ 3.0000, -6.0000]])
    """
    ### BEGIN SOLUTION
    gate = torch.sigmoid(state @ weight + bias)  # B
    return gate[:, None] * context
    ### END SOLUTION


# %%
check("15.gated_context", gated_context)

# %% [markdown]
# ## 15.doubly_stochastic
#
# At each step the softmax makes the weights add up to 1 over the places. Nothing makes them add up to anything over the **steps**: a place may be looked at again and again, and another one never. A penalty in the loss asks for this other sum to be near 1 as well, so that over a whole caption every place gets its share (equation 14 of the paper, without its factor λ). For one caption it is
#
# $$\sum_{i=1}^{L} \Big(1 - \sum_{t} \alpha_{ti}\Big)^2$$
#
# where $t$ runs over the steps at which `mask` is True, the real words. Return the mean over the B captions. What stands at False steps has no effect on the penalty or its gradient. False may stand before True. A caption without words counts like any other: all its sums are 0, so it costs L.


# %%
def doubly_stochastic(weights, mask):
    """Return the mean penalty of captions whose places do not get 1 in all steps together.

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
# ## 15.pointing_accuracy
#
# Does the map of weights show what a word is about? Where the true place of each word is known, this can be counted. A word **points** to the place of its largest weight, and it is right if that is the true place. Return the share of words that are right, among all real words of the batch, as a number between 0 and 1.
#
# `mask` is True at real words. At False steps, `true` may be any number, even one that is no place of the picture, and the weights may be any numbers. False may stand before True. At real words no two weights are equal. The result may be a Python number, or a tensor with one number.


# %%
def pointing_accuracy(weights, true, mask):
    """Return the share of the words whose largest weight stands at the true place.

    Args:
        weights: B×T×L.
        true: B×T, the true place of each word, a whole number from 0 to L − 1; anything at padding.
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
# ## Captions that never look
#
# A captioner that never looks still writes fluent sentences, and often true ones: most pictures of a street have a car in them. You can't see that from its loss. You see it when you change the picture: the features from which it predicts its words stay as they are.

# %% [markdown]
# ## 15.catch_blind_captioner
#
# The check hands your function one **captioner** after another, each with weights of its own: `captioner(annotations, words)` takes annotations B×L×5 and words B×T×3, float32, and returns features B×T×F. Return `True` for one that keeps these promises, and `False` for any other:
#
# 1. **It sees the whole picture.** Whichever single annotation changes, in whichever row, some feature of the same row moves, at some step.
# 2. **It does not see words to come.** For every t and in every row, features at the steps 0 … t stay as they are when words after t change.
# 3. It takes any B, L and T, and its features are finite.
#
# Nothing else is asked: it may look only once, and words need have no effect. A batch of two rows or more, with L and T of 3 or more that differ, shows a broken promise. Change things by adding random numbers of about 1, a different one for each feature: what is seen moves some feature by more than $10^{-4}$, and rounding stays below $10^{-5}$. A captioner that raises an error is wrong, and must not stop your test.


# %%
def catch_blind_captioner(captioner):
    """Tell whether a captioner sees the whole picture, and no words to come.

    Args:
        captioner: a function (annotations B×L×5, words B×T×3) → features B×T×F, which may be wrong and may raise.

    Returns:
        True if it is right, False if it is wrong.

    Example:
        >>> catch_blind_captioner(lambda annotations, words: words)  # it ignores the picture
        False
    """

    ### BEGIN SOLUTION
    def same(a, b):
        return torch.allclose(a, b, atol=1e-5)

    draw = torch.Generator().manual_seed(0)
    shapes = (2, 5, 5), (2, 3, 3), (5,), (2, 3, 3)
    annotations, words, noise, other_words = (torch.randn(shape, generator=draw) for shape in shapes)
    try:
        before = captioner(annotations, words)
        for b in range(2):
            for place in range(5):
                changed = annotations.clone()
                changed[b, place] += noise
                if same(captioner(changed, words)[b], before[b]):
                    return False
        for t in (1, 2):
            later = torch.cat([words[:, :t], other_words[:, t:]], dim=1)
            if not same(captioner(annotations, later)[:, :t], before[:, :t]):
                return False
        return bool(before.isfinite().all())
    except Exception:
        return False
    ### END SOLUTION


# %%
check("15.catch_blind_captioner", catch_blind_captioner)

# %% tags=["own-machine"]
progress()

# %% [markdown]
# Stuck on one? `hint("15.doubly_stochastic")` gives the next hint, and `solution("15.doubly_stochastic")` shows an answer after a try.
