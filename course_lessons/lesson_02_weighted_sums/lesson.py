# %%
import random

import torch
from torch import nn

from course_utils import check, predict, reveal
from course_utils.data.generated_reviews import (
    ADVERBS,
    AFTER,
    ASPECTS,
    BEFORE,
    NEGATIVE,
    POSITIVE,
    contrast_pairs,
    four_cases,
    generate_reviews,
)
from course_utils.figures import diagrams, plots
from course_utils.models.sentiment import (
    SumOfWords,
    build_vocabulary,
    correct,
    encode,
    train,
)

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# In lesson 01's sum, "not" cannot change how much "great" counts. Of four cases, a good and a bad review, each with and without "not", a linear score on the sum therefore gets at most three right. Now we give each word a weight. Can this weight depend on the other words, and is that enough to handle "not"?
#
# ## A sum in which words carry different weights
#
# A **weighted sum** multiplies each word's vector $x_s$ by a **weight** $a_s$ and adds up the results to give the **context** $c$:
#
# $$c = \sum_{s=1}^{S} a_s \, x_s$$
#
# We make up three word vectors, whose two entries say how strongly a word praises and how strongly it negates. In the comments, S is the number of words and D the dimension of the vectors. On paper, work out the context for the weights 0.5, 0.25 and 0.25.

# %% tags=["nbval-check-output"]
words = ["not", "really", "great"]
x = torch.tensor([[0.0, 2.0], [1.0, 1.0], [3.0, 0.0]])  # S D: a row for each word
weights = torch.tensor([0.5, 0.25, 0.25])  # S

context = torch.zeros(2)  # D
for s in range(3):
    context = context + weights[s] * x[s]
print("by loop   ", context)
print("by product", weights @ x)

# %% [markdown]
# The context is $0.5 \cdot (0, 2) + 0.25 \cdot (1, 1) + 0.25 \cdot (3, 0) = (1, 1.25)$, a sum that the product `weights @ x` gives in one step.
#
# We would gain nothing, however, if each word had the same weight in every sentence. If "great" always has weight 2, it always adds $2 \cdot (3, 0) = (6, 0)$, but a plain sum does the same if the vector of "great" is $(6, 0)$. We therefore look for weights that depend on the other words.
#
# ## Weights that are positive and sum to one
#
# We let the words share a total weight of 1, so one word can gain weight only if another loses some. Every word has a **score** $z_s$, which may be any number, and the **softmax** function turns the scores into weights:
#
# $$a_s = \frac{e^{z_s}}{\sum_{r=1}^{S} e^{z_r}}$$
#
# The exponential $e^{z_s}$ is positive for every score, and dividing by the total makes the weights sum to 1. With the scores 1, 2 and 4, which we choose by hand for now, what is the weight of "great"?

# %% tags=["nbval-check-output"]
z = torch.tensor([1.0, 2.0, 4.0])  # S: the scores of "not", "really" and "great"
exponentials = z.exp()  # S
weights = exponentials / exponentials.sum()  # S
print("e^z    ", exponentials)
print("weights", weights)

# %% [markdown]
# The word "great" gets 54.598 / 64.705 = 0.844. Because a score that is 1 higher earns $e \approx 2.7$ times as much weight, "really" has 2.7 times the weight of "not".
#
# The next cell adds 100 to each score. Will the weights change?

# %% tags=["nbval-check-output"]
higher = z + 100  # S
print("by the formula", higher.exp() / higher.exp().sum())
print("by PyTorch    ", higher.softmax(-1))

# %% [markdown]
# As PyTorch shows, the weights do not change, because every exponential, and with it the total, is multiplied by $e^{100}$: only the differences between scores matter.
#
# Our formula, however, fails here: $e^{101}$ is too large for a 32-bit number and becomes infinity, and infinity divided by infinity is NaN (not a number). PyTorch avoids this by first subtracting the largest score from all scores. From now on, we therefore use its `softmax(-1)`, where the -1 means that the numbers along the last axis share the weight.
#
# Before the softmax, we can divide all scores by a number called the **temperature**. At temperature 1, "great" has a weight of 0.844; what will its weight be at 0.4?

