"""Task 22.chat_prompt: a dialogue as the text that SmolLM2 was trained on, as the template in its file writes it."""

from os.path import commonprefix

from course_lessons.shared.partial_credit import EDGE, SIDE_EFFECT
from course_utils.checks.task import Case, Task

START, END = "<|im_start|>", "<|im_end|>"

task = Task(
    __name__,
    "a dialogue as one text",
    arguments=("messages", "default"),
    result="prompt",
    difficulty=2,
    importance=4,
    minutes=15,
    partial=EDGE | SIDE_EFFECT,
)

QUESTIONS = ("Hi", "Why is the sky blue?", "Two lines,\nplease.", "What is 7 + 5?", "Who was Goethe?", "And then?")
ANSWERS = ("Hello!", "Because of the air.", "One.\nTwo.", "12", "A poet.", "It became late.")
DEFAULTS = ("You are helpful.", "You are a helpful AI assistant named SmolLM", "Answer in one word.")


@task.cases
def _(draw):
    def one(texts):
        return texts[int(draw.whole(0, len(texts)))]

    def message(role, texts):
        return {"role": role, "content": one(texts)}

    def dialogue(turns):
        first = [message("user", QUESTIONS)]
        return first + [
            message(*pair) for _ in range(turns - 1) for pair in (("assistant", ANSWERS), ("user", QUESTIONS))
        ]

    for turns in (1, 2, 3):
        yield Case(f"{turns} of the user's messages, no system message", (dialogue(turns), one(DEFAULTS)))
    for turns in (1, 2):
        system = message("system", ("Speak like a pirate.", "You are a poet."))
        yield Case(f"a system message and {turns} of the user's", ([system, *dialogue(turns)], one(DEFAULTS)))
    yield Case("the assistant's message comes last", (dialogue(2)[:2], one(DEFAULTS)), edge=True)
    later = [*dialogue(1), message("system", ("Be brief.", "Be kind.")), *dialogue(1)]
    yield Case("a system message that does not come first", (later, one(DEFAULTS)), edge=True)
    spaced = [{"role": "user", "content": f"  {one(QUESTIONS)} \n"}]
    yield Case("spaces and a newline around the content", (spaced, one(DEFAULTS)), edge=True)


@task.oracle
def prompt(messages, default):
    added = [] if messages[0]["role"] == "system" else [{"role": "system", "content": default}]
    texts = [f"{START}{each['role']}\n{each['content']}{END}\n" for each in added + messages]
    return "".join(texts) + f"{START}assistant\n"


@task.property
def agrees_to_the_end(case, value):
    """The text differs from the right one nowhere."""
    right = prompt(*case.args)
    if not isinstance(value, str) or value == right:
        return None
    n = len(commonprefix([value, right]))
    before = f"right up to {right[max(0, n - 20) : n]!r}" if n else "wrong from the start"
    yours, wanted = (repr(text[n : n + 15]) if text[n:] else "nothing" for text in (value, right))
    return f"Your text is {before}. There, {yours} follows, but {wanted} was expected."
