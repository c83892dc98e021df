# %%
import torch
import torch.nn.functional as F
from torch import nn

from course_utils import check, predict, reveal
from course_utils.data.measured import measured_once
from course_utils.data.regimes import LANGUAGES, WORDS, dictionaries, on_lines, written
from course_utils.figures import diagrams, plots
from course_utils.figures.pictures import picture
from course_utils.figures.tables import table
from course_utils.models import experts
from course_utils.models.train_model import train_model

torch.set_printoptions(precision=3, sci_mode=False)


def drawn(seed):
    return torch.Generator().manual_seed(seed)


# %% [markdown]
# ## Different inputs, different rules
#
# In lesson 17 one network used many positions of a memory. Now there are several networks, and for each input something has to decide which of them answers. The points below follow one rule in one range of x and another in the next. If a network can draw one straight line, how many networks would you use?

# %%
points = on_lines(300, drawn(0))
plots.scatter(points.x[:, 0], points.y[:, 0], "x", "y")

# %% [markdown]
# The points lie on three straight pieces, so three networks are enough. But nobody tells them where one piece ends and the next begins. So a **gate** has to learn which network should answer, while the networks, called **experts**, learn what to answer (Jacobs et al. 1991).
#
# ## A gate is attention over networks
#
# The experts all read the same input $x$. Expert $i$ answers $o_i(x)$, and the gate gives it a weight $g_i$:
#
# $$y = \sum_i g_i\, o_i(x) \qquad g = \text{softmax}(W x + b)$$
#
# Here $b$ is a preference that does not depend on $x$. Where are the query, the keys and the values? And what does the mixture answer if two experts say 2 and 6, and the gate's scores are ln 3 and 0?


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
print("the package's mixture agrees:", torch.allclose(mix(*mixture(x)), experts.mix(*shipped(x)), atol=1e-6))
gates = torch.tensor([[3.0, 1.0]]).log().softmax(-1)  # B N
print("gates:", gates, " answer:", mix(torch.tensor([[[2.0], [6.0]]]), gates))
shapes = {"queries": "B D", "keys": "N D", "values": "B N E", "scores": "B N", "context": "B E"}
parts = "input: *x*", "rows of *W*", "outputs: *o*_i (*x*)", "dot"
diagrams.attention(*parts, then="answer", title="A mixture of experts", shapes=shapes)

# %% [markdown]
# The input is the query, the rows of $W$ are the keys, and the experts' outputs are the values. (The drawing's weights are the gates.) But these values are computed for each query: not asking an expert saves work. Here the answer is 3/4 · 2 + 1/4 · 6 = 3.
#
# ## Compete, or work together?
#
# Should the *sum* be right, or *some expert*?
#
# $$\tfrac{1}{2} \Big\| t - \sum_i g_i o_i \Big\|^2 \qquad\text{or}\qquad -\log \sum_i g_i\, e^{-\frac{1}{2} \| t - o_i \|^2}$$
#
# The second (Jacobs et al., equation 1.3) is, but for a constant, the negative log density of $t$ if one expert is drawn by its gate and its answer is off by Gaussian noise. The target is 3, two experts answer 3 and 7, and both gates are 1/2. Which loss asks the first expert to change?

# %% tags=["nbval-check-output"]
outputs, target = torch.tensor([[[3.0], [7.0]]], requires_grad=True), torch.tensor([[3.0]])
half = torch.tensor([[0.5, 0.5]])
losses = {"sum": (mix(outputs, half) - target).square().sum() / 2}
losses["expert"] = experts.mixture_loss(outputs, half, target)
for name, loss in losses.items():
    (gradient,) = torch.autograd.grad(loss, outputs)  # B N E
    print(f"{name:6} loss: {loss.item():.2f}  sizes of the gradients of both answers:", gradient.abs()[0, :, 0])

# %% [markdown]
# The first loss does: the weighted sum is 5, so both experts should answer less. Under the second loss, the first expert is right and stays as it is, and the second, which is far off, hardly moves. So there the experts **compete**: an input teaches the expert that is already near its target. We train three linear experts with each loss. What will their lines look like? The background has the colour of the expert with the largest gate, whose line is thick there.

