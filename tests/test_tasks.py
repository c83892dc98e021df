"""Every task against right and wrong answers: the kill matrix, in several seeds, orders and thread counts."""

import contextlib
import functools
import re

import extent
import pytest
import torch
from right_answers import FILES as RIGHT_FILES
from right_answers import RIGHT, exercises_of

from course_utils.base import trees
from course_utils.base.errors import CourseError
from course_utils.checks import answer as judging
from course_utils.checks.expected import Expected
from course_utils.checks.judge import _try_property, judge
from course_utils.checks.running.contract import holds_float64, question
from course_utils.checks.running.run import kind_of_answer, marked, run
from course_utils.checks.wrong import first_wrong
from course_utils.lessons import tasks
from course_utils.lessons.tasks import answers

# On a busy machine, too: time is tried in test_run.py.
judge_answer = functools.partial(judging.judge_answer, seconds=60)
TASKS = {task.id: task for lesson in tasks.by_lesson().values() for task in lesson}


def solution_of(task_id):
    """The course's own answer, run from the text that `solution` shows."""
    return answer_of(task_id, answers()[task_id])


def answer_of(task_id, code, cell="<answer>"):
    """The answer that a cell holds, run below the imports of its lesson's exercises."""
    imports = re.findall(r"^(?:from|import) .*$", exercises_of(task_id[:2]), re.MULTILINE)
    space = {}
    exec("\n".join(imports), space)
    exec(compile(code, cell, "exec"), space)
    return space[TASKS[task_id].answer_name]


@functools.cache
def expected_at_first(task):
    """What a task expects on the inputs of seed 0, for all tests of this file."""
    return Expected(task, task.make_cases(0))


def judge_briefly(task, answer, expected, seconds=60):
    """The report on an answer, without the search for a relation to the right values, which takes long."""
    if kind_of_answer(answer)[0] not in task.answer_kinds:
        return judge_answer(task, answer)
    outcomes = run(answer, list(map(question, expected.cases)), seconds, lambda key: marked(task.candidate(key)))
    return judge(task, expected.cases, outcomes, expected, explaining=False)


def as_answer(task, function):
    """A function as what a task asks for: where that is a class of modules, one with the parameters that the exercise gives."""
    if not task.module or isinstance(function, type):
        return function
    given = solution_of(task.id)

    class Answer(given):
        def __init__(self, **sizes):
            super().__init__(**sizes)
            self.sizes = sizes

        def forward(self, *inputs):
            return function(self.sizes, dict(self.named_parameters()), *inputs)

    return Answer


# Of scaled_dot_product_attention. Before, it had NaN in rows of a mask without a True, which is no right answer.
ZEROS_IN_EMPTY_ROWS = pytest.mark.skipif(torch.__version__ < "2.5", reason="needs torch 2.5")


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_a_task_is_complete(task):
    assert len(task.mistakes) >= 3 and len({m.name for m in task.mistakes}) == len(task.mistakes)
    assert len({m.sentence for m in task.mistakes}) == len(task.mistakes)
    assert len(task.hints) == 3
    assert task.id in answers(), f"its answer is not built: run `course build {task.id[:2]}`"
    assert len(RIGHT[task.id]) >= 2, "two styles beside the solution's"
    cases = task.make_cases(0)
    assert cases[0].args and (task.candidates or not cases[0].edge)


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_right_answers_pass_and_each_mistake_has_its_own_sentence(task):
    # Of a test over candidates a seed changes only their order; one mistake takes half a second there, as it tries all of them.
    named = extent.some("mistakes told by their names", task.mistakes, 4 if task.candidates else 10, 1000)
    others = extent.some("right answers in other styles", RIGHT[task.id], 1, 1000)
    wrong, seeds = [], [(0, named)] if task.candidates else [(0, named), (1, named if extent.NIGHT else [])]
    for seed, mistakes in seeds:
        expected = Expected(task, task.make_cases(seed)) if seed else expected_at_first(task)
        for answer in (solution_of(task.id), *(others if seed == 0 or extent.NIGHT else [])):
            report = judge_answer(task, answer, seed, expected=expected)
            wrong += [] if report.state == "passed" else [f"seed {seed}: {answer} is refused.\n{report}"]
        for mistake in mistakes:
            report = judge_mistake(task, mistake, expected)
            if not is_told(mistake, report):
                wrong.append(f"seed {seed}: {mistake.name} is not told by its name.\n{report}")
        for mistake in (each for each in task.mistakes if seed == 0 and each not in mistakes):
            wrong += [] if is_refused(task, mistake, expected) else [f"{mistake.name} passes."]
    assert not wrong, "\n\n".join(wrong)


def is_told(mistake, report):
    """Whether a report tells a mistake: one that shows at hazards alone in a remark on a right answer."""
    if report.hazard:
        return report.mistake == mistake.name and report.message.endswith(mistake.sentence)
    return (report.mistake, report.message) == (mistake.name, mistake.sentence) and report.state in ("failed", "error")


