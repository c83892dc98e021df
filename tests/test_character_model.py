"""What lesson 21's exercises end with: a model of letters that is trained on stories and goes on with a text."""

import pytest
import torch
from tasks import solution_of

from course_utils.base.errors import CourseError
from course_utils.models import character_model


def test_a_text_of_letters_comes_back():
    text = character_model.stories_as_text(3, seed=0)
    assert (
        text.endswith(". ")
        and " went to the " in text
        and text == character_model.stories_as_text(3, seed=0) != character_model.stories_as_text(3, seed=1)
    )
    assert "".join(character_model.LETTERS[i] for i in character_model.ids_of(text)) == text


@pytest.mark.parametrize(("prompt", "sentence"), [("", "needs a letter"), ("Mary", "knows no 'M'")])
def test_a_prompt_that_cannot_be_read_is_told(prompt, sentence):
    with pytest.raises(CourseError, match=sentence):
        character_model.ids_of(prompt)


def test_go_on_draws_each_letter_from_what_the_model_says():
    seen = []

    def model(ids):
        seen.append(ids.shape)
        following = (ids + 1) % len(character_model.LETTERS)
        return 100.0 * torch.nn.functional.one_hot(following, len(character_model.LETTERS))

    first, n = character_model.LETTERS[3], len(character_model.LETTERS)
    assert character_model.go_on(model, first, 70) == "".join(character_model.LETTERS[(3 + t) % n] for t in range(71))
    assert seen[0] == (1, 1) and seen[-1] == (1, character_model.WINDOW)


def test_a_right_gpt_learns_in_a_few_steps():
    _, bits = character_model.train_speaker(solution_of("21.gpt"), steps=40)
    assert 1 < bits < 3.5, bits  # without training 4.5 or more


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(3))
def test_a_right_gpt_writes_sentences_of_the_stories(seed):
    model, bits = character_model.train_speaker(solution_of("21.gpt"), seed)
    words = {word for sentence in character_model.stories_as_text(200, seed=3).split(". ") for word in sentence.split()}
    written = character_model.go_on(model, "mary went to the ", seed=seed).replace(".", "").split()[:-1]
    assert bits < 0.3 and sum(word in words for word in written) > 0.9 * len(written)
