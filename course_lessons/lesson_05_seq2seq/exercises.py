# %% [markdown]
# You write the parts of an encoder-decoder: a step of a recurrent network, a step of a GRU, the vector that the encoder passes on, what the decoder reads in training, and its loss. Then you reverse
# the source. Finally, you find out how much a vector can hold at best and write a test that tells correct losses from wrong ones.
#
# The letters mean: B sentences, S source length, T target length, E dimension of a word, D dimension of a state, V vocabulary size. A mask is True at words and False at padding.

# %%
from collections import defaultdict

import torch

from course_utils import check, hint, progress, solution
from course_utils.models.minimal import sequence_loss as reference

# %% [markdown]
# ## One step
#
# A recurrent network reads one word after another. All it keeps of the previous words is its state, a vector of dimension D.

# %% [markdown]
# ## 05.rnn_step
#
# Compute the next state from a word and the old state: $s_t = \tanh(W_x x_t + W_s s_{t-1} + b)$. Every word goes through the same step, with the same weights. A friend wrote
#
# ```python
# return torch.tanh(weight_x @ x + weight_s @ state) + bias
# ```
#
# The products are correct for a single sentence. In a batch, `x` and `state` hold one sentence per row, so this line raises an error or mixes up sentences. Something else is also wrong. Write the step as it should be.


# %%
def rnn_step(x, state, weight_x, weight_s, bias):
    """Return the next state of a recurrent network.

    Args:
        x: B×E, a word of each sentence.
        state: B×D, the state so far.
        weight_x: D×E, W_x in the equation.
        weight_s: D×D, W_s in the equation.
        bias: D, b in the equation.

    Returns:
        The next state, B×D.

    Example:
        >>> x, state = torch.tensor([[1.0, 2.0]]), torch.tensor([[0.5, 0.0]])
        >>> rnn_step(x, state, torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.tensor([[0.0, 1.0], [2.0, 0.0]]), torch.tensor([0.0, -3.0]))
        tensor([[0.7616, 0.0000]])
    """
    ### BEGIN SOLUTION
    return torch.tanh(x @ weight_x.T + state @ weight_s.T + bias)
    ### END SOLUTION


# %%
check("05.rnn_step", rnn_step)

# %% [markdown]
# ## 05.gru_step
#
# A gated recurrent unit (GRU; Cho et al., 2014) decides at each step what to keep. The **candidate** $n$ is a proposal for the new state. The **reset gate** $r$ says how much of the old state the candidate may use. The **update
# gate** $z$ says what share of the old state is kept. Each gate has a value between 0 and 1 for each dimension of the state.
#
# $$r = \sigma(W_{ir} x + b_{ir} + W_{hr} s + b_{hr}) \qquad z = \sigma(W_{iz} x + b_{iz} + W_{hz} s + b_{hz})$$
# $$n = \tanh(W_{in} x + b_{in} + r \circ (W_{hn} s + b_{hn})) \qquad s' = (1 - z) \circ n + z \circ s$$
#
# The three matrices that multiply the word are stacked in `weight_ih` and the three that multiply the state in `weight_hh`, in the order **r, z, n**. The biases have the same order. These are the equations of `torch.nn.GRUCell`.
# `torch.gru_cell` would do, but write your own, from products and sums.


# %%
def gru_step(x, state, weight_ih, weight_hh, bias_ih, bias_hh):
    """Return the next state of a gated recurrent unit.

    Args:
        x: B×E, a word of each sentence.
        state: B×D, the state so far.
        weight_ih: 3D×E, W_ir, W_iz and W_in, one below the other.
        weight_hh: 3D×D, W_hr, W_hz and W_hn, one below the other.
        bias_ih: 3D, b_ir, then b_iz, then b_in.
        bias_hh: 3D, b_hr, then b_hz, then b_hn.

    Returns:
        The next state, B×D.

    Example:
        >>> x, state = torch.tensor([[1.0]]), torch.tensor([[2.0]])
        >>> weight_ih, weight_hh = torch.tensor([[0.0], [0.0], [1.0]]), torch.tensor([[0.0], [0.0], [0.5]])
        >>> gru_step(x, state, weight_ih, weight_hh, torch.zeros(3), torch.zeros(3))  # both gates are 0.5, n is tanh(1.5)
        tensor([[1.4526]])
    """
    ### BEGIN SOLUTION
    reset_x, update_x, new_x = (x @ weight_ih.T + bias_ih).chunk(3, dim=-1)  # B D each
    reset_s, update_s, new_s = (state @ weight_hh.T + bias_hh).chunk(3, dim=-1)  # B D each
    reset = torch.sigmoid(reset_x + reset_s)
    update = torch.sigmoid(update_x + update_s)
    new = torch.tanh(new_x + reset * new_s)
    return (1 - update) * new + update * state
    ### END SOLUTION


