"""What lesson 12's exercises end with: the learner's own layers, put together and trained. Not here: the model around them (`models/assembled.py`)."""

from course_utils import tasks
from course_utils.checks.answer import judge_answer
from course_utils.learner.notebook import Message
from course_utils.models.assembled import train_assembled


def train_own(encoder_layer, decoder_layer) -> Message:
    """Train a Transformer made of a learner's layers, some ten seconds, and say what share of words it gets right.

    Layers that do not pass their checks yet are not trained.
    """
    for task_id, layer in (("12.encoder_layer", encoder_layer), ("12.decoder_layer", decoder_layer)):
        task = tasks.load(task_id)
        if judge_answer(task, layer).state != "passed":
            return Message(
                f"{task.answer_name} does not pass its check yet: check({task_id!r}, {task.answer_name}) says why. Once both layers pass, run this cell again."
            )
    share = train_assembled(encoder_layer, decoder_layer)
    return Message(f"Your Transformer gets {share:.3f} of the words right.")
