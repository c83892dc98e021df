"""Writes autograders for Gradescope: a zip for each lesson, to be uploaded as it is to the page of a programming assignment.

    setup.sh              runs once, when Gradescope builds the image: installs Python and the course
    run_autograder        runs for each submission: `course grade`, and its results.json
    attention-course.zip  the course without its solutions
    class.toml            the class's settings, if there are any

See https://gradescope-autograders.readthedocs.io/en/latest/specs/ for what Gradescope runs and where.
"""

from pathlib import Path

from course_utils.base.paths import number_of
from course_utils.grading.handing_out import package, release

SETUP = """\
#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the autograder's image.
set -e
here=$(cd "$(dirname "$0")" && pwd)
apt-get update
apt-get install -y python3 python3-venv bubblewrap
python3 -m venv "$here/../environment"
# PyTorch's builds for a CPU, which are a tenth as large
export PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu
"$here/../environment/bin/python" -m pip install --quiet "$here/attention-course.zip"
"""

RUN = """\
#!/usr/bin/env bash
# Gradescope runs this for each submission: submission/ holds what a student has handed in, results/results.json is what they see.
here=$(cd "$(dirname "$0")" && pwd)
cd /
work=$(mktemp -d)
mkdir "$work/in"
cp -r "$here/submission" "$work/in/student"
# One run, with all locks that this container gives. Where they are too few it says "Unsafe" and grades nevertheless: a submission
# that wants to can then write its own results. There is no second run, which a submission could bring about.
"$here/environment/bin/course" grade "$work/in" --out "$work/out" --lessons {lesson} --workers 1 --unsafe{settings}
mkdir -p "$here/results"
cp "$work/out/gradescope/student.json" "$here/results/results.json"
rm -rf "$work"
"""


def export(root: Path, names: list[str], out: Path, settings: Path | None, force: bool = False) -> list[Path]:
    """Write an autograder for each lesson, out/autograder-NN.zip; return their paths.

    Args:
        root: the folder of the course.
        names: lessons as "03" or "03_queries_keys_values"; all for none.
        out: the folder that the zips go into.
        settings: the instructor's file, which is included.
        force: overwrite even files that hold something else.
    """
    course = package.package(root, "Your instructor has the solutions.")
    made = {
        out / f"autograder-{number_of(lesson)}.zip": _autograder_zip(number_of(lesson), course, settings)
        for lesson in release.lessons(root, names)
    }
    release.write_all(made, force)
    return list(made)


def _autograder_zip(lesson, course, settings):
    run = RUN.format(lesson=lesson, settings=' --settings "$here/source/class.toml"' if settings else "")
    content = {"setup.sh": SETUP.encode(), "run_autograder": run.encode(), package.NAME: course}
    if settings:
        content["class.toml"] = settings.read_bytes()
    return package.zipped(content, 0o755)