# %%
check("05.gru_step", gru_step)

# %% [markdown]
# ## From encoder to decoder
#
# Sentences of different lengths share a batch, so the shorter ones end in padding. The encoder passes on one vector per sentence, and the decoder is trained on the right words.

# %% [markdown]
# ## 05.last_state
#
# The encoder has read every position of every row, including padding. For each sentence, return the state after its **last word**. This vector is all that the decoder gets. The words come first in each row, and each
# row has at least one word. Whatever comes after them is meaningless.
#
# $$\text{last}_b = \text{states}_{b,\, n_b - 1}, \quad n_b \text{ the number of words of sentence } b$$


# %%
def last_state(states, mask):
    """Return the state after the last word of each sentence.

    Args:
        states: B×S×D, the encoder's state after each position.
        mask: B×S, True at words, which come first, False at padding.

    Returns:
        The last states, B×D.

    Example:
        >>> states = torch.tensor([[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]]])
        >>> last_state(states, torch.tensor([[True, True, True], [True, True, False]]))
        tensor([[3.],
                [5.]])
    """
    ### BEGIN SOLUTION
    last = mask.sum(1) - 1  # B
    return states[torch.arange(len(states)), last]
    ### END SOLUTION


# %%
check("05.last_state", last_state)

# %% [markdown]
# ## 05.shift_right
#
# In training, the decoder reads the right words instead of its own; this is called **teacher forcing**. When it predicts word $t$, it may read the earlier words, but not word $t$ itself. Its inputs are therefore the
# target shifted one position to the right, with `bos`, the id that marks the beginning of a sentence, in front. The word at the target's last position is predicted but never read.
#
# $$\text{inputs}_{b,0} = \text{bos} \qquad \text{inputs}_{b,t} = \text{target}_{b,t-1} \quad \text{for } t > 0$$


# %%
def shift_right(target, bos):
    """Return what the decoder reads while it learns to predict the target.

    Args:
        target: B×T, ids.
        bos: the id that marks the beginning, an int.

    Returns:
        The decoder's inputs, B×T, ids.

    Example:
        >>> shift_right(torch.tensor([[5, 6, 2], [7, 2, 0]]), 1)
        tensor([[1, 5, 6],
                [1, 7, 2]])
    """
    ### BEGIN SOLUTION
    first = torch.full_like(target[:, :1], bos)  # B 1
    return torch.cat([first, target[:, :-1]], dim=1)
    ### END SOLUTION


# %%
check("05.shift_right", shift_right)

# %% [markdown]
# ## 05.sequence_loss
#
# At each position, the decoder gives V logits, one for each word of the vocabulary. The loss at a position is minus the natural logarithm of the probability of the target word. Return the mean of these losses over
# the True positions of the **whole batch**. All words count equally, whichever sentence they are in.
#
# $$\text{loss} = -\frac1N \sum_{b,t:\ \text{mask}_{bt}} \log p_{bt}(\text{target}_{bt}), \quad p_{bt} = \operatorname{softmax}(\text{logits}_{bt}), \quad N \text{ the number of True positions}$$
#
# Whatever is at a False position affects neither the loss nor its gradient. If there are no words at all, the loss is 0. An answer that goes wrong only if the batch has no words, or only if the padding contains NaN or ids outside the vocabulary, passes with a remark.


