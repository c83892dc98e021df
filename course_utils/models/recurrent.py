"""Translation with recurrent networks, from a context vector to attention: the models that the Transformer replaced.

Here: the bidirectional encoder, the eight scores made ready for use at every step, three decoders, and the model.
Not here: the scores' definitions (`attention.py`), the search for a translation (`decoding.py`), training (`training`).

Three decoders, of s_t from s_{t-1}, the word before y_{t-1} and the context c_t:

    "none"      s_t = GRU([y; c]), where c is the encoder's summary    (Cho et al. 2014, section 2.2)
    "bahdanau"  c_t = attention(s_{t-1}),  s_t = GRU([y; c_t])          (Bahdanau et al. 2014, section 3.1)
    "luong"     s_t = GRU(y),  c_t = attention(s_t)                     (Luong et al. 2015, section 3)
                with input feeding s_t = GRU([y; a_{t-1}]), where a     (section 3.3)
                is the vector tanh(W [c; s]) that the readout reads

Where the model departs from the papers: embeddings are scaled by √D, as the Transformer's are (so that one small
initial spread serves embedding and readout, which share their weights); the first state is made of the last states of
both directions, where Bahdanau et al. (appendix A.2.2) take the backward one's alone; one layer and GRUs, where Luong
et al. have four of LSTMs; and all readouts are one tanh layer, with no maxout.

Shape letters: B sentences, T target length, S source length, K hypotheses of a sentence, Q queries to one memory
(T of them in training, K in decoding), D width of embeddings and features, H width of a decoder's state,
E width of an annotation (what the encoder says of one source word), A alignment width, V vocabulary.
A mask is True at words, False at padding.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_utils.base.errors import CourseError
from course_utils.data.subwords import PAD
from course_utils.models.attention import SCORES, masked_softmax
from course_utils.models.transformer import Dropout, check_sizes


class GRU(nn.GRU):
    """One layer of torch's gated recurrent unit over B×T×D, that can also be taken apart.

    torch lets the reset gate act on U s, where Cho et al. 2014 and Bahdanau et al. 2014 (appendix A.1.1) let it act
    on s, and calls 1 - z what they call z.
    """

    def __init__(self, width: int, hidden: int):
        super().__init__(width, hidden, batch_first=True)

    def project(self, x: Tensor) -> Tensor:
        """W x + b for the gates r, z and n, which needs no state, so can be had for all steps at once: ×D → ×3H."""
        return F.linear(x, self.weight_ih_l0, self.bias_ih_l0)

    def step(self, projected: Tensor, state: Tensor) -> Tensor:
        """The next state, from the projected input ×3H and the state ×H."""
        reset_x, update_x, new_x = projected.chunk(3, -1)
        reset_s, update_s, new_s = F.linear(state, self.weight_hh_l0, self.bias_hh_l0).chunk(3, -1)
        reset = (reset_x + reset_s).sigmoid_()
        update = (update_x + update_s).sigmoid_()
        new = torch.addcmul(new_x, reset, new_s).tanh_()
        return torch.lerp(new, state, update)  # (1 - z) n + z s


class Encoder(nn.Module):
    """One GRU from left to right and one from right to left (Bahdanau et al. 2014, section 3.2)."""

    def __init__(self, width: int, hidden: int):
        super().__init__()
        self.forward_gru, self.backward_gru = GRU(width, hidden), GRU(width, hidden)

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """x B×S×D, mask B×S → annotations B×S×E of both directions, and their last states as a summary B×E."""
        lengths = mask.sum(1)  # B
        forward, _ = self.forward_gru(x)
        backward = turned(self.backward_gru(turned(x, lengths))[0], lengths)
        last = forward[torch.arange(len(x), device=x.device), lengths - 1]
        return torch.cat([forward, backward], -1), torch.cat([last, backward[:, 0]], -1)


def turned(x: Tensor, lengths: Tensor) -> Tensor:
    """Turn each sentence of x B×S×D round, from its last word to its first; padding stays behind it."""
    places = torch.arange(x.shape[1], device=x.device).expand(x.shape[:2])
    places = torch.where(places < lengths[:, None], lengths[:, None] - 1 - places, places)  # B S
    return x.gather(1, places[..., None].expand_as(x))


class Attention(nn.Module):
    """Attention by any of the eight scores, cut in two: what the source alone decides, once a sentence, and the rest.

    The parameters have the names and shapes that the score has in `attention.SCORES`.
    """

    def __init__(self, score: str, state: int, annotation: int, longest: int):
        super().__init__()
        if score not in SCORES:
            raise CourseError(f"score must be one of {', '.join(SCORES)}, not {score!r}")
        if score in ("dot", "scaled_dot", "content_based") and state != annotation:
            raise CourseError(
                f"{score} needs states and annotations of one width, not {state} and {annotation}: "
                "make hidden twice encoder_hidden, or choose the score general"
            )
        shapes = {
            "additive": {"weight": (state, state + annotation), "v": (state,)},
            "general": {"weight": (state, annotation)},
            "concatenating": {"weight": (state + annotation,)},
            "perceptron": {"weight_s": (state, state), "weight_h": (state, annotation), "v": (state,)},
            "location_based": {"weight": (longest, state)},
        }
        for name, shape in shapes.get(score, {}).items():
            setattr(self, name, nn.Parameter(torch.empty(shape).uniform_(-1, 1) * shape[-1] ** -0.5))
        self.name, self.state = score, state

    def prepare(self, annotations: Tensor, mask: Tensor) -> dict[str, Tensor]:
        """The keys, values and mask of annotations B×S×E, for all queries to come."""
        return {"keys": self.keys(annotations), "values": annotations, "mask": mask[:, None]}

    def forward(self, query: Tensor, memory: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Attend with queries B×Q×H: contexts B×Q×E and weights B×Q×S."""
        weights = masked_softmax(self.scores(query, memory["keys"]), memory["mask"])
        return weights @ memory["values"], weights

    def keys(self, annotations: Tensor) -> Tensor:
        """What a score makes of the annotations B×S×E: B×S×(their width)."""
        if self.name == "scaled_dot":
            return annotations / self.state**0.5
        if self.name == "content_based":
            return F.normalize(annotations, dim=-1)
        if self.name == "general":
            return annotations @ self.weight.T
        if self.name == "concatenating":
            return annotations @ self.weight[self.state :, None]
        if self.name in ("additive", "perceptron"):
            return 2 * F.linear(annotations, self.halves()[1])
        if self.name == "location_based":
            B, S = annotations.shape[:2]
            if len(self.weight) < S:
                raise CourseError(
                    f"location_based knows {len(self.weight)} source positions, not {S}: "
                    "shorten the source, or train with a larger `longest`"
                )
            return self.weight[:S].expand(B, -1, -1)
        return annotations

    def scores(self, query: Tensor, keys: Tensor) -> Tensor:
        """The scores B×Q×S of queries B×Q×H, as in `attention.SCORES`; of location_based, what its softmax reads."""
        if self.name in ("additive", "perceptron"):
            hidden_layer = keys[:, None] + 2 * F.linear(query, self.halves()[0])[:, :, None]  # B Q S A
            # tanh(x) = 2 σ(2x) - 1, which takes a CPU a third of the time; the keys are doubled already.
            return F.linear(hidden_layer.sigmoid_(), 2 * self.v[None], -self.v.sum()[None]).squeeze(-1)
        if self.name == "concatenating":
            return query @ self.weight[: self.state, None] + keys.mT
        if self.name == "content_based":
            query = F.normalize(query, dim=-1)
        return query @ keys.mT

    def halves(self) -> tuple[Tensor, Tensor]:
        """The alignment layer's matrices for states A×H and annotations A×E."""
        if self.name == "additive":
            return self.weight[:, : self.state], self.weight[:, self.state :]
        return self.weight_s, self.weight_h


