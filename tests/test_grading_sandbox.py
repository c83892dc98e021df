"""A notebook in the sandbox behaves as in JupyterLab: what it offers works, what fails costs itself, what is odd is told."""

import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import submissions
import torch
from submissions import notebook, wanted

from course_utils import commands
from course_utils.checks import catalogue
from course_utils.checks.expected import Expected
from course_utils.checks.judge import judge
from course_utils.checks.running.contract import Callback, Candidate, Case, pack, without_labels
from course_utils.checks.running.run import marked, run
from course_utils.checks.task import Task
from course_utils.grading.ingest.submissions import Found
from course_utils.grading.judging.budget import Limits
from course_utils.grading.judging.candidates import Candidates
from course_utils.grading.judging.sandbox_client import SandboxClient
from course_utils.grading.sandbox import fork_server, policy, protocol, stand_ins

pytestmark = submissions.needs_sandbox

PADDING, CAUSAL = (f"import torch\n{code}" for code in (submissions.PADDING, submissions.CAUSAL))


@pytest.fixture(scope="module")
def grader(make_grader):
    return make_grader(7, options_seed=7)


@pytest.fixture
def grade(grader, tmp_path):
    def one(*cells):
        path = tmp_path / "03_queries_keys_values.ipynb"
        path.write_text(notebook(*cells), encoding="utf-8")
        result = grader.grade(Found("ada", path, path.name), "00" * 32)
        return result, {verdict.task[3:]: verdict for verdict in result.verdicts}

    return one


def test_features_of_a_notebook_work_in_the_sandbox(grade):
    result, verdicts = grade(
        "%matplotlib inline\n!pip install torch\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.show()",
        "%%time\nimport torch\nfrom course_utils import check, hint, progress, solution",
        "%%html\n<b>not Python</b>",
        PADDING,
        'report = check("03.padding_mask", padding_mask)\nhint("03.padding_mask"); progress(); solution("03.padding_mask")\n'
        "if report.state: display(report)\nget_ipython()",
        "model = torch.nn.Linear(2, 2)\noptimizer = torch.optim.AdamW(model.parameters())\n"
        "model(torch.ones(1, 2)).sum().backward(); optimizer.step()\ntorch.set_num_threads(8)\nprint('x' * 10**6)",
    )
    assert result.remarks == () and result.suspicions == ()
    assert verdicts["padding_mask"].state == "passed"


@pytest.mark.skipif(not os.environ.get("COURSE_DATA_MIRROR"), reason="needs SST-2: name a mirror in COURSE_DATA_MIRROR")
def test_data_are_there_to_be_read_only(grade):
    result, _ = grade(
        "from course_utils.data.download import fetch\nfrom course_utils.data.sst2 import load_sst2\nassert len(load_sst2('dev')) == 872",
        "open(fetch('sst2/dev.tsv'), 'a')",
    )
    assert len(result.remarks) == 1 and result.remarks[0].startswith("Cell 2 failed: PermissionError")


def test_an_answer_that_exec_makes_counts_and_that_is_said(grade):
    _, verdicts = grade(f"import torch\nexec({CAUSAL!r})", PADDING)
    assert verdicts["causal_mask"].state == verdicts["padding_mask"].state == "passed"
    assert verdicts["causal_mask"].note.startswith("`causal_mask` is made by `exec` from a text. It counts if it runs")
    assert not verdicts["padding_mask"].note


def test_failing_cells_cost_only_themselves(grade):
    result, verdicts = grade(
        "1 / 0",
        "def broken(:",
        "import sys; sys.exit(3)",
        "input()",
        PADDING,
        CAUSAL + "\nimport os; os._exit(0)",
        "def attention(query, key, value, mask=None):\n    while True: pass",
        CAUSAL,
    )
    assert [remark.split(":")[0] for remark in result.remarks] == [f"Cell {n} failed" for n in (1, 2, 3, 4, 6)]
    assert verdicts["padding_mask"].state == verdicts["causal_mask"].state == "passed"
    assert verdicts["attention"].state == "error"
    assert "stopped after 10 seconds of computing" in verdicts["attention"].message
    assert verdicts["catch_wrong_attention"].state == "missing"
    assert any("ended the process" in reason for reason in result.suspicions)


