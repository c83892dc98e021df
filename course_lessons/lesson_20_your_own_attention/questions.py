"""The questions of lesson 20: five on its goals, and the guess asked for before a cell shows its result."""

from course_utils.checks.question import NumberQuestion, Prediction, Question

questions = (
    Question(
        "20.q1",
        "what to change",
        "In a certain task, the answer depends on which of two equal keys came later. `attend`, in a model with one layer, gets the answer wrong. What would you change first?",
        right=(
            "The score or the memory: subtract something that grows with the distance, or overwrite.",
            "If the order is ignored, two equal keys have equal scores and therefore equal weights, whatever the normaliser is.",
        ),
        wrong=(
            (
                "The normaliser: sparsemax cuts off small weights, so only one of the two keys is left.",
                "Sparsemax also gives equal scores equal weights.",
            ),
            (
                "The memory: linear attention stores sums instead of all the keys, and a sum knows what came last.",
                "Sums don't know the order either. A memory that overwrites does.",
            ),
            (
                "Nothing: with longer training, the model would learn the order.",
                "In a model with one layer, no amount of training can do this: when two earlier steps change places, the context stays the same, whatever the projections are.",
            ),
        ),
    ),
    NumberQuestion(
        "20.q2",
        "sparsemax by hand",
        "The scores are 2, 1.8 and 0. What weight does sparsemax give the first one?",
        answer=0.6,
        tolerance=0.01,
        why="With two weights above 0, the threshold is (2 + 1.8 - 1) / 2 = 1.4. That leaves 0.6 for the first, 0.4 for the second and, since 0 is below the threshold, nothing for the third.",
        wrong={
            0.51: "That is the softmax weight. Sparsemax subtracts one threshold from all the scores.",
            1.0: "For that, the first score's lead would have to be at least 1, but it is only 0.2.",
            0.5: "Two equal scores would share the weight like this, but the first is ahead by 0.2.",
            0.4: "That is the weight of the second score.",
        },
        otherwise="Assume that two weights are above 0. Which threshold, subtracted from both, makes them sum to 1?",
    ),
    Question(
        "20.q3",
        "what a memory of fixed size forgets",
        "A delta rule with 16 dimensions has written 128 random keys, with β = 1. Which values can it still read?",
        right=(
            "The values of the latest keys.",
            "At most 16 keys can be orthogonal. A new key overlaps with older ones and changes what they read.",
        ),
        wrong=(
            (
                "The values of the first 16 keys: after that it is full.",
                "It is never full: each key is written, at the expense of older ones.",
            ),
            (
                "All of them, but blurred.",
                "That happens when values are only added. The delta rule replaces what it finds.",
            ),
            (
                "All of them, since each key reads the correct value when it is written.",
                "It does at that moment, but a later key that is not orthogonal changes what it reads.",
            ),
        ),
    ),
    Question(
        "20.q4",
        "promises",
        "Your own attention keeps all the promises you test. What do you know?",
        right=(
            "That no fault appeared in what was tested.",
            "`mask_ends_early` kept all the promises until one was tested with 40 steps.",
        ),
        wrong=(
            (
                "That it has no fault on inputs of the usual size, since each promise is about all inputs.",
                "A promise is about all inputs, but its test uses only a few. One of the lesson's faulty versions kept all the promises.",
            ),
            (
                "That it can be trained on both tasks, since its gradients are right.",
                "`safe_linear` breaks none of them as tested, and after 600 steps, most of its answers are still wrong.",
            ),
            (
                "That it does not depend on the order of the keys.",
                "That is one of the optional promises; ALiBi, for example, breaks it on purpose.",
            ),
        ),
    ),
    Question(
        "20.q5",
        "a fair report",
        "Your own attention got 0.93 in one run. Dot-product attention got 0.90 on average over five runs, from 0.86 to 0.95. What do you report?",
        right=(
            "That one run within the spread of the five shows no difference yet.",
            "More seeds are needed. A difference counts only if it is clearly larger than the differences between seeds.",
        ),
        wrong=(
            (
                "That it is better by 0.03, since 0.93 is above the mean of the others.",
                "Changing the seed makes a larger difference than that.",
            ),
            (
                "The best of several runs of your own, next to the mean of the other method.",
                "Setting the best run against a mean is not a fair comparison: show all the runs of both methods.",
            ),
            (
                "That the two are equally good, since 0.93 lies between 0.86 and 0.95.",
                "We do not know that either. With more seeds there may be a difference.",
            ),
        ),
    ),
)

predictions = (
    Prediction(
        "20.wins",
        "Which of the five gets the most answers right in `latest`?",
        why="This task writes only eight keys and asks for the latest value, which suits a memory that overwrites.",
        choices=("dot product", "sparsemax", "ALiBi", "linear", "delta rule"),
    ),
    Prediction(
        "20.latest",
        "What share of the answers in `latest`, from 0 to 1, is correct in sequences of 32 steps?",
        why="Nothing tells the model which of the earlier steps with the same key is the latest. The most frequent value would be right nearly as often.",
    ),
)
