"""Reads a task's steps from its solution: each operation on tensors or numbers is a step, named by what it computes.

`hidden = torch.sigmoid(words @ weight.T + bias)` has three: "the product of words and weight", "the sum" and "the sigmoid". A step is called by the
task's words for it, else by the variable that it is assigned to, if that is a noun, or the result that it returns, else by its operation. A loop's
steps have one name each, however often they come. Comprehensions, functions inside the solution and `while` loops run as they are written.
"""

import ast
import operator
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence

from course_utils.base.docstrings import without_docstrings
from course_utils.base.errors import CourseError
from course_utils.checks.changed_solution import matches

OPERATORS = {  # the function that an operator becomes, what it gives, and the same with its operands
    ast.Add: (operator.add, "the sum", "the sum of {} and {}"),
    ast.Sub: (operator.sub, "the difference", "{} minus {}"),
    ast.Mult: (operator.mul, "the product", "the product of {} and {}"),
    ast.MatMult: (operator.matmul, "the product", "the product of {} and {}"),
    ast.Div: (operator.truediv, "the quotient", "{} divided by {}"),
    ast.FloorDiv: (operator.floordiv, "the whole quotient", "the whole quotient of {} by {}"),
    ast.Mod: (operator.mod, "the remainder", "the remainder of {} by {}"),
    ast.Pow: (operator.pow, "the power", "{} to the power of {}"),
    ast.Lt: (operator.lt, "the comparison", "the comparison of {} with {}"),
    ast.LtE: (operator.le, "the comparison", "the comparison of {} with {}"),
    ast.Gt: (operator.gt, "the comparison", "the comparison of {} with {}"),
    ast.GtE: (operator.ge, "the comparison", "the comparison of {} with {}"),
    ast.Eq: (operator.eq, "the comparison", "the comparison of {} with {}"),
}
POWERS = {2: "the square", 0.5: "the square root"}
FUNCTIONS = {  # what they give, as functions or as methods of tensors
    "abs": "the absolute value", "amax": "the largest", "argmax": "the position of the largest", "argsort": "the order", "ceil": "the next whole number",
    "clamp": "the clamped value", "cos": "the cosine", "cosine_similarity": "the cosine", "cross_entropy": "the cross-entropy",
    "cumprod": "the running product", "cumsum": "the running sum", "detach": "the detached value", "exp": "the exponential", "floor": "the whole part",
    "flatten": "the flattened form", "log": "the logarithm", "log_softmax": "the log-softmax", "max": "the largest", "mean": "the mean",
    "median": "the median", "min": "the smallest", "norm": "the length", "one_hot": "the one-hot form", "prod": "the product", "relu": "the ReLU",
    "sigmoid": "the sigmoid", "sign": "the sign", "sin": "the sine", "softmax": "the softmax", "sqrt": "the square root", "square": "the square",
    "sum": "the total", "tanh": "the tanh", "tril": "the lower triangle", "triu": "the upper triangle", "unflatten": "the parts",
}  # fmt: skip
OF_SEVERAL = {  # what functions give whose first argument alone does not tell it
    "any": "the search for True", "cat": "the concatenation", "gather": "the entries", "pad": "the padded form", "permute": "the permuted form",
    "stack": "the stack", "transpose": "the transposed form", "where": "the choice",
}  # fmt: skip
NO_STEPS = set("append arange dict enumerate eye full full_like len list map new_tensor new_zeros ones ones_like range set tensor tuple zeros zeros_like "
               "zip".split())  # fmt: skip
SAME = set("T mT clone double expand expand_as float int item long squeeze tolist unsqueeze".split())
MODULES = {"torch", "F", "math", "functional", "special"}
NO_NOUNS = set("after all along asked away before best changing counted drawn far first gated given hidden kept last left moved new old one ordered padded projected read reversed right "
               "same seen sent shown taken third turned written".split())  # fmt: skip
PREPOSITIONS = {"the difference": "from", "the quotient": "by"}
WORDS_AT_MOST = 6
MASKED = "the masked values"
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


class Step:
    """A step on its way to a name: `told` is what it is called for certain, `brief` its operation, `full` the same with its operands."""

    def __init__(self, brief: str, full: str, operands: Sequence["Step | str"]) -> None:
        self.told, self.brief, self.full, self.operands = "", brief, full, operands
        self.constant = ast.Constant("")  # its name in the code

    def names(self, is_only_one: bool) -> Iterator[str]:
        """Yield what it may be called, best first. A name holds no other step's name, so that a sentence on it means one thing."""
        yield self.told
        of_step = lambda step: step.constant.value.removeprefix("the ") if self.brief == MASKED else ""  # noqa: E731
        given = [of_step(each) if isinstance(each, Step) else each for each in self.operands]
        if self.full and all(given) and len(self.full.format(*given).split()) <= WORDS_AT_MOST:
            yield self.full.format(*given)
        if is_only_one:
            yield self.brief
        if len(self.operands) == 2 and any(given):
            yield f"{self.brief} {PREPOSITIONS.get(self.brief, 'with')} {next(filter(None, given))}"
        yield from (self.brief.replace("the ", f"the {ordinal} ", 1) for ordinal in ORDINALS)


