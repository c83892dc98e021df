# %% [markdown]
# You will repair two parts of a Transformer whose mistakes went unnoticed, decide where the norms belong, and then write whole layers that produce the same output as PyTorch's own with the same weights. Then you will write a test that finds models in which padding, other sentences or later words affect what they should not. An optional last task turns an image into a sentence.
# B is the number of sentences, S of source words, T of target words and H of heads. D is the dimension of a word vector, F the number of hidden units in the feed-forward network and V the size of the vocabulary. A mask is True at words and False at padding.

# %%
import torch
import torch.nn.functional as F
from torch import nn

from course_utils import check, hint, progress, solution
from course_utils.data.digit_fields import digits_of
from course_utils.learner.train_answers import train_own
from course_utils.models.custom_transformer import train_assembled

# %% [markdown]
# ## 12.feed_forward
#
# Repair this feed-forward network:
#
# ```python
# hidden = x @ weight_1 + bias_1
# return torch.relu(hidden @ weight_2 + bias_2)
# ```
#
# It was tried with F = D = 4 and raised no error, so nobody noticed anything. With F = 8, it raises an error; with F = 4, its result is never negative. It should compute
#
# $$\text{FFN}(x) = \max(0,\; x W_1 + b_1)\, W_2 + b_2$$
#
# The two matrices are stored as in `nn.Linear`: `weight_1` is F×D and `weight_2` is D×F. The residual connection is not part of the network; it follows in `12.sublayer`.


# %%
def feed_forward(x, weight_1, bias_1, weight_2, bias_2):
    """Send each word's vector through two layers with a ReLU between them.

    Args:
        x: B×T×D.
        weight_1: F×D.
        bias_1: F.
        weight_2: D×F.
        bias_2: D.

    Returns:
        The result, B×T×D.

    Example:
        >>> x = torch.tensor([[[1.0, 2.0]]])
        >>> feed_forward(x, torch.tensor([[1.0, 0.0], [0.0, -1.0]]), torch.zeros(2), torch.eye(2), torch.ones(2))
        tensor([[[2., 1.]]])
    """
    ### BEGIN SOLUTION
    hidden = torch.relu(x @ weight_1.T + bias_1)  # B T F
    return hidden @ weight_2.T + bias_2
    ### END SOLUTION


# %%
check("12.feed_forward", feed_forward)

# %% [markdown]
# ## 12.layer_norm
#
# Repair this layer norm:
#
# ```python
# mean, spread = x.mean(), x.std()
# return (x - mean) / (spread + eps) * gain + bias
# ```
#
# It was tried on one word at a time, with D = 512 and entries of ordinary size, and its results agreed with PyTorch's to two digits. In use, it shows three symptoms:
#
# 1. A word's vector changes when the other words of its sentence change.
# 2. With D = 4, all entries are too small by the same factor.
# 3. When a vector's entries are nearly equal, the result is far too large.
#
# Which piece of code causes each symptom? The result should match `torch.nn.functional.layer_norm`. `x` may have any number of axes, the last of which holds the features. D is 3 or more, and `eps` is above 0.


# %%
def layer_norm(x, gain, bias, eps):
    """Give each vector mean 0 and variance 1, then scale and shift its features.

    Args:
        x: …×D.
        gain: D.
        bias: D.
        eps: a number above 0, which is added to the variance.

    Returns:
        The normalised vectors, …×D.

    Example:
        >>> x = torch.tensor([[1.0, 2.0, 3.0]])
        >>> layer_norm(x, torch.tensor([2.0, 2.0, 2.0]), torch.tensor([0.0, 0.0, 1.0]), 0.3333)
        tensor([[-2.,  0.,  3.]])
    """
    ### BEGIN SOLUTION
    centred = x - x.mean(-1, keepdim=True)  # … D
    variance = centred.square().mean(-1, keepdim=True)  # … 1
    return centred / (variance + eps).sqrt() * gain + bias
    ### END SOLUTION


# %%
check("12.layer_norm", layer_norm)

# %% [markdown]
# ## 12.sublayer
#
# Write a sub-layer in three orders. Two are from the lesson; the third is used in Swin Transformer V2 (Liu et al., 2022). In each order, x is added unchanged, and there is one norm. Work out where the norm belongs from what holds before gain and bias are applied:
#
# - `"post"`: each vector of the **result** has mean 0 and variance 1, whatever $f$ returns.
# - `"pre"`: if $f$ returns zeros, the result is x unchanged; and $f$ **reads** vectors with mean 0 and variance 1.
# - `"late"`: $f$ reads x unchanged, and what is **added to x** has mean 0 and variance 1, however large the numbers returned by $f$.
#
# `function` is $f$, which takes B×T×D as its only argument and returns B×T×D. Only values are compared, not gradients. The norm is the layer norm of `12.layer_norm` with the given gain and bias and $\varepsilon = 10^{-5}$; you may use `torch.nn.functional.layer_norm` for it.


