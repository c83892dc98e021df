"""What two tasks share whose answer is a test of whether a model sees the order of its rows: such a test, and what goes wrong with it. No task is declared here."""

import torch

from course_lessons.shared.candidate_tests import equal_up_to_rounding, mistakes_of_tests
from course_lessons.shared.row_models import WIDTH

LONGEST = 12
SEVERAL = "Try several random orders"


def _random(T, draw):
    return [torch.randperm(T, generator=draw) for _ in range(6)]


def order_mistakes(task, follow, aware, if_always_false):
    """Declare the mistakes that such tests invite.

    Args:
        task: whose mistakes they are.
        follow: function(what comes out for some rows, an order of these rows) returns what comes out for the rows in this order, where a model does not see it.
        aware: what models are called that see the order.
        if_always_false: what makes a test say False to every model.

    Returns:
        A function(name, sentence, **changes) which registers the mistake of a correct test with these changes.
    """

    def test(
        model, lengths=range(2, LONGEST + 1), orders=_random, same=equal_up_to_rounding, follow=follow, verdict=any
    ):
        draw, moved = torch.Generator().manual_seed(6), []
        for T in lengths:
            x = torch.randn(T, WIDTH, generator=draw)
            before = model(x)
            moved += [not same(follow(before, order), model(x[order])) for order in orders(T, draw)]
        return verdict(moved)

    mistaken = mistakes_of_tests(task, test, "model", if_always_false, aware)
    mistaken(
        "no_rounding",
        "Your test returns True for models that ignore the order but add up in a different one, so that their last digits differ. Allow for rounding: use torch.allclose(…, atol=1e-5) instead of torch.equal or ==.",
        same=torch.equal,
    )
    mistaken(
        "too_much_room",
        "Your test returns False for models that depend on the order only slightly: your tolerance is too large. Rounding errors stay below 1e-5.",
        same=lambda before, after: equal_up_to_rounding(before, after, 0.05),
    )
    mistaken(
        "reversed_alone",
        f"Your test returns False for models that treat both directions alike, because you try only the reversed order. {SEVERAL}.",
        orders=lambda T, draw: [torch.arange(T).flip(0)],
    )
    mistaken(
        "moved_on_alone",
        f"Your test returns False for cyclic models, because you only shift all rows by the same number of positions. {SEVERAL}.",
        orders=lambda T, draw: [torch.arange(T).roll(n) for n in range(1, T)],
    )
    mistaken(
        "first_two_swapped",
        f"Your test returns False for models for which the order of the first two rows makes no difference, because you swap only these rows. {SEVERAL} of all rows.",
        lengths=range(3, LONGEST + 1),
        orders=lambda T, draw: [torch.tensor([1, 0, *range(2, T)])],
    )
    mistaken(
        "short_alone",
        "Your test returns False for models that depend on the order only in longer sequences. Try longer ones as well, up to T = 12.",
        lengths=range(2, 6),
    )
    return mistaken
