"""The questions of lesson 11: five on its goals, and the guesses asked for before a cell shows its result."""

from course_utils.checks.question import NumberQuestion, Prediction, Question

questions = (
    Question(
        "11.q1",
        "what is lost without positions",
        "You remove the positions from a trained Transformer's encoder and decoder. What can its encoder no longer tell apart?",
        right=(
            "Two sentences that have the same words in a different order.",
            "Self-attention ignores the order of words: however they are shuffled, each word gets the same vector as before.",
        ),
        wrong=(
            (
                "Two sentences that have different words in the same order.",
                "The words themselves have different vectors, and these are still there.",
            ),
            (
                "Two sentences that have the same first word, but different last words.",
                "Their last words have different vectors, so the weighted sums also differ. Only the order of the words is lost.",
            ),
            (
                "Two sentences in which the same words occur, but one of them twice in one and once in the other.",
                "A word that occurs twice counts twice in each weighted sum, so the sums differ. Only the order of the words is lost.",
            ),
        ),
    ),
    NumberQuestion(
        "11.q2",
        "a sinusoidal position",
        "sin 0.05 = 0.050, cos 0.05 = 0.999, sin 5 = -0.959, and cos 5 = 0.284. What is the entry in dimension 2, counted from 0, of the sinusoidal position p = 5 with D = 4?",
        answer=0.05,
        tolerance=0.002,
        why="Dimension 2 is the sine of pair 1. Its angle is 5 / 10000^(2/4) = 5 / 100 = 0.05.",
        wrong={
            -0.959: "That is dimension 0: the sine of pair 0, whose angle is 5.",
            0.284: "That is dimension 1: the cosine of pair 0. Sines and cosines alternate.",
            0.999: "That is dimension 3: the cosine of pair 1. The even dimensions hold sines.",
        },
        otherwise="Dimension 2 is the first of pair 1, so i = 1 and the angle is 5 / 10000^(2/4). Even dimensions hold sines.",
    ),
    Question(
        "11.q3",
        "a shift is a matrix",
        "With sinusoidal positions, why is one matrix enough for a head that looks at the word before, whatever the position?",
        right=(
            "From each position to the next, a pair turns by the same angle.",
            "Each pair turns by the same angle from position to position, so the same rotation undoes a step everywhere. The head's query matrix can contain this rotation.",
        ),
        wrong=(
            (
                "The word before always has the longest of all position vectors.",
                "All position vectors have the same length, because sin² + cos² = 1 in every pair.",
            ),
            (
                "The head learns a separate matrix for each position of the sentence.",
                "A head has one matrix for all its queries. That is enough because a shift is the same matrix everywhere.",
            ),
            (
                "Neighbouring words have similar meanings, so their product is large.",
                "Meaning plays no part: the head finds the word before, whichever word it is.",
            ),
        ),
    ),
    NumberQuestion(
        "11.q4",
        "rotary positions and distance",
        "You may need one of cos 2 = -0.416, cos 4 = -0.654, cos 6 = 0.960 and cos 10 = -0.839. With rotary positions, D = 2 and θ = 1, what is the product of q = [1, 0] at position 4 and k = [1, 0] at position 6?",
        answer=-0.416,
        tolerance=0.005,
        why="Only the distance counts: the angle between the rotated vectors is 2 radians, and its cosine is the same whichever of them is ahead.",
        wrong={
            1.0: "That is the product without rotation. The vectors are rotated by 4 and by 6 radians, so the angle between them is 2 radians.",
            -0.654: "That is cos 4, as if only the query were rotated. The key is also rotated, by 6 radians.",
            0.96: "That is cos 6, as if only the key were rotated. The query is also rotated, by 4 radians.",
            -0.839: "That is cos 10, as if the angles were added. The angle between the two is their difference.",
            0.416: "The size is correct, but 2 radians is more than a right angle, so the cosine is negative.",
        },
        otherwise="The query is rotated by 4 radians and the key by 6. What is the angle between them?",
    ),
    Question(
        "11.q5",
        "beyond the trained lengths",
        "A model with sinusoidal positions was trained on texts of at most 12 words. In texts of 24 words, it found hardly any of the answers after the twelfth word. Why?",
        right=(
            "In those texts, its trained first layer looks at the wrong words.",
            "With the attention weights of a handmade head in that layer, the model answered nearly all. The likely cause is that none of the later positions ever occurred in training.",
        ),
        wrong=(
            (
                "The formula gives no vectors beyond the twelfth position.",
                "The formula gives a vector for any position. Learned positions would end at the last row of their table.",
            ),
            (
                "The vectors of later positions are equal to those of earlier ones.",
                "The slow pairs have turned further, so no two of these positions have the same vector.",
            ),
            (
                "Self-attention can give weight to at most 12 words at a time.",
                "It gives weight to as many words as there are. With rotary positions, layers like these did much better.",
            ),
        ),
    ),
)

predictions = (
    Prediction(
        "11.blind",
        "For what share of the texts of 12 words does the model without positions get the answer right, from 0 to 1?",
        why="It can rule out the repeated word, but the other 11 look the same to it: 1 / 11 = 0.09, apart from luck.",
    ),
    Prediction(
        "11.beyond",
        "For what share of the texts of 24 words do the models with sinusoidal positions get the answer right, on average, from 0 to 1?",
        why="Positions after 12 never occurred in training. We look for the reason next.",
    ),
)
