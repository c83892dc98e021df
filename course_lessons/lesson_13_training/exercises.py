# %% [markdown]
# Four of these tasks form the core of the lesson: you fix a schedule and a step of Adam, measure the gap between a smoothed loss and the lowest one, and decide what runs with the same seeds show.
#
# The other five are optional, for readers who want more. You fill batches by number of tokens, compute one step of attention with a cache, work out the size of the cache, write a test that catches incorrect training loops, and write a whole translation model from an empty cell. The letters: B sentences, T words in a sentence, t earlier words, D dimension of a word vector, H heads, d = D/H dimension of a head, V vocabulary size.

# %%
import torch
import torch.nn.functional as F
from torch import nn

from course_utils import check, hint, progress, solution

# %% [markdown]
# ## 13.learning_rate
#
# In the schedule of our translation models, the learning rate rises linearly to `highest` and then falls linearly. This version has two bugs, although a model trained with it still learns. Find and fix them:
#
# ```python
# def learning_rate(step, steps, warmup, highest):
#     if step < warmup:
#         return highest * (step - 1) / warmup
#     return highest * (steps - step) / (steps - warmup)
# ```
#
# It should keep these promises:
#
# 1. Steps are numbered from 1 to `steps`. During the warm-up, the rate is proportional to the step.
# 2. At step = warmup, the rate is at its highest.
# 3. After that, the rate falls by the same amount at each step and *would* be 0 one step after the last.
#
# Every step therefore moves the weights, even if `warmup` is `steps`. Return one number.


# %%
def learning_rate(step, steps, warmup, highest):
    """Return the learning rate of one step.

    Args:
        step: its number, an int from 1 to steps.
        steps: how many steps there are, an int.
        warmup: for how many of them the rate rises, an int from 1 to steps.
        highest: the highest rate, a number above 0.

    Returns:
        The learning rate, a number.

    Example:
        >>> [learning_rate(step, 6, 3, 0.75) for step in range(1, 7)]
        [0.25, 0.5, 0.75, 0.5625, 0.375, 0.1875]
    """
    ### BEGIN SOLUTION
    if step < warmup:
        return highest * step / warmup
    return highest * (steps + 1 - step) / (steps + 1 - warmup)
    ### END SOLUTION


# %%
check("13.learning_rate", learning_rate)

# %% [markdown]
# ## 13.adam_step
#
# This step of Adam has bugs. If eps is tiny, the parameter it returns is nearly correct at step 1, but wrong from step 2 on:
#
# ```python
# def adam_step(parameter, gradient, m, v, step, rate, beta1, beta2, eps):
#     m = beta1 * m + (1 - beta1) * gradient
#     v = beta2 * v + (1 - beta2) * gradient**2
#     m, v = m / (1 - beta1), v / (1 - beta2)
#     return parameter - rate * m / (v + eps).sqrt(), m, v
# ```
#
# Find and fix them so that the function keeps these promises:
#
# 1. The returned $m$ and $v$ are passed to the next call. They are moving averages that started at zero.
# 2. If a parameter has the same gradient $g \ne 0$ at steps 1, 2, 3, …, each step moves it against $g$ by $\text{rate} \cdot |g| / (|g| + \varepsilon)$.
# 3. The input tensors stay unchanged.
#
# Everything is computed elementwise. Steps are numbered from 1. Your result need not be differentiable.


# %%
def adam_step(parameter, gradient, m, v, step, rate, beta1, beta2, eps):
    """Take one step of Adam.

    Args:
        parameter: a tensor of any shape, which the next three share.
        gradient: the gradient of the loss with respect to parameter.
        m: the moving average of the gradients so far.
        v: the moving average of their squares so far.
        step: t, an int of 1 or more.
        rate: a number above 0.
        beta1: a number from 0 to 1, 1 excluded.
        beta2: the same for v.
        eps: a number above 0.

    Returns:
        The new parameter, the new m and the new v.

    Example:
        >>> zero = torch.zeros(1)
        >>> adam_step(torch.tensor([1.0]), torch.tensor([2.0]), zero, zero, 1, 0.5, 0.5, 0.75, 2.0)
        (tensor([0.7500]), tensor([1.]), tensor([1.]))
    """
    ### BEGIN SOLUTION
    new_m = beta1 * m + (1 - beta1) * gradient
    new_v = beta2 * v + (1 - beta2) * gradient**2
    m_corrected = new_m / (1 - beta1**step)
    v_corrected = new_v / (1 - beta2**step)
    return parameter - rate * m_corrected / (v_corrected.sqrt() + eps), new_m, new_v
    ### END SOLUTION


