"""Holds what a lesson says of a training that runs on its page to what the built page shows.

One run turns out otherwise on another processor, and nbval does not compare what it prints: whoever builds a page anew learns here
which sentence no longer holds. Sentences about stored measurements need no such test, since those numbers stay as they are.
"""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-\d+)?")
CLAIMS = []


def claim(lesson, sentence):
    """Declare what has to be true of the numbers shown before a sentence of a lesson."""

    def add(holds):
        CLAIMS.append(pytest.param(lesson, sentence, holds, id=f"{lesson}: {sentence}"))
        return holds

    return add


@claim("03", "This model is no better than a guess, with each of the five seeds.")
def _(numbers):
    return all(0.45 < share < 0.55 for share in numbers("different seeds:\n"))


@claim("03", "With the three matrices, every run gets every review right.")
def _(numbers):
    return set(numbers("different seeds:\n")) == {1.0}


@claim("03", "The contexts decide: they are positive only in the two good reviews.")
def _(numbers):
    cases = ("the film was great ", "the film was not awful ", "the film was awful ", "the film was not great ")
    own, contexts = zip(*map(numbers, cases), strict=True)
    return max(own) - min(own) < 4 and min(contexts[:2]) > 8 and max(contexts[2:]) < 0


@claim("03", 'No: in this model "awful" adds a large positive number, and so does "great".')
def _(numbers):
    great, awful, nothing, was = (numbers(f"{word:6} adds")[0] for word in ("great", "awful", "not", "was"))
    return min(great, awful) > 8 and max(nothing, was) < 1


@claim("05", "Your model does much the same as the other five.")
def _(numbers):
    yours, five = numbers("your model:")[::2], numbers("five models:")[::2]
    return max(abs(one - other) for one, other in zip(yours, five, strict=True)) < 0.1


@claim("05", "The loss is nearly 0, and the model has learned nothing but to copy.")
def _(numbers):
    return numbers("Answer:")[0] < 0.05


@claim("10", "With two heads it gets both right, with no more parameters")
def _(numbers):
    (weights, _, *one), (as_many, _, *two) = numbers("H = 1  ")[:4], numbers("H = 2  ")[:4]
    return as_many == weights and min(one) < 0.4 and max(one) > 0.8 and min(two) > 0.95


@claim("10", "With shared scores both heads have the same weights, and so the same mixture: they are as poor as one.")
def _(numbers):
    return numbers("your change (one model)")[0] < 0.65


@claim("10", "with swapped weights it gives each letter the other one's digit.")
def _(numbers):
    return numbers("as they are  ")[0] > 0.95 and numbers("swapped  ")[0] < 0.2 and numbers("swapped  ")[1] > 0.9


@claim("10", "One digit falls to chance (1/8), and the other stays right: each head carries one fact.")
def _(numbers):
    left = [sorted(numbers(f"without head {head}")) for head in range(2)]
    return all(falls < 0.2 and stays > 0.95 for falls, stays in left)


@claim("11", "With p / 10 most answers are wrong.")
def _(numbers):
    return numbers("without positions  ")[-1] < numbers("what mine adds  ")[-1] < 0.4


@claim("11", "Nearly all texts come out right.")
def _(numbers):
    return min(numbers("sinusoidal positions  ")) > 0.95


@claim("11", "The model guesses. In layer 0 an unturned key does not show where its word stands.")
def _(numbers):
    guess, turned = numbers("a guess: 1 / (T - 1)  "), numbers("after the change  ")
    return max(abs(one - other) for one, other in zip(guess, turned, strict=True)) < 0.06


@claim("12", "With teacher forcing, the Transformer predicts nearly every word correctly.")
def _(numbers):
    return numbers("Answer:")[0] > 0.9


@claim("12", "When the model writes by itself, fewer words are right than before.")
def _(numbers):
    return 0.8 < numbers("by itself:")[0] < numbers("Answer:")[0]


@claim("12", "Without the causal mask, hardly any word is right when the model writes by itself.")
def _(numbers):
    return numbers("Answer:")[0] < 0.1


@claim("12", "The first two columns do not show this.")
def _(numbers):
    (loss, given, _), (its_loss, its_given, _) = numbers("whole model  "), numbers("without causal mask  ")
    return its_loss > loss - 0.1 and its_given > given - 0.05


@claim("12", "With large weights and without norms, the numbers grow a hundredfold or more.")
def _(numbers):
    sizes = numbers("large weights, without norms")
    return max(sizes) > 100 * min(sizes)


@claim("13", "The gradients of the encoder's query matrix are less than a hundredth of the readout's.")
def _(numbers):
    return numbers("encoder.0.self_attention.query")[0] < 0.01


