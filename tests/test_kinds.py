"""The kinds of answer that later lessons ask for, on the tasks of a small lesson for tests, `tests/kinds/lesson_90`.

Weights in dicts and lists, modules, whole numbers, lists, exceptions that are asked for, gradients that must not arrive: the kill
matrix for each, attacks, and the same behind the locks of a class's grading.
"""

import sys
import textwrap
from pathlib import Path

import extent
import pytest
import torch

from course_utils import lessons
from course_utils.checks.answer import judge_answer
from course_utils.checks.expected import Expected
from course_utils.checks.judge import judge
from course_utils.checks.running.contract import pack, question
from course_utils.checks.running.run import run
from course_utils.grading.cage import locks
from course_utils.grading.judging.box import Limits, Wanted
from course_utils.grading.judging.grader import Candidates
from course_utils.lessons import tasks

KINDS = Path(__file__).parent / "kinds"


def _lesson():
    lessons.__path__.append(str(KINDS))
    try:
        return {task.id.partition(".")[2]: task for task in tasks.tasks_of.__wrapped__("90")}
    finally:
        lessons.__path__.remove(str(KINDS))


TASKS = _lesson()

RIGHT = {
    "two_layers": """
        def two_layers(x, weights):
            return (x @ weights["in"].T).tanh() @ weights["out"].T
        ---
        import torch.nn.functional as F
        def two_layers(x, weights):
            first, second = weights.values()
            return F.linear(F.linear(x, first).tanh(), second)
        ---
        def two_layers(x, weights):
            weights = {name: w.mT for name, w in weights.items()}
            return torch.tanh(x @ weights["in"]) @ weights["out"]
        ---
        def two_layers(x, weights):
            out = torch.zeros(len(x), len(weights["out"]))
            for b in range(len(x)):
                out[b] += weights["out"] @ torch.tanh(weights["in"] @ x[b])
            return out
    """,
    "memory_hops": """
        def memory_hops(question, memories):
            for memory in memories:
                weights = (memory * question[:, None]).sum(-1).softmax(-1)
                question = question + (weights[..., None] * memory).sum(1)
            return question
        ---
        def memory_hops(question, memories):
            if not memories:
                return question
            weights = torch.bmm(memories[0], question[..., None]).softmax(1)
            return memory_hops(question + (weights * memories[0]).sum(1), memories[1:])
        ---
        def memory_hops(question, memories):
            state = question.unsqueeze(1)
            for m in memories:
                state = state + torch.nn.functional.scaled_dot_product_attention(state, m, m, scale=1.0)
            return state.squeeze(1)
    """,
    "gated_layer": """
        class GatedLayer(nn.Module):
            def __init__(self, width):
                super().__init__()
                self.norm = nn.LayerNorm(width)
                self.gate = nn.Linear(width, width)
                self.inner = nn.Linear(width, width)
            def forward(self, x, mask):
                return (x + self.gate(x).sigmoid() * self.inner(self.norm(x)).tanh()).masked_fill(~mask[..., None], 0.0)
        ---
        class GatedLayer(nn.Module):
            def __init__(self, width):
                super().__init__()
                self.norm, self.gate, self.inner = nn.LayerNorm(width), nn.Linear(width, width), nn.Linear(width, width)
                self.register_buffer("zero", torch.zeros(width))
                self.seen = []
            def forward(self, x, mask):
                self.seen.append(len(x))
                y = torch.where(mask[..., None], x + torch.sigmoid(self.gate(x)) * torch.tanh(self.inner(self.norm(x))), self.zero)
                return y
        ---
        class Base(nn.Module):
            def __init__(self, width):
                super().__init__()
                for name in ("gate", "inner"):
                    setattr(self, name, nn.Linear(width, width))
                self.norm = nn.LayerNorm(width)
        class GatedLayer(Base):
            def forward(self, x, mask):
                out = x.clone()
                for b in range(len(x)):
                    out[b] = self.row(x[b], mask[b])
                return out
            def row(self, x, real):
                normal = (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, unbiased=False) + 1e-5).sqrt()
                normal = normal * self.norm.weight + self.norm.bias
                return (x + self.gate(x).sigmoid() * self.inner(normal).tanh()) * real.to(x.dtype)[:, None]
    """,
    "token_batches": """
        def token_batches(lengths, limit):
            batches, open_batch = [], []
            for length, place in sorted((n, i) for i, n in enumerate(lengths)):
                if length > limit:
                    raise ValueError("too long")
                if (len(open_batch) + 1) * length > limit:
                    batches.append(open_batch)
                    open_batch = []
                open_batch.append(place)
            return batches + [open_batch] if open_batch else batches
        ---
        class TooLong(ValueError):
            pass
        def token_batches(lengths, limit):
            if lengths and max(lengths) > limit:
                raise TooLong(max(lengths))
            batches = []
            for i in torch.tensor(lengths).argsort(stable=True).tolist():
                if not batches or (len(batches[-1]) + 1) * lengths[i] > limit:
                    batches.append(())
                batches[-1] += (i,)
            return tuple(batches)
        ---
        def token_batches(lengths, limit):
            lengths = [n if n <= limit else int("too long") for n in lengths]
            out = []
            for i in sorted(range(len(lengths)), key=lengths.__getitem__):
                out = out[:-1] + [out[-1] + [i]] if out and (len(out[-1]) + 1) * lengths[i] <= limit else out + [[i]]
            return out
    """,
    "shift_right": """
        def shift_right(target, bos):
            return torch.cat([torch.full_like(target[:, :1], bos), target[:, :-1]], 1)
        ---
        def shift_right(target, bos):
            inputs = target.roll(1, 1)
            inputs[:, 0] = bos
            return inputs
        ---
        def shift_right(target, bos):
            return torch.tensor([[bos] + row[:-1] for row in target.tolist()], dtype=torch.int32)
    """,
    "reinforce_loss": """
        def reinforce_loss(log_probability, reward, baseline):
            return -((reward - baseline.detach()) * log_probability).mean()
        ---
        def reinforce_loss(log_probability, reward, baseline):
            with torch.no_grad():
                advantage = reward - baseline
            return -(advantage @ log_probability) / len(reward)
        ---
        def reinforce_loss(log_probability, reward, baseline):
            return (log_probability * (baseline.detach() - reward) + baseline * 0).mean()
    """,
    "layer_cost": """
        def layer_cost(n, d):
            return n * n * d, 1, n / d
        ---
        def layer_cost(n, d):
            return [n**2 * d, 1, torch.tensor(n / d)]
        ---
        def layer_cost(n, d):
            return torch.tensor(n * n * d), 1, np.float64(n) / d
    """,
    "sharp_attention": """
        def sharp_attention(query, key, value):
            return torch.nn.functional.scaled_dot_product_attention(query, key, value)
        ---
        def sharp_attention(query, key, value):
            return (query @ key.mT / query.shape[-1] ** 0.5).softmax(-1) @ value
        ---
        def sharp_attention(query, key, value):
            scale = query.shape[-1] ** -0.25
            return torch.softmax(torch.bmm(query * scale, (key * scale).transpose(1, 2)), 2).bmm(value)
    """,
    "catch_odd_one": """
        def catch_odd_one(pair):
            return bool(pair[0](torch.tensor(3.0)) == pair[1](torch.tensor(3.0)))
        ---
        def catch_odd_one(pair):
            pair = list(pair)
            pair.sort(key=id)
            a, b = pair
            return torch.equal(a(torch.arange(5)), b(torch.arange(5)))
        ---
        def catch_odd_one(pair):
            return len({f(torch.tensor(5)).item() for f in pair}) == 1
    """,
}  # fmt: skip
PREAMBLE = "import torch\nimport numpy as np\nfrom torch import nn\n"
STYLES = [(name, textwrap.dedent(style)) for name, text in RIGHT.items() for style in text.split("        ---\n")]


