"""The eight scores of `attention.py` as modules with weights, made ready for a decoder that attends at every step.

The keys, which depend on the annotations alone, are computed once per sentence; the scores of a state with these keys,
at each step. Here: one class per score, by name in `ATTENTIONS`. Not here: the scores' definitions (`attention.py`),
the decoders that use them (`recurrent.py`).

Shape letters: B sentences, Q queries to one memory, S source words, H width of a decoder's state, which is the query,
E width of an annotation (the encoder's output for one source word), A alignment width.
A mask is True at words, False at padding.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_utils.base.errors import CourseError
from course_utils.models.attention import masked_softmax


class Attention(nn.Module):
    """The base of all eight: contexts are sums of annotations, weighted by the softmax of the scores.

    A subclass defines its keys and, unless it is the dot product, the score of a query with them. Its parameters
    have the same names and shapes as in `attention.SCORES`.
    """

    name: str  # in `attention.SCORES`

    def __init__(self, state: int, annotation: int, longest: int):
        """Take the widths H and E, and the number of source positions that location_based has weights for."""
        super().__init__()
        self.state = state

    def prepare(self, annotations: Tensor, mask: Tensor) -> dict[str, Tensor]:
        """Return the keys, values and mask for all later queries: annotations B×S×E, mask B×S."""
        return {"keys": self.keys(annotations), "values": annotations, "mask": mask[:, None]}

    def forward(self, query: Tensor, memory: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Attend to what `prepare` returned: queries B×Q×H → contexts B×Q×E, weights B×Q×S."""
        weights = masked_softmax(self.scores(query, memory["keys"]), memory["mask"])  # B Q S
        return weights @ memory["values"], weights

    def keys(self, annotations: Tensor) -> Tensor:
        """Return the keys of the annotations: B×S×E → B×S×(the width that `scores` reads)."""
        return annotations

    def scores(self, query: Tensor, keys: Tensor) -> Tensor:
        """Score each query with each key: queries B×Q×H, keys as `keys` returns them → B×Q×S."""
        return query @ keys.mT


class Dot(Attention):
    """sᵀh (Luong et al. 2015, section 3.1). Raises `CourseError` if H is not E."""

    name = "dot"

    def __init__(self, state: int, annotation: int, longest: int):
        super().__init__(state, annotation, longest)
        if state != annotation:
            raise CourseError(
                f"{self.name} needs states and annotations of one width, not {state} and {annotation}: "
                "make hidden twice encoder_hidden, or choose the score general"
            )


class ScaledDot(Dot):
    """sᵀh / √H (Vaswani et al. 2017, equation 1). Raises `CourseError` if H is not E."""

    name = "scaled_dot"

    def keys(self, annotations: Tensor) -> Tensor:
        """Return h / √H: B×S×E."""
        return annotations / self.state**0.5


class ContentBased(Dot):
    """The cosine of s and h (Graves et al. 2014, equation 6). Raises `CourseError` if H is not E."""

    name = "content_based"

    def keys(self, annotations: Tensor) -> Tensor:
        """Return h / ‖h‖: B×S×E."""
        return F.normalize(annotations, dim=-1)

    def scores(self, query: Tensor, keys: Tensor) -> Tensor:
        """Return (s / ‖s‖)ᵀ key: B×Q×S."""
        return F.normalize(query, dim=-1) @ keys.mT


class General(Attention):
    """sᵀ W h (Luong et al. 2015, section 3.1)."""

    name = "general"

    def __init__(self, state: int, annotation: int, longest: int):
        super().__init__(state, annotation, longest)
        self.weight = parameter(state, annotation)

    def keys(self, annotations: Tensor) -> Tensor:
        """Return W h: B×S×H."""
        return annotations @ self.weight.T


class Concatenating(Attention):
    """W [s; h], linear (Luong et al. 2015, section 3.1, as quoted in `attention.concatenating`)."""

    name = "concatenating"

    def __init__(self, state: int, annotation: int, longest: int):
        super().__init__(state, annotation, longest)
        self.weight = parameter(state + annotation)

    def keys(self, annotations: Tensor) -> Tensor:
        """Return the annotation's part of the sum: B×S×1."""
        return annotations @ self.weight[self.state :, None]

    def scores(self, query: Tensor, keys: Tensor) -> Tensor:
        """Add the state's part to the annotation's: B×Q×S."""
        return query @ self.weight[: self.state, None] + keys.mT


