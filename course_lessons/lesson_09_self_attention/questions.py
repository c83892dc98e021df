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
            5.0: "You have exchanged the weights: the second score is the larger one, so the second value gets 3/4.",
            8.0: "That is the value with the largest score alone, or what a softmax over the queries gives. Each query's weights add up to 1, and the first value keeps 1/4.",
            8.79: "You have multiplied the values by the scores. First comes the softmax, which turns them into weights.",
        },
        otherwise="Scores: query times key, 0 and ln 3. Then the softmax, and the sum of the values with these weights.",
    ),
    Question(
        "09.q2",
        "another order",
        "A model is one layer of self-attention. You exchange two words of a sentence. What happens to the contexts?",
        right=(
            "The contexts of the two words change places, and no others move.",
            "Each context depends on the word itself and on the set of all words, and neither has changed.",
        ),
        wrong=(
            (
                "All contexts stay where they are, since it is the same set of words.",
                "The two words stand elsewhere now, and each of them takes its context along.",
            ),
            (
                "All contexts change, as every word now has other neighbours.",
                "Self-attention knows nothing of neighbours: a score depends on two vectors, not on where they stand.",
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
        "A model should let no word see later ones. Which test would show that it breaks this rule?",
        right=(
            "Change the words after position t, and see whether the outputs up to t stay the same, for every t.",
            "What must not be seen must not matter. Any output up to t that moves has seen something later.",
        ),
        wrong=(
            (
                "Train it, and see whether the loss on the training set becomes very small.",
                "A leak may make the loss small, but a good model's loss is small too, and a small leak may hardly show in it.",
            ),
            (
                "Change the words before position t, and see whether the outputs after t change.",
                "They should change: later positions may see earlier ones. This finds a model that sees too little.",
            ),
            (
                "Leave out the last word, and see whether the sentence's other outputs have the right shape.",
                "Shapes say nothing about what was seen. The numbers themselves have to stay the same.",
            ),
        ),
    ),
    NumberQuestion(
        "09.q4",
        "longer than wide",
        "A sentence has 1,000 words, and vectors have the width 250. Count all multiplications, also those that make queries, keys and values. What do you get when you divide those of self-attention by those of a plain recurrent layer?",
        answer=5.5,
        tolerance=0.01,
        why="(3nd² + 2n²d) / 2nd² is 3/2 + n/d, so 1.5 + 1,000 / 250 = 5.5.",
        wrong={
            4.0: "That is n² d over n d², without the constant factors and without the three matrices.",
            0.182: "That is the recurrent layer's work divided by self-attention's. The question asks for the inverse.",
            3.5: "The scores take n² d multiplications, and the weighted sums take as many again.",
            7.0: "A recurrent layer has two matrices, one for the word and one for the state.",
        },
        otherwise="Divide 3nd² + 2n²d by 2nd², with n = 1,000 and d = 250.",
    ),
    Question(
        "09.q5",
        "what reach decides",
        "In a layer of restricted self-attention, a word looks at 4 words on each side. A word needs information from a word that is 10 positions away. What helps?",
        right=(
            "Three such layers, stacked on top of each other.",
            "Each layer carries it at most 4 positions further, so three bridge up to 12.",
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
                "A mask can only take away. It does not bring in what lies outside the radius.",
            ),
        ),
    ),
)

predictions = (
    Prediction(
        "09.reach",
        "Take one layer of self-attention, one LSTM, and one layer of restricted self-attention with radius 4. Which of them can answer at distance 16?",
        why="One step of self-attention reaches every position, and an LSTM's state can carry what it has read. The restricted layer does not reach beyond its radius.",
        choices=("self-attention", "LSTM", "self-attention and LSTM", "all of them"),
    ),
    Prediction(
        "09.fewest",
        "Which of the four layers needs the fewest multiplications for 50 words of width 512?",
        why="It has only two matrices. Self-attention has three, before it compares any two words.",
        choices=("self-attention", "recurrent", "convolution", "restricted"),
    ),
)
