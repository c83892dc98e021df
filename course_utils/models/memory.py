"""A network that stores what it reads, one memory for each sentence, and asks the memories several times before it answers.

Here: the end-to-end memory network of Sukhbaatar et al. 2015 (sections 2 and 4.1) and its training. Not here: the stories
(`data/stories.py`).

Shape letters: B stories, M facts, J words of a sentence, D width, V answers.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_utils.data.stories import ANSWERS, VOCABULARY, Stories
from course_utils.models.attention import masked_softmax
from course_utils.models.train_model import train_model
from course_utils.models.validation import check_sizes

WORDS, WORDS_TO_ANSWER = len(VOCABULARY), len(ANSWERS)


def position_encoding(words: int, width: int) -> Tensor:
    """Return the weight of each feature for the word at each place, J×D: (1 - j/J) - (d/D)(1 - 2j/J), j and d from 1 (section 4.1)."""
    j, d = torch.arange(1, words + 1)[:, None] / words, torch.arange(1, width + 1) / width
    return (1 - j) - d * (1 - 2 * j)


def memory_hop(question: Tensor, memory: Tensor, output: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Ask the memories once: question B×D, memory and output B×M×D, mask B×M → the next question B×D, weights B×M (section 2)."""
    memory, output = (one.masked_fill(~mask[..., None], 0.0) for one in (memory, output))
    weights = masked_softmax((memory @ question[..., None])[..., 0], mask)  # B M
    return question + (weights[:, None] @ output)[:, 0], weights


def linear_hop(question: Tensor, memory: Tensor, output: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Ask as `memory_hop` does, with the scores themselves as weights (section 4.2, linear start)."""
    weights = (memory @ question[..., None])[..., 0] * mask  # B M
    return question + (weights[:, None] @ output)[:, 0], weights


class Answered(NamedTuple):
    """The scores of the answers, B×V, and how much each hop attends to each fact, B×hops×M."""

    logits: Tensor
    weights: Tensor


class MemoryNetwork(nn.Module):
    """Facts become memories by K + 1 embeddings with adjacent tying: hop k addresses with the k-th and reads with the next one.

    Args:
        hops: K.
        width: D.
        longest: the largest number of facts in a story, each of which has an age.
        order: whether words are weighted by their place; if not, a sentence is the sum of its words.
        age: whether a learned vector says how long ago a fact was read.
        hidden: width of a layer with ReLU before the answer; 0, as in the paper, for none.

    Raises:
        CourseError: for a size below 1.
    """

    def __init__(
        self, hops=3, width=20, longest=50, words=WORDS, answers=WORDS_TO_ANSWER, order=True, age=True, hidden=0
    ):
        super().__init__()
        check_sizes(1, hops=hops, width=width, longest=longest, words=words, answers=answers)
        check_sizes(0, hidden=hidden)
        self.embeddings = nn.ModuleList([nn.Embedding(words, width, padding_idx=0) for _ in range(hops + 1)])
        self.ages = nn.ParameterList([nn.Parameter(0.1 * torch.randn(longest, width)) for _ in range(hops + 1)])
        self.readout = nn.Linear(hidden or width, answers, bias=False)
        if hidden:
            self.readout = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), self.readout)
        self.order, self.age, self.hop = order, age, memory_hop
        for embedding in self.embeddings:
            nn.init.normal_(embedding.weight, std=0.1)  # section 4.2
            nn.init.zeros_(embedding.weight[0])

    def encode(self, sentence: Tensor, embedding: nn.Embedding) -> Tensor:
        """Return a vector for each sentence: …×J → …×D."""
        words = embedding(sentence)  # … J D
        if self.order:
            words = words * position_encoding(*words.shape[-2:])
        return words.sum(-2)

    def memories(self, facts: Tensor, mask: Tensor, k: int) -> Tensor:
        """Return the memories of facts B×M×J by the k-th embedding, B×M×D; those at padding are meaningless."""
        ago = (mask.flip(1).cumsum(1).flip(1) - 1).clamp(min=0)  # B M, 0 for the last fact
        return self.encode(facts, self.embeddings[k]) + (self.ages[k][ago] if self.age else 0.0)

    def forward(self, facts: Tensor, mask: Tensor, question: Tensor) -> Answered:
        """Answer B questions: facts B×M×J and question B×J, ids with 0 for padding; mask B×M, True at facts."""
        memories = [self.memories(facts, mask, k) * mask[..., None] for k in range(len(self.ages))]
        state, seen = self.encode(question, self.embeddings[0]), []
        for memory, output in zip(memories, memories[1:], strict=False):
            state, weights = self.hop(state, memory, output, mask)
            seen.append(weights)
        return Answered(self.readout(state), torch.stack(seen, 1))


def with_empty_memories(facts: Tensor, mask: Tensor, share: float, draw: torch.Generator) -> tuple[Tensor, Tensor]:
    """Put an empty memory after this share of the facts, which makes those before it older (section 4.1, random noise): B×2M×J, B×2M."""
    empty = mask & (torch.rand(mask.shape, generator=draw) < share)
    facts = torch.stack([facts, torch.zeros_like(facts)], 2).flatten(1, 2)
    return facts, torch.stack([mask, empty], 2).flatten(1)


def fit(
    model: nn.Module, stories: Stories, seed=0, steps=2000, batch=32, rate=1e-2, linear_steps=0, noise=0.0
) -> list[float]:
    """Train a network on stories; return the loss of each step. In the first `linear_steps`, `model.hop` is `linear_hop`."""
    step = iter(range(steps))

    def loss_of_batch(draw):
        model.hop = linear_hop if next(step) < linear_steps else memory_hop
        rows = torch.randint(len(stories.answer), (batch,), generator=draw)
        facts, mask = stories.facts[rows], stories.mask[rows]
        if noise:
            facts, mask = with_empty_memories(facts, mask, noise, draw)
        output = model(facts, mask, stories.question[rows])
        return F.cross_entropy(output.logits, stories.answer[rows])

    return train_model(model, loss_of_batch, seed, steps, rate)


class Score(NamedTuple):
    """`right` is the share of right answers; `on_facts[hop][i]` is the mean weight of a hop on the i-th fact of the reasoning.
    Stories whose answer rests on fewer facts do not count."""

    right: float
    on_facts: list[list[float]]


@torch.no_grad()
def score(model: MemoryNetwork, stories: Stories) -> Score:
    """Return how well a network answers, and how much each hop attends to the facts that the answers rest on."""
    output = model(stories.facts, stories.mask, stories.question)
    on_facts = []
    for place in stories.support.unbind(1):
        (rows,) = (place >= 0).nonzero(as_tuple=True)
        on_facts.append(output.weights[rows, :, place[rows]].mean(0))  # hops; nan if no answer rests on that many facts
    right = (output.logits.argmax(-1) == stories.answer).float().mean().item()
    return Score(right, torch.stack(on_facts, 1).tolist())
