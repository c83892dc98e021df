"""Right answers to 13.label_smoothing_loss in other styles than the solution's: cross_entropy, KLDivLoss, one-hot, token by token."""

import torch
import torch.nn.functional as F
from torch import nn


def by_cross_entropy(logits, target, smoothing, pad):
    return F.cross_entropy(logits.transpose(1, 2), target, ignore_index=pad, label_smoothing=smoothing)


def by_the_layer_on_tokens(logits, target, smoothing, pad):
    real = target.ne(pad)
    return nn.CrossEntropyLoss(label_smoothing=smoothing)(logits[real], target[real])


def by_a_smoothed_target(logits, target, smoothing, pad):
    V = logits.size(-1)
    q = torch.full_like(logits, smoothing / V)
    q.scatter_(-1, target.unsqueeze(-1), 1 - smoothing + smoothing / V)
    mask = (target != pad).to(logits.dtype)
    return -torch.einsum("btv,btv,bt->", q, F.log_softmax(logits, dim=-1), mask) / mask.sum()


def by_kl_divergence(logits, target, smoothing, pad):
    """The divergence, and the target's own entropy added again."""
    log_p = logits.flatten(0, 1).log_softmax(-1)
    q = (1 - smoothing) * F.one_hot(target.flatten(), logits.shape[-1]) + smoothing / logits.shape[-1]
    cost = F.kl_div(log_p, q, reduction="none").sum(-1) + torch.special.entr(q).sum(-1)
    real = target.flatten() != pad
    return cost.masked_fill(~real, 0.0).sum() / real.sum()


def by_logsumexp(logits, target, smoothing, pad):
    """The softmax's sum is the same for every class: it counts once, whatever the target."""
    mixed = (1 - smoothing) * logits.gather(2, target[:, :, None])[:, :, 0] + smoothing * logits.mean(2)
    losses = logits.logsumexp(2) - mixed
    return (losses * (target != pad)).sum() / (target != pad).sum()


def by_two_losses(logits, target, smoothing, pad):
    tokens = logits[target != pad]
    sharp = F.cross_entropy(tokens, target[target != pad])
    return torch.lerp(sharp, -tokens.log_softmax(1).mean(), smoothing)


def token_by_token(logits, target, smoothing, pad):
    total = 0
    n = 0
    V = logits.shape[2]
    for b in range(logits.shape[0]):
        for t in range(logits.shape[1]):
            if target[b, t] == pad:
                continue
            log_p = torch.log_softmax(logits[b, t], 0)
            for k in range(V):
                weight = smoothing / V
                if k == target[b, t]:
                    weight += 1 - smoothing
                total = total - weight * log_p[k]
            n += 1
    return total / n


# PyTorch's own
OWN = [
    by_cross_entropy,
    by_the_layer_on_tokens,
]
RIGHT = [
    *OWN,
    by_a_smoothed_target,
    by_kl_divergence,
    by_logsumexp,
    by_two_losses,
    # As beginners write them
    token_by_token,
]
INPUTS = {"smoothing": lambda draw: draw.uniform(0, 0.5), "pad": lambda draw: draw.randrange(draw.size("V"))}
