"""Reads a task's steps from its solution: each operation on its inputs' values is a step, named after what it computes.

`hidden = torch.sigmoid(words @ weight.T + bias)` has three: "the product of words and weight", "the sum" and "the sigmoid". A step takes its name
from the task's words for it, else from the variable or result that it gives, if that is a noun, else from its operation. A step in a loop has
one name, however often it runs. Comprehensions, inner functions, `while` and `try` have no steps.
"""

import ast
import operator
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence

from course_utils.base.docstrings import without_docstrings
from course_utils.base.errors import CourseError
from course_utils.checks.changed_solution import matches

OPERATORS = {  # the function for an operator, words for its result, and the same with its operands
    ast.Add: (operator.add, "the sum", "the sum of {} and {}"),
    ast.Sub: (operator.sub, "the difference", "{} minus {}"),
    ast.Mult: (operator.mul, "the product", "the product of {} and {}"),
    ast.MatMult: (operator.matmul, "the product", "the product of {} and {}"),
    ast.Div: (operator.truediv, "the quotient", "{} divided by {}"),
    ast.FloorDiv: (operator.floordiv, "the quotient rounded down", ""),
    ast.Mod: (operator.mod, "the remainder", ""),
    ast.Pow: (operator.pow, "the power", "{} to the power of {}"),
}
COMPARISONS = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}
for kind, name in COMPARISONS.items():
    OPERATORS[kind] = getattr(operator, name), "the comparison", "the comparison of {} with {}"
POWERS = {2: "the square", 0.5: "the square root"}
FUNCTIONS = {  # words for their results, as functions or tensor methods
    "abs": "the absolute value", "amax": "the maximum", "argmax": "the position of the maximum", "argsort": "the order", "clamp": "the clamped value",
    "cos": "the cosine", "cosine_similarity": "the cosine", "cross_entropy": "the cross-entropy", "cumprod": "the running product",
    "cumsum": "the running sum", "detach": "the detached value", "exp": "the exponential", "log": "the logarithm", "log_softmax": "the log-softmax",
    "max": "the maximum", "mean": "the mean", "median": "the median", "min": "the minimum", "norm": "the norm", "prod": "the product",
    "relu": "the ReLU", "sigmoid": "the sigmoid", "sign": "the sign", "sin": "the sine", "softmax": "the softmax", "sqrt": "the square root",
    "square": "the square", "sum": "the total", "tanh": "the tanh", "tril": "the lower triangle", "triu": "the upper triangle",
}  # fmt: skip
OF_SEVERAL = {  # functions whose first argument alone does not describe the result
    "cat": "the concatenation", "ceil": "the value rounded up", "flatten": "the flattened values", "floor": "the value rounded down",
    "gather": "the entries", "one_hot": "the one-hot vectors", "pad": "the padded values", "permute": "the transpose", "reshape": "the reshaped values",
    "stack": "the stack", "transpose": "the transpose", "unflatten": "the parts", "view": "the reshaped values",
}  # fmt: skip
NO_STEPS = set("append arange dict empty_like enumerate eye full full_like isinstance len list map new_tensor new_zeros ones ones_like print range set "
               "tensor tuple zeros zeros_like zip".split())  # fmt: skip
SAME = set("T mT clone contiguous double expand expand_as float int item long squeeze to tolist unsqueeze".split())
MODULES = {"torch", "F", "math", "functional", "special"}
NO_NOUNS = set("after all along away before best changing drawn far first given hidden kept last left new old one other read right same seen sent shown "
               "taken third turned written".split())  # fmt: skip
DIVISIONS = ("the quotient", "the quotient rounded down", "the remainder")
WORDS_AT_MOST = 6
MASKED = "the masked values"
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


class Step:
    """A step that needs a name: `told` is its name, once settled, `brief` its operation, `full` the same with its operands."""

    def __init__(self, brief: str, full: str, operands: Sequence["Step | str"]) -> None:
        self.told, self.brief, self.full, self.operands = "", brief, full, operands
        self.constant = ast.Constant("")  # its name in the code

    def names(self, is_only_one: bool, place: int) -> Iterator[str]:
        """Yield possible names, best first. None contains another step's name, so that a sentence about it is unambiguous."""
        yield self.told
        of_step = lambda step: step.constant.value.removeprefix("the ") if self.brief == MASKED else ""  # noqa: E731
        given = [of_step(each) if isinstance(each, Step) else each for each in self.operands]
        if self.full and all(given) and len(self.full.format(*given).split()) <= WORDS_AT_MOST:
            yield self.full.format(*given)
        if is_only_one:
            yield self.brief
        named = list(filter(None, given[1:] if self.brief in DIVISIONS else given))
        if len(self.operands) == 2 and named:
            preposition = "by" if self.brief in DIVISIONS else "from" if self.brief == "the difference" else "with"
            yield f"{self.brief} {preposition} {named[0]}"
        if place < len(ORDINALS):
            yield self.brief.replace("the ", f"the {ORDINALS[place]} ", 1)
        yield f"{self.brief}, number {place + 1}"


