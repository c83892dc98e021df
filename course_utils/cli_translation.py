"""What `course translate` and `course evaluate` do and say: lines in, lines out, alignments drawn, scores.

Here: what a person at the keyboard sees. Not here: reading arguments and catching errors (`cli.py`); the translations, the
alignments and the scores themselves (`translate.py`). Whatever is wrong is a `ValueError` of one sentence.
"""

import contextlib
import itertools
import json
import sys
import time
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path

import torch

from course_utils import models, training
from course_utils import translate as translation
from course_utils.cli_training import RUNS, how_to_resume, threads
from course_utils.data.subwords import BOS, EOS
from course_utils.training import device as devices
from course_utils.training.run_folder import describe_environment

DEFAULT_MODEL = "transformer-en-de"
FIRST_TEST = {"world": "test", "multi30k": "test_2016_flickr"}
CHUNK = 256  # lines translated together, so that a batch has lines of like length
COLUMNS = 100  # of a terminal
LONGEST_LABEL = 24
SHADES, FROM = " ░▒▓█", (0.05, 0.25, 0.5, 0.75)  # the first shade from 5 % of the attention on, and so on
LEGEND = "Attention, rows: words of the translation, columns: words of the source; ░ from 5 %, ▒ 25 %, ▓ 50 %, █ 75 %."


# --- models and lines
def _load(options) -> tuple:
    """Return the model and subwords that the options name, on their device, and the settings it was trained with."""
    if options.threads:
        torch.set_num_threads(options.threads)
    device, folder = devices.choose_device(options.device), _model_folder(options.model)
    model, subwords = models.load_model(folder)
    about = json.loads((folder / "model.json").read_text(encoding="utf-8")).get("about", {})
    return model.to(device), subwords, about.get("settings", {})


def _model_folder(name: str | None) -> Path:
    """Return the folder of a model of the course, or of a run; without a name that of DEFAULT_MODEL."""
    shipped = models.pretrained_names()
    if (name or DEFAULT_MODEL) in shipped:
        return models.PRETRAINED / (name or DEFAULT_MODEL)
    folder = Path(name or DEFAULT_MODEL)
    if name and folder.is_dir():
        if (folder / "settings.json").exists() and not (folder / "model.json").exists():
            raise ValueError(
                f"the run in {folder} has not come to its end, so has no model yet: {how_to_resume(folder)}"
            )
        return folder
    known = shipped + sorted(path.parent.as_posix() for path in RUNS.glob("*/model.json"))
    advice = f"name one of {', '.join(known)} with --model" if known else "train one with `course train transformer`"
    came = f"there is no model {name!r}, neither a folder nor one of the course" if name else "no model was named"
    raise ValueError(f"{came}: {advice}")


def _lines(name: str | None) -> Iterator[str]:
    """Give the lines of a file or of standard input, words separated by single spaces."""
    terminal = name is None and sys.stdin.isatty()
    if terminal:
        print("A sentence and Enter, please; Ctrl-D ends.", file=sys.stderr)
    with open(name, "rb") if name else contextlib.nullcontext(sys.stdin.buffer) as file:
        for number in itertools.count(1):
            if terminal:
                print("> ", end="", file=sys.stderr, flush=True)
            if not (line := file.readline()):
                break
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError:
                place = name or "standard input"
                raise ValueError(f"line {number} of {place} is not UTF-8 text: save it as UTF-8") from None
            yield " ".join(text.split())
    if terminal:
        print(file=sys.stderr)


# --- course translate
def translate(options) -> int:
    """Translate line by line; an empty line stays empty."""
    if options.picture and Path(options.picture).suffix.lower() not in (".png", ".svg"):
        raise ValueError(f"--picture expects a file that ends in .png or .svg, not {options.picture!r}")
    model, subwords, _ = _load(options)
    if (options.show or options.picture) and not _has_attention(model):
        raise ValueError("this model has no attention to draw: leave out --show and --picture, or name one that has")
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8")  # as the input is, also where Windows writes to a file
    search = {"width": options.width, "alpha": options.alpha}
    picture, number, lines = options.picture, 0, _lines(options.file)
    one_by_one = options.show or (options.file is None and sys.stdin.isatty())
    if options.show:
        print(LEGEND, file=sys.stderr)
    while texts := list(itertools.islice(lines, 1 if one_by_one else CHUNK)):
        for text, translated in zip(texts, _translations(model, subwords, texts, number + 1, search), strict=True):
            print(translated)
            number += 1
            if text and (options.show or picture):
                alignment = translation.align(model, subwords, text, **search)
                if options.show:
                    print(draw(alignment), end="\n\n")
                if picture:
                    picture = save_picture(alignment, picture)
        sys.stdout.flush()
    if picture:
        raise ValueError(f"{picture} was not drawn: expected a line with words, and none came")
    return 0


def _has_attention(model) -> bool:
    one = torch.tensor([[EOS]], device=next(model.parameters()).device)
    with torch.inference_mode():
        return model.attention(one, torch.full_like(one, BOS)) is not None


def _translations(model, subwords, texts: list[str], first: int, search: dict) -> Iterator[str]:
    """Give the translation of each text; where one can't be had, those before it, and then say which line it is."""
    try:
        yield from translation.translate(model, subwords, texts, **search)
    except ValueError:
        for number, text in enumerate(texts, first):
            try:
                (translated,) = translation.translate(model, subwords, [text], **search)
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from None
            yield translated