# %%
seen, trained = on_lines(1000, drawn(1)), {}
x = torch.linspace(-3, 3, 121)[:, None]
for ax, name in zip(plots.axes(2, width=4, height=3), ("work together", "compete"), strict=True):
    torch.manual_seed(0)
    trained[name] = experts.Mixture(1, 1, experts=3)
    experts.fit(trained[name], seen.x, seen.y, steps=1000, rate=3e-2, compete=name == "compete")
    with torch.no_grad():
        outputs, gates = trained[name](x)
    ax.scatter(points.x, points.y, s=6, color="0.7")
    for i, (colour, dash, _) in enumerate(plots.LOOKS[:3]):
        ax.plot(x, outputs[:, i], color=colour, linestyle=dash, linewidth=1, alpha=0.5)
        asked = gates.argmax(1) == i  # where this expert has the largest gate
        ax.fill_between(x[:, 0], -5, 3, where=asked, color=colour, alpha=0.12, linewidth=0)
        largest = outputs[:, i].where(asked[:, None], torch.nan)
        ax.plot(x, largest, color=colour, linestyle=dash, linewidth=3, label=f"expert {i + 1}")
    ax.plot(x, mix(outputs, gates), color="black", linewidth=1, label="weighted sum")
    ax.set(xlabel="x", ylabel="y", title=name, ylim=(-5, 3))
    ax.legend(loc="lower center", ncols=2, fontsize=9, edgecolor="none")

# %% [markdown]
# On the left, the experts work together: their lines miss most of the points, and only the weighted sum roughly follows them. On the right the experts compete, and each follows one piece.
#
# Is one loss better? Each of 20 seeds is trained with both. A circle is the error of the weighted sum, a square the error if only the expert with the largest gate answers.

# %%
errors = {name: torch.tensor(measured_once("lines", "error", "best_error", setup=name)) for name in trained}  # 2 S
better = (errors["compete"] < errors["work together"])[0].sum().item()
print(f"If experts compete, the error of the sum is smaller with {better} of 20 seeds.")
for name, (total, one) in errors.items():
    least, most = (one / total).aminmax()
    print(
        f"{name}: the sum's mean error is {total.mean():.3f}; the largest gate alone has {least:.1f} to {most:.1f} times the sum's"
    )
ax = plots.axes(width=8, height=1.9)
marks = {name: dict(zip(("weighted sum", "largest gate alone"), both, strict=True)) for name, both in errors.items()}
plots.dots(marks, "squared error", "", ax, (0.018, 2))
ax.set_xscale("log")
ax.minorticks_off()
_ = ax.set_xticks([0.03, 0.1, 0.3, 1], ["0.03", "0.1", "0.3", "1"])

# %% [markdown]
# As a sum, competing experts win with most seeds and lose on average: errors are above 0.08 in six of their runs and one of the others. Competing brings something else: the expert with the largest gate can then answer alone, and its error is at most 1.3 times the sum's. Experts that worked together can hardly ever answer alone.
#
# ## What is not attended to does not change
#
# What does an expert learn from an input that it does not answer? Its gate should be exactly 0. A softmax never gives that, so we take it over the $k$ largest scores only (Shazeer et al. 2017). With scores of 1, 3 and 2, and $k$ = 2, which gates come out?

# %% tags=["nbval-check-output"]
scores, k = torch.tensor([[1.0, 3.0, 2.0]]), 2  # B N
kept = torch.zeros(1, 3, dtype=torch.bool).scatter(1, scores.topk(k).indices, True)  # B N
gates = scores.masked_fill(~kept, -torch.inf).softmax(-1)  # B N
print("among the two largest:", kept.tolist(), " gates:", gates)
diagrams.best_experts(scores[0], gates[0])

# %% [markdown]
# The first expert gets 0, the others the softmax of 3 and 2. Change the line to $k$ = 1: which gate does the best expert get now, whatever its score?
#
# Can such experts keep what they know while others learn? For this we need two kinds of inputs: the cell shows one digit in white and in black. Four linear experts learn both kinds, and the best two answer. To keep all four at work, training adds noise to the scores and a second loss, as in that paper; both ideas come back below. Will the gate tell white digits from black ones?

# %%
white, black = written("white"), written("black")
both = torch.cat([white.x, black.x]), torch.cat([white.digit, black.digit])
for ax, kind in zip(plots.axes(2, width=1.6, height=1.8), (white, black), strict=True):
    picture(kind.x[3].view(8, 8), f"a {kind.digit[3]}", ax)
torch.manual_seed(0)
mixture = experts.Mixture(64, 10, k=2, noise=2.0)
experts.fit(mixture, *both, steps=1000, rate=1e-2, compete=False, balance=0.1)
mixture.eval()
columns = [f"expert {i + 1}" for i in range(4)]
means = {colour: mixture(written(colour, "test").x).gates.mean(0).tolist() for colour in ("white", "black")}  # N each
table({f"{colour} digits": gates for colour, gates in means.items()}, columns, corner="mean gate", digits=2)

