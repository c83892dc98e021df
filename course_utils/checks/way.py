"""The way to a right answer, step by step, as a task's `steps` names it; and the same way with something on it changed."""

from collections.abc import Callable
from inspect import Parameter, signature


def steps_of(steps: Callable, args: tuple):
    """Give each step of the way to a right answer as it comes: (its words, operation, operands, what it gives)."""
    way = steps(*args)
    step = next(way)
    while True:
        text, operation, *operands = step
        value = operation(*operands)
        yield text, operation, operands, value
        try:
            step = way.send(value)
        except StopIteration:
            return


def walk(steps: Callable, args: tuple, changes: dict[str, Callable], stop: str = "", done: dict | None = None):
    """Go the way to a right answer with some steps changed, each a function(operation, operands), or up to one; return the result.

    What the steps give is kept in `done`, by their words.
    """
    done = {} if done is None else done
    way = steps(*args)
    step = next(way)
    while True:
        text, operation, *operands = step
        done[text] = value = changes[text](operation, operands) if text in changes else operation(*operands)
        if text == stop:
            return value
        try:
            step = way.send(value)
        except StopIteration as end:
            return end.value


def left_out(first, *others):
    """Take the place of a step that is left out: what went into it first goes on as it is."""
    return first


def changed_way(task, changes: dict[str, Callable]) -> Callable:
    """Return a function that takes the task's arguments and gives its right answer with something changed; see `Task.changed`."""
    steps = task.steps_function or task.oracle_function
    binding = signature(steps)
    wanted = {change: _keyword_only(change) for change in changes.values()}
    of_arguments = {name: change for name, change in changes.items() if name in binding.parameters}
    of_steps = {text: change for text, change in changes.items() if text not in (*of_arguments, "result")}

    def way(*args, **named):
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
            result = walk(steps, tuple(altered), changed, done=done)
        else:
            result = steps(*altered)
        if "result" not in changes:
            return result
        return call(changes["result"], result if isinstance(result, tuple) else (result,))

    way.changes, way.__signature__ = changes, binding
    return way


def _keyword_only(function):
    try:
        parameters = signature(function).parameters.values()
    except ValueError:  # some that are written in C tell nothing, and want nothing
        return ()
    return [p.name for p in parameters if p.kind is Parameter.KEYWORD_ONLY and p.default is Parameter.empty]
