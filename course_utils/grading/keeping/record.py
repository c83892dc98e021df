"""What grading passes on: verdicts as the journal keeps them, and the same with points, as the results show them.

Everything here is plain and turns into JSON and back. Texts may come from a learner's notebook: whoever writes them
into a page or a table escapes them.
"""

from dataclasses import asdict, dataclass, field

STATES = (
    "passed",
    "failed",
    "error",
    "not attempted",
    "missing",
    "not run",
)  # "not run": time was used up, or the file unreadable


@dataclass(frozen=True)
class Verdict:
    """What the judge found on one task of one notebook."""

    task: str  # "03.attention"
    state: str  # one of STATES
    kind: str = ""  # what was wrong first: type, shape, finite, value, gradient, side effect, error
    mistake: str = ""  # the diagnosed mistake's name
    edge: bool = False  # right on every ordinary input (all of them were run), wrong on an edge only
    message: str = ""  # the judge's sentence: why
    note: str = ""  # on the notebook: "defined twice; the last counts", "perhaps renamed to attn"
    code: str = ""  # the definition, as it stands in the notebook, cut at 4,000 characters
    fingerprint: str = (
        ""  # the same for definitions that differ in blanks and comments only; "" where nothing is defined
    )
    seconds: float = 0.0  # wall-clock time of its run
    values_right: bool = False  # all inputs were run and every value is right; a gradient or a side effect is wrong

    @classmethod
    def of(cls, report, **more) -> "Verdict":
        """Return what a check's Report says that earns points; `more` are the other fields."""
        return cls(
            report.task,
            report.state,
            report.kind or "",
            report.mistake or "",
            report.only_edges,
            values_right=report.values_right,
            **more,
        )


@dataclass(frozen=True)
class Result:
    """One line of the journal: one notebook, or one file that could not be read as a notebook."""

    key: str  # SHA-256 over notebook, tasks, seed and limits
    student: str
    file: str  # path below the folder of submissions, "" where a student handed in nothing for the lesson
    lesson: str  # "03", "" where it could not be told
    problem: str = ""  # why the file could not be graded, as a sentence
    remarks: tuple[str, ...] = ()  # on the notebook: "Cell 4 failed: NameError: …"
    suspicions: tuple[str, ...] = ()  # reasons for a look by a person
    verdicts: tuple[Verdict, ...] = ()
    seconds: float = 0.0

    def to_json(self) -> dict:
        """Return it as a dict of plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, plain: dict) -> "Result":
        """Return the Result that `to_json` made `plain` of. Raises TypeError or KeyError where it is none."""
        texts = {name: tuple(plain[name]) for name in ("remarks", "suspicions")}
        return cls(**{**plain, **texts, "verdicts": tuple(Verdict(**verdict) for verdict in plain["verdicts"])})


@dataclass(frozen=True)
class Person:
    """A student, from the roster or from the path of a submission."""

    student: str  # the identifier, unique in a class
    name: str = ""
    email: str = ""
    other: dict[str, str] = field(
        default_factory=dict
    )  # the roster's further columns, such as "SIS Login ID", "Section"


@dataclass(frozen=True)
class Points:
    """Points of one task, and the sentence that explains partial credit."""

    task: str
    points: float
    possible: float
    explanation: str = ""


@dataclass(frozen=True)
class Graded:
    """Everything on one student: what the results are written from."""

    person: Person
    results: tuple[Result, ...]  # one a lesson, in order of lessons; files that are no notebook of a lesson at the end
    points: tuple[Points, ...]  # one a task that counts, in order of tasks
    late: str = ""  # the sentence on lateness
    lost: float = 0.0  # points taken off for lateness
    total: float = 0.0  # the points' sum less `lost`, never below 0
    possible: float = 0.0
