# %%
import timeit

import torch
import torch.nn.functional as F
from torch import nn
from transformers import MixtralConfig, MixtralForCausalLM
from transformers.models.mixtral.modeling_mixtral import MixtralSparseMoeBlock

from course_lessons.lesson_18_mixture_of_experts import figures
from course_utils import check, predict, reveal
from course_utils.data.regimes import WORDS, dictionaries, on_lines
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table
from course_utils.models.train_model import train_model
from course_utils.models.transformer import FeedForward

torch.set_printoptions(precision=3, sci_mode=False)


def generator(seed):
    return torch.Generator().manual_seed(seed)


# %% [markdown]
# Until now, a single network has answered every input. Now several networks share the work. In many large language models, a router picks a few of many feed-forward networks for each token. Such a model has many parameters but uses only a fraction of them for each token. Which network should answer, and how does a model learn to choose? We begin with points in a plane, where we can see the answers, and end with a Transformer.
#
# ## Several rules, and nobody says where each applies
#
# For the points plotted below, we want to predict y from x with networks that can each produce only one straight line. How many would you use?

# %%
points = on_lines(1000, generator(1))  # x: B 1, y: B 1
plots.scatter(points.x[:300, 0], points.y[:300, 0], "x", "y")

# %% [markdown]
# Since the points lie on three line segments, three networks are enough. But nobody tells us where one segment ends and the next begins, so two things have to be learned. Each network, called an **expert**, learns what to answer, and one more network, the **gate** or router, learns which expert should answer (Jacobs et al., 1991). Together they form a **mixture of experts**.
#
# ## A gate is attention over networks
#
# All experts read the same input $x$, and expert $i$ produces the output $o_i(x)$. The gate computes a score for each, and a softmax turns the scores into weights $g_i$. The mixture's answer $y$ is the weighted sum of the outputs:
#
# $$g = \text{softmax}(W x + b) \qquad y = \sum_i g_i\, o_i(x)$$
#
# Row $i$ of $W$ belongs to expert $i$, whose score is the dot product of that row and $x$, plus the bias $b_i$. Calculate the answer on paper for two experts with outputs 2 and 6 and scores ln 3 and 0; the exponential of ln 3 is 3.

# %% tags=["nbval-check-output"]
outputs = torch.tensor([2.0, 6.0])  # N
scores = torch.tensor([3.0, 1.0]).log()  # N: ln 3 and ln 1 = 0
weights = scores.softmax(-1)  # N
answer = 0
for i in range(2):
    answer = answer + weights[i] * outputs[i]
print("weights", weights)
print("answer ", answer)
print("the same as a product:", weights @ outputs)

# %% [markdown]
# With weights of 3/4 and 1/4, the mixture answers 3/4 · 2 + 1/4 · 6 = 3.
#
# This is the same calculation as attention in lesson 03. What are the query, keys and values here? In the code, N is the number of experts, D the dimension of an input, and E the dimension of an output.


# %%
class Mixture(nn.Module):
    def __init__(self, D, E, N):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(D, E) for _ in range(N))
        self.gate = nn.Linear(D, N)  # its matrix is W, N D

    def forward(self, x):  # B D
        outputs = [expert(x) for expert in self.experts]  # N tensors, B E
        weights = self.gate(x).softmax(-1)  # B N
        return torch.stack(outputs, dim=1), weights  # B N E, B N


def weighted_sum(outputs, weights):  # B N E, B N
    weighted = weights[:, :, None] * outputs  # B N 1 times B N E: B N E
    return weighted.sum(1)  # B E


# %%
figures.draw_mixture()

