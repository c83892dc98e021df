"""Correct answers to 08.reinforce_loss in other styles than the solution's."""

import torch


def by_dot(log_probability, reward, baseline):
    return torch.dot((reward - baseline).data, log_probability) / -len(reward)


def pick_by_pick(log_probability, reward, baseline):
    loss = 0.0
    for i in range(len(reward)):
        loss = loss - log_probability[i] * (reward[i].item() - baseline[i].item())
    return loss / len(reward)


NONE_OF_ITS_OWN = "PyTorch has no such loss: the documentation of torch.distributions writes the product out, too."
CORRECT = [by_dot, pick_by_pick]
WORKED = [(([-1, -2], [1, 0], [0.25, 0.5]), "-0.125")]
