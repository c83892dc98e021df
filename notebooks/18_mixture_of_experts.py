# %%
import ipywidgets
import torch

from course_utils import check, predict, reveal
from course_utils.data.measured import measured
from course_utils.data.regimes import ENDS, LANGUAGES, WORDS, dictionaries, on_lines, written
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table
from course_utils.figures.widgets import explore
from course_utils.models import experts

torch.set_printoptions(precision=3, sci_mode=False)


def drawn(seed):
    return torch.Generator().manual_seed(seed)


# %% [markdown]
# ## Different inputs, different rules
#
# In lesson 17 one network used many places of a memory. Now there are several networks, and for each input something has to decide who answers. Here are points that follow different rules in different places. How many networks would you use, if each can draw one straight line?

# %%
points = on_lines(300, drawn(0))
plots.scatter(points.x[:, 0], points.y[:, 0], "x", "y")

# %% [markdown]
# Three, one for each piece. But nobody tells us where one piece ends and the next begins. So a **gate** has to learn who should answer, together with the networks, which are called **experts** (Jacobs et al. 1991).
#
# ## A gate is attention over networks
#
# The experts $f_i$ all read the same input $x$, and the gate gives each of them a weight:
#
# $$y = \sum_i g_i\, f_i(x) \qquad g = \text{softmax}(W x)$$
#
# Where are the query, the keys and the values?

# %%
diagrams.attention(
    "input: *x*", "rows of *W*", "outputs: *f*_i (*x*)", "dot", then="answer", title="A mixture of experts"
)

# %% [markdown]
# The input is the query, the rows of $W$ are the keys, and what the experts say are the values. (The mask closes nothing yet.) Two experts say 2 and 6, and the gate's scores are ln 3 and 0. What is the answer?

# %% tags=["nbval-check-output"]
gates = torch.tensor([[3.0, 1.0]]).log().softmax(-1)
said = torch.tensor([[[2.0], [6.0]]])  # B N E
print("gates:", gates, " answer:", experts.mix(said, gates))

# %% [markdown]
# The gates are 3/4 and 1/4, so it is 1.5 + 1.5 = 3.
#
# ## Compete, or work together?
#
# What should training ask for? That the *sum* be right, or that *some expert* be right by itself:
#
# $$\tfrac{1}{2} \Big\| t - \sum_i g_i f_i \Big\|^2 \qquad\text{or}\qquad -\log \sum_i g_i\, e^{-\frac{1}{2} \| t - f_i \|^2}$$
#
# (The second is equation 1.3 of Jacobs et al.) The target is 3, two experts say 3 and 7, and both gates are 1/2. Which of the two losses is content with this?

# %% tags=["nbval-check-output"]
said, target, half = torch.tensor([[[3.0], [7.0]]]), torch.tensor([[3.0]]), torch.tensor([[0.5, 0.5]])
print("sum:   ", (experts.mix(said, half) - target).square().sum() / 2)
print("expert:", experts.mixture_loss(said, half, target))

# %% [markdown]
# The first one costs 2, since the sum is 5. The second costs ln 2 = 0.69: one expert is right, and only its gate should grow. So under the second loss experts compete, and each learns most where it is already best. We train three linear experts with each loss. What will their lines look like?

# %%
seen = on_lines(1000, drawn(1))
x = torch.linspace(-3, 3, 121)[:, None]
axes = plots.axes(2, width=4, height=3)
for ax, compete in zip(axes, (False, True), strict=True):
    torch.manual_seed(0)
    mixture = experts.Mixture(1, 1, experts=3)
    experts.fit(mixture, seen.x, seen.y, steps=1000, rate=3e-2, compete=compete)
    with torch.no_grad():
        said = mixture(x)
    lines = {f"expert {i + 1}": said.outputs[None, :, i, 0] for i in range(3)}
    plots.curves(x[:, 0], lines, "x", "y", "compete" if compete else "work together", ax)
    ax.set(ylim=(-6, 6))

