# %% [markdown]
# These tasks need no download, because they run on small tensors. If you have little time, do `22.encode`, `22.grouped_query_attention`, `22.chat_prompt`, `22.classify` and `22.catch_silent_mistake`. The others are optional: `22.unpack` and `22.to_neighbours` if you want to load files yourself, `22.swiglu` for one more part of a Llama, `22.induction_score` to look inside a model, and `22.one_pass_attention`, the hardest, to see how fast implementations compute attention.
#
# Shape letters: B sentences, T positions, S keys, D width of the model, F hidden width of a feed-forward network, H heads, d width of a head, G groups of heads that share keys and values. A mask is True where a position may be attended to.

# %%
from functools import reduce

import torch

from course_utils import check, hint, progress, solution

# %% [markdown]
# ## 22.encode
#
# Split a word into tokens with byte-pair encoding. Start from its characters and apply the merges in the order in which they were learned. Each merge is a pair of tokens: going from left to right, join the two wherever they are neighbours. `word` is a string and `merges` a list of pairs of strings. Return a list of strings.


# %%
def encode(word, merges):
    """Return the tokens of a word.

    Args:
        word: a string, such as "not".
        merges: pairs of tokens, in the order in which they were learned.

    Returns:
        A list of strings.

    Example:
        >>> encode("noon", [("n", "o"), ("o", "n")])
        ['no', 'on']
    """

    ### BEGIN SOLUTION
    def merge(tokens, pair):
        merged = []
        for token in tokens:
            if merged and (merged[-1], token) == pair:
                merged[-1] += token
            else:
                merged.append(token)
        return merged

    return reduce(merge, merges, list(word))
    ### END SOLUTION


# %%
check("22.encode", encode)

# %% [markdown]
# ## 22.unpack
#
# Our GGUF file stores the matrices of its layers in blocks of 32 weights. A block consists of a scale, a minimum and 16 bytes, each of which contains two integers from 0 to 15: byte = 16 · high + low. The low halves of the 16 bytes are the block's first 16 numbers, and the high halves are the other 16. A weight is scale · number + minimum. Return the weights of N blocks, one row per block.


# %%
def unpack(scale, minimum, packed):
    """Return the weights of blocks of four-bit numbers.

    Args:
        scale: N.
        minimum: N.
        packed: N×16, whole numbers from 0 to 255.

    Returns:
        The weights, N×32.

    Example:
        >>> weights = unpack(torch.tensor([0.5]), torch.tensor([-4.0]), torch.full((1, 16), 47))
        >>> weights[0, [0, 16]]
        tensor([ 3.5000, -3.0000])
    """
    ### BEGIN SOLUTION
    low = packed % 16  # N 16
    high = packed // 16  # N 16
    numbers = torch.cat([low, high], dim=1)  # N 32
    return scale[:, None] * numbers + minimum[:, None]
    ### END SOLUTION


# %%
check("22.unpack", unpack)

# %% [markdown]
# ## 22.swiglu
#
# Most of today's models have a **gated** feed-forward network (Shazeer, 2020). Two layers are applied to x in parallel. The first computes gates, each of which determines how much of one output of the second layer is passed on to the third:
#
# $$\text{SwiGLU}(x) = \big(\text{SiLU}(x W_{\text{gate}}^\top) \circ x W_{\text{up}}^\top\big)\, W_{\text{down}}^\top \qquad \text{SiLU}(z) = z \cdot \sigma(z)$$
#
# $\circ$ denotes elementwise multiplication, and $\sigma$ is the sigmoid. The weights are outputs × inputs, as in `nn.Linear`, and there are no biases. Leave out the residual connection.


# %%
def swiglu(x, weight_gate, weight_up, weight_down):
    """Send each vector through a gated feed-forward network.

    Args:
        x: …×D.
        weight_gate: F×D.
        weight_up: F×D.
        weight_down: D×F.

    Returns:
        The result, …×D.

    Example:
        >>> x = torch.tensor([[1.0, 2.0]])
        >>> swiglu(x, torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]]), torch.tensor([[1.0], [10.0]]))
        tensor([[ 1.4621, 14.6212]])
    """
    ### BEGIN SOLUTION
    gate = x @ weight_gate.T  # … F
    gated = gate * gate.sigmoid() * (x @ weight_up.T)  # … F
    return gated @ weight_down.T
    ### END SOLUTION


# %%
check("22.swiglu", swiglu)

# %% [markdown]
# ## 22.grouped_query_attention
#
# As it writes, a decoder stores each head's keys and values for all positions. To save memory, heads share keys and values in **groups** (Ainslie et al., 2023). There are H heads, each with its own queries, and G groups of keys and values. H is a multiple of G, and **head h uses group h // (H/G)**, so the first H/G heads share group 0. With G = H, this is the multi-head attention of lesson 10; with G = 1, all heads share the same keys and values.
#
# Each head's scores are divided by $\sqrt d$. Each row of the mask has at least one True.


