"""Answers to tasks of lessons 00 to 11 that are right on plain inputs only: cases with what prompts also allow refuse them."""

import math
from collections import Counter
from unicodedata import normalize

import pytest
import torch
import torch.nn.functional as F
from tasks import TASKS, judge_answer
from weak_tests import attention_test, score_test

INF = math.inf


def first_to_last(words, mask):
    """Adds up all positions from the first word to the last."""
    places = [row.nonzero()[:, 0].tolist() or [0, -1] for row in mask]
    return torch.stack([x[real[0] : real[-1] + 1].sum(0) for x, real in zip(words, places, strict=True)])


def by_start_and_number(words, thetas, mask):
    """Attends to as many positions from the first word on as there are words."""
    start, place = mask.int().argmax(1)[:, None], torch.arange(mask.shape[1])
    adjacent = (place >= start) & (place < start + mask.sum(1, keepdim=True))
    scores = (thetas @ words.mT).masked_fill(~adjacent[:, None], -INF)
    return (scores.softmax(-1).nan_to_num() @ words).flatten(1)


def labels_in_turn(sums, labels, weight, bias):
    error = (torch.sigmoid(sums @ weight + bias) - torch.arange(len(labels)) % 2) / len(labels)
    return error @ sums, error.sum()


def polarity(x, w, zero_word, zero_weight=lambda w: not w.any()):
    cosine = x @ w / (x.norm(dim=1) * w.norm())
    return torch.where(zero_word(x) | torch.tensor(zero_weight(w)), torch.zeros(len(x)), cosine)


def content_based(state, hidden, is_zero):
    cosine = F.normalize(state, dim=-1) @ F.normalize(hidden, dim=-1).mT
    return cosine.masked_fill(is_zero(state)[:, :, None] | is_zero(hidden)[:, None], 0.0)


def an_entry(x):
    return (x == 0).any(-1)


def the_sum(x):
    return x.sum(-1) == 0


def zero(x):
    return (x == 0).all(-1)


def must_fail(read):
    """A right search among words that are read in another way."""

    def answer(sentences, labels):
        found = {True: [], False: []}
        for sentence, label in zip(sentences, labels, strict=True):
            found[bool(label)].append(read(sentence))
        positive, negative = ([Counter(a + b) for a in side for b in side] for side in (found[True], found[False]))
        return any(each in positive for each in negative)

    return answer


def without_empty_ones(sentences, labels):
    kept = [(sentence, label) for sentence, label in zip(sentences, labels, strict=True) if sentence]
    return must_fail(list)([sentence for sentence, _ in kept], [label for _, label in kept])


def bare(word):
    return normalize("NFKD", word).encode("ascii", "ignore").decode()


def influence(change=torch.randn_like, least=1e-5):
    def answer(function, x):
        before, columns = function(x), []
        for s in range(x.shape[1]):
            changed = x.clone()
            changed[:, s] += change(x[:, s])
            columns.append(((function(changed) - before).abs() > least).any(-1).any(0))
        return torch.stack(columns, 1)

    return answer


def by_inverse(weight):
    if weight.shape[0] != weight.shape[1]:
        return torch.eye(len(weight)), weight
    return torch.linalg.inv(torch.linalg.inv(weight)).mT, torch.eye(len(weight))


def tried_up_to_50(share):
    return next((D for D in range(1, 50) if 1 / (1 + math.exp(-((2 * D) ** 0.5))) >= share), 50)


def with_positive_states(score, state, hidden):
    weights = score(state, hidden).softmax(-1)
    others = [score(torch.rand_like(state), hidden).softmax(-1) for _ in range(3)]
    return all(torch.allclose(weights, other, atol=1e-5) for other in others)


def same(part, **tolerance):
    """A comparison of a part of both results."""
    return lambda a, b: a.shape == b.shape and torch.allclose(part(a), part(b), **({"atol": 1e-5} | tolerance))