def derived_steps(
    source: str,
    space: Mapping[str, object],
    arguments: Sequence[str],
    results: Sequence[str],
    words: Mapping[str, str],
) -> Callable[..., Generator[tuple, object, object]] | None:
    """Return a solution as the generator that `Task.steps` takes, or None if there is no operation in it.

    Args:
        source: a function, perhaps with others above it.
        space: the names that it may use.
        arguments, results: the task's, with their shapes, as in "words B×S×D".
        words: what steps are called, by the variable that they are assigned to or by an expression with the wildcards of a change.

    Raises `CourseError` for words that fit nowhere.
    """
    tree = without_docstrings(ast.parse(source))
    function = tree.body[-1]
    stepping = _Stepping(function, arguments, results, words)
    function.body = [stepping.visit(part) for part in function.body]
    if unused := [each for each in words if each not in stepping.used]:
        raise CourseError(f"no step of the solution is like `{unused[0]}`")
    if not stepping.steps:
        return None
    _name(stepping.steps)
    names = {**space, **{f"_{each.__name__}": each for each, *_ in OPERATORS.values()}}
    exec(compile(ast.fix_missing_locations(tree), "<steps>", "exec"), names)
    return names[function.name]


def _name(steps):
    """Give each step the best name that no other has."""
    briefs, taken = Counter(step.brief for step in steps if not step.told), {""}
    for step in steps:
        step.constant.value = next(name for name in step.names(briefs[step.brief] == 1) if name not in taken)
        taken.add(step.constant.value)


