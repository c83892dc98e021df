# %%
from time import perf_counter

import torch

from course_utils import check, predict, reveal
from course_utils.data.find_one import find_one
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table
from course_utils.models.attention import SCORES, dot, scaled_dot

torch.set_printoptions(precision=3, sci_mode=False)
seeds = range(5)

# %% [markdown]
# ## The same step in eight versions
#
# Attention between words first appeared in translation. There, two networks keep what they have read or written so far in a vector, called a **state**. The state $s$ of the network that writes is the query. The states $h$ of the network that reads, one for each source word, are the keys; we call them **hidden states**. Lesson 05 builds both networks. An **alignment score** says how well $s$ and $h$ match. $D$ is the width of $s$, $E$ that of $h$, $A$ that of a hidden layer, and $[s; h]$ is both in one vector.
#
# | score | equation | learned | from |
# | --- | --- | --- | --- |
# | dot | $s^\top h$ | | Luong et al. 2015 |
# | scaled dot | $s^\top h / \sqrt{D}$ | | Vaswani et al. 2017 |
# | content-based | $s^\top h / (\lVert s \rVert \lVert h \rVert)$ | | Graves et al. 2014 |
# | general | $s^\top W h$ | $W$: D×E | Luong et al. 2015 |
# | perceptron | $v^\top \tanh(W s + U h)$ | $W$: A×D, $U$: A×E, $v$: A | Bahdanau et al. 2014 |
# | additive | $v^\top \tanh(W [s; h])$ | $W$: A×(D+E), $v$: A | Luong et al. 2015, who call it "concat" |
# | concatenating | $W [s; h]$ | $W$: D+E | the same "concat", in some versions of the paper |
# | location-based | $\mathrm{softmax}(W s)$ | $W$: S×D | Luong et al. 2015 |
#
# Most papers say "additive" for what we, like its inventors, call the perceptron. Where in attention does the choice make a difference?

# %%
diagrams.attention(
    queries="states: *s*",
    keys="hidden states: *h*",
    values="hidden states: *h*",
    score="*score*(*s*, *h*)",
    choices=diagrams.EIGHT_SCORES,
    shapes=diagrams.SHAPES | {"keys": "B S E"},
    new=["score"],
)

# %% [markdown]
# It makes a difference only in the score. The softmax and the weighted sum stay as they were in lesson 03. (The location-based score is $W s$; papers and our code write it with its softmax.)
#
# ## All eight by hand
#
# Take the state $s = (0, 2)$ and the hidden states $h_1 = (2, 0)$, $h_2 = (0, 1)$ and $h_3 = (3, 4)$. The learned parts are simple numbers: "general" swaps the two features, and the perceptron, with one hidden unit, takes 2 tanh of the second feature of $s$ minus that of $h$: for $h_1$ it gives $2 \tanh(2 - 0) = 1.928$. Work out the first three rows on paper. Which hidden state does each prefer?


# %% tags=["nbval-check-output"]
def scores_of(name, state, hidden, learned):
    return SCORES[name](state, *learned) if name == "location_based" else SCORES[name](state, hidden, *learned)


