"""What the tasks ask for is what the course's models and PyTorch do, the oracles beside both; and what a lesson's page shows passes its task.

The page's own lines are read from its file and judged as an answer. A page computes for one sentence, with names of its own, or without a
mask: around its lines there is only what hands over the task's arguments.
"""

import ast
import functools
import re

import pytest
import torch
import torch.nn.functional as F
from alternative_solutions import LESSONS, exercises_of
from tasks import TASKS, solution_of
from torch import nn
from torch.func import functional_call

from course_lessons.lesson_14_glimpses.tasks import glimpse
from course_utils.checks.judge_answer import judge_answer
from course_utils.checks.running.contract import in_precision
from course_utils.data import stories
from course_utils.models import experts, glimpses, memory, snail, variants


def test_glimpse_tasks_match_the_courses_sensor_and_torch():
    checked = 0
    for case in (case for seed in range(3) for case in TASKS["14.glimpse"].make_cases(seed)):
        assert torch.allclose(TASKS["14.glimpse"].oracle_function(*case.args), glimpses.glimpse(*case.args), atol=1e-2)
        checked += 1
    for case in (case for seed in range(3) for case in TASKS["14.next_look"].make_cases(seed)):
        state, location, log_p = TASKS["14.next_look"].oracle_function(*case.args)
        *_, weight, noise, std = case.args
        drawn, mean = state @ weight.T + std * noise, state @ weight.T
        assert torch.allclose(location, drawn.clamp(-1, 1), atol=1e-6)
        assert torch.allclose(log_p, glimpses.location_log_probability(drawn, mean, std), atol=1e-4)
        checked += 1
    assert checked > 60


def test_a_look_at_a_bright_cell_begins_in_the_middle_of_it():
    checked = 0
    for location, row, column, k, side in (
        case.args for seed in range(3) for case in TASKS["14.bright_cell"].make_cases(seed)
    ):
        pixels = (location.double() + 1) / 2 * side
        if (pixels - pixels.round()).abs().max() > 1e-3 or location.abs().max() > 0.9:
            continue  # the sensor begins at the corner of a pixel, and at most at the edge of the picture
        location = location.double() + 1e-5  # not before the edge of the pixel, where numbers are rounded
        along = (2 * torch.arange(side, dtype=torch.float64) + 1) / side - 1  # the middles of the pixels
        fields = torch.stack([along.expand(side, side), along[:, None].expand(side, side)])  # of x, and of y
        seen = glimpses.glimpse(fields, location.expand(2, 2), 8, k + 1)[:, k, row, column]
        assert torch.allclose(TASKS["14.bright_cell"].oracle_function(location, row, column, k, side), seen, atol=1e-4)
        checked += 1
    assert checked > 20


def test_memories_gives_the_courses_score_with_weights_of_one():
    checked = 0
    for case in (case for seed in range(3) for case in TASKS["16.memories"].make_cases(seed)):
        weights, mask, support = case.args
        answered = memory.Answered(torch.zeros(len(mask), 2), weights * mask.sum(1)[:, None, None])
        read = stories.Stories(None, mask, None, torch.zeros(len(mask), dtype=torch.long), support)
        own = torch.tensor(memory.score(lambda *_, answered=answered: answered, read).on_facts)
        assert torch.allclose(TASKS["16.memories"].oracle_function(*case.args).to(own), own, atol=1e-4)
        checked += 1
    assert checked > 30


def test_the_hops_that_are_asked_for_are_the_courses_own():
    checked = 0
    for case in (case for seed in range(3) for case in TASKS["16.answer"].make_cases(seed)):
        question, memories, mask, readout = case.args
        for keys, values in zip(memories, memories[1:], strict=False):
            question, _ = memory.memory_hop(question, keys, values, mask)
        right = TASKS["16.answer"].oracle_function(*case.args)
        assert torch.allclose(right, question @ readout.T, rtol=1e-4, atol=1e-4)
        checked += 1
    assert checked > 30


@pytest.mark.parametrize("name", ["mixture_loss", "within_capacity"])
def test_expert_tasks_match_the_courses_functions(name):
    checked = 0
    for case in (case for seed in range(3) for case in TASKS[f"18.{name}"].make_cases(seed)):
        right, own = TASKS[f"18.{name}"].oracle_function(*case.args), getattr(experts, name)(*case.args)
        assert own.shape == right.shape and torch.allclose(own.double(), right.double(), atol=1e-4), case
        checked += 1
    assert checked > 20


