# %% [markdown]
# > the film was not great
#
# Which word does "not" negate? You found "great" without effort, by asking: not *what*? In lesson 02, no word could ask: the vector θ asked every sentence the same question, so "not" could not look for the word it negates.
#
# Now the words themselves ask the questions. Can one layer of attention then get all four cases right: good and bad reviews, with and without "not"?

# %%
import ipywidgets
import torch
from torch import nn
from torch.nn import functional as F

from course_lessons.lesson_03_queries_keys_values import figures
from course_utils import check, predict, reveal
from course_utils.data.generated_reviews import four_cases, generate_reviews
from course_utils.figures import diagrams, plots
from course_utils.figures.widgets import explore
from course_utils.models.sentiment import build_vocabulary, correct, encode, train

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## Score, normalise, sum
#
# Lesson 02's attention already asked; now we name its parts. The vector that asks, θ there, is called the **query** $q$. The vector that it is compared with is the **key** $k$, and the result of the comparison is the **score** of this key for this query:
#
# $$z = q^\top k$$
#
# We use the three words from lesson 02 as keys and θ₁ as the query. In the comments, S is the number of keys and D the dimension of queries and keys.

# %% tags=["nbval-check-output"]
words = ["not", "really", "great"]
K = torch.tensor([[0.0, 2.0], [1.0, 1.0], [3.0, 0.0]])  # S D: a key for each word
q = torch.tensor([0.0, 1.0])  # D: the query is θ₁
scores = K @ q  # S: of each key
scores

# %% [markdown]
# The word "not" has the highest score, 2. What does the query get back? Attention has three steps:
#
# 1. **Score.** The query gives every key a score.
# 2. **Normalise.** A softmax turns the scores of one query into weights $a$.
# 3. **Sum.** Each word hands over a vector, its **value** $v$ of dimension E. The weighted sum of the values is the **context** $c$ of the query.
#
# $$z_s = q^\top k_s \qquad a_s = \frac{e^{z_s}}{\sum_{r=1}^{S} e^{z_r}} \qquad c = \sum_s a_s\, v_s$$
#
# For now, each word's vector is also its value. Do the calculation on paper first: the scores are 2, 1 and 0; $e^2$ is 7.39, $e^1$ is 2.72 and $e^0$ is 1. What is the weight of "not"?

# %% tags=["nbval-check-output"]
V = K  # S E: for now each word is its own value
exponentials = scores.exp()  # S
weights = exponentials / exponentials.sum()  # S
context = torch.zeros(2)  # E
for s in range(3):
    context = context + weights[s] * V[s]
print("weights", weights)
print("context", context)
figures.one_query(words, q, K, V)

# %% [markdown]
# The weight of "not" is 7.39 / 11.11 = 0.665, because 7.39, 2.72 and 1 add up to 11.11. In our pictures, a query has a point that fits into a key's notch, and the context has the rounded shape of its values.
#
# With several queries, each gets its own scores, weights and context. If T queries are the rows of a matrix $Q$, the three steps are a matrix product, a softmax along each row and a second product. They form one function, which we apply to θ₁ and θ₂:
#
# $$\mathrm{Attention}(Q, K, V) = \text{softmax}(Q K^\top)\, V$$


# %% tags=["nbval-check-output"]
def attention(Q, K, V):  # T D, S D, S E
    weights = (Q @ K.T).softmax(-1)  # T S
    return weights @ V, weights  # T E, T S


Q = torch.tensor([[0.0, 1.0], [1.0, 0.0]])  # T D: the queries are θ₁ and θ₂
contexts, weights = attention(Q, K, V)
by_library = F.scaled_dot_product_attention(Q, K, V, scale=1.0)
print(contexts)
print("PyTorch gives the same:", torch.allclose(contexts, by_library))

