"""The mistakes that scaled dot products invite, as changes of the root that they are divided by."""

from course_utils.checks.reference_trace import left_out


def scaling_mistakes(task, d="d", width="the width of queries and keys", contexts=None):
    """Declare the mistakes of a task whose `steps` give "√d" and "the scores", which are divided by it.

    Args:
        d: the letter of that width, also in the words of the step.
        width: what it is the width of.
        contexts: the words of the product of weights and values; None for a task that does not ask for it.
    """
    root = f"√{d}"
    task.changed_each(
        ("unscaled", f"The scores are not scaled: divide them by √{d}, where {d} is {width}.", {root: lambda n: 1}),
        ("divided_by_d", f"You divide the scores by {d}, or by √{d} twice. Divide them once by √{d}.", {root: lambda n: n}),
        ("divided_by_half_of_d", f"You divide the scores by {d}/2. The square root of {d} is `{d} ** 0.5`, with two asterisks.", {root: lambda n: n / 2}),
        ("multiplied_by_root", f"You multiply the scores by √{d}. Divide them by it.", {root: lambda n: n**-0.5}),
    )  # fmt: skip
    if contexts:
        task.changed(
            "scaled_after",
            f"The division by √{d} comes after the softmax, so the weights do not sum to 1. Scale the scores before the softmax.",
            {"the scores": left_out, contexts: lambda weights, values, *, done: weights @ values / done[root]},
        )
