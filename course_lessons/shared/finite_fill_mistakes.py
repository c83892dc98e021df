"""What goes wrong where masked scores become a finite number and not minus infinity, and honest scores are as low: changes of the steps of a masked softmax."""

from course_lessons.shared.mask_mistakes import filled
from course_utils.checks.reference_trace import left_out


def finite_fill_mistakes(task, *names, others, empty_row, zeros="the weights with zeros"):
    """Declare mistakes of a masked softmax, whose steps are those that `masked_softmax_mistakes` asks for.

    Args:
        names: which mistakes, of those below.
        others: what is masked, as in "the masked keys".
        empty_row: what may attend to nothing, as in "a row with nothing to attend to".
        zeros: the words of the step that gives them.
    """
    low = f"Masked scores become a finite number such as -12,000 or -25,000. That is not -inf: honest scores may be as low as -30,000, and then {others} take their weight"
    of = {
        "low_fill_undercut": (
            f"{low}. Only -inf lies below every score.",
            {"the masked scores": filled(-2.5e4)},
        ),
        "low_fill_undercut_and_no_zeros": (
            f"{low}. They also share the weight in {empty_row}. Put -inf in place of masked scores, and zeros into the weights of {empty_row}.",
            {"the masked scores": filled(-2.5e4), zeros: left_out},
        ),
        "fill_undercut": (
            f"Masked scores become a finite number such as -10,000. That is not -inf: the honest scores can be as low, and then {others} take some or all of their weight. Only -inf lies below every score.",
            {"the masked scores": filled(-1e4)},
        ),
        "filled_with_minus_hundred": (
            f"Masked scores become a finite number, such as -100. That is not -inf, and it still leaves a weight: all of it where the honest scores lie far lower, and a share of it in {empty_row}. Replace masked scores with -inf, and put zeros into the weights of {empty_row}.",
            {"the masked scores": filled(-100.0), zeros: left_out},
        ),
        "masked_scores_still_count": (
            "Masked scores still count before they are taken out, because you mask after the softmax, or after the maximum, or because you only lower them to a finite number such as -100, which is not -inf. Where they are far larger than the rest, the rest comes out as zeros too. Put -inf in their place before the softmax.",
            {"the masked scores": filled(-100.0)},
        ),
    }
    for name in names:
        task.changed(name, *of[name])
