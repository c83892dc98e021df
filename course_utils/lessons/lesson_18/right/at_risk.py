"""Right answers to 18.at_risk in other styles than the solution's: products, sets, loops."""

import torch


def by_products(old, new):
    """Two inputs share an expert where the product of the gates' signs is above 0."""
    return ((old > 0).float() @ (new > 0).float().T > 0).any(1)


def by_the_experts_that_change(old, new):
    changing = (new > 0).any(dim=0)
    return (old[:, changing] > 0).any(dim=1)


def by_the_sum(old, new):
    return torch.where(new.amax(0) > 0, old, 0.0).sum(1) > 0


def by_einsum(old, new):
    return torch.einsum("bn,cn->b", old.sign(), new.sign()) > 0


def by_sets(old, new):
    changing = {i for row in new.tolist() for i, gate in enumerate(row) if gate > 0}
    return torch.tensor([bool(changing & {i for i, gate in enumerate(row) if gate > 0}) for row in old.tolist()])


def input_by_input(old, new):
    result = []
    for b in range(len(old)):
        risk = False
        for c in range(len(new)):
            for i in range(old.shape[1]):
                if old[b, i] != 0 and new[c, i] != 0:
                    risk = True
        result.append(risk)
    return torch.tensor(result)


NONE_OF_ITS_OWN = "PyTorch has no function that tells who depends on whom."
RIGHT = [
    by_products,
    by_the_experts_that_change,
    by_the_sum,
    by_einsum,
    by_sets,
    # As beginners write them
    input_by_input,
]
INPUTS = {
    name: lambda draw, shape=shape: draw.probabilities(shape, zeros=0.6)
    for name, shape in (("old", "B×N"), ("new", "C×N"))
}
