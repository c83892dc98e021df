"""Explains error messages of Python and PyTorch to a beginner and says what to do.

It knows the message, the lines around the failure, and the arguments that the exercise passes. What it says about a message is true
wherever PyTorch raises it: a cause is named only if the lines show it.
"""

import builtins
import math
import re
from collections.abc import Sequence
from difflib import get_close_matches
from keyword import kwlist

import torch

from course_utils.base.words import listed
from course_utils.checks.running.contract import Case, Failure, Outcome, is_float
from course_utils.checks.task import Mistake, Task

PRODUCT = "in a matrix product the last axis on the left must be as long as the second to last on the right"
WHOLE = "ids and indices must be whole numbers: `.long()` converts them."
TYPES = "the two hold numbers of different types: `.float()` converts to float32, and `.to(other.dtype)` to the type of the other tensor."
ONE_NUMBER = (
    "`.item()`, `float(…)` and the functions of `math` accept a single number, and this tensor has several. PyTorch's own functions, such as `torch.exp`, "
    "handle all of them at once, and `torch.stack` combines several tensors into one."
)
POINT = "floating-point numbers are needed, and this tensor has none: `.float()` converts it."
CLASSES = "the logits need the classes on their second axis, N×V, for N ids: merge the axes of sentences and words."
SETS = "`&` and `|` join sets, and one of these is a list: `set(…)` makes a set of it."
TABLE = "an `nn.Embedding` is a module: its table is a tensor, `.weight`."
DIVIDED = "`/` returns a floating-point number even if there is no remainder: write `//`."
EMPTY = "this list of tensors is empty. Did the loop that fills it run?"
SEVERAL = "the function that you called returns several results, such as contexts and weights: select the one that you need, as with `[0]`."
IN_OTHER_WORDS = {  # the first part that a message contains decides
    "torch.return_types": "`max`, `min` and `sort` along an axis return values and indices: use `.values`.",
    "must match the size of tensor": "two axes that should line up have different lengths: print both shapes before this line.",
    "shapes cannot be multiplied": f"{PRODUCT}; `*` multiplies element by element.",
    "size for first two dimensions of batch2": f"{PRODUCT}, and both need the same batch.",
    "size mismatch, got input": f"{PRODUCT}.",
    "inconsistent tensor size": "the two vectors of a dot product must be equally long.",
    "1D tensors expected": "`torch.dot` takes two vectors. For tensors with more axes, use `@`, or `*` and a sum.",
    "self must be a matrix": "`torch.mm` multiplies two matrices. `@` also handles batches of matrices.",
    "batch1 must be a 3D tensor": "`torch.bmm` takes tensors with three axes. `@` works with any number of axes.",
    "t() expects a tensor with <= 2": "`.t()` is for matrices. `.mT` swaps the last two axes of any tensor.",
    "length of the desired ordering": "`permute` needs the number of each axis once. `.mT` swaps the last two, `transpose` any two.",
    'arguments: "dim"': "specify the axis by its number; -1 is the last one.",
    'arguments: "dim1"': "specify which two axes to swap. `.mT` swaps the last two.",
    'argument: "dim0", "dim1"': "specify which two axes to swap. `.mT` swaps the last two.",
    "Dimension out of range": "axes are counted from 0, so a tensor with two axes has the axes 0 and 1. -1 is always the last one.",
    "for dimension 0 with size 0": "the tensor is empty here, for example because nothing met a condition.",
    "is out of bounds for dimension": "positions are counted from 0, so the last of n is n - 1.",
    "list index out of range": "positions are counted from 0, so the last of n is n - 1.",
    "too many indices for tensor": "the brackets name more axes than the tensor has: print its shape before this line.",
    "The shape of the mask": "a mask in square brackets needs the lengths of the axes that it selects from: print both shapes.",
    "index out of range in self": "an embedding has a row for each id from 0 on, and an id here is below 0 or too large. Check all ids, including padding.",
    "number of dimensions as input tensor": "`gather` needs an index with as many axes as the tensor: `[..., None]` adds one at the end.",
    "used as indices must be long": WHOLE,
    "dtype int32/int64 for index": WHOLE,
    "scalar types: Long, Int": WHOLE,
    "target dtype to be Long": WHOLE,
    "index tensor of type LongTensor": WHOLE,
    "Expected target size": CLASSES,
    "to match target batch_size": CLASSES,
    "view size is not compatible": "`view` needs numbers that are contiguous in memory, and they no longer are after a slice such as `[:, :-1]` or `[:, ::2]`, or after `.mT`, `transpose`, `permute`, `narrow` or `expand`. `reshape` copies them if necessary.",
    "is invalid for input of size": "the new shape must hold as many numbers as there are: print the old shape before this line.",
    "must match the existing size": "a tensor does not fit into the shape that it should fill, since only axes of length 1 can be expanded: print both shapes.",
    "the number of sizes provided": "a tensor does not fit into a place that has fewer axes, such as `result[:, i]`, which takes one number for each row: print both shapes.",
    "cannot be broadcast to indexing result": "what is assigned does not fit into the places that the brackets select: print both shapes.",
    "match the broadcast shape": "`+=` and the like keep the shape of the tensor on the left, and the result here would be larger: write `a = a + b`.",
    "assign a list to a": "only a tensor or a number can be assigned here: `torch.tensor(…)` makes a tensor from a list of numbers.",
    "repeat dims can not be smaller": "`repeat` needs a number for each axis: how many copies to put side by side, 1 for none.",
    "expected sequence of length": "the rows of a list that becomes a tensor must be equally long.",
    "are valid indices": "a position must be a whole number: `/` returns a floating-point number even if there is no remainder, `//` a whole one.",
    "does not broadcast with previously seen": "in `einsum`, a letter has one length wherever it occurs: print the shapes.",
    "number of subscripts in the equation": "`einsum` needs one letter for each axis of each tensor: print their shapes.",
    "non-empty TensorList": EMPTY,
    "a non-empty list of Tensors": EMPTY,
    "Sizes of tensors must match except": "`torch.cat` joins tensors along one axis, and all other axes must have equal lengths. Is `dim` the axis that you mean?",
    "Tensors must have same number of dimensions": "`torch.cat` needs tensors with the same number of axes: `[:, None]` adds an axis.",
    "stack expects each tensor to be equal size": "`torch.stack` needs tensors of the same shape. `torch.cat` joins tensors along an existing axis.",
    "cat() takes from 1 to 2 positional": "the tensors go into a list: `torch.cat([a, b], dim=…)`.",
    "must be tuple of Tensors, not Tensor": "the tensors go into a list: `torch.cat([a, b], dim=…)`.",
    "expected Tensor as element": "these are not tensors yet: `torch.tensor(…)` makes one from numbers.",
    "must be Tensor, not list": "this is a list, not a tensor: `torch.tensor(…)` makes one from numbers, `torch.stack(…)` from tensors.",
    "must be Tensor, not float": "PyTorch's functions take tensors. For a plain number, use Python's `math`; `** 0.5` is the square root.",
    "must be Tensor, not int": "PyTorch's functions take tensors. For a plain number, use Python's `math`; `** 0.5` is the square root.",
    "only supports boolean masks": "`masked_fill` needs True and False, not numbers. A comparison, such as `mask == 0`, returns them.",
    "condition to be a boolean tensor": "`torch.where` needs True and False first, not numbers. A comparison, such as `mask > 0`, returns them.",
    "only implemented on integer and Boolean-type": "`~` swaps True and False, and this tensor holds numbers: apply it to the mask itself, before it is turned into numbers.",
    "without overflow": "whole numbers have no infinity: convert them with `.float()` first.",
    "to have the same dtype": TYPES,
    "must have the same dtype": TYPES,
    "expected scalar type": TYPES,
    "not implemented for 'Long'": POINT,
    "not implemented for 'Bool'": POINT,
    "must be either a floating point": POINT,
    "can't be cast to the desired output type": POINT,
    "can be converted to Python scalars": ONE_NUMBER,
    "cannot be converted to Scalar": ONE_NUMBER,
    "can be converted to an index": "a list index and `range` need a single whole number, and this tensor has several, or floating-point numbers.",
    "leaf Variable that requires grad": "a tensor that needs a gradient must not be overwritten: make a new one, such as `a = a + b` instead of `a += b`.",
    "Can't call numpy() on Tensor": "numpy does not track gradients: use PyTorch's function of the same name.",
    "does not require grad": "somewhere on the way `.detach()`, `.item()` or torch.tensor(…) has cut off the gradient.",
    "Boolean value of Tensor with more than one value": "`if`, `and`, `or` and `not` need a single truth value, and a tensor has many. "
    "To ask whether there is a mask at all, write `mask is not None`; to choose element by element, use torch.where or masked_fill.",
    "selected index k out of range": "`topk` is asked for more numbers than there are: if there are fewer, keep all of them.",
    "type must be tuple of ints,but got float": DIVIDED,
    "invalid combination of arguments - got (float, int)": DIVIDED,
    "only supported on matrices or batches of matrices": "`.mT` needs two axes, and this tensor has fewer. `repeat_interleave` flattens unless `dim` names an axis.",
    "to be of same shape as normalized_shape": "the second argument of `layer_norm` holds the lengths of the axes that are normalised: `(x.shape[-1],)` for the last one alone.",
    "Embedding' object is not subscriptable": TABLE,
    "'Tensor' and 'Embedding'": TABLE,
    'is missing the required "forward" function': "a `ModuleDict` or `ModuleList` only holds other modules: call one of those.",
    "for &: 'list'": SETS,
    "for &: 'set'": SETS,
    "for |: 'list'": SETS,
    "for |: 'set'": SETS,
    "unsupported operand type(s) for ^": "`^` is not a power in Python: write `**`.",
    "bitwise_xor": "`^` is not a power in Python: write `**`.",
    "Replacement index": "`.format` fills in every pair of braces of the text that it is called on: a text with braces of its own belongs among the values.",
    "'Tensor' and 'tuple'": SEVERAL,
    "'tuple' and 'Tensor'": SEVERAL,
    "'tuple' object has no attribute": SEVERAL,
    "'list' object has no attribute 'add'": "`append` adds one entry to a list.",
    "'list' object has no attribute": "this is a list, not a tensor: `torch.stack(…)` makes one from tensors, `torch.tensor(…)` from numbers.",
    "'torch.Size' object is not callable": "a shape is not a function: write `x.shape[0]`, or `x.size(0)`.",
    "'Tensor' object is not callable": "round brackets call a function. Entries of a tensor need square brackets, as in `x[0]`.",
    "'int' object is not callable": "round brackets call a function. Is a `*` missing in front of them?",
    "'float' object is not callable": "round brackets call a function. Is a `*` missing in front of them?",
    "method' object is not subscriptable": "a function is called with round brackets, as in `x.size(0)`.",
    "'function' object is not iterable": "a function is called with round brackets, as in `f()`.",
    "'int' object is not iterable": "a counting loop runs over `range(n)`.",
    "maximum recursion depth": "your function calls itself endlessly.",
    "tensor(": "a dictionary cannot look up a tensor by its value: use a plain number as the key, such as `x.item()`.",
}
IMPORTS = {
    "torch": "import torch",
    "np": "import numpy as np",
    "numpy": "import numpy",
    "F": "import torch.nn.functional as F",
    "nn": "from torch import nn",
    "math": "import math",
    "itertools": "import itertools",
}
# Python's own names that an answer may misspell; not `help` or `ReferenceError`, which other names may resemble.
BUILT_IN = (
    "False None True abs all any bool dict enumerate filter float int isinstance iter len list map max min next pow print "
    "range reversed round set sorted str sum super tuple type zip"
).split()
INSIDE = {
    "module 'torch'": ("torch.", torch),
    "module 'torch.nn'": ("torch.nn.", torch.nn),
    "module 'torch.nn.functional'": ("torch.nn.functional.", torch.nn.functional),
    "module 'math'": ("math.", math),
    "'Tensor' object": (".", torch.Tensor),
    "'list' object": (".", list),
    "'dict' object": (".", dict),
    "'str' object": (".", str),
    "'set' object": (".", set),
    "'tuple' object": (".", tuple),
}
AT_MOST = 300  # characters of a message or a line that patterns search: either could be made to take for ever
REVERSED = "all_axes_reversed"  # what tasks call this mistake, too
ALIKE = 0.7  # of get_close_matches: the similarity from which a name counts as misspelt