def is_refused(task, mistake, expected):
    """Whether an answer that makes a mistake is wrong in some case, a hazard too: the first that is found settles it."""
    places = range(len(expected.cases))
    return any(first_wrong(task, expected, place, expected.of_mistake(mistake, place)) for place in places)


def judge_mistake(task, mistake, expected):
    """The report on an answer that makes a mistake: what comes of it is run once, among what is expected."""
    if task.reading_function:  # it has been read there already
        return judge_answer(task, as_answer(task, mistake.function), expected=expected)
    outcomes = [expected.of_mistake(mistake, place) for place in range(len(expected.cases))]
    return judge(task, expected.cases, outcomes, expected)


@pytest.mark.thorough
@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_a_mistake_is_run_as_an_answer_is_and_has_the_same_name_for_many_seeds(task):
    wrong = []
    for seed in extent.seeds(1, 3):
        expected = Expected(task, task.make_cases(seed))
        for mistake in task.mistakes:
            report = judge_answer(task, as_answer(task, mistake.function), seed, expected=expected)
            wrong += [] if is_told(mistake, report) else [f"seed {seed}: {mistake.name}\n{report}"]
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.thorough
@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_a_right_answer_passes_for_many_seeds(task):
    wrong = []  # candidates and layers take long, and of candidates a seed changes only the order
    for seed in extent.seeds(1, 3 if task.candidates or task.module else 20):
        expected = Expected(task, task.make_cases(seed))
        for answer in (solution_of(task.id), *RIGHT[task.id]):
            report = judge_answer(task, answer, seed, expected=expected)
            wrong += [] if report.state == "passed" else [f"seed {seed}: {answer} is refused.\n{report}"]
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.parametrize("task", extent.usually(list(TASKS.values()), 42), ids=lambda task: task.id)
def test_an_empty_answer_is_not_attempted(task):
    def stub(*args):
        raise NotImplementedError

    def only_a_docstring(*args):
        """Says what it would do."""

    def dots(*args): ...

    for empty in (stub, only_a_docstring, dots, None, ...):
        if task.module and callable(empty):
            empty = type("Empty", (solution_of(task.id),), {"forward": empty})
        assert judge_answer(task, empty, expected=expected_at_first(task)).state == "not attempted"


@pytest.mark.parametrize("task", extent.usually(list(TASKS.values()), 42), ids=lambda task: task.id)
def test_answers_of_another_kind_are_refused(task):
    wrong = [
        lambda *a: print(end=""),
        lambda *a: "text",
        lambda *a: a[0],
        lambda *a: torch.zeros(()),
        lambda *a: torch.full((2, 3), torch.nan),
        lambda *a: (),
        lambda *a: {},
        lambda *a: object(),
        lambda: 1,
        3,
    ]
    expected = expected_at_first(task)
    for answer in [*wrong, *(as_answer(task, each) for each in wrong[:-2] if task.module)]:
        report = judge_briefly(task, answer, expected)
        assert report.state in ("failed", "error"), f"{answer} passes {task.id}"
        assert len(report.message) > 20


@pytest.mark.thorough
@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_the_verdict_is_the_same_in_one_and_two_threads(task):
    before, verdicts = torch.get_num_threads(), []
    some = extent.some("mistakes", task.mistakes, 3, 10)
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            answers_of = (solution_of(task.id), *(as_answer(task, mistake.function) for mistake in some))
            verdicts.append([str(judge_answer(task, answer, 50)) for answer in answers_of])
    finally:
        torch.set_num_threads(before)
    assert verdicts[0] == verdicts[1]


@pytest.mark.thorough
def test_the_verdict_does_not_depend_on_the_order_of_tasks():
    forwards = {task.id: str(judge_answer(task, task.mistakes[0].function)) for task in TASKS.values()}
    torch.manual_seed(7)
    backwards = {task.id: str(judge_answer(task, task.mistakes[0].function)) for task in reversed(TASKS.values())}
    assert forwards == backwards


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_no_message_gives_the_answer_away(task):
    expressions = re.findall(r"return (.{12,})", answers()[task.id])
    said = "".join([*task.hints[:2], *(m.sentence for m in task.mistakes)]).replace(" ", "")
    assert expressions, "a solution ends in `return` and an expression of some length, for this test to look for"
    assert not any(expression.replace(" ", "") in said for expression in expressions)


@pytest.mark.parametrize("task", [task for task in TASKS.values() if task.properties], ids=lambda task: task.id)
def test_each_property_says_something_of_some_wrong_value(task):
    expected, silent = expected_at_first(task), task.properties
    for case, value in wrong_values(task, expected):
        silent = [broken for broken in silent if not _try_property(broken, case, value)]
        if not silent:
            return
    unsaid = {broken.__name__ for broken in silent} - {"not_divided_by_the_spread"}  # an answer in test_said_truly.py
    assert not unsaid, f"{task.id}: {unsaid}"


