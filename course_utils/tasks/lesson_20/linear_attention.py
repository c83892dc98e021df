"""Task 20.linear_attention: causal attention without a softmax (Katharopoulos et al. 2020, sections 3.2 and 3.3)."""

from operator import matmul, truediv

import torch
import torch.nn.functional as F

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes
from course_utils.tasks.shares import USUAL

task = Task(
    "20.linear_attention",
    "attention from sums over the steps so far",
    arguments=("query B×T×D", "key B×T×D", "value B×T×E"),
    result="contexts B×T×E",
    difficulty=3,
    importance=5,
    minutes=20,
    hints=(
        "A context is a weighted mean of the values so far, as always. The weight of step j for step i is now φ(q_i)ᵀφ(k_j), divided by the sum of these numbers over all j up to i. You may make a T×T table of them and set later steps to 0, or you keep two running sums: of φ(k_j) v_jᵀ, and of φ(k_j).",
        "Take two steps with D = E = 1: queries 0 and 1, keys 1 and 3, values 4 and 10. φ adds 1 to numbers from 0 on, so the queries become 1 and 2, the keys 2 and 4. Step 0 sees only itself and reads 4. Step 1 has the numbers 2·2 = 4 and 2·4 = 8, which are 12 together, so it reads (4·4 + 8·10) / 12 = 8. A negative number such as -1 would become e^-1 = 0.3679.",
        "query, key = F.elu of each, plus 1; memory = the running sum over the steps (cumsum along axis 1) of each key as a column times its value as a row: B×T×D×E; total = the running sum of the keys: B×T×D; above = the sum over D of query, with an axis of size 1 at the end, times memory: B×T×E; below = the sum over D of query times total, with its axis kept: B×T×1; return above divided by below.",
    ),
    partial=USUAL,
)


@task.property
def the_first_step_reads_itself(case, value):
    """There is nothing else so far."""
    first = case.args[2][:, 0]
    off = (value[:, 0] - first).abs() > 1e-3 * (1 + first.abs())
    return (
        f"Step 0 sees nothing but itself, so its weight is 1 and it reads its own value. For the input “{case.name}” yours reads something else. Does it see later steps, or not even itself? Do the weights of a step sum to 1?"
        if off.any()
        else None
    )


@task.property
def contexts_lie_among_the_values(case, value):
    """A weighted mean is no smaller than the smallest and no larger than the largest."""
    least, most = case.args[2].cummin(1).values, case.args[2].cummax(1).values
    room = 1e-3 * (1 + case.args[2].abs().max())
    return (
        f"A context is a mean of the values so far, with weights above 0, so each number of it lies between the smallest and the largest of them. For the input “{case.name}” one of yours does not."
        if ((value < least - room) | (value > most + room)).any()
        else None
    )


def _inputs(draw, B, T, D, E, dtype=torch.float32):
    """Queries and keys from -1 on: a sum of smaller weights would tell an answer that adds 1e-6 to it, as the authors' program does."""
    query, key, value = (draw.numbers(B, T, width, dtype=dtype) for width in (D, D, E))
    return (query - 0.25).clamp(min=-1), (key + 0.125).clamp(min=-1), value + 0.125


@task.cases
def _(draw):
    for size in sizes(B=2, T=7, D=3, E=5):
        T = size.T if size.full else size.T + 2
        name = f"{count(size.B, 'sequence')} of {T} steps, D = {size.D}, E = {size.E}"
        yield Case(name, _inputs(draw, size.B, T, size.D, size.E), size.full)
    yield Case("as many steps as features", _inputs(draw, 2, 5, 5, 5), True)
    yield Case("as many sequences as steps", _inputs(draw, 5, 5, 3, 2))
    query, key, value = _inputs(draw, 2, 7, 3, 5)
    below = [(-x.abs() - 0.25).clamp(min=-1) for x in (query, key)]
    yield Case("queries and keys below 0", (*below, value), True)
    query, key, value = _inputs(draw, 2, 7, 3, 5)
    yield Case("queries and keys above 0", (query.abs() + 0.25, key.abs() + 0.25, value), True)
    yield Case("a single step", _inputs(draw, 2, 1, 3, 5), True, edge=True)
    # With a width of 1 the query has no effect: its gradient is nothing but rounding.
    yield Case("D and E both 1", _inputs(draw, 2, 5, 1, 1), edge=True)
    query, key, value = _inputs(draw, 2, 7, 3, 5)
    yield Case("numbers up to 10,000", (query.abs() * 5e3, key.abs() * 5e3, value * 5e3), True, hazard=True)
    yield Case("70 steps", _inputs(draw, 2, 70, 3, 5), True, edge=True)
    yield Case("float64 numbers", _inputs(draw, 2, 7, 3, 5, torch.float64), True, edge=True)


