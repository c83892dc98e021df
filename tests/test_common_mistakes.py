"""What is said of the slips that learners make in lessons 12 to 22: a name only where it is true, and a sentence wherever there is one."""

import math
import random
import statistics

import pytest
import sampling
import torch
import torch.nn.functional as F
from tasks import TASKS, altered, judge_briefly, solution_of

from course_utils.checks.first_failure import first_failure
from course_utils.checks.judge_answer import expected_on, judge_answer


def report_on(task_id, answer):
    """The report on an answer, without the search for a relation."""
    return judge_briefly(TASKS[task_id], answer, expected_on(TASKS[task_id], 0))


# 06


def one_minus_f1(weights, sure, possible):
    """06.alignment_error_rate by precision and recall."""
    links, sure = {(source, target) for target, source in enumerate(weights.argmax(1).tolist())}, set(sure)
    precision = len(links & (sure | set(possible))) / len(links)
    recall = len(links & sure) / len(sure) if sure else 0
    return 1 - 2 * precision * recall / (precision + recall or 1)


# 13


def paired(verdict):
    """13.paired_difference with another verdict on the differences."""

    def paired_difference(plain, changed):
        differences = [changed[seed] - plain[seed] for seed in plain if seed in changed]
        return sum(differences) / len(differences), verdict(differences)

    return paired_difference


def sign(number):
    return (number > 0) - (number < 0)


def smoothed(log_p):
    """13.label_smoothing_loss with log probabilities by hand."""

    def label_smoothing_loss(logits, target, smoothing, pad):
        V, real = logits.shape[-1], target != pad
        asked = (1 - smoothing) * F.one_hot(target[real], V) + smoothing / V
        return -(asked * log_p(logits)[real]).sum(-1).mean() - torch.special.entr(asked[0]).sum()

    return label_smoothing_loss


def exponentials_over_their_sum(logits):
    e = logits.exp()
    return (e / e.sum(-1, keepdim=True)).log()


def translator(*changes):
    """13.train_and_translate with pieces of its text changed."""
    return altered("13.train_and_translate", *changes)


FORCED = (
    "greedy(source, target.shape[1] - 1)",
    "logits.argmax(-1) * ((logits.argmax(-1) == EOS).cumsum(1) <= (logits.argmax(-1) == EOS))",
)
TRAINED = "loss = mean_loss(model(source, target[:, :-1]), target)"
OWN_LOSS = "loss = F.cross_entropy(model(source, target[:, :-1]).mT, target[:, 1:], {})".format
TOKENS = "(target[:, 1:] != PAD).sum()"


def by_an_unstable_sort(lengths, limit):
    """13.token_batches with equal sentences in any order."""
    order = random.Random(1).sample(range(len(lengths)), len(lengths))
    found = solution_of("13.token_batches")([lengths[i] for i in order], limit)
    return [[order[i] for i in batch] for batch in found]


# 14


def look(location=torch.detach, drawn=torch.detach, old=lambda state: state):
    """14.next_look with other places cut off from their gradient."""

    def next_look(features, state, weight_features, weight_state, weight_location, noise, std):
        state = torch.relu(features @ weight_features.T + old(state) @ weight_state.T)
        mean = state @ weight_location.T
        place = mean + std * noise
        log_p = -((drawn(place) - mean) / std).square().sum(1) / 2 - math.log(2 * math.pi * std**2)
        return state, location(place).clamp(-1, 1), log_p

    return next_look


# 16


def tables(change):
    """16.two_hops_by_hand with something done to the tables of things, people and places."""
    solution = solution_of("16.two_hops_by_hand")
    return lambda *sizes: change(*solution(*sizes))


def as_other_numbers(task_id, change):
    """The course's own answer, whose tensors are changed."""
    solution = solution_of(task_id)

    def answer(*sizes):
        tensors = solution(*sizes)
        if isinstance(tensors, dict):
            return {name: change(tensor) for name, tensor in tensors.items()}
        return [change(tensor) for tensor in tensors[:2]] + tensors[2:]

    return answer


# 17


def program(write, read):
    """17.backwards from the shifts of each head: functions of the step and the length."""

    def backwards(length, places):
        shifts = [[write(step, length), read(step, length)] for step in range(2 * length + 1)]
        return F.one_hot(torch.tensor(shifts) + 1, 3).float()

    return backwards


def forward(step, length):
    return 1


