"""What an instructor does by hand: points, extensions and comments that outlive each regrade, and a term's lessons side by side."""

import csv
import json
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from submissions import ATTENTION, CAUSAL, PADDING, grades, needs_sandbox, notebook

from course_utils.base.errors import CourseError
from course_utils.commands import main
from course_utils.grading.handing_out.release import release
from course_utils.grading.ingest.class_settings import Settings, read_settings
from course_utils.grading.ingest.overrides import read_overrides
from course_utils.grading.ingest.written_answers import PLACE, Written, in_words
from course_utils.grading.pipeline import grade_class
from course_utils.grading.reports.pages import write_in_words
from course_utils.grading.storage.normalise import displayable
from course_utils.grading.storage.record import TO_BE_READ, Graded, Person, Result, Verdict

COURSE = Path(__file__).parents[1]
HEADER = "student,task,points,extension,comment\n"
DEADLINE = datetime.fromisoformat("2026-11-20T23:59:00+01:00")


def overrides(tmp_path, text, settings=Settings(deadline=DEADLINE)):  # noqa: B008
    path = tmp_path / "overrides.csv"
    path.write_text(text, encoding="utf-8")
    return read_overrides(path, {"ada", "emmy"}, settings)


def test_overrides_are_read(tmp_path):
    text = "sep=;\nTask;Student;Points;Comment\n03.attention;ada;2,5;Talked about it\n;ada;;Well done\n"
    found = overrides(tmp_path, text)["ada"]
    assert float(found.points["03.attention"]) == 2.5
    assert found.comments == {"03.attention": "Talked about it", "": "Well done"}
    found = overrides(tmp_path, HEADER + "emmy,,,2026-11-27T23:59:00Z,\n")["emmy"]
    assert found.deadline == datetime.fromisoformat("2026-11-27T23:59:00+00:00")
    of_the_class = Settings(deadline=DEADLINE, zone=ZoneInfo("Europe/Berlin"))
    found = overrides(tmp_path, HEADER + "emmy,,,2027-04-01T23:59:00,\n", of_the_class)["emmy"]
    assert found.deadline == datetime.fromisoformat("2027-04-01T23:59:00+02:00")
    found = overrides(tmp_path, HEADER + "emmy,,,2027-04-01,\n", of_the_class)["emmy"]  # a day ends at its end
    assert found.deadline == datetime.fromisoformat("2027-04-01T23:59:59.999999+02:00")
    text = HEADER + 'ada,03.attention,4,,"You said: ""a, b"",\r\n03.attention, then emmy,\nand ""c""."\nemmy,,,,"x"\n'
    found = overrides(tmp_path, text)
    assert found["ada"].comments["03.attention"].splitlines()[-1] == 'and "c".' and found["emmy"].comments == {"": "x"}
    text = (
        "\ufeff" + HEADER + "\u200badA@x.org\u00a0,03.attention\u200b,\u20604,,ok\n\ufeff" + HEADER + "e\u0301,,,,ok\n"
    )
    (tmp_path / "overrides.csv").write_text(text, encoding="utf-8")
    found = read_overrides(tmp_path / "overrides.csv", {"Ada@x.org", "\u00e9"}, Settings())
    assert list(found) == ["Ada@x.org", "\u00e9"] and float(found["Ada@x.org"].points["03.attention"]) == 4