@task.oracle
def _(query, key, value):
    """Step by step, with a sum over the steps so far."""

    def phi(x):
        return torch.where(x > 0, x + 1, x.clamp(max=0).exp())

    contexts = []
    for i in range(query.shape[1]):
        weights = (phi(query[:, i, None]) * phi(key[:, : i + 1])).sum(2)  # B i+1
        weighted = (weights[:, :, None] * value[:, : i + 1]).sum(1)
        contexts.append(weighted / weights.sum(1)[:, None])
    return torch.stack(contexts, 1)


def _phi(x):
    return F.elu(x) + 1


def _causal(scores, shift=0):
    """True where a step may look: up to itself, or to `shift` steps later."""
    return torch.ones_like(scores, dtype=torch.bool).tril(shift)


def _so_far(scores):
    return scores * _causal(scores)


@task.steps
def _(query, key, value):
    query = yield "φ of the queries", _phi, query
    key = yield "φ of the keys", _phi, key
    scores = yield "the products of queries and keys", matmul, query, key.mT
    weights = yield "the weights, with zeros at later steps", _so_far, scores
    total = yield "the sum over the steps so far", lambda weights: weights.sum(-1, keepdim=True), weights
    read = yield "the weighted sum of the values", matmul, weights, value
    contexts = yield "the weighted sum divided by the sum of the weights", truediv, read, total
    return contexts


def _sum(weights):
    return weights.sum(-1, keepdim=True)


def _divided(weights, scores):
    return weights / _sum(weights)


def _attention(query, key, value, of_query=_phi, of_key=_phi, score=matmul, keep=_so_far, divide=_divided):
    scores = score(of_query(query), of_key(key).mT)
    return divide(keep(scores), scores) @ value


def _mistake(name, sentence, **parts):
    """Register attention that is right but for the parts that are given."""
    task.mistake(sentence, name)(lambda query, key, value: _attention(query, key, value, **parts))


def _with_phi(phi):
    return {"of_query": phi, "of_key": phi}


def _same(x):
    return x


# Who is seen

_mistake(
    "not_causal",
    "Every step sees all steps, later ones too. The sums run over j ≤ i: take running sums, or set the weights of later steps to 0.",
    keep=_same,
)
_mistake(
    "later_steps_only",
    "A step sees itself and the steps after it. The sums run over j ≤ i, so row i of the weights keeps the columns 0 to i, as tril gives them.",
    keep=lambda scores: scores * _causal(scores).mT,
)
_mistake(
    "one_step_ahead",
    "Each step also sees the next one. The sums run over j ≤ i: hide what lies above the diagonal, as tril() does.",
    keep=lambda scores: scores * _causal(scores, 1),
)
_mistake(
    "step_itself_left_out",
    "A step does not see itself, and step 0, which then sees nothing, becomes 0 divided by 0. The sums run over j ≤ i, including i: add the key and the value of a step before you read.",
    keep=lambda scores: scores * _causal(scores, -1),
)
_mistake(
    "step_itself_left_out_and_zeros",
    "A step does not see itself, and step 0 reads zeros. The sums run over j ≤ i, with i: add the key and the value of a step before you read.",
    keep=lambda scores: scores * _causal(scores, -1),
    divide=lambda weights, scores: _divided(weights, scores).nan_to_num(),
)
_mistake(
    "step_itself_only",
    "Each step reads only itself. The sums run over all steps so far: take cumsum along axis 1, or a loop in which both sums are kept from step to step.",
    keep=lambda scores: scores * torch.eye(scores.shape[-1]).to(scores),
)


# Dividing

