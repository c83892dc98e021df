"""The learner's own copies of lessons and exercises: made if missing, never overwritten here.

    notebooks/NN_topic.ipynb  -> my_course/notebooks/NN_topic.ipynb   the same cells, without outputs
    exercises/NN_topic_exercises.ipynb  -> my_course/exercises/NN_topic_exercises.ipynb
    docs/page.md  -> my_course/docs/page.md   linked from notebooks; always overwritten

A copy's metadata records what it was copied from: the ids of the cells, with a hash of each one's source. The copy alone therefore
shows what the learner has changed, wherever it has been taken. `updating.py` brings a new version into a copy.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from course_utils.authoring.links import published_address, redirect_links, relative
from course_utils.authoring.notebook_builder import cell_id, content_hash
from course_utils.base.environment import kernel_metadata
from course_utils.base.errors import CourseError
from course_utils.base.files import write
from course_utils.base.paths import OWN, course_of, file_of, name_of, names_in, number_of
from course_utils.grading.ingest.notebook_file import (
    INVALID,
    Unreadable,
    cells_of,
    line_it_breaks_off_at,
    open_conflict,
    read_own,
)

KINDS = ("code", "markdown", "raw")
SAME = 9  # cells with the same text that a notebook may have
COPIED = ("notebooks", "exercises")
EARLIER = f"{OWN}/earlier"  # copies from before an update, and files handed in earlier
HANDED_IN = f"{OWN}/handed_in"


@dataclass(frozen=True)
class Place:
    """One notebook of the course, such as folder "exercises" and name "02_weighted_sums", and the learner's copy of it."""

    root: Path  # the folder that contains my_course
    folder: str
    name: str

    @property
    def built(self) -> str:
        """The course's own notebook, as a path below the course's folder."""
        return file_of(self.folder, self.name)

    @property
    def original(self) -> Path:
        """The course's own notebook, wherever it is."""
        return course_of(self.root) / self.built

    @property
    def own(self) -> str:
        """The learner's copy, as a path below the root."""
        return f"{OWN}/{self.built}"

    @property
    def formerly(self) -> str:
        """What the learner's copy was called when exercises had the same file names as lessons."""
        return f"{OWN}/{self.folder}/{self.name}.ipynb"


def places(root: Path) -> Iterator[Place]:
    """Yield the course's notebooks that are copied, each lesson before its exercises."""
    found = [Place(root, folder, name) for folder in COPIED for name in names_in(course_of(root), folder)]
    return iter(sorted(found, key=lambda place: (place.name, COPIED.index(place.folder))))


def rename_old(root: Path, say: Callable[[str], None] = print) -> None:
    """Rename each copy that has its former name, unless a copy with the present name exists; say so."""
    renamed = []
    for place in places(root):
        former, now = root / place.formerly, root / place.own
        if former == now or not former.exists():
            continue
        if now.exists():
            say(
                f"Both {place.own} and {place.formerly} are there, and the first one counts. Take over what you need from the second, then delete it."
            )
            continue
        former.rename(now)
        renamed.append(place.own)
    if renamed:
        say(f"Your exercises have new file names, such as {renamed[0]}, and hold what you have written as before.")


def make_missing(root: Path) -> list[Place]:
    """Make the missing copies; return those that include somebody's work, which was in the course's own notebook.

    A notebook that cannot be read is skipped: one broken lesson blocks no other.
    """
    with_work = []
    for place in places(root):
        path = root / place.own
        try:
            if path.exists() or (built := read_original(place)) is None:
                continue
        except CourseError:
            continue
        untouched = is_as_built(place.original)
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, to_text(copy_of(place, built, untouched)))
        if not untouched:
            with_work.append(place)
    return with_work


def newer(root: Path, name: str = "") -> list[Place]:
    """Return the copies that the course has a newer version of, for one lesson such as "02_weighted_sums" or for all."""
    found = []
    for place in places(root):
        if name and place.name != name:
            continue
        try:
            own, built = read(root / place.own), read_original(place)
        except CourseError:
            continue
        known = own and copied(own)
        if known and built and known["version"] != version_of(built) and is_as_built(place.original):
            found.append(place)
    return found


