"""Task 07.beam_search: the most probable beginnings, several at a time."""

from heapq import nlargest
from itertools import pairwise, product

import torch

from course_utils.checks.running.contract import Candidate, Case
from course_utils.checks.task import Task
from course_utils.tasks.lesson_07._steps import (
    APART,
    ELEVEN,
    FIVE,
    LATE,
    SEVEN,
    SOON,
    STEPS,
    STRICT_LATE,
    STRICT_SOON,
    THREE,
    TWO,
    drawn_bos,
    freely,
)

task = Task(
    "07.beam_search",
    "several beginnings at a time",
    arguments=("step", "bos", "eos", "width", "longest"),
    result="hypotheses",
    candidates=STEPS,
    suspects=False,
    difficulty=4,
    importance=5,
    minutes=40,
    hints=(
        "Keep two lists: hypotheses that are open, and hypotheses that are set aside. In each round every open one is continued by every id, and all these continuations compete with one another. Those among the "
        "best that end in eos leave the race; they do not take a place in the next round.",
        (
            "Take eos = 0, two more ids, 1 and 2, and width = 2. After bos the three probabilities are 0.1, 0.4 and 0.5: [2] and [1] are kept. Behind [2] they are 0.34, 0.335 and 0.325, behind [1] they are 0.9, 0.06 "
            "and 0.04. The six continuations have the probabilities 0.5 · 0.34 = 0.17, 0.1675, 0.1625, 0.4 · 0.9 = 0.36, 0.024 and 0.016. The two best are [1, 0] with 0.36 and [2, 0] with 0.17. Both end in eos, so nothing "
            "is open and the search ends. Greedy search would have found [2, 0] alone."
        ),
        "open = a list with one pair, ([bos], 0.0); ended = []; repeat longest times: all = for each open pair (ids, score) and each id with its log probability: (ids and that id, score plus log probability); sort all, the largest "
        "score first, and keep the first `width`; append those that end in eos to ended; open = the others. At the end take ended and open together, sort them, and cut bos off.",
    ),
)


@task.reading
def _(case, value):
    """A score may be a tensor with one number."""
    if not isinstance(value, (list, tuple)):
        return value

    def read(pair):
        if not isinstance(pair, (list, tuple)) or len(pair) != 2 or not isinstance(pair[1], torch.Tensor):
            return pair
        return (pair[0], pair[1].item()) if pair[1].numel() == 1 and pair[1].is_floating_point() else pair

    return [read(pair) for pair in value]


def beams(step, bos, eos, width, longest):
    """Give the continuations of each round with their scores, the best first, as a right search finds them."""
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


