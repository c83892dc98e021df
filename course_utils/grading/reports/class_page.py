"""The page about a class: what it was asked and achieved, what it misunderstood, who and what needs a look.

Here: what `statistics` counted, sorted and chosen for the page. Not here: the page itself (`templates/class.html`).
"""

from collections.abc import Iterable
from dataclasses import dataclass

from course_utils.checks.catalogue import solutions
from course_utils.grading.ingest.written_answers import Written
from course_utils.grading.reports import statistics
from course_utils.grading.reports.markup import anchor, sentence, template, with_code
from course_utils.grading.storage.record import Graded

WORDS = {
    "passed": "passed",
    "partly": "part of the points",
    "wrong": "failed or error",
    "none": "no answer",
    "absent": "not handed in",
}
RANKS = ("most common", "second", "third", "fourth", "fifth")
SHADES = ((0.05, "h1"), (0.1, "h2"), (0.2, "h3"), (1.01, "h4"))  # share of those who handed in: below this
OPEN = 3  # mistakes that show their code
NOT_DIAGNOSED = {
    "type": "another type",
    "shape": "another shape",
    "finite": "NaN or infinite",
    "value": "other values",
    "gradient": "gradient",
    "side effect": "alters its input",
    "error": "stops with an error",
    "other": "others, each of them rare",
}


@dataclass
class Shown:
    """A mistake of a task as the page shows it."""

    task: str
    place: str
    words: str
    sentence: str  # Markup
    count: int
    share: float  # of those who handed in the lesson
    code: str
    is_open: bool = False

    @property
    def shade(self) -> str:
        return next(name for limit, name in SHADES if self.share < limit)


def class_page(graded: Iterable[Graded], tasks: list, title: str, notice: str = "") -> str:
    """Return the page about a class; `graded` is read once, a `notice` goes on top. Links go to the pages in feedback/."""
    counts = statistics.ClassStatistics(tasks)
    for student in graded:
        counts.add(student)
    rows, tenths = counts.tasks.values(), counts.tenths()
    any_in_words = any(isinstance(task, Written) for task in tasks)
    heat, mistakes = _mistakes(rows)
    return template("class.html").render(
        title=title,
        notice=notice,
        counts=counts,
        tenths=[(n, 110 * n / (max(tenths) or 1)) for n in tenths],
        tenths_in_words=", ".join(f"{10 * i} to {10 * i + 10} %: {n}" for i, n in enumerate(tenths) if n),
        standings=WORDS | ({"none": "no answer, or not read yet"} if any_in_words else {}),
        task_rows=[(row, sum(row.standings.values()) or 1, _pieces(row.standings)) for row in rows],
        ranks=RANKS,
        heat=heat,
        mistakes=mistakes,
        any_in_words=any_in_words,
        groups=_groups(rows),
        statistics=statistics,
        not_compared=sum(row.not_compared for row in rows),
    )


def _pieces(standings):
    """Return the pieces of a task's bar as (standing, left end, width), in percent."""
    place, pieces = 0.0, []
    for standing in statistics.STANDINGS:
        width = 100 * standings[standing] / (sum(standings.values()) or 1)
        pieces.append((standing, place, width))
        place += width
    return pieces


def _mistakes(rows):
    """Return (task, its most common named mistakes, how often unnamed ones were made) for each task, and the mistakes to show."""
    heat, found = [], []
    for row in rows:
        mistakes = row.common_mistakes()
        if mistakes:
            named = [_shown(row, mistake) for mistake in mistakes if mistake.name][: len(RANKS)]
            unnamed = [mistake for mistake in mistakes if not mistake.name]
            heat.append((row, named, sum(mistake.count for mistake in unnamed)))
            found += [*named, *(_shown(row, mistake) for mistake in unnamed[:2])]
    found.sort(key=lambda mistake: -mistake.count)
    for mistake in found[:OPEN]:
        mistake.is_open = True
    return heat, found


def _shown(row, mistake):
    declared = next((m.sentence for m in row.task.mistakes if m.name == mistake.name), "")
    return Shown(
        row.task.id,
        anchor("m", row.task.id, mistake.name or f"-{mistake.kind}"),
        mistake.name.replace("_", " ") or f"without a name: {NOT_DIAGNOSED.get(mistake.kind, 'wrong')}",
        with_code(declared) if declared else sentence(mistake.message),
        mistake.count,
        row.share(mistake.count),
        mistake.code,
    )


def _groups(rows):
    """Return a Listing of what the same people share, each a list of (task, group); those who share most come first."""
    own, together = solutions(), {}
    for row in rows:
        for group in row.groups(own.get(row.task.id, "")):
            together.setdefault((group.count, *sorted(group.people)), []).append((row, group))
    ranked = sorted(together.values(), key=lambda pairs: (-_weight(pairs), pairs[0][1].count))
    return statistics.Listing(statistics.LISTED, ranked)


def _weight(pairs):
    return sum(0 if group.known else 2 - group.passed for _, group in pairs)
