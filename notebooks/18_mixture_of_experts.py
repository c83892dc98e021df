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
# Three, one for each piece. But nobody tells us where one piece ends and the next begins. So a **gate** has to learn who should answer, while the networks, called **experts**, learn what to answer (Jacobs et al. 1991).
#
# ## A gate is attention over networks
#
# The experts $E_i$ all read the same input $x$, and the gate gives each of them a weight:
#
# $$y = \sum_i g_i\, E_i(x) \qquad g = \text{softmax}(W x + b)$$
#
# Where are the query, the keys and the values?

# %%
diagrams.attention(
    "input: *x*", "rows of *W*", "outputs: *E*_i (*x*)", "dot", then="answer", title="A mixture of experts"
)

# %% [markdown]
# The input is the query, the rows of $W$ are the keys, and what the experts say are the values. (The mask hides nothing yet.) Suppose two experts say 2 and 6, and the gate's scores are ln 3 and 0. What does the mixture answer?

# %% tags=["nbval-check-output"]
gates = torch.tensor([[3.0, 1.0]]).log().softmax(-1)
said = torch.tensor([[[2.0], [6.0]]])  # B N E
print("gates:", gates, " answer:", experts.mix(said, gates))

# %% [markdown]
# The gates are 3/4 and 1/4, so the answer is 1.5 + 1.5 = 3.
#
# ## Compete, or work together?
#
# Should training ask that the *sum* be right, or that *some expert* be right by itself?
#
# $$\tfrac{1}{2} \Big\| t - \sum_i g_i E_i \Big\|^2 \qquad\text{or}\qquad -\log \sum_i g_i\, e^{-\frac{1}{2} \| t - E_i \|^2}$$
#
# (The second is equation 1.3 of Jacobs et al.) The target is 3, two experts say 3 and 7, and both gates are 1/2. Which of the two losses asks the first expert to change?

# %% tags=["nbval-check-output"]
said, target, half = torch.tensor([[[3.0], [7.0]]]), torch.tensor([[3.0]]), torch.tensor([[0.5, 0.5]])
print("sum:   ", (experts.mix(said, half) - target).square().sum() / 2)
print("expert:", experts.mixture_loss(said, half, target))

# %% [markdown]
# The first loss is 2, since the weighted sum is 5: both experts should say less. The second is ln 2 = 0.69: one expert is right, and its gate should grow. So under the second loss experts compete, and each learns most where it is already best. We train three linear experts with each loss. What will their lines look like?

# %%
seen = on_lines(1000, drawn(1))
x = torch.linspace(-3, 3, 25)[:, None]
axes = plots.axes(2, width=4, height=3)
for ax, compete in zip(axes, (False, True), strict=True):
    torch.manual_seed(0)
    mixture = experts.Mixture(1, 1, experts=3)
    experts.fit(mixture, seen.x, seen.y, steps=1000, rate=3e-2, compete=compete)
    with torch.no_grad():
        said = mixture(x)
    lines = {f"expert {i + 1}": said.outputs[None, :, i, 0] for i in range(3)}
    lines["weighted sum"] = experts.mix(said.outputs, said.gates)[None, :, 0]
    plots.curves(x[:, 0], lines, "x", "y", "compete" if compete else "work together", ax, legend="upper left")
    ax.scatter(points.x, points.y, s=6, color="0.6", zorder=0)
    ax.set(ylim=(-5, 13))

# %% [markdown]
# On the left, the experts work together: their lines cross the points at odd angles, and only the weighted sum follows the points. On the right they compete, and each has made one piece its own. Here, over five seeds, are the squared errors of the weighted sum, and of the expert with the largest gate when it answers by itself. (The noise in the points accounts for 0.01.) Which experts can be asked one at a time?

# %%
names = ("error", "best_error", "largest_gate")
rows = {setup: measured_once("lines", *names, setup=setup) for setup in ("work together", "compete")}
table(rows, ["error of the sum", "error of the best expert", "mean of the largest gate"], digits=2)

# %% [markdown]
# Those that competed: their best expert is nearly as good as their sum. (In one of five runs they divided the pieces badly.) Of those that worked together, the best expert is mostly far off by itself.
#
# ## What is not attended to does not change
#
# Such gates were also meant to protect parts of a network from change. If the gate of an expert is exactly 0, this expert has no effect on the loss, so it gets no gradient. A softmax never gives exactly 0. So we keep only the $k$ best experts, and take the softmax over these (Shazeer et al. 2017). With scores of 1, 3 and 2, and $k$ = 2, which gates come out?

# %% tags=["nbval-check-output"]
print(experts.top_k_gates(torch.tensor([[1.0, 3.0, 2.0]]), k=2))

