"""The trusted side of the sandbox: starts a fork server, has it fork a process for each notebook, and exchanges requests and replies with that.

`notebook_run` runs a notebook's cells and answers with it. No reply is trusted.
"""

import json
import os
import secrets
import site
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path

from course_utils.base.files import scratch
from course_utils.checks.running.call_tracer import known_digests
from course_utils.checks.running.contract import pack
from course_utils.checks.running.limit import TimeIsUp, time_limit
from course_utils.data.download import REGISTRY, cache_folder, named_mirror
from course_utils.grading.judging.budget import Limits
from course_utils.grading.judging.notebook_run import AnswerRequest, AnswerResult, NotebookRun
from course_utils.grading.sandbox import policy, protocol
from course_utils.grading.sandbox.protocol import ENDED, STARTED

SECONDS_TO_START = 120  # for the server, which imports torch, perhaps from a cold disk
SECONDS_TO_OBEY = 30  # for the server, afterwards
SMALL = 2**17  # bytes of a reply; correct ones are no larger, and unpacked in milliseconds
SECONDS_TO_UNPACK, MEMORY_TO_UNPACK = 1, 2**28  # and bytes, for a larger reply; correct ones need a thousandth


class ServerGone(RuntimeError):
    """The fork server, which no learner's code can reach, has ended. Start another one."""