# %% tags=["nbval-check-output"]
predict("02.cold", ...)

# %% tags=["nbval-check-output", "reveals"]
print("temperature, then the weights of", *words)
for temperature in (0.4, 1.0, 100.0):
    print(f"{temperature:6.1f}", (z / temperature).softmax(-1))
reveal("02.cold", (z / 0.4).softmax(-1)[2])

# %% [markdown]
# At temperature 0.4, "great" has nearly all the weight, whereas at 100, the three weights are nearly equal. In general, temperatures below 1 make the weights more unequal, and temperatures above 1 make them more equal.
#
# ## Where do scores come from?
#
# Instead of choosing the scores by hand, we now compute them from the words. The scores, their softmax and the weighted sum together are called **attention**. **Fixed attention**, also known as *attention pooling*, uses one vector θ, the *learned query*, which is the same for every sentence. A word's score $z_s = g(x_s)$ is the dot product of its vector with θ:
#
# $$g(x_s) = x_s^\top \theta$$
#
# A word gets a high score if its vector has a large component in the direction of θ. We say that θ *looks for* this direction and that attention **attends** to the words with large weights.
#
# In the plot, θ₁ = (0, 1) is the grey arrow, and a dotted line projects "really" onto the direction of θ₁. Which of the three words gets the highest score?

# %%
theta_1 = torch.tensor([0.0, 1.0])  # D: looks for negation
theta_2 = torch.tensor([1.0, 0.0])  # D: looks for praise
ax = plots.axes(width=4.2, height=3.4)
plots.directions(x, words, theta_1, ax=ax, direction_name="θ₁")
_ = ax.set(xlabel="first entry: praise", ylabel="second entry: negation")

# %% [markdown]
# The highest score goes to "not", whose vector has the largest component in the direction of θ₁. Next comes "really", whereas "great" scores 0, since its vector is perpendicular to θ₁. The next cell also tries θ₂ = (1, 0), which looks for praise. What changes if θ₂ is five times as long?


# %% tags=["nbval-check-output"]
def fixed_attention(x, theta):  # S D, D
    scores = x @ theta  # S
    weights = scores.softmax(-1)  # S
    return weights @ x, weights  # D, S


for theta in (theta_1, theta_2, 5 * theta_2):
    context, weights = fixed_attention(x, theta)
    print("scores", x @ theta, " weights", weights, " context", context)

# %% [markdown]
# With the longer θ₂, all scores are five times as large, as at a temperature of 1/5, so "great" gets nearly all the weight.
#
# ## Can a word's weight depend on the other words?
#
# We compare "really great" with "not really great", using θ₁, which looks for "not". First, work out the weight of "great" in the shorter sentence.

# %% tags=["nbval-check-output"]
vector_of = {"not": x[0], "really": x[1], "great": x[2]}  # each D


def vectors_of(sentence):
    rows = [vector_of[word] for word in sentence.split()]
    return torch.stack(rows)  # S D


two_words = vectors_of("really great")  # S D
_, weights = fixed_attention(two_words, theta_1)
print("scores ", two_words @ theta_1)
print("weights", weights)

# %% [markdown]
# The exponentials of "really" and "great" are 2.718 and 1, which add up to 3.718, so the weight of "great" is $1 / 3.718 = 0.269$. Now we put "not" in front, which has a score of 2 and an exponential of $e^2 = 7.389$. By what number does this divide the weight of "great"?

# %% tags=["nbval-check-output"]
predict("02.great_after_not", ...)

# %% tags=["nbval-check-output", "reveals"]
three_words = vectors_of("not really great")  # S D
_, weights_with_not = fixed_attention(three_words, theta_1)
print("Now for the sentence with not:")
print("scores ", three_words @ theta_1)
print("weights", weights_with_not)
print("The weights of really and great are divided by", weights / weights_with_not[1:])
reveal("02.great_after_not", weights[1] / weights_with_not[2])

