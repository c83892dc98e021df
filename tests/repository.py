"""The repository's root, and git in a folder made by a test."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def git(folder, *words):
    """Run git as somebody who has a name, and return what it prints."""
    named = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    return subprocess.run(["git", *named, *words], cwd=folder, capture_output=True, text=True, check=True).stdout
