# %%
import torch

from course_lessons.lesson_08_hard_and_local import figures
from course_utils import check, predict, reveal
from course_utils.data.find_one import find_one
from course_utils.data.measured import measured
from course_utils.data.small_world import small_world
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## Two questions
#
# So far, attention has done two things. It returns a weighted mean of the values: it is **soft**. And it looks at every word of the sentence: it is **global**. This is a waste if most words have hardly any weight, and a value takes much work to compute. In lesson 14, for example, a network has to look at a part of a picture for each value.
#
# Must attention be soft? **Hard attention** treats the weights as probabilities, draws one word, and reads only the value of this word. Must it look at every word? **Local attention** stays soft, but looks only at the words in a **window**, a few neighbouring positions.
#
# | | looks at every word | looks at a window |
# | --- | --- | --- |
# | adds up values with weights | all attention so far | local attention |
# | draws one word | hard attention | not in this lesson |
#
# For both kinds we ask: how can they learn, and what do we lose?
#
# Our example is "the old dog barks loudly", and a query that looks for the verb. How many of the five values does each kind of attention read?

# %%
sentence = ["the", "old", "dog", "barks", "loudly"]
p = torch.tensor([0.1, 0.1, 0.2, 0.5, 0.1])  # S: the weights of soft attention
hard = torch.tensor([0.0, 0.0, 0.0, 1.0, 0.0])  # S: if "barks" is drawn
window = torch.tensor([0.0, 0.0, 1.0, 1.0, 1.0])  # S: "barks" and its neighbours
local = p * window / (p * window).sum()  # S
kinds = torch.stack([p, hard, local])  # 3 S
plots.weights(kinds, sentence, ["soft", "hard", "local"], ylabel="")

# %% [markdown]
# Soft attention reads all five values, hard attention one, and local attention three. To draw a word, hard attention still needs all five scores. Local attention needs only three.
#
# ## Hard attention: one draw
#
# We begin with the first question, and with how hard attention draws. We take a random number $u$ between 0 and 1, and add up the weights from the left. The first word at which the sum is larger than $u$ is drawn. So a word with the weight 0.5 is drawn in half of all cases.
#
# The values of our five words are 1, 2, 3, 6 and 4. Which word does $u = 0.75$ draw?

# %% tags=["nbval-check-output"]
values = torch.tensor([1.0, 2.0, 3.0, 6.0, 4.0])  # S
u = 0.75
total = 0.0
for k in range(5):
    total += p[k].item()
    print(f"{sentence[k]:6}  sum {total:.1f}  larger than u: {total > u}")
print(f"soft attention returns {p @ values:.1f}")

# %% [markdown]
# The number 0.75 draws "barks", so hard attention returns 6. Soft attention returns the weighted mean, 4.3. Another $u$ may draw another word. What is the mean of the values that are read, if we draw many times?

# %%
generator = torch.Generator().manual_seed(0)
for number in (10, 1_000, 100_000):
    drawn = torch.multinomial(p, number, replacement=True, generator=generator)
    read = values[drawn]  # as many values as draws
    print(f"{number:7,} draws, mean of the values: {read.mean():.2f}")

# %% [markdown]
# With many draws, the mean is 4.3, the result of soft attention. The mean over all possible draws, each weighted by its probability, is called the **expectation**. So soft attention returns the expectation of what hard attention returns. A single draw can be far from it.
#
# ## How can it learn?
#
# A model learns from gradients: they say how a result changes if the scores change a little. Does PyTorch find a gradient for both kinds? As scores we take the logarithms of the weights: $e^{\log p}$ is $p$, so their softmax is the weights again.

# %% tags=["nbval-check-output"]
scores = p.log().requires_grad_()  # S
weights = scores.softmax(0)  # S
soft_result = weights @ values
k = torch.multinomial(weights, 1)  # 1: the position of the drawn word
hard_result = values[k]
soft_result.backward()
exact = scores.grad  # S
print("gradient of the soft result:", exact)
print("the hard result has a gradient:", hard_result.requires_grad)

