"""What tests of models share: random numbers, modules and sentences, and the comparison of two results with their gradients.

Sizes are different primes, so that no two axes can be mistaken for each other.
"""

import torch

from course_utils.data.subwords import BOS, EOS, PAD


def drawn(seed=0):
    return torch.Generator().manual_seed(seed)


def tensor(*shape, seed=0):
    return torch.randn(shape, generator=drawn(seed), dtype=torch.float64).requires_grad_()


def tensors(seed, *shapes):
    return [tensor(*shape, seed=seed + i) for i, shape in enumerate(shapes)]


def shaken(module, seed=0):
    """A module in float64 with every parameter drawn anew, biases and norms too, and without dropout."""
    with torch.no_grad():
        for i, parameter in enumerate(module.double().parameters()):
            noise = 0.5 * tensor(*parameter.shape, seed=seed + i)
            parameter.copy_(noise + (parameter.mean() if parameter.dim() == 1 else 0))
    return module.eval()


def batch_of(vocabulary, seed=0, number=3, source_size=11, target_size=7):
    """Source B×S with EOS and padding, one row full; target B×T that begins with BOS."""
    generator, places = drawn(seed), torch.arange(source_size)
    lengths = torch.randint(1, source_size + 1, (number, 1), generator=generator)
    lengths[number // 2] = source_size
    source = torch.randint(EOS + 1, vocabulary, (number, source_size), generator=generator)
    source = source.masked_fill(places == lengths - 1, EOS).masked_fill(places >= lengths, PAD)
    target = torch.randint(EOS + 1, vocabulary, (number, target_size), generator=generator)
    target[:, 0] = BOS
    return source, target


def assert_close(ours, theirs, bound=1e-10):
    """No further apart than the bound, measured by the largest number; the course promises 1e-6."""
    assert ours.shape == theirs.shape
    largest = theirs.detach().abs().max().item() if theirs.numel() else 1.0
    torch.testing.assert_close(ours, theirs, rtol=0, atol=bound * max(1.0, largest))


def gradients(result, inputs):
    """The gradients of a random weighted sum of a result, zeros for what it does not depend on."""
    weighting = tensor(*result.shape, seed=99).detach().to(result.dtype)
    options = {"retain_graph": True, "allow_unused": True, "materialize_grads": True}
    return torch.autograd.grad((result * weighting).sum(), inputs, **options)


def assert_same(ours, theirs, inputs, their_inputs=None, bound=1e-10):
    """Two results agree, and so do their gradients."""
    assert_close(ours, theirs, bound)
    mine, others = gradients(ours, inputs), gradients(theirs, their_inputs or inputs)
    for one, other in zip(mine, others, strict=True):
        assert_close(one, other, bound)
    assert any(one.any() for one in mine)
