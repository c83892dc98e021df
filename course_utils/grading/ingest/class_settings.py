"""What an instructor sets in one small TOML file: points, the late rule, limits on an answer's run.

    [points]
    "03.attention" = 4              # a task is worth what it declares, usually 1, unless it is here
    leave_out = ["01.word_polarity"]
    questions = 7                   # hand out and count the lessons' questions, too; the number sets the order of their options

    [time]
    zone = "Europe/Berlin"          # of times without an offset from UTC, here, in the overrides and in the roster

    [late]
    deadline = 2026-11-20T23:59:00  # or, without a zone, 2026-11-20T23:59:00+01:00; 2026-11-20 is the end of that day
    per_day = 0.1                   # of the possible points, for each day begun
    grace = 15                      # minutes
    none_after = 7                  # days; after that, nothing counts

    [solutions]
    from = 2026-12-05T00:00:00      # before that, `course release` hands out a copy of the course without them

    [canvas]
    assignment = 12345              # its ID in Canvas, so that an import finds it

    [written."03.why_three"]        # a question whose answer a person reads, handed out with the exercises
    text = "Why does a word need a query, a key and a value? Three sentences are enough."
    points = 2

    [reference]
    counts = true                   # an answer that calls or copies course code its exercise does not offer earns points; false if left out

    [hazards]
    share = 0.9                     # of the points, for an answer wrong only on inputs that no lesson builds, such as NaN at padding; 1 if left out

    [limits]
    seconds = 20                    # of computing, for an answer; longer by the clock on a busy machine; 10 if left out, as in a notebook
    total = 60                      # seconds for a notebook, counted the same way; 40 if left out
    memory = 1000                   # megabytes on top of what Python and PyTorch use

Numbers are read as decimals, so that 0.1 + 0.2 is 0.3.
"""

import os
import re
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo, available_timezones

from course_utils.base.environment import tomllib
from course_utils.base.errors import CourseError
from course_utils.base.files import must_be_ordinary
from course_utils.base.paths import number_of
from course_utils.base.words import did_you_mean
from course_utils.checks import catalogue
from course_utils.grading.ingest.written_answers import Written

MOST = 10_000  # points for a task
LARGEST = 1_000_000  # bytes of the file
DAY_BEGINS, DAY_ENDS = time.min, time.max  # what time a date alone means, depending on its use
FORM = {  # the keys that each section may have; those of points may also be tasks
    "points": ("leave_out", "questions"),
    "time": ("zone",),
    "late": ("deadline", "per_day", "grace", "none_after"),
    "solutions": ("from",),
    "canvas": ("assignment",),
    "reference": ("counts",),
    "hazards": ("share",),
    "limits": ("seconds", "total", "memory"),
    "written": ("text", "points"),
}


class SettingsError(CourseError):
    """One sentence about the instructor's file: the key, what was expected, what is there."""


@dataclass(frozen=True)
class Settings:
    """What the instructor's file says."""

    points: dict[str, Decimal] = field(default_factory=dict)  # by task, if not what the task declares
    leave_out: frozenset[str] = frozenset()  # tasks that do not count
    options_seed: int | None = None  # for the order of questions' options; None: questions are not handed out
    zone: ZoneInfo | None = None  # of times without an offset
    deadline: datetime | None = None  # with its offset
    per_day: Decimal = Decimal(0)  # share of the possible points that each late day begun costs
    grace: Decimal = Decimal(0)  # minutes after the deadline that do not count as late
    none_after: Decimal | None = None  # days late after which nothing counts
    solutions_from: datetime | None = None  # when solutions may be handed out; None: at any time
    canvas: int | None = None  # the assignment's ID
    reference_counts: bool = False  # whether an answer earns points that calls course code its exercise does not offer
    hazard_share: Decimal = Decimal(1)  # for an answer that is wrong only on inputs that no lesson builds
    limits: dict[str, float] = field(default_factory=dict)  # on an answer's run, where not the default
    written: tuple[Written, ...] = ()  # questions whose answers a person reads

    def counted(self, lesson: str) -> list:
        """Return the tasks of a lesson that count, its questions if they do, and those a person reads, in order."""
        asked = catalogue.asked(lesson, questions=self.options_seed is not None)
        counted = [one for one in asked if one.id not in self.leave_out]
        return counted + self.in_words(lesson)

    def in_words(self, lesson: str) -> list[Written]:
        """Return the questions of a lesson whose answers a person reads."""
        return [one for one in self.written if number_of(one.id) == lesson]

    def worth(self, task) -> Decimal:
        """Return the points of a task or question."""
        return self.points.get(task.id, Decimal(str(task.points)))


