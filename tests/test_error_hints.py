"""What is said of Python's and PyTorch's own messages: each is raised here as PyTorch raises it, at a line of an answer."""

import linecache
import re

import pytest
import torch
import torch.nn.functional as F
from tasks import TASKS, altered

from course_utils.checks.error_hints import IN_OTHER_WORDS, hints_for_error
from course_utils.checks.judge_answer import judge_answer
from course_utils.checks.running.contract import Case, Failure
from course_utils.checks.running.run import run

OLD = tuple(map(int, torch.__version__.split(".")[:2])) < (2, 13)  # whose messages may be others
ATTENTION = TASKS["03.attention"]
X, Y, MASK = torch.ones(2, 3, 5), torch.ones(2, 4, 5), torch.ones(2, 3) > 0  # B T D, B S D, B T
WEIGHT = torch.nn.Linear(2, 2).weight


def unpacked_from_the_result(x):
    return x.max(-1) - 1


def without_end(x):
    return without_end(x)


SLIPS = {
    "torch.return_types": unpacked_from_the_result,
    "must match the size of tensor": lambda x: x + Y,
    "shapes cannot be multiplied": lambda x: x[0] @ Y[0],
    "size for first two dimensions of batch2": lambda x: x @ Y,
    "size mismatch, got input": lambda x: x[0] @ torch.ones(3),
    "inconsistent tensor size": lambda x: x[0, 0] @ torch.ones(3),
    "1D tensors expected": lambda x: torch.dot(x[0], x[0]),
    "self must be a matrix": lambda x: torch.mm(x, Y.mT),
    "batch1 must be a 3D tensor": lambda x: torch.bmm(x[0], Y[0].mT),
    "t() expects a tensor with <= 2": lambda x: x.t(),
    "length of the desired ordering": lambda x: x.permute(1, 0),
    'arguments: "dim"': lambda x: torch.softmax(x),
    'arguments: "dim1"': lambda x: x.transpose(1),
    'argument: "dim0", "dim1"': lambda x: x.transpose(),
    "Dimension out of range": lambda x: x.sum(3),
    "for dimension 0 with size 0": lambda x: x[x > 9].sort().values[0],
    "is out of bounds for dimension": lambda x: x[7],
    "list index out of range": lambda x: [x][1],
    "too many indices for tensor": lambda x: x[0, 0, 0, 0],
    "The shape of the mask": lambda x: x[torch.ones(2, 4) > 0],
    "index out of range in self": lambda x: F.embedding(torch.tensor([-1]), x[0]),
    "number of dimensions as input tensor": lambda x: x.gather(-1, torch.zeros(2, 3).long()),
    "used as indices must be long": lambda x: x[torch.tensor([0.0])],
    "dtype int32/int64 for index": lambda x: x.gather(-1, torch.zeros(2, 3, 1)),
    "scalar types: Long, Int": lambda x: F.embedding(torch.tensor([1.0]), x[0]),
    "target dtype to be Long": lambda x: F.cross_entropy(x[0], torch.zeros(3)),
    "index tensor of type LongTensor": lambda x: F.one_hot(torch.tensor([1.0])),
    "Expected target size": lambda x: F.cross_entropy(x, torch.zeros(2, 3).long()),
    "to match target batch_size": lambda x: F.cross_entropy(x.flatten(0, 1), torch.zeros(2, 3).long()),
    "view size is not compatible": lambda x: x.mT.view(2, -1),
    "is invalid for input of size": lambda x: x.reshape(4, 4),
    "must match the existing size": lambda x: x.expand(2, 4, 5),
    "the number of sizes provided": lambda x: torch.zeros(3, 3).__setitem__((slice(None), 0), x[0]),
    "cannot be broadcast to indexing result": lambda x: x.clone().__setitem__(x > 0, Y[0, 0]),
    "match the broadcast shape": lambda x: x[0].clone().add_(x),
    "assign a list to a": lambda x: x.clone().__setitem__(0, [1, 2, 3]),
    "repeat dims can not be smaller": lambda x: x.repeat(2),
    "expected sequence of length": lambda x: torch.tensor([[1, 2], [3]]),
    "are valid indices": lambda x: x[x.shape[0] / 2],
    "does not broadcast with previously seen": lambda x: torch.einsum("bij,bjk->bik", x, Y),
    "number of subscripts in the equation": lambda x: torch.einsum("ij,bjk->ik", x, Y),
    "non-empty TensorList": lambda x: torch.stack([]),
    "a non-empty list of Tensors": lambda x: torch.cat([]),
    "Sizes of tensors must match except": lambda x: torch.cat([x, Y], -1),
    "Tensors must have same number of dimensions": lambda x: torch.cat([x, x[0]]),
    "stack expects each tensor to be equal size": lambda x: torch.stack([x, Y]),
    "cat() takes from 1 to 2 positional": lambda x: torch.cat(x, x, 1),
    "must be tuple of Tensors, not Tensor": lambda x: torch.cat(x, 1),
    "expected Tensor as element": lambda x: torch.stack([1.0, 2.0]),
    "must be Tensor, not list": lambda x: torch.exp([1.0]),
    "must be Tensor, not float": lambda x: torch.tanh(1.0),
    "must be Tensor, not int": lambda x: torch.sqrt(x.shape[-1]),
    "only supports boolean masks": lambda x: x[..., 0].masked_fill(MASK.float(), 0),
    "condition to be a boolean tensor": lambda x: torch.where(MASK.float(), x[..., 0], 0),
    "only implemented on integer and Boolean-type": lambda x: ~MASK.float(),
    "without overflow": lambda x: x.long().masked_fill(x > 0, -torch.inf),
    "to have the same dtype": lambda x: x[0] @ torch.ones(5, 2).long(),
    "must have the same dtype": lambda x: torch.nn.Linear(5, 2)(x.double()),
    "expected scalar type": lambda x: x @ Y.mT.double(),
    "not implemented for 'Long'": lambda x: x.long().softmax(-1),
    "not implemented for 'Bool'": lambda x: MASK.softmax(-1),
    "must be either a floating point": lambda x: x.long().mean(),
    "can't be cast to the desired output type": lambda x: x.long().add_(0.5),
    "can be converted to Python scalars": lambda x: torch.tensor([x[0], x[1]]),
    "cannot be converted to Scalar": lambda x: x.item(),
    "can be converted to an index": lambda x: range(x),
    "leaf Variable that requires grad": lambda x: WEIGHT.mul_(2),
    "Can't call numpy() on Tensor": lambda x: WEIGHT.numpy(),
    "does not require grad": lambda x: x.sum().backward(),
    "Boolean value of Tensor with more than one value": lambda x: x if MASK else None,
    "selected index k out of range": lambda x: x.topk(9),
    "type must be tuple of ints,but got float": lambda x: x.view(2, 3.0, 5),
    "invalid combination of arguments - got (float, int)": lambda x: x.repeat_interleave(2.0, 1),
    "only supported on matrices or batches of matrices": lambda x: x.flatten().mT,
    "to be of same shape as normalized_shape": lambda x: F.layer_norm(x, x.shape, x[0, 0]),
    "Embedding' object is not subscriptable": lambda x: torch.nn.Embedding(2, 2)[:1],
    "'Tensor' and 'Embedding'": lambda x: x @ torch.nn.Embedding(2, 5),
    'is missing the required "forward" function': lambda x: torch.nn.ModuleDict()(x),
    "for &: 'list'": lambda x: [1] & [2],
    "for &: 'set'": lambda x: {1} & [2],
    "for |: 'list'": lambda x: [1] | [2],
    "for |: 'set'": lambda x: {1} | [2],
    "'function' object is not iterable": lambda x: [each for each in without_end],  # noqa: C416
    "unsupported operand type(s) for ^": lambda x: 2.0 ^ 2,
    "bitwise_xor": lambda x: x ^ 2,
    "Replacement index": lambda x: "{}".format(),  # noqa: F524
    "'Tensor' and 'tuple'": lambda x: x @ (x, x),
    "'tuple' and 'Tensor'": lambda x: (x, x) @ x,
    "'tuple' object has no attribute": lambda x: (x, x).shape,
    "'list' object has no attribute 'add'": lambda x: [x].add(x),
    "'list' object has no attribute": lambda x: [x].shape,
    "'torch.Size' object is not callable": lambda x: x.shape(0),
    "'Tensor' object is not callable": lambda x: x(0),
    "'int' object is not callable": lambda x, two=2: two(x),
    "'float' object is not callable": lambda x, half=0.5: half(x),
    "method' object is not subscriptable": lambda x: x.size[0],
    "'int' object is not iterable": lambda x: [i for i in x.shape[0]],  # noqa: C416
    "maximum recursion depth": without_end,
    "tensor(": lambda x: {1: 2}[x.long().sum()],
}