# %% [markdown]
# TEXT
#
# Over five seeds, here are the squared errors of the weighted sum and of the expert with the largest gate when it answers by itself. (The noise in the points alone makes 0.01.) Which loss makes experts that know their part?

# %%
rows = {}
for setup in ("work together", "compete"):
    names = ("error", "best_error", "largest_gate")
    rows[setup] = [[run[0] for run in measured("lines", name, "steps", setup=setup)[1]] for name in names]
table(rows, ["error of the sum", "error of the best expert", "mean of the largest gate"], digits=2)

# %% [markdown]
# TEXT
#
# ## What is not attended to does not change
#
# One of the oldest reasons for attention is to protect parts of a network from change. If the gate of an expert is exactly 0, this expert has no effect on the loss, so it gets no gradient. A softmax never gives exactly 0. So we keep only the $k$ best experts, and take the softmax over these (Shazeer et al. 2017). Scores are 1, 3 and 2, and $k$ = 2. Which gates come out?

# %% tags=["nbval-check-output"]
print(experts.top_k_gates(torch.tensor([[1.0, 3.0, 2.0]]), k=2))

# %% [markdown]
# The first expert gets 0, the others the softmax of 3 and 2. Our next world has digits in white on black and in black on white. A linear expert can't read both. We train four of them, of which the best two answer, with noise on the gate's scores so that each gets a chance. Which experts get a gradient from black digits?

# %%
white, black = written("white"), written("black")
torch.manual_seed(0)
mixture = experts.Mixture(64, 10, k=2, noise=1.0)
both = torch.cat([white.x, black.x]), torch.cat([white.digit, black.digit])
experts.fit(mixture, *both, steps=1000, rate=1e-2, balance=0.1)
mixture.eval()
rows = {}
for name, digits in (("white", written("white", "test")), ("black", written("black", "test"))):
    mixture.zero_grad()
    said = mixture(digits.x)
    experts.loss_of(said, digits.digit).backward()
    norms = [expert.weight.grad.norm().item() for expert in mixture.experts]
    rows[f"gates, {name} digits"] = said.gates.mean(0).tolist()
    rows[f"gradients, {name} digits"] = norms
table(rows, [f"expert {i + 1}" for i in range(4)], digits=3)

# %% [markdown]
# TEXT
#
# ## Does it forget less?
#
# Now the rule for black digits changes: each label moves on by one, so a 3 should be called “four”. We train for 300 steps more, with black digits only. White digits have kept their rule, but are no longer shown. A single network had 0.91 of them right before. How many will it, and the mixture, still get right afterwards?

# %% tags=["nbval-check-output"]
predict("18.forgetting", ...)

# %% tags=["reveals"]
print("White digits, before and after, and black ones with their new labels:")
reveal("18.forgetting", "TEXT")
rows = {}
for setup in ("one network", "all four", "best two", "all four, gate kept", "best two, gate kept"):
    names = ("white", "white_after", "black_after")
    rows[setup] = [[run[0] for run in measured("forgetting", name, "steps", setup=setup)[1]] for name in names]
table(rows, ["white before", "white after", "black after"], corner="right answers, five seeds", digits=2)

# %% [markdown]
# TEXT
#
# ## Who gets work?
#
# A gate that favours an expert lets it learn more, so that it becomes better and is favoured even more. In the end a few do all the work: the experts **collapse**. Two losses work against it. The **importance loss** takes each expert's gates over a batch, $I_i$ (Shazeer et al., equation 7); the **balance loss** the share $f_i$ of tokens sent to an expert and its mean probability $P_i$ (Fedus et al. 2021, equation 4):
#
# $$\frac{\text{Var}(I)}{\text{mean}(I)^2} \qquad\text{and}\qquad N \sum_i f_i P_i$$
#
# Over a batch, two experts get gates that sum to 3 and 1. How large is the importance loss?

# %% tags=["nbval-check-output"]
gates = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.5, 0.5], [0.5, 0.5]])
print(experts.importance_loss(gates))

