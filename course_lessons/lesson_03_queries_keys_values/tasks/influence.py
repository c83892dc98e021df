"""Task 03.influence: which words a function looks at. The functions are made here, so what they look at is known."""

import torch
from torch.nn.functional import normalize

from course_utils.checks.task import Candidate, Case, Task

# Which words an output may depend on: T×T, True where output t depends on word s


def every_word(T):
    return torch.ones(T, T, dtype=torch.bool)


def past(T):
    return every_word(T).tril()


def one_ahead(T):
    return every_word(T).tril(1)


def _attend(words, allowed):
    """Self-attention over the words that are allowed, with scores so small that no weight comes near 0."""
    scores = torch.tanh(words @ words.mT / 8).masked_fill(~allowed(words.shape[1]), -torch.inf)
    return scores.softmax(-1).nan_to_num() @ words


def each_word_alone(x):
    generator = torch.Generator().manual_seed(1)
    return torch.tanh(x @ torch.randn(x.shape[-1], 4, generator=generator, dtype=torch.float64).to(x.dtype) / 2)


def past_by_subtraction(x):
    """The sum of the past as the sum of all less the later ones: what cancels leaves a trace in the last digits."""
    small = x.tanh()
    later = small.flip(1).cumsum(1).flip(1) - small
    return (10 + small.sum(1, keepdim=True)) - later


FUNCTIONS = (
    ("attention to all words", lambda x: _attend(x, every_word), every_word),
    ("attention with a causal mask", lambda x: _attend(x, past), past),
    ("attention with a causal mask that lets one word too many through", lambda x: _attend(x, one_ahead), one_ahead),
    ("a layer that processes each word alone", each_word_alone, lambda T: torch.eye(T, dtype=torch.bool)),
    ("the word before", lambda x: torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], 1), lambda T: every_word(T).tril(-1).triu(-1)),
    ("the sum of a word and all later ones", lambda x: x.flip(1).cumsum(1).flip(1) / x.shape[1], lambda T: every_word(T).triu()),
    ("the first word, at every position", lambda x: x[:, :1].expand(-1, x.shape[1], -1) / 2, lambda T: torch.arange(T).expand(T, T) == 0),
    ("causal attention that subtracts the mean of a word's features", lambda x: _attend(x - x.mean(-1, keepdim=True), past), past),
    ("causal attention that sees directions only", lambda x: _attend(normalize(x, dim=-1), past), past),
    ("attention to the last feature, one word too far", lambda x: _attend(x[..., -1:], one_ahead), one_ahead),
    ("attention to the first feature, one word too far", lambda x: _attend(x[..., :1], one_ahead), one_ahead),
    ("the sum of the past, computed by a subtraction", past_by_subtraction, past),
    ("causal attention whose mask is forgotten in the last sentence", lambda x: torch.cat([_attend(x[:-1], past), _attend(x[-1:], every_word)]), every_word),
    ("causal attention whose mask is forgotten in the first sentence", lambda x: torch.cat([_attend(x[:1], every_word), _attend(x[1:], past)]), every_word),
    ("causal attention plus a hundredth of the mean of all words", lambda x: _attend(x, past) + 0.01 * x.mean(1, keepdim=True), every_word),
    ("causal attention plus the sum of all words, divided by 3,000", lambda x: _attend(x, past) + x.sum(1, keepdim=True) / 3000, every_word),
    ("causal attention whose last feature sees all words", lambda x: torch.cat([_attend(x, past)[..., :-1], _attend(x, every_word)[..., -1:]], -1), every_word),
)  # fmt: skip


def _without_gradient(function, looks_at):
    """The numbers alone, as a function gives them that runs elsewhere."""

    def call(x):
        if not isinstance(x, torch.Tensor) or x.dim() != 3:
            raise ValueError("a tensor B×T×D is expected")
        with torch.no_grad():
            return function(x)

    call.looks_at, call.by_rounding = looks_at, function is past_by_subtraction
    return call


task = Task(
    __name__,
    "does the future leak?",
    arguments=("function", "x B×T×D"),
    result="influence T×T",
    candidates=tuple(_without_gradient(function, looks_at) for _, function, looks_at in FUNCTIONS),
    suspects=False,
    difficulty=3,
    importance=5,
    minutes=20,
)


@task.cases
def _(draw):
    for key, (name, *_) in enumerate(FUNCTIONS):
        B, T, D = (int(draw.whole(low, high)) for low, high in ((1, 4), (2, 7), (3, 6)))
        x = draw.numbers(B, T, D) if B * T * D > 12 else draw.numbers(13 * D)[: B * T * D].reshape(B, T, D)
        yield Case(f"function: {name}; x: {T} words", (Candidate(key), x))
        T = int(draw.whole(3, 8))
        x = draw.numbers(2, T, 5)
        x[:, int(draw.whole(0, T))] = 0
        yield Case(f"function: {name}; x: {T} words, one of them a zero vector", (Candidate(key), x))
    yield Case("function: attention to all words; x: a single word", (Candidate(0), draw.numbers(3, 1, 5)))
    yield Case("function: the word before; x: a single word", (Candidate(4), draw.numbers(2, 1, 7)))


@task.property
def rows_are_outputs_and_no_influence_comes_from_nowhere(case, value):
    """Rows belong to outputs; and outputs that move without their word having been touched come from another word, or from rounding."""
    right, by_rounding = _right(case)
    if torch.equal(value, right.T) and not torch.equal(right, right.T):
        return "Rows and columns are swapped: row t belongs to an output, column s to the word that was changed."
    if (value & ~right).any():
        room = ", and do you allow for rounding, about 1e-5" if by_rounding else ""
        return f"Somewhere you find an influence that is not there. Is only one word changed at a time{room}?"
    return None


@task.property
def no_influence_is_missed(case, value):
    """What looks at one feature, one sentence, or at a direction is looked into as well."""
    right, _ = _right(case)
    if (right & ~value).any() and not torch.equal(value, right.T):
        return (
            "Somewhere you miss an influence that is there. Is each feature of the word changed by about 1, by its own random number, in every sentence? "
            "And do you compare all entries of the output, with a tolerance of 1e-5 and no more?"
        )
    return None


def _right(case):
    """Return the influence that is right for a case, and whether its function leaves traces by rounding."""
    function = task.candidate(case.args[0].key)
    return function.looks_at(case.args[1].shape[1]), function.by_rounding


@task.steps
def _(function, x):
    before = yield "the output for x", function, x
    inputs = yield "the inputs with one word changed", _each_changed, x
    after = yield "the outputs for these inputs", lambda inputs: [function(x) for x in inputs], inputs
    columns = yield "which outputs changed", _differing, after, before
    return torch.stack(columns, 1)


def _each_changed(x):
    """Return, for each word, a copy of x with this word changed by about 1."""
    copies, noise = [x.clone() for _ in range(x.shape[1])], torch.Generator().manual_seed(0)
    for s, copy in enumerate(copies):
        copy[:, s] += 1 + torch.rand(x[:, s].shape, generator=noise).to(x.dtype)
    return copies


def _differing(after, before):
    return [((one - before).abs() > 1e-5).any(-1).any(0) for one in after]
