"""Task 22.chat_prompt: a dialogue as the text that SmolLM2 was trained on, as the template in its file writes it."""

from os.path import commonprefix

from course_lessons.shared.partial_credit import EDGE, SIDE_EFFECT
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task

START, END = "<|im_start|>", "<|im_end|>"

task = Task(
    "22.chat_prompt",
    "a dialogue as one text",
    arguments=("messages", "default"),
    result="prompt",
    difficulty=2,
    importance=4,
    minutes=15,
    hints=(
        "Every message is written in the same form, whoever is speaking. The system message that may have to be added is a message like any other, and the last line is the beginning of a message.",
        "Take a single user message, Hi, and a default of Be brief. The text has 3 messages, and the last of them is open. The first line is <|im_start|>system, the second Be brief<|im_end|>. Then come <|im_start|>user, Hi<|im_end|> and <|im_start|>assistant, so there are 5 lines, and each of them ends with a newline. The end marker occurs 2 times.",
        "if the role of the first message is not system: put a system message with the default in front, in a new list; for each message, append the start marker, the role, a newline, the content, the end marker and a newline; append the start marker, assistant and a newline.",
    ),
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


def prompt(
    messages,
    default,
    needs_system=lambda messages: messages[0]["role"] != "system",
    form=START + "{role}\n{content}" + END + "\n",
    between="",
    before=lambda text: text,
    opening=START + "assistant\n",
    content=lambda content: content,
    added=lambda messages, default: [{"role": "system", "content": default}, *messages],
):
    """The text of a dialogue; mistakes change a part of it."""
    messages = added(messages, default) if needs_system(messages) else messages
    texts = [form.format(role=each["role"], content=content(each["content"])) for each in messages]
    return before(between.join(texts)) + opening


@task.oracle
def _(messages, default):
    return prompt(messages, default)


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


CLOSED = START + "{role}\n{content}" + END


def _without_newlines(text):
    return text.rstrip("\n")


for _name, _sentence, _changes in (
    ("not_opened", f"The text ends after the last message, so the model would have to guess who speaks next. End it with {START}assistant and a newline.", {"opening": ""}),
    ("opening_without_newline", "The newline after the last word, assistant, is missing. In training, every role was followed by a newline.", {"opening": START + "assistant"}),
    ("opening_is_closed", f"You close the assistant's message with {END}, so the model has nothing left to say. Leave it open.", {"opening": START + "assistant\n" + END}),
    ("opening_is_closed_in_a_line", f"You write an empty assistant message, which ends with {END}. Leave it open: the model writes the content and the end marker.", {"opening": START + "assistant\n" + END + "\n"}),
    ("opening_without_start", f"The last line contains only the role. Each message begins with {START}, including the one that the model is to write.", {"opening": "assistant\n"}),
    ("opening_with_space", "The text ends with a space. Nothing should follow the last newline.", {"opening": START + "assistant\n "}),
    ("opening_for_user", "The last line says that the user speaks next. The model is the assistant.", {"opening": START + "user\n"}),
    ("no_newline_after_end", f"The newline after {END} is missing: each message begins on a new line.", {"form": CLOSED}),
    ("space_after_end", f"A space follows {END}. A newline should follow instead.", {"form": CLOSED + " "}),
    ("newline_before_end", f"There is one newline too many, between the content and {END}. The end marker directly follows the content.", {"form": START + "{role}\n{content}\n" + END + "\n"}),
    ("blank_line_between", "There is an empty line between messages. Only one newline follows each message.", {"between": "\n"}),
    ("blank_line_after_each", "There is an empty line after each message. Only one newline follows each message.", {"form": CLOSED + "\n\n"}),
    ("space_after_role", "A space follows the role. A newline should follow instead.", {"form": START + "{role} {content}" + END + "\n"}),
    ("colon_after_role", "There is a colon after the role. The form has none: a newline follows the role.", {"form": START + "{role}:\n{content}" + END + "\n"}),
    ("colon_and_space_after_role", "You write the role with a colon and the content on the same line, as in a play. The role is followed only by a newline.", {"form": START + "{role}: {content}" + END + "\n"}),
    ("nothing_after_role", "There is nothing between the role and the content, so they become one word. Put a newline between them.", {"form": START + "{role}{content}" + END + "\n"}),
    ("newline_after_start", f"There is one newline too many, between {START} and the role. The role directly follows the marker.", {"form": START + "\n{role}\n{content}" + END + "\n", "opening": START + "\nassistant\n"}),
    ("space_after_start", f"There is a space between {START} and the role. The role directly follows the marker.", {"form": START + " {role}\n{content}" + END + "\n", "opening": START + " assistant\n"}),
    ("not_closed", f"The messages are not closed. Write {END} after the content of each.", {"form": START + "{role}\n{content}\n"}),
    ("no_roles", "The roles are missing. Write the role of each message right after the start marker.", {"form": START + "{content}" + END + "\n"}),
    ("content_stripped", "You strip the content. Write it as it is: spaces and newlines change its tokens.", {"content": str.strip}),
    ("stripped_before_opening", "The newline before the last line is missing. Do not strip the text: a newline also follows the last message.", {"before": _without_newlines}),
    ("never_a_system_message", "The default is never used. If the first message is not from the system, put a system message with the default before it.", {"needs_system": lambda messages: False}),
    ("always_a_system_message", "You put the default first even if the dialogue has its own system message. Add it only if the first message is not from the system.", {"needs_system": lambda messages: True}),
    ("system_anywhere", "You leave out the default if any message is from the system. Only the first message counts.", {"needs_system": lambda messages: all(each["role"] != "system" for each in messages)}),
    ("system_the_wrong_way_round", "You add the default if there is a system message and leave it out if there is none. It should be the other way round.", {"needs_system": lambda messages: messages[0]["role"] == "system"}),
    ("system_last", "You put the default system message after the others. It comes first.", {"added": lambda messages, default: [*messages, {"role": "system", "content": default}]}),
    ("default_from_user", "You write the default as a user message. Its role is system.", {"added": lambda messages, default: [{"role": "user", "content": default}, *messages]}),
    ("default_replaces", "The default replaces the first message, which is lost. Put the default before it.", {"added": lambda messages, default: [{"role": "system", "content": default}, *messages[1:]]}),
):  # fmt: skip
    task.mistake(_sentence, _name)(lambda messages, default, changes=_changes: prompt(messages, default, **changes))


@task.mistake(
    "You write the default as it is, with no markers around it. It is a system message, written like any other."
)
def default_without_markers(messages, default):
    added = default + "\n" if messages[0]["role"] != "system" else ""
    return added + prompt(messages, default, needs_system=lambda messages: False)


@task.mistake("You write only the last message. The model remembers nothing: the whole dialogue has to be in the text.")
def last_message_alone(messages, default):
    return prompt(messages[-1:], default)


@task.mistake(
    "The system message of the dialogue is there twice. If you write it first, leave it out when you go through the messages."
)
def system_twice(messages, default):
    first = messages[0]["content"] if messages[0]["role"] == "system" else default
    return prompt(messages, first, needs_system=lambda messages: True)


@task.mistake("This is a list of strings. Join them into one.")
def a_list(messages, default):
    return prompt(messages, default).splitlines(keepends=True)


@task.mistake(
    'Your text has a backslash and the letter n where newlines should be. A newline is written "\\n" in Python, and not in an r-string.'
)
def raw_newlines(messages, default):
    return prompt(messages, default).replace("\n", "\\n")
