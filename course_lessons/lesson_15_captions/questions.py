"""The questions of lesson 15: five on its goals, and the guesses asked for before a cell shows its result."""

from course_utils.checks.question import NumberQuestion, Prediction, Question

questions = (
    Question(
        "15.q1",
        "what an annotation is",
        "A picture is cut into 5×5 cells. What does the captioner attend to when it writes a word?",
        right=(
            "To 25 annotations, one vector for each cell of the picture.",
            "A convolutional network computed them, and they take the place of the encoder states in lesson 06. The decoder itself never sees a pixel.",
        ),
        wrong=(
            (
                "To the 2,500 pixels of the picture, each of which gets a weight.",
                "There is one weight for each cell. Only the convolutional network reads the pixels, and it reads them once.",
            ),
            (
                "To the words that it has written so far, each of which gets a weight.",
                "The LSTM's state holds the words so far. The weights belong to cells of the picture.",
            ),
            (
                "To one vector for the whole picture, the mean of all its cells.",
                "The mean is used only for the first state. Before each word, new weights are computed for the 25 vectors.",
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
        why="Over the two words, the cells get 1.2 and 0.8, so the sum is (1 - 1.2)² + (1 - 0.8)² = 0.04 + 0.04 = 0.08.",
        wrong={
            0.04: "That is one of the two cells. Add up the squares of both.",
            0.4: "You have added up the distances from 1. Square them first.",
            0.0: "Positive and negative distances would cancel, but each is squared before it is added.",
            2.08: "You have squared what each cell gets, 1.2 and 0.8. Square its distance from 1 instead.",
        },
        otherwise="Add up the weights of each cell over the words, subtract the sum from 1, square it, and add up both squares.",
    ),
    Question(
        "15.q3",
        "which change to make",
        "A caption says “a five above a six”. We want to know whether “above” depends on the six. Why do we move the six instead of emptying its cell?",
        right=(
            "Without the six, no relation would be right. If the six moves, we know the correct one.",
            "After a move, we know the correct word and can see whether the captioner writes it.",
        ),
        wrong=(
            (
                "An empty cell gets no weight, so the weights of the word would not sum to 1.",
                "The softmax gives weights that sum to 1, whatever the cells hold.",
            ),
            (
                "The captioner has never seen an empty cell and might write anything.",
                "Most cells of every scene are empty.",
            ),
            (
                "If the six moves, its weight moves with it, which shows what the word depends on.",
                "A map shows where the weight goes. The test is whether the word changes.",
            ),
        ),
    ),
    NumberQuestion(
        "15.q4",
        "above chance",
        "A caption names five things. For four of them, the largest of the 25 weights lies on the thing. By what factor is this pointing "
        "accuracy higher than that of picking one of the five things at random?",
        answer=4,
        tolerance=0.05,
        why="The pointing accuracy is 4/5 = 0.8. Picking one of the five things at random is right in 1 of 5 cases, and 0.8 / 0.2 = 4.",
        wrong={
            0.8: "That is the pointing accuracy. Divide it by the accuracy of picking one of the five things at random.",
            20.0: "You have compared it with picking a random cell, 1/25. But most cells are empty, so compare it with picking one of the five things.",
            0.2: "That is the accuracy of picking one of the five things at random. Divide the pointing accuracy by it.",
            5.0: "That would need a pointing accuracy of 1, but one of the five things is missed.",
        },
        otherwise="Divide the share of things that are pointed at by the accuracy of picking one of the five things at random.",
    ),
    Question(
        "15.q5",
        "what a map of weights shows",
        "For the word “seven”, a model's weights lie on an empty cell. What can we conclude?",
        right=(
            "Only where this look points, because the seven may have been read earlier.",
            "With the penalty, names were lost without their things, although their maps did not show the things. Many were lost when the thing was missing one word earlier.",
        ),
        wrong=(
            (
                "That the model has not seen the seven and guesses the word.",
                "Its state may hold what it has read in an earlier look. Change the cell of the seven and see whether the word changes.",
            ),
            (
                "That the model is broken, since the weights of a good model explain its words.",
                "A model may name things correctly and look at them at a different time. Weights alone are not an explanation.",
            ),
            (
                "That the empty cell contains what the model has taken for a seven.",
                "That is possible, because an annotation also depends on the pixels beside its cell. But the map alone does not tell us, since the word may also come from the state.",
            ),
        ),
    ),
)

predictions = (
    Prediction(
        "15.pointing",
        "Of 100 things, for how many does the largest weight lie on the thing when its name is written?",
        why="Nothing in the training asks the model to look there, and picking one of the things at random would be right in about 40 of 100 cases.",
    ),
    Prediction(
        "15.penalty",
        "With the penalty: of 100 things, for how many does the largest weight lie on the thing when its name is written?",
        why="The penalty asks each cell for a weight of 1 over the whole caption. It does not say for which word the captioner should look at it.",
    ),
    Prediction(
        "15.emptied",
        "With the penalty: of 100 names, how many are still right when, for each of them, the cell of its thing is emptied?",
        why="The map of a name hardly ever points at this cell, and yet the name is lost without it.",
    ),
    Prediction(
        "15.relation",
        "The first thing moves to a row that changes the relation. Of 100 first relations, how many become the new, correct one?",
        why="This thing has little weight in the look for the relation, and yet most relations follow it.",
    ),
    Prediction(
        "15.own",
        "Of 100 first names, how many does the network that reads the average of all cells get right?",
        why="The average contains a little of each thing and hardly says which of them is furthest to the left.",
    ),
)
