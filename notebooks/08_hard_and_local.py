# %%
import ipywidgets
import torch
import torch.nn.functional as F

from course_utils import check, predict, reveal
from course_utils.data.measured import measured, measured_at
from course_utils.data.recall import TOKENS, recall
from course_utils.data.small_world import small_world
from course_utils.figures import plots
from course_utils.figures.tables import table
from course_utils.figures.widgets import explore
from course_utils.models.attention import masked_softmax
from course_utils.models.hard import learn_to_look
from course_utils.models.past import LookingBack, Recaller, fit

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## A sum of all, or one of them
#
# So far every value went into a weighted sum. That is **soft attention**. **Hard attention** treats the weights as probabilities, draws one place, and reads only the value that stands there.
#
# To draw, take a random number $u$ between 0 and 1 and add up the weights from the left: pick the first place at which the sum exceeds $u$. The weights are 0.1, 0.2, 0.4, 0.2, 0.1. Work out on paper which place $u = 0.65$ picks.

# %% tags=["nbval-check-output"]
weights = torch.tensor([0.1, 0.2, 0.4, 0.2, 0.1])
values = torch.tensor([3.0, 1.0, 2.0, 5.0, 4.0])
sums = weights.cumsum(0)
print("sums from the left:", sums)
print("the picked place, from 0:", int((sums > 0.65).nonzero()[0]))

# %% [markdown]
# The sums are 0.1, 0.3, 0.7 and so on, so it is place 2, and hard attention returns its value, 2. Soft attention returns 2.7. How are the two related?

# %% tags=["nbval-check-output"]
draw = torch.Generator().manual_seed(0)
picked = torch.multinomial(weights, 10_000, replacement=True, generator=draw)
rows = {"soft attention": [(weights * values).sum()]}
for number in (10, 100, 10_000):
    rows[f"mean of {number:,} picks"] = [values[picked[:number]].mean()]
table(rows, ["result"])

# %% [markdown]
# The soft result is the **expectation** of the hard one. Soft attention reads all five values; hard attention reads a single one, which would save a lot of work if each value were large or expensive to compute.
#
# But how can a loss change the scores if the value was drawn at random? We ask PyTorch for the gradient of both results.

# %% tags=["nbval-check-output"]
scores = weights.log().requires_grad_()  # their softmax is the weights again
probabilities = scores.softmax(0)
soft = (probabilities * values).sum()
hard = values[torch.multinomial(probabilities, 1, generator=draw)]
print("soft:", torch.autograd.grad(soft, scores)[0])
print("hard:", hard.requires_grad)

# %% [markdown]
# The hard result has no gradient at all. The value depends on the place, and a place is a whole number: it jumps or stays. So what can a draw teach the scores?
#
# ## A gradient from rewards
#
# Say that reading place $i$ earns the **reward** $R_i$. We want scores whose expected reward $\sum_i p_i R_i$ is high. Its gradient can be written as an expectation, since $\nabla p_i = p_i \nabla \log p_i$:
#
# $$\nabla \sum_i p_i R_i = \sum_i p_i\, R_i\, \nabla \log p_i = \mathbb{E}_{k \sim p}\left[R_k \nabla \log p_k\right]$$
#
# So we draw a place $k$, look only at its reward, and take $R_k \nabla \log p_k$. The mean of many such estimates is the exact gradient. This is the **score-function gradient**, also called REINFORCE (Williams 1992). For a softmax, $\nabla \log p_k$ with respect to the scores is 1 at place $k$, minus $p$.

# %% tags=["nbval-check-output"]
scores = torch.tensor([1.0, 0.0, -1.0, 0.5])
rewards = torch.tensor([2.0, 3.0, 1.0, 4.0])
p = scores.softmax(0)
exact = p * (rewards - (p * rewards).sum())  # as for the soft result above, with rewards for values


