"""The ladder of hints: an idea, an example worked on paper with numbers that are right, pseudocode.

Where the numbers are a solution's results, a task's file in `right/` says so in WORKED. Other examples are worked here.
"""

import itertools
import re
from math import exp, log

import pytest
import torch
from right_answers import HELD
from test_tasks import TASKS, solution_of

from course_utils.lessons.lesson_04.catch_wrong_scores import WRONG
from course_utils.lessons.lesson_19 import labels_by_hand
from course_utils.models.attention import scaled_dot
from course_utils.models.glimpses import corner

LN3 = log(3)
X, N = True, False  # in masks: True means "may attend"
WORKED = {task_id: held["WORKED"] for task_id, held in HELD.items() if "WORKED" in held}


def numbers(value):
    """Return all numbers of a value of tensors, in their order."""
    parts = value if isinstance(value, tuple) else (value,)
    return [number for part in parts for number in part.flatten().tolist()]


@pytest.mark.parametrize("task_id", TASKS)
def test_the_second_hint_is_worked_with_numbers_and_not_a_formula(task_id):
    idea, example, pseudocode = TASKS[task_id].hints
    assert re.match("(Take|Let|For|Here is|Two|Three) ", example), "it begins with what is given"
    assert "Σ" not in example and "_(" not in example
    assert len(re.findall(r"\d|True|False", example)) >= 3 and len(idea) > 40 and len(pseudocode) > 40


@pytest.mark.parametrize("task_id", WORKED)
def test_the_numbers_of_the_second_hint_are_right(task_id):
    for args, said in WORKED[task_id]:
        tensors = (torch.tensor(arg) for arg in args)
        given = (t if t.dtype == torch.bool else t.float() for t in tensors)
        came = solution_of(task_id)(*(t if t.dim() or t.dtype == torch.bool else t.item() for t in given))
        assert numbers(came) == pytest.approx([float(number) for number in said.split()], abs=6e-5)
        for number in said.split():
            assert re.search(rf"(?<![\d.]){re.escape(number)}(?!\d|\.\d)", TASKS[task_id].hints[1]), number


def test_the_examples_with_words_and_truth_values_are_right():
    counted = [["b", "a", "b"], ["c", "a"]]
    assert solution_of("01.build_vocabulary")(counted) == {"<pad>": 0, "<unk>": 1, "a": 2, "b": 3, "c": 4}
    assert "c" not in solution_of("01.build_vocabulary")(counted, 2)
    assert solution_of("03.padding_mask")(torch.tensor([2, 0]), 3).tolist() == [[X, X, N], [N, N, N]]
    weights, mask = (
        torch.tensor([[[0.5, 0.25, 0.25, 0]], [[0.25, 0.75, 0, 0]]]),
        torch.tensor([[X, X, X, X], [X, X, N, N]]),
    )
    assert solution_of("16.memories")(weights, mask, torch.tensor([[0, 2], [1, -1]])).tolist() == [[1.75, 1]]
    assert solution_of("03.causal_mask")(2).tolist() == [[X, N], [X, X]]
    weights = torch.tensor([[0.7, 0.1, 0.2], [0.1, 0.1, 0.8], [0.1, 0.8, 0.1]])
    copied = solution_of("06.copy_unknown")(["<unk>", "smadu", "kovor"], weights, ["Otto", "called", "dogs"])
    assert copied == ["Otto", "smadu", "kovor"]


def test_the_examples_of_the_tests_to_write_are_right():
    attention = solution_of("03.attention")
    query, key, value = torch.tensor([[[1.0]]]), torch.zeros(1, 2, 1), torch.tensor([[[4.0], [8.0]]])
    assert numbers(attention(query, key, value, torch.tensor([[[X, N]]]))) == [4, 1, 0]
    assert numbers(attention(query, key, value)) == [6, 0.5, 0.5]  # with and without the mask, where it is ignored
    by_states = next(wrong for _, wrong, what in WRONG if "number of states" in what)
    state, hidden = torch.ones(1, 1, 4), torch.tensor([[[2.0, 0, 4, 2]]])
    assert numbers(by_states(state, hidden)) == [8] and numbers(scaled_dot(state, hidden)) == [4]
    two = torch.randn(1, 2, 2)
    assert torch.equal(by_states(two, two), scaled_dot(two, two))