# %% [markdown]
# The first expert gets 0, the others the softmax of 3 and 2. Our next world has digits in white on black and in black on white, and a linear expert can't read both. We train four so that their weighted sum is right, and the best two answer. (As in that paper, we add noise to the gate's scores and a loss for balance; more on both below.) How will they share the work?

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
# Nobody said which digits are white, and yet the gate has found out: two experts read white digits and one reads black ones. One has no work.
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
# The black digits belong to expert 4. But the second best gets a gate above 0, and with it a small gradient. If only the best expert answers, the gates of the others are exactly 0, and so are their gradients.
#
# ## Does it forget less?
#
# For 300 more steps there are only black digits, with their new labels. Four networks learn them: one with a hidden layer; a mixture in which all four experts answer; one in which the best two do; and this last one again, with only its best expert answering from now on. The gate stays fixed unless it is called free. Which will still read white digits, both with plain gradient steps (SGD) and with Adam?

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
# One network forgets. With plain gradient steps, a mixture forgets little or nothing. With Adam and a fixed gate it forgets more than the single network does, and with a free gate about as much. If only the best expert answers, it forgets nothing. (It reads black digits somewhat less well than the single network.)
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
# ## Who gets work?
#
# An expert that is favoured learns more and is favoured even more, until a few do all the work: the experts **collapse**. Two losses work against this. One uses the sum $I_i$ of an expert's gates over a batch (**importance**; Shazeer et al., equation 7), the other the share $f_i$ of inputs it gets and its mean probability $P_i$ (**balance**; Fedus et al. 2021, equation 4):
#
# $$\frac{\text{Var}(I)}{\text{mean}(I)^2} \qquad\text{and}\qquad N \sum_i f_i P_i$$
#
# Over a batch, two experts get gates that sum to 3 and 1. What is the importance loss?

# %% tags=["nbval-check-output"]
gates = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.5, 0.5], [0.5, 0.5]])
print(experts.importance_loss(gates))

# %% [markdown]
# The mean is 2 and the variance 1, so the loss is 1/4. If all experts get the same, it is 0, and the balance loss is 1. Now eight experts read the digits, and the best two answer. We try noise on the scores, the importance loss, both, and neither. How many experts get work, that is, a mean gate above 0.01?

# %%
kinds = ("neither", "noise", "importance loss", "noise and importance loss")
rows = {setup: measured_once("collapse", "used", "busiest", "right", setup=setup) for setup in kinds}
table(rows, ["experts with work", "share of the busiest", "right answers"], corner="five seeds", digits=2)

# %% [markdown]
# With neither, about half of the experts have work. Noise was meant to give each a chance, but by itself it left work for only two in every run. The importance loss gives work to more of them. All four rows get about the same share right: two linear experts are enough here, so collapse does no harm. It would if there were more to know.
#
# ## Experts in a Transformer
#
# In lesson 12, each token went through the same feed-forward network. A **switch** layer (Fedus et al. 2021) has $N$ of them and sends each token to the one with the largest probability $p_i$, whose output it multiplies by $p_i$. Why multiply, if there is nothing to sum?

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

# %% [markdown]
# The gate gets its gradient through this factor, since choosing passes none. The layer here learns to translate 64 words into 32 invented languages, one of which is named at the beginning of each sentence. Each word has its own translation in each language, so there are 2,048 to remember. What share would the layer get right with a single feed-forward network, as large as one expert?

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
# On the left each language is spread over all experts, on the right most words have one, and some are shared. How the work is divided is up to the gate. (In large models, the first and last layers divide it by language; Bandarkar et al. 2025.)
#
# ## Capacity
#
# An expert on its own device has room for a limited number of tokens of a batch: its **capacity**. Once it is full, tokens only pass through the residual connection. If four tokens choose the experts 0, 0, 1 and 0, and the capacity is 2, the last one is dropped. In training, what does a capacity of 1.5 fair shares (tokens divided by experts) cost, or of one?

# %%
kinds = ("8 experts", "8 experts, no balance", "8 experts, capacity 1.5", "8 experts, capacity 1")
names = ("right", "most_used", "least_used", "dropped")
rows = {setup: measured_once("translators", *names, setup=setup) for setup in kinds}
table(rows, ["right words", "busiest expert", "least busy", "tokens dropped"], corner="five seeds", digits=2)

# %% [markdown]
# In the last batch, hardly any token is dropped with 1.5 fair shares. With one, a tenth are dropped, and somewhat fewer words are right. Even without the balance loss, the experts do not collapse here.
#
# ## So: who should answer?
#
# Whoever the gate attends to. Gate and experts learn together which expert suits which input. If only a few answer, more can be known for the same work, and the others get no gradient. But a gate left to itself may give all the work to a few.
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
# - Who should answer? A gate learns this: it is attention over networks, called experts.
# - Experts that compete can answer one at a time. Experts that work together are best together.
# - An expert with a gate of exactly 0 gets no gradient. With a gate near 0 it still changes, with Adam even by full steps.
# - A few experts may do all the work. Losses for balance bring work to more of them.
# - A layer of experts knows more at nearly equal work per token. What each of them learns is up to the gate.
#
# **Exercises**: [open them](../exercises/18_mixture_of_experts_exercises.ipynb)
#
# **Next**: all these networks need many examples. Can a network learn from five? [Lesson 19](19_snail.ipynb) answers this.
