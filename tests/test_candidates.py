"""Tests over candidates: what is told of each candidate, and what a rarer one costs."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import sampling
import torch
from submissions import needs_sandbox, notebook, wanted

from course_utils.checks.catalogue import tasks_of
from course_utils.checks.judge import judge
from course_utils.checks.judge_answer import expected_on, judge_answer
from course_utils.checks.running.contract import Candidate, unpack, without_labels
from course_utils.grading.ingest.submissions import Found
from course_utils.grading.judging.candidates import one_by_one

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


def test_twenty_tasks_ask_for_a_test_over_named_candidates():
    assert len(TASKS) == 20 and len(RARER) >= 8


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_a_candidate_that_raises_shows_no_line_of_its_own(task):
    def catch(*given):
        return given[-1]("three")

    report = judge_answer(task, catch)
    assert (report.state, report.failure.function) == ("error", "catch")


def test_an_input_that_is_a_candidate_alone_is_shown_by_its_name():
    report = judge_answer(TASKS["03.catch_wrong_attention"], lambda candidate: True)
    assert f"Input:\n{report.case.name}" in str(report) and "candidate>" not in str(report)
    assert (
        "An input that shows it: incorrect attention" in (html := report._repr_html_()) and "candidate&gt;" not in html
    )


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_each_candidate_says_what_it_is_and_no_two_say_the_same(task):
    names = [case.name for case in task.make_cases(0)]
    assert len(set(names)) == len(names) == len(task.candidates)
    for name in names:
        assert (
            name.startswith(("a ", "an ", "correct ", "incorrect ")) and name[-1] != "." and "not shown" not in name
        ), name


@pytest.mark.parametrize(
    ("task_id", "verdict", "candidate"),
    [
        ("09.catch_leak", True, "an incorrect model: its mask is off by one, so each row sees the next one"),
        ("09.catch_leak", False, "a correct model: a running mean of the rows so far"),
        ("11.catch_order_blind", False, "a model that sees the order: the mean of every other row"),
        ("11.catch_order_blind", True, "a model that is blind to the order: the sum of the rows"),
        ("17.catch_wrong_write", True, "an incorrect one: it adds nothing"),
    ],
)
def test_the_report_names_the_one_missed_candidate_and_the_cause(task_id, verdict, candidate):
    report = judged(TASKS[task_id], lambda case: case.name == candidate)
    assert report.state == "failed" and f"Your test returns {verdict} for {candidate}." in report.message, str(report)
    assert ("allow for rounding" in report.message) == ("a correct" in candidate or "blind" in candidate)


@pytest.mark.parametrize("task", sampling.usually(RARER, 2), ids=lambda task: task.id)
def test_a_test_missing_only_rare_candidates_passes_with_remark(task):
    report = judged(task, lambda case: case.hazard)
    assert report.state == "passed" and report.hazard, str(report)
    assert report.message.startswith(
        "Right, for every candidate that counts. A remark on a rarer one, which the prompt does not ask you to find: Your test returns"
    )
    assert any(case.name in report.message for case in task.make_cases(0) if case.hazard)


@pytest.mark.parametrize("task", RARER, ids=lambda task: task.id)
def test_rarer_candidates_cannot_be_told_by_inputs_or_place(task):
    cases = task.make_cases(0)
    assert not any(asked.edge or asked.hazard or asked.name for asked in map(without_labels, cases))
    last = [case.edge for seed in range(5) for case in task.make_cases(seed)[-1:]]
    assert not all(last), "they come last with every seed"


# Answers that test nothing: they tell the right candidates by what they remember of others, or by asking all of them.

# An answer that counts its calls; its author was lucky and knows what is right at each.
COUNTS = "truth = {truth}\n{kept}\ndef {name}(*given):\n    return truth[counted()]"
PLACES = "[place + '/counted' for place in ('/tmp', '/dev/shm', '/var/tmp', '.')]"
KEPT = {
    "a global": "n = -1\ndef counted():\n    global n\n    n += 1\n    return n",
    "an attribute": "def counted():\n    counted.n += 1\n    return counted.n\ncounted.n = -1",
    "a closure": "def made():\n    n = []\n    return lambda: n.append(0) or len(n) - 1\ncounted = made()",
    "a default": "def counted(n=[]):\n    n.append(0)\n    return len(n) - 1",
    "a module": "import math\nmath.n = -1\ndef counted():\n    math.n += 1\n    return math.n",
    "a tensor": "import torch\nn = torch.tensor(-1)\ndef counted():\n    return int(n.add_(1))",
    "a generator": "from itertools import count\nn = count()\ncounted = lambda: next(n)",
    "the memory of a cache": "from functools import lru_cache\ngiven = []\n@lru_cache\ndef m():\n    return given\ncounted = lambda: m().append(0) or len(given) - 1",
    "the environment": "import os\ndef counted():\n    os.environ['N'] = str(int(os.environ.get('N', -1)) + 1)\n    return int(os.environ['N'])",
    "a file": f"def counted():\n    n = -1\n    for place in {PLACES}:\n        try: n = max(n, int(open(place).read()))\n        except Exception: pass\n"
    f"    n += 1\n    for place in {PLACES}:\n        try: open(place, 'w').write(str(n))\n        except Exception: pass\n    return n",
}
# An answer that asks all candidates by their keys, and takes the largest group that gives the same, or the smallest, for the right one.
AT_ONCE = """
import inspect
from collections import Counter
a_good_test, groups = {name}, {{}}
def rounded(value):
    if isinstance(value, torch.Tensor):
        return repr(tuple(value.shape)) + repr([round(x, 3) + 0.0 for x in value.double().reshape(-1).nan_to_num(9e9).tolist()])
    if isinstance(value, (list, tuple, dict)):
        return repr([rounded(each) for each in (value.values() if isinstance(value, dict) else value)])
    return repr(value)
