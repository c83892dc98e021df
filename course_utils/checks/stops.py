"""Says why there is no value: what stopped an answer, and what its author may look at."""

import re

import torch

from course_utils.checks.expected import NOT_AS_ASKED
from course_utils.checks.running.contract import is_float

# What PyTorch's commonest messages mean for a beginner.
IN_OTHER_WORDS = {
    "torch.return_types": "`max` and `min` along an axis return values and places: take `.values`.",
    "must match the size of tensor": "two axes that meet have different lengths: print both shapes before this line.",
    "shapes cannot be multiplied": "in a matrix product, `@`, the last axis on the left must be as long as the second to last on the right; `*` multiplies number by number.",
    "size for first two dimensions of batch2": "in a matrix product the last axis on the left must be as long as the second to last on the right.",
    "not enough values to unpack": "`chunk`, `split` and `unbind` go along the first axis unless `dim` says another.",
    "selected index k out of range": "`topk` is asked for more numbers than there are: keep all of them if they are fewer.",
    "type must be tuple of ints,but got float": "`/` gives a number with a point, also where it divides without a remainder: write `//`.",
    "unsupported operand type(s) for ^": "`^` is no power in Python: write `**`.",
    "'Tensor' and 'tuple'": "what you called returns several results, such as contexts and weights: take the one that you need, as in `[0]`.",
    "doesn't require grad": "somewhere on the way `.detach()`, `.item()` or torch.tensor(…) has cut the gradient.",
    "Boolean value of Tensor with more than one value": "`if`, `and`, `or` and `not` need a single truth value, and a tensor holds many. "
    "To ask whether there is a mask at all, write `mask is not None`; to choose number by number, use torch.where or masked_fill.",
}
TURNED = "`.T` reverses the order of all three axes of a tensor; `.mT` exchanges only the last two."
MAY_BE_ANYTHING = (
    "a wrong candidate may return anything, such as numbers of another shape, and it may raise an exception. Where that stops your test, the candidate is wrong: "
    "put the call and the comparison inside `try`, and return False on `except Exception`. If it also happens with a right candidate, your own line is to blame."
)


def why_stopped(task, case, outcome):
    if outcome.status == "timeout":
        return (
            f"Your function was stopped after {outcome.seconds or 0:g} seconds of computing, which can be longer by the clock. Is there a loop that never ends? "
            "If it only needs longer, give the check more time: check(…, seconds=60)."
        )
    if outcome.status == "memory":
        return (
            "Your function asked for more memory than there is. Print the shapes: one tensor is far larger than needed."
        )
    if outcome.status == "stopped":
        return "The run of your function ended before this input. Does it end the whole process?"
    if outcome.status == "not implemented":
        return "For this input your function still raises NotImplementedError."
    if outcome.failure.by_candidate and not task.suspects:
        return (
            f"The function that you were given raises {outcome.failure.type} for the arguments that you call it with. "
            "Print their shapes, and compare them with those in the exercise."
        )
    if outcome.failure.by_candidate:
        return (
            f"The candidate raised {outcome.failure.type}, and your test passed it on. "
            "A candidate that raises is wrong: catch the exception and return False."
        )
    if outcome.failure.type == NOT_AS_ASKED:
        return outcome.failure.message
    advice = MAY_BE_ANYTHING if task.candidates and task.suspects else _advice(task, case, outcome.failure)
    return f"Your function stops with {outcome.failure.type}: {outcome.failure.message}{advice and ' — '}{advice}"


def _advice(task, case, failure):
    """Return what the message of an exception means, as far as it is known; else nothing."""
    advice = next((advice for part, advice in IN_OTHER_WORDS.items() if part in failure.message), "")
    of_three = [
        name
        for name, arg in zip(task.names, case.args, strict=False)
        if isinstance(arg, torch.Tensor) and arg.dim() > 2
    ]
    turned = rf"\b({'|'.join(map(re.escape, of_three))})\.T\b"
    if of_three and any(here and re.search(turned, text) for _, text, here in _lines(failure)):
        advice = f"{advice} {TURNED}".strip()
    return _on_the_left(task, case, failure) or advice


def _on_the_left(task, case, failure):
    """Return what to say where a matrix stands to the left of a batch of vectors, as in formulas on one vector; else nothing."""
    of = {2: [], 3: []}
    for name, arg in zip(task.names, case.args, strict=False):
        if is_float(arg) and arg.dim() in of:
            of[arg.dim()].append(re.escape(name))
    pattern = rf"\b({'|'.join(of[2])})\s*@\s*({'|'.join(of[3])})\b(?!\s*[.\[])"
    found = (re.search(pattern, text) for _, text, here in _lines(failure) if here) if of[2] and of[3] else ()
    for matrix, vectors in (match.groups() for match in found if match):
        return (
            f"a formula such as W x is meant for one vector, a column. In {vectors} each vector is a row, and there the matrix is on the right, "
            f"transposed: first {vectors}, then {matrix} with its two axes exchanged."
        )
    return ""


def _lines(failure):
    """Return the lines around a failure where they can be read as such: they come from the answer's side."""
    readable = isinstance(failure.source, tuple) and all(
        isinstance(line, tuple) and len(line) == 3 for line in failure.source
    )
    return [line for line in failure.source if isinstance(line[1], str)] if readable else []
