"""Task 07.log_probability: how probable a whole translation is."""

import torch

from course_lessons.shared.log_softmax_mistakes import LOG_P, log_softmax_mistakes, with_an_improbable_word
from course_lessons.shared.partial_credit import EDGE, SIDE_EFFECT
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "07.log_probability",
    "how probable a translation is",
    arguments=("logits T×V", "target T"),
    result="log_probability",
    difficulty=2,
    importance=5,
    minutes=10,
    hints=(
        "The probability of a translation is the product of the probabilities of its words, each given the previous words. The logarithm of a product is the sum of the logarithms.",
        (
            "Take two words with probabilities of 0.5 and 0.25. Together they have a probability of 0.125, and its natural logarithm is -2.0794. The two words' own logarithms are -0.6931 and -1.3863, which "
            "add up to the same number."
        ),
        "log_p = log_softmax of logits over the vocabulary, T×V; for each t take the entry of row t at target[t]; return the sum of these T numbers.",
    ),
    gradient_optional=True,  # neither the prompt nor the lesson speaks of a gradient
    partial=EDGE
    | SIDE_EFFECT
    | {
        "product_then_logarithm": (0.5, "right for a few words and logits of ordinary size."),
    },
)


@task.property
def a_probability_is_at_most_one(case, value):
    """Its logarithm is at most 0."""
    return (
        f"A probability is at most 1, so its logarithm is never above 0; yours is {value:.4g}."
        if value > 1e-6
        else None
    )


def _target(draw, T, V):
    """Ids, among them the id 0 and, where there is room, one that comes twice."""
    target = draw.whole(0, V, T)
    target[-1] = 0
    if T > 2:
        target[1] = target[0]
    return target


@task.cases
def _(draw):
    for size in sizes(T=5, V=7):
        T, V = size.T + 1, size.V
        name = f"{count(T, 'word')}, {V} words in the vocabulary"
        yield Case(name, (draw.numbers(T, V), _target(draw, T, V)), size.full)
    yield Case("as many words as the vocabulary has", (draw.numbers(5, 5), _target(draw, 5, 5)))
    yield Case("11 words, 3 words in the vocabulary", (draw.numbers(11, 3), _target(draw, 11, 3)))
    yield Case("a single word", (draw.numbers(1, 5), draw.whole(1, 5, 1)), True, edge=True)
    yield Case("a vocabulary of one word", (draw.numbers(3, 1), torch.zeros(3).long()), edge=True)
    target = draw.whole(0, 5, 3)
    improbable = with_an_improbable_word(draw.numbers(3, 5), target)
    yield Case("a word with a probability of 1e-13", (improbable, target), edge=True)
    yield Case("200 words", (draw.numbers(200, 5), _target(draw, 200, 5)), True, edge=True)
    apart = draw.numbers(3, 5) + torch.tensor([[40.0], [-70.0], [0.0]])
    yield Case("words whose logits are far apart", (apart, _target(draw, 3, 5)), hazard=True)
    far = torch.stack([draw.distinct(5, -2, 3) * 5e3 for _ in range(3)])
    far[0] = torch.tensor([-1e4, 1e4, 5e3, 0.0, -5e3])
    yield Case("logits of ±10,000", (far, torch.tensor([0, 4, int(far[2].argmax())])), True, hazard=True)


OF_TARGET = "the log probabilities of the target"


@task.steps
def _(logits, target):
    log_p = yield LOG_P, lambda logits: logits.log_softmax(-1), logits
    of_target = yield OF_TARGET, _taken, log_p, target
    total = yield "the sum of the log probabilities", torch.sum, of_target
    return total


def _taken(numbers, target):
    """The number of each row that its target points to: T."""
    return numbers.gather(-1, target[:, None]).squeeze(-1)


log_softmax_mistakes(task)
task.changed_each(
    ("mean", "This is the mean over the words, as a loss is. The probability of the whole translation is a product over its words, so its logarithm is the sum: do not divide by T.", {"result": lambda log_p, *, target: log_p / len(target)}),
    ("logarithm_of_the_sum", "You add up the probabilities first and take the logarithm of the sum. Take the logarithm of each probability first, and then the sum.", {LOG_P: lambda logits: logits.softmax(-1), "result": torch.log}),
    ("probabilities_added", "You add up probabilities. Add up their logarithms instead.", {LOG_P: lambda logits: logits.softmax(-1)}),
    ("softmax_over_places", "Your softmax runs over the positions, so that each word's probabilities over all positions sum to 1. At each position, the probabilities of all words have to sum to 1: let the softmax run along the vocabulary, the last axis.", {LOG_P: lambda logits: logits.log_softmax(0)}),
    ("no_softmax", "The softmax is missing: you add up the logits of the target, which are not yet logarithms of probabilities.", {LOG_P: left_out}),
    ("most_probable_words", "You use the most probable word at each position, whatever the target is. The task asks for the probability of the given translation: use the entry for its word.", {OF_TARGET: lambda log_p, target: log_p.amax(-1)}),
    ("every_place_with_every_word", "You pair every position with every word of the target: indexing with `[:, target]` gives a T×T matrix. Each position should be paired only with its own word.", {OF_TARGET: lambda log_p, target: log_p[:, target]}),
)  # fmt: skip
task.changed(
    "ids_taken_for_places",
    "You use the ids of the target as positions: `gather(0, …)` gathers along the first axis. The target's ids point into the vocabulary, the last axis.",
    {OF_TARGET: lambda log_p, target: log_p.gather(0, target[:, None])},
)
task.changed_each(
    ("last_word_left_out", "The last word is left out. Every word of the target counts, including the last, which ends the translation.", {"the sum of the log probabilities": lambda of_target: of_target[:-1].sum()}),
    ("first_word_left_out", "The first word is left out. Every word of the target counts: bos is not among them.", {"the sum of the log probabilities": lambda of_target: of_target[1:].sum()}),
    ("shifted", "You compare the logits at each position with the word at the next one. Logits and target at the same position belong together.", {"logits": lambda logits: logits[:-1], "target": lambda target: target[1:]}),
    ("zero_as_padding", "You leave out words with id 0. It is an id like any other here.", {OF_TARGET: lambda log_p, target, *, right: right(log_p, target) * (target != 0)}),
)  # fmt: skip
task.changed(
    "product_then_logarithm",
    "You multiply the probabilities and take the logarithm at the end. With many words, or with one that is very improbable, the product becomes 0 in float32, and its logarithm minus infinity. Add logarithms instead, using log_softmax.",
    {"result": lambda log_p, *, logits, target: _taken(logits.softmax(-1), target).prod().log()},
)
task.changed(
    "logarithm_twice",
    "You take the logarithm twice: log_softmax already returns logarithms. They are negative, and the logarithm of a negative number is NaN. Take the entries as they are and add them up.",
    {OF_TARGET: lambda log_p, target, *, right: right(log_p, target).log()},
)
