"""The one exception whose text is meant to be read by a person. Everything else that is raised is a fault of the course."""


class CourseError(Exception):
    """One sentence for whoever uses the course: what was expected, what came, what to do.

    The command line shows its text as it stands. Any other exception, a `ValueError` that nobody meant included, is shown as
    something that went wrong. A subclass exists where somebody catches just that kind.
    """
