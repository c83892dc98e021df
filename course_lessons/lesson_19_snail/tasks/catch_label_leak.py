"""Task 19.catch_label_leak: a test that finds models that see the label they should predict, or no label at all."""

import torch

from course_lessons.lesson_19_snail.tasks._learners import CLASSES, LONGEST, RARE, RIGHT, WIDTH, WRONG
from course_lessons.shared.candidate_tests import asking, mistakes_of_tests, one_case_each, tests_without
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
    "19.catch_label_leak",
    "a test that finds models which see the label they are asked for",
    arguments=("model",),
    result="verdict",
    candidates=asking(_problem, (*RIGHT, *WRONG, *RARE), copies=True),
    difficulty=4,
    importance=5,
    minutes=25,
    hints=(
        "Compare the model with itself: call it once, change one label and call it again. If the label at step s changes, the predictions at steps 0 to s must stay the same, since all of them are made before that label may be seen. Predictions after s may change, and each prediction except the first has to change for at least one of the labels before it.",
        "Take the labels 0, 2 and 4 and a model that predicts the mean of all of them, 2 at each step. Change the last label to 1, and it predicts 1 everywhere: steps 0 to 2 have changed, so it leaks. A model that predicts the mean of the earlier labels returns 0 (there are none), 0 and 1. Change the last label, and nothing changes. Change the first to 3, and it returns 0, 3 and 2.5: step 0 has stayed the same, and steps 1 and 2 have changed. This model is correct.",
        "In a `try` that returns False on any exception: for T = 1 and T = 10: random inputs and labels; before = the model's predictions; moved = T times False. For each step s and each of the other four classes: changed = a copy of labels with this class at s; off = the largest difference between the new predictions and before, for each row. False unless rows 0 to s are off by less than 1e-5; where other rows are off by more, moved becomes True. At the end of each T: all of moved but the first must be True.",
    ),
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
    try:
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
    except Exception:
        return False


_mistaken = mistakes_of_tests(
    task,
    _test,
    "model",
    "There are several possible reasons. Perhaps you require step 0, which has no label before it, to change, or steps after the changed label to stay the same. Perhaps you never change the first label, or change only the last one, which no step follows. Perhaps a changed label stays changed when the next one is tried, since `changed = labels` makes no copy. Perhaps you compare only which class has the largest number. Or an error in the test itself, such as an incorrect shape, ends in `except`, which returns False.",
)


def _none(s, T):
    return slice(0, 0)


def _anything(moved):
    return True


@task.mistake(
    "Your test leaves out later steps instead of changing their labels, so it rejects correct models that know the length or see all inputs, and it passes models that see the label at t itself. Keep the length and change only the labels."
)
def cut_off(model):
    draw = torch.Generator().manual_seed(4)
    try:
        inputs = torch.randn(LONGEST, WIDTH, generator=draw)
        labels = torch.randint(0, CLASSES, (LONGEST,), generator=draw)
        before = model(inputs, labels)
        cut = [model(inputs[:T], labels[:T]) for T in range(1, LONGEST + 1)]
        stay = all(torch.allclose(before[: len(rows)], rows, rtol=0, atol=1e-5) for rows in cut)
        return stay and _test(model, stays=_none)
    except Exception:
        return False


LEFT_OUT = {  # what a test may leave out: what passes it then, and what to do
    "stays": (
        "models that see the label at t, or later ones,",
        "Change the label at each step s and check that the predictions at steps 0 to s stay the same.",
        {"stays": _none},
    ),
    "moves": (
        "models that see no label",
        "Check that the prediction at each step from 1 on changes when some label before it changes.",
        {"enough": _anything},
    ),
}


def _without(parts):
    changes = {name: value for part in parts for name, value in LEFT_OUT[part][2].items()}
    return lambda model: _test(model, **changes)


tests_without(task, LEFT_OUT, _without, 1)


