"""Lesson 05. Its tasks are in `tasks/`, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="05",
    title="Seq2Seq",
    question="Can one vector hold a sentence?",
    goals=(
        "write one step of a recurrent network and say what a gate is for",
        "say what an encoder, a decoder and teacher forcing are, and compute the loss of a translation and its perplexity, leaving out the padding",
        "say how long a sentence one vector can hold here and what changes with a larger vector and more training",
        "measure how much of a translation comes from the vector, and draw a map of sentence vectors",
        "turn real sentences into batches with a vocabulary and a `DataLoader`",
    ),
    needs="lessons 00 and 01 (tensors, training), softmax from lesson 02 and masks from lesson 03",
    reading=55,
    runs="a minute",
)