def hints_for_error(task: Task, case: Case, failure: Failure) -> tuple[str, ...]:
    """Return what the message of an exception means and what the lines show, as far as known."""
    if hint := misspelt(task, case, failure) or _on_the_left(task, case, failure) or _of_none(task, case, failure):
        return (hint,)
    words = next((words for part, words in IN_OTHER_WORDS.items() if part in failure.message), "")
    if "values to unpack" in failure.message:
        words = _wrong_count_of_names(failure)
    if "recursion" in failure.message and hasattr(torch, task.answer_name):
        words += f" If you mean PyTorch's function of this name, write `torch.{task.answer_name}`."
    _, reversal = _reversal(task, case, failure) or (0, "")
    return tuple(filter(None, (words, reversal, _loop_over_sentences(task, failure))))


# Names and arguments, which are the answer's own, whatever its inputs


def misspelt(task: Task, case: Case, failure: Failure) -> str:
    """Return a hint on an undefined name, or on arguments that the answer does not accept; else ""."""
    return (
        _wrong_arguments(task, case, failure)
        or _no_such_name(task, case, failure)
        or _no_attribute(task, case, failure)
    )


def _wrong_arguments(task, case, failure):
    """Return which arguments an exercise passes, if the answer does not accept them. Then none of its lines has run."""
    if not re.search(r"\(\) (takes|missing) .* argument", failure.message) or len(lines_of(failure)) > 1:
        return ""
    given = task.names[: len(case.args)]
    names, itself = (["self", *given[2:]], "`forward`") if case.module else (given, "Your function")
    handed = listed(names)
    left_out = " and ".join(task.names[len(case.args) :])
    default = f" This call uses the exercise's default for {left_out}." if left_out else ""
    handed, these = (f"{handed}, in this order", "these") if len(names) > 1 else (handed, "this")
    return f"the check passes {handed}. {itself} has to accept exactly {these}.{default}"