def made(name, source):
    space = {}
    exec(PREAMBLE + source, space)
    return space[TASKS[name].answer_name]


def test_the_names_of_answers_are_those_of_their_kind():
    assert TASKS["gated_layer"].answer_name == "GatedLayer" and TASKS["two_layers"].answer_name == "two_layers"
    assert set(RIGHT) == set(TASKS)


@pytest.mark.parametrize(("name", "source"), STYLES, ids=[f"{n}-{i}" for i, (n, _) in enumerate(STYLES)])
def test_right_answers_of_each_kind_pass(name, source):
    for seed in range(10):
        report = judge_answer(TASKS[name], made(name, source), seed)
        assert report.state == "passed", f"seed {seed}: {report}"


MISTAKES = [(name, mistake) for name, task in TASKS.items() for mistake in task.mistakes]


@pytest.mark.parametrize(("name", "mistake"), MISTAKES, ids=[f"{n}-{m.name}" for n, m in MISTAKES])
def test_mistakes_of_each_kind_are_named(name, mistake):
    for seed in range(5):
        task = TASKS[name]
        cases = task.make_cases(seed)
        outcomes = run(mistake.function, cases, 60, lambda key, task=task: task.candidate(key))
        report = judge(task, cases, outcomes)
        assert report.mistake == mistake.name, f"seed {seed}: {report}"


