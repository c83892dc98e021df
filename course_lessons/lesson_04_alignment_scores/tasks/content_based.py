"""Task 04.content_based: the cosine of the angle."""

from course_lessons.lesson_04_alignment_scores.tasks._scores import score_task
from course_lessons.shared.weight_properties import cosines_reach_far_enough, zeros_only_for_zero_vectors

task = score_task(
    __name__,
    "the cosine of the angle",
    ("state B×T×D", "hidden B×S×D"),
    "scores B×T×S",
    partial={"zero_gives_nan": (0.75, "right wherever no vector is zero.")},
    difficulty=2,
    importance=3,
    minutes=5,
)


@task.property
def nothing_is_added_to_the_lengths(case, value):
    return cosines_reach_far_enough(value, task.oracle_function(*(argument.double() for argument in case.args)))


@task.property
def only_zero_vectors_give_zero(case, value):
    state, hidden = (argument.double() for argument in case.args)
    return zeros_only_for_zero_vectors(value, task.oracle_function(state, hidden), state[:, :, None], hidden[:, None])
