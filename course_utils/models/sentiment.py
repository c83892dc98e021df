"""Models of sentiment over a set of words, and their training: what lessons 01 to 03 measure with. Not here: data.

Shape letters: B batch, S words, D width, V vocabulary. A mask is True at words, False at padding.
"""

from collections import Counter

import torch
from torch import nn
from torch.nn import functional as F

from course_utils.base.progress_bar import with_bar
from course_utils.models.attention import attention

PAD, UNKNOWN = "<pad>", "<unk>"


def build_vocabulary(sentences, min_count=1):
    """{word: number}: "<pad>" 0, "<unk>" 1, then the words seen min_count times or more by falling count, ties alphabetical."""
    counts = Counter(word for sentence in sentences for word in sentence)
    frequent = sorted((word for word in counts if counts[word] >= min_count), key=lambda word: (-counts[word], word))
    return {word: i for i, word in enumerate([PAD, UNKNOWN, *frequent])}


def encode(sentences, vocabulary):
    """Word numbers B×S, padded at the end, and their mask B×S. Words that are not in the vocabulary become "<unk>"."""
    size = max((len(sentence) for sentence in sentences), default=0)
    ids = torch.zeros(len(sentences), size, dtype=torch.long)
    for row, sentence in zip(ids, sentences, strict=True):
        row[: len(sentence)] = torch.tensor([vocabulary.get(word, 1) for word in sentence])
    return ids, ids != 0


class SumOfWords(nn.Module):
    """Logistic regression on the sum of a sentence's word vectors."""

    def __init__(self, vocabulary_size, width=16):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, width)
        self.output = nn.Linear(width, 1)
        nn.init.normal_(self.embedding.weight, std=0.1)
        nn.init.normal_(self.output.weight, std=0.3)

    def forward(self, ids, mask):
        """Word numbers B×S and their mask → the score of "positive" for each sentence, B."""
        words = self.embedding(ids) * mask[..., None]  # B S D
        return self.output(words.sum(1)).squeeze(-1)  # B


class SelfAttention(nn.Module):
    """Logistic regression on the sum of a sentence's words, once each word has attended to all of them.

    Learned matrices make each word's query, key and value. A word keeps its own vector and adds its context to it.
    """

    def __init__(self, vocabulary_size, width=8):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, width)
        nn.init.normal_(self.embedding.weight, std=0.1)
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width, bias=False)
        self.output = nn.Linear(width, 1)

    def attend(self, ids, mask):
        """Return each word's context B×S×D and its weights B×S×S."""
        x = self.embedding(ids)  # B S D
        return attention(self.query(x), self.key(x), self.value(x), mask[:, None].expand(-1, ids.shape[1], -1))

    def forward(self, ids, mask):
        """Word numbers B×S and their mask → the score of "positive" for each sentence, B."""
        contexts, _ = self.attend(ids, mask)  # B S D
        words = (self.embedding(ids) + contexts) * mask[..., None]  # B S D
        return self.output(words.sum(1)).squeeze(-1)  # B


def train(model, ids, mask, labels, seed, epochs=6, batch=128, rate=1e-2, weight_decay=3.0):
    """Minimise the cross-entropy with AdamW and a rate that falls linearly to 0. Returns the mean loss of each epoch."""
    shuffle = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=weight_decay, fused=True)
    steps = epochs * -(-len(ids) // batch)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / steps)
    losses = []
    for _ in with_bar(range(epochs)):
        total = 0.0
        for rows in torch.randperm(len(ids), generator=shuffle).split(batch):
            size = int(mask[rows].sum(1).max())  # no wider than the longest sentence of the batch
            loss = F.binary_cross_entropy_with_logits(model(ids[rows, :size], mask[rows, :size]), labels[rows].float())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item() * len(rows)
        losses.append(total / len(ids))
    return losses


@torch.no_grad()
def correct(model, ids, mask, labels):
    """Return whether each sentence is classified correctly, B."""
    return (model(ids, mask) > 0) == labels.bool()
