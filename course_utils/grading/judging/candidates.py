"""The functions that a learner's test is tried on: they stay on the trusted side, and only the outcome of a call crosses."""

from contextlib import suppress
from functools import partial
from itertools import islice

import torch

from course_utils.base import trees
from course_utils.checks.expected import run_oracle
from course_utils.checks.running import contract
from course_utils.checks.running.limit import TimeIsUp, time_limit
from course_utils.checks.running.run import marked, plain
from course_utils.grading.judging.notebook_run import CandidateCases
from course_utils.grading.sandbox import policy

NUMBERS_AT_MOST, AXIS_AT_MOST = 100_000, 256  # in the arguments that a learner's test passes to a candidate
TOO_LARGE = f"a candidate takes arguments of at most {NUMBERS_AT_MOST:,} numbers in all, {AXIS_AT_MOST} along an axis"
# Numbers that candidates return for one request: small arguments may become large by broadcasting.
RESULTS_AT_MOST = 1_000_000
TOO_MUCH = f"candidates give back at most {RESULTS_AT_MOST:,} numbers"
TOO_LONG = "the candidate took too long on these arguments"
DEEPEST, LEAVES_AT_MOST = 4, 10_000  # nested containers, and what is not a container, in those arguments
# The same in what candidates return for one request; a text counts by its length.
DEEPEST_BACK, LEAVES_BACK_AT_MOST = 8, 100_000
CALLS_AT_MOST = 1000  # that a candidate makes, in one run, of the functions passed to it
NUMBERS_FOR_ALL = 10_000  # in arguments that several candidates are called with at once
MEMORY_OF_CANDIDATE = 2**28  # bytes
SECONDS_OF_CANDIDATE = 1


def one_by_one(task, cases) -> tuple[CandidateCases, ...]:
    """Return the cases of a test over candidates, one candidate at a time; () for any other task.

    A test judges each in a process that holds no other and has seen neither the others nor how many they are. Otherwise it could ask all
    candidates and accept those that agree with most others. The order is that of the cases, which no learner knows.
    """
    verdicts = [outcome.value for outcome in run_oracle(task, cases)] if task.candidates else [None]
    if not all(isinstance(verdict, bool) for verdict in verdicts):
        return ()
    numbers_of = {}
    for number, case in enumerate(cases):
        numbers_of.setdefault(tuple(_keys(case)), []).append(number)
    return tuple(
        CandidateCases(
            numbers=tuple(numbers),
            cases=contract.pack([contract.without_labels(cases[n]) for n in numbers]),
            candidate=Candidates(task, [cases[n] for n in numbers]),
        )
        for numbers in numbers_of.values()
    )


def _keys(case):
    return [leaf.key for leaf in trees.leaves(case.args) if isinstance(leaf, contract.Candidate)]


