"""Task 07.greedy: the most probable id at each step."""

from operator import eq

from course_lessons.lesson_07_decoding.tasks import _steps as decoders
from course_utils.checks.running.contract import Candidate, Case
from course_utils.checks.task import Task, count

task = Task(
    "07.greedy",
    "the most probable word, one at a time",
    arguments=("step", "bos", "eos", "longest"),
    result="ids",
    candidates=decoders.STEPS,
    suspects=False,
    difficulty=2,
    importance=5,
    minutes=15,
    hints=(
        "The decoder says what may come next, given everything written so far. Write the most probable id and call step again with the longer prefix. Two things end the loop: eos and the limit.",
        (
            "Take bos = 1, eos = 0 and longest = 3. step([1]) makes the id 4 the most probable, so 4 is written. step([1, 4]) makes 2 the most probable, and step([1, 4, 2]) makes it 0, which is eos: the "
            "result is [4, 2, 0]. With longest = 2 it is [4, 2], without eos."
        ),
        "ids = an empty list; repeat up to longest times: log_p = step of bos followed by ids; best = the index of its largest number, as an int; append best to ids; stop if best is eos; return ids.",
    ),
)


def _path(step, bos, eos, longest):
    """What a correct search writes."""
    prefix = [bos]
    while len(prefix) <= longest and (prefix[-1] != eos or len(prefix) == 1):
        values = step(prefix).tolist()
        prefix.append(values.index(max(values)))
    return prefix[1:]


def _case(draw, key, length, longest, name, fits=lambda ids: True, **options):
    """A case in which a correct answer has so many ids, and ends in eos where they are fewer than `longest`."""
    step = decoders.STEPS[key]

    def found(bos):
        ids = _path(decoders.freely(step), bos, step.eos, 14)
        return len(ids) == length and len(set(ids)) > min(1, length - 1) and fits(ids)

    return Case(name, (Candidate(key), decoders.drawn_bos(draw, found), step.eos, longest), **options)


@task.cases
def _(draw):
    yield _case(draw, decoders.THREE, 2, 3, "2 ids of 3, eos among them")
    yield _case(draw, decoders.FIVE, 3, 7, "3 ids of 5, eos among them")
    yield _case(draw, decoders.SEVEN, 4, 7, "4 ids of 7, with eos = 0")
    yield _case(draw, decoders.SOON, 1, 5, "eos at once")
    yield _case(draw, decoders.FIVE, 5, 5, "eos as the last id that is allowed")
    yield _case(draw, decoders.ELEVEN, 7, 4, "cut off after 4 ids")
    yield _case(draw, decoders.SEVEN, 5, 3, "cut off after 3 ids, with eos = 0", lambda ids: 0 not in ids[:3])
    yield _case(draw, decoders.TWO, 4, 9, "a vocabulary of 2 ids")
    yield _case(draw, decoders.TIED, 4, 7, "two ids equally probable", lambda ids: max(ids[:-1]) > 0)
    yield _case(draw, decoders.FIVE, 4, 1, "a single id", edge=True)
    inside = [
        (key, bos)
        for key in (decoders.SEVEN, decoders.ELEVEN, decoders.LATE)
        for bos in range(1, decoders.STEPS[key].V)
        if bos in _path(decoders.STEPS[key], bos, decoders.STEPS[key].eos, 12)[:-1]
    ]
    key, bos = inside[int(draw.whole(0, len(inside)))]
    yield Case("bos among the words", (Candidate(key), bos, decoders.STEPS[key].eos, 12), edge=True)
    yield _case(draw, decoders.STRICT_SOON, 2, 7, "a step that refuses prefixes with eos", edge=True)
    yield _case(draw, decoders.STRICT_LATE, 14, 3, "a step that refuses more than 3 ids", edge=True)
    yield Case(
        count(13, "id"),
        (Candidate(decoders.LATE), int(draw.whole(100, 10**6)), decoders.STEPS[decoders.LATE].eos, 13),
        edge=True,
    )