def test_a_busy_machine_costs_no_answer_in_a_class_its_time(sandbox, monkeypatch):
    """Half a second of computing, within eight tenths, beside as many loops as there are cores."""
    slow = (
        "import time\nfirst = [True]\ndef padding_mask(lengths, size):\n    end = time.process_time() + 0.5 * first.pop() if first else 0\n"
        "    while time.process_time() < end: pass\n    return torch.arange(size) < lengths[:, None]"
    )
    task = catalogue.load("03.padding_mask")
    monkeypatch.setattr(sandbox, "limits", Limits(seconds=0.8, whole=20))
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count())]
    try:
        cases = [Case("", (torch.tensor([1, 2]), 3))]
        *failed, answer = sandbox.run_notebook(["import torch", slow], [wanted(task, cases)])
    finally:
        for each in busy:
            each.kill()
            each.wait()
    assert not failed and [outcome.status for outcome in answer.outcomes] == ["value"]


def test_an_answer_that_ends_its_process_costs_its_own_task(grade):
    result, verdicts = grade("import os\ndef padding_mask(lengths, size):\n    os._exit(0)", CAUSAL)
    assert verdicts["padding_mask"].state == "error" and verdicts["causal_mask"].state == "passed"
    assert "03.padding_mask ended its process" in result.suspicions


def test_the_last_definition_counts_and_the_report_says_so(grade):
    _, verdicts = grade(PADDING, "def padding_mask(lengths, size):\n    return None", PADDING, CAUSAL)
    assert verdicts["padding_mask"].state == "passed"
    assert verdicts["padding_mask"].note == "Defined in the cells 1, 2 and 3: the last one counts."
    assert verdicts["causal_mask"].note == ""


def test_a_renamed_answer_is_missing_and_the_likely_name_is_told(grade):
    _, verdicts = grade(PADDING.replace("padding_mask", "my_padding_mask"), CAUSAL)
    assert verdicts["padding_mask"].state == "missing" and "`my_padding_mask`" in verdicts["padding_mask"].note
    assert verdicts["causal_mask"].state == "passed"


def test_reports_say_what_a_tasks_name_holds(grade):
    _, verdicts = grade(
        "import torch\nclass Causal(torch.nn.Module):\n    def forward(self, size):\n        return torch.ones(size, size).tril() > 0",
        "causal_mask = Causal()\npadding_mask = Causal\nattention = 3\ndef catch_wrong_attention(candidate):\n    pass",
    )
    assert verdicts["causal_mask"].state == "passed"
    assert verdicts["padding_mask"].message.startswith("check was given the class Causal")
    assert verdicts["attention"].message.startswith("check was given 3")
    assert verdicts["catch_wrong_attention"].state == "not attempted"


def adds(x, more=None):
    return x + 1


def alters(x, more=None):
    (x if more is None else more).add_(1)
    return x


def raises(x, more=None):
    raise KeyError("what this says is not told")


def of_another_kind(x, more=None):
    return 3 * x


def never_ends(x, more=None):
    while True:
        pass


def pairs(x, more=None):
    return x[:, None] * x[None]


def made_up_task(*more):
    bank = (adds, alters, raises, of_another_kind, *more)
    of_no_matter = {"difficulty": 1, "importance": 1, "minutes": 1}
    task = Task("03.made_up", "", ("name", "candidate"), "verdict", candidates=bank, **of_no_matter)
    task.cases(lambda draw: [Case("", ("b" if i == 3 else "a", Candidate(i))) for i in range(len(bank))])
    cases = task.make_cases(5)
    keys = {task.candidate(case.args[1].key): case.args[1].key for case in cases}
    return Candidates(task, cases), keys


@pytest.mark.parametrize("before", [False, True])
def test_a_question_asked_before_is_answered_for_all_candidates(before):
    ask, keys = made_up_task()
    came = ask({"call": keys[adds], "args": (torch.ones(2),), "options": {}, "asked before": before})["came"]
    assert came.keys() == ({keys[f] for f in (adds, alters, raises)} if before else {keys[adds]})
    for key, reply in came.items():
        alone = ask({"call": key, "args": (torch.ones(2),), "options": {}})["came"]
        assert pack(alone[key]) == pack(reply)
    assert came[keys[adds]]["value"].tolist() == [2, 2] and not came[keys[adds]]["changed"]