# %% [markdown]
# The weight of "great" falls from 0.269 to 0.090, though its score is still 0. While a word's **score** is computed from that word and θ alone, its **weight** also depends on the other words, because the softmax divides by a total to which all words contribute. The answer to our first question is therefore yes.
#
# The dependence is weak, though, because "not" divides the weights of *all* other words by the same number, here 2.987: the weight of "really" falls as well, from 0.731 to 0.245. Therefore "not" cannot shift weight from one of these words to the other.
#
# **Your turn**: in the cells for "really great" and "not really great", replace `theta_1` with a different vector, such as `-theta_1`. Can you find a vector with which "not" *raises* the weight of "great"?
#
# <details><summary>Answer</summary>
#
# No, because the $e^{z}$ of "great" stays the same and every extra word makes the total larger, so the weight of "great" can only fall.
#
# </details>
#
# In **MLP attention**, which you write in the exercises, a small network computes the score, but even then, each $g(x_s)$ depends on one word alone, so our answer stays the same.
#
# ## Is one θ enough for "not"?
#
# We classify the context as lesson 01 classified the sum, with a vector $w$ and a number $b$:
#
# $$\text{output} = w^\top c + b$$
#
# An output above 0 means a good review. We use θ₁ again, while the vector $w$ picks out the context's first entry, the praise, and $b = 0.5$ makes the output for "not awful" positive. The remaining vectors are (-3, 0) for "awful", the opposite of "great", and (0, 0) for "the", "film" and "was". How many of the four cases does this model get right?

# %% tags=["nbval-check-output"]
vector_of["awful"] = torch.tensor([-3.0, 0.0])  # D
for word in ("the", "film", "was"):
    vector_of[word] = torch.zeros(2)  # D
cases = [
    "the film was great",
    "the film was awful",
    "the film was not great",
    "the film was not awful",
]
w = torch.tensor([1.0, 0.0])  # D
b = 0.5
for case in cases:
    context, weights = fixed_attention(vectors_of(case), theta_1)
    output = context @ w + b
    print(f"output {output:+.2f}, weight of the opinion {weights[-1]:.2f}  {case}")

# %% [markdown]
# The model gets three right and misses only "the film was not great", whose output should be below 0. Because "not" lowers the opinion's weight from 0.25 to 0.09, both outputs with "not" are closer to the positive $b$.
#
# Different numbers would not help: whatever the word vectors, $g$, $w$ and $b$ are, the model gets at least one of the four cases wrong. To prove this, we begin with $b = \sum_s a_s b$, which holds because the weights sum to 1:
#
# $$\text{output} = w^\top \sum_s a_s x_s + b = \sum_s a_s \, (w^\top x_s + b)$$
#
# Next, we multiply both sides by the total of the exponentials, which turns each weight into $e^{z_s}$ and, since the total is positive, preserves the output's sign:
#
# $$\Big(\sum_r e^{z_r}\Big) \cdot \text{output} = \sum_s e^{z_s} \, (w^\top x_s + b)$$
#
# On the right, each word adds a number that depends on that word alone, and, as lesson 01 showed, such a sum gets at most three of the four cases right. The next cell checks that both sides are equal for our numbers.

# %% tags=["nbval-check-output"]
for case in cases:
    vectors = vectors_of(case)  # S D
    exponentials = (vectors @ theta_1).exp()  # S
    context, _ = fixed_attention(vectors, theta_1)
    left = exponentials.sum() * (context @ w + b)
    each_word = exponentials * (vectors @ w + b)  # S: what each word adds on the right
    print(f"{left:+.2f} {each_word.sum():+.2f} ", each_word, case)

# %% [markdown]
# The two sides are equal in all four cases. As the brackets show, "great" adds 3.5 and "awful" -2.5, with or without "not", so replacing "awful" with "great" raises the sum by 6 in both pairs. To get all four cases right, however, this replacement would have to raise the sum without "not" but lower it with "not".
#
# ## Are two θs enough?
#
# The proof multiplies by a single total, so it no longer works for two θs, which have two totals. Where in the diagram do the two contexts meet?

# %%
diagrams.several_attentions()