# 18


# 19


def powers(layers):
    return lambda steps, kernel: [kernel**layer for layer in range(layers(steps, kernel))]


def with_weights(**changes):
    """19.labels_by_hand with some of its weights changed."""
    solution = solution_of("19.labels_by_hand")

    def labels_by_hand(*sizes):
        weights = solution(*sizes)
        return weights | {name: change(weights[name]) for name, change in changes.items()}

    return labels_by_hand


def picking(weight, first):
    """A matrix of the same shape that picks the numbers from this place on."""
    return torch.eye(len(weight))[:, first:][:, : weight.shape[1]]


# 21


def in_one_pass(ahead=False, factor=lambda old, new: (old - new).exp(), finished=lambda e, values: e @ values):
    """22.one_pass_attention that may fetch a block too early, or go wrong in a part."""

    def one_pass_attention(next_block):
        largest, total, context, block = torch.tensor(-torch.inf), 0.0, 0.0, next_block()
        while block is not None:
            following = next_block() if ahead else None
            scores, values = block
            new = torch.maximum(largest, scores.max())
            e, f = (scores - new).exp(), factor(largest, new)
            total, context, largest = total * f + e.sum(), context * f + finished(e, values), new
            block = following if ahead else next_block()
        return context / total

    return one_pass_attention


BROKEN, EVERYWHERE = "20.catch_broken_attention", "itertools.product(range(3), range(2), range(T))"

