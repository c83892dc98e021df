"""Timing a call in a lesson's kernel."""

import pytest
import torch

from course_lessons.shared.timing import seconds


def test_a_call_is_timed_in_one_thread_and_the_threads_come_back_even_after_an_error():
    seen = []

    def raises():
        seen.append(torch.get_num_threads())
        raise ValueError("stopped")

    torch.set_num_threads(2)
    assert seconds(lambda: seen.append(torch.get_num_threads())) >= 0
    with pytest.raises(ValueError, match="stopped"):
        seconds(raises)
    assert set(seen) == {1} and torch.get_num_threads() == 2