# %% [markdown]
# With $k$ = 1, the softmax of a single score is 1, whatever the score. And the gate does tell the colours apart: no expert has large gates for both. But not all four are at work, although they should be.
#
# Now the labels of black digits are shifted by one, so a 3 should be called “four”. Which experts get a gradient from these digits if the best two answer, and which if only the best one does?

# %%
moved, rows = (black.digit + 1) % 10, {}
for k in (2, 1):
    mixture.k = k
    mixture.zero_grad()
    experts.loss_of(mixture(black.x), moved, compete=False).backward()
    rows[f"best {k}"] = [f"{expert.weight.grad.norm():.1g}" for expert in mixture.experts]
table(rows, columns, corner="size of the gradient")

# %% [markdown]
# If two answer, the experts for white digits get a tiny gradient from black ones. If only the best one answers, it is exactly 0: an expert learns nothing from an input that it does not answer.
#
# ## Does it forget less?
#
# Four models learn 300 more steps from black digits only, with new labels:
#
# - *one network* with a hidden layer;
# - *all four*: a mixture whose experts all answer;
# - *best two*: the mixture above;
# - *best one*: the same, but only the best expert answers.
#
# They learn with plain gradient steps (SGD) or with Adam, and with a fixed gate or with one that learns. Of all white digits, what share will *best two* forget with Adam and a fixed gate?

# %% tags=["nbval-check-output"]
predict("18.forgetting", ...)

# %% tags=["reveals"]
print("Each mark is a seed; forgotten: the share of white digits recognised before, minus that afterwards.")
names, forgotten, learned = ("white", "white_sgd", "white_adam", "black_sgd", "black_adam"), {}, []
for setup in ("one network", "all four", "best two", "best one"):
    before, by_sgd, by_adam, *new = torch.tensor(measured_once("forgetting", *names, setup=setup))
    free = setup if setup == "one network" else f"{setup}, gate free"  # one network has no gate that could learn
    white_free, black_free = torch.tensor(measured_once("forgetting", "white_adam", "black_adam", setup=free))
    ways = ("SGD, gate fixed", "Adam, gate fixed", "Adam, gate learns")
    learning = before - white_free if free != setup else []  # no mark for one network
    forgotten[setup] = dict(zip(ways, (before - by_sgd, before - by_adam, learning), strict=True))
    learned += [*new, black_free]
reveal("18.forgetting", round(forgotten["best two"]["Adam, gate fixed"].mean().item(), 2))
(reached,) = measured_once("forgetting", "reached", setup="best one")
print(f"Best one: at most {max(reached):.2f} of the black digits go to an expert that prefers white ones.")
print(f"All learn: at least {torch.stack(learned).min():.2f} of the black digits get their new labels.")
plots.dots(forgotten, "share of white digits forgotten")

# %% [markdown]
# - SGD (circles): *best two* forgets nothing.
# - Adam makes full steps of tiny gradients: with a fixed gate (squares), *all four* and *best two* forget more than *one network*. If the gate learns (triangles), they forget less; we do not know why.
# - *Best one* forgot none: no black digit went to an expert for white ones.
#
# ## One expert for each token
#
# Asking one expert saves work, so a Transformer can have many. A **switch** (Fedus et al. 2021) asks only the expert with the largest probability $p_i$. An expert's **capacity** is how many tokens it takes, here two: which token finds no room?
#
# A **balance loss** (equation 4) spreads the tokens:
#
# $$N \sum_i f_i P_i$$
#
# $f_i$ is the share of tokens that choose expert $i$, $P_i$ its mean probability.


# %% tags=["nbval-check-output"]
def balance_loss(p, chosen):  # B N, B
    f = F.one_hot(chosen, p.shape[1]).float().mean(0)  # N: the share of the tokens that each expert gets
    return p.shape[1] * (f * p.mean(0)).sum()


scores = torch.tensor([[20, 15, 18, 12, 3, 1], [5, 0, 2, 10, 19, 0], [0, 10, 4, 1, 2, 20]]).T / 10  # B N
noise = torch.tensor([[1, 0, 2, -3, 1, 0], [0, 3, 1, 4, -2, 1], [-2, -1, 0, 0, 0, -1]]).T / 10  # B N
p = (scores + noise).softmax(-1)  # B N
chosen = p.argmax(-1)  # B
kept = experts.within_capacity(chosen, 3, capacity=2)  # B: who finds room
print("f:", F.one_hot(chosen, 3).float().mean(0), " P:", p.mean(0))
diagrams.routing(scores, noise, p, kept, balance_loss(p, chosen))

