"""Does in a real browser what a learner does: opens JupyterLab on copies of their own, moves a slider, solves an exercise.
Looks for what one cannot see, too.

Runs on a clone of the course, so that nothing in the tree changes; pictures go to build/screenshots/.
Not here: `course lab` without a browser (`test_cli.py`), and what the checks say (the tests of each task).
"""

import io
import re
import shutil

import nbformat
import pytest
import sampling
import timeouts
from matplotlib.image import imread
from repository import ROOT, git
from running_lab import Lab, free_port
from test_docs import LINK

from course_utils.base.paths import file_of

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is missing: pip install -e .[test]")

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is missing: pip install -e .[test]")

FIRST, LESSON = "00_start_here", "02_weighted_sums"
WRONG = "def softmax(scores, temperature=1.0):\n    return (scores / temperature).softmax(0)"
CORRECT = "def softmax(scores, temperature=1.0):\n    return (scores / temperature).softmax(-1)"
DIAGNOSIS = "You normalise over the first axis"
SCREENSHOTS = ROOT / "build" / "screenshots"
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
PATIENCE = 1000 * timeouts.SECONDS  # milliseconds
playwright.expect.set_options(timeout=PATIENCE)


BROKEN = "def softmax(scores, temperature=1.0):\n    return (scores / temperature).softmax("


PICTURES = """\
import ipywidgets, torch
import matplotlib.pyplot as plt
from course_utils.figures import diagrams, plots
from course_utils.figures.widgets import explore
print("one word after another " * 20)
plots.weights(torch.eye(3))
plt.show()
plots.colours(torch.eye(3), ["red", "green", "blue"])
plt.show()
display(diagrams.attention())
explore(lambda x: (plots.weights(torch.eye(x)), "It is drawn.")[1], x=ipywidgets.IntSlider(3, min=2, max=5))"""


EVERY_HEAD = """\
from course_utils.figures.every_head import every_head
from course_utils.models.serialization import load_pretrained
from course_utils.models.head_ablation import weights_of_heads
from course_utils.models.seq2seq import make_batch
model, subwords = load_pretrained("transformer-en-de")
source, target, _ = make_batch(subwords.encode(["two men are playing ."]), subwords.encode(["zwei Männer spielen ."]))
every_head(weights_of_heads(model, source, target), *(subwords.tokens(ids[0].tolist()) for ids in (source, target)))"""


