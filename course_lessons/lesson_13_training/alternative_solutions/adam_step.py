"""Correct answers to 13.adam_step in other styles than the solution's."""

import math

import torch


def by_the_optimizer(parameter, gradient, m, v, step, rate, beta1, beta2, eps):
    moved = parameter.clone().requires_grad_()
    adam = torch.optim.Adam([moved], rate, (beta1, beta2), eps)
    adam.state[moved] = {"step": torch.tensor(float(step - 1)), "exp_avg": m.clone(), "exp_avg_sq": v.clone()}
    moved.grad = gradient.clone()
    adam.step()
    kept = adam.state[moved]
    return moved.detach(), kept["exp_avg"], kept["exp_avg_sq"]


def in_place_on_copies(parameter, gradient, m, v, step, rate, beta1, beta2, eps):
    parameter, m, v = parameter.clone(), m.clone(), v.clone()
    m.mul_(beta1).add_(gradient, alpha=1 - beta1)
    v.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
    denominator = (v.sqrt() / math.sqrt(1 - beta2**step)).add_(eps)
    parameter.addcdiv_(m, denominator, value=-rate / (1 - beta1**step))
    return parameter, m, v


OWN = [by_the_optimizer]
CORRECT = [*OWN, in_place_on_copies]
INPUTS = {
    "v": lambda draw: draw.numbers("…×D", zeros=0).square(),
    "rate": lambda draw: draw.uniform(0.1, 1),
    "beta1": lambda draw: draw.uniform(0, 0.9),
    "beta2": lambda draw: draw.uniform(0, 0.9),
}
