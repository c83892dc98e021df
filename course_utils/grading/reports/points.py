"""Turns verdicts into points: what a task is worth, partial credit, the late rule.

Pure: the same verdicts and settings give the same points. Computed in decimals, so that 0.1 + 0.2 is 0.3; rounded to
two places, half up. What an instructor sets is read by `ingest.class_settings`.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from decimal import ROUND_HALF_UP, Decimal

from course_utils.base.words import count
from course_utils.grading.ingest.class_settings import Settings, written_out
from course_utils.grading.ingest.overrides import NONE, Override
from course_utils.grading.storage.record import Graded, Person, Points, Result, Verdict

CENT = Decimal("0.01")
# Differences from it are in real hours, whatever the clocks do in between.
BEGIN = datetime(1970, 1, 1, tzinfo=timezone.utc)
MARKED_LATE = (
    "Canvas marks what you handed in as late, but does not say when it came in: no points are taken off for that."
)


def score(result: Result, settings: Settings) -> tuple[Points, ...]:
    """Return the points of one result, for the tasks and questions of its lesson that count, in their order."""
    verdicts = {verdict.task: verdict for verdict in result.verdicts}
    return tuple(_points_of(task, verdicts.get(task.id), settings) for task in settings.counted(result.lesson))


def _points_of(task, verdict, settings):
    possible = settings.worth(task)
    share, explanation = share_of(task, verdict)
    if verdict is not None and verdict.hazard and settings.hazard_share < 1:
        share, explanation = settings.hazard_share, "right, but on an input that no lesson builds."
    if verdict is not None and verdict.borrowed and not settings.reference_counts:
        share, explanation = (
            Decimal(0),
            f"it calls the course's own `{verdict.borrowed}`, which this task does not offer.",
        )
    explained = f"{_number_text(share * 100)}% of the points: {explanation}" if explanation and possible else ""
    return Points(task.id, float(_rounded(share * possible)), float(_rounded(possible)), explained)


def share_of(task, verdict: Verdict | None):
    """Return the share of points earned, and why if it is neither none nor all."""
    if verdict is None or verdict.state not in ("failed", "error"):
        return Decimal(verdict is not None and verdict.state == "passed"), ""
    keys = [verdict.mistake]
    if verdict.state == "failed":  # an answer that stops with an error earns its diagnosed mistake's share, or nothing
        keys.append("edge" if verdict.edge else "")
        keys.append(verdict.kind if verdict.values_right else "")  # otherwise something worse is behind the first found
    for key in filter(None, keys):
        if key in task.partial:
            share, sentence = task.partial[key]
            return Decimal(str(share)), sentence
    return Decimal(0), ""


def graded(
    person: Person,
    results: Iterable[Result],
    settings: Settings,
    submitted: datetime | None = None,
    override: Override = NONE,
    marked_late: bool = False,
) -> Graded:
    """Return everything about one student.

    Args:
        person: the student.
        results: one per lesson that counts, even if nothing was handed in for it, and files that could not be graded.
        settings: the instructor's.
        submitted: when it was handed in, with its offset from UTC if there is a deadline. None: unknown, so not late.
        override: what the instructor has set by hand.
        marked_late: whether Canvas calls it late. Without a time, this is reported but costs nothing.
    """
    results = sorted(results, key=lambda result: (result.lesson == "", result.lesson))
    # A file that could not be graded belongs to no lesson that counts.
    counted = [result for result in results if not (result.file and result.problem)]
    in_words = {question.id for question in settings.written}
    by_task = {p.task: _set_by_hand(p, override, in_words) for result in counted for p in score(result, settings)}
    earned = sum((Decimal(str(points.points)) for points in by_task.values()), Decimal(0))
    possible = sum((Decimal(str(points.possible)) for points in by_task.values()), Decimal(0))
    handed_in = any(result.file for result in results)
    if override.deadline and settings.deadline:
        settings = replace(settings, deadline=override.deadline)
    late, lost = _late_sentence_and_loss(settings, submitted, earned, possible) if handed_in else ("", Decimal(0))
    late_unknown = marked_late and submitted is None and settings.deadline is not None and override.deadline is None
    late = MARKED_LATE if late_unknown else late
    if override.deadline:
        late = f"Your deadline was extended to {written_out(override.deadline)}. {late}".strip()
    return Graded(
        person,
        tuple(results),
        tuple(by_task.values()),
        late,
        float(lost),
        float(earned - lost),
        float(possible),
        override.comments.get("", ""),
        late_unknown=late_unknown,
    )


def _set_by_hand(points, override, in_words):
    """Return the points of a task as the instructor has set them, with the comment; what grading gave is kept, too.

    For an answer in words, grading gave nothing: it has been read.
    """
    comment = override.comments.get(points.task, "")
    if points.task not in override.points:
        return replace(points, comment=comment)
    awarded = float(_rounded(override.points[points.task]))
    if points.task in in_words:
        return replace(points, points=awarded, comment=comment, read=True)
    return replace(points, points=awarded, explanation="", graded=points.points, comment=comment)


def _late_sentence_and_loss(settings, submitted, earned, possible):
    """Return the sentence on lateness and the points lost, never more than were earned."""
    if submitted is None or settings.deadline is None:
        return "", Decimal(0)
    if (submitted - BEGIN) - (settings.deadline - BEGIN) <= timedelta(minutes=float(settings.grace)):
        return "", Decimal(0)
    over = _class_time(submitted, settings) - _class_time(settings.deadline, settings)
    days = max(1, -(-over // timedelta(days=1)))
    late = f"{count(days, 'day')} late"
    if settings.none_after is not None and over > timedelta(days=float(settings.none_after)):
        return f"{late}: after {_number_text(settings.none_after)} days nothing counts.", earned
    lost = min(earned, _rounded(days * settings.per_day * possible))
    if not settings.per_day:
        return f"{late}: this costs no points.", lost
    rate = _number_text(settings.per_day * 100)
    return (
        f"{late}: {rate}% of the {_number_text(possible)} possible points for each day begun, {_number_text(lost)} taken off.",
        lost,
    )


def _class_time(time, settings):
    """Return what the class's clock shows: a day lasts until the same time the next day, even if summer time ends in between."""
    return time.astimezone(settings.zone or settings.deadline.tzinfo).replace(tzinfo=None)


def _rounded(number):
    return number.quantize(CENT, ROUND_HALF_UP)


def _number_text(number):
    """Return a decimal without trailing zeros."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
