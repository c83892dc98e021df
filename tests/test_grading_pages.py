"""Pages of feedback and the class page: what they say and leave out, hostile texts, and in a real browser what is seen.

Pictures go to build/screenshots/.
"""

import base64
import hashlib
import io
import json
import re
import shutil
import subprocess
import tracemalloc
from collections import Counter
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import lesson_03_tasks
import pytest
import sampling
import timeouts
from PIL import Image

from course_utils.checks import catalogue
from course_utils.checks.catalogue import solutions
from course_utils.grading.ingest.notebook_file import fingerprint, read_notebook
from course_utils.grading.ingest.written_answers import Written
from course_utils.grading.reports import pages, pictures, statistics
from course_utils.grading.reports.class_page import class_page
from course_utils.grading.reports.sentences import NOTHING, hint
from course_utils.grading.storage.record import STATES, Graded, Person, Points, Result, Verdict

SCREENSHOTS = Path(__file__).parents[1] / "build" / "screenshots"
AXE = "4.14.1"
FOUR = [catalogue.load(name) for name in lesson_03_tasks.FOUR]


HOSTILE = [
    "</script><script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "\"><svg onload=document.title='owned'>",
    "' onmouseover='document.title=1",
    "javascript:document.title='owned'",
    "</style></title></textarea><meta http-equiv=refresh content='0;url=http://203.0.113.9/'>",
    "`</code><b onclick=1>`<iframe src=http://203.0.113.9/>",
    "\u202egnp.exe\u2066",
    "nul\0 escape\x1b[31m half\ud800",
    "<!--",
    "&lt;script&gt;&#x202e;",
    "]]>{{7*7}}${7*7}",
    "../../../etc/passwd",
    "x" * 5000,
]


def hostile(text, number=0):
    """A student with this text in every field that a submission, a roster or an exception fills."""
    states = ["failed", "error", "missing", text]
    found = tuple(
        Verdict(task.id, state, text, text, False, text, text, f"{text}\n{'y = 1  # ' * 3}\n" * 20, text, 1.0)
        for task, state in zip(FOUR, states, strict=True)
    )
    points = tuple(Points(task.id, 0.5, 1, text) for task in FOUR)
    result = Result("k", f"{text}{number}", text, "03", text, (text,) * 3, (text,) * 9, found, 2.0, noticed=(text,) * 2)
    person = Person(f"{text}{number}", text, text, {text: text})
    return Graded(person, (result,), points, text, 0.5, 1.5, 4)


class Reader(HTMLParser):
    """Collects tags, attributes and text, blanks between tags aside, and stumbles over what is left open."""

    VOID = {"meta", "br", "wbr", "rect", "line", "img"}

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.text = [], Counter(), [], []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags[tag] += 1
        self.attributes += [(tag, *pair) for pair in attributes]
        if tag not in self.VOID and not self.get_starttag_text().endswith("/>"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID and not self.get_starttag_text().endswith("/>") or self.open[-1:] == [tag]:
            assert self.open.pop() == tag

    def handle_startendtag(self, tag, attributes):
        self.tags[tag] += 1
        self.attributes += [(tag, *pair) for pair in attributes]

    def handle_data(self, data):
        if data.strip() and (not self.open or self.open[-1] != "style"):
            self.text.append(data)


OURS = set(
    "html head meta title style body header main nav section article div p h1 h2 h3 ul ol li a b strong span code pre bdi br wbr "
    "dl dt dd table caption thead tbody tr th td svg rect line text details summary".split()
)


def all_pages(people, folder):
    pages.write_feedback(folder, people, FOUR)
    yield class_page(iter(people), FOUR, people[0].person.name)
    for path in (folder / "feedback.html", *sorted((folder / "feedback").iterdir())):
        yield path.read_text(encoding="utf-8")


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_text_from_a_submission_never_becomes_markup(text, tmp_path):
    both = [[hostile(each, number) for number in range(3)] for each in (text, "plain")]
    for page, harmless in zip(all_pages(both[0], tmp_path / "a"), all_pages(both[1], tmp_path / "b"), strict=True):
        page.encode("utf-8")
        read, expected = Reader(page), Reader(harmless)
        extra = read.tags - expected.tags
        assert set(extra) <= {"code"}  # a backquote makes code
        assert set(read.tags) <= OURS
        assert not [a for a in read.attributes if a[1].startswith("on") or a[1] in ("style", "src", "srcdoc")]
        for _, name, value in read.attributes:
            if name == "href":
                assert re.fullmatch(r"#[\w-]+|(feedback/)?[A-Za-z0-9_][A-Za-z0-9_.-]*\.html", value)
        assert not re.search("[\x00-\x08\x0b-\x1f\ud800-\udfff\u202a-\u202e\u2066-\u2069]", page)


def test_page_policy_allows_no_script_or_network_but_the_style():
    for page in (class_page([hostile("a")], FOUR, "a"), pages.feedback(hostile("a"), FOUR)):
        policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page).group(1)
        style = re.search(r"<style>(.*?)</style>", page, re.S).group(1)
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
        assert page.index("Content-Security-Policy") < page.index("<style>")
        assert not re.search(r"<script|style=|src=|https?:|@import|url\(", page)


