"""What tasks share whose answer is a test that is tried on candidates, right ones and wrong ones. No task is declared here."""

from functools import partial, wraps
from inspect import isfunction, signature
from itertools import combinations

import torch

from course_utils.base.errors import CourseError
from course_utils.base.words import listed
from course_utils.checks.running.contract import Candidate, Case, UsageError
from course_utils.checks.task import Mistake


def asking(problem, candidates, copies=False):
    """Return the candidates such that each reports when a test breaks the rules of the prompt. No gradient passes through them.

    Args:
        problem: function of what a candidate is called with; returns a sentence on what is wrong with it, None for nothing.
        candidates: right ones and wrong ones, which take the same arguments.
        copies: whether they get copies of tensors, so that they cannot change what a test has given them.
    """
    arguments = signature(problem)

    def one(function):
        @wraps(function)
        def candidate(*given, **named):
            given = arguments.bind(*given, **named).args
            sentence = problem(*given)
            if sentence:
                raise UsageError(sentence)
            if copies:
                given = [value.detach().clone() if isinstance(value, torch.Tensor) else value for value in given]
            with torch.no_grad():
                return function(*given)

        return candidate

    return tuple(map(one, candidates))


def one_case_each(task, right, wrong, rare=None, verdict=True, beside=None, last=None):
    """Register a case for each of a task's candidates, in an order that is drawn, what a test is to say of each, and what is told of one where it says the opposite.

    Args:
        task: its candidates are those of `right`, `wrong`, `last` and `rare`, in this order.
        right, wrong: by candidate, what it is, and what makes it so: "an incorrect model: its mask is off by one, so each row sees the next one". It is the case's name.
        rare: likewise, of wrong ones that no sensible test need find. Who misses these alone is right, with a remark.
        verdict: on those of `right`; on all others it is the opposite.
        beside: function of a candidate's place, returns what a test is told beside the candidate; None for nothing.
        last: likewise, of wrong ones that a report names only where no other candidate is misjudged.
    """
    names = [*right.values(), *wrong.values(), *(last or {}).values(), *(rare or {}).values()]
    ordinary, safe = len(right) + len(wrong), len(names) - len(rare or {})

    @task.cases
    def cases(draw):
        for key in torch.randperm(len(names), generator=draw.generator).tolist():
            args = (Candidate(key), beside(key)) if beside else (Candidate(key),)
            yield Case(names[key], args, edge=ordinary <= key < safe, hazard=key >= safe)

    def right_verdict(candidate):
        return (task.candidates.index(candidate) < len(right)) == verdict

    task.oracle((lambda candidate, told: right_verdict(candidate)) if beside else right_verdict)

    @task.property
    def the_verdict_is_right(case, value):
        """No candidate for which True is expected is refused, and no other passes."""
        candidate = task.candidate(case.args[0].key)
        if not isinstance(value, bool) or value == right_verdict(candidate):
            return None
        asked = (
            " Does it allow for rounding, about 1e-5 and more for large numbers, and require nothing that a correct candidate need not do?"
            if right_verdict(candidate) == verdict
            else ""
        )
        return f"Your test returns {value} for {case.name}.{asked}"


