"""The questions of lesson 03: five on its goals, and the guesses asked for before a cell shows its result."""

from course_utils.checks.question import NumberQuestion, Prediction, Question

questions = (
    Question(
        "03.q1",
        "where the query comes from",
        "Lesson 02's fixed attention can be written as Attention(Q, K, V). What is Q there?",
        right=(
            "The learned vectors θ.",
            "They are the same for every sentence. Each θ is compared with all the words by a dot product, as a query is. The words are the keys and the values.",
        ),
        wrong=(
            (
                "The words of the sentence.",
                "In fixed attention, the words are what is compared and summed: they are the keys and the values. In self-attention, they are also the "
                "queries.",
            ),
            (
                "The weights after the softmax.",
                "The weights are the result of comparing queries with keys. A query is an input to that comparison.",
            ),
            (
                "The contexts.",
                "A context is the result: there is one for each query.",
            ),
        ),
    ),
    NumberQuestion(
        "03.q2",
        "the three steps",
        "A query q = (1, 0) is compared with two keys, k₁ = (ln 3, 5) and k₂ = (0, 7), whose values are 8 and 4. ln 3 is about 1.0986. What is the context?",
        answer=7.0,
        tolerance=0.01,
        why="The scores are ln 3 and 0, their exponentials 3 and 1, so the weights are 0.75 and 0.25, and 0.75 · 8 + 0.25 · 4 = 7.",
        wrong={
            6: "6 is the plain mean of the values. The first key has the larger score, so its value counts more.",
            5: "You get 5 if the two weights are swapped: the key with the larger score gets 0.75.",
            8: "8 is the value of the best key alone, which a dictionary would return. Here every key gets a share of the weight.",
            28: "28 is 3 · 8 + 1 · 4. Divide the exponentials by their sum, 4, before you add up.",
        },
        otherwise="Score both keys by their dot product with q, take e to the power of each score, divide by the sum, then add up the weighted values.",
    ),
    Question(
        "03.q3",
        "what projections are for",
        "What do learned projections give a word in self-attention?",
        right=(
            "It can ask for one thing, be found by another, and hand over a third.",
            "Query, key and value are three separate vectors: “not” can look for opinions and hand over nothing.",
        ),
        wrong=(
            (
                "It can attend to other words and not only to itself.",
                "A softmax gives every word some weight, with or without projections.",
            ),
            (
                "It can be trained.",
                "Without projections, the word vectors can also be trained. In our five runs, this training did not help, but vectors that solve the task exist.",
            ),
            (
                "It knows where it is in the sentence.",
                "It does not, with or without projections. That is why “great , not awful” defeated our model.",
            ),
        ),
    ),
    Question(
        "03.q4",
        "two masks at once",
        "A padding mask has the shape B×S and a causal mask the shape T×T, with T = S. Both are `True` where a query may attend. How do you combine them for "
        "scores of the shape B×T×S?",
        right=(
            "`padding[:, None] & causal`",
            "B×1×S against T×S broadcasts to B×T×S, and a pair is allowed only if both masks allow it.",
        ),
        wrong=(
            (
                "`padding[:, :, None] & causal`",
                "That is B×S×1: it hides rows, in which padding is the query. The mask is about keys, so it has to hide columns.",
            ),
            (
                "`padding[:, None] | causal`",
                "The shape is right, but “or” allows a pair that one of the masks forbids: words would see the future.",
            ),
            (
                "`padding & causal`",
                "With more than one sentence, it gives an error or, where B = T, an incorrect mask without an error: it mixes up sentences and queries.",
            ),
        ),
    ),
    Question(
        "03.q5",
        "which input exposes it",
        "An attention function ignores its mask. Which test exposes that?",
        right=(
            "Hide one key with the mask, change that key and its value, and see whether any context changes.",
            "If the mask works, nothing changes. If the function ignores the mask, a context changes at once.",
        ),
        wrong=(
            (
                "See whether each row of weights sums to 1.",
                "The rows also sum to 1 without the mask.",
            ),
            (
                "Compare it with correct attention under a mask that is True everywhere.",
                "Such a mask changes nothing, so the two agree. The mask has to hide something.",
            ),
            (
                "See whether the contexts have the shape B×T×E.",
                "The shape does not depend on the mask.",
            ),
        ),
    ),
)

predictions = (
    Prediction(
        "03.own_question",
        "What share of the new reviews will this model get right, from 0 to 1?",
        why="That is no better than a guess.",
    ),
    Prediction(
        "03.projections",
        "How many of the five runs, from 0 to 5, will get all the test reviews right?",
        why="With the three matrices, all five runs do.",
    ),
)
