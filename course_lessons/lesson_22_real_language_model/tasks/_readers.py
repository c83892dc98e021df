"""What 22.catch_silent_mistake tries a learner's test on: one tiny Llama with fixed weights, read in many ways. No task is declared here.

read(texts, first) → the logits of each text, T×V: it reads the first ids of a text at once and the others one at a time, with a cache.
Each reader is `reader(…)` with one part changed. Shape letters: T ids read now, S ids seen, H heads, G groups of them, d the width of a head.
"""

from functools import cache

import torch
from torch.nn.functional import gelu, layer_norm, silu

V, D, H, G, d, F, LAYERS = 9, 16, 4, 2, 4, 24, 2
LONGEST = 12  # ids of a text
TEXTS = ([3, 1, 4, 1, 5, 0, 2, 6, 5, 3, 8, 7], [2, 7, 1, 8, 2, 8, 1, 8], [6, 6, 0, 4, 3, 0, 7, 2, 5, 1])
EPS = 1e-5


def _weights(seed, rows, columns):
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed)) * 1.5 / columns**0.5


EMBEDDING = 4 * _weights(1, V, D)
READOUT_GAIN = 1 + _weights(2, 1, D)[0] / 2
LAYERS_WEIGHTS = [
    {
        "q": _weights(10 * n, H * d, D),
        "k": _weights(10 * n + 1, G * d, D),
        "v": _weights(10 * n + 2, G * d, D),
        "o": _weights(10 * n + 3, D, H * d),
        "gate": _weights(10 * n + 4, F, D),
        "up": _weights(10 * n + 5, F, D),
        "down": _weights(10 * n + 6, D, F),
    }
    for n in range(1, LAYERS + 1)
]


@cache
def in_dtype(dtype):
    """The embedding, and the weights of each layer."""
    return EMBEDDING.to(dtype), [{name: matrix.to(dtype) for name, matrix in each.items()} for each in LAYERS_WEIGHTS]


def rms_norm(x):
    return x * (x.square().mean(-1, keepdim=True) + EPS).rsqrt()


def layer_norm_of_2017(x):
    return layer_norm(x, x.shape[-1:])


def angles(position, theta=1e5):
    """Sine and cosine for positions T: T×d/2 each."""
    angle = position[:, None] * theta ** (-torch.arange(0, d, 2) / d)
    return angle.sin().to(position.dtype), angle.cos().to(position.dtype)


def neighbours(x, sin, cos):
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)


def halves(x, sin, cos):
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)


def backwards(x, sin, cos):
    return neighbours(x, -sin, cos)


def causal(T, S):
    return torch.ones(T, S, dtype=torch.bool).tril(S - T)


def after(past, T, calls):
    return torch.arange(past, past + T)