# %%
check("13.adam_step", adam_step)

# %% [markdown]
# ## 13.label_smoothing_loss
#
# A smoothed loss never reaches 0, so it does not tell us how much a model could still improve. A better measure is the gap between the loss and the **lowest** loss that any logits could reach with this smoothing and vocabulary.
#
# Compute it: the mean smoothed loss over all tokens whose target is not `pad`, minus that lowest loss. Work out when the lowest loss is reached and therefore how large it is. With $\varepsilon = 0.1$ and $V = 5$, it is 0.39, as in the lesson.
#
# All V classes, including the padding class, share the smoothing $\varepsilon$ = `smoothing`; `pad` is an id from 0 to V − 1, not always 0. There is at least one real token. You may use `torch.nn.functional.cross_entropy` with `label_smoothing` and `ignore_index`.


# %%
def label_smoothing_loss(logits, target, smoothing, pad):
    """Return the mean smoothed loss of the tokens minus the lowest possible one.

    Args:
        logits: B×T×V.
        target: the ids of the correct words, B×T, with `pad` where there is no word.
        smoothing: ε, a number from 0 to 1, 1 excluded.
        pad: the id of padding.

    Returns:
        The loss above the lowest one, one number; 0 for the best logits.

    Example:
        >>> logits = torch.tensor([[[0.0, 1.0], [9.0, 9.0]]])
        >>> label_smoothing_loss(logits, torch.tensor([[0, 1]]), 0.1, 1)
        tensor(1.0647)
    """
    ### BEGIN SOLUTION
    V = logits.shape[-1]
    loss = F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=pad, label_smoothing=smoothing)
    # The lowest loss belongs to logits that give exactly the targets, for the correct word and for every other word.
    right, rest = logits.new_tensor([1 - smoothing + smoothing / V, smoothing / V])
    return loss - torch.special.entr(right) - (V - 1) * torch.special.entr(rest)
    ### END SOLUTION


# %%
check("13.label_smoothing_loss", label_smoothing_loss)

# %% [markdown]
# ## 13.token_batches
#
# *This exercise is optional.* It is practice in Python, and nothing later depends on it.
#
# In a batch, every sentence is padded to the length of the longest, so sentences of similar length should share a batch.
#
# Go through the sentences from the shortest to the longest; sentences of the same length stay in the order given. Put each sentence into the current batch, unless the **number of sentences times the length of the longest** would then exceed `limit`. In that case, close the batch and start a new one with this sentence. Return the batches in the order in which they are filled, each as a list of indices into `lengths`.
#
# If there are no sentences, return an empty list. If a sentence is longer than `limit`, raise a `ValueError`. Leave `lengths` unchanged.


# %%
def token_batches(lengths, limit):
    """Put sentences of similar length into batches of at most `limit` tokens.

    Args:
        lengths: a list of ints, the number of tokens of each sentence.
        limit: an int, the maximum number of tokens in a batch, including padding.

    Returns:
        A list of batches, each a list of indices.

    Raises:
        ValueError: when a sentence is longer than limit.

    Example:
        >>> token_batches([5, 2, 3, 2], 6)
        [[1, 3], [2], [0]]
    """
    ### BEGIN SOLUTION
    batches, batch = [], []
    for i in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        if lengths[i] > limit:
            raise ValueError(f"sentence {i} has {lengths[i]} tokens, and a batch holds {limit}")
        if (len(batch) + 1) * lengths[i] > limit:
            batches.append(batch)
            batch = []
        batch.append(i)
    return [*batches, batch] if batch else []
    ### END SOLUTION


# %%
check("13.token_batches", token_batches)

# %% [markdown]
# ## 13.paired_difference
#
# A model was trained with several seeds and then again with one thing changed. `plain` and `changed` map seeds to results, where higher is better. The dicts may be in different orders, and some seeds may be in only one of them; at least one seed is in both.
#
# For the seeds that are in both dicts, return two numbers:
#
# - what the change gains on average;
# - a verdict: `1` if the change helps for every seed, `-1` if it hurts for every seed, and `0` otherwise. The verdict is also `0` if equal signs, all above 0 or all below 0, would arise by chance more than one time in 16. A difference of 0 has no sign.