WRONG = {
    "x,y\n": "must name columns of student, task, points, extension, comment",
    HEADER
    + "adda,03.attention,1,,\n": 'line 2: "adda" is not on the roster and has handed in nothing (did you mean "ada"?).',
    HEADER + "ada,03.atention,1,,\n": 'there is no task "03.atention" (did you mean "03.attention"?).',
    HEADER + "ada,,1,,\n": "points belong to a task",
    HEADER + "ada,03.attention,-1,,\n": "points must be a number from 0 to 10000",
    HEADER + "ada,03.attention,nan,,\n": "points must be a number",
    HEADER + "ada,03.attention,,,\n": "it sets nothing",
    HEADER + "ada,03.attention,,2026-11-27T23:59:00Z,\n": "leave the column task empty",
    HEADER + "ada,,,2020-11-27T23:59:00Z,\n": "the extension ends before the class's deadline",
    HEADER + "ada,,,tomorrow,\n": "a time with its offset from UTC",
    HEADER + "ada,,,2026-11-27T23:59:00,\n": "a time with its offset from UTC",
    HEADER + "ada,03.attention,1,,\nada,03.attention,2,,\n": 'line 3: "ada" and 03.attention are in line 2 already',
    HEADER + "ada,03.attention,1,,a,b\n": "6 fields where the header has 5",
    HEADER + "ada,,,2026-11-27,\n": "a time with its offset from UTC",
    HEADER + "ada;03.attention;1;;\n": "line 2: one field where the header has 5",
    # A quote that is left open swallows the rows below it: to the end of the file, to their first quote, or to their last.
    HEADER + 'ada,03.attention,4,,"You explained it.\nemmy,,,,ill\n': "line 2: the row that begins here",
    HEADER + 'ada,03.attention,4,,"You explained it.\nemmy,,,,"ill"\n': "line 2: the row that begins here",
    HEADER + 'ada,03.attention,4,,"You explained it.\nemmy,,,,"\n': "goes on over line 3, which looks like another row",
    HEADER + 'ada,03.attention,4,,"Yes.\nzoe,03.attention,1,,\nada,,,,"\n': "line 3, which looks like another row",
    HEADER + 'ada,03.attention,4,,"Yes" and no\n': 'written twice, as in "She said ""yes"", at last"',
}


@pytest.mark.parametrize("text", WRONG, ids=range(len(WRONG)))
def test_overrides_refuses_a_bad_file_in_one_sentence(tmp_path, text):
    with pytest.raises(CourseError) as refused:
        overrides(tmp_path, text)
    assert WRONG[text] in str(refused.value) and "overrides.csv" in str(refused.value)


@needs_sandbox
@pytest.mark.parametrize(
    "row, said",
    [
        ("ada,04.dot,1,,", "04.dot does not count here"),
        ("ada,03.attention,1.5,,", "03.attention is worth 1 points, not 1.5"),
    ],
)
def test_overrides_without_any_effect_are_refused(a_class, row, said):
    (a_class / "over.csv").write_text(HEADER + row + "\n")
    with pytest.raises(CourseError, match=said):
        grade(a_class, overrides=a_class / "over.csv")


def test_an_extension_needs_a_deadline(tmp_path):
    with pytest.raises(CourseError, match=r"the settings have no \[late\] deadline"):
        overrides(tmp_path, HEADER + "ada,,,2026-11-27T23:59:00Z,\n", Settings())


@pytest.fixture
def a_class(tmp_path, graded_here):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "ada.ipynb").write_text(notebook("import torch", PADDING, CAUSAL))
    (folder / "emmy.ipynb").write_text(notebook("import torch", PADDING, CAUSAL, ATTENTION))
    (folder / "stranger.ipynb").write_text(notebook("import torch", PADDING))
    (tmp_path / "roster.csv").write_text(
        "student,name,submitted,canvas_id,lti_id\nada,Ada,2026-11-20T12:00:00+01:00,41,u-1\n"
        "emmy,Emmy,2026-11-22T12:00:00+01:00,42,u-2\nzoe,Zoe,,,\n"
    )
    (tmp_path / "class.toml").write_text(
        "[late]\ndeadline = 2026-11-20T23:59:00+01:00\nper_day = 0.125\n[canvas]\nassignment = 777\n"
    )
    return tmp_path


def grade(folder, **more):
    settings, roster = folder / "class.toml", folder / "roster.csv"
    return grade_class(folder / "in", folder / "out", settings=settings, roster=roster, **more)