def test_the_examples_with_ids_are_right():
    assert solution_of("05.shift_right")(torch.tensor([[7, 4, 9, 2]]), 1).tolist() == [[1, 7, 4, 9]]
    row = torch.tensor([[5, 6, 7, 0, 9]])
    assert solution_of("05.reverse_source")(row, torch.tensor([[X, X, X, N, N]])).tolist() == [[7, 6, 5, 0, 9]]
    assert row.flip(1).tolist() == [[9, 0, 7, 6, 5]]


def test_the_example_of_links_is_right():
    weights = torch.tensor([[0.9, 0.1, 0.0], [0.6, 0.3, 0.1], [0.1, 0.2, 0.7]])
    assert weights.argmax(1).tolist() == [0, 0, 2]
    assert solution_of("06.alignment_error_rate")(weights, [(0, 0), (1, 1)], [(2, 2)]) == pytest.approx(0.4)


def test_the_example_of_opposite_moves_is_right():
    before, after = torch.tensor([1.0, 5.0]), torch.tensor([1.0 + 2, 5.0 - 2])
    assert before.mean() == after.mean() == 3 and torch.tensor([3.0, 5.0]).mean() == 4
    assert [float(torch.tensor([0.25, 0.75]) @ numbers) for numbers in (before, after)] == [4, 3]


def with_losses(*losses):
    """Logits of two words, in which the word 0 has these losses, and targets of zeros: B×T."""
    p = torch.tensor(losses, dtype=torch.float64).neg().exp()
    return torch.stack([p, 1 - p], -1).log(), torch.zeros(p.shape, dtype=torch.long)


def test_the_examples_of_losses_are_right():
    loss, mistakes = solution_of("05.sequence_loss"), {m.name: m.function for m in TASKS["05.sequence_loss"].mistakes}
    said = re.findall(r"\d\.\d{4}", TASKS["05.sequence_loss"].hints[1])
    logits, target = with_losses([log(2), log(4)], [log(8), 1])
    mask = torch.tensor([[X, X], [X, N]])
    rows = [loss(logits[i : i + 1], target[i : i + 1], mask[i : i + 1]) for i in range(2)]
    by_all, by_rows = (mistakes[name](logits, target, mask) for name in ("mean_over_all_places", "mean_of_sentences"))
    numbers = [log(2), log(4), log(8), log(64), loss(logits, target, mask), by_all, *rows, by_rows]
    assert said == [f"{float(number):.4f}" for number in numbers]
    logits, target = with_losses([1, 2], [6, 3])
    for mask, right, wrong in ((torch.tensor([[X, X], [X, N]]), 3, 3.75), (torch.ones(2, 2) > 0, 3, 3)):
        assert float(loss(logits, target, mask)) == pytest.approx(right)
        assert float(mistakes["mean_of_sentences"](logits, target, mask)) == pytest.approx(wrong)


def test_the_examples_of_log_probabilities_are_right():
    logits = torch.tensor([[0.5, 0.5], [0.25, 0.75]]).log()
    came, said = solution_of("07.log_probability")(logits, torch.tensor([0, 0])), TASKS["07.log_probability"].hints[1]
    assert re.findall(r"-\d\.\d{4}", said) == [f"{float(x):.4f}" for x in (came, log(0.5), log(0.25))]
    assert "0.125" in said and 0.5 * 0.25 == 0.125
    alpha = solution_of("07.tipping_alpha")
    assert [alpha(-3, 7, longer, 19) for longer in (-6, -12, -2.5)] == [1, 2, 0]