# %% [markdown]
# Token 3 is the third at expert 1 and is dropped; token 4 prefers expert 2 only because of the noise. Now take the noise out of `p`, or give each expert room for three: who is dropped then?
#
# A share is a count and passes no gradient. So the balance loss acts through $P_i$: it lowers the probability of experts that get many tokens. It is 1 if all get the same share.
#
# A switch answers with
#
# $$y = p_i(x)\, o_i(x) \quad\text{with } i = \arg\max_j\, p_j(x)$$
#
# Only one expert answers, so there is nothing to weigh. Why multiply its output by $p_i$ all the same?


# %%
class Switch(nn.Module):
    def __init__(self, D, N):  # width of a token, number of experts
        super().__init__()
        self.experts, self.gate = nn.ModuleList(nn.Linear(D, D) for _ in range(N)), nn.Linear(D, N)

    def forward(self, x):  # B D
        p = self.gate(x).softmax(-1)  # B N
        best, chosen = p.max(-1)  # B, B
        y = torch.zeros_like(x)  # B D
        for i, expert in enumerate(self.experts):
            sent = chosen == i  # B
            y[sent] = best[sent, None] * expert(x[sent])
        return y, p, chosen


# %% [markdown]
# (Without noise, tokens 3 and 4 are dropped; with room for three, nobody is.) The gate learns through the factor $p_i$, since choosing passes no gradient.
#
# ## Take the balance loss out
#
# In eight languages, each of 64 words has its own translation. One language is a table with a column of weights for each word, so a linear expert could hold it, and there are eight experts. We train once with the balance loss and once without it.
#
# In the pictures, each cell has the number and the colour of the expert that computes the answer. With the balance loss, to how many experts will a language go? What share of the words will be right without it?

# %%
world = dictionaries(0, languages=8)
D = 8 + WORDS  # an input marks a language and a word, an output scores all of these


def batch(draw, size=64):
    given, wanted = world.batch(draw, size, length=1)  # B 2, B 1
    return F.one_hot(given, D).sum(1).float(), 8 + wanted[:, 0]  # B D, B


def train(balance, seed=0):
    """Train a switch; `balance` is a function (p B N, chosen B) which gives what is added to the loss."""
    torch.manual_seed(seed)
    model, asked = Switch(D, 8), []

    def loss_of_batch(draw):
        x, translation = batch(draw)
        y, p, chosen = model(x)
        asked.append(F.one_hot(chosen, 8).float().mean(0))  # N
        return F.cross_entropy(y, translation) + balance(p, chosen)

    train_model(model, loss_of_batch, seed, steps=700, rate=0.015)
    return model, torch.stack(asked)  # steps N


# %%
@torch.no_grad()
def show(model, title, ax=None):
    """Draw which expert computes the answer for 16 of the words; return the share of all words that are right."""
    x, translation = batch(drawn(1), size=4000)
    y, _, chosen = model(x)
    used = (F.one_hot(chosen, 8).float().mean(0) > 0.01).sum()
    right = (y.argmax(-1) == translation).float().mean().item()
    print(f"{title}: {used} of 8 experts have work, {right:.2f} of the words are right")
    pairs = torch.stack([F.one_hot(torch.tensor([i, 8 + w]), D).sum(0) for i in range(8) for w in range(16)])
    plots.choices(model(pairs.float())[2].view(8, 16), title, ax, "word", "language")
    return right


balanced, _ = train(lambda p, chosen: 0.1 * balance_loss(p, chosen))
predict("18.without_balance", ...)

# %% tags=["reveals"]
print("Before training, after training with the balance loss, and after training without it:")
untrained, after = plots.axes(2, width=5, height=3.2)
torch.manual_seed(0)
show(Switch(D, 8), "before training", untrained)
show(balanced, "with the balance loss", after)
left_alone, asked = train(lambda p, chosen: 0.0)
at_end, meanwhile = plots.axes(2, width=5, height=3.2)
reveal("18.without_balance", round(show(left_alone, "without the balance loss", at_end), 2))
plots.shares_of_choices(asked[:50], "experts in the first 50 steps", meanwhile, "step", "share of the batch")

