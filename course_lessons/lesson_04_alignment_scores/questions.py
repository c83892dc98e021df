"""The questions of lesson 04: five on its goals, and the guesses asked for before a cell shows its result."""

from course_utils.checks.question import NumberQuestion, Prediction, Question

SCORES = (
    *("dot", "scaled_dot", "content_based", "general"),
    *("additive", "perceptron", "concatenating", "location_based"),
)

questions = (
    Question(
        "04.q1",
        "one function in disguise",
        "Two of the eight scores are one function: whatever matrices either of them has, there are matrices with which the other gives the same numbers. Which two?",
        right=(
            "additive and perceptron",
            "A matrix times [s; h] is a matrix times s plus another one times h. Written in the second way, each vector is multiplied only once, "
            "which costs far less.",
        ),
        wrong=(
            (
                "dot and general",
                "With the identity as its matrix, the general score is the dot product. With any other matrix it is not, and the dot product has no matrix to make up for this.",
            ),
            (
                "additive and concatenating",
                "The concatenating score has no tanh, and without the tanh the state cancels in the softmax.",
            ),
            (
                "dot and scaled dot",
                "They rank the hidden states alike, but the softmax of scores divided by √D is softer: the weights differ.",
            ),
        ),
    ),
    Question(
        "04.q2",
        "what cancels",
        "The concatenating score is w·[s; h]. Why are its weights the same for every state s?",
        right=(
            "The state adds the same number to all scores of its row, and softmax does not change when a constant is added.",
            "The score is w_s·s + w_h·h, and w_s·s is the same for all h. It takes a product of the two, or a non-linear function of their sum such as tanh, to make s and h interact.",
        ),
        wrong=(
            (
                "The score does not contain s.",
                "It does, and the scores differ from state to state. Only their differences within a row are fixed.",
            ),
            (
                "w has too few entries to read the state.",
                "w has D entries for the state. They do change the scores, but all scores of a row alike.",
            ),
            (
                "Training sets the state's part of w to 0.",
                "Nothing needs to be trained: the weights are the same for any w.",
            ),
        ),
    ),
    NumberQuestion(
        "04.q3",
        "how far dot products spread",
        "All entries of s and h are independent, with mean 0 and variance 1, and D = 100. What is the standard deviation of the dot product?",
        answer=10,
        tolerance=0.05,
        why="Each of the 100 products has variance 1, so the sum has variance 100, whose square root is 10. That is what √D divides away.",
        wrong={
            100: "100 is the variance. The standard deviation is its square root.",
            1: "That is the standard deviation after the division by √D.",
            0.1: "That would be the mean of 100 products. The dot product is their sum.",
        },
        otherwise="Variances of independent terms add up. What is the variance of one product, and of a sum of 100?",
    ),
    Question(
        "04.q4",
        "without the division",
        "What goes wrong without the division by √D when a wide network begins to train?",
        right=(
            "The scores are large, so the softmax is nearly one-hot before anything has been learned, and mostly at a wrong position.",
            "The derivative of a weight with respect to its score is a(1 - a), which is near 0 where the weights are close to 0 and 1, on the right word or on a wrong one.",
        ),
        wrong=(
            (
                "The weights no longer sum to 1.",
                "Softmax makes each row sum to 1 whatever the scores are.",
            ),
            (
                "All weights become equal, so that nothing is chosen.",
                "That is what happens if one divides by too much, such as by D. Without any division the weights become too sharp.",
            ),
            (
                "The exponentials overflow.",
                "They would only overflow in a softmax that does not subtract the largest score first, and PyTorch subtracts it.",
            ),
        ),
    ),
    Question(
        "04.q5",
        "choosing a score",
        "Queries have width 64, and keys have width 48 and live in another space. The sequences have up to 500 words. Which score do you try first?",
        right=(
            "general, or the scaled dot product of two projections",
            "A matrix brings both sides into one space and one width, and the cost stays near that of a dot product.",
        ),
        wrong=(
            (
                "dot",
                "It needs equal widths and a shared space, and here there is neither.",
            ),
            (
                "location-based",
                "Its matrix has one row for each position, so it fixes the length, and it does not look at the keys at all.",
            ),
            (
                "additive",
                "It can do the task, but with A = 64 each pair costs more than a hundred dot products, and there are 500 × 500 pairs.",
            ),
        ),
    ),
)

predictions = (
    Prediction(
        "04.blind",
        "Which score gives every state the same weights?",
        why="Its score is one part for the state plus one for the hidden state, and the first is the same for all hidden states.",
        choices=SCORES,
    ),
    Prediction(
        "04.variance",
        "What is the variance of the plain dot product of two random vectors of width 64?",
        why="It is the sum of 64 products of variance 1 each, up to chance.",
    ),
    Prediction(
        "04.all_worlds",
        "Which score finds more than half of the right hidden states in each of the four worlds?",
        why="Only the location-based score notices positions, and it does not notice the hidden states.",
        choices=("dot", "general", "perceptron", "content_based", "concatenating", "location_based", "none"),
    ),
    Prediction(
        "04.worst",
        "Which score does worst in a translator, at 12 words?",
        why="For every state it gives the same weights, so the translator looks at the same words at every step.",
        choices=SCORES,
    ),
)
