"""A running `course lab`, and a port for it."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import timeouts
from repository import ROOT

from course_utils.commands.lab import _is_taken

ADDRESS = re.compile(r"http://(?:127\.0\.0\.1|localhost):(\d+)/lab/tree/(\S+)\?token=(\w+)")


class Lab:
    """A running `course lab`: `port`, `path` and `token` are read from what it prints."""

    def __init__(self, folder, *arguments, wait=timeouts.SECONDS, python=sys.executable, **environment):
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "JUPYTER_CONFIG_DIR": str(folder / "config"),
            **environment,
        }
        self.process = subprocess.Popen(
            [python, "-m", "course_utils", "lab", "--no-browser", *arguments],
            cwd=folder,
            env={**environment, "JUPYTER_RUNTIME_DIR": str(folder / "runtime"), "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.printed = []
        self.reader = threading.Thread(target=lambda: self.printed.extend(self.process.stdout), daemon=True)
        self.reader.start()
        deadline = time.monotonic() + wait
        # JupyterLab prints its address before it listens there
        while not ((found := ADDRESS.search("".join(self.printed))) and _is_taken(int(found[1]))):
            assert self.process.poll() is None and time.monotonic() < deadline, "".join(self.printed)
            time.sleep(0.1)
        self.port, self.path, self.token = int(found[1]), found[2], found[3]

    def get(self, path, token=None):
        """Fetch a path of the server as text."""
        address = f"http://127.0.0.1:{self.port}/{path}?token={token or self.token}"
        with urllib.request.urlopen(address, timeout=timeouts.SECONDS) as answer:
            assert answer.status == 200
            return answer.read().decode("utf-8")

    def stop(self, how=signal.SIGTERM):
        """End it; return its exit code."""
        self.process.send_signal(how)
        code = self.process.wait(timeout=timeouts.SECONDS)
        self.reader.join()
        self.process.stdout.close()
        return code

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.returncode is None:
            self.stop()


def free_port():
    """A port that nothing listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]
