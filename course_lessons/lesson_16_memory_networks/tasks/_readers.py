"""What 16.catch_cheating_memory tries a learner's test on: models with weights of their own. No task is declared here.

Each is model(question B×4, facts B×M×4, mask B×M) → numbers B×V. They end in sums, and no weight comes near 0: what a model reads moves
some number by more than 1e-4 where random numbers of about 1 are added to it. No right one looks at another row.
"""

from functools import partial

import torch
import torch.nn.functional as F

from course_lessons.lesson_16_memory_networks.tasks._memories import dot
from course_lessons.shared.candidate_tests import with_nan
from course_lessons.shared.fixed_weights import fixed
from course_lessons.shared.padding import summed, without_garbage
from course_utils.models.attention import masked_softmax

WIDTH, ANSWERS, HOPS = 4, 5, 3
MOST = 20  # stories and facts in a call, at most
HOLDS = 6  # facts that a memory has room for, where it is too small
_made = partial(fixed, spread=0.6)  # small enough that no attention weight comes near 0
MEMORIES, AGES = _made(31, HOPS + 1, WIDTH, WIDTH), 0.5 * _made(32, MOST, WIDTH)
READOUT, OF_FACT = _made(33, ANSWERS, WIDTH), _made(34, WIDTH, WIDTH)
OF_STATE = (
    0.95 * torch.linalg.qr(_made(35, WIDTH, WIDTH)).Q
)  # it turns a state and hardly shortens it: early facts are not forgotten


# Looks: what is read, B×4, from a state B×4, facts B×M×4, a mask B×M and the number of the hop


def _soft(state, facts, mask, k):
    facts = without_garbage(facts, mask)
    weights = masked_softmax(dot(state, facts @ MEMORIES[k].T), mask)
    return summed(weights, facts @ MEMORIES[k + 1].T)


def _linear(state, facts, mask, k):
    """Without a softmax, as at the beginning of training."""
    weights = (1 + dot(state, facts @ MEMORIES[k].T) / 4) * mask
    return summed(weights, facts @ MEMORIES[k + 1].T) / 4


def _mean(state, facts, mask, k):
    return summed(mask / mask.sum(1, keepdim=True), facts)


def _sum(state, facts, mask, k):
    return summed(mask.float(), facts) / 2


def _all_less_padding(state, facts, mask, k):
    """The sum of all places less that of padding: its last digits depend on padding, as by rounding, the value does not."""
    padding = summed((~mask).double(), facts.double())
    rounding = 3e-6 * (1000 * padding).sin()  # bounded, as the promise holds for any padding
    return ((facts.double().sum(1) - padding + rounding) / 2).float()


def _one_after_another(state, facts, mask, k):
    """A recurrent network, which keeps its state at padding."""
    for fact, real in zip(facts.unbind(1), mask.unbind(1), strict=True):
        state = torch.where(real[:, None], state @ OF_STATE.T + torch.tanh(fact @ OF_FACT.T), state)
    return state


def _network(question, facts, mask, look=_soft, hops=2):
    """Some hops with adjacent tying, and a readout."""
    state = question
    for k in range(hops):
        state = state + look(state, facts, mask, k)
    return state @ READOUT.T


def _with(look, hops=1):
    """A model with another look."""
    return lambda question, facts, mask: _network(question, facts, mask, look, hops)


def _given(change, model=_network):
    """A model that gets (question, facts, mask) with something done to them."""
    return lambda *story: model(*change(*story))


def _reading(change, model=_network):
    """A model that reads facts with something done to them, function(facts, mask)."""
    return _given(lambda question, facts, mask: (question, change(facts, mask), mask), model)


def _masked(change, model=_network):
    """A model with another mask."""
    return _given(lambda question, facts, mask: (question, facts, change(mask)), model)


def _asked(change, model=_network):
    """A model that hears another question."""
    return _given(lambda question, facts, mask: (change(question), facts, mask), model)


# Right ones


RIGHT = {
    _network: "a correct model: two hops",
    _with(_soft): "a correct model: a single hop",
    _reading(lambda facts, mask: facts + AGES[mask.sum(1, keepdim=True) - mask.cumsum(1)], _with(_soft, 3)): "a correct model: three hops, with the age of facts",
    _with(_linear): "a correct model: no softmax",
    _with(_mean): "a correct model: the mean of the facts, and the question",
    _with(_sum): "a correct model: the sum of the facts, and the question",
    _with(_all_less_padding): "a correct model: it subtracts padding from the sum over all positions",
    _with(_one_after_another): "a correct model: it reads one fact after another",
    _reading(lambda facts, mask: F.layer_norm(facts, (WIDTH,)), _with(_sum)): "a correct model: it subtracts each fact's mean from it",
    _reading(lambda facts, mask: F.normalize(facts, dim=-1), _with(_sum)): "a correct model: it scales each fact to length 1",
}  # fmt: skip


# Wrong ones: the question, or some facts, have no effect


def _hiding(seen):
    """A change of masks that leaves out facts: `seen(places, n)` tells which of n facts of a story stay."""
    return lambda mask: mask & seen(torch.arange(mask.shape[1]), mask.sum(1, keepdim=True))


