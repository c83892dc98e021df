"""Task 15.effect_map: what each word depends on, seen by emptying one cell of the picture after another."""

from operator import sub

import torch

from course_lessons.lesson_15_captions.tasks._captioners import ANNOTATION, FEATURES, RIGHT, WORD
from course_lessons.shared.partial_credit import SIDE_EFFECT
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Candidate, Case
from course_utils.checks.task import Task

LOOKED_INTO = {captioner: said.removeprefix("a correct captioner: ") for captioner, said in list(RIGHT.items())[:6]}


def _of_any_numbers(captioner):
    """A captioner that takes float64 numbers too, and says what is wrong with what it is given."""

    def call(annotations, words):
        if annotations.dim() != 3 or words.dim() != 3 or len(annotations) != len(words):
            raise ValueError("annotations B×L×E and words B×T×D are expected, with as many rows")
        with torch.no_grad():
            return captioner(annotations.float(), words.float()).to(annotations.dtype)

    return call


task = Task(
    "15.effect_map",
    "what a word depends on",
    arguments=("captioner", "annotations B×L×E", "words B×T×D", "wanted B×T", "empty L×E"),
    result="effects B×T×L",
    candidates=tuple(map(_of_any_numbers, LOOKED_INTO)),
    suspects=False,
    difficulty=3,
    importance=5,
    minutes=20,
    hints=(
        "Call the captioner once with the original picture and once for each cell, with only that cell emptied. What a word loses is what it owed to the cell.",
        "Take a wanted word whose probability is 0.8 with the whole picture, 0.2 when cell 0 is empty and 0.8 when cell 1 is empty. The effect of cell 0 is ln 0.8 - ln 0.2 = 1.3863, and the effect of cell 1 is 0. The word therefore depends on cell 0, wherever the weights lie.",
        "log_p(picture) = the entry of each wanted word, B×T, in log_softmax over the V logits of captioner(picture, words). before = log_p(annotations). For each cell l: copy annotations, put empty[l] at cell l of every row and subtract log_p of the copy from before. Stack the results along a new last axis.",
    ),
    partial=SIDE_EFFECT,
)


@task.cases
def _(draw):
    for key, name in enumerate(LOOKED_INTO.values()):
        B, L, T = (int(draw.whole(low, high)) for low, high in ((2, 4), (4, 7), (2, 4)))
        inputs = draw.numbers(B, L, ANNOTATION), draw.numbers(B, T, WORD), draw.whole(0, FEATURES, B, T)
        yield Case(f"{name}, {L} cells, {T} words", (Candidate(key), *inputs, draw.numbers(L, ANNOTATION) + 0.5))
    same = draw.numbers(3, 3, ANNOTATION), draw.numbers(3, 3, WORD), draw.whole(0, FEATURES, 3, 3)
    yield Case("soft attention, as many cells as words", (Candidate(0), *same, draw.numbers(3, ANNOTATION)))
    one = draw.numbers(1, 1, ANNOTATION), draw.numbers(1, 1, WORD), draw.whole(0, FEATURES, 1, 1)
    yield Case("soft attention, a single cell and word", (Candidate(0), *one, draw.numbers(1, ANNOTATION)), edge=True)


@task.oracle
def _(captioner, annotations, words, wanted, empty):
    (B, T), L = wanted.shape, len(empty)
    effects = torch.zeros(B, T, L, dtype=annotations.dtype)
    for b in range(B):
        pictures = [
            annotations[b],
            *(torch.cat([annotations[b, :i], empty[i : i + 1], annotations[b, i + 1 :]]) for i in range(L)),
        ]
        logits = captioner(torch.stack(pictures), words[b].expand(L + 1, -1, -1))  # L+1 T V
        for t in range(T):
            log_p = logits[:, t, wanted[b, t]] - logits[:, t].logsumexp(-1)
            effects[b, t] = log_p[0] - log_p[1:]
    return effects


