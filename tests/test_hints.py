"""The ladder of hints: an idea, an example worked on paper with numbers that are right, pseudocode.

Where the numbers are a solution's results on tensors, a task's file in `alternative_solutions/` says so in WORKED; other results are in EXAMPLES here.
"""

import builtins
import keyword
import math
import re
from collections import Counter

import pytest
import torch
from alternative_solutions import HELD, exercises_of
from tasks import TASKS, solution_of

LN3 = math.log(3)
X, N = True, False  # in masks: True means "may attend"
WORKED = {task_id: held["WORKED"] for task_id, held in HELD.items() if "WORKED" in held}


def numbers(value):
    """Return all numbers of a value of tensors, lists and tuples, in their order."""
    if isinstance(value, torch.Tensor):
        return value.flatten().tolist()
    return [number for part in value for number in numbers(part)] if isinstance(value, (list, tuple)) else [value]


def tensor(*rows):
    return torch.tensor(rows).float()


@pytest.mark.parametrize("task_id", TASKS)
def test_the_second_hint_is_worked_with_numbers_and_no_formula(task_id):
    idea, example, pseudocode = TASKS[task_id].hints
    assert re.match("(Take|Let|For|Here is|Two|Three) ", example), "it begins with what is given"
    assert "Σ" not in example and "_(" not in example
    assert len(re.findall(r"\d|True|False", example)) >= 3 and len(idea) > 40 and len(pseudocode) > 40


@pytest.mark.parametrize("task_id", WORKED)
def test_the_numbers_of_the_second_hint_are_right(task_id):
    for args, said in WORKED[task_id]:
        tensors = (torch.tensor(arg) for arg in args)
        given = (t if t.dtype == torch.bool else t.float() for t in tensors)
        came = solution_of(task_id)(*(t if t.dim() or t.dtype == torch.bool else t.item() for t in given))
        assert numbers(came) == pytest.approx([float(number) for number in said.split()], abs=6e-5)
        for number in said.split():
            assert re.search(rf"(?<![\d.]){re.escape(number)}(?!\d|\.\d)", TASKS[task_id].hints[1]), number


PART = r"(?:(?:ln|log|exp|tanh|σ)(?=[ (])|[-−+·/()√²π\d.\s])+"
EQUATION = re.compile(rf"(?<![^\s(])(?={PART}=){PART}(?:={PART})+(?! to the|\w)")
SIGNS = {"−": "-", "·": "*", "²": "**2", "√": "sqrt ", "2π": "2*pi", "σ": "sigmoid"}
MEANS = {name: getattr(math, name) for name in ("log", "exp", "tanh", "sqrt", "pi")}
MEANS |= {"ln": math.log, "sigmoid": lambda x: 1 / (1 + math.exp(-x))}


def computed(text):
    for sign, python in SIGNS.items():
        text = text.replace(sign, python)
    return 1.0 * eval(re.sub(r"(ln|log|sqrt) +(\d[\d.]*)", r"\1(\2)", text).strip(), MEANS)


def test_equations_in_hints_have_equal_sides():
    tried, wrong = 0, []
    for task_id, task in TASKS.items():
        for equation in EQUATION.findall(task.hints[1]):
            sides = equation.strip(" .").split("=")
            try:
                left, *others = map(computed, sides)
            except (SyntaxError, TypeError):  # cut out of a longer one
                continue
            tried += 1
            for side, other in zip(sides[1:], others, strict=True):
                decimals = len(side.strip().partition(".")[2])
                tolerance = 1.5 * 10**-decimals if "." in equation else 1e-9  # the numbers on paper are rounded
                wrong += [] if abs(left - other) <= tolerance else [f"{task_id}: {equation}"]
    assert not wrong and tried >= 150


def layer_of_biases(task_id, given, **sizes):
    """A solution's layer whose functions give the same whatever they read: with these parameters, and norms that change nothing."""
    layer = solution_of(task_id)(**sizes)
    for name, parameter in layer.named_parameters():
        parameter.data.fill_("norm" in name and name.endswith("weight"))
        if name in given:
            parameter.data.copy_(tensor(*given[name]))
    return layer


ONES, LATER = [1.0, 1.0, 1.0], [0.0, 0.0, -1.2247]
ENCODER = {"self_attn.out_proj.bias": ONES, "linear2.bias": LATER}
DECODER = {"self_attn.out_proj.bias": ONES, "multihead_attn.out_proj.bias": LATER, "linear2.bias": [0.0, -0.7071, -0.7071]}  # fmt: skip
GPT = {"embedding.weight": [[0, 1, 2], [2, 0, 0]], "positions.weight": [[0, 1, 2]], "blocks.0.attention.out_proj.bias": ONES, "blocks.0.network.2.bias": [0, 0, -3]}  # fmt: skip
WORD = tensor([[0, 2, 4]])