@pytest.mark.skipif(OLD, reason="the messages are those of torch 2.13")
@pytest.mark.parametrize("part", IN_OTHER_WORDS)
def test_a_message_of_pytorchs_is_said_in_other_words(part):
    case = Case("a tensor of three axes", (X,))
    (outcome,) = run(SLIPS[part], [case])
    assert outcome.status == "error" and part in outcome.failure.message
    assert hints_for_error(ATTENTION, case, outcome.failure) == (IN_OTHER_WORDS[part],)


@pytest.mark.parametrize(
    ("task_id", "changes", "says"),
    [
        # `.T` on a batch, in the line that stops, in one before it, or in one that only larger inputs stop at
        ("03.attention", [("query @ key.mT", "2 * query @ key.T")], "In line 26, `key.T` reverses the order of all axes"),
        ("09.self_attention", [("key.mT", "key.T")], "`key.T` reverses the order of all axes"),
        ("10.multi_head_attention", [("key.mT", "key.T")], "`.mT` swaps only the last two"),
        ("02.several_attentions", [("words.mT", "words.T")], "`words.T` reverses"),
        ("08.attend_to_past", [("states.mT", "states.T")], "`states.T` reverses"),
        # names
        ("03.padding_mask", [("torch.arange", "torch.arrange")], "did you mean `torch.arange`?"),
        ("03.padding_mask", [("torch.arange", "np.arange")], "it has not been imported: write `import numpy as np` at the top of your cell. PyTorch has it too: `torch.arange`."),
        ("03.padding_mask", [("torch.arange", "math.arange")], "it has not been imported: write `import math`"),
        ("02.masked_softmax", [("-torch.inf", "-inf")], "did you mean `torch.inf`?"),
        ("03.attention", [("-torch.inf", "-inf")], "did you mean `torch.inf`?"),
        ("03.attention", [("~mask", "~masks")], "did you mean `mask`?"),
        ("03.attention", [("scores.softmax", "Scores.softmax")], "did you mean `scores`?"),
        ("03.attention", [("softmax(-1)", "softMax(-1)")], "did you mean `.softmax`?"),
        ("00.weighted_sum", [("(weights", "(w")], "the exercise's `weights` is called `w` in your function."),
        ("00.weighted_sum", [("(weights", "(ws"), ("weights", "weight")], "the exercise's `weights` is called `ws`"),
        ("12.sublayer", [("def norm(y)", "def layer(y)")], "no cell that was run before, defines it"),
        ("12.encoder_layer", [("if self.norm_first", "if norm_first")], "is there a `self.norm_first`?"),
        ("12.encoder_layer", [("self.norm1(x)", "norm1(x)")], "did you mean `self.norm1`?"),
        ("12.encoder_layer", [("self.norm1(x)", "self.first(x)")], "the parts `self.self_attn`, `self.linear1`, "),
        ("08.attend_to_past", [("_, T, D = states", "_, _, D = states")], "T is the length of an axis: `T = states.shape[1]`."),
        ("22.chat_prompt", [("each['role']", "each.role")], 'as in `d["role"]`'),
        ("06.teacher_forced", [("words.unbind(1)", "words")], "goes through the first axis, the sentences: `words.unbind(1)`"),
        ("05.sequence_loss", [("log_softmax", "logsoftmax")], "did you mean `.log_softmax`?"),
        ("03.attention", [("weights = scores.softmax", "if mask is not None:\n        weights = scores.softmax")], "weights has no value before this line"),
        ("04.two_projections", [("len(weight)", "weight.len()")], "`len` is a function: write `len(…)`."),
        ("02.softmax", [("torch.exp", "torch.nn.functional.exp")], "did you mean `torch.exp`?"),
        ("03.catch_wrong_attention", [("torch.", "F.")], "write `import torch.nn.functional as F` at the top of your cell"),
        # arguments
        ("03.attention", [("key, value, mask=None", "key, value")], "the check passes query, key, value and mask, in this order. Your function has to accept exactly these."),
        ("03.attention", [("value, mask=None", "value, mask, scale")], "the check passes query, key, value and mask, in this order."),
        ("03.attention", [("mask=None", "mask")], "the check passes query, key and value, in this order. Your function has to accept exactly these. This call uses the exercise's default for mask"),
        ("12.encoder_layer", [("def forward(self, x, mask)", "def forward(self, x)")], "the check passes self, x and mask, in this order. `forward` has to accept exactly these."),
        ("03.causal_mask", [("causal_mask(size)", "causal_mask()")], "the check passes size. Your function has to accept exactly this."),
        # None
        ("03.attention", [("if mask is not None:", "if True:")], "mask is None for this input: check `mask is not None` before you use it."),
        ("02.softmax", [("torch.exp(", "[].append(")], "something in this line is None"),
        # gradients
        ("04.dot", [("hidden.mT", "torch.from_numpy(hidden.numpy()).mT")], "numpy does not track gradients"),
        # shapes that are unpacked
        ("08.attend_to_past", [("_, T, D = states.shape", "T, D = states.shape")], "a shape has one number for each axis"),
    ],
)  # fmt: skip
def test_a_slip_is_named_at_its_line(task_id, changes, says):
    report = judge_answer(TASKS[task_id], altered(task_id, *changes))
    assert report.state in ("failed", "error") and says in str(report), str(report)