# %% [markdown]
# The contexts are **concatenated**, that is, joined end to end, before a linear layer computes a weighted sum of all their entries.
#
# Here is a plan for all four cases, with θ₁ and θ₂ five times as long:
#
# - θ₁ looks for "not". Without "not", all words get the same weight, so the context contains the opinion; with "not", it contains only "not", which adds a little to the output.
# - θ₂ looks for "great", with or without "not", and "great" lowers the output.
# - The first context has more influence, so without "not", the opinion decides; with "not", all that matters is whether the review contains "great".
#
# The four entries of `u`, the linear layer's weights, follow this plan. Do all four outputs have the right sign?

# %% tags=["nbval-check-output"]
u = torch.tensor([8.0, 1.0, -1.0, 0.0])  # 2·D: two entries for each context
pictures = {}
for case in cases:
    vectors = vectors_of(case)  # S D
    context_1, weights_1 = fixed_attention(vectors, 5 * theta_1)  # D, S
    context_2, weights_2 = fixed_attention(vectors, 5 * theta_2)  # D, S
    joined = torch.cat([context_1, context_2])  # 2·D
    print(f"{joined @ u:+.2f} ", joined, case)
    weights = torch.stack([weights_1, weights_2])  # N S: N is 2
    pictures[case] = weights, case.split(), ["θ₁", "θ₂"]

# %%
labels = {"xlabel": "word", "ylabel": "vector"}
plots.side_by_side(plots.weights, pictures, height=1.9, **labels)

# %% [markdown]
# All four signs are right, so the plan works. The brackets show the two contexts, in which -0.000 is a tiny negative number. In the plot, θ₁ gives nearly all its weight to "not" where it can, and θ₂ to "great".
#
# Without "not", the first context is the mean of the four word vectors, with a first entry of 0.75 or -0.75, which the 8 in `u` turns into 6 or -6. The 8 is large enough for up to seven words; in longer sentences, the mean is too small. With "not", the first context adds 2, whereas in the second context, "great" subtracts 3.
#
# The outputs are therefore $6 - 3 = 3$ and $-6$ without "not", and $2 - 3 = -1$ and $2$ with "not".
#
# **Your turn**: use θ₁ for both contexts. Can a different `u` still get all four cases right?
#
# <details><summary>Answer</summary>
#
# No. The two contexts are then equal, so the model is the same as one with a single θ and $w = (u_1 + u_3, u_2 + u_4)$, for which the proof holds.
#
# </details>
#
# ## Does training find such numbers?
#
# Training processes a batch of B sentences at once, in which shorter sentences are padded. Padding should get no weight, but a score of 0 would give it some, since $e^0$ is 1. We therefore set its score to $-\infty$, which turns its exponential into 0. A **mask** is True ("may attend") for words and False for padding.
#
# Take "not great", whose scores are 2 and 0, and one padding position. In the code, `~mask` is True where the mask is False. How much weight does padding take if its score is 0?

# %% tags=["nbval-check-output"]
scores = torch.tensor([2.0, 0.0, 0.0])  # S: not, great, padding
mask = torch.tensor([True, True, False])  # S
print("score 0 ", scores.softmax(-1))
print("score -∞", scores.masked_fill(~mask, -torch.inf).softmax(-1))

# %% [markdown]
# Padding takes 0.107, as much as "great", whereas with $-\infty$, it takes none.
#
# We train on 2,000 reviews drawn from lists of phrases, about half with "not":


# %%
def draw_review(rng):
    def pick(phrases):
        return phrases[int(rng.random() * len(phrases))]

    rng.random()  # lesson 01's contrasts, not drawn here
    negated = rng.random() < 0.5
    positive = pick((True, False))
    words = [*pick(BEFORE), "the", pick(ASPECTS), "was"]
    words += ["not"] * negated  # once or not at all
    words += [*pick(ADVERBS), pick(POSITIVE if positive else NEGATIVE)]
    words += pick(AFTER)
    return words, int(positive != negated)  # label 1: a good review


# %% tags=["nbval-check-output"]
for phrases in (BEFORE, ASPECTS, ADVERBS, POSITIVE, NEGATIVE, AFTER):
    print(phrases, "\n")

# %% tags=["nbval-check-output"]
learn = generate_reviews(2000, seed=0)
rng = random.Random(0)
drawn = [draw_review(rng) for _ in range(2000)]
same = drawn == list(zip(learn.sentences, learn.labels.tolist(), strict=True))
print("`generate_reviews` draws the same:", same)

