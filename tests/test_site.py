"""Opens the course's web pages in a real browser: pages of two lessons, made once, and the translator beside PyTorch.

Not here: what a lesson's notebook shows (nbval), and the look of all pages, which a person judges.
"""

import json
import os
import re
import subprocess
import sys
import urllib.parse
from concurrent.futures import ThreadPoolExecutor
from html import escape
from itertools import product
from pathlib import Path

import ipywidgets
import nbformat
import pytest
import sampling
import torch
from docutils import nodes
from repository import ROOT
from test_browser import FLAGS, PATIENCE, axe, playwright

from course_utils import commands
from course_utils.authoring.links import is_placeholder, redirect_links
from course_utils.base.errors import CourseError
from course_utils.base.paths import PRETRAINED, file_of, names_in, number_of
from course_utils.checks import catalogue
from course_utils.checks.report import with_code
from course_utils.data.multi30k import load_multi30k
from course_utils.data.subwords import EOS
from course_utils.figures.drawing import address_of
from course_utils.figures.film import Film
from course_utils.figures.widgets import explore
from course_utils.models.head_ablation import weights_of_heads
from course_utils.models.serialization import load_pretrained
from course_utils.translation.out_of_vocabulary import MANY, in_small_letters, small_start, straight, warnings_of
from course_utils.translation.search import translate_all

if sys.version_info < (3, 11):
    pytest.skip("the libraries that write the site need Python 3.11", allow_module_level=True)
from course_utils.site import build, contents, mathematics, pages, slider_frames  # noqa: E402

shows = playwright.expect

