"""Lesson 13. Its tasks are in `tasks/`, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="13",
    title="Training it",
    question="How is a Transformer trained, and what has it learned?",
    goals=(
        "write a training loop that keeps the best weights and say what each of its lines does",
        "compute a step of Adam by hand and say how it differs from a step of SGD",
        "say what label smoothing asks for and what dropout does in training and in use",
        "read ablations by paired differences and say what they show and what they do not",
        "say what the translation model has learned from its captions",
    ),
    needs="lesson 12: the whole Transformer; lesson 07: BLEU and greedy search",
    reading=70,
    runs="a minute and a half",
)
