"""Task 04.two_projections: a general score as a dot product of two projections. Many pairs are right: their product is compared."""

import torch

from course_utils.base.errors import CourseError
from course_utils.checks.compare import close
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, sizes

task = Task(
    "04.two_projections",
    "a general score as two projections",
    arguments=("weight D×E",),
    result="W_sᵀW_h D×E",
    difficulty=2,
    importance=4,
    minutes=10,
    hints=(
        "Multiply out (W_s s)ᵀ (W_h h). The product between sᵀ and h has to be W. You are free to choose one of the two projections "
        "as simply as you like.",
        "Take W = [[2, 0, 1]], with D = 1 and E = 3. The projections W_s = [[2]] and W_h = [[1, 0, 0.5]] are right, since 2·1 = 2, 2·0 = 0 and "
        "2·0.5 = 1. Here A is 1.",
        "(W_s s)ᵀ (W_h h) = sᵀ (W_sᵀ W_h) h. With A = D, let W_s be the identity matrix of D rows; then find what W_h has to be.",
    ),
)


@task.cases
def _(draw):
    for size in sizes(D=3, E=5):
        yield Case(f"a matrix of {size.D} rows and {size.E} columns", (draw.numbers(size.D, size.E) + 0.25,))
    yield Case("more rows than columns", (draw.numbers(7, 2),))
    yield Case("a square matrix", (draw.numbers(5, 5),))
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


@task.mistake(
    "Your two projections give the score of the transposed matrix. (W_s s)ᵀ (W_h h) is sᵀ (W_sᵀ W_h) h, and W_sᵀ W_h has to be W."
)
def transposed(weight):
    return weight, torch.eye(weight.shape[1], dtype=weight.dtype)


@task.mistake(
    "Both of your projections contain all of W, so W is applied twice. One of them has to leave the vector as it is."
)
def twice(weight):
    return weight.mT, weight


@task.mistake("Your projections do not depend on W: their product is the same matrix of ones for every W.")
def ones(weight):
    return torch.ones(1, len(weight)), torch.ones(1, weight.shape[1])


@task.mistake(
    "The singular values are missing. W = U diag(S) Vᵀ, and U Vᵀ alone rotates a vector without stretching it: multiply one side by S."
)
def without_singular_values(weight):
    left, _, right = torch.linalg.svd(weight, full_matrices=False)
    return left.mT, right


@task.mistake(
    "The singular values are applied twice, once on each side. Multiply one side by S, or each by the square root of S."
)
def singular_values_twice(weight):
    left, values, right = torch.linalg.svd(weight, full_matrices=False)
    return (left * values).mT, values[:, None] * right


task.mistake(
    "Both of your projections are W itself, so W is applied twice, and unless W is square, one of them does not even fit its vectors. One of them can leave its vector as it is.",
    "w_itself_twice",
)(lambda weight: (weight, weight))
task.mistake(
    "Both of your projections are W transposed, so W is applied twice, and unless W is square, one of them does not even fit its vectors. One of them can leave its vector as it is.",
    "w_transposed_twice",
)(lambda weight: (weight.mT, weight.mT))


@task.mistake(
    "You take the square root of each entry of W. But a matrix product sums products of entries over whole rows and columns, so it does not give W's entries back."
)
def roots_of_numbers(weight):
    return weight.abs().sqrt().mT, weight.abs().sqrt()