# %%
def sublayer(x, function, gain, bias, order):
    """Put a residual connection and a layer norm around a function, in one of three orders.

    Args:
        x: B×T×D.
        function: f, from B×T×D to B×T×D.
        gain: D, of the layer norm.
        bias: D, of the layer norm.
        order: "pre", "post" or "late".

    Returns:
        The result, B×T×D.

    Example:
        >>> x = torch.tensor([[[1.0, 2.0, 3.0]]])
        >>> sublayer(x, lambda y: 2 * y, torch.ones(3), torch.zeros(3), "pre")
        tensor([[[-1.4495,  2.0000,  5.4495]]])
    """

    ### BEGIN SOLUTION
    def norm(y):
        return torch.nn.functional.layer_norm(y, gain.shape, gain, bias, 1e-5)

    if order == "pre":
        return x + function(norm(x))
    if order == "post":
        return norm(x + function(x))
    return x + norm(function(x))
    ### END SOLUTION


# %%
check("12.sublayer", sublayer)

# %% [markdown]
# ## 12.encoder_layer
#
# Write `forward` for an encoder layer, whose sub-layers are self-attention and the feed-forward network. `__init__` is given, with PyTorch's names; leave it as it is. The result should match `nn.TransformerEncoderLayer` with the same weights and without dropout. `norm_first` says where the norms go: `True` means pre-norm, as in the lesson, and `False` post-norm.
#
# `self.self_attn` is an `nn.MultiheadAttention`, which returns two things, the contexts and the weights. Its `key_padding_mask` is True at **positions that must not be attended to**, whereas your `mask` is True at words. Each sentence has at least one word. Results at padded positions are not compared. Values of `x` there must not reach any word, but NaN there does not fail the check.


# %%
class EncoderLayer(nn.Module):
    """Self-attention and a feed-forward network, as nn.TransformerEncoderLayer without dropout.

    Args:
        width: D.
        heads: H.
        hidden: F.
        norm_first: whether the norms come first (pre-norm) or after the additions (post-norm).

    Returns:
        A layer, to be called with x B×S×D and mask B×S, which is True at words; it returns B×S×D.

    Example:
        >>> layer = EncoderLayer(width=4, heads=2, hidden=3, norm_first=True)
        >>> layer(torch.randn(1, 5, 4), torch.tensor([[True, True, True, False, False]])).shape
        torch.Size([1, 5, 4])
    """

    def __init__(self, width, heads, hidden, norm_first):
        super().__init__()
        self.norm_first = norm_first
        self.self_attn = nn.MultiheadAttention(width, heads, batch_first=True)
        self.linear1 = nn.Linear(width, hidden)
        self.linear2 = nn.Linear(hidden, width)
        self.norm1 = nn.LayerNorm(width)
        self.norm2 = nn.LayerNorm(width)

    def forward(self, x, mask):
        ### BEGIN SOLUTION
        x = x.masked_fill(~mask[..., None], 0.0)

        def attend(y):
            return self.self_attn(y, y, y, key_padding_mask=~mask, need_weights=False)[0]

        def feed_forward(y):
            return self.linear2(torch.relu(self.linear1(y)))

        if self.norm_first:
            x = x + attend(self.norm1(x))
            return x + feed_forward(self.norm2(x))
        x = self.norm1(x + attend(x))
        return self.norm2(x + feed_forward(x))
        ### END SOLUTION


# %%
check("12.encoder_layer", EncoderLayer)

# %% [markdown]
# ## 12.decoder_layer
#
# Now write a decoder layer: self-attention, in which a word sees **itself and the previous words**; attention to the source, with keys and values computed from `memory`, the encoder's result; and the feed-forward network. The result should match `nn.TransformerDecoderLayer` with the same weights, without dropout, with a causal mask for the target and a padding mask for the source.
#
# `self.norm1`, `self.norm2` and `self.norm3` belong to these three sub-layers, in this order. `memory` passes through no norm. The target needs no padding mask, because its padding is at the end. `memory_mask` is True at words, but in `attn_mask`, T×T, and `key_padding_mask`, B×S, True means **hidden**. Values of `memory` at padded positions must not reach any word and get no gradient, but NaN there does not fail the check.