def known_ids() -> list[str]:
    """Return the ids of all tasks and questions."""
    return [each.id for number in catalogue.by_lesson() for each in catalogue.asked(number, questions=True)]


def read_settings(path: Path | None) -> Settings:
    """Read the instructor's file; the defaults for None. Raises `SettingsError`."""
    if path is None:
        return Settings()
    try:
        must_be_ordinary(path)
        if os.path.getsize(path) > LARGEST:
            raise SettingsError(f"{path} has more than {LARGEST // 10**6} MB: is it the right file?")
        text = Path(path).read_text(encoding="utf-8-sig")
        plain = tomllib.loads(text, parse_float=Decimal)
    except OSError as error:
        raise SettingsError(
            f"{path} cannot be read ({error.strerror}): name a TOML file with the class's settings."
        ) from None
    except UnicodeDecodeError:
        raise SettingsError(f"{path} is not UTF-8: save it as UTF-8.") from None
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{path} is not TOML: {error or 'it is too deeply nested'}.") from None
    try:
        return _settings(plain)
    except SettingsError as error:
        raise SettingsError(f"{path}: {error}") from None


def _settings(plain):
    for section, content in plain.items():
        if section not in FORM:
            raise SettingsError(
                f"there is no section [{section}]{did_you_mean(section, FORM)}: the sections are {', '.join(FORM)}."
            )
        if not isinstance(content, dict):
            raise SettingsError(f"{section} must be a section, written [{section}], not {_value_text(content)}.")
        if section not in ("points", "written"):
            _must_hold_only(f"[{section}]", content, FORM[section])
    sections = {name: plain.get(name, {}) for name in FORM}
    known, zone, from_ = known_ids(), _zone(sections["time"]), sections["solutions"].get("from")
    return Settings(
        **_points(sections["points"], known),
        zone=zone,
        **_late(sections["late"], zone),
        solutions_from=None if from_ is None else _time("[solutions] from", from_, zone, DAY_BEGINS),
        canvas=_canvas(sections["canvas"]),
        reference_counts=_reference(sections["reference"]),
        hazard_share=_number("[hazards] share", sections["hazards"].get("share", 1), 0, 1),
        limits={
            key: float(_number(f"[limits] {key}", value, 0, 10**6, above=True))
            for key, value in sections["limits"].items()
        },
        written=_written(sections["written"], known),
    )


def _points(section, known):
    worth = {}
    for key, value in _flat(section).items():
        if key in FORM["points"]:
            continue
        _must_be_known(f"[points] {key}", key, known)
        worth[key] = _number(f'[points] "{key}"', value, 0, MOST)
    left_out = section.get("leave_out", [])
    if not isinstance(left_out, list) or not all(isinstance(task, str) for task in left_out):
        raise SettingsError(
            f'[points] leave_out must be a list of tasks such as ["03.attention"], not {_value_text(left_out)}.'
        )
    for task in left_out:
        _must_be_known("[points] leave_out", task, known)
    seed = section.get("questions")
    if seed is not None and (type(seed) is not int or not 0 <= seed < 2**31):
        raise SettingsError(
            f"[points] questions must be a whole number such as 7, which chooses the order of their options, not {_value_text(seed)}."
        )
    return {"points": worth, "leave_out": frozenset(left_out), "options_seed": seed}


def _flat(section):
    """Return the section flattened: 03.attention = 4 without quotes, which TOML reads as nested, means the same as with them."""
    flat = {}
    for key, value in section.items():
        flat |= {f"{key}.{inner}": v for inner, v in value.items()} if isinstance(value, dict) else {key: value}
    return flat


def _must_be_known(where, task, known):
    if task not in known:
        lesson = [each for each in known if each.partition(".")[0] == task.partition(".")[0]]
        there = (
            f"lesson {number_of(task)} has {', '.join(lesson)}"
            if lesson
            else f"the lessons are {', '.join(catalogue.by_lesson())}"
        )
        raise SettingsError(f'{where}: there is no task "{task}"{did_you_mean(task, known)}: {there}.')


def _zone(section):
    if "zone" not in section:
        return None
    name, known = section["zone"], {name for name in available_timezones() if "/" in name or name == "UTC"}
    if not known:
        raise SettingsError("[time] zone: this Python knows no time zones: run `pip install tzdata`.")
    if not isinstance(name, str) or name not in known:  # such as EST, which has no summer time
        like = did_you_mean(str(name), known)
        raise SettingsError(
            f'[time] zone must be the name of a time zone such as "Europe/Berlin", not {_value_text(name)}{like}.'
        )
    return ZoneInfo(name)