# %% [markdown]
# The first row is the context we computed. PyTorch has this function; `scale=1.0` turns off the division by $\sqrt{D}$ in the original formula (Vaswani et al., 2017), which lesson 04 explains.
#
# ## A soft dictionary
#
# The names *key* and *value* come from dictionaries. A Python dictionary finds the one key that equals what you ask for and returns its value. Attention compares what you ask for with all the keys and returns a weighted mean of all the values.
#
# We give the three words the values 10, 20 and 40 and keys that are perpendicular to one another. Then we ask for "really": the query points along its key, and we make the query longer and longer. Guess where the answer starts and ends.

# %% tags=["nbval-check-output"]
value_of = {"not": 10.0, "really": 20.0, "great": 40.0}
print("dictionary:", value_of["really"])

keys = torch.eye(3)  # S D
values = torch.tensor([[10.0], [20.0], [40.0]])  # S E
for length in (0, 1, 2, 4, 8):
    query = length * keys[1:2]  # T D: one row, along the key of "really"
    answer, weights = attention(query, keys, values)
    print(f"query of length {length}: {answer.item():.2f}")

# %% [markdown]
# The answer starts at 23.33, the mean of the three values, because at length 0, every score is 0. It approaches 20, the dictionary's answer. On the way, it changes smoothly with the query, so there is a gradient, and a network can learn what to ask for.
#
# ## Who asks?
#
# Queries often come from one of three places. In **fixed attention**, they are learned vectors θ; in **cross-attention**, they are the words of another sentence, such as a translation; in **self-attention**, they are the words of the sentence itself.
#
# We compare fixed attention and self-attention on "the film was not great". Each word has its own feature; only "the" and "was" share one. In self-attention, which words will look at more than one word?

# %%
words = ["the", "film", "was", "not", "great"]
feature = {"the": 0, "was": 0, "film": 1, "not": 2, "great": 3}
x = torch.zeros(5, 4)  # S D
for place, word in enumerate(words):
    x[place, feature[word]] = 2  # more than 1: clear scores
theta = torch.zeros(2, 4)  # T D
theta[0, feature["not"]] = 2  # θ₁ asks for "not"
theta[1, feature["film"]] = 2  # θ₂ asks for "film" and "great"
theta[1, feature["great"]] = 2

_, fixed = attention(theta, x, x)  # T S: the weights
_, own = attention(x, x, x)
asked = {  # weights, their columns, their rows
    "fixed": (fixed, words, ["θ₁", "θ₂"]),
    "self": (own, words, words),
}
plots.side_by_side(plots.weights, asked)

# %% [markdown]
# In self-attention, "the" and "was" look at themselves and at each other, because they have the same vector. Every other word **finds** itself, which means that it gives itself nearly all its weight. That is disappointing: "not" may ask, but it does not find "great". In fixed attention, θ₁ finds "not", while θ₂ asks for two features and splits its weight between "film" and "great".
#
# Couldn't we choose better vectors? Not freely, because a single vector has three jobs: it asks, it is found and it is handed over. A word's score with itself is $x \cdot x$. A different word's vector $y$ can have a higher score, $x \cdot y$, only if $y$ is longer than $x$. If we make "great" so long that "not" finds it, then "great" finds itself more strongly than ever.
#
# ## Three vectors for each word
#
# We give every word a separate vector for each job: its own query, key and value. Three learned matrices, the **projections**, compute them:
#
# $$q_s = x_s W_q \qquad k_s = x_s W_k \qquad v_s = x_s W_v$$
#
# A **residual connection** adds each word's context $c_s$ to the word's vector $x_s$. The sum over all the words then determines the output:
#
# $$\text{output} = w^\top \sum_s (x_s + c_s) + b$$
#
# Before we train the matrices, we choose them by hand. Each word has four features. The first is its polarity: 3 for "great", -3 for "awful" and 0 for all others. The other three are 1 or 0 and say whether the word is an opinion, "not" or a neutral word. The matrices give the words these jobs:
#
# | word | looks for | is found as | hands over |
# | --- | --- | --- | --- |
# | "not" | opinions | a neutral word | 0 |
# | "great", "awful" | neutral words | an opinion | -6, 6 |
# | any other | neutral words | a neutral word | 0 |
#
# Only "not" looks for opinions, and an opinion hands over minus twice its polarity. In the next cell, the 10 in $W_q$ makes the scores so large that a word gives nearly all its weight to what it looks for.

