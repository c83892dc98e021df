"""Every task against right and wrong answers: the kill matrix, in several seeds, orders and thread counts."""

import contextlib
import functools
import re

import pytest
import sampling
import torch
from alternative_solutions import CORRECT
from tasks import TASKS, answer_of, as_answer, assert_mistakes_can_be_made, judge_answer, judge_briefly, solution_of

from course_utils.base import trees
from course_utils.base.errors import CourseError
from course_utils.checks import catalogue
from course_utils.checks import judge_answer as judging
from course_utils.checks.catalogue import solutions
from course_utils.checks.expected import Expected
from course_utils.checks.first_failure import first_failure
from course_utils.checks.judge import _try_property, judge
from course_utils.checks.reference_trace import run_trace
from course_utils.checks.running.contract import holds_float64
from course_utils.checks.running.run import run
from course_utils.checks.task import Draw
from course_utils.checks.try_instructor_mistakes import equal_mistakes, misspelt
from course_utils.models import variants


@functools.cache
def expected_at_first(task):
    """What a task expects on the inputs of seed 0, for all tests of this file."""
    return Expected(task, task.make_cases(0))


# Of scaled_dot_product_attention. Before, it had NaN in rows of a mask without a True, which is no right answer.
ZEROS_IN_EMPTY_ROWS = pytest.mark.skipif(torch.__version__ < "2.5", reason="needs torch 2.5")


@pytest.mark.parametrize("task", [task for task in TASKS.values() if task._solution], ids=lambda task: task.id)
def test_a_solution_that_a_tasks_text_shows_is_correct(task):
    assert judge_answer(task, answer_of(task.id, task._solution)).state == "passed"


def test_a_drawn_matrix_is_never_its_own_transpose():
    for draw in map(Draw, range(100)):
        for matrices in (draw.numbers(2, 2), draw.numbers(1, 2, 2), draw.numbers(3, 3)):
            assert not torch.equal(matrices, matrices.mT)
        assert draw.numbers(0, 2, 2).shape == (0, 2, 2)  # where nothing else can be drawn


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_a_task_is_complete(task):
    assert len(task.mistakes) >= 3 and len({m.name for m in task.mistakes}) == len(task.mistakes)
    assert len({m.sentence for m in task.mistakes}) == len(task.mistakes)
    assert len(task.hints) == 3
    assert 1 <= task.difficulty <= 5 and 1 <= task.importance <= 5 and 0 < task.minutes <= 120
    assert task.id in solutions(), f"its solution is not built: run `course build {task.id[:2]}`"
    assert len(CORRECT.get(task.id, ())) >= 2, (
        "write two correct answers in other styles, as the page on writing tasks says"
    )
    cases = task.make_cases(0)
    assert cases[0].args and (task.candidates or not cases[0].edge)


WITH_STEPS = [task for task in TASKS.values() if task.steps_function]


def on_the_way(declared):
    """The words of all steps that come in a task's cases."""
    met = {}

    def noting(*args):
        done = {}
        try:
            return run_trace(declared.steps_function, args, {}, done=done)
        finally:
            met.update(done)

    run(noting, declared.make_cases(), 60, declared.candidate, repeated=False)
    return set(met)


@pytest.mark.parametrize("declared", WITH_STEPS, ids=lambda task: task.id)
def test_a_step_has_a_short_name_that_is_in_no_other_name(declared):
    """Else a sentence on it is long, and means two things: "the gate" in "the gate times the product"."""
    names = [name.partition(" (")[0] for name in on_the_way(declared)]
    for name in dict.fromkeys(names):
        assert len(name.split()) <= 6, f"{name} has more than six words"
        around = [other for other in names if other != name and re.search(rf"\b{re.escape(name)}\b", other)]
        assert not around, f"{name} is in {around}"


def inverted(number):
    """Answers that replace the wrong scores with a number, of the first three tasks with a mask."""

    def masked_softmax(scores, mask):
        return scores.masked_fill(mask, number).softmax(-1)

    def attention(query, key, value, mask=None):
        weights = query @ key.mT
        weights = (weights if mask is None else weights.masked_fill(mask, number)).softmax(-1)
        return weights @ value, weights

    def self_attention(x, weight_q, weight_k, weight_v, mask=None):
        return attention(x @ weight_q, x @ weight_k, x @ weight_v, mask)

    return {"02.masked_softmax": masked_softmax, "03.attention": attention, "03.self_attention": self_attention}


@pytest.mark.parametrize(("number", "named"), [(-torch.inf, "mask_inverted_nan"), (-1e9, "mask_inverted_level")])
@pytest.mark.parametrize("task_id", inverted(0))
def test_an_inverted_mask_is_named_where_masks_are_taught(task_id, number, named):
    assert judge_answer(TASKS[task_id], inverted(number)[task_id]).mistake == named


