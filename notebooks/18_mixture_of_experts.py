# %%
import ipywidgets
import torch
import torch.nn.functional as F
from torch import nn

from course_utils import check, predict, reveal
from course_utils.data.measured import measured_once
from course_utils.data.regimes import LANGUAGES, WORDS, dictionaries, on_lines, written
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table
from course_utils.figures.widgets import explore
from course_utils.models import experts
from course_utils.models.learn import learn

torch.set_printoptions(precision=3, sci_mode=False)


def drawn(seed):
    return torch.Generator().manual_seed(seed)


# %% [markdown]
# ## Different inputs, different rules
#
# In lesson 17 one network used many positions of a memory. Now there are several networks, and for each input something has to decide which of them answers. Here are points that follow a different rule in each of several ranges of x. How many networks would you use, if each can draw one straight line?

# %%
points = on_lines(300, drawn(0))
plots.scatter(points.x[:, 0], points.y[:, 0], "x", "y")

# %% [markdown]
# The points lie on three straight pieces, so three networks are enough. But nobody tells us where one piece ends and the next begins. So a **gate** has to learn who should answer, while the networks, called **experts**, learn what to answer (Jacobs et al. 1991).
#
# ## A gate is attention over networks
#
# The experts $E_i$ all read the same input $x$, and the gate gives each of them a weight:
#
# $$y = \sum_i g_i\, E_i(x) \qquad g = \text{softmax}(W x + b)$$
#
# Where are the query, the keys and the values?


# %% tags=["nbval-check-output"]
class Mixture(nn.Module):
    def __init__(self, D, E, N):  # width of an input, width of an answer, number of experts
        super().__init__()
        self.gate, self.experts = nn.Linear(D, N), nn.ModuleList(nn.Linear(D, E) for _ in range(N))

    def forward(self, x):  # B D
        outputs = torch.stack([expert(x) for expert in self.experts], 1)  # B N E
        return outputs, self.gate(x).softmax(-1)  # B N E, B N


def mix(outputs, gates):
    return (gates[..., None] * outputs).sum(1)  # B E


mixture, shipped, x = Mixture(2, 3, N=4), experts.Mixture(2, 3, experts=4), torch.randn(5, 2)
shipped.load_state_dict(mixture.state_dict())
same = torch.allclose(mix(*mixture(x)), experts.mix(*shipped(x)), atol=1e-6)
print("the package's mixture agrees:", same)
diagrams.attention(
    "input: *x*", "rows of *W*", "outputs: *E*_i (*x*)", "dot", then="answer", title="A mixture of experts"
)

# %% [markdown]
# The input is the query, the rows of $W$ are the keys, and the outputs of the experts are the values. (The mask hides nothing yet.) Suppose two experts answer 2 and 6, and the gate's scores are ln 3 and 0. What does the mixture answer?

# %% tags=["nbval-check-output"]
gates = torch.tensor([[3.0, 1.0]]).log().softmax(-1)
outputs = torch.tensor([[[2.0], [6.0]]])  # B N E
print("gates:", gates, " answer:", mix(outputs, gates))

# %% [markdown]
# The gates are 3/4 and 1/4, so the answer is 1.5 + 1.5 = 3.
#
# ## Compete, or work together?
#
# Should training ask that the *sum* be right, or that *some expert* be right by itself?
#
# $$\tfrac{1}{2} \Big\| t - \sum_i g_i E_i \Big\|^2 \qquad\text{or}\qquad -\log \sum_i g_i\, e^{-\frac{1}{2} \| t - E_i \|^2}$$
#
# (The second is equation 1.3 of Jacobs et al.) The target is 3, two experts answer 3 and 7, and both gates are 1/2. Which of the two losses asks the first expert to change?

# %% tags=["nbval-check-output"]
outputs, target = torch.tensor([[[3.0], [7.0]]], requires_grad=True), torch.tensor([[3.0]])
half = torch.tensor([[0.5, 0.5]])
losses = {"sum": (mix(outputs, half) - target).square().sum() / 2}
losses["expert"] = experts.mixture_loss(outputs, half, target)
for name, loss in losses.items():
    (gradient,) = torch.autograd.grad(loss, outputs)  # B N E
    print(
        f"{name:7} loss {loss.item():.2f}, gradient of the two answers {gradient.flatten().tolist()[0]:.2f}",
        end="",
    )
    print(f" and {gradient.flatten().tolist()[1]:.2f}")

