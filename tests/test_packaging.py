"""Holds together what gets installed: pyproject.toml, constraints.txt, environment.yml, the wheel, CI, make.

Not here: whether a notebook installs the course by itself (`test_colab.py`); the commands (`test_cli.py`).
"""

import os
import re
import shutil
import subprocess
import sys
import zipfile

import nbformat
import pytest
import timeouts
import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from repository import ROOT
from wheels import build_wheel

from course_utils.authoring import testing
from course_utils.base.environment import tomllib
from course_utils.base.imports import PACKAGES
from course_utils.base.paths import FOLDERS, names_in

PYTHONS = ("3.10", "3.11", "3.12", "3.13")
PUBLISHED = "course_utils/published/"  # in a wheel: what learners open and teachers hand out
PLATFORMS = {"linux": "Linux", "darwin": "Darwin", "win32": "Windows"}


def wanted():
    """Every requirement of pyproject.toml, also those of its extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [Requirement(line) for line in project["dependencies"] + sum(project["optional-dependencies"].values(), [])]


def pins(python, system):
    """What constraints.txt pins on one Python and one system, as {name: version}."""
    machine = {"sys_platform": system, "platform_system": PLATFORMS[system]}
    environment = {**default_environment(), **machine, "python_version": python, "python_full_version": f"{python}.9"}
    found = {}
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        pin = Requirement(line)
        if pin.marker is None or pin.marker.evaluate(environment):
            (specifier,) = pin.specifier
            assert specifier.operator == "=="
            assert canonicalize_name(pin.name) not in found, f"{pin.name} is pinned twice on Python {python}"
            found[canonicalize_name(pin.name)] = specifier.version
    return found


@pytest.mark.parametrize("system", PLATFORMS)
@pytest.mark.parametrize("python", PYTHONS)
def test_every_requirement_has_a_pin_that_satisfies_it(python, system):
    found = pins(python, system)
    for requirement in wanted():
        if requirement.marker and not requirement.marker.evaluate({"python_version": python, "sys_platform": system}):
            continue
        version = found.get(canonicalize_name(requirement.name))
        assert version, f"{requirement.name} has no pin on Python {python}"
        assert requirement.specifier.contains(version, prereleases=True), f"{requirement} against {version}"


def test_pins_cover_everything_that_the_requirements_bring_along():
    from importlib.metadata import PackageNotFoundError, requires

    found = pins(".".join(map(str, sys.version_info[:2])), sys.platform)
    seen, waiting = set(), [r for r in wanted() if r.marker is None or r.marker.evaluate()]
    while waiting:
        requirement = waiting.pop()
        for extra in requirement.extras or {""}:
            if (requirement.name, extra) in seen:
                continue
            seen.add((requirement.name, extra))
            try:
                below = map(Requirement, requires(requirement.name) or [])
            except PackageNotFoundError:  # of the other systems and of torch's CUDA builds
                continue
            waiting += [r for r in below if r.marker is None or r.marker.evaluate({"extra": extra})]
    cuda = {name for name, _ in seen if name.startswith(("nvidia-", "cuda-", "triton"))}  # torch pins those
    assert {canonicalize_name(name) for name, _ in seen if name not in cuda} <= set(found)


def test_conda_installs_the_same_pins():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    *conda, pip = environment["dependencies"]
    assert conda == ["python=3.11", "pip"]  # a package named here would escape the pins
    assert pip == {"pip": ["-c constraints.txt", "-e .[lab,test]"]}


def test_the_wheel_holds_every_file_of_the_course_and_no_tests(tmp_path):
    names = zipfile.ZipFile(build_wheel(tmp_path)).namelist()
    files = {path.relative_to(ROOT) for name in PACKAGES for path in (ROOT / name).rglob("*") if path.is_file()}
    left_out = (".", "__pycache__", "alternative_solutions")  # correct answers in other styles are for the tests
    kept = {path.as_posix() for path in files if not any(part.startswith(left_out) for part in path.parts)}
    published = {name.removeprefix(PUBLISHED) for name in names if name.startswith(PUBLISHED)}
    assert kept == {name for name in names if name.startswith(PACKAGES)} - {PUBLISHED + name for name in published}
    built = {path.relative_to(ROOT).as_posix() for folder in FOLDERS for path in (ROOT / folder).glob("*.ipynb")}
    assert len(built) == 3 * len(names_in(ROOT, "notebooks"))
    pages = {f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")}
    assert published == {*built, *pages, "README.md", "LICENSE", "LICENSE-TEXT", "pyproject.toml"}
    assert any(name.endswith("/LICENSE") for name in names)
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {*PACKAGES}


@pytest.mark.parametrize("name", ["ci", "nightly", "release"])
def test_a_workflow_is_valid(name):
    workflow = ROOT / ".github" / "workflows" / f"{name}.yml"
    schema = ("--builtin-schema", "vendor.github-workflows")
    command = [sys.executable, "-m", "check_jsonschema", *schema, workflow]
    checked = subprocess.run(command, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def jobs(name):
    return yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text(encoding="utf-8"))["jobs"]


def test_changes_run_everywhere_and_all_checks_at_night():
    assert tuple(jobs("ci")["linux"]["strategy"]["matrix"]["python"]) == PYTHONS
    assert {job["runs-on"].split("-")[0] for job in jobs("ci").values()} == {"ubuntu", "macos", "windows"}
    nightly = (ROOT / ".github" / "workflows" / "nightly.yml").read_text(encoding="utf-8")
    assert "schedule:" in nightly and "make test-all" in jobs("nightly")["linux"]["steps"][-1]["run"]


def test_only_a_tag_publishes():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8"))
    assert workflow[True] == {"push": {"tags": ["v*"]}, "workflow_dispatch": None}  # YAML reads "on" as a truth value
    assert workflow["permissions"] == {"contents": "read"}
    build, *publishing = workflow["jobs"].values()
    assert "permissions" not in build and len(publishing) == 2
    for job in publishing:
        assert job["if"] == "github.event_name == 'push' && startsWith(github.ref, 'refs/tags/v')"
        assert job["needs"] == "build" and job["permissions"]["id-token"] == "write"
    others = [jobs(path.stem) for path in (ROOT / ".github" / "workflows").glob("*.yml") if path.stem != "release"]
    assert not any("publish" in str(job) or "deploy" in str(job) for job in others)


no_make = sys.platform == "win32" or not shutil.which("make")
needs_make = pytest.mark.skipif(no_make, reason="make is not there: install GNU make")


def make(folder, *arguments):
    return subprocess.run(["make", *arguments], cwd=folder, capture_output=True, text=True)


@pytest.fixture
def checkout(tmp_path):
    """A folder with the Makefile, and a stand-in for Python that notes what it is asked to do."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def stand_in(checkout, version):
    """A "Python" of a given version, which `-m venv` copies; a file `offline` makes installing fail."""
    script = checkout / "python"
    script.write_text(
        "#!/bin/sh\n"
        f'echo "$@" >> "{checkout}/log"\n'
        'case "$*" in\n'
        f'  --version) echo "Python {version}";;\n'
        f'  -c*) exec "{sys.executable}" -c "import sys; sys.version_info = '
        f'({version.replace(".", ", ")}, 0); exec(sys.argv[1])" "$2";;\n'
        f'  *"pip install"*) test ! -e "{checkout}/offline";;\n'
        '  "-m venv"*) mkdir .venv && sleep 0.2 && mkdir .venv/bin && cp "$0" .venv/bin/python && touch .venv/pyvenv.cfg;;\n'
        "esac\n"
    )
    script.chmod(0o755)
    return f"PYTHON={script}"


