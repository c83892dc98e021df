"""What a task consists of: cases, the steps to a correct answer, properties, named mistakes, hints. Runs and judges nothing.

A task is declared in a file of its own, `course_lessons/lesson_04_alignment_scores/tasks/dot.py`:

    task = Task(__name__, "the dot-product score", arguments=("state B×T×D", "hidden B×S×D"), result="scores B×T×S",
                difficulty=1, importance=5, minutes=5)

    @task.cases
    def _(draw):
        for size in sizes(B=2, T=3, S=5, D=7):
            yield Case(...)

    @task.mistake()
    def swapped_axes(state, hidden): ...

Its hints and the sentences of its mistakes are in `dot.md` beside it, where most mistakes are changes to the solution and need no function
(`task_text.py` shows how).
"""

import random
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, InitVar, dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from traceback import extract_stack
from types import SimpleNamespace

import torch

from course_utils.base.errors import CourseError
from course_utils.base.trees import map_leaves
from course_utils.checks.changed_solution import changed
from course_utils.checks.derived_steps import derived_steps
from course_utils.checks.reference_trace import mutate
from course_utils.checks.running.contract import Candidate, Case
from course_utils.checks.solutions import function_from, imports_of, lessons_folder, packed_sources, solutions
from course_utils.checks.task_text import TaskText, read_task_text


class Mistake:
    """An incorrect implementation with a name, and the sentence that helps its author. One that a line of an answer shows has no function.

    `changes` are its changes to the solution, `make` returns the function that they lead to; both only if it is written as changes.
    `source` is the changed solution of an instructor's own mistake, which has no function where a class is graded: it runs in the sandbox.
    """

    def __init__(
        self,
        name: str,
        sentence: str,
        function: Callable | None = None,
        changes: Sequence[str] = (),
        make: Callable[[], Callable] | None = None,
        source: str = "",
    ) -> None:
        self.name, self.sentence, self.changes, self.source = name, sentence, tuple(changes), source
        self._function, self._make = function, make

    @property
    def function(self) -> Callable | None:
        """The incorrect implementation, made when it is first wanted."""
        if self._function is None and self._make is not None:
            self._function = self._make()
        return self._function

    @property
    def is_run(self) -> bool:
        """Whether it is known by its outcomes, not by a line of an answer. Runs nothing."""
        return bool(self._function or self._make or self.source)

    def reworded(self, sentence: str) -> "Mistake":
        """Return the same mistake with a new sentence."""
        return Mistake(self.name, sentence, self._function, self.changes, self._make, self.source)


