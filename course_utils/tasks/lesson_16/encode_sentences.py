"""Task 16.encode_sentences: a vector for each sentence of a story, the sum of its words weighted by place."""

from operator import mul

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes
from course_utils.tasks.lesson_05._padded import lengths_below, with_garbage, words_first
from course_utils.tasks.shares import USUAL

task = Task(
    "16.encode_sentences",
    "a vector for each sentence",
    arguments=("embedded B×M×J×D", "mask B×M×J", "encoding J×D"),
    result="encoded B×M×D",
    difficulty=2,
    importance=5,
    minutes=10,
    hints=(
        "Each word has its vector, and each place of a sentence has a row of the table. Multiply the two number by number, and add up over the words of the sentence; padding must add nothing. The stories of the batch and the sentences of a story stay apart.",
        "Take the encoding [0.5, 0.5] for the first place and [0.5, 1] for the second, and a sentence of the words [2, 4] and [6, 8]. The first gives [1, 2] and the second [3, 8], together [4, 10]. In the other order, [6, 8] and [2, 4], it is [3, 4] plus [1, 4], which is [4, 8]: the order makes a difference. If the second word is padding, [1, 2] is left.",
        "words = embedded with zeros at the places where mask is False; weighted = words times encoding, B×M×J×D by broadcasting; return the sum of weighted over J.",
    ),
    partial=USUAL,
)  # fmt: skip


@task.property
def nothing_comes_of_nothing(case, value):
    """A sentence without words is zeros."""
    empty = ~case.args[1].any(-1)
    return (
        "A sentence without words is a sum of nothing, so its vector is zeros; yours is not."
        if empty.any() and (value[empty].abs() > 1e-6).any()
        else None
    )


def _inputs(draw, mask, D, dtype=torch.float32):
    numbers = draw.numbers(*mask.shape, D, dtype=dtype) + 0.25
    return numbers, mask, draw.numbers(mask.shape[-1], D, dtype=dtype) / 2 + 0.625


def _padded(draw, B, M, J):
    """A mask B×M×J with the words of each sentence first, one at least in each; no two sentences of a story are of one length, if they can differ."""
    return torch.stack([words_first(lengths_below(draw, M, J), J) for _ in range(B)])


def _gaps(draw, B, M, J):
    """A mask B×M×J with False before True."""
    return draw.mask(B, M, J)[..., draw.distinct(J, 0, J)]


@task.cases
def _(draw):
    for size in sizes(B=2, M=3, J=5, D=7):
        J = size.J if size.full else size.J + 1  # so that there is padding
        name = f"{'1 story' if size.B == 1 else f'{size.B} stories'} of {count(size.M, 'sentence')}, {J} places, width {size.D}"
        yield Case(name, _inputs(draw, _padded(draw, size.B, size.M, J), size.D), size.full)
    every = torch.ones(3, 2, 5, dtype=torch.bool)
    yield Case("no padding", _inputs(draw, every, 4), True)
    yield Case("False places before True ones", _inputs(draw, _gaps(draw, 2, 3, 5), 2), True)
    yield Case("as many words as features", _inputs(draw, _padded(draw, 2, 3, 5), 5))
    yield Case("as many sentences as words", _inputs(draw, _padded(draw, 2, 5, 5), 3))
    yield Case("stories, sentences, words and features all 3", _inputs(draw, _gaps(draw, 3, 3, 3), 3))
    yield Case("a single word", _inputs(draw, every[:1, :1, :1], 1), True, edge=True)
    mask = _padded(draw, 2, 3, 5)
    mask[1, 2] = False
    yield Case("a sentence without words", _inputs(draw, mask, 3), True, edge=True)
    yield Case("no word at all", _inputs(draw, ~every, 4), True, edge=True)
    yield Case("sentences of 200 words", _inputs(draw, _padded(draw, 1, 2, 200), 3), True, edge=True)
    yield Case("200 sentences", _inputs(draw, _gaps(draw, 1, 200, 4), 3), True, edge=True)
    embedded, mask, encoding = _inputs(draw, _padded(draw, 2, 3, 5), 7)
    garbage = with_garbage(embedded.flatten(0, 1), mask.flatten(0, 1)).view(embedded.shape)
    yield Case("NaN and infinity at padding", (garbage, mask, encoding), True, hazard=True)
    yield Case("numbers up to 10,000", (embedded * 1e4 / embedded.abs().max(), mask, encoding), True, hazard=True)
    yield Case("float64 numbers", _inputs(draw, _gaps(draw, 2, 3, 5), 4, torch.float64), True, edge=True)