def _largest(state, facts, mask, k):
    """Hard attention: the fact with the largest weight, and no other."""
    scores = dot(state, without_garbage(facts, mask) @ MEMORIES[k].T).masked_fill(~mask, -torch.inf)
    return _mean(state, facts, torch.zeros_like(mask).scatter(1, scores.argmax(1, keepdim=True), True), k)


def _first_story(question, facts, mask):
    return question, facts[:1].expand_as(facts), mask[:1].expand_as(mask)


def _facts_taken_for_stories(question, facts, mask):
    """Works only where there are as many facts as stories."""
    return _network(question, facts, mask) + summed(mask.mT.float(), without_garbage(facts, mask)) @ READOUT.T


# Wrong ones: padding is read


def _masked_after(state, facts, mask, k):
    """Padding takes its share in the softmax, and is left out afterwards."""
    weights = dot(state, facts @ MEMORIES[k].T).softmax(1) * mask
    return summed(weights, facts @ MEMORIES[k + 1].T)


def _mean_subtracted(facts, mask):
    return facts - facts.mean(1, keepdim=True)


def _last_place(question, facts, mask):
    """The last place is taken for the latest fact, which is read once more."""
    return _network(question, facts, mask) + facts[:, -1] @ READOUT.T


def _state_of_padding(state, facts, mask, k):
    """A recurrent network that goes on through padding."""
    return _one_after_another(state, facts, torch.ones_like(mask), k)


def _padding(facts, mask):
    """The sum of what is at padding, B×4."""
    return summed((~mask).float(), facts)


def _padding_of_other_rows(question, facts, mask):
    """What is at padding reaches the next row, and not its own."""
    return _network(question, facts, mask) + 0.3 * _padding(facts, mask).roll(1, 0) @ READOUT.T * (len(facts) > 1)


WRONG = {
    _asked(torch.zeros_like): "an incorrect model: it ignores the question",
    _asked(lambda question: question.roll(1, 0)): "an incorrect model: it answers another row's question",
    _asked(lambda question: question[:1].expand_as(question)): "an incorrect model: it answers the first row's question in every row",
    _asked(lambda question: question * (torch.arange(len(question)) > 0)[:, None]): "an incorrect model: it ignores the first row's question",
    _with(lambda state, facts, mask, k: torch.zeros_like(state)): "an incorrect model: it ignores the facts",
    _with(lambda state, facts, mask, k: 0 * _soft(state, facts, mask, k), 2): "an incorrect model: it looks at the facts but uses nothing that it sees",
    _given(lambda question, facts, mask: (question, facts.roll(1, 0), mask.roll(1, 0))): "an incorrect model: it reads another row's story",
    _given(_first_story, _with(_sum)): "an incorrect model: it reads the first row's story in every row",
    _masked(_hiding(lambda places, n: places == n - 1)): "an incorrect model: it reads only the latest fact",
    _masked(_hiding(lambda places, n: (places > 0) | (n == 1))): "an incorrect model: it overlooks the first of several facts",
    _masked(_hiding(lambda places, n: (places < n - 1) | (n == 1))): "an incorrect model: it overlooks the latest of several facts",
    _masked(_hiding(lambda places, n: (places != n // 2) | (n < 3)), _with(_mean)): "an incorrect model: it overlooks the fact in the middle",
    _masked(_hiding(lambda places, n: places < HOLDS)): "an incorrect model: its memory holds only the first six facts of a long story",
    _with(_largest): "an incorrect model: only the fact with the largest weight has an effect",
    _facts_taken_for_stories: "an incorrect model: it fails unless there are as many facts as stories",
    _masked(torch.ones_like): "an incorrect model: it reads padding like facts",
    _with(_masked_after): "an incorrect model: padding takes part in the softmax",
    _reading(_mean_subtracted, _with(_one_after_another)): "an incorrect model: the mean over all positions, padding included, is subtracted from each fact",
    _with(_state_of_padding): "an incorrect model: a recurrent network that reads on through padding",
    _last_place: "an incorrect model: it treats the last position as the last fact, even if it is padding",
    _masked(lambda mask: ~mask, _with(_sum)): "an incorrect model: its mask is inverted, so it reads padding and no facts",
    _masked(lambda mask: mask[:1].expand_as(mask), _with(_sum)): "an incorrect model: it uses the first row's mask for all, and reads padding if a story is shorter",
    _masked(lambda mask: F.pad(mask[:, :-1], (1, 0), value=True)): "an incorrect model: it reads one position too many, which is padding",
    lambda question, facts, mask: _network(question, facts, mask) + 0.003 * _padding(facts, mask) @ READOUT.T: "an incorrect model: it adds a tiny part of the padding",
    _padding_of_other_rows: "an incorrect model: one row's padding reaches the next row",
}  # fmt: skip
RARE = {
    with_nan(
        _network
    ): "an incorrect model: one of its numbers is NaN, so its differences are neither above 1e-5 nor below"
}
