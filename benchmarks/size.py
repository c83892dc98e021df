"""Count the lines of Python in each part of the course, where a line of more than 120 characters counts as several."""

import math
import subprocess
from collections import Counter
from pathlib import Path

WIDE = 120  # characters


def part_of(path: Path) -> str:
    """Return the part of the course that a file belongs to; a lesson's files are told apart by what they are for."""
    if path.parts[0] != "course_lessons":
        return "/".join(path.parts[: 2 if path.parts[0] == "course_utils" else 1])
    if "alternative_solutions" in path.parts:
        return "lessons: alternative solutions"
    return {
        "lesson.py": "lessons: pages",
        "exercises.py": "lessons: exercises",
        "figures.py": "lessons: figures",
    }.get(path.name, "lessons: tasks, and what they share")


if __name__ == "__main__":
    lines, wrapped = Counter(), Counter()
    listed = subprocess.run(["git", "ls-files", "-z", "*.py"], capture_output=True, text=True, check=True).stdout
    for path in map(Path, listed.split("\0")[:-1]):
        for line in path.read_text(encoding="utf-8").splitlines():
            lines[part_of(path)] += 1
            wrapped[part_of(path)] += max(1, math.ceil(len(line) / WIDE))
    for part, number in (*wrapped.most_common(), ("all", wrapped.total())):
        print(f"{part:40} {lines[part] or lines.total():8,} {number:8,}")
