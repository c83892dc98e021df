"""The kinds of answer that later lessons ask for, on the tasks of a small lesson for tests, `tests/kinds/lesson_90_kinds`.

Weights in dicts and lists, modules, whole numbers, lists, exceptions that are asked for, gradients that must not arrive: the kill
matrix for each, attacks, and the same behind the locks of a class's grading.
"""

import sys
import textwrap
from pathlib import Path

import pytest
import torch

import course_lessons
from course_utils.checks import catalogue
from course_utils.checks.expected import Expected
from course_utils.checks.judge import judge
from course_utils.checks.judge_answer import judge_answer
from course_utils.checks.running.contract import pack, without_labels
from course_utils.checks.running.run import run
from course_utils.grading.judging.budget import Limits
from course_utils.grading.judging.notebook_grader import Candidates
from course_utils.grading.judging.notebook_run import AnswerRequest
from course_utils.grading.sandbox import policy

KINDS = Path(__file__).parent / "kinds"


def _lesson():
    course_lessons.__path__.append(str(KINDS))
    try:
        return {task.id.partition(".")[2]: task for task in catalogue.tasks_of.__wrapped__("90")}
    finally:
        course_lessons.__path__.remove(str(KINDS))


TASKS = _lesson()

CORRECT = {
    "two_layers": """
        def two_layers(x, weights):
            return (x @ weights["in"].T).tanh() @ weights["out"].T
    """,
    "memory_hops": """
        def memory_hops(question, memories):
            for memory in memories:
                weights = (memory * question[:, None]).sum(-1).softmax(-1)
                question = question + (weights[..., None] * memory).sum(1)
            return question
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
    """,
    "token_batches": """
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
    """,
    "shift_right": """
        def shift_right(target, bos):
            return torch.cat([torch.full_like(target[:, :1], bos), target[:, :-1]], 1)
        ---
        def shift_right(target, bos):
            return torch.tensor([[bos] + row[:-1] for row in target.tolist()], dtype=torch.int32)
    """,
    "reinforce_loss": """
        def reinforce_loss(log_probability, reward, baseline):
            with torch.no_grad():
                advantage = reward - baseline
            return -(advantage @ log_probability) / len(reward)
    """,
    "layer_cost": """
        def layer_cost(n, d):
            return n * n * d, 1, n / d
        ---
        def layer_cost(n, d):
            return torch.tensor(n * n * d), 1, np.float64(n) / d
    """,
    "sharp_attention": """
        def sharp_attention(query, key, value):
            return torch.nn.functional.scaled_dot_product_attention(query, key, value)
    """,
    "catch_odd_one": """
        def catch_odd_one(pair):
            pair = list(pair)
            pair.sort(key=id)
            a, b = pair
            return torch.equal(a(torch.arange(5)), b(torch.arange(5)))
    """,
}  # fmt: skip
PREAMBLE = "import torch\nimport numpy as np\nfrom torch import nn\n"
STYLES = [(name, textwrap.dedent(style)) for name, text in CORRECT.items() for style in text.split("        ---\n")]


def made(name, source):
    space = {}
    exec(PREAMBLE + source, space)
    return space[TASKS[name].answer_name]


def test_the_names_of_answers_are_those_of_their_kind():
    assert TASKS["gated_layer"].answer_name == "GatedLayer" and TASKS["two_layers"].answer_name == "two_layers"
    assert set(CORRECT) == set(TASKS)


@pytest.mark.parametrize(("name", "source"), STYLES, ids=[f"{n}-{i}" for i, (n, _) in enumerate(STYLES)])
def test_right_answers_of_each_kind_pass(name, source):
    for seed in range(3):
        report = judge_answer(TASKS[name], made(name, source), seed)
        assert report.state == "passed", f"seed {seed}: {report}"


MISTAKES = [(name, mistake) for name, task in TASKS.items() for mistake in task.mistakes]


