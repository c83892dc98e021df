"""`course grade` itself, as a user starts it: whatever is killed or full, the same command goes on to the same results.

Not here: what a hostile notebook may try (`test_grading_attacks.py`), what comes in (`test_grading_inputs.py`), a cluster
(`test_grading_cluster.py`).
"""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
import timeouts
from submissions import ATTENTION, CAUSAL, PADDING, needs_sandbox, notebook

from course_utils.base.errors import CourseError
from course_utils.commands import main
from course_utils.grading.ingest.submissions import Found, find
from course_utils.grading.judging import pool
from course_utils.grading.judging.budget import Limits
from course_utils.grading.judging.notebook_grader import decides_on_verdicts, result_key
from course_utils.grading.judging.pool import Plan
from course_utils.grading.pipeline import grade_class, what_to_grade
from course_utils.grading.sandbox import policy
from course_utils.grading.storage.journal import NAME, Journal, JournalError
from course_utils.grading.storage.record import Result

pytestmark = needs_sandbox

SEED = 2**127 + 20
PATIENCE = timeouts.SECONDS

# Slow enough to be killed on the way.
SETUP = "import time, torch\ntime.sleep(0.4)\nfrom course_utils.models.attention import attention as reference\n"
UNSCALED = """def attention(query, key, value, mask=None):
    weights = (query @ key.transpose(0, 1)).softmax(-1)
    return weights @ value, weights
"""
STUB = "def catch_wrong_attention(candidate):\n    raise NotImplementedError\n"
ALWAYS = "def catch_wrong_attention(candidate):\n    return True\n"
LEAVES = "import os\ndef causal_mask(size):\n    os._exit(0)\n"
RENAMED = CAUSAL.replace("causal_mask", "causal_masks")


@pytest.fixture(scope="session")
def submissions(tmp_path_factory):
    """Twelve students' files: right, wrong, unfinished, a process ended, a cell that fails, no notebook at all."""
    folder = tmp_path_factory.mktemp("class") / "submissions"
    folder.mkdir()
    sheets = [
        (SETUP, PADDING, CAUSAL, ATTENTION, ALWAYS),
        (SETUP, PADDING, CAUSAL, UNSCALED, STUB),
        (SETUP, PADDING, LEAVES, ATTENTION, STUB),
        (SETUP, "1 / 0", PADDING, RENAMED, ATTENTION),
    ]
    for i in range(10):
        (folder / f"s{i}.ipynb").write_text(notebook(*sheets[i % 4], f"# {i}"), encoding="utf-8")
    (folder / "=s10.ipynb").write_text("{", encoding="utf-8")
    (folder / "s11").mkdir()
    return folder


def command(submissions, out, *options):
    return [sys.executable, "-m", "course_utils", "grade", submissions, "--out", out, *map(str, options)]


def start(submissions, out, *options, **more):
    """Begin a grading; its words are kept in a file beside the results."""
    said = open(f"{out}.said", "ab")  # noqa: SIM115
    with said:
        line = command(submissions, out, "--seed", f"{SEED:032x}", "--workers", 2, *options)
        return subprocess.Popen(line, stdout=said, stderr=said, **more)


def grade(submissions, out, *options, **more):
    """Grade to the end; the exit code and what was said."""
    Path(f"{out}.said").unlink(missing_ok=True)
    with start(submissions, out, *options, **more) as process:
        code = process.wait(PATIENCE)
    return code, Path(f"{out}.said").read_text()


def exports(out):
    """{path: text} of all results.

    The journal is left out, which keeps seconds; so are the seconds that class.html tells, and the times in ags.json,
    which are when the grading began, looked at below.
    """
    found = {p.relative_to(out).as_posix(): p.read_text() for p in out.rglob("*") if p.is_file()}
    for name in (NAME, "journal.lock"):
        del found[name]
    found["ags.json"] = re.sub(r'("timestamp": )"[^"]*"', r"\1", found["ags.json"])
    found["class.html"] = re.sub(
        "<section aria-labelledby='slowest'>.*?</section>", "", found["class.html"], flags=re.S
    )
    return found


def times(out):
    return {score["timestamp"] for score in json.loads((out / "ags.json").read_text())}


def results_of(out):
    """The journal's results so far, whole lines only."""
    with suppress(FileNotFoundError):
        return [json.loads(line) for line in (out / NAME).read_bytes().split(b"\n")[1:-1]]
    return []