_mistake(
    "not_divided",
    "You don't divide by the sum of the weights, so contexts grow from step to step. Divide by the sum over j ≤ i of φ(q_i)ᵀφ(k_j).",
    divide=lambda weights, scores: weights,
)
_mistake(
    "divided_by_the_sum_over_all",
    "You divide by the sum over all steps, later ones too, so the weights of a step sum to less than 1. Below the line the sum also runs over j ≤ i only.",
    divide=lambda weights, scores: weights / _sum(scores),
)
_mistake(
    "all_values_over_the_sum_so_far",
    "Above the line you sum over all steps, later ones too. Both sums run over j ≤ i only.",
    keep=_same,
    divide=lambda weights, scores: weights / _sum(_so_far(scores)),
)
_mistake(
    "divided_by_the_number_of_steps",
    "You divide by the number of steps so far. Divide by the sum of their weights, φ(q_i)ᵀφ(k_j) over j ≤ i.",
    divide=lambda weights, scores: weights / _sum(_causal(weights)),
)
_mistake(
    "divided_by_its_own_weight",
    "You divide by the weight of the step itself, φ(q_i)ᵀφ(k_i). Divide by the sum of the weights of all steps so far: the keys have a running sum, too.",
    divide=lambda weights, scores: weights / scores.diagonal(dim1=-2, dim2=-1)[..., None],
)
_mistake(
    "one_added_below",
    "You add 1 to the sum that you divide by. It is above 0 for the numbers that come in here, so nothing has to be added.",
    divide=lambda weights, scores: weights / (_sum(weights) + 1),
)
_mistake(
    "softmax_of_the_weights",
    "You take the softmax of φ(q_i)ᵀφ(k_j). These numbers are above 0 already: divide them by their sum.",
    keep=lambda scores: scores.masked_fill(~_causal(scores), -torch.inf),
    divide=lambda weights, scores: weights.softmax(-1),
)
_mistake(
    "divided_by_the_sum_over_queries",
    "You divide by sums over the queries. The weights of one query sum to 1: sum over the keys, the last axis of the T×T weights.",
    divide=lambda weights, scores: weights / weights.sum(-2, keepdim=True),
)


def _by_sums(query, key, value, below):
    query, key = _phi(query), _phi(key)
    memory = (key[..., None] * value[..., None, :]).cumsum(1)
    return (query[..., None] * memory).sum(2) / below(query, key)


@task.mistake(
    "You divide by the sum of the keys so far, without the queries. Below the line stands φ(q_i)ᵀ times that sum."
)
def query_forgotten_below(query, key, value):
    return _by_sums(query, key, value, lambda query, key: key.cumsum(1).sum(2, keepdim=True))


@task.mistake(
    "You divide each feature of the memory by its own sum of keys. There is one number to divide by for each step: φ(q_i)ᵀ times the sum of the keys, summed over the features."
)
def divided_feature_by_feature(query, key, value):
    query, key = _phi(query), _phi(key)
    memory = (key[..., None] * value[..., None, :]).cumsum(1) / key.cumsum(1)[..., None]
    return (query[..., None] * memory).sum(2)


@task.mistake(
    "Below the line you take the sum of the keys as they came in, without φ. The same φ(k_j) stands above and below the line."
)
def no_phi_below(query, key, value):
    raw = key
    return _by_sums(query, key, value, lambda query, key: (query * raw.cumsum(1)).sum(2, keepdim=True))


# φ

