"""Lesson 16. Its tasks are in `tasks/`, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="16",
    title="Memory networks",
    question="Can it reason over what it read?",
    goals=(
        "say how a sentence becomes a memory, and what is lost without the order of its words or without its age",
        "compute one hop by hand: the weights, what is read, and the question that is asked next",
        "say why an answer that rests on two facts needs a second hop",
        "measure whether each hop looks at the facts that an answer rests on, and find a shortcut behind a good score",
        "say which kind of question such a network learns late, and test one possible reason",
    ),
    needs="lesson 03: queries, keys and values; lesson 11: positions",
    reading=55,
    runs="a minute",
)