# %%
def grouped_query_attention(query, key, value, mask):
    """Attend with heads that share keys and values in groups.

    Args:
        query: B×H×T×d.
        key: B×G×S×d.
        value: B×G×S×d.
        mask: B×T×S, True where a position may be attended to; the same for all heads.

    Returns:
        The contexts, B×H×T×d.

    Example:
        >>> value = torch.tensor([[[[1.0]], [[2.0]]]])  # two groups, a single position
        >>> mask = torch.ones(1, 1, 1, dtype=torch.bool)
        >>> grouped_query_attention(torch.ones(1, 4, 1, 1), torch.ones(1, 2, 1, 1), value, mask).flatten()
        tensor([1., 1., 2., 2.])
    """
    ### BEGIN SOLUTION
    times = query.shape[1] // key.shape[1]
    keys = key.repeat_interleave(times, 1)  # B H S d
    values = value.repeat_interleave(times, 1)  # B H S d
    scores = query @ keys.mT / query.shape[-1] ** 0.5  # B H T S
    weights = scores.masked_fill(~mask[:, None], -torch.inf).softmax(-1)
    return weights @ values
    ### END SOLUTION


# %%
check("22.grouped_query_attention", grouped_query_attention)

# %% [markdown]
# ## 22.to_neighbours
#
# Rotary positions rotate pairs of entries. Hugging Face's files pair entry i of a head with entry i + d/2, whereas our class pairs neighbours. Before we can use their query and key matrices, we therefore have to reorder the rows: within each head, row 0 of the first half, row 0 of the second half, row 1 of the first half, row 1 of the second half, and so on. The d rows of a head are adjacent, and d is even. Return the matrix with its rows in this order.


# %%
def to_neighbours(weight, heads):
    """Put the rows of each head in the order in which rotary pairs are neighbours.

    Args:
        weight: HD×D, where each of the H heads has the same number of rows, an even one.
        heads: H.

    Returns:
        The same rows in a different order, HD×D.

    Example:
        >>> to_neighbours(torch.tensor([[0.0], [1.0], [2.0], [3.0]]), 1).flatten()
        tensor([0., 2., 1., 3.])
    """
    ### BEGIN SOLUTION
    halves = weight.unflatten(0, (heads, 2, -1))  # H 2 d/2 D
    return halves.transpose(1, 2).flatten(0, 2)
    ### END SOLUTION


# %%
check("22.to_neighbours", to_neighbours)

# %% [markdown]
# ## 22.chat_prompt
#
# A chat is a single text. Each message is written in the form below, where `\n` is a newline:
#
# `<|im_start|>` role `\n` content `<|im_end|>` `\n`
#
# The spaces above are only for readability: nothing separates the parts of a message or one message from the next. The content is written as it is, with its own spaces and newlines.
#
# If the role of the first message is not `system`, put a system message with the content `default` before it. After the last message, whoever wrote it, open the answer: `<|im_start|>assistant\n`. `messages` is a list of at least one dictionary with a `"role"` and a `"content"`. Return the text.


# %%
def chat_prompt(messages, default):
    """Return a dialogue as the text that the model reads.

    Args:
        messages: dictionaries with the strings "role" and "content", at least one.
        default: a string, the content of the system message if the dialogue does not begin with one.

    Returns:
        The text, a string.

    Example:
        >>> chat_prompt([{"role": "user", "content": "Hi"}], "Be brief.")
        '<|im_start|>system\\nBe brief.<|im_end|>\\n<|im_start|>user\\nHi<|im_end|>\\n<|im_start|>assistant\\n'
    """
    ### BEGIN SOLUTION
    if messages[0]["role"] != "system":
        messages = [{"role": "system", "content": default}, *messages]
    turns = [f"<|im_start|>{each['role']}\n{each['content']}<|im_end|>\n" for each in messages]
    return "".join([*turns, "<|im_start|>assistant\n"])
    ### END SOLUTION


# %%
check("22.chat_prompt", chat_prompt)

# %% [markdown]
# ## 22.induction_score
#
# A text of T tokens repeats itself after `period` tokens: the token at position t equals the token at t - period. For each head, return the weight that a token puts on the token **after** its earlier copy, averaged over all queries t ≥ period.


# %%
def induction_score(weights, period):
    """Return how much weight each head puts on the token after the earlier copy.

    Args:
        weights: H×T×T, causal, a row for each query.
        period: the number of tokens after which the text repeats itself, from 1 to T - 1.

    Returns:
        The score of each head, H.

    Example:
        >>> weights = torch.eye(4)[[0, 0, 1, 2]][None]  # each token looks at the previous one
        >>> induction_score(weights, 2)
        tensor([1.])
    """
    ### BEGIN SOLUTION
    queries = torch.arange(period, weights.shape[-1])
    keys = queries - period + 1
    return weights[:, queries, keys].mean(-1)
    ### END SOLUTION


# %%
check("22.induction_score", induction_score)