# %% [markdown]
# The input is the query, the rows of $W$ are the keys, and the outputs are the values. One difference from attention over words will matter throughout this lesson: each value has to be computed anew for each query, so every expert we skip saves computation.
#
# ## Work together, or compete?
#
# Now the mixture has to learn, and what becomes of its experts depends on the loss. The loss can require that the weighted sum be close to the target $t$, or that one of the experts be close to it:
#
# $$\tfrac{1}{2} \Big\| t - \sum_i g_i o_i \Big\|^2 \qquad\text{or}\qquad -\log \sum_i g_i\, e^{-\frac{1}{2} \| t - o_i \|^2}$$
#
# The first loss compares only the weighted sum with the target, whereas the second compares each output separately (Jacobs et al., 1991, equation 1.3). The factor $e^{-\frac12\|t-o_i\|^2}$ is 1 if the output equals the target and close to 0 if it is far away. Because the negative logarithm turns a sum close to 1 into a loss close to 0, the second loss is small whenever one expert with a large weight is close to $t$.
#
# Our two experts show the difference: with outputs of 2 and 6, weights of 3/4 and 1/4 and a target of 2.5, the first expert is nearly right. Guess which loss moves its output towards the target and which moves it away.


# %% tags=["nbval-check-output"]
def sum_loss(outputs, weights, target):  # B N E, B N, B E
    errors = weighted_sum(outputs, weights) - target  # B E
    return errors.square().sum(-1).mean() / 2


def competing_loss(outputs, weights, target):  # B N E, B N, B E
    squared = (target[:, None] - outputs).square().sum(-1)  # B N
    sums = (weights * (-squared / 2).exp()).sum(-1)  # B
    return -sums.log().mean()


outputs = torch.tensor([[[2.0], [6.0]]], requires_grad=True)  # B N E
weights = torch.tensor([[0.75, 0.25]])  # B N
target = torch.tensor([[2.5]])  # B E
losses = {
    "of the sum": sum_loss(outputs, weights, target),
    "of each output": competing_loss(outputs, weights, target),
}
print("how a step moves the outputs: minus the gradient")
for name, loss in losses.items():
    gradients = torch.autograd.grad(loss, outputs)  # a tuple of one tensor, B N E
    print(f"loss {name:14}", -gradients[0].flatten())

# %% [markdown]
# It is the loss on the weighted sum that moves the first output away. The sum is 3 but should be 2.5, so both outputs are lowered, even though the first, at 2, is already too small. Such experts **work together**: each makes up for the other's errors.
#
# The second loss moves the first output towards the target. The second output hardly moves: it is further from the target, so its term inside the logarithm is nearly 0. An input therefore mainly trains the expert with the largest term, and the experts **compete** for the input.
#
# To see what this means for our points, we train two mixtures of three straight lines, one with each loss. What will their lines look like?


# %%
def train_on_points(loss):
    torch.manual_seed(0)
    mixture = Mixture(D=1, E=1, N=3)

    def loss_of_batch(draw):  # train_model hands over a generator
        rows = torch.randint(len(points.x), (64,), generator=draw)  # B
        outputs, weights = mixture(points.x[rows])  # B N E, B N
        return loss(outputs, weights, points.y[rows])

    train_model(mixture, loss_of_batch, seed=0, steps=1000, rate=0.03)
    return mixture


together = train_on_points(sum_loss)
competing = train_on_points(competing_loss)
figures.draw_lines({"work together": together, "compete": competing}, points)

# %% [markdown]
# Each line belongs to one expert, and where that expert has the largest weight, its line is thick and the background is in the line's colour. On the left, where the experts work together, the lines miss many points, and only the weighted sum roughly follows them. On the right, where they compete, each line follows one of the segments.
#
# Among competing experts, the one with the largest weight could answer on its own. Over 20 seeds, how much larger would the error be without the others?

# %% tags=["nbval-check-output"]
figures.errors_on_lines()

# %% [markdown]
# Using only one expert hardly increases the error if they compete, whereas the mean error rises from 0.05 to 0.80 if they work together.
#
# ## Use only the best expert
#
# Once trained, a competing expert can answer alone, so we can skip the others. But the loss that makes them compete requires every expert's output. If we use only the best expert from the beginning, we save this computation as well, and an ordinary loss will do, because that expert cannot rely on any other.
#
# The weights of all the other experts should then be exactly 0, but mathematically, a softmax never gives 0. Shazeer et al. (2017) therefore keep only the $k$ largest scores and hide the rest, as a mask hides words. If k is 2, what weights do experts with scores of 1, 3 and 2 get?

