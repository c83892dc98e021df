"""Task 07.catch_wrong_beam: a test that tells right beam searches from wrong ones."""

from contextlib import suppress
from functools import lru_cache, partial, wraps
from itertools import pairwise
from zlib import crc32

import torch

from course_lessons.lesson_07_decoding.tasks._beams import beams, best, result, right
from course_lessons.lesson_07_decoding.tasks.beam_search import KEPT
from course_lessons.lesson_07_decoding.tasks.beam_search import task as beam_search
from course_lessons.shared.candidate_tests import MistakenTests, one_case_each
from course_utils.checks.compare import describe
from course_utils.checks.running.contract import UsageError
from course_utils.checks.task import Task
from course_utils.models import minimal

variant, wrong = beam_search.variant, beam_search.wrong

CALLS_AT_MOST = 300  # of step, in one search: a wide and long one takes its time, above all where a class is graded
EQUAL = 1e-9  # scores that are as near as this are equal up to rounding

# The candidates: right ones written differently, wrong ones that the prompt shows, wrong ones that it does not.


def right_by_topk(step, bos, eos, width, longest):
    """In float32, with a matrix of all continuations."""
    prefixes, scores, found = [[bos]], torch.zeros(1), []
    for _ in range(longest):
        total = scores[:, None] + torch.stack([step(prefix).float() for prefix in prefixes])  # K V
        values, places = total.flatten().topk(min(width, total.numel()))
        V = total.shape[1]
        kept = [([*prefixes[p // V], p % V], v) for p, v in zip(places.tolist(), values.tolist(), strict=True)]
        found += [pair for pair in kept if pair[0][-1] == eos]
        kept = [pair for pair in kept if pair[0][-1] != eos]
        prefixes, scores = [ids for ids, _ in kept], torch.tensor([score for _, score in kept])
        if not kept:
            break
    return result(found + kept)


def right_from_the_far_end(step, bos, eos, width, longest):
    """Each score is added up from the last id to the first."""
    found = [(ids, [bos, *ids]) for ids, _ in minimal.beam_search(step, bos, eos, width, longest)]
    return [(ids, sum(step(whole[:n])[whole[n]].item() for n in range(len(ids), 0, -1))) for ids, whole in found]


def _only_where_there_are_enough(pairs, width):
    return [pairs[place] for place in torch.tensor([score for _, score in pairs]).topk(width).indices.tolist()]


RIGHT = {
    right: "a correct search, with a dict of prefixes",
    right_by_topk: "a correct search in float32, with topk",
    right_from_the_far_end: "a correct search that adds up from the last id to the first",
}


WRONG = {
    wrong("ended_lost"): "an incorrect search: ended hypotheses are lost",
    wrong("ended_extended"): "an incorrect search: ended hypotheses are extended",
    wrong("ended_keep_their_place"): "an incorrect search: ended hypotheses compete with open ones",
    wrong("width_for_each"): "an incorrect search: the width applies to each hypothesis separately",
    wrong("worst_first"): "an incorrect search: sorted the wrong way",
    wrong("probabilities_added"): "an incorrect search: probabilities are added",
    wrong("eos_dropped"): "an incorrect search: eos is dropped",
    wrong("first_end_returned"): "an incorrect search: it stops at the first eos",
    wrong("open_lost"): "an incorrect search: hypotheses still open at the end are lost",
    wrong("one_for_each"): "an incorrect search: each hypothesis keeps one continuation, its best",
    wrong("as_set_aside"): "an incorrect search: the result is not sorted",
    wrong("worst_kept"): "an incorrect search: it keeps the worst continuations",
    wrong("mean_returned"): "an incorrect search: it returns the mean log probability",
    wrong("eos_not_counted"): "an incorrect search: the log probability of eos does not count",
    wrong("eos_added"): "an incorrect search: eos is appended to hypotheses still open at the end",
    wrong("stops_at_the_first_end"): "an incorrect search: it stops when the first hypothesis ends",
    wrong("stops_when_the_best_ends"): "an incorrect search: it stops when the best hypothesis ends",
    wrong("stops_with_width_ended"): "an incorrect search: it stops when `width` hypotheses have ended",
    wrong("cut_to_width"): "an incorrect search: it returns at most `width` hypotheses",
    wrong("best_alone"): "an incorrect search: it returns only the best hypothesis",
    wrong("width_unused"): "an incorrect search: the width has no effect",
    wrong("one_too_narrow"): "an incorrect search: the beam is one too narrow",
    wrong("width_open_ones"): "an incorrect search: ended hypotheses do not count towards the width",
    wrong("every_end_set_aside"): "an incorrect search: every hypothesis that ends is set aside, even outside the beam",
    wrong("last_id_alone"): "an incorrect search: step is given only the last id",
    wrong("bos_kept"): "an incorrect search: bos stays at the beginning of the results",
    wrong("bos_counted"): "an incorrect search: bos counts towards the length",
    wrong("wrong_parents"): "an incorrect search: continuations are appended to the wrong hypotheses",
    wrong("begins_with_copies"): "an incorrect search: it begins with several copies of bos",
    wrong("probabilities_returned"): "an incorrect search: it returns probabilities instead of their logarithms",
    wrong("zero_for_eos"): "an incorrect search: it treats id 0 as eos",
    variant({KEPT: _only_where_there_are_enough}): "an incorrect search: it fails if there are fewer continuations than `width`",
    variant({"result": lambda pairs: [(ids, round(score, 2)) for ids, score in pairs]}): "an incorrect search: log probabilities rounded to two decimal places",
    variant({"result": lambda pairs: [(ids, round(score, 4)) for ids, score in pairs]}): "an incorrect search: log probabilities rounded to four decimal places",
    lambda step, bos, eos, width, longest: right(step, bos, len(step([bos])) - 1, width, longest): "an incorrect search: it treats the last id as eos",
}  # fmt: skip


def _asking(search):
    """A candidate: it gives step a list of its own, does not ask without end, and says where a test breaks the rules of the prompt.

    It says so of what a correct search asks too, so that this tells nobody which candidate is right.
    """

    @wraps(search)
    def candidate(step, bos, eos, width, longest):
        if width < 1 or longest < 1:
            raise UsageError(
                f"Your test calls a candidate with width = {width} and longest = {longest}. Both have to be at least 1."
            )
        gave, calls = {}, 0

        def asked(prefix):
            nonlocal calls
            calls += tuple(prefix) not in gave  # who asks again for what it has got takes no more of the search
            if calls > CALLS_AT_MOST:
                if gave.keys() <= _as_a_right_one(gave, bos, eos, width, longest)[1]:
                    raise UsageError(
                        f"Your search is too large: with width = {width} and longest = {longest} a correct candidate may call `step` more than {CALLS_AT_MOST} times and is then stopped. Use smaller numbers: a width of 3 with a "
                        "longest of 4, and a width above V with a longest of 2, are enough."
                    )
                raise RuntimeError(f"step has been called {CALLS_AT_MOST} times")
            log_p, ids = step(list(prefix)), tuple(prefix)
            allowed = ids[:1] == (bos,) and len(ids) <= longest and eos not in ids[1:]
            problem = _problem(log_p, gave.get(ids)) if allowed else None
            if problem:
                raise UsageError(problem)
            gave[ids] = log_p.detach().clone()
            return gave[ids].clone()

        found = search(asked, bos, eos, width, longest)
        problem = _equal_scores(gave, bos, eos, width, longest)
        if problem:
            raise UsageError(problem)
        return found

    return candidate


def _problem(log_p, before):
    """What is wrong with what step gives, and with what it gave before for the same prefix; None for nothing."""
    if not isinstance(log_p, torch.Tensor) or log_p.dim() != 1 or not log_p.is_floating_point():
        return f"Your `step` should return a tensor with one axis and V floating-point numbers, but it returns {describe(log_p)}."
    if not log_p.isfinite().all():
        return "Your `step` returns a number that is not finite. All its logarithms should be finite; give a very improbable id -20, for example."
    if before is not None and not (before.shape == log_p.shape and torch.allclose(before, log_p.detach(), atol=1e-6)):
        return "Your `step` returns different numbers when it is called with the same prefix again. Compute them only from the ids of the prefix, for example with a generator seeded by these ids."
    return None


def _as_a_right_one(gave, bos, eos, width, longest):
    """How a correct search goes with what step gave, as far as it gave it: the continuations of each round, and what is asked for."""
    rounds, prefixes = [], {(bos,)}
    with suppress(KeyError):
        for ranked in beams(lambda ids: gave[tuple(ids)], bos, eos, width, longest):
            rounds.append(ranked)
            prefixes.update(ids for ids, _ in ranked[:width] if ids[-1] != eos)
    return rounds, prefixes


def _equal_scores(gave, bos, eos, width, longest):
    """Say which scores are equal where that changes what a correct search keeps, or in which order it returns them."""
    rounds, _ = _as_a_right_one(gave, bos, eos, width, longest)
    met = [ranked[width - 1 : width + 1] for ranked in rounds]
    left = rounds[-1] if len(rounds) == longest else []
    met.append(best([pair for ranked in rounds for pair in ranked[:width] if pair[0][-1] == eos or ranked is left]))
    for (a, score), (b, other) in (pair for pairs in met for pair in pairwise(pairs) if len(pairs) > 1):
        if abs(score - other) < EQUAL:
            alike = len(gave) > 1 and len({repr(log_p.tolist()) for log_p in gave.values()}) == 1
            why = "Your `step` gives the same numbers for every prefix. " if alike else ""
            return (
                f"{why}After bos, {list(a[1:])} and {list(b[1:])} get the same score, so neither is better than the other. Let `step` return random numbers that depend on every id of the "
                "prefix: then no two scores are equal."
            )
    return None


task = Task(
    __name__,
    "a test that tells correct beam searches from incorrect ones",
    arguments=("candidate",),
    result="verdict",
    candidates=tuple(map(_asking, (*RIGHT, *WRONG))),
    difficulty=4,
    importance=4,
    minutes=30,
    offers=("models.minimal.beam_search",),
)


one_case_each(task, RIGHT, WRONG)


@lru_cache(maxsize=2**15)
def _log_p(seed, eos, ends, prefix):
    draw = torch.Generator().manual_seed(crc32(repr((seed, prefix)).encode()))
    scores = 1.2 * torch.randn(5, generator=draw)
    scores[eos] += ends
    return scores.log_softmax(0)


def _decoder(seed, eos, ends, last_alone):
    return lambda prefix: _log_p(seed, eos, ends, tuple(prefix[-1:] if last_alone else prefix)).clone()


@lru_cache(maxsize=1000)
def _right(width, longest, eos, *decoder):
    return tuple(minimal.beam_search(_decoder(*decoder), 9, eos, width, longest))


SEEDS = (3, 6, 8)  # of decoders that show every wrong candidate
ALL_END = (1, 34, 86)  # of decoders with which a beam of 2 ends by itself, where 0.5 is added for eos


def _all(right, came):
    """Whether two results agree, up to rounding."""
    return len(right) == len(came) and _pairs(right, came)


def _pairs(right, came, ids=True, scores=True):
    """Whether the pairs that both results have agree."""
    return all(
        (not ids or list(a[0]) == list(b[0])) and (not scores or abs(a[1] - b[1]) <= 1e-5)
        for a, b in zip(right, came, strict=False)
    )


def _test(candidate, sizes=((3, 4), (7, 2)), seeds=SEEDS, eos=2, ends=0.0, last_alone=False, compare=_all):
    """A test like the solution's, in which things may be left out: sizes are pairs of width and longest."""
    for decoder in ((seed, eos, ends, last_alone) for seed in seeds):
        for size in sizes:
            if not compare(_right(*size, eos, *decoder), candidate(_decoder(*decoder), 9, eos, *size)):
                return False
    return True


def _as_many(compare):
    """A comparison of two results that also asks for as many pairs."""
    return lambda right, came: len(right) == len(came) and compare(right, came)


mistaken = MistakenTests(task, _test)
mistaken("no_rounding", compare=lambda right, came: list(right) == list(came))
mistaken("runs_at_all", compare=lambda right, came: isinstance(came, list))
mistaken("best_compared", seeds=range(8), compare=lambda right, came: _pairs(right[:1], came[:1]))
mistaken("ids_compared", compare=_as_many(partial(_pairs, scores=False)))
mistaken("scores_compared", compare=_as_many(partial(_pairs, ids=False)))
mistaken("length_not_compared", seeds=range(8), compare=_pairs)
mistaken("order_not_compared", compare=lambda right, came: _all(sorted(right), sorted(came)))
mistaken("width_one", sizes=((1, 4), (1, 6)))
mistaken("wide_alone", sizes=((80, 3),))
mistaken("one_round", sizes=((3, 1), (7, 1)))
mistaken("nothing_ends", sizes=((3, 4), (4, 3)), ends=-30.0)
mistaken("everything_ends", sizes=((2, 9),), seeds=ALL_END, ends=0.5)

LEFT_OUT = {  # what a test may leave out, and what that changes
    "wide": ("sizes", ((3, 4),)),
    "eos": ("eos", 0),
    "prefix": ("last_alone", True),
}


mistaken.without(LEFT_OUT, len(LEFT_OUT))
