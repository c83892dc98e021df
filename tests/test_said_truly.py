"""What a report says is true of every answer that gets it: answers that once were told what they had not done."""

import itertools
import math
import random
import warnings

import pytest
import torch
from test_tasks import TASKS, solution_of

from course_utils.checks.answer import judge_answer
from course_utils.checks.expected import Expected
from course_utils.checks.explain import Base, known_of
from course_utils.checks.relations.results import axis_names
from course_utils.lessons.lesson_04._scores import shapes
from course_utils.models import attention, plain


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


def told(task_id, answer):
    report = judge_answer(TASKS[task_id], answer)
    assert report.state == "failed", str(report)
    return report


# A finite number where -inf belongs, and what comes out the same


@pytest.mark.parametrize("fill", [-30.0, -100.0, -1000.0])
@pytest.mark.parametrize(
    ("task_id", "answer"),
    [
        ("02.masked_softmax", lambda fill: lambda s, m: s.masked_fill(~m, fill).softmax(-1)),
        ("02.masked_softmax", lambda fill: lambda s, m: (s + ~m * fill).softmax(-1)),
        ("02.masked_softmax", lambda fill: lambda s, m: s.masked_fill(~m, fill).softmax(-1) * m),
        ("03.attention", attend_finite),
        ("03.attention", lambda fill: attend_finite(fill, zeroed=True)),
        ("02.several_attentions", lambda fill: several(lambda s, m: s.masked_fill(~m, fill))),
        ("02.several_attentions", lambda fill: several(lambda s, m: s.masked_fill(~m, fill), lambda w, m: w * m)),
    ],
)
def test_a_finite_fill_is_told_that_it_is_not_infinite(task_id, answer, fill):
    report = told(task_id, answer(fill))
    assert "finite" in report.message and "-inf" in report.message, str(report)
    assert report.mistake or fill != -100.0, str(report)


def test_a_small_finite_fill_is_told_so_too():
    report = told("02.masked_softmax", lambda s, m: s.masked_fill(~m, -10.0).softmax(-1))
    assert report.mistake is None and "Only a score of -inf leaves no weight" in report.message
    report = told("03.attention", attend_finite(-10.0))
    assert report.mistake is None and "Only a score of -inf leaves no weight" in report.message


@pytest.mark.parametrize(
    ("task_id", "answer"),
    [
        ("02.masked_softmax", lambda s, m: (s - ~m * 100.0).softmax(-1) * m),
        ("02.masked_softmax", lambda s, m: torch.nan_to_num(s.softmax(-1) * m / (s.softmax(-1) * m).sum(-1, True))),
        ("03.attention", attend_after),
        ("03.attention", attend_finite(-100.0, zeroed=True)),
        (
            "02.several_attentions",
            several(lambda s, m: s, lambda w, m: torch.nan_to_num(w * m / (w * m).sum(-1, True))),
        ),
    ],
)
def test_what_is_masked_too_late_and_what_is_lowered_too_little_hear_of_both(task_id, answer):
    message = told(task_id, answer).message
    assert "mask after the softmax" in message and "lower them" in message, message


def test_a_gradient_that_is_nan_is_not_blamed_on_minus_infinity_alone():
    def divided(scores, mask):
        weights = (scores - ~mask * 1e9).softmax(-1) * mask
        return torch.nan_to_num(weights / weights.sum(-1, keepdim=True))

    report = told("02.masked_softmax", divided)
    assert report.kind == "gradient" and "dividing 0 by 0" in report.message


def test_a_nan_is_not_blamed_on_minus_infinity_where_there_is_none():
    def divided(scores, mask):
        weights = scores.masked_fill(~mask, -1e9).softmax(-1) * mask
        return weights / weights.sum(-1, keepdim=True)

    assert "-inf" not in told("02.masked_softmax", divided).message


# Tests that learners write


def trial_of_attention(compare, empty=(-1, -1), **sizes):
    B, T, S, D, E = ({"B": 2, "T": 3, "S": 5, "D": 7, "E": 11} | sizes).values()
    draw = torch.Generator().manual_seed(0)
    inputs = [torch.randn(*shape, generator=draw) for shape in ((B, T, D), (B, S, D), (B, S, E))]
    mask = torch.rand(B, T, S, generator=draw) < 0.5
    mask[:, :, 0] = ~mask[:, :, 1]
    if empty:
        mask[empty] = False

    def catch(candidate):
        try:
            pairs = [zip(attention.attention(*inputs, m), candidate(*inputs, m), strict=True) for m in (None, mask)]
            return all(compare(right, came) for pair in pairs for right, came in pair)
        except Exception:
            return False

    return catch


