"""Task 17.content_weights: where a head looks, by what stands there."""

from operator import matmul, mul

import torch
import torch.nn.functional as F

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, sizes
from course_utils.tasks.properties import no_weight_is_negative, rows_sum_to_one
from course_utils.tasks.shares import USUAL

task = Task(
    "17.content_weights",
    "addressing by content",
    arguments=("memory B×N×W", "key B×W", "strength B"),
    result="weights B×N",
    difficulty=3,
    importance=5,
    minutes=15,
    hints=(
        "The key says what the head is looking for. Every place is compared with it by the cosine, for which only the direction matters. The strength says how much a higher cosine counts, and the softmax turns the products into weights.",
        "Take the key [0, 5], the strength 1.3733 and the places [3, 4] and [0, 0]. The first place has the length 5 and the dot product 20 with the key, so its cosine is 20 / (5·5) = 0.8. The second has no direction, and its cosine is 0. Times the strength that is 1.0986 and 0, and the exponentials are 3 and 1: the weights are 0.75 and 0.25.",
        "cosine = dot product of each place with its row's key, divided by the lengths of both, and 0 where a length is 0, B×N (torch.nn.functional.cosine_similarity takes care of zero vectors); give strength a second axis of size 1; return the softmax of strength times cosine, over the places.",
    ),
    partial=USUAL
    | {
        "zero_gives_nan": (0.75, "right wherever no vector is zero."),
        "nan_replaced_too_late": (0.75, "right wherever no vector is zero."),
    },
)


@task.property
def a_zero_vector_has_the_cosine_zero(case, value):
    """It has no direction, so the formula gives 0/0 there."""
    memory, key, _ = case.args
    zero = (memory == 0).all(-1).any(1) | (key == 0).all(-1)
    return (
        f"For the input “{case.name}” a row with a zero vector gets NaN. Such a vector has the length 0, and 0/0 is NaN. Let its cosine be 0, before the softmax."
        if value[zero].isnan().any()
        else None
    )


task.property(rows_sum_to_one)


task.property(no_weight_is_negative)


def _inputs(draw, B, N, W, dtype=torch.float32):
    """No vector is zero, and no strength is 1."""
    strength = draw.whole(3, 10, B).to(dtype) / 2
    return draw.numbers(B, N, W, dtype=dtype) + 0.25, draw.numbers(B, W, dtype=dtype) + 0.125, strength


@task.cases
def _(draw):
    for size in sizes(B=3, places=7, W=5):
        name = f"a batch of {size.B}, {size.places} places of width {size.W}"
        yield Case(name, _inputs(draw, size.B, size.places, size.W), size.full)
    yield Case("as many rows in the batch as places", _inputs(draw, 5, 5, 3))
    yield Case("as many places as numbers in each", _inputs(draw, 3, 5, 5), True)
    yield Case("B, N and W all 3", _inputs(draw, 3, 3, 3))
    yield Case("a single place of width 1", _inputs(draw, 1, 1, 1), edge=True)
    memory, key, strength = _inputs(draw, 3, 5, 7)
    memory[draw.whole(0, 3), draw.whole(0, 5)] = 0
    yield Case("a place that holds zeros", (memory, key, strength), edge=True)
    memory, key, strength = _inputs(draw, 3, 5, 7)
    key[draw.whole(0, 3)] = 0
    yield Case("a key of zeros", (memory, key, strength), edge=True)
    places = torch.eye(3)[draw.distinct(3, 0, 3)]
    far = (torch.stack([places, 2 * places.flip(0)]), places[:2] * 3, torch.tensor([1e4, 1.0]))
    near = torch.tensor([[[1.0, 0.0], [1.0, 0.125], [0.0, 1.0]]])
    yield Case("a strength of 300", (near, torch.tensor([[2.0, 0.0]]), torch.tensor([300.0])), edge=True)
    yield Case("strengths of 10,000 and 1", far, True, hazard=True)
    memory, key, strength = _inputs(draw, 3, 5, 7)
    yield Case("numbers near ±10,000", (memory * 1e4, key * 1e4, strength), True, hazard=True)
    yield Case("200 places", _inputs(draw, 2, 200, 3), True, edge=True)
    yield Case("float64 numbers", _inputs(draw, 3, 7, 5, torch.float64), True, edge=True)


def _one_cosine(place, key):
    product, square = (place * key).sum(), place.square().sum() * key.square().sum()
    return product / square.sqrt() if square > 0 else 0 * product


