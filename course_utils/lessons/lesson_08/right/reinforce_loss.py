"""Right answers to 08.reinforce_loss in other styles than the solution's: no_grad, a dot product, loops, numbers."""

import torch


def without_gradient(log_probability, reward, baseline):
    with torch.no_grad():
        advantage = reward - baseline
    return torch.mean(-log_probability * advantage)


def both_detached(log_probability, reward, baseline):
    return ((baseline.detach() - reward.detach()) * log_probability).mean()


def by_dot(log_probability, reward, baseline):
    return torch.dot((reward - baseline).data, log_probability) / -len(reward)


def by_einsum(log_probability, reward, baseline):
    advantage = reward.clone().detach() - baseline.clone().detach()
    return -torch.einsum("b,b->", advantage, log_probability) / log_probability.numel()


def by_matrix(log_probability, reward, baseline):
    advantage = (reward - baseline).detach().view(1, -1)
    return -(advantage @ log_probability.view(-1, 1)).squeeze() / advantage.shape[1]


def pick_by_pick(log_probability, reward, baseline):
    loss = 0.0
    for i in range(len(reward)):
        loss = loss - log_probability[i] * (reward[i].item() - baseline[i].item())
    return loss / len(reward)


NONE_OF_ITS_OWN = "PyTorch has no such loss: the documentation of torch.distributions writes the product out, too."
RIGHT = [
    without_gradient,
    both_detached,
    by_dot,
    by_einsum,
    by_matrix,
    # As beginners write them
    pick_by_pick,
]
WORKED = [(([-1, -2], [1, 0], [0.25, 0.5]), "-0.125")]