# %% [markdown]
# The first loss does: the weighted sum is 5, so both experts should answer less. Under the second, the first expert is right and stays as it is. So experts compete there, and each learns most where it is already best. We train three linear experts with each loss. What will their lines look like?

# %%
seen, trained = on_lines(1000, drawn(1)), {}
x = torch.linspace(-3, 3, 25)[:, None]
for ax, name in zip(plots.axes(2, width=4, height=3), ("work together", "compete"), strict=True):
    torch.manual_seed(0)
    trained[name] = experts.Mixture(1, 1, experts=3)
    experts.fit(trained[name], seen.x, seen.y, steps=1000, rate=3e-2, compete=name == "compete")
    with torch.no_grad():
        outputs, gates = trained[name](x)
    lines = {f"expert {i + 1}": outputs[None, :, i, 0] for i in range(3)}
    lines["weighted sum"] = mix(outputs, gates)[None, :, 0]
    plots.curves(x[:, 0], lines, "x", "y", name, ax, legend="upper left")
    ax.scatter(points.x, points.y, s=6, color="0.6", zorder=0)
    ax.set(ylim=(-5, 13))

# %% [markdown]
# On the left, the experts work together: their lines cross the points at odd angles, and only the weighted sum follows the points. On the right they compete, and each has made one piece its own.
#
# Is one loss better? Here are the squared errors of 20 runs with each, of which noise in the points accounts for 0.01. The best expert is the one with the largest gate, answering by itself. The last row compares runs with the same seed. Does the mean tell the same story as the median?

# %%
errors = {
    name: torch.tensor(measured_once("lines", "error", "best_error", setup=name)) for name in trained
}  # 2 S
errors["compete minus together"] = errors["compete"] - errors["work together"]
rows = {}
for name, (of_sum, of_best) in errors.items():
    rows[name] = [of_sum.median(), of_sum.mean(), of_sum.min(), of_sum.max(), of_best.median()]
better = (errors["compete minus together"][0] < 0).sum()
print(f"The sum of competing experts has the smaller error in {better} of {len(of_sum)} runs.")
table(
    rows,
    ["median", "mean", "lowest", "highest", "median of the best expert"],
    corner="squared error",
    digits=3,
)

# %% [markdown]
# XXX
#
# ## What is not attended to does not change
#
# Such gates were also meant to protect parts of a network from change. If the gate of an expert is exactly 0, this expert has no effect on the loss, so it gets no gradient. A softmax never gives exactly 0. So we keep only the $k$ largest scores, and take the softmax over these (Shazeer et al. 2017). With scores of 1, 3 and 2, and $k$ = 2, which gates come out?

# %% tags=["nbval-check-output"]
scores = torch.tensor([[1.0, 3.0, 2.0]])  # B N
kept = torch.zeros(1, 3, dtype=torch.bool).scatter(1, scores.topk(2).indices, True)  # B N
print(scores.masked_fill(~kept, -torch.inf).softmax(-1))

# %% [markdown]
# The first expert gets 0, the others the softmax of 3 and 2. Our next world has digits in white on black and in black on white, and a linear expert can't read both well. We train four so that their weighted sum is right, and the best two answer. (As in that paper there is a loss for balance, explained below, and noise on the gate's scores. The paper learns the noise's size for each input and expert; ours has a standard deviation of 2.) How will they share the work?

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
# Nobody said which digits are white, and yet the gate has found out: no expert gets much of both. One has no work.
#
# Now the rule for black digits changes: each label moves on by one, so a 3 should be called “four”. White digits keep their rule. Which experts get a gradient from black digits with their new labels, if the best two answer, and if only the best one does?

