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
# In the sum of lesson 01, "not" cannot change how much "great" counts. Take four cases: a good and a bad review, each plain and with "not". A linear score on the sum gets at most three of them right. In this lesson, each word gets a weight. Can this weight depend on the other words, and is that enough for "not"?
#
# ## A sum in which words count differently
#
# A **weighted sum** multiplies the vector $x_s$ of each word by a **weight** $a_s$, and adds up the results. The sum is called the **context** $c$:
#
# $$c = \sum_{s=1}^{S} a_s \, x_s$$
#
# We take three words, and make up a vector for each. Its first number says how strongly the word praises, the second how strongly it negates. In the comments, S is the number of words, and D the width of a vector. What is the context for the weights 0.5, 0.25 and 0.25? Do it on paper first.

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
# The context is $0.5 \cdot (0, 2) + 0.25 \cdot (1, 1) + 0.25 \cdot (3, 0) = (1, 1.25)$. The product `weights @ x` is the same sum in one step.
#
# Suppose that every word had one weight, the same in every sentence. If "great" always has the weight 2, it always adds $2 \cdot (3, 0) = (6, 0)$. A plain sum can do this, too, with the vector $(6, 0)$ for "great". So one weight for each word gives us nothing new, and we look for a weight that depends on the other words.
#
# ## Weights that are positive and sum to one
#
# We let the words share a total weight of 1. Then a word can get more only if another gets less. Every word has a **score** $z_s$, which may be any number. The function **softmax** turns the scores into weights:
#
# $$a_s = \frac{e^{z_s}}{\sum_{r=1}^{S} e^{z_r}}$$
#
# The exponential $e^{z_s}$ is positive for every score, and the division makes the weights sum to 1. For now we choose the scores by hand: 1, 2 and 4. What is the weight of "great"?

# %% tags=["nbval-check-output"]
z = torch.tensor([1.0, 2.0, 4.0])  # S: the scores of "not", "really" and "great"
exponentials = z.exp()  # S
weights = exponentials / exponentials.sum()  # S
print("e^z    ", exponentials)
print("weights", weights)

# %% [markdown]
# The weight of "great" is 0.844: 54.598 divided by the total of 64.705. A score that is higher by 1 earns $e \approx 2.7$ times the weight, as "really" has 2.7 times the weight of "not".
#
# The next cell adds 100 to each score. Do the weights change?

# %% tags=["nbval-check-output"]
higher = z + 100  # S
print("by the formula", higher.exp() / higher.exp().sum())
print("by PyTorch    ", higher.softmax(-1))

# %% [markdown]
# The weights do not change, as PyTorch shows. Every exponential becomes $e^{100}$ times as large, and so does the total. So only the differences between scores matter.
#
# Our formula fails here: $e^{101}$ is too large for a number of 32 bits and becomes infinity, and infinity divided by infinity is NaN (not a number). PyTorch first subtracts the largest score from all scores. From here on we use its `softmax(-1)`. The -1 says that the numbers along the last axis share the weight.
#
# All scores can be divided by a number before the softmax. This number is called the **temperature**. At temperature 1, "great" has the weight 0.844. How much will it have at 0.4? Put your guess in place of the dots.

# %% tags=["nbval-check-output"]
predict("02.cold", ...)

# %% tags=["nbval-check-output", "reveals"]
print("temperature, then the weights of", *words)
for temperature in (0.4, 1.0, 100.0):
    print(f"{temperature:6.1f}", (z / temperature).softmax(-1))
reveal("02.cold", (z / 0.4).softmax(-1)[2])

# %% [markdown]
# At temperature 0.4, "great" has nearly all the weight, and at 100 the three weights are nearly equal. So a temperature below 1 makes the weights more unequal, and one above 1 makes them more equal.
#
# ## Where do scores come from?
#
# So far we chose the scores. Now we compute them from the words. Scores, their softmax and the weighted sum are together called an **attention**. **Fixed attention** has one vector θ, which is learned in training, and is the same for every sentence. Other texts call θ a *learned query*, and fixed attention *attention pooling*. The score $z_s = g(x_s)$ of a word is the dot product of its vector with θ:
#
# $$g(x_s) = x_s^\top \theta$$
#
# A word gets a high score if its vector reaches far in the direction of θ. We say that the attention *looks for* this direction, and that it **attends** to the words with much weight.
#
# Which of the three words will get the highest score from θ₁ = (0, 1)? In the picture, θ₁ is grey, and a dotted line shows how far "really" reaches in its direction.

# %%
theta_1 = torch.tensor([0.0, 1.0])  # D: looks for negation
theta_2 = torch.tensor([1.0, 0.0])  # D: looks for praise
ax = plots.axes(width=4.2, height=3.4)
plots.directions(x, words, theta_1, ax=ax, direction_name="θ₁")
_ = ax.set(xlabel="first number: praise", ylabel="second number: negation")

