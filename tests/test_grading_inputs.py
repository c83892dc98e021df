"""What comes into grading: files and names of any kind, the class's list, the instructor's settings, and the points."""

import json
import os
import random
import re
import subprocess
import sys
import time
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import pytest
import sampling
import torch
from hypothesis import given
from hypothesis import strategies as st
from lesson_03_tasks import FOUR
from repository import ROOT
from submissions import notebook
from tasks import as_answer

from course_utils.base.errors import CourseError
from course_utils.base.paths import file_of, names_in
from course_utils.checks import catalogue
from course_utils.checks.catalogue import solutions
from course_utils.checks.compare import KINDS
from course_utils.checks.judge_answer import judge_answer
from course_utils.checks.running.limit import time_limit
from course_utils.data.download import REGISTRY, fetch
from course_utils.grading.ingest import notebook_file, submissions
from course_utils.grading.ingest.class_settings import Settings, SettingsError, read_settings, written_out
from course_utils.grading.ingest.lessons import names_by_lesson, refuse_the_lesson
from course_utils.grading.ingest.notebook_file import (
    Notebook,
    Unreadable,
    definition,
    definitions,
    fingerprint,
    likely_rename,
    notebook_in,
    read_notebook,
)
from course_utils.grading.ingest.overrides import read_overrides
from course_utils.grading.ingest.roster import read_roster, submitted
from course_utils.grading.ingest.submissions import SubmissionError, find
from course_utils.grading.ingest.table import TableError
from course_utils.grading.ingest.tampering import find_tampering
from course_utils.grading.reports.points import graded, score
from course_utils.grading.storage.record import Person, Result, Verdict

KNOWN = names_by_lesson()
TASKS = {task.id: task for asked in catalogue.by_lesson().values() for task in asked}


def read(folder, content, name="handed_in.ipynb", **more):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    return read_notebook(path, KNOWN, **more)


# Notebooks


@pytest.mark.parametrize("lesson", names_in(ROOT, "exercises"))
def test_the_courses_own_notebooks_are_read(lesson):
    exercise, solution = (read_notebook(ROOT / file_of(folder, lesson), KNOWN) for folder in ("exercises", "solutions"))
    assert exercise.lesson == solution.lesson == lesson[:2]
    assert exercise.remarks == solution.remarks == ()
    for task in catalogue.by_lesson()[exercise.lesson]:
        name = task.answer_name
        assert len(definitions(exercise.cells, name)) == len(definitions(solution.cells, name)) == 1
        assert fingerprint(definition(exercise.cells, name)) == ""
        code, stored = definition(solution.cells, name, 10**6), solutions()[task.id]
        assert fingerprint(code) in (fingerprint(stored), fingerprint(definition((stored,), name))) and fingerprint(
            code
        )


@pytest.mark.parametrize("lesson", names_in(ROOT, "exercises"))
def test_refuse_the_lesson_refuses_lessons_and_never_exercises(lesson):
    itself, exercise = (read_notebook(ROOT / file_of(folder, lesson), KNOWN) for folder in ("notebooks", "exercises"))
    refuse_the_lesson(exercise)
    questions = tuple(f'check("{question.id}", "a")' for question in catalogue.questions_of(lesson[:2]))
    unchecked = tuple(cell for cell in exercise.cells if "check(" not in cell)
    refuse_the_lesson(replace(exercise, cells=(*unchecked, *questions)))  # as handed out with questions, checks deleted
    if lesson[:2] != "00":  # which shows the check of a task
        with pytest.raises(
            Unreadable, match=f"This is lesson {lesson[:2]} itself: your answers are in the notebook of"
        ):
            refuse_the_lesson(itself)


def test_refuse_the_lesson_accepts_a_notebook_of_no_lesson():
    refuse_the_lesson(Notebook(("x = 1",), ""))


