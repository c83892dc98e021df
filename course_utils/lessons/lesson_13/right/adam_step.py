"""Right answers to 13.adam_step in other styles than the solution's: torch.optim, lerp, the factor of the rate, number by number."""

import math

import torch


def by_lerp(parameter, gradient, m, v, step, rate, beta1, beta2, eps):
    m = torch.lerp(gradient, m, beta1)
    v = v.lerp(gradient * gradient, 1 - beta2)
    moved = torch.addcdiv(parameter, m, (v / (1 - beta2**step)).sqrt().add(eps), value=-rate / (1 - beta1**step))
    return moved, m, v


def by_the_optimizer(parameter, gradient, m, v, step, rate, beta1, beta2, eps):
    moved = parameter.clone().requires_grad_()
    adam = torch.optim.Adam([moved], rate, (beta1, beta2), eps)
    adam.state[moved] = {"step": torch.tensor(float(step - 1)), "exp_avg": m.clone(), "exp_avg_sq": v.clone()}
    moved.grad = gradient.clone()
    adam.step()
    kept = adam.state[moved]
    return moved.detach(), kept["exp_avg"], kept["exp_avg_sq"]


def by_the_factor_of_the_rate(parameter, gradient, m, v, step, rate, beta1, beta2, eps):
    """With the correction in the rate, and eps scaled with it."""
    root = math.sqrt(1 - beta2**step)
    m = m + (1 - beta1) * (gradient - m)
    v = v + (1 - beta2) * (gradient.pow(2) - v)
    return parameter - rate * root / (1 - beta1**step) * m / (v.sqrt() + eps * root), m, v


def in_place_on_copies(parameter, gradient, m, v, step, rate, beta1, beta2, eps):
    parameter, m, v = parameter.clone(), m.clone(), v.clone()
    m.mul_(beta1).add_(gradient, alpha=1 - beta1)
    v.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
    denominator = (v.sqrt() / math.sqrt(1 - beta2**step)).add_(eps)
    parameter.addcdiv_(m, denominator, value=-rate / (1 - beta1**step))
    return parameter, m, v


def number_by_number(parameter, gradient, m, v, step, rate, beta1, beta2, eps):
    new_parameter, new_m, new_v = [], [], []
    for p, g, a, b in zip(*(x.reshape(-1).tolist() for x in (parameter, gradient, m, v)), strict=True):
        a = beta1 * a + (1 - beta1) * g
        b = beta2 * b + (1 - beta2) * g**2
        a_hat = a / (1 - beta1**step)
        b_hat = b / (1 - beta2**step)
        new_parameter.append(p - rate * a_hat / (b_hat**0.5 + eps))
        new_m.append(a)
        new_v.append(b)
    return tuple(torch.tensor(x, dtype=parameter.dtype).reshape(parameter.shape) for x in (new_parameter, new_m, new_v))


# PyTorch's own
OWN = [
    by_the_optimizer,
]
RIGHT = [
    *OWN,
    by_lerp,
    by_the_factor_of_the_rate,
    in_place_on_copies,
    # As beginners write them
    number_by_number,
]
INPUTS = {
    "v": lambda draw: draw.numbers("…×D", zeros=0).square(),
    "rate": lambda draw: draw.uniform(0.1, 1),
    "beta1": lambda draw: draw.uniform(0, 0.9),
    "beta2": lambda draw: draw.uniform(0, 0.9),
}
