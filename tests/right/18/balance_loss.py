"""Right answers to 18.balance_loss in other styles than the solution's: bincount, an identity matrix, the mean over pairs, loops."""

import torch
import torch.nn.functional as F


def by_bincount(probabilities, chosen):
    B, N = probabilities.shape
    fractions = torch.bincount(chosen, minlength=N) / B
    return N * torch.dot(fractions.to(probabilities.dtype), probabilities.mean(0))


def by_an_identity_matrix(probabilities, chosen):
    N = probabilities.size(1)
    fractions = torch.eye(N, dtype=probabilities.dtype)[chosen].mean(0)
    return (fractions * probabilities.mean(0)).mean() * N**2


def by_comparison(probabilities, chosen):
    experts = torch.arange(probabilities.shape[1])
    sent = (chosen[:, None] == experts).to(probabilities.dtype)
    return torch.einsum("bn,cn->", sent, probabilities) * len(experts) / len(chosen) ** 2


def by_the_means_of_the_chosen(probabilities, chosen):
    """The sum over experts of fraction times mean is the mean over tokens of their own expert's mean."""
    return probabilities.shape[1] * probabilities.mean(0)[chosen].mean()


def by_scatter(probabilities, chosen):
    ones = torch.ones(len(chosen), dtype=probabilities.dtype)
    counts = probabilities.new_zeros(probabilities.shape[1]).scatter_add(0, chosen, ones)
    return (counts @ probabilities.sum(0)) * probabilities.shape[1] / len(chosen) ** 2


def by_a_matrix_product(probabilities, chosen):
    sent = F.one_hot(chosen, num_classes=probabilities.shape[-1]).type_as(probabilities)
    products = sent.mean(0, keepdim=True) @ probabilities.mean(0, keepdim=True).T
    return products.squeeze() * probabilities.shape[-1]


def expert_by_expert(probabilities, chosen):
    B = len(chosen)
    N = probabilities.shape[1]
    loss = 0
    for i in range(N):
        tokens = 0
        for b in range(B):
            if chosen[b] == i:
                tokens += 1
        p = 0
        for b in range(B):
            p = p + probabilities[b, i] / B
        loss = loss + (tokens / B) * p
    return N * loss


# PyTorch's own
OWN = [
    by_bincount,
]
RIGHT = [
    *OWN,
    by_an_identity_matrix,
    by_comparison,
    by_the_means_of_the_chosen,
    by_scatter,
    by_a_matrix_product,
    # As beginners write them
    expert_by_expert,
]
INPUTS = {"probabilities": lambda draw: draw.probabilities("B×N")}
