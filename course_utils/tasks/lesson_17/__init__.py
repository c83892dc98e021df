"""Lesson 17. Its tasks are in this folder, one file each."""

from course_utils.checks.lesson import Lesson

lesson = Lesson(
    number="17",
    title="Neural Turing machines",
    question="Can attention write?",
    goals=(
        "say how weights over places let a network read, erase and add, and why all of it has gradients",
        "compute by hand where a head goes: content, interpolation, shift and sharpening",
        "say why such a memory can copy sequences longer than those it was trained on, and check it against an LSTM",
        "say what the neural Turing machine lacks that allocation and temporal links add",
        "name what makes such machines hard to train, and measure it over several seeds",
    ),
    needs="lesson 04: cosine scores; lesson 16: memories and hops",
    reading=60,
    runs="two minutes",
)
