"""What a model says of sizes that it cannot have. It hangs on nothing else, as nearly every model asks it."""

from course_utils.base.errors import CourseError


def check_sizes(least: int, **sizes: int) -> None:
    """Raise `CourseError` for a size of a model below the least."""
    for name, size in sizes.items():
        if not size >= least:
            raise CourseError(f"{name} must be at least {least}, not {size}")