@needs_sandbox
def test_points_set_by_hand_are_marked_shown_and_kept(a_class):
    grade(a_class)
    before = grades(a_class / "out")
    assert "Lesson 03: Queries, keys, values (777)" in (a_class / "out" / "canvas.csv").read_text()
    assert (before["ada"]["total"], before["emmy"]["total"], before["zoe"]["total"]) == ("2", "1.5", "0")
    assert before["emmy"]["late"].startswith("2 days late")
    (a_class / "over.csv").write_text(
        HEADER + "ada,03.attention,0.5,,Explained it <b>well</b>.\nada,,,,Come and see me.\n"
        "emmy,,,2026-11-29T23:59:00+01:00,Was ill.\nzoe,03.attention,1,,Oral exam.\n"
    )
    (a_class / "out" / "feedback" / "index.html").write_text("everybody's points")  # an earlier version's
    for _ in range(2):
        done = grade(a_class, overrides=a_class / "over.csv")
        assert done.new == 0
        after = grades(a_class / "out")
        assert (after["ada"]["total"], after["emmy"]["total"], after["zoe"]["total"]) == ("2.5", "3", "1")
        assert after["ada"]["by hand"] == "03.attention: 0.5, graded 0" and after["emmy"]["by hand"] == "extension"
        page = (a_class / "out" / "feedback" / "ada.html").read_text()
        assert "Your instructor has set these points; the grading gave 0." in page
        assert "Your instructor says: Explained it &lt;b&gt;well&lt;/b&gt;." in page and "Come and see me." in page
        emmy = (a_class / "out" / "feedback" / "emmy.html").read_text()
        assert (
            "Your deadline was extended to Sunday, 29 November 2026, 23:59 (UTC+01:00)." in emmy and "Was ill." in emmy
        )
        assert "Oral exam." in (a_class / "out" / "feedback" / "zoe.html").read_text()
        said = json.loads((a_class / "out" / "gradescope" / "ada.json").read_text())
        assert "Come and see me." in said["output"]
        assert any("the grading gave 0" in test["output"] for test in said["tests"])
        page = (a_class / "out" / "class.html").read_text()
        assert "03.attention: 0.5, graded 0" in page
    assert not (a_class / "out" / "feedback" / "index.html").exists()
    assert grade(a_class).new == 0 and grades(a_class / "out") == before


@needs_sandbox
def test_a_name_beginning_like_a_students_goes_to_the_instructor(a_class, capsys):
    everything_wrong = [code.replace("return", "return 1 and") for code in (PADDING, CAUSAL, ATTENTION)]
    (a_class / "in" / "ada_zzz.ipynb").write_text(notebook("import torch", *everything_wrong))
    table = ["--roster", str(a_class / "roster.csv")]
    assert main(["grade", str(a_class / "in"), "--out", str(a_class / "out"), *table]) == 0
    assert "Handed in by somebody who is not on the roster: 2." in capsys.readouterr().out
    found = grades(a_class / "out")
    assert (found["ada"]["total"], found["ada"]["remarks"]) == ("2", "")
    said = "Perhaps it belongs to ada, who is on the roster, but only a whole name counts: if so, move it into a folder called ada"
    assert said in found["ada_zzz"]["noticed"] and "Perhaps" not in found["stranger"]["noticed"]
    page = (a_class / "out" / "class.html").read_text()
    assert said in page[page.index("id='strangers'") :].partition("</section>")[0]


def results(folder, lesson, rows):
    folder.mkdir()
    lines = [f'"student","name","total","possible","{lesson}.x points"', *rows]
    (folder / "grades.csv").write_text("\ufeff" + "\n".join(lines) + "\n", encoding="utf-8")


def test_a_terms_lessons_stand_side_by_side(tmp_path, capsys):
    results(tmp_path / "one", "03", ['"ada","Ada <b>",3.5,4,1', '"s10","",1,4,1'])
    results(tmp_path / "two", "04", ['"ada","Ada <b>",2,7,1', '"s9","\'=1+1",7,7,1', '"\'=x","",0,7,1'])
    results(tmp_path / "three", "04", ['"s9","",1,7,1'])
    folders = [str(tmp_path / name) for name in ("one", "two", "three")]
    assert main(["term", *folders, "--out", str(tmp_path / "term")]) == 0
    with open(tmp_path / "term" / "term.csv", encoding="utf-8-sig", newline="") as file:
        header, *rows = list(csv.reader(file))
    assert header == ["student", "name", "Lesson 03", "Lesson 04", "Lesson 04 (three)", "total", "possible"]
    groups = [tmp_path / group / "results" for group in ("a", "b", "c")]
    for folder in groups:
        folder.parent.mkdir()
        results(folder, "03", [f'"{folder.parent.name}","",4,4,1'])
    assert main(["term", *map(str, groups), str(groups[0]), "--out", str(tmp_path / "groups")]) == 0
    with open(tmp_path / "groups" / "term.csv", encoding="utf-8-sig", newline="") as file:
        header, *students = list(csv.reader(file))
    assert len(header) == len({*header}) == 7, "a folder that is named twice is a column once"
    assert [(row[0], *row[-2:]) for row in students] == [("a", "4", "12"), ("b", "4", "12"), ("c", "4", "12")]
    assert rows == [
        ["'=x", "", "", "0", "", "0", "18"],
        ["ada", "Ada <b>", "3.5", "2", "", "5.5", "18"],
        ["s9", "'=1+1", "", "7", "1", "8", "18"],
        ["s10", "", "1", "", "", "1", "18"],
    ]
    page = (tmp_path / "term" / "term.html").read_text()
    assert "Ada &lt;b&gt;" in page and "<td class='number'>–</td>" in page and "4 students" in page
    assert ">=x<" in page and "<bdi>=1+1</bdi> (<bdi>s9</bdi>)" in page  # what only a table has to spell otherwise
    assert main(["term", str(tmp_path / "nowhere")]) == 2
    assert "cannot be read" in capsys.readouterr().err
    with open(tmp_path / "one" / "grades.csv", "a", encoding="utf-8") as file:
        file.write('"zoe","Zoe,1,4,1\n"ida","Ida",1,4,1\n')
    assert main(["term", str(tmp_path / "one")]) == 2 and "line 4: the row that begins here" in capsys.readouterr().err
    for text in ("x,y\n1,2\n", '"student","name","total","possible"\n"a","",nan,4\n'):
        (tmp_path / "one" / "grades.csv").write_text(text)
        assert main(["term", str(tmp_path / "one")]) == 2
        assert "is no table of grades" in capsys.readouterr().err


