"""`course lab`: opens JupyterLab on the learner's own copy of a lesson, with this environment's kernel. Makes missing copies."""

import argparse
import os
import socket
import subprocess
import sys
import webbrowser
from importlib import invalidate_caches
from importlib.util import find_spec
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

from course_utils.base.environment import DISTRIBUTION, IN_CLONE, KERNEL_NAME, kernel_is_ours, need
from course_utils.base.errors import CourseError
from course_utils.base.paths import OWN, chosen, course_of, names_in, number_of, remedy, sources_in, workspace_folder

WORDS = "Open JupyterLab on your own copy of a lesson."
SETTINGS = Path(__file__).parent / "lab_settings"
STARTUP = Path(__file__).parents[1] / "learner" / "startup.py"


def add_arguments(parser) -> None:
    """Add the lesson, --port and --no-browser."""
    parser.add_argument(
        "lesson", nargs="?", default="00", help="such as 02 or 02_weighted_sums (the first if left out)"
    )
    words = "8888 if left out; a taken port gives the next. It starts a second JupyterLab where one is running already"
    parser.add_argument("--port", type=_port, help=words)
    parser.add_argument("--no-browser", action="store_true", help="only print the address")


def _port(text):
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"expected a number from 1 to 65535, not {text!r}")
    return int(text)


def run(options) -> int:
    """Start JupyterLab and stay until it ends."""
    root = workspace_folder()
    _complete()
    _set_up_kernel()  # before copies are made, which name it
    notebook = _notebook(root, options.lesson)
    from course_utils.workspace.copies import say_what_is_newer

    say_what_is_newer(root)
    alone = not options.no_browser and _has_display()
    if options.port is None and (running := _running(root / OWN)):
        address = f"{running['url']}lab/tree/{notebook}?token={running['token']}"
        print(f"JupyterLab shows your copies already: {OWN}/{notebook} is at {address}")
        if alone:
            webbrowser.open(address)
        return 0
    if options.port and (running := _running(root / OWN)):
        print(f"JupyterLab shows your copies already, at {running['url']}: this is a second one.")
    if options.port and _is_taken(options.port):
        print(f"Port {options.port} is taken, so JupyterLab takes the next one that is free.")
    os.chdir(root / OWN)
    # so that `course` is found in JupyterLab's terminal and after ! in a cell
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"  # this environment's kernel before one in the home folder
    os.environ.setdefault("PYTHONSTARTUP", str(STARTUP))  # run by each kernel, unless the reader has set one
    arguments = [
        f"--ServerApp.root_dir={root / OWN}",
        f"--ServerApp.port={options.port or 8888}",
        f"--LabApp.default_url=/lab/tree/{notebook}",
        f"--LabApp.workspaces_dir={root / '.course' / 'tabs'}",  # apart from those of other projects
        f"--LabApp.app_settings_dir={SETTINGS}",  # no question about news or the kernel, room for file names
        f"--LabApp.extra_labextensions_path={SETTINGS / 'extensions'}",  # pictures in the dark, names for sliders
        "--LabApp.extension_manager=readonly",  # the default one uses the network
        "--ServerApp.log_level=ERROR",
        "--LabApp.log_level=ERROR",
        "--ServerApp.answer_yes=True",  # one Ctrl-C ends it
    ]
    import zmq  # comes with JupyterLab

    if zmq.has("curve"):
        arguments.append("--KernelManager.transport_encryption=auto")  # otherwise each kernel warns that it has none
    if not alone:
        arguments.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--allow-root")
    begin = "Opening" if alone else "JupyterLab prints an address below. Open it in a browser to see"
    print(f"{begin} {OWN}/{notebook}; {OWN} is in {root}. Ctrl-C here ends JupyterLab.", flush=True)
    from jupyterlab.labapp import main as lab

    return lab(arguments) or 0


def _is_taken(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _running(folder):
    """Return what is known about a running JupyterLab that shows a folder and responds; None if there is none."""
    from jupyter_server.serverapp import list_running_servers

    direct = build_opener(ProxyHandler({}))  # no proxy is needed to reach this computer
    for server in list_running_servers():
        if server["root_dir"] != str(folder):
            continue
        try:  # one that was killed may have left its file
            with direct.open(f"{server['url']}api/status?token={server['token']}", timeout=3):
                return server
        except OSError:
            continue
    return None


def _complete():
    """Install JupyterLab if the course was installed without it, as on Colab; in a clone, raise `CourseError` instead."""
    if find_spec("jupyterlab") is None and not IN_CLONE:
        print("JupyterLab is not there yet. It is being installed, which takes a minute or two.", flush=True)
        subprocess.run([sys.executable, "-m", "pip", "install", f"{DISTRIBUTION}[lab]"])
        invalidate_caches()
    need("lab")


def _notebook(root, lesson):
    """Return the learner's copy of a lesson such as 02, as a path in the folder of copies; it must be readable."""
    course = course_of(root)
    known = sorted({*sources_in(course, "notebooks"), *names_in(course, "notebooks")})
    (name,) = chosen([lesson], known)
    from course_utils.workspace import (
        copies,  # imports the tasks and PyTorch: a wrong name is refused before that
    )

    copies.rename_old(root)
    copies.bring_pages(root)
    for place in copies.make_missing(root):
        print(f"{place.built} held changes of yours: your copy, {place.own}, begins with them.")
    place = copies.Place(root, "notebooks", name)
    if copies.read(root / place.own) is None:
        what = "cannot be read as a notebook" if place.original.exists() else "is not there"
        raise CourseError(f"{place.built} {what}: run `{remedy(course, f'course build {number_of(name)}')}`.")
    return place.built


def _set_up_kernel():
    """Write this environment's kernel into its own folder, so that no other environment's is used."""
    if kernel_is_ours():
        return
    from ipykernel.kernelspec import install

    try:
        install(prefix=sys.prefix, kernel_name="python3", display_name=KERNEL_NAME)
    except OSError:
        print(f"{sys.prefix} cannot be written: Jupyter's own Python 3 kernel serves instead.")


def _has_display():
    if os.environ.get("CI") or os.environ.get("SSH_CONNECTION"):
        return False
    return not sys.platform.startswith("linux") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
