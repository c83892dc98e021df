"""An explanation that fits one draw of inputs by chance is not said; the true finding is."""

import math

import pytest
import torch
import torch.nn.functional as F
from tasks import TASKS, judge_answer, solution_of

from course_utils.checks import judge_answer as judging
from course_utils.checks.judge_answer import expected_on
from course_utils.checks.task import Case, Task


def looped(weights, mask):
    """15.doubly_stochastic, right, in loops that leave a Python number where there is no word."""
    penalty = 0.0
    for b in range(len(weights)):
        for cell in range(weights.shape[2]):
            penalty += (1 - sum(weights[b, t, cell] for t in range(weights.shape[1]) if mask[b, t])) ** 2
    return penalty / len(weights)


def causal(query, key, value, mask):
    return F.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True)


def nearly_masked(x, weight_q, weight_k, weight_v, mask=None):
    """09.self_attention with -1e-9 for -inf, and nothing for words that see nothing."""
    query, key, value = x @ weight_q, x @ weight_k, x @ weight_v
    scores = query @ key.mT / query.shape[-1] ** 0.5
    if mask is None:
        return scores.softmax(-1) @ value
    return scores.masked_fill(~mask, -1e-9).softmax(-1).masked_fill(~mask.any(-1, keepdim=True), 0.0) @ value


@pytest.mark.parametrize(
    ("task_id", "answer", "never", "says"),
    [
        ("09.self_attention", nearly_masked, "NaN", "-1e-9 is a tiny number"),
        ("15.doubly_stochastic", looped, "multiply the weights at padding", "you returned 5.0; a torch.Tensor was expected"),
        ("18.at_risk", lambda old, new: ((old > 0)[:, None] == (new > 0)).all(-1).any(1), "last new input", "exactly the same experts"),
        ("22.classify", lambda logits, unlabelled, positive, negative: (logits[:, positive] - logits[:, negative]).bool(), "threshold", "You take the absolute value"),
        pytest.param("22.grouped_query_attention", causal, "uses", "are they 0 where the mask is False", marks=pytest.mark.thorough),
        ("07.tipping_alpha", lambda *given: float(math.ceil(solution_of("07.tipping_alpha")(*given))), "a step of 0.1", "rounded up to a multiple of 0.1 or 1"),
        ("08.local_centre", lambda state, weight, v, length: length.float().mean() * torch.sigmoid(torch.tanh(state @ weight.T) @ v), "B×B", "centre"),
        ("05.sequence_loss", lambda logits, target, mask: F.cross_entropy(logits[mask], target[mask], reduction="sum") / mask.shape[1], "all B·T", "You divide by T"),
        ("22.swiglu", lambda x, gate, up, down: (x @ gate.T * F.silu(x @ up.T)) @ down.T, "SiLU is applied to the product with weight_gate", "Apply SiLU to the product with weight_gate"),
        ("13.label_smoothing_loss", lambda logits, target, smoothing, pad: F.cross_entropy(logits.mT, target, ignore_index=pad, label_smoothing=smoothing, reduction="sum"), "True where", "the sum of the losses"),
    ],
)  # fmt: skip
def test_a_sentence_on_what_was_not_done_is_not_said(task_id, answer, never, says):
    for seed in range(3):
        message = judge_answer(TASKS[task_id], answer, seed=seed).message
        assert never not in message, message
        assert seed or says in message, message


def doubled(*, draws):
    """A task with one ordinary case, and an answer that is twice the right one only on some draws."""
    task = Task("99.doubled", "numbers", arguments=("x N",), result="y N", difficulty=1, importance=1, minutes=1)
    task.cases(lambda draw: [Case("five numbers", (draw.normal(5),))])
    task.oracle(lambda x: x)
    given = [draw.args[0] for draw in task.make_cases(0)] if draws == 1 else []
    return task, lambda x: 2 * x if not given or torch.equal(x, given[0]) else x + x.roll(1)


def test_a_relation_holds_on_a_second_draw_before_it_is_said():
    for draws, is_said in ((2, True), (1, False)):
        report = judge_answer(*doubled(draws=draws))
        assert report.state == "failed" and bool(report.relation) == is_said, str(report)
        assert report.case.name == "five numbers" and len(str(report).split("Received")) == 2


def test_a_right_answer_or_a_wrong_type_needs_one_draw(monkeypatch):
    ran = []
    monkeypatch.setattr(
        judging, "run", lambda *args, f=judging.run, **options: ran.append(args[1]) or f(*args, **options)
    )
    task = TASKS["02.softmax"]
    assert judge_answer(task, solution_of("02.softmax")).state == "passed" and len(ran) == 1
    assert judge_answer(task, lambda scores: scores).state == "failed" and len(ran) == 3
    assert len(ran[-1]) == sum(not case.edge for case in expected_on(task, 0).cases)
    del ran[:]
    assert judge_answer(task, lambda scores: "a text").kind == "type" and len(ran) == 1
