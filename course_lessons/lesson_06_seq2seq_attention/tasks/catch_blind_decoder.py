"""Task 06.catch_blind_decoder: a test that finds decoders which do not look at the source, or see what they should not.

The candidates are made here, with weights of their own: a few steps that look at annotations, some of which look wrongly.
Where random numbers of about 1 are added to an annotation, whatever sees it moves by more than 1e-4; what does not see it stays within rounding.
"""

from functools import partial

import torch
import torch.nn.functional as F

from course_lessons.lesson_06_seq2seq_attention.tasks._looking import CLEAN, CONTEXT, SCORES, SOFTMAX, WEIGHTS
from course_lessons.lesson_06_seq2seq_attention.tasks.bahdanau_step import task as bahdanau_step
from course_lessons.shared.candidate_tests import MistakenTests, one_case_each
from course_lessons.shared.fixed_weights import fixed
from course_lessons.shared.padding import summed, without_garbage
from course_utils.checks.reference_trace import left_out
from course_utils.checks.task import Task
from course_utils.models.attention import masked_softmax

WORD, STATE, ANNOTATION, HIDDEN = 3, 4, 5, 6  # widths D, H, E of what candidates take, and A
_made = partial(fixed, spread=0.7)  # small enough that no attention weight comes near 0
OF_WORD, OF_STATE, OF_CONTEXT = _made(1, STATE, WORD), _made(2, STATE, STATE), 1.5 * _made(3, STATE, ANNOTATION)
LOOK_S, LOOK_H, V = _made(4, HIDDEN, STATE), 1.5 * _made(5, HIDDEN, ANNOTATION), 2 * _made(6, HIDDEN)
GENERAL, MERGE = 1.5 * _made(7, STATE, ANNOTATION), 1.5 * _made(8, 7, ANNOTATION + STATE)
BY_PLACE = 2 * _made(9, 64, STATE)


# Looks: a context B×E from state, annotations and mask


def _by(way):
    """A look by a way of 06.bahdanau_step, right or wrong, with the weights of these candidates."""
    return lambda state, annotations, mask: way(state, annotations, mask, LOOK_S, LOOK_H, V)[0]


def _changed(changes):
    return _by(bahdanau_step.variant(changes))


def _wrong(name):
    return _by(bahdanau_step.wrong(name))


_bahdanau = _changed({})
# The mean moves by rounding, so that a test has to ask for more than any move
ADDED_UP = {CONTEXT: lambda parts: sum(parts.unbind(1), torch.tensor(4.0)) - 4}
_mean = _changed({SOFTMAX: lambda masked: masked.masked_fill(masked > -torch.inf, 0.0).softmax(-1)} | ADDED_UP)


def _general(state, annotations, mask):
    annotations = without_garbage(annotations, mask)
    return summed(masked_softmax(((state @ GENERAL)[:, None] * annotations).sum(-1).tanh(), mask), annotations)


# Ways through the words, each with a look


def _looks_before(words, state, annotations, mask, look=_bahdanau):
    """As Bahdanau et al.: each step reads what a look with the state before it has found."""
    features = []
    for word in words.unbind(1):
        context = look(state, annotations, mask)
        state = torch.tanh(word @ OF_WORD.T + state @ OF_STATE.T + context @ OF_CONTEXT.T)
        features.append(state)
    return torch.stack(features, 1)


def _looks_after(words, state, annotations, mask, look=_general):
    """As Luong et al.: each step is followed by a look with its state, and features are made of both."""
    features = []
    for word in words.unbind(1):
        state = torch.tanh(word @ OF_WORD.T + state @ OF_STATE.T)
        features.append(torch.tanh(torch.cat([look(state, annotations, mask), state], 1) @ MERGE.T))
    return torch.stack(features, 1)


def _with(look, way=_looks_before):
    """A decoder with another look."""
    return lambda words, state, annotations, mask: way(words, state, annotations, mask, look)


