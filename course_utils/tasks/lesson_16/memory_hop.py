"""Task 16.memory_hop: a question looks at the facts, and becomes the next question (Sukhbaatar et al. 2015, section 2)."""

from operator import add, mul

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes
from course_utils.tasks.lesson_05._padded import with_garbage
from course_utils.tasks.lesson_06._looking import (
    SHARED,
    gaps,
    least_apart,
    masked_with_zeros,
    nothing_where_masked,
    scattered,
    summed,
    without_garbage,
)
from course_utils.tasks.lesson_16._memories import dot, hop, hop_by_loops
from course_utils.tasks.properties import no_weight_is_negative, rows_sum_to_one
from course_utils.tasks.shares import USUAL

task = Task(
    "16.memory_hop",
    "a question looks at the facts",
    arguments=("question B×D", "memory B×M×D", "output B×M×D", "mask B×M"),
    result=("state B×D", "weights B×M"),
    difficulty=3,
    importance=5,
    minutes=15,
    hints=(
        "This is attention with a single query: the question is compared with one set of vectors, the memory, and what is read comes from another, the output. Then what was read is added to the question, so that the next hop can ask for what is still missing.",
        "Take the question [1, 1], the memory [ln 3, 0] and [0, 0] with ln 3 ≈ 1.0986, and the output [4, -4] and [0, 8]. The scores are 1.0986 and 0, their exponentials 3 and 1, so the weights are 0.75 and 0.25. What is read is 0.75·[4, -4] + 0.25·[0, 8] = [3, -1], and the next question is [1, 1] + [3, -1] = [4, 0].",
        "memory, output = both with zeros where mask is False; scores = for each fact, the sum over D of question times memory, B×M; put -inf where mask is False; weights = softmax over M, with zeros where mask is False; read = sum over M of weights times output, B×D; return question plus read, and the weights.",
    ),
    partial=USUAL
    | {
        "empty_row_nan": (0.5, "right for every story that has a fact."),
        "empty_row_uniform": (0.5, "right for every story that has a fact."),
        "empty_row_reads_padding": (0.5, "right for every story that has a fact."),
    },
)
task.property(rows_sum_to_one)
task.property(no_weight_is_negative)


@task.property
def no_weight_at_padding(case, value):
    """No weight where the mask is False."""
    _, memory, _, mask = case.args
    return nothing_where_masked(Case(case.name, (None, memory, mask)), value)


@task.property
def next_question_follows_from_the_weights(case, value):
    """Whatever the weights are."""
    state, weights = (part.double() for part in value)
    question, _, output, mask = (part.double() if part.is_floating_point() else part for part in case.args)
    apart = least_apart(state, lambda read: question + summed(weights, read), output, mask)
    return (
        "Your next question is not the question plus what your own weights read from output."
        if apart > 1e-3 * (1 + state.abs().max())
        else None
    )


def _inputs(draw, mask, D, dtype=torch.float32):
    B, M = mask.shape
    question, memory, output = (draw.numbers(*shape, dtype=dtype) for shape in ((B, D), (B, M, D), (B, M, D)))
    return question / D**0.5 + 0.25, memory + 0.125, output - 0.125, mask


@task.cases
def _(draw):
    for size in sizes(B=3, M=5, D=7):
        M = size.M if size.full else size.M + 1  # so that two facts may share a weight
        name = f"{'1 story' if size.B == 1 else f'{size.B} stories'} of {count(M, 'place')}, width {size.D}"
        every = torch.ones(size.B, M, dtype=torch.bool)
        yield Case(f"{name}, no padding", _inputs(draw, every, size.D), size.full)
        yield Case(f"{name}, with padding", _inputs(draw, gaps(draw, size.B, M), size.D), size.full)
    yield Case("padding anywhere in a story", _inputs(draw, scattered(draw), 2))
    yield Case("as many facts as features", _inputs(draw, gaps(draw, 3, 5), 5))
    yield Case("as many stories as facts", _inputs(draw, gaps(draw, 3, 3), 5))
    yield Case("as many stories as features", _inputs(draw, gaps(draw, 3, 5), 3))
    yield Case("a single fact of width 1", _inputs(draw, torch.ones(1, 1, dtype=torch.bool), 1), True, edge=True)
    mask = gaps(draw, 3, 5)
    mask[1] = False
    yield Case("a story without facts", _inputs(draw, mask, 7), True, edge=True)
    yield Case("200 facts", _inputs(draw, gaps(draw, 2, 200), 3), True, edge=True)
    question, memory, output, mask = _inputs(draw, scattered(draw), 7)
    garbage = with_garbage(memory, mask), with_garbage(output, mask)
    yield Case("NaN and infinity at padding", (question, *garbage, mask), True, hazard=True)
    # Real scores far below those of padding in the second story, and nothing but -10,000 in the third one.
    far = torch.tensor([[[100.0], [-100.0], [70.0]], [[-100.0], [-90.0], [100.0]], [[-100.0], [-100.0], [100.0]]])
    far_mask = torch.tensor([[True, True, False]] * 3)
    yield Case(
        "scores of ±10,000", (torch.full((3, 1), 100.0), far, draw.numbers(3, 3, 1), far_mask), True, hazard=True
    )
    yield Case("float64 numbers", _inputs(draw, gaps(draw, 3, 5), 7, torch.float64), True, edge=True)


