"""Task 16.memories: from the words of a story to its memories, with both orders (Sukhbaatar et al. 2015, section 4.1)."""

from operator import add, mul

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes
from course_utils.checks.way import left_out
from course_utils.lessons.lesson_05._padded import lengths_below, words_first
from course_utils.lessons.lesson_06._looking import scattered
from course_utils.lessons.shared.shares import EDGE, SIDE_EFFECT

task = Task(
    "16.memories",
    "from words to memories",
    arguments=("facts B×M×J", "embedding V×D", "ages L×D"),
    result="memories B×M×D",
    difficulty=4,
    importance=5,
    minutes=25,
    hints=(
        "Two masks come from the ids alone: a word is real where its id is not 0, and a fact is real where any of its words is. Work in this order: vectors of the words, with zeros for word 0; the weight of each position and feature; the sum over the words; the age, which says how many real facts come after this one; zeros for facts that are not real.",
        "Let the vectors have width 2, word 1 be [4, 8] and word 2 be [2, 6], and let there be two positions. The weights are [0.5, 0.5] at the first and [0.5, 1] at the second. The fact “1 2” gives [2, 4] + [1, 6] = [3, 10], and the fact “2 0” gives [1, 3]. In the story “1 2”, “2 0” the second fact is the latest, so with the ages [10, 10] and [20, 20] the memories are [23, 30] and [11, 13].",
        "real = facts above 0, B×M×J; words = rows of embedding at facts, with zeros where real is False; j = 1, 2, … J divided by J, as a column, and k = 1, 2, … D divided by D; weights = 1 - j - k·(1 - 2j); encoded = the sum over J of words times weights; mask = whether any of real is True, B×M; after = the number of True values of mask in the row minus their running sum; memories = encoded plus the rows of ages at after, with zeros where mask is False.",
    ),
    partial=EDGE | SIDE_EFFECT,
)


@task.property
def padding_is_zeros(case, value):
    """It is no memory."""
    padding = ~(case.args[0] > 0).any(-1)
    return (
        "A fact whose words are all 0 is padding, and its memory is zeros; one of yours is not."
        if padding.any() and (value[padding].abs() > 1e-6).any()
        else None
    )


def _inputs(draw, mask, J, D, V=11, dtype=torch.float32):
    """Facts of different lengths where mask B×M is True, an embedding and ages, some more of them than facts."""
    B, M = mask.shape
    lengths = draw.whole(1, J + 1, B, M)
    facts = draw.whole(1, V, B, M, J) * (torch.arange(J) < lengths[..., None]) * mask[..., None]
    ages = draw.numbers(M + 2, D, dtype=dtype) + 0.25
    return facts, draw.numbers(V, D, dtype=dtype) + 0.25, ages


@task.cases
def _(draw):
    for size in sizes(B=2, M=5, J=3, D=7):
        M = size.M if size.full else size.M + 1  # so that there is padding
        mask = words_first(lengths_below(draw, size.B, M), M)
        name = f"{count(size.B, 'story') if size.B == 1 else f'{size.B} stories'} of {count(M, 'place')}, {count(size.J, 'position')}, width {size.D}"
        yield Case(name, _inputs(draw, mask, size.J, size.D), size.full)
    every = torch.ones(3, 4, dtype=torch.bool)
    yield Case("no padding among the facts", _inputs(draw, every, 5, 2), True)
    yield Case("padding before facts and between them", _inputs(draw, scattered(draw), 4, 3), True)
    yield Case(
        "stories, facts, positions and features all 3", _inputs(draw, words_first(torch.tensor([2, 3, 1]), 3), 3, 3)
    )
    yield Case("one fact of one word", _inputs(draw, every[:1, :1], 1, 1), edge=True)
    yield Case("a story without facts", _inputs(draw, words_first(torch.tensor([3, 0, 5]), 5), 3, 2), True, edge=True)
    facts, embedding, ages = _inputs(draw, scattered(draw), 4, 3)
    embedding[0] = 1000.0
    yield Case("a vector of 1,000 for the padding word", (facts, embedding, ages), edge=True)
    facts, embedding, ages = _inputs(draw, every, 3, 2)
    facts[:, ::2, 0] = 0
    facts[:, :, 1] = facts[:, :, 1].clamp(min=1)
    yield Case("word 0 before other words of a fact", (facts, embedding, ages), edge=True)
    yield Case("float64 numbers", _inputs(draw, scattered(draw), 4, 3, dtype=torch.float64), True, edge=True)