# %% [markdown]
# Only the soft result has a gradient with respect to the scores. For the score of word $i$ with the value $v_i$, it is $p_i (v_i - 4.3)$, where 4.3 is the soft result. An exercise of lesson 02 finds this formula, with the context in place of the result. For "barks" this is 0.5 · (6 - 4.3) = 0.85.
#
# The hard result has none, because the drawn position is a whole number and cannot change a little. If a network computes the values, the value that is read still gets a gradient, but the scores get none. So hard attention needs another way back to the scores, the marked arrow at the bottom of the next drawing. We estimate a gradient from the position $k$ of the drawn word and from its **reward** $R_k$. A reward is a number that says how good it was to read this word.

# %%
diagrams.soft_and_hard(new=["draw", "estimate"])

# %% [markdown]
# ## A gradient from a draw
#
# The idea is this: after a draw, we make the drawn word more probable, and the larger its reward is, the more we do so. The gradient of $\log p_k$ says how to change the scores for this. So the estimate from one draw is
#
# $$R_k\, \nabla \log p_k$$
#
# The sign ∇ stands for the gradient with respect to all scores. With a softmax of scores $z$, $\log p_k = z_k - \log \sum_i e^{z_i}$. So its gradient is $1 - p_k$ for the score of the drawn word, and $-p_i$ for the score of every other word $i$.
#
# In our example, the reward of a word is its value. Then the expected reward is the soft result, and we know its gradient. If "barks" is drawn, the estimate is 6 · (1 - 0.5) = 3 for its own score, and 6 · (-0.1) = -0.6 for the score of "the". The table shows the estimates for all five draws. Is their mean the exact gradient?

# %% tags=["nbval-check-output"]
R = values  # S: the reward of each word
one_hot = torch.eye(5)  # row k has a 1 for word k
rows = {}
mean = torch.zeros(5)  # S
for k in range(5):
    estimate = R[k] * (one_hot[k] - p)  # S
    mean = mean + p[k] * estimate  # p[k]: the probability of this draw
    rows[f"draw: {sentence[k]}"] = estimate
rows["mean"] = mean
rows["exact gradient"] = exact
table(rows, sentence, corner="estimate for each score", digits=2)

# %% [markdown]
# Yes, the mean is the exact gradient, although no single estimate is. An estimate whose mean is right is called **unbiased**. This one is called the **score-function estimator**, or REINFORCE (Williams 1992).
#
# The mean is right for any rewards that do not depend on the scores. The derivative of the logarithm at $p_k$ is $1 / p_k$, so $\nabla \log p_k = \nabla p_k / p_k$. We multiply by $p_k$, and get $\nabla p_k = p_k \nabla \log p_k$. Therefore
#
# $$\nabla \sum_k p_k R_k = \sum_k p_k\, R_k\, \nabla \log p_k$$
#
# On the left is the gradient of the expected reward, and on the right the mean of the estimates. So hard attention can learn, and reads only one value for each draw.
#
# ## Is the reward better than expected?
#
# A single estimate can be far from the exact gradient. The **variance** measures how far: it is the mean of the squared distances. The larger it is, the more draws we need for a good mean.
#
# All our rewards are positive, so even a draw of "the", which has the lowest reward, makes "the" more probable. We change this with a **baseline** $b$, which we subtract from the reward:
#
# $$(R_k - b)\, \nabla \log p_k$$
#
# Now a word whose reward is below $b$ becomes *less* probable when it is drawn. As $b$ we take the expected reward, 4.3. What does this change: the mean of the estimates, their variance, or both?

# %% tags=["nbval-check-output"]
predict("08.baseline", ...)


# %% tags=["reveals"]
def mean_and_variance(b):
    mean = torch.zeros(5)  # S
    variance = 0.0
    for k in range(5):
        estimate = (values[k] - b) * (one_hot[k] - p)  # S
        mean = mean + p[k] * estimate
        variance += p[k] * ((estimate - exact) ** 2).sum()
    return mean, variance


print("The mean and the variance without a baseline and with one:")
means = {}
variances = {}
for b in (0.0, 4.3):
    means[b], variances[b] = mean_and_variance(b)
    print(f"b = {b}: mean {means[b]}, variance {variances[b]:.1f}")
