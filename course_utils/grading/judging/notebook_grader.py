"""Grades one notebook: reads it, runs its answers in a sandbox, judges the replies. One `Grader` serves one worker.

It judges on fresh inputs, the same for a whole grading, from a seed that no learner knows. What the oracle and the named
mistakes give on them is computed once.
"""

import hashlib
import json
import re
import time
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import torch

from course_utils.base.imports import closure
from course_utils.base.paths import LESSONS, QUESTIONS
from course_utils.base.sanitise import cut
from course_utils.base.words import listed
from course_utils.checks import catalogue, judge
from course_utils.checks.expected import Expected
from course_utils.checks.instructor_mistakes import packed, unpacked
from course_utils.checks.judge import refuse
from course_utils.checks.running import contract
from course_utils.checks.running.contract import without_labels
from course_utils.checks.running.limit import TimeIsUp, time_limit
from course_utils.checks.second_draw import on_two_draws, two_draws_of
from course_utils.checks.solutions import imports_of, packed_sources, solutions
from course_utils.checks.validate_reply import is_valid_reply
from course_utils.grading.ingest.lessons import names_by_lesson, refuse_the_lesson
from course_utils.grading.ingest.notebook_file import (
    OPAQUE,
    Unreadable,
    by_exec,
    definition,
    definitions,
    fingerprint,
    last_check,
    likely_rename,
    parse_notebook,
    read_bytes,
)
from course_utils.grading.ingest.submissions import Found
from course_utils.grading.ingest.tampering import find_tampering
from course_utils.grading.judging import offered_source
from course_utils.grading.judging.budget import Limits
from course_utils.grading.judging.candidates import Candidates, one_by_one
from course_utils.grading.judging.notebook_run import AnswerRequest, CandidateCases
from course_utils.grading.judging.own_mistakes import run_in
from course_utils.grading.judging.sandbox_client import SandboxClient, ServerGone
from course_utils.grading.sandbox import policy
from course_utils.grading.storage.normalise import without_addresses
from course_utils.grading.storage.record import Result, Verdict

SECONDS_OF_JUDGE = 1  # for a task, which takes a few milliseconds; halved each time a notebook exceeds it
SECONDS_TO_EXPLAIN = 20  # for an unrecognised wrong value; the first takes half a second, the next ones milliseconds
LEAST_TO_EXPLAIN = 5  # seconds for all of a notebook's, if less is left of its own time
MEMORY_OF_JUDGE = 2**28  # bytes
CODE_AT_MOST, MESSAGE_AT_MOST = 4000, 2000  # characters
STUMBLED = "The grader stumbled over this notebook, so that nothing in it is graded"
FROM_NBGRADER = "from course_utils.grading.handing_out.nbgrader import grade"  # in the cells added for nbgrader


def _imports_of(*modules):
    """Return a pattern for the ways to import modules: a module's name alone may well be a variable."""
    names = "|".join(modules)
    return (
        rf"\bimport[ \t]+(?:[\w., \t]{{0,80}}[, \t])?(?:{names})\b|\bfrom[ \t]+(?:{names})\b[\w.]*[ \t]+import\b"
        rf"|\b(?:__import__|import_module)\W{{0,4}}(?:{names})\b"
    )


SUSPICIOUS = {  # what no honest answer needs
    r"course_lessons\b|course_utils\s*\.\s*(grading|checks|learner|authoring)|solutions\.json": "names the course's own tasks or checks",
    r"\bctypes\b|\bcffi\b": "calls the operating system directly",
    r"_getframe|\b[gs]et(?:profile|trace)\b|\bgc\s*\.\s*get_|\binspect\s*\.\s*(stack|currentframe)|__traceback__|tb_frame|f_back|f_locals": "looks into other frames",
    r"__closure__|cell_contents|_exchange\b": "looks into the functions that it is given",
    r"\bos\s*\.\s*(_exit|fork|kill|system|popen|exec|spawn)|\bsubprocess\s*\.|\btorch\s*\.\s*multiprocessing|" + _imports_of("subprocess", "multiprocessing", "signal"): "handles processes",
    _imports_of("socket", "urllib", "requests", "http"): "asks for a network",
    _imports_of("threading", "atexit") + r"|__del__": "would run code after or beside its answers",
    r"\bsys\s*\.\s*(modules|meta_path|path_hooks)\b": "looks through the modules that are there",
    r"__torch_function__|\bsetattr\s*\(\s*(torch|builtins)|(?<![\w.])(torch|builtins)\.(?!backends\.)[\w.]+[ \t]*=(?!=)|__eq__|__array__": "replaces what it is measured with",
}  # fmt: skip
NOTICED = {  # what honest notebooks contain, too
    r"\btorch\s*\.\s*(jit|fx)\b": "compiles functions, whose calls nobody sees",
    r"\bos\s*\.\s*(environ|getenv)\b": "reads or sets environment variables",
}