NAMED = [
    ("06.alignment_error_rate", one_minus_f1, "one_minus_f1"),
    ("13.cached_step", lambda x, keys, values, *weights: solution_of("13.cached_step")(x, keys[:, :, 1:], values[:, :, 1:], *weights), "oldest_dropped"),
    ("13.cached_step", lambda x, keys, values, *weights: solution_of("13.cached_step")(x, keys[:, :, :-1], values[:, :, :-1], *weights), "last_overwritten"),
    ("22.unpack", lambda scale, minimum, packed: scale[:, None] * torch.cat([packed.to(torch.int8) & 15, packed.to(torch.int8) >> 4], 1) + minimum[:, None], "signed_bytes"),
    ("13.learning_rate", lambda step, steps, warmup, highest: highest * (step / warmup if step < warmup else max(0.0, (steps - step) / max(1, steps - warmup))), "zero_at_the_last_step"),
    ("13.label_smoothing_loss", altered("13.label_smoothing_loss", ("label_smoothing=smoothing", "label_smoothing=smoothing, reduction='sum'")), "summed"),
    ("15.pointing_accuracy", lambda weights, true, mask: (weights.argmax(-1) == true)[:, 0][mask[:, 0]].float().mean().item(), "mean_of_first_words"),
    ("16.answer", altered("16.answer", ("zip(memories[:-1], memories[1:], strict=True)", "zip(memories, [*memories[1:], memories[-1]])")), "one_hop_after"),
    ("18.at_risk", lambda old, new: ((old > 0) == (new > 0).any(0)).all(1), "same_experts"),
    ("18.at_risk", lambda old, new: ((old > 0)[:, None] == (new > 0)).all(-1).any(1), "same_experts_as_an_input"),
    ("13.train_and_translate", translator(("return self.readout(states)", "return self.readout(states).softmax(-1)")), "softmax_first"),
    ("13.train_and_translate", translator(("F.cross_entropy(logits.flatten", "F.cross_entropy(logits.softmax(-1).flatten")), "softmax_first"),
    ("13.train_and_translate", translator(FORCED), "target_translated"),
    ("12.encoder_layer", altered("12.encoder_layer", ("torch.relu(", "torch.tanh(")), "tanh"),
    ("12.encoder_layer", altered("12.encoder_layer", ("return self.norm2(x + feed_forward(x))", "return x + feed_forward(x)")), "norm2_missing_after"),
    ("12.decoder_layer", altered("12.decoder_layer", ("attn_mask=future", "attn_mask=future.float()")), "causal_mask_of_numbers"),
    ("12.encoder_layer", altered("12.encoder_layer", ("=~mask", "=mask.float()")), "mask_of_numbers_inverted_and_zeros"),
    ("12.decoder_layer", altered("12.decoder_layer", ("attn_mask=future", "attn_mask=~future")), "causal_mask_inverted_without_nan"),
    ("12.decoder_layer", altered("12.decoder_layer", ("attn_mask=future", "attn_mask=(~future).float()")), "causal_mask_of_numbers_inverted"),
    ("12.decoder_layer", altered("12.decoder_layer", ("hidden = ~memory_mask", "hidden = memory_mask.float()")), "memory_mask_of_numbers_inverted_and_zeros"),
    ("12.decoder_layer", altered("12.decoder_layer", ("hidden = ~memory_mask", "hidden = memory_mask"), ("memory = memory.masked_fill(~memory_mask[..., None], 0.0)", "pass")), "memory_mask_inverted_without_nan_or_zeros"),
    ("21.gpt", altered("21.gpt", ("attn_mask=future", "attn_mask=~future")), "mask_inverted_without_nan"),
    ("21.gpt", altered("21.gpt", ("triu(1)", "triu()")), "itself_hidden_without_nan"),
    ("21.gpt", altered("21.gpt", ("attn_mask=future", "attn_mask=(~future).float()")), "mask_of_numbers_inverted"),
    ("19.labels_by_hand", with_weights(W_k=lambda weight: picking(weight, weight.shape[1])), "key_from_the_label"),
    ("13.adam_step", altered("13.adam_step", ("(1 - beta2**step)", "(1 - beta1**step)")), "v_corrected_with_beta1"),
    ("13.adam_step", altered("13.adam_step", ("gradient**2", "new_m**2")), "squares_of_m"),
    ("13.paired_difference", paired(lambda d: sign(statistics.median(d)) if len(d) > 4 else 0), "most_of_enough_signs"),
    ("13.paired_difference", paired(lambda d: 1 if all(x > 0 for x in d) else -1), "all_or_the_opposite"),
    ("13.label_smoothing_loss", smoothed(lambda z: (z.exp() / z.exp().sum()).log()), "one_softmax_for_all"),
    ("14.next_look", look(location=lambda place: place), "location_not_cut_off"),
    ("14.next_look", look(drawn=lambda place: place), "cut_off_for_looking_alone"),
    ("15.pointing_accuracy", altered("15.pointing_accuracy", ("weights.argmax(dim=-1)", "weights.argmax(dim=-1) + 1")), "cells_counted_from_1"),
    ("17.head", altered("17.head", ("moved ** gamma[:, None]", "moved * gamma[:, None]")), "not_sharpened"),
    ("17.head", altered("17.head", ("torch.softmax(strength[:, None] * cosine, dim=-1)", "strength[:, None] * torch.softmax(cosine, dim=-1)")), "strength_after_the_softmax"),
    ("18.balance_by_offsets", altered("18.balance_by_offsets", ("(scores + offsets).topk", "scores.topk")), "offsets_unused"),
    ("18.at_risk", lambda old, new: (new > 0).any(0)[old.argmax(1)], "best_expert_of_old"),
    ("18.at_risk", lambda old, new: ((old > 0).any(0) & (new > 0)).any(1), "of_the_new_inputs"),
    ("19.dilations", powers(lambda steps, kernel: math.ceil(math.log(steps, kernel))), "rounded_logarithm"),
    ("20.mean_rates", altered("20.mean_rates", ("sum(dim=2)", "sum(dim=1)")), "from_each_step_on"),
    ("21.next_token_loss", altered("21.next_token_loss", (".log_softmax(-1)", ".softmax(-1)")), "no_logarithm"),
    ("21.nucleus", altered("21.nucleus", ("(before < p)", "(before == 0)")), "most_probable_alone"),
    ("21.nucleus", altered("21.nucleus", ("ordered * (before < p)", "(before < p).float()")), "equal_shares"),
    ("22.swiglu", altered("22.swiglu", ("gate * gate.sigmoid()", "torch.tanh(gate)")), "tanh"),
    ("21.gpt", altered("21.gpt", ("self.positions.weight[:T]", "self.positions.weight[-T:]")), "last_positions"),
    ("21.gpt", altered("21.gpt", ("attn_mask=future", "attn_mask=future.float()")), "mask_of_numbers"),
    ("22.one_pass_attention", in_one_pass(factor=lambda old, new: torch.zeros(())), "last_block_alone"),
    ("13.paired_difference", paired(lambda d: sign(sum(d))), "sign_of_the_mean"),
    ("13.paired_difference", paired(lambda d: sign(sum(d)) if len(d) > 4 else 0), "sign_of_the_mean_of_enough"),
    ("13.paired_difference", paired(lambda d: sign(sum(map(sign, d)))), "most_of_the_signs"),
    ("16.memories", altered("16.memories", ("mask.sum(1)[:, None, None]", "(weights > 0).sum(2)[..., None]")), "counted_by_their_weight"),
    ("16.memories", altered("16.memories", ("mask.sum(1)[:, None, None]", "(weights.sum(1) > 0).sum(1)[:, None, None]")), "counted_by_any_weight"),
    ("18.at_risk", lambda old, new: (old * (new > 0).any(0)).sum(1) > 0.5, "half_of_the_answer"),
    ("18.at_risk", lambda old, new: ((old > 0.5) & (new > 0).any(0)).any(1), "half_of_old"),
    ("18.at_risk", lambda old, new: (old > 0).any(1), "all_at_risk"),
    ("18.at_risk", lambda old, new: ((old > 0) & ~(new > 0).any(0)).any(1), "experts_that_stay"),
    ("18.at_risk", lambda old, new: (old > 0)[:, new.argmax(1)].any(1), "best_expert_of_new"),
    ("18.balance_by_offsets", altered("18.balance_by_offsets", ("kept, load = scores * chosen", "kept, load = chosen")), "equal_gates"),
    ("21.next_token_loss", altered("21.next_token_loss", ("log_p.gather(-1, wanted)", "log_p.gather(-1, wanted)[:, -1]")), "last_target_alone"),
    ("22.one_pass_attention", in_one_pass(finished=lambda e, values: e / e.sum() @ values), "divided_in_the_context"),
    ("22.one_pass_attention", lambda block: sum(scores.softmax(0) @ values for scores, values in iter(block, None)), "sum_of_blocks"),
    (BROKEN, altered(BROKEN, (EVERYWHERE, "itertools.product(range(3), [0], range(T))")), "one_head_stays"),
    (BROKEN, altered(BROKEN, (EVERYWHERE, "itertools.product([0], range(2), range(T))")), "one_sentence_stays"),
]  # fmt: skip


