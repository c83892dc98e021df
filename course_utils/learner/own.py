"""What the exercises of lessons 12 and 21 end with: the learner's own layers, or model, trained. Not here: what is around them
(`models/assembled.py`, `models/speaking.py`)."""

from course_utils.checks.answer import judge_answer
from course_utils.learner.notebook import Message
from course_utils.lessons import tasks
from course_utils.models.assembled import train_assembled
from course_utils.models.speaking import go_on, ids_of, train_speaker


def train_own(encoder_layer, decoder_layer) -> Message:
    """Train a Transformer made of a learner's layers, some ten seconds, and say what share of words it gets right.

    Layers that do not pass their checks yet are not trained.
    """
    for task_id, layer in (("12.encoder_layer", encoder_layer), ("12.decoder_layer", decoder_layer)):
        if problem := _not_yet(task_id, layer):
            return Message(f"{problem} Once both layers pass, run this cell again.")
    share = train_assembled(encoder_layer, decoder_layer)
    return Message(f"Your Transformer gets {share:.3f} of the words right.")


def speak_own(gpt, prompt="mary went to the ") -> Message:
    """Train a learner's GPT on stories, ten to twenty seconds, and show what it writes after a prompt.

    One that does not pass its check yet is not trained. Raises `CourseError` for a prompt with letters that it does not know.
    """
    if problem := _not_yet("21.gpt", gpt):
        return Message(f"{problem} Once it passes, run this cell again.")
    ids_of(prompt)
    model, bits = train_speaker(gpt)
    return Message(
        f"Your GPT needs {bits:.2f} bits per letter of stories that it has not seen. It writes: {go_on(model, prompt)}"
    )


def _not_yet(task_id, answer):
    """Say that an answer does not pass its check, or nothing where it does."""
    task = tasks.load(task_id)
    if judge_answer(task, answer).state == "passed":
        return None
    return f"{task.answer_name} does not pass its check yet: check({task_id!r}, {task.answer_name}) says why."
