"""What lesson 11 shows: texts whose order matters, models that see it in one way or another, and the tables about them."""

from math import cos, sin

import pytest
import torch
from tensors import drawn

from course_utils.base.errors import CourseError
from course_utils.data.recall import WORDS, recall_next
from course_utils.models.minimal import rotate
from course_utils.models.positions import KINDS, NextWord, fit, share_right


def test_the_repeated_word_stands_before_the_answer():
    for length in (2, 5, WORDS):
        words, answers = recall_next(200, length, drawn())
        assert words.shape == (200, length + 1) and len(set(answers.tolist())) > 20
        for *text, again, answer in torch.cat([words, answers[:, None]], 1).tolist():
            assert len(set(text)) == length and text[text.index(again) + 1] == answer


@pytest.mark.parametrize("length", [1, WORDS + 1])
def test_a_text_that_cannot_be_is_told(length):
    with pytest.raises(CourseError, match=f"2 to {WORDS} words, .* not {length}"):
        recall_next(3, length, drawn())


def test_rotating_turns_each_pair_by_the_angle_of_its_place():
    x = torch.randn(2, 5, 6, generator=drawn(), dtype=torch.float64)
    turned = rotate(x, start=3)
    for t in range(5):
        for i in range(3):
            angle = (3 + t) / 10000 ** (2 * i / 6)
            a, b = x[:, t, 2 * i], x[:, t, 2 * i + 1]
            expected = torch.stack([a * cos(angle) - b * sin(angle), a * sin(angle) + b * cos(angle)], -1)
            torch.testing.assert_close(turned[:, t, 2 * i : 2 * i + 2], expected, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_earlier_words_may_change_places_only_without_positions(kind):
    torch.manual_seed(0)
    model, (words, _) = NextWord(kind), recall_next(7, 6, drawn())
    moved = torch.cat([words[:, torch.tensor([3, 0, 5, 1, 4, 2])], words[:, -1:]], 1)
    assert torch.allclose(model(words), model(moved), atol=1e-5) == (kind == "none")


def test_next_word_refuses_an_unknown_kind_of_positions():
    with pytest.raises(CourseError, match="one of none, number, sinusoidal, learned, rotary, not 'relative'"):
        NextWord("relative")


def test_a_few_steps_lower_the_loss():
    torch.manual_seed(0)
    losses = fit(NextWord("sinusoidal"), steps=150)
    assert sum(losses[-20:]) < 0.8 * sum(losses[:20]) and 0 <= share_right(NextWord("none"), 5, 50) <= 1
