"""The pipe between the trusted side and a learner's process: frames of a length, a nonce, and a packed value.

A reply counts only if it carries the nonce of the request it answers, and neither side reads more than it was told.
"""

import os
import select
import struct
import time

from course_utils.checks.running.contract import unpack

NONCE = 16  # bytes
MAGICS = ("time", "prun", "capture")  # IPython commands that run their code in a learner's process; others do nothing
STARTED, ENDED = struct.Struct("q"), struct.Struct("iidq")  # pid; status, signal, CPU seconds, peak kilobytes
SAID_AT_MOST = 200  # answers to questions, and characters of one
LARGEST = 4 * 2**20  # bytes of a reply; right results are a thousand times smaller


class Closed(Exception):
    """The other side is gone."""


class NoReplyInTime(Exception):
    """No whole reply came in time."""


class Garbled(Exception):
    """The data received is not a reply to the request: too long, with a different nonce, or impossible to unpack."""


def write(pipe: int, nonce: bytes, body: bytes, deadline: float | None = None) -> None:
    """Write one frame. With a deadline `pipe` must not block. Raises Closed, or NoReplyInTime if the other side reads too slowly."""
    frame = memoryview(len(body).to_bytes(8, "big") + nonce + body)
    while frame:
        _wait(pipe, select.POLLOUT, deadline)
        try:
            frame = frame[os.write(pipe, frame) :]
        except BlockingIOError:
            continue
        except BrokenPipeError:
            raise Closed from None


def read(pipe: int) -> tuple[bytes, object]:
    """Read a request, in a learner's process: its nonce and its value. Raises Closed."""
    head = _read_exactly(pipe, 8 + NONCE)
    return head[8:], unpack(_read_exactly(pipe, int.from_bytes(head[:8], "big")))


def read_reply(pipe: int, nonce: bytes, deadline: float) -> bytes:
    """Read a reply, on the trusted side; it is still packed. Raises Closed, NoReplyInTime (past `deadline` of time.monotonic) or Garbled."""
    head = _read_exactly(pipe, 8 + NONCE, deadline)
    size = int.from_bytes(head[:8], "big")
    if size > LARGEST or head[8:] != nonce:
        raise Garbled
    return _read_exactly(pipe, size, deadline)


def unpack_reply(body: bytes) -> object:
    """Return a reply's value. Raises Garbled."""
    try:
        return unpack(body)
    except ValueError:
        raise Garbled from None


def _read_exactly(pipe, size, deadline=None):
    """Return `size` bytes. A deadline is for all of them together, however slowly they drip."""
    received = bytearray()
    while len(received) < size:
        _wait(pipe, select.POLLIN, deadline)
        part = os.read(pipe, min(size - len(received), 2**20))
        if not part:
            raise Closed
        received += part
    return bytes(received)


def _wait(pipe, event, deadline):
    if deadline is None:
        return
    waiter = select.poll()
    waiter.register(pipe, event)
    remaining = deadline - time.monotonic()
    if remaining <= 0 or not waiter.poll(1000 * remaining):
        raise NoReplyInTime
