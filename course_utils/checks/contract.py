"""What crosses the cut between running an answer and judging it: cases one way, outcomes the other.

Everything here is plain: tensors, numbers, strings, and tuples, lists and dicts of them. `pack` and `unpack`
turn such a value into bytes and back without pickle, so that the two halves can live in two processes.
"""

import json
from dataclasses import dataclass, fields, replace

import torch


@dataclass(frozen=True)
class Case:
    """One input for an answer. `name` completes the sentence "It went wrong on …"."""

    name: str
    args: tuple
    gradient: bool = False  # also ask for the gradient with respect to each floating-point tensor in args
    edge: bool = False  # an unusual input: size 1, nothing to attend, scores of 1e4, float64


@dataclass(frozen=True)
class Candidate:
    """Stands in a case's args for a function that stays on the judge's side; the answer calls it through `run`."""

    key: int


@dataclass(frozen=True)
class Foreign:
    """Stands for a returned object that is not plain; only its type's name crosses."""

    name: str


@dataclass(frozen=True)
class Failure:
    """An exception in an answer, told with the learner's own line. `source`: (number, text, is this the line)."""

    type: str
    message: str
    source: tuple = ()
    function: str = ""
    by_candidate: bool = False  # raised by a function that the answer was given to test


@dataclass(frozen=True)
class Outcome:
    """What an answer did with one case.

    `status` is one of STATUSES; "stopped" is the judge's word for a run that ended early. `gradients` holds one entry for
    each floating-point tensor in args, None where no gradient arrived; it is None where none was asked.
    `changed` lists the positions of arguments that the answer altered.
    """

    status: str
    value: object = None
    gradients: tuple | None = None
    gradient_failure: Failure | None = None
    changed: tuple = ()
    failure: Failure | None = None
    printed: str = ""
    seconds: float | None = None  # the limit that a timeout ran into
    unstable: bool = False  # a second call with the same input gave another value


STATUSES = ("value", "error", "not implemented", "timeout", "memory", "stopped")
PLAIN_CLASSES = {cls.__name__: cls for cls in (Case, Candidate, Foreign, Failure, Outcome)}


def float_positions(args):
    """Positions of the floating-point tensors in args: those that can carry a gradient."""
    return [i for i, arg in enumerate(args) if isinstance(arg, torch.Tensor) and arg.is_floating_point()]


def question(case):
    """The case as an answer's side may see it: without its name, which may tell what the right answer is."""
    return replace(case, name="")


def in_float64(case):
    """The same case with every floating-point tensor in float64: the oracle's input."""
    args = list(case.args)
    for i in float_positions(args):
        args[i] = args[i].double()
    return replace(case, args=tuple(args))


def pack(value):
    """Plain value to bytes: 8 bytes of length, a JSON tree, then the tensors' raw bytes one after another."""
    chunks = []

    def tree(v):
        if isinstance(v, torch.Tensor):
            raw = v.detach().cpu().contiguous()
            chunks.append(raw.reshape(-1).view(torch.uint8).numpy().tobytes() if raw.numel() else b"")
            return {"tensor": str(raw.dtype).removeprefix("torch."), "shape": list(raw.shape), "bytes": len(chunks[-1])}
        if type(v) in PLAIN_CLASSES.values():
            return {"class": type(v).__name__, "fields": {f.name: tree(getattr(v, f.name)) for f in fields(v)}}
        if isinstance(v, dict):
            return {"dict": [[tree(k), tree(w)] for k, w in v.items()]}
        if isinstance(v, (tuple, list)):
            return {"tuple" if isinstance(v, tuple) else "list": [tree(w) for w in v]}
        if v is None or isinstance(v, (bool, int, float, str)):
            return v
        raise TypeError(f"only tensors, numbers, strings and containers of them can cross, not {type(v).__name__}")

    head = json.dumps(tree(value)).encode()
    return len(head).to_bytes(8, "big") + head + b"".join(chunks)


def unpack(data):
    """Bytes of `pack` back to the plain value."""
    size = int.from_bytes(data[:8], "big")
    position = 8 + size

    def value(node):
        nonlocal position
        if not isinstance(node, dict):
            return node
        if "tensor" in node:
            raw = data[position : position + node["bytes"]]
            position += node["bytes"]
            dtype = getattr(torch, node["tensor"])
            flat = torch.frombuffer(bytearray(raw), dtype=dtype) if raw else torch.empty(0, dtype=dtype)
            return flat.reshape(node["shape"])
        if "class" in node:
            return PLAIN_CLASSES[node["class"]](**{k: value(v) for k, v in node["fields"].items()})
        if "dict" in node:
            return {value(k): value(v) for k, v in node["dict"]}
        return tuple(map(value, node["tuple"])) if "tuple" in node else [value(v) for v in node["list"]]

    return value(json.loads(data[8 : 8 + size]))
