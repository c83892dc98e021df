"""The questions of lesson 06: five on its goals, and the guesses asked for before a cell shows its result."""

from course_utils.checks.question import NumberQuestion, Prediction, Question

questions = (
    NumberQuestion(
        "06.q1",
        "one look back",
        "Three annotations are the numbers 10, 5 and 0, and the decoder's state gives them the scores ln 3, 0 and 0. What is the context?",
        answer=7.0,
        tolerance=0.01,
        why="The weights are 3/5, 1/5 and 1/5, so the context is 6 + 1 + 0.",
        wrong={
            5.0: "That is the mean of the annotations. Their weights differ: 3/5, 1/5 and 1/5.",
            10.0: "You have taken only the annotation with the largest score. The others have a weight, too.",
            35.0: "You have not normalised: the exponentials 3, 1 and 1 still have to be divided by their sum.",
            10.99: "You have used the scores themselves as weights. The softmax turns them into weights.",
        },
        otherwise="Take the exponentials of the scores, divide them by their sum, and add up the annotations with these weights.",
    ),
    Question(
        "06.q2",
        "whose decoder",
        "The cell reads the previous word. Then the new state is the query, and the output reads what attention finds; the cell never reads it. Whose decoder is that?",
        right=(
            "Luong's, without input feeding",
            "Its query is the state after the step, and the context only goes into the output. So its states do not depend on where it has looked.",
        ),
        wrong=(
            (
                "Luong's, with input feeding",
                "With input feeding the next cell reads what the output has read, and so learns what attention found.",
            ),
            ("Bahdanau's", "Bahdanau's decoder asks before the step, and its cell reads the context."),
            (
                "the one that appends the context to the input",
                "There the cell reads the context: that is its input.",
            ),
        ),
    ),
    Question(
        "06.q3",
        "where the help ends",
        "In training the models with attention read sentences of up to 12 words. How did they do at 20 words?",
        right=(
            "Most of the words were wrong, and some were left out.",
            "Nothing has to fit into one vector any more, but the states have to tell apart positions that no training sentence had.",
        ),
        wrong=(
            (
                "As well as at 12 words, as nothing has to fit into one vector.",
                "That was the hope. But the states that ask and the annotations that are asked had never met such long sentences.",
            ),
            (
                "They ended every translation after 12 words, as they had learned to.",
                "They wrote longer ones. What went wrong was where they looked.",
            ),
            (
                "Bahdanau's failed as one vector does, and Luong's lost next to nothing.",
                "Luong's kept more of the words, but it lost more than half of them, too.",
            ),
        ),
    ),
    NumberQuestion(
        "06.q4",
        "an alignment error rate",
        "A translation has four words. Three of them have one sure link each, and attention's largest weight agrees with all three; the fourth has no link. What is the alignment error rate?",
        answer=0.1429,
        tolerance=0.004,
        why="A has four links, S has three, and three of A are sure and so possible, too: 1 - (3 + 3) / (4 + 3) = 1/7.",
        wrong={
            0.0: "The fourth word looks somewhere, too, and that link counts in A.",
            0.25: "You have divided by the links of A alone. The sure links count in the denominator, too.",
            0.8571: "That is the agreement. The error rate is 1 minus it.",
            0.5714: "The sure links are possible, too, so |A ∩ P| is 3 as well, and not 0.",
        },
        otherwise="Count |A| = 4, |S| = 3, |A ∩ S| = 3 and |A ∩ P| = 3, and put them into the formula.",
    ),
    Question(
        "06.q5",
        "a score of no use",
        "With the concatenating score, W [s; h] with one row W, the decoder did no better than with one vector. Why?",
        right=(
            "The state adds the same number to all scores, and the softmax takes it out again.",
            "So the weights are the same at each step, whatever the decoder asks. That is a fixed attention, as in lesson 02.",
        ),
        wrong=(
            (
                "Its scores lie between -1 and 1, so no weight can become large.",
                "That is so for the cosine. Here W can make the scores as large as it likes.",
            ),
            (
                "It has a weight for each position, and so it does not see the words.",
                "That is the location-based score. This one reads the annotations.",
            ),
            (
                "It has fewer parameters than the others, and training was short.",
                "The dot product has none at all, and does far better.",
            ),
        ),
    ),
)

predictions = (
    Prediction(
        "06.twelve",
        "What share of the words is right at 12 words with Bahdanau's decoder, from 0 to 1?",
        why="No vector has to hold the sentence: for each word the decoder reads the annotations that it needs.",
    ),
    Prediction(
        "06.worst",
        "Which score does worst?",
        why="It is the sum of a number from the state and one from the annotation. The state's part is the same for all annotations, so the softmax takes it out, and the weights never move.",
        choices=(
            *("dot", "scaled_dot", "additive", "general"),
            *("concatenating", "perceptron", "content_based", "location_based"),
        ),
    ),
)