# %% [markdown]
# The mean is 2, the variance 1, so it is 1/4. If all get the same, it is 0. The balance loss is 1 then.
#
# ## Experts in a Transformer
#
# In lesson 12, each token went through the same feed-forward network. A **switch** layer has $N$ of them and sends each token to the one with the largest probability $p_i$, whose output it multiplies by $p_i$. Why this factor, if there is nothing to sum?

# %%
world = dictionaries(0)
given, wanted = world.batch(drawn(1), size=500)
torch.manual_seed(0)
translator = experts.Translator(LANGUAGES, WORDS, experts=8)
losses = experts.fit_translator(translator, world.batch, steps=1200)
with torch.no_grad():
    found = (translator(given).argmax(-1) == wanted).float().mean()
print(f"right words with 8 experts: {found:.2f}")

# %% [markdown]
# Through this factor the gate gets its gradient: choosing has none. (That is why “best one” with a softmax over a single score learns nothing about whom to choose.) The layer here learns to translate 64 words into 32 invented languages, named at the beginning of each sentence, and that is a lot to remember. What share does the same layer get right with one feed-forward network of an expert's size?

# %% tags=["nbval-check-output"]
predict("18.translators", ...)

# %% tags=["reveals"]
print("Five seeds:")
columns = ["right words", "most used expert", "least used", "tokens dropped", "CPU seconds"]
rows, names = {}, ("right", "most_used", "least_used", "dropped", "cpu_seconds")
kinds = ("no experts", "8 times as wide", "8 experts", "8 experts, no balance", "8 experts, capacity 1.5", "8 experts, capacity 1")
for setup in kinds:
    rows[setup] = [[run[0] for run in measured("translators", name, "steps", setup=setup)[1]] for name in names]
reveal("18.translators", round(sum(rows["no experts"][0]) / 5, 2))
table(rows, columns, digits=2)

# %% [markdown]
# TEXT
#
# Which languages go to which expert? Move the slider to see some of them.


# %%
def sent_to(first):
    shown = list(range(first, first + 8))
    shares = torch.zeros(8, 8)
    for row, language in enumerate(shown):
        words = LANGUAGES + torch.arange(WORDS).view(-1, 4)  # 16 4
        with torch.no_grad():
            translator(torch.cat([torch.full((len(words), 1), language), words], 1))
        chosen = translator.layer.feed_forward.chosen.view(len(words), -1)[:, 1:].flatten()
        shares[row] = torch.bincount(chosen, minlength=8) / len(chosen)
    ax = plots.axes(width=4.2, height=3.6)
    names = [f"language {language}" for language in shown]
    plots.weights(shares, range(1, 9), names, "share of words sent to each expert", ax, xlabel="expert", ylabel="")
    return f"Of the words in {names[0]}, {shares[0].max():.2f} go to expert {int(shares[0].argmax()) + 1}."


expert_explorer = explore(sent_to, first=ipywidgets.IntSlider(value=0, min=0, max=LANGUAGES - 8))
expert_explorer

# %% [markdown]
# TEXT
#
# ## Capacity
#
# On many devices, each expert has room for so many tokens of a batch: its **capacity**. Tokens that come too late are dropped: they pass through the residual connection only. Four tokens choose the experts 0, 0, 1 and 0, and the capacity is 2. Which one is dropped?

# %% tags=["nbval-check-output"]
print(experts.within_capacity(torch.tensor([0, 0, 1, 0]), experts=2, capacity=2))

# %% [markdown]
# The last one. TEXT
#
# ## So: who should answer?
#
# TEXT
#
# ## Questions
#
# These five questions test the goals at the top. Run a cell to see its question, then replace the dots with a letter in quotes or a number.

# %%
check("18.q1", ...)

# %%
check("18.q2", ...)

# %%
check("18.q3", ...)

# %%
check("18.q4", ...)

# %%
check("18.q5", ...)

# %% [markdown]
# ## Recap
#
# - Who should answer? A gate learns it, with attention over networks.
# - TEXT
#
# **Exercises**: [open them](../exercises/18_mixture_of_experts.ipynb)
#
# **Next**: all these networks need many examples. Can one learn from five? Lesson 19 answers this; it is still being written.
