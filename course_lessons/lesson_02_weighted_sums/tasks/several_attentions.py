"""Task 02.several_attentions: fixed attention with several θs, concatenated."""

import torch

from course_utils.base.words import count
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "fixed attention with several θs, concatenated",
    arguments=("words B×S×D", "thetas N×D", "mask B×S"),
    result="contexts B×(N·D)",
    difficulty=3,
    importance=5,
    minutes=20,
    offers=("models.attention.masked_softmax",),
)


@task.cases
def _(draw):
    for size in sizes(B=2, S=5, D=7, N=3):
        B, S, D, N = size.B, size.S, size.D, size.N
        args = (draw.numbers(B, S, D), draw.numbers(N, D), draw.lengths_mask(B, S))
        name = f"{count(B, 'sentence')} of up to {S} words, width {D}, {count(N, 'theta')}"
        yield Case(name, args, size.full)
    yield Case(
        "2 sentences of up to 3 words, width 2, 2 thetas",
        (draw.numbers(2, 3, 2), draw.numbers(2, 2), draw.lengths_mask(2, 3)),
    )
    shorter = torch.tensor([[True, False, False], [True] * 3])
    yield Case("the first sentence is the shorter one", (draw.numbers(2, 3, 2) + 0.25, draw.numbers(2, 2), shorter))
    empty = torch.tensor([[True] * 3, [False] * 3])
    yield Case("a sentence of padding only", (draw.numbers(2, 3, 5), draw.numbers(2, 5), empty), edge=True)
    front = torch.tensor([[True, True, True], [False, True, True]])
    yield Case("padding in front", (draw.numbers(2, 3, 5) + 0.25, draw.numbers(2, 5), front), edge=True)
    between = torch.tensor([[True, False, True, True], [False, True, False, True]])
    yield Case("padding between the words", (draw.numbers(2, 4, 5) + 0.25, draw.numbers(2, 5), between), edge=True)
    one = (draw.numbers(2, 1, 1), draw.numbers(2, 1), torch.ones(2, 1) > 0)
    yield Case("sentences of one word, width 1", one, edge=True)
    across = torch.tensor([[[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]]])
    kept = torch.tensor([[True, True, False]])
    yield Case("a word at right angles to theta", (across, torch.tensor([[1.0, 0.0]]), kept), edge=True)
    for far in ((-100.0, -150.0, 100.0), (-299.0, -300.0, 300.0)):
        args = (torch.tensor(far)[None, :, None], torch.tensor([[100.0], [-100.0]]), kept)
        yield Case(f"very large scores, near ±{far[2] * 100:,.0f}", args, edge=True)