# %% [markdown]
# The test reviews form groups of four that differ only in the opinion and in whether they contain "not", as in this example:

# %%
test = four_cases(250, seed=1)
vocabulary = build_vocabulary(learn.sentences)
learn_ids, learn_mask = encode(learn.sentences, vocabulary)  # B S, B S
test_ids, test_mask = encode(test.sentences, vocabulary)
for row in range(4):
    print(test.labels[row].item(), " ".join(test.sentences[row]))

# %% [markdown]
# A label of 1 means good, so each group has one review for each case. The next cell defines the model for N vectors θ: its `forward` does what we did by hand, for a whole batch.


# %%
class FixedAttention(nn.Module):
    def __init__(self, vocabulary_size, thetas, width=8):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, width)  # V D
        self.thetas = nn.Parameter(torch.randn(thetas, width))  # N D: learned
        nn.init.normal_(self.embedding.weight, std=0.1)
        self.output = nn.Linear(thetas * width, 1)

    def weights(self, ids, mask):  # B S, B S
        scores = self.thetas @ self.embedding(ids).mT  # B N S
        return scores.masked_fill(~mask[:, None], -torch.inf).softmax(-1)  # B N S

    def forward(self, ids, mask):
        contexts = self.weights(ids, mask) @ self.embedding(ids)  # B N D
        return self.output(contexts.flatten(1)).squeeze(-1)  # B


# %% [markdown]
# We train the sum from lesson 01 and models with one, two and three θs, each with five seeds. What share of the test reviews will the model with *one* θ get right?

# %% tags=["nbval-check-output"]
predict("02.one_attention", ...)


# %% tags=["reveals"]
def trained(thetas, seed):
    torch.manual_seed(seed)
    V = len(vocabulary)
    model = FixedAttention(V, thetas) if thetas > 0 else SumOfWords(V)
    settings = {"epochs": 15, "batch": 64, "rate": 0.05, "weight_decay": 0.01}
    train(model, learn_ids, learn_mask, learn.labels, seed, **settings)
    return model


def share_right(model, reviews):
    ids, mask = encode(reviews.sentences, vocabulary)  # B S, B S
    return correct(model, ids, mask, reviews.labels).float().mean().item()


models = {}  # for each number of θs, a model for each seed
shares = {}
print("The share of new reviews right, five runs with different seeds:")
for thetas in (0, 1, 2, 3):
    models[thetas] = [trained(thetas, seed) for seed in range(5)]
    shares[thetas] = [share_right(model, test) for model in models[thetas]]
    runs = " ".join(f"{share:.3f}" for share in shares[thetas])
    print(f"number of θs {thetas}: {runs}")
reveal("02.one_attention", sum(shares[1]) / 5)

# %% [markdown]
# In all five runs, one θ gets three of the four cases right, the most that the proof allows. The sum, in the row for 0 θs, does no better than chance for any seed.
#
# <details><summary>A sum can also get three cases right: why does training not find this solution?</summary>
#
# Flip the signs of the outputs that should be negative, so that positive means correct. In each group of four, these numbers add up to 0, because what a word adds helps as often as it hurts. If three of them are positive, the fourth is therefore as far below 0 as those three together are above it. Because the loss is convex, its mean is lowest if all four outputs are 0, which amounts to guessing. With one θ, by contrast, "not" makes the total so large in our five runs that the opinion hardly counts. All negated reviews then get nearly the same output, so one of the two kinds is right.
#
# </details>
#
# Two θs get all four cases right in most runs, and three θs in every run. To see whether two θs share the work as ours do, we plot all five models' weights for two reviews with "not", one with a good and one with a bad opinion.

# %%
pictures = {}
names = [f"{seed}, {number}" for seed in range(5) for number in (1, 2)]
for row in (2, 3):
    words = test.sentences[row]
    ids, mask = encode([words], vocabulary)  # 1 S
    weights = torch.cat([model.weights(ids, mask)[0] for model in models[2]])
    pictures[" ".join(words[-4:])] = weights, words, names  # 5·N S
