"""Warns of what a translator of English captions has hardly ever read: words, capitals, other scripts, several or long sentences.

Here: the sentences, the words of the captions, and the rule. `site/page/translator.js` follows the same rule in a browser, with these
words and sentences; a test compares the two.
"""

import re
import unicodedata
from functools import cache

from course_utils.models.files import PRETRAINED

MANY = 23  # words: of the captions that the models have learned from, 99 of 100 have no more
NAMED = 5  # words in a warning; further ones are counted
SENTENCES = {
    "script": "Is this English? The model knows no other language, and has hardly ever read letters of other scripts.",
    "language": "Is this English? The model knows no other language, and has hardly ever read: {}.",
    "words": "The model knows English captions of photos, and has hardly ever read: {}. It may translate that badly.",
    "capitals": "The model has hardly ever read these words with capital letters: {}. Write them in small letters.",
    "several": "This is more than one sentence. The model has learned from single sentences, and may leave out much of it: give it one sentence at a time.",
    "long": f"These are {{}} words. Of the captions that the model has learned from, 99 of 100 have at most {MANY}: it may leave out a part of a longer sentence.",
}
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|[^\w\s]")  # letters with apostrophes between them, or one sign
# The end of a sentence before another one, and not of what is short for something, as in "U.S. flag" or "St. Bernard".
ENDS = re.compile(r"(?<!\b[A-Z])(?<!\b[A-Z][a-z])[.?!][\"”’']*\s+\w")


@cache
def caption_words() -> frozenset[str]:
    """Return all words of the captions that the course's translators have learned from, in small letters or in capitals."""
    return frozenset((PRETRAINED / "caption_words.txt").read_text(encoding="utf-8").split())


def warnings_of(text: str) -> list[str]:
    """Return a sentence for each reason why a translation of the text may be bad."""
    words = _words(text)
    unread = [word for word in words if not _is_read(word)]
    warnings = []
    if any(sign.isalpha() and not unicodedata.name(sign, "").startswith("LATIN") for sign in text):
        warnings.append(SENTENCES["script"])
    elif unread:
        is_other = len(unread) > 2 and 3 * len(unread) > 2 * len(words)
        warnings.append(SENTENCES["language" if is_other else "words"].format(_list(unread)))
    if loud := _loud(words):
        warnings.append(SENTENCES["capitals"].format(_list(loud)))
    if ENDS.search(text):
        warnings.append(SENTENCES["several"])
    if len(words) > MANY:
        warnings.append(SENTENCES["long"].format(len(words)))
    return warnings


def in_small_letters(text: str) -> str:
    """Return the text in small letters if its capitals are warned of, and as it is if not; its first letter stays."""
    if not _loud(_words(text)):
        return text
    small = WORD.sub(lambda word: word[0] if _has_only_capitals(word[0]) else word[0].lower(), text)
    return text[:1] + small[1:]


def _words(text):
    found = WORD.findall(unicodedata.normalize("NFC", text))
    return [word for word in found if word[0].isalpha() or unicodedata.category(word) == "So"]


def _loud(words):
    """Return the words that captions hold, but not with these capitals."""
    is_title = 2 * sum(word[0].isupper() for word in words[1:]) > len(words) > 2
    return [
        word
        for place, word in enumerate(words)
        if _is_read(word)
        and (is_title and place and word[0].isupper() or _is_loud(word) and word not in caption_words())
    ]


def _is_read(word):
    """Return whether captions hold a word, as it is or in small letters."""
    return all(part in caption_words() or part.lower() in caption_words() for part in re.split("['’]", word))


def _is_loud(word):
    return len(word) > 1 and word.lower() != word == word.upper()


def _has_only_capitals(word):
    return word in caption_words() and word.lower() not in caption_words()


def _list(words):
    """Name each word once, and count those beyond NAMED."""
    different = list(dict.fromkeys(words))
    more = len(different) - NAMED
    return ", ".join(different[:NAMED]) + (f" and {more} more" if more > 0 else "")
