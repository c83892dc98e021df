"""Correct answers to 15.effect_map in other styles than the solution's."""

import torch
import torch.nn.functional as F


def all_cells_in_one_batch(captioner, annotations, words, wanted, empty):
    B, L, E = annotations.shape
    gone = torch.eye(L, dtype=torch.bool)[:, None, :, None]  # L 1 L 1
    pictures = torch.cat([annotations[None], torch.where(gone, empty, annotations)])  # L+1 B L E
    logits = captioner(pictures.flatten(0, 1), words.repeat(L + 1, 1, 1)).unflatten(0, (L + 1, B))
    at = wanted.expand(L + 1, -1, -1)[..., None]
    log_p = (logits - logits.logsumexp(-1, keepdim=True)).gather(-1, at)[..., 0]  # L+1 B T
    return (log_p[0] - log_p[1:]).permute(1, 2, 0)


def by_cross_entropy(captioner, annotations, words, wanted, empty):
    def losses(picture):
        return F.cross_entropy(captioner(picture, words).transpose(1, 2), wanted, reduction="none")

    effects = []
    for cell, nothing in enumerate(empty):
        picture = torch.cat([annotations[:, :cell], nothing.expand(len(words), 1, -1), annotations[:, cell + 1 :]], 1)
        effects.append(losses(picture))
    return torch.stack(effects, 2) - losses(annotations)[..., None]


OWN = [by_cross_entropy]
CORRECT = [*OWN, all_cells_in_one_batch]
