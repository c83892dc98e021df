"""Task 11.relative_only: does a score depend on the distance of query and key alone? The scores are made here, so the answer is known.

What breaks the promise moves by more than 1e-3 in at least one of ten random moves; what keeps it stays within rounding.
"""

from math import sin

import torch

from course_lessons.shared.candidate_tests import MistakenTests, asking, one_case_each
from course_utils.checks.task import Task
from course_utils.models.minimal import sinusoidal_positions

FURTHEST, TRAINED, WIDTH = 1000, 64, 4
ANGLES = torch.tensor([1.0, 0.3], dtype=torch.float64)  # of each pair, for one step
WAVES = sinusoidal_positions(FURTHEST + 1, 8).double()
LEARNED = torch.randn(FURTHEST + 1, WIDTH, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
OF_A_DISTANCE = torch.randn(2 * TRAINED, generator=torch.Generator().manual_seed(2), dtype=torch.float64)


def _turned(x, position):
    """Each pair turned by position times frequency, as a complex number."""
    return torch.view_as_complex(x.reshape(2, 2)) * torch.polar(torch.ones(2).double(), position * ANGLES)


def _product(a, b):
    return (a * b.conj()).real.sum()


def rotary(query, key, p, s):
    return _product(_turned(query, p), _turned(key, s))


def large_and_back(query, key, p, s):
    """What cancels leaves a trace in the last digits."""
    return (query @ key + p / 7) - s / 7


def learned_until_the_end_of_training(query, key, p, s):
    """Positions beyond the trained ones get the vector of the last one."""
    last = TRAINED - 1
    return (query + LEARNED[min(p, last)]) @ (key + LEARNED[min(s, last)])


RELATIVE = {
    lambda query, key, p, s: query @ key: "a score without any positions, which no move can change",
    rotary: "a relative score: query and key are rotated by their positions",
    lambda query, key, p, s: query @ key - abs(p - s) / 8: "a relative score: a slope is subtracted for the distance",
    lambda query, key, p, s: query @ key - 50 * (s > p): "a relative score: later keys are hidden",
    lambda query, key, p, s: query @ key + OF_A_DISTANCE[min(max(p - s, -TRAINED), TRAINED - 1)]: "a relative score: a learned number for each distance, the same for all long ones",
    lambda query, key, p, s: query @ key if abs(p - s) <= 5 else torch.tensor(-50.0): "a relative score: keys more than 5 away are hidden",
    lambda query, key, p, s: WAVES[p] @ WAVES[s]: "a relative score: the product of two sinusoidal positions, without any words",
    large_and_back: "a relative score: the query's position is added and the key's position is subtracted",
}  # fmt: skip
ABSOLUTE = {
    lambda query, key, p, s: (query + WAVES[p, :WIDTH]) @ (key + WAVES[s, :WIDTH]): "a score that is not relative: sinusoidal positions are added to words",
    lambda query, key, p, s: (query + LEARNED[p]) @ (key + LEARNED[s]): "a score that is not relative: learned positions are added to words",
    learned_until_the_end_of_training: "a score that is not relative: learned positions, the last of which is used for all later ones",
    lambda query, key, p, s: _product(_turned(query, p), _turned(key, 0)): "a score that is not relative: only the query is rotated",
    lambda query, key, p, s: _product(_turned(query, p), _turned(key, -s)): "a score that is not relative: the key is rotated in the opposite direction",
    lambda query, key, p, s: rotary(query, key, min(p, TRAINED - 1), min(s, TRAINED - 1)): "a score that is relative only within the trained positions: beyond them, nothing is rotated any further",
    lambda query, key, p, s: rotary(query, key, p, s) if max(p, s) < TRAINED else rotary(query, key, p / 2, s / 2): "a score that is relative only within the trained positions: in longer texts, the rotation is half as fast",
    lambda query, key, p, s: query @ key - abs(p // 8 - s // 8): "a score that is not relative: it counts blocks of eight words",
    lambda query, key, p, s: (query + LEARNED[p % 32]) @ (key + LEARNED[s % 32]): "a score that is not relative: positions start again every 32 words",
    lambda query, key, p, s: (query + LEARNED[p % 100]) @ (key + LEARNED[s % 100]): "a score that is not relative: positions start again every 100 words",
    lambda query, key, p, s: query @ key - 4 * abs(p - s) / (1 + max(p, s)): "a score that is not relative: the distance is taken as a fraction of the text so far",
    lambda query, key, p, s: query @ key - abs(p - s) / 8 + 2 * (s < 60): "a score that is not relative: the first sixty words are favoured",
    lambda query, key, p, s: query @ key + (query - key).sum().relu() * p / 50: "a score that is not relative: the position matters if the query's entries add up to more than the key's",
    lambda query, key, p, s: query @ key + (key - query).sum().relu() * p / 50: "a score that is not relative: the position matters if the key's entries add up to more than the query's",
    lambda query, key, p, s: query @ key + p / 100 * (abs(p - s) > 20): "a score that is not relative: the query's position matters if the key is more than 20 away",
    lambda query, key, p, s: query @ key + p / 100 * (s > p): "a score that is not relative: the query's position matters if the key comes later",
    lambda query, key, p, s: query @ key + (-query.sum()).relu() * p / 50: "a score that is not relative: the position matters if the query's entries add up to less than 0",
    lambda query, key, p, s: query @ key + query[0] * query[3] * p / 20: "a score that is not relative: the position matters if the first and last features of the query are not 0",
    lambda query, key, p, s: query @ key + sin(p) / 200: "a score that is not relative: a small wave in the query's position is added, at most 0.005",
}  # fmt: skip


def _problem(query, key, p, s):
    for x in (query, key):
        if not isinstance(x, torch.Tensor) or x.shape != (WIDTH,):
            return "Your test calls a score with something other than a query and a key of 4 numbers each."
    for position in (p, s):
        if isinstance(position, bool) or not isinstance(position, int) or not 0 <= position <= FURTHEST:
            return f"Your test calls a score with a position that is not an int from 0 to {FURTHEST:,}: {position!r}."
    return None


def _exact(score):
    def call(query, key, p, s):
        return torch.as_tensor(score(query.double(), key.double(), p, s)).float()

    return call


def _in_float32(query, key, p, s):
    return large_and_back(query.float(), key.float(), torch.tensor(float(p)), torch.tensor(float(s)))


task = Task(
    __name__,
    "scores that depend only on distance",
    arguments=("score",),
    result="verdict",
    candidates=asking(
        _problem, [_in_float32 if one is large_and_back else _exact(one) for one in (*RELATIVE, *ABSOLUTE)]
    ),
    suspects=False,
    difficulty=3,
    importance=4,
    minutes=15,
)

one_case_each(task, RELATIVE, ABSOLUTE)


def _same_score(before, after):
    return abs(float(before) - float(after)) <= 5e-4


def _test(
    score, positions=(0, 300), moves=range(1, 300), vectors=torch.randn, same=_same_score, move_both=True, at=None
):
    """A test like the solution's, in which things may be changed."""
    draw = torch.Generator().manual_seed(3)
    for _ in range(150):
        query, key = vectors(2, WIDTH, generator=draw)
        p, s = torch.randint(*positions, (2,), generator=draw).tolist()
        if at:
            p, s = at(p, s)
        move = moves[int(torch.randint(len(moves), (), generator=draw))]
        if not same(score(query, key, p, s), score(query, key, p + move, s + move if move_both else s)):
            return False
    return True


_mistaken = MistakenTests(task, _test)
_mistaken("within_training", positions=(0, 30), moves=range(1, 30))
_mistaken("beyond_training_alone", positions=(64, 300))
_mistaken("multiples_of_32", moves=range(32, 321, 32))
_mistaken("no_distance", at=lambda p, s: (p, p))
_mistaken("query_alone_moved", move_both=False)
_mistaken("zero_vectors", vectors=lambda *shape, generator: torch.zeros(shape))
_mistaken(
    "one_feature",
    vectors=lambda *shape, generator: torch.randn(*shape, generator=generator) * torch.tensor([1.0, 0, 0, 0]),
)
_mistaken("no_rounding", same=lambda before, after: float(before) == float(after))
_mistaken("too_much_room", same=lambda before, after: abs(float(before) - float(after)) < 1.5)
_mistaken("rising_passes", same=lambda before, after: float(before) - float(after) <= 5e-4)
_mistaken("falling_passes", same=lambda before, after: float(after) - float(before) <= 5e-4)
_mistaken("signs_compared", same=lambda before, after: (before > 0) == (after > 0))
