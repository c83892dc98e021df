"""Task 19.ideal_weights: where the attention of the last step finds the labels of its character."""

import torch

from course_lessons.shared.partial_credit import SIDE_EFFECT
from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "where the labels are read",
    arguments=("characters T",),
    result="weights T",
    difficulty=1,
    importance=5,
    minutes=5,
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
    yield Case("a character that is 0", (torch.tensor([b + 1, c + 1, 0, d + 1, 0]),))
    yield Case("characters of several digits", (torch.tensor([120 + a, 310 + b, 4050, 120 + a, 310 + b]),))
    yield Case("characters below 0", (torch.tensor([a, -1, b, -2 - c, -1]),), edge=True)
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
