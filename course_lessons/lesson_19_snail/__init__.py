"""Lesson 19. Its tasks are in `tasks/`, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="19",
    title="SNAIL",
    question="Can a network learn from five examples?",
    goals=(
        "say what a network learns when every batch contains new tasks, and what is left to learn from five examples",
        "compute a causal dilated convolution by hand, and say how many are needed to see a whole sequence",
        "say what convolutions and attention each contribute to SNAIL, and show it by leaving one of them out",
        "find out whether a model sees a label it should predict",
        "say what a model reads from its examples and what its weights hold, and how the number of classes in training changes this",
    ),
    needs="lesson 03: queries, keys and values; lesson 09: masks for the future",
    reading=55,
    runs="a minute",
)
