# %% [markdown]
# First you measure which facts a memory network's hops look at (Sukhbaatar et al., 2015). Then you build its hops and choose the entries of its embeddings yourself. You also write a test that catches networks that answer without reading. Finally, you train a network with your hops.
#
# In the shapes, B is the number of stories, each with one question, M the number of facts in a story, and S the largest number of facts that an answer rests on. D is the width, K the number of hops, and V the number of answers. **A mask is True for facts and False for padding.**

# %%
import torch

from course_utils import check, hint, predict, progress, reveal, solution
from course_utils.data.stories import stories
from course_utils.learner.train_answers import train_own
from course_utils.models.memory import Answered, MemoryNetwork, fit

# %% [markdown]
# ## 16.memories
#
# Which facts does each hop look at? On its own, a weight of 0.3 says little: it is less than equal weights would give each of two facts, but three times what they would give each of ten.
#
# You get a trained network's weights and, for each story, the positions of its **supporting facts** in the order of reasoning.
#
# For each hop and each column of `support`, compare two weights: the hop's weight on this fact, and what equal weights over the story's facts would give. How many times as large is the hop's weight? Return the mean over the stories. If an answer rests on fewer than S facts, the other columns contain -1 and do not count.


# %%
def memories(weights, mask, support):
    """Return how many times as much weight as equal weights each hop gives to each supporting fact.

    Args:
        weights: B×K×M, of each hop on each fact; 0 at padding.
        mask: B×M, True at facts, False at padding; each story has at least one fact.
        support: B×S, positions from 0 to M − 1, or -1; each column has at least one position.

    Returns:
        The means, K×S.

    Example:
        >>> weights = torch.tensor([[[0.5, 0.5, 0.0]], [[0.2, 0.2, 0.6]]])
        >>> mask = torch.tensor([[True, True, False], [True, True, True]])
        >>> memories(weights, mask, torch.tensor([[0, 1], [2, -1]]))
        tensor([[1.4000, 1.0000]])
    """
    ### BEGIN SOLUTION
    counted = support >= 0  # B S
    places = support.clamp(min=0)[:, None].expand(-1, weights.shape[1], -1)  # B K S
    times = weights.gather(2, places) * mask.sum(1)[:, None, None]  # B K S
    return (times * counted[:, None]).sum(0) / counted.sum(0)
    ### END SOLUTION


# %%
check("16.memories", memories)

# %% [markdown]
# ## 16.answer
#
# The question goes through K hops, K ≥ 1. The list `memories` contains K + 1 tensors. Neighbouring hops share one of them (**adjacent tying**): hop k, counted from 0, compares its question with `memories[k]` and reads from `memories[k + 1]`. The scores are plain dot products. After the last hop, `readout` turns the question into a logit for each answer.
#
# The mask is the same in every hop, and only facts where it is True get any weight. A story may have no facts at all. A softmax over nothing gives NaN, but your function must not: in a story without facts, nothing is read.


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
    for keys, values in zip(memories[:-1], memories[1:], strict=True):
        scores = (keys @ question[..., None])[..., 0]  # B M
        weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)  # B M
        weights = weights.masked_fill(~mask, 0.0)  # a row of only -inf is NaN until here
        question = question + (weights[:, None] @ values)[:, 0]  # B D
    return question @ readout.T
    ### END SOLUTION


# %%
check("16.answer", answer)

# %% [markdown]
# ## A network whose embeddings you choose
#
# In a toy task, each fact consists of two words: a person and a thing say who has the thing, and a person and a place say where the person is. The question is a thing, and the answer is the place of the person who has it. Words are numbered: first the people, then the things, then the places. There are no positions and no ages. The network below is fixed, and you choose its three embeddings.


# %%
def logits_of(facts, question, places, embeddings):
    """Return a logit for each place: facts M×2, numbers of words; question, the number of a thing."""
    A, B, C = embeddings
    u = A[question]
    u = u + (A[facts].sum(1) @ u).softmax(0) @ B[facts].sum(1)
    u = u + (B[facts].sum(1) @ u).softmax(0) @ C[facts].sum(1)
    return C[-places:] @ u


# %% [markdown]
# ## 16.two_hops_by_hand
#
# Choose the three embeddings of `logits_of` so that in every story
#
# 1. hop 1 gives most of its weight to the fact that says who has the thing,
# 2. hop 2 gives most of its weight to facts about that person,
# 3. the correct place has the largest logit, by 0.5 or more.
#
# A person may have several things. Many choices work, and you choose the width $D$.


