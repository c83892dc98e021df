"""Correct answers to 10.catch_wrong_heads in other styles than the solution's."""

import torch
from torch import nn

from course_utils.models.minimal import multi_head_attention as reference


def by_the_layer(candidate):
    """nn.MultiheadAttention knows what is right where each word may attend to something; elsewhere it is the last bias."""
    torch.manual_seed(5)
    heads, layer = 2, nn.MultiheadAttention(8, 2, batch_first=True)
    weights = [torch.randn_like(weight) for weight in layer.parameters()]
    layer.load_state_dict(dict(zip(dict(layer.named_parameters()), weights, strict=True)))
    query, key, mask = torch.randn(3, 4, 8), torch.randn(3, 5, 8), torch.rand(3, 4, 5) < 0.6
    mask[:, :, 2] = True
    empty = mask.clone()
    empty[1, 3] = False
    try:
        for times in (1, 8000):
            for kept, own in ((None, None), (mask, mask.clone()), (mask, empty.clone())):
                hidden = None if kept is None else (~kept).repeat_interleave(heads, 0)
                with torch.no_grad():
                    right, _ = layer(times * query, key, key + 1, attn_mask=hidden)
                before = None if own is None else own.clone()
                if own is not None:
                    right[~own.any(-1)] = weights[-1]
                torch.testing.assert_close(
                    candidate(times * query, key, key + 1, *weights, heads, own), right, atol=1e-5, rtol=1e-5
                )
                if own is not None and not torch.equal(own, before):
                    return False
    except Exception:
        return False
    return True


def one_question_after_another(candidate):
    torch.manual_seed(0)
    query, key, value = torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 8)
    weights = torch.randn(24, 8) / 3, torch.randn(24), torch.randn(8, 8) / 3, torch.randn(8)
    mask = torch.rand(2, 3, 5) < 0.5
    mask[:, :, 1] = True
    empty = mask.clone()
    empty[1, 2, :] = False

    def is_right(query, mask):
        expected = reference(query, key, value, *weights, 4, mask)
        given = None if mask is None else mask.clone()
        try:
            result = candidate(query, key, value, *weights, 4, given)
        except Exception:
            return False
        if result.shape != expected.shape or mask is not None and not torch.equal(mask, given):
            return False
        return bool(torch.all(torch.abs(result - expected) < 1e-4))

    return is_right(query, mask) and is_right(query, None) and is_right(query * 10000, None) and is_right(query, empty)


OWN = [by_the_layer]
CORRECT = [*OWN, one_question_after_another]