# Pictures in answers that a person reads


def drawn(kind, width=3, height=2):
    """A picture's bytes."""
    file = io.BytesIO()
    Image.new("RGB", (width, height)).save(file, kind)
    return file.getvalue()


SVG = b"<svg xmlns='http://www.w3.org/2000/svg' onload='document.title=1'><script>document.title='owned'</script></svg>"
PNG = drawn("PNG")
NOT_SHOWN = {
    "nothing": b"",
    "an SVG": SVG,
    "a web page": b"<html><script>1</script>",
    "WebP": drawn("WebP"),
    "a PNG that breaks off": PNG[:17],
    "a JPEG that breaks off": drawn("JPEG")[:30],
    "a GIF that breaks off": b"GIF89a",
    "a JPEG of markers alone": b"\xff\xd8" + b"\xff\xe1\0\0" * 100_000,
    "a PNG that unpacks to gigabytes": PNG[:16] + b"\0\0\xff\xff\0\0\xff\xff" + PNG[24:],
    "a GIF that unpacks to gigabytes": b"GIF89a" + b"\xff" * 4 + drawn("GIF")[10:],
    "a PNG of no width": PNG[:16] + b"\0" * 8 + PNG[24:],
    "more bytes than a page can bear": PNG + bytes(6_000_000),
}


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF"])
def test_a_picture_is_shown_as_what_it_is(kind):
    (address,) = pictures.shown([drawn(kind, 300, 200)], pictures.PAGE_AT_MOST)
    head, _, data = address.partition(",")
    assert head == f"data:image/{kind.lower()};base64" and base64.b64decode(data) == drawn(kind, 300, 200)


@pytest.mark.parametrize("what", NOT_SHOWN)
def test_harmful_pictures_and_other_files_are_not_shown(what):
    assert pictures.shown([NOT_SHOWN[what]], pictures.PAGE_AT_MOST) == []


def test_pictures_are_shown_as_far_as_there_is_room():
    one = len(pictures.shown([PNG], 1000)[0])
    assert len(pictures.shown([PNG, SVG, PNG, PNG], 2 * one)) == 2
    assert pictures.shown([PNG], one - 1) == []


def text_cell(source, **attachments):
    return {"cell_type": "markdown", "source": source, "attachments": attachments}


def pasted(kind, data):
    return {f"image/{kind}": base64.encodebytes(data).decode()}


