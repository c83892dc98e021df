# %% [markdown]
# > the film was great
# >
# > the film was not great
#
# One short word turns a recommendation into a warning, but in lesson 01's sum, "great" counts the same in both reviews. Together with "the film was awful" and "the film was not awful", they make four cases, and a linear score on the sum gets at most three of them right.
#
# What if "not" could change how much "great" counts? Then the weight of a word would have to depend on the other words. Where does such a weight come from? Is it enough to handle "not"?

# %%
import ipywidgets
import torch
from torch import nn

from course_lessons.lesson_02_weighted_sums import figures
from course_utils import check, predict, reveal
from course_utils.data import generated_reviews as phrases
from course_utils.data.generated_reviews import (
    contrast_pairs,
    four_cases,
    generate_reviews,
)
from course_utils.figures import plots
from course_utils.figures.widgets import explore
from course_utils.models.sentiment import (
    SumOfWords,
    build_vocabulary,
    correct,
    encode,
    train,
)

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
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
# The context is $0.5 \cdot (0, 2) + 0.25 \cdot (1, 1) + 0.25 \cdot (3, 0) = (1, 1.25)$, which the product `weights @ x` gives in one step.
#
# Isn't this lesson 01's sum with rescaled vectors? It is, if each word has the same weight in every sentence. If "great" always has weight 2, it always adds $2 \cdot (3, 0) = (6, 0)$, and a plain sum does the same if the vector of "great" is $(6, 0)$. We gain something only if the weights depend on the other words.
#
# ## Weights that are positive and sum to one
#
# We therefore let the words share a total weight of 1, so one word can gain weight only if another loses some. Every word has a **score** $z_s$, which may be any number, and the **softmax** function turns the scores into weights:
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
# Our formula fails here: $e^{101}$ is too large for a 32-bit number and becomes infinity, and infinity divided by infinity is NaN (not a number). PyTorch first subtracts the largest score from all scores. From now on, we use its `softmax(-1)`, where the -1 means that the numbers along the last axis share the weight.
#
# Before the softmax, we can divide all scores by a number called the **temperature**. At temperature 1, "great" has a weight of 0.844; what will its weight be at 0.4?


# %% tags=["nbval-check-output"]
predict("02.cold", ...)

# %% tags=["reveals"]
print("The weights at four temperatures:")
weights_at = {}
for temperature in (0.4, 1.0, 4.0, 100.0):
    weights_at[temperature] = (z / temperature).softmax(-1)
figures.temperatures(words, weights_at, x)
reveal("02.cold", (z / 0.4).softmax(-1)[2])

# %% [markdown]
# Temperatures below 1 make the weights more unequal, and temperatures above 1 make them more equal. The context moves with them: at 0.4, it is nearly the vector of "great"; at 100, nearly the mean of all three.
#
# ## Where do scores come from?
#
# We now compute the scores from the words. The scores, their softmax and the weighted sum together are called **attention**. **Fixed attention**, also known as *attention pooling*, uses one vector θ, the *learned query*, which is the same for every sentence. A word's score $z_s = g(x_s)$ is the dot product of its vector with θ:
#
# $$g(x_s) = x_s^\top \theta$$
#
# Why a dot product? Think of θ as a list of wishes, one for each entry of a word's vector. A positive number asks for the entry, a negative number for its opposite, and 0 for nothing. Here, θ = (1, -1) wants praise and no negation:

# %%
figures.wishes(words, x, torch.tensor([1.0, -1.0]))

# %% [markdown]
# The more of its wishes a word grants, the higher its score. We say that θ *looks for* such words and that attention **attends** to the words with large weights.
#
# The vector θ₁ = (0, 1) looks for negation alone. Which word of "not really great" will have the highest score, and how is that score computed?

# %%
theta_1 = torch.tensor([0.0, 1.0])  # D: looks for negation
figures.one_look(words, x, theta_1)

# %% [markdown]
# The word "not" scores 2 and gets two thirds of the weight. Even "great" gets some, because its score of 0 becomes $e^0 = 1$.
#
# The next cell does the same in code. It goes on to θ₂ = (1, 0), which looks for praise. What changes if θ₂ is five times as long?


# %% tags=["nbval-check-output"]
def fixed_attention(x, theta):  # S D, D
    scores = x @ theta  # S
    weights = scores.softmax(-1)  # S
    return weights @ x, weights  # D, S


theta_2 = torch.tensor([1.0, 0.0])  # D: looks for praise
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
# The exponentials of "really" and "great" are 2.718 and 1, which add up to 3.718, so the weight of "great" is $1 / 3.718 = 0.269$. Now we put "not", with a score of 2 and an exponential of $e^2 = 7.389$, in front. By what number does this divide the weight of "great"?


