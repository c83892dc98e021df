"""Timing a call in a lesson's kernel."""

import pytest
import torch

from course_lessons.shared.timing import seconds


def test_seconds_uses_one_thread_and_restores_them_after_errors():
    seen = []

    def raises():
        seen.append(torch.get_num_threads())
        raise ValueError("stopped")

    torch.set_num_threads(2)
    assert seconds(lambda: seen.append(torch.get_num_threads())) >= 0
    with pytest.raises(ValueError, match="stopped"):
        seconds(raises)
    assert set(seen) == {1} and torch.get_num_threads() == 2
