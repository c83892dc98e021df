"""Lesson 12. Its tasks are in `tasks/`, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="12",
    title="The Transformer",
    question="What turns attention into a translator?",
    goals=(
        "show what attention alone does to words, and what a residual connection changes",
        "compute a feed-forward network and a layer norm by hand",
        "tell pre-norm from post-norm and say what norms are for",
        "write an encoder layer and a decoder layer, with their attention layers and masks",
        "tell from the way a model fails which of its parts is missing",
    ),
    needs="lesson 05: teacher forcing; lesson 10: several heads, masks; lesson 11: positions",
    reading=90,
    runs="a minute and a half",
)
