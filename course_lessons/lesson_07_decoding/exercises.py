# %% [markdown]
# You compute how probable a translation is and search for a probable one, greedily and with a beam. Then you work out the length penalty at which a longer translation wins, compute BLEU, and write a test that tells correct beam searches from incorrect ones. T is the length of the target and V the size of the vocabulary.

# %%
import math
from collections import Counter

import torch

from course_utils import check, hint, progress, solution
from course_utils.models.minimal import beam_search as reference

# %% [markdown]
# ## How probable is a translation?
#
# At each position, a decoder outputs one score for each word in the vocabulary. The probability of a whole translation $y$ of a source sentence $x$ is the product of its words' probabilities.

# %% [markdown]
# ## 07.log_probability
#
# At each position $t$, the decoder has read the previous words and outputs V logits. Compute the natural logarithm of the probability that it assigns to the whole target:
#
# $$\log p(y \mid x) = \sum_t \log p_t(\text{target}_t), \quad p_t = \operatorname{softmax}(\text{logits}_t)$$
#
# The target has no padding, and its last word, which ends it, counts like any other. The result must be finite even for hundreds of words.


# %%
def log_probability(logits, target):
    """Return the natural logarithm of a translation's probability.

    Args:
        logits: T×V, the scores of all words at each position.
        target: T, the ids of the translation's words.

    Returns:
        The log probability, a tensor with one number and no axis.

    Example:
        >>> logits = torch.tensor([[0.0, 0.0], [1.0, 3.0]])
        >>> log_probability(logits, torch.tensor([0, 1]))  # -0.6931 - 0.1269
        tensor(-0.8201)
    """
    ### BEGIN SOLUTION
    log_p = logits.log_softmax(-1)  # T V
    return log_p.gather(1, target[:, None]).sum()
    ### END SOLUTION


# %%
check("07.log_probability", log_probability)

# %% [markdown]
# ## Searching for a translation
#
# We search for the translation that the decoder considers most probable. There are far too many translations to try every one.
#
# In the tasks below, a function `step` plays the role of the decoder. `step(prefix)` takes the list of ids written so far, which begins with `bos`. It returns a new tensor with V numbers, the natural logarithm of each id's
# probability of coming next. It stores nothing between calls, so the same prefix always gets the same answer. `eos` ends a translation, so `step` is not called after that. `longest`, which is at least 1,
# limits the number of ids written: `eos` counts, but `bos` does not. Once that many ids are written, `step` is not called again.

# %% [markdown]
# ## 07.greedy
#
# Write the most probable id and call `step` again, until `eos` is written or there are `longest` ids. Return the ids after `bos` as a list of ints, with `eos` at the end if it was written. If several ids are
# equally probable, write the smallest.
#
# $$y_t = \operatorname{argmax}_v \log p(v \mid x, y_1, \dots, y_{t-1})$$


# %%
def greedy(step, bos, eos, longest):
    """Return the translation that consists of the most probable id at each step.

    Args:
        step: a function (prefix, a list of ints that begins with bos) → log probabilities of the next id, V.
        bos: the id that marks the beginning, an int.
        eos: the id that ends a translation, an int.
        longest: the maximum number of ids to write, an int of 1 or more.

    Returns:
        The ids after bos, a list of ints, up to and including eos.

    Example:
        >>> def step(prefix):  # the ids are 0, which is eos, 1 and 2; after two ids it mostly ends
        ...     return torch.tensor([0.1, 0.2, 0.7] if len(prefix) < 3 else [0.8, 0.1, 0.1]).log()
        >>> greedy(step, 9, 0, 5)
        [2, 2, 0]
        >>> greedy(step, 9, 0, 2)
        [2, 2]
    """
    ### BEGIN SOLUTION
    prefix = [bos]
    for _ in range(longest):
        best = int(step(prefix).argmax())
        prefix = [*prefix, best]
        if best == eos:
            break
    return prefix[1:]
    ### END SOLUTION


# %%
check("07.greedy", greedy)

# %% [markdown]
# ## 07.beam_search
#
# The lesson's beam search has two faults: it loses the hypotheses still open at the limit, and it fails if the beam is wider than the vocabulary. Write a version without these faults. It begins with one open hypothesis, only `bos`, with a log probability of 0. In each round:
#
# 1. Extend every open hypothesis with every id and add the id's log probability.
# 2. Of the continuations of all hypotheses, keep the `width` most probable, or all of them if there are fewer.
# 3. Set aside those that end with `eos`. The others stay open.
#
# The search ends when nothing is open or after `longest` rounds; whatever is still open is then set aside as well. Return pairs of the ids after `bos` and their log probability, the most probable first. No two log probabilities are equal.