# %%
class DecoderLayer(nn.Module):
    """Causal self-attention, attention to the source and a feed-forward network, as nn.TransformerDecoderLayer without dropout.

    Args:
        width: D.
        heads: H.
        hidden: F.
        norm_first: whether the norms come first (pre-norm) or after the additions (post-norm).

    Returns:
        A layer, to be called with x B×T×D, memory B×S×D and memory_mask B×S, which is True at words; it returns B×T×D.

    Example:
        >>> layer = DecoderLayer(width=4, heads=2, hidden=3, norm_first=False)
        >>> layer(torch.randn(1, 2, 4), torch.randn(1, 3, 4), torch.tensor([[True, True, False]])).shape
        torch.Size([1, 2, 4])
    """

    def __init__(self, width, heads, hidden, norm_first):
        super().__init__()
        self.norm_first = norm_first
        self.self_attn = nn.MultiheadAttention(width, heads, batch_first=True)
        self.multihead_attn = nn.MultiheadAttention(width, heads, batch_first=True)
        self.linear1 = nn.Linear(width, hidden)
        self.linear2 = nn.Linear(hidden, width)
        self.norm1 = nn.LayerNorm(width)
        self.norm2 = nn.LayerNorm(width)
        self.norm3 = nn.LayerNorm(width)

    def forward(self, x, memory, memory_mask):
        ### BEGIN SOLUTION
        memory = memory.masked_fill(~memory_mask[..., None], 0.0)
        future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)  # T T

        def attend(y):
            return self.self_attn(y, y, y, attn_mask=future, need_weights=False)[0]

        def look(y):
            hidden = ~memory_mask
            return self.multihead_attn(y, memory, memory, key_padding_mask=hidden, need_weights=False)[0]

        def feed_forward(y):
            return self.linear2(torch.relu(self.linear1(y)))

        if self.norm_first:
            x = x + attend(self.norm1(x))
            x = x + look(self.norm2(x))
            return x + feed_forward(self.norm3(x))
        x = self.norm1(x + attend(x))
        x = self.norm2(x + look(x))
        return self.norm3(x + feed_forward(x))
        ### END SOLUTION


# %%
check("12.decoder_layer", DecoderLayer)

# %% [markdown]
# ## What may affect what?
#
# Even with a wrong mask, a model trains and its loss falls. The loss need not reveal the mistake: perhaps the translation of a sentence depends on the other sentences in its batch, or the model has learned to read the word that it should predict. That is why we need a test.

# %% [markdown]
# ## 12.catch_wrong_masks
#
# The check passes your function one **model** after another, each of which maps ids, `source` B×S and `target` B×T, to logits B×T×V. Ids 1 to 5 are words; 0 is padding, which follows the words. No sentence is empty. Return `True` if the logits **at target words** are finite and unchanged
#
# 1. when padding columns are appended to the source,
# 2. or to the target,
# 3. when a sentence is alone in its batch instead of beside longer and shorter ones,
# 4. at positions 0 … t, for every t, when target words after t change.
#
# Otherwise, or on an error, return `False`. At padded positions, anything is allowed, even NaN. With random sentences, a broken promise changes some logit by over $10^{-4}$; rounding stays below $10^{-5}$.


# %%
def catch_wrong_masks(model):
    """Tell whether a model's logits depend only on what they should.

    Args:
        model: a function (source B×S, target B×T) → logits B×T×V, which may be wrong and may raise.

    Returns:
        True if it is correct, False if not.

    Example:
        >>> catch_wrong_masks(lambda source, target: target[..., None] * torch.arange(6.0))
        True
        >>> catch_wrong_masks(lambda source, target: target[..., None] * torch.arange(6.0) + source.shape[1])
        False
    """
    ### BEGIN SOLUTION
    draw = torch.Generator().manual_seed(0)

    def sentences(lengths):
        ids = torch.randint(1, 6, (len(lengths), max(lengths)), generator=draw)
        return ids * (torch.arange(max(lengths)) < torch.tensor(lengths)[:, None])

    source, target = sentences([5, 2, 4]), sentences([3, 4, 2])
    padding, T = torch.zeros(3, 2, dtype=torch.long), target.shape[1]
    words = target != 0
    try:
        before = model(source, target)
        pairs = [
            (model(torch.cat([source, padding], 1), target), words),
            (model(source, torch.cat([target, padding], 1))[:, :T], words),
            (torch.cat([model(source[b : b + 1], target[b : b + 1]) for b in range(3)]), words),
        ]
        for t in range(T - 1):
            later = torch.arange(T) > t
            other = target % 5 + 1  # a different word for each
            pairs.append((model(source, torch.where(later & words, other, target)), words & ~later))
        return all(torch.allclose(after[kept], before[kept], rtol=0, atol=1e-5) for after, kept in pairs)
    except Exception:
        return False
    ### END SOLUTION


# %%
check("12.catch_wrong_masks", catch_wrong_masks)

