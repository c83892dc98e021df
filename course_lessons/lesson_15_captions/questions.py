"""The questions of lesson 15: five on its goals, and the guesses asked for before a cell shows its result."""

from course_utils.checks.question import NumberQuestion, Prediction, Question

questions = (
    Question(
        "15.q1",
        "what an annotation is",
        "A picture is cut into 5×5 cells. What does the captioner attend to when it writes a word?",
        right=(
            "To 25 annotations, one vector for each cell of the picture.",
            "A convolutional network has made them, and they take the place of the source's hidden states in lesson 06. The decoder itself never sees a pixel.",
        ),
        wrong=(
            (
                "To the 2,500 pixels of the picture, each of which gets a weight.",
                "There is one weight for each cell. The pixels are read once, by the convolutional network.",
            ),
            (
                "To the words that it has written so far, each of which gets a weight.",
                "The words so far are held in the LSTM's state. The weights belong to cells of the picture.",
            ),
            (
                "To one vector for the whole picture, the mean of all its cells.",
                "The mean makes only the first state. Before each word, the weights choose among the 25 vectors anew.",
            ),
        ),
    ),
    NumberQuestion(
        "15.q2",
        "the penalty by hand",
        "A caption has two words and a picture has two cells. The weights are (1, 0) for the first word and (0.2, 0.8) for the second. "
        "What is the sum over the cells of (1 - Σ_t α)²?",
        answer=0.08,
        tolerance=0.0005,
        why="Over the words the cells get 1.2 and 0.8. So the sum is (1 - 1.2)² + (1 - 0.8)² = 0.04 + 0.04 = 0.08.",
        wrong={
            0.04: "That is one of the two cells. The squares of both are added up.",
            0.4: "You have added up the distances from 1. They are squared first.",
            0.0: "Positive and negative distances would cancel, but each is squared before they are added up.",
            2.08: "You have squared what each cell gets, 1.2 and 0.8. It is the distance from 1 that is squared.",
        },
        otherwise="Add up the weights of each cell over the words, subtract the sum from 1, square it, and add up both squares.",
    ),
    Question(
        "15.q3",
        "which change to make",
        "A caption says “a five above a six”. We want to know whether “above” depends on the six. Why do we move the six, and not empty its cell?",
        right=(
            "Without the six, no relation would be right. If the six moves, we know the right one.",
            "After a move we know the right word, so we can see whether the captioner writes it.",
        ),
        wrong=(
            (
                "An empty cell gets no weight, so the weights of the word would not sum to 1.",
                "The softmax gives weights that sum to 1, whatever the cells hold.",
            ),
            (
                "The captioner has never seen an empty cell, and would write anything.",
                "Most cells of every scene are empty.",
            ),
            (
                "If the six moves, its weight moves with it, and that shows what the word depends on.",
                "Where the weight goes is what a map shows. The test is whether the word changes.",
            ),
        ),
    ),
    NumberQuestion(
        "15.q4",
        "better than chance",
        "A caption names five things. For four of them, the largest of the 25 weights lies on the thing. How many times as high is this "
        "pointing accuracy as that of someone who picks one of the five things at random?",
        answer=4,
        tolerance=0.05,
        why="The pointing accuracy is 4/5 = 0.8. Whoever picks one of the five things at random is right in 1 of 5 cases, and 0.8 / 0.2 = 4.",
        wrong={
            0.8: "That is the pointing accuracy. Divide it by what a random one of the five things would give.",
            20.0: "You have compared with a random cell, 1/25. But most cells are empty: compare with one of the five things.",
            0.2: "That is the share of a random one of the five things. Divide the pointing accuracy by it.",
            5.0: "That would be a pointing accuracy of 1. One of the five things is missed.",
        },
        otherwise="Divide the share of things that are pointed at by the share that a random one of the five things would get.",
    ),
    Question(
        "15.q5",
        "what a map of weights shows",
        "For the word “seven”, the weights of a model lie on an empty cell. What may we conclude?",
        right=(
            "Only where this look points: the seven may have been read earlier.",
            "With the penalty, names were lost without their things, although their maps did not show them. Many were lost when the thing was missing one word earlier.",
        ),
        wrong=(
            (
                "That the model has not seen the seven, and guesses the word.",
                "Its state may hold what it has read in an earlier look. Change the cell of the seven, and see whether the word changes.",
            ),
            (
                "That the model is broken, since the weights of a good model explain its words.",
                "A model may name things rightly and look at them at another time. Weights are no explanation by themselves.",
            ),
            (
                "That the empty cell holds what the model has taken for a seven.",
                "It may be so, because an annotation also depends on the pixels beside its cell. But the map alone does not tell us: the state is another source of the word.",
            ),
        ),
    ),
)

predictions = (
    Prediction(
        "15.pointing",
        "Of 100 things, for how many does the largest weight lie on the thing when its name is written?",
        why="Nothing in the training asks the model to look there, and one of the things picked at random would be right in about 40 of 100 cases.",
    ),
    Prediction(
        "15.penalty",
        "With the penalty: of 100 things, for how many does the largest weight lie on the thing when its name is written?",
        why="The penalty asks each cell for a weight of 1 over the whole caption. It does not say at which word the captioner should look at it.",
    ),
    Prediction(
        "15.emptied",
        "With the penalty: of 100 names, how many are still right when, for each of them, the cell of its thing is emptied?",
        why="The map of a name hardly ever points at this cell, and yet the name is lost without it.",
    ),
    Prediction(
        "15.relation",
        "The first thing moves to a row with another relation. Of 100 first relations, how many become the new, right one?",
        why="At the relation this thing has little weight, and yet most relations follow it.",
    ),
    Prediction(
        "15.own",
        "Of 100 first names, how many does the network get right that reads the average of all cells?",
        why="The average holds a little of each thing, and hardly says which of them stands furthest to the left.",
    ),
)