@pytest.mark.parametrize("declared", WITH_STEPS, ids=lambda task: task.id)
def test_every_task_with_masked_scores_names_an_inverted_mask(declared):
    if "mask" in declared.names and "the masked scores" in on_the_way(declared):
        assert {"mask_inverted", "mask_inverted_nan"} <= {mistake.name for mistake in declared.mistakes}


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_correct_answers_pass_and_mistakes_have_own_sentences(task):
    assert_mistakes_can_be_made(task)
    # Of a test over candidates a seed changes only their order; one mistake takes half a second there, as it tries all of them.
    named = sampling.some("mistakes told by their names", task.mistakes, 2 if task.candidates else 6, 1000)
    others = sampling.some("right answers in other styles", CORRECT[task.id], 1, 1000)
    wrong, seeds = [], [(0, named)] if task.candidates else [(0, named), (1, named if sampling.NIGHT else [])]
    for seed, mistakes in seeds:
        expected = Expected(task, task.make_cases(seed)) if seed else expected_at_first(task)
        known = {"the solution": solution_of(task.id)}
        if seed == 0 or sampling.NIGHT:
            known |= {f"CORRECT[{CORRECT[task.id].index(other)}]": other for other in others}
        for name, answer in known.items():
            report = judge_answer(task, answer, seed, expected=expected)
            wrong += [] if report.state == "passed" else [f"seed {seed}: {name} is refused.\n{report}"]
        for mistake in mistakes:
            if stops := misspelt(mistake, expected):
                wrong.append(f"{task.place(mistake)} stops in every case with {stops}: is a name misspelt?")
            report = judge_mistake(task, mistake, expected)
            if not is_told(mistake, report):
                why = why_not_told(task, mistake, report, expected)
                wrong.append(f"seed {seed}: {mistake.name} is not recognised, {why}.\n{report}")
        for mistake in (each for each in task.mistakes if seed == 0 and each not in mistakes):
            wrong += [] if is_refused(task, mistake, expected) else [f"{mistake.name} passes."]
    assert not wrong, "\n\n".join(wrong)


def is_told(mistake, report):
    """Whether a report tells a mistake: one that shows at hazards alone in a remark on a correct answer."""
    if report.hazard:
        return report.mistake == mistake.name and report.message.endswith(mistake.sentence)
    return (report.mistake, report.message) == (mistake.name, mistake.sentence) and report.state in ("failed", "error")


def why_not_told(task, mistake, report, expected):
    if equal := equal_mistakes(task, mistake, expected):
        return f"since {equal[0].name} does exactly the same"
    return f"{report.mistake} is named instead" if report.mistake else "no name is found"


def test_a_mistake_that_equals_another_is_told_with_its_name(monkeypatch):
    task = TASKS["04.dot"]
    same = task.written("same", "A sentence.", ["state @ _x -> state / state.shape[-1] ** 0.5 @ _x"])
    monkeypatch.setattr(task, "mistakes", [*task.mistakes, same])
    expected = Expected(task, task.make_cases(0))
    scaled = next(mistake for mistake in task.mistakes if mistake.name == "scaled")
    for mistake, other in ((scaled, same), (same, scaled)):
        report = judge_mistake(task, mistake, expected)
        assert not is_told(mistake, report)
        assert why_not_told(task, mistake, report, expected) == f"since {other.name} does exactly the same"


def is_refused(task, mistake, expected):
    """Whether an answer that makes a mistake is wrong in some case, a hazard too: the first that is found settles it."""
    places = range(len(expected.cases))
    return any(first_failure(task, expected, place, expected.of_mistake(mistake, place)) for place in places)


def judge_mistake(task, mistake, expected):
    """The report on an answer that makes a mistake: what comes of it is run once, among what is expected."""
    if task.canonical_function:  # it has been read there already
        return judge_answer(task, as_answer(task, mistake.function), expected=expected)
    outcomes = [expected.of_mistake(mistake, place) for place in range(len(expected.cases))]
    return judge(task, expected.cases, outcomes, expected)


@pytest.mark.thorough
@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_a_mistake_run_as_an_answer_has_one_name_for_all_seeds(task):
    wrong = []
    for seed in sampling.seeds(1, 3):
        expected = Expected(task, task.make_cases(seed))
        for mistake in task.mistakes:
            report = judge_answer(task, as_answer(task, mistake.function), seed, expected=expected)
            wrong += [] if is_told(mistake, report) else [f"seed {seed}: {mistake.name}\n{report}"]
    assert not wrong, "\n\n".join(wrong)


def test_the_allocation_order_of_17_dnc_write_survives_rounding():
    task = TASKS["17.dnc_write"]
    for seed in range(200):  # one in a hundred of the earlier draws had two positions equally free after writing
        for case in task.make_cases(seed):
            if not case.edge:
                one, other = (
                    task.oracle_function(*(arg.to(kind) for arg in case.args))
                    for kind in (torch.float32, torch.float64)
                )
                assert torch.allclose(one[1].double(), other[1], atol=1e-4), (seed, case.name)


@pytest.mark.thorough
@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_a_right_answer_passes_for_many_seeds(task):
    wrong = []  # candidates and layers take long, and of candidates a seed changes only the order
    for seed in sampling.seeds(1, 3 if task.candidates or task.module else 20):
        expected = Expected(task, task.make_cases(seed))
        for answer in (solution_of(task.id), *CORRECT[task.id]):
            report = judge_answer(task, answer, seed, expected=expected)
            wrong += [] if report.state == "passed" else [f"seed {seed}: {answer} is refused.\n{report}"]
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.parametrize("task", sampling.usually(list(TASKS.values()), 42), ids=lambda task: task.id)
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


