"""Task 17.usage: how full each place of a memory is after a step."""

from operator import add, mul, sub

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count
from course_utils.tasks.lesson_17._drawn import shares
from course_utils.tasks.shares import USUAL

task = Task(
    "17.usage",
    "which places are in use",
    arguments=("usage B×N", "write B×N", "reads B×R×N", "free B×R"),
    result="usage B×N",
    difficulty=3,
    importance=4,
    minutes=15,
    hints=(
        "Two things change how full a place is. Writing fills it: what is added is the share of the place that was not in use before. Reading may empty it: each read head says with its free gate how much of what it has read may go, and a place keeps what no head lets go.",
        "Take two places with the usage [0.5, 1] and the write weights [0.5, 0]. After writing, the first has 0.5 + 0.5 - 0.5·0.5 = 0.75 and the second 1 + 0 - 1·0 = 1. One head has read with the weights [0, 0.5] and the free gate 1, another with [0.5, 0.5] and the gate 0.5. The first place keeps (1 - 1·0)·(1 - 0.5·0.5) = 0.75 of its usage, the second (1 - 1·0.5)·(1 - 0.5·0.5) = 0.375. The new usage is 0.75·0.75 = 0.5625 and 1·0.375 = 0.375.",
        "written = usage plus write, minus their product, B×N; freed = free, with a last axis of size 1, times reads, B×R×N; kept = product over the R heads of 1 minus freed, B×N; return written times kept.",
    ),
    partial=USUAL
    | {
        "through_logarithms": (0.5, "every value is right, and its gradient unless a place is freed entirely."),
    },
)


@task.property
def usage_lies_between_0_and_1(case, value):
    """A place is at most entirely in use."""
    if ((value > -1e-5) & (value < 1 + 1e-5)).all():
        return None
    return f"A usage lies between 0, a free place, and 1, a full one. Your numbers reach from {value.min():.4g} to {value.max():.4g}."


@task.property
def closed_gates_free_nothing(case, value):
    """Without free gates, writing alone counts."""
    usage, write, _, free = case.args
    least = torch.maximum(usage, write)
    if free.any() or (value > least - 1e-5).all():
        return None
    return "Where all free gates are 0, nothing is freed, so no place's usage should become smaller. In your result one does."


def _inputs(draw, B, R, N, dtype=torch.float32):
    usage, free = (draw.whole(1, 8, *shape).to(dtype) / 8 for shape in ((B, N), (B, R)))
    return usage, shares(draw, B, N, dtype=dtype), shares(draw, B, R, N, dtype=dtype), free


@task.cases
def _(draw):
    for B, R, N in ((1, 1, 2), (1, 2, 2), (2, 1, 3), (1, 2, 3), (3, 2, 5)):
        full = N == 5
        yield Case(f"{count(B, 'row')}, {count(R, 'read head')}, {N} places", _inputs(draw, B, R, N), full)
    yield Case("2 rows, 3 read heads, 7 places", _inputs(draw, 2, 3, 7), True)
    yield Case("as many read heads as places", _inputs(draw, 2, 3, 3))
    yield Case("as many rows as read heads", _inputs(draw, 3, 3, 5))
    yield Case("as many rows as places", _inputs(draw, 5, 2, 5))
    yield Case("a single place", _inputs(draw, 1, 1, 1), True, edge=True)
    usage, write, reads, free = _inputs(draw, 3, 2, 5)
    yield Case("free gates of 0", (usage, write, reads, 0 * free), True, edge=True)
    sharp = torch.eye(5)[draw.whole(0, 5, 3, 2)]
    yield Case("heads that free one place entirely", (usage, write, sharp, torch.ones(3, 2)), True, edge=True)
    one = torch.eye(5)[draw.whole(0, 5, 3)]
    yield Case("a write into one place", (usage, one, reads, free), True, edge=True)
    yield Case("an empty memory", (0 * usage, write, reads, free), True, edge=True)
    yield Case("a full memory", (torch.ones(3, 5), write, reads, free), True, edge=True)
    yield Case("a step that writes nothing", (usage, 0 * write, reads, free), True, edge=True)
    yield Case("20 read heads", _inputs(draw, 2, 20, 3), True, edge=True)
    yield Case("200 places", _inputs(draw, 2, 3, 200), True, edge=True)
    yield Case("float64 numbers", _inputs(draw, 3, 2, 5, torch.float64), True, edge=True)


@task.oracle
def _(usage, write, reads, free):
    rows = []
    for u, w, heads, gates in zip(usage, write, reads, free, strict=True):
        new = 1 - (1 - u) * (1 - w)
        for weights, gate in zip(heads, gates, strict=True):
            new = new - new * gate * weights
        rows.append(new)
    return torch.stack(rows)


@task.steps
def _(usage, write, reads, free):
    total = yield "usage plus write", add, usage, write
    both = yield "the product of usage and write", mul, usage, write
    written = yield "the usage after writing", sub, total, both
    freed = yield "what each head frees", mul, free[..., None], reads
    left = yield "what each head leaves", sub, 1, freed
    kept = yield "what all heads leave", lambda left: left.prod(1), left
    new = yield "the new usage", mul, written, kept
    return new


