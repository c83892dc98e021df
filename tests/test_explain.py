"""What is said of an incorrect answer that has no name: the one relation that holds, or nothing."""

import json
from pathlib import Path

import pytest
import sampling
import torch
from tasks import TASKS, solution_of

from course_utils.base import trees
from course_utils.checks import explain
from course_utils.checks.expected import Expected
from course_utils.checks.judge import judge
from course_utils.checks.judge_answer import judge_answer
from course_utils.checks.relations.factors import formulas, sizes_of
from course_utils.checks.relations.result_changes import axis_names
from course_utils.checks.running.contract import Case, is_float
from course_utils.checks.running.run import run
from course_utils.checks.task import Task

TWO = json.loads((Path(__file__).parent / "two_mistakes.json").read_text(encoding="utf-8"))
WITH_STEPS = [task for task in TASKS.values() if task.steps_function and not task.candidates]
# Where functions are looked into no relation is sought: the steps serve the mistakes alone.
INTO_FUNCTIONS = [task for task in TASKS.values() if task.steps_function and task.candidates]


def relation(task_id, answer, **options):
    report = judge_answer(TASKS[task_id], answer, **options)
    assert report.state == "failed" and report.mistake is None, str(report)
    assert report.relation is None or report.message == report.relation
    return report.relation


def changed(task_id, change):
    """The solution with its result changed; of a layer what it should compute, as a function."""
    right = TASKS[task_id].oracle_function if TASKS[task_id].module else solution_of(task_id)
    return lambda *args: change(right(*args))


def test_each_task_that_computes_numbers_has_its_steps():
    """Dicts, lists, words and whole numbers are counted or searched for, candidates are looked into, and a reading has many right values."""
    others = [t for t in TASKS.values() if not (t.steps_function or t.candidates or t.canonical_function)]
    given = {task.id: Expected(task, task.make_cases(0)[:1]).truth[0].value for task in others}
    assert not [task_id for task_id, value in given.items() if isinstance(value, (torch.Tensor, float, tuple))]
    assert len(WITH_STEPS) > 75


@pytest.mark.parametrize("task", sampling.usually(WITH_STEPS, 32), ids=lambda task: task.id)
def test_the_steps_lead_to_the_right_answer(task):
    for seed in sampling.seeds(1, 5):
        expected = Expected(task, task.make_cases(seed))
        known = explain.evaluator_of(expected)
        way = explain.Baseline("changed", known._variant({}))
        plain = task.function_from(task.source(), "solution") if task.follows_solution else None
        for place, case in enumerate(known.cases):
            if case.edge:
                continue
            if plain and not case.raises:  # the steps of a solution are that solution
                solved = explain.Baseline("changed", lambda args, plain=plain: plain(*args))
                assert known.at(solved, place) is None or explain._values_agree(
                    known.at(way, place), known.at(solved, place)
                )
            if known.at(known.truth, place) is None:  # lists of lists, which stand in no relation
                assert way.compute(case.args) == expected.truth[place].value, case.name
            else:
                assert explain._values_agree(known.at(way, place), known.at(known.truth, place)), case.name


@pytest.mark.parametrize("task", INTO_FUNCTIONS, ids=lambda task: task.id)
def test_steps_that_look_into_a_function_give_the_right_answer(task):
    report = judge_answer(task, task.variant({}))
    assert report.state == "passed", str(report)


@pytest.mark.parametrize(
    ("task_id", "answer", "says"),
    [
        ("04.dot", lambda s, h: 3 * (s @ h.mT) * s.shape[-1] ** 0.2, None),
        ("04.dot", lambda s, h: 2 * (s @ h.mT) / s.shape[-1] ** 0.5, "times 2/√D. With D = 2 the number is 1.414, with D = 3 it is 1.155."),
        ("02.softmax", lambda s, t=0.5: (s / t).softmax(-1), "what the right computation gives with 0.5 as the default of temperature."),
        ("02.softmax", lambda s, t=1.0: (s / t - (s / t).amax(-1, keepdim=True)).exp(), "you return the exponentials: the later steps are missing."),
        ("04.dot", lambda s, h: -(s @ h.mT), "In every case, you return the right scores times -1."),
        ("08.reinforce_loss", changed("08.reinforce_loss", lambda loss: loss / torch.tensor(10.0).log()), "the logarithm to base 10, `log10`"),
        ("04.dot", lambda s, h: -(s @ h.mT), "The sign is wrong"),
        ("04.dot", lambda s, h: s @ h.mT + 0.5, "the right scores plus 0.5 everywhere."),
        ("04.dot", lambda s, h: (s @ h.mT).cumsum(-1), "the running sum of the right scores along axis S."),
        ("04.dot", lambda s, h: (s @ h.mT).roll(1, 2), "shifted forward by one position along axis S."),
        ("04.dot", lambda s, h: (s * 0.5) @ h.mT.tanh(), None),
        ("04.dot", lambda s, h: s @ h.tanh().mT, "with the tanh of hidden instead of hidden. Everything else is right."),
        ("04.dot", lambda s, h: s * h.mT, "with `*` instead of `@` in the scores. Everything else is right."),
        ("04.perceptron", lambda s, h, ws, wh, v: ((s @ ws.T)[:, :, None] + (h @ wh.T)[:, None]).tanh(), "you return the hidden layer: the later steps are missing."),
        ("02.mlp_scores", lambda w, m, b, t: (w @ m.T - b).sigmoid() @ t, "what the right computation gives with the sign of bias flipped."),
        ("02.mlp_scores", lambda w, m, b, t: (w @ m.T + t).sigmoid() @ t, "what the right computation gives with theta instead of bias."),
        ("02.masked_softmax", lambda s, m: torch.zeros_like(s), "In every case, you return zeros instead of the right weights."),
        ("01.sentiment", lambda s, w, b: 2 * (s @ w + b).sigmoid().round(decimals=1) / 2, "rounded to one decimal place"),
        ("03.attention", changed("03.attention", lambda both: (both[0] * 2, both[1])), "In every case, your context is the right context times 2."),
        ("03.attention", changed("03.attention", lambda both: (both[0] * 2, both[1] * 3)), None),
    ],
)  # fmt: skip
def test_a_relation_is_told_with_its_evidence(task_id, answer, says):
    told = relation(task_id, answer)
    assert says in told if says else told is None, told


