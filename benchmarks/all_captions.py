"""Translation through one vector: lesson 05's models on all captions, of any length, in batches of similar length.

    python benchmarks/all_captions.py [--seeds 0 1]

Fills course_utils/data/measured_tables/all_captions.csv: the loss on the validation set, the BLEU on the test set of 2016, with the
tokens of the page, of each caption's own translation, of the next one's and of the short captions of the page, and the translations
of the page's three sentences.
"""

import tempfile
from pathlib import Path

import sacrebleu
import torch
from measuring import fill, jobs, page, read_options, timed
from torch.utils.data import DataLoader

COLUMNS = (
    "cell layers dropout width hidden epochs rate seed pairs parameters "
    "loss bleu bleu_of_others bleu_of_short cpu_seconds guitar snow bench"
)
SETTINGS = [
    ("GRU", 1, 0.0, 128, 256, 3, 0.003),
    ("LSTM", 2, 0.2, 128, 256, 3, 0.003),
]
SENTENCES = ("A man is playing guitar.", "Two dogs are running in the snow.", "A woman is reading a book on a bench.")


def measure(cell, layers, dropout, width, hidden, epochs, rate, seed):
    """Train the page's model with the page's code; return one row."""
    lesson = page("05_seq2seq", device="cpu")
    pairs, held_out, test = (lesson.read_pairs(split, longest=1_000) for split in ("train", "val", "test"))
    vocabulary = lesson.build_vocabulary(pairs)
    numbers = {token: number for number, token in enumerate(vocabulary)}
    lesson.to_numbers.__globals__.update(vocabulary=vocabulary, number_of=numbers)
    torch.manual_seed(seed)
    training = DataLoader(lesson.batches_by_length(pairs), batch_size=None, shuffle=True, collate_fn=lesson.collate)
    validation = DataLoader(held_out, batch_size=64, collate_fn=lesson.collate)
    model = lesson.DeepSeq2Seq(len(vocabulary), width, hidden, getattr(torch.nn, cell), layers, dropout)
    with tempfile.TemporaryDirectory() as folder:
        _, seconds = timed(lesson.train_epochs, model, training, validation, Path(folder) / "model.pt", epochs, rate)
    translations = [lesson.to_german(model, " ".join(english), most=40) for english, _ in test]
    others = translations[1:] + translations[:1]
    references = [" ".join(german) for _, german in test]
    short = [i for i, (english, _) in enumerate(test) if len(english) <= 10]
    scores = [
        sacrebleu.corpus_bleu(texts, [wanted], tokenize="none", force=True).score
        for texts, wanted in (
            (translations, references),
            (others, references),
            ([translations[i] for i in short], [references[i] for i in short]),
        )
    ]
    size = sum(parameter.numel() for parameter in model.parameters())
    written = [lesson.to_german(model, sentence) for sentence in SENTENCES]
    return [(len(pairs), size, lesson.evaluate(model, validation), *scores, seconds, *written)]


if __name__ == "__main__":
    options = read_options(__doc__, [0, 1])
    fill("all_captions", COLUMNS, jobs(SETTINGS, options.seeds), measure)