# %% [markdown]
# "not" gets the highest score, because it reaches furthest in the direction of θ₁. "really" reaches less far, and "great" not at all: it is at a right angle to θ₁. The next cell also tries θ₂ = (1, 0), which looks for praise. What changes if θ₂ is five times as long?


# %% tags=["nbval-check-output"]
def fixed_attention(x, theta):  # S D, D
    scores = x @ theta  # S
    weights = scores.softmax(-1)  # S
    return weights @ x, weights  # D, S


for theta in (theta_1, theta_2, 5 * theta_2):
    context, weights = fixed_attention(x, theta)
    print("scores", x @ theta, " weights", weights, " context", context)

# %% [markdown]
# With the longer θ₂, "great" has nearly all the weight. All scores are five times as large, as with a temperature of 1/5.
#
# ## Can a word's weight depend on the other words?
#
# We compare "really great" with "not really great". The attention has θ₁, so it looks for "not". What is the weight of "great" in the shorter sentence?

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
# In "really great", the exponentials are 2.718 and 1. Their total is 3.718, so the weight of "great" is $1 / 3.718 = 0.269$. Now "not" comes before it, with the score 2, and $e^2$ is 7.389. By which number is the weight of "great" divided?

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
# The weight of "great" falls from 0.269 to 0.090, although its score is still 0. The **score** of a word cannot depend on the other words, because it is computed from this word and θ alone. The **weight** can, because the softmax divides by a total to which all words contribute. So our first answer is yes.
#
# But this dependence is weak. "not" divides the weights of *all* other words by the same number, here 2.987: that of "really" falls as well, from 0.731 to 0.245. So "not" cannot take weight from one of these words and give it to the other.
#
# **Your turn**: put another vector in place of `theta_1`, such as `-theta_1`, in the cells of "really great" and of "not really great". Can you find one with which "not" *raises* the weight of "great"?
#
# <details><summary>Answer</summary>
#
# No, there is none. $e^{z}$ of "great" stays the same, and every further word makes the total larger. So the weight of "great" can only fall.
#
# </details>
#
# In **MLP attention**, which you write in the exercises, a small network computes the score. But every $g(x_s)$ sees this word alone, so our answer stays the same.
#
# ## Is one attention enough for "not"?
#
# We classify the context as lesson 01 classified the sum, with a vector $w$ and a number $b$:
#
# $$\text{output} = w^\top c + b$$
#
# An output above 0 means a good review. We take θ₁ again. $w$ picks the first number of the context, the praise, and with $b = 0.5$ "not awful" comes out as good. "awful" is the opposite of "great", (-3, 0), and "the", "film" and "was" are (0, 0). How many of the four cases come out right?

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
# Three cases are right, and "the film was not great" is wrong: its output should be below 0. "not" draws weight away from the opinion, which falls from 0.25 to 0.09. So both outputs with "not" come closer to $b$, which is positive.
#
# Other numbers do not help. Whatever the word vectors, $g$, $w$ and $b$ are, one of the four cases is wrong. The weights sum to 1, so $b = \sum_s a_s b$:
#
# $$\text{output} = w^\top \sum_s a_s x_s + b = \sum_s a_s \, (w^\top x_s + b)$$
#
# Now we multiply both sides by the total of the exponentials. Each weight times this total is $e^{z_s}$. The total is positive, so the sign stays the same:
#
# $$\Big(\sum_r e^{z_r}\Big) \cdot \text{output} = \sum_s e^{z_s} \, (w^\top x_s + b)$$
#
# On the right, each word adds a number that depends on this word alone. Such a sum gets at most three of the four cases right, as lesson 01 has shown. Are both sides equal for our numbers?

# %% tags=["nbval-check-output"]
for case in cases:
    vectors = vectors_of(case)  # S D
    exponentials = (vectors @ theta_1).exp()  # S
    context, _ = fixed_attention(vectors, theta_1)
    left = exponentials.sum() * (context @ w + b)
    each_word = exponentials * (vectors @ w + b)  # S: what each word adds on the right
    print(f"{left:+.2f} {each_word.sum():+.2f} ", each_word, case)

# %% [markdown]
# Both sides are equal in all four cases. The brackets hold what the words add: "great" adds 3.5 with and without "not". So from "awful" to "great" the sum grows by 6 in both pairs. To be right, it would have to grow without "not" and fall with it.
#
# ## Are two attentions enough?
#
# In the proof, we multiplied by one total. Two attentions have two different totals, so the proof does not hold for them. Where do their contexts meet in the drawing?

# %%
diagrams.several_attentions()

