# %%
import ipywidgets
import torch
import torch.nn.functional as F

from course_utils import check, predict, reveal
from course_utils.data import episodes
from course_utils.data.measured import measured, measured_once
from course_utils.figures import diagrams, pictures, plots
from course_utils.figures.tables import table
from course_utils.figures.widgets import explore
from course_utils.models import snail

torch.set_printoptions(precision=3, sci_mode=False)


def drawn(seed):
    return torch.Generator().manual_seed(seed)


# %% [markdown]
# ## A new task every time
#
# All networks so far learned one task, from thousands of examples. Here is a task that nobody has seen before: five signs have names from 0 to 4, which are shown above them. From which picture on could you name most signs yourself?

# %%
shown = episodes.sign_episodes(1, "held out", drawn(15))
axes = plots.axes(9, width=1, height=1.2)
for t, ax in enumerate(axes):
    pictures.picture(shown.pictures[0, t].view(8, 8), str(shown.labels[0, t].item()), ax)

# %% [markdown]
# From the fifth on: nearly every sign has been named before then, and you remember it and compare. (It does not help that these are digits: names are drawn anew for each **episode**.)
#
# A network can do this, too, if it learns from thousands of episodes, each with different signs and names. Then it can't learn the names by heart. What is left to learn is how to find them out. This is **meta-learning**: learning to learn.
#
# ## First answer, then be told
#
# At each step the model sees a picture $x_t$ and has to name it. It is also told the name of the previous picture, $y_{t-1}$. If the names are 2, 0 and 2, what is put beside the three pictures?

# %% tags=["nbval-check-output"]
read = snail.read_signs(torch.zeros(1, 3, 64), torch.tensor([[2, 0, 2]]))
print(read[0, :, 64:])

# %% [markdown]
# Nothing, then 2, then 0: each name comes one step after its picture. So at its third step, the model has to know that the 2 belongs to the first picture, and that the first picture looks like the third.
#
# ## Two things side by side
#
# Attention could find an earlier picture that looks like this one, but its name comes one step later. A **causal convolution** brings the two together: it computes a weighted sum of two steps of its input $x$, $t$ and $t - \text{dilation}$, and never looks ahead.
#
# $$z_t = W_1\, x_t + W_0\, x_{t - \text{dilation}} + b$$
#
# With $W_1$ = 1, $W_0$ = 10 and a dilation of 1, what becomes of 1, 2, 3?

# %% tags=["nbval-check-output"]
x, weight, bias = torch.tensor([[[1.0], [2.0], [3.0]]]), torch.tensor([[[10.0, 1.0]]]), torch.zeros(1)
by_hand = [x[0, t, 0] + 10 * (x[0, t - 1, 0] if t else 0) for t in range(3)]
as_product = snail.causal_convolution(x, weight, bias, dilation=1)
by_torch = F.conv1d(F.pad(x.mT, (1, 0)), weight, bias).mT
print(torch.stack(by_hand), as_product.flatten(), by_torch.flatten())

# %% [markdown]
# 1, 12 and 23, three times: a loop, two matrix products, and PyTorch's convolution after padding on the left.
#
# One such convolution sees two steps. If another one with a dilation of 2 follows, four steps are seen, and so on: each one doubles the number of steps seen. How many are needed for 26 steps?

# %% tags=["nbval-check-output"]
print(snail.dilations(26))

# %% [markdown]
# Five. We build **SNAIL**, the simple neural attentive learner of Mishra et al. (2018). The listing in their paper starts with a dilation of 2. Which steps does the last of 16 steps see then?


# %%
def seen_from(dilations, steps=16):
    sees = torch.eye(steps)
    for dilation in dilations:
        sees = sees + torch.diag(torch.ones(steps - dilation), -dilation) @ sees
    return sees > 0


left, right = plots.axes(2, width=3.6, height=3.2)
for ax, dilations in ((left, (1, 2, 4, 8)), (right, (2, 4, 8))):
    plots.mask(seen_from(dilations), range(16), range(16), f"dilations {dilations}", ax, "step seen", "step")

