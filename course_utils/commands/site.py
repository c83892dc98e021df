"""`course site`: writes the course as web pages (`site/`)."""

from functools import partial
from hashlib import sha256
from pathlib import Path

from course_utils.base.paths import course_folder, is_clone

WORDS = "Write the course as a folder of web pages, which needs no server."


def add_arguments(parser) -> None:
    """Add lessons, --out and --without-solutions."""
    parser.add_argument("lessons", nargs="*", metavar="LESSON", help="such as 03; all if left out")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="the folder that is written (site, in the folder of a clone or else in the current one)",
    )
    parser.add_argument("--without-solutions", action="store_true", help="show exercises and hints, and no solutions")


def run(options) -> int:
    """Write the pages and say where they are."""
    root = course_folder()
    words = "With all lessons this takes about five minutes the first time. Later only what has changed is written."
    print(f"Writing the web pages. {words}", flush=True)  # before the next imports, which take seconds
    from course_utils.data.download import cache_folder
    from course_utils.site.build import build_site

    out = (options.out or (root if is_clone(root) else Path()) / "site").resolve()
    kept = cache_folder() / "site" / sha256(str(out).encode()).hexdigest()[:16]
    count = build_site(root, out, options.lessons, not options.without_solutions, kept, partial(print, flush=True))
    print(f"{count} pages are in {out}: open {out / 'index.html'} in a browser.")
    return 0
