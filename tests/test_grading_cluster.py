"""`course grade --scheduler`: on dask's local cluster of two processes, one of them killed in the middle."""

import json
import logging
import os
import signal
import socket
import subprocess
import sys
from dataclasses import replace

import psutil
import pytest
import timeouts
from lesson_03_tasks import states
from submissions import needs_sandbox, notebook

from course_utils.commands import main
from course_utils.grading.ingest.submissions import find
from course_utils.grading.judging import cluster
from course_utils.grading.judging.budget import Limits
from course_utils.grading.judging.pool import Plan
from course_utils.grading.sandbox import policy
from course_utils.grading.storage.journal import Journal
from course_utils.grading.storage.record import Result

distributed = pytest.importorskip("distributed", reason='dask is missing: pip install "attention-course[cluster]"')
pytestmark = needs_sandbox

ANSWERS = """import torch
def padding_mask(lengths, size):
    return torch.arange(size) {sign} lengths[:, None]
def causal_mask(size):
    return torch.ones(size, size, dtype=torch.bool).tril()
"""


@pytest.fixture(scope="module")
def submissions(tmp_path_factory):
    folder = tmp_path_factory.mktemp("class") / "submissions"
    folder.mkdir()
    for i in range(12):
        source = ANSWERS.replace("{sign}", "<" if i % 3 else "<=") + f"# {i}"
        (folder / f"s{i}.ipynb").write_text(notebook(source))
    (folder / "broken.ipynb").write_text("{")
    (folder / "folder.ipynb").mkdir()
    (folder / "none").mkdir()
    return folder


@pytest.fixture(scope="module")
def local_cluster():
    import dask

    once = dask.config.set({"distributed.scheduler.allowed-failures": 1})  # 3 takes longer and shows no more
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with once, distributed.LocalCluster(n_workers=2, **options) as local:
        yield local


def workers(local):
    return {name: nanny.pid for name, nanny in local.workers.items()}


SEED = f"{2**127 + 5:032x}"


def gradebook(out):
    tables = {name: (out / name).read_text() for name in ("grades.csv", "nbgrader.csv", "canvas.csv")}
    pages = {path.name: path.read_text() for path in sorted((out / "feedback").iterdir())}
    return tables | pages