def trial_of_scores(compare, zero=(0, 0), dims=(2, 3, 5, 7, 11, 13)):
    def catch(name, candidate):
        draw = torch.Generator().manual_seed(0)
        args = [torch.randn(*shape, generator=draw) for shape in shapes(name, *dims)]
        args[0][zero] = 0
        try:
            return bool(compare(attention.SCORES[name](*args), candidate(*args)))
        except Exception:
            return False

    return catch


def same(right, came):
    return right.shape == came.shape and torch.allclose(right, came, atol=1e-5)


def same_sum(right, came):
    return right.shape == came.shape and torch.allclose(right.sum(), came.sum(), atol=1e-4)


@pytest.mark.parametrize(
    ("task_id", "answer"),
    [
        (
            "04.catch_wrong_scores",
            trial_of_scores(same_sum),
        ),  # they see all states, or have a zero vector, and compare too little
        ("04.catch_wrong_scores", trial_of_scores(lambda r, c: same(r[:, 0], c[:, 0]))),
        ("04.catch_wrong_scores", trial_of_scores(lambda r, c: same(r[:, -1], c[:, -1]))),
        ("04.catch_wrong_scores", trial_of_scores(lambda r, c: same(r[0], c[0]))),
        ("04.catch_wrong_scores", trial_of_scores(lambda r, c: same(r[-1], c[-1]))),
        ("04.catch_wrong_scores", trial_of_scores(lambda r, c: same(r, c.nan_to_num()))),
        ("04.catch_wrong_scores", trial_of_scores(same, dims=(2, 3, 1, 7, 11, 13))),
        ("03.catch_wrong_attention", trial_of_attention(lambda r, c: same(r[0], c[0]))),
        ("03.catch_wrong_attention", trial_of_attention(same, empty=None)),
        ("03.catch_wrong_attention", trial_of_attention(same, B=1)),
    ],
)
def test_a_test_is_told_what_passes_it_and_not_which_inputs_it_has(task_id, answer):
    report = told(task_id, answer)
    assert report.mistake and "your test" in report.message, str(report)
    assert not any(claim in report.message for claim in ("Your test sees", "one state only", "No query", "never uses"))


def trial_of_estimators(numbers=(0.125, 0.375, 0.625, 0.875), draws=(2, 3)):
    def trial(estimator):
        p, rewards = torch.tensor([0.5, 0.25, 0.25]), torch.tensor([2.0, -1.0, 0.25])
        try:
            for N in draws:
                came = [estimator(p.log() + 1, rewards, torch.tensor(u)) for u in itertools.product(numbers, repeat=N)]
                if not torch.allclose(torch.stack(came).mean(0), p * (rewards - p @ rewards), atol=1e-5):
                    return False
        except Exception:
            return False
        return True

    return trial


def test_a_test_of_estimators_is_told_of_one_candidate_and_of_a_broken_rule():
    borders = told("08.catch_biased_gradient", trial_of_estimators((0.0, 0.25, 0.5, 0.75)))
    assert ("False to a right estimator" in borders.message) != ("True to a wrong" in borders.message), str(borders)
    assert trial_of_estimators()(lambda logits, rewards, uniform: logits) is False
    for trial, says in ((trial_of_estimators(draws=(1, 2)), "N = 1"), (trial_of_estimators((0.5, 1.0)), "not below 1")):
        report = judge_answer(TASKS["08.catch_biased_gradient"], trial)
        assert report.state == "error" and says in report.message, str(report)


def test_a_message_on_another_input_names_it():
    task = TASKS["08.hard_attention"]
    tiny = next(case for case in task.make_cases(0) if case.name == "a weight of 1e-12")
    picked, log_p = task.oracle_function(*tiny.args)
    (said,) = (sentence for look in task.properties if (sentence := look(tiny, (picked, log_p.exp().add(1e-8).log()))))
    assert "“a weight of 1e-12”" in said and "that of 1e-08" in said
    assert not any(
        look(tiny, (tiny.args[1].mean(1), log_p)) for look in task.properties if "right_place" in look.__name__
    )


def test_every_sentence_on_a_test_is_about_what_passes_or_is_refused():
    for task_id in (
        "03.catch_wrong_attention",
        "04.catch_wrong_scores",
        "05.catch_wrong_loss",
        "06.catch_blind_decoder",
        "07.catch_wrong_beam",
        "08.catch_biased_gradient",
        "09.catch_leak",
        "09.sees_order",
        "10.catch_wrong_heads",
        "11.catch_order_blind",
        "12.catch_wrong_masks",
        "13.catch_wrong_step",
        "14.catch_peeking",
        "15.catch_blind_captioner",
        "16.catch_cheating_memory",
        "17.catch_wrong_write",
        "18.catch_wrong_routing",
        "19.catch_label_leak",
        "20.catch_broken_attention",
    ):
        for mistake in TASKS[task_id].mistakes:
            assert any(
                word in mistake.sentence
                for word in ("passes your test", "pass your test", "refused", "refuses", "says")
            ), mistake


