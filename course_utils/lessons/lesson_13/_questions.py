"""The questions of lesson 13: five on its goals, and the guesses asked for before a cell shows its result."""

from course_utils.checks.question import NumberQuestion, Prediction, Question

questions = (
    NumberQuestion(
        "13.q1",
        "a step of Adam",
        "Adam's rate is 0.01, and a weight's very first gradient is -5. By how much does the weight change, with its sign?",
        answer=0.01,
        tolerance=0.0005,
        why="At the first step m / (1 - β₁) is g and the root of v / (1 - β₂) is |g|, so that the change is -rate · g / |g| = +0.01.",
        wrong={
            -0.01: "The size is right. But a step goes against the gradient: where it is negative, the weight grows.",
            0.05: "That is SGD's step, rate × gradient. Adam divides by the root of the mean square, which here is 5.",
            -0.05: "That is the rate times the gradient. Adam divides by the root of the mean square, and a step goes against the gradient.",
            0.001: "That leaves out the correction of m: both running means are divided by 1 - β before they are used.",
        },
        otherwise="Compute m and v after one step, from 0. Divide each by 1 minus its β, and then m by the root of v.",
    ),
    Question(
        "13.q2",
        "label smoothing",
        "A model learns with label smoothing of 0.1 and reaches a loss of 1.5. Another one learns without it and reaches 1.3. Which model gives the right words more probability?",
        right=(
            "The two losses can't tell us, since they ask for different probabilities.",
            "With smoothing even the best model has a loss well above 0. Compare both by one measure, such as the loss without smoothing, or BLEU.",
        ),
        wrong=(
            (
                "The second one does, since a lower loss is a higher probability.",
                "That would hold if both were the same loss. A smoothed loss also asks for some probability for all other words.",
            ),
            (
                "The first one does, since smoothing always adds to the loss.",
                "What smoothing adds to the loss depends on the model. Where a model is sure of a wrong word, it may even lower the loss.",
            ),
            (
                "Both give the same, since 0.2 is what smoothing of 0.1 costs.",
                "What it costs depends on the number of words and on the model. There is no fixed price to subtract.",
            ),
        ),
    ),
    Question(
        "13.q3",
        "reading an ablation",
        "With an ingredient, the seeds 0 to 4 reach 81, 85, 90, 86 and 92 BLEU; without it, 84, 89, 94, 89 and 95. What does this show?",
        right=(
            "It harms in this setting, by 3 to 4 BLEU, with each of the five seeds.",
            "The paired differences are 3, 4, 4, 3 and 3. Chance alone gives five equal signs once in 16 times, and hardly ever five differences so alike.",
        ),
        wrong=(
            (
                "Nothing, since the ranges 81 to 92 and 84 to 95 overlap.",
                "The ranges are wide because the seeds differ from one another. Subtract the two runs of each seed: all five differences have the same sign.",
            ),
            (
                "It harms whenever one trains a Transformer, by 3 to 4 BLEU.",
                "It shows this for one model, one data set and one length of training. Dropout helped in one of our settings and harmed in another.",
            ),
            (
                "It harms by 14 BLEU, from the worst run with it to the best without.",
                "These two runs differ in their seed, too. Compare runs with the same seed.",
            ),
        ),
    ),
    Question(
        "13.q4",
        "the lines of a recipe",
        "Four parts of a recipe are added to the loop of this lesson. Which one changes no line of `train`?",
        right=(
            "Dropout, since it belongs to the model that `train` is given.",
            "The loop only says when it is on: `model.train()` and `model.eval()` are there already.",
        ),
        wrong=(
            (
                "Label smoothing, since the right words stay the same ones.",
                "What is asked for changes, and so does the line that computes the loss: it gets `label_smoothing=0.1`.",
            ),
            (
                "A warm-up, since the optimizer raises its rate by itself.",
                "Adam keeps the rate that it was given. A line before `optimizer.step()` has to set it anew at each step.",
            ),
            (
                "Adam, since it moves the weights by `step` as SGD does.",
                "The call of `step` stays the same, but the line that makes the optimizer does not.",
            ),
        ),
    ),
    Question(
        "13.q5",
        "a cache, BERT and GPT",
        "GPT writes with a cache of keys and values. Why could BERT not write one word after the other in this way?",
        right=(
            "In BERT every word sees all others, so a new word changes the vectors of those before it.",
            "Its keys and values would have to be computed anew for each word. In GPT no word sees a later one, so that what is kept stays right.",
        ),
        wrong=(
            (
                "BERT has no keys and values, since it is an encoder.",
                "Each self-attention has them, the encoder's too. The difference is in the mask.",
            ),
            (
                "BERT has no positions, so it can't tell where a new word stands.",
                "BERT has learned positions, 512 of them. The difference is in the mask.",
            ),
            (
                "BERT has fewer layers, so a cache would save it nothing.",
                "BERT base and GPT both have 12 layers of width 768. The difference is in the mask.",
            ),
        ),
    ),
)

predictions = (
    Prediction(
        "13.adam",
        "Two weights have the gradients 4 and 0.01, and the rate is 0.1. How far does Adam's first step move the second weight?",
        why="The step is rate · 0.01 / 0.01 = 0.1: at first Adam moves every weight by the rate, whatever its gradient.",
    ),
    Prediction(
        "13.warm_up",
        "A model learns without a warm-up, but with the same rates from step 40 on. How many words will it get right?",
        why="The first step moves nearly every weight by 0.18, and the next steps are too large, too. From step 40 on the rates are the same, but these 60 steps do not repair what the first ones have done.",
        choices=("fewer than half", "as many as with SGD", "as many as with Adam"),
    ),
    Prediction(
        "13.dropout",
        "With 1,500 pairs, each read 53 times: what does dropout do?",
        why="Without it the model is worse with every seed. What is read again and again can be learned by heart, and dropout should prevent that.",
        choices=("it helps", "it hurts", "the seeds disagree"),
    ),
)
