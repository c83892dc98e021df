"""Task 04.dot: the dot-product score."""

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