@task.oracle
def _(step, bos, eos, width, longest):
    return right(step, bos, eos, width, longest)


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

    The wrong searches that `apart` gives return different things there.
    """
    step = STEPS[key]

    def found(bos):
        sizes = (step, bos, step.eos, width, longest)
        if not fits(*facts(*sizes)) or not told_apart(*sizes):
            return False
        return len({str([ids for ids, _ in wrong(*sizes)]) for wrong in apart()}) == len(apart())

    return Case(name, (Candidate(key), drawn_bos(draw, found), step.eos, width, longest), **options)


@task.cases
def _(draw):
    yield case(draw, THREE, 2, 2, "width 2, at most 2 ids of 3", lambda ended, left: ended == [1, 0] and left == 2)
    yield case(draw, FIVE, 2, 4, "width 2, at most 4 ids of 5", lambda ended, left: ended[1] == 1 and left == 2)
    yield case(
        draw,
        SEVEN,
        3,
        4,
        "width 3, at most 4 ids of 7",
        lambda ended, left: ended[0] and sum(ended) == 3 and left,
        lambda: (stops_when_the_best_ends, stops_when_not_to_be_beaten_and_keeps_the_open),
    )
    yield case(
        draw, SOON, 3, 5, "width 3, more than 3 that end", lambda ended, left: ended[0] and sum(ended) > 4 and left == 0
    )
    yield case(
        draw,
        FIVE,
        3,
        5,
        "width 3, at most 5 ids of 5",
        lambda ended, left: ended[0] and left,
        lambda: (
            right,
            ended_keep_their_place,
            narrower_with_each_end,
            every_end_set_aside,
            width_open_ones,
            best_end_returned,
            stops_when_not_to_be_beaten,
        ),
    )
    yield case(draw, FIVE, 1, 5, "width 1", lambda ended, left: len(ended) == 3)
    yield case(draw, ELEVEN, 5, 3, "width 5, at most 3 ids of 11", lambda ended, left: ended[0] and ended[1] and left)
    yield case(draw, TWO, 5, 4, "width 5, wider than all at first, 2 ids", lambda ended, left: sum(ended) > 2)
    yield case(draw, THREE, 81, 4, "as wide as all that there are")
    yield case(draw, SOON, 2, 9, "width 2, all end before the limit", lambda ended, left: 3 < len(ended) < 8)
    yield case(draw, FIVE, 3, 1, "a single id", lambda ended, left: ended == [1], edge=True)
    yield case(draw, SOON, 1, 3, "width 1, eos at once", lambda ended, left: ended == [1], edge=True)
    yield case(draw, LATE, 2, 10, "width 2, 10 ids, no eos", edge=True)
    yield case(
        draw, STRICT_SOON, 2, 7, "a step that refuses what comes behind eos", lambda ended, left: left == 0, edge=True
    )
    yield case(draw, STRICT_LATE, 2, 3, "a step that refuses more than 3 ids", edge=True)


def _log_p(step, bos, ids):
    """The log probability of ids behind bos."""
    return sum(step([bos, *ids[:place]])[token].item() for place, token in enumerate(ids))


def every_one(step, bos, eos, longest):
    """Return (log probability, ids) of the most probable of all translations, each looked at."""
    V, found = len(step([bos])), []
    for length in range(1, longest + 1):
        for ids in product(range(V), repeat=length):
            if eos not in ids[:-1] and (ids[-1] == eos or length == longest):
                found.append((_log_p(step, bos, ids), list(ids)))
    return max(found)


def _sizes(case):
    key, *rest = case.args
    return freely(task.candidate(key.key)), *rest


def each_is_whole(case, value):
    """A hypothesis ends in eos or is as long as is allowed, and holds eos nowhere else."""
    _, bos, eos, _, longest = _sizes(case)
    for ids, _ in value:
        if ids[:1] == [bos] and bos != eos:
            return f"You return {ids}, which begins with bos. Leave it out: the ids behind it are asked for."
        if eos in ids[:-1]:
            return f"You return {ids}, which goes on behind eos, {eos}. What ends in eos is set aside and is not continued."
        if ids[-1] != eos and len(ids) < longest:
            if ids[-1] == 0:
                return f"You return {ids}, which is shorter than longest = {longest} and ends in 0. Do you take 0 for eos? Here eos is {eos}."
            return f"You return {ids}, which is shorter than longest = {longest} and does not end in eos, {eos}. Does your search stop before nothing is open, or is eos cut off?"
        if len(ids) > longest:
            return f"You return {len(ids)} ids, and longest is {longest}: eos counts, and bos does not."
    return None


def scores_are_sums(case, value):
    """The log probability of a hypothesis is the sum over its ids."""
    step, bos, eos, *_ = _sizes(case)
    sums = [_log_p(step, bos, ids) for ids, _ in value]
    wrong = [(ids, score, own) for (ids, score), own in zip(value, sums, strict=True) if abs(own - score) > 1e-4]
    if not wrong:
        return None
    ids, score, own = wrong[0]
    told = f"You return {ids} with {score:.4g}. The log probabilities of its ids, each behind bos and those before it, add up to {own:.4g}."
    for digits in range(1, 4):
        near = all(abs(own - score) <= 0.5 * len(ids) / 10**digits for ids, score, own in wrong)
        if near and all(abs(score - round(score, digits)) < 1e-9 for _, score in value):
            return f"{told} All your log probabilities end after {digits} decimal places: do not round."
    without_eos = [own - step([bos, *ids[:-1]])[eos].item() if ids[-1] == eos else own for ids, _, own in wrong]
    if _agree(wrong, without_eos):
        return f"{told} Yours is the sum without eos. It is a word like the others: its log probability counts."
    if _agree(wrong, [_log_p(lambda prefix: step(prefix[1:] or [bos]), bos, ids) for ids, *_ in wrong]):
        return f"{told} Yours is the sum that comes from prefixes without bos: begin what you give to step with bos each time."
    return f"{told} Does each score go with its own ids, and is step given the whole prefix?"


def _agree(wrong, sums):
    """Whether wrong scores are these sums."""
    return all(abs(score - one) < 1e-4 for (_, score, _), one in zip(wrong, sums, strict=True))


def none_comes_twice(case, value):
    """Continuations of different hypotheses differ."""
    ids = [tuple(ids) for ids, _ in value]
    twice = [one for one in ids if ids.count(one) > 1]
    return (
        f"You return {list(twice[0])} more than once. The search begins with a single hypothesis, [bos], and each hypothesis is continued once."
        if twice
        else None
    )


def best_first(case, value):
    """The most probable hypothesis comes first."""
    worse = next((pair for pair in pairwise(score for _, score in value) if pair[0] < pair[1]), None)
    return (
        f"The most probable should come first; in your result the log probability {worse[0]:.4g} stands before {worse[1]:.4g}, which is larger."
        if worse
        else None
    )


def wide_enough_is_exhaustive(case, value):
    """A beam as wide as all continuations finds the best of all translations."""
    step, bos, eos, width, longest = _sizes(case)
    if len(step([bos])) ** longest > width:
        return None
    score, ids = every_one(step, bos, eos, longest)
    return (
        f"This beam has room for all translations of at most {longest} ids, so none may get lost. The best of all is {ids}, with {score:.4g}; yours is {value[0][0]}, with {value[0][1]:.4g}."
        if value[0][0] != ids
        else None
    )


def the_right_ones(case, value):
    """None is missing, and none is there that should not be."""
    step, bos, eos, width, longest = _sizes(case)
    if len(value) > 1 and width == 1:
        return f"With width 1 one hypothesis is kept at each step, so there is one at the end; you return {len(value)}."
    expected = [ids for ids, _ in right(step, bos, eos, width, longest)]
    ended = [ids for ids in expected if ids[-1] == eos and ids not in [list(ids) for ids, _ in value]]
    left = [ids for ids in expected if ids[-1] != eos and ids not in [list(ids) for ids, _ in value]]
    more = [list(ids) for ids, _ in value if list(ids) not in expected]
    if ended:
        return f"{ended[0]} is missing: it ends in eos and is among the {width} best of round {len(ended[0])}, so it is set aside, and stays so."
    if left:
        return f"{left[0]} is missing: it is among the {width} best when {longest} ids are written, and belongs to the result though it has not ended."
    return (
        f"{more[0]} should not be there: in some round it, or what it continues, is not among the {width} best of all continuations."
        if more
        else None
    )


@task.property
def first_broken(case, value):
    """What is told of a search without a name: what it breaks first."""
    checks = (each_is_whole, none_comes_twice, scores_are_sums, best_first, wide_enough_is_exhaustive, the_right_ones)
    return next(filter(None, (check(case, value) for check in checks)), None)


# Wrong searches. A hypothesis is a pair (ids with bos, score).


def continued(step, open_ones):
    """Every open hypothesis with every id behind it."""
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


def search(step, bos, eos, width, longest):
    """Return what is set aside and what is still open in the end."""
    open_ones, ended = [([bos], 0.0)], []
    for _ in range(longest):
        kept = best(continued(step, open_ones), width)
        ended += [pair for pair in kept if pair[0][-1] == eos]
        open_ones = [pair for pair in kept if pair[0][-1] != eos]
    return ended, open_ones


def _altered(step, change):
    """A step that is given another prefix."""
    return lambda prefix: step(change(prefix))


@task.mistake(
    "Hypotheses that end in eos get lost: only what is still open after `longest` ids is in your result. Set them aside when they end, and return them too."
)
def ended_lost(step, bos, eos, width, longest):
    return result(search(step, bos, eos, width, longest)[1])


@task.mistake("What is still open after `longest` ids gets lost. Set it aside as it is, and return it with the others.")
def open_lost(step, bos, eos, width, longest):
    return result(search(step, bos, eos, width, longest)[0])


@task.mistake("Hypotheses that end in eos are continued. Set them aside, and continue the others only.")
def ended_extended(step, bos, eos, width, longest):
    return result(search(step, bos, None, width, longest)[1])


@task.mistake(
    "Hypotheses that have ended stay in the beam and compete with open ones for its places in every round. Set them aside for good: the next round again keeps `width` of the continuations, whatever has ended before."
)
def ended_keep_their_place(step, bos, eos, width, longest):
    beam = [([bos], 0.0)]
    for turn in range(longest):
        done = [pair for pair in beam if pair[0][-1] == eos and turn]
        beam = best(done + continued(step, [pair for pair in beam if pair not in done]), width)
    return result(beam)


@task.mistake(
    "Your beam becomes narrower by one with each hypothesis that ends. What is set aside takes no place: each round keeps `width` continuations."
)
def narrower_with_each_end(step, bos, eos, width, longest):
    open_ones, ended = [([bos], 0.0)], []
    for _ in range(longest):
        kept = best(continued(step, open_ones), max(0, width - len(ended)))
        ended += [pair for pair in kept if pair[0][-1] == eos]
        open_ones = [pair for pair in kept if pair[0][-1] != eos]
    return result(ended + open_ones)


@task.mistake(
    "You keep `width` continuations of each hypothesis, so the beam grows with every round. Put the continuations of all hypotheses together and keep `width` of them."
)
def width_for_each(step, bos, eos, width, longest):
    open_ones, ended = [([bos], 0.0)], []
    for _ in range(longest):
        kept = [pair for one in open_ones for pair in best(continued(step, [one]), width)]
        ended += [pair for pair in kept if pair[0][-1] == eos]
        open_ones = [pair for pair in kept if pair[0][-1] != eos]
    return result(ended + open_ones)


@task.mistake(
    "After the first round each hypothesis is continued by its own best id, without competing with the others. Put the continuations of all hypotheses together and keep `width` of them: two may come from the same one."
)
def one_for_each(step, bos, eos, width, longest):
    open_ones, ended = [([bos], 0.0)], []
    for turn in range(longest):
        kept = [pair for one in open_ones for pair in best(continued(step, [one]), 1 if turn else width)]
        ended += [pair for pair in kept if pair[0][-1] == eos]
        open_ones = [pair for pair in kept if pair[0][-1] != eos]
    return result(ended + open_ones)


@task.mistake(
    "The order is turned round: the least probable hypothesis comes first. Log probabilities are negative, so the one nearest to 0 is the best."
)
def worst_first(step, bos, eos, width, longest):
    ended, open_ones = search(step, bos, eos, width, longest)
    return result(ended + open_ones)[::-1]


@task.mistake(
    "The hypotheses are right, but they stand in the order in which they were set aside. Sort them at the end, the most probable first."
)
def as_set_aside(step, bos, eos, width, longest):
    ended, open_ones = search(step, bos, eos, width, longest)
    return [(ids[1:], score) for ids, score in ended + open_ones]


@task.mistake(
    "You keep the least probable continuations. Log probabilities are negative: sort so that the largest come first."
)
def worst_kept(step, bos, eos, width, longest):
    open_ones, ended = [([bos], 0.0)], []
    for _ in range(longest):
        kept = best(continued(step, open_ones))[::-1][:width]
        ended += [pair for pair in kept if pair[0][-1] == eos]
        open_ones = [pair for pair in kept if pair[0][-1] != eos]
    return result(ended + open_ones)


def scored(step, bos, eos, width, longest, first, add):
    """A search whose scores begin with `first` and grow by add(score, log probability of the next id, number of ids)."""
    open_ones, ended = [([bos], first)], []
    for turn in range(1, longest + 1):
        pairs = [
            ([*ids, token], add(score, more, turn))
            for ids, score in open_ones
            for token, more in enumerate(step(list(ids)).double().tolist())
        ]
        kept = best(pairs, width)
        ended += [pair for pair in kept if pair[0][-1] == eos]
        open_ones = [pair for pair in kept if pair[0][-1] != eos]
    return ended + open_ones


@task.mistake("You multiply log probabilities. Probabilities are multiplied, and their logarithms are added.")
def logarithms_multiplied(step, bos, eos, width, longest):
    return result(scored(step, bos, eos, width, longest, 1.0, lambda score, more, turn: score * more))


@task.mistake(
    "The score of a hypothesis is the log probability of its last id alone. Add it to the score of the hypothesis that it continues."
)
def last_id_scored(step, bos, eos, width, longest):
    return result(scored(step, bos, eos, width, longest, 0.0, lambda score, more, turn: more))


@task.mistake("You add up probabilities. Add their logarithms, as step gives them.")
def probabilities_added(step, bos, eos, width, longest):
    return result(
        scored(step, bos, eos, width, longest, 0.0, lambda score, more, turn: score + 2.718281828459045**more)
    )


@task.mistake(
    "You return probabilities. The hypotheses are right, but their log probabilities are asked for, as sums of what step gives."
)
def probabilities_returned(step, bos, eos, width, longest):
    found = scored(step, bos, eos, width, longest, 1.0, lambda score, more, turn: score * 2.718281828459045**more)
    return result(found)


@task.mistake("You return the mean log probability of the ids. Here nothing is divided by the length: return the sum.")
def mean_returned(step, bos, eos, width, longest):
    ended, open_ones = search(step, bos, eos, width, longest)
    return result([(ids, score / (len(ids) - 1)) for ids, score in ended + open_ones])


@task.mistake(
    "Your pairs are right, but they are sorted by the mean log probability of their ids. Here nothing is divided by the length: sort by the sum."
)
def sorted_by_mean(step, bos, eos, width, longest):
    ended, open_ones = search(step, bos, eos, width, longest)
    return sorted(result(ended + open_ones), key=lambda pair: -pair[1] / len(pair[0]))


@task.mistake(
    "You divide the score by the number of ids in every round, and go on from the quotient, so the first ids are divided again and again. Add up log probabilities, and divide by nothing."
)
def divided_in_every_round(step, bos, eos, width, longest):
    return result(scored(step, bos, eos, width, longest, 0.0, lambda score, more, turn: (score + more) / turn))


@task.mistake("eos is missing at the end of the ids. Leave it in: it tells what has ended from what was cut off.")
def eos_dropped(step, bos, eos, width, longest):
    ended, open_ones = search(step, bos, eos, width, longest)
    return result([(ids[:-1], score) for ids, score in ended] + open_ones)


@task.mistake("eos comes twice at the end of the ids. It is there already when a hypothesis is set aside.")
def eos_twice(step, bos, eos, width, longest):
    ended, open_ones = search(step, bos, eos, width, longest)
    return result([([*ids, eos], score) for ids, score in ended] + open_ones)


@task.mistake("The log probability of eos counts twice. It is in the score already when a hypothesis is set aside.")
def eos_counted_twice(step, bos, eos, width, longest):
    ended, open_ones = search(step, bos, eos, width, longest)
    return result([(ids, score + step(ids[:-1])[eos].item()) for ids, score in ended] + open_ones)


@task.mistake(
    "The log probability of eos does not count. It is a word like the others: its log probability belongs to the score."
)
def eos_not_counted(step, bos, eos, width, longest):
    ended, open_ones = search(step, bos, eos, width, longest)
    return result([(ids, score - step(ids[:-1])[eos].item()) for ids, score in ended] + open_ones)


@task.mistake("You put eos behind what is cut off after `longest` ids. Return it as it is.")
def eos_added(step, bos, eos, width, longest):
    ended, open_ones = search(step, bos, eos, width, longest)
    return result(ended + [([*ids, eos], score) for ids, score in open_ones])


def _until(step, bos, eos, width, longest, over):
    """A search that is broken off where over(kept, ended) holds: what is set aside and what is open then."""
    open_ones, ended = [([bos], 0.0)], []
    for _ in range(longest):
        kept = best(continued(step, open_ones), width)
        ended += [pair for pair in kept if pair[0][-1] == eos]
        open_ones = [pair for pair in kept if pair[0][-1] != eos]
        if kept and over(kept, ended):
            break
    return ended, open_ones


@task.mistake(
    "You stop as soon as a hypothesis has ended, and what is open then is in the result as if it had ended too. Go on until nothing is open, or `longest` ids are written."
)
def stops_at_the_first_end(step, bos, eos, width, longest):
    ended, open_ones = _until(step, bos, eos, width, longest, lambda kept, ended: bool(ended))
    return result(ended + open_ones)


@task.mistake(
    "You stop as soon as a hypothesis has ended, and what is open then gets lost. Go on until nothing is open, or `longest` ids are written."
)
def first_end_returned(step, bos, eos, width, longest):
    ended, open_ones = _until(step, bos, eos, width, longest, lambda kept, ended: bool(ended))
    return result(ended or open_ones)


@task.mistake(
    "You stop when the best hypothesis of a round has ended. The others are still open: go on until nothing is open, or `longest` ids are written."
)
def stops_when_the_best_ends(step, bos, eos, width, longest):
    ended, open_ones = _until(step, bos, eos, width, longest, lambda kept, ended: kept[0][0][-1] == eos)
    return result(ended + open_ones)


@task.mistake(
    "You stop when the best hypothesis of a round has ended, and what is open then gets lost. Go on until nothing is open, or `longest` ids are written."
)
def best_end_returned(step, bos, eos, width, longest):
    def over(kept, ended):
        return kept[0][0][-1] == eos

    ended, open_ones = _until(step, bos, eos, width, longest, over)
    return result(ended if ended and over(best(ended + open_ones), ended) else ended + open_ones)


@task.mistake(
    "You stop when `width` hypotheses have ended. More may come: go on until nothing is open, or `longest` ids are written."
)
def stops_with_width_ended(step, bos, eos, width, longest):
    ended, open_ones = _until(step, bos, eos, width, longest, lambda kept, ended: len(ended) >= width)
    return result(ended if len(ended) >= width else ended + open_ones)


@task.mistake(
    "You stop when `width` hypotheses have ended, and what is open then is in the result as if it had ended too. Go on until nothing is open, or `longest` ids are written."
)
def stops_with_width_ended_and_keeps_the_open(step, bos, eos, width, longest):
    ended, open_ones = _until(step, bos, eos, width, longest, lambda kept, ended: len(ended) >= width)
    return result(ended + open_ones)


def _cannot_be_beaten(kept, ended):
    """Whether nothing that is open is more probable than the best that has ended: a sum of logarithms only becomes smaller."""
    open_ones = [pair for pair in kept if pair not in ended]
    return bool(ended) and best(ended)[0][1] >= max((score for _, score in open_ones), default=-float("inf"))


@task.mistake(
    "You stop when the best hypothesis that has ended can no longer be beaten, and what is open then gets lost. All that a search sets aside is asked for: go on until nothing is open, or `longest` ids are written."
)
def stops_when_not_to_be_beaten(step, bos, eos, width, longest):
    ended, open_ones = _until(step, bos, eos, width, longest, _cannot_be_beaten)
    return result(ended if ended and _cannot_be_beaten(open_ones, ended) else ended + open_ones)


@task.mistake(
    "You stop when the best hypothesis that has ended can no longer be beaten, and what is open then is in the result as if it had ended too. Go on until nothing is open, or `longest` ids are written."
)
def stops_when_not_to_be_beaten_and_keeps_the_open(step, bos, eos, width, longest):
    ended, open_ones = _until(step, bos, eos, width, longest, _cannot_be_beaten)
    return result(ended + open_ones)


@task.mistake("You return `width` hypotheses at most. All that were set aside are asked for, also where they are more.")
def cut_to_width(step, bos, eos, width, longest):
    ended, open_ones = search(step, bos, eos, width, longest)
    return result(ended + open_ones)[:width]


@task.mistake("You return the best hypothesis alone. All that were set aside are asked for, the best first.")
def best_alone(step, bos, eos, width, longest):
    ended, open_ones = search(step, bos, eos, width, longest)
    return result(ended + open_ones)[:1]


@task.mistake(
    "You return one pair, the best hypothesis. A list of pairs is asked for, with all hypotheses that were set aside."
)
def best_pair(step, bos, eos, width, longest):
    ended, open_ones = search(step, bos, eos, width, longest)
    return result(ended + open_ones)[0]


@task.mistake("width has no effect: a single hypothesis is kept, as in greedy search.")
def width_unused(step, bos, eos, width, longest):
    ended, open_ones = search(step, bos, eos, 1, longest)
    return result(ended + open_ones)


@task.mistake("Nothing is left out: you keep all continuations, not the `width` best.")
def all_kept(step, bos, eos, width, longest):
    ended, open_ones = search(step, bos, eos, 300, longest)
    return result(ended + open_ones)


@task.mistake("Your beam is too narrow by one: it keeps width - 1 continuations.")
def one_too_narrow(step, bos, eos, width, longest):
    ended, open_ones = search(step, bos, eos, width - 1, longest)
    return result(ended + open_ones)


@task.mistake("Your beam is too wide by one: it keeps width + 1 continuations.")
def one_too_wide(step, bos, eos, width, longest):
    ended, open_ones = search(step, bos, eos, width + 1, longest)
    return result(ended + open_ones)


@task.mistake(
    "You always keep `width` hypotheses that are open, and those that end are kept in addition. Take the `width` best of all continuations first, and then see which of them end."
)
def width_open_ones(step, bos, eos, width, longest):
    open_ones, ended = [([bos], 0.0)], []
    for _ in range(longest):
        ranked, open_ones = best(continued(step, open_ones)), []
        for pair in ranked:
            if len(open_ones) == width:
                break
            (ended if pair[0][-1] == eos else open_ones).append(pair)
    return result(ended + open_ones)


@task.mistake(
    "You set aside every continuation that ends in eos, however improbable. Only those among the `width` best of all continuations count."
)
def every_end_set_aside(step, bos, eos, width, longest):
    open_ones, ended = [([bos], 0.0)], []
    for _ in range(longest):
        pairs = continued(step, open_ones)
        ended += [pair for pair in pairs if pair[0][-1] == eos]
        open_ones = best([pair for pair in pairs if pair[0][-1] != eos], width)
    return result(ended + open_ones)


@task.mistake(
    "You call step with the last id alone, as you would call a decoder with a state of its own. This one keeps nothing between two calls: give step bos and all ids of the hypothesis."
)
def last_id_alone(step, bos, eos, width, longest):
    ended, open_ones = search(_altered(step, lambda prefix: prefix[-1:]), bos, eos, width, longest)
    return result(ended + open_ones)


@task.mistake("bos is missing in what you give to step: the prefix begins with it.")
def without_bos(step, bos, eos, width, longest):
    ended, open_ones = search(_altered(step, lambda prefix: prefix[1:]), bos, eos, width, longest)
    return result(ended + open_ones)


@task.mistake("bos stands in front of your ids. Return what comes behind it.")
def bos_kept(step, bos, eos, width, longest):
    ended, open_ones = search(step, bos, eos, width, longest)
    return best(ended + open_ones)


@task.mistake("You stop one round too early: bos does not count towards `longest`.")
def bos_counted(step, bos, eos, width, longest):
    if longest == 1:
        return [([], 0.0)]
    ended, open_ones = search(step, bos, eos, width, longest - 1)
    return result(ended + open_ones)


@task.mistake("You go one round too far: a hypothesis has at most `longest` ids.")
def one_too_long(step, bos, eos, width, longest):
    ended, open_ones = search(step, bos, eos, width, longest + 1)
    return result(ended + open_ones)


@task.mistake(
    "The ids do not match the scores: a new id is appended to the hypothesis that had the same place in the beam before, not to the one that it continues. Keep each continuation together with its own prefix."
)
def wrong_parents(step, bos, eos, width, longest):
    open_ones, ended = [([bos], 0.0)], []
    for _ in range(longest):
        kept = best(continued(step, open_ones), width)
        parents = [ids for ids, _ in open_ones]
        kept = [
            ([*(parents[place] if place < len(parents) else ids[:-1]), ids[-1]], score)
            for place, (ids, score) in enumerate(kept)
        ]
        ended += [pair for pair in kept if pair[0][-1] == eos]
        open_ones = [pair for pair in kept if pair[0][-1] != eos]
    return result(ended + open_ones)


@task.mistake(
    "You begin with `width` copies of [bos]. They have the same continuations, so the beam is full of copies of one hypothesis. Begin with a single one."
)
def begins_with_copies(step, bos, eos, width, longest):
    open_ones, ended = [([bos], 0.0)] * width, []
    for _ in range(longest):
        kept = best(continued(step, open_ones), width)
        ended += [pair for pair in kept if pair[0][-1] == eos]
        open_ones = [pair for pair in kept if pair[0][-1] != eos]
    return result(ended + open_ones)


@task.mistake(
    "You return the ids of the best hypothesis alone. A list of pairs is asked for, with all hypotheses that were set aside and their log probabilities."
)
def best_ids(step, bos, eos, width, longest):
    ended, open_ones = search(step, bos, eos, width, longest)
    return result(ended + open_ones)[0][0]


@task.mistake("Your pairs are turned round. The ids come first, then the log probability.")
def pairs_turned_round(step, bos, eos, width, longest):
    ended, open_ones = search(step, bos, eos, width, longest)
    return [(score, ids) for ids, score in result(ended + open_ones)]


@task.mistake("You return the ids without their log probabilities. A pair is asked for: (ids, log probability).")
def ids_alone(step, bos, eos, width, longest):
    ended, open_ones = search(step, bos, eos, width, longest)
    return [ids for ids, _ in result(ended + open_ones)]


@task.mistake("A hypothesis ends with the id 0 in your search, whatever eos is. Compare with the eos that is given.")
def zero_for_eos(step, bos, eos, width, longest):
    ended, open_ones = search(step, bos, 0, width, longest)
    return result(ended + open_ones)


@task.mistake(
    "Hypotheses that you keep share a list: `append` changes it for all that hold it, so ids of one get into the others. Make a new list for each, `ids + [token]`."
)
def one_list_for_the_kept(step, bos, eos, width, longest):
    open_ones, ended = [([bos], 0.0)], []
    for _ in range(longest):
        scored = [(ids, token, score + p) for ids, score in open_ones for token, p in enumerate(step(ids).tolist())]
        open_ones = []
        for ids, token, score in sorted(scored, key=lambda one: -one[2])[:width]:
            ids.append(token)
            (ended if token == eos else open_ones).append((ids, score))
    return result([*ended, *open_ones])


@task.mistake(
    "All continuations of a hypothesis are one and the same list, to which you append every id of the vocabulary. Make a new list for each continuation, `ids + [token]`."
)
def one_list_for_all(step, bos, eos, width, longest):
    open_ones, ended = [([bos], 0.0)], []
    for _ in range(longest):
        scored = []
        for ids, score in open_ones:
            for token, p in enumerate(step(ids).tolist()):
                ids.append(token)
                scored.append((ids, score + p))
        kept = sorted(scored, key=lambda pair: -pair[1])[:width]
        ended += [pair for pair in kept if pair[0][-1] == eos]
        open_ones = [pair for pair in kept if pair[0][-1] != eos]
    return result([*ended, *open_ones])