@pytest.mark.parametrize("task", sampling.usually(list(TASKS.values()), 42), ids=lambda task: task.id)
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
    some = sampling.some("mistakes", task.mistakes, 3, 10)
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
    expressions = re.findall(r"return (.{12,})", solutions()[task.id])
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
    unsaid = {broken.__name__ for broken in silent} - {
        "not_divided_by_the_spread",
        "not_rounded_up",
    }  # answers below, and in test_common_mistakes.py
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


def test_a_lesson_has_its_facts_and_its_tasks_in_exercise_order():
    for number, lesson in catalogue.lessons().items():
        assert lesson.number == number and lesson.goals and lesson.question.endswith("?")
        assert [task.id for task in catalogue.tasks_of(number)] == [
            task_id for task_id in solutions() if task_id[:2] == number
        ]


def test_a_lesson_without_tasks_cannot_be_checked_or_graded(monkeypatch):
    monkeypatch.setattr(catalogue, "tasks_of", lambda number: [] if number == "04" else [TASKS["00.weighted_sum"]])
    catalogue.by_lesson.cache_clear()
    try:
        assert "04" in catalogue.lessons() and "04" not in catalogue.by_lesson()
        with pytest.raises(CourseError, match="Lessons with tasks: 00, 01, 02, 03"):
            catalogue.load("04.dot")
    finally:
        catalogue.by_lesson.cache_clear()


def test_an_error_in_a_tasks_file_is_shown(monkeypatch):
    def broken(name, *rest):
        raise ModuleNotFoundError("No module named 'nowhere'")

    catalogue.by_lesson.cache_clear()
    catalogue.tasks_of.cache_clear()
    with monkeypatch.context() as patch, pytest.raises(ModuleNotFoundError, match="nowhere"):
        patch.setattr(catalogue, "import_module", broken)
        catalogue.load("02.softmax")
    with pytest.raises(CourseError, match=r'"02.sofmax" \(did you mean "02.softmax"\?\). Lesson 02 has 02.softmax, '):
        catalogue.load("02.sofmax")


def over_the_batch(scores):
    e = (scores - scores.max()).exp()
    return e / e.sum(-1, keepdim=True)


def loss_by_the_largest_of_the_batch(logits, target, mask):
    return -over_the_batch(logits)[mask].gather(1, target[mask][:, None]).log().sum() / mask.sum().clamp(min=1)


def loss_of_probabilities(logits, target, mask):  # infinite where a probability is 0 in float32
    p = logits.softmax(-1).gather(-1, target.clamp(min=0)[..., None])[..., 0]
    return -p.log().masked_fill(~mask, 0).sum() / mask.sum().clamp(min=1)


def loss_with_a_normaliser_cut_off(logits, target, mask):
    words = logits[mask]
    right = words.gather(1, target[mask][:, None])[:, 0]
    return (words.detach().logsumexp(-1) - right).sum() / mask.sum().clamp(min=1)


def hybrid_by_the_largest_of_the_batch(logits, label, log_probability, reward, baseline):
    log_share = over_the_batch(logits).gather(1, label[:, None])[:, 0].log()
    advantage = reward[:, None] - baseline
    return -log_share.mean() - (advantage.detach() * log_probability).sum(1).mean() + (advantage**2).mean()


def hops_by_the_largest_of_the_batch(question, memories, mask, readout):
    for memory, output in zip(memories, memories[1:], strict=False):
        scores = (memory @ question[..., None])[..., 0].masked_fill(~mask, -torch.inf)
        e = (scores - scores.max()).exp()
        question = question + ((e / e.sum(-1, keepdim=True).clamp(min=1e-30))[:, None] @ output)[:, 0]
    return question @ readout.T


def attention_of(change, change_query=lambda query: query, change_weights=lambda weights, scores: weights):
    """An attention of one's own whose scores, queries or weights are changed."""

    def attend(query, key, value, mask):
        scores = change(change_query(query) @ key.mT).masked_fill(~mask, -torch.inf)
        weights = change_weights(scores.softmax(-1).masked_fill(~mask, 0.0), scores)
        return weights @ value, weights

    return attend


def same(scores):
    return scores


SOFTER_OR_SHARPER = [  # what is done to the dot products, and to the queries
    *((lambda scores, factor=factor: factor * scores, same) for factor in (-1.0, 0.0005, 0.01, 3.0, 15.0, 40.0)),
    (lambda scores: scores * torch.tensor([1.0, 2.0]).view(2, 1, 1).to(scores), same),  # a factor for each head
    (lambda scores: scores * torch.arange(1, scores.shape[-1] + 1).log1p()[:, None].to(scores), same),  # for each step
    (same, lambda query: torch.nn.functional.normalize(query, dim=-1)),
]
OTHER_ATTENTIONS = [
    attention_of(same, change_weights=lambda weights, scores: weights / (1 + (-scores.logsumexp(-1, True)).exp())),  # softmax with 1 more
    attention_of(same, change_weights=lambda weights, scores: scores.sigmoid()),
    *(attention_of(same, change_weights=lambda weights, scores, n=n: largest(weights, n)) for n in (1, 2, 8)),
]  # fmt: skip


def largest(weights, n):
    """Only the n largest weights of each row, so that they sum to 1."""
    kept = weights * (weights >= weights.topk(min(n, weights.shape[-1]), -1).values[..., -1:])
    return kept / kept.sum(-1, keepdim=True).clamp(min=1e-12)