GIF = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
IN_WORDS = '[written."03.why_three"]\ntext = "Why three vectors?"\npoints = 2\n'


def with_text(path, *texts):
    """Add text cells to a notebook's end."""
    plain = json.loads(path.read_text(encoding="utf-8"))
    plain["cells"] += [{"cell_type": "markdown", "metadata": {}, "source": text} for text in texts]
    path.write_text(json.dumps(plain), encoding="utf-8")


@needs_sandbox
def test_answers_in_words_are_collected_read_and_kept(a_class):
    settings = a_class / "class.toml"
    settings.write_text(settings.read_text() + IN_WORDS)
    with_text(
        a_class / "in" / "ada.ipynb",
        *("**Answer to 03.why_three:**\n\nOne <b>asks</b>.", f"One answers. ![]({GIF})", "## Done", f"no ![]({GIF})"),
    )
    with_text(a_class / "in" / "emmy.ipynb", f"**Answer to 03.why_three:**\n\n{PLACE}")
    grade(a_class)
    before, page = grades(a_class / "out"), (a_class / "out" / "to-read.html").read_text()
    assert "One &lt;b&gt;asks&lt;/b&gt;.\n\nOne answers. ![](a picture)" in page
    assert page.count(GIF) == page.count("<img") == 1 and "Done" not in page and "emmy" not in page
    assert (before["ada"]["03.why_three state"], before["emmy"]["03.why_three state"]) == ("to be read", "missing")
    assert float(before["ada"]["possible"]) == 8
    assert "has not read your answer yet" in (a_class / "out" / "feedback" / "ada.html").read_text()
    scores = json.loads((a_class / "out" / "ags.json").read_text())
    assert {score["userId"]: score["gradingProgress"] for score in scores}["u-1"] == "PendingManual"
    rows = (a_class / "out" / "to-read.csv").read_text(encoding="utf-8-sig")
    assert rows.split() == ['"student","task","points","extension","comment"', '"ada","03.why_three","","",""']
    (a_class / "over.csv").write_text(rows)  # as it was written: nothing is read yet
    grade(a_class, overrides=a_class / "over.csv")
    assert grades(a_class / "out") == before
    (a_class / "over.csv").write_text(HEADER + "ada,03.why_three,1.5,,Say which is which.\n")
    assert grade(a_class, overrides=a_class / "over.csv").new == 0
    after = grades(a_class / "out")["ada"]
    assert (after["03.why_three state"], after["03.why_three points"], after["total"]) == ("read", "1.5", "3.5")
    assert after["by hand"] == ""
    page = (a_class / "out" / "feedback" / "ada.html").read_text()
    assert "Your instructor says: Say which is which." in page and "the grading gave" not in page
    assert len((a_class / "out" / "to-read.csv").read_text().splitlines()) == 1


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=40), min_size=1, max_size=3))
@example(["=1+1", "'=1+1", "''=1+1"])
@example(["a;=1", "a; =1", "@x", "\uff1d1", '"=1', "-5", " =1", "a,b\nc"])
def test_a_row_to_read_leads_to_its_student_whatever_the_name(tmp_path_factory, texts):
    """As a person does it: points written into the rows, and the rows copied below those of overrides.csv."""
    folder, students = tmp_path_factory.mktemp("read"), {name for text in texts if (name := displayable(text).strip())}
    question = Written("03.why_three", "Why three?", 2)
    result = Result("00" * 32, "", "x.ipynb", "03", verdicts=(Verdict(question.id, TO_BE_READ, code="Since."),))
    write_in_words(folder, lambda: [Graded(Person(name), (result,), ()) for name in students], [question], {})
    rows = (folder / "to-read.csv").read_text(encoding="utf-8-sig").partition("\n")[2]
    own = "zoe,03.attention,1,,\n"
    (folder / "overrides.csv").write_text(HEADER + own + rows.replace(f'"{question.id}","",', f"{question.id},2,"))
    read = read_overrides(folder / "overrides.csv", students | {"zoe"}, Settings(written=(question,)))
    assert {name: one.points for name, one in read.items() if question.id in one.points} == {
        name: {question.id: 2} | ({"03.attention": 1} if name == "zoe" else {}) for name in students
    }


