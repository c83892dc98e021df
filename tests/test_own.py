"""PyTorch's own function, layer or optimizer, or the standard library's, is among the right answers of every task that there is one for.

Each file in a lesson's `right/` names them in OWN, or says in NONE_OF_ITS_OWN why there is none. Whoever writes a task cannot forget to look.

Not here: the first right answer of each task, which `test_tasks.py` tries in every run, and all of them in many seeds, as a thorough run does.
"""

import extent
import pytest
from right_answers import HELD, OWN, RIGHT
from test_tasks import TASKS, judge_briefly

from course_utils.checks.expected import Expected

NOT_FIRST = [task_id for task_id, own in OWN.items() if RIGHT[task_id][0] is not own[0]]


@pytest.mark.parametrize("task_id", TASKS)
def test_a_task_has_an_answer_of_pytorchs_own_or_says_why_not(task_id):
    held = HELD[task_id]
    assert ("OWN" in held) != ("NONE_OF_ITS_OWN" in held), f"one of the two is in right/ for {task_id}"
    if "OWN" in held:
        assert held["OWN"] and all(any(answer is own for answer in held["RIGHT"]) for own in held["OWN"])
    else:
        why = held["NONE_OF_ITS_OWN"]
        assert why[-1] == "." and 5 < len(why.split()) < 25, f"a sentence: {why}"


@pytest.mark.parametrize("task_id", NOT_FIRST)
def test_pytorchs_own_answer_passes_where_it_is_not_the_first(task_id):
    task = TASKS[task_id]
    for seed in extent.seeds(1, 3):
        expected = Expected(task, task.make_cases(seed))
        for answer in OWN[task_id]:
            report = judge_briefly(task, answer, expected)
            assert report.state == "passed", f"seed {seed}: {answer} is refused.\n{report}"
