"""What a beam search finds, and what an incorrect one breaks first. A hypothesis is a pair (ids, score); on the way its ids begin with bos."""

from heapq import nlargest
from itertools import pairwise, product

from course_lessons.lesson_07_decoding.tasks._steps import APART, STEPS, drawn_bos
from course_utils.checks.task import Candidate, Case


def beams(step, bos, eos, width, longest):
    """Give the continuations of each round with their scores, the best first, as a correct search finds them."""
    open_ones = {(bos,): 0.0}
    for _ in range(longest):
        scored = {
            (*ids, token): score + more
            for ids, score in open_ones.items()
            for token, more in enumerate(step(list(ids)).double().tolist())
        }
        ranked = nlargest(len(scored), scored, key=scored.get)
        yield [(ids, scored[ids]) for ids in ranked]
        open_ones = {ids: scored[ids] for ids in ranked[:width] if ids[-1] != eos}
        if not open_ones:
            return


def right(step, bos, eos, width, longest):
    """Return what is asked for, computed from the rounds."""
    rounds = list(beams(step, bos, eos, width, longest))
    found = [pair for ranked in rounds for pair in ranked[:width] if pair[0][-1] == eos]
    found += [pair for pair in rounds[-1][:width] if pair[0][-1] != eos]
    return [(list(ids[1:]), score) for ids, score in sorted(found, key=lambda pair: -pair[1])]


def told_apart(step, bos, eos, width, longest):
    """Return whether no two scores that a search compares are so near that rounding could exchange them."""
    rounds = [[score for _, score in ranked] for ranked in beams(step, bos, eos, width, longest)]
    rounds.append([score for _, score in right(step, bos, eos, width, longest)])
    return all(a - b > APART for scores in rounds for a, b in pairwise(scores[: 3 * width]))


def facts(step, bos, eos, width, longest):
    """Return what can be told of a search: how many hypotheses ended in each round, and how many were open in the end."""
    rounds = [ranked[:width] for ranked in beams(step, bos, eos, width, longest)]
    ended = [sum(ids[-1] == eos for ids, _ in kept) for kept in rounds]
    return ended, len(rounds[-1]) - ended[-1]


def case(draw, key, width, longest, name, fits=lambda ended, left: True, apart=tuple, **options):
    """A Case of these sizes, in which fits(how many ended in each round, how many were open in the end).

    The searches that `apart` gives return different things there.
    """
    step = STEPS[key]

    def found(bos):
        sizes = (step, bos, step.eos, width, longest)
        if not fits(*facts(*sizes)) or not told_apart(*sizes):
            return False
        found = [str([ids for ids, _ in search(*sizes)]) for search in apart()]
        return len({*found}) == len(found)

    return Case(name, (Candidate(key), drawn_bos(draw, found), step.eos, width, longest), **options)


def continued(step, open_ones):
    """Every open hypothesis with every id after it."""
    return [
        ([*ids, token], score + more)
        for ids, score in open_ones
        for token, more in enumerate(step(list(ids)).double().tolist())
    ]


def best(hypotheses, number=None):
    """The best of some hypotheses, the best first."""
    return sorted(hypotheses, key=lambda pair: -pair[1])[:number]


def result(hypotheses):
    """The best first, without bos."""
    return [(ids[1:], score) for ids, score in best(hypotheses)]


# What an incorrect result breaks: each is a function of a value and of what the search was given, and returns a sentence or None.


def _log_p(step, bos, ids):
    """The log probability of ids after bos."""
    return sum(step([bos, *ids[:place]])[token].item() for place, token in enumerate(ids))


def every_one(step, bos, eos, longest):
    """Return (log probability, ids) of the most probable of all translations, each looked at."""
    V, found = len(step([bos])), []
    for length in range(1, longest + 1):
        for ids in product(range(V), repeat=length):
            if eos not in ids[:-1] and (ids[-1] == eos or length == longest):
                found.append((_log_p(step, bos, ids), list(ids)))
    return max(found)


def each_is_whole(value, step, bos, eos, width, longest):
    """A hypothesis ends in eos or is as long as is allowed, and holds eos nowhere else."""
    for ids, _ in value:
        if ids[:1] == [bos] and bos != eos:
            return f"You return {ids}, which begins with bos. Leave bos out: return only the ids after it."
        if eos in ids[:-1]:
            return f"You return {ids}, which goes on after eos, {eos}. A hypothesis that ends in eos is set aside and not extended."
        if ids[-1] != eos and len(ids) < longest:
            if ids[-1] == 0:
                return f"You return {ids}, which is shorter than longest = {longest} and ends in 0. Do you treat 0 as eos? Here eos is {eos}."
            return f"You return {ids}, which is shorter than longest = {longest} and does not end in eos, {eos}. Does your search stop while hypotheses are still open, or is eos cut off?"
        if len(ids) > longest:
            return f"You return {len(ids)} ids, but longest is {longest}: eos counts, and bos does not."
    return None


