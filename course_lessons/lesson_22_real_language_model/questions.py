"""The questions of lesson 22: five on its goals, and the guesses asked for before a cell shows its result."""

from course_utils.checks.question import NumberQuestion, Prediction, Question

questions = (
    NumberQuestion(
        "22.q1",
        "the size of a cache",
        "A model has 24 layers, 16 heads of width 64 in 4 groups, and its cache uses two bytes for each number. How many KiB (1,024 bytes) does one token take in the cache?",
        answer=24.0,
        tolerance=0.01,
        why="Key and value, 24 layers, 4 groups, 64 numbers, 2 bytes: 2 · 24 · 4 · 64 · 2 = 24,576 bytes, which is 24 KiB.",
        wrong={
            96.0: "That is the cache with a key and a value for each head. The heads of a group share them.",
            12.0: "Both the key and the value are kept, which gives a factor of 2.",
            1.0: "That is one layer. Each of the 24 layers has its own keys and values.",
            24576.0: "That is the number of bytes. Divide by 1,024.",
        },
        otherwise="Multiply: key and value, layers, groups, width of a head, bytes for each number. Then divide by 1,024.",
    ),
    NumberQuestion(
        "22.q2",
        "weights of four bits",
        "A block of 32 weights has the scale 0.25 and the minimum -2. Which weight does the number 6 stand for?",
        answer=-0.5,
        tolerance=0.001,
        why="0.25 · 6 - 2 = -0.5.",
        wrong={
            1.5: "Add the minimum to the product as well.",
            3.5: "The minimum is added, and it is negative.",
            1.0: "Multiply the number by the scale first, then add the minimum.",
        },
        otherwise="Multiply the number by the scale and add the minimum.",
    ),
    Question(
        "22.q3",
        "byte-pair encoding",
        'Why does byte-pair encoding cut an invented name into several tokens, and " great" into one?',
        right=(
            'Pairs of " great" were frequent in the text from which the merges were learned, whereas not all pairs of the name were.',
            "Each merge joins the most frequent pair. A frequent word is joined step by step until it is whole.",
        ),
        wrong=(
            (
                "Because short words become one token and long ones several.",
                'Length does not matter: " nothing" is one token as well.',
            ),
            (
                "Because the name is missing from a dictionary of whole words.",
                "Nothing is looked up as a whole word: tokens come from merges, and any text can be split.",
            ),
            (
                "Because names are split into syllables.",
                "Nobody tells the algorithm about syllables. It counts pairs.",
            ),
        ),
    ),
    Question(
        "22.q4",
        "one head switched off",
        "With head 16.0 switched off, copying becomes much worse and prose does not. What does this show?",
        right=(
            "The model's copying depends on this head.",
            "The induction heads' own weights are untouched, but they need what head 16.0 writes into each token's vector: which token came before it.",
        ),
        wrong=(
            (
                "The copying happens in head 16.0.",
                "Head 16.0 looks at the previous token. The heads that look at the token to copy are in layers 17 and 18.",
            ),
            (
                "Every head of layer 16 is needed for copying.",
                "Two others were switched off in the same table, and copying stayed as it was.",
            ),
            (
                "The model does not need head 16.0 for anything but random tokens.",
                "Only one prose text was measured, which does not show what the head does elsewhere.",
            ),
        ),
    ),
    Question(
        "22.q5",
        "what the comparison shows",
        "SmolLM2 gets more reviews with a negation right than the sum of word vectors. What can we conclude?",
        right=(
            "This model does better on these reviews; whether that comes from attention, size or what it has read, the table cannot tell.",
            "The two models differ in all three at once, and SST-2 may have been part of what SmolLM2 has read.",
        ),
        wrong=(
            (
                "Attention is better than a sum.",
                "The two models differ in more than attention: in size, and in what they have read.",
            ),
            (
                "Labelled reviews are useless.",
                "The sum has nothing but labels to learn from and gets most reviews right.",
            ),
            (
                "SmolLM2 has understood negation.",
                "It gets most of these reviews right. We have not looked at what happens inside it here.",
            ),
        ),
    ),
)

predictions = (
    Prediction(
        "22.paired",
        "What will the model write with the wrong pairs? a) an error message, b) English words that lead nowhere, c) random tokens, d) the right answer",
        why="Names and shapes fit, so nothing can raise an error, and the weights of all layers are still correct.",
        choices=("a", "b", "c", "d"),
    ),
    Prediction(
        "22.one_head",
        "One head of 270 is switched off. What becomes much worse? a) the copying alone, b) prose alone, c) both, d) neither",
        why="The heads of layers 17 and 18 that copy need what head 16.0 writes into each token's vector.",
        choices=("a", "b", "c", "d"),
    ),
    Prediction(
        "22.four_cases",
        "For how many of the four will the sign of the score be right?",
        why="With these four examples in the prompt, all four signs are right. With others, fewer are.",
    ),
)
