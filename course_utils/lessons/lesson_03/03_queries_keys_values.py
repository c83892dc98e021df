# %%
import torch
from torch.nn import functional as F

from course_utils import check, predict, reveal
from course_utils.data.generated_reviews import four_cases, generate_reviews
from course_utils.figures import diagrams, plots, widgets
from course_utils.models.sentiment import (
    SelfAttention,
    build_vocabulary,
    correct,
    encode,
    train,
)

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## One function for every θ
#
# In lesson 02, each attention had a learned vector θ, and it compared every word with this θ by a dot product. A second attention had another θ, but its formula was the same. So we write one function, and θ becomes an argument of it:
#
# $$g(q, k) = q^\top k$$
#
# The vector that asks is called the **query** $q$. The vector that it is compared with is called the **key** $k$. The result $g(q, k)$ is the **score** of this key for this query.
#
# We take the three words of lesson 02 as keys, and θ₁ and θ₂ as queries. In the comments, T is the number of queries, S is the number of keys, and D is the width of both.

# %% tags=["nbval-check-output"]
words = ["not", "really", "great"]
K = torch.tensor([[0.0, 2.0], [1.0, 1.0], [3.0, 0.0]])  # S D: a key for each word
Q = torch.tensor([[0.0, 1.0], [1.0, 0.0]])  # T D: the queries are θ₁ and θ₂
scores = Q @ K.T  # T S
scores

# %% [markdown]
# The first row holds the scores for θ₁: "not" has the highest score, 2. The second row holds the scores for θ₂: "great" has the highest score, 3.
#
# θ is the same for every sentence. A query need not be: any vector of width D can be a query, and so a word can be one, too. That is the idea of this lesson. Before we use it, we compute what a query gets.
#
# ## Score, normalise, sum
#
# Attention has three steps. We know the first one: every key gets a score. In the second step, a softmax turns the scores of each query into weights. In the third step, the weights decide how much of each word goes into a sum. What goes into the sum is called the **value** $v$ of the word. For now, each word is its own value. The sum is called the **context** $c$ of the query.
#
# $$z_{ts} = q_t^\top k_s \qquad a_{ts} = \frac{e^{z_{ts}}}{\sum_r e^{z_{tr}}} \qquad c_t = \sum_s a_{ts}\, v_s$$
#
# Here is the calculation for θ₁. Do it on paper first: the scores are 2, 1 and 0, and $e^2$ is 7.39, $e^1$ is 2.72 and $e^0$ is 1. What is the weight of "not"?

# %% tags=["nbval-check-output"]
V = K  # S E: for now each word is its own value
exponentials = scores[0].exp()  # S
weights = exponentials / exponentials.sum()  # S
context = torch.zeros(2)  # E
for s in range(3):
    context = context + weights[s] * V[s]
print("weights", weights)
print("context", context)

# %% [markdown]
# The weight of "not" is 7.39 / 11.11 = 0.665, because 7.39, 2.72 and 1 add up to 11.11. The context is $0.665 \cdot (0, 2) + 0.245 \cdot (1, 1) + 0.090 \cdot (3, 0) = (0.515, 1.575)$.
#
# In matrices, the three steps are one product, a softmax along each row, and another product. From now on, we call this function.


# %% tags=["nbval-check-output"]
def attention(Q, K, V):  # T D, S D, S E
    weights = (Q @ K.T).softmax(-1)  # T S
    return weights @ V, weights  # T E, T S


contexts, weights = attention(Q, K, V)
by_library = F.scaled_dot_product_attention(Q, K, V, scale=1.0)
print(contexts)
print("PyTorch gives the same:", torch.allclose(contexts, by_library))

# %% [markdown]
# The first row is the context that we have just computed. PyTorch has a function for it, too. (Its `scale=1.0` turns off a division that lesson 04 explains.)
#
# The drawing shows the three steps. The weights have one row for each query.

# %%
diagrams.attention(new=["queries", "keys", "values"])

# %%
plots.weights(weights, words, ["θ₁", "θ₂"])