def estimates(number, baseline, draw):
    """One estimate of the gradient for each of so many draws: number×4."""
    k = torch.multinomial(p, number, replacement=True, generator=draw)
    return (rewards[k] - baseline)[:, None] * (torch.eye(4)[k] - p)


found = estimates(10_000, baseline=0.0, draw=torch.Generator().manual_seed(0))
rows = {"probabilities": p, "rewards": rewards, "exact gradient": exact}
rows |= {"mean of 10,000 estimates": found.mean(0), "its standard error": found.std(0) / 10_000**0.5}
table(rows, [f"place {i}" for i in range(4)])

# %% [markdown]
# The two agree: no difference is much larger than its standard error. Place 0 is the most probable one, but its reward is below the mean of 2.69, so its score should fall. Place 3 should rise.
#
# ## Better than expected?
#
# A single estimate is very noisy. Here all rewards are positive, so every draw pushes up the score of the place that was drawn. A **baseline** $b$ helps: we take $(R_k - b) \nabla \log p_k$. The mean stays the same, because $\sum_i p_i \nabla \log p_i = \nabla \sum_i p_i = \nabla 1 = 0$.
#
# By what factor does the best baseline reduce the variance, summed over the four scores? Make a guess.

# %% tags=["nbval-check-output"]
predict("08.baseline", ...)

# %% tags=["reveals"]
baselines = torch.linspace(0, 5, 21)
print("The variance against the baseline, with five seeds:")
squares = ((torch.eye(4) - p) ** 2).sum(1)  # of ∇ log p for each place
theory = torch.stack([(p * (rewards - b) ** 2 * squares).sum() - (exact**2).sum() for b in baselines])
draws = [torch.Generator().manual_seed(seed) for seed in range(5)]
runs = torch.stack(
    [torch.stack([estimates(10_000, b, draw).var(0).sum() for b in baselines]) for draw in draws]
)
ax = plots.axes(width=6.4, height=3.6)
plots.curves(baselines, {"measured": runs}, "baseline", "variance", theory={"theory": theory}, ax=ax)
ax.axvline((p * rewards).sum(), color="0.5", linestyle=":")
reveal("08.baseline", round((theory[0] / theory.min()).item(), 1))

# %% [markdown]
# With a baseline near the mean reward (the dotted line) the variance is 13 times smaller: one draw is worth as much as 13 without. The measured values match the theory, $\sum_i p_i (R_i - b)^2 \lVert\nabla \log p_i\rVert^2$ minus the squared exact gradient. In practice a running mean of past rewards serves as the baseline (Xu et al. 2015). It must not come from the same draws, or the mean of the estimates shifts: they become **biased**. The last exercise finds such errors.
#
# ## A soft stand-in
#
# Another way to draw: add $g_i = -\log(-\log u_i)$ to each score, with a random $u_i$ between 0 and 1, and take the largest. The **straight-through Gumbel-softmax** (Jang et al. 2017) does so, but for the gradient it pretends to have returned $\text{softmax}((s + g) / \tau)$. Which temperature $\tau$ is best?

# %%
temperatures = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
means, spreads = [], []
for seed in range(5):
    torch.manual_seed(seed)
    for temperature in temperatures:
        leaf = scores.repeat(10_000, 1).requires_grad_()
        (F.gumbel_softmax(leaf, temperature, hard=True) @ rewards).sum().backward()
        means.append((leaf.grad.mean(0) - exact).norm() / exact.norm())
        spreads.append(leaf.grad.var(0).sum())
left, right = plots.axes(2, width=4.8, height=3.4)
errors, spreads = (torch.stack(found).view(5, -1) for found in (means, spreads))
best = {"score function with baseline": [theory.min()] * len(temperatures)}
plots.curves(temperatures, {"Gumbel-softmax": errors}, "temperature", "error of the mean, relative", ax=left)
plots.curves(temperatures, {"Gumbel-softmax": spreads}, "temperature", "variance", theory=best, ax=right)

