# %%
import torch

from course_utils import check, predict, reveal
from course_utils.data.find_one import find_one
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table
from course_utils.models.attention import SCORES, additive, dot, general, perceptron, scaled_dot

torch.set_printoptions(precision=3, sci_mode=False)
seeds = range(5)

# %% [markdown]
# ## The same step in eight versions
#
# In translation one network gives each source word a vector, its **hidden state** $h$; the other, which writes the translation, has a **state** $s$.
# States are the queries, hidden states the keys. An **alignment score** says how well a state and a hidden state match. There are T states of width D and S hidden states of width E (in this lesson E is not the width of values), and some scores have A hidden units. $[s; h]$ is $s$ and $h$ concatenated. We count from 1.
#
# | score | equation | learned | from |
# | --- | --- | --- | --- |
# | dot | $s^\top h$ | | Luong et al. 2015 |
# | scaled dot | $s^\top h / \sqrt{D}$ | | Vaswani et al. 2017 |
# | content-based | $s^\top h / (\lVert s \rVert \lVert h \rVert)$ | | Graves et al. 2014 |
# | general | $s^\top W h$ | $W$: D×E | Luong et al. 2015 |
# | additive | $v^\top \tanh(W [s; h])$ | $W$: A×(D+E), $v$: A | Luong et al. 2015, who call it "concat" |
# | perceptron | $v^\top \tanh(W s + U h)$ | $W$: A×D, $U$: A×E, $v$: A | Bahdanau et al. 2014 |
# | concatenating | $W [s; h]$ | $W$: D+E | the same "concat", in some versions of the paper |
# | location-based | $\mathrm{softmax}(W s)$ | $W$: S×D | Luong et al. 2015 |
#
# Be careful with one name: most papers say **additive** for Bahdanau's score, our perceptron. Where in attention does the choice make a difference?

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
# Only the score's box changes. The mask, the softmax and the weighted sum stay what they were in lesson 03.
#
# ## Three scores that learn nothing
#
# $$\text{dot}_{ti} = s_t^\top h_i$$
#
# Here are the loop, the matrix product and the course's function, small enough to check on paper.

# %% tags=["nbval-check-output"]
s = torch.tensor([[[1.0, 0.0], [0.0, 2.0]]])  # B T D
h = torch.tensor([[[2.0, 0.0], [0.0, 1.0], [3.0, 4.0]]])  # B S D
by_loop = torch.tensor([[[sum(q[d] * k[d] for d in range(2)) for k in h[0]] for q in s[0]]])
by_matrix = s @ h.mT  # B T S
print(by_matrix, torch.equal(by_loop, by_matrix), torch.equal(by_loop, dot(s, h)))

# %% [markdown]
# Row $t$ belongs to state $s_t$, column $i$ to hidden state $h_i$: $s_2^\top h_3 = 0 \cdot 3 + 2 \cdot 4 = 8$. The next two scores divide this number by $\sqrt{D} = \sqrt{2}$,
# or by the lengths of the two vectors. The third hidden state has length 5, so its **cosine** with the second state is $8 / (2 \cdot 5)$.
#
# $$\text{scaled}_{ti} = \frac{s_t^\top h_i}{\sqrt{D}} \qquad \text{content}_{ti} = \frac{s_t^\top h_i}{\lVert s_t \rVert\,\lVert h_i \rVert}$$

# %% tags=["nbval-check-output"]
from course_utils.models.attention import content_based

print("scaled ", scaled_dot(s, h), torch.allclose(scaled_dot(s, h), s @ h.mT / 2**0.5))
print("content", content_based(s, h), " ten times as long:", content_based(s, 10 * h)[0, 1])
clearest = torch.tensor([1.0] + [-1.0] * 9)  # one hidden state along the state, nine against it
print(f"the largest weight that a cosine can give among ten: {clearest.softmax(-1)[0]:.3f}")