def test_a_name_that_a_helper_lacks_is_no_renamed_argument():
    space = {}
    exec("def helper(v):\n    return weights @ v\ndef weighted_sum(w, values):\n    return helper(values)", space)
    report = judge_answer(TASKS["00.weighted_sum"], space["weighted_sum"])
    assert "no cell that was run before, defines it" in str(report)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("return torch.zeros(3)", "write `import torch` at the top of your cell"),
        ("return reference(weights, values)", "no cell that was run before, defines it"),
        ("return helper(weights)", "no cell that was run before, defines it"),
        ("return lenn(weights)", "did you mean `len`?"),
    ],
)
def test_a_missing_name_is_likened_only_to_what_it_may_mean(line, says):
    space = {}
    exec(f"def weighted_sum(weights, values):\n    {line}", space)
    report = judge_answer(TASKS["00.weighted_sum"], space["weighted_sum"])
    assert says in str(report) and ("did you mean" in says) == ("did you mean" in str(report)), str(report)


def test_endless_recursion_is_shown_at_the_call():
    text = "def weighted_sum(weights, values):\n    values = values\n    return weighted_sum(weights, values)\n"
    linecache.cache["<recursion>"] = (len(text), None, text.splitlines(True), "<recursion>")
    space = {}
    exec(compile(text, "<recursion>", "exec"), space)
    report = str(judge_answer(TASKS["00.weighted_sum"], space["weighted_sum"]))
    assert "->   3     return weighted_sum" in report, report


