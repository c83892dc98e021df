"""Task 03.influence: which words a function looks at. The functions are made here, so what they look at is known."""

import torch
from torch.nn.functional import normalize

from course_utils.checks.running.contract import Candidate, Case
from course_utils.checks.task import Task

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
    ("the sum of the past, computed by a subtraction", past_by_subtraction, past),
    ("causal attention whose mask is forgotten in the last sentence", lambda x: torch.cat([_attend(x[:-1], past), _attend(x[-1:], every_word)]), every_word),
    ("causal attention whose mask is forgotten in the first sentence", lambda x: torch.cat([_attend(x[:1], every_word), _attend(x[1:], past)]), every_word),
    ("causal attention plus a hundredth of the mean of all words", lambda x: _attend(x, past) + 0.01 * x.mean(1, keepdim=True), every_word),
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
    "03.influence",
    "does the future leak?",
    arguments=("function", "x B×T×D"),
    result="influence T×T",
    candidates=tuple(_without_gradient(function, looks_at) for _, function, looks_at in FUNCTIONS),
    suspects=False,
    difficulty=3,
    importance=5,
    minutes=20,
    hints=(
        "Ask the function itself. Call it once with x as it is, and once for each word with that word alone changed. Whatever "
        "changes depends on that word.",
        "Let a function return each of two numbers plus the one before it. For (1, 5) it gives (1, 6). Change the first number to 3: it gives (3, 8), "
        "so both outputs depend on it, and the first column is True, True. Start again from (1, 5) and change the second number to 9: it gives (1, 10), so "
        "only the second output depends on it, and the second column is False, True.",
        "before = function(x); for each s: changed = a copy of x; add random numbers to all features of word s in it; after = function(changed); "
        "column s of the result is, for each t, whether any entry of after at t differs from before by more than 1e-5.",
    ),
)


@task.cases
def _(draw):
    for key, (name, *_) in enumerate(FUNCTIONS):
        B, T, D = (int(draw.whole(low, high)) for low, high in ((1, 4), (2, 7), (3, 6)))
        x = draw.numbers(B, T, D) if B * T * D > 12 else draw.numbers(13 * D)[: B * T * D].reshape(B, T, D)
        yield Case(f"{name}, {T} words", (Candidate(key), x))
        T = int(draw.whole(3, 8))
        x = draw.numbers(2, T, 5)
        x[:, int(draw.whole(0, T))] = 0
        yield Case(f"{name}, {T} words, one of them a zero vector", (Candidate(key), x))
    yield Case("attention to all words, a single word", (Candidate(0), draw.numbers(3, 1, 5)))
    yield Case("the word before, a single word", (Candidate(4), draw.numbers(2, 1, 7)))


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
    inputs = yield INPUTS, each_changed(_add_noise), x
    after = yield "the outputs for these inputs", lambda inputs: [function(x) for x in inputs], inputs
    columns = yield MOVED, differing, after, before
    return torch.stack(columns, 1)


INPUTS, MOVED = "the inputs with one word changed", "which outputs changed"


def each_changed(change):
    """For each word s, a copy of x with this word changed by change(copy, s)."""

    def inputs(x):
        copies = [x.clone() for _ in range(x.shape[1])]
        for s, copy in enumerate(copies):
            change(copy, s)
        return copies

    return inputs


def differing(after, before, least=1e-5):
    return [((one - before).abs() > least).any(-1).any(0) for one in after]


def _noise(x, seed=0):
    return 1 + torch.rand(x[:, 0].shape, generator=torch.Generator().manual_seed(seed)).to(x.dtype)


def _add_noise(x, s):
    x[:, s] += _noise(x, s)
    return x


def changed_in_place(x):
    return [_add_noise(x, s).clone() for s in range(x.shape[1])]


# The inputs

