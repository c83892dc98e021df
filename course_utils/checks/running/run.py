"""The only place that calls a learner's answer. Sees cases, never the truth; imports neither tasks nor judge.

`run(answer, cases)` returns one Outcome per case: the value, its gradients, altered inputs and printed text, or the
exception and the learner's line.
"""

import builtins
import contextlib
import dis
import importlib
import inspect
import io
import linecache
import os
import sys
import sysconfig
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import CodeType

import numpy as np
import torch

from course_utils.base import trees
from course_utils.checks.running.call_tracer import OURS, CallTracer, NullTracer, untraced
from course_utils.checks.running.contract import (
    AXES_AT_MOST,
    DTYPES,
    ENTRIES_AT_MOST,
    Candidate,
    Case,
    Failure,
    Opaque,
    Outcome,
    Stream,
    UsageError,
    holds_float64,
    in_precision,
    is_float,
)
from course_utils.checks.running.isolated_state import isolated_state
from course_utils.checks.running.limit import WAITING, Limit, TimeIsUp, time_limit

SEED = 2**40 + 12345  # of an answer's random numbers, which nobody sets by chance
REPEATED_FOR = 0.5  # seconds of computing, after which an answer is called once for each of the rest
PRINTED_AT_MOST = 2000  # characters kept of what an answer prints for one case
NUMBERS_AT_MOST = 10_000_000  # no right result comes close; a larger one (expanded, it takes no memory) is not copied
DIGITS_AT_MOST = 4096  # of a returned int, in binary
NOT_THE_LEARNERS = (*OURS, *(f"{sysconfig.get_paths()[k]}{os.sep}" for k in ("stdlib", "purelib", "platlib")))
NO_MEMORY = ("you tried to allocate", "out of memory", "allocate memory")  # as PyTorch says it, on all systems


def run(
    answer: Callable,
    cases: Sequence[Case],
    seconds: float = 10.0,
    candidates: Callable[[int], Callable] | None = None,
    repeated: bool = True,
    tracer: CallTracer | NullTracer | None = None,
    waiting: float = WAITING,
) -> list[Outcome]:
    """Call `answer` with each case's args and return a list of Outcomes, in order.

    Args:
        answer: any callable; arguments are passed by position, as copies. If cases ask for a module: a class of modules,
            or a function of its sizes, its weights and its inputs.
        cases: Cases, smallest first.
        seconds: how long it may compute for all cases together; see `time_limit`. The list ends at the case that ran into it.
        waiting: how many times as long it may take by the clock.
        candidates: maps a Candidate's key to a function, for answers that test other functions.
        repeated: whether to call it a second time, to see whether it gives the same; a slow answer only for the first cases.
        tracer: records what it calls; a new CallTracer if None.
    """
    outcomes, printed, tracer, limit = [], _CappedOutput(), tracer or CallTracer(), Limit()
    _import_late(answer)
    with isolated_state(), _display_as_text():
        try:
            with time_limit(seconds, waiting) as limit:
                builtins.input = sys.breakpointhook = _no_input
                # `torch.manual_seed` would take a millisecond for devices that nobody has.
                torch.default_generator.manual_seed(SEED)
                began = time.process_time()
                for case in cases:
                    printed = _CappedOutput()
                    again = repeated and time.process_time() - began <= REPEATED_FOR
                    outcome = _call(answer, case, candidates, printed, tracer, again)
                    if outcome.status == "error" and holds_float64(case):
                        outcome, printed = _retry_in_float32(outcome, answer, case, candidates, printed, tracer, again)
                    if limit.up:  # the answer has swallowed TimeIsUp
                        raise TimeIsUp
                    outcomes.append(replace(outcome, printed=printed.text(), seeded=_is_seeded_in_vain()))
                    if outcome.status in ("not implemented", "memory"):
                        break
        except TimeIsUp:
            outcomes.append(Outcome("timeout", printed=printed.text(), seconds=float(seconds), waited=limit.waited))
    return [replace(outcome, called=tracer.called) for outcome in outcomes] if tracer.called else outcomes


def _is_seeded_in_vain():
    """Return whether the seed of all random numbers was set, and none has been drawn since."""
    seed = torch.initial_seed()
    unused = torch.Generator().manual_seed(seed).get_state()
    return seed != SEED and torch.equal(torch.get_rng_state(), unused)