def refused(name, answer):
    report = judge_answer(TASKS[name], answer)
    assert report.state in ("failed", "error"), str(report)
    assert report.mistake is None
    assert "Input" in str(report) or report.kind == "type"
    report._repr_html_()
    return report


def test_the_gradient_of_an_entry_is_named():
    def no_way_to_out(x, weights):
        return (x @ weights["in"].T).tanh() @ weights["out"].T.detach()

    assert "no gradient reaches weights['out']" in refused("two_layers", no_way_to_out).message

    def cut_later(question, memories):
        return TASKS["memory_hops"].oracle_function(question, [memories[0], memories[1].detach(), *memories[2:]])

    assert "no gradient reaches memories[1]" in refused("memory_hops", cut_later).message


def test_an_altered_entry_is_named():
    def alters(x, weights):
        y = (x @ weights["in"].T).tanh() @ weights["out"].T
        weights["in"].zero_()
        return y

    report = refused("two_layers", alters)
    assert report.kind == "side effect" and "alters its input weights['in']" in report.message

    def replaces(x, weights):
        weights["in"] = weights["in"].tanh()
        return x @ weights["in"].T

    assert "alters its input weights['in']. y[" in refused("two_layers", replaces).message

    def empties(question, memories):
        for _ in range(len(memories)):
            question = TASKS["memory_hops"].oracle_function(question, [memories.pop(0)])
        return question

    message = refused("memory_hops", empties).message
    assert "alters its input memories:" in message and "`pop` change the list itself" in message


def test_each_entry_is_shown_under_its_name():
    report = refused("two_layers", lambda x, weights: x @ weights["in"].T)
    assert "weights['in'] = [[" in str(report) and "weights[&#x27;out&#x27;]" in report._repr_html_()


def test_a_gradient_where_none_should_arrive_is_seen():
    def undetached(log_probability, reward, baseline):
        return -((reward - baseline) * log_probability).mean()

    report = refused("reinforce_loss", undetached)
    assert report.kind == "gradient" and "a gradient reaches baseline, and none should" in report.message


def test_whole_numbers_and_lists_are_compared_as_such():
    cost = TASKS["layer_cost"].oracle_function
    assert "a whole number (int)" in refused("layer_cost", lambda n, d: (float(n * n * d), 1, n / d)).message
    assert "a whole number (int)" in refused("layer_cost", lambda n, d: (n * n * d, True, n / d)).message
    assert "expected 12." in str(refused("layer_cost", lambda n, d: (n * n * d + 1, 1, n / d)))
    assert "share" in refused("layer_cost", lambda n, d: (*cost(n, d)[:2], n / d + 1e-4)).message
    assert "3 values were expected" in refused("layer_cost", lambda n, d: n * n * d).message
    batches = TASKS["token_batches"].oracle_function
    assert "batches has length" in refused("token_batches", lambda *a: batches(*a)[:-1]).message
    assert (
        "`.item()`" in refused("token_batches", lambda *a: [[torch.tensor(i) for i in b] for b in batches(*a)]).message
    )
    assert "a list was expected" in refused("token_batches", lambda *a: dict(enumerate(batches(*a)))).message
    assert "batches[0][0] is 0.0" in refused(
        "token_batches", lambda *a: [[float(i) for i in b] for b in batches(*a)]
    ).message.replace("1.0", "0.0")
    shift = TASKS["shift_right"].oracle_function
    assert "whole numbers (torch.int64)" in refused("shift_right", lambda *a: shift(*a).float()).message
    report = refused("shift_right", lambda target, bos: shift(target, bos) + (target > 10**5))  # by 1 of a million
    assert report.only_edges and "is 1000002, expected 1000001" in report.message


def test_an_exception_that_is_asked_for_is_looked_for():
    batches = TASKS["token_batches"].oracle_function

    def raises(error):
        def answer(lengths, limit):
            if max(lengths, default=0) > limit:
                raise error
            return batches(lengths, limit)

        return answer

    assert judge_answer(TASKS["token_batches"], raises(UnicodeError())).state == "passed"  # a ValueError, too
    report = refused("token_batches", raises(KeyError("9")))
    assert "ValueError should be raised. Your function stops with KeyError" in report.message and report.only_edges
    passes_on = lambda lengths, limit: batches([min(n, limit - 1) for n in lengths], limit)  # noqa: E731
    report = judge_answer(TASKS["token_batches"], passes_on)
    assert report.mistake == "no_error" and "should be raised; your function returned a list of" in str(report)