def test_a_candidate_gives_back_only_its_changes_and_errors():
    ask, keys = made_up_task()
    one = {"args": (torch.ones(2),), "options": {}}
    named = {"args": (torch.ones(2),), "options": {"more": torch.zeros(3)}}
    reply = ask({"call": keys[alters], **one})["came"][keys[alters]]
    assert reply["changed"][0].tolist() == reply["value"].tolist() == [2, 2]
    reply = ask({"call": keys[alters], **named})["came"][keys[alters]]
    assert reply["changed"].keys() == {"more"} and reply["changed"]["more"].tolist() == [1, 1, 1]
    reply = ask({"call": keys[raises], **one})["came"][keys[raises]]
    assert reply["error"] == "KeyError" and "told" not in str(reply)
    assert ask({"call": 17, **one})["error"] == "KeyError"


def test_a_candidate_without_end_costs_only_itself():
    ask, keys = made_up_task(never_ends)
    for key, answered in ((keys[adds], True), (keys[never_ends], False)):
        reply = ask({"call": key, "args": (torch.ones(2),), "options": {}, "asked before": True})
        assert (reply.get("came", {}).keys() == {key}) == answered
        assert answered or (reply["error"], "took too long" in reply["message"]) == ("RuntimeError", True)


def test_large_questions_are_put_to_one_candidate_each():
    ask, keys = made_up_task()
    for size, alone in ((100, False), (101, True)):
        request = {"call": keys[adds], "args": (torch.ones(size, 100),), "options": {}, "asked before": True}
        assert (ask(request)["came"].keys() == {keys[adds]}) == alone
    ask, keys = made_up_task(pairs)
    for function, shape, most in ((adds, (9, 200, 200), "100,000"), (pairs, (200, 100), "1,000,000")):
        reply = ask({"call": keys[function], "args": (torch.ones(shape),), "options": {}, "asked before": True})
        assert f"at most {most} numbers" in reply["message"] and "came" not in reply


def total(x, more=None):
    return (x * x).sum() + (0 if more is None else more.sum())


def total_cut(x, more=None):
    return (x.detach() * x).sum()


def total_without_a_gradient(x, more=None):
    return x.detach().sum()


def test_the_gradient_of_a_number_comes_where_it_is_wanted():
    ask, keys = made_up_task(total, total_cut, total_without_a_gradient)
    x, more = torch.tensor([1.0, 2.0]), torch.zeros(3)

    def gradients(function, *args, kept=(), **options):
        return ask({"call": keys[function], "args": args, "options": options, "kept": kept})["came"][
            keys[function]
        ].get("gradients")

    assert gradients(total, x) is None and gradients(total, x, kept=(False,)) is None
    assert gradients(total, x, kept=(True,))[0].tolist() == [2, 4]
    assert gradients(total_cut, x, kept=(True,))[0].tolist() == [1, 2]
    assert gradients(total_without_a_gradient, x, kept=(True,)) is None and gradients(adds, x, kept=(True,)) is None
    of_x, of_more = gradients(total, x, more=more, kept=(False, True))
    assert of_x is None and of_more.tolist() == [1, 1, 1]
    assert "came" not in ask({"call": keys[total], "args": (x,), "options": {}, "kept": 3})
    for odd in (("yes", 1), (None,), (True,) * 1000):  # what a hostile process might send
        assert "value" in ask({"call": keys[total], "args": (x,), "options": {}, "kept": odd})["came"][keys[total]]


def calls_back(function, times, more=None):
    """A candidate that calls a function of the learner's, with lists of growing length."""
    return [function([0] * n) for n in range(times)]


def never_stops_calling(function, times, more=None):
    while True:
        function([])


def gives_back_much(function, times, more=None):
    return [list(range(times)) for _ in range(1000)]


def answered(ask, key, function, *args):
    """Ask as the learner's side does, one answer after another; the last reply, and how many requests it took."""
    given, requests = [], 0
    while True:
        request = {"call": key, "args": (Callback(0), *args), "options": {}, "given": given, "guesses": {}}
        reply, requests = ask(request), requests + 1
        came = reply["came"][key] if "came" in reply else reply
        if "value" in came or "error" in came:
            return came, requests
        (((place, asked),),) = (came["asked"],)
        assert place == 0
        given.append(function(*asked))


