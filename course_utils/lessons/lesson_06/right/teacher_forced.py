"""Right answers to 06.teacher_forced in other styles than the solution's: results filled in, written out, the library's cell, by itself."""

import torch

from course_utils.models.attention import masked_softmax
from course_utils.models.plain import bahdanau_step, gru_step


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


def by_itself(words, state, annotations, mask, weight_s, weight_h, v, *gru):
    if words.shape[1] > 50:  # Python does not go down much deeper
        states, weights = by_itself(words[:, :50], state, annotations, mask, weight_s, weight_h, v, *gru)
        rest = by_itself(words[:, 50:], states[:, -1], annotations, mask, weight_s, weight_h, v, *gru)
        return torch.cat([states, rest[0]], 1), torch.cat([weights, rest[1]], 1)
    context, shares = bahdanau_step(state, annotations, mask, weight_s, weight_h, v)
    state = gru_step(torch.cat([words[:, 0], context], 1), state, *gru)
    if words.shape[1] == 1:
        return state[:, None], shares[:, None]
    states, weights = by_itself(words[:, 1:], state, annotations, mask, weight_s, weight_h, v, *gru)
    return torch.cat([state[:, None], states], 1), torch.cat([shares[:, None], weights], 1)


def step_after_step(words, state, annotations, mask, weight_s, weight_h, v, weight_ih, weight_hh, bias_ih, bias_hh):
    all_states = []
    all_weights = []
    current = state
    for t in range(words.size(1)):
        word = words[:, t, :]
        context, attention = bahdanau_step(current, annotations, mask, weight_s, weight_h, v)
        gru_input = torch.cat((word, context), dim=1)
        current = gru_step(gru_input, current, weight_ih, weight_hh, bias_ih, bias_hh)
        all_states.append(current)
        all_weights.append(attention)
    all_states = torch.stack(all_states).permute(1, 0, 2)
    all_weights = torch.stack(all_weights).permute(1, 0, 2)
    return all_states, all_weights


# PyTorch's own
OWN = [
    by_the_librarys_cell,
]
RIGHT = [
    *OWN,
    filled_in,
    words_and_keys_first,
    by_itself,
    # As beginners write them
    step_after_step,
]
WORKED = [
    (
        ([[[1], [2]]], [[0]], [[[3]]], [[True]], [[1]], [[1]], [1])
        + ([[0, 0], [0, 0], [1, -1]], [[0], [0], [0]], [0, 0, 0], [0, 0, 0]),
        "-0.4820 -0.6218 1 1",
    )
]
