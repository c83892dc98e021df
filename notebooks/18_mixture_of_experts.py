# %%
import ipywidgets
import torch
import torch.nn.functional as F

from course_utils import check, predict, reveal
from course_utils.data.measured import measured_once
from course_utils.data.regimes import LANGUAGES, WORDS, dictionaries, on_lines, written
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
# The input is the query, the rows of $W$ are the keys, and what the experts say are the values. (The mask closes nothing yet.) Two experts say 2 and 6, and the gate's scores are ln 3 and 0. What is the answer of the mixture?

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
# The first one costs 2, since the sum is 5. The second costs ln 2 = 0.69: one expert is right, and only its gate should grow. So under the second loss experts compete, and each learns most from what it already does best. We train three linear experts with each loss. What will their lines look like?

# %%
seen = on_lines(1000, drawn(1))
x = torch.linspace(-3, 3, 7)[:, None]
axes = plots.axes(2, width=4, height=3)
for ax, compete in zip(axes, (False, True), strict=True):
    torch.manual_seed(0)
    mixture = experts.Mixture(1, 1, experts=3)
    experts.fit(mixture, seen.x, seen.y, steps=1000, rate=3e-2, compete=compete)
    with torch.no_grad():
        said = mixture(x)
    lines = {f"expert {i + 1}": said.outputs[None, :, i, 0] for i in range(3)}
    plots.curves(x[:, 0], lines, "x", "y", "compete" if compete else "work together", ax)
    ax.scatter(points.x, points.y, s=6, color="0.6", zorder=0)
    ax.set(ylim=(-6, 6))

# %% [markdown]
# On the left, the experts work together, and their lines cross the points at odd angles: only the weighted sum follows them. On the right they compete, and each has made one piece its own. Over five seeds, here are the squared errors of the weighted sum, and of the expert with the largest gate when it answers by itself. (The noise in the points makes 0.01 of it.) Which experts can be asked one at a time?

# %%
names = ("error", "best_error", "largest_gate")
rows = {setup: measured_once("lines", *names, setup=setup) for setup in ("work together", "compete")}
table(rows, ["error of the sum", "error of the best expert", "mean of the largest gate"], digits=2)

# %% [markdown]
# Those that competed: their best expert is nearly as good as the sum. (One of the five runs divided the pieces badly, with an error of 0.2.) The others are good only together.
#
# ## What is not attended to does not change
#
# One of the oldest reasons for attention is to protect parts of a network from change. If the gate of an expert is exactly 0, this expert has no effect on the loss, so it gets no gradient. A softmax never gives exactly 0. So we keep only the $k$ best experts, and take the softmax over these (Shazeer et al. 2017). Scores are 1, 3 and 2, and $k$ = 2. Which gates come out?

# %% tags=["nbval-check-output"]
print(experts.top_k_gates(torch.tensor([[1.0, 3.0, 2.0]]), k=2))

# %% [markdown]
# The first expert gets 0, the others the softmax of 3 and 2. Our next world has digits in white on black and in black on white, and a linear expert can't read both. We train four of them to be right in the sum. The best two answer, with noise on the gate's scores, so that each gets a chance. How will they share the work?

# %%
white, black = written("white"), written("black")
both = torch.cat([white.x, black.x]), torch.cat([white.digit, black.digit])
torch.manual_seed(0)
mixture = experts.Mixture(64, 10, k=2, noise=2.0)
experts.fit(mixture, *both, steps=1000, rate=1e-2, compete=False, balance=0.1)
mixture.eval()
with torch.no_grad():
    rows = {
        f"{colour} digits": mixture(written(colour, "test").x).gates.mean(0) for colour in ("white", "black")
    }
table(rows, [f"expert {i + 1}" for i in range(4)], corner="mean gate", digits=2)

# %% [markdown]
# Nobody said which digits are white, and yet the gate has found out: two experts read white digits, one reads black ones, and one has no work. All zeros here are rounded.
#
# Now the rule for black digits changes: each label moves on by one, so a 3 should be called “four”. White digits keep their rule. Which experts get a gradient from black digits with their new labels, if the best two answer, and if only the best one does?

# %%
moved = (black.digit + 1) % 10
rows = {}
for k in (2, 1):
    mixture.k = k
    mixture.zero_grad()
    said = mixture(black.x)
    experts.loss_of(said, moved, compete=False).backward()
    norms = [expert.weight.grad.norm() for expert in mixture.experts]
    rows[f"best {k}: largest gate"] = [f"{gate:.1g}" for gate in said.gates.max(0).values]
    rows[f"best {k}: gradient"] = [f"{norm:.1g}" for norm in norms]
table(rows, [f"expert {i + 1}" for i in range(4)])

