# %% [markdown]
# You build an end-to-end memory network (Sukhbaatar et al. 2015) piece by piece: how a sentence becomes a memory, how the network knows what is recent, one look at the memories, and several of them in a row. At the end you write a test that finds networks which answer without reading. The letters:
# B stories, each with its question, M facts of a story, J words of a fact, D width, K hops, V answers. **A mask is True at what is real and False at padding.**

# %%
import torch

from course_utils import check, hint, progress, solution
from course_utils.models.memory import memory_hop as reference_hop

# %% [markdown]
# ## 16.position_encoding
#
# If a sentence becomes the sum of its words, their order is lost: "Mary gave John the ball" and "John gave Mary the ball" are the same sum. So each word is multiplied, number by number, by a vector that depends on its place. For the word at place $j$ of $J$ and the feature $k$ of $D$, both **counted from 1**, section 4.1 has
#
# $$l_{kj} = \Big(1 - \frac{j}{J}\Big) - \frac{k}{D} \Big(1 - \frac{2j}{J}\Big)$$
#
# Return these numbers as a table in float32, one row for each place and one column for each feature.


# %%
def position_encoding(words, width):
    """Return how much of each feature the word at each place gives.

    Args:
        words: J, the number of places, an int from 1 on.
        width: D, the number of features, an int from 1 on.

    Returns:
        The encoding, J×D, float32.

    Example:
        >>> position_encoding(2, 4)
        tensor([[0.5000, 0.5000, 0.5000, 0.5000],
                [0.2500, 0.5000, 0.7500, 1.0000]])
    """
    ### BEGIN SOLUTION
    j = torch.arange(1, words + 1)[:, None] / words  # J 1
    k = torch.arange(1, width + 1) / width  # D
    return (1 - j) - k * (1 - 2 * j)
    ### END SOLUTION


# %%
check("16.position_encoding", position_encoding)

# %% [markdown]
# ## 16.encode_sentences
#
# Now each fact becomes one vector, its **memory**: with $x_j$ for the vector of the word at place $j$ and $l_j$ for row $j$ of the encoding,
#
# $$m = \sum_{j} l_j \cdot x_j$$
#
# where the product is taken number by number and the sum runs over the real words, at which `mask` is True (section 4.1). Do this for all facts of all stories at once. A word keeps the row of the place at which it stands; False may stand before True. What stands at False places has no effect on the result or its gradient. A fact without words becomes zeros.


# %%
def encode_sentences(embedded, mask, encoding):
    """Return a vector for each fact, the sum of its words times the encoding of their places.

    Args:
        embedded: B×M×J×D, a vector for each word.
        mask: B×M×J, True at words, False at padding.
        encoding: J×D, a row for each place.

    Returns:
        The memories, B×M×D.

    Example:
        >>> embedded = torch.tensor([[[[2.0, 4.0], [6.0, 8.0]]]])
        >>> encode_sentences(embedded, torch.tensor([[[True, True]]]), torch.tensor([[0.5, 0.5], [0.5, 1.0]]))
        tensor([[[ 4., 10.]]])
    """
    ### BEGIN SOLUTION
    words = embedded.masked_fill(~mask[..., None], 0.0)  # B M J D
    return (words * encoding).sum(dim=2)
    ### END SOLUTION


# %%
check("16.encode_sentences", encode_sentences)

# %% [markdown]
# ## 16.add_age
#
# "Where is Mary?" is answered by the **latest** fact about her, so the network has to know how long ago each fact was read. Section 4.1 adds to each memory a learned vector for its age, a row of `table`. Ages are counted back from the end of each story: the last real fact gets `table[0]` added, the one before it `table[1]`, and so on. In this way the latest fact always gets the same row, whether a story has three facts or thirty.
#
# Padding stays as it is, and has no age. False may stand before True, so padding may also stand between facts; it is not counted.


# %%
def add_age(encoded, table, mask):
    """Return the memories with a vector for their age added, counted back from the last fact.

    Args:
        encoded: B×M×D.
        table: M×D, row 0 for the latest fact.
        mask: B×M, True at facts, False at padding.

    Returns:
        The memories, B×M×D.

    Example:
        >>> encoded, table = torch.tensor([[[1.0], [2.0], [7.0]]]), torch.tensor([[10.0], [20.0], [30.0]])
        >>> add_age(encoded, table, torch.tensor([[True, True, False]]))
        tensor([[[21.],
                 [12.],
                 [ 7.]]])
    """
    ### BEGIN SOLUTION
    after = mask.sum(dim=1, keepdim=True) - mask.cumsum(dim=1)  # B M, how many facts come later
    ages = table[after.clamp(max=len(table) - 1)]  # B M D
    return encoded + ages.masked_fill(~mask[..., None], 0.0)
    ### END SOLUTION


# %%
check("16.add_age", add_age)

# %% [markdown]
# ## 16.memory_hop
#
# The question $u$ looks at the facts once. Each fact has two vectors: $m_i$, with which the question is compared, and $c_i$, which is read (section 2.1, equations 1 and 2):
#
# $$p_i = \text{softmax}_i\big(u^\top m_i\big) \qquad o = \sum_i p_i\, c_i \qquad u' = u + o$$
#
# $u'$ is the question of the next hop. The scores are not divided by $\sqrt D$. `memory` holds the $m_i$ and `output` the $c_i$; only facts at which `mask` is True get weight. What stands at False places has no effect on the result or its gradient. In a story without facts all weights are 0, and the question stays as it is.