# %% [markdown]
# A cosine stays between -1 and 1, so the softmax over it stays soft: among ten hidden states the best gets a weight of 0.451 at most. Graves et al. multiply the cosine
# by a number that the network chooses, which acts as the inverse of a temperature.
#
# ## A matrix in between, or a small network
#
# $$\text{general}_{ti} = s_t^\top W h_i \qquad \text{perceptron}_{ti} = v^\top \tanh(W s_t + U h_i) \qquad \text{additive}_{ti} = v^\top \tanh(W [s_t; h_i])$$
#
# Now D and E may differ. The $W$ of our general score swaps the two features. The network has one hidden unit, which subtracts the second feature of $h$ from the first of $s$, and $v = 2$.

# %% tags=["nbval-check-output"]
W = torch.tensor([[0.0, 1.0], [1.0, 0.0]])  # D E
print("general   ", general(s, h, W), torch.allclose(general(s, h, W), s @ W @ h.mT))
W, U, v = (torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, -1.0]]), torch.tensor([2.0]))  # A D, A E, A
layer = torch.tanh((s @ W.T)[:, :, None] + (h @ U.T)[:, None])  # B T S A
print("perceptron", layer @ v, torch.allclose(layer @ v, perceptron(s, h, W, U, v)))
print("additive  ", additive(s, h, torch.cat([W, U], dim=1), v))

# %% [markdown]
# By hand: $s_1 = (1, 0)$ becomes $(0, 1)$ and so reads the second features of the hidden states, 0, 1, 4. For $s_1$ and $h_1$ the network gives $2 \tanh(1 - 0) = 1.523$. A matrix on $[s; h]$ is two matrices side by side, $[W\,|\,U]$, so perceptron and additive are one function.
#
# ## Two scores that look at less
#
# $$\text{concatenating}_{ti} = W [s_t; h_i] \qquad \text{location}_{t} = \mathrm{softmax}(W s_t)$$
#
# The first has no tanh. The second has no $h$: $W$ has one row for each of the S positions, and the result is already normalised. So S is fixed; for shorter sources Luong et al. use the top part of the weights, and they ignore the words after position S in longer ones.

# %% tags=["nbval-check-output"]
from course_utils.models.attention import concatenating, location_based

weight = torch.tensor([1.0, 1.0, 1.0, -1.0])  # D+E
print("concatenating", concatenating(s, h, weight))
weight = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])  # S D
print("location     ", location_based(s, weight))

# %% [markdown]
# By hand: the entries of $s_1$ add up to 1 and $h_1$ gives $2 - 0$, so the first score is 3. The location weights of $s_1$ are $1, e, 1$ divided by $e + 2$.
#
# For the experiments we need random inputs and random values of the learned parts of each score.


# %%
def parts(name, B=1, T=3, S=5, D=4, A=6, seed=2):
    """States, hidden states and the learned parts of one score."""
    torch.manual_seed(seed)
    state, hidden = torch.randn(B, T, D), torch.randn(B, S, D)
    learned = {"general": [(D, D)], "concatenating": [(2 * D,)], "location_based": [(S, D)]}
    learned |= {"additive": [(A, 2 * D), (A,)], "perceptron": [(A, D), (A, D), (A,)]}
    return state, hidden, [torch.randn(shape) for shape in learned.get(name, [])]


def scores_of(name, state, hidden, learned):
    if name == "location_based":
        return location_based(state, *learned).log()  # the softmax to come turns it back into the weights
    return SCORES[name](state, hidden, *learned)


def draws(seed, D):
    """500 states of width D, each with 16 hidden states of its own."""
    return parts("dot", B=500, T=1, S=16, D=D, seed=seed)[:2]


# %% [markdown]
# ## What does each score fail to see?
#
# We ask three questions of each score. Do the weights differ from state to state? Does it matter if $h_4$ becomes three times as long? Does each hidden state keep its weight when their order is reversed? One score gives *every state the same weights*. Which one?

# %% tags=["nbval-check-output"]
predict("04.blind", ...)