@task.oracle
def _(embedded, mask, encoding):
    B, M, J, D = embedded.shape
    zero = torch.zeros(D, dtype=embedded.dtype)
    stories = []
    for b in range(B):
        for m in range(M):
            stories.append(sum((embedded[b, m, j] * encoding[j] for j in range(J) if mask[b, m, j]), zero))
    return torch.stack(stories).view(B, M, D)


def _words(embedded, mask):
    return embedded.masked_fill(~mask[..., None], 0.0)


@task.steps
def _(embedded, mask, encoding):
    embedded = _words(embedded, mask)
    words = yield "the words with zeros at padding", lambda words, mask: words * mask[..., None], embedded, mask
    weighted = yield "the words times encoding", mul, words, encoding
    encoded = yield "the sum over the words", lambda weighted: weighted.sum(2), weighted
    return encoded


def _times(words, encoding, mask):
    return words * encoding


def _sum(weighted, mask):
    return weighted.sum(2)


def _encoded(embedded, mask, encoding, words=_words, weigh=_times, end=_sum):
    return end(weigh(words(embedded, mask), encoding, mask), mask)


def _mistake(name, sentence, **parts):
    """Register sentences that are encoded correctly except for the given parts."""
    task.mistake(sentence, name)(lambda embedded, mask, encoding: _encoded(embedded, mask, encoding, **parts))


# The mask

_mistake(
    "mask_unused",
    "The mask has no effect: what stands at padding is added up like a word. Put zeros there before you add up over the words.",
    words=lambda embedded, mask: embedded,
)
_mistake(
    "mask_inverted",
    'The mask is the wrong way round: True means "is a word", and you add up what stands at padding.',
    words=lambda embedded, mask: _words(embedded, ~mask),
)
_mistake(
    "first_story_for_all",
    "You use the first story's mask for all stories. Each has its own.",
    words=lambda embedded, mask: _words(embedded, mask[:1].expand_as(mask)),
)
_mistake(
    "first_sentence_for_all",
    "You use the mask of a story's first sentence for all its sentences. Each sentence has its own length.",
    words=lambda embedded, mask: _words(embedded, mask[:, :1].expand_as(mask)),
)
_mistake(
    "whole_sentences_masked",
    "Your mask leaves out only whole sentences, not single places: padding at the end of a sentence still counts. Put zeros at each place where the mask is False.",
    words=lambda embedded, mask: _words(embedded, mask.any(-1, keepdim=True).expand_as(mask)),
)
_mistake(
    "full_sentences_only",
    "You leave out every sentence that has padding. Leave out the padding, and keep the words.",
    words=lambda embedded, mask: _words(embedded, mask.all(-1, keepdim=True).expand_as(mask)),
)
_mistake(
    "mask_as_lengths",
    "You count the True values of a mask and take as many words from the front. False may stand before True: leave out the places at which it stands.",
    words=lambda embedded, mask: _words(embedded, torch.arange(mask.shape[-1]) < mask.sum(-1, keepdim=True)),
)
_mistake(
    "ones_at_padding",
    "You put 1 in place of what stands at padding, so the table's rows are added there. Put 0 there.",
    words=lambda embedded, mask: embedded.masked_fill(~mask[..., None], 1.0),
)
_mistake(
    "garbage_times_zero",
    "You multiply what stands at padding by 0. It may be NaN or infinite, and 0 times NaN is NaN: put zeros there with masked_fill or torch.where.",
    words=lambda embedded, mask: embedded * mask[..., None],
)
_mistake(
    "garbage_reaches_the_encoding",
    "The values are right, but NaN from padding gets into the gradient of encoding: you multiply first and put zeros in afterwards, and the backward pass still runs through the product. Put zeros in place of padding before you multiply.",
    words=lambda embedded, mask: embedded,
    weigh=lambda words, encoding, mask: torch.where(mask[..., None], words * encoding, 0.0),
)


# The encoding