def test_a_right_candidate_that_is_refused_may_be_so_for_another_reason_than_rounding():
    task = TASKS["03.catch_wrong_attention"]
    right = next(case for case in task.make_cases(0) if case.name.startswith("a right"))
    assert "ask for nothing that a right one need not do?" in task.properties[0](right, False)


# Relations


@pytest.mark.parametrize(
    ("task_id", "answer", "says"),
    [
        ("04.perceptron", lambda s, h, a, b, v: (hidden_layer(s, h, a, b) @ v).tanh(), "tanh is outside"),
        ("01.sentiment", lambda s, w, b: (s @ w).sigmoid() + b, "You add the bias after the sigmoid"),
        ("02.softmax", lambda s, t=1.0: (s / t / t).softmax(-1), "square of the temperature, as if you divided by it twice"),
        ("02.softmax", lambda s, t=1.0: (s / t**2).softmax(-1), "square of the temperature, as if you divided by it twice"),
        ("02.softmax", lambda s, t=1.0: one_hot(s), "1 at the largest number of the right weights along axis S and 0 elsewhere"),
        ("03.attention", lambda *args: attend(*args, scores=lambda s, m: 2 * s), "with the scores doubled."),
        ("03.attention", lambda *args: attend(*args, scores=lambda s, m: -s), "with a minus sign in front of the scores."),
        ("03.attention", lambda *args: attend(*args, scores=lambda s, m: s / m.shape[-2]), None),
        ("03.attention", lambda q, k, v, m=None: attend(q / q.shape[-1], k, v, m), "with the scores divided by D."),
        ("03.causal_mask", lambda size: torch.ones(size, size).tril().bool().flip(0), "in reverse order along axis 0."),
        ("03.causal_mask", lambda size: torch.ones(size, size).tril().bool().flip(1), "in reverse order along axis 1."),
    ],
)  # fmt: skip
def test_what_is_said_holds_and_names_what_was_done(task_id, answer, says):
    message = told(task_id, answer).message
    assert says is None or says in message, message
    assert "query" not in message and "axis size" not in message and "True and False exchanged" not in message


def test_two_mistakes_together_are_offered_as_an_explanation_and_not_laid_to_anyone():
    answers = (
        lambda s, h, a, b, v: (hidden_layer(s, h, a, b) @ v).sigmoid(),
        lambda s, h, a, b, v: (hidden_layer(s, h, a, b).relu() @ v).tanh(),
    )
    for answer in answers:
        message = told("04.perceptron", answer).message
        assert message.startswith("Two mistakes made together would give exactly what you return. The first: “")


def test_axes_without_a_letter_of_their_own_go_by_their_number():
    assert axis_names("size×size", 2) == ["axis 0", "axis 1"]
    assert axis_names("B×size", 2) == ["axis B", "axis 1"]


# Lists that are altered


def vocabulary_after(alter):
    def build_vocabulary(sentences, min_count=1):
        right = TASKS["01.build_vocabulary"].oracle_function(sentences, min_count)
        alter(sentences)
        return right

    return build_vocabulary


@pytest.mark.parametrize(
    "alter",
    [
        lambda sentences: [sentence.sort(reverse=True) for sentence in sentences],
        lambda sentences: sentences.pop() if sentences else None,
        lambda sentences: sentences.append(["more"]),
        lambda sentences: [sentence.clear() for sentence in sentences],
    ],
)
def test_a_list_that_is_altered_is_named_once_and_its_methods_are_told(alter):
    report = told("01.build_vocabulary", vocabulary_after(alter))
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


def softmax_by_hand(largest):
    def softmax(scores, temperature=1.0):
        z = scores / temperature
        e = (z - largest(z)).exp()
        return e / e.sum(-1)

    return softmax


def formula_of_bahdanau(state, hidden, weight_s, weight_h, v):
    return v @ torch.tanh(weight_s @ state + weight_h @ hidden)


def cosine(lengths):
    return lambda state, hidden: state @ hidden.mT / lengths(state.norm(dim=-1), hidden.norm(dim=-1))


def influence_by(of_sentences, which):
    def influence(function, x):
        before, columns = function(x), []
        for s in range(x.shape[1]):
            changed = x.clone()
            changed[which, s] += 1 + torch.rand(changed[which, s].shape)
            columns.append(of_sentences(((function(changed) - before).abs() > 1e-5).any(-1)))
        return torch.stack(columns, 1)

    return influence


def by_matrices(laid_out):
    def several_attentions(words, thetas, mask):
        weights = [attention.masked_softmax(words @ theta, mask) for theta in thetas]
        return laid_out([of_one @ words for of_one in weights], -1)

    return several_attentions