def scores_are_sums(value, step, bos, eos, width, longest):
    """The log probability of a hypothesis is the sum over its ids."""
    sums = [_log_p(step, bos, ids) for ids, _ in value]
    wrong = [(ids, score, own) for (ids, score), own in zip(value, sums, strict=True) if abs(own - score) > 1e-4]
    if not wrong:
        return None
    ids, score, own = wrong[0]
    told = f"You return {ids} with {score:.4g}. The log probabilities of its ids, each given bos and the previous ids, add up to {own:.4g}."
    for digits in range(1, 4):
        near = all(abs(own - score) <= 0.5 * len(ids) / 10**digits for ids, score, own in wrong)
        if near and all(abs(score - round(score, digits)) < 1e-9 for _, score in value):
            return f"{told} All your log probabilities end after {digits} decimal places: do not round."
    without_eos = [own - step([bos, *ids[:-1]])[eos].item() if ids[-1] == eos else own for ids, _, own in wrong]
    if _agree(wrong, without_eos):
        return f"{told} Yours is the sum without eos. It is a word like any other: its log probability counts."
    if _agree(wrong, [_log_p(lambda prefix: step(prefix[1:] or [bos]), bos, ids) for ids, *_ in wrong]):
        return f"{told} Yours is the sum for prefixes without bos: every prefix that you pass to step has to begin with bos."
    return f"{told} Does each score go with its own ids, and is step given the whole prefix?"


def _agree(wrong, sums):
    """Whether wrong scores are these sums."""
    return all(abs(score - one) < 1e-4 for (_, score, _), one in zip(wrong, sums, strict=True))


def none_comes_twice(value, step, bos, eos, width, longest):
    """Continuations of different hypotheses differ."""
    ids = [tuple(ids) for ids, _ in value]
    twice = [one for one in ids if ids.count(one) > 1]
    if twice:
        return f"You return {list(twice[0])} more than once. The search begins with a single hypothesis, [bos], and each hypothesis is extended once."
    return None


def best_first(value, step, bos, eos, width, longest):
    """The most probable hypothesis comes first."""
    worse = next((pair for pair in pairwise(score for _, score in value) if pair[0] < pair[1]), None)
    if worse:
        return f"The most probable should come first; in your result the log probability {worse[0]:.4g} comes before {worse[1]:.4g}, which is larger."
    return None


def wide_enough_is_exhaustive(value, step, bos, eos, width, longest):
    """A beam as wide as all continuations finds the best of all translations."""
    if len(step([bos])) ** longest > width:
        return None
    score, ids = every_one(step, bos, eos, longest)
    if value[0][0] != ids:
        return f"This beam has room for all translations of at most {longest} ids, so none should be lost. The best of them is {ids}, with {score:.4g}; yours is {value[0][0]}, with {value[0][1]:.4g}."
    return None


def the_right_ones(value, step, bos, eos, width, longest):
    """None is missing, and none is there that should not be."""
    if len(value) > 1 and width == 1:
        return f"With a width of 1, one hypothesis is kept at each step, so there is only one at the end; you return {len(value)}."
    expected = [ids for ids, _ in right(step, bos, eos, width, longest)]
    ended = [ids for ids in expected if ids[-1] == eos and ids not in [list(ids) for ids, _ in value]]
    left = [ids for ids in expected if ids[-1] != eos and ids not in [list(ids) for ids, _ in value]]
    more = [list(ids) for ids, _ in value if list(ids) not in expected]
    if ended:
        return f"{ended[0]} is missing: it ends in eos and is among the {width} best of round {len(ended[0])}, so it is set aside for good."
    if left:
        return f"{left[0]} is missing: it is among the {width} best once {longest} ids are written, and belongs in the result although it has not ended."
    if more:
        return f"{more[0]} should not be there: in some round it, or the hypothesis that it extends, is not among the {width} best of all continuations."
    return None


def first_broken(value, *given):
    """Return what is told of a search without a name: what it breaks first."""
    checks = (each_is_whole, none_comes_twice, scores_are_sums, best_first, wide_enough_is_exhaustive, the_right_ones)
    return next(filter(None, (check(value, *given) for check in checks)), None)
