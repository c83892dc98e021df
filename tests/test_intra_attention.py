"""What lesson 08 shows: attention to one's own past against loops and torch's cell, the sequences that it reads, learning to look."""

import pytest
import torch
from tensors import drawn
from torch import nn

from course_utils.base.errors import CourseError
from course_utils.data.recall import KEYS, TOKENS, recall
from course_utils.models.intra_attention import LSTM, LSTMN, LookingBack

D, H = 3, 5
LAYERS = (LSTM, LookingBack, LSTMN)


def test_an_lstmn_does_what_its_equations_say():
    """Place by place, with lists and torch's own cell."""
    torch.manual_seed(0)
    layer, x = LSTMN(D, H).double(), torch.randn(2, 7, D, dtype=torch.float64)
    found, weights = layer(x)
    for row in range(2):
        h, c, summary = [], [], torch.zeros(H, dtype=torch.float64)
        memory = torch.zeros(H, dtype=torch.float64)
        for t in range(7):
            if t:
                fixed = layer.from_input(x[row, t]) + layer.from_summary(summary)
                share = torch.stack([layer.v(torch.tanh(layer.from_past(h[i]) + fixed))[0].exp() for i in range(t)])
                share = share / share.sum()
                torch.testing.assert_close(weights[row, t, :t], share)
                summary = sum(share[i] * h[i] for i in range(t))
                memory = sum(share[i] * c[i] for i in range(t))
            new = layer.cell(x[row, t][None], (summary[None], memory[None]))
            h.append(new[0][0])
            c.append(new[1][0])
        torch.testing.assert_close(found[row], torch.stack(h))
    assert not weights.triu().any()


def test_an_lstmn_with_one_state_is_an_lstm():
    torch.manual_seed(0)
    layer, x = LSTMN(D, H), torch.randn(4, 2, D)
    states, _ = layer(x)
    lstm = nn.LSTM(D, H, batch_first=True)
    lstm.load_state_dict({f"{name}_l0": value for name, value in layer.cell.state_dict().items()})
    torch.testing.assert_close(states, lstm(x)[0])


def test_looking_back_is_a_weighted_sum_of_the_states_before():
    torch.manual_seed(0)
    layer, x = LookingBack(D, H).double(), torch.randn(2, 7, D, dtype=torch.float64)
    found, weights = layer(x)
    states, contexts = found.split(H, -1)
    torch.testing.assert_close(states, layer.lstm(x)[0])
    assert not contexts[:, 0].any() and not weights.triu().any()
    for t in range(1, 7):
        for row in range(2):
            scores = states[row, :t] @ (layer.query.weight @ states[row, t]) / H**0.5
            share = scores.exp() / scores.exp().sum()
            torch.testing.assert_close(contexts[row, t], share @ states[row, :t])


@pytest.mark.parametrize("layer", LAYERS)
def test_layers_see_nothing_later_and_have_finite_gradients(layer):
    torch.manual_seed(0)
    layer, x = layer(D, H), torch.randn(2, 6, D, requires_grad=True)
    layer(x)[0][:, 3].sum().backward()
    assert not x.grad[:, 4:].any() and x.grad[:, :4].abs().amin() > 0 and x.grad.isfinite().all()


def test_a_question_is_answered_by_the_digit_behind_its_letter():
    for pairs in (1, 3, 8):
        tokens, answers, places = recall(200, pairs, drawn())
        assert tokens.shape == (200, 3 * pairs) and answers.shape == places.shape == (200, pairs)
        for row, answer, place in zip(tokens.tolist(), answers.tolist(), places.tolist(), strict=True):
            said = dict(zip(row[0 : 2 * pairs : 2], row[1 : 2 * pairs : 2], strict=True))
            assert len(said) == pairs and set(row[2 * pairs :]) == set(said) <= set(range(KEYS))
            assert [said[letter] for letter in row[2 * pairs :]] == [row[p] for p in place]
            assert [int(TOKENS[row[p]]) for p in place] == [value + 1 for value in answer]
    assert len({tuple(row) for row in recall(200, 8, drawn())[0].tolist()}) == 200


@pytest.mark.parametrize("pairs", [0, 9])
def test_recall_refuses_more_pairs_than_letters(pairs):
    with pytest.raises(CourseError, match=f"1 to 8 pairs, .* not {pairs}"):
        recall(3, pairs, drawn())


def test_a_layer_has_a_size():
    with pytest.raises(CourseError, match="hidden must be at least 1, not 0"):
        LSTMN(3, 0)
