"""Task 22.unpack: numbers of four bits in blocks of 32 that share a scale and a minimum, as GGUF's Q4_1 has them."""

import torch

from course_utils.base.words import count
from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "weights of four bits",
    arguments=("scale N", "minimum N", "packed N×16"),
    result="weights N×32",
    difficulty=2,
    importance=3,
    minutes=15,
    gradient_not_asked=("scale", "minimum"),
)


@task.cases
def _(draw):
    for N in (1, 2, 5):
        scale = draw.numbers(N).abs() + 0.5
        yield Case(count(N, "block"), (scale, draw.numbers(N) - 1, draw.whole(0, 256, N, 16)))
    yield Case("a negative scale", (-draw.numbers(3).abs() - 0.5, draw.numbers(3), draw.whole(0, 256, 3, 16)))
    yield Case(
        "a positive minimum", (draw.numbers(3).abs() + 0.5, draw.numbers(3).abs() + 0.5, draw.whole(0, 256, 3, 16))
    )
    fine = (draw.normal(3).abs() + 0.5) / 20
    yield Case("scales and minima with many decimals", (fine, draw.normal(3) - 1, draw.whole(0, 256, 3, 16)))
    ones = torch.ones(2)
    yield Case("scale 1 and minimum 0", (ones, 0 * ones, draw.whole(0, 256, 2, 16)))
    bytes_of_8_bits = draw.whole(0, 256, 2, 16).to(torch.uint8)
    yield Case("numbers of type uint8", (ones / 2, -ones, bytes_of_8_bits), hazard=True)
    yield Case("no block", (torch.ones(0), torch.ones(0), draw.whole(0, 256, 0, 16)), hazard=True)