@task.oracle
def _(facts, embedding, ages):
    D, stories = embedding.shape[1], []
    for story in facts.tolist():
        after, memories = 0, []
        for fact in reversed(story):
            if not any(fact):
                memories.append(torch.zeros(D, dtype=embedding.dtype))
                continue
            memory = ages[after].clone()
            for j, word in enumerate(fact, 1):
                share = j / len(fact)
                weights = torch.tensor([1 - share - k / D * (1 - 2 * share) for k in range(1, D + 1)]).to(embedding)
                memory = memory + (embedding[word] * weights if word else 0)
            memories.append(memory)
            after += 1
        stories.append(torch.stack(memories[::-1]))
    return torch.stack(stories)


def _weights(J, D, first=1):
    j, k = (torch.arange(J) + first)[:, None] / J, (torch.arange(D) + first) / D
    return (1 - j) - k * (1 - 2 * j)


def _real(facts):
    return (facts > 0).any(-1)


def _after(mask):
    """How many facts come after each place, B×M."""
    return mask.sum(1, keepdim=True) - mask.cumsum(1)


@task.steps
def _(facts, embedding, ages):
    words = yield (
        "the vectors of the words, with zeros for word 0",
        lambda e: e[facts] * (facts > 0)[..., None],
        embedding,
    )
    weights = yield "the weights of the positions", _weights, facts.shape[2], embedding.shape[1]
    weighted = yield "the words times the weights", mul, words, weights
    encoded = yield "the sum over the words", lambda weighted: weighted.sum(2), weighted
    mask = yield "which facts are real", _real, facts
    after = yield "how many real facts come after each", _after, mask
    rows = yield "the rows of ages", lambda ages, after: ages[after.clamp(0, len(ages) - 1)], ages, after
    aged = yield "the sum plus the rows of ages", add, encoded, rows
    memories = yield "the same with zeros at padding", lambda aged, mask: aged * mask[..., None], aged, mask
    return memories


def _by_own_length(J, D, *, facts):
    tables = [torch.cat([_weights(n, D), torch.zeros(J - n, D)]) for n in range(1, J + 1)]
    return torch.stack([torch.zeros(J, D), *tables])[(facts > 0).sum(-1)]


def _places(mask):
    return torch.arange(mask.shape[1]).expand(mask.shape)


def _aged_words(embedding, *, facts, ages):
    return (embedding[facts] + ages[_after(_real(facts))][:, :, None]) * (facts > 0)[..., None]


WORDS, WEIGHTS = "the vectors of the words, with zeros for word 0", "the weights of the positions"
AFTER = "how many real facts come after each"
task.changed_each(
    # The order of the words
    ("counted_from_0", "You count positions and features from 0, as `torch.arange` does. In the formula j and k begin with 1, so the last of each has the share 1.", {WEIGHTS: lambda J, D: _weights(J, D, first=0)}),
    ("one_weight_per_word", "Each word has the weight 1 - j/J in all features. The second part of the formula makes the features differ.", {WEIGHTS: lambda J, D: (1 - torch.arange(1, J + 1) / J)[:, None]}),
    ("divided_by_the_words", "You divide j by the number of words of each fact. Here J is the number of positions, the same for all facts.", {WEIGHTS: _by_own_length}),
    ("order_lost", "The words are added up as they are, so their order is lost. Multiply each by the weights of its position first.", {"the words times the weights": left_out}),
    # The sum
    ("padding_word_added", "Word 0 is added like any other. It is padding: its vector adds nothing, whatever embedding[0] holds.", {WORDS: lambda embedding, *, facts: embedding[facts]}),
    ("mean_of_the_real_words", "You divide by the number of words. A memory is their sum.", {"the sum over the words": lambda w, *, facts: w.sum(2) / (facts > 0).sum(2, keepdim=True).clamp(min=1)}),
    # The order of the facts
    ("from_the_beginning", "You count the ages from the beginning: the first fact gets ages[0]. Then the latest fact has another age in each length of story. Count from the last fact backwards.", {AFTER: lambda mask: mask.cumsum(1) - 1}),
    ("from_the_end_of_the_row", "You count from the end of the row, padding included, so the latest fact of a padded story is not the youngest. Count only the real facts that come after each.", {AFTER: lambda mask: mask.shape[1] - 1 - _places(mask)}),
    ("facts_taken_to_be_first", "You count the facts of a story and assume that they come first. Padding may come before a fact: count how many real facts come after each.", {AFTER: lambda mask: mask.sum(1, keepdim=True) - 1 - _places(mask)}),
    ("ages_from_1", "Your ages begin with 1. No fact comes after the latest one, so it gets ages[0].", {AFTER: lambda mask: _after(mask) + 1}),
    ("first_word_decides", "A fact that begins with word 0 is taken for padding. It is padding only if all its words are 0: ask whether any of them is not.", {"which facts are real": lambda facts: facts[..., 0] > 0}),
    ("age_in_every_word", "You add the age to every word before the words are weighted and added up. Add it once, to the finished sum.", {WORDS: _aged_words, "the sum plus the rows of ages": left_out}),
)  # fmt: skip
