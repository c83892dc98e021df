"""Task 16.answer: several hops, which share neighbouring memories, and an answer (Sukhbaatar et al. 2015, section 2.2)."""

from operator import matmul

import torch

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task
from course_utils.tasks.lesson_06._looking import gaps, scattered
from course_utils.tasks.lesson_16._memories import dot, hop, hop_by_loops
from course_utils.tasks.shares import USUAL

task = Task(
    "16.answer",
    "several hops, and an answer",
    arguments=("question B×D", "memories", "mask B×M", "readout V×D"),
    result="logits B×V",
    difficulty=3,
    importance=5,
    minutes=20,
    hints=(
        "Each hop takes the question that the hop before has returned, looks with it, and returns the next. Neighbouring hops share a tensor: what one hop reads from is what the next one compares its question with. So K hops need K + 1 memories, and each in the middle is used twice.",
        "Take a width of 1, the question 1 and a story of a single fact, so that every weight is 1. Its memories are 2, 3 and 5, so there are two hops. The first compares the question with 2, which changes nothing here, and reads 3: the question becomes 1 + 3 = 4. The second compares 4 with 3 and reads 5: 4 + 5 = 9. With a readout of 1 and -1 the logits are 9 and -9.",
        "For each k from 0 to K - 1, where K is one less than the number of memories: scores = for each fact, the sum over D of question times memories[k]; put -inf where mask is False; weights = softmax over the facts, with zeros where mask is False; question = question plus the sum over the facts of weights times memories[k + 1]. Return the last question, times readout transposed.",
    ),
    partial=USUAL | {"empty_story_nan": (0.75, "right for every story that has a fact.")},
)


def _inputs(draw, hops, mask, D, V, dtype=torch.float32):
    B, M = mask.shape
    question = draw.numbers(B, D, dtype=dtype) / D**0.5 + 0.25
    memories = [draw.numbers(B, M, D, dtype=dtype) / (2 if k else 1) + 0.125 for k in range(hops + 1)]
    return question, memories, mask, draw.numbers(V, D, dtype=dtype) + 0.375


def _named(hops, B, M, D, V):
    return (
        f"{hops} hop{'s' * (hops > 1)}, {'1 story' if B == 1 else f'{B} stories'} of {M} places, width {D}, {V} answers"
    )


@task.cases
def _(draw):
    for hops, B, M, D, V in ((1, 1, 3, 2, 2), (2, 1, 3, 2, 2), (2, 2, 3, 2, 3), (3, 2, 4, 3, 2), (3, 3, 5, 7, 11)):
        yield Case(_named(hops, B, M, D, V), _inputs(draw, hops, gaps(draw, B, M), D, V), (hops, D) in ((1, 2), (3, 7)))
    every = torch.ones(5, 5, dtype=torch.bool)
    yield Case("no padding", _inputs(draw, 2, every[:3], 2, 7), True)
    yield Case("padding anywhere in a story", _inputs(draw, 3, scattered(draw), 2, 5), True)
    yield Case("as many answers as features", _inputs(draw, 2, gaps(draw, 3, 4), 5, 5))
    yield Case("as many stories as answers", _inputs(draw, 2, gaps(draw, 3, 5), 7, 3))
    yield Case("hops, stories, facts, features and answers all 3", _inputs(draw, 3, gaps(draw, 3, 3), 3, 3))
    yield Case("one fact, a width of 1, one answer", _inputs(draw, 1, every[:1, :1], 1, 1), True, edge=True)
    mask = gaps(draw, 3, 5)
    mask[1] = False
    yield Case("a story without facts", _inputs(draw, 2, mask, 3, 4), True, edge=True)
    yield Case("7 hops", _inputs(draw, 7, gaps(draw, 2, 4), 3, 5), True, edge=True)
    yield Case("200 facts", _inputs(draw, 2, gaps(draw, 2, 200), 3, 5), True, edge=True)
    question, memories, mask, readout = _inputs(draw, 2, scattered(draw), 3, 4)
    padded = [memory.where(mask[..., None], 1e3) for memory in memories]
    yield Case("numbers of 1,000 at padding", (question, padded, mask, readout), True, edge=True)
    memory = torch.tensor([40.0, 41.0, 39.5, -70.0, -69.0, -70.5]).reshape(2, 3, 1)
    far = torch.ones(2, 1), [memory, draw.numbers(2, 3, 1)], every[:2, :3], draw.numbers(2, 1) + 0.375
    yield Case("stories whose scores lie far apart", far, edge=True)
    yield Case("float64 numbers", _inputs(draw, 3, gaps(draw, 3, 5), 7, 11, torch.float64), True, edge=True)


