"""Correct answers to 01.word_polarity in other styles than the solution's."""

from torch import nn

OWN = [nn.CosineSimilarity(dim=-1)]
CORRECT = [*OWN, lambda x, w: x @ w / (x.norm(dim=1) * w.norm() + 1e-8)]
WORKED = [(([[3, 4], [0, 0]], [2, 0]), "0.6 0")]
