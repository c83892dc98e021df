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
        "Two of the eight scores are the same function: whatever matrices either of them has, the other can be given matrices that produce the same scores. Which two?",
        right=(
            "additive and perceptron",
            "A matrix times [s; h] is a matrix times s plus another matrix times h. Written the second way, each vector is multiplied only once, "
            "which costs far less.",
        ),
        wrong=(
            (
                "dot and general",
                "With the identity as its matrix, the general score is the dot product. With any other matrix it is not, and the dot product has no matrix to make up for this.",
            ),
            (
                "additive and concatenating",
                "The concatenating score has no tanh, and without the tanh the query cancels in the softmax.",
            ),
            (
                "dot and scaled dot",
                "They rank the keys alike, but dividing the scores by √D makes the softmax softer, so the weights differ.",
            ),
        ),
    ),
    Question(
        "04.q2",
        "what cancels",
        "The concatenating score is w·[s; h]. Why are its weights the same for every query s?",
        right=(
            "The query adds the same number to all the scores in its row, and adding a constant does not change a softmax.",
            "The score is w_s·s + w_h·h, and w_s·s is the same for all h. It takes a product of the two, or a non-linear function of their sum such as tanh, to make s and h interact.",
        ),
        wrong=(
            (
                "The score does not contain s.",
                "It does, and the scores differ from query to query. Only their differences within a row are fixed.",
            ),
            (
                "w has too few entries to read the query.",
                "w has D entries for the query. They do change the scores, but they change all the scores in a row alike.",
            ),
            (
                "Training sets the query's part of w to 0.",
                "Nothing needs to be trained: the weights are the same for any w.",
            ),
        ),
    ),
    NumberQuestion(
        "04.q3",
        "the spread of dot products",
        "All entries of s and h are independent, with mean 0 and variance 1, and D = 100. What is the standard deviation of the dot product?",
        answer=10,
        tolerance=0.05,
        why="Each of the 100 products has variance 1, so the sum has variance 100, whose square root is 10. Dividing by √D brings it back to 1.",
        wrong={
            100: "100 is the variance. The standard deviation is its square root.",
            1: "That is the standard deviation after dividing by √D.",
            0.1: "That would be the mean of 100 products. The dot product is their sum.",
        },
        otherwise="Variances of independent terms add up. What is the variance of one product, and of a sum of 100?",
    ),
    Question(
        "04.q4",
        "without scaling",
        "What goes wrong when a wide network starts to train and the scores are not divided by √D?",
        right=(
            "The scores are large, so the softmax is nearly one-hot before anything has been learned, and mostly at the wrong position.",
            "The derivative of a weight with respect to its score is a(1 - a), which is near 0 where the weights are close to 0 and 1, whether the weight is on the right word or on an incorrect one.",
        ),
        wrong=(
            (
                "The weights no longer sum to 1.",
                "Softmax makes each row sum to 1 whatever the scores are.",
            ),
            (
                "All the weights become equal, so nothing is picked out.",
                "That is what happens if you divide by too much, such as by D. Without scaling, the weights are too sharp.",
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
        "The queries have 64 entries; the keys have 48 and live in a different space. The sequences have up to 500 words. Which score do you try first?",
        right=(
            "general, or the scaled dot product of two projections",
            "A matrix maps both sides to the same space and the same dimension, and the cost stays close to the cost of a dot product.",
        ),
        wrong=(
            (
                "dot",
                "It needs equal dimensions and a shared space, and here you have neither.",
            ),
            (
                "location-based",
                "Its matrix has one row for each position, which fixes the length, and it ignores the keys.",
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
        "Which score produces the same weights whatever the query is?",
        why="The score is one part for the query plus one for the key, and the first part is the same for all keys.",
        choices=SCORES,
    ),
    Prediction(
        "04.variance",
        "What is the variance of the unscaled dot product of two random vectors of dimension 64?",
        why="It is a sum of 64 products, each with variance 1; the rest is chance.",
    ),
    Prediction(
        "04.all_worlds",
        "Which score picks the right key more than half the time on all four tasks?",
        why="Only the location-based score depends on position, and it ignores the keys.",
        choices=("dot", "general", "perceptron", "content_based", "concatenating", "location_based", "none"),
    ),
    Prediction(
        "04.worst",
        "Which score does worst in a translation model, at 12 words?",
        why="It produces the same weights for every decoder state, so the model looks at the same words at every step.",
        choices=SCORES,
    ),
)
