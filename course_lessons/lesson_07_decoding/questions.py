"""The questions of lesson 07: five on its goals, and the guesses asked for before a cell shows its result."""

from course_utils.checks.question import NumberQuestion, Prediction, Question

questions = (
    NumberQuestion(
        "07.q1",
        "what greedy search misses",
        "The first word is A with probability 0.6 or B with 0.4. After A, the next word is C, D or E with 0.4, 0.3 and 0.3; after B, it is C with 0.8 or D with 0.2. "
        "What is the probability of the most probable translation of two words?",
        answer=0.32,
        tolerance=0.001,
        why="It is B C, 0.4 · 0.8. Greedy search begins with A and finds A C, 0.24.",
        wrong={
            0.24: "That is A C, which greedy search finds. A different first word leads to something better.",
            32: "Give the probability as a number from 0 to 1, not as a percentage.",
            0.8: "That is only the probability of C after B. The probability of the whole translation is the product of both.",
            0.6: "That is only the first word. The translation has two words.",
            1.2: "Probabilities of words that follow each other are multiplied, not added.",
        },
        otherwise="Multiply along each of the five paths and choose the largest product.",
    ),
    Question(
        "07.q2",
        "a round of beam search",
        "A beam search of width 2 has kept two hypotheses, and one of them ends with EOS. What happens to it?",
        right=(
            "It is set aside with its score, and the search goes on with the other.",
            "It may still be the best in the end. Nothing is written after EOS.",
        ),
        wrong=(
            (
                "It is the result, because it is the first to end, and the search is over.",
                "A longer translation may still get a better score. The search goes on with what is open.",
            ),
            (
                "It is thrown away, because only hypotheses that can grow are useful.",
                "It is a complete translation and perhaps the best one, so it is set aside.",
            ),
            (
                "It is continued with further words, like the other one.",
                "EOS says that the translation ends. Anything after it would be meaningless.",
            ),
        ),
    ),
    Question(
        "07.q3",
        "a beam that is too wide",
        "Without a length penalty, a beam of 50 gives a lower BLEU than a beam of 5. Why?",
        right=(
            "It finds translations that are more probable but too short.",
            "The model gives an early end too much probability. A narrow beam often loses such a translation on the way, whereas a wide one finds it.",
        ),
        wrong=(
            (
                "It finds translations that are less probable, because it gets lost among so many.",
                "Their mean log probability is higher. The search does what it is asked to do, and that is the problem.",
            ),
            (
                "It keeps so many hypotheses that none of them reaches its end.",
                "They do end, but they end too early.",
            ),
            (
                "It was tuned for training, where the beam had a width of 5.",
                "There is no beam in training: teacher forcing reads the right words.",
            ),
        ),
    ),
    NumberQuestion(
        "07.q4",
        "BLEU by hand",
        "A translation of 8 words has a reference of 8 words. All 8 words occur in the reference, and so do 6 of its 7 pairs, 4 of its 6 triples and 2 of its 5 runs of four. What is its BLEU, from 0 to 100?",
        answer=69.14,
        tolerance=0.2,
        why="The shares 1, 6/7, 2/3 and 2/5 have the product 0.2286; its fourth root is 0.6914, and no brevity penalty applies.",
        wrong={
            22.86: "That is the product of the four shares. BLEU is based on its fourth root.",
            73.1: "You have used the arithmetic mean of the shares. BLEU uses the geometric mean, the fourth root of the product.",
            0.69: "BLEU is on a scale from 0 to 100, so multiply by 100.",
            76.92: "You have divided all matches by all n-grams. Each length has its own share; then take the fourth root of their product.",
        },
        otherwise="Multiply the four shares 8/8, 6/7, 4/6 and 2/5, take the fourth root, and multiply by 100.",
    ),
    Question(
        "07.q5",
        "search error and model error",
        "A model gives the translation A the log probability -6.1 and the translation B -5.2. People find A better. Greedy search returns A, and a beam of 5 returns B. Which is true?",
        right=(
            "Greedy search has made a search error. That B is more probable than A is a model error.",
            "A search has to find the most probable translation. Whether this is also the best depends on the model.",
        ),
        wrong=(
            (
                "The beam has made a search error, because it returns the worse translation.",
                "A search error means missing a more probable translation, and the beam has found B, which is more probable.",
            ),
            (
                "Greedy search has made no error, because it returns the better translation.",
                "It has missed B, which is more probable. That B happens to be the worse translation is no credit to the search.",
            ),
            (
                "Both searches are right, and the log probabilities have been computed wrongly.",
                "Nothing suggests an incorrect computation. A model may well give the worse translation a higher probability.",
            ),
        ),
    ),
)

predictions = (
    Prediction(
        "07.wider",
        "A beam of 20 finds a more probable translation than a beam of 5. Is it shorter or longer?",
        why="The model gives an early end of this sentence too much probability, and the wider beam finds it.",
        choices=("shorter", "longer"),
    ),
    Prediction(
        "07.meaning",
        "Which translation gets the higher BLEU?",
        why="It differs from the reference in a single word, so it shares long runs of words with it. This word reverses the meaning, but BLEU ignores meaning.",
        choices=("now sleeping", "lies awake"),
    ),
    Prediction(
        "07.width",
        "Which widths give the best BLEU without a length penalty?",
        why="A wider beam finds more probable translations, which are too short from some width on.",
        choices=("1 or 2", "3 or 5", "10 or more"),
    ),
)
