"""Task 13.catch_wrong_step: a test that tells right training loops from wrong."""

from functools import partial, wraps

import torch

from course_lessons.lesson_13_training.tasks._training import RIGHT, WRONG, by_hand
from course_lessons.shared.candidate_tests import MistakenTests, equal_up_to_rounding, one_case_each
from course_utils.base import trees
from course_utils.checks.running.contract import UsageError
from course_utils.checks.task import Task

MOST = 100  # batches in a call


def _asking(train):
    """A candidate that says where a test, or its model, breaks the rules of the prompt, be it right or wrong."""

    @wraps(train)
    def candidate(model, weights, batches, held_out, rate, clip):
        problem = _problem(model, weights, batches, held_out, rate, clip)
        if problem:
            raise UsageError(problem)

        def called(now, batch, training):
            copies = [weight.detach().clone() for weight in now]  # a test may keep them
            with torch.enable_grad():
                result = model(copies, trees.map_tensors(torch.clone, batch), training)
            if not _is_loss_with_gradients(result, weights):
                raise UsageError(
                    "Your `model` should return two things: the loss, one number, and a list with one gradient for each weight, each a float32 tensor with the shape of its weight."
                )
            return float(result[0]), [gradient.detach().clone() for gradient in result[1]]

        with torch.no_grad():
            last, losses = train(called, [w.detach().clone() for w in weights], batches, held_out, rate, clip)
        return [weight.detach() for weight in last], losses

    return candidate


def _is_float32(value):
    return isinstance(value, torch.Tensor) and value.dtype == torch.float32


def _is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_loss_with_gradients(result, weights):
    if not isinstance(result, (list, tuple)) or len(result) != 2 or not isinstance(result[1], (list, tuple)):
        return False
    loss, gradients = result
    return (_is_number(loss) or _is_float32(loss) and loss.numel() == 1) and (
        list(map(_is_float32, gradients)) == [True] * len(weights)
        and all(gradient.shape == weight.shape for gradient, weight in zip(gradients, weights, strict=True))
    )


def _problem(model, weights, batches, held_out, rate, clip):
    """What is wrong with the arguments that a test gives to a candidate; None for nothing."""
    if not callable(model):
        return "Your test calls a candidate with a `model` that is not a function."
    if not isinstance(weights, (list, tuple)) or not weights or not all(map(_is_float32, weights)):
        return "Your test calls a candidate with `weights` that are not a list of float32 tensors."
    if not all(weight.numel() and weight.isfinite().all() for weight in weights):
        return "Your test calls a candidate with an empty tensor among the `weights`, or with one that contains NaN or infinity."
    if not isinstance(batches, (list, tuple)) or not 1 <= len(batches) <= MOST:
        return f"Your test calls a candidate with `batches` that are not a list of 1 to {MOST} batches."
    if not all(isinstance(leaf, (torch.Tensor, int, float)) for leaf in trees.leaves([*batches, held_out])):
        return "Your test calls a candidate with a batch, or with a `held_out`, that contains something other than tensors and numbers."
    if not _is_number(rate) or not 0 < rate <= 1 or not _is_number(clip) or clip <= 0:
        return "Your test calls a candidate with a `rate` that is not a number above 0 and at most 1, or with a `clip` that is not a number above 0."
    return None


task = Task(
    __name__,
    "a test that tells correct training loops from incorrect ones",
    arguments=("train",),
    result="verdict",
    candidates=tuple(map(_asking, (*RIGHT, *WRONG))),
    difficulty=4,
    importance=5,
    minutes=35,
    partial={"losses_only_fall": (0.75, "correct for every candidate except one that returns its best weights.")},
)


one_case_each(task, RIGHT, WRONG)


DRAW = torch.Generator().manual_seed(3)
WEIGHTS = [torch.randn(4, 3, generator=DRAW), torch.randn(3, generator=DRAW)]
*BATCHES, HELD_OUT = torch.randn(4, 3, generator=DRAW)


def _model(weights, batch, training, dropout=True, constant=False):
    """Half the squared distance of the weights from the batch, which dropout weighs otherwise, and its gradients."""
    factors = torch.tensor([2.0, 0.5, 2.0]) if dropout and training else torch.ones(3)
    apart = [weight - batch for weight in weights]
    loss = sum((factors * each**2).sum() for each in apart).item() / 2
    return loss, [factors * (batch.expand_as(each) if constant else each) for each in apart]