def layer(task_id, given, norm_first):
    made = layer_of_biases(task_id, given, width=3, heads=1, hidden=1, norm_first=norm_first)
    return made(*(WORD, WORD)["encoder" in task_id :], torch.ones(1, 1) > 0)


def mistake(task_id, name):
    return next(mistake.function for mistake in TASKS[task_id].mistakes if mistake.name == name)


def with_losses(*losses):
    """Logits of two words, in which the word 0 has these losses, and targets of zeros: B×T."""
    p = torch.tensor(losses, dtype=torch.float64).neg().exp()
    return torch.stack([p, 1 - p], -1).log(), torch.zeros(p.shape, dtype=torch.long)


THREE_WORDS = (*with_losses([math.log(2), math.log(4)], [math.log(8), 1]), torch.tensor([[X, X], [X, N]]))
POINTING = (tensor([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]], [[0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]), torch.tensor([[0, 1], [1, 0]]), torch.tensor([[X, X], [X, N]]))  # fmt: skip
HEADS = [tensor([[1, 1]]), tensor([[LN3, 0], [0, LN3]]), tensor([[4, 4], [8, 8]]), torch.eye(2).repeat(3, 1), torch.zeros(6), torch.eye(2)]  # fmt: skip
IMAGE, NO_MASK = tensor([[4, 8], [0, 2]]), torch.ones(1, 1, 2) > 0


def continuations(prefix):
    return tensor(*{2: [0.34, 0.335, 0.325], 1: [0.9, 0.06, 0.04]}.get(prefix[-1], [0.1, 0.4, 0.5])).log()


def next_id(prefix):
    return torch.nn.functional.one_hot(torch.tensor({1: 4, 4: 2, 2: 0}[prefix[-1]]), 5) * 9.0


def hybrid_gradients(loss):
    log_p, baseline = tensor([-1, -2]).requires_grad_(), tensor([0.5, 0.25]).requires_grad_()
    loss(torch.zeros(1, 2), torch.tensor([0]), log_p, torch.ones(1), baseline).backward()
    return log_p.grad, baseline.grad


def written(task, held, weight):
    return task(*(tensor(*n) for n in ([[[held]]], [[weight]], [[1]], [[6]])))


def two_blocks_of_scores():
    return iter([(tensor(0, LN3), tensor([4], [8])), (tensor(2 * LN3), torch.ones(1, 1)), None])


def plus_the_one_before(x):
    return x + torch.nn.functional.pad(x[:, :-1], (0, 0, 1, 0))