# %%
def paired_difference(plain, changed):
    """Say what a change gains and whether all seeds agree.

    Args:
        plain: a dict from seeds (ints) to results (numbers).
        changed: the same, with one thing changed.

    Returns:
        The mean difference, a number, and the verdict, 1, -1 or 0.

    Example:
        >>> paired_difference({0: 71.0, 1: 84.0}, {1: 86.5, 0: 70.5})
        (1.0, 0)
    """
    ### BEGIN SOLUTION
    gains = [changed[seed] - plain[seed] for seed in plain if seed in changed]
    mean = sum(gains) / len(gains)
    if 2 / 2 ** len(gains) > 1 / 16:
        return mean, 0
    return mean, int(min(gains) > 0) - int(max(gains) < 0)
    ### END SOLUTION


# %%
check("13.paired_difference", paired_difference)

# %% [markdown]
# ## 13.cached_step
#
# *This exercise is optional.*
#
# In lesson 12, the decoder reread all its words at each step. But in causal self-attention, no word sees a later one, so the keys and values of earlier words never change. A decoder can store them in a **cache** and project only the newest word. `x` contains one new word per sentence; `keys` and `values` belong to the $t$ previous words, projected and split into heads; $t$ may be 0.
#
# Project the new word, append its key and value **after** the cached ones and let its query attend to all $t + 1$ words. The output is the last row of a causal `10.multi_head_attention` with these weights: `in_weight` and `in_bias` contain the blocks for queries, keys and values; head $h$ uses the dimensions from $h \cdot d$ on; scores are divided by $\sqrt d$.
#
# Return the output, all keys and all values, as new tensors.


# %%
def cached_step(x, keys, values, in_weight, in_bias, out_weight, out_bias):
    """Let one new word attend to itself and to the words before it.

    Args:
        x: the new word of each sentence, B×1×D.
        keys: the keys of the words before it, B×H×t×d with D = H · d; t may be 0.
        values: their values, B×H×t×d.
        in_weight: 3D×D.
        in_bias: 3D.
        out_weight: D×D.
        out_bias: D.

    Returns:
        The output B×1×D, all keys B×H×(t+1)×d and all values B×H×(t+1)×d.

    Example:
        >>> empty = torch.zeros(1, 2, 0, 1)
        >>> weights = torch.eye(2).repeat(3, 1), torch.zeros(6), torch.eye(2), torch.ones(2)
        >>> output, keys, values = cached_step(torch.tensor([[[1.0, 2.0]]]), empty, empty, *weights)
        >>> output
        tensor([[[2., 3.]]])
        >>> keys.shape
        torch.Size([1, 2, 1, 1])
    """
    ### BEGIN SOLUTION
    B, H, _, d = keys.shape
    projected = x @ in_weight.T + in_bias  # B 1 3D
    query, key, value = (part.view(B, H, 1, d) for part in projected.chunk(3, dim=-1))
    all_keys, all_values = torch.cat([keys, key], 2), torch.cat([values, value], 2)  # B H t+1 d
    weights = (query @ all_keys.mT / d**0.5).softmax(-1)  # B H 1 t+1
    context = (weights @ all_values).view(B, 1, H * d)
    return context @ out_weight.T + out_bias, all_keys, all_values
    ### END SOLUTION


# %%
check("13.cached_step", cached_step)

# %% [markdown]
# ## 13.cache_bytes
#
# *This exercise is optional.* How much memory does a cache need?
#
# A Transformer translates `sentences` at the same time, each with `source` tokens, and its decoder has read `written` tokens of each translation. The decoder has `layers` layers of width `width` with `heads` heads, and each number takes up `bytes_each` bytes.
#
# Count the keys and values that the *next* step needs but need not compute again, and return their size in bytes. Each layer attends to what has been written and to the source, so count both. Is there an argument that does not matter?