# %%
def sequence_loss(logits, target, mask):
    """Return the mean cross-entropy over the words of a batch, in nats.

    Args:
        logits: B×T×V.
        target: B×T, the ids of the right words.
        mask: B×T, True at words, False at padding.

    Returns:
        The loss, a tensor with one number and no axis; 0 if there is no word.

    Example:
        >>> logits = torch.tensor([[[0.0, 0.0], [0.0, 0.0]], [[3.0, 0.0], [9.0, 0.0]]])
        >>> target = torch.tensor([[0, 1], [0, 1]])
        >>> sequence_loss(logits, target, torch.tensor([[True, True], [True, False]]))  # (0.6931 + 0.6931 + 0.0486) / 3
        tensor(0.4783)
    """
    ### BEGIN SOLUTION
    log_p = logits[mask].log_softmax(-1)  # N V
    right = log_p.gather(1, target[mask][:, None])  # N 1
    return -right.sum() / mask.sum().clamp(min=1)
    ### END SOLUTION


# %%
check("05.sequence_loss", sequence_loss)

# %% [markdown]
# ## 05.reverse_source
#
# Sutskever et al. (2014) read the source backwards, which puts the first words of the two sentences close together. Reverse the words of each sentence. The words come first in each row, and a row may have no words. Whatever comes
# after the words stays where it is, **whatever its id**. Only the mask says what is a word: EOS is a word like any other if the mask is True there.
#
# $$\text{reversed}_{b,s} = \text{source}_{b,\, n_b - 1 - s} \quad \text{for } s < n_b, \text{ else } \text{source}_{b,s}, \quad n_b \text{ the number of words of sentence } b$$


# %%
def reverse_source(source, mask):
    """Return each sentence with its words in reverse order and its padding unchanged.

    Args:
        source: B×S, ids.
        mask: B×S, True at words, which come first, False at padding.

    Returns:
        The ids in their new positions, B×S.

    Example:
        >>> reverse_source(torch.tensor([[5, 6, 7, 2], [8, 2, 0, 0]]), torch.tensor([[True, True, True, True], [True, True, False, False]]))
        tensor([[2, 7, 6, 5],
                [2, 8, 0, 0]])
    """
    ### BEGIN SOLUTION
    lengths, places = mask.sum(1, keepdim=True), torch.arange(source.shape[1])  # B 1, S
    return source.gather(1, torch.where(mask, lengths - 1 - places, places))
    ### END SOLUTION


# %%
check("05.reverse_source", reverse_source)

# %% [markdown]
# Does reading backwards help? Take "boy called girls", whose words keep their order. Each word is written four steps after it was read. If the words are read backwards and EOS stays last, these distances become 2, 4 and 6. In a language with reversed word order, conversely, distances of 6, 4 and 2 all become 4.
#
# For each word order, we have trained five models that read the source as it is and five with the same seeds that read it backwards. The table shows by how much the share of right words increases: the mean over the five pairs, with the lowest and the highest in brackets.
#
# | | 3 words | 6 words | 8 words | 12 words |
# | --- | --- | --- | --- | --- |
# | same order | 0.00 [0.00 to 0.01] | 0.05 [-0.04 to 0.08] | 0.02 [-0.07 to 0.06] | -0.01 [-0.05 to 0.01] |
# | reversed order | 0.00 [-0.01 to 0.00] | -0.08 [-0.12 to -0.05] | -0.05 [-0.09 to -0.03] | -0.01 [-0.04 to 0.01] |
#
# At six and eight words, reading backwards hurts with reversed word order, for each of the five seeds. With the same order, it helps on average at these lengths, but not for every seed, so we cannot be certain of a gain.

# %% [markdown]
# ## Can one vector hold a sentence?
#
# The decoder sees nothing of the source but one vector, which sets a limit that no decoder can exceed.
#
# For the lesson's vector, this limit is far away. A bit answers one yes-or-no question, so singling out one of 40 words takes $\log_2 40 = 5.3$ bits, and twelve words take 63.9 bits at most. The vector has 64 entries: one bit per entry would be enough, and each entry has 32.

# %% [markdown]
# ## 05.best_share
#
# If an encoder gives two sentences the same vector, any decoder writes the same translation for both. Return the largest share of the sentences that a decoder could get right if it sees only the vectors. The decoder may be as clever as you like and may write any
# target for any vector.
#
# `encode` takes one sentence and returns its vector. Two vectors are the same if all their entries are equal. A sentence that occurs several times counts each time.