# %% tags=["nbval-check-output"]
scores = torch.tensor([1.0, 3.0, 2.0])  # N
best = scores.topk(2).indices  # the experts with the two largest scores
keep = torch.zeros(3, dtype=torch.bool)  # N: True means "may answer"
keep[best] = True
weights = scores.masked_fill(~keep, -torch.inf).softmax(-1)  # N
print("keep   ", keep)
print("weights", weights)
diagrams.best_experts(scores, weights)

# %% [markdown]
# The first expert gets 0, so it need not read the input; the other two get 0.731 and 0.269. But the saving has a price: an output multiplied by 0 gets a gradient of 0, so the expert learns nothing from this input.
#
# ## One expert for each input
#
# We save the most computation if k is 1, but can the gate still learn? It learns from the loss only if the answer depends on its scores. We can multiply the best expert's output by the softmax of the single score that is kept, or by the expert's probability $p_i$ in the softmax over all the scores. Guess in which case the gate receives a gradient.

# %% tags=["nbval-check-output"]
scores = torch.tensor([1.0, 3.0, 2.0], requires_grad=True)  # N
output = 6.0  # of the best expert, the second
factors = {
    "softmax of the best score": scores[1:2].softmax(-1)[0],  # 1:2 is the second alone
    "softmax of all scores": scores.softmax(-1)[1],
}
for name, factor in factors.items():
    gradients = torch.autograd.grad(factor * output, scores, retain_graph=True)
    print(f"{name:25}  factor {factor:.3f}  gradient", gradients[0])
for target in (6.0, 1.0):
    loss = (factors["softmax of all scores"] * output - target).square() / 2
    gradients = torch.autograd.grad(loss, scores, retain_graph=True)
    print(f"target {target}: a step moves the scores by", -gradients[0])

# %% [markdown]
# Only the softmax over all scores gives the gate a gradient, because the probability 0.665 depends on all of them, whereas the softmax of a single number is always 1.
#
# The last two lines show what the gate learns. If a larger multiple of this output would lower the loss, as with a target of 6, a step raises the expert's score. If less of it would, as with a target of 1, a step lowers the score, and a different expert may win next time.
#
# A **switch** (Fedus et al., 2021) takes the second approach: it uses only the expert with the largest probability and multiplies its output by this probability:
#
# $$p = \text{softmax}(W x + b) \qquad y = p_i\, o_i(x) \quad\text{with } i = \arg\max_j\, p_j$$
#
# In a Transformer, the inputs are the tokens of a text, so from now on we call every input a **token**.


# %%
class Switch(nn.Module):
    def __init__(self, D, N):  # width of a token, number of experts
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(D, D) for _ in range(N))
        self.gate = nn.Linear(D, N)

    def forward(self, x):  # B D
        p = self.gate(x).softmax(-1)  # B N
        factor, chosen = p.max(-1)  # B, B: the largest p, and which expert has it
        y = torch.zeros_like(x)  # B D
        for i, expert in enumerate(self.experts):
            rows = chosen == i  # B: True for the tokens of this expert
            output = expert(x[rows])  # rows of this expert, D
            y[rows] = factor[rows, None] * output  # None: a factor for each row
        return y, p, chosen


# %% [markdown]
# ## Will every expert be used?
#
# An expert that is never chosen learns nothing. To see whether this happens, we give a switch a task with many rules: eight languages and 64 words, where each language has its own translation of each word. Here, a token is a vector of 8 + 64 entries: a 1 for the language, a 1 for the word and 0s elsewhere. Work out where the 1s for language 6 and word 13 are.

# %% tags=["nbval-check-output"]
task = dictionaries(0, languages=8)
D = 8 + WORDS  # 72: 8 languages and 64 words


def batch(draw, size=64):
    given, wanted = task.batch(draw, size, length=1)  # B 2, B 1
    ones = F.one_hot(given, D)  # B 2 D: a row for the language, one for the word
    x = ones.sum(1).float()  # B D: two 1s in each row
    translation = 8 + wanted[:, 0]  # B: words 0 to 63 are the symbols 8 to 71
    return x, translation


x, translation = batch(generator(1), size=2)
places = 1 + x[0].nonzero().flatten()  # counted from 1
print("1s of the first token:", places.tolist())