# %% [markdown]
# The two contexts are **concatenated**, which means laid end to end. Then a linear layer takes a weighted sum of all their numbers.
#
# We take θ₁ and θ₂, five times as long, and make a plan:
#
# - The first attention looks for "not". Without "not", all words get the same weight, so the context holds the opinion. With "not", it holds only "not", which we let add a little.
# - The second attention looks for "great", with or without "not". We let "great" subtract something.
# - In the sum, the first attention counts more. So without "not" the opinion decides, and with "not" it matters only whether "great" is there.
#
# The four numbers `u` of the linear layer follow this plan. Are all four signs right?

# %% tags=["nbval-check-output"]
u = torch.tensor([8.0, 1.0, -1.0, 0.0])  # 2·D: two numbers for each context
pictures = {}
for case in cases:
    vectors = vectors_of(case)  # S D
    context_1, weights_1 = fixed_attention(vectors, 5 * theta_1)  # D, S
    context_2, weights_2 = fixed_attention(vectors, 5 * theta_2)  # D, S
    joined = torch.cat([context_1, context_2])  # 2·D
    print(f"{joined @ u:+.2f} ", joined, case)
    weights = torch.stack([weights_1, weights_2])  # N S: N is 2
    pictures[case] = weights, case.split(), ["first", "second"]

# %%
labels = {"xlabel": "word", "ylabel": "attention"}
plots.side_by_side(plots.weights, pictures, height=1.9, **labels)

# %% [markdown]
# All four signs are right. The brackets hold the two contexts. (-0.000 is a tiny negative number.) The picture shows the weights: the first attention gives nearly all of its weight to "not" where it can, the second to "great".
#
# Without "not", the first context is the mean of the four words. The praise in it is 0.75 or -0.75, which the 8 in `u` turns into 6 or -6. The 8 is large enough for up to seven words: longer sentences have a smaller mean. With "not", the first context adds 2. "great" subtracts 3 in the second context.
#
# So the outputs are $6 - 3 = 3$ and $-6$ without "not", and $2 - 3 = -1$ and $2$ with it.
#
# **Your turn**: use θ₁ in both attentions. Can another `u` still get all four cases right?
#
# <details><summary>Answer</summary>
#
# No. Both contexts are then the same, so the output is that of a single attention, with $w = (u_1 + u_3, u_2 + u_4)$. The proof holds for it.
#
# </details>
#
# ## Does training find such numbers?
#
# Training takes B sentences at once, in a batch. The shorter ones are filled up with padding, which should get no weight. But a score of 0 would give it some, since $e^0$ is 1. So its score becomes $-\infty$, and $e^{-\infty}$ is 0. A **mask** says which positions are words: there it is True, which means "may attend", and at padding it is False.
#
# Here are the scores of "not great", 2 and 0, and one position of padding. `~mask` is True where the mask is False. How much weight does padding take if its score is 0?

# %% tags=["nbval-check-output"]
scores = torch.tensor([2.0, 0.0, 0.0])  # S: not, great, padding
mask = torch.tensor([True, True, False])  # S
print("score 0 ", scores.softmax(-1))
print("score -∞", scores.masked_fill(~mask, -torch.inf).softmax(-1))

# %% [markdown]
# With a score of 0, padding takes as much weight as "great", 0.107. With $-\infty$ it takes none.
#
# We train on 2,000 generated reviews, of which about half contain "not". The test reviews come in groups of four, which differ only in the opinion and in "not". What does one group look like?

# %%
learn = generate_reviews(2000, seed=0)
test = four_cases(250, seed=1)
vocabulary = build_vocabulary(learn.sentences)
learn_ids, learn_mask = encode(learn.sentences, vocabulary)  # B S, B S
test_ids, test_mask = encode(test.sentences, vocabulary)
for row in range(4):
    print(test.labels[row].item(), " ".join(test.sentences[row]))

# %% [markdown]
# Each group has one review of each case, and 1 means good. The next cell defines the model for N fixed attentions. Its `forward` takes the same steps as we did by hand, for a whole batch.


# %%
class FixedAttention(nn.Module):
    def __init__(self, vocabulary_size, attentions, width=8):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, width)  # V D
        self.thetas = nn.Parameter(torch.randn(attentions, width))  # N D: learned
        nn.init.normal_(self.embedding.weight, std=0.1)
        self.output = nn.Linear(attentions * width, 1)

    def weights(self, ids, mask):  # B S, B S
        scores = self.thetas @ self.embedding(ids).mT  # B N S
        return scores.masked_fill(~mask[:, None], -torch.inf).softmax(-1)  # B N S

    def forward(self, ids, mask):
        contexts = self.weights(ids, mask) @ self.embedding(ids)  # B N D
        return self.output(contexts.flatten(1)).squeeze(-1)  # B


# %% [markdown]
# We train the sum of lesson 01, and models with one, two and three attentions, each with five seeds. What share of the test reviews will *one* attention get right?

# %% tags=["nbval-check-output"]
predict("02.one_attention", ...)


