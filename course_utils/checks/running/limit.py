"""Stops an answer that computes too long, in the middle of whatever it does. Knows nothing of tasks or reports.

Its own time counts, which the processor spends on it: on a busy machine a right answer has as much as on a quiet one. By the clock it has
several times as long, which stops what only waits.
"""

import ctypes
import signal
import sys
import threading
import time
from contextlib import contextmanager

WAITING = 10  # times as long by the clock: for what waits, or shares its processor with many others


class TimeIsUp(BaseException):
    """Raised inside the answer. Not an Exception, so that `except Exception` does not swallow it."""


CLEANS_UP = ("course_utils", "contextlib", "torch")  # packages whose `__exit__` sets back what the whole process shares


def _raise_everywhere(frame, event, argument):
    if event == "call" and _package(frame) in CLEANS_UP:
        return None
    if event == "line":  # not on "exception": raised there it would still be inside the `try`, and end the tracing
        raise TimeIsUp
    return _raise_everywhere


# An answer's bare `except:` may swallow the exception. A trace function raises it again at every later line of every
# frame, the body of that `except:` included, so the loop is left for good.


def _trace_frames(frame, trace, traced):
    """Trace the frames from this one up to ours; what they had before is added to `traced`."""
    while frame is not None and _package(frame) != "course_utils":
        if _package(frame) not in CLEANS_UP:
            traced.append((frame, frame.f_trace))
            frame.f_trace = trace
        frame = frame.f_back


def _package(frame):
    return frame.f_globals.get("__name__", "").partition(".")[0]


def _untrace(traced):
    for frame, before in reversed(traced):
        frame.f_trace = before


@contextmanager
def time_limit(seconds, waiting=WAITING):
    """Raise TimeIsUp in the body when the process computes for longer than `seconds`, or takes `waiting` times that by the clock."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    with (_alarm if in_main_thread and hasattr(signal, "setitimer") else _watchdog)(seconds, waiting):
        yield


@contextmanager
def _alarm(seconds, waiting):
    """Use the operating system's timers, which also interrupt a sleep. For Linux and macOS, in the main thread."""
    traced = []

    def on_alarm(number, frame):
        _trace_frames(frame, _raise_everywhere, traced)  # first: with tracing on, the call itself would be raised at
        sys.settrace(_raise_everywhere)
        raise TimeIsUp

    tracer, set_back = sys.gettrace(), []
    for timer, number, clock, most in (
        (signal.ITIMER_REAL, signal.SIGALRM, time.monotonic, waiting * seconds),
        (signal.ITIMER_PROF, signal.SIGPROF, time.process_time, seconds),
    ):
        handler, began = signal.signal(number, on_alarm), clock()
        # and once more each second, should one be swallowed
        set_back.append((timer, number, handler, clock, began, *signal.setitimer(timer, most, 1.0)))
    try:
        yield
    finally:
        sys.settrace(tracer)  # first: what is called below must not be raised at
        for timer, *_ in set_back:
            signal.setitimer(timer, 0)
        _untrace(traced)
        for timer, number, handler, clock, began, outer, again in set_back:
            signal.signal(number, handler)
            if outer:  # the limit around this one goes on
                signal.setitimer(timer, max(outer - (clock() - began), 1e-3), again)


@contextmanager
def _watchdog(seconds, waiting):
    """Use a second thread that asks the interpreter to raise here. For Windows, and for other threads than the main one.

    It cannot interrupt a sleep, and before Python 3.12 not a loop whose bare `except:` swallows everything.
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
        yield
    finally:
        sys.settrace(None)  # first: what is called below must not be raised at
        done.set()
        watcher.join()
        if traced:
            trace_all(tracer_of_threads)
            _untrace(traced)
        sys.settrace(tracer)