class HiddenLayer(Attention):
    """The base of the next two: vᵀ tanh(W s + U h), where `matrices` returns W and U, and A = H."""

    def matrices(self) -> tuple[Tensor, Tensor]:
        """Return W A×H and U A×E."""
        raise NotImplementedError

    def keys(self, annotations: Tensor) -> Tensor:
        """Return 2 U h, doubled for `scores`: B×S×A."""
        _, weight_h = self.matrices()
        return 2 * F.linear(annotations, weight_h)

    def scores(self, query: Tensor, keys: Tensor) -> Tensor:
        """Return vᵀ tanh(x), computed as vᵀ (2 σ(2x) - 1), three times as fast on a CPU: B×Q×S."""
        weight_s, _ = self.matrices()
        twice_x = keys[:, None] + 2 * F.linear(query, weight_s)[:, :, None]  # B Q S A
        return F.linear(twice_x.sigmoid_(), 2 * self.v[None], -self.v.sum()[None]).squeeze(-1)


class Additive(HiddenLayer):
    """vᵀ tanh(W [s; h]), which Luong et al. 2015 (section 3.1) call "concat"."""

    name = "additive"

    def __init__(self, state: int, annotation: int, longest: int):
        super().__init__(state, annotation, longest)
        self.weight, self.v = parameter(state, state + annotation), parameter(state)

    def matrices(self) -> tuple[Tensor, Tensor]:
        """Return the columns of the single matrix that multiply s, A×H, and those that multiply h, A×E."""
        return self.weight[:, : self.state], self.weight[:, self.state :]


class Perceptron(HiddenLayer):
    """vᵀ tanh(W s + U h) (Bahdanau et al. 2014, appendix A.1.2)."""

    name = "perceptron"

    def __init__(self, state: int, annotation: int, longest: int):
        super().__init__(state, annotation, longest)
        self.weight_s, self.weight_h = parameter(state, state), parameter(state, annotation)
        self.v = parameter(state)

    def matrices(self) -> tuple[Tensor, Tensor]:
        """Return W A×H and U A×E."""
        return self.weight_s, self.weight_h


class LocationBased(Attention):
    """softmax(W s), with one row of W for each place in the source (Luong et al. 2015, section 3.1, "location").

    Its scores are the softmax's input.
    """

    name = "location_based"

    def __init__(self, state: int, annotation: int, longest: int):
        super().__init__(state, annotation, longest)
        self.weight = parameter(longest, state)

    def keys(self, annotations: Tensor) -> Tensor:
        """Return the first S rows of W, whatever the annotations: B×S×H. Raises `CourseError` if W has fewer."""
        B, S = annotations.shape[:2]
        if len(self.weight) < S:
            raise CourseError(
                f"location_based knows {len(self.weight)} source positions, not {S}: "
                "shorten the source, or train with a larger `longest`"
            )
        return self.weight[:S].expand(B, -1, -1)


def parameter(*shape: int) -> nn.Parameter:
    """Return a new weight drawn uniformly between ±1/√n, where n, the last axis, is the number of inputs."""
    return nn.Parameter(torch.empty(shape).uniform_(-1, 1) * shape[-1] ** -0.5)


ATTENTIONS = {
    kind.name: kind
    for kind in (Dot, ScaledDot, Additive, General, Concatenating, Perceptron, ContentBased, LocationBased)
}


def make_attention(score: str, state: int, annotation: int, longest: int) -> Attention:
    """Return a new attention module for a score, states of width H and annotations of width E.

    `longest` is the number of source positions that location_based has weights for. Raises `CourseError` for a name that is
    not in `attention.SCORES`, and for widths that do not fit the score.
    """
    if score not in ATTENTIONS:
        raise CourseError(f"score must be one of {', '.join(ATTENTIONS)}, not {score!r}")
    return ATTENTIONS[score](state, annotation, longest)
