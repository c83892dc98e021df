"""Task 02.negation_by_hand: scores with which fixed attention can handle "not". Many are right: what they lead to is compared."""

import math

import torch

from course_utils.base.errors import CourseError
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task

ENOUGH, NEAR = 0.5 - 1e-6, 0.05  # 0.5 is asked for, with room for rounding
NOT = -0.5  # the value of "not"; with 0 instead, different scores would also do
PARTS = {"the first set of scores": 3, "the second set of scores": 3, "the output": 2}  # how many numbers each part has
SIGNS = {"great": 1, "awful": -1, "not great": -1, "not awful": 1}

task = Task(
    "02.negation_by_hand",
    'two sets of scores that handle "not"',
    arguments=("longest",),
    result="output",
    difficulty=3,
    importance=5,
    minutes=20,
    hints=(
        'Without "not", the two sets of scores may lead to the same sum. With "not", the two sums must differ: in one set, "not" takes the weight away from the '
        'opinion; in the other, the opinion keeps its weight. The output can then tell from the two sums whether there was a "not".',
        "Here is the output layer for different numbers. Suppose that a plain sentence gives (o₁, o₂) = (1, 1) and should lead to 3, and that a negated "
        "sentence gives (0, 1) and should lead to -2. The second condition says that u₂ = -2, and the first that u₁ + u₂ = 3, so u₁ = 5. As for the scores: a lead of ln 3 "
        "gives one word three times the weight of another, but against 30 other words it still gets only 3 parts of 33. Larger leads are needed.",
        'In the first set, put the score of "not" far above the score of an opinion, and the score of an opinion far above the score of other words. In the second, '
        'put an opinion far above everything, even "not". "Far" means 10, say. Then write down the output for "great", "not great" and "not awful": u₁ + u₂, -0.5·u₁ + u₂ and -0.5·u₁ - u₂. '
        "The first and the third should be above 0, and the second below.",
    ),
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


def by_hand(name, sentence, output, first=(20, 10, 0), second=(0, 20, 0)):
    """Declare the mistake of an answer with this output, whose scores are right if nothing else is said."""
    task.mistake(sentence, name)(lambda longest: (first, second, output))


by_hand(
    "one_attention",
    'Only one set of scores has an effect, and one set is not enough. No word in "not awful" has a value above 0, and a weight is never negative, so its sum is not above 0, and neither is the sum for "awful". But the output should have different signs for these two phrases. The other set must also have an output weight, and its scores must differ from those of the first.',
    (0, 1),
)
by_hand(
    "one_attention_on_not",
    'Only one set of scores has an effect. It does move the weight from the opinion to "not", but then the sum is -0.5 for both "not great" and "not awful". A second set, in which the opinion keeps the weight, can tell the two apart.',
    (2, 0),
)
by_hand(
    "one_attention_turned",
    "Only one set of scores has an effect, with an output weight below 0. That gets negated sentences right and plain ones wrong, and one set cannot do both. The other set must also have an output weight.",
    (0, -1),
)
by_hand(
    "plain_right_negated_wrong",
    'Plain sentences are right, but with "not" the output keeps the sign of the opinion. Two things are needed: in one set, "not" must take the weight from the opinion with a much higher score (is the order "not", opinion, other word?), and the set in which the opinion keeps the weight has to count below 0 in the output.',
    (2, -1),
    first=(0, 10, 0),
    second=(5, 20, 0),
)
by_hand(
    "not_taken_for_zero",
    'Everything is right except "not awful", whose output is near 0. The value of "not" is -0.5, not 0: the set that gives its weight to "not" adds this value, times its output weight, to the output. The other set, whose weight is on the opinion, has to outweigh it.',
    (2, -1),
)
by_hand(
    "negated_always_negative",
    'Plain sentences are right, but with "not" the output is negative for both opinions. In one set, the opinion has to keep its weight when there is a "not", which needs a low score for "not". And the output weight of this set must be far enough below 0 to outweigh the -0.5 that "not" adds through the other set.',
    (6, -4),
    second=(25, 10, 0),
)
by_hand(
    "plain_cancelled",
    "Negated sentences are right, but in a plain one the two sums cancel: both are the value of the opinion, and your two output weights sum to 0.",
    (2, -2),
)
by_hand(
    "turned_round",
    "The output has the wrong sign in all four cases. Change the signs of both output weights.",
    (-4, 3),
)
by_hand(
    "always_negated",
    'The output has the opposite sign to the opinion, with and without "not". In a plain sentence, both sums are the value of the opinion, and the output is that value times the sum of the two output weights: this sum must be above 0.',
    (1, -2),
)
by_hand(
    "margin_too_small",
    "The signs are right, but some outputs are less than 0.5 away from 0. Multiply both output weights by a number above 1.",
    (0.8, -0.6),
)
by_hand(
    "not_different_enough",
    "The scores do not differ enough: in longer sentences the many other words together take most of the weight. A lead of 3 gives one word 20 times the weight of another, which is little against 20 others. Scores may be as large as you like.",
    (4, -3),
    first=(6, 3, 0),
    second=(0, 3, 0),
)
