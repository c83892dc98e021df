"""Task 13.paired_difference: what a change gains, read from runs that share their seeds, and whether that says anything."""

from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "what a change gains, seed by seed",
    arguments=("plain", "changed"),
    result=("mean", "verdict"),
    difficulty=2,
    importance=5,
    minutes=20,
)


def _runs(draw, seeds, gains, step=0.5, base=80):
    """Two dicts of results near a base, whose differences are these gains, in steps; the seeds are in two different orders."""
    first, second = (draw.distinct(len(seeds), 0, len(seeds)).tolist() for _ in range(2))
    levels = {
        seed: base + int(level) * step for seed, level in zip(seeds, draw.distinct(len(seeds), -15, 15), strict=True)
    }
    plain = {seeds[i]: levels[seeds[i]] for i in first}
    return plain, {seeds[i]: levels[seeds[i]] + gains[i] * step for i in second}


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
    # Halves are exact; results with decimals may differ by very little.
    yield Case("five seeds, all slightly better", _runs(draw, [0, 1, 2, 3, 4], some(5, 1, 4), 0.01))
    yield Case("six seeds, all slightly worse", _runs(draw, [0, 1, 2, 3, 4, 5], some(6, -4, 0), 0.003))
    slightly = _runs(draw, [0, 1, 2, 3, 4], [*some(4, 5, 9), -1], 0.01)
    yield Case("five seeds, one of them slightly worse", slightly)
    large = [int(seed) for seed in draw.distinct(5, 1000, 10000)]
    yield Case("five large seeds, results with decimals", _runs(draw, large, some(5, 60, 100), 0.037))
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
    plain, changed = _runs(draw, [0, 1, 2, 3, 4], some(5))
    least = min(changed.values())
    from_0 = [{seed: result - least for seed, result in runs.items()} for runs in (plain, changed)]
    yield Case("a result of 0", tuple(from_0), edge=True)
    yield Case("results below 0", _runs(draw, [0, 1, 2, 3, 4], some(5, -4, 0), base=-80), edge=True)
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


def _differences(plain, changed):
    return [changed[seed] - plain[seed] for seed in plain if seed in changed]


def _sign(number):
    return int(number > 0) - int(number < 0)


def _verdict(differences, least=5):
    signs = set(map(_sign, differences))
    return signs.pop() if len(differences) >= least and len(signs) == 1 else 0


# Which numbers are subtracted


def most_of_the_signs(differences):
    """Take the place of the verdict: the sign of most of the signs."""
    return _sign(sum(map(_sign, differences)))