class SandboxClient:
    """One fork server and at most one learner's process. A context manager.

    Args:
        layers: the locks to put on, from `policy.chosen`.
        limits: what a submission may cost.
        hidden: paths that may not be read inside, such as the folder of submissions.
    """

    def __init__(self, layers: policy.Layers, limits: Limits = Limits(), hidden=()):  # noqa: B008
        self.layers, self.limits, self.hidden = layers, limits, [os.path.realpath(path) for path in hidden]
        self.peak = 0  # bytes: the largest process so far
        self.computed = 0.0  # CPU seconds of the process that ended last
        # Of the latest notebook:
        self.odd = []  # what its cells and answers did to their process, in sentences
        self.question_replies = {}  # {question's id: (reply, seed)}, as its process says: short scalars
        self.left = 0.0  # seconds of its time that it has not used
        self._server = self._control = self._pipes = self._pid = None

    def __enter__(self):
        self._start_server_in_two_tries()
        return self

    def __exit__(self, *_):
        self._stop_server()

    def restart(self) -> None:
        """Start a new fork server."""
        self._stop_server()
        self._start_server_in_two_tries()

    def _start_server_in_two_tries(self):
        """Start a server. What stops the first one, such as a brief lack of memory, has usually passed by the second try."""
        try:
            self._start_server()
        except policy.SandboxError:
            self._start_server()

    def _start_server(self):
        mirror = named_mirror()
        data = os.path.realpath(mirror if isinstance(mirror, Path) else cache_folder())
        files = [path for name in REGISTRY if os.path.isfile(path := os.path.join(data, name))]
        try:
            ruleset = policy.rules(self.layers, self.hidden, files)
        except OSError as error:
            raise self._start_error(str(error)) from None
        self._resources = ExitStack()
        if ruleset is not None:
            self._resources.callback(os.close, ruleset)
        folder = self._resources.enter_context(scratch("course-grade"))
        self._control, theirs = socket.socketpair()
        settings = {
            "layers": asdict(self.layers),
            "ruleset": ruleset,
            "data": data if files else "",
            "memory": self.limits.memory,
            "cpu_seconds": self.limits.cpu_seconds,
            "copies": known_digests(),
        }
        program = [policy.python(), "-B", "-c", "from course_utils.grading.sandbox.fork_server import main; main()"]
        program.append(str(theirs.fileno()))
        environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": "/",
            "LANG": "C.UTF-8",
            "PYTHONHASHSEED": "0",
            "PYTHONPATH": str(policy.PACKAGE.parent),  # this copy of the course, whichever is installed
            "CUDA_VISIBLE_DEVICES": "",
            "OMP_NUM_THREADS": "1",
            "MKL_NUM_THREADS": "1",
            "MPLBACKEND": "Agg",
            "MPLCONFIGDIR": "/tmp" if self.layers.bubblewrap else str(folder),
            "COURSE_PROGRESS": "off",
            **({"PYTHONUSERBASE": site.getuserbase()} if site.ENABLE_USER_SITE else {"PYTHONNOUSERSITE": "1"}),
        }
        line = policy.command(self.layers, program, self.hidden, files)
        with theirs, tempfile.TemporaryFile() as errors:
            passed = [theirs.fileno(), *([] if ruleset is None else [ruleset])]
            self._server = subprocess.Popen(
                line, cwd="/", env=environment, pass_fds=passed, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True,
            )  # fmt: skip
            theirs.close()
            self._control.settimeout(SECONDS_TO_START)
            try:
                self._control.sendall(json.dumps(settings).encode() + b"\n")
                answer = self._control.recv(4096)
            except TimeoutError:
                answer = b"no answer in time"
            except OSError:  # it ended
                answer = b""
            if answer != b"ready":
                errors.seek(0)
                words = answer or (errors.read().strip().splitlines() or [b"it ended"])[-1]
                self._stop_server()
                raise self._start_error(words.decode(errors="replace"))
            self._control.settimeout(SECONDS_TO_OBEY)

    def _start_error(self, why):
        return policy.SandboxError(
            f"the process for learners' code could not be started with the locks {self.layers}: {why}"
        )

    def _stop_server(self):
        self._drop_pipes()
        self._pid = None
        if self._server:
            self._control.close()
            self._server.kill()
            self._server.wait()
            self._server = None
            self._resources.close()

    # One learner's process.

    def begin_process(self) -> None:
        """Have the server fork a process and keep the pipes to it."""
        their_requests, requests = os.pipe()
        replies, their_replies = os.pipe()
        os.set_blocking(requests, False)
        self._pipes = requests, replies
        try:
            socket.send_fds(self._control, [b"start"], [their_requests, their_replies])
            (self._pid,) = STARTED.unpack(self._receive(STARTED.size))
        except OSError:
            raise ServerGone from None
        finally:
            os.close(their_requests)
            os.close(their_replies)

    def end_process(self) -> str:
        """Have it killed and reaped; return the signal that had already ended it, in words, "" for none."""
        if self._pid is None:
            return ""
        self._drop_pipes()
        self._pid = None
        try:
            self._control.sendall(b"end")
            _, ended_by, self.computed, kilobytes = ENDED.unpack(self._receive(ENDED.size))
        except OSError:
            raise ServerGone from None
        self.peak = max(self.peak, 1024 * kilobytes)
        return f"signal {ended_by}" if ended_by and ended_by != 9 else ""

    def _receive(self, size):
        received = b""
        while len(received) < size:
            part = self._control.recv(size - len(received))
            if not part:
                raise ConnectionError
            received += part
        return received

    def _drop_pipes(self):
        for pipe in self._pipes or ():
            os.close(pipe)
        self._pipes = None

    def ask(self, request: dict, seconds: float, cases: bytes | None = None, candidate: Callable | None = None) -> dict:
        """Send a request, perhaps followed by packed cases; return the reply. Meanwhile the process may call candidates.

        Raises:
            protocol.Closed, protocol.NoReplyInTime (after `seconds`), protocol.Garbled.
        """
        requests, replies = self._pipes
        nonce, deadline = secrets.token_bytes(protocol.NONCE), time.monotonic() + seconds
        for body in (pack(request), cases):
            if body is not None:
                protocol.write(requests, nonce, body, deadline)
        while True:
            reply = _unpacked(protocol.read_reply(replies, nonce, deadline))
            if not isinstance(reply, dict) or ("call" in reply and candidate is None):
                raise protocol.Garbled
            if "call" not in reply:
                return reply
            protocol.write(requests, nonce, pack(candidate(reply)), deadline)

    # One notebook.

    def run_notebook(self, cells: list[str], requests: list[AnswerRequest]) -> Iterator[AnswerResult | str]:
        """Run a notebook's cells, and each answer after the cell where it belongs.

        Args:
            cells: the source of each code cell, "" for other cells.
            requests: one for each task.

        Yields:
            One sentence (str) for each cell that failed and for time that was used up, and one AnswerResult for each task, in
            order. The cells' replies to questions are then in `question_replies`.
        """
        run, self.question_replies, self.odd = NotebookRun(self, cells), {}, []
        try:
            answers = run.run_answers(requests)
            self.question_replies, self.odd, self.left = run.question_replies, run.odd, max(0.0, run.budget.left)
            yield from run.failed()
            yield from answers
        finally:
            with suppress(ServerGone):
                self.end_process()


def _unpacked(body):
    """Return a reply's value. Raises protocol.Garbled, also for one that takes too much time or memory to unpack."""
    if len(body) <= SMALL:
        return protocol.unpack_reply(body)
    try:
        with time_limit(SECONDS_TO_UNPACK), policy.limited_memory(MEMORY_TO_UNPACK):
            return protocol.unpack_reply(body)
    except (TimeIsUp, MemoryError):
        raise protocol.Garbled from None