# %% tags=["reveals"]
def trained(attentions, seed):
    torch.manual_seed(seed)
    V = len(vocabulary)
    model = FixedAttention(V, attentions) if attentions > 0 else SumOfWords(V)
    settings = {"epochs": 15, "batch": 64, "rate": 0.05, "weight_decay": 0.01}
    train(model, learn_ids, learn_mask, learn.labels, seed, **settings)
    return model


def share_right(model, reviews):
    ids, mask = encode(reviews.sentences, vocabulary)  # B S, B S
    return correct(model, ids, mask, reviews.labels).float().mean().item()


models = {}  # for each number of attentions, a model for each seed
shares = {}
print("The share of new reviews right, five runs with different seeds:")
for attentions in (0, 1, 2, 3):
    models[attentions] = [trained(attentions, seed) for seed in range(5)]
    shares[attentions] = [share_right(model, test) for model in models[attentions]]
    runs = " ".join(f"{share:.3f}" for share in shares[attentions])
    print(f"attentions {attentions}: {runs}")
reveal("02.one_attention", sum(shares[1]) / 5)

# %% [markdown]
# One attention gets three of the four cases right, in all five runs. That is the most that the proof allows. The sum, in the row with no attention, is no better than a guess, with each of the five seeds.
#
# <details><summary>A sum can get three cases right, too: why does training not find this?</summary>
#
# Count the outputs of a sum as positive where they are right, and as negative where they are wrong. In each group of four, these numbers add up to 0: what a word adds is right in two reviews, and wrong in the other two. So if three are right, the fourth is as wrong as they are right together. Because the loss is convex, its mean is lowest if all four are 0, a guess. One attention divides by a total, which "not" makes large in our five runs: the outputs of negated reviews are then nearly 0, and the sign of one kind is right.
#
# </details>
#
# Two attentions get all four in most runs, and three attentions in every run. Do two attentions share the work as ours do? Here are two reviews with "not", one with a good and one with a bad opinion, and the weights of all five models.

# %%
pictures = {}
names = [f"{seed}, {number}" for seed in range(5) for number in (1, 2)]
for row in (2, 3):
    words = test.sentences[row]
    ids, mask = encode([words], vocabulary)  # 1 S
    weights = torch.cat([model.weights(ids, mask)[0] for model in models[2]])
    pictures[" ".join(words[-4:])] = weights, words, names  # 5·N S
labels = {"xlabel": "word", "ylabel": "seed, attention"}
plots.side_by_side(plots.weights, pictures, width=5.2, height=4.2, **labels)

# %% [markdown]
# They do in the four models that get all cases right. In each, one attention gives nearly all of its weight to "not" in both reviews. The other gives it to the opinion in only one of the two: it looks for good opinions, as our θ₂ does, or for bad ones. With seed 3, both give it to "not", and one case is lost.
#
# ## Which word does "not" belong to?
#
# Three attentions get every test review right. Lesson 01 had another test, **contrast pairs**: two reviews with the same words in different orders, and opposite labels. What share of them will the models with three attentions get right?

# %%
one, other = contrast_pairs(500, seed=2)
print(" ".join(one.sentences[0]), "/", " ".join(other.sentences[0]))
print("The share right:", end=" ")
for model in models[3]:
    both = share_right(model, one) + share_right(model, other)
    print(f"{both / 2:.3f}", end=" ")

# %% [markdown]
# Half of them, in every run. Both reviews have the same words, so each word has the same score and the same weight in both, and the contexts are equal. No training and no further fixed attention can change that, as long as a word has the same vector wherever it stands. What is missing is the order of the words, which lesson 11 adds.
#
# ## So: can a word's weight depend on the other words, and is that enough for "not"?
#
# Yes, a word's weight can depend on the other words, although its score cannot. All weights are divided by one total, to which every word contributes. With a linear layer after it, one such attention still gets no more cases right than a sum can, three of four, but training finds these three. Two attentions can get all four.
#
# So they are enough for our reviews with one opinion and at most one "not". If it has two, no number of fixed attentions can tell which one "not" belongs to, because they do not see the order of the words. In lesson 03, the words ask instead of θ. Is one attention then enough for the four cases?
#
# ## Questions
#
# Run a cell to see its question, then replace the dots with a letter in quotes or a number.

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
# - In a fixed attention, "not" changes no score of another word, but it lowers all their weights.
# - With a linear layer after it, one attention gets at most three of the four cases right, as does a sum. Two, whose contexts are concatenated, can get all four. Without the order of the words, no number of them can tell which of two opinions "not" belongs to.
#
# **Exercises**: [open them](../exercises/02_weighted_sums_exercises.ipynb)
#
# **Next**: θ asks every sentence the same question. [What if the sentence asks the question itself?](03_queries_keys_values.ipynb)
