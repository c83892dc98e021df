"""Holds the command line to one sentence for every wrong use, and starts JupyterLab for real.

Not here: what build, lint and data do (their own tests); a browser before JupyterLab (`test_browser.py`).
"""

import ast
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
import timeouts
from repository import ROOT
from running_lab import Lab, free_port

from course_utils import commands
from course_utils.authoring import testing
from course_utils.base import environment
from course_utils.base.errors import CourseError
from course_utils.base.paths import FOLDERS, source_of
from course_utils.commands import doctor, lab, main
from course_utils.learner import state
from course_utils.workspace import copies


def course(folder, *arguments, python=("-m", "course_utils"), **environment):
    """Run the command in a folder, as a user does; PYTHONPATH makes it this checkout's."""
    pipes = {"capture_output": True, "text": True, "stdin": subprocess.DEVNULL, "timeout": timeouts.SECONDS}
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run([sys.executable, *python, *arguments], cwd=folder, env=environment, **pipes)


def complaint(done, code=2):
    """The one sentence that a refused command leaves on stderr."""
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    (line,) = done.stderr.splitlines()
    return line


@pytest.fixture
def copy(tmp_path):
    """A small course of one lesson, with a notebook that reads."""
    source = tmp_path / source_of("notebooks", "00_start_here")
    for folder in (*FOLDERS, source.parent):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    source.write_text("# %%\n1 + 1\n")
    notebook = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "notebooks" / "00_start_here.ipynb").write_text(json.dumps(notebook))
    return tmp_path


@pytest.fixture
def refused(copy, monkeypatch, capsys):
    """The one sentence that a command says in the small course, in this process: one of its own would import PyTorch first."""

    def sentence(*arguments, code=2):
        monkeypatch.chdir(copy)
        capsys.readouterr()
        assert main(list(arguments)) == code
        (line,) = capsys.readouterr().err.splitlines()
        return line

    return sentence


def test_the_version_and_help_are_told_in_each_usual_way(capsys):
    for arguments, said in (["--version"], f"in {ROOT}\n"), (["help"], "To learn:"), (["help", "submit"], "--file"):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 0 and said in capsys.readouterr().out
    assert main([]) == 0
    shown = capsys.readouterr().out
    listed = re.findall(r"^  ([a-z]+) +[A-Z]", shown, re.MULTILINE)
    assert sorted(listed) == commands._names()  # each in one group
    assert "To learn:\n  lab  " in shown


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["fly"], "there is no command `course fly`: `course --help` lists the commands there are."),
        (["submitt"], 'there is no command `course submitt` (did you mean "submit"?): `course --help` lists'),
        (["progress", "99"], "there is no lesson '99'"),
        (
            ["hint", "02.softmax"],
            "`hint` is no command: call it in a cell of a notebook, as in `hint(…)`. `course lab`",
        ),
        (["lab", "here"], "no lesson 'here' (did you mean \"00_start_here\"?): the lessons are"),
        (["lab", "00_stat"], "no lesson '00_stat' (did you mean \"00_start_here\"?)"),
        (["export", "nbgraderr", "out"], "not 'nbgraderr' (did you mean \"nbgrader\"?)"),
        (["translate", "pyprojct.toml"], 'pyprojct.toml: No such file or directory (did you mean "pyproject.toml"?)'),
        (["lab", "--port", "0"], "expected a number from 1 to 65535, not '0'"),
        (["lab", "--port", "many"], "not 'many'"),
        (["lab", "02", "03"], "`course lab` does not know 03: `course lab --help` shows how it is used."),
        (["translate", "--shwo"], '`course translate` does not know --shwo (did you mean "--show"?): `course'),
        (["lab", "stert_here"], "no lesson 'stert_here' (did you mean \"00_start_here\"?): the lessons are"),
        (["lab", "77"], "no lesson '77': the lessons are 00_start_here"),
        (["lab", "../pyproject.toml"], "no lesson '../pyproject.toml'"),
        (["lab", ""], "no lesson ''"),
        (["data"], "there is no such folder"),
    ],
)
def test_wrong_arguments_get_one_sentence(refused, arguments, words, monkeypatch):
    monkeypatch.setenv("COURSE_DATA_MIRROR", "none")
    assert words in refused(*arguments)