# A decoder offers: `prepare`, what it keeps of the source; `begin`, its first state; `step`, one step of words B×K×D; and
# `unroll`, all steps of words B×T×D, where what needs no last state is computed for all steps at once.


class ContextDecoder(nn.Module):
    """Reads one context vector, the encoder's summary, at every step (Cho et al. 2014, section 2.2)."""

    def __init__(self, width: int, hidden: int, annotation: int):
        super().__init__()
        self.gru = GRU(width + annotation, hidden)
        self.merge = nn.Linear(hidden + annotation + width, width)

    def prepare(self, annotations: Tensor, mask: Tensor, summary: Tensor) -> dict[str, Tensor]:
        return {"context": summary[:, None]}

    def begin(self, state: Tensor) -> Tensor:
        return state

    def unroll(self, words, memory, state):
        context = memory["context"].expand(-1, words.shape[1], -1)  # B T E
        states, _ = self.gru(torch.cat([words, context], -1), state.transpose(0, 1).contiguous())
        return self.merge(torch.cat([states, context, words], -1)).tanh(), None

    def step(self, words, memory, state):
        context = memory["context"].expand(-1, words.shape[1], -1)  # B K E
        state = self.gru.step(self.gru.project(torch.cat([words, context], -1)), state)
        return self.merge(torch.cat([state, context, words], -1)).tanh(), state, None


