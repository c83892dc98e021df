"""Task 20.delta_memory: a memory that replaces its contents (Schlag, Irie & Schmidhuber 2021, section 4.2)."""

from operator import add, mul, sub

import torch

from course_lessons.shared.partial_credit import USUAL
from course_utils.checks.reference_trace import left_out
from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count, sizes

task = Task(
    "20.delta_memory",
    "a memory that replaces what it held",
    arguments=("key B×T×D", "value B×T×E", "query B×T×D", "rate B×T"),
    result="read B×T×E",
    difficulty=3,
    importance=4,
    minutes=15,
    hints=(
        "The memory is a matrix that answers a key with a value: a vector times the matrix. Before a step writes, it uses its own key to ask the memory what is already there. It then writes only the difference between its own value and that answer, times the rate, and finally it reads with its query.",
        "Take D = 2 and E = 1, the key [1, 0] at two steps, with the values 4 and 10, the query [1, 0] and the rates 1 and 0.5. At step 0 the memory is empty, so the difference is 4, and [1, 0] times 4 is added: the memory is [4, 0], and the query reads 4. At step 1 the key finds 4. The difference is 10 - 4 = 6, half of it is 3, so the memory becomes [7, 0] and the query reads 7. A memory that only adds would read 4 + 0.5·10 = 9.",
        "memory = zeros B×D×E. For each step t: old = key t as a row (B×1×D) times memory: B×1×E; difference = value t as a row, minus old, times rate t with two axes of size 1 after it; memory = memory + key t as a column (B×D×1) times difference, as a new tensor; read t = query t as a row times memory. Return what was read, stacked along axis 1.",
    ),
    partial=USUAL,
)


@task.property
def the_first_step_reads_what_it_wrote(case, value):
    """The memory was empty before."""
    key, values, query, rate = (arg[:, 0] for arg in case.args)
    right = (query * key).sum(1, keepdim=True) * rate[:, None] * values
    off = (value[:, 0] - right).abs() > 1e-3 * (1 + right.abs())
    return (
        f"The memory starts with zeros, so step 0 reads rate · (query · key) · value. For the input “{case.name}” yours reads something else. Does it write before it reads?"
        if off.any()
        else None
    )


def _inputs(draw, B, T, D, E, dtype=torch.float32):
    """Keys of a length near 1, and rates from 1/8 to 7/8, none of them a half."""
    key, query = ((draw.numbers(B, T, D, dtype=dtype) + 0.125) / D**0.5 for _ in range(2))
    rate = torch.tensor([1, 2, 3, 5, 6, 7], dtype=dtype)[draw.whole(0, 6, B, T)] / 8
    return key, draw.numbers(B, T, E, dtype=dtype) + 0.125, query, rate


def _unit(draw, B, T, D, E):
    key, value, query, rate = _inputs(draw, B, T, D, E)
    return key / key.norm(dim=2, keepdim=True), value, query, rate


@task.property
def the_first_step_that_is_wrong(case, value):
    """What a step reads hangs on the writes so far."""
    right = task.oracle_function(*case.args)
    if value.shape != right.shape:
        return None
    off = ((value.double() - right.double()).abs() > 1e-4 * (1 + right.abs())).any(-1).any(0)
    if not off.any():
        return None
    t = int(off.nonzero()[0])
    if t == 0:
        return "Step 0 is already wrong: the memory is empty there, so it reads what it has just written itself, to the extent that its query resembles its key."
    return f"Steps before step {t} read what they should. So look at what a write does to what is already in the memory: step {t} is the first that shows it."