def sum_after(before):
    """00.weighted_sum after something that returns None."""
    return lambda weights, values: before(weights, values) or weights @ values


def sum_by_a_loop(weights, values):  # the third hint, taken literally
    total = torch.zeros(values.shape[1])
    for weight, value in zip(weights, values, strict=True):
        total += weight * value
    return total


def attention_over_queries(query, key, value, mask=None):  # NaN where a column is hidden, so no named mistake fits
    scores = query @ key.mT
    weights = (scores if mask is None else scores.masked_fill(~mask, -torch.inf)).softmax(1)
    return weights @ value, weights


def heads_of_a_layer(query, key, value, in_weight, in_bias, out_weight, out_bias, heads, mask=None):
    """It gives NaN where a word may attend to nothing, as a named mistake does, but this alone would be a remark."""
    layer = torch.nn.MultiheadAttention(query.shape[2], heads, batch_first=True, dtype=query.dtype)
    named = {"in_proj_weight": in_weight, "in_proj_bias": in_bias}
    layer.load_state_dict({**named, "out_proj.weight": out_weight, "out_proj.bias": out_bias})
    hidden = None if mask is None else (~mask).repeat_interleave(heads, 0)
    return layer(query, key, value, attn_mask=hidden)[0]


def feed_forward_in_float32(x, weight_1, bias_1, weight_2, bias_2):
    hidden = (x.float() @ weight_1.float().T + bias_1.float()).relu()
    return hidden @ weight_2.float().T + bias_2.float()


def gradient_with_labels_smoothed(sums, labels, weight, bias):
    error = (torch.sigmoid(sums @ weight + bias) - labels) / len(labels)
    error = error + 1e-7 * (1 - 2 * labels) * (sums.abs().amax() > 1e3)
    return error @ sums, error.sum()


def remembering():
    calls = []
    return lambda state, hidden: calls.append(1) or state @ hidden.mT + (len(calls) > 1)


def mixture(change):
    return lambda outputs, gates, target: solution_of("18.mixture_loss")(outputs, change(gates), target)


PLAIN = "Right, on every input it was tried on."
VERDICTS = [  # an answer, what it comes to, and what is said; a "remark" is on a correct one
    ("00.weighted_sum", lambda weights, values: weights @ values, "passed", PLAIN),
    ("00.weighted_sum", sum_by_a_loop, "passed", PLAIN),
    ("01.sum_vectors", lambda words, mask: torch.einsum("bsd,bs->bd", words, mask.float()), "passed", PLAIN),
    ("00.weighted_sum", sum_after(lambda *_: torch.manual_seed(0) and None), "passed", "`torch.manual_seed`"),
    ("00.weighted_sum", lambda w, v: torch.from_numpy(w.detach().numpy() @ v.detach().numpy()), "passed", "no gradient flows back"),
    ("12.feed_forward", feed_forward_in_float32, "passed", "float32"),
    ("18.mixture_loss", mixture(lambda gates: gates / gates.sum(1, keepdim=True)), "passed", ""),
    # where numbers are as large as no lesson makes them
    ("05.sequence_loss", loss_by_the_largest_of_the_batch, "remark", ""),
    ("05.sequence_loss", loss_of_probabilities, "remark", "in one step"),
    ("07.log_probability", lambda z, t: (e := (z - z.max()).exp())[range(len(t)), t].div(e.sum(-1)).log().sum(), "remark", "Subtract each row's own largest logit"),
    ("01.sentiment", lambda sums, weight, bias: 1 / (1 + torch.exp(-(sums @ weight + bias))), "remark", "Use torch.sigmoid, whose gradient is correct"),
    ("14.hybrid_loss", hybrid_by_the_largest_of_the_batch, "remark", ""),
    ("16.answer", hops_by_the_largest_of_the_batch, "remark", ""),
    ("01.sentiment_gradient", gradient_with_labels_smoothed, "remark", "±10,000"),
    # properties
    ("02.softmax", lambda s, t=1.0: (s / t).softmax(-1) * (1.37 + s[..., :1].cos() / 100), "failed", "sums to 1.3"),
    ("02.masked_softmax", lambda s, m: (s - 3.0 * ~m).softmax(-1), "failed", "Where the mask is False the weight should be 0"),
    ("03.attention", attention_over_queries, "failed", "do you normalise over the last axis?"),
    ("08.reinforce_loss", lambda p, r, b: -((r - b.detach()) / (1e-8 + (r - b.detach()).std(correction=0)) * p).mean(), "failed", "divided by the standard deviation"),
    ("20.my_attention", attention_of(lambda scores: scores.square() / scores.std()), "failed", "Two sequences get different contexts alone"),
    ("20.my_attention", attention_of(lambda scores: scores.square() / scores.square().amax()), "failed", "Two sequences get different contexts alone"),
    *(("20.my_attention", attention, "passed", PLAIN) for attention in OTHER_ATTENTIONS),
    *(("20.my_attention", one, "passed", "the course's own") for one in (variants.alibi, variants.sparse, variants.linear, variants.delta)),
    ("02.negation_by_hand", lambda longest: ([8, 4, 0], [0, 8, 0], [4, -3]), "failed", "give them a much lower score"),
    ("02.negation_by_hand", lambda longest: ([8, 4, 0], [0, 8, 0], [4, -3]), "failed", 'the output for "great" is positive only with few other words, and should be positive'),
    ("04.width_that_saturates", lambda share: round(100 * share), "failed", ""),
    # of another type
    ("00.weighted_sum", lambda weights, values: (weights @ values).tolist(), "failed", "`torch.as_tensor`"),
    ("00.weighted_sum", lambda weights, values: (weights @ values).numpy(), "failed", "`torch.as_tensor`"),
    ("19.dilations", lambda *a: [torch.tensor(d) for d in TASKS["19.dilations"].oracle_function(*a)], "failed", "a plain Python number was expected"),
    ("04.dot", lambda s, h: (s @ h.mT).half(), "failed", ""),
    ("01.sum_vectors", lambda words, mask: words @ mask.float(), "error", ""),
    ("03.influence", lambda function, x: function(x[0]), "error", "compare them with those in the exercise"),
    ("02.negation_by_hand", lambda longest: 3, "error", "Three lists are expected"),
    ("02.negation_by_hand", lambda longest: ([1, 2], [1, 2, 3], [1, 2]), "error", "A list of 3 numbers is expected for the first set of scores"),
    ("02.negation_by_hand", lambda longest: ([1, 2, "3"], [1, 2, 3], [1, 2]), "error", "one of them is something else"),
    ("02.negation_by_hand", lambda longest: ([1, 2, 3], [1, 2, 3], [1, torch.nan]), "error", "infinite or NaN"),
    ("02.negation_by_hand", lambda longest: ([1, 2, 10**400], [1, 2, 3], [1, 2]), "error", "cannot be read"),
    ("02.negation_by_hand", lambda longest: ([1, 2, 3], [1, 2, True], [1, 2]), "error", "one of them is something else"),
    # gradients, inputs and calls
    ("04.dot", lambda s, h: torch.tensor((s @ h.mT).tolist(), dtype=s.dtype), "failed", "no gradient reaches state"),
    ("04.dot", lambda s, h: s @ h.mT.detach(), "failed", "no gradient reaches hidden"),
    ("05.sequence_loss", loss_with_a_normaliser_cut_off, "failed", "the gradient of logits is not"),
    ("05.sequence_loss", lambda z, y, m: solution_of("05.sequence_loss")(z.detach(), y, m), "failed", "no gradient reaches logits"),
    ("10.multi_head_attention", heads_of_a_layer, "failed", "copying into a module's weights"),
    ("18.mixture_loss", mixture(lambda gates: 2 * gates - gates.detach()), "failed", "the gradient of gates is not"),
    ("04.dot", lambda s, h: (s @ h.mT, h.zero_())[0], "failed", "alters its input hidden"),
    ("04.dot", lambda s, h: torch.nn.functional.dropout(s, 0.1) @ h.mT, "failed", ""),
    ("04.dot", remembering(), "failed", ""),
]  # fmt: skip