class BahdanauDecoder(nn.Module):
    """Looks at the source before each step, with the state s_{t-1} as query (Bahdanau et al. 2014, appendix A.2.2).

    The readout reads state, context and word, through one tanh layer in place of the paper's maxout.
    """

    def __init__(self, width: int, hidden: int, annotation: int, score: str, longest: int):
        super().__init__()
        self.attention = Attention(score, hidden, annotation, longest)
        self.gru = GRU(width, hidden)
        self.context = nn.Linear(annotation, 3 * hidden, bias=False)  # C, C_z and C_r of the paper
        self.merge = nn.Linear(hidden + annotation + width, width)

    def prepare(self, annotations, mask, summary):
        return self.attention.prepare(annotations, mask)

    def begin(self, state):
        return state

    def advance(self, projected, memory, state):
        context, weights = self.attention(state, memory)
        return self.gru.step(projected + self.context(context), state), context, weights

    def unroll(self, words, memory, state):
        steps = []
        for projected in self.gru.project(words).split(1, dim=1):
            steps.append(self.advance(projected, memory, state))
            state = steps[-1][0]
        states, contexts, weights = (torch.cat(parts, 1) for parts in zip(*steps, strict=True))  # B T ...
        return self.merge(torch.cat([states, contexts, words], -1)).tanh(), weights

    def step(self, words, memory, state):
        state, context, weights = self.advance(self.gru.project(words), memory, state)
        return self.merge(torch.cat([state, context, words], -1)).tanh(), state, weights


class LuongDecoder(nn.Module):
    """Looks at the source after each step, with the state s_t as query (Luong et al. 2015, section 3).

    With input feeding a step also reads what the readout read before it (section 3.3).
    """

    def __init__(self, width: int, hidden: int, annotation: int, score: str, longest: int, input_feeding: bool):
        super().__init__()
        self.attention = Attention(score, hidden, annotation, longest)
        self.gru = GRU(width, hidden)
        self.feed = nn.Linear(width, 3 * hidden, bias=False) if input_feeding else None
        self.merge = nn.Linear(annotation + hidden, width)

    def prepare(self, annotations, mask, summary):
        return self.attention.prepare(annotations, mask)

    def begin(self, state):
        return state, state.new_zeros(*state.shape[:2], self.merge.out_features)

    def look(self, state, memory):
        context, weights = self.attention(state, memory)
        return self.merge(torch.cat([context, state], -1)).tanh(), weights  # equation 5

    def advance(self, projected, memory, state):
        state, fed = state
        state = self.gru.step(projected if self.feed is None else projected + self.feed(fed), state)
        features, weights = self.look(state, memory)
        return features, (state, features), weights

    def unroll(self, words, memory, state):
        if self.feed is None:  # no step waits for attention
            states, _ = self.gru(words, state[0].transpose(0, 1).contiguous())
            return self.look(states, memory)
        features, weights = [], []
        for projected in self.gru.project(words).split(1, dim=1):
            one, state, attended = self.advance(projected, memory, state)
            features.append(one)
            weights.append(attended)
        return torch.cat(features, 1), torch.cat(weights, 1)

    def step(self, words, memory, state):
        return self.advance(self.gru.project(words), memory, state)