def _seeing(change):
    """A decoder that reads words with something done to them."""
    return lambda words, *others: _looks_before(change(words), *others)


# Right ones


def _sentence_by_sentence(words, state, annotations, mask):
    """In float64, one sentence after another, real positions only."""
    rows = []
    for b in range(len(words)):
        real, s, steps = annotations[b][mask[b]].double(), state[b].double(), []
        for word in words[b].double():
            scores = torch.tanh(LOOK_S.double() @ s + real @ LOOK_H.double().T) @ V.double()
            context = scores.softmax(0) @ real
            s = torch.tanh(OF_WORD.double() @ word + OF_STATE.double() @ s + OF_CONTEXT.double() @ context)
            steps.append(s)
        rows.append(torch.stack(steps))
    return torch.stack(rows).to(words.dtype)


_minus = _changed({SCORES: lambda units, v: -units @ v})


def _two_heads(*given):
    """Half of the context from one look, half from another."""
    return torch.cat([_bahdanau(*given)[:, :2], _minus(*given)[:, 2:]], 1)


RIGHT = {
    _looks_before: "a correct decoder that attends before each step",
    _looks_after: "a correct decoder that attends after each step",
    _sentence_by_sentence: "a correct decoder that processes one sentence after another",
    _with(_two_heads): "a correct decoder with two heads",
    _with(_changed({CLEAN: lambda h, mask, *, right: F.layer_norm(right(h, mask), (ANNOTATION,))})): "a correct decoder that subtracts from each annotation its own mean",
    _with(_changed({CLEAN: lambda h, mask, *, right: F.normalize(right(h, mask), dim=-1)}), _looks_after): "a correct decoder that scales each annotation to length 1",
    _with(_changed(ADDED_UP)): "a correct decoder that adds up one position after another",
}  # fmt: skip


# Wrong ones


def _last_place(state, annotations, mask):
    """The annotation at the last real position; zeros where there is none."""
    places = torch.arange(mask.shape[1]) * mask
    return without_garbage(annotations, mask)[torch.arange(len(mask)), places.amax(1)]


def _state_decides_how_much(state, annotations, mask):
    """A gate that the state opens, in front of the plain mean: the same for every position."""
    return (1 + torch.sigmoid(state @ LOOK_S.T @ V))[:, None] * _mean(state, annotations, mask)


def _one_place_off(softmax, mask):
    """Each real position gets the weight of the one before it, and the first gets none: with the last one's weight there, many orders of three positions would not show it."""
    rows = zip(softmax, mask, strict=True)
    return torch.stack([torch.zeros_like(w).masked_scatter(real, F.pad(w[real][:-1], (1, 0))) for w, real in rows])


def _weights_by_place(state, annotations, mask):
    """Weights from the state alone, by position, as in PyTorch's own tutorial from 2017 to 2023."""
    scores = state @ BY_PLACE[: mask.shape[1]].T
    return summed(masked_softmax(scores, mask), without_garbage(annotations, mask))


def _first_sentence_alone(state, annotations, mask):
    """The other sentences get a context of zeros."""
    return _bahdanau(state, annotations, mask) * (torch.arange(len(mask)) == 0)[:, None]


def _cut_into_equal_parts(state, annotations, mask):
    """Puts all real positions of the batch in one list and cuts it into equal parts, one for each sentence."""
    real = annotations[mask].view(len(mask), -1, ANNOTATION)
    return _bahdanau(state, real, torch.ones(real.shape[:2], dtype=torch.bool))


def _slightly(leak):
    """A correct decoder whose features also depend on leak(words, annotations, mask), by less than 0.001.

    Each step turns the leak's four numbers by an angle of its own, so that one of them moves by more than 0.0001 whatever the leak was.
    """

    def decoder(words, state, annotations, mask):
        angles = 1.7 * leak(words, annotations, mask)
        return _looks_before(words, state, annotations, mask) + 0.0004 * torch.sin(
            angles + torch.arange(words.shape[1])[:, None]
        )

    return decoder