# %% [markdown]
# The black digits belong to expert 4. But its gate is a softmax over two scores, so the second best gets a little, and with it a gradient that is small but not zero. If only the best expert answers, the gates of the others are exactly 0, and so are their gradients.
#
# ## Does it forget less?
#
# We go on for 300 steps, with black digits and their new labels only. The gate stays as it is, so that we see what happens to the experts. White digits are no longer shown. Which of four networks will still read them, whether it learns by plain gradient steps (SGD) or by Adam?

# %% tags=["nbval-check-output"]
predict("18.forgetting", ...)

# %% tags=["reveals"]
print("Five seeds, before and after:")
reveal("18.forgetting", "best one")
columns = ["white before", "white, SGD", "white, Adam", "black, SGD", "black, Adam"]
names = ("white", "white_sgd", "white_adam", "black_sgd", "black_adam")
kinds = ("one network", "all four", "best two", "best one", "all four, gate free", "best two, gate free")
rows = {setup: measured_once("forgetting", *names, setup=setup) for setup in kinds}
table(rows, columns, corner="share of right answers", digits=2)

# %% [markdown]
# One network forgets. With plain gradient steps, a mixture forgets little or nothing. With Adam it forgets more than one network does, unless only the best one answers. (The gate of the “best one” would stay even if it were free: a softmax over a single score is always 1, and has no gradient.)
#
# Why does Adam change experts that are hardly attended to? Here is one step of both, with the same rate, from a gradient of 0.0001. How far do they go?

# %% tags=["nbval-check-output"]
for optimizer in (torch.optim.SGD, torch.optim.Adam):
    weight = torch.zeros(1, requires_grad=True)
    weight.grad = torch.tensor([0.0001])
    optimizer([weight], lr=0.01).step()
    print(f"{optimizer.__name__}: {weight.item():.6f}")

# %% [markdown]
# Adam divides a gradient by its usual size (lesson 13), so it makes a full step even of a tiny one. A gate near 0 does not protect from it; a gate of exactly 0 does.
#
# ## Who gets work?
#
# An expert that is favoured learns more and is favoured even more. In the end few do all the work: the experts **collapse**. Two losses help: the **importance loss** takes the sum $I_i$ of an expert's gates over a batch (Shazeer et al., equation 7), the **balance loss** the share $f_i$ of tokens it gets and its mean probability $P_i$ (Fedus et al. 2021, equation 4):
#
# $$\frac{\text{Var}(I)}{\text{mean}(I)^2} \qquad\text{and}\qquad N \sum_i f_i P_i$$
#
# Over a batch, two experts get gates that sum to 3 and 1. What is the importance loss?

# %% tags=["nbval-check-output"]
gates = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.5, 0.5], [0.5, 0.5]])
print(experts.importance_loss(gates))

# %% [markdown]
# The mean is 2, the variance 1, so it is 1/4. If all get the same, it is 0, and the balance loss is 1. We let eight experts read the digits, of which the best two answer, with the importance loss and with noise, or without. How many get work?

# %%
kinds = ("neither", "noise", "balance", "noise and balance")
rows = {setup: measured_once("collapse", "used", "busiest", "right", setup=setup) for setup in kinds}
table(rows, ["experts with work", "share of the busiest", "right answers"], corner="five seeds", digits=2)

# %% [markdown]
# With noise only, two of the eight do all the work, in every run. The importance loss brings work to all eight, but fewer answers are right, 0.84. With both, five have work, and as much is right as with two. So balance is not an end in itself: here two linear experts are enough.
#
# ## Experts in a Transformer
#
# In lesson 12, each token went through the same feed-forward network. A **switch** layer (Fedus et al. 2021) has $N$ of them and sends each token to the one with the largest probability $p_i$, whose output it multiplies by $p_i$. Why does it, if there is nothing to sum?

# %%
world = dictionaries(0)
given, wanted = world.batch(drawn(1), size=500)
torch.manual_seed(0)
translator = experts.Translator(LANGUAGES, WORDS, experts=8)
losses = experts.fit_translator(translator, world.batch, steps=1200)
translator.eval()
with torch.no_grad():
    found = (translator(given).argmax(-1) == wanted).float().mean()
print(f"right words with 8 experts: {found:.2f}")

# %% [markdown]
# Through this factor the gate gets its gradient, since choosing has none. The layer here learns to translate 64 words into 32 invented languages, of which one is named at the beginning of each sentence. Each word has another translation in each language, and all 2,048 have to be remembered. What share does the same layer get right with one feed-forward network, as large as one expert?

# %% tags=["nbval-check-output"]
predict("18.translators", ...)

