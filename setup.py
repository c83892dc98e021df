"""Has the wheel hold what a learner opens and a teacher hands out, as well as the code. All else is in pyproject.toml.

These files stay at the top of the repository. In the wheel they are in course_utils/published/, where `base/paths.py` finds them.
"""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

PUBLISHED = (
    "notebooks/*.ipynb",
    "exercises/*.ipynb",
    "solutions/*.ipynb",
    "docs/*.md",
    "README.md",
    "LICENSE*",
    "pyproject.toml",
    "course_mistakes.md",
)


class BuildWithNotebooks(build_py):
    def run(self):
        super().run()
        if self.editable_mode:  # a clone has them where they are
            return
        for file in self.published():
            target = Path(self.build_lib, "course_utils", "published", file)
            self.mkpath(str(target.parent))
            self.copy_file(file, str(target))

    def get_source_files(self):
        """Return also these files, so that a wheel that is built from the source distribution holds them, too."""
        return [*super().get_source_files(), *self.published()]

    @staticmethod
    def published():
        return [str(path) for pattern in PUBLISHED for path in sorted(Path().glob(pattern))]


setup(cmdclass={"build_py": BuildWithNotebooks})
