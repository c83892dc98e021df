"""Right answers to 14.glimpse_features in other styles than the solution's: linear, side by side, einsum, loops."""

import torch
import torch.nn.functional as F


def by_linear(patches, location, weight_what, weight_where, weight_1, weight_2):
    what = F.relu(F.linear(patches, weight_what))
    where = F.relu(F.linear(location, weight_where))
    return F.relu(F.linear(what, weight_1) + F.linear(where, weight_2))


def side_by_side(patches, location, weight_what, weight_where, weight_1, weight_2):
    """One matrix for both parts, and one row for both hidden layers."""
    hidden = torch.cat([patches @ weight_what.mT, location @ weight_where.mT], -1).clamp(min=0)
    return (hidden @ torch.cat([weight_1, weight_2], -1).mT).relu()


def by_einsum(patches, location, weight_what, weight_where, weight_1, weight_2):
    what = torch.einsum("bp,hp->bh", patches, weight_what).relu()
    where = torch.einsum("bx,hx->bh", location, weight_where).relu()
    total = torch.einsum("bh,dh->bd", what, weight_1) + torch.einsum("bh,dh->bd", where, weight_2)
    return total * (total > 0)


def one_block(patches, location, weight_what, weight_where, weight_1, weight_2):
    """Both hidden layers from a matrix with blocks of zeros."""
    first = torch.block_diag(weight_what, weight_where)
    hidden = torch.maximum(torch.cat([patches, location], 1) @ first.T, patches.new_zeros(()))
    return torch.where(hidden @ torch.cat([weight_1, weight_2], 1).T > 0, 1.0, 0.0) * (
        hidden @ torch.cat([weight_1, weight_2], 1).T
    )


def row_by_row(patches, location, weight_what, weight_where, weight_1, weight_2):
    rows = []
    for p, l in zip(patches, location, strict=True):
        what = torch.relu(torch.mv(weight_what, p))
        where = torch.relu(weight_where[:, 0] * l[0] + weight_where[:, 1] * l[1])
        rows.append(torch.relu(weight_1 @ what + weight_2 @ where))
    return torch.stack(rows)


# PyTorch's own
OWN = [
    by_linear,
]
RIGHT = [*OWN, side_by_side, by_einsum, one_block, row_by_row]
WORKED = [(([[2]], [[1, -1]], [[1.5]], [[-1, 1]], [[2], [-2]], [[1], [3]]), "6 0")]
