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
                "Smoothing adds to the loss, but by how much depends on the model: the more sure it is, the more is added.",
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
    NumberQuestion(
        "13.q4",
        "what a cache holds",
        "A decoder has 3 layers of width 128 and 4 heads. It has read 10 words of its own translation. How many numbers are in the cache of its causal self-attention?",
        answer=7680,
        tolerance=0,
        why="Each of 3 layers keeps a key and a value of width 128 for each of 10 words: 3 · 2 · 128 · 10 = 7,680. The heads share the width among them.",
        wrong={
            3840.0: "That is the keys alone. The values are needed at every step, too.",
            2560.0: "That is one layer. Each layer has keys and values of its own.",
            11520.0: "That counts the queries, too. A query is used at its own step alone.",
            30720.0: "That counts the full width for each head. A head's keys are only 128 / 4 = 32 wide.",
            1920.0: "That is a single head. The other three keep keys and values, too.",
        },
        otherwise="Count keys and values: how wide they are, for how many words, in how many layers.",
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
        "How many words will the model get right that learns without a warm-up, but with the same rates from step 40 on?",
        why="The first step moves nearly every weight by 0.18. From step 40 on the rates are the same, and these 60 steps do not repair what the first ones have done.",
        choices=("fewer than half", "as many as with SGD", "as many as with Adam"),
    ),
    Prediction(
        "13.dropout",
        "With 1,500 pairs, each read 53 times: what does dropout do?",
        why="Without it the model is worse with every seed. What is read again and again can be learned by heart, and dropout should prevent that.",
        choices=("it helps", "it hurts", "the seeds disagree"),
    ),
)
