"""Links from one file of the course to another, written so that they work wherever the file is read.

In the course's folder a link is relative, such as `../docs/setup.md`. Colab opens only notebooks, so a published
notebook links to any other file by its address on GitHub; learners' copies and the site have these files beside them again.
"""

import os
import re
from pathlib import Path

from course_utils.authoring.sources import read_text
from course_utils.base.environment import tomllib
from course_utils.base.errors import CourseError

PLACEHOLDER = "github.com/example/"  # in the address of a course that is not published yet
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:|#|mailto:)([^)\s#]+)(#[^)\s]*)?\)")
TO_NO_NOTEBOOK = re.compile(r"\]\(\.\./(?=[^)\s#]+\.(?!ipynb)\w+[#)])")


def is_placeholder(address: str) -> bool:
    """Return whether an address is a placeholder for the one at which the course will be published."""
    return PLACEHOLDER in address


def address_of(root: Path) -> str:
    """Return the repository's address, which is only in pyproject.toml. Raises `CourseError` if it is not there."""
    try:
        return tomllib.loads(read_text(root / "pyproject.toml"))["project"]["urls"]["Repository"].rstrip("/")
    except (OSError, ValueError, KeyError):
        raise CourseError(
            f"{root} holds no pyproject.toml with a Repository address under [project.urls]: "
            "run the build in the course's folder."
        ) from None


def published_address(root: Path) -> str | None:
    """Return the repository's address; None while it is a placeholder."""
    address = address_of(root)
    return None if is_placeholder(address) else address


def absolute(text: str, address: str) -> str:
    """Return a notebook's text in which links to other kinds of files lead to the course's address, once it has one."""
    return text if is_placeholder(address) else TO_NO_NOTEBOOK.sub(f"]({address}/blob/main/", text)


def relative(text: str, address: str) -> str:
    """Return a notebook's text in which links to the course's files are relative again."""
    return text.replace(f"]({address}/blob/main/", "](../")


def redirect_links(text: str, file: str, pages: set[str], repository: str | None) -> str:
    """Return a text in which links to files without a page lead to the repository; `file` is the page that the text is on.

    While the course has no address yet, `repository` is None, and such a link becomes plain text.
    """

    def leading_on(match):
        words, target, anchor = match.groups("")
        path = os.path.normpath(f"{os.path.dirname(file)}/{target}".lstrip("/")).replace(os.sep, "/")
        if path in pages:
            return match[0]
        return f"[{words}]({repository}/blob/main/{path}{anchor})" if repository else words

    return LINK.sub(leading_on, text)