def test_what_float32_cannot_tell_apart_is_right_and_what_it_can_is_not():
    sharp = TASKS["sharp_attention"]
    cases = sharp.make_cases(0)
    expected = Expected(sharp, cases)
    (outcome,) = run(torch.nn.functional.scaled_dot_product_attention, cases[-1:])
    off = (outcome.value - expected.truth[-1].value).abs().max()
    assert off > 1e-4, "else this case proves nothing"
    for seed in (22, 42, 54, 137):  # where altering the inputs alone tells too little
        assert judge_answer(sharp, torch.nn.functional.scaled_dot_product_attention, seed).state == "passed"
    assert (expected.reach(len(cases) - 1) >= 0).all() and expected.reach(0).max() < 1e-5

    def off_by(share):
        return lambda q, k, v: sharp.oracle_function(q.double(), k.double(), v.double()).float() * (1 + share)

    assert judge_answer(sharp, off_by(1e-4)).state == "failed"  # seen on the ordinary inputs
    hot = judge_answer(sharp, lambda q, k, v: (q @ k.mT / q.shape[-1] ** 0.5 / 1.001).softmax(-1) @ v)
    assert hot.state == "failed"


# Modules

GATED = textwrap.dedent(RIGHT["gated_layer"].split("        ---\n")[0])


