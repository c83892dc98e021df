"""Task 04.dot: the dot-product score."""

from operator import matmul

from course_lessons.lesson_04_alignment_scores.tasks._scores import score_task

task = score_task(
    __name__,
    "the dot-product score",
    ("state B×T×D", "hidden B×S×D"),
    "scores B×T×S",
    difficulty=1,
    importance=5,
    minutes=5,
)


@task.steps
def _(state, hidden):
    scores = yield "the product of state and hidden", matmul, state, hidden.mT
    return scores
