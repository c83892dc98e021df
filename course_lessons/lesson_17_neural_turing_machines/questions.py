"""The questions of lesson 17: five on its goals, and the guess asked for before a cell shows its result."""

from course_utils.checks.question import NumberQuestion, Prediction, Question

questions = (
    Question(
        "17.q1",
        "how a head writes",
        "A write has the weights (1, 0), an erase vector of ones, and an add vector of threes. What happens to the two positions of the memory?",
        right=(
            "The first one holds threes afterwards, whatever it held before, and the second one stays as it was.",
            "With a weight of 1 and an erase vector of ones, nothing of the old content is kept. A weight of 0 neither erases nor adds.",
        ),
        wrong=(
            (
                "The first one has three added to what it held, and the second one is erased.",
                "Erasing follows the same weights as adding: it happens at the first position, before the adding, and not at the second one.",
            ),
            (
                "The first one holds threes, and the second one holds zeros.",
                "The share of a position that is kept is 1 - w · e. With a weight of 0, that is all of it.",
            ),
            (
                "Both hold one and a half, because the write is spread over the memory.",
                "It is spread as the weights say, and all of the weight is on the first position.",
            ),
        ),
    ),
    NumberQuestion(
        "17.q2",
        "where a head goes",
        "A head's weights over three positions were (1, 0, 0). The gate is 0, the kernel is (0, 0.3, 0.7) for the shifts -1, 0 and +1, and γ is 2. "
        "What is the largest weight afterwards, to two digits?",
        answer=0.84,
        tolerance=0.0075,
        why="With a gate of 0, the old weights stay. The shift gives (0.3, 0.7, 0), and sharpening gives 0.49 / (0.09 + 0.49) = 0.84.",
        wrong={
            0.7: "That is the weight after the shift, before it is sharpened.",
            0.49: "That is 0.7 squared. The squares still have to be divided by their sum.",
            0.59: "That is a softmax of twice the weights. Sharpening raises the weights themselves to the power of γ.",
            1.0: "The shift has spread the weight over two positions, and sharpening with γ = 2 does not undo that completely.",
        },
        otherwise="Keep the old weights, move 0.7 of them by one position, raise the results to the power of 2 and divide by their sum.",
    ),
    Question(
        "17.q3",
        "why longer copies succeed",
        "Why can a machine copy sequences of twenty vectors although it has never seen more than ten?",
        right=(
            "It writes and reads in steps, and each step to the next position is the same.",
            "The shift does not depend on the position. Without it, the machine of the lesson made many mistakes with ten.",
        ),
        wrong=(
            (
                "It has a memory, and the memory holds more numbers than the state of an LSTM.",
                "Without the shift, the memory held as many numbers, and the machine failed. What matters is that the same step is repeated.",
            ),
            (
                "Its controller has learned each of the twenty positions, one at a time.",
                "It has never seen a vector after the tenth, so it cannot have learned anything of its own about that position.",
            ),
            (
                "It finds each of the vectors by its content, since no two are the same.",
                "A machine could be built like that, but ours copied as well without any content.",
            ),
        ),
    ),
    Question(
        "17.q4",
        "a gate that is always 1",
        "In a machine, the gate of every head is always 1. What can its heads no longer do?",
        right=(
            "Walk: move on from the old position, whatever the memory holds.",
            "With a gate of 1, the old weights do not count. The head begins each step at what resembles its key.",
        ),
        wrong=(
            (
                "Find the position that resembles the key.",
                "That is what a gate of 1 asks for: only the weights by content count.",
            ),
            (
                "Shift: give weight to the position after the one that resembles the key.",
                "The shift comes after the gate and moves any weights. A head can still go to what resembles its key and then one position further on.",
            ),
            (
                "Write: their weights could only be used for reading.",
                "Both heads compute their weights in the same four steps. What the gate mixes does not decide whether a head writes.",
            ),
        ),
    ),
    Question(
        "17.q5",
        "hard to train",
        "One run of a neural Turing machine copies forty vectors almost without a mistake. What can you conclude?",
        right=(
            "That such a machine can learn this, but not how many seeds do.",
            "All five machines trained on 1 to 10 vectors copy ten. At twenty they differ a little, and at forty a great deal.",
        ),
        wrong=(
            (
                "That machines of this kind copy sequences four times as long as those they were trained on.",
                "A different seed may fail there: one run shows what is possible, not what is usual.",
            ),
            (
                "That this run was trained on forty vectors or more.",
                "It may have been trained on ten: what it has learned is a step, which can be repeated.",
            ),
            (
                "That its memory has at least forty positions in use at the beginning.",
                "Positions are free at the beginning. The copy fills them one after the other.",
            ),
        ),
    ),
)

predictions = (
    Prediction(
        "17.no_shift",
        "Without the shift, what share of the bits is wrong when the machine copies 10 vectors, after training on 1 to 5?",
        why="Guessing gets half of the bits wrong.",
    ),
    Prediction(
        "17.own",
        "With the write as it was before you fixed it, what share of the bits is wrong when the machine copies 10 vectors, after training on 1 to 5?",
        why="Where its weight is 1, what this write adds is erased at once, so perhaps only the controller's own state is left to remember.",
    ),
)
