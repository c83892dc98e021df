"""How large the numbers of words become, in layer after layer.

Here: what lesson 12 measures. Not here: the layers (`transformer.py`).

Shape letters: B sentences, T target positions, S source positions, D width.
"""

import torch
from torch import Tensor, nn

from course_utils.models.transformer import Transformer


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


@torch.no_grad()
def spreads(model: nn.Module, source: Tensor, given: Tensor) -> Tensor:
    """Return the standard deviation of the decoder's numbers before its first layer and after each, in the model that lesson 12 writes: layers+1."""
    (memory, mask), x, T = model.encode(source), model.embed(given), given.shape[1]
    found = [x.std()]
    for layer in model.decoder:
        x = layer(x, model.causal[:T, :T], memory, mask)  # B T D
        found.append(x.std())
    return torch.stack(found)