def test_snail_tasks_match_the_courses_functions():
    checked = 0
    for case in (case for seed in range(3) for case in TASKS["19.two_blocks"].make_cases(seed)):
        right, own = TASKS["19.two_blocks"].oracle_function(*case.args), _by_snail(*case.args)
        assert own.shape == right.shape and torch.allclose(own.double(), right.double(), atol=1e-4), case
        checked += 1
    for steps in range(1, 200):
        assert snail.dilations(steps) == TASKS["19.dilations"].oracle_function(steps, 2)
        checked += 1
    assert checked > 230


def _by_snail(x, weight_f, weight_g, dilation, *weights):
    """What the course's own blocks do, with the weights of a task."""
    dense = snail.DenseBlock(x.shape[2], len(weight_f), dilation)
    dense.weights.data = torch.stack([weight_f, weight_g])
    dense.biases.data = torch.zeros(2, len(weight_f), dtype=x.dtype)
    attention = snail.AttentionBlock(len(weights[0]), weights[0].shape[1], weights[2].shape[1])
    for linear, weight in zip((attention.query, attention.key, attention.value), weights, strict=True):
        linear.weight.data, linear.bias.data = weight.T, torch.zeros(weight.shape[1], dtype=weight.dtype)
    return attention(dense(x))


def test_the_sparsemax_that_is_asked_for_is_the_courses():
    checked = 0
    for case in (case for seed in range(3) for case in TASKS["20.sparsemax"].make_cases(seed)):
        args = in_precision(case, torch.float64).args
        assert torch.allclose(variants.sparsemax(*args), TASKS["20.sparsemax"].oracle_function(*args), atol=1e-5), case
        checked += 1
    assert checked > 20


def test_rates_of_a_mean_make_the_delta_rule_hold_it():
    key = torch.tensor([[2, 0, 2, 2, 0]])
    value, unit = torch.tensor([[[3.0], [4.0], [5.0], [1.0], [8.0]]]), torch.eye(3)[key]
    found = solution_of("20.delta_memory")(unit, value, unit, TASKS["20.mean_rates"].oracle_function(key))
    assert torch.allclose(found.flatten(), torch.tensor([3.0, 4.0, 4.0, 3.0, 6.0]))


def test_no_relation_asks_for_patches_that_fill_all_memory():
    with pytest.raises(ValueError, match="larger than any image"):
        glimpse._places((torch.zeros(1), torch.zeros(1)), glimpse.MOST + 1)


def test_the_gated_step_that_is_asked_for_is_torchs_own():
    task, checked = TASKS["05.gru_step"], 0
    for case in (case for seed in range(5) for case in task.make_cases(seed)):
        x, state, *weights = (arg.double() for arg in case.args)
        cell = torch.nn.GRUCell(x.shape[1], state.shape[1], dtype=torch.float64)
        named = dict(zip(("weight_ih", "weight_hh", "bias_ih", "bias_hh"), weights, strict=True))
        torchs = torch.func.functional_call(cell, named, (x, state))
        assert torch.allclose(task.oracle_function(x, state, *weights), torchs, rtol=0, atol=1e-12), case.name
        checked += 1
    assert checked > 30


def test_cached_step_gives_the_last_row_of_causal_attention():
    draw, (B, T, H, d) = torch.Generator().manual_seed(0), (2, 5, 3, 4)
    shapes = ((B, T, H * d), (3 * H * d, H * d), (3 * H * d,), (H * d, H * d), (H * d,))
    x, *weights = (torch.randn(shape, generator=draw, dtype=torch.float64) for shape in shapes)
    causal = torch.ones(B, T, T, dtype=torch.bool).tril()
    whole = TASKS["10.multi_head_attention"].oracle_function(x, x, x, *weights, H, causal)
    for step in (TASKS["13.cached_step"].oracle_function, solution_of("13.cached_step")):
        keys = values = torch.zeros(B, H, 0, d, dtype=torch.float64)
        for t in range(T):
            output, keys, values = step(x[:, t : t + 1], keys, values, *weights)
            assert torch.allclose(output[:, 0], whole[:, t], rtol=0, atol=1e-12)


# The pages


