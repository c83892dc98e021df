"""What 21.catch_wrong_cache tries a learner's test on: small decoders with fixed weights, which go on from a cache. No task is declared here.

model(ids B×T, cache) → logits B×T×V and what it keeps. Each is `decoder(…)` with one part changed, or one of a few that are no Transformers.
Tensors that are kept have the axis of the sentences first. Shape letters: P ids before, T new ids, S = P + T, H heads, d their width, D the model's.
"""

import torch
import torch.nn.functional as F

from course_lessons.shared.fixed_weights import fixed

V, D, H, d, LAYERS = 7, 8, 2, 4, 2
LONGEST = 12  # ids of a text
WORDS, PLACES, READOUT = fixed(1, V, D, spread=3.0), fixed(2, 40, D, spread=2.0), fixed(3, V, D, spread=1.5)
IN, OUT = ([fixed(10 * i + n, rows, D, spread=1.5) for n in range(LAYERS)] for i, rows in ((1, 3 * D), (2, D)))
WIDE, NARROW = (
    [fixed(10 * i + n, rows, columns, spread=1.5) for n in range(LAYERS)]
    for i, rows, columns in ((3, 16, D), (4, D, 16))
)
TURNS = torch.polar(torch.ones(40, 2), torch.arange(40)[:, None] * torch.tensor([1.0, 0.3]))  # by position
OF_INPUT, OF_STATE = fixed(51, D, D), fixed(52, D, D)


def norm(x):
    return F.layer_norm(x, x.shape[-1:])


def over_the_batch(x):
    return x - x.mean(0, keepdim=True) / 2


def turned(x, at):
    """Rotary positions: each pair of features turned by an angle that grows with the position: B H T d, T."""
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)))  # B H T d/2
    return torch.view_as_real(pairs * TURNS[at]).flatten(-2)


def unturned(x, at):
    return x


def after(past, T, calls):
    """The positions of the new ids."""
    return past + torch.arange(T)


def causal(past, T):
    """T×S, True where a new id may look: itself and all before it."""
    return torch.ones(T, past + T, dtype=torch.bool).tril(past)


def behind(old, new):
    return torch.cat([old, new], 2)


def decoder(
    layers=1,
    place=after,
    add=lambda at: torch.zeros(len(at), D),
    turn=turned,
    of_layer=lambda kept, n: kept[n],
    join_keys=behind,
    join_values=behind,
    keep=lambda old, new, both: both,
    at_use=lambda old: old,
    mask=causal,
    normal=norm,
    ending=lambda logits, past: logits,
):
    """Return a decoder of pre-norm blocks, right but for the parts that are given, with a single layer unless more are asked for, since a test may call it thousands of times; it keeps keys and values of each layer, one list for all, and how often it was called."""

    def model(ids, cache):
        B, T = ids.shape
        *tensors, calls = cache or [torch.zeros(B, H, 0, d)] * (2 * layers) + [0]
        pairs = list(zip(tensors[::2], tensors[1::2], strict=True))
        past = pairs[0][0].shape[2]
        at = place(past, T, calls)
        x, kept = WORDS[ids] + add(at), []
        for n in range(layers):
            query, key, value = (
                part.unflatten(2, (H, d)).transpose(1, 2) for part in (normal(x) @ IN[n].T).chunk(3, -1)
            )
            old_key, old_value = (at_use(old) if past else old for old in of_layer(pairs, n))
            new_key = turn(key, at)
            keys, values = join_keys(old_key, new_key), join_values(old_value, value)
            kept += [keep(pairs[n][0], new_key, keys), keep(pairs[n][1], value, values)]
            scores = turn(query, at) @ keys.mT / d**0.5  # B H T S
            weights = scores.masked_fill(~mask(past, T), -torch.inf).softmax(-1)
            x = x + (weights @ values).transpose(1, 2).flatten(2) @ OUT[n].T
            x = x + F.relu(normal(x) @ WIDE[n].T) @ NARROW[n].T
        return ending(norm(x) @ READOUT.T, past), [*kept, calls + 1]

    return model


# Right ones


def learned(at):
    return PLACES[at]


def in_float64(ids, cache):
    """Attention by distance alone, in float64: what is nearer has more weight."""
    words = WORDS[ids].double() if cache is None else torch.cat([cache, WORDS[ids].double()], 1)  # B S D
    S, T = words.shape[1], ids.shape[1]
    distance = torch.arange(S - T, S)[:, None] - torch.arange(S)  # T S
    weights = (-0.5 * distance.double()).masked_fill(distance < 0, -torch.inf).softmax(-1)
    return (weights @ words @ READOUT.double().T).float(), words


def without_cache(ids, cache):
    """It keeps the ids, and computes everything anew."""
    ids = ids if cache is None else torch.cat([cache, ids], 1)
    logits, _ = ROTARY(ids, None)
    return logits[:, -ids.shape[1] + (0 if cache is None else cache.shape[1]) :], ids


def recurrent(ids, cache):
    state, found = torch.zeros(len(ids), D) if cache is None else cache, []
    for t in range(ids.shape[1]):
        state = torch.tanh(WORDS[ids[:, t]] @ OF_INPUT.T + state @ OF_STATE.T)
        found.append(state)
    return torch.stack(found, 1) @ READOUT.T, state


