"""Where one head of SmolLM2 looks in sentences about an animal and a place, and what changes without it, for lesson 09.

    python benchmarks/who_is_it.py

Writes `who_is_it.json` into the lesson's folder. The head was chosen because, of all 270, its "it" gives "animal" the most weight in
the first of SHOWN. It is then tried on twelve pairs of other nouns. In that first sentence, each head is switched off in turn, and the
probability of the word after "it" compared with the whole model's.
"""

import json

import torch

from course_lessons.lesson_09_self_attention import figures
from course_utils.models.llama import load_smollm2

ORDERS = {
    "animal first": "The {animal} didn't cross the {place} because it",
    "place first": "The {place} wasn't crossed by the {animal} because it",
}
ANIMALS, PLACES = "dog cat horse girl bird cow".split(), "road river bridge field fence garden".split()
PAIRS = [*zip(ANIMALS, PLACES, strict=True), *zip(ANIMALS, PLACES[1:] + PLACES[:1], strict=True)]
SHOWN = [("animal first", ""), ("place first", " was too wide")]  # the sentence's last word asks
LAYER, HEAD = 13, 8


def encode(tokenizer, order, pairs, end=""):
    """Return ids B×T of an order's sentences, and where animal and place are in them."""
    texts = [ORDERS[order].format(animal=animal, place=place) + end for animal, place in pairs]
    pieces = [[tokenizer.decode([i]).strip() for i in tokenizer.encode(text).ids] for text in texts]
    places = [tuple(row.index(word) for word in pair) for row, pair in zip(pieces, pairs, strict=True)]
    assert len(set(places)) == 1, "each noun must be one token"
    return torch.tensor([tokenizer.encode(text).ids for text in texts]), pieces, places[0]


@torch.no_grad()
def last_rows(model, ids):
    """Return the weights of the last word, of each head: N×H×B×T."""
    model(ids)
    return torch.stack([layer.attention.f.weights[:, :, -1].transpose(0, 1) for layer in model.layers])


@torch.no_grad()
def probability_moved(model, ids):
    """Return how much of the next word's probability moves without each head, a mean over sentences, N×H."""
    whole, moved = model(ids)[:, -1].softmax(-1), torch.zeros(len(model.layers), model.layers[0].attention.f.H)
    for i, layer in enumerate(model.layers):
        W_O = layer.attention.f.W_O.weight  # D D
        for h, columns in enumerate(W_O.split(model.d, dim=1)):  # those that multiply the head's context
            kept = columns.clone()
            columns.zero_()
            moved[i, h] = (model(ids)[:, -1].softmax(-1) - whole).abs().sum(-1).mean() / 2
            columns.copy_(kept)
    return moved


def rounded(numbers):
    return [round(float(x), 4) for x in numbers]


def main():
    model, tokenizer, _ = load_smollm2()
    model.requires_grad_(False)
    found = {"head": [LAYER, HEAD], "shown": [], "tried": {}}
    for order, end in SHOWN:
        ids, (words,), (animal, _) = encode(tokenizer, order, [("animal", "street")], end)
        rows = last_rows(model, ids)[:, :, 0]  # N H T
        if not found["shown"]:
            assert rows[:, :, animal].argmax() == LAYER * rows.shape[1] + HEAD
        found["shown"].append({"words": words, "weights": rounded(rows[LAYER, HEAD])})
    for order in ORDERS:
        for end in ("", " was too tired", " was too wide"):
            ids, _, places = encode(tokenizer, order, PAIRS, end)
            row = last_rows(model, ids)[LAYER, HEAD]  # B T
            asks = end.split()[-1] if end else "it"
            found["tried"][f"“{asks}”, {order}"] = [rounded(row[:, place]) for place in places]
    moved = probability_moved(model, encode(tokenizer, "animal first", [("animal", "street")])[0])
    more = int((moved > moved[LAYER, HEAD]).sum())
    found["moved"] = rounded([moved[LAYER, HEAD], moved.median(), moved.max()]) + [more]
    figures.WHO_IS_IT.write_text(json.dumps(found, ensure_ascii=False) + "\n", encoding="utf-8")
    print(found)


if __name__ == "__main__":
    main()