# %% [markdown]
# On the left every step sees all before it. On the right it sees only every other one, and never the one right before, since sums of 2, 4 and 8 are even. We begin with 1.
#
# ## SNAIL
#
# The model has both: dense blocks $[x; \tanh(f) \cdot \sigma(g)]$ of two convolutions $f$ and $g$, and attention to all steps so far. Each block puts what it has found beside what came in, so that nothing is lost. Which kind of block can look back 20 steps and pick out one of them?

# %%
diagrams.snail(new=["convolutions"])

# %% [markdown]
# Attention can: it weighs every step by how well it fits. The convolutions always look back the same number of steps, but they know the order. The query can be the current picture, and each key the picture before, which a convolution has carried to the step at which its name is told. The value is then that name.
#
# Now we train it. For training, two of the digits 0 to 4, turned or mirrored, are cut along a line and joined, so hardly any sign is in two episodes. The loss counts a sign from its second time on. Can you see the lines?

# %%
torch.manual_seed(0)
model = snail.Snail(64 + 5, 5, steps=26)
losses = snail.fit_signs(model, steps=400, rate=4e-3)
for t, ax in enumerate(plots.axes(9, width=1, height=1.2)):
    pictures.picture(episodes.sign_episodes(1, "joined", drawn(3)).pictures[0, t].view(8, 8), "", ax)
unseen = episodes.sign_episodes(400, "held out", drawn(1))
shares = snail.by_examples(snail.name_signs(model, unseen), unseen)
print("right names of the digits 5 to 9 after 1 to 5 examples:", torch.tensor(shares))

# %% [markdown]
# The names are those of the digits 5 to 9, which no sign in training contains. Any of five names is right with 0.2. What share does it get right after one example if it learns for 1,500 steps instead of 400?

# %% tags=["nbval-check-output"]
predict("19.one_example", ...)

# %% tags=["reveals"]
print("Five models that learned longer, and the name of the most similar picture so far:")
examples, runs = measured("signs", "held_out", "examples", setup="SNAIL")
own = measured("signs", "own", "examples", setup="SNAIL")[1]
reveal("19.one_example", round(sum(run[0] for run in runs) / len(runs), 2))
lines = {"SNAIL, signs as in training": own, "SNAIL, digits 5 to 9": runs}
for kind, name in (("joined", "signs as in training"), ("held out", "digits 5 to 9")):
    shown = episodes.sign_episodes(400, kind, drawn(1))
    lines[f"most similar, {name}"] = [snail.by_examples(episodes.nearest(shown), shown)]
ax = plots.axes(width=5.5)
ax.set_ylim(0, 1)
plots.curves(examples, lines, "examples so far", "share of right names", ax=ax)
# %% [markdown]
# After one example it names half of these unseen digits right, and more with each further example. The model had to find out by itself that it should compare. On signs as in training, it does this as well as a comparison of pixels; on the digits 5 to 9, it does it less well.
#
# ## Where does it look?
#
# If it works as we think, its attention should go to the step after a picture of the same sign, at which the name is told. Move the slider through an episode. Does it go there?


# %%
with torch.no_grad():
    model(snail.read_signs(unseen.pictures, unseen.labels))
weights = model.blocks[-1].weights  # B T T
told = F.pad(unseen.labels, (1, 0), value=-1)[
    :, None, :-1
]  # B 1 T: the name told at each step, none at the first
right = (told == unseen.labels[..., None]).tril() & (unseen.before > 0)[
    ..., None
]  # B T T: where the right name was told
share, equal = (weights * right).sum(-1), right.float().sum(-1) / torch.arange(1, 27)
print(
    f"all signs asked for: {share[unseen.before > 0].mean():.2f}; equal weights: {equal[unseen.before > 0].mean():.2f}"
)


def looked_back(step):
    names = [f"{t}: {name}" if t else "0:" for t, name in enumerate(told[0, 0, : step + 1].tolist())]
    ax, row = plots.axes(width=7, height=1.6), weights[0, step : step + 1, : step + 1]
    plots.weights(row, names, [f"step {step}"], "", ax, "step, and the name told there", "")
    return f"The sign of step {step} is called {unseen.labels[0, step]}; {share[0, step]:.2f} of the weight goes to its name, with equal weights {equal[0, step]:.2f}."