def log(checkout):
    """What the stand-in was asked since last time."""
    file = checkout / "log"
    lines = file.read_text().splitlines() if file.exists() else []
    file.unlink(missing_ok=True)
    return [line for line in lines if not line.startswith("-c")]


@needs_make
@pytest.mark.parametrize("version", ["3.9", "3.14"])
def test_make_refuses_a_wrong_python_before_making_anything(checkout, version):
    done = make(checkout, "lab", stand_in(checkout, version))
    assert f"needs Python 3.10 to 3.13 with its venv module, and {checkout}/python is not" in done.stderr
    assert f"Python {version}" in done.stderr and "Traceback" not in done.stderr
    assert done.returncode and not (checkout / ".venv").exists()


@needs_make
def test_make_installs_once_and_again_when_the_pins_change(checkout):
    python = stand_in(checkout, "3.12")
    assert make(checkout, "lab", python).returncode == 0
    asked = log(checkout)
    assert any(line.startswith("-m venv") for line in asked)
    (install,) = [line for line in asked if "pip install" in line]
    assert "-c constraints.txt -e .[lab]" in install and "quiet" not in install  # pip shows how far it is
    assert asked[-1] == "-m course_utils lab"

    assert make(checkout, "lab", "PORT=9001", python).returncode == 0
    assert log(checkout) == ["-m course_utils lab --port 9001"]

    later = (checkout / ".venv" / ".lab").stat().st_mtime + 5
    os.utime(checkout / "constraints.txt", (later, later))
    assert make(checkout, "lab", python).returncode == 0
    asked = "\n".join(log(checkout))
    assert "pip install" in asked and "-m venv" not in asked