def test_a_change_on_top_of_a_named_mistake_is_told():
    told = relation("04.content_based", lambda s, h: (torch.nn.functional.normalize(s, dim=-1) @ h.mT).softmax(-1))
    assert told.startswith(
        "Two mistakes together would give exactly what you return. The first: “You divide only by the length of the state."
    )
    assert told.endswith("” The second: you return the softmax of that wrong result along axis S.")


@pytest.mark.parametrize(
    ("task_id", "answer", "mistakes"),
    [
        ("02.masked_softmax", lambda s, m: s.masked_fill(~m, 0.0).softmax(0), ("masked_with_zeros", "first_axis")),
        ("02.masked_softmax", lambda s, m: s.softmax(-1).masked_fill(m, 0.0), ("mask_inverted", "masked_after")),
        ("04.perceptron", lambda s, h, ws, wh, v: ((s @ ws.T).tanh()[:, :, None] + (h @ wh.T).tanh()[:, None]).sum(-1), ("tanh_before_sum", "perceptron_v_unused")),
        # The second shows on edge cases alone.
        ("02.softmax", lambda s, t=1.0: ((s - s.max()) / t**2).exp() / ((s - s.max()) / t**2).exp().sum(-1, keepdim=True), ("temperature_twice", "maximum_of_everything")),
    ],
)  # fmt: skip
def test_two_named_mistakes_are_both_told(task_id, answer, mistakes):
    report = judge_answer(TASKS[task_id], answer)
    for name in mistakes:
        (mistake,) = [each for each in TASKS[task_id].mistakes if each.name == name]
        assert f"“{mistake.sentence}”" in report.message, str(report)


def test_a_mistake_is_named_beside_another_that_raises():
    def attention(query, key, value, mask=None):
        if mask:
            return value
        weights = (query @ key.mT / query.shape[-1] ** 0.5).softmax(-1)
        return weights @ value, weights

    report = judge_answer(TASKS["03.attention"], attention)
    assert report.mistake is None and "every result that your function returns: “You divide the scores by √D." in str(
        report
    )
    assert "with a mask”: Your function stops with RuntimeError: " in str(report) and "write `mask is not None`" in str(
        report
    )
    right_values = lambda q, k, v, mask=None: (q / 0, 0) if mask is None else solution_of("03.attention")(q, k, v, mask)  # noqa: E731
    assert "every result" not in str(judge_answer(TASKS["03.attention"], right_values))


def test_a_relation_calls_the_rest_right_only_where_it_is():
    filled = lambda s, m: (s / s.shape[-1] ** 0.5).masked_fill(~m, -1e9).softmax(-1)  # noqa: E731
    told = relation("02.masked_softmax", filled)
    assert told.endswith(
        "divided by √S. For “2 rows of 2 scores, nothing to attend to in the second” you return something else again."
    ), told


@pytest.mark.parametrize(
    ("task_id", "answer", "named", "says"),
    [
        ("02.masked_softmax", lambda s, m: s.masked_fill_(m, -torch.inf).softmax(-1).nan_to_num(), "mask_inverted", "scores. The mask"),
        ("04.dot", lambda s, h: (2 * s @ h.mT, s.add_(1))[0], None, "state. In every case, you return the right scores times 2."),
    ],
)  # fmt: skip
def test_an_altered_input_is_told_once_beside_another_finding(task_id, answer, named, says):
    report = judge_answer(TASKS[task_id], answer)
    assert report.mistake == named and report.message.startswith(f"Your function alters its input {says}"), str(report)
    assert str(report).count("alters its input") == 1, str(report)