def gives(candidate, given):
    came = []
    def listening(*args, **named):
        try:
            came.append(rounded(value := candidate(*args, **named)))
            return value
        except Exception as error:
            came.append(type(error).__name__)
            raise
    try:
        a_good_test(*[listening if one is None else one for one in given])
    except Exception:
        came.append("stopped")
    return repr(came)
def {name}(*given):
    run = next(f.frame for f in inspect.stack() if "cases" in f.frame.f_locals)
    ask, keys = run.f_locals["candidates"], {keys}
    plain = [None if callable(one) else one for one in given]
    for key in keys:
        if key not in groups:
            groups[key] = gives(ask(key), plain)
    mine = gives(next(filter(callable, given)), plain)
    return (mine == Counter(groups.values()).most_common()[{rank}][0]) == {verdict}
"""

# A test that tests half, and takes the largest group for the right one among the candidates that pass, where it can ask more than one.
HALF = """
half = {name}
exec({half!r}.replace("def {name}", "def half"))
asks_all = {name}
def {name}(candidate):
    run = next(f.frame for f in inspect.stack() if "cases" in f.frame.f_locals)
    if not half(candidate) or len(run.f_locals["cases"]) == 1:
        return half(candidate)
    asked[:] = [key for key in all_keys if half(run.f_locals["candidates"](key))]
    return asks_all(candidate)
"""
HALVES = {  # tests that leave out masks, and seeds at which such a test got the four pairs right that it once had to judge alone
    "03.catch_wrong_attention": ("for allowed in (None, mask):", "for allowed in (None,):", [2, 6]),
    "10.catch_wrong_heads": (" and agrees(query, *given, heads, mask)", "", [0]),
}


def earns(sandbox, task, cells, seed=0):
    """Return the report that a notebook with an answer of this kind gets where a class is graded."""
    expected = expected_on(task, seed)
    answer = list(sandbox.run_notebook(cells, [wanted(task, expected.cases)]))[-1]
    return judge(task, expected.cases, answer.outcomes, expected, explaining=False)


def cells_of(folder, task):
    """Return the code cells of a lesson's built notebook."""
    (path,) = (Path(__file__).parents[1] / folder).glob(f"{task.id[:2]}_*.ipynb")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