@pytest.mark.parametrize(("name", "mistake"), MISTAKES, ids=[f"{n}-{m.name}" for n, m in MISTAKES])
def test_mistakes_of_each_kind_are_named(name, mistake):
    for seed in range(2):
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


def oracle(name):
    return TASKS[name].oracle_function


def altering(x, weights):
    y = oracle("two_layers")(x, weights)
    weights["in"].zero_()
    return y


def replacing(x, weights):
    weights["in"] = weights["in"].tanh()
    return x @ weights["in"].T


def emptying(question, memories):
    for _ in range(len(memories)):
        question = oracle("memory_hops")(question, [memories.pop(0)])
    return question


def cutting_later(question, memories):
    return oracle("memory_hops")(question, [memories[0], memories[1].detach(), *memories[2:]])


def batches(change):
    return lambda *given: change(oracle("token_batches")(*given))


@pytest.mark.parametrize(
    ("name", "answer", "says"),
    [
        ("two_layers", lambda x, w: (x @ w["in"].T).tanh() @ w["out"].T.detach(), "no gradient reaches weights['out']"),
        ("memory_hops", cutting_later, "no gradient reaches memories[1]"),
        ("reinforce_loss", lambda p, reward, baseline: -((reward - baseline) * p).mean(), "a gradient reaches baseline, and none should"),
        ("two_layers", altering, "alters its input weights['in']"),
        ("two_layers", replacing, "alters its input weights['in']. y["),
        ("memory_hops", emptying, "alters its input memories:"),
        ("memory_hops", emptying, "`pop` change the list itself"),
        ("two_layers", lambda x, w: x @ w["in"].T, "weights['in'] = [["),
        ("layer_cost", lambda n, d: (float(n * n * d), 1, n / d), "a whole number (int)"),
        ("layer_cost", lambda n, d: (n * n * d, True, n / d), "a whole number (int)"),
        ("layer_cost", lambda n, d: (n * n * d + 1, 1, n / d), "expected 12."),
        ("layer_cost", lambda n, d: (n * n * d, 1, n / d + 1e-4), "share"),
        ("layer_cost", lambda n, d: n * n * d, "3 values were expected"),
        ("layer_cost", lambda n, d: (n * n * d,), "Your function returned 1 value; 3 values were expected"),
        ("token_batches", batches(lambda found: found[:-1]), "batches has length"),
        ("token_batches", batches(lambda found: [[torch.tensor(i) for i in batch] for batch in found]), "`.item()`"),
        ("token_batches", batches(lambda found: dict(enumerate(found))), "a list was expected"),
        ("token_batches", batches(lambda found: [[i + 0.0 for i in batch] for batch in found]), "batches[0][0] is "),
        ("shift_right", lambda *given: oracle("shift_right")(*given).float(), "whole numbers (torch.int64)"),
        ("shift_right", lambda target, bos: oracle("shift_right")(target, bos) + (target > 10**5), "is 1000002, expected 1000001"),
    ],
)  # fmt: skip
def test_reports_say_what_is_wrong_with_each_kind_of_answer(name, answer, says):
    report = refused(name, answer)
    assert says in str(report) and "weights['" not in report._repr_html_(), str(report)  # quotes are escaped there


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


def test_differences_too_small_for_float32_alone_are_accepted():
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

GATED = textwrap.dedent(CORRECT["gated_layer"].split("        ---\n")[0])


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
def test_reports_say_what_is_wrong_with_a_module(old, new, says):
    message = refused("gated_layer", gated(old, new)).message
    assert says in message or says == "2 values" and "tuple" in message, message


def test_a_parameter_that_cannot_learn_is_told():
    class Frozen(gated()):
        def __init__(self, width):
            super().__init__(width)
            self.requires_grad_(False)

    assert "cannot learn: its requires_grad is False" in refused("gated_layer", Frozen).message


