"""Task 22.classify: which reviews are positive, by two log probabilities and a median of unlabelled reviews."""

import torch

from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "reviews classified by comparing log probabilities",
    arguments=("logits N×V", "unlabelled M×V", "positive", "negative"),
    result="is_positive N",
    difficulty=2,
    importance=5,
    minutes=15,
)


def _inputs(draw, N, M, V):
    """Logits with a lean to one side, of which some unlabelled reviews lean very far; two different ids."""
    positive, negative = draw.distinct(2, 0, V).tolist()
    logits, unlabelled = (torch.randn(n, V, generator=draw.generator) * 1.5 for n in (N, M))
    lean = (1.2 if int(draw.whole(0, 2)) else -1.2) * torch.eye(V)[positive]
    logits, unlabelled = logits + lean, unlabelled + lean
    unlabelled[: M // 4, positive] += 9 * lean.sum().sign()
    return logits, unlabelled, positive, negative


@task.cases
def _(draw):
    for N, M, V in ((4, 3, 3), (5, 5, 4), (7, 3, 5), (40, 21, 7), (60, 31, 11)):
        yield Case(f"{N} reviews and {M} unlabelled ones, {V} in the vocabulary", _inputs(draw, N, M, V))
    yield Case("as many reviews as unlabelled ones", _inputs(draw, 15, 15, 5))
    logits, unlabelled, positive, negative = _inputs(draw, 6, 9, 5)
    difference = _difference(unlabelled, positive, negative).median() - _difference(logits, positive, negative)
    logits[:, positive] += difference + torch.tensor([1, -1, 2, -2, 4, -4])[draw.distinct(6, 0, 6)] / 500
    yield Case("reviews close to the threshold", (logits, unlabelled, positive, negative))
    logits, unlabelled, positive, negative = _inputs(draw, 12, 5, 4)
    unlabelled[:, positive] = unlabelled[:, negative] + torch.tensor([-2.0, 0.5, 3.0, 0.0, 0.0])
    unlabelled = unlabelled[torch.tensor([0, 0, 0, 1, 2])[draw.distinct(5, 0, 5)]]
    logits[:, positive] = logits[:, negative] + torch.tensor([-3.0, -1.0, 0.0, 1.0]).repeat(3)
    yield Case("unlabelled reviews with the same score", (logits, unlabelled, positive, negative))
    logits, unlabelled, positive, negative = _inputs(draw, 40, 9, 7)
    for each in (logits, unlabelled):
        each[:, [positive, negative]] -= 12
    yield Case("two labels that are improbable", (logits, unlabelled, positive, negative))
    yield Case("one review", _inputs(draw, 1, 9, 5), edge=True)
    yield Case("one unlabelled review", _inputs(draw, 12, 1, 5), edge=True)
    same = torch.tensor([[2.0, 0.0, 0.0], [1.0, 0.0, 0.0], [3.0, 0.0, 0.0]])
    yield Case("a review exactly at the threshold", (same.clone(), same, 0, 1), hazard=True)


def _difference(logits, positive, negative):
    log_p = logits.log_softmax(-1)
    return log_p[:, positive] - log_p[:, negative]


@task.oracle
def classified(logits, unlabelled, positive, negative):
    threshold = _difference(unlabelled, positive, negative).median()
    return _difference(logits, positive, negative) > threshold


@task.property
def the_largest_scores_are_positive(case, value):
    """The reviews that count as positive are those with the largest scores, and as many of them as are above the threshold."""
    logits, _, positive, negative = case.args
    if not isinstance(value, torch.Tensor) or value.dtype != torch.bool or value.shape != (len(logits),):
        return None
    right, scores = classified(*case.args), _difference(logits, positive, negative)
    if torch.equal(value, right):
        return None
    if value.any() and not value.all() and scores[value].min() < scores[~value].max():
        return "Of two reviews, you count one as positive but not the other, although the other has the larger score: something is wrong with your scores, or with how you compare them."
    number = "no review" if not value.any() else "every review" if value.all() else f"{int(value.sum())} reviews"
    return f"You count {number} of {len(right)} as positive, but {int(right.sum())} {'has' if right.sum() == 1 else 'have'} a score above the median of the unlabelled reviews."


@task.steps
def _(logits, unlabelled, positive, negative):
    own = yield "the scores to classify", _difference, logits, positive, negative
    others = yield "the unlabelled scores", _difference, unlabelled, positive, negative
    threshold = yield "the median", torch.median, others
    is_positive = yield "the comparison", torch.gt, own, threshold
    return is_positive