@functools.cache
def page(lesson):
    """What Python reads in a lesson's page, with the text of each of its statements and expressions."""
    (file,) = LESSONS.glob(f"lesson_{lesson}_*/lesson.py")
    nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    return [(ast.unparse(node), node) for node in nodes if isinstance(node, (ast.stmt, ast.expr))]


@functools.cache
def code_of(lesson, begins, kind=ast.stmt):
    """The code of the page's first statement, or of its shortest expression, that begins so."""
    found = [(text, node) for text, node in page(lesson) if isinstance(node, kind) and text.startswith(begins)]
    text = found[0][0] if kind is ast.stmt else min((text for text, _ in found), key=len)
    return compile(text, f"<page {lesson}>", "exec" if kind is ast.stmt else "eval")


def known(**names):
    return {"torch": torch, "nn": nn, "F": F} | names


def defined(lesson, *names, **given):
    """The functions and classes of these names, as the page defines them."""
    space = known(**given)
    for name in names:
        kind = "class" if name[0].isupper() else "def"
        exec(code_of(lesson, f"{kind} {name}("), space)
    return space[names[0]] if len(names) == 1 else [space[name] for name in names]


def done(lesson, *beginnings, **given):
    """The names after the page's statements that begin so, one after the other."""
    space = known(**given)
    for begins in beginnings:
        exec(code_of(lesson, begins), space)
    return space


def value(lesson, begins, **given):
    """The value of the page's shortest expression that begins so."""
    return eval(code_of(lesson, begins, ast.expr), known(**given))


def by_loop(weights, values):
    mix = torch.zeros(values.shape[1])
    return done("00", "for w, v in zip(weights, colours", weights=weights, colours=values, mix=mix)["mix"]


def in_several_axes(weights, values):
    return done("00", "scaled = shares[:, None] * pair", shares=weights, pair=values)["scaled"].sum(0)


def summed(words, mask):
    steps = ("fetched = vectors[ids]", "keep = mask", "by_mask = (fetched")
    return done("01", *steps, vectors=words, ids=slice(None), mask=mask)["by_mask"]


def probability(sums, weight, bias):
    space = done("01", "score = by_mask @ w + b", by_mask=sums, w=weight, b=bias)
    return value("01", "torch.sigmoid(score)", **space)


def gradient(sums, labels, weight, bias):
    space = done(
        "01", "score = by_mask @ w + b", "error = (torch.sigmoid", by_mask=sums, w=weight, b=bias, labels=labels
    )
    return space["error"] @ sums, space["error"].sum()


def weights_at(scores, temperature=1.0):
    return value("02", "(z / temperature).softmax(-1)", z=scores, temperature=temperature)


def dot_scores(words, theta):
    return done("02", "scores = x @ theta", x=words, theta=theta)["scores"]


def score(name):
    """One of the scores that lesson 04's page computes for one state, as a function of whole batches."""
    (by_hand,) = (node.value for text, node in page("04") if text.startswith("return {'dot': "))
    (found,) = (v for k, v in zip(by_hand.keys, by_hand.values, strict=True) if k.value == name)
    ahead = {"from_h": "h @ U.T", "from_s": "W @ s"}  # the two lines above it
    shown = [text for text, _ in page("04")]
    assert all(any(f"{name} = {line}" in text for text in shown) for name, line in ahead.items())
    code = compile(re.sub("|".join(ahead), lambda name: f"({ahead[name[0]]})", ast.unparse(found)), "<page 04>", "eval")

    def for_all(state, hidden, *learned):
        names = dict(zip("WUv", learned, strict=False))
        sentences = zip(state, hidden, strict=True)
        return torch.stack([torch.stack([eval(code, known(s=s, h=h, **names)) for s in S]) for S, h in sentences])

    return for_all


def rnn_step(x, state, weight_x, weight_s, bias):
    def of_one(word, s):  # the page has one sentence
        weights = {"W_x": weight_x, "W_s": weight_s, "b": bias}
        return done("05", "s = torch.tanh(W_x @ x[t]", x=word[None], t=0, s=s, **weights)["s"]

    return torch.stack([of_one(*row) for row in zip(x, state, strict=True)])


def last_state(states, mask):
    space = done("05", "last = (source != PAD)", source=mask.long(), PAD=0)
    rows = done("05", "rows = torch.arange(len(source))", source=mask)["rows"]
    return value("05", "states[rows, last]", states=states, rows=rows, **space)