@needs_sandbox
def test_a_request_to_look_again_is_listed_until_it_is_answered(a_class):
    ask = "**Look again at 03.attention:** My <i>mask</i> is right."
    with_text(a_class / "in" / "ada.ipynb", ask)
    grade(a_class)
    listed = "03.attention: My &lt;i&gt;mask&lt;/i&gt; is right."
    assert listed in (a_class / "out" / "class.html").read_text()
    assert "Not answered yet." in (a_class / "out" / "feedback" / "ada.html").read_text()
    (a_class / "over.csv").write_text(HEADER + "ada,03.attention,,,The third case shows it.\n")
    grade(a_class, overrides=a_class / "over.csv")
    page = (a_class / "out" / "class.html").read_text()
    assert listed not in page and "1 request answered." in page
    page = (a_class / "out" / "feedback" / "ada.html").read_text()
    assert "Your instructor has answered, see below." in page and "The third case shows it." in page


WRONG_WORDS = {
    '[written]\ntext = "Why?"\n': "holds one section a question",
    '[written."why"]\ntext = "Why?"\n': "must begin with the number of a lesson with exercises",
    '[written."99.why"]\ntext = "Why?"\n': "must begin with the number of a lesson with exercises",
    '[written."03.attention"]\ntext = "Why?"\n': "the course has a task of that name",
    '[written."03.why"]\npoints = 2\n': "text must be the question, in quotes, not left out",
    '[written."03.why"]\ntext = "Why?"\npoint = 2\n': 'has no point (did you mean "points"?)',
    '[written."03.why"]\ntext = "Why?"\npoints = -2\n': "points must be a number from 0",
}


@pytest.mark.parametrize("text", WRONG_WORDS, ids=range(len(WRONG_WORDS)))
def test_a_bad_written_question_is_refused_in_one_sentence(tmp_path, text):
    (tmp_path / "class.toml").write_text(text)
    with pytest.raises(CourseError) as refused:
        read_settings(tmp_path / "class.toml")
    assert WRONG_WORDS[text] in str(refused.value)


def test_the_place_for_an_answer_in_words_is_no_answer(tmp_path):
    (tmp_path / "class.toml").write_text('[written.03.why_three]\ntext = "Why three vectors?"\n')
    settings = read_settings(tmp_path / "class.toml")
    [path] = release(COURSE, ["03"], tmp_path, settings)
    *_, question, place = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert "Why three vectors?" in question["source"] and "1 point." in question["source"]
    assert in_words([place]) == ((), ())
    answers, _ = in_words([place | {"source": place["source"].replace(PLACE, "Each has its own task.")}])
    assert [answer.code for answer in answers] == ["Each has its own task."]
    assert "| 03.why_three | an answer in words | 1 |" in (path.parent / "README.md").read_text(encoding="utf-8")


@needs_sandbox
def test_words_take_nothing_from_what_is_judged(a_class):
    with_text(a_class / "in" / "ada.ipynb", "**Answer to 03.padding_mask:** x", "**Answer to 04.dot:** y")
    grade(a_class)
    found = grades(a_class / "out")
    assert found["ada"]["03.padding_mask state"] == "passed" and found["ada"]["total"] == "2"