def _no_such_name(task, case, failure):
    found = re.search(r"name '(\w{1,60})' is not defined|local variable '(\w{1,60})'", failure.message)
    if not found:
        return ""
    name = found[1] or found[2]
    if name in IMPORTS:
        return f"it has not been imported: write `{IMPORTS[name]}` at the top of your cell.{_torch_hint(name, failure)}"
    renamed = _renamed_arguments(task, failure)
    if found[1] and (known := _part_of_module(task, case, name) or _length_of_axis(task, case, name, renamed)):
        return known
    near = {*_names_around(failure), *(task.names if found[1] else ())}
    close = name if name in renamed else _closest_name(name, near - {name, task.answer_name, failure.function, *kwlist})
    if close in renamed:
        return f"the exercise's `{close}` is called `{renamed[close]}` in your function."
    if close:
        return f"did you mean `{close}`?"
    if found[2]:
        return f"{name} has no value before this line. Was it assigned inside an `if` or a loop that did not run?"
    if name != "norm" and (elsewhere := _in_another_module(name)):  # torch.norm is a length, and no layer norm
        return f"did you mean `{elsewhere}`?"
    if close := _closest_name(name, BUILT_IN):
        return f"did you mean `{close}`?"
    return "no earlier line, and no cell that was run before, defines it."


