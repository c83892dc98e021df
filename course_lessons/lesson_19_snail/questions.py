"""The questions of lesson 19: five on its goals, and the guess asked for before a cell shows its result."""

from course_utils.checks.question import NumberQuestion, Prediction, Question

questions = (
    Question(
        "19.q1",
        "learning to learn",
        "In training, the labels of the classes are assigned anew in each episode. What can the model's weights hold after training?",
        right=(
            "How to find the label of a class among those that it has read in the episode.",
            "The labels themselves differ from episode to episode, so no weight can hold them. They have to be read from the episode.",
        ),
        wrong=(
            (
                "The labels of the classes in training.",
                "The label of a class changes from episode to episode, so there is no label to remember.",
            ),
            (
                "The labels of the classes in the test.",
                "Their labels are assigned anew as well, so they have to be read.",
            ),
            (
                "Nothing, since each episode is a different task.",
                "All episodes have something in common: characters that look alike have the same label.",
            ),
        ),
    ),
    NumberQuestion(
        "19.q2",
        "a dilated convolution by hand",
        "A causal convolution with weight 1 for the step itself, 3 for the earlier one, dilation 2 and bias 0 reads 2, 5, 1, 4. What is its fourth result?",
        answer=19,
        tolerance=0.01,
        why="The fourth step reads itself and the second: 4 + 3 · 5 = 19.",
        wrong={
            7.0: "You have used the step right before, as if the dilation were 1: 4 + 3 · 1.",
            17.0: "You have swapped the weights: 3 belongs to the earlier step.",
            10.0: "You have used the first step, three steps back. The dilation is 2.",
            4.0: "That is the step itself. Add 3 times the step two steps back.",
        },
        otherwise="Take the fourth number and add 3 times the number two steps before it.",
    ),
    Question(
        "19.q3",
        "what the convolutions contribute",
        "A single attention layer without convolutions did about as well as a rule that ignores the pictures. When it was given each label beside its own picture, it got nearly all labels right. What do the convolutions contribute to SNAIL?",
        right=(
            "They pass a picture on to the next step, where its label is read.",
            "Making the pairs by hand does this as well, and then attention needs no convolutions.",
        ),
        wrong=(
            (
                "They look back at pictures that were shown long before.",
                "Attention does that. After 400 steps, the convolutions alone got fewer than half of the labels right.",
            ),
            (
                "They have most of the parameters, which hold the classes.",
                "The model that was given the pairs has far fewer parameters and also got nearly all labels right.",
            ),
            (
                "They give the label one step earlier.",
                "A label is read one step after its picture in both models.",
            ),
        ),
    ),
    Question(
        "19.q4",
        "labels that leak",
        "A model labels nearly all pictures correctly, even when their class appears for only the second time. How do you find out whether it sees the label it should predict?",
        right=(
            "Change the label at one step: its answers up to this step must stay the same.",
            "Only later answers may change, when the label has been read. If the answer at this step changes, the model has seen the label.",
        ),
        wrong=(
            (
                "Test it on different classes: a model that sees the answers will fail there.",
                "If it sees the answers, it is right on all classes, even on new ones.",
            ),
            (
                "Look at the loss in training: it falls too slowly.",
                "It falls quickly, to almost 0. That is a warning, but an easy task does the same.",
            ),
            (
                "Swap two pictures: its answers must stay the same.",
                "Its answers should follow the pictures. What it must not see too early are the labels.",
            ),
        ),
    ),
    Question(
        "19.q5",
        "how many tasks",
        "Trained on five classes, with new labels in each episode, a model gets nearly all of their labels right after one example of each. "
        "A rule that compares pixels gets three out of four. On new digits the rule is better. What do the weights of the model hold?",
        right=(
            "What these five classes look like, but not their labels.",
            "On these classes, it gets more from one example than the pixels alone tell; on other classes, it gets less. The labels are new in each episode, so it reads them.",
        ),
        wrong=(
            (
                "The labels of these five classes, so it does not have to read them.",
                "The labels were assigned anew in each episode, in the test as well. Only the classes were always the same.",
            ),
            (
                "A better way to compare any two pictures than by the distance of their pixels.",
                "Then it would also beat the rule on new digits.",
            ),
            (
                "Nothing about these classes, because it sees the label it should predict.",
                "A model that sees the answer is right on all classes, even on new ones.",
            ),
        ),
    ),
)

predictions = (
    Prediction(
        "19.one_example",
        "Where a new digit was shown only once before, which gets more labels right?",
        why="The rule compares pixels, whichever digits they show. SNAIL has learned what the digits 0 to 4 look like, which may not help it tell a 5 from a 6.",
        choices=("SNAIL", "the rule"),
    ),
    Prediction(
        "19.without",
        "With a single attention layer, what share of the labels is right where the class was shown five times?",
        why="That is about what the most frequent label gets, without looking at any picture.",
    ),
    Prediction(
        "19.by_training",
        "What share of its weight does the trained network put on the right label?",
        why="Only the labels were scored. To get them right, the network has to find them, and you have seen one way to do so.",
    ),
)
