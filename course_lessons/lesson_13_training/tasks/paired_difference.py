"""Task 13.paired_difference: what a change gains, read from runs that share their seeds, and whether that says anything."""

from operator import truediv
from statistics import mean

from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task

task = Task(
    "13.paired_difference",
    "what a change gains, seed by seed",
    arguments=("plain", "changed"),
    result=("mean", "verdict"),
    difficulty=2,
    importance=5,
    minutes=20,
    hints=(
        "Runs with the same seed share part of their randomness, and subtracting one from the other removes this part. So subtract first, seed by seed, and only then look at the mean and the signs of the differences. A seed that is in only one of the two dicts has nothing to be compared with.",
        (
            "Take plain = {0: 80, 1: 90, 2: 70} and changed = {2: 73, 0: 82}. Seeds 0 and 2 are in both, and the differences are 82 - 80 = 2 and 73 - 70 = 3: their mean is 2.5. Both are above 0. But two signs agree in 2 of the 4 equally likely cases, which is far too often, so the verdict is 0. "
            "With n signs, all agree in 2 of 2ⁿ cases."
        ),
        "differences = changed[seed] - plain[seed] for each seed that is in both dicts. mean = their sum divided by their number n. If n is so small that 2 / 2ⁿ is above 1 / 16, the verdict is 0. Otherwise it is 1 if all differences are above 0, -1 if all are below 0, and 0 if neither holds.",
    ),
)


def _runs(draw, seeds, gains):
    """Two dicts of results whose differences are these gains, in halves: exact numbers, and the seeds in two different orders."""
    first, second = (draw.distinct(len(seeds), 0, len(seeds)).tolist() for _ in range(2))
    levels = {seed: 80 + int(level) / 2 for seed, level in zip(seeds, draw.distinct(len(seeds), -15, 15), strict=True)}
    plain = {seeds[i]: levels[seeds[i]] for i in first}
    return plain, {seeds[i]: levels[seeds[i]] + gains[i] / 2 for i in second}


@task.cases
def _(draw):
    def some(n, low=1, high=8):
        return [int(gain) for gain in draw.whole(low, high, n)]

    yield Case("two seeds", _runs(draw, [0, 1], some(2)))
    yield Case("three seeds, all better", _runs(draw, [0, 1, 2], some(3)))
    yield Case("four seeds, all worse", _runs(draw, [0, 1, 2, 3], some(4, -7, 0)))
    yield Case("five seeds, all better", _runs(draw, [0, 1, 2, 3, 4], some(5)))
    yield Case("five seeds, all worse", _runs(draw, [0, 1, 2, 3, 4], some(5, -7, 0)))
    yield Case("five seeds, far better", _runs(draw, [0, 1, 2, 3, 4], some(5, 60, 70)))
    yield Case("five seeds, one of them worse", _runs(draw, [0, 1, 2, 3, 4], [*some(4, 5, 9), -1]))
    yield Case("six seeds, one of them better", _runs(draw, [5, 3, 1, 7, 2, 9], [*some(5, -9, -5), 1]))
    yield Case("six seeds, one of them far better", _runs(draw, [5, 3, 1, 7, 2, 9], [*some(5, -9, -5), 70]))
    yield Case("seven seeds, all better", _runs(draw, [4, 2, 9, 7, 5, 8, 6], some(7)))
    plain, changed = _runs(draw, [0, 1, 2, 3, 4, 5, 6], some(7))
    yield Case("seven seeds, of which five are in both", (_without(plain, 2), _without(changed, 5)))
    plain, changed = _runs(draw, [0, 1, 2, 3, 4, 5], some(6, -7, 0))
    yield Case("six seeds, of which four are in both", (_without(plain, 0), _without(changed, 3)))
    plain, changed = _runs(draw, [0, 1, 2, 3, 4, 5], [*some(5), -30])
    yield Case("the seed that disagrees is in only one of them", (plain, _without(changed, 5)))
    yield Case("five seeds, one of them without a difference", _runs(draw, [0, 1, 2, 3, 4], [*some(4), 0]), edge=True)
    less = _runs(draw, [0, 1, 2, 3, 4, 5], [*some(5, -7, 0), 0])
    yield Case("six seeds, one of them without a difference", less, edge=True)
    yield Case("a single seed", _runs(draw, [int(draw.whole(0, 50))], some(1)), edge=True)
    yield Case("runs that do not differ", _runs(draw, [0, 1, 2, 3, 4], [0] * 5), edge=True)


