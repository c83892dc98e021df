# %% [markdown]
# The first two tasks are short: a language model's loss and the choice of the next id. Then you put a whole GPT together and write a test that finds faulty caches. At the end, we train your GPT and let it write.
#
# Shape letters: B sentences, T positions, V vocabulary, D width of the model, H heads.

# %%
import torch
import torch.nn.functional as F
from torch import nn

from course_utils import check, hint, progress, solution
from course_utils.learner.train_answers import train_own
from course_utils.models.character_model import go_on, train_speaker

# %% [markdown]
# ## 21.next_token_loss
#
# A language model learns to predict the next id. At each position, it outputs one logit for each id in the vocabulary, and its loss there is the cross-entropy of the id **one position later**. The id after the last position is unknown, so the last logits have no loss. Return the mean of the other losses over all sentences and positions. T is at least 2.
#
# $$\text{loss} = -\frac{1}{B\,(T-1)} \sum_{b} \sum_{t=0}^{T-2} \log \text{softmax}(\text{logits}_{b,t})_{\text{ids}_{b,t+1}}$$


# %%
def next_token_loss(logits, ids):
    """Return the mean cross-entropy of the next ids.

    Args:
        logits: B×T×V; those at position t depend on the ids at 0 … t.
        ids: B×T.

    Returns:
        The loss in nats, one number.

    Example:
        >>> logits = torch.tensor([[[0.0, 0.0], [0.0, 1.0986], [5.0, 0.0]]])
        >>> next_token_loss(logits, torch.tensor([[0, 1, 1]]))
        tensor(0.4904)
    """
    ### BEGIN SOLUTION
    log_p = logits[:, :-1].log_softmax(-1)  # B T-1 V
    wanted = ids[:, 1:, None]  # B T-1 1
    return -log_p.gather(-1, wanted).mean()
    ### END SOLUTION


# %%
check("21.next_token_loss", next_token_loss)

# %% [markdown]
# ## 21.nucleus
#
# Before the next id is sampled, improbable ids are often removed. A **nucleus** is the smallest set of most probable ids whose probabilities sum to `p` or more (Holtzman et al., 2020). Starting with the most probable id, add up the probabilities until the sum reaches `p`. The id that reaches it still belongs to the set. If two ids are equally probable, the smaller id comes first.
#
# Your function gets **logits**. Return V probabilities, each at its own id: 0 outside the set and, inside it, the probabilities divided by their sum. `p` is greater than 0 and at most 1.


# %%
def nucleus(logits, p):
    """Return the probabilities of the smallest set of ids whose probability reaches p.

    Args:
        logits: V.
        p: a number greater than 0 and at most 1.

    Returns:
        V probabilities, each at its own id, with zeros outside the set.

    Example:
        >>> nucleus(torch.tensor([0.1, 0.5, 0.4]).log(), 0.8)
        tensor([0.0000, 0.5556, 0.4444])
    """
    ### BEGIN SOLUTION
    probabilities = logits.softmax(-1)  # V
    places = probabilities.argsort(descending=True, stable=True)
    ordered = probabilities[places]
    before = ordered.cumsum(-1) - ordered  # the sum of all that are more probable
    kept = torch.zeros_like(probabilities)
    kept[places] = ordered * (before < p)
    return kept / kept.sum()
    ### END SOLUTION


# %%
check("21.nucleus", nucleus)

# %% [markdown]
# ## 21.gpt
#
# Put a GPT together. `__init__` creates the parts, so leave it as it is and write `forward` in three steps:
#
# 1. Each id becomes its vector in `embedding` plus row t of `positions`, where t is its position.
# 2. Each block is pre-norm: x + attention(norm1(x)), then x + network(norm2(x)). A position sees **itself and earlier positions**. In `nn.MultiheadAttention`, the `attn_mask` is T×T, and True means hidden.
# 3. The last block is followed by `norm` and the readout, which has no weights of its own: an id's logit is the dot product with **its vector in `embedding`**.
#
# Each block computes what `nn.TransformerEncoderLayer` does with `norm_first=True`, no dropout, GELU and a causal mask. A block's parts are `block["norm1"]` and so on.