labels = {"xlabel": "word", "ylabel": "seed, θ"}
plots.side_by_side(plots.weights, pictures, width=5.2, height=4.2, **labels)

# %% [markdown]
# In the four models that get all cases right, the work is indeed shared. In each model, one θ gives nearly all its weight to "not" in both reviews. The other θ does the same for the opinion, but in only one of the two reviews: it looks for good opinions, as our θ₂ does, or for bad ones. With seed 3, by contrast, both θs look for "not", and the model gets one case wrong.
#
# ## Which word does "not" belong to?
#
# Three θs get every test review right, but do they also pass lesson 01's test on **contrast pairs**, two reviews with the same words in different orders and opposite labels? Guess what share of these reviews the same models get right.

# %%
one, other = contrast_pairs(500, seed=2)
print(" ".join(one.sentences[0]), "/", " ".join(other.sentences[0]))
print("The share right:", end=" ")
for model in models[3]:
    both = share_right(model, one) + share_right(model, other)
    print(f"{both / 2:.3f}", end=" ")

# %% [markdown]
# Every model gets only half of them right. Because the two reviews in a pair have the same words, each word has the same score and weight in both, and the contexts are equal. Neither training nor additional θs can change this, as long as a word has the same vector wherever it is. What is missing is the order of the words, which lesson 11 adds.
#
# ## Can a word's weight depend on the other words, and is that enough to handle "not"?
#
# Yes, a word's weight can depend on the other words, though its score cannot: the softmax divides by a total to which every word contributes. Followed by a linear layer, one θ still gets at most three of the four cases right, like a sum, although here, training found these three. Two θs can get all four right.
#
# Two θs are therefore enough for our reviews, which have one opinion and at most one "not". If a review has two opinions, however, no number of θs can tell which opinion "not" belongs to, because fixed attention ignores word order. In lesson 03, it is the words, not θ, that ask the question. Is that enough for the four cases?
#
# ## Where you will meet this
#
# | here | in papers | in PyTorch | in Hugging Face's `transformers` |
# | --- | --- | --- | --- |
# | fixed attention | attention pooling | `F.scaled_dot_product_attention`, the query a parameter | `SiglipMultiheadAttentionPoolingHead` |
# | several θs | seed vectors in Lee et al. (2019) | a query of several rows | none |
# | MLP attention | word attention in Yang et al. (2016) | `nn.Linear`, `nn.Tanh`, `nn.Linear` | none |
# | softmax weights | kernel regression (Nadaraya, 1964); with a Gaussian kernel, a score is minus a scaled squared distance | `softmax(-1)` | none |
# | mask: True for words | score set to $-\infty$ | `masked_fill(~mask, -torch.inf)` | `attention_mask`: 1 for words, 0 for padding |
# | temperature | τ, or its inverse β | divide before `softmax` | `temperature` in `generate` |

# %% tags=["nbval-check-output"]
# by default, PyTorch divides the scores by √D
attend = nn.functional.scaled_dot_product_attention
by_library = attend(theta_1[None], two_words, two_words, scale=1.0)  # 1 D
torch.allclose(by_library[0], fixed_attention(two_words, theta_1)[0])

# %% [markdown]
# ## Questions
#
# Run a cell to see its question, then replace the dots with a number or with a letter in quotes.

# %%
check("02.q1", ...)

# %%
check("02.q2", ...)

# %%
check("02.q3", ...)

# %%
check("02.q4", ...)

# %%
check("02.q5", ...)

# %% [markdown]
# ## Recap
#
# - A softmax turns scores into positive weights that sum to 1. A temperature controls how unequal they are, and a mask gives padding a score of $-\infty$.
# - In fixed attention, "not" changes no other word's score, but it lowers all their weights.
# - Followed by a linear layer, one θ gets at most three of the four cases right, as does a sum. Two θs, whose contexts are concatenated, can get all four. Without word order, no number of θs can tell which of two opinions "not" belongs to.
#
# **Exercises**: [open them](../exercises/02_weighted_sums_exercises.ipynb)
#
# **Next**: θ asks every sentence the same question. [What if the sentence asks its own question?](03_queries_keys_values.ipynb)
