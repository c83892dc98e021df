"""What a report says is true of every answer that gets it. The answers here once got messages about something they had not done."""

import itertools
import math
import random
import re
import sys
import warnings
from collections import Counter

import pytest
import torch
import torch.nn.functional as F
from tasks import TASKS, altered, solution_of
from weak_tests import attention_test, same, score_test

from course_lessons.lesson_04_alignment_scores.tasks._scores import shapes
from course_utils.checks.compare import difference
from course_utils.checks.error_hints import IN_OTHER_WORDS
from course_utils.checks.expected import Expected
from course_utils.checks.explain import Baseline, evaluator_of
from course_utils.checks.judge_answer import judge_answer
from course_utils.checks.report import in_text
from course_utils.models import attention


def hidden_layer(state, hidden, weight_s, weight_h):
    return (state @ weight_s.T)[:, :, None] + (hidden @ weight_h.T)[:, None]


def attend(query, key, value, mask=None, scores=lambda scores, mask: scores, weights=lambda weights, mask: weights):
    """Attention with something done to its scores, which should be masked there, or to its weights."""
    mask = torch.ones(1, 1, 1, dtype=torch.bool) if mask is None else mask
    shares = weights(torch.nan_to_num(scores(query @ key.mT, mask).masked_fill(~mask, -torch.inf).softmax(-1)), mask)
    return shares @ value, shares


def attend_after(query, key, value, mask=None):
    shares = (query @ key.mT).softmax(-1)
    shares = shares if mask is None else torch.nan_to_num(shares * mask / (shares * mask).sum(-1, keepdim=True))
    return shares @ value, shares


def attend_finite(fill, zeroed=False):
    def attention_with_a_fill(query, key, value, mask=None):
        scores = query @ key.mT
        shares = (scores if mask is None else scores.masked_fill(~mask, fill)).softmax(-1)
        shares = shares * mask if zeroed and mask is not None else shares
        return shares @ value, shares

    return attention_with_a_fill


def several(change, after=lambda weights, mask: weights):
    def several_attentions(words, thetas, mask):
        mask = mask[:, None]
        return (after(change(thetas @ words.mT, mask).softmax(-1), mask) @ words).flatten(1)

    return several_attentions


def one_hot(scores):
    return torch.nn.functional.one_hot(scores.argmax(-1), scores.shape[-1]).to(scores.dtype)


def failing_report(task_id, answer):
    report = judge_answer(TASKS[task_id], answer)
    assert report.state == "failed", str(report)
    return report


# A finite number where -inf belongs, and what comes out the same


@pytest.mark.parametrize("fill", [-30.0, -100.0, -1000.0, -12_000.0, -25_000.0])
@pytest.mark.parametrize(
    ("task_id", "answer"),
    [
        ("02.masked_softmax", lambda fill: lambda s, m: s.masked_fill(~m, fill).softmax(-1)),
        ("02.masked_softmax", lambda fill: lambda s, m: s.masked_fill(~m, fill).softmax(-1) * m),
        ("03.attention", attend_finite),
        ("03.attention", lambda fill: attend_finite(fill, zeroed=True)),
        ("02.several_attentions", lambda fill: several(lambda s, m: s.masked_fill(~m, fill))),
        ("02.several_attentions", lambda fill: several(lambda s, m: s.masked_fill(~m, fill), lambda w, m: w * m)),
    ],
)
def test_a_finite_fill_is_told_that_it_is_not_infinite(task_id, answer, fill):
    report = failing_report(task_id, answer(fill))
    assert "finite" in report.message and "-inf" in report.message, str(report)
    assert report.mistake or fill != -100.0, str(report)


@pytest.mark.parametrize(
    ("task_id", "answer"),
    [
        ("02.masked_softmax", lambda s, m: (s - ~m * 100.0).softmax(-1) * m),
        ("03.attention", attend_after),
        (
            "02.several_attentions",
            several(lambda s, m: s, lambda w, m: torch.nan_to_num(w * m / (w * m).sum(-1, True))),
        ),
    ],
)
def test_masks_too_late_and_masks_too_weak_get_both_causes(task_id, answer):
    message = failing_report(task_id, answer).message
    assert "mask after the softmax" in message and "lower them" in message, message


# Tests that learners write


def same_sum(right, came):
    return right.shape == came.shape and torch.allclose(right.sum(), came.sum(), atol=1e-4)