@task.oracle
def _(memory, key, strength):
    rows = []
    for places, wanted, beta in zip(memory, key, strength, strict=True):
        scores = beta * torch.stack([_one_cosine(place, wanted) for place in places])
        powers = (scores - scores.max()).exp()
        rows.append(powers / powers.sum())
    return torch.stack(rows)


@task.steps
def _(memory, key, strength):
    unit_memory = yield "memory with each place at length 1", lambda memory: F.normalize(memory, dim=-1), memory
    unit_key = yield "key at length 1", lambda key: F.normalize(key, dim=-1), key
    cosine = yield "the cosines", matmul, unit_memory, unit_key[..., None]
    scores = yield "strength times the cosines", mul, strength[:, None], cosine[..., 0]
    weights = yield "the softmax over the places", lambda scores: scores.softmax(-1), scores
    return weights


# Right addressing, of which mistakes change one part


def _unit(vectors):
    return F.normalize(vectors, dim=-1)


def _product(memory, key):
    return (memory * key[:, None]).sum(-1)  # B N


def _cosine(memory, key):
    return _product(_unit(memory), _unit(key))


def _times(cosine, strength):
    return strength[:, None] * cosine


def _softmax(scores):
    return scores.softmax(-1)


def _content(memory, key, strength, cosine=_cosine, score=_times, weigh=_softmax):
    return weigh(score(cosine(memory, key), strength))


def _mistake(name, sentence, **parts):
    """Register an addressing that is right but for the parts that are given."""
    task.mistake(sentence, name)(lambda memory, key, strength: _content(memory, key, strength, **parts))


# The cosine


_mistake(
    "dot_product",
    "You compare by the dot product, so places with large numbers get large weights whatever their direction. Divide by the length of the key and by that of each place.",
    cosine=_product,
)
_mistake(
    "key_length_missing",
    "You divide by the lengths of the places only, so a longer key gives sharper weights. Divide by the length of the key too.",
    cosine=lambda memory, key: _product(_unit(memory), key),
)
_mistake(
    "place_length_missing",
    "You divide by the length of the key only, so places with large numbers get large weights. Divide by the length of each place too.",
    cosine=lambda memory, key: _product(memory, _unit(key)),
)
_mistake(
    "squared_lengths",
    "You divide by the squares of the lengths. The length of a vector is the square root of its sum of squares.",
    cosine=lambda memory, key: (
        _product(memory, key) / (memory.square().sum(-1) * key.square().sum(-1, keepdim=True)).clamp(min=1e-12)
    ),
)
_mistake(
    "sums_of_sizes",
    "You divide by the sum of the numbers of a vector without their signs. Its length is the square root of the sum of their squares.",
    cosine=lambda memory, key: _product(F.normalize(memory, p=1, dim=-1), F.normalize(key, p=1, dim=-1)),
)
_mistake(
    "length_of_everything",
    "You divide by a single length for all places of the batch, as norm() without an axis gives it. Each place has a length of its own: take the norm over the last axis.",
    cosine=lambda memory, key: _product(memory, key) / (memory.norm() * key.norm()).clamp(min=1e-12),
)
_mistake(
    "length_of_a_memory",
    "You divide by one length for a whole memory, over all of its places. Each place has a length of its own: take the norm over the last axis only.",
    cosine=lambda memory, key: _product(memory / memory.norm(dim=(1, 2), keepdim=True).clamp(min=1e-12), _unit(key)),
)
_mistake(
    "lengths_over_the_places",
    "You take the lengths of memory over the places, axis 1. The numbers of one place stand along the last axis: take the norm over it.",
    cosine=lambda memory, key: _product(F.normalize(memory, dim=1), _unit(key)),
)
_mistake(
    "divided_by_the_root_of_the_width",
    "You divide the dot product by √W, as scaled dot-product attention does. Here it is divided by the lengths of both vectors.",
    cosine=lambda memory, key: _product(memory, key) / key.shape[-1] ** 0.5,
)
_mistake(
    "distance",
    "You compare by the negative distance between key and place. Use the cosine: the dot product divided by both lengths.",
    cosine=lambda memory, key: -(memory - key[:, None]).norm(dim=-1),
)
_mistake(
    "sign_dropped",
    "You drop the sign of the cosine, so a place that points the other way gets as much as one that points the same way. Keep the sign.",
    cosine=lambda memory, key: _cosine(memory, key).abs(),
)
_mistake(
    "negative_dropped",
    "You put 0 in place of negative cosines. Keep them: a place that points away from the key should get less than one that stands at a right angle to it.",
    cosine=lambda memory, key: _cosine(memory, key).relu(),
)
_mistake(
    "cosine_turned_round",
    "Your weights are the highest where the cosine is the lowest. Is there a minus sign too many, as when the cosine is mistaken for a distance? A high cosine should give a high weight.",
    cosine=lambda memory, key: -_cosine(memory, key),
)
_mistake(
    "first_key_for_all",
    "All rows of the batch use the first key. Each has its own.",
    cosine=lambda memory, key: _cosine(memory, key[:1].expand_as(key)),
)
_mistake(
    "first_memory_for_all",
    "All rows of the batch look into the first memory. Each has its own.",
    cosine=lambda memory, key: _cosine(memory[:1].expand_as(memory), key),
)
_mistake(
    "keys_along_the_places",
    "Your keys meet the places: key 1 is compared with place 1 of every row. This runs without an error only where there are as many rows in the batch as places, or a single row. Give the keys an axis of size 1 in the middle, `key[:, None]`.",
    cosine=lambda memory, key: (_unit(memory) * _unit(key)).sum(-1),
)
_mistake(
    "key_length_without_its_axis",
    "The lengths of the keys meet the places, where each should meet its own row. This runs without an error only where there are as many rows in the batch as places, or a single row. `key.norm(dim=-1, keepdim=True)` keeps the axis that is needed.",
    cosine=lambda memory, key: _product(_unit(memory), key) / key.norm(dim=-1).clamp(min=1e-12),
)
_mistake(
    "cosine_along_the_places",
    "Your cosines run along the places, and there is one for each of the W numbers. This is the axis that torch.nn.functional.cosine_similarity takes if it is given none: add `dim=-1`.",
    cosine=lambda memory, key: F.cosine_similarity(memory, key[:, None], dim=1),
)
_mistake(
    "zero_gives_nan",
    "A zero vector gives NaN: its length is 0, and 0/0 is not a number. It has no direction, so its cosine is 0.",
    cosine=lambda memory, key: _product(memory, key) / (memory.norm(dim=-1) * key.norm(dim=-1, keepdim=True)),
)
task.mistake(
    "Where a place holds zeros you return weights of zeros for its whole row: you put zeros in place of NaN after the softmax, which had spread it to all places. Make the cosine 0 there, before the softmax.",
    "nan_replaced_too_late",
)(
    lambda memory, key, strength: _content(
        memory,
        key,
        strength,
        cosine=lambda memory, key: _product(memory, key) / (memory.norm(dim=-1) * key.norm(dim=-1, keepdim=True)),
        weigh=lambda scores: scores.softmax(-1).nan_to_num(),
    )
)