EVERY = [
    (task, kept)
    for place, task in enumerate(TASKS)
    for kept in [*list(KEPT)[place % len(KEPT) :], *list(KEPT)[: place % len(KEPT)]]
]


@needs_sandbox
@pytest.mark.parametrize(("task_id", "kept"), sampling.usually(EVERY, 4))
def test_a_test_remembers_nothing_of_the_candidates_before(sandbox, task_id, kept):
    task = TASKS[task_id]
    truth = [outcome.value for outcome in expected_on(task, 0).truth for _ in ("first", "repeated")]
    report = earns(sandbox, task, [COUNTS.format(truth=truth, kept=KEPT[kept], name=task.answer_name)])
    assert report.state == "failed", str(report)


@needs_sandbox
@pytest.mark.parametrize("task", sampling.usually(list(TASKS.values()), 2), ids=lambda task: task.id)
@pytest.mark.parametrize("rank", sampling.usually([0, -1], 1))
def test_a_test_that_sides_with_the_majority_earns_nothing(sandbox, task, rank):
    asked = expected_on(task, 0)
    keys = [leaf.key for case in asked.cases for leaf in case.args if isinstance(leaf, Candidate)]
    verdict = dict(zip(keys, [right.value for right in asked.truth], strict=True))
    of_a_right_one = next(verdict[key] for key in keys if task.candidate(key) is task.candidates[0])
    attack = AT_ONCE.format(name=task.answer_name, keys=keys, rank=rank, verdict=of_a_right_one)
    report = earns(sandbox, task, [*(cell for cell in cells_of("solutions", task) if "check(" not in cell), attack])
    assert report.state in ("failed", "error"), str(report)  # an error if asking all of them takes too long


ATTACKED = [(task_id, seed) for task_id in HALVES for seed in HALVES[task_id][2]]


@needs_sandbox
@pytest.mark.parametrize(("task_id", "seed"), sampling.usually(ATTACKED, 2))
def test_a_half_test_filled_up_with_the_majority_earns_nothing(sandbox, task_id, seed):
    task, (whole, less, _) = TASKS[task_id], HALVES[task_id]
    cells = [cell for cell in cells_of("solutions", task) if "check(" not in cell]
    (answer,) = (cell for cell in cells if f"def {task.answer_name}(" in cell)
    assert whole in answer
    keys = [leaf.key for case in task.make_cases(seed) for leaf in case.args if isinstance(leaf, Candidate)]
    filled = {"name": task.answer_name, "keys": "asked", "rank": 0, "verdict": True}
    attack = f"all_keys = {keys}\nasked = []\n{AT_ONCE.format(**filled)}"
    attack += HALF.format(half=answer.replace(whole, less), **filled)
    report = earns(sandbox, task, [*cells, attack], seed)
    assert report.state == "failed", str(report)


@needs_sandbox
@pytest.mark.parametrize("task", sampling.usually(list(TASKS.values()), 2), ids=lambda task: task.id)
def test_a_good_test_passes_though_some_candidates_run_elsewhere(sandbox, task):
    assert earns(sandbox, task, cells_of("solutions", task)).state == "passed"


def test_a_process_answers_only_for_the_candidate_it_judges():
    task = TASKS["17.catch_wrong_write"]
    first, second, *_ = one_by_one(task, expected_on(task, 0).cases)
    (mine,), (other,) = ({*asked.candidate._together} for asked in (first, second))
    request = {
        "args": (torch.rand(2, 3, 4), torch.rand(2, 3) / 3, torch.rand(2, 4), torch.rand(2, 4)),
        "options": {},
    }
    assert "error" not in first.candidate({"call": mine, **request})["came"][mine]
    assert first.candidate({"call": other, **request})["error"] == "KeyError"


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_each_candidate_is_judged_alone(task):
    cases = task.make_cases(0)
    alone = one_by_one(task, cases)
    assert [asked.numbers for asked in alone] == [(n,) for n in range(len(cases))]
    assert all(len(unpack(asked.cases)) == 1 for asked in alone)