# %% [markdown]
# The 1s are at positions 6 and 8 + 13 = 21.
#
# We use eight linear experts to translate these tokens; every expert gives each of the 72 symbols a score. Can one expert store two languages? Take two words and their translations, the symbols 31 and 45:
#
# | | first language | second language |
# | --- | --- | --- |
# | first word | 31 | 45 |
# | second word | 45 | 31 |
#
# This is the XOR problem from lesson 16. To score a symbol, an expert adds one term for the language and one for the word, so it cannot prefer 31 on one diagonal and 45 on the other. An expert can therefore store only one whole language, or large parts of several. But with eight experts, each language could have its own.


# %%
def no_loss(p, chosen):  # B N, B: later, another loss takes this place
    return 0.0


def train(second_loss, seed=0):
    torch.manual_seed(seed)
    model = Switch(D, N=8)
    used = []  # how many experts each batch asks

    def loss_of_batch(draw):
        x, translation = batch(draw)  # B D, B
        y, p, chosen = model(x)  # B D, B N, B
        used.append(len(chosen.unique()))
        return F.cross_entropy(y, translation) + second_loss(p, chosen)

    train_model(model, loss_of_batch, seed, steps=700, rate=0.015)
    return model, used


@torch.no_grad()
def test(name, model):
    x, translation = batch(generator(1), size=4000)  # B D, B
    y, _, chosen = model(x)  # B D, B N, B
    right = (y.argmax(-1) == translation).float().mean().item()
    shares = F.one_hot(chosen, 8).float().mean(0)  # N: of all tokens
    at_work = (shares > 0.01).sum().item()  # more than one token in 100
    print(f"{name}: {at_work} of 8 experts have work, {right:.2f} of the words right")
    return right


# %% tags=["nbval-check-output"]
predict("18.without_balance", ...)

# %% tags=["reveals"]
print("Eight linear experts, trained for the right words alone:")
alone, used = train(no_loss)
reveal("18.without_balance", round(test("no second loss", alone), 2))
for steps in (0, 10, 20, 699):
    print(f"after {steps} steps, a batch asks {used[steps]} experts")

# %% [markdown]
# The switch gets most of the words wrong, and only two of the eight experts are in use: the mixture has **collapsed**. After 20 steps, batches are already routed to only two experts, and this is still so after 3,500 steps. At a learning rate of 0.05, four experts are in use by then, and 86% of the words are right. Shazeer et al. (2017) saw the same collapse in large models and explained why it reinforces itself: the experts that are chosen learn faster and are therefore chosen even more often.
#
# ## A balance loss
#
# To encourage the gate to spread the tokens over all the experts, Fedus et al. (2021, equation 4) add a **balance loss**:
#
# $$N \sum_i f_i P_i$$
#
# Here $f_i$ is the share of the tokens that go to expert $i$, and $P_i$ is the expert's mean probability over all tokens. For the six tokens and three experts below, calculate f, P and the loss on paper.


# %% tags=["nbval-check-output"]
def balance_loss(p, chosen):  # B N, B
    N = p.shape[1]
    f = F.one_hot(chosen, N).float().mean(0)  # N
    P = p.mean(0)  # N
    return N * (f * P).sum()


p = torch.tensor([
    [0.7, 0.2, 0.1],
    [0.6, 0.1, 0.3],
    [0.8, 0.1, 0.1],
    [0.5, 0.4, 0.1],
    [0.1, 0.7, 0.2],
    [0.3, 0.3, 0.4],
], requires_grad=True)  # B N  # fmt: skip
chosen = p.argmax(-1)  # B
loss = balance_loss(p, chosen)
gradient = torch.autograd.grad(loss, p)[0]  # B N
print("f", F.one_hot(chosen, 3).float().mean(0))
print("P", p.mean(0).detach())
print(f"loss {loss:.2f}")
print("gradient for the first token", gradient[0])

