"""Translation with recurrent networks, from a context vector to attention: the models that the Transformer replaced.

Here: the gated recurrent unit, the bidirectional encoder, three decoders, and the model. Not here: attention by any of the
eight scores (`alignment.py`), the search for a translation (`translation/search.py`), training (`training/`), single
steps in their plainest form (`minimal.py`).

Three decoders compute s_t from s_{t-1}, the previous word y_{t-1} and the context c_t:

    "none"      s_t = GRU([y; c]), where c is the encoder's summary    (Cho et al. 2014, section 2.2)
    "bahdanau"  c_t = attention(s_{t-1}),  s_t = GRU([y; c_t])          (Bahdanau et al. 2014, section 3.1)
    "luong"     s_t = GRU(y),  c_t = attention(s_t)                     (Luong et al. 2015, section 3)
                with input feeding s_t = GRU([y; a_{t-1}]), where a     (section 3.3)
                is the vector tanh(W [c; s]) that the readout reads

Where the model departs from the papers: embeddings are scaled by √D, as the Transformer's are (so that one small
initial spread serves embedding and readout, which share their weights); the first state is computed from the last states
of both directions, where Bahdanau et al. (appendix A.2.2) use only the backward one's; there is one layer of GRUs,
where Luong et al. have four of LSTMs; and all readouts are one tanh layer, with no maxout.

Shape letters: B sentences, T target length, S source length, K hypotheses of a sentence, Q queries to one memory
(T of them in training, K in decoding), D width of embeddings and features, H width of a decoder's state,
E width of an annotation (the encoder's output for one source word), V vocabulary.
A mask is True at words, False at padding.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_utils.base.errors import CourseError
from course_utils.data.subwords import PAD
from course_utils.models.alignment import make_attention
from course_utils.models.optimized import Dropout
from course_utils.models.validation import check_sizes, check_tokens


class GRU(nn.GRU):
    """One layer of torch's gated recurrent unit over B×T×D that can also take a single step.

    torch applies the reset gate to U s, where Cho et al. 2014 (section 2.3) and Bahdanau et al. 2014 (appendix A.1.1)
    apply it to s. Its update gate z is the share of the old state that is kept, as in Cho et al.; Bahdanau et al. call
    that share 1 - z.
    """

    def __init__(self, width: int, hidden: int):
        super().__init__(width, hidden, batch_first=True)

    def project(self, x: Tensor) -> Tensor:
        """Return W x + b for the gates r and z and the new state n, for all steps at once: ×D → ×3H."""
        return F.linear(x, self.weight_ih_l0, self.bias_ih_l0)

    def step(self, projected: Tensor, state: Tensor) -> Tensor:
        """Return the next state: the projected input ×3H, the state ×H → ×H."""
        reset_x, update_x, new_x = projected.chunk(3, -1)
        reset_s, update_s, new_s = F.linear(state, self.weight_hh_l0, self.bias_hh_l0).chunk(3, -1)
        reset = (reset_x + reset_s).sigmoid_()  # r
        update = (update_x + update_s).sigmoid_()  # z
        new = torch.addcmul(new_x, reset, new_s).tanh_()  # n
        return torch.lerp(new, state, update)  # (1 - z) n + z s


class Encoder(nn.Module):
    """One GRU from left to right and one from right to left (Bahdanau et al. 2014, section 3.2)."""

    def __init__(self, width: int, hidden: int):
        super().__init__()
        self.forward_gru, self.backward_gru = GRU(width, hidden), GRU(width, hidden)

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Read x B×S×D, mask B×S: annotations B×S×E of both directions, and their last states as a summary B×E."""
        lengths = mask.sum(1)  # B
        forward, _ = self.forward_gru(x)  # B S E/2
        backward, _ = self.backward_gru(reverse_sentences(x, lengths))
        backward = reverse_sentences(backward, lengths)  # B S E/2
        last = forward[torch.arange(len(x), device=x.device), lengths - 1]  # B E/2
        return torch.cat([forward, backward], -1), torch.cat([last, backward[:, 0]], -1)


def reverse_sentences(x: Tensor, lengths: Tensor) -> Tensor:
    """Return x B×S×D with the words of each sentence in reverse order; padding stays at the end: lengths B."""
    places = torch.arange(x.shape[1], device=x.device).expand(x.shape[:2])
    places = torch.where(places < lengths[:, None], lengths[:, None] - 1 - places, places)  # B S
    return x.gather(1, places[..., None].expand_as(x))