PLAINER = [  # task, answer, words of the message
    ("00.weighted_sum", lambda w, v: torch.round(w, decimals=1) @ v, "expected"),
    ("00.weighted_sum", lambda w, v: w[:5] @ v[:5], "expected"),
    ("01.sum_vectors", first_to_last, "expected"),
    ("01.sentiment_gradient", labels_in_turn, "expected"),
    ("01.word_polarity", lambda x, w: polarity(x, w, an_entry), "A vector is zero only if all of its entries are 0"),
    ("01.word_polarity", lambda x, w: polarity(x, w, the_sum), "nor entries that add up to 0"),
    ("01.word_polarity", lambda x, w: polarity(x, w, zero, lambda w: not w.sum()), "nor entries that add up to 0"),
    ("01.must_fail", must_fail(lambda words: [word.strip("!.,?") for word in words]), "are different words"),
    ("01.must_fail", must_fail(lambda words: [word for word in words if word.isalpha()]), "“!” counts as a word"),
    ("01.must_fail", must_fail(lambda words: [bare(word) for word in words]), "“cafe” and “café” are different words"),
    ("01.must_fail", must_fail(lambda words: [word.rstrip("s") for word in words]), "“plot” and “plots” are different"),
    ("01.must_fail", without_empty_ones, "a sentence without words"),
    ("02.softmax", lambda s, t=1.0: (s / t).clamp(-2e4, 2e4).softmax(-1), "expected"),
    ("02.softmax", lambda s, t=1.0: (s / t).softmax(min(s.dim() - 1, 2)), "expected"),
    ("02.softmax", lambda s, t=1.0: (s / max(t, 0.5)).softmax(-1), "expected"),
    ("02.masked_softmax", lambda s, m: s.masked_fill(~m, -INF).softmax(max(s.dim() - 1, 1)).masked_fill(~m, 0), "Dimension out of range"),
    ("02.several_attentions", by_start_and_number, "expected"),
    ("02.error_through_attention", lambda w, e: (w / w.sum(1, keepdim=True))[..., None] * e[:, None], "NaN"),
    ("03.padding_mask", lambda n, size: torch.arange(size) < n.clamp(max=8)[:, None], "expected"),
    ("03.causal_mask", lambda n: torch.arange(n).to(torch.int8)[:, None] >= torch.arange(n).to(torch.int8), "expected"),
    ("03.influence", influence(least=1e-3), "a tolerance of 1e-5 and no more"),
    ("03.influence", influence(lambda x: torch.arange(x.shape[-1]).float().expand(x.shape)), "by its own random number"),
    ("03.catch_wrong_attention", attention_test(agree=same(lambda x: x[-1])), "the first sentence are too large"),
    ("03.catch_wrong_attention", attention_test(agree=same(lambda x: x[:, -1])), "the first query is too large"),
    ("03.catch_wrong_attention", attention_test(agree=same(lambda x: x[..., -1])), "the first feature of each context"),
    ("03.catch_wrong_attention", attention_test(agree=same(lambda x: x[..., 0])), "the last feature of each context"),
    ("03.catch_wrong_attention", attention_test(agree=same(lambda x: x, rtol=0.01)), "too large by half a percent"),
    ("03.catch_wrong_attention", attention_test(fix=lambda *a: [x.abs() for x in a]), "the scores lose their sign"),
    ("03.catch_wrong_attention", attention_test((2, 5, 5, 7, 11)), "fails if T and S differ"),
    ("03.catch_wrong_attention", attention_test((2, 3, 5, 7, 7)), "fails if D and E differ"),
    ("04.content_based", lambda s, h: content_based(s, h, an_entry), "A vector is zero only if all of its entries are 0"),
    ("04.content_based", lambda s, h: content_based(s, h, the_sum), "nor entries that add up to 0"),
    ("04.two_projections", by_inverse, "singular"),
    ("04.width_that_saturates", tried_up_to_50, "expected 59"),
    ("04.ignores_query", with_positive_states, "the negative entries of the state"),
    ("04.catch_wrong_scores", score_test(agree=same(lambda x: x[..., 0])), "at the last hidden state"),
    ("04.catch_wrong_scores", score_test(agree=lambda a, b: bool(((a - b).abs() < 1e-5).all())), "one axis too many"),
    ("04.catch_wrong_scores", score_test((2, 5, 5, 7, 11, 13)), "fails if T and S differ"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("task_id", "answer", "words"), PLAINER, ids=[f"{task_id}-{n}" for n, (task_id, *_) in enumerate(PLAINER)]
)
def test_an_answer_right_on_plain_inputs_alone_is_refused(task_id, answer, words):
    for seed in (0, 1):
        report = judge_answer(TASKS[task_id], answer, seed)
        assert report.state in ("failed", "error") and words in str(report), str(report)