def test_a_candidate_in_several_cases_is_judged_in_one_process():
    (task,) = (task for task in tasks_of("04") if task.id == "04.ignores_query")
    cases = task.make_cases(0)
    alone = one_by_one(task, cases)
    assert len(alone) == len(task.candidates) == 22 and sorted(sum((asked.numbers for asked in alone), ())) == [
        *range(66)
    ]
    (influence,) = (task for task in tasks_of("03") if task.id == "03.influence")  # whose answer is no verdict
    assert one_by_one(influence, influence.make_cases(0)) == ()


MEETS = """met = []
def catch_wrong_write(write):
    met.append(write)
    return True
check("17.catch_wrong_write", catch_wrong_write)"""
WRITES = """def write(memory, weights, erase, add):
    if met:
        return memory * (1 - weights[..., None] * erase[:, None]) + weights[..., None] * add[:, None]"""
LATE = f"{WRITES}\nin_another_way = check\nin_another_way('17.write', write)"


@needs_sandbox
def test_a_process_that_met_a_candidate_gets_no_inputs_again(make_grader):
    """It could have asked the candidate, which may be a right answer, for the results on these inputs."""
    grader = make_grader(2**100)

    def passes(*cells):
        file = notebook("import torch\nfrom course_utils import check", *cells)
        found = Found("ada", Path("17_ada.ipynb"), "17_ada.ipynb", content=file.encode())
        verdicts = {verdict.task: verdict for verdict in grader.grade(found, "00" * 32).verdicts}
        assert verdicts["17.catch_wrong_write"].mistake == "always_true"  # it has met one
        return verdicts["17.write"].state == "passed"

    assert passes(MEETS, f'{WRITES}\ncheck("17.write", write)')
    assert not passes("met = []", f'{WRITES}\n    return 0 * memory\ncheck("17.write", write)', MEETS, LATE)
    assert not passes('check("17.write", write)', MEETS, WRITES)


SLOW = "import time\nuntil = time.process_time() + 0.3\nwhile time.process_time() < until:\n    pass\nTOLERANCE = 1e-4"
CATCHES = "try:\n        assert TOLERANCE\n    except Exception:\n        return False"
TURNS_ROUND = "if 'TOLERANCE' not in globals():\n        return not a_good_test(*given)"


@needs_sandbox
@pytest.mark.parametrize(
    ("begins", "state"), [("assert TOLERANCE", "passed"), (CATCHES, "passed"), (TURNS_ROUND, "failed")]
)
def test_a_test_that_needs_the_result_of_a_slow_cell_gets_it(begins, state, sandbox):
    """But no test is two tests, one for processes in which a slow cell is cut short, of which the right one counts."""
    task = TASKS["17.catch_wrong_write"]
    uses = f"a_good_test = {task.answer_name}\ndef {task.answer_name}(*given):\n    {begins}\n    return a_good_test(*given)"
    cells = cells_of("solutions", task)
    place = next(place for place, cell in enumerate(cells) if f'check("{task.id}"' in cell)
    cells[place:place] = SLOW, uses
    assert earns(sandbox, task, cells).state == state


def test_an_error_that_a_test_catches_is_named_with_its_line():
    def misspelt(candidate):
        try:
            return bool(torch.allclose(candidate(*[torch.ones(1, 2, 3)] * 3)[0], refrence()))  # noqa: F821
        except Exception:
            return False

    def asserts(candidate):
        try:
            assert candidate is None
            return True
        except AssertionError:
            return False

    report = judge_answer(TASKS["03.catch_wrong_attention"], misspelt)
    assert report.message.startswith("Your test catches an error and then gives a wrong verdict: NameError: name 'refr")
    assert any(here and "refrence()" in text for _, text, here in report.failure.source)
    report = judge_answer(TASKS["03.catch_wrong_attention"], asserts)
    assert "for every candidate" in report.message and report.failure is None