def lab_on_a_copy(copy):
    """`course lab` on a clone of the course in this folder, with settings and progress of its own."""
    for name in ("pyproject.toml", ".gitignore"):
        shutil.copy(ROOT / name, copy)
    for folder in ("notebooks", "exercises", "docs"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name, source in (("91_every_head", EVERY_HEAD), ("92_pictures", PICTURES)):
        made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
        made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(made, copy / "exercises" / f"{name}_exercises.ipynb")
    git(copy, "init", "-q")
    git(copy, "add", "pyproject.toml", ".gitignore", "notebooks", "exercises", "docs")
    git(copy, "commit", "-qm", "as it is published")
    own = {"COURSE_HOME": str(copy), "JUPYTERLAB_SETTINGS_DIR": str(copy / "SETTINGS")}
    return Lab(copy, LESSON, "--port", str(free_port()), **own)


@pytest.fixture(scope="module")
def lab(chromium, tmp_path_factory):
    clone = tmp_path_factory.mktemp("course")
    with lab_on_a_copy(clone) as lab:
        lab.clone = clone
        yield lab


@pytest.fixture
def page(chromium, lab, request):
    """A browser page that leaves a picture of how it ended, also of a failure."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    with playwright.sync_playwright() as player:
        browser = player.chromium.launch(executable_path=chromium, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 1600})
        page.set_default_timeout(PATIENCE)
        yield page
        page.screenshot(path=SCREENSHOTS / f"{request.node.name}.png")
        browser.close()


def open_notebook(page, lab, path):
    page.goto(f"http://127.0.0.1:{lab.port}/lab/tree/{path}?reset&token={lab.token}")  # reset: no other tab
    page.get_by_text("Attention course | Idle").wait_for()  # the status line knows when the kernel answers


def run_all(page):
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_text("Run All Cells", exact=True).click()


def open_and_run(page, lab, path):
    open_notebook(page, lab, path)
    run_all(page)
    wait_until_all_ran(page)


def code_cell(page, text):
    """The first code cell whose source holds this text."""
    source = page.locator(".jp-InputArea-editor", has_text=text)
    return page.locator(".jp-CodeCell", has=source).first


def wait_until_all_ran(page):
    """Wait for the last cell with a number of its run, then until the kernel rests; bring every output into view once."""
    folded = page.locator(".jp-Placeholder-prompt")
    cells = page.locator(".jp-CodeCell").filter(has_not=folded)
    for place in range(cells.count()):
        cells.nth(place).scroll_into_view_if_needed()
        playwright.expect(cells.nth(place).locator(".jp-InputPrompt").first).to_have_text(re.compile(r"\[\d+\]:"))
    page.get_by_text("Attention course | Idle").wait_for()


def assert_that_outputs_say_what_they_show(page, where=".jp-Cell-outputArea"):
    """Every picture in an output has words, and axe finds nothing serious there. JupyterLab's own surface is not looked at."""
    pictures = page.locator(".jp-Cell-outputArea img")
    without = [place for place in range(pictures.count()) if not pictures.nth(place).get_attribute("alt")]
    assert not without, f"of {pictures.count()} pictures these have no words: {without}"
    found = axe.Axe().run(page, context={"include": [[where]]}).response["violations"]
    serious = [rule for rule in found if rule["impact"] in ("serious", "critical")]
    assert not serious, [(rule["id"], [node["html"][:200] for node in rule["nodes"]]) for rule in serious]


def type_and_run(page, cell, text=None):
    """Replace a cell's source, if a text is given, and run it."""
    cell.locator(".cm-content").click()
    if text is not None:
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.insert_text(text)
    page.keyboard.press("Shift+Enter")


def turn_dark(page):
    page.get_by_role("menuitem", name="Settings", exact=True).click()
    page.get_by_text("Theme", exact=True).hover()
    page.get_by_text("JupyterLab Dark", exact=True).click()
    playwright.expect(page.locator("body")).to_have_attribute("data-jp-theme-light", "false")
    page.keyboard.press("Escape")


@pytest.mark.thorough
def test_a_notebook_counts_as_saved_until_it_is_changed(page, lab):
    own = lab.clone / "my_course" / file_of("exercises", FIRST)
    before = nbformat.read(own, as_version=4)
    open_notebook(page, lab, file_of("exercises", FIRST))
    page.wait_for_timeout(1000)
    changed = page.locator(".jp-mod-dirty")
    assert changed.count() == 0
    cell = code_cell(page, "import torch")
    type_and_run(page, cell, "import torch; 1 + 1")
    playwright.expect(changed.first).to_be_visible()
    playwright.expect(cell.locator(".jp-OutputArea-output")).to_have_text("2")
    page.keyboard.press("ControlOrMeta+s")
    playwright.expect(changed).to_have_count(0)
    # The kernel has answered by now, and JupyterLab has added nothing to what was there.
    saved = nbformat.read(own, as_version=4)
    assert saved.metadata == before.metadata and [cell.id for cell in saved.cells] == [cell.id for cell in before.cells]


@pytest.mark.thorough
def test_links_of_every_notebook_lead_to_their_page_and_section(page, lab):
    own, found = lab.clone / "my_course", set()
    for file in own.glob("*s/*.ipynb"):
        cells = [cell.source for cell in nbformat.read(file, as_version=4).cells if cell.cell_type == "markdown"]
        found |= {
            f"../{target.removeprefix('../')}" if "/" in target else f"../notebooks/{target}"
            for _, _, target in LINK.findall("\n".join(cells))
        }
    targets = sorted(target for target in found if not target.startswith("../http"))
    pages = [target for target in targets if ".md" in target]
    assert len(pages) >= 10 and len(targets) > 50
    clicked = pages[:: sampling.tried(4, 1)]
    sampling.LEFT["links to pages, followed in a browser"] += len(pages) - len(clicked)
    text = "\n\n".join(f"[{place}]({target})" for place, target in enumerate(targets))
    links = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text)])
    nbformat.write(links, own / "exercises" / "links.ipynb")
    for place, target in enumerate(targets):
        if place == 0 or targets[place - 1] in clicked:
            page.goto(f"http://127.0.0.1:{lab.port}/lab/tree/exercises/links.ipynb?reset&token={lab.token}")
        link = page.locator(".jp-RenderedMarkdown a", has_text=re.compile(f"^{place}$"))
        playwright.expect(link).to_have_attribute("href", re.compile("/files/"))
        assert page.request.get(link.get_attribute("href")).ok, target
        if target not in clicked:  # a click on a notebook would start a kernel
            continue
        link.click()
        path, _, section = target.partition("#")
        page.locator(".jp-MarkdownViewer h1").wait_for()
        headings = page.locator(".jp-MarkdownViewer :is(h1, h2, h3)")
        titles = [heading.removesuffix("¶") for heading in headings.all_inner_texts()]
        names = [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles]
        playwright.expect(headings.nth(names.index(section) if section else 0)).to_be_in_viewport()
    (own / "exercises" / "links.ipynb").unlink()


