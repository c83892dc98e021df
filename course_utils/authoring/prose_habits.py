"""Phrases that copy editors marked again and again in the course's English, each with what a native writer would write.

A program cannot tell whether one of them is a fault ("stands for" is not), so what counts is how many a text has in 1,000 words. Only a
reader notices sentences that are merely clumsy. Measures of code and of pages are in `lint.py`.
"""

import re

MOST = 2.5  # in 1,000 words
FEW = 4  # a short text may have this many whatever its length
SHOWN = 8
LAYERS = "layer|head|weight|score|mechanism|map|pattern|model|function|matrix|step"
RUNS = "run|set|step|loop|example|sentence|story|batch|loss|text|epoch"
OTHERS = "seed|way|score|state|order|word|number|kind|place|rate|machine|model"
VERBS = "see|train|compare|choose|measure|add|take|use|let|ask|count|look"
NO_VERBS = "its|this|as|axis|less|thus|always|perhaps|others|words|rows|weights|models|scores|columns|heads"
HABITS = {  # pattern -> what to write
    r"\bin place of\b": "instead of",
    r"\b(?:stands?|stood|standing)\b(?! for\b)": "is, or a verb of its own",
    r"\b(?:comes? out|brings?|brought)\b": "a verb that says what happens: gives, results in, is",
    rf"\b(?:an|one|each|every|another|this|that) attention\b(?! (?:{LAYERS}))|\battentions\b": "attention, an attention layer or head",
    rf"\b(?:a|one|each|another|second) training\b(?! (?:{RUNS}))|\btrainings\b": "a training run",
    r"\ba (?:right|wrong)\b": "a correct, an incorrect; or a verb",
    rf"\banother (?:{OTHERS})\b": "a different",
    r"\b(?:this|it|that) is so\b": "this holds",
    r", too\b": "also, as well",
    r"(?:(?<=[.?!:] )|(?<=\n)|^)So\b": "because, which, therefore, or no connective",
    r"\b(?:that|those) of\b": "the noun again",
    r"\b(?:how|as) far\b": "what it measures: how long, how much, up to which",
    r"\bthe course (?:has|trains|trained|gives)\b": "we have, we train",
    r"\d %": "no space before %",
    r"\bet al\.? \d{4}": "et al. (2014), and in brackets: et al., 2014",
    rf", and (?:then )?(?!(?:{NO_VERBS}) )(?:[a-z]+s|{VERBS}) ": "no comma before a second verb of the same subject",
    r"\bturn(?:s|ed)? (?:it |them |all signs )?round\b": "reverse, invert",
    r", also\b": "including, or a sentence of its own",
    r"(?:(?<=[.?!] )|^)(?:Further|Besides|Thereby|Therein|Herewith)\b": "also, or no connective",
}


def too_many_habits(pieces: list[tuple[int, str]]) -> str:
    """Return a sentence that quotes the first of these phrases if a text has more of them than a good page; else "".

    Args:
        pieces: the text without its code, in pieces, each with the line that it begins on.
    """
    found = sorted(hit for first, text in pieces for hit in _habits(text, first))
    words = sum(len(re.findall(r"\w[\w'’-]*", text)) for _, text in pieces)
    if len(found) <= max(FEW, MOST * words / 1000):
        return ""
    shown = "; ".join(f'line {line}, "{phrase}": {better}' for line, phrase, better in found[:SHOWN])
    more = f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return f"{len(found)} phrases in {words} words are unidiomatic, at most {MOST:g} in 1,000. Better: {shown}{more}"


def _habits(text, first):
    for pattern, better in HABITS.items():
        for match in re.finditer(pattern, text, re.MULTILINE):
            yield first + text.count("\n", 0, match.start()), match.group().strip(" ,"), better