# %%
def beam_search(step, bos, eos, width, longest):
    """Return the hypotheses that a beam search sets aside, the most probable first.

    Args:
        step: a function (prefix, a list of ints that begins with bos) → log probabilities of the next id, V.
        bos: the id that marks the beginning, an int.
        eos: the id that ends a translation, an int.
        width: how many continuations each round keeps, an int of 1 or more.
        longest: the maximum number of ids to write, an int of 1 or more.

    Returns:
        A list of pairs (ids after bos, log probability).

    Example:
        >>> def step(prefix):  # the ids are 0, which is eos, 1 and 2; after 1 the translation is likely to end
        ...     return torch.tensor({1: [0.9, 0.06, 0.04], 2: [0.34, 0.36, 0.3]}.get(prefix[-1], [0.1, 0.4, 0.5])).log()
        >>> [(ids, round(float(log_p), 3)) for ids, log_p in beam_search(step, 9, 0, 2, 3)]
        [([1, 0], -1.022), ([2, 1, 0], -1.82), ([2, 1, 1], -4.528)]
    """
    ### BEGIN SOLUTION
    open_ones, ended = [([bos], 0.0)], []
    for _ in range(longest):
        continuations = []
        for ids, score in open_ones:
            for token, log_p in enumerate(step(ids).tolist()):
                continuations.append((ids + [token], score + log_p))
        continuations.sort(key=lambda pair: pair[1], reverse=True)
        kept = continuations[:width]
        ended += [pair for pair in kept if pair[0][-1] == eos]
        open_ones = [pair for pair in kept if pair[0][-1] != eos]
    found = sorted(ended + open_ones, key=lambda pair: pair[1], reverse=True)
    return [(ids[1:], score) for ids, score in found]
    ### END SOLUTION


# %%
check("07.beam_search", beam_search)

# %% [markdown]
# ## Which hypothesis is best?
#
# Our model assigns too much probability to ending early, so its most probable translations are often too short. A length penalty favours longer translations.

# %% [markdown]
# ## 07.tipping_alpha
#
# A search has set aside two translations. With the length normalization of Wu et al. (2016), but without their coverage penalty, a translation of $n$ tokens gets the score
#
# $$\text{score} = \frac{\text{log probability}}{\left((5 + n) / 6\right)^{\alpha}}$$
#
# How large does $\alpha$ have to be for the longer one to win? Return the smallest $\alpha \ge 0$ at which the longer translation scores at least as well as the shorter one.
#
# Both log probabilities are below 0. The longer translation may be either the less probable or the more probable one.


# %%
def tipping_alpha(short_log_p, short_length, long_log_p, long_length):
    """Return the smallest exponent of the length penalty at which the longer translation scores at least as well.

    Args:
        short_log_p: the log probability of the shorter translation, a number below 0.
        short_length: its number of tokens, 1 or more.
        long_log_p: the log probability of the longer translation, a number below 0.
        long_length: its number of tokens, more than short_length.

    Returns:
        alpha, a number that is at least 0.

    Example:
        >>> tipping_alpha(-2.0, 1, -4.0, 7)
        1.0
    """
    ### BEGIN SOLUTION
    lead = math.log(long_log_p / short_log_p)
    gain = math.log((5 + long_length) / (5 + short_length))
    return max(0.0, lead / gain)
    ### END SOLUTION


# %%
check("07.tipping_alpha", tipping_alpha)

# %% [markdown]
# ## How good is a translation?
#
# A probable translation need not be a good one. To measure how good translations are, we compare them with translations written by people.

