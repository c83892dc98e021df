"""Task 14.glimpse_features: what was seen and where it was seen, joined to one vector."""

from operator import add, matmul

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count
from course_utils.tasks.shares import USUAL

TRANSPOSED = "Weights are outputs × inputs: vectors that stand in rows are multiplied by `weight.T`."

task = Task(
    "14.glimpse_features",
    "what and where, in one vector",
    arguments=("patches B×P", "location B×2", "weight_what H×P", "weight_where H×2", "weight_1 D×H", "weight_2 D×H"),
    result="features B×D",
    difficulty=2,
    importance=4,
    minutes=15,
    hints=(
        "The same patches mean different things in different places. So two small layers stand side by side, one for what is seen and one for where, and only behind them are the two joined, by a sum. ReLU stands behind both small layers and behind the sum.",
        (
            "Take one pixel, the patches [2], and the location [1, -1], with a hidden width of 1: W_what = [1.5], W_where = [-1, 1], W₁ = [2] and [-2], one below the other, and W₂ = [1] and [3]. What: 1.5·2 = 3, and ReLU leaves 3. Where: -1·1 + 1·(-1) = -2, and ReLU makes 0 of it. "
            "The sums are 2·3 + 1·0 = 6 and -2·3 + 3·0 = -6, and the features are 6 and 0."
        ),
        "what = ReLU of patches times weight_what transposed, B×H; where = ReLU of location times weight_where transposed, B×H; return ReLU of (what times weight_1 transposed plus where times weight_2 transposed), B×D.",
    ),
    partial=USUAL,
)


@task.property
def no_feature_is_negative(case, value):
    """ReLU stands at the end."""
    least = value.min()
    return (
        f"ReLU leaves nothing below 0; the smallest of your features is {least:.4g}. It stands around the whole sum."
        if least < -1e-6
        else None
    )


def _inputs(draw, B, P, H, D, dtype=torch.float32):
    """Of ordinary size; no sum comes near 0 by chance, where the slope of ReLU jumps."""
    random = lambda *shape: torch.randn(shape, generator=draw.generator, dtype=torch.float64).to(dtype)  # noqa: E731
    location = 2 * torch.rand(B, 2, generator=draw.generator, dtype=torch.float64).to(dtype) - 1
    what, where = random(H, P) * 1.5 / P**0.5, random(H, 2)
    return random(B, P), location, what, where, random(D, H) / H**0.5, random(D, H) / H**0.5


# B, P, H, D: small first, where wrong axes do not fit one another, then one longer at a time, then all
LADDER = ((2, 4, 3, 5), (3, 4, 3, 5), (2, 6, 3, 5), (2, 4, 6, 5), (2, 4, 3, 7), (5, 13, 7, 11))


@task.cases
def _(draw):
    for dims in LADDER:
        B, P, H, D = dims
        name = f"{count(B, 'glimpse')} of {P} pixels, widths H={H}, D={D}"
        yield Case(name, _inputs(draw, *dims), dims == LADDER[-1])
    yield Case("P, H and D all 7", _inputs(draw, 3, 7, 7, 7))
    yield Case("two pixels, and H and D both 2", _inputs(draw, 5, 2, 2, 2))
    yield Case("a single glimpse", _inputs(draw, 1, 5, 7, 3), True, edge=True)
    yield Case("widths of 1", _inputs(draw, 3, 1, 1, 1), True, edge=True)
    patches, *rest = _inputs(draw, 3, 5, 7, 11)
    yield Case("pixels near ±10,000", (patches * 1e4, *rest), True, hazard=True)
    yield Case("200 glimpses", _inputs(draw, 200, 3, 5, 2), edge=True)
    yield Case("float64 numbers", _inputs(draw, 3, 5, 7, 11, torch.float64), True, edge=True)


