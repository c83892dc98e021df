"""The questions of lesson 21: five on its goals, and the guesses asked for before a cell shows its result."""

from course_utils.checks.question import NumberQuestion, Prediction, Question

questions = (
    NumberQuestion(
        "21.q1",
        "the least number of bits",
        "In a text that is made by rules, one of 16 equally probable letters comes first. The three letters after it are then certain. How many bits per character does the best possible model need?",
        answer=1.0,
        tolerance=0.01,
        why="The first letter has log₂ 16 = 4 bits, and the other three have 0. That makes 4 bits for 4 characters.",
        wrong={
            4.0: "That is the surprise of the first letter. Divide it by the number of characters, 4.",
            0.0: "The first letter cannot be known beforehand.",
            16.0: "One of 16 equally probable letters has log₂ 16 bits.",
            0.25: "That would be right if the first letter had 1 bit. It has log₂ 16 bits.",
        },
        otherwise="How many bits does each of the four characters have? Take the mean.",
    ),
    NumberQuestion(
        "21.q2",
        "a nucleus by hand",
        "The probabilities are 0.4, 0.3, 0.2 and 0.1. With the nucleus for p = 0.6, what is the probability of the first?",
        answer=0.571,
        tolerance=0.005,
        why="0.4 does not reach 0.6, and 0.4 + 0.3 does. Divided by this sum, the first gets 0.4 / 0.7.",
        wrong={
            0.4: "What is kept is divided by its sum.",
            1.0: "0.4 alone does not reach 0.6: the second is kept, too.",
            0.444: "You keep three characters. Two are enough to reach 0.6.",
            0.667: "Divide by the sum of what is kept, not by p.",
        },
        otherwise="How many of the most probable characters are needed to reach 0.6? Divide by their sum.",
    ),
    Question(
        "21.q3",
        "what grouped queries save",
        "A model with 16 heads goes from 16 groups of keys and values to 4. What becomes four times smaller?",
        right=(
            "The cache of keys and values.",
            "It has one key and one value for each group, layer and position. The queries, and with them the scores, are as many as before.",
        ),
        wrong=(
            (
                "The number of scores.",
                "Each head still has its own query, which is compared with each key: there are as many scores as before.",
            ),
            (
                "The matrix W_Q.",
                "There are as many queries as before. W_K and W_V become smaller.",
            ),
            (
                "The number of positions that can be read.",
                "All positions are still there. Each takes less memory.",
            ),
        ),
    ),
    Question(
        "21.q4",
        "softmax in one pass",
        "In a softmax in one pass, a block brings a score that is larger than the maximum so far. What happens to the two sums so far, of the exponentials and of the values multiplied by them?",
        right=(
            "Both are multiplied by e^(old maximum − new maximum).",
            "They were computed with the old maximum taken off. The factor turns that into the new one.",
        ),
        wrong=(
            (
                "Nothing: the new block alone uses the new maximum.",
                "Then the earlier weights would be too large beside the new ones.",
            ),
            (
                "They are computed anew from the earlier scores.",
                "That would be a second pass over what has gone by.",
            ),
            (
                "Both are divided by the number of blocks.",
                "A softmax is no mean over blocks: a block with small scores counts for less.",
            ),
        ),
    ),
    Question(
        "21.q5",
        "copying",
        'A text has "Vom" for the first time, and later "V" again. Where does an induction head look from the second "V"?',
        right=(
            'To the "o" of the first mention, the character that came after "V".',
            'A head of an earlier layer has told the "o" that it follows a "V", and the second "V" looks for that.',
        ),
        wrong=(
            (
                'To the first "V", since it is the same character.',
                "That would say which character it is, but not what comes next. The induction head looks one further.",
            ),
            (
                "To the character right before it.",
                "That is what its helper in the earlier layer does.",
            ),
            (
                "To all characters alike.",
                "A mean of all characters would not tell which one came after V.",
            ),
        ),
    ),
)

predictions = (
    Prediction(
        "21.bits",
        "How many bits per character will our GPT need for tales that it has not seen?",
        why="The rules leave 0.37 bits open, and our GPT needs more than that.",
    ),
)