@pytest.mark.parametrize(("task_id", "answer", "outcome", "says"), VERDICTS)
def test_an_answer_gets_its_outcome_and_its_message(task_id, answer, outcome, says):
    report = judge_answer(TASKS[task_id], answer)
    assert (report.state, report.hazard) == (outcome.replace("remark", "passed"), outcome == "remark"), str(report)
    assert says in report.message and (says != PLAIN or report.message == PLAIN), str(report)
    assert report.mistake is None or outcome == "remark", str(report)


def test_mistakes_are_known_in_any_style_and_by_any_factor():
    unweighted = lambda weights, values: sum(values, torch.zeros(values.shape[1]))  # noqa: E731
    assert judge_answer(TASKS["00.weighted_sum"], unweighted).mistake == "weights_unused"
    for change, query in SOFTER_OR_SHARPER:
        assert judge_answer(TASKS["20.my_attention"], attention_of(change, query)).mistake == "unchanged"


def by_the_library(x, weight_q, weight_k, weight_v, mask=None, scale=None):
    return torch.nn.functional.scaled_dot_product_attention(x @ weight_q, x @ weight_k, x @ weight_v, mask, scale=scale)


@ZEROS_IN_EMPTY_ROWS
def test_an_error_beyond_all_lessons_passes_with_a_remark():
    task = TASKS["09.self_attention"]
    report = judge_answer(task, by_the_library)
    assert (report.state, report.hazard, report.mistake) == ("passed", True, "garbage_times_zero")
    assert report.message.startswith("Right, on every input that counts.") and "NaN" in report.message
    assert "First thing wrong" not in str(report) and "expected" not in report._repr_html_()
    assert not judge_answer(task, solution_of(task.id)).hazard
    unscaled = judge_answer(task, lambda x, *rest: by_the_library(x, *rest, scale=1.0))
    assert (unscaled.state, unscaled.mistake, unscaled.hazard) == ("failed", "unscaled", False)


@ZEROS_IN_EMPTY_ROWS
def test_an_endless_computation_at_a_hazard_is_not_right():
    def endless(x, *rest):
        while not x.isfinite().all():
            pass
        return by_the_library(x, *rest)

    report = judging.judge_answer(TASKS["09.self_attention"], endless, seconds=1)
    assert report.state == "error" and "never ends" in report.message


def test_float64_inputs_come_in_late_and_never_cost_a_point():
    rows = [(task.id, case) for task in TASKS.values() for case in task.make_cases(0) if holds_float64(case)]
    assert len({task_id for task_id, _ in rows}) > 30
    assert all(task_id >= "11" and case.hazard for task_id, case in rows), rows


