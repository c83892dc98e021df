"""The questions of lesson 05: five on its goals, and the guesses asked for before a cell shows its result."""

from course_utils.checks.question import NumberQuestion, Prediction, Question

questions = (
    Question(
        "05.q1",
        "what a gate is for",
        "In a GRU, the new state is (1 - z) n + z s, where n is the candidate and s the old state. For which gates z does an entry of the state survive twenty steps nearly unchanged?",
        right=(
            "near 1 in each of the twenty steps",
            "Each step then keeps nearly all of the old entry and adds almost nothing from the candidate n.",
        ),
        wrong=(
            (
                "near 0 in each of the twenty steps",
                "With z near 0, the new entry is nearly the candidate n, so the old entry is gone after one step.",
            ),
            (
                "near 0.5 in each of the twenty steps",
                "Each step would keep half of the entry, and after twenty steps a millionth would be left.",
            ),
            (
                "near 1 in the last step, with any values before",
                "The last step can only keep what the previous nineteen steps have left.",
            ),
        ),
    ),
    NumberQuestion(
        "05.q2",
        "a loss without padding",
        "A batch has two sentences, one of one word and one of three, counting EOS. The right words have a probability of 1/2 in the first sentence "
        "and of 1/4, 1/2 and 1/2 in the second. With ln 2 = 0.693, what is the loss in nats per word?",
        answer=0.8664,
        tolerance=0.005,
        why="The four words cost 1, 2, 1 and 1 times ln 2, which is 5 · 0.693 in all. Divided by the four words, this gives 0.866.",
        wrong={
            0.5776: "You have divided by all six positions of the padded batch. Padding is not a word: divide by four.",
            0.8087: "You have averaged the means of the two sentences. All words count equally: add up all four, then divide by four.",
            3.4657: "That is the sum over the words. The loss per word is its mean.",
            1.25: "That is in bits. One bit is 0.693 nats.",
            1.7329: "You have divided by the two sentences. The loss is per word: divide by four.",
            -0.8664: "A probability below 1 has a negative logarithm, and the loss is minus that logarithm.",
            0.4332: "You have divided by eight. There are four words.",
        },
        otherwise="Add up -ln p over the four words, with ln 4 = 2 · ln 2, and divide by their number.",
    ),
    Question(
        "05.q3",
        "teacher forcing",
        "A decoder is trained on the target itself, without the shift, so at each position it reads the word that it should write. What happens?",
        right=(
            "The training loss falls to almost 0, and the decoder cannot translate afterwards.",
            "All it needs to learn is to copy what it reads. When it translates, it is no longer given the right word, so it writes some word and repeats it.",
        ),
        wrong=(
            (
                "It learns more slowly, but reaches the same quality in the end.",
                "It has no reason to look at the source: the answer is already in what it reads.",
            ),
            (
                "It learns the words of the language, but not their order.",
                "It does not even learn which word follows which, because the next word is given to it.",
            ),
            (
                "PyTorch reports that the shapes do not match.",
                "The shapes do match, because the target is as long without the shift as with it. That is why this mistake is hard to notice.",
            ),
        ),
    ),
    Question(
        "05.q4",
        "what a control shows",
        "Before each word, a decoder is given the right words so far. With the vector of the right sentence, it gets 0.6 of the words right; with the vector of a different sentence, 0.2. What does this show?",
        right=(
            "Words can be guessed without the right vector, but the right vector adds far more.",
            "About 0.2 come from the previous words and the grammar. The difference of 0.4 can only come from the vector, since nothing else has changed.",
        ),
        wrong=(
            (
                "The vector holds 0.6 of the words.",
                "Even with a different vector, 0.2 of the words are right. Those words do not show what the vector holds.",
            ),
            (
                "The decoder makes little use of the vector, since it reads the right words.",
                "If it made little use of the vector, a different vector would change little. But two thirds of the right words are lost.",
            ),
            (
                "One sentence in five has the same vector as another.",
                "The control counts the words that the decoder gets right. It does not compare vectors.",
            ),
        ),
    ),
    Question(
        "05.q5",
        "what limits one vector",
        "After four times as much training, a vector of 64 dimensions holds longer sentences than before. What does this show?",
        right=(
            "The size of the vector is not the only limit: the network has to learn to use it.",
            "The vector had 64 dimensions before and after. What has changed is how well the encoder and the decoder use it.",
        ),
        wrong=(
            (
                "The size of the vector does not matter.",
                "It does: with 128 dimensions and the same training, more sentences come through than with 64.",
            ),
            (
                "With enough training, a vector of 64 dimensions holds any sentence.",
                "Nothing in the lesson shows this. After four times as much training, most twelve-word sentences still fail.",
            ),
            (
                "The training has made the vector larger.",
                "Training changes the weights. The vector still has 64 dimensions.",
            ),
        ),
    ),
)

predictions = (
    Prediction(
        "05.untrained",
        "What is the loss of the untrained model, in nats per word?",
        why="It gives each of the 86 words about the same probability, and the logarithm of 86 is 4.45.",
    ),
    Prediction(
        "05.twelve",
        "What share of the words is right in 12-word sentences, from 0 to 1?",
        why="In short sentences, far more of the words are right, as the next plot shows.",
    ),
)
