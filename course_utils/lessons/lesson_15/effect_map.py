"""Task 15.effect_map: what each word depends on, seen by emptying one cell of the picture after another."""

from operator import sub, truediv

import torch

from course_utils.checks.running.contract import Candidate, Case
from course_utils.checks.task import Task
from course_utils.checks.way import left_out
from course_utils.lessons.lesson_15._captioners import ANNOTATION, FEATURES, RIGHT, WORD
from course_utils.lessons.shared.shares import SIDE_EFFECT

LOOKED_INTO = {captioner: said.removeprefix("a right captioner: ") for captioner, said in list(RIGHT.items())[:7]}


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
        "Ask the captioner as often as there are cells, and once more: with the picture as it is, and with each cell emptied alone. What a word loses is what it owed to the cell.",
        "Let the right word have the probability 0.8 with the whole picture, 0.2 when cell 0 is empty, and 0.8 when cell 1 is. The effect of cell 0 is ln 0.8 - ln 0.2 = 1.3863, and that of cell 1 is 0. So the word depends on cell 0, wherever the weights may lie.",
        "log_p(picture) = log_softmax over the V logits of captioner(picture, words), and of it the entry of each wanted word, B×T. before = log_p(annotations). For each cell l: copy annotations, put empty[l] at cell l of every row, and subtract log_p of the copy from before. Stack the results along a last axis.",
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
        of_words = yield "the log probability of each word", _of_each, log_p, wanted
        return of_words

    before, effects = (yield from log_p(annotations)), []
    for cell in range(len(empty)):
        emptied = yield "the picture with a cell emptied", _emptied, annotations, cell, empty
        after = yield from log_p(emptied)
        effect = yield "how far the log probability falls", sub, before, after
        effects.append(effect)
    return torch.stack(effects, -1)


def _of_each(log_p, wanted):
    return log_p.gather(-1, wanted[..., None])[..., 0]


def _emptied(picture, cell, empty):
    return torch.where(_is(cell, empty), empty, picture)


def _is(cell, empty):
    """Which cell it is, L×1."""
    return (torch.arange(len(empty)) == cell)[:, None]


# What is changed

task.changed(
    "zeros",
    "You put zeros in place of a cell's annotation. An empty cell has an annotation of its own, which also says where it is: use `empty`.",
    {"empty": torch.zeros_like},
)
task.changed(
    "first_empty_cell",
    "You put the first row of `empty` into every cell. Each cell has an empty annotation of its own: `empty[cell]`.",
    {"empty": lambda empty: empty[:1].expand_as(empty)},
)
for _name, _change, _sentence in (
    ("only_this_cell_kept", lambda picture, cell, empty: torch.where(_is(cell, empty), picture, empty), "You empty all cells but one. Empty one cell, and leave the others as they are."),
    ("first_row_alone", lambda picture, cell, empty: torch.cat([_emptied(picture[:1], cell, empty), picture[1:]]), "You empty the cell in the first picture of the batch alone, so all other pictures show no effect. Empty it in every row."),
    ("taken_out", lambda picture, cell, empty: picture + empty * _is(cell, empty), "You add the empty annotation to what the cell holds. Replace it."),
):  # fmt: skip
    task.changed(_name, _sentence, {"the picture with a cell emptied": _change})
task.changed(
    "changes_add_up",
    "Your changes add up: when it is a cell's turn, the cells before it are empty, too. Begin each time with a fresh copy, `annotations.clone()`.",
    {
        "the picture with a cell emptied": lambda picture, cell, empty: torch.cat(
            [empty[: cell + 1].expand(len(picture), -1, -1), picture[:, cell + 1 :]], 1
        )
    },
)


# What is compared

for _name, _change, _sentence in (
    ("sign", lambda before, after: after - before, "The sign is wrong: subtract the new log probability from the old one."),
    ("size_alone", lambda before, after: (before - after).abs(), "You return sizes without a sign. A word may also become more probable when a cell is emptied."),
    ("falls_alone", lambda before, after: (before - after).clamp(min=0), "Where a word becomes more probable when a cell is emptied, you return 0. Such an effect is below 0."),
    ("ratio", truediv, "You divide the logarithms. Subtract them."),
    ("whole_caption", lambda before, after: (before - after).sum(1, keepdim=True).expand_as(before), "Each word of a caption gets the effect on all its words together. Keep the words apart."),
    ("whole_batch", lambda before, after: (before - after).mean(0, keepdim=True).expand_as(before), "Every row gets the mean effect of the batch. Keep the rows apart."),
    ("new_log_probability", lambda before, after: after, "You return the log probabilities with a cell emptied. Subtract each from the one with the whole picture."),
):  # fmt: skip
    task.changed(_name, _sentence, {"how far the log probability falls": _change})
for _name, _change, _sentence in (
    ("logits", left_out, "You compare logits. Only their differences within a word mean something: take log_softmax over V first."),
    ("probabilities", lambda logits: logits.softmax(-1), "You compare probabilities. Compare their logarithms."),
    ("softmax_over_words", lambda logits: logits.log_softmax(1), "Your softmax runs over the steps of a caption. Let it run over the V words that could come next, the last axis."),
):  # fmt: skip
    task.changed(_name, _sentence, {"the log probabilities": _change})
task.changed(
    "most_probable_word",
    "You follow the word that the captioner finds most probable. Follow the one in `wanted`.",
    {"wanted": lambda wanted, *, captioner, annotations, words: captioner(annotations, words).argmax(-1)},
)
task.changed(
    "word_changes",
    "You say whether the most probable word changes, 1 or 0. Return by how much the log probability of the wanted word falls.",
    {
        "the log probability of each word": lambda log_p, wanted: log_p.argmax(-1),
        "how far the log probability falls": lambda before, after: (before != after).float(),
    },
)
task.changed(
    "a_step_too_early",
    "Each word is judged at the step before the one at which it is written. `wanted[:, t]` is what step t should say, given the words up to t.",
    {"wanted": lambda wanted: wanted.roll(-1, 1)},
)
task.changed(
    "scaled",
    "You scale the effects of a word, so that their sizes add up to 1 over the cells. Return them as they are: a word may depend on no cell.",
    {"result": lambda effects: effects / effects.abs().sum(-1, keepdim=True).clamp(min=1e-9)},
)
task.changed(
    "axes_exchanged",
    "Cells and words are exchanged: return B×T×L, with the cells along the last axis.",
    {"result": lambda effects: effects.mT},
)