@task.oracle
def _(patches, location, weight_what, weight_where, weight_1, weight_2):
    rows = []
    for seen, at in zip(patches, location, strict=True):
        what = [(seen * row).sum().clamp(min=0) for row in weight_what]
        where = [(at * row).sum().clamp(min=0) for row in weight_where]
        for of_what, of_where in zip(weight_1, weight_2, strict=True):
            total = sum(w * n for w, n in zip(of_what, what, strict=True))
            total = total + sum(w * n for w, n in zip(of_where, where, strict=True))
            rows.append(total.clamp(min=0))
    return torch.stack(rows).reshape(len(patches), -1)


@task.steps
def _(patches, location, weight_what, weight_where, weight_1, weight_2):
    of_patches = yield "the product of patches and weight_what", matmul, patches, weight_what.mT
    what = yield "the hidden layer of what", torch.relu, of_patches
    of_location = yield "the product of location and weight_where", matmul, location, weight_where.mT
    where = yield "the hidden layer of where", torch.relu, of_location
    from_what = yield "the part of what", matmul, what, weight_1.mT
    from_where = yield "the part of where", matmul, where, weight_2.mT
    total = yield "the sum of both parts", add, from_what, from_where
    features = yield "the features", torch.relu, total
    return features


# Right features, of which mistakes change one part


def _linear(x, weight):
    return x @ weight.mT


def _features(
    first=_linear,
    of_what=torch.relu,
    of_where=torch.relu,
    second=_linear,
    join=torch.add,
    last=torch.relu,
    given=lambda *args: args,
):
    def glimpse_features(*args):
        patches, location, weight_what, weight_where, weight_1, weight_2 = given(*args)
        what, where = of_what(first(patches, weight_what)), of_where(first(location, weight_where))
        return last(join(second(what, weight_1), second(where, weight_2)))

    return glimpse_features


def _mistake(name, sentence, **parts):
    task.mistake(sentence, name)(_features(**parts))


def _as_it_is(x):
    return x


# ReLU

_mistake("no_relu", "ReLU is missing everywhere. It stands behind both hidden layers and around the sum.", of_what=_as_it_is, of_where=_as_it_is, last=_as_it_is)  # fmt: skip
_mistake(
    "no_relu_at_the_end",
    "Some of your features are negative: ReLU is missing around the sum.",
    last=_as_it_is,
)
_mistake(
    "no_relu_inside",
    "ReLU is missing behind the two hidden layers, so that the two products in a row could be a single one. It stands behind each of them, and around the sum.",
    of_what=_as_it_is,
    of_where=_as_it_is,
)
_mistake(
    "no_relu_for_what",
    "ReLU is missing behind the product of patches and weight_what. It stands behind both hidden layers.",
    of_what=_as_it_is,
)
_mistake(
    "no_relu_for_where",
    "ReLU is missing behind the product of location and weight_where. It stands behind both hidden layers: a location may be negative, and what the layer makes of it may not.",
    of_where=_as_it_is,
)
_mistake(
    "relu_before_the_product",
    "ReLU stands around patches and location, before the products. It belongs behind them, so that the layer's own outputs are cut at 0.",
    of_what=_as_it_is,
    of_where=_as_it_is,
    given=lambda patches, location, *weights: (patches.relu(), location.relu(), *weights),
)
_mistake(
    "relu_of_each_part",
    "ReLU stands around each of the two parts, and their sum is left as it is. Add the parts first: then what and where can work against each other.",
    join=lambda a, b: a.relu() + b.relu(),
    last=_as_it_is,
)
_mistake(
    "with_tanh",
    "You use tanh. All three places have ReLU here.",
    of_what=torch.tanh,
    of_where=torch.tanh,
    last=torch.tanh,
)
_mistake(
    "tanh_inside",
    "Your two hidden layers have tanh. They have ReLU here.",
    of_what=torch.tanh,
    of_where=torch.tanh,
)
_mistake(
    "tanh_at_the_end",
    "You use tanh around the sum. ReLU stands there, as behind the hidden layers.",
    last=torch.tanh,
)
_mistake(
    "with_sigmoid",
    "You use the sigmoid. All three places have ReLU here.",
    of_what=torch.sigmoid,
    of_where=torch.sigmoid,
    last=torch.sigmoid,
)
_mistake(
    "sign_turned_round",
    "You keep what is negative, with its sign turned round. ReLU sets it to 0: it is the larger one of a number and 0.",
    of_what=torch.abs,
    of_where=torch.abs,
    last=torch.abs,
)

