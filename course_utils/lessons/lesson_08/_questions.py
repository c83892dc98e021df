"""The questions of lesson 08: five on its goals, and the guesses asked for before a cell shows its result."""

from course_utils.checks.question import NumberQuestion, Prediction, Question

questions = (
    Question(
        "08.q1",
        "what is read",
        "A sentence has 40 words. How many values does each kind of attention read for one word of the translation?",
        right=(
            "Soft attention reads 40, local attention with a window of 5 at most 11, hard attention one.",
            "The window reaches 5 positions to each side of its centre. Hard attention picks a single position.",
        ),
        wrong=(
            (
                "All of them read 40 values, since the weights of a sentence always add up to 1.",
                "A value whose weight is 0 need not be read. Hard attention reads only the one that it picks.",
            ),
            (
                "Soft and hard attention read 40, and local attention with a window of 5 reads 5.",
                "Hard attention reads the value of the position that it picks and no other. And a window of 5 reaches 5 positions to each side.",
            ),
            (
                "Soft attention reads 40, local attention 11, and hard attention 40, of which it returns the largest.",
                "Hard attention draws one position with the probabilities that the weights give, and reads its value.",
            ),
        ),
    ),
    NumberQuestion(
        "08.q2",
        "a gradient from one sample",
        "Three positions have the probabilities 0.5, 0.3 and 0.2. The first one is drawn and earns the reward 4. "
        "Without a baseline, what does this sample say about the gradient of the expected reward with respect to the first score?",
        answer=2.0,
        tolerance=0.01,
        why="It is R (1 - p) at the position that was drawn: 4 · (1 - 0.5) = 2.",
        wrong={
            -2.0: "That is the gradient of the loss. The question asks for the gradient of the reward, which has the opposite sign.",
            4.0: "You have left out the second factor: the gradient of log p with respect to its own score, 1 - p.",
            8.0: "You have taken the gradient with respect to the probability, 1 / p. With respect to the score it is 1 - p.",
            0.5: "That is 1 - p alone. It still has to be multiplied by the reward.",
        },
        otherwise="Multiply the reward by the gradient of log p with respect to the score of the position that was drawn, 1 - p.",
    ),
    Question(
        "08.q3",
        "what a baseline does",
        "All rewards lie between 0 and 1. Now each is raised by 10. What happens to the estimated gradient?",
        right=(
            "Its mean stays as it is, and without a baseline its variance grows a lot.",
            "A constant adds to each sample a multiple of the gradient of log p, whose mean is zero. A baseline takes the constant away again.",
        ),
        wrong=(
            (
                "It becomes larger, as all positions are now worth more.",
                "What counts is which positions are worth more than others, and that has not changed. The mean stays as it is.",
            ),
            (
                "Nothing at all changes, neither its mean nor its variance.",
                "The mean stays. But each single sample is now multiplied by a larger number, so the samples lie further apart.",
            ),
            (
                "Its mean moves away from the exact gradient, and a baseline brings it back.",
                "The mean does not move: the gradient of log p has mean zero, whatever constant it is multiplied by.",
            ),
        ),
    ),
    NumberQuestion(
        "08.q4",
        "the weight in a window",
        "A local window of 4 positions to each side has its centre at 6.0, so σ is 2. By what factor does the Gaussian multiply the weight of position 8?",
        answer=0.6065,
        tolerance=0.007,
        why="It is exp(-(8 - 6)² / (2 · 2²)) = exp(-0.5) = 0.61.",
        wrong={
            0.8825: "That is exp(-0.125), with σ = 4. σ is half of the window.",
            0.135: "That is exp(-2), where σ = 1. Here σ is half of the window of 4 positions, so 2.",
            0.3679: "That is exp(-1): the denominator is 2σ², so 8.",
            0.7788: "That is exp(-0.25). Have you squared the distance? It is 2, and its square is 4.",
        },
        otherwise="Take exp(-d² / (2σ²)) with the distance d = 2 and σ = 2.",
    ),
    Question(
        "08.q5",
        "where a window is not enough",
        "local-m has a window of 2 and writes letter after letter. In which of these tasks is the letter that it needs often outside the window?",
        right=(
            "Write 20 letters in the reversed order.",
            "The first letter to write is the last one of the source, 19 positions away from the centre.",
        ),
        wrong=(
            (
                "Copy 200 letters, after training on at most 12.",
                "The rule holds at any length: letter 150 is at position 150, the centre of the window.",
            ),
            (
                "Exchange each odd letter with the one after it.",
                "The letter that is needed is one position away, so the window holds it.",
            ),
            (
                "Replace each letter by the next one of the alphabet.",
                "The letter that is needed is at the same position, the centre of the window.",
            ),
        ),
    ),
)

predictions = (
    Prediction(
        "08.baseline",
        "By about what factor does the mean reward as a baseline make the variance smaller?",
        why="Without a baseline every draw pushes its own position up in proportion to its reward, 1 to 4. With the mean reward only the difference from it counts, at most 1.7, and the variance grows with its square.",
        choices=("2", "5", "13"),
    ),
    Prediction(
        "08.values_read",
        "With ten times as many questions, where is hard attention (with baseline) after 25 steps? Within 0.1 of the mean of soft attention is about equal.",
        why="It reads as many values as soft attention does. Each draw is noisy, but the mean over ten times as many draws is less so.",
        choices=("behind", "about equal", "ahead"),
    ),
    Prediction(
        "08.window",
        "Which attention gets the most words right in monotone sentences of 20 words?",
        why="In this order word 15 mostly belongs to a source word close to 15. local-m has this rule built in; the others have to learn where to look from sentences of at most 12 words.",
        choices=("global", "local-m", "local-p"),
    ),
)
