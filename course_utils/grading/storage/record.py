"""What grading passes on: verdicts as the journal keeps them, and with points, as the results show them.

Everything here is plain and turns into JSON and back. Texts may come from a learner's notebook: whoever writes them
into a page or a table escapes them.
"""

import json
from dataclasses import asdict, dataclass, field, fields, replace

from course_utils.base.sanitise import cut

TO_BE_READ, READ = "to be read", "read"  # of an answer in words, which only a person can judge
STATES = (
    "passed",
    "failed",
    "error",
    "not attempted",
    "missing",
    "not run",
    TO_BE_READ,
    READ,
)  # "not run": time was used up, or the file unreadable


BYTES_AT_MOST = 2**16  # of a Result as a line of JSON
REMARKS, SUSPICIONS, NOTICED = 20, 20, 20  # of a Result
REMARK_AT_MOST = 400  # characters
LENGTHS = (4000, 1000, 250, 100, 40)  # to which all texts are cut, in turn, until they fit


@dataclass(frozen=True)
class Verdict:
    """What the judge found on one task of one notebook."""

    task: str  # "03.attention"
    state: str  # one of STATES
    kind: str = ""  # what was wrong first: type, shape, finite, value, gradient, side effect, error
    mistake: str = ""  # the diagnosed mistake's name
    edge: bool = False  # right on every ordinary input (all were run), wrong only on an edge
    message: str = ""  # the judge's sentence: why
    note: str = ""  # on the notebook: "defined twice; the last counts", "perhaps renamed to attn"
    code: str = ""  # the definition, as it is in the notebook, cut at 4,000 characters
    fingerprint: str = ""  # the same if only layout and own names differ; "" if there is no answer
    seconds: float = 0.0  # wall-clock time of its run
    borrowed: str = ""  # the course's functions that it calls although the exercise does not offer them
    values_right: bool = False  # all inputs were run and every value is right; a gradient or a side effect is wrong
    hazard: bool = False  # wrong only on inputs that no lesson builds
    pictures: int = 0  # in an answer in words

    @classmethod
    def of(cls, report, **more) -> "Verdict":
        """Return what a check's Report says that affects points; `more` are the other fields."""
        return cls(
            report.task,
            report.state,
            report.kind or "",
            report.mistake or "",
            report.only_edges,
            borrowed=", ".join(report.borrowed),
            values_right=report.values_right,
            hazard=report.hazard,
            **more,
        )


@dataclass(frozen=True)
class Result:
    """One line of the journal: one notebook, or one file that could not be read as a notebook."""

    key: str  # SHA-256 of notebook, tasks, seed, limits and more: `result_key`
    student: str
    file: str  # path below the folder of submissions, "" if a student handed in nothing for the lesson
    lesson: str  # "03", "" if unknown
    problem: str = ""  # why the file could not be graded, as a sentence
    remarks: tuple[str, ...] = ()  # on the notebook: "Cell 4 failed: NameError: …"
    suspicions: tuple[str, ...] = ()  # what no honest notebook needs: reasons for a look by a person
    verdicts: tuple[Verdict, ...] = ()
    seconds: float = 0.0
    requests: tuple[str, ...] = ()  # to look again at a task: "03.attention: My answer is right, since …"
    noticed: tuple[str, ...] = ()  # for the instructor, but no reason for suspicion: "Checks deleted: …"

    def fitted(self) -> "Result":
        """Return the same, cut to at most `BYTES_AT_MOST` as a line: a notebook's texts are otherwise unbounded."""
        few = replace(
            self,
            remarks=_first_texts(self.remarks, REMARKS, "remarks"),
            suspicions=_first_texts(self.suspicions, SUSPICIONS, "reasons"),
            noticed=_first_texts(self.noticed, NOTICED, "things"),
        )
        for length in LENGTHS:
            verdicts = tuple(_cut_texts(verdict, length) for verdict in few.verdicts)
            fit = replace(
                few,
                file=cut(few.file, length),
                problem=cut(few.problem, length),
                remarks=tuple(cut(text, length) for text in few.remarks),
                suspicions=tuple(cut(text, length) for text in few.suspicions),
                requests=tuple(cut(text, length) for text in few.requests),
                noticed=tuple(cut(text, length) for text in few.noticed),
                verdicts=verdicts,
            )
            if len(fit.line()) <= BYTES_AT_MOST:
                break
        return fit

    def line(self) -> bytes:
        """Return it as a line of JSON."""
        return json.dumps(self.to_json(), separators=(",", ":")).encode() + b"\n"

    def to_json(self) -> dict:
        """Return it as a dict of plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, plain: dict) -> "Result":
        """Return the Result that `to_json` turned into `plain`. Raises TypeError or KeyError if there is none."""
        texts = {name: tuple(plain[name]) for name in ("remarks", "suspicions", "requests")}
        texts["noticed"] = tuple(plain.get("noticed", ()))  # which an earlier version's journals lack
        return cls(**{**plain, **texts, "verdicts": tuple(Verdict(**verdict) for verdict in plain["verdicts"])})


def _first_texts(texts, at_most, what):
    """Return the first texts, each cut, and how many more were left out."""
    first = tuple(cut(text, REMARK_AT_MOST) for text in texts[:at_most])
    return first if len(texts) <= at_most else (*first[:-1], f"{len(texts) - at_most + 1:,} more {what} were left out.")


def _cut_texts(verdict, length):
    texts = {each.name: getattr(verdict, each.name) for each in fields(verdict) if each.type in ("str", str)}
    return replace(verdict, **{name: cut(text, length) for name, text in texts.items()})


@dataclass(frozen=True)
class Person:
    """A student, from the roster or from the path of a submission."""

    student: str  # the identifier, unique in a class
    name: str = ""
    email: str = ""
    # The roster's other columns, such as "SIS Login ID", "Section".
    other: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Points:
    """Points of one task, and the sentence that explains partial credit."""

    task: str
    points: float
    possible: float
    explanation: str = ""
    graded: float | None = None  # what grading gave, if an instructor has set other points
    read: bool = False  # whether an answer in words was read: the points are the instructor's
    comment: str = ""  # the instructor's


@dataclass(frozen=True)
class Graded:
    """Everything about one student, from which the results are written."""

    person: Person
    results: tuple[Result, ...]  # one per lesson, in order of lessons; files that are no lesson's notebook at the end
    points: tuple[Points, ...]  # one per task that counts, in order of tasks
    late: str = ""  # the sentence on lateness
    lost: float = 0.0  # points taken off for lateness
    total: float = 0.0  # the points' sum less `lost`, never below 0
    possible: float = 0.0
    comment: str = ""  # the instructor's, on the whole
    other_lessons: tuple[str, ...] = ()  # that were handed in and do not count
    stranger: bool = False  # handed in but not on the roster, if there is one
    resembled: str = ""  # the student on the roster to whom a stranger's name may belong
    late_unknown: bool = False  # Canvas marks it as late, and nothing says when it was handed in
