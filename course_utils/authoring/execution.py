"""Runs a notebook in a kernel of this Python and tidies its outputs."""

import asyncio
import atexit
import tempfile
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

from course_utils.authoring.kernels import environment, this_python

OWN_MACHINE = "own-machine"  # tags a cell whose output is about the reader's machine: run, not stored
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


class CellFailed(Exception):
    """A cell that could not be run: `place` counts cells from 0, and `reason` completes "the cell …"."""

    def __init__(self, place: int, reason: str):
        super().__init__(f"cell {place} {reason}")
        self.place, self.reason = place, reason


def execute(notebook, root: Path, folder: str, timeout: int, on_start: Callable = lambda stop: None):
    """Run all cells of a notebook in a kernel of this Python, in a folder of the course; return it with outputs.

    Args:
        notebook: as nbformat represents it.
        timeout: seconds for each cell.
        on_start: called with a function that stops it, from any thread.

    Raises:
        CellFailed: for the first cell that fails or takes too long.
    """
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError

    at = [0]
    with tempfile.TemporaryDirectory(prefix="course") as sockets:
        client = NotebookClient(
            nbformat.from_dict(notebook),
            timeout=timeout,
            shutdown_kernel="immediate",
            resources={"metadata": {"path": str(root / folder)}},
            record_timing=False,
            store_widget_state=False,
            on_cell_start=lambda cell, cell_index: at.__setitem__(0, cell_index),
        )
        client.km = this_python(sockets)  # not passed above: the client doesn't shut down what it is given
        loop = asyncio.SelectorEventLoop()  # on Windows, the default one doesn't serve the kernel's sockets
        try:
            task = loop.create_task(client.async_execute(env=environment(root)))
            on_start(lambda: loop.is_closed() or loop.call_soon_threadsafe(task.cancel))
            return loop.run_until_complete(task)
        except CellExecutionError as error:
            words = (error.evalue or "").strip().split("\n")[0].rstrip(".")
            reason = f"failed with {error.ename}: {words}"
        except CellTimeoutError:
            reason = f"ran longer than {timeout} s"
        except RuntimeError as error:
            reason = f"could not be run: {str(error).rstrip('.')}"
        finally:
            left = asyncio.all_tasks(loop)  # the client's watch over its kernel, if that was stopped
            for task in left:
                task.cancel()
            if left:
                loop.run_until_complete(asyncio.wait(left))
            loop.close()
            atexit.unregister(client._cleanup_kernel)  # it stays registered if the kernel didn't start
    raise CellFailed(at[0], reason)


def tidy(cells):
    """Drop what differs from run to run (timing, how prints are split up, widgets); store each picture once, with its description."""
    for cell in cells:
        if cell["cell_type"] != "code":
            continue
        cell["metadata"].pop("execution", None)
        cell["outputs"] = _merge_streams(_without_widgets(cell["outputs"]))
        if OWN_MACHINE in cell["metadata"].get("tags", ()):
            cell["outputs"], cell["execution_count"] = [], None
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "image/png" in data:  # its description is in text/plain: with sliders, that of the first picture
                data.pop("text/html", None)  # the same picture once more, for those who run the cell
                output["metadata"].setdefault("image/png", {})["alt"] = data.get("text/plain", "")


def _without_widgets(outputs):
    """Return the outputs without widgets, which exist only in a kernel; the static picture beside one is kept."""
    shown = []
    for output in outputs:
        if output.get("data", {}).pop(WIDGET_VIEW, None) is None or set(output["data"]) - {"text/plain"}:
            shown.append(output)
    return shown


def _merge_streams(outputs):
    merged = []
    for _, group in groupby(enumerate(outputs), key=lambda pair: pair[1].get("name", pair[0])):
        group = [output for _, output in group]
        if len(group) > 1:
            group[0]["text"] = "".join(output["text"] for output in group)
        merged.append(group[0])
    return merged