def test_progress_is_shown_in_a_terminal_as_in_a_notebook(copy, monkeypatch, capsys):
    monkeypatch.chdir(copy / "exercises")
    monkeypatch.delenv("COURSE_HOME", raising=False)
    monkeypatch.delenv("COURSE_PROGRESS", raising=False)
    assert main(["progress"]) == 0 and "You have not checked an answer yet" in capsys.readouterr().out
    state.change("02.softmax", lambda entry: entry.update(state="passed", passed=True, attempts=2))
    assert main(["progress"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"^1 of \d+ tasks passed, 0 of \d+ questions right$", shown, re.MULTILINE)
    assert "`course progress --all` shows every lesson." in shown
    assert re.search(r"02.softmax +passed +attempts +2", shown) and "\n03 Queries" not in shown
    assert main(["progress", "--all"]) == 0 and "\n03 Queries" in capsys.readouterr().out
    assert main(["progress", "3"]) == 0
    shown = capsys.readouterr().out
    assert "\n03 Queries" in shown and "03.attention" in shown and "02.softmax " not in shown


@pytest.mark.parametrize("command", ["lab", "build", "lint", "progress", "test"])
def test_commands_outside_the_course_fail_in_one_sentence(tmp_path, monkeypatch, capsys, command):
    monkeypatch.chdir(tmp_path)
    assert main([command]) == 2
    told = f"change into the folder of a clone (it holds pyproject.toml and notebooks/), such as {ROOT}"
    assert f"is not inside the course: {told}" in capsys.readouterr().err


def test_the_doctor_names_a_python_without_the_packages():
    done = course(ROOT, "doctor", python=("-S", "-m", "course_utils"))
    assert done.returncode == 2 and f"{sys.executable}, which lacks torch, " in done.stderr
    assert "use the course's own environment" in done.stderr or f"run `{environment.INSTALL}`" in done.stderr


class Answers(BaseHTTPRequestHandler):
    """A server that answers, as a running JupyterLab does."""

    def do_GET(self):
        self.send_response(200)
        self.end_headers()

    def log_message(self, *more):
        """Print nothing."""


def test_a_second_lab_points_to_the_first_without_a_port(copy, monkeypatch, capsys):
    monkeypatch.chdir(copy)
    for name in ("PATH", "JUPYTER_PREFER_ENV_PATH", "PYTHONSTARTUP"):
        monkeypatch.setenv(name, "")  # whatever the command sets, ends with this test
    started = []
    monkeypatch.setattr("jupyterlab.labapp.main", lambda arguments: started.append(arguments))
    first = HTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=first.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{first.server_port}/"
    running = {"root_dir": str(copy / "my_course"), "url": address, "token": "abc"}
    monkeypatch.setattr("jupyter_server.serverapp.list_running_servers", lambda: [running])
    assert main(["lab", "--no-browser"]) == 0 and not started
    assert f" is at {address}lab/tree/notebooks/00_start_here.ipynb?token=abc" in capsys.readouterr().out
    assert main(["lab", "--no-browser", "--port", str(first.server_port)]) == 0
    said = capsys.readouterr().out
    assert f"JupyterLab shows your copies already, at {address}: this is a second one." in said
    assert f"Port {first.server_port} is taken, so JupyterLab takes the next one" in said
    first.shutdown()
    first.server_close()
    for folder in (running["root_dir"], "elsewhere"):  # one that no longer answers, and another one's
        running["root_dir"] = folder
        monkeypatch.chdir(copy)
        assert main(["lab", "--no-browser"]) == 0
    assert len(started) == 3 and "already" not in capsys.readouterr().out


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not let a current folder go: run it elsewhere")
def test_commands_in_a_deleted_folder_fail_in_one_sentence(tmp_path):
    command = (
        "import os, sys; sys.path.insert(0, sys.argv[1]); from course_utils.commands import main;"
        "os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone'); sys.exit(main(['lint']))"
    )
    done = course(tmp_path, str(ROOT), python=("-c", command))
    assert "current folder is gone" in complaint(done)


@pytest.mark.parametrize("content", [b"not a notebook", b"[]", b"{}", b"\xff", None])
def test_an_unreadable_or_missing_notebook_gets_one_sentence(copy, refused, content):
    file = copy / "notebooks" / "00_start_here.ipynb"
    file.unlink() if content is None else file.write_bytes(content)
    what = "is not there" if content is None else "cannot be read as a notebook"
    assert f"00_start_here.ipynb {what}: run `course build 00`" in refused("lab", "0")


def test_build_of_an_unknown_lesson_exits_with_code_1(refused):
    assert "77" in refused("build", "77", code=1)


def test_lab_opens_an_existing_copy_and_says_what_is_newer(copy, refused, capsys):
    built, mine = copy / "notebooks" / "00_start_here.ipynb", copy / "my_course" / "notebooks" / "00_start_here.ipynb"
    shutil.copy(ROOT / "notebooks" / built.name, built)
    assert lab._notebook(copy, "0") == "notebooks/00_start_here.ipynb"
    kept = json.loads(mine.read_text(encoding="utf-8"))
    kept["metadata"]["course"]["copied"]["version"] = "an older one"
    mine.write_text(json.dumps(kept), encoding="utf-8")
    assert lab._notebook(copy, "0") == "notebooks/00_start_here.ipynb"
    copies.say_what_is_newer(copy)
    assert capsys.readouterr().out.startswith("There is a newer version of 00: `course update` brings it")
    built.unlink()
    assert lab._notebook(copy, "0") == "notebooks/00_start_here.ipynb"
    mine.write_text("not a notebook")
    assert "my_course/notebooks/00_start_here.ipynb cannot be read as a notebook of today's format" in refused("lab")


@pytest.mark.parametrize("version", [(3, 9), (3, 14)])
def test_a_wrong_python_gets_one_sentence(tmp_path, version):
    pretend = f"import sys; sys.version_info = {version}; from course_utils.commands import main; exit(main([]))"
    done = course(tmp_path, python=("-c", pretend))
    assert f"needs Python 3.10 to 3.13, and this is {version[0]}.{version[1]}" in complaint(done)


@pytest.mark.parametrize(
    "error, words",
    [
        (PermissionError(13, "Permission denied", "exercises/x.ipynb"), "course: cannot use exercises/x.ipynb: Perm"),
        (ZeroDivisionError("odd"), "something went wrong (ZeroDivisionError: odd)"),
        (ValueError("there are 3"), "something went wrong (ValueError: there are 3): set COURSE_DEBUG=1"),
        (CourseError("no \x1b[31mred\x07\u202e"), "course: no \ufffd[31mred\ufffd\ufffd\n"),  # as a stranger calls it
        (CourseError("x" * 10**6), "course: " + "x" * 1999 + "…\n"),
        (KeyboardInterrupt(), ""),
    ],
)
def test_no_traceback_of_ours_reaches_a_user(monkeypatch, capsys, error, words):
    def broken(options):
        raise error

    monkeypatch.setattr(commands.doctor, "run", broken)
    monkeypatch.delenv("COURSE_DEBUG", raising=False)
    if isinstance(error, KeyboardInterrupt):
        assert main(["doctor"]) == 130 and capsys.readouterr() == ("", "")
        return
    assert main(["doctor"]) == 2
    assert words in capsys.readouterr().err
    monkeypatch.setenv("COURSE_DEBUG", "1")
    with pytest.raises(type(error)):
        main(["doctor"])


# JupyterLab


def test_lab_opens_a_copy_of_the_lesson_and_ends_at_ctrl_c(copy):
    with Lab(copy / "exercises", "00_start_here", "--port", str(port := free_port())) as lab:
        assert (lab.port, lab.path) == (port, "notebooks/00_start_here.ipynb")
        assert "<title>JupyterLab</title>" in lab.get(f"lab/tree/{lab.path}")
        news = json.loads(lab.get("lab/api/settings/@jupyterlab/apputils-extension:notification"))
        assert news["schema"]["properties"]["fetchNews"]["default"] == "false"  # no question about news
        assert json.loads(lab.get(f"api/contents/{lab.path}"))["type"] == "notebook"
        assert (copy / "my_course" / lab.path).is_file() and "see my_course/notebooks/00" in "".join(lab.printed)
        kernel = json.loads(lab.get("api/kernelspecs"))["kernelspecs"]["python3"]["spec"]
        assert kernel["display_name"] == "Attention course"
        assert kernel["argv"][0] == sys.executable
        if sys.platform != "win32":
            assert lab.stop(signal.SIGINT) in (0, 130)
            assert "Traceback" not in "".join(lab.printed)
            assert len("".join(lab.printed).splitlines()) < 15  # the address is not lost in a log


@pytest.mark.parametrize("set_to, shown", [("DISPLAY", True), ("", False), ("DISPLAY SSH_CONNECTION", False)])
def test_a_browser_is_opened_only_where_there_is_a_display(monkeypatch, set_to, shown):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "CI", "SSH_CONNECTION"):
        monkeypatch.delenv(name, raising=False)
    for name in set_to.split():
        monkeypatch.setenv(name, ":0")
    monkeypatch.setattr(sys, "platform", "linux")
    assert lab._has_display() is shown


