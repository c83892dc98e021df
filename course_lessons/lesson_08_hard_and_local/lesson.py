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
# So far, attention has returned a weighted mean of the values, which makes it **soft**, and has looked at every word in the sentence, which makes it **global**. That is wasteful when most words get hardly any weight and each value takes a lot of work to compute. In lesson 14, for example, a network has to look at part of a picture to get each value.
#
# Does attention have to be soft? **Hard attention** treats the weights as probabilities, draws one word and reads only that word's value. Does attention have to look at every word? **Local attention** stays soft but looks only at the words in a **window**, a few neighbouring positions.
#
# | | looks at every word | looks at a window |
# | --- | --- | --- |
# | returns a weighted sum | all attention so far | local attention |
# | draws one word | hard attention | not in this lesson |
#
# For each kind, we ask how it can learn and what is lost.
#
# Our example is "the old dog barks loudly", with a query looking for the verb. Guess how many of the five values each kind reads.

# %%
sentence = ["the", "old", "dog", "barks", "loudly"]
p = torch.tensor([0.1, 0.1, 0.2, 0.5, 0.1])  # S: the weights of soft attention
hard = torch.tensor([0.0, 0.0, 0.0, 1.0, 0.0])  # S: if "barks" is drawn
window = torch.tensor([0.0, 0.0, 1.0, 1.0, 1.0])  # S: "barks" and its neighbours
local = p * window / (p * window).sum()  # S
kinds = torch.stack([p, hard, local])  # 3 S
plots.weights(kinds, sentence, ["soft", "hard", "local"], ylabel="")

# %% [markdown]
# Soft attention reads all five values, hard attention one and local attention three. To draw a word, hard attention still needs all five scores, whereas local attention needs only three.
#
# ## Hard attention: one draw
#
# To draw, hard attention takes a random number $u$ between 0 and 1 and adds up the weights from the left. The draw is the first word at which the sum is larger than $u$, so a word with a weight of 0.5 is drawn half the time.
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
# With $u = 0.75$, the draw is "barks", so hard attention returns 6, whereas soft attention returns the weighted mean, 4.3. A different $u$ may give a different word. Over many draws, what is the mean of the values read?

# %%
generator = torch.Generator().manual_seed(0)
for number in (10, 1_000, 100_000):
    drawn = torch.multinomial(p, number, replacement=True, generator=generator)
    read = values[drawn]  # as many values as draws
    print(f"{number:7,} draws, mean of the values: {read.mean():.2f}")

# %% [markdown]
# Over many draws, the mean is 4.3, the result of soft attention. The mean over all possible draws, each weighted by its probability, is called the **expectation**, so soft attention returns the expectation of what hard attention returns.
#
# ## How can it learn?
#
# A model learns from gradients, which say how a result changes when the scores change slightly. Does PyTorch find a gradient for both kinds? As scores we use the logarithms of the weights: since $e^{\log p}$ is $p$, the softmax of these scores gives back the weights.

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
# Only the soft result has a gradient with respect to the scores. For the score of word $i$, whose value is $v_i$, this gradient is $p_i (v_i - 4.3)$, where 4.3 is the soft result; an exercise in lesson 02 gives this formula. For "barks", it gives 0.5 · (6 - 4.3) = 0.85.
#
# The hard result has no gradient, because the drawn position is a whole number, which cannot change by a small amount. If a network computes the values, the value read still gets a gradient, but the scores get none. Hard attention therefore needs a different way back to the scores, the highlighted arrow at the bottom of the next diagram. We estimate a gradient from the position $k$ of the drawn word and from its **reward** $R_k$, a number that says how good it was to read this word.

# %%
diagrams.soft_and_hard(new=["draw", "estimate"])