# %% tags=["nbval-check-output", "reveals"]
seen = {}
for name in SCORES:
    state, hidden, learned = parts(name)
    longer = hidden * torch.tensor([1, 1, 1, 3, 1])[:, None]
    a, *others = (scores_of(name, state, x, learned).softmax(-1) for x in (hidden, longer, hidden.flip(1)))
    alike = [torch.allclose(x, a, atol=1e-5) for x in (a[:, :1], others[0], others[1].flip(-1))]
    seen[name] = [not alike[0], not alike[1], alike[2]]
reveal("04.blind", next(name for name, (differ, _, _) in seen.items() if not differ))
table(seen, ["states differ", "length matters", "weights follow the words"], corner="score")

# %% [markdown]
# The concatenating score is linear: $W[s_t; h_i] = w_s^\top s_t + w_h^\top h_i$. The state's factor is in numerator and denominator, so it cancels:
#
# $$\frac{e^{w_s^\top s_t} e^{w_h^\top h_i}}{\sum_j e^{w_s^\top s_t} e^{w_h^\top h_j}} = \frac{e^{w_h^\top h_i}}{\sum_j e^{w_h^\top h_j}}$$
#
# What is left is lesson 02's fixed attention. For the same reason a bias added to a score does nothing. The cosine does not see length, and the location-based score does not see the words: its weights stay at their positions.
#
# ## Which scores are the same function in disguise?
#
# Each column below writes a score in other words, and each number is the largest difference between the weights. In "general" $W$ is $W_q^\top W_k$, and √D is 2. In which cells do you expect a zero?

# %%
state, hidden, _ = parts("general")
unit = [x / x.norm(dim=-1, keepdim=True) for x in (state, hidden)]
W_q, W_k = torch.randn(6, 4), torch.randn(6, 4)  # A D, A D
learned = {name: parts(name)[2] for name in SCORES} | {"general": [W_q.T @ W_k]}
W_s, W_h, v = learned["perceptron"]
learned["additive"] = [torch.cat([W_s, W_h], dim=1), v]
in_other_words = {
    "general, W = 1": general(state, hidden, torch.eye(4)),
    "dot, temperature 2": dot(state, hidden) / 2,
    "dot, unit vectors": dot(*unit),
    "dot of W_q s and W_k h": dot(state @ W_q.T, hidden @ W_k.T),
    "perceptron, W | U": perceptron(state, hidden, W_s, W_h, v),
    "fixed attention": (hidden @ learned["concatenating"][0][4:])[:, None].expand(-1, 3, -1),
    "general, h = position": general(state, torch.eye(5)[None], learned["location_based"][0].T),
}
weights = {name: scores_of(name, state, hidden, learned[name]).softmax(-1) for name in SCORES}
others = [z.softmax(-1) for z in in_other_words.values()]
difference = torch.tensor([[(a - b).abs().max() for b in others] for a in weights.values()])  # 8 7
ax, labels = plots.axes(width=8, height=4.6), ("in other words", "score")
plots.differences(difference, in_other_words, SCORES, "largest difference of weights", ax, *labels)

# %% [markdown]
# Each row has a zero, since every score equals one of the columns. Additive and perceptron share theirs, so they are one function, and "general" is a dot product of projections, as in lesson 03 (there words were rows, so it is $x W_q$ instead of $W_q s$). The eight scores are six families: dot with scaled dot, cosine, general, perceptron with additive, concatenating, and location-based.
#
# ## Why divide by √D?
#
# The dot product adds up D products. Vaswani et al. 2017 (footnote 4) argue that, if all entries are independent with mean 0 and variance 1, each product has variance 1, and variances of independent terms add up:
#
# $$\mathrm{Var}(s^\top h) = D \qquad \mathrm{Var}(s^\top h / \sqrt{D}) = 1$$
#
# What variance do you expect for plain dot products at width 64?

# %% tags=["nbval-check-output"]
predict("04.variance", ...)