def caught_error(answer: Callable, case: Case, candidates: Callable[[int], Callable], seconds: float) -> Failure | None:
    """Return the first error that an answer catches on a case, those of `assert` aside; None if there is none. For the arguments, see `run`."""
    watch = _ErrorTracer()
    run(answer, [case], seconds, candidates, repeated=False, tracer=watch)
    return _failure(watch.error, answer) if watch.error else None


class _ErrorTracer(NullTracer):
    """Keeps the first error that passes through a learner's code."""

    error = None

    def __enter__(self):
        self._before = sys.gettrace()
        sys.settrace(self._look)
        return self

    def __exit__(self, *_):
        sys.settrace(self._before)

    def _look(self, frame, event, argument):
        return self._inside if _is_the_learners(frame.f_code) else None

    def _inside(self, frame, event, argument):
        if event == "exception" and self.error is None:
            kind, error, _ = argument
            if issubclass(kind, Exception) and not issubclass(kind, (AssertionError, StopIteration)):
                self.error = error
        return self._inside


def kind_of_answer(answer: object) -> tuple[str, object]:
    """Classify the object under the answer's name, before it is called: (kind, plain value to show).

    Kinds: "callable"; "empty", None or a stub without a body; "class", a class of modules, and "module", an instance of
    one; "value", anything else that cannot be called.
    """
    if answer is None or answer is ... or _is_empty(answer):
        return "empty", None
    if _is_module_class(answer):
        forward = inspect.getattr_static(answer, "forward", None)
        return ("empty", None) if _is_empty(forward) else ("class", str(answer.__name__))
    if isinstance(answer, torch.nn.Module):
        return "module", str(type(answer).__name__)
    if callable(answer):
        return ("callable", answer.__name__ if inspect.isclass(answer) else None)
    return ("value", plain(answer))


def _is_module_class(answer):
    return inspect.isclass(answer) and issubclass(answer, torch.nn.Module)


def _is_empty(answer):
    """Return whether a function has no body: only a docstring, `pass` or `...`."""
    if not inspect.isfunction(answer):
        return False
    code = answer.__code__
    does = {instruction.opname for instruction in dis.get_instructions(code)}
    return does <= {"RESUME", "NOP", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST"} and set(code.co_consts) <= {
        None,
        answer.__doc__,
    }


def _no_input(*args, **named):
    raise EOFError(
        "an answer gets everything it needs as arguments: `input()` and `breakpoint()` would wait for somebody to type"
    )


def code_of(answer: object) -> CodeType | None:
    """Return the code of a function, or of a module's `forward`; None where there is none."""
    try:
        return getattr(getattr(answer, "forward", answer), "__code__", None)
    except Exception:  # an object that raises at every touch
        return None


_LATE = {"optim": "torch._dynamo", "assert_close": "sympy"}  # what is imported, by the name that an answer uses


def _import_late(answer):
    """Import now what an answer would import in its own time: a process's first optimizer takes seconds, its first `assert_close` one."""
    for name in getattr(code_of(answer), "co_names", ()):
        if name in _LATE:
            importlib.import_module(_LATE[name])


class _CappedOutput(io.StringIO):
    """Keeps the beginning of the printed output. Closing it has no effect."""

    left_out = 0

    def write(self, text):
        room = max(PRINTED_AT_MOST - self.tell(), 0)
        self.left_out += max(len(text) - room, 0)
        super().write(text[:room])
        return len(text)

    def text(self):
        return self.getvalue() + (f"\n… {self.left_out} more characters" if self.left_out else "")

    def close(self):
        pass