s, h = torch.tensor([[[0.0, 2.0]]]), torch.tensor([[[2.0, 0.0], [0.0, 1.0], [3.0, 4.0]]])  # B T D, B S D
swap = torch.tensor([[0.0, 1.0], [1.0, 0.0]])  # D E
W, U, v = torch.tensor([[0.0, 1.0]]), torch.tensor([[0.0, -1.0]]), torch.tensor([2.0])  # A D, A E, A
pair = torch.cat([s.expand(1, 3, 2), h], -1)[:, None]  # B T S D+E: [s; h] for each h
by_position = torch.tensor([[0.0, 0.0], [0.0, 1.0], [0.0, 0.5]])  # S D
by_hand = {
    "dot": s @ h.mT,
    "scaled_dot": s @ h.mT / 2**0.5,
    "content_based": s @ h.mT / (s.norm(dim=-1)[..., None] * h.norm(dim=-1)[:, None]),
    "general": s @ swap @ h.mT,
    "perceptron": torch.tanh((s @ W.T)[:, :, None] + (h @ U.T)[:, None]) @ v,
    "additive": torch.tanh(pair @ torch.cat([W, U], -1).T) @ v,
    "concatenating": pair @ torch.tensor([1.0, 1.0, 1.0, -1.0]),
    "location_based": (s @ by_position.T).softmax(-1),
}
learned = {"general": [swap], "perceptron": [W, U, v], "additive": [torch.cat([W, U], -1), v]}
learned |= {"concatenating": [torch.tensor([1.0, 1.0, 1.0, -1.0])], "location_based": [by_position]}
course = {name: scores_of(name, s, h, learned.get(name, [])) for name in SCORES}
print("the course's functions agree:", all(torch.allclose(course[name], by_hand[name]) for name in SCORES))
table({name: scores[0, 0] for name, scores in by_hand.items()}, ["h₁", "h₂", "h₃"], corner="score")

# %% [markdown]
# The dot product rewards length and prefers $h_3$: $0 \cdot 3 + 2 \cdot 4 = 8$. The cosine divides by both lengths, $8 / (2 \cdot 5) = 0.8$, and prefers $h_2$, which has the direction of $s$. It lies between -1 and 1, so among ten hidden states the best gets a weight of at most $e / (e + 9 / e) = 0.451$; Graves et al. therefore multiply it by a factor, which their network puts out anew at each step.
#
# ## What does each score fail to see?
#
# We now ask three questions of each score, with random inputs. Do the weights differ from state to state? Does it matter if one hidden state becomes three times as long? Do the weights follow the hidden states when their order is reversed? One score gives *every state the same weights*. Which one?


# %%
def parts(name, B=1, T=3, S=5, D=4, A=6, seed=2):
    """States, hidden states and the learned parts of one score, all random."""
    torch.manual_seed(seed)
    state, hidden = torch.randn(B, T, D), torch.randn(B, S, D)
    shapes = {"general": [(D, D)], "concatenating": [(2 * D,)], "location_based": [(S, D)]}
    shapes |= {"additive": [(A, 2 * D), (A,)], "perceptron": [(A, D), (A, D), (A,)]}
    return state, hidden, [torch.randn(shape) for shape in shapes.get(name, [])]


def weights_of(name, state, hidden, learned):
    scores = scores_of(name, state, hidden, learned)
    return scores if name == "location_based" else scores.softmax(-1)  # its scores are weights already


# %% tags=["nbval-check-output"]
predict("04.blind", ...)

# %% tags=["nbval-check-output", "reveals"]
seen = {}
for name in SCORES:
    state, hidden, learned = parts(name)
    longer = hidden * torch.tensor([1, 1, 1, 3, 1])[:, None]
    a, *others = (weights_of(name, state, x, learned) for x in (hidden, longer, hidden.flip(1)))
    alike = [torch.allclose(x, a, atol=1e-5) for x in (a[:, :1], others[0], others[1].flip(-1))]
    seen[name] = [not alike[0], not alike[1], alike[2]]
reveal("04.blind", next(name for name, (differ, _, _) in seen.items() if not differ))
table(
    {name: seen[name] for name in by_hand},
    ["states differ", "length matters", "weights follow the words"],
    corner="score",
)

# %% [markdown]
# The concatenating score is linear: $W[s_t; h_i] = w_s^\top s_t + w_h^\top h_i$. The state adds the same number to all scores of its row, and its factor cancels in the softmax:
#
# $$\frac{e^{w_s^\top s_t} e^{w_h^\top h_i}}{\sum_j e^{w_s^\top s_t} e^{w_h^\top h_j}} = \frac{e^{w_h^\top h_i}}{\sum_j e^{w_h^\top h_j}}$$
#
# What is left is the fixed attention of lesson 02. The cosine does not see length. The location-based score does not see the words: its weights stay at their positions, and S is fixed.
#
# Which scores are the same function in another form? The cell below writes three of them in another way.