def test_a_candidate_calls_an_answers_functions_by_asking_back():
    ask, keys = made_up_task(calls_back, never_stops_calling, gives_back_much)
    came, requests = answered(ask, keys[calls_back], lambda asked: torch.ones(2) * len(asked), 3)
    assert [value.tolist() for value in came["value"]] == [[0, 0], [1, 1], [2, 2]] and requests == 4
    guesses = {pack((0, ([0] * n,))).hex(): n for n in range(3)}
    request = {"call": keys[calls_back], "args": (Callback(0), 3), "options": {}, "given": [7], "guesses": guesses}
    came = ask(request)["came"][keys[calls_back]]
    assert came["value"] == [7, 1, 2] and came["asked"] == [(0, ([0],)), (0, ([0, 0],))]


def test_hostile_claims_about_functions_gain_nothing_at_low_cost():
    ask, keys = made_up_task(calls_back, never_stops_calling, gives_back_much)
    one = {"args": (Callback(0), 3), "options": {}}
    call = pack((0, ([],))).hex()
    began = time.monotonic()
    for given, guesses in (
        (3, {}), ([], 3), (None, None), ("text", {}), ({}, {}), ([Callback(0)], {}), ([Candidate(keys[adds])], {}),
        ([[[[[[[1]]]]]]], {}), ([1] * 20_000, {}), ([torch.ones(999)], {}), ([torch.ones(1)] * 9999, {}), ([], {3: 4, None: 1}),
        ([], {call: Callback("x")}), ([], {call: torch.ones(300, 300)}), ([], {call: Case("", ())}), ([], {call: "text" * 10**5}),
    ):  # fmt: skip
        for function in (calls_back, never_stops_calling, gives_back_much):
            reply = ask({"call": keys[function], **one, "given": given, "guesses": guesses})
            assert len(pack(reply)) < 10**6
    for place in (None, [1], {"a": 1}, 10**30, torch.ones(2), Candidate(keys[adds])):
        asked = {"call": keys[calls_back], "args": (Callback(place), 3), "options": {}, "given": [], "guesses": {}}
        pack(ask(asked))
    endless = {"call": keys[never_stops_calling], **one, "given": [], "guesses": {call: 1}}
    assert ask(endless)["came"][keys[never_stops_calling]]["error"] == "RuntimeError"
    many = {"call": keys[gives_back_much], "args": (Callback(0), 1000), "options": {}, "given": [], "guesses": {}}
    assert "came" not in ask(many) and len(pack(ask(many))) < 1000
    echo = {"call": keys[calls_back], **one, "given": ["text" * 10**5] * 3, "guesses": {}}
    assert "came" not in ask(echo) and len(pack(ask(echo))) < 1000
    assert time.monotonic() - began < 60


MADE_UP_STEP = """
import torch
from course_utils.models.minimal import beam_search as reference

def decoder(seed, V=5):
    def step(prefix):
        draw = torch.Generator().manual_seed(hash((seed, *prefix)) % 2**40)
        return torch.randn(V, generator=draw).log_softmax(0)
    return step

def same(right, came):
    return len(right) == len(came) and all(
        a[0] == b[0] and abs(a[1] - b[1]) < 1e-5 for a, b in zip(right, came, strict=True))
"""
SEARCHES = {
    "its step keeps a record": """
def catch_wrong_beam(candidate):
    asked, inner = [], decoder(1)
    def step(prefix):
        asked.append(tuple(prefix))
        return inner(prefix)
    try:
        candidate(step, longest=3, bos=9, eos=2, width=3)
        candidate(step, 9, 2, 3, 3)
    except Exception:
        return False
    before = list(asked)
    reference(step, 9, 2, 3, 3)
    return before == 2 * asked[len(before):]
""",
    "its step raises where it is not to be asked": """
def catch_wrong_beam(candidate):
    inner = decoder(2)
    def step(prefix):
        if 2 in prefix or len(prefix) > 3:
            raise LookupError("not to be asked")
        return inner(prefix)
    try:
        candidate(step, 9, 2, 3, 3)
    except LookupError as error:
        return "not to be asked" not in str(error)
    except Exception:
        return False
    return True
""",
    "its step calls a candidate": """
def catch_wrong_beam(candidate):
    inner, within = decoder(3), []
    def step(prefix):
        if len(prefix) == 1:
            within.append(candidate(inner, 9, 2, 2, 2))
        return inner(prefix)
    try:
        return same(reference(inner, 9, 2, 2, 2), within[0] if candidate(step, 9, 2, 2, 2) else [])
    except Exception:
        return False
""",
    "its step forgets": """
def catch_wrong_beam(candidate):
    times = []
    def step(prefix):
        times.append(1)
        return decoder(len(times))(prefix)
    try:
        came = candidate(step, 9, 2, 2, 3)
        times.clear()
        return same(reference(step, 9, 2, 2, 3), came)
    except Exception:
        return False
""",
}