# How what and where are joined

_mistake(
    "multiplied",
    "You multiply the part of what by the part of where, number by number. Other papers do that; here the two are added.",
    join=torch.mul,
)


@task.mistake(
    "You multiply the two hidden layers, number by number, and only weight_1 comes behind. Here each has a matrix of its own, and the two parts are added."
)
def hidden_layers_multiplied(patches, location, weight_what, weight_where, weight_1, weight_2):
    what, where = (patches @ weight_what.mT).relu(), (location @ weight_where.mT).relu()
    return ((what * where) @ weight_1.mT).relu()


_mistake("subtracted", "You subtract the part of where. Add it.", join=torch.sub)
_mistake(
    "mean_of_both",
    "You take the mean of the two parts. Add them.",
    join=lambda a, b: (a + b) / 2,
)
_mistake(
    "larger_of_both",
    "You take the larger one of the two parts. Add them.",
    join=torch.maximum,
)
_mistake(
    "side_by_side",
    "You put the two parts side by side, B×2D. Add them, which gives B×D.",
    join=lambda a, b: torch.cat([a, b], 1),
)
_mistake(
    "what_alone",
    "The location has no effect on your features. Add what its layer makes of it.",
    join=lambda a, b: a,
)
_mistake(
    "where_alone",
    "The patches have no effect on your features. Add what their layer makes of them.",
    join=lambda a, b: b,
)

# Weights and inputs

_mistake(
    "second_weights_exchanged",
    "weight_1 and weight_2 are exchanged: weight_1 belongs to what, weight_2 to where.",
    given=lambda *args: (*args[:4], args[5], args[4]),
)
_mistake(
    "weight_1_for_both",
    "You use weight_1 for both parts, be it for each of them or for the sum of the two hidden layers. The part of where has a matrix of its own, weight_2.",
    given=lambda *args: (*args[:5], args[4]),
)
_mistake(
    "weight_2_for_both",
    "You use weight_2 for both parts, be it for each of them or for the sum of the two hidden layers. The part of what has a matrix of its own, weight_1.",
    given=lambda *args: (*args[:4], args[5], args[5]),
)
_mistake(
    "hidden_weights_exchanged",
    "weight_what and weight_where are exchanged, which runs only where there are two pixels.",
    given=lambda patches, location, what, where, *rest: (patches, location, where, what, *rest),
)
_mistake(
    "y_before_x",
    "The two numbers of the location are exchanged. Use it as it comes in, as (x, y).",
    given=lambda patches, location, *weights: (patches, location.flip(1), *weights),
)
_mistake(
    "first_location_for_all",
    "All glimpses are joined with the first location. Each has its own.",
    given=lambda patches, location, *weights: (patches, location[:1].expand_as(location), *weights),
)
_mistake(
    "not_transposed",
    f"Nothing is transposed, which runs only where all widths are the same. {TRANSPOSED}",
    first=lambda x, weight: x @ weight,
    second=lambda x, weight: x @ weight,
)
_mistake(
    "second_not_transposed",
    f"weight_1 and weight_2 are not transposed, which runs only where H = D. {TRANSPOSED}",
    second=lambda x, weight: x @ weight,
)
_mistake(
    "location_cut_off",
    "The values are right, but no gradient reaches the location. Leave it as it is: if a location should not learn, that is decided where it is drawn.",
    given=lambda patches, location, *weights: (patches, location.detach(), *weights),
)
_mistake(
    "axes_exchanged",
    "Your result is transposed: D×B. One row per glimpse is asked for, B×D.",
    last=lambda x: x.relu().mT,
)
