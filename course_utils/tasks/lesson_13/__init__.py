"""Lesson 13. Its tasks are in this folder, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="13",
    title="Training it",
    question="How is it trained, and what does it know?",
    goals=(
        "compute a step of Adam by hand, and say why a Transformer learns better with it than with SGD",
        "say what lowest loss label smoothing allows, what dropout does in training and in use, and what batches by tokens save",
        "read a table of ablations by paired differences, and say what it shows and what it does not",
        "estimate the operations of a training run from its weights and tokens",
        "say what a cache keeps while decoding, and what BERT and GPT keep of a Transformer",
    ),
    needs="lesson 12: the whole Transformer; lesson 07: greedy search",
    reading=60,
    runs="two minutes",
)