# %% [markdown]
# No temperature is best. A high one gives estimates that lie close together, but around a wrong gradient. A low one is nearly right on average, with a large variance. The score-function gradient is right on average with any constant baseline, and needs only the reward of the place that was drawn.
#
# ## Nobody says where to look
#
# Now hard attention learns something. As in lesson 04, a state must find the one of ten hidden states that belongs to it. Each hidden state has one of four colours, and we want the right state's colour: the reward is 1 if the colour read is right, otherwise 0. A wrong place has the right colour in a quarter of the cases.


# %%
def draw_one(scores, rewards, baseline):
    """Hard attention: draw a place, see its reward alone, and use the score-function gradient."""
    log_p = scores.log_softmax(-1)  # B S
    k = torch.multinomial(log_p.exp(), 1)  # B 1
    reward = rewards.gather(1, k)  # B 1
    return -((reward - baseline) * log_p.gather(1, k)).mean(), reward.mean()


def stand_in(scores, rewards, baseline):
    """Hard attention with the straight-through Gumbel-softmax."""
    reward = (F.gumbel_softmax(scores, 1.0, hard=True) * rewards).sum(-1)
    return -reward.mean(), reward.mean()


def all_places(scores, rewards, baseline):
    """Soft attention: the expected reward, for which all places are read."""
    reward = (scores.softmax(-1) * rewards).sum(-1)
    return -reward.mean(), reward.mean()


# %% [markdown]
# `learn_to_look` trains lesson 04's score $s^\top W h$, with 16 questions per step and a running mean as the baseline. Here are five ways to learn, with five seeds each. How much do the baseline and an added constant matter?

# %%
losses = {
    "all places (soft)": all_places,
    "Gumbel-softmax": stand_in,
    "drawn, with baseline": draw_one,
    "drawn, no baseline": lambda scores, rewards, baseline: draw_one(scores, rewards, 0.0),
    "drawn, rewards + 1": lambda scores, rewards, baseline: draw_one(scores, rewards + 1, 0.0),
}
runs = {name: [learn_to_look(loss, seed) for seed in range(5)] for name, loss in losses.items()}
curves = {name: torch.tensor([grown for grown, _, _ in found]) for name, found in runs.items()}
ax = plots.axes(width=7, height=4)
plots.curves(range(0, 251, 25), curves, "step", "weight on the right place", ax=ax)

# %% [markdown]
# All of them learn to look at the right place, although nobody ever says which one it is. Soft attention, which sees all rewards at each step, is the fastest at first, and the Gumbel-softmax, biased as it is, catches up: it too uses the rewards of all places. One draw at a time is slower, slower still on average without a baseline, and slowest with the useless constant 1. Where does the model trained with a baseline look now?

# %%
_, weights, place = runs["drawn, with baseline"][0]
marks = [(row, int(column)) for row, column in enumerate(place[:8])]
questions = [f"question {i}" for i in range(1, 9)]
plots.weights(weights[:8], None, questions, xlabel="places (framed: the right one)", ylabel="", marked=marks)

# %% [markdown]
# Nearly all of these questions look mostly at the framed place. Some weight stays elsewhere: the states are noisy.
#
# With a baseline, hard attention needs two to three times as many steps as soft attention to reach a weight of 0.8. In return it reads one value instead of ten, although it still scores all places. That pays where reading is expensive: lesson 14 looks at small parts of a large picture.
#
# ## Look near one place
#
# **Local attention** (Luong et al. 2015) looks at the places at most $D$ away from a centre $c$, and gives nearer ones more weight:
#
# $$\alpha_s = \text{softmax}_{|s - c| \le D}(e)_s \cdot \exp\left(-\frac{(s - c)^2}{2\sigma^2}\right) \qquad \sigma = D / 2$$
#
# With $D = 2$ and equal scores, five places get 0.2 each. How much of this is left one and two places away? ($e^{-0.5} = 0.607$, $e^{-2} = 0.135$.)


