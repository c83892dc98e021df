"""The questions of lesson 09: five on its goals, and the guesses asked for before a cell shows its result."""

from course_utils.checks.question import NumberQuestion, Prediction, Question

questions = (
    NumberQuestion(
        "09.q1",
        "self-attention by hand",
        "Two words have the queries 0 and 1, the keys 0 and 1.0986 = ln 3, and the values 4 and 8. All widths are 1. What is the context of the second word?",
        answer=7.0,
        tolerance=0.01,
        why="Its scores are 0 and ln 3, so its weights are 1/4 and 3/4, and its context is 1 + 6 = 7.",
        wrong={
            6.0: "That is the context of the first word, whose query 0 makes both scores 0. The second word's query is 1.",
            5.0: "You have swapped the weights: the second score is the larger one, so the second value gets 3/4.",
            8.0: "That is only the value with the largest score, or the result of a softmax over the queries. Each query's weights add up to 1, and the first value still gets 1/4.",
            8.79: "You have multiplied the values by the scores. The softmax, which turns scores into weights, comes first.",
        },
        otherwise="The scores are query times key, 0 and ln 3. Then apply the softmax and sum the values with these weights.",
    ),
    Question(
        "09.q2",
        "a different order",
        "A model consists of one self-attention layer. You swap two words in a sentence. What happens to the contexts?",
        right=(
            "The contexts of the two words change places, and no others move.",
            "Each context depends on the word itself and on the set of all words, neither of which has changed.",
        ),
        wrong=(
            (
                "All contexts stay where they are, because it is the same set of words.",
                "The two words are in different places now, and each takes its context with it.",
            ),
            (
                "All contexts change, because every word now has different neighbours.",
                "Self-attention knows nothing about neighbours: a score depends on two vectors, not on where they are.",
            ),
            (
                "The contexts of the words in between change, and the others stay.",
                "A word in between sees the same vectors as before, and the sum over them has no order.",
            ),
        ),
    ),
    Question(
        "09.q3",
        "a test for leaks",
        "In a model, no word should see later words. Which test would show that the model breaks this rule?",
        right=(
            "Change the words after position t and see whether the outputs up to t stay the same, for every t.",
            "What must not be seen must not matter. Any output up to t that changes has seen something later.",
        ),
        wrong=(
            (
                "Train the model and see whether the loss on the training set becomes very small.",
                "A leak may make the loss small, but a good model's loss is also small, and a small leak may hardly show in it.",
            ),
            (
                "Change the words before position t and see whether the outputs after t change.",
                "They should change: later positions may see earlier ones. This test finds a model that sees too little.",
            ),
            (
                "Leave out the last word and see whether the sentence's other outputs have the right shape.",
                "Shapes say nothing about what was seen. The values themselves have to stay the same.",
            ),
        ),
    ),
    NumberQuestion(
        "09.q4",
        "longer than wide",
        "A sentence has 1,000 words, and vectors have a width of 250. Count all multiplications, including the ones that compute queries, keys and values. What is the number for self-attention divided by the number for a plain recurrent layer?",
        answer=5.5,
        tolerance=0.01,
        why="(3nd² + 2n²d) / 2nd² is 3/2 + n/d, so 1.5 + 1,000 / 250 = 5.5.",
        wrong={
            4.0: "That is n² d over n d², without the constant factors and without the three matrices.",
            0.182: "That is the recurrent layer's work divided by self-attention's. The question asks for the inverse.",
            3.5: "The scores take n² d multiplications, and the weighted sums take as many again.",
            7.0: "That counts one matrix for the recurrent layer. It has two, one for the word and one for the state.",
        },
        otherwise="Divide 3nd² + 2n²d by 2nd², with n = 1,000 and d = 250.",
    ),
    Question(
        "09.q5",
        "what reach decides",
        "In a restricted self-attention layer, each word looks at 4 words on each side. One word needs information from a word 10 positions away. What helps?",
        right=(
            "Three such layers, stacked on top of each other.",
            "Each layer carries the information at most 4 positions further, so three layers bridge up to 12.",
        ),
        wrong=(
            (
                "More training, or a smaller learning rate.",
                "No training helps: the word's output does not depend on the other word at all, so there is no gradient between them.",
            ),
            (
                "Wider vectors, so that more fits into them.",
                "However wide the vectors are, nothing reaches the word from more than 4 positions away.",
            ),
            (
                "A mask that hides the words in between.",
                "A mask can only take away. It cannot add what is outside the radius.",
            ),
        ),
    ),
)

predictions = (
    Prediction(
        "09.reach",
        "One self-attention layer, one LSTM and one restricted self-attention layer with radius 4: which of them can answer at distance 16?",
        why="One step of self-attention reaches every position, and an LSTM's state can carry what it has read. The restricted layer does not reach beyond its radius.",
        choices=("self-attention", "LSTM", "self-attention and LSTM", "all of them"),
    ),
    Prediction(
        "09.fewest",
        "Which of the four layers needs the fewest multiplications for 50 words of width 512?",
        why="The recurrent layer has only two matrices, whereas self-attention has three even before it compares any two words.",
        choices=("self-attention", "recurrent", "convolution", "restricted"),
    ),
)
