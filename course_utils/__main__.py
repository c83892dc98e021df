"""`python -m course_utils` is the command line, `course`."""

import sys
from pathlib import Path

if __name__ == "__main__":
    # Python would also import from the current folder, which may be one of submissions.
    if not getattr(sys.flags, "safe_path", False) and Path(sys.path[0]) != Path(__file__).parents[1]:
        del sys.path[0]
    from course_utils.commands import main

    sys.exit(main())
