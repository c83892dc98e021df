"""The training loop, one for all models, devices and numbers of processes; it can be stopped and resumed at any step.

Here: steps, validation, the end. Not here: batches, loss, optimizer, checkpoint, files, each in its own file.

Why a resumed run equals one that was never stopped: everything in a step follows from the settings, the step's number
and the checkpoint. The order of batches comes from seed and epoch, and the random numbers of dropout from seed, step and rank.
"""

import contextlib
import functools
import math
import os
import signal
import sys
import threading
import time
from dataclasses import asdict

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn
from tqdm import tqdm

from course_utils.data.pairs import Pairs
from course_utils.data.subwords import Subwords
from course_utils.models.serialization import make_model
from course_utils.training import device as devices
from course_utils.training.batches import Batch, Batches
from course_utils.training.checkpoint import Progress, identify, restore, save
from course_utils.training.corpus import Corpus, load_corpus
from course_utils.training.loss import disagreement, smoothed_loss
from course_utils.training.optimizer import Optimizer, schedule
from course_utils.training.run_folder import RunError, RunFolder, describe_environment
from course_utils.training.settings import Settings
from course_utils.translation.scores import bleu
from course_utils.translation.translate import translate

AVERAGED = 200  # at most: averaging the weights of every step would cost time and gain nothing


class Objective(nn.Module):
    """A model with its loss, so that DDP sees one forward pass that uses every parameter."""

    def __init__(self, model: nn.Module, smoothing: float, compiled: bool = False, r_drop: float = 0.0):
        super().__init__()
        self.model, self.smoothing, self.r_drop = model, smoothing, r_drop
        self.features = torch.compile(model.features, dynamic=True) if compiled else model.features

    def forward(self, batch: Batch) -> Tensor:
        """Return the loss summed over the batch's N target tokens.

        With r_drop each sentence is read twice, with different dropout (Liang et al. 2021, "R-Drop"): the loss is the
        mean of both, and r_drop / 2 of their `disagreement` is added.
        """
        if not self.r_drop:
            return smoothed_loss(self.read(batch), self.model.readout.weight, batch.wanted, self.smoothing)
        B, T = batch.given.shape
        places = torch.cat([batch.places, batch.places + B * T])
        twice = Batch(batch.source.repeat(2, 1), batch.given.repeat(2, 1), batch.wanted.repeat(2), places)
        features = self.read(twice)  # 2·N D
        loss = smoothed_loss(features, self.model.readout.weight, twice.wanted, self.smoothing) / 2
        return loss + self.r_drop / 2 * disagreement(*features.chunk(2), self.model.readout.weight)

    def read(self, batch: Batch) -> Tensor:
        """Return what the readout reads at the batch's N places: N×D."""
        return self.features(batch.source, batch.given).flatten(0, 1).index_select(0, batch.places)


def train(settings: Settings | None, run: str | os.PathLike, corpus: Corpus | None = None, device: str = "auto",
          resume: bool = False, checkpoint_seconds: float = 60.0, show: bool = True) -> "Trainer":  # fmt: skip
    """Train a model as the settings say, and leave it in the run's folder.

    Args:
        settings: what to train; None when resuming, because the folder has them.
        run: the folder of the run.
        corpus: what to train on, if not what the settings name; a resumed run needs the same.
        device: "auto", "cpu", "cuda" or "cuda:N".
        resume: continue from the folder's checkpoint.
        checkpoint_seconds: the most seconds of work that a kill may cost.
        show: whether to show progress: a bar in a terminal, elsewhere a line for each epoch and validation.

    Returns:
        The trainer, which holds model, subwords and curves. A first Ctrl-C ends the run after the current step with a
        checkpoint; then `trainer.progress.finished` is False.

    Raises:
        RunError: if the folder can't be used, or the loss is no longer finite.
        CourseError: for an invalid setting or device, or unavailable data.
    """
    on = devices.choose_device(device)
    devices.keep_freed_memory()
    with devices.process_group(on):
        trainer = Trainer(settings, RunFolder(run), corpus, on, resume)
        trainer.run(checkpoint_seconds, show and devices.rank() == 0)
    return trainer


