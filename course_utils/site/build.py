"""Has Sphinx write the course's pages into a folder.

Here: what goes into a site and where, and Sphinx's settings. Not here: what is on a page (`pages.py`, `contents.py`).
"""

import base64
import contextlib
import io
import json
import logging
import shutil
import tempfile
import warnings
from pathlib import Path

from course_utils.authoring.build import build, repository_of
from course_utils.base.environment import need
from course_utils.base.errors import CourseError
from course_utils.base.places import chosen, file_of, is_clone, names_in
from course_utils.figures import every_head
from course_utils.models.files import PRETRAINED
from course_utils.site import contents, moving, pages

MODELS = ("transformer-en-de", *contents.BESIDE)  # of the page that translates
MARK = ".course-site"  # in a folder that was written by this command, and that it may write anew


def build_site(root: Path, out: Path, wanted: list[str] | None = None, solutions: bool = True, say=print) -> int:
    """Write the site of the course at root into the folder `out`; return the number of its pages.

    Args:
        wanted: lessons, as "03" or "03_queries_keys_values"; all if None.
        solutions: whether the pages of exercises show one solution for each task.
        say: function(line) is told what Sphinx noticed, such as a broken link.

    Raises:
        CourseError: for notebooks that are stale, a folder that holds something else, or a missing library.
    """
    names = names_in(root, "notebooks")
    names = chosen(wanted, names) if wanted else names
    need("site")
    if is_clone(root) and (stale := build(root, names, check=True, say=lambda line: None)):
        raise CourseError(f"The site is made from notebooks that are up to date, and these are not: {'; '.join(stale)}")
    if out.exists() and any(out.iterdir()) and not (out / MARK).is_file():
        raise CourseError(f"{out} holds something that `course site` did not write: name another folder, or empty it.")
    with tempfile.TemporaryDirectory(prefix="course") as folder:
        source = Path(folder) / "source"
        _write_source(root, source, names, solutions)
        made = Path(folder) / "site"
        _run_sphinx(source, made, say)
        for file in (file_of(part, name) for part in ("notebooks", "exercises") for name in names):
            (made / "download" / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / file, made / "download" / file)
        (made / MARK).touch()
        if out.exists():
            shutil.rmtree(out)
        shutil.copytree(made, out)
    return len(list(out.rglob("*.html")))


def _write_source(root, source, names, solutions):
    """Write what Sphinx reads."""
    repository = repository_of(root)
    notebooks, texts, static = {}, {}, source / "_static"
    for name in names:
        moves = moving.of_lesson(root, name)
        notebooks[file_of("notebooks", name)] = pages.lesson(root, name, moves)
        for cell_id, found in moves.items():
            frames = json.dumps(found["frames"], ensure_ascii=False)
            _put(static / f"moving/{cell_id}.js", f"window.COURSE_MOVING[{cell_id!r}] = {frames};\n")
    texts["translator.md"] = contents.translator()
    texts["glossary.md"] = contents.glossary(notebooks)
    texts["papers.md"] = contents.papers(notebooks)
    texts |= {f"docs/{name}.md": (root / f"docs/{name}.md").read_text(encoding="utf-8") for name in contents.DOCUMENTS}
    notebooks |= {file_of("exercises", name): pages.exercises(root, name, solutions) for name in names}
    texts["index.md"] = contents.first_page(root, names) + _tree(notebooks, texts)
    known = notebooks.keys() | texts.keys()
    for file, text in texts.items():
        _put(source / file, contents.led_on(text, file, known, repository))
    for file, page in notebooks.items():
        for cell in page["cells"]:
            if cell["cell_type"] == "markdown":
                cell["source"] = contents.led_on(cell["source"], file, known, repository)
        _put(source / file, json.dumps(page))
    for file in (every_head.SHARED, *contents.PAGE.glob("*.js")):
        _put(static / file.name, file.read_text(encoding="utf-8"))
    _put(static / "site.css", (contents.PAGE / "site.css").read_text(encoding="utf-8") + every_head.STYLE)
    for name in MODELS:
        _put(static / f"models/{name}.js", _model(name))
    _put(source / "conf.py", "")


def _tree(notebooks, texts):
    """Return the contents that are beside every page."""
    parts = {
        "Lessons": [file for file in notebooks if file.startswith("notebooks/")],
        "Exercises": [file for file in notebooks if file.startswith("exercises/")],
        "More": list(texts),
    }
    return "".join(
        f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n" + "\n".join(files) + "\n```\n"
        for caption, files in parts.items()
    )


def _put(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def _model(name) -> str:
    """Return a trained model as a script: a page that is opened from a disk may load scripts, and nothing else."""
    folder = PRETRAINED / name
    found = {
        "weights": base64.b64encode((folder / "model.safetensors").read_bytes()).decode(),
        "config": json.loads((folder / "model.json").read_text(encoding="utf-8"))["config"],
        "subwords": json.loads((folder / "subwords.json").read_text(encoding="utf-8")),
    }
    return f"(window.COURSE_MODELS ??= {{}})[{name!r}] = {json.dumps(found, ensure_ascii=False)};\n"


SETTINGS = {
    "project": "Attention, from sums to Transformers",
    "author": "the authors of the course",
    "html_title": "Attention, from sums to Transformers",
    "extensions": ["myst_nb", "course_utils.site.mathematics"],
    "myst_enable_extensions": ["dollarmath", "amsmath", "deflist"],
    "myst_heading_anchors": 4,
    "nb_execution_mode": "off",
    "nb_mime_priority_overrides": [("html", "text/html", 0)],
    "html_math_renderer": "mathml",
    "html_context": {"default_mode": "auto"},
    "html_theme": "sphinx_book_theme",
    "html_static_path": ["_static"],
    "html_css_files": ["site.css"],
    "html_js_files": ["attention_table.js", "asked.js", "moving.js", "running.js"],
    "html_copy_source": False,
    "html_show_sourcelink": False,
    "nb_code_prompt_show": "Show what is imported",
    "nb_code_prompt_hide": "Hide what is imported",
    "html_theme_options": {
        **dict.fromkeys(("navbar_start", "navbar_center", "navbar_end", "navbar_persistent"), []),
        "use_download_button": False,
        "use_fullscreen_button": False,
        "home_page_in_toc": True,
        "show_toc_level": 2,
        "article_footer_items": [],
        "footer_content_items": [],
    },
    "language": "en",
    "suppress_warnings": ["mystnb.unknown_mime_type", "misc.highlighting_failure"],
}


def _run_sphinx(source, out, say):
    from sphinx.application import Sphinx
    from sphinx.util.console import nocolor

    nocolor()
    log = io.StringIO()
    with contextlib.redirect_stderr(log), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the libraries say to one another
        app = Sphinx(
            source, None, out, source.parent / "trees", "html", confoverrides=SETTINGS, status=None, warning=log
        )
        app.build()
    logging.getLogger("sphinx").handlers.clear()
    for line in sorted(set(filter(None, log.getvalue().splitlines()))):
        say(line.replace(f"{source}/", ""))
    if app.statuscode:
        raise CourseError("Sphinx could not write the pages: what it says is above.")
