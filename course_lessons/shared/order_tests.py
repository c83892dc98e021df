"""What two tasks share whose answer is a test of whether a model sees the order of its rows: such a test, and what goes wrong with it. No task is declared here."""

import torch

from course_lessons.shared.candidate_tests import MistakenTests, equal_up_to_rounding
from course_lessons.shared.row_models import WIDTH

LONGEST = 12


def _random(T, draw):
    return [torch.randperm(T, generator=draw) for _ in range(6)]


def order_mistakes(task, follow):
    """Register the mistakes that such tests invite.

    Args:
        task: whose mistakes they are. Its Markdown file has their sentences from `order_tests.md`.
        follow: function(what comes out for some rows, an order of these rows) returns what comes out for the rows in this order, where a model does not see it.

    Returns:
        A function(name, **changes) which registers the mistake of a correct test with these changes.
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

    mistaken = MistakenTests(task, test)
    mistaken("no_rounding", same=torch.equal)
    mistaken("too_much_room", same=lambda before, after: equal_up_to_rounding(before, after, 0.05))
    mistaken("reversed_alone", orders=lambda T, draw: [torch.arange(T).flip(0)])
    mistaken("moved_on_alone", orders=lambda T, draw: [torch.arange(T).roll(n) for n in range(1, T)])
    mistaken(
        "first_two_swapped", lengths=range(3, LONGEST + 1), orders=lambda T, draw: [torch.tensor([1, 0, *range(2, T)])]
    )
    mistaken("short_alone", lengths=range(2, 6))
    return mistaken
