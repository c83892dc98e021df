"""AdamW over weights kept in fp32 while the model computes in bf16, and the two schedules of its rate.

Here: one optimizer step, its state, the average of late weights. Not here: the loss, and when to step (`loop.py`).
"""

import torch
from torch import Tensor, nn

SCHEDULES = ("linear", "paper")
MOMENTS = ("exp_avg", "exp_avg_sq", "step")  # as AdamW names what it keeps of each weight


def schedule(name: str, step: int, steps: int, warmup: int) -> float:
    """Return the share of the peak rate at a step, from 0 on.

    "linear": up over the warm-up, then down to 0 at the end. "paper": up, then by 1 / √step, the shape of Vaswani et
    al. 2017, equation 3, whose peak D^-0.5 · warmup^-0.5 is the rate to give.
    """
    step += 1
    if step <= warmup:
        return step / warmup
    if name == "linear":
        return (steps + 1 - step) / (steps + 1 - warmup)
    return (warmup / step) ** 0.5


class Optimizer:
    """Fused AdamW (Loshchilov & Hutter 2019) with clipped gradients, on fp32 masters of a model's parameters.

    A bf16 weight has 8 bits of precision: a step of a thousandth of it is lost when added. So the steps are added to
    fp32 masters, of which the model holds rounded copies. A model in fp32 or float64 is its own master.

    Args:
        model: whose parameters are trained.
        betas, weight_decay: AdamW's.
        clip: the largest norm of all gradients together.
    """

    def __init__(self, model: nn.Module, betas: tuple[float, float], weight_decay: float, clip: float):
        self.parameters = dict(model.named_parameters())
        self.low = {name: p for name, p in self.parameters.items() if p.dtype == torch.bfloat16}
        self.masters = {name: p.detach().float() if name in self.low else p for name, p in self.parameters.items()}
        self.clip = clip
        self.adam = torch.optim.AdamW(
            self.masters.values(), betas=betas, eps=1e-9, weight_decay=weight_decay, fused=True
        )

    def step(self, rate: float) -> Tensor:
        """Take one step along the parameters' gradients, clear them, and return their norm before clipping."""
        for name, parameter in self.low.items():
            self.masters[name].grad = parameter.grad.float()
            parameter.grad = None
        norm = nn.utils.clip_grad_norm_(self.masters.values(), self.clip)
        self.adam.param_groups[0]["lr"] = rate
        self.adam.step()
        self.adam.zero_grad()
        self.round()
        return norm

    @torch.no_grad()
    def round(self) -> None:
        """Copy the masters into the model, in the model's precision."""
        for name, parameter in self.low.items():
            parameter.copy_(self.masters[name])

    def state(self) -> dict[str, Tensor]:
        """Return everything a resumed run needs, by name: masters, and what AdamW knows of them after its first step."""
        tensors = {f"weight.{name}": master.detach() for name, master in self.masters.items()}
        for name, master in self.masters.items():
            for key, value in self.adam.state.get(master, {}).items():
                tensors[f"{key}.{name}"] = value
        return tensors

    @torch.no_grad()
    def load(self, tensors: dict[str, Tensor]) -> None:
        """Take what `state` returned back. Raises `KeyError` or `ValueError` when it came from another model."""
        for name, master in self.masters.items():
            weight, *state = (tensors[f"{key}.{name}"].to(master.device) for key in ("weight", *MOMENTS))
            if not weight.shape == state[0].shape == state[1].shape == master.shape:  # copy_ would spread a smaller one
                raise ValueError(f"{name} must be shaped {list(master.shape)}, not {list(weight.shape)}")
            master.copy_(weight)
            self.adam.state[master] = dict(zip(MOMENTS, state, strict=True))
        self.round()
