"""`course doctor`: says in one table whether this environment can run the course, and what to do if it can't.

Nothing here uses the network or changes anything. In a notebook `from course_utils import doctor` gives the same table.
"""

import os
import sys
from dataclasses import dataclass
from html import escape
from importlib.util import find_spec
from pathlib import Path

from course_utils.base.environment import (
    GET_CHROMIUM,
    INSTALL,
    KERNEL_NAME,
    PYTHONS,
    find_chromium,
    kernel_is_ours,
    right_python,
)

WORDS = "Say in one table whether everything is there, and what to do where not."
OLDEST_TORCH = (2, 4)
LEAST_MEMORY = 4  # GB
TRANSLATION = ("safetensors", "sacrebleu", "tokenizers", "tqdm")  # what `course train` needs on top


def add_arguments(parser) -> None:
    """Add nothing: the whole table is short."""


def run(options) -> int:
    """Print the table; 1 if anything in it is still to do."""
    report = doctor()
    print(report)
    return 0 if all(row.ok for row in report.rows) else 1


@dataclass(frozen=True)
class Row:
    """One line of the table; `advice` is empty if there is nothing to do or note."""

    name: str
    value: str
    ok: bool
    advice: str = ""


class Report:
    """The rows, as text in a terminal and as a table in a notebook."""

    def __init__(self, rows):
        self.rows = rows

    def __str__(self):
        cells = [(row.name, row.value, _verdict(row)) for row in self.rows]
        widths = [max(len(line[column]) for line in cells) for column in (0, 1)]
        return "\n".join(f"{name:{widths[0]}}  {value:{widths[1]}}  {say}" for name, value, say in cells)

    __repr__ = __str__

    def _repr_html_(self):
        lines = "".join(
            f'<tr><th scope="row" style="text-align:left">{escape(row.name)}</th>'
            f'<td style="text-align:left">{escape(row.value)}</td>'
            f'<td style="text-align:left">{escape(_verdict(row))}</td></tr>'
            for row in self.rows
        )
        head = "".join(f'<th scope="col" style="text-align:left">{name}</th>' for name in ("", "here", "verdict"))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"


def doctor() -> Report:
    """Return the table for the last line of a cell."""
    return Report(rows())


def rows() -> list[Row]:
    """Look at everything a lesson needs; a row that is not ok always carries advice."""
    return [_python(), *_torch(), _translation(), _memory(), _kernel(), *_data(), _chromium(), _sandbox()]


def _verdict(row):
    if not row.ok:
        return f"TO DO: {row.advice}"
    return f"ok; {row.advice}" if row.advice else "ok"


def _python():
    value = ".".join(map(str, sys.version_info[:3]))
    oldest, newest = (".".join(map(str, version)) for version in PYTHONS)
    return Row("Python", value, right_python(), "" if right_python() else f"install Python {oldest} to {newest}")


def _torch():
    try:
        import torch
    except (ImportError, OSError) as error:  # OSError: a library that torch needs does not load
        return [Row("torch", f"does not load ({type(error).__name__})", False, f"run `{INSTALL}`")]
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    old = version < OLDEST_TORCH
    return [
        Row("torch", torch.__version__, not old, f"run `{INSTALL}`: the course needs 2.4 or newer" if old else ""),
        Row("device", _device(torch), True),
        Row("threads", str(torch.get_num_threads()), True),
    ]


def _device(torch):
    if torch.cuda.is_available():
        return f"cuda ({torch.cuda.get_device_name()})"
    return "mps (Apple GPU)" if torch.backends.mps.is_available() else "cpu (enough for every lesson)"


def _translation():
    missing = [library for library in TRANSLATION if find_spec(library) is None]
    if missing:
        return Row("translators", f"{', '.join(missing)} missing", False, f"run `{INSTALL}`")
    return Row("translators", "their libraries are there", True)


def _memory():
    try:
        import psutil
    except ImportError:
        return Row("memory", "unknown: psutil is missing", False, f"run `{INSTALL}`")
    memory = psutil.virtual_memory()
    free, total = (size / 2**30 for size in (memory.available, memory.total))
    advice = "close other programs if a lesson stops" if free < LEAST_MEMORY else ""
    return Row("memory", f"{free:.1f} GB free of {total:.1f} GB", True, advice)


def _kernel():
    if find_spec("ipykernel") is None:
        return Row("kernel", "ipykernel is missing", False, f"run `{INSTALL}`")
    ipython = sys.modules.get("IPython")
    if ipython and type(ipython.get_ipython()).__name__ == "ZMQInteractiveShell":
        return Row("kernel", "running this notebook", True)
    if kernel_is_ours():
        return Row("kernel", f"{KERNEL_NAME} (python3)", True)
    return Row("kernel", "not set up yet", True, "`course lab` sets it up")


def _data():
    return [
        _files("reviews", "sst2/", "SST-2", "generated reviews"),
        _files("translations", "multi30k/", "Multi30k", "the generated world"),
        _files("language model", "smollm2/", "SmolLM2", "a tiny random model"),
    ]


def _files(name, folder, data_set, stand_in):
    """Return the row for a data set: whether it is there, and what stands in for it until then."""
    from course_utils.data import download

    mirror = download.named_mirror()
    place = mirror if isinstance(mirror, Path) else download.cache_folder()
    if all((place / path).is_file() for path in download.REGISTRY if path.startswith(folder)):
        source = "the folder in COURSE_DATA_MIRROR" if place is mirror else "this computer's cache"
        return Row(name, f"{data_set}, from {source}", True)
    if place is mirror:
        return Row(name, stand_in, False, f"COURSE_DATA_MIRROR lacks {data_set}: mend it or unset it")
    return Row(name, f"{stand_in}, until {data_set} is there", True, "`course data` downloads it")


def _chromium():
    name, path = "Chromium (for developers)", find_chromium()
    if path:
        return Row(name, path.replace(os.path.expanduser("~"), "~", 1), True)
    return Row(name, "not found", True, f"only the browser test needs it: {GET_CHROMIUM}")


def _sandbox():
    from course_utils.grading.sandbox import policy

    name, layers = "locks (for teachers)", policy.available()
    if layers.safe:
        return Row(name, str(layers), True)
    return Row(name, str(layers), True, f"only `course grade` needs them: {policy.WAYS_OUT}")
