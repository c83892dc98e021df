# %% [markdown]
# You begin with a translation in which words are missing: the weights show you which source words to copy into the gaps. Then you write a decoder that looks back: first one attention step as in Bahdanau et al., then one as in Luong et al., and then a whole sentence in training. After that, you measure how well the weights agree with links that people have annotated. Finally, you write a test that catches decoders that ignore the source or look where they should not.
#
# The letters mean: B sentences, S source words, T target words; D, H, E and A are the dimensions of a word, the decoder state, an **annotation** and the hidden layer in a score.
#
# A mask is True for words and False for padding. **It may have gaps**: the words need not come first. Whatever is at a False position must have no effect. For a sentence with no True in its mask, the weights and the context are zero, as in the lesson. NaN or anything else there gets a remark but costs no points.

# %%
import torch

from course_utils import check, hint, progress, solution
from course_utils.models.minimal import bahdanau_step as reference_look
from course_utils.models.minimal import gru_step as reference_gru

# %% [markdown]
# ## 06.copy_unknown
#
# A translation model whose vocabulary consists of whole words does not know every word. It replaces most names with `<unk>`, for *unknown*. But a name need not be translated, because we can copy it from the source. Wherever the decoder writes `<unk>`, we copy the source word with the largest weight (Jean et al., 2015).
#
# The translation has T words and the source S words, and `weights` has a row for each word in the translation. Row $t$ says how much weight each source word gets before the decoder writes word $t$. If several source words share the largest weight, copy the first of them.
#
# For example, "friends called Ada" becomes "vuvi `<unk>` kovor". The row for `<unk>` is (0.1, 0.3, 0.6). The third weight, that of "Ada", is the largest, so the translation becomes "vuvi Ada kovor".


# %%
def copy_unknown(words, weights, source):
    """Return the translation with each unknown word replaced by a source word.

    Args:
        words: the translation, a list of T words, which must not be changed; unknown words are "<unk>".
        weights: T×S.
        source: a list of S words.

    Returns:
        A new list of T words.

    Example:
        >>> weights = torch.tensor([[0.8, 0.1, 0.1], [0.1, 0.3, 0.6], [0.1, 0.9, 0.0]])
        >>> copy_unknown(["vuvi", "<unk>", "kovor"], weights, ["friends", "called", "Ada"])
        ['vuvi', 'Ada', 'kovor']
    """
    ### BEGIN SOLUTION
    copies = [source[s] for s in weights.argmax(1).tolist()]
    return [copy if word == "<unk>" else word for word, copy in zip(words, copies, strict=True)]
    ### END SOLUTION


# %%
check("06.copy_unknown", copy_unknown)

# %% [markdown]
# ## 06.bahdanau_step
#
# Before each word, the decoder looks at all annotations $h_1, \dots, h_S$ of the source (Bahdanau et al., 2014). A small network scores each annotation against the state $s$, and a softmax over the words turns the scores into weights. The **context** $c$ is the weighted sum.
#
# $$z_j = v^\top \tanh(W s + U h_j) \qquad a = \operatorname{softmax}(z) \text{ over the True positions} \qquad c = \sum_j a_j h_j$$
#
# The formula is for one sentence, with vectors as columns, whereas `state` and `annotations` contain vectors as rows. Whatever is at a False position affects neither the result nor any gradient. A function that goes wrong only when such a position holds NaN passes the check.


# %%
def bahdanau_step(state, annotations, mask, weight_s, weight_h, v):
    """Return what the decoder reads from the source, and the weight of each position.

    Args:
        state: B×H, the decoder's state so far.
        annotations: B×S×E, what the encoder says about each source word.
        mask: B×S, True at words, False at padding.
        weight_s: A×H, W in the equation.
        weight_h: A×E, U in the equation.
        v: A.

    Returns:
        context: B×E.
        weights: B×S, which sum to 1 in each row with a True.

    Example:
        >>> state, annotations = torch.tensor([[1.0]]), torch.tensor([[[0.0], [2.0]]])
        >>> one, both = torch.tensor([[1.0]]), torch.tensor([[True, True]])
        >>> bahdanau_step(state, annotations, both, one, -one, torch.tensor([1.4425]))
        (tensor([[0.2000]]), tensor([[0.9000, 0.1000]]))
    """
    ### BEGIN SOLUTION
    annotations = annotations.masked_fill(~mask[..., None], 0.0)  # B S E
    hidden = torch.tanh((state @ weight_s.T)[:, None] + annotations @ weight_h.T)  # B S A
    scores = (hidden @ v).masked_fill(~mask, -torch.inf)  # B S
    weights = scores.softmax(-1).masked_fill(~mask, 0.0)  # B S
    context = (weights[..., None] * annotations).sum(1)  # B E
    return context, weights
    ### END SOLUTION


# %%
check("06.bahdanau_step", bahdanau_step)

