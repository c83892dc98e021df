"""Lesson 09. Its tasks are in `tasks/`, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="09",
    title="Self-attention",
    question="What if every word looks at every word at once?",
    goals=(
        "compute self-attention in three ways: by hand, in a loop and with matrix products",
        "say why self-attention ignores the order of words and test whether a model does",
        "hide later words with a mask and test whether a model respects it",
        "compare four kinds of layers by their work, their sequential steps and their longest path",
        "tell what a layer cannot learn from how far it can see",
    ),
    needs="lessons 03 and 04: queries, keys, values, masks, the scaled dot product; lesson 05: recurrent networks",
    reading=55,
    runs="half a minute",
)