def say_what_is_newer(root: Path, name: str = "") -> None:
    """Print which lessons have a newer version than the learner's copies, if any; `name` as in `newer`."""
    if numbers := list(dict.fromkeys(number_of(place.name) for place in newer(root, name))):
        print(
            f"There is a newer version of {', '.join(numbers)}: `course update` brings it, and what you have written stays."
        )


def bring_pages(root: Path) -> None:
    """Write the pages that notebooks link to beside the copies, so that the links work there."""
    course = course_of(root)
    files = sorted(course.glob("docs/*.md"))
    if not files:
        return
    (root / OWN / "docs").mkdir(parents=True, exist_ok=True)
    address, known = published_address(course), {f"docs/{file.name}" for file in files}
    for file in files:
        text = redirect_links(file.read_text(encoding="utf-8"), f"docs/{file.name}", known, address)
        write(root / OWN / "docs" / file.name, text)


# A notebook as a dict


def keep(root: Path, folder: str, path: Path) -> str:
    """Copy a notebook as it is now into a folder of `EARLIER`; return the path below `root`, the folder that contains my_course."""
    (root / EARLIER / folder).mkdir(parents=True, exist_ok=True)
    stem, number = f"{path.stem}_{datetime.now():%Y-%m-%d_%H-%M-%S}", 1
    while (copy := root / EARLIER / folder / f"{stem}{f'_{number}' * (number > 1)}.ipynb").exists():
        number += 1
    write(copy, path.read_bytes())
    return copy.relative_to(root).as_posix()


def read_original(place: Place) -> dict | None:
    """Return the course's own notebook as `read` does, with links as in a copy."""
    built, address = read(place.original), published_address(course_of(place.root))
    if built is None or address is None:
        return built
    cells = [
        cell | {"source": relative(cell["source"], address)} if cell["cell_type"] == "markdown" else cell
        for cell in built["cells"]
    ]
    return built | {"cells": cells}


def read(path: Path) -> dict | None:
    """Return a notebook, each cell with its id, or None, and its source as one text; None if there is no file. Raises `CourseError`."""
    if not path.exists():
        return None
    try:
        notebook = read_own(path)
        cells = [with_id(cell) for cell in cells_of(notebook)]
        if "worksheets" in notebook or any(cell["cell_type"] not in KINDS or cell["source"] is None for cell in cells):
            raise Unreadable
    except Unreadable:
        text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
        anew = _how_to_begin_anew(path)
        if conflict := open_conflict(text):
            raise CourseError(
                f"{path}: {conflict} Choose one of them, and see that JupyterLab opens it. Else move it elsewhere: {anew}"
            ) from None
        if path.is_file() and not text.strip("\0 \t\r\n"):  # as after a full disk
            raise CourseError(f"{path} is empty. Move it elsewhere: {anew}") from None
        if line := line_it_breaks_off_at(text):
            raise CourseError(f"{path} breaks off in the middle, at line {line}. Move it elsewhere: {anew}") from None
        raise CourseError(
            f"{path} cannot be read as a notebook of today's format. If JupyterLab opens it, save it there. Else move it elsewhere: {anew}"
        ) from None
    return notebook | {"cells": cells, "metadata": a_dict(notebook.get("metadata"))}


def _how_to_begin_anew(path):
    """Say how to get a new copy, and where earlier contents of this one are."""
    sentence, own = "`course lab` makes a new copy.", path.parent.parent
    if earlier := sorted((own.parent / EARLIER / path.parent.name).glob(f"{path.stem}_[0-9]*.ipynb")):
        sentence += f" {EARLIER}/{path.parent.name}/{earlier[-1].name} holds what it was before the last update."
    handed_in = f"{HANDED_IN}/{name_of(path)}.ipynb"
    if path.parent.name == COPIED[1] and (own.parent / handed_in).is_file():
        sentence += f" {handed_in} holds the answers that you have handed in."
    return sentence