class MistakenTests:
    """The mistakes of a task whose answer is a test, registered by calls such as `mistaken("batch_of_one", B=1)`: the name, and what changes.

    What any test may get wrong is registered at once: True for every candidate, False for every one, and the two exchanged.

    Args:
        task: whose mistakes they are. Its Markdown file has the sentences of those that many tests invite from `candidate_tests.md`.
        test: function(what an answer gets, **changes) returns a verdict; a correct one, if nothing is changed. Where it raises, it says False.
    """

    def __init__(self, task, test):
        self.task, self._test = task, test
        task.mistake("always_true")(lambda *given: True)
        task.mistake("always_false")(lambda *given: False)
        task.mistake("turned_round")(lambda *given: not self.test(*given))

    def __call__(self, name, **changes):
        _refuse_unknown_arguments(*changes.values())
        self.task.mistake(name)(self._changed(changes))

    def test(self, *given, **changes):
        """Return the verdict of a test with these changes."""
        try:
            return self._test(*given, **changes)
        except Exception:
            return False

    def _changed(self, changes):
        signature(self._test).bind_partial(**changes)  # a name that it does not take is an error, not a verdict
        return lambda *given: self.test(*given, **changes)

    def by_comparing(self, tolerance, compared_by=lambda same: {"same": same}):
        """Register what a test may get wrong that asks whether two tensors are alike: no room for rounding, too much of it, and NaN.

        Args:
            tolerance: one that is too large.
            compared_by: function(comparison of two tensors) returns the changes of a test that uses it.
        """
        self("no_rounding", **compared_by(torch.equal))
        self("too_much_room", **compared_by(partial(equal_up_to_rounding, tolerance=tolerance)))
        self("nan_passes", **compared_by(not_far))

    def on_one_side(self, tolerance):
        """Register the mistakes of a test that forgets `.abs()`: it asks only that no number is too large, or that none is too small.

        The test compares the right tensor with a candidate's by `same`; up to `tolerance` numbers count as the same.
        """
        self("too_small_passes", same=lambda right, received: (received - right).max() < tolerance)
        self("too_large_passes", same=lambda right, received: (right - received).max() < tolerance)

    def on_less_than_all(self, compared_by=lambda same: {"same": same}):
        """Register what a test misses that does not compare every entry as it is. `compared_by` is as in `by_comparing`."""
        for name, seen in LESS_THAN_ALL.items():
            self(name, **compared_by(partial(_same_but_for, seen)))
        self("mean_of_sizes", **compared_by(_small_on_average))

    def without(self, left_out, most, changes=None, never_both=()):
        """Register, for every choice of checks, the mistake of a test that leaves out these and no others.

        What is told of a check `order` is in the section `## without_order`: the first paragraph says which candidates pass without it, as in
        "models that see no label", the second what to do. These sections follow one another in the order of the checks.

        Args:
            left_out: the names of the checks. Without `changes`, {name: (what changes of a test that leaves this check out, to which value)}.
            most: how many checks are left out at most.
            changes: function(names of checks) returns what changes of a test that leaves these out, by name.
            never_both: the names of two that are not left out together.
        """
        task, each_alone = self.task, [f"without_{part}" for part in left_out]
        names = [mistake.name for mistake in task.mistakes]
        place = names.index(each_alone[0]) if each_alone[0] in names else 0
        end = place + len(each_alone)
        if names[place:end] != each_alone or any(len(task.sections[name].paragraphs) != 2 for name in each_alone):
            raise CourseError(
                f"{task.text}: {task.id} needs these sections, one after another, each with two paragraphs, which candidates pass and what to do: "
                f"{', '.join(f'`## {name}`' for name in each_alone)}."
            )
        mistakes = []
        for n in range(1, most + 1):
            for parts in combinations(left_out, n):
                if never_both and set(never_both) <= set(parts):
                    continue
                passing, advice = zip(*(task.sections[f"without_{part}"].paragraphs for part in parts), strict=True)
                changed = changes(parts) if changes else dict(left_out[part] for part in parts)
                sentence = f"Your test passes {listed(passing).rstrip(',')}. {' '.join(advice)}"
                mistakes.append(Mistake("without_" + "_".join(parts), sentence, self._changed(changed)))
        task.mistakes[place:end] = mistakes


def _refuse_unknown_arguments(*values):
    """Raise `TypeError` for a `partial` whose function does not take what it is given: a test would catch that error and return False."""
    for value in values:
        if isinstance(value, partial):
            if isfunction(value.func):  # a builtin such as torch.allclose has no signature
                signature(value.func).bind_partial(*value.args, **value.keywords)
            _refuse_unknown_arguments(*value.args, *value.keywords.values())


# How a test compares what it received with what is right


def equal_up_to_rounding(right, received, tolerance=1e-5):
    """Return whether the shape is right, and all numbers are, up to rounding."""
    return received.shape == right.shape and torch.allclose(received, right, atol=tolerance)


LESS_THAN_ALL = {  # what a test compares instead of the numbers
    "up_to_a_constant": lambda numbers: numbers.softmax(-1),
    "without_signs": torch.abs,
    "lengths_only": lambda numbers: numbers.norm(dim=-1),
    "sorted_only": lambda numbers: numbers.sort(-1).values,
    "first_left_out": lambda numbers: numbers.flatten()[1:],
    "last_left_out": lambda numbers: numbers.flatten()[:-1],
}


def _same_but_for(seen, right, received):
    return received.shape == right.shape and equal_up_to_rounding(seen(right), seen(received))


def _small_on_average(right, received):
    return received.shape == right.shape and bool((received - right).abs().mean() < 5e-4)


def finite(right, received):
    """Return whether the shape is right, and all numbers are finite: right or wrong ones."""
    return received.shape == right.shape and bool(received.isfinite().all())


def not_far(right, received):
    """Return whether the shape is right, and no number is far off; NaN is not."""
    return received.shape == right.shape and not bool(((received - right).abs() > 1e-5).any())


def with_nan(function):
    """Return the function with NaN in place of the first of its result's numbers along the last axis."""

    def spoiled(*args):
        result = function(*args)
        return torch.cat([result[..., :1] * torch.nan, result[..., 1:]], -1)

    return spoiled


def test_of(trial, promises):
    """Return a test of candidates, of which mistakes change something: function(candidate, **changes) returns a verdict.

    Args:
        trial: function(candidate, **given) returns what the promises are asked of.
        promises: by name, function(what the trial gives) returns whether one is kept. A change of a promise's name takes its place, or drops it
            where it is None; a change that `trial` takes goes there, and any other one is a promise more.
    """
    taken = signature(trial).parameters

    def test(candidate, **changes):
        given = {name: value for name, value in changes.items() if name in taken}
        asked = promises | {name: promise for name, promise in changes.items() if name not in taken}
        on = trial(candidate, **given)
        return all(promise(on) for promise in asked.values() if promise)

    return test
