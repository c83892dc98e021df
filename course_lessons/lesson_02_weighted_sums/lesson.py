# %%
import torch
from torch import nn

from course_utils import check, predict, reveal
from course_utils.data.generated_reviews import (
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
# In the sum of lesson 01, "not" cannot change how much "great" counts. Take four cases, a good and a bad review, each plain and with "not": a linear score on the sum gets at most three of them right. In this lesson, each word gets a weight. Can this weight depend on the other words, and is that enough for "not"?
#
# ## A sum in which words count differently
#
# A **weighted sum** multiplies the vector $x_s$ of each word by a **weight** $a_s$ and adds up the results, which gives the **context** $c$:
#
# $$c = \sum_{s=1}^{S} a_s \, x_s$$
#
# We make up vectors for three words, whose two entries say how strongly the word praises and how strongly it negates. In the comments, S is the number of words and D the dimension of the vectors. Work out the context for the weights 0.5, 0.25 and 0.25 on paper.

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
# The context is $0.5 \cdot (0, 2) + 0.25 \cdot (1, 1) + 0.25 \cdot (3, 0) = (1, 1.25)$. The product `weights @ x` gives the same sum in one step.
#
# Suppose that every word had one weight, the same in every sentence. If "great" always has the weight 2, it always adds $2 \cdot (3, 0) = (6, 0)$, but a plain sum can do the same with the vector $(6, 0)$ for "great". Since one weight for each word gives us nothing new, we look for a weight that depends on the other words.
#
# ## Weights that are positive and sum to one
#
# We let the words share a total weight of 1, so a word can get more only if another gets less. Every word has a **score** $z_s$, which may be any number, and the **softmax** function turns the scores into weights:
#
# $$a_s = \frac{e^{z_s}}{\sum_{r=1}^{S} e^{z_r}}$$
#
# The exponential $e^{z_s}$ is positive for every score, and the division makes the weights sum to 1. For now we choose the scores 1, 2 and 4 by hand. What is the weight of "great"?

# %% tags=["nbval-check-output"]
z = torch.tensor([1.0, 2.0, 4.0])  # S: the scores of "not", "really" and "great"
exponentials = z.exp()  # S
weights = exponentials / exponentials.sum()  # S
print("e^z    ", exponentials)
print("weights", weights)

# %% [markdown]
# The weight of "great" is 0.844, which is 54.598 divided by the total of 64.705. A score that is higher by 1 earns $e \approx 2.7$ times the weight: "really" has 2.7 times the weight of "not".
#
# The next cell adds 100 to each score. Guess whether the weights change.

# %% tags=["nbval-check-output"]
higher = z + 100  # S
print("by the formula", higher.exp() / higher.exp().sum())
print("by PyTorch    ", higher.softmax(-1))

# %% [markdown]
# The weights do not change, as PyTorch shows: every exponential becomes $e^{100}$ times as large, and so does the total. Only the differences between scores matter.
#
# Our formula fails here, because $e^{101}$ is too large for a 32-bit number and becomes infinity, and infinity divided by infinity is NaN (not a number). PyTorch first subtracts the largest score from all scores. From now on we use its `softmax(-1)`, where the -1 means that the numbers along the last axis share the weight.
#
# All scores can be divided by a number before the softmax. This number is called the **temperature**. At temperature 1, "great" has the weight 0.844; how much will it have at 0.4?

# %% tags=["nbval-check-output"]
predict("02.cold", ...)

# %% tags=["nbval-check-output", "reveals"]
print("temperature, then the weights of", *words)
for temperature in (0.4, 1.0, 100.0):
    print(f"{temperature:6.1f}", (z / temperature).softmax(-1))
reveal("02.cold", (z / 0.4).softmax(-1)[2])

# %% [markdown]
# At temperature 0.4, "great" has nearly all the weight, and at 100 the three weights are nearly equal. A temperature below 1 makes the weights more unequal, and one above 1 makes them more equal.
#
# ## Where do scores come from?
#
# Now we compute the scores from the words. Scores, their softmax and the weighted sum together are called **attention**. **Fixed attention** has one vector θ, which is learned in training and is the same for every sentence. Elsewhere, θ is called a *learned query* and fixed attention *attention pooling*. The score $z_s = g(x_s)$ of a word is the dot product of its vector with θ:
#
# $$g(x_s) = x_s^\top \theta$$
#
# A word gets a high score if its vector reaches far in the direction of θ. We say that θ *looks for* this direction and that attention **attends** to the words with much weight.
#
# In the plot, θ₁ = (0, 1) is grey, and a dotted line marks how far "really" reaches in its direction. Which of the three words gets the highest score from θ₁?

# %%
theta_1 = torch.tensor([0.0, 1.0])  # D: looks for negation
theta_2 = torch.tensor([1.0, 0.0])  # D: looks for praise
ax = plots.axes(width=4.2, height=3.4)
plots.directions(x, words, theta_1, ax=ax, direction_name="θ₁")
_ = ax.set(xlabel="first entry: praise", ylabel="second entry: negation")

# %% [markdown]
# The word "not" gets the highest score, because it reaches furthest in the direction of θ₁. "really" reaches less far, and "great" not at all, since it is perpendicular to θ₁. The next cell also tries θ₂ = (1, 0), which looks for praise. Guess what changes if θ₂ is five times as long.


# %% tags=["nbval-check-output"]
def fixed_attention(x, theta):  # S D, D
    scores = x @ theta  # S
    weights = scores.softmax(-1)  # S
    return weights @ x, weights  # D, S


for theta in (theta_1, theta_2, 5 * theta_2):
    context, weights = fixed_attention(x, theta)
    print("scores", x @ theta, " weights", weights, " context", context)

# %% [markdown]
# With the longer θ₂, "great" has nearly all the weight, because all scores are five times as large, as with a temperature of 1/5.
#
# ## Can a word's weight depend on the other words?
#
# We compare "really great" with "not really great", using θ₁, which looks for "not". Work out the weight of "great" in the shorter sentence.

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
# In "really great", the exponentials are 2.718 and 1 and their total is 3.718, so the weight of "great" is $1 / 3.718 = 0.269$. Now "not" comes before it, with the score 2, and $e^2$ is 7.389. By what number is the weight of "great" divided?

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
# The weight of "great" falls from 0.269 to 0.090, although its score is still 0. The **score** of a word cannot depend on the other words, because it is computed from this word and θ alone. The **weight** can, because the softmax divides by a total to which all words contribute. Our first answer is therefore yes.
#
# But this dependence is weak, because "not" divides the weights of *all* other words by the same number, here 2.987: the weight of "really" falls as well, from 0.731 to 0.245. Therefore "not" cannot take weight from one of these words and give it to the other.
#
# **Your turn**: in the cells of "really great" and "not really great", replace `theta_1` with a different vector, such as `-theta_1`. Can you find one with which "not" *raises* the weight of "great"?
#
# <details><summary>Answer</summary>
#
# No, there is none, because the $e^{z}$ of "great" stays the same, and every extra word makes the total larger, so the weight of "great" can only fall.
#
# </details>
#
# In **MLP attention**, which you write in the exercises, a small network computes the score. But every $g(x_s)$ depends on this word alone, so our answer stays the same.
#
# ## Is one θ enough for "not"?
#
# We classify the context as lesson 01 classified the sum, with a vector $w$ and a number $b$:
#
# $$\text{output} = w^\top c + b$$
#
# An output above 0 means a good review. We use θ₁ again; the vector $w$ picks the first entry of the context, the praise, and $b = 0.5$ makes the output for "not awful" positive. "awful" is the opposite of "great", (-3, 0), and "the", "film" and "was" are (0, 0). Guess how many of the four cases this model gets right.

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
# The model gets three cases right. Only "the film was not great" is wrong: its output should be below 0. "not" takes weight away from the opinion, which falls from 0.25 to 0.09, and this moves both outputs with "not" closer to $b$, which is positive.
#
# Other numbers do not help. Whatever the word vectors, $g$, $w$ and $b$ are, one of the four cases is wrong. Because the weights sum to 1, $b = \sum_s a_s b$:
#
# $$\text{output} = w^\top \sum_s a_s x_s + b = \sum_s a_s \, (w^\top x_s + b)$$
#
# Now we multiply both sides by the total of the exponentials, which turns each weight into $e^{z_s}$. Since the total is positive, the sign stays the same:
#
# $$\Big(\sum_r e^{z_r}\Big) \cdot \text{output} = \sum_s e^{z_s} \, (w^\top x_s + b)$$
#
# On the right, each word adds a number that depends on this word alone, and such a sum gets at most three of the four cases right, as lesson 01 has shown. The next cell checks that both sides are equal for our numbers.

# %% tags=["nbval-check-output"]
for case in cases:
    vectors = vectors_of(case)  # S D
    exponentials = (vectors @ theta_1).exp()  # S
    context, _ = fixed_attention(vectors, theta_1)
    left = exponentials.sum() * (context @ w + b)
    each_word = exponentials * (vectors @ w + b)  # S: what each word adds on the right
    print(f"{left:+.2f} {each_word.sum():+.2f} ", each_word, case)

# %% [markdown]
# Both sides are equal in all four cases. The brackets contain what each word adds: "great" adds 3.5 with and without "not". From "awful" to "great", the sum therefore grows by 6 in both pairs. To be right, it would have to grow without "not" and fall with it.
#
# ## Are two θs enough?
#
# In the proof, we multiplied by one total. With two θs there are two different totals, so the proof does not hold. Where in the diagram do the two contexts meet?

# %%
diagrams.several_attentions()

# %% [markdown]
# The two contexts are **concatenated**, that is, laid end to end, and a linear layer takes a weighted sum of all their entries.
#
# We use θ₁ and θ₂, five times as long, and make a plan:
#
# - θ₁ looks for "not". Without "not", all words get the same weight, so the context contains the opinion. With "not", it contains only "not", which we let add a little.
# - θ₂ looks for "great", with or without "not", and we let "great" subtract something.
# - In the sum, the first context counts more. Without "not", the opinion decides; with "not", it matters only whether "great" is there.
#
# The four entries of `u`, the weights of the linear layer, follow this plan. Are all four signs right?

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
# All four signs are right. The brackets contain the two contexts; -0.000 is tiny and negative. In the plot, θ₁ gives nearly all of its weight to "not" where it can, and θ₂ to "great".
#
# Without "not", the first context is the mean of the four words, in which the praise is 0.75 or -0.75, and the 8 in `u` turns this into 6 or -6. The 8 is large enough for up to seven words; longer sentences have a smaller mean. With "not", the first context adds 2. "great" subtracts 3 in the second context.
#
# The outputs are therefore $6 - 3 = 3$ and $-6$ without "not", and $2 - 3 = -1$ and $2$ with it.
#
# **Your turn**: use θ₁ both times. Can a different `u` still get all four cases right?
#
# <details><summary>Answer</summary>
#
# No. Both contexts are then the same, so the output is what one θ gives, with $w = (u_1 + u_3, u_2 + u_4)$. The proof holds for it.
#
# </details>
#
# ## Does training find such numbers?
#
# Training takes B sentences at once, a batch. The shorter sentences are filled up with padding, which should get no weight. But a score of 0 would give it some, since $e^0$ is 1, so we set its score to $-\infty$, and $e^{-\infty}$ is 0. A **mask** says which positions are words: there it is True, which means "may attend", and at padding it is False.
#
# Here are the scores of "not great", 2 and 0, and one position of padding. `~mask` is True where the mask is False. How much weight does padding take if its score is 0?

# %% tags=["nbval-check-output"]
scores = torch.tensor([2.0, 0.0, 0.0])  # S: not, great, padding
mask = torch.tensor([True, True, False])  # S
print("score 0 ", scores.softmax(-1))
print("score -∞", scores.masked_fill(~mask, -torch.inf).softmax(-1))

# %% [markdown]
# With a score of 0, padding takes as much weight as "great", 0.107; with $-\infty$ it takes none.
#
# We train on 2,000 generated reviews, of which about half contain "not". The test reviews come in groups of four that differ only in the opinion and in "not". Here is one group:

# %%
learn = generate_reviews(2000, seed=0)
test = four_cases(250, seed=1)
vocabulary = build_vocabulary(learn.sentences)
learn_ids, learn_mask = encode(learn.sentences, vocabulary)  # B S, B S
test_ids, test_mask = encode(test.sentences, vocabulary)
for row in range(4):
    print(test.labels[row].item(), " ".join(test.sentences[row]))

# %% [markdown]
# Each group has one review of each case, and 1 means good. The next cell defines the model for N vectors θ. Its `forward` takes the steps that we took by hand, for a whole batch.


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
# We train the sum of lesson 01 and models with one, two and three θs, each with five seeds. What share of the test reviews will the model with *one* θ get right?

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
# One θ gets three of the four cases right, in all five runs, which is the most that the proof allows. The sum, in the row for 0 θs, is no better than a guess, with each of the five seeds.
#
# <details><summary>A sum can also get three cases right: why does training not find this?</summary>
#
# Count the outputs of a sum as positive where they are right and as negative where they are wrong. In each group of four, these numbers add up to 0, because what a word adds is right in two reviews and wrong in the other two. If three are right, the fourth is therefore as wrong as they are right together. Because the loss is convex, its mean is lowest if all four are 0, a guess. Attention with one θ divides by a total, which "not" makes large in our five runs. The outputs of negated reviews are then nearly 0, and the sign of one kind is right.
#
# </details>
#
# Two θs get all four in most runs, and three θs in every run. Do two trained θs share the work as ours do? We plot the weights of all five models for two reviews with "not", one with a good and one with a bad opinion.

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
# The trained θs share the work in the four models that get all cases right. In each, one θ gives nearly all of its weight to "not" in both reviews. The other gives it to the opinion in only one of the two: it looks for good opinions, as our θ₂ does, or for bad ones. With seed 3, both give it to "not", and one case is lost.
#
# ## Which word does "not" belong to?
#
# Three θs get every test review right. Lesson 01 had a different test, **contrast pairs**: two reviews with the same words in different orders and opposite labels. Guess what share of them the models with three θs get right.

# %%
one, other = contrast_pairs(500, seed=2)
print(" ".join(one.sentences[0]), "/", " ".join(other.sentences[0]))
print("The share right:", end=" ")
for model in models[3]:
    both = share_right(model, one) + share_right(model, other)
    print(f"{both / 2:.3f}", end=" ")

# %% [markdown]
# The models get half of them right, in every run. Both reviews have the same words, so each word has the same score and the same weight in both, and the contexts are equal. No training and no additional θ can change that, as long as a word has the same vector wherever it is. What is missing is the order of the words, which lesson 11 adds.
#
# ## Can a word's weight depend on the other words, and is that enough for "not"?
#
# Yes, a word's weight can depend on the other words, because all weights are divided by one total, to which every word contributes; its score cannot. With a linear layer after it, one θ still gets no more cases right than a sum can, three of four, but training finds these three. Two θs can get all four right.
#
# Two are therefore enough for our reviews, which have one opinion and at most one "not". If a review has two opinions, no number of θs can tell which one "not" belongs to, because fixed attention ignores the order of the words. In lesson 03, the words ask instead of θ. Is that enough for the four cases?
#
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
# - A softmax turns scores into positive weights that sum to 1. A temperature sets how unequal they are, and a mask gives padding the score $-\infty$.
# - In fixed attention, "not" changes no other word's score, but it lowers all their weights.
# - With a linear layer after it, one θ gets at most three of the four cases right, as does a sum. Two, whose contexts are concatenated, can get all four. Without the order of the words, no number of them can tell which of two opinions "not" belongs to.
#
# **Exercises**: [open them](../exercises/02_weighted_sums_exercises.ipynb)
#
# **Next**: θ asks every sentence the same question. [What if the sentence asks the question itself?](03_queries_keys_values.ipynb)