@pytest.fixture(scope="session")
def undisturbed(submissions, tmp_path_factory):
    """The results of a grading that nobody disturbs."""
    out = tmp_path_factory.mktemp("undisturbed") / "results"
    code, said = grade(submissions, out)
    assert code == 1, said  # one file is no notebook
    assert "Traceback" not in said
    return exports(out)


@pytest.mark.thorough
def test_the_undisturbed_results_hold_what_was_handed_in(undisturbed):
    rows = undisturbed["grades.csv"].splitlines()
    assert len(rows) == 13
    assert rows[1].startswith('"\'=s10"') or rows[-1].startswith('"\'=s10"')
    for state in ("passed", "failed", "error", "not attempted", "missing"):
        assert f'"{state}"' in undisturbed["grades.csv"]
    assert len([name for name in undisturbed if name.startswith("feedback/")]) == 12 and "feedback.html" in undisturbed


def family(process):
    """{kind: processes} of a running grading: its workers and their fork servers, learners' processes left out."""
    with suppress(psutil.Error):
        workers = [p for p in psutil.Process(process.pid).children() if "spawn_main" in " ".join(p.cmdline())]
        servers = [p for worker in workers for p in worker.children() if "fork_server" in " ".join(p.cmdline())]
        return {"worker": workers, "fork server": servers, "parent": [psutil.Process(process.pid)]}
    return {}


def everybody(process):
    return [process, *process.children(recursive=True)]


def gone(processes):
    _, alive = psutil.wait_procs(processes, timeout=PATIENCE)
    return [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.thorough
def test_grading_comes_to_the_same_results_whatever_is_killed(submissions, undisturbed, tmp_path):
    """One round of each; `benchmarks/grading_class.py --kill` has as many as you like."""
    draw, out = random.Random(0), tmp_path / "results"
    rounds = ["worker", "fork server", "parent"]
    draw.shuffle(rounds)
    rounds += ["parent"] * (rounds[-1] != "parent")
    running, seen, began = None, [], None
    for victim in rounds:
        running = running or start(submissions, out)
        enough = len(results_of(out)) + draw.randrange(1, 3)
        deadline = time.monotonic() + PATIENCE
        while len(results_of(out)) < enough and running.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        seen += everybody(psutil.Process(running.pid))
        time.sleep(draw.random() * 0.2)
        victims = family(running).get(victim)
        assert victims, Path(f"{out}.said").read_text()
        draw.choice(victims).kill()
        if victim == "parent":
            running.wait()
            running = None
            began = json.loads((out / NAME).read_bytes().split(b"\n")[0])["began"]
            assert not gone(seen)  # the parent is dead, and all that it had started
            with open(out / NAME, "ab") as file:
                file.write(b'{"key":"00')  # as if cut off in the middle of a line
    code, said = grade(submissions, out)
    assert code == 1, said
    assert exports(out) == undisturbed
    assert times(out) == {began.replace("+00:00", ".000Z")}
    keys = [result["key"] for result in results_of(out)]
    assert len(keys) == len(set(keys)) == 12


@pytest.mark.thorough
def test_ctrl_c_says_how_to_go_on_and_leaves_nothing_running(submissions, undisturbed, tmp_path):
    out = tmp_path / "results"
    running = start(submissions, out, start_new_session=True)  # a terminal's Ctrl-C reaches the whole group
    while not results_of(out) and running.poll() is None:
        time.sleep(0.02)
    os.killpg(running.pid, signal.SIGSTOP)  # it shall not come to its end while its processes are counted
    processes = everybody(psutil.Process(running.pid))
    os.killpg(running.pid, signal.SIGINT)
    os.killpg(running.pid, signal.SIGCONT)
    code, said = running.wait(30), Path(f"{out}.said").read_text()
    assert code == 130, said
    assert said.endswith(": 12.\n\nStopped. The same command goes on where it stopped.\n")
    assert not gone(processes)
    before = len(results_of(out))
    code, said = grade(submissions, out)
    assert (code, f"Taken from the journal: {before}." in said) == (1, True), said
    assert exports(out) == undisturbed


@pytest.mark.thorough
def test_a_full_disk_is_one_sentence_and_what_was_graded_stays(submissions, undisturbed, tmp_path):
    import resource

    out = tmp_path / "results"
    # Of bytecode, half a file would be left behind.
    with start(submissions, out, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}) as running:
        resource.prlimit(running.pid, resource.RLIMIT_FSIZE, (12_000, resource.RLIM_INFINITY))
        assert running.wait(PATIENCE) == 2
    said = Path(f"{out}.said").read_text()
    assert re.search(
        r": 12\.\ncourse: \S+ cannot be written \(File too large\): make room or name another --out, .*\n\Z", said
    ), said
    kept = len(results_of(out))
    assert 0 < kept < 12
    code, said = grade(submissions, out)
    assert f"Taken from the journal: {kept}." in said
    assert exports(out) == undisturbed


