"""`python -m course_utils` is the command line, `course`."""

import sys

from course_utils.commands import main

if __name__ == "__main__":
    sys.exit(main())