@contextlib.contextmanager
def _display_as_text():
    """Print as text what an answer displays. Close the figures it opens, which a notebook would show below the cell."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    pyplot = sys.modules.get("matplotlib.pyplot")
    publisher, open_before = getattr(shell, "display_pub", None), pyplot.get_fignums() if pyplot else ()
    if shell:
        shell.display_pub = _TextDisplay()
    try:
        yield
    finally:
        if shell:
            shell.display_pub = publisher
        if pyplot := sys.modules.get("matplotlib.pyplot"):
            for number in set(pyplot.get_fignums()) - set(open_before):
                pyplot.close(number)


class _TextDisplay:
    """Replaces what a notebook displays with."""

    is_publishing = False  # IPython asks for this at each line that is printed

    def publish(self, data, *more, **options):
        print(data.get("text/plain", ""))

    def clear_output(self, wait=False):
        pass


@contextlib.contextmanager
def _print_into(kept):
    """Keep what is printed, warnings and errors included."""
    with contextlib.redirect_stdout(kept), contextlib.redirect_stderr(kept):
        yield


def _call(answer, case, candidates, printed, tracer, repeated):
    args = _copy_args(case.args, candidates)
    answer = _AsFunction(answer) if case.module and _is_module_class(answer) else answer
    try:
        with _print_into(printed), tracer:  # tracing takes time, so only the call that returns the value is traced
            value = answer(*args)
            result = plain(value)  # which may run the answer's code, too
    except NotImplementedError as error:
        failure = _failure(error, answer)
        if not _raised_by_hand(error):
            return Outcome("error", failure=failure)
        return Outcome("not implemented", failure=failure if _has_code_above(error) else None)
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, MemoryError) or any(words in str(error) for words in NO_MEMORY):
            return Outcome("memory", failure=_failure(error, answer))
        return Outcome("error", failure=_failure(error, answer))
    except (TimeIsUp, KeyboardInterrupt):
        raise
    except BaseException as error:  # SystemExit, too
        return Outcome("error", failure=_failure(error, answer))
    changed = tuple(_changed_paths(case.args, args))
    with _print_into(_CappedOutput()):  # printed again, but not shown again
        again = repeated and not case.edge and not changed
        unstable = again and not _repeats(answer, case, candidates, result)
        gradients, gradient_failure = _gradients(answer, case, candidates) if case.gradient else (None, None)
        if isinstance(answer, _AsFunction) and not unstable:
            unstable = not _repeats(answer, case, candidates, result) or _keeps_state(answer, case)
        mode_matters = (
            isinstance(answer, _AsFunction) and not unstable and not _repeats(answer.evaluate, case, candidates, result)
        )
    return Outcome("value", result, gradients, gradient_failure, changed, unstable=unstable, mode_matters=mode_matters)


def _keeps_state(made, case):
    """Return whether a module that has been called gives a different value for other inputs than a new one."""

    def other(leaf):
        if not isinstance(leaf, torch.Tensor):
            return leaf
        return leaf.flip(list(range(leaf.dim()))) if leaf.dtype == torch.bool else -leaf

    def called(by):
        args = _copy_args(case.args, None)
        try:
            return plain(by(*args[:2], *trees.map_leaves(other, args[2:])))
        except (TimeIsUp, KeyboardInterrupt):
            raise
        except BaseException as error:
            return type(error).__name__

    return not trees.alike(_equal_up_to_rounding, called(made.anew()), called(made))


class _AsFunction:
    """Calls an answer that is a class of modules as if it were a function of its sizes, weights and inputs.

    The weights become the data of the module's own parameters, as where it is loaded: a forward may do with them whatever it may elsewhere. One instance serves all calls, so that state leaking from one to the next is found.
    """

    def __init__(self, cls):
        self._class, self._module, self.__name__ = cls, None, cls.__name__

    def __call__(self, sizes, weights, *inputs):
        return self._forward(True, sizes, weights, inputs)

    def anew(self):
        """Return the same for a new instance."""
        return _AsFunction(self._class)

    def evaluate(self, sizes, weights, *inputs):
        """Call it in evaluation mode."""
        return self._forward(False, sizes, weights, inputs)

    def _forward(self, training, sizes, weights, inputs):
        if self._module is None:
            self._module = self._class(**sizes)
            _check_parameters(self._module, weights)
        self._module.to(next(iter(weights.values())).dtype).train(training)
        for parameter, weight in zip(self.parameters(weights), weights.values(), strict=True):
            parameter.data = weight.detach()
        return self._module(*inputs)

    def parameters(self, weights):
        """Return the module's parameters that these weights are for."""
        own = dict(self._module.named_parameters(remove_duplicate=False))
        return [own[name] for name in weights]


