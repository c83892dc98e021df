"""Translation through one vector: lesson 05's model, and a deep one of LSTMs, on all captions, of any length, in batches of similar length.

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
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence
from torch.utils.data import DataLoader

from course_utils.data.subwords import PAD

COLUMNS = (
    "cell layers dropout width hidden epochs rate seed pairs parameters "
    "loss bleu bleu_of_others bleu_of_short cpu_seconds guitar snow bench"
)
SETTINGS = [
    ("GRU", 1, 0.0, 128, 256, 3, 0.003),
    ("LSTM", 2, 0.2, 128, 256, 3, 0.003),
]
SENTENCES = ("A man is playing guitar.", "Two dogs are running in the snow.", "A woman is reading a book on a bench.")


class DeepSeq2Seq(nn.Module):
    """The page's model with one layer of GRUs, or with layers of another cell, such as LSTMs, and dropout between them."""

    def __init__(self, V, D=64, H=128, cell=nn.GRU, layers=1, dropout=0.0):
        super().__init__()
        options = {"num_layers": layers, "dropout": dropout, "batch_first": True}
        self.embedding = nn.Embedding(V, D)
        self.dropout = nn.Dropout(dropout)
        self.encoder = cell(D, H, **options)
        self.decoder = cell(D, H, **options)
        self.readout = nn.Linear(H, V)

    def embed(self, ids):  # B T
        return self.dropout(self.embedding(ids))  # B T D

    def encode(self, source):  # B S
        lengths = (source != PAD).sum(1)  # B: up to EOS
        packed = pack_padded_sequence(self.embed(source), lengths, True, enforce_sorted=False)
        _, s = self.encoder(packed)
        return s  # L B H, with L layers; for an LSTM, a pair (h, c) of such tensors

    def decode(self, given, s):  # B T, and such an s
        states, s = self.decoder(self.embed(given), s)  # B T H: the last layer's
        return self.readout(states), s  # B T V, and the new s

    def forward(self, source, given):
        return self.decode(given, self.encode(source))[0]  # B T V


@torch.no_grad()
def evaluate(lesson, model, batches):
    """Return the mean loss of the words in all batches."""
    model.eval()
    losses = torch.tensor([lesson.loss_of(model(source, given), wanted) for source, given, wanted in batches])
    words = torch.tensor([(wanted != PAD).sum() for _, _, wanted in batches])
    return ((losses * words).sum() / words.sum()).item()


def train_epochs(lesson, model, training, validation, path, epochs, rate):
    """Train a model; it gets the weights of the epoch with the lowest validation loss, which are kept in a file meanwhile."""
    adam = torch.optim.Adam(model.parameters(), lr=rate)
    falling_rate = torch.optim.lr_scheduler.LinearLR(adam, 1.0, 0.05, epochs * len(training))
    lowest = evaluate(lesson, model, validation)
    torch.save(model.state_dict(), path)
    print(f"validation loss before training: {lowest:.2f}")
    for epoch in range(1, epochs + 1):
        model.train()
        for source, given, wanted in training:
            loss = lesson.loss_of(model(source, given), wanted)
            adam.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            adam.step()
            falling_rate.step()
        new_loss = evaluate(lesson, model, validation)
        print(f"after epoch {epoch}: {new_loss:.2f}")
        if new_loss < lowest:
            lowest = new_loss
            torch.save(model.state_dict(), path)
    model.load_state_dict(torch.load(path, weights_only=True))


def measure(cell, layers, dropout, width, hidden, epochs, rate, seed):
    """Train a model with the page's batches and loss; return one row."""
    lesson = page("05_seq2seq")
    pairs, held_out, test = (lesson.read_pairs(split, longest=1_000) for split in ("train", "val", "test"))
    vocabulary = lesson.Vocabulary(text for pair in pairs for text in pair)
    lesson.collate.__globals__["captions"] = vocabulary
    torch.manual_seed(seed)
    training = DataLoader(lesson.batches_by_length(pairs), batch_size=None, shuffle=True, collate_fn=lesson.collate)
    validation = DataLoader(held_out, batch_size=64, collate_fn=lesson.collate)
    model = DeepSeq2Seq(len(vocabulary.tokens), width, hidden, getattr(nn, cell), layers, dropout)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pt"
        _, seconds = timed(train_epochs, lesson, model, training, validation, path, epochs, rate)
    english, german = zip(*test, strict=True)
    translations = lesson.translate(model, vocabulary, english)
    others = translations[1:] + translations[:1]
    short = [i for i, text in enumerate(english) if len(text.split()) <= 10]
    scores = [
        sacrebleu.corpus_bleu(texts, [wanted], tokenize="none", force=True).score
        for texts, wanted in (
            (translations, german),
            (others, german),
            ([translations[i] for i in short], [german[i] for i in short]),
        )
    ]
    size = sum(parameter.numel() for parameter in model.parameters())
    written = lesson.translate(model, vocabulary, [lesson.tokenize(sentence) for sentence in SENTENCES])
    return [(len(pairs), size, evaluate(lesson, model, validation), *scores, seconds, *written)]


if __name__ == "__main__":
    options = read_options(__doc__, [0, 1])
    fill("all_captions", COLUMNS, jobs(SETTINGS, options.seeds), measure)