@task.oracle
def _(question, memories, mask, readout):
    for k in range(1, len(memories)):
        question, _ = hop_by_loops(question, memories[k - 1], memories[k], mask)
    return torch.stack([torch.stack([row @ answer for answer in readout]) for row in question])


@task.steps
def _(question, memories, mask, readout):
    for k in range(len(memories) - 1):
        compared = yield (
            f"what hop {k} reads",
            lambda question, memory, k=k: hop(question, memory, memories[k + 1], mask)[0] - question,
            question,
            memories[k],
        )
        question = yield f"the question after hop {k}", torch.add, question, compared
    logits = yield "the product of the last question and readout", matmul, question, readout.mT
    return logits


def _pairs(memories):
    return list(zip(memories, memories[1:], strict=False))


def _hops(question, pairs, mask):
    """The question after hops with these (memory, output)."""
    for memory, output in pairs:
        question, _ = hop(question, memory, output, mask)
    return question


def _mistake(name, sentence, pairs):
    """Register an answer whose hops use other pairs of memories, function(memories)."""
    task.mistake(sentence, name)(
        lambda question, memories, mask, readout: _hops(question, pairs(memories), mask) @ readout.mT
    )


# Which memories a hop takes

_mistake(
    "one_memory_for_both",
    "Each hop compares the question with the memory that it reads from, memories[k] in both places. It reads from the next one, memories[k + 1].",
    lambda memories: [(memory, memory) for memory in memories[:-1]],
)
_mistake(
    "next_memory_for_both",
    "Each hop compares the question with the memory that it reads from, memories[k + 1] in both places. It compares with the one before, memories[k].",
    lambda memories: [(memory, memory) for memory in memories[1:]],
)
_mistake(
    "every_memory_for_both",
    "There is a hop for each memory, which compares the question with it and reads from it. K + 1 memories make K hops: hop k compares with memories[k] and reads from memories[k + 1].",
    lambda memories: [(memory, memory) for memory in memories],
)
_mistake(
    "exchanged",
    "Memory and output are exchanged: hop k compares the question with memories[k + 1] and reads from memories[k]. It is the other way round.",
    lambda memories: [(output, memory) for memory, output in _pairs(memories)],
)
_mistake(
    "first_pair_for_all",
    "Every hop takes memories[0] and memories[1]. Hop k takes memories[k] and memories[k + 1].",
    lambda memories: [(memories[0], memories[1])] * (len(memories) - 1),
)
_mistake(
    "always_compared_with_the_first",
    "Every hop compares its question with memories[0]. Hop k compares it with memories[k], from which the hop before has read.",
    lambda memories: [(memories[0], output) for output in memories[1:]],
)
_mistake(
    "always_read_from_the_last",
    "Every hop reads from the last memory. Hop k reads from memories[k + 1].",
    lambda memories: [(memory, memories[-1]) for memory in memories[:-1]],
)
_mistake(
    "pairs_apart",
    "Your hops take memories 0 and 1, then 2 and 3, and so on, as if each hop had two of its own. Neighbouring hops share one: 0 and 1, then 1 and 2.",
    lambda memories: list(zip(memories[::2], memories[1::2], strict=False)),
)
_mistake(
    "in_reverse_order",
    "Your hops begin with the last memory and go backwards. Begin with memories[0].",
    lambda memories: _pairs(memories[::-1]),
)
_mistake(
    "last_pair_first",
    "The hops come in reverse order: the first one takes the last two memories. Begin with memories[0] and memories[1].",
    lambda memories: _pairs(memories)[::-1],
)
_mistake(
    "first_and_last",
    "There is a single hop, which compares with the first memory and reads from the last. Hop k compares with memories[k] and reads from memories[k + 1], and there are K hops.",
    lambda memories: [(memories[0], memories[-1])],
)