def _late(section, zone):
    if section and "deadline" not in section:
        raise SettingsError("[late] deadline is missing: write it as 2026-11-20T23:59:00+01:00.")
    late = {"deadline": _time("[late] deadline", section["deadline"], zone, DAY_ENDS) if section else None}
    for key, most in (("per_day", 1), ("grace", 60 * 24 * 365), ("none_after", 10_000)):
        if key in section:
            late[key] = _number(f"[late] {key}", section[key], 0, most)
    return late


def _time(where, value, zone, of_day):
    time = in_zone(value, zone, of_day) if isinstance(value, date) else None
    if time is None or time.tzinfo is None:
        raise SettingsError(
            f"{where} must be a time with its offset from UTC, such as 2026-11-20T23:59:00+01:00 without quotes, not {_value_text(value)}. {NO_ZONE}"
        )
    return time


NO_ZONE = (
    'Times without an offset can be read once the settings name the class\'s time zone: [time] zone = "Europe/Berlin".'
)


def in_zone(time: date, zone: ZoneInfo | None, of_day: time = DAY_BEGINS) -> datetime:
    """Return a time with its own offset, or else with the class zone's at that time; unchanged if there is neither.

    A date alone means the beginning or end of its day, as `of_day` says.
    """
    time = time if isinstance(time, datetime) else datetime.combine(time, of_day)
    return time.replace(tzinfo=zone) if time.tzinfo is None else time


def day_or_time(text: str) -> date:
    """Return a text as a date or, failing that, as a date and time. Raises `ValueError`."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return datetime.fromisoformat(text)


def written_out(time: datetime) -> str:
    """Return a time as people write it, with its zone: "Friday, 20 November 2026, 23:59 (Europe/Berlin)", or "(UTC+01:00)" for an offset."""
    zone = getattr(time.tzinfo, "key", None) or time.tzname()
    return f"{time:%A}, {time.day} {time:%B %Y}, {time:%H:%M} ({zone})"


def _canvas(section):
    assignment = section.get("assignment")
    if assignment is not None and (type(assignment) is not int or assignment < 1):
        raise SettingsError(
            f"[canvas] assignment must be the number at the end of the assignment's address, such as 12345, not {_value_text(assignment)}."
        )
    return assignment


def _reference(section):
    counts = section.get("counts", False)
    if not isinstance(counts, bool):
        raise SettingsError(f"[reference] counts must be true or false, not {_value_text(counts)}.")
    return counts


def _written(section, known):
    found = []
    for name, question in _flat_tables(section).items():
        where = f'[written."{name}"]'
        if not re.fullmatch(r"\d\d\.[A-Za-z]\w{0,59}", name) or number_of(name) not in catalogue.by_lesson():
            raise SettingsError(
                f'{where} must begin with the number of a lesson with exercises, and a name of yours in letters, such as [written."03.why_three"].'
            )
        if name in known:
            raise SettingsError(f"{where}: the course has a task of that name: choose another.")
        _must_hold_only(where, question, FORM["written"])
        text = question.get("text")
        if not isinstance(text, str) or not text.strip():
            raise SettingsError(
                f"{where} text must be the question, in quotes, not {_value_text(text) if text is not None else 'left out'}."
            )
        found.append(Written(name, text, float(_number(f"{where} points", question.get("points", 1), 0, MOST))))
    return tuple(found)


def _flat_tables(section):
    """Return {"03.why_three": its table}; [written.03.why_three] without quotes, which TOML reads as nested, means the same."""
    flat = {}
    for key, value in section.items():
        if not isinstance(value, dict):
            raise SettingsError(f'[written] holds one section a question, such as [written."03.why_three"], not {key}.')
        nested = "." not in key and value and all(isinstance(inner, dict) for inner in value.values())
        flat |= {f"{key}.{inner}": table for inner, table in value.items()} if nested else {key: value}
    return flat


def _must_hold_only(where, section, known):
    for key in section:
        if key not in known:
            raise SettingsError(f"{where} has no {key}{did_you_mean(key, known)}: it may hold {', '.join(known)}.")


def _number(where, value, least, most, above=False):
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        number = Decimal(value)
        if number.is_finite() and least <= number <= most and not (above and number == least):
            return number
    start = f"more than {least}" if above else f"from {least}"
    raise SettingsError(f"{where} must be a number {start} to {most}, not {_value_text(value)}.")


def _value_text(value):
    if isinstance(value, date):
        return value.isoformat()
    text = str(value) if isinstance(value, Decimal | float | int) and not isinstance(value, bool) else repr(value)
    text = {"True": "true", "False": "false", "None": "nothing"}.get(text, text)
    return text if len(text) <= 60 else text[:60] + "…"
