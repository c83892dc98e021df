"""The questions of lesson 12: five on its goals, and the guesses asked for before a cell shows its result."""

from course_utils.checks.question import NumberQuestion, Prediction, Question

questions = (
    Question(
        "12.q1",
        "attention without residual connections",
        "Ten words go through twelve layers of attention with small random weights, as before training, and nothing else. What happens to their vectors?",
        right=(
            "They all come to point in the same direction.",
            "Each layer replaces every word by a weighted mean of the values of all words. With small random weights these means differ little, so the words become more alike with each layer.",
        ),
        wrong=(
            (
                "They stay apart, because each word has its own query.",
                "The queries differ, but the result is always an average of the same values, and with small random weights all these averages are nearly the same.",
            ),
            (
                "Each becomes more like itself and less like the others.",
                "Each word is replaced by an average over all words. With small random weights, all words get nearly the same average, so what sets them apart gets lost.",
            ),
            (
                "They come back in a different order, one for each query.",
                "The order stays: row t belongs to word t. But the rows become more and more alike.",
            ),
        ),
    ),
    NumberQuestion(
        "12.q2",
        "a feed-forward network, then a norm",
        "A feed-forward network without biases reads x = [1, 0, -2]. Its two hidden units have the weights [1, 1, 1] and [1, 0, -1]. Its output has three entries: the second unit, the first unit, and twice the first unit. A layer norm follows, with gain 1 and bias 0. What is its first entry?",
        answer=1.414,
        tolerance=0.01,
        why="The products are -1 and 3, so the units are 0 and 3, and the network gives [3, 0, 0]. The mean is 1, the variance (4 + 1 + 1) / 3 = 2, and (3 - 1) / √2 = 1.414.",
        wrong={
            1.389: "That keeps the -1 of the first unit. What is below 0 becomes 0.",
            1.155: "That divides the squares by 2. The variance is the mean of the squares over all 3 numbers.",
            1.0: "That divides by the variance. Divide by its root.",
            2.0: "That is 3 minus the mean. Divide it by the standard deviation as well.",
            2.121: "That is 3 / √2. Subtract the mean first.",
            3.0: "That is what the network gives. The layer norm of [3, 0, 0] follows.",
        },
        otherwise="First the two products, then 0 for what is below 0, then the three numbers. For their norm: the mean, the mean of the squared distances from it, which is the variance, and (first - mean) / √variance.",
    ),
    Question(
        "12.q3",
        "pre-norm and post-norm",
        "A sub-layer reads x = [1, 2, 6], whose layer norm is [-0.926, -0.463, 1.389]. Its f returns only zeros. What does the sub-layer return?",
        right=(
            "With pre-norm [1, 2, 6], with post-norm [-0.926, -0.463, 1.389].",
            "Pre-norm is x + f(norm(x)) = x + 0, and post-norm is norm(x + f(x)) = norm(x).",
        ),
        wrong=(
            (
                "With pre-norm [-0.926, -0.463, 1.389], with post-norm [1, 2, 6].",
                "In pre-norm, only f reads the norm. In post-norm, the sum itself passes through it.",
            ),
            (
                "With both [1, 2, 6].",
                "Post-norm is norm(x + f(x)), so the sum passes through the norm.",
            ),
            (
                "With pre-norm [0, 0, 0], with post-norm [-0.926, -0.463, 1.389].",
                "Pre-norm adds what f returns to x, and x is not 0.",
            ),
        ),
    ),
    Question(
        "12.q4",
        "attention to the source",
        "In the decoder's attention to the source, where do queries, keys and values come from, and what does its mask hide?",
        right=(
            "Queries from the decoder, keys and values from the encoder; it hides the source's padding.",
            "Each target word asks the whole source. There is nothing in the source that it must not know yet.",
        ),
        wrong=(
            (
                "Queries from the encoder, keys and values from the decoder; it hides later target words.",
                "Then each source word would ask the target. It is the target's words that ask.",
            ),
            (
                "Queries, keys and values from the decoder; it hides later target words.",
                "That is the decoder's self-attention.",
            ),
            (
                "Queries from the decoder, keys and values from the encoder; it hides later source words.",
                "The source is known as a whole, so each target word may look at all of it. Only padding is hidden.",
            ),
        ),
    ),
    Question(
        "12.q5",
        "parts that are missing",
        "Three Transformers lack one part each. Here are their shares of words right, first with teacher forcing, then by themselves: A 0.99 and 0.02, B 0.30 and 0.04, C 0.76 and 0.36. What do they lack?",
        right=(
            "A the causal mask, B attention to the source, C the positions.",
            "A learned to look at the later words, and when it writes, there are none. B does not know what to say, even with teacher forcing. C knows the words of the source, but not their order.",
        ),
        wrong=(
            (
                "A attention to the source, B the causal mask, C the positions.",
                "Without attention to the source a model cannot get 0.99, since it does not know what to say. Without the causal mask it can: it sees the later words.",
            ),
            (
                "A the causal mask, B the positions, C attention to the source.",
                "Without attention to the source nothing tells the model what the sentence says, so it gets fewer words right than a model that only lacks the order.",
            ),
            (
                "A the norms, B attention to the source, C the positions.",
                "A fails when it writes by itself. Without norms, a small model writes as well as the whole one on this task.",
            ),
        ),
    ),
)

predictions = (
    Prediction(
        "12.alike",
        "After how many of the 12 layers of attention alone is the mean cosine of two words above 0.99?",
        why="Each layer replaces the words by weighted means, which soon all point in nearly the same direction.",
    ),
    Prediction(
        "12.share",
        "In which of the two tests are more words right?",
        why="A mistake then costs only one word, because the model gets the correct words before each prediction.",
        choices=("with teacher forcing", "by itself"),
    ),
    Prediction(
        "12.part",
        "What share of its words will be right when the model writes by itself, from 0 to 1?",
        why="The next table compares this model with the whole one.",
    ),
)