# %%
moved = (black.digit + 1) % 10
rows = {}
for k in (2, 1):
    mixture.k = k
    mixture.zero_grad()
    answered = mixture(black.x)
    experts.loss_of(answered, moved, compete=False).backward()
    norms = [expert.weight.grad.norm() for expert in mixture.experts]
    rows[f"best {k}: largest gate"] = [f"{gate:.1g}" for gate in answered.gates.max(0).values]
    rows[f"best {k}: gradient"] = [f"{norm:.1g}" for norm in norms]
table(rows, [f"expert {i + 1}" for i in range(4)])

# %% [markdown]
# The black digits belong to expert 4. But the second best gets a gate above 0, and with it a small gradient. If only the best expert answers, the gates of the others are exactly 0, and so are their gradients.
#
# ## Does it forget less?
#
# For 300 more steps there are only black digits, with their new labels. Four networks learn them: one with a hidden layer; a mixture in which all four experts answer; one in which the best two do; and this last one again, with only its best expert answering from now on. The gate stays fixed unless it is called free. Which will still read white digits, both with plain gradient steps (SGD) and with Adam?

# %% tags=["nbval-check-output"]
predict("18.forgetting", ...)

# %% tags=["reveals"]
print("Five seeds. Forgotten: the share of white digits read before, minus that read afterwards.")
kinds = ("one network", "all four", "best two", "best one", "all four, gate free", "best two, gate free")
names, rows = ("white", "white_sgd", "white_adam", "black_adam"), {}
for setup in kinds:
    before, by_sgd, by_adam, new = torch.tensor(measured_once("forgetting", *names, setup=setup))
    rows[setup] = [before - by_sgd, before - by_adam, new]
for row in rows.values():
    row.insert(2, row[1] - rows["one network"][1])  # seed by seed
reveal("18.forgetting", "best one")
columns = ["forgotten, SGD", "forgotten, Adam", "more than one network does", "new labels right, Adam"]
table(rows, columns, corner="mean [lowest to highest]", digits=2)

# %% [markdown]
# With Adam and a fixed gate, all four and the best two forget more than the one network with every seed. With a free gate some seeds forget more and some less. If only the best expert answers, nothing is forgotten, though the new labels are learned less well than by the one network. (That one is larger: it has 4,810 parameters, the mixture 2,860.)
#
# Why does Adam change experts that are hardly attended to? Here is one step of SGD and one of Adam, with the same learning rate and a gradient of 0.0001. How far does each go?

# %% tags=["nbval-check-output"]
for optimizer in (torch.optim.SGD, torch.optim.Adam):
    weight = torch.zeros(1, requires_grad=True)
    weight.grad = torch.tensor([0.0001])
    optimizer([weight], lr=0.01).step()
    print(f"{optimizer.__name__}: {weight.item():.6f}")

# %% [markdown]
# Adam divides a gradient by its usual size (lesson 13), so even a very small one makes a full step. A gate of exactly 0 protects an expert from this, if Adam remembers no earlier gradients.
#
# ## One expert for each token
#
# A **switch** (Fedus et al. 2021) asks a single expert, the one with the largest probability $p_i$. On a device of its own, an expert has room for a limited number of tokens of a batch, its **capacity**. In this batch each token goes to one of three experts, which have room for two each. Which token finds no room, and which one would have gone elsewhere without the noise?

# %%
scores = torch.tensor(
    [[2.0, 0.5, 0.0], [1.5, 0.0, 1.0], [1.8, 0.2, 0.4], [1.2, 1.0, 0.1], [0.3, 1.9, 0.2], [0.1, 0.0, 2.0]]
)
noise = torch.tensor(
    [
        [0.1, 0.0, -0.2],
        [0.0, 0.3, -0.1],
        [0.2, 0.1, 0.0],
        [-0.3, 0.4, 0.0],
        [0.1, -0.2, 0.0],
        [0.0, 0.1, -0.1],
    ]
)
p = (scores + noise).softmax(-1)  # B N
gate, chosen = p.max(-1)  # B, B
kept = experts.within_capacity(chosen, 3, capacity=2)  # B
f = F.one_hot(chosen, 3).float().mean(0)  # N: the share of the tokens that each expert gets
loss = 3 * (f * p.mean(0)).sum()
diagrams.routing(scores, noise, gate, chosen, kept, 2, loss)