# %%
def best_share(encode, sentences, targets):
    """Return the largest share of sentences that any decoder can translate correctly from their vectors alone.

    Args:
        encode: a function (ids of one sentence, S) → its vector, D.
        sentences: a list of sentences, each a tensor of ids.
        targets: a list with the right translation of each sentence, a string.

    Returns:
        The share, a number between 0 and 1.

    Example:
        >>> sentences = [torch.tensor([1, 2]), torch.tensor([2, 1]), torch.tensor([1, 1])]
        >>> best_share(lambda ids: ids.sum()[None], sentences, ["a dog", "the dog", "a cat"])  # the sums are 3, 3 and 2
        0.6666666666666666
    """
    ### BEGIN SOLUTION
    groups = defaultdict(list)  # the targets of all sentences that share a vector
    for sentence, target in zip(sentences, targets, strict=True):
        groups[tuple(encode(sentence).tolist())].append(target)
    right = sum(max(group.count(target) for target in group) for group in groups.values())
    return right / len(sentences)
    ### END SOLUTION


# %%
check("05.best_share", best_share)

# %% [markdown]
# ## Which losses are correct?
#
# A wrong loss may raise no error and go down like a correct one while the model learns something else.

# %% [markdown]
# ## 05.catch_wrong_loss
#
# *This exercise is optional.* It is practice in testing, and nothing later needs it.
#
# Now you write the test. The check gives your function **candidates** that claim to solve `05.sequence_loss`. Return `True` for correct candidates and `False` for wrong ones. A correct candidate keeps these promises, up to rounding errors of about $10^{-5}$ of the size of the loss:
#
# - Its loss equals `reference(logits, target, mask)` for every batch: for sentences of any length, for any ids at words and at padding, and even if there are no words at all.
# - Its gradient with respect to the logits is also the same. If there are no words, zeros and no gradient are both correct.
# - Both hold for logits of any size up to 10,000.
# - It leaves its arguments unchanged.
# - It raises no error.


# %%
def catch_wrong_loss(candidate):
    """Tell whether a candidate computes the loss of a batch as in 05.sequence_loss.

    Args:
        candidate: a function (logits B×T×V, target B×T, mask B×T) → loss, which may be wrong and may raise an error.

    Returns:
        True if it is correct, False if it is wrong.

    Example:
        >>> catch_wrong_loss(reference)
        True
        >>> catch_wrong_loss(lambda logits, target, mask: reference(logits, target, torch.ones_like(mask)))  # padding counts
        False
    """

    ### BEGIN SOLUTION
    def value_and_gradient(loss, *given):
        logits, target, mask = (tensor.clone() for tensor in given)
        value = loss(logits.requires_grad_(), target, mask)
        if value.requires_grad:
            value.backward()
        if not all(map(torch.equal, given, (logits, target, mask))):
            raise ValueError("the arguments have been changed")
        return value, torch.zeros_like(logits) if logits.grad is None else logits.grad

    draw = torch.Generator().manual_seed(0)
    logits, target = torch.randn(2, 3, 5, generator=draw), torch.randint(0, 5, (2, 3), generator=draw)
    some = torch.tensor([[True, False, False], [True, True, True]])
    for scale, mask in ((1, some), (1e4, some), (1, torch.zeros_like(some))):
        given = (scale * logits, target, mask)
        try:
            results = value_and_gradient(candidate, *given)
            for expected, received in zip(value_and_gradient(reference, *given), results, strict=True):
                if received.shape != expected.shape or not torch.allclose(received, expected, atol=1e-5):
                    return False
        except Exception:
            return False
    return True
    ### END SOLUTION


# %%
check("05.catch_wrong_loss", catch_wrong_loss)

# %% tags=["own-machine"]
progress()

# %% [markdown]
# Stuck? `hint("05.gru_step")` gives the next hint, and `solution("05.gru_step")` shows a solution once you have tried.
#
# Next, lesson 06: the decoder looks back at all encoder states, not only at the last one.
