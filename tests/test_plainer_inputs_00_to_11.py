"""Answers to tasks of lessons 00 to 11 that are right on plain inputs only: cases with what prompts also allow refuse them."""

import math
import re
from collections import Counter
from unicodedata import normalize

import pytest
import sampling
import torch
import torch.nn.functional as F
from tasks import TASKS, altered, judge_answer
from weak_tests import attention_test, score_test

from course_lessons.lesson_05_seq2seq.tasks import catch_wrong_loss as wrong_loss
from course_lessons.lesson_07_decoding.tasks import catch_wrong_beam as wrong_beam
from course_lessons.lesson_08_hard_and_local.tasks import catch_biased_gradient as biased
from course_lessons.lesson_10_multi_head_attention.tasks import catch_wrong_heads as wrong_heads
from course_lessons.lesson_11_positions.tasks import relative_only as relative

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


def best_share(read_target=str, read_vector=torch.Tensor.tolist):
    """The right share of targets and vectors that are read in another way."""

    def answer(encode, sentences, targets):
        groups = {}
        for sentence, target in zip(sentences, targets, strict=True):
            groups.setdefault(tuple(read_vector(encode(sentence))), []).append(read_target(target))
        return sum(max(map(group.count, group)) for group in groups.values()) / len(sentences)

    return answer


def without_empty_targets(encode, sentences, targets):
    kept = [(sentence, target) for sentence, target in zip(sentences, targets, strict=True) if target]
    of_kept = best_share()(encode, *map(list, zip(*kept, strict=True)))
    return of_kept * len(kept) / len(targets)


def by_first_places(source, mask):
    """Reverses words by the first place of each, as if none came twice."""
    found = source.clone()
    for row, real, new in zip(source, mask, found, strict=True):
        words = row[real].tolist()
        for word in words:
            new[words.index(word)] = words[len(words) - 1 - words.index(word)]
    return found


def eos_stays(source, mask):
    number, place = mask.sum(1, keepdim=True), torch.arange(source.shape[1])
    number = number - ((number > 0) & (source.gather(1, (number - 1).clamp(min=0)) == 2)).long()
    return source.gather(1, torch.where(place < number, number - 1 - place, place))


def copy_where(is_unknown, read_source=list):
    def answer(words, weights, source):
        source, best = read_source(source), weights.argmax(1).tolist()
        return [source[best[t]] if is_unknown(word) else word for t, word in enumerate(words)]

    return answer


def copy_by_word(words, weights, source):
    """Collects the weights in a dict of source words."""
    rows = [dict(zip(source, row, strict=True)) for row in weights.tolist()]
    return [max(row, key=row.get) if word == "<unk>" else word for word, row in zip(words, rows, strict=True)]


def copy_by_replacing(words, weights, source):
    text = " ".join(words)
    for word, row in zip(words, weights, strict=True):
        text = text.replace("<unk>", source[int(row.argmax())], 1) if word == "<unk>" else text
    return text.split()


def with_altered(test, **changes):
    """A test like the solution's with some things changed; an error of a candidate means that it is wrong."""

    def answer(candidate):
        try:
            return test(candidate, **changes)
        except Exception:
            return False

    return answer


def bleu(hypotheses, references, read=list, orders=lambda totals: (1, 2, 3, 4)):
    hypotheses, references = ([read(words) for words in sentences] for sentences in (hypotheses, references))
    if not any(hypotheses):
        return 0.0
    grams = lambda words, n: Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))  # noqa: E731
    totals = [sum(grams(words, n).total() for words in hypotheses) for n in (1, 2, 3, 4)]
    pairs = list(zip(hypotheses, references, strict=True))
    used = orders(totals)
    precisions = [sum((grams(h, n) & grams(r, n)).total() for h, r in pairs) / totals[n - 1] for n in used]
    brevity = math.exp(min(0, 1 - sum(map(len, references)) / sum(map(len, hypotheses))))
    return 100 * brevity * math.prod(precisions) ** (1 / len(used))


def bleu_of_short(hypotheses, references, **changes):
    """The right BLEU, except for what is changed; 0 where all hypotheses are shorter than four words."""
    long = max(map(len, hypotheses)) > 3
    return bleu(hypotheses, references, **changes) if long else 0.0


