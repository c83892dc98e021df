"""Right answers to 16.two_hops_by_hand with other numbers than the solution's, and in other widths."""

import torch


def narrow(people, things, places):
    """The three kinds share features, as each embedding holds one kind only; the blocks stand side by side."""
    D = people + things + places
    tables = [torch.zeros(D, D) for _ in range(3)]
    tables[0][people : people + things, :things] = 5 * torch.eye(things)
    tables[1][:people, things : things + people] = 6 * torch.eye(people)
    tables[2][people + things :, things + people :] = 4 * torch.eye(places)
    return tables


def people_in_the_first_one_too(people, things, places):
    one = 8 * torch.eye(people + things + places)
    first, second, third = one.clone(), one.clone(), one.clone()
    first[people + things :] = 0
    second[people:] = 0
    third[: people + things] = 0
    return first, second, third


def in_double(people, things, places):
    kinds = torch.tensor([0] * people + [1] * things + [2] * places)
    return [20.0 * torch.diag((kinds == kind).double()) for kind in (1, 0, 2)]


def by_loops(people, things, places):
    words = people + things + places
    tables = torch.zeros(3, words, words)
    for word in range(words):
        if word < people:
            tables[1, word, word] = 7
        elif word < people + things:
            tables[0, word, word] = 7
        else:
            tables[2, word, word] = 7
    return list(tables)


def in_one_tensor(people, things, places):
    """One tensor 3×words×words in place of a list of three."""
    kinds = torch.tensor([0] * people + [1] * things + [2] * places)
    return torch.stack([9 * torch.diag((kinds == kind).float()) for kind in (1, 0, 2)])


NONE_OF_ITS_OWN = "The embeddings are found by thinking, and many are right."
RIGHT = [
    narrow,
    people_in_the_first_one_too,
    in_double,
    in_one_tensor,
    # As beginners write them
    by_loops,
]
INPUTS = {name: lambda draw: draw.randint(2, 6) for name in ("people", "things", "places")}