def looking(number, hide=lambda mask, _: ~mask, clean=True, in_place=False):
    """Bahdanau's look, whose scores become a number where `hide(mask, mask)` is True."""

    def bahdanau_step(state, annotations, mask, weight_s, weight_h, v):
        if in_place:
            annotations[~mask] = 0
        elif clean:
            annotations = annotations.masked_fill(~mask[..., None], 0.0)
        scores = torch.tanh((state @ weight_s.T)[:, None] + annotations @ weight_h.T) @ v
        weights = scores.masked_fill(hide(mask, mask), number).softmax(-1)
        weights = weights.nan_to_num() if in_place else weights
        return (weights[..., None] * annotations).sum(1), weights

    return bahdanau_step


def writing(step, bos, eos, longest, more=0, end=None):
    """A greedy search that goes on where it should stop, and cuts off afterwards what it should not have written."""
    ids = []
    while len(ids) < longest + more and eos not in ids:
        ids.append(int(step([bos, *ids]).argmax()))
    return ids[: ids.index(end) + 1] if end in ids else ids[:longest]


def beams(eos_free=False, after=lambda score: score, change=lambda ids: ids, keep=None):
    keep = keep or (lambda scores, width: scores.topk(min(width, len(scores))))

    def beam_search(step, bos, eos, width, longest):
        beam, found = [([bos], 0.0)], []
        for _ in range(longest):
            rows = [(ids, score, step(change(ids)).double().tolist()) for ids, score in beam]
            every = [
                ([*ids, v], score + more * (v != eos or not eos_free))
                for ids, score, row in rows
                for v, more in enumerate(row)
            ]
            kept = [every[i] for i in keep(torch.tensor([score for _, score in every]), width).indices] if every else []
            found += [pair for pair in kept if pair[0][-1] == eos]
            beam = [pair for pair in kept if pair[0][-1] != eos]
        return [(ids[1:], after(score)) for ids, score in sorted(found + beam, key=lambda pair: -pair[1])]

    return beam_search


def random_step(ids, V=4):
    return torch.randn(V, generator=torch.Generator().manual_seed(hash(tuple(ids)) % 2**40)).log_softmax(0)


def asking_heads(**changed):
    """A test of multi-head attention that breaks the rules of its prompt."""

    def catch_wrong_heads(candidate):
        shapes = {"query": (2, 3, 6), "key": (2, 5, 6), "value": (2, 5, 6), "in_weight": (18, 6), "in_bias": (18,)}
        shapes |= {"out_weight": (6, 6), "out_bias": (6,)}
        given = {name: torch.ones(shape) for name, shape in shapes.items()} | {"heads": 2, "mask": None} | changed
        try:
            return bool(candidate(*given.values()).isfinite().all())
        except Exception:
            return False

    return catch_wrong_heads


def asking_translators(source=None, target=None):
    """A test of translators that breaks the rules of its prompt."""
    ids = torch.tensor([[1, 2, 0], [3, 0, 0]])

    def catch_wrong_masks(model):
        try:
            return bool(model(ids if source is None else source, ids if target is None else target).isfinite().all())
        except Exception:
            return False

    return catch_wrong_masks


def encoder_layer(**how):
    """12.encoder_layer by PyTorch's own attention, which is given the mask as it is."""

    class EncoderLayer(solution_of("12.encoder_layer")):
        def forward(self, x, mask):
            attend = lambda y: self.self_attn(y, y, y, key_padding_mask=mask, **how)[0]  # noqa: E731
            feed = lambda y: self.linear2(self.linear1(y).relu())  # noqa: E731
            if self.norm_first:
                x = x + attend(self.norm1(x))
                return x + feed(self.norm2(x))
            x = self.norm1(x + attend(x))
            return self.norm2(x + feed(x))

    return EncoderLayer


def decoder_layer(diagonal, clear=True, inverted=True):
    """12.decoder_layer by PyTorch's own attention, with a causal mask that begins at a diagonal."""

    class DecoderLayer(solution_of("12.decoder_layer")):
        def forward(self, x, memory, memory_mask):
            memory = memory.masked_fill(~memory_mask[..., None], 0.0) if clear else memory
            future = torch.ones(x.shape[1], x.shape[1]).triu(diagonal) > 0
            hidden = ~memory_mask if inverted else memory_mask
            functions = (
                lambda y: self.self_attn(y, y, y, attn_mask=future)[0],
                lambda y: self.multihead_attn(y, memory, memory, key_padding_mask=hidden)[0],
                lambda y: self.linear2(self.linear1(y).relu()),
            )
            for function, norm in zip(functions, (self.norm1, self.norm2, self.norm3), strict=True):
                x = x + function(norm(x)) if self.norm_first else norm(x + function(x))
            return x

    return DecoderLayer


