"""Short tales of an animal with a made-up name, letter by letter, and how probable each letter is.

A tale names its animal, tells a few sentences about it and ends with a line break:

    there was a fox called Bok. Bok saw a ball. Bok took the ball. the fox was happy.

Every tale has a new random name. What follows is drawn from a few choices with known probabilities. The surprise of each character
is therefore known, and no model can predict with fewer bits on average. Here: the grammar, its texts and their surprise. Not here: the
models that read them (`models/gpt.py`).

Shape letters: N rows, T characters of a row.
"""

from math import log2
from random import Random
from typing import NamedTuple

import torch
from torch import Tensor

CHARACTERS = "\n .abcdefghijklmnopqrstuvwxyzBDFGKLMNPRSTVZ"  # the id of a character is its position here
KINDS = ("fox", "bear", "cat", "dog", "mouse", "goose", "hare", "wolf")
PLACES = ("river", "garden", "forest", "market", "castle", "bridge", "island", "valley")
THINGS = ("ball", "hat", "key", "lamp", "ring", "shoe", "drum", "apple")
MOODS = ("happy", "tired", "hungry", "brave", "sad", "proud", "cold", "old")
CONSONANTS, VOWELS = "bdfgklmnprstvz", "aeiou"


class Tales(NamedTuple):
    """Rows of tales. Each row begins with the line break that ends another tale; `bits` is the surprise of every later character."""

    ids: Tensor  # N T+1
    bits: Tensor  # N T


def tale(draw: Random) -> tuple[str, list[float]]:
    """Return one tale and the surprise of each of its characters, in bits, for a reader who knows the grammar."""
    text, bits = [], []

    def choose(choices):
        """Draw one of these texts, each mapped to its weight, and add its characters."""
        chosen = draw.choices(list(choices), list(choices.values()))[0]
        text.append(chosen)
        bits.extend(surprise(chosen, choices))
        return chosen

    def one_of(words, after=". "):
        return choose({word + after: 1 for word in words})[: -len(after)]

    choose({"there was a ": 1})
    kind = one_of(KINDS, " called ")
    name = "".join(choose(dict.fromkeys(letters, 1)) for letters in (CONSONANTS.upper(), VOWELS, CONSONANTS))
    choose({". ": 1})
    seen = None
    while True:
        sentences = {f"{name} saw a ": 3, f"{name} went to the ": 3, f"the {kind} was ": 2, "\n": 2}
        if seen:
            sentences[f"{name} took the {seen}. "] = 3
        sentence = choose(sentences)
        if sentence == "\n":
            return "".join(text), bits
        if sentence.endswith(" saw a "):
            seen = one_of(THINGS)
        elif sentence.endswith("went to the "):
            one_of(PLACES)
        elif sentence.endswith(" was "):
            one_of(MOODS)
        else:
            seen = None


def surprise(chosen: str, choices: dict[str, float]) -> list[float]:
    """Return how many bits each character of the chosen text carries, given all the texts it could be, with their weights."""
    bits, possible = [], choices
    for place, character in enumerate(chosen):
        left = {text: weight for text, weight in possible.items() if text[place] == character}
        bits.append(log2(sum(possible.values()) / sum(left.values())) if len(left) < len(possible) else 0.0)
        possible = left
    return bits


def tales(number: int, seed: int, length: int = 64) -> Tales:
    """Return rows of tales, one after the other, cut to `length` characters; the same seed gives the same rows."""
    draw, ids, bits = Random(seed), [], []
    for _ in range(number):
        text, surprises = "\n", []
        while len(surprises) < length:
            more, its = tale(draw)
            text, surprises = text + more, surprises + its
        ids.append(encode(text[: length + 1]))
        bits.append(torch.tensor(surprises[:length]))
    return Tales(torch.stack(ids), torch.stack(bits))


def encode(text: str, characters: str = CHARACTERS) -> Tensor:
    """Return the ids of a text's characters, T."""
    return torch.tensor([characters.index(character) for character in text])


def decode(ids, characters: str = CHARACTERS) -> str:
    """Return the text of ids T."""
    return "".join(characters[i] for i in ids)


def letters_to_copy(ids: Tensor) -> Tensor:
    """Return which characters, except the first of each row, are the second or third letter of a name already used in its tale: N×T."""
    copied = torch.zeros(ids[:, 1:].shape, dtype=torch.bool)
    for row, its in enumerate(ids.tolist()):
        named = False
        for place, character in enumerate(CHARACTERS[i] for i in its):
            if character == "\n":
                named = False
            elif character.isupper():
                if named:
                    copied[row, place : place + 2] = True  # one place back, because the first character is left out
                named = True
    return copied
