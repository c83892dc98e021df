"""`course mistakes`: tries the mistakes that an instructor has added to tasks (`checks/instructor_mistakes.py`)."""

from course_utils.commands._arguments import add_mistakes, report

WORDS = "Try the mistakes of your own that you have added to tasks, and show what a check says of each."


def add_arguments(parser) -> None:
    """Add --mistakes."""
    add_mistakes(parser)


def run(options) -> int:
    """Print what a check says about each; 1 if one is of no use."""
    from course_utils.grading.judging import own_mistakes

    layers = own_mistakes.layers_here()
    mistakes = own_mistakes.use_own(options.mistakes, here=layers is None)
    print(own_mistakes.source_in_words(mistakes, options.mistakes))
    if not mistakes:
        print("docs/instructors.md shows how to write some.")
        return 0
    problems = []
    for told, problem in own_mistakes.tried(mistakes, layers, options.mistakes):
        if problem:
            problems.append(problem)
        else:
            print(told, flush=True)
    return report(problems)
