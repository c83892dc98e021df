"""Right answers to 18.mix in other styles than the solution's: where, bmm, experts on their own rows, loops."""

import torch


def by_where(outputs, gates):
    return torch.where(gates.unsqueeze(-1) == 0, 0.0, outputs * gates.unsqueeze(-1)).sum(dim=1)


def by_bmm(outputs, gates):
    clean = torch.where((gates != 0)[..., None], outputs, torch.zeros_like(outputs))
    return torch.bmm(gates[:, None], clean)[:, 0]


def by_matmul(outputs, gates):
    clean = outputs.masked_fill((gates == 0).unsqueeze(2), 0)
    return (clean.mT @ gates[:, :, None]).squeeze(2)


def without_what_is_no_number(outputs, gates):
    """What has been run is finite, so that only what has not been run is altered."""
    return (outputs.nan_to_num(0.0, 0.0, 0.0) * gates[..., None]).sum(-2)


def in_place_on_a_copy(outputs, gates):
    clean = outputs.clone()
    clean[gates == 0] = 0
    return torch.einsum("bnd,bn->bd", clean, gates)


def expert_by_expert(outputs, gates):
    """Each expert adds to the rows that chose it."""
    mixed = outputs.new_zeros(outputs.shape[0], outputs.shape[2])
    for i in range(outputs.shape[1]):
        rows = gates[:, i].nonzero().flatten()
        mixed = mixed.index_add(0, rows, gates[rows, i].unsqueeze(1) * outputs[rows, i])
    return mixed


def pair_by_pair(outputs, gates):
    """All pairs of a row and an expert at once."""
    rows, experts = gates.nonzero(as_tuple=True)
    weighed = gates[rows, experts][:, None] * outputs[rows, experts]
    return torch.zeros_like(outputs[:, 0]).index_add(0, rows, weighed)


def number_by_number(outputs, gates):
    B, N, D = outputs.shape
    result = torch.zeros(B, D, dtype=outputs.dtype)
    for b in range(B):
        for d in range(D):
            total = 0
            for i in range(N):
                if gates[b, i] != 0:
                    total = total + gates[b, i] * outputs[b, i, d]
            result[b, d] = total
    return result


def weighted_sum(outputs, gates):
    return torch.einsum("bn,bnd->bd", gates, outputs)


# PyTorch's own
OWN = [
    # As the lesson writes it: what stands where the mask is False is never NaN
    weighted_sum,
    by_bmm,
]
RIGHT = [
    *OWN,
    by_where,
    by_matmul,
    without_what_is_no_number,
    in_place_on_a_copy,
    expert_by_expert,
    pair_by_pair,
    # As beginners write them
    number_by_number,
]
WORKED = [(([[[4, 8], [2, 0], [6, 6]]], [[0.75, 0.25, 0]]), "3.5 6")]
INPUTS = {"gates": lambda draw: draw.probabilities("B×N", zeros=0.3)}
