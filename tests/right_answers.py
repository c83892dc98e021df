"""What the tests know of each task, from `tests/right/NN/task.py`: a list RIGHT, and what CONTRIBUTING.md says may be beside it.

RIGHT holds right answers in styles unlike the solution's. Those of them that leave the work to PyTorch's own function, layer or optimizer, or
to the standard library's, are in OWN as well. Where there is no such thing, NONE_OF_ITS_OWN says why.
"""

import runpy
from pathlib import Path

FOLDER = Path(__file__).parent / "right"
FILES = {f"{file.parent.name}.{file.stem}": file for file in sorted(FOLDER.glob("[0-9][0-9]/*.py"))}
HELD = {task_id: runpy.run_path(str(file)) for task_id, file in FILES.items()}
RIGHT = {task_id: held["RIGHT"] for task_id, held in HELD.items()}
OWN = {task_id: held["OWN"] for task_id, held in HELD.items() if "OWN" in held}
