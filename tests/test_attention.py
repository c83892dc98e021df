"""The reference attention against torch's own functions, and its sentences for shapes that do not fit."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_utils.models import attention as a

SIZES = st.tuples(*[st.integers(1, 7)] * 5, st.integers(0, 1000))


def inputs(B, T, S, D, E, seed):
    draw = torch.Generator().manual_seed(seed)
    shapes = ((B, T, D), (B, S, D), (B, S, E))
    query, key, value = (torch.randn(s, generator=draw, dtype=torch.float64) for s in shapes)
    return query, key, value, torch.rand(B, T, S, generator=draw) < 0.6


@settings(max_examples=60, deadline=None)
@given(SIZES)
def test_attention_equals_torchs_where_something_may_be_attended(sizes):
    query, key, value, mask = inputs(*sizes)
    mask[..., 0] |= ~mask.any(-1)
    for m in (mask, None):
        context, weights = a.attention(query, key, value, m)
        expected = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=m, scale=1.0)
        torch.testing.assert_close(context, expected)
        torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]))


@settings(max_examples=30, deadline=None)
@given(SIZES)
def test_a_fully_masked_row_gives_zeros_and_finite_gradients(sizes):
    query, key, value, mask = inputs(*sizes)
    mask[0, 0] = False
    query.requires_grad_()
    context, weights = a.attention(query, key, value, mask)
    assert not weights[0, 0].any() and not context[0, 0].any()
    context.sum().backward()
    assert query.grad.isfinite().all()


def test_masks_are_true_where_a_word_may_attend():
    assert a.padding_mask(torch.tensor([2, 0, 3]), 3).tolist() == [[True, True, False], [False] * 3, [True] * 3]
    assert torch.equal(a.causal_mask(4), ~torch.ones(4, 4, dtype=torch.bool).triu(1))


@settings(max_examples=30, deadline=None)
@given(SIZES)
def test_scores_written_in_two_ways_are_the_same_function(sizes):
    state, hidden, other, _ = inputs(*sizes)
    D, E = state.shape[-1], other.shape[-1]
    draw = torch.Generator().manual_seed(1)
    weight, v = (
        torch.randn(5, D + E, generator=draw, dtype=torch.float64),
        torch.randn(5, dtype=torch.float64, generator=draw),
    )
    torch.testing.assert_close(
        a.additive(state, other, weight, v), a.perceptron(state, other, weight[:, :D], weight[:, D:], v)
    )
    torch.testing.assert_close(a.general(state, hidden, torch.eye(D, dtype=torch.float64)), a.dot(state, hidden))
    torch.testing.assert_close(a.scaled_dot(state, hidden), a.dot(state, hidden) / D**0.5)
    cosine = torch.nn.functional.cosine_similarity(state[:, :, None], hidden[:, None], dim=-1)
    torch.testing.assert_close(a.content_based(state, hidden), cosine)


def test_cosine_with_a_zero_vector_is_zero():
    assert not a.content_based(torch.zeros(1, 1, 3), torch.ones(1, 2, 3)).any()


def test_the_eight_scores_are_named_as_in_the_lesson():
    names = "dot scaled_dot additive general concatenating perceptron content_based location_based"
    assert " ".join(a.SCORES) == names


@pytest.mark.parametrize(
    ("shapes", "sentence"),
    [
        (((1, 2, 7), (1, 3, 5), (1, 3, 4)), "keys have width 5, queries 7: they must match"),
        (((1, 2, 5), (1, 3, 5), (1, 2, 4)), "there are 3 keys and 2 values: each key needs one value"),
    ],
)
def test_shapes_that_do_not_fit_are_told(shapes, sentence):
    with pytest.raises(ValueError, match=sentence):
        a.attention(*(torch.zeros(shape) for shape in shapes))