class RecurrentTranslator(nn.Module):
    """A translator of two GRUs that read and one that writes, over one vocabulary, whose embedding is also the readout.

    Args:
        vocabulary: the number of tokens V; id 0 is padding.
        width: D, of embeddings and features.
        hidden: H, of the decoder's state.
        encoder_hidden: of each of the encoder's two directions, so that E is twice this.
        attention: "none", "bahdanau" or "luong".
        score: any name in `attention.SCORES`.
        input_feeding: whether Luong's decoder reads its last features.
        dropout: the share of embeddings and features set to zero while training.
        longest: the source positions that the score location_based has weights for.
    """

    def __init__(self, vocabulary, width=256, hidden=256, encoder_hidden=128, attention="bahdanau", score="perceptron",
                 input_feeding=False, dropout=0.2, longest=100):  # fmt: skip
        super().__init__()
        self.config = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        if input_feeding and attention != "luong":
            raise CourseError(f'input feeding belongs to the attention "luong", not {attention!r}')
        check_sizes(
            1, vocabulary=vocabulary, width=width, hidden=hidden, encoder_hidden=encoder_hidden, longest=longest
        )
        annotation = 2 * encoder_hidden
        if attention == "none":
            self.decoder = ContextDecoder(width, hidden, annotation)
        elif attention == "bahdanau":
            self.decoder = BahdanauDecoder(width, hidden, annotation, score, longest)
        elif attention == "luong":
            self.decoder = LuongDecoder(width, hidden, annotation, score, longest, input_feeding)
        else:
            raise CourseError(f"attention must be none, bahdanau or luong, not {attention!r}")
        self.embedding = nn.Embedding(vocabulary, width)
        self.encoder = Encoder(width, encoder_hidden)
        self.initial = nn.Linear(annotation, hidden)
        self.dropout = Dropout(dropout)
        self.readout = nn.Linear(width, vocabulary, bias=False)
        nn.init.normal_(self.embedding.weight, std=width**-0.5)
        self.readout.weight = self.embedding.weight

    def embed(self, tokens: Tensor) -> Tensor:
        """Look tokens up, of any shape, scaled to a spread of 1: → ×D."""
        return self.dropout(self.embedding(tokens) * self.embedding.embedding_dim**0.5)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Score each next word, given the words before it: source B×S, target B×T → logits B×T×V."""
        return self.readout(self.features(source, target))

    def features(self, source: Tensor, target: Tensor) -> Tensor:
        """Return what the readout reads: source B×S, target B×T → B×T×D."""
        memory, state = self.start(source)
        return self.dropout(self.decoder.unroll(self.embed(target), memory, state)[0])

    def attention(self, source: Tensor, target: Tensor) -> Tensor | None:
        """Return how much each target position attends to each source position, B×T×S; None without attention."""
        memory, state = self.start(source)
        return self.decoder.unroll(self.embed(target), memory, state)[1]

    def start(self, source: Tensor) -> tuple[dict, Tensor | tuple]:
        """Read source sentences B×S: what every step looks at, and the first state, tanh(W_s summary)."""
        mask = source != PAD
        annotations, summary = self.encoder(self.embed(source), mask)
        memory = self.decoder.prepare(annotations, mask, summary)
        return memory, self.decoder.begin(self.initial(summary).tanh()[:, None])

    def step(self, tokens: Tensor, memory: dict, state) -> tuple[Tensor, Tensor | tuple, Tensor | None]:
        """Read one more token of each hypothesis: tokens B×K → logits B×K×V, the new state, weights B×K×S or None."""
        features, state, weights = self.decoder.step(self.embed(tokens), memory, state)
        return self.readout(features), state, weights
