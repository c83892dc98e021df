"""Generated reviews: made from a seed by a small grammar, so the truth is known. No file, no network.

    review  = [before] "the" aspect "was" opinion [after]
    opinion = [adverb] WORD                             kind "plain":    label is WORD's polarity
            | "not" [adverb] WORD                       kind "negated":  label is the opposite
            | A "," "not" B, of opposite polarity       kind "contrast": label is A's

Everything optional is neutral, and every choice is independent of the others: WORD's (or A's) polarity is
positive or negative with equal chance, whatever the kind and the words around it. In one sentence for all
three kinds: the label is the polarity of the decisive word (WORD, A), flipped if that word is in the
scope of "not".

Two facts that the lessons use. A *bag-of-words model* gives each word a number (a direction's dot product
with its vector), adds the numbers up, and says "positive" above a threshold.

(a) Without contrast, with a share ρ of negated reviews, its accuracy is at most 1 - min(ρ, 1-ρ)/2.
    Proof. Fix everything neutral (its sum less the threshold: r), a positive word p and a negative word
    n; let m be the number of "not". Plain and negated, with p and n, all four are right only if
        p + r > 0,    n + r <= 0,    p + m + r <= 0,    n + m + r > 0.
    The first and fourth add up to p + n + m + 2r > 0, the second and third to p + n + m + 2r <= 0:
    impossible. At least one of these four is therefore wrong, whatever the neutral words, p and n; because
    they are drawn independently of polarity and negation, the error rates in the four cells polarity ×
    negation add up to at least 1. The cells' shares are (1-ρ)/2, (1-ρ)/2, ρ/2, ρ/2, so the error is at least the smallest
    of them: min(ρ, 1-ρ)/2. The same holds for any function that rises (or falls) with such a sum. A model
    that is wrong only in one smallest cell reaches the bound. The bound is for the distribution: on N
    reviews, luck moves the accuracy by about 0.5/√N either way.

(b) On contrast pairs ("great , not awful", "awful , not great") whatever ignores word order is right
    exactly half of the time: both are the same bag, so they get the same answer, but have opposite labels.

Here: the grammar and its truth. Not here: `Reviews` itself (`reviews.py`).
"""

import random
from dataclasses import dataclass
from typing import NamedTuple

import torch

from course_utils.base.errors import CourseError
from course_utils.data.reviews import Reviews

POSITIVE = ("great", "good", "superb", "lovely", "fine", "charming", "funny", "moving", "clever", "brilliant")
NEGATIVE = ("awful", "bad", "terrible", "weak", "dull", "boring", "clumsy", "lifeless", "silly", "tedious")
ASPECTS = ("film", "movie", "plot", "story", "acting", "cast", "music", "ending", "script", "dialogue")
ADVERBS = ((), (), ("really",), ("very",), ("so",), ("quite",))
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
BEFORE = (
    *[()] * 6,
    *[("on", day) for day in _DAYS],
    ("last", "night"),
    ("in", "the", "end"),
    ("as", "we", "all", "saw"),
    ("i", "think"),
    ("my", "friend", "says"),
)
AFTER = (
    *[()] * 4,
    ("tonight",),
    ("this", "time"),
    ("for", "me"),
    ("from", "the", "start"),
    ("to", "my", "eyes"),
    ("if", "you", "ask"),
)


@dataclass(frozen=True, eq=False)
class GeneratedReviews(Reviews):
    """N reviews of the grammar with their truth; positions count words from 0."""

    polarity: torch.Tensor  # N, int64: +1 or -1, of the decisive opinion word, before any negation
    opinion_at: torch.Tensor  # N, int64: where the decisive opinion word is
    negation_at: torch.Tensor  # N, int64: where "not" is; -1 without one
    scope: list[tuple[int, int]]  # start and end (exclusive) of the words under "not"; (0, 0) without one
    kind: list[str]  # "plain", "negated" or "contrast"


class _Review(NamedTuple):
    words: list[str]
    polarity: int
    opinion_at: int
    negation_at: int
    scope: tuple[int, int]
    kind: str


def generate_reviews(n: int, seed: int, negation: float = 0.5, contrast: float = 0.0) -> GeneratedReviews:
    """Return n reviews: a share `contrast` of them contrasts, a share `negation` of the others negated.

    The same on every machine for the same arguments. Raises `CourseError` for a share outside 0 to 1.
    """
    for name, share in (("negation", negation), ("contrast", contrast)):
        if not 0 <= share <= 1:
            raise CourseError(f"{name} is a share: it must lie between 0 and 1, not be {share}")
    rng = random.Random(seed)
    reviews = [_draw_review(rng, _draw_kind(rng, negation, contrast)) for _ in range(n)]
    return _collect(reviews, f"generated reviews, seed {seed}")