def draw(alignment: translation.Alignment, columns: int = COLUMNS) -> str:
    """Return an alignment as text: a row for each target word, a column two characters wide for each source word.

    The source's words stand on steps above their columns; a source too wide for `columns` goes on in a further block.
    """
    source, target = ([_cut(word) for word in side] for side in alignment[:2])
    if alignment.weights is None:
        return ""
    margin = max(map(len, target)) + 1
    fit = max(1, (columns - margin - max(map(len, source))) // 2 + 1)  # the last column has its word beside it
    blocks = []
    for start in range(0, len(source), fit):
        words, weights = source[start : start + fit], alignment.weights[:, start : start + fit]
        steps = [" " * margin + "│ " * i + word for i, word in enumerate(words)]
        rows = [
            f"{word:{margin}}" + "".join(2 * SHADES[bisect_right(FROM, weight)] for weight in row)
            for word, row in zip(target, weights.tolist(), strict=True)
        ]
        blocks.append("\n".join(line.rstrip() for line in steps + rows))
    return "\n\n".join(blocks)


def _cut(word: str) -> str:
    return word if len(word) <= LONGEST_LABEL else f"{word[: LONGEST_LABEL - 1]}…"


def save_picture(alignment: translation.Alignment, file: str) -> None:
    """Write an alignment as an image, in the format that the file's name ends in."""
    import matplotlib

    matplotlib.use("Agg")  # draws into files, and needs no screen
    import matplotlib.pyplot as plt

    from course_utils import plots

    if alignment.weights is None:
        raise ValueError(f"{file} was not drawn: the translation of the first line has no words")
    # A dollar sign would begin a formula.
    source, target = ([word.replace("$", r"\$") for word in side] for side in alignment[:2])
    plots.weights(
        alignment.weights, keys=source, queries=target, xlabel="keys: source words", ylabel="queries: target words"
    )
    plt.savefig(
        file, metadata={"Title": f"Attention from “{' '.join(alignment.target)}” to “{' '.join(alignment.source)}”"}
    )
    plt.close()


# --- course evaluate
def evaluate(options) -> int:
    """Measure translations of whole splits: BLEU, chrF, and in the world, whose truth is known, what is exactly right."""
    loaded = _load(options) if options.model or not options.hypotheses else None
    settings = _evaluated(options, loaded[2] if loaded else {})
    splits = options.split or [FIRST_TEST[settings.data]]
    if len(splits) > 1 and (options.hypotheses or options.output):
        raise ValueError(f"--hypotheses and --output are files of one split, not of {len(splits)}: name one split")
    for split in splits:
        pairs = training.load_pairs(settings, split)
        print(f"{split}: {len(pairs):,} sentences", flush=True)
        with open(options.output, "w", encoding="utf-8") if options.output else contextlib.nullcontext() as output:
            if options.hypotheses:
                translations = _hypotheses(options.hypotheses, split, len(pairs))
            else:
                translations = _timed(loaded, pairs, options)
            if output:
                output.writelines(f"{line}\n" for line in translations)
        for name, score in (("BLEU", translation.bleu), ("chrF", translation.chrf)):
            found = score(translations, pairs.targets)
            print(f"  {name} {found.score:.2f}  {found.signature}")
        if settings.data == "world":
            _compare_with_truth(loaded, pairs, translations, options)
    return 0


def _evaluated(options, trained: dict) -> training.Settings:
    """Return the data to measure on: what the options name, else what the model was trained on."""
    values = {name: trained[name] for name in ("data", "pair", "world") if name in trained} or {"data": "multi30k"}
    named = {name: getattr(options, name) for name in ("data", "pair") if getattr(options, name)}
    return training.make_settings(values | named)


def _timed(loaded: tuple, pairs, options) -> list[str]:
    """Translate the sources of pairs and say how long it took on what."""
    model, subwords, _ = loaded
    start = time.process_time()
    translations = translation.translate(model, subwords, pairs.sources, options.width, options.alpha)
    seconds = time.process_time() - start
    environment = describe_environment(next(model.parameters()).device, torch.float32)
    place = environment["gpu"] or f"{environment['cpu']}, {threads()}"
    print(f"  {seconds:.1f} s of CPU time, width {options.width}, alpha {options.alpha:g}; {place}")
    return translations


def _hypotheses(file: str, split: str, number: int) -> list[str]:
    lines = list(_lines(file))
    if len(lines) != number:
        raise ValueError(f"{file} has {len(lines):,} lines, and {split} {number:,} sentences: give one line for each")
    return lines


def _compare_with_truth(loaded: tuple | None, pairs, translations: list[str], options) -> None:
    sentences, words = translation.exact_shares(translations, pairs.targets)
    print(f"  exactly right: {100 * sentences:.1f} % of the sentences, {100 * words:.1f} % of the words")
    if loaded is None or options.hypotheses:
        return
    # With the right translation given, as it is the one that the links are about.
    weights = [found.weights for found in translation.align_pairs(*loaded[:2], pairs.sources, pairs.targets)]
    if weights[0] is not None:
        rate = translation.alignment_error_rate(weights, pairs.alignments)
        print(f"  alignment error rate {rate:.3f}: attention to a given translation against the links of the world")
