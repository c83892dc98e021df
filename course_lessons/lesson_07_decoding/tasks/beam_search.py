"""Task 07.beam_search: the most probable beginnings, several at a time."""

from math import exp, inf
from operator import add, not_

import torch

from course_lessons.lesson_07_decoding.tasks import _steps as decoders
from course_lessons.lesson_07_decoding.tasks._beams import best, case, continued, first_broken, right
from course_utils.checks.reference_trace import left_out
from course_utils.checks.task import Task

task = Task(
    "07.beam_search",
    "several beginnings at a time",
    arguments=("step", "bos", "eos", "width", "longest"),
    result="hypotheses",
    candidates=decoders.STEPS,
    suspects=False,
    difficulty=4,
    importance=5,
    minutes=40,
    hints=(
        "Keep two lists, one of open hypotheses and one of those set aside. In each round, every open hypothesis is extended with every id, and all these continuations compete with one another. Those among the "
        "best that end in eos are set aside and take up no room in the next round.",
        (
            "Take eos = 0, two more ids, 1 and 2, and width = 2. After bos, the three probabilities are 0.1, 0.4 and 0.5, so [2] and [1] are kept. After [2] they are 0.34, 0.335 and 0.325; after [1] they are 0.9, 0.06 "
            "and 0.04. The six continuations have probabilities of 0.5 · 0.34 = 0.17, 0.1675, 0.1625, 0.4 · 0.9 = 0.36, 0.024 and 0.016. The two best are [1, 0] with 0.36 and [2, 0] with 0.17. Both end in eos, so nothing "
            "is open and the search ends. Greedy search would have found only [2, 0]."
        ),
        "open = a list with one pair, ([bos], 0.0); ended = []; repeat longest times: all = for each open pair (ids, score) and each id with its log probability: (ids and that id, score plus log probability); sort all, the largest "
        "score first, and keep the first `width`; append those that end in eos to ended; open = the others. At the end take ended and open together, sort them, and cut bos off.",
    ),
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


PAIRS, KEPT, ASIDE, OPEN = "the continuations", "those that are kept", "what is set aside", "those that are open"
OVER, FOUND, RANKED = "whether the search is over", "the finished and the open ones", "the best first"


@task.steps
def _(step, bos, eos, width, longest):
    open_ones, ended = [([bos], 0.0)], []
    for _ in range(longest):
        pairs = yield PAIRS, continued, step, open_ones
        kept = yield KEPT, best, pairs, width
        ended = yield ASIDE, lambda ended, kept: ended + [pair for pair in kept if pair[0][-1] == eos], ended, kept
        open_ones = yield OPEN, lambda kept: [pair for pair in kept if pair[0][-1] != eos], kept
        if (yield OVER, not_, open_ones):
            break
    found = yield FOUND, add, ended, open_ones
    ranked = yield RANKED, best, found
    return [(ids[1:], score) for ids, score in ranked]


# What is kept

task.changed_each(
    ("ended_lost", "Hypotheses that end in eos are lost: your result contains only those still open after `longest` ids. Set them aside when they end and return them as well.", {FOUND: lambda ended, left: left}),
    ("open_lost", "Hypotheses still open after `longest` ids are lost. Set them aside as they are and return them with the others.", {FOUND: lambda ended, left: ended}),
    ("ended_extended", "You extend hypotheses that end in eos. Set them aside and extend only the others.", {"eos": lambda eos: None}),
)  # fmt: skip


def _beside_the_ended(decoder, beam, *, eos, right):
    done = [pair for pair in beam if pair[0][-1] == eos and len(pair[0]) > 1]
    return done + right(decoder, [pair for pair in beam if pair not in done])


task.changed(
    "ended_keep_their_place",
    "Hypotheses that have ended stay in the beam and compete with open ones in every round. Set them aside for good: the next round again keeps `width` of the continuations, whatever has ended before.",
    {PAIRS: _beside_the_ended, ASIDE: lambda ended, kept: [], OPEN: left_out},
)
task.changed(
    "narrower_with_each_end",
    "Your beam becomes one narrower with each hypothesis that ends. Hypotheses that are set aside take up no room: each round keeps `width` continuations.",
    {KEPT: lambda pairs, width, *, done: best(pairs, max(0, width - len(done.get(ASIDE, ()))))},
)


def _for_each(number):
    """A change after which each hypothesis keeps so many of its own continuations: number(width, is it the first round)."""

    def kept(decoder, beam, *, width):
        return [pair for one in beam for pair in best(continued(decoder, [one]), number(width, len(one[0]) == 1))]

    return {PAIRS: kept, KEPT: left_out}


task.changed(
    "width_for_each",
    "You keep `width` continuations for each hypothesis, so the beam grows with every round. Put the continuations of all hypotheses together and keep `width` of them.",
    _for_each(lambda width, first: width),
)
task.changed(
    "one_for_each",
    "After the first round, you extend each hypothesis with its own best id, without competing with the others. Put the continuations of all hypotheses together and keep `width` of them: two may come from the same hypothesis.",
    _for_each(lambda width, first: width if first else 1),
)
task.changed(
    "worst_kept",
    "You keep the least probable continuations. Log probabilities are negative: sort so that the largest come first.",
    {KEPT: lambda pairs, width: best(pairs)[::-1][:width]},
)


def _until_width_open(pairs, width, *, eos):
    places = [place for place, (ids, _) in enumerate(best(pairs)) if ids[-1] != eos]
    return best(pairs, places[width - 1] + 1 if len(places) >= width else None)


task.changed(
    "width_open_ones",
    "You always keep `width` open hypotheses and add those that end. First keep the `width` best of all continuations, and then see which of them end.",
    {KEPT: _until_width_open},
)


def _every_end(pairs, width, *, eos):
    return [pair for pair in pairs if pair[0][-1] == eos] + best([p for p in pairs if p[0][-1] != eos], width)


task.changed(
    "every_end_set_aside",
    "You set aside every continuation that ends in eos, however improbable. Only those among the `width` best of all continuations count.",
    {KEPT: _every_end},
)


def _with_other_parents(pairs, width, *, done):
    parents, kept = [ids for ids, _ in done.get(OPEN, ())], best(pairs, width)
    return [
        ([*(parents[place] if place < len(parents) else ids[:-1]), ids[-1]], score)
        for place, (ids, score) in enumerate(kept)
    ]


task.changed(
    "wrong_parents",
    "The ids do not match the scores: a new id is appended to the hypothesis that had the same position in the previous beam, not to the one that it extends. Keep each continuation together with its own prefix.",
    {KEPT: _with_other_parents},
)
task.changed(
    "begins_with_copies",
    "You begin with `width` copies of [bos]. They have the same continuations, so the beam fills up with copies of one hypothesis. Begin with a single one.",
    {PAIRS: lambda decoder, beam, *, width: continued(decoder, beam * width if len(beam[0][0]) == 1 else beam)},
)
task.changed_each(
    ("width_unused", "width has no effect: a single hypothesis is kept, as in greedy search.", {"width": lambda width: 1}),
    ("one_too_narrow", "Your beam is one too narrow: it keeps width - 1 continuations.", {"width": lambda width: width - 1}),
    ("one_too_wide", "Your beam is one too wide: it keeps width + 1 continuations.", {"width": lambda width: width + 1}),
    ("bos_counted", "You stop one round too early: bos does not count towards `longest`.", {"longest": lambda n: n - 1}),
    ("one_too_long", "You go one round too far: a hypothesis has at most `longest` ids.", {"longest": lambda n: n + 1}),
    ("zero_for_eos", "In your search, a hypothesis ends with id 0, whatever eos is. Compare with the argument eos instead.", {"eos": lambda eos: 0}),
)  # fmt: skip
decoders.prefix_mistakes(task)


# When it ends


def _not_to_be_beaten(kept, ended, eos, width):
    """A sum of logarithms only becomes smaller."""
    return bool(ended) and best(ended)[0][1] >= max((score for ids, score in kept if ids[-1] != eos), default=-inf)


def _stopping(over, loses):
    """Changes after which a search is broken off where over(kept, ended, eos, width) holds, and may lose what is open then."""

    def is_over(open_ones, *, done, eos, width):
        return not open_ones or over(done[KEPT], done[ASIDE], eos, width)

    def found(ended, left, *, eos, width):
        return ended if loses and over(best(ended + left), ended, eos, width) else ended + left

    return {OVER: is_over, FOUND: found}


GO_ON = "Go on until nothing is open or `longest` ids are written."
for when, over, keeping, losing in (
    ("as soon as a hypothesis has ended", lambda kept, ended, eos, width: bool(ended), "stops_at_the_first_end", "first_end_returned"),
    ("when the best hypothesis of a round has ended", lambda kept, ended, eos, width: kept[0][0][-1] == eos, "stops_when_the_best_ends", "best_end_returned"),
    ("when `width` hypotheses have ended", lambda kept, ended, eos, width: len(ended) >= width, "stops_with_width_ended_and_keeps_the_open", "stops_with_width_ended"),
    ("when the best hypothesis that has ended can no longer be beaten", _not_to_be_beaten, "stops_when_not_to_be_beaten_and_keeps_the_open", "stops_when_not_to_be_beaten"),
):  # fmt: skip
    kept_too = "hypotheses that are still open are treated as finished"
    task.changed(keeping, f"You stop {when}, and {kept_too}. {GO_ON}", _stopping(over, loses=False))
    task.changed(
        losing, f"You stop {when}, and hypotheses that are still open are lost. {GO_ON}", _stopping(over, loses=True)
    )


# Scores


def _scores(grow, first=0.0):
    """A change after which scores begin with `first` and grow by grow(score, log probability of the next id, number of ids)."""

    def pairs(decoder, beam):
        return [
            ([*ids, token], grow(score if len(ids) > 1 else first, log_p, len(ids)))
            for ids, score in beam
            for token, log_p in enumerate(decoder(list(ids)).double().tolist())
        ]

    return {PAIRS: pairs}


task.changed_each(
    ("logarithms_multiplied", "You multiply log probabilities. Probabilities are multiplied, and their logarithms are added.", _scores(lambda score, log_p, n: score * log_p, 1.0)),
    ("last_id_scored", "A hypothesis's score is only the log probability of its last id. Add it to the score of the hypothesis that it continues.", _scores(lambda score, log_p, n: log_p, 0.0)),
    ("probabilities_added", "You add up probabilities. Add their logarithms, which step returns.", _scores(lambda score, log_p, n: score + exp(log_p), 0.0)),
)  # fmt: skip
for name, sentence, times in (
    ("eos_counted_twice", "The log probability of eos counts twice: the score already includes it when a hypothesis is set aside.", 1),
    ("eos_not_counted", "The log probability of eos is missing. It is a word like any other: its log probability belongs to the score.", -1),
):  # fmt: skip

    def ranked(found, *, eos, step, times=times):
        return best([(ids, score + times * (ids[-1] == eos) * step(ids[:-1])[eos].item()) for ids, score in found])

    task.changed(name, sentence, {RANKED: ranked})


# What is returned


def _each_that_ended(change):
    return {FOUND: lambda ended, left, *, eos: [(change(ids, eos), score) for ids, score in ended] + left}


task.changed(
    "mean_returned",
    "You return the mean log probability of the ids. Here there is no division by the length: return the sum.",
    {FOUND: lambda ended, left: [(ids, score / (len(ids) - 1)) for ids, score in ended + left]},
)
task.changed(
    "sorted_by_mean",
    "Your pairs are right, but they are sorted by the mean log probability of their ids. Here there is no division by the length: sort by the sum.",
    {RANKED: lambda found: sorted(found, key=lambda pair: -pair[1] / (len(pair[0]) - 1))},
)
task.changed_each(
    ("as_set_aside", "The hypotheses are right, but they are in the order in which they were set aside. Sort them at the end, the most probable first.", {RANKED: left_out}),
    ("eos_dropped", "eos is missing at the end of the ids. Leave it in: it distinguishes hypotheses that have ended from those cut off.", _each_that_ended(lambda ids, eos: ids[:-1])),
    ("eos_added", "You append eos to hypotheses that are cut off after `longest` ids. Return them as they are.", {FOUND: lambda ended, left, *, eos: ended + [([*ids, eos], score) for ids, score in left]}),
    ("probabilities_returned", "You return probabilities. The hypotheses are right, but return their log probabilities, the sums of the numbers that step returns.", {"result": lambda pairs: [(ids, exp(score)) for ids, score in pairs]}),
    ("worst_first", "The order is reversed: the least probable hypothesis comes first. Log probabilities are negative, and the one nearest to 0 is the best.", {"result": lambda pairs: pairs[::-1]}),
    ("cut_to_width", "You return at most `width` hypotheses. Return all that were set aside, even if there are more.", {"result": lambda pairs, *, width: pairs[:width]}),
    ("best_alone", "You return only the best hypothesis. Return all that were set aside, the best first.", {"result": lambda pairs: pairs[:1]}),
    ("bos_kept", "Your ids begin with bos. Return only the ids after it.", {"result": lambda pairs, *, bos: [([bos, *ids], score) for ids, score in pairs]}),
)  # fmt: skip


def _one_list(decoder, beam):
    pairs = []
    for ids, score in beam:
        for token, log_p in enumerate(decoder(ids).tolist()):
            ids.append(token)
            pairs.append((ids, score + log_p))
    return pairs


task.changed(
    "one_list_for_all",
    "All of a hypothesis's continuations are one and the same list, to which you append every id in the vocabulary. Make a new list for each continuation, `ids + [token]`.",
    {PAIRS: _one_list},
)
