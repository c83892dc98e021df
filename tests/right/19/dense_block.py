"""Right answers to 19.dense_block in other styles than the solution's: one convolution for both, glu, einsum, formulas, loops."""

import torch
import torch.nn.functional as F

from course_utils.models.snail import causal_convolution as reference_convolution


def one_convolution_for_both(x, weight_f, bias_f, weight_g, bias_g, dilation):
    both = reference_convolution(x, torch.cat([weight_f, weight_g]), torch.cat([bias_f, bias_g]), dilation)
    f, g = both.chunk(2, dim=-1)
    return torch.cat((x, f.tanh() * g.sigmoid()), 2)


def by_glu(x, weight_f, bias_f, weight_g, bias_g, dilation):
    padded = F.pad(x.mT, (dilation, 0))
    f, g = (F.conv1d(padded, w, b, dilation=dilation).mT for w, b in ((weight_f, bias_f), (weight_g, bias_g)))
    return torch.cat([x, F.glu(torch.cat([f.tanh(), g], -1), -1)], -1)


def by_einsum(x, weight_f, bias_f, weight_g, bias_g, dilation):
    padded = F.pad(x, (0, 0, dilation, 0))
    pairs = torch.stack([padded[:, :-dilation], x], -1)
    f = torch.einsum("btdk,fdk->btf", pairs, weight_f) + bias_f
    g = torch.einsum("btdk,fdk->btf", pairs, weight_g) + bias_g
    return torch.concat([x, torch.einsum("btf,btf->btf", f.tanh(), g.sigmoid())], dim=2)


def a_sigmoid_for_the_tanh(x, weight_f, bias_f, weight_g, bias_g, dilation):
    """tanh(f) = 2 sigmoid(2f) - 1."""
    f = reference_convolution(x, weight_f, bias_f, dilation)
    g = reference_convolution(x, weight_g, bias_g, dilation)
    return torch.cat([x, (2 * torch.sigmoid(2 * f) - 1) * (1 + torch.tanh(g / 2)) / 2], -1)


def in_place_on_a_copy(x, weight_f, bias_f, weight_g, bias_g, dilation):
    D = x.shape[-1]
    block = x.new_zeros(*x.shape[:2], D + len(bias_f))
    block[..., :D] = x
    block[..., D:] = reference_convolution(x, weight_f, bias_f, dilation).tanh()
    gates = torch.ones_like(block)
    gates[..., D:] = reference_convolution(x, weight_g, bias_g, dilation).sigmoid()
    return block * gates


def padded_and_added(x, weight_f, bias_f, weight_g, bias_g, dilation):
    new = torch.tanh(reference_convolution(x, weight_f, bias_f, dilation))
    new = new * torch.sigmoid(reference_convolution(x, weight_g, bias_g, dilation))
    return F.pad(x, (0, new.shape[-1])) + F.pad(new, (x.shape[-1], 0))


def place_by_place(x, weight_f, bias_f, weight_g, bias_g, dilation):
    f = reference_convolution(x, weight_f, bias_f, dilation)
    g = reference_convolution(x, weight_g, bias_g, dilation)
    rows = []
    for b in range(x.shape[0]):
        row = []
        for t in range(x.shape[1]):
            row.append(torch.cat([x[b, t], torch.tanh(f[b, t]) * torch.sigmoid(g[b, t])]))
        rows.append(torch.stack(row))
    return torch.stack(rows)


# PyTorch's own
OWN = [
    by_glu,
]
RIGHT = [
    *OWN,
    one_convolution_for_both,
    by_einsum,
    a_sigmoid_for_the_tanh,
    in_place_on_a_copy,
    padded_and_added,
    # As beginners write them
    place_by_place,
]
