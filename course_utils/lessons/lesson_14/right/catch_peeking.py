"""Right answers to 14.catch_peeking in other styles than the solution's: rectangles by corner, a table of numbered pixels, NumPy, loops."""

import random

import numpy as np
import torch

from course_utils.models.glimpses import corner, glimpse


def by_rectangles(model):
    """The widest patch of each location holds the others."""
    rng = torch.Generator().manual_seed(5)
    for i in range(50):
        Y, X = (int(n) for n in torch.randint(5, 28, (2,), generator=rng))
        T, size, scales = 1 + i % 4, 1 + i % 3, 1 + i // 3 % 3
        locations = torch.rand(T, 2, generator=rng) * 2 - 1
        side = size * 2 ** (scales - 1)
        free = torch.ones(Y, X, dtype=torch.bool)
        for top, left in zip(*(starts.tolist() for starts in corner(locations, Y, X, side)), strict=True):
            free[max(0, top) : max(0, top + side), max(0, left) : max(0, left + side)] = False
        image = torch.rand(Y, X, generator=rng) * 4 - 2
        changed = image.clone()
        changed[free] = torch.rand(int(free.sum()), generator=rng) * 4 - 2
        try:
            apart = (model(image, locations, size, scales) - model(changed, locations, size, scales)).abs()
            if not (apart < 2e-5).all():
                return False
        except Exception:
            return False
    return True


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
            for T in (1, 2, 4):
                for size, scales in ((1, 1), (2, 2), (3, 1)):
                    locations = torch.empty(T, 2).uniform_(-1, 1)
                    image = torch.randn(Y, X).clamp(-5, 5)
                    counted = image.new_zeros(T, Y, X).requires_grad_()
                    (gradient,) = torch.autograd.grad(glimpse(counted, locations, size, scales).sum(), counted)
                    seen = gradient.sum(0) > 0
                    before = model(image, locations, size, scales)
                    for other in (torch.zeros(Y, X), torch.randn(Y, X).clamp(-5, 5)):
                        after = model(torch.where(seen, image, other), locations, size, scales)
                        if (after - before).abs().max() > 1e-5:
                            return False
    except Exception:
        return False
    return True


def as_beginners_write(model):
    random.seed(3)
    torch.manual_seed(3)
    ok = True
    for _ in range(40):
        Y = random.randint(4, 26)
        X = random.randint(4, 26)
        T = random.choice([1, 1, 2, 3, 4])
        size = random.choice([1, 2, 3])
        scales = random.choice([1, 2, 3])
        image = torch.randn(Y, X)
        locations = torch.rand(T, 2) * 2 - 1
        new_image = torch.randn(Y, X)
        for k in range(scales):
            side = size * 2**k
            tops, lefts = corner(locations, Y, X, side)
            for t in range(T):
                for r in range(int(tops[t]), int(tops[t]) + side):
                    for c in range(int(lefts[t]), int(lefts[t]) + side):
                        if r >= 0 and c >= 0 and r < Y and c < X:
                            new_image[r][c] = image[r][c]
        try:
            a = model(image, locations, size, scales)
            b = model(new_image, locations, size, scales)
            for i in range(len(a)):
                if not abs(a[i] - b[i]) < 0.00001:
                    ok = False
        except Exception:
            ok = False
        if not ok:
            break
    return ok


NONE_OF_ITS_OWN = "A model is tested by what moves when pixels change."
RIGHT = [by_rectangles, by_one_pixel_after_another, by_zeros_and_noise, as_beginners_write]
