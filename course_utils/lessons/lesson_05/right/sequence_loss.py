"""Right answers to 05.sequence_loss in other styles than the solution's: the library, loops, one-hot, padding filled first."""

import torch
import torch.nn.functional as F


def by_cross_entropy(logits, target, mask):
    if not mask.any():
        return logits[mask].sum()
    return F.cross_entropy(logits[mask], target[mask])


def sum_by_the_library(logits, target, mask):
    return F.cross_entropy(logits[mask], target[mask], reduction="sum") / max(mask.sum().item(), 1)


def by_nll_loss(logits, target, mask):
    words, ids = logits[mask], target[mask]
    loss = torch.nn.NLLLoss(reduction="sum")(F.log_softmax(words, dim=1), ids)
    return loss / torch.clamp(mask.sum(), min=1)


def padding_filled_first(logits, target, mask):
    logits = logits.masked_fill(~mask.unsqueeze(-1), 0.0)
    target = target.masked_fill(~mask, 0)
    losses = F.cross_entropy(logits.transpose(1, 2), target, reduction="none")
    return (losses * mask).sum() / mask.sum().clamp(min=1)


def padding_ignored(logits, target, mask):
    clean = torch.where(mask[..., None], logits, torch.zeros_like(logits))
    ids = torch.where(mask, target, -100)
    loss = F.cross_entropy(clean.flatten(0, 1), ids.flatten(), ignore_index=-100, reduction="sum")
    return loss / max(1, int(mask.sum()))


def by_logsumexp(logits, target, mask):
    words, ids = logits[mask], target[mask]
    losses = words.logsumexp(-1) - words[torch.arange(len(words)), ids]
    return losses.sum() / max(len(words), 1)


def by_one_hot(logits, target, mask):
    words = logits[mask]
    largest = words.detach().amax(-1, keepdim=True)
    log_p = words - largest - (words - largest).exp().sum(-1, keepdim=True).log()
    right = (F.one_hot(target[mask], logits.shape[-1]) * log_p).sum()
    return -right / mask.sum().clamp(min=1)


def place_by_place(logits, target, mask):
    total, count = torch.zeros(()), 0
    for b in range(logits.shape[0]):
        for t in range(logits.shape[1]):
            if mask[b, t]:
                log_p = torch.log_softmax(logits[b, t], dim=0)
                total = total - log_p[target[b, t]]
                count += 1
    if count == 0:
        return total
    return total / count


def sentence_by_sentence(logits, target, mask):
    loss, count = 0.0, mask.sum()
    for b in range(len(logits)):
        if mask[b].any():
            loss = loss + F.cross_entropy(logits[b][mask[b]], target[b][mask[b]], reduction="sum")
    return loss / count if count > 0 else torch.tensor(0.0)


def in_float64(logits, target, mask):
    words = logits[mask].double()
    loss = -words.log_softmax(1).gather(1, target[mask].unsqueeze(1)).sum() / mask.sum().clamp(min=1)
    return loss.to(logits.dtype)


def mean_of_what_is_picked(logits, target, mask):
    """NaN for a batch without words."""
    losses = F.cross_entropy(logits.flatten(0, 1), target.flatten(), reduction="none")
    return (losses * mask.flatten()).sum() / mask.sum()


def the_function_alone(logits, target, mask):
    """NaN for a batch without words."""
    return F.cross_entropy(logits.flatten(0, 1), target.masked_fill(~mask, -100).flatten())


# PyTorch's own
OWN = [
    the_function_alone,
    by_cross_entropy,
    padding_ignored,
]
RIGHT = [
    # As the lesson writes it: what stands where the mask is False is never NaN
    mean_of_what_is_picked,
    *OWN,
    sum_by_the_library,
    by_nll_loss,
    padding_filled_first,
    by_logsumexp,
    by_one_hot,
    in_float64,
    # As beginners write them
    place_by_place,
    sentence_by_sentence,
]