def decides_on_verdicts() -> set[Path]:
    """Return the course's files that a verdict depends on, according to imports and what tasks offer."""
    modules = {
        Path(__file__).resolve(),
        policy.PACKAGE
        / "grading/sandbox/fork_server.py",  # not imported here, as it brings matplotlib, which reads the current folder
        *(policy.PACKAGE.parent / LESSONS).glob("*/tasks/*.py"),
    }
    offers = {offer for of in catalogue.by_lesson().values() for task in of for offer in task.offers}
    lessons = policy.PACKAGE.parent / LESSONS
    texts = {path for pattern in (f"*/{QUESTIONS}", "*/tasks/*.md", "shared/*.md") for path in lessons.glob(pattern)}
    return closure(policy.PACKAGE.parent, modules | {offered_source.file_of(offer) for offer in offers}) | texts


@cache
def tasks_digest() -> str:
    """Return the SHA-256 of all that a verdict depends on: the tasks, this module, what runs in the sandbox, and what each of them imports.

    An instructor's own mistakes are left out: a grading names them.
    """
    sources = [path.read_text(encoding="utf-8") for path in sorted(decides_on_verdicts())]
    changed = json.dumps([solutions(), packed_sources(), list(map(imports_of, solutions()))])  # what mistakes come from
    return hashlib.sha256("\0".join([torch.__version__, *sources, changed]).encode()).hexdigest()


def read_once(found: Found) -> Found:
    """Return it with its content: key and verdicts are for what was read once, whatever becomes of the file."""
    if found.content is not None or not found.file:
        return found
    try:
        return replace(found, content=read_bytes(found.path))
    except Unreadable as error:
        return replace(found, content=str(error))


