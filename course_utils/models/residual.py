"""What passes through a Transformer's layers: how alike its words become, which word each layer would say next, and how large gradients are.

Here: what lesson 12 measures. Not here: the layers (`transformer.py`).

Shape letters: B sentences, T target positions, S source positions, D width.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_utils.data.small_world import small_world
from course_utils.data.subwords import PAD
from course_utils.models.plain import attend
from course_utils.models.seq2seq import make_batch
from course_utils.models.transformer import Transformer


@torch.no_grad()
def likeness(residual: bool, layers=12, words=10, width=64, seeds=5) -> Tensor:
    """Return the mean cosine between two of some random words, before and after each of several random self-attentions: seeds×(layers+1).

    With `residual`, each attention adds to the words; without it, its contexts take their place (Dong et al. 2021).
    """
    rows = []
    for seed in range(seeds):
        torch.manual_seed(seed)
        x = torch.randn(words, width)  # T D
        row = [_mean_cosine(x)]
        for _ in range(layers):
            query, key, value = (nn.Linear(width, width, bias=False)(x) for _ in range(3))
            context = attend(query, key, value)
            x = x + context if residual else context
            row.append(_mean_cosine(x))
        rows.append(row)
    return torch.tensor(rows)


@torch.no_grad()
def streams(model, source: Tensor, given: Tensor) -> list[Tensor]:
    """Return the decoder's residual stream for source B×S and given words B×T: after the embedding, and after each layer, B×T×D each."""
    found = []
    handles = [
        layer.register_forward_hook(lambda module, inputs, output: found.append(output[0])) for layer in model.decoder
    ]
    handles.append(model.decoder[0].register_forward_pre_hook(lambda module, inputs: found.append(inputs[0])))
    try:
        model(source, given)
    finally:
        for handle in handles:
            handle.remove()
    return found


@torch.no_grad()
def next_words(model, stream: Tensor) -> list[list[int]]:
    """Return the ids of the words that the readout would give for a residual stream B×T×D, as if no layer followed: B lists of T."""
    return model.readout(model.decoder_norm(stream)).argmax(-1).tolist()


def deep(vocabulary: int, norm: str, encoder_layers: int, decoder_layers: int, seed=0, glorot=True) -> Transformer:
    """Return an untrained Transformer of width 64, without dropout; see `gradient_norms`."""
    torch.manual_seed(seed)
    model = Transformer(vocabulary, 64, 4, 256, encoder_layers, decoder_layers, 0.0, norm)
    for module in model.modules():
        if glorot and isinstance(module, nn.Linear) and module is not model.readout:
            nn.init.xavier_uniform_(module.weight)
    return model


def gradient_norms(norm: str, layers=12, seeds=3, glorot=True) -> Tensor:
    """Return the norm of the loss's gradient at the last matrix of each decoder layer of an untrained Transformer: seeds×layers.

    Args:
        norm: "pre" or "post".
        glorot: whether its weights begin as Glorot & Bengio 2010 say, as in Xiong et al. 2020; else smaller, as `Transformer` does.
    """
    pairs = small_world(64, 1, order="verb-last")
    source, given, wanted = make_batch(*pairs.ids())
    rows = []
    for seed in range(seeds):
        model = deep(len(pairs.words), norm, 2, layers, seed, glorot)
        F.cross_entropy(model(source, given).flatten(0, 1), wanted.flatten(), ignore_index=PAD).backward()
        rows.append([layer.feed_forward[-1].weight.grad.norm().item() for layer in model.decoder])
    return torch.tensor(rows)


def _mean_cosine(x):
    cosines = F.normalize(x, dim=-1) @ F.normalize(x, dim=-1).mT  # T T
    T = len(x)
    return ((cosines.sum() - T) / (T * T - T)).item()
