"""A beam search taken apart into rounds agrees with the search that translates, and with looking at every sentence."""

from itertools import product

import pytest
import torch

from course_utils.base.errors import CourseError
from course_utils.data.small_world import small_world
from course_utils.models.recurrent import RecurrentTranslator
from course_utils.translation.rounds import rounds, step_of
from course_utils.translation.search import translate_all

EOS, LONGEST = 1, 3


def random_step(seed, V=4):
    """A `step` whose log probabilities depend on the whole beginning; BOS, 0, is hardly ever written."""

    def step(prefix):
        draw = torch.Generator().manual_seed(hash((seed, *prefix)) % 2**31)
        return torch.randn(V, generator=draw).mul(2).log_softmax(-1)

    return step


def by_looking_at_all(step):
    """The most probable sentence that ends, or is LONGEST words long, and its log probability."""
    best = ((), -float("inf"))
    for length in range(1, LONGEST + 1):
        for ids in product(range(4), repeat=length):
            if EOS in ids[:-1] or (ids[-1] != EOS and length < LONGEST):
                continue
            log_p = sum(float(step([0, *ids[:i]])[word]) for i, word in enumerate(ids))
            best = max(best, (ids, log_p), key=lambda one: one[1])
    return best


@pytest.mark.parametrize("seed", range(5))
def test_as_wide_as_there_are_sentences_it_finds_the_best_of_all(seed):
    step = random_step(seed)
    found = rounds(step, 0, EOS, 4**LONGEST, LONGEST)
    complete = [one for made in found for one in made.ended] + [one for one in found[-1].kept if one[0][-1] != EOS]
    ids, log_p = max(complete, key=lambda one: one[1])
    assert (ids, pytest.approx(log_p, abs=1e-5)) == by_looking_at_all(step)


@pytest.mark.parametrize("width", [1, 2, 3])
def test_each_round_keeps_the_best_continuations_of_what_was_open(width):
    step, open_ones = random_step(7), [((), 0.0)]
    for made in rounds(step, 0, EOS, width, LONGEST):
        assert len(made.weighed) == 4 * len(open_ones) and {one[0][:-1] for one in made.weighed} == {
            one[0] for one in open_ones
        }
        assert made.kept == sorted(made.weighed, key=lambda one: -one[1])[:width]
        assert made.ended == [one for one in made.kept if one[0][-1] == EOS]
        open_ones = [one for one in made.kept if one not in made.ended]


def test_width_one_writes_what_the_greedy_search_of_a_translator_does():
    torch.manual_seed(0)
    pairs = small_world(3, seed=0, longest=4)
    model = RecurrentTranslator(len(pairs.words), width=8, hidden=8, encoder_hidden=4, dropout=0.0)
    for row in pairs.ids()[0]:
        (found,) = translate_all(model, [row], width=1, longest=5)
        ids, log_p = rounds(step_of(model, row), 1, 2, 1, 5)[-1].kept[0]
        assert [token for token in ids if token != 2] == found.tokens[:5]
        if ids[-1] == 2:
            assert log_p == pytest.approx(found.log_probability, abs=1e-4)


@pytest.mark.parametrize(("arguments", "says"), [((0, 3), "width must be"), ((2, 0), "longest must be")])
def test_no_width_and_no_length_are_refused(arguments, says):
    with pytest.raises(CourseError, match=f"{says} at least 1, not 0"):
        rounds(random_step(0), 0, EOS, *arguments)
