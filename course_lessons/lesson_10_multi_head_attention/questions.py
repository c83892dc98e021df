"""The questions of lesson 10: five on its goals, and the guesses asked for before a cell shows its result."""

from course_utils.checks.question import NumberQuestion, Prediction, Question

questions = (
    Question(
        "10.q1",
        "one head and two facts",
        "A head gives half of its weight to each of two words. Their values do not show which word they belong to. What can the next layer not tell from the context?",
        right=(
            "Which of the two values belongs to which of the two words.",
            "The context is the mean of the two values, and a mean does not change when the two values are swapped.",
        ),
        wrong=(
            (
                "How large the two values are on average.",
                "The context is exactly their average.",
            ),
            (
                "What the two values add up to.",
                "Their sum is twice the context.",
            ),
            (
                "Whether the two values have the same sum as in a different sentence.",
                "The context is half of the sum, so equal sums have equal contexts.",
            ),
        ),
    ),
    NumberQuestion(
        "10.q2",
        "which head gets it",
        "Queries of width 12 are split among 3 heads. Which head, counted from 0, gets the entry at position 7 of a query, counted from 0?",
        answer=1.0,
        tolerance=0.01,
        why="Each head gets 4 consecutive entries: 0 to 3, 4 to 7, and 8 to 11. Position 7 belongs to head 1.",
        wrong={
            2.0: "You have counted the heads from 1. The first is head 0.",
            3.0: "There are only heads 0, 1 and 2. Each gets 12 / 3 = 4 consecutive entries.",
            0.0: "Head 0 gets only positions 0 to 3.",
            1.75: "That is 7 / 4. The head is its integer part.",
        },
        otherwise="Each head gets 12 / 3 = 4 consecutive entries. Divide the position by 4 and drop the remainder.",
    ),
    Question(
        "10.q3",
        "the library's mask",
        "You have a mask that is True where a word may be seen and pass it unchanged to nn.MultiheadAttention as attn_mask. What happens?",
        right=(
            "Each word sees exactly the words that it should not see.",
            "In this module, True means that a position must not be attended to, so the mask must first be inverted with ~. With a causal mask that is not inverted, the last word sees nothing and becomes NaN.",
        ),
        wrong=(
            (
                "The library inverts it for you, so that each word sees what it should see.",
                'The library cannot know what you mean by True. It takes True to mean "must not be seen".',
            ),
            (
                "An error is raised, because a mask must contain numbers.",
                "A Boolean mask is allowed, so nothing warns you.",
            ),
            (
                "Only the first head uses it, and the others see everything.",
                "A T×S mask applies to all heads.",
            ),
        ),
    ),
    Question(
        "10.q4",
        "naming a head",
        "In one sentence, a head gives most of its weight to the previous word. What more do you need before you call it a previous-word head?",
        right=(
            "Its mean weight on the previous word, over many sentences.",
            "One sentence may be chance. A name should rest on a number that holds over a corpus and sets the head apart.",
        ),
        wrong=(
            (
                "Nothing more, because the weights for one sentence show what the head does.",
                "They show what it did once. In other sentences, it may do something else.",
            ),
            (
                "The same picture for another head of the same layer.",
                "That tells you about the other head. You need more sentences for this one.",
            ),
            (
                "What the model loses in BLEU when this head is switched off.",
                "That says what the head is worth, not what it looks at.",
            ),
        ),
    ),
    Question(
        "10.q5",
        "a head that makes no difference",
        "BLEU stays the same when you switch a head off. What does this show?",
        right=(
            "On these sentences, the other heads can do without it.",
            "Switching off one head at a time does not show what happens when several are missing.",
        ),
        wrong=(
            (
                "The head has learned nothing, and its weights are random.",
                "It may do the same thing as another head, or something that these sentences do not need.",
            ),
            (
                "All heads whose removal changes nothing can be removed together.",
                "If two heads do the same thing, losing either one may do no harm, but without both of them BLEU may fall.",
            ),
            (
                "The head is the most important one, because nothing else can replace it.",
                "If nothing could replace it, BLEU would fall without it.",
            ),
        ),
    ),
)

predictions = (
    Prediction(
        "10.one_head",
        "What share of the digits does the model with one head get right, from 0 to 1?",
        why="If the model nearly always reads one digit from the sum and gives it twice, one of the two answers is right. The other is right only where both digits are the same, which happens one time in eight. The mean of 1 and 1/8 is 0.56.",
    ),
    Prediction(
        "10.changed",
        "Two heads both use the scores of head 0. What share of the digits does the model get right, from 0 to 1?",
        why="Both heads have the same weights, so both mix the two pairs in the same proportions.",
    ),
    Prediction(
        "10.swapped",
        "What share of the digits does the model still get right when the two weights are swapped, from 0 to 1?",
        why="If the model gives each letter the other letter's digit, an answer is right only where both digits are the same, which happens one time in eight.",
    ),
    Prediction(
        "10.three_facts",
        "When three digits are asked for, what share does the model with one head and a hidden layer of 32 units get right after 1,000 steps, from 0 to 1?",
        why="One sum carries three digits, and the hidden layer has to separate them. Guessing would get 1/8 right.",
    ),
)
