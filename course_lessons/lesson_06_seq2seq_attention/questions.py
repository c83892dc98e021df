"""The questions of lesson 06: five on its goals, and the guesses asked for before a cell shows its result."""

from course_utils.checks.question import NumberQuestion, Prediction, Question

questions = (
    NumberQuestion(
        "06.q1",
        "one step of attention",
        "Three annotations are the numbers 10, 5 and 0. Their scores are ln 3, 0 and 0. What is the context?",
        answer=7.0,
        tolerance=0.01,
        why="The weights are 3/5, 1/5 and 1/5, so the context is 6 + 1 + 0.",
        wrong={
            5.0: "That is the mean of the annotations. Their weights differ: 3/5, 1/5 and 1/5.",
            10.0: "You have used only the annotation with the largest score. The others also have a weight.",
            35.0: "You have not normalised: divide the exponentials 3, 1 and 1 by their sum.",
            10.99: "You have used the scores themselves as weights. The softmax turns them into weights.",
        },
        otherwise="Take the exponentials of the scores, divide them by their sum and compute the weighted sum of the annotations.",
    ),
    Question(
        "06.q2",
        "whose decoder",
        "A decoder first takes its step: the cell reads the previous word. The new state is the query, and only the output reads the context. Whose decoder is this?",
        right=(
            "Luong's, without input feeding",
            "Its query is the state after the step, and the context goes only into the output, so what the decoder has seen reaches the next state only through the word that it wrote.",
        ),
        wrong=(
            (
                "Luong's, with input feeding",
                "With input feeding, the next cell also reads what the last output has read, so the context reaches it.",
            ),
            (
                "Bahdanau's",
                "Bahdanau's decoder looks back before the step, and its cell reads the context.",
            ),
            (
                "the decoder of lesson 05",
                "The decoder of lesson 05 has no attention, so it has neither a query nor a context.",
            ),
        ),
    ),
    Question(
        "06.q3",
        "where looking back stops helping",
        "The models that look back were trained on sentences of up to 12 words. What did they do with sentences of 20 words?",
        right=(
            "They left words out, but got more words in the right order than the models with one vector.",
            "At 20 words, looking back still helps, but less than at 12 words, because the decoder often looks in the wrong places.",
        ),
        wrong=(
            (
                "They translated as well as they did at 12 words, because no vector has to hold the sentence.",
                "That was the hope. But the decoder had never seen such long sentences and lost its place in them.",
            ),
            (
                "They ended every translation after 12 words, as they had learned to.",
                "They wrote longer translations: ours had 20 words. What went wrong was where they looked.",
            ),
            (
                "They were no better than models with one vector, however we count.",
                "That is true only if we count words by their position, where one missing word makes all later ones wrong. They got more words in the right order.",
            ),
        ),
    ),
    NumberQuestion(
        "06.q4",
        "an alignment error rate",
        "A translation has four words. Three of them have one known link each, and the largest weight agrees with all three links. The fourth word has no known link, but its largest weight still makes a link in A. What is the alignment error rate?",
        answer=0.1429,
        tolerance=0.004,
        why="A has four links, K has three, and three links are in both: 1 - 2 · 3 / (4 + 3) = 1/7.",
        wrong={
            0.0: "The fourth word also has a largest weight, and that link counts in A.",
            0.25: "You have divided by the links of A alone. The known links also count in the denominator.",
            0.8571: "That is the agreement. The error rate is 1 minus it.",
            0.5714: "The links that are in both sets count twice, since they are in A and in K.",
        },
        otherwise="Count |A| = 4, |K| = 3 and |A ∩ K| = 3, and put them into the formula.",
    ),
    NumberQuestion(
        "06.q5",
        "what looking back costs",
        "A source of 20 words becomes a translation of 30 words. The decoder looks back before each word of the translation. Ignoring BOS and EOS, how many scores does it compute?",
        answer=600,
        tolerance=0.5,
        why="Each of the 30 target words is scored against each of the 20 source words.",
        wrong={
            50: "You have added the two lengths. Each target word is scored against each source word.",
            30: "The decoder looks back 30 times, but each time it scores all 20 source words.",
            20: "That is the number of scores for one word. The decoder looks back before each of the 30 words.",
        },
        otherwise="Multiply the number of target words by the number of scores for each.",
    ),
)

predictions = (
    Prediction(
        "06.twelve",
        "What share of the words is right at 12 words when the decoder looks back, averaged over the three models, from 0 to 1?",
        why="No vector has to hold the whole sentence: at each step, the decoder reads what it needs from the annotations.",
    ),
)