same_mean = torch.allclose(means[0.0], means[4.3], atol=1e-5)
reveal("08.baseline", "only the variance" if same_mean else "both")

# %% [markdown]
# The baseline changes only the variance: it is about five times smaller, and the mean is still the exact gradient. The mean is right for every constant $b$. The baseline subtracts $b \sum_k p_k \nabla \log p_k$ from the mean. As we have seen, $p_k \nabla \log p_k$ is $\nabla p_k$. So the sum is the gradient of $\sum_k p_k$. All probabilities together are always 1, so this gradient is 0.
#
# A model does not know its expected reward. It can take the mean of the rewards of *earlier* draws (Xu et al. 2015). For the new draw, this is a constant.
#
# <details><summary>May the baseline come from the same draws?</summary>
#
# Suppose that we draw two words $k$ and $i$, with the mean of their rewards as the baseline. Then $R_k - (R_k + R_i)/2$ is half of $R_k - R_i$, and $R_i$, from another draw, is an allowed baseline. So the mean of the estimates is half of the gradient, and with $n$ draws $(n - 1)/n$ of it. The direction is right and the length is wrong.
#
# An estimate whose mean is wrong is called **biased**. To avoid this, leave the draw's own reward out of its baseline.
#
# </details>
#
# ## Nobody says where to look
#
# Can a model learn from rewards alone where to look? We take the world "turned" of lesson 04. A question there has ten random vectors, the hidden states $h$. One of them is the right one. The state $s$ is this vector, times a fixed orthogonal matrix, with some noise. The matrix $W$ in the score $s^\top W h$ has to learn this matrix, to find the right one.
#
# Nobody tells the model which position is right. If only this position had the reward 2, the rewards would name it, and soft attention reads all ten of them. So several positions may have the reward 2: each has one of four colours, drawn anew for each question. The reward is 2 if the position that is read has the same colour as the right one, and else 1. So all rewards are positive, as in our example.
#
# In the next three questions, position 3 is right. Each row has the rewards of one question. Which position has the reward 2 in all three?


# %% tags=["nbval-check-output"]
def rewards_for(right):  # B: the right position of each question
    colours = torch.randint(4, (len(right), 10))  # B S
    # gather takes from each row the entry at the given position
    wanted = colours.gather(1, right[:, None])  # B 1: the colour of the right position
    return 1 + (colours == wanted).float()  # B S: 2 for the wanted colour, else 1


torch.manual_seed(14)
print(rewards_for(torch.tensor([3, 3, 3])))

# %% [markdown]
# Only position 3 has the reward 2 in all three. A wrong position may have the right colour by chance, but not in every question.
#
# Here a position has no value besides its reward, so to read a position is to learn its reward. Soft attention reads all ten rewards, and its loss is minus their weighted mean, the expected reward of a draw. So both kinds want the same, and only their gradients differ.
#
# Hard attention draws a position $k$, and reads one reward. Its loss is $-(R_k - b) \log p_k$, because the gradient of this is minus our estimate. The minus signs are there because training makes a loss smaller, and we want large rewards. Each function also returns the mean reward, for the baseline.
#
# In a model that writes words, the value that is read goes on through the decoder, and the reward is the log probability of the right words. Xu et al. 2015 do this for captions of pictures.


# %%
def soft_way(scores, rewards, baseline):  # B S, B S, a number: not used here
    weights = scores.softmax(-1)  # B S
    reward = (weights * rewards).sum(-1)  # B
    return -reward.mean(), reward.mean()


def hard_way(scores, rewards, baseline):
    log_p = scores.log_softmax(-1)  # B S
    k = torch.multinomial(log_p.exp(), 1)  # B 1: a draw for each question
    reward = rewards.gather(1, k)  # B 1: the only rewards that are read
    log_p_k = log_p.gather(1, k)  # B 1
    return -((reward - baseline) * log_p_k).mean(), reward.mean()


def hard_without_baseline(scores, rewards, baseline):
    return hard_way(scores, rewards, 0.0)