look_explorer = explore(looked_back, step=ipywidgets.IntSlider(value=10, min=1, max=14))
look_explorer

# %% [markdown]
# Of all weight, 0.39 goes to steps at which the right name was told, nearly twice as much as with equal weights. At step 10 it is 0.63; at step 12, another name gets more than the right one.
#
# ## With only one half
#
# Which half does SNAIL need? We train models that have only convolutions, only attention (four blocks), or attention with a learned vector for each position (lesson 11). Which one will do worst? And how far does a rule come that never looks at a picture?


# %%
def after(examples, setups, value="held_out"):
    return {s: [measured_once("signs", value, setup=s, examples=k)[0] for k in examples] for s in setups}


halves = ("SNAIL", "convolutions only", "attention only", "attention and positions")
rows = after((1, 2, 5), (*halves, "dilation 1 only", "dilations from 2"))
rule = snail.by_examples(episodes.most_frequent(unseen), unseen)
rows["the most frequent name"] = [rule[k - 1] for k in (1, 2, 5)]
table(rows, ["1 example", "2", "5"], corner="right names, digits 5 to 9", digits=2)

# %% [markdown]
# Most is lost without attention: after five examples, the model is hardly better than the rule, though the largest of all. Less is lost without convolutions; the causal mask tells a little about order, too. Attention with positions does as well as SNAIL, and with one convolution of dilation 1 it does after five examples. So convolutions tell which steps are neighbours here, as positions can. With dilations from 2, name and picture never meet.
#
# ## How many tasks does it take?
#
# SNAIL saw more signs than it could remember. What if all episodes have the same five signs, the digits 0 to 4, with new names each time? Or forty, if each digit is also turned and mirrored?

# %%
rows = after((1, 5), ("five signs", "forty signs", "SNAIL"))
own = after((1, 5), rows, "own")
rows = {setup: [*own[setup], *rows[setup]] for setup in rows}
table(
    rows, ["own signs, 1 example", "5", "digits 5 to 9, 1 example", "5"], corner="signs of training", digits=2
)

# %% [markdown]
# With five signs it is perfect on these five and poor on others: it has learned to recognise them, and has to find out only their names. Forty signs do a little better than many after one example, and worse after five. What never varies in training can be stored, and need not be found out.
#
# ## Waves
#
# Examples can also be numbers. Each episode is a wave $a \sin(x + p)$ with its own $a$ and $p$. A model of convolutions only ("CC" is two blocks of them) sees $x_t$, says how high the wave is there, and is then told the answer. How many points does it need to know the wave, which is drawn in grey?

# %%
torch.manual_seed(0)
waves = snail.Snail(2, 1, steps=11, blocks="CC")
losses = snail.fit_waves(waves, steps=400)
x, y = episodes.wave_episodes(1, drawn(8))


# %%
def guess(points):
    places = torch.linspace(-3, 3, 49)
    asked = torch.cat([x[:, :points].expand(49, -1), places[:, None]], 1)[..., None]
    told = snail.one_late(F.pad(y[:, :points].expand(49, -1), (0, 1))[..., None])
    with torch.no_grad():
        said = waves(torch.cat([asked, told], -1))[:, -1, 0]
    parts = torch.stack([x[0].sin(), x[0].cos()], -1)  # the wave is a sum of these two
    wave = torch.stack([places.sin(), places.cos()], -1) @ torch.linalg.lstsq(parts, y[0, :, None]).solution
    ax = plots.axes(width=5.5)
    ax.plot(places, wave, color="0.7", linewidth=5, label="wave")
    ax.plot(places, said, label="guess")
    ax.scatter(x[0, :points], y[0, :points], s=60, color="0.2", zorder=3, label="points told")
    ax.set(xlabel="x", ylabel="height", ylim=(-2.2, 2.2))
    ax.legend(loc="upper right")
    return f"After {points} points, the guess at x = 0 is {said[24]:.2f}."


wave_explorer = explore(guess, points=ipywidgets.IntSlider(value=2, min=0, max=10))
wave_explorer