task.oracle(hop_by_loops)


@task.steps
def _(question, memory, output, mask):
    memory, output = without_garbage(memory, mask), without_garbage(output, mask)
    products = yield "the product of question and memory, number by number", mul, question[:, None], memory
    scores = yield "the scores", lambda products: products.sum(-1), products
    masked = yield "the masked scores", lambda scores, mask: scores.masked_fill(~mask, -torch.inf), scores, mask
    softmax = yield "the softmax", lambda masked: masked.softmax(-1), masked
    weights = yield "the weights", lambda softmax, mask: softmax.masked_fill(~mask, 0.0), softmax, mask
    parts = yield "the weighted output", lambda weights, output: weights[..., None] * output, weights, output
    read = yield "what is read", lambda parts: parts.sum(1), parts
    state = yield "the question plus what is read", add, question, read
    return state, weights


# Mistakes of every look, with memory and output side by side as what is looked at

OURS = (
    ("return zeros there, for the weights and for the context", "return zeros there as weights, and the question as it is"),
    ("these annotations", "these facts, in memory and in output,"),
    ("the annotations", "memory and output"),
    ("a sentence", "a story"),
    ("sentences", "stories"),
    ("sentence", "story"),
    ("word", "fact"),
)  # fmt: skip
OWN = {
    "equal_weights": "All real facts get the same weight, so you read the plain mean of output. The scores should differ from fact to fact, and decide the weights.",
    "over_one_number": "All your weights are 1: the softmax of a single number is 1. It runs along an axis of size 1; let it run along the facts, M.",
    "largest_alone": "You give all weight to the fact with the largest score. Give each real fact its share with a softmax, which also lets a gradient reach the scores.",
    "masked_with_zeros": "The scores of padding are not masked, or they are masked with 0 or nearly 0 (-1e-9 is a tiny number, not a very negative one). A fact of zeros scores 0, too, and exp(0) = 1 is a weight like any other. Put -inf in place of the scores where the mask is False.",
}
LOOKS = {name: look for name, (_, look) in SHARED.items()} | {"masked_with_zeros": masked_with_zeros}


def _said(name):
    sentence = OWN.get(name) or SHARED[name][0]
    for theirs, ours in () if name in OWN else OURS:
        sentence = sentence.replace(theirs, ours)
    return sentence


for _name, _look in LOOKS.items():

    def _mistaken(question, memory, output, mask, look=_look):
        D = question.shape[1]
        both, weights = look(lambda both: dot(question, both[..., :D]), torch.cat([memory, output], -1), mask)
        return question + both[..., D:], weights

    task.mistake(_said(_name), _name)(_mistaken)


# Scores


def _with_score(name, sentence, score):
    """Register a hop that is right but for its score, function(question, memory)."""
    task.mistake(sentence, name)(lambda *args: hop(*args, score=score))


_with_score(
    "scaled",
    "You divide the scores by √D, as in the Transformer. A memory network's scores are plain dot products (equation 1).",
    lambda question, memory: dot(question, memory) / question.shape[1] ** 0.5,
)
_with_score(
    "divided_by_width",
    "You divide the scores by D, as a mean over the features does. A dot product is a sum.",
    lambda question, memory: dot(question, memory) / question.shape[1],
)
_with_score(
    "sign_of_scores",
    "The sign of the scores is turned round, so the facts that fit the question least get the largest weights.",
    lambda question, memory: -dot(question, memory),
)
_with_score(
    "cosine",
    "You divide the scores by the lengths of question and memory, which gives cosines. Here the score is the plain dot product.",
    lambda question, memory: torch.cosine_similarity(question[:, None], memory, dim=-1, eps=1e-6),
)
_with_score(
    "distance",
    "You score by the distance between question and memory. Here the score is the dot product.",
    lambda question, memory: -(question[:, None] - memory).square().sum(-1),
)
_with_score(
    "question_unused_in_scores",
    "The question has no effect on the weights: you add up the features of each fact. Multiply them by the question's features first.",
    lambda question, memory: memory.sum(-1),
)
_with_score(
    "first_question_for_all",
    "All stories are asked the first story's question. Each has its own.",
    lambda question, memory: dot(question[:1].expand_as(question), memory),
)
_with_score(
    "softmax_twice",
    "The softmax is applied twice, so the weights come close to each other. Apply it once, to the scores.",
    lambda question, memory: dot(question, memory).softmax(-1),
)