class Candidates:
    """Calls a task's candidates for a learner's test, on this side, and returns the results.

    A test mostly asks each candidate the same. What it asks a second time is asked of all candidates in similar cases,
    and all answers cross at once, since crossing is what takes time. A hostile test learns no more than it could ask for, and it cannot
    ask for a candidate that is in none of the cases.

    A candidate may be passed functions, which stay on the learner's side. A request brings what they have returned so far; if a candidate
    makes another call, its run ends, the reply says what it asked, and the next request brings the answer. The candidate then starts over, so
    nothing is kept or waited for here between requests.

    Args:
        task: with candidates.
        cases: the task's cases of this grading.
    """

    def __init__(self, task, cases):
        self._task, groups = task, {}
        for case in cases:
            like = contract.pack(
                trees.map_leaves(lambda leaf: None if isinstance(leaf, contract.Candidate) else leaf, case.args)
            )
            groups.setdefault(like, {}).update(dict.fromkeys(_keys(case)))
        self._together = {key: list(keys) for keys in groups.values() for key in keys}

    def __call__(self, request: dict) -> dict:
        """Return the outcomes, by key, of {"call": key, "args": tuple, "options": dict}, none of which is to be trusted.

        "kept" says for each tensor in args and options whether its gradient is wanted too, if the value is one number. "given" lists what
        the functions among them returned, in the order of the calls; "guesses" says, by call, what they are likely to return after that, for
        the asking side to verify. "asked" in a reply lists the calls after those given, as (place of the function, arguments).
        """
        try:
            args, options, key, grads = request["args"], request["options"], request["call"], request.get("kept", ())
            results = request.get("given", ()), request.get("guesses", {})
            if not isinstance(args, (tuple, list)) or not isinstance(options, dict) or not isinstance(results[1], dict):
                raise TypeError
            if key not in self._together:
                raise KeyError
            _count_numbers(results)
            numbers = _count_numbers((args, options))
            if request.get("asked before") and numbers <= NUMBERS_FOR_ALL:
                with suppress(TimeIsUp, TooLarge):  # all together; each alone may well be within the limits
                    return self._reply(self._together[key], args, options, grads, results)
            return self._reply([key], args, options, grads, results)
        except TooLarge as error:
            return {"call": True, **_error_outcome(ValueError()), "message": str(error)}
        except TimeIsUp:
            return {"call": True, **_error_outcome(RuntimeError()), "message": TOO_LONG}
        except Exception as error:
            return {"call": True, **_error_outcome(error)}

    def _reply(self, keys, args, options, grads, results):
        with time_limit(SECONDS_OF_CANDIDATE), policy.limited_memory(MEMORY_OF_CANDIDATE):  # small may become large
            outcomes, numbers, leaves = {}, 0, 0
            for key in keys:
                outcomes[key] = self._outcome(key, args, options, grads, results)
                found = list(islice(trees.leaves(outcomes[key], DEEPEST_BACK), LEAVES_BACK_AT_MOST + 1))
                numbers += sum(tensor.numel() for tensor in trees.tensors(found))
                leaves += sum(len(leaf) if isinstance(leaf, str) else 1 for leaf in found)
                if numbers > RESULTS_AT_MOST or leaves > LEAVES_BACK_AT_MOST:
                    raise TooLarge(TOO_MUCH)
            return {"call": True, "came": outcomes}

    def _outcome(self, key, args, options, grads, results):
        calls = _Calls(*results)
        copies, named = [calls.plain(arg) for arg in args], {name: calls.plain(arg) for name, arg in options.items()}
        tensors = trees.tensors((copies, named))
        for tensor, wanted in zip(tensors, grads, strict=False):
            tensor.requires_grad_(wanted is True and contract.is_float(tensor))
        try:
            result = marked(self._task.candidate(key))(*copies, **named)
            value, gradients = plain(result), _gradients(result, tensors)
        except Unanswered:
            return {"changed": {}, "asked": calls.unanswered}
        except contract.UsageError as error:  # which is about the call alone
            return {**_error_outcome(error), "message": str(error), "asked": calls.unanswered}
        except Exception as error:
            return {**_error_outcome(error), "asked": calls.unanswered}
        before, after = {**dict(enumerate(args)), **options}, {**dict(enumerate(copies)), **named}
        changed = {
            place: after[place]
            for place, old in before.items()
            if isinstance(old, torch.Tensor) and not torch.equal(old, after[place])
        }
        unanswered = {"asked": calls.unanswered} if calls.unanswered else {}
        return {"changed": changed, "value": value, **unanswered, **({"gradients": gradients} if gradients else {})}


class Unanswered(BaseException):
    """A candidate has called a function whose result is not known yet. Not an Exception, so that no candidate catches it."""


class _Calls:
    """The calls that a candidate makes in one run. `unanswered` lists those not answered before the run."""

    def __init__(self, results, guesses):
        self._results, self._guesses, self._number, self.unanswered = list(results), guesses, 0, []

    def plain(self, arg):
        """Return an argument as a candidate gets it: a function for a Callback, a copy of anything else."""
        return partial(self._call, arg.place) if isinstance(arg, contract.Callback) else plain(arg)

    def _call(self, place, *args):
        self._number += 1
        if self._number > CALLS_AT_MOST:
            raise RuntimeError("too many calls")
        if self._number <= len(self._results):
            return plain(self._results[self._number - 1])
        call = place, plain(args)
        self.unanswered.append(call)
        name = contract.pack(call).hex()
        if name not in self._guesses:
            raise Unanswered
        return plain(self._guesses[name])


def _gradients(value, tensors):
    """Return the gradient of one number with respect to each tensor, None for those that keep none; [] if the value has none."""
    if not isinstance(value, torch.Tensor) or value.numel() != 1 or not value.requires_grad:
        return []
    wanted = [tensor for tensor in tensors if tensor.requires_grad]
    found = iter(torch.autograd.grad(value.sum(), wanted, allow_unused=True)) if wanted else iter(())
    return [plain(next(found)) if tensor.requires_grad else None for tensor in tensors]


def _error_outcome(error):
    """Return an exception by its type alone: its message may name the candidate and so reveal whether it is correct."""
    return {"changed": {}, "error": type(error).__name__, "message": "raised by the candidate"}


class TooLarge(Exception):
    """More numbers than a test needs; its text is the sentence to show."""


def _count_numbers(value):
    """Return how many numbers the tensors in a value hold. Raises TooLarge."""
    try:
        leaves = list(islice(trees.leaves(value, DEEPEST), LEAVES_AT_MOST + 1))
    except ValueError:
        raise TooLarge(TOO_LARGE) from None
    tensors = trees.tensors(leaves)
    numbers = sum(tensor.numel() for tensor in tensors)
    if (
        len(leaves) > LEAVES_AT_MOST
        or numbers > NUMBERS_AT_MOST
        or any(tensor.dim() > 4 or any(n > AXIS_AT_MOST for n in tensor.shape) for tensor in tensors)
    ):
        raise TooLarge(TOO_LARGE)
    return numbers
