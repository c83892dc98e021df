"""Correct answers to 06.teacher_forced in other styles than the solution's."""

import torch

from course_utils.models.attention import masked_softmax
from course_utils.models.minimal import bahdanau_step, gru_step


def filled_in(words, state, annotations, mask, weight_s, weight_h, v, weight_ih, weight_hh, bias_ih, bias_hh):
    B, T, _ = words.shape
    states, weights = words.new_zeros(B, T, state.shape[1]), words.new_zeros(B, T, mask.shape[1])
    for t in range(T):
        context, weights[:, t] = bahdanau_step(state, annotations, mask, weight_s, weight_h, v)
        state = gru_step(torch.cat([words[:, t], context], 1), state, weight_ih, weight_hh, bias_ih, bias_hh)
        states[:, t] = state
    return states, weights


def words_and_keys_first(
    words, state, annotations, mask, weight_s, weight_h, v, weight_ih, weight_hh, bias_ih, bias_hh
):
    """What does not depend on the state is computed for all steps at once."""
    D = words.shape[2]
    clean = annotations.masked_fill(~mask[..., None], 0)
    keys, of_words = clean @ weight_h.T, words @ weight_ih[:, :D].T + bias_ih
    steps = []
    for t in range(words.shape[1]):
        shares = masked_softmax(torch.tanh((state @ weight_s.T).unsqueeze(1) + keys) @ v, mask)
        context = torch.bmm(shares.unsqueeze(1), clean).squeeze(1)
        r_x, z_x, n_x = (of_words[:, t] + context @ weight_ih[:, D:].T).chunk(3, 1)
        r_s, z_s, n_s = (state @ weight_hh.T + bias_hh).chunk(3, 1)
        z = torch.sigmoid(z_x + z_s)
        state = torch.lerp(torch.tanh(n_x + torch.sigmoid(r_x + r_s) * n_s), state, z)
        steps.append((state, shares))
    states, weights = zip(*steps, strict=True)
    return torch.stack(states, 1), torch.stack(weights, 1)


def by_the_librarys_cell(words, state, annotations, mask, weight_s, weight_h, v, *gru):
    cell = torch.nn.GRUCell(words.shape[2] + annotations.shape[2], state.shape[1])
    named = dict(zip(("weight_ih", "weight_hh", "bias_ih", "bias_hh"), gru, strict=True))
    states, weights = [], []
    for word in words.transpose(0, 1):
        context, shares = bahdanau_step(state, annotations, mask, weight_s, weight_h, v)
        state = torch.func.functional_call(cell, named, (torch.hstack([word, context]), state))
        states.append(state.unsqueeze(1))
        weights.append(shares.unsqueeze(1))
    return torch.cat(states, 1), torch.cat(weights, 1)


# PyTorch's own
OWN = [
    by_the_librarys_cell,
]
CORRECT = [
    *OWN,
    filled_in,
    words_and_keys_first,
]
WORKED = [
    (
        ([[[1], [2]]], [[0]], [[[3]]], [[True]], [[1]], [[1]], [1])
        + ([[0, 0], [0, 0], [1, -1]], [[0], [0], [0]], [0, 0, 0], [0, 0, 0]),
        "-0.4820 -0.6218 1 1",
    )
]
