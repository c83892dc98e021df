"""Right answers to 04.ignores_query in other styles than the solution's: leads instead of weights, loops, numpy."""

import numpy as np
import torch


def by_leads(score, state, hidden):
    """Softmax sees how far each score lies above another, and nothing else."""
    scores = torch.cat([score(torch.randn_like(state), hidden) for _ in range(4)], 1)
    leads = scores - scores[..., :1]
    return bool(((leads - leads[:, :1]).abs() < 1e-4).all())


def by_many_states_at_once(score, state, hidden):
    states = torch.randn(len(state), 20, state.shape[-1])
    weights = torch.softmax(score(states, hidden), dim=2)
    return weights.std(dim=1).max().item() < 1e-4


def row_by_row(score, state, hidden):
    rows = []
    for scale in [0.5, 1.0, 2.0]:
        scores = score(state + scale * torch.randn(state.shape), hidden)
        for b in range(len(scores)):
            for row in scores[b]:
                rows.append((b, torch.exp(row - row.max()) / torch.exp(row - row.max()).sum()))
    for b, weights in rows:
        for other, also in rows:
            if b == other and not torch.allclose(weights, also, atol=1e-5):
                return False
    return True


def by_numpy(score, state, hidden):
    def weights(state):
        scores = score(state, hidden).numpy()
        e = np.exp(scores - scores.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    random = np.random.default_rng(0)
    others = [torch.tensor(random.normal(size=state.shape), dtype=torch.float32) for _ in range(5)]
    return all(np.allclose(weights(state), weights(other), atol=1e-5) for other in others)


def by_variance(score, state, hidden):
    centred = []
    for _ in range(3):
        scores = score(torch.randn(state.shape) * 2, hidden)
        centred.append(scores - scores.mean(-1, keepdim=True))
    return torch.stack(centred).var(0).max() < 1e-6


NONE_OF_ITS_OWN = "It is a search for a state that changes the weights."
RIGHT = [by_leads, by_many_states_at_once, row_by_row, by_numpy, by_variance]
