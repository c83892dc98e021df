# %% [markdown]
# First you write softmax, with and without a mask. Then you compute scores in two ways, write fixed attention with several θs, and follow the error back to the words and the scores. Finally, you find numbers with which two θs handle "not".

# %%
import torch

from course_utils import check, hint, progress, solution

# %% [markdown]
# ## 02.softmax
#
# Turn scores into weights along the last axis:
#
# $$a_s = \frac{e^{z_s}}{\sum_r e^{z_r}} \quad \text{with} \quad z = \frac{\text{scores}}{\text{temperature}}$$
#
# The scores may have any number of axes and may be as large as ±30,000; the weights must be correct even then. `torch.softmax` would do, but write your own first.


# %%
def softmax(scores, temperature=1.0):
    """Return positive weights that sum to 1 along the last axis.

    Args:
        scores: …×S.
        temperature: a number above 0.

    Returns:
        The weights, …×S.

    Example:
        >>> softmax(torch.tensor([[1.0, 1.0], [1.0, 2.0986]]))
        tensor([[0.5000, 0.5000],
                [0.2500, 0.7500]])
    """
    ### BEGIN SOLUTION
    z = scores / temperature
    e = torch.exp(z - z.max(dim=-1, keepdim=True).values)
    return e / e.sum(dim=-1, keepdim=True)
    ### END SOLUTION


# %%
check("02.softmax", softmax)

# %% [markdown]
# ## 02.masked_softmax
#
# Compute the softmax over the scores whose mask is True; all others get a weight of 0. A row whose mask is False everywhere gives zeros, not NaN, and its gradient must not be NaN either. As in `02.softmax`, scores may be as large as ±30,000.


# %%
def masked_softmax(scores, mask):
    """Return the softmax along the last axis over the positions that may be attended to.

    Args:
        scores: …×S.
        mask: …×S, True means "may attend".

    Returns:
        The weights, …×S.

    Example:
        >>> masked_softmax(torch.tensor([[5.0, 5.0, 9.0], [1.0, 2.0, 3.0]]), torch.tensor([[True, True, False], [False, False, False]]))
        tensor([[0.5000, 0.5000, 0.0000],
                [0.0000, 0.0000, 0.0000]])
    """
    ### BEGIN SOLUTION
    weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)
    return weights.masked_fill(~mask, 0.0)
    ### END SOLUTION


# %%
check("02.masked_softmax", masked_softmax)

# %% [markdown]
# ## 02.dot_scores
#
# Fixed attention asks every word the same question: how much of your vector lies in the direction of $\theta$? Return one score for each word: its dot product with $\theta$, a vector shared by all words in all sentences. Which product of B×S×D and D gives B×S?


# %%
def dot_scores(words, theta):
    """Return one score for each word.

    Args:
        words: B×S×D.
        theta: D.

    Returns:
        The scores, B×S.

    Example:
        >>> dot_scores(torch.tensor([[[1.0, 2.0], [0.0, -1.0]]]), torch.tensor([3.0, 1.0]))
        tensor([[ 5., -1.]])
    """
    ### BEGIN SOLUTION
    return words @ theta
    ### END SOLUTION


# %%
check("02.dot_scores", dot_scores)

# %% [markdown]
# ## 02.mlp_scores
#
# A dot product cannot give a high score to both of two opposite vectors, such as (3, 0) and (-3, 0), but **MLP attention** can. Compute its scores for a batch of sentences. A network with one hidden layer, a multilayer perceptron, computes each word's score from its vector $x$:
#
# $$g(x) = \theta^\top \sigma(W x + b_h)$$
#
# σ is the logistic function. In the code, $W$ is `weight` and $b_h$ is `bias`.


# %%
def mlp_scores(words, weight, bias, theta):
    """Return one score for each word, computed by a network with H hidden units.

    Args:
        words: B×S×D.
        weight: H×D.
        bias: H.
        theta: H.

    Returns:
        The scores, B×S.

    Example:
        >>> mlp_scores(torch.tensor([[[2.0, 0.0]]]), torch.zeros(1, 2), torch.zeros(1), torch.tensor([4.0]))
        tensor([[2.]])
    """
    ### BEGIN SOLUTION
    hidden = torch.sigmoid(words @ weight.T + bias)  # B S H
    return hidden @ theta
    ### END SOLUTION


# %%
check("02.mlp_scores", mlp_scores)

# %% [markdown]
# ## 02.several_attentions
#
# Compute fixed attention over the same words with N vectors θ. Each θ has its own scores, its own masked softmax and its own context. Concatenate the N contexts in the order of the thetas. Scores may be as large as ±30,000.
#
# You may use the course's `masked_softmax`, which is called `reference_masked_softmax(scores, mask)` here.

# %%
from course_utils.models.attention import masked_softmax as reference_masked_softmax


def several_attentions(words, thetas, mask):
    """Return the contexts of fixed attention with N vectors theta, concatenated.

    Args:
        words: B×S×D.
        thetas: N×D.
        mask: B×S, True at words.

    Returns:
        The contexts, B×(N·D); zeros for a sentence of padding only.

    Example:
        >>> words = torch.tensor([[[1.0, 0.0], [3.0, 4.0]]])
        >>> several_attentions(words, torch.zeros(2, 2), torch.tensor([[True, True]]))
        tensor([[2., 2., 2., 2.]])
    """
    ### BEGIN SOLUTION
    scores = thetas @ words.mT  # B N S
    weights = reference_masked_softmax(scores, mask[:, None].expand_as(scores))
    return (weights @ words).flatten(1)
    ### END SOLUTION