EXAMPLES = [  # what comes of a solution, and where the hint says so
    ("01.must_fail", lambda of: len({*"good not bad".split(), *"bad not good".split()}), "have 3 words together"),
    ("03.influence", lambda of: [plus_the_one_before(tensor([[first], [second]])) for first, second in ((1, 5), (3, 5), (1, 9))], "it gives (1, 6)", "it gives (3, 8)", "it gives (1, 10)"),
    ("03.influence", lambda of: of(plus_the_one_before, torch.ones(1, 2, 1)).T, "the first column is True, True", "the second column is False, True"),
    ("03.padding_mask", lambda of: of(torch.tensor([2, 0]), 3), "the first row is True, True, False", "the second row is False, False, False"),
    ("03.causal_mask", lambda of: of(2), "so its row is True, False", "so its row is True, True"),
    ("05.shift_right", lambda of: of(torch.tensor([[7, 4, 9, 2]]), 1), "its inputs are 1, 7, 4, 9"),
    ("05.reverse_source", lambda of: of(torch.tensor([[5, 6, 7, 0, 9]]), torch.tensor([[X, X, X, N, N]])), "stay: 7, 6, 5, 0, 9"),
    ("05.sequence_loss", lambda of: of(*THREE_WORDS), "words it is 1.3863"),
    ("05.sequence_loss", lambda of: mistake("05.sequence_loss", "mean_over_all_places")(*THREE_WORDS), "it would be 1.0397"),
    ("05.sequence_loss", lambda of: mistake("05.sequence_loss", "mean_of_sentences")(*THREE_WORDS), "= 1.5596"),
    ("06.alignment_error_rate", lambda of: of(tensor([0.9, 0.1, 0], [0.6, 0.3, 0.1], [0.1, 0.2, 0.7]), [(0, 0), (1, 1)], [(2, 2)]), "= 0.4"),
    ("07.log_probability", lambda of: of(tensor([0.5, 0.5], [0.25, 0.75]).log(), torch.tensor([0, 0])), "logarithm is -2.0794"),
    ("07.tipping_alpha", lambda of: [of(-3, 7, longer, 19) for longer in (-6, -12, -2.5)], "gives alpha = 1", "alpha = 2.", "so alpha = 0"),
    ("07.greedy", lambda of: [of(next_id, 1, 0, 3), of(next_id, 1, 0, 2)], "[4, 2, 0]", "it is [4, 2]"),
    ("07.beam_search", lambda of: [(ids, math.exp(score)) for ids, score in of(continuations, 9, 0, 2, 5)], "[1, 0] with 0.36 and [2, 0] with 0.17"),
    ("07.bleu", lambda of: [of([list(text)], [list("abcdeg")]) for text in ("abcdef", "abcde")], "BLEU is 75.98", "gives 81.87"),
    ("09.layer_cost", lambda of: [of(kind, 9, 2, 3, 2)[0] for kind in ("self", "recurrent", "convolution", "restricted")], "432 in total", ": 72", "position: 108", "= 288"),
    ("09.layer_cost", lambda of: [of(kind, 9, 2, 3, 2)[2] for kind in ("convolution", "restricted")], "so its path is 2", ": its path is 4"),
    ("10.split_heads", lambda of: of(torch.arange(1, 13).reshape(1, 1, 12), 2)[0, 0, :, 0], "two heads are [1, 2] and [7, 8]"),
    ("10.merge_heads", lambda of: of(tensor([[[2]], [[3]]]), tensor([1, 10], [0, 5]))[0, :, 0], "adds [2, 0]", "adds [30, 15]"),
    ("10.multi_head_attention", lambda of: [of(*HEADS, tensor(*bias), 2, mask) for bias, mask in (([0, 0], NO_MASK), ([1, 0], None), ([1, 0], ~NO_MASK))], "they are [5, 7]", "[6, 7]", "the output is [1, 0]"),
    ("11.sinusoidal_positions", lambda of: of(tensor(1), 6, 12.0, 48.0), "0.5, 0.8660, 0.2588, 0.9659, 0.1305, 0.9914"),
    ("11.shift_matrix", lambda of: of(0, 2, 1, 1.0), "(0.5403, 0.8415) and (−0.8415, 0.5403)"),
    ("11.rotate", lambda of: of(tensor([[1, 0], [1, 0]]), 1), "(0.5403, 0.8415)", "(−0.4161, 0.9093)"),
    ("12.sublayer", lambda of: [of(WORD, lambda y: 2 * y, tensor(*ONES), torch.zeros(3), order) for order in ("pre", "post", "late")], "[-2.4495, 2, 6.4495]", "its norm is [-1.2247, 0, 1.2247]", "[-1.2247, 2, 5.2247]"),
    ("12.encoder_layer", lambda of: [layer("12.encoder_layer", ENCODER, first) for first in (False, True)], "its norm is [-1.4142, 0.7071, 0.7071]", "then [1, 3, 3.7753]"),
    ("12.decoder_layer", lambda of: [layer("12.decoder_layer", DECODER, first) for first in (False, True)], "third [-1.4142, 0.7071, 0.7071]", "[1, 2.2929, 3.0682]"),
    ("13.learning_rate", lambda of: [of(step, 6, 3, 0.75) for step in range(1, 7)], "0.25, 0.5, 0.75", "0.5625, 0.375 and, at the last step, 0.1875"),
    ("13.adam_step", lambda of: of(tensor(1), tensor(4), torch.zeros(1), torch.zeros(1), 1, 0.5, 0.5, 0.75, 1), "becomes 0.6", "= 2", "= 4"),
    ("13.label_smoothing_loss", lambda of: of(tensor([[0.5, 0.25, 0.25]]).log(), torch.tensor([[0]]), 0.3, 2), "= 0.1927"),
    ("13.token_batches", lambda of: of([4, 2, 3, 2], 8), "The batches are [[1, 3], [2, 0]]"),
    ("13.paired_difference", lambda of: of({0: 80, 1: 90, 2: 70}, {2: 73, 0: 82}), "mean is 2.5", "verdict is 0"),
    ("13.cache_bytes", lambda of: of(1, 1, 6, 2, 4, 3, 4), "336 bytes"),
    ("14.glimpse", lambda of: [of(IMAGE, tensor([-0.5, -0.5]), 1, 2), of(IMAGE, tensor([0.5, 0.5]), 1, 2).flip(1)], "one cell is 4", "= 1.", "= 3.5", "is 2"),
    ("14.hybrid_loss", hybrid_gradients, "log probabilities is -0.5 and -0.75", "it is -0.5 and -0.75"),
    ("15.pointing_accuracy", lambda of: [of(*POINTING), *(mistake("15.pointing_accuracy", name)(*POINTING) for name in ("divided_by_all_steps", "mean_of_captions"))], "= 0.6667", "it would be 0.5", "= 0.75"),
    ("16.memories", lambda of: of(tensor([[0.5, 0.25, 0.25, 0]], [[0.25, 0.75, 0, 0]]), torch.tensor([[X, X, X, X], [X, X, N, N]]), torch.tensor([[0, 2], [1, -1]])), "[[1.75, 1]]"),
    ("17.catch_wrong_write", lambda of: [written(solution_of("17.write"), held, weight) for held, weight in ((4, 1), (4, 0.5))], "= 6", "= 5"),
    ("17.catch_wrong_write", lambda of: [written(mistake("17.write", "erased_everywhere"), held, 0.5) for held in (4, 0)], "= 3", "both give 3"),
    ("18.at_risk", lambda of: of(tensor([0.9, 0.1, 0], [1, 0, 0]), tensor([0, 0.01, 0.99])), ": True, False"),
    ("18.balance_by_offsets", lambda of: of(tensor([0.4, 0.8, 0.6], [0.9, 0.2, 0.1]), tensor(0, 0, 0.5), 1, 0.1)[1], "-0.1, 0.1 and 0.4"),
    ("18.within_capacity", lambda of: of(torch.tensor([2, 0, 2, 2, 0]), 3, 2), "True, True, True, False, True"),
    ("19.dilations", lambda of: of(10, 3), "1, 3, 9"),
    ("21.next_token_loss", lambda of: of(torch.stack([tensor(0.5, 0.3, 0.1, 0.1), tensor(0.5, 0.25, 0.125, 0.125), torch.ones(4)])[None].log(), torch.tensor([[2, 0, 1]])), "their mean is 1.0397"),
    ("22.one_pass_attention", lambda of: of(two_blocks_of_scores().__next__), "= 2.8462"),
    ("21.gpt", lambda of: layer_of_biases("21.gpt", GPT, vocabulary=2, width=3, heads=1, hidden=1, layers=1, longest=1)(torch.tensor([[0]])), "1.2247 and -2.4495"),
]  # fmt: skip


