"""Task 18.balance_loss: the Switch Transformer's loss on who gets how many tokens."""

from operator import mul

import torch
import torch.nn.functional as F

from course_utils.checks.running.contract import Case
from course_utils.checks.task import Task, count
from course_utils.tasks.lesson_17._drawn import drawn_weights
from course_utils.tasks.shares import USUAL

task = Task(
    "18.balance_loss",
    "tokens shared out evenly",
    arguments=("probabilities B×N", "chosen B"),
    result="loss",
    difficulty=3,
    importance=5,
    minutes=15,
    hints=(
        "Two vectors with one number per expert are compared by their dot product: the fraction of tokens that were sent to it, and the mean of its probabilities. Counting has no slope, so the fractions are numbers that weigh the probabilities: the more tokens an expert has, the harder the gradient pushes its probability down.",
        "Take three experts and two tokens with the probabilities [0.5, 0.3, 0.2] and [0.6, 0.1, 0.3], both sent to expert 0. The fractions are 1, 0 and 0, and the mean probabilities are 0.55, 0.2 and 0.25. The dot product is 0.55, times 3 experts that is 1.65. In perfect balance it would be 1.",
        "sent = a one-hot row for each token, with N columns however many experts were chosen, as numbers of the probabilities' type; fractions = the mean of sent over the batch, N; means = the mean of probabilities over the batch, N; return N times the sum of fractions times means.",
    ),
    partial=USUAL,
)


@task.property
def balance_costs_one(case, value):
    """N times N products of 1/N and 1/N."""
    even = (
        case.args[0]
        .mean(0)
        .allclose(torch.full(case.args[0].shape[1:], 1 / case.args[0].shape[1], dtype=case.args[0].dtype))
    )
    return (
        f"For the input “{case.name}” the loss should be 1; yours is {value:.4g}. N experts with 1/N times 1/N each come to 1/N, and N times that is 1."
        if even and (value - 1).abs() > 1e-4
        else None
    )


def _chosen(draw, B, N):
    """Experts of which some are chosen often and, where there are three or more, the last never."""
    return (
        torch.minimum(draw.whole(0, max(N - 1, 2), B), draw.whole(0, max(N - 1, 2), B))
        if N > 1
        else torch.zeros(B, dtype=torch.long)
    )


@task.cases
def _(draw):
    for B, N in ((1, 2), (2, 2), (1, 3), (3, 2), (3, 5)):
        yield Case(f"{count(B, 'token')}, {N} experts", (drawn_weights(draw, B, N), _chosen(draw, B, N)), N == 5)
    yield Case("11 tokens, 5 experts", (drawn_weights(draw, 11, 5), _chosen(draw, 11, 5)), True)
    yield Case("as many tokens as experts", (drawn_weights(draw, 5, 5), _chosen(draw, 5, 5)), True)
    yield Case("3 tokens, 7 experts", (drawn_weights(draw, 3, 7), _chosen(draw, 3, 7)))
    best = drawn_weights(draw, 7, 5)
    yield Case("the likeliest expert chosen each time", (best, best.argmax(1)))
    worst = drawn_weights(draw, 7, 5)
    yield Case("the least likely expert chosen each time", (worst, worst.argmin(1)))
    yield Case(
        "the last expert chosen once", (drawn_weights(draw, 4, 5), torch.tensor([1, 4, 1, 0])[draw.distinct(4, 0, 4)])
    )
    yield Case(
        "all tokens at one expert", (drawn_weights(draw, 5, 3), draw.whole(0, 3, 1).expand(5).clone()), True, edge=True
    )
    turns = draw.distinct(5, 0, 5)
    yield Case("one token for each expert", (drawn_weights(draw, 5, 5), turns), True, edge=True)
    yield Case("perfect balance", (torch.full((5, 5), 0.2), turns), True, edge=True)
    yield Case("a single expert", (torch.ones(3, 1), torch.zeros(3, dtype=torch.long)), True, edge=True)
    sure = F.one_hot(_chosen(draw, 5, 3), 3).float()
    yield Case("probabilities of 0 and 1", (sure, _chosen(draw, 5, 3)), True, edge=True)
    yield Case("200 tokens", (drawn_weights(draw, 200, 7), _chosen(draw, 200, 7)), True, edge=True)
    yield Case("float64 numbers", (drawn_weights(draw, 3, 5, torch.float64), _chosen(draw, 3, 5)), True, edge=True)