# %% tags=["nbval-check-output"]
def local_weights(scores, centre, window):
    """Return the weights of places at most `window` away from the centre: scores S → S."""
    away = torch.arange(len(scores)) - centre  # S
    weights = masked_softmax(scores, away.abs() <= window)
    return weights * torch.exp(-(away**2) / (2 * (window / 2) ** 2))


print(local_weights(torch.zeros(7), centre=3.0, window=2.0))

# %% [markdown]
# Move the window over a sentence. The scores belong to a word that asks for the verb. With the centre at 2, how wide must the window be before "barks" gets any weight?

# %%
sentence = "the old dog that sleeps in the yard barks at night".split()
word_scores = torch.tensor([0.0, 0.0, 1.0, 0.0, 2.0, 0.0, 0.0, 0.5, 3.0, 0.0, 0.5])


def window_at(centre, window):
    weights = local_weights(word_scores, centre, window)
    plots.weights(weights[None], sentence, [""], xlabel="", ylabel="")
    place = int(weights.argmax())
    return f"The largest weight is {weights[place]:.2f}, on “{sentence[place]}”; together they are {weights.sum():.2f}."


window_explorer = explore(
    window_at,
    centre=ipywidgets.FloatSlider(value=2.0, min=0, max=10, step=0.5, description="centre"),
    window=ipywidgets.FloatSlider(value=2.0, min=1, max=10, step=0.5, description="window D"),
)
window_explorer

# %% [markdown]
# "barks" stands six places away, so it is within reach once the window is 6 or wider, though the Gaussian leaves little of its weight there. Moving the centre helps more. Note that the weights do not add up to 1: they are not normalised again.
#
# Where does the centre come from? **local-m** takes the place of the word that is being written: word 5 of the translation looks around word 5 of the source, and there is no Gaussian. **local-p** lets the decoder's state predict it: $c = S \cdot \sigma(v^\top \tanh(W s))$, where here σ is the logistic function.
#
# We train Luong's decoder of lesson 06 with both, using window 2, on three word orders. In which one does local-m do worst?

# %% tags=["nbval-check-output"]
predict("08.window", ...)

# %% tags=["reveals"]
print("Sentences as long as the longest in training, and longer ones; five seeds:")
rows, orders = {}, ("monotone", "verb-last", "reversed")
for length in (12, 20):
    for setup in ("global", "local-m", "local-p"):
        rows[f"{length} words, {setup}"] = [
            measured_at("local", "words_right", "length", (length,), order=order, setup=setup)[0]
            for order in orders
        ]
worst = min(orders, key=lambda order: sum(rows["12 words, local-m"][orders.index(order)]))
reveal("08.window", worst)
table(rows, orders, corner="share of words right, given the right words before them", digits=2)

# %% [markdown]
# Only in the reversed order does local-m fail, while local-p learns where to look. Elsewhere local-m drops least at 20 words, as its rule holds at any length; what local-p has learned does not. Luong et al. report 5 BLEU more than without attention.
#
# But is what local-m needs in its window at all? Some words of this world vanish and some become two, so words drift. We count how often the source word that a word comes from is at most two places away.

# %% tags=["nbval-check-output"]
for length in (12, 20):
    shares = []
    for order in orders:
        pairs = small_world(200, 7, order, shortest=length, longest=length)
        away = [abs(source - target) for links in pairs.links for source, target in links]
        shares.append(f"{order} {sum(distance <= 2 for distance in away) / len(away):.2f}")
    print(f"{length} words:", *shares, sep="  ")

# %% [markdown]
# So local-m gets more words right than its window holds: 0.96 against 0.88 with the verb last, at 12 words. The window limits which states it *weighs*. But each of them has read the words around it, and the decoder's own state remembers earlier ones.
#
# ## Attention to one's own past
#
# So far we have asked how to look. We can also ask where: all decoders looked at *another* network's states, but a network can look at its own. Here is a task for which this helps: read letters with their digits, then say each letter's digit.

