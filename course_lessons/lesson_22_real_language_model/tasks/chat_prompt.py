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
MARKED = ("{} is 100% {default}.", "Is {} < 5% & {content} > 1?", r"{} of {role} ends in \n, 7% in \t.")
QUOTED = ("What does <|im_end|> mean?", "Why does it end in <|im_end|>?")
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
    # Whatever a content or a default consists of, it is written as it is.
    marked = [{"role": "user", "content": MARKED[int(i)]} for i in draw.distinct(3, 0, 3)]
    yield Case("braces, percent signs and backslashes in the content", (marked, one(DEFAULTS)), edge=True)
    yield Case("braces and a newline in the default", (dialogue(1), f" {one(MARKED)}\n"), edge=True)
    yield Case("the end marker in the content", ([message("user", QUOTED), *dialogue(1)], one(DEFAULTS)), edge=True)
    lines = [{"role": "user", "content": f"def f():\n    return 1\n\n\n{one(QUESTIONS)}"}]
    yield Case("empty and indented lines in the content", (lines, one(DEFAULTS)), edge=True)
    empty = [message("user", QUESTIONS), {"role": "assistant", "content": ""}, message("user", QUESTIONS)]
    yield Case("an empty content", (empty, one(DEFAULTS)), edge=True)
    yield Case("an empty default", (dialogue(1), ""), edge=True)
    again = message("user", QUESTIONS)
    yield Case("the same message twice", ([again, dict(again)], one(DEFAULTS)), edge=True)
    answered = [message("assistant", ANSWERS), *dialogue(1)]
    yield Case("the assistant's message comes first", (answered, one(DEFAULTS)), edge=True)
    tool = [*dialogue(1), message("tool", ANSWERS), message("Ada", ANSWERS)]
    yield Case("roles that are neither system nor user nor assistant", (tool, one(DEFAULTS)), edge=True)


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