def test_the_examples_of_searches_are_right():
    greedy, beam_search = solution_of("07.greedy"), solution_of("07.beam_search")

    def step(prefix):
        return 9 * torch.nn.functional.one_hot(torch.tensor({1: 4, 4: 2, 2: 0}[prefix[-1]]), 5).float()

    assert greedy(step, 1, 0, 3) == [4, 2, 0] and greedy(step, 1, 0, 2) == [4, 2]

    def probabilities(prefix):
        return torch.tensor({2: [0.34, 0.335, 0.325], 1: [0.9, 0.06, 0.04]}.get(prefix[-1], [0.1, 0.4, 0.5])).log()

    every = beam_search(probabilities, 9, 0, 100, 2)
    scores = [float(torch.tensor(score).exp()) for ids, score in every if len(ids) == 2]
    assert scores == pytest.approx([0.36, 0.17, 0.1675, 0.1625, 0.024, 0.016])
    assert [ids for ids, _ in beam_search(probabilities, 9, 0, 2, 5)] == [[1, 0], [2, 0]]
    assert greedy(probabilities, 9, 0, 5) == [2, 0]


def test_the_examples_of_bleu_are_right():
    bleu, said = solution_of("07.bleu"), TASKS["07.bleu"].hints[1]
    for hypothesis, came in (("abcdef", 75.98), ("abcde", 81.87)):
        assert bleu([list(hypothesis)], [list("abcdeg")]) == pytest.approx(came, abs=0.005) and str(came) in said
    assert pytest.approx(0.7598, abs=5e-5) == (1 / 3) ** 0.25 and exp(1 - 6 / 5) == pytest.approx(0.8187, abs=5e-5)


def test_the_example_of_all_draws_is_right():
    p, rewards, numbers = torch.tensor([0.75, 0.25]), torch.tensor([4.0, 0.0]), (0.125, 0.375, 0.625, 0.875)
    assert p @ rewards == 3 and (p * (rewards - 3)).tolist() == [0.75, -0.75]
    plain, own_mean = [], []
    for pair in itertools.product(numbers, repeat=2):
        _, log_p = solution_of("08.hard_attention")(p.expand(2, 2), torch.zeros(2, 2, 1), torch.tensor(pair))
        first = (log_p.exp() > 0.5).float()  # 1 where the first place is picked
        earned = 4 * first
        plain.append((earned * (first - 0.75)).mean().item())
        own_mean.append(((earned - earned.mean()) * (first - 0.75)).mean().item())
    assert sorted(plain) == [0.0] + [0.5] * 6 + [1.0] * 9 and sum(plain) / 16 == 0.75
    assert sorted(own_mean) == [0.0] * 10 + [1.0] * 6 and sum(own_mean) / 16 == 0.375


def test_the_example_of_costs_is_right():
    cost, said = solution_of("09.layer_cost"), TASKS["09.layer_cost"].hints[1]
    costs = [cost(kind, 9, 2, 3, 2) for kind in ("self", "recurrent", "convolution", "restricted")]
    assert costs == [(432, 1, 1), (72, 9, 9), (108, 1, 2), (288, 1, 4)]
    assert all(str(multiplications) in said for multiplications, *_ in costs)


def test_the_example_of_a_leak_is_right():
    for rows, less_the_mean, running in (([1, 2, 6], [-2, -1, 3], [1, 1.5, 3]), ([1, 2, 9], [-3, -2, 5], [1, 1.5, 4])):
        x = torch.tensor(rows).float()
        assert (x - x.mean()).tolist() == less_the_mean and (x.cumsum(0) / torch.arange(1, 4)).tolist() == running


def test_the_example_of_an_order_is_right():
    x, order = torch.tensor([1.0, 2.0, 6.0]), [2, 0, 1]
    assert x[order].tolist() == [6, 1, 2] and (x[order] - x.mean()).tolist() == [3, -2, -1]
    running = [(rows.cumsum(0) / torch.arange(1, 4)).tolist() for rows in (x, x[order])]
    assert running == [[1, 1.5, 3], [6, 3.5, 3]] and torch.tensor(running[0])[order].tolist() == [3, 1, 1.5]