# %%
features = {
    "great": torch.tensor([3.0, 1, 0, 0]),
    "awful": torch.tensor([-3.0, 1, 0, 0]),
    "not": torch.tensor([0.0, 0, 1, 0]),
    "neutral": torch.tensor([0.0, 0, 0, 1]),
}
# D 2: the first column looks for opinions, the second for neutral words
W_q = torch.tensor([
    [0.0, 0.0],  # the polarity does not matter
    [0.0, 10.0],  # an opinion looks for neutral words
    [10.0, 0.0],  # "not" looks for opinions
    [0.0, 10.0],  # a neutral word looks for neutral words
])  # fmt: skip
# D 2: the first column is found as an opinion, the second as a neutral word
W_k = torch.tensor([
    [0.0, 0.0],  # the polarity does not matter
    [1.0, 0.0],  # an opinion is found by those who look for opinions
    [0.0, 1.0],  # "not" is found as a neutral word
    [0.0, 1.0],  # a neutral word is found by those who look for neutral words
])  # fmt: skip
W_v = torch.zeros(4, 4)  # D D
W_v[0, 0] = -2.0  # "great" hands over -6, "awful" 6

# %% [markdown]
# Which word finds "great" in "the film was not great", and what does it bring back? Work out the sum, then watch the film.

# %%
figures.three_jobs("the film was not great", features, W_q, W_k, W_v)

# %% [markdown]
# "Not" asks for an opinion, finds "great" and brings back -6. Together with the 3 of "great" itself, the sum is 3 - 6 = -3, a bad review. Without "not", no word asks for an opinion, and the sum is 3. Do the same matrices also work for "awful"?


# %% tags=["nbval-check-output"]
def by_hand(sentence):
    rows = [features.get(word, features["neutral"]) for word in sentence.split()]
    x = torch.stack(rows)  # S D
    contexts, _ = attention(x @ W_q, x @ W_k, x @ W_v)  # S D
    total = (x + contexts).sum(0)  # D: with the residual connection
    return total[0]  # the polarity: w is (1, 0, 0, 0), and b is 0


cases = [
    "the film was great",
    "the film was awful",
    "the film was not great",
    "the film was not awful",
]
for case in cases:
    print(f"{by_hand(case):+.0f}  {case}")

# %% [markdown]
# The model gets all four cases right, which no sum from lesson 01 and no single θ could do. The word "not" adds 6 in "the film was not awful" and subtracts 6 in "the film was not great". It asks the sentence a question, and the answer depends on the sentence. Follow the sum in each case:


# %%
def jobs_in(sentence):
    return figures.three_jobs(sentence, features, W_q, W_k, W_v)


review = ipywidgets.ToggleButtons(options=cases, value=cases[3], description="review")
jobs_explorer = explore(jobs_in, sentence=review)
jobs_explorer

# %% [markdown]
# **Your turn**: call `by_hand` with sentences of your own. What does `by_hand("great , not awful")` return?
#
# <details><summary>Answer</summary>
#
# It returns 0, so the model cannot decide. "Not" looks equally at "great" and "awful", whose values cancel, because the model does not know where a word is in the sentence. Lesson 11 adds positions.
#
# </details>
#
# ## Padding must stay silent
#
# Will training find such matrices? Training batches contain padding, which no query should find. A **mask** is True where a query may look; a **padding mask** is True at words. The obvious way to hide a key is to set its weight to 0, after the softmax. Do the remaining weights still sum to 1?


# %% tags=["nbval-check-output"]
scores = torch.tensor([2.0, 1.0, 0.0, 0.0])  # S: not, really, great, padding
is_word = torch.tensor([True, True, True, False])  # S
after_softmax = scores.softmax(-1) * is_word
print("hidden after softmax ", after_softmax, after_softmax.sum())
print("divided by their sum ", after_softmax / after_softmax.sum())
print("score -∞ before it   ", scores.masked_fill(~is_word, -torch.inf).softmax(-1))