# %% tags=["nbval-check-output"]
predict("02.great_after_not", ...)

# %% tags=["nbval-check-output", "reveals"]
three_words = vectors_of("not really great")  # S D
_, weights_with_not = fixed_attention(three_words, theta_1)
print("Now for the sentence with not:")
print("The weights of really and great are divided by", weights / weights_with_not[1:])
reveal("02.great_after_not", weights[1] / weights_with_not[2])
figures.shared_weight(words, three_words @ theta_1)

# %% [markdown]
# The weight of "great" falls from 0.269 to 0.090, though its score is still 0. While a word's **score** is computed from that word and θ alone, its **weight** also depends on the other words, because the softmax divides by a total to which all words contribute. A weight can depend on the other words, then.
#
# The dependence is weak, though, because "not" divides the weights of *all* other words by the same number, here 2.987: the weight of "really" falls as well, from 0.731 to 0.245. Therefore "not" cannot shift weight from one of these words to the other.
#
# **Your turn**: suppose that "not" had some other score. Can you find one with which it *raises* the weight of "great" above 0.269?


# %%
def with_score_of_not(score):
    return figures.shared_weight(words, torch.tensor([score, 1.0, 0.0]))


score = ipywidgets.FloatSlider(0, min=-4, max=2, step=0.5, description="score of “not”")
weight_explorer = explore(with_score_of_not, score=score)
weight_explorer

# %% [markdown]
# <details><summary>Answer</summary>
#
# No, because the $e^{z}$ of "great" stays the same and every extra word makes the total larger, so the weight of "great" can only fall.
#
# </details>
#
# In **MLP attention**, which you write in the exercises, a small network computes the score, but still from one word alone.
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
# That is no better than the best sum, but we made up these numbers in a minute. Will training find better ones?
#
# ## Training searches for better numbers
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
# We train on 2,000 reviews, drawn from lists of phrases as follows, about half with "not":


# %%
def draw_review(rng):
    def pick(those):
        return those[int(rng.random() * len(those))]

    rng.random()  # lesson 01's contrasts, not drawn here
    negated = rng.random() < 0.5
    positive = pick((True, False))
    words = [*pick(phrases.BEFORE), "the", pick(phrases.ASPECTS), "was"]
    words += ["not"] * negated  # once or not at all
    words += pick(phrases.ADVERBS)
    words.append(pick(phrases.POSITIVE if positive else phrases.NEGATIVE))
    words += pick(phrases.AFTER)
    return words, int(positive != negated)  # label 1: a good review


# %% [markdown]
# The package's `generate_reviews` draws them in the same way. The test reviews form groups of four, a review for each case. They differ only in the opinion and in whether they contain "not":

# %%
learn = generate_reviews(2000, seed=0)
test = four_cases(250, seed=1)
vocabulary = build_vocabulary(learn.sentences)
learn_ids, learn_mask = encode(learn.sentences, vocabulary)  # B S, B S
test_ids, test_mask = encode(test.sentences, vocabulary)
for row in range(4):
    print(test.labels[row].item(), " ".join(test.sentences[row]))

# %% [markdown]
# A label of 1 means good. The next cell defines the model for N vectors θ. With one θ, the model's `forward` does what we did by hand, for a whole batch. With several, each θ gives a context of its own, and the contexts are **concatenated**, that is, joined end to end, before a linear layer computes the output.


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
# In all five runs, one θ gets three of the four cases right. Two θs get all four cases right in most runs, and three θs in every run.
#
# The sum (0 θs) could get three cases right, yet it does no better than chance for any seed. In a linear score, what helps one case harms another: if we turn round the sign of the output for each bad review, the four outputs add up to 0. Three right signs are paid for in the fourth case, and the mean loss is lowest when all outputs are 0.
#
# That one θ never gets more than three cases right is no accident. Whatever word vectors, score and linear layer we choose, it gets at least one of the four wrong.
#
# <details><summary>The proof</summary>
#
# We begin with $b = \sum_s a_s b$, which holds because the weights sum to 1:
#
# $$\text{output} = w^\top \sum_s a_s x_s + b = \sum_s a_s \, (w^\top x_s + b)$$
#
# Next, we multiply both sides by the total of the exponentials, which turns each weight into $e^{z_s}$ and, since the total is positive, preserves the output's sign:
#
# $$\Big(\sum_r e^{z_r}\Big) \cdot \text{output} = \sum_s e^{z_s} \, (w^\top x_s + b)$$
#
# On the right, each word adds a number that depends on that word alone, and, as lesson 01 showed, such a sum gets at most three of the four cases right. Two θs have two totals, so the proof no longer works for them.
#
# </details>
#
# In short, if we multiply the output by the total of the exponentials, each word adds a number of its own, as in a sum. Is it so with our numbers, and what does each word add?

