"""The questions of lesson 00: five on its goals, and the guesses asked for before a cell shows its result."""

from course_utils.checks.question import NumberQuestion, Prediction, Question

questions = (
    NumberQuestion(
        "00.q1",
        "a weighted sum",
        "The vectors (2, 0) and (4, 8) have the weights 0.75 and 0.25. What is the first entry of their weighted sum?",
        answer=2.5,
        tolerance=0.001,
        why="0.75 · 2 + 0.25 · 4 = 1.5 + 1 = 2.5. The second entry is 0.75 · 0 + 0.25 · 8 = 2.",
        wrong={
            2.0: "2 is the second entry of the sum. The first is computed from the first entries, 2 and 4.",
            3.0: "3 is the plain mean. Multiply each vector by its weight.",
            6.0: "6 is the plain sum. Multiply each vector by its weight first.",
            3.5: "You get 3.5 if the weights are swapped: (2, 0) has a weight of 0.75.",
        },
        otherwise="Multiply the first entry of each vector by that vector's weight, then add.",
    ),
    Question(
        "00.q2",
        "broadcasting",
        "`weights` has the shape (3,) and `values` the shape (3, 5). What does `(weights[:, None] * values).sum(0)` give?",
        right=(
            "The weighted sum, of shape (5,).",
            "`weights[:, None]` is 3×1 and is repeated along the five features; the sum over axis 0 adds up the three vectors.",
        ),
        wrong=(
            (
                "Three sums, of shape (3,).",
                "That would be a sum over the last axis. `sum(0)` removes the first axis, of length 3.",
            ),
            (
                "An error, because 3 and 5 do not match.",
                "That happens without the `None`: shapes are aligned from the right, and 3 does not match 5. With the `None`, the shapes are 3×1 and 3×5.",
            ),
            (
                "The same as `values.sum(0)`.",
                "Each vector is multiplied by its weight before it is added.",
            ),
        ),
    ),
    Question(
        "00.q3",
        "a matrix product",
        "`A` has the shape (2, 7, 3) and `B` the shape (2, 3, 5). What is the shape of `A @ B`?",
        right=(
            "(2, 7, 5)",
            "The product is computed for each of the two pairs of matrices in the batch. The axis of length 3 is summed over and disappears.",
        ),
        wrong=(
            ("(7, 5)", "The first axis is a batch of two, and it stays."),
            (
                "(2, 7, 3, 5)",
                "The two axes of length 3 are multiplied and summed over, so neither of them stays.",
            ),
            ("(2, 5, 7)", "The rows of `A` come before the columns of `B`."),
        ),
    ),
    Question(
        "00.q4",
        "reading a report",
        "A check says “failed” and shows an input with an expected and a received value. What is that input?",
        right=(
            "A small input on which your function goes wrong.",
            "It is small so that you can often work through it on paper. The check has tried other inputs as well, including larger ones.",
        ),
        wrong=(
            (
                "The only input that the check has tried.",
                "A check tries many random inputs, determined by a seed, as well as edge cases. It shows a small input that fails.",
            ),
            (
                "The input with which you last called your function.",
                "The check itself calls your function, on its own inputs.",
            ),
            (
                "A random example, to show you the format.",
                "Your function has failed on exactly this input.",
            ),
        ),
    ),
    Question(
        "00.q5",
        "a step against the gradient",
        "A loss has the gradient (0.5, -2, 0) with respect to three weights. Each weight takes a small step against its gradient. Which weights become larger?",
        right=(
            "Only the second one.",
            "Its gradient is negative: the loss falls as this weight grows. The first weight becomes smaller, and the third stays as it is.",
        ),
        wrong=(
            (
                "Only the first one.",
                "The loss grows with the first weight, because its gradient is positive. A step against the gradient makes this weight smaller.",
            ),
            (
                "Both the first and the second.",
                "The loss grows with the first weight and falls with the second, so the two take steps in opposite directions.",
            ),
            (
                "Only the third one.",
                "Its gradient is 0: at this point, the loss does not change with this weight, so the weight takes no step.",
            ),
        ),
    ),
)

predictions = (
    Prediction(
        "00.second_number",
        "What is the second entry of the mix?",
        why="On paper: 0.5 · 0 + 0.5 · 0.8 + 0 · 0 = 0.4.",
    ),
    Prediction(
        "00.masked_sum",
        "The second row is 5, 4, 9, and its mask is True, True, False. What is its masked sum?",
        why="Only the entries under True count: 5 + 4.",
    ),
)
