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
    low = f"Masked scores become a finite number such as -12,000 or -25,000. That is not -inf: genuine scores can be as low as -30,000, and {others} then get the weight instead"
    of = {
        "low_fill_undercut": (
            f"{low}. Only -inf is below every score.",
            {"the masked scores": filled(-2.5e4)},
        ),
        "low_fill_undercut_and_no_zeros": (
            f"{low}. They also get weight in {empty_row}. Set masked scores to -inf, and set the weights to 0 in {empty_row}.",
            {"the masked scores": filled(-2.5e4), zeros: left_out},
        ),
        "fill_undercut": (
            f"Masked scores become a finite number such as -10,000. That is not -inf: genuine scores can be as low, and {others} then get some or all of the weight. Only -inf is below every score.",
            {"the masked scores": filled(-1e4)},
        ),
        "filled_with_minus_hundred": (
            f"Masked scores become a finite number, such as -100. That is not -inf, and masked scores still get weight: all of it if the genuine scores are far lower, and a share of it in {empty_row}. Set masked scores to -inf, and set the weights to 0 in {empty_row}.",
            {"the masked scores": filled(-100.0), zeros: left_out},
        ),
        "masked_scores_still_count": (
            "Masked scores still count before they are removed, because you mask after the softmax or after the maximum, or because you only lower them to a finite number such as -100, which is not -inf. If they are far larger than the rest, the remaining weights become 0 too. Set them to -inf before the softmax.",
            {"the masked scores": filled(-100.0)},
        ),
    }
    for name in names:
        task.changed(name, *of[name])