def _written(usage, write):
    return usage + write - usage * write


def _freed(reads, free):
    return free[..., None] * reads


def _kept(freed):
    return (1 - freed).prod(1)


def _usage(
    usage, write, reads, free, written=_written, freed=_freed, kept=_kept, end=lambda written, kept: written * kept
):
    return end(written(usage, write), kept(freed(reads, free)))


def _mistake(name, sentence, **parts):
    """Register a usage that is right but for the parts that are given."""
    task.mistake(sentence, name)(lambda usage, write, reads, free: _usage(usage, write, reads, free, **parts))


# What is written

_mistake(
    "product_not_subtracted",
    "You add usage and write weights, and leave it at that. Their sum may be more than 1, and a place can't be more than full. Subtract the product of the two: only the share that was free can be filled.",
    written=lambda usage, write: usage + write,
)
_mistake(
    "sum_clamped",
    "You add usage and write weights and cut the sum off at 1, so no gradient flows for places that are cut. Subtract the product of the two in place of that: only the share that was free can be filled.",
    written=lambda usage, write: (usage + write).clamp(max=1),
)
_mistake(
    "larger_of_both",
    "You take the larger one of usage and write weight. The equation adds them and subtracts their product.",
    written=torch.maximum,
)
_mistake(
    "product_added",
    "You add the product of usage and write weights. Subtract it.",
    written=lambda usage, write: usage + write + usage * write,
)
_mistake(
    "product_of_both",
    "You multiply usage and write weights, so a free place stays free even when it is written to. The usage after writing is their sum minus their product.",
    written=lambda usage, write: usage * write,
)
_mistake(
    "write_subtracted",
    "Your write weights make the usage smaller. Writing fills a place: add the write weights to the usage, then subtract the product of the two.",
    written=lambda usage, write: usage - write + usage * write,
)
_mistake(
    "write_not_added",
    "You subtract the product of usage and write weights, and the write weights themselves are not added: writing then empties a place. Add them.",
    written=lambda usage, write: usage - usage * write,
)
_mistake(
    "write_unused",
    "The write weights have no effect: only reading changes your usage. A place that was written to is in use.",
    written=lambda usage, write: usage,
)
_mistake(
    "usage_unused",
    "The usage that came in has no effect: your places forget what was written in earlier steps. Add it to the write weights, and subtract the product of the two.",
    written=lambda usage, write: write,
)


# What is freed

_mistake(
    "reads_gates_unused",
    "Nothing is freed: this is the usage after writing. Multiply it by what the read heads leave, the product over the heads of 1 minus gate times weight.",
    freed=lambda reads, free: 0 * reads,
)
_mistake(
    "gates_unused",
    "The free gates have no effect, so whatever is read is freed. Multiply each head's weights by its gate first.",
    freed=lambda reads, free: reads,
)
_mistake(
    "reads_unused",
    "The read weights have no effect, so an open gate frees every place. A head frees only what it has read: multiply each gate by its head's weights.",
    freed=lambda reads, free: free[..., None].expand_as(reads),
)
_mistake(
    "gates_inverted",
    "Your free gates are the wrong way round: a gate of 1 frees what its head has read, and a gate of 0 frees nothing.",
    freed=lambda reads, free: _freed(reads, 1 - free),
)
_mistake(
    "gates_through_a_sigmoid",
    "You put the free gates through a sigmoid. They are numbers from 0 to 1 already: use them as they are.",
    freed=lambda reads, free: _freed(reads, free.sigmoid()),
)
_mistake(
    "first_gates_for_all",
    "All rows of the batch use the free gates of the first one. Each row has its own.",
    freed=lambda reads, free: _freed(reads, free[:1].expand_as(free)),
)
_mistake(
    "gates_along_the_places",
    "Your gates meet the places and not the heads. This runs without an error only where there are as many heads as places. Give the gates a last axis of size 1: B×R×1.",
    freed=lambda reads, free: free[:, None, :] * reads,
)
_mistake(
    "gates_along_heads_and_places",
    "Your gates B×R meet the last two axes of the read weights, R×N, so a row uses other rows' gates. Give the gates a last axis of size 1: B×R×1.",
    freed=lambda reads, free: free * reads,
)
_mistake(
    "kept_sum",
    "You add up what the heads free, and subtract the sum from 1. When two heads free the same place, more than all of it may go. Take the product over the heads of 1 minus what each frees.",
    kept=lambda freed: 1 - freed.sum(1),
)
_mistake(
    "kept_sum_clamped",
    "You add up what the heads free, subtract the sum from 1, and cut off below 0. Take the product over the heads of 1 minus what each frees: the second head frees a share of what the first has left.",
    kept=lambda freed: (1 - freed.sum(1)).clamp(min=0),
)
_mistake(
    "kept_mean",
    "You take the mean over the heads of what each leaves. Each head frees a share of what the others have left: take the product.",
    kept=lambda freed: (1 - freed).mean(1),
)
_mistake(
    "kept_sum_of_all",
    "You add up over the heads what each leaves, so two heads that free nothing double the usage. Take the product.",
    kept=lambda freed: (1 - freed).sum(1),
)
_mistake(
    "one_minus_the_product",
    "You multiply what the heads free, and subtract the product from 1: then something is freed only where every head frees it. Subtract from 1 for each head first, then multiply.",
    kept=lambda freed: 1 - freed.prod(1),
)
_mistake(
    "freed_for_kept",
    "You multiply by what the heads free, so places that nobody reads become free. Multiply by what they leave, 1 minus that, for each head.",
    kept=lambda freed: freed.prod(1),
)
_mistake(
    "one_plus",
    "You add to 1 what a head frees, so reading makes the usage larger. Subtract it from 1.",
    kept=lambda freed: (1 + freed).prod(1),
)
_mistake(
    "most_freed",
    "Only the head that frees the most has an effect on a place. Each head frees a share of what the others have left: take the product over the heads.",
    kept=lambda freed: 1 - freed.amax(1),
)
_mistake(
    "first_head",
    "Only the first read head has an effect. Take the product over all heads.",
    kept=lambda freed: 1 - freed[:, 0],
)
_mistake(
    "last_head",
    "Only the last read head has an effect. In a loop over the heads, this happens if each step starts afresh: multiply what was left so far.",
    kept=lambda freed: 1 - freed[:, -1],
)
_mistake(
    "product_over_the_places",
    "Your product runs over the places. This runs without an error only where there are as many heads as places. Take it over the heads, axis 1.",
    kept=lambda freed: (1 - freed).prod(2),
)
_mistake(
    "product_of_everything",
    "Your product runs over all numbers of the batch, because `prod` was given no axis. Each place of each row has a product of its own, over the heads, axis 1.",
    kept=lambda freed: (1 - freed).prod(),
)
_mistake(
    "axis_left",
    "Your product keeps the axis of the heads with size 1, so your result is B×B×N: every row's usage meets what every row's heads leave. Take the product without keepdim.",
    kept=lambda freed: (1 - freed).prod(1, keepdim=True),
)
_mistake(
    "product_over_the_batch",
    "Your product runs over the batch, axis 0. Each row has a memory of its own: take the product over the heads, axis 1.",
    kept=lambda freed: (1 - freed).prod(0),
)
_mistake(
    "through_logarithms",
    "The values are right, but where a head frees a place entirely the gradient is NaN: you add up logarithms, and log 0 is minus infinity. Multiply the numbers themselves, with `prod` for instance.",
    kept=lambda freed: (1 - freed).log().sum(1).exp(),
)