class Trainer:
    """One process's part of a run."""

    def __init__(
        self,
        settings: Settings | None,
        folder: RunFolder,
        corpus: Corpus | None,
        device: torch.device,
        resume: bool = False,
    ):
        self.folder, self.device, self.progress, self.curves = folder, device, Progress(), []
        self.settings = settings = folder.settings() if resume else settings
        precision = folder.environment().get("precision", "auto") if resume else settings.precision
        self.precision = devices.choose_precision(precision, device)
        self.corpus = corpus or load_corpus(settings)
        self.subwords = self.corpus.subwords
        self.batches = make_batches(self.corpus.train, self.subwords, settings, settings.seed)
        self.order = functools.lru_cache(maxsize=1)(self.batches.epoch)  # of the batches in an epoch
        self.val_batches = make_batches(self.corpus.val, self.subwords, settings, seed=0)
        torch.manual_seed(settings.seed)
        self.model = make_model(settings.kind, len(self.subwords), settings.model).to(device, self.precision)
        self.optimizer = Optimizer(self.model, settings.betas, settings.weight_decay, settings.clip, settings.optimizer)
        self.loss = torch.zeros((), dtype=torch.float64, device=device)  # the sum over loss_tokens
        self.average, self.best = {}, {}  # weights: the mean of the last ones, and the best so far
        self.identity = identify(settings, self.batches)
        self.batches_a_step = settings.accumulate * devices.process_count()
        self.steps_an_epoch = math.ceil(len(self.order(0)) / self.batches_a_step)
        self.steps = max(1, round(settings.epochs * self.steps_an_epoch))
        if resume:
            restore(self)
        else:
            devices.in_first_process_only(lambda: folder.create(settings, describe_environment(device, self.precision)))
        self.objective = Objective(self.model, settings.smoothing, settings.compile, settings.r_drop)
        if dist.is_initialized():
            self.objective = nn.parallel.DistributedDataParallel(self.objective)

    def run(self, checkpoint_seconds: float, show: bool) -> None:
        """Take all remaining steps, validating and saving in between; then save the model."""
        progress, validate_steps = self.progress, max(1, round(self.settings.validate * self.steps_an_epoch))
        began = saved = time.monotonic()
        before = progress.seconds
        no_bar = not (show and sys.stderr.isatty())
        with _stop_signal() as stop, tqdm(total=self.steps, initial=progress.step, disable=no_bar, unit="step") as bar:
            while not progress.finished:
                self.step()
                at_end = progress.step >= self.steps
                validates = progress.step % validate_steps == 0 or at_end
                if validates:
                    self.validate()
                progress.finished |= at_end
                progress.seconds = before + time.monotonic() - began
                if show:
                    self.show_progress(bar, progress.seconds - before, validates)
                stopped = due = False
                # Several processes ask each other only now and then.
                if devices.process_count() == 1 or progress.step % 16 == 0:
                    due = time.monotonic() - saved >= checkpoint_seconds
                    stopped, due = devices.agree([stop.is_set(), due], self.device)
                if stopped or due or progress.finished:
                    save(self)
                    saved = time.monotonic()
                if stopped:
                    break
        if progress.finished:
            self.finish()

    def step(self) -> None:
        """Add up the gradients of this process's batches, and take one step with all processes'."""
        settings, progress = self.settings, self.progress
        group = self.group(progress.step)
        mine = group[devices.rank() :: devices.process_count()]
        tokens = sum(map(self.batches.target_tokens, group))
        # A number of 32 bits, because the CPU's generator uses no more.
        mixed = np.random.SeedSequence((settings.seed, progress.step, devices.rank())).generate_state(1)
        torch.manual_seed(int(mixed[0]))
        self.model.train()
        # A process without a batch, in the last step of an epoch, takes part with a gradient of zero.
        weighed = [(places, 1) for places in mine] or [(group[0], 0)]
        for i, (places, weight) in enumerate(weighed):
            with exchange(self.objective, i + 1 == len(weighed)):
                loss = self.objective(self.batches.read(places).to(self.device)) * weight
                # The mean over all tokens of all processes, whose gradients DDP averages.
                (loss * (devices.process_count() / tokens)).backward()
            self.loss += loss.detach()
        self.optimizer.step(self.rate(progress.step))
        progress.step += 1
        progress.tokens += tokens
        progress.loss_tokens += tokens
        add_to_average(self.average, self.optimizer.masters, progress, self.steps, settings.average)

    def rate(self, step: int) -> float:
        """Return the learning rate of a step."""
        warmup = max(1, round(self.settings.warmup * self.steps))
        return self.settings.rate * schedule(self.settings.schedule, step, self.steps, warmup)

    def group(self, step: int) -> list:
        """Return the batches of a step, of all processes."""
        epoch, place = divmod(step, self.steps_an_epoch)
        return self.order(epoch)[place * self.batches_a_step : (place + 1) * self.batches_a_step]

    def validate(self) -> None:
        """Measure loss and BLEU on the validation set, add a row to the curves, and see whether it is time to stop."""
        progress, settings = self.progress, self.settings
        loss = finite(devices.total(self.loss).item() / max(1, progress.loss_tokens), progress.step, settings.rate)

        def write_down() -> None:
            val_loss, val_bleu = self.measure()
            self.curves.append({"step": progress.step, "epoch": round(progress.step / self.steps_an_epoch, 3), "tokens": progress.tokens,
                                "seconds": round(progress.seconds, 1), "rate": self.rate(progress.step - 1), "loss": round(loss, 4), "val_loss": round(val_loss, 4),
                                "val_bleu": round(val_bleu, 2)})  # fmt: skip
            self.folder.save_curves(self.curves)
            score = val_bleu if settings.stop_on == "bleu" else -val_loss
            improved = score > progress.best
            progress.best, progress.since_best = max(score, progress.best), 0 if improved else progress.since_best + 1
            if improved and settings.stop_on != "never":
                self.best = {name: master.detach().clone() for name, master in self.optimizer.masters.items()}

        devices.in_first_process_only(write_down)
        self.loss.zero_()
        progress.loss_tokens = 0
        patient = settings.stop_on == "never" or progress.since_best < settings.patience
        (progress.finished,) = devices.agree([not patient], self.device)

    def show_progress(self, bar: tqdm, seconds: float, validated: bool) -> None:
        """Advance the bar or, if there is none, print a line after each epoch and each validation."""
        step = self.progress.step
        if not bar.disable:
            bar.update()
            if validated or step % 20 == 0:
                bar.set_postfix_str(self.measured(self.curves[-1] if self.curves else None), refresh=False)
        elif validated or step % self.steps_an_epoch == 0:
            epoch = f"Epoch {round(step / self.steps_an_epoch, 2):g} of {self.settings.epochs:g}"
            left = tqdm.format_interval(seconds / (step - bar.n) * (self.steps - step))  # bar.n: the first step here
            print(
                f"{epoch}: {self.measured(self.curves[-1] if validated else None)}; {left} left.",
                file=sys.stderr,
                flush=True,
            )

    def measured(self, row: dict | None) -> str:
        """Describe the loss since the last validation, reading which makes a GPU wait, and the BLEU in a row of the curves."""
        tokens = self.progress.loss_tokens
        loss = self.loss.item() / tokens * devices.process_count() if tokens else row["loss"]
        score = f", BLEU {row['val_bleu']:.1f}" if row else ""
        return f"loss {loss:.3f}{score}"

    def measure(self) -> tuple[float, float]:
        """Return the validation set's loss per token, without smoothing, and the BLEU of greedy translations."""
        self.model.eval()
        val, batches = self.corpus.val, self.val_batches
        plain = Objective(self.model, smoothing=0.0)
        with torch.inference_mode():
            losses = [plain(batches.read(places).to(self.device)).item() for places in batches.epoch(0)]
        loss = finite(sum(losses) / int(batches.lengths[:, 1].sum()), self.progress.step, self.settings.rate)
        return loss, bleu(translate(self.model, self.subwords, val.sources, width=1), val.targets).score

    @torch.no_grad()
    def finish(self) -> None:
        """Give the model its final weights, in fp32, and save it: the best if `stop_on` keeps them, else the average, else the last."""
        final = self.best or self.average or self.optimizer.masters
        # A new model, because what a model in bf16 computes once, such as its positions, is in bf16 too.
        self.model = make_model(self.settings.kind, len(self.subwords), self.settings.model).to(self.device).eval()
        for name, parameter in self.model.named_parameters():
            parameter.copy_(final[name])
        about = {"settings": self.settings.to_dict(), **asdict(self.progress)}
        devices.in_first_process_only(
            lambda: self.folder.save_model(self.settings.kind, self.model, self.subwords, about)
        )