@needs_make
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is one build of PyTorch")
def test_make_names_the_small_build_where_no_gpu_is(checkout, monkeypatch):
    python, small = stand_in(checkout, "3.12"), "PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu make lab"
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
    (checkout / "nvidia-smi").write_text("#!/bin/sh\n")
    (checkout / "nvidia-smi").chmod(0o755)
    with monkeypatch.context() as with_gpu:
        with_gpu.setenv("PATH", f"{checkout}{os.pathsep}{os.environ['PATH']}")
        assert small not in make(checkout, "lab", python).stdout
    for stamp in (checkout / ".venv").glob(".lab"):
        stamp.unlink()
    if not shutil.which("nvidia-smi"):
        assert small in make(checkout, "lab", python).stdout
        (checkout / ".venv/.lab").unlink()
        monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "https://example.org")
        assert small not in make(checkout, "lab", python).stdout


@needs_make
def test_make_recreates_the_environment_of_a_moved_folder(checkout):
    assert make(checkout, "lab", stand_in(checkout, "3.12")).returncode == 0
    moved = checkout.parent / "moved"
    checkout.rename(moved)
    log(moved)
    done = make(moved, "lab", stand_in(moved, "3.12"))
    assert done.returncode == 0 and "This folder was moved or copied" in done.stdout
    assert any(line.startswith("-m venv") for line in log(moved))
    assert "This folder" not in make(moved, "lab", stand_in(moved, "3.12")).stdout
    assert log(moved) == ["-m course_utils lab"]


def half_made(checkout):
    """Leave of the environment what an interrupted removal may leave: a stamp, and a Python without pyvenv.cfg, which is the system's."""
    (checkout / ".venv" / "bin").mkdir(parents=True)
    shutil.copy(checkout / "python", checkout / ".venv" / "bin")
    (checkout / ".venv" / ".lab").touch()


@needs_make
def test_make_never_installs_into_a_half_made_environment(checkout):
    python = stand_in(checkout, "3.12")
    half_made(checkout)
    done = make(checkout, "lab", python)
    assert done.returncode == 0 and "the environment is made anew" in done.stdout
    asked = log(checkout)
    assert asked[0] == "-m venv --clear .venv" and any("pip install" in line for line in asked)
    assert make(checkout, "lab", python).returncode == 0 and log(checkout) == ["-m course_utils lab"]


@needs_make
@pytest.mark.skipif(not shutil.which("flock"), reason="two calls wait for each other only where flock is there")
def test_two_calls_of_make_at_once_make_one_environment(checkout):
    python = stand_in(checkout, "3.12")
    half_made(checkout)
    calls = [subprocess.Popen(["make", "lab", python], cwd=checkout, stderr=subprocess.PIPE) for _ in range(2)]
    errors = [call.communicate(timeout=timeouts.SECONDS)[1] for call in calls]
    assert [call.returncode for call in calls] == [0, 0] and errors == [b"", b""]
    assert sum(line.startswith("-m venv") for line in log(checkout)) == 1


@needs_make
def test_make_takes_an_interrupted_installation_up_again(checkout):
    python = stand_in(checkout, "3.12")
    (checkout / "offline").touch()
    assert make(checkout, "test", python).returncode
    assert not any("course_utils" in line for line in log(checkout))
    (checkout / "offline").unlink()
    assert make(checkout, "test", python).returncode == 0
    asked = log(checkout)
    assert any("-e .[lab,test]" in line for line in asked) and asked[-1] == "-m course_utils test"
    assert make(checkout, "test-all", python).returncode == 0 and log(checkout)[-1] == "-m course_utils test --all"


def test_nbval_overlooks_blanks_that_older_torch_prints():
    from nbval.plugin import get_sanitize_patterns

    patterns = get_sanitize_patterns((ROOT / "tests" / "nbval.cfg").read_text(encoding="utf-8"))
    assert len(patterns) == 2

    def compared(text):
        for pattern, replacement in patterns:
            text = re.sub(pattern, replacement, text)
        return text

    assert compared("tensor([    0.001,     0.990])") == compared("tensor([0.001, 0.990])")
    assert compared("tensor([0.001, 0.990])") != compared("tensor([0.001, 0.991])")


@pytest.mark.skipif(os.name == "nt", reason="Windows knows no sockets that are files")
def test_nbval_kernels_need_no_port_that_others_could_take_first(tmp_path):
    asked = "from ipykernel.connect import get_connection_info\nprint('\"ipc\"' in get_connection_info())"
    cell = nbformat.v4.new_code_cell(asked, metadata={"tags": ["nbval-check-output"]}, execution_count=1)
    cell.outputs = [nbformat.v4.new_output("stream", text="True\n")]
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), tmp_path / "one.ipynb")
    command = [sys.executable, "-m", "pytest", "-q", *testing.NBVAL, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=timeouts.SECONDS)
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout
