"""The loss that models are trained with: cross-entropy with smoothed labels, over a readout whose logits are never all in memory.

Here: `smoothed_loss`, and the `disagreement` of two passes. Not here: which tokens make a batch (`batches.py`), and how sums over several batches or
processes become a mean (`loop.py`).

Shape letters: N tokens, D model width, V vocabulary.
"""

import torch
from torch import Tensor

ROWS = 512  # of logits at a time: few enough to stay in a CPU's cache, enough for fast matrix products
ROWS_ON_GPU = 16384  # so that a GPU gets few large products instead of many small ones


def smoothed_loss(features: Tensor, weight: Tensor, target: Tensor, smoothing: float = 0.0) -> Tensor:
    """Return the sum over tokens of -Σ q log softmax(features · weightᵀ), q = (1 - ε) one-hot + ε / V.

    features N×D, weight V×D, target N ids, smoothing ε (Szegedy et al. 2016, section 7) → a scalar in float32 at
    least. The same as torch's cross_entropy with label_smoothing and reduction="sum", in half the time.
    """
    return _SmoothedLoss.apply(features, weight, target, smoothing)


def disagreement(features: Tensor, others: Tensor, weight: Tensor) -> Tensor:
    """Return the sum over tokens of (KL(p, q) + KL(q, p)) / 2 between what two passes with different dropout predict.

    features and others N×D, weight V×D → a scalar in float32 at least. The term of R-Drop (Liang et al. 2021, equation 2).
    """
    exact = torch.promote_types(features.dtype, torch.float32)
    log_p, log_q = ((x @ weight.T).to(exact).log_softmax(-1) for x in (features, others))  # N V
    return ((log_p.exp() - log_q.exp()) * (log_p - log_q)).sum() / 2


class _SmoothedLoss(torch.autograd.Function):
    """Computes the gradients in the forward pass, so that each block of logits is computed once and never kept."""

    @staticmethod
    def forward(ctx, features, weight, target, smoothing):
        exact = torch.promote_types(features.dtype, torch.float32)
        loss = torch.zeros((), dtype=exact, device=features.device)
        d_features, d_weight = torch.empty_like(features), torch.zeros_like(weight)
        mean_weight = weight.to(exact).mean(0)  # D: the mean of a row's logits is one product with it
        rows = ROWS_ON_GPU if features.is_cuda else ROWS
        for x, y, d_x in zip(features.split(rows), target.split(rows), d_features.split(rows), strict=True):
            logits = x @ weight.T  # rows V
            probability = logits.softmax(-1)  # stays in the model's precision: half the memory is twice the speed
            # log Z from the largest logit, whose probability can't be too small to have a logarithm.
            log_z = logits.amax(-1).to(exact) - probability.amax(-1).to(exact).log()
            row = torch.arange(len(y), device=y.device)
            gold = logits[row, y].to(exact)
            loss += (log_z - (1 - smoothing) * gold).sum() - smoothing * (x.to(exact) @ mean_weight).sum()
            # The gradient of a logit is its probability less q.
            d_logits = probability.sub_(smoothing / len(weight)) if smoothing else probability
            d_logits[row, y] += smoothing - 1
            torch.mm(d_logits, weight, out=d_x)
            d_weight.addmm_(d_logits.T, x)
        ctx.save_for_backward(d_features, d_weight)
        return loss

    @staticmethod
    def backward(ctx, d_loss):
        d_features, d_weight = ctx.saved_tensors
        return d_features * d_loss, d_weight * d_loss, None, None
