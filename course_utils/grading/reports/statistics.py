"""Counts what a class did, from a stream of `Graded`: states, mistakes, identical answers, who needs a look.

Memory stays bounded whatever is handed in: counters for what the course declares, lists and dicts with a cap for the
rest, and how much a cap left out. Escapes nothing and writes nothing (`class_page` does).
"""

import hashlib
import heapq
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from statistics import fmean, median

from course_utils.base.sanitise import cut
from course_utils.grading.ingest.notebook_file import fingerprint
from course_utils.grading.reports.sentences import (
    NOTHING,
    handed_in,
    notes,
    number,
    on_stranger,
    problems,
    requests,
    set_by_hand,
    verdicts,
)
from course_utils.grading.storage.record import READ, TO_BE_READ, Graded, Points, Verdict

LISTED = 50  # students or groups in a list
SLOWEST = 10
REASONS, REASON = 5, 400  # reasons or files named for a student, and characters of each
KINDS = 200  # different mistakes counted for a task
ANSWERS = 20_000  # different answers compared for a task
GROUPS = 1000  # groups of identical answers kept for a task
CODE = 1500  # characters of code kept
PEOPLE = 12  # students named in a group of identical answers
STANDINGS = ("passed", "partly", "wrong", "none", "absent")
SHORT = 80  # an answer of fewer characters, as `substance` counts them, may well be written twice
LONG = 240  # a longer one, about eight lines, hardly: it is listed however many have written it
NEVER_MANY = 4  # so few alike are never "what many write"
TRIVIAL = object()  # instead of a group whose answer is that short


class Listing(list):
    """A list that takes `at_most` items and counts the rest as `more`."""

    def __init__(self, at_most: int, items: Iterable = ()):
        super().__init__()
        self.at_most, self.more = at_most, 0
        for item in items:
            self.add(item)

    def add(self, item) -> None:
        if len(self) < self.at_most:
            self.append(item)
        else:
            self.more += 1

    def add_reasons(self, who: tuple, reasons: list[str]) -> None:
        """Add (who, the first reasons, how many others there are), if there are any."""
        if reasons:
            self.add((who, [cut(reason, REASON) for reason in reasons[:REASONS]], len(reasons[REASONS:])))


@dataclass
class Mistake:
    """How often a mistake was made, and the shortest answer that makes it."""

    name: str  # "" if the judge knows no name for what is wrong
    kind: str
    count: int = 0
    message: str = ""
    code: str = ""

    def add(self, verdict: Verdict) -> None:
        self.count += 1
        code = cut(verdict.code.strip(), CODE)
        shorter = code and (not self.code or (len(code), code) < (len(self.code), self.code))
        if shorter or not self.message:
            self.message = verdict.message
        if shorter:
            self.code = code


@dataclass
class Group:
    """Students whose answers to a task differ at most in their own names, blanks and comments."""

    people: Listing
    passed: bool
    code: str
    count: int = 1
    known: bool = False  # the course's own answer, which `solution` shows


@dataclass
class TaskTally:
    """What a class did with one task."""

    task: object
    standings: Counter = field(default_factory=Counter)
    points: float = 0.0
    possible: float = 0.0
    mistakes: dict = field(default_factory=dict)
    answers: dict = field(default_factory=dict)  # fingerprint's hash -> who, from the second on a Group or TRIVIAL
    fingerprints: int = 0  # answers that have one
    kept_groups: int = 0
    not_compared: int = 0

    @property
    def handed_in(self) -> int:
        return sum(self.standings.values()) - self.standings["absent"]

    def share(self, n: int) -> float:
        """Return `n` as a share of those who handed in the lesson."""
        return n / max(1, self.handed_in)

    def add(self, verdict: Verdict, points: Points, who: tuple) -> None:
        self.standings[standing(verdict, points)] += 1
        self.points += points.points
        self.possible = max(self.possible, points.possible)
        if verdict.state in ("failed", "error"):
            self._mistake(verdict).add(verdict)
        if verdict.fingerprint:
            self._compare(verdict, who)

    def _mistake(self, verdict):
        key = verdict.mistake, "" if verdict.mistake else verdict.kind
        if key not in self.mistakes and len(self.mistakes) >= KINDS:
            key = "", "other"
        return self.mistakes.setdefault(key, Mistake(*key))

    def _compare(self, verdict, who):
        self.fingerprints += 1
        key = _fingerprint_key(verdict.fingerprint)
        entry = self.answers.get(key)
        if isinstance(entry, tuple):
            self._found_group(key, entry, verdict, who)
        elif isinstance(entry, Group):
            entry.count += 1
            entry.people.add(who)
        elif entry is None and len(self.answers) < ANSWERS:
            self.answers[key] = who
        elif entry is None:
            self.not_compared += 1

    def _found_group(self, key, first, verdict, second):
        if len(substance(verdict.code)) < SHORT:
            self.answers[key] = TRIVIAL
        elif self.kept_groups < GROUPS:
            self.kept_groups += 1
            people = Listing(PEOPLE, [first, second])
            self.answers[key] = Group(people, verdict.state == "passed", cut(verdict.code, CODE), 2)
        else:
            self.not_compared += 1

    def common_mistakes(self) -> list[Mistake]:
        """Return the mistakes, the most common first; those with a name before those without."""
        return sorted(self.mistakes.values(), key=lambda m: (not m.name, -m.count, m.name, m.kind))

    def groups(self, own: str = "") -> list[Group]:
        """Return the groups worth a look, without what many find by themselves: shorter than `LONG`, and found by more than a fifth.

        `own`: the course's answer; those who give it are a group, however many they are.
        """
        most, its_key = max(NEVER_MANY, self.fingerprints / 5), _fingerprint_key(fingerprint(own))
        found = {key: group for key, group in self.answers.items() if isinstance(group, Group)}
        known, alone = found.pop(its_key, None), self.answers.get(its_key)
        if isinstance(alone, tuple) and len(substance(own)) >= SHORT:
            known = Group(Listing(PEOPLE, [alone]), True, cut(own, CODE))
        others = [group for group in found.values() if group.count <= most or len(substance(group.code)) >= LONG]
        return [*others, *([replace(known, known=True)] if known else [])]


