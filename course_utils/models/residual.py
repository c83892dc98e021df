"""How alike words become in layer after layer, at random and in the first steps of training.

Here: what lesson 12 measures. Not here: the layers (`transformer.py`).

Shape letters: B sentences, T target positions, S source positions, D width.
"""

from functools import cache

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


def deep(vocabulary: int, norm: str, layers: int, seed: int) -> Transformer:
    """Return an untrained Transformer of width 64 with as many layers on each side, without dropout; norm is "pre" or "post".

    Its weights begin as Glorot & Bengio 2010 say, as in Xiong et al. 2020. Those of `Transformer` begin smaller.
    """
    torch.manual_seed(seed)
    model = Transformer(vocabulary, 64, 4, 256, layers, layers, 0.0, norm)
    for module in model.modules():
        if isinstance(module, nn.Linear) and module is not model.readout:
            nn.init.xavier_uniform_(module.weight)
    return model


def first_steps(norm: str, warmup: int, steps=30, seed=0) -> tuple[Tensor, Tensor]:
    """Return what happens in the decoder in the first steps of training: six layers, Adam, rate 0.003, gradients of norm 1 at most.

    Args:
        norm: "pre" or "post".
        warmup: steps in which the rate grows; 0 for none.

    Returns:
        Before each step, the mean cosine of two words after the last layer; and the norm of the gradient at the first layer's last
        matrix: steps each.
    """
    vocabulary, sources, targets = _small_world()
    source, given, _ = make_batch(*small_world(16, 2, order="verb-last").ids())
    model, draw = deep(vocabulary, norm, 6, seed), torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters())
    alike, gradients = [], []
    for step in range(1, steps + 1):
        with torch.no_grad():
            alike.append(_mean_cosine(last_layer(model, source, given)[given != PAD]))
        rows = torch.randint(len(sources), (64,), generator=draw).tolist()
        *batch, wanted = make_batch([sources[i] for i in rows], [targets[i] for i in rows])
        optimizer.zero_grad()
        F.cross_entropy(model(*batch).flatten(0, 1), wanted.flatten(), ignore_index=PAD).backward()
        gradients.append(model.decoder[0].feed_forward[-1].weight.grad.norm().item())
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.param_groups[0]["lr"] = 3e-3 * min(1, step / max(1, warmup))
        optimizer.step()
    return torch.tensor(alike), torch.tensor(gradients)


@torch.no_grad()
def spreads(model: nn.Module, source: Tensor, given: Tensor) -> Tensor:
    """Return the standard deviation of the decoder's numbers before its first layer and after each, in the model that lesson 12 writes: layers+1."""
    (memory, mask), x, T = model.encode(source), model.embed(given), given.shape[1]
    found = [x.std()]
    for layer in model.decoder:
        x = layer(x, model.causal[:T, :T], memory, mask)  # B T D
        found.append(x.std())
    return torch.stack(found)


def last_layer(model: Transformer, source: Tensor, given: Tensor) -> Tensor:
    """Return what the decoder's last layer gives for source B×S and given words B×T, before the norm at the end: B×T×D."""
    found = []
    handle = model.decoder[-1].register_forward_hook(lambda module, inputs, output: found.append(output[0]))
    try:
        model(source, given)
    finally:
        handle.remove()
    return found[0]


@cache
def _small_world():
    """Size of the vocabulary, and ids of sources and targets."""
    pairs = small_world(20_000, 1, order="verb-last")
    return len(pairs.words), *pairs.ids()


def _mean_cosine(x):
    cosines = F.normalize(x, dim=-1) @ F.normalize(x, dim=-1).mT  # T T
    T = len(x)
    return ((cosines.sum() - T) / (T * T - T)).item()