def _check_parameters(module, weights):
    name, has = (
        type(module).__name__,
        {name: tuple(p.shape) for name, p in module.named_parameters(remove_duplicate=False)},
    )
    for part, tensor in weights.items():
        if part not in has:
            raise UsageError(f"{name} has no parameter {part}: keep `__init__` as the exercise gives it.")
        if has[part] != tuple(tensor.shape):
            raise UsageError(f"{name}'s parameter {part} has shape {has[part]}, expected {tuple(tensor.shape)}.")
    known = {id(dict(module.named_parameters(remove_duplicate=False))[part]) for part in weights}
    for part, parameter in module.named_parameters():
        if not parameter.requires_grad:
            raise UsageError(f"{name}'s parameter {part} cannot learn: its requires_grad is False.")
        if id(parameter) not in known:
            raise UsageError(f"{name} has a parameter {part} that the exercise does not give it: leave it out.")


def _retry_in_float32(outcome, answer, case, candidates, printed, tracer, repeated):
    """Return the outcome on the same numbers in float32, and what is printed, if the answer stops only in float64.

    A buffer of zeros or a mask turned into numbers is float32 and does not mix with float64: no exercise asks for that.
    """
    printed_again = _CappedOutput()
    again = _call(answer, in_precision(case, torch.float32), candidates, printed_again, tracer, repeated)
    return (replace(again, in_float32=True), printed_again) if again.status == "value" else (outcome, printed)


def _copy_args(args, candidates):
    def copy(leaf):
        if isinstance(leaf, torch.Tensor):
            return leaf.clone()
        if isinstance(leaf, Stream):
            return marked(leaf.function())
        return candidates(leaf.key) if isinstance(leaf, Candidate) else leaf

    return trees.map_leaves(copy, args)


def marked(candidate: Callable) -> Callable:
    """Return the candidate, wrapped so that every exception it raises is marked."""

    def call(*args, **options):
        try:
            with untraced():
                return candidate(*args, **options)
        except Exception as error:
            error.raised_by_candidate = True
            raise

    return call


def _last_traceback(error):
    trace = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace


def _has_code_above(error):
    """Return whether the function that raised this error has code above the line of the `raise`, as no stub has."""
    trace = _last_traceback(error)
    code = trace.tb_frame.f_code
    return any(code.co_firstlineno < line < trace.tb_lineno for *_, line in code.co_lines() if line)


def _raised_by_hand(error):
    """Return whether the learner's own `raise` gave this error: torch, too, raises NotImplementedError, for some dtypes."""
    trace = _last_traceback(error)
    code = trace.tb_frame.f_code
    raised = dis.opname[code.co_code[trace.tb_lasti]] == "RAISE_VARARGS"
    return raised and not code.co_filename.startswith(NOT_THE_LEARNERS)


def _changed_paths(old, new, path=()):
    """Yield the paths to leaves that have changed."""
    if isinstance(old, dict) and isinstance(new, dict) and old.keys() == new.keys():
        for key in old:
            yield from _changed_paths(old[key], new[key], (*path, key))
    elif isinstance(old, (list, tuple)) and isinstance(new, (list, tuple)) and len(old) == len(new):
        for place, pair in enumerate(zip(old, new, strict=True)):
            yield from _changed_paths(*pair, (*path, place))
    elif not _equal_exactly(old, new):
        yield path


def _equal_exactly(old, new):
    try:
        if isinstance(old, torch.Tensor):
            return old.shape == new.shape and old.dtype == new.dtype and torch.equal(old.nan_to_num(), new.nan_to_num())
        return isinstance(old, (Candidate, Stream)) or bool(old == new)
    except Exception:  # what was put into a list cannot even be compared
        return False


def _repeats(answer, case, candidates, first):
    """Return whether a second call with the same input gives the same value: no dropout, no state kept between calls."""
    try:
        return trees.alike(_equal_up_to_rounding, first, plain(answer(*_copy_args(case.args, candidates))))
    except (TimeIsUp, KeyboardInterrupt):
        raise
    except BaseException:
        return False


def _equal_up_to_rounding(a, b):
    """Return whether two leaves, from two calls, are equal up to rounding."""
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        a, b = (a, b) if a.is_complex() else (a.double(), b.double())
        return torch.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True)
    return a == b or a != a and b != b


