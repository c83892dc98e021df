"""The small sentences of the lesson's page. No task is declared here."""

import torch

NOUNS = "dog cat horse bird ball box chair stone".split()  # four animals, four things
VOCABULARY = ["the", *NOUNS, *"hungry sad young found took broke wooden round new".split()]
NOT_ASKED = -100  # the number that cross_entropy leaves out


def draw_sentences(draw, number=64):
    """Draw sentences such as "the sad dog took the wooden ball".

    Args:
        draw: where chance comes from.
        number: of sentences, B.

    Returns:
        The words' places in `VOCABULARY` and the place in `NOUNS` of the noun that each word belongs to, both B×7.
    """
    animal, thing = torch.randint(4, (2, number), generator=draw)
    adjective, verb, other = torch.randint(3, (3, number), generator=draw)
    the = torch.zeros(number, dtype=torch.long)
    not_asked = torch.full((number,), NOT_ASKED)
    ids = [the, 9 + adjective, 1 + animal, 12 + verb, the, 15 + other, 5 + thing]
    nouns = [not_asked, animal, animal, animal, not_asked, 4 + thing, 4 + thing]
    return torch.stack(ids, 1), torch.stack(nouns, 1)


def numbers_of(sentence):
    """Return the places of a sentence's words in `VOCABULARY`, 1×T."""
    return torch.tensor([[VOCABULARY.index(word) for word in sentence.split()]])


@torch.no_grad()
def share_right(model):
    """Return for which share of the words of 1,000 sentences the model names the right noun."""
    ids, nouns = draw_sentences(torch.Generator().manual_seed(1), 1000)
    asked = nouns != NOT_ASKED
    return (model(ids).argmax(-1) == nouns)[asked].float().mean().item()
