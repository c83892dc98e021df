"""Task 06.teacher_forced: the whole way of a decoder that looks back before each word, in training."""

import torch

from course_lessons.shared.padding import gaps, scattered, summed, with_garbage, without_garbage
from course_lessons.shared.partial_credit import USUAL
from course_lessons.shared.weight_properties import rows_sum_to_one
from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes
from course_utils.models import minimal

LOOK = ("weight_s A×H", "weight_h A×E", "v A")
GRU = ("weight_ih 3·H×(D+E)", "weight_hh 3·H×H", "bias_ih 3·H", "bias_hh 3·H")
task = Task(
    __name__,
    "the decoder's way through a sentence",
    arguments=("words B×T×D", "state B×H", "annotations B×S×E", "mask B×S", *LOOK, *GRU),
    result=("states B×T×H", "weights B×T×S"),
    difficulty=3,
    importance=5,
    minutes=25,
    offers=("models.minimal.bahdanau_step", "models.minimal.gru_step"),
    partial=USUAL,
)


task.property(rows_sum_to_one)


@task.property
def a_single_step_is_right(case, value):
    """The first state depends on the first word alone."""
    words, state, *others = case.args
    right, _ = task.oracle_function(words[:, :1], state, *others)
    apart = (value[0][:, :1] - right).abs().max()
    return "Even the state after the first word is wrong: check a single step." if apart > 1e-4 else None


def _inputs(draw, B, T, S, D, H, E, A, mask):
    shapes = ((B, T, D), (B, H), (B, S, E), (A, H), (A, E), (A,), (3 * H, D + E), (3 * H, H), (3 * H,), (3 * H,))
    words, state, annotations, *weights = (draw.numbers(*shape) for shape in shapes)
    weight_s, weight_h, v, weight_ih, weight_hh, bias_ih, bias_hh = weights
    look = (weight_s / 2 + 0.125, weight_h / 2 - 0.125, v + 0.25)
    gru = (weight_ih / 2 + 0.0625, weight_hh / 2 - 0.0625, bias_ih / 2 + 0.125, bias_hh / 2 - 0.125)
    return words, state, annotations, mask, *look, *gru


@task.cases
def _(draw):
    for size in sizes(B=2, T=3, S=5, D=7, H=11, E=13, A=17):
        B, T = size.B, size.T if size.full else size.T + 1  # two words at least
        S = size.S if size.full else size.S + 1
        name = f"{count(B, 'sentence')}, {T} words from {count(S, 'position')}, widths D={size.D}, H={size.H}, E={size.E}, A={size.A}"
        inputs = _inputs(draw, B, T, S, size.D, size.H, size.E, size.A, gaps(draw, B, S))
        yield Case(name, inputs, size.full)
    yield Case("padding anywhere in a source", _inputs(draw, 3, 2, 5, 3, 2, 4, 3, scattered(draw)))
    no_padding = torch.ones(2, 3, dtype=torch.bool)
    yield Case("D and E both 3, as many sentences as words", _inputs(draw, 2, 2, 3, 3, 5, 3, 4, no_padding))
    yield Case("B, T, S and all widths 3", _inputs(draw, 3, 3, 3, 3, 3, 3, 3, gaps(draw, 3, 3)))
    one = torch.ones(1, 1, dtype=torch.bool)
    yield Case("one word from one position, widths of 1", _inputs(draw, 1, 1, 1, 1, 1, 1, 1, one), True, edge=True)
    empty = gaps(draw, 3, 5)
    empty[1] = False
    yield Case("a source without words", _inputs(draw, 3, 2, 5, 4, 7, 11, 3, empty), True, hazard=True)
    words, state, annotations, mask, *weights = _inputs(draw, 3, 3, 5, 4, 7, 11, 3, scattered(draw))
    behind = with_garbage(annotations, mask)
    yield Case("NaN and infinity at padding", (words, state, behind, mask, *weights), True, hazard=True)
    long = _inputs(draw, 1, 200, 2, 2, 3, 2, 1, torch.ones(1, 2, dtype=torch.bool))
    yield Case("200 words", (0.5 * long[0], *long[1:8], 0.25 * long[8], *long[9:]), edge=True)


@task.steps
def _(words, state, annotations, mask, weight_s, weight_h, v, weight_ih, weight_hh, bias_ih, bias_hh):
    gru = weight_ih, weight_hh, bias_ih, bias_hh
    clean, steps = without_garbage(annotations, mask), []
    for word in words.unbind(1):
        look = lambda state: minimal.bahdanau_step(state, clean, mask, weight_s, weight_h, v)[1]  # noqa: E731
        shares = yield "the weights", look, state
        context = yield "the context", summed, shares, clean
        read = yield "word and context side by side", lambda word, context: torch.cat([word, context], 1), word, context
        state = yield "the next state", lambda read, state: minimal.gru_step(read, state, *gru), read, state
        kept = yield "what is kept of each step", lambda state, shares: (state, shares), state, shares
        steps.append(kept)
    states, weights = zip(*steps, strict=True)
    return torch.stack(states, 1), torch.stack(weights, 1)
