"""How long a check takes, for right and wrong answers of every task, and what importing the package adds.

Among the wrong answers of each task is one that is in no relation to the right one: all relations are tried on it. Each check
is timed as the first of its task, with nothing kept from another.

    python benchmarks/checks.py [--repeats 5] [--seed 0]

Prints minimum, median and maximum seconds a task over the repeats, on this machine, and compares the medians with
the course's promise: 0.3 s in the median task, 1 s in the slowest, 0.3 s for the import. Exits 1 when it is broken.
"""

import statistics
import subprocess
import sys
import time

import torch
from measuring import machine, read_options, spread

from course_utils.base import trees
from course_utils.checks import catalogue
from course_utils.checks.judge_answer import expected_on, judge_answer

MEDIAN_TASK, SLOWEST_TASK, IMPORT = 0.3, 1.0, 0.3  # seconds


def seconds(function, *args):
    start = time.perf_counter()
    function(*args)
    return time.perf_counter() - start


def in_no_relation(task):
    """A wrong answer that nothing explains."""

    def off(leaf):
        if isinstance(leaf, torch.Tensor) and leaf.is_floating_point():
            return 1.07 * leaf + 0.03 * torch.arange(leaf.numel()).reshape(leaf.shape).sin()
        return leaf

    return lambda *args: trees.map_leaves(off, task.oracle_function(*args))


def first_check(task, answer, seed):
    expected_on.cache_clear()
    judge_answer(task, answer, seed)


def import_seconds(code):
    timed = f"import torch, time; start = time.perf_counter(); {code}; print(time.perf_counter() - start)"
    return float(subprocess.run([sys.executable, "-c", timed], capture_output=True, text=True, check=True).stdout)


def main():
    options = read_options(__doc__, repeats=5, seed=0)
    print(machine())
    print(f"{'seconds over ' + str(options.repeats) + ' repeats':34}     min  median     max")
    medians = []
    for task in (task for lesson in catalogue.by_lesson().values() for task in lesson):
        answers = [task.oracle_function, in_no_relation(task), *(mistake.function for mistake in task.mistakes)]
        times = [
            max(seconds(first_check, task, answer, options.seed) for answer in answers) for _ in range(options.repeats)
        ]
        medians.append(statistics.median(times))
        print(f"{task.id:34} {spread(times, '7.3f')}   slowest of {len(answers)} answers")
    added = [import_seconds("import course_utils; course_utils.check") for _ in range(options.repeats)]
    print(f"{'import course_utils and its check':34} {spread(added, '7.3f')}   added to importing torch")
    middle, slowest, imported = statistics.median(medians), max(medians), statistics.median(added)
    print(
        f"median task {middle:.3f} s (promised {MEDIAN_TASK}), slowest {slowest:.3f} s (promised {SLOWEST_TASK}), ",
        end="",
    )
    print(f"import {imported:.3f} s (promised {IMPORT})")
    return int(middle > MEDIAN_TASK or slowest > SLOWEST_TASK or imported > IMPORT)


if __name__ == "__main__":
    sys.exit(main())