def ground(picture, across=0.0):
    """The colour that a page shows halfway down a picture, at its left edge or so far across; three numbers from 0 to 255."""
    pixels = imread(io.BytesIO(picture.screenshot()))  # from 0 to 1
    return (255 * pixels[pixels.shape[0] // 2, 1 + int(across * pixels.shape[1]), :3]).round().tolist()


@pytest.mark.thorough
def test_pictures_darken_in_dark_mode_but_keep_mixed_colours(page, lab):
    open_and_run(page, lab, "exercises/92_pictures_exercises.ipynb")
    pictures = page.locator(".jp-OutputArea-output img")
    playwright.expect(pictures).to_have_count(4)
    weights, colours, diagram, moving = (pictures.nth(place) for place in range(4))
    assert all(min(ground(picture)) >= 200 for picture in (weights, colours, diagram, moving))
    turn_dark(page)
    assert all(max(ground(picture)) <= 60 for picture in (weights, colours, diagram, moving))
    red, green, blue = (ground(colours, across) for across in (1 / 6, 1 / 2, 5 / 6))
    assert red[0] >= 250 and green[1] >= 250 and blue[2] >= 250 and red[1] <= 5  # as bright as in the light
    printed = page.locator(".jp-OutputArea-output pre", has_text="one word after another").first
    assert printed.evaluate("pre => getComputedStyle(pre).wordBreak") == "normal"
    page.keyboard.press("Escape")
    page.locator(".noUi-handle").focus()
    page.keyboard.press("ArrowRight")
    playwright.expect(page.locator(".widget-readout")).to_have_text("4")
    page.wait_for_timeout(500)
    assert max(ground(moving)) <= 60


@pytest.mark.thorough
def test_a_slider_changes_the_picture(page, lab):
    open_notebook(page, lab, f"notebooks/{FIRST}.ipynb")
    run_all(page)
    cell = code_cell(page, "red=red_slider")
    handle = cell.locator(".noUi-handle")  # a stored output holds no slider: a kernel has drawn this one
    handle.wait_for()
    wait_until_all_ran(page)  # the kernel now hears the slider
    picture, sentence = cell.locator(".widget-html-content img"), cell.locator(".widget-html-content[role=status]")
    handle.scroll_into_view_if_needed()
    playwright.expect(sentence).to_contain_text(re.compile(r"\w"))
    before, source, pixels = sentence.text_content(), picture.get_attribute("src"), picture.screenshot()
    handle.focus()
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    moved_to = cell.locator(".widget-readout").text_content()
    playwright.expect(sentence).to_contain_text(f"red {moved_to}, ")  # the last of the five moves is drawn
    assert sentence.text_content() != before
    playwright.expect(picture).to_have_attribute("alt", sentence.text_content())
    playwright.expect(handle).to_have_attribute("aria-label", "red")
    playwright.expect(handle).to_have_attribute("aria-valuetext", moved_to)
    playwright.expect(picture).not_to_have_attribute("src", source)
    assert picture.screenshot() != pixels
    assert page.locator('[data-mime-type="application/vnd.jupyter.stderr"]').count() == 0
    assert page.locator(".jp-Dialog, .Toastify__toast").count() == 0  # nothing popped up
    picture.scroll_into_view_if_needed()


def test_an_exercise_goes_from_stub_to_diagnosis_to_passed(page, lab):
    open_notebook(page, lab, file_of("exercises", LESSON))
    answer, check = code_cell(page, "def softmax("), code_cell(page, 'check("02.softmax"')
    output = check.locator(".jp-OutputArea")
    type_and_run(page, check)
    playwright.expect(output).to_contain_text("choose Run, Run All Above Selected Cell")
    run_all(page)
    playwright.expect(output).to_contain_text("not attempted")
    wait_until_all_ran(page)
    type_and_run(page, answer, WRONG)
    type_and_run(page, check)
    playwright.expect(output).to_contain_text(DIAGNOSIS)
    output.screenshot(path=SCREENSHOTS / "diagnosis.png")
    type_and_run(page, answer, CORRECT)
    type_and_run(page, check)
    playwright.expect(output).to_contain_text("softmax with a temperature: passed")
    type_and_run(page, answer, BROKEN)
    type_and_run(page, check)
    playwright.expect(output).to_contain_text("this is not your last version of softmax")
    output.screenshot(path=SCREENSHOTS / "not_the_last_version.png")
    assert any((lab.clone / ".course" / "tabs").iterdir())  # which tabs are open is kept apart from other projects


def choose_heads(page, cell, picture):
    """Choose another attention and another word by the keyboard alone; each says so, and axe finds nothing serious."""
    said, radios = cell.locator("caption"), cell.locator("input[type=radio]")
    playwright.expect(said).to_have_text("decoder to the source: where each head looks from “<bos>”, in hundredths")
    playwright.expect(cell.locator("tbody tr")).to_have_count(12)
    radios.first.focus()
    page.keyboard.press("ArrowRight")
    playwright.expect(said).to_contain_text("decoder to itself: where each head looks from “<bos>”")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    playwright.expect(said).to_contain_text("decoder to itself: where each head looks from “▁zwei”")
    numbers = cell.locator("tbody tr").first.locator("td").all_text_contents()
    assert sum(int(number or 0) for number in numbers[:2]) == pytest.approx(100, abs=1)  # it sees <bos> and itself
    assert not any(numbers[2:])
    assert_that_outputs_say_what_they_show(page, ".course-heads")
    cell.screenshot(path=SCREENSHOTS / f"every_head_{picture}.png")


@pytest.mark.thorough
def test_every_head_answers_to_the_keyboard_in_light_and_dark(page, lab):
    open_and_run(page, lab, "exercises/91_every_head_exercises.ipynb")
    cell = code_cell(page, "every_head")
    choose_heads(page, cell, "light")
    turn_dark(page)
    type_and_run(page, cell)
    playwright.expect(cell.locator("caption")).to_contain_text("decoder to the source")
    choose_heads(page, cell, "dark")


@pytest.mark.thorough
def test_every_head_answers_to_the_keyboard_without_a_kernel(page, lab):
    import nbclient
    from nbconvert import HTMLExporter

    notebook = nbclient.execute(nbformat.read(lab.clone / "exercises" / "91_every_head_exercises.ipynb", as_version=4))
    exported = lab.clone / "exercises" / "91_every_head.html"
    exported.write_text(HTMLExporter().from_notebook_node(notebook)[0], encoding="utf-8")
    page.goto(exported.as_uri(), wait_until="domcontentloaded")
    choose_heads(page, page.locator(".jp-CodeCell"), "static")


@pytest.mark.thorough
@pytest.mark.parametrize(("lesson", "pictures"), [("00_start_here", 3), (LESSON, 2)])
def test_pictures_after_run_all_have_words_and_axe_finds_nothing(page, lab, lesson, pictures):
    open_and_run(page, lab, f"notebooks/{lesson}.ipynb")
    page.locator(".jp-Cell-outputArea img").nth(pictures - 1).wait_for(state="attached")  # a slider draws its own later
    assert_that_outputs_say_what_they_show(page)


@pytest.mark.thorough
def test_play_works_after_a_failed_check(page, lab):
    open_and_run(page, lab, file_of("exercises", LESSON))
    answer, check = code_cell(page, "def softmax("), code_cell(page, 'check("02.softmax"')
    type_and_run(page, answer, WRONG)
    type_and_run(page, check)
    playwright.expect(check.locator(".jp-OutputArea")).to_contain_text("play() lets you change this input")
    type_and_run(page, check, 'play("02.softmax")')
    box = code_cell(page, 'play("02.softmax")').locator(".course-play")
    scores, verdict = box.get_by_label("scores"), box.locator("[role=status]")
    playwright.expect(verdict).to_contain_text("✗ weights[")
    scores.fill("0 0 0\n0 0 1")
    playwright.expect(box).to_contain_text("≠ 0.5")
    playwright.expect(verdict).to_contain_text("6 of 6 numbers are wrong")
    box.screenshot(path=SCREENSHOTS / "play.png")
    scores.fill("0 0 x\n0 0 1")
    playwright.expect(verdict).to_contain_text("scores, line 1: x is not a number.")
    playwright.expect(box).to_contain_text("≠ 0.5")  # what came before is not lost
    scores.fill("1 1\n1 1")
    playwright.expect(verdict).to_contain_text("✓ For this input your function is right.")
    assert_that_outputs_say_what_they_show(page)
    box.get_by_role("button", name="Put the first input back").click()
    playwright.expect(verdict).to_contain_text("✗ weights[")