@task.property
def the_first_id_is_the_most_probable(case, value):
    """Each id is the most probable one after those before it."""
    key, bos, eos, longest = case.args
    step = decoders.freely(task.candidate(key.key))
    for place, token in enumerate(value):
        log_p = step([bos, *value[:place]])
        best = int(log_p.argmax())
        if token != best:
            return f"After {[bos, *value[:place]]} the most probable id is {best}, with a log probability of {log_p[best]:.4g}; you write {token}. Do you pass step bos and all ids written so far?"
        if token == eos and place < len(value) - 1:
            return f"Nothing is written after eos, which is {eos}: stop there."
    if len(value) > longest:
        return f"You write {len(value)} ids, but longest is {longest}: eos counts, and bos does not."
    if len(value) < longest and (not value or value[-1] != eos):
        return f"You stop after {len(value)} ids, before eos is written and before the limit of {longest} is reached."
    return None


CHOSEN, WRITTEN, ENDS = "the most probable id", "what is written", "whether the translation ends"


@task.steps
def _(step, bos, eos, longest):
    prefix = [bos]
    for _ in range(longest):
        log_p = yield "the log probabilities", lambda step, prefix: step(prefix), step, prefix
        token = yield CHOSEN, lambda log_p: int(log_p.argmax()), log_p
        prefix = yield WRITTEN, lambda prefix, token: [*prefix, token], prefix, token
        if (yield ENDS, eq, token, eos):
            break
    return prefix[1:]


decoders.prefix_mistakes(task)
task.changed_each(
    ("bos_alone", "You call step with only bos each time, so you get the same id again and again. Pass it all ids written so far.", decoders.asked_with(lambda prefix: prefix[:1])),
    ("prefix_reversed", "The prefix is in reverse order: you put each new id in front. bos comes first, and the newest id last.", decoders.asked_with(lambda prefix: prefix[::-1])),
)  # fmt: skip
task.changed(
    "written_in_front",
    "You put each new id in front of the others, so the prefix that you pass to step and the ids that you return are both in reverse order after bos. Append each new id at the end.",
    {WRITTEN: lambda prefix, token: [prefix[0], token, *prefix[1:]]},
)

# When it ends

task.changed_each(
    ("not_stopped", "You go on after eos, up to `longest`. Stop when eos has been written.", {"eos": lambda eos: None}),
    ("stops_at_zero", "You stop at id 0, whatever eos is. Compare with the argument eos instead.", {"eos": lambda eos: 0}),
    ("one_too_many", "You write one id too many if eos does not appear: write at most `longest` ids.", {"longest": lambda n: n + 1}),
    ("longest_unused", "`longest` has no effect: you go on until eos appears. A decoder may never write it, so stop after `longest` ids.", {"longest": lambda n: 100}),
)  # fmt: skip

# Which id is chosen

task.changed_each(
    ("least_probable", "You write the least probable id. Log probabilities are negative, so the most probable id has the one nearest to 0: choose the largest.", {CHOSEN: lambda log_p: int(log_p.argmin())}),
    ("largest_of_ties", "If two ids are equally probable, you write the larger one. Write the smallest, as `argmax` does on the CPU.", {CHOSEN: lambda log_p: int((log_p == log_p.max()).nonzero()[-1])}),
)  # fmt: skip

# What is returned

task.changed_each(
    ("bos_kept", "bos is in your result. Return the ids after it.", {"result": lambda ids, *, bos: [bos, *ids]}),
    ("eos_dropped", "eos is missing at the end of your result. It says that the translation is finished, not cut off: leave it in.", {"result": lambda ids, *, eos: [token for token in ids if token != eos]}),
    ("last_dropped", "The last id is always missing, whether it is eos or a word. Append each id before you check whether the loop ends.", {"result": lambda ids: ids[:-1]}),
    ("bos_counted", "You write one id too few if eos does not appear: bos does not count towards `longest`.", {"result": lambda ids, *, longest: ids[: longest - 1]}),
    ("eos_added", "You put eos at the end even if the limit cuts the translation off. Return what was written.", {"result": lambda ids, *, eos: ids if ids[-1] == eos else [*ids, eos]}),
    ("handed_back_reversed", "You return your translation in reverse order, the last id first. You call step correctly, but return the ids in the order in which they were written.", {"result": lambda ids: ids[::-1]}),
)  # fmt: skip