@pytest.mark.parametrize(("task_id", "answer", "named"), sampling.quick(NAMED))
def test_a_slip_bears_its_name(task_id, answer, named):
    report = report_on(task_id, answer)
    assert report.state in ("failed", "error") and report.mistake == named, str(report)


SAYS = [
    ("13.token_batches", by_an_unstable_sort, "have the same length"),
    ("02.negation_by_hand", lambda longest: ([10, 5, 0], [0, 10, 0], [2, -1]), 'the output for "not awful" is near 0, and should be positive'),
    ("02.negation_by_hand", lambda longest: ([20, 10, 0], [20, 10, 0], [-3, 4]), 'the output for "not great" is negative, but too close to 0'),
    ("04.two_projections", lambda weight: (2 * weight.T, torch.eye(len(weight)).repeat(1, 2)[:, : weight.shape[1]]), "W_sᵀW_h[0, 0] is 3.5"),
    ("12.encoder_layer", altered("12.encoder_layer", ("x + feed_forward(self.norm2(x))", "x + feed_forward(self.norm2(self.norm1(x)))")), "When the feed-forward network returns zeros, everything is correct"),
    ("12.decoder_layer", altered("12.decoder_layer", ("attn_mask=future", "attn_mask=~future"), ("hidden = ~memory", "hidden = memory")), "look at self-attention first: what does it read, and with which mask?"),
    ("12.decoder_layer", altered("12.decoder_layer", ("self.multihead_attn(y, memory, memory", "self.multihead_attn(y, memory, memory + 1")), "When attention to the source does so as well, everything is correct"),
    ("13.paired_difference", paired(lambda d: int(len(d) > 4 and statistics.mean(d) > 1)), "All 5 differences are below 0 here"),
    ("13.adam_step", altered("13.adam_step", ("- rate * m_corrected", "- rate * m_corrected**3")), "The m and v that you return are correct"),
    ("13.adam_step", altered("13.adam_step", ("gradient**2", "gradient**4")), "Look at v first"),
    ("13.train_and_translate", translator((TRAINED, OWN_LOSS("ignore_index=PAD, reduction='sum'"))), "losses during training. The loss is the sum"),
    ("13.train_and_translate", translator(("losses.append(loss.item())", f"losses.append(loss.item() * {TOKENS}.item())")), "losses during training. The loss is the sum"),
    ("13.train_and_translate", translator((TRAINED, OWN_LOSS("reduction='sum'")), ("dropout=0.0", "dropout=0.2")), "losses during training. The loss is the sum"),
    ("13.train_and_translate", translator((TRAINED, OWN_LOSS(""))), "losses during training. The loss counts padding"),
    ("15.pointing_accuracy", lambda weights, true, mask: ((weights.argmax(-1) == true) & mask).any(1).float().mean(), "so the share is 2/3"),
    ("16.two_hops_by_hand", tables(lambda things, people, places: [things, things + people, places]), "Hop 2 looks once more at the fact that hop 1 found"),
    ("16.two_hops_by_hand", tables(lambda things, people, places: [things, people / 10, places]), "Hop 2 gives the largest weight to facts about that person, as it should, but in some story it is no more than a half"),
    ("16.two_hops_by_hand", tables(lambda *three: [torch.ones_like(three[0])] * 3), "Hop 1 gives all facts the same weight"),
    ("16.two_hops_by_hand", tables(lambda things, people, places: [-things, people.roll(1, 0), places]), "In some story, hop 2 gives its largest weight to something other than facts about that person"),
    ("16.two_hops_by_hand", as_other_numbers("16.two_hops_by_hand", torch.Tensor.long), "yours have float32 and int64"),
    ("16.two_hops_by_hand", as_other_numbers("16.two_hops_by_hand", torch.Tensor.double), "float32 and float64"),
    ("17.backwards", program(forward, lambda step, L: 1 if step <= L + 1 else -1), "finds nothing, nothing, vector 3, vector 2; it should find vector 3, vector 2, vector 1, vector 0. (Vectors are counted from 0.) Each therefore comes 2 steps too late"),
    ("17.backwards", program(lambda step, L: int(step > 0), lambda step, L: 1 if step <= L else -1), "Each therefore comes 1 step too late"),
    ("17.backwards", program(forward, lambda step, L: 1 if step < L else -1), "Each therefore comes 2 steps too early"),
    ("17.backwards", program(forward, lambda step, L: 1 if step <= L else -1 if step <= L + 2 else 0), "Write down for each step where both heads are"),
    ("17.head", altered("17.head", ("key[:, None], dim=-1)", "key[:, None], dim=-1) ** 3")), "therefore the weights by content alone"),
    ("17.head", altered("17.head", ("moved ** gamma[:, None]", "moved ** gamma[:, None] ** 2")), "With a gamma of 1, everything is correct"),
    ("18.balance_by_offsets", altered("18.balance_by_offsets", ("load.mean() - load", "load.max() - load")), "its offset of"),
    ("18.at_risk", lambda old, new: ((old > 0) & (new.mean(0) > 0.1)).any(1), "and new input 0 asks it, with 1e-07"),
    ("19.labels_by_hand", with_weights(W_q=torch.zeros_like), "At many steps, little or none of the weight lies on the step after the same character"),
    ("19.labels_by_hand", with_weights(W_q=lambda weight: weight / 8), "The correct step has the largest weight, but the other steps together have more"),
    ("19.labels_by_hand", as_other_numbers("19.labels_by_hand", torch.Tensor.long), "W_0 contains numbers of type int64"),
    ("19.dilations", powers(lambda steps, kernel: math.ceil(math.log2(steps) / math.log2(kernel))), "5 would be enough."),
    ("19.dilations", powers(lambda steps, kernel: math.ceil(math.log10(steps) / math.log10(kernel))), "3 would be enough."),
    ("19.two_blocks", altered("19.two_blocks", ("f.tanh()", "f.sin()")), "The new features, entries 2 to 3 of a step, are wrong from step 0 on"),
    ("19.two_blocks", altered("19.two_blocks", ("@ weight_v)", "@ weight_v.flip(1))")), "look at the attention, its mask and its softmax"),
    (BROKEN, altered(BROKEN, (EVERYWHERE, "itertools.product(range(3), range(2), [-1])")), "in the rows 0, 2, 4 and so on"),
    (BROKEN, altered(BROKEN, (EVERYWHERE, "itertools.product(range(3), [1], range(T))")), "in the first head"),
    ("22.grouped_query_attention", lambda query, key, value, mask: F.scaled_dot_product_attention(query, key[:, -1:], value[:, -1:], mask[:, None]), "Head 0 uses group 1. It should use group 0"),
    ("21.gpt", altered("21.gpt", ('block["network"](block["norm2"](x))', 'block["network"](block["norm2"](x)).relu()')), "If the network outputs zeros, everything is correct"),
    ("22.chat_prompt", altered("22.chat_prompt", ("\\n{each['content']}", " \\n{each['content']}")), "right up to '<|im_start|>system'. There, ' "),
    ("22.classify", altered("22.classify", (".median()", ".quantile(0.9)")), "a score above the median of the unlabelled reviews"),
]  # fmt: skip