@pytest.mark.thorough
def test_a_test_of_searches_gets_its_verdict_with_few_requests():
    task = catalogue.load("07.catch_wrong_beam")
    cases, requests = task.make_cases(2**40 + 1), []
    expected, candidates = Expected(task, cases), Candidates(task, cases)
    ask = lambda request: requests.append(request) or candidates(request)  # noqa: E731
    with SandboxClient(policy.chosen(), Limits(seconds=30, whole=300)) as sandbox:
        for name, cell in {"the solution": catalogue.solutions()[task.id], **SEARCHES}.items():
            requests.clear()
            *_, answer = sandbox.run_notebook([MADE_UP_STEP + cell], [wanted(task, cases, ask)])
            space = {}
            exec(MADE_UP_STEP + cell, space)
            ours = run(
                space["catch_wrong_beam"], list(map(without_labels, cases)), 30, lambda key: marked(task.candidate(key))
            )
            assert [(o.value, o.unstable) for o in answer.outcomes] == [(o.value, o.unstable) for o in ours], name
            reports = [judge(task, cases, outcomes, expected) for outcomes in (answer.outcomes, ours)]
            told = [(report.state, report.message, report.case) for report in reports]
            assert told[0] == told[1], name
            assert len({o.value for o in ours}) >= 2 or "should return a tensor" in reports[0].message, name
            if name == "the solution":  # each candidate is tried twice, a correct one with ten searches each time
                assert reports[0].state == "passed" and len(requests) < 10 * len(cases)


def test_a_test_crosses_the_pipe_at_most_twice_a_candidate(grade, monkeypatch):
    asked, ask = [], Candidates.__call__
    monkeypatch.setattr(Candidates, "__call__", lambda self, request: asked.append(request) or ask(self, request))
    imports = "import torch\nfrom course_utils.models.attention import attention as reference"
    _, verdicts = grade(imports, catalogue.solutions()["03.catch_wrong_attention"])
    assert verdicts["catch_wrong_attention"].state == "passed"
    assert len(asked) <= 2 * len(catalogue.load("03.catch_wrong_attention").candidates)


@pytest.mark.parametrize(
    "cell",
    [
        "%time m = 3\n{}",
        "x = %time 4\nassert x == 4\n{}",
        "files = !ls\nassert files == []\n{}",
        "!ls -l\n# what does it do?\n{}",
        "%matplotlib inline\nrest = (10\n    % 3)\nassert rest == 1\n{}",
        "%nothing_of_this_name\n{}",
        "range?\n{}",
        "if True:\n    %time y = 5\n    !pip install torch\nassert y == 5\n{}",
        "%%time\n{}",
        "%%capture said\n%time z = 6\nassert z == 6\n{}",
        "    w = 7\n    !ls\n{}",
    ],
)
def test_ipython_syntax_costs_no_more_than_its_line(grade, cell):
    result, verdicts = grade(
        "import torch", cell.format(CAUSAL if cell[0] != " " else ""), CAUSAL if cell[0] == " " else ""
    )
    assert result.remarks == () and verdicts["causal_mask"].state == "passed"


def test_a_cell_of_another_language_is_not_run(grade):
    result, verdicts = grade(f"%%bash\n{CAUSAL}", f"%%timeit\n{CAUSAL}")
    assert result.remarks == () and verdicts["causal_mask"].state == "missing"


@pytest.mark.parametrize(
    "layers, safe",
    [
        ((0, True), False),
        ((4, False), False),
        ((0, False, "bwrap"), False),
        ((4, True), True),
        ((0, True, "bwrap"), True),
    ],
)
def test_files_and_system_calls_have_to_be_locked_both(layers, safe):
    assert policy.Layers(*layers).safe is safe


def test_a_reply_counts_only_with_the_nonce_of_its_request():
    ours, theirs, later = bytes(range(protocol.NONCE)), bytes(protocol.NONCE), time.monotonic() + 60
    for nonce in (ours, theirs):
        reading, writing = os.pipe()
        protocol.write(writing, nonce, b"right")
        if nonce == ours:
            assert protocol.read_reply(reading, ours, later) == b"right"
        else:
            with pytest.raises(protocol.Garbled):
                protocol.read_reply(reading, ours, later)
        os.close(reading), os.close(writing)


