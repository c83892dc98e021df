"""Nothing that a notebook does earns a point, reaches out of the sandbox or holds up the grading: `grading_attacks.py` tries.

Each variant of the sandbox that this machine gives is tried, as this user and, where this user is root, as an ordinary
one too. The naive grader, in the same run, suffers from each attack: so each could have done harm. A usual run tries some
attacks of each group, in the sandbox with the most locks.
"""

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sampling
from filelock import FileLock
from grading_attacks import (
    ALSO,
    ANYWHERE,
    ATTACKS,
    COST_AT_MOST,
    LOG_AT_MOST,
    OPEN,
    VARIANTS,
    as_ordinary_user,
    layers_of,
)

from course_utils.grading.judging.pool import cores
from course_utils.grading.sandbox import policy

RUNNER = Path(__file__).with_name("grading_attacks.py")
ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
USERS = ("root", "an ordinary user") if ROOT else ("an ordinary user",)
GIVEN = [variant for variant in VARIANTS if layers_of(variant)]
RUNS = [(user, variant) for user in USERS for variant in sorted(VARIANTS, key=lambda v: (v not in GIVEN, -len(v)))]
OF_EACH_GROUP = 1
SECONDS_AT_MOST = 15  # a little more than a notebook may take as a whole, on a machine that is not busy
BUSY = 4  # times as long, on a busy one
WORDS_AT_MOST = 2**16  # bytes of its line in the journal

pytestmark = pytest.mark.skipif(
    not policy.available().safe, reason=f"this machine cannot lock a learner's code in (it gives: {policy.available()})"
)


def run(arguments, user=USERS[0]):
    """What `grading_attacks.py` prints."""
    command = [sys.executable, "-B", str(RUNNER), *arguments]
    if ROOT and user != "root":
        if not (shutil.which("setpriv") and shutil.which("unshare")):
            return {"skipped": "root becomes an ordinary user by util-linux's unshare and setpriv, which are not there"}
        command = as_ordinary_user(command)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, timeout=600, env=environment, cwd="/")
    said = done.stderr.decode(errors="replace").strip()
    if not done.stdout and command[0] == "unshare":  # the runner itself always prints something
        return {"skipped": f"root may not become an ordinary user here: {said}"}
    assert done.stdout, said
    return json.loads(done.stdout)


def usually(attacks):
    """Names of attacks; all but some of each group are left to a thorough run."""
    groups = {}
    for name, each in attacks.items():
        groups.setdefault(each.group, []).append(name)
    return [name for names in groups.values() for name in sampling.usually(names, min(OF_EACH_GROUP, len(names)))]


@pytest.fixture(scope="session")
def seen(tmp_path_factory, request):
    """{"naive": …, "user, variant": …} of what the tests of this run ask for; made once, also where several processes run tests."""
    asked = [
        item.callspec.params
        for item in request.session.items
        if item.path == Path(__file__) and hasattr(item, "callspec")
    ]
    names = [name for name in (*ATTACKS, *ALSO) if any(params.get("name") == name for params in asked)]
    runs = [(user, variant) for user, variant in RUNS if {"user": user, "variant": variant} in asked] or RUNS[:1]
    folder = tmp_path_factory.getbasetemp()
    folder = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder
    with FileLock(folder / "attacks.lock"):
        kept = folder / "attacks.json"
        if not kept.exists():
            with ThreadPoolExecutor(max(3, cores())) as pool:
                here = [name for name in names if {**ATTACKS, **ALSO}[name].group not in ANYWHERE]
                began = {"naive": pool.submit(run, ["naive", json.dumps([name for name in names if name in ATTACKS])])}
                for i, (user, variant) in enumerate(runs):
                    tried = json.dumps(here if i else names)
                    began[f"{user}, {variant}"] = pool.submit(run, ["sandboxed", variant, tried], user)
                kept.write_text(json.dumps({name: each.result() for name, each in began.items()}))
    return json.loads(kept.read_text())


def sandboxed(seen):
    """The runs in a sandbox that took place."""
    return {name: run for name, run in seen.items() if name != "naive" and "skipped" not in run}


@pytest.mark.parametrize("user, variant", sampling.usually(RUNS, 1), ids=lambda part: part)
def test_a_variant_of_the_sandbox_is_tried(seen, user, variant):
    run = seen[f"{user}, {variant}"]
    assert "failed" not in run, run.get("failed")
    if "skipped" in run:
        pytest.skip(run["skipped"])
    for honest in ("honest 1", "honest 2"):
        assert run[honest]["states"] == ["passed"] * 4, run[honest]


def test_the_sandbox_is_tried_in_at_least_one_variant(seen):
    assert sandboxed(seen)


def test_naive_grader_grades(seen):
    assert "failed" not in seen["naive"], seen["naive"].get("failed")
    assert seen["naive"]["control"]["does"] == []
    assert len(ATTACKS) >= 100


@pytest.mark.parametrize("name", usually(ATTACKS))
def test_naive_grader_suffers(seen, name):
    assert ATTACKS[name].does in seen["naive"][name]["does"], seen["naive"][name]


@pytest.mark.parametrize("name", usually(ATTACKS | ALSO))
def test_an_attack_gains_nothing_and_costs_little(seen, name):
    tried = {run: each[name] for run, each in sandboxed(seen).items() if name in each}
    assert tried
    for run, result in tried.items():
        assert result["does"] == [], f"{run}: {result}"
        assert result["seconds"] <= SECONDS_AT_MOST * BUSY, f"{run}: {result}"
        assert max(result["peak"], result["cost"]) <= COST_AT_MOST, f"{run}: {result}"
        assert result["log"] <= LOG_AT_MOST, f"{run}: {result}"
        assert result["words"] <= WORDS_AT_MOST, f"{run}: {result}"
        assert result["problem"] or len(result["states"]) == 4, f"{run}: {result}"


@pytest.mark.thorough
def test_attacks_succeed_where_a_lock_is_missing():
    """So it is the locks that keep them in: without any, and with seccomp alone."""
    for variant, names in OPEN.items():
        came = run(["sandboxed", variant, json.dumps(list(names))])
        assert "failed" not in came, came
        missed = {name: came[name] for name, does in names.items() if does not in came[name]["does"]}
        assert not missed, f"{variant}: {missed}"