class Decoder(nn.Module):
    """The base of the three decoders: in training all steps are taken at once, in decoding one by one.

    `memory` is what a decoder keeps of the source, in tensors that begin with B, and `state` what it keeps of the words
    before, in one tensor B×Q×H or a tuple of them.
    """

    def prepare(self, annotations: Tensor, mask: Tensor, summary: Tensor) -> dict[str, Tensor]:
        """Return the memory of a source: annotations B×S×E, mask B×S, summary B×E."""
        raise NotImplementedError

    def begin(self, state: Tensor):
        """Return the first state, computed from the model's B×1×H."""
        return state

    def unroll(self, words: Tensor, memory: dict[str, Tensor], state) -> tuple[Tensor, Tensor | None]:
        """Take all steps: words B×T×D → features B×T×D, weights B×T×S or None. What needs no state is computed at once."""
        raise NotImplementedError

    def step(self, words: Tensor, memory: dict[str, Tensor], state):
        """Take one step of K hypotheses: words B×K×D → features B×K×D, the next state, weights B×K×S or None."""
        raise NotImplementedError

    def features(self, *parts: Tensor) -> Tensor:
        """Return tanh(W [parts]), which the readout reads: parts B×Q×(their widths) → B×Q×D."""
        return self.merge(torch.cat(parts, -1)).tanh()


class ContextDecoder(Decoder):
    """Reads one context vector, the encoder's summary, at every step (Cho et al. 2014, section 2.2)."""

    def __init__(self, width: int, hidden: int, annotation: int):
        super().__init__()
        self.gru = GRU(width + annotation, hidden)
        self.merge = nn.Linear(hidden + annotation + width, width)

    def prepare(self, annotations, mask, summary):
        """Return the summary alone: B×1×E."""
        return {"context": summary[:, None]}

    def unroll(self, words, memory, state):
        """Take all steps in one call of torch's GRU; there are no weights."""
        context = memory["context"].expand(-1, words.shape[1], -1)  # B T E
        states, _ = self.gru(torch.cat([words, context], -1), state.transpose(0, 1).contiguous())  # B T H
        return self.features(states, context, words), None

    def step(self, words, memory, state):
        """Take one step, s_t = GRU([y; c]); there are no weights."""
        context = memory["context"].expand(-1, words.shape[1], -1)  # B K E
        state = self.gru.step(self.gru.project(torch.cat([words, context], -1)), state)  # B K H
        return self.features(state, context, words), state, None


