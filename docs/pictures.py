"""Makes the README's pictures: a lesson's question with its slider, a check that refuses an answer and says why, and the translator in a page.

    python docs/pictures.py

Writes docs/lesson.png and docs/check.png, cells of a notebook as they look in JupyterLab, without the window around them, and
docs/translator.png. Needs the extras lab and test, and Chromium. Not here: the picture of the path (`course build` draws it).
"""

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from course_utils.base.environment import find_chromium
from course_utils.base.places import file_of
from course_utils.site.build import build_site

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from test_browser import FLAGS, LESSON, PATIENCE, WRONG, code_cell, lab_on_a_copy, open_notebook, run_all, type_and_run  # noqa: E402

SIZE = {
    "width": 1330,
    "height": 1400,
}  # wide enough for the longest line of code, high enough for all cells of a picture
SHARP = 1.8  # pixels of the file for each pixel of the page
MARGIN = 12
STEPS = 8  # of the slider to the right: from temperature 1 to 2.5, which answers the question


def lesson(page, lab):
    """Lesson 02 at the temperature slider, after a reader has moved it; above it the question that it answers."""
    open_notebook(page, lab, f"notebooks/{LESSON}.ipynb")
    run_all(page)
    cell = code_cell(page, "temperature=slider")
    handle = cell.locator(".noUi-handle")
    handle.wait_for()
    page.get_by_text("Attention course | Idle").wait_for()
    question = cell.locator("xpath=preceding-sibling::*[1]")
    question.scroll_into_view_if_needed()
    handle.focus()
    for _ in range(STEPS):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(500)
    cell.get_by_role("status").scroll_into_view_if_needed()
    take(page, "lesson", question, cell, cell.get_by_role("status"))


def check(page, lab):
    """Exercise 02.softmax with a mistake in it, and what the check under it says."""
    open_notebook(page, lab, file_of("exercises", LESSON))
    run_all(page)
    answer, checked = code_cell(page, "def softmax("), code_cell(page, 'check("02.softmax"')
    checked.locator(".jp-OutputArea").get_by_text("not attempted").wait_for()
    type_and_run(page, answer, WRONG)
    type_and_run(page, checked)
    checked.locator(".jp-OutputArea").get_by_text("normalise over the first axis").wait_for()
    answer.scroll_into_view_if_needed()
    checked.get_by_text("Stuck?").scroll_into_view_if_needed()
    take(page, "check", answer, checked, checked.get_by_text("Stuck?"))


def translator(page, folder):
    """The translator of the web pages, after a reader has chosen a word."""
    build_site(ROOT, folder, ["00"])
    page.set_viewport_size({"width": 1000, "height": 1400})
    page.goto((folder / "translator.html").as_uri())
    page.locator("#translator[data-ready]").wait_for()
    page.get_by_role("textbox").fill("A black dog is playing in the snow.")
    page.get_by_role("button", name="Translate").click()
    page.locator("[data-part=words] button").nth(2).click()
    parts = [page.locator(f"#translator {part}") for part in ("form", "[data-part=heads]")]
    parts[0].scroll_into_view_if_needed()
    first, last = (part.bounding_box() for part in parts)
    height = last["y"] + last["height"] - first["y"] + 2 * MARGIN
    clip = {"x": first["x"] - MARGIN, "y": first["y"] - MARGIN, "width": first["width"] + 2 * MARGIN, "height": height}
    page.screenshot(path=ROOT / "docs" / "translator.png", clip=clip)


def take(page, name, first, last, end):
    """Take a picture of the page from the first cell's top to the end of what the last cell shows."""
    page.add_style_tag(content=".jp-cell-toolbar { display: none }")  # a cell's buttons to copy, move and delete it
    page.mouse.move(0, 0)
    page.wait_for_timeout(1500)
    top, bottom = first.bounding_box()["y"], end.bounding_box()
    prompt, editor = (last.locator(f".jp-{part}").first.bounding_box() for part in ("InputPrompt", "InputArea-editor"))
    left, right = prompt["x"], editor["x"] + editor["width"] + MARGIN
    height = bottom["y"] + bottom["height"] + MARGIN - top
    clip = {"x": left, "y": top, "width": right - left, "height": height}
    page.screenshot(path=ROOT / "docs" / f"{name}.png", clip=clip)


def main():
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as player:
        browser = player.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        with lab_on_a_copy(Path(folder)) as lab:
            for picture in (lesson, check):
                page = browser.new_page(viewport=SIZE, device_scale_factor=SHARP)
                page.set_default_timeout(PATIENCE)
                picture(page, lab)
                page.close()
        translator(browser.new_page(device_scale_factor=1.5), Path(folder) / "pages")
        browser.close()


if __name__ == "__main__":
    main()
