"""Attentions that are wrong in one thing each, to see which promise (`models/attention_properties.py`) notices.

Each is attend(query B×H×T×D, key B×H×T×D, value B×H×T×E, mask) → contexts B×H×T×E and weights B×H×T×T.
"""

from collections.abc import Callable

import torch

from course_utils.models.attention import masked_softmax, scaled_dot


def mask_forgotten(query, key, value, mask):
    weights = scaled_dot(query, key).softmax(-1)
    return weights @ value, weights


def mask_after_softmax(query, key, value, mask):
    weights = scaled_dot(query, key).softmax(-1) * mask
    return weights @ value, weights


def softmax_over_queries(query, key, value, mask):
    weights = masked_softmax(scaled_dot(query, key).mT, mask.mT).mT
    return weights @ value, weights


def first_mask_for_all(query, key, value, mask):
    weights = masked_softmax(scaled_dot(query, key), mask[:1])
    return weights @ value, weights


def batch_mean_subtracted(query, key, value, mask):
    weights = masked_softmax(scaled_dot(query, key - key.mean(0)), mask)
    return weights @ value, weights


def first_key_favoured(query, key, value, mask):
    favour = torch.zeros(key.shape[-2])
    favour[0] = 1.0
    weights = masked_softmax(scaled_dot(query, key) + favour, mask)
    return weights @ value, weights


def exp_overflows(query, key, value, mask):
    weights = scaled_dot(query, key).exp().masked_fill(~mask, 0.0)
    weights = weights / weights.sum(-1, keepdim=True)
    return weights @ value, weights


def keys_without_gradient(query, key, value, mask):
    weights = masked_softmax(scaled_dot(query, key.detach()), mask)
    return weights @ value, weights


def mask_ends_early(query, key, value, mask):
    allowed = mask.clone()
    allowed[..., 20:] = True
    weights = masked_softmax(scaled_dot(query, key), allowed)
    return weights @ value, weights


FAULTS: dict[str, Callable] = {
    f.__name__: f
    for f in (
        mask_forgotten,
        mask_after_softmax,
        softmax_over_queries,
        first_mask_for_all,
        batch_mean_subtracted,
        first_key_favoured,
        exp_overflows,
        keys_without_gradient,
        mask_ends_early,
    )
}