# %% tags=["nbval-check-output"]
state, hidden, (W_s, W_h, v) = parts("perceptron")
as_one = SCORES["additive"](state, hidden, torch.cat([W_s, W_h], dim=1), v)
print("perceptron = additive:", torch.allclose(SCORES["perceptron"](state, hidden, W_s, W_h, v), as_one))
projected = dot(state @ W_s.T, hidden @ W_h.T)
print(
    "dot of two projections = general:",
    torch.allclose(projected, SCORES["general"](state, hidden, W_s.T @ W_h)),
)
colder = (dot(state, hidden) / 2).softmax(-1)  # D is 4, and √D is 2
print("dot at temperature √D = scaled dot:", torch.allclose(colder, scaled_dot(state, hidden).softmax(-1)))

# %% [markdown]
# So the eight scores form six families: dot with scaled dot, cosine, general, perceptron with additive, concatenating, and location-based. The "general" score is a dot product of two learned projections, as in lesson 03.
#
# ## Why divide by √D?
#
# A dot product adds up D products. Vaswani et al. 2017 (footnote 4) argue: if all entries are independent with mean 0 and variance 1, each product has variance 1, and the variances of independent terms add up:
#
# $$\mathrm{Var}(s^\top h) = D \qquad \mathrm{Var}(s^\top h / \sqrt{D}) = 1$$
#
# What variance do you expect for plain dot products of width 64?

# %% tags=["nbval-check-output"]
predict("04.variance", ...)

# %% tags=["reveals"]
widths = [2**k for k in range(1, 11)]
divisors = {"plain dot": lambda D: 1, "÷ √D": lambda D: D**0.5, "÷ D": lambda D: D}
variance, theory, largest = {}, {}, {}
print("The variance of many random dot products, and what it does to the weights:")
for name, by in divisors.items():
    draws = [[parts("dot", 500, 1, 16, D, seed=seed) for D in widths] for seed in seeds]
    scores = [[dot(s, h) / by(D) for (s, h, _), D in zip(run, widths, strict=True)] for run in draws]
    variance[name] = [[e.var() for e in run] for run in scores]
    largest[name] = [[e.softmax(-1).amax(-1).mean() for e in run] for run in scores]
    theory["_" + name] = [D / by(D) ** 2 for D in widths]
left, right = plots.axes(2, width=4.8, height=3.8)
plots.curves(widths, variance, "width D", "variance", "grey: theory", left, theory=theory, log=True)
plots.curves(widths, largest, "width D", "largest of 16 weights, mean", ax=right)
right.set_xscale("log", base=2)
reveal("04.variance", torch.tensor(variance["plain dot"])[:, widths.index(64)].mean())

# %% [markdown]
# The variances follow the theory. Without a divisor, one of 16 weights takes nearly everything as the width grows. Divided by D, all weights approach 1/16, and the attention hardly tells the hidden states apart. Only ÷ √D keeps the largest weight level. All of this is before training.
#
# Lesson 02 showed that weights near 0 and 1 pass on little gradient. Does that slow learning down? Two projections have to find one of eight hidden states. The loss compares the context with the right value, so the error has to come through the attention. Does the division matter more at D = 4 or at D = 256?


# %%
def losses(score, D, seed, steps=100):
    batch, generator = find_one("turned", seed, S=8, D=D), torch.Generator().manual_seed(seed)
    W_q, W_k = ((torch.randn(D + 1, D, generator=generator) / D**0.5).requires_grad_() for _ in range(2))
    adam = torch.optim.Adam([W_q, W_k], lr=0.003)
    run = []
    for _ in range(steps):
        state, hidden, target = batch(64)  # B 1 D+1, B S D+1, B
        values = torch.randn(64, 8, 4, generator=generator)
        context = score(state @ W_q, hidden @ W_k).softmax(-1) @ values
        loss = (context[:, 0] - values[torch.arange(64), target]).square().mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
        run.append(loss.item())
    return torch.tensor(run).reshape(-1, 10).mean(1)  # the mean of every ten steps