@pytest.mark.thorough
def test_grading_without_locks_refuses_or_says_what_it_gives_up(tmp_path, monkeypatch, capsys):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "ada.ipynb").write_text(notebook(PADDING))
    monkeypatch.setattr(policy, "available", lambda: policy.Layers())
    arguments = ["grade", str(tmp_path / "in"), "--out", str(tmp_path / "out"), "--workers", "1"]
    assert commands.main(arguments) == 2
    said = capsys.readouterr().err
    assert "cannot lock a learner's code in" in said and "--unsafe" in said
    assert not (tmp_path / "out").exists()
    assert commands.main([*arguments, "--unsafe"]) == 0
    assert "Points can be forged." in capsys.readouterr().err
    assert "Points can be forged." in (tmp_path / "out" / "class.html").read_text(encoding="utf-8")
    assert '"layers":"unsafe: none"' in (tmp_path / "out" / "journal.jsonl").read_text(encoding="utf-8")
    assert '1,"passed"' in (tmp_path / "out" / "grades.csv").read_text(encoding="utf-8")
    capsys.readouterr()
    monkeypatch.undo()
    assert commands.main(arguments) == 0  # now with locks: what ran without them is run again
    assert "Graded now: 1. Taken from the journal: 0." in capsys.readouterr().out
    assert "Points can be forged." not in (tmp_path / "out" / "class.html").read_text(encoding="utf-8")


def modules(folders):
    """The dotted names of the modules in folders of the package."""
    files = [file for folder in folders for file in (policy.PACKAGE / folder).rglob("[!0-9]*.py")]
    parts = [file.relative_to(policy.PACKAGE.parent).with_suffix("").parts for file in files]
    return sorted(".".join(part[:-1] if part[-1] == "__init__" else part) for part in parts)


def test_public_modules_alone_can_be_imported_in_the_sandbox(sandbox, monkeypatch):
    public = modules(policy.PUBLIC)
    above = {name.rpartition(".")[0] for name in public} - set(public)
    packages = set(modules(stand_ins.WITHHELD_PACKAGES))
    withheld = sorted(packages - {"course_utils.models", "course_utils.models.attention_report"})
    private = sorted({*modules(["."])} - packages - set(public) - above - {*fork_server.REPLACED})
    assert len(public) > 20 and len(private) > 50 and len(withheld) > 30
    imports = f"import importlib\nfor name in {public}:\n    importlib.import_module(name)"
    hidden = (
        f"import importlib\nfound = []\nfor name in {private}:\n    try:\n        found.append(importlib.import_module(name))\n"
        "    except (ImportError, OSError):\n        pass\nassert not found, found"
    )
    files = sorted(
        str(file)
        for folder in ("../course_lessons", "learner", "authoring", *stand_ins.WITHHELD_PACKAGES)
        for file in (policy.PACKAGE / folder).resolve().rglob("*.*")
    )
    files += [str(policy.PACKAGE / "checks/judge.py"), str(policy.PACKAGE / "grading/judging/notebook_grader.py")]
    unread = (
        f"found = []\nfor file in {files}:\n    try:\n        found.append(open(file).read(1))\n    except OSError:\n        pass\n"
        "assert not found, found"
    )
    empty = f"for name in {withheld}:\n    names = vars(importlib.import_module(name))\n" + (
        "    names = [key for key in names if key[:2] != '__' and key != 'PROMISES' and not isinstance(names[key], type(importlib))]\n"
        "    assert not names, (name, names)"
    )
    monkeypatch.setattr(sandbox, "limits", Limits(seconds=60, whole=200))
    assert list(sandbox.run_notebook([imports, hidden, unread, empty], [])) == []
    (said,) = sandbox.run_notebook(["import course_lessons"], [])
    assert "course_lessons" in said  # no such module, or no permission to read it


def test_torchs_folder_can_be_read_and_not_the_one_around_it(monkeypatch, tmp_path):
    around = Path(os.path.realpath(tmp_path))
    (around / "libs" / "torch").mkdir(parents=True)
    torchs = SimpleNamespace(origin=str(around / "libs" / "torch" / "__init__.py"))
    monkeypatch.setattr(policy, "find_spec", lambda name: torchs)
    assert str(around / "libs") in policy.readable() and str(around) not in policy.readable()
