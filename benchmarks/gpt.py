"""What each of four changes since 2017 gains a small GPT, beside a GRU of the same size; and copying, with one layer and two.

    python benchmarks/gpt.py [--seeds 5]

Fills six tables, which lesson 21 shows:

gpt.csv         models of two layers on the tales of `course_utils/data/tales.py`, 700 steps of 16 rows; with a seed, all setups see the same batches
longer.csv      the first of them after 2,100 steps: also the bits for letters that can be copied
switched.csv    the same models with all heads (layer 0, head 0), and with each head switched off: the bits for letters that can be copied and
                for all others; and the weight that this head puts on the letters to copy
hidden.csv      the same models if no character can see, in layer 1, the character one, two or three places before it: the bits for letters that
                can be copied
retold.csv      the same models on tales that are changed: the bits for letters that can be copied
induction.csv   attention alone, in one layer and in two, that learns what came after the same word last time, as the lesson's does
"""

import re
from functools import cache

import torch
import torch.nn.functional as F
from measuring import fill, jobs, read_options, timed

from course_utils.data.recall import recall_next
from course_utils.data.tales import CHARACTERS, decode, encode, letters_to_copy, tales
from course_utils.models import induction
from course_utils.models.gpt import GPT, MultiHeadAttention, Recurrent, bits, fit
from course_utils.models.induction import AttentionAlone, hide_back, induction_scores

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
RETOLD = {  # functions of a row, which begins with a line break and "there"
    "another first letter at the first mention": lambda text: re.sub("(?<=called )[A-Z]", _another, text),
    'without "there"': lambda text: text[0] + text[6:],
    'with "zebra" in place of "there"': lambda text: text[0] + "zebra" + text[6:],
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


def measure_switched(seed):
    """Return the rows of one longer training."""
    return without_heads(train_longer(seed)[0], tales(400, 2).ids)


@torch.no_grad()
def without_heads(model, test):
    """Return what a model needs with all heads, and without each one, whose results are replaced by their mean."""
    copied, goals = letters_to_copy(test), places_to_copy(test[:, :-1])  # N T, N T S
    whole = bits(model, test)
    rows = [(0, 0, "", whole[copied].mean().item(), whole[~copied].mean().item())]
    for i, layer in enumerate(model.layers):
        attention = layer.attention.f
        for h in range(attention.H):
            kept = {}
            hooks = [
                attention.register_forward_pre_hook(lambda _, given, kept=kept: kept.update(x=given[0], mask=given[1])),
                attention.W_O.register_forward_pre_hook(lambda _, given, h=h: switch_off(given[0], h)),
            ]
            found = bits(model, test)
            for hook in hooks:
                hook.remove()
            query, key = (
                W(kept["x"]).unflatten(-1, (attention.H, -1))[:, :, h] for W in (attention.W_Q, attention.W_K)
            )
            scores = query @ key.mT / key.shape[-1] ** 0.5  # N T S
            weights = scores.masked_fill(~kept["mask"], -torch.inf).softmax(-1)  # N T S
            weight = (weights * goals).sum(-1)[copied].mean().item()
            rows.append((i + 1, h + 1, weight, found[copied].mean().item(), found[~copied].mean().item()))
    return rows


def measure_hidden(seed):
    """Return the rows of one longer training: how far before a character lies what it cannot see in layer 1, and the bits for letters to copy."""
    (model, _), test = train_longer(seed), tales(400, 2).ids
    rows = []
    for back in (1, 2, 3):

        def hide(_, given, back=back):
            x, mask, *others = given  # N T D, T T
            return x, hide_back(mask, back), *others

        hook = model.layers[0].attention.f.register_forward_pre_hook(hide)
        with torch.no_grad():
            rows.append((back, bits(model, test)[letters_to_copy(test)].mean().item()))
        hook.remove()
    return rows


def _another(found):
    """Another capital letter than the one that was found."""
    capitals = CHARACTERS[CHARACTERS.index("B") :]
    return capitals[capitals.index(found[0]) - 1]


def measure_retold(seed):
    """Return the rows of one longer training: how the tales are changed, and the bits for letters to copy."""
    (model, _), test = train_longer(seed), tales(400, 2).ids
    copied, rows = letters_to_copy(test), []
    for change, retell in RETOLD.items():
        ids = torch.stack([encode(retell(decode(row))) for row in test.tolist()])
        with torch.no_grad():
            found = bits(model, ids)
        rows.append((change, found[copied[:, -found.shape[1] :]].mean().item()))
    return rows


def switch_off(context, h, H=4):
    """Return what the heads bring, N×T×D, with the mean over all texts and positions in place of the part of one head."""
    parts = context.unflatten(-1, (H, -1)).clone()  # N T H d
    parts[:, :, h] = parts[:, :, h].mean((0, 1))
    return (parts.flatten(2),)


def places_to_copy(ids):
    """Return where each character N×T, if a name goes on after it, finds the next letter: N×T×S, True after the same letters of the name."""
    same = ids[:, :, None] == ids[:, None]  # N T S
    after_one = F.pad(same[:, :, :-1], (1, 0))  # the character before S is that at T
    after_two = after_one & F.pad(after_one[:, :-1, :-1], (1, 0, 1, 0))
    capital = torch.tensor([character.isupper() for character in CHARACTERS])[ids]  # N T
    return torch.where(capital[:, :, None], after_one, after_two).tril()


def measure_induction(layers, seed):
    """Train one model of attention alone; return its row."""
    torch.manual_seed(seed)
    model = AttentionAlone(MultiHeadAttention, layers)
    _, seconds = timed(induction.fit, model, seed)
    words, answers = recall_next(500, 12, torch.Generator().manual_seed(10_000))
    at = (words[:, :-1] == words[:, -1:]).int().argmax(1)
    return [(*induction_scores(model, words, answers, at), seconds)]


if __name__ == "__main__":
    seeds = read_options(__doc__, 5).seeds
    fill("gpt", "setup seed parameters bits cpu_seconds", jobs(SETUPS, seeds), measure)
    fill("longer", "seed bits to_copy cpu_seconds", jobs([()], seeds), measure_longer)
    fill("switched", "seed layer head weight to_copy others", jobs([()], seeds), measure_switched)
    fill("hidden", "seed back to_copy", jobs([()], seeds), measure_hidden)
    fill("retold", "seed change to_copy", jobs([()], seeds), measure_retold)
    columns = "layers seed right before match copying cpu_seconds"
    fill("induction", columns, jobs([(2,), (1,)], seeds), measure_induction)