def _without(runs, seed):
    return {each: result for each, result in runs.items() if each != seed}


@task.property
def a_verdict_is_one_of_three(case, value):
    """1, -1 or 0."""
    return None if value[1] in (1, -1, 0) else f"The verdict should be 1, -1 or 0; yours is {value[1]}."


@task.property
def the_verdict_fits_the_differences(case, value):
    """What the differences of a case say, where the verdict is another one."""
    plain, changed = case.args
    differences, right = _differences(plain, changed), task.oracle_function(plain, changed)[1]
    n, least, most = len(differences), min(differences), max(differences)
    if value[1] == right or value[1] not in (1, -1, 0):
        return None
    if right:
        side = "above" if right > 0 else "below"
        return f"All {n} differences are {side} 0 here. By chance, that many signs agree in 2 of {2**n} cases, which is no more often than one time in 16: the verdict is {right}."
    if least * most <= 0:
        return f"The differences here lie between {least:g} and {most:g}, so they are neither all above 0 nor all below 0: the verdict is 0."
    return f"The number of differences here is {n}. By chance, that many signs agree in 2 of {2**n} cases, which is more often than one time in 16: the verdict is 0."


@task.steps
def _(plain, changed):
    differences = yield "the difference of each seed", _differences, plain, changed
    total = yield "the sum of the differences", sum, differences
    mean = yield "the mean of the differences", truediv, total, len(differences)
    verdict = yield "the verdict", _verdict, differences
    return mean, verdict


def _differences(plain, changed):
    return [changed[seed] - plain[seed] for seed in plain if seed in changed]


def _sign(number):
    return int(number > 0) - int(number < 0)


def _verdict(differences, least=5):
    signs = set(map(_sign, differences))
    return signs.pop() if len(differences) >= least and len(signs) == 1 else 0


# Which numbers are subtracted

DIFFERENCES = "the difference of each seed"
task.changed(
    "by_their_order",
    "You subtract the results in the order of the dicts, which differs: subtract results of the same seed.",
    {DIFFERENCES: lambda plain, changed: [b - a for a, b in zip(plain.values(), changed.values(), strict=False)]},
)
task.changed(
    "wrong_order",
    "Your differences have the wrong sign. A gain is the result with the change minus the result without it.",
    {DIFFERENCES: lambda plain, changed: _differences(changed, plain)},
)
task.changed(
    "missing_as_zero",
    "You count a seed that is in only one dict with a result of 0. It has nothing to be compared with: leave it out.",
    {DIFFERENCES: lambda plain, changed: [changed.get(seed, 0) - plain.get(seed, 0) for seed in {**plain, **changed}]},
)
task.changed(
    "sizes_of_the_differences",
    "You use absolute differences. The signs tell you whether a change helps or hurts.",
    {DIFFERENCES: lambda plain, changed: [abs(each) for each in _differences(plain, changed)]},
)
task.changed(
    "stops_at_a_missing_seed",
    "You look up each seed of one dict in the other, where it may be missing, and Python raises KeyError. Take only the seeds that are in both.",
    {DIFFERENCES: lambda plain, changed: [changed[seed] - plain[seed] for seed in plain]},
)


# What is made of the differences

