"""The questions of lesson 16: five on its goals, and the guesses asked for before a cell shows its result."""

from course_utils.checks.question import NumberQuestion, Prediction, Question

questions = (
    Question(
        "16.q1",
        "how a sentence becomes a memory",
        "“Mary went to the garden” is stored as a memory. What would the network no longer know if the memories had no ages?",
        right=(
            "Whether Mary went to the garden before or after she went to the kitchen.",
            "Without ages the facts are a set. The position encoding tells the order of the words in a fact, not the order of the facts.",
        ),
        wrong=(
            (
                "Whether “Mary” or “garden” comes first in the sentence.",
                "That is what the position encoding tells. The age belongs to the fact as a whole.",
            ),
            (
                "Who went to the garden, because the sum no longer contains Mary's word vector.",
                "The word vectors are summed with or without ages. An age is one more vector, which is added to the sum.",
            ),
            (
                "Nothing, since the facts are read one after the other.",
                "They are not: a hop compares all facts with the question at once, and a weighted sum has no order.",
            ),
        ),
    ),
    NumberQuestion(
        "16.q2",
        "one hop by hand",
        "The question is u = 1, two facts have the keys 0 and ln 4 and the values 10 and 20; each vector has only one entry. "
        "What is the next question, u'?",
        answer=19,
        tolerance=0.005,
        why="The scores are 0 and ln 4, so the weights are 1/5 and 4/5. What is read is 10/5 + 20 · 4/5 = 18, and u' = 1 + 18 = 19.",
        wrong={
            18.0: "That is what is read. The next question is the sum of the question and what is read.",
            13.0: "The weights 1/5 and 4/5 belong to the first and the second fact. You have swapped them, and added u.",
            16.0: "You have given both facts the weight 1/2. The softmax of 0 and ln 4 is 1/5 and 4/5.",
            21.0: "You have read only the fact with the larger weight. Soft attention reads both.",
            20.0: "That is the value of the fact with the larger weight. Soft attention reads both, and u is added.",
        },
        otherwise="Multiply u by each key, take the softmax, sum the values with these weights, and add u.",
    ),
    Question(
        "16.q3",
        "why two hops",
        "“John took the milk. Mary went to the garden. John went to the office. Where is the milk?” Why can't one hop find the last fact?",
        right=(
            "Nothing in the question resembles it more than other people's moves.",
            "The question does not mention John. Only what the first hop reads brings him in, and then the second hop can look for him.",
        ),
        wrong=(
            (
                "One hop can give weight to one fact only, and it needs two.",
                "A hop's weights can be spread over many facts. The trouble is that one question compares all of them with the same vector.",
            ),
            (
                "The last fact is more recent, and a hop looks for only one age.",
                "Each fact has its age, and a hop may look for an age, but the last move in a story need not be John's.",
            ),
            (
                "One hop compares keys, but only the second hop reads values.",
                "A hop compares with the keys and reads the values. One hop does both, once each.",
            ),
        ),
    ),
    NumberQuestion(
        "16.q4",
        "better than chance",
        "In stories of 8 facts each, hop 1 gives 0.6 of its weight to the fact that it has to find. How many times as much is this as equal weights would give?",
        answer=4.8,
        tolerance=0.005,
        why="Equal weights would give each of the 8 facts 1/8 = 0.125, and 0.6 / 0.125 = 4.8.",
        wrong={
            0.125: "That is what equal weights give. Divide the hop's weight by it.",
            0.075: "You have divided 0.6 by 8. Divide it by 1/8.",
            0.475: "That is the difference from equal weights. The question asks how many times as much it is.",
            1.2: "You have compared with 1/2. There are 8 facts, so equal weights give each of them 1/8.",
        },
        otherwise="Divide the weight of the hop by the weight that equal weights would give to one of 8 facts.",
    ),
    Question(
        "16.q5",
        "where it fails, and why",
        "Yes-or-no questions were answered badly with one hop. How did we find out that the readout was the reason?",
        right=(
            "We put a ReLU into the readout, and nearly all answers were right.",
            "The claim was that a linear readout can't compare the place asked for with the place read. We tested it by changing the readout and nothing else.",
        ),
        wrong=(
            (
                "We looked at the weights and saw that they lay on the fact.",
                "Weights on the fact would show that it was found. They do not show whether the readout can use it.",
            ),
            (
                "We added a second and a third hop, and nearly all answers were right.",
                "With three hops and 1,500 steps, far from all answers were right on our stories. Only one fact has to be found.",
            ),
            (
                "We trained on more stories than before, and nearly all answers were right.",
                "The number of stories stayed the same. Only one layer was changed.",
            ),
        ),
    ),
)

predictions = (
    Prediction(
        "16.one_hop",
        "What share of the questions does the network with one hop answer correctly?",
        why="The fact that names the place does not mention the thing, so one hop has to find who has the thing, and a second one where that person is.",
    ),
    Prediction(
        "16.hardest",
        "With two hops, which kind of question gets the fewest right answers?",
        why="Its answer rests on one fact only, and even with three hops many answers are wrong after 1,500 steps.",
        choices=("two facts", "three facts", "north of", "yes or no"),
    ),
    Prediction(
        "16.hidden",
        "What share of the yes-or-no questions does one hop answer correctly if there is a ReLU in the readout?",
        why="With the ReLU, the readout can compare the place asked for with the place read.",
    ),
    Prediction(
        "16.own",
        "What share of the questions is answered correctly if two hops ask side by side, both with the original question?",
        why="Neither hop can look for the person who has the thing, because that person is in what the other hop reads.",
    ),
    Prediction(
        "16.top",
        "What share of the questions is answered correctly if each hop reads only its top fact?",
        why="Each hop needs one fact, and nearly always this is the fact with the largest score.",
    ),
)