@pytest.mark.parametrize(
    ("task_id", "answer"),
    [
        ("04.catch_wrong_scores", score_test(agree=same_sum)),
        ("04.catch_wrong_scores", score_test(agree=lambda r, c: same(r[:, 0], c[:, 0]))),
        ("04.catch_wrong_scores", score_test(agree=lambda r, c: same(r[0], c[0]))),
        ("04.catch_wrong_scores", score_test(agree=lambda r, c: same(r, c.nan_to_num()))),
        ("04.catch_wrong_scores", score_test((2, 3, 1, 7, 11, 13))),
        ("03.catch_wrong_attention", attention_test(agree=lambda r, c: same(r[0], c[0]))),
        ("03.catch_wrong_attention", attention_test(masks=lambda mask: (None, mask | ~mask.any(-1, keepdim=True)))),
        ("03.catch_wrong_attention", attention_test((1, 3, 5, 7, 11))),
    ],
)
def test_reports_on_a_test_say_what_passes_it_but_not_its_inputs(task_id, answer):
    report = failing_report(task_id, answer)
    assert report.mistake and "your test" in report.message.lower(), str(report)
    assert not any(claim in report.message for claim in ("Your test sees", "one state only", "No query", "never uses"))


def test_a_message_on_another_input_names_it():
    task = TASKS["08.hard_attention"]
    tiny = next(case for case in task.make_cases(0) if case.name == "a weight of 1e-12")
    picked, log_p = task.oracle_function(*tiny.args)
    (said,) = (sentence for look in task.properties if (sentence := look(tiny, (picked, log_p.exp().add(1e-8).log()))))
    assert "“a weight of 1e-12”" in said and "the logarithm of 1e-08" in said
    assert not any(
        look(tiny, (tiny.args[1].mean(1), log_p)) for look in task.properties if "right_place" in look.__name__
    )


def test_every_sentence_on_a_test_says_what_passes_or_is_refused():
    tests = [task for task in TASKS.values() if re.search("catch_|sees_order", task.id)]
    for mistake in (mistake for task in tests for mistake in task.mistakes):
        assert re.search(
            "[Yy]our test passes|pass(es)? your test|refused|refuses|rejects|rejected|says|returns|accepts",
            mistake.sentence,
        ), mistake


def test_a_refused_correct_candidate_may_not_be_due_to_rounding():
    task = TASKS["03.catch_wrong_attention"]
    right = next(case for case in task.make_cases(0) if case.name.startswith("correct"))
    assert "require nothing that a correct candidate need not do?" in task.properties[0](right, False)


# Lists that are altered


def after(alter):
    def must_fail(sentences, labels):
        right = solution_of("01.must_fail")(sentences, labels)
        alter(sentences)
        return right

    return must_fail


@pytest.mark.parametrize("alter", [lambda s: [words.sort(reverse=True) for words in s], lambda s: s.append(["more"])])
def test_an_altered_list_is_named_once_with_advice_for_lists(alter):
    report = failing_report("01.must_fail", after(alter))
    assert report.kind == "side effect" and "alters its input sentences: " in report.message
    assert "`sorted(…)` and `list(…)` make a new list" in report.message
    assert "underscore" not in report.message and "numbers" not in report.message


# The likeliest slips are named


def overflowing(least=0.0, after=lambda weights: weights):
    """A masked softmax that subtracts nothing from the scores."""

    def masked_softmax(scores, mask):
        e = torch.exp(scores) * mask
        return after(e / (e.sum(-1, keepdim=True) + least))

    return masked_softmax


def influence(change, column=True, before=torch.clone):
    """03.influence with something done to a copy of x for each word, and with what moved written into a column or a row."""

    def found(function, x):
        moved, first = torch.zeros(x.shape[1], x.shape[1], dtype=torch.bool), function(x)
        for s in range(x.shape[1]):
            other = before(x)
            other[:, s] += change(x)
            moved[(slice(None), s) if column else s] = ((function(other) - first).abs() > 1e-5).any(-1).any(0)
        return moved

    return found


def by_1(x):
    return 1.0


def at_random(x):
    return torch.randn(x[:, 0].shape, generator=torch.Generator().manual_seed(0))


def formula_of_bahdanau(state, hidden, weight_s, weight_h, v):
    return v @ torch.tanh(weight_s @ state + weight_h @ hidden)


def cosine(lengths):
    return lambda state, hidden: state @ hidden.mT / lengths(state.norm(dim=-1), hidden.norm(dim=-1))


def by_singular_values(left, right):
    """04.two_projections with something done to U, S and Vᵀ on each side."""
    return lambda weight: (
        left(*torch.linalg.svd(weight, full_matrices=False)),
        right(*torch.linalg.svd(weight, full_matrices=False)),
    )


def share_of_groups(
    count, share=lambda right, groups, n: sum(right) / n, key=lambda encode, s: tuple(encode(s).tolist())
):
    """05.best_share by what is counted in the targets of each vector."""

    def best_share(encode, sentences, targets):
        groups = {}
        for sentence, target in zip(sentences, targets, strict=True):
            groups.setdefault(key(encode, sentence), []).append(target)
        return share([count(group) for group in groups.values()], groups, len(targets))

    return best_share


def friend_of_rnn_step(x, state, weight_x, weight_s, bias):
    return torch.tanh(weight_x @ x + weight_s @ state) + bias