@task.steps
def _(captioner, annotations, words, wanted, empty):
    def log_p(picture):
        logits = yield "the logits", captioner, picture, words
        log_p = yield "the log probabilities", lambda logits: logits.log_softmax(-1), logits
        of_words = yield "the log probability of words", _of_each, log_p, wanted
        return of_words

    before, effects = (yield from log_p(annotations)), []
    for cell in range(len(empty)):
        emptied = yield "the emptied picture", _emptied, annotations, cell, empty
        after = yield from log_p(emptied)
        effect = yield "the drop for each word", sub, before, after
        effects.append(effect)
    return torch.stack(effects, -1)


def _of_each(log_p, wanted):
    return log_p.gather(-1, wanted[..., None])[..., 0]


def _emptied(picture, cell, empty):
    return torch.where(_is(cell, empty), empty, picture)


def _is(cell, empty):
    """Which cell it is, L×1."""
    return (torch.arange(len(empty)) == cell)[:, None]


task.changed_each(
    # What is changed
    ("zeros", "You replace a cell's annotation with zeros. An empty cell has its own annotation, which also says where the cell is: use `empty`.", {"empty": torch.zeros_like}),
    ("first_empty_cell", "You put the first row of `empty` in every cell. Each cell has its own empty annotation: `empty[cell]`.", {"empty": lambda empty: empty[:1].expand_as(empty)}),
    ("only_this_cell_kept", "You empty all cells but one. Empty one cell and leave the others as they are.", {"the emptied picture": lambda picture, cell, empty: torch.where(_is(cell, empty), picture, empty)}),
    ("changes_add_up", "Your changes add up: when you empty a cell, the cells before it are still empty. Start from a fresh copy each time, `annotations.clone()`.", {"the emptied picture": lambda picture, cell, empty: torch.cat([empty[: cell + 1].expand(len(picture), -1, -1), picture[:, cell + 1 :]], 1)}),
    # What is compared
    ("sign", "The sign is wrong: subtract the new log probability from the old one.", {"the drop for each word": lambda before, after: after - before}),
    ("size_alone", "You return absolute values. A word may also become more probable when a cell is emptied.", {"the drop for each word": lambda before, after: (before - after).abs()}),
    ("whole_caption", "Each word of a caption gets the effect on all the caption's words together. Keep the words separate.", {"the drop for each word": lambda before, after: (before - after).sum(1, keepdim=True).expand_as(before)}),
    ("new_log_probability", "You return the log probabilities with a cell emptied. Subtract each from the one with the whole picture.", {"the drop for each word": lambda before, after: after}),
    ("logits", "You compare logits. Only the differences between the logits of one step are meaningful: take log_softmax over V first.", {"the log probabilities": left_out}),
    ("probabilities", "You compare probabilities. Compare their logarithms.", {"the log probabilities": lambda logits: logits.softmax(-1)}),
    ("softmax_over_words", "Your softmax runs over the steps of a caption. It should run over the V possible next words, the last axis.", {"the log probabilities": lambda logits: logits.log_softmax(1)}),
    ("most_probable_word", "You track the word that the captioner finds most probable. Track the one in `wanted`.", {"wanted": lambda wanted, *, captioner, annotations, words: captioner(annotations, words).argmax(-1)}),
    ("word_changes", "You return 1 or 0 for whether the most probable word changes. Return how much the log probability of the wanted word falls.", {"the log probability of words": lambda log_p, wanted: log_p.argmax(-1), "the drop for each word": lambda before, after: (before != after).float()}),
    ("a_step_too_early", "You score each word one step before it is written. `wanted[:, t]` is what step t should say, given the words up to t.", {"wanted": lambda wanted: wanted.roll(-1, 1)}),
    ("axes_exchanged", "Cells and words are swapped: return B×T×L, with the cells along the last axis.", {"result": lambda effects: effects.mT}),
)  # fmt: skip