# The strength

_mistake(
    "strength_unused",
    "The strength has no effect. Multiply the cosines by it, before the softmax. To add it to them would not help: the same number for all places changes nothing in a softmax.",
    score=lambda cosine, strength: cosine,
)
_mistake(
    "divided_by_strength",
    "You divide by the strength, so a larger one makes the weights more even. It is no temperature: multiply by it.",
    score=lambda cosine, strength: cosine / strength[:, None],
)
task.mistake(
    "You multiply the weights by the strength, after the softmax, so they no longer sum to 1. Multiply the cosines by it, before the softmax.",
    "strength_after_the_softmax",
)(lambda memory, key, strength: strength[:, None] * _cosine(memory, key).softmax(-1))
_mistake(
    "strength_squared",
    "The strength is multiplied twice, as if both key and memory took it. Multiply the cosines by it once.",
    score=lambda cosine, strength: strength[:, None] ** 2 * cosine,
)
_mistake(
    "softplus_again",
    "You pass the strength through a softplus first. It is above 0 as it comes: use it as it is.",
    score=lambda cosine, strength: F.softplus(strength)[:, None] * cosine,
)
_mistake(
    "first_strength_for_all",
    "All rows of the batch use the first strength. Each has its own.",
    score=lambda cosine, strength: strength[0] * cosine,
)
_mistake(
    "mean_strength",
    "All rows of the batch use the mean of the strengths. Each has its own.",
    score=lambda cosine, strength: strength.mean() * cosine,
)
_mistake(
    "strength_along_the_places",
    "Your strengths meet the places: strength 1 multiplies place 1 of every row. This runs without an error only where there are as many rows in the batch as places, or a single row. Give the strengths a second axis of size 1, `[:, None]`.",
    score=lambda cosine, strength: strength * cosine,
)