@pytest.mark.parametrize(("task_id", "example", "says"), [(task_id, how, says) for task_id, how, *says in EXAMPLES])
def test_a_hint_says_what_comes_of_its_example(task_id, example, says):
    assert all(part in TASKS[task_id].hints[1] for part in says)
    found = re.findall(r"-?\d+(?:\.\d+)?|True|False", " ".join(says).replace("−", "-"))
    expected = [{"True": 1, "False": 0}.get(number) if number[0] in "TF" else float(number) for number in found]
    tolerance = 2e-4 if "layer" in task_id or "gpt" in task_id else 0.005 if "bleu" in task_id else 6e-5
    assert numbers(example(solution_of(task_id))) == pytest.approx(expected, abs=tolerance)


def test_a_translation_with_a_copied_word_is_the_hints():
    weights = tensor([0.7, 0.1, 0.2], [0.1, 0.1, 0.8], [0.1, 0.8, 0.1])
    copied = solution_of("06.copy_unknown")(["<unk>", "smadu", "kovor"], weights, ["Otto", "called", "dogs"])
    assert f'"{" ".join(copied)}"' in TASKS["06.copy_unknown"].hints[1]


def test_the_perceptron_hint_says_that_papers_call_it_additive():
    hint = TASKS["04.perceptron"].hints[0]
    assert "Bahdanau et al. (2014)" in hint and 'most papers call it "additive"' in hint


LIBRARIES = builtins, math, str, list, dict, Counter, torch, torch.Tensor, torch.nn, torch.nn.functional, torch.special
ANY = set("vector weight result changed weight_gradient bias_gradient lengths places beta b i".split())


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_hints_and_mistakes_use_only_names_that_readers_have(task):
    """A name in backticks is in the prompt, the stub or the solution, or it is Python's or PyTorch's; ANY stands for values of one's own."""
    _, _, text = exercises_of(task.id[:2]).partition(f"## {task.id}\n")
    known = {*keyword.kwlist, *ANY, *(name for library in LIBRARIES for name in dir(library))}
    known |= set(re.findall(r"\w+", text.partition(f'check("{task.id}"')[0]))
    for sentence in (*task.hints, *(mistake.sentence for mistake in task.mistakes)):
        spans = (re.sub(r"\"[^\"]*\"|\w+=(?=[\w.])", "", span) for span in re.findall("`([^`]+)`", sentence))
        unknown = {name for span in spans for name in re.findall(r"[A-Za-z_]\w*", span)} - known
        assert not unknown, (unknown, sentence)
