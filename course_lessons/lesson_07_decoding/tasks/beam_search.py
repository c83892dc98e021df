"""Task 07.beam_search: the most probable beginnings, several at a time."""

from operator import add, not_

import torch

from course_lessons.lesson_07_decoding.tasks import _steps as decoders
from course_lessons.lesson_07_decoding.tasks._beams import best, case, continued, first_broken, right
from course_utils.checks.task import Task

task = Task(
    __name__,
    "several beginnings at a time",
    arguments=("step", "bos", "eos", "width", "longest"),
    result="hypotheses",
    candidates=decoders.STEPS,
    suspects=False,
    difficulty=4,
    importance=5,
    minutes=40,
)


@task.canonical
def _(case, value):
    """A score may be a tensor with one number."""
    if not isinstance(value, (list, tuple)):
        return value

    def read(pair):
        if not isinstance(pair, (list, tuple)) or len(pair) != 2 or not isinstance(pair[1], torch.Tensor):
            return pair
        return (pair[0], pair[1].item()) if pair[1].numel() == 1 and pair[1].is_floating_point() else pair

    return [read(pair) for pair in value]


def _stopped_early():
    return map(task.wrong, ("stops_when_the_best_ends", "stops_when_not_to_be_beaten_and_keeps_the_open"))


def _kept_otherwise():
    names = ("ended_keep_their_place", "narrower_with_each_end", "every_end_set_aside", "width_open_ones")
    return right, *map(task.wrong, (*names, "best_end_returned", "stops_when_not_to_be_beaten"))


@task.cases
def _(draw):
    for key, *sizes_and_what_it_shows in (
        (decoders.THREE, 2, 2, "width 2, at most 2 ids of 3", lambda ended, left: ended == [1, 0] and left == 2),
        (decoders.FIVE, 2, 4, "width 2, at most 4 ids of 5", lambda ended, left: ended[1] == 1 and left == 2),
        (decoders.SEVEN, 3, 4, "width 3, at most 4 ids of 7", lambda ended, left: ended[0] and sum(ended) == 3 and left, _stopped_early),
        (decoders.SOON, 3, 5, "width 3, more than 3 that end", lambda ended, left: ended[0] and sum(ended) > 4 and left == 0),
        (decoders.FIVE, 3, 5, "width 3, at most 5 ids of 5", lambda ended, left: ended[0] and left, _kept_otherwise),
        (decoders.FIVE, 1, 5, "width 1", lambda ended, left: len(ended) == 3),
        (decoders.ELEVEN, 5, 3, "width 5, at most 3 ids of 11", lambda ended, left: ended[0] and ended[1] and left),
        (decoders.TWO, 5, 4, "width 5, wider than all at first, 2 ids", lambda ended, left: sum(ended) > 2),
        (decoders.THREE, 81, 4, "as wide as all continuations"),
        (decoders.SOON, 2, 9, "width 2, all end before the limit", lambda ended, left: 3 < len(ended) < 8),
    ):  # fmt: skip
        yield case(draw, key, *sizes_and_what_it_shows)
    for key, *sizes_and_what_it_shows in (
        (decoders.FIVE, 3, 1, "a single id", lambda ended, left: ended == [1]),
        (decoders.SOON, 1, 3, "width 1, eos at once", lambda ended, left: ended == [1]),
        (decoders.LATE, 2, 10, "width 2, 10 ids, no eos"),
        (decoders.STRICT_SOON, 2, 7, "a step that refuses prefixes with eos", lambda ended, left: left == 0),
        (decoders.STRICT_LATE, 2, 3, "a step that refuses more than 3 ids"),
    ):
        yield case(draw, key, *sizes_and_what_it_shows, edge=True)


@task.property
def first_thing_broken(case, value):
    """What is told of a search without a name."""
    key, *sizes = case.args
    return first_broken(value, decoders.freely(task.candidate(key.key)), *sizes)


KEPT = "those that are kept"


@task.steps
def _(step, bos, eos, width, longest):
    open_ones, ended = [([bos], 0.0)], []
    for _ in range(longest):
        pairs = yield "the continuations", continued, step, open_ones
        kept = yield KEPT, best, pairs, width
        ended = yield (
            "what is set aside",
            lambda ended, kept: ended + [pair for pair in kept if pair[0][-1] == eos],
            ended,
            kept,
        )
        open_ones = yield "those that are open", lambda kept: [pair for pair in kept if pair[0][-1] != eos], kept
        if (yield "whether the search is over", not_, open_ones):
            break
    found = yield "the finished and the open ones", add, ended, open_ones
    ranked = yield "the best first", best, found
    return [(ids[1:], score) for ids, score in ranked]


def until_so_many_are_open(continuations, width, eos):
    """Return the best continuations, as many as it takes until `width` of them are open."""
    places = [place for place, (ids, _) in enumerate(continuations) if ids[-1] != eos]
    return continuations[: places[width - 1] + 1] if len(places) >= width else continuations


def with_other_parents(kept, open_ones):
    """Return continuations with the beginning of the hypothesis that had the same place in the last beam."""
    parents = [ids for ids, _ in open_ones[: len(kept)]] + [ids[:-1] for ids, _ in kept[len(open_ones) :]]
    return [(parent + ids[-1:], score) for parent, (ids, score) in zip(parents, kept, strict=True)]
