"""Task 19.labels_by_hand: weights with which a convolution and an attention label what they have seen before. Many are right: what they lead to is compared."""

from collections import Counter

import torch
import torch.nn.functional as F

from course_utils.base.errors import CourseError
from course_utils.checks.task import Case, Task

NAMES, WIDEST = ("W_0", "W_1", "W_q", "W_k", "W_v"), 1000
RIGHT = {"the weight lies": "on the step after the same character", "the labels are": "correct"}
TOO_SOFT, NOWHERE = "spread over too many steps", "nowhere in particular"
OF_A_LABEL = "on steps whose x contains a label with the number of its character"
OF_THE_LABEL_BEFORE = "on steps whose z contains a label with the number of its character"
ASKED_AT_MOST = 100  # steps of an episode whose weights are looked at, the last ones

task = Task(
    __name__,
    "a network that labels without training",
    arguments=("characters", "labels", "steps"),
    result="outcome",
    difficulty=4,
    importance=5,
    minutes=25,
)


def _one_hot(ids, number):
    return F.one_hot(ids, number).double()


def _network(weights, ids, labels, number, of_labels):
    """The attention's weights T×T and the answers T×L for an episode."""
    x = torch.cat([_one_hot(ids, number), F.pad(_one_hot(labels, of_labels), (0, 0, 1, 0))[:-1]], 1)  # T D
    W_0, W_1, W_q, W_k, W_v = (weights[name] for name in NAMES)
    h = torch.cat([x, x @ W_1.T + F.pad(x, (0, 0, 1, 0))[:-1] @ W_0.T], 1)  # T D+F
    scores = ((h @ W_q) @ (h @ W_k).T).masked_fill(torch.ones(len(ids), len(ids)).triu(1) > 0, -torch.inf)
    attended = scores.softmax(1)
    return attended, attended @ h @ W_v


def _read(value, D, L):
    """The weights as float64. Raises CourseError where they are not as asked for."""
    if not isinstance(value, dict) or set(value) != set(NAMES):
        raise CourseError(f"A dict with the entries {', '.join(NAMES)} is expected.")
    for name in NAMES:
        matrix = value[name]
        if not isinstance(matrix, torch.Tensor) or matrix.dim() != 2 or max(matrix.shape) > WIDEST:
            raise CourseError(f"{name} should be a tensor with two axes, each of at most {WIDEST}.")
        if not matrix.is_floating_point():
            kind = str(matrix.dtype).removeprefix("torch.")
            raise CourseError(
                f"{name} contains numbers of type {kind}, but `attend` multiplies it by floating-point numbers, which raises an error. Convert it with `.float()`."
            )
        if not matrix.isfinite().all():
            raise CourseError(f"{name} contains numbers that are not finite.")
    features, K = len(value["W_0"]), value["W_q"].shape[1]
    wanted = {"W_0": (features, D), "W_1": (features, D), "W_q": (D + features, K), "W_k": (D + features, K), "W_v": (D + features, L)}  # fmt: skip
    for name, shape in wanted.items():
        if tuple(value[name].shape) != shape:
            raise CourseError(
                f"{name} should be {shape[0]}×{shape[1]} here, where x has {D} entries and z {features}; it is {'×'.join(map(str, value[name].shape))}."
            )
    return {name: matrix.detach().double() for name, matrix in value.items()}


def _episodes(number, of_labels, steps):
    """Episodes of characters T and their labels T: at random, and one in which the first character comes back only at the end."""
    draw = torch.Generator().manual_seed(number + 10 * of_labels + 100 * steps)
    for T in (min(steps, 6), steps):
        meaning = torch.randperm(max(number, of_labels), generator=draw)[:number] % of_labels
        ids = torch.randint(number, (T,), generator=draw)
        yield ids, meaning[ids]
        ids = torch.randint(1, number, (T,), generator=draw)
        ids[0] = ids[-1] = 0
        yield ids, meaning[ids]


def _where(row, ids, labels):
    """On which steps most of the last step's weight lies: its `row` of the attention's weights, the characters and labels up to it."""
    after = F.pad(ids[:-1] == ids[-1], (1, 0))  # T
    if row[after].sum() > 0.5:
        return RIGHT["the weight lies"]
    if after[row.argmax()]:
        return TOO_SOFT
    steps = {
        "on steps that show the same character": ids == ids[-1],
        "on steps that show the previous step's character": ids == ids[-2],
        OF_A_LABEL: F.pad(labels[:-1] == ids[-1], (1, 0)),
        OF_THE_LABEL_BEFORE: F.pad(labels[:-2] == ids[-1], (2, 0)),
    }
    least = NOWHERE if row[after].sum() > 1e-6 else f"everywhere but {RIGHT['the weight lies']}"
    return next((name for name, chosen in steps.items() if chosen[row.argmax()] and row[chosen].sum() > 0.5), least)


