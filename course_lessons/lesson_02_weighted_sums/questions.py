"""The questions of lesson 02: five on its goals, and the guesses asked for before a cell shows its result."""

from course_utils.checks.question import NumberQuestion, Prediction, Question

questions = (
    Question(
        "02.q1",
        "a low temperature",
        "What happens to the weights of a softmax as the temperature goes towards 0?",
        right=(
            "The largest score gets nearly all the weight.",
            "Dividing by a small temperature makes the differences between the scores large, and each difference of 1 already "
            "multiplies a weight by e ≈ 2.7.",
        ),
        wrong=(
            (
                "All weights become equal.",
                "That is what a high temperature does: it makes all scores nearly equal, which makes the weights nearly equal as well.",
            ),
            (
                "All weights go towards 0.",
                "The weights of a row always sum to 1, so they cannot all become small. What one word loses, another gains.",
            ),
            (
                "Nothing, since a softmax does not change when all scores are changed in the same way.",
                "A softmax stays the same when a constant is added to all scores. A temperature divides them, which changes "
                "their differences.",
            ),
        ),
    ),
    NumberQuestion(
        "02.q2",
        "two scores",
        "A sentence has two words, and the score of the first is ln 3 ≈ 1.0986 higher than the score of the second. How much weight does "
        "the first word get?",
        answer=0.75,
        tolerance=0.005,
        why="Its e^z is three times as large as the other, and 3 out of 3 + 1 parts is 0.75.",
        wrong={
            3: "3 is the ratio of the two weights. The weights themselves sum to 1.",
            0.25: "0.25 is the weight of the second word.",
            1.0986: "That is the difference of the scores. Softmax takes e^z of each score, then divides by the sum.",
        },
        otherwise="Take e^z of both scores: one is three times the other. Then divide by their sum.",
    ),
    Question(
        "02.q3",
        "padding",
        "Why is the score of padding set to -∞ before the softmax, and not to 0?",
        right=(
            "A score of 0 still earns a weight, and -∞ earns none.",
            "e^0 is 1, as for any word with the score 0. Only e^(-∞) is 0, and then the other weights sum to 1 by themselves.",
        ),
        wrong=(
            (
                "Only because 0 could be larger than the other scores. If 0 is the smallest score, it is good enough.",
                "Even if 0 is the smallest score of all, its word gets some weight: softmax gives a weight above 0 to every finite "
                "score.",
            ),
            (
                "So that the gradient of the other words does not vanish.",
                "The other words get a gradient in both cases. What matters is the weight that padding would take from them.",
            ),
            (
                "Because the weights of a row would sum to more than 1.",
                "Softmax makes every row sum to 1, whatever the scores are. With a score of 0, padding would get a share of that 1.",
            ),
        ),
    ),
    Question(
        "02.q4",
        "what one θ cannot do",
        "How many of the four cases, “good”, “not good”, “bad” and “not bad”, can fixed attention with one θ and a linear layer after it get right at most, and how many with two θs?",
        right=(
            "One gets three, two get four.",
            "With one θ, the output has the sign of a sum with one number per word, and such a sum gets three at most. With two, there are two "
            "different totals, so this proof does not hold, and we have seen two θs get all four.",
        ),
        wrong=(
            (
                "One gets two, two get four.",
                "One can do better: “not” takes weight away from the opinion, and then only one of the two negated cases is wrong.",
            ),
            (
                "One gets three, two get three as well.",
                "That would be true if they shared one denominator. Each θ has its own, and we have seen numbers with which two θs get all four.",
            ),
            (
                "One gets four, if its scores come from an MLP.",
                "However a word's score is computed, it depends on that word alone, so the same proof holds: three at most.",
            ),
        ),
    ),
    Question(
        "02.q5",
        "what one word changes for another",
        "Fixed attention reads “really great” and then “not really great”. What does “not” change for “great”?",
        right=(
            "Its weight, but not its score.",
            "The score is computed from “great” and θ alone. The weight is divided by a total, which has become larger.",
        ),
        wrong=(
            (
                "Its score, and therefore its weight.",
                "The score is the dot product of the vector of “great” and θ, and “not” changes neither.",
            ),
            (
                "Neither its score nor its weight.",
                "The score stays the same. But “not” adds its e^z to the total, and every weight is divided by this total.",
            ),
            (
                "Its weight, but only if its score is above 0.",
                "The e^z of “not” is positive for every score, so the total always grows and the weight of “great” always falls.",
            ),
        ),
    ),
)

predictions = (
    Prediction(
        "02.cold",
        'The scores of "not", "really" and "great" are 1, 2 and 4. How much weight does "great" get at temperature 0.4?',
        why="Divided by 0.4, its lead over the next score grows from 2 to 5, and e^5 is about 148: the others share less than 1%.",
    ),
    Prediction(
        "02.great_after_not",
        "“great” has a weight of 0.269 in “really great”. By what number is this weight divided in “not really great”, where the scores are 2, 1 and 0?",
        why="The e^z of “great” is still 1, but with “not” the total grows from 3.718 to 11.107, and 11.107 / 3.718 is 2.987.",
    ),
    Prediction(
        "02.one_attention",
        "What share of the four cases does the trained model with one θ get right, from 0 to 1?",
        why="Its output has the sign of a sum with one fixed number per word, so at most three of each four can be right, and training finds three.",
    ),
)