# Both together

_mistake(
    "kept_added",
    "You add what the heads leave. Multiply the usage after writing by it.",
    end=lambda written, kept: written + kept,
)
_mistake(
    "divided",
    "You divide by what the heads leave, so reading makes the usage larger. Multiply by it.",
    end=lambda written, kept: written / kept,
)
_mistake(
    "kept_returned",
    "You return what the heads leave, the retention. Multiply the usage after writing by it.",
    end=lambda written, kept: kept,
)


@task.mistake(
    "You free places first and write afterwards, so what this step writes is not freed. In the equation writing comes first, and what the heads leave is a factor of all of it."
)
def freed_before_writing(usage, write, reads, free):
    return _written(usage * _kept(_freed(reads, free)), write)


@task.mistake(
    "Brackets are missing: what the heads leave multiplies only the last term, the product of usage and write weights. It multiplies all three terms together."
)
def kept_times_the_product(usage, write, reads, free):
    return usage + write - usage * write * _kept(_freed(reads, free))


@task.mistake(
    "Brackets are missing: what the heads leave multiplies the old usage only, and not what is written. It multiplies all three terms together."
)
def kept_times_the_usage(usage, write, reads, free):
    return usage * _kept(_freed(reads, free)) + write - usage * write


@task.mistake(
    "Each gate is multiplied by the write weights, so you free what is written. A head frees what it has read: use the read weights."
)
def frees_what_is_written(usage, write, reads, free):
    return _usage(usage, write, write[:, None].expand_as(reads), free)


@task.mistake("Usage and write weights of all rows are those of the first one. Each row has a memory of its own.")
def first_memory_for_all(usage, write, reads, free):
    return _usage(usage[:1].expand_as(usage), write[:1].expand_as(write), reads, free)


@task.mistake(
    "You return a usage for each head, B×R×N. All heads free places of the same memory: take the product over the heads."
)
def one_for_each_head(usage, write, reads, free):
    return _written(usage, write)[:, None] * (1 - _freed(reads, free))


@task.mistake(
    "You divide your usage by its sum, so that it adds up to 1. Usage is no attention: each place has a number of its own between 0 and 1, and all of them may be full."
)
def made_to_sum_to_1(usage, write, reads, free):
    new = _usage(usage, write, reads, free)
    return new / new.sum(1, keepdim=True)


@task.mistake("This is how free each place is. Return 1 minus that, how much of it is in use.")
def free_share(usage, write, reads, free):
    return 1 - _usage(usage, write, reads, free)