# %%
def two_hops_by_hand(people, things, places):
    """Return three embeddings with which two hops find where a thing is.

    Args:
        people, things, places: how many there are of each, ints from 2.

    Returns:
        A list of three tensors words×D, where words = people + things + places and D is at most 200.

    Example:
        >>> embeddings = two_hops_by_hand(2, 2, 3)
        >>> len(embeddings), len(embeddings[0])
        (3, 7)
    """
    ### BEGIN SOLUTION
    words = people + things + places
    one = 10.0 * torch.eye(words)
    first, second, third = torch.zeros(3, words, words)
    first[people : people + things] = one[people : people + things]  # the question is a thing
    second[:people] = one[:people]  # a person leads from one fact to the other
    third[people + things :] = one[people + things :]  # the answer is a place
    return [first, second, third]
    ### END SOLUTION


# %%
check("16.two_hops_by_hand", two_hops_by_hand)

# %% [markdown]
# ## Answers without reading
#
# A network that never looks at its story can still answer many questions, because some answers are frequent. Another network reads only the latest fact and is right whenever that fact is enough. The share of correct answers does not show this, but you can see it when you change the story and the answer stays the same.

# %% [markdown]
# ## 16.catch_cheating_memory
#
# The check gives your function one `model(question, facts, mask)` after another. Question and facts are float32. In each row of the mask, facts come first, at least one. Return `True` for a model that keeps these promises and `False` otherwise:
#
# 1. When one row's question changes, some number in this row changes.
# 2. When any single fact changes, some number in its row changes.
# 3. Whatever the padding contains, all numbers in all rows stay the same.
# 4. It raises no error.
#
# Use three stories of different lengths, all with padding and one with at least seven facts. To change something, add a random number of about 1 to each feature. If the model reads it, some number changes by more than $10^{-4}$; rounding errors stay below $10^{-5}$.


# %%
def catch_cheating_memory(model):
    """Tell whether a model answers from its question and all its facts, and from nothing else.

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
        return torch.allclose(a, b, rtol=0, atol=1e-5)

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
        return True
    except Exception:
        return False
    ### END SOLUTION


# %%
check("16.catch_cheating_memory", catch_cheating_memory)

# %% [markdown]
# ## Your own memory network: one after the other, or side by side?
#
# With your `answer`, two networks are trained on 4,000 "two facts" stories for 1,000 steps. In the first network, the second hop queries with what the first hop has read. In the second network, both hops query with the original question, and their logits are added. These are two heads, as in lesson 10, with the same number of parameters. You need not follow the code. What share of new questions will the second network answer correctly?

# %%
predict("16.own", ...)


# %% tags=["own-machine"]
class TwoHops(MemoryNetwork):
    def forward(self, facts, mask, question):
        A, B, C = (self.memories(facts, mask, k) for k in range(3))  # B M D each
        u, W = self.encode(question, self.embeddings[0]), self.readout.weight  # B D, V D
        pairs = [[A, B], [B, C]] if self.side_by_side else [[A, B, C]]
        return Answered(sum(self.answer(u, pair, mask, W) for pair in pairs), None)


def train(answer):
    (_, training), (_, unseen) = (stories("two facts", number, seed) for number, seed in ((4000, 0), (1000, 1)))
    for side_by_side in (False, True):
        torch.manual_seed(0)
        network = TwoHops(hops=2)
        network.answer, network.side_by_side = answer, side_by_side
        fit(network, training, steps=1000, rate=2e-2)
        guesses = network(unseen.facts, unseen.mask, unseen.question).logits.argmax(-1)
        right = (guesses == unseen.answer).float().mean().item()
        print(f"{'side by side' if side_by_side else 'one after the other'}: {right:.2f} right")
    reveal("16.own", round(right, 2))


train_own(train, {"16.answer": answer})

# %% [markdown]
# Side by side, the network gets far fewer answers right, because the question does not name the person, so neither hop knows whose moves to look for. What helps is not the number of hops, but that the second hop queries with what the first has found.

# %% tags=["own-machine"]
progress()

# %% [markdown]
# Stuck on one? `hint("16.memories")` gives the next hint, and `solution("16.memories")` shows a solution after a try.