def wrong_values(task, expected):
    """(case, value): the right values changed in ways that any task's may be, and what the named mistakes give; at no hazard."""
    for case, right in zip(expected.cases, expected.truth, strict=True):
        if case.hazard:
            continue
        for change in CHANGES:
            with contextlib.suppress(TypeError, RuntimeError):  # not every value can be changed in every way
                yield case, trees.map_leaves(change, right.value)
        if isinstance(right.value, (list, tuple)):
            yield from (
                (case, other) for other in (right.value[::-1], right.value[:-1], right.value + right.value[-1:])
            )
    for mistake in [] if task.candidates else task.mistakes:
        outcomes = (expected.of_mistake(mistake, place) for place in range(len(expected.cases)))
        came = zip(expected.cases, outcomes, strict=True)
        yield from ((case, o.value) for case, o in came if o.status == "value" and not case.hazard)


def only_tensors(change):
    return lambda leaf: change(leaf) if isinstance(leaf, torch.Tensor) else leaf


CHANGES = [
    lambda leaf: not leaf if isinstance(leaf, bool) else leaf + 1,
    lambda leaf: -leaf,
    lambda leaf: 2 * leaf,
    lambda leaf: 0.999 * leaf,
    only_tensors(torch.logical_not),
    only_tensors(torch.zeros_like),
    only_tensors(torch.ones_like),
    only_tensors(lambda tensor: tensor * torch.nan),
    only_tensors(lambda tensor: tensor.flip(list(range(tensor.dim())))),
    only_tensors(lambda tensor: torch.rand(tensor.shape, generator=torch.Generator().manual_seed(0))),
]


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_the_facts_of_a_task_are_told(task):
    assert 1 <= task.difficulty <= 5 and 1 <= task.importance <= 5 and 0 < task.minutes <= 60
    assert RIGHT_FILES[task.id].is_file()


def test_each_lesson_has_its_facts_and_its_tasks_in_the_order_of_its_exercises():
    for number, lesson in tasks.lessons().items():
        assert lesson.number == number and lesson.goals and lesson.question.endswith("?")
        assert [task.id for task in tasks.tasks_of(number)] == [
            task_id for task_id in answers() if task_id[:2] == number
        ]


def test_a_lesson_without_tasks_is_none_that_can_be_checked_or_graded(monkeypatch):
    monkeypatch.setattr(tasks, "tasks_of", lambda number: [] if number == "04" else [TASKS["00.weighted_sum"]])
    tasks.by_lesson.cache_clear()
    try:
        assert "04" in tasks.lessons() and "04" not in tasks.by_lesson()
        with pytest.raises(CourseError, match="Lessons with tasks: 00, 01, 02, 03"):
            tasks.load("04.dot")
    finally:
        tasks.by_lesson.cache_clear()


def test_an_error_in_a_tasks_file_is_shown(monkeypatch):
    def broken(name, *rest):
        raise ModuleNotFoundError("No module named 'nowhere'")

    tasks.by_lesson.cache_clear()
    tasks.tasks_of.cache_clear()
    with monkeypatch.context() as patch, pytest.raises(ModuleNotFoundError, match="nowhere"):
        patch.setattr(tasks, "import_module", broken)
        tasks.load("02.softmax")
    with pytest.raises(CourseError, match='There is no task "02.sofmax". Lesson 02 has 02.softmax, '):
        tasks.load("02.sofmax")


def test_an_unknown_wrong_answer_is_told_which_property_fails():
    report = judge_answer(TASKS["02.softmax"], lambda s, t=1.0: (s / t).softmax(-1) * (1.37 + s[..., :1].cos() / 100))
    assert report.mistake is None and "sums to 1.3" in report.message
    report = judge_answer(TASKS["02.masked_softmax"], lambda s, m: (s - 3.0 * ~m).softmax(-1))
    assert report.mistake is None and "Where the mask is False the weight should be 0" in report.message


def over_the_batch(scores):
    e = (scores - scores.max()).exp()
    return e / e.sum(-1, keepdim=True)


def loss_by_the_largest_of_the_batch(logits, target, mask):
    return -over_the_batch(logits)[mask].gather(1, target[mask][:, None]).log().sum() / mask.sum().clamp(min=1)


def hops_by_the_largest_of_the_batch(question, memories, mask, readout):
    for memory, output in zip(memories, memories[1:], strict=False):
        scores = (memory @ question[..., None])[..., 0].masked_fill(~mask, -torch.inf)
        e = (scores - scores.max()).exp()
        question = question + ((e / e.sum(-1, keepdim=True).clamp(min=1e-30))[:, None] @ output)[:, 0]
    return question @ readout.T


@pytest.mark.parametrize(
    ("task_id", "slip"),
    [
        ("05.sequence_loss", loss_by_the_largest_of_the_batch),
        ("16.answer", hops_by_the_largest_of_the_batch),
    ],
)
def test_a_slip_that_shows_only_where_scores_lie_far_apart_costs_no_point_and_is_told(task_id, slip):
    report = judge_answer(TASKS[task_id], slip)
    assert report.state == "passed" and report.hazard, str(report)