class BahdanauDecoder(Decoder):
    """Attends to the source before each step, with the state s_{t-1} as query (Bahdanau et al. 2014, appendix A.2.2).

    The readout reads state, context and word, through one tanh layer instead of the paper's maxout.
    """

    def __init__(self, width: int, hidden: int, annotation: int, score: str, longest: int):
        super().__init__()
        self.attention = make_attention(score, hidden, annotation, longest)
        self.gru = GRU(width, hidden)
        self.context = nn.Linear(annotation, 3 * hidden, bias=False)  # C, C_z and C_r of the paper
        self.merge = nn.Linear(hidden + annotation + width, width)

    def prepare(self, annotations, mask, summary):
        """Return what attention keeps of the source."""
        return self.attention.prepare(annotations, mask)

    def unroll(self, words, memory, state):
        """Take the steps one by one, because each attends to the source with the state before it."""
        steps = []
        for projected in self.gru.project(words).split(1, dim=1):
            steps.append(self.advance(projected, memory, state))
            state = steps[-1][0]
        states, contexts, weights = (torch.cat(parts, 1) for parts in zip(*steps, strict=True))  # B T ...
        return self.features(states, contexts, words), weights

    def step(self, words, memory, state):
        """Take one step."""
        state, context, weights = self.advance(self.gru.project(words), memory, state)
        return self.features(state, context, words), state, weights

    def advance(self, projected: Tensor, memory: dict[str, Tensor], state: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return s_t B×Q×H, c_t B×Q×E and its weights B×Q×S, from the projected words B×Q×3H and s_{t-1} B×Q×H."""
        context, weights = self.attention(state, memory)
        return self.gru.step(projected + self.context(context), state), context, weights


class LuongDecoder(Decoder):
    """Attends to the source after each step, with the state s_t as query (Luong et al. 2015, section 3).

    With input feeding a step also reads the features of the step before (section 3.3).
    """

    def __init__(self, width: int, hidden: int, annotation: int, score: str, longest: int, input_feeding: bool):
        super().__init__()
        self.attention = make_attention(score, hidden, annotation, longest)
        self.gru = GRU(width, hidden)
        self.feed = nn.Linear(width, 3 * hidden, bias=False) if input_feeding else None
        self.merge = nn.Linear(annotation + hidden, width)

    def prepare(self, annotations, mask, summary):
        """Return what attention keeps of the source."""
        return self.attention.prepare(annotations, mask)

    def begin(self, state):
        """Return the first state B×1×H and, as the features before the first step, zeros B×1×D."""
        return state, state.new_zeros(*state.shape[:2], self.merge.out_features)

    def unroll(self, words, memory, state):
        """Take all steps at once, or one by one with input feeding, where each needs the attention before it."""
        if self.feed is None:
            states, _ = self.gru(words, state[0].transpose(0, 1).contiguous())  # B T H
            return self.attend(states, memory)
        features, weights = [], []
        for projected in self.gru.project(words).split(1, dim=1):
            one, state, attended = self.advance(projected, memory, state)
            features.append(one)
            weights.append(attended)
        return torch.cat(features, 1), torch.cat(weights, 1)

    def step(self, words, memory, state):
        """Take one step."""
        return self.advance(self.gru.project(words), memory, state)

    def advance(self, projected: Tensor, memory: dict[str, Tensor], state: tuple[Tensor, Tensor]):
        """Return a_t B×Q×D, (s_t, a_t) and weights B×Q×S, from the projected words B×Q×3H and (s_{t-1}, a_{t-1})."""
        state, fed = state
        state = self.gru.step(projected if self.feed is None else projected + self.feed(fed), state)
        features, weights = self.attend(state, memory)
        return features, (state, features), weights

    def attend(self, states: Tensor, memory: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Return a = tanh(W [c; s]) (equation 5), and the weights: states B×Q×H → B×Q×D, B×Q×S."""
        contexts, weights = self.attention(states, memory)
        return self.features(contexts, states), weights


class RecurrentTranslator(nn.Module):
    """A translation model of two GRUs that read and one that writes, over one vocabulary, whose embedding is also the readout.

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

    Raises:
        CourseError: for a size below 1, an unknown name, a score that does not fit the widths, input feeding
            without Luong's decoder, or a dropout outside 0 to 1.
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
        """Look up tokens of any shape, scaled by √D to a spread of 1: → ×D."""
        return self.dropout(self.embedding(tokens) * self.embedding.embedding_dim**0.5)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Score each next word, given the words before it: source B×S, target B×T → logits B×T×V."""
        return self.readout(self.features(source, target))

    def features(self, source: Tensor, target: Tensor) -> Tensor:
        """Return what the readout reads: source B×S, target B×T → B×T×D."""
        memory, state = self.start(source)
        check_tokens(target, self.embedding.num_embeddings)
        return self.dropout(self.decoder.unroll(self.embed(target), memory, state)[0])

    def attention(self, source: Tensor, target: Tensor) -> Tensor | None:
        """Return how much each target position attends to each source position, B×T×S; None without attention."""
        memory, state = self.start(source)
        check_tokens(target, self.embedding.num_embeddings)
        return self.decoder.unroll(self.embed(target), memory, state)[1]

    def start(self, source: Tensor) -> tuple[dict, Tensor | tuple]:
        """Read source sentences B×S: what every step looks at, and the first state, tanh(W summary + b).

        Raises `CourseError` for a sentence without a word, and for ids outside the vocabulary.
        """
        check_tokens(source, self.embedding.num_embeddings, words=True)
        mask = source != PAD
        annotations, summary = self.encoder(self.embed(source), mask)
        memory = self.decoder.prepare(annotations, mask, summary)
        return memory, self.decoder.begin(self.initial(summary).tanh()[:, None])

    def step(self, tokens: Tensor, memory: dict, state) -> tuple[Tensor, Tensor | tuple, Tensor | None]:
        """Read one more token of each hypothesis: tokens B×K → logits B×K×V, the new state, weights B×K×S or None."""
        features, state, weights = self.decoder.step(self.embed(tokens), memory, state)
        return self.readout(features), state, weights
