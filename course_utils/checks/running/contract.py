"""The interface between running an answer and judging it: cases go one way, outcomes the other.

Everything here is plain: tensors, numbers, strings, and tuples, lists and dicts of them. `pack` and `unpack`
turn such a value into bytes and back without pickle, so that the two halves can live in two processes.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from math import prod
from typing import TypeGuard

import torch

from course_utils.base import trees


@dataclass(frozen=True)
class Case:
    """One input for an answer. `name` completes the sentence "It went wrong on …".

    Arguments may be dicts, lists and tuples of tensors. If `module` is true, the answer is a class: it is made by
    `cls(**args[0])`, gets the tensors in the dict args[1] as its parameters, and is called with the other arguments.
    """

    name: str
    args: tuple
    gradient: bool = False  # also ask for the gradient with respect to each floating-point tensor in args
    edge: bool = False  # an unusual input: size 1, nothing to attend to, float64
    hazard: bool = False  # an edge no lesson builds, such as NaN at padding: an error only there passes with a remark
    raises: str = ""  # the name of the exception that is the right outcome, such as "ValueError"
    module: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "edge", self.edge or self.hazard)


@dataclass(frozen=True)
class Candidate:
    """Placeholder in a case's args for a function that stays on the judge's side; the answer calls it through `run`."""

    key: int


@dataclass(frozen=True)
class Callback:
    """Placeholder, in a candidate's arguments, for one of the answer's functions, by its position; the candidate calls it through this."""

    place: object  # a position, or the name of an option


@dataclass(frozen=True)
class Stream:
    """Placeholder in a case's args for a function without arguments, which returns one of these values at each call, then None.

    The next call overwrites a tensor with NaN: to keep one, copy it.
    """

    values: tuple

    def function(self) -> Callable[[], object]:
        """Return such a function, which begins with the first value."""
        values, lent = iter(self.values), []

        def hand_out():
            for tensor in lent:
                tensor.fill_(torch.nan)
            value = trees.map_tensors(torch.clone, next(values, None))
            lent[:] = trees.tensors(value)
            return value

        return hand_out


class UsageError(BaseException):
    """Raised if something is not used as its exercise says. Its text is the sentence to show.

    Candidates, correct or not, raise it if they are called against the rules. It is no Exception, so it passes through a learner's test
    that catches what candidates raise.
    """


@dataclass(frozen=True)
class Opaque:
    """Stands for a returned object that is not plain; only its type's name crosses."""

    name: str


@dataclass(frozen=True)
class Failure:
    """An exception in an answer, with the learner's own line. `source`: (number, text, whether this is the line)."""

    type: str
    message: str
    source: tuple = ()
    function: str = ""
    by_candidate: bool = False  # raised by a function that the answer was given to test
    kinds: tuple = ()  # the names of its type and its base classes
    arguments: tuple = ()  # the names of the arguments of the function with this line


@dataclass(frozen=True)
class Outcome:
    """What an answer did with one case.

    `status` is one of STATUSES; "stopped" is the judge's word for a run that ended early. `gradients` holds one entry for
    each floating-point tensor in args, None where no gradient arrived; it is None if none was asked for.
    `changed` lists the paths to what the answer altered in its arguments: (0,) is the first, (1, "out") an entry of the second.
    """

    status: str
    value: object = None
    gradients: tuple | None = None
    gradient_failure: Failure | None = None
    changed: tuple = ()
    failure: Failure | None = None
    printed: str = ""
    seconds: float | None = None  # the limit that a timeout ran into
    waited: bool = False  # it hardly computed until the limit
    unstable: bool = False  # a second call with the same input gave a different value
    mode_matters: bool = False  # a module gave a different value in evaluation mode
    seeded: bool = False  # it set the seed of all random numbers and drew none
    in_float32: bool = False  # it stopped on float64 numbers; this is its outcome with the same ones in float32
    called: tuple = ()  # the course's own functions that the answer called in any of the cases, as "models.attention.dot"


STATUSES = ("value", "error", "not implemented", "timeout", "memory", "stopped")
GO_ON = ("value", "error")  # a run goes on after these; if it ends for another reason, its last outcome says so
DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
        *(torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128),
    )
}
TREE_AT_MOST = 2**21  # bytes of a message without its tensors' numbers
AXES_AT_MOST = 16  # of a tensor
# Of a dict, and of all dicts in a message: keys may be chosen to collide.
ENTRIES_AT_MOST = 1000
ENTRIES_IN_ALL = 10_000
PLAIN_CLASSES = {cls.__name__: cls for cls in (Case, Candidate, Callback, Stream, Opaque, Failure, Outcome)}


def is_float(leaf: object) -> TypeGuard[torch.Tensor]:
    """Return whether a leaf is a tensor of floating-point numbers: one that can carry a gradient."""
    return isinstance(leaf, torch.Tensor) and leaf.is_floating_point()


