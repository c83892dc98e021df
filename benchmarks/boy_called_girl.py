"""A Transformer so small that all its numbers fit into a picture, for the moving pictures at the top of lesson 12.

    python benchmarks/boy_called_girl.py

Vectors of four entries, one head, eight hidden units, one layer in each half; the classes and the loop are those of the page. It learns from
46 sentences of three words and never sees the two that are drawn. Drawn is the first seed, from 0, whose model translates both correctly and
looks, before each word, most at the word that it translates. Not all seeds do: many learn the task by looking elsewhere.

Writes `boy_called_girl.json` into the lesson's folder: the parameters of the model; what the encoder's layer computes for the first sentence, its values
already multiplied by W_O, which a single head allows, so that the weighted values add up to what is added; and where the decoder looks before each word.
"""

import json
from itertools import count

import torch
from measuring import page

from course_lessons.lesson_12_transformer import figures
from course_utils.data.small_world import truth
from course_utils.data.subwords import BOS, EOS

NOUNS, VERBS = ("boy", "girl", "boys", "girls"), ("called", "followed", "helped", "visited")
DRAWN = ["boy called girl", "girl called boy"]
STEPS, RATE = 1200, 0.02
LOOKED_AT = [0, 2, 1]  # for each word of the first translation, the place of the word that it translates
ORDER = "verb-last"


class Batches:
    """Sentences as the ids of their words; the source has no end sign, since all sentences are equally long."""

    def __init__(self):
        self.sentences = [f"{one} {verb} {other}" for one in NOUNS for verb in VERBS for other in NOUNS if one != other]
        translated = truth(self.sentences, ORDER)
        words = [sorted({word for text in texts for word in text.split()}) for texts in (self.sentences, translated)]
        self.ids = {word: EOS + 1 + i for i, word in enumerate(words[0] + words[1])}

    def batch(self, sentences):
        targets = [self.encode(text) for text in truth(sentences, ORDER)]
        source, given = [self.encode(text) for text in sentences], [[BOS, *row] for row in targets]
        return [torch.tensor(rows) for rows in (source, given, [[*row, EOS] for row in targets])]

    def encode(self, text):
        return [self.ids[word] for word in text.split()]


def untrained(lesson, batches):
    """Return the model in double precision, so that other processors compute nearly the same."""
    return lesson.Transformer(EOS + 1 + len(batches.ids), D=4, H=1, F=8, N=1, longest=8).double()


def trained(seed, lesson, batches):
    """Return the model of a seed, trained on all sentences but those drawn."""
    torch.manual_seed(seed)
    model = untrained(lesson, batches)
    learned = [text for text in batches.sentences if text not in DRAWN]
    lesson.fit(model, [batches.batch(learned)], epochs=STEPS, rate=RATE)
    return model


def weights(attention, x, mask, memory=None):
    """Return the weights of a layer with a single head, T S."""
    memory = x if memory is None else memory
    scores = attention.W_Q(x) @ attention.W_K(memory).mT / x.shape[-1] ** 0.5
    return scores.masked_fill(~mask[0], -torch.inf).softmax(-1)[0]


@torch.no_grad()
def numbers(model, source, given):
    """Return what a model computes for one sentence: rows of numbers by name."""
    memory, mask = model.encode(source)
    layer, decoder, T = model.encoder[0], model.decoder[0], given.shape[1]
    attention, network = layer.self_attention, layer.feed_forward
    start = model.embed(source)  # B S D
    x = attention.norm(start)
    middle = layer.self_attention(start, mask)
    y = decoder.self_attention(model.embed(given), model.causal[:T, :T])
    found = {
        "embeddings": (start - model.P[: source.shape[1]])[0],
        "positions": model.P[: source.shape[1]],
        "start": start[0],
        # The weights sum to 1, so the bias of W_O may be part of each value.
        "values": attention.f.W_O(attention.f.W_V(x))[0],
        "weights": weights(attention.f, x, mask),
        "contexts": (middle - start)[0],
        "middle": middle[0],
        "hidden": network.f.W_1(network.norm(middle)).relu()[0],
        "outputs": network.f(network.norm(middle))[0],
        "end": layer(start, mask)[0],
        "looks": weights(decoder.source_attention.f, decoder.source_attention.norm(y), mask, memory),
    }
    torch.testing.assert_close(found["weights"] @ found["values"], found["contexts"])
    return found


def drawn():
    """Return the first model that translates both sentences and looks at the word that it translates, and its numbers."""
    lesson, batches = page("12_transformer"), Batches()
    both, (source, given, _) = batches.batch(DRAWN), batches.batch(DRAWN[:1])
    models = (trained(seed, lesson, batches) for seed in count())
    seen = ((model, numbers(model, source, given)) for model in models if lesson.share_right(model, *both) == 1)
    return next(each for each in seen if each[1]["looks"].argmax(1).tolist()[: len(LOOKED_AT)] == LOOKED_AT)


def main():
    model, found = drawn()
    rows = {name: [[round(x, 4) for x in row] for row in values.tolist()] for name, values in found.items()}
    parameters = {name: values.tolist() for name, values in model.named_parameters()}
    written = [*truth(DRAWN[:1], ORDER)[0].split(), "EOS"]
    everything = {"source": DRAWN[0].split(), "written": written} | rows | {"parameters": parameters}
    figures.TINY.write_text(json.dumps(everything) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