def each_by_itself(ids, cache):
    return torch.tanh(WORDS[ids] @ OF_INPUT.T) @ READOUT.T, None


ROTARY, LEARNED = decoder(), decoder(layers=2, add=learned, turn=unturned)
RIGHT = {
    ROTARY: "a correct model: one layer with rotary positions",
    LEARNED: "a correct model: two layers with learned positions",
    decoder(turn=unturned): "a correct model: no positions at all",
    decoder(
        mask=lambda past, T: causal(past, T).triu(past - 2)
    ): "a correct model: each id sees at most three ids, including itself, with and without a cache",
    in_float64: "a correct model: in float64, with weights that fall with the distance",
    without_cache: "a correct model: it keeps the ids and recomputes everything at each call",
    recurrent: "a correct model: a recurrent network, which keeps its state",
    each_by_itself: "a correct model: it reads each id separately and keeps nothing",
}

# Wrong ones


def from_0(past, T, calls):
    return torch.arange(T)


def last_of_all(past, T, calls):
    """All new ids get the last position."""
    return (past + torch.arange(T)) if not past else torch.full((T,), past + T - 1)


def at_the_top_left(past, T):
    """A causal mask T×S whose diagonal begins at the first of all ids, as is_causal=True makes it."""
    return torch.ones(T, past + T, dtype=torch.bool).tril()


def one_ahead_in_a_piece(past, T):
    return causal(past, T) if not past else torch.ones(T, past + T, dtype=torch.bool).tril(past + 1)


def without_the_last_id(logits, past):
    return torch.cat([logits[..., :-1], 0 * logits[..., -1:]], -1) if past else logits


def fails_with_several(ids, cache):
    if cache is not None and ids.shape[1] > 1:
        raise RuntimeError("The size of tensor a must match the size of tensor b")
    return ROTARY(ids, cache)


WRONG = {
    decoder(place=from_0): "an incorrect model: its rotary positions start again at 0 with each call",
    decoder(place=from_0, add=learned, turn=unturned): "an incorrect model: its learned positions start again at 0 with each call",
    decoder(place=lambda past, T, calls: calls + torch.arange(T)): "an incorrect model: its positions count calls instead of ids",
    decoder(place=last_of_all): "an incorrect model: with a cache, all ids of a piece get the position of the last one",
    decoder(place=lambda past, T, calls: torch.arange(T) + past + (past == 0 and T == 1)): "an incorrect model: a first piece of one id gets position 1 instead of 0",
    decoder(join_keys=lambda old, new: behind(turned(old, torch.arange(old.shape[2])), new)): "an incorrect model: cached keys are rotated once more at each call",
    lambda ids, cache: ROTARY(ids, None): "an incorrect model: it ignores the cache",
    decoder(keep=lambda old, new, both: old if old.shape[2] else both): "an incorrect model: the cache never changes after the first call",
    decoder(keep=lambda old, new, both: new): "an incorrect model: it keeps only the newest piece's keys and values",
    decoder(keep=lambda old, new, both: torch.cat([old, new[:, :, -1:]], 2)): "an incorrect model: it keeps only the last id of each piece",
    decoder(keep=lambda old, new, both: both[:, :, -3:]): "an incorrect model: its cache keeps three ids, but without a cache it sees all ids",
    decoder(join_values=lambda old, new: torch.cat([new, old], 2)): "an incorrect model: new values come before the old ones and new keys after them",
    decoder(layers=2, of_layer=lambda kept, n: kept[0]): "an incorrect model: its second layer uses the first layer's cache",
    decoder(at_use=lambda old: old[:1].expand(old.shape)): "an incorrect model: all sentences of a batch use the first sentence's cache",
    decoder(at_use=lambda old: torch.cat([0 * old[:1], old[1:]])): "an incorrect model: what it keeps of the first sentence is lost",
    decoder(at_use=lambda old: old.half().float()): "an incorrect model: its cache is in half precision",
    decoder(mask=at_the_top_left): "an incorrect model: with a cache, its mask starts at the first of all ids, so new ids do not see everything before them",
    decoder(mask=one_ahead_in_a_piece): "an incorrect model: with a cache, its mask is off by one, so an id sees the next one of its piece",
    decoder(mask=lambda past, T: causal(past, T) | (past == 0)): "an incorrect model: without a cache, each id sees all later ones",
    decoder(normal=over_the_batch): "an incorrect model: it subtracts a mean over the batch, so sentences influence one another",
    decoder(ending=lambda logits, past: logits[:, -1:] if past else logits): "an incorrect model: with a cache, it returns only the logits of a piece's last id",
    decoder(ending=without_the_last_id): "an incorrect model: with a cache, the logit of the last id of the vocabulary is 0",
    decoder(ending=lambda logits, past: logits * (past != 1)): "an incorrect model: if a single id is kept, its logits are 0",
    decoder(ending=lambda logits, past: logits * torch.nan if past else logits): "an incorrect model: with a cache, it gives NaN",
    decoder(ending=lambda logits, past: logits * torch.nan): "an incorrect model: it gives NaN",
    fails_with_several: "an incorrect model: with a cache, it fails on a piece of several ids",
}  # fmt: skip
slightly_weaker = decoder(at_use=lambda old: old * (1 - 1e-5))
RARE = {
    slightly_weaker: "an incorrect model: with a cache, what is kept loses a hundred-thousandth, which changes logits by about 1e-4",
}
