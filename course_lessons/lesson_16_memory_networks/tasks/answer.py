"""Task 16.answer: several hops, which share neighbouring memories, and an answer (Sukhbaatar et al. 2015, section 2.2)."""

from operator import add, matmul

import torch

from course_lessons.lesson_16_memory_networks.tasks._memories import dot
from course_lessons.shared.mask_mistakes import filled, plus_infinity_mistakes
from course_lessons.shared.padding_mistakes import gaps, mask_mistakes, scattered, summed
from course_lessons.shared.partial_credit import USUAL
from course_lessons.shared.staged_cases import told_by_stages
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count

task = Task(
    "16.answer",
    "several hops, and an answer",
    arguments=("question B×D", "memories", "mask B×M", "readout V×D"),
    result="logits B×V",
    difficulty=3,
    importance=5,
    minutes=20,
    hints=(
        "Each hop takes the question that the previous hop returned, queries the facts with it and returns the next question. Neighbouring hops share a tensor: the next hop compares its question with what this hop reads from. K hops therefore need K + 1 memories, and every one but the first and last is used twice.",
        "Take a width of 1, a question of 1 and a story with a single fact, so that every weight is 1. Its memories are 2, 3 and 5, so there are two hops. The first hop compares the question with 2, which changes nothing here, and reads 3: the question becomes 1 + 3 = 4. The second hop compares 4 with 3 and reads 5: 4 + 5 = 9. With a readout of 1 and -1, the logits are 9 and -9.",
        "For each k from 0 to K - 1, where K is one less than the number of memories: scores = for each fact, the sum over D of question times memories[k]; put -inf where mask is False; weights = softmax over the facts, with zeros where mask is False; question = question plus the sum over the facts of weights times memories[k + 1]. Return the last question, times readout transposed.",
    ),
    partial=USUAL | {"empty_story_nan": (0.75, "correct for every story that has a fact.")},
)


def _inputs(draw, hops, mask, D, V, dtype=torch.float32):
    B, M = mask.shape
    question = draw.numbers(B, D, dtype=dtype) / D**0.5 + 0.25
    memories = [draw.numbers(B, M, D, dtype=dtype) / (2 if k else 1) + 0.125 for k in range(hops + 1)]
    return question, memories, mask, draw.numbers(V, D, dtype=dtype) + 0.375


@task.cases
def _(draw):
    for hops, B, M, D, V in ((1, 1, 3, 2, 2), (2, 1, 3, 2, 2), (2, 2, 3, 2, 3), (3, 2, 4, 3, 2), (3, 3, 5, 7, 11)):
        name = f"{count(hops, 'hop')}, a batch of {B} with {M} positions, width {D}, {count(V, 'answer')}"
        yield Case(name, _inputs(draw, hops, gaps(draw, B, M), D, V), (hops, D) in ((1, 2), (3, 7)))
    every = torch.ones(5, 5, dtype=torch.bool)
    yield Case("no padding", _inputs(draw, 2, every[:3], 2, 7), True)
    yield Case("padding anywhere in a story", _inputs(draw, 3, scattered(draw), 2, 5), True)
    yield Case("as many answers as features", _inputs(draw, 2, gaps(draw, 3, 4), 5, 5))
    yield Case("as many stories as answers", _inputs(draw, 2, gaps(draw, 3, 5), 7, 3))
    yield Case("hops, stories, facts, features and answers all 3", _inputs(draw, 3, gaps(draw, 3, 3), 3, 3))
    yield Case("one fact, a width of 1, one answer", _inputs(draw, 1, every[:1, :1], 1, 1), True, edge=True)
    mask = gaps(draw, 3, 5)
    mask[1] = False
    without_facts = _inputs(draw, 2, mask, 3, 4)
    yield Case("a story without facts", without_facts, edge=True)
    yield Case("a gradient, with a story without facts", without_facts, True, hazard=True)
    yield Case("7 hops", _inputs(draw, 7, gaps(draw, 2, 4), 3, 5), True, edge=True)
    yield Case("200 facts", _inputs(draw, 2, gaps(draw, 2, 200), 3, 5), True, edge=True)
    question, memories, mask, readout = _inputs(draw, 2, scattered(draw), 3, 4)
    padded = [memory.where(mask[..., None], 1e3) for memory in memories]
    yield Case("numbers of 1,000 at padding", (question, padded, mask, readout), True, edge=True)
    memory = torch.tensor([40.0, 41.0, 39.5, -70.0, -69.0, -70.5]).reshape(2, 3, 1)
    far = torch.ones(2, 1), [memory, draw.numbers(2, 3, 1)], every[:2, :3], draw.numbers(2, 1) + 0.375
    yield Case("stories whose scores are far apart", far, hazard=True)
    yield Case("float64 numbers", _inputs(draw, 3, gaps(draw, 3, 5), 7, 11, torch.float64), True, hazard=True)


