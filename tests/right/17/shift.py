"""Right answers to 17.shift in other styles than the solution's: convolution, a matrix, Fourier transforms, indices, loops."""

import torch
import torch.nn.functional as F


def by_convolution(weights, kernel):
    """conv1d does not turn its kernel round, so we do; each row is a channel of its own."""
    ring = torch.cat([weights[:, -1:], weights, weights[:, :1]], 1)
    return F.conv1d(ring[None], kernel.flip(1)[:, None], groups=len(weights))[0]


def by_unfolding(weights, kernel):
    ring = F.pad(weights[:, None], (1, 1), mode="circular")[:, 0]
    return torch.einsum("bnk,bk->bn", ring.unfold(1, 3, 1), kernel.flip(1))


def by_a_matrix(weights, kernel):
    eye = torch.eye(weights.shape[1], dtype=weights.dtype)
    moves = torch.stack([eye.roll(by, 1) for by in (-1, 0, 1)])  # row j of each says where place j goes
    return torch.einsum("bj,kji,bk->bi", weights, moves, kernel)


def by_fourier(weights, kernel):
    N = weights.shape[1]
    places = torch.tensor([-1, 0, 1]) % N
    whole = torch.zeros_like(weights).index_add(1, places, kernel)
    return torch.fft.ifft(torch.fft.fft(weights) * torch.fft.fft(whole)).real


def by_indices(weights, kernel):
    N = weights.shape[1]
    here = torch.arange(N)
    copies = torch.stack([weights[:, (here + 1) % N], weights, weights[:, (here - 1) % N]], 2)
    return (copies @ kernel[:, :, None])[..., 0]


def by_cutting(weights, kernel):
    back, stay, forward = kernel.split(1, dim=1)
    left = torch.cat([weights[:, 1:], weights[:, :1]], 1)
    right = torch.cat([weights[:, -1:], weights[:, :-1]], 1)
    return back * left + stay * weights + forward * right


def given_away(weights, kernel):
    """Each place gives parts of what it holds to its neighbours."""
    B, N = weights.shape
    shifted = torch.zeros_like(weights)
    for b in range(B):
        for j in range(N):
            for d in (-1, 0, 1):
                shifted[b, (j + d) % N] = shifted[b, (j + d) % N] + weights[b, j] * kernel[b, d + 1]
    return shifted


def place_by_place(weights, kernel):
    N = weights.shape[1]
    columns = []
    for i in range(N):
        before = weights[:, i - 1]
        after = weights[:, (i + 1) % N]
        columns.append(kernel[:, 2] * before + kernel[:, 1] * weights[:, i] + kernel[:, 0] * after)
    return torch.stack(columns, dim=1)


# PyTorch's own
OWN = [
    by_convolution,
]
RIGHT = [
    *OWN,
    by_unfolding,
    by_a_matrix,
    by_fourier,
    by_indices,
    by_cutting,
    # As beginners write them
    given_away,
    place_by_place,
]
WORKED = [(([[0.7, 0.2, 0.1]], [[0.1, 0.3, 0.6]]), "0.29 0.49 0.22")]