for _name, _sentence, _changes in (
    ("runs_only", "Every model that raises no error passes your test. Change a label, call the model again and see which predictions change and which stay the same.", {"stays": _none, "enough": _anything}),
    # What has to stay
    ("no_rounding", "Your test rejects a correct model whose last digits depend on later labels. Allow for rounding: torch.allclose(…, rtol=0, atol=1e-5), not torch.equal or `==`.", {"tolerance": 0.0}),
    ("too_much_room", "Your test passes models on which the label has a small effect: use a smaller tolerance, since rounding errors stay below 1e-5.", {"tolerance": 0.02}),
    ("own_label_allowed", "Your test passes models in which a step sees its own label, because you compare only the steps before the one whose label is changed. The label at t is what the model should predict at t: compare steps 0 to s, including s.", {"stays": lambda s, T: slice(0, s)}),
    ("own_place_only", "Models that see later labels pass your test because you compare only the step whose label is changed. Also compare the steps before it: 0 to s.", {"stays": lambda s, T: slice(s, s + 1)}),
    ("means_compared", "Your test passes a model in which one number grows by as much as another shrinks, because you compare means or sums over the classes. Compare the numbers one by one.", {"off": lambda before, after: (after.mean(1) - before.mean(1)).abs()}),
    # What has to move
    ("too_coarse", "Your test rejects correct models because it misses small changes: one label among many may change the predictions by less than 0.3. Real changes are above 1e-4.", {"least": 0.3}),
    ("each_label_has_to_matter", "Your test rejects correct models that use only one of the earlier labels, because it requires each of them to have an effect. One is enough.", {"enough": lambda moved: (moved | torch.ones_like(moved).triu()).all()}),
    ("some_place_has_to_move", "Models in which some step sees no label pass your test because you require only that some step changes. Each step from 1 on has to change.", {"enough": lambda moved: len(moved) == 1 or moved.any()}),
    ("last_place_has_to_move", "Your test passes models in which a step before the last one sees no label, because you require only that the last step changes. Each step from 1 on has to change.", {"enough": lambda moved: len(moved) == 1 or moved[-1].any()}),
    ("second_place_has_to_move", "Your test passes models in which a step after the second one sees no label, because you require only that step 1 changes. Each step from 1 on has to change.", {"enough": lambda moved: len(moved) == 1 or moved[1].any()}),
    ("from_the_third_place_on", "Your test passes a model in which only step 1 sees no label, because you start checking at step 2. Each step from 1 on has to change.", {"enough": lambda moved: moved.any(1)[2:].all()}),
    # What is changed
    ("first_label_only", "Your test rejects correct models that do not use the first label, because it changes no other label, and models that leak later labels pass. Change the label at each step, one after another.", {"steps": lambda T: [0]}),
    ("last_label_left_out", "Your test passes a model whose last step sees its own label, because you never change the last label. The steps are 0 to T - 1.", {"steps": lambda T: range(T - 1) if T > 1 else [0]}),
    ("next_class_only", "Your test rejects a correct model that depends on only one class, because you change each label to only one other class. Try all the others.", {"classes": lambda label: [(label + 1) % CLASSES]}),
    ("inputs_changed_too", "Your test rejects correct models. Perhaps you change the input of a step together with its label. A prediction may depend on the input of its own step and on any other: change the label and leave the inputs as they are.", {"change": lambda inputs, labels, s, c: (inputs + 0.5 * (torch.arange(len(inputs)) == s)[:, None], _set(inputs, labels, s, c)[1])}),
    # Lengths
    ("long_ones_only", "Your test passes a model that fails or leaks on a single step, because you never try a one-step sequence. Also try T = 1.", {"lengths": (LONGEST,)}),
    ("short_ones_only", "Models that fail only in long sequences pass your test. Also try T = 10.", {"lengths": (1, 2, 5)}),
    ("one_place_only", "Your test passes models that see later labels, or none at all, because you only try sequences of one step. Also try T = 10.", {"lengths": (1,)}),
):  # fmt: skip
    _mistaken(_name, _sentence, **_changes)