def _padding(words, annotations, mask):
    return without_garbage(annotations, ~mask).sum(1, keepdim=True)[..., :STATE]


def _sentence_before(words, annotations, mask):
    return without_garbage(annotations, mask).sum(1, keepdim=True)[..., :STATE].roll(1, 0)


def _places(words, annotations, mask):
    return (torch.arange(mask.shape[1])[:, None] * without_garbage(annotations, mask)).sum(1, keepdim=True)[..., :STATE]


def _later_words(words, annotations, mask):
    later = words.sum(1, keepdim=True) - words.cumsum(1)
    return torch.cat([later, later[..., :1] - later[..., 1:2]], -1)


WRONG = {
    _slightly(_padding): "an incorrect decoder: padding moves its features by less than a thousandth",
    _slightly(_sentence_before): "an incorrect decoder: another sentence moves its features by less than a thousandth",
    _slightly(_places): "an incorrect decoder: a new order of annotations and mask moves its features by less than a thousandth",
    _slightly(_later_words): "an incorrect decoder: later words move its features by less than a thousandth",
    _with(lambda state, *source: state.new_zeros(len(state), ANNOTATION)): "an incorrect decoder: it ignores the source",
    _with(_last_place): "an incorrect decoder: it attends only to the last annotation",
    _with(_wrong("mask_unused")): "an incorrect decoder: it attends to padding",
    _with(_mean): "an incorrect decoder: a plain mean of the annotations",
    _with(_changed({WEIGHTS: _one_place_off})): "an incorrect decoder: its weights are off by one position",
    _with(_weights_by_place, _looks_after): "an incorrect decoder: its weights ignore the annotations",
    _seeing(lambda words: words + F.pad(words[:, 1:], (0, 0, 0, 1))): "an incorrect decoder: it sees the next word",
    _with(_wrong("over_the_batch")): "an incorrect decoder: sentences share their weights",
    _with(_wrong("masked_after")): "an incorrect decoder: padding counts in the total that the weights are divided by",
    _with(_changed({CLEAN: left_out, WEIGHTS: lambda softmax, mask: softmax + 0.002 * ~mask})): "an incorrect decoder: padding keeps a little weight",
    _with(_wrong("mask_inverted")): "an incorrect decoder: the mask is inverted",
    _with(_wrong("mask_as_lengths")): "an incorrect decoder: it uses the mask as lengths, as if words always came first",
    _with(_changed({"mask": lambda mask: mask[:1].expand_as(mask)})): "an incorrect decoder: the first sentence's mask is used for all",
    _with(_first_sentence_alone): "an incorrect decoder: it attends only in the first sentence of the batch",
    _with(_state_decides_how_much): "an incorrect decoder: a gate decides how much of the plain mean counts",
    _with(_changed(dict.fromkeys(("annotations", "mask"), lambda of_batch: of_batch.roll(1, 0)))): "an incorrect decoder: each sentence attends to the one before it in the batch",
    _with(_changed({CONTEXT: lambda parts: parts.sum(1) + parts.sum(1).mean(0) / 2}), _looks_after): "an incorrect decoder: the mean context of the batch is added",
    _with(_cut_into_equal_parts): "an incorrect decoder: the annotations of the batch are cut into equal parts",
    lambda words, state, *others: _looks_before(words, torch.tanh(state + words.mean(1) @ OF_WORD.T), *others): "an incorrect decoder: its query contains the mean of all words, including later ones",
}  # fmt: skip


def _without_gradient(decoder):
    """The numbers alone, from float32 numbers of the widths that the prompt tells."""

    def call(words, state, annotations, mask):
        if (words.shape[2], state.shape[1], annotations.shape[2]) != (WORD, STATE, ANNOTATION):
            raise ValueError("words have width 3, states width 4 and annotations width 5")
        with torch.no_grad():
            return decoder(words, state, annotations, mask)

    return call