# %%
class Gpt(nn.Module):
    """A decoder-only model: blocks of causal self-attention and a feed-forward network, with learned positions.

    Args:
        vocabulary: V.
        width: D.
        heads: H.
        hidden: F.
        layers: how many blocks there are.
        longest: how many positions there are at most.

    Returns:
        A model that turns ids B×T into logits B×T×V.

    Example:
        >>> model = Gpt(vocabulary=7, width=4, heads=2, hidden=8, layers=2, longest=16)
        >>> model(torch.tensor([[3, 1, 4]])).shape
        torch.Size([1, 3, 7])
    """

    def __init__(self, vocabulary, width, heads, hidden, layers, longest):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(longest, width)
        for table in (self.embedding, self.positions):
            nn.init.normal_(table.weight, std=0.1)
        self.blocks = nn.ModuleList()
        for _ in range(layers):
            parts = {
                "norm1": nn.LayerNorm(width),
                "attention": nn.MultiheadAttention(width, heads, batch_first=True),
                "norm2": nn.LayerNorm(width),
                "network": nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width)),
            }
            self.blocks.append(nn.ModuleDict(parts))
        self.norm = nn.LayerNorm(width)

    def forward(self, ids):
        ### BEGIN SOLUTION
        T = ids.shape[1]
        x = self.embedding(ids) + self.positions.weight[:T]  # B T D
        future = torch.ones(T, T, dtype=torch.bool).triu(1)  # T T
        for block in self.blocks:
            y = block["norm1"](x)
            x = x + block["attention"](y, y, y, attn_mask=future, need_weights=False)[0]
            x = x + block["network"](block["norm2"](x))
        return self.norm(x) @ self.embedding.weight.T
        ### END SOLUTION


# %%
check("21.gpt", Gpt)

# %% [markdown]
# ## 21.catch_wrong_cache
#
# A model that writes stores what it needs in a **cache**. Your function gets one model at a time, `model(ids, cache)` → (logits B×T×V, a new cache). `ids` are B×T, from 0 to 5, at most 12 in a text. `cache` is `None` at first and then whatever the previous call returned. Return `True` for a model that keeps these promises:
#
# 1. Its logits are finite. If it gets the ids **one at a time**, the logits are the same as for all ids at once.
# 2. The logits are also the same if it gets the ids in pieces of **any length**.
# 3. Each sentence gets the same logits **alone** as in a batch.
#
# A broken promise changes some logit by more than $10^{-4}$, whereas rounding changes logits by less than $10^{-5}$. A model that raises an error is incorrect.


# %%
def catch_wrong_cache(model):
    """Tell whether a model gives the same logits with a cache as without.

    Args:
        model: a function (ids B×T, cache) → (logits B×T×V, cache), which may be incorrect and may raise.

    Returns:
        True if it is correct, False if it is not.

    Example:
        >>> def model(ids, total):
        ...     sums = ids.cumsum(1) + (0 if total is None else total)
        ...     return sums[..., None] * torch.arange(6.0), sums[:, -1:]
        >>> catch_wrong_cache(model)
        True
        >>> catch_wrong_cache(lambda ids, total: model(ids, None))
        False
    """
    ### BEGIN SOLUTION
    ids = torch.randint(0, 6, (3, 10), generator=torch.Generator().manual_seed(0))

    def in_pieces(ids, sizes):
        cache, found = None, []
        for piece in ids.split(sizes, 1):
            logits, cache = model(piece, cache)
            found.append(logits)
        return torch.cat(found, 1)

    try:
        whole = model(ids, None)[0]
        others = [in_pieces(ids, sizes) for sizes in ([1] * 10, [3, 1, 2, 4])]
        others.append(torch.cat([model(row[None], None)[0] for row in ids]))
        same = all(other.shape == whole.shape and torch.allclose(other, whole, rtol=0, atol=1e-5) for other in others)
        return same and bool(whole.isfinite().all())
    except Exception:
        return False
    ### END SOLUTION


# %%
check("21.catch_wrong_cache", catch_wrong_cache)

# %% [markdown]
# ## Your own GPT writes
#
# The next cell trains your `Gpt` for ten to twenty seconds on made-up stories, such as "mary went to the kitchen. mary took the ball." It reads and writes them letter by letter. After training, it continues a prompt, which you may change.


# %% tags=["own-machine"]
def speak(gpt, prompt="mary went to the "):
    model, bits = train_speaker(gpt)
    print(f"Your GPT needs {bits:.2f} bits per letter for stories it has not seen. It writes:")
    print(go_on(model, prompt))


train_own(speak, {"21.gpt": Gpt})

# %% [markdown]
# What does this text get right: the spelling, the sentences, or even who has what?

# %% tags=["own-machine"]
progress()

# %% [markdown]
# Stuck on one? `hint("21.nucleus")` gives the next hint, and `solution("21.nucleus")` shows a solution after a try.
