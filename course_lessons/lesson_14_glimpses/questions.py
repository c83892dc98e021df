"""The questions of lesson 14: five on its goals, and the guesses asked for before a cell shows its result."""

from course_utils.checks.question import NumberQuestion, Prediction, Question

questions = (
    NumberQuestion(
        "14.q1",
        "how many numbers a glimpse has",
        "A sensor takes four patches of 6×6 cells each from a picture of 128×64 pixels. How many numbers does one glimpse have?",
        answer=144,
        tolerance=0.5,
        why="Four patches of 36 cells each make 144 numbers. The picture's size does not matter.",
        wrong={
            36: "That is one patch of 6×6 cells. The sensor takes four patches.",
            3060: "You have counted the pixels that the patches span, 6², 12², 24² and 48². Each patch is reduced to 6×6 cells.",
            8192: "That is the number of pixels in the whole picture. A glimpse has only the cells in its patches.",
            1296: "That is 6⁴. Each of the four patches has 6 · 6 cells.",
        },
        otherwise="Each patch has 6 · 6 cells, however many pixels it spans, and there are four patches.",
    ),
    Question(
        "14.q2",
        "what each network reads",
        "What does the location network read, and what does it output?",
        right=(
            "It reads the core's state and outputs the mean near which the next location is sampled.",
            "The state is all that the model knows: what it has seen so far, and where. The picture itself is never read.",
        ),
        wrong=(
            (
                "It reads the whole picture at a coarse resolution and outputs the place of the digit.",
                "None of the four networks sees the picture. What a coarse patch has shown reaches them only through the state.",
            ),
            (
                "It reads the last glimpse and outputs one weight for each pixel of the picture.",
                "There are no weights over pixels here: the network outputs one pair of numbers, and it reads the state, which also holds the earlier glimpses.",
            ),
            (
                "It reads the location so far and outputs the direction in which the reward grows.",
                "The location reaches it only through the state. Moreover, the network outputs a place, not a direction, and the reward comes later.",
            ),
        ),
    ),
    Question(
        "14.q3",
        "which term moves which weights",
        "In the hybrid loss, which term moves the weights of the location network?",
        right=(
            "Only the one with the log densities.",
            "A sampled place is detached from its mean, so the cross-entropy does not reach the location network. This network learns from the reward, through the density at that place.",
        ),
        wrong=(
            (
                "The cross-entropy, through the glimpses that the locations lead to.",
                "The sampled place is detached from its mean with `.detach()`, and the sensor, which rounds to whole pixels, passes no gradient on.",
            ),
            (
                "All three of them, because they are added up to one loss.",
                "They are added up, but a gradient reaches the weights only from a term that depends on them in a differentiable way.",
            ),
            (
                "The square of the surprise, because it compares the reward with what was expected.",
                "That term teaches the baseline what to expect. It does not depend on the location network's weights.",
            ),
        ),
    ),
    NumberQuestion(
        "14.q4",
        "which way the mean moves",
        "A location was sampled at x = 0.5 from a Gaussian with mean 0.1 and σ = 0.2. The reward is 0.9, and 0.4 was expected. "
        "What is (R - b) times the gradient of the log density with respect to the mean's x?",
        answer=5.0,
        tolerance=0.01,
        why="The gradient is (0.5 - 0.1) / 0.2² = 10, and the surprise is 0.9 - 0.4 = 0.5. The mean moves towards the sampled place.",
        wrong={
            -5.0: "That is the sign in the loss, which is minimised. The question asks for the direction in which the mean moves.",
            9.0: "You have multiplied by the reward itself. The baseline is subtracted first.",
            1.0: "You have divided by σ. The gradient of the log density has σ² in the denominator.",
            10.0: "That is the gradient of the log density alone. It still has to be multiplied by the surprise, R - b.",
            0.2: "You have left out the division by σ².",
        },
        otherwise="Take (l - μ) / σ² and multiply it by R - b.",
    ),
    Question(
        "14.q5",
        "a model that has seen more",
        "You suspect that a model has read more of a picture than its glimpses show. How do you find out?",
        right=(
            "Change pixels outside all its glimpses and see whether its answer changes.",
            "A model that keeps to its glimpses is not affected. If the answer changes, the model has read something else.",
        ),
        wrong=(
            (
                "Change pixels inside its glimpses and see whether its answer stays the same.",
                "That tests whether it uses what it sees. A model that peeks may use what it sees as well.",
            ),
            (
                "Compare its accuracy with that of a network that reads all pixels.",
                "A model may peek and do badly, or keep to its glimpses and do well. Accuracy cannot tell the two apart.",
            ),
            (
                "Compute the gradient of its answer with respect to the locations, which must be zero.",
                "A location is also an input of the glimpse network, so this gradient is not zero, and it says nothing about pixels.",
            ),
        ),
    ),
)

predictions = (
    Prediction(
        "14.mean",
        "Which way does the mean move?",
        why="The sampled place is to the right of the mean and was worse than expected, so places like it should become less probable.",
        choices=("left", "right", "it stays"),
    ),
    Prediction(
        "14.found",
        "In how many of 100 fields does the second look hit the digit's box?",
        why="Nobody has told the model where the digits are. We test below what taught it.",
    ),
    Prediction(
        "14.without",
        "How often does the second look hit the digit's box now, compared with before training?",
        why="Nothing has told the location network which places are good: it still has its initial weights.",
        choices=("much more often", "about as often", "much less often"),
    ),
    Prediction(
        "14.own",
        "Which model names more digits correctly after 600 steps: the one that is rewarded for the answer, or the one that is rewarded for the look?",
        why="Finding a digit is not the same as reading it. More steps reverse the order, as the text below says.",
        choices=("the answer", "the look"),
    ),
)
