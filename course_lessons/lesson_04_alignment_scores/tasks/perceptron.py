"""Task 04.perceptron: a small network with a matrix for each side."""

from course_lessons.lesson_04_alignment_scores.tasks._scores import score_task

task = score_task(
    __name__,
    "a small network with one matrix for each side",
    ("state B×T×D", "hidden B×S×E", "weight_s A×D", "weight_h A×E", "v A"),
    "scores B×T×S",
    difficulty=3,
    importance=4,
    minutes=10,
)
