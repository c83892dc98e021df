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
from importlib.metadata import version
from pathlib import Path

from course_utils.authoring.build import build
from course_utils.authoring.links import published_address, redirect_links, relative
from course_utils.authoring.notebook_builder import checksum
from course_utils.base.environment import need
from course_utils.base.errors import CourseError
from course_utils.base.files import write
from course_utils.base.paths import PRETRAINED, chosen, file_of, is_clone, names_in, number_of
from course_utils.base.words import count
from course_utils.checks import catalogue
from course_utils.figures import every_head
from course_utils.site import contents, pages, slider_frames
from course_utils.translation.out_of_vocabulary import FEW, MANY, NAMED, SENTENCES, caption_words, target_words

MODELS = ("transformer-en-de", *contents.BESIDE)  # for the page that translates
MARK = ".course-site"  # in a folder that this command wrote and may overwrite


def build_site(
    root: Path, out: Path, wanted: list[str] | None = None, solutions: bool = True, kept: Path | None = None, say=print
) -> int:
    """Write the site of the course at root into the folder `out`; return the number of its pages.

    Args:
        wanted: lessons, as "03" or "03_queries_keys_values"; all if None.
        solutions: whether the pages of exercises show one solution for each task.
        kept: a folder with what Sphinx read the last time, so that only what has changed is rewritten; none if None.
        say: function(line), called with what is being done and what Sphinx noticed, such as a broken link.

    Raises:
        CourseError: for stale notebooks, a folder that holds something else, or a missing library.
    """
    names = names_in(root, "notebooks")
    names = chosen(wanted, names) if wanted else names
    need("site")
    if is_clone(root) and (stale := build(root, names, check=True, say=lambda line: None)):
        more = f"; and {len(stale) - 2} more" if len(stale) > 2 else ""
        raise CourseError(f"notebooks are not up to date: {'; '.join(stale[:2])}{more}. Run `course build` first.")
    mark = out / MARK
    if out.exists() and any(out.iterdir()) and not mark.is_file():
        raise CourseError(f"{out} holds something that `course site` did not write: name another folder, or empty it.")
    with tempfile.TemporaryDirectory(prefix="course") as folder:
        source, trees = ((kept or Path(folder)) / name for name in ("source", "trees"))
        files = _source_texts(root, names, solutions, say)
        _write(source, files)
        made_of = _shared_hash(files)
        if not mark.is_file() or mark.read_text(encoding="utf-8") != made_of:
            for old in filter(Path.exists, (out, trees)):
                shutil.rmtree(old)
        out.mkdir(parents=True, exist_ok=True)
        mark.write_text("", encoding="utf-8")  # until all is written: after an interruption, the next run starts over
        _run_sphinx(source, out, trees, say)
        for file in (file_of(part, name) for part in ("notebooks", "exercises") for name in names):
            (out / "download" / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / file, out / "download" / file)
        mark.write_text(made_of, encoding="utf-8")
    return len(list(out.rglob("*.html")))


def _source_texts(root, names, solutions, say):
    """Return the text of each file that Sphinx reads."""
    repository = published_address(root)
    notebooks, texts, static = {}, {}, {}
    for name in names:
        moves = slider_frames.of_lesson(root, name, say)
        notebooks[file_of("notebooks", name)] = pages.lesson(root, name, moves)
        for cell_id, found in moves.items():
            frames = json.dumps(found["frames"], ensure_ascii=False)
            static[f"moving/{cell_id}.js"] = f"window.COURSE_MOVING[{cell_id!r}] = {frames};\n"
    papers = contents.papers(notebooks)  # before the lessons hold the glossary's sentences
    texts["glossary.md"] = contents.glossary((root / "docs/glossary.md").read_text(encoding="utf-8"), notebooks)
    texts["translator.md"] = contents.translator(texts["glossary.md"])
    texts["papers.md"] = papers
    texts |= {f"docs/{name}.md": (root / f"docs/{name}.md").read_text(encoding="utf-8") for name in contents.DOCUMENTS}
    notebooks |= {file_of("exercises", name): pages.exercises(root, name, solutions) for name in names}
    texts["index.md"] = contents.first_page(root, names) + _contents_tree(names, texts)
    known = notebooks.keys() | texts.keys()
    for file, page in notebooks.items():
        for cell in page["cells"]:
            if cell["cell_type"] == "markdown":
                text = relative(cell["source"], repository) if repository else cell["source"]
                cell["source"] = redirect_links(text, file, known, repository)
    for file in (every_head.SHARED, *contents.PAGE.glob("*.js")):
        static[file.name] = file.read_text(encoding="utf-8")
    static["site.css"] = (contents.PAGE / "site.css").read_text(encoding="utf-8") + every_head.STYLE
    static["icon.svg"] = (contents.PAGE / "icon.svg").read_text(encoding="utf-8")
    static |= {f"models/{name}.js": _model_script(name) for name in MODELS}
    captions = {"sentences": SENTENCES, "few": FEW, "many": MANY, "named": NAMED}
    words = {"en": caption_words(), "de": target_words("de"), "fr": target_words("fr")}
    captions |= {language: " ".join(sorted(known)) for language, known in words.items()}
    static["models/words.js"] = f"window.COURSE_WORDS = {json.dumps(captions, ensure_ascii=False)};\n"
    return {
        "conf.py": "",
        **{file: redirect_links(text, file, known, repository) for file, text in texts.items()},
        **{file: json.dumps(page) for file, page in notebooks.items()},
        **{f"_static/{file}": text for file, text in static.items()},
    }