# %% [markdown]
# ## Your own Transformer
#
# Your two layers complete the Transformer. The next cell puts two in the encoder and two in the decoder, with D = 32 and 4 heads, and adds embeddings, lesson 11's positions and a readout. It trains the model for about ten seconds on lesson 06's toy task, in which verbs go to the end. On 300 sentences, most of them new, the course's own layers get at least 98% of the words right with teacher forcing.


# %% tags=["own-machine"]
def train(encoder_layer, decoder_layer):
    share = train_assembled(encoder_layer, decoder_layer)
    print(f"Your Transformer gets {share:.3f} of the words right.")


train_own(train, {"12.encoder_layer": EncoderLayer, "12.decoder_layer": DecoderLayer})

# %% [markdown]
# ## 12.patch_embeddings
#
# *This exercise is optional.* To an encoder, it makes no difference what its vectors stand for. A **Vision Transformer** ([Dosovitskiy et al., 2021](https://arxiv.org/abs/2010.11929)) reads an image as a sentence whose words are **patches** of P×P pixels.
#
# Cut each image into patches and read them row by row, from left to right. Flatten each patch in the order C, P, P and project it with `weight`, flattened in the same way, and `bias`. Put `summary`, a learned vector, in front of the patches; the encoder's output for it will tell what is in the image. Then add `positions`.
#
# Y and X are multiples of P, and N is the number of patches.


# %%
def patch_embeddings(images, weight, bias, summary, positions):
    """Turn images into the vectors that an encoder reads.

    Args:
        images: B×C×Y×X.
        weight: D×C×P×P.
        bias: D.
        summary: D.
        positions: (1+N)×D, the first row for `summary`.

    Returns:
        The vectors, B×(1+N)×D.

    Example:
        >>> image, one = torch.tensor([[[[5.0, 6.0]]]]), torch.ones(1, 1, 1, 1)
        >>> patch_embeddings(image, one, torch.zeros(1), torch.zeros(1), torch.tensor([[1.0], [2.0], [3.0]]))
        tensor([[[1.],
                 [7.],
                 [9.]]])
    """
    ### BEGIN SOLUTION
    B, C, Y, X = images.shape
    P = weight.shape[-1]
    patches = images.reshape(B, C, Y // P, P, X // P, P).permute(0, 2, 4, 1, 3, 5)  # B Y/P X/P C P P
    words = patches.reshape(B, -1, C * P * P) @ weight.flatten(1).T + bias  # B N D
    vectors = torch.cat([summary.expand(B, 1, -1), words], dim=1)  # B 1+N D
    return vectors + positions
    ### END SOLUTION


# %%
check("12.patch_embeddings", patch_embeddings)

# %% [markdown]
# The next cell builds a small Vision Transformer around your patches, using PyTorch's version of the lesson's encoder layer.


# %%
class VisionTransformer(nn.Module):
    def __init__(self, embed, with_positions, D=32, P=2, N=16):
        super().__init__()
        self.embed = embed
        self.weight = nn.Parameter(torch.randn(D, 1, P, P) / P)
        self.bias = nn.Parameter(torch.zeros(D))
        self.summary = nn.Parameter(torch.randn(D))
        self.positions = nn.Parameter(torch.randn(1 + N, D) * with_positions, with_positions)
        layer = nn.TransformerEncoderLayer(D, 4, 64, 0.0, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.readout = nn.Linear(D, 10)

    def forward(self, images):
        weights = self.weight, self.bias, self.summary, self.positions
        vectors = self.embed(images, *weights)  # B 1+N D
        return self.readout(self.encoder(vectors)[:, 0])  # B 10


# %% [markdown]
# We train it twice, for about five seconds each, to read scikit-learn's 8×8-pixel handwritten digits, cut into 16 patches of 2×2: once with positions and once with zeros instead. What share of the 400 test digits will each of the two get right?


# %% tags=["own-machine"]
def train(patch_embeddings):
    images, labels = digits_of("train")
    test_images, test_labels = digits_of("test")
    for with_positions in (True, False):
        torch.manual_seed(0)
        model = VisionTransformer(patch_embeddings, with_positions)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
        for _ in range(300):
            rows = torch.randint(len(images), (64,))
            loss = F.cross_entropy(model(images[rows, None]), labels[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        right = model(test_images[:, None]).argmax(-1) == test_labels
        print(f"positions: {with_positions}, test digits read correctly: {right.float().mean():.2f}")


train_own(train, {"12.patch_embeddings": patch_embeddings})

# %% [markdown]
# Over five seeds, the model with the course's own patches gets 0.89 to 0.94 of the digits right with positions and 0.56 to 0.65 without: without positions, the image is a bag of patches.

# %% tags=["own-machine"]
progress()

# %% [markdown]
# Stuck on one? `hint("12.layer_norm")` gives the next hint, and `solution("12.layer_norm")` shows a solution after a try.
#
# Next, lesson 13: how a Transformer is trained.