@task.mistake(
    "Your keys and your strengths meet the places, where each should meet its own row. This runs without an error only where there are as many rows in the batch as places, or a single row. Use `key[:, None]` and `strength[:, None]`."
)
def everything_along_the_places(memory, key, strength):
    return _softmax(strength * (_unit(memory) * _unit(key)).sum(-1))


@task.mistake(
    "The lengths of the keys and the strengths meet the places, where each should meet its own row. This runs without an error only where there are as many rows in the batch as places, or a single row. Both need an axis of size 1 at the end: `keepdim=True` keeps it in the length, and `[:, None]` adds it to the strength."
)
def length_and_strength_without_their_axis(memory, key, strength):
    return _softmax(strength * _product(_unit(memory), key) / key.norm(dim=-1).clamp(min=1e-12))


# From scores to weights

_mistake(
    "not_divided_by_the_sum",
    "You return the exponentials of strength times cosine. Divide them by their sum over the places, so that the weights of a row sum to 1.",
    weigh=torch.exp,
)
_mistake(
    "no_softmax",
    "You return the cosines times the strength. Take the softmax over the places.",
    weigh=lambda scores: scores,
)
_mistake(
    "softmax_over_the_batch",
    "Your softmax runs over the batch, so the weights of one place sum to 1 over the rows. Take it over the places, the last axis.",
    weigh=lambda scores: scores.softmax(0),
)
_mistake(
    "softmax_over_one_number",
    "All your weights are 1. That happens where a softmax runs over an axis of size 1. Take it over the places.",
    weigh=lambda scores: scores[..., None].softmax(-1)[..., 0],
)
_mistake(
    "softmax_over_everything",
    "Your weights sum to 1 over the whole batch. Take the softmax over the places of each row.",
    weigh=lambda scores: scores.flatten().softmax(0).view_as(scores),
)
_mistake(
    "log_softmax",
    "You return logarithms of the weights. Use softmax in place of log_softmax.",
    weigh=lambda scores: scores.log_softmax(-1),
)
_mistake(
    "softmax_twice",
    "The softmax is applied twice, which makes the weights nearly even. Apply it once.",
    weigh=lambda scores: scores.softmax(-1).softmax(-1),
)
_mistake(
    "sigmoid",
    "You use the sigmoid, so the weights of a row do not sum to 1. The softmax shares 1 out over the places.",
    weigh=torch.sigmoid,
)
_mistake(
    "best_place_takes_all",
    "You give the best place all of the weight. No gradient can tell the key to change then: use the softmax.",
    weigh=lambda scores: F.one_hot(scores.argmax(-1), scores.shape[-1]).to(scores.dtype),
)
_mistake(
    "divided_by_the_sum",
    "You divide the scores by their sum, without the exponential. A negative score would then give a negative weight: take the softmax.",
    weigh=lambda scores: scores / scores.sum(-1, keepdim=True),
)
_mistake(
    "overflow",
    "exp overflows: for a score above about 88 it is infinite in float32, and infinity divided by infinity is NaN. torch.softmax takes scores of any size; by hand, subtract the largest score of each row first.",
    weigh=lambda scores: scores.exp() / scores.exp().sum(-1, keepdim=True),
)


# The result

_mistake(
    "axis_in_the_middle",
    "Your weights have an axis of size 1 too many: B×1×N, as `key[:, None] @ memory.mT` gives it. Remove it: B×N.",
    weigh=lambda scores: scores.softmax(-1)[:, None],
)
_mistake(
    "axis_at_the_end",
    "Your weights have an axis of size 1 too many: B×N×1, as `memory @ key[:, :, None]` gives it. Remove it: B×N.",
    weigh=lambda scores: scores.softmax(-1)[..., None],
)
_mistake(
    "every_key_with_every_memory",
    "Your result is B×B×N: each key is compared with every memory of the batch. Compare it with the memory of its own row: give the keys an axis in the middle, `key[:, None]`.",
    cosine=lambda memory, key: torch.einsum("anw,bw->ban", _unit(memory), _unit(key)),
    score=lambda cosine, strength: strength[:, None, None] * cosine,
)


@task.mistake(
    "You return what stands at the places, weighted and summed up, B×W. That is what reading does afterwards: return the weights."
)
def read_already(memory, key, strength):
    return (_content(memory, key, strength)[..., None] * memory).sum(1)
