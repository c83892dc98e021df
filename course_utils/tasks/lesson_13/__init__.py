"""Lesson 13. Its tasks are in this folder, one file each."""

from course_utils.checks.lesson import Lesson

# TO REPLACE with the lesson's text: question, goals, needs, reading and runs are placeholders.
lesson = Lesson(
    number="13",
    title="How is it trained, and what does it know?",
    question="How is it trained, and what does it know?",
    goals=("take a step of Adam with its rate, its loss and its batches by hand",),
    needs="lesson 12: the Transformer",
    reading=60,
    runs="five minutes",
)