def _names_around(failure):
    """Return the names in the lines around a failure, without attributes."""
    return re.findall(r"(?<![\w.'\"])[A-Za-z_]\w*", " ".join(text for _, text, _ in lines_of(failure)))


def _renamed_arguments(task, failure):
    """Return {an argument's name in the exercise: its name in the answer}, for those that the answer renames."""
    own = failure.arguments if isinstance(failure.arguments, tuple) else ()
    if failure.function != ("forward" if task.module else task.answer_name):  # another function of the answer's
        return {}
    given = ["self", *task.names[2:]] if task.module else task.names
    pairs = zip(given, own, strict=False)
    return {name: now for name, now in pairs if name not in own and isinstance(now, str) and len(now) <= AT_MOST}


def _part_of_module(task, case, name):
    """Return where `forward` finds a part or an argument of `__init__`; "" for any other name."""
    if not task.module:
        return ""
    sizes, weights, *_ = case.args
    if name in _parts_of_module(weights):
        return f"did you mean `self.{name}`?"
    return f"`forward` reads what `__init__` has kept: is there a `self.{name}`?" if name in sizes else ""


def _parts_of_module(weights):
    return list(dict.fromkeys(name.partition(".")[0] for name in weights))


def _length_of_axis(task, case, name, renamed):
    """Return where to find the length that the exercise calls by this letter; "" if no tensor has it."""
    for declared, arg in zip(task.arguments, case.args, strict=False):
        argument, _, letters = declared.partition(" ")
        axes = letters.split("×")
        if name in axes and isinstance(arg, torch.Tensor):
            place = axes.index(name) - len(axes) * (axes[0] == "…")
            return f"in the exercise, {name} is the length of an axis: `{name} = {renamed.get(argument, argument)}.shape[{place}]`."
    return ""