# %% [markdown]
# ## A gradient from a draw
#
# The idea is to make the drawn word more probable, by an amount that grows with its reward. The gradient of $\log p_k$ says how to change the scores to do this, so the estimate from one draw is
#
# $$R_k\, \nabla \log p_k$$
#
# The sign ∇ denotes the gradient with respect to all scores. With a softmax of scores $z$, $\log p_k = z_k - \log \sum_i e^{z_i}$, so its gradient is $1 - p_k$ for the score of the drawn word and $-p_i$ for the score of every other word $i$.
#
# In our example, the reward of a word is its value, so the expected reward is the soft result, whose gradient we know. If "barks" is drawn, the estimate is 6 · (1 - 0.5) = 3 for its own score and 6 · (-0.1) = -0.6 for the score of "the". The table shows the estimates for all five draws. Is their mean the exact gradient?

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
# The mean of the estimates is the exact gradient, although no single estimate is. An estimate whose mean is right is called **unbiased**. This one is called the **score-function estimator**, or REINFORCE (Williams, 1992).
#
# The mean is right for any rewards that do not depend on the scores. Since the derivative of the logarithm at $p_k$ is $1 / p_k$, we have $\nabla \log p_k = \nabla p_k / p_k$. Multiplying by $p_k$ gives $\nabla p_k = p_k \nabla \log p_k$, and therefore
#
# $$\nabla \sum_k p_k R_k = \sum_k p_k\, R_k\, \nabla \log p_k$$
#
# On the left is the gradient of the expected reward, on the right the mean of the estimates. Hard attention can therefore learn while reading only one value per draw.
#
# ## Is the reward better than expected?
#
# A single estimate can be far from the exact gradient. The **variance** is the mean squared distance between the two. The larger the variance, the more draws we need for a good mean.
#
# All our rewards are positive, so even a draw of "the", which has the lowest reward, makes "the" more probable. We change this by subtracting a **baseline** $b$ from the reward:
#
# $$(R_k - b)\, \nabla \log p_k$$
#
# Now a word whose reward is below $b$ becomes *less* probable when it is drawn. For $b$ we use the expected reward, 4.3. What does this change: the mean of the estimates, their variance, or both?

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
# The baseline changes only the variance, which falls to about a fifth, while the mean is still the exact gradient. The mean is right for every constant $b$: the baseline subtracts $b \sum_k p_k \nabla \log p_k$ from it, and $p_k \nabla \log p_k$ is $\nabla p_k$. The sum is therefore the gradient of $\sum_k p_k$, which is 0 because the probabilities always sum to 1.
#
# A model does not know its expected reward, but can use the mean of the rewards of *earlier* draws (Xu et al., 2015). For the new draw, this mean is a constant.
#
# <details><summary>May the baseline come from the same draws?</summary>
#
# Suppose we draw two words $k$ and $i$ and use the mean of their rewards as the baseline. Then $R_k - (R_k + R_i)/2$ is half of $R_k - R_i$, and $R_i$, from the other draw, is an allowed baseline. The estimates therefore average to half the gradient, and with $n$ draws to $(n - 1)/n$ of it. The direction is right, but the length is not.
#
# An estimate whose mean is wrong is called **biased**. To avoid this, leave the draw's own reward out of its baseline.
#
# </details>
#
# ## Nobody says where to look
#
# Can a model learn where to look from rewards alone? We use the task "turned" from lesson 04. Each question has ten random vectors $h$, one of which is the right one. The state $s$ is the right vector multiplied by a fixed orthogonal matrix, plus some noise. To find the right vector, the matrix $W$ in the score $s^\top W h$ has to learn the orthogonal matrix.
#
# Nobody tells the model which position is right. If only this position had a reward of 2, the rewards would give it away, because soft attention reads all ten. Several positions may therefore have a reward of 2: each position has one of four colours, redrawn for each question. The reward is 2 if the position read has the same colour as the right one, and 1 otherwise. All rewards are positive, as in our example.
#
# The next cell prints the rewards for three questions, one per row; position 3 is right in all of them. Which position has a reward of 2 in all three?


# %% tags=["nbval-check-output"]
def rewards_for(right):  # B: the right position of each question
    colours = torch.randint(4, (len(right), 10))  # B S
    # gather takes from each row the entry at the given position
    wanted = colours.gather(1, right[:, None])  # B 1: the colour of the right position
    return 1 + (colours == wanted).float()  # B S: 2 for the wanted colour, else 1


torch.manual_seed(14)
print(rewards_for(torch.tensor([3, 3, 3])))

# %% [markdown]
# Only position 3 has a reward of 2 in all three questions. A wrong position may have the right colour by chance, but not every time.
#
# Here a position has no value other than its reward, so reading a position means learning its reward. Soft attention reads all ten rewards. Their weighted mean is the expected reward of a draw, and the loss is minus this mean. Both kinds therefore have the same objective, and only their gradients differ.
#
# Hard attention draws a position $k$ and reads one reward. Its loss is $-(R_k - b) \log p_k$, whose gradient is minus our estimate, because training makes a loss smaller and we want large rewards. Each loss function also returns the mean reward, for the baseline.
#
# In a model that writes words, the value read is passed on to the decoder, and the reward is the log probability of the right words. Xu et al. (2015) do this for image captions.


# %%
def soft_loss(scores, rewards, baseline):  # B S, B S, a number: not used here
    weights = scores.softmax(-1)  # B S
    reward = (weights * rewards).sum(-1)  # B
    return -reward.mean(), reward.mean()


