"""The layers of the package: which one may import which, and that nothing a learner's code can read contains an answer.

The layers are listed here once, from the lowest up. A test fails for a new folder that LAYERS does not list.
The last test holds the names of all tests to their form.
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from course_utils.base.imports import PACKAGES, imported, runs_something
from course_utils.base.paths import LESSONS
from course_utils.grading.sandbox import policy

PACKAGE = policy.PACKAGE
# Each layer may import itself and those before it. A longer path takes precedence over a shorter one.
LAYERS = (
    *("base", "figures", "data", "models", "translation", "training"),
    *("checks/running", "checks", LESSONS, "learner", "authoring", "site"),
    *(f"grading/{package}" for package in ("sandbox", "storage", "ingest", "judging", "reports", "handing_out")),
    *("grading", "workspace", "commands"),
)
FACE = ("__init__.py", "__main__.py")  # of the package: what people call; nothing imports it for its content
NOTEBOOKS = ("lesson.py", "exercises.py")  # what notebooks are built from


def name(path):
    return path.relative_to(PACKAGE.parent).as_posix().removeprefix(f"{PACKAGE.name}/")


FILES = sorted(
    path
    for package in PACKAGES
    for path in (PACKAGE.parent / package).rglob("*.py")
    if name(path) not in FACE and path.parent.name != "alternative_solutions" and path.name not in NOTEBOOKS
)
PAGES = sorted(path for file in NOTEBOOKS for path in PACKAGE.with_name(LESSONS).glob(f"*/{file}"))


def layer(path):
    """The number of the layer that a file is in."""
    packages = [place for place, package in enumerate(LAYERS) if name(path).startswith(f"{package}/")]
    assert packages, f"{name(path)} is in no layer: add its folder to LAYERS"
    return max(packages, key=lambda place: len(LAYERS[place]))


@cache
def arrows():
    """Each file with the files that it imports, also inside functions."""
    found = {}
    for path in (*FILES, *PAGES):
        package = path.parent.relative_to(PACKAGE.parent).parts
        others = imported(PACKAGE.parent, path.read_text(encoding="utf-8"), package)
        found[path] = others - {path, *(PACKAGE.parent / package / "__init__.py" for package in PACKAGES)}
    return found


@pytest.mark.parametrize("path", FILES, ids=name)
def test_modules_import_nothing_from_a_layer_above(path):
    above = [name(other) for other in arrows()[path] if layer(other) > layer(path)]
    assert not above, f"{name(path)} in {LAYERS[layer(path)]} imports {', '.join(above)}, which is above it"


def of_lessons(paths):
    return {path for path in paths if name(path).startswith(f"{LESSONS}/")}


def test_a_lesson_is_imported_by_no_other_lesson_and_no_package():
    for path, others in arrows().items():
        own = {name(path).split("/")[1], "shared"} if of_lessons([path]) else {}
        beyond = [name(other) for other in of_lessons(others) if name(other).split("/")[1] not in own]
        assert not beyond, f"{name(path)} imports {', '.join(beyond)}"


def test_notebooks_import_nothing_private():
    assert len(PAGES) > 40
    for path in PAGES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imports = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
        private = [line for line in imports if re.search(r"[ .]_\w", line)]
        assert not private, f"{name(path)}: {private}"


def test_no_imports_go_in_a_circle():
    left = dict(arrows())
    while leaves := [path for path, others in left.items() if not others & left.keys()]:
        for path in leaves:
            del left[path]
    assert not left, f"these import one another: {', '.join(map(name, left))}"


def test_code_public_in_the_sandbox_imports_no_private_code():
    seen = {path for part in policy.PUBLIC for path in (PACKAGE / part).rglob("*.py")}
    for path, others in arrows().items():
        if path in seen:
            beyond = others - seen
            assert not beyond, f"{name(path)} can be read in the sandbox and imports {', '.join(map(name, beyond))}"


def test_the_folders_above_public_ones_hold_words_only():
    """Their `__init__.py` can be read in the sandbox too; so it imports and defines nothing."""
    for part in policy.PUBLIC:
        for folder in (PACKAGE / part).parents:
            if folder != PACKAGE and folder.is_relative_to(PACKAGE):
                assert not runs_something((folder / "__init__.py").read_text(encoding="utf-8"))


def test_layer_tells_layers_apart_and_refuses_an_unlisted_folder():
    assert layer(PACKAGE / "checks/running/run.py") < layer(PACKAGE / "checks/judge.py")
    with pytest.raises(AssertionError, match="is in no layer"):
        layer(PACKAGE / "attic/old.py")


NAME_AT_MOST = 60
# The name of a test begins with its subject, and these words do not name one.
NO_SUBJECT = set(
    "it its he she they we you this that these those there one ones others nothing something everything anything "
    "nobody somebody everybody whoever whatever who whose what which where when while why how if whether "
    "in on at of to with without by for from after before between inside outside beyond under over among against "
    "during until since through as than".split()
)


def test_names_of_tests_are_short_and_begin_with_a_subject():
    for path in sorted(Path(__file__).parent.glob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        functions = [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        names = [name for name in functions if name.startswith("test_")]
        assert len(names) == len(set(names)), f"{path.name}: two tests have one name, and pytest runs only the last"
        long = [name for name in names if len(name) > NAME_AT_MOST]
        assert not long, f"{path.name}: more than {NAME_AT_MOST} characters: {', '.join(long)}"
        late = [name for name in names if name.split("_")[1] in NO_SUBJECT]
        assert not late, f"{path.name}: begin with the subject: {', '.join(late)}"
