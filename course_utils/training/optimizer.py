"""AdamW, Muon and SGD over weights kept in fp32 while the model computes in bf16, and the two schedules of their rate.

Here: one optimizer step, and its state. Not here: the loss, and when to step (`loop.py`).
"""

from collections import defaultdict

import torch
from torch import Tensor, nn

from course_utils.base.errors import CourseError

MOMENTUM = {"muon": 0.95, "sgd": 0.9}


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


def orthogonal(matrices: Tensor) -> Tensor:
    """Return matrices K×M×N with the same singular vectors, and singular values near 1: 0.7 to 1.2, except for the tiniest.

    Five steps of a Newton–Schulz iteration: each maps every singular value s to 3.4445 s - 4.775 s³ + 2.0315 s⁵,
    which grows the small ones fastest and needs only matrix products (Jordan et al. 2024, "Muon: An optimizer for hidden
    layers in neural networks").
    """
    tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.mT if tall else matrices
    x = x / x.norm(dim=(1, 2), keepdim=True).clamp(min=1e-7)  # no singular value is more than 1
    for _ in range(5):
        square = x @ x.mT
        square = torch.baddbmm(square, square, square, beta=-4.775, alpha=2.0315)  # 2.0315 square² - 4.775 square
        x = torch.baddbmm(x, square, x, beta=3.4445)
    return x.mT if tall else x


class Optimizer:
    """AdamW (Loshchilov & Hutter 2019), Muon or SGD, with clipped gradients, on fp32 masters of a model's parameters.

    A bf16 weight has 8 bits of precision: a step of a thousandth of it is lost when added. So the steps are added to
    fp32 masters, of which the model holds rounded copies. A model in fp32 or float64 is its own master.

    "muon" is for the matrices between embedding and readout: it steps along their momentum made `orthogonal`, so that no
    few directions dominate the step. The step is scaled to the size of AdamW's, so that one rate serves both
    (Liu et al. 2025, "Muon is Scalable for LLM Training", section 2.2); AdamW takes all other parameters. This Muon
    is faster than torch's own: matrices of one shape are multiplied together, in the precision of the run.

    "sgd" is torch's stochastic gradient descent with momentum 0.9, whose steps grow with the gradient: it needs its own rate.

    Args:
        model: whose parameters are trained; its `readout`, if it has one, is left to AdamW.
        betas: AdamW's, which takes some parameters even with "muon".
        weight_decay: for all parameters.
        clip: the largest norm of all gradients together.
        kind: "adamw", "muon" or "sgd".
    """

    def __init__(
        self, model: nn.Module, betas: tuple[float, float], weight_decay: float, clip: float, kind: str = "adamw"
    ):
        self.parameters = dict(model.named_parameters())
        self.low = {name: p for name, p in self.parameters.items() if p.dtype == torch.bfloat16}
        self.masters = {name: p.detach().float() if name in self.low else p for name, p in self.parameters.items()}
        self.clip, self.weight_decay = clip, weight_decay
        muons = _hidden_matrices(model) if kind == "muon" else []
        self.momenta = {name: torch.zeros_like(self.masters[name]) for name in muons}
        self.shapes = defaultdict(list)  # the names of the matrices that Muon takes, by shape
        for name, momentum in self.momenta.items():
            self.shapes[momentum.shape].append(name)
        others = [master for name, master in self.masters.items() if name not in self.momenta]
        if kind == "sgd":
            self.state_names = ("momentum_buffer",)  # of each weight, as torch names it
            self.base = torch.optim.SGD(others, momentum=MOMENTUM["sgd"], weight_decay=weight_decay)
        else:
            self.state_names = ("exp_avg", "exp_avg_sq", "step")
            self.base = torch.optim.AdamW(others, betas=betas, eps=1e-9, weight_decay=weight_decay, fused=True)

    def step(self, rate: float) -> Tensor:
        """Take one step along the parameters' gradients, clear them, and return their norm before clipping."""
        for name, parameter in self.low.items():
            self.masters[name].grad = parameter.grad.float()
            parameter.grad = None
        norm = nn.utils.clip_grad_norm_(self.masters.values(), self.clip)
        self.base.param_groups[0]["lr"] = rate
        self.base.step()
        for names in self.shapes.values():
            self.step_matrices(names, rate)
        for master in self.masters.values():
            master.grad = None
        self.round()
        return norm

    @torch.no_grad()
    def step_matrices(self, names: list[str], rate: float) -> None:
        """Take Muon's step, with Nesterov's momentum, for matrices of one shape."""
        masters, momenta = [self.masters[name] for name in names], [self.momenta[name] for name in names]
        gradients = torch.stack([master.grad for master in masters])
        torch._foreach_lerp_(momenta, gradients.unbind(), 1 - MOMENTUM["muon"])
        ahead = gradients.lerp(torch.stack(momenta), MOMENTUM["muon"])
        steps = orthogonal(ahead.bfloat16() if self.low else ahead).to(ahead.dtype)
        torch._foreach_mul_(masters, 1 - rate * self.weight_decay)
        torch._foreach_add_(masters, steps.unbind(), alpha=-rate * 0.2 * max(gradients.shape[1:]) ** 0.5)

    @torch.no_grad()
    def round(self) -> None:
        """Copy the masters into the model, in the model's precision."""
        if self.low:
            torch._foreach_copy_([*self.low.values()], [self.masters[name] for name in self.low])

    def state(self) -> dict[str, Tensor]:
        """Return everything a resumed run needs, by name: masters and, after the first step, the optimizers' state."""
        tensors = {f"weight.{name}": master.detach() for name, master in self.masters.items()}
        tensors |= {f"momentum.{name}": momentum for name, momentum in self.momenta.items()}
        for name, master in self.masters.items():
            for key, value in self.base.state.get(master, {}).items():
                tensors[f"{key}.{name}"] = value
        return tensors

    @torch.no_grad()
    def load(self, tensors: dict[str, Tensor]) -> None:
        """Load what `state` returned. Raises `KeyError` or `CourseError` if it came from another model."""
        for name, master in self.masters.items():
            keys = ("weight", "momentum") if name in self.momenta else ("weight", *self.state_names)
            found = {key: tensors[f"{key}.{name}"].to(master.device) for key in keys}
            for value in (value for key, value in found.items() if key != "step"):
                if value.shape != master.shape:  # copy_ would broadcast a smaller one
                    raise CourseError(f"{name} must be shaped {list(master.shape)}, not {list(value.shape)}")
            master.copy_(found.pop("weight"))
            if name in self.momenta:
                self.momenta[name].copy_(found["momentum"])
            else:
                self.base.state[master] = found
        self.round()


def _hidden_matrices(model: nn.Module) -> list[str]:
    """Return the names of the matrices that turn one vector into another: not those that hold a vector for each word or place."""
    tables = [module.weight for module in model.modules() if isinstance(module, nn.Embedding)]
    tables += [model.readout.weight] if hasattr(model, "readout") else []
    tables += [p for name, p in model.named_parameters() if name.endswith("positions")]
    return [name for name, p in model.named_parameters() if p.dim() == 2 and not any(p is table for table in tables)]
