"""Lesson 06. Its tasks are in this folder, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="06",
    title="Seq2Seq with attention",
    question="What if the decoder could look back?",
    goals=(
        "write one step of a decoder that looks back at the source, as Bahdanau and as Luong do it",
        "unroll such a decoder over the words of a translation, in training",
        "measure how far attention weights agree with alignments that people have made",
        "test whether a decoder looks at the source at all, and at nothing that it should not see",
    ),
    needs="lesson 05: encoder, decoder and GRU; lesson 04: alignment scores; masks from lesson 03",
    reading=75,
    runs="half a minute",
)
