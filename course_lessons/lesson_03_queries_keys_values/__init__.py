"""Lesson 03. Its tasks are in `tasks/`, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="03",
    title="Queries, keys, values",
    question="What if the sentence asks its own question?",
    goals=(
        "rewrite fixed attention as queries, keys and values",
        "compute the three steps by hand and as $\\mathrm{Attention}(Q, K, V)$",
        "use the words of a sentence as queries and say what the learned projections are for",
        "mask padding and later words",
    ),
    needs="lesson 02 (weighted sums, softmax, fixed attention)",
    reading=55,
    runs="half a minute",
)