@pytest.mark.thorough
def test_training_with_dropout_is_no_other_loss():
    for dropout in (0.1, 0.2):
        answer = translator(("dropout=0.0", f"dropout={dropout}"), ("dropout=0.0", f"dropout={dropout}"))
        report = report_on("13.train_and_translate", answer)
        assert report.state == "passed" or "during training" not in report.message, str(report)


def test_a_seed_gets_a_remark_only_where_nothing_is_random():
    assert "Nothing is random" not in report_on("13.train_and_translate", translator()).message
    drawn = altered("02.softmax", ("return", "torch.manual_seed(0); torch.rand(3)\n    return"))
    vain = altered("02.softmax", ("return", "torch.manual_seed(0)\n    return"))
    assert ["Nothing is random" in report_on("02.softmax", each).message for each in (drawn, vain)] == [False, True]


@pytest.mark.parametrize(("task_id", "answer", "says"), sampling.quick(SAYS))
def test_a_slip_without_a_name_is_told_what_it_breaks(task_id, answer, says):
    report = report_on(task_id, answer)
    assert report.state in ("failed", "error") and not report.mistake and says in report.message, str(report)


# Readings


READ = [task for task in TASKS.values() if task.canonical_function]
SHOWN = ("04.two_projections", "07.beam_search", "12.encoder_layer")  # readings like what is asked for


