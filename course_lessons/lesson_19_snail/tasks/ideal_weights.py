"""Task 19.ideal_weights: where the attention of the last step finds the labels of its character."""

from operator import truediv

import torch
import torch.nn.functional as F

from course_lessons.shared.partial_credit import SIDE_EFFECT
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task

task = Task(
    "19.ideal_weights",
    "where the labels are read",
    arguments=("characters T",),
    result="weights T",
    difficulty=1,
    importance=5,
    minutes=5,
    hints=(
        "Mark the earlier steps that show the same character as the last step. Is the label of such a step read there or somewhere else?",
        "Take the characters 4, 4, 0, 2, 4. The last step shows a 4, and so do steps 0 and 1. Their labels are read one step later, at steps 1 and 2, so the weights are 0, 0.5, 0.5, 0, 0.",
        "shown = whether each step but the last shows the last character, T - 1; read = a zero followed by shown, T; return read divided by its sum.",
    ),
    partial=SIDE_EFFECT,
)


@task.cases
def _(draw):
    a, b, c, d, e = (int(n) for n in draw.distinct(5, 0, 10))
    yield Case("a character that was shown once before", (torch.tensor([b, a, c, d, a]),))
    yield Case("a character that was shown first", (torch.tensor([a, b, c, b, a]),))
    yield Case("a character that was shown twice before", (torch.tensor([a, b, c, a, d, e, a]),))
    yield Case("a character that is at the end twice", (torch.tensor([b, a, c, e, a, a]),))
    yield Case("the same character twice in the middle", (torch.tensor([b, a, a, c, e, a]),))
    yield Case("only the previous step shows the character", (torch.tensor([b, c, b, a, a]),))
    for low, high in ((9, 14), (20, 30)):
        T = int(draw.whole(low, high))
        characters = draw.whole(0, 4, T)
        characters[[2, 3, -2]] = torch.tensor([5, 6, 6])  # none of them is the last
        characters[[0, 4]] = int(characters[-1])
        yield Case(f"{T} steps", (characters,))
    yield Case("two steps", (torch.tensor([a, a]),), edge=True)


@task.property
def weights_are_where_labels_are_read(case, value):
    """A label of the last character is read one step after the character, and all such steps get the same weight."""
    *before, last = case.args[0].tolist()
    for step, weight in enumerate(value.tolist()):
        shown = before[step - 1] if step else None
        if weight > 1e-4 and shown != last:
            read = (
                f"the label of step {step - 1} is read, which shows a {shown}, not a {last}"
                if step
                else "no label is read"
            )
            return f"Step {step} gets a weight of {weight:.4g}, but there {read}."
        if abs(weight) <= 1e-4 and shown == last:
            return f"Step {step} gets no weight, but the label of step {step - 1} is read there, which shows a {last}, as the last step does."
    given = [weight for weight in value.tolist() if weight > 1e-4]
    if given and max(given) - min(given) > 1e-4:
        return f"The correct steps get weights, but different ones: the largest is {max(given):.4g}, the smallest {min(given):.4g}."
    return None


@task.oracle
def _(characters):
    *before, last = characters.tolist()
    number = before.count(last)
    return torch.tensor([0.0, *(float(character == last) / number for character in before)], dtype=torch.float64)


@task.steps
def _(characters):
    shown = yield "the steps that show the character", torch.eq, characters, characters[-1]
    read = yield "the steps that read its labels", _one_later, shown
    number = yield "the number of these steps", torch.sum, read
    weights = yield "the weights", truediv, read, number
    return weights


def _one_later(shown):
    return F.pad(shown[:-1], (1, 0))


SHOWN, READ = "the steps that show the character", "the steps that read its labels"
NUMBER, WEIGHTS = "the number of these steps", "the weights"
LATER = "A label is read one step after its character."
task.changed_each(
    ("same_character", f"Your weight is on the steps that show the character itself. {LATER} Move the weight one step later.", {READ: lambda shown: F.pad(shown[:-1], (0, 1))}),
    ("last_step_finds_itself", f"Your weight is on all steps that show the character, and the last step is one of them. Leave out the last one, because its label is not known yet. The labels of the others are not read there either: {LATER[0].lower()}{LATER[1:]}", {READ: lambda shown: shown}),
    ("rolled", "The first step gets a weight, but no label is read there. Perhaps `roll` moved the last step to the front: put a zero there instead.", {READ: lambda shown: shown.roll(1)}),
    ("character_of_the_step_before", "You look for the character of the step before the last one. The task asks for the label of the last character, so look for the last character.", {SHOWN: lambda characters, last: characters == characters[-2]}),
    ("most_recent_alone", "All your weight is on the most recent of these steps. Share it equally among all steps that read a label of the character.", {READ: lambda shown, *, right: _only(right(shown), -1)}),
    ("first_alone", "All your weight is on the first of these steps. Share it equally among all steps that read a label of the character.", {READ: lambda shown, *, right: _only(right(shown), 0)}),
    ("all_steps_alike", "Every step gets the same weight. Only the steps that read a label of the last character should.", {READ: torch.ones_like}),
    ("last_step_alone", "All your weight is on the last step. The labels of its character are read one step after each earlier step that shows this character.", {READ: lambda shown: F.one_hot(torch.tensor(len(shown) - 1), len(shown)).bool()}),
    ("softmax_of_the_marks", "You take a softmax of 1 for the correct steps and 0 for the others, so the others also get weight: exp(0) = 1. Divide by the number of correct steps.", {WEIGHTS: lambda read, number: read.double().softmax(0)}),
    ("divided_by_all_steps", "You divide by T, the number of all steps, so your weights sum to less than 1. Divide by the number of steps that read a label of the character.", {WEIGHTS: lambda read, number: read / len(read)}),
    ("not_divided", "The steps are correct, but each gets a weight of 1. The weights should add up to 1: divide by the number of these steps.", {WEIGHTS: lambda read, number: read.double()}),
    ("last_step_counted", "Your weights sum to less than 1. Perhaps you divide by the number of all steps that show the character, including the last one: divide by the number of steps that read its labels.", {NUMBER: lambda read: read.sum() + 1}),
    ("last_step_left_out", f"The last step gets no weight, even if the previous step shows the same character. {LATER} The last step therefore reads that label itself, and it may attend to itself.", {READ: lambda shown, *, right: F.pad(right(shown)[:-1], (0, 1))}),
)  # fmt: skip


def _only(read, which):
    """Mark one of the marked steps alone, the first or the last."""
    marked = torch.zeros_like(read)
    marked[read.nonzero()[which]] = True
    return marked
