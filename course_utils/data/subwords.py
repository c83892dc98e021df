"""From texts to numbers and back: joint subwords (byte-pair encoding), or whole words for the generated world.

Byte-pair encoding (Sennrich et al. 2016, arXiv 1508.07909) starts from single characters, here the 256 bytes, and
repeatedly merges the most frequent pair of neighbours into a new subword. Frequent words end up whole, rare ones
in pieces, and because every byte is a subword, no text is unknown: `decode(encode([text])) == [text]`, in Unicode's
composed form (NFC). A subword may begin with the space before its word, so that no space is lost either.

Here: a thin class over the tokenizers library, and its cache. Not here: batches, where PAD, BOS and EOS are added.
"""

import contextlib
import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from course_utils.base.errors import CourseError
from course_utils.base.files import replacing
from course_utils.data.download import cache_folder

PAD, BOS, EOS, UNK = 0, 1, 2, 3
# They end in a space, which no other token can: a text that contains "<eos>" ends nothing.
_SPECIALS = ("<pad> ", "<bos> ", "<eos> ", "<unk> ")
_SPACE = "\u2581"  # ▁, as SentencePiece shows a space
_RECIPE = 1  # raise it when the same texts are to give a different vocabulary, so that no cache is stale


class Subwords:
    """A vocabulary of V tokens that turns texts into rows of ids and back; made by `train`, `words` or `load`."""

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer  # a tokenizers.Tokenizer
        self._whole = _model_name(tokenizer) == "WordLevel"
        self._pieces = _pieces(tokenizer)  # V bytes: what each token adds to a text

    @classmethod
    def train(cls, texts: Iterable[str], size: int) -> "Subwords":
        """Learn up to `size` subwords, including the four specials and 256 bytes, from texts of all languages together.

        The same texts and size give the same vocabulary. Raises `CourseError` for a size below 260.
        """
        tokenizers, bytewise = _import_tokenizers(), len(_SPECIALS) + 256
        if size < bytewise:
            raise CourseError(f"size must be at least {bytewise}, for the specials and every byte, not {size}")
        trainer = tokenizers.trainers.BpeTrainer(
            vocab_size=size - len(_SPECIALS),
            initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        learner = _make_tokenizer(tokenizers.models.BPE())
        learner.train_from_iterator(texts, trainer)
        learned = json.loads(learner.to_str())["model"]
        # The trainer could add the specials, but then it would also find them in texts.
        tokens = [*_SPECIALS, *sorted(learned["vocab"], key=learned["vocab"].get)]
        model = tokenizers.models.BPE(
            vocab={token: row for row, token in enumerate(tokens)}, merges=[tuple(pair) for pair in learned["merges"]]
        )
        return cls(_make_tokenizer(model))

    @classmethod
    def words(cls, texts: Iterable[str]) -> "Subwords":
        """Make each word between white space a token, the most frequent first; any other word becomes UNK."""
        tokenizers = _import_tokenizers()
        learner = _make_tokenizer(tokenizers.models.WordLevel())
        counts = Counter(word for text in texts for word in learner.normalizer.normalize_str(text).split())
        tokens = [*_SPECIALS, *sorted(counts, key=lambda word: (-counts[word], word))]
        model = tokenizers.models.WordLevel({token: row for row, token in enumerate(tokens)}, _SPECIALS[UNK])
        return cls(_make_tokenizer(model))

    @classmethod
    def load(cls, path: str | os.PathLike) -> "Subwords":
        """Read what `save` wrote. Raises `CourseError` if the file holds anything else."""
        tokenizers, text = _import_tokenizers(), Path(path).read_bytes()
        try:
            text = text.decode("utf-8")
            _check_settings(json.loads(text)["model"])
            tokenizer = tokenizers.Tokenizer.from_str(text)
            if not _is_ours(tokenizer):
                raise ValueError
            return cls(tokenizer)
        except Exception:  # the library raises nothing narrower
            raise CourseError(
                f"Expected {path} to hold a vocabulary that Subwords.save wrote, but it is damaged or something else: "
                "copy it anew, or delete it and train again."
            ) from None

    def save(self, path: str | os.PathLike) -> None:
        """Write a JSON file, the same bytes for the same vocabulary; `tokenizers.Tokenizer.from_file` reads it too."""
        Path(path).write_bytes(self.tokenizer.to_str().encode())

    def __len__(self) -> int:
        return len(self._pieces)

    def encode(self, texts: list[str]) -> list[list[int]]:
        """Return each text's ids, without BOS and EOS; an empty text has none. Raises `CourseError` for a single text."""
        check_texts(texts)
        return [row.ids for row in self.tokenizer.encode_batch_fast(texts, add_special_tokens=False)]

    def decode(self, rows: Iterable[list[int]]) -> list[str]:
        """Return each row's text up to its first EOS, without PAD and BOS; invalid bytes become �."""
        return [b"".join(self._until_end(row)).decode("utf-8", "replace").removeprefix(" ") for row in rows]

    def tokens(self, ids: list[int]) -> list[str]:
        """Return each id's piece of text for a plot's axis, ▁ for a space; whole words have none."""
        pieces = [self._pieces[row].decode("utf-8", "backslashreplace") for row in ids]
        return [piece.removeprefix(" ") if self._whole else piece.replace(" ", _SPACE) for piece in pieces]

    def word_of(self, ids: list[int]) -> list[int]:
        """Return for each id the place, from 0, of its word among the words between spaces; -1 for PAD, BOS and EOS.

        A piece of only spaces counts towards the word after it, or the last one.
        """
        places, words, after_space = [], 0, True
        for row in ids:
            piece = b"" if row in (PAD, BOS, EOS) else self._pieces[row]
            after_space |= piece.startswith(b" ")
            is_solid = bool(piece.strip(b" "))
            words += is_solid and after_space
            places.append((words - 1 if is_solid else words) if piece else -1)
            after_space = piece.endswith(b" ") if piece else after_space
        return [min(place, words - 1) for place in places]

    def _until_end(self, row: list[int]) -> list[bytes]:
        end = row.index(EOS) if EOS in row else len(row)
        return [self._pieces[token] for token in row[:end] if token not in (PAD, BOS)]


def check_texts(texts) -> None:
    """Raise `CourseError` for a single text, which would be taken for a list of its letters."""
    if isinstance(texts, str):
        raise CourseError(f"texts must be a list of texts, not one: write [{texts!r:.60}]")


def subwords_for(name: str, texts: list[str], size: int) -> Subwords:
    """Return `Subwords.train(texts, size)`, trained once and then read from the cache, whose file begins with `name`."""
    key = hashlib.sha256(json.dumps([_RECIPE, size, texts]).encode()).hexdigest()[:16]
    file = cache_folder() / "subwords" / f"{name}-{size}-{key}.json"
    with contextlib.suppress(OSError, ValueError, CourseError):  # missing or damaged: trained again
        return Subwords.load(file)
    subwords = Subwords.train(texts, size)
    with contextlib.suppress(OSError):  # a cache that can't be written costs seconds next time, nothing else
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as draft:
            subwords.save(draft)
    return subwords


def _import_tokenizers():
    # Its own threads would save a second, but compete with PyTorch's and warn when a data loader forks.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    import tokenizers  # takes 0.1 s, and the first lessons need none

    return tokenizers


def _model_name(tokenizer) -> str:
    return type(tokenizer.model).__name__


def _make_tokenizer(model):
    """Return a tokenizer of this model, with the steps that prepare a text for the model."""
    tokenizers = _import_tokenizers()
    tokenizer, steps = tokenizers.Tokenizer(model), tokenizers.pre_tokenizers
    tokenizer.normalizer = tokenizers.normalizers.NFC()
    if _model_name(tokenizer) == "WordLevel":
        tokenizer.pre_tokenizer = steps.WhitespaceSplit()
        return tokenizer
    # The first word gets a space too, so that it has the same subwords as elsewhere.
    first = tokenizers.normalizers.Prepend(" ")
    tokenizer.normalizer = tokenizers.normalizers.Sequence([tokenizers.normalizers.NFC(), first])
    # GPT-2's rule: letters, digits and punctuation never share a subword.
    tokenizer.pre_tokenizer = steps.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    return tokenizer


def _check_settings(model: dict) -> None:
    """Raise an error for a setting that we never switch on. Some crash the library, such as a long prefix."""
    unknown = {"BPE": None, "WordLevel": _SPECIALS[UNK]}[model["type"]]
    others = [value for name, value in model.items() if name not in ("type", "unk_token", "vocab", "merges")]
    if model.get("unk_token") != unknown or any(others):
        raise ValueError


def _is_ours(tokenizer) -> bool:
    """Return whether it has our steps and nothing else, our specials, and ids without a gap."""
    new = _make_tokenizer(type(tokenizer.model)())
    theirs, ours = (json.loads(one.to_str()) | {"model": None} for one in (tokenizer, new))
    size = tokenizer.get_vocab_size()
    specials = tuple(tokenizer.id_to_token(row) for row in range(len(_SPECIALS)))
    return theirs == ours and specials == _SPECIALS and set(tokenizer.get_vocab().values()) == set(range(size))


def _pieces(tokenizer) -> list[bytes]:
    by_id = sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().get)
    if _model_name(tokenizer) == "WordLevel":
        return [f" {token.strip()}".encode() for token in by_id]
    # A byte that is no visible Latin-1 character is spelled as a character from 256 on (GPT-2's table).
    visible = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    unseen = [byte for byte in range(256) if byte not in visible]
    byte_of = {chr(byte): byte for byte in visible} | {chr(256 + i): byte for i, byte in enumerate(unseen)}
    specials, subwords = by_id[: len(_SPECIALS)], by_id[len(_SPECIALS) :]
    return [mark.strip().encode() for mark in specials] + [bytes(byte_of[c] for c in word) for word in subwords]
