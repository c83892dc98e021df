"""What each of four changes since 2017 gains a small GPT, beside a GRU of the same size; and copying, with one layer and two.

    python benchmarks/gpt.py [--seeds 5]

Fills five tables; lesson 21 shows longer.csv, copying_heads.csv and induction.csv:

gpt.csv         models of two layers on the tales of `course_utils/data/tales.py`, 700 steps of 16 rows; with a seed, all setups see the same batches
longer.csv      the first of them after 2,100 steps: also the bits for letters that can be copied
retold.csv      the same models on tales that are changed: the bits for the second and third letter of a name at its second mention
copying_heads.csv  the same models: the head with the largest mean weight, from the capital of a name's second mention, on the letter after
                the capital of the first, its weight and the bits for that letter, in tales as they are and changed, and with a head switched off
induction.csv   the lesson's model of attention alone, in one layer and in two: the share of words that are right, the weight on the word before in
                layer 1, the last layer's weight on the word to copy (prefix matching), and the share of words that raise their own logit most when
                they are attended to there (copying), both after Olsson et al. 2022, appendix
"""

import re
from contextlib import contextmanager
from functools import cache

import torch
from measuring import fill, jobs, page, read_options, timed

from course_utils.data.recall import WORDS, recall_next
from course_utils.data.tales import CHARACTERS, CONSONANTS, VOWELS, decode, encode, letters_to_copy, tales
from course_utils.models.gpt import GPT, Recurrent, bits, fit

CHANGES = {
    "RMSNorm": {"norm": "rms"},
    "rotary positions": {"positions": "rotary"},
    "SwiGLU": {"gated": True},
    "grouped queries": {"groups": 2, "F": 216},  # what keys and values save goes to the feed-forward network
}
SETUPS = {"2017": {}, "all four": {name: value for change in CHANGES.values() for name, value in change.items()}}
for change, made in CHANGES.items():
    SETUPS[f"2017 + {change}"] = made
    SETUPS[f"all but {change}"] = {name: v for name, v in SETUPS["all four"].items() if name not in made}
SETUPS["GRU"] = None
# At the first mention, what stands before the second letter of a name and before the third.
BEFORE = {1: "(?<=called )[A-Z]", 2: "(?<=called [A-Z])[a-z]"}
RETOLD = {  # functions of a row, which begins with a line break and "there", and of how many letters of the name are known
    "nothing": lambda text, known: text,
    "another letter before it at the first mention": lambda text, known: re.sub(BEFORE[known], _another, text),
    'without "there"': lambda text, known: text[0] + text[6:],
    'with "zebra" in place of "there"': lambda text, known: text[0] + "zebra" + text[6:],
}


def make(setup):
    """Return an untrained model of a setup."""
    if SETUPS[setup] is None:
        return Recurrent(len(CHARACTERS), hidden=110)
    return GPT(len(CHARACTERS), longest=64, **SETUPS[setup])


def measure(setup, seed):
    """Train one model; return its row."""
    rows, test = tales(6000, 1).ids, tales(400, 2).ids
    torch.manual_seed(seed)
    model = make(setup)
    _, seconds = timed(fit, model, rows, seed)
    with torch.no_grad():
        return [(sum(p.numel() for p in model.parameters()), bits(model, test).mean().item(), seconds)]


@cache
def train_longer(seed):
    """Train the GPT of 2017 for three times the steps; return it and the seconds."""
    torch.manual_seed(seed)
    model = make("2017")
    _, seconds = timed(fit, model, tales(6000, 1).ids, seed, steps=2100)
    return model, seconds


def measure_longer(seed):
    """Return the row of one longer training."""
    (model, seconds), test = train_longer(seed), tales(400, 2).ids
    with torch.no_grad():
        found = bits(model, test)
    return [(found.mean().item(), found[letters_to_copy(test)].mean().item(), seconds)]


def _another(found):
    """Another letter than the one that was found: a vowel in place of a vowel, a capital in place of a capital."""
    letters = VOWELS if found[0] in VOWELS else CONSONANTS.upper()
    return letters[letters.index(found[0]) - 1]


def measure_retold(seed):
    """Return the rows of one longer training: how the tales are changed, and the bits for the letters to copy at the second mention."""
    (model, _), test = train_longer(seed), tales(400, 2).ids
    copied, rows = letters_to_copy(test), []
    known = copied * copied.cumsum(1)  # N T: 1 and 2 at the second and third letter of the first name that comes again
    for change, retell in RETOLD.items():
        found = []
        for letters in BEFORE:
            ids = torch.stack([encode(retell(decode(row), letters)) for row in test.tolist()])
            with torch.no_grad():
                needed = bits(model, ids)
            found.append(needed[known[:, -needed.shape[1] :] == letters])
        rows.append((change, torch.cat(found).mean().item()))
    return rows