def of_shared_numbers(scale):
    """An attention whose squared scores are divided by something that all sequences of a call share."""

    def attend(query, key, value, mask):
        scores = (query @ key.mT).square()
        weights = (scores / scale(scores)).masked_fill(~mask, -torch.inf).softmax(-1).masked_fill(~mask, 0.0)
        return weights @ value, weights

    return attend


@pytest.mark.parametrize("scale", [torch.std, torch.amax, lambda scores: 1 + scores.mean()])
def test_what_all_sequences_of_a_call_share_is_seen_in_an_attention_of_ones_own(scale):
    report = judge_answer(TASKS["20.my_attention"], of_shared_numbers(scale))
    assert report.state == "failed" and report.message.startswith("Two sequences get other contexts by themselves")


@pytest.mark.parametrize("factor", [0.1, 0.3, 0.6, 1.3, 3.0])
def test_dot_products_are_known_by_any_factor(factor):
    def scaled(query, key, value, mask):
        weights = (factor * query @ key.mT).masked_fill(~mask, -torch.inf).softmax(-1).masked_fill(~mask, 0.0)
        return weights @ value, weights

    assert judge_answer(TASKS["20.my_attention"], scaled).mistake == "unchanged"


def test_an_answer_that_sets_the_seed_is_told():
    def seeding(weights, values):
        torch.manual_seed(0)
        return weights @ values

    report = judge_answer(TASKS["00.weighted_sum"], seeding)
    assert report.state == "passed" and "`torch.manual_seed`" in report.message
    assert "seed" not in judge_answer(TASKS["00.weighted_sum"], lambda weights, values: weights @ values).message


@ZEROS_IN_EMPTY_ROWS
def test_what_goes_wrong_only_where_no_lesson_goes_is_right_with_a_remark():
    task = TASKS["09.self_attention"]
    report = judge_answer(task, by_the_library)
    assert (report.state, report.hazard, report.mistake) == ("passed", True, "garbage_times_zero")
    assert report.message.startswith("Right, on every input that the lessons build.") and "NaN" in report.message
    assert "First thing wrong" not in str(report) and "expected" not in report._repr_html_()
    assert not judge_answer(task, solution_of(task.id)).hazard
    unscaled = judge_answer(task, lambda x, *rest: by_the_library(x, *rest, scale=1.0))
    assert (unscaled.state, unscaled.mistake, unscaled.hazard) == ("failed", "unscaled", False)


def test_columns_that_sum_to_1_are_a_reason_to_ask_for_the_axis():
    def over_queries(query, key, value, mask=None):  # NaN where a column is hidden, so no named mistake fits
        scores = query @ key.mT
        weights = (scores if mask is None else scores.masked_fill(~mask, -torch.inf)).softmax(1)
        return weights @ value, weights

    report = judge_answer(TASKS["03.attention"], over_queries)
    assert report.mistake is None and "does your softmax run over the last axis?" in report.message


@pytest.mark.parametrize(("convert", "told"), [(torch.Tensor.tolist, True), (torch.Tensor.numpy, True), (str, False)])
def test_a_list_or_an_array_in_place_of_a_tensor_is_told_how_to_become_one(convert, told):
    report = judge_answer(TASKS["00.weighted_sum"], lambda weights, values: convert(weights @ values))
    assert report.state == "failed" and ("`torch.as_tensor`" in report.message) == told


def test_a_remark_is_the_sentence_of_the_mistake_that_it_shows():
    def by_probabilities(logits, target, mask):  # infinite where a probability is 0 in float32
        p = logits.softmax(-1).gather(-1, target.clamp(min=0)[..., None])[..., 0]
        return -p.log().masked_fill(~mask, 0).sum() / mask.sum().clamp(min=1)

    report = judge_answer(TASKS["05.sequence_loss"], by_probabilities)
    assert report.hazard and "Take both steps at once" in report.message


@ZEROS_IN_EMPTY_ROWS
def test_what_computes_without_end_at_a_hazard_is_not_right():
    def endless(x, *rest):
        while not x.isfinite().all():
            pass
        return by_the_library(x, *rest)

    report = judging.judge_answer(TASKS["09.self_attention"], endless, seconds=1)
    assert report.state == "error" and "never ends" in report.message


def by_the_library(x, weight_q, weight_k, weight_v, mask=None, scale=None):
    return torch.nn.functional.scaled_dot_product_attention(x @ weight_q, x @ weight_k, x @ weight_v, mask, scale=scale)