# %%
check("02.several_attentions", several_attentions)

# %% [markdown]
# ## 02.error_through_attention
#
# In the backward pass, a gradient arrives at the context. This gradient, which we call the **error** δ, reaches the word vectors through the weighted sum $c = \sum_s a_s x_s$, with the weights held fixed. What arrives at each word's vector? Each sentence in the batch has its own weights and its own error.


# %%
def error_through_attention(weights, error):
    """Return the error that reaches each word through the weighted sum.

    Args:
        weights: B×S.
        error: B×D, at the context.

    Returns:
        The errors, B×S×D.

    Example:
        >>> error_through_attention(torch.tensor([[0.75, 0.25]]), torch.tensor([[4.0, -8.0]]))
        tensor([[[ 3., -6.],
                 [ 1., -2.]]])
    """
    ### BEGIN SOLUTION
    return weights[..., None] * error[:, None]
    ### END SOLUTION


# %%
check("02.error_through_attention", error_through_attention)

# %% [markdown]
# ## 02.error_at_score
#
# The error δ at the context $c = \sum_s a_s x_s$ also reaches the scores, through the weights $a = \mathrm{softmax}(z)$. What arrives at $z_s$, the score of word $s$?
#
# If a word's score grows, its weight grows at the expense of the others, and the context moves towards the word's vector:
#
# $$\frac{\partial c}{\partial z_s} = a_s \, (x_s - c)$$
#
# First find the derivative $\partial L / \partial z_s$ of the loss on paper. It is a short product of three factors.
#
# Padding has a weight of 0, so nothing reaches its score.


# %%
def error_at_score(weights, words, error):
    """Return the error that reaches each score, through the softmax and the weighted sum.

    Args:
        weights: B×S, the softmax of the scores; 0 at padding.
        words: B×S×D.
        error: B×D, at the context.

    Returns:
        The errors, B×S.

    Example:
        >>> error_at_score(torch.tensor([[0.75, 0.25]]), torch.tensor([[[0.0], [8.0]]]), torch.tensor([[-2.0]]))
        tensor([[ 3., -3.]])
    """
    ### BEGIN SOLUTION
    context = weights[:, None] @ words  # B 1 D
    along = ((words - context) * error[:, None]).sum(-1)  # B S
    return weights * along
    ### END SOLUTION


# %%
check("02.error_at_score", error_at_score)

# %% [markdown]
# ## 02.negation_by_hand
#
# Fixed attention with two θs can handle "not". Here you find such numbers by hand. Each word has one number, its value: 1 for "great", -1 for "awful", -0.5 for "not" and 0 for all other words. A sentence has one opinion word, at most one "not" and any number of other words.
#
# You choose two sets of scores directly; in each set, "great" and "awful" have the same score. Weighted by the softmax of the first set, the values sum to $o_1$, and weighted by the second, to $o_2$. The output is $u_1 o_1 + u_2 o_2$.
#
# Choose both sets of scores and the numbers $u_1$ and $u_2$. In every sentence of up to `longest` words, the output has to be at least 0.5 for "great" and "not awful" and at most -0.5 for "awful" and "not great". Try out your choice with `output_of`.


# %%
def output_of(sentence, first, second, output):
    """Return the output for a sentence, such as ["not", "great", "film"]."""
    value_of = {"great": 1.0, "awful": -1.0, "not": -0.5}  # other words have the value 0
    place_of = {"not": 0, "great": 1, "awful": 1}  # other words have the score at place 2
    values = torch.tensor([value_of.get(word, 0.0) for word in sentence])  # S
    places = [place_of.get(word, 2) for word in sentence]
    total = 0.0
    for scores, u in zip((first, second), output, strict=True):
        weights = torch.tensor([float(scores[place]) for place in places]).softmax(-1)  # S
        total = total + u * (weights @ values)
    return total


def negation_by_hand(longest):
    """Return two sets of scores and an output layer's weights that together handle "not".

    Args:
        longest: the number of words in the longest sentence. You may use it, or return the same lists for all lengths.

    Returns:
        Three lists: the first set's scores of "not", of an opinion word and of any other word; the same three from the second set; the two
        output weights.

    Example:
        >>> first, second, output = negation_by_hand(9)
        >>> len(first), len(second), len(output)
        (3, 3, 2)
    """
    ### BEGIN SOLUTION
    first = [20.0, 10.0, 0.0]  # "not", an opinion, any other word
    second = [0.0, 20.0, 0.0]
    output = [4.0, -3.0]  # great: 1, not great: -5, awful: -1, not awful: 1
    return first, second, output
    ### END SOLUTION


# %%
check("02.negation_by_hand", negation_by_hand)

# %% [markdown]
# Next: [lesson 03](../notebooks/03_queries_keys_values.ipynb), where the sentence itself asks the question.

# %% tags=["own-machine"]
progress()