# %% [markdown]
# Every 25 steps, we test the model on 500 new questions. The probability that a draw finds the right position is the weight on this position, so we take the mean of this weight. We also count how often the *largest* weight lies on the right position. We need this second share later.


# %%
@torch.no_grad()
def shares_right(W, ask):
    state, hidden, right = ask(500)  # B 1 9, B S 9, B
    query = state @ W  # B 1 9
    scores = (query @ hidden.mT)[:, 0]  # B 1 9 times B 9 S gives B 1 S, then B S
    weights = scores.softmax(-1)  # B S
    on_right = weights.gather(1, right[:, None])  # B 1: the weight at `right`
    drawn = on_right.mean()
    largest = (weights.argmax(-1) == right).float().mean()
    return torch.stack([drawn, largest])


# %% [markdown]
# The training loop is the usual one. The baseline is a running mean of the rewards: after each step, it moves a tenth of the way to the mean reward of this step.


# %%
def train_to_look(way, seed, questions):
    torch.manual_seed(seed)
    ask = find_one("turned", seed, S=10, D=8)  # ask(B) returns B new questions
    # each vector in them has 8 random numbers and a 1, as in lesson 04
    W = (0.1 * torch.randn(9, 9)).requires_grad_()
    optimizer = torch.optim.Adam([W], lr=0.02)
    baseline = 1.0
    shares = [shares_right(W, ask)]
    for step in range(1, 251):
        state, hidden, right = ask(questions)  # B 1 9, B S 9, B
        query = state @ W  # B 1 9
        scores = (query @ hidden.mT)[:, 0]  # B S
        loss, reward = way(scores, rewards_for(right), baseline)
        baseline = 0.9 * baseline + 0.1 * reward.item()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 25 == 0:
            shares.append(shares_right(W, ask))
    return torch.stack(shares)  # 11 2: drawn and largest, at 11 times


def five_seeds(way, questions):
    runs = [train_to_look(way, seed, questions) for seed in range(5)]
    return torch.stack(runs)  # 5 11 2


# %% [markdown]
# We train five models in each of three ways: soft, hard with the running mean, and hard without a baseline. Each step has 8 new questions. Which way learns fastest, and which is slowest?

# %%
runs = {
    "soft": five_seeds(soft_way, 8),
    "hard, running mean": five_seeds(hard_way, 8),
    "hard, without baseline": five_seeds(hard_without_baseline, 8),
}
if_drawn = {}
for name, shares in runs.items():
    if_drawn[name] = shares[:, :, 0]  # 5 11: the first of the two shares
ax = plots.axes(width=5.4, height=3.8)
ax.set_ylim(0, 1)
steps = range(0, 251, 25)
label = "share right, if drawn"
plots.curves(steps, if_drawn, "steps of 8 questions", label, ax=ax, legend="above")

# %% [markdown]
# Soft attention learns fastest, and hard attention without a baseline is slowest, at rates of 0.005 and 0.08, too. All become better than chance, which is 0.1, although nobody has told them where to look. Each band goes from the lowest to the highest of five models.
#
# But for each question, soft attention reads ten rewards, and hard attention reads one. What if they read the same number? We give hard attention 80 questions in each step, so that it reads 80 rewards, as soft attention does with 8 questions. Where is it after 25 steps, behind soft attention or ahead of it?

# %% tags=["nbval-check-output"]
predict("08.values_read", ...)

# %% tags=["reveals"]
runs["hard, 80 questions"] = five_seeds(hard_way, 80)
ahead = (runs["hard, 80 questions"] - runs["soft"])[:, :, 0]  # 5 11
print("Share right if drawn, hard attention minus soft, five seeds:")
for i in (1, 2, 4, 10):  # of the 11 times
    print(f"after {25 * i:3} steps: {ahead[:, i]}, mean {ahead[:, i].mean():.2f}")
reveal("08.values_read", "ahead" if ahead[:, 1].mean() > 0 else "behind")