@claim("13", "Adam is better with each seed.")
def _(numbers):
    return min(numbers("SGD, 1.0, seed by seed:") + numbers("SGD divided, 0.005, seed by seed:")) > 0


@claim("13", "the last 60 steps do not repair what they have done.")
def _(numbers):
    shares = numbers("share right, with a warm-up and without:")
    return max(shares[3:]) < 0.5 < min(shares[:3])


@claim("13", "The control is nearly as good")
def _(numbers):
    return max(abs(gained) for gained in numbers("what the warm-up gains over the control, seed by seed:")) < 0.1


@claim("13", "Dropout and smoothing gain a little, and neither closes the gap.")
def _(numbers):
    by_dropout, by_smoothing = (numbers(f"{name} minus neither, new sentences, seed by seed:") for name in ("dropout", "smoothing"))  # fmt: skip
    return all(sum(gains) > 0 and max(gains) < 0.1 for gains in (by_dropout, by_smoothing))


@claim("14", "The model finds most digits, although it was only ever told which digit it is.")
def _(numbers):
    return numbers("after 2,000 steps")[1] > 0.6


@claim("14", "Without the reward for looking, the second look misses most digits, and fewer answers are right.")
def _(numbers):
    (right, found), (right_without, found_without) = numbers("whole  "), numbers("without the reward for looking  ")
    return found_without < 0.4 < found and right_without < right


@claim("14", "Only in the whole model do the second looks follow the digit everywhere")
def _(numbers):
    whole, *others = (numbers(f"“{name} correlation")[0] for name in ("whole", "without the reward for looking", "whole, without patch 1"))  # fmt: skip
    return whole > 0.8 and max(others) < 0.5


@claim("15", "Most names are right, too. Relations are wrong most often")
def _(numbers):
    names, relations, article, end, whole = numbers("share right  ")
    return whole < relations < min(names, article, end)


@claim("15", "The pointing accuracy falls to almost nothing.")
def _(numbers):
    (right, pointing, _), (right_penalised, pointing_penalised, one_earlier) = (
        numbers("no penalty  "),
        numbers("penalty  "),
    )
    return pointing > 0.9 and pointing_penalised < 0.05 and right_penalised < right and one_earlier > 0.7


@claim("15", "With it, in this model, that cell matters no more than a random one.")
def _(numbers):
    (lost, penalised), (_, at_random) = numbers("the cell with the largest weight  "), numbers("a random cell  ")
    return lost < 0.2 and abs(penalised - at_random) < 0.05


@claim("16", "In our story, each hop looks at the fact that it needs.")
def _(numbers):
    return not numbers("daniel took the milk” and hop 2 at “daniel went to the bathroom”, and says bathroom")


@claim("16", "The weights are far above equal weights, about five times as large")
def _(numbers):
    (who, _), (_, where), (equal, _) = (numbers(f"\n{row}  ") for row in ("hop 1", "hop 2", "equal weights"))
    right = numbers("right answers to 4,000 new questions:")[0]
    return right > 0.9 and all(4 < weight / equal < 6.5 for weight in (who, where))


@claim("16", "With one hop, fewer than half of the answers are right.")
def _(numbers):
    return numbers("Answer:")[0] < 0.48


@claim("16", "The move that counts gets little more than with equal weights.")
def _(numbers):
    (who, where), (equal, _) = numbers("\nhop 1  "), numbers("\nequal weights  ")
    return who < 0.05 and equal < where < 2 * equal


@claim("16", "They agree in most stories, and the network is right about as often as this rule.")
def _(numbers):
    (one_hop,), (votes,) = numbers("the network with one hop  "), numbers("always the place to which most moves lead  ")
    return numbers("to which most moves lead in")[0] > 0.7 and abs(one_hop - votes) < 0.04


@claim("16", 'The network says "kitchen", which is wrong.')
def _(numbers):
    return not numbers("daniel took the milk” and hop 2 at “daniel went to the kitchen”, and says kitchen")


@claim("16", "After 1,200 steps, the networks seldom name the person's last place")
def _(numbers):
    early, late = (
        [
            numbers(f"{steps} steps, {name}")
            for name in ("right answers", "the person's last place", "weight of hop 1 on the drop")
        ]
        for steps in ("600", "1,200")
    )
    right, last_place, drop = late
    turned = min(right) > 0.5 and max(last_place) < 0.4 and min(drop) > 0.6
    return turned and max(early[0]) < 0.4 and min(early[1]) > 0.6 and max(early[2]) < 0.4