# %% tags=["nbval-check-output"]
for case in cases:
    vectors = vectors_of(case)  # S D
    exponentials = (vectors @ theta_1).exp()  # S
    context, _ = fixed_attention(vectors, theta_1)
    left = exponentials.sum() * (context @ w + b)
    each_word = exponentials * (vectors @ w + b)  # S: what each word adds on the right
    print(f"{left:+.2f} {each_word.sum():+.2f} ", each_word, case)

# %% [markdown]
# It is. As the brackets show, "great" adds 3.5 and "awful" -2.5, with or without "not", so replacing "awful" with "great" raises the sum by 6 in both pairs. To get all four cases right, this replacement would have to raise the sum without "not" but lower it with "not".
#
# ## How do two θs do it?
#
# Each θ gets a job, and both are five times as long as before:
#
# - θ₁ looks for "not". Without it, all words share the weight, and the context contains the opinion, which counts a lot. With it, "not" takes all the weight and hides the opinion.
# - θ₂ looks for "great", which lowers the output. This counts less, so it decides only where "not" has hidden the opinion: "not great" is bad.
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
    pictures[f"{case}: {joined @ u:+.0f}"] = weights, case.split(), ["θ₁", "θ₂"]

# %%
labels = {"xlabel": "", "ylabel": ""}
plots.side_by_side(plots.weights, pictures, width=3.2, height=2.0, **labels)

# %% [markdown]
# All four signs are right, so the plan works: θ₁ gives nearly all its weight to "not" where it can, and θ₂ to "great". The brackets show the two contexts, in which -0.000 is a tiny negative number.
#
# Without "not", the first context is the mean of the four word vectors, with a first entry of 0.75 or -0.75, which the 8 in `u` turns into 6 or -6. With "not", the first context adds 2. In either case, "great" subtracts 3 in the second context, which gives $6 - 3 = 3$ and $2 - 3 = -1$. With more than seven words, the mean would be too small to outweigh the 3. The trained models get longer reviews right, so they must have found another way.
#
# How do trained θs share the work? We plot the weights of a model that gets all four cases right (seed 0) and of one that doesn't (seed 3).

# %%
pictures = {}
shown = (0, 3)  # seeds
names = [f"seed {seed}, θ{number}" for seed in shown for number in "₁₂"]
for row in (2, 3):
    review = test.sentences[row]
    ids, mask = encode([review], vocabulary)  # 1 S
    weights = torch.cat([models[2][seed].weights(ids, mask)[0] for seed in shown])
    pictures[" ".join(review[-4:])] = weights, review, names  # 2·N S
labels = {"xlabel": "", "ylabel": ""}
plots.side_by_side(plots.weights, pictures, width=5.2, height=2.4, **labels)

# %% [markdown]
# With seed 0, the two θs share the work: one looks for "not", and the other for bad opinions, as our θ₂ does for good ones. With seed 3, both look for "not", and the model gets one case wrong.
#
# **Your turn**: change the seeds in the cell. How do the other three models share the work?
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

# %% [markdown]
# ## How much should each word count?
#
# It should count as much as the sentence needs, and attention gives it what its score earns among the other words. Because the softmax divides by a total to which every word contributes, a word's weight can depend on the other words, though its score cannot. Is that enough for "not"? Followed by a linear layer, one θ still gets at most three of the four cases right, like a sum. Two θs got all four right in most runs.
#
# Two θs are therefore enough for our reviews, which have one opinion and at most one "not". If a review has two opinions, however, no number of θs can tell which opinion "not" belongs to, because fixed attention ignores word order. In lesson 03, each word has a query of its own. Is that enough for the four cases?

# %% [markdown]
# ## Where you will meet this
#
# | here | in papers | in PyTorch | in Hugging Face's `transformers` |
# | --- | --- | --- | --- |
# | fixed attention | attention pooling | `F.scaled_dot_product_attention`, the query a parameter | `SiglipMultiheadAttentionPoolingHead` |
# | several θs | seed vectors in Lee et al. (2019) | a query of several rows | none |
# | MLP attention | word attention in Yang et al. (2016) | `nn.Linear`, `nn.Tanh`, `nn.Linear` | none |
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
# - In fixed attention, "not" changes no other word's score, but it lowers their weights.
# - Followed by a linear layer, one θ gets at most three of the four cases right, as does a sum. Two θs, whose contexts are concatenated, can get all four: trained ones did in most runs, our plan only in short reviews. Without word order, no number of θs can tell which of two opinions "not" belongs to.
#
# **Exercises**: [open them](../exercises/02_weighted_sums_exercises.ipynb)
#
# **Next**: θ asks every sentence the same question. [What if the sentence asks its own question?](03_queries_keys_values.ipynb)
