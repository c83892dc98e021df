"""Weights from the course's Transformer to torch.nn, and from torch.nn to lesson 10's MultiHead, so that they can be compared.

Not here: embeddings, positions and readout, which nn.Transformer leaves to its user. With E = model.embedding, on a source B×S
and a target B×T, where True in torch's masks means "may NOT attend":

    theirs = to_torch(model)
    padding = source == PAD
    causal = ~cached_causal_mask(T, 0, source.device)  # from transformer.py
    features = theirs(E(source), E(target), tgt_mask=causal, src_key_padding_mask=padding, memory_key_padding_mask=padding)
    logits = model.readout(features)

Without dropout both compute the same function. With it they do not: the course drops embeddings and sub-layers'
results, as Vaswani et al. 2017, section 5.4 say; torch drops attention weights and hidden features as well.
"""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from course_utils.models.transformer import MultiHeadAttention, Transformer


def to_torch(ours: Transformer) -> nn.Transformer:
    """Return torch's model with copies of these weights, batch first, to be used as at the top of this file.

    Post-norm ends without a normalisation after the last layer, as in the paper; nn.Transformer's own default adds one.
    """
    width, heads = ours.config["width"], ours.config["heads"]
    pre = ours.config["norm"] == "pre"
    layer = (width, heads, ours.config["hidden"], ours.config["dropout"])
    options = {"batch_first": True, "norm_first": pre}
    encoder_norm, decoder_norm = (nn.LayerNorm(width) if pre else None for _ in range(2))
    theirs = nn.Transformer(
        width,
        heads,
        custom_encoder=nn.TransformerEncoder(
            nn.TransformerEncoderLayer(*layer, **options), len(ours.encoder), encoder_norm, enable_nested_tensor=False
        ),
        custom_decoder=nn.TransformerDecoder(
            nn.TransformerDecoderLayer(*layer, **options), len(ours.decoder), decoder_norm
        ),
        batch_first=True,
    ).to(ours.readout.weight)
    _copy((mine, other) for other, mine in _transformer_pairs(theirs, ours))
    return theirs.train(ours.training)


def copy_parameters(theirs: nn.MultiheadAttention, ours: nn.Module) -> None:
    """Give the MultiHead of lesson 10's page, whose layers are W_Q, W_K, W_V and W_O, the parameters of torch's layer."""
    weights = [*theirs.in_proj_weight.chunk(3), theirs.out_proj.weight]
    biases = [*theirs.in_proj_bias.chunk(3), theirs.out_proj.bias]
    layers = [ours.W_Q, ours.W_K, ours.W_V, ours.W_O]
    for layer, weight, bias in zip(layers, weights, biases, strict=True):
        layer.weight.data = weight.detach().clone()
        layer.bias.data = bias.detach().clone()


# Pairs of corresponding tensors, torch's first. They are views of the modules' weights, to be copied either way.
Pairs = Iterator[tuple[Tensor, Tensor]]


def _attention_pairs(theirs: nn.MultiheadAttention, ours: MultiHeadAttention) -> Pairs:
    width = theirs.embed_dim
    for whole, query, key_value in (
        (theirs.in_proj_weight, ours.query.weight, ours.key_value.weight),
        (theirs.in_proj_bias, ours.query.bias, ours.key_value.bias),
    ):
        yield whole[:width], query
        yield whole[width:], key_value
    yield from _parameter_pairs(theirs.out_proj, ours.output)


def _transformer_pairs(theirs: nn.Transformer, ours: Transformer) -> Pairs:
    for stack, layers, norm in (
        (theirs.encoder, ours.encoder, ours.encoder_norm),
        (theirs.decoder, ours.decoder, ours.decoder_norm),
    ):
        for layer, mine in zip(stack.layers, layers, strict=True):
            yield from _layer_pairs(layer, mine)
        if stack.norm is not None:
            yield from _parameter_pairs(stack.norm, norm)


def _layer_pairs(theirs: nn.Module, ours: nn.Module) -> Pairs:
    yield from _attention_pairs(theirs.self_attn, ours.self_attention)
    residuals = [ours.first, ours.second]
    if isinstance(theirs, nn.TransformerDecoderLayer):
        yield from _attention_pairs(theirs.multihead_attn, ours.source_attention)
        residuals.append(ours.third)
    for number, residual in enumerate(residuals, 1):
        yield from _parameter_pairs(getattr(theirs, f"norm{number}"), residual.norm)
    yield from _parameter_pairs(theirs.linear1, ours.feed_forward[0])
    yield from _parameter_pairs(theirs.linear2, ours.feed_forward[2])


def _parameter_pairs(theirs: nn.Module, ours: nn.Module) -> Pairs:
    yield theirs.weight, ours.weight
    yield theirs.bias, ours.bias


@torch.no_grad()
def _copy(pairs: Pairs) -> None:
    for source, target in pairs:
        target.copy_(source)