@task.steps
def _(question, memories, mask, readout):
    hops = yield "the pairs of memories", _pairs, memories
    for memory, output in hops:
        scores = yield "the scores", dot, question, memory
        masked = yield "the masked scores", lambda scores, mask: scores.masked_fill(~mask, -torch.inf), scores, mask
        shares = yield "the softmax", lambda masked: masked.softmax(1), masked
        weights = yield "the weights with zeros", lambda shares, mask: shares.masked_fill(~mask, 0.0), shares, mask
        read = yield "what a hop reads", summed, weights, output
        question = yield "the question after a hop", add, question, read
    logits = yield "the product with readout", matmul, question, readout.mT
    return logits


def _pairs(memories):
    return list(zip(memories, memories[1:], strict=False))


told_by_stages(
    task,
    {
        "1 hop": "Even a single hop is wrong, so look at that: the scores of the question with memories[0], the mask and the softmax, what is read from memories[1], and the readout.",
        "2 hops": "A single hop on one story is correct, but these two hops are not. Look at what is passed from one hop to the next: the question plus what was read, and the memory that both share. With two stories, each has its own.",
    },
)


mask_mistakes(
    task,
    "padding gets weight just as facts do. Mask the scores in every hop.",
    '"is a fact", and you read padding',
    one="story",
    lengths=False,
)


def _in_the_first_hop(numbers, mask, *, right, done):
    return numbers if "the question after a hop" in done else right(numbers, mask)