def test_the_kernel_is_written_once_into_this_environment(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert not environment.kernel_is_ours()
    times = []
    for _ in range(2):
        lab._set_up_kernel()
        assert environment.kernel_is_ours()
        times.append((environment.kernel_folder() / "kernel.json").stat().st_mtime_ns)
    assert times[0] == times[1]


def test_lab_knows_a_port_that_is_taken():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
        assert not lab._is_taken(port)
        server.listen()
        assert lab._is_taken(port)


# The doctor


def test_the_doctor_looks_at_everything_and_says_what_to_do(capsys):
    code, said = main(["doctor"]), capsys.readouterr().out
    names = " ".join(line.split()[0] for line in said.splitlines())
    assert names == "Python torch device threads translators memory kernel reviews translations language Chromium locks"
    assert code == (1 if "TO DO" in said else 0)


def test_the_doctor_finds_what_is_wrong(monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_DATA_MIRROR", str(tmp_path))
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "none"))
    monkeypatch.setattr(doctor, "TRANSLATION", ("safetensors", "no_such_library"))
    import pooch  # noqa: F401  it reads version_info, which is a plain tuple below

    monkeypatch.setattr(sys, "version_info", (3, 9, 1))
    rows = {row.name: row for row in doctor.rows()}
    assert not rows["Python"].ok and "3.10 to 3.13" in rows["Python"].advice
    for name, data_set in (("reviews", "SST-2"), ("translations", "Multi30k"), ("language model", "SmolLM2")):
        assert not rows[name].ok and f"COURSE_DATA_MIRROR lacks {data_set}" in rows[name].advice
    browser = rows["Chromium (for developers)"]
    assert browser.ok and "playwright install chromium" in browser.advice
    assert (rows["translators"].ok, rows["translators"].value) == (False, "no_such_library missing")
    assert all(row.advice for row in rows.values() if not row.ok)