_mistake(
    "one_forgotten",
    "You take elu without adding 1, so some weights are below 0. φ(x) is elu(x) + 1.",
    **_with_phi(F.elu),
)
_mistake(
    "one_added_inside",
    "You take elu(x + 1). The 1 is added afterwards: elu(x) + 1.",
    **_with_phi(lambda x: F.elu(x + 1)),
)
_mistake(
    "phi_of_queries_only",
    "φ is used on the queries only. The keys go through it, too.",
    of_key=_same,
)
_mistake(
    "phi_of_keys_only",
    "φ is used on the keys only. The queries go through it, too.",
    of_query=_same,
)
_mistake(
    "no_phi",
    "φ is missing: you weight with the plain products of queries and keys, which may be below 0. Take elu(x) + 1 of both first.",
    **_with_phi(_same),
)
_mistake(
    "phi_of_the_product",
    "You take φ of the product of query and key. Take φ of each of them first, and then the product: only then can the sums over the steps be kept.",
    **_with_phi(_same),
    score=lambda query, key: _phi(query @ key),
)
_mistake(
    "relu",
    "You take relu for φ. φ(x) is elu(x) + 1, which is above 0 everywhere.",
    **_with_phi(F.relu),
)
_mistake(
    "relu_plus_one",
    "You take relu(x) + 1 for φ, which is 1 for all numbers below 0. Take elu(x) + 1: below 0 it is e^x.",
    **_with_phi(lambda x: F.relu(x) + 1),
)
_mistake(
    "exponentials",
    "You take e^x for φ. That is elu(x) + 1 only for numbers below 0; above it is x + 1.",
    **_with_phi(torch.exp),
)
_mistake(
    "softplus",
    "You take softplus for φ. It looks alike, but φ(x) is elu(x) + 1.",
    **_with_phi(F.softplus),
)
_mistake(
    "softmax",
    "This is attention with a softmax. Here the exponential of the product is replaced by the product of φ(q_i) and φ(k_j).",
    **_with_phi(_same),
    keep=lambda scores: scores.masked_fill(~_causal(scores), -torch.inf),
    divide=lambda weights, scores: weights.softmax(-1),
)
_mistake(
    "scaled_softmax",
    "This is attention with a softmax and scaled scores. Here the exponential of the product is replaced by the product of φ(q_i) and φ(k_j).",
    **_with_phi(_same),
    score=lambda query, key: query @ key / query.shape[-1] ** 0.5,
    keep=lambda scores: scores.masked_fill(~_causal(scores), -torch.inf),
    divide=lambda weights, scores: weights.softmax(-1),
)


# Axes and arguments


@task.mistake("Queries and keys are exchanged. φ of the query of step i meets the keys of all steps up to i.")
def query_and_key_exchanged(query, key, value):
    return _attention(key, query, value)


@task.mistake(
    "Your running sums go along the batch, axis 0, so each sequence reads what the ones before it hold. Let them run over the steps, axis 1."
)
def summed_over_the_batch(query, key, value):
    query, key = _phi(query), _phi(key)
    memory, total = (key[..., None] * value[..., None, :]).cumsum(0), key.cumsum(0)
    return (query[..., None] * memory).sum(2) / (query * total).sum(2, keepdim=True)


@task.mistake(
    "All sequences are written into one memory. Each sequence has its own sums: keep the axis of the batch in them."
)
def one_memory_for_all(query, key, value):
    query, key = _phi(query), _phi(key)
    memory = (key[..., None] * value[..., None, :]).sum(0).cumsum(0)
    total = key.sum(0).cumsum(0)
    return (query[..., None] * memory).sum(2) / (query * total).sum(2, keepdim=True)


# Gradients, and what came in


@task.mistake(
    "The contexts are right, but their gradient is NaN if a number is far above 0. There e^x is infinite, and `torch.where` passes a gradient of 0 times infinity through it, although its value is not used. Use F.elu, or take the exponential of x.clamp(max=0)."
)
def exponentials_that_overflow(query, key, value):
    return _attention(query, key, value, **_with_phi(lambda x: torch.where(x > 0, x + 1, x.exp())))


@task.mistake(
    "The contexts are right, but no gradient flows through the sum that you divide by. It depends on queries and keys, too: leave out `detach`."
)
def sum_cut_off(query, key, value):
    return _attention(query, key, value, divide=lambda weights, scores: weights / _sum(weights).detach())


@task.mistake("The contexts are right, but no gradient reaches the queries and keys. Leave out `detach` and `no_grad`.")
def weights_cut_off(query, key, value):
    return _attention(query.detach(), key.detach(), value)


@task.mistake("The contexts are right, but no gradient reaches the values. Leave out `detach` and `no_grad`.")
def values_cut_off(query, key, value):
    return _attention(query, key, value.detach())


@task.mistake(
    "The contexts are right, but you change the queries and keys that came in, and whoever uses them later finds other numbers there. F.elu with inplace=True does that, and so do `+=` and operations whose names end in an underscore."
)
def written_into_queries_and_keys(query, key, value):
    right = _attention(query, key, value)
    with torch.no_grad():
        query.copy_(_phi(query))
        key.copy_(_phi(key))
    return right
