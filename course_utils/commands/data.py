"""`course data`: downloads the real data sets (`data/download.py`)."""

WORDS = "Download the real data sets, or say where they are."


def add_arguments(parser) -> None:
    """Add nothing: all files are fetched."""


def run(options) -> int:
    """Fetch every file and say where it lies."""
    from course_utils.data import download

    print(f"Real data come from the {download.where()}.")
    for path in download.REGISTRY:
        print(f"{path}: {download.fetch(path)}")
    return 0
