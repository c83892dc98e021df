"""Right answers to every task in styles unlike the solution's, from `tests/right/NN/task.py`: each holds a list `RIGHT`."""

import runpy
from pathlib import Path

FOLDER = Path(__file__).parent / "right"
FILES = {f"{file.parent.name}.{file.stem}": file for file in sorted(FOLDER.glob("[0-9][0-9]/*.py"))}
RIGHT = {task_id: runpy.run_path(str(file))["RIGHT"] for task_id, file in FILES.items()}