def to_read(folder, cells, file="ada/<b>in.ipynb"):
    """The page of answers in words for one student's cells; `file` is where pictures are looked for."""
    (folder / "in.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    [answer] = read_notebook(folder / "in.ipynb", {}).in_words
    result = Result("k", "ada", "ada/<b>in.ipynb", "03", verdicts=(answer,))
    graded = Graded(Person("ada"), (result,), (Points(answer.task, 0, 2),), possible=2)
    question = Written(answer.task, "Why?", 2)
    files = {("ada", file): folder / "in.ipynb"}
    page, _ = pages.write_in_words(folder, lambda: [graded], [question], files)
    return page


def test_written_answers_show_their_pictures_and_nothing_else(tmp_path):
    inline = f"As in ![](data:image/gif;base64,{base64.b64encode(drawn('GIF') + bytes(300_000)).decode()}), so."
    cells = [
        text_cell("**Answer to 03.why:** See ![a](attachment:a%20(1).png), not ![](attachment:lost.png)",
                  **{"a (1).png": pasted("png", PNG), "deleted.png": pasted("png", drawn("PNG", 9, 9))}),
        text_cell(inline),
        text_cell("and <img src='attachment:photo.jpg'> ![](attachment:x.svg) ![](attachment:odd) ![](attachment:n)",
                  **{"photo.jpg": pasted("jpeg", drawn("JPEG")), "x.svg": {"image/svg+xml": SVG.decode()}, "odd": [1], "n": {"image/png": [3]}}),
        text_cell("![](data:image/svg+xml;base64," + base64.b64encode(SVG).decode() + ")"),
        text_cell("# Another part\n![](attachment:b.png)", **{"b.png": pasted("png", drawn("PNG", 5, 5))}),
    ]  # fmt: skip
    page = to_read(tmp_path, cells).read_text(encoding="utf-8")
    read = Reader(page)
    sources = [value for tag, name, value in read.attributes if (tag, name) == ("img", "src")]
    assert [source.partition(";")[0] for source in sources] == [f"data:image/{k}" for k in ("png", "gif", "jpeg")]
    assert base64.b64decode(sources[0].partition(",")[2]) == PNG
    text = text_of(page)
    assert "Not shown here: 5 pictures in ada/<b>in.ipynb." in text and "As in ![](a picture), so." in text
    assert "SVG" not in text and "script" not in page and set(read.tags) <= OURS | {"blockquote", "img"}
    assert "; img-src data:" in page and "img-src" not in pages.feedback(hostile("a"), FOUR)


def test_a_written_answer_keeps_its_words_without_its_pictures(tmp_path):
    words = "**Answer to 03.why:** Since"
    plain = text_of(to_read(tmp_path, [text_cell(words)]).read_text(encoding="utf-8"))
    assert "Since" in plain and "Not shown" not in plain
    cell = text_cell(f"{words} ![](attachment:a)", a=pasted("png", PNG))
    gone = text_of(to_read(tmp_path, [cell], file="elsewhere.ipynb").read_text(encoding="utf-8"))
    assert "Since ![](attachment:a)" in gone and "Not shown here: 1 picture in ada/<b>in.ipynb." in gone


def text_of(page):
    return " ".join("".join(Reader(page).text).split())


def a_student():
    code, which = {"code": "SECRET CODE"}, [task.id for task in FOUR]
    edge = {"edge": True, "message": "A position may attend to itself, too.", "note": "Defined twice; the last counts."}
    found = (
        Verdict(which[0], "passed", message="Right, on every input it was tried on.", **code),
        Verdict(which[1], "failed", "value", "hides_itself", **edge, **code),
        Verdict(which[2], "not attempted"),
        Verdict(which[3], "missing", note="Perhaps renamed to `catch_it`."),
    )
    half = Points(which[1], 0.5, 1, "50% of the points: it is right elsewhere.")
    points = (Points(which[0], 1, 1), half, Points(which[2], 0, 2), Points(which[3], 0, 1))
    result = Result("k", "ada", "ada/03.ipynb", "03", "", ("Cell 4 failed: NameError.",), ("SUSPICION",), found, 1.5)
    return Graded(Person("ada", "Ada Berg"), (result,), points, "1 day late: 0.5 taken off.", 0.5, 1, 5)


def test_feedback_says_what_why_and_the_first_hint_but_no_answer():
    text = text_of(pages.feedback(a_student(), FOUR))
    which_have_no_answer = ("03.attention", "03.catch_wrong_attention")
    for part in (
        "Feedback for Ada Berg",
        "1 of 5 points. 1 of 4 tasks passed.",
        "1 day late: 0.5 taken off.",
        "Cell 4 failed: NameError.",
        "✓ passed, 1 of 1 point",
        "◐ failed, 0.5 of 1 point",
        "A position may attend to itself, too.50% of the points: it is right elsewhere.Defined twice; the last counts.",
        "○ not attempted, 0 of 2 points",
        "Nothing named catch_wrong_attention was found in the notebook.Perhaps renamed to catch_it.",
    ):
        assert part in text
    for task in FOUR:
        shown = [" ".join(hint.replace("`", "").split()) in text for hint in task.hints]
        assert shown == [task.id in which_have_no_answer, False, False]
        assert solutions()[task.id].splitlines()[-1].strip() not in text
    assert not re.search("SECRET|SUSPICION|1[.]5", text)  # no code, no suspicions, no times


def test_feedback_lists_the_tasks_of_a_lesson_not_handed_in():
    nothing = text_of(pages.feedback(Graded(Person("bo"), (), (), possible=4), FOUR))
    assert "No notebook of lesson 03 was handed in. That is 0 of 4 points. What was asked:" in nothing
    assert "How to go on" not in nothing


def test_feedback_says_why_a_file_could_not_be_read():
    spoilt = Result("k", "bo", "x.pdf", "", "This is a PDF: hand in the notebook.")
    text = text_of(pages.feedback(Graded(Person("bo"), (spoilt,), (), possible=4), FOUR))
    assert text.endswith(
        "0 of 4 points. 0 of 4 tasks passed.On your notebookx.pdf: This is a PDF: hand in the notebook."
        "Lesson 03No notebook of lesson 03 could be graded. That is 0 of 4 points."
    )


@pytest.mark.parametrize(
    "set_so, said",
    [
        (
            {"graded": 0.5},
            "○ not handed in, 1 of 2 pointsNo notebook of lesson 03 was handed in.Your instructor has set",
        ),
        ({"comment": "Come and `see` me."}, "was handed in.Your instructor says: Come and see me."),
        ({"read": True}, "◐ read, 1 of 2 pointsYour instructor has read your answer."),
        ({"read": True, "points": 2}, "✓ passed, 2 of 2 pointsYour instructor has read your answer."),
        ({}, "What was asked:"),
    ],
)
def test_feedback_shows_points_set_by_hand_without_any_file(set_so, said):
    points = Points(**{"task": FOUR[0].id, "points": 1, "possible": 2} | set_so)
    text = text_of(pages.feedback(Graded(Person("bo"), (), (points,), possible=2, comment="Well."), FOUR[:1]))
    assert said in text and "Your instructor says: Well." in text


@pytest.mark.parametrize(
    "verdict, points, expected",
    [
        (Verdict("03.x", "passed"), 1, "passed"),
        (Verdict("03.x", "passed", borrowed="attention"), 0, "wrong"),
        (Verdict("03.x", "passed", borrowed="attention"), 1, "passed"),
        (Verdict("03.x", "failed"), 0.5, "partly"),
        (Verdict("03.x", "read"), 0, "wrong"),
        (Verdict("03.x", "missing"), 0, "none"),
        (Verdict("03.x", NOTHING), 0, "absent"),
    ],
)
def test_standing_places_a_verdict_in_the_class(verdict, points, expected):
    assert statistics.standing(verdict, Points("03.x", points, 1)) == expected


def test_a_hint_is_given_only_where_there_is_no_answer():
    hinted = {state for state in (*STATES, NOTHING) if hint(FOUR[0], Verdict(FOUR[0].id, state))}
    assert hinted == {"not attempted", "missing"}


def test_pages_are_the_same_bytes_each_time(tmp_path):
    first = list(all_pages([a_student()], tmp_path))
    assert list(all_pages([a_student()], tmp_path)) == first
    written = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.html"))
    assert written == ["feedback.html", "feedback/ada.html"]


def answered(number, task, code, state="failed", mistake="", kind="value", alike=""):
    made = Verdict(task.id, state, kind, mistake, message="Why.", code=code, fingerprint=alike or code, seconds=number)
    result = Result("k", f"s{number}", f"s{number}.ipynb", task.id[:2], verdicts=(made,), seconds=number)
    right = state == "passed"
    return Graded(Person(f"s{number}"), (result,), (Points(task.id, right, 1),), total=right, possible=1)


LONG = "def attention(query, key, value, mask=None):\n" + "    weights = (query @ key.mT / 7).softmax(-1)\n" * 4


def test_the_class_page_begins_with_the_most_common_mistake():
    task = catalogue.load("03.attention")
    first, second = task.mistakes[:2]
    people = [answered(n, task, f"x = {'1' * (9 - n)};", mistake=first.name) for n in range(3)]
    people += [answered(n, task, "y", mistake=second.name) for n in range(3, 5)]
    people += [answered(5, task, "no name", kind="shape"), answered(6, task, "z", "passed")]
    text = text_of(class_page(people, [task], "A class"))
    words = [mistake.name.replace("_", " ") for mistake in (first, second)]
    assert f"03.attention{words[0]}3 (43%){words[1]}2 (29%)1 (14%)" in text
    assert (
        f"{words[0]}3 students (43%){' '.join(first.sentence.replace('`', '').split())}The shortest examplex = 1111111;"
        in text
    )
    assert "another shape1 student (14%)Why.The shortest exampleno name" in text
    assert "1 (14%)0600" in text  # passed, part of the points, wrong, no answer, not handed in
    assert text.index("s6: 1") > text.index("s0: 0")
    listed = [
        text.index(f"{what} ({share}%)") for what, share in (("3 students", 43), ("2 students", 29), ("1 student", 14))
    ]
    assert listed == sorted(listed)


@pytest.mark.parametrize(
    ("characters", "alike", "others", "listed"),
    [
        (79, 2, 0, False),
        (80, 2, 0, True),
        (80, 4, 4, True),  # half of the class, and yet no more than four
        (80, 5, 3, False),
        (239, 5, 20, True),  # just a fifth
        (239, 6, 19, False),
        (240, 5, 3, True),  # a function of some eight lines
        (300, 8, 0, True),
    ],
)
def test_the_class_page_leaves_out_identical_answers_as_it_says(characters, alike, others, listed):
    task = catalogue.load("03.attention")
    code = 'def attention(query):\n    """Why."""\n    # how\n' + "    " + "x" * characters + "\n"
    assert len(statistics.substance(code)) == characters
    people = [answered(n, task, code, "passed") for n in range(alike)]
    people += [answered(n, task, f"{LONG}{n}") for n in range(alike, alike + others)]
    page = text_of(class_page(people, [task], "x"))
    found = page[page.rindex("Identical answers") : page.rindex("The slowest")]
    assert (f"{alike} students, the same right answer" in found, "There are none." in found) == (listed, not listed)
    assert (
        "Left out are those of fewer than 80 characters, signature, docstring, comments and blanks aside, and among those "
        "of fewer than 240, some eight lines, what more than 4 students and more than a fifth of those who answered wrote"
    ) in found


def test_the_courses_own_answer_is_told_apart():
    task, own = catalogue.load("03.attention"), solutions()["03.attention"]
    people = [answered(n, task, own, "passed", alike=fingerprint(own)) for n in range(2)]
    assert "2 students, the course's own answer" in text_of(class_page(people, [task], "x"))
    assert "1 student, the course's own answer" in text_of(class_page(people[:1], [task], "x"))


def test_memory_stays_flat_when_every_answer_is_new(monkeypatch):
    monkeypatch.setattr(statistics, "ANSWERS", 200)
    task = catalogue.load("03.attention")

    def peak(size):
        counts = statistics.ClassStatistics([task])
        tracemalloc.start()
        for number in range(size):
            code = f"{LONG}{number % (size - 10)}"
            counts.add(answered(number % 7, task, code, mistake=f"mistake {number}", kind=f"kind {number}"))
        kept = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        assert counts.students == size
        return kept, counts

    small, large = (
        peak(400)[0],
        min((peak(1600) for _ in range(3)), key=lambda both: both[0]),
    )  # other threads only ever add
    assert large[0] < small + 20_000
    row = large[1].tasks[task.id]
    assert len(row.mistakes) == statistics.KINDS + 1
    assert sum(mistake.count for mistake in row.mistakes.values()) == 1600
    assert row.not_compared > 1000


def test_ten_thousand_students_make_a_page_that_opens():
    text = "reason " * 100
    results = (Result("k", f"s{n}", f"s{n}.ipynb", "03", text, (text,), (text,) * 20) for n in range(10_000))
    people = (Graded(Person(result.student, "N" * 300), (result,), (), possible=4) for result in results)
    page = class_page(people, FOUR, "x")
    assert len(page) < 500_000
    assert all(figure in page for figure in ("10,000", "and 9,950 more", "and 9,800 more"))


@pytest.fixture(scope="module")
def browser(chromium):
    sync = pytest.importorskip("playwright.sync_api", reason="playwright is missing: pip install -e .[test]")
    with sync.sync_playwright() as player:
        browser = player.chromium.launch(executable_path=chromium, args=["--headless", "--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The pages of a class, by name."""
    folder = tmp_path_factory.mktemp("pages")
    spoilt = Result("k", "tilda", "tilda/homework.pdf", "", "This is a PDF: hand in the notebook.")
    people = [a_student(), Graded(Person("tilda", "Tilda Moreau"), (spoilt,), (), possible=len(FOUR))]
    wrong = [(task, mistake.name) for task in FOUR for mistake in task.mistakes[:2]]
    people += [answered(n, task, f"{LONG}{n}", mistake=name) for n, (task, name) in enumerate(wrong)]
    people += [answered(n, FOUR[2], LONG, "passed") for n in range(20, 23)]
    pages.write_feedback(folder, people, FOUR)
    (folder / "class.html").write_text(class_page(people, FOUR, "Lesson 03"), encoding="utf-8")
    names = {"class": "class.html", "feedback": "feedback/ada.html", "index": "feedback.html"}
    return {name: folder / path for name, path in names.items()}


@pytest.fixture(scope="module")
def axe(tmp_path_factory):
    """The source of axe-core, the accessibility checker."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("axe-core comes through npm, which is missing: install Node.js")
    folder = tmp_path_factory.mktemp("axe")
    quiet = ["--no-audit", "--no-fund", "--ignore-scripts"]
    command = [npm, "install", "--prefix", str(folder), *quiet, f"axe-core@{AXE}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeouts.SECONDS)
    if done.returncode:
        pytest.skip(f"npm could not get axe-core {AXE}: {done.stderr.strip()[-200:]}")
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sampling.usually(["feedback", "class", "index"], 1))
def test_axe_finds_nothing_in_light_wide_and_dark_narrow_pages(name, written, axe, browser):
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    for scheme, width in (("light", 1280), ("dark", 400)):
        context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True)
        page = context.new_page()
        page.goto(written[name].as_uri())
        page.screenshot(path=SCREENSHOTS / f"grading_{name}_{scheme}_{width}.png", full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        page.evaluate(axe)
        found = page.evaluate("axe.run(document)")
        assert len(found["passes"]) > 15
        assert [(v["id"], v["nodes"][0]["html"]) for v in found["violations"]] == []
        assert low_contrast(page) == []
        context.close()


CONTRAST = """() => {
  const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(c => (c /= 255) <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0);
  const ground = e => { for (; e; e = e.parentElement) { const c = numbers(getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
  const found = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim()) continue;
    const style = getComputedStyle(e);
    const a = light(numbers(e.closest('svg') ? style.fill : style.color)), b = light(ground(e));
    if ((Math.max(a, b) + .05) / (Math.min(a, b) + .05) < 4.5) found.add(e.outerHTML.slice(0, 120));
  }
  return [...found];
}"""


def low_contrast(page):
    """Texts below WCAG's 4.5 to 1: axe leaves out what a picture or a scroll hides, so they are computed here too."""
    return page.evaluate(CONTRAST)


def watched(browser, **options):
    """A page, and what it asks for or complains of."""
    page, asked_for = browser.new_page(**options), []
    page.on("request", lambda request: asked_for.append(request.url))
    page.on("console", lambda message: asked_for.append(message.text))
    return page, asked_for


def test_hostile_pages_run_nothing_and_load_nothing(browser, tmp_path):
    page, asked_for = watched(browser)
    for number, text in enumerate(all_pages(list(map(hostile, HOSTILE)), tmp_path / "feedback")):
        path = tmp_path / f"{number}.html"
        path.write_text(text, encoding="utf-8")
        asked_for.clear()
        page.goto(path.as_uri())
        title = re.search("<title>(.*?)</title>", text, re.S).group(1)
        assert page.title() == " ".join(unescape(title).split())
        assert asked_for == [path.as_uri()]
        assert page.evaluate("document.querySelectorAll('script, img, iframe, [onclick], [onload]').length") == 0
    page.evaluate("document.body.innerHTML = '<img src=http://203.0.113.9/x onerror=1>'")  # were something let through,
    page.wait_for_function("true")
    assert "violates the following Content Security Policy" in " ".join(asked_for)  # the policy would stop it
    page.close()


def test_pictures_in_answers_are_seen_and_load_nothing(browser, tmp_path):
    kinds = [f"![](attachment:{kind})" for kind in ("PNG", "JPEG", "GIF")]
    attached = {kind: pasted(kind.lower(), drawn(kind, 2000, 10)) for kind in ("PNG", "JPEG", "GIF")}
    path = to_read(tmp_path, [text_cell("**Answer to 03.why:** " + " ".join(kinds), **attached)])
    page, asked_for = watched(browser, viewport={"width": 400, "height": 900})
    page.goto(path.as_uri())
    widths = "Promise.all([...document.images].map(i => i.decode().then(() => i.naturalWidth)))"
    assert page.evaluate(widths) == [2000] * 3
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert [address for address in asked_for if not address.startswith("data:")] == [path.as_uri()]
    page.close()


def test_a_link_in_the_heat_map_opens_its_example(written, browser):
    page = browser.new_page()
    page.goto(written["class"].as_uri())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('href')") == "#points"
    link = page.locator(".heat a").last
    link.focus()
    page.keyboard.press("Enter")
    assert page.locator(":target").is_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.locator(":target details").get_attribute("open") is not None
    assert page.locator("a[href='feedback.html']").count()
    page.locator("#students ~ ul a").first.click()
    assert page.title().startswith("Feedback for")
    page.close()


def test_folded_parts_of_a_page_are_printed(written, browser):
    page = browser.new_page()
    page.goto(written["class"].as_uri())
    page.emulate_media(media="print")
    folded = page.locator("details:not([open]) pre").first
    assert folded.is_visible()
    page.close()
