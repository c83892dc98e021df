"""Tests of scores and of attention as learners write them: right ones, of which everything that can be weak is a parameter."""

import torch

from course_lessons.lesson_04_alignment_scores.tasks._scores import shapes
from course_utils.models import attention


def same(right, received):
    return right.shape == received.shape and torch.allclose(right, received, atol=1e-5)


def score_test(sizes=(2, 3, 5, 7, 11, 13), agree=same, fix=lambda name, args: args):

    def test(name, candidate):
        torch.manual_seed(0)
        args = [torch.randn(shape) for shape in shapes(name, *sizes)]
        args[0][0, 0] = 0
        try:
            args = fix(name, args)
            return bool(agree(attention.SCORES[name](*args), candidate(*args)))
        except Exception:
            return False

    return test


def attention_test(sizes=(2, 3, 5, 7, 11), agree=same, masks=None, fix=lambda q, k, v: (q, k, v)):
    B, T, S, D, E = sizes

    def test(candidate):
        torch.manual_seed(0)
        q, k, v = fix(torch.randn(B, T, D), torch.randn(B, S, D), torch.randn(B, S, E))
        usual = torch.rand(B, q.shape[1], k.shape[1]) < 0.5
        usual[-1, -1] = False
        try:
            for mask in (None, usual) if masks is None else masks(usual):
                right, received = attention.attention(q, k, v, mask), candidate(q, k, v, mask)
                if len(received) != 2 or not all(agree(a, b) for a, b in zip(right, received, strict=True)):
                    return False
        except Exception:
            return False
        return True

    return test
