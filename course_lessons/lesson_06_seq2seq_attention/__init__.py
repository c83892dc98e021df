"""Lesson 06. Its tasks are in `tasks/`, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="06",
    title="Seq2Seq with attention",
    question="Where does the decoder look?",
    goals=(
        "compute one look by hand and name its query, keys, values and context",
        "build a decoder that looks back, with attention as a module",
        "compare weights with known links, using the alignment error rate",
        "explain what looking back changes for long sentences, where it helps less and what it costs",
        "tell Bahdanau's decoder from Luong's by its query and by what reads the context",
    ),
    needs="lessons 03 and 04 (queries, keys, values, scores) and lesson 05 (encoder, decoder, teacher forcing)",
    reading=55,
    runs="two minutes",
)