def hard_loss(scores, rewards, baseline):
    log_p = scores.log_softmax(-1)  # B S
    k = torch.multinomial(log_p.exp(), 1)  # B 1: a draw for each question
    reward = rewards.gather(1, k)  # B 1: the only rewards that are read
    log_p_k = log_p.gather(1, k)  # B 1
    return -((reward - baseline) * log_p_k).mean(), reward.mean()


def hard_loss_without_baseline(scores, rewards, baseline):
    return hard_loss(scores, rewards, 0.0)


# %% [markdown]
# Every 25 steps, we test the model on 500 new questions. The probability that a draw finds the right position is the weight on that position, so we report the mean of this weight. For later, we also count how often the *largest* weight is on the right position.


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
# The training loop is the usual one, except for the baseline, a running mean of the rewards: after each step, it moves a tenth of the way towards that step's mean reward.


# %%
def train_to_look(objective, seed, questions):
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
        loss, reward = objective(scores, rewards_for(right), baseline)
        baseline = 0.9 * baseline + 0.1 * reward.item()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 25 == 0:
            shares.append(shares_right(W, ask))
    return torch.stack(shares)  # 11 2: drawn and largest, at 11 times


def five_seeds(objective, questions):
    runs = [train_to_look(objective, seed, questions) for seed in range(5)]
    return torch.stack(runs)  # 5 11 2


# %% [markdown]
# We train five models in each of three ways: soft, hard with the running mean, and hard without a baseline. Which way learns fastest, and which slowest? Each step uses 8 new questions, and each band runs from the lowest to the highest model.

