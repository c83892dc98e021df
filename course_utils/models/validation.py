"""Checks of a model's sizes and of the ids that it reads. Not here: how text becomes ids (`data/subwords.py`)."""

import torch
from torch import Tensor

from course_utils.base.errors import CourseError
from course_utils.data.subwords import PAD


def check_sizes(least: int, **sizes: int) -> None:
    """Raise `CourseError` for a size of a model below the least."""
    for name, size in sizes.items():
        if not size >= least:
            raise CourseError(f"{name} must be at least {least}, not {size}")


def check_tokens(tokens: Tensor, vocabulary: int, words: bool = False) -> None:
    """Raise `CourseError` for tokens B×T outside the vocabulary and, with `words`, for a row of only padding.

    Only on a CPU and outside compiled code: a GPU would have to wait for the answer.
    """
    if tokens.device.type != "cpu" or torch.compiler.is_compiling() or not tokens.numel():
        return
    if not 0 <= int(tokens.min()) <= int(tokens.max()) < vocabulary:
        raise CourseError(
            f"the ids must lie between 0 and {vocabulary - 1}, the model's vocabulary; "
            f"here they go from {int(tokens.min())} to {int(tokens.max())}"
        )
    if words and not (tokens != PAD).any(1).all():
        row = int((tokens != PAD).any(1).long().argmin())
        raise CourseError(f"sentence {row} has no word: give each sentence at least its EOS")