def _most_often(places):
    """Return where the weight lies at most of the steps at which it is not where it should be, or on which steps at a third of them."""
    wrong = Counter(place for place in places if place != RIGHT["the weight lies"])
    told = [place for place, times in wrong.most_common() if place.startswith("on ") and 3 * times >= wrong.total()]
    return [*told, *(place for place, _ in wrong.most_common()), RIGHT["the weight lies"]][0]


@task.canonical
def _(case, value):
    number, of_labels, steps = case.args
    weights, right, where = _read(value, number + of_labels, of_labels), [], []
    for ids, labels in _episodes(number, of_labels, steps):
        attended, answers = _network(weights, ids, labels, number, of_labels)
        seen = ((ids[:, None] == ids).tril(-1)).any(1)  # T
        best = answers.masked_fill(_one_hot(labels, of_labels) > 0, -torch.inf).amax(1) if of_labels > 1 else 0
        margin = answers.gather(1, labels[:, None])[:, 0] - best
        right.append(bool((margin[seen] > 1e-6).all()))
        asked = seen.nonzero()[-ASKED_AT_MOST:, 0].tolist()
        where += [_where(attended[t, : t + 1], ids[: t + 1], labels[: t + 1]) for t in asked]
    said = "correct" if all(right) else "correct only in short episodes" if all(right[:2]) else "wrong"
    return {"the weight lies": where[-1] if said == "correct" else _most_often(where), "the labels are": said}


@task.cases
def _(draw):
    for low, high in ((4, 8), (12, 26), (40, 80)):
        number, of_labels = int(draw.whole(3, 7)), int(draw.whole(3, 7))
        steps = int(draw.whole(low, high))
        yield Case(f"{number} characters, {of_labels} labels, {steps} steps", (number, of_labels, steps))
    yield Case("5 characters, 5 labels, 1,000 steps", (5, 5, 1000), edge=True)


@task.oracle
def _(characters, labels, steps):
    return dict(RIGHT)


@task.explain_mismatch
def _(case, right, read):
    """Where the weight lies, and if it is where it should be, what is wrong with the labels."""
    where, labels = read["the weight lies"], read["the labels are"]
    if where == TOO_SOFT:
        return "The correct step has the largest weight, but the other steps together have more. Multiply W_q or W_k by a larger factor: a score of 30 is safe."
    if where != right["the weight lies"]:
        lies = f"At many steps, most of the weight lies {where}."
        if not where.startswith("on "):
            lies = "At many steps, little or none of the weight lies on the step after the same character."
        if where in (OF_A_LABEL, OF_THE_LABEL_BEFORE):
            lies += " W_k computes the key from the part of h that contains a label, but it should select a character."
        return f"{lies} The label of a character is read one step after it: most of the weight should be there."
    if labels == "wrong":
        return "The weight is where it should be, but the largest entry of some answer is not the correct label. W_v computes the answer from h at the step that was found, where it has to select the label in x."
    return "The labels are correct in short episodes, but some are wrong in long ones: the many other steps together take too much of the weight. Multiply W_q or W_k by a larger factor: a score of 30 is safe."


def _by_hand(number, of_labels, scale=30.0, before=True, query="x", key="z", value="x"):
    """Weights by hand, in which parts may be wrong, a key "label" among them; z holds all of x at t - 1, or at t where `before` is False."""
    D = number + of_labels
    picks = torch.zeros(2 * D, D)
    parts = {"x": picks.clone(), "z": picks.clone()}
    parts["x"][:D], parts["z"][D:] = torch.eye(D), torch.eye(D)
    zero = torch.zeros(D, D)
    return {
        "W_0": torch.eye(D) if before else zero,
        "W_1": zero if before else torch.eye(D),
        "W_q": scale * parts[query][:, :number],
        "W_k": parts[key][:, :number] if key in parts else F.pad(parts["x"][:, number:], (0, number))[:, :number],
        "W_v": parts[value][:, number:],
    }


def _mistake(name, **parts):
    task.mistake(name)(lambda characters, labels, steps: _by_hand(characters, labels, **parts))


_mistake("same_character", key="x")
_mistake("query_and_key_exchanged", query="z", key="x")
_mistake("key_from_the_label", key="label")
_mistake("scale_too_small", scale=2.0)
_mistake("scale_below_zero", scale=-30.0)
_mistake("label_of_the_step_before", value="z")