task = Task(
    __name__,
    "a test that finds decoders with faulty attention",
    arguments=("decoder",),
    result="verdict",
    candidates=tuple(map(_without_gradient, (*RIGHT, *WRONG))),
    difficulty=4,
    importance=5,
    minutes=40,
)


one_case_each(task, RIGHT, WRONG)


MASK = ((True, False, True, True), (False, True, False, True))


def _promises(decoder, mask=MASK, change=torch.add, stays=1e-5, moves=1e-5, order=(3, 2, 1, 0), sentences=slice(None)):
    """Give the name of each promise, and whether a decoder keeps it.

    On a mask, in another order, with a change of a single annotation of some sentences; `stays` and `moves` say up to which difference features stay, and beyond which they move.
    """
    draw, mask = torch.Generator().manual_seed(4), torch.tensor(mask)
    B, S = mask.shape
    words, state, annotations, noise = (
        torch.randn(*shape, generator=draw) for shape in ((B, 2, WORD), (B, STATE), (B, S, ANNOTATION), (ANNOTATION,))
    )

    def same(a, b, tolerance=stays):
        return a.shape == b.shape and torch.allclose(a, b, rtol=tolerance, atol=tolerance)

    def after(annotations, words=words, mask=mask):
        return decoder(words, state, annotations, mask)

    before = after(annotations)
    later = torch.cat([words[:, :1], words[:, 1:] + noise[:WORD]], 1)
    yield "padding", same(after(torch.where(mask[..., None], annotations, 2.0)), before)
    yield "order", same(after(annotations[:, order], mask=mask[:, order]), before)
    yield "future", same(after(annotations, later)[:, :1], before[:, :1])
    for b in range(B)[sentences]:
        real, rest = mask[b].nonzero()[:, 0].tolist(), [c for c in range(B) if c != b]
        for place in real:
            other = annotations.clone()
            other[b, place] = change(other[b, place], noise)
            moved = after(other)
            yield "moves", not same(moved[b], before[b], moves)
            yield "others", same(moved[rest], before[rest])
        opposite = annotations.clone()
        opposite[b, real[:2]] += torch.stack([noise, -noise])
        yield "opposite", not same(after(opposite)[b], before[b], moves)


def _test(decoder, left_out=(), **changes):
    """A test like the solution's, with promises left out or weakened."""
    return all(kept for promise, kept in _promises(decoder, **changes) if promise not in left_out)


LEFT_OUT = ("others", "opposite", "padding", "order", "future")  # what a test may leave out
mistaken = MistakenTests(task, _test)


mistaken("runs_only", left_out=("moves", *LEFT_OUT))
mistaken("no_rounding", stays=0, moves=0)
mistaken("too_much_room", stays=0.05)
mistaken("a_constant_added", change=lambda annotation, noise: annotation + 1)
mistaken("multiplied", change=lambda annotation, noise: 2 * annotation)
mistaken("nothing_has_to_move", left_out=("moves", "opposite"))
mistaken("features_have_to_move", left_out=LEFT_OUT)

mistaken.without(LEFT_OUT, 2, lambda parts: {"left_out": parts})

# Masks that show too little

ORDER_OF_FIRST_TWO = (1, 0, 2, 3)
WORDS_FIRST = ((True, True, True, False), (True, True, False, False))
mistaken("batch_of_one", mask=MASK[:1])
mistaken("one_sentence", sentences=slice(1))
mistaken("no_padding", mask=((True,) * 4,) * 2)
mistaken("equal_numbers", mask=((True, False, True, False), (False, True, False, True)))
mistaken("same_mask", mask=MASK[:1] * 2)
mistaken("no_gaps", mask=WORDS_FIRST, order=ORDER_OF_FIRST_TWO)
mistaken("real_places_in_their_order", order=ORDER_OF_FIRST_TWO)