MEAN = "the mean of the differences"
task.changed("summed", "Your first number is the sum of the differences. Divide it by their number.", {MEAN: left_out})
task.changed(
    "means_of_all_runs",
    "Your mean is the difference between the two means over all runs. A seed that is in only one dict changes one of them: take only the seeds that are in both.",
    {MEAN: lambda total, n, *, plain, changed: mean(changed.values()) - mean(plain.values())},
)
task.changed_each(
    ("sign_of_the_mean", "Your verdict is the sign of the mean. One large difference can decide this sign: ask whether all differences have the same sign and whether there are enough of them.", {"the verdict": lambda d: _sign(sum(d))}),
    ("sign_of_the_mean_of_enough", "If there are enough differences, your verdict is the sign of their mean. One large difference can decide this sign: ask whether all differences have the same sign.", {"the verdict": lambda d: _sign(sum(d)) if len(d) > 4 else 0}),
    ("most_of_the_signs", "Your verdict is the sign of most of the differences. All of them must have this sign, and there must be enough of them.", {"the verdict": lambda d: _sign(sum(map(_sign, d)))}),
    ("most_of_enough_signs", "If there are enough differences, your verdict is the sign of most of them. All of them must have this sign.", {"the verdict": lambda d: _sign(sum(map(_sign, d))) if len(d) > 4 else 0}),
    ("all_or_the_opposite", "Your verdict is -1 unless all the differences are above 0. It should be -1 only if all of them are below 0, and 0 if neither is true or there are too few.", {"the verdict": lambda d: 1 if min(d) > 0 else -1}),
    ("however_few", "You do not check how many differences there are. Three equal signs arise by chance one time in 4, which is more often than one time in 16, so the verdict is 0.", {"the verdict": lambda d: _verdict(d, least=1)}),
    ("one_direction", "Four differences are enough for your verdict. By chance, all four are above 0 one time in 16, but all four are also below 0 one time in 16: together, one time in 8.", {"the verdict": lambda d: _verdict(d, least=4)}),
    ("more_than_needed", "Your verdict requires six differences. With five, all signs agree by chance exactly one time in 16, which is rare enough here.", {"the verdict": lambda d: _verdict(d, least=6)}),
    ("zero_counts_as_better", "You count a difference of 0 as above 0. It has no sign, so the differences do not all have the same sign.", {"the verdict": lambda d: _verdict(d) or int(len(d) > 4 and min(d) == 0)}),
    ("zero_counts_for_either_side", "In your verdict, a difference of 0 agrees with any sign: you ask whether no difference is below 0, or none above. Such a difference has no sign, so the differences do not all have the same sign, and the verdict is 0.", {"the verdict": lambda d: (1 if min(d) >= 0 else -int(max(d) <= 0)) if len(d) > 4 else 0}),
    ("no_sign_contradicts", "For your verdict, it is enough that some difference is above 0 and none is below, or vice versa. A difference of 0 also counts: it has no sign, so the signs are not all the same, and the verdict is 0.", {"the verdict": lambda d: int(max(d) > 0) - int(min(d) < 0) if len(d) > 4 else 0}),
    ("zeros_left_out", "You leave out a difference of 0 before you look at the signs. It counts: with it, the differences do not all have the same sign, so the verdict is 0.", {"the verdict": lambda d: _verdict([each for each in d if each])}),
    ("only_better", "Your verdict is never -1. If all differences are below 0, the change hurts.", {"the verdict": lambda d: max(_verdict(d), 0)}),
    ("never_sure", "Your verdict is always 0. Five or more differences that all have the same sign are enough.", {"the verdict": lambda d: 0}),
)  # fmt: skip


def _ranges_apart(differences, *, plain, changed):
    if len(differences) < 5:
        return 0
    without, by = plain.values(), changed.values()
    return int(min(by) > max(without)) - int(max(by) < min(without))


task.changed_each(
    ("ranges_compared", "You ask whether the two ranges overlap. Even if they do, the runs can all differ in the same direction, seed by seed: look at the differences.", {"the verdict": _ranges_apart}),
    ("exchanged", "The two results are swapped: the mean comes first, then the verdict.", {"result": lambda mean, verdict: (verdict, mean)}),
    ("mean_alone", "You return only the mean. Return the mean and the verdict.", {"result": lambda mean, verdict: mean}),
)  # fmt: skip
