"""Task 22.classify: which reviews are positive, by two log probabilities and a median of unlabelled reviews."""

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task

task = Task(
    "22.classify",
    "reviews classified by comparing log probabilities",
    arguments=("logits N×V", "unlabelled M×V", "positive", "negative"),
    result="is_positive N",
    difficulty=2,
    importance=5,
    minutes=15,
    hints=(
        "A single number for each review says how far it leans towards the positive side: a difference of two log probabilities. A model may lean towards one side whatever it reads. The unlabelled reviews are scored in the same way and show what is usual.",
        "Take unlabelled reviews with the log probabilities -1, -2 and -1 for positive and -2, -5 and -1.5 for negative. Their scores are 1, 3 and 0.5, with a median of 1. A review with -2 and -2.4 has a score of 0.4, which is above 0 and below 1. It counts as negative.",
        "score of a row = its log probability of `positive` minus its log probability of `negative`; threshold = the median of the scores of the unlabelled rows; for each of the other rows, whether its score is above the threshold.",
    ),
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
    yield Case("one review", _inputs(draw, 1, 9, 5), edge=True)
    yield Case("one unlabelled review", _inputs(draw, 12, 1, 5), edge=True)


def _difference(logits, positive, negative):
    log_p = logits.log_softmax(-1)
    return log_p[:, positive] - log_p[:, negative]


def _classified(
    logits,
    unlabelled,
    positive,
    negative,
    score=_difference,
    threshold=lambda scores, own: scores.median(),
    above=torch.gt,
):
    """Which reviews are positive; mistakes change a part of it."""
    own, others = score(logits, positive, negative), score(unlabelled, positive, negative)
    return above(own, threshold(others, own))


@task.oracle
def _(logits, unlabelled, positive, negative):
    return _classified(logits, unlabelled, positive, negative)


@task.property
def the_largest_scores_are_positive(case, value):
    """The reviews that count as positive are those with the largest scores, and as many of them as are above the threshold."""
    logits, _, positive, negative = case.args
    if not isinstance(value, torch.Tensor) or value.dtype != torch.bool or value.shape != (len(logits),):
        return None
    right, scores = _classified(*case.args), _difference(logits, positive, negative)
    if torch.equal(value, right):
        return None
    if value.any() and not value.all() and scores[value].min() < scores[~value].max():
        return "Of two reviews, you count one as positive but not the other, although the other has the larger score: something is wrong with your scores, or with how you compare them."
    size = "low" if value.sum() > right.sum() else "high"
    return f"The reviews you count as positive have the largest scores, but your threshold is too {size} here."


@task.steps
def _(logits, unlabelled, positive, negative):
    own = yield "the scores to classify", _difference, logits, positive, negative
    others = yield "the unlabelled scores", _difference, unlabelled, positive, negative
    threshold = yield "the median", torch.median, others
    is_positive = yield "the comparison", torch.gt, own, threshold
    return is_positive


def _of_probabilities(logits, positive, negative):
    p = logits.softmax(-1)
    return p[:, positive] - p[:, negative]


for _name, _sentence, _changes in (
    ("threshold_0", "You compare the scores with 0. This model may lean to one side whatever it reads: compare them with the median score of the unlabelled reviews.", {"threshold": lambda scores, own: 0 * scores.sum()}),
    ("own_median", "Your threshold is the median of the very reviews that are to be classified, so about half of them are always classified as positive. Use the unlabelled ones.", {"threshold": lambda scores, own: own.median()}),
    ("mean", "Your threshold is the mean. A few extreme scores shift a mean a lot: use the median.", {"threshold": lambda scores, own: scores.mean()}),
    ("own_mean", "Your threshold is the mean score of the reviews that are to be classified. Use the median of the unlabelled ones.", {"threshold": lambda scores, own: own.mean()}),
    ("all_together", "Your threshold is the median of both sets together. Use only the unlabelled reviews.", {"threshold": lambda scores, own: torch.cat([scores, own]).median()}),
    ("middle_of_unsorted", "You use the middle score of the unlabelled reviews without sorting them. The median is the middle one of the sorted scores.", {"threshold": lambda scores, own: scores[len(scores) // 2]}),
    ("halfway", "Your threshold is halfway between the smallest and the largest score. The median is the middle one of the sorted scores.", {"threshold": lambda scores, own: (scores.min() + scores.max()) / 2}),
    ("median_of_sizes", "You take the median of the absolute scores. Keep their signs.", {"threshold": lambda scores, own: scores.abs().median()}),
    ("exchanged", "The truth values are swapped: you return True if the score is below the threshold. A larger log probability of `positive`, compared with `negative`, indicates a positive review.", {"above": torch.lt}),
    ("probabilities", "You take the difference of probabilities. It is small whenever the model expects words other than these two: take the difference of their log probabilities.", {"score": _of_probabilities}),
    ("positive_alone", "You compare only the log probability of `positive`. It also depends on how likely all other words are: subtract the log probability of `negative`.", {"score": lambda logits, positive, negative: logits.log_softmax(-1)[:, positive]}),
    ("logit_of_positive_alone", "You compare only the logit of `positive`. Only differences between logits are meaningful: subtract the logit of `negative`.", {"score": lambda logits, positive, negative: logits[:, positive]}),
    ("softmax_over_reviews", "Your softmax is over the reviews. Each review has its own distribution over the vocabulary: take the last axis.", {"score": lambda logits, positive, negative: logits.log_softmax(0)[:, positive] - logits.log_softmax(0)[:, negative]}),
    ("ratio", "You divide one log probability by the other. The logarithm of a ratio is a difference: subtract them.", {"score": lambda logits, positive, negative: logits.log_softmax(-1)[:, positive] / logits.log_softmax(-1)[:, negative]}),
    ("sum", "You add the two log probabilities. Subtract the log probability of `negative`.", {"score": lambda logits, positive, negative: logits.log_softmax(-1)[:, [positive, negative]].sum(-1)}),
    ("absolute", "You take the absolute value of the difference. Its sign tells you which side a review is on.", {"score": lambda logits, positive, negative: _difference(logits, positive, negative).abs()}),
):  # fmt: skip
    task.mistake(_sentence, _name)(lambda *given, changes=_changes: _classified(*given, **changes))


@task.mistake(
    "You ask which reviews have `positive` as their most probable next token. Compare it only with `negative`, and with the usual difference."
)
def most_probable(logits, unlabelled, positive, negative):
    return logits.argmax(-1) == positive


@task.mistake(
    "You subtract a median from each of the two log probabilities and compare the results. The median of a difference is not the difference of medians: take the difference first."
)
def two_medians(logits, unlabelled, positive, negative):
    log_p, others = logits.log_softmax(-1), unlabelled.log_softmax(-1)
    usual = others[:, positive].median() - others[:, negative].median()
    return log_p[:, positive] - log_p[:, negative] > usual


@task.mistake("You return the scores. Return for each review whether its score is above the threshold: True or False.")
def scores_themselves(logits, unlabelled, positive, negative):
    return _difference(logits, positive, negative)


@task.mistake("You return the scores minus the threshold. Return whether each is above 0: True or False.")
def centred_scores(logits, unlabelled, positive, negative):
    return _difference(logits, positive, negative) - _difference(unlabelled, positive, negative).median()


@task.mistake(
    "You classify the unlabelled reviews. They are there only for the threshold: classify the rows of `logits`."
)
def unlabelled_classified(logits, unlabelled, positive, negative):
    return _classified(unlabelled, unlabelled, positive, negative)


@task.mistake(
    "The two sets of reviews are swapped: the threshold comes from the unlabelled ones, and the rows of `logits` are to be classified."
)
def sets_exchanged(logits, unlabelled, positive, negative):
    return _classified(unlabelled, logits, positive, negative)
