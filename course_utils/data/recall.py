"""Associative recall: pairs of a letter and a digit to remember, and then each letter again, as a question; or words that continue as before.

Here: the sequences. Not here: the models that read them (`models/intra_attention.py`, `models/sequence_layers.py`, `models/head_ablation.py`,
`models/positions.py`).
"""

import torch
from torch import Tensor

from course_utils.base.errors import CourseError

KEYS = VALUES = 8
TOKENS = [*"abcdefgh", *"12345678"]
AT_ONCE = KEYS * VALUES + KEYS + 1  # tokens of `recall_at_distance`: pairs, questions, and a filler

WORDS = 32  # of `recall_next`


def recall(number: int, pairs: int, draw: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Return sequences of letter, digit, letter, digit and so on, followed by all the letters again in a different order.

    Args:
        number: of sequences, N.
        pairs: in each of them, P, 1 to 8; no letter occurs twice.
        draw: the random generator.

    Returns:
        Tokens N×3P, as places in `TOKENS`; the right digit for each question, from 0 for "1", N×P; and the place of this digit
        in the sequence, N×P.

    Raises:
        CourseError: for a number of pairs outside 1 to 8.
    """
    _check_pairs(pairs)
    keys, values = _draw_pairs(number, pairs, draw)  # N P each
    order = torch.rand(number, pairs, generator=draw).argsort(1)  # N P
    facts = torch.stack([keys, KEYS + values], -1).flatten(1)  # N 2P
    return torch.cat([facts, keys.gather(1, order)], 1), values.gather(1, order), 2 * order + 1


def recall_at_distance(number: int, pairs: int, distance: int, draw: torch.Generator) -> tuple[Tensor, Tensor]:
    """Return sequences of pairs, each of them one token, then `distance` filler tokens, then one letter as a question.

    Because a pair is one token, nothing depends on the order of the pairs.

    Args:
        number: of sequences, N.
        pairs: in each of them, P, 1 to 8; no letter occurs twice.
        distance: how many tokens are between the last pair and the question.
        draw: the random generator.

    Returns:
        Tokens N×(P + distance + 1), below `AT_ONCE`, and the right digit, from 0 for "1", N.

    Raises:
        CourseError: for a number of pairs outside 1 to 8, or a negative distance.
    """
    _check_pairs(pairs)
    if distance < 0:
        raise CourseError(f"distance must be at least 0, not {distance}")
    keys, values = _draw_pairs(number, pairs, draw)  # N P each
    chosen, rows = torch.randint(pairs, (number,), generator=draw), torch.arange(number)
    nothing = torch.full((number, distance), AT_ONCE - 1)
    question = KEYS * VALUES + keys[rows, chosen][:, None]  # N 1
    return torch.cat([keys * VALUES + values, nothing, question], 1), values[rows, chosen]


def recall_next(number: int, length: int, draw: torch.Generator) -> tuple[Tensor, Tensor]:
    """Return texts of different words, one of which is then repeated: what came after it the first time?

    Args:
        number: of texts, N.
        length: words of a text, T, 2 to `WORDS`.
        draw: the random generator.

    Returns:
        Words N×(T+1) and answers N. The last word of a row is also among its first T - 1; the answer is the word after it.

    Raises:
        CourseError: for any other length.
    """
    if not 2 <= length <= WORDS:
        raise CourseError(f"a text can have 2 to {WORDS} words, as none comes twice in it, not {length}")
    words = torch.rand(number, WORDS, generator=draw).argsort(1)[:, :length]  # N T
    at, rows = torch.randint(length - 1, (number,), generator=draw), torch.arange(number)
    return torch.cat([words, words[rows, at][:, None]], 1), words[rows, at + 1]


def _check_pairs(pairs):
    if not 1 <= pairs <= KEYS:
        raise CourseError(f"there can be 1 to {KEYS} pairs, as each has a letter of its own, not {pairs}")


def _draw_pairs(number, pairs, draw):
    """Return letters, different within each row, and their digits: N×P each."""
    keys = torch.rand(number, KEYS, generator=draw).argsort(1)[:, :pairs]
    return keys, torch.randint(VALUES, (number, pairs), generator=draw)