def test_the_examples_of_parts_are_right():
    parts = solution_of("10.split_heads")(torch.arange(1, 13).reshape(1, 1, 12), 2)[:, 0, :, 0]
    assert parts.tolist() == [[[1, 2], [7, 8]], [[3, 4], [9, 10]], [[5, 6], [11, 12]]]
    found, out_weight = torch.tensor([2.0, 3.0]), torch.tensor([[1.0, 10.0], [0.0, 5.0]])
    shares = solution_of("10.merge_heads")(found.view(1, 2, 1, 1), out_weight)[0, :, 0]
    assert shares.tolist() == [[2, 0], [30, 15]] and shares.sum(0).tolist() == (out_weight @ found).tolist() == [32, 15]


def test_the_example_of_two_heads_is_right():
    one, said = torch.eye(2), TASKS["10.multi_head_attention"].hints[1]
    given = [torch.tensor([rows]) for rows in ([[1.0, 1.0]], [[LN3, 0.0], [0.0, LN3]], [[4.0, 4.0], [8.0, 8.0]])]
    given += [one.repeat(3, 1), torch.zeros(6), one]
    attention, allowed = solution_of("10.multi_head_attention"), torch.ones(1, 1, 2) > 0
    for out_bias, mask, came in (([0, 0], allowed, [5, 7]), ([1, 0], None, [6, 7]), ([1, 0], ~allowed, [1, 0])):
        assert numbers(attention(*given, torch.tensor(out_bias).float(), 2, mask)) == pytest.approx(came, abs=6e-5)
        assert str(came) in said


def test_the_example_of_positions_is_right():
    said = TASKS["11.sinusoidal_positions"].hints[1]
    vector = solution_of("11.sinusoidal_positions")(torch.tensor([1.0]), 6, 12.0, 48.0)
    assert numbers(vector) == pytest.approx([0.5, 0.8660, 0.2588, 0.9659, 0.1305, 0.9914], abs=6e-5)
    assert "0.5, 0.8660, 0.2588, 0.9659, 0.1305, 0.9914" in said


def test_the_example_of_a_shift_is_right():
    said, matrix = TASKS["11.shift_matrix"].hints[1], solution_of("11.shift_matrix")(0, 2, 1, 1.0)
    assert numbers(matrix) == pytest.approx([0.5403, 0.8415, -0.8415, 0.5403], abs=6e-5) and "(−0.8415, 0.5403)" in said
    query = torch.tensor([0.8415, 0.5403]) @ matrix
    assert query.tolist() == pytest.approx([0, 1], abs=1e-4) and "position 0 is (0, 1)" in said


def test_the_example_of_a_turn_is_right():
    said, x = TASKS["11.rotate"].hints[1], torch.tensor([[[1.0, 0.0], [1.0, 0.0]]])
    for start in (1, 5):
        (first, second), come = solution_of("11.rotate")(x, start)[0], ((0.5403, 0.8415), (-0.4161, 0.9093))
        assert first @ second == pytest.approx(0.5403, abs=6e-5)
        for vector, (a, b) in zip((first, second), come, strict=True):
            assert (vector.tolist() == pytest.approx((a, b), abs=6e-5)) == (start == 1)
            assert f"({a}, {b})".replace("-", "−") in said


def test_the_example_of_blindness_is_right():
    for rows, came in (([1, 2, 6], 9), ([6, 2, 1], 9), ([2, 1, 6], 15)):
        mean = sum(rows) / 3
        assert mean == 3 and rows[0] * rows[-1] + mean == came


def test_the_example_of_three_orders_is_right():
    x, said, worked = torch.tensor([[[0.0, 2.0, 4.0]]]), TASKS["12.sublayer"].hints[1], solution_of("12.sublayer")
    assert solution_of("12.layer_norm")(x, torch.ones(3), torch.zeros(3), 1e-5).flatten().tolist() == pytest.approx(
        [-1.2247, 0, 1.2247], abs=6e-5
    )
    orders = {"pre": [-2.4495, 2, 6.4495], "post": [-1.2247, 0, 1.2247], "late": [-1.2247, 2, 5.2247]}
    for order, came in orders.items():
        assert numbers(worked(x, lambda y: 2 * y, torch.ones(3), torch.zeros(3), order)) == pytest.approx(
            came, abs=6e-5
        )
        assert str(came) in said


