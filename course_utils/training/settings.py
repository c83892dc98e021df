"""The settings of a run: their defaults, their checks, and the presets that name some.

Here: `Settings` and how it is read from presets and the command line. Not here: what the settings do (`loop.py`).
A preset is a short TOML file in `presets/`, named after the kind of model and what it is for.
"""

import dataclasses
import difflib
import inspect
import math
from dataclasses import dataclass, field
from pathlib import Path

from course_utils.base.environment import tomllib
from course_utils.base.errors import CourseError
from course_utils.base.words import did_you_mean
from course_utils.data.world import generate_translations

PRESETS = Path(__file__).parent / "presets"
OPTIMIZERS = ("adamw", "muon", "sgd")
BATCHES = ("tokens", "sentences")
SCHEDULES = ("linear", "paper")
KINDS = ("seq2seq", "attention", "transformer")
DATA = ("world", "multi30k")
TABLES = ("model", "world")  # the settings with settings of their own
PAIRS = 20_000  # of the generated world to train on, unless its setting `pairs` says otherwise


@dataclass(frozen=True)
class Settings:
    """Everything that decides what a run computes. The same settings give the same run on the same machine."""

    kind: str = "transformer"  # of model: one of KINDS
    data: str = "world"  # one of DATA
    pair: str = "en-de"  # source and target language of Multi30k; the world has its own two languages
    world: dict = field(default_factory=dict)  # how the world is made: pairs, and arguments of generate_translations
    vocabulary: int = 4000  # subwords of both languages together; the world's words are counted, not chosen
    model: dict = field(default_factory=dict)  # arguments of the model
    batch_tokens: int = 2048  # the most tokens on either side of a batch, padding included
    batches: str = "tokens"  # of similar length; or "sentences": as many batches, of equally many in random order
    accumulate: int = 1  # batches a process adds up before a step
    epochs: float = 1.0
    optimizer: str = "adamw"  # or "muon": learns more from each token, but takes somewhat longer; or "sgd"
    rate: float = 2e-3  # the peak of the learning rate
    schedule: str = "linear"  # after the warm-up: "linear" down to 0, or the "paper"'s inverse square root
    warmup: float = 0.05  # share of all steps
    betas: tuple[float, float] = (0.9, 0.98)  # of AdamW, as in Vaswani et al. 2017, section 5.3
    weight_decay: float = 0.0
    clip: float = 1.0  # the largest norm of the gradient
    smoothing: float = 0.1  # of the labels
    r_drop: float = 0.0  # how much two passes with different dropout must agree; 0 for one pass
    average: float = 0.0  # the share of steps, the last ones, averaged into the model; stop_on takes precedence
    precision: str = "auto"  # "fp32", "bf16", or "auto": bf16 if the device is faster in it
    compile: bool = False  # the model's code by torch.compile: faster on a GPU, after a minute at the start
    validate: float = 1.0  # epochs between validations
    stop_on: str = "never"  # "loss" or "bleu": stop when it has not improved in `patience` validations
    patience: int = 3
    seed: int = 0

    def __post_init__(self):
        for name, allowed in (("kind", KINDS), ("data", DATA), ("schedule", SCHEDULES), ("optimizer", OPTIMIZERS), ("batches", BATCHES),
                              ("precision", ("auto", "fp32", "bf16")), ("stop_on", ("never", "loss", "bleu"))):  # fmt: skip
            _check_is_one_of(name, getattr(self, name), allowed)
        for name in ("batch_tokens", "accumulate", "epochs", "rate", "clip", "validate", "patience"):
            if not getattr(self, name) > 0:
                raise CourseError(f"{name} must be more than 0, not {getattr(self, name)}")
        for name in ("warmup", "smoothing", "average"):
            if not 0 <= getattr(self, name) < 1:
                raise CourseError(f"{name} must be at least 0 and less than 1, not {getattr(self, name)}")
        if not all(0 <= beta < 1 for beta in self.betas):
            raise CourseError(f"betas must be at least 0 and less than 1, not {self.betas}")
        for name in ("weight_decay", "r_drop"):
            if not getattr(self, name) >= 0:
                raise CourseError(f"{name} must be at least 0, not {getattr(self, name)}")
        if not (math.isfinite(self.epochs) and math.isfinite(self.validate)):
            raise CourseError(f"epochs and validate must be finite, not {self.epochs} and {self.validate}")
        if not 0 <= self.seed < 2**32:
            raise CourseError(f"seed must be at least 0 and less than 2^32, not {self.seed}")

    def to_dict(self) -> dict:
        """Return the settings in a form that JSON can hold."""
        return dataclasses.asdict(self) | {"betas": list(self.betas)}