LESSONS = ["00", "02"]  # they train nothing, and have a slider each
SENTENCES = (
    "Two young girls are playing with a big black dog in the snow.",
    "A man in a blue shirt is standing on a ladder cleaning a window.",
    "It's 2 o'clock — naïve café, don't!",
    "Several women wait outside in a city.",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The pages of two lessons, and what was said while they were written."""
    folder, said = tmp_path_factory.mktemp("site"), []
    build.build_site(ROOT, folder / "pages", LESSONS, kept=folder / "kept", say=said.append)
    return folder / "pages", said


@pytest.fixture(scope="module")
def browser(chromium, site):  # noqa: F811  # a site is not written once a browser runs
    with playwright.sync_playwright() as player:
        browser = player.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def tab(browser):
    """A page of the browser for all tests, as a new one takes a second of computing, and what it complained of or asked others for."""
    page, wrong = browser.new_page(), []
    page.set_default_timeout(PATIENCE)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: wrong.append(request.url) if request.url.startswith("http") else None)
    return page, wrong


@pytest.fixture
def open_page(tab, site):
    """Open a page of the site from the disk; at the end it must have complained of nothing, and asked nobody else."""
    page, wrong = tab
    wrong.clear()

    def opened(name, scheme="light", width=1280):
        still = {"media": "screen", "reduced_motion": "reduce"}  # no colour is on its way to another one
        page.emulate_media(color_scheme=scheme, **still)
        page.set_viewport_size({"width": width, "height": 800})
        file, _, query = name.partition("?")
        page.goto(f"{(site[0] / file).as_uri()}?{query}")
        return page

    yield opened
    page.evaluate("localStorage.clear()")
    assert not wrong


@pytest.fixture
def phone(browser, site):
    """Open a page of the site on a telephone."""
    context = browser.new_context(has_touch=True, is_mobile=True)

    def opened(name, width=390, height=844):
        page.set_viewport_size({"width": width, "height": height})
        page.goto((site[0] / name).as_uri())
        if name == "translator.html":
            page.locator("#translator[data-ready]").wait_for()
        return page

    page = context.new_page()
    yield opened
    context.close()


def translating(open_page, scheme="light"):
    page = open_page("translator.html", scheme)
    page.locator("#translator[data-ready]").wait_for()
    return page


def violations(page):
    options = {"preload": False, "resultTypes": ["violations"]}  # a page on a disk may fetch nothing
    found = axe.Axe().run(page, options=options).response["violations"]
    return [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in ("serious", "critical")]


def test_the_build_names_each_lesson_once_without_a_warning(site):
    said = [line for line in site[1] if not line.startswith("running lesson")]  # where sliders were not drawn before
    assert re.fullmatch(r"reading \d+ pages", said[0])
    assert said[1:] == ["writing lesson 00_start_here", "writing lesson 02_weighted_sums"]
    assert {path.name for path in site[0].parent.iterdir()} == {"pages", "kept"}  # nothing is left beside the pages


AGAIN = """
import sys
import urllib.parse
from pathlib import Path
from course_utils.site import build, pages
lesson = pages.lesson
def changed(root, name, moves):
    made = lesson(root, name, moves)
    made["cells"][2]["source"] += sys.argv[3]
    return made
pages.lesson = changed
build.build_site(Path(sys.argv[1]), Path(sys.argv[2], "pages"), ["00"], kept=Path(sys.argv[2], "kept"))
"""


@pytest.mark.thorough
def test_a_second_build_writes_only_what_has_changed(tmp_path):
    def lines(added):  # Sphinx is made for one run in a process
        command = [sys.executable, "-c", AGAIN, ROOT, tmp_path, added]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
        return [line for line in done.stdout.splitlines() if not line.startswith("running lesson")]

    page = tmp_path / "pages/notebooks/00_start_here.html"
    whole = lines("")
    assert len(whole) == 2
    before = page.read_text(encoding="utf-8")
    assert lines("") == []
    changed = lines(" A new sentence.")
    assert changed == ["reading 1 page", "writing lesson 00_start_here"]
    assert "A new sentence." in page.read_text(encoding="utf-8")
    (tmp_path / "pages" / build.MARK).write_text("")  # as if the last run had been interrupted
    assert lines("") == whole
    assert page.read_text(encoding="utf-8") == before


def test_all_links_lead_to_a_page_or_to_the_repository(site):
    out, _ = site
    ours = set(out.rglob("*.html")) - set((out / "_static").rglob("*.html"))  # those are the theme's
    html = {page.resolve(): page.read_text(encoding="utf-8") for page in ours}
    anchors = {page: set(re.findall(r' id="([^"]+)"', text)) for page, text in html.items()}
    for page, text in html.items():
        for link, anchor in re.findall(r'href="(?!https?:|mailto:)([^"#?]*)[^"#]*#?([^"]*)"', text):
            target = (page.parent / link).resolve() if link else page
            assert target.exists(), f"{page.name} leads to {link}"
            assert not anchor or anchor in anchors[target], f"{page.name} leads to {anchor} in {link}"
        assert not is_placeholder(" ".join(re.findall(r'(?:href|src)="([^"]+)"', text))), page.name


PAGES = ("index.html", "notebooks/00_start_here.html", "exercises/02_weighted_sums_exercises.html", "glossary.html")


@pytest.mark.parametrize(("name", "scheme"), sampling.usually(list(product(PAGES, ("light", "dark"))), 3))
def test_pages_are_accessible(open_page, name, scheme):
    assert not violations(open_page(name, scheme))


@pytest.mark.parametrize("width", sampling.usually([375, 1440], 1))
def test_no_page_is_wider_than_the_screen(open_page, width):
    for name in ("index.html", "notebooks/02_weighted_sums.html", PAGES[2], "translator.html", "docs/instructors.html"):
        page = open_page(name, width=width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name


WITHOUT_CONTENTS = ("index.html", "translator.html", "search.html?q=mask", "glossary.html", "papers.html")


@pytest.mark.parametrize("width", [390, 1440, 1920])
def test_a_page_without_contents_is_in_the_middle(open_page, width):
    margins = """() => ["main", ".bd-article, .bd-search-container"].map((one) => document.querySelector(one).getBoundingClientRect())
      .reduce((main, article) => [article.left - main.left, main.right - article.right])"""
    for name in WITHOUT_CONTENTS:
        left, right = open_page(name, width=width).evaluate(margins)
        assert abs(left - right) < 2 and (width < 1000 or left > 20), (name, left, right)


def test_a_prediction_comes_before_what_it_predicts(open_page):
    page = open_page("notebooks/02_weighted_sums.html")
    asked = page.locator(".course-asked").first
    output, status = page.locator(".tag_reveals .cell_output").first, asked.get_by_role("status")

    def guess(text):
        asked.get_by_role("textbox").fill(text)
        asked.get_by_role("textbox").press("Enter")

    shows(output).to_be_hidden()
    guess("many")
    shows(status).to_have_text("Write a number, such as 0.5.")
    shows(output).to_be_hidden()
    guess("0,5")
    shows(status).to_contain_text(re.compile(r"You said 0.5. That is [\d.]+ too (high|low)."))
    shows(output).to_be_visible()
    shows(asked.get_by_role("button")).to_have_text(["Predict"])
    guess(re.search(r"Answer: ([\d.]+)\.", output.inner_text())[1])
    shows(status).to_contain_text("That is a good guess.")


def test_the_page_knows_what_comes_out_of_each_prediction():
    for name in names_in(ROOT, "notebooks"):
        text = (ROOT / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8")
        for one in catalogue.predictions_of(number_of(name)):
            outcome = pages._revealed_value(one, json.loads(text)["cells"])
            assert one.read(outcome) is not None or f'predict(\\"{one.id}' not in text, one.id


def test_a_question_says_why_and_the_first_page_counts(open_page):
    one = next(one for one in catalogue.questions_of("02") if isinstance(one, catalogue.Question))
    page = open_page("notebooks/02_weighted_sums.html")
    asked = page.locator(f'[id="asked-{one.id}"]')
    for text, why in (*one.wrong, one.right):
        asked.get_by_role("radio", name=text).check()
        asked.get_by_role("button", name="Check").click()
        shows(asked.get_by_role("status")).to_contain_text(why)
    page.reload()
    shows(asked.get_by_role("status")).to_contain_text(one.right[1])
    page.goto(page.url.replace("notebooks/02_weighted_sums", "index"))
    shows(page.locator(".course-begin a").first).to_have_text("Continue with lesson 02")
    card = page.locator(".course-lessons li", has_text="02 Weighted sums")
    shows(card).to_contain_text(f"{catalogue.lessons()['02'].reading} minutes")
    shows(card).to_contain_text("1 of 5 questions right")
    shows(page.locator(".course-lessons li").first).to_contain_text("5 questions")
    assert page.locator(".course-lessons img").evaluate_all("all => all.every((one) => one.naturalWidth > 200)")


def test_a_dotted_term_shows_its_definition(open_page, phone):
    entries = {term: meaning for term, _, _, meaning in contents.ENTRY.findall((ROOT / "docs/glossary.md").read_text())}
    meaning = re.compile(re.escape(entries["softmax"]), re.IGNORECASE)
    page = open_page("notebooks/02_weighted_sums.html")
    term, shown = page.locator(".course-term", has_text=re.compile("^softmax$")).first, page.get_by_role("tooltip")
    shows(shown).to_have_count(0)
    term.hover()
    shows(shown).to_have_text(meaning)
    page.keyboard.press("Escape")
    shows(shown).to_have_count(0)
    term.focus()
    shows(shown).to_have_text(meaning)
    term.click()
    shows(page).to_have_url(re.compile(r"glossary\.html#term-softmax$"))
    page = phone("notebooks/02_weighted_sums.html")
    term, shown = page.locator(".course-term", has_text=re.compile("^softmax$")).first, page.get_by_role("tooltip")
    term.tap()
    shows(shown).to_have_text(meaning)
    term.tap()
    shows(page).to_have_url(re.compile(r"glossary\.html#term-softmax$"))


def test_numbers_are_judged_as_in_a_notebook(open_page):
    one = next(one for one in catalogue.questions_of("02") if isinstance(one, catalogue.NumberQuestion))
    page = open_page("notebooks/02_weighted_sums.html")
    asked = page.locator(f'[id="asked-{one.id}"]')
    for number in (one.answer, *dict(one.wrong), 12345.0):
        asked.get_by_role("textbox").fill(f"{number:g}")
        asked.get_by_role("button", name="Check").click()
        shows(asked.get_by_role("status")).to_have_text(one.judge(number).message)


def test_a_slider_moves_by_the_keyboard(open_page):
    moving = open_page("notebooks/00_start_here.html").locator(".course-moving").first
    slider, said, picture = moving.get_by_role("slider"), moving.get_by_role("status"), moving.locator("img")
    before = said.inner_text()
    slider.press("ArrowLeft")
    shows(said).not_to_have_text(before)
    assert picture.get_attribute("alt") == said.inner_text()
    shows(slider).to_have_attribute("aria-valuetext", "0.75")
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 100


def test_a_choice_beside_a_slider_shows_the_film_of_both(tab, tmp_path):
    """In a page of its own, as no lesson has both."""

    def draw(word, score):
        film = Film(f"“{word}” scores {score}", 40, 6)
        film.description = f"It is “{word}”."
        return film

    word, score = ipywidgets.ToggleButtons(options=["not", "great"]), ipywidgets.IntSlider(1, min=0, max=2)
    word.description = "word"
    box = explore(draw, word=word, score=score)
    slider_frames.record(box, str(tmp_path / "moves.json"))
    moves = json.loads((tmp_path / "moves.json").read_text(encoding="utf-8"))
    data = {kind: shown for kind, shown in box._repr_mimebundle_()[0].items() if "widget" not in kind}
    output = pages._explorer_output("cell", moves, {"data": data, "metadata": {}})["data"]["text/html"]
    script = (Path(build.__file__).parent / "page/moving.js").read_text(encoding="utf-8")
    frames = f"window.COURSE_MOVING['cell'] = {json.dumps(moves['frames'])};"
    (tmp_path / "frames.js").write_text(frames, encoding="utf-8")
    whole = f"<!doctype html><meta charset=utf-8>{output}<script>{script}</script>"
    (tmp_path / "page.html").write_text(whole.replace("../_static/moving/cell.js", "frames.js"), encoding="utf-8")
    page, wrong = tab
    wrong.clear()
    page.goto((tmp_path / "page.html").as_uri())
    said, picture = page.get_by_role("status"), page.locator("img")
    shows(said).to_have_text("“not” scores 1. It is “not”.")
    page.get_by_role("radio", name="great").check()
    page.get_by_role("slider").press("ArrowRight")
    shows(said).to_have_text("“great” scores 2. It is “great”.")
    assert picture.get_attribute("src") == address_of(draw("great", 2).frame()) and not wrong


def test_a_printed_question_has_its_options_and_no_buttons(open_page):
    page = open_page("notebooks/02_weighted_sums.html")
    page.emulate_media(media="print")
    question = page.locator(".course-asked", has=page.locator("input[type=radio]")).first
    shows(question.locator(".option").last).to_be_visible()
    shows(question.locator("button").first).to_be_hidden()


def test_a_printed_page_begins_on_the_left(open_page):
    page = open_page("notebooks/02_weighted_sums.html", width=794)
    page.emulate_media(media="print")
    title, text = (page.locator(one).first for one in ("#jb-print-docs-body h1", ".course-open"))
    assert abs(title.bounding_box()["x"] - text.bounding_box()["x"]) < 2
    assert title.evaluate("title => getComputedStyle(title).textAlign") == "left"


def test_colours_that_are_shown_stay_as_they_are_in_the_dark(open_page):
    page = open_page("notebooks/00_start_here.html", "dark")
    filters = "all => all.map((one) => getComputedStyle(one).filter)"
    assert set(page.locator(".cell_output img.jp-needs-light-background").evaluate_all(filters)) == {"none"}


def test_a_question_shows_code_as_code(open_page, site):
    right, wrong = ("It is `x < 1`.", "See `y`."), (("No.", "Not so."),)
    one = catalogue.Question(id="00.q9", title="Less", text="What is `a < b`?", right=right, wrong=wrong)
    scripts = "".join(f'<script src="_static/{name}.js"></script>' for name in ("attention_table", "asked"))
    (site[0] / "asked.html").write_text(f"<main>{pages._question_html(one)}</main>{scripts}")
    page = open_page("asked.html")
    page.get_by_role("radio", name="It is x < 1.").check()
    page.get_by_role("button", name="Check").click()
    shows(page.get_by_role("status")).to_contain_text("is right. See y.")
    assert page.locator("code").all_inner_texts() == ["a < b", "x < 1", "y"]
    (site[0] / "asked.html").unlink()


CUT = """() => [...document.querySelectorAll("main :is(pre, .output)")]
  .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1 && !one.matches(".course-goes-on"))
  .map((one) => one.textContent)"""
COLUMNS = """() => Math.min(...[...document.querySelectorAll("main .cell_input pre")].filter((one) => one.checkVisibility()).map((one) => {
  const style = getComputedStyle(one), canvas = document.createElement("canvas").getContext("2d");
  canvas.font = `${style.fontSize} ${style.fontFamily}`;
  return (one.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)) / canvas.measureText("x").width;
}))"""


@pytest.mark.parametrize(("width", "columns"), [(1440, 88), (390, 45)])
def test_no_code_is_cut_without_a_sign_that_it_goes_on(open_page, width, columns):
    for name in ("notebooks/02_weighted_sums.html", PAGES[2]):
        page = open_page(name, width=width)
        page.wait_for_timeout(100)  # until the sizes were observed
        assert page.evaluate(CUT) == [], name
        assert page.evaluate(COLUMNS) >= columns, name


def test_no_mark_behind_a_formula_begins_a_line(open_page):
    page = open_page("notebooks/02_weighted_sums.html", width=390)
    below = """(ones) => ones.map((one) => {
      const mark = document.createRange();
      mark.selectNode(one.lastChild);
      return mark.getBoundingClientRect().top > one.querySelector("math").getBoundingClientRect().bottom - 2;
    })"""
    found = page.locator("main .course-kept").evaluate_all(below)
    texts = page.locator("main .course-kept").all_text_contents()
    assert len(found) > 5 and not any(found), [
        text.split() for text, is_below in zip(texts, found, strict=True) if is_below
    ]


def seen_of(film):
    """The picture of a film that is on the screen, and the style that was added to it last."""
    picture = film.locator("img:visible")
    return picture, urllib.parse.unquote(picture.get_attribute("src")).partition("</style>")[0][-60:]


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_a_film_waits_for_its_reader(open_page, motion):
    page = open_page("notebooks/02_weighted_sums.html")
    page.emulate_media(reduced_motion=motion)
    page.reload()
    assert page.locator(".course-film").count() == 2
    film = page.locator(".course-film").first
    picture, style = seen_of(film)
    assert "paused" in style and "0.665" in picture.get_attribute("alt")
    film.get_by_role("button", name="Play" if motion == "no-preference" else "Show the picture").click()
    _, style = seen_of(film)
    assert style.endswith("animation: none !important }") == (motion == "reduce") and "paused" not in style
    shows(film.get_by_role("button", name="Play again")).to_have_count(int(motion == "no-preference"))


def test_a_film_is_printed_as_its_last_frame(open_page):
    page = open_page("notebooks/02_weighted_sums.html")
    page.emulate_media(media="print")
    film = page.locator(".course-film").first
    assert "animation: none" in seen_of(film)[1]
    shows(film.locator("button")).to_be_hidden()


def test_a_printed_page_shows_all_of_its_content(open_page):
    page = open_page("exercises/02_weighted_sums_exercises.html", width=700)
    before = page.locator("main details[open]").count()
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("main details").count() == page.locator("main details[open]").count() > before
    assert page.evaluate(CUT.replace('&& !one.matches(".course-goes-on")', "")) == []
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("main details[open]").count() == before


def test_the_first_page_shows_the_attention_of_a_chosen_word(open_page):
    looking = open_page("index.html").locator(".course-looking")
    weights = json.loads(looking.locator("script").text_content())
    of_words = "words => words.map(word => Number(word.style.getPropertyValue('--weight')))"
    for place, word in enumerate(looking.get_by_role("button").all()):
        word.press("Enter")
        shown = looking.locator("span").evaluate_all(of_words)
        assert shown == weights[place] and looking.locator("line").count() == len(shown)
        shows(looking.get_by_role("status")).to_contain_text(f"To write “{word.inner_text()}”")


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_words_take_turns_unless_chosen_or_motion_is_reduced(browser, site, motion):
    page = browser.new_page(reduced_motion=motion)
    page.clock.install()
    page.goto((site[0] / "index.html").as_uri())
    chosen = page.locator(".course-looking button[aria-pressed=true]")
    assert chosen.inner_text() == contents.SHOWN
    page.clock.run_for(2000)
    assert (chosen.inner_text() == contents.SHOWN) == (motion == "reduce")
    page.get_by_role("button", name="rouge").click()
    page.clock.run_for(20_000)
    assert chosen.inner_text() == "rouge"
    page.close()


def test_pages_list_each_lesson_once_and_below_the_translator(open_page):
    targets = "links => links.map(link => link.getAttribute('href'))"
    links = open_page("index.html").locator('a[href^="notebooks/"]').evaluate_all(targets)
    assert links.count("notebooks/02_weighted_sums.html") == 1
    page = open_page("notebooks/02_weighted_sums.html")
    beside = page.locator(".bd-sidebar-primary nav a").evaluate_all(targets)
    assert beside.index("../translator.html") < beside.index("00_start_here.html")


TOO_SMALL = """() => [...document.querySelectorAll("main :is(button, summary, input, label:has(input))")]
  .filter((one) => one.offsetHeight && one.offsetHeight < 44 && !one.parentElement.closest("label"))
  .map((one) => one.outerHTML)"""


def test_targets_for_a_finger_are_large_enough(phone):
    for name in ("notebooks/02_weighted_sums.html", PAGES[2], "translator.html"):
        assert phone(name, 375, 667).evaluate(TOO_SMALL) == [], name


def test_the_search_quotes_from_a_lessons_text_and_code(open_page):
    led = re.compile(r"^notebooks/02_weighted_sums.html#[a-z-]+:~:text=\S+$")
    for word, sentence in {
        "temperature": "we can divide all scores by a number called the temperature",  # which links to the glossary
        "masked_fill": "scores.masked_fill(~mask, -torch.inf)",
    }.items():
        page = open_page(f"search.html?q={word}")
        found = page.locator("#search-results li", has=page.locator('a[href*="notebooks/02_weighted_sums"]'))
        quoted = found.locator("p a", has_text=sentence).first
        shows(quoted).to_be_visible()
        shows(quoted).to_have_attribute("href", led)


@pytest.mark.parametrize(
    ("term", "section"),
    [
        ("temperature", "02_weighted_sums.html#weights-that-are-positive-and-sum-to-one"),
        ("weighted sum", "00_start_here.html#a-sum-in-which-some-vectors-count-more"),
    ],
)
def test_the_search_for_a_term_leads_to_its_definition_first(open_page, term, section):
    results = open_page(f"search.html?q={term.replace(' ', '+')}").locator("#search-results li")
    shows(results.first.locator("p a").first).to_contain_text(re.compile(term, re.IGNORECASE))
    found = [one.locator("a").first.get_attribute("href") for one in results.all()]
    assert found[0] == f"notebooks/{section}" and found[1].startswith("glossary.html")


READ = """([name, kind, texts]) => {
  const { weights, config, subwords: saved } = window.COURSE_MODELS[name];
  const model = new Attention[kind](Attention.load(weights), config), subwords = new Subwords(saved);
  return texts.map((text) => {
    const ids = subwords.encode(text), steps = [...model.translate([...ids, Attention.EOS])];
    const tokens = steps.map((step) => step.id);
    return { ids, tokens, logits: Array.from(steps[0].logits), text: subwords.decode(tokens) };
  });
}"""


@torch.no_grad()
def test_the_page_computes_what_pytorch_does(open_page):
    sentences = list(SENTENCES)
    if sampling.NIGHT:
        sentences += load_multi30k("test_2016_flickr", "en-de").sources
    page = translating(open_page)
    for name in build.MODELS:
        kind = "Transformer" if name.startswith("transformer") else "Recurrent"
        model, subwords = load_pretrained(name)
        rows = subwords.encode([" ".join(text.split()) for text in sentences])
        page.wait_for_function(f"window.COURSE_MODELS['{name}']")
        found = page.evaluate(READ, [name, kind, sentences])
        for row, greedy, came in zip(rows, translate_all(model, rows, width=1), found, strict=True):
            assert came["ids"] == row
            assert came["tokens"] == [*greedy.tokens, EOS]
            assert came["text"] == subwords.decode([greedy.tokens])[0]
            logits = model(torch.tensor([[*row, EOS]]), torch.tensor([[1]]))[0, 0]
            assert torch.allclose(torch.tensor(came["logits"]), logits, atol=1e-4)


FRENCH = {
    "attention-en-fr": "French, with the recurrent networks and the attention of lesson 06",
    "seq2seq-en-fr": "French, with the recurrent networks of lesson 05, without attention",
}


def test_french_translators_agree_with_torch_and_show_attention(open_page):
    page = translating(open_page)
    put_in(page, SENTENCES[3])
    parts = ("choices", "with-steps", "heads", "next")
    shows(page.locator("[data-part=choices]")).to_be_visible()
    for name, label in FRENCH.items():
        page.get_by_role("radio", name=label).check()
        model, subwords = load_pretrained(name)
        (greedy,) = translate_all(model, subwords.encode([SENTENCES[3]]), width=1, weights=True)
        shows(page.locator("[data-part=translation]")).to_have_text(subwords.decode([greedy.tokens])[0])
        visible = [page.locator(f"[data-part={part}]").is_visible() for part in parts]
        assert visible == [False, False, greedy.weights is not None, True]
        shows(page.get_by_text("This model is not a Transformer").locator("visible=true")).to_have_count(1)
        if greedy.weights is not None:
            shown = [row.locator("td").all_inner_texts() for row in page.locator("[data-part=heads] tbody tr").all()]
            exact = [
                [f"{100 * weight:.0f}" if weight >= 0.05 else "" for weight in row] for row in greedy.weights.tolist()
            ]
            assert shown[:-1] == exact  # the last row is that of EOS
            page.locator("[data-part=words] button").nth(1).click()
            most = max(range(len(exact[1])), key=lambda column: greedy.weights[1][column])
            assert shown_weights(page, "source")[most][1] == int(exact[1][most])
            page.locator("[data-part=next] button").nth(1).click()  # another word can be chosen
            shows(page.locator("[data-part=words] .forced")).to_have_count(1)


def test_the_translator_follows_another_word_and_drops_a_head(open_page):
    page = translating(open_page)
    translation, status = page.locator("[data-part=translation]"), page.get_by_role("status")
    first = translation.inner_text()
    other = page.locator("[data-part=next]").get_by_role("button", name="Ein", exact=True)
    other.press("Enter")
    shows(other).to_be_focused()
    shows(page.locator("[data-part=continued]")).to_have_text(re.compile("^Ein "))
    shows(translation).to_have_text(re.compile("^Ein "))
    page.get_by_role("button", name="Translate").click()
    shows(translation).to_have_text(first)
    page.get_by_role("checkbox", name="switch this head off").check()
    shows(status).to_contain_text("Switched off: layer 2, head 1, the decoder to the sentence.")
    page.get_by_role("button", name="all heads on").click()
    shows(status).not_to_contain_text("Switched off")
    shows(translation).to_have_text(first)


def test_the_steps_of_a_head_add_up(open_page):
    page = translating(open_page)
    page.get_by_text("How its weights are computed").click()
    page.locator("[data-part=words]").get_by_role("button").nth(2).press("Enter")
    rows = page.locator("[data-part=steps] tr").all()
    numbers = [[float(cell.replace("−", "-")) for cell in row.locator("td").all_inner_texts()] for row in rows]
    scaled, weights = (torch.tensor([row[place] for row in numbers]) for place in (1, 2))
    assert torch.allclose(scaled.softmax(-1), weights, atol=0.01)
    assert all(abs(score / 32**0.5 - one) < 0.01 for score, one, _ in numbers)
    page.get_by_role("radio", name="the decoder to its own words").check()
    assert page.locator("[data-part=steps] tr", has_text="masked").count() > 0


def put_in(page, text):
    page.get_by_role("textbox").fill(text)
    page.get_by_role("textbox").press("Enter")
    return page.get_by_role("status")


def shown_weights(page, part):
    """What is written at each word of a row: its text, and the hundredths in it."""
    texts = (text.split() for text in page.locator(f"[data-part={part}] .word").all_text_contents())
    return [(words[0], int(words[1].removesuffix("%"))) for words in texts]


@torch.no_grad()
def test_a_chosen_word_puts_its_weights_on_the_source_words(open_page):
    model, subwords = load_pretrained("transformer-en-de")
    row = [*subwords.encode([SENTENCES[0]])[0], EOS]
    (greedy,) = translate_all(model, [row[:-1]], width=1)
    seen = weights_of_heads(model, torch.tensor([row]), torch.tensor([[1, *greedy.tokens]]))
    page = translating(open_page)
    for place, layer, head in ((2, 1, 0), (8, 2, 3)):
        page.get_by_role("group", name="Which head?").get_by_role("radio", name=str(head + 1)).check()
        page.get_by_role("group", name="Which layer?").get_by_role("radio", name=str(layer + 1)).check()
        page.locator("[data-part=words] button").nth(place).press("Enter")
        shows(page.locator("[data-part=words] button").nth(place)).to_be_focused()
        weights = seen[f"source {layer}"][0, head, place]
        found = shown_weights(page, "source")
        assert [word for word, _ in found] == [token.lstrip("▁") for token in subwords.tokens(row[:-1])] + ["EOS"]
        assert [shown for _, shown in found] == pytest.approx((100 * weights).tolist(), abs=0.51)
        word, most = found[int(weights.argmax())]
        said = f"head {head + 1} of layer {layer + 1} looks at “{word}” ({most}%)"
        shows(page.locator("[data-part=looks]")).to_contain_text(said)


def test_words_that_look_at_their_own_kind_carry_the_weights(open_page):
    page = translating(open_page)
    page.get_by_role("radio", name="the encoder to the sentence").check()
    page.locator("[data-part=source]").get_by_role("button", name=re.compile("^girls")).press("Enter")
    shows(page.locator("[data-part=looks]")).to_contain_text("From “girls”, head 1 of layer 2 looks at ")
    assert 98 <= sum(shown for _, shown in shown_weights(page, "source")) <= 102
    page.get_by_role("radio", name="the decoder to its own words").check()
    page.locator("[data-part=words]").get_by_role("button", name=re.compile("^Mädchen")).press("Enter")
    assert page.locator("[data-part=source] button, [data-part=source] .word span").count() == 0
    own = [shown for _, shown in shown_weights(page, "words")]
    assert any(own[:2]) and not any(own[2:])  # words are read after they are written


def test_a_tap_on_a_phone_changes_what_is_in_sight(phone):
    def in_sight(one):
        box = one.bounding_box()
        return box["y"] >= 0 and box["y"] + box["height"] <= 844

    page = phone("translator.html")
    words, table = page.locator("[data-part=words] button"), page.locator("[data-part=heads]:has(tbody tr)")
    page.get_by_role("radio", name=FRENCH["attention-en-fr"]).check()
    assert table.evaluate("table => table.scrollWidth <= table.parentElement.clientWidth")  # the only one, whole
    words.nth(2).tap()
    for part in ("translation", "source", "words"):
        assert in_sight(page.locator(f"[data-part={part}]")), part
    field = page.get_by_role("textbox")
    field.fill("Two dogs play in the snow and " * 10)
    assert field.evaluate("field => field.scrollHeight <= field.clientHeight")
    page.get_by_role("button", name="Translate").tap()
    words.nth(20).tap()
    found = shown_weights(page, "source")
    assert in_sight(page.locator("[data-part=source] .word").nth(max(range(len(found)), key=lambda n: found[n][1])))


def test_an_old_translation_goes_with_its_text(open_page):
    page = translating(open_page)
    main, translation = page.locator("[data-part=main]"), page.locator("[data-part=translation]")
    field = page.get_by_role("textbox")
    first = translation.inner_text()
    for text in ("", SENTENCES[0] + " x"):
        field.fill(text)
        shows(main).to_be_hidden()
        shows(translation).to_have_text("")
    field.fill(SENTENCES[0])
    shows(main).to_be_visible()
    shows(translation).to_have_text(first)
    for text in (" ", ""):
        put_in(page, text)
        shows(main).to_be_hidden()


def test_captions_to_try_are_translated(open_page):
    page = translating(open_page)
    captions = page.get_by_role("group", name="Captions to try").get_by_role("button")
    texts = captions.all_inner_texts()
    model, subwords = load_pretrained("transformer-en-de")
    assert len(texts) == 4
    for caption, greedy in zip(captions.all(), translate_all(model, subwords.encode(texts), width=1), strict=True):
        caption.press("Enter")
        shows(page.locator("[data-part=translation]")).to_have_text(subwords.decode([greedy.tokens])[0])
        shows(page.locator(".warning")).to_have_count(0)
        assert page.get_by_role("textbox").input_value() == caption.inner_text()


def test_the_translator_refuses_unreadable_text_in_a_sentence(open_page):
    page = translating(open_page)
    for text, said in {
        "  ": "Type an English sentence",
        "dog " * 101: "That is 101 subwords.",
        "Two dogs 🙂 play.": "has never read emoji or symbols such as 🙂,",
    }.items():
        shows(put_in(page, text)).to_contain_text(said)


NO_ENGLISH = (
    "Quixotic zephyrs vex ibises.",  # rare words, and English
    "Zwei kleine Mädchen spielen mit einem großen Hund.",
    "Две девочки играют с собакой.",
    "两只狗在雪地里玩耍。",
)
RARE = "A man isn’t eating ‘1999’ 👍🏽 pizzas & <b>bold</b> ones?"
WARNED = {
    **dict.fromkeys(("Two snowboarders are playing with a dog.", "Outside a house, dogs bark."), None),
    "hello": "This is very short",
    "Nobody feeds the dog without a shirt.": "only 142 say “not”, “no”, “without” or the like",
    "I love you": "only 70 speak of I, you or we",
    RARE: "has hardly ever read: isn't, pizzas, bold, ones, < and 2 more",
    "12 people in 1999": "has hardly ever read these numbers: 1999.",
    "A dog and a cat are " + "very " * (MANY - 5): f"These are {MANY + 1} words.",
    "treaty": "has hardly ever read: treaty.",
    "The asdf ends a treaty.": "has hardly ever read: asdf, treaty.",
    "A boy didn't limpiando it.": "has hardly ever read: didn't, limpiando.",
    "TWO DOGS on a BMX bike": "these words with capital letters: TWO, DOGS.",
    "A Dog Runs In The Park": "these words with capital letters: Dog, Runs, In, The, Park.",
    "A Dog Runs In The Big Park": "letters: Dog, Runs, In, The, Big and 1 more. Write them in small letters.",
    "A man holds a U.S. flag.": None,
    "A dog runs. a cat sleeps.": "This is more than one sentence.",
    "The treaty was signed yesterday.": "has hardly ever read: treaty, signed, yesterday.",
    "asdf qwer": "has hardly ever read: asdf, qwer.",
    **dict.fromkeys(NO_ENGLISH, "no other language"),
}


@pytest.mark.thorough
def test_unread_words_are_named_in_the_page_as_in_the_terminal(open_page):
    page = translating(open_page)
    translation = page.locator("[data-part=translation]")
    for text, said in WARNED.items():
        for name in ("attention-en-fr", "transformer-en-de"):
            page.locator(f"input[value={name}]").check()
            put_in(page, text)
            shows(translation).to_have_text(re.compile(r"\S"))
            shown = page.locator(".warning").all_inner_texts()
            read = small_start(straight(text), load_pretrained(name)[1])
            assert shown == warnings_of(read, translation.inner_text(), name[-2:])
            shows(page.locator(".translation.doubtful")).to_have_count(1 if shown else 0)
        assert any(said in warning for warning in shown) if said else shown == [], text


def test_the_first_page_leads_to_french_and_german_can_be_chosen(open_page):
    page = open_page("index.html")
    page.get_by_role("link", name="Translate a sentence of your own").click()
    french, german = page.get_by_role("radio", name=FRENCH["attention-en-fr"]), page.get_by_role("radio", name="German")
    shows(french).to_be_checked()
    translation = page.locator("[data-part=translation]")
    shows(translation).to_contain_text("Deux jeunes filles jouent")
    shows(translation).to_have_attribute("lang", "fr")
    shows(page.locator("[data-part=choices]")).to_be_hidden()
    shows(page.locator("[data-part=heads] tbody tr").first).to_be_visible()
    german.check()
    shows(translation).to_contain_text("Zwei kleine Mädchen spielen")
    shows(translation).to_have_attribute("lang", "de")
    shows(page.locator("[data-part=choices]")).to_be_visible()
    card = (PRETRAINED / "transformer-en-de/README.md").read_text(encoding="utf-8")
    (bleu,) = re.findall(r"^\| test_2016_flickr \| (\S+) \|", card, re.MULTILINE)
    assert "29,000 captions of photos" in page.locator("main h1 + p").inner_text()
    shows(page.get_by_text(f"a BLEU score of {bleu} for the test captions of 2016")).to_be_visible()


def test_a_sign_cut_into_bytes_is_shown_as_bytes_not_as_boxes(open_page):
    page = translating(open_page)
    put_in(page, "A man 🙂 smiles.")
    words = page.locator("[data-part=source] .word").all_inner_texts()
    assert [word.split()[0] for word in words][3:7] == ["\\xf0", "\\x9f", "\\x99", "\\x82"]


def test_a_text_in_capitals_is_put_into_small_letters_by_a_click(open_page):
    page = translating(open_page)
    smaller = page.get_by_role("button", name="Translate it in small letters")
    shows(smaller).to_have_count(0)
    text, small = "TWO DOGS READ A TREATY IN THE USA.", "Two dogs read a treaty in the USA."
    put_in(page, text)
    smaller.press("Enter")
    shows(page.get_by_role("textbox")).to_have_value(small)
    shows(smaller).to_have_count(0)
    assert in_small_letters(text) == small


@pytest.mark.parametrize("scheme", sampling.usually(["light", "dark"], 1))
def test_the_translator_is_accessible(open_page, scheme):
    page = translating(open_page, scheme)
    put_in(page, "Two dogs play.")  # fewer words, the same kinds of things to look at
    assert not violations(page)


def test_a_lesson_reads_on_without_scripts(browser, site):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site[0] / "notebooks/02_weighted_sums.html").as_uri())
    shows(page.locator(".tag_reveals .cell_output").first).to_be_visible()
    one = next(one for one in catalogue.questions_of("02") if isinstance(one, catalogue.Question))
    options = page.locator(f'[id="asked-{one.id}"] li').all_inner_texts()
    assert options == [text.replace("`", "") for _, text in one.options(0)]
    colours = "(ones) => ones.map((one) => getComputedStyle(one).color)"
    assert len(set(page.locator(".course-open, .course-open a").evaluate_all(colours))) == 2
    page.goto((site[0] / "translator.html").as_uri())
    shows(page.get_by_text("The translator needs JavaScript")).to_be_visible()
    context.close()


# Without a browser


@pytest.mark.parametrize("name", names_in(ROOT, "notebooks"))
def test_each_lesson_has_a_picture_for_its_card(name):
    quoted = pages.ON_CARDS.get(number_of(name), "")
    assert quoted in (ROOT / f"course_lessons/lesson_{name}/lesson.py").read_text(encoding="utf-8")
    assert pages.card_picture(ROOT, name).startswith("<img ")


def test_a_lesson_without_data_gets_a_line_and_its_other_sliders(monkeypatch, tmp_path):
    """A notebook stands for a lesson: its first picture needs a file that cannot be had, and its second needs none."""
    drawn = "def draw(a):\n    {}\n    plt.plot([0, a])\n    return ''\nshown = explore(draw, a=ipywidgets.FloatSlider(1, min=0, max=1, step=0.5))"
    cells = (
        "import ipywidgets\nimport matplotlib.pyplot as plt\nfrom course_utils.figures.widgets import explore",
        "reviews = open('missing.tsv').read()",
        drawn.format("len(reviews)"),
        drawn.format("pass"),
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    (tmp_path / "notebooks").mkdir()
    nbformat.write(notebook, tmp_path / "notebooks/90_pictures.ipynb")
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "cache"))
    said = []
    with ThreadPoolExecutor() as thread:  # playwright's event loop runs in this one
        found = thread.submit(slider_frames.of_lesson, tmp_path, "90_pictures", said.append).result()
    assert [len(one["frames"]) for one in found.values()] == [3] and list(found) == [notebook.cells[3].id]
    lacks = "Lesson 90_pictures lacks sliders, and its page shows still pictures instead: cell 1 failed with"
    assert said[1].startswith(lacks) and "missing.tsv" in said[1]
    assert not list((tmp_path / "cache").rglob("*.json"))  # the next time it is tried again


def test_exercises_show_hints_and_a_solution_only_where_wanted():
    name, one = "02_weighted_sums", catalogue.tasks_of("02")[0]
    with_one, without = (json.dumps(pages.exercises(ROOT, name, solutions)["cells"]) for solutions in (True, False))
    assert "One solution" in with_one and "One solution" not in without
    for text in (with_one, without):
        assert json.dumps(one.hints[0])[1:-1] in text and "check(" not in text.replace("check()", "")


@pytest.mark.parametrize("address", ["https://host/course", None])
def test_links_without_a_page_lead_to_a_known_repository(address):
    text = "[a](../docs/setup.md#here), [the `b`](../benchmarks/world.csv#top), [c](https://example.org), [d](#e)"
    found = redirect_links(text, "notebooks/02.ipynb", {"docs/setup.md"}, address)
    led = "[the `b`](https://host/course/blob/main/benchmarks/world.csv#top)" if address else "the `b`"
    assert found == text.replace("[the `b`](../benchmarks/world.csv#top)", led)


@pytest.mark.parametrize("shown", ["Open in Colab", "![Open in Colab](https://host/badge.svg)"])
def test_a_line_to_colab_and_the_notebook_replaces_the_badge(shown):
    text = f"# 02 Title\n\n[{shown}](https://host/colab/02.ipynb)\n\n**You need** it."
    found = pages._with_download_line(text, "notebooks/02.ipynb")
    assert found.startswith('# 02 Title\n\n<p class="course-open">') and found.endswith("\n\n**You need** it.")
    assert found.count('href="../download/notebooks/02.ipynb" download') == 1 and "badge" not in found
    assert found.count('href="https://host/colab/02.ipynb"') == 1


def test_the_page_shows_what_a_check_says(site):
    page = (site[0] / PAGES[2]).read_text(encoding="utf-8")
    reports = "02.softmax – softmax with a temperature: failed.*: passed.*<h2>Softmax with a mask <code"
    assert re.search(reports, page, re.DOTALL)


@pytest.mark.parametrize("lesson", sampling.usually(list(catalogue.by_lesson()), 2))
def test_exercises_show_the_check_of_a_mistake_and_of_an_answer(lesson):
    (name,) = (name for name in names_in(ROOT, "notebooks") if number_of(name) == lesson)
    first = catalogue.tasks_of(lesson)[0]
    (cell,) = (cell for cell in pages.exercises(ROOT, name, False)["cells"] if cell["id"].endswith("-reports"))
    wrong, right = cell["outputs"][0]["data"]["text/html"].split("It says of a correct one:")
    assert f"{first.id} – {escape(first.title)}: failed" in wrong
    assert any(with_code(mistake.sentence) in wrong for mistake in first.mistakes)
    assert f"{first.id} – {escape(first.title)}: passed" in right


def page(text):
    return {"cells": [{"cell_type": "markdown", "source": one} for one in ("**You need** it.", text)]}


def test_the_glossary_gives_a_terms_meaning_with_links_both_ways():
    lessons = {
        "notebooks/02_a.ipynb": page("Words ask.\nA **query** asks for $x$. **Next**: two **Queries**."),
        "notebooks/03_b.ipynb": page("One **query**."),
    }
    text = "# Glossary\n\n- **query** (queries): what asks.\n- **score**: a number.\n"
    _, entries = contents.glossary(text, lessons).split("# Glossary\n\n")
    back = ", ".join(f'<a href="notebooks/{name}.html#term-query">lesson {name[:2]}</a>' for name in ("02_a", "03_b"))
    query = f'<span class="course-defined" id="term-query">query</span>\n: What asks. ({back})'
    assert entries == f'{query}\n\n<span class="course-defined" id="term-score">score</span>\n: A number.\n\n'
    link = '<a class="course-term" href="../glossary.html#term-query" data-meaning="What asks."'
    header, text = (cell["source"] for cell in lessons["notebooks/02_a.ipynb"]["cells"])
    defined = link.replace("course-term", "course-term course-defined")
    first, again = f'{defined} id="term-query">**query**</a>', f"{link}>**Queries**</a>"
    assert header == "**You need** it."
    assert text == f"Words ask.\nA {first} asks for $x$. **Next**: two {again}."


# What lessons set in bold that is no term: what begins a paragraph or ends in a stop, numbers in tables, and what only this lesson speaks of.
NO_TERM = re.compile(r"(You .*|Your turn|Exercises|Next|More|Further reading|[\d.]+| \| |.*[:.?])$")
OF_ONE_LESSON = {
    *("compete", "finds", "fixed gate", "four bits", "hits", "lead", "leave open", "look"),
    *("names", "one vector", "overlaps", "promises", "relation", "strength", "walks", "work together"),
}


def test_the_glossary_lists_exactly_the_bold_terms_in_order():
    entries = contents.ENTRY.findall((ROOT / "docs/glossary.md").read_text(encoding="utf-8"))
    forms = {form.lower(): term for term, short, other, _ in entries for form in (term, short, other)}
    lessons = {file_of("notebooks", name): pages.lesson(ROOT, name) for name in names_in(ROOT, "notebooks")}
    bold = {term for _, cell in contents._text_cells(lessons) for term in contents.TERM.findall(cell["source"])}
    terms = {term.lower() for term in bold if not NO_TERM.match(term)} - OF_ONE_LESSON
    assert not terms - forms.keys(), "set in bold in a lesson, but not in docs/glossary.md"
    assert {term for term, *_ in entries} == {forms[term] for term in terms}, "in docs/glossary.md, but in no lesson"
    assert [term for term, *_ in entries] == sorted({term for term, *_ in entries}, key=str.casefold)


def test_papers_are_found_by_authors_and_year():
    text = "In 2017 Vaswani et al. 2017, Koehn and Knowles (2017), Shazeer, 2020; since 1990 (Post 2018) scores 2018."
    found = contents.papers({"notebooks/12_a.ipynb": page(text)})
    expected = ["Koehn and Knowles 2017", "Post 2018", "Shazeer 2020", "Vaswani et al. 2017"]
    assert re.findall(r"^- (.+): ", found, re.MULTILINE) == expected
    assert "- Vaswani et al. 2017: [Attention Is All You Need](https://arxiv.org/abs/1706.03762), [lesson 12]" in found


def test_papers_have_titles_and_no_prediction_stands_as_code():
    lessons = {file_of("notebooks", name): pages.lesson(ROOT, name) for name in names_in(ROOT, "notebooks")}
    for page in lessons.values():
        code = (cell for cell in page["cells"] if "remove-input" not in cell["metadata"].get("tags", ()))
        assert not [cell["source"] for cell in code if "predict(" in "".join(cell["source"])[-40:]]
        text = [cell["source"] for cell in page["cells"] if cell["cell_type"] == "markdown"]
        assert "eplace the dots" not in str(text)  # a page has none: its reader writes in a field
    bare = re.findall(r"^- ([^:]+): \[lesson", contents.papers(lessons), re.MULTILINE)
    assert bare == ["MAIL-ECNU 2019", "Ylipää 2020"]  # whose slides the course began with


@pytest.mark.parametrize(
    ("formula", "holds"),
    [(r"\big(x\big)", "<mi>x</mi>"), (r"x_1, \dots, x_S", "…"), (r"x_1 … x_S", "…"), (r"\textstyle\sum_j a_j", "∑"), (r"\hat z_t", "</mover>\n    <mi>t</mi>")],
)  # fmt: skip
def test_formulas_that_docutils_does_not_know_are_written(formula, holds):
    assert holds in mathematics.mathml(formula, is_block=False)


@pytest.mark.parametrize(
    ("after", "mark"), [(", and", ","), ("), and", "),"), (").", ")."), (" and", None), ("’ it", "’"), ("-axis", None)]
)
def test_a_mark_that_closes_a_phrase_stays_with_its_formula(after, mark):
    paragraph = nodes.paragraph("", "", nodes.math("x", "x"), nodes.Text(after))
    mathematics.keep_marks(None, paragraph, "")
    assert paragraph[0].get("mark") == mark and (mark or "") + paragraph[1] == after


def test_every_formula_of_the_course_can_be_written():
    count = 0
    for file in (*ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("exercises/*.ipynb")):
        for cell in json.loads(file.read_text(encoding="utf-8"))["cells"]:
            text = "".join(cell["source"]) if cell["cell_type"] == "markdown" else ""
            for block, inline in re.findall(r"\$\$(.+?)\$\$|\$([^$\n]+?)\$", text, re.DOTALL):
                mathematics.mathml(block or inline, is_block=bool(block))
                count += 1
    assert count > 500


def test_a_slider_stops_where_it_begins_and_at_both_ends():
    stops = slider_frames.positions(ipywidgets.FloatSlider(value=0.55, min=0, max=1, step=0.1))
    assert stops[0] == 0 and 0.55 in stops and len(stops) == 11
    log = ipywidgets.FloatLogSlider(value=1.0, base=10, min=-1, max=1, step=0.5)
    assert slider_frames.positions(log) == pytest.approx([0.1, 10**-0.5, 1, 10**0.5, 10])
    assert slider_frames.positions(ipywidgets.Text(value="a")) == []
    assert slider_frames.positions(ipywidgets.ToggleButtons(options=["a", "b"])) == ["a", "b"]


@pytest.mark.parametrize("sizes", [(400,), (41, 41), (11, 40, 19, 19), (5, 4)])
def test_sliders_get_fewer_stops_until_their_pictures_are_few(sizes):
    stops = {str(place): list(range(size)) for place, size in enumerate(sizes)}
    shown = {name: min(7, len(values) - 1) for name, values in stops.items()}
    found = slider_frames.thinned(stops, shown)
    count = torch.tensor([len(values) for values in found.values()]).prod()
    assert min(20, count) <= count <= slider_frames.MOST
    for name, values in found.items():
        assert values == sorted(set(values)) and {0, stops[name][-1], shown[name]} <= set(values)


def test_write_keeps_equal_files_and_removes_unwanted_ones(tmp_path):
    build._write(tmp_path, {"a.md": "one", "b/c.md": "two", "d.md": "three"})
    os.utime(tmp_path / "a.md", (0, 0))
    os.utime(tmp_path / "b/c.md", (0, 0))
    build._write(tmp_path, {"a.md": "one", "b/c.md": "2"})
    assert (tmp_path / "a.md").stat().st_mtime == 0 != (tmp_path / "b/c.md").stat().st_mtime
    assert (tmp_path / "b/c.md").read_text() == "2" and not (tmp_path / "d.md").exists()


def test_stale_notebooks_make_no_site(tmp_path, monkeypatch):
    stale = "notebooks/02_weighted_sums.ipynb is stale"
    monkeypatch.setattr(build, "build", lambda *a, **k: [f"{stale}: run `course build`."])
    with pytest.raises(CourseError, match=f"notebooks are not up to date: {stale}"):
        build.build_site(ROOT, tmp_path / "out", LESSONS)
    assert not (tmp_path / "out").exists()


def test_a_folder_with_something_else_is_kept(tmp_path, monkeypatch, capsys):
    (tmp_path / "mine.txt").write_text("mine")
    monkeypatch.chdir(ROOT)
    assert commands.main(["site", "02", "--out", str(tmp_path)]) == 2
    told = "holds something that `course site` did not write: name another folder, or empty it."
    assert told in capsys.readouterr().err
    assert (tmp_path / "mine.txt").read_text() == "mine"