@task.cases
def _(draw):
    for size in sizes(B=2, T=5, D=3, E=7):
        T = size.T if size.full else size.T + 1
        name = f"{count(size.B, 'sequence')} of {T} steps, D = {size.D}, E = {size.E}"
        yield Case(name, _inputs(draw, size.B, T, size.D, size.E), size.full)
    yield Case("D and E both 5", _inputs(draw, 2, 3, 5, 5), True)
    yield Case("as many sequences as steps", _inputs(draw, 5, 5, 3, 2))
    yield Case("B, T, D and E all 3", _inputs(draw, 3, 3, 3, 3))
    key, value, query, rate = _unit(draw, 2, 5, 3, 7)
    yield Case("keys of length 1, all rates 1", (key, value, query, torch.ones_like(rate)), True)
    yield Case("the same key at all steps", (key[:, :1].expand_as(key).clone(), value, query, rate), True)
    yield Case("a single step", _inputs(draw, 2, 1, 3, 5), True, edge=True)
    yield Case("D and E both 1", _inputs(draw, 2, 5, 1, 1), True, edge=True)
    key, value, query, rate = _inputs(draw, 2, 5, 3, 7)
    yield Case("all rates 0", (key, value, query, 0 * rate), True, edge=True)
    key, value, query, rate = _inputs(draw, 2, 5, 3, 7)
    yield Case("values of ±10,000", (key, value * 5e3, query, rate), True, hazard=True)
    yield Case("100 steps", _unit(draw, 1, 100, 3, 5), True, edge=True)
    yield Case("float64 numbers", _inputs(draw, 2, 5, 3, 7, torch.float64), True, hazard=True)


OLD, DIFFERENCE, SCALED = (
    "what is there",
    "the difference",
    "the scaled difference",
)
WRITTEN, NEW, READ = "what is written", "the memory after writing", "what is read"
RATE, KEPT, QUERY = "the rate of the step", "the memory before the step", "the query of the step"


def recall(memory, vector):
    """What a memory B×D×E answers to a vector B×D."""
    return (vector[:, None] @ memory)[:, 0]


@task.steps
def _(key, value, query, rate):
    memory, read = key.new_zeros(len(key), key.shape[2], value.shape[2]), []
    for k, v, q, r in zip(key.unbind(1), value.unbind(1), query.unbind(1), rate.unbind(1), strict=True):
        memory = yield KEPT, lambda memory: memory, memory
        asked = yield QUERY, lambda q: q, q
        old = yield OLD, recall, memory, k
        difference = yield DIFFERENCE, sub, v, old
        rate_now = yield RATE, lambda r: r[:, None], r
        scaled = yield SCALED, mul, rate_now, difference
        written = yield WRITTEN, lambda k, scaled: k[:, :, None] * scaled[:, None], k, scaled
        memory = yield NEW, add, memory, written
        read.append((yield READ, recall, memory, asked))
    return torch.stack(read, 1)


# What is written

task.changed(
    "only_added",
    "You add the new value without subtracting what the memory held for this key. Write the difference: the value minus what the key finds.",
    {DIFFERENCE: left_out},
)
task.changed(
    "rate_on_the_new_value_only",
    "Only the new value is multiplied by the rate, and what the memory held is subtracted in full. The brackets go around both: rate · (value - old).",
    {DIFFERENCE: left_out, SCALED: lambda rate, value, *, done: rate * value - done[OLD]},
)
task.changed(
    "memory_faded",
    "You multiply the whole memory by 1 minus the rate before you add, so what belongs to other keys also fades. Subtract only what the key finds.",
    {DIFFERENCE: left_out, NEW: lambda memory, written, *, done: (1 - done[RATE])[..., None] * memory + written},
)
task.changed_each(
    ("old_value_added", "You add what the memory held to the new value. Subtract it: the write is only what is missing.", {DIFFERENCE: add}),
    ("memory_replaced", "Each write replaces the whole memory, so what earlier steps have written is lost. Add it to the memory.", {NEW: lambda memory, written: written}),
    ("rate_unused", "The rate has no effect: each write replaces what the key finds in full. Multiply the difference by the rate.", {RATE: lambda r: torch.ones_like(r[:, None])}),
    ("one_minus_the_rate", "You multiply the difference by 1 minus the rate. The rate determines how much is replaced: multiply by it.", {RATE: lambda r: 1 - r[:, None]}),
    ("first_rate_for_all_steps", "All steps write with the rate of the first step. Each has its own rate.", {"rate": lambda rate: rate[:, :1].expand_as(rate)}),
    ("first_rates_for_all_sequences", "All sequences use the rates of the first. Each has its own rates.", {"rate": lambda rate: rate[:1].expand_as(rate)}),
    ("read_with_the_key", "You read with the key. A step reads with its query.", {"query": lambda query, *, key: key}),
    ("memory_not_kept", "Each step starts with an empty memory. Create it once, before the loop, and keep it from step to step.", {KEPT: torch.zeros_like}),
    ("keys_normalised", "You divide the keys by their length. Use them as they are.", {"key": lambda key: torch.nn.functional.normalize(key, dim=2)}),
    ("old_value_asked_with_the_query", "You use the query to find what is to be replaced. Use the key: the step writes under its key.", {OLD: lambda memory, key, *, done: recall(memory, done[QUERY])}),
)  # fmt: skip