def masked_attention(Q, K, V, mask):  # T D, S D, S E, T S
    scores = (Q @ K.mT).masked_fill(~mask, -torch.inf)  # T S
    weights = scores.softmax(-1).nan_to_num(0.0)  # T S: 0 instead of NaN
    return weights @ V, weights  # T E, T S


# %% [markdown]
# They don't: the padding had already taken its part of the total. Dividing by the new sum repairs this, and a score of $-\infty$ before the softmax gives the same weights in one step. If every key is hidden from a query, however, the softmax gives NaN, which `masked_attention` replaces with zeros. Unlike `.T`, `.mT` swaps only the last two axes, so the function also works for a batch.
#
# ## Does training find such matrices?
#
# In the class for this model, each matrix is an `nn.Linear` without a bias. In the diagram, the arrow past the attention is the `+` in `forward`.


# %%
diagrams.self_attention(new=["projections", "residual"])


# %%
class SelfAttention(nn.Module):
    def __init__(self, vocabulary_size, width=8):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, width)  # V D
        nn.init.normal_(self.embedding.weight, std=0.1)
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width, bias=False)
        self.output = nn.Linear(width, 1)

    def attend(self, ids, mask):  # B S, B S
        x = self.embedding(ids)  # B S D
        Q = self.query(x)  # B S D
        K = self.key(x)  # B S D
        V = self.value(x)  # B S D
        may_look = mask[:, None]  # B 1 S: every query may look at every word
        return masked_attention(Q, K, V, may_look)  # B S D, B S S

    def forward(self, ids, mask):
        contexts, _ = self.attend(ids, mask)  # B S D
        words = (self.embedding(ids) + contexts) * mask[:, :, None]  # B S D
        return self.output(words.sum(1)).squeeze(-1)  # B


# %% [markdown]
# An output above 0 means a good review. The model learns from 2,000 generated reviews, with the settings from lesson 02. How many of five runs with different seeds will get all the test reviews right?

# %% tags=["nbval-check-output"]
predict("03.projections", ...)

# %% tags=["reveals"]
learn = generate_reviews(2000, seed=0)
test = four_cases(250, seed=1)
vocabulary = build_vocabulary(learn.sentences)
learn_ids, learn_mask = encode(learn.sentences, vocabulary)  # B S, B S
test_ids, test_mask = encode(test.sentences, vocabulary)


def trained(model_class, seed):
    torch.manual_seed(seed)
    model = model_class(len(vocabulary))
    settings = {"epochs": 15, "batch": 64, "rate": 0.05, "weight_decay": 0.01}
    train(model, learn_ids, learn_mask, learn.labels, seed, **settings)
    return model


def share_right(model):
    right = correct(model, test_ids, test_mask, test.labels)  # B
    return right.float().mean().item()


models = [trained(SelfAttention, seed) for seed in range(5)]
three_vectors = [share_right(model) for model in models]
print("Share of new reviews right, five runs with different seeds:")
print(" ".join(f"{share:.3f}" for share in three_vectors))
reveal("03.projections", three_vectors.count(1.0))

# %% [markdown]
# With the three matrices, every run gets every review right.
#
# Do we need three vectors for each word? A subclass replaces the three matrices with `nn.Identity`, which returns its input, so each word's vector is again its query, key and value. With the same training, what proportion of new reviews will this model get right?


# %%
class OneVector(SelfAttention):
    def __init__(self, vocabulary_size):
        super().__init__(vocabulary_size)
        self.query = nn.Identity()  # the word's own vector
        self.key = nn.Identity()
        self.value = nn.Identity()


# %% tags=["nbval-check-output"]
predict("03.own_question", ...)

# %% tags=["reveals"]
one_vector = [share_right(trained(OneVector, seed)) for seed in range(5)]
print("Share of new reviews right, five runs with different seeds:")
print(" ".join(f"{share:.3f}" for share in one_vector))
reveal("03.own_question", sum(one_vector) / 5)

