"""The questions of lesson 19: five on its goals, and the guess asked for before a cell shows its result."""

from course_utils.checks.question import NumberQuestion, Prediction, Question

questions = (
    Question(
        "19.q1",
        "learning to learn",
        "In training, the names of signs are drawn anew for each episode. What can be stored in the model's weights after training?",
        right=(
            "How to find a sign's name among those that it has been told in the episode.",
            "The names themselves are different each time, so no weight can hold them. They have to be read from the episode.",
        ),
        wrong=(
            (
                "The names of the signs of training.",
                "A sign has another name in each episode, so there is no name to remember.",
            ),
            (
                "The names of the signs of the test.",
                "These signs are not shown in training, and their names are drawn anew as well.",
            ),
            (
                "Nothing, since each episode is another task.",
                "All episodes have something in common: what looks alike has the same name.",
            ),
        ),
    ),
    NumberQuestion(
        "19.q2",
        "a dilated convolution by hand",
        "A causal convolution with weight 1 for the step itself, 3 for the earlier one, dilation 2 and bias 0 reads 2, 5, 1, 4. What is its fourth number?",
        answer=19,
        tolerance=0.01,
        why="The fourth step reads itself and the second: 4 + 3 · 5 = 19.",
        wrong={
            7.0: "That is with the step right before, as if the dilation were 1: 4 + 3 · 1.",
            17.0: "You have exchanged the weights: 3 belongs to the earlier step.",
            10.0: "That is with the first step, three before. The dilation is 2.",
            4.0: "That is the step itself. Add 3 times the step two before.",
        },
        otherwise="Take the fourth number, and add 3 times the one that stands two steps before it.",
    ),
    Question(
        "19.q3",
        "what the convolutions bring",
        "On the signs, attention with learned positions did as well as SNAIL, and attention without positions did less well. What do the convolutions contribute here?",
        right=(
            "The order of neighbours: they carry a picture to the next step, where its name is told.",
            "Any other way to know which step comes before which does as well. One convolution with the dilation 1 was nearly enough.",
        ),
        wrong=(
            (
                "The look back at pictures that were shown long ago.",
                "Attention does that. The model with only convolutions was far worse.",
            ),
            (
                "More parameters, in which the signs are remembered.",
                "The signs of the test were not there to be remembered, and attention with positions has fewer numbers.",
            ),
            (
                "Names that come one step earlier.",
                "A name is told after its picture in all of these models.",
            ),
        ),
    ),
    Question(
        "19.q4",
        "labels that leak",
        "A model names nearly all signs right, even when they appear for only the second time. How do you find out whether it sees the name that it should predict?",
        right=(
            "Change the name at one step: what the model says at this step and before must stay as it was.",
            "It may only change later, when the name has been told. If it changes at this step, the model has seen the answer.",
        ),
        wrong=(
            (
                "Test it on other signs: a model that sees the answers will fail there.",
                "If it sees the answers, it is right on all signs, even on new ones.",
            ),
            (
                "Look at the loss in training: it falls too slowly.",
                "It falls quickly, to almost 0. That is a warning, but an easy task does the same.",
            ),
            (
                "Exchange two pictures: what it says must stay as it was.",
                "What it says should follow the pictures. It is the names that must not be seen too early.",
            ),
        ),
    ),
    Question(
        "19.q5",
        "how many tasks",
        "A model that was trained on five signs only, with new names each time, named them perfectly and other signs badly. Why?",
        right=(
            "It could learn five signs by heart, so it never had to compare signs that it did not know.",
            "Only the names varied in training, so only the names were learned anew. What training does not vary may be stored in the weights.",
        ),
        wrong=(
            (
                "It had learned the names of the five signs by heart.",
                "The names were drawn anew for each episode. It is the signs that were always the same.",
            ),
            (
                "It was trained for fewer steps than the others.",
                "All models of the table were trained for 1,500 steps.",
            ),
            (
                "Five names are too few to be told apart.",
                "In each episode of any model there are five names.",
            ),
        ),
    ),
)

predictions = (
    Prediction(
        "19.one_example",
        "For digits that it has never seen, what share of the names does it get right after one example?",
        why="It knows how to compare signs with those that were named. How well it compares depends on what it was trained on.",
    ),
)