# %% [markdown]
# Token 3 comes as the third to expert 1 and is dropped; token 4 prefers expert 2 only because of the noise. Below is the **balance loss** of that paper (equation 4). The share $f_i$ of the tokens that an expert gets is a count and passes no gradient, so the loss lowers the mean probability $P_i$ of those that get many:
#
# $$N \sum_i f_i P_i \qquad\quad y = p_i(x)\, E_i(x) \quad\text{with } i = \arg\max_j\, p_j(x)$$
#
# The loss is 1 if all experts get the same. Why is the output multiplied by $p_i$, although there is nothing to sum?


# %% tags=["nbval-check-output"]
class Switch(nn.Module):
    def __init__(self, D, N):  # width of a token, number of experts
        super().__init__()
        self.gate, self.experts = nn.Linear(D, N), nn.ModuleList(nn.Linear(D, D) for _ in range(N))

    def forward(self, x):  # B D
        p = self.gate(x).softmax(-1)  # B N
        best, chosen = p.max(-1)  # B, B
        y = torch.zeros_like(x)  # B D
        for i, expert in enumerate(self.experts):
            sent = chosen == i  # B
            y[sent] = best[sent, None] * expert(x[sent])
        return y, p, chosen


def balance_loss(p, chosen):
    N = p.shape[1]
    f = F.one_hot(chosen, N).float().mean(0)  # N
    return N * (f * p.mean(0)).sum()


model, x = Switch(4, 3), torch.randn(10, 4)
shipped = experts.ExpertsLayer(4, [nn.Linear(4, 4) for _ in range(3)], bias=True)
shipped.load_state_dict(model.state_dict())
y, p, chosen = model(x)
same = torch.allclose(y, shipped(x[None])[0], atol=1e-6) and torch.allclose(
    balance_loss(p, chosen), shipped.balance
)
print("the package's layer agrees:", same)

# %% [markdown]
# The gate gets its gradient through this factor, since choosing passes none.
#
# ## Take the balance loss out
#
# In a world with eight languages, each of 64 words has its own translation in each language. A linear expert can learn one language exactly, and there are eight experts. First we train with the balance loss. How many experts will a language go to?

# %%
world = dictionaries(0, languages=8)
D = 8 + WORDS  # an input marks a language and a word, an output scores all of these


def batch(draw, size=64):
    given, wanted = world.batch(draw, size, said=1)  # B 2, B 1
    return F.one_hot(given, D).sum(1).float(), 8 + wanted[:, 0], given[:, 0]  # B D, B, B


def train(weight, seed=0):
    torch.manual_seed(seed)
    model = Switch(D, 8)

    def loss_of_batch(draw):
        x, translation, _ = batch(draw)
        y, p, chosen = model(x)
        return F.cross_entropy(y, translation) + weight * balance_loss(p, chosen)

    learn(model, loss_of_batch, seed, steps=700, rate=0.015)
    return model


# %%
@torch.no_grad()
def show(model, title, ax=None):
    x, translation, language = batch(drawn(1), size=4000)
    y, _, chosen = model(x)
    shares = torch.stack([F.one_hot(chosen[language == i], 8).float().mean(0) for i in range(8)])  # L N
    used, right = (shares.mean(0) > 0.01).sum(), (y.argmax(-1) == translation).float().mean().item()
    print(f"{title}: {used} of 8 experts have work, {right:.2f} of the words are right")
    plots.weights(shares, range(1, 9), range(1, 9), title, ax, xlabel="expert", ylabel="language")
    return right


balanced = train(weight=0.1)
untrained, after = plots.axes(2, width=4.2, height=3.6)
torch.manual_seed(0)
show(Switch(D, 8), "before training", untrained)
_ = show(balanced, "with the balance loss", after)

# %% [markdown]
# Most languages have found an expert or two of their own. Now you take the balance loss out: its weight becomes 0, and all else stays. What share of the words will be right?

# %%
weight, seed = 0.0, 0  # afterwards try 0.001, 10.0, or another seed
predict("18.without_balance", ...)

# %% tags=["reveals"]
print("The same training with another weight of the balance loss:")
reveal(
    "18.without_balance", round(show(left_alone := train(weight, seed), f"balance loss times {weight}"), 2)
)