def test_a_plain_loop_and_a_mask_in_float32_are_right_and_a_beginner_reads_no_remark():
    def loop(weights, values):  # the third hint, taken literally
        total = torch.zeros(values.shape[1])
        for weight, value in zip(weights, values, strict=True):
            total += weight * value
        return total

    def by_einsum(words, mask):
        return torch.einsum("bsd,bs->bd", words, mask.float())

    for task_id, answer in (("00.weighted_sum", loop), ("01.sum_vectors", by_einsum)):
        report = judge_answer(TASKS[task_id], answer)
        assert (report.state, report.message) == ("passed", "Right, on every input it was tried on."), str(report)

    def unweighted(weights, values):
        total = torch.zeros(values.shape[1])
        for value in values:
            total += value
        return total

    assert judge_answer(TASKS["00.weighted_sum"], unweighted).mistake == "weights_unused"
    assert judge_answer(TASKS["01.sum_vectors"], lambda words, mask: words @ mask.float()).state == "error"


def test_numbers_of_type_float64_come_in_late_and_never_cost_a_point():
    rows = [(task.id, case) for task in TASKS.values() for case in task.make_cases(0) if holds_float64(case)]
    assert len({task_id for task_id, _ in rows}) > 30
    assert all(task_id >= "11" and case.hazard for task_id, case in rows), rows

    def in_float32(x, weight_1, bias_1, weight_2, bias_2):
        hidden = (x.float() @ weight_1.float().T + bias_1.float()).relu()
        return hidden @ weight_2.float().T + bias_2.float()

    report = judge_answer(TASKS["12.feed_forward"], in_float32)
    assert report.state == "passed" and "float32" in report.message, str(report)


@pytest.mark.parametrize("distance", [1e-3, 5e-4, 1e-4])
def test_a_wrong_number_is_shown_with_the_digits_that_tell_it_from_the_right_one(distance):
    report = judge_answer(TASKS["00.weighted_sum"], lambda weights, values: weights @ values + distance)
    received, expected = re.search(r"sum\[0\] is (\S+), expected (\S+)\. ", report.message).groups()
    assert float(received) - float(expected) == pytest.approx(distance, rel=0.6)
    shown = re.search(r"Expected:\n\[(.*)\]\nReceived:\n\[(.*)\]", str(report)).groups()
    assert all(e != r for e, r in zip(*(numbers.split(", ") for numbers in shown), strict=True))
    assert f">≠ {received}</td>" in report._repr_html_()


def test_what_is_not_the_value_is_judged_too():
    task = TASKS["04.dot"]
    cut = judge_answer(task, lambda s, h: torch.tensor((s @ h.mT).tolist(), dtype=s.dtype))
    assert (cut.state, cut.kind) == ("failed", "gradient") and "no gradient reaches state" in cut.message
    half = judge_answer(task, lambda s, h: s @ h.mT.detach())
    assert half.kind == "gradient" and "hidden" in half.message
    half = judge_answer(task, lambda s, h: (s @ h.mT).half())
    assert half.kind in ("type", "value") and half.state == "failed"

    def altering(state, hidden):
        scores = state @ hidden.mT
        hidden.zero_()
        return scores

    altered = judge_answer(task, altering)
    assert altered.kind == "side effect" and "hidden" in altered.message
    random = judge_answer(task, lambda s, h: torch.nn.functional.dropout(s, 0.1) @ h.mT)
    assert random.state == "failed"

    calls = []

    def remembering(state, hidden):
        calls.append(1)
        return state @ hidden.mT + (len(calls) > 1)

    assert judge_answer(task, remembering).state == "failed"


def test_a_gradient_that_is_cut_in_the_first_exercise_is_remarked_on():
    def by_numpy(weights, values):
        return torch.from_numpy(weights.detach().numpy() @ values.detach().numpy())

    report = judge_answer(TASKS["00.weighted_sum"], by_numpy)
    assert report.state == "passed" and "no gradient flows back" in report.message
    kept = judge_answer(TASKS["00.weighted_sum"], lambda weights, values: weights @ values)
    assert kept.message == "Right, on every input it was tried on."


COMPARING = [
    task.id for task in TASKS.values() if task.suspects and task.candidates and "torch.allclose" in answers()[task.id]
]


@pytest.mark.parametrize("task_id", extent.usually(COMPARING, 4))
def test_a_test_without_room_for_rounding_is_told(task_id):
    source = re.sub(
        r"torch\.allclose\(([^()]*(?:\([^()]*\))?[^()]*), atol=[^)]*\)", r"torch.equal(\1)", answers()[task_id]
    )
    assert "torch.equal" in source
    space = dict(solution_of(task_id).__globals__)
    exec(source, space)
    report = judge_answer(TASKS[task_id], space[TASKS[task_id].answer_name])
    assert report.state == "failed" and re.search("room for rounding|Allow rounding", report.message), str(report)
    (right,) = [case for case in TASKS[task_id].make_cases(0) if "a right" in case.name][:1]
    assert "room for rounding" in TASKS[task_id].properties[0](right, False)
    assert TASKS[task_id].properties[0](right, True) is None


