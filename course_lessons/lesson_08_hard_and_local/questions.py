"""The questions of lesson 08: five on its goals, and the guesses asked for before a cell shows its result."""

from course_utils.checks.question import NumberQuestion, Prediction, Question

questions = (
    Question(
        "08.q1",
        "what is read",
        "A sentence has 40 words, and local attention has a window with D = 5. How many values does each kind of attention read to write one word of the translation?",
        right=(
            "Soft attention reads 40, local attention at most 11, hard attention one.",
            "The window covers 5 positions on each side of its centre. Hard attention draws a single position.",
        ),
        wrong=(
            (
                "All of them read 40 values, because the weights over a sentence always sum to 1.",
                "A value whose weight is 0 need not be read, and hard attention reads only the value that it draws.",
            ),
            (
                "Soft and hard attention read 40, and local attention reads 5.",
                "Hard attention reads the value at the position that it draws and no other. With D = 5, the window covers 5 positions on each side.",
            ),
            (
                "Soft attention reads 40, local attention 11, and hard attention 40, of which it returns the largest.",
                "Hard attention draws one position, with the weights as probabilities, and reads its value.",
            ),
        ),
    ),
    NumberQuestion(
        "08.q2",
        "a gradient from one draw",
        "Three positions have the probabilities 0.5, 0.3 and 0.2. The first one is drawn, and its reward is 4. "
        "There is no baseline. What is the estimated gradient of the expected reward with respect to the first score?",
        answer=2.0,
        tolerance=0.01,
        why="It is R (1 - p) at the position that was drawn: 4 · (1 - 0.5) = 2.",
        wrong={
            -2.0: "That is the gradient of the loss. The question asks for the gradient of the reward, which has the opposite sign.",
            4.0: "You have left out the second factor: the gradient of log p with respect to its own score, 1 - p.",
            8.0: "You have used the gradient with respect to the probability, 1 / p. With respect to the score, it is 1 - p.",
            0.5: "That is 1 - p alone. It still has to be multiplied by the reward.",
        },
        otherwise="Multiply the reward by the gradient of log p with respect to the score of the position that was drawn, 1 - p.",
    ),
    Question(
        "08.q3",
        "what a baseline does",
        "All rewards lie between 0 and 1. We now add 10 to each of them. What happens to the estimates of the gradient?",
        right=(
            "Their mean does not change, but without a baseline their variance grows a lot.",
            "The 10 adds ten times the gradient of log p to each estimate, and the mean of this gradient is 0. A baseline can subtract the 10 again.",
        ),
        wrong=(
            (
                "Their mean becomes larger, because all positions are now worth more.",
                "What counts is which positions are worth more than others, and that has not changed. The mean does not change either.",
            ),
            (
                "Nothing changes, neither their mean nor their variance.",
                "The mean does not change, but each estimate is now multiplied by a larger reward, so the estimates lie further apart.",
            ),
            (
                "Their mean moves away from the exact gradient, and a baseline brings it back.",
                "The mean does not move: the mean of the gradient of log p is 0, and ten times 0 is 0.",
            ),
        ),
    ),
    NumberQuestion(
        "08.q4",
        "the weight in a window",
        "A window with D = 4 has its centre at 6, so σ is 2. By what factor does the Gaussian multiply the weight of position 8?",
        answer=0.6065,
        tolerance=0.007,
        why="It is exp(-(8 - 6)² / (2 · 2²)) = exp(-0.5) = 0.61.",
        wrong={
            0.8825: "That is exp(-0.125), the value for σ = 4. σ is half of D.",
            0.135: "That is exp(-2), the value for σ = 1. Here σ is D / 2 = 2.",
            0.3679: "That is exp(-1). The denominator is 2σ² = 8.",
            0.7788: "That is exp(-0.25). Have you squared the distance? It is 2, and its square is 4.",
        },
        otherwise="Take exp(-d² / (2σ²)) with the distance d = 2 and σ = 2.",
    ),
    Question(
        "08.q5",
        "where a window is not enough",
        "A decoder with local-m and D = 2 reads and writes letters. In which of these tasks is the letter it needs often outside the window?",
        right=(
            "Write 20 letters in reverse order.",
            "The first letter to write is the last letter of the source, 19 positions away from the centre.",
        ),
        wrong=(
            (
                "Copy 200 letters, after training on at most 12.",
                "The rule holds at any length: letter 150 is at position 150, the centre of the window.",
            ),
            (
                "Swap each odd-numbered letter with the one after it.",
                "The letter needed is one position away, so it is inside the window.",
            ),
            (
                "Replace each letter with the next letter of the alphabet.",
                "The letter needed is at the same position, the centre of the window.",
            ),
        ),
    ),
)

predictions = (
    Prediction(
        "08.baseline",
        "What does a baseline of 4.3 change: the mean of the estimates, their variance, or both?",
        why="The mean depends only on the differences between the rewards. But without a baseline, each estimate is multiplied by a reward from 1 to 6, whereas with a baseline of 4.3 it is multiplied by the difference from 4.3, which is at most 3.3.",
        choices=("only the mean", "only the variance", "both"),
    ),
    Prediction(
        "08.values_read",
        "Hard attention gets ten times as many questions as soft attention. After 25 steps, is its mean share over five seeds behind soft attention or ahead of it?",
        why="Each draw is noisy. But hard attention has seen ten times as many questions, which made up for the noise.",
        choices=("behind", "ahead"),
    ),
    Prediction(
        "08.window",
        "Which kind of attention gets the most words right in 20-word sentences when both languages have the same word order?",
        why="With the same word order, word 15 of the translation belongs to source word 15 or to one close to it, because some words are left out and others become two. Local-m has this rule built in, whereas the others have to learn where to look from sentences of at most 12 words.",
        choices=("global", "local-m", "local-p"),
    ),
)