def with_id(cell: dict) -> dict:
    """Return a cell with its id, None if it has none. Colab keeps it in the metadata, the only place for it in older notebooks."""
    metadata = a_dict(cell.get("metadata"))
    identity = cell.get("id", metadata.get("id"))
    right = isinstance(identity, str) and re.fullmatch(r"[\w-]{1,64}", identity, re.ASCII)
    return cell | {"id": identity if right else None, "metadata": metadata}


def a_dict(value: object) -> dict:
    """Return a notebook's value if it is a dict; else {}: other programs may write anything."""
    return value if isinstance(value, dict) else {}


def to_text(notebook: dict) -> str:
    """Return a notebook as the text of its file, as Jupyter writes it, with � for half a surrogate pair, which no file can hold."""
    return INVALID.sub("\ufffd", json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False)) + "\n"


def is_as_built(path: Path) -> bool:
    """Return whether a course notebook is exactly as the build wrote it: somebody may have worked in it."""
    try:
        notebook = read_own(path)
        return notebook["metadata"]["course"]["content"] == content_hash(notebook)
    except (Unreadable, KeyError, TypeError, AttributeError):
        return False


# What a copy consists of


def copy_of(place: Place, built: dict, untouched: bool = True) -> dict:
    """Return the learner's copy of a notebook of the course: without outputs, so that no result is seen before it is predicted.

    If somebody has worked in the course's own notebook, the cells they changed count as the learner's.
    """
    metadata = {key: built["metadata"][key] for key in ("kernelspec", "language_info") if key in built["metadata"]}
    metadata |= kernel_metadata()
    originals = [cell for cell in built["cells"] if cell["id"] and (untouched or is_original(place, cell))]
    known = {cell["id"]: cell_digest(cell) for cell in originals}
    metadata["course"] = {
        "lesson": number_of(place.name),
        "name": place.name,
        # The keys of "cells" are sorted when they are written.
        "copied": {"version": version_of(built), "cells": known, "order": list(known)},
    }
    return built | {"cells": [fresh(cell) for cell in built["cells"]], "metadata": metadata}


def fresh(cell: dict) -> dict:
    """Return a cell of the course as in a copy: not run yet, and with its output unfolded, so that a run shows it."""
    metadata = {key: value for key, value in cell["metadata"].items() if key != "jupyter"}
    if folded := {k: v for k, v in a_dict(cell["metadata"].get("jupyter")).items() if k != "outputs_hidden"}:
        metadata["jupyter"] = folded
    unrun = {"outputs": [], "execution_count": None} if cell["cell_type"] == "code" else {}
    named = cell if cell["id"] else {key: value for key, value in cell.items() if key != "id"}
    return named | {"metadata": metadata} | unrun


def copied(own: dict) -> dict | None:
    """Return what a copy was copied from, {"version": …, "cells": {id: hash}}; None if it does not say."""
    base = a_dict(a_dict(own["metadata"].get("course")).get("copied"))
    hashes = [base.get("version"), *a_dict(base.get("cells")).values()]
    right = isinstance(base.get("cells"), dict) and all(isinstance(one, str) for one in hashes)
    if not right:
        return None
    order = base["order"] if isinstance(base.get("order"), list) else []
    known = [name for name in order if isinstance(name, str) and name in base["cells"]]
    return base | {"cells": {name: base["cells"][name] for name in [*known, *base["cells"]]}}


def version_of(built: dict) -> str:
    """Return a short hash of everything a learner sees of a course notebook."""
    cells = [[cell["id"], cell["cell_type"], cell["source"], fresh(cell)["metadata"]] for cell in built["cells"]]
    return hashlib.sha256(json.dumps(cells, sort_keys=True).encode()).hexdigest()[:16]


def cell_digest(cell: dict) -> str:
    """Return a short hash of a cell's type and source, ignoring blanks that an editor may leave at either end."""
    text = cell["source"].replace("\r\n", "\n").strip()
    return hashlib.sha256(f"{cell['cell_type']}\n{text}".encode(errors="replace")).hexdigest()[:16]


def is_original(place: Place, cell: dict) -> bool:
    """Return whether a cell is as the build made it: its id then follows from its text."""
    return cell["id"] in {cell_id(place.folder, place.name, cell["source"], time) for time in range(1, SAME + 1)}