# The journal alone


def a_result(number):
    return Result(f"{number:064x}", f"s{number}", f"s{number}.ipynb", "03")


def test_a_line_cut_off_anywhere_costs_that_line_only(tmp_path):
    with Journal(tmp_path) as journal:
        journal.begin(1, "none")
        journal.add(a_result(1))
        journal.add(a_result(2))
        journal.add(a_result(2))
    whole = (tmp_path / NAME).read_bytes()
    lines = whole.splitlines(keepends=True)
    assert len(lines) == 3
    for end in range(len(whole)):
        (tmp_path / NAME).write_bytes(whole[:end])
        with Journal(tmp_path) as journal:
            assert len(journal) == max(0, whole[:end].count(b"\n") - 1)
            journal.begin(1, "none")
            for number in (1, 2):
                journal.add(a_result(number))
            assert journal[a_result(2).key] == a_result(2)
        assert len((tmp_path / NAME).read_bytes().splitlines()) == 3


def test_a_result_of_an_earlier_version_is_read():
    earlier = a_result(1).to_json()
    del earlier["noticed"]
    assert Result.from_json(earlier) == a_result(1)


def test_abandoned_results_are_tried_again_next_time(tmp_path):
    found = Found("s1", tmp_path, "s1.ipynb")
    given_up, graded = pool.abandoned(found, a_result(1).key), a_result(1)
    for result, kept in ((given_up, False), (graded, True), (given_up, True)):
        with Journal(tmp_path) as journal:
            journal.begin(1, "none")
            journal.add(result)
            assert journal[result.key] == (graded if kept else result)
        with Journal(tmp_path) as journal:
            assert (result.key in journal) == kept


def test_times_are_those_of_the_first_beginning(tmp_path):
    with Journal(tmp_path) as journal:
        journal.begin(1, "none")
        began = journal.began
    time.sleep(1.1)
    with Journal(tmp_path) as journal:
        assert journal.header["seed"] == 1
        journal.begin(2, "none")
        assert (journal.began, journal.header["seed"]) == (began, 2)


@pytest.mark.parametrize(
    "foreign",
    [b"a,b\n1,2\n", b"{}\n", b"[]\n", b"5\n", b"\0" * 99, b"x", b'{"journal":1}\n', b"[" * 99_999 + b"\n", b'{"journal":' + b" " * 2**24],
    ids=["table", "object", "list", "number", "zeros", "text", "half", "deep", "endless"],
)  # fmt: skip
def test_a_file_that_is_no_journal_is_left_as_it_is(tmp_path, foreign):
    (tmp_path / NAME).write_bytes(foreign)
    with pytest.raises(JournalError, match="something else than a grading's results"), Journal(tmp_path):
        pass
    assert (tmp_path / NAME).read_bytes() == foreign


def test_a_journal_of_a_later_version_is_refused(tmp_path):
    (tmp_path / NAME).write_bytes(b'{"journal":99,"began":"2026-11-20T12:00:00+00:00"}\n')
    with pytest.raises(JournalError, match="another version of the course"), Journal(tmp_path):
        pass


def test_two_gradings_do_not_share_a_folder(tmp_path):
    with Journal(tmp_path), pytest.raises(JournalError, match="another grading"), Journal(tmp_path):
        pass
    with Journal(tmp_path):
        pass  # free again


