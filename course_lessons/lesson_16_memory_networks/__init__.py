"""Lesson 16. Its tasks are in `tasks/`, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="16",
    title="Memory networks",
    question="Can a network reason about what it has read?",
    goals=(
        "say how a sentence becomes a memory, and what is lost if word order or the age of the fact is ignored",
        "compute one hop, a pass over all the facts, by hand: the weights, what is read and the next question",
        "say why an answer that rests on two facts needs a second hop",
        "measure whether each hop looks at the facts that an answer rests on, and find a shortcut behind a good score",
        "say which kind of question such a network learns late, and test one possible reason",
    ),
    needs="lesson 03: queries, keys and values; lesson 11: positions",
    reading=55,
    runs="a minute",
)