# %% [markdown]
# θ₁ puts most of its weight on "not" (0.67), and θ₂ on "great" (0.84). Each row sums to 1. The columns do not: the column of "not" sums to 0.71. So the words compete for the weight of a query, but queries do not compete for a word.
#
# ## A soft dictionary
#
# The names *key* and *value* come from dictionaries. A Python dictionary finds the one key that equals what you ask for, and returns its value. Attention compares what you ask for with all keys, and returns a weighted mean of all values.
#
# We give the three words the values 10, 20 and 40, and three keys at right angles. Then we ask for "really", with a query that points along its key. We make this query longer and longer. Where does the answer begin, and where does it end?

# %% tags=["nbval-check-output"]
prices = {"not": 10.0, "really": 20.0, "great": 40.0}
print("dictionary:", prices["really"])

keys = torch.eye(3)  # S D
values = torch.tensor([[10.0], [20.0], [40.0]])  # S E
for length in (0, 1, 2, 4, 8):
    query = length * keys[1:2]  # T D: along the key of "really"
    answer, weights = attention(query, keys, values)
    print(f"query of length {length}: {answer.item():.2f}")

# %% [markdown]
# The answer begins at 23.33, the mean of the three values, because all scores are 0 then. It ends at 20, which is what the dictionary returns. The longer the query, the more weight goes to its key.
#
# There is one advantage over a dictionary: the answer of attention has a gradient with respect to the query. So a network can learn what to ask for.
#
# In the next picture, keys and values are points in two planes. Turn the query with the slider. At which angle does the context lie halfway between $v_1$ and $v_2$? Can it leave the triangle?

# %%
keys = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-0.7, -0.7]])  # S D
values = torch.tensor([[0.0, 0.0], [4.0, 0.0], [1.0, 3.0]])  # S E
widgets.look_up(keys, values)

# %% [markdown]
# The context lies halfway at 45°, because the query is equally near to $k_1$ and $k_2$ there. It never leaves the triangle, because a weighted mean always lies between the points that it is made of.
#
# ## Who asks?
#
# So far the queries were given. There are three places where they can come from. In **fixed attention**, the queries are learned vectors θ. In **cross-attention**, they are the words of another sentence, such as a translation. In **self-attention**, they are the words of the sentence itself.
#
# We try all three on "the film was not great". By hand, we give each word one feature of its own; only "the" and "was" share one. Which words will look at more than one word in self-attention?

# %%
english = ["the", "film", "was", "not", "great"]
german = ["kein", "toller", "Film"]  # not (a), great, film
features = {"the": 0, "was": 0, "film": 1, "not": 2, "great": 3}
features_german = {"Film": 1, "kein": 2, "toller": 3}
x = 2 * torch.eye(4)[[features[word] for word in english]]  # S D
x_german = 2 * torch.eye(4)[[features_german[word] for word in german]]  # T D
theta = 2 * torch.tensor([[0.0, 0, 1, 0], [0, 1, 0, 1]])  # T D: "not"; film or "great"

asked = {
    "fixed": (attention(theta, x, x)[1], english, ["θ₁", "θ₂"]),
    "cross": (attention(x_german, x, x)[1], english, german),
    "self": (attention(x, x, x)[1], english, english),
}
plots.side_by_side(plots.weights, asked)

# %% [markdown]
# In self-attention, "the" and "was" look at two words, at themselves and at each other, because they have the same vector. Every other word finds only itself: "film" asks for a film and finds "film". In cross-attention, each German word finds its English partner.
#
# ## Can it find the "not"?
#
# We return to the four cases of lesson 02: a good or a bad review, plain or with "not". A sum of word vectors gets at most three of the four right.
#
# This is our first model with self-attention. Each word is its own query, key and value. Its context is added to its own vector, so that the word itself is not lost. Then we sum over the words, and one dot product with learned numbers decides. All vectors are learned from the labels of 2,000 generated reviews. What share of new reviews will be right? A guess is right half of the time.

# %% tags=["nbval-check-output"]
predict("03.own_question", ...)

# %% tags=["reveals"]
learn = generate_reviews(2000, seed=0)
test = four_cases(250, seed=1)
vocabulary = build_vocabulary(learn.sentences)
learn_words = encode(learn.sentences, vocabulary)
test_words = encode(test.sentences, vocabulary)