# %% [markdown]
# Many waves go through a single point. Through two points there is hardly ever more than one, since it has two unknowns. The model has learned this only roughly. How do the halves do here, over five seeds? Always saying 0 has an error of 0.9.

# %%
rows = {}
for setup in halves:
    seen, runs = measured("waves", "error", "places", setup=setup)
    rows[setup] = [[run[seen.index(k)] for run in runs] for k in (0, 1, 2, 5, 10)]
table(rows, ["0 points", "1", "2", "5", "10"], corner="squared error", digits=2)

# %% [markdown]
# Here it is the other way round. The model with only convolutions has the smallest error, and the one with only attention learns nothing after the second point. Probably a wave is not found by looking up one point: each must be combined with others.
#
# ## Which arm?
#
# In the third kind of episode, the model has to explore. A slot machine has five arms, and each wins with its own, unknown chance. Known strategies prefer arms that they have seldom pulled (UCB1) or draw from what they believe (Thompson sampling). Our models learn by REINFORCE (lesson 14). How much can one win in ten pulls?

# %%
strategies = {
    "any arm": episodes.by_chance,
    "UCB1": episodes.ucb1,
    "Thompson": episodes.thompson,
    "greedy": episodes.greedy,
}
rows = {name: [episodes.play(strategy, 20_000, 0).mean().item()] for name, strategy in strategies.items()}
rows |= {setup: measured_once("bandit", "won", setup=setup) for setup in halves}
rows["the best possible"] = [episodes.best_possible()]
table(rows, ["won in ten pulls"], digits=2)

# %% [markdown]
# We know the best possible result here, since we have tried every course of events. UCB1 and Thompson sampling are made for longer games. Pulling the arm that one believes to be best, with the right arithmetic (greedy), comes close to the best. Our models had to find a way to play from wins only. On average, all are well above chance and above UCB1 and Thompson sampling, but none does as well as greedy.
#
# ## Does it see the answer?
#
# One mistake makes such a model look perfect: each name is put beside its own picture. Below, we train a model for 60 steps with this mistake. How could you notice it without reading the code?


# %%
def with_leak(pictures, labels):
    return torch.cat([pictures, F.one_hot(labels, 5).float()], -1)


torch.manual_seed(0)
leaking = snail.Snail(64 + 5, 5, steps=26)
losses = snail.fit_signs(leaking, steps=60, read=with_leak)
changed = unseen.labels.clone()
changed[:, 10] = (changed[:, 10] + 1) % 5  # another name at step 10
for name, one, read in (("right", model, snail.read_signs), ("leaking", leaking, with_leak)):
    named = snail.name_signs(one, unseen, read)
    other = snail.name_signs(one, unseen._replace(labels=changed), read)
    moved = (named != other).float().mean(0)[[9, 10, 11]]
    print(
        f"{name}: {snail.by_examples(named, unseen)[0]:.2f} right after one example; moved at 9, 10, 11: {moved}"
    )

# %% [markdown]
# The leaking model is always right, even on new signs, but what it says at step 10 changes with the name of step 10. What the right model says changes only later. If a result looks too good, change one label and see what moves.
#
# ## So: can it learn from five examples?
#
# Yes, if it has learned how from many tasks. After five examples of each new digit, it gets three names out of four right. Attention finds the examples, and convolutions or positions tie each to its name.
#
# ## Questions
#
# These five questions test the goals at the top. Run a cell to see its question, then replace the dots with a letter in quotes or a number.

# %%
check("19.q1", ...)

# %%
check("19.q2", ...)

# %%
check("19.q3", ...)

# %%
check("19.q4", ...)

# %%
check("19.q5", ...)

# %% [markdown]
# ## Recap
#
# - Can it learn from five examples? Yes, if it was trained on many tasks, and as far as these tasks varied.
# - A causal dilated convolution sees two steps; through dilations 1, 2, 4, ... the last step sees all steps.
# - Attention finds the example, and convolutions tie it to its name; positions can do this, too.
# - Change one label and see what moves: this shows whether a model sees the answers.
#
# **Exercises**: [open them](../exercises/19_snail_exercises.ipynb)
#
# **Next**: you have seen many kinds of attention. What will yours be? [Lesson 20](20_your_own_attention.ipynb) asks for it.