# How many hops

_mistake(
    "first_hop_alone",
    "There is a single hop, with memories[0] and memories[1]. Let the others follow, each with the question that the hop before has returned.",
    lambda memories: _pairs(memories)[:1],
)
_mistake(
    "last_hop_missing",
    "The last hop is missing. K + 1 memories make K hops, and the last one reads from the last memory.",
    lambda memories: _pairs(memories)[:-1],
)
_mistake(
    "first_hop_missing",
    "The first hop is missing: it takes memories[0] and memories[1].",
    lambda memories: _pairs(memories)[1:],
)
_mistake(
    "last_hop_alone",
    "Only the last hop has an effect: it begins with the question that came in. Each hop goes on with the question that the hop before has returned.",
    lambda memories: _pairs(memories)[-1:],
)
_mistake(
    "no_hop",
    "The facts have no effect: the question that came in is read out as it is. Go on with what each hop returns.",
    lambda memories: [],
)
_mistake(
    "one_hop_too_many",
    "There is one hop too many, which compares with the last memory and reads from the first, perhaps because an index is -1 or wraps round. K + 1 memories make K hops.",
    lambda memories: [*_pairs(memories), (memories[-1], memories[0])],
)
_mistake(
    "one_hop_before",
    "There is one hop too many at the beginning, which compares with memories[-1], the last one, and reads from memories[0]. Begin with memories[0] and memories[1].",
    lambda memories: [(memories[-1], memories[0]), *_pairs(memories)],
)
_mistake(
    "one_hop_after",
    "There is one hop too many at the end, which compares with the last memory and reads from it as well. K + 1 memories make K hops.",
    lambda memories: [*_pairs(memories), (memories[-1], memories[-1])],
)


# The question on its way


@task.mistake(
    "Each hop looks with the question that came in, and what the hops read is added up. A hop looks with the question that the hop before has made: only then can it ask about what the first fact brought up."
)
def first_question_in_every_hop(question, memories, mask, readout):
    read = sum(_hops(question, [pair], mask) - question for pair in _pairs(memories))
    return (question + read) @ readout.mT


@task.mistake("A hop goes on with what was read, without the question. The next question is question + read.")
def question_left_behind(question, memories, mask, readout):
    for memory, output in _pairs(memories):
        question = hop(question, memory, output, mask)[0] - question
    return question @ readout.mT


@task.mistake("You add the question twice in each hop. The next question is question + read.")
def question_added_again(question, memories, mask, readout):
    for memory, output in _pairs(memories):
        question = question + hop(question, memory, output, mask)[0]
    return question @ readout.mT


@task.mistake("You read out only what the last hop has read, without the question. The paper reads out their sum.")
def last_read_alone(question, memories, mask, readout):
    before = _hops(question, _pairs(memories)[:-1], mask)
    return (_hops(before, _pairs(memories)[-1:], mask) - before) @ readout.mT


@task.mistake("You read out the question after every hop and add up the logits. Read out once, after the last hop.")
def logits_of_every_hop(question, memories, mask, readout):
    pairs = _pairs(memories)
    return sum(_hops(question, pairs[:k], mask) @ readout.mT for k in range(1, len(pairs) + 1))


@task.mistake("The question goes through ReLU after each hop. Here it stays as the hop returns it.")
def relu_between(question, memories, mask, readout):
    for memory, output in _pairs(memories):
        question = hop(question, memory, output, mask)[0].relu()
    return question @ readout.mT


# The scores


def _with_score(name, sentence, score):
    """Register an answer whose hops have another score, function(question, memory)."""

    def mistaken(question, memories, mask, readout):
        for memory, output in _pairs(memories):
            question, _ = hop(question, memory, output, mask, score=score)
        return question @ readout.mT

    task.mistake(sentence, name)(mistaken)


