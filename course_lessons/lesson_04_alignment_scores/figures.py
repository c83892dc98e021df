"""What only lesson 04 shows: drawings, a slider for the width, the scores in trained translators, how long scores take, and how
scores learn to find one of eight hidden states in four small worlds, and a value at two widths.

No task is declared here. The worlds are in `data/find_one.py`, the scores in `models/attention.py`.
"""

import ipywidgets
import torch
from torch.nn.functional import cross_entropy

from course_lessons.shared.timing import seconds
from course_utils.base.progress_bar import with_bar
from course_utils.data.find_one import WORLDS, find_one
from course_utils.data.measured import measured_once
from course_utils.figures import diagrams, plots
from course_utils.figures.widgets import explore
from course_utils.models.attention import SCORES, dot, scaled_dot


def where_the_score_stands():
    """Draw attention with its score opened into the eight choices."""
    return diagrams.attention(
        queries="decoder states: *s*",
        keys="encoder states: *h*",
        values="encoder states: *h*",
        score="*score*(*s*, *h*)",
        choices=diagrams.EIGHT_SCORES,
        shapes=diagrams.SHAPES | {"keys": "B S E"},
        new=["score"],
    )


def weights_by_width(queries=500, keys=16, widest=1024):
    """Return an Explorer with a slider for the width: the sorted weights of random keys, a mean over random queries, not divided and divided by √D."""

    def draw(width):
        generator = torch.Generator().manual_seed(width)
        state = torch.randn(queries, 1, width, generator=generator)  # B T D
        hidden = torch.randn(queries, keys, width, generator=generator)  # B S D
        scores = (state @ hidden.mT)[:, 0]  # B S
        panels = {"not divided": scores, "divided by √D": scores / width**0.5}
        most = []
        for (title, divided), ax in zip(panels.items(), plots.axes(2, width=4.4, height=3.0), strict=True):
            weights = divided.softmax(-1).sort(descending=True).values.mean(0)  # S
            ax.bar(range(1, keys + 1), weights.numpy(), color=plots.COLOURS[0])
            ax.set(xlabel="from the largest weight to the smallest", ylabel="weight, mean", ylim=(0, 1))
            ax.set(title=f"D = {width}, {title}", xticks=[1, keys // 2, keys])
            most.append(f"{weights[0]:.2f} if {title}")
        return f"At width {width}, the largest of {keys} weights is on average {most[0]}, and {most[1]}."

    widths = [2**k for k in range(1, widest.bit_length())]
    return explore(draw, width=ipywidgets.SelectionSlider(options=widths, value=64, description="width D"))


def words_right_in_translators(length):
    """Return for each of the eight scores, and two more, the shares of right words of five trained translators, in sentences of so many words: 12 or 16."""
    rows = {}
    for score in SCORES:
        (rows[score],) = measured_once("scores", "words_right", order="verb-last", setup=score, length=length)
    for name, setup in (("projected", "projected"), ("8 · content_based", "content_based_times_8")):
        (rows[name],) = measured_once("projected", "words_right", setup=setup, length=length)
    return rows


def costs(T, S, D):
    """Return for five scores, and one of them without its tanh, the multiplications and the time of T states and S hidden states, with D = E = A, as multiples of the dot product's."""
    multiplications = {
        "dot": T * S * D,
        "general": T * D * D + T * S * D,
        "projected": T * D * D + S * D * D + T * S * D,
        "perceptron": T * D * D + S * D * D + T * S * D,
        "without its tanh": T * D * D + S * D * D + T * S * D,
        "additive": T * S * 2 * D * D + T * S * D,
    }
    of_two = [(D, D), (D, D)]
    learned = {
        "general": of_two[:1],
        "projected": of_two,
        "perceptron": [*of_two, (D,)],
        "without its tanh": [*of_two, (D,)],
        "additive": [(D, 2 * D), (D,)],
    }
    functions = SCORES | {
        "projected": lambda s, h, A, B: SCORES["scaled_dot"](s @ A, h @ B),
        "without its tanh": lambda s, h, W, U, v: ((s @ W.T)[:, :, None] + (h @ U.T)[:, None]) @ v,
    }
    state, hidden = torch.randn(1, T, D), torch.randn(1, S, D)
    arguments = {name: [state, hidden, *map(torch.randn, learned.get(name, []))] for name in multiplications}
    turns = [{name: seconds(functions[name], *given) for name, given in arguments.items()} for _ in range(9)]
    best = {name: min(turn[name] for turn in turns) for name in arguments}  # a busy moment hits all alike
    return {name: [n / multiplications["dot"], best[name] / best["dot"]] for name, n in multiplications.items()}


HIDDEN_STATES, D, A = 8, 5, 32  # D: four numbers, and a 1 behind them
LEARNED = {  # the shapes of what a score learns; the other two of the eight rank hidden states as two of these do
    "dot": (),
    "content_based": (),
    "general": ((D, D),),
    "perceptron": ((A, D), (A, D), (A,)),
    "concatenating": ((2 * D,),),
    "location_based": ((HIDDEN_STATES, D),),
}


def in_all_worlds(score, *shapes, seeds=5):
    """Train a score in each world; return the shares of 1,000 states that find the right hidden state, seeds×worlds.

    Args:
        score: takes states B×1×D, hidden states B×S×D and the learned tensors, and returns scores B×S or B×1×S.
        shapes: of the learned tensors.
    """
    return torch.tensor(
        [[_share_found(score, shapes, world, seed) for world in WORLDS] for seed in with_bar(range(seeds))]
    )


def six_in_all_worlds():
    """Return for six of the eight scores what `in_all_worlds` returns."""
    return {name: in_all_worlds(_of_states_and_hidden(name), *shapes) for name, shapes in LEARNED.items()}


def _of_states_and_hidden(name):
    if name == "location_based":  # its scores without the softmax that is part of it: the log of a weight can be -inf
        return lambda state, hidden, weight: state @ weight.mT
    return SCORES[name]


def _share_found(score, shapes, world, seed, steps=70, rate=0.1):
    batch, generator = find_one(world, seed), torch.Generator().manual_seed(seed)
    learned = [torch.randn(shape, generator=generator) / shape[-1] ** 0.5 for shape in shapes]
    learned = [tensor.requires_grad_() for tensor in learned]
    if learned:
        adam = torch.optim.Adam(learned, lr=rate)
        for _ in range(steps):
            state, hidden, target = batch(64)
            loss = cross_entropy(score(state, hidden, *learned).flatten(1), target)
            adam.zero_grad()
            loss.backward()
            adam.step()
    state, hidden, target = batch(1000)
    return (score(state, hidden, *learned).flatten(1).argmax(-1) == target).float().mean()


def learning_curves(width, seeds=3):
    """Return the losses of two projections in the world "turned", without and with the division by √D: a mean for every ten of 100 steps."""
    runs = {"dot": dot, "scaled dot": scaled_dot}
    return {
        name: torch.stack([_losses(score, width, seed) for seed in with_bar(range(seeds))])
        for name, score in runs.items()
    }


def _losses(score, width, seed, steps=100):
    batch, generator = find_one("turned", seed, D=width), torch.Generator().manual_seed(seed)
    drawn = (torch.randn(width + 1, width, generator=generator) / width**0.5 for _ in range(2))
    W_q, W_k = (matrix.requires_grad_() for matrix in drawn)
    adam = torch.optim.Adam([W_q, W_k], lr=0.048 / width**0.5)  # in proportion to the matrices' numbers
    losses = []
    for _ in range(steps):
        state, hidden, target = batch(64)  # B 1 D+1, B S D+1, B
        values = torch.randn(64, HIDDEN_STATES, 4, generator=generator)  # B S 4
        context = score(state @ W_q, hidden @ W_k).softmax(-1) @ values  # B 1 4
        loss = (context[:, 0] - values[torch.arange(64), target]).square().mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    return torch.tensor(losses).reshape(-1, 10).mean(1)


def lowest_loss(width, seeds=3, states=4000):
    """Return the loss in "turned" of the true orthogonal matrix, with the best of several factors for its scores: a mean over the seeds."""
    return sum(_loss_of_true_matrix(width, seed, states) for seed in range(seeds)) / seeds


def _loss_of_true_matrix(width, seed, states):
    generator = torch.Generator().manual_seed(seed)
    q, r = torch.linalg.qr(torch.randn(width, width, generator=generator))  # as `find_one` draws it
    turn = q * r.diagonal().sign()
    state, hidden, target = find_one("turned", seed, D=width)(states)
    scores = (state[..., :-1] @ turn.T) @ hidden[..., :-1].mT  # B 1 S
    values = torch.randn(states, HIDDEN_STATES, 4, generator=generator)  # B S 4
    right = values[torch.arange(states), target]  # B 4
    contexts = (((factor * scores).softmax(-1) @ values)[:, 0] for factor in (0.5, 0.75, 1, 1.25, 1.5, 2, 3))
    return min((context - right).square().mean().item() for context in contexts)