# %% [markdown]
# The curves are the experts' shares of a batch. With the balance loss nearly all experts have work, and each language goes to several of them: the loss asks only for equal shares. Without it, few experts soon do all the work: the mixture has **collapsed**. These few cannot know all languages: a linear expert adds a word's scores to a language's.
#
# Can you prevent the collapse? Write a line for `mine` that uses `p.mean(0)` alone.


# %%
def mine(p, chosen):  # B N, B
    return 0.0 * p.sum()  # your own line


_ = show(train(mine)[0], "with mine")

# %% [markdown]
# With 0.0 a few experts do all the work, as above. (Only `p` passes a gradient; choosing does not.) One line that helps is `8 * p.mean(0).square().sum()`: it is smallest if all experts have the same mean probability. How many have work then?
#
# What else might help? Noise was meant to. An **offset** (Wang et al. 2024) is added to an expert's score in choosing, not in the gate; after each batch it rises if the expert got too few tokens, and falls if it got too many. A *decided gate* has first weights that are 20 times as large, so it starts with clear preferences. Which of these keep all experts at work?

# %%
setups = ("nothing", "noise", "balance loss", "offsets", "decided gate")
runs = {setup: torch.tensor(measured_once("balance", "used", "right", setup=setup)) for setup in setups}
left, right = plots.axes(2, width=4.8, height=3)
plots.dots({setup: {"ten seeds": used} for setup, (used, _) in runs.items()}, "experts with work", "", left, (0, 8.4))
plots.dots({setup: {"ten seeds": found} for setup, (_, found) in runs.items()}, "share of right words", ax=right)
rows = {setup: [runs[setup][1] - runs["nothing"][1]] for setup in setups[1:]}
gate = Switch(D, 8).gate
for times in (1, 20):
    p = F.linear(batch(drawn(1))[0], times * gate.weight, gate.bias).softmax(-1)  # B N
    print(f"first weights times {times}: the largest probability is {p.amax(-1).mean():.2f}")
table(rows, ["right words, minus those with nothing"], corner="same seed")

# %% [markdown]
# All but noise keep nearly all at work, and gain more than a quarter of all words with every seed. Noise makes it worse with most seeds.
#
# ## Experts in a Transformer
#
# In Mixtral 8x7B (Jiang et al. 2024), a token uses 13 of 47 billion parameters. Below, a switch replaces lesson 12's feed-forward network. What share of 64 words in 32 languages will be right? And with a single network of an expert's size (*no experts*), or one eight times as wide?

# %%
many = dictionaries(0)
given, wanted = many.batch(drawn(1), size=500)
torch.manual_seed(0)
translator = experts.Translator(LANGUAGES, WORDS, experts=8)
losses = experts.fit_translator(translator, many.batch, steps=700, rate=8e-3)
found = (translator.eval()(given).argmax(-1) == wanted).float().mean()
print(f"right words with 8 experts: {found:.2f}")
diagrams.switch_layer(new=["gate", "experts", "factor"])

# %%
predict("18.translators", ...)

# %% tags=["reveals"]
print("Five seeds, with more steps than above:")
made = {"8 experts": {"experts": 8}, "no experts": {}, "8 times as wide": {"hidden": 256}}
made |= {f"8 experts, {end}": {"experts": 8} for end in ("capacity 1", "no balance", "no balance, small gate")}
right, costs = {}, {}
for setup, sizes in made.items():
    right[setup], busy = torch.tensor(measured_once("translators", "right", "most_used", setup=setup))
    layer = experts.Translator(LANGUAGES, WORDS, **sizes).layer.feed_forward
    work = 2 * 32 * sizes.get("hidden", 32) + 32 * sizes.get("experts", 0)
    parameters = sum(p.numel() for p in layer.parameters())
    costs[setup] = [parameters, work, right[setup] - right["8 experts"], busy]
reveal("18.translators", round(right["no experts"].mean().item(), 2))
plots.dots({setup: {"five seeds": runs} for setup, runs in right.items()}, "share of right words")
columns = "parameters, multiplications per token, right words minus those of 8 experts, share of the busiest expert"
table(costs, columns.split(", "), digits=2)

# %% [markdown]
# - At nearly equal work per token, eight experts get about 33 more words in 100 right than *no experts*.
# - At nearly equal parameters, the wide network wins with every seed, but needs seven times the multiplications.
# - With *capacity 1*, an expert takes at most an eighth of a batch's tokens in training. The rest pass by through the residual connection, and fewer are right with every seed.
# - Without a balance loss this layer does not collapse, even with its gate's first weights divided by 20 (*small gate*), which loses words with every seed. So a decided gate is not what saves it; we do not know what is.
#
# What does each expert answer, once it is trained?