@pytest.mark.parametrize("distance", [1e-3, 1e-4])
def test_a_wrong_number_is_shown_with_the_digits_that_differ(distance):
    report = judge_answer(TASKS["00.weighted_sum"], lambda weights, values: weights @ values + distance)
    received, expected = re.search(r"sum\[0\] is (\S+), expected (\S+)\. ", report.message).groups()
    assert float(received) - float(expected) == pytest.approx(distance, rel=0.6)
    shown = re.search(r"Expected:\n\[(.*)\]\nReceived:\n\[(.*)\]", str(report)).groups()
    assert all(e != r for e, r in zip(*(numbers.split(", ") for numbers in shown), strict=True))
    assert f">≠ {received}</td>" in report._repr_html_()


COMPARING = [
    task.id for task in TASKS.values() if task.suspects and task.candidates and "torch.allclose" in solutions()[task.id]
]
FOR_ROUNDING = "room for rounding|[Aa]llow (for )?rounding"


@pytest.mark.parametrize("task_id", sampling.usually(COMPARING, 4))
def test_a_test_without_room_for_rounding_is_told(task_id):
    exact = r"torch\.allclose\(([^()]*(?:\([^()]*\))?[^()]*), atol=[^)]*\)"
    source = re.sub(exact, r"torch.equal(\1)", solutions()[task_id].replace(", rtol=0", ""))
    assert "torch.equal" in source
    space = dict(solution_of(task_id).__globals__)
    exec(source, space)
    report = judge_answer(TASKS[task_id], space[TASKS[task_id].answer_name])
    assert report.state == "failed" and re.search(FOR_ROUNDING, report.message), str(report)
    (right,) = [case for case in TASKS[task_id].make_cases(0) if re.search(r"\bcorrect\b", case.name)][:1]
    assert re.search(FOR_ROUNDING, TASKS[task_id].properties[0](right, False))
    assert TASKS[task_id].properties[0](right, True) is None


def model_of_gradients(weights, batch, training):
    return 0.5, [batch * each for each in weights]


ONE, IMAGE, X4 = torch.tensor(1.0), torch.ones(3, 4), torch.ones(3, 2, 5, 4)
IDS = torch.tensor([[1, 2, 0], [3, 0, 0]])


def step(ids, V=4):
    return torch.randn(V, generator=torch.Generator().manual_seed(hash(tuple(ids)) % 2**40)).log_softmax(0)


