"""Task 04.two_projections: a general score as a dot product of two projections. Many pairs are right: their product is compared."""

import torch

from course_utils.base.errors import CourseError
from course_utils.checks.compare import close
from course_utils.checks.task import Case, Task, sizes

task = Task(
    __name__,
    "a general score as two projections",
    arguments=("weight D×E",),
    result="W_sᵀW_h D×E",
    difficulty=2,
    importance=4,
    minutes=10,
)


@task.cases
def _(draw):
    for size in sizes(D=3, E=5):
        yield Case(f"a matrix of {size.D} rows and {size.E} columns", (draw.numbers(size.D, size.E) + 0.25,))
    yield Case("more rows than columns", (draw.numbers(7, 2),))
    yield Case("a square matrix", (draw.numbers(5, 5),))
    twice = draw.numbers(4, 4) + 0.25
    twice[2] = twice[0]
    yield Case("a square matrix in which a row comes twice, so that it has no inverse", (twice,))
    yield Case("a matrix of one row and one column", (draw.numbers(1, 1) - 0.25,), edge=True)
    yield Case("a matrix of zeros", (torch.zeros(2, 3),), edge=True)


@task.oracle
def _(weight):
    return weight


@task.canonical
def _(case, value):
    """What the two projections multiply out to."""
    D, E = case.args[0].shape
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise CourseError("Two matrices are expected, weight_s and weight_h: return them separated by a comma.")
    for name, matrix, columns in zip(("weight_s", "weight_h"), value, (D, E), strict=True):
        if not isinstance(matrix, torch.Tensor) or matrix.dim() != 2 or not matrix.is_floating_point():
            raise CourseError(f"{name} should be a tensor of numbers with two axes.")
        if matrix.shape[1] != columns:
            whose = "a state" if name == "weight_s" else "a hidden state"
            raise CourseError(
                f"{name} should have {columns} columns, the width of {whose}, and one row for each number in the projection. "
                f"Yours has the shape {'×'.join(map(str, matrix.shape))}."
            )
        if not matrix.isfinite().all():
            raise CourseError(f"{name} contains NaN or infinity.")
    weight_s, weight_h = value
    if len(weight_s) != len(weight_h):
        raise CourseError(
            f"weight_s has {len(weight_s)} rows and weight_h has {len(weight_h)}: both projections need the same number of rows, A, "
            "or their results have no dot product."
        )
    return weight_s.mT @ weight_h.to(weight_s.dtype)


@task.property
def what_the_product_is(case, product):
    """W_sᵀ W_h has to be W itself: how it is related to W instead."""
    weight, product = case.args[0].double(), product.double()
    if close(weight, product).all():
        return None
    if times := _times(weight, product):
        return f"W_sᵀ W_h is {times:.4g} times W. No extra factor is needed: one of the two projections can leave its vector as it is."
    if weight.shape[0] == weight.shape[1] and any(_times(w @ weight, product) for w in (weight, weight.mT)):
        return "W is in both of your projections, so it is applied twice: one of them can leave its vector as it is."
    if torch.linalg.matrix_rank(product, rtol=1e-4) < torch.linalg.matrix_rank(weight, rtol=1e-4):
        return "W_sᵀ W_h has a lower rank than W, so your projections lose some of the information that W keeps. They need at least as many independent rows as the rank of W."
    return _stretched(*map(torch.linalg.svdvals, (weight, product)))


def _times(matrix, product):
    """Return the number by which a matrix has to be multiplied to give the product; 0 where there is none but 0."""
    times = float((product * matrix).sum() / matrix.square().sum().clamp(min=1e-12))
    return times if close(times * matrix, product).all() else 0.0


def _stretched(stretches, stretched):
    """Return what the singular values of W and of a product of the same rank say."""
    if close(torch.ones_like(stretched), stretched).all():
        return "All singular values of W_sᵀ W_h are 1: those of W are missing."
    if close(stretches, stretched).all():
        return "W_sᵀ W_h stretches vectors as W does but rotates them differently. Is one of your two matrices transposed where it should not be, or not transposed where it should be?"
    if close(stretches.sqrt(), stretched).all():
        return "W_sᵀ W_h has the square roots of W's singular values: multiply both sides by the root, or one side by the values themselves."
    return "W_sᵀ W_h, the product of your two projections, has to be W itself, entry by entry."