@task.oracle
def _(probabilities, chosen):
    B, N = probabilities.shape
    loss = 0
    for expert in range(N):
        tokens = sum(one == expert for one in chosen.tolist())
        loss = loss + N * tokens / B * sum(probabilities[b, expert] for b in range(B)) / B
    return loss


@task.steps
def _(probabilities, chosen):
    N = probabilities.shape[1]
    sent = yield (
        "the table of tokens and experts",
        lambda chosen: F.one_hot(chosen, N).to(probabilities.dtype),
        chosen,
    )
    fractions = yield "the fractions of the tokens", lambda sent: sent.mean(0), sent
    means = yield "the mean probabilities", lambda probabilities: probabilities.mean(0), probabilities
    products = yield "the products of both", mul, fractions, means
    total = yield "the sum of the products", torch.sum, products
    loss = yield "the sum times the number of experts", mul, N, total
    return loss


def _sent(probabilities, chosen):
    """Zeros and ones, B×N."""
    return F.one_hot(chosen, probabilities.shape[1]).to(probabilities.dtype)


def _mean(numbers):
    return numbers.mean(0)


def _loss(
    probabilities,
    chosen,
    sent=_sent,
    fraction=_mean,
    share=_mean,
    both=lambda fractions, means: (fractions * means).sum(),
    end=lambda total, B, N: N * total,
):
    return end(both(fraction(sent(probabilities, chosen)), share(probabilities)), *probabilities.shape)


def _mistake(name, sentence, **parts):
    """Register a loss that is right but for the parts that are given."""
    task.mistake(sentence, name)(lambda probabilities, chosen: _loss(probabilities, chosen, **parts))


# The fractions

_mistake(
    "likeliest_counted",
    "You count how often each expert is the likeliest, and `chosen` has no effect. Count where the tokens were sent: that need not be the likeliest expert.",
    sent=lambda probabilities, chosen: _sent(probabilities, probabilities.argmax(1)),
)
_mistake(
    "experts_after_the_largest_missing",
    "You count only up to the expert with the highest number that was chosen, so there may be fewer than N fractions, and if only expert 0 was chosen, its fraction is used for all. Say how many experts there are: F.one_hot(chosen, N), or bincount(chosen, minlength=N).",
    sent=lambda probabilities, chosen: F.one_hot(chosen).to(probabilities.dtype),
)
_mistake(
    "tokens_counted",
    "What you return is B times too large, so the loss grows with the batch: either the tokens of each expert are counted, or its probabilities are added up. Both factors are means over the batch.",
    fraction=lambda sent: sent.sum(0),
)
_mistake(
    "probabilities_for_fractions",
    "You multiply the mean probabilities by themselves, and `chosen` has no effect. One factor is the fraction of tokens that were sent to the expert.",
    sent=lambda probabilities, chosen: probabilities,
)
_mistake(
    "any_token",
    "You multiply by 1 for every expert that got a token at all. Multiply by the fraction of the tokens that it got.",
    fraction=lambda sent: sent.amax(0),
)
_mistake(
    "even_fractions",
    "You take the mean over the experts instead of the batch, axis 1, so every fraction is alike and `chosen` has no effect. Take the mean over the batch, axis 0.",
    fraction=lambda sent: sent.mean(1).mean().expand(sent.shape[1]),
)
_mistake(
    "divided_by_used_experts",
    "You divide the fractions by the number of experts that got a token. Divide the counts by B only.",
    fraction=lambda sent: sent.mean(0) / sent.amax(0).sum(),
)
_mistake(
    "experts_from_the_end",
    "Your fractions stand in reverse order: the last expert's comes first. Number i belongs to expert i.",
    fraction=lambda sent: sent.mean(0).flip(0),
)
_mistake(
    "fractions_in_order_of_size",
    "Your fractions stand in the order of their size, as `unique` or `sort` may leave them. Number i belongs to expert i.",
    fraction=lambda sent: sent.mean(0).sort(descending=True)[0],
)
_mistake(
    "squared_fractions",
    "You multiply the fractions by themselves, and the probabilities have no effect, so no gradient flows. One factor is the mean probability of the expert.",
    both=lambda fractions, means: (fractions * fractions).sum() + 0 * means.sum(),
)
_mistake(
    "only_tokens_of_experts_used",
    "You leave out the tokens of expert 0, as if 0 stood for padding. It is an expert like any other.",
    fraction=lambda sent: torch.cat([0 * sent.mean(0)[:1], sent.mean(0)[1:]]),
)


