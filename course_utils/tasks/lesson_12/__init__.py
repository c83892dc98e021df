"""Lesson 12. Its tasks are in this folder, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="12",
    title="The Transformer",
    question="What else does attention need to become a translator?",
    goals=(
        "show what attention alone does to words, and what a residual connection changes",
        "compute a feed-forward network and a layer norm by hand",
        "tell pre-norm from post-norm, and say why one of them needs a warm-up",
        "name the three attentions of a Transformer with their queries, keys and masks",
        "test whether later words or padding change what a model says",
    ),
    needs="lesson 10: several heads, masks; lesson 11: positions",
    reading=60,
    runs="a minute",
)