def of_nbformat_3(**cell):
    return json.dumps({"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "code"} | cell]}]})


def test_every_form_of_a_notebook_is_read(tmp_path):
    source = 'x = 1\ncheck("03.attention", attention)'
    forms = {
        "a text": notebook(source),
        "lines": notebook(source.splitlines(keepends=True)),
        "a byte order mark": b"\xef\xbb\xbf" + notebook(source).encode(),
        "nbformat 3": of_nbformat_3(input=source),
        "nbformat 3 whose lines have no ends": of_nbformat_3(input=source.split("\n")),
        "nbformat 3 with a source that Jupyter does not show": of_nbformat_3(input=source, source="y"),
        "a key twice": notebook(source).replace('"cells"', '"cells": 1, "cells"'),
        "NaN and huge numbers": notebook(source, metadata={}).replace(
            '"metadata": {}, "cells"',
            f'"metadata": {{"a": NaN, "b": -Infinity, "c": {"9" * 10**6}, "d": 1e999}}, "cells"',
        ),
        "Windows lines": notebook(source.replace("\n", "\r\n")),
        "no version": notebook(source).replace('"nbformat": 4, ', ""),
    }
    for form, content in forms.items():
        found = read(tmp_path, content)
        assert (found.cells, found.lesson, found.remarks) == ((source,), "03", ()), form


def test_read_notebook_ignores_other_cells_and_outputs(tmp_path):
    picture = {"data": {"image/png": "A" * 15_000_000}}
    cells = [
        {"cell_type": "markdown", "source": "def attention(): pass"},
        {"cell_type": "raw", "source": 3},
        {"cell_type": "code", "source": ["a =", " 1"], "outputs": [picture]},
    ]
    found = read(tmp_path, json.dumps({"cells": cells}))
    assert found.cells == ("", "", "a = 1") and found.remarks == ()


def test_cells_that_cannot_be_run_are_left_out_alone_and_named(tmp_path):
    cells = [
        {"cell_type": "code", "source": "a = 1"},
        {"cell_type": "code", "source": None},
        {"cell_type": "code", "source": ["b = ", 2]},
        {"cell_type": "code"},
        7,
        {"cell_type": "code", "source": "x" * 200_001},
        {"cell_type": "code", "source": "z = 1"},
    ]
    found = read(tmp_path, json.dumps({"cells": cells}))
    assert found.cells == ("a = 1", "", "", "", "", "", "z = 1")
    assert [remark.partition(" was")[0] for remark in found.remarks] == [f"Cell {n}" for n in (2, 3, 5, 6)]
    assert "200,001 characters" in found.remarks[-1]
    much = read(tmp_path, notebook(*["y" * 150_000] * 4, "z = 1"))
    assert [len(cell) for cell in much.cells] == [150_000] * 3 + [0, 5] and "500,000" in much.remarks[0]
    many = read(tmp_path, json.dumps({"cells": [None] * 2000}))
    assert len(many.remarks) == 11 and many.remarks[-1].startswith("1,990 more")
    assert read(tmp_path, '{"cells": []}').remarks == ("The notebook holds no code cell.",)


def test_read_notebook_replaces_what_no_text_may_hold(tmp_path):
    text = notebook("a = 'Ä\\u0000'").replace("\\\\u0000", "\\u0000\\ud800\\udc00\\udfff")
    (cell,) = read(tmp_path, text).cells
    assert cell == "a = 'Ä\ufffd\U00010000\ufffd'"
    cell.encode()


REFUSED = {
    "empty": (b"", "is empty"),
    "blanks": (b" \n\n ", "is empty"),
    "zeros": (b"\0" * 4096, "zeros"),
    "UTF-16": (notebook("a").encode("utf-16"), "UTF-16"),
    "UTF-16 without a mark": (notebook("a").encode("utf-16-le"), "UTF-16"),
    "Latin-1": (notebook("a").replace("code", "code\nä").encode("latin-1"), "Line 2 holds a byte that is not UTF-8"),
    "a web page": (b"<!DOCTYPE html>\n<html><body>Sign in</body></html>", "web page"),
    "XML": (b"<?xml version='1.0'?><a/>", "web page"),
    "a ZIP": (b"PK\x03\x04....", "ZIP"),
    "a PDF": (b"%PDF-1.7 ...", "PDF"),
    "gzip": (b"\x1f\x8b\x08\x00", "gzip"),
    "Python": (b"import torch\n\ndef attention(q):\n    return q\n", "Python code"),
    "Markdown": (b"# Attention\n\nA course.\n", "This is text"),
    "text": (b"Dear professor, my dog ate it.", "This is text"),
    "Git LFS": (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "Git LFS"),
    "an open merge": (
        b'{\n "cells": [\n<<<<<<< HEAD\n 1\n=======\n 2\n>>>>>>> mine\n ]}',
        "Line 3 holds a mark of Git",
    ),
    "cut off": (notebook("a = 1")[:-20].encode(), "breaks off"),
    "cut off in a text": (notebook("a = 1 + 2 + 3")[:80].encode(), "breaks off"),
    "a comma too much": (b'{\n"cells": [],\n}', "not the JSON of a notebook: line "),
    "a raw NUL": (notebook("a@b").replace("@", "\0").encode(), "invalid control character"),
    "a list": (b"[]", "holds a list"),
    "a number": (b"3.5", "holds null or a number"),
    "other JSON": (b'{"name": "alice"}', "has no cells"),
    "cells that are null": (b'{"cells": null}', "cells are a list"),
    "cells that are an object": (b'{"cells": {}}', "here they are an object"),
    "a worksheet that is none": (b'{"worksheets": [3]}', "cells are a list"),
    "cells twice": (notebook("a = 1", nbformat=3, worksheets=[]).encode(), "holds its cells twice"),
    "too many cells": (json.dumps({"cells": [{"cell_type": "markdown"}] * 2001}).encode(), "2,001 cells"),
    "deep": (b"[" * 100_000 + b"]" * 100_000, "lists within lists"),
    "deep and open": (b'{"cells":' * 100_000, "lists within lists"),
    "many lists": (b'{"cells":[' + b"[]," * 600_000 + b"0]}", "more than 500,000 lists"),
}


@pytest.mark.parametrize("content", REFUSED)
def test_read_notebook_says_what_a_file_is_that_is_no_notebook(tmp_path, content):
    data, said = REFUSED[content]
    with pytest.raises(Unreadable) as refused:
        read(tmp_path, data)
    sentence = str(refused.value)
    assert said in sentence and sentence.endswith(".") and len(sentence) < 300 and "\n" not in sentence
    assert str(tmp_path) not in sentence


def test_a_file_that_is_too_large_is_not_read(tmp_path):
    path = tmp_path / "sparse.ipynb"
    with open(path, "wb") as file:
        file.truncate(10**12)  # takes no room on the disk
    started = time.process_time()
    with pytest.raises(Unreadable, match="clear the outputs"):
        read_notebook(path, KNOWN)
    assert time.process_time() - started < 1
    text = notebook("a = 1")
    assert read(tmp_path, text, largest=len(text)).cells == ("a = 1",)
    with pytest.raises(Unreadable, match="MB"):
        read(tmp_path, text, largest=len(text) - 1)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")
def test_read_notebook_opens_only_ordinary_files(tmp_path):
    (tmp_path / "real.ipynb").write_text(notebook("a = 1"))
    (tmp_path / "link.ipynb").symlink_to(tmp_path / "real.ipynb")
    os.mkfifo(tmp_path / "pipe.ipynb")  # opening it would wait for a writer
    (tmp_path / "folder.ipynb").mkdir()
    (tmp_path / "device.ipynb").symlink_to("/dev/zero")
    for name, said in {"link": "link", "pipe": "pipe", "folder": "folder", "device": "link", "none": "opened"}.items():
        with pytest.raises(Unreadable, match=said):
            read_notebook(tmp_path / f"{name}.ipynb", KNOWN)
    with pytest.raises(Unreadable, match="pipe, socket or device"):
        read_notebook(Path("/dev/zero"), KNOWN)
    for name in ("\0", "x" * 5000):
        with pytest.raises(Unreadable, match="opened"):
            read_notebook(tmp_path / name, KNOWN)


def _costs(content, tmp_path):
    """Peak memory in MB and seconds of the processor that reading takes in a process of its own."""
    path = tmp_path / "hostile.ipynb"
    path.write_bytes(content)
    code = """if True:
        import resource, sys
        from course_utils.grading.ingest.notebook_file import read_notebook, Unreadable
        try: read_notebook(sys.argv[1], {})
        except Unreadable: pass
        used = resource.getrusage(resource.RUSAGE_SELF)
        peak = used.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
        if sys.platform == "linux":  # where the former counts what the process was before it began this program, too
            peak = next(int(line.split()[1]) / 1e3 for line in open("/proc/self/status") if line.startswith("VmHWM"))
        print(peak, used.ru_utime + used.ru_stime)"""
    run = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, cwd=ROOT, check=True)
    return tuple(map(float, run.stdout.split()))


@pytest.mark.skipif(sys.platform == "win32", reason="memory is measured on Unix only")
def test_the_costliest_json_stays_below_a_gigabyte(tmp_path):
    full, brackets = notebook_file.LARGEST, notebook_file.BRACKETS
    objects = (b'{"":' * 400 + b"0" + b"}" * 400 + b",") * (brackets // 400 - 1)
    texts = '"Ā",'.encode() * ((full - len(objects) - 100) // 5)
    wide = '"\U0001f600"'.encode()  # makes every character of the text take four bytes
    words = b"**Answer to 03.why:** " + b"attachment:%41" * ((full - 300) // 14)
    cell = b'{"cells": [{"cell_type": "markdown", "source": "' + words + b" " * ((full - 300) % 14 + 180) + b'"}]}'
    for content in (b"[" + objects + texts + wide + b"]", b"[" + b"[]," * (full // 3 - 1) + b"0]", cell):
        assert full - 200 < len(content) <= full
        megabytes, seconds = _costs(content, tmp_path)
        assert megabytes < 1000 and seconds < 15, (megabytes, seconds)


# The lesson


def test_a_lesson_is_found_by_name_checks_then_tasks(tmp_path):
    check, stamp = 'check("03.attention", attention)', {"course": {"lesson": "02"}}
    assert read(tmp_path, notebook(check, metadata=stamp), "04_x.ipynb").lesson == "03"
    assert read(tmp_path, notebook(check, "check('04.dot', dot)", check), "x.ipynb").lesson == "03"
    assert read(tmp_path, notebook(check, "check('04.dot', dot)", check), "04_x.ipynb").lesson == "04"
    assert read(tmp_path, notebook(check, "check('04.dot', dot)"), "04_x.ipynb").lesson == "04"
    assert read(tmp_path, notebook("def attention(q): ...", metadata=stamp), "04_x.ipynb").lesson == "02"
    assert read(tmp_path, notebook("def attention(q): ..."), "04_x.ipynb").lesson == "03"
    assert read(tmp_path, notebook("a = 1"), "04_x.ipynb").lesson == "04"
    assert read(tmp_path, notebook("a = 1"), "99_x.ipynb").lesson == ""
    assert read(tmp_path, notebook("check('99.attention', f)"), "work.ipynb").lesson == ""
    for strange in ([], "02\n", {"lesson": ["02"]}, 2, None):
        assert read(tmp_path, notebook("a = 1", metadata={"course": strange})).lesson == ""


def test_the_lesson_that_a_notebook_names_wins(tmp_path):
    answers = "def causal_mask(n): return n", "def attention(q): return q"
    check, checked = "def softmax(x): return x", "check('02.softmax', softmax)"
    code = lambda source: {"cell_type": "code", "source": source}  # noqa: E731
    cells = [code(each) for each in (*answers, check, checked)]
    title = {"cell_type": "markdown", "metadata": {}, "source": "# 03 Queries, keys, values: exercises"}
    rest = (
        "The notebook also holds tasks of lesson {}. Only those of lesson {} count: hand in a notebook for each lesson."
    )
    known = {"02": ["softmax"], "03": ["causal_mask", "attention"]}
    for named, name in (
        ({"cells": [title, *cells]}, "x.ipynb"),
        ({"cells": cells, "metadata": {"course": {"lesson": "03"}}}, "x.ipynb"),
        ({"cells": cells}, "03_x.ipynb"),
    ):
        found = notebook_in(named, known, name)
        assert (found.lesson, found.remarks) == ("03", (rest.format("02", "03"),))
    found = notebook_in({"cells": cells}, known, "x.ipynb")
    assert (found.lesson, found.remarks) == ("02", (rest.format("03", "02"),))
    helper = notebook_in({"cells": [title, *cells[:2], code("def softmax(x): return x")]}, known, "x.ipynb")
    assert (helper.lesson, helper.remarks) == ("03", ())


# Definitions

STYLES = {
    "plain": "def attention(q):\n    return q",
    "async": "async  def attention (q):\n    return q",
    "class": "class attention:\n    def __call__(self, q):\n        return q",
    "lambda": "attention = lambda q: q",
    "typed": "attention: Callable = other",
    "decorated": "@cache\n@other(1)\ndef attention(q):\n    return q",
    "black": "def attention(\n    q,\n    k,\n):\n    return q",
    "blank lines": "def attention(q):\n\n    k = q\n\n# at the margin\n    return k",
    "a text at the margin": 'def attention(q):\n    """One\ntwo\n\ndef other(): three\n"""\n    return q',
}


@pytest.mark.parametrize("style", STYLES)
def test_definitions_are_found_whole(style):
    code = STYLES[style]
    cell = f"x = 1\n\n{code}\n\n\n# what follows\nprint(attention)\n"
    assert definitions(("a", cell, "b"), "attention") == [1]
    assert definition(("a", cell, "b"), "attention") == code
    assert definition((code,), "attention") == code


@pytest.mark.parametrize(
    "inside",
    [
        "with torch.no_grad():\n    {}",
        "try:\n    x = 1\n    {}\nexcept ImportError:\n    pass",
        'if __name__ == "__main__":\n    {}',
        "if True:\n    def g(\n        x,\n    ):\n        return x\nelse:\n    {}",
        "for _ in range(1):\n\n    # twice\n    with a, b:\n        {}",
        "class A:\n    x = 1\n\n\nif a(\n    1\n):\n    {}",
        ">>> {}\n>>> attention(3)",
        "\n    {}\n    attention(3)",
    ],
)
def test_definitions_finds_those_in_blocks_and_behind_prompts(inside):
    function = "def attention(q):\n    return q"
    edge = inside.partition("{}")[0].rpartition("\n")[2]
    edge = "... " if ">>>" in edge else edge
    cell = inside.format(function.replace("\n", f"\n{edge}"))
    assert definitions((cell,), "attention") == [0]
    assert definition((cell,), "attention") == function
    of_a_class = "class A:\n    def attention(q):\n        return q\n\n    if True:\n        attention = 3"
    assert definitions((of_a_class,), "attention") == []


def test_a_notebook_of_two_lessons_is_told_which_counts():
    cells = [
        {"cell_type": "code", "source": f'check("{task}", 1)'}
        for task in ("03.causal_mask", "03.attention", "04.my_task")
    ]
    known = {"03": ["causal_mask", "attention"], "04": ["my_task"]}
    remarks = notebook_in({"cells": cells}, known, "x.ipynb").remarks
    assert remarks == (
        "The notebook also holds tasks of lesson 04. Only those of lesson 03 count: hand in a notebook for each lesson.",
    )
    assert notebook_in({"cells": cells[:2]}, known, "x.ipynb").remarks == ()


def test_definitions_ignores_what_only_looks_like_a_definition():
    for cell in (
        "attention == 3", "attention(q)", "# def attention(q):", "x = 1\n    def attention(q): pass", "attentions = 1",
        "from x import attention", 's = """\ndef attention(q):\n"""', "s = 'a\\\nattention = 3'", "attention += 1", "",
    ):  # fmt: skip
        assert definitions((cell,), "attention") == [], cell
        assert definition((cell,), "attention") == ""


def test_the_last_definition_counts_and_is_cut():
    cells = ("def f(a):\n    return 1", "f = 2", "y = 1", "def f(b):\n    return 3\ndef f(c):\n    return 4")
    assert definitions(cells, "f") == [0, 1, 3]
    assert definition(cells, "f") == "def f(c):\n    return 4"
    cut = definition(("def f(c):\n" + "    c += 1\n" * 1000,), "f")
    assert len(cut) == 4000 and cut.endswith("…")


def test_a_renamed_function_is_found():
    cells = ("def plot(x): ...", "def attn(q): ...\ndef padding_mask(n): ...", "class Helper: ...", "total = 3")
    assert likely_rename(cells, "attention", ["padding_mask"]) == "attn"
    assert likely_rename(cells, "paddingMask", ["padding_mask"]) == ""
    assert likely_rename(("def CausalMask(n): ...",), "causal_mask", []) == "CausalMask"
    assert likely_rename(("def dot_product(n): ...",), "dot", []) == "dot_product"
    assert likely_rename(("def softmax(n): ...",), "masked_softmax", ["softmax"]) == ""
    assert likely_rename(("def f(n): ...", "def main(): ..."), "attention", []) == ""
    assert likely_rename((), "attention", []) == ""
    checked = ("def my_attention(q): ...", 'check("03.attention", my_attention)')
    assert likely_rename(checked, "catch_wrong_attention", []) == ""
    assert likely_rename(checked[:1], "catch_wrong_attention", []) == "my_attention"


BASE = "def f(a, b=(1, 2)):\n    total = a + b\n    return total * 2"
SAME = (
    "def f( a,b = (1,2) ) :\n  total=a+b   # sum\n\n  return total*2\n\n",
    'def f(a, b=(1, 2)):\n    """Adds.\n\n    Twice."""\n    total = a + b\n    "and more"\n    return total * 2',
    "def f(\n    a,\n    b=(\n        1, 2)\n):\n    # first\n    total = a + \\\n        b\n    return total * 2",
    "def f(a, b=(1, 2)): # x\n\ttotal = a + b\n\n\n\treturn total * 2  # def f()",
    "def g(query, key_=(1, 2)):\n    zzz = query + key_\n    return zzz * 2",
)
OTHER = (
    "def f(a, b=(1, 2)):\n    total = a - b\n    return total * 2",
    "def f(a, b=(1, 2)):\n    total = a + b\n    return total * 3",
    "def f(a, b=(1, 2)):\n    sum = a + b\n    return sum * 2",
    'def f(a, b=(1, 2)):\n    total = a + b\n    return total * "2"',
    "def f(a, b=(1, 2)):\n    total = a + a\n    return total * 2",
    "def f(a, b=(1, 2)):\n    total = b + a\n    return a * 2",
    "def f(a, b=(1, 2)):\n    total = a.T + b\n    return total * 2",
    "def f(a, b=(1, 2)):\n    total = a.mT + b\n    return total * 2",
)


def test_fingerprints_overlook_only_layout_and_local_names():
    assert {fingerprint(code) for code in SAME} == {fingerprint(BASE)}
    assert len({fingerprint(code) for code in (BASE, *OTHER)}) == len(OTHER) + 1
    assert fingerprint("def f():\n    return 'a # b'") != fingerprint("def f():\n    return 'a # c'")
    long = "def f():\n" + "    x = 1\n" * 10_000
    assert fingerprint(long) != fingerprint(long + "    return x\n")


def test_stubs_have_no_fingerprint():
    for body in ("raise NotImplementedError", "raise NotImplementedError('to do')", "pass", "..."):
        assert fingerprint(f'def f(a: int, key=lambda x: x) -> "int":\n    """What."""\n    # here\n    {body}\n') == ""
        layer = "class Layer(nn.Module):\n    def __init__(self):\n        super().__init__()\n\n    def forward(self, x):\n        "
        assert fingerprint(f"{layer}{body}\n") == "" != fingerprint(f"{layer}return x\n")
    for empty in ("", "\n\n", "# only a comment", '"""text"""', "def f(a):\n    '''Only a docstring.'''"):
        assert fingerprint(empty) == ""
    of_its_own = (
        "f = lambda a: a",
        "f = g",
        "class F:\n    x = 1",
        "def f(): return 1",
        "def f():\n    raise ValueError",
    )
    for answer in of_its_own:
        assert re.fullmatch("[0-9a-f]{16}", fingerprint(answer))


GARBAGE = st.text(alphabet="\"'#\\\n\t ()[]{}:=@.;rbfadef…\0\ud800", max_size=200)


@given(st.lists(GARBAGE, max_size=4))
def test_garbage_is_searched_all_the_same(cells):
    cells = tuple(cells)
    for name in ("f", "a"):
        found = definitions(cells, name)
        assert bool(definition(cells, name)) == bool(found)
    likely_rename(cells, "deaf", ["f"])
    assert all(fingerprint(cell) == fingerprint(cell + "\n") for cell in cells if not re.search(r"\\|\"|'", cell))


@given(st.binary(max_size=300))
def test_any_bytes_are_a_notebook_or_a_sentence(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "any.ipynb"
    path.write_bytes(data)
    with pytest.raises(Unreadable) as refused:
        read_notebook(path, KNOWN)
    assert str(refused.value).endswith(".")


def test_hostile_code_is_searched_in_linear_time(tmp_path):
    random.seed(0)
    patterns = ["''", '"', '"""a', "'''\\\"", "\"'#\\\n", " ", "a ", "a: ", "\n", "@a\n", "def f(x):\n", "check(", "(", '"""' + "'''",
                "async ", "rb'", "a" * 90 + "=", "".join(random.choices("\"'\\\n#=: ", k=97))]  # fmt: skip
    for pattern in patterns:
        cell = (pattern * notebook_file.CELL)[: notebook_file.CELL]
        cells = (cell, "f = 1\n" + cell[:-6], cell[:90_000] + "\nf = 1\n")
        started = time.process_time()
        assert isinstance(definition(cells, "f"), str)
        likely_rename(cells, "attention", [])
        fingerprint(cell)
        assert time.process_time() - started < 5, repr(pattern)  # 0.2 s at most on a quiet machine


@pytest.mark.parametrize("repeated", [" ", "#", "# ", "`", "x"])
def test_a_hostile_heading_is_searched_in_linear_time(repeated):
    started = time.process_time()
    find_tampering([("", "#" + repeated * 50_000)], [], "03")
    assert time.process_time() - started < 2, repr(repeated)  # milliseconds; it took 9 s for blanks


def test_notebook_file_compiles_and_runs_nothing_of_a_learners():
    source = Path(notebook_file.__file__).read_text(encoding="utf-8")
    assert not re.search(
        r"\b(ast|eval|compile_command|pickle|importlib|tokenize)\b|\bexec\(", source.replace("re.compile", "")
    )
    assert "compile(" not in source.replace("re.compile(", "")


# Submissions


def lay(folder, *names):
    """Make these files, and these folders where a name ends in "/"."""
    for name in names:
        path = folder / name
        (path if name.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
        if not name.endswith("/"):
            path.write_text("{}")
    return folder


def found(folder, roster=None, **more):
    return [(f.student, f.file) for f in find(folder, roster, **more)]


def test_flat_files_and_folders_are_found_in_natural_order(tmp_path):
    lay(tmp_path, "alice.ipynb", "bob/03/hand_10.ipynb", "bob/03/hand_2.ipynb", "bob/hand_1.IPYNB", "s10.ipynb", "s9.ipynb",
        "carl/submitted/03/deep/er/x.ipynb", ".git/x.ipynb", "__MACOSX/alice.ipynb", "bob/.ipynb_checkpoints/x.ipynb",
        "bob/__MACOSX/._x.ipynb", "._alice.ipynb", "class.csv", "settings.toml", "README.md")  # fmt: skip
    files = ["bob/03/hand_2.ipynb", "bob/03/hand_10.ipynb", "bob/hand_1.IPYNB", "carl/submitted/03/deep/er/x.ipynb"]
    expected = [(re.match(r"\w+", file).group(), file) for file in ("alice.ipynb", *files, "s9.ipynb", "s10.ipynb")]
    assert found(tmp_path) == expected
    assert all(f.path.is_absolute() and f.path == tmp_path / f.file and f.note == "" for f in find(tmp_path))
    assert found(tmp_path / "alice.ipynb") == [("alice", "alice.ipynb")]
    assert found(tmp_path, skip=[tmp_path / "bob", tmp_path / "carl"]) == [expected[0], *expected[-2:]]
    lay(tmp_path / "copies" / "a", "q-10.ipynb", "q.ipynb", "q-2.ipynb")
    assert [file for _, file in found(tmp_path / "copies")] == ["a/q.ipynb", "a/q-2.ipynb", "a/q-10.ipynb"]


def test_other_files_stand_in_where_a_student_has_no_notebook(tmp_path):
    lay(tmp_path, "ann/work.pdf", "ann/data.bin", "ben/x.ipynb", "ben/x.py", "cid/", "dan.zip", "eve.ipynb", "eve.pdf",
        "fay/.ipynb_checkpoints/x.ipynb", "fay/timestamp.txt", "gus/x.ipynb/", "hal.ipynb/real.ipynb")  # fmt: skip
    got = {f.student: (f.file, f.note) for f in find(tmp_path)}
    assert got == {
        "ann": ("ann/data.bin", ""),
        "ben": ("ben/x.ipynb", ""),
        "cid": ("", "The folder holds no notebook."),
        "dan": ("dan.zip", ""),
        "eve": ("eve.ipynb", ""),
        "fay": ("", "The folder holds no notebook."),
        "gus": ("gus/x.ipynb", ""),
        "hal.ipynb": ("hal.ipynb/real.ipynb", ""),
    }
    with pytest.raises(Unreadable, match="folder"):
        read_notebook(tmp_path / "gus/x.ipynb", KNOWN)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows lets few people make links")
def test_links_are_never_followed(tmp_path):
    lay(tmp_path, "subs/bob/x.ipynb", "subs/eve/", "secret/answers.ipynb")
    subs = tmp_path / "subs"
    (subs / "eve/x.ipynb").symlink_to("../bob/x.ipynb")  # another's work
    (subs / "eve/folder").symlink_to(tmp_path / "secret")
    (subs / "mal").symlink_to(tmp_path / "secret")
    (subs / "root.ipynb").symlink_to("/etc/passwd")
    os.mkfifo(subs / "pipe.ipynb")
    got = {f.student: f for f in find(subs)}
    assert {s: f.file for s, f in got.items() if f.file} == {"bob": "bob/x.ipynb", "pipe": "pipe.ipynb"}
    assert all("link" in got[student].note for student in ("eve", "mal", "root"))
    (tmp_path / "way").symlink_to(subs)  # the instructor's own link is
    assert len(list(find(tmp_path / "way"))) == 5


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_names_are_made_fit_to_be_shown_and_stay_apart(tmp_path):
    names = [b"=cmd|' C calc'!A0", b"a\nb", b"a\rb", b"a\x00b".replace(b"\0", b"\x01"), b"a\xffb", b"x" * 240, "a\u202eb".encode(),
             "e\u0301".encode(), "é".encode(), b"..x", b"x..", "a\ufffdb".encode(), b"a b", b" ", "\u200b".encode(), b"con"]  # fmt: skip
    for name in names:
        (Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name + b".ipynb"))).write_text("{}")
    got = list(find(tmp_path))
    assert len(got) == len(names) - 1  # ..x is hidden
    assert len({f.student for f in got}) == len(got) and len({f.path for f in got}) == len(got)
    for f in got:
        shown = f.student + f.file
        assert shown.isprintable() and shown.encode() and "\u202e" not in shown and f.path.exists()
    students = {f.student for f in got}
    assert "a\ufffdb" in students and sum(s.startswith("a\ufffdb [") for s in students) == 5
    assert [f.student for f in got] == [f.student for f in find(tmp_path)]


def test_platforms_names_lead_to_the_student(tmp_path):
    lay(tmp_path, "lovelaceada_123_4567_03_queries.ipynb", "lovelaceada_LATE_123_4999_03_queries-1.ipynb",
        "smithjo_111_5000_x.ipynb", "smithjo_222_5001_x.ipynb", "Jo Bloggs_77_assignsubmission_file_/x.ipynb",
        "Al Khwarizmi_88_assignsubmission_file_x.ipynb", "plain_name.ipynb")  # fmt: skip
    assert [student for student, _ in found(tmp_path)] == [
        "Al Khwarizmi", "Jo Bloggs", "lovelaceada", "lovelaceada", "plain_name", "smithjo_111", "smithjo_222"
    ]  # fmt: skip
    roster = {
        "a1": Person("a1", "Lovelace, Ada"),
        "a2": Person("a2", "Jo Smith", other={"ID": "222"}),
        "a3": Person("a3", "Jo Smith", other={"ID": "111"}),
        "a4": Person("a4", "Jo Bloggs"),
        "a5": Person("a5", other={"file": "plain_name.ipynb"}),
    }
    assert [(s, f[:7]) for s, f in found(tmp_path, roster)] == [
        ("a1", "lovelac"), ("a1", "lovelac"), ("a2", "smithjo"), ("a3", "smithjo"), ("a4", "Jo Blog"), ("a5", "plain_n"),
        ("Al Khwarizmi", "Al Khwa"),
    ]  # fmt: skip
    turned = {"k1": Person("k1", "Kim Lee"), "k2": Person("k2", "Lee Kim"), "h1": Person("h1", "राम")}
    lay(tmp_path / "turned", "Kim Lee_11_assignsubmission_file_/x.ipynb", "Lee Kim_22_assignsubmission_file_/x.ipynb",
        "रमा_33_assignsubmission_file_/x.ipynb")  # fmt: skip
    whose = [(student, file[:7]) for student, file in found(tmp_path / "turned", turned) if file]
    assert whose == [("k1", "Kim Lee"), ("k2", "Lee Kim"), ("रमा", "रमा_33_")]
    two = {s: Person(s, "Ada Lovelace") for s in ("b1", "b2")}  # a name that two bear tells nothing
    assert ("lovelaceada", "lovelaceada_123_4567_03_queries.ipynb") in found(tmp_path, two)


# Who else is there, with the file that is asked about beside them, and whose it is on the roster below; None: nobody's there.
WHOLE_NAMES = [
    ("", "ann.ipynb", "ann"),
    ("", "ann", "ann"),  # without an ending
    ("", "ann/03/x.ipynb", "ann"),
    ("", "b.ray", "b.ray"),  # not b's, whose name is all but the ending
    ("", "ann_zzz.ipynb", None),
    ("ann.ipynb", "ann_zzz.ipynb", None),
    ("", "ann-03.ipynb", None),
    ("", "ann.zzz.ipynb", None),
    ("", "ann zzz/x.ipynb", None),
    ("", "lovelaceada_12_345_x.ipynb", "ann"),  # Canvas knows no more of her than her name
    ("ann.ipynb", "lovelaceada_12_345_x.ipynb", None),
    ("ann.ipynb", "Ada Lovelace_12_assignsubmission_file_/x.ipynb", None),
    ("ann.ipynb", "lovelaceada_77_345_x.ipynb", None),  # name and number are those of two
    ("ann.ipynb", "anybody_77_345_x.ipynb", "cy"),
    ("", "raybo_12_345_x.ipynb", None),  # Bo Ray has another one there
    ("", "raybo_66_345_x.ipynb", "b.ray"),
]


@pytest.mark.parametrize(("beside", "file", "whose"), WHOLE_NAMES)
def test_only_a_whole_name_leads_to_a_student(tmp_path, beside, file, whose):
    lay(tmp_path, *filter(None, (beside, file)))
    roster = {
        "ann": Person("ann", "Ada Lovelace"),
        "b": Person("b"),
        "b.ray": Person("b.ray", "Bo Ray", other={"canvas_id": "66"}),
        "cy": Person("cy", other={"canvas_id": "77"}),
    }
    (student,) = [f.student for f in find(tmp_path, roster) if f.file == file]
    assert student == whose or whose is None and student not in roster


def test_students_on_the_roster_all_come_up(tmp_path):
    lay(tmp_path, "ann.ipynb", "ann_04.ipynb", "annabel.ipynb", "stranger.ipynb", " ann .ipynb")
    roster = {s: Person(s) for s in ("zoe", "ann", "annabel", "\u202ebad")}
    got = list(find(tmp_path, roster))
    assert {(f.student, f.file) for f in got if f.file != " ann .ipynb"} >= {
        ("ann", "ann.ipynb"), ("ann_04", "ann_04.ipynb"), ("annabel", "annabel.ipynb"), ("stranger", "stranger.ipynb")
    }  # fmt: skip
    (with_blanks,) = [f.student for f in got if f.file == " ann .ipynb"]
    assert re.fullmatch(r"ann \[\w{8}\]", with_blanks)
    nothing = "Nothing was handed in."
    assert [(f.student, f.note) for f in got if not f.file] == [("zoe", nothing), ("\u202ebad", nothing)]
    empty = tmp_path / "empty"
    empty.mkdir()
    assert len(list(find(empty, roster))) == 4


def test_a_folder_without_submissions_is_said_so(tmp_path):
    lay(tmp_path, "class.zip", "empty/.hidden")
    for folder, said in {"none": "cannot be listed", "class.zip": "unpack", "empty": "holds no submissions"}.items():
        with pytest.raises(SubmissionError, match=said):
            find(tmp_path / folder)


def test_a_single_student_cannot_hold_up_the_class(tmp_path, monkeypatch):
    lay(tmp_path, *(f"eve/{n}.ipynb" for n in range(130)), "bob.ipynb")
    got = [f for f in find(tmp_path) if f.student == "eve"]
    assert len(got) == submissions.FILES and got[-1].file == "eve/129.ipynb"
    assert "130 notebooks" in got[0].note
    monkeypatch.setattr(submissions, "ENTRIES", 50)
    few = [f for f in find(tmp_path) if f.student == "eve"]
    assert [f.file for f in few] == [""] and "More than 50 files" in few[0].note
    deep = tmp_path / "eve" / "/".join(["d" * 20] * 40)
    deep.mkdir(parents=True)
    assert len([f for f in find(tmp_path) if f.student == "bob"]) == 1


# The roster


def roster_of(folder, content, encoding="utf-8", settings=Settings()):  # noqa: B008
    path = folder / "class.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return read_roster(path, settings)


@pytest.mark.parametrize("path", ["/dev/zero", "fifo"])
@pytest.mark.parametrize(
    "read",
    [read_settings, read_roster, lambda path: read_overrides(path, {"ada"}, Settings()), lambda path: fetch("a.txt")],
    ids=["settings", "roster", "overrides", "mirror"],
)
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no such files")
def test_a_pipe_or_a_device_is_refused_at_once(tmp_path, monkeypatch, path, read):
    file = tmp_path / "a.txt"
    os.mkfifo(file) if path == "fifo" else file.symlink_to(path)
    monkeypatch.setenv("COURSE_DATA_MIRROR", str(tmp_path))
    monkeypatch.setitem(REGISTRY, "a.txt", ("", "0"))
    with pytest.raises(CourseError, match="pipe, a socket or a device|can't be read"), time_limit(2):
        read(file)


def test_a_table_of_very_many_columns_is_refused(tmp_path):
    with pytest.raises(TableError, match="100,001 columns, at most 1,000 are read"):
        roster_of(tmp_path, "student" + ",a" * 100_000 + "\nada\n")


def test_a_table_names_all_rows_that_are_wrong(tmp_path):
    with pytest.raises(TableError) as raised:
        roster_of(tmp_path, "student,submitted\nada,noon\n,\nemmy,\nada,\nzoe,night\n,x\n")
    assert [line.partition(":")[0][-1] for line in str(raised.value).splitlines()] == ["2", "5", "6", "7"]
    with pytest.raises(TableError, match="5 more rows are wrong"):
        roster_of(tmp_path, "student,submitted\n" + "".join(f"s{n},noon\n" for n in range(15)))


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_roster_is_read(tmp_path, delimiter, encoding):
    rows = ["STUDENT,Name, E-Mail ,Section,Submitted", 'a1,"Müller| Jo",jo@x.org,B,2026-11-20T10:00:00Z', "", " a2 ,,,"]
    people = roster_of(tmp_path, "\r\n".join(rows).replace(",", delimiter), encoding)
    assert people == {
        "a1": Person("a1", "Müller| Jo", "jo@x.org", {"Section": "B", "submitted": "2026-11-20T10:00:00Z"}),
        "a2": Person("a2", "", "", {"Section": "", "submitted": ""}),
    }
    assert submitted(people["a1"]) == datetime.fromisoformat("2026-11-20T10:00:00+00:00")
    assert submitted(people["a2"]) is submitted(Person("x")) is None


SPELLINGS = ["ada", "ada\u200b", "\u2066ada\u2069", "\ufeffada", " ada ", "\u00a0ada", "ad\u00ada"]


@pytest.mark.parametrize("written", SPELLINGS, ids=ascii)
def test_invisible_characters_in_a_name_make_no_second_student(tmp_path, written):
    people = roster_of(tmp_path, f"student\u200b,name,\u2060canvas_id\n{written},Ada,41\u200e\nemmy,Emmy,42\n\n")
    assert list(people) == ["ada", "emmy"] and people["ada"].other == {"canvas_id": "41"}
    lay(tmp_path / "in", f"{written}.ipynb", "emmy.ipynb")
    assert [student for student, _ in found(tmp_path / "in", people)] == ["ada", "emmy"]
    if written != "ada":  # whose file it is cannot be told where two have it, or where one of just that name is there
        lay(tmp_path / "in", "ada.ipynb")
        assert [file for student, file in found(tmp_path / "in", people) if student == "ada"] == ["ada.ipynb"]
    (tmp_path / "in" / "ada.ipynb").rename(tmp_path / "in" / "ada\u2061.ipynb")
    assert [file for student, file in found(tmp_path / "in", people) if student == "ada"] in ([""], ["ada\ufffd.ipynb"])


def test_capitals_of_an_e_mail_address_make_no_second_student(tmp_path):
    people = roster_of(tmp_path, "student\nAda@Example.org\nBo\n")
    lay(tmp_path / "in", "ada@example.org.ipynb", "bo.ipynb")
    assert [one for one in found(tmp_path / "in", people) if one[1]] == [
        ("Ada@Example.org", "ada@example.org.ipynb"), ("bo", "bo.ipynb"),
    ]  # fmt: skip


def test_a_table_may_be_written_in_every_correct_way(tmp_path):
    text = (
        '"name, in full";student\r"Lovelace, ""Ada""";ada\rsaid "Bo"; "bo"\r\r\ufeff"name, in full";"student"\rx;y;\r'
    )
    assert [(p.student, p.other) for p in roster_of(tmp_path, text).values()] == [
        ("ada", {"name, in full": 'Lovelace, "Ada"'}),
        ("bo", {"name, in full": 'said "Bo"'}),
        ("y", {"name, in full": "x"}),
    ]
    [ada] = roster_of(tmp_path, 'student,name,note\nada, "A", "One,\r\ntwo; ""three"", four."\n').values()
    assert (ada.name, ada.other["note"]) == ("A", 'One, two; "three", four.')


def test_rosters_of_platforms_are_read(tmp_path):
    canvas = 'Student,ID,SIS Login ID,Section\n    Points Possible,,,\n"Lovelace, Ada",123,ada,S1\n'
    assert roster_of(tmp_path, canvas) == {
        "Lovelace, Ada": Person("Lovelace, Ada", other={"ID": "123", "SIS Login ID": "ada", "Section": "S1"})
    }
    assert list(roster_of(tmp_path, "sep=;\nid;timestamp\n7;2026-11-20 10:00:00 UTC\n")) == ["7"]
    lay(tmp_path / "subs", "lovelaceada_123_9_x.ipynb")
    assert found(tmp_path / "subs", roster_of(tmp_path, canvas))[0][0] == "Lovelace, Ada"


WRONG_ROSTERS = {
    "": 'no column "student".*nothing',
    "name,mail\nx,y\n": 'no column "student".*name, mail',
    "student,name\n": "names no student",
    "student\na\nb\na\n": 'line 4: the student "a" is in line 2',
    "student,name\n,Ada\n": 'line 2: the column "student" is empty',
    "student,name\na,Lovelace, Ada\n": "line 2: 3 fields",
    "student,submitted\na,yesterday\n": 'line 2: "yesterday" is no time',
    "student,submitted\na,2026-13-01T00:00:00\n": "is no time",
    "student,x,x\na,1,2\n": 'two columns "x"',
    "student\n" + "a" * 200_000: "field larger than field limit",
    b"student\n\xff\xfe\n": "not UTF-8",
    b"student,name\na\0,Ada\n": "line 2 holds a zero byte",
    # A quote that is not closed, at the end of the file, at the next row's quote, or at one that a third row has left open too.
    'student,name\na,"Ada\nb,Bo\n': "line 2: the row that begins here",
    'student,name\na,"Ada\nb,"Bo"\n': "line 2: the row that begins here",
    'student,name,note\na,Ada,"x\nb,Bo,y\nc,Cy,"\n': "line 2: a quoted field of this row goes on over line 3, which looks like another row",
    'student,name\n"a\nb"\n': 'line 2: the column "student" holds several lines',
    'student,name\na,"Ada" Lovelace\n': "line 2: the row that begins here",
    "student,name\na,Ada\nb;Bo\n": "line 3: one field where the header has 2.*by ','",
    # One student twice, in another spelling.
    "student\nada\nada\u200b\n": 'line 3: the student "ada" is in line 2',
    "student\nada l\nada\u00a0 l\u200f\n": 'line 3: the student "ada l" is in line 2',
    "student\n\u00e9\ne\u0301\n": "line 3: the student .* is in line 2",
    "student\nada@x.org\nAda@x.org\n": 'line 3: the student "Ada@x.org" is in line 2',
    "student,email\na,ada@x.org\nb,Ada@X.org\n": 'line 3: the email "Ada@X.org" is in line 2',
    "student,canvas_id\na,41\nb,\nc,41\u2060\n": 'line 4: the canvas_id "41" is in line 2',
    "student,SIS Login ID\na,x\nb,x\n": 'line 3: the SIS Login ID "x" is in line 2',
    "student,lti_id\na,x\nb,x\n": 'line 3: the lti_id "x" is in line 2',
    "\u200b\n": 'no column "student".*nothing',
}


@pytest.mark.parametrize("content", WRONG_ROSTERS, ids=range(len(WRONG_ROSTERS)))
def test_a_wrong_roster_is_refused_with_a_sentence(tmp_path, content):
    with pytest.raises(TableError, match=f"(?s).*{WRONG_ROSTERS[content]}") as refused:
        roster_of(tmp_path, content)
    assert str(refused.value).endswith(".") and "class.csv" in str(refused.value)
    with pytest.raises(TableError, match="cannot be read"):
        read_roster(tmp_path / "none.csv")


# The instructor's settings


def settings_of(folder, text):
    path = folder / "class.toml"
    path.write_text(text, encoding="utf-8")
    return read_settings(path)


def test_settings_are_read(tmp_path):
    settings = settings_of(
        tmp_path,
        """
        [points]
        "03.attention" = 4
        "03.causal_mask" = 0.1
        leave_out = ["01.word_polarity"]
        [late]
        deadline = 2026-11-20T23:59:00+01:00
        per_day = 0.1
        grace = 15
        none_after = 7
        [limits]
        seconds = 5
        """,
    )
    assert settings.points == {"03.attention": Decimal(4), "03.causal_mask": Decimal("0.1")}
    assert settings.leave_out == {"01.word_polarity"}
    assert settings.deadline.isoformat() == "2026-11-20T23:59:00+01:00"
    assert (settings.per_day, settings.grace, settings.none_after) == (Decimal("0.1"), 15, 7)
    assert settings.limits == {"seconds": 5.0}
    assert settings_of(tmp_path, "[points]\n03.attention = 4").points == {"03.attention": Decimal(4)}
    assert settings_of(tmp_path, "") == read_settings(None) == Settings()


LATE = "[late]\ndeadline = 2026-11-20T23:59:00Z\n"
WRONG_SETTINGS = {
    "points = 3": "points must be a section, written [points], not 3",
    "[point]": 'there is no section [point] (did you mean "points"?): the sections are points, time, late, solutions, canvas, reference, hazards, limits',
    "[points]\n'03.atention' = 1": 'there is no task "03.atention" (did you mean "03.attention"?): lesson 03 has',
    "[points]\nleave_out = ['77.x']": 'there is no task "77.x": the lessons are 00, 01',
    "[points]\nleave_out = '03.attention'": "leave_out must be a list of tasks",
    "[points]\n'03.attention' = -1": '"03.attention" must be a number from 0 to 10000, not -1',
    "[points]\n'03.attention' = nan": "must be a number from 0 to 10000, not NaN",
    "[points]\n'03.attention' = true": "not true",
    "[points]\n03.attention.x = 1": "must be a number from 0 to 10000, not {'x': 1}",
    "[late]\nper_day = 0.1": "[late] deadline is missing",
    "[late]\ndeadline = 2026-11-20T23:59:00": "with its offset from UTC, such as 2026-11-20T23:59:00+01:00 without quotes",
    "[time]\nzone = 'Berlin'": "not 'Berlin' (did you mean \"Europe/Berlin\"?)",
    "[time]\nzone = ['Europe/Berlin']": "not ['Europe/Berlin']",
    "[time]\nzones = 'Europe/Berlin'": '[time] has no zones (did you mean "zone"?)',
    "[late]\ndeadline = 2026-11-20": "with its offset",
    "[late]\ndeadline = '2026-11-20T23:59:00Z'": "not '2026-11-20T23:59:00Z'",
    LATE + "per_day = 10": "[late] per_day must be a number from 0 to 1, not 10",
    LATE + "grace = -1": "[late] grace must be a number from 0",
    LATE + "per_hour = 1": "[late] has no per_hour: it may hold deadline, per_day, grace, none_after",
    "[solutions]\nfrom = 2026-12-05": "[solutions] from must be a time with its offset",
    "[canvas]\nassignment = 'x'": "assignment must be the number at the end of the assignment's address",
    "[reference]\ncounts = 1": "[reference] counts must be true or false, not 1",
    "[limits]\nseconds = 0": "[limits] seconds must be a number more than 0",
    "[limits]\nsecond = 1": '[limits] has no second (did you mean "seconds"?)',
    "[points\n": "is not TOML",
    "a = " + "[" * 5000: "is not TOML",
}


@pytest.mark.parametrize("text", WRONG_SETTINGS, ids=range(len(WRONG_SETTINGS)))
def test_wrong_settings_are_refused_with_a_sentence(tmp_path, text):
    with pytest.raises(SettingsError) as refused:
        settings_of(tmp_path, text)
    sentence = str(refused.value)
    assert WRONG_SETTINGS[text] in sentence and "class.toml" in sentence and sentence.endswith(".")


def test_settings_that_cannot_be_read_are_said_so(tmp_path):
    with pytest.raises(SettingsError, match="cannot be read"):
        read_settings(tmp_path / "none.toml")
    (tmp_path / "x.toml").write_bytes(b"\xff")
    with pytest.raises(SettingsError, match="UTF-8"):
        read_settings(tmp_path / "x.toml")


# Points


BESIDE = frozenset(f"03.{name}" for name in KNOWN["03"]) - frozenset(FOUR)


def of_four(leave_out=(), **more):
    """Settings for a class that does four tasks of lesson 03."""
    return Settings(leave_out=BESIDE.union(leave_out), **more)


def result(lesson, *verdicts, file="a/x.ipynb", **more):
    return Result("key", "a", file, lesson, verdicts=verdicts, **more)


def test_points_are_those_of_the_tasks_that_count():
    passed = [Verdict(f"03.{name}", "passed") for name in KNOWN["03"]]
    points = score(result("03", *passed), Settings())
    assert [p.task for p in points] == [f"03.{name}" for name in KNOWN["03"]]
    assert all(p.points == p.possible == TASKS[p.task].points and p.explanation == "" for p in points)
    settings = of_four(points={"03.attention": Decimal(4)}, leave_out={"03.causal_mask"})
    points = score(result("03", *passed), settings)
    assert {p.task: p.points for p in points} == dict(zip([FOUR[0], *FOUR[2:]], [1, 4, 1], strict=True))
    for state in ("failed", "error", "not attempted", "missing", "not run"):
        wrong = score(result("03", *(replace(verdict, state=state) for verdict in passed)), Settings())
        assert all(p.points == 0 and p.possible == 1 for p in wrong)
    assert [p.points for p in score(result("03", problem="The file is empty."), of_four())] == [0] * 4
    assert score(result(""), Settings()) == score(result("99"), Settings()) == ()


def test_partial_credit_is_declared_soundly():
    declared = [(task, key, *entry) for task in TASKS.values() for key, entry in task.partial.items()]
    assert len({task.id for task, *_ in declared}) >= 3
    for task, key, share, sentence in declared:
        assert key in {mistake.name for mistake in task.mistakes} | {"edge", "gradient", "side effect"}
        assert key not in KINDS or key in ("gradient", "side effect"), "a first wrong value tells nothing of the others"
        assert 0 < share < 1 and sentence.endswith(".") and sentence[0].islower()
    assert all(task.points > 0 for task in TASKS.values())
    for task in (task for task in TASKS.values() if "edge" in task.partial):
        edges = [case.edge for case in task.make_cases(0)]
        assert edges == sorted(edges), f"{task.id}: a run that ends at an edge would hide ordinary inputs after it"


DIAGNOSED = [
    (task.id, mistake.name) for task in TASKS.values() for mistake in task.mistakes if mistake.name in task.partial
]


@pytest.mark.parametrize(("task_id", "name"), sampling.usually(DIAGNOSED, 8))
def test_partial_credit_mistakes_are_right_on_ordinary_inputs(task_id, name):
    task = TASKS[task_id]
    (mistake,) = (mistake for mistake in task.mistakes if mistake.name == name)
    for seed in range(2):
        report = judge_answer(task, as_answer(task, mistake.function), seed)
        assert report.state in ("failed", "error") and report.mistake == name
        assert report.case.edge or "for every candidate except one" in task.partial[name][1]
    verdict = Verdict(task_id, report.state, report.kind, report.mistake, edge=report.case.edge)
    (points,) = (p for p in score(result(task_id[:2], verdict), Settings()) if p.task == task_id)
    share, sentence = task.partial[name]
    assert points.points == share * task.points
    assert points.explanation == f"{share * 100:.0f}% of the points: {sentence}"


def test_a_kind_earns_points_only_where_every_value_is_right():
    def altering(words, mask):
        words[~mask] = 0
        return words.sum(1)

    def earned(**found):
        points = score(result("01", Verdict("01.sum_vectors", "failed", **found)), Settings())
        return next(p.points for p in points if p.task == "01.sum_vectors")

    report = judge_answer(TASKS["01.sum_vectors"], altering)
    assert (report.state, report.kind, report.mistake) == ("failed", "side effect", None)
    assert earned(kind="side effect", values_right=True) == 0.75
    assert earned(kind="side effect") == 0  # perhaps only the first of the things that are wrong
    assert earned(kind="value", values_right=True, edge=True) == 0
    cut = judge_answer(
        TASKS["02.masked_softmax"], lambda s, m: torch.nan_to_num(s.masked_fill(~m, -torch.inf).detach().softmax(-1))
    )
    assert (cut.state, cut.kind) == ("failed", "gradient")

    def attention(**found):
        return score(result("03", Verdict("03.attention", **found)), of_four())[2].points

    assert attention(state="failed", kind="finite", mistake="overflow", edge=True) == 0.5
    assert attention(state="failed", kind="finite", mistake="overflow") == 0
    assert attention(state="error", kind="error", edge=True) == 0  # a run that ended early tells nothing of the rest


def test_a_hazard_costs_points_only_where_the_instructor_says_so(tmp_path):
    right = result("03", Verdict("03.attention", "passed", hazard=True))
    assert score(right, of_four())[2].points == 1
    (tmp_path / "class.toml").write_text("[hazards]\nshare = 0.8\n")
    share = read_settings(tmp_path / "class.toml").hazard_share
    points = score(right, of_four(hazard_share=share))[2]
    assert points.points == 0.8
    assert points.explanation == "80% of the points: right, but on an input that no lesson builds."
    (tmp_path / "class.toml").write_text("[hazards]\nshare = 2\n")
    with pytest.raises(SettingsError, match="share must be a number from 0 to 1, not 2"):
        read_settings(tmp_path / "class.toml")


def test_points_are_exact_and_rounded_half_up():
    worth = {"03.padding_mask": "0.1", "03.causal_mask": "0.2", "03.attention": "0.25"}
    settings = of_four(points={task: Decimal(text) for task, text in worth.items()})
    verdicts = [Verdict("03.padding_mask", "passed"), Verdict("03.causal_mask", "passed")]
    half = Verdict("03.attention", "failed", edge=True)
    assert graded(Person("a"), [result("03", *verdicts)], settings).total == 0.3
    everything = graded(Person("a"), [result("03", *verdicts, half)], settings)
    assert everything.points[2].points == 0.13  # 0.125
    assert (everything.total, everything.possible) == (0.43, 1.55)


def handed_in(when, **rule):
    settings = of_four(deadline=datetime.fromisoformat("2026-11-20T23:59:00+01:00"), **rule)
    three = [Verdict(name, "passed") for name in FOUR[:3]]
    return graded(Person("a"), [result("03", *three)], settings, when and datetime.fromisoformat(when))


RULE = {"per_day": Decimal("0.1"), "grace": Decimal(15), "none_after": Decimal(3)}


@pytest.mark.parametrize(
    ("when", "lost", "said"),
    [
        (None, 0, ""),
        ("2026-11-20T23:59:00+01:00", 0, ""),
        ("2026-11-20T23:14:00+00:00", 0, ""),  # the last minute of grace, in another offset
        (
            "2026-11-20T23:14:01+00:00",
            0.4,
            "1 day late: 10% of the 4 possible points for each day begun, 0.4 taken off.",
        ),
        ("2026-11-21T23:59:01+01:00", 0.8, "2 days late"),
        ("2026-11-23T23:59:00+01:00", 1.2, "3 days late"),
        ("2026-11-23T23:59:00.000001+01:00", 3, "4 days late: after 3 days nothing counts."),
        ("9999-12-31T23:59:00+01:00", 3, "nothing counts"),
        ("0001-01-01T00:00:00+14:00", 0, ""),
    ],
)
def test_the_late_rule_takes_off_points_and_says_so(when, lost, said):
    student = handed_in(when, **RULE)
    assert student.lost == lost and student.total == float(Decimal(3) - Decimal(str(lost))) and student.possible == 4
    assert student.late.startswith(said) if said.endswith(("late", ".")) else said in student.late
    assert bool(student.late) == bool(said)


IN_BERLIN = '[time]\nzone = "Europe/Berlin"\n'


@pytest.mark.parametrize(
    ("deadline", "when", "said"),
    [
        ("2026-10-24T23:59:00", "2026-10-24T23:59:00", ""),
        ("2026-10-24T23:59:00", "2026-10-24T21:59:00Z", ""),
        ("2026-10-24T23:59:00", "2026-10-24 22:00:00 UTC", "1 day late"),
        ("2026-10-24T23:59:00", "2026-10-25T23:59:00", "1 day late"),  # of 25 hours
        ("2026-10-24T23:59:00", "2026-10-25T22:59:00Z", "1 day late"),
        ("2026-10-24T23:59:00", "2026-10-26T00:00:00", "2 days late"),
        ("2026-10-24T23:59:00+02:00", "2026-10-25T23:59:00", "1 day late"),
        ("2026-10-25T12:00:00", "2026-10-25T12:00:00", ""),  # an hour later than with the offset of the day before
        ("2026-10-25T12:00:00", "2026-10-25T11:30:00Z", "1 day late"),
        ("2026-10-25T02:30:00", "2026-10-25T01:20:00Z", "1 day late"),  # the clock shows 02:20, for the second time
        ("2026-03-28T23:59:00", "2026-03-29T23:59:00", "1 day late"),  # of 23 hours
        ("2026-03-28T23:59:00", "2026-03-30T00:00:00", "2 days late"),
        ("2026-10-24", "2026-10-24T23:59:59", ""),  # a day ends at its end
        ("2026-10-24", "2026-10-25T00:00:00", "1 day late"),
        ("2026-10-24", "2026-10-25T23:59:59", "1 day late"),
    ],
)
def test_a_time_without_an_offset_is_read_in_the_class_s_zone(tmp_path, deadline, when, said):
    settings = settings_of(tmp_path, f"{IN_BERLIN}[late]\ndeadline = {deadline}\nper_day = 0.1\n")
    people = roster_of(tmp_path, f"student,submitted\nada,{when}\n", settings=settings)
    student = graded(
        people["ada"], [result("03", Verdict(FOUR[0], "passed"))], settings, submitted(people["ada"], settings)
    )
    assert student.late.partition(":")[0] == said


def test_a_time_is_written_as_people_do(tmp_path):
    in_berlin = settings_of(tmp_path, f"{IN_BERLIN}[late]\ndeadline = 2026-12-05T08:00:00\n").deadline
    assert written_out(in_berlin) == "Saturday, 5 December 2026, 08:00 (Europe/Berlin)"
    a_day = settings_of(tmp_path, f"{IN_BERLIN}[late]\ndeadline = 2026-12-05\n[solutions]\nfrom = 2026-12-06\n")
    assert written_out(a_day.deadline) == "Saturday, 5 December 2026, 23:59 (Europe/Berlin)"
    assert written_out(a_day.solutions_from) == "Sunday, 6 December 2026, 00:00 (Europe/Berlin)"
    assert written_out(settings_of(tmp_path, LATE).deadline) == "Friday, 20 November 2026, 23:59 (UTC)"


def test_times_must_tell_their_offset_where_no_zone_is_set(tmp_path):
    late, naive = settings_of(tmp_path, LATE), "student,submitted\nada,2026-10-25T12:00:00\n"
    with pytest.raises(TableError, match='line 2: "2026-10-25" has no time of day'):
        roster_of(tmp_path, "student,submitted\nada,2026-10-25\n", settings=late)
    with pytest.raises(TableError, match=r'line 2: 2026-10-25 12:00:00 has no offset from UTC.* \[time\] zone = "'):
        roster_of(tmp_path, naive, settings=late)
    assert roster_of(tmp_path, naive)["ada"].other["submitted"] == "2026-10-25T12:00:00"  # where nothing depends on it
    settings = settings_of(tmp_path, f"{IN_BERLIN}[solutions]\nfrom = 2026-10-25T12:00:00\n")
    assert settings.solutions_from.isoformat() == "2026-10-25T12:00:00+01:00"


def test_lateness_never_costs_more_than_was_earned():
    assert handed_in("2026-12-20T23:59:00+01:00", per_day=Decimal("0.1")).total == 0
    assert handed_in("2026-12-20T23:59:00+01:00").late == "30 days late: this costs no points."
    assert handed_in("2026-12-20T23:59:00+01:00", none_after=Decimal(0)).total == 0
    settings = of_four(deadline=datetime.fromisoformat("2026-11-20T23:59:00+01:00"), **RULE)
    nothing = graded(Person("a"), [result("03", file="")], settings, datetime(2030, 1, 1))
    assert (nothing.late, nothing.lost, nothing.possible) == ("", 0, 4)


def test_a_student_has_each_task_once_in_order_of_lessons():
    results = [result("", problem="This is a PDF."), result("03"), result("01", Verdict("01.sentiment", "passed"))]
    student = graded(Person("a"), results, Settings())
    assert [r.lesson for r in student.results] == ["01", "03", ""]
    assert [p.task for p in student.points] == [t.id for lesson in ("01", "03") for t in catalogue.by_lesson()[lesson]]
    assert (student.total, student.possible) == (1, len(student.points))
