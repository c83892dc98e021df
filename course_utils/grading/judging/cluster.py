"""Grading on a dask cluster: the same graders in the workers' processes, notebooks in batches, verdicts back as JSON.

A notebook's bytes travel with its task, so workers need no shared disk. Each worker sets up its own sandbox and refuses
to grade without one. If a worker is killed, nothing is lost: dask gives its batches to another. The files of a batch
that keeps killing workers are graded last, one at a time and alone, so that only the one at fault pays for it.

Only a function's name and plain values made here are pickled; a learner's data is never unpickled as more than
bytes. A scheduler runs whatever it is sent: keep it in a private network, or use dask's TLS.
"""

import faulthandler
import json
import logging
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import cache
from pathlib import Path

from course_utils.base.errors import CourseError
from course_utils.grading.ingest.submissions import Found
from course_utils.grading.judging import pool
from course_utils.grading.judging.budget import Limits
from course_utils.grading.judging.notebook_grader import read_once
from course_utils.grading.sandbox import policy
from course_utils.grading.storage.record import Result

BATCH = 64  # submissions a task
BYTES = 8_000_000  # after which a batch is full, too; a file has at most notebook_file.LARGEST
AHEAD = 2  # batches for each thread of the cluster: one being graded, one waiting there
SECONDS_TO_CONNECT = 20  # to the scheduler
SECONDS_FOR_WORKERS = 60  # until the first is there, or a new one after the last has gone


class ClusterError(CourseError):
    """One sentence for whoever grades."""


def grade_all(found: Iterable[tuple[Found, str]], plan: pool.Plan, address: str) -> Iterator[Result]:
    """Grade each (file, key) on a scheduler's cluster; yield results as they are ready, each once.

    Raises ClusterError, or policy.SandboxError if a worker's machine offers no locks.
    """
    client = _client_at(address)
    from distributed import CancelledError
    from distributed.comm import CommClosedError

    try:
        yield from _Dispatch(client, plan, address).results(iter(found))
    except (CancelledError, CommClosedError):
        raise ClusterError(f"The scheduler at {address} has gone: start it, and run the same command again.") from None
    finally:
        client.close()


def _client_at(address):
    try:
        from distributed import Client
    except ImportError:
        raise ClusterError(
            'Grading on a cluster needs dask: run `pip install "attention-course[cluster]"` here and on its machines.'
        ) from None
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # what matters is said in one sentence
    try:
        try:
            return Client(address, timeout=SECONDS_TO_CONNECT)
        except AssertionError:  # dask gives its own thread ten seconds to begin, which an overloaded machine may miss
            return Client(address, timeout=SECONDS_TO_CONNECT)
    except (OSError, ValueError, TypeError, AssertionError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ClusterError(
            f"there is no dask scheduler at {address} ({reason}): start one with `dask scheduler`."
        ) from None


class _Dispatch:
    """Batches under way, no more than the cluster can use, so that memory stays flat on both sides."""

    def __init__(self, client, plan, address):
        self._client, self._address = client, address
        self._plan = {
            "seed": plan.seed,
            "limits": asdict(plan.limits),
            "hidden": list(plan.hidden),
            "unsafe": plan.unsafe,
            "options_seed": plan.options_seed,
            "own_mistakes": plan.own_mistakes,
        }
        self._expected = environment_versions()
        self._pending, self._suspects = {}, []

    def results(self, found):
        batches = _batches(found)
        try:
            while True:
                while len(self._pending) < AHEAD * self._thread_count() and (batch := next(batches, None)) is not None:
                    if isinstance(batch, Result):
                        yield batch
                    else:
                        self._send(batch)
                if not self._pending:
                    break
                for future in self._done_batches():
                    yield from self._batch_results(future)
            for one in self._suspects:
                self._send([one])
                while self._pending:
                    for future in self._done_batches():
                        yield from self._batch_results(future, alone=True)
        finally:
            with suppress(Exception):  # the scheduler may be gone, which is already being reported
                self._client.cancel(list(self._pending))

    def _send(self, batch):
        import dask

        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "100MB"}):
            future = self._client.submit(grade_batch, batch, self._plan, self._expected, pure=False)
        self._pending[future] = batch

    def _thread_count(self):
        """Return the number of all workers' threads; wait for the first worker."""
        from distributed import TimeoutError as NobodyCame

        if not (threads := sum(self._client.nthreads().values())):
            try:
                self._client.wait_for_workers(1, timeout=SECONDS_FOR_WORKERS)
            except (NobodyCame, TimeoutError):
                raise ClusterError(
                    f"the scheduler at {self._address} has no workers: start some with `dask worker {self._address} "
                    "--nthreads 1`, and run the same command again."
                ) from None
            threads = sum(self._client.nthreads().values())
        return max(1, threads)

    def _done_batches(self):
        """Return the batches that are done or have failed."""
        from distributed import TimeoutError as NotYet
        from distributed import wait

        try:
            return list(wait(list(self._pending), timeout=5, return_when="FIRST_COMPLETED").done)
        except (NotYet, TimeoutError):
            return []  # then see whether there are still workers

    def _batch_results(self, future, alone=False):
        """Yield the results of a batch; its files are suspects if it killed worker after worker, as dask counts them."""
        from distributed.scheduler import KilledWorker

        batch = self._pending.pop(future)
        try:
            lines = future.result(timeout=60)
        except KilledWorker:
            if alone:
                yield from (pool.abandoned(Found(o["student"], Path(), o["file"]), o["key"]) for o in batch)
            else:
                self._suspects += batch
            return
        except ModuleNotFoundError as error:
            raise ClusterError(
                f"a worker lacks {error.name}: install the same version of the course, with its extra cluster, there."
            ) from None
        finally:
            future.release()
        for line in lines:
            yield Result.from_json(json.loads(line))


