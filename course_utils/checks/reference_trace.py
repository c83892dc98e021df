"""Runs a task's reference computation (its `steps`) step by step, or with some steps, arguments or the result changed."""

from collections.abc import Callable, Generator, Iterator
from inspect import Parameter, signature
from typing import Protocol


class ReferenceComputation(Protocol):
    """What `mutate` needs of a Task, which imports this module: its computation in steps, or as one function."""

    steps_function: Callable[..., Generator[tuple, object, object]] | None
    oracle_function: Callable | None


def trace_steps(
    steps: Callable[..., Generator[tuple, object, object]], args: tuple
) -> Iterator[tuple[str, Callable, list, object]]:
    """Yield each step of the reference computation: (name, operation, operands, value)."""
    trace, value = steps(*args), None
    while True:
        try:
            text, operation, *operands = trace.send(value)
        except StopIteration:
            return
        value = operation(*operands)
        yield text, operation, operands, value


def run_trace(
    steps: Callable[..., Generator[tuple, object, object]],
    args: tuple,
    changes: dict[str, Callable],
    stop: str = "",
    done: dict[str, object] | None = None,
) -> object:
    """Run the reference computation and return its result, or the value of the step named `stop`.

    `changes` replaces steps, each by a function(operation, operands). The values of the steps are stored in `done`, by name.
    """
    done = {} if done is None else done
    trace, value = steps(*args), None
    while True:
        try:
            text, operation, *operands = trace.send(value)
        except StopIteration as end:
            return end.value
        done[text] = value = changes[text](operation, operands) if text in changes else operation(*operands)
        if text == stop:
            return value


def left_out(first: object, *others: object) -> object:
    """Replace a step that is left out: return its first operand unchanged."""
    return first


def mutate(task: ReferenceComputation, changes: dict[str, Callable]) -> Callable:
    """Return the reference computation with `changes` applied, as a function of the task's arguments; see `Task.variant`."""
    steps = task.steps_function or task.oracle_function
    binding = signature(steps)
    wanted = {change: _keyword_only(change) for change in changes.values()}
    of_arguments = {name: change for name, change in changes.items() if name in binding.parameters}
    of_steps = {text: change for text, change in changes.items() if text not in (*of_arguments, "result")}

    def variant(*args, **named):
        bound = binding.bind(*args, **named)
        bound.apply_defaults()
        arguments, done = bound.arguments, {}

        def call(change, operands, right=None):
            known = {**arguments, "right": right, "done": done}
            return change(*operands, **{name: known[name] for name in wanted[change]})

        altered = [
            call(of_arguments[name], [value]) if name in of_arguments and value is not None else value
            for name, value in arguments.items()
        ]
        if task.steps_function:
            changed = {text: lambda right, operands, f=f: call(f, operands, right) for text, f in of_steps.items()}
            result = run_trace(steps, tuple(altered), changed, done=done)
        else:
            result = steps(*altered)
        if "result" not in changes:
            return result
        return call(changes["result"], result if isinstance(result, tuple) else (result,))

    variant.changes, variant.__signature__ = changes, binding
    return variant


def _keyword_only(function):
    try:
        parameters = signature(function).parameters.values()
    except ValueError:  # some functions written in C have no signature, and no keyword-only parameters
        return ()
    return [p.name for p in parameters if p.kind is Parameter.KEYWORD_ONLY and p.default is Parameter.empty]
