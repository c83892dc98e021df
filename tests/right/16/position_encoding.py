"""Right answers to 16.position_encoding in other styles than the solution's: exchanged, one half plus a product, an outer product, loops."""

import numpy as np
import torch


def place_and_feature_exchanged(words, width):
    """The formula gives the same with j/J and k/D exchanged."""
    j = torch.linspace(1 / words, 1, words)[:, None]
    k = torch.linspace(1 / width, 1, width)
    return (1 - k) - j * (1 - 2 * k)


def around_one_half(words, width):
    """1/2 + 2 (j/J - 1/2)(k/D - 1/2)."""
    j, k = (torch.arange(1.0, n + 1) / n - 0.5 for n in (words, width))
    return 0.5 + 2 * torch.outer(j, k)


def transposed_at_the_end(words, width):
    j, k = torch.meshgrid(torch.arange(1, words + 1), torch.arange(1, width + 1), indexing="xy")
    return ((1 - j / words) - k / width * (1 - 2 * j / words)).T


def by_lerp(words, width):
    """Between 1 - j/J for k = 0 and j/J for k = D."""
    j = (torch.arange(words) + 1).div(words).unsqueeze(1).expand(words, width)
    return torch.lerp(1 - j, j, (torch.arange(width) + 1).div(width).expand(words, width))


def by_numpy(words, width):
    j, k = np.arange(1, words + 1)[:, None], np.arange(1, width + 1)[None]
    return torch.from_numpy((1 - j / words) - (k / width) * (1 - 2 * j / words)).float()


def by_broadcasting_rows(words, width):
    columns = [1 - j / words - torch.arange(1, width + 1) / width * (1 - 2 * j / words) for j in range(1, words + 1)]
    return torch.stack(columns)


def number_by_number(words, width):
    table = torch.zeros(words, width)
    for j in range(words):
        for k in range(width):
            first = 1 - (j + 1) / words
            second = (k + 1) / width * (1 - 2 * (j + 1) / words)
            table[j, k] = first - second
    return table


# PyTorch's own
OWN = [
    by_lerp,
]
RIGHT = [
    *OWN,
    place_and_feature_exchanged,
    around_one_half,
    transposed_at_the_end,
    by_numpy,
    by_broadcasting_rows,
    # As beginners write them
    number_by_number,
]
WORKED = [((4, 2), "0.5 0.25 0.5 0.5 0.5 0.75 0.5 1")]
INPUTS = {"words": lambda draw: draw.randint(1, 9), "width": lambda draw: draw.randint(1, 9)}
