"""Heads of a trained Transformer, seen and switched off one by one.

Here: what lesson 10 shows. Not here: multi-head attention itself (`transformer.py`, and in its plainest form `minimal.py`).

Shape letters: B sentences, H heads, T positions that attend, S positions attended to, D width, d = D / H.
"""

from contextlib import contextmanager

import torch
from torch import Tensor

from course_utils.base.errors import CourseError
from course_utils.models.transformer import MultiHeadAttention, Transformer


def attentions(model: Transformer) -> dict[str, MultiHeadAttention]:
    """Return a Transformer's attention layers by name: "encoder 0", "decoder 0" to itself, "source 0" of the decoder to the source."""
    encoder = {f"encoder {i}": layer.self_attention for i, layer in enumerate(model.encoder)}
    decoder = {f"decoder {i}": layer.self_attention for i, layer in enumerate(model.decoder)}
    return encoder | decoder | {f"source {i}": layer.source_attention for i, layer in enumerate(model.decoder)}


@torch.no_grad()
def weights_of_heads(model: Transformer, source: Tensor, target: Tensor) -> dict[str, Tensor]:
    """Return the weights B×H×T×S of all heads of each attention layer as the model, on a CPU, reads source B×S and target B×T."""
    seen, handles = {}, []
    for name, module in attentions(model).items():

        def keep(module, inputs, output, name=name):
            seen[name] = output[1]

        handles.append(module.register_forward_hook(keep))
    try:
        model.features(source, target)
    finally:
        for handle in handles:
            handle.remove()
    return {name: seen[name] for name in attentions(model)}


@contextmanager
def switched_off(model: Transformer, name: str, *heads: int):
    """Make some heads of an attention layer add nothing within the `with` (Michel et al. 2019, section 2.3).

    Their columns of W^O are set to zero. Raises `CourseError` for a layer or a head that the model does not have.
    """
    found = attentions(model)
    if name not in found:
        raise CourseError(f"attention must be one of {', '.join(found)}, not {name!r}")
    module = found[name]
    if not all(0 <= head < module.heads for head in heads):
        raise CourseError(f"each head must be one of 0 to {module.heads - 1}, not {', '.join(map(str, heads))}")
    weight = module.output.weight  # D D: the columns h·d to (h+1)·d read head h
    original = weight.detach().clone()
    with torch.no_grad():
        for head in heads:
            weight.unflatten(1, (module.heads, -1))[:, head] = 0.0
    try:
        yield model
    finally:
        with torch.no_grad():
            weight.copy_(original)