@pytest.mark.thorough
def test_a_killed_worker_does_not_change_the_gradebook(submissions, local_cluster, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(cluster, "BATCH", 2)
    killed, left, add = [], [], Journal.add

    def add_and_kill(journal, result):
        add(journal, result)
        if len(journal) == 4:
            killed.append(next(iter(workers(local_cluster).values())))
            left.extend(psutil.Process(killed[0]).children(recursive=True))
            os.kill(killed[0], signal.SIGKILL)

    monkeypatch.setattr(Journal, "add", add_and_kill)
    options = ["--seed", SEED, "--scheduler", local_cluster.scheduler_address]
    code = main(["grade", str(submissions), "--out", str(tmp_path / "theirs"), *options])
    said = capfd.readouterr()
    assert code == 1, said.err  # files that are no notebooks
    assert "Graded now: 15. Taken from the journal: 0." in said.out
    assert killed and killed[0] not in workers(local_cluster).values()
    assert left and not psutil.wait_procs(left, timeout=timeouts.SECONDS)[1]  # its fork server and learner's process
    monkeypatch.undo()
    assert main(["grade", str(submissions), "--out", str(tmp_path / "ours"), "--seed", SEED, "--workers", "1"]) == 1
    assert gradebook(tmp_path / "theirs") == gradebook(tmp_path / "ours")
    keys = [json.loads(line)["key"] for line in (tmp_path / "theirs" / "journal.jsonl").read_text().splitlines()[1:]]
    assert len(keys) == len(set(keys)) == 15


def grade(submissions, address, seed=6):
    """Results by student, without seconds, of the first eight files."""
    plan = Plan(seed, policy.available(), Limits(), ())
    return {result.student: plain(result) for result in cluster.grade_all(files(submissions)[:8], plan, address)}


def files(submissions):
    return [(found, f"{number:064x}") for number, found in enumerate(find(submissions))]


def plain(result):
    return replace(result, seconds=0, verdicts=tuple(replace(verdict, seconds=0) for verdict in result.verdicts))


@pytest.mark.thorough
def test_a_file_that_ends_every_worker_costs_its_own_row_only(submissions, local_cluster, monkeypatch):
    def poisoned(batch, plan, expected):
        import os

        from course_utils.grading.judging import cluster

        if any(one["student"] == "s3" for one in batch):
            os._exit(1)
        return cluster.grade_batch(batch, plan, expected)

    monkeypatch.setattr(cluster, "grade_batch", poisoned)
    monkeypatch.setattr(cluster, "BATCH", 4)
    results = grade(submissions, local_cluster.scheduler_address)
    assert "ended the grader's own process" in results.pop("s3").problem
    assert len(results) == 7
    assert {student for student, result in results.items() if result.problem} == {"broken", "folder.ipynb", "none"}
    assert states(results["s1"]) == ["passed", "passed", "missing", "missing"]
    assert states(results["s0"]) == ["failed", "passed", "missing", "missing"]


def test_a_worker_with_another_version_is_refused(submissions, local_cluster, monkeypatch):
    monkeypatch.setattr(cluster, "environment_versions", lambda: {"torch": "0.1"})
    said = r"another version of torch \([\d.]+.*, here 0.1\): install the same"
    with pytest.raises(cluster.ClusterError, match=said):
        grade(submissions, local_cluster.scheduler_address)


@pytest.mark.thorough
def test_a_worker_without_locks_refuses(submissions, local_cluster):
    def without_locks():
        from course_utils.grading.sandbox import policy

        policy.with_locks, policy.available = policy.available, policy.Layers

    def with_locks():
        from course_utils.grading.sandbox import policy

        policy.available = policy.with_locks

    with distributed.Client(local_cluster) as client:
        client.run(without_locks)
        try:
            said = "a worker on .* does not grade. This machine cannot lock .* --unsafe"
            with pytest.raises(policy.SandboxError, match=said):
                grade(submissions, local_cluster.scheduler_address, seed=7)
        finally:
            client.run(with_locks)


def test_no_scheduler_no_workers_no_dask_are_a_sentence_each(submissions, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(cluster, "SECONDS_TO_CONNECT", 1)
    monkeypatch.setattr(cluster, "SECONDS_FOR_WORKERS", 1)

    def refused(address):
        command = ["grade", str(submissions), "--out", str(tmp_path / "results"), "--scheduler", address]
        assert main(command) == 2
        said = capfd.readouterr().err.splitlines()[-1]
        assert said.startswith("course: ")
        return said

    assert "there is no dask scheduler at tcp://127.0.0.1:1 (" in refused("tcp://127.0.0.1:1")
    assert "there is no dask scheduler at nonsense://x (" in refused("nonsense://x")
    with distributed.LocalCluster(n_workers=0, dashboard_address=":0", silence_logs=logging.CRITICAL) as empty:
        assert "has no workers: start some with `dask worker tcp://" in refused(empty.scheduler_address)
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert 'pip install "attention-course[cluster]"' in refused("tcp://127.0.0.1:1")


def test_batches_hold_plain_values_and_stay_small(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "BYTES", 100)
    sizes = [30, 30, 30, 30, 99, 500, 1, 0]
    for number, size in enumerate(sizes):
        (tmp_path / f"s{number}.ipynb").write_bytes(b"x" * size)
    os.mkfifo(tmp_path / "s8.ipynb")
    batches = list(cluster._batches(iter(files(tmp_path))))
    refused = [batch for batch in batches if isinstance(batch, Result)]
    assert [(result.student, "no ordinary file" in result.problem) for result in refused] == [("s8", True)]
    batches = [batch for batch in batches if isinstance(batch, list)]
    assert [[len(one["data"]) for one in batch] for batch in batches] == [[30, 30, 30], [30], [99], [500], [1, 0]]
    assert {type(value) for batch in batches for one in batch for value in one.values()} == {str, bytes}


@pytest.mark.thorough
def test_a_lost_scheduler_gives_a_sentence_and_keeps_the_results(submissions, monkeypatch):
    monkeypatch.setattr(cluster, "BATCH", 1)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    line = [sys.executable, "-m", "dask", "scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
    with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as scheduler:
        worker = [*line[:3], "worker", f"tcp://127.0.0.1:{port}", "--nthreads", "1", "--no-dashboard"]
        with subprocess.Popen(worker, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as grading:
            came = []
            try:
                with pytest.raises(
                    cluster.ClusterError, match="The scheduler at .* has gone: start it, and run the same"
                ):
                    plan = Plan(8, policy.available(), Limits(), ())
                    for result in cluster.grade_all(files(submissions), plan, f"tcp://127.0.0.1:{port}"):
                        came.append(result)
                        if result.verdicts:
                            scheduler.kill()
            finally:
                scheduler.kill()
                grading.terminate()
    assert came