def test_a_parameter_under_two_names_is_no_fault():
    alias = gated(
        "self.inner = nn.Linear(width, width)", "self.inner = nn.Linear(width, width); self.again = self.gate.weight"
    )
    assert judge_answer(TASKS["gated_layer"], alias).state == "passed"


def test_a_module_is_wanted_as_its_class():
    plain = made("gated_layer", "class GatedLayer:\n    def __init__(self, width): pass")
    assert "begin it with `class GatedLayer(nn.Module):`" in refused("gated_layer", plain).message
    assert "an instance of GatedLayer; it needs the class itself" in refused("gated_layer", gated()(width=3)).message
    assert "check was given a function; it needs the class" in refused("gated_layer", lambda *a: a).message
    assert "it needs the function itself" in refused("two_layers", 3).message
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


def test_a_state_dict_that_lies_does_not_matter():
    assert (
        judge_answer(TASKS["gated_layer"], ATTACKS["a state_dict that lies"]).state == "passed"
    )  # its values are right


# Behind the locks of a class's grading

needs_sandbox = pytest.mark.skipif(
    not policy.available().safe, reason="this machine gives no locks: grade on Linux 5.13 or later"
)


def graded(sandbox, cells, names, seed=2**40 + 1):
    """Reports on the answers in a notebook's cells, run as those of a class are."""
    known = {name: Expected(TASKS[name], TASKS[name].make_cases(seed)) for name in names}
    wanted = [
        AnswerRequest(
            name,
            TASKS[name].answer_name,
            TASKS[name].answer_kinds,
            pack(list(map(without_labels, known[name].cases))),
            Candidates(TASKS[name], known[name].cases) if TASKS[name].candidates else None,
            TASKS[name].offers,
        )
        for name in names
    ]
    sandbox.limits = Limits(seconds=30, whole=300)
    came = [answer for answer in sandbox.run_notebook([PREAMBLE, *cells], wanted) if not isinstance(answer, str)]
    return [
        judge(TASKS[name], known[name].cases, answer.outcomes, known[name])
        if answer.state == "outcomes"
        else answer.state
        for name, answer in zip(names, came, strict=True)
    ]


@needs_sandbox
def test_right_answers_of_each_kind_earn_their_points(sandbox):
    chosen = dict(STYLES)  # the last style of each
    for report in graded(sandbox, list(chosen.values()), list(chosen)):
        assert report.state == "passed", str(report)


@pytest.mark.thorough
@needs_sandbox
def test_wrong_answers_of_each_kind_are_refused_in_a_class(sandbox):
    wrong = {
        "two_layers": "def two_layers(x, weights):\n    return x @ weights['in'].T @ weights['out'].T",
        "gated_layer": GATED.replace("return (x", "x = x if self.training else x * 2; return (x"),
        "token_batches": "def token_batches(lengths, limit):\n    return [[i] for i in range(len(lengths))]",
        "reinforce_loss": "def reinforce_loss(p, reward, baseline):\n    return -((reward - baseline) * p).mean()",
    }
    reports = graded(sandbox, list(wrong.values()), list(wrong))
    assert [report.state for report in reports] == ["failed"] * 4, reports
    assert (
        reports[0].mistake == "linear" and "baseline" in reports[3].message and "evaluation mode" in reports[1].message
    )


@pytest.mark.thorough
@needs_sandbox
def test_an_answer_of_another_kind_is_told_in_a_class(sandbox):
    cells = ["def GatedLayer(*a): pass", "class two_layers(nn.Module):\n    def forward(self, x): return x"]
    assert graded(sandbox, cells, ["gated_layer", "two_layers"]) == ["empty", "class"]
    assert graded(sandbox, ["def GatedLayer(x): return x"], ["gated_layer"]) == ["callable"]


def test_the_lesson_for_tests_is_none_of_the_course():
    assert "90" not in catalogue.lessons() and "course_lessons.lesson_90_kinds" in sys.modules