# %% tags=["reveals"]
print("Five seeds:")
made = {"no experts": {}, "8 experts": {"experts": 8}, "8 times as wide": {"hidden": 256}}
rows = {}
for setup, sizes in made.items():
    sent = experts.Translator(LANGUAGES, WORDS, **sizes).layer.feed_forward
    numbers = sum(p.numel() for p in sent.parameters())
    work = 2 * 32 * sizes.get("hidden", 32) + 32 * sizes.get("experts", 0)
    rows[setup] = [*measured_once("translators", "right", "cpu_seconds", setup=setup), numbers, work]
reveal("18.translators", round(sum(rows["no experts"][0]) / 5, 2))
table(rows, ["right words", "CPU seconds", "numbers", "multiplications per token"], digits=2)

# %% [markdown]
# One small network knows about half of the words. Eight experts know most of them, for a tenth more multiplications per token, since each token meets one expert and the gate. One network that is eight times as wide knows more still, for eight times the work. So experts buy knowledge without work. They don't buy time here: on small batches, sorting the tokens takes longer than it saves.
#
# The gate was free to choose. What do you think each expert has learnt?

# %% tags=["nbval-check-output"]
predict("18.specialists", ...)

# %% tags=["reveals"]
reveal("18.specialists", "some of the words, in all languages")
words = LANGUAGES + torch.arange(WORDS).view(-1, 4)  # 16 4
sent = torch.zeros(LANGUAGES, WORDS, 8)
for language in range(LANGUAGES):
    with torch.no_grad():
        translator(torch.cat([torch.full((16, 1), language), words], 1))
    chosen = translator.layer.feed_forward.chosen.view(16, 5)[:, 1:].flatten()
    sent[language] = F.one_hot(chosen, 8)
by_language, by_word = sent.mean(1), sent.mean(0)
print(f"share of the busiest expert: {by_language.max(-1).values.mean():.2f} in a language,")
print(f"{by_word.max(-1).values.mean():.2f} for a word")

# %% [markdown]
# A language goes to all experts, but nearly nine tenths of a word's tokens go to a single one. Move the slider to see more of them. Is there a word that several experts share?


# %%
def sent_to(first):
    axes = plots.axes(2, width=4.2, height=3.6)
    shown = range(first, first + 8)
    for ax, shares, kind in zip(axes, (by_language, by_word), ("language", "word"), strict=True):
        names = [f"{kind} {number}" for number in shown]
        plots.weights(shares[list(shown)], range(1, 9), names, f"by {kind}", ax, xlabel="expert", ylabel="")
    return f"Word {first} goes to expert {int(by_word[first].argmax()) + 1} in {by_word[first].max():.2f} of the languages."


expert_explorer = explore(sent_to, first=ipywidgets.IntSlider(value=0, min=0, max=LANGUAGES - 8))
expert_explorer

# %% [markdown]
# On the left each language is spread over all experts, on the right most words have one. A gate divides the work as learning finds it easiest. (In large models, the first and last layers divide it by language, those between them do not; Bandarkar et al. 2025.)
#
# ## Capacity
#
# An expert on its own device has room for so many tokens of a batch: its **capacity**. Later tokens are dropped: they only pass through the residual connection. If four tokens choose the experts 0, 0, 1 and 0, and the capacity is 2, the last one is dropped. What does it cost in training if the capacity is 1.5 times the fair share, or exactly the fair share?

# %%
kinds = ("8 experts", "8 experts, no balance", "8 experts, capacity 1.5", "8 experts, capacity 1")
names = ("right", "most_used", "least_used", "dropped")
rows = {setup: measured_once("translators", *names, setup=setup) for setup in kinds}
table(rows, ["right words", "busiest expert", "least busy", "tokens dropped"], corner="five seeds", digits=2)

# %% [markdown]
# With 1.5 times the fair share hardly a token is dropped, with the fair share a tenth, and fewer words are right. Without the balance loss, the experts do not collapse here.
#
# ## So: who should answer?
#
# Whoever the gate attends to. It is attention over networks, and learns with them who is good at what. If only the best answer, more can be known for the same work, and the others stay as they were. But a gate left to itself may give all the work to a few.
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
# - Who should answer? A gate learns it: attention over networks, called experts.
# - Experts that compete can answer one at a time. Experts that work together are good only together.
# - An expert with a gate of exactly 0 does not change. One with a gate near 0 changes under Adam.
# - Without balance, a few experts may do all the work; with it, all get some, which is not always better.
# - A layer of experts knows more at equal work per token. What each of them learns is up to the gate.
#
# **Exercises**: [open them](../exercises/18_mixture_of_experts.ipynb)
#
# **Next**: all these networks need many examples. Can one learn from five? Lesson 19 answers this; it is still being written.