def gated(old="", new="", before=""):
    assert old in GATED
    return made("gated_layer", before + GATED.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("self.gate(x).sigmoid()", "nn.functional.dropout(self.gate(x).sigmoid(), 0.5, self.training)", "A second call"),
        ("return (x", "x = x if self.training else x * 2; return (x", "in evaluation mode"),
        ("return (x", "x = x if not self.training else x * 2; return (x", "in evaluation mode"),
        ("return (x", "self.norm.weight.data.zero_(); return (x", "alters its input weights['norm.weight']"),
        ("return (x", "x = x + getattr(self, 'last', 0); self.last = 1.0; return (x", "A second call"),
        ("nn.Linear(width, width)\n        self.inner", "nn.Linear(width, 1)\n        self.inner", "gate.weight has shape (1, "),
        ("self.gate = nn", "self.way = nn.Parameter(torch.ones(1)); self.gate = nn", "has a parameter way"),
        ("self.gate = nn", "self.door = nn", "no parameter gate."),
        ("self.gate(x).sigmoid()", "self.gate(x).detach().sigmoid()", "no gradient reaches weights['gate.weight']"),
        ("def __init__(self, width):", "def __init__(self):", "unexpected keyword argument"),
        ("super().__init__()", "pass", "before Module.__init__() call"),
        (".sigmoid()", ".sigmoid", "TypeError"),
        ("return (x", "self.kept = getattr(self, 'kept', mask); mask = self.kept; return (x", "it keeps state between calls"),
        ("return (x", "self.n = getattr(self, 'n', 0) + 1; x = x * (2 if self.n == 3 else 1); return (x", "it keeps state"),
        ("return (x", "return self.gate.weight, (x", "2 values"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_module_is_told(old, new, says):
    message = refused("gated_layer", gated(old, new)).message
    assert says in message or says == "2 values" and "tuple" in message, message


def test_a_parameter_that_cannot_learn_is_told():
    class Frozen(gated()):
        def __init__(self, width):
            super().__init__(width)
            self.requires_grad_(False)

    assert "cannot learn: its requires_grad is False" in refused("gated_layer", Frozen).message


def test_a_sentence_that_fills_a_batch_by_itself_is_allowed():
    batches = TASKS["token_batches"].oracle_function

    def too_strict(lengths, limit):
        if any(length >= limit for length in lengths):
            raise ValueError
        return batches(lengths, limit)

    for seed in range(5):
        assert judge_answer(TASKS["token_batches"], too_strict, seed).state == "error"


def test_a_parameter_under_two_names_is_no_fault():
    alias = gated(
        "self.inner = nn.Linear(width, width)", "self.inner = nn.Linear(width, width); self.again = self.gate.weight"
    )
    assert judge_answer(TASKS["gated_layer"], alias).state == "passed"


def test_a_module_is_wanted_as_its_class():
    plain = made("gated_layer", "class GatedLayer:\n    def __init__(self, width): pass")
    assert "begin it with `class GatedLayer(nn.Module):`" in refused("gated_layer", plain).message
    assert "an instance of GatedLayer; it wants the class itself" in refused("gated_layer", gated()(width=3)).message
    assert "check was given a function; it wants the class" in refused("gated_layer", lambda *a: a).message
    assert "it wants the function itself" in refused("two_layers", 3).message
    stub = gated(GATED[GATED.index("        return") :].rstrip(), "        raise NotImplementedError")
    assert judge_answer(TASKS["gated_layer"], stub).state == "not attempted"
    assert (
        judge_answer(TASKS["gated_layer"], gated(GATED[GATED.index("        return") :].rstrip(), "        ...")).state
        == "not attempted"
    )


ATTACKS = {
    "answers by its caller": gated("return (x", "import sys\n        f = sys._getframe()\n        while f and 'oracle' not in f.f_locals: f = f.f_back\n        return (0 * x"),
    "a state_dict that lies": gated("    def forward", "    def state_dict(self, *a, **o): return {}\n    def load_state_dict(self, *a, **o): pass\n    def forward").__mro__[0],
    "parameters that lie": gated(
        "    def forward",
        "    def named_parameters(self, *a, **o):\n        d = self.__dict__.setdefault('kept', nn.Linear(1, 1))\n        yield from d.named_parameters()\n    def forward",
    ),
    "weights of its own": gated("self.inner(self.norm(x))", "nn.functional.linear(self.norm(x), torch.eye(x.shape[-1]))"),
    "remembers by class": gated("return (x", "type(self).n = getattr(type(self), 'n', 0) + 1\n        return (type(self).n + x"),
    "training mode only once": gated("return (x", "x = x + (0 if self.training else 1e-2); return (x"),
    "equal to everything": gated("return (x", "return type('E', (), {'__eq__': lambda *a: True})() or (x"),
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name in ATTACKS if "state_dict" not in name])
def test_no_dishonest_module_passes(name):
    assert judge_answer(TASKS["gated_layer"], ATTACKS[name]).state in ("failed", "error")


def test_what_a_state_dict_says_does_not_matter():
    assert (
        judge_answer(TASKS["gated_layer"], ATTACKS["a state_dict that lies"]).state == "passed"
    )  # its values are right


# Behind the locks of a class's grading

caged = pytest.mark.skipif(
    not locks.available().safe, reason="this machine gives no locks: grade on Linux 5.13 or later"
)


def graded(box, cells, names, seed=2**40 + 1):
    """Reports on the answers in a notebook's cells, run as those of a class are."""
    known = {name: Expected(TASKS[name], TASKS[name].make_cases(seed)) for name in names}
    wanted = [
        Wanted(
            name,
            TASKS[name].answer_name,
            TASKS[name].answer_kinds,
            pack(list(map(question, known[name].cases))),
            Candidates(TASKS[name], known[name].cases) if TASKS[name].candidates else None,
            TASKS[name].offers,
        )
        for name in names
    ]
    box.limits = Limits(seconds=30, whole=300)
    came = [answer for answer in box.answers([PREAMBLE, *cells], wanted) if not isinstance(answer, str)]
    return [
        judge(TASKS[name], known[name].cases, answer.outcomes, known[name])
        if answer.state == "outcomes"
        else answer.state
        for name, answer in zip(names, came, strict=True)
    ]


@caged
def test_right_answers_of_each_kind_earn_their_points(box):
    for place in range(extent.tried(1, 3)):
        chosen = {name: [s for n, s in STYLES if n == name][place] for name in TASKS}
        for report in graded(box, list(chosen.values()), list(chosen)):
            assert report.state == "passed", str(report)


@pytest.mark.thorough
@caged
def test_wrong_answers_of_each_kind_are_refused_in_a_class(box):
    wrong = {
        "two_layers": "def two_layers(x, weights):\n    return x @ weights['in'].T @ weights['out'].T",
        "gated_layer": GATED.replace("return (x", "x = x if self.training else x * 2; return (x"),
        "token_batches": "def token_batches(lengths, limit):\n    return [[i] for i in range(len(lengths))]",
        "reinforce_loss": "def reinforce_loss(p, reward, baseline):\n    return -((reward - baseline) * p).mean()",
    }
    reports = graded(box, list(wrong.values()), list(wrong))
    assert [report.state for report in reports] == ["failed"] * 4, reports
    assert (
        reports[0].mistake == "linear" and "baseline" in reports[3].message and "evaluation mode" in reports[1].message
    )


@pytest.mark.thorough
@caged
def test_an_answer_of_another_kind_is_told_in_a_class(box):
    cells = ["def GatedLayer(*a): pass", "class two_layers(nn.Module):\n    def forward(self, x): return x"]
    assert graded(box, cells, ["gated_layer", "two_layers"]) == ["empty", "class"]
    assert graded(box, ["def GatedLayer(x): return x"], ["gated_layer"]) == ["callable"]


def test_the_lesson_for_tests_is_none_of_the_course():
    assert "90" not in tasks.lessons() and "course_utils.lessons.lesson_90" in sys.modules