def _torch_hint(alias, failure):
    """Return a hint if PyTorch has, by the same name, what a line takes from a module not imported; else ""."""
    here = " ".join(text for _, text, here in lines_of(failure) if here)
    wanted = re.search(rf"\b{alias}\.(\w{{1,60}})", here)
    return f" PyTorch has it too: `torch.{wanted[1]}`." if wanted and wanted[1] in vars(torch) else ""


def _no_attribute(task, case, failure):
    found = re.search(r"((?:module )?'[\w.]{1,60}'(?: object)?) has no attribute '(\w{1,60})'", failure.message)
    if found and task.module and found[1] == f"'{task.answer_name}' object":
        return f"`__init__` makes the parts {', '.join(f'`self.{part}`' for part in _parts_of_module(case.args[1]))}."
    if not found or found[1] not in INSIDE:
        return ""
    (prefix, thing), name = INSIDE[found[1]], found[2]
    if prefix == "." and hasattr(builtins, name):
        return f"`{name}` is a function: write `{name}(…)`."
    elsewhere = _in_another_module(name) if prefix != "." else ""
    close = _closest_name(name, [each for each in dir(thing) if not each.startswith("_")])
    if thing is dict and not close:
        return f'a dictionary\'s entry is read by its key, as in `d["{name}"]`.'
    return f"did you mean `{elsewhere or prefix + close}`?" if elsewhere or close else ""


def _in_another_module(name):
    """Return a name with the module of PyTorch, or Python's `math`, that has it; "" if none does."""
    modules = ((prefix, thing) for prefix, thing in INSIDE.values() if prefix != ".")
    return next((prefix + name for prefix, thing in modules if name in vars(thing)), "")


def _closest_name(name, names):
    """Return the name most like a given one, ignoring case; "" if none is close."""
    small = {}
    for each in sorted(names):
        small.setdefault(each.lower(), each)
    close = get_close_matches(name.lower(), small, 1, ALIKE)
    return small[close[0]] if close else ""


# What the lines around the failure show


