"""`course data`: downloads the real data sets and the language model (`data/download.py`)."""

WORDS = "Download the real data sets and the language model, or say where they are."


def add_arguments(parser) -> None:
    """Add the names of what is wanted."""
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="such as sst2, multi30k or smollm2 (98 MB); all if left out"
    )


def run(options) -> int:
    """Fetch the files that are wanted and say where each is. Raises `CourseError` for an unknown name."""
    from course_utils.base.errors import CourseError
    from course_utils.base.words import did_you_mean
    from course_utils.data import download

    known = list(dict.fromkeys(path.partition("/")[0] for path in download.REGISTRY))
    for name in options.names:
        if name not in known:
            raise CourseError(
                f"there is no data set {name!r}{did_you_mean(name, known)}: name some of {', '.join(known)}."
            )
    print(f"Real data come from the {download.where()}.")
    for path in download.REGISTRY:
        if not options.names or path.partition("/")[0] in options.names:
            print(f"{path}: {download.fetch(path)}")
    return 0