# %%
def memory_hop(question, memory, output, mask):
    """Return the next question, the question plus what it has read, and the weights.

    Args:
        question: B×D.
        memory: B×M×D, what the question is compared with.
        output: B×M×D, what is read.
        mask: B×M, True at facts, False at padding.

    Returns:
        state: B×D, the next question.
        weights: B×M.

    Example:
        >>> memory, output = torch.tensor([[[1.0986, 0.0], [0.0, 0.0]]]), torch.tensor([[[4.0, -4.0], [0.0, 8.0]]])
        >>> memory_hop(torch.tensor([[1.0, 2.0]]), memory, output, torch.tensor([[True, True]]))
        (tensor([[4.0000, 1.0000]]), tensor([[0.7500, 0.2500]]))
    """
    ### BEGIN SOLUTION
    memory, output = (facts.masked_fill(~mask[..., None], 0.0) for facts in (memory, output))
    scores = (memory @ question[..., None])[..., 0]  # B M
    weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
    weights = weights.masked_fill(~mask, 0.0)  # a row of only -inf is NaN until here
    read = (weights[:, None] @ output)[:, 0]  # B D
    return question + read, weights
    ### END SOLUTION


# %%
check("16.memory_hop", memory_hop)

# %% [markdown]
# ## 16.answer
#
# Some questions need two facts: "Where is the ball?" needs who has it, and then where that person is. So the network looks several times. It has $K + 1$ sets of memories $A_0, \dots, A_K$, and neighbouring hops share one (**adjacent tying**, section 2.2): hop $k$, counted from 0, compares its question with $A_k$ and reads from $A_{k+1}$. After the last hop, `readout`, $W$, makes a number for each answer:
#
# $$u_{k+1} = u_k + \sum_i p_i\, A_{k+1, i} \quad\text{with } p = \text{softmax}\big(A_k u_k\big) \qquad\qquad \text{logits} = W u_K$$
#
# `memories` is a list of the $K + 1$ tensors, with $K$ from 1 on, and the mask is the same in every hop. `reference_hop(question, memory, output, mask)` is `16.memory_hop`; the first cell has imported it from `course_utils.models.memory`. All numbers are finite here, at padding as well.


# %%
def answer(question, memories, mask, readout):
    """Return a number for each answer, after as many hops as there are pairs of neighbouring memories.

    Args:
        question: B×D.
        memories: a list of K + 1 tensors B×M×D; hop k compares with memories[k] and reads from memories[k + 1].
        mask: B×M, True at facts, False at padding.
        readout: V×D.

    Returns:
        The logits, B×V.

    Example:
        >>> memories = [torch.tensor([[[2.0]]]), torch.tensor([[[3.0]]]), torch.tensor([[[5.0]]])]
        >>> answer(torch.tensor([[1.0]]), memories, torch.tensor([[True]]), torch.tensor([[1.0], [-1.0]]))
        tensor([[ 9., -9.]])
    """
    ### BEGIN SOLUTION
    for memory, output in zip(memories[:-1], memories[1:], strict=True):
        question, _ = reference_hop(question, memory, output, mask)  # B D
    return question @ readout.T
    ### END SOLUTION


# %%
check("16.answer", answer)

# %% [markdown]
# ## Answers without reading
#
# A network that never looks at its story can still answer many questions: it has learned which answers are frequent. Another one reads only the latest fact, and is right whenever that one is enough. Its score does not reveal this. You see it when you change the story: the answer stays the same.

# %% [markdown]
# ## 16.catch_cheating_memory
#
# The check hands your function one **model** after another, each with weights of its own: `model(question, facts, mask)` takes questions B×4 and facts B×M×4, float32, and a mask B×M in which the facts stand first, at least one in each row. It returns B×V. Return `True` for one that keeps these promises, and `False` for any other:
#
# 1. **It hears the question.** When the question of any one row changes, some number of this row moves.
# 2. **It reads every fact**, in long stories too. When any single fact changes, some number of its row moves.
# 3. **It does not read padding.** Whatever stands at padding, in any row, all numbers of all rows stay.
# 4. Its numbers are finite.
#
# Nothing else is asked. One batch shows a broken promise: three stories or so of different lengths, one of them with seven facts or more, and padding behind all. Change things by adding random numbers of about 1, a different one for each feature: what is read moves some number by more than $10^{-4}$, and rounding stays below $10^{-5}$. A model that raises an error is wrong, and must not stop your test.


# %%
def catch_cheating_memory(model):
    """Tell whether a model answers from its question and from all facts, and from nothing else.

    Args:
        model: a function (question B×4, facts B×M×4, mask B×M) → B×V, which may be wrong and may raise.

    Returns:
        True if it is right, False if it is wrong.

    Example:
        >>> catch_cheating_memory(lambda question, facts, mask: question)  # it never reads a fact
        False
    """

    ### BEGIN SOLUTION
    def same(a, b):
        return torch.allclose(a, b, atol=1e-5)

    draw = torch.Generator().manual_seed(0)
    shapes = (3, 4), (3, 9, 4), (4,)
    question, facts, noise = (torch.randn(shape, generator=draw) for shape in shapes)
    mask = torch.arange(9) < torch.tensor([[4], [8], [2]])
    try:
        before = model(question, facts, mask)
        for b in range(3):
            asked = question.clone()
            asked[b] += noise
            if same(model(asked, facts, mask)[b], before[b]):
                return False
            for m in range(9):
                changed = facts.clone()
                changed[b, m] += noise
                after = model(question, changed, mask)
                if same(after[b], before[b]) if mask[b, m] else not same(after, before):
                    return False
        return bool(before.isfinite().all())
    except Exception:
        return False
    ### END SOLUTION


# %%
check("16.catch_cheating_memory", catch_cheating_memory)

# %% tags=["own-machine"]
progress()

# %% [markdown]
# Stuck on one? `hint("16.add_age")` gives the next hint, and `solution("16.add_age")` shows an answer after a try.
