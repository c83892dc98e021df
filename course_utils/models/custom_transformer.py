"""A Transformer put together from given layers, such as a learner's own, and its training in seconds.

Here: the model around the layers. Not here: the course's own Transformer (`transformer.py`), which is faster and can be shipped.

Shape letters: B sentences, T target positions, S source positions, D width, V vocabulary. Id 0 is padding.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from course_utils.data.small_world import small_world
from course_utils.data.subwords import PAD
from course_utils.models.minimal import sinusoidal_positions
from course_utils.models.seq2seq import fit, make_batch
from course_utils.models.validation import check_sizes, check_tokens


class Assembled(nn.Module):
    """Embeddings with positions, an encoder, a decoder and a readout over one vocabulary (Vaswani et al. 2017, figure 1).

    Args:
        encoder_layer: class (width, heads, hidden, norm_first) of modules (x B×S×D, mask B×S) → B×S×D, as task 12.encoder_layer asks.
        decoder_layer: class (width, heads, hidden, norm_first) of modules (x B×T×D, memory B×S×D, memory_mask B×S) → B×T×D, which
            does not look ahead, as task 12.decoder_layer asks.
        vocabulary: the number of tokens V.
        layers: the number in the encoder, and in the decoder.
        positions: function(length, width) → the vectors to add, length×D.

    Raises:
        CourseError: for a size below 1.
    """

    def __init__(
        self,
        encoder_layer: Callable[..., nn.Module],
        decoder_layer: Callable[..., nn.Module],
        vocabulary: int,
        width: int = 32,
        heads: int = 4,
        hidden: int = 64,
        layers: int = 2,
        norm_first: bool = True,
        positions: Callable[[int, int], Tensor] = sinusoidal_positions,
    ):
        super().__init__()
        check_sizes(1, vocabulary=vocabulary, width=width, heads=heads, hidden=hidden, layers=layers)
        sizes = (width, heads, hidden, norm_first)
        self.positions = positions
        self.embedding = nn.Embedding(vocabulary, width)
        nn.init.normal_(self.embedding.weight, std=width**-0.5)
        self.encoder = nn.ModuleList(encoder_layer(*sizes) for _ in range(layers))
        self.decoder = nn.ModuleList(decoder_layer(*sizes) for _ in range(layers))
        self.encoder_norm, self.decoder_norm = (nn.LayerNorm(width) if norm_first else nn.Identity() for _ in range(2))

    def forward(self, source: Tensor, given: Tensor) -> Tensor:
        """Score each next word, given the correct words before it: B×S and B×T → logits B×T×V.

        Raises CourseError for a sentence without a word, and for ids outside the vocabulary.
        """
        check_tokens(source, self.embedding.num_embeddings, words=True)
        check_tokens(given, self.embedding.num_embeddings)
        mask = source != PAD  # B S
        memory = self.embed(source)
        for layer in self.encoder:
            memory = layer(memory, mask)
        memory, x = self.encoder_norm(memory), self.embed(given)
        for layer in self.decoder:
            x = layer(x, memory, mask)
        return self.decoder_norm(x) @ self.embedding.weight.T  # B T V: the embedding is also the readout (section 3.4)

    def embed(self, tokens: Tensor) -> Tensor:
        """Return word vectors times √D plus positions: B×T → B×T×D."""
        D = self.embedding.embedding_dim
        return self.embedding(tokens) * D**0.5 + self.positions(tokens.shape[1], D)


@torch.no_grad()
def share_right(model: nn.Module, source: Tensor, given: Tensor, wanted: Tensor) -> float:
    """Return the share of the wanted ids B×T, including EOS but not padding, that a model finds most probable."""
    found = model(source, given).argmax(-1)
    return (found == wanted)[wanted != PAD].double().mean().item()


def train_assembled(
    encoder_layer: Callable[..., nn.Module], decoder_layer: Callable[..., nn.Module], seed=0, steps=300
) -> float:
    """Train a Transformer of two such layers on each side in the small world, verbs at the end; return the share of right words.

    Takes about ten seconds. The words are those of 300 sentences of 1 to 12 words, most of them unseen, given the correct words before.
    """
    pairs, test = (small_world(number, seed, order="verb-last") for number, seed in ((20_000, 1), (300, 2)))
    torch.manual_seed(seed)
    model = Assembled(encoder_layer, decoder_layer, len(pairs.words))
    fit(model, *pairs.ids(), seed=seed, steps=steps, rate=1e-2)
    return share_right(model.eval(), *make_batch(*test.ids()))