def test_doctor_checks_each_data_set_alone_for_all_its_files(monkeypatch, tmp_path):
    from course_utils.data import download

    monkeypatch.delenv("COURSE_DATA_MIRROR", raising=False)
    monkeypatch.setenv("COURSE_DATA", str(tmp_path))
    (tmp_path / "multi30k").mkdir()
    for path in [path for path in download.REGISTRY if path.startswith("multi30k/")]:
        rows = {row.name: row.value for row in doctor.rows()}
        assert rows["translations"] == "the generated world, until Multi30k is there"
        (tmp_path / path).touch()
    rows = {row.name: row.value for row in doctor.rows()}
    assert rows["translations"] == "Multi30k, from this computer's cache"
    assert rows["reviews"] == "generated reviews, until SST-2 is there"


def test_the_doctors_table_reads_as_text_and_as_html():
    report = doctor.Report([doctor.Row("kernel", "<none>", False, "run it")])
    assert str(report) == "kernel  <none>  TO DO: run it"
    assert '<th scope="row"' in report._repr_html_()
    assert "&lt;none&gt;" in report._repr_html_() and "TO DO: run it" in report._repr_html_()


# course test


def test_results_are_counted_and_reasons_kept(tmp_path):
    def read(*cases):
        (tmp_path / "results.xml").write_text(f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>")
        step = testing.Step("tests")
        testing.read_results(tmp_path / "results.xml" if cases else tmp_path / "none.xml", step)
        return step

    bad = [f"<testcase><{way}/></testcase>" for way in ("failure", "error")]
    step = read("<testcase/>", *bad, '<testcase><skipped message="set X"/></testcase>')
    assert step.counts == {"passed": 1, "failed": 2, "skipped": 1}
    last = testing.closing_table([step, testing.Step("style", Counter(passed=2))]).splitlines()
    assert last[-1] == "3 passed, 2 failed, 1 skipped"
    assert "  1 x set X" in last
    for without_tests in ("",), ("<testcase><skipped/></testcase>",), ():
        assert read(*without_tests).counts["failed"] == 1


def test_an_older_python_can_read_what_tells_it_so():
    of_base = [f"base/{name}.py" for name in ("environment", "errors", "set_up")]
    for name in ("__init__.py", "__main__.py", "commands/__init__.py", *of_base):
        text = (ROOT / "course_utils" / name).read_text(encoding="utf-8")
        ast.parse(text, feature_version=(3, 7))
        newer = re.search(r"\w \| None|\b(list|dict|tuple)\[", text)  # in an annotation, which is then not evaluated
        assert not newer or "from __future__ import annotations" in text, name


@pytest.mark.thorough
def test_course_test_runs_all_steps_although_some_fail(copy):
    (copy / "tests").mkdir()
    (copy / "tests" / "test_one.py").write_text("def test_one():\n    assert True\n")
    (copy / "ugly.py").write_text("import os,sys\n")
    done = course(copy, "test")
    assert done.returncode == 1
    assert re.search(r"code style +1 failed", done.stdout)
    assert re.search(r"tests +1 passed", done.stdout)
    assert re.search(r"notebooks +1 failed", done.stdout), "the copy's notebook has no cell"
    assert re.fullmatch(r"\d+ passed, \d+ failed, \d+ skipped", done.stdout.splitlines()[-1])


def test_course_test_counts_what_is_left_to_the_thorough_run(tmp_path):
    for process, seeds in (("gw0", 3), ("gw1", 1000)):  # each of them sees all tests, and tries a part of them
        (tmp_path / f"{process}.json").write_text(json.dumps({"tests": 7, "seeds of inputs": seeds}))
    step = testing.Step("tests", Counter(passed=1))
    testing._read_left(tmp_path, step)
    table = testing.closing_table([step])
    _, left = table.split("What was left to the thorough run, `make test-all`\n")
    assert sorted(left.splitlines()[:2]) == ["  1,003 seeds of inputs", "  7 tests"]
    assert "left to" not in testing.closing_table([testing.Step("tests", Counter(passed=1))])