def constant_layer(task_id, norm_first, biases):
    """The layer of a solution whose functions give the same whatever they read."""
    layer = solution_of(task_id)(width=3, heads=1, hidden=1, norm_first=norm_first)
    for name, parameter in layer.named_parameters():
        parameter.data.zero_()
        if name in biases:
            parameter.data.copy_(torch.tensor(biases[name]))
        if name.startswith("norm") and name.endswith("weight"):
            parameter.data.fill_(1.0)
    return layer


def test_the_example_of_an_encoder_layer_is_right():
    x, said = torch.tensor([[[0.0, 2.0, 4.0]]]), TASKS["12.encoder_layer"].hints[1]
    biases = {"self_attn.out_proj.bias": [1.0, 1.0, 1.0], "linear2.bias": [0.0, 0.0, -1.2247]}
    for norm_first, came in ((False, [-1.4142, 0.7071, 0.7071]), (True, [1, 3, 3.7753])):
        y = constant_layer("12.encoder_layer", norm_first, biases)(x, torch.ones(1, 1) > 0)
        assert numbers(y) == pytest.approx(came, abs=2e-4) and str(came) in said


def test_the_example_of_a_decoder_layer_is_right():
    x, said = torch.tensor([[[0.0, 2.0, 4.0]]]), TASKS["12.decoder_layer"].hints[1]
    biases = {"self_attn.out_proj.bias": [1.0, 1.0, 1.0], "multihead_attn.out_proj.bias": [0.0, 0.0, -1.2247]}
    biases["linear2.bias"] = [0.0, -0.7071, -0.7071]
    for norm_first, came in ((False, [-1.4142, 0.7071, 0.7071]), (True, [1, 2.2929, 3.0682])):
        y = constant_layer("12.decoder_layer", norm_first, biases)(x, x, torch.ones(1, 1) > 0)
        assert numbers(y) == pytest.approx(came, abs=2e-4) and str(came) in said


def test_the_example_of_a_mean_with_padding_is_right():
    words = torch.tensor([2.0, 4.0, 0.0])
    assert words.mean() == 2 and words[:2].mean() == 3


def test_the_example_of_a_rate_is_right():
    rates = [solution_of("13.learning_rate")(step, 6, 3, 0.75) for step in range(1, 7)]
    assert rates == pytest.approx([0.25, 0.5, 0.75, 0.5625, 0.375, 0.1875])
    assert all(f"{rate:g}" in TASKS["13.learning_rate"].hints[1] for rate in rates)


def test_the_example_of_a_step_of_adam_is_right():
    one, zero = torch.ones(1), torch.zeros(1)
    came = solution_of("13.adam_step")(one, 4 * one, zero, zero, 1, 0.5, 0.5, 0.75, 1)
    assert numbers(came) == pytest.approx([0.6, 2, 4])
    assert "the new v is 0.75·0 + 0.25·16 = 4" in TASKS["13.adam_step"].hints[1] and 0.75**2 == 0.5625


def test_the_example_of_a_smoothed_target_is_right():
    logits, said = torch.tensor([[[0.5, 0.25, 0.25]]]).log(), TASKS["13.label_smoothing_loss"].hints[1]
    above = solution_of("13.label_smoothing_loss")(logits, torch.tensor([[0]]), 0.3, 2)
    loss, lowest = 0.8 * log(2) + 0.2 * log(4), -0.8 * log(0.8) - 0.2 * log(0.1)
    parts = [log(2), log(4), loss, -log(0.8), -log(0.1), lowest, float(above)]
    assert all(f"{part:.4f}" in said for part in parts) and float(above) == pytest.approx(loss - lowest, abs=1e-5)


def test_the_example_of_batches_is_right():
    assert solution_of("13.token_batches")([4, 2, 3, 2], 8) == [[1, 3], [2, 0]]
    assert "[[1, 3], [2, 0]]" in TASKS["13.token_batches"].hints[1]


