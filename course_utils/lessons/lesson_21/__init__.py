"""Lesson 21. Its tasks are in this folder, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="21",
    title="A GPT of one's own",
    question="What is inside the models that we use every day?",
    goals=(
        "write a decoder-only Transformer, train it, and say how far it is from the best that any model could do",
        "say what temperature, top-k and nucleus do to the next character's probabilities",
        "write RMSNorm and SwiGLU, say which keys and values each head uses with grouped queries, and compute how large a cache is",
        "compute a softmax in one pass, block by block, and say what that saves",
        "say in which two steps an induction head copies, and test whether a head is one",
    ),
    needs="lesson 11: positions; lesson 12: the Transformer; lesson 13: the cache",
    reading=60,
    runs="one minute",
)