# %% tags=["reveals"]
widths = [2**k for k in range(1, 11)]
divisors = {"plain dot": lambda D: 1, "÷ √D": lambda D: D**0.5, "÷ D": lambda D: D, "÷ 8": lambda D: 8}
products = [[dot(*draws(seed, D)) for D in widths] for seed in seeds]
variance, theory = {}, {}
print("The variance of many random dot products:")
for name, by in divisors.items():
    variance[name] = [[(e / by(D)).var() for e, D in zip(run, widths, strict=True)] for run in products]
    theory["_" + name] = [D / by(D) ** 2 for D in widths]
ax = plots.axes(width=6.4, height=4.4)
plots.curves(widths, variance, "width D", "variance", "grey: theory", ax, theory=theory, log=True)
reveal("04.variance", torch.tensor(variance["plain dot"])[:, widths.index(64)].mean())

# %% [markdown]
# The four variances follow the theory, in grey: the plain dot product rises like D, ÷ √D stays at 1, ÷ D falls like 1/D, and ÷ 8 is right only at width 64. The assumption fits networks before training; trained ones may differ.
#
# ## What does the division do to the weights?
#
# Lesson 02 found that a sure attention stops learning: the derivative of a weight with respect to its own score is $a_i (1 - a_i)$. The sum of these over the hidden states says how much gradient passes. Which divisor keeps the largest weight and this sum level?

# %%
largest, passed = {}, {}
for name, by in divisors.items():
    a = [
        [(e / by(D)).softmax(-1)[:, 0] for e, D in zip(run, widths, strict=True)] for run in products
    ]  # B S each
    largest[name] = [[x.amax(-1).mean() for x in run] for run in a]
    passed[name] = [[(x * (1 - x)).sum(-1).mean() for x in run] for run in a]

left, right = plots.axes(2, width=4.8, height=3.8)
plots.curves(widths, largest, "width D", "largest of 16 weights, mean", ax=left)
left.set_xscale("log", base=2)
plots.curves(widths, passed, "width D", "gradient passed, mean", ax=right)
right.set_xscale("log", base=2)

# %% [markdown]
# Only ÷ √D keeps both the largest of 16 weights and the gradient level. Under the plain dot product the largest weight rises towards 1 and the gradient falls. Dividing by D lets gradient pass, too, but with weights near 1/16 each the attention hardly tells the keys apart, and ÷ 8 depends on the width.
#
# Does that matter for training? Two learned projections have to find one of eight hidden states, as in the world "turned" below, and each hidden state has a value. The loss compares the context with the value that was wanted, so the error has to come through the attention. Will the division matter more at D = 4 or at D = 256?


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


# %%
for D, ax in zip((4, 256), plots.axes(2, width=4.8, height=3.6), strict=True):
    runs = {f.__name__: torch.stack([losses(f, D, seed) for seed in range(3)]) for f in (dot, scaled_dot)}
    plots.curves(range(5, 100, 10), runs, "step", "loss", f"D = {D}", ax)
    after = {name: f"{run[:, 4].mean():.3f}" for name, run in runs.items()}
    print(f"D = {D}, mean loss after 50 steps:", after)

# %% [markdown]
# At D = 4 the unscaled loss is a little higher at first, and then the two curves meet. At D = 256 the unscaled attention is sure and mostly wrong from the start, little of the error comes through, and it learns far more slowly. (Where the loss is a cross-entropy on the scores themselves, being sure and wrong costs less time, as lesson 02 said of classifiers.)
#
# ## What does each score cost?
#
# We count multiply-adds by formula, and let PyTorch count its matrix products (it reports two operations for each multiply-add). The additive score multiplies every
# pair by $W$; the perceptron multiplies each side once and then adds. What does the same function cost in both ways?

# %% tags=["nbval-check-output"]
from torch.utils.flop_counter import FlopCounterMode