def make_batches(pairs: Pairs, subwords: Subwords, settings: Settings, seed: int) -> Batches:
    """Return pairs as batches, encoded in a run's subwords."""
    sources, targets = subwords.encode(pairs.sources), subwords.encode(pairs.targets)
    return Batches(sources, targets, settings.batch_tokens, seed, settings.batches)


def exchange(objective: nn.Module, last: bool):
    """Return a context in which processes exchange gradients only for the last batch of a step, and add up the others."""
    return contextlib.nullcontext() if last or not dist.is_initialized() else objective.no_sync()


@torch.no_grad()
def add_to_average(average: dict, weights: dict, progress: Progress, steps: int, share: float) -> None:
    """Add the weights to the average if the run is in its last part (Vaswani et al. 2017, section 6.1)."""
    first = steps * (1 - share)
    every = max(1, int((steps - first) / AVERAGED))
    if progress.step <= first or (steps - progress.step) % every:
        return
    progress.averaged += 1
    for name, weight in weights.items():
        mean = average.setdefault(name, torch.zeros_like(weight))
        mean.lerp_(weight.detach(), 1 / progress.averaged)


def finite(loss: float, step: int, rate: float) -> float:
    """Return a loss. Raises `RunError` if it is not finite."""
    if not math.isfinite(loss):
        raise RunError(
            f"the loss is not a finite number any more at step {step}: start anew with a lower rate than {rate}"
        )
    return loss


@contextlib.contextmanager
def _stop_signal():
    """Yield an event that the first Ctrl-C or SIGTERM sets, without interrupting a step; a second one interrupts it.

    One of several processes hears a Ctrl-C twice: from the terminal, and from the process that started it.
    """
    stop, heard, echo = threading.Event(), 0.0, 1.0 if "RANK" in os.environ else 0.0  # seconds
    if threading.current_thread() is not threading.main_thread():
        yield stop  # only the main thread receives signals
        return

    def hear(number, frame):
        nonlocal heard
        if not stop.is_set():
            heard = time.monotonic()
            stop.set()
        elif time.monotonic() - heard >= echo:
            signal.signal(number, before[number])
            signal.raise_signal(number)

    before = {number: signal.signal(number, hear) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