# %% [markdown]
# ## 22.classify
#
# A language model has read one prompt per review, each ending in "Sentiment:", and you get its logits for the next token, one row per review. A review's score is $\log p(\text{positive}) - \log p(\text{negative})$, where $p$ is the softmax over the vocabulary, and `positive` and `negative` are two ids.
#
# A model may lean towards one label whatever it reads, which makes 0 a poor threshold. `unlabelled` contains the logits for M other reviews, whose labels are unknown. The threshold is the **median of their scores**, which is the score in the middle, because M is odd. For each of the N reviews, return whether its score is above the threshold.


# %%
def classify(logits, unlabelled, positive, negative):
    """Return which reviews are positive.

    Args:
        logits: N×V, of the reviews to classify.
        unlabelled: M×V, of other reviews; M is odd.
        positive: an id.
        negative: an id.

    Returns:
        True or False for each review, N.

    Example:
        >>> unlabelled = torch.tensor([[2.0, 1.0], [6.0, 1.0], [3.0, 0.0]])  # scores 1, 5 and 3
        >>> classify(torch.tensor([[4.0, 0.0], [4.0, 2.0]]), unlabelled, 0, 1)
        tensor([ True, False])
    """

    ### BEGIN SOLUTION
    def score(logits):
        log_p = logits.log_softmax(-1)
        return log_p[:, positive] - log_p[:, negative]

    threshold = score(unlabelled).median()
    return score(logits) > threshold
    ### END SOLUTION


# %%
check("22.classify", classify)

# %% [markdown]
# ## 22.catch_silent_mistake
#
# A loaded model may be wrong without raising an error, for example in its θ, its rotary pairs, its positions or its cache.
#
# Your function gets a small model as `read(texts, first)`, which reads one text after another with a cache: the first `first` ids at once, the others one at a time. It returns a list of logits, T×V for each text. `reference` is a list of pairs (ids, correct logits). Return `True` for a model that keeps these promises:
#
# 1. Its logits are correct after **every id**, for **any** `first` of 1 or more.
# 2. Its logits are correct for **each** of several texts in one call.
#
# Rounding changes logits by less than $10^{-5}$, whereas a broken promise changes some by more than 0.01. A model that raises an error is incorrect.


# %%
def catch_silent_mistake(read, reference):
    """Tell whether a model computes the correct logits, however it reads the texts.

    Args:
        read: a function (texts, first) → a list of logits T×V, which may be incorrect and may raise.
        reference: pairs (ids, logits T×V); ids is a list of 8 to 12 whole numbers.

    Returns:
        True if the model is correct, False if it is not.

    Example:
        >>> reference = [([0, 1, 2], torch.eye(3)), ([2, 0], torch.eye(3)[[2, 0]])]
        >>> catch_silent_mistake(lambda texts, first: [torch.eye(3)[ids] for ids in texts], reference)
        True
        >>> catch_silent_mistake(lambda texts, first: [torch.eye(3)[texts[0]] for ids in texts], reference)
        False
    """
    ### BEGIN SOLUTION
    texts, logits = zip(*reference, strict=True)
    right = torch.cat(logits)  # all positions, one text after another
    try:
        found = [torch.cat(read(texts, first)) for first in (1, 4)]
        return all(each.shape == right.shape and torch.allclose(each, right, atol=1e-4) for each in found)
    except Exception:
        return False
    ### END SOLUTION


# %%
check("22.catch_silent_mistake", catch_silent_mistake)

# %% [markdown]
# ## 22.one_pass_attention
#
# One query attends to many keys, whose scores and values arrive **in blocks**. Each call to `next_block()` returns the next block, a tuple of scores (b) and values (b×D); after the last block, it returns `None`. A block is only lent to you: **the next call overwrites it with NaN**, because fast memory is reused.
#
# Return the context, D: the sum of the values, weighted by the softmax over all scores. Keep no copies of blocks, though the check would not notice: keep a running maximum of the scores, a sum of exponentials and a context not yet divided by it (Milakov and Gimelshein, 2018; Dao et al., 2022). Scores near ±1,000 must not spoil the result. No block is empty.


# %%
def one_pass_attention(next_block):
    """Return the context of a softmax over scores that arrive in blocks.

    Args:
        next_block: a function without arguments that returns (scores b, values b×D) and, after the last block, None.

    Returns:
        The context, D.

    Example:
        >>> blocks = iter([(torch.tensor([0.0, 0.0]), torch.tensor([[1.0], [2.0]])), (torch.zeros(1), torch.tensor([[6.0]]))])
        >>> one_pass_attention(lambda: next(blocks, None))
        tensor([3.])
    """
    ### BEGIN SOLUTION
    largest, total, context = torch.tensor(-torch.inf), 0.0, 0.0
    while (block := next_block()) is not None:
        scores, values = block  # b, b D
        new = torch.maximum(largest, scores.max())
        factor, e = torch.exp(largest - new), torch.exp(scores - new)
        total = total * factor + e.sum()
        context = context * factor + e @ values  # D
        largest = new
    return context / total
    ### END SOLUTION


# %%
check("22.one_pass_attention", one_pass_attention)

# %% [markdown]
# How many have you solved?

# %% tags=["own-machine"]
progress()
