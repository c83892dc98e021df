"""Task 02.negation_by_hand: scores with which fixed attention can handle "not". Many are right: what they lead to is compared."""

import math

import torch

from course_utils.base.errors import CourseError
from course_utils.checks.task import Case, Task

ENOUGH, NEAR = 0.5 - 1e-6, 0.05  # 0.5 is asked for, with room for rounding
NOT = -0.5  # the value of "not"; with 0 instead, different scores would also do
PARTS = {"the first set of scores": 3, "the second set of scores": 3, "the output": 2}  # how many numbers each part has
SIGNS = {"great": 1, "awful": -1, "not great": -1, "not awful": 1}

task = Task(
    __name__,
    'two sets of scores that handle "not"',
    arguments=("longest",),
    result="output",
    difficulty=3,
    importance=5,
    minutes=20,
)


@task.cases
def _(draw):
    for low, high in ((2, 5), (8, 15), (30, 60)):
        longest = int(draw.whole(low, high))
        yield Case(f"sentences of up to {longest} words", (longest,))
    yield Case("sentences of up to 1,000 words", (1000,), edge=True)


@task.oracle
def _(longest):
    right = {phrase: "positive" if sign > 0 else "negative" for phrase, sign in SIGNS.items()}
    return {**right, "sets of scores that have an effect": 2}


def _numbers(name, part):
    """Return one part of an answer as float64 numbers. Raises CourseError where it is not as asked for."""
    size = PARTS[name]
    if isinstance(part, torch.Tensor) and part.dim() == 1 and len(part) == size:
        part = part.tolist()
    if not isinstance(part, (list, tuple)) or len(part) != size:
        raise CourseError(
            f"A list of {size} numbers is expected for {name}. `.tolist()` turns a NumPy array into a list."
        )
    part = [n.item() if isinstance(n, torch.Tensor) and n.numel() == 1 else n for n in part]
    if not all(type(n) in (int, float) for n in part):
        raise CourseError(f"What you return for {name} should be {size} numbers, and one of them is something else.")
    if any(n != n or n == math.inf for n in part) or (size == 2 and -math.inf in part):
        raise CourseError(
            f"One of the numbers for {name} is infinite or NaN. Then the softmax gives no weights: choose finite numbers."
        )
    return torch.tensor(part, dtype=torch.float64)


def _contexts(scores, negated, opinion, longest):
    """Return what one set of scores makes of a sentence with an opinion of this value, for each number of other words: N."""
    others = torch.arange(longest - negated)  # from none up
    counts = torch.stack([torch.full_like(others, negated), torch.ones_like(others), others])
    logs = scores[:, None] + counts.log()
    weights = (logs - logs.logsumexp(0)).exp()
    return opinion * weights[1] + NOT * weights[0]


def _said(outputs, sign):
    """Say in words what the output is, for each number of other words, where `sign` is the right one."""
    least = outputs[0].item()
    word = "positive" if least > 0 else "negative"
    if not outputs.isfinite().all():
        return "not a number"
    if abs(least) < ENOUGH:
        return "near 0" if abs(least) < NEAR else f"{word}, but too close to 0"
    if sign * least > 0 and (sign * outputs < ENOUGH).any():
        return f"{word} only with few other words"
    return word


@task.canonical
def _(case, value):
    if not isinstance(value, (list, tuple)) or len(value) != len(PARTS):
        raise CourseError(
            "Three lists are expected: the first set of scores, the second set of scores and the two output weights."
        )
    first, second, output = map(_numbers, PARTS, value)
    said, alike = {}, True
    for phrase, sign in SIGNS.items():
        negated, opinion = phrase.startswith("not"), 1 if phrase.endswith("great") else -1
        contexts = [_contexts(scores, negated, opinion, case.args[0]) for scores in (first, second)]
        alike &= torch.allclose(*contexts)
        said[phrase] = _said(output @ torch.stack(contexts), sign)
    used = int((output != 0).sum())
    return {**said, "sets of scores that have an effect": min(used, 1) if alike else used}


@task.explain_mismatch
def _(case, right, read):
    """What the output is for each phrase where it is not as it should be."""
    wrong = [phrase for phrase in SIGNS if read[phrase] != right[phrase]]
    if not wrong:
        return "All four outputs are right, but only one set of scores has an effect, and two are asked for."
    listed = "; ".join(
        f'the output for "{phrase}" is {read[phrase]}, and should be {right[phrase]}' for phrase in wrong
    )
    said = f"With your numbers, {listed}."
    if any(str(read[phrase]).endswith("few other words") for phrase in wrong):
        said += " When the sentence has more other words, together they take too much of the weight: give them a much lower score."
    if any(read[phrase] == f"{right[phrase]}, but too close to 0" for phrase in wrong):
        said += " Where the sign is right, the output should be at least 0.5 away from 0."
    return said
