"""Small worlds in which a state must find one of S hidden states: what lesson 04 compares alignment scores on.

Shape letters: B batch, S hidden states, D width. Not here: the scores (`models/attention.py`), or their training.
"""

import torch

WORLDS = ("same", "turned", "position", "salience")


def find_one(world, seed, S=8, D=4, bias=1.0):
    """Return a function from a batch size B to states B×1×(D+1), hidden states B×S×(D+1) and the places of the right ones B.

    In "same" the state is the wanted hidden state plus noise; in "turned" an orthogonal matrix rotates it first; in "position" the
    state alone gives the place; in "salience" the wanted hidden state is furthest along a direction, and the state is no help.
    Every vector ends in `bias`.
    """
    generator = torch.Generator().manual_seed(seed)
    q, r = torch.linalg.qr(torch.randn(D, D, generator=generator))
    turn = q * r.diagonal().sign()
    places, direction = torch.randn(S, D, generator=generator), torch.randn(D, generator=generator)

    def batch(B):
        hidden, state = torch.randn(B, S, D, generator=generator), torch.randn(B, D, generator=generator)
        target = torch.randint(S, (B,), generator=generator)
        if world == "position":
            target = (state @ places.T).argmax(-1)
        elif world == "salience":
            target = (hidden @ direction).argmax(-1)
        else:
            wanted = hidden[torch.arange(B), target]
            state = 0.3 * state + (wanted @ turn if world == "turned" else wanted)
        return *(torch.nn.functional.pad(x, (0, 1), value=bias) for x in (state[:, None], hidden)), target

    return batch