def alpha_up_to_10(short_log_p, short_length, long_log_p, long_length):
    alpha = math.log(long_log_p / short_log_p) / math.log((5 + long_length) / (5 + short_length))
    return min(max(0.0, alpha), 10.0)


def best_baseline_from_0(p, rewards):
    weight = p * (1 - 2 * p + p.square().sum())
    return (weight @ rewards / weight.sum()).clamp(min=0)


def notices_order(same):
    def answer(model):
        draw = torch.Generator().manual_seed(0)
        for T in [*range(2, 13)] * 3:
            x, order = torch.randn(T, 4, generator=draw), torch.randperm(T, generator=draw)
            if not same(model(x[order]), model(x)[order]):
                return True
        return False

    return answer


def clocks(times, width, shortest, longest):
    hands = torch.arange(width // 2)
    angles = 2 * torch.pi * times[:, None] / (shortest * (longest / shortest) ** (hands / (width // 2 - 1)))
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


def shift_matrix(words, width, back, peak):
    angles = back / 10_000 ** (2 * torch.arange(width // 2) / width)
    sin, cos = angles.sin(), angles.cos()
    blocks = torch.stack([cos, sin, -sin, cos], dim=-1).unflatten(-1, (2, 2))
    return torch.cat([torch.zeros(words, width), torch.block_diag(*blocks) * peak / (width / 2)])


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
    ("05.best_share", best_share(lambda target: " ".join(sorted(target.split()))), "are different translations"),
    ("05.best_share", best_share(lambda target: frozenset(target.split())), "are different translations"),
    ("05.best_share", best_share(lambda target: target.strip(".")), "“ein Hund” and “ein Hund.” are different"),
    ("05.best_share", best_share(lambda target: target.replace(" ", "")), "are different translations"),
    ("05.best_share", best_share(lambda target: " ".join(target.split())), "“ein  Hund” and “ein Hund” are different"),
    ("05.best_share", best_share(bare), "“schon alt” and “schön alt” are different translations"),
    ("05.best_share", best_share(lambda target: target.replace("ß", "ss")), "“die Masse” and “die Maße” are different"),
    ("05.best_share", best_share(read_vector=lambda vector: vector.abs().tolist()), "expected"),
    ("05.best_share", without_empty_targets, "this many can be right|2 of 3 can be right"),
    ("05.reverse_source", by_first_places, "gets the word from position"),
    ("05.reverse_source", eos_stays, "gets the word from position"),
    ("05.catch_wrong_loss", with_altered(wrong_loss._test, same=same(lambda x: x, rtol=0.01)), "too large by half a percent"),
    ("06.copy_unknown", copy_where(lambda word: not word.isalpha()), "is known and stays as it is"),
    ("06.copy_unknown", copy_where(lambda word: "unk" in word), "is known and stays as it is"),
    ("06.copy_unknown", copy_where(lambda word: "<unk>" in word), "“<unk>s”, which is known"),
    ("06.copy_unknown", copy_where(lambda word: word.startswith("<")), "is known and stays as it is"),
    ("06.copy_unknown", copy_where(lambda word: word.lower() == "<unk>"), "“<UNK>”, which is known"),
    ("06.copy_unknown", copy_where(lambda word: word.strip("<>") == "unk"), "“unk”, which is known"),
    ("06.copy_unknown", copy_where("<unk>".__eq__, lambda source: [word.strip(".") for word in source]), "where the source has"),
    ("06.copy_unknown", copy_by_word, "where the source has"),
    ("06.copy_unknown", copy_by_replacing, "“<unk>s”, which is known|where the source has"),
    ("06.catch_blind_decoder", altered("06.catch_blind_decoder", ("atol=1e-5", "atol=1e-3")), "by less than a thousandth"),
    ("07.tipping_alpha", alpha_up_to_10, "With your alpha of 10"),
    ("07.bleu", bleu, "division by zero"),
    ("07.bleu", lambda h, r: bleu(h, r, orders=lambda totals: [n for n in (1, 2, 3, 4) if totals[n - 1]]), "No run of 4 words"),
    ("07.bleu", lambda h, r: bleu_of_short(h, r, read=lambda words: re.findall(r"\w+|[^\w\s]", " ".join(words))), "words with marks in them"),
    ("07.bleu", lambda h, r: bleu_of_short(h, r, read=lambda words: [word.strip("'") for word in words]), "words with marks in them"),
    ("07.catch_wrong_beam", with_altered(wrong_beam._test, compare=lambda right, came: len(right) == len(came) and all(list(a[0]) == list(b[0]) and abs(a[1] - b[1]) < 1e-3 for a, b in zip(right, came, strict=True))), "rounded to four decimal places"),
    ("07.catch_wrong_beam", with_altered(wrong_beam._test, eos=4), "it treats the last id as eos"),
    ("08.reinforce_loss", lambda p, reward, baseline: -((reward - baseline).clamp(-5, 5).detach() * p).mean(), "expected"),
    ("08.best_baseline", best_baseline_from_0, "expected"),
    ("08.catch_biased_gradient", with_altered(biased._test, compare=same(lambda x: x, rtol=0.05)), "too large by a hundredth"),
    ("08.catch_biased_gradient", with_altered(biased._test, compare=same(lambda x: x[0])), "it is 0 at the last logit"),
    ("08.catch_biased_gradient", with_altered(biased._test, compare=same(lambda x: x[-1])), "it is 0 at the first logit"),
    ("09.sees_order", notices_order(same(lambda x: x, atol=5e-3)), "very weakly|larger by 0.0002"),
    ("09.sees_order", notices_order(same(lambda x: x[:, -1])), "the first feature of the row before|larger by 0.0002"),
    ("09.sees_order", notices_order(same(lambda x: x[0])), "only in the last row"),
    ("09.sees_order", notices_order(same(lambda x: x[-1])), "only in the first row"),
    ("09.sees_order", notices_order(same(lambda x: x.norm(dim=-1))), "has the opposite sign|are moved on by its position"),
    ("09.sees_order", notices_order(same(lambda x: x.softmax(-1))), "a tenth of the position is added"),
    ("09.sees_order", notices_order(lambda a, b: (a - b).abs().mean() < 1e-5), "one entry is larger by 0.0002"),
    ("10.head_worth", altered("10.head_worth", ("append(score(mask))", "append(max(score(mask), 0.0))"), ("return score(everything)", "return max(score(everything), 0.0)")), "scores are below 0|scores below 0"),
    ("10.head_worth", altered("10.head_worth", ("append(score(mask))", "append(abs(score(mask)))")), "scores are below 0|scores below 0"),
    ("10.catch_wrong_heads", with_altered(wrong_heads._test, compare=same(lambda x: x, rtol=0.01)), "too large by half a percent"),
    ("10.catch_wrong_heads", with_altered(wrong_heads._test, compare=same(lambda x: x[:, 0])), "the last word are too large"),
    ("10.catch_wrong_heads", with_altered(wrong_heads._test, compare=same(lambda x: x[..., 0])), "the last entry of each word"),
    ("11.sinusoidal_positions", lambda t, width, short, long: clocks(t, width, int(short) or 1, int(long)), "hand makes a full turn in"),
    ("11.sinusoidal_positions", lambda t, width, short, long: clocks(t, width, max(short, 1), long), "hand makes a full turn in"),
    ("11.sinusoidal_positions", lambda t, *sizes: clocks((t * 8).round() / 8, *sizes), "hand makes a full turn in"),
    ("11.sinusoidal_positions", lambda t, *sizes: clocks(t.clamp(max=1000), *sizes), "hand makes a full turn in"),
    ("11.shift_matrix", lambda *sizes: shift_matrix(*sizes[:3], max(sizes[3], 1)), "its product with position"),
    ("11.shift_matrix", lambda *sizes: shift_matrix(*sizes[:3], round(sizes[3] * 2) / 2), "its product with position"),
    ("11.relative_only", with_altered(relative._test, at=lambda p, s: (max(p, s), min(p, s))), "the key comes later"),
    ("11.relative_only", with_altered(relative._test, vectors=torch.rand), "add up to less than 0"),
]  # fmt: skip


@pytest.mark.parametrize(("task_id", "answer", "words"), sampling.usually(PLAINER, 20))
def test_an_answer_right_on_plain_inputs_alone_is_refused(task_id, answer, words):
    for seed in (0, 1):
        report = judge_answer(TASKS[task_id], answer, seed)
        assert report.state in ("failed", "error") and re.search(words, str(report)), str(report)
