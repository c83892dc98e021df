"""Correct answers to 14.catch_peeking in other styles than the solution's."""

import itertools

import numpy as np
import torch

from course_utils.models.glimpses import glimpse


def by_one_pixel_after_another(model):
    """A pixel is seen if a glimpse of an image that is 1 there and 0 elsewhere is not all zeros."""
    rng = np.random.default_rng(1)
    shapes = [(6, 9), (9, 6), (22, 8), (8, 23), (11, 12), (12, 7)]
    for Y, X in shapes:
        for T, size, scales in ((1, 1, 1), (1, 2, 2), (3, 1, 2), (4, 3, 1), (2, 2, 3)):
            locations = torch.tensor(rng.uniform(-1, 1, (T, 2)), dtype=torch.float32)
            ones = torch.eye(Y * X).reshape(Y * X, Y, X)
            seen = torch.zeros(Y * X, dtype=torch.bool)
            for l in locations:
                seen |= glimpse(ones, l.expand(Y * X, 2), size, scales).flatten(1).any(1)
            image, other = (torch.tensor(rng.normal(size=(Y, X)), dtype=torch.float32) for _ in range(2))
            try:
                before = model(image, locations, size, scales).numpy()
                after = model(image.where(seen.reshape(Y, X), other), locations, size, scales).numpy()
                np.testing.assert_allclose(before, after, rtol=1e-5, atol=1e-5)
            except Exception:
                return False
    return True


def by_zeros_and_noise(model):
    """The pixels outside become zeros, then other numbers; squares of 24 pixels are tried as well."""
    torch.manual_seed(4)
    try:
        for Y, X in ((5, 7), (13, 10), (9, 25), (30, 17), (24, 24)):
            for T, size, scales in itertools.product((1, 2, 4), (1, 3), (1, 2)):
                locations = torch.empty(T, 2).uniform_(-1, 1)
                image, noise = torch.randn(2, Y, X).clamp(-5, 5)
                counted = image.new_zeros(T, Y, X).requires_grad_()
                (gradient,) = torch.autograd.grad(glimpse(counted, locations, size, scales).sum(), counted)
                before = model(image, locations, size, scales)
                for other in (torch.zeros(Y, X), noise):
                    after = model(torch.where(gradient.sum(0) > 0, image, other), locations, size, scales)
                    if (after - before).abs().max() > 1e-5:
                        return False
    except Exception:
        return False
    return True


NONE_OF_ITS_OWN = "A model is tested by what moves when pixels change."
CORRECT = [by_one_pixel_after_another, by_zeros_and_noise]
