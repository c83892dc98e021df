"""What lesson 21 compares: counts beside a GPT, interventions on an induction head, GPTs that read changed tales.

No task is declared here. Shape letters: N rows of tales, T characters of a row, B texts, V characters or words there are.
"""

import torch
import torch.nn.functional as F

from course_utils.data.measured import by_seed
from course_utils.data.recall import WORDS
from course_utils.data.tales import CHARACTERS
from course_utils.figures import plots
from course_utils.figures.tables import table
from course_utils.models.induction import induction_scores

V = len(CHARACTERS)


def bits_by_counting(train, test, most):
    """Return the bits that counts need for each character of `test` but the first, N×T.

    They count in `train` what followed the last k characters. Where that has been seen little, they lean on what followed the last k - 1:
    p_k(c) = (count(last k, c) + 2 p_{k-1}(c)) / (count(last k) + 2), for k from 0 to `most`.
    """
    p = torch.full(test.shape, 1 / V)
    for k in range(most + 1):
        before, asked = _code(train, k), _code(test, k)
        with_next = _how_often(before * V + train, asked * V + test)
        p = (with_next + 2 * p) / (_how_often(before, asked) + 2)  # N T+1
    return -p[:, 1:].log2()


def _code(ids, k):
    """The k characters before each, as one whole number."""
    code = torch.zeros_like(ids)
    for j in range(1, k + 1):
        code += V ** (j - 1) * F.pad(ids, (j, 0))[:, : ids.shape[1]]
    return code


def _how_often(seen, asked):
    codes, number = seen.flatten().unique(return_counts=True)
    place = torch.searchsorted(codes, asked).clamp(max=len(codes) - 1)
    return torch.where(codes[place] == asked, number[place], 0)


def compare_interventions(model, words, answers):
    """Return a row for each change of a model that copies: the share of right words, and the weight on the word to copy."""
    at = _first_place(words)
    another = (words.gather(1, at[:, None]) + 1) % WORDS
    replaced = words.scatter(1, at[:, None], another)
    found = {
        "nothing changed": induction_scores(model, words, answers, at),
        "layer 1 can't see the word before": induction_scores(model, words, answers, at, unseen=1),
        "layer 1 can't see two words before": induction_scores(model, words, answers, at, unseen=2),
        "the first of the equal words replaced": induction_scores(model, replaced, answers, at),
    }
    rows = {name: [right, match] for name, (right, _, match, _) in found.items()}
    for layers, name in ((2, "five other models, 2 layers"), (1, "five other models, 1 layer")):
        rows[name] = [by_seed("induction", value, layers=layers) for value in ("right", "match")]
    return rows


def copying_in_retold_tales():
    """Return a table of the bits that five stored GPTs need per letter to copy at a second mention, in tales as they are and changed ones."""
    changes = (
        "nothing",
        "another letter before it at the first mention",
        'without "there"',
        'with "zebra" in place of "there"',
    )
    rows = {change: [by_seed("retold", "to_copy", change=change)] for change in changes}
    return table(rows, ["bits per letter to copy, five GPTs"], corner="what is changed", digits=2)


def _first_place(words):
    """Where the last word was before: B."""
    return (words[:, :-1] == words[:, -1:]).int().argmax(1)


def draw_layers(model, words):
    """Draw the weights of both layers for one text, T words, with frames on the word before and on the word to copy."""
    at, labels = int(_first_place(words[None])), [str(word) for word in words.tolist()]
    last = len(words) - 1
    frames = [(t, t - 1) for t in range(1, last + 1)], [(last, at + 1)]
    _, weights = model.read(words[None])
    for i, ax in enumerate(plots.axes(2, width=4.6, height=4)):
        shown = weights[i][0].detach()
        plots.weights(shown, labels, labels, f"layer {i + 1}", ax, "keys: words", "queries: words", marked=frames[i])
