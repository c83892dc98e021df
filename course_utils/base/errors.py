"""The one exception whose text is meant to be read by a person. Any other exception is a bug in the course."""


class CourseError(Exception):
    """One sentence for whoever uses the course: what was expected, what arrived, what to do.

    The command line shows its text unchanged. Any other exception, including an unintended `ValueError`, is shown as
    something that went wrong. A subclass exists only where just that kind is caught.
    """