# %%
def cache_bytes(sentences, layers, width, heads, source, written, bytes_each):
    """Count the bytes of all keys and values that a decoder keeps.

    Args:
        sentences: how many are translated at the same time.
        layers: the number of decoder layers.
        width: D, a multiple of heads.
        heads: H, the heads of each attention layer.
        source: the tokens of each source, padding included.
        written: the tokens that the decoder has read so far, BOS included; may be 0.
        bytes_each: the bytes of one number.

    Returns:
        The bytes, an int.

    Example:
        >>> cache_bytes(1, 1, 4, 2, 3, 2, 2)
        80
    """
    ### BEGIN SOLUTION
    tokens = source + written  # each layer keeps a key and a value of all heads for each of them
    return sentences * layers * tokens * 2 * width * bytes_each
    ### END SOLUTION


# %%
check("13.cache_bytes", cache_bytes)

# %% [markdown]
# ## When the loss still falls
#
# A training loop with a mistake often still runs, and its loss may fall only a little more slowly or not quite as low. Without a correct result for comparison, such a mistake is easily missed.

# %% [markdown]
# ## 13.catch_wrong_step
#
# *This exercise is optional.*
#
# A candidate `train(model, weights, batches, held_out, rate, clip)` is a training loop. You write the model that it trains, which may be as small as you like: `model(weights, batch, training)` returns the loss and a list of its gradients, one for each tensor in `weights`, with dropout on if `training` is True. Return `True` for a candidate that keeps all these promises:
#
# 1. For each batch in turn, it computes gradients at the current weights, with dropout on.
# 2. If the norm of all gradients together exceeds `clip`, they are scaled down to it.
# 3. `rate` times the gradients is subtracted.
# 4. Then it computes the loss on `held_out`, with dropout off.
# 5. It returns the last weights, even if an earlier loss was lower, and all of these losses.
#
# Rounding errors stay below $10^{-5}$. A candidate that raises an error is wrong.


# %%
def catch_wrong_step(train):
    """Tell whether a candidate trains a model as it should.

    Args:
        train: a function (model, weights, batches, held_out, rate, clip) → list of weights, list of losses, which may be wrong
            and may raise. `weights` is a list of float32 tensors, with entries of about 1. `held_out` and each batch in the list
            `batches` contain what your model reads: tensors or numbers. `rate` is above 0 and at most 1, `clip` above 0.

    Returns:
        True if the loop is correct, False if not.

    Example:
        >>> catch_wrong_step(lambda model, weights, batches, held_out, rate, clip: (weights, [0.0 for batch in batches]))
        False
    """

    ### BEGIN SOLUTION
    def model(weights, batch, training):
        x, target = batch
        weights = [weight.detach().requires_grad_() for weight in weights]
        keep = torch.tensor([2.0, 0.0, 2.0, 0.0]) if training else torch.ones(4)  # it drops the same ones each time
        loss = F.cross_entropy((x @ weights[0]).tanh() * keep @ weights[1], target)
        return loss.item(), torch.autograd.grad(loss, weights)

    def right(model, weights, batches, held_out, rate, clip):
        losses = []
        for batch in batches:
            _, gradients = model(weights, batch, True)
            norm = torch.cat([gradient.flatten() for gradient in gradients]).norm().item()
            step = rate * min(1.0, clip / norm)
            weights = [weight - step * gradient for weight, gradient in zip(weights, gradients, strict=True)]
            losses.append(model(weights, held_out, False)[0])
        return weights, losses

    draw = torch.Generator().manual_seed(0)
    start = [torch.randn(3, 4, generator=draw), torch.randn(4, 5, generator=draw)]
    xs, targets = torch.randn(4, 6, 3, generator=draw), torch.randint(0, 5, (4, 6), generator=draw)
    *batches, held_out = zip(xs, targets, strict=True)

    def numbers(loop, clip):
        weights, losses = loop(model, start, batches, held_out, 0.5, clip)
        return torch.cat([*(weight.flatten() for weight in weights), torch.tensor(losses)])

    def agrees(clip):
        result, expected = numbers(train, clip), numbers(right, clip)
        return result.shape == expected.shape and torch.allclose(result, expected, atol=1e-5)

    try:
        return all(agrees(clip) for clip in (0.1, 100.0))  # one that always clips, one that never does
    except Exception:
        return False
    ### END SOLUTION


# %%
check("13.catch_wrong_step", catch_wrong_step)