def _same_weights_and_losses(expected, result, agree=equal_up_to_rounding):
    """Return whether the last weights and the losses are the same, and as many."""
    (weights, losses), (received, measured) = expected, result
    same_weights = len(weights) == len(received) and all(map(agree, weights, received))
    return same_weights and _same_losses(losses, measured, agree)


def _same_losses(losses, measured, agree=equal_up_to_rounding):
    return agree(torch.tensor(losses), torch.tensor(measured))


def _test(
    train,
    model=_model,
    weights=WEIGHTS,
    batches=BATCHES,
    clips=(0.5, 100.0),
    compare=_same_weights_and_losses,
    own=None,
    modes=None,
):
    """A test like the solution's, whose promises may be dropped or weakened; `own` changes the model of the test's own loop, and `modes` asks for more."""
    given = weights, batches, HELD_OUT, 0.3
    right = partial(by_hand, own(model) if own else model)
    agrees = all(compare(right(*given, clip), train(model, *given, clip)) for clip in clips)
    return agrees and (not modes or modes(_modes(train)))


_mistaken = MistakenTests(task, _test)


# How results are compared

_mistaken("no_rounding", compare=partial(_same_weights_and_losses, agree=torch.equal))
_mistaken(
    "too_much_room", compare=partial(_same_weights_and_losses, agree=partial(equal_up_to_rounding, tolerance=0.03))
)


def _agree_flat(agree):
    """Compare with `agree` after all numbers of a tensor are put into one vector."""
    return lambda right, received: agree(right.flatten(), received.flatten())


_mistaken.on_less_than_all(lambda agree: {"compare": partial(_same_weights_and_losses, agree=_agree_flat(agree))})


def _agree_on(seen):
    """Compare only what `seen` makes of the numbers."""
    return partial(
        _same_weights_and_losses,
        agree=lambda right, received: equal_up_to_rounding(seen(right), seen(received)),
    )


_mistaken("rows_sorted", compare=_agree_on(lambda numbers: numbers.sort(-1).values))
_mistaken("columns_sorted", compare=_agree_on(lambda numbers: numbers.sort(0).values))
_mistaken("lengths_of_rows", compare=_agree_on(lambda numbers: numbers.norm(dim=-1)))
_mistaken("runs_at_all", compare=partial(_same_weights_and_losses, agree=lambda a, b: a.shape == b.shape))
_mistaken(
    "loss_falls", batches=BATCHES * 3, clips=(0.5,), compare=lambda expected, result: result[1][-1] < result[1][0]
)
_mistaken("weights_unchecked", compare=lambda expected, result: _same_losses(expected[1], result[1]))
_mistaken(
    "number_of_losses_unchecked",
    compare=lambda expected, result: _same_weights_and_losses((expected[0], expected[1][: len(result[1])]), result),
)
_mistaken(
    "last_loss_alone",
    compare=lambda expected, result: _same_weights_and_losses(
        (expected[0], expected[1][-1:]), (result[0], result[1][-1:])
    ),
)
_mistaken("losses_only_fall", batches=[HELD_OUT + (batch - HELD_OUT) / 10 for batch in BATCHES])

# What the model does

_mistaken("constant_gradients", model=partial(_model, constant=True))


def _modes(train):
    """Return with which modes a candidate calls its model, in their order."""
    modes = []

    def model(weights, batch, training):
        modes.append(training)
        return _model(weights, batch, training)

    train(model, WEIGHTS, BATCHES, HELD_OUT, 0.3, 1.0)
    return modes


_mistaken(
    "modes_alone", compare=lambda expected, result: True, modes=lambda modes: modes == [True, False] * len(BATCHES)
)
_mistaken("own_loop_without_dropout", own=lambda model: lambda weights, batch, training: model(weights, batch, False))

LEFT_OUT = {  # what a test may leave out, and what that changes
    "dropout": ("model", partial(_model, dropout=False)),
    "losses": ("compare", lambda expected, result: all(map(equal_up_to_rounding, expected[0], result[0]))),
    "batches": ("batches", BATCHES[:1]),
    "tensors": ("weights", WEIGHTS[:1]),
    "small": ("clips", (100.0,)),
    "large": ("clips", (0.5,)),
}
_mistaken.without(LEFT_OUT, 2, never_both=("small", "large"))
