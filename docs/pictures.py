"""Makes the README's pictures: attention translates a sentence, and a check finds the mistake in an answer.

    python docs/pictures.py

Writes docs/attention.svg, docs/check.webp and, for readers who want nothing to move, docs/check.png; the same for the dark as attention-dark
and check-dark. The check is two cells of a notebook as they look in JupyterLab, without the window around them. Needs the extras lab and test,
and Chromium.
"""

import io
import json
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from course_utils.base.environment import find_chromium
from course_utils.base.paths import file_of
from course_utils.site.readme_picture import crossing

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from test_browser import DIAGNOSIS, FLAGS, LESSON, PATIENCE, WRONG, code_cell, lab_on_a_copy, open_notebook, run_all  # noqa: E402

THEME = "SETTINGS/@jupyterlab/apputils-extension/themes.jupyterlab-settings"  # in the folder of the copy
NOT_SHOWN = ".jp-cell-toolbar { display: none } .below { visibility: hidden }"
SIZE = {"width": 1020, "height": 1600}  # of the window
SHARP = 1.5  # pixels of the file for each pixel of the page
MARGIN = 8
AXES = {"0": 7000, "": 400, "-": 400, "-1": 1200}  # as they are typed, and for how many milliseconds each is shown
END = 4000


def film(page, lab):
    """Return the frames, each with its milliseconds. The first can stand for all: a wrong answer, and what is wrong with it."""
    open_notebook(page, lab, file_of("exercises", LESSON))
    run_all(page)
    answer, check = code_cell(page, "def softmax("), code_cell(page, 'check("02.softmax"')
    check.get_by_text("not attempted").wait_for()
    page.add_style_tag(content=NOT_SHOWN)

    def write(axis):
        answer.locator(".cm-content").click()
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.insert_text(WRONG.replace("(0)", f"({axis})"))

    def run(words):
        for cell in (answer, check):
            cell.locator(".cm-content").click()
            page.keyboard.press("ControlOrMeta+Enter")  # and not Shift+Enter, which may scroll
        check.get_by_text(words).wait_for()

    def look():
        page.mouse.move(0, 0)
        check.evaluate("cell => { cell.blur(); while ((cell = cell.nextElementSibling)) cell.classList.add('below') }")
        page.wait_for_timeout(500)
        return Image.open(io.BytesIO(page.screenshot(clip=room))).convert("RGB")

    frames = []
    for axis, milliseconds in AXES.items():
        write(axis)
        if not frames:
            run(DIAGNOSIS)
            answer.evaluate("cell => cell.scrollIntoView({ block: 'center' })")
            room = room_of(answer, check)
        frames.append((look(), milliseconds))
    run("passed")
    return [*frames, (look(), END)]


def room_of(answer, check):
    """Return the rectangle that two cells and what is below them take, as `screenshot` wants it."""
    editor, top, bottom = (
        each.bounding_box()
        for each in (answer.locator(".jp-InputArea-editor"), answer, check.locator(".jp-OutputArea"))
    )
    height = bottom["y"] + bottom["height"] - top["y"] + MARGIN
    return {"x": editor["x"] - MARGIN, "y": top["y"], "width": editor["width"] + 2 * MARGIN, "height": height}


def save(frames, name):
    """Write the moving picture and the still one."""
    (first, *others), durations = zip(*frames, strict=True)
    first.quantize(128).save(ROOT / "docs" / f"{name}.png", optimize=True)
    moving = {"save_all": True, "append_images": others, "duration": list(durations), "loop": 0}
    first.save(ROOT / "docs" / f"{name}.webp", lossless=True, method=6, **moving)


def picture_of_attention():
    """Write the moving picture of a translation. In the dark, light and dark change places, and hues stay."""
    light = crossing().svg
    (ROOT / "docs" / "attention.svg").write_text(light, encoding="utf-8")
    dark = light.replace("<style>", "<style>svg { filter: invert(.93) hue-rotate(180deg) } ", 1)
    (ROOT / "docs" / "attention-dark.svg").write_text(dark, encoding="utf-8")


def main():
    picture_of_attention()
    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        for name, theme in (("check", "JupyterLab Light"), ("check-dark", "JupyterLab Dark")):
            with tempfile.TemporaryDirectory() as folder, lab_on_a_copy(Path(folder)) as lab:  # no answer is there yet
                settings = Path(folder, THEME)
                settings.parent.mkdir(parents=True, exist_ok=True)
                settings.write_text(json.dumps({"theme": theme}))
                page = browser.new_page(viewport=SIZE, device_scale_factor=SHARP)
                page.set_default_timeout(PATIENCE)
                save(film(page, lab), name)
                page.close()
        browser.close()


if __name__ == "__main__":
    main()