def float_paths(args: tuple) -> list[tuple]:
    """Return the paths to the floating-point tensors in args, in order."""
    return [path for path, leaf in trees.paths(args) if is_float(leaf)]


def without_labels(case: Case) -> Case:
    """Return the case without anything that may reveal the right answer, such as `edge` where a candidate is given."""
    about_candidate = any(isinstance(leaf, Candidate) for leaf in trees.leaves(case.args))
    return replace(case, name="", raises="", edge=case.edge and not about_candidate, hazard=False)


def holds_float64(case: Case) -> bool:
    """Return whether some tensor in args holds float64 numbers."""
    return any(tensor.dtype == torch.float64 for tensor in trees.tensors(case.args))


def in_precision(case: Case, dtype: torch.dtype) -> Case:
    """Return the same case with every floating-point tensor in one dtype, such as float64 for the oracle."""
    return replace(case, args=map_given(lambda leaf: leaf.to(dtype) if is_float(leaf) else leaf, case.args))


def map_given(function: Callable, args: tuple) -> tuple:
    """Return args with function(leaf) instead of each leaf, including those in a Stream."""

    def one(leaf):
        return Stream(trees.map_leaves(function, leaf.values)) if isinstance(leaf, Stream) else function(leaf)

    return trees.map_leaves(one, args)


def pack(value: object) -> bytes:
    """Return a plain value as bytes: 8 bytes of length, a JSON tree, then the tensors' raw bytes one after another."""
    chunks = []

    def tree(v):
        if isinstance(v, torch.Tensor):
            raw = v.detach().cpu().clone(memory_format=torch.contiguous_format)  # with new strides
            chunks.append(raw.reshape(-1).view(torch.uint8).numpy().tobytes() if raw.numel() else b"")
            return {"tensor": str(raw.dtype).removeprefix("torch."), "shape": list(raw.shape), "bytes": len(chunks[-1])}
        if type(v) in PLAIN_CLASSES.values():
            values = {f.name: getattr(v, f.name) for f in fields(v) if getattr(v, f.name) is not f.default}
            return {"class": type(v).__name__, "fields": {name: tree(w) for name, w in values.items()}}
        if isinstance(v, dict):
            return {"dict": [[tree(k), tree(w)] for k, w in v.items()]}
        if isinstance(v, (tuple, list)):
            return {"tuple" if isinstance(v, tuple) else "list": [tree(w) for w in v]}
        if v is None or isinstance(v, (bool, int, float, str)):
            return v
        raise TypeError(f"only tensors, numbers, strings and containers of them can cross, not {type(v).__name__}")

    head = json.dumps(tree(value)).encode()
    return len(head).to_bytes(8, "big") + head + b"".join(chunks)


def unpack(data: bytes) -> object:
    """Return the plain value that `pack` made into these bytes. Raises ValueError for anything that `pack` does not write."""
    size = int.from_bytes(data[:8], "big")
    if size > min(len(data) - 8, TREE_AT_MOST):
        raise ValueError("the tree is longer than the message, or than a tree may be")
    rest, entries = memoryview(data)[8 + size :], 0

    def value(node):
        nonlocal entries
        if not isinstance(node, dict):
            if isinstance(node, list):
                raise ValueError("a bare list")
            return node
        (kind, inside), *more = node.items()
        if kind == "tensor":
            return tensor(**node)
        if kind == "class":
            return PLAIN_CLASSES[inside](**{name: value(v) for name, v in node["fields"].items()})
        if more:
            raise ValueError("more than one kind of value in one place")
        if kind == "dict":
            entries += len(inside)
            if len(inside) > ENTRIES_AT_MOST or entries > ENTRIES_IN_ALL:
                raise ValueError("a dict has too many entries")
            return {value(key): value(v) for key, v in inside}
        return {"tuple": tuple, "list": list}[kind](map(value, inside))

    def tensor(tensor, shape, bytes):
        nonlocal rest
        dtype = DTYPES[tensor]
        if len(shape) > AXES_AT_MOST:
            raise ValueError("a tensor has too many axes")
        if not all(type(n) is int and n >= 0 for n in shape) or bytes != prod(shape) * dtype.itemsize:
            raise ValueError("a tensor's shape does not fit its bytes")
        raw, rest = rest[:bytes], rest[bytes:]
        if not bytes:
            return torch.empty(shape, dtype=dtype)
        if dtype == torch.bool:  # a byte other than 0 and 1 is no truth value
            return (torch.frombuffer(bytearray(raw), dtype=torch.uint8) != 0).reshape(shape)
        return torch.frombuffer(bytearray(raw), dtype=dtype).reshape(shape)

    try:
        return value(json.loads(data[8 : 8 + size]))
    except (AttributeError, KeyError, OverflowError, RecursionError, RuntimeError, TypeError) as error:
        raise ValueError(f"not a packed value: {error}") from None