def test_a_tensor_does_not_pass_for_a_number_in_a_dict():
    right = solution_of("01.build_vocabulary")
    as_tensors = lambda *a: {word: torch.tensor(number) for word, number in right(*a).items()}  # noqa: E731
    report = judge_answer(TASKS["01.build_vocabulary"], as_tensors)
    assert report.kind == "type" and "a plain Python number was expected" in report.message, str(report)


def test_labels_of_0_and_1_are_exact_however_far_out_the_scores_are():
    def labels_smoothed(sums, labels, weight, bias):
        error = (torch.sigmoid(sums @ weight + bias) - labels) / len(labels)
        error = error + 1e-7 * (1 - 2 * labels) * (sums.abs().amax() > 1e3)
        return error @ sums, error.sum()

    report = judge_answer(TASKS["01.sentiment_gradient"], labels_smoothed)
    assert report.hazard and "±10,000" in report.message, str(report)


def test_an_answer_with_many_right_values_is_judged_by_what_it_leads_to():
    task = TASKS["02.negation_by_hand"]
    lost = judge_answer(task, lambda longest: ([8, 4, 0], [0, 8, 0], [4, -3]))
    assert lost.mistake is None and "give them a much lower score" in lost.message, str(lost)
    assert '"great" comes out positive only with few other words, and should be positive' in lost.message
    for value, says in (
        (3, "Three lists are expected"),
        (([1, 2], [1, 2, 3], [1, 2]), "3 numbers in a list are expected for the first attention"),
        (([1, 2, "3"], [1, 2, 3], [1, 2]), "one of them is something else"),
        (([1, 2, 3], [1, 2, 3], [1, torch.nan]), "infinite or NaN"),
        (([1, 2, 10**400], [1, 2, 3], [1, 2]), "cannot be read"),
        (([1, 2, 3], [1, 2, True], [1, 2]), "one of them is something else"),
    ):
        report = judge_answer(task, lambda longest, value=value: value)
        assert report.state == "error" and says in report.message, str(report)


def test_a_function_to_look_into_that_is_called_wrongly_is_no_wrong_candidate():
    report = judge_answer(TASKS["03.influence"], lambda function, x: function(x[0]))
    assert report.state == "error" and "compare them with those in the exercise" in report.message, str(report)


def test_a_loss_that_is_right_and_its_gradient_that_is_not():
    def normaliser_cut(logits, target, mask):
        words = logits[mask]
        right = words.gather(1, target[mask][:, None])[:, 0]
        return (words.detach().logsumexp(-1) - right).sum() / mask.sum().clamp(min=1)

    def cut(logits, target, mask):
        return solution_of("05.sequence_loss")(logits.detach(), target, mask)

    for answer, says in ((normaliser_cut, "the gradient of logits is not"), (cut, "no gradient reaches logits")):
        report = judge_answer(TASKS["05.sequence_loss"], answer)
        assert report.kind == "gradient" and says in report.message and report.values_right, str(report)


def test_a_layer_with_weights_copied_into_it_is_told_of_the_gradient_and_not_of_a_hazard():
    """It gives NaN where a word may attend to nothing, as a named mistake does, but this alone would be a remark."""

    def copied(query, key, value, in_weight, in_bias, out_weight, out_bias, heads, mask=None):
        layer = torch.nn.MultiheadAttention(query.shape[2], heads, batch_first=True, dtype=query.dtype)
        named = {"in_proj_weight": in_weight, "in_proj_bias": in_bias}
        layer.load_state_dict({**named, "out_proj.weight": out_weight, "out_proj.bias": out_bias})
        hidden = None if mask is None else (~mask).repeat_interleave(heads, 0)
        return layer(query, key, value, attn_mask=hidden)[0]

    report = judge_answer(TASKS["10.multi_head_attention"], copied)
    assert report.state == "failed" and report.kind == "gradient" and report.mistake is None, str(report)
    assert "copying into a module's weights" in report.message and report.values_right is False


def test_a_number_for_a_whole_row_of_a_gradient_does_not_count_where_rows_sum_to_one():
    task, right = TASKS["18.mixture_loss"], solution_of("18.mixture_loss")
    divided = judge_answer(task, lambda o, g, target: right(o, g / g.sum(1, keepdim=True), target))
    assert divided.state == "passed", str(divided)
    doubled = judge_answer(task, lambda o, g, target: right(o, 2 * g - g.detach(), target))
    assert doubled.kind == "gradient" and "the gradient of gates is not" in doubled.message, str(doubled)


def test_the_width_is_told_also_where_shares_are_asked_that_no_width_reaches():
    report = judge_answer(TASKS["04.width_that_saturates"], lambda share: round(100 * share))  # looked for in relations
    assert report.state == "failed" and report.mistake is None, str(report)


