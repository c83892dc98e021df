"""Stops an answer that computes for too long, whatever it is doing. Knows nothing of tasks or reports.

What counts is processor time, of which a correct answer gets as much on a busy machine as on a quiet one. By the clock it gets
several times as long. What waits without computing, as for a lock, is stopped sooner and reported as waiting.
"""

import ctypes
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from course_utils.base.imports import PACKAGES

IDLE = 0.01  # of the clock's time: what computes for less only waits
IDLE_AFTER = 2  # times its seconds, after which what only waits is stopped
AT_ONCE = 2e-4  # seconds between further alarms, once an answer has swallowed two
WAITING = 10  # times as long by the clock: for what waits, or shares its processor with many others


@dataclass
class Limit:
    """What a body ran into: whether its time was `up`, even if it swallowed that, and whether it `waited`, hardly computing."""

    up: bool = False
    waited: bool = False


class TimeIsUp(BaseException):
    """Raised inside the answer. Not an Exception, so that `except Exception` does not swallow it."""


CLEANS_UP = (*PACKAGES, "contextlib", "torch")  # packages whose `__exit__` restores what the whole process shares


def _raise_everywhere(frame, event, argument):
    if event == "call" and _package(frame) in CLEANS_UP:
        return None
    if event == "line":  # not on "exception": raised there it would still be inside the `try`, and end the tracing
        raise TimeIsUp
    return _raise_everywhere


# An answer's bare `except:` may swallow the exception. A trace function raises it again at the next line of any frame, including the body of
# that `except:`. Python then drops the trace function, so an `except:` around that one may swallow it, too: alarms follow in quick
# succession until one comes outside both.


def _trace_frames(frame, trace, traced):
    """Trace the frames from this one up to ours; what traced them before is added to `traced`."""
    while frame is not None and _package(frame) not in PACKAGES:
        if _package(frame) not in CLEANS_UP:
            traced.append((frame, frame.f_trace))
            frame.f_trace = trace
        frame = frame.f_back


def _package(frame):
    return frame.f_globals.get("__name__", "").partition(".")[0]


def _runs_an_answer(frame):
    """Return whether a frame belongs to what is limited, not to what restores state or to the limit itself."""
    return _package(frame) not in (*CLEANS_UP, "signal", "sys")


def _untrace(traced):
    for frame, before in reversed(traced):
        frame.f_trace = before


@contextmanager
def time_limit(seconds: float, waiting: float = WAITING) -> Iterator[Limit]:
    """Raise TimeIsUp in the body when the process computes for longer than `seconds`, or takes `waiting` times that by the clock.

    What has hardly computed in IDLE_AFTER times `seconds` is stopped then. Yields a `Limit`, which says so.
    """
    in_main_thread = threading.current_thread() is threading.main_thread()
    with (_alarm if in_main_thread and hasattr(signal, "setitimer") else _watchdog)(seconds, waiting) as limit:
        yield limit


@contextmanager
def _alarm(seconds, waiting):
    """Use the operating system's timers, which also interrupt a sleep. For Linux and macOS, in the main thread."""
    traced, limit, alarms = [], Limit(), 0
    computed, clock = time.process_time(), time.monotonic()

    def on_alarm(number, frame):
        nonlocal alarms
        if not alarms and number == signal.SIGALRM:
            took = time.monotonic() - clock
            limit.waited = time.process_time() - computed < IDLE * took
            if took < waiting * seconds and not limit.waited:
                signal.setitimer(signal.ITIMER_REAL, max(waiting * seconds - took, 1e-3), 1.0)
                return
        if alarms > 1 and not _runs_an_answer(frame):
            return
        alarms += 1
        limit.up = True
        if alarms == 2:
            signal.setitimer(signal.ITIMER_REAL, AT_ONCE, AT_ONCE)
        _trace_frames(frame, _raise_everywhere, traced)  # first: with tracing on, this very call would raise
        sys.settrace(_raise_everywhere)
        raise TimeIsUp

    tracer, set_back = sys.gettrace(), []
    for timer, number, now, most in (
        (signal.ITIMER_REAL, signal.SIGALRM, time.monotonic, min(waiting, IDLE_AFTER) * seconds),
        (signal.ITIMER_PROF, signal.SIGPROF, time.process_time, seconds),
    ):
        handler, began = signal.signal(number, on_alarm), now()
        # and again every second, in case one is swallowed
        set_back.append((timer, number, handler, now, began, *signal.setitimer(timer, most, 1.0)))
    try:
        yield limit
    except Exception:
        if limit.up:  # because it was stopped in the middle of a `finally`
            raise TimeIsUp from None
        raise
    finally:
        sys.settrace(tracer)  # first: what is called below must not be raised at
        for timer, *_ in set_back:
            signal.setitimer(timer, 0)
        _untrace(traced)
        for timer, number, handler, now, began, outer, again in set_back:
            signal.signal(number, handler)
            if outer:  # the limit around this one goes on
                signal.setitimer(timer, max(outer - (now() - began), 1e-3), again)


@contextmanager
def _watchdog(seconds, waiting):
    """Use a second thread that asks the interpreter to raise here. For Windows, and for threads other than the main one.

    It cannot interrupt a sleep or, before Python 3.12, a loop whose bare `except:` swallows everything. Its `Limit` says nothing.
    """
    done, thread, traced = threading.Event(), threading.get_ident(), []
    tracer, tracer_of_threads = sys.gettrace(), threading.gettrace()
    trace_all = getattr(threading, "settrace_all_threads", None)

    def trace(frame, event, argument):
        return _raise_everywhere(frame, event, argument) if threading.get_ident() == thread else None

    def watch():
        computed, clock, wait = time.process_time() + seconds, time.monotonic() + waiting * seconds, 0.05
        while not done.wait(wait):
            if time.process_time() < computed and time.monotonic() < clock:
                continue
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(TimeIsUp))
            if trace_all:
                _trace_frames(sys._current_frames().get(thread), trace, traced)
                trace_all(trace)
            wait = 0.5

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield Limit()
    finally:
        sys.settrace(None)  # first: what is called below must not be raised at
        done.set()
        watcher.join()
        if traced:
            trace_all(tracer_of_threads)
            _untrace(traced)
        sys.settrace(tracer)
