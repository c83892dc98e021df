"""The questions of lesson 18: five on its goals, and the guesses asked for before a cell shows its result."""

from course_utils.checks.question import NumberQuestion, Prediction, Question

questions = (
    Question(
        "18.q1",
        "gates as attention",
        "Think of a mixture of experts as attention. What are its values, and what does an expert learn from an input for which its weight is exactly 0?",
        right=(
            "The experts' outputs. It learns nothing: its gradient is exactly 0.",
            "An output that is multiplied by 0 can change without any effect, so this input teaches that expert nothing.",
        ),
        wrong=(
            (
                "The experts' outputs. It learns a little: on paper, a softmax never gives exactly 0.",
                "A softmax over all experts does not, but here the weight is exactly 0: only the best k were kept.",
            ),
            (
                "The rows of W. It learns to output 0 for such inputs, since that is its share.",
                "The rows of W are the keys, with which the input is compared. And no loss asks for an output of 0, because the output is multiplied by 0 anyway.",
            ),
            (
                "The inputs. It learns as much as the others: all experts read the same x.",
                "The input is the query. All experts read it, but only those with a weight above 0 take part in the answer.",
            ),
        ),
    ),
    NumberQuestion(
        "18.q2",
        "the balance loss by hand",
        "There are two experts and four tokens. Three tokens go to the first expert, one to the second. The mean probabilities are 0.7 and 0.3. How large is the balance loss of the Switch Transformer?",
        answer=1.2,
        tolerance=0.002,
        why="The shares of the tokens are 0.75 and 0.25. The loss is therefore 2 · (0.75 · 0.7 + 0.25 · 0.3) = 2 · 0.6 = 1.2.",
        wrong={
            0.6: "The factor N is missing: there are two experts.",
            1.0: "That would be perfect balance. Here the first expert gets three of four tokens.",
            4.8: "You have multiplied by the counts of tokens. The shares are 3/4 and 1/4.",
            2.4: "You have multiplied by the counts of tokens and left out the factor N.",
        },
        otherwise="Multiply each expert's share of the tokens by its mean probability, add up the products and multiply by the number of experts.",
    ),
    NumberQuestion(
        "18.q3",
        "the best two",
        "Three experts have the scores ln 6, 0 and ln 2. Only the best two may answer. What weight does the third expert get?",
        answer=0.25,
        tolerance=0.002,
        why="The second expert is left out. The exponentials of the other two scores are 6 and 2, and 2 / (6 + 2) = 0.25.",
        wrong={
            0.222: "That is the softmax over all three scores, but the second expert may not answer.",
            0.75: "That is the weight of the first expert.",
            0.0: "The third expert is one of the best two: ln 2 is larger than 0.",
            0.279: "You have divided the scores themselves. A softmax divides their exponentials.",
        },
        otherwise="Leave the second expert out and take the softmax over the other two scores. The exponential of ln 6 is 6.",
    ),
    Question(
        "18.q4",
        "how a gate learns",
        "A switch multiplies the output of its one expert by the softmax over all scores. What would go wrong with the softmax over the one score that is kept?",
        right=(
            "It is always 1, so the answer would give the gate no gradient.",
            "The answer would not change with the scores. The softmax over all scores changes with each of them.",
        ),
        wrong=(
            (
                "It is always 1, so the answer would give the expert no gradient.",
                "An output that is multiplied by 1 gets its full gradient. It is the gate that gets none.",
            ),
            (
                "It is always 0, so the token would pass unchanged.",
                "The softmax of a single number is 1, whatever the number is.",
            ),
            (
                "It grows with the score, so the same expert would be chosen ever more often.",
                "It does not change with the score at all: the softmax of a single number is 1.",
            ),
        ),
    ),
    Question(
        "18.q5",
        "equal work",
        "A layer with 8 experts beat a layer with a single network. Why is this a comparison at nearly equal work per token, although the first layer has about 8 times as many parameters?",
        right=(
            "Each token goes through only one expert, which is as large as the single network.",
            "More experts can remember more, but the work per token does not grow, apart from the gate's few multiplications.",
        ),
        wrong=(
            (
                "All experts answer each token, but each is 8 times smaller.",
                "Each is as large as the single network, and only one of them answers.",
            ),
            (
                "Both layers read and return vectors of the same width.",
                "So does the network that is 8 times as wide inside, and there each token costs 8 times the single network's work.",
            ),
            (
                "A network 8 times as wide does no better than the 8 experts.",
                "It learns faster still, but each token then costs seven times the experts' work.",
            ),
        ),
    ),
)

predictions = (
    Prediction(
        "18.without_balance",
        "The loss asks only for the right words. What share of the words, from 0 to 1, will be right after training?",
        why="A guess would get 0.02. Only experts that are asked can learn, and a few of them have to share all languages.",
    ),
    Prediction(
        "18.translators",
        "Which layer gets more words right after 1,200 steps?",
        why="One likely reason: in the wide network, each token uses all hidden units. With 8 experts, it uses an eighth of them.",
        choices=("8 experts", "one wide network"),
    ),
    Prediction(
        "18.own",
        "After training with your loss, what is the weighted sum of both experts at x = 1?",
        why="Each expert follows one of the targets. But x does not tell which target will come, so the gate cannot prefer either, and 6 and -6 cancel.",
        choices=("near 6 or near -6", "near 0"),
    ),
)