@pytest.mark.parametrize("task", sampling.quick(READ), ids=lambda task: task.id)
def test_a_reading_that_is_not_returned_is_told_in_a_sentence(task):
    assert (task.mismatch_function is None) == (task.id in SHOWN)
    expected = expected_on(task, 0)
    for mistake in () if task.id in SHOWN else task.mistakes:
        for place in range(len(expected.cases)):
            found = first_failure(task, expected, place, expected.of_mistake(mistake, place))
            assert not found or found.expected is None and "expected" not in found.text, found


def test_nan_everywhere_is_told_with_both_of_its_causes():
    for answer in (in_one_pass(ahead=True), in_one_pass(factor=lambda old, new: (new - old).exp())):
        message = report_on("22.one_pass_attention", answer).message
        assert "fetch one ahead" in message and "wrong way round" in message and "You keep the blocks" not in message, (
            message
        )


def test_a_detached_state_passes_where_the_weights_still_learn():
    assert report_on("14.next_look", look(old=torch.detach)).state == "passed"


def test_a_relation_is_found_to_what_an_answer_is_read_as():
    class Doubled(solution_of("12.encoder_layer")):
        def forward(self, x, mask):
            return 2 * super().forward(x, mask)

    assert "the right y times 2" in judge_answer(TASKS["12.encoder_layer"], Doubled).message


# Numerics


@pytest.mark.parametrize("log_p", [exponentials_over_their_sum, lambda z: z.softmax(-1).log()])
def test_a_softmax_by_hand_is_right_with_a_remark(log_p):
    report = judge_answer(TASKS["13.label_smoothing_loss"], smoothed(log_p))
    assert report.state == "passed" and report.hazard and "log_softmax" in report.message, str(report)


OVERFLOWS = [
    (task, mistake)
    for task in TASKS.values()
    if task.id > "05" and task.id != "18.mixture_loss"  # its prompt asks for such numbers
    for mistake in task.mistakes
    if mistake.name in ("overflow", "logarithm_of_softmax") and not task.candidates
]


@pytest.mark.parametrize(("task", "mistake"), OVERFLOWS, ids=lambda each: getattr(each, "id", None))
def test_overflow_in_exp_costs_no_point_unless_it_is_taught(task, mistake):
    expected = expected_on(task, 0)
    for place, case in enumerate(expected.cases):
        found = first_failure(task, expected, place, expected.of_mistake(mistake, place))
        assert case.hazard or not found, f"{mistake.name} fails on {case.name}: {found}"
