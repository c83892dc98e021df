"""Correct answers to 16.two_hops_by_hand with other numbers than the solution's, and in other widths."""

import torch


def people_in_the_first_one_too(people, things, places):
    one = 8 * torch.eye(people + things + places)
    first, second, third = one.clone(), one.clone(), one.clone()
    first[people + things :] = 0
    second[people:] = 0
    third[: people + things] = 0
    return first, second, third


def in_one_tensor(people, things, places):
    """One tensor 3×words×words in place of a list of three, in float64."""
    kinds = torch.tensor([0] * people + [1] * things + [2] * places)
    return torch.stack([9 * torch.diag((kinds == kind).double()) for kind in (1, 0, 2)])


NONE_OF_ITS_OWN = "The embeddings are found by thinking, and many are right."
CORRECT = [people_in_the_first_one_too, in_one_tensor]
INPUTS = {name: lambda draw: draw.randint(2, 6) for name in ("people", "things", "places")}