for D, ax in zip((4, 256), plots.axes(2, width=4.8, height=3.6), strict=True):
    runs = {f.__name__: torch.stack([losses(f, D, seed) for seed in range(3)]) for f in (dot, scaled_dot)}
    plots.curves(range(5, 100, 10), runs, "step", "loss, three seeds", f"D = {D}", ax)
    ax.set_ylim(0, 1.7)

# %% [markdown]
# At D = 4 the two curves meet after some 75 steps. At D = 256 the unscaled attention learns far more slowly: its weights are concentrated before it has learned where to look. It starts out confident and mostly wrong, with a higher loss, and has to undo that first. The scaled score, too, learns at different speeds at the two widths; we have not looked into why.
#
# ## What does each score cost?
#
# We count multiply-adds for 50 states and 50 hidden states of width 64, and measure the time relative to the dot product. The additive score multiplies every *pair* by $W$. The perceptron multiplies each side once and then adds. How much does the same function cost in both forms?

# %%
T, S, D, E, A = 50, 50, 64, 64, 64
products = dict.fromkeys(["dot", "scaled_dot", "content_based", "location_based"], T * S * D)
products |= {"general": T * D * E + T * S * E, "concatenating": T * S * (D + E)}
products |= {"additive": T * S * A * (D + E) + T * S * A, "perceptron": T * A * D + S * A * E + T * S * A}
inputs, rounds = {name: parts(name, T=T, S=S, D=D, A=A) for name in SCORES}, {name: [] for name in SCORES}
torch.set_num_threads(1)  # with tensors this small, several threads would wait for each other
for _ in range(60):  # interleaved, so that a busy moment hits all alike
    for name, arguments in inputs.items():
        begin = perf_counter()
        scores_of(name, *arguments)
        rounds[name].append(perf_counter() - begin)
best = {name: torch.tensor(times).reshape(5, 12).amin(-1) for name, times in rounds.items()}  # of 12, 5 times
rows = {name: [products[name] / products["dot"], best[name] / best["dot"].mean()] for name in SCORES}
table(rows, ["products", "time, five tries"], corner="in dot products", digits=1)

# %% [markdown]
# The additive score needs 129 times as many products as the dot product; the perceptron, the same function, needs 3.6 times as many. In time the perceptron costs more than that, perhaps because of its many tanh. Change A to 8: which two scores gain?
#
# ## Does the choice matter?
#
# In four worlds a state must find one of eight hidden states. In "same" the state is that hidden state plus noise; in "turned" it is rotated and perhaps mirrored, too. In "position" it names a position. In "salience" the right one stands out by itself. Each vector ends in a 1, as a bias. Chance is 1/8. Which score finds the right one in all four worlds?


# %%
def found(score, learned, world, seed, steps=70):
    """The share of 1000 states whose largest weight lies on the right hidden state, after training."""
    batch = find_one(world, seed)  # D is 4, and 1 for the bias
    learned = [(w / w.shape[-1] ** 0.5).requires_grad_() for w in learned]
    adam = torch.optim.Adam(learned, lr=0.1) if learned else None
    for _ in range(steps if learned else 0):
        state, hidden, target = batch(64)
        loss = torch.nn.functional.cross_entropy(score(state, hidden, learned)[:, 0], target)
        adam.zero_grad()
        loss.backward()
        adam.step()
    state, hidden, target = batch(1000)
    return (score(state, hidden, learned)[:, 0].argmax(-1) == target).float().mean()


worlds = ["same", "turned", "position", "salience"]


def in_all_worlds(score, learned_parts):
    return torch.tensor([[found(score, learned_parts(seed), w, seed) for w in worlds] for seed in seeds])


# %% tags=["nbval-check-output"]
predict("04.all_worlds", ...)