@dataclass(eq=False, repr=False)
class Task:
    """One exercise. `arguments` and `result` name things with their shapes, as in "weights B×S".

    `home` is the name of the module that declares it: its file gives the task its id, and a Markdown file beside it contains its hints and
    mistakes. For a task without its own module, as in tests, it is the id instead. `difficulty` and `importance` run from 1 to 5,
    `minutes` is the most that a learner may need.

    An argument may be a dict or a list of tensors. If `module` is true, the answer is a class of modules: the first argument is a dict of
    the sizes passed to it, the second a dict of its parameters. Arguments named in `gradient_not_asked` may get any gradient. For those in
    `rows_sum_to_one`, a number added to a whole row of the gradient makes no difference, since rows cannot move that way. If
    `gradient_optional` is true, a missing gradient only adds a remark to a correct answer.

    Candidates are suspects: an answer tells incorrect ones from correct ones. If `suspects` is false, they are functions to
    examine, which raise exceptions only if called wrongly.

    `offers` names the course's own functions that an answer may call, as its prompt says: "models.attention.dot", or a module
    of such functions, "models.attention". If it calls others, the report says so.

    `points` is what a correct answer earns when a class is graded. `partial` says what else earns a share of it, as
    {what is wrong: (share, sentence)}: a mistake's name; "edge", if every ordinary input is right; or "gradient" or
    "side effect", if every value is right. The sentence completes "50% of the points: …".
    """

    home: InitVar[str]
    title: str
    arguments: Sequence[str]
    result: InitVar[str | Sequence[str]]
    _: KW_ONLY
    difficulty: int
    importance: int
    minutes: int
    candidates: Sequence[Callable] = ()  # functions that this task's cases contain as Candidate(index)
    suspects: bool = True
    points: float = 1
    partial: Mapping[str, tuple[float, str]] = field(default_factory=dict)
    module: bool = False
    gradient_not_asked: Sequence[str] = ()
    rows_sum_to_one: Sequence[str] = ()
    gradient_optional: bool = False
    offers: Sequence[str] = ()
    properties: list[Callable[[Case, object], str | None]] = field(default_factory=list, init=False)
    canonical_function: Callable[[Case, object], object] | None = field(default=None, init=False)
    mismatch_function: Callable[[Case, object, object], str] | None = field(default=None, init=False)
    recognise_function: Callable[[object], str] | None = field(default=None, init=False)
    cross_case_function: Callable[[Sequence[Case], list], tuple[int, str] | None] | None = field(
        default=None, init=False
    )
    _steps: Callable[..., Generator[tuple, object, object]] | None = field(default=None, init=False)
    _oracle: Callable | None = field(default=None, init=False)

    def __post_init__(self, home: str, result: str | Sequence[str]) -> None:
        self.home = sys.modules.get(home)
        self.text = Path(self.home.__file__).with_suffix(".md") if self.home else None
        self.id = f"{self.text.parents[1].name.split('_')[1]}.{self.text.stem}" if self.text else home
        self.names = [name.partition(" ")[0] for name in self.arguments]
        self.results = (result,) if isinstance(result, str) else tuple(result)
        self._by_key: dict[int, Callable] = {}
        text = read_task_text(self.text, lessons_folder() / "shared") if self.text else TaskText((), (), "")
        self.hints = text.hints
        self._solution = text.solution  # to make changes to, if the text shows one
        self._words = text.steps  # names for its steps; None if the text has no such section
        self.sections = {section.heading: section for section in text.mistakes}  # by the mistake's name
        self.mistakes = [
            self.written(section.heading, " ".join(section.paragraphs), section.changes) for section in text.mistakes
        ]

    @property
    def answer_kinds(self) -> tuple[str, ...]:
        """The results of `kind_of_answer` with which an answer is run."""
        return ("class",) if self.module else ("callable", "module")

    @property
    def answer_name(self) -> str:
        """The name of the function, or of the class, that answers this task."""
        name = self.id.partition(".")[2]
        return "".join(map(str.capitalize, name.split("_"))) if self.module else name

    def is_offered(self, called: str) -> bool:
        """Return whether an answer may call one of the course's own functions, named as in `offers`."""
        return any(f"{called}.".startswith(f"{offered}.") for offered in self.offers)

    def cases(self, function: "Callable[[Draw], Iterable[Case]]") -> "Callable[[Draw], Iterable[Case]]":
        """Decorator: a generator of Cases from a Draw, smallest first."""
        self._cases = function
        return function

    def make_cases(self, seed: int = 0) -> list[Case]:
        """Return the Cases of a seed, as a list. Neither keys nor order of candidates reveal which functions they stand for.

        Inputs, keys and order are each derived from the seed. None of them reveals another, or a seed of 128 bits,
        which stays secret.
        """
        cases = list(self._cases(Draw(seed if seed < 2**32 else self._derive(seed, "inputs") % 2**32)))
        keys = [self._derive(seed, f"key {i}") % 2**48 for i in range(len(self.candidates))]
        self._by_key.update(zip(keys, self.candidates, strict=True))
        rename = lambda leaf: Candidate(keys[leaf.key]) if isinstance(leaf, Candidate) else leaf  # noqa: E731
        cases = [replace(case, args=map_leaves(rename, case.args), module=self.module) for case in cases]
        if self.candidates:
            random.Random(self._derive(seed, "order")).shuffle(cases)  # edges among the others: a place reveals nothing
        return cases

    def _derive(self, seed, purpose):
        return int.from_bytes(sha256(f"{self.id} {purpose} {seed}".encode()).digest(), "big")

    def candidate(self, key: int) -> Callable:
        """Return the function for a Candidate's key, in cases from `make_cases`."""
        return self._by_key[key]

    def oracle(self, function: Callable) -> Callable:
        """Decorator: the reference answer as one function, if it is not given in steps; receives float64."""
        self._oracle = function
        return function

    @property
    def follows_solution(self) -> bool:
        """Whether its steps are those of the solution: unless others are registered, or an oracle and no section of steps in the text."""
        return bool(self.home and not self._steps and (not self._oracle or self._words is not None))

    @cached_property
    def steps_function(self) -> Callable[..., Generator[tuple, object, object]] | None:
        """The reference computation, step by step; None where there is none."""
        if self._steps and self._words:
            raise CourseError(f"{self.text}: `## Steps` names steps of the solution, but the module registers others.")
        if not self.follows_solution:
            return self._steps
        try:
            return derived_steps(self.source(), vars(self.home), self.arguments, self.results, self._words or {})
        except CourseError as problem:
            raise CourseError(f"{self.text}, `## Steps`: {problem}.") from None

    @cached_property
    def oracle_function(self) -> Callable:
        """The reference answer: the oracle, else the steps, else a solution that has no steps."""
        if self._oracle or self.steps_function:
            return self._oracle or self.variant({})
        return self.function_from(self.source(), "correct answer")

    def canonical(self, function: Callable[[Case, object], object]) -> Callable[[Case, object], object]:
        """Decorator: function(case, value) returns the canonical form of a value, where many values are correct.

        Canonical forms are compared instead of values, and the oracle gives the correct one. For a value without one, raise CourseError
        with a sentence that says why. The value may be anything, so check its type and shape first.
        """
        self.canonical_function = function
        return function

    def explain_mismatch(
        self, function: Callable[[Case, object, object], str]
    ) -> Callable[[Case, object, object], str]:
        """Decorator: function(case, right, received) explains an incorrect canonical value, which is not literally what the answer returned.

        Without it, the canonical form is shown beside the correct one as if the answer had returned it. If it is of a different kind,
        say in words what the answer leads to and what it should lead to.
        """
        self.mismatch_function = function
        return function

    def recognise(self, function: Callable[[object], str]) -> Callable[[object], str]:
        """Decorator: function(incorrect canonical value) returns the name of the mistake that it shows, so that none has to be run to find it."""
        self.recognise_function = function
        return function

    def cross_case_check(
        self, function: Callable[[Sequence[Case], list], tuple[int, str] | None]
    ) -> Callable[[Sequence[Case], list], tuple[int, str] | None]:
        """Decorator: function(cases, values) returns (index of a case, what is wrong there) or None, for faults that no single case shows.

        It is called if every case by itself is correct. The values are the answer's own, not their canonical forms.
        """
        self.cross_case_function = function
        return function

    def steps(
        self, function: Callable[..., Generator[tuple, object, object]]
    ) -> Callable[..., Generator[tuple, object, object]]:
        """Decorator: the reference computation in steps other than the solution's, to explain more wrong answers; receives float64.

        It is a generator that yields (words for the step's result, operation, its one or two operands), is sent the result of that or
        another operation, and returns the answer. If it does not cover all cases, such as NaN at padding, give an oracle as well.
        """
        self._steps = function
        return function

    def mistake(self, name: str = "") -> Callable[[Callable], Callable]:
        """Decorator: an incorrect implementation. Its function's name is the mistake's name; the function gets `name` if one is given.

        Its sentence is in the task's Markdown file, below the mistake's name. Raises `CourseError` if there is none.
        """

        def register(function):
            if name:
                function.__name__ = name
            places = {mistake.name: place for place, mistake in enumerate(self.mistakes)}
            if function.__name__ not in places:
                module = str(self.text.with_suffix(".py")) if self.text else ""
                lines = [frame.lineno for frame in extract_stack() if frame.filename == module]
                raise CourseError(
                    f"{f'{module}, line {lines[-1]}, ' if lines else ''}{self.id}: {self.text or 'its Markdown file'} has no section "
                    f"`## {function.__name__}`, with what the author of this mistake is told."
                )
            place = places[function.__name__]
            self.mistakes[place] = Mistake(function.__name__, self.mistakes[place].sentence, function)
            return function

        return register

    @property
    def asks_for_seed(self) -> bool:
        """Whether its solution sets the seed of all random numbers, as its prompt asks."""
        return bool(self.home) and "torch.manual_seed(" in self.source()

    def written(self, name: str, sentence: str, changes: Sequence[str]) -> Mistake:
        """Return a mistake that is written as changes to the solution; without any, one whose function `mistake` registers."""
        if not changes:
            return Mistake(name, sentence)
        made = Mistake(name, sentence, changes=changes, make=lambda: self.function_from(self.source(made), name))
        return made

    def source(self, mistake: Mistake | None = None, *others: Mistake) -> str:
        """Return the solution, changed by a mistake or several if given. Raises `CourseError` for a change that matches nothing."""
        if mistake is None:
            return packed_sources().get(self.id) or changed(
                self._solution or solutions()[self.id], [], imports_of(self.id)
            )
        changes = [change for each in (mistake, *others) for change in each.changes]
        held = packed_sources().get(f"{self.id}, {mistake.name}")
        try:
            if held is None:
                return changed(self._solution or solutions()[self.id], changes, imports_of(self.id))
            return changed(held, changes[len(mistake.changes) :]) if others else held
        except CourseError as problem:
            raise CourseError(f"{self.place(mistake)}: {problem}.") from None

    def place(self, mistake: Mistake) -> str:
        """Return where a mistake is written, for messages about it: the file, the line, the task and its name."""
        line = f"{self.text}, line {self.sections[mistake.name].line}, " if mistake.name in self.sections else ""
        return f"{line}{self.id}, {mistake.name}"

    def function_from(self, source: str, name: str) -> Callable:
        """Return the answer that the source of a mistake defines; it may use the names of the task's module."""
        space = vars(self.home) if self.home else {}
        return function_from(source, self.answer_name, f"mistake {self.id} {name}", space)

    def both(self, first: Mistake, other: Mistake) -> Callable | None:
        """Return an implementation that makes two mistakes at once, or None if there is none."""
        try:
            found = first.changes and other.changes and self.source(first, other)
        except CourseError:  # where both change the same place
            return None
        return self.function_from(found, f"{first.name} and {other.name}") if found else None

    def variant(self, changes: dict[str, Callable]) -> Callable:
        """Return the reference computation with `changes` applied, as a function of the task's arguments.

        `changes` maps a name to the function that replaces what it names:

        - the name of a step, as in {"the scores": function}: the function is called with the step's operands;
        - an argument, as in {"mask": function}: it is called with the argument, unless that is None;
        - {"result": function}: it is called with the parts of the result.

        A keyword-only parameter of such a function is given the task's argument of the same name. Two names mean something else: `right`
        is the operation that is replaced, as in `lambda scores, mask, *, right: right(scores, ~mask)`, and `done` maps the names of the
        steps so far to their values.
        """
        return mutate(self, changes)

    def wrong(self, name: str) -> Callable:
        """Return the function of a mistake. Raises `KeyError` if there is none of that name."""
        return self._named(name).function

    def sentence(self, name: str) -> str:
        """Return what the author of a mistake is told. Raises `KeyError` if there is none of that name."""
        return self._named(name).sentence

    def _named(self, name):
        return {mistake.name: mistake for mistake in self.mistakes}[name]

    def property(self, function: Callable[[Case, object], str | None]) -> Callable[[Case, object], str | None]:
        """Decorator: function(case, value) returns a sentence if the value breaks the property, else None."""
        self.properties.append(function)
        return function


