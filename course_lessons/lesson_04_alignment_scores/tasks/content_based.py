"""Task 04.content_based: the cosine of the angle."""

from operator import matmul

import torch
from torch.nn.functional import normalize

from course_lessons.lesson_04_alignment_scores.tasks._scores import score_task, shared_mistakes
from course_lessons.shared.weight_properties import cosines_reach_far_enough
from course_utils.checks.reference_trace import left_out

task = score_task(
    "content_based",
    "the cosine of the angle",
    ("state B×T×D", "hidden B×S×D"),
    "scores B×T×S",
    (
        "Only the angle counts: a hidden state twice as long gets the same score.",
        (
            "Take the state [2, 0] and the hidden states [3, 4] and [0, 0]. The first dot product is 6 and the lengths are 2 and 5, so the score "
            "is 6 / (2·5) = 0.6. The second hidden state has length 0 and no direction, and 0/0 is not a number: its score is 0."
        ),
        (
            "Divide each vector by its own norm (and leave zero vectors zero), then take dot products. torch.nn.functional.normalize(…, dim=-1) "
            "does the first part."
        ),
    ),
    {"zero_gives_nan": (0.75, "right wherever no vector is zero.")},
    difficulty=2,
    importance=3,
    minutes=5,
)


@task.steps
def _(state, hidden):
    unit_state = yield "state at length 1", lambda state: normalize(state, dim=-1), state
    unit_hidden = yield "hidden at length 1", lambda hidden: normalize(hidden, dim=-1), hidden
    scores = yield "the product of the two", matmul, unit_state, unit_hidden.mT
    return scores


@task.property
def nothing_is_added_to_the_lengths(case, value):
    return cosines_reach_far_enough(value, task.oracle_function(*(argument.double() for argument in case.args)))


def both(change):
    return dict.fromkeys(("state at length 1", "hidden at length 1"), change)


task.changed_each(
    ("dot_product", "These are dot products: long vectors get large scores. Divide by both lengths.", both(left_out)),
    ("state_length_missing", "You divide only by the length of the hidden state. Divide by the length of the state too.", {"state at length 1": left_out}),
    ("hidden_length_missing", "You divide only by the length of the state. Divide by the length of the hidden state too.", {"hidden at length 1": left_out}),
    ("zero_gives_nan", "A zero vector gives 0/0, which is NaN. It has no direction, so return 0 there.", both(lambda vectors: vectors / vectors.norm(dim=-1, keepdim=True))),
    ("norm_of_everything", "You divide by the norm of everything together. Each vector has its own length: take the norm over the last axis.", both(lambda vectors: vectors / vectors.norm())),
    ("squared_lengths", "You divide by the squared lengths: the square root is missing.", both(lambda vectors: torch.nan_to_num(vectors / vectors.square().sum(-1, keepdim=True)))),
    ("wrong_axis", "You normalise along the wrong axis: over the positions. Normalise over the features, the last axis.", both(lambda vectors: normalize(vectors, dim=1))),
)  # fmt: skip
shared_mistakes(task, "the product of the two")


def divided_by(lengths):
    """The product divided by `lengths` of the norms of state, B×T, and of hidden, B×S; 0 where that is NaN."""

    def scores(_, *, state, hidden):
        return torch.nan_to_num(state @ hidden.mT / lengths(state.norm(dim=-1), hidden.norm(dim=-1)))

    return {"result": scores}


task.changed(
    "lengths_without_axes",
    "The lengths have lost an axis. The lengths of state are B×T, the lengths of hidden are B×S, and the scores are B×T×S. Give the first a new axis at the end, `[:, :, None]`, and the second a new axis in the middle, `[:, None]`. Without these axes, this runs only if the sizes happen to fit, and may then give an incorrect result.",
    divided_by(lambda of_state, of_hidden: of_state * of_hidden),
)
task.changed(
    "state_lengths_without_axis",
    "The lengths of state are B×T, and the scores are B×T×S: the lengths need an axis for the hidden states at the end, `[:, :, None]`. Without it, they line up with the wrong axes, if this runs at all.",
    divided_by(lambda of_state, of_hidden: of_state * of_hidden[:, None]),
)
task.changed(
    "hidden_lengths_without_axis",
    "The lengths of hidden are B×S, and the scores are B×T×S: the lengths need an axis for the states in the middle, `[:, None]`. Without it, they line up with the wrong axes, if this runs at all.",
    divided_by(lambda of_state, of_hidden: of_state[:, :, None] * of_hidden),
)
task.changed(
    "both_lengths_kept",
    "With keepdim=True, the lengths of state are B×T×1, which is right, and the lengths of hidden are B×S×1. Hidden states lie along the last axis of the scores, so their lengths have to be B×1×S: swap the last two axes.",
    divided_by(lambda of_state, of_hidden: of_state[..., None] * of_hidden[..., None]),
)