_mistake(
    "both_added_up",
    "What you return is B² times too large: the tokens of each expert are counted, and its probabilities are added up. Both factors are means over the batch: divide each of them by B.",
    fraction=lambda sent: sent.sum(0),
    share=lambda probabilities: probabilities.sum(0),
)


# The probabilities

_mistake(
    "largest_probability",
    "You take each expert's largest probability. Take its mean over the batch.",
    share=lambda probabilities: probabilities.amax(0),
)
_mistake(
    "softmax_once_more",
    "You take a softmax of the probabilities. They are not logits: they sum to 1 already.",
    share=lambda probabilities: probabilities.softmax(1).mean(0),
)
_mistake(
    "logarithms",
    "You take the logarithms of the probabilities. Take them as they are.",
    share=lambda probabilities: probabilities.clamp(min=1e-9).log().mean(0),
)
_mistake(
    "first_token_only",
    "Only the first token's probabilities count. Take the mean over the batch.",
    share=lambda probabilities: probabilities[0],
)


@task.mistake(
    "You put zeros in place of each token's probabilities of other experts before you take the mean. P is the mean over all tokens, including those that were sent elsewhere."
)
def of_the_chosen_only(probabilities, chosen):
    sent = _sent(probabilities, chosen)
    return probabilities.shape[1] * (sent.mean(0) * (sent * probabilities).mean(0)).sum()


@task.mistake(
    "Each token counts only with its probability of the expert that it was sent to. P is the mean over all tokens, including those that were sent elsewhere: take the means of both over the batch first, and multiply afterwards."
)
def multiplied_before_the_mean(probabilities, chosen):
    return probabilities.shape[1] * (_sent(probabilities, chosen) * probabilities).sum(1).mean()


# The sum

_mistake(
    "experts_forgotten",
    "Your loss is N times too small: the factor N is missing, or you take a mean over the experts, which divides by N. Return N times the sum.",
    end=lambda total, B, N: total,
)
_mistake(
    "times_the_batch",
    "B and N are exchanged: what you return is the right loss times B/N. Divide by B, the number of tokens, to get the fractions, and multiply the sum by N, the number of experts.",
    end=lambda total, B, N: B * total,
)
_mistake(
    "times_experts_twice",
    "You multiply by N twice. Once is enough: then perfect balance costs 1.",
    end=lambda total, B, N: N * N * total,
)
_mistake(
    "divided_by_the_number_of_experts",
    "You divide by the number of experts, as a mean over them does. Multiply the sum by it.",
    end=lambda total, B, N: total / N,
)
_mistake(
    "one_subtracted",
    "You subtract 1, so that balance costs 0. That does not change the gradient, but the equation leaves it at 1.",
    end=lambda total, B, N: N * total - 1,
)
_mistake(
    "sign_turned",
    "Your loss has a minus, so training would send all tokens to one expert. Leave it out.",
    end=lambda total, B, N: -N * total,
)
_mistake(
    "weight_of_a_hundredth",
    "You multiply by 0.01, the paper's α. Here the loss comes without it.",
    end=lambda total, B, N: 0.01 * N * total,
)
_mistake(
    "products_not_summed",
    "You return one number for each expert. Add them up.",
    both=lambda fractions, means: fractions * means,
)
_mistake(
    "squared_difference",
    "You add up the squared differences between fractions and mean probabilities. The loss is N times the sum of their products.",
    both=lambda fractions, means: ((fractions - means) ** 2).sum(),
)
_mistake(
    "sums_multiplied",
    "You add up the fractions and the mean probabilities by themselves, and multiply the two sums, which are always 1. Multiply expert by expert, then add up.",
    both=lambda fractions, means: fractions.sum() * means.sum(),
)
_mistake(
    "added",
    "You add fractions and mean probabilities. Multiply them.",
    both=lambda fractions, means: (fractions + means).sum(),
)


# Gradients


@task.mistake(
    "The value is right, but no gradient reaches the probabilities, so the loss would change nothing. Leave out `detach`, `.item()` and numpy."
)
def gradient_cut(probabilities, chosen):
    return _loss(probabilities.detach(), chosen)