# %% [markdown]
# Four of the six tokens go to the first expert, so f = (4/6, 1/6, 1/6), and P = (0.5, 0.3, 0.2). The loss is 3 · (4/6 · 0.5 + 1/6 · 0.3 + 1/6 · 0.2) = 1.25, whereas with equal shares for all experts, it would be 1. The more tokens go to a few experts, and the more probable the gate finds these experts, the larger the loss.
#
# Because f is a count, the gradient flows through P alone. It is largest for the expert that gets the most tokens, so a step lowers that expert's probability, and a different expert can win.
#
# We train the switch again, adding a tenth of the balance loss. In the plot of the first 16 words, each cell's number and colour show its expert. Will each language now go to its own expert?


# %%
def weighted_balance_loss(p, chosen):
    return 0.1 * balance_loss(p, chosen)


balanced, _ = train(weighted_balance_loss)
right = test("with the balance loss", balanced)
figures.draw_choices({"no second loss": alone, "with the balance loss": balanced})

# %% [markdown]
# Most languages are shared by several experts; the balance loss encourages only equal shares of the tokens. But nearly all experts are in use now, and the switch gets about nine words in ten right.
#
# ## Other ways to balance
#
# **Your turn**: can you prevent the collapse in another way? Write a line for `mine` that depends only on `p.mean(0)`.


# %%
def mine(p, chosen):  # B N, B
    return 0.0 * p.sum()  # your own line


right = test("with mine", train(mine)[0])  # 0: the model

# %% [markdown]
# <details><summary>Answer</summary>
#
# One line to try is `8 * p.mean(0).square().sum()`, which is smallest if all experts have the same mean probability. With it, all eight experts are in use, and the switch gets more than nine words in ten right.
#
# </details>
#
# Wang et al. (2024) instead give each expert an **offset** $c_j$, which affects the choice of the expert but not the factor $p_i$. After each batch, the offset rises by a step $u$, here 0.01, if the expert got too few tokens and falls by $u$ if it got too many:
#
# $$i = \arg\max_j\, (p_j + c_j) \qquad c_j \leftarrow c_j + u\, \text{sign}(1/N - f_j)$$
#
# Alternatively, the tokens could first go through the norm from lesson 12. Which of these methods prevent the collapse, and does the gate have to learn at all? To find out, the table includes a **fixed gate**, which keeps its initial weights.


# %% tags=["nbval-check-output"]
figures.ways_to_balance()

# %% [markdown]
# The offsets also prevent the collapse, and so does the norm, which makes the inputs about six times as large. For every seed, the fixed gate gets fewer words right than any of these methods, but more than a gate that collapses.
#
# ## What has each expert learned?
#
# In the switch with the balance loss, we give all the test tokens to each expert. What share of its own tokens will an expert get right, and what share of the others' tokens?

# %%
x, translation = batch(generator(1), size=4000)  # B D, B
rows = {}
with torch.no_grad():
    _, _, chosen = balanced(x)  # B: which expert the gate asks
    for i, expert in enumerate(balanced.experts):
        right = (expert(x).argmax(-1) == translation).float()  # B
        asked = chosen == i  # B
        share = asked.float().mean()
        rows[f"expert {i + 1}"] = [share, right[asked].mean(), right[~asked].mean()]
table(rows, ["share of all tokens", "right of its own", "right of the others'"])

# %% [markdown]
# Each expert gets most of its own tokens right and almost none of the others' tokens. On these, seven of the eight experts do worse than a random guess among 64 words, which is right 1.6% of the time. Each expert has learned only from the tokens sent to it.
#
# ## Experts in a Transformer
#
# In the feed-forward network from lesson 12, every token uses all the parameters. Now each token uses only k of N such networks. Mixtral 8x7B (Jiang et al., 2024) has k = 2 and N = 8; unlike a switch, it divides both probabilities by their sum.


# %%
class TopExperts(nn.Module):
    def __init__(self, D, hidden, N, k):  # hidden units, experts, experts per token
        super().__init__()
        self.experts = nn.ModuleList(FeedForward(D, hidden) for _ in range(N))
        self.gate = nn.Linear(D, N, bias=False)
        self.k = k

    def forward(self, x):  # B T D
        tokens = x.flatten(0, 1)  # B·T D
        p = self.gate(tokens).softmax(-1)  # B·T N
        weights, chosen = p.topk(self.k)  # B·T k, B·T k
        if self.k > 1:  # a single weight would always be 1
            weights = weights / weights.sum(-1, keepdim=True)
        y = torch.zeros_like(tokens)  # B·T D
        for i, expert in enumerate(self.experts):
            rows, places = (chosen == i).nonzero(as_tuple=True)  # token; 0 to k - 1
            y[rows] += weights[rows, places, None] * expert(tokens[rows])
        return y.view_as(x)