def test_a_disk_that_fills_up_in_a_line_costs_no_earlier_line(tmp_path):
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Journal(tmp_path) as journal:
        journal.begin(1, "none")
        journal.add(a_result(1))
        resource.setrlimit(resource.RLIMIT_FSIZE, ((tmp_path / NAME).stat().st_size + 50, before[1]))
        try:
            with pytest.raises(JournalError, match="cannot be written .* run the same command again"):
                journal.add(a_result(2))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert a_result(2).key not in journal
    with Journal(tmp_path) as journal:
        assert (len(journal), journal[a_result(1).key]) == (1, a_result(1))


# What a person types wrong


@pytest.mark.parametrize(
    "line, sentence",
    [
        (". --lessons 99", "there is no lesson '99' with tasks"),
        (". --workers 0", "--workers must be 1 or more, not 0"),
        (". --seed x", "argument --seed"),
        (". --out .", "--out lies among the submissions"),
        (". --out ../empty/a_file", "cannot be written"),
        (". --out /proc/results", "cannot be written"),
        (". --roster none.csv", "none.csv cannot be read"),
        (". --settings none.toml", "none.toml cannot be read"),
        ("hollow", "holds no submissions"),
        ("nowhere", "cannot be listed"),
    ],
)
def test_a_wrong_word_is_one_sentence_and_leaves_nothing(tmp_path, monkeypatch, capsys, line, sentence):
    for folder in ("in/hollow", "empty"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "in/a.ipynb").write_text(notebook(SETUP))
    (tmp_path / "empty/a_file").touch()
    monkeypatch.chdir(tmp_path / "in")
    folder, *options = line.split()
    assert main(["grade", folder, "--out", "../results", *options]) == 2
    said = capsys.readouterr().err.removeprefix(f"Looking through {folder} …\n")
    assert said.startswith("course: ") and sentence in said and said.count("\n") == 1
    assert not (tmp_path / "results").exists()


def test_grade_shows_a_sign_of_life_before_slow_imports(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "course_utils.grading.pipeline", None)  # importing it fails
    assert main(["grade", str(tmp_path), "--out", str(tmp_path / "results")]) == 2
    assert capsys.readouterr().err.startswith(f"Looking through {tmp_path.as_posix()} …\ncourse: ")


def test_results_among_the_submissions_are_refused(tmp_path):
    (tmp_path / "a.ipynb").touch()
    (tmp_path / "link").symlink_to(tmp_path / "results")
    for out in (tmp_path, tmp_path / "results", tmp_path / "link"):
        with pytest.raises(CourseError, match="--out lies among the submissions"):
            what_to_grade(tmp_path, out, None, None, None, None, False)


@pytest.mark.parametrize("folder", ["feedback", "gradescope"])
def test_results_are_not_written_through_a_link(tmp_path, folder):
    for name in ("in", "out", "elsewhere"):
        (tmp_path / name).mkdir()
    (tmp_path / "in" / "ada.ipynb").touch()
    (tmp_path / "out" / folder).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CourseError, match=f"{folder} is a link, which is not written through"):
        grade_class(tmp_path / "in", tmp_path / "out")
    assert not [*(tmp_path / "elsewhere").iterdir()]


def test_all_counts_are_of_files_handed_in(tmp_path, graded_here, capsys):
    for name in ("ada/03_a", "ada/03_b", "emmy"):
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / f"{name}.ipynb").write_text(notebook("import torch", CAUSAL), encoding="utf-8")
    (tmp_path / "roster.csv").write_text("student\nada\nemmy\nzoe\n", encoding="utf-8")
    arguments = [f"{tmp_path}/in", "--out", f"{tmp_path}/out", "--roster", f"{tmp_path}/roster.csv"]
    for now, before in ((3, 0), (0, 3)):
        assert main(["grade", *arguments]) == 0
        said = capsys.readouterr()
        assert "Files handed in: 3. Students without a file: 1." in said.err
        assert f"Graded now: {now}. Taken from the journal: {before}." in said.out
        assert "Files handed in: 3. Files that could not be graded: 0." in said.out


def test_a_program_can_grade_a_class(tmp_path, graded_here):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "ada.ipynb").write_text(notebook("import torch", PADDING, CAUSAL), encoding="utf-8")
    steps, begun = [], []
    for new in (1, 0):
        done = grade_class(tmp_path / "in", tmp_path / "out", begin=begun.append, step=lambda: steps.append(1))
        assert (done.handed_in, done.new, done.lessons, done.problems) == (1, new, ["03"], 0)
    assert len(begun[0].found) == 1 and len(begun) == len(steps) == 2
    with pytest.raises(CourseError, match="there is no lesson '99' with tasks"):
        grade_class(tmp_path / "in", tmp_path / "out", lessons=["99"])