def test_a_test_of_training_loops_that_breaks_the_rules_is_told_so():
    def model(weights, batch, training):
        return 0.5, [batch * each for each in weights]

    weights, one = [torch.ones(2)], torch.tensor(1.0)
    for given, says in (
        ((3, weights, [one], one, 0.1, 1), "a `model` that is no function"),
        ((model, torch.ones(2), [one], one, 0.1, 1), "no list of float32 tensors"),
        ((model, [torch.ones(2).long()], [one], one, 0.1, 1), "no list of float32 tensors"),
        ((model, [torch.ones(2) * torch.nan], [one], one, 0.1, 1), "NaN or infinity"),
        ((model, weights, [], one, 0.1, 1), "no list of 1 to 100 batches"),
        ((model, weights, [{"x": "a"}], one, 0.1, 1), "something else than tensors and numbers"),
        ((model, weights, [one], one, 2, 1), "another `rate` than a number above 0"),
        ((lambda *call: model(*call)[1], weights, [one], one, 0.1, 1), "Your `model` should return two things"),
        ((lambda *call: (model(*call)[1], 0.5), weights, [one], one, 0.1, 1), "Your `model` should return two things"),
        ((lambda *call: (0.5, [one]), weights, [one], one, 0.1, 1), "of the shape of its weight"),
    ):
        report = judge_answer(TASKS["13.catch_wrong_step"], lambda train, given=given: len(train(*given)) == 1)
        assert report.state == "error" and says in report.message, str(report)


def test_a_test_of_glimpses_that_breaks_the_rules_is_told_so():
    image, locations = torch.ones(3, 4), torch.zeros(2, 2)
    for given, says in (
        ((image[None], locations, 1, 1), "an `image` that is not a float32 tensor Y×X"),
        ((image * torch.nan, locations, 1, 1), "numbers from -1000 to 1000"),
        ((image * 1e4, locations, 1, 1), "numbers from -1000 to 1000"),
        ((image, locations[0], 1, 1), "`locations` that are not a float32 tensor T×2"),
        ((image, locations[:0], 1, 1), "T from 1 to 64"),
        ((image, locations + 1.5, 1, 1), "a location below -1 or above 1"),
        ((image, locations, 0, 1), "a `size` that is not an int from 1 to 16"),
        ((image, locations, 1, 7), "a `scales` that is not an int from 1 to 6"),
    ):
        report = judge_answer(TASKS["14.catch_peeking"], lambda model, given=given: len(model(*given)) == 1)
        assert report.state == "error" and says in report.message, str(report)


def test_a_test_of_captioners_that_breaks_the_rules_is_told_so():
    annotations, words = torch.ones(2, 4, 5), torch.ones(2, 3, 3)
    for given, says in (
        ((annotations[..., :4], words), "They should be B×L×5"),
        ((annotations, words[0]), "They should be B×T×3"),
        ((annotations.double(), words), "`annotations` that are not a float32 tensor"),
        ((annotations, None), "`words` that are not a float32 tensor"),
        ((annotations[:, :0], words), "lie between 1 and 30"),
        ((annotations, torch.ones(2, 31, 3)), "lie between 1 and 30"),
        ((annotations / 0, words), "hold NaN, infinity, or numbers above 100"),
        ((annotations[:1], words), "another number of pictures than of captions"),
    ):
        report = judge_answer(TASKS["15.catch_blind_captioner"], lambda model, given=given: model(*given).sum() == 1)
        assert report.state == "error" and says in report.message, str(report)


def test_a_test_of_memories_that_breaks_the_rules_is_told_so():
    question, facts, mask = torch.ones(2, 4), torch.ones(2, 3, 4), torch.ones(2, 3, dtype=torch.bool)
    late = torch.tensor([[False, True, True], [True, True, True]])
    for given, says in (
        ((question[0], facts, mask), "It should be B×4"),
        ((question, facts[..., :3], mask), "It should be B×M×4"),
        ((question.double(), facts, mask), "`question` that is not a float32 tensor"),
        ((question, None, mask), "`facts` that is not a float32 tensor"),
        ((question, torch.ones(2, 21, 4), mask), "lie between 1 and 20"),
        ((question, facts / 0, mask), "holds NaN, infinity, or numbers above 10"),
        ((question, facts, mask.float()), "not a bool tensor B×M"),
        ((question, facts, mask[:, :2]), "not a bool tensor B×M"),
        ((question[:1], facts, mask), "another number of questions than of stories"),
        ((question, facts, late), "The facts come first"),
        ((question, facts, ~mask), "The facts come first"),
    ):
        report = judge_answer(TASKS["16.catch_cheating_memory"], lambda model, given=given: model(*given).sum() == 1)
        assert report.state == "error" and says in report.message, str(report)