# %% [markdown]
# For each of the five seeds, this model does no better than chance. Does that mean that a word needs three vectors? No: with $W_k$ as the only matrix, all five runs get at least 99% of the reviews right. It helps that a word can look for one thing and be found as another.
#
#
# <details><summary>More: would a single matrix be enough, or more training?</summary>
#
# Each matrix that a row does not name is replaced with `nn.Identity`. In the third row, query and key share one matrix, so "not" and "great" still give each other the same score. The table shows the accuracy on new reviews, from the worst to the best of five runs:
#
# | learned matrices | 15 epochs | 40 epochs | 75 epochs |
# | --- | --- | --- | --- |
# | none | 0.50 to 0.51 | 0.50 to 0.51 | 0.50 to 0.51 |
# | value | 0.50 to 0.55 | 1.00 to 1.00 | 1.00 to 1.00 |
# | one for query and key | 0.50 to 0.96 | 0.55 to 1.00 | 0.88 to 1.00 |
# | query | 0.98 to 1.00 | 1.00 to 1.00 | 0.98 to 1.00 |
# | key | 1.00 to 1.00 | 0.97 to 1.00 | 0.98 to 1.00 |
# | all three | 1.00 to 1.00 | 0.99 to 1.00 | 1.00 to 1.00 |
# | none, at a rate of 0.2 | 0.49 to 0.51 | 0.51 to 0.52 | 0.51 to 0.99 |
#
# Any one of the three matrices is enough, or nearly so, if training is long enough. A query matrix or a key matrix alone gets more than 97% of the reviews right after 15 epochs, but a value matrix alone needs more. Without any matrix, every run is still guessing at our learning rate, 0.05. At a rate of 0.2, after 75 epochs, the best run gets 99% right, so even one vector can be enough, but the worst still guesses.
#
# </details>
#
# ## Has training found the matrices we chose?
#
# We plot the attention weights of the last of the five models; the others may work differently. What do "the", "film", "was" and "not" look at?

# %%
model = models[4]
pictures = {}
for case in cases:
    words = case.split()
    _, weights = model.attend(*encode([words], vocabulary))  # 1 S S
    pictures[case] = weights[0], words, words
plots.side_by_side(plots.weights, pictures, width=3)

# %% [markdown]
# In the first review, "the", "film" and "was" look mostly at "great". Where there is a "not", they find "not" instead. In "the film was awful", all four words look mostly at "the". In the third review, "not" finds "was"; in the last, it finds "awful". Training has found a different solution from ours, in which no word looked at "not".
#
# Why does it work? The output sums the words' own vectors and contexts. A context is a weighted sum of values, so each look at a word with the value $v$ adds its weight times $w^\top v$ to the output. Will "awful" add a negative number?

# %%
w = model.output.weight[0]  # D
for case in cases:
    ids, mask = encode([case.split()], vocabulary)  # 1 S
    contexts, _ = model.attend(ids, mask)  # 1 S D
    own = (model.embedding(ids) @ w).sum().item()
    found = (contexts @ w).sum().item()
    print(f"{case:22}  own vectors {own:+.1f}   contexts {found:+.1f}")
print(f"b {model.output.bias.item():+.1f}\n")

with torch.no_grad():
    for word in ("great", "awful", "not", "the", "was"):
        x = model.embedding.weight[vocabulary[word]]  # D
        v = model.value(x)  # D
        print(f"{word:6} adds {(w @ v).item():+.1f} when it is found")

# %% [markdown]
# The contexts decide: they are positive only in the two good reviews. The words' own vectors add up to nearly the same number in all four.
#
# In this model, "awful" adds a large positive number, and so does "great". It all depends on which words find them:
#
# - In "the film was great", three words find "great". In "the film was not great", they find "not" instead, so here "not" is found.
# - In "the film was awful", no word finds "awful". In "the film was not awful", "not" finds it, so here "not" asks.

