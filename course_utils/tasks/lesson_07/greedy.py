"""Task 07.greedy: the most probable id at each step."""

import torch

from course_utils.checks.running.contract import Candidate, Case
from course_utils.checks.task import Task, count
from course_utils.tasks.lesson_07._steps import (
    ELEVEN,
    FIVE,
    LATE,
    SEVEN,
    SOON,
    STEPS,
    STRICT_LATE,
    STRICT_SOON,
    THREE,
    TIED,
    TWO,
    drawn_bos,
    freely,
)

task = Task(
    "07.greedy",
    "the most probable word, one at a time",
    arguments=("step", "bos", "eos", "longest"),
    result="ids",
    candidates=STEPS,
    suspects=False,
    difficulty=2,
    importance=5,
    minutes=15,
    hints=(
        "The decoder says what may come next, given all that has been written. Write down the most probable id, and ask again with one id more. Two things end the loop: eos, and the limit.",
        (
            "Take bos = 1, eos = 0 and longest = 3. step([1]) makes the id 4 the most probable, so 4 is written. step([1, 4]) makes 2 the most probable, and step([1, 4, 2]) makes it 0, which is eos: the "
            "result is [4, 2, 0]. With longest = 2 it is [4, 2], without eos."
        ),
        "ids = an empty list; repeat up to longest times: log_p = step of bos followed by ids; best = the place of its largest number, as an int; append best to ids; stop if best is eos; return ids.",
    ),
)


def _path(step, bos, eos, longest):
    """What a right search writes."""
    prefix = [bos]
    while len(prefix) <= longest and (prefix[-1] != eos or len(prefix) == 1):
        values = step(prefix).tolist()
        prefix.append(values.index(max(values)))
    return prefix[1:]


def _case(draw, key, length, longest, name, fits=lambda ids: True, **options):
    """A case in which a right answer has so many ids, and ends in eos where they are fewer than `longest`."""
    step = STEPS[key]

    def found(bos):
        ids = _path(freely(step), bos, step.eos, 14)
        return len(ids) == length and len(set(ids)) > min(1, length - 1) and fits(ids)

    return Case(name, (Candidate(key), drawn_bos(draw, found), step.eos, longest), **options)


@task.cases
def _(draw):
    yield _case(draw, THREE, 2, 3, "2 ids of 3, eos among them")
    yield _case(draw, FIVE, 3, 7, "3 ids of 5, eos among them")
    yield _case(draw, SEVEN, 4, 7, "4 ids of 7, with eos = 0")
    yield _case(draw, SOON, 1, 5, "eos at once")
    yield _case(draw, FIVE, 5, 5, "eos as the last id that is allowed")
    yield _case(draw, ELEVEN, 7, 4, "cut off after 4 ids")
    yield _case(draw, SEVEN, 5, 3, "cut off after 3 ids, with eos = 0", lambda ids: 0 not in ids[:3])
    yield _case(draw, TWO, 4, 9, "a vocabulary of 2 ids")
    yield _case(draw, TIED, 4, 7, "two ids equally probable", lambda ids: max(ids[:-1]) > 0)
    yield _case(draw, FIVE, 4, 1, "a single id", edge=True)
    inside = [
        (key, bos)
        for key in (SEVEN, ELEVEN, LATE)
        for bos in range(1, STEPS[key].V)
        if bos in _path(STEPS[key], bos, STEPS[key].eos, 12)[:-1]
    ]
    key, bos = inside[int(draw.whole(0, len(inside)))]
    yield Case("bos among the words", (Candidate(key), bos, STEPS[key].eos, 12), edge=True)
    yield _case(draw, STRICT_SOON, 2, 7, "a step that refuses what comes behind eos", edge=True)
    yield _case(draw, STRICT_LATE, 14, 3, "a step that refuses more than 3 ids", edge=True)
    yield Case(count(13, "id"), (Candidate(LATE), int(draw.whole(100, 10**6)), STEPS[LATE].eos, 13), edge=True)


@task.oracle
def _(step, bos, eos, longest):
    return _path(step, bos, eos, longest)


@task.property
def the_first_id_is_the_most_probable(case, value):
    """Each id is the most probable one behind those before it."""
    key, bos, eos, longest = case.args
    step = freely(task.candidate(key.key))
    for place, token in enumerate(value):
        log_p = step([bos, *value[:place]])
        best = int(log_p.argmax())
        if token != best:
            return f"Behind {[bos, *value[:place]]} the most probable id is {best}, with the log probability {log_p[best]:.4g}; you write {token}. Is step given bos and all ids that are written so far?"
        if token == eos and place < len(value) - 1:
            return f"Behind eos, which is {eos}, nothing is written any more: stop there."
    if len(value) > longest:
        return f"You write {len(value)} ids, and longest is {longest}: eos counts, and bos does not."
    if len(value) < longest and (not value or value[-1] != eos):
        return (
            f"You stop after {len(value)} ids, before eos has come and before there are {longest}, which is the limit."
        )
    return None


def _greedily(step, bos, eos, longest, given=lambda prefix: prefix, choose=lambda log_p: int(log_p.argmax())):
    """A right search, in which what step is given and how an id is chosen may be altered."""
    prefix = [bos]
    for _ in range(longest):
        prefix.append(choose(step(given(prefix))))
        if prefix[-1] == eos:
            break
    return prefix[1:]


