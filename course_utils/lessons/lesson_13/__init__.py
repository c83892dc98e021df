"""Lesson 13. Its tasks are in this folder, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="13",
    title="Training it",
    question="How is it trained, and what does it know?",
    goals=(
        "read a training loop, and say which of its lines each part of a recipe changes",
        "compute a step of Adam by hand, and say how it differs from a step of SGD",
        "say what label smoothing asks for, what dropout does in training and in use, and what batches by tokens save",
        "read ablations by paired differences, and say what they show and what they do not",
        "say what a cache keeps while decoding, and what BERT and GPT keep of a Transformer",
    ),
    needs="lesson 12: the whole Transformer; lesson 07: greedy search",
    reading=60,
    runs="half a minute",
)
