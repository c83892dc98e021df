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
        "who can keep a cache",
        "Why can a GPT keep the keys and values of earlier words, and BERT cannot?",
        right=(
            "In a GPT, the vectors of earlier words do not depend on later ones.",
            "The causal mask hides later words, so what was computed for earlier ones stays right when the text grows.",
        ),
        wrong=(
            (
                "A GPT has fewer layers.",
                "The number of layers does not matter: each layer keeps its own keys and values.",
            ),
            (
                "BERT has no keys and values.",
                "Its attention has both. They change when a word is appended, because every word sees all others.",
            ),
            (
                "A GPT adds positions, and BERT does not.",
                "Both know positions. What differs is the mask.",
            ),
        ),
    ),
    NumberQuestion(
        "21.q4",
        "the size of a cache",
        "A model has 2 layers and the width 48. How many numbers are in its cache after 64 characters of one text?",
        answer=12288.0,
        tolerance=0.5,
        why="Each layer keeps a key and a value of width 48 for each of the 64 characters: 2 · 2 · 48 · 64 = 12,288.",
        wrong={
            6144.0: "Keys and values are both kept, in each of the 2 layers.",
            3072.0: "That is one vector for each character. Each layer keeps two, a key and a value.",
            24576.0: "That is twice too much: each layer keeps one key and one value of width 48 for each character.",
        },
        otherwise="Multiply: key and value, layers, width, characters.",
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
