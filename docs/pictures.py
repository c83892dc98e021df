"""Makes the README's two pictures: a lesson, and a check that catches a mistake, in JupyterLab as a learner sees them.

    python docs/pictures.py

Writes docs/lesson.png and docs/check.png. Needs the extras lab and test, and Chromium.
"""

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from course_utils.commands import doctor

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from test_browser import FLAGS, LESSON, PATIENCE, WRONG, code_cell, lab_on_a_copy, open_notebook, run_all, type_and_run  # noqa: E402


def lesson(page, lab):
    """Lesson 02 after Run All, at the temperature slider."""
    open_notebook(page, lab, f"notebooks/{LESSON}.ipynb")
    run_all(page)
    cell = code_cell(page, "temperature=slider")
    cell.locator(".noUi-handle").wait_for()
    page.get_by_text("Attention course | Idle").wait_for()
    cell.locator("img.widget-image").scroll_into_view_if_needed()
    page.wait_for_timeout(1000)
    page.screenshot(path=ROOT / "docs" / "lesson.png")


def check(page, lab):
    """Exercise 02.softmax with a mistake in it."""
    open_notebook(page, lab, f"exercises/{LESSON}.ipynb")
    run_all(page)
    answer, checked = code_cell(page, "def softmax("), code_cell(page, 'check("02.softmax"')
    checked.locator(".jp-OutputArea").get_by_text("not attempted").wait_for()
    type_and_run(page, answer, WRONG)
    type_and_run(page, checked)
    checked.locator(".jp-OutputArea").get_by_text("normalise over the first axis").wait_for()
    checked.get_by_text("Stuck?").scroll_into_view_if_needed()
    page.wait_for_timeout(1000)
    page.screenshot(path=ROOT / "docs" / "check.png")


def main():
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as player:
        browser = player.chromium.launch(executable_path=doctor.find_chromium(), args=FLAGS)
        with lab_on_a_copy(Path(folder)) as lab:
            for take in (lesson, check):
                page = browser.new_page(viewport={"width": 1280, "height": 960})
                page.set_default_timeout(PATIENCE)
                take(page, lab)
                page.close()
        browser.close()


if __name__ == "__main__":
    main()