def result_key(found: Found, seed: int, limits: Limits, safe: bool = True, options_seed: int | None = None) -> str:
    """Return the journal's key for a result: equal only if grading again would give the same, and as safely."""
    content = read_once(found).content or ""
    parts = [
        found.student,
        found.file,
        found.note,
        content if isinstance(content, str) else hashlib.sha256(content).hexdigest(),
        tasks_digest(),
        packed(catalogue.instructor_mistakes()),
        seed,
        asdict(limits),
        safe,
        options_seed,
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


class PreparedTask(NamedTuple):
    """What is the same for all submissions of a task."""

    cases: list[contract.Case]
    packed: bytes  # the cases as an answer may see them
    second: bytes | None  # those of the second draw, likewise
    candidates: Candidates | None
    one_by_one: tuple[CandidateCases, ...]
    expected: Expected


class Grader:
    """Grades notebooks, one after another, in one sandbox. A context manager.

    Args:
        seed: of the inputs that answers are tried on.
        layers: from `policy.chosen`.
        limits: what a submission may cost.
        hidden: paths that answers may not read.
        options_seed: sets the order of the questions' options in the notebooks handed out; None: questions do not count.
        own_mistakes: an instructor's own, packed; None for those that this process uses. They run in the sandbox.
    """

    def __init__(
        self,
        seed: int,
        layers: policy.Layers,
        limits: Limits = Limits(),  # noqa: B008
        hidden=(),
        options_seed: int | None = None,
        own_mistakes: str | None = None,
    ):
        if own_mistakes is not None:
            catalogue.use_instructor_mistakes(unpacked(own_mistakes), here=False)
        self._seed, self._limits, self._options_seed = seed, limits, options_seed
        self.sandbox = SandboxClient(layers, limits, hidden)
        self._prepared_tasks = {}

    def __enter__(self):
        self.sandbox.__enter__()
        return self

    def __exit__(self, *_):
        self.sandbox.__exit__()

    def grade(self, found: Found, key: str) -> Result:
        """Grade one file, whose `result_key` is `key`; one that the grader stumbles over gets a Result that says so.

        Raises:
            policy.SandboxError: the sandbox cannot be started again.
            ServerGone, OSError, MemoryError: something is wrong with this machine, perhaps temporarily, not with the notebook.
        """
        try:
            return self._grade(read_once(found), key).fitted()
        except (policy.SandboxError, ServerGone, OSError, MemoryError):
            raise
        except (Exception, TimeIsUp) as error:  # whatever it is, it costs this notebook and no other
            problem = f"{STUMBLED} ({type(error).__name__}): whoever grades should look at the file and tell the course's authors."
            return Result(key, found.student, found.file, "", problem, _remarks(found.note)).fitted()

    def _grade(self, found, key):
        began = time.monotonic()
        if not found.file:
            return Result(key, found.student, "", "", found.note)
        try:
            if isinstance(found.content, str):
                raise Unreadable(found.content)
            notebook = parse_notebook(found.content, names_by_lesson(), found.path.name)
            refuse_the_lesson(notebook)
        except Unreadable as error:
            return Result(key, found.student, found.file, "", str(error), _remarks(found.note))
        remarks = [*_remarks(found.note), *notebook.remarks]
        if not notebook.lesson:
            problem = (
                "No task of the course was found in it: hand in the notebook from `exercises`, with its cells kept."
            )
            return Result(key, found.student, found.file, "", problem, tuple(remarks))
        for attempt in (1, 2):
            try:
                failed, verdicts, suspicions = self._results(notebook)
                break
            except ServerGone:
                self.sandbox.restart()
                if attempt == 2:
                    raise
        in_words = tuple(verdict for verdict in notebook.in_words if _is_the_instructors(verdict.task, notebook.lesson))
        code = _own_code(notebook)
        suspicions = (*suspicions, *_code_sentences(code, SUSPICIOUS))
        noticed = (
            *find_tampering(notebook.titled, notebook.cells, notebook.lesson),
            *_code_sentences(code, NOTICED),
            *_unoffered_imports(code, notebook.lesson),
        )
        return Result(
            key=key,
            student=found.student,
            file=found.file,
            lesson=notebook.lesson,
            remarks=(*remarks, *failed),
            suspicions=tuple(dict.fromkeys(suspicions)),
            verdicts=(*verdicts, *in_words),
            seconds=round(time.monotonic() - began, 3),
            requests=notebook.requests,
            noticed=noticed,
        )

    def _results(self, notebook):
        """Return the cells that failed, the verdicts, and anything suspicious about them."""
        exercises = catalogue.by_lesson()[notebook.lesson]
        requests = [self._request(task, notebook.cells) for task in exercises]
        questions = () if self._options_seed is None else catalogue.questions_of(notebook.lesson)
        results = list(self.sandbox.run_notebook(notebook.cells, requests))
        self._patience, self._explaining = SECONDS_OF_JUDGE, max(LEAST_TO_EXPLAIN, self.sandbox.left)
        failed, answers = results[: len(results) - len(exercises)], results[len(results) - len(exercises) :]
        verdicts = tuple(self._verdict(task, answer, notebook) for task, answer in zip(exercises, answers, strict=True))
        verdicts += tuple(
            self._question_verdict(each, self.sandbox.question_replies.get(each.id)) for each in questions
        )
        suspicions = [f"{v.task} calls the course's own {v.borrowed}" for v in verdicts if v.borrowed]
        ended = [a.died and not a.timed_out for a in answers]  # the sandbox itself ends late ones
        suspicions += [f"{task.id} ended its process" for task, it in zip(exercises, ended, strict=True) if it]
        suspicions += self.sandbox.odd
        return failed, verdicts, suspicions

    def _request(self, task, cells):
        """Return what is asked of a notebook for a task: the answer as its last check sees it, else as it is last defined, else at the end."""
        name, prepared = task.answer_name, self._prepared(task)
        checked, _ = last_check(cells, task.id, name)
        places = {checked, *definitions(cells, name)[-1:], len(cells) - 1}
        return AnswerRequest(
            task=task.id,
            name=name,
            kinds=task.answer_kinds,
            cases=prepared.packed,
            candidate=prepared.candidates,
            offers=task.offers,
            places=tuple(sorted(place for place in places if place >= max(checked, 0))),
            checked=checked,
            one_by_one=prepared.one_by_one,
            second=prepared.second,
        )

    def _prepared(self, task):
        if task.id not in self._prepared_tasks:
            cases = task.make_cases(self._seed)
            expected = Expected(task, cases, run_in(self.sandbox))
            expected.run_all()  # before any submission's time starts
            if both := two_draws_of(expected):
                both.run_own_mistakes()
            self._prepared_tasks[task.id] = PreparedTask(
                cases=cases,
                packed=_as_an_answer_sees(cases),
                second=_as_an_answer_sees(both.more) if both else None,
                candidates=Candidates(task, cases) if task.candidates else None,
                one_by_one=one_by_one(task, cases),
                expected=expected,
            )
        return self._prepared_tasks[task.id]

    def _verdict(self, task, answer, notebook):
        checked, given = last_check(notebook.cells, task.id, task.answer_name)
        name = given if checked == answer.place else task.answer_name
        whole = definition(notebook.cells, name, at_most=100_000, last=answer.place)
        common = {
            "code": cut(whole, CODE_AT_MOST),
            "fingerprint": fingerprint(whole),
            "seconds": round(answer.seconds, 3),
        }
        made = "" if answer.is_none else by_exec(notebook.cells, name)
        common["note"] = f"`{name}` {made}" if made else _note(notebook.cells, name, answer.place, checked)
        if answer.state == "missing":
            if name in notebook.in_texts:
                message = f"`{name}` is in a text cell, which does not run."
                return Verdict(task.id, "missing", message=message, **common)
            rename = likely_rename(notebook.cells, name, names_by_lesson()[task.id[:2]])
            message = f"After the notebook has run there is no `{name}`."
            common["note"] = f"Perhaps it was renamed to `{rename}`." if rename else common["note"]
            return Verdict(task.id, "missing", message=message, **common)
        if answer.state == "not run":
            message = "It was not run, or not to its end: the notebook's time was used up, or too many answers had ended their process."
            return Verdict(task.id, "not run", message=message, **common)
        report = self._report(task, answer)
        message = report.message if report.state != "not attempted" else ""
        if report.state == "error" and answer.timed_out and not answer.outcomes[-1].waited:
            message = f"Your function was stopped after {self._limits.seconds:g} seconds of computing. Is there a loop that never ends?"
        return Verdict.of(report, message=without_addresses(message[:MESSAGE_AT_MOST]), **common)

    def _report(self, task, answer):
        """Return the judge's Report; if the judge stumbles, its Report on unreadable outcomes."""
        prepared = self._prepared(task)
        try:
            with time_limit(self._patience), policy.limited_memory(MEMORY_OF_JUDGE):
                if answer.state != "outcomes":
                    report = refuse(task, answer.state, answer.shown)
                else:
                    # no outcome at all is not an empty answer
                    judged = partial(
                        judge.judge, task, prepared.cases, answer.outcomes, prepared.expected, explaining=False
                    )
                    report = judged() if answer.outcomes else _unreadable_report(task)
                str(report.message)
        except TimeIsUp:
            self._patience /= 2
            return _unreadable_report(task)
        except Exception:  # whatever it is, it came from outside and is not a right answer
            return _unreadable_report(task)
        if answer.state == "outcomes" and report.case and self._explaining > 0:
            began, seconds = time.process_time(), min(SECONDS_TO_EXPLAIN, self._explaining)
            with suppress(TimeIsUp, MemoryError), time_limit(seconds), policy.limited_memory(MEMORY_OF_JUDGE):
                report, expected, outcomes = _on_both(report, prepared.expected, answer)
                judge.explain_further(report, expected, outcomes)
            self._explaining -= time.process_time() - began
        return report

    def _question_verdict(self, question, pair):
        """Return the Verdict on a notebook's answer to a question: (reply, seed of the options' order), or None.

        Only letters for the order that was handed out count: letters for a different one may come from anywhere.
        """
        if pair is None:
            wanted = "a letter" if isinstance(question, catalogue.Question) else "a number"
            message = f'The notebook holds no `check("{question.id}", …)` with {wanted} as its answer.'
            return Verdict(question.id, "missing", message=message)
        reply, seed = pair
        if isinstance(question, catalogue.Question) and (type(seed), seed) != (int, self._options_seed):
            message = (
                "Its options stood in another order than in the notebook that was handed out: keep "
                f"`seed={self._options_seed}` in the check, as it was there, and answer again."
            )
            return Verdict(question.id, "not run", message=message)
        with time_limit(SECONDS_OF_JUDGE), policy.limited_memory(MEMORY_OF_JUDGE):
            judged = question.judge(reply, self._options_seed)
        return Verdict(
            question.id,
            judged.state,
            "value" if judged.chosen else "",
            judged.chosen,
            message=judged.message[:MESSAGE_AT_MOST],
            code=repr(reply)[:80],
        )


def _is_the_instructors(name, lesson):
    """Return whether a name can be an instructor's question for this lesson: the course's own are judged, not read."""
    return name.partition(".")[0] == lesson and name not in {
        each.id for each in catalogue.asked(lesson, questions=True)
    }


def _as_an_answer_sees(cases):
    """Return cases without what may reveal the right answer, packed."""
    return contract.pack([without_labels(case) for case in cases])


def _on_both(report, expected, answer):
    """Return a Report whose mistake holds on both draws, with the Expected and the outcomes that it is for; those of the first if there is no second."""
    run_on = lambda cases: answer.second if is_valid_reply(cases, answer.second) else ()  # noqa: E731
    try:
        if both := on_two_draws(report, expected, answer.outcomes, run_on):
            again = judge.judge(expected.task, both[0].cases, both[1], both[0], explaining=False)
            str(again.message)
            return again, *both
    except Exception:  # the outcomes came from outside: whatever is odd about these decides nothing
        pass
    return report, expected, answer.outcomes


def _unreadable_report(task):
    return judge.judge(task, (), None)


def _note(cells, name, place, checked):
    places = [str(place + 1) for place in definitions(cells, name)]
    if len(places) < 2:
        return ""
    counts = f"the one that the check in cell {place + 1} saw counts" if place == checked else "the last one counts"
    return f"Defined in the cells {listed(places)}: {counts}."


def _remarks(note):
    return (note,) if note else ()


def _unoffered_imports(code, lesson):
    """Return a sentence on each import of the course's models that no exercise of the lesson offers: there is nothing behind it."""
    offers = [offer for task in catalogue.by_lesson()[lesson] for offer in task.offers]
    lines = re.findall(r"^.*\bcourse_utils\s*\.\s*models\b.*$", code, re.MULTILINE)
    odd = [line.strip() for line in dict.fromkeys(lines) if not any(_is_import_of(offer, line) for offer in offers)]
    return [f"The code imports what no exercise offers: {cut(line, 100)}" for line in odd[:3]]


def _is_import_of(offer, line):
    """Return whether a line imports only the function that is offered, or anything from the module that is."""
    module, _, name = offer.rpartition(".")
    one = rf"from course_utils\.{re.escape(module)} import {name}(?: as \w+)?\s*(?:#.*)?"
    whole = rf"from course_utils\.{re.escape(offer)} import [\w, ]+(?:#.*)?"
    return re.fullmatch(one, line.strip()) or re.fullmatch(whole, line.strip())


def _code_sentences(code, patterns):
    """Return a sentence for each pattern found in the code: reasons for a look, not a verdict."""
    return [f"The code {what}." for pattern, what in patterns.items() if re.search(pattern, code)]


def _own_code(notebook):
    """Return a notebook's code without comments, the set-up cell and the imports that the course put there."""
    cells = (cell.replace(FROM_NBGRADER, "") for cell in notebook.cells if "COURSE_SOURCE" not in cell)
    ours = _imports_handed_out(notebook.lesson)
    code = "\n".join(line for cell in cells for line in cell.splitlines() if line.rstrip() not in ours)
    return OPAQUE.sub(lambda match: "" if match[0].startswith("#") else match[0], code)


@cache
def _imports_handed_out(lesson):
    files = (policy.PACKAGE.parent / LESSONS).glob(f"lesson_{lesson}_*/exercises.py")
    lines = (line for file in files for line in file.read_text(encoding="utf-8").splitlines())
    return frozenset(line.rstrip() for line in lines if line.startswith("from course_utils"))
