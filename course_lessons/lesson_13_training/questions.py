"""The questions of lesson 13: five on its goals, and the guesses asked for before a cell shows its result."""

from course_utils.checks.question import NumberQuestion, Prediction, Question

questions = (
    NumberQuestion(
        "13.q1",
        "a step of Adam",
        "Adam's learning rate is 0.01, and the first gradient of a weight is -5. By how much does the weight change? Give the sign as well.",
        answer=0.01,
        tolerance=0.0005,
        why="At the first step, m / (1 - β₁) is g and the square root of v / (1 - β₂) is |g|, so the change is -rate · g / |g| = +0.01.",
        wrong={
            -0.01: "The size is right, but a step goes against the gradient: where the gradient is negative, the weight grows.",
            0.05: "That is SGD's step, rate × gradient. Adam divides by the root mean square, which is 5 here.",
            -0.05: "That is the rate times the gradient. Adam divides by the root mean square, and a step goes against the gradient.",
            0.001: "That leaves out the correction of m: both running means are divided by 1 - β before they are used.",
        },
        otherwise="Compute m and v after one step, from 0. Divide each by 1 minus its β, and then m by the square root of v.",
    ),
    Question(
        "13.q2",
        "label smoothing",
        "One model is trained with label smoothing of 0.1, and its smoothed loss is 1.5. A second model is trained without smoothing, and its loss is 1.3. Which model gives the correct words more probability?",
        right=(
            "The two losses can't tell us, because they ask for different probabilities.",
            "With smoothing, even the best model has a loss well above 0. Compare both models by one measure, such as the loss without smoothing or BLEU.",
        ),
        wrong=(
            (
                "The second one does, because a lower loss is a higher probability.",
                "That would be true if both were the same loss. A smoothed loss also asks for some probability for all other words.",
            ),
            (
                "The first one does, because smoothing always adds to the loss.",
                "What smoothing adds to the loss depends on the model. Where a model is sure of the wrong word, smoothing may even lower the loss.",
            ),
            (
                "Both give the same, because 0.2 is what smoothing of 0.1 costs.",
                "What smoothing costs depends on the number of words and on the model. There is no fixed amount to subtract.",
            ),
        ),
    ),
    Question(
        "13.q3",
        "reading an ablation",
        "With an ingredient, the seeds 0 to 4 reach 81, 85, 90, 86 and 92 BLEU; without it, 84, 89, 94, 89 and 95. What does this show?",
        right=(
            "The ingredient harms in this setting, by 3 to 4 BLEU, with each of the five seeds.",
            "The paired differences are 3, 4, 4, 3 and 3. Chance alone gives five equal signs one time in 16, and hardly ever five differences so alike.",
        ),
        wrong=(
            (
                "Nothing, because the ranges 81 to 92 and 84 to 95 overlap.",
                "The ranges are wide because the seeds differ from one another. Subtract the two runs of each seed: all five differences have the same sign.",
            ),
            (
                "The ingredient harms every Transformer that is trained with it, by 3 to 4 BLEU.",
                "The runs show this for one model, one data set and one length of training. Dropout helped in one of our settings and harmed in another.",
            ),
            (
                "The ingredient harms by 14 BLEU, from the worst run with it to the best without it.",
                "These two runs also differ in their seed. Compare runs with the same seed.",
            ),
        ),
    ),
    Question(
        "13.q4",
        "the parts of a training loop",
        "A training loop moves the weights with SGD at a constant learning rate. You add four parts to the training. Which of them belongs to the model, so that nothing else has to change?",
        right=(
            "Dropout, because the model itself sets numbers to 0.",
            "The loop only says when dropout is on, with `model.train()` and `model.eval()`.",
        ),
        wrong=(
            (
                "Label smoothing, because the correct words stay the same.",
                "The loss asks for different probabilities, so the line that computes it changes: it gets `label_smoothing=0.1`.",
            ),
            (
                "A warm-up, because the optimizer raises its learning rate by itself.",
                "An optimizer keeps the learning rate that it was given. The loop needs a schedule, which changes the rate after each step.",
            ),
            (
                "Adam, because `optimizer.step()` moves the weights as before.",
                "The call of `step` stays the same, but the loop has to create a different optimizer.",
            ),
        ),
    ),
    Question(
        "13.q5",
        "what a translation model knows",
        "None of these captions was in the translation model's training set. Which of them would you expect it to translate worst?",
        right=(
            "one with a word that none of its 29,000 captions contains",
            "For such captions its BLEU was 21.0, the lowest of all. The model knows best what its captions have shown often.",
        ),
        wrong=(
            (
                "one with a word that 5 of its 29,000 captions contain",
                "“Elephants” is in 5 captions and was translated. For words in 1 to 9 captions, the BLEU was 25.2, which is low but not the lowest.",
            ),
            (
                "one whose words are all in 100 captions or more",
                "These were translated best, with a BLEU of 44.7. That a caption is new does not matter much if its words are not.",
            ),
            (
                "one whose verb has a different place in German than in English",
                "In our sentence with “who wears”, the verb was at the end of its clause, as it must be in German. The captions have shown such clauses.",
            ),
        ),
    ),
)

predictions = (
    Prediction(
        "13.adam",
        "Two weights have the gradients 4 and 0.01, and the learning rate is 0.1. By how much does Adam's first step move the second weight?",
        why="The step is rate · 0.01 / 0.01 = 0.1: at first, Adam moves every weight by the learning rate, unless its gradient is 0.",
    ),
    Prediction(
        "13.warm_up",
        "Which of these four ways fails?",
        why="It fails with each of the five seeds.",
        choices=("pre", "pre, warm-up", "post", "post, warm-up"),
    ),
    Prediction(
        "13.dropout",
        "The models learn from 1,500 pairs and see each of them 53 times. What does dropout do?",
        why="Without dropout, the models are worse on new sentences, with every seed.",
        choices=("it helps", "it hurts", "the seeds disagree"),
    ),
)