# %% [markdown]
# If they read the same number of rewards, hard attention is ahead after 25 steps, with every seed. Later, the two are about equal. But hard attention has seen ten times as many questions, and computed ten times as many scores. With 8 questions in each step, it reaches 0.75 after 125 steps, and soft attention after 50, as the picture shows. So it needs two and a half times as many questions and scores there, but reads only 1,000 rewards instead of 4,000. This is worthwhile where reading costs the most, as in lesson 14.
#
# ## Hard attention in use
#
# After training, we need no estimate of a gradient, so the model need not draw. It can read the value with the largest weight. Does this find the right position more often than a draw?

# %%
rows = {}
for name in ("soft", "hard, running mean", "hard, 80 questions"):
    rows[name] = runs[name][:, -1]  # 5 2: drawn and largest, after 250 steps
caption = "Share right after 250 steps, mean and range of five seeds"
table(rows, ["drawn", "largest weight"], digits=2, caption=caption)

# %% [markdown]
# Yes, the largest weight is right more often than a draw, in all three rows. So hard attention can draw while it learns, and take the largest weight in use. In our world, a model that has learned with soft attention can do the same, and then it also reads only one value.
#
# So to the first question: attention need not be soft, but hard attention needs more questions to learn.
#
# <details><summary>Straight-through and Gumbel-softmax: other ways to learn with a draw</summary>
#
# A *straight-through* estimator draws a word, but uses the gradient of soft attention. The *Gumbel-softmax* adds noise to the scores and takes a softmax at a low temperature. Its weights are close to a draw, and still have a gradient. In a network, both estimates are biased, which means that their mean is wrong. Both need all values in training.
#
# </details>
#
# ## Local attention: a window
#
# Now to the second question: must attention look at every word? Local attention (Luong et al. 2015) looks at the words that are at most $D$ positions away from a **centre**. It takes a softmax of the scores $z_j$ of these words alone. But a window with sharp edges gives the centre no gradient: if it moves a little, the same words are inside. So each weight is also multiplied by a **Gaussian**, a factor that is 1 at the centre and becomes smaller with the distance:
#
# $$a_j = \frac{e^{z_j}}{\sum_{|i - \text{centre}| \le D} e^{z_i}} \cdot \exp\left(-\frac{(j - \text{centre})^2}{2\sigma^2}\right) \qquad \sigma = \frac{D}{2}$$
#
# Here $i$ and $j$ are positions, and $D$ is not the width of a vector. We take $D = 1$, and as the centre the position of "barks", which is 3 if we count from 0. The scores are again $\log p$, so the softmax gives 0.2, 0.5 and 0.1, each divided by their sum 0.8. One position away from the centre, the Gaussian is $e^{-2} = 0.135$. What are the three weights?


# %% tags=["nbval-check-output"]
def local_weights(scores, centre, D):  # S, a number, a number
    distance = torch.arange(len(scores)) - centre  # S
    outside = distance.abs() > D  # S
    weights = scores.masked_fill(outside, -torch.inf).softmax(0)  # S
    sigma = D / 2
    gaussian = torch.exp(-(distance**2) / (2 * sigma**2))  # S
    return weights * gaussian


scores = p.log()  # S: their softmax is p
weights = local_weights(scores, centre=3, D=1)
print("weights", weights)
print(f"sum {weights.sum().item():.2f}")

# %% [markdown]
# "barks" has the weight 0.5 / 0.8 = 0.625. "dog" has 0.25 · 0.135 = 0.034, and "loudly" has 0.017. The sum is no longer 1, because the weights are not normalised again after the Gaussian.
#
# Nothing is drawn, so a gradient reaches the scores as usual. But the window has to stand at the right place. We move the centre from "the" to "barks". For which centres does "barks" have the largest weight?

# %%
places = [0, 1, 2, 2.5, 3]
moved = [local_weights(scores, place, D=1) for place in places]
labels = [f"centre {place}" for place in places]
plots.weights(torch.stack(moved), sentence, labels, ylabel="")

# %% [markdown]
# "barks" has the largest weight for the centres 2.5 and 3. At the centres 0 and 1 it lies outside the window, and has no weight at all.
#
# A centre may lie between two positions, as 2.5 does. So it can change a little, unlike the position of a draw. Does the weight of "barks" have a gradient with respect to the centre?

