"""Task 20.my_attention: an attention that is not the course's. Any that keeps the promises is right: what it makes of twins is compared."""

import math

import torch

from course_utils.base.errors import CourseError
from course_utils.checks.task import Case, Task
from course_utils.models.attention import causal_mask, masked_softmax

H, D, E = 2, 4, 3
PADDING = 2  # steps at the beginning of two of the sequences
ROOM = 1e-4  # for rounding
LARGEST = 50  # factor of a dot product: with a much larger one, all weight goes to one key, which is another attention
KEPT = "one that keeps its promises"
ALONE = "two of these sequences, with one mask T×T"
# Sequences of one call: the first, and others that differ from it in one thing each
FIRST, SAME, LATER, PADDED, JUNK, OTHER_HEAD, OTHER_QUERY, OTHER_VALUES = range(8)

task = Task(
    __name__,
    "an attention of your own",
    arguments=("query B×H×T×D", "key B×H×T×D", "value B×H×T×E", "mask B×1×T×T"),
    result="attention",
    difficulty=4,
    importance=5,
    minutes=45,
)


def _inputs(draw, T, scale=1.0):
    """Eight sequences: all begin as the first one does, and each differs from it in one thing."""
    query, key, value = (scale * draw.numbers(1, H, T, n).expand(8, -1, -1, -1).clone() for n in (D, D, E))
    mask = causal_mask(T).repeat(8, 1, 1, 1)
    half = T // 2
    for changed in (query, key, value):
        changed[LATER, :, half:] += draw.numbers(H, T - half, changed.shape[-1])
        changed[OTHER_HEAD, 1] += draw.numbers(T, changed.shape[-1])
    mask[[PADDED, JUNK], :, :, :PADDING] = False
    for changed in (key, value):
        changed[JUNK, :, :PADDING] = 10 * draw.numbers(H, PADDING, changed.shape[-1])
    query[OTHER_QUERY] = scale * draw.numbers(H, T, D)
    value[OTHER_VALUES] += draw.numbers(H, T, E)
    return query, key, value, mask


@task.cases
def _(draw):
    for T in (6, 9, 40):
        inputs = _inputs(draw, T)
        yield Case(f"8 sequences of {T} steps, some partly equal", inputs)
        if T == 6:
            query, key, value, mask = inputs
            yield Case(ALONE, (query[:2], key[:2], value[:2], mask[FIRST, 0]))
    yield Case("numbers near 100", _inputs(draw, 8, 100.0), hazard=True)
    query, key, value, mask = _inputs(draw, 8)
    yield Case("float64 numbers", (query.double(), key.double(), value.double(), mask), hazard=True)


@task.oracle
def _(query, key, value, mask):
    return KEPT


def _differ(one, other):
    return not torch.allclose(one, other, atol=ROOM, rtol=ROOM)


def _found(query, key, value, mask, contexts):
    """The first fault that the contexts of the eight sequences show, or of two of them alone; or KEPT.

    Among few steps an attention to the largest product alone may happen to be that of dot products with large factors.
    """
    half = query.shape[2] // 2
    first = contexts[FIRST]
    if len(contexts) == 2:
        return "one that returns different contexts for the same sequence" if _differ(first, contexts[SAME]) else KEPT
    empty = contexts[[PADDED, JUNK], :, :PADDING]
    shown = {
        "one that returns different contexts for the same sequence": _differ(first, contexts[SAME]),
        "one that sees later steps": _differ(first[:, :half], contexts[LATER, :, :half]),
        "one that sees padding": _differ(contexts[PADDED, :, PADDING:], contexts[JUNK, :, PADDING:]),
        "one that sees something where nothing may be seen": (empty.abs() > 1e-6).any(),
        "one that mixes heads": _differ(first[0], contexts[OTHER_HEAD, 0]),
        "one that ignores the query": not _differ(first, contexts[OTHER_QUERY]),
        "one that ignores the values": not _differ(first, contexts[OTHER_VALUES]),
        "dot-product attention": half > 9
        and query.abs().max() < 20
        and _usual(first, query[FIRST], key[FIRST], value[FIRST]),
    }
    return next((fault for fault, found in shown.items() if found), KEPT)