def by_block(shared):
    """G×S×d → H×S×d: head h uses group h // (H/G)."""
    return shared.repeat_interleave(H // G, 0)


def new_for_each_text(cached):
    return None


def reader(
    place=after,
    theta=1e5,
    turn_query=neighbours,
    turn_key=neighbours,
    mask=causal,
    last_mask=None,
    norm=rms_norm,
    last_norm=rms_norm,
    gain=READOUT_GAIN,
    activation=silu,
    groups=by_block,
    scale=d**-0.5,
    join=lambda old, new: torch.cat([old, new], 1),
    keep=lambda old, new, both: both,
    in_use=lambda old: old,
    next_text=new_for_each_text,
    order=lambda rows: rows,
    ending=lambda logits, past: logits,
    dtype=torch.float32,
):
    """Return a reader that is right but for the parts that are given."""

    def forward(ids, cached):
        """Read ids after what is cached; return their logits and the new cache: (key, value) of each layer, and how often it was called."""
        pairs, calls = cached or ([(torch.zeros(G, 0, d, dtype=dtype),) * 2] * LAYERS, 0)
        T, past = len(ids), pairs[0][0].shape[1]
        turning = angles(place(past, T, calls).to(dtype), theta)
        embedding, layers = in_dtype(dtype)
        x, kept = embedding[ids], []
        masks = [mask] * (LAYERS - 1) + [last_mask or mask]
        for (old_key, old_value), part, hide in zip(pairs, layers, masks, strict=True):
            seen = norm(x)
            query = turn_query((seen @ order(part["q"]).T).unflatten(1, (H, d)).transpose(0, 1), *turning)  # H T d
            key = turn_key((seen @ order(part["k"]).T).unflatten(1, (G, d)).transpose(0, 1), *turning)  # G T d
            value = (seen @ part["v"].T).unflatten(1, (G, d)).transpose(0, 1)
            keys = join(in_use(old_key) if past else old_key, key)
            values = torch.cat([old_value, value], 1)
            kept.append((keep(old_key, key, keys), keep(old_value, value, values)))
            scores = query @ groups(keys).mT * scale  # H T S
            attention = scores.masked_fill(~hide(T, keys.shape[1]), -torch.inf).softmax(-1)
            x = x + (attention @ groups(values)).transpose(0, 1).flatten(1) @ part["o"].T
            seen = norm(x)
            x = x + (activation(seen @ part["gate"].T) * (seen @ part["up"].T)) @ part["down"].T
        logits = last_norm(x) * gain @ embedding.T / 4
        return ending(logits, past), (kept, calls + 1)

    def read(texts, first):
        found, cached = [], None
        for text in texts:
            ids, cached = torch.tensor(text), next_text(cached)
            pieces = []
            for piece in (ids[:first], *ids[first:].split(1)):
                if len(piece):
                    logits, cached = forward(piece, cached)
                    pieces.append(logits)
            found.append(torch.cat(pieces).float())
        return found

    return read


# Right ones

RIGHT_READER = reader()


def to_halves(weight):
    """The rows of each head in the order in which entries 0 and d/2 are a pair."""
    return weight.unflatten(0, (-1, d // 2, 2)).transpose(1, 2).flatten(0, 2)


RIGHT = {
    RIGHT_READER: "a correct model, with a cache",
    lambda texts, first: RIGHT_READER(texts, LONGEST): "a correct model: it reads each text at once, without a cache",
    reader(dtype=torch.float64): "a correct model: it computes in float64",
    reader(turn_query=halves, turn_key=halves, order=to_halves): "a correct model: it pairs halves, and the rows of its matrices are in the order for halves",
    reader(place=lambda past, T, calls: torch.arange(past, past + T) + 40): "a correct model: its positions start at 40, and with rotary positions only differences matter",
    lambda texts, first: RIGHT_READER(texts[::-1], first)[::-1]: "a correct model: it reads the last text first but returns all in their order",
}  # fmt: skip

# Wrong ones


def nothing_hidden(T, S):
    return torch.ones(T, S, dtype=torch.bool)


def one_ahead(T, S):
    return torch.ones(T, S, dtype=torch.bool).tril(S - T + 1)


def prompt_alone(old, new, both):
    """Ids that come one at a time are not kept."""
    return both if not old.shape[1] or new.shape[1] > 1 else old


def fails_on_one_id(texts, first):
    if first == 1:
        raise RuntimeError("The size of tensor a must match the size of tensor b")
    return RIGHT_READER(texts, first)


def single_first_id_lost(old, new, both):
    return both if old.shape[1] or new.shape[1] > 1 else old


def last_repeated(texts, first):
    return [torch.cat([logits[:-1], logits[-2:-1]]) for logits in RIGHT_READER(texts, first)]


def first_flipped(logits, past):
    return logits if past else torch.cat([logits[:1].flip(-1), logits[1:]])


def with_a_bias(size):
    return lambda logits, past: logits + size * (torch.arange(V) < 2)


WRONG = {
    reader(place=lambda past, T, calls: torch.arange(T)): "an incorrect model: its positions start again at 0 with each call, so they do not advance with the cache",
    reader(place=lambda past, T, calls: calls + torch.arange(T)): "an incorrect model: its positions count calls instead of ids",
    reader(place=lambda past, T, calls: torch.arange(past, past + T) + (past > 0)): "an incorrect model: with a cache, its positions are one too high",
    reader(theta=1e4): "an incorrect model: its θ is 10,000, but the weights were trained with 100,000",
    reader(turn_query=halves, turn_key=halves): "an incorrect model: it pairs halves where the weights expect neighbours",
    reader(turn_query=backwards, turn_key=backwards): "an incorrect model: it rotates in the wrong direction",
    reader(turn_key=lambda x, sin, cos: x): "an incorrect model: it rotates only the queries",
    reader(next_text=lambda cached: cached): "an incorrect model: the cache of one text is still there when the next one starts",
    reader(in_use=lambda old: neighbours(old, *angles(torch.arange(old.shape[1]).float()))): "an incorrect model: cached keys are rotated once more at each step",
    reader(keep=prompt_alone): "an incorrect model: after the first call, nothing more goes into the cache",
    reader(keep=lambda old, new, both: new): "an incorrect model: it keeps only the newest call's keys and values",
    reader(norm=layer_norm_of_2017, last_norm=layer_norm_of_2017): "an incorrect model: its norms subtract the mean, as a layer norm does",
    reader(gain=torch.ones(D)): "an incorrect model: the last norm's weight has not been loaded",
    reader(mask=nothing_hidden): "an incorrect model: it has no causal mask, so ids that are read at once see later ones",
    reader(last_mask=nothing_hidden): "an incorrect model: its last layer has no causal mask, so ids that are read at once see later ones",
    reader(mask=one_ahead): "an incorrect model: its mask is off by one, so an id sees the next one that is read with it",
    reader(groups=lambda shared: shared.repeat(H // G, 1, 1)): "an incorrect model: head h uses group h % G instead of h // (H/G)",
    reader(activation=gelu): "an incorrect model: its gate uses GELU instead of SiLU",
    reader(scale=D**-0.5): "an incorrect model: its scores are divided by √D instead of √d",
    reader(ending=with_a_bias(0.1)): "an incorrect model: its readout has a bias, which makes the logits of two ids too large",
    reader(ending=with_a_bias(-0.1)): "an incorrect model: its readout has a bias, which makes the logits of two ids too small",
    reader(ending=lambda logits, past: logits[:, [0, 1, 2, 4, 3, *range(5, V)]]): "an incorrect model: two ids are swapped in its readout",
    reader(ending=lambda logits, past: torch.cat([logits[:-1], logits[-1:] * torch.nan]) if past else logits): "an incorrect model: with a cache, its logits are NaN",
    reader(keep=single_first_id_lost): "an incorrect model: if the first piece is a single id, nothing goes into the cache",
    last_repeated: "an incorrect model: after the last id of a text, it returns the previous id's logits, which no loss sees",
    reader(ending=lambda logits, past: logits + 0.05 * (torch.arange(V) == 4)): "an incorrect model: a single logit is too large by 0.05 after each id",
    reader(ending=lambda logits, past: logits + 0.1): "an incorrect model: all its logits are too large by 0.1",
    reader(ending=first_flipped): "an incorrect model: only after the first id of a text, its logits are wrong",
    lambda texts, first: [RIGHT_READER([texts[0]], first)[0][:len(text)] for text in texts]: "an incorrect model: it returns the logits of the first text for every text",
    fails_on_one_id: "an incorrect model: it fails if the first piece is a single id",
}  # fmt: skip

# What the original code says: pairs of a text and its logits
REFERENCE = [*zip(TEXTS, reader(dtype=torch.float64)(TEXTS, LONGEST), strict=True)]