# %% tags=["nbval-check-output"]
for place in (1.0, 2.5):
    centre = torch.tensor(place, requires_grad=True)
    weights = local_weights(scores, centre, D=1)
    weights[3].backward()  # the weight of "barks"
    print(f"centre {place}: gradient {centre.grad.item():.2f}")

# %% [markdown]
# At 2.5 the gradient is positive: if the centre moves to the right, towards "barks", the weight of "barks" becomes larger. So a centre can be learned. This gradient comes from the Gaussian, which changes smoothly with the centre. But at 1 the gradient is 0, because "barks" lies outside the window.
#
# ## Where should the window stand?
#
# For word $t$ of a translation, Luong et al. place the centre in one of two ways:
#
# - **local-m** follows a rule, centre $= t$: word 5 of the translation looks around word 5 of the source. The m stands for *monotone*, which means that both languages have the same order. This kind has no Gaussian.
# - **local-p** predicts the centre from the decoder's state $s_t$: centre $= S \cdot \text{sigmoid}(v^\top \tanh(W s_t))$. The sigmoid is a share between 0 and 1, and the centre is this share of the $S$ source words. The vector $v$, which is not a value, and the matrix $W$ are learned.
#
# Say that five words are read, the state is $s = (1, -1)$, $W$ leaves it as it is, and $v = (0.5, 0.1)$. Where does local-p place its window?

# %% tags=["nbval-check-output"]
s = torch.tensor([1.0, -1.0])  # H
W = torch.eye(2)  # H H
v = torch.tensor([0.5, 0.1])  # H
centre = 5 * torch.sigmoid(v @ torch.tanh(W @ s))  # S = 5
print(f"centre {centre:.2f}")
print("weights", local_weights(scores, centre, D=1))

# %% [markdown]
# The share is 0.58, so the centre is at 2.88, near "barks".
#
# Are these windows as good as global attention? We compare them in Luong's decoder, in the small world of lesson 06, where both languages have the same order of words here:
#
# - global attention, and local-m and local-p with $D = 2$
# - the same global decoders, of which each now reads only the value with the largest weight: is one value enough for a translator?
# - no attention: the first state holds the sentence, as in lesson 05
#
# The course has trained five of each kind for 600 steps, on sentences of at most 12 words. Then they predict each word of new sentences, given the right words before it. Which attention is best on sentences of 20 words?

# %% tags=["nbval-check-output"]
predict("08.window", ...)

# %% tags=["nbval-check-output", "reveals"]
print("Share of words right, mean and range of five seeds, same order:")
print(table(figures.words_right("monotone"), ["12 words", "20 words"], digits=2))
reveal("08.window", "local-m")

# %% [markdown]
# On 20 words, local-m is best. Its rule is the same at every length. On 12 words it is a little behind global attention. With the largest weight alone, global attention gets as many words right on 12 words, and slightly more on 20. So a translator, too, can learn with soft attention and then read one value for each word.
#
# Our window has $D = 2$. In this world we know which source word belongs to each word of the translation. How often is it in the window, and in a wider one, and how many words does the window read?


# %% tags=["nbval-check-output"]
def share_in_window(D, length):
    test = small_world(200, 7, "monotone", shortest=length, longest=length)
    inside = []
    for links in test.links:  # of one sentence
        for source, target in links:  # positions of words that belong together
            inside.append(abs(source - target) <= D)
    return sum(inside) / len(inside)


rows = {}
for D in (1, 2, 4):
    of_12 = f"{share_in_window(D, 12):.2f}"
    of_20 = f"{share_in_window(D, 20):.2f}"
    rows[f"D = {D}"] = [of_12, of_20, f"{2 * D + 1}"]
columns = ["in it, of 12 words", "in it, of 20 words", "words read, at most"]
table(rows, columns, corner="window of local-m")

