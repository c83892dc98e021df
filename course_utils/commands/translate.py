"""`course translate`: lines in, translated lines out, and below each, if asked, what attended to what.

The translations themselves come from `translation.translate`. Heavy packages such as PyTorch are imported where they are used.
"""

import itertools
import sys
from bisect import bisect_right
from pathlib import Path

from course_utils.base.errors import CourseError
from course_utils.base.files import replacing
from course_utils.base.sanitise import one_line
from course_utils.commands._arguments import add_device, add_search

WORDS = 'Translate lines of text with a trained model, as in: echo "Two dogs play in the snow." | course translate'
CHUNK = 256  # lines translated together, so that a batch has lines of similar length
COLUMNS = 100  # of a terminal
LONGEST_LABEL = 24
WARNED = 3  # lines of a file with warnings that are printed; of the others, only the numbers are
RANGES = 10  # of line numbers, at most
SHADES, FROM = " ░▒▓█", (0.05, 0.25, 0.5, 0.75)  # the first shade from 5% of the attention, and so on
LEARNED = (
    "This model has learned from 29,000 captions of photographs: it translates captions well, and any other text badly. "
    "Each line is translated by itself: paste a text without line breaks inside its sentences."
)
LEGEND = "Attention, rows: words of the translation, columns: words of the source; ░ from 5 %, ▒ 25 %, ▓ 50 %, █ 75 %."


def add_arguments(parser) -> None:
    """Add the file, the model and its search, --show and --picture."""
    parser.add_argument("file", nargs="?", metavar="FILE", help="of UTF-8 lines; what is typed or piped if left out")
    add_search(parser)
    parser.add_argument("--show", action="store_true", help="draw under each translation what attended to what")
    parser.add_argument("--picture", metavar="FILE", help="draw that for the first line, into a .png or .svg")
    add_device(parser)


def run(options) -> int:
    """Translate line by line; an empty line stays empty."""
    if options.picture and Path(options.picture).suffix.lower() not in (".png", ".svg"):
        raise CourseError(f"--picture expects a file that ends in .png or .svg, not {options.picture!r}")
    from course_utils.commands._trained import lines as lines_of
    from course_utils.commands._trained import load
    from course_utils.translation.out_of_vocabulary import in_small_letters, small_start, straight, warnings_of
    from course_utils.translation.translate import align

    model, subwords, settings = load(options)
    if (options.show or options.picture) and not _has_attention(model):
        raise CourseError("this model has no attention to draw: leave out --show and --picture, or name one that has")
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8")  # like the input, even when Windows writes to a file
    search = {"width": options.width, "alpha": options.alpha}
    picture, lines = options.picture, lines_of(options.file)
    doubtful, refused = [], []  # the numbers of lines with warnings, and of lines that the model could not translate
    source, _, language = str(settings.get("pair")).partition("-")
    knows_captions = settings.get("data") == "multi30k" and source == "en" and language in ("de", "fr")
    one_by_one = options.show or (options.file is None and sys.stdin.isatty())
    if knows_captions:
        lines = (small_start(straight(text), subwords) for text in lines)
        if one_by_one:
            print(LEARNED, file=sys.stderr)
    if options.show:
        print(LEGEND, file=sys.stderr)
    translated = _translated(model, subwords, lines, 1 if one_by_one else CHUNK, search)
    for number, (text, translation) in enumerate(translated, 1):
        print(one_line(translation or ""), flush=True)
        if translation is None:
            refused.append(number)
            continue
        if knows_captions and (warnings := warnings_of(text, translation, language)):
            doubtful.append(number)
            if one_by_one or len(doubtful) <= WARNED:
                print(*(f"line {number}: {warning}" for warning in warnings), sep="\n", file=sys.stderr)
                if (small := in_small_letters(text)) != text:
                    print(f"Try: {small}", file=sys.stderr)
        if text and (options.show or picture):
            alignment = align(model, subwords, text, **search)
            if options.show:
                print(draw(alignment), end="\n\n", flush=True)
            if picture:
                save_picture(alignment, picture)
                picture = None
    if not one_by_one and (further := doubtful[WARNED:]):
        print(f"Further lines with such warnings: {_in_ranges(further)}.", file=sys.stderr)
    if refused and not one_by_one:
        raise CourseError(f"not translated, and empty in the output: line {_in_ranges(refused)}")
    if picture:
        raise CourseError(f"{picture} was not drawn: expected a line with words, and none came")
    return 0


def _in_ranges(numbers):
    """Return ascending whole numbers as text: "4, 7-16 and 20 more"."""
    ranges = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    shown = [f"{first:,}" if first == last else f"{first:,}-{last:,}" for first, last in ranges[:RANGES]]
    left = sum(last - first + 1 for first, last in ranges[RANGES:])
    return ", ".join(shown) + (f" and {left:,} more" if left else "")


def _has_attention(model):
    import torch

    from course_utils.data.subwords import BOS, EOS

    one = torch.tensor([[EOS]], device=next(model.parameters()).device)
    with torch.inference_mode():
        return model.attention(one, torch.full_like(one, BOS)) is not None


def _translated(model, subwords, lines, together, search):
    """Yield each line with its translation; with None, after printing why, if it has none, such as a line that is too long."""
    from course_utils.translation.translate import translate

    first = 1
    while texts := list(itertools.islice(lines, together)):
        try:
            yield from zip(texts, translate(model, subwords, texts, **search), strict=True)
        except CourseError:
            for number, text in enumerate(texts, first):
                try:
                    yield text, *translate(model, subwords, [text], **search)
                except CourseError as error:
                    print(f"line {number}: {error}", file=sys.stderr)
                    yield text, None
        first += together


def draw(alignment, columns: int = COLUMNS) -> str:
    """Return an alignment as text: a row for each target word, a column two characters wide for each source word.

    The source's words are on steps above their columns; a source too wide for `columns` continues in another block.
    """
    source, target = ([_cut(one_line(word)) for word in side] for side in alignment[:2])
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


def save_picture(alignment, file: str) -> None:
    """Write an alignment as an image, in the format that the file's name ends in."""
    import matplotlib

    matplotlib.use("Agg")  # draws into files and needs no screen
    import matplotlib.pyplot as plt

    from course_utils.figures import plots

    if alignment.weights is None:
        raise CourseError(f"{file} was not drawn: the translation of the first line has no words")
    # A dollar sign would begin a formula.
    source, target = ([one_line(word).replace("$", r"\$") for word in side] for side in alignment[:2])
    plots.weights(
        alignment.weights, keys=source, queries=target, xlabel="keys: source words", ylabel="queries: target words"
    )
    title = one_line(f"Attention from “{' '.join(alignment.target)}” to “{' '.join(alignment.source)}”")
    with replacing(Path(file)) as draft:
        plt.savefig(draft, format=Path(file).suffix[1:].lower(), metadata={"Title": title})
    plt.close()