def preset_names(kind: str) -> list[str]:
    """Return the names of the presets for a kind of model."""
    return sorted(path.stem.removeprefix(f"{kind}-") for path in PRESETS.glob(f"{kind}-*.toml"))


def load_preset(kind: str, name: str) -> dict:
    """Return the settings of a preset, to be changed and given to `make_settings`. Raises `CourseError` for an unknown name."""
    _check_is_one_of("kind", kind, KINDS)  # not a GPT
    if name not in (known := preset_names(kind)):
        meant = did_you_mean(name, known)
        raise CourseError(f"there is no preset {name!r} for {kind}{meant}: name one of {', '.join(known)}")
    return tomllib.loads((PRESETS / f"{kind}-{name}.toml").read_text(encoding="utf-8"))


def make_settings(values: dict) -> Settings:
    """Return checked settings from a dict as TOML or JSON gives it. Raises `CourseError` for unknown names and wrong types."""
    defaults = setting_defaults(values.get("kind", Settings.kind))
    read = {name: _read(name, value, defaults) for name, value in values.items()}
    for table in {*TABLES} & {*read}:
        read[table] = {name: _read(f"{table}.{name}", value, defaults) for name, value in read[table].items()}
    return Settings(**read)


def setting_defaults(kind: str) -> dict:
    """Return {name: default} of all settings for a kind of model, by names such as "rate", "model.width" and "world.order".

    Raises `CourseError` for an unknown kind.
    """
    from course_utils.models.serialization import model_options

    _check_is_one_of("kind", kind, KINDS)  # not a GPT
    world = inspect.signature(generate_translations).parameters.values()
    of_world = {"pairs": PAIRS} | {each.name: each.default for each in world if each.kind is each.KEYWORD_ONLY}
    tables = {"model": model_options(kind), "world": of_world}
    own = {f"{table}.{name}": default for table, options in tables.items() for name, default in options.items()}
    return vars(Settings()) | own


def _check_is_one_of(name, value, allowed):
    if value not in allowed:
        meant = did_you_mean(str(value), allowed)
        raise CourseError(f"{name} must be one of {', '.join(allowed)}, not {value!r}{meant}")


def _read(name, value, defaults):
    """Return a setting's value as one of its default's type."""
    if name not in defaults:
        raise _unknown(name, defaults)
    default = defaults[name]
    wanted = type(default)
    if wanted is float and type(value) is int:
        return float(value)
    if wanted is tuple and isinstance(value, list | tuple) and [type(x) in (int, float) for x in value] == [True] * 2:
        return tuple(map(float, value))
    if wanted is not tuple and type(value) is wanted:
        return value
    expected = {
        bool: "true or false",
        dict: "a table, of which you name one setting at a time, such as model.width=64 or world.order=reversed",
        float: f"a number such as {default}",
        int: f"a whole number such as {default}",
        str: f"a word such as {default}",
        tuple: "two numbers such as [0.9, 0.98]",
    }
    raise CourseError(f"the setting {name} must be {expected[wanted]}, not {value!r}")


def _unknown(name, defaults):
    """Return what to raise for a name that no setting has: it says which is probably meant, and lists them."""
    table, _, last = name.rpartition(".")
    ends = {known.rpartition(".")[2]: known for known in reversed(defaults)}
    like = [last] if last in ends else difflib.get_close_matches(last, ends, 1)
    meant = f" (perhaps {ends[like[0]]} is meant)" if like else ""
    known = [each for each in defaults if each.rpartition(".")[0] == (table if table in TABLES else "")]
    return CourseError(f"there is no setting {name!r}{meant}: the settings are {', '.join(known)}")