_mistake(
    "encoding_unused",
    "The encoding has no effect: you add up the words as they are, and their order is lost. Multiply each word by the row of its place first.",
    weigh=lambda words, encoding, mask: words,
)
_mistake(
    "encoding_added",
    "You add the encoding to the words, as the Transformer does with positions. Here words are multiplied by it, number by number.",
    weigh=lambda words, encoding, mask: torch.where(mask[..., None], words + encoding, 0.0),
)
_mistake(
    "encoding_added_everywhere",
    "You add the encoding to the words, and to the padding as well. Multiply the words by it, number by number; padding then stays 0.",
    weigh=lambda words, encoding, mask: words + encoding,
)
_mistake(
    "words_divided",
    "You divide the words by the encoding. Multiply them by it.",
    weigh=lambda words, encoding, mask: words / encoding,
)
_mistake(
    "encoding_twice",
    "The words are multiplied by the encoding twice. Multiply once.",
    weigh=lambda words, encoding, mask: words * encoding**2,
)
_mistake(
    "encoding_turned_round",
    "The rows of the encoding meet the words in reverse order: the first word is multiplied by the last row. Row j belongs to place j.",
    weigh=lambda words, encoding, mask: words * encoding.flip(0),
)
_mistake(
    "encoding_transposed",
    "You multiply by the transposed encoding. This runs without an error only where there are as many words as features: use it as it is, J×D.",
    weigh=lambda words, encoding, mask: words * encoding.T,
)
_mistake(
    "first_row_for_all",
    "All words are multiplied by the first row of the encoding. Each place has a row of its own.",
    weigh=lambda words, encoding, mask: words * encoding[0],
)
_mistake(
    "row_per_sentence",
    "The rows of the encoding meet the sentences of a story: the first sentence gets row 0. This runs without an error only where there are as many sentences as words. Row j belongs to the word at place j.",
    weigh=lambda words, encoding, mask: words * encoding[:, None],
)
_mistake(
    "mean_of_features",
    "Each place has one weight, the mean of its row. The encoding has a number for each feature: multiply number by number.",
    weigh=lambda words, encoding, mask: words * encoding.mean(1, keepdim=True),
)
_mistake(
    "softmax_of_the_encoding",
    "You take a softmax of the encoding over the places. Its numbers are used as they are.",
    weigh=lambda words, encoding, mask: words * encoding.softmax(0),
)
_mistake(
    "places_counted_among_words",
    "You give the table's rows to the words one after another, and skip the places where there is padding. A word keeps the row of the place at which it stands.",
    weigh=lambda words, encoding, mask: words * encoding[(mask.cumsum(-1) - 1).clamp(min=0)],
)


# The sum

_mistake(
    "mean_over_places",
    "You take the mean over all J places, padding included. Take the sum.",
    end=lambda weighted, mask: weighted.mean(2),
)
_mistake(
    "mean_over_words",
    "You divide by the number of words. Here a sentence is the sum of its words.",
    end=lambda weighted, mask: weighted.sum(2) / mask.sum(2, keepdim=True).clamp(min=1),
)
_mistake(
    "largest",
    "You take the largest number of each feature. Add the words up.",
    end=lambda weighted, mask: weighted.amax(2),
)
_mistake(
    "last_word_kept",
    "Only the word at the last place is left. In a loop over the words, each has to be added to the sum so far.",
    end=lambda weighted, mask: weighted[:, :, -1],
)
_mistake(
    "not_summed",
    "You return B×M×J×D, a vector for each word. Add up over the words.",
    end=lambda weighted, mask: weighted,
)
_mistake(
    "summed_over_features",
    "You add up over the features, which leaves a number for each word. Add up over the words, axis 2.",
    end=lambda weighted, mask: weighted.sum(3),
)
_mistake(
    "summed_over_sentences",
    "You add up over the sentences of a story, which leaves a vector for each place. Add up over the words, axis 2.",
    end=lambda weighted, mask: weighted.sum(1),
)
_mistake(
    "one_for_each_story",
    "You add up over the sentences as well, so a story has one vector. Each sentence keeps its own: add up over the words only, axis 2.",
    end=lambda weighted, mask: weighted.sum((1, 2)),
)
_mistake(
    "axis_kept",
    "Your result has an axis of size 1 too many: B×M×1×D. A vector for each sentence is asked for, B×M×D.",
    end=lambda weighted, mask: weighted.sum(2, keepdim=True),
)
_mistake(
    "running_sums",
    "You return the running sums over the words. Return the sum of all of them, B×M×D.",
    end=lambda weighted, mask: weighted.cumsum(2),
)


@task.mistake(
    "The values are right, but no gradient reaches the encoding. Multiply by the tensor as it comes in, without `detach` and without taking numbers out of it."
)
def encoding_cut_off(embedded, mask, encoding):
    return _encoded(embedded, mask, encoding.detach())
