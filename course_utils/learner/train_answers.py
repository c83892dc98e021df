"""The end of an exercise that trains a learner's own functions, once they pass their checks. Not here: what is trained, and how."""

from collections.abc import Callable, Mapping

from course_utils.checks import catalogue
from course_utils.checks.judge_answer import judge_answer
from course_utils.learner.notebook import Message


def train_own(train: Callable, answers: Mapping[str, object]):
    """Call `train` with a learner's answers, in their order, and return what it returns.

    Answers that do not pass their checks yet are not used: then a message says which one does not.

    Args:
        train: function(*answers).
        answers: the id of each task, and what the learner has written for it.
    """
    for task_id, answer in answers.items():
        task = catalogue.load(task_id)
        if judge_answer(task, answer).state != "passed":
            why = f"check({task_id!r}, {task.answer_name}) says why."
            return Message(
                f"{task.answer_name} does not pass its check yet: {why} Once it passes, run this cell again."
            )
    return train(*answers.values())
