"""Task 90.catch_odd_one: candidates inside a list."""

import torch

from course_utils.checks.task import Candidate, Case, Task


def double(x):
    return 2 * x


def twice(x):
    return x + x


def square(x):
    return x * x


task = Task(
    __name__,
    "do two functions agree?",
    arguments=("pair",),
    result="verdict",
    candidates=(double, twice, square),
    difficulty=1,
    importance=1,
    minutes=5,
)


@task.cases
def _(draw):
    for a, b in ((0, 1), (0, 2), (1, 2), (1, 0), (2, 0)):
        yield Case("two functions", ([Candidate(a), Candidate(b)],))


@task.oracle
def _(pair):
    return square not in pair


@task.mistake()
def always_true(pair):
    return True


@task.mistake()
def always_false(pair):
    return False


@task.mistake()
def second_only(pair):
    return bool(pair[1](torch.tensor(3.0)) == 6)