T, S, D, E, A = 50, 50, 64, 64, 64
formula = dict.fromkeys(["dot", "scaled_dot", "content_based", "location_based"], T * S * D)
formula |= {"general": T * D * E + T * S * E, "concatenating": T * S * (D + E)}
formula |= {"additive": T * S * A * (D + E) + T * S * A, "perceptron": T * A * D + S * A * E + T * S * A}
inputs = {name: parts(name, T=T, S=S, D=D, A=A) for name in SCORES}
pairs = {"additive": "T S D+E", "concatenating": "T S D+E", "perceptron": "T S A"}
costs = {}
for name in SCORES:
    state, hidden, learned = inputs[name]
    as_matrices = [
        w[:, None] if w.ndim == 1 else w for w in learned
    ]  # PyTorch does not count products with a vector
    with FlopCounterMode(display=False) as counter:
        scores_of(name, state, hidden, as_matrices)
    of_dot = formula[name] / formula["dot"]
    costs[name] = [formula[name], counter.get_total_flops() // 2, of_dot, pairs.get(name, "T S")]
table(costs, ["by formula", "counted", "times dot", "largest tensor"], corner="score", digits=1)

# %% [markdown]
# The formulas agree with the count. Change A to 8 in the cell and run it again: what does the perceptron cost then? For 50 words and width 64 the additive score costs 129 times as much as the dot product, and the perceptron, the same function, 3.6 times. (The concatenating score could be split in the same way.) Additive and perceptron also compute a tanh T·S·A times. Does the clock agree with the count?

# %%
from time import perf_counter

torch.set_num_threads(1)  # what follows is small: several threads would wait for each other
rounds = {name: [] for name in SCORES}
for _ in range(60):  # interleaved, so that a busy moment hits all alike
    for name, arguments in inputs.items():
        begin = perf_counter()
        scores_of(name, *arguments)
        rounds[name].append(perf_counter() - begin)
best = {name: torch.tensor(times).reshape(5, 12).amin(-1) for name, times in rounds.items()}  # of 12, 5 times
of_dot = {name: [times / best["dot"]] for name, times in best.items() if name != "dot"}


# %%
state, hidden, (W, U, v) = inputs["perceptron"]
added = (state @ W.T)[:, :, None] + (hidden @ U.T)[:, None]  # B T S A
steps = {
    "add": lambda: (state @ W.T)[:, :, None] + (hidden @ U.T)[:, None],
    "tanh": added.tanh,
    "times v": lambda: added @ v,
}
for name, step in steps.items():
    times = []
    for _ in range(60):
        begin = perf_counter()
        step()
        times.append(perf_counter() - begin)
    of_dot[f"perceptron: {name}"] = [torch.tensor(times).reshape(5, 12).amin(-1) / best["dot"]]
table(of_dot, ["time, in dot products"], corner="score", digits=1)

# %% [markdown]
# The dot product is the fastest and the additive score the slowest, by count and by clock. The perceptron takes longer than its products suggest, since T·S·A numbers have to be added and sent through a tanh.
#
# ## Does it matter which?
#
# In four worlds a state must find one of eight hidden states. In "same" the state is that hidden state plus noise. In "turned" it is also turned by an orthogonal matrix. In "position" it names a position. In "salience" the right one stands out by itself. Hidden states carry no position. Each vector ends in a 1 as a bias.


# %%
def found(name, world, seed, bias=1.0, steps=70):
    """The share of 1000 states whose largest weight lies on the right hidden state, after training."""
    batch, learned = find_one(world, seed, bias=bias), parts(name, S=8, D=5, A=32, seed=seed)[2]
    learned = [(w / w.shape[-1] ** 0.5).requires_grad_() for w in learned]
    adam = torch.optim.Adam(learned, lr=0.1) if learned else None
    for _ in range(steps if learned else 0):
        state, hidden, target = batch(64)
        loss = torch.nn.functional.cross_entropy(scores_of(name, state, hidden, learned)[:, 0], target)
        adam.zero_grad()
        loss.backward()
        adam.step()
    state, hidden, target = batch(1000)
    return (scores_of(name, state, hidden, learned)[:, 0].argmax(-1) == target).float().mean()


worlds = ["same", "turned", "position", "salience"]


def all_worlds(name, bias=1.0):
    runs = [[found(name, world, seed, bias) for world in worlds] for seed in seeds]
    return torch.tensor(runs)  # seeds worlds


# %% [markdown]
# We leave out the additive score, which is the perceptron, and the scaled dot product, which ranks the hidden states as the dot product does. Chance is 1/8. Which score finds the right one in all four worlds?

# %% tags=["nbval-check-output"]
predict("04.all_worlds", ...)

# %% tags=["reveals"]
accuracy = {name: all_worlds(name) for name in SCORES if name not in ("additive", "scaled_dot")}
accuracy["perceptron, no 1"] = all_worlds("perceptron", bias=0.0)
reveal("04.all_worlds", next((name for name, runs in accuracy.items() if (runs.mean(0) > 0.5).all()), "none"))
table(accuracy, worlds, corner="share found, five seeds", digits=2)

# %% [markdown]
# No score finds it in all four. Dot product and cosine find it in "same" only, since they need a shared space. In "turned" they do worse than chance, as most of the matrices turn a vector by more than a right angle. The general score also finds it in "turned" and "salience". The concatenating score sees only salience, and the location-based score only positions. The perceptron finds it everywhere except in "position".
# A dot product also rewards length, so a long wrong hidden state can beat a short right one; that is why the cosine is better in "same".
#
# Without the 1, the perceptron fails in "same" and "turned". Why?

# %% tags=["nbval-check-output"]
state, hidden, learned = parts("perceptron")
print("dot(-s, -h) = dot(s, h):", torch.allclose(dot(-state, -hidden), dot(state, hidden)))
turned_round, plain = perceptron(-state, -hidden, *learned), perceptron(state, hidden, *learned)
print("perceptron(-s, -h) = -perceptron(s, h):", torch.allclose(turned_round, -plain, atol=1e-6))

# %% [markdown]
# Without the 1 the perceptron is an odd function: what it ranks first for $s$ and $h$, it ranks last for $-s$ and $-h$. In "same" and "turned" both are equally frequent, so it stays at chance. In "salience" the right ranking is reversed, too.
#
# ## So which one?
#
# | score | finds | cannot | products, in dot products | used in |
# | --- | --- | --- | --- | --- |
# | dot, scaled dot | what is alike, in one space | compare different widths | 1 | Luong 2015; the Transformer, after projections |
# | content-based | what is alike, at any length | give sharp weights without a factor | 1 | Neural Turing Machine |
# | general | what a matrix can map onto each other | find positions | 2.3 | Luong 2015 |
# | perceptron, additive | any smooth comparison, with a bias | find positions; be fast | 3.6; 129 | Bahdanau 2014 |
# | concatenating | what stands out by itself | see the query | 2 | best left alone |
# | location-based | a position | see the words; sources longer than S | 1 | Luong 2015, as a comparison |
#
# Our advice: project both sides and take the scaled dot product; without projections √D can do harm (lesson 06). The perceptron finds more, but by the clock its tanh costs far more than its products. The general score mostly misses length, which lesson 12 will keep alike.
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
# - Does it matter which score we take? Yes: each sees something that another cannot, and they need as many products as 1 to 129 dot products; the clock adds the tanh.
# - Eight scores are six families; additive and perceptron are one function at two prices.
# - The concatenating score cannot depend on the query, the location-based one on the words.
# - Before training, dividing by √D keeps variance, weights and gradient level as the width grows. It does not make every width learn equally fast at one rate.
#
# **Exercises**: [open them](../exercises/04_alignment_scores.ipynb)
#
# **Next**: a translator has a state and hidden states. Where do they come from, and [can one vector hold a sentence?](05_seq2seq.ipynb)
