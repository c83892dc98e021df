"""Correct answers to 05.catch_wrong_loss in other styles than the solution's."""

import numpy as np
import torch
import torch.nn.functional as F

from course_utils.models.minimal import sequence_loss as reference


def _batch(seed, B=3, T=4, V=6, lengths=(2, 4, 1), scale=1.0):
    g = torch.Generator().manual_seed(seed)
    logits, target = scale * torch.randn(B, T, V, generator=g), torch.randint(0, V, (B, T), generator=g)
    return logits, target, torch.arange(T)[None] < torch.tensor(lengths)[:, None]


def by_autograd_grad(candidate):
    batches = [_batch(0), _batch(1, lengths=(0, 3, 4)), _batch(2, lengths=(0, 0, 0)), _batch(3, scale=5000.0)]
    batches.append(_batch(4, 1, 1, 2, (1,)))
    for logits, target, mask in batches:
        ours, theirs = logits.clone().requires_grad_(), logits.clone().requires_grad_()
        ids, kept = target.clone(), mask.clone()
        expected = reference(ours, target, mask)
        (right,) = torch.autograd.grad(expected, ours)
        try:
            loss = candidate(theirs, ids, kept)
            gradient = torch.autograd.grad(loss, theirs)[0] if loss.requires_grad else torch.zeros_like(logits)
            if loss.shape != torch.Size([]) or not torch.allclose(loss, expected, atol=1e-4, rtol=1e-4):
                return False
            if not torch.allclose(gradient, right, atol=1e-5):
                return False
        except Exception:
            return False
        if not (torch.equal(theirs, logits) and torch.equal(ids, target) and torch.equal(kept, mask)):
            return False
    return True


def by_the_library_and_numpy(candidate):
    for lengths, scale in (((4, 1, 2), 1.0), ((4, 1, 2), 1e4), ((0, 0, 0), 1.0)):
        logits, target, mask = _batch(12, lengths=lengths, scale=scale)
        inputs = [logits.clone().requires_grad_(), target.clone(), mask.clone()]
        leaf = logits.clone().requires_grad_()
        right = F.cross_entropy(leaf[mask], target[mask], reduction="sum") / max(1, sum(lengths))
        right.backward()
        try:
            value = candidate(*inputs)
            if value.requires_grad:
                value.sum().backward()
            gradient = inputs[0].grad
            gradient = np.zeros((3, 4, 6)) if gradient is None else gradient.numpy()
            np.testing.assert_allclose(value.detach().numpy(), right.detach().numpy(), rtol=1e-4, atol=1e-5)
            np.testing.assert_allclose(gradient, leaf.grad.numpy(), rtol=1e-4, atol=1e-5)
            for old, new in zip((logits, target, mask), inputs, strict=True):
                np.testing.assert_array_equal(new.detach().numpy(), old.numpy())
        except Exception:
            return False
    return True


OWN = [by_the_library_and_numpy]
CORRECT = [*OWN, by_autograd_grad]