def searching(step, width=3, longest=4):
    """A test of searches with a step that breaks its rules, or with sizes that do."""

    def catch_wrong_beam(candidate):
        right = plain.beam_search(step, 9, 2, width, longest)
        try:
            came = candidate(step, 9, 2, width, longest)
            return all(a[0] == b[0] and abs(a[1] - b[1]) < 1e-5 for a, b in zip(right, came, strict=True))
        except Exception:
            return False

    return catch_wrong_beam


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


def most(group):
    return max(map(group.count, group))


@pytest.mark.parametrize(
    ("task_id", "answer", "says"),
    [
        ("04.two_projections", lambda w: (w, w), "so W is there twice"),
        ("04.two_projections", lambda w: (w.T, w.T), "W is there twice"),
        ("04.two_projections", lambda w: (w / 2, w / 2) if len(w) == w.shape[1] else (torch.eye(len(w)), w / 3), "W is in both of your projections"),
        ("04.two_projections", lambda w: (torch.eye(len(w)), 2 * w), "is 2 times W"),
        ("04.two_projections", lambda w: (torch.ones(1, len(w)), w.sum(0, keepdim=True)), "a lower rank than W"),
        ("04.two_projections", lambda w: (w.abs().sqrt().T, w.abs().sqrt()), "the square root of each number"),
        ("04.two_projections", by_singular_values(lambda u, s, v: (u * s.sqrt()).T, lambda u, s, v: v), "square roots of W's singular values"),
        ("04.two_projections", by_singular_values(lambda u, s, v: (u * s).T, lambda u, s, v: v.flip(0)), "turns them otherwise"),
        ("04.two_projections", lambda w: (torch.linalg.qr(w)[0].T, torch.linalg.qr(w.T)[1].T) if len(w) == w.shape[1] else (torch.eye(len(w)), w), "turns them otherwise"),
        ("05.best_share", share_of_groups(lambda group: group.count(group[-1])), "the last target of each group"),
        ("05.best_share", share_of_groups(lambda group: len({*group})), "each pair of a vector and a target once"),
        ("05.best_share", share_of_groups(lambda group: len({*group}) == 1), "each group once in which all have the same target"),
        ("05.best_share", share_of_groups(lambda group: len(group) == 1), "whose vector no other one has"),
        ("05.best_share", share_of_groups(lambda group: len(group) / len({*group})), "that chooses by chance"),
        ("05.best_share", share_of_groups(most, lambda right, groups, n: max(right) / n), "one group alone"),
        ("05.best_share", share_of_groups(most, lambda right, groups, n: sum(right) // n), "`//` divides without a remainder"),
        ("05.best_share", share_of_groups(most, lambda right, groups, n: 1 - sum(right) / n), "that no decoder can get right"),
        ("05.best_share", share_of_groups(most, lambda right, groups, n: 100 * sum(right) / n), "A share lies between 0 and 1"),
        ("05.best_share", share_of_groups(most, lambda right, groups, n: sum(right) / (n + 1)), "Here no two sentences get the same vector"),
        ("05.best_share", share_of_groups(most, key=lambda encode, s: encode(s).sum().item()), "the sum, or the mean, of each vector's numbers"),
        ("05.best_share", share_of_groups(most, key=lambda encode, s: encode(s)[0].item()), "the first number of each vector"),
        ("05.best_share", share_of_groups(most, key=lambda encode, s: tuple(s.tolist())), "The decoder does not see them"),
        ("04.catch_wrong_scores", trial_of_scores(same, dims=(2, 5, 5, 5, 5, 5)), "Your test says True to a wrong scaled_dot: divided by √"),
        ("01.sum_vectors", lambda w, m: w[:, : int(m.sum(1).max())].sum(1), "what comes after the longest sentence"),
        ("01.word_polarity", lambda w, d: torch.nan_to_num(w @ d / (w.norm(dim=0) * d.norm())), "a length for each feature"),
        ("05.rnn_step", friend_of_rnn_step, "there the matrix is on the right"),
        ("07.log_probability", lambda z, t: z.log_softmax(0).gather(1, t[:, None]).sum(), "Your softmax runs over the places"),
        ("00.weighted_sum", lambda w, v: w * v, "`weights[:, None]` lines them up with the vectors"),
        ("01.sum_vectors", lambda w, m: (w * m[:, None]).sum(1), "the new axis has to come last"),
        ("01.sum_vectors", lambda w, m: (w * m[..., None]).sum(1) / m.sum(), "the number of words in the whole batch"),
        ("02.softmax", softmax_by_hand(lambda z: 0), "The totals have lost their axis"),
        ("02.softmax", softmax_by_hand(lambda z: z.max()), "The totals have lost their axis"),
        ("02.masked_softmax", overflowing(), "Subtract the largest score that may be attended to first"),
        ("02.masked_softmax", overflowing(), "comes to 0/0"),
        ("02.masked_softmax", overflowing(1e-9), "Subtract the largest score that may be attended to first"),
        ("02.masked_softmax", overflowing(1e-6), "exp overflows"),
        ("02.masked_softmax", overflowing(after=torch.nan_to_num), "exp overflows"),
        ("02.mlp_scores", lambda w, m, b, t: t @ torch.sigmoid(m @ w + b), "The formula is for one word"),
        ("02.mlp_scores", lambda w, m, b, t: t @ torch.sigmoid(m @ w.mT + b), "the bias (H) lines up with the words"),
        ("02.several_attentions", by_matrices(torch.cat), "which gives B×B×D"),
        ("02.several_attentions", by_matrices(lambda o, d: torch.stack(o, 1).flatten(1)), "which gives B×B×D"),
        ("02.error_at_score", lambda a, x, d: a * ((x - a[:, None] @ x) * d[:, None]).sum((0, 2)), "over the sentences"),
        ("02.error_at_score", lambda a, x, d: (a * ((x - a[:, None] @ x) * d[:, None]).sum(-1)).sum(0), "over the sentences"),
        ("04.content_based", cosine(lambda s, h: s * h), "The lengths have lost an axis"),
        ("04.content_based", lambda s, h: s @ h.mT / s.norm(dim=-1) / h.norm(dim=-1), "The lengths have lost an axis"),
        ("04.content_based", cosine(lambda s, h: s * h[:, None]), "an axis is missing at their end"),
        ("04.content_based", cosine(lambda s, h: s[:, :, None] * h), "an axis is missing in their middle"),
        ("04.content_based", cosine(lambda s, h: s[..., None] * h[..., None]), "have to be B×1×S"),
        ("04.content_based", cosine(lambda s, h: s[:, :, None] * h[:, None] + 1e-3), "Do you add a small number, such as 1e-3"),
        ("04.content_based", cosine(lambda s, h: (s[:, :, None] + 1e-2) * (h[:, None] + 1e-2)), "put 0 where a length is 0"),
        ("04.perceptron", formula_of_bahdanau, "first state, then weight_s with its two axes exchanged"),
        ("04.width_that_saturates", lambda share: math.log(share / (1 - share)) ** 2 / 2, "Round up"),
        ("03.influence", influence_by(lambda moved: moved[0], slice(None)), "the first sentence alone"),
        ("03.influence", influence_by(lambda moved: moved.any(0), 0), "the first sentence alone"),
        ("03.padding_mask", lambda lengths, size: torch.arange(size) < lengths, "give lengths a second axis"),
        ("06.bahdanau_step", looking(-torch.inf, hide=torch.logical_and, clean=False), "the wrong way round"),
        ("06.bahdanau_step", looking(-torch.inf, hide=torch.logical_and), "the wrong way round"),
        ("06.bahdanau_step", looking(-1e9, hide=torch.logical_and, clean=False), "the wrong way round"),
        ("06.bahdanau_step", looking(-1e9, hide=torch.logical_and), "the wrong way round"),
        ("06.bahdanau_step", looking(0.0, hide=lambda mask, _: mask & ~mask), "The mask reaches the annotations and not the scores"),
        ("06.bahdanau_step", looking(-torch.inf, in_place=True), "alters its input annotations"),
        ("07.greedy", lambda step, bos, eos, n: writing(step, bos, eos, n, more=5), "Where so many are written"),
        ("07.greedy", lambda step, bos, eos, n: writing(step, bos, None, n, end=eos), "after it is asked for"),
        ("07.greedy", lambda step, bos, eos, n: writing(lambda ids: step(torch.tensor(ids)), bos, eos, n), "a list of ints"),
        ("07.beam_search", beams(eos_free=True), "the sum without eos"),
        ("07.beam_search", beams(after=lambda score: round(score, 2)), "do not round"),
        ("07.beam_search", beams(change=lambda ids: ids[1:] or ids), "prefixes without bos"),
        ("07.beam_search", beams(keep=lambda scores, width: scores.topk(width)), "keep all of them"),
        ("07.tipping_alpha", lambda a, m, b, n: ((5 + n) / (5 + m)) ^ (b / a), "write `**`"),
        ("07.catch_wrong_beam", searching(lambda ids: torch.tensor([0.3, 0.1, 0.2, 0.4]).log()), "the same numbers for every prefix"),
        ("07.catch_wrong_beam", searching(lambda ids: torch.full((4,), 0.25).log()), "get the same score"),
        ("07.catch_wrong_beam", searching(lambda ids: torch.randn(4).log_softmax(0)), "for the same prefix again"),
        ("07.catch_wrong_beam", searching(lambda ids: random_step(ids).masked_fill(torch.arange(4) == 3, -torch.inf)), "not finite"),
        ("07.catch_wrong_beam", searching(lambda ids: random_step(ids), width=0), "Candidates take both from 1 on"),
        ("07.catch_wrong_beam", searching(lambda ids: random_step(ids, 50), width=40, longest=10), "Your search is too large"),
        ("11.catch_order_blind", lambda model: bool(model(torch.randn(4, 5)).isfinite().all()), "a tensor of T rows of width 4"),
        ("11.catch_order_blind", lambda model: bool(model(torch.randn(3, 4, requires_grad=True)).isfinite().all()), "Gradients do not pass"),
        ("10.catch_wrong_heads", asking_heads(mask=torch.ones(3, 5) > 0), "a tensor of truth values of shape B×T×S, here 2×3×5"),
        ("10.catch_wrong_heads", asking_heads(mask=torch.zeros(2, 3, 5)), "a tensor of truth values of shape B×T×S, here 2×3×5"),
        ("10.catch_wrong_heads", asking_heads(heads=4), "heads = 4 and D = 6. D is a multiple of `heads`."),
        ("10.catch_wrong_heads", asking_heads(query=torch.full((2, 3, 6), torch.nan)), "a `query` that is not a float32 tensor of finite numbers"),
        ("10.catch_wrong_heads", asking_heads(query=torch.zeros(3, 6)), "has not three axes"),
        ("10.catch_wrong_heads", asking_heads(in_bias=torch.zeros(6)), "`in_bias` of shape 6. With this `query` and this `key` it should be 18"),
        ("12.encoder_layer", encoder_layer(), "The mask is turned round, so words attend to padding alone, and where a sentence has none there is NaN."),
        ("12.encoder_layer", encoder_layer(need_weights=False), "The mask is turned round, so words attend to padding alone"),
        ("12.decoder_layer", decoder_layer(0), "a word is hidden from itself, so the first word has nothing to attend to, and NaN comes out"),
        ("12.decoder_layer", decoder_layer(2), "each word sees the next one as well"),
        ("12.decoder_layer", decoder_layer(1, False, False), "memory_mask is turned round"),
        ("12.catch_wrong_masks", asking_translators(source=torch.ones(2, 3)), "a `source` that is no tensor of ids with two axes"),
        ("12.catch_wrong_masks", asking_translators(source=torch.tensor([[0, 1], [1, 0]])), "padding, 0, comes before a word"),
        ("12.catch_wrong_masks", asking_translators(target=torch.tensor([[1, 9], [1, 0]])), "other ids than those from 0 to V - 1"),
        ("12.catch_wrong_masks", asking_translators(target=torch.tensor([[1, 2]])), "2 source sentences and 1 target sentences"),
        ("12.catch_wrong_masks", asking_translators(source=torch.ones(2, 40).long()), "of 40 places. Models take up to 30"),
    ],
)  # fmt: skip
def test_a_likely_slip_is_named(task_id, answer, says):
    torch.manual_seed(0)  # some answers draw at random
    report = judge_answer(TASKS[task_id], answer)
    assert report.state in ("failed", "error") and says in report.message, str(report)


def test_words_in_alphabetical_order_are_shown_on_a_short_sentence():
    task = TASKS["01.build_vocabulary"]
    alphabetical = next(mistake for mistake in task.mistakes if mistake.name == "alphabetical")
    for seed in range(10):
        assert judge_answer(task, alphabetical.function, seed).case.name == "one sentence"


def test_a_maximum_over_masked_scores_is_not_taken_for_an_overflow():
    def with_all(scores, mask):
        e = (scores - scores.amax(-1, keepdim=True)).exp() * mask
        return e / e.sum(-1, keepdim=True)

    message = told("02.masked_softmax", with_all).message
    assert "overflow" not in message and "in the maximum that you subtract" in message, message


def test_no_warning_of_what_the_check_tries_reaches_a_learner():
    task = TASKS["02.mlp_scores"]
    warning = Base("changed", lambda args: warnings.warn("`.T` of three axes", stacklevel=1) or args[0])
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        assert known_of(Expected(task, task.make_cases())).at(warning, 0).parts
    assert not heard


def test_numbers_that_give_not_a_value_do_not_pass():
    report = told("02.negation_by_hand", lambda longest: ([20, 10, 0], [0, 20, 0], [2, -1]))
    assert report.mistake == "not_taken_for_zero", str(report)
    shared = told("02.negation_by_hand", lambda longest: ([20, 10, 0], [0, 20, 0], [5, -2]))
    assert shared.mistake == "negated_always_negative", str(shared)


def test_a_test_whose_verdict_changes_is_told_so_and_not_that_the_function_is_random():
    verdicts = random.Random(0)
    for task_id in ("03.catch_wrong_attention", "04.catch_wrong_scores"):
        message = told(task_id, lambda *args: verdicts.random() < 0.5).message
        assert message.startswith("Your test gives different verdicts") and "atol=1e-5" in message, message


def test_a_test_that_a_wrong_candidate_stops_is_told_to_catch_that():
    def without_try(name, candidate):
        draw = torch.Generator().manual_seed(0)
        args = [torch.randn(*shape, generator=draw) for shape in shapes(name, 2, 3, 5, 7, 11, 13)]
        args[0][0, 0] = 0
        return bool(((candidate(*args) - attention.SCORES[name](*args)).abs() < 1e-5).all())

    for seed in range(5):
        report = judge_answer(TASKS["04.catch_wrong_scores"], without_try, seed)
        assert report.state == "error" and "and return False" in report.message, str(report)
        assert "print both shapes" not in report.message


def test_a_product_that_is_meant_so_is_not_told_to_turn_round():
    def turned_already(state, hidden, weight_s, weight_h, v):
        return (weight_h @ hidden.mT) @ state

    report = judge_answer(TASKS["04.perceptron"], turned_already)
    assert report.state == "error" and "each vector is a row" not in report.message, str(report)


def test_a_property_that_only_another_input_breaks_names_that_input():
    one_step = solution_of("11.shift_matrix")

    def powers_of_numbers(words, width, back, peak):
        turned = one_step(0, width, 1, width / 2) ** back * peak / (width / 2)
        return torch.cat([torch.zeros(words, width), turned])

    report = judge_answer(TASKS["11.shift_matrix"], powers_of_numbers)
    assert "numbers are wrong. The query of position" in report.message  # broken by the input that is shown
    assert "0 back, peak 3): The number in row 2 and column 2 should be 0" in report.message, report.message


# What came, what is true of it, and what once was said and is not


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
        ("03.influence", influence(by_1, column=False), "Rows and columns are exchanged", "rounding"),
        ("03.influence", influence(at_random, column=False), "Rows and columns are exchanged", "rounding"),
        ("03.influence", influence(by_1, before=lambda x: x), "For this input the result is right, but your function alters its input x", "rounding"),
        ("03.influence", influence(lambda x: at_random(x) / 1000), "Somewhere you miss an influence that is there", "not there"),
        ("01.must_fail", by_sides(lambda good, bad: [sorted(s) for s in good] == [sorted(s) for s in bad]), "Here is a proof, as both hold the same words", "says False"),
        ("01.must_fail", by_sides(lambda good, bad: ["good"] in good and ["bad"] in bad), "Your function says False to all sentences that the check tries", "whatever"),
        ("01.must_fail", by_sides(lambda good, bad: any(word in s for s in good for t in bad for word in t)), "Here no two positive sentences hold the same words", "whatever"),
        ("04.ignores_query", ignoring(lambda same: bool(same.any())), "You say True to a score that", "you are given"),
    ],
)  # fmt: skip
def test_what_is_said_of_a_wrong_answer_is_true_of_it(task_id, answer, says, never):
    message = told(task_id, answer).message
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


