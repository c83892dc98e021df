"""Task 07.greedy: the most probable id at each step."""

from operator import eq

from course_lessons.lesson_07_decoding.tasks import _steps as decoders
from course_utils.base.words import count
from course_utils.checks.task import Candidate, Case, Task

task = Task(
    __name__,
    "the most probable word, one at a time",
    arguments=("step", "bos", "eos", "longest"),
    result="ids",
    candidates=decoders.STEPS,
    suspects=False,
    difficulty=2,
    importance=5,
    minutes=15,
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
            if place == 0 and token == bos:
                return "bos is in your result. Return the ids after it."
            return f"After {[bos, *value[:place]]} the most probable id is {best}, with a log probability of {log_p[best]:.4g}; you write {token}. Do you pass step bos and all ids written so far?"
        if token == eos and place < len(value) - 1:
            return f"Nothing is written after eos, which is {eos}: stop there."
    if len(value) > longest:
        return f"You write {len(value)} ids, but longest is {longest}: eos counts, and bos does not."
    if len(value) < longest and (not value or value[-1] != eos):
        return f"You stop after {len(value)} ids, before eos is written and before the limit of {longest} is reached."
    return None


@task.steps
def _(step, bos, eos, longest):
    prefix = [bos]
    for _ in range(longest):
        log_p = yield "the log probabilities", lambda step, prefix: step(prefix), step, prefix
        token = yield "the most probable id", lambda log_p: int(log_p.argmax()), log_p
        prefix = yield "what is written", lambda prefix, token: [*prefix, token], prefix, token
        if (yield "whether the translation ends", eq, token, eos):
            break
    return prefix[1:]