def sequence_loss(logits, target, mask):
    by_loops = defined("05", "loss_by_loops", PAD=-1)
    return by_loops(logits, target.masked_fill(~mask, -1)) if mask.any() else 0 * logits.sum()


def looking(weight_s, weight_h, v):
    """Lesson 06's module, with the weights of a task."""
    H = weight_s.shape[1]
    weights = {"W.weight": weight_s, "U.weight": weight_h, "v.weight": v[None]}
    return lambda *given: functional_call(defined("06", "Attention")(H), weights, given)


def bahdanau_step(state, annotations, mask, weight_s, weight_h, v):
    return looking(weight_s, weight_h, v)(state, annotations, mask)


class WithoutReadout:
    """What the decoder of lesson 06 reads, and the states that it would read out."""

    def __init__(self, attention, gru):
        self.attention, self.gru = (
            attention,
            dict(zip(("weight_ih", "weight_hh", "bias_ih", "bias_hh"), gru, strict=True)),
        )

    def embedding(self, words):
        return words

    def readout(self, state_and_context):
        return state_and_context

    def decoder(self, x, s):
        return functional_call(nn.GRUCell(x.shape[1], s.shape[1]), self.gru, (x, s))


def teacher_forced(words, state, annotations, mask, weight_s, weight_h, v, *gru):
    decoder = WithoutReadout(looking(weight_s, weight_h, v), gru)
    both, _, weights = defined("06", "LookingBack").decode(decoder, words, state, annotations, mask)
    return both[..., : state.shape[1]], weights


def reinforce_loss(log_probability, reward, baseline):
    return value(
        "08", "-((reward - baseline) * log_p_k).mean", log_p_k=log_probability, reward=reward, baseline=baseline
    )


def self_attention(x, weight_q, weight_k, weight_v, mask=None):
    layer = defined("09", "SelfAttention")(x.shape[2])
    given = {"query.weight": weight_q.T, "key.weight": weight_k.T, "value.weight": weight_v.T}
    layer.forward = lambda x: layer.weights(x, mask) @ layer.value(x)  # here without the residual connection
    return functional_call(layer, given, (x,))


def multi_head_attention(query, key, value, in_weight, in_bias, out_weight, out_bias, heads, mask=None):
    blocks = zip(("W_Q", "W_K", "W_V"), in_weight.chunk(3), in_bias.chunk(3), strict=True)
    named = [*blocks, ("W_O", out_weight, out_bias)]
    weights = {
        f"{name}.{part}": tensor for name, *both in named for part, tensor in zip(("weight", "bias"), both, strict=True)
    }
    return functional_call(defined("10", "MultiHead")(len(out_bias), heads), weights, (query, key, value, mask))[0]


def feed_forward(x, weight_1, bias_1, weight_2, bias_2):
    weights = {"W_1.weight": weight_1, "W_1.bias": bias_1, "W_2.weight": weight_2, "W_2.bias": bias_2}
    return functional_call(defined("12", "FeedForward")(x.shape[2], len(bias_1)), weights, (x,))


def patches(image, location, size, scales):
    corner = defined("14", "corner")
    glimpse = defined("14", "glimpse", corner=corner)
    return torch.stack([glimpse(*each, size, scales) for each in zip(image, location, strict=True)])


def first_look(annotations, weights):
    look = defined("15", "Look")(annotations.shape[2], len(weights["first"]), len(weights["v"]))
    zeros = {name: torch.zeros_like(tensor) for name, tensor in look.named_parameters() if name.endswith("bias")}
    state = torch.tanh(annotations.mean(1) @ weights["first"].T)
    named = {"query.weight": weights["query"], "v.weight": weights["v"][None], "gate.weight": weights["gate"][None]}
    return functional_call(look, named | zeros, (annotations, annotations @ weights["key"].T, state))[0]


def two_blocks(x, weight_f, weight_g, dilation, weight_q, weight_k, weight_v):
    _, dense, attention = defined("19", "move_later", "DenseBlock", "AttentionBlock")
    side_by_side = {
        name: weight.mT.flatten(1) if weight.dim() == 2 else torch.cat([weight[..., 0], weight[..., 1]], 1)
        for name, weight in (("f.weight", weight_f), ("g.weight", weight_g))
    }
    zeros = {f"{name}.bias": torch.zeros(len(weight_f)) for name in "fg"}
    y = functional_call(dense(x.shape[2], len(weight_f), dilation), side_by_side | zeros, (x,))
    named = dict(zip(("query", "key", "value"), (weight_q, weight_k, weight_v), strict=True))
    weights = {f"{name}.weight": weight.T for name, weight in named.items()}
    weights |= {f"{name}.bias": torch.zeros(weight.shape[1]) for name, weight in named.items()}
    return functional_call(attention(y.shape[2], weight_q.shape[1], weight_v.shape[1]), weights, (y,))


