"""Correct answers to 00.weighted_sum in other styles than the solution's."""

import functools

import torch


def sum_in_place(weights, values):
    values = values.clone()
    values *= weights.unsqueeze(1)
    print("after weighting:", values)
    return values.sum(dim=0)


OWN = [torch.matmul]
CORRECT = [
    *OWN,
    sum_in_place,
    functools.partial(torch.einsum, "i,ij->j"),
    lambda *args: torch.vmap(torch.mul)(*args).sum(0),
    lambda w, v: torch.as_tensor(w.double().numpy() @ v.double().numpy()),
    lambda w, v: torch.sparse.mm(v.T.to_sparse(), w[:, None]).squeeze(1),
]
WORKED = [(([2, 3], [[1, 0], [4, 5]]), "14 15")]