def derived_steps(
    source: str,
    space: Mapping[str, object],
    arguments: Sequence[str],
    results: Sequence[str],
    words: Mapping[str, str],
) -> Callable[..., Generator[tuple, object, object]] | None:
    """Return a solution as a generator, as `Task.steps` takes it; None if it has no steps or is decorated.

    Args:
        source: a function, perhaps with others above it.
        space: the names that it may use.
        arguments, results: the task's, with their shapes, as in "words B×S×D".
        words: names for steps, by the variable they are assigned to or by an expression, in which `_` is a wildcard.

    Raises `CourseError` for a class, and for words that match no step.
    """
    tree = without_docstrings(ast.parse(source))
    function = tree.body[-1]
    if isinstance(function, ast.ClassDef):
        raise CourseError("a class has no steps: register them with `@task.steps`, or `@task.oracle`")
    if function.decorator_list:
        return None
    stepping = _Stepping(function, arguments, results, words)
    function.body = [stepping.visit(part) for part in function.body]
    _name(stepping.steps)
    if unused := [each for each in words if each not in stepping.used]:
        there = ", ".join(step.constant.value for step in stepping.steps)
        raise CourseError(f"no step of the solution matches `{unused[0]}`. Its steps: {there}")
    if not stepping.steps:
        return None
    # No source can contain these names. The function itself is included: it may call itself.
    names = {**space, **{f"<{each.__name__}>": each for each, *_ in OPERATORS.values()}}
    exec(source, names)
    function.name = "<steps>"
    exec(compile(ast.fix_missing_locations(tree), "<steps>", "exec"), names)
    return names[function.name]


def _name(steps):
    """Give each step the best name that no other has."""
    briefs, told = Counter(step.brief for step in steps if not step.told), {step.told for step in steps}
    taken, places = {""}, Counter()
    for step in steps:
        names = (name for name in step.names(briefs[step.brief] == 1, places[step.brief]) if name not in taken)
        step.constant.value = next(name for name in names if name == step.told or name not in told)
        taken.add(step.constant.value)
        places[step.brief] += not step.told