# %% [markdown]
# ## 06.luong_step
#
# In Luong et al. (2015), the decoder takes its step first and then looks back, with the new state $s$. Their "general" score has one matrix between the state and an annotation. The context and the state, concatenated as $[c; s]$, go through one more layer, which returns the **features** from which the decoder chooses a word.
#
# $$z_j = s^\top W h_j \qquad a = \operatorname{softmax}(z) \text{ over the True positions} \qquad c = \sum_j a_j h_j \qquad \text{features} = \tanh(W_c\, [c; s])$$


# %%
def luong_step(state, annotations, mask, weight, weight_c):
    """Return the features that the decoder computes from its state and the source, and the weight of each position.

    Args:
        state: B×H, the decoder's state.
        annotations: B×S×E, what the encoder says about each source word.
        mask: B×S, True at words, False at padding.
        weight: H×E, W in the equation.
        weight_c: D×(E+H), W_c in the equation; its first E columns multiply the context.

    Returns:
        features: B×D.
        weights: B×S, which sum to 1 in each row with a True.

    Example:
        >>> state, annotations = torch.tensor([[1.0]]), torch.tensor([[[0.0], [1.0986]]])
        >>> luong_step(state, annotations, torch.tensor([[True, True]]), torch.tensor([[1.0]]), torch.tensor([[1.0, -1.0]]))
        (tensor([[-0.1743]]), tensor([[0.2500, 0.7500]]))
    """
    ### BEGIN SOLUTION
    annotations = annotations.masked_fill(~mask[..., None], 0.0)  # B S E
    scores = ((state @ weight)[:, None] * annotations).sum(-1)  # B S
    weights = scores.masked_fill(~mask, -torch.inf).softmax(-1).masked_fill(~mask, 0.0)  # B S
    context = (weights[..., None] * annotations).sum(1)  # B E
    features = torch.tanh(torch.cat([context, state], dim=-1) @ weight_c.T)  # B D
    return features, weights
    ### END SOLUTION


# %%
check("06.luong_step", luong_step)

# %% [markdown]
# ## 06.teacher_forced
#
# Now the decoder goes through a whole sentence, as in training, where it is given the correct words (**teacher forcing**). At each step, it first looks at the source, with the previous state $s_{t-1}$. The GRU from lesson 05 then reads the word and the context side by side and returns the next state. `words` are the decoder's inputs, already shifted: at step $t$, the decoder reads word $t$.
#
# $$c_t, a_t = \text{look}(s_{t-1}, h) \qquad s_t = \text{GRU}([x_t; c_t],\, s_{t-1}) \qquad t = 1, \dots, T$$
#
# The first cell has imported both steps. `reference_look(state, annotations, mask, weight_s, weight_h, v)` is `06.bahdanau_step`. `reference_gru(x, state, weight_ih, weight_hh, bias_ih, bias_hh)` is `05.gru_step`.


# %%
def teacher_forced(words, state, annotations, mask, weight_s, weight_h, v, weight_ih, weight_hh, bias_ih, bias_hh):
    """Return the decoder's states after each word and its weights before each word.

    Args:
        words: B×T×D, what the decoder reads.
        state: B×H, the state before the first word.
        annotations: B×S×E, what the encoder says about each source word.
        mask: B×S, True at words of the source, False at padding.
        weight_s: A×H, for attention, like the next two.
        weight_h: A×E.
        v: A.
        weight_ih: 3H×(D+E), for the GRU, like the next three; its first D columns multiply the word.
        weight_hh: 3H×H.
        bias_ih: 3H.
        bias_hh: 3H.

    Returns:
        states: B×T×H.
        weights: B×T×S.

    Example:
        >>> words, state, annotations = torch.tensor([[[1.0], [2.0]]]), torch.zeros(1, 1), torch.tensor([[[3.0]]])
        >>> gru = torch.tensor([[0.0, 0.0], [0.0, 0.0], [1.0, -1.0]]), torch.zeros(3, 1), torch.zeros(3), torch.zeros(3)
        >>> one = torch.ones(1, 1)
        >>> teacher_forced(words, state, annotations, torch.tensor([[True]]), one, one, one[0], *gru)
        (tensor([[[-0.4820],
                 [-0.6218]]]), tensor([[[1.],
                 [1.]]]))
    """
    ### BEGIN SOLUTION
    states, weights = [], []
    for word in words.unbind(1):  # B D
        context, attended = reference_look(state, annotations, mask, weight_s, weight_h, v)  # B E, B S
        read = torch.cat([word, context], dim=-1)  # B D+E
        state = reference_gru(read, state, weight_ih, weight_hh, bias_ih, bias_hh)  # B H
        states.append(state)
        weights.append(attended)
    return torch.stack(states, dim=1), torch.stack(weights, dim=1)
    ### END SOLUTION


# %%
check("06.teacher_forced", teacher_forced)