def bleu_with(mean):
    """07.bleu with another mean of the four precisions."""

    def bleu(hypotheses, references):
        grams = lambda words, n: Counter(zip(*(words[i:] for i in range(n)), strict=False))  # noqa: E731
        pairs = list(zip(hypotheses, references, strict=True))
        matches = [sum((grams(h, n) & grams(r, n)).total() for h, r in pairs) for n in (1, 2, 3, 4)]
        if 0 in matches:
            return 0.0
        totals = [sum(grams(h, n).total() for h in hypotheses) for n in (1, 2, 3, 4)]
        c, r = (sum(map(len, sentences)) for sentences in (hypotheses, references))
        return 100 * math.exp(min(0, 1 - r / c)) * mean([m / n for m, n in zip(matches, totals, strict=True)])

    return bleu


def most(group):
    return max(map(group.count, group))


@pytest.mark.parametrize(
    ("task_id", "answer", "says"),
    [
        ("04.two_projections", lambda w: (w / 2, w / 2) if len(w) == w.shape[1] else (torch.eye(len(w)), w / 3), "W is in both of your projections"),
        ("04.two_projections", lambda w: (torch.eye(len(w)), 2 * w), "is 2 times W"),
        ("04.two_projections", lambda w: (torch.ones(1, len(w)), w.sum(0, keepdim=True)), "a lower rank than W"),
        ("04.two_projections", by_singular_values(lambda u, s, v: (u * s.sqrt()).T, lambda u, s, v: v), "square roots of W's singular values"),
        ("04.two_projections", by_singular_values(lambda u, s, v: (u * s).T, lambda u, s, v: v.flip(0)), "rotates them differently"),
        ("05.best_share", share_of_groups(most, lambda right, groups, n: 100 * sum(right) / n), "A share lies between 0 and 1"),
        ("05.best_share", share_of_groups(most, lambda right, groups, n: sum(right) / (n + 1)), "Here no two sentences get the same vector"),
        ("00.weighted_sum", lambda w, v: w * v, "`weights[:, None]` lines them up with the vectors"),
        ("01.sum_vectors", lambda w, m: w[:, : int(m.sum(1).max())].sum(1), "what comes after the longest sentence"),
        ("01.sum_vectors", lambda w, m: (w * m[..., None]).sum(1) / m.sum(), "the number of words in the whole batch"),
        ("01.word_polarity", lambda w, d: torch.nan_to_num(w @ d / (w.norm(dim=0) * d.norm())), "a length for each feature"),
        ("02.softmax", lambda s, t=1.0: (e := (s / t).exp()) / e.sum(-1), "The totals have lost their axis"),
        ("02.mlp_scores", lambda w, m, b, t: t @ torch.sigmoid(m @ w.mT + b), "the bias (H) lines up with the words"),
        ("02.several_attentions", lambda w, thetas, m: torch.cat([attention.masked_softmax(w @ theta, m) @ w for theta in thetas], -1), "which gives B×B×D"),
        ("02.error_at_score", lambda a, x, d: a * ((x - a[:, None] @ x) * d[:, None]).sum((0, 2)), "over the sentences"),
        ("03.influence", lambda f, x: influence(at_random)(lambda changed: f(changed)[:1], x), "only the first sentence"),
        ("03.padding_mask", lambda lengths, size: torch.arange(size) < lengths, "give lengths a second axis"),
        ("04.content_based", cosine(lambda s, h: s * h), "The lengths have lost an axis"),
        ("04.content_based", cosine(lambda s, h: s * h[:, None]), "the lengths need an axis for the hidden states at the end"),
        ("04.content_based", cosine(lambda s, h: s[:, :, None] * h), "the lengths need an axis for the states in the middle"),
        ("04.content_based", cosine(lambda s, h: s[..., None] * h[..., None]), "have to be B×1×S"),
        ("04.width_that_saturates", lambda share: math.log(share / (1 - share)) ** 2 / 2, "Round up"),
        ("04.two_projections", lambda w: (w, w), "so W is applied twice"),
        ("04.two_projections", lambda w: (w.abs().sqrt().T, w.abs().sqrt()), "the square root of each entry"),
        ("05.best_share", share_of_groups(lambda group: group.count(group[-1])), "the last target of each group"),
        ("05.best_share", share_of_groups(lambda group: len({*group})), "each pair of a vector and a target once"),
        ("05.best_share", share_of_groups(lambda group: len({*group}) == 1), "each group in which all sentences have the same target once"),
        ("05.best_share", share_of_groups(lambda group: len(group) == 1), "whose vector no other sentence has"),
        ("05.best_share", share_of_groups(lambda group: len(group) / len({*group})), "that chooses at random"),
        ("05.best_share", share_of_groups(most, lambda right, groups, n: max(right) / n), "only one group"),
        ("05.best_share", share_of_groups(most, lambda right, groups, n: sum(right) // n), "`//` drops the remainder"),
        ("05.best_share", share_of_groups(most, lambda right, groups, n: 1 - sum(right) / n), "that no decoder can get right"),
        ("05.best_share", share_of_groups(most, key=lambda encode, s: encode(s).sum().item()), "the sum, or the mean, of each vector's entries"),
        ("05.best_share", share_of_groups(most, key=lambda encode, s: encode(s)[0].item()), "the first entry of each vector"),
        ("05.best_share", share_of_groups(most, key=lambda encode, s: tuple(s.tolist())), "The decoder does not see them"),
        ("06.bahdanau_step", altered("06.bahdanau_step", (".masked_fill(~mask, -torch.inf)", ""), (".masked_fill(~mask, 0.0)", "")), "The mask reaches the annotations but not the scores"),
        ("07.log_probability", lambda z, t: z.log_softmax(0).gather(1, t[:, None]).sum(), "Your softmax runs over the positions"),
        ("04.catch_wrong_scores", score_test((2, 5, 5, 5, 5, 5)), "Your test returns True for an incorrect scaled_dot: divided by √"),
        ("05.rnn_step", friend_of_rnn_step, "so the matrix goes on the right"),
        ("01.sum_vectors", lambda w, m: (w * m[:, None]).sum(1), "the new axis has to come last"),
        ("02.masked_softmax", overflowing(), "Subtract the largest score that may be attended to first"),
        ("02.masked_softmax", overflowing(1e-6), "exp overflows"),
        ("02.mlp_scores", lambda w, m, b, t: t @ torch.sigmoid(m @ w + b), "The formula is for one word"),
        ("04.content_based", cosine(lambda s, h: s[:, :, None] * h[:, None] + 1e-3), "Do you add a small number, such as 1e-3"),
        ("04.content_based", cosine(lambda s, h: (s[:, :, None] + 1e-2) * (h[:, None] + 1e-2)), "return 0 where a length is 0"),
        ("04.perceptron", formula_of_bahdanau, "first state, then weight_s with its two axes swapped"),
        ("06.bahdanau_step", altered("06.bahdanau_step", ("fill(~mask, -torch.inf)", "fill(mask, -torch.inf)"), (".masked_fill(~mask, 0.0)", "")), "the wrong way round"),
        ("06.bahdanau_step", altered("06.bahdanau_step", ("fill(~mask, -torch.inf)", "fill(mask, -1e9)"), (".masked_fill(~mask, 0.0)", "")), "the wrong way round"),
        ("06.bahdanau_step", altered("06.bahdanau_step", ("annotations = annotations.masked_fill(~mask[..., None], 0.0)", "annotations[~mask] = 0")), "alters its input annotations"),
        ("07.greedy", altered("07.greedy", ("range(longest)", "range(longest + 5)"), ("prefix[1:]", "prefix[1 : longest + 1]")), "Once that many are written"),
        ("07.greedy", altered("07.greedy", ("            break", "            eos = eos"), ("prefix[1:]", "prefix[1 : (prefix + [eos]).index(eos) + 1]")), "after it is asked for"),
        ("07.greedy", altered("07.greedy", ("step(prefix).", "step(torch.tensor(prefix)).")), "a list of ints"),
        ("09.sees_order", lambda model: torch.rand(5, 4) > 0.5, "a tensor of shape (5, 4); True or False was expected"),
        ("07.greedy", altered("07.greedy", ("best = int(", "best = ("), ("return prefix[1:]", "return prefix")), "bos is in your result"),
        ("07.beam_search", altered("07.beam_search", ("score + log_p)", "score + log_p * (token != eos))")), "the sum without eos"),
        ("07.beam_search", altered("07.beam_search", ("(ids[1:], score)", "(ids[1:], round(score, 2))")), "do not round"),
        ("07.beam_search", altered("07.beam_search", ("step(ids).", "step(ids[1:] or ids).")), "prefixes without bos"),
        ("07.beam_search", altered("07.beam_search", ("continuations[:width]", "[continuations[i] for i in torch.tensor([pair[1] for pair in continuations]).topk(width).indices]")), "keep all of them"),
        ("12.encoder_layer", altered("12.encoder_layer", ("=~mask, need_weights=False", "=mask")), "The mask is inverted, so words attend only to padding, and a sentence without padding gives NaN."),
        ("12.encoder_layer", altered("12.encoder_layer", ("=~mask", "=mask")), "The mask is inverted, so words attend only to padding"),
        ("12.decoder_layer", altered("12.decoder_layer", ("triu(1)", "triu(0)"), ("future, need_weights=False", "future")), "a word is hidden from itself, so the first word has nothing to attend to, which gives NaN"),
        ("12.decoder_layer", altered("12.decoder_layer", ("triu(1)", "triu(2)")), "each word also sees the next one"),
        ("12.decoder_layer", altered("12.decoder_layer", ("hidden = ~memory", "hidden = memory"), ("hidden, need_weights=False", "hidden")), "memory_mask is inverted"),
        ("07.tipping_alpha", lambda a, m, b, n: ((5 + n) / (5 + m)) ^ (b / a), "write `**`"),
        ("05.last_state", lambda s, m: s.masked_fill(~m[..., None], -torch.inf).amax(1), "as max pooling does"),
        ("05.reverse_source", lambda ids, m: ids.masked_fill(~m, 1000).sort().values.where(m, ids), "so position 0 gets the word from position 2 - 1 - 0 = 1"),
        ("06.copy_unknown", lambda words, w, source: [source[w[t].argmax() - 1] if word == "<unk>" else word for t, word in enumerate(words)], "The largest is at position 2"),
        ("07.bleu", bleu_with(lambda p: math.exp(sum(n * math.log(q) / 4 for n, q in enumerate(p, 1)))), "If all five agree, the mean is wrong"),
        ("07.log_probability", lambda z, t: (z.softmax(-1) + 1e-10).log()[torch.arange(len(t)), t].sum(), "such as 1e-10"),
        ("07.tipping_alpha", lambda a, m, b, n: math.ceil(max(0.0, math.log(b / a) / math.log((5 + n) / (5 + m))) * 100) / 100, "rounded up to a multiple of 0.01"),
        ("08.best_baseline", lambda p, rewards: rewards.median(), "the squared lengths |g_k|² are"),
        ("10.head_worth", lambda score, H: torch.tensor([score(torch.ones(H) > 0) / score(torch.arange(H) != h) for h in range(H)]), "so head 0 is worth 0.07812. Yours is 1."),
        ("19.ideal_weights", lambda c: (marked := F.pad(c[1:] == c[-1], (0, 1))) / marked.sum(), "Step 0 gets a weight of 0.5, but there no label is read"),
        ("19.ideal_weights", lambda c: (late := F.pad(c[:-1] == c[-1], (1, 0)) * torch.arange(len(c))) / late.sum(), "The correct steps get weights, but different ones"),
    ],
)  # fmt: skip
def test_a_likely_slip_is_named(task_id, answer, says):
    torch.manual_seed(0)  # some answers draw at random
    report = judge_answer(TASKS[task_id], answer)
    assert report.state in ("failed", "error") and says in report.message, str(report)


def test_no_warning_of_what_the_check_tries_reaches_a_learner():
    task = TASKS["02.mlp_scores"]
    warning = Baseline("changed", lambda args: warnings.warn("`.T` of three axes", stacklevel=1) or args[0])
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        assert evaluator_of(Expected(task, task.make_cases())).at(warning, 0).parts
    assert not heard


def test_numbers_that_give_not_a_value_do_not_pass():
    report = failing_report("02.negation_by_hand", lambda longest: ([20, 10, 0], [0, 20, 0], [2, -1]))
    assert report.mistake == "not_taken_for_zero", str(report)
    shared = failing_report("02.negation_by_hand", lambda longest: ([20, 10, 0], [0, 20, 0], [5, -2]))
    assert shared.mistake == "negated_always_negative", str(shared)


def test_a_test_with_changing_verdicts_is_not_called_random():
    verdicts = random.Random(0)
    for task_id in ("03.catch_wrong_attention", "04.catch_wrong_scores"):
        message = failing_report(task_id, lambda *args: verdicts.random() < 0.5).message
        assert message.startswith("Your test gives different verdicts") and "atol=1e-5" in message, message


def test_a_test_stopped_by_a_candidate_is_told_to_catch_that():
    def without_try(name, candidate):
        draw = torch.Generator().manual_seed(0)
        args = [torch.randn(*shape, generator=draw) for shape in shapes(name, 2, 3, 5, 7, 11, 13)]
        args[0][0, 0] = 0
        return bool(((candidate(*args) - attention.SCORES[name](*args)).abs() < 1e-5).all())

    for seed in range(5):
        report = judge_answer(TASKS["04.catch_wrong_scores"], without_try, seed)
        assert report.state == "error" and "and return False" in report.message, str(report)
        assert "print both shapes" not in report.message


def test_a_property_broken_by_another_input_names_that_input():
    one_step = solution_of("11.shift_matrix")

    def powers_of_numbers(words, width, back, peak):
        turned = one_step(0, width, 1, width / 2) ** back * peak / (width / 2)
        return torch.cat([torch.zeros(words, width), turned])

    report = judge_answer(TASKS["11.shift_matrix"], powers_of_numbers)
    assert "numbers are wrong. The query of position" in report.message  # broken by the input that is shown
    assert "0 back, peak 3): The number in row 2 and column 2 should be 0" in report.message, report.message


# What came, what is true of it, and what once was said and is not


def by_sides(of):
    """01.must_fail by a function of the positive and of the negative sentences."""

    def must_fail(sentences, labels):
        return of(*([s for s, label in zip(sentences, labels, strict=True) if label is side] for side in (True, False)))

    return must_fail


def ignoring(agree):
    """04.ignores_query by what has to agree between the weights of given states and those of others."""

    def ignores_query(score, state, hidden):
        draw = torch.Generator().manual_seed(0)
        others = [torch.randn(state.shape, generator=draw) for _ in range(4)]
        first, *weights = (score(one, hidden).softmax(-1) for one in (state, *others))
        return all(agree((first - one).abs() < 1e-5) for one in weights)

    return ignores_query


@pytest.mark.parametrize(
    ("task_id", "answer", "says", "never"),
    [
        ("02.masked_softmax", lambda s, m: s.masked_fill(~m, -10.0).softmax(-1), "Only a score of -inf leaves no weight", "overflow"),
        ("03.attention", attend_finite(-10.0), "Only a score of -inf leaves no weight", "overflow"),
        ("02.masked_softmax", lambda s, m: ((e := (s - ~m * 1e9).softmax(-1) * m) / e.sum(-1, True)).nan_to_num(), "dividing 0 by 0", "overflow"),
        ("02.masked_softmax", lambda s, m: (e := s.masked_fill(~m, -1e9).softmax(-1) * m) / e.sum(-1, True), "NaN", "-inf"),
        ("02.masked_softmax", lambda s, m: (e := (s - s.amax(-1, True)).exp() * m) / e.sum(-1, True), "in the maximum that you subtract", "overflow"),
        ("04.perceptron", lambda s, h, a, b, v: (hidden_layer(s, h, a, b) @ v).tanh(), "tanh is outside", "query"),
        ("01.sentiment", lambda s, w, b: (s @ w).sigmoid() + b, "You add the bias after the sigmoid", "query"),
        ("02.softmax", lambda s, t=1.0: (s / t / t).softmax(-1), "square of the temperature, perhaps because you divide by it twice", "query"),
        ("02.softmax", lambda s, t=1.0: one_hot(s), "a one-hot version of the right weights, with 1 at the largest entry along axis S", "query"),
        ("03.attention", lambda *args: attend(*args, scores=lambda s, m: 2 * s), "with the scores doubled.", "query"),
        ("03.attention", lambda *args: attend(*args, scores=lambda s, m: -s), "with the sign of the scores flipped.", "query"),
        ("03.attention", lambda q, k, v, m=None: attend(q / q.shape[-1], k, v, m), "with the scores divided by D.", "query"),
        ("03.causal_mask", lambda size: torch.ones(size, size).tril().bool().flip(0), "in reverse order along axis 0.", "True and False exchanged"),
        ("03.influence", influence(by_1, column=False), "Rows and columns are swapped", "rounding"),
        ("03.influence", influence(by_1, before=lambda x: x), "For this input the result is right, but your function alters its input x", "rounding"),
        ("03.influence", influence(lambda x: at_random(x) / 1000), "Somewhere you miss an influence that is there", "not there"),
        ("01.must_fail", by_sides(lambda good, bad: [sorted(s) for s in good] == [sorted(s) for s in bad]), "Here is a proof, because both sides contain the same words", "returns False"),
        ("01.must_fail", by_sides(lambda good, bad: ["good"] in good and ["bad"] in bad), "Your function returns False for all sentences that the check tries", "whatever"),
        ("01.must_fail", by_sides(lambda good, bad: any(word in s for s in good for t in bad for word in t)), "Here no two positive sentences together contain the same words", "whatever"),
        ("04.ignores_query", ignoring(lambda same: bool(same.any())), "You return True for a score that", "you are given"),
        ("13.learning_rate", lambda s, n, w, high: high * s / w if s <= w else high * (n - s) / (n - w), "with steps - 1 instead of steps", "divide by 0"),
        ("14.glimpse", altered("14.glimpse", ("((location + 1)", "((location.flip(1) + 1)")), "A location is (x, y)", "corner"),
    ],
)  # fmt: skip
def test_messages_on_wrong_answers_are_true_of_them(task_id, answer, says, never):
    message = failing_report(task_id, answer).message
    assert says in message and never not in message, message


# Tests that compare too little, which were once accepted


def orders_of(rows):
    """09.sees_order with rows that are made by a function of a shape and a generator."""

    def sees_order(model):
        draw = torch.Generator().manual_seed(0)
        for T in [*range(2, 13)] * 3:
            x, order = rows((T, 4), draw), torch.randperm(T, generator=draw)
            if not torch.allclose(model(x[order]), model(x)[order], atol=1e-5):
                return True
        return False

    return sees_order


def moves_of(vectors):
    """11.relative_only with vectors that are made by a function of a generator."""

    def relative_only(score):
        draw = torch.Generator().manual_seed(0)
        for _ in range(200):
            query, key = vectors(draw), vectors(draw)
            p, s, move = torch.randint(300, (3,), generator=draw).tolist()
            if abs(float(score(query, key, p, s)) - float(score(query, key, p + move, s + move))) > 5e-4:
                return False
        return True

    return relative_only


def normal(shape, draw):
    return torch.randn(shape, generator=draw)


@pytest.mark.parametrize(
    ("task_id", "answer"),
    [
        ("04.ignores_query", ignoring(lambda same: bool(same[..., 0].all()))),
        ("04.ignores_query", ignoring(lambda same: bool(same[-1].all()))),
        ("09.sees_order", orders_of(lambda shape, draw: 1e-4 * normal(shape, draw))),
        ("09.sees_order", orders_of(lambda shape, draw: normal(shape, draw) * torch.tensor([1.0, 0, 0, 0]))),
        ("11.relative_only", moves_of(lambda draw: normal(4, draw) * torch.tensor([1.0, 0, 0, 0]))),
    ],
)
def test_a_test_that_compares_too_little_is_refused(task_id, answer):
    assert failing_report(task_id, answer).message


def test_the_tests_above_are_right_where_they_compare_all():
    for task_id, answer in (
        ("04.ignores_query", ignoring(lambda same: bool(same.all()))),
        ("09.sees_order", orders_of(normal)),
        ("11.relative_only", moves_of(lambda draw: normal(4, draw))),
    ):
        assert judge_answer(TASKS[task_id], answer).state == "passed"


def test_a_case_has_as_many_labelled_sentences_as_its_name_says():
    numbers, tried = {"one": 1, "two": 2, "three": 3}, 0
    for case in TASKS["01.must_fail"].make_cases():
        for number, label in re.findall("(one|two|three) (positive|negative)", case.name):
            assert case.args[1].count(label == "positive") == numbers[number], case.name
            tried += 1
    assert tried >= 6


# Gradients that nobody asked for, inputs that are altered, and what stops or is not there


def add_the_mask(scores, mask):
    return scores if mask is None else scores + torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)


def attend_with_an_added_mask(query, key, value, mask=None):
    weights = torch.nan_to_num(add_the_mask(query @ key.mT, mask).softmax(-1))
    return weights @ value, weights


def answer_with_an_added_mask(question, memories, mask, readout):
    for memory, output in itertools.pairwise(memories):
        question = question + attend_with_an_added_mask(question[:, None], memory, output, mask[:, None])[0][:, 0]
    return question @ readout.T


@pytest.mark.parametrize(
    ("task_id", "answer"),
    [
        ("03.attention", attend_with_an_added_mask),
        ("03.self_attention", lambda x, q, k, v, m=None: attend_with_an_added_mask(x @ q, x @ k, x @ v, m)),
        ("16.answer", answer_with_an_added_mask),
    ],
)
def test_a_nonfinite_gradient_costs_no_point_if_values_are_asked(task_id, answer):
    report = judge_answer(TASKS[task_id], answer)
    assert report.state == "passed" and report.hazard and "`nan_to_num` after that step" in report.message, str(report)


def test_an_altered_input_comes_first_and_factors_near_1_in_full():
    def alter(query, key, value, mask=None):
        value.mul_(1.0001)
        return TASKS["03.attention"].oracle_function(query, key, value, mask)

    report = failing_report("03.attention", alter)
    assert report.message.startswith("Your function alters its input value. ") and "times 1.0001." in report.message
    assert str(report).count("alters its input") == 1
    scaled = failing_report("04.dot", lambda state, hidden: 1.00003 * state @ hidden.mT).message
    assert "times 1.00003" in scaled, scaled


def test_an_answer_that_prints_and_returns_nothing_is_told_so():
    report = failing_report(
        "03.attention", altered("03.attention", ("return weights @ value, weights", "print(weights)"))
    )
    assert "prints" in report.message and "write `return`" in report.message


def test_a_warning_is_not_called_printed_by_the_answer():
    def attention(query, key, value, mask=None):
        print("of PyTorch's", file=sys.stderr)  # as a warning is shown
        return value, value

    report = failing_report("03.attention", attention)
    assert "Printed while your function ran:" in str(report) and "of PyTorch's" in str(report)


def test_a_placeholder_below_an_answer_is_told_to_be_deleted():
    task = TASKS["03.attention"]
    below = judge_answer(task, altered(task.id, ("return weights @ value, weights", "raise NotImplementedError")))
    assert below.state == "not attempted" and "Delete that line" in below.message, str(below)

    def stub(query, key, value, mask=None):
        """A docstring."""
        raise NotImplementedError

    assert "nothing to check yet" in judge_answer(task, stub).message


def test_an_error_is_told_once_without_the_smallest_input():
    report = judge_answer(
        TASKS["09.self_attention"], altered("09.self_attention", ("query @ key.mT", "2 * query @ key.T"))
    )
    assert str(report).count("reverses the order of all axes") == 1, str(report)
    html = judge_answer(TASKS["03.attention"], altered("03.attention", ("~mask", "~masks")))._repr_html_()
    assert "An input that shows it" in html and "smallest" not in html


# What is said of a step, and of two mistakes


@pytest.mark.parametrize(
    ("task_id", "changes", "says"),
    [
        ("15.first_look", [("torch.tanh(", "(")], "The tanh around the product of `first` and the mean annotation is missing"),
        ("04.perceptron", [("(state @ weight_s.T)[:, :, None] + (hidden", "(hidden")], "without adding the product of state and weight_s to the product of hidden and weight_h."),
        ("12.feed_forward", [("weight_1.T", "weight_1")], "axis F and axis D of weight_1 swapped."),
    ],
)  # fmt: skip
def test_a_step_that_is_left_out_is_named_by_what_it_does(task_id, changes, says):
    message = judge_answer(TASKS[task_id], altered(task_id, *changes)).message
    assert says in message, message


OF_NUMBERS = re.compile(
    "sigmoid|softmax|tanh|normalised|square of|square root|squared|rounded|doubled|halved|signs|absolute|exponential"
)
OF_NOBODY = re.compile(r"in place of|\balone\b|comes out|exchanged|which is spread|before anything else|as it came in")


@pytest.mark.parametrize(
    "task_id",
    ["03.causal_mask", "05.last_state", "06.luong_step", "11.sinusoidal_positions", "17.read_back", "18.at_risk"],
)
def test_changes_are_told_in_plain_words_that_suit_their_numbers(task_id):
    known = evaluator_of(Expected(TASKS[task_id], TASKS[task_id].make_cases(0)))
    texts = [base.text for base in (*known.of_arguments, *known.of_steps)]
    assert texts and not [text for text in texts if OF_NOBODY.search(text)]
    if known.discrete:
        of_tensors = [text for text in texts if not re.search(r"\bsize\b", text)]
        assert not [text for text in of_tensors if OF_NUMBERS.search(text)]
    masks = [text for text in texts if re.search(r"\b(mask|causal mask)\b(?! )", text)]
    assert not [text for text in masks if OF_NUMBERS.search(text) and "instead of" not in text]


@pytest.mark.parametrize(
    "task_id", ["05.shift_right", "13.cache_bytes", "13.learning_rate", "02.masked_softmax", "03.attention"]
)
def test_a_formality_is_no_second_mistake(task_id):
    known = evaluator_of(Expected(TASKS[task_id], TASKS[task_id].make_cases(0)))
    formal = re.compile("shifted|reverse order| [+-] 1 instead|layers (and|swapped)|doubled|halved|squared|sign of")
    seconds = [base.text.rpartition("The second:")[2] for base in known.pairs]
    assert not [text for text in seconds if formal.search(text)]


@pytest.mark.parametrize(
    "of",
    [lambda x: x[:, :-1], lambda x: x[:, ::2], lambda x: x.mT, lambda x: x.permute(2, 0, 1), lambda x: x.narrow(1, 0, 2), lambda x: x[:1].expand(4, 3, 5)],
)  # fmt: skip
def test_view_is_told_what_it_needs_whatever_came_before(of):
    with pytest.raises(RuntimeError, match="view size is not compatible") as raised:
        of(torch.ones(2, 3, 5)).view(-1)
    words = next(words for part, words in IN_OTHER_WORDS.items() if part in str(raised.value))
    assert "slice such as `[:, :-1]`" in words and "`permute`, `narrow` or `expand`" in words


def test_masks_are_spoken_of_only_where_one_is_returned():
    for task_id, answer, spoken_of in (
        ("18.at_risk", lambda *given: solution_of("18.at_risk")(*given).float(), False),
        ("03.padding_mask", lambda *given: solution_of("03.padding_mask")(*given).float(), True),
    ):
        report = str(judge_answer(TASKS[task_id], answer))
        assert "True and False (torch.bool) were expected." in report, report
        assert ("`~mask` and `masked_fill` do not work" in report) == spoken_of


def test_plain_numbers_are_shown_with_as_many_digits_as_tensors():
    assert in_text(0.4374999888, 1.0) == [("Expected", "0.4375"), ("Received", "1")]
    assert in_text(0.12345, 0.12349) == [("Expected", "0.12345"), ("Received", "0.12349")]
    assert in_text([0.1234567, 2], [0.12, 2])[0] == ("Expected", "[0.1235, 2]")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_numbers_of_16_bits_are_told_their_precision(dtype):
    softmax = lambda scores, temperature=1.0: (scores / temperature).to(dtype).softmax(-1).float()  # noqa: E731
    report = failing_report("02.softmax", softmax)
    name = str(dtype).removeprefix("torch.")
    assert f"only the precision of {name}, 16 bits each" in str(report), str(report)
    assert "16 bits" not in str(failing_report("02.softmax", lambda scores, temperature=1.0: scores))


def test_long_texts_are_shown_from_where_they_differ():
    expected = "a" * 70 + "b" * 20
    for received, says in (
        (
            "a" * 70 + "c",
            f"is right up to '{'a' * 20}', its first 70 characters. There, 'c' follows; '{'b' * 20}' was expected.",
        ),
        ("a" * 70, f"the text ends; '{'b' * 20}' was expected."),
        (expected + "!", "There, '!' follows; nothing more was expected."),
        ("c" + expected, "is 'caa"),
    ):
        assert says in difference(expected, received, "text").sentence
