"""How long a call takes, for lessons that compare calls. No task is declared here."""

from time import perf_counter

import torch


def seconds(function, *arguments):
    """Return the least time that a function has taken in seven calls, in seconds and with one thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # with tensors as small as a lesson's, several threads would wait for one another
    times = []
    try:
        for _ in range(7):
            began = perf_counter()
            function(*arguments)
            times.append(perf_counter() - began)
    finally:
        torch.set_num_threads(threads)
    return min(times)