@claim("16", "With the ReLU, nearly all answers are right.")
def _(numbers):
    return numbers("Answer:")[0] > 0.93


@claim("16", "If no age is above 9, each network gets more of them right.")
def _(numbers):
    rows = [numbers(f"\nnetwork {seed}  ") for seed in range(3)]
    return all(long + 0.02 < capped < short - 0.1 for short, long, capped in rows)


@claim("16", "nearly all answers are right with it alone.")
def _(numbers):
    nearest, others = numbers("the nearest alone  "), numbers("all but the nearest  ")
    return min(nearest) > 0.93 and max(others) < 0.35


@claim("17", "copies three times as many vectors as in training almost without mistakes.")
def _(numbers):
    wrong, without = numbers("with the shift"), numbers("without the shift")  # at 3, 5, 10 and 15 vectors
    return max(wrong) <= 0.03 and without[1] >= 0.1 and without[2] >= 0.25


@claim("18", "no expert has large gates for both. But not all four are at work, although they should be.")
def _(numbers):
    white, black = numbers("white digits  "), numbers("black digits  ")
    largest = [max(pair) for pair in zip(white, black, strict=True)]
    return max(min(pair) for pair in zip(white, black, strict=True)) < 0.1 and min(largest) < 0.01


@claim("18", "Without it, few experts soon do all the work: the mixture has **collapsed**.")
def _(numbers):
    work, of, right = numbers("with the balance loss:")
    work_without, _, right_without = numbers("without the balance loss:")
    return work >= of - 1 and right > 0.8 and work_without <= 3 and right_without < 0.6


@claim("19", "It does about as well as the rule.")
def _(numbers):
    return abs(numbers("one attention layer:")[-2] - numbers("most frequent label:")[-2]) < 0.05


@claim("19", "With the pairs, attention is enough.")
def _(numbers):
    return numbers("one layer, pairs given:")[-2] > numbers("one attention layer:")[-2] + 0.2


@claim("19", "SNAIL gets most labels right after five examples, though fewer than attention that is given the pairs.")
def _(numbers):
    return 0.5 < numbers("SNAIL:")[-2] < numbers("one layer, pairs given:")[-2]


@claim("19", "The right label gets nearly twice as much weight as with equal weights.")
def _(numbers):
    weight, equal = numbers("weight on the right label:")
    return 1.6 < weight / equal < 2


@claim("20", "In `latest` it answers fewer than half")
def _(numbers):
    *once, latest = numbers("{'once':")[:4]
    return min(once[:2]) > 0.95 and latest < 0.5


@claim("20", "With φ the right key gets less than a tenth of the weight")
def _(numbers):
    return max(numbers("linear  ")[:2]) < 0.1 and min(numbers("softmax  ")[:2]) > 0.9


@claim("21", "a model that fits on a page beats the best count, and does not reach the limit in 700 steps.")
def _(numbers):
    ours, counted, limit = numbers("unseen tales:")
    return limit + 0.05 < ours < counted


@claim("21", "the head does not look: it is an induction head")
def _(numbers):
    rows = {name: numbers(name) for name in ("yours  ", "layer 1 can't see the word before  ", "the first of the equal words replaced  ")}  # fmt: skip
    whole, blind, replaced = (row[2] for row in rows.values())  # prefix matching
    return whole > 0.8 and max(blind, replaced) < 0.2


def shown_before(lesson, sentence):
    """Return what the cells before a sentence of a built lesson have printed, and what they say of their pictures."""
    (path,) = (ROOT / "notebooks").glob(f"{lesson}_*.ipynb")
    shown = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "markdown" and sentence in "".join(cell["source"]):
            return "\n".join(shown)
        for output in cell.get("outputs", []):
            shown.append("".join(output.get("text") or output.get("data", {}).get("text/plain", "")))
    raise AssertionError(f"lesson {lesson} no longer says: {sentence}")


def numbers_after(text, label):
    """Return the numbers that follow the last place of a label, up to the end of its line or, in a picture's words, of its series."""
    _, found, rest = text.rpartition(label)
    assert found, f"nothing shown says: {label}"
    rest = rest.split("\n")[0]
    return [float(number) for number in NUMBER.findall(re.split(r"\.(?!\d)", rest)[0])]


@pytest.mark.parametrize(("lesson", "sentence", "holds"), CLAIMS)
def test_what_a_page_says_of_its_own_run_is_what_it_shows(lesson, sentence, holds):
    shown = shown_before(lesson, sentence)
    assert holds(lambda label: numbers_after(shown, label)), f"lesson {lesson} says: {sentence}"
