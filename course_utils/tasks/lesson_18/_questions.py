"""The questions of lesson 18: five on its goals, and the guesses asked for before a cell shows its result."""

from course_utils.checks.question import NumberQuestion, Prediction, Question

questions = (
    Question(
        "18.q1",
        "gates as attention",
        "In a mixture of experts, an input has a gate of exactly 0 for the third expert. What does this expert learn from this input?",
        right=(
            "Nothing: its output has no effect on the loss, so its gradient is exactly 0.",
            "What is multiplied by 0 may change without any effect. That is why unattended experts keep what they know.",
        ),
        wrong=(
            (
                "A little, since a softmax never gives exactly 0.",
                "A softmax over all experts does not, but here the gate is exactly 0: only the best k were kept.",
            ),
            (
                "To give 0 for such inputs, since that is its share of the answer.",
                "Its output is multiplied by 0, whatever it is. No loss asks it to be 0.",
            ),
            (
                "As much as the others, since all experts read the same input.",
                "They read it, but only those that are attended to take part in the answer.",
            ),
        ),
    ),
    NumberQuestion(
        "18.q2",
        "importance by hand",
        "Over a batch, the gates of three experts sum to 4, 1 and 1. How large is the importance loss, the variance divided by the squared mean?",
        answer=0.5,
        tolerance=0.002,
        why="The mean is 2, the squared differences are 4, 1 and 1, so the variance is 6/3 = 2, and 2 / 2² = 0.5.",
        wrong={
            0.75: "You have divided the squared differences by 2 instead of 3. All experts are here, so the variance divides by their number.",
            2.0: "That is the variance. It is divided by the squared mean.",
            1.0: "You have divided by the mean. It is squared.",
            0.71: "That is the standard deviation over the mean. Its square is asked for.",
        },
        otherwise="Take the mean, the mean squared difference from it, and divide this by the squared mean.",
    ),
    Question(
        "18.q3",
        "what is forgotten",
        "After training on new labels for black digits, a mixture in which all four experts answer had forgotten much about white ones. Why?",
        right=(
            "Every expert has some gate above 0 for black digits, and the gate itself changed, too.",
            "With gates of exactly 0 and a gate that was kept as it was, nothing about white digits changed.",
        ),
        wrong=(
            (
                "It had too few numbers to remember both kinds of digits.",
                "It got both right before. It is the training on one of them that changed what it knew of the other.",
            ),
            (
                "The white digits were shown with wrong labels.",
                "They were not shown at all, and their rule stayed the same.",
            ),
            (
                "The experts for white digits were removed when nobody used them.",
                "No expert is ever removed. One that gets no gradient stays exactly as it is.",
            ),
        ),
    ),
    NumberQuestion(
        "18.q4",
        "capacity by hand",
        "Six tokens choose the experts 1, 0, 1, 1, 0 and 1, in this order, and the capacity is 2. How many tokens are dropped?",
        answer=2,
        tolerance=0.001,
        why="Expert 1 is chosen four times and takes the first two. Expert 0 is chosen twice and takes both.",
        wrong={
            4.0: "That is how often expert 1 is chosen. It takes two of these tokens.",
            1.0: "Count again how often expert 1 is chosen: at the first, third, fourth and sixth token.",
            3.0: "An expert takes as many tokens as its capacity says, so two, and not one.",
            0.0: "Expert 1 has room for two tokens only, and four have chosen it.",
        },
        otherwise="Count how many tokens choose each expert. Those above the capacity are dropped.",
    ),
    Question(
        "18.q5",
        "equal work",
        "A layer with 8 experts beat one with a single network. Why is this comparison fair, although it has about 8 times as many numbers?",
        right=(
            "Each token goes through one expert only, so it costs about as many multiplications as in the single network.",
            "What grows is what can be remembered, not the work per token. Only the gate's few multiplications come on top.",
        ),
        wrong=(
            (
                "All experts answer each token, but each is 8 times smaller.",
                "Each is as large as the single network, and only one of them answers.",
            ),
            (
                "The other layer was trained 8 times longer.",
                "Both were trained for as many steps.",
            ),
            (
                "A network 8 times as wide does no better than one of them.",
                "It does better still, but each token then costs 8 times the work.",
            ),
        ),
    ),
)

predictions = (
    Prediction(
        "18.forgetting",
        "How many white digits are still right afterwards, for one network and for the best two of four experts?",
        why="The experts for white digits get no gradient. What may still change is the gate.",
        choices=("both as before", "both far fewer", "one network far fewer, the mixture as before"),
    ),
    Prediction(
        "18.translators",
        "What share of the words does the layer with one feed-forward network of an expert's size get right?",
        why="All languages have to share the numbers of one small network. With experts, each language can use one of eight.",
    ),
)