# %% tags=["nbval-check-output"]
tokens, answers, places = recall(1, pairs=4, draw=torch.Generator().manual_seed(3))
print("read:   ", " ".join(TOKENS[i] for i in tokens[0]))
print("answers:", " " * 15, " ".join(str(i + 1) for i in answers[0].tolist()))

# %% [markdown]
# An LSTM has to hold all pairs in one state, as lesson 05's encoder held a sentence. Now let each state attend to the states *before* it, by scaled dot product. We write it first as a loop, then with one product and a mask:

# %% tags=["nbval-check-output"]
states = torch.randn(6, 4, generator=torch.Generator().manual_seed(0))  # T D
contexts = torch.zeros(6, 4)
for t in range(1, 6):
    earlier = states[:t]
    contexts[t] = (earlier @ states[t] / 4**0.5).softmax(0) @ earlier

scores = states @ states.T / 4**0.5  # T T
past = torch.ones(6, 6, dtype=torch.bool).tril(-1)  # True before the diagonal
weights = masked_softmax(scores, past)
print("less than 1e-5 apart:", torch.allclose(weights @ states, contexts, rtol=0, atol=1e-5))

# %% [markdown]
# The first state has nothing to look at, so its context is all zeros. We put contexts and states side by side, as Luong's decoder does, give the query a matrix of its own, and train on sequences of one to eight pairs. Where do the questions look?

# %%
torch.manual_seed(0)
model = Recaller(LookingBack)
losses = fit(model, steps=500)
logits, weights = model(tokens)
said = [str(i + 1) for i in logits[0].argmax(-1).tolist()]
print("answers:", *said)
names = [TOKENS[i] for i in tokens[0]]
marks = [(row, int(column)) for row, column in enumerate(places[0])]
plots.weights(weights[0, -4:], names, [f"{name}?" for name in names[-4:]], marked=marks, ylabel="questions")

# %% [markdown]
# Each question looks at the state at its letter's digit (framed), where letter and digit have both been read. How many pairs can this network recall, compared with LSTMs that do not look back?

# %%
curves = {}
for setup in ("LSTM that looks back", "LSTM, twice as wide", "LSTM", "LSTMN, three times as long", "LSTMN"):
    pairs, runs = measured("recall", "answers_right", "pairs", setup=setup)
    curves[setup] = torch.tensor(runs)
plots.curves(pairs, curves, "pairs", "share of answers right", ax=plots.axes(width=7, height=4))

# %% [markdown]
# The LSTM that looks back gets everything right; the plain ones have to hold all pairs in one state. In the **LSTMN** of Cheng et al. 2016 the weighted sums *take the place* of the previous state. It learns less reliably: after three times as many steps, two of five runs answer nearly everything.
#
# ## So: must attention be soft?
#
# No. Hard attention reads one place, with a noisy gradient. Local attention is soft within a window. Soft attention sees all places, and its gradient is exact.
#
# ## Questions
#
# These five questions test the goals at the top. Run a cell to see its question, then replace the dots with a letter in quotes or a number.

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
# - Must attention be soft? No, but a gradient is exact only where attention is soft; hard attention has to estimate it.
# - Hard attention draws one place and reads one value. Its mean over many draws is what soft attention returns.
# - The score-function gradient learns from rewards alone. A baseline lowers its variance, here 13 times, and does not change its mean.
# - Local attention is soft, but reads only a window. It is enough where we know, or can learn, where to put it.
# - A network that attends to its own past need not hold everything in one state.
#
# **Exercises**: [open them](../exercises/08_hard_and_local_exercises.ipynb)
#
# **Next**: our network looks back at all its states, but still reads one word after the other. [What if every word looks at every word at once?](09_self_attention.ipynb)