class _Stepping(ast.NodeTransformer):
    """Turns each operation into `(yield name, operation, *operands)`."""

    def __init__(self, function, arguments, results, words):
        self.steps, self.used, self.words, self.by_noun, self.sizes = [], set(), words, {}, set()
        self.patterns = [(ast.parse(each, mode="eval").body, each) for each in words if not each.isidentifier()]
        self.results = [_noun(result.partition(" ")[0]) for result in results]
        self.shapes = {name: axes.split("×") for name, _, axes in (each.partition(" ") for each in arguments)}
        variables = [
            part for part in ast.walk(function) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
        ]
        self.called = dict.fromkeys((part.id for part in variables), "")  # what each is called: a Step, words or ""
        self.called |= {part.arg: part.arg for part in ast.walk(function.args) if isinstance(part, ast.arg)}

    def as_written(self, node):
        """Return a node as it is."""
        return node

    visit_FunctionDef = visit_ClassDef = visit_While = visit_Raise = visit_Try = as_written

    def visit_Assign(self, node):
        target, *others = node.targets
        targets = target.elts if isinstance(target, ast.Tuple) else [target]
        if others:
            return self.generic_visit(node)
        if len(targets) > 1 and isinstance(node.value, ast.Tuple) and len(node.value.elts) == len(targets):
            values = [self.assigned_value(*pair) for pair in zip(targets, node.value.elts, strict=True)]
            node.value, called = ast.Tuple([value for value, _ in values], ast.Load()), [each for _, each in values]
        else:
            is_size = _is_shape(node.value) or _is_shape(getattr(node.value, "value", None))
            node.value, one = self.assigned_value(target, node.value)
            called = [one] if len(targets) == 1 else [_noun(getattr(part, "id", "")) for part in targets]
            if is_size:
                called = [getattr(part, "id", "") for part in targets]
                self.sizes |= set(called)
        for part, each in zip(targets, called, strict=True):
            if isinstance(part, ast.Name):
                self.called[part.id] = "" if isinstance(node.value, ast.Constant) else each
                self.shapes.pop(part.id, None)
        return node

    def visit_AugAssign(self, node):
        """Return `x += y` with the steps in y; it is no step itself, and the step before loses the name x."""
        name = getattr(node.target, "id", "")
        if earlier := self.by_noun.pop(_noun(name), None):
            earlier.told = ""
        self.called[name] = ""
        return self.generic_visit(node)

    def visit_For(self, node):
        names = {part.id for part in ast.walk(node.target) if isinstance(part, ast.Name)}
        if isinstance(node.iter, ast.Call) and ast.unparse(node.iter.func) == "range":
            self.sizes |= names
        self.called |= {name: _noun(name) for name in names}
        return self.generic_visit(node)

    def visit_Return(self, node):
        if node.value is None:
            return node
        whole = isinstance(node.value, ast.Tuple) and len(node.value.elts) == len(self.results)
        made = []
        for part, result in zip(node.value.elts if whole else [node.value], self.results, strict=False):
            value, called, is_new = self.expression_and_news(part)
            if is_new:
                self.tell(called, result)
            made.append(value)
        return ast.Return(ast.Tuple(made, ast.Load()) if whole else made[0])

    def visit(self, node):
        is_value = isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        return self.expression(node)[0] if is_value else super().visit(node)

    def assigned_value(self, target, value):
        """Return a value with its steps, and what it is called: the task's words for the variable, else the variable."""
        new, called, is_new = self.expression_and_news(value)
        if is_new and isinstance(target, ast.Name):
            if target.id in self.words and target.id not in self.used:
                called.told, self.used = called.told or self.words[target.id], self.used | {target.id}
            self.tell(called, _noun(target.id))
        return new, called

    def tell(self, step, noun):
        """Name a step after the variable or result it gives. If several give the same one, the last gets the name, masking aside."""
        earlier = self.by_noun.get(noun)
        if noun and not step.told and not (earlier and step.brief == MASKED):
            if earlier:
                earlier.told = ""
            step.told, self.by_noun[noun] = f"the {noun}", step

    def expression_and_news(self, node):
        """Return an expression with its steps, what it is called, and whether that is a new step."""
        before = len(self.steps)
        new, called = self.expression(node)
        return new, called, len(self.steps) > before and called is self.steps[-1]

    def expression(self, node):
        """Return an expression with its steps, and what it is called: a Step, words, or ""."""
        words = next((each for pattern, each in self.patterns if matches(pattern, node, {})), "")
        new, called = self.without_words(node)
        if words and isinstance(called, Step):
            called.told, self.used = self.words[words], self.used | {words}
        return new, called

    def without_words(self, node):
        match node:
            case ast.Name():
                return node, self.called.get(node.id, "")
            case ast.Constant(value=int() | float()):
                return node, str(node.value)
            case ast.BinOp(left, op, right) | ast.Compare(left, [op], [right]) if type(op) in OPERATORS:
                return self.operation(node, left, op, right)
            case ast.UnaryOp(ast.USub(), operand) if self.varies(operand):
                return self.function(node, "the negative", "minus {}", [operand])
            case ast.Attribute(ast.Call() as call, "values" | "indices") | (ast.Call() as call):
                return self.call(node, call)
            case ast.Attribute(value, attribute):
                node.value, called = self.expression(value)
                return node, called if attribute in SAME else ""
            case ast.Subscript(value, place):
                return self.subscript(node, place.elts if isinstance(place, ast.Tuple) else [place])
            case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                return node, ""
        return self.generic_visit(node), ""

    def operation(self, node, left, op, right):
        """Return the step of an operator. What depends only on sizes is no step, except a square or a root (√D)."""
        function, brief, full = OPERATORS[type(op)]
        power = getattr(right, "value", 1) if isinstance(op, ast.Pow) else 1
        if power in POWERS:
            brief, full = POWERS[power], f"{POWERS[power]} of {{}}" if power == 2 or self.varies(left) else "√{}"
        elif not self.varies(left) and not self.varies(right):
            return node, ""
        operation = ast.Name(f"<{function.__name__}>", ast.Load())
        return self.step(brief, full, operation, [self.expression(left), self.expression(right)])

    def subscript(self, node, parts):
        """Return the step that takes entries. Adding an axis is no step and keeps the name; an axis's length is called by its letter."""
        places = [part.value for part in parts if isinstance(part, ast.Constant) and part.value not in (None, ...)]
        is_entry = any(ast.unparse(part).lstrip("-").isdigit() for part in parts)
        is_cut = any(isinstance(part, ast.Slice) and (part.lower or part.upper or part.step) for part in parts)
        if _is_shape(node.value):
            axes = self.shapes.get(getattr(node.value.value, "id", ""), [])
            letters = dict(zip(map(str, range(-len(axes), len(axes))), axes * 2, strict=True))
            return node, letters.get(ast.unparse(node.slice), "")
        if any(map(self.varies, parts)) or self.varies(node.value) and is_entry:
            return self.function(node, "the entries", "", [node.value, *parts])
        node.value, called = self.expression(node.value)
        if places and isinstance(places[0], str):
            return node, ast.unparse(node)  # an entry of a dict
        return node, "" if is_cut or places else called

    def call(self, node, call):
        """Return the step of a call; `node` is the call or an attribute of it."""
        is_method = isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value).split(".")[-1] not in MODULES
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        parts = [call.func.value, *call.args] if is_method else call.args
        if name in NO_STEPS:
            return self.generic_visit(node), ""
        if name in SAME and parts:
            first, called = self.expression(parts[0])
            rest = [self.visit(part) for part in parts[1:]]
            call.func = ast.Attribute(first, name, ast.Load()) if is_method else call.func
            call.args = rest if is_method else [first, *rest]
            return node, called
        brief = FUNCTIONS.get(name, OF_SEVERAL.get(name, f"the result of {name or 'the function'}"))
        full = f"{brief} of {{}}" if name in FUNCTIONS else ""
        if name == "masked_fill":
            last = [*call.args, *(keyword.value for keyword in call.keywords)][-1]
            zeros = isinstance(last, ast.Constant) and last.value == 0
            brief, full = ("the values with zeros", "{} with zeros") if zeros else (MASKED, "the masked {}")
        return self.function(node, brief, full, parts)

    def function(self, node, brief, full, parts):
        """Return a step whose operation is a node as a function of those of its parts that vary."""
        parts = [_inside(part) for part in parts if self.varies(part)]
        if not parts or any(isinstance(part, ast.NamedExpr) for part in ast.walk(node)):
            return self.generic_visit(node) if parts else node, ""
        names = [ast.Name(f"<{place}>", ast.Load()) for place in range(len(parts))]
        body = _Replaced(dict(zip(map(id, parts), names, strict=True))).visit(node)
        arguments = ast.arguments([], [ast.arg(name.id) for name in names], None, [], [], None, [])
        return self.step(brief, full, ast.Lambda(arguments, body), list(map(self.expression, parts)))

    def step(self, brief, full, operation, operands):
        """Return the code of one step, and the Step."""
        step = Step(brief, full, [called for _, called in operands][: full.count("{}") or None])
        self.steps.append(step)
        return ast.Yield(ast.Tuple([step.constant, operation, *(value for value, _ in operands)], ast.Load())), step

    def varies(self, node):
        """Return whether an expression may depend on the arguments' values, not only on their sizes."""
        if isinstance(node, ast.Name):
            return node.id in self.called and node.id not in self.sizes
        is_length = isinstance(node, ast.Call) and ast.unparse(node.func) == "len"
        if is_length or _is_shape(node) or isinstance(node, (ast.Lambda, ast.ListComp, ast.GeneratorExp)):
            return False
        return any(self.varies(part) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr))


class _Replaced(ast.NodeTransformer):
    """Replaces nodes, given by their ids."""

    def __init__(self, others):
        self.others = others

    def visit(self, node):
        return self.others.get(id(node)) or self.generic_visit(node)


def _is_shape(node):
    return isinstance(node, ast.Attribute) and node.attr == "shape"


def _inside(part):
    """Return the operand of `-`, `~` or `*`; anything else as it is."""
    if isinstance(part, ast.UnaryOp):
        return part.operand
    return part.value if isinstance(part, ast.Starred) else part


def _noun(name):
    """Return a variable's name as words, "squared length" for squared_length, or "" if that is no noun."""
    parts = name.split("_")
    is_noun = parts[-1] not in NO_NOUNS and (not parts[-1].endswith("ed") or parts[-1] in ("seed", "speed", "feed"))
    return " ".join(parts) if is_noun and all(len(part) > 2 for part in parts) else ""