# %% [markdown]
# ## A second mask
#
# A model that writes a sentence must not look at words that come later. A **causal mask** is True where the key is at the query's position or before it; lesson 09 needs it.
#
# Take "not", "really" and "great", and two positions of padding, both vectors of zeros. For how many of the 25 query-key pairs are both masks True? Will any context change if we change the keys and values of the padding?

# %% tags=["nbval-check-output"]
is_word = torch.tensor([True, True, True, False, False])  # S
causal = torch.ones(5, 5, dtype=torch.bool).tril()  # T S: True up to the diagonal
both = is_word & causal  # T S: the padding mask is the same for every query
print("True in both masks:", both.sum().item())

x = torch.cat([K, torch.zeros(2, 2)])  # S D: the three words, then padding
changed = torch.cat([K, torch.ones(2, 2)])  # S D: different numbers in the padding
before, weights = masked_attention(x, x, x, both)
after, _ = masked_attention(x, changed, changed, both)
print("weights of the last query:", weights[4])
print("no context changes:", torch.equal(before, after))

padding_masks = torch.stack([is_word, torch.ones(5, dtype=torch.bool)])  # B S
in_batch = padding_masks[:, None] & causal  # B T S: from B 1 S and T S
print("masks of two sentences:", *in_batch.shape)

# %% [markdown]
# Both masks are True for 1 + 2 + 3 + 3 + 3 = 12 pairs. The last query is padding, so its scores are 0, and the three words share its weight equally. A hidden key has a weight of 0, so changing the key and its value changes no context, which is how we test a mask. In a batch, each sentence has its own padding and therefore its own T×S mask.

# %% [markdown]
# ## What if the sentence asks its own question?
#
# If the sentence asks, "not" can make "great" bad and "awful" good. A sum of word vectors with a linear score cannot do that, and lesson 02 needed several vectors θ. With a query, a key and a value for each word, self-attention learned to do it within 15 epochs in each of our five runs. With one vector for all three jobs, the same training did no better than chance; a separate key was enough.

# %% [markdown]
# ## Where you will meet this
#
# | here | in papers | in PyTorch | in Hugging Face's `transformers` |
# | --- | --- | --- | --- |
# | `attention` | $\mathrm{Attention}(Q, K, V)$ | `F.scaled_dot_product_attention`, no weights | weights with `output_attentions=True`, only if `attn_implementation` is `eager` |
# | mask: True means "may look" | score set to $-\infty$ | `attn_mask`: True means "may look"; in `nn.MultiheadAttention`, True means "hidden" | `attention_mask`: 1 is a word, 0 is padding |
# | causal mask | masked attention | `is_causal=True` | built by the model |
# | `query`, `key`, `value` | $W^Q$, $W^K$, $W^V$ | `in_proj_weight`, all three | `q_proj`, `k_proj`, `v_proj` |
# | fixed attention | attention pooling | the query is a parameter | `SiglipMultiheadAttentionPoolingHead` |
#
# We follow Vaswani et al. (2017). The slides by Ylipää (2020) call θ a *key* and the words the *query set*; the slides by MAIL-ECNU (2019) write $\mathrm{MultiHead}(V, K, Q)$.
#
# ## Questions
#
# Run a cell to see its question, then replace the dots with a number or with a letter in quotes.

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
# - Attention, a soft dictionary, is a function of queries, keys and values: score each key for each query, normalise with a softmax, sum the values.
# - In self-attention, the words of the sentence are the queries. Three projections give each word a query, a key and a value.
# - With these three vectors, "not" can make "great" bad and "awful" good, and our five runs got all four cases right. With one vector for all three jobs, the same training did no better than chance; with a separate key, it succeeded.
# - A mask is True where a query may look. A padding mask hides padding, and a causal mask hides later words.
#
# **Exercises**: [open them](../exercises/03_queries_keys_values_exercises.ipynb)
#
# **Next**: we compared queries with keys by taking their dot product. [Are there other ways, and does it matter which we use?](04_alignment_scores.ipynb)