@pytest.mark.parametrize("task", sampling.usually(WITH_STEPS, 3), ids=lambda task: task.id)
def test_numbers_that_stand_in_no_relation_get_no_relation(task):
    def noisy(value):
        noise = torch.rand(1000, generator=torch.Generator().manual_seed(3))

        def on(leaf):
            if isinstance(leaf, float):
                return leaf * (1 + 0.3 * noise[0].item()) + 0.1 * noise[1].item()
            if not is_float(leaf):
                return leaf
            return leaf * (1 + 0.3 * noise[torch.arange(leaf.numel()) % 1000].view(leaf.shape)) + 0.1

        return trees.map_leaves(on, value)

    answer, cases = changed(task.id, noisy), task.make_cases(0)
    expected, outcomes = Expected(task, cases), run(answer, cases)
    # Truth values, ids and counts stay as they are.
    leaves = trees.leaves([outcome.value for outcome in expected.truth])
    changes = any(isinstance(leaf, float) or is_float(leaf) for leaf in leaves)
    assert judge(task, cases, outcomes, expected, explaining=False).state == ("failed" if changes else "passed")
    assert not changes or explain.explain(expected, outcomes) is None


def test_a_relation_that_holds_in_some_cases_only_is_not_told():
    calls = iter(range(10**6))
    assert relation("04.dot", lambda s, h: (s @ h.mT) * (2 if s.shape[1] > 1 else 3)) is None
    assert next(calls) == 0


def test_pairs_need_values_for_most_inputs():
    def compared_with_mirrored_values(weights, values, uniform):
        return solution_of("08.hard_attention")(weights, values, values.flip(1))  # runs for two of ten inputs

    assert relation("08.hard_attention", compared_with_mirrored_values) is None


def test_arguments_mixed_up_are_told_even_for_few_inputs():
    def compared_with_values(weights, values, uniform):
        return solution_of("08.hard_attention")(weights, values, values)  # runs for two of ten inputs

    assert "with values instead of uniform. " in relation("08.hard_attention", compared_with_values)


def test_a_forgotten_division_is_no_addition():
    """To a softmax, scores without the division are the same as scores plus a number."""
    task = TASKS["09.self_attention"]
    cases = task.make_cases(0)
    told = explain.explain(Expected(task, cases), run(task.wrong("unscaled"), cases))
    assert "without dividing the products of queries and keys. " in told


def test_a_step_that_is_rounded_explains_nothing():
    """By chance, the rounded running sum keeps the same ids on every ordinary input."""

    def kept_from_1_minus_p(logits, p):
        probabilities = logits.softmax(0)
        kept = torch.where(probabilities >= min(1 - p, float(probabilities.max())), probabilities, 0.0)
        return kept / kept.sum()

    assert relation("21.nucleus", kept_from_1_minus_p) is None


@pytest.mark.parametrize("task_id", ["00.weighted_sum", "01.sum_vectors", "01.word_polarity", "02.softmax"])
def test_nan_everywhere_is_not_explained_by_one_of_many_causes(task_id):
    nothing = changed(task_id, lambda value: torch.full_like(value, torch.nan))
    assert relation(task_id, nothing) is None


def test_relations_that_fit_but_differ_elsewhere_are_not_told():
    task = Task("99.x", "x", ("x N", "n"), "y N", difficulty=1, importance=1, minutes=1)
    answer = lambda x, n: x * n  # noqa: E731

    @task.oracle
    def _(x, n):
        return x + 0.0

    def with_n(n):
        @task.cases
        def _(draw):
            for size in (3, 5):
                yield Case("", (draw.numbers(size), n(draw)))

        cases = task.make_cases(0)
        return explain.explain(Expected(task, cases), run(answer, cases))

    assert with_n(lambda draw: 2) == "In every case, you return the right y times 2."
    # Twice the right one, or n times? On fresh inputs, where n is 3, the two differ.
    assert with_n(lambda draw: 2 if draw.generator.initial_seed() == 1000 else 3) is None


def test_two_mistakes_at_once_are_refused_and_most_explained():
    explained, tried = 0, sampling.some("answers with two mistakes", TWO, 8, 1000)
    for answer in tried:
        space = {}
        exec(answer["source"], space)
        task = TASKS[answer["task"]]
        report = judge_answer(task, space[task.answer_name])
        assert report.state == "failed" and report.mistake is None, str(report)
        explained += report.relation is not None
    assert explained >= 0.7 * len(tried), f"{explained} of {len(tried)}"


def test_letters_name_axes_and_sizes():
    assert axis_names("…×S", 3) == ["axis 0", "axis 1", "axis S"]
    assert axis_names("size×size", 2) == ["axis 0", "axis 1"]
    task = Task("99.y", "y", ("x …×S×D", "n"), "y", difficulty=1, importance=1, minutes=1)
    assert sizes_of(task, (torch.zeros(2, 3, 5), 7)) == {"S": 3, "D": 5, "n": 7}
    ((formula, letter, of),) = formulas([{"S": 4, "D": 9}, {"S": 16, "D": 9}], [0.5, 0.25])
    assert (formula, letter, of({"S": 64})) == ("1/√S", "S", 0.125)