# What is read, and when

task.changed(
    "read_before_writing",
    "You read before the step has written, so step 0 reads zeros. Write first, and then read.",
    {READ: lambda new, query, *, done: recall(done[KEPT], query)},
)


@task.mistake(
    "All steps read from the final memory, so they see what later steps write. Read within the loop, after each step has written."
)
def all_read_at_the_end(key, value, query, rate):
    memories = []
    task.variant({NEW: lambda memory, written: memories.append(memory + written) or memories[-1]})(
        key, value, query, rate
    )
    return query @ memories[-1]


# Axes and sequences

task.changed(
    "memory_transposed",
    "The memory is transposed when you read or write, and this runs only if D and E are equal. A key is a column of D numbers, a value a row of E numbers, and the memory is D×E.",
    {WRITTEN: lambda key, scaled: scaled[:, :, None] * key[:, None]},
)
task.changed(
    "one_memory_for_all",
    "All sequences of the batch write into one memory, D×E. Each sequence has its own: B×D×E, and the outer product is computed for each separately.",
    {WRITTEN: lambda key, scaled: (key.T @ scaled).expand(len(key), -1, -1)},
)
ARGUMENTS = ("key", "value", "query", "rate")
task.changed(
    "memory_kept_between_sequences",
    "The memory is not emptied between sequences: each starts with what the previous one left. Start each sequence with zeros.",
    dict.fromkeys(ARGUMENTS, lambda x: x.flatten(0, 1)[None]) | {"result": lambda read, *, value: read.view_as(value)},
)
task.changed(
    "steps_along_the_batch",
    "Your loop runs over the batch, axis 0, instead of the steps: each sequence reads what the previous ones have written. Loop over axis 1.",
    dict.fromkeys((*ARGUMENTS, "result"), lambda x: x.transpose(0, 1)),
)


# Gradients, and what came in

task.changed(
    "memory_cut_off",
    "What is read is correct, but no gradient flows through the memory from one step to the next. Leave out `detach`: what a step reads depends on all steps before it.",
    {KEPT: torch.Tensor.detach},
)
task.changed(
    "gradient_cut",
    "What is read is correct, but no gradient reaches any input. Leave out `detach`, `no_grad` and `.data`, and stack the tensors themselves.",
    {"result": torch.Tensor.detach},
)


@task.mistake(
    "What is read is correct, but you write the differences into `value` itself, and code that uses it later finds other numbers there. Make a new tensor for them."
)
def written_into_the_values(key, value, query, rate):
    differences = []
    take = lambda value, old: differences.append(value - old) or differences[-1]  # noqa: E731
    right = task.variant({DIFFERENCE: take})(key, value, query, rate)
    with torch.no_grad():
        value.copy_(torch.stack(differences, 1))
    return right
