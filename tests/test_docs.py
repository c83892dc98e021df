"""Holds the pages that people read to what is there: links, commands, pictures, and how to cite.

Not here: what the commands of `docs/instructors.md` do (`test_instructors.py`), those that train and translate
(`test_cli_translation.py`), the walk-throughs of CONTRIBUTING.md (`test_contributing.py`), the README's table of lessons,
which `course build --check` compares with the facts.
"""

import json
import re
import shlex
import sys
from itertools import chain

import pytest
import yaml
from repository import ROOT

from course_utils import commands
from course_utils.base.environment import PYTHONS
from course_utils.checks import catalogue
from course_utils.site import readme_picture

PAGES = ["README.md", "CONTRIBUTING.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md")))]
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^```(\w+)?.*?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LARGEST = 200_000  # bytes of a picture


def page(name):
    return (ROOT / name).read_text(encoding="utf-8")


def anchors(text):
    """What GitHub calls the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", BLOCK.sub("", text), re.MULTILINE)
    return set(map(slug, headings))


def slug(heading):
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def text_of(place):
    """A page's text, or that of a notebook's text cells."""
    text = place.read_text(encoding="utf-8")
    if place.suffix != ".ipynb":
        return text
    return "\n\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "markdown")


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name):
    folder = (ROOT / name).parent
    for _, _, target in LINK.findall(BLOCK.sub("", page(name))):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        place = (folder / path).resolve() if path else ROOT / name
        assert place.exists() and place.is_relative_to(ROOT), f"{name} links to {target}"
        if anchor:
            assert anchor in anchors(text_of(place)), f"{name} links to {target}"


def test_the_readme_picture_moves_with_the_models_own_weights():
    film = readme_picture.crossing()
    assert page("docs/attention.svg") == film.svg  # else run docs/pictures.py
    assert page("docs/attention-dark.svg").replace("svg { filter: invert(.93) hue-rotate(180deg) } ", "") == film.svg
    assert len(film.svg.encode()) < 60 * 1024 and 6 <= film.seconds <= 12
    alt = re.search('alt="(.*?)"', page("README.md"))[1]
    for word, seen, weight in re.findall(
        r"“(\w+)”(?:, the next word,)? looks (?:back )?at “(\w+)” with (?:a weight of )?([\d.]+)", alt
    ):
        assert f"“{word}” looks at “{seen}” ({weight.rstrip('.')})" in film.description
    assert "prefers-reduced-motion" in film.svg


def test_every_page_can_be_reached_from_the_readme():
    reached, waiting = set(), ["README.md"]
    while waiting:
        name = waiting.pop()
        reached.add(name)
        targets = [(ROOT / name).parent / target.partition("#")[0] for _, _, target in LINK.findall(page(name))]
        found = {path.resolve().relative_to(ROOT).as_posix() for path in targets if path.suffix == ".md"}
        waiting += found - reached
    assert set(PAGES) <= reached


@pytest.mark.parametrize("name", PAGES)
def test_commands_are_read_as_they_stand(name):
    text, parser = page(name), commands.make_parser()
    lines = [line for language, block in BLOCK.findall(text) if language == "sh" for line in block.splitlines()]
    lines += [line.replace("\n", " ") for line in re.findall(r"`([^`]+)`", BLOCK.sub("", text))]
    for line in lines:
        command = re.fullmatch(r"(?:.* \| )?(?:\.venv/bin/)?course( .*?)(?: > .*)?", line)
        words = shlex.split(command[1], comments=True) if command else []
        if len(words) == 1:  # a mere mention
            assert (ROOT / f"course_utils/commands/{words[0]}.py").is_file(), line
        elif words:
            parser.parse_args(words)  # raises a CourseError that names what it does not know


def test_the_scripts_that_measure_are_there_with_their_options():
    text = "".join(map(page, PAGES))
    named = re.findall(r"`(?:\w+=\S+ )?(?:python|pytest)? ?((?:benchmarks|tests)/\w+\.py)\b", text)
    assert len(set(named)) >= 9
    for script in named:
        assert (ROOT / script).is_file(), script
    assert '"--cores"' in page("benchmarks/grading_nbgrader.py")
    assert "COURSE_THOROUGH" in page("tests/sampling.py")
    assert "sampling.seeds(1, 2 if TASKS[i].candidates else 20)" in page("tests/test_grading_fair.py")


def test_the_commands_of_make_are_there():
    (_, block), *_ = BLOCK.findall(page("README.md"))
    assert block == "make lab\n"
    targets = re.findall(r"`make ([\w-]+)", "".join(map(page, PAGES)))
    assert {"lab", "site", "test", "test-all"} <= set(targets)
    assert all(re.search(rf"^{target}:", page("Makefile"), re.MULTILINE) for target in targets)


def test_the_readme_is_a_first_page():
    table, picture = "<!-- lessons.*<!-- end of lessons -->", "<picture>.*?</picture>"
    text = re.sub(f"{table}|{picture}", "", page("README.md"), flags=re.DOTALL)
    assert len(LINK.sub(r"\2", text).split()) <= 700


def test_readme_pictures_have_alternative_text_and_are_small():
    pictures = re.findall("<picture>.*?</picture>", page("README.md"), re.DOTALL)
    assert all(len(re.search('alt="(.*?)"', picture)[1].split()) > 30 for picture in pictures)
    forms = re.findall('src(?:set)?="(.*?)"', "".join(pictures))
    assert forms[:2] == ["docs/attention-dark.svg", "docs/attention.svg"]
    assert forms[2:] == ["docs/check-dark.png", "docs/check.png", "docs/check-dark.webp", "docs/check.webp"]
    assert all((ROOT / form).stat().st_size <= LARGEST for form in forms)
    there = {f"docs/{path.name}" for path in (ROOT / "docs").iterdir() if path.suffix in (".png", ".svg", ".webp")}
    assert there == set(forms)


def test_the_container_has_a_supported_python_and_runs_make():
    container = json.loads(page(".devcontainer/devcontainer.json"))
    _, _, version = container["image"].rpartition(":")
    assert PYTHONS[0] <= tuple(map(int, version.split("."))) <= PYTHONS[1]
    assert container["postAttachCommand"] == "make lab"
    assert container["containerEnv"]["PIP_EXTRA_INDEX_URL"] in page("README.md")


def test_the_citation_file_agrees_with_the_project():
    cited = yaml.safe_load(page("CITATION.cff"))
    assert cited["cff-version"] == "1.2.0" and cited["type"] == "software" and cited["message"]
    (author,) = cited["authors"]
    assert f"Copyright (c) {author['name']}\n" in page("LICENSE")
    assert f'version = "{cited["version"]}"' in page("pyproject.toml")
    assert page("README.md").startswith(f"# {cited['title']}\n")
    assert f"attention_course-{cited['version']}-py3-none-any.whl" in page("docs/setup.md")


def test_the_versions_of_python_are_those_that_are_supported():
    oldest, newest = re.search(r"Python (3\.\d+) to (3\.\d+)", page("README.md")).groups()
    assert f'requires-python = ">={oldest}"' in page("pyproject.toml")
    assert f"(3, {newest.partition('.')[2]})" in page("course_utils/base/environment.py")
    assert f"Python {oldest} to {newest}" in page("docs/setup.md")


def test_no_page_is_written_for_one_machine():
    for name in PAGES:
        assert not re.search(r"(?<![\w/.])/(?:home|work|tmp|root|Users)/", page(name)), name
    assert sys.prefix not in "".join(map(page, PAGES))


# What lessons quote that stands neither in their code nor in an output: names, titles, and words that they speak about.
QUOTED_FROM_ELSEWHERE = {
    *("Add & Norm", "concat", "may attend", "may be seen", "On the Properties of Neural Machine Translation"),
    *("le chien", "transformer-gpu-en-de"),
    *("must not be seen", "Is Mary in the kitchen?", "never"),
    *("great , not awful", "glove-wiki-gigaword-50"),
}


def test_quotations_in_a_lesson_are_in_its_code_or_its_outputs():
    """So that a sentence about “smomu” is noticed when the model writes something else."""
    quoted, not_shown = 0, set()
    for path in sorted(ROOT.glob("notebooks/[0-9]*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        shown = "".join(text for cell in cells if cell["cell_type"] == "code" for text in _texts(cell))
        prose = "\n".join("".join(cell["source"]) for cell in cells[1:] if cell["cell_type"] == "markdown")
        for phrase in map("".join, re.findall(r'"([^"\n]+)"|“([^”\n]+)”', prose)):
            quoted += 1
            if _only_words(phrase) not in _only_words(shown):
                not_shown.add(phrase)
    assert quoted > 150
    assert not_shown == QUOTED_FROM_ELSEWHERE


def _texts(cell):
    """The code of a cell and the texts of its stored outputs, those of folded and drawn ones included."""
    yield "".join(cell["source"]) + "\n"
    for output in cell["outputs"]:
        drawn = output.get("data", {})
        for text in (output.get("text", ""), drawn.get("text/plain", ""), drawn.get("text/html", "")):
            yield "".join(text) + "\n"


def _only_words(text):
    words = re.findall(r"\w+", text.lower())
    return f" {' '.join(words)} "


def test_a_file_that_the_code_names_is_there():
    """In backticks in docstrings and comments; `lesson_NN_title` stands for any lesson's folder."""
    packages = [(ROOT / name).rglob("*.py") for name in ("course_utils", "course_lessons", "benchmarks")]
    code = [file.relative_to(ROOT) for file in chain(*packages, (ROOT / "tests").glob("*.py"))]
    paths = [f"/{re.sub(r'lesson_[0-9][0-9]_[a-z0-9_]+', 'lesson_NN_title', file.as_posix())}" for file in code]
    for file in code:
        for named in re.findall(r"`((?:\w+/)*\w+\.py)`", page(file)):
            named = re.sub(r"lesson_\d\d_\w+(?=/)", "lesson_NN_title", named)
            assert any(path.endswith(f"/{named}") for path in paths) or "98" in named, f"{file} names {named}"


def test_paths_through_the_course_link_parts_and_add_up():
    text = page("docs/paths.md")
    essentials, rest = text.split("## To GPT and a real model")
    assert 340 <= minutes_of(essentials) <= 390  # about six hours
    assert 585 <= minutes_of(essentials) + minutes_of(rest) <= 630  # about ten hours
    for lesson, name, target in re.findall(r'lesson (\d\d)(?:,| from)\s\["([^"]+)"\]\((\S+)\)', text):
        assert target.startswith(f"../notebooks/{lesson}_") and target.endswith(f"#{slug(name)}")
    assert not re.findall(r'lesson \d\d, "', text)


def minutes_of(text):
    """The minutes of a path's table, each row of which names a lesson and links to the parts to read."""
    total = 0
    rows = re.findall(r"^\| \[(\d\d) (.+?)\]\S* \| (.+) \| (\d+) \| (.*)\|$", text, re.MULTILINE)
    for lesson, title, read, minutes, write in rows:
        assert title == catalogue.lessons()[lesson].title
        parts = re.findall(r'\["([^"]+)"\]\(../notebooks/(\d\d)_\w+\.ipynb#(\S+)\)', read)
        assert all((number, anchor) == (lesson, slug(part)) for part, number, anchor in parts)
        assert parts or read == "all of it" and int(minutes) <= catalogue.lessons()[lesson].reading
        assert read.count('"') == 2 * len(parts), f"a part of lesson {lesson} has no link"
        tasks = re.findall(r"`([\w.]+)`.*?, (\d+) minutes", write)
        assert all(catalogue.load(task).minutes == int(long) for task, long in tasks)
        total += int(minutes) + sum(int(long) for _, long in tasks)
    return total
