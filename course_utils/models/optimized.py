"""Dropout, a softmax and a cache that give the same as the plain ones, but faster on a CPU. How much faster: `benchmarks/`.

B, T, S, H, d as in `transformer.py`.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_utils.base.errors import CourseError


class Dropout(nn.Module):
    """Set each number to zero with probability p while training, and scale the others by 1 / (1 - p).

    torch draws a random number of 32 bits for each element, which on a CPU costs a fifth of the training time. Here
    a draw of 64 bits serves eight elements, which rounds p to a multiple of 1/256.
    """

    def __init__(self, p: float):
        super().__init__()
        if not 0 <= p < 1:
            raise CourseError(f"dropout must be at least 0 and less than 1, not {p}")
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        """Return x with some elements dropped, the same shape."""
        if x.is_cuda:
            return F.dropout(x, self.p, self.training)
        return x * self.kept(x) if self.training and self.p else x

    def add(self, residual: Tensor, x: Tensor) -> Tensor:
        """Return residual + dropout(x), in one pass over both."""
        if x.is_cuda:
            return residual + self(x)
        return torch.addcmul(residual, x, self.kept(x)) if self.training and self.p else residual + x

    def kept(self, x: Tensor) -> Tensor:
        """Draw a tensor shaped like x: 0 where x is dropped, 1 / (1 - p) where it is kept."""
        draws = torch.empty((x.numel() + 7) // 8, dtype=torch.int64).random_(-(2**63), None)
        draws, dropped = draws.view(torch.uint8)[: x.numel()].view(x.shape), min(round(self.p * 256), 255)
        mask = torch.empty(x.shape, dtype=x.dtype)
        return torch.ge(draws, dropped, out=mask).mul_(256 / (256 - dropped))

    def extra_repr(self) -> str:
        return f"p={self.p}"


def softmax(scores: Tensor) -> Tensor:
    """torch's softmax over the last axis, of rows padded to whole vectors of 64 bytes: others take a CPU far longer."""
    S = scores.shape[-1]
    return F.pad(scores, (0, -S % (64 // scores.element_size())), value=-torch.inf).softmax(-1)[..., :S]


class LayerCache:
    """The keys and values of the T words that a decoder layer has read so far, R×H×T×d for R rows of a batch.

    `keys` and `values` may have room for more words after these, so that the next ones can be written in place.
    """

    def __init__(self, keys: Tensor, values: Tensor, words: int):
        self.keys, self.values, self.words = keys, values, words

    def append(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Add the keys and values R×H×N×d of N more words, and return those of all words, each R×H×(T+N)×d."""
        start, self.words = self.words, self.words + keys.shape[2]
        if self.words > self.keys.shape[2]:
            # Room for seven more words: with less, they are copied too often; with more, their rows are too far apart.
            room = (0, 0, 0, self.words + 7 - self.keys.shape[2])
            self.keys, self.values = F.pad(self.keys, room), F.pad(self.values, room)
        self.keys[:, :, start : self.words] = keys
        self.values[:, :, start : self.words] = values
        return self.keys[:, :, : self.words], self.values[:, :, : self.words]
