"""How a notebook's time is spent, and where its process stands: without a sandbox, on a clock that the tests turn."""

from types import SimpleNamespace

import pytest

from course_utils.grading.judging import budget
from course_utils.grading.judging.budget import Limits, TimeBudget
from course_utils.grading.judging.notebook_run import ProcessPosition


@pytest.fixture
def clock(monkeypatch):
    """A clock to turn, on a quiet machine; `load` is its load factor."""
    turned = SimpleNamespace(now=0.0, load=1.0)
    monkeypatch.setattr(budget, "load_factor", lambda: turned.load)
    monkeypatch.setattr(budget.time, "monotonic", lambda: turned.now)
    return turned


@pytest.fixture
def spend(clock):
    """Let a budget measure what takes so many seconds."""

    def spend(budget, seconds, cell=None):
        with budget.measured(cell):
            clock.now += seconds

    return spend


def test_seconds_count_less_on_a_busy_machine(clock, spend):
    clock.load, time = 4.0, TimeBudget(Limits(seconds=10, whole=40))
    spend(time, 8)
    assert time.left == 40 - 2
    with pytest.raises(ValueError), time.measured():
        clock.now, clock.load = clock.now + 16, 8.0
        raise ValueError
    assert time.left == 40 - 2 - 2  # what fails is spent, too, and the higher of two loads counts


def test_a_process_is_charged_at_least_what_it_has_computed(clock, spend):
    clock.load, time = 8.0, TimeBudget(Limits(seconds=10, whole=40))
    spend(time, 8)  # counts as one second
    time.settle(used_before=0, computed=0.5)
    assert time.left == 39
    time.settle(used_before=0, computed=6)
    assert time.left == 34
    with time.free("candidates"):
        time.settle(used_before=time.used, computed=3)
    assert time.left == 34 and time.used == 9


def test_free_seconds_end_with_those_of_an_answer(spend):
    time = TimeBudget(Limits(seconds=10, whole=40))
    with time.free("candidates"):
        spend(time, 6)
        assert time.left == 40
        spend(time, 6)
    assert time.left == 38
    spend(time, 1)
    with time.free("candidates"):
        spend(time, 1)
    assert time.left == 36


def test_slow_cells_leave_time_for_the_cells_below_them(spend):
    time, longest = TimeBudget(Limits(seconds=10, whole=40)), []
    for cell in range(14):
        longest.append(time.seconds_for(cell, rerun_at_most=10))
        spend(time, longest[-1], cell)
    # Up to half of the notebook's time, then a slice each, up to three quarters.
    assert longest == pytest.approx([10, 10, *[1] * 10, 0, 0]) and time.left == pytest.approx(10)


def test_a_cell_runs_again_for_little_longer_than_before(spend):
    time = TimeBudget(Limits(seconds=10, whole=40))
    spend(time, 2, cell=0)
    assert time.seconds_for(0, rerun_at_most=10) == 1 + 2 * 2
    assert time.seconds_for(0, rerun_at_most=3) == 3
    spend(time, 9, cell=0)
    assert time.seconds_for(0, rerun_at_most=10) == 1 + 2 * 2  # only its first run counts
    time.slow.add(0)
    assert time.seconds_for(0, rerun_at_most=10) == 1
    spend(time, 28.5)
    assert time.seconds_for(0, rerun_at_most=10) == 0.5


def test_a_brief_process_cuts_short_only_cells_that_have_run(spend):
    time = TimeBudget(Limits(seconds=10, whole=40))
    spend(time, 2, cell=0)
    assert time.seconds_for(0, rerun_at_most=10, brief=True) == budget.BRIEF
    assert time.seconds_for(1, rerun_at_most=10, brief=True) == 10


def test_a_rerun_cuts_short_only_slow_cells(spend):
    time = TimeBudget(Limits(seconds=10, whole=40))
    assert time.rerun_at_most(set()) == 10
    for cell, seconds in enumerate([1, 9, 2, 8]):
        spend(time, seconds, cell)
    assert time.rerun_at_most(set()) == pytest.approx((20 / 2 - 1 - 2) / 2)
    assert time.rerun_at_most({1}) == pytest.approx(20 / 2 - 1 - 2)
    assert time.rerun_at_most({1, 3}) == 10
    spend(time, 19.99)
    assert time.rerun_at_most(set()) == 0.1  # one hundredth of a cell's seconds is always left


@pytest.mark.parametrize(
    ("place", "offers", "whole", "can"),
    [
        (2, (), True, True),  # the cell that it has just run
        (1, (), True, False),
        (3, (), True, True),
        (2, (), False, False),  # the middle of that cell
        (3, (), False, True),
        (3, ("models.attention",), True, False),
    ],
)
def test_a_process_can_only_go_on_and_with_what_it_was_offered(place, offers, whole, can):
    position = ProcessPosition(offers=(), rerun_at_most=1.0, next_cell=3)
    assert position.can_reach(place, offers, whole) is can
    position.inside_cell = True
    assert not position.can_reach(place, offers, whole)
