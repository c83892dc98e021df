"""The programs in benchmarks/ as modules, for tests of what they measure."""

import importlib.util
from pathlib import Path


def program(name):
    """Load the program of a name, such as "length"."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parents[1] / "benchmarks" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
