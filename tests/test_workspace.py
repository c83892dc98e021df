"""The learner's workspace: own copies, new versions of them, handing in, progress that travels, and the set-up cell that finds the course.

Not here: JupyterLab itself on the copies (`test_cli.py`, `test_browser.py`), and what grading makes of what is handed in, beyond taking it.
"""

import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from repository import ROOT, git

from course_utils.authoring import build
from course_utils.authoring.links import absolute
from course_utils.authoring.notebook_builder import notebook_of, sealed, set_up_code
from course_utils.authoring.sources import Cell, Target
from course_utils.base import set_up
from course_utils.base.environment import tomllib
from course_utils.base.errors import CourseError
from course_utils.base.paths import file_of, learners_folder, names_in
from course_utils.commands import lab, main
from course_utils.grading.ingest.lessons import names_by_lesson
from course_utils.grading.ingest.notebook_file import notebook_in, read_notebook, read_own
from course_utils.learner import notebook as learner
from course_utils.learner import state
from course_utils.workspace import copies, submission, updating
from course_utils.workspace.merging import DELETED, NOTE, NOTES, merge
from course_utils.workspace.submission import CHANGED, submit
from course_utils.workspace.updating import update

SUMS = "02_weighted_sums"
BUILT = "exercises/02_weighted_sums_exercises.ipynb"
FORMER = f"my_course/exercises/{SUMS}.ipynb"  # where a learner's copy lay when exercises had the names of lessons
PROMPT = ("`02.softmax`\n", "`02.softmax`\nRead this, too.\n")  # a change of the task's text
STUB = ("def softmax(scores, temperature=1.0):\n", "def softmax(scores, temperature=1.0):\n    # Softmax.\n")
SOFTMAX = "def softmax(scores, temperature=1.0):\n    return (scores / temperature).softmax(-1)"


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A course of two lessons as git gives it, with the learner's copies made and no progress yet."""
    root = tmp_path / "attention"
    root.mkdir()
    for name in ("pyproject.toml", ".gitignore"):
        shutil.copy(ROOT / name, root)
    for folder in ("notebooks", "exercises"):
        (root / folder).mkdir()
        for name in ("00_start_here", SUMS):
            shutil.copy(ROOT / file_of(folder, name), root / folder)
    monkeypatch.delenv("COURSE_HOME", raising=False)
    monkeypatch.delenv("COURSE_PROGRESS", raising=False)
    monkeypatch.setattr(state, "_in_memory", {})
    monkeypatch.chdir(root)
    copies.make_missing(root)
    return root


def load(path):
    """A notebook as a plain dict, each source as one text."""
    found = json.loads(Path(path).read_text(encoding="utf-8"))
    for cell in found["cells"]:
        cell["source"] = "".join(cell["source"])
    return found


def sources(path):
    return [cell["source"] for cell in load(path)["cells"]]


def own(clone, folder="exercises", name=SUMS):
    return clone / "my_course" / file_of(folder, name)


def write_into(path, change):
    """Let a learner, or Colab, change a notebook's cells: `change` alters the list."""
    found = load(path)
    change(found["cells"])
    path.write_text(json.dumps(found), encoding="utf-8")


def published(clone, change, folder="exercises", name=SUMS):
    """A new version of a notebook, as the build would have written it: `change` alters [(kind, text)]."""
    built = file_of(folder, name)
    path = clone / built
    found = load(path)
    texts = [(cell["cell_type"], cell["source"]) for cell in found["cells"]]
    tags = {cell["source"]: cell["metadata"] for cell in found["cells"]}
    change(texts)
    made = [Cell(kind, text, 0, tags.get(text, {})) for kind, text in texts]
    new = notebook_of(Target(folder, name), made)
    path.write_text(sealed(new, {"source": "a later source"}), encoding="utf-8")
    return built


def replaced(old, new):
    """A change of the published text, in all cells."""

    def change(cells):
        cells[:] = [(kind, text.replace(old, new)) for kind, text in cells]

    return change


def updated(clone, change, folder="exercises"):
    """Publish a new version and bring it into the copies; return the one line that is said of it."""
    published(clone, change, folder)
    lines = []
    assert update(clone, [], lines.append) == []
    return "".join(lines[:1])


def answered(*definitions):
    """A learner's change: each stub is replaced by the definition of the same name."""

    def change(cells):
        for text in definitions:
            (cell,) = [cell for cell in cells if cell["source"].startswith(text.partition("(")[0] + "(")]
            cell["source"] = text

    return change


# Own copies


def test_copies_hold_the_cells_and_nothing_that_a_run_shows(clone):
    for folder in ("notebooks", "exercises"):
        built, copy = load(clone / file_of(folder, SUMS)), load(own(clone, folder))
        assert [cell["source"] for cell in copy["cells"]] == [cell["source"] for cell in built["cells"]]
        assert not any(cell.get("outputs") or cell.get("execution_count") for cell in copy["cells"])
        assert "outputs_hidden" not in json.dumps(copy)  # what is run is seen
        nbformat.validate(nbformat.read(own(clone, folder), as_version=4))
    assert any(cell.get("outputs") for cell in load(clone / "notebooks" / f"{SUMS}.ipynb")["cells"])  # for the web


def test_links_between_copies_lead_to_copies(clone):
    for path in (clone / "my_course").rglob("*.ipynb"):
        for target in re.findall(r"\]\((\.\./[^)#]+)\)", "\n".join(sources(path))):
            place = (path.parent / target).resolve()
            assert place.is_relative_to(clone / "my_course")
            assert place.is_file() or not (clone / target[3:]).is_file()


def test_published_notebooks_link_to_the_web_and_copies_to_files(clone):
    address, page = "https://github.com/ada/sums", "docs/setup.md"
    project, start = clone / "pyproject.toml", own(clone, "notebooks", "00_start_here")
    before = sources(start)
    assert any(f"](../{page})" in text for text in before)
    texts = [absolute(text, address) for text in before]
    assert any(f"]({address}/blob/main/{page})" in text for text in texts)
    assert [text.count(".ipynb)") for text in texts] == [text.count("](../") + text.count("](0") for text in texts]
    assert [absolute(text, "https://github.com/example/sums") for text in before] == before
    project.write_text(project.read_text().replace("github.com/example/attention-course", "github.com/ada/sums"))
    published(
        clone,
        lambda cells: cells.__setitem__(slice(None), [(kind, absolute(text, address)) for kind, text in cells]),
        "notebooks",
        "00_start_here",
    )
    start.unlink()
    copies.make_missing(clone)
    assert sources(start) == before and copies.newer(clone) == []
    (clone / "docs").mkdir()
    (clone / page).write_text("[a](../benchmarks/world.csv), [b](measurements.md#here), [c](https://host)")
    (clone / "docs" / "measurements.md").write_text("# Here")
    copies.bring_pages(clone)
    led = f"[a]({address}/blob/main/benchmarks/world.csv), [b](measurements.md#here), [c](https://host)"
    assert (clone / "my_course" / page).read_text() == led


def test_a_former_copy_stays_beside_the_present_one_which_counts(clone):
    own(clone).rename(clone / FORMER)
    write_into(clone / FORMER, answered(SOFTMAX))
    copies.make_missing(clone)
    before, said = [(clone / FORMER).read_bytes(), own(clone).read_bytes()], []
    copies.rename_old(clone, said.append)
    assert [(clone / FORMER).read_bytes(), own(clone).read_bytes()] == before
    (line,) = said
    assert line.startswith(f"Both my_course/{BUILT} and {FORMER} are there, and the first one counts. Take over")
    assert submit(clone, "02").rows[0].here == "not attempted"


@pytest.mark.parametrize("command", ["lab", "update", "submit"])
def test_each_command_finds_a_copy_with_its_former_name(clone, command, capsys):
    write_into(own(clone), answered(SOFTMAX))
    own(clone).rename(clone / FORMER)
    if command == "lab":
        lab._notebook(clone, "02")  # all that comes before JupyterLab
    else:
        assert main([command, "02"]) == 0
    assert "Your exercises have new file names" in capsys.readouterr().out and SOFTMAX in sources(own(clone))


def test_a_copy_is_never_overwritten_and_a_missing_one_is_made(clone):
    write_into(own(clone), answered(SOFTMAX))
    before, other = own(clone).read_bytes(), own(clone, "notebooks")
    other.unlink()
    assert copies.make_missing(clone) == []
    assert own(clone).read_bytes() == before and other.is_file()