# %% [markdown]
# ## 06.alignment_error_rate
#
# Do the weights show which source word became which target word? People have aligned sentences by hand. Some pairs (source word, target word) are **sure**, others only **possible**. Link each target word with the source word that has the largest weight in its row, or with the first such word if there are several. These links are the set $A$. The **alignment error rate** of Och & Ney (2003) compares them with the sure pairs $K$ and the possible pairs $P$:
#
# $$\text{AER} = 1 - \frac{|A \cap K| + |A \cap P|}{|A| + |K|}$$
#
# A sure link counts twice in the numerator, and a link that is only possible counts once. Every sure pair is also possible, **whether or not it is listed as such**. A pair listed twice counts once. There may be no sure pairs at all.


# %%
def alignment_error_rate(weights, sure, possible):
    """Return the error rate of the links that attention makes, compared with the links that people made.

    Args:
        weights: T×S, a row for each target word.
        sure: a list of pairs (source position, target position), counted from 0; it may be empty.
        possible: another such list.

    Returns:
        The alignment error rate, a number from 0 to 1.

    Example:
        >>> weights = torch.tensor([[0.9, 0.1, 0.0], [0.6, 0.3, 0.1], [0.1, 0.2, 0.7]])
        >>> alignment_error_rate(weights, [(0, 0), (1, 1)], [(2, 2)])
        0.4
    """
    ### BEGIN SOLUTION
    links = {(source, target) for target, source in enumerate(weights.argmax(1).tolist())}
    sure = set(sure)
    possible = sure | set(possible)
    return 1 - (len(links & sure) + len(links & possible)) / (len(links) + len(sure))
    ### END SOLUTION


# %%
check("06.alignment_error_rate", alignment_error_rate)

# %% [markdown]
# ## Does the decoder look at all?
#
# A decoder that looks at the wrong words, or does not look at all, can still be trained. Its loss goes down; its translations are merely worse than they could be. PyTorch's tutorial had such a decoder for six years, as the lesson says.

# %% [markdown]
# ## 06.catch_blind_decoder
#
# The check gives your function **decoders**: `decoder(words, state, annotations, mask)` takes words B×T×3, a state B×4, annotations B×S×5 and a mask B×S, and returns features B×T×F. If you change an argument by random numbers of about 1, features either move by more than $10^{-4}$ or stay within $10^{-5}$. Return `True` for a decoder that keeps these promises and `False` otherwise:
#
# - If a real annotation changes, features of its sentence move, and the features of other sentences stay the same.
# - If two real annotations change by $+\delta$ and $-\delta$, features move: each has its own weight.
# - Padding has no effect.
# - Features stay the same if annotations and mask are reordered in the same way.
# - Features at position $t$ stay the same if later words change.
# - It raises no error.


# %%
def catch_blind_decoder(decoder):
    """Tell whether a decoder looks at the source as it should and at nothing else.

    Args:
        decoder: a function (words B×T×3, state B×4, annotations B×S×5, mask B×S) → features B×T×F, which may be wrong and
            may raise an error.

    Returns:
        True if it is correct, False if it is wrong.

    Example:
        >>> catch_blind_decoder(lambda words, state, annotations, mask: words)  # it ignores the source
        False
    """

    ### BEGIN SOLUTION
    def same(a, b):
        return torch.allclose(a, b, rtol=0, atol=1e-5)

    draw = torch.Generator().manual_seed(0)
    shapes = (2, 3, 3), (2, 4), (2, 5, 5), (5,)
    words, state, annotations, noise = (torch.randn(shape, generator=draw) for shape in shapes)
    mask = torch.tensor([[True, False, True, True, False], [False, True, True, True, True]])
    opposite = torch.zeros(5, 5).index_put((torch.tensor([2, 3]),), torch.stack([noise, -noise]))  # real places
    order, later = torch.tensor([3, 0, 4, 1, 2]), words + torch.arange(3.0)[:, None]
    try:
        before = decoder(words, state, annotations, mask)
        for b, place in mask.nonzero().tolist():
            changed = annotations.clone()
            changed[b, place] += noise
            after = decoder(words, state, changed, mask)
            if same(after[b], before[b]) or not same(after[1 - b], before[1 - b]):
                return False
        after = decoder(words, state, annotations + opposite, mask)
        moved = not any(same(after[b], before[b]) for b in range(2))
        garbage = decoder(words, state, annotations.masked_fill(~mask[..., None], 2.0), mask)
        ordered = decoder(words, state, annotations[:, order], mask[:, order])
        first = decoder(later, state, annotations, mask)[:, 0]
        return moved and same(garbage, before) and same(ordered, before) and same(first, before[:, 0])
    except Exception:
        return False
    ### END SOLUTION


# %%
check("06.catch_blind_decoder", catch_blind_decoder)

# %% tags=["own-machine"]
progress()

# %% [markdown]
# Stuck? `hint("06.bahdanau_step")` gives the next hint, and `solution("06.bahdanau_step")` shows a solution once you have tried.
#
# Next, lesson 07: how to find a good translation once a model can tell good ones from bad.