def _batches(found):
    """Yield lists of plain values to send, and Results for what need not be sent."""
    batch, size = [], 0
    for one, key in found:
        one = read_once(one)
        if isinstance(one.content, str):
            yield Result(key, one.student, one.file, "", one.content, (one.note,) if one.note else ())
            continue
        plain = {"student": one.student, "file": one.file, "note": one.note, "key": key}
        plain |= {"name": os.path.basename(one.path) if one.file else "", "data": one.content or b""}
        if batch and size + len(plain["data"]) > BYTES:
            yield batch
            batch, size = [], 0
        batch.append(plain)
        size += len(plain["data"])
        if len(batch) == BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


# On a worker


@cache
def environment_versions() -> dict[str, str]:
    """Return what must be the same here and on a worker for the verdicts to be the same."""
    import torch

    from course_utils.grading.judging.notebook_grader import tasks_digest

    return {"torch": torch.__version__, "the course's tasks and judge": tasks_digest()}


class _Worker:
    """This process's grader, kept between batches. Threads take turns: a worker process is best given one."""

    lock, plan, grader = threading.Lock(), None, None


def grade_batch(batch: list[dict], plan: dict, expected: dict[str, str]) -> list[str]:
    """Grade notebooks on a worker; return a Result as JSON for each. Raises ClusterError and policy.SandboxError."""
    for what, version in expected.items():
        if environment_versions()[what] != version:
            theirs, ours = (text[:12] for text in (environment_versions()[what], version))
            raise ClusterError(
                f"a worker on {os.uname().nodename} has another version of {what} ({theirs}, here {ours}): install the same."
            )
    with _Worker.lock:
        return [json.dumps(_result(one, plan).to_json()) for one in batch]


def _result(one, plan):
    found = Found(one["student"], Path(one["name"]), one["file"], one["note"], one["data"])
    for _ in range(pool.ATTEMPTS):
        grader = _grader(plan)
        try:
            with _process_ends_after(plan["limits"]["whole"] + pool.SECONDS_BEYOND):
                return grader.grade(found, one["key"])
        except policy.SandboxError:
            raise
        except Exception:  # as in the pool: what ends a grader is tried again with a new one
            _close()
    return pool.abandoned(found, one["key"])


@contextmanager
def _process_ends_after(seconds):
    """End this process if the body takes this long, whatever it is doing; dask starts a new one."""
    with open(os.devnull, "w") as nowhere:
        faulthandler.dump_traceback_later(seconds, exit=True, file=nowhere)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()


def _grader(plan):
    """Return the process's grader for this plan; start one if there is none or it has a different plan."""
    import torch

    from course_utils.grading.judging.notebook_grader import Grader

    if _Worker.plan != plan:
        _close()
        torch.set_num_threads(1)
        try:
            layers, limits = policy.chosen(plan["unsafe"]), Limits(**plan["limits"])
            grader = Grader(plan["seed"], layers, limits, plan["hidden"], plan["options_seed"], plan["own_mistakes"])
            grader.__enter__()
        except policy.SandboxError as error:
            raise policy.SandboxError(f"a worker on {os.uname().nodename} does not grade. {error}") from None
        _Worker.grader, _Worker.plan = grader, plan
    return _Worker.grader


def _close():
    if _Worker.grader:
        with suppress(Exception):
            _Worker.grader.__exit__()
    _Worker.grader = _Worker.plan = None
