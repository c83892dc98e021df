"""The questions of lesson 12: five on its goals, and the guesses asked for before a cell shows its result."""

from course_utils.checks.question import NumberQuestion, Prediction, Question

questions = (
    Question(
        "12.q1",
        "attention without residual connections",
        "Ten words go through twelve layers of attention with random weights and nothing else. What happens to their vectors?",
        right=(
            "They all come to point in the same direction.",
            "Each layer replaces every word by an average over all words, so the words become more alike with each layer.",
        ),
        wrong=(
            (
                "They keep apart, as each word has a query of its own.",
                "The queries differ, but what comes out is always an average of the same values, and averages of averages become alike.",
            ),
            (
                "Each becomes more like itself and less like the others.",
                "Each word is replaced by an average over all words, so what sets it apart gets lost.",
            ),
            (
                "They come back in another order, one for each query.",
                "The order stays: row t belongs to word t. But the rows become more and more alike.",
            ),
        ),
    ),
    NumberQuestion(
        "12.q2",
        "a layer norm by hand",
        "What is the last number of the layer norm of [0, 0, 0, 4], with gain 1 and bias 0?",
        answer=1.732,
        tolerance=0.01,
        why="The mean is 1, the variance (1 + 1 + 1 + 9) / 4 = 3, and (4 - 1) / √3 = 1.732.",
        wrong={
            1.5: "That divides by the root of 12 / 3 = 4. The variance is the mean of the squares over all 4 numbers.",
            1.0: "That divides by the variance. Divide by its root.",
            3.0: "That is 4 minus the mean. Divide it by the deviation, too.",
            2.309: "That is 4 / √3. Subtract the mean first.",
        },
        otherwise="First the mean, then the mean of the squared distances from it, which is the variance. Then (4 - mean) / √variance.",
    ),
    Question(
        "12.q3",
        "pre-norm and post-norm",
        "After large first steps all words were alike, and with post-norm hardly any gradient reached the first layer. What does pre-norm have that lets it through?",
        right=(
            "A path from the first layer to the last on which x is only ever added to.",
            "In x + f(norm(x)) nothing stands in the way of x. When we cut this path and left all numbers as they were, next to no gradient reached the first layer.",
        ),
        wrong=(
            (
                "A norm in every sub-layer, which post-norm leaves out.",
                "Both have one norm for each sub-layer. They differ in where it stands.",
            ),
            (
                "A residual connection around each of its sub-layers.",
                "Both have it. With post-norm the norm comes after the addition.",
            ),
            (
                "Vectors of the same length after each of its layers.",
                "That is post-norm, where each layer ends with a norm. With pre-norm the stream may grow.",
            ),
        ),
    ),
    Question(
        "12.q4",
        "the attention to the source",
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
                "That is the decoder's attention to itself.",
            ),
            (
                "Queries from the decoder, keys and values from the encoder; it hides later source words.",
                "The source is known as a whole, so each target word may look at all of it. Only padding is hidden.",
            ),
        ),
    ),
    Question(
        "12.q5",
        "a part that is missing",
        "A Transformer gets 99 of 100 words right, given the right words before. When it translates, 4 of 100 are right. Which part does it lack?",
        right=(
            "The causal mask.",
            "While it learns it reads the word that it should predict, and in translating that word is not there yet. To test for this, change the later words: no earlier logits may change.",
        ),
        wrong=(
            (
                "The mask of the source.",
                "Then padding matters. In a batch like those of training it would translate well, and a sentence alone would come out worse.",
            ),
            (
                "The positions.",
                "Then words in the wrong order cost it a quarter of the words even when it is given the right ones before.",
            ),
            (
                "The attention to the source.",
                "Then it knows nothing of the source, and even with the right words before it can only guess the next one.",
            ),
        ),
    ),
)

predictions = (
    Prediction(
        "12.alike",
        "What is the mean cosine of two words after 12 layers of attention alone, from -1 to 1?",
        why="Each layer replaces the words by averages of them. After two layers hardly any difference is left, and the cosine is 1.00.",
    ),
    Prediction(
        "12.share",
        "What share of the words will the model get right, given the right words before, from 0 to 1?",
        why="The whole model translates with hardly an error when it never has to build on its own words.",
    ),
    Prediction(
        "12.part",
        "Without this part, what share of the words will be right when the model translates, from 0 to 1?",
        why="The figure below shows every part, with five seeds each.",
    ),
)