class Draw:
    """Random inputs from a seed. Small tensors hold round numbers, so that a case can be worked by hand."""

    def __init__(self, seed: int) -> None:
        self.generator = torch.Generator().manual_seed(1000 + seed)

    def numbers(self, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """Spread near 1. Up to 12 numbers: multiples of a half from -2 to 2; more: normally distributed. No matrix is symmetric."""
        if torch.Size(shape).numel() > 12:
            return self.normal(*shape, dtype=dtype)
        drawn = self.whole(-4, 5, *shape).to(dtype) / 2
        while drawn.dim() > 1 and shape[-1] > 1 and drawn.numel() and torch.equal(drawn, drawn.mT):
            drawn = self.whole(-4, 5, *shape).to(dtype) / 2  # a transpose has to be wrong
        return drawn

    def normal(self, *shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """Normally distributed numbers of any count, drawn in float64, so that float32 and float64 get the same ones."""
        return torch.randn(shape, generator=self.generator, dtype=torch.float64).to(dtype)

    def whole(self, low: int, high: int, *shape: int) -> torch.Tensor:
        """Return whole numbers from `low` up to but not `high`."""
        return torch.randint(low, high, shape, generator=self.generator)

    def distinct(self, n: int, low: int, high: int) -> torch.Tensor:
        """Return n different whole numbers from `low` up to but not `high`, in any order."""
        return torch.randperm(high - low, generator=self.generator)[:n] + low

    def mask(self, *shape: int) -> torch.Tensor:
        """Return a mask: True means "may attend". Each row has at least one True and, if it is longer than 1, one False."""
        length = shape[-1]
        number = self.whole(1, max(length, 2), *shape[:-1], 1)
        order = torch.rand(shape, generator=self.generator).argsort(-1).argsort(-1)
        return order < number

    def lengths_mask(self, B: int, S: int) -> torch.Tensor:
        """Return the mask of B sentences padded at the end to S words; the first is full, the last is not."""
        lengths = self.whole(1, S + 1, B)
        lengths[0], lengths[-1] = S, max(1, S - 1) if B > 1 else S
        return torch.arange(S) < lengths[:, None]


def sizes(**full: int) -> Iterator[SimpleNamespace]:
    """Return sizes for a ladder of cases: tiny, then one axis longer at a time, then all of them at their full size.

    Full sizes should be primes, all different, so that no two axes can be mixed up unnoticed. `.full` marks the last.
    """
    tiny = {axis: 1 if axis in "BTN" else 2 for axis in full}
    for axis in (None, *full):
        longer = {axis: tiny[axis] + 1} if axis else {}
        yield SimpleNamespace(**{**tiny, **longer}, full=False)
    yield SimpleNamespace(**full, full=True)
