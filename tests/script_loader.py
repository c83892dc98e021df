"""The programs in benchmarks/ as modules, for tests of what they measure."""

import importlib.util
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "benchmarks"


def program(name):
    """Load the program of a name, such as "length"."""
    if str(FOLDER) not in sys.path:
        sys.path.append(str(FOLDER))  # where the programs find what they share
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
