"""What the programs share: their options, one thread, the loop over setups and seeds that fills a table, what a lesson's page defines, and lines about speed.

A table is `course_utils/data/measured_tables/NAME.csv`, which `course_utils/data/measured.py` reads. What is in it already is not
measured again, so a program can be stopped and started again. To measure anew, delete the rows first.
"""

import argparse
import ast
import csv
import math
import platform
import statistics
import time
from pathlib import Path
from types import SimpleNamespace

import torch

from course_utils.base.paths import source_of
from course_utils.data import measured


def read_options(doc: str, seeds=None, **more) -> argparse.Namespace:
    """Return what the command line says, and compute with one thread from here on.

    Args:
        doc: the program's text, whose first line says what it does.
        seeds: how many there are, or a list of them, if nothing else is said; None if the program has no seeds.
        more: other options by name, each with its value if nothing else is said, or with what argparse is told of it.
            `runs` has no name on the command line.
    """
    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(description=doc.split("\n")[0])
    if isinstance(seeds, int):
        parser.add_argument("--seeds", type=int, default=seeds, help="how many")
    elif seeds:
        parser.add_argument("--seeds", type=int, nargs="+", default=seeds, help="which ones")
    for name, setting in more.items():
        if isinstance(setting, bool):
            setting = {"action": "store_true"}
        elif not isinstance(setting, dict):
            setting = {"type": type(setting), "default": setting}
        parser.add_argument("runs" if name == "runs" else f"--{name.replace('_', '-')}", **setting)
    options = parser.parse_args()
    if isinstance(seeds, int):
        options.seeds = range(options.seeds)
    return options


def jobs(setups, seeds, fewer=None):
    """Return (*setup, seed) for each seed and each setup, a name or a tuple; `fewer` says for some of their parts how many seeds they have."""
    tuples = [setup if isinstance(setup, tuple) else (setup,) for setup in setups]
    fewer = fewer or {}
    return [
        (*setup, seed) for seed in seeds for setup in tuples if all(seed < fewer.get(part, math.inf) for part in setup)
    ]


def read(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table, none if it is not there."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def fill(table: str | Path, columns: str, jobs, measure) -> None:
    """Measure what a table does not hold yet, write it with four digits after the point, and tell of it.

    Args:
        table: its name, or its path if it is another one than the course's.
        columns: of the table, with spaces between them; the first ones say what a job is.
        jobs: tuples, one value for each of these first columns.
        measure: function(values of a job) returns what stands behind these values, a list for each row.
    """
    names, path = columns.split(), table if isinstance(table, Path) else measured.FOLDER / f"{table}.csv"
    if not path.is_file():
        _append(path, [names])
    rows = read(path)
    for job in jobs:
        place = dict(zip(names, map(str, job), strict=False))
        if not any(place.items() <= row.items() for row in rows):
            found = [[round(x, 4) if isinstance(x, float) else x for x in row] for row in measure(*job)]
            _append(path, [[*job, *row] for row in found])
            print(*job, found, flush=True)


def _append(path, rows):
    with path.open("a", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def page(name, **known) -> SimpleNamespace:
    """Return what a lesson's page, such as "12_transformer", defines: classes, functions and constants such as PAD; they also know what is given by name."""
    path = Path(__file__).parents[1] / source_of("notebooks", name)
    kinds = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [node for node in tree.body if isinstance(node, kinds) or _is_constant(node)]
    found = dict(known)
    exec(compile(tree, path.name, "exec"), found)
    return SimpleNamespace(**found)


def _is_constant(node):
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant()):
            return name.isupper() and len(name) > 1
    return False


def timed(function, *arguments, **more):
    """Call a function; return what it returns and the seconds of CPU time that it took."""
    began = time.process_time()
    found = function(*arguments, **more)
    return found, round(time.process_time() - began, 1)


def spread(values, form="10,.0f") -> str:
    """Return minimum, median and maximum in a format."""
    return " ".join(f"{value:{form}}" for value in (min(values), statistics.median(values), max(values)))


def machine(device=None) -> str:
    """Return what a measurement was made with: versions, and the GPU or CPU."""
    gpu = device is not None and device.type == "cuda"
    where = torch.cuda.get_device_name(device) if gpu else platform.processor() or platform.machine()
    return f"Python {platform.python_version()}, torch {torch.__version__}, {where}"