def test_the_example_of_paired_differences_is_right():
    came = solution_of("13.paired_difference")({0: 80, 1: 90, 2: 70}, {2: 73, 0: 82})
    assert came == (2.5, 0) and "their mean is 2.5" in TASKS["13.paired_difference"].hints[1]


def test_the_example_of_a_cache_is_right():
    assert solution_of("13.cache_bytes")(1, 1, 6, 2, 4, 3, 4) == 336 and 36 + 48 == 84
    assert "84 numbers, or 336 bytes" in TASKS["13.cache_bytes"].hints[1]


def test_the_example_of_a_clipped_gradient_is_right():
    gradient = torch.tensor([3.0, 4.0])
    assert gradient.norm() == 5 and (gradient / 5).tolist() == pytest.approx([0.6, 0.8])
    assert gradient.clamp(-1, 1).tolist() == [1, 1] and (gradient * 10 / 5).tolist() == [6, 8]


def test_the_example_of_a_glimpse_is_right():
    glimpse, image = solution_of("14.glimpse"), torch.tensor([[[4.0, 8.0], [0.0, 2.0]]])
    assert numbers(glimpse(image, torch.tensor([[-0.5, -0.5]]), 1, 2)) == [4, 1]
    assert numbers(glimpse(image, torch.tensor([[0.5, 0.5]]), 1, 2)) == [2, 3.5]
    assert "(0 + 0 + 0 + 4) / 4 = 1" in TASKS["14.glimpse"].hints[1] and "3.5" in TASKS["14.glimpse"].hints[1]


def test_the_example_of_a_hybrid_loss_is_right():
    said = TASKS["14.hybrid_loss"].hints[1]
    log_probability, baseline = (
        torch.tensor([[-1.0, -2.0]]).requires_grad_(),
        torch.tensor([[0.5, 0.25]]).requires_grad_(),
    )
    given = torch.zeros(1, 2), torch.tensor([0]), log_probability, torch.ones(1), baseline
    loss = solution_of("14.hybrid_loss")(*given)
    loss.backward()
    assert f"{loss.item():.4f}" == "3.0994" and "= 3.0994" in said and "0.6931 + 2 + 0.4062" in said
    assert numbers(log_probability.grad) == numbers(baseline.grad) == [-0.5, -0.75]


def test_the_example_of_a_model_that_peeks_is_right():
    image, said = torch.tensor([[[3.0, 5.0, 7.0, 9.0]]]), TASKS["14.catch_peeking"].hints[1]
    location = torch.tensor([[-0.25, 0.0]])
    assert numbers(corner(location, 1, 4, 1)) == [0, 1] and numbers(corner(location, 1, 4, 2))[1] == 0
    assert image.mean() == 6 and (image.sum() - 8) / 4 == 4 and "gives 6" in said and "gives 4" in said


