"""How translation models are trained: settings, batches, loss, optimizer, the loop, a run's folder."""

from course_utils.training.corpus import Corpus, load_corpus, load_pairs
from course_utils.training.loop import Trainer, train
from course_utils.training.loss import smoothed_loss
from course_utils.training.run_folder import RunError, RunFolder
from course_utils.training.settings import Settings, load_preset, make_settings, preset_names

__all__ = [
    "Corpus",
    "RunError",
    "RunFolder",
    "Settings",
    "Trainer",
    "load_corpus",
    "load_pairs",
    "load_preset",
    "make_settings",
    "preset_names",
    "smoothed_loss",
    "train",
]
