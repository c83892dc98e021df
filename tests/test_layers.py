"""The four kinds of layers of lesson 09: against plainer forms, what reaches what, and the recall that they are tried on."""

import pytest
import torch
from tensors import drawn

from course_utils.base.errors import CourseError
from course_utils.data.recall import AT_ONCE, KEYS, VALUES, recall_at_distance
from course_utils.models.minimal import self_attention
from course_utils.models.sequence_layers import (
    Convolution,
    Recurrent,
    RestrictedSelfAttention,
    SelfAttention,
    multiplications,
)

D = 5


def layer_and_words(kind, *arguments, T=11):
    torch.manual_seed(0)
    return kind(D, *arguments).double(), torch.randn(2, T, D, dtype=torch.float64)


def plain(layer, x, mask=None):
    return x + self_attention(x, layer.query.weight.T, layer.key.weight.T, layer.value.weight.T, mask)


def test_self_attention_is_its_formula():
    layer, x = layer_and_words(SelfAttention)
    torch.testing.assert_close(layer(x), plain(layer, x))


@pytest.mark.parametrize("radius", [0, 1, 4, 10, 17])
def test_restricted_self_attention_is_attention_behind_a_mask(radius):
    """Computed from windows, so that places out of reach are never scored; it may reach beyond the sentence."""
    layer, x = layer_and_words(RestrictedSelfAttention, radius)
    place = torch.arange(11)
    near = ((place[:, None] - place).abs() <= radius).expand(2, 11, 11)
    torch.testing.assert_close(layer(x), plain(layer, x, near))


def seen_from_last(layer, x):
    """Which places the last one depends on."""
    x = x.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(layer(x)[0, -1].sum(), x)
    return (gradient[0].abs().sum(-1) > 0).tolist()


@pytest.mark.parametrize(
    ("kind", "arguments", "reach"),
    [
        (SelfAttention, (), 10),
        (Recurrent, (), 10),
        (Recurrent, (torch.nn.LSTM,), 10),
        (RestrictedSelfAttention, (3,), 3),
        (Convolution, (5,), 2),
    ],
)
def test_each_layer_reaches_as_far_as_the_lesson_says(kind, arguments, reach):
    layer, x = layer_and_words(kind, *arguments)
    assert seen_from_last(layer, x) == [10 - t <= reach for t in range(11)]


def test_two_layers_reach_twice_as_far_and_dilation_further():
    torch.manual_seed(0)
    x = torch.randn(1, 25, D)
    two = torch.nn.Sequential(RestrictedSelfAttention(D, 3), RestrictedSelfAttention(D, 3))
    assert seen_from_last(two, x) == [24 - t <= 6 for t in range(25)]
    dilated = torch.nn.Sequential(Convolution(D, 3), Convolution(D, 3, dilation=9))
    assert [24 - t for t, seen in enumerate(seen_from_last(dilated, x)) if seen][0] == 10


def test_a_question_at_a_distance_asks_for_one_of_the_pairs():
    for pairs, distance in ((1, 0), (3, 7), (8, 2)):
        tokens, answers = recall_at_distance(300, pairs, distance, drawn())
        assert tokens.shape == (300, pairs + distance + 1) and (tokens < AT_ONCE).all()
        for row, answer in zip(tokens.tolist(), answers.tolist(), strict=True):
            said = dict(divmod(token, VALUES) for token in row[:pairs])
            assert len(said) == pairs and said[row[-1] - KEYS * VALUES] == answer
            assert row[pairs:-1] == [AT_ONCE - 1] * distance
    assert {0, 7} <= set(answers.tolist())


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: RestrictedSelfAttention(4, -1), "radius must be at least 0, not -1"),
        (lambda: Convolution(4, 2), "kernel must be odd and at least 1, not 2"),
        (lambda: recall_at_distance(1, 9, 0, drawn()), "1 to 8 pairs"),
        (lambda: recall_at_distance(1, 3, -1, drawn()), "distance must be at least 0, not -1"),
    ],
)
def test_bad_input_gets_a_sentence(call, sentence):
    with pytest.raises(CourseError, match=sentence):
        call()


def test_multiplications_are_counted_as_on_paper():
    n, d = 7, 5
    x = torch.randn(1, n, d)
    assert multiplications(SelfAttention(d), x) == 3 * n * d * d + 2 * n * n * d
    assert multiplications(Convolution(d, 3), x) == 3 * n * d * d
    assert multiplications(RestrictedSelfAttention(d, 2), x) == 3 * n * d * d + 2 * n * 5 * d