def test_git_sees_nothing_of_what_a_learner_does(clone):
    git(clone, "init", "-q")
    git(clone, "add", "-A")
    git(clone, "commit", "-qm", "as published")
    write_into(own(clone), answered(SOFTMAX))
    state.change("02.softmax", lambda entry: entry.update(state="passed"))
    submit(clone, "02")
    assert git(clone, "status", "--porcelain") == ""


def test_progress_is_one_for_copies_and_course(clone, monkeypatch):
    for folder in (clone, clone / "exercises", clone / "my_course" / "exercises", clone / "my_course"):
        monkeypatch.chdir(folder)
        assert learners_folder() == clone


def test_work_in_the_courses_own_notebook_is_copied_and_stays(clone):
    own(clone).unlink()
    write_into(clone / BUILT, answered(SOFTMAX))
    assert [place.built for place in copies.make_missing(clone)] == [BUILT]
    assert SOFTMAX in sources(own(clone))
    (problem,) = update(clone, ["02"])
    assert f"{BUILT} holds something else than the course's version" in problem
    shutil.copy(ROOT / BUILT, clone / "exercises")
    updated(clone, replaced(*PROMPT))
    assert SOFTMAX in sources(own(clone)) and any(PROMPT[1] in text for text in sources(own(clone)))


# course update


def test_update_replaces_untouched_cells_and_keeps_touched_ones(clone):
    write_into(own(clone), answered(SOFTMAX))
    write_into(own(clone), lambda cells: cells.insert(3, {"cell_type": "markdown", "metadata": {}, "source": "Mine."}))
    line = updated(clone, replaced(*PROMPT))
    assert line.startswith(f"my_course/{BUILT}: 1 cell changed; 2 cells of yours kept; ")
    assert "read 02.softmax again, because the task has changed" in line
    assert state.read()["02.softmax"]["state"] == "not attempted"  # a pass was of the old task
    now = sources(own(clone))
    assert SOFTMAX in now and "Mine." in now
    new = sources(clone / BUILT)
    kept = [text for text in now if text != "Mine."]
    assert [text for text in kept if text in new] == [text for text in new if "def softmax(" not in text]
    assert kept.index(SOFTMAX) == next(n for n, text in enumerate(new) if "def softmax(" in text)
    earlier = clone / re.search(r"As it was: (\S+)$", line)[1]
    assert earlier.name.startswith(own(clone).stem)  # its name says what it is, `_exercises` included
    assert "Mine." in sources(earlier) and PROMPT[1] not in "".join(sources(earlier))
    nbformat.validate(nbformat.read(own(clone), as_version=4))
    assert updated(clone, lambda cells: None) == ""  # once is enough