task.changed_each(
    ("all_words_at_once", "You change all words at once, so every output that depends on anything moves, whatever the column. Change one word, and start again from x for the next.", {INPUTS: lambda x: [x + 1.5 * torch.rand(x.shape, generator=torch.Generator().manual_seed(1))] * x.shape[1]}),
    ("changes_add_up", "Your changes accumulate: in round s the words before s are still changed, so column s also shows their influence. Make a fresh copy of x in each round.", {INPUTS: lambda x: changed_in_place(x.clone())}),
    ("x_changed_in_place", "You change x itself: in round s the words before s are still changed, and your caller finds different numbers in x. Change a copy, `x.clone()`, and make a fresh one in each round.", {INPUTS: changed_in_place}),
    ("a_constant_added", "You find nothing in a function that subtracts the mean of a word's features. Either you add the same number to all features, which changes nothing there: add a random number to each. Or you add up the differences with their signs, and there they cancel: take `.abs()` first.", {INPUTS: each_changed(lambda x, s: x[:, s].add_(1))}),
    ("first_feature_only", "You change only one feature of a word. A function may depend on a different one: change all of them.", {INPUTS: each_changed(lambda x, s: x[:, s, 0].add_(1.5))}),
    ("set_to_zero", "You set a word to zeros. A word that is already a zero vector does not change: add random numbers instead.", {INPUTS: each_changed(lambda x, s: x[:, s].zero_())}),
    ("multiplied", "You multiply a word by a number. That leaves a zero vector as it is, and the direction of every other one: a function may depend on direction alone. Add random numbers instead.", {INPUTS: each_changed(lambda x, s: x[:, s].mul_(2))}),
    ("first_sentence_only", "You check only the first sentence: either only its words are changed, or only its outputs are compared. A mask can be wrong in another sentence: change and compare the sentences of the whole batch.", {INPUTS: each_changed(lambda x, s: x[0, s].add_(_noise(x, s)[0]))}),
)  # fmt: skip


# The comparison

task.changed(
    "no_copy",
    "You compare the function with itself: `changed = x` makes no copy but gives x a second name, so x changes too. Write `x.clone()`.",
    {
        INPUTS: changed_in_place,
        MOVED: lambda after, _: [differing([one], one)[0] for one in after],
    },
)
task.changed(
    "by_nan",
    "You look for NaN that spreads. A weight of 0 times NaN is NaN too, so attention seems to depend on what its mask hides. Change a word to different ordinary numbers.",
    {
        INPUTS: each_changed(lambda x, s: x[:, s].fill_(torch.nan)),
        MOVED: lambda after, _: [one.isnan().any(-1).any(0) for one in after],
    },
)
for name, sentence, moved in (
    ("every_sentence_has_to_move", "You ask whether an output moves in all sentences of the batch. One sentence is enough: `any` over the batch, not `all`.", lambda one, before: ((one - before).abs() > 1e-5).any(-1).all(0)),
    ("every_feature_has_to_move", "You miss an output of which one feature moves and the others do not. Either you require all features to move, where one is enough (`any`, not `all`), or you compare one feature alone: compare all of them.", lambda one, before: ((one - before).abs() > 1e-5).all(-1).any(0)),
):  # fmt: skip
    task.changed(name, sentence, {MOVED: lambda after, before, moved=moved: [moved(one, before) for one in after]})
task.changed(
    "no_rounding",
    "You require exact equality. A function may compute the same result in a different order when another word changes, and its last digits differ: allow for rounding, about 1e-5.",
    {MOVED: lambda after, before: differing(after, before, 0.0)},
)


# The result

task.changed_each(
    ("transposed", "Rows and columns are swapped: row t belongs to an output, column s to the input that was changed.", {"result": torch.t}),
    ("any_output", "You ask whether anything in the whole result moved, so a column is all True or all False. Compare output by output: one truth value for each t.", {"result": lambda moved: moved.any(0).expand_as(moved)}),
    ("future_only", "You report only the future, above the diagonal. Return the whole matrix, including whether an output depends on its own word and on earlier ones.", {"result": lambda moved: moved.triu(1)}),
    ("by_gradient", "Your result is all False. Is the changed copy what you pass to the function, and is the word changed by about 1? A gradient finds nothing here, because the functions return plain numbers.", {"result": torch.zeros_like}),
    ("unmoved", "True and False are swapped: entries should be True where an output moves.", {"result": torch.logical_not}),
    ("numbers_not_truth", "You return 0 and 1 as numbers. A comparison already gives True and False; `.bool()` turns numbers into them.", {"result": torch.Tensor.float}),
    ("one_for_each_sentence", "You return a matrix for each sentence. Return one for all sentences: True where the output moves in any of them.", {"result": lambda moved, *, x: moved.expand(len(x), -1, -1)}),
)  # fmt: skip