def test_endless_recursion_names_pytorchs_function_if_any():
    said = "your function calls itself endlessly."
    for task_id, after in (
        ("04.dot", " If you mean PyTorch's function of this name, write `torch.dot`."),
        ("00.weighted_sum", ""),
    ):
        function = TASKS[task_id].answer_name
        space = {}
        exec(f"def {function}(*given):\n    return {function}(*given)", space)
        report = judge_answer(TASKS[task_id], space[function])
        assert said + after in str(report) and ("PyTorch" in str(report)) == bool(after)


def test_hints_about_a_line_are_true_of_it():
    """A matrix may be turned by `.T`, beside a product of a batch that stops for another reason."""
    report = judge_answer(ATTENTION, altered("03.attention", ("query @ key.mT", "(query @ key[0].T) @ key")))
    assert report.state in ("failed", "error") and "reverses" not in str(report)
    report = judge_answer(
        ATTENTION, altered("03.attention", ("scores = query @ key.mT", "key = key[0]\n    scores = query + key.T"))
    )
    assert report.state in ("failed", "error") and "reverses" not in str(report)


def test_a_message_of_any_length_takes_no_time():
    for message in ("f() takes " * 10**5, "name '" + "a" * 10**6 + "' is not defined", "f() missing " + "x" * 10**6):

        def answer(*args, message=message):
            raise TypeError(message)

        assert re.search("stops with TypeError", judge_answer(ATTENTION, answer).message)


@pytest.mark.parametrize(
    "source", [None, 3, "text", (1, 2), ((1, 2),), ((1, "a @ b", torch.ones(2)),), ((1, None, True),), [(1, "a", True)]]
)
def test_lines_that_somebody_else_has_made_up_are_left_alone(source):
    failure = Failure("RuntimeError", "batch2: name 'x' is not defined", source)
    assert "did you mean" not in " ".join(hints_for_error(ATTENTION, Case("nothing", (X,)), failure))