def trained(projections, seed):
    torch.manual_seed(seed)
    model = SelfAttention(len(vocabulary), projections=projections)
    settings = {"epochs": 15, "batch": 64, "rate": 0.05, "weight_decay": 0.01}
    train(model, *learn_words, learn.labels, seed, **settings)
    return model


def share_right(model):
    return correct(model, *test_words, test.labels).float().mean().item()


one_vector = [share_right(trained(projections="", seed=seed)) for seed in range(5)]
print("The share of five runs, each with its own seed:")
print(" ".join(f"{share:.3f}" for share in one_vector))
reveal("03.own_question", sum(one_vector) / 5)

# %% [markdown]
# This model has learned nothing: it is as good as a guess, with each of the five seeds.
#
# Is the task impossible for this model? We choose vectors by hand, and let the same model judge the four cases with them. A sum above 0 means a good review.

# %% tags=["nbval-check-output"]
cases = [
    "the film was great",
    "the film was awful",
    "the film was not great",
    "the film was not awful",
]
vectors = {
    "great": torch.tensor([6.0, 12, 0, 0]),
    "awful": torch.tensor([0.0, 0, 12, 0]),
    "not": torch.tensor([9.0, 0, 0, 12]),
    "other": torch.tensor([3.0, 0, 0, 0]),
}
numbers = torch.tensor([-2.0, 3, 3, 2]) / 6  # for the dot product that decides
for case in cases:
    found = [vectors.get(word, vectors["other"]) for word in case.split()]
    x = torch.stack(found)  # S D
    contexts, _ = attention(x, x, x)  # S D
    total = ((x + contexts) @ numbers).sum() - 12
    print(f"{total:+.0f}  {case}")

# %% [markdown]
# With these vectors all four cases are right. So the task is not impossible, but our training does not find such vectors. Each of them has four jobs: it asks, it is found, it is handed over, and it is added to what its word finds. If training changes a vector for one job, it changes for the other three, too.
#
# ## Three vectors for each word
#
# So we give every word three more vectors, one for each of the first three jobs. Three learned matrices make them, the **projections**:
#
# $$q_s = x_s W_q \qquad k_s = x_s W_k \qquad v_s = x_s W_v$$
#
# The query says what a word looks for. The key says what the word can be found by. The value says what the word hands over. The word's own vector is still added to its context: this is called a **residual connection**.

# %%
diagrams.self_attention(new=["projections", "residual"])

# %% [markdown]
# Before we train the matrices, we choose them by hand, for "the film was not great". Each word has four features. The first is its polarity, 3 for "great", -3 for "awful", and 0 for all others. The other three are 1 or 0: is it an opinion, is it "not", is it any other word?
#
# The idea is this: "not" looks for the opinion, and gets the opposite of it. An opinion looks for opinions, too, so it finds itself. Any other word finds other words, which hand over 0. The sum adds up the polarities of all words and all that they find.
#
# "great" has the polarity 3 and hands over -2. What is the sum of "the film was great"? And what is the sum of "the film was not great"?

# %%
features = {
    "great": torch.tensor([3.0, 1, 0, 0]),
    "awful": torch.tensor([-3.0, 1, 0, 0]),
    "not": torch.tensor([0.0, 0, 1, 0]),
    "other": torch.tensor([0.0, 0, 0, 1]),
}
W_q = torch.tensor([
    [0.0, 0.0],  # the polarity does not matter
    [10.0, 0.0],  # an opinion looks for opinions
    [10.0, 0.0],  # "not" looks for opinions
    [0.0, 10.0],  # any other word looks for other words
])  # fmt: skip
W_k = torch.tensor([
    [0.0, 0.0],  # the polarity does not matter
    [1.0, 0.0],  # an opinion is found by those who look for opinions
    [0.0, 0.0],  # "not" is found by nobody
    [0.0, 1.0],  # any other word is found by those who look for other words
])  # fmt: skip
W_v = torch.tensor([[-2 / 3], [0.0], [0.0], [0.0]])  # hand over -2/3 of the polarity


def by_hand(sentence):
    found = [features.get(word, features["other"]) for word in sentence.split()]
    x = torch.stack(found)  # S D
    contexts, weights = attention(x @ W_q, x @ W_k, x @ W_v)  # S 1, S S
    polarity = x[:, :1] + contexts  # S 1: the residual connection
    return polarity.sum(), weights