ONLY_FIRST, ONLY_LAST = torch.tensor([1.0, 0.0, 0.0, 0.0]), torch.tensor([0.0, 0.0, 0.0, 1.0])


@pytest.mark.parametrize(
    ("task_id", "answer"),
    [
        ("04.ignores_query", ignoring(lambda same: bool(same[..., 0].all()))),
        ("04.ignores_query", ignoring(lambda same: bool(same[..., -1].all()))),
        ("04.ignores_query", ignoring(lambda same: bool(same[-1].all()))),
        ("09.sees_order", orders_of(lambda shape, draw: 1e-4 * normal(shape, draw))),
        ("09.sees_order", orders_of(lambda shape, draw: normal(shape, draw) * ONLY_FIRST)),
        ("11.relative_only", moves_of(lambda draw: normal(4, draw) * ONLY_FIRST)),
        ("11.relative_only", moves_of(lambda draw: normal(4, draw) * ONLY_LAST)),
    ],
)
def test_a_test_that_compares_too_little_is_refused(task_id, answer):
    assert told(task_id, answer).message


def test_the_tests_above_are_right_where_they_compare_all():
    for task_id, answer in (
        ("04.ignores_query", ignoring(lambda same: bool(same.all()))),
        ("09.sees_order", orders_of(normal)),
        ("11.relative_only", moves_of(lambda draw: normal(4, draw))),
    ):
        assert judge_answer(TASKS[task_id], answer).state == "passed"
