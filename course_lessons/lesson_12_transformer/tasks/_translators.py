"""What 12.catch_wrong_masks tries a learner's test on: small models from (source, target) ids to logits, with fixed weights. No task is declared here.

Each is `transformer(…)` with one part changed, or one of a few that are no Transformers.
"""

import torch
import torch.nn.functional as F

from course_lessons.shared.fixed_weights import fixed

V, D = 7, 6  # ids and width
WORDS, LEARNED, READOUT = fixed(1, V, D, spread=3.0), fixed(2, 40, D, spread=1.5), fixed(3, V, D, spread=1.5)
PARTS = ("encoder", "own", "source")
QUERIES, KEYS, VALUES = ({part: fixed(10 * n + i, D, D, spread=1.5) for i, part in enumerate(PARTS)} for n in (1, 2, 3))
WIDE, NARROW = fixed(41, 2 * D, D, spread=1.5), fixed(42, D, 2 * D, spread=1.5)
OF_INPUT, OF_STATE = fixed(51, D, D), fixed(52, D, D)


def learned(ids):
    return LEARNED[torch.arange(ids.shape[1])]


def sinusoidal(ids):
    place, feature = torch.arange(ids.shape[1])[:, None], torch.arange(D)
    angle = place / 20 ** (feature // 2 * 2 / D)
    return torch.where(feature % 2 == 0, angle.sin(), angle.cos())


def from_the_end(ids):
    return learned(ids).flip(0)


def layer_norm(x):
    return F.layer_norm(x, x.shape[-1:])


def batch_norm(x):
    """Each feature less its mean over all words of all sentences, divided by its spread."""
    return (x - x.mean((0, 1))) / (x.var((0, 1), unbiased=False) + 1e-5).sqrt()


def sentence_norm(x):
    """Mean and variance over a whole sentence."""
    return (x - x.mean((1, 2), keepdim=True)) / (x.var((1, 2), unbiased=False, keepdim=True) + 1e-5).sqrt()


def words_of(source):
    return (source != 0)[:, None]  # B 1 S


def causal(target):
    return torch.ones(1, target.shape[1], target.shape[1], dtype=torch.bool).tril()


def softmax(scores):
    return scores.softmax(-1)


def hidden(scores, allowed):
    return scores.masked_fill(~allowed, -1e9)


def attend(part, query, key, allowed, softmax=softmax, hide=hidden):
    """A single head; with -1e9 in place of masked scores, so that the wrong models give numbers, too."""
    kind = query.dtype
    scores = (query @ QUERIES[part].to(kind)) @ (key @ KEYS[part].to(kind)).mT / D**0.5  # B T S
    return softmax(hide(scores, allowed.expand(scores.shape))) @ (key @ VALUES[part].to(kind))


def feed_forward(x):
    return torch.relu(x @ WIDE.to(x.dtype).T) @ NARROW.to(x.dtype).T


def transformer(
    norm=layer_norm,
    norm_first=True,
    source_places=sinusoidal,
    target_places=sinusoidal,
    encoder=lambda source, target: words_of(source),
    own=lambda source, target: causal(target),
    look=lambda source, target: words_of(source),
    soft=None,
    hide=hidden,
    memory=lambda x, source: x,
    ending=lambda logits, source, target: logits,
    kind=torch.float32,
):
    """Return a model with an encoder and a decoder of one layer each, right but for the parts that are given."""
    soft = dict.fromkeys(PARTS, softmax) | (soft or {})

    def around(x, function):
        return x + function(norm(x)) if norm_first else norm(x + function(x))

    def model(source, target):
        def seeing(part, other, allowed):
            key = (lambda y: y) if other is None else (lambda y: other)
            return lambda y: attend(part, y, key(y), allowed(source, target), soft[part], hide)

        x = (WORDS[source] + source_places(source)).to(kind)  # B S D
        x = around(around(x, seeing("encoder", None, encoder)), feed_forward)
        x = memory(norm(x), source)
        y = (WORDS[target] + target_places(target)).to(kind)  # B T D
        y = around(around(around(y, seeing("own", None, own)), seeing("source", x, look)), feed_forward)
        return ending((norm(y) @ READOUT.to(kind).T).float(), source, target)

    return model


# Right ones


def free_at_padding(logits, source, target):
    return logits.masked_fill((target == 0)[..., None], torch.nan)


def nothing_at_padding(logits, source, target):
    """At padding of the target stands what depends on how much of it there is."""
    return logits + (target == 0)[..., None] * (target == 0).sum()


def mean_less_padding(x, source):
    """Adds the mean of the words, as the sum over all places less that over padding: its last digits depend on padding."""
    real = (source != 0)[..., None]
    return x + (x.sum(1, keepdim=True) - (x * ~real).sum(1, keepdim=True)) / real.sum(1, keepdim=True)


def sum_less_the_rest(logits, source, target):
    """The words so far, as the sum of all less that of the later ones: the last digits depend on those."""
    vectors = WORDS[target]
    later = vectors.flip(1).cumsum(1).flip(1) - vectors
    return logits + (vectors.sum(1, keepdim=True) - later) @ READOUT.T / 5


def source_alone(source, target):
    """The target has no say in its logits."""
    last = states(WORDS[source], source != 0)[:, -1:]
    return (last @ READOUT.T).expand(*target.shape, V)


def sentence_by_sentence(source, target):
    """Each sentence by itself and without its padding."""
    rows = torch.zeros(*target.shape, V)
    for b, (asked, said) in enumerate(zip(source, target, strict=True)):
        asked, said = asked[asked != 0][None], said[said != 0][None]
        rows[b, : said.shape[1]] = POST(asked, said)[0]
    return rows


def states(x, real):
    """The states of a recurrent network, which stay as they are at padding: B S D."""
    state, found = torch.zeros(len(x), D), []
    for t in range(x.shape[1]):
        new = torch.tanh(x[:, t] @ OF_INPUT.T + state @ OF_STATE.T)
        state = torch.where(real[:, t, None], new, state)
        found.append(state)
    return torch.stack(found, 1)


def recurrent(source, target):
    """A recurrent encoder and decoder; the last state at a word goes along to each word of the target."""
    last = states(WORDS[source], source != 0)[:, -1:]
    return states(WORDS[target] + last, target != 0) @ READOUT.T


def packed(source, target, back=lambda states, order: states[order.argsort()]):
    """The same, with sentences in the order of their lengths, as packed sequences once needed, and put back afterwards."""
    order = (source != 0).sum(1).argsort(descending=True, stable=True)
    last = states(WORDS[source[order]], (source != 0)[order])[:, -1:]
    return states(WORDS[target] + back(last, order), target != 0) @ READOUT.T


PRE, POST = transformer(), transformer(norm_first=False)
RIGHT = {
    PRE: "a correct model: pre-norm",
    POST: "a correct model: post-norm",
    transformer(source_places=learned, target_places=learned): "a correct model: learned positions",
    transformer(kind=torch.float64): "a correct model: in float64",
    transformer(own=lambda source, target: causal(target) & (target != 0)[:, None]): "a correct model: it hides the target's padding as well as later words",
    transformer(ending=free_at_padding): "a correct model: its logits are NaN at the target's padding, where they may be anything",
    transformer(ending=nothing_at_padding): "a correct model: its logits at the target's padding depend on how much of it there is, and there they may be anything",
    transformer(memory=mean_less_padding): "a correct model: it subtracts padding from the sum over all positions, so padding changes only its last digits",
    transformer(ending=sum_less_the_rest): "a correct model: it subtracts later words from the sum of all, so they change only its last digits",
    source_alone: "a correct model: it ignores the target",
    lambda source, target: torch.tanh(WORDS[target] @ OF_INPUT.T) @ READOUT.T: "a correct model: it reads each word of the target separately",
    sentence_by_sentence: "a correct model: one sentence at a time",
    recurrent: "a correct model: recurrent networks that stop at padding",
    packed: "a correct model: recurrent, sorted by length",
}  # fmt: skip


# Wrong ones


def everything(source, target):
    return torch.ones(1, 1, 1, dtype=torch.bool)


def words_alone(source, target):
    """Padding of the target is hidden, and later words are not."""
    return (target != 0)[:, None]


def ahead(steps):
    """Each word also sees the one that is so many places after it."""
    return lambda source, target: (
        causal(target) | torch.ones_like(causal(target)).tril(steps).triu(steps) & words_alone(source, target)
    )


def ahead_but_for_the_first(source, target):
    """The mask is off by one, except for the first word, which sees itself alone."""
    allowed = ahead(1)(source, target).clone()
    allowed[:, 0, 1:] = False
    return allowed


def second_shown_to_the_first(source, target):
    """The mask is right but for the first word, which sees the second one."""
    allowed = causal(target) & torch.ones(len(target), 1, 1, dtype=torch.bool)
    allowed[:, 0, 1:2] = (target != 0)[:, 1:2]
    return allowed


def last_word_shown(source, target):
    """The last place of the batch is open to all words."""
    allowed = causal(target).clone()
    allowed[:, :, -1] = True
    return allowed


def of_the_first(source, target):
    return words_of(source)[:1]


def of_the_target(source, target):
    """The target's padding in place of the source's; where the source is longer, nothing is hidden."""
    return F.pad(target != 0, (0, source.shape[1] - target.shape[1]), value=True)[:, None]


def up_to_the_longest(source, target):
    """As many words as the longest sentence of the batch has."""
    return words_of(source).any(0, keepdim=True)


def lowered(scores, allowed):
    """Masked scores are lowered by 2, which is not enough."""
    return torch.where(allowed | torch.ones_like(allowed).triu(1), scores - 2.0 * ~allowed, -1e9)


def bag_of_target(logits, source, target):
    return logits + WORDS[target].mean(1, keepdim=True) @ READOUT.T / 3


def to_the_last_logit(logits, source, target):
    return torch.cat([logits[..., :-1], bag_of_target(logits, source, target)[..., -1:]], -1)


def next_word(share):
    """The next word's vector gets through, weakly."""

    def ending(logits, source, target):
        following = torch.cat([(WORDS[target] * (target != 0)[..., None])[:, 1:], torch.zeros(len(target), 1, D)], 1)
        return logits + following @ READOUT.T * share

    return ending


def nan_in_full_sentences(logits, source, target):
    """A sentence without padding has nothing to divide by."""
    return logits + (0.0 * (source == 0).sum(1) / (source == 0).sum(1))[:, None, None]


def without_stops(source, target):
    """A recurrent network that reads on through padding."""
    last = states(WORDS[source], torch.ones_like(source, dtype=torch.bool))[:, -1:]
    return states(WORDS[target] + last, target != 0) @ READOUT.T


WRONG = {
    transformer(encoder=everything, look=everything): "an incorrect model: no mask for the source, so padding after it counts",
    transformer(encoder=everything): "an incorrect model: the source's padding is hidden from the decoder but not in the encoder",
    transformer(look=everything): "an incorrect model: the source's padding is hidden in the encoder but not from the decoder",
    transformer(look=of_the_target): "an incorrect model: the target's padding is hidden instead of the source's",
    transformer(hide=lowered): "an incorrect model: the scores of the source's padding are lowered, but not by enough",
    transformer(look=everything, memory=lambda x, source: x * (source != 0)[..., None]): "an incorrect model: the source's padding is zeros but still gets its share of the weights",
    transformer(memory=lambda x, source: x + x.mean(1, keepdim=True)): "an incorrect model: it uses a mean over all positions of the source, padding included",
    transformer(memory=lambda x, source: x + x.amax(1, keepdim=True), source_places=learned): "an incorrect model: it uses the maximum over all positions of the source, padding included",
    transformer(memory=lambda x, source: x + x[:, -1:]): "an incorrect model: it treats the last position of the source as the last word, even if it is padding",
    transformer(source_places=from_the_end): "an incorrect model: the source's positions are counted from the end, padding included",
    transformer(ending=lambda logits, source, target: logits * (1 + source.shape[1] / 20)): "an incorrect model: its logits depend on how long the source is, padding included",
    without_stops: "an incorrect model: a recurrent network that reads on through the source's padding",
    lambda source, target: without_stops(source.flip(1), target): "an incorrect model: a recurrent network that reads the source backwards, padding first",
    transformer(target_places=from_the_end): "an incorrect model: the target's positions are counted from the end, padding included",
    transformer(ending=bag_of_target): "an incorrect model: it adds the mean of the whole target, later words and padding included",
    transformer(ending=to_the_last_logit): "an incorrect model: it adds the mean of the whole target to the logits of the last id only",
    transformer(norm=sentence_norm): "an incorrect model: mean and variance over the whole sentence, later words and padding included",
    transformer(norm=batch_norm): "an incorrect model: mean and variance over the batch, so sentences affect one another",
    transformer(look=of_the_first): "an incorrect model: the decoder uses the first sentence's mask of the source for all",
    transformer(encoder=of_the_first): "an incorrect model: the encoder uses the first sentence's mask for all",
    transformer(look=up_to_the_longest): "an incorrect model: every sentence shows as many positions as the longest one in the batch has words",
    transformer(look=lambda source, target: words_of(source) | (source == 0).all(0)): "an incorrect model: the source's padding is hidden, except in columns that are padding in all sentences",
    transformer(own=lambda source, target: causal(target) | (target == 0).all(0)): "an incorrect model: later words of the target are hidden, but columns that are padding in all its sentences are not",
    transformer(memory=lambda x, source: x.transpose(0, 1).reshape(x.shape)): "an incorrect model: a reshape mixes the sentences of the batch",
    transformer(ending=lambda logits, source, target: logits - logits.mean(0)): "an incorrect model: the batch's mean is subtracted from its logits",
    transformer(soft={"source": lambda scores: scores.softmax(0)}): "an incorrect model: the decoder's softmax over the source runs over the batch",
    lambda source, target: packed(source, target, lambda states, order: states): "an incorrect model: it sorts the sentences by length but does not put them back",
    transformer(ending=lambda logits, source, target: logits.squeeze(0).permute(0, 1, 2)): "an incorrect model: it fails on a single sentence, because it drops the batch axis",
    transformer(ending=nan_in_full_sentences): "an incorrect model: it gives NaN for a sentence without padding",
    transformer(ending=lambda logits, source, target: logits * torch.nan): "an incorrect model: it gives NaN",
    transformer(own=everything): "an incorrect model: no causal mask, so each word sees all later ones",
    transformer(own=words_alone): "an incorrect model: the target's padding is hidden, but later words are not",
    transformer(own=ahead(2)): "an incorrect model: each word sees the next but one",
    transformer(own=ahead(1)): "an incorrect model: its causal mask is off by one, so each word sees the next one",
    transformer(own=ahead_but_for_the_first): "an incorrect model: its causal mask is off by one except at t = 0",
    transformer(own=second_shown_to_the_first): "an incorrect model: its causal mask is off by one only at t = 0, where the first word sees the second",
    transformer(own=last_word_shown): "an incorrect model: all words see the last position of the target",
    transformer(soft={"own": lambda scores: scores.softmax(-2)}): "an incorrect model: its softmax over the target runs over the wrong axis, so later words are part of the total",
    transformer(ending=next_word(1 / 100)): "an incorrect model: a little of the next word gets through, a hundredth",
}  # fmt: skip
RARE = {
    transformer(ending=next_word(1 / 2000)): "an incorrect model: very little of the next word gets through, some 1e-4"
}
