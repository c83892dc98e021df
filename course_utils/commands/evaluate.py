"""`course evaluate`: BLEU and chrF of whole splits, and how far translations and attention are from a known truth.

The scores themselves are in `translation.scores`. Heavy packages such as PyTorch are imported where they are used.
"""

import contextlib
import time

from course_utils.base.errors import CourseError
from course_utils.base.sanitise import one_line
from course_utils.commands._arguments import add_device, add_search, threads

WORDS = "Measure how well a model translates, with BLEU and chrF."
FIRST_TEST = {"world": "test", "multi30k": "test_2016_flickr"}


def add_arguments(parser) -> None:
    """Add the model and its search, the data and its splits, --hypotheses and --output."""
    add_search(parser)
    parser.add_argument("--data", help="world or multi30k; what the model was trained on if left out")
    parser.add_argument("--pair", help="languages of Multi30k; the model's if left out")
    parser.add_argument("--split", nargs="+", help="such as val, test_2017_flickr; the first test if left out")
    parser.add_argument("--hypotheses", metavar="FILE", help="measure these lines instead of a model's translations")
    parser.add_argument("--output", metavar="FILE", help="write the translations")
    add_device(parser)


def run(options) -> int:
    """Measure translations of whole splits: BLEU, chrF and, for the generated world, whose truth is known, what is exactly right."""
    from course_utils.commands._trained import load
    from course_utils.training.corpus import load_pairs
    from course_utils.translation.scores import bleu, chrf

    loaded = load(options) if options.model or not options.hypotheses else None
    settings = _evaluated(options, loaded[2] if loaded else {})
    splits = options.split or [FIRST_TEST[settings.data]]
    if len(splits) > 1 and (options.hypotheses or options.output):
        raise CourseError(f"--hypotheses and --output are files of one split, not of {len(splits)}: name one split")
    for split in splits:
        pairs = load_pairs(settings, split)
        print(f"{split}: {len(pairs):,} sentences", flush=True)
        with open(options.output, "w", encoding="utf-8") if options.output else contextlib.nullcontext() as output:
            if options.hypotheses:
                translations = _hypotheses(options.hypotheses, split, len(pairs))
            else:
                translations = _timed(loaded, pairs, options)
            if output:
                output.writelines(f"{line}\n" for line in translations)
        for name, score in (("BLEU", bleu), ("chrF", chrf)):
            found = score(translations, pairs.targets)
            print(f"  {name} {found.score:.2f}  {found.signature}")
        if settings.data == "world":
            _compare_with_truth(loaded, pairs, translations, options)
    return 0


def _evaluated(options, trained):
    """Return the data to measure on: what the options name, else what the model was trained on."""
    from course_utils.training.settings import make_settings

    values = {name: trained[name] for name in ("data", "pair", "world") if name in trained} or {"data": "multi30k"}
    named = {name: getattr(options, name) for name in ("data", "pair") if getattr(options, name)}
    return make_settings(values | named)


def _timed(loaded, pairs, options):
    """Translate the sources of pairs and print the time and the device."""
    import torch

    from course_utils.training.run_folder import describe_environment
    from course_utils.translation.translate import translate

    model, subwords, _ = loaded
    start = time.process_time()
    translations = [*map(one_line, translate(model, subwords, pairs.sources, options.width, options.alpha))]
    seconds = time.process_time() - start
    environment = describe_environment(next(model.parameters()).device, torch.float32)
    place = environment["gpu"] or f"{environment['cpu']}, {threads()}"
    print(f"  {seconds:.1f} s of CPU time, width {options.width}, alpha {options.alpha:g}; {place}")
    return translations


def _hypotheses(file, split, number):
    from course_utils.commands._trained import lines as lines_of

    lines = list(lines_of(file))
    if len(lines) != number:
        raise CourseError(f"{file} has {len(lines):,} lines, and {split} {number:,} sentences: give one line for each")
    return lines


def _compare_with_truth(loaded, pairs, translations, options):
    from course_utils.translation.scores import alignment_error_rate, exact_shares
    from course_utils.translation.translate import align_pairs

    sentences, words = exact_shares(translations, pairs.targets)
    print(f"  exactly right: {100 * sentences:.1f} % of the sentences, {100 * words:.1f} % of the words")
    if loaded is None or options.hypotheses:
        return
    # Given the reference translation, since the links are to its words.
    weights = [found.weights for found in align_pairs(*loaded[:2], pairs.sources, pairs.targets)]
    if weights[0] is not None:
        rate = alignment_error_rate(weights, pairs.alignments)
        print(f"  alignment error rate {rate:.3f}: attention to a given translation against the links of the world")