def _gradients(answer, case, candidates):
    """Gradients of a fixed random projection of the output, one for each floating-point tensor in args."""
    leaves = []

    def tracked(leaf):
        if not is_float(leaf):
            return leaf
        leaves.append(leaf.clone().requires_grad_())
        return leaves[-1].clone()  # not a leaf, so that altering it in place is reported as that, not as an error

    args = trees.map_leaves(tracked, _copy_args(case.args, candidates))
    try:
        value = answer(*args)
        if isinstance(answer, _AsFunction):  # the weights come first
            leaves[: len(args[1])] = answer.parameters(args[1])
        outputs = [tensor for tensor in trees.tensors(value) if tensor.requires_grad]
        if not outputs:
            return (None,) * len(leaves), None
        loss = sum((v.double() * _projection(v.shape)).sum() for v in outputs)
        gradients = torch.autograd.grad(loss, leaves, allow_unused=True)
    except (TimeIsUp, KeyboardInterrupt):
        raise
    except BaseException as error:
        return (None,) * len(leaves), _failure(error, answer)
    return tuple(None if g is None else plain(g) for g in gradients), None


def _projection(shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def plain(value: object) -> object:
    """Return the value as plain data: tensors detached and copied, numpy scalars as numbers, anything else Opaque."""
    try:
        return _plain(value)
    except Exception:  # a tensor without data, a list that contains itself, an object that raises at every touch
        return Opaque(type(value).__name__)


def _plain(value):
    if isinstance(value, torch.Tensor):
        if value.is_nested or value.is_meta:
            return Opaque("nested tensor" if value.is_nested else "tensor on the device meta, which holds no numbers")
        if value.dtype not in DTYPES.values():
            return Opaque(f"tensor of {str(value.dtype).removeprefix('torch.')} numbers")
        if value.dim() > AXES_AT_MOST:
            return Opaque(f"{type(value).__name__} with {value.dim()} axes")
        if value.numel() > NUMBERS_AT_MOST:
            return Opaque(f"{type(value).__name__} with {value.numel():,} numbers")
        with torch._C.DisableTorchFunctionSubclass():
            dense = value.detach().to_dense() if value.layout != torch.strided else value.detach()
            return dense.cpu().clone().as_subclass(torch.Tensor)
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, int) and int.bit_length(value) > DIGITS_AT_MOST:
        return Opaque("int with thousands of digits")
    if value is None or type(value) in (bool, int, float, str):
        return value
    for basic in (int, float, str):  # a subclass may redefine everything: keep the number or the text
        if isinstance(value, basic):
            return basic.__add__(value, basic())
    if isinstance(value, Mapping):
        if len(value) > ENTRIES_AT_MOST:
            return Opaque(f"dict of {len(value):,}")
        return {_plain(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        if len(value) > NUMBERS_AT_MOST:
            return Opaque(f"{type(value).__name__} of {len(value):,}")
        return [_plain(v) for v in value] if type(value) is list else tuple(map(_plain, value))
    return Opaque(type(value).__name__)


def _failure(error, answer):
    """Return the exception with the learner's own line, without our frames and the library's."""
    name = getattr(answer, "__name__", type(answer).__name__)
    kinds = tuple(kind.__name__ for kind in type(error).__mro__[:-1])
    try:
        message = str(error).strip() or "no message"
    except Exception:
        message = "no message"
    frame, trace = None, error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if _is_the_learners(code):
            line = trace.tb_lineno
            if line == code.co_firstlineno and frame and isinstance(error, RecursionError):
                line = frame[1]  # the call that went too deep, above, rather than the `def` that it reached
            frame = (code.co_filename, line, code.co_name)
            arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        trace = trace.tb_next
    if frame is None:  # the call itself failed, or a library's callable was given as the answer
        return Failure(type(error).__name__, message, _definition(answer), name, kinds=kinds)
    by_candidate = getattr(error, "raised_by_candidate", False) is True
    return Failure(type(error).__name__, message, _source_lines(*frame[:2]), frame[2], by_candidate, kinds, arguments)


def _is_the_learners(code):
    return not code.co_filename.startswith((*NOT_THE_LEARNERS, "<frozen"))


def _source_lines(filename, line, reach=2):
    lines = linecache.getlines(filename)
    numbers = range(max(1, line - reach), min(len(lines), line + reach) + 1)
    return tuple((n, lines[n - 1].rstrip("\n"), n == line) for n in numbers)


def _definition(answer):
    code = getattr(inspect.unwrap(answer), "__code__", None) if callable(answer) else None
    return _source_lines(code.co_filename, code.co_firstlineno, reach=0) if inspect.iscode(code) else ()