def test_the_example_of_words_that_point_is_right():
    weights = torch.tensor([[[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]], [[0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]])
    true, mask = torch.tensor([[0, 1], [1, 0]]), torch.tensor([[X, X], [X, N]])
    assert weights.argmax(-1)[mask].tolist() == [0, 2, 1]
    assert solution_of("15.pointing_accuracy")(weights, true, mask) == pytest.approx(2 / 3)
    wrong = {mistake.name: mistake.function for mistake in TASKS["15.pointing_accuracy"].mistakes}
    assert (
        wrong["divided_by_all_steps"](weights, true, mask) == 0.5
        and wrong["mean_of_captions"](weights, true, mask) == 0.75
    )


def test_the_example_of_a_blind_captioner_is_right():
    def blind(annotations):
        return torch.tensor(annotations[:-1]).mean()

    said = [[2.0, 4.0, 9.0], [3.0, 5.0, 10.0], [3.0, 4.0, 9.0], [2.0, 4.0, 10.0]]
    assert [float(blind(annotations)) for annotations in said] == [3, 4, 3.5, 3]


def test_the_example_of_a_memory_that_cheats_is_right():
    def cheats(question, *facts):
        return question + torch.tensor(facts[:-1]).mean()

    said = (
        (1.0, 2.0, 4.0, 9.0),
        (2.0, 2.0, 4.0, 9.0),
        (1.0, 3.0, 5.0, 10.0),
        (1.0, 3.0, 4.0, 9.0),
        (1.0, 2.0, 4.0, 10.0),
    )
    assert [float(cheats(*story)) for story in said] == [4, 5, 5, 4.5, 4]


def test_the_example_of_writes_that_look_alike_is_right():
    wrong = {mistake.name: mistake.function for mistake in TASKS["17.write"].mistakes}
    for held, weight, right, everywhere in ((4, 1, 6, 6), (4, 0.5, 5, 3), (0, 0.5, 3, 3)):
        given = [torch.tensor(n).float() for n in ([[[held]]], [[weight]], [[1]], [[6]])]
        assert solution_of("17.write")(*given) == right and wrong["erased_everywhere"](*given) == everywhere


def test_the_examples_of_experts_are_right():
    old, new = torch.tensor([[0.9, 0.1, 0.0], [1.0, 0.0, 0.0]]), torch.tensor([[0.0, 0.01, 0.99]])
    assert solution_of("18.at_risk")(old, new).tolist() == [X, N] and "True, False" in TASKS["18.at_risk"].hints[1]
    scores, offsets = torch.tensor([[0.4, 0.8, 0.6], [0.9, 0.2, 0.1]]), torch.tensor([0.0, 0.0, 0.5])
    gates, moved = solution_of("18.balance_by_offsets")(scores, offsets, 1, 0.1)
    assert gates.tolist() == [[0, 0, 1], [1, 0, 0]] and numbers(moved) == pytest.approx([-0.1, 0.1, 0.4])
    assert "-0.1, 0.1 and 0.4" in TASKS["18.balance_by_offsets"].hints[1]
    kept = solution_of("18.within_capacity")(torch.tensor([2, 0, 2, 2, 0]), 3, 2)
    assert kept.tolist() == [X, X, X, N, X]
    assert "True, True, True, False, True" in TASKS["18.within_capacity"].hints[1]


def test_the_example_of_causal_padding_is_right():
    x, kernel = torch.tensor([[[1.0, 2, 4]]]), torch.tensor([[[10.0, 1]]])
    causal, shown = (torch.conv1d(torch.nn.functional.pad(x, pad), kernel) for pad in ((1, 0), (0, 1)))
    said = TASKS["19.two_blocks"].hints[1]
    assert numbers(causal) == [1, 12, 24] and "the convolution 1, 12, 24" in said
    assert numbers(shown) == [12, 24, 40] and "gives 12, 24, 40" in said


def test_the_example_of_a_wider_kernel_is_right():
    of = solution_of("19.dilations")
    assert of(10, 3) == [1, 3, 9] and of(9, 3) == [1, 3] and "1, 3, 9" in TASKS["19.dilations"].hints[1]


def test_the_example_of_labels_by_hand_is_right():
    weights = {name: matrix.double() for name, matrix in solution_of("19.labels_by_hand")(2, 2, 3).items()}
    weights["W_k"] = weights["W_k"] / 30 * 20
    attended, answers = labels_by_hand._network(weights, torch.tensor([0, 1, 0]), torch.tensor([1, 0, 1]), 2, 2)
    assert attended[2, 1].item() == pytest.approx(1 / (1 + 2 * exp(-20))) and answers[2].argmax() == 1
    assert "1 / (1 + 2·exp(-20))" in TASKS["19.labels_by_hand"].hints[1]


def test_the_example_of_a_label_leak_is_right():
    def of_all(*labels):
        return [sum(labels) / len(labels)] * len(labels)

    def of_those_before(*labels):
        return [sum(labels[:t]) / max(t, 1) for t in range(len(labels))]

    assert of_all(0, 2, 4) == [2, 2, 2] and of_all(0, 2, 1) == [1, 1, 1]
    assert of_those_before(0, 2, 4) == of_those_before(0, 2, 1) == [0, 0, 1]
    assert of_those_before(3, 2, 4) == [0, 3, 2.5]


def test_the_example_of_a_running_mean_is_right():
    rates = solution_of("20.mean_rates")(torch.tensor([[7, 7, 7]]))[0].tolist()
    held = [0.0]
    for rate, value in zip(rates, (6, 8, 1), strict=True):
        held.append(held[-1] + rate * (value - held[-1]))
    assert held[1:] == pytest.approx([6, 7, 5])


def test_the_example_of_a_leak_with_the_right_sums_is_right():
    seen = torch.tensor([0.0, LN3]).softmax(0)
    assert seen.tolist() == pytest.approx([0.25, 0.75])
    assert [float(seen @ torch.tensor(values)) for values in ([4.0, 8.0], [4.0, 12.0])] == pytest.approx([7, 10])


def test_the_example_of_the_next_ids_loss_is_right():
    logits, said = torch.zeros(1, 3, 4), TASKS["21.next_token_loss"].hints[1]
    logits[0, 0], logits[0, 1] = torch.tensor([0.5, 0.3, 0.1, 0.1]).log(), torch.tensor([0.5, 0.25, 0.125, 0.125]).log()
    parts = [log(2), log(4), float(solution_of("21.next_token_loss")(logits, torch.tensor([[2, 0, 1]])))]
    assert all(f"{part:.4f}" in said for part in parts)


def test_the_example_of_one_pass_is_right():
    said = TASKS["21.one_pass_attention"].hints[1]
    blocks = [(torch.tensor([0.0, LN3]), torch.tensor([[4.0], [8.0]])), (torch.tensor([2 * LN3]), torch.ones(1, 1))]
    left = iter(blocks)
    assert (
        f"{solution_of('21.one_pass_attention')(lambda: next(left, None)).item():.4f}" == "2.8462"
        and "= 2.8462" in said
    )
    weights = torch.tensor([0.0, LN3, 2 * LN3]).softmax(0)
    assert all(f"{weight:.4f}" in said for weight in weights.tolist())
    assert f"{LN3:.4f}" in said and f"{2 * LN3:.4f}" in said


def test_the_example_of_a_gpt_is_right():
    said = TASKS["21.gpt"].hints[1]
    model = solution_of("21.gpt")(vocabulary=2, width=3, heads=1, hidden=1, layers=1, longest=1)
    given = {
        "embedding.weight": [[0, 1, 2], [2, 0, 0]],
        "positions.weight": [[0, 1, 2]],
        "blocks.0.attention.out_proj.bias": [1, 1, 1],
        "blocks.0.network.2.bias": [0, 0, -3],
    }
    for name, parameter in model.named_parameters():
        parameter.data.zero_()
        if name in given:
            parameter.data.copy_(torch.tensor(given[name]))
        elif "norm" in name and name.endswith("weight"):
            parameter.data.fill_(1.0)
    logits = numbers(model(torch.tensor([[0]])))
    assert logits == pytest.approx([1.2247, -2.4495], abs=2e-4) and "1.2247 and -2.4495" in said


def test_the_example_of_a_cache_that_restarts_is_right():
    ids = [3, 1, 4]

    def by_pieces(sizes):
        found, before = [], 0
        for size in sizes:
            found += [sum(ids[: before + t + 1]) + t for t in range(size)]
            before += size
        return found

    said = TASKS["21.catch_wrong_cache"].hints[1]
    assert (by_pieces([3]), by_pieces([1, 1, 1]), by_pieces([2, 1])) == ([3, 5, 10], [3, 4, 8], [3, 5, 8])
    assert all(part in said for part in ("3, 5, 10", "3, 4, 8", "3, 5, 8"))


def test_it_is_said_that_most_papers_call_the_perceptron_additive():
    hint = TASKS["04.perceptron"].hints[0]
    assert "Bahdanau et al. (2014)" in hint and 'most papers call it "additive"' in hint