class ClassStatistics:
    """What a class did. `add` takes a student and keeps little."""

    def __init__(self, tasks: list):
        self.tasks = {task.id: TaskTally(task) for task in tasks}
        self.students = self.handed_in = self.passed_all = 0
        self.totals, self.possible = Counter(), 0.0
        self.people = Listing(200)
        self.absent, self.suspicious, self.problems, self.by_hand, self.strangers, self.requests = (
            Listing(LISTED) for _ in range(6)
        )
        self.noticed = {}  # sentence -> who
        self.other_lessons = Counter()  # students who handed in a lesson that does not count
        self.requests_answered = self.to_read = 0
        self.late_unknown = 0  # students whose files Canvas marks as late, without a time
        # (seconds, who, file, (seconds, task) of the slowest answer), the slowest first.
        self.slowest, self.seconds = [], 0.0

    def add(self, graded: Graded) -> None:
        who = (graded.person.student, cut(graded.person.name, 120))
        self.students += 1
        self.totals[number(graded.total)] += 1
        self.possible = max(self.possible, graded.possible)
        self.people.add((who, number(graded.total)))
        if handed_in(graded):
            self.handed_in += 1
        else:
            self.absent.add(who)
        self._look_closer(graded, who)
        passed = 0
        for task, verdict, points in verdicts(graded, [tally.task for tally in self.tasks.values()]):
            self.tasks[task.id].add(verdict, points, who)
            self.to_read += verdict.state == TO_BE_READ
            passed += standing(verdict, points) == "passed"
        self.passed_all += bool(self.tasks) and passed == len(self.tasks)

    def _look_closer(self, graded, who):
        self.suspicious.add_reasons(who, notes(graded, "suspicions"))
        for text in dict.fromkeys(cut(text, REASON) for text in notes(graded, "noticed")):
            if text in self.noticed or len(self.noticed) < LISTED:
                self.noticed.setdefault(text, Listing(PEOPLE)).add(who)
        self.problems.add_reasons(who, problems(graded, of_files=True))
        self.by_hand.add_reasons(who, [*set_by_hand(graded), *filter(None, [graded.comment])])
        pairs = requests(graded)
        self.requests.add_reasons(who, [text for text, answered in pairs if not answered])
        self.requests_answered += sum(answered for _, answered in pairs)
        if graded.stranger:
            self.strangers.add((who, on_stranger(graded), 0))
        self.other_lessons.update(graded.other_lessons)
        self.late_unknown += graded.late_unknown
        for result in graded.results:
            self.seconds += result.seconds
            most = max(((verdict.seconds, verdict.task) for verdict in result.verdicts), default=(0.0, ""))
            if result.seconds > 0:
                row = (result.seconds, who, cut(result.file, 200), most)
                self.slowest = heapq.nlargest(SLOWEST, [*self.slowest, row])

    @property
    def mean(self) -> float:
        return fmean(self.totals.elements()) if self.students else 0.0

    @property
    def median(self) -> float:
        return median(self.totals.elements()) if self.students else 0.0

    def tenths(self) -> list[int]:
        """Return how many students reached 0-10%, 10-20%, …, 90-100% of the points; the last includes its upper end."""
        bins = [0] * 10
        for total, n in self.totals.items():
            bins[min(9, int(10 * total / self.possible + 1e-9)) if self.possible else 0] += n
        return bins


def standing(verdict: Verdict, points: Points) -> str:
    """Return which of STANDINGS a verdict has on the pages."""
    if verdict.borrowed and not points.points:
        return "wrong"
    if verdict.state in ("passed", NOTHING):
        return "passed" if verdict.state == "passed" else "absent"
    if points.points > 0:
        return "partly"
    return "wrong" if verdict.state in ("failed", "error", READ) else "none"


def substance(code: str) -> str:
    """Return a definition's characters without its signature, docstring, comments and blanks. Reads it as text only."""
    body = re.sub(r'"""[^"]*"""|' + r"'''[^']*'''", "", code[:4000])
    lines = (line.partition("#")[0].strip() for line in body.splitlines())
    return "".join(
        "".join(line.split()) for line in lines if not line.startswith(("def ", "@", "class ", "import ", "from "))
    )


def _fingerprint_key(fingerprint):
    return hashlib.sha256(fingerprint.encode("utf-8", "surrogatepass")).digest()[:12]
