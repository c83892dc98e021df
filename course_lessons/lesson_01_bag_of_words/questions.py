"""The questions of lesson 01: five on its goals, and the guesses asked for before a cell shows its result."""

from course_utils.checks.question import NumberQuestion, Prediction, Question

questions = (
    Question(
        "01.q1",
        "what the mask is for",
        "Sentences of different lengths share one tensor of word numbers, padded with 0. What goes wrong if you add up the looked-up vectors "
        "without the mask?",
        right=(
            "Each position of padding adds row 0 of the table to the sum.",
            "A sentence's sum would then depend on the length of the longest sentence. The mask multiplies those vectors by 0, so the sum is the same in any batch.",
        ),
        wrong=(
            (
                "Nothing, since the number of padding is 0.",
                "0 is a number like any other: the look-up fetches row 0 of the table, which contains whatever training or chance put there.",
            ),
            (
                "PyTorch raises an error.",
                "Row 0 exists, so there is no error. The sum is wrong without any warning.",
            ),
            (
                "The word order is lost.",
                "A sum loses the order in any case, with or without a mask.",
            ),
        ),
    ),
    NumberQuestion(
        "01.q2",
        "a score",
        "“good” has the vector (2, 1), “film” (0, 1), and w = (1, -1), b = 0.5. What is the score of “good good film”?",
        answer=1.5,
        tolerance=0.001,
        why="A bag counts “good” twice: the sum is (4, 3), and 4 - 3 + 0.5 = 1.5.",
        wrong={
            0.5: "That counts “good” once. In a bag of words, what matters is how often a word occurs.",
            1.0: "That is the score without b. Add b = 0.5 as well.",
            0.8176: "That is the probability. The score is what goes into the sigmoid.",
        },
        otherwise="Add up the three vectors, take the dot product with w, then add b.",
    ),
    Question(
        "01.q3",
        "the same error",
        "A sentence of three different words is classified wrongly. Which of its word vectors gets the largest gradient?",
        right=(
            "None: all three get the same gradient.",
            "Each receives (p - y) w: the sum treats its words alike, and so does its gradient. Words come to differ only over many sentences.",
        ),
        wrong=(
            (
                "The one that caused the error.",
                "The sum cannot tell which word that is: the gradient (p - y) w does not depend on the word.",
            ),
            (
                "The longest vector.",
                "The gradient of a sum does not depend on the lengths of its vectors.",
            ),
            (
                "The one that points most along w.",
                "The gradient is (p - y) w for every word, wherever it points.",
            ),
        ),
    ),
    Question(
        "01.q4",
        "polarity",
        "After training, the vector of a word is nearly at a right angle to w. What does that say about the word?",
        right=(
            "It hardly changes the score.",
            "Its dot product with w is near 0. Usually such a word occurs about equally often in positive and negative reviews, so the pushes along w and against it have cancelled out. The converse need not hold: a word like “the” may point along w or against it, with a vector so short that it hardly changes the score either.",
        ),
        wrong=(
            (
                "It is rare.",
                "A rare word may have a large polarity if all of its few reviews have the same label.",
            ),
            (
                "It is negative.",
                "A negative word points against w, at an angle near 180°.",
            ),
            (
                "It reverses other words, as “not” does.",
                "In a sum, no word can change what a different word adds.",
            ),
        ),
    ),
    Question(
        "01.q5",
        "where a linear score must fail",
        "Why can no choice of word vectors, w and b get “good”, “not good”, “bad” and “not bad” all right?",
        right=(
            "“not” would have to lower one word and raise the other.",
            "In a linear score, it adds the same number to either word, and that number cannot be negative and positive at once.",
        ),
        wrong=(
            (
                "Because “not” is too frequent.",
                "How often it occurs does not matter. Four sentences, each seen once, are enough for the contradiction.",
            ),
            (
                "Because the vectors have too few entries.",
                "Whatever their dimension, the score is one number per word, added up.",
            ),
            (
                "Because the two words come in a fixed order.",
                "Their order is lost, but that is not the reason: here the words alone would be enough to know the label.",
            ),
        ),
    ),
)

predictions = (
    Prediction(
        "01.largest_gradient",
        "Which word of “the movie was really good” gets the largest gradient?",
        why="The sum treats all its words alike, so each receives the error times w.",
        choices=("the", "movie", "was", "really", "good", "all the same"),
    ),
    Prediction(
        "01.accuracy",
        "What share of the test reviews will the sum of word vectors get right, from 0 to 1?",
        why="Guessing would get half of them right. Most reviews give themselves away by their words, whatever the order.",
    ),
    Prediction(
        "01.with_negation",
        "What share of the test reviews will the trained sum get right, from 0 to 1?",
        why="This is about the share of plain reviews.",
    ),
)