def contrast_pairs(n: int, seed: int) -> tuple[GeneratedReviews, GeneratedReviews]:
    """Return n contrasts and their twins: row i of both holds the same bag of words, with opposite labels."""
    rng = random.Random(seed)
    reviews = [_draw_review(rng, "contrast") for _ in range(n)]
    name = f"contrasts, seed {seed}"
    return _collect(reviews, name), _collect([_swap_opinions(review) for review in reviews], f"{name}, swapped")


def four_cases(n: int, seed: int) -> GeneratedReviews:
    """Return n groups of four reviews that differ only in their opinion word and in "not".

    Rows 4i to 4i+3 hold the same neutral words with a positive word p and a negative word n: p, n, not p, not n. By fact
    (a) a bag-of-words model is right on at most three of each four: here without luck, so 75% is never exceeded.
    """
    rng = random.Random(seed)
    reviews = []
    for _ in range(n):
        base, words = _draw_review(rng, "plain"), {1: _pick(rng, POSITIVE), -1: _pick(rng, NEGATIVE)}
        reviews += [
            _with_word(base, words[polarity], polarity, kind) for kind in ("plain", "negated") for polarity in (1, -1)
        ]
    return _collect(reviews, f"four cases each, seed {seed}")


def _with_word(base: _Review, word: str, polarity: int, kind: str) -> _Review:
    """Replace the opinion word of a plain review, and negate it for the kind "negated"."""
    start = base.words.index("was") + 1
    negation = ["not"] * (kind == "negated")
    words = [
        *base.words[:start],
        *negation,
        *base.words[start : base.opinion_at],
        word,
        *base.words[base.opinion_at + 1 :],
    ]
    end = base.opinion_at + len(negation)
    negation_at, scope = (start, (start + 1, end + 1)) if negation else (-1, (0, 0))
    return _Review(words, polarity, end, negation_at, scope, kind)


def _pick(rng: random.Random, choices: tuple):
    # Python promises only for random() that its numbers stay the same from version to version.
    return choices[int(rng.random() * len(choices))]


def _draw_kind(rng: random.Random, negation: float, contrast: float) -> str:
    if rng.random() < contrast:
        return "contrast"
    return "negated" if rng.random() < negation else "plain"


def _draw_review(rng: random.Random, kind: str) -> _Review:
    """Draw one review of a kind, following the grammar above from left to right."""
    polarity = _pick(rng, (1, -1))
    same, opposite = (POSITIVE, NEGATIVE) if polarity == 1 else (NEGATIVE, POSITIVE)
    words = [*_pick(rng, BEFORE), "the", _pick(rng, ASPECTS), "was"]
    start = len(words)
    if kind == "contrast":
        words += [_pick(rng, same), ",", "not", _pick(rng, opposite)]
        opinion_at, negation_at, scope = start, start + 2, (start + 3, start + 4)
    else:
        words += ["not"] * (kind == "negated") + [*_pick(rng, ADVERBS), _pick(rng, same)]
        opinion_at = len(words) - 1
        negation_at, scope = (start, (start + 1, len(words))) if kind == "negated" else (-1, (0, 0))
    words += _pick(rng, AFTER)
    return _Review(words, polarity, opinion_at, negation_at, scope, kind)


def _swap_opinions(review: _Review) -> _Review:
    """Swap the two opinion words of a contrast, which reverses its truth."""
    words, first, second = list(review.words), review.opinion_at, review.scope[0]
    words[first], words[second] = words[second], words[first]
    return review._replace(words=words, polarity=-review.polarity)


def _collect(reviews: list[_Review], name: str) -> GeneratedReviews:
    polarity = torch.tensor([review.polarity for review in reviews], dtype=torch.int64)
    opinion_at = torch.tensor([review.opinion_at for review in reviews], dtype=torch.int64)
    negation_at = torch.tensor([review.negation_at for review in reviews], dtype=torch.int64)
    kind = [review.kind for review in reviews]
    flipped = torch.tensor([k == "negated" for k in kind], dtype=torch.bool)
    return GeneratedReviews(
        sentences=[review.words for review in reviews],
        labels=((polarity == 1) ^ flipped).long(),
        name=name,
        negated=negation_at >= 0,
        polarity=polarity,
        opinion_at=opinion_at,
        negation_at=negation_at,
        scope=[review.scope for review in reviews],
        kind=kind,
    )