# %% tags=["reveals"]
accuracy = {}
print("We leave out the additive and the scaled dot score, which rank as the perceptron and the dot product do:")
for name in ("dot", "content_based", "general", "perceptron", "concatenating", "location_based"):
    accuracy[name] = in_all_worlds(
        lambda state, hidden, learned, name=name: weights_of(name, state, hidden, learned).log(),
        lambda seed, name=name: parts(name, S=8, D=5, A=32, seed=seed)[2],
    )
reveal("04.all_worlds", next((name for name, runs in accuracy.items() if (runs.mean(0) > 0.5).all()), "none"))
means = torch.stack([runs.mean(0) for runs in accuracy.values()])
plots.weights(means, worlds, list(accuracy), xlabel="world", ylabel="score")
table(accuracy, worlds, corner="share found, five seeds", digits=2)

# %% [markdown]
# No score wins everywhere. The dot product and the cosine need a shared space, which only "same" has. In "turned" they do worse than chance: four of our five rotations turn a vector by more than a right angle on average. The general score also works in "turned" and "salience", and the perceptron everywhere but in "position". The concatenating score finds only what stands out, the location-based one only positions.
#
# Now write a score of your own. Here is an example: $-\lVert W^\top s - h \rVert^2$, the squared distance after a learned projection. Will it find more than the general score? Run it, then change it. Can you write one that wins "position"? (Its W needs a row for each of 8 positions.)


# %%
def own_score(state, hidden, learned):
    (W,) = learned  # D D
    return -((state @ W)[:, :, None] - hidden[:, None]).square().sum(-1)  # B T S


own = in_all_worlds(own_score, lambda seed: parts("general", D=5, seed=seed)[2])
table({"your own": own, "general": accuracy["general"]}, worlds, corner="share found, five seeds", digits=2)

# %% [markdown]
# In "same" and "turned" it finds more, because $-\lVert W^\top s - h \rVert^2 = 2 s^\top W h - \lVert h \rVert^2 - \lVert W^\top s \rVert^2$: it takes away the advantage of long hidden states. The last term cancels. In "salience" it finds less, but nearly catches up in 1,000 steps.
#
# ## So which one?
#
# | score | finds | cannot | used in |
# | --- | --- | --- | --- |
# | dot, scaled dot | what is alike, in one space | compare different widths | Luong 2015; the Transformer, after projections |
# | content-based | what is alike, at any length | concentrate the weights without a factor | Neural Turing Machine |
# | general | what a matrix can map onto each other | find positions | Luong 2015 |
# | perceptron, additive | any smooth comparison, with a bias | find positions; be fast | Bahdanau 2014 |
# | concatenating | what stands out by itself | see the query | no model that we know of |
# | location-based | a position | see the words; sources longer than S | Luong 2015, as a comparison |
#
# The perceptron finds the most, but it is slow. A dot product of two projections, which is a general score, finds much of that in far less time. So our advice is to project both sides and take the scaled dot product. Without projections, √D can do harm (lesson 06).
#
# ## Questions
#
# These five questions test the goals at the top. Run a cell to see its question, then replace the dots with a letter in quotes or a number.

# %%
check("04.q1", ...)

# %%
check("04.q2", ...)

# %%
check("04.q3", ...)

# %%
check("04.q4", ...)

# %%
check("04.q5", ...)

# %% [markdown]
# ## Recap
#
# - Does it matter which score we take? Yes: each finds something that another cannot, and their costs differ, up to 129-fold in products.
# - The eight scores form six families; additive and perceptron are one function at two prices.
# - The weights of the concatenating score ignore the query, and those of the location-based score ignore the words.
# - Before training, dividing by √D keeps the variance of the scores and the largest weight level as the width grows.
#
# **Exercises**: [open them](../exercises/04_alignment_scores_exercises.ipynb)
#
# **Next**: a translator has a state and hidden states. Where do they come from, and [can one vector hold a sentence?](05_seq2seq.ipynb)
