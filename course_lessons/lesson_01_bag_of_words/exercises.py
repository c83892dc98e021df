# %% [markdown]
# These exercises take you from a sum of vectors to a learned direction, and on to what no direction can do.

# %%
from collections import Counter

import torch

from course_utils import check, hint, progress, solution

# %% [markdown]
# ## 01.sum_vectors
#
# Sum each sentence's word vectors, $\text{sums}_{b,d} = \sum_s \text{mask}_{b,s}\,\text{words}_{b,s,d}$. The mask is True for words and False for padding, which must not contribute.


# %%
def sum_vectors(words, mask):
    """Return the sum of each sentence's word vectors.

    Args:
        words: B×S×D.
        mask: B×S, True at words.

    Returns:
        The sums, B×D.

    Example:
        >>> words = torch.tensor([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [9.0, 9.0]]])
        >>> sum_vectors(words, torch.tensor([[True, True], [True, False]]))
        tensor([[4., 6.],
                [5., 6.]])
    """
    ### BEGIN SOLUTION
    return (words * mask[..., None]).sum(1)
    ### END SOLUTION


# %%
check("01.sum_vectors", sum_vectors)

# %% [markdown]
# ## 01.sentiment
#
# Logistic regression turns each sentence's sum into the probability that the sentence is positive. A friend wrote
#
# ```python
# return torch.sigmoid(sums * weight).sum(1) + bias
# ```
#
# The line runs and its result has the right shape, but some of the "probabilities" are above 1. Write a correct version.


# %%
def sentiment(sums, weight, bias):
    """Return the probability that each sentence is positive.

    Args:
        sums: B×D.
        weight: D.
        bias: a tensor without axes.

    Returns:
        The probabilities, B, between 0 and 1.

    Example:
        >>> sentiment(torch.tensor([[2.0, 1.0], [0.0, 0.0]]), torch.tensor([1.0, -2.0]), torch.tensor(0.0))
        tensor([0.5000, 0.5000])
    """
    ### BEGIN SOLUTION
    return torch.sigmoid(sums @ weight + bias)
    ### END SOLUTION


# %%
check("01.sentiment", sentiment)

# %% [markdown]
# ## 01.sentiment_gradient
#
# Return the gradient of the mean cross-entropy $L = -\frac1B \sum_b \big(y_b \log p_b + (1 - y_b) \log(1 - p_b)\big)$ with respect to `weight` and `bias`. Work out the formula on paper, then turn it into code.


# %%
def sentiment_gradient(sums, labels, weight, bias):
    """Return the gradient of the mean cross-entropy of 01.sentiment, by formula.

    Args:
        sums: B×D.
        labels: B, 0.0 or 1.0.
        weight: D.
        bias: a tensor without axes.

    Returns:
        Two tensors: the gradient of weight, D, and the gradient of bias, one number.

    Example:
        >>> sentiment_gradient(torch.tensor([[2.0, 4.0]]), torch.tensor([1.0]), torch.zeros(2), torch.tensor(0.0))
        (tensor([-1., -2.]), tensor(-0.5000))
    """
    ### BEGIN SOLUTION
    error = (torch.sigmoid(sums @ weight + bias) - labels) / len(labels)  # B
    return error @ sums, error.sum()
    ### END SOLUTION


# %%
check("01.sentiment_gradient", sentiment_gradient)

# %% [markdown]
# ## 01.word_polarity
#
# A word's effect on the score grows with the length of its vector, which the cosine ignores. Return the cosine between each word's vector and the sentiment direction: $\frac{x \cdot w}{\lVert x \rVert\,\lVert w \rVert}$. The cosine is 1 along the direction, -1 against it and 0 for a vector perpendicular to it. A zero vector has no direction, so return 0 for a zero word vector, and for every word if $w$ is zero.


# %%
def word_polarity(word_vectors, weight):
    """Return the cosine between each word vector and weight.

    Args:
        word_vectors: V×D.
        weight: D.

    Returns:
        The cosines, V, between -1 and 1; 0 where a vector is zero.

    Example:
        >>> word_polarity(torch.tensor([[3.0, 4.0], [-2.0, 0.0], [0.0, 0.0]]), torch.tensor([5.0, 0.0]))
        tensor([ 0.6000, -1.0000,  0.0000])
    """
    ### BEGIN SOLUTION
    lengths = word_vectors.norm(dim=1) * weight.norm()  # V
    return torch.where(lengths > 0, word_vectors @ weight / lengths, torch.zeros_like(lengths))
    ### END SOLUTION


# %%
check("01.word_polarity", word_polarity)

# %% [markdown]
# ## 01.must_fail
#
# A linear score is a sum of one number per word, plus a bias. The scores of "good" and "not bad" therefore have the same sum as those of "bad" and "not good", because the two pairs contain the same words. If the first pair is positive and the second negative, no choice of vectors, weights and bias gets all four right. Explain why, then write a function that looks for such a proof.
#
# Return `True` if two positive sentences together contain exactly the same words as two negative sentences, each word equally often. A sentence may be used twice. Otherwise return `False`.


# %%
def must_fail(sentences, labels):
    """Tell whether two positive sentences together contain the same words as two negative sentences.

    Args:
        sentences: a list of lists of words.
        labels: a list with True for a positive sentence, False for a negative one.

    Returns:
        True if there are two such pairs, else False.

    Example:
        >>> must_fail([["good"], ["not", "bad"], ["bad"], ["not", "good"]], [True, True, False, False])
        True
        >>> must_fail([["good"], ["not", "bad"], ["bad"]], [True, True, False])
        False
    """
    ### BEGIN SOLUTION
    positive = [sentence for sentence, label in zip(sentences, labels, strict=True) if label]
    negative = [sentence for sentence, label in zip(sentences, labels, strict=True) if not label]
    sums = [Counter(a + b) for a in positive for b in positive]
    return any(Counter(a + b) in sums for a in negative for b in negative)
    ### END SOLUTION


# %%
check("01.must_fail", must_fail)

# %% [markdown]
# How far did you get? Next: [lesson 02](../notebooks/02_weighted_sums.ipynb), where some words count more than others.

# %% tags=["own-machine"]
progress()
