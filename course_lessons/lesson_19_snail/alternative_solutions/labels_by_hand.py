"""Correct answers to 19.labels_by_hand with other weights than the solution's."""

import torch


def all_of_x_is_brought(characters, labels, steps):
    D = characters + labels
    zero, eye = torch.zeros(D, D), torch.eye(D)
    picks_x, picks_z = torch.cat([eye, zero]), torch.cat([zero, eye])
    return {
        "W_0": eye,
        "W_1": zero,
        "W_q": picks_x[:, :characters],
        "W_k": 40 * picks_z[:, :characters],
        "W_v": picks_x[:, characters:],
    }


def keys_turned(characters, labels, steps):
    """Queries and keys turned alike, which leaves their products as they are."""
    weights = all_of_x_is_brought(characters, labels, steps)
    turn = torch.linalg.qr(torch.randn(characters, characters, generator=torch.Generator().manual_seed(0))).Q
    return weights | {"W_q": weights["W_q"] @ turn, "W_k": weights["W_k"] @ turn}


def by_how_many_steps(characters, labels, steps):
    """A scale from the length, in float64, and a value that the others do not have."""
    weights = {name: matrix.double() for name, matrix in all_of_x_is_brought(characters, labels, steps).items()}
    scale = torch.tensor(100.0 * steps).log() + 10
    weights["W_k"] = weights["W_k"] / 40 * scale
    weights["W_v"] = 3 * weights["W_v"] + 0.25
    return weights


NONE_OF_ITS_OWN = "The weights are found by thinking, and many are right."
CORRECT = [keys_turned, by_how_many_steps]
INPUTS = {
    "characters": lambda draw: draw.randint(2, 6),
    "labels": lambda draw: draw.randint(2, 6),
    "steps": lambda draw: draw.randint(3, 40),
}