@task.mistake("bos stands in your result. Return the ids behind it.")
def bos_kept(step, bos, eos, longest):
    return [bos, *_greedily(step, bos, eos, longest)]


@task.mistake(
    "eos is missing at the end of your result. It says that the translation is finished, and not cut off: leave it in."
)
def eos_dropped(step, bos, eos, longest):
    return [token for token in _greedily(step, bos, eos, longest) if token != eos]


@task.mistake(
    "The last id is always missing, be it eos or a word. Append each id before you ask whether the loop ends."
)
def last_dropped(step, bos, eos, longest):
    return _greedily(step, bos, eos, longest)[:-1]


@task.mistake("You go on behind eos, up to `longest`. Stop when eos has been written.")
def not_stopped(step, bos, eos, longest):
    return _greedily(step, bos, None, longest)


@task.mistake(
    "You ask with the last id alone, as a decoder with a state of its own is asked. This one keeps nothing between two calls: give step bos and all ids so far."
)
def last_id_alone(step, bos, eos, longest):
    return _greedily(step, bos, eos, longest, lambda prefix: prefix[-1:])


@task.mistake("bos is missing in what you give to step: the prefix begins with it.")
def without_bos(step, bos, eos, longest):
    return _greedily(step, bos, eos, longest, lambda prefix: prefix[1:])


@task.mistake(
    "You ask with bos alone each time, so the same id comes again and again. Give step all ids that are written so far."
)
def bos_alone(step, bos, eos, longest):
    return _greedily(step, bos, eos, longest, lambda prefix: prefix[:1])


@task.mistake("The prefix is in reverse order: you put each new id in front. bos comes first, and the newest id last.")
def prefix_reversed(step, bos, eos, longest):
    return _greedily(step, bos, eos, longest, lambda prefix: prefix[::-1])


@task.mistake("You keep bos in front and put each new id right behind it. Append it at the end.")
def newest_behind_bos(step, bos, eos, longest):
    return _greedily(step, bos, eos, longest, lambda prefix: [bos, *prefix[:0:-1]])


@task.mistake("You write one id too few where eos does not come: bos does not count towards `longest`.")
def bos_counted(step, bos, eos, longest):
    return _greedily(step, bos, eos, longest - 1)


@task.mistake("You write one id too many where eos does not come: at most `longest` ids are asked for.")
def one_too_many(step, bos, eos, longest):
    return _greedily(step, bos, eos, longest + 1)


@task.mistake(
    "`longest` has no effect: you go on until eos comes. A decoder may never write it, so stop after `longest` ids."
)
def longest_unused(step, bos, eos, longest):
    return _greedily(step, bos, eos, 100)


@task.mistake(
    "You take the least probable id. Log probabilities are negative, so the one nearest to 0 belongs to the most probable: take the largest."
)
def least_probable(step, bos, eos, longest):
    return _greedily(step, bos, eos, longest, choose=lambda log_p: int(log_p.argmin()))


@task.mistake(
    "Where two ids are equally probable, you take the larger one. Take the smallest, as `argmax` does on the CPU."
)
def largest_of_ties(step, bos, eos, longest):
    return _greedily(step, bos, eos, longest, choose=lambda log_p: int((log_p == log_p.max()).nonzero()[-1]))


@task.mistake("You put eos at the end also where the limit cuts the translation off. Return what was written.")
def eos_added(step, bos, eos, longest):
    ids = _greedily(step, bos, eos, longest)
    return ids if ids[-1] == eos else [*ids, eos]


@task.mistake("You put eos in place of the last id where the limit cuts the translation off. Return what was written.")
def eos_forced(step, bos, eos, longest):
    ids = _greedily(step, bos, eos, longest)
    return ids if ids[-1] == eos else [*ids[:-1], eos]


@task.mistake("You never write eos: its probability is left out, and the search goes on with the next best id.")
def eos_never_chosen(step, bos, eos, longest):
    def choose(log_p):
        log_p[eos] = -torch.inf
        return int(log_p.argmax())

    return _greedily(step, bos, eos, longest, choose=choose)


@task.mistake("You stop at bos. It is an id like any other when it is written; eos ends the translation.")
def stops_at_bos(step, bos, eos, longest):
    prefix = [bos]
    for _ in range(longest):
        prefix.append(int(step(prefix).argmax()))
        if prefix[-1] in (bos, eos):
            break
    return prefix[1:]


@task.mistake("You stop at the id 0, whatever eos is. Compare with the eos that is given.")
def stops_at_zero(step, bos, eos, longest):
    return _greedily(step, bos, 0, longest)


@task.mistake("You return one id, the most probable first one. Ask again with each id that you write.")
def first_id_alone(step, bos, eos, longest):
    return _greedily(step, bos, eos, 1)


@task.mistake(
    "Your translation comes back in reverse order, the last id first. Step was asked rightly: return the ids in the order in which they were written."
)
def handed_back_reversed(step, bos, eos, longest):
    return _greedily(step, bos, eos, longest)[::-1]


@task.mistake(
    "You put each new id in front of the others, so what step is given and what you return both stand in reverse order behind bos. Append each new id at the end."
)
def written_in_front(step, bos, eos, longest):
    return _greedily(step, bos, eos, longest, lambda prefix: [bos, *prefix[:0:-1]])[::-1]
