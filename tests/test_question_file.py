"""A lesson's file of questions: what is read from it, and the one sentence for each way in which it can be wrong."""

import pytest

from course_utils.base.errors import CourseError
from course_utils.checks import catalogue
from course_utils.checks.question import NumberQuestion, Prediction, Question
from course_utils.checks.question_file import read_questions

FILE = """# Lesson 04: questions and predictions

A note for authors.

## 04.q1: two widths

Why do two
widths differ?

- [x] Because they
  are two.
  > That is what the
  > word says.
- [ ] By chance.
  > They always do.

## 04.q2: three words

How much?

- [x] 0.25 ± 0.01
  > One of four.
- [ ] -0.5
  > Too low.
- [ ] otherwise
  > Count again.

## 04.wide

How large, from 0 to 1?

> It grows.

## 04.which

Which one?

- dot
- scaled dot

> The first.
"""
QUESTIONS = [
    Question(
        "04.q1",
        "two widths",
        "Why do two widths differ?",
        right=("Because they are two.", "That is what the word says."),
        wrong=(("By chance.", "They always do."),),
    ),
    NumberQuestion(
        "04.q2",
        "three words",
        "How much?",
        answer=0.25,
        tolerance=0.01,
        why="One of four.",
        wrong={-0.5: "Too low."},
        otherwise="Count again.",
    ),
]
PREDICTIONS = [
    Prediction("04.wide", "How large, from 0 to 1?", "It grows."),
    Prediction("04.which", "Which one?", "The first.", ("dot", "scaled dot")),
]


def read(tmp_path, text):
    file = tmp_path / "questions.md"
    file.write_text(text, encoding="utf-8")
    return read_questions(file, "04")


def test_questions_and_predictions_are_read(tmp_path):
    assert read(tmp_path, FILE) == (QUESTIONS, PREDICTIONS)
    assert read(tmp_path, "") == ([], [])


@pytest.mark.parametrize(
    "old, new, line, said",
    [
        ("## 04.q1: two", "## 05.q1: two", 5, "expected a heading such as `## 04.q1: a title` or `## 04.name`"),
        ("## 04.q1: two widths", "##04.q1", 5, "expected a heading"),
        ("## 04.q2: three", "## 04.q1: three", 17, "04.q1 occurs twice"),
        ("Why do two\nwidths differ?\n", "\n", 5, "04.q1 asks nothing: write the question below its heading"),
        ("  > They always do.\n", "", 14, "an option needs, on the line below it, `  > ` and why it is right or wrong"),
        ("- [ ] By", "- [x] By", 5, "04.q1 needs one option that begins with `- [x]`, not 2"),
        ("- [x] Because", "- [ ] Because", 5, "04.q1 needs one option that begins with `- [x]`, not 0"),
        ("- [ ] By chance", "- By chance", 14, "an option begins with `- [ ]`, or `- [x]` if it is right"),
        ("- [ ] -0.5", "- [ ] low", 17, "04.q2 asks for a number, but its option 'low' is not one"),
        ("\n> It grows.\n", "", 28, "04.wide needs a line that begins with `> ` and says why"),
        ("- dot\n", "- [x] dot\n", 38, "a choice of a prediction begins with `- ` and has no explanation of its own"),
    ],
)
def test_an_unreadable_question_file_is_named_with_its_line(tmp_path, old, new, line, said):
    assert FILE.count(old) == 1
    with pytest.raises(CourseError) as error:
        read(tmp_path, FILE.replace(old, new))
    assert f"questions.md, line {line}: {said}" in str(error.value)


def test_a_share_to_predict_says_that_it_goes_from_0_to_1():
    numbers = [
        each for lesson in catalogue.by_lesson() for each in catalogue.predictions_of(lesson) if not each.choices
    ]
    shares = [each for each in numbers if "share" in each.text]
    assert len(shares) > 20 and [each.id for each in shares if "from 0 to 1" not in each.text] == []


def test_a_prediction_asks_a_question_and_offers_words():
    every = [each for lesson in catalogue.by_lesson() for each in catalogue.predictions_of(lesson)]
    assert len(every) > 60
    assert [each.id for each in every if not each.text.endswith("?")] == []
    assert [each.id for each in every if any(len(choice) < 3 for choice in each.choices)] == []