# %% [markdown]
# ## 07.bleu
#
# BLEU (Papineni et al., 2002) asks how many of a hypothesis's **n-grams** (runs of $n$ words) also occur in its reference. The number of matches of an n-gram is the smaller of its counts in the two sentences.
# The numbers of matches and of n-grams are summed over **all** sentences before they are divided to give the **precisions** $p_n$:
#
# $$p_n = \frac{\text{matching n-grams of all hypotheses}}{\text{n-grams of all hypotheses}} \qquad \text{BLEU} = 100 \cdot \text{bp} \cdot \sqrt[4]{p_1 p_2 p_3 p_4} \qquad \text{bp} = \begin{cases} 1 & c \ge r \\ e^{1 - r/c} & c < r \end{cases}$$
#
# Here $c$ is the number of words in all hypotheses and $r$ the number of words in all references. The **brevity penalty** bp keeps short hypotheses from winning. Words are compared as they are, so case matters. Each hypothesis has one reference and may be empty.
# If no n-gram matches for some $n$, BLEU is 0. Write the function in plain Python.


# %%
def bleu(hypotheses, references):
    """Return the corpus BLEU of translations.

    Args:
        hypotheses: a list of translations, each a list of words.
        references: a list of references, one for each translation, each a list of words.

    Returns:
        A number from 0 to 100.

    Example:
        >>> round(bleu([["a", "b", "c", "d", "x"]], [["a", "b", "c", "d", "e"]]), 2)
        66.87
    """

    ### BEGIN SOLUTION
    def n_grams(words, n):
        return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))

    product = 1.0
    for n in (1, 2, 3, 4):
        matches, total = 0, 0
        for hypothesis, wanted in zip(hypotheses, references, strict=True):
            counts, others = n_grams(hypothesis, n), n_grams(wanted, n)
            matches += sum(min(number, others[gram]) for gram, number in counts.items())
            total += sum(counts.values())
        if matches == 0:
            return 0.0
        product *= matches / total
    c, r = sum(map(len, hypotheses)), sum(map(len, references))
    brevity = math.exp(min(0, 1 - r / c))
    return 100 * brevity * product**0.25
    ### END SOLUTION


# %%
check("07.bleu", bleu)

# %% [markdown]
# ## Which searches are correct?
#
# An incorrect search may return translations that are only slightly worse, so its mistake is easy to overlook and worth a test.

# %% [markdown]
# ## 07.catch_wrong_beam
#
# The check passes your function **candidates** that claim to implement `07.beam_search`. Call each as `candidate(step, bos, eos, width, longest)`, with searches that you make up. Return `True` if the candidate keeps these promises and `False` otherwise:
#
# 1. It returns the same pairs as `reference`, the course's search, in the same order.
# 2. Its log probabilities agree with the reference's to within $10^{-5}$.
# 3. It raises no error, even if the beam is wider than the vocabulary.
#
# Your searches have to meet these conditions:
#
# 1. `step` returns a new tensor of V finite log probabilities, with V from 2 to 100, always the same ones for the same prefix.
# 2. These log probabilities are random and depend on the whole prefix, so that no two scores are equal.
# 3. A search calls `step` at most 300 times.


# %%
def catch_wrong_beam(candidate):
    """Tell whether a candidate is a beam search as in 07.beam_search.

    Args:
        candidate: a function (step, bos, eos, width, longest) → list of pairs (ids, log probability), which may be wrong and may raise an error.

    Returns:
        True if it is correct, False if it is wrong.

    Example:
        >>> catch_wrong_beam(reference)
        True
        >>> catch_wrong_beam(lambda step, bos, eos, width, longest: reference(step, bos, eos, width, longest)[:width])  # some get lost
        False
    """

    ### BEGIN SOLUTION
    def decoder(seed):
        def step(prefix):
            draw = torch.Generator().manual_seed(hash((seed, *prefix)) % 2**40)
            return torch.randn(5, generator=draw).log_softmax(0)

        return step

    def agrees(step, width, longest):
        right = reference(step, 9, 2, width, longest)
        try:
            found = candidate(step, 9, 2, width, longest)
            return all(
                list(a[0]) == list(b[0]) and abs(float(a[1] - b[1])) < 1e-5 for a, b in zip(right, found, strict=True)
            )
        except Exception:
            return False

    sizes = ((3, 4), (7, 2))
    return all(agrees(decoder(seed), width, longest) for seed in range(5) for width, longest in sizes)
    ### END SOLUTION


# %%
check("07.catch_wrong_beam", catch_wrong_beam)

# %% tags=["own-machine"]
progress()

# %% [markdown]
# Stuck on one? `hint("07.greedy")` gives the next hint, and `solution("07.greedy")` shows a solution once you have tried.
#
# Next, lesson 08: attention that picks one position instead of averaging over all of them.
