"""Tests over candidates: what is told of each candidate, and what a rarer one costs."""

from dataclasses import replace

import pytest

from course_utils.checks.answer import expected_on
from course_utils.checks.judge import judge
from course_utils.checks.running.contract import question
from course_utils.lessons.tasks import tasks_of

LESSONS = ["03", *(f"{n:02}" for n in range(5, 22))]
TASKS = {
    task.id: task
    for number in LESSONS
    for task in tasks_of(number)
    if any(broken.__name__ == "the_verdict_is_right" for broken in task.properties)
}
RARER = [task for task in TASKS.values() if any(case.hazard for case in task.make_cases(0))]


def judged(task, is_missed):
    """The report on a test that is right but for those candidates of which function(case) is true."""
    expected = expected_on(task, 0)
    pairs = zip(expected.cases, expected.truth, strict=True)
    outcomes = [replace(right, value=not right.value) if is_missed(case) else right for case, right in pairs]
    return judge(task, expected.cases, outcomes, expected)


def test_twenty_tasks_ask_for_a_test_over_candidates_that_have_names():
    assert len(TASKS) == 20 and len(RARER) >= 8


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_each_candidate_says_what_it_is_and_no_two_say_the_same(task):
    names = [case.name for case in task.make_cases(0)]
    assert len(set(names)) == len(names) == len(task.candidates)
    for name in names:
        assert name.startswith("a ") and name[-1] != "." and "not shown" not in name, name


@pytest.mark.parametrize(
    ("task_id", "verdict", "candidate"),
    [
        ("09.catch_leak", True, "a wrong model: its mask is off by one, so each row sees the next one"),
        ("09.catch_leak", False, "a right model: a running mean of the rows so far"),
        ("11.catch_order_blind", False, "a model that sees the order: the mean of every other row"),
        ("11.catch_order_blind", True, "a model that is blind to the order: the sum of the rows"),
        ("17.catch_wrong_write", True, "a wrong one: it adds nothing"),
    ],
)
def test_who_misses_one_candidate_is_told_which_and_what_makes_it_so(task_id, verdict, candidate):
    report = judged(TASKS[task_id], lambda case: case.name == candidate)
    assert report.state == "failed" and f"Your test says {verdict} to {candidate}." in report.message, str(report)
    assert ("leave room for rounding" in report.message) == ("right" in candidate or "blind" in candidate)


@pytest.mark.parametrize("task", RARER, ids=lambda task: task.id)
def test_who_misses_rarer_candidates_alone_is_right_and_is_told_of_one(task):
    report = judged(task, lambda case: case.hazard)
    assert report.state == "passed" and report.hazard, str(report)
    assert report.message.startswith(
        "Right, for every candidate that counts. A remark on a rarer one, which the prompt does not ask you to find: Your test says"
    )
    assert any(case.name in report.message for case in task.make_cases(0) if case.hazard)


@pytest.mark.parametrize("task", RARER, ids=lambda task: task.id)
def test_a_test_cannot_tell_rarer_candidates_by_what_it_is_given_or_by_their_place(task):
    cases = task.make_cases(0)
    assert not any(asked.edge or asked.hazard or asked.name for asked in map(question, cases))
    last = [case.edge for seed in range(5) for case in task.make_cases(seed)[-1:]]
    assert not all(last), "they come last with every seed"