# %% [markdown]
# Now a few experts do all the work: they have **collapsed**. All eight had work before training. But only experts that are asked learn, and those that have learned are asked again. Each of these has to know several languages, which is more than a linear expert can.
#
# Here are five seeds. Besides the loss and nothing we measured noise on the gate's scores, and **offsets**, of which more below. What did noise by itself do?

# %%
weights = ("balance loss", "nothing", "noise", "offsets")
found = {
    setup: torch.tensor(measured_once("balance", "used", "busiest", "right", setup=setup))
    for setup in weights
}
rows = {setup: [*runs, runs[2] - found["nothing"][2]] for setup, runs in found.items()}
columns = ["experts with work", "share of the busiest", "right words", "more than with nothing"]
table(rows, columns, corner="balanced by", digits=2)

# %% [markdown]
# With every seed the balance loss is worth about half of the words. Noise is meant to give each expert a chance, but here it leaves work for one alone, or nearly so. (Its standard deviation was 1 for all.)
#
# ## Experts in a Transformer
#
# In lesson 12, each token went through the same feed-forward network. A switch with $N$ such networks can take its place. This layer learns 32 languages, named at the beginning of a sentence, so there are 2,048 translations to remember. What share would it get right with a single feed-forward network, as large as one expert?

# %%
world = dictionaries(0)
given, wanted = world.batch(drawn(1), size=500)
torch.manual_seed(0)
translator = experts.Translator(LANGUAGES, WORDS, experts=8)
losses = experts.fit_translator(translator, world.batch, steps=700, rate=8e-3)
translator.eval()
with torch.no_grad():
    found = (translator(given).argmax(-1) == wanted).float().mean()
print(f"right words with 8 experts: {found:.2f}")
predict("18.translators", ...)

# %% tags=["reveals"]
print("Five seeds:")
made = {"no experts": {}, "8 experts": {"experts": 8}, "8 times as wide": {"hidden": 256}}
rows = {}
for setup, sizes in made.items():
    parameters = sum(
        p.numel() for p in experts.Translator(LANGUAGES, WORDS, **sizes).layer.feed_forward.parameters()
    )
    work = 2 * 32 * sizes.get("hidden", 32) + 32 * sizes.get("experts", 0)
    right, seconds = torch.tensor(measured_once("translators", "right", "cpu_seconds", setup=setup))
    rows[setup] = [right, seconds, parameters, work]
small = rows["no experts"][0]
for row in rows.values():
    row.insert(1, row[0] - small)  # seed by seed
reveal("18.translators", round(small.mean().item(), 2))
columns = ["right words", "more than no experts", "CPU seconds", "parameters", "multiplications per token"]
table(rows, columns, digits=2)

# %% [markdown]
# One small network knows about half of the words. Eight experts know most of them, for an eighth more multiplications per token, since each token meets one expert and the gate. One network that is eight times as wide knows more still, for eight times the work. So experts add knowledge for little more work per token. They save no time here, where batches are small and each expert is called by itself.
#
# The gate was free to choose. What do you think each expert has learned?

# %% tags=["nbval-check-output"]
predict("18.specialists", ...)

# %% tags=["reveals"]
reveal("18.specialists", "some of the words, in all languages")
shares = F.one_hot(experts.sent(translator, LANGUAGES, WORDS), 8).float()  # L W N
by_language, by_word = shares.mean(1), shares.mean(0)
rows = {"this run": [one.max(-1).values.mean().item() for one in (by_language, by_word)]}
rows["five runs"] = measured_once("translators", "by_language", "by_word", setup="8 experts")
table(rows, ["in a language", "for a word"], corner="share of the busiest expert", digits=2)

# %% [markdown]
# A language goes to all experts, but a word goes to the same expert in most languages: in four fifths of them here, in nearly nine tenths in the five runs, which took 1,200 steps instead of 700. Is there a word that several experts share? Move the slider to find one.


