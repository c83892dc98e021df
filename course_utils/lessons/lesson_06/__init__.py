"""Lesson 06. Its tasks are in this folder, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="06",
    title="Seq2Seq with attention",
    question="What if the decoder could look back?",
    goals=(
        "say what the decoder gets that it did not have in lesson 05, and compute one look back by hand",
        "tell Bahdanau's decoder from Luong's by its query and by what it does with the context",
        "say what looking back changes for long sentences, and where its help ends",
        "compare weights with known links by the alignment error rate",
        "say what attention costs, and why some scores are of no use to a decoder",
    ),
    needs="lessons 03 and 04: queries, keys, values, scores; lesson 05: encoder, decoder, teacher forcing",
    reading=60,
    runs="a minute",
)
