"""Put a trained model into the course: half precision, checksum, curves, and a card that says how good it is.

    python benchmarks/pretrained.py transformer-en-de RUN [RUN ...]

The runs differ in their seed alone. The one with the best BLEU on the validation set ships; the card gives its scores on
the three test sets, and mean, least and most over all runs. Decoding: beam 5, the length penalty's exponent chosen on
the validation set of the first run.
"""

import argparse
import json
import re
import statistics
import tempfile
from pathlib import Path

import torch

from course_utils.base.files import write
from course_utils.base.paths import PRETRAINED
from course_utils.models.serialization import load_model, save_model
from course_utils.training.corpus import load_pairs
from course_utils.training.settings import make_settings
from course_utils.translation.scores import bleu, chrf
from course_utils.translation.translate import translate

TESTS = ("test_2016_flickr", "test_2017_flickr", "test_2017_mscoco")
ALPHAS = (0.6, 1.0, 1.2, 1.4)
DATA = """Multi30k, task 1, raw text (Elliott et al. 2016): 29,000 training pairs, 1,014 for validation. The data set states no licence.
Its English captions are those of Flickr30k, which is offered for research and teaching; the {language} ones were written by translators.
Take the weights as you would the data: for research and teaching."""


def scored(folder, split, alpha):
    """Return BLEU and chrF of a model in half precision on a split."""
    model, subwords = load_model(folder)
    settings = make_settings(json.loads((folder / "model.json").read_text(encoding="utf-8"))["about"]["settings"])
    pairs = load_pairs(settings, split)
    with tempfile.TemporaryDirectory() as half:
        save_model(Path(half), settings.kind, model, subwords, {}, torch.float16)
        translations = translate(*load_model(half), pairs.sources, width=5, alpha=alpha)
    return bleu(translations, pairs.targets), chrf(translations, pairs.targets)


def spread(values):
    return f"{statistics.mean(values):.1f} ({min(values):.1f}-{max(values):.1f})"


def card(name, card, alpha, table, shipped, runs, note):
    """Return the model card as Markdown."""
    about = card["about"]
    settings, environment = about["settings"], about["environment"]
    model = ", ".join(f"{key} {value}" for key, value in card["config"].items())
    machine = environment["gpu"] or f"{environment['threads']} thread(s) of a CPU ({environment['cpu']})"
    rows = [
        f"| {split} | {table[split][shipped][0].score:.1f} | {spread([b.score for b, _ in table[split]])} "
        f"| {table[split][shipped][1].score:.1f} | {spread([c.score for _, c in table[split]])} |"
        for split in ("val", *TESTS)
    ]
    return f"""# {name}

A model of kind `{settings["kind"]}` that translates captions of photos, {settings["pair"]}: `load_pretrained("{name}")`. For lessons, whose
learners look into it; it has seen nothing but captions of photos, and translates nothing else well.

- **Made of**: {model}.
- **Trained on**: {DATA.format(language={"de": "German", "fr": "French"}[settings["pair"][-2:]])}
- **Command**: `{environment["command"]}`
- **Machine**: {machine}, {environment["precision"]}, torch {environment["torch"]}, Python {environment["python"]}; {about["seconds"] / 60:.1f} minutes
  of wall-clock time{note and f" ({note})"}, {about["tokens"]:,} target tokens, {about["step"]:,} steps. Curves: `curves.csv`.
- **Weights**: half precision, safetensors, SHA-256 `{card["sha256"]}`.

Beam 5, length penalty α = {alpha} (chosen on the validation set). Seeds: {runs}; the weights that ship are those of the best on the
validation set.

| set | BLEU | over seeds | chrF | over seeds |
| --- | --- | --- | --- | --- |
{chr(10).join(rows)}

sacrebleu signatures: BLEU `{table["val"][0][0].signature}`, chrF `{table["val"][0][1].signature}`.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("name")
    parser.add_argument("--note", default="", help="about the machine, such as: it did other work at the same time")
    parser.add_argument("runs", nargs="+", type=Path)
    options = parser.parse_args()
    by_alpha = {alpha: scored(options.runs[0], "val", alpha)[0].score for alpha in ALPHAS}
    alpha = max(by_alpha, key=by_alpha.get)
    print("validation BLEU by alpha:", {a: round(b, 2) for a, b in by_alpha.items()}, flush=True)
    table = {split: [scored(run, split, alpha) for run in options.runs] for split in ("val", *TESTS)}
    shipped = max(range(len(options.runs)), key=lambda i: table["val"][i][0].score)
    run, target = options.runs[shipped], PRETRAINED / options.name
    about = json.loads((run / "model.json").read_text(encoding="utf-8"))["about"] | {"alpha": alpha}
    # Where the run lay on its machine says nothing to others.
    about["environment"]["command"] = re.sub(r" --run \S+", "", about["environment"]["command"])
    model, subwords = load_model(run)
    save_model(target, about["settings"]["kind"], model, subwords, about, torch.float16)
    write(target / "curves.csv", (run / "curves.csv").read_bytes())
    seeds = ", ".join(str(json.loads((r / "settings.json").read_text(encoding="utf-8"))["seed"]) for r in options.runs)
    written = json.loads((target / "model.json").read_text(encoding="utf-8"))
    text = card(options.name, written, alpha, table, shipped, seeds, options.note)
    write(target / "README.md", text.encode())
    print(text)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
