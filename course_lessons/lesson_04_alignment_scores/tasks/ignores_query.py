"""Task 04.ignores_query: do the weights of a score depend on the query? The scores are made here, so the answer is known."""

import torch
from torch.nn.functional import normalize

from course_utils.checks.task import Candidate, Case, Task


def _made_of(like, *shape, seed=1):
    """Weights of a score, the same each time."""
    numbers = torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return numbers.to(like.dtype) / shape[-1] ** 0.5


def _alone(vectors, seed):
    """One number for each vector: its product with a fixed one."""
    return vectors @ _made_of(vectors, vectors.shape[-1], seed=seed)


def perceptron(state, hidden):
    first = state @ _made_of(state, state.shape[-1], 6, seed=3) * 2
    second = hidden @ _made_of(hidden, hidden.shape[-1], 6, seed=4) * 2
    return 2 * torch.tanh(first[:, :, None] + second[:, None]).sum(-1)


def _beside_half(scores):
    """Scores with one more in front that gets half of the weight, whatever the others are."""
    return torch.cat([scores.logsumexp(-1, keepdim=True), scores], -1)


SCORES = (  # what it is, the score, whether its weights ignore the query
    ("the dot product", lambda s, h: s @ h.mT, False),
    ("a score that sees only how long the state is", lambda s, h: s.norm(dim=-1, keepdim=True) * _alone(h, 2)[:, None], False),
    ("the cosine", lambda s, h: 2 * normalize(s, dim=-1) @ normalize(h, dim=-1).mT, False),
    ("the dot product without its sign", lambda s, h: (s @ h.mT).abs(), False),
    ("the dot product of a state whose mean is subtracted", lambda s, h: (s - s.mean(-1, keepdim=True)) @ h.mT, False),
    ("the general score", lambda s, h: s @ _made_of(s, s.shape[-1], h.shape[-1]) @ h.mT, False),
    ("the perceptron score", perceptron, False),
    ("the location-based score, before its softmax", lambda s, h: s @ _made_of(s, h.shape[1], s.shape[-1], seed=5).mT * 2, False),
    ("a score whose state sets the temperature", lambda s, h: _alone(s, 6).exp()[:, :, None] * _alone(h, 7)[:, None] * 2, False),
    ("a score that sees only the last feature of the state", lambda s, h: s[..., -1:] * _alone(h, 16)[:, None] * 2, False),
    ("a score that sees only the negative entries of the state", lambda s, h: s.clamp(max=0) @ h.mT * 2, False),
    ("a score with a thousandth of the dot product", lambda s, h: _alone(h, 17)[:, None] + s @ h.mT / 1000, False),
    ("a score that sees the query in the last sentence only", lambda s, h: torch.cat([0 * s[:-1], s[-1:]]) @ h.mT, False),
    ("a score that sees the query in the first sentence only", lambda s, h: torch.cat([s[:1], 0 * s[1:]]) @ h.mT, False),
    ("a score that always gives the first hidden state half of the weight", lambda s, h: _beside_half(s @ h[:, 1:].mT), False),
    ("a score that always gives the last hidden state half of the weight", lambda s, h: _beside_half(s @ h[:, :-1].mT).roll(-1, -1), False),
    ("a score that gives the same weights to different hidden states", lambda state, hidden: (state @ hidden.mT).argsort(-1).argsort(-1).to(state.dtype), False),
    ("the concatenating score", lambda s, h: _alone(s, 8)[:, :, None] + _alone(h, 9)[:, None], True),
    ("a network for the state plus a network for the hidden state", lambda s, h: torch.tanh(_alone(s, 10))[:, :, None] * 3 + torch.tanh(_alone(h, 11))[:, None], True),
    ("a score that depends only on the hidden states", lambda s, h: _alone(h, 12)[:, None].repeat(1, s.shape[1], 1), True),
    ("the same score for every hidden state", lambda s, h: _alone(s, 13)[:, :, None].repeat(1, 1, h.shape[1]), True),
    ("a concatenating score with a large part of the state", lambda s, h: 50 + 20 * torch.tanh(_alone(s, 14))[:, :, None] + _alone(h, 15)[:, None], True),
)  # fmt: skip


def _without_gradient(score, ignores):
    """The numbers alone, as a function gives them that runs elsewhere."""

    def call(state, hidden):
        if state.dim() != 3 or hidden.dim() != 3 or len(state) != len(hidden) or state.shape[-1] != hidden.shape[-1]:
            raise ValueError("state B×T×D and hidden B×S×D are expected")
        with torch.no_grad():
            return score(state, hidden)

    call.ignores = ignores
    return call


task = Task(
    __name__,
    "scores that lead to the same weights for every query",
    arguments=("score", "state B×T×D", "hidden B×S×D"),
    result="verdict",
    candidates=tuple(_without_gradient(score, ignores) for _, score, ignores in SCORES),
    suspects=False,
    difficulty=3,
    importance=4,
    minutes=15,
)


@task.cases
def _(draw):
    for key, (name, *_) in enumerate(SCORES):
        B, T, S, D = (int(draw.whole(low, high)) for low, high in ((1, 4), (2, 5), (3, 7), (3, 7)))
        yield Case(name, (Candidate(key), draw.numbers(B, T, D), draw.numbers(2 * B, S, D)[:B] + 0.25))
        one = draw.numbers(2, 1, 7).repeat(1, 1 if key % 2 else 3, 1)
        told = "one state" if key % 2 else "three equal states"
        yield Case(f"{name}, {told}", (Candidate(key), one, draw.numbers(2, 5, 7)))
        yield Case(f"{name}, states of zeros", (Candidate(key), torch.zeros(2, 2, 5), draw.numbers(2, 3, 5)))


@task.property
def the_verdict_is_right(case, value):
    """No score whose weights ignore the query is taken for another one, and none that sees it."""
    score = task.candidate(case.args[0].key)
    if value is False and score.ignores:
        return "This score's weights are the same for every state, though the scores may not be. Do you allow for rounding, about 1e-5?"
    if value is True and not score.ignores:
        what = SCORES[task.candidates.index(score)][0]
        return (
            f"You return True for {what}, but its weights do depend on the state. Try several random states, and compare all weights for all states and sentences: "
            "every weight has to stay the same."
        )
    return None


@task.steps
def _(score, state, hidden):
    states = yield "the states to compare", _with_random_ones, state
    scores = yield (
        "the scores of all these states",
        lambda states, hidden: [score(state, hidden) for state in states],
        states,
        hidden,
    )
    weights = yield "their weights", lambda scores: [one.softmax(-1) for one in scores], scores
    verdict = yield "whether they are the same", _all_same, weights
    return verdict


def _with_random_ones(state):
    """Return a state and three of other random numbers."""
    generator = torch.Generator().manual_seed(1)
    return [state, *(1.5 * torch.randn(state.shape, generator=generator).to(state.dtype) for _ in range(3))]


def _all_same(weights):
    return all(torch.allclose(weights[0], other, atol=1e-5) for other in weights[1:])