# %% tags=["nbval-check-output"]
for case in cases:
    total, _ = by_hand(case)
    print(f"{total:+.0f}  {case}")

# %% [markdown]
# All four cases are right. In "the film was great", "great" adds 3 and finds itself, which adds -2: the sum is 1. In "the film was not great", "not" finds "great", too, and adds another -2: the sum is -1. With "awful" all signs are reversed.
#
# This is what no sum of words can do. The same word "not" subtracts 2 in one sentence and adds 2 in another, because it asks for the opinion of its own sentence.

# %%
_, weights = by_hand("the film was not great")
plots.weights(weights, english, english)

# %% [markdown]
# In the picture, "not" has all its weight on "great".
#
# **Your turn**: add sentences of your own to `cases` and run the cells again. What happens to "great , not awful"?
#
# <details><summary>Answer</summary>
#
# The sum is 0, so the model cannot decide. "not" finds two opinions that fit equally well, because our model does not know where in the sentence a word stands. Lesson 11 will tell it.
#
# </details>
#
# ## Does training find such matrices?
#
# Now all vectors and all three matrices are learned from labels, again with five seeds. How many of the five runs will get all test reviews right?

# %% tags=["nbval-check-output"]
predict("03.projections", ...)

# %% tags=["reveals"]
models = [trained(projections="qkv", seed=seed) for seed in range(5)]
three_vectors = [share_right(model) for model in models]
print("The share of five runs, each with its own seed:")
print(" ".join(f"{share:.3f}" for share in three_vectors))
reveal("03.projections", three_vectors.count(1.0))

# %% [markdown]
# With the three matrices, every run gets every review right. Without them, no run was better than a guess.
#
# Has training found our solution? We look into one of the five models. The pictures show who looks at whom in the four cases. What do "the", "film" and "was" look at, and what does "not" look at?


# %%
def weights_of(model, sentence):
    ids, mask = encode([sentence.split()], vocabulary)
    return model.attend(ids, mask)[1][0].detach()  # S S


model = models[4]
pictures = {}
for case in cases:
    pictures[case] = weights_of(model, case), case.split(), case.split()
plots.side_by_side(plots.weights, pictures, width=3)

# %% [markdown]
# "the", "film" and "was" look at "great", unless there is a "not": then they look at "not". And "not" looks at "awful", but not at "great". So this is another solution than ours. To see why it works, we need what each word adds when it is found.

# %%
print("When it is found, a word adds this to the sum:")
for word in ("great", "awful", "not", "the", "film", "was"):
    ids, _ = encode([[word]], vocabulary)
    added = model.output.weight @ model.value(model.embedding(ids))[0, 0]
    print(f"{word:6} {added.item():+.1f}")

# %% [markdown]
# Both "great" and "awful" add a lot, and every other word adds little or less than nothing. The other words find "great" where there is no "not", and "not" finds "awful". These are the two kinds of good reviews.
#
# So the sentence can ask the question itself: each word asks with a query of its own, and what it finds depends on the other words. With one vector for everything our training failed, and with a query, a key and a value for each word it succeeded.
#
# ## Two limits for a translator
#
# In lesson 06, attention will translate, and in lesson 12 it will do nothing else. For this it needs two limits on who may look at whom.
#
# - Sentences of different lengths are stored in one tensor, and the shorter ones are filled up with **padding**. No word should look at padding. A **padding mask** is True where there is a word.
# - A translator writes one word after the other. When it learns to predict the next word, it must not see it. A **causal mask** is True where a key is not later than the query.
#
# In a mask, True means "may look". Where it is False, the score becomes $-\infty$, so the softmax gives the weight 0. Take a sentence of three words with two positions of padding. How many pairs of query and key does each mask leave open, and how many do both together?

# %% tags=["nbval-check-output"]
padding_mask = torch.tensor([True, True, True, False, False])  # S
causal_mask = torch.ones(5, 5, dtype=torch.bool).tril()  # T S
padding_mask = padding_mask.expand(5, 5)  # T S: the same row for every query
both = padding_mask & causal_mask  # T S
for mask in (padding_mask, causal_mask, both):
    print(mask.sum().item())

