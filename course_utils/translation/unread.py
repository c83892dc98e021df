"""Warns of what a translator of English captions has hardly ever read: words, capitals, other scripts, several or long sentences.

Here: the sentences, the words of the captions, and the rule. `site/page/translator.js` follows the same rule in a browser, with these
words and sentences; a test compares the two.
"""

import re
import unicodedata
from functools import cache

from course_utils.models.files import PRETRAINED

MANY = 40  # words: no caption that the models have learned from has more than 37
SENTENCES = {
    "script": "Is this English? The model knows no other language, and has hardly ever read letters of other scripts.",
    "language": "Is this English? The model knows no other language, and has hardly ever read: {}.",
    "words": "The model knows English captions of photos, and has hardly ever read: {}. It may translate that badly.",
    "capitals": "The model has hardly ever read these words with capital letters: {}. Write them in small letters.",
    "several": "This is more than one sentence. The model has learned from single sentences, and may leave out much of it: give it one sentence at a time.",
    "long": f"These are {{}} words. The model has learned from captions of 12 words on average, and may lose its way beyond {MANY}.",
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
    found = WORD.findall(unicodedata.normalize("NFC", text))
    words = [word for word in found if word[0].isalpha() or unicodedata.category(word) == "So"]
    unread = [word for word in words if not _is_read(word)]
    is_title = 2 * sum(word[0].isupper() for word in words[1:]) > len(words) > 2
    loud = [
        word
        for place, word in enumerate(words)
        if _is_read(word)
        and (is_title and place and word[0].isupper() or _is_loud(word) and word not in caption_words())
    ]
    warnings = []
    if any(sign.isalpha() and not unicodedata.name(sign, "").startswith("LATIN") for sign in text):
        warnings.append(SENTENCES["script"])
    elif unread:
        is_other = 3 * len(unread) > 2 * len(words)
        warnings.append(SENTENCES["language" if is_other else "words"].format(_list(unread)))
    if loud:
        warnings.append(SENTENCES["capitals"].format(_list(loud)))
    if ENDS.search(text):
        warnings.append(SENTENCES["several"])
    if len(words) > MANY:
        warnings.append(SENTENCES["long"].format(len(words)))
    return warnings


def _is_read(word):
    """Return whether captions hold a word, as it is or in small letters."""
    return all(part in caption_words() or part.lower() in caption_words() for part in re.split("['’]", word))


def _is_loud(word):
    return len(word) > 1 and word.lower() != word == word.upper()


def _list(words):
    """Name each word once, and not more than five."""
    different = list(dict.fromkeys(words))
    return ", ".join(different[:5] + ["…"] * (len(different) > 5))