_with_score(
    "scaled",
    "You divide the scores by √D, as in the Transformer. A memory network's scores are plain dot products (equation 1).",
    lambda question, memory: dot(question, memory) / question.shape[1] ** 0.5,
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
    "equal_weights",
    "All real facts get the same weight. The scores should differ from fact to fact, and decide the weights.",
    lambda question, memory: 0 * dot(question, memory),
)
_with_score(
    "softmax_twice",
    "The softmax is applied twice, so the weights come close to each other. Apply it once, to the scores.",
    lambda question, memory: dot(question, memory).softmax(-1),
)


@task.mistake(
    "Padding takes part in the softmax and is left out afterwards, so the weights of the real facts sum to less than 1. Put -inf in place of its scores before the softmax."
)
def masked_after_the_softmax(question, memories, mask, readout):
    for memory, output in _pairs(memories):
        weights = dot(question, memory).softmax(-1) * mask
        question = question + (weights[..., None] * output).sum(1)
    return question @ readout.mT


@task.mistake(
    "A story without facts gives NaN: a softmax of nothing but -inf has no value. Nothing is read there, so put zeros in place of the weights where the mask is False."
)
def empty_story_nan(question, memories, mask, readout):
    logits = _hops(question, _pairs(memories), mask) @ readout.mT
    return torch.where(mask.any(1, keepdim=True), logits, torch.nan)


# The mask


@task.mistake("The mask has no effect: padding gets weight like a fact. Mask the scores in every hop.")
def mask_unused(question, memories, mask, readout):
    return _hops(question, _pairs(memories), torch.ones_like(mask)) @ readout.mT


@task.mistake('The mask is the wrong way round: True means "is a fact".')
def mask_inverted(question, memories, mask, readout):
    return _hops(question, _pairs(memories), ~mask) @ readout.mT


@task.mistake("The mask reaches the first hop only. It is the same in every hop.")
def mask_in_the_first_hop(question, memories, mask, readout):
    question = _hops(question, _pairs(memories)[:1], mask)
    return _hops(question, _pairs(memories)[1:], torch.ones_like(mask)) @ readout.mT


@task.mistake("The mask reaches the last hop only. It is the same in every hop.")
def mask_in_the_last_hop(question, memories, mask, readout):
    question = _hops(question, _pairs(memories)[:-1], torch.ones_like(mask))
    return _hops(question, _pairs(memories)[-1:], mask) @ readout.mT


@task.mistake("You use the first story's mask for all stories. Each has its own.")
def first_mask_for_all(question, memories, mask, readout):
    return _hops(question, _pairs(memories), mask[:1].expand_as(mask)) @ readout.mT


# The answer


def _at_the_end(name, sentence, change):
    """Register an answer with something done to its logits."""
    task.mistake(sentence, name)(
        lambda question, memories, mask, readout: change(_hops(question, _pairs(memories), mask), readout)
    )


_at_the_end(
    "not_read_out",
    "You return the question after the last hop, B×D. Multiply it by readout, which makes a number for each answer.",
    lambda question, readout: question,
)
_at_the_end(
    "readout_not_transposed",
    "You multiply by readout without transposing it. This runs without an error only where there are as many answers as features. Each answer has a row of readout: V×D.",
    lambda question, readout: question @ readout,
)
_at_the_end(
    "answers_as_rows",
    "Your logits are transposed, V×B. Stories are rows and answers are columns: B×V.",
    lambda question, readout: readout @ question.mT,
)
_at_the_end(
    "softmax_of_the_logits",
    "You return probabilities. Return the logits: a loss like cross_entropy takes the softmax itself.",
    lambda question, readout: (question @ readout.mT).softmax(-1),
)
_at_the_end(
    "log_softmax_of_the_logits",
    "You return log probabilities. Return the logits: a loss like cross_entropy takes the softmax itself.",
    lambda question, readout: (question @ readout.mT).log_softmax(-1),
)
_at_the_end(
    "answer_chosen",
    "You return the number of the answer with the largest logit. Return the logits of all answers.",
    lambda question, readout: (question @ readout.mT).argmax(-1),
)


@task.mistake(
    "The values are right, but no gradient passes from one hop to the one before, so the first hops would never learn. Leave the question as the hop returns it, without `detach`."
)
def cut_off_between_hops(question, memories, mask, readout):
    for memory, output in _pairs(memories):
        question = hop(question, memory, output, mask)[0].detach()
    return question @ readout.mT