def _usual(contexts, query, key, value):
    """Whether contexts are those of a softmax of dot products, with a factor of the scores for each query and head, and one of the contexts for each head.

    The first step sees one key only, so its context shows the second factor. With few keys, some factor fits nearly any weights, so only
    steps that see more keys than a value has numbers are compared. The first factor is sought on a grid, and then around its local minima.
    """
    products, H, T = query @ key.mT, *query.shape[:2]  # H T T
    first = value[:, :1]
    size = (contexts[:, :1] * first).sum(-1, keepdim=True) / first.square().sum(-1, keepdim=True)  # H 1 1
    seen = causal_mask(T)[:, None]  # T 1 T

    def off(factors):  # H T N: how far each factor's contexts are from the given ones
        weights = masked_softmax(factors[..., None] * products[:, :, None], seen)  # H T N T
        return (contexts[:, :, None] - size[..., None] * (weights @ value[:, None])).abs().amax(-1)

    above = torch.logspace(-5, math.log10(LARGEST), 241, dtype=products.dtype)
    factors = torch.cat([-above.flip(0), above]).expand(H, T, -1)
    found = off(factors)
    around = torch.nn.functional.pad(found, (1, 1), value=torch.inf)
    lowest = (found <= around[..., :-2]) & (found <= around[..., 2:])
    factors = factors.gather(-1, found.masked_fill(~lowest, torch.inf).topk(4, largest=False).indices)  # H T 4
    for width in (0.03, 0.0015, 0.0001):  # in powers of ten
        near = factors[..., None] * 10 ** torch.linspace(-width, width, 41, dtype=products.dtype)  # H T 4 41
        found = off(near.flatten(2)).unflatten(-1, near.shape[-2:])
        factors = near.gather(-1, found.argmin(-1, keepdim=True)).squeeze(-1)
    return bool((found.amin((2, 3))[:, E:] <= ROOM * (1 + contexts.abs().max())).all())


MISTAKE_OF = {  # the mistake that shows a fault
    "one that sees later steps": "no_mask",
    "one that sees padding": "padding_seen",
    "one that returns different contexts for the same sequence": "place_in_the_batch",
    "one that mixes heads": "scores_of_all_heads",
    "one that sees something where nothing may be seen": "finite_fill",
    "one that ignores the query": "equal_weights",
    "dot-product attention": "unchanged",
}


@task.explain_mismatch
def _(case, right, read):
    """The first promise that is broken, with what to do."""
    if read == "one that ignores the values":
        return "With different values, no context changes. Contexts should be computed from the values."
    return task.sentence(MISTAKE_OF[read])


@task.canonical
def _(case, value):
    """Which faults the contexts show."""
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise CourseError("Two things are expected: the contexts, and the weights, or None if there are none.")
    contexts, weights = value
    query, _, given, mask = case.args
    if not isinstance(contexts, torch.Tensor) or contexts.shape != given.shape or contexts.dtype != given.dtype:
        raise CourseError(f"The contexts should be a tensor of shape {tuple(given.shape)} and of the values' dtype.")
    T = query.shape[2]
    if weights is not None and (not isinstance(weights, torch.Tensor) or weights.shape != (len(query), H, T, T)):
        raise CourseError(
            f"The weights should be a tensor of shape {(len(query), H, T, T)}, or None if your attention has none."
        )
    if not contexts.isfinite().all():
        raise CourseError(
            "There is NaN or infinity among the contexts. Perhaps a row of the mask has no True: a softmax of scores that are all -inf, or a division by 0, gives NaN there. Put zeros there. Or exp overflows."
        )
    return _found(*case.args, contexts)


@task.cross_case_check
def _(cases, values):
    """What two of the sequences get among eight and alone: nothing that all of a call share may have an effect."""
    named = {case.name: place for place, case in enumerate(cases)}
    among, alone = (values[place][0] for place in (0, named[ALONE]))
    if not _differ(among[:2], alone):
        return None
    return (
        named[ALONE],
        "Two sequences get different contexts alone than in a batch of eight. Perhaps you handle a mask T×T, as here, in a different way from B×1×T×T. Or something is computed from all numbers in a call, such as their mean, maximum or spread.",
    )


def _mistake(name, weigh):
    """Register an attention whose scores become weights in another way."""

    def attend(query, key, value, mask):
        weights = weigh(query @ key.mT, mask)
        return weights @ value, weights

    task.mistake(name)(attend)


_mistake("no_mask", lambda scores, mask: scores.softmax(-1))
_mistake("padding_seen", lambda scores, mask: masked_softmax(scores, torch.ones_like(mask).tril()))
_mistake(
    "place_in_the_batch",
    lambda scores, mask: masked_softmax(scores * torch.arange(1, len(scores) + 1).view(-1, 1, 1, 1), mask),
)
_mistake("scores_of_all_heads", lambda scores, mask: masked_softmax(scores.sum(1, True), mask).expand_as(scores))
_mistake("equal_weights", lambda scores, mask: masked_softmax(scores * 0, mask))
_mistake("finite_fill", lambda scores, mask: scores.masked_fill(~mask, -1e9).softmax(-1))
_mistake("unchanged", lambda scores, mask: masked_softmax(scores / D**0.5, mask))