def test_a_test_of_writes_that_breaks_the_rules_is_told_so():
    memory, weights, erase, add = torch.ones(2, 4, 3), torch.ones(2, 4) / 8, torch.ones(2, 3), torch.ones(2, 3)
    for given, says in (
        ((memory[0], weights, erase, add), "a `memory` that is no tensor B×N×W"),
        ((torch.ones(2, 101, 3), weights, erase, add), "B, N and W from 1 to 100"),
        ((memory, weights.mT, erase, add), "With this `memory` it should be 2×4"),
        ((memory, weights, erase[:1], add), "With this `memory` it should be 2×3"),
        ((memory, weights, erase, add.double()), "`add` that is not a float32 tensor"),
        ((memory / 0, weights, erase, add), "`memory` that holds NaN, infinity, or numbers above 100"),
        ((memory, -weights, erase, add), "`weights` below 0 or above 1"),
        ((memory, weights, 2 * erase, add), "`erase` below 0 or above 1"),
    ):
        report = judge_answer(TASKS["17.catch_wrong_write"], lambda write, given=given: write(*given).sum() == 1)
        assert report.state == "error" and says in report.message, str(report)


def test_a_test_of_routing_that_breaks_the_rules_is_told_so():
    x = torch.ones(3, 4)
    for given, says in (
        (x.tolist(), "not a float32 tensor"),
        (x.double(), "not a float32 tensor"),
        (x[0], "of shape (4,). It should be B×4"),
        (x[:, :3], "of shape (3, 3). It should be B×4"),
        (x[:0], "with B from 1 to 1000"),
        (torch.ones(1001, 4), "with B from 1 to 1000"),
        (x / 0, "NaN, infinity, or numbers above 10"),
    ):
        report = judge_answer(TASKS["18.catch_wrong_routing"], lambda layer, given=given: layer(given)[0].sum() == 1)
        assert report.state == "error" and says in report.message, str(report)


def test_a_test_of_label_leaks_that_breaks_the_rules_is_told_so():
    inputs, labels = torch.ones(4, 3), torch.tensor([0, 4, 2, 1])
    for given, says in (
        ((inputs.tolist(), labels), "`inputs` that are not a float32 tensor"),
        ((inputs.double(), labels), "`inputs` that are not a float32 tensor"),
        ((inputs[:, :2], labels), "of shape (4, 2). They should be T×3"),
        ((inputs[:0], labels[:0]), "with T from 1 to 30"),
        ((torch.ones(31, 3), labels), "with T from 1 to 30"),
        ((inputs / 0, labels), "NaN, infinity, or numbers above 10"),
        ((inputs, labels.tolist()), "not a tensor of whole numbers"),
        ((inputs, labels.float()), "not a tensor of whole numbers"),
        ((inputs, labels[:3]), "of shape (3,). With these `inputs` it should be (4,)"),
        ((inputs, labels + 1), "not one of the classes 0 to 4"),
        ((inputs, labels - 1), "not one of the classes 0 to 4"),
    ):
        report = judge_answer(TASKS["19.catch_label_leak"], lambda model, given=given: model(*given).sum() == 1)
        assert report.state == "error" and says in report.message, str(report)


def powers_of_the_batch(scores):
    """Exponentials after the largest score of the whole batch is taken out, and not each row's own: in a row far below it, all are 0."""
    return (scores - scores.max()).exp()


def hybrid_loss_by_batch(logits, label, log_probability, reward, baseline):
    log_share = (logits - logits.max()).gather(1, label[:, None])[:, 0] - powers_of_the_batch(logits).sum(1).log()
    advantage = reward[:, None] - baseline
    return -log_share.mean() - (advantage.detach() * log_probability).sum(1).mean() + (advantage**2).mean()


@pytest.mark.parametrize(
    ("task_id", "answer"),
    [
        ("14.hybrid_loss", hybrid_loss_by_batch),
    ],
)
def test_the_largest_of_a_batch_is_not_the_largest_of_each_row(task_id, answer):
    for seed in range(4):
        report = judge_answer(TASKS[task_id], answer, seed)
        assert report.hazard, str(report)  # only where numbers are as large as no lesson makes them


def test_a_test_of_attentions_that_breaks_the_rules_is_told_so():
    x, mask = torch.ones(3, 2, 5, 4), torch.ones(3, 1, 5, 5, dtype=torch.bool)
    for given, says in (
        ((x.tolist(), x, x, mask), "a `query` that is not a float32 tensor"),
        ((x, x.double(), x, mask), "a `key` that is not a float32 tensor"),
        ((x[0], x, x, mask), "`query` of shape (2, 5, 4). It should be B×2×T×4"),
        ((x[:, :1], x, x, mask), "`query` of shape (3, 1, 5, 4)"),
        ((torch.ones(3, 2, 21, 4), x, x, mask), "T from 1 to 20"),
        ((torch.ones(5, 2, 5, 4), x, x, mask), "B from 1 to 4"),
        ((x, x, x[:, :, :4], mask), "a `value` of shape (3, 2, 4, 4)"),
        ((x, x / 0, x, mask), "a `key` that holds NaN, infinity, or numbers above 10"),
        ((x, x, x, mask.float()), "not a tensor of truth values"),
        ((x, x, x, mask[:, 0]), "here (3, 1, 5, 5)"),
    ):
        report = judge_answer(
            TASKS["20.catch_broken_attention"], lambda attend, order, given=given: attend(*given)[0].sum() == 1
        )
        assert report.state == "error" and says in report.message, str(report)