class _Stepping(ast.NodeTransformer):
    """Turns each operation into `(yield name, operation, *operands)`."""

    def __init__(self, function, arguments, results, words):
        self.steps, self.used, self.words, self.by_noun, self.sizes = [], set(), words, {}, set()
        self.patterns = [(ast.parse(each, mode="eval").body, each) for each in words if not each.isidentifier()]
        self.results = [_noun(result.partition(" ")[0]) for result in results]
        self.shapes = {name: axes.split("×") for name, _, axes in (each.partition(" ") for each in arguments)}
        self.called = {each.arg: each.arg for each in function.args.args}  # variables: a Step, words, or ""

    def as_written(self, node):
        """Return a node as it is."""
        return node

    visit_FunctionDef = visit_While = visit_Raise = as_written

    def visit_Assign(self, node):
        target, *others = node.targets
        targets = target.elts if isinstance(target, ast.Tuple) else [target]
        if others:
            return self.generic_visit(node)
        if len(targets) > 1 and isinstance(node.value, ast.Tuple) and len(node.value.elts) == len(targets):
            values = [self.assigned_value(*pair) for pair in zip(targets, node.value.elts, strict=True)]
            node.value, called = ast.Tuple([value for value, _ in values], ast.Load()), [each for _, each in values]
        else:
            is_size = self.is_shape(node.value) or self.is_shape(getattr(node.value, "value", None))
            node.value, one = self.assigned_value(target, node.value)
            called = [one] if len(targets) == 1 else [_noun(getattr(part, "id", "")) for part in targets]
            if is_size:
                called = [part.id for part in targets]
                self.sizes |= set(called)
        self.called |= {part.id: each for part, each in zip(targets, called, strict=True) if isinstance(part, ast.Name)}
        return node

    def visit_For(self, node):
        names = {part.id for part in ast.walk(node.target) if isinstance(part, ast.Name)}
        if isinstance(node.iter, ast.Call) and ast.unparse(node.iter.func) == "range":
            self.sizes |= names
        self.called |= {name: _noun(name) for name in names}
        return self.generic_visit(node)

    def visit_Return(self, node):
        whole = isinstance(node.value, ast.Tuple) and len(node.value.elts) == len(self.results)
        made = []
        for part, result in zip(node.value.elts if whole else [node.value], self.results, strict=False):
            value, called, is_new = self.expression_and_news(part)
            if is_new:
                self.tell(called, result)
            made.append(value)
        return ast.Return(ast.Tuple(made, ast.Load()) if whole else made[0])

    def visit(self, node):
        is_value = isinstance(node, ast.expr) and not isinstance(getattr(node, "ctx", None), ast.Store)
        return self.expression(node)[0] if is_value else super().visit(node)

    def assigned_value(self, target, value):
        """Return a value with its steps, and what it is called: by the variable, where that is assigned for the first time."""
        new, called, is_new = self.expression_and_news(value)
        if is_new and isinstance(target, ast.Name):
            if target.id in self.words and target.id not in self.used:
                called.told, self.used = called.told or self.words[target.id], self.used | {target.id}
            self.tell(called, _noun(target.id))
        return new, called

    def tell(self, step, noun):
        """Call a step by the variable or the result that it gives: the last one of a name, masking apart, has it."""
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
            case ast.UnaryOp(ast.USub(), operand) if self.counts(operand):
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
        """Return the step of an operator, or the expression itself if it depends on sizes alone, but for a root."""
        function, brief, full = OPERATORS[type(op)]
        power = getattr(right, "value", 1) if isinstance(op, ast.Pow) else 1
        if power in POWERS:
            brief, full = POWERS[power], f"{POWERS[power]} of {{}}" if power == 2 or self.counts(left) else "√{}"
        elif not self.counts(left) and not self.counts(right):
            return node, ""
        operation = ast.Name(f"_{function.__name__}", ast.Load())
        return self.step(brief, full, operation, [self.expression(left), self.expression(right)])

    def subscript(self, node, parts):
        """Return the step that takes entries; what only adds or cuts an axis is no step and keeps its name, and an axis' length has its letter."""
        places = [part.value for part in parts if isinstance(part, ast.Constant) and part.value not in (None, ...)]
        if self.is_shape(node.value) and not isinstance(node.slice, ast.Slice):
            axes, place = self.shapes.get(getattr(node.value.value, "id", ""), []), ast.literal_eval(node.slice)
            return node, axes[place] if -len(axes) <= place < len(axes) else ""
        if any(map(self.counts, parts)) or self.counts(node.value) and any(type(place) is int for place in places):
            return self.function(node, "the entries", "", [node.value, *parts])
        node.value, called = self.expression(node.value)
        return node, str(places[0]) if places else called

    def call(self, node, call):
        """Return the step of a call; `node` is the call or an attribute of it."""
        is_method = isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value).split(".")[-1] not in MODULES
        name = getattr(call.func, "attr", getattr(call.func, "id", ""))
        parts = [call.func.value, *call.args] if is_method else call.args
        if name in NO_STEPS:
            return self.generic_visit(node), ""
        if name in SAME:
            first, called = self.expression(parts[0])
            rest = [self.visit(part) for part in parts[1:]]
            call.func = ast.Attribute(first, name, ast.Load()) if is_method else call.func
            call.args = rest if is_method else [first, *rest]
            return node, called
        brief = FUNCTIONS.get(name, OF_SEVERAL.get(name, f"the result of {name}"))
        full = f"{brief} of {{}}" if name in FUNCTIONS else ""
        if name == "masked_fill":
            zeros = isinstance(call.args[1], ast.Constant)
            brief, full = ("the values with zeros", "{} with zeros") if zeros else (MASKED, "the masked {}")
        return self.function(node, brief, full, parts)

    def function(self, node, brief, full, parts):
        """Return a step whose operation is a node as a function of its parts, of those that count."""
        parts = [_inside(part) for part in parts if self.counts(part)]
        if not parts:
            return node, ""
        names = [ast.Name(f"_{place}", ast.Load()) for place in range(len(parts))]
        body = _Replaced(dict(zip(map(id, parts), names, strict=True))).visit(node)
        arguments = ast.arguments([], [ast.arg(name.id) for name in names], None, [], [], None, [])
        return self.step(brief, full, ast.Lambda(arguments, body), list(map(self.expression, parts)))

    def step(self, brief, full, operation, operands):
        """Return the code of one step, and the Step."""
        step = Step(brief, full, [called for _, called in operands][: full.count("{}")])
        self.steps.append(step)
        return ast.Yield(ast.Tuple([step.constant, operation, *(value for value, _ in operands)], ast.Load())), step

    def counts(self, node):
        """Return whether an expression may differ with the arguments' numbers, not only with their sizes."""
        if isinstance(node, ast.Name):
            return node.id in self.called and node.id not in self.sizes
        is_length = isinstance(node, ast.Call) and ast.unparse(node.func) == "len"
        if is_length or self.is_shape(node) or isinstance(node, (ast.Lambda, ast.ListComp, ast.GeneratorExp)):
            return False
        return any(self.counts(part) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr))

    @staticmethod
    def is_shape(node):
        """Return whether a node is the shape of something."""
        return isinstance(node, ast.Attribute) and node.attr == "shape"


class _Replaced(ast.NodeTransformer):
    """Puts other nodes in the place of some, by their ids."""

    def __init__(self, others):
        self.others = others

    def visit(self, node):
        return self.others.get(id(node)) or self.generic_visit(node)


def _inside(part):
    """Return what a sign, `~` or a star stands before; any other part of a call itself."""
    return part.operand if isinstance(part, ast.UnaryOp) else part.value if isinstance(part, ast.Starred) else part


def _noun(name):
    """Return a variable's name as words, "squared length" for squared_length, or "" if it is no noun."""
    parts = name.split("_")
    return " ".join(parts) if all(len(part) > 2 for part in parts) and parts[-1] not in NO_NOUNS else ""
