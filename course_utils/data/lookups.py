"""Two worlds for trying out an attention: look up the value of a key that was told once, or the latest of several values.

Shape letters: B sequences, T steps, K keys, V values.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

KEYS, VALUES = 128, 8
KINDS = {"once": KEYS, "latest": 8}  # how many keys a sequence has


class Lookups(NamedTuple):
    """At each step a key is told with its value, and one told by then is asked for: key, value, query and answer, all B×T."""

    key: Tensor
    value: Tensor
    query: Tensor
    answer: Tensor


def lookups(number: int, kind: str, draw: torch.Generator, steps: int) -> Lookups:
    """once: each key is told once; latest: eight keys are told again and again, and the latest value is the answer."""
    own = torch.rand(number, KEYS, generator=draw).argsort(-1)[:, : KINDS[kind]]
    if kind == "once":
        key = own[:, :steps]
    else:
        key = own.gather(1, torch.randint(KINDS[kind], (number, steps), generator=draw))
    value = torch.randint(VALUES, (number, steps), generator=draw)
    place = (torch.rand(number, steps, generator=draw) * torch.arange(1, steps + 1)).long()
    query = key.gather(1, place)
    same = (query[:, :, None] == key[:, None]).tril()  # B T T
    last = (same * torch.arange(1, steps + 1)).argmax(-1)
    return Lookups(key, value, query, value.gather(1, last))


def most_told(lookups: Lookups) -> Tensor:
    """Return the value told most often so far with the key that is asked for, B×T; the smallest if there are several."""
    same = (lookups.query[:, :, None] == lookups.key[:, None]).tril()  # B T T
    return (same.float() @ F.one_hot(lookups.value, VALUES).float()).argmax(-1)


def read(lookups: Lookups) -> Tensor:
    """What a model reads: the key, its value, and the key that is asked for → B×T×(2K + V)."""
    ones = torch.stack([lookups.key, KEYS + lookups.value, KEYS + VALUES + lookups.query], -1)  # B T 3
    return torch.zeros(*lookups.key.shape, 2 * KEYS + VALUES).scatter(-1, ones, 1.0)