# %% [markdown]
# With k = 1, this layer is a switch. With k = 2, its answer should be the weighted sum of all the outputs, with the weights from *Use only the best expert*.

# %% tags=["nbval-check-output"]
torch.manual_seed(0)
layer = TopExperts(D=4, hidden=8, N=3, k=2)
x = torch.randn(1, 5, 4)  # B T D
scores = layer.gate(x[0])  # T N
best = scores.topk(2).indices  # T 2
keep = torch.zeros(5, 3, dtype=torch.bool).scatter(1, best, True)  # T N
weights = scores.masked_fill(~keep, -torch.inf).softmax(-1)  # T N
outputs = torch.stack([expert(x[0]) for expert in layer.experts], dim=1)  # T N D
print("weights of the first token", weights[0].detach())
print("the same answers:", torch.allclose(layer(x)[0], weighted_sum(outputs, weights)))

# %% [markdown]
# The answers agree, although `layer` computes only two of the three outputs for each token. Mixtral's experts are SwiGLU networks (lesson 22) without biases. With such experts, does `TopExperts` agree with Mixtral's layer in Hugging Face's `transformers`?


# %% tags=["nbval-check-output"]
class SwiGLU(nn.Module):
    def __init__(self, gate_up, down):  # two matrices in one, 2·hidden D; D hidden
        super().__init__()
        self.gate_up = gate_up
        self.down = down

    def forward(self, x):  # tokens of this expert, D
        gate, up = (x @ self.gate_up.T).chunk(2, dim=-1)  # each: tokens, hidden
        # silu(z) = z · sigmoid(z)
        return (F.silu(gate) * up) @ self.down.T  # tokens, D


torch.manual_seed(0)
config = MixtralConfig(
    hidden_size=4, intermediate_size=8, num_local_experts=3,
    experts_implementation="eager",  # a loop over the experts, like ours
)  # fmt: skip
block = MixtralSparseMoeBlock(config)  # its parameters have no values yet
for parameter in block.parameters():
    nn.init.normal_(parameter)
layer = TopExperts(D=4, hidden=8, N=3, k=config.num_experts_per_tok)  # 2 by default
layer.gate.weight = block.gate.weight
matrices = zip(block.experts.gate_up_proj, block.experts.down_proj, strict=True)
layer.experts = nn.ModuleList(SwiGLU(gate_up, down) for gate_up, down in matrices)
print("the same answers:", torch.allclose(layer(x), block(x), atol=1e-5))

# %% [markdown]
# `TopExperts` gives the same answers. We now count Mixtral's parameters, in all and for one token.

# %% tags=["nbval-check-output"]
with torch.device("meta"):  # shapes without entries
    mixtral = MixtralForCausalLM(MixtralConfig())  # by default, Mixtral 8x7B
in_all = 0
in_experts = 0
for name, parameter in mixtral.named_parameters():
    in_all += parameter.numel()
    if ".experts." in name:
        in_experts += parameter.numel()
counts = {"in all": in_all, "for one token": in_all - in_experts * 6 / 8}
for name, count in counts.items():  # a token skips six of eight experts
    print(f"{name:13}  {count / 1e9:.1f} billion parameters")

# %% [markdown]
# As its authors state, a token uses 12.9 of the 46.7 billion parameters, but all must be in memory. In DeepSeek-V3 (DeepSeek-AI, 2024), it uses 37 of 671 billion: most layers route it to eight of 256 experts and add the output of a **shared expert**, which reads every token.

# %%
diagrams.switch_layer(new=["gate", "experts"])

# %% [markdown]
# The diagram shows the layer from lesson 12 with a switch. We have trained a translation model with one such layer ([our measurements](../docs/measurements.md#what-experts-know)) for 32 languages and 64 words. It reads a language and six words and translates each. Its *8 experts* are feed-forward networks, trained with k = 1, with k = 2, and with k = 1 but no balance loss. We compare them with *one network* the size of an expert and *one wide network* with eight times as many hidden units.
#
# A token has 32 entries and an expert 32 hidden units. An expert therefore needs 2 · 32 · 32 = 2,048 multiplications per token, and the gate 8 · 32 = 256.