# %%
def sent_to(first):
    axes = plots.axes(2, width=4.2, height=3.6)
    for ax, shares, kind, number in zip(
        axes, (by_language, by_word), ("language", "word"), (first * 3 // 7, first), strict=True
    ):
        names = [f"{kind} {place}" for place in range(number, number + 8)]
        plots.weights(
            shares[number : number + 8], range(1, 9), names, f"by {kind}", ax, xlabel="expert", ylabel=""
        )
    return f"Word {first} goes to expert {int(by_word[first].argmax()) + 1} in {by_word[first].max():.2f} of the languages."


expert_explorer = explore(sent_to, first=ipywidgets.IntSlider(value=0, min=0, max=WORDS - 8))
expert_explorer

# %% [markdown]
# On the left each language is spread over all experts, on the right most words have one, and some are shared. (In large models, early and late layers choose experts by language, those in the middle much less; Bandarkar et al. 2025.)
#
# What does it cost to leave out the balance loss here, or to train with a capacity of 1.5 fair shares (tokens divided by experts), or of one? Tokens that are dropped only pass through the residual connection.

# %%
kinds = ("8 experts", "8 experts, no balance", "8 experts, capacity 1.5", "8 experts, capacity 1")
names, rows = ("right", "most_used", "least_used", "dropped"), {}
for setup in kinds:
    rows[setup] = [*torch.tensor(measured_once("translators", *names, setup=setup))]
for row in rows.values():
    row.insert(1, row[0] - rows["8 experts"][0])  # seed by seed
columns = ["right words", "more than plain", "busiest expert", "least busy", "tokens dropped"]
table(rows, columns, corner="five seeds", digits=2)

# %% [markdown]
# With one fair share a tenth of the tokens is dropped in the last batch, and every seed gets fewer words right. With 1.5 hardly any is dropped, and the difference has no one sign. Nor has it without the balance loss: in this layer, whose gate has no bias $b$, the experts do not collapse by themselves.
#
# ## Mixtures today
#
# | | experts in a layer, asked | parameters, per token | balance |
# | --- | --- | --- | --- |
# | Switch-C (Fedus et al. 2021) | 2,048, 1 | 1.6 trillion, – | loss, weight 0.01; capacity |
# | Mixtral 8x7B (Jiang et al. 2024) | 8, 2 | 47 billion, 13 billion | – |
# | DeepSeek-V3 (2024) | 256, 8, and one for all tokens | 671 billion, 37 billion | offsets |
#
# A balance loss also pulls at what the model should learn. Wang et al. 2024 add an offset to each expert's score. It counts in choosing, not in the gate. After each batch, offsets of experts with too few tokens rise by a small fixed step, and those with too many fall. With 1 billion parameters the busiest expert got 4 % more than its fair share, against 72 % with a loss, and perplexity fell from 9.56 to 9.50. In our table offsets do as well as the loss. You will write them in the exercises. In Mixtral, too, experts show no obvious preference for topics.
#
# ## So: who should answer?
#
# Does the gate ask the right expert? For each input we ask *all* experts. How often did the gate choose the one that is best?

# %%
rows = {}
with torch.no_grad():
    for name, mixture in trained.items():
        outputs, gates = mixture(seen.x)
        best = (outputs[..., 0] - seen.y).abs().argmin(1)  # B
        rows[f"lines, {name}"] = [(gates.argmax(1) == best).float().mean().item()]
    world = dictionaries(0, languages=8)
    x, translation, _ = batch(drawn(1), size=4000)
    for name, model in (("with the balance loss", balanced), ("without it", left_alone)):
        _, _, chosen = model(x)
        outputs = torch.stack([expert(x).log_softmax(-1) for expert in model.experts], 1)  # B N D
        best = outputs.gather(2, translation[:, None, None].expand(-1, 8, 1))[..., 0].argmax(1)  # B
        rows[f"languages, {name}"] = [(chosen == best).float().mean().item()]
table(rows, ["the best expert is asked"], corner="share of inputs", digits=2)

# %% [markdown]
# YYY
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
# - ZZZ
#
# **Exercises**: [open them](../exercises/18_mixture_of_experts_exercises.ipynb)
#
# **Next**: all these networks need many examples. Can a network learn from five? [Lesson 19](19_snail.ipynb) answers this.