# %%
runs = {
    "soft": five_seeds(soft_loss, 8),
    "hard, running mean": five_seeds(hard_loss, 8),
    "hard, without baseline": five_seeds(hard_loss_without_baseline, 8),
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
# Soft attention learns fastest, and hard attention without a baseline is slowest; the same holds at learning rates of 0.005 and 0.08. All three end up above chance, which is 0.1, although nobody has told them where to look.
#
# But for each question, soft attention reads ten rewards and hard attention only one. We now give hard attention 80 questions per step, so that both read 80 rewards. After 25 steps, is hard attention behind soft attention or ahead of it?

# %% tags=["nbval-check-output"]
predict("08.values_read", ...)

# %% tags=["reveals"]
runs["hard, 80 questions"] = five_seeds(hard_loss, 80)
ahead = (runs["hard, 80 questions"] - runs["soft"])[:, :, 0]  # 5 11
print("Share right if drawn, hard attention minus soft, five seeds:")
for i in (1, 2, 4, 10):  # of the 11 times
    print(f"after {25 * i:3} steps: {ahead[:, i]}, mean {ahead[:, i].mean():.2f}")
reveal("08.values_read", "ahead" if ahead[:, 1].mean() > 0 else "behind")

# %% [markdown]
# With the same number of rewards, hard attention is ahead after 25 steps, for every seed. Later, the two are about equal. But hard attention has used ten times as many questions and scores. With 8 questions per step, it reaches 0.75 after 125 steps, whereas soft attention gets there after 50, as the plot shows. At this learning rate, hard attention therefore needs two and a half times as many questions and scores to get there, but reads only 1,000 rewards instead of 4,000. This is worthwhile where reading costs the most, as in lesson 14.
#
# ## Hard attention after training
#
# After training, we no longer need to estimate a gradient, so the model need not draw. It can read the value with the largest weight. Does this find the right position more often than a draw?

# %%
rows = {}
for name in ("soft", "hard, running mean", "hard, 80 questions"):
    rows[name] = runs[name][:, -1]  # 5 2: drawn and largest, after 250 steps
caption = "Share right after 250 steps, mean and range of five seeds"
table(rows, ["drawn", "largest weight"], digits=2, caption=caption)

# %% [markdown]
# In all three rows, the largest weight is on the right position more often than a draw is. Hard attention can therefore draw while it learns and use the largest weight once trained. In our task, a model trained with soft attention can do the same, and then also reads only one value.
#
# Attention, then, does not have to be soft, but hard attention needs more questions to learn.
#
# <details><summary>Straight-through and Gumbel-softmax: other ways to learn with a draw</summary>
#
# A *straight-through* estimator draws a word but uses the gradient of soft attention. The *Gumbel-softmax* adds noise to the scores and takes a softmax at a low temperature. Its weights are close to a draw, yet have a gradient. In a network, both estimates are biased, and both need all values in training.
#
# </details>
#
# ## Local attention: a window
#
# Does attention have to look at every word? Local attention (Luong et al., 2015) looks at the words that are at most $D$ positions away from a **centre** and takes a softmax over the scores $z_j$ of these words alone. But a window with sharp edges gives the centre no gradient: when the centre moves slightly, the same words are still inside. Each weight is therefore also multiplied by a **Gaussian**, a factor that is 1 at the centre and falls with distance from it:
#
# $$a_j = \frac{e^{z_j}}{\sum_{|i - \text{centre}| \le D} e^{z_i}} \cdot \exp\left(-\frac{(j - \text{centre})^2}{2\sigma^2}\right) \qquad \sigma = \frac{D}{2}$$
#
# Here $i$ and $j$ are positions, and $D$ is not the width of a vector. We set $D = 1$ and put the centre at "barks", which is position 3 counting from 0. The scores are again $\log p$, so the softmax gives 0.2, 0.5 and 0.1, each divided by their sum, 0.8. One position away from the centre, the Gaussian is $e^{-2} = 0.135$. Work out the three weights.


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
# "barks" has a weight of 0.5 / 0.8 = 0.625, "dog" has 0.25 · 0.135 = 0.034 and "loudly" has 0.017. The weights no longer sum to 1, because they are not normalised again after the Gaussian.
#
# Nothing is drawn, so a gradient reaches the scores as usual, but the window has to be in the right place. We move the centre from "the" to "barks". For which centres does "barks" have the largest weight?

# %%
places = [0, 1, 2, 2.5, 3]
moved = [local_weights(scores, place, D=1) for place in places]
labels = [f"centre {place}" for place in places]
plots.weights(torch.stack(moved), sentence, labels, ylabel="")

# %% [markdown]
# "barks" has the largest weight for the centres 2.5 and 3. With the centre at 0 or 1, "barks" lies outside the window and has no weight.
#
# A centre may lie between two positions, as 2.5 does. Unlike a draw, it can move by a small amount. Does the weight of "barks" have a gradient with respect to the centre?

# %% tags=["nbval-check-output"]
for place in (1.0, 2.5):
    centre = torch.tensor(place, requires_grad=True)
    weights = local_weights(scores, centre, D=1)
    weights[3].backward()  # the weight of "barks"
    print(f"centre {place}: gradient {centre.grad.item():.2f}")

# %% [markdown]
# At 2.5 the gradient is positive: if the centre moves to the right, towards "barks", the weight of "barks" grows. A centre can therefore be learned. Its gradient comes from the Gaussian, which changes smoothly with the centre. At 1 the gradient is 0, because "barks" lies outside the window.
#
# ## Where should the window go?
#
# For word $t$ of a translation, Luong et al. place the centre in one of two ways:
#
# - **local-m** follows the rule centre $= t$: word 5 of the translation looks at the words around word 5 of the source. The m stands for *monotone*: both languages have roughly the same word order. This version has no Gaussian.
# - **local-p** predicts the centre from the decoder state $s_t$: centre $= S \cdot \text{sigmoid}(v^\top \tanh(W s_t))$. The sigmoid gives a share between 0 and 1, and the centre is this share of the $S$ source words. The vector $v$, which is not a value, and the matrix $W$ are learned.
#
# Suppose the source has five words, the state is $s = (1, -1)$, $W$ leaves the state as it is, and $v = (0.5, 0.1)$. Where does local-p place its window?

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
# Are these windows as good as global attention? We compare them in Luong's decoder, on the toy task from lesson 06, but now with the same word order in both languages:
#
# - global attention, and local-m and local-p with $D = 2$
# - the same global decoders, but reading only the value with the largest weight
# - no attention: the first state holds the sentence, as in lesson 05
#
# We have trained five models of each kind for 600 steps, on sentences of at most 12 words. They then predict each word of new sentences, given the right words before it. Which kind of attention is best on 20-word sentences?

# %% tags=["nbval-check-output"]
predict("08.window", ...)

# %% tags=["nbval-check-output", "reveals"]
print("Share of words right, mean and range of five seeds, same order:")
print(table(figures.words_right("monotone"), ["12 words", "20 words"], digits=2))
reveal("08.window", "local-m")

# %% [markdown]
# Local-m, whose rule is the same at every length, is best at 20 words. At 12 words it is slightly behind global attention. When it reads only the value with the largest weight, global attention gets as many words right as before at 12 words and slightly more at 20. A translation model can therefore also learn with soft attention and then read one value for each word.
#
# Our window has $D = 2$. In this task, we know which source word belongs to each word of the translation. The next table shows how often that word is inside windows of three sizes and how many words each window reads.


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
# With $D = 2$, the right word is in the window in 94% of cases at 12 words and 85% at 20. Local-m gets 96% and 89% of the words right: it may guess some of the others or know them from annotations inside, and the table counts EOS as a word. A wider window misses fewer words but reads more. Even with the same word order, some source words lie outside a narrow window, because earlier words are left out or doubled.
#
# What if the rule is wrong? We reverse the order, so that the first word of the translation belongs to the last word of the source. How much worse is local-m then?

# %% tags=["nbval-check-output"]
caption = "Share of words right, mean and range of five seeds, reversed order"
rows = figures.words_right("reversed")
table(rows, ["12 words", "20 words"], digits=2, caption=caption)

# %% [markdown]
# With the wrong rule, local-m is far behind global attention at both lengths, and at 20 words it is only slightly better than no attention.
#
# Local-p gets nearly all the words right at 12 words, in both orders. But at 20 words it falls far behind global attention, and in the reversed order it is no better than no attention. Where does it place its window? For the same order, the plot shows the mean positions of its centre and of the right word, both as a share of the source.

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
# At 12 words, the centre stays close to the right word. At 20 words it runs ahead of that word and is near the last word of the source when about two thirds of the translation has been written. The decoder predicts a *share* of the sentence, and at 20 words this share grows nearly as fast as at 12. At word 6, it is 0.48 in 12-word sentences and 0.40 in 20-word ones, where it should be 0.27. No sentence in training had more than 12 words. Trained on up to 20 words, the decoder gets 1.00 of the words right there ([our measurements](../docs/measurements.md#what-other-ways-to-look-and-other-layers-can-do)), so here its shares are right for the lengths it has seen.
#
# ## Does attention have to be soft, and does it have to look at every word?
#
# Attention does not have to be soft, but hard attention has a price in training. It reads one value and learns from rewards, but needs more questions. After training, a model that has learned with soft attention can read only the value with the largest weight. On average, reading one value did not make our translation models worse.
#
# Nor does attention have to look at every word. Local attention is soft and has a gradient, but it reads no annotation outside its window. With the right rule for the centre, it was slightly behind global attention at 12 words and better on longer sentences. Where the order was reversed and the rule therefore wrong, or with a learned centre on longer sentences, it was much worse.
#
# After training, hard attention reads one value instead of ten, though it still needs ten scores. A window with $D = 2$ reads at most five of twenty words, so where we know the right rule, it saves three quarters of the scores and values. Where we know no rule, global attention is the safer choice: on longer sentences, it was far ahead of a learned centre.
#
# ## Where you will meet this
#
# | here | in papers | in PyTorch | in Hugging Face's `transformers` |
# | --- | --- | --- | --- |
# | $\log p_k$ of a draw | stochastic "hard" attention, REINFORCE | `Categorical(logits=z)`: `sample`, `log_prob` | none |
# | Gumbel-softmax | temperature $\tau$ | `F.gumbel_softmax(z, tau, hard)` | `Wav2Vec2GumbelVectorQuantizer` |
# | centre, window of $2D + 1$ | $p_t$, $[p_t - D, p_t + D]$ | `flex_attention`, `create_block_mask` | `LongformerConfig`: `attention_window` is $2D$ |
# | window of earlier words | sliding window | the same | `MistralConfig`: `sliding_window` counts the word itself |
#
# In `transformers`, windows follow fixed rules, without a Gaussian. `Categorical` gives the gradient of $\log p_k$ that we use:

# %% tags=["nbval-check-output"]
logits = p.log().requires_grad_()  # S
barks = torch.tensor(3)
torch.distributions.Categorical(logits=logits).log_prob(barks).backward()
print(torch.allclose(logits.grad, one_hot[barks] - p))

# %% [markdown]
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
# - Hard attention draws one word and reads only its value. Local attention is soft within a window.
# - Soft attention returns the expectation of hard attention. A draw passes no gradient, but the reward times the gradient of $\log p_k$ is an unbiased estimate.
# - A baseline that does not depend on the draw leaves the mean of the estimate unchanged. Near the expected reward, it usually reduces the variance.
# - Hard attention reads fewer values but needs more questions to learn. Once trained, it can use the largest weight.
# - Local attention has a gradient, but reads nothing outside its window. With the right rule, it reads less and was better on longer sentences.
#
# **Exercises**: [open them](../exercises/08_hard_and_local_exercises.ipynb)
#
# **Next**: in all our translation models, a recurrent network still reads one word after another. [What if every word looks at every word at once?](09_self_attention.ipynb)
