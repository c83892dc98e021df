"""The questions of lesson 11: five on its goals, and the guesses asked for before a cell shows its result."""

from course_utils.checks.question import NumberQuestion, Prediction, Question

questions = (
    Question(
        "11.q1",
        "what is lost without positions",
        "You remove the positions from a trained Transformer's encoder and decoder. What can its encoder no longer tell apart?",
        right=(
            "Two sentences that have the same words in another order.",
            "Self-attention treats words as a set: in another order, each word gets the same vector as before.",
        ),
        wrong=(
            (
                "Two sentences that have different words in the same order.",
                "The words themselves have different vectors, and these are still there.",
            ),
            (
                "A word and its translation in the other language.",
                "Positions say where a word stands, not which one it is. The words' vectors are still there.",
            ),
            (
                "Two sentences of which one is longer than the other.",
                "Their words differ in number, so the weighted sums differ, too. Only the order of the words is lost.",
            ),
        ),
    ),
    NumberQuestion(
        "11.q2",
        "a sinusoidal position",
        "sin 0.05 = 0.050, cos 0.05 = 0.999, sin 5 = -0.959, and cos 5 = 0.284. What is the entry in dimension 2, counted from 0, of the sinusoidal position p = 5, if the width is 4?",
        answer=0.05,
        tolerance=0.002,
        why="Dimension 2 is the sine of pair 1. Its angle is 5 / 10000^(2/4) = 5 / 100 = 0.05.",
        wrong={
            -0.959: "That is dimension 0: the sine of pair 0, whose angle is 5.",
            0.284: "That is dimension 1: the cosine of pair 0. Sine and cosine take turns.",
            0.999: "That is dimension 3: the cosine of pair 1. The even dimensions hold sines.",
        },
        otherwise="Dimension 2 is the first of pair 1, so i = 1 and the angle is 5 / 10000^(2/4). Even dimensions hold the sine.",
    ),
    Question(
        "11.q3",
        "a shift is a matrix",
        "Why can a head look at the word before with one matrix, and does not need another one for each position?",
        right=(
            "One matrix turns every sinusoidal position into the one before.",
            "Each pair turns by the same angle from position to position, so the same rotation undoes a step everywhere. The head's query can hold this matrix.",
        ),
        wrong=(
            (
                "The word before always has the longest of all the vectors of positions.",
                "The vectors of all positions have the same length, as sin² + cos² = 1 in every pair.",
            ),
            (
                "The head learns a matrix of its own for each position of the sentence.",
                "A head has one matrix for all its queries. It works because a shift is the same matrix everywhere.",
            ),
            (
                "Neighbouring words have similar meanings, so their product is large.",
                "Meanings do not help: the head finds the word before, whichever word it is.",
            ),
        ),
    ),
    NumberQuestion(
        "11.q4",
        "rotary positions and distance",
        "With rotary positions of width 2, q = [1, 0] at position 9 and k = [1, 0] at position 8 have the product cos 1 = 0.540. What is it with the query at position 4 and the key at position 3?",
        answer=0.54,
        tolerance=0.005,
        why="Only the distance counts, and it is 1 both times: the angle between the turned vectors is 1 radian.",
        wrong={
            1.0: "That would be so without turning. The two are turned by 4 and by 3 radians, so 1 radian lies between them.",
            -0.654: "That is cos 4, as if only the query were turned. The key is turned, too, by 3 radians.",
            -0.99: "That is cos 3, as if only the key were turned. The query is turned, too, by 4 radians.",
            0.754: "That is cos 7, as if the angles were added. What lies between the two is their difference.",
        },
        otherwise="The query is turned by 4 radians and the key by 3. How large is the angle between them, and what was it before?",
    ),
    Question(
        "11.q5",
        "beyond the trained lengths",
        "A model with sinusoidal positions was trained on texts of at most 12 words. In longer texts it answered hardly any question about a word after the twelfth. Why?",
        right=(
            "It has not learned what to do with the vectors of later positions.",
            "They can be computed, but in training no such vector ever occurred.",
        ),
        wrong=(
            (
                "The formula gives no vectors beyond the twelfth position.",
                "It gives one for any position. Learned positions would end at the last vector that was made.",
            ),
            (
                "The vectors of later positions are equal to those of earlier ones.",
                "The slow pairs have turned further, so no two of these positions have the same vector.",
            ),
            (
                "Self-attention can give weight to at most 12 words at a time.",
                "It gives weight to as many words as there are. With rotary positions layers like these did much better.",
            ),
        ),
    ),
)

predictions = (
    Prediction(
        "11.blind",
        "What share of the texts of 12 words does the model without positions get right, from 0 to 1?",
        why="It can rule out the repeated word, and the other 11 look the same to it: 1 / 11 = 0.09.",
    ),
    Prediction(
        "11.shifted",
        "All positions are moved on by 5. What share of the texts of 12 words does the model with sinusoidal positions get right, from 0 to 1?",
        why="The positions 13 to 17 never occurred in training. The model with rotary positions notices nothing, since all distances are the same.",
    ),
    Prediction(
        "11.beyond",
        "What share of the texts of 24 words does the model with sinusoidal positions get right, from 0 to 1?",
        why="Positions after 12 never occurred in training. The model still answers questions about early words; the figure after this one shows up to which position.",
    ),
)