# %% tags=["nbval-check-output"]
predict("18.specialists", ...)


# %% tags=["reveals"]
def busiest(chosen):  # L W
    """Return the share of the busiest expert in a language, and for a word: means over all of them."""
    shares = F.one_hot(chosen, 8).float()  # L W N
    return [shares.mean(over).max(-1).values.mean().item() for over in (1, 0)]


reveal("18.specialists", "some of the words, in all languages")
chosen = experts.sent(translator, LANGUAGES, WORDS)  # L W
plots.choices(chosen[:8, :24], "Which expert computes the token", xlabel="word", ylabel="language")
before = []
for seed in range(5):
    torch.manual_seed(seed)
    before.append(experts.sent(experts.Translator(LANGUAGES, WORDS, experts=8).eval(), LANGUAGES, WORDS))
rows = {"by chance": busiest(torch.randint(8, chosen.shape, generator=drawn(0)))}
rows["before training"] = torch.tensor([busiest(each) for each in before])
rows["after training"] = measured_once("translators", "by_language", "by_word", setup="8 experts")
same = (before[0] == chosen).float().mean()
print(f"the model of the picture: {same:.2f} of the translations have the expert that they had before training")
table(rows, ["in a language", "for a word"], corner="share of the busiest expert", digits=2)

# %% [markdown]
# In most columns one colour prevails: a word goes to the same expert in most languages. (The table has five seeds, trained longer.) Within a language, words are spread as evenly as by chance.
#
# But this division need not have been *learned*: untrained gates divide the words even more strictly, perhaps because the vector at a word's place holds mostly that word. In this model training moves about half of the translations to another expert.
#
# ## So: who should answer?
#
# Does the gate ask the right expert? For each input we now ask *all* experts, and see which comes nearest to the target. Guess first: how often is it the one that the gate prefers? And after the collapse?

# %%
rows = {}
with torch.no_grad():
    for name, on_points in trained.items():
        outputs, gates = on_points(seen.x)
        best = (outputs[..., 0] - seen.y).abs().argmin(1)  # B
        rows[f"lines, {name}"] = [(gates.argmax(1) == best).float().mean().item(), 1 / 3]
    x, translation = batch(drawn(1), size=4000)
    for name, model in (("balance loss", balanced), ("collapsed", left_alone)):
        _, _, chosen = model(x)
        outputs = torch.stack([expert(x).log_softmax(-1) for expert in model.experts], 1)  # B N D
        best = outputs.gather(2, translation[:, None, None].expand(-1, 8, 1))[..., 0].argmax(1)  # B
        work = (F.one_hot(chosen, 8).float().mean(0) > 0.01).sum().item()  # how many experts have work
        rows[f"languages, {name}"] = [(chosen == best).float().mean().item(), 1 / work]
table(rows, ["the best expert is asked", "by chance, of those with work"], corner="share of inputs", digits=2)

# %% [markdown]
# In the languages nearly always; on the lines more often if the experts competed (one run, which went well). Even after a collapse the gate asks the best expert, and yet most words are wrong. That is no contradiction: gate and experts have grown together, and the others were hardly asked after the first steps. So a good choice among experts is not enough: they become good only at what they are asked *in training*. A balance loss or offsets give most experts a chance, and a gate of exactly 0 protects what an expert knows.
#
# ## Questions
#
# Run a cell to see its question, then replace the dots with a letter in quotes or a number.

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
# - Who should answer? The expert that has been asked such inputs in training: it becomes good at them, and the gate, which is attention over networks, finds it.
# - Experts that compete can answer one at a time. As a sum they beat experts that work together in most runs, but more of their runs get stuck.
# - An expert with a gate of exactly 0 gets no gradient. With a gate near 0 it still changes, with Adam even by full steps.
# - Without a balance loss, one to three of eight linear experts did all the work, and at least a third of the words were lost. Offsets, or a gate that is decided from the start, prevent this, too. DeepSeek-V3 has offsets; 37 of its 671 billion parameters compute a token (DeepSeek-AI 2024).
# - At nearly equal work per token, a layer of experts knows more than one network; with nearly equal parameters, it knows less. Its gate divided the words before it had learned anything.
#
# **Exercises**: [open them](../exercises/18_mixture_of_experts_exercises.ipynb)
#
# **Next**: all these networks need many examples. Can a network learn from five? [Lesson 19](19_snail.ipynb) answers this.