def _write(folder, files):
    """Make a folder hold exactly these files. Unchanged ones are not rewritten: Sphinx goes by the time of writing."""
    for file in [file for file in folder.rglob("*") if file.is_file()]:
        if file.relative_to(folder).as_posix() not in files:
            file.unlink()
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write(folder / name, text)


def _shared_hash(files):
    """Return a hash of what all pages depend on: the first page, which names them, and the code that makes a page from a text."""
    code = [
        file.read_text(encoding="utf-8") for file in sorted(Path(__file__).parent.rglob("*.*")) if file.suffix != ".pyc"
    ]
    return checksum([files["index.md"], code, *map(version, ("sphinx", "myst-nb", "sphinx-book-theme"))])


def _contents_tree(names, texts):
    """Return the table of contents beside every page. A lesson's exercises are listed below it by its own page (`pages.py`)."""
    parts = {
        "Try it": ["translator.md"],
        "Lessons": [
            f"{number_of(name)} {catalogue.lessons()[number_of(name)].title} <{file_of('notebooks', name)}>"
            for name in names
        ],
        "More": [file for file in texts if file != "translator.md"],
    }
    return "".join(
        f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n" + "\n".join(files) + "\n```\n"
        for caption, files in parts.items()
    )


def _model_script(name) -> str:
    """Return a trained model as a script: a page opened from a disk may load only scripts."""
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
    "extensions": ["myst_nb", "course_utils.site.mathematics", "course_utils.site.search_index"],
    "myst_enable_extensions": ["dollarmath", "amsmath", "deflist"],
    "myst_heading_anchors": 4,
    "nb_execution_mode": "off",
    "nb_mime_priority_overrides": [("html", "text/html", 0)],
    "html_math_renderer": "mathml",
    "html_context": {"default_mode": "auto"},
    "html_theme": "sphinx_book_theme",
    "html_favicon": "_static/icon.svg",
    "html_static_path": ["_static"],
    "html_css_files": ["site.css"],
    "html_js_files": [
        "attention_table.js",
        "asked.js",
        "film.js",
        "moving.js",
        "reading.js",
        "looking.js",
        "search.js",
        "terms.js",
    ],
    "html_copy_source": False,
    "html_use_index": False,  # the glossary is the index
    "html_show_sourcelink": False,
    "html_show_search_summary": False,  # search.js quotes instead, even from a disk
    "html_sidebars": {"index": []},  # the first page lists the lessons itself
    "nb_code_prompt_show": "Show what is imported",
    "nb_code_prompt_hide": "Hide what is imported",
    "html_theme_options": {
        **dict.fromkeys(("navbar_start", "navbar_center", "navbar_end", "navbar_persistent"), []),
        "use_download_button": False,
        "use_fullscreen_button": False,
        "home_page_in_toc": True,
        "show_toc_level": 2,
        "secondary_sidebar_items": {"**": ["page-toc"], "translator": [], "index": []},
        "article_footer_items": [],
        "footer_content_items": [],
    },
    "language": "en",
    "suppress_warnings": ["mystnb.unknown_mime_type", "misc.highlighting_failure"],
}


def _announce(page, context, say):
    """Say which lesson is being written, with one line for each and none for other pages. The first page gets no second title."""
    if page == "index":
        context["docstitle"] = ""
    folder, _, name = page.partition("/")
    if folder == "notebooks":
        say(f"writing lesson {name}")


def _run_sphinx(source, out, trees, say):
    from sphinx.application import Sphinx
    from sphinx.util.console import nocolor

    nocolor()
    log = io.StringIO()
    with contextlib.redirect_stderr(log), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings that concern only the libraries
        app = Sphinx(source, None, out, trees, "html", confoverrides=SETTINGS, status=None, warning=log)
        # Keep the pictures of cells beside what Sphinx has read. myst-nb would put a folder beside the pages.
        pictures = str(trees.with_name("pictures"))
        app.env.mystnb_config = app.env.mystnb_config.copy(output_folder=pictures)
        app.connect(
            "env-before-read-docs",
            lambda app, env, names: say(f"reading {count(len(names), 'page')}") if names else None,
        )
        app.connect("html-page-context", lambda app, page, _, context, *__: _announce(page, context, say))
        app.build()
    logging.getLogger("sphinx").handlers.clear()
    for line in sorted(set(filter(None, log.getvalue().splitlines()))):
        say(f"Sphinx: {line.replace(f'{source}/', '')}")
    if app.statuscode:
        raise CourseError("Sphinx could not write the pages: what it says is above.")