# %% tags=["nbval-check-output"]
predict("18.translators", ...)

# %% tags=["reveals"]
print("Each layer was trained with the same seeds:")
reveal("18.translators", "one wide network")
figures.compare_layers()

# %% [markdown]
# For every seed, the *wide network* gets more words right than the eight experts with k = 1. It has nearly as many parameters but needs seven times as many multiplications per token. After 6,000 steps, both get nearly all the words right (one run each), so the wide network merely learns faster. A second expert for each token makes up more than half of the mean difference.
#
# With only an eighth more multiplications, the experts with k = 1 get 33 percentage points more words right than *one network*. With each at the best of four learning rates, the lead was [11 and 14 points](../docs/measurements.md) for two seeds. In this task, experts are therefore better if multiplications per token are the limit.
#
# This layer does not collapse even without the balance loss, perhaps because there is a norm before the gate. But large models have another reason for balance: their experts are spread over several chips, and the busiest chip makes the others wait.
#
# Multiplications are only a proxy: do fewer of them also take less time? We measure our layers and wider ones, whose experts have D hidden units.


# %%
@torch.no_grad()
def milliseconds(layer, x):
    seconds = timeit.repeat(lambda: layer(x), number=1, repeat=10)
    return 1000 * min(seconds)


rows = {}
for D in (32, 512):
    x = torch.randn(64, 7, D)  # B T D: as many tokens as in a batch of translations
    wide = FeedForward(D, 8 * D)
    rows[f"D = {D}, one wide network"] = [16 * D * D, milliseconds(wide, x)]
    for k in (1, 2):
        layer = TopExperts(D, hidden=D, N=8, k=k)
        products = 2 * k * D * D + 8 * D
        rows[f"D = {D}, 8 experts, k = {k}"] = [products, milliseconds(layer, x)]
table(rows, ["multiplications per token", "milliseconds"])

# %% [markdown]
# Not always: at the width of our translation model, 32, collecting each expert's tokens costs more time than the saved multiplications. At a width of 512, the experts are several times as fast as the wide network.
#
# ## So: who should answer?
#
# The expert that has learned this kind of token should answer. The gate sends a token to some expert, which learns from it, and because the answer is multiplied by the expert's probability, the gate learns whether this was a good choice. Choice and skill therefore develop together, and after training, hardly any other expert can answer.
#
# These kinds need not have a name: most of our languages were shared by several experts. Jiang et al. (2024) looked for experts on single topics in Mixtral and found no obvious ones.
#
# ## Where you will meet this
#
# | here | in papers | in Hugging Face's `transformers` |
# | --- | --- | --- |
# | `gate` | router | `SwitchTransformersTop1Router`; no bias by default |
# | `TopExperts`, k | top-k gating | `MixtralSparseMoeBlock`, `num_experts_per_tok` |
# | `balance_loss` · 0.1 | load balancing loss, $\alpha$ = 0.01 | `router_aux_loss_coef` = 0.001 |
# | offset $c_j$ | bias $b_i$ | `e_score_correction_bias` in `DeepseekV3TopkRouter` |
#
# ## Questions
#
# Run a cell to see its question, then replace the dots with a number or a letter in quotes.

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
# - A gate is attention over networks: the input is the query, the rows of $W$ are the keys, and the outputs are the values.
# - If experts compete, the one with the largest weight can answer on its own.
# - An expert with a weight of exactly 0 gets no gradient. When nothing spread the tokens, a learned gate sent nearly all the tokens to one to four of our eight linear experts.
# - With only an eighth more multiplications per token, our layer of experts got more words right than one network. It learned more slowly than a wide network with nearly as many parameters.
#
# **Exercises**: [open them](../exercises/18_mixture_of_experts_exercises.ipynb)
#
# **Next**: all these networks need many examples. Can a network learn from five? [Lesson 19](19_snail.ipynb) answers this.
