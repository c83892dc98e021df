"""Task 90.token_batches: lists of whole numbers, and an exception that is the right outcome."""

from course_utils.checks.task import Case, Task

task = Task(
    __name__,
    "sentences of like length in one batch",
    arguments=("lengths", "limit"),
    result="batches",
    difficulty=3,
    importance=3,
    minutes=15,
)


@task.cases
def _(draw):
    yield Case("3 sentences", ([2, 1, 2], 4))
    for n in (5, 11, 17):
        yield Case(f"{n} sentences", (draw.whole(1, 9, n).tolist(), 16))
    limit = int(draw.whole(3, 8))
    yield Case("a sentence as long as the limit", ([1, limit, 1], limit))
    yield Case("no sentence", ([], 4), edge=True)
    yield Case("a sentence above the limit", ([3, 9], 8), edge=True, raises="ValueError")


@task.oracle
def _(lengths, limit):
    batches = []
    for place in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        if lengths[place] > limit:
            raise ValueError(f"a sentence of {lengths[place]} tokens does not fit into {limit}")
        if batches and (len(batches[-1]) + 1) * lengths[place] <= limit:
            batches[-1].append(place)
        else:
            batches.append([place])
    return batches


@task.mistake()
def not_sorted(lengths, limit):
    order = task.oracle_function(sorted(lengths), limit)
    places = iter(range(len(lengths)))
    return [[next(places) for _ in batch] for batch in order]


@task.mistake()
def longest_first(lengths, limit):
    return task.oracle_function([-n for n in lengths], limit) if max(lengths, default=0) <= limit else [][0]


@task.mistake()
def no_error(lengths, limit):
    return (
        task.oracle_function(lengths, limit) if max(lengths, default=0) <= limit else [[i] for i in range(len(lengths))]
    )