def mistake_in_a_line(task: Task, cases: Sequence[Case], outcomes: Sequence[Outcome]) -> Mistake | None:
    """Return the Mistake that the lines around an exception show, or None."""
    for case, outcome in zip(cases, outcomes, strict=False):
        if outcome.failure and (found := _reversal(task, case, outcome.failure)):
            return Mistake(REVERSED, "In line {}, {}".format(*found))
    return None


def _reversal(task, case, failure):
    """Return (line number, what `.T` does there) if `.T` is applied to three or more axes; else None."""
    axes = {name: arg.dim() for name, arg in zip(task.names, case.args, strict=False) if isinstance(arg, torch.Tensor)}
    axes |= dict.fromkeys((match[1] for _, text, _ in lines_of(failure) if (match := re.match(r"\s*(\w+) =", text))), 0)
    for number, text, here in sorted(lines_of(failure), key=lambda line: not line[2]):
        of_three = here and "batch2" in failure.message and text.count("@") == 1  # as both sides of this product are
        for name in re.findall(r"(\w+)\.T\b", text.partition("#")[0]):
            if (axes.get(name) or 3 * of_three) > 2:
                hint = f"`{name}.T` reverses the order of all axes, the batch included. `.mT` swaps only the last two."
                return number, hint
    return None


def _loop_over_sentences(task, failure):
    """Return a hint if a loop runs over the sentences of a batch and not over words; else ""."""
    batches = [re.escape(declared.partition(" ")[0]) for declared in task.arguments if " B×T" in declared]
    for _, text, _ in lines_of(failure) if batches else ():
        if match := re.match(rf"\s*for \w+ in ({'|'.join(batches)}):", text):
            return f"`for … in {match[1]}` goes through the first axis, the sentences: `{match[1]}.unbind(1)` goes through the words."
    return ""


def _wrong_count_of_names(failure):
    """Return a hint for an assignment in which values and names differ in number."""
    if any(here and re.search(r"\.shape\b|\.size\(\)", text) for _, text, here in lines_of(failure)):
        return "a shape has one number for each axis, and there are not as many axes as names on the left."
    return "there are not as many values as names on the left. `chunk`, `split` and `unbind` work along the first axis unless `dim` names another."


def _of_none(task, case, failure):
    """Return a hint if something is None that should not be; else ""."""
    if "NoneType" not in failure.message:
        return ""
    given = dict(zip(task.names, [*case.args, *[None] * len(task.names)], strict=False))
    here = " ".join(text for _, text, here in lines_of(failure) if here)
    for name in (name for name, arg in given.items() if arg is None):
        if re.search(rf"\b{re.escape(name)}\b", here):
            return f"{name} is None for this input: check `{name} is not None` before you use it."
    return "something in this line is None. A function without a `return` returns None, and so does a method that changes a list itself, such as `sort`."


def _on_the_left(task, case, failure):
    """Return a hint if a matrix is on the left of a batch of vectors, as in formulas for one vector, or ""."""
    matrices, batches = [], []
    for declared, arg in zip(task.arguments, case.args, strict=False):
        name, _, letters = declared.partition(" ")
        if is_float(arg) and arg.dim() > 1:
            (batches if letters.startswith("B") else matrices).append(re.escape(name))
    pattern = rf"\b({'|'.join(matrices)})\s*@\s*({'|'.join(batches)})\b(?!\s*[.\[])"
    found = (re.search(pattern, text) for _, text, here in lines_of(failure) if here) if matrices and batches else ()
    for matrix, vectors in (match.groups() for match in found if match):
        return f"a formula such as W x is meant for one vector, a column. In {vectors} each vector is a row, so the matrix goes on the right, transposed: first {vectors}, then {matrix} with its two axes swapped."
    return ""


def lines_of(failure: Failure) -> list[tuple[int, str, bool]]:
    """Return the lines around a failure if they are well formed: they come from the answer's side."""
    lines = failure.source if isinstance(failure.source, tuple) else ()
    if not all(isinstance(line, tuple) and list(map(type, line)) == [int, str, bool] for line in lines):
        return []
    return [(number, text[:AT_MOST], here) for number, text, here in lines]