# %% [markdown]
# ## From an empty cell
#
# So far, you have written pieces of models and of their training, and the course has supplied the rest. Now you write all of it.

# %% [markdown]
# ## 13.train_and_translate
#
# *This exercise is optional* and the largest in the course: from an empty cell to a trained translation model, with `torch` alone.
#
# Build a model, train it for `steps` steps on all pairs, then use it on some new batches. It should keep these promises:
#
# 1. It knows the order of the words. The decoder never sees later tokens, and padding in the source has no effect.
# 2. The loss is the mean cross-entropy over the real tokens.
# 3. In the end, it predicts every token of its training pairs correctly.
# 4. Translations come from greedy search: without BOS, up to EOS, then 0.
# 5. Two calls give the same result: begin with `torch.manual_seed(0)`.
#
# Ids: 0 padding, 1 BOS, 2 EOS. No batch has more than 20 columns. Dimension 32, one layer on each side, and Adam with a learning rate of 0.005 are enough.


# %%
def train_and_translate(source, target, V, steps, new_source, new_target):
    """Train a translation model from random weights and use it.

    Args:
        source: the training sentences, token ids B×S, padded with 0.
        target: their translations, B×T: BOS, tokens, EOS, padding.
        V: the size of the vocabulary, for both languages.
        steps: the number of training steps, an int.
        new_source: a list of batches, each N×S with N and S of its own.
        new_target: a list of target batches for them, each N×T, also from BOS to EOS.

    Returns:
        The training losses, a list of `steps` numbers, and a list of results from the
        trained model in evaluation mode, for each new batch a tuple of three: logits
        N×(T-1)×V with teacher forcing; their loss, one number; translations N×(T-1).

    Example:
        >>> source, target = torch.tensor([[3, 4]]), torch.tensor([[1, 4, 3, 2]])
        >>> losses, results = train_and_translate(source, target, 5, 50, [source], [target])
        >>> results[0][2]
        tensor([[4, 3, 2]])
    """
    ### BEGIN SOLUTION
    PAD, BOS, EOS = 0, 1, 2
    torch.manual_seed(0)

    class Translator(nn.Module):
        def __init__(self, D=32, H=2):
            super().__init__()
            self.tokens = nn.Embedding(V, D)
            self.positions = nn.Embedding(20, D)
            self.encoder = nn.TransformerEncoderLayer(D, H, 2 * D, dropout=0.0, batch_first=True)
            self.decoder = nn.TransformerDecoderLayer(D, H, 2 * D, dropout=0.0, batch_first=True)
            self.readout = nn.Linear(D, V)

        def embed(self, ids):
            return self.tokens(ids) + self.positions(torch.arange(ids.shape[1]))

        def forward(self, source, given):
            hidden = source == PAD  # in PyTorch, True means "may not attend"
            later = torch.ones(given.shape[1], given.shape[1], dtype=torch.bool).triu(1)
            memory = self.encoder(self.embed(source), src_key_padding_mask=hidden)
            states = self.decoder(self.embed(given), memory, tgt_mask=later, memory_key_padding_mask=hidden)
            return self.readout(states)

    def mean_loss(logits, target):
        return F.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten(), ignore_index=PAD)

    def greedy(source, length):
        written = torch.full((len(source), 1), BOS)
        for _ in range(length):
            finished = (written == EOS).any(dim=1)
            token = model(source, written)[:, -1].argmax(-1).masked_fill(finished, PAD)
            written = torch.cat([written, token[:, None]], dim=1)
        return written[:, 1:]

    model = Translator()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    losses = []
    for _ in range(steps):
        loss = mean_loss(model(source, target[:, :-1]), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())

    model.eval()
    results = []
    with torch.no_grad():
        for source, target in zip(new_source, new_target, strict=True):
            logits = model(source, target[:, :-1])
            results.append((logits, mean_loss(logits, target), greedy(source, target.shape[1] - 1)))
    return losses, results
    ### END SOLUTION


# %%
check("13.train_and_translate", train_and_translate)

# %% tags=["own-machine"]
progress()

# %% [markdown]
# Stuck on one? `hint("13.cached_step")` gives the next hint, and `solution("13.cached_step")` shows a solution after a try.
#
# Next, lesson 14: where in a picture should a network look next?