def test_an_untouched_copy_becomes_the_new_version(clone):
    def change(cells):
        cells.insert(2, cells.pop(6))
        kind, text = cells.pop(8)
        cells[8:8] = [
            (kind, text[: len(text) // 2]),
            ("markdown", "A sentence between."),
            (kind, text[len(text) // 2 :]),
        ]

    updated(clone, change)
    assert sources(own(clone)) == sources(clone / BUILT)


def test_an_answer_stays_alone_where_its_stub_has_changed(clone):
    write_into(own(clone), answered(SOFTMAX))
    for change in (STUB, ("    # Softmax.\n", "    # The same softmax.\n")):  # twice: the copy knows its new base
        assert "read 02.softmax again" in updated(clone, replaced(*change))
        note, answer = [text for text in sources(own(clone)) if "def softmax(" in text][-2:]
        assert note.startswith("**The course has changed this task") and change[1].strip() in note and answer == SOFTMAX
        assert [text for text in sources(own(clone)) if text.startswith("def softmax(")] == [SOFTMAX]


def test_a_prediction_that_was_made_stays_with_its_results(clone):
    asked = next(text for text in sources(own(clone, "notebooks")) if re.fullmatch(r"predict\(.*, \.\.\.\)", text))
    results = [{"output_type": "stream", "name": "stdout", "text": "You say 0.9."}]

    def guess(cells):
        (cell,) = [cell for cell in cells if cell["source"] == asked]
        cell.update(source=asked.replace("...", "0.9"), outputs=results)

    write_into(own(clone, "notebooks"), guess)
    updated(clone, replaced(asked, f"{asked}  # a share"), "notebooks")
    (cell,) = [cell for cell in load(own(clone, "notebooks"))["cells"] if cell["source"].startswith(asked[:-5])]
    assert cell["source"] == asked.replace("...", "0.9") and cell["outputs"]


def code(source):
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": 7}


def cells_of(*texts):
    return [{"cell_type": "code", "id": text[:1], "metadata": {}, "source": text, "outputs": []} for text in texts]


def merged_of(own, base, new):
    """Merge cells, or texts of one word each, by a base whose texts were copied."""
    own, base, new = (cells_of(*cells.split()) if isinstance(cells, str) else cells for cells in (own, base, new))
    return merge(own, {cell["id"]: copies.cell_digest(cell) for cell in base}, new)


def texts_of(cells):
    return [cell["source"] for cell in cells]


@pytest.mark.parametrize(
    "own, base, new, expected",
    [
        ("a b c", "a b c", "a b n c", "a b n c"),  # a new cell comes at its place
        ("a b c", "a b c", "n a b c", "n a b c"),
        ("a b c", "a b c", "a c", "a c"),  # one that is gone goes
        ("a bX c", "a b c", "a c", "a DELETED bX c"),  # unless it was changed
        ("a x c", "a b c", "a b c n", "a x c n"),  # what the learner deleted stays deleted
        ("a x b y c", "a b c", "a n c", "a x n y c"),  # a replaced one stands where the old one stood
        ("c b a", "a b c", "a b c n", "c n b a"),  # a learner's own order stays
        ("x", "a", "n", "n x"),
        ("", "a b", "a b", ""),
        ("a bX c", "a b c", "a n c", "a n NOTE bX c"),  # both stay, and a note says so
        ("a bX c", "a b c", "a n b c", "a n bX c"),  # the course has left b as it was
        ("a x bX c", "a b c", "a n c", "a x n NOTE bX c"),
        ("a bX c", "a b c", "a n m", "a n NOTE bX m"),  # the cell after it has changed, too
        ("a bX c", "a b c", "m n c", "m n NOTE bX c"),
        ("a bX cX d", "a b c d", "a n m d", "a n NOTE bX m NOTE cX d"),
        ("a b c d", "a b c d", "c a b d", "c a b d"),  # one that the course has moved
        ("a b x c d", "a b c d", "c a b d", "c a b x d"),
        ("a b c", "a b c", "a n m c", "a n m c"),  # a cell that is cut in two
        ("a c d", "a b c d", "a n m d", "a n m d"),  # one that was deleted comes back if it is new, at its place
    ],
)
def test_merge_keeps_own_cells_takes_new_ones_and_notes_both(own, base, new, expected):
    merged = merged_of(own, base, new)
    first_lines = [text.split("\n")[0] for text in texts_of(merged.cells)]
    texts = [{NOTE: "NOTE", DELETED: "DELETED"}.get(line, line) for line in first_lines]
    assert " ".join(texts) == expected
    assert [merged.notes[kind] for kind in NOTES] == [texts.count("NOTE"), 0, texts.count("DELETED")]


def test_notes_of_earlier_updates_do_not_count_as_learners_cells():
    first = merged_of("a bX c", "a b c", "a n c")
    again = merged_of(first.cells, "a n c", "a n m")
    assert first.kept == 1 and first.notes[NOTES[0]] == 1
    assert again.kept == 2  # their version, and the course's, whose id it has taken
    assert again.notes[NOTES[0]] == 1  # and it is searched for, though an earlier update wrote it


@pytest.mark.parametrize(
    "kept, n, again",
    [
        ("a n NOTE bX c", "n", "a m NOTE bX c"),  # a newer version replaces that of an earlier update
        ("a bX c", "n", "a m NOTE bX c"),  # the learner kept their version
        ("a n c", "n", "a m c"),  # or took the course's
        ("a n c", "nX", "a m NOTE nX c"),  # and changed it
        ("a n NOTE bX c", "nY", "a nY NOTE m NOTE bX c"),
    ],
)
def test_a_note_comes_again_where_the_learner_kept_their_version(kept, n, again):
    note = f"{NOTE}\n\nYours differs in line 1."
    merged = {cell["source"]: cell for cell in merged_of("a bX c", "a b c", "a n c").cells}
    assert list(merged) == ["a", "n", note, "bX", "c"]
    merged |= {"NOTE": merged[note], "n": merged["n"] | {"source": n}}
    found = texts_of(merged_of([merged[name] for name in kept.split()], "a n c", "a m c").cells)
    assert found == [note if name == "NOTE" else name for name in again.split()]


GUESS, GUESSED, PART = 'predict("00.a", ...)', 'predict("00.a", 3)', "part = 1\n"


@pytest.mark.parametrize(
    "old, mine, new, stays",
    [
        (GUESS, GUESSED, f"{GUESS}  # a number", True),
        (GUESS, 'predict("00.a", 3,)', f"{GUESS}\nmix = 1", False),  # merged with the next
        (PART + GUESS, PART + GUESSED, f"part = 2\n{GUESS}", False),
        (PART + GUESS, PART + GUESSED, f"{PART}{GUESS}  # now", True),
        (GUESS, 'predict("00.a", 3', f"{GUESS}  # a number", True),  # not Python yet
    ],
)
def test_a_guess_keeps_out_no_other_code_of_the_course(old, mine, new, stays):
    old, own_cell, after = cells_of(old, mine, new)
    merged = merged_of([own_cell | {"id": "old"}], [old | {"id": "old"}], [after | {"id": "new"}])
    texts = texts_of(merged.cells)
    assert texts == [mine] if stays else texts[0] == new and texts[-1] == mine and len(texts) == 3


STUBBED, ANSWERED = "def softmax(x):\n    raise NotImplementedError", "def softmax(x):\n    return x.softmax(-1)"


def test_a_note_that_the_learner_has_written_into_stays():
    (base,), (mine,) = cells_of(STUBBED), cells_of(ANSWERED)
    own_cells = [mine]
    for version in ("two", "three"):
        new = base | {"id": version, "source": f"{STUBBED}  # {version}"}
        own_cells, base = merged_of(own_cells, [base], [new]).cells, new
        if version == "two":
            own_cells[0]["source"] += "\nKeep mine."
    first, second, third = texts_of(own_cells)
    assert first.endswith("Keep mine.") and "# three" in second and third == ANSWERED


def test_a_new_part_comes_behind_what_the_learner_has_added():
    (a, b), heading = cells_of("a", "b"), {"cell_type": "markdown", "id": "h", "metadata": {}, "source": "## New"}
    merged = merged_of([a, *cells_of("mine"), b], [a, b], [a, heading, *cells_of("stub"), b])
    assert texts_of(merged.cells) == ["a", "mine", "## New", "stub", "b"]


@pytest.mark.parametrize("lesson", ["13", "14", "15"])
def test_submit_finds_no_answer_in_the_prompt_of_a_task(tmp_path, lesson, monkeypatch):
    (name,) = [name for name in names_in(ROOT, "exercises") if name.startswith(lesson)]
    monkeypatch.setattr("course_utils.workspace.submission.course_of", lambda root: ROOT)
    monkeypatch.setattr("course_utils.workspace.copies.course_of", lambda root: ROOT)
    said = "\n".join(submit(tmp_path, lesson, ROOT / file_of("exercises", name)).remarks)
    assert "is in a text cell" not in said


def test_an_unchanged_task_whose_answer_lost_its_id_gets_no_note():
    asks, prompt, reworded, mine = cells_of(STUBBED, "b", "c", ANSWERED)
    merged = merged_of([mine | {"id": "merged"}, prompt], [asks, prompt], [asks, reworded])
    assert texts_of(merged.cells) == [ANSWERED, "c"] and not any(merged.notes.values())


@pytest.mark.parametrize(
    "mine, new, says",
    [
        ("a\nB\nc\nd\nE", "a\nx\nc\nd", "Yours differs in lines 2, 5."),
        ("a\nc", "a\nb\nc", "Yours lacks lines that the course's has."),
        ("\n".join("abcdefghij"), "x", "Yours differs in lines 1, 2, 3, 4, 5, 6, 7, 8, …."),
    ],
)
def test_the_note_between_two_versions_says_which_lines_differ(mine, new, says):
    before, z = cells_of("before", "z")
    merged = merged_of([before | {"source": mine}, z], [before, z], [*cells_of(new), z])
    assert texts_of(merged.cells) == [new, f"{NOTE}\n\n{says}", mine, "z"]


@pytest.mark.parametrize(
    "mine, new, expected",
    [
        ("A\n\nB\n\nmy note", "A2\n\nB", "A2\n\nB\n\nmy note"),  # at the end
        ("A\n\nB\nmy note", "A\n\nB2\n\nC", "A\n\nB2\n\nC\nmy note"),
        ("my note\n\nA\n\nB", "A2\n\nB", "my note\n\nA2\n\nB"),  # at the beginning
        ("A\n\nmy note\n\nhas two\n\nB", "A\n\nnew\n\nB2", "A\n\nmy note\n\nhas two\n\nnew\n\nB2"),
        ("A\n\nmy note\n\nB", "A2\n\nB", "A2\n\nmy note\n\nB"),  # where only the line after it is as it was
        ("A\n\nmy note\n\nB", "A2\n\nB2", None),  # where it belongs cannot be told
        ("A2\n\nB", "A3\n\nB", None),  # a line was changed
    ],
)
def test_lines_added_to_a_text_are_put_into_its_new_version(mine, new, expected):
    x, z = cells_of("x", "z")
    text = {"cell_type": "markdown", "id": "b", "metadata": {}, "source": "A\n\nB"}
    merged = merged_of([x, text | {"source": mine}, z], [x, text, z], [x, text | {"source": new, "id": "c"}, z])
    _, *between, _ = texts_of(merged.cells)
    if expected is None:
        assert between[0] == new and between[2:] == [mine]
        assert "both changed this cell" in between[1] and "Run All" not in between[1]  # which runs no text
    else:
        assert between == [expected] and merged.cells[1]["id"] == "c" and (merged.added, merged.kept) == (1, 1)


def test_the_same_change_on_both_sides_is_no_conflict():
    a, n, c = cells_of("a", "n", "c")
    assert texts_of(merged_of([a, n | {"id": "b"}, c], "a b c", "a n c").cells) == ["a", "n", "c"]


def test_submit_keeps_answers_when_given_a_file_without_any(clone, capsys):
    handed = handed_in(clone, answer())[0].path
    before = handed.read_bytes()
    assert submit(clone, "02", clone / BUILT).stays and handed.read_bytes() == before
    write_into(own(clone), answer("return", "return return"))
    capsys.readouterr()
    assert main(["submit", "02"]) == 1 and handed.read_bytes() == before
    said = capsys.readouterr().out
    assert "which defines `softmax`, is not Python" in said  # what is wrong comes first
    assert "holds no answer that counts" in said and "put right what is named above" in said and "--file" not in said


def test_a_cell_with_a_reveal_does_not_replace_the_new_version():
    own, new = (cells_of(f'{mark}\nreveal("00.q", 1)') for mark in ("mine", "new"))
    own[0]["id"] = "old"
    merged = merge(own, {"old": "of the text that was copied"}, new)
    assert [cell["source"].split("\n")[0] for cell in merged.cells] == ["new", NOTE, "mine"]


def test_ids_that_colab_moves_or_an_editor_loses_do_no_harm(clone):
    def like_colab(cells):
        for place, cell in enumerate(cells):
            name = cell.pop("id")
            if place % 2:
                cell["metadata"]["id"] = name
            cell["source"] = cell["source"].replace("\n", "\r\n") + "\n"

    write_into(own(clone), like_colab)
    assert "1 cell changed. " in updated(clone, replaced(*PROMPT))
    assert sources(own(clone)) == sources(clone / BUILT)


def metadata(**entries):
    """What another program makes of a copy: these entries in place of all that the notebook says of itself."""
    return lambda notebook: notebook.update(metadata=entries)


def each_cell(change=lambda cell: None, where="", **entries):
    """What another program makes of each cell in which these words are: this change of it, and these entries."""

    def change_all(notebook):
        for cell in notebook["cells"]:
            if where in cell["source"]:
                change(cell)
                cell.update(entries)

    return change_all


# As `nb-clean clean --remove-all-notebook-metadata` and `nbdev_clean` leave a notebook.
CLEANED = metadata(), each_cell(metadata={})
OTHER_PROGRAMS = {
    "nb-clean": CLEANED,
    "Colab": (  # its own metadata, and the ids in those of the cells
        metadata(colab={"provenance": []}, kernelspec={"name": "python3"}, accelerator="GPU"),
        each_cell(lambda cell: cell.update(metadata={"id": cell.pop("id"), "outputId": "1"})),
        lambda notebook: notebook.update(nbformat_minor=0),
    ),
    "VS Code": (metadata(language_info={"name": "python"}), each_cell(metadata={"vscode": {"languageId": "python"}})),
    "a course that is a text": [metadata(course="03")],
    "what the repository holds, opened on Colab": [metadata(course=load(ROOT / BUILT)["metadata"]["course"])],
    "no metadata": [lambda notebook: notebook.pop("metadata")],
    "metadata that is null": [lambda notebook: notebook.update(metadata=None)],
    "a base that is none": [metadata(course={"copied": {"version": 3, "cells": []}})],
    "a base of lists": [metadata(course={"copied": {"version": "3", "cells": {"a": [1]}}})],
    "nearly all ids lost": (*CLEANED, each_cell(lambda cell: "02.dot_scores" in cell["source"] or cell.pop("id"))),
    "ids that are lists": (*CLEANED, each_cell(where="02.softmax", id=[1])),
    "cells without metadata": [each_cell(lambda cell: cell.pop("metadata"))],
    "folding that is a text": [each_cell(metadata={"jupyter": "folded"})],
    "outputs of an odd shape": [each_cell(outputs=[{"odd": [0]}])],
    "half a surrogate pair": [lambda notebook: notebook["cells"].append(code("half = '\ud83d'"))],
    "a byte order mark": [],
}


@pytest.mark.parametrize("program", OTHER_PROGRAMS)
def test_a_copy_saved_by_another_program_is_updated_as_usual(clone, program):
    write_into(own(clone), answered(SOFTMAX))
    found = load(own(clone))
    for change in OTHER_PROGRAMS[program]:
        change(found)
    mark = "\ufeff" if program == "a byte order mark" else ""
    own(clone).write_text(mark + json.dumps(found), encoding="utf-8")
    before = own(clone).read_bytes()
    assert updated(clone, lambda cells: None) == "" and own(clone).read_bytes() == before
    published(clone, replaced("`02.dot_scores`\n", "`02.dot_scores`, with more words\n"))
    line = updated(clone, replaced(", dot_scores)", ", dot_scores, seconds=20)"))
    assert "2 cells changed" in line and "again" not in line  # the answered task is as it was
    mine = [text for text in sources(own(clone)) if "def softmax(" not in text and "half = " not in text]
    assert SOFTMAX in sources(own(clone))
    assert mine == [text for text in sources(clone / BUILT) if "def softmax(" not in text]
    assert copies.newer(clone) == []
    nbformat.read(own(clone), as_version=4)
    assert "read 02.softmax again" in updated(clone, replaced(*STUB)) and SOFTMAX in sources(own(clone))


def test_a_cleaned_copy_is_told_of_a_task_that_has_changed(clone):
    write_into(own(clone), answered(SOFTMAX))
    found = load(own(clone))
    for change in CLEANED:
        change(found)
    own(clone).write_text(json.dumps(found))
    assert "read 02.softmax again" in updated(clone, replaced(*STUB))
    assert [text for text in sources(own(clone)) if text.startswith("def softmax(")] == [SOFTMAX]


@pytest.mark.skipif(sys.platform == "win32", reason="a link takes a correct of its own on Windows")
def test_a_copy_that_is_a_link_is_updated_in_place_and_handed_in(clone, tmp_path):
    write_into(own(clone), answered(SOFTMAX))
    own(clone).rename(tmp_path / "elsewhere.ipynb")
    own(clone).symlink_to(tmp_path / "elsewhere.ipynb")
    assert updated(clone, replaced(*PROMPT)) and own(clone).is_symlink()
    assert SOFTMAX in (now := sources(tmp_path / "elsewhere.ipynb")) and any(PROMPT[1] in text for text in now)
    assert submit(clone, "02").rows[0].here == "answered"


def test_two_cells_of_one_id_both_stay(clone):
    write_into(own(clone), lambda cells: cells.append(cells[4] | {"source": "twice = 1"}))
    updated(clone, replaced(*PROMPT))
    assert "twice = 1" in sources(own(clone))
    ids = [cell["id"] for cell in load(own(clone))["cells"]]
    assert len(set(ids)) == len(ids)


def test_updating_says_which_notebook_is_no_copy_and_goes_on(clone):
    other = {"cells": [code("1")], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    own(clone, "notebooks", "00_start_here").write_text(json.dumps(other))
    published(clone, replaced(*PROMPT))
    lines = []
    (problem,) = update(clone, [], lines.append)
    assert len(lines) == 2 and "is no copy of the course's notebook" in problem


BAD = {
    "an empty file": b"",
    "zeros": b"\0" * 100,
    "UTF-16": "{}".encode("utf-16"),
    "Latin-1": b'{"cells": [{"cell_type": "markdown", "source": "\xe4"}]}',
    "cut off": b'{\n "cells": [\n  {"cell_type": "mark',
    "a list": b"[]",
    "no cells": b"{}",
    "cells that are numbers": b'{"cells": [1]}',
    "a cell of no kind": b'{"cells": [{"source": ""}]}',
    "a source that is no text": b'{"cells": [{"cell_type": "code", "source": [1]}]}',
    "nbformat 3": b'{"nbformat": 3, "worksheets": [{"cells": []}]}',
    "cells twice": b'{"nbformat": 3, "worksheets": [{"cells": []}], "cells": []}',
    "deep": b'{"cells":' * 100_000,
    "marks of Git": b'{\n<<<<<<< HEAD\n "cells": []}',
    "a folder": None,
}
NOT_TODAYS = " cannot be read as a notebook of today's format."
EMPTY_COPY = " is empty. Move it elsewhere: `course lab` makes a new copy."
SAYS = {  # of these, JupyterLab opens none
    "an empty file": EMPTY_COPY,
    "zeros": EMPTY_COPY,
    "cut off": " breaks off in the middle, at line 3. Move it elsewhere: `course lab` makes a new copy.",
    "marks of Git": ": Line 2 holds a mark of Git (`<<<<<<<`)",
}


@pytest.mark.parametrize("bad", BAD)
def test_a_bad_copy_stops_no_other(clone, bad):
    first = own(clone, "notebooks", "00_start_here")
    first.unlink()
    first.mkdir() if BAD[bad] is None else first.write_bytes(BAD[bad])
    published(clone, replaced(*PROMPT))
    lines = []
    (problem,) = update(clone, [], lines.append)
    assert problem.startswith(f"{first}{SAYS.get(bad, NOT_TODAYS)}")
    assert bad not in SAYS or "`course lab` makes a new copy" in problem
    assert len(lines) == 2 and any(PROMPT[1] in text for text in sources(own(clone)))
    assert [place.built for place in copies.newer(clone)] == []
    assert BAD[bad] is None or first.read_bytes() == BAD[bad]


def test_a_copy_that_breaks_off_leads_to_what_it_held_before(clone):
    file = own(clone)
    write_into(file, answered(SOFTMAX))
    updated(clone, replaced(*PROMPT))
    updated(clone, replaced(PROMPT[1], f"{PROMPT[1]} again"))
    submit(clone, "02")
    file.write_text(file.read_text()[:300])
    (problem,) = update(clone, ["02"], [].append)
    *_, last = sorted((clone / copies.EARLIER / "exercises").iterdir())
    assert f"my_course/earlier/exercises/{last.name} holds what it was before the last update." in problem
    assert problem.endswith(f" my_course/handed_in/{SUMS}.ipynb holds the answers that you have handed in.")
    other = own(clone, "notebooks", "00_start_here")
    other.write_text("{")
    (problem,) = update(clone, ["00"], [].append)
    assert problem.endswith("`course lab` makes a new copy.")  # of this one there is nothing else


def test_a_folder_that_cannot_be_written_stops_no_other(clone):
    published(clone, replaced(*PROMPT))
    published(clone, replaced("## ", "## Read: "), "notebooks")
    (clone / "my_course" / "earlier").mkdir()
    (clone / "my_course" / "earlier" / "notebooks").write_text("a file where a folder belongs")
    before, lines = own(clone, "notebooks").read_bytes(), []
    (problem,) = update(clone, [], lines.append)
    assert problem.endswith(f"my_course/notebooks/{SUMS}.ipynb is left as it is.") and "File exists" in problem
    assert own(clone, "notebooks").read_bytes() == before and len(lines) == 2


def test_new_copies_are_counted_in_one_line_and_need_no_reload(clone):
    lines = []
    shutil.rmtree(clone / "my_course")
    assert update(clone, [], lines.append) == []
    assert lines == [f"4 new copies, from my_course/notebooks/00_start_here.ipynb to my_course/{BUILT}."]
    own(clone).unlink()
    (clone / "my_course" / "exercises" / "00_start_here_exercises.ipynb").unlink()
    (clone / "my_course" / "exercises").rmdir()
    (clone / "my_course" / "exercises").write_text("a file where a folder belongs")
    assert all(problem.endswith("is not made.") for problem in update(clone, [], lines.append))


def test_the_command_line_names_what_is_newer_and_updates(clone, monkeypatch, capsys):
    assert copies.newer(clone) == []
    assert main(["update"]) == 0 and capsys.readouterr().out == "Your copies are up to date.\n"
    published(clone, replaced(*PROMPT))
    assert [place.built for place in copies.newer(clone)] == [BUILT]
    monkeypatch.chdir(clone / "my_course")
    assert main(["update", "02"]) == 0
    said = capsys.readouterr().out
    assert said.count("\n") == 2 and "Reload Notebook from Disk" in said
    assert main(["update", "9"]) == 2 and "no lesson '9'" in capsys.readouterr().err


def test_an_update_that_cannot_be_written_keeps_no_earlier_copy(clone, monkeypatch):
    def written(path, text):
        if "earlier" not in str(path):
            raise OSError(28, "No space left on device", str(path))
        write(path, text)

    published(clone, replaced(*PROMPT))
    kept, write = sorted((clone / copies.EARLIER).rglob("*.ipynb")), updating.write
    monkeypatch.setattr(updating, "write", written)
    (problem,) = update(clone, [])
    assert "No space left on device" in problem and sorted((clone / copies.EARLIER).rglob("*.ipynb")) == kept


# course submit


def stub_of_softmax(cells):
    return next(cell for cell in cells if cell["source"].startswith("def softmax("))


def replacing(text, **more):
    """A learner's change: this text in place of the stub of softmax, or of the answer that replaced it."""
    return lambda cells: stub_of_softmax(cells).update(source=text, **more)


def answer(*old_and_new):
    """A right answer to softmax, but for these changes of its text."""
    text = SOFTMAX
    for old, new in zip(old_and_new[::2], old_and_new[1::2], strict=True):
        text = text.replace(old, new, 1)
    return replacing(text)


def above(text):
    return lambda cells: cells.insert(cells.index(stub_of_softmax(cells)), code(text))


def below(*texts):
    return lambda cells: cells.extend(map(code, texts))


def in_all_cells(pattern, new):
    return lambda cells: [cell.update(source=re.sub(pattern, new, cell["source"])) for cell in cells]


def under_another_name(cells):
    """A right answer that is called `mine`, also where it is checked."""
    answer()(cells)
    in_all_cells('def softmax|(?<="02.softmax", )softmax', lambda found: found[0].replace("softmax", "mine"))(cells)


def checked(cell):
    """What progress keeps after a check that passed."""
    return lambda entry: entry.update(state="passed", passed=True, attempts=1, cell=state.answer_digest(cell))


def handed_in(clone, *changes, file=None):
    """Change the copy and hand it in; return the submission, and its remarks as one text."""
    for change in changes:
        write_into(own(clone), change)
    done = submit(clone, "02", file)
    return done, "\n".join(done.remarks)


def case(says, *changes, passed=None, checked="", never=None):
    """What `course submit` says of a copy after these changes, where `passed` is the answer that has passed its check.

    says: a pattern of its remarks; checked: what it says of that check; never: words that are in no remark.
    """
    return says, changes, passed, checked, never


EMPTY = "def softmax(scores, temperature=1.0):\n    raise NotImplementedError"
MINE = SOFTMAX.replace("def softmax(", "def mine(")
NAMES = r"""import math
with torch.no_grad():
    ONE = 1
def helper(x):
    global LATER
    LATER = 0
    return x
%time 1 + 1
DIGIT = '\d'"""  # which Python warns of
IN_CLASS = (
    "import torch, numpy, scipy\nfrom einops import rearrange\nx = torch.load('mine.pt')\n# open('a')\nx.to('cuda')"
)
QUOTES = 3 * "'"
MASKED = answered("def masked_softmax(scores, mask):\n    return softmax(scores)")
IN_TEXT = "02.softmax: `softmax` is in a text cell. Make it a code cell"
NOT_SAVED = "02.softmax: what you checked last is not what the saved file holds. Save the notebook and run this again"
SUBMITTED = {  # by what is in the file of the task 02.softmax
    "not attempted": [
        case(
            "02.softmax: your code is there, but so is the placeholder `raise NotImplementedError`",
            answer("return (scores", "y = (scores", "(-1)", "(-1)\n    raise NotImplementedError"),
            checked=CHANGED,
            passed=SOFTMAX,
            never="without an answer in the saved file",
        ),
        case("02.softmax: .*so is the placeholder", answer("return ", "raise NotImplementedError\n    return ")),
        case("", answer("(scores / temperature).softmax(-1)", "None"), never="02.softmax: "),
        case(
            "Checked in JupyterLab, but without an answer in the saved file: 02.softmax. Save the notebook",
            passed=SOFTMAX,
            checked=CHANGED,
        ),
        case(
            r"02.softmax: the empty function in cell \d+ replaces the one above it, in cell \d+: delete it",
            above(SOFTMAX),
        ),
        case(IN_TEXT, lambda cells: cells.append({"cell_type": "markdown", "metadata": {}, "source": SOFTMAX})),
        case("Perhaps it is `my_attention` now", in_all_cells("def several_attentions", "def my_attention")),
        case(
            r"Cell \d+ \(`1x = what I noted about the softmax of l…`\) is not Python",
            below("\n1x = what I noted about the softmax of long rows"),
        ),
        case("imports `einops`, which does not come with the course", below(IN_CLASS), never="scipy"),
        case(r"reads or writes a file \(`x = torch.load\('mine.pt'\)`\)", below(IN_CLASS)),
        case("If it is a file of yours, put its code into a cell.", below(IN_CLASS)),
        case("uses a GPU", below(IN_CLASS)),
        case(r"waits \(`while True:`\), which takes time from your answers", below("while True:\n    pass")),
        case(
            r"waits \(`time.sleep\(30\)`\), which takes time",
            below("import time\nfor n in range(3):\n    time.sleep(30)"),
        ),
        case(r"asks you to type something \(`x = input\('a number'\)`\)", below("x = input('a number')")),
        case("", below("while True:\n    break"), never="waits"),
        case("", below("def later():\n    time.sleep(30)"), never="waits"),
        case("", below("time.sleep(0.5)"), never="waits"),
        case(
            "Not answered yet: 02.q2, 02.q3. Replace",
            below('check("02.q1", "b", seed=7)', 'check("02.q2", ..., seed=7)', 'check("02.q3", seed=7)'),
        ),
    ],
    "answered": [
        case("", answer("(-1)", "(-1)\n    raise NotImplementedError"), never="02.softmax"),
        case("", answer(")\n", ")\n    # a comment\n"), never="02.softmax: "),
        case(
            "02.softmax: .*uses `helper`, which no cell of this notebook defines",
            answer("return (scores", "return helper(scores"),
        ),
        case(
            "02.softmax: .*uses `mystery`, ",
            answer(" (scores", " (mystery + scores", "return", "elsewhere = 1\n    return elsewhere *"),
        ),
        case(
            "",
            lambda cells: cells.insert(1, code(NAMES)),
            answer("return (", "return ONE * math.e * 0 + LATER + helper("),
            never="02.softmax",
        ),
        case(
            "uses `F`, which only a cell below its check defines: move that cell",
            answer("return (scores", "return F.softmax(scores"),
            below("import torch.nn.functional as F"),
        ),
        case("", under_another_name, never="softmax` is nowhere"),
        case("What that check was given counts", answer(), below(EMPTY), passed=SOFTMAX, checked="passed"),
        case("move the check below", below(SOFTMAX), passed=SOFTMAX, checked="passed"),
        case(
            "02.softmax: `softmax` is defined in cell.* move the check below",
            answer(),
            lambda cells: cells.append(cells.pop(cells.index(stub_of_softmax(cells)))),
        ),
        case(
            r"02.softmax: `softmax` is defined in cells (\d+) and (\d+). The one in cell \2 counts, and your last check",
            replacing("def softmax(scores, temperature=1.0):\n    return scores"),
            above(SOFTMAX),
            passed=SOFTMAX,
            checked=CHANGED,
        ),
        case(NOT_SAVED, answer(), passed=SOFTMAX.replace("return (", "return 1 * ("), checked=CHANGED),
        case("", answer(), passed=SOFTMAX, checked="passed", never=NOT_SAVED),
        case("", replacing("  " + SOFTMAX.replace("\n", "\n  ")), passed=SOFTMAX, checked="passed"),
        case(
            "02.softmax: `async def` makes a function that returns a coroutine, not a value",
            replacing(f"async {SOFTMAX}"),
        ),
        *(
            case("", replacing(around.format(SOFTMAX.replace("\n", f"\n{edge}"))), never="nowhere defined")
            for around, edge in (
                ("with torch.no_grad():\n    {}", "    "),
                ('if __name__ == "__main__":\n    {}', "    "),
                ("try:\n    {}\nfinally:\n    pass", "    "),
                (">>> {}", "... "),
                ("\n    {}", "    "),
            )
        ),
        case("", replacing(f"%%time\n{SOFTMAX}"), MASKED, never="uses `softmax`, which no cell"),
    ],
    "missing": [
        case("Perhaps it is `mine` now", replacing(MINE), passed=MINE, checked="passed", never="in the saved file"),
        case(IN_TEXT, replacing(SOFTMAX, cell_type="markdown")),
        case(
            "`softmax` is imported, and grading looks for a cell that defines it: put its code",
            replacing("from mine import softmax"),
        ),
        case("`softmax` is in a comment: remove the `#`", replacing("# " + SOFTMAX.replace("\n", "\n# "))),
        *(
            case(f"nowhere defined. Perhaps it is `{name}` now", answer("softmax", name))
            for name in ("my_softmax", "by_exponentials")
        ),
        case(
            "`softmax` is defined only inside a class or another function: move it to the left edge",
            replacing("class Mine:\n    def softmax(scores):\n        return scores"),
        ),
        case(
            "`softmax` is defined only inside a string: take out the quotes",
            replacing(f"answer = {QUOTES}\n{SOFTMAX}{QUOTES}"),
        ),
        *(
            case("`softmax` is made by `exec` from a text. It counts if it runs", replacing(f"exec({text})"))
            for text in (repr(SOFTMAX), f"{QUOTES}\n{SOFTMAX}{QUOTES}")
        ),
        case("uses `softmax`, which no cell", replacing(f"%%timeit\n{SOFTMAX}"), MASKED),
        case("uses `softmax`, which no cell", replacing(f"%%writefile a.py\n{SOFTMAX}"), MASKED),
    ],
    "not Python": [
        case(
            r"Cell \d+, which defines `softmax`, is not Python \(line 1: ",
            replacing(f"```python\n{SOFTMAX}\n```"),
            never="nowhere defined",
        ),
    ],
}


@pytest.mark.parametrize(
    ("here", "says", "changes", "passed", "checked_as", "never"),
    [(here, *row) for here, rows in SUBMITTED.items() for row in rows],
)
def test_submit_tells_what_grading_would_find(clone, here, says, changes, passed, checked_as, never):
    if passed:
        state.change("02.softmax", checked(passed))
    done, said = handed_in(clone, *changes)
    assert (done.rows[0].here, done.rows[0].checked) == (here, checked_as)
    assert re.search(says, said) and (never is None or never not in said), said


def test_answers_in_words_replace_what_was_handed_in(clone):
    handed_in(clone, answer())
    done, _ = handed_in(clone, replacing(EMPTY), lambda cells: cells.append(WORDS))
    assert not done.stays


def test_submit_looks_for_answers_in_the_courses_and_other_files(clone):
    write_into(clone / BUILT, answered(SOFTMAX))
    assert f"Are your answers in {clone / BUILT}?" in handed_in(clone)[1]
    state.change("02.softmax", checked("0"))
    _, said = handed_in(clone, file=own(clone))
    assert "If they are in another notebook, hand in that one" in said and "Save the notebook" not in said


def test_the_summary_counts_answers_that_failed_their_last_check(clone, capsys):
    write_into(own(clone), answer())
    for reached, words in ("failed", "answered, 1 of them failed the last check, in "), ("passed", "answered in "):
        state.change("02.softmax", checked(SOFTMAX))
        state.change("02.softmax", lambda entry, reached=reached: entry.update(state=reached))
        main(["submit", "02"])
        assert f"tasks {words}" in capsys.readouterr().out


def test_handing_in_says_what_is_missing_and_odd(clone):
    def without_check(cells):
        cells[:] = [cell for cell in cells if 'check("02.mlp_scores"' not in cell["source"]]
        cells[3]["outputs"] = [{"output_type": "stream"}]  # damaged, and dropped with all others

    state.change("02.softmax", checked(SOFTMAX))
    state.change("02.dot_scores", checked("before"))
    done, said = handed_in(
        clone,
        answered(SOFTMAX, "def dot_scores(words, theta):\n    return words @ theta"),
        below("def dot_scores(words, theta):\n    return 0", "def (:", "%time 1 + 1\n!ls"),
        in_all_cells("def masked_softmax", "def masked_softmax_2"),
        without_check,
    )
    rows = {row.task: (row.here, row.checked) for row in done.rows}
    assert rows["02.softmax"] == ("answered", "passed")
    assert rows["02.dot_scores"] == ("answered", CHANGED)
    assert rows["02.mlp_scores"] == ("not attempted", "")
    assert rows["02.masked_softmax"] == ("missing", "")
    assert "Perhaps it is `masked_softmax_2` now" in said
    assert "02.dot_scores: `dot_scores` is defined again in cell " in said
    assert "starts another program or notebook (`!ls`)" in said
    assert "No cell checks 02.mlp_scores any more" in said
    assert said.count("is not Python (line 1: ") == 1
    assert "you have not answered 02.q1" in said
    notebook = nbformat.read(done.path, as_version=4)
    nbformat.validate(notebook)
    assert notebook.metadata.course.lesson == "02"
    assert not any(cell.get("outputs") for cell in notebook.cells)


def test_submit_refuses_the_lesson_and_keeps_the_earlier_file(clone):
    path = handed_in(clone, answer())[0].path
    before = path.read_bytes()
    with pytest.raises(CourseError, match="is lesson 02 itself: your answers are in the notebook of its exercises"):
        submit(clone, "02", own(clone, "notebooks"))
    assert path == clone / "my_course/handed_in/02_weighted_sums.ipynb" and path.read_bytes() == before


def test_submit_keeps_a_file_with_an_answer_under_another_name(clone):
    done, _ = handed_in(clone, under_another_name)
    kept = done.path.read_bytes()
    own(clone).unlink()
    copies.make_missing(clone)  # without an answer
    again, _ = handed_in(clone)
    assert not done.stays and again.stays and again.path.read_bytes() == kept


def test_submit_keeps_a_file_with_more_answers_and_says_so(clone):
    stub = next(text for text in sources(own(clone)) if text.startswith("def dot_scores("))
    done, _ = handed_in(clone, answered(SOFTMAX, stub.replace("raise NotImplementedError", "return 1")))
    before = done.path.read_bytes()
    _, said = handed_in(clone, answered(stub))
    kept = re.search(
        r"^The file that you handed in before holds 2 answers, and this one 1. The earlier one is kept as (.*).$",
        said,
        re.M,
    )
    assert (clone / kept[1]).read_bytes() == before
    assert "handed in before" not in handed_in(clone)[1]


def test_submit_says_what_a_check_said_of_a_borrowed_answer(clone):
    state.change("02.softmax", checked(SOFTMAX))
    state.change("02.softmax", lambda entry: entry.update(borrowed="reference"))
    borrowed = "02.softmax: your answer calls the course's own `reference`, which this task does not offer"
    assert borrowed in handed_in(clone, answer())[1]
    state.change("02.softmax", lambda entry: entry.update(cell="of another answer"))
    assert borrowed not in handed_in(clone)[1]


@pytest.mark.parametrize("cells", [[], [""], ["x = [1, 2]", "# my notes"]])
def test_submit_says_that_a_notebook_is_none_of_the_course(clone, cells):
    path = clone / "scratch.ipynb"
    made = {"cells": [code(cell) for cell in cells], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(made))
    for file in (path, None):
        with pytest.raises(CourseError, match="holds no task of any lesson, and lesson 02 is asked for"):
            submit(clone, "02", file)
        shutil.copy(path, own(clone))


@pytest.mark.parametrize("name", ["03_queries_keys_values", "09_self_attention"])
def test_submit_takes_the_lesson_asked_for_where_names_fit_two(tmp_path, name):
    path = tmp_path / "mine.ipynb"
    cells = [code("import torch"), code("def self_attention(x):\n    return x")]
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    notebook, _, _ = submission._read(path, name)
    assert notebook.lesson == name[:2]


def test_update_says_what_to_do_with_an_answer_that_is_not_saved(clone):
    lines = []
    state.change("02.softmax", checked(SOFTMAX))
    published(clone, replaced(*PROMPT))
    assert update(clone, [], lines.append) == []
    assert "checked, but without an answer in the saved file: 02.softmax" in lines[0]
    assert "save it first, choose Overwrite, and run this again" in lines[-1]
    write_into(own(clone), answered(SOFTMAX))
    published(clone, replaced(PROMPT[1], PROMPT[0]))
    assert "in the saved file" not in updated(clone, replaced("temperature", "the temperature"))


def test_submit_takes_lessons_and_counts_cells_as_jupyterlab(clone, capsys):
    write_into(own(clone), answered(SOFTMAX))
    write_into(own(clone), below("1x = 2"))
    cells = load(own(clone))["cells"]
    assert any(cell["cell_type"] == "markdown" for cell in cells)
    assert main(["submit", "02", "00"]) == 0
    shown = capsys.readouterr().out
    assert f"\nCell {len(cells)} (`1x = 2`) is not Python" in shown and shown.count("The file to hand in: ") == 2


def test_submit_mentions_a_newer_version_but_not_of_another_file(clone, capsys):
    write_into(own(clone), answered(SOFTMAX))
    assert main(["submit", "02"]) == 0 and "newer version" not in capsys.readouterr().out
    published(clone, replaced(*PROMPT))
    assert main(["submit", "02"]) == 0 and "There is a newer version of 02: `course update`" in capsys.readouterr().out
    assert main(["submit", "02", "--file", str(own(clone))]) == 0 and "newer version" not in capsys.readouterr().out
    state.change("02.softmax", lambda entry: entry.update(state="failed", attempts=2))
    assert main(["progress"]) == 0
    shown = capsys.readouterr().out
    assert "There is a newer version of 02" in shown and re.search(r"02.softmax +failed +attempts +2", shown)
    assert main(["update"]) == 0 and main(["progress"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"○ 02.softmax +changed since +attempts +2", shown) and "newer version" not in shown


def with_cells(*cells, **extra):
    """The bytes of a copy with these cells at its end."""
    return lambda notebook: json.dumps(notebook | {"cells": notebook["cells"] + list(cells)} | extra).encode()


def old_format(notebook):
    cells = [cell | {"input": cell["source"]} for cell in notebook["cells"]]
    cells[-1] |= {"source": "def softmax(): what Jupyter does not show"}
    cells.insert(3, {"cell_type": "heading", "level": 2, "source": "Old", "metadata": {}})
    return json.dumps({"nbformat": 3, "metadata": {}, "worksheets": [{"cells": cells}]}).encode()


WORDS = {"cell_type": "markdown", "metadata": {}, "source": "**Answer to 02.why:** Since …"}
PASTED = "![a.png](attachment:a.png) and ![](data:image/png;base64,iVBORw0KGgo=)"
PICTURE = {"cell_type": "markdown", "source": PASTED, "attachments": {"a.png": {"image/png": "iVBORw0KGgo="}}}
READ_BY_GRADING = {
    "a byte order mark": lambda notebook: b"\xef\xbb\xbf" + json.dumps(notebook).encode(),
    "no source": with_cells({"cell_type": "code"}, {"cell_type": "markdown"}),
    "a source that is no text": with_cells(code(None), code([1]), {"cell_type": "markdown", "source": 3}),
    "what is no cell": with_cells(7, None, []),
    "cells of no kind": with_cells({"source": "x = 1"}, WORDS, {"cell_type": "html", "source": "x"}, PICTURE),
    "half a surrogate pair": with_cells(code("half = '\ud83d'"), WORDS | {"metadata": {"\ud83d": "\udc00"}}),
    "more than 20 MB of outputs": with_cells(code("x = 1") | {"outputs": ["#" * 21_000_000]}),
    "more than 500,000 lists in outputs": with_cells(code("x = 1") | {"outputs": [[]] * 500_001}),
    "numbers of any size": lambda notebook: with_cells(WORDS | {"metadata": {"n": [123456789, float("nan"), 1e300]}})(
        notebook
    ).replace(b"123456789", b"9" * 5000),
    "a picture": with_cells(WORDS, PICTURE),
    "attachments that are none": with_cells(WORDS, PICTURE | {"attachments": [1]}),
    "ids lost and doubled": with_cells(code("x = 1"), code("y = 2") | {"id": "d"}, code("y = 2") | {"id": "d"}),
    "ids that are none": with_cells(code("x = 1") | {"id": [1]}, code("y = 2") | {"id": "ä b"}),
    "metadata that are none": with_cells(code("x = 1") | {"metadata": None}, metadata=[]),
    "an answer longer than is run": with_cells(code("x = 1\n" * 40_000)),
    "nbformat 3": old_format,
}


@pytest.mark.parametrize("form", READ_BY_GRADING)
def test_submit_hands_in_unchanged_all_that_grading_can_read(clone, form, tmp_path):
    write_into(own(clone), answered(SOFTMAX))
    file = tmp_path / "mine.ipynb"
    file.write_bytes(READ_BY_GRADING[form](load(own(clone))))
    done, known = submit(clone, "02", file), names_by_lesson()
    graded = notebook_in(read_own(file), known, "") if form.startswith("more than") else read_notebook(file, known)
    handed_in = read_notebook(done.path, known)
    assert (handed_in.cells, handed_in.in_words, handed_in.requests) == (graded.cells, graded.in_words, graded.requests)
    assert graded.remarks == tuple(done.remarks[: len(graded.remarks)]) and handed_in.lesson == "02"
    assert done.rows[0].here == "answered"
    nbformat.validate(nbformat.read(done.path, as_version=4))


def test_pictures_are_handed_in_with_the_text_around_them(clone):
    write_into(own(clone), lambda cells: cells.append(PICTURE | {"metadata": {}}))
    last = load(submit(clone, "02").path)["cells"][-1]
    assert (last["source"], last["attachments"]) == (PASTED, PICTURE["attachments"])


def test_a_refused_submission_leaves_an_earlier_file_as_it_was(clone):
    before = submit(clone, "02").path.read_bytes()
    assert submit(clone, "02").path.read_bytes() == before  # the same empty notebook is taken twice
    large = {"a.png": {"image/png": "iVBORw0KGgo=" * 1_800_000}}
    write_into(own(clone), lambda cells: cells.append(PICTURE | {"metadata": {}, "attachments": large}))
    with pytest.raises(CourseError, match="MB, at most 20 MB are read: .* make pasted pictures smaller"):
        submit(clone, "02")
    twice = load(own(clone)) | {"nbformat": 3, "worksheets": []}
    own(clone).write_text(json.dumps(twice))
    with pytest.raises(CourseError, match="holds its cells twice, .*: open it in JupyterLab"):
        submit(clone, "02")
    assert (clone / "my_course" / "handed_in" / f"{SUMS}.ipynb").read_bytes() == before


def test_submit_takes_another_file_and_refuses_a_wrong_one(clone, monkeypatch, capsys):
    elsewhere = clone / "übung.ipynb.txt"
    shutil.copy(own(clone), elsewhere)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
        assert main(["submit", "02", "--file", str(elsewhere)]) == 0
        sys.stdout.flush()
        said = sys.stdout.buffer.getvalue().decode()
    assert "answered in ubung.ipynb.txt" in said and "  02.softmax " in said and "\n0 of " in said
    assert "So there is nothing to grade yet: answer a task" in said
    assert said.rstrip().endswith(f"my_course/handed_in/{SUMS}.ipynb")

    def refused(*arguments):
        assert main(["submit", *arguments]) == 2
        return capsys.readouterr().err

    for name, content in {"README.md": b"# A course.\n", "answers": b"\x89PNG\r\n", "02.py": b""}.items():
        (clone / name).write_bytes(content)
        told = f"course: {clone / name} is not a notebook: --file takes the .ipynb file with your answers.\n"
        assert refused("02", "--file", str(clone / name)) == told
    wrong = refused("00", "--file", str(elsewhere))
    assert "holds the exercises of lesson 02, and lesson 00 is asked for" in wrong
    elsewhere.with_suffix("").write_text("<html>")
    assert "This is a web page (HTML), not a notebook" in refused("02", "--file", str(elsewhere.with_suffix("")))
    assert "--file names the notebook of one lesson, not of 2" in refused("00", "02", "--file", str(elsewhere))
    shutil.rmtree(clone / "my_course" / "handed_in")
    (clone / "my_course" / "handed_in").write_text("a file where a folder belongs")
    assert re.search("cannot be written .*: see that you may write in that folder", refused("02"))
    own(clone).unlink()
    assert "`course lab` makes your copies" in refused("02")


# Progress that travels


@pytest.fixture
def laptop(tmp_path, monkeypatch):
    """Two computers, each with a progress of its own: call it with a name to sit down at one."""
    monkeypatch.delenv("COURSE_PROGRESS", raising=False)

    def sit_down(name):
        (tmp_path / name).mkdir(exist_ok=True)
        monkeypatch.setenv("COURSE_HOME", str(tmp_path / name))
        monkeypatch.setattr(state, "_in_memory", {})
        monkeypatch.setattr(state, "_new_seed", len(name))

    monkeypatch.chdir(tmp_path)
    return sit_down


def test_progress_travels_and_the_better_counts(laptop, capsys):
    laptop("home")
    state.change("02.softmax", lambda e: e.update(state="failed", passed=True, attempts=5))
    state.change("02.dot_scores", lambda e: e.update(state="error", attempts=1, hints=2))
    seed = state.seed()
    learner.progress(save="progress.json")
    assert 'run progress(load="progress.json")' in capsys.readouterr().out.replace("`", "")
    laptop("colab")
    learner.progress(load="progress.json")
    assert state.read()["02.softmax"] == {"state": "failed", "passed": True, "attempts": 5}
    assert state.seed() == seed  # the letters of answered questions stay right
    state.change("02.softmax", lambda e: e.update(state="passed", attempts=6))
    state.change("02.dot_scores", lambda e: e.update(state="passed", passed=True))
    learner.progress(save=Path("progress.json"))
    laptop("home")
    state.change("02.dot_scores", lambda e: e.update(hints=3))
    learner.progress(load="progress.json")
    assert state.read() == {
        "02.dot_scores": {"state": "passed", "passed": True, "attempts": 1, "hints": 3},
        "02.softmax": {"state": "passed", "passed": True, "attempts": 6},
    }
    assert state.seed() == seed


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"tasks": {"02.softmax": {"state": "won"}}}', '{"tasks": {"<b>": {}}}', '{"tasks": {}, "seed": -1}',
     '{"tasks": {}}' + " " * 1_000_000, "[" * 100_000],
)  # fmt: skip
def test_a_file_that_is_no_progress_changes_nothing(laptop, capsys, text):
    laptop("home")
    state.change("02.softmax", lambda e: e.update(state="passed"))
    before = Path("home/.course/progress.json").read_bytes()
    Path("progress.json").write_text(text)
    learner.progress(load="progress.json")
    assert "holds something else than progress" in capsys.readouterr().out
    learner.progress(save="progress.json")
    assert "holds something else than progress" in capsys.readouterr().out
    assert Path("progress.json").read_text() == text
    assert Path("home/.course/progress.json").read_bytes() == before
    learner.progress(load="nowhere.json")
    assert "cannot be read" in capsys.readouterr().out
    learner.progress(load=3)
    assert "Use it like this" in capsys.readouterr().out


# The set-up cell


def run_setup(folder, address="https://github.com/ada/sums", python=("-S",), **environment):
    """Run the set-up cell in a folder by a Python without libraries; what pip is asked is printed."""
    spy = "import subprocess, types\nsubprocess.run = lambda command, **_: (print(command[1:]), types.SimpleNamespace(returncode=CODE))[1]\n"
    code = spy.replace("CODE", environment.pop("CODE", "0")) + set_up_code(address) + "\nprint(sys.path[-1])"
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "COURSE_SOURCE")}
    return subprocess.run(
        [sys.executable, *python, "-c", code], cwd=folder, env=kept | environment, capture_output=True, text=True
    )


@pytest.fixture
def around(tmp_path):
    """A course's folder with its package, and a folder for notebooks below it."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(
        ROOT / "course_utils" / "base", tmp_path / "course_utils" / "base", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copy(ROOT / "course_utils" / "__init__.py", tmp_path / "course_utils")
    (tmp_path / "my_course" / "notebooks").mkdir(parents=True)
    return tmp_path / "my_course" / "notebooks"


def test_the_set_up_cell_uses_the_course_around_it_if_complete(around, tmp_path):
    libraries = tmp_path / "libraries"
    libraries.mkdir()
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    for name in (re.match("[a-z0-9-]+", line)[0] for line in wanted):
        (libraries / f"{set_up.IMPORTED_AS.get(name, name)}.py").touch()
    done = run_setup(around, PYTHONPATH=str(libraries))
    assert (done.returncode, done.stdout.strip()) == (0, str(tmp_path)), done.stderr


def test_the_set_up_cell_installs_nothing_into_a_clones_python(around, tmp_path):
    told = run_setup(around)
    assert told.returncode and "'pip'" not in told.stdout and "Traceback" not in told.stderr
    assert f"{sys.executable}, which lacks torch, numpy, " in told.stderr
    assert f"Run `make lab` in {tmp_path} once" in told.stderr and f"choose {tmp_path / '.venv'} as" in told.stderr
    (tmp_path / ".venv").mkdir()
    told = run_setup(around)
    assert told.returncode and "'pip'" not in told.stdout and "Traceback" not in told.stderr
    assert f"Choose the course's own environment as its kernel instead: {tmp_path / '.venv'}." in told.stderr


@pytest.mark.parametrize("has_gpu", [True, False])
def test_the_set_up_cell_names_the_build_for_this_computer(monkeypatch, tmp_path, has_gpu):
    monkeypatch.setattr(set_up.sys, "platform", "linux")
    monkeypatch.setattr(set_up.shutil, "which", lambda name: name if has_gpu else None)
    command = set_up.install_command(tmp_path)
    assert command.startswith("%pip install ") and f'-e "{tmp_path}"' in command
    assert (f"--extra-index-url {set_up.CPU_BUILD}" in command) is not has_gpu
    assert set_up.CPU_BUILD in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_set_up_cell_names_a_placeholder_for_what_it_is(tmp_path):
    address = "https://github.com/example/sums"
    told = run_setup(tmp_path, address)
    assert told.returncode and "pip" not in told.stdout
    assert told.stderr.startswith(f"The course is not published yet: git+{address} is a placeholder")
    assert "'a.whl'" in run_setup(tmp_path, address, COURSE_SOURCE="a.whl").stdout
    failed = run_setup(tmp_path, address, COURSE_SOURCE="a.whl", CODE="1")
    assert failed.returncode and failed.stderr.startswith("The course could not be installed from a.whl")
    assert "pip" not in run_setup(tmp_path, address, python=(), PYTHONPATH=str(ROOT)).stdout  # where it is there
    assert "'git+https://github.com/ada/sums'" in run_setup(tmp_path).stdout
    assert "placeholder" not in set_up_code("https://github.com/ada/sums")


def test_a_release_build_fails_while_a_placeholder_stands(tmp_path):
    (tmp_path / "docs").mkdir()
    project = tmp_path / "pyproject.toml"
    project.write_text('[project.urls]\nRepository = "https://github.com/example/sums"\n')
    (tmp_path / "docs" / "page.md").write_text("git+https://github.com/example/sums")
    assert [line.split()[0] for line in build.placeholders(tmp_path)] == ["pyproject.toml", "docs/page.md"]
    for path in (project, tmp_path / "docs" / "page.md"):
        path.write_text(path.read_text().replace("example/", "ada/"))
    assert build.placeholders(tmp_path) == []
    workflow = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    assert "course build --check --release" in workflow and "refs/tags/" in workflow
