"""Task 19.catch_label_leak: a test that finds models that see the label they should predict, or no label at all."""

import torch

from course_lessons.lesson_19_snail.tasks._learners import CLASSES, LONGEST, RARE, RIGHT, WIDTH, WRONG
from course_lessons.shared.candidate_tests import MistakenTests, asking, one_case_each
from course_utils.checks.task import Task

LARGEST = 10  # of what a test gives, so that rounding stays below 1e-5
MOST = 30  # steps, at most


def _problem(inputs, labels):
    """What is wrong with what a test gives to a model; None for nothing."""
    if not isinstance(inputs, torch.Tensor) or inputs.dtype != torch.float32:
        return "Your test calls a model with `inputs` that are not a float32 tensor. They should be T×3."
    if inputs.dim() != 2 or inputs.shape[1] != WIDTH or not 1 <= len(inputs) <= MOST:
        return f"Your test calls a model with `inputs` of shape {tuple(inputs.shape)}. They should be T×3, with T from 1 to {MOST}."
    if not (inputs.abs() <= LARGEST).all():
        return f"Your test calls a model with `inputs` that contain NaN, infinity or numbers above {LARGEST} in size. Random numbers of about 1 are enough."
    if not isinstance(labels, torch.Tensor) or labels.dtype != torch.int64:
        return "Your test calls a model with `labels` that are not a tensor of whole numbers (torch.int64)."
    if labels.shape != inputs.shape[:1]:
        return f"Your test calls a model with `labels` of shape {tuple(labels.shape)}. With these `inputs` it should be ({len(inputs)},), one label for each step."
    if not ((labels >= 0) & (labels < CLASSES)).all():
        return f"Your test calls a model with a label that is not one of the classes 0 to {CLASSES - 1}."
    return None


task = Task(
    __name__,
    "a test that finds models which see the label they are asked for",
    arguments=("model",),
    result="verdict",
    candidates=asking(_problem, (*RIGHT, *WRONG, *RARE), copies=True),
    difficulty=4,
    importance=5,
    minutes=25,
)


one_case_each(task, RIGHT, WRONG, RARE)


def _other_classes(label):
    return [c for c in range(CLASSES) if c != label]


def _set(inputs, labels, s, c):
    """What the model is given when the label at step s is changed."""
    changed = labels.clone()
    changed[s] = c
    return inputs, changed


def _off(before, after):
    """How far each row has moved."""
    return (after - before).abs().amax(1)


def _test(
    model,
    lengths=(1, LONGEST),
    steps=range,
    classes=_other_classes,
    change=_set,
    off=_off,
    stays=lambda s, T: slice(0, s + 1),
    tolerance=1e-5,
    least=1e-5,
    enough=lambda moved: moved.any(1)[1:].all(),
):
    """A test like the solution's, in which things may be left out.

    Where the label at s is changed, rows stays(s, T) have to stay; which labels have moved which steps, T×T, has to be `enough` at the end.
    """
    draw = torch.Generator().manual_seed(4)
    for T in lengths:
        inputs = torch.randn(T, WIDTH, generator=draw)
        labels = torch.randint(0, CLASSES, (T,), generator=draw)
        before = model(inputs, labels)
        moved = torch.zeros(T, T, dtype=torch.bool)  # step, label
        for s in steps(T):
            for c in classes(int(labels[s])):
                apart = off(before, model(*change(inputs, labels, s, c)))
                if (apart[stays(s, T)] > tolerance).any():
                    return False
                moved[:, s] |= apart > least
        if not enough(moved):
            return False
    return True


_mistaken = MistakenTests(task, _test)


def _none(s, T):
    return slice(0, 0)


def _anything(moved):
    return True


@task.mistake()
def cut_off(model):
    draw = torch.Generator().manual_seed(4)
    try:
        inputs = torch.randn(LONGEST, WIDTH, generator=draw)
        labels = torch.randint(0, CLASSES, (LONGEST,), generator=draw)
        before = model(inputs, labels)
        cut = [model(inputs[:T], labels[:T]) for T in range(1, LONGEST + 1)]
        stay = all(torch.allclose(before[: len(rows)], rows, rtol=0, atol=1e-5) for rows in cut)
        return stay and _mistaken.test(model, stays=_none)
    except Exception:
        return False


LEFT_OUT = {  # what a test may leave out, and what that changes
    "stays": ("stays", _none),
    "moves": ("enough", _anything),
}


_mistaken.without(LEFT_OUT, 1)


_mistaken("runs_only", stays=_none, enough=_anything)

# What has to stay

_mistaken("no_rounding", tolerance=0.0)
_mistaken("too_much_room", tolerance=0.02)
_mistaken("own_label_allowed", stays=lambda s, T: slice(0, s))
_mistaken("own_place_only", stays=lambda s, T: slice(s, s + 1))
_mistaken("means_compared", off=lambda before, after: (after.mean(1) - before.mean(1)).abs())

# What has to move

_mistaken("too_coarse", least=0.3)
_mistaken("each_label_has_to_matter", enough=lambda moved: (moved | torch.ones_like(moved).triu()).all())
_mistaken("some_place_has_to_move", enough=lambda moved: len(moved) == 1 or moved.any())
_mistaken("last_place_has_to_move", enough=lambda moved: len(moved) == 1 or moved[-1].any())
_mistaken("second_place_has_to_move", enough=lambda moved: len(moved) == 1 or moved[1].any())
_mistaken("from_the_third_place_on", enough=lambda moved: moved.any(1)[2:].all())

# What is changed

_mistaken("first_label_only", steps=lambda T: [0])
_mistaken("last_label_left_out", steps=lambda T: range(T - 1) if T > 1 else [0])
_mistaken("next_class_only", classes=lambda label: [(label + 1) % CLASSES])
_mistaken(
    "inputs_changed_too",
    change=lambda inputs, labels, s, c: (
        inputs + 0.5 * (torch.arange(len(inputs)) == s)[:, None],
        _set(inputs, labels, s, c)[1],
    ),
)

# Lengths

_mistaken("long_ones_only", lengths=(LONGEST,))
_mistaken("short_ones_only", lengths=(1, 2, 5))
_mistaken("one_place_only", lengths=(1,))
