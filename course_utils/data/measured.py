"""Measurements that take longer than a lesson may: each a table in `measured_tables`, written by a program in `benchmarks`.

How they are written: `benchmarks/measuring.py`.

length.csv                              benchmarks/length.py          what gets through one vector
all_captions.csv                        benchmarks/all_captions.py    captions of any length through one vector
attention.csv, scores.csv, projected.csv benchmarks/looking_back.py   what attention adds, and where its weights are
projections.csv                         benchmarks/projections.py     self-attention with and without each projection, by epochs
beams.csv                               benchmarks/beams.py           width against BLEU
local.csv                               benchmarks/local.py           attention in a window
recall.csv                              benchmarks/recall.py          a network's attention to its own past
paths.csv, path_steps.csv               benchmarks/paths.py           how far four kinds of layers see, and how fast two of them learn
facts.csv                               benchmarks/facts.py           one head and four, with narrow and wide hidden layers
near.csv, heads.csv                     benchmarks/heads.py           where each head looks, and each switched off
positions.csv                           benchmarks/positions.py       ways to tell positions apart, by length
places.csv                              benchmarks/positions.py       the same for texts of 24 words, by the place of the answer
translated.csv                          benchmarks/positions.py       the same in translation, and no positions
warm_up.csv                             benchmarks/warm_up.py         norms before or after, with and without a warm-up
parts.csv                               benchmarks/parts.py           a Transformer without each of its parts
ablations.csv, recipe.csv               benchmarks/ablations.py       a recipe's ingredients, in the small world and for the translator
by_heart.csv                            benchmarks/ablations.py       with and without dropout, on sentences seen and on new ones
own_loop.csv                            benchmarks/ablations.py       captions learned by lesson 13's own loop, by epochs
optimizers.csv, few_pairs.csv           benchmarks/small_runs.py      lesson 13's small models with four optimizers, and on 300 pairs
caption_words.csv                       benchmarks/ablations.py       how many training captions have a word or a sentence
glimpses.csv                            benchmarks/glimpses.py        finding a digit with few glimpses, and without each part
looks.csv, found.csv                    benchmarks/glimpses.py        where one model looks among clutter, and how often each look finds the digit
captions.csv, emptied.csv               benchmarks/captions.py        naming and pointing, softly, hard, with a penalty, and with a cell emptied
relations.csv                           benchmarks/captions.py        relations, with a thing moved
flickr8k.csv, flickr8k_captions.csv     benchmarks/flickr8k.py        captions of photographs, and with a part covered
memory.csv                              benchmarks/memory.py          hops, by kind of question, and where each hop looks
turing.csv                              benchmarks/turing.py          copying and recalling with a memory, by length
copying.csv                             benchmarks/copying.py         how many machines learn to copy, whole and with a part removed
balance.csv                             benchmarks/experts.py         how many experts get work
lines.csv, translators.csv              benchmarks/experts.py         experts that compete or not, and those of a Transformer
characters.csv                          benchmarks/snail.py           learning from examples, by the number of classes learned from
variants.csv                            benchmarks/variants.py        five attentions in two worlds, whole and in part
gpt.csv, longer.csv, induction.csv      benchmarks/gpt.py             four changes since 2017, each added and removed; and copying, with one layer and two
retold.csv, copying_heads.csv           benchmarks/gpt.py             how GPTs copy in changed tales, and which heads copy
sst2_llama.csv, sst2_trained.csv        benchmarks/llama.py           reviews of films, by a real language model and by models of lessons 01 and 03
one_head.csv                            benchmarks/llama.py           the same model's copying and prose, with each head switched off
mistakes.csv                            benchmarks/llama.py           its losses, logits and answer, with one mistake at a time
llama_logits.csv                        benchmarks/llama.py           the largest logits of the same model in `transformers`
shakespeare.csv                         benchmarks/shakespeare.py     a GPT, a GRU and counts on plays, and the GPT that ships
"""

import csv
from pathlib import Path
from statistics import fmean

import torch
from torch import Tensor

from course_utils.base.errors import CourseError

FOLDER = Path(__file__).with_name("measured_tables")


def measured(table: str, value: str, along: str, **where) -> tuple[list[float], list[list[float]]]:
    """Return what was measured along a column: its values in order, and for each seed the numbers measured there.

    Args:
        table: the table's name, such as "length".
        value: the column that was measured.
        along: the column that it was measured against.
        where: values of other columns, such as order="monotone".

    Raises:
        CourseError: for an unknown table or column, or if nothing matches.
    """
    runs = {}
    for row in read_rows(table, (value, along), where):
        runs.setdefault(row.get("seed"), {})[float(row[along])] = float(row[value])
    places = sorted(next(iter(runs.values())))
    return places, [[run[place] for place in places] for run in runs.values()]


def measured_at(table: str, value: str, along: str, places, **where) -> list[list[float]]:
    """Return for each of these places along a column the numbers measured there, one per seed. The rest is as for `measured`."""
    found, runs = measured(table, value, along, **where)
    return [[run[found.index(place)] for run in runs] for place in places]


def measured_once(table: str, *values: str, **where) -> list[list[float]]:
    """Return for each of these columns its numbers, one for each seed, in the order of the table.

    Args:
        table, where: as for `measured`.
        values: the columns.

    Raises:
        CourseError: as `measured` does, and if a seed has several rows.
    """
    rows = read_rows(table, values, where)
    if len({row.get("seed") for row in rows}) < len(rows):
        raise CourseError(f"the table {table!r} has several rows for a seed: say which ones, such as setup='...'")
    return [[float(row[value]) for row in rows] for value in values]


def by_seed(table: str, value: str, **where) -> Tensor:
    """Return a column's number for each seed, in order of seeds, and the mean if a seed has several rows. The rest is as for `measured`."""
    runs = {}
    for row in read_rows(table, ("seed", value), where):
        runs.setdefault(int(row["seed"]), []).append(float(row[value]))
    return torch.tensor([fmean(found) for _, found in sorted(runs.items())])


def read_rows(table: str, columns=(), where=None) -> list[dict[str, str]]:
    """Return the rows of a table, as texts, whose columns match `where`. Raises `CourseError` if it lacks one of the columns."""
    where = where or {}
    path = FOLDER / f"{table}.csv"
    if not path.is_file():
        raise CourseError(
            f"there is no table {table!r}: there are {', '.join(sorted(p.stem for p in FOLDER.glob('*.csv')))}"
        )
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, strict=True))
    if unknown := [name for name in (*columns, *where) if name not in rows[0]]:
        raise CourseError(f"the table {table!r} has no column {unknown[0]!r}: it has {', '.join(rows[0])}")
    rows = [row for row in rows if all(row[name] == str(wanted) for name, wanted in where.items())]
    if not rows:
        raise CourseError(f"nothing in the table {table!r} has {', '.join(f'{k} = {v}' for k, v in where.items())}")
    return rows