PAIRS, LOGITS = "the pairs of memories", "the product with readout"
task.changed_each(
    # Which memories a hop takes, and how many hops there are
    ("one_memory_for_both", "Each hop compares the question with the memory that it reads from, memories[k] in both places. It should read from the next one, memories[k + 1].", {PAIRS: lambda m: [(memory, memory) for memory in m[:-1]]}),
    ("next_memory_for_both", "Each hop compares the question with the memory that it reads from, memories[k + 1] in both places. It should compare the question with the previous one, memories[k].", {PAIRS: lambda m: [(memory, memory) for memory in m[1:]]}),
    ("exchanged", "Keys and values are swapped: hop k compares the question with memories[k + 1] and reads from memories[k]. It should be the reverse.", {PAIRS: lambda m: [(output, memory) for memory, output in _pairs(m)]}),
    ("first_pair_for_all", "Every hop uses memories[0] and memories[1]. Hop k should use memories[k] and memories[k + 1].", {PAIRS: lambda m: _pairs(m)[:1] * (len(m) - 1)}),
    ("always_compared_with_the_first", "Every hop compares its question with memories[0]. Hop k should compare it with memories[k], from which the previous hop read.", {PAIRS: lambda m: [(m[0], output) for output in m[1:]]}),
    ("pairs_apart", "Your hops use memories 0 and 1, then 2 and 3, and so on, as if each hop had its own two memories. Neighbouring hops share one: 0 and 1, then 1 and 2.", {PAIRS: lambda m: _pairs(m)[::2]}),
    ("first_hop_alone", "There is a single hop, with memories[0] and memories[1]. Add the others, each with the question that the previous hop returned.", {PAIRS: lambda m: _pairs(m)[:1]}),
    ("last_hop_missing", "The last hop is missing. K + 1 memories make K hops, and the last one reads from the last memory.", {PAIRS: lambda m: _pairs(m)[:-1]}),
    ("last_hop_alone", "Only the last hop has an effect, because it starts from the original question. Each hop should continue with the question that the previous hop returned.", {PAIRS: lambda m: _pairs(m)[-1:]}),
    ("one_hop_before", "There is one hop too many at the beginning: it compares the question with memories[-1], the last memory, and reads from memories[0]. Begin with memories[0] and memories[1].", {PAIRS: lambda m: [(m[-1], m[0]), *_pairs(m)]}),
    # The question on its way
    ("question_left_behind", "A hop continues with what was read, without the question. The next question is question + read.", {"the question after a hop": lambda question, read: read}),
    ("cut_off_between_hops", "The values are correct, but no gradient passes from one hop to the previous one, so the earlier hops would never learn. Leave the question as the hop returns it, without `detach`.", {"the question after a hop": lambda question, read: (question + read).detach()}),
    ("first_question_added", "Each hop adds what it reads to the original question. It should add it to the question it queried with, so that what earlier hops have read is not lost.", {"the question after a hop": lambda now, read, *, question: question + read}),
    # What is read
    ("read_without_weights", "You add up the facts without using the weights. Multiply each fact by its weight first.", {"what a hop reads": lambda weights, output, *, mask: (output * mask[..., None]).sum(1)}),
    ("mean_of_all_places", "You read the mean over all positions, whatever their weights. Multiply each fact by its weight and add up the products.", {"what a hop reads": lambda weights, output: output.mean(1)}),
    ("largest_weight_alone", "Each hop reads only the fact with the largest weight. It should read the sum of all facts, each multiplied by its weight.", {"the softmax": lambda masked: torch.nn.functional.one_hot(masked.argmax(1), masked.shape[1]).to(masked)}),
    # The scores
    ("scaled", "You divide the scores by √D, as in the Transformer. A memory network's scores are plain dot products (equation 1).", {"the scores": lambda question, memory: dot(question, memory) / question.shape[1] ** 0.5}),
    ("cosine", "You divide the scores by the lengths of the question and the memories, which gives cosines. Here the score is the plain dot product.", {"the scores": lambda question, memory: torch.cosine_similarity(question[:, None], memory, dim=-1, eps=1e-6)}),
    ("first_question_in_every_hop", "Each hop queries with the original question, and what the hops read is added up. A hop should query with the question that the previous hop returned: only then can it ask about what the first fact mentioned.", {"the scores": lambda _, memory, *, question: dot(question, memory)}),
    # The mask
    ("masked_after_the_softmax", "Padding takes part in the softmax and is left out afterwards, so the weights of the real facts sum to less than 1. Replace its scores with -inf before the softmax.", {"the masked scores": left_out}),
    ("masked_with_zeros", "Masked scores become 0. exp(0) = 1 is a weight like any other, so padding gets its share. Use -inf.", {"the masked scores": lambda scores, mask: scores * mask, "the weights with zeros": left_out}),
    ("softmax_over_the_stories", "Your softmax runs over the stories of the batch and gives NaN for positions that are padding in all of them. It should run over a story's facts, axis 1.", {"the softmax": lambda masked: masked.softmax(0), "the weights with zeros": left_out}),
    ("empty_story_nan", "A story without facts gives NaN: a softmax over only -inf is undefined. Nothing is read there, so set the weights to 0 where the mask is False.", {"the weights with zeros": left_out}),
    ("finite_number_for_padding", "A story without facts reads something: if all its scores are replaced with a very low number, such as -1e9, the softmax gives all positions the same weight. Set the weights to 0 where the mask is False.", {"the masked scores": filled(-1e9), "the weights with zeros": left_out}),
    ("mask_inverted_nan", "The mask is the wrong way round: True means \"is a fact\", and you read padding. A story without padding then has nothing left, and the softmax of nothing but -inf gives NaN.", {"mask": torch.logical_not, "the weights with zeros": left_out}),
    ("mask_inverted_level", "The mask is the wrong way round: True means \"is a fact\", and you read padding. A story without padding then has equal scores, and each fact gets the same weight.", {"mask": torch.logical_not, "the masked scores": filled(-1e9), "the weights with zeros": left_out}),
    ("mask_in_the_first_hop", "Only the first hop uses the mask. Every hop should use the same mask.", dict.fromkeys(("the masked scores", "the weights with zeros"), _in_the_first_hop)),
    # The answer
    ("last_read_alone", "You apply the readout only to what the last hop has read, without the question. The paper applies it to their sum.", {LOGITS: lambda question, answers, *, done: done["what a hop reads"] @ answers}),
    ("not_read_out", "You return the question after the last hop, B×D. Multiply it by readout to get a number for each answer.", {LOGITS: left_out}),
    ("readout_not_transposed", "You multiply by readout without transposing it. This runs without an error only if there are as many answers as features. Each answer has its own row of readout: V×D.", {LOGITS: lambda question, answers: question @ answers.mT}),
    ("softmax_of_the_logits", "You return probabilities. Return the logits: a loss like cross_entropy applies the softmax itself.", {LOGITS: lambda question, answers: (question @ answers).softmax(-1)}),
)  # fmt: skip
plus_infinity_mistakes(task, others="positions")