# %%
masks = {"padding": [padding_mask], "causal": [causal_mask], "both": [both]}
plots.side_by_side(plots.mask, masks)

# %% [markdown]
# The padding mask leaves 5 · 3 = 15 pairs open, the causal mask 1 + 2 + 3 + 4 + 5 = 15, and both together 12. For a batch, the padding mask has a row for each sentence, B×S. Then `padding_mask[:, None] & causal_mask` gives a mask for each sentence, B×T×S.
#
# With a mask, our function has one line more. There is one case to think of: if a query may look at nothing, all its scores are $-\infty$, and the softmax gives NaN. We give this query a context of zeros.


# %%
def masked_attention(Q, K, V, mask):  # T D, S D, S E, T S
    scores = (Q @ K.T).masked_fill(~mask, -torch.inf)  # T S
    weights = scores.softmax(-1).nan_to_num(0.0)  # T S
    return weights @ V, weights  # T E, T S


# %% [markdown]
# ## Does the future leak?
#
# A wrong mask raises no error, and its results look like any others. A **leak test** finds it: change one word of the input, and see which outputs change. Under a causal mask, an output may change only if the word is not later.
#
# We test two masks. Which of them is wrong?


# %%
def leak_test(mask):
    x = torch.randn(5, 4, generator=torch.Generator().manual_seed(0))  # S D
    before, _ = masked_attention(x, x, x, mask)
    moved = torch.zeros(5, 5, dtype=torch.bool)
    for s in range(5):
        changed = x.clone()
        changed[s] += torch.tensor([1.0, -2.0, 3.0, 0.5])
        after, _ = masked_attention(changed, changed, changed, mask)
        moved[:, s] = (after - before).abs().amax(-1) > 1e-6
    return moved


mask_a = torch.ones(5, 5, dtype=torch.bool).tril(1)
mask_b = causal_mask
moves = {"mask A": [leak_test(mask_a)], "mask B": [leak_test(mask_b)]}
plots.side_by_side(
    plots.mask,
    moves,
    xlabel="word that is changed",
    ylabel="output that moves",
)

# %% [markdown]
# Mask A is wrong: an output also moves when the *next* word changes. Under mask B, an output moves only for its own word and for earlier ones. We found this out without reading the mask. In the exercises you write such a test.
#
# ## Questions
#
# Run a cell to see its question, then replace the dots with a letter in quotes or a number.

# %%
check("03.q1", ...)

# %%
check("03.q2", ...)

# %%
check("03.q3", ...)

# %%
check("03.q4", ...)

# %%
check("03.q5", ...)

# %% [markdown]
# ## Recap
#
# - Attention is a function $f(Q, K, V)$: score each query against each key, normalise with a softmax, sum the values. It is a soft dictionary.
# - In self-attention, the words of the sentence are the queries. Three projections give each word a query, a key and a value.
# - With them, "not" can ask for the opinion of its own sentence, and training gets all four cases right. No sum of word vectors can do that.
# - Masks are True where a query may look. A leak test finds a wrong mask: change a word, and see which outputs move.
#
# <details><summary>Other texts, other names: a table for when you read them</summary>
#
# | there | here |
# | --- | --- |
# | slides of Ylipää 2020: *query set*, one element for each value | keys |
# | the same slides: *key set*, one weighted vector for each element | queries |
# | the same slides: in fixed attention, each θ is a *key* | θ is a query |
# | slides of MAIL-ECNU 2019: MultiHead($V, K, Q$), called with ($X_e, X_e, X_d$) | $f(Q, K, V) = f(X_d, X_e, X_e)$ |
# | the same slides: softmax($Q^\top K / \sqrt{d}$) $V$, words are columns | softmax($QK^\top$) $V$, words are rows |
#
# $X_e$ are the words that a translator reads, $X_d$ those that it writes. We follow Vaswani et al. 2017: a query asks, and keys are compared with it.
#
# </details>
#
# **Exercises**: [open them](../exercises/03_queries_keys_values_exercises.ipynb)
#
# **Next**: we compared queries with keys by a dot product. [Are there other ways, and does it matter which we take?](04_alignment_scores.ipynb)
