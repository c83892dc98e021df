"""Deep Transformers with a choice of norm, for the measurement of warm-up. Not here: the layers (`transformer.py`)."""

import torch
from torch import nn

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