def measure_copying_heads(seed):
    """Return the rows of one longer training: what is changed, the copying head, its weight on the letter to copy, and the bits for this letter."""
    lesson, (trained, _), ids = page("21_gpt"), train_longer(seed), tales(400, 2).ids
    model = lesson.GPT(len(CHARACTERS))  # computes the same, and keeps its weights
    model.load_state_dict(trained.state_dict())
    copied = letters_to_copy(ids)
    rows, again = (copied & (copied.cumsum(1) == 1)).nonzero().T  # where the capital of a row's first name comes again
    texts, again = [decode(ids[row].tolist()) for row in rows], again.tolist()
    first = [text.rindex("called ", 0, place) + len("called ") for text, place in zip(texts, again, strict=True)]

    @torch.no_grad()
    def look(texts, moved=0, without=None):
        """Return the mean weight of each head, from the capital of the second mention on the letter after that of the first, and the bits."""
        each, query, key = range(len(texts)), [at - moved for at in again], [at - moved + 1 for at in first]
        with switched_off(model, without):
            needed = lesson.bits_of_each(model, torch.stack([encode(text) for text in texts]))
        weights = [layer.attention.f.weights[each, :, query, key].mean(0) for layer in model.layers]
        return torch.stack(weights), needed[each, query].mean().item()  # N H

    weights, needed = look(texts)
    heads = [divmod(i, weights.shape[1]) for i in weights.flatten().argsort(descending=True).tolist()]
    capitals = [text[:at] + _another(text[at]) + text[at + 1 :] for text, at in zip(texts, first, strict=True)]
    found = {
        "nothing": (weights, needed),
        "another capital before it": look(capitals),
        'without "there"': look([RETOLD['without "there"'](text, 1) for text in texts], len("there")),
        "switched off": (weights, look(texts, without=heads[0])[1]),
        "another head switched off": (weights, max(look(texts, without=head)[1] for head in heads[1:])),
    }
    name = "{}.{}".format(*heads[0])
    return [(change, name, weights[heads[0]].item(), needed) for change, (weights, needed) in found.items()]


@contextmanager
def switched_off(model, head):
    """Set to 0 what multiplies the context of a head, a pair (layer, head), for as long as the block runs; None changes nothing."""
    if head is None:
        yield
        return
    attention = model.layers[head[0]].attention.f
    W_O, d = attention.W_O.weight, attention.W_O.weight.shape[1] // attention.H
    saved = W_O.clone()
    W_O[:, d * head[1] : d * head[1] + d] = 0
    yield
    W_O.copy_(saved)


def measure_induction(layers, seed):
    """Train one model of attention alone; return its row."""
    lesson = page("21_gpt")
    torch.manual_seed(seed)
    model = lesson.AttentionAlone(layers)
    _, seconds = timed(lesson.train_to_recall, model, seed)
    words, answers = recall_next(500, 12, torch.Generator().manual_seed(10_000))
    return [(*induction_scores(model, words, answers), seconds)]


@torch.no_grad()
def induction_scores(model, words, answers):
    """Return the four scores of a model, each a mean over texts."""
    each, first = torch.arange(len(words)), (words[:, :-1] == words[:, -1:]).int().argmax(1)
    right = model(words).argmax(-1) == answers
    before, match = model.layers[0].weights[each, 0, first + 1, first], model.layers[-1].weights[each, 0, -1, first + 1]
    raised = model.readout(model.layers[-1].W_O(model.layers[-1].W_V(model.embedding.weight)))  # V V
    return [part.float().mean().item() for part in (right, before, match, raised.argmax(-1) == torch.arange(WORDS))]


if __name__ == "__main__":
    seeds = read_options(__doc__, 5).seeds
    fill("gpt", "setup seed parameters bits cpu_seconds", jobs(SETUPS, seeds), measure)
    fill("longer", "seed bits to_copy cpu_seconds", jobs([()], seeds), measure_longer)
    fill("retold", "seed change to_copy", jobs([()], seeds), measure_retold)
    fill("copying_heads", "seed change head weight bits", jobs([()], seeds), measure_copying_heads)
    columns = "layers seed right before match copying cpu_seconds"
    fill("induction", columns, jobs([(2,), (1,)], seeds), measure_induction)
