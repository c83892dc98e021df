"""Weights from the course's Transformer to torch.nn, so that either can be held against the other.

Here: `MultiHeadAttention` → `nn.MultiheadAttention`, and `Transformer` → `nn.Transformer`; and from the Transformer that lesson 12
writes on its page to `Transformer`. Not here: embeddings, positions and readout, which nn.Transformer leaves to its user. With
E = model.embedding, on a source B×S and a target B×T, where True in torch's masks means "may NOT attend":

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


def attention_to_torch(ours: MultiHeadAttention) -> nn.MultiheadAttention:
    """Return torch's module with copies of these weights, batch first."""
    weight = ours.output.weight
    theirs = nn.MultiheadAttention(len(weight), ours.heads, batch_first=True).to(weight)
    _copy((mine, other) for other, mine in _attention_pairs(theirs, ours))
    return theirs.train(ours.training)


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


def from_lesson(theirs: nn.Module) -> Transformer:
    """Return the course's model with copies of the weights of the whole Transformer that lesson 12 writes on its page."""
    vocabulary, width = theirs.embedding.weight.shape
    heads, hidden = theirs.encoder[0].self_attention.f.H, len(theirs.encoder[0].feed_forward.f.W_1.weight)
    layers = (len(theirs.encoder), len(theirs.decoder))
    ours = Transformer(vocabulary, width, heads, hidden, *layers, dropout=0.0, longest=len(theirs.P))
    ours = ours.to(theirs.embedding.weight)
    ours.embedding.positions.copy_(theirs.P)
    _copy(_lesson_pairs(theirs, ours))
    return ours.train(theirs.training)


# Pairs of tensors that mean the same, torch's first. They are views of the modules' weights, to be copied either way.
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


def _lesson_pairs(theirs: nn.Module, ours: Transformer) -> Pairs:
    yield theirs.embedding.weight, ours.embedding.words.weight
    for side in ("encoder", "decoder"):
        yield from _parameter_pairs(getattr(theirs, f"{side}_norm"), getattr(ours, f"{side}_norm"))
        for layer, mine in zip(getattr(theirs, side), getattr(ours, side), strict=True):
            residuals = [getattr(mine, name) for name in ("first", "second", "third") if hasattr(mine, name)]
            for (name, sublayer), residual in zip(layer.named_children(), residuals, strict=True):
                yield from _parameter_pairs(sublayer.norm, residual.norm)
                if name == "feed_forward":
                    yield from _parameter_pairs(sublayer.f.W_1, mine.feed_forward[0])
                    yield from _parameter_pairs(sublayer.f.W_2, mine.feed_forward[2])
                else:
                    yield from _lesson_attention_pairs(sublayer.f, getattr(mine, name))


def _lesson_attention_pairs(theirs: nn.Module, ours: MultiHeadAttention) -> Pairs:
    width = len(theirs.W_K.weight)
    yield from _parameter_pairs(theirs.W_Q, ours.query)
    yield theirs.W_K.weight, ours.key_value.weight[:width]
    yield theirs.W_K.bias, ours.key_value.bias[:width]
    yield theirs.W_V.weight, ours.key_value.weight[width:]
    yield theirs.W_V.bias, ours.key_value.bias[width:]
    yield from _parameter_pairs(theirs.W_O, ours.output)


def _parameter_pairs(theirs: nn.Module, ours: nn.Module) -> Pairs:
    yield theirs.weight, ours.weight
    yield theirs.bias, ours.bias


@torch.no_grad()
def _copy(pairs: Pairs) -> None:
    for source, target in pairs:
        target.copy_(source)