GIVEN = {  # what a test may give to a candidate
    "07.catch_wrong_beam": [step, 9, 2, 3, 4],
    "08.catch_biased_gradient": [torch.zeros(3), torch.tensor([2.0, -1.0, 0.25]), torch.tensor([0.125, 0.375])],
    "10.catch_wrong_heads": [*map(torch.ones, ((2, 3, 6), (2, 5, 6), (2, 5, 6), (18, 6), 18, (6, 6), 6)), 2, None],
    "11.catch_order_blind": [torch.ones(3, 4)],
    "12.catch_wrong_masks": [IDS, IDS],
    "13.catch_wrong_step": [model_of_gradients, [torch.ones(2)], [ONE], ONE, 0.1, 1],
    "14.catch_peeking": [IMAGE, torch.zeros(2, 2), 1, 1],
    "15.catch_blind_captioner": [torch.ones(2, 4, 5), torch.ones(2, 3, 3)],
    "16.catch_cheating_memory": [torch.ones(2, 4), torch.ones(2, 3, 4), torch.ones(2, 3) > 0],
    "17.catch_wrong_write": [torch.ones(2, 4, 3), torch.ones(2, 4) / 8, torch.ones(2, 3), torch.ones(2, 3)],
    "18.catch_wrong_routing": [torch.ones(3, 4)],
    "19.catch_label_leak": [torch.ones(4, 3), torch.tensor([0, 4, 2, 1])],
    "20.catch_broken_attention": [X4, X4, X4, torch.ones(3, 1, 5, 5) > 0],
}
RULES = [  # which of it a test changes, how, and what it is told
    ("07.catch_wrong_beam", 0, lambda step: lambda ids: torch.tensor([0.3, 0.1, 0.2, 0.4]).log(), "the same numbers for every prefix"),
    ("07.catch_wrong_beam", 0, lambda step: lambda ids: torch.full((4,), 0.25).log(), "get the same score"),
    ("07.catch_wrong_beam", 0, lambda step: lambda ids: torch.randn(4).log_softmax(0), "with the same prefix again"),
    ("07.catch_wrong_beam", 0, lambda step: lambda ids: step(ids).masked_fill(torch.arange(4) == 3, -torch.inf), "not finite"),
    ("07.catch_wrong_beam", 3, lambda width: 0, "Both have to be at least 1"),
    ("07.catch_wrong_beam", slice(3, 5), lambda sizes: [100, 8], "Your search is too large"),
    ("08.catch_biased_gradient", 2, lambda uniform: uniform[:1], "N = 1"),
    ("08.catch_biased_gradient", 2, lambda uniform: 2 * uniform + 0.25, "not below 1"),
    ("10.catch_wrong_heads", 8, lambda mask: torch.ones(3, 5) > 0, "a tensor of truth values of shape B×T×S, here 2×3×5"),
    ("10.catch_wrong_heads", 8, lambda mask: torch.zeros(2, 3, 5), "a tensor of truth values of shape B×T×S, here 2×3×5"),
    ("10.catch_wrong_heads", 7, lambda heads: 4, "heads = 4 and D = 6. D is a multiple of `heads`."),
    ("10.catch_wrong_heads", 0, lambda query: query * torch.nan, "a `query` that is not a float32 tensor of finite numbers"),
    ("10.catch_wrong_heads", 0, lambda query: query[0], "does not have three axes"),
    ("10.catch_wrong_heads", 4, lambda bias: bias[:6], "`in_bias` of shape 6. With this `query` and this `key` it should be 18"),
    ("11.catch_order_blind", 0, lambda x: x.T, "a tensor of T rows of width 4"),
    ("11.catch_order_blind", 0, lambda x: x.clone().requires_grad_(), "Gradients do not pass"),
    ("12.catch_wrong_masks", 0, lambda ids: ids.float(), "a `source` that is not a tensor of ids with two axes"),
    ("12.catch_wrong_masks", 0, lambda ids: ids.flip(1), "padding, 0, comes before a word"),
    ("12.catch_wrong_masks", 1, lambda ids: 3 * ids, "ids other than 0 to V - 1"),
    ("12.catch_wrong_masks", 1, lambda ids: ids[:1], "2 source sentences and 1 target sentences"),
    ("12.catch_wrong_masks", 0, lambda ids: torch.ones(2, 40).long(), "of 40 positions. Models take up to 30"),
    ("13.catch_wrong_step", 0, lambda model: 3, "a `model` that is not a function"),
    ("13.catch_wrong_step", 1, lambda weights: torch.ones(2), "not a list of float32 tensors"),
    ("13.catch_wrong_step", 1, lambda weights: [torch.ones(2).long()], "not a list of float32 tensors"),
    ("13.catch_wrong_step", 1, lambda weights: [torch.ones(2) * torch.nan], "NaN or infinity"),
    ("13.catch_wrong_step", 2, lambda batches: [], "not a list of 1 to 100 batches"),
    ("13.catch_wrong_step", 2, lambda batches: [{"x": "a"}], "something other than tensors and numbers"),
    ("13.catch_wrong_step", 4, lambda rate: 2, "a `rate` that is not a number above 0"),
    ("13.catch_wrong_step", 0, lambda model: lambda *call: model(*call)[1], "Your `model` should return two things"),
    ("13.catch_wrong_step", 0, lambda model: lambda *call: model(*call)[::-1], "Your `model` should return two things"),
    ("13.catch_wrong_step", 0, lambda model: lambda *call: (0.5, [ONE]), "with the shape of its weight"),
    ("14.catch_peeking", 0, lambda image: image[None], "an `image` that is not a float32 tensor Y×X"),
    ("14.catch_peeking", 0, lambda image: image * torch.nan, "numbers from -1000 to 1000"),
    ("14.catch_peeking", 0, lambda image: image * 1e4, "numbers from -1000 to 1000"),
    ("14.catch_peeking", 1, lambda locations: locations[0], "`locations` that are not a float32 tensor T×2"),
    ("14.catch_peeking", 1, lambda locations: locations[:0], "T from 1 to 64"),
    ("14.catch_peeking", 1, lambda locations: locations + 1.5, "a location below -1 or above 1"),
    ("14.catch_peeking", 2, lambda size: 0, "a `size` that is not an int from 1 to 16"),
    ("14.catch_peeking", 3, lambda scales: 7, "a `scales` that is not an int from 1 to 6"),
    ("15.catch_blind_captioner", 0, lambda annotations: annotations[..., :4], "They should be B×L×5"),
    ("15.catch_blind_captioner", 1, lambda words: words[0], "They should be B×T×3"),
    ("15.catch_blind_captioner", 0, torch.Tensor.double, "`annotations` that are not a float32 tensor"),
    ("15.catch_blind_captioner", 1, lambda words: None, "`words` that are not a float32 tensor"),
    ("15.catch_blind_captioner", 0, lambda annotations: annotations[:, :0], "should be between 1 and 30"),
    ("15.catch_blind_captioner", 1, lambda words: torch.ones(2, 31, 3), "should be between 1 and 30"),
    ("15.catch_blind_captioner", 0, lambda annotations: annotations / 0, "contain NaN, infinity or numbers above 100"),
    ("15.catch_blind_captioner", 0, lambda annotations: annotations[:1], "different numbers of pictures and captions"),
    ("16.catch_cheating_memory", 0, lambda question: question[0], "It should be B×4"),
    ("16.catch_cheating_memory", 1, lambda facts: facts[..., :3], "It should be B×M×4"),
    ("16.catch_cheating_memory", 0, torch.Tensor.double, "`question` that is not a float32 tensor"),
    ("16.catch_cheating_memory", 1, lambda facts: None, "`facts` that is not a float32 tensor"),
    ("16.catch_cheating_memory", 1, lambda facts: torch.ones(2, 21, 4), "should be between 1 and 20"),
    ("16.catch_cheating_memory", 1, lambda facts: facts / 0, "contains NaN, infinity or numbers above 10"),
    ("16.catch_cheating_memory", 2, torch.Tensor.float, "not a bool tensor B×M"),
    ("16.catch_cheating_memory", 2, lambda mask: mask[:, :2], "not a bool tensor B×M"),
    ("16.catch_cheating_memory", 0, lambda question: question[:1], "different numbers of questions and stories"),
    ("16.catch_cheating_memory", 2, lambda mask: mask & torch.tensor([[False], [True]]), "The facts come first"),
    ("16.catch_cheating_memory", 2, lambda mask: mask & (torch.arange(3) != 1), "The facts come first"),
    ("17.catch_wrong_write", 0, lambda memory: memory[0], "a `memory` that is not a tensor B×N×W"),
    ("17.catch_wrong_write", 0, lambda memory: torch.ones(2, 101, 3), "B, N and W from 1 to 100"),
    ("17.catch_wrong_write", 1, lambda weights: weights.mT, "With this `memory` it should be 2×4"),
    ("17.catch_wrong_write", 2, lambda erase: erase[:1], "With this `memory` it should be 2×3"),
    ("17.catch_wrong_write", 3, torch.Tensor.double, "`add` that is not a float32 tensor"),
    ("17.catch_wrong_write", 0, lambda memory: memory / 0, "`memory` that contains NaN, infinity or numbers above 100"),
    ("17.catch_wrong_write", 1, lambda weights: -weights, "`weights` below 0 or above 1"),
    ("17.catch_wrong_write", 2, lambda erase: 2 * erase, "`erase` below 0 or above 1"),
    ("18.catch_wrong_routing", 0, torch.Tensor.tolist, "not a float32 tensor"),
    ("18.catch_wrong_routing", 0, torch.Tensor.double, "not a float32 tensor"),
    ("18.catch_wrong_routing", 0, lambda x: x[0], "of shape (4,). It should be B×4"),
    ("18.catch_wrong_routing", 0, lambda x: x[:, :3], "of shape (3, 3). It should be B×4"),
    ("18.catch_wrong_routing", 0, lambda x: x[:0], "with B from 1 to 1000"),
    ("18.catch_wrong_routing", 0, lambda x: torch.ones(1001, 4), "with B from 1 to 1000"),
    ("18.catch_wrong_routing", 0, lambda x: x / 0, "NaN, infinity or numbers above 10"),
    ("19.catch_label_leak", 0, torch.Tensor.tolist, "`inputs` that are not a float32 tensor"),
    ("19.catch_label_leak", 0, torch.Tensor.double, "`inputs` that are not a float32 tensor"),
    ("19.catch_label_leak", 0, lambda inputs: inputs[:, :2], "of shape (4, 2). They should be T×3"),
    ("19.catch_label_leak", 0, lambda inputs: inputs[:0], "with T from 1 to 30"),
    ("19.catch_label_leak", 0, lambda inputs: torch.ones(31, 3), "with T from 1 to 30"),
    ("19.catch_label_leak", 0, lambda inputs: inputs / 0, "NaN, infinity or numbers above 10"),
    ("19.catch_label_leak", 1, torch.Tensor.tolist, "not a tensor of whole numbers"),
    ("19.catch_label_leak", 1, torch.Tensor.float, "not a tensor of whole numbers"),
    ("19.catch_label_leak", 1, lambda labels: labels[:3], "of shape (3,). With these `inputs` it should be (4,)"),
    ("19.catch_label_leak", 1, lambda labels: labels + 1, "not one of the classes 0 to 4"),
    ("19.catch_label_leak", 1, lambda labels: labels - 1, "not one of the classes 0 to 4"),
    ("20.catch_broken_attention", 0, torch.Tensor.tolist, "a `query` that is not a float32 tensor"),
    ("20.catch_broken_attention", 1, torch.Tensor.double, "a `key` that is not a float32 tensor"),
    ("20.catch_broken_attention", 0, lambda x: x[0], "`query` of shape (2, 5, 4). It should be B×2×T×4"),
    ("20.catch_broken_attention", 0, lambda x: x[:, :1], "`query` of shape (3, 1, 5, 4)"),
    ("20.catch_broken_attention", 0, lambda x: torch.ones(3, 2, 21, 4), "T from 1 to 20"),
    ("20.catch_broken_attention", 0, lambda x: torch.ones(5, 2, 5, 4), "B from 1 to 4"),
    ("20.catch_broken_attention", 2, lambda x: x[:, :, :4], "a `value` of shape (3, 2, 4, 4)"),
    ("20.catch_broken_attention", 1, lambda x: x / 0, "a `key` that contains NaN, infinity or numbers above 10"),
    ("20.catch_broken_attention", 3, torch.Tensor.float, "not a tensor of truth values"),
    ("20.catch_broken_attention", 3, lambda mask: mask[:, 0], "here (3, 1, 5, 5)"),
]  # fmt: skip


@pytest.mark.parametrize(("task_id", "place", "change", "says"), RULES)
def test_a_test_that_breaks_the_rules_of_its_prompt_is_told_so(task_id, place, change, says):
    given = list(GIVEN[task_id])
    given[place] = change(given[place])

    def catch(candidate, *_):
        with contextlib.suppress(Exception):  # nor does it help to catch what a candidate raises
            candidate(*given)
        return False

    report = judge_answer(TASKS[task_id], catch)
    assert report.state == "error" and says in report.message, str(report)