# Memory and output, and what is done with what was read


@task.mistake(
    "Memory and output are exchanged: you compare the question with output and read from memory. Compare it with memory, and read from output."
)
def exchanged(question, memory, output, mask):
    return hop(question, output, memory, mask)


@task.mistake("You read from memory. It serves only to find the weights; what is read comes from output.")
def memory_read(question, memory, output, mask):
    return hop(question, memory, memory, mask)


@task.mistake("You compare the question with output. It is compared with memory, and output is what is read.")
def output_compared(question, memory, output, mask):
    return hop(question, output, output, mask)


def _afterwards(name, sentence, change):
    """Register a hop with something done to what it returns, function(question, read, weights)."""

    def mistaken(question, memory, output, mask):
        state, weights = hop(question, memory, output, mask)
        return change(question, state - question, weights)

    task.mistake(sentence, name)(mistaken)


_afterwards(
    "question_left_out",
    "You return what was read, without the question. Then the next hop has forgotten what was asked: return question + what was read.",
    lambda question, read, weights: (read, weights),
)
_afterwards(
    "read_left_out",
    "What was read has no effect: the question comes back as it was. Add to it what was read.",
    lambda question, read, weights: (question + 0 * read, weights),
)
_afterwards(
    "question_twice",
    "The question is added twice. Add it once to what was read.",
    lambda question, read, weights: (2 * question + read, weights),
)
_afterwards(
    "subtracted",
    "You subtract what was read from the question. Add it.",
    lambda question, read, weights: (question - read, weights),
)
_afterwards(
    "multiplied",
    "You multiply the question by what was read. Add the two.",
    lambda question, read, weights: (question * read, weights),
)
_afterwards(
    "side_by_side",
    "You put what was read next to the question, B×2D. Add the two, so that the next question has the same width.",
    lambda question, read, weights: (torch.cat([question, read], -1), weights),
)
_afterwards(
    "with_tanh",
    "The next question goes through tanh. It is the plain sum of the question and what was read.",
    lambda question, read, weights: ((question + read).tanh(), weights),
)
_afterwards(
    "with_relu",
    "The next question goes through ReLU. It is the plain sum of the question and what was read.",
    lambda question, read, weights: ((question + read).relu(), weights),
)
_afterwards(
    "halved",
    "You take the mean of the question and what was read. Take their sum.",
    lambda question, read, weights: ((question + read) / 2, weights),
)
_afterwards(
    "mean_of_what_is_read",
    "You divide what is read by the number of places: the weights sum to 1 already, so take the sum over the facts, without a mean.",
    lambda question, read, weights: (question + read / weights.shape[1], weights),
)
_afterwards(
    "parts_exchanged",
    "You return the weights first. The next question comes first, then the weights.",
    lambda question, read, weights: (weights, question + read),
)
_afterwards(
    "weights_left_out",
    "You return the next question only. Return the weights, too.",
    lambda question, read, weights: question + read,
)
_afterwards(
    "axis_kept",
    "Your results have an axis of size 1 too many, B×1×D and B×1×M. Take it away at the end: the next question is B×D, and the weights are B×M.",
    lambda question, read, weights: ((question + read)[:, None], weights[:, None]),
)
_afterwards(
    "axis_kept_in_the_question",
    "Your next question has an axis of size 1 too many, B×1×D. Take it away before you add the question: B×D.",
    lambda question, read, weights: ((question + read)[:, None], weights),
)
_afterwards(
    "axis_kept_in_the_weights",
    "Your weights have an axis of size 1 too many, B×M×1. They are B×M.",
    lambda question, read, weights: (question + read, weights[..., None]),
)
_afterwards(
    "every_question_with_every_story",
    "Your next question is B×B×D: B×1×D plus B×D adds every question to what every story gives. Take the axis of size 1 away before you add.",
    lambda question, read, weights: (read[:, None] + question, weights),
)


@task.mistake(
    "The values are right, but the weights are cut off from the gradient, so the network could not learn what to look at. Use them as they come from the softmax."
)
def weights_cut_off(question, memory, output, mask):
    weights = hop(question, memory, output, mask)[1].detach()
    return question + summed(weights, without_garbage(output, mask)), weights