ANSWERS = [
    ("00.weighted_sum", by_loop),
    ("00.weighted_sum", in_several_axes),
    ("01.sum_vectors", summed),
    ("01.sentiment", probability),
    ("01.sentiment_gradient", gradient),
    ("02.softmax", weights_at),
    ("02.dot_scores", dot_scores),
    ("04.dot", score("dot")),
    ("04.content_based", score("content_based")),
    ("04.perceptron", score("perceptron")),
    ("05.rnn_step", rnn_step),
    ("05.last_state", last_state),
    ("05.sequence_loss", sequence_loss),
    ("06.bahdanau_step", bahdanau_step),
    ("06.teacher_forced", teacher_forced),
    ("08.reinforce_loss", reinforce_loss),
    ("09.self_attention", self_attention),
    ("10.multi_head_attention", multi_head_attention),
    ("12.feed_forward", feed_forward),
    ("14.glimpse", patches),
    ("15.first_look", first_look),
    ("17.write", defined("17", "write")),
    ("19.two_blocks", two_blocks),
]


MORE_IS_ASKED = {  # where a prompt wants more than its page shows: its own words
    "04.content_based": "A zero vector has no direction, so its score is 0, not NaN.",
    "08.reinforce_loss": "**gradients reach `log_probability` alone**",
    "09.self_attention": "A word that may attend to nothing has a context of **zeros**",
}
OTHERWISE = {  # what is on a page under the name of a task, and is no answer to it
    "00.weighted_sum": "the page shows two wrong ones, and what is said of them",
    "03.attention": "on the page for one sentence, and its mask in another function",
    "03.influence": "on the page for attention under a mask, of one sentence",
    "06.alignment_error_rate": "on the page with one kind of link; the task tells sure from possible ones",
    "07.beam_search": "the prompt says what the page's search loses",
    "08.local_weights": "on the page for one sentence, without padding",
    "11.sinusoidal_positions": "on the page with the paper's wavelengths; the task has others",
    "12.encoder_layer": "on the page pre-norm alone; the task's has the names of PyTorch's",
    "12.decoder_layer": "likewise",
    "12.sublayer": "on the page in one of three orders",
    "21.gpt": "on the page with other positions and another network",
    "21.nucleus": "on the page from probabilities instead of logits",
    "22.swiglu": "on the page as a module that holds its weights",
    "22.unpack": "on the page from the bytes of a block",
}


@pytest.mark.parametrize(("task_id", "answer"), ANSWERS, ids=lambda each: each if isinstance(each, str) else "")
def test_code_shown_on_a_page_passes_its_task(task_id, answer):
    report = judge_answer(TASKS[task_id], answer, seconds=60)
    if task_id in MORE_IS_ASKED:
        prompts = " ".join(exercises_of(task_id[:2]).replace("\n#", "").split())
        assert MORE_IS_ASKED[task_id] in prompts and (report.only_edges or report.values_right), str(report)
    else:
        assert report.state == "passed", str(report)


def test_page_definitions_with_the_name_of_a_task_are_judged():
    judged = {task_id for task_id, _ in ANSWERS} | OTHERWISE.keys()
    for task in TASKS.values():
        names = {
            node.name.lower() for _, node in page(task.id[:2]) if isinstance(node, (ast.FunctionDef, ast.ClassDef))
        }
        assert task.id in judged or task.answer_name.lower() not in names, task.id


def test_large_numbers_cost_points_only_where_prompts_name_them():
    for task in TASKS.values():
        prompt = re.search(rf"^# ## {task.id}$.*?^# %%$", exercises_of(task.id[:2]), re.MULTILINE | re.DOTALL)[0]
        costly = [case.name for case in task.make_cases(0) if case.edge and not case.hazard]
        large = [name for name in costly if re.search(r"±|near -?1,000|10,000|far apart|numbers near", name)]
        assert not large or re.search(r"±\d|\\pm|up to 10,000", prompt), (task.id, large)
