"""A language model of letters that learns in seconds to continue made-up stories: its text, its training, and how it speaks.

Here: everything around a model. Not here: the model, which task 21.gpt asks for, or the stories themselves (`data/stories.py`).

Shape letters: B pieces of text, T positions, V letters.
"""

from collections.abc import Callable
from math import log
from random import Random

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_utils.base.errors import CourseError
from course_utils.data.stories import PEOPLE, PLACES, THINGS, story
from course_utils.models.train_model import train_model

LETTERS = "".join(sorted({*"".join((*PEOPLE, *PLACES, *THINGS, "went to the took dropped . "))}))
WINDOW = 64  # the most letters that a model sees


def stories_as_text(stories: int, seed: int) -> str:
    """Return this many stories as one text: "mary went to the garden. mary took the milk. …"."""
    draw = Random(seed)
    return "".join(f"{fact}. " for _ in range(stories) for fact in story("lists", draw).facts)


def ids_of(text: str) -> Tensor:
    """Return the places of a text's letters in `LETTERS`. Raises `CourseError` for an empty text or an unknown letter."""
    if not text or (unknown := sorted({*text} - {*LETTERS})):
        what = f"knows no {unknown[0]!r}" if text else "needs a letter to begin with"
        raise CourseError(f'The model {what}. A beginning consists of some of these letters: "{LETTERS}".')
    return torch.tensor([LETTERS.index(letter) for letter in text])


def train_speaker(gpt: Callable[..., nn.Module], seed=0, steps=400) -> tuple[nn.Module, float]:
    """Train a GPT on letters for ten to twenty seconds; return it and its bits per letter on unseen stories.

    Args:
        gpt: class (vocabulary, width, heads, hidden, layers, longest) of modules from ids B×T to logits B×T×V, as task 21.gpt asks.
        seed: of its first weights and of the batches.
    """
    text, test = ids_of(stories_as_text(5000, seed=1)), ids_of(stories_as_text(100, seed=2))
    torch.manual_seed(seed)
    model = gpt(vocabulary=len(LETTERS), width=64, heads=4, hidden=256, layers=2, longest=WINDOW)

    def loss_of(pieces):
        logits = model(pieces[:, :-1])
        return F.cross_entropy(logits.flatten(0, 1), pieces[:, 1:].flatten())

    def loss_of_batch(draw):
        starts = torch.randint(len(text) - WINDOW, (32, 1), generator=draw)
        return loss_of(text[starts + torch.arange(WINDOW + 1)])

    train_model(model, loss_of_batch, seed, steps, rate=3e-3, warmup=20)
    model.eval()
    with torch.no_grad():
        pieces = test[: len(test) // (WINDOW + 1) * (WINDOW + 1)].reshape(-1, WINDOW + 1)
        return model, loss_of(pieces).item() / log(2)


@torch.no_grad()
def go_on(model: nn.Module, prompt: str, length=160, seed=0) -> str:
    """Return a text and a model's continuation, letter by letter, each drawn by its probability."""
    ids, draw = ids_of(prompt), torch.Generator().manual_seed(seed)
    for _ in range(length):
        probabilities = model(ids[None, -WINDOW:])[0, -1].softmax(-1)  # V
        ids = torch.cat([ids, torch.multinomial(probabilities, 1, generator=draw)])
    return "".join(LETTERS[i] for i in ids)