# %% [markdown]
# With $D = 2$, the right word is in the window in 0.94 and 0.85 of the cases, and local-m gets 0.96 and 0.89 of the words right. It can also guess: without any attention, a third to a half of the words are right. A wider window misses fewer words, and reads more. Even in the same order, some source words lie outside a narrow window, because earlier words are left out or doubled.
#
# What if the rule is wrong? Now the order is reversed, so that the first word of the translation belongs to the last word of the source. How far does local-m fall?

# %% tags=["nbval-check-output"]
caption = "Share of words right, mean and range of five seeds, reversed order"
rows = figures.words_right("reversed")
table(rows, ["12 words", "20 words"], digits=2, caption=caption)

# %% [markdown]
# With the wrong rule, local-m is far behind global attention at both lengths. On 20 words it is only a little better than no attention.
#
# local-p gets nearly all words right on 12 words, in both orders. But on 20 words it falls far behind global attention, and in the reversed order it is no better than no attention. Where does it place its window? The picture shows, for the same order, the mean of its centre and the mean place of the right word, both as a share of the source.

# %%
for length, ax in zip((12, 20), plots.axes(2), strict=True):
    words, centres = measured("centres", "centre", "word", length=length)
    _, right = measured("centres", "place", "word", length=length)
    share = torch.tensor(centres) / length  # five seeds, words
    lines = {"centre of the window": share}
    known = {"right word": torch.tensor(right[0]) / length}  # for all seeds
    plots.curves(words, lines, "word of the translation", "", "", ax, known)
    ax.set(ylabel="share of the source", title=f"{length} words")
    ax.set(xlim=(0, 24), ylim=(0, 1))

# %% [markdown]
# On 12 words, the centre stands close to the right word. On 20 words it runs ahead of it, and is near the last word of the source when about two thirds of the translation are written. The decoder predicts a *share* of the sentence, and on 20 words this share grows nearly as fast as on 12. At word 6 it is 0.40 in place of 0.48, and it should be 0.27. No sentence in training had more than 12 words. Trained on up to 20, the decoder gets 1.00 of the words right there ([our measurements](../docs/measurements.md#what-other-ways-to-look-and-other-layers-can-do)), so here its shares are right for lengths that it has met.
#
# ## So: must attention be soft, and must it look at every word?
#
# Attention need not be soft, but this has its price in training. Hard attention reads one value, learns from rewards, and needs more questions. In use, a model that has learned with soft attention can read only the value with the largest weight. On average, our translators became no worse in these two orders.
#
# Attention need not look at every word, either. Local attention is soft and has a gradient, but it sees nothing outside its window. With a right rule for the centre, it was a little behind global attention on lengths of the training, and better on longer sentences. With a wrong rule, or with a learned centre on longer sentences, it was much worse.
#
# What is saved? In use, hard attention reads one value in place of ten, though it still needs all ten scores. A window with $D = 2$ reads at most five of twenty words. So where a right rule is known, a window saves three quarters of the scores and values. Where none is known, global attention is the safer choice: at lengths of the training it was best, or nearly so.
#
# ## Questions
#
# Run a cell to see its question, then replace the dots with a letter in quotes or a number.

# %%
check("08.q1", ...)

# %%
check("08.q2", ...)

# %%
check("08.q3", ...)

# %%
check("08.q4", ...)

# %%
check("08.q5", ...)

# %% [markdown]
# ## Recap
#
# - Attention need not be soft: hard attention draws one word and reads only its value. It need not look at every word: local attention is soft within a window.
# - Soft attention returns the expectation of hard attention. A draw passes no gradient, but the reward times the gradient of $\log p_k$ is an unbiased estimate.
# - A baseline that does not depend on the draw leaves the mean of the estimate as it is. If it is near the expected reward, it usually makes the variance smaller.
# - Hard attention reads fewer values, and needs more questions. In use, it can take the largest weight.
# - Local attention has a gradient, but sees nothing outside its window. It helps if we know where the window should stand.
#
# **Exercises**: [open them](../exercises/08_hard_and_local_exercises.ipynb)
#
# **Next**: in all our translators, a recurrent network still reads one word after the other. [What if every word looks at every word at once?](09_self_attention.ipynb)