def test_verdicts_are_kept_for_the_bytes_that_were_graded(tmp_path, graded_here, monkeypatch):
    """Here a file becomes another one after it was queued."""
    file, right, wrong = tmp_path / "in" / "ada.ipynb", CAUSAL, CAUSAL.replace("tril", "triu")
    file.parent.mkdir()
    grade_all = pool.grade_all

    def grade_what_has_changed(found, plan, workers):
        for one in found:
            file.write_text(notebook("import torch", wrong))
            yield from grade_all([one], plan, workers)

    def grade():
        new = grade_class(tmp_path / "in", tmp_path / "out", lessons=["03"]).new
        return new, '"passed"' in (tmp_path / "out" / "grades.csv").read_text(encoding="utf-8-sig")

    monkeypatch.setattr(pool, "grade_all", grade_what_has_changed)
    file.write_text(notebook("import torch", right))
    assert grade() == (1, True)
    assert grade() == (1, False)
    file.write_text(notebook("import torch", right))
    assert grade() == (0, True)


def test_files_that_decide_on_verdicts_are_read_from_imports():
    """A journal's results are taken anew when any of these changes, and stay when only what is written from them does."""
    of_lessons = {
        "shared/weight_properties.py",
        "lesson_04_alignment_scores/tasks/_scores.py",
        "lesson_02_weighted_sums/tasks/softmax.py",
    }
    decides = {path.relative_to(policy.PACKAGE.parent).parts for path in decides_on_verdicts()}
    assert of_lessons <= {"/".join(rest) for package, *rest in decides if package == "course_lessons"}
    decides = {"/".join(rest) for package, *rest in decides if package == "course_utils"}
    of_checks = {f"checks/{file}.py" for file in ("judge", "compare", "running/run")}
    assert of_checks | {"models/attention.py", "grading/sandbox/fork_server.py", "base/trees.py"} <= decides
    assert not [path for path in decides if path.startswith(("grading/reports/", "commands/", "training/", "learner/"))]


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_the_course_may_be_reached_through_a_link(tmp_path):
    (tmp_path / "link").symlink_to(policy.PACKAGE.parent)
    code = "from course_utils.grading.judging import notebook_grader\nprint(notebook_grader.__file__, len(notebook_grader.tasks_digest()))"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "link")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, cwd=tmp_path)
    file, length = done.stdout.split()
    assert Path(file).is_relative_to(tmp_path / "link") and length == "64", done.stderr


# The pool alone


def files(submissions):
    return [(found, result_key(found, SEED, Limits())) for found in find(submissions)]


@pytest.mark.thorough
def test_a_file_killing_workers_costs_a_row_and_a_hang_a_retry(submissions, monkeypatch):
    """Both in one run, since starting workers is what takes time."""
    wanted = files(submissions)[:6]
    victim, hung, killed, stopped = wanted[0][0].student, wanted[4][0].student, [], []
    give = pool._Member.give

    def give_and_disturb(member, item, attempt):
        give(member, item, attempt)
        if item[0].student == victim:
            member.process.kill()
            killed.append(member.process.pid)
        elif item[0].student == hung and not stopped:
            os.kill(member.process.pid, signal.SIGSTOP)
            stopped.append(member.process.pid)
            monkeypatch.setattr(pool, "SECONDS_BEYOND", -Limits().whole)  # it is taken for dead at once
        else:
            monkeypatch.setattr(pool, "SECONDS_BEYOND", 120)

    monkeypatch.setattr(pool._Member, "give", give_and_disturb)
    came = list(pool.grade_all(iter(wanted), Plan(SEED, policy.available(), Limits(), ()), 1))
    assert sorted(result.key for result in came) == sorted(key for _, key in wanted)
    assert (len(killed), len(set(killed)), len(stopped)) == (pool.ATTEMPTS, pool.ATTEMPTS, 1)
    by_student = {result.student: result for result in came}
    assert "ended the grader's own process 3 times" in by_student[victim].problem
    assert by_student[hung].verdicts and not by_student[hung].problem
    assert not [p for p in psutil.Process().children() if "spawn_main" in " ".join(p.cmdline())]
