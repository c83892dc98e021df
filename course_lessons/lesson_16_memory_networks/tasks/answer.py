"""Task 16.answer: several hops, which share neighbouring memories, and an answer (Sukhbaatar et al. 2015, section 2.2)."""

import torch

from course_lessons.shared.padding import gaps, scattered
from course_lessons.shared.partial_credit import USUAL
from course_lessons.shared.staged_cases import told_by_stages
from course_utils.base.words import count
from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "several hops, and an answer",
    arguments=("question B×D", "memories", "mask B×M", "readout V×D"),
    result="logits B×V",
    difficulty=3,
    importance=5,
    minutes=20,
    partial=USUAL | {"empty_story_nan": (0.75, "correct for every story that has a fact.")},
)


def _inputs(draw, hops, mask, D, V, dtype=torch.float32):
    B, M = mask.shape
    question = draw.numbers(B, D, dtype=dtype) / D**0.5 + 0.25
    memories = [draw.numbers(B, M, D, dtype=dtype) / (2 if k else 1) + 0.125 for k in range(hops + 1)]
    return question, memories, mask, draw.numbers(V, D, dtype=dtype) + 0.375


@task.cases
def _(draw):
    for hops, B, M, D, V in ((1, 1, 3, 2, 2), (2, 1, 3, 2, 2), (2, 2, 3, 2, 3), (3, 2, 4, 3, 2), (3, 3, 5, 7, 11)):
        name = f"{count(hops, 'hop')}, a batch of {B} with {M} positions, width {D}, {count(V, 'answer')}"
        yield Case(name, _inputs(draw, hops, gaps(draw, B, M), D, V), (hops, D) in ((1, 2), (3, 7)))
    every = torch.ones(5, 5, dtype=torch.bool)
    yield Case("no padding", _inputs(draw, 2, every[:3], 2, 7), True)
    yield Case("padding anywhere in a story", _inputs(draw, 3, scattered(draw), 2, 5), True)
    yield Case("as many answers as features", _inputs(draw, 2, gaps(draw, 3, 4), 5, 5))
    yield Case("as many stories as answers", _inputs(draw, 2, gaps(draw, 3, 5), 7, 3))
    yield Case("hops, stories, facts, features and answers all 3", _inputs(draw, 3, gaps(draw, 3, 3), 3, 3))
    yield Case("one fact, a width of 1, one answer", _inputs(draw, 1, every[:1, :1], 1, 1), True, edge=True)
    mask = gaps(draw, 3, 5)
    mask[1] = False
    without_facts = _inputs(draw, 2, mask, 3, 4)
    yield Case("a story without facts", without_facts, edge=True)
    yield Case("a gradient, with a story without facts", without_facts, True, hazard=True)
    yield Case("7 hops", _inputs(draw, 7, gaps(draw, 2, 4), 3, 5), True, edge=True)
    yield Case("200 facts", _inputs(draw, 2, gaps(draw, 2, 200), 3, 5), True, edge=True)
    question, memories, mask, readout = _inputs(draw, 2, scattered(draw), 3, 4)
    padded = [memory.where(mask[..., None], 1e3) for memory in memories]
    yield Case("numbers of 1,000 at padding", (question, padded, mask, readout), True, edge=True)
    memory = torch.tensor([40.0, 41.0, 39.5, -70.0, -69.0, -70.5]).reshape(2, 3, 1)
    far = torch.ones(2, 1), [memory, draw.numbers(2, 3, 1)], every[:2, :3], draw.numbers(2, 1) + 0.375
    yield Case("stories whose scores are far apart", far, hazard=True)
    yield Case("float64 numbers", _inputs(draw, 3, gaps(draw, 3, 5), 7, 11, torch.float64), True, hazard=True)


def _pairs(memories):
    return list(zip(memories, memories[1:], strict=False))


told_by_stages(
    task,
    {
        "1 hop": "Even a single hop is wrong, so look at that: the scores of the question with memories[0], the mask and the softmax, what is read from memories[1], and the readout.",
        "2 hops": "A single hop on one story is correct, but these two hops are not. Look at what is passed from one hop to the next: the question plus what was read, and the memory that both share. With two stories, each has its own.",
    },
)
