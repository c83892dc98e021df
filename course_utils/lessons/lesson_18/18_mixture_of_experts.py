# %%
import torch
import torch.nn.functional as F
from torch import nn

from course_utils import check, predict, reveal
from course_utils.data.regimes import LANGUAGES, WORDS, dictionaries, on_lines
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table
from course_utils.lessons.lesson_18 import _shown
from course_utils.models.experts import Translator, fit_translator, mixture_loss
from course_utils.models.train_model import train_model

torch.set_printoptions(precision=3, sci_mode=False)


def generator(seed):
    return torch.Generator().manual_seed(seed)


# %% [markdown]
# So far, one network has answered all inputs. Now we have several networks, and one of them should answer each input. Who should it be, and how does a model learn to choose? We begin with points in a plane, where we can see the answers. At the end, we put several networks into a Transformer.
#
# ## Three rules, and nobody says where each holds
#
# Here are our points. We want to predict y from x, with networks that can each draw one straight line. How many of them would you use?

# %%
points = on_lines(1000, generator(1))  # x: B 1, y: B 1
plots.scatter(points.x[:300, 0], points.y[:300, 0], "x", "y")

# %% [markdown]
# Three networks are enough, because the points lie on three straight pieces. But nobody says where one piece ends and the next one begins.
#
# So two things have to be learned. Each network learns what to answer, and is called an **expert**. Another network learns which expert should answer, and is called the **gate** (Jacobs et al. 1991). Together they are a **mixture of experts**.
#
# ## A gate is attention over networks
#
# All experts read the same input $x$. Expert $i$ gives the output $o_i(x)$. The gate gives a score to each expert, and a softmax turns the scores into weights $g_i$. Each of these numbers is also called a **gate**. The answer $y$ is the weighted sum of the outputs:
#
# $$g = \text{softmax}(W x + b) \qquad y = \sum_i g_i\, o_i(x)$$
#
# Each row of $W$ belongs to an expert, and its dot product with $x$ is the score of this expert. Each expert also has a number in $b$, which is added to its score for every input.
#
# Take two experts with the outputs 2 and 6, and the scores ln 3 and 0. Calculate on paper: what is the answer? The exponential of ln 3 is 3.

# %% tags=["nbval-check-output"]
outputs = torch.tensor([2.0, 6.0])  # N
scores = torch.tensor([3.0, 1.0]).log()  # N: ln 3 and ln 1 = 0
gates = scores.softmax(-1)  # N
answer = 0
for i in range(2):
    answer = answer + gates[i] * outputs[i]
print("gates ", gates)
print("answer", answer)
print("the same as a product:", gates @ outputs)

# %% [markdown]
# The answer is 3, because the gates are 3/4 and 1/4, and 3/4 · 2 + 1/4 · 6 = 3.
#
# This is the attention of lesson 03. What are its query, its keys and its values here? In the code, N is the number of experts, D the width of an input, and E the width of an output.


# %%
class Mixture(nn.Module):
    def __init__(self, D, E, N):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(D, E) for _ in range(N))
        self.gate = nn.Linear(D, N)  # its matrix is W, N D

    def forward(self, x):  # B D
        outputs = [expert(x) for expert in self.experts]  # N tensors, B E
        gates = self.gate(x).softmax(-1)  # B N
        return torch.stack(outputs, dim=1), gates  # B N E, B N


def weighted_sum(outputs, gates):  # B N E, B N
    weighted = gates[:, :, None] * outputs  # B N 1 times B N E: B N E
    return weighted.sum(1)  # B E


# %%
_shown.draw_mixture()

# %% [markdown]
# The input is the query, the rows of $W$ are the keys, and the outputs are the values. One difference from the attention of words matters here: a value has to be computed anew for each query. If an expert is not asked, this work is saved. In the box "mask", we shall leave experts out.
#
# ## Work together, or compete?
#
# What should the loss ask for? It can ask that the weighted sum comes near the target $t$, or that one of the experts does:
#
# $$\tfrac{1}{2} \Big\| t - \sum_i g_i o_i \Big\|^2 \qquad\text{or}\qquad -\log \sum_i g_i\, e^{-\frac{1}{2} \| t - o_i \|^2}$$
#
# The first loss compares only the sum with the target. The second loss compares each output by itself (Jacobs et al. 1991, equation 1.3). The factor $e^{-\frac12\|t-o_i\|^2}$ is 1 if the output equals the target, and near 0 if it is far away. The logarithm with its minus turns a sum near 1 into a loss near 0. So this loss is small as soon as one expert with a large gate is right.
#
# We take the two experts again, with the outputs 2 and 6 and the gates 3/4 and 1/4. The target is 2, so the first expert is right. The function `mixture_loss` computes the second loss, and in the exercises you write it. Which of the losses asks the first expert to change its output, although it is right?


# %% tags=["nbval-check-output"]
def sum_loss(outputs, gates, target):  # B N E, B N, B E
    errors = weighted_sum(outputs, gates) - target  # B E
    return errors.square().sum(-1).mean() / 2


outputs = torch.tensor([[[2.0], [6.0]]], requires_grad=True)  # B N E
gates = torch.tensor([[0.75, 0.25]])  # B N
target = torch.tensor([[2.0]])  # B E
losses = {
    "of the sum": sum_loss(outputs, gates, target),
    "of each output": mixture_loss(outputs, gates, target),
}
print("sizes of the gradients of both outputs")
for name, loss in losses.items():
    (gradient,) = torch.autograd.grad(loss, outputs)  # B N E
    sizes = gradient.abs().flatten()  # N
    print(f"loss {name:14}  {sizes[0]:.4f}  {sizes[1]:.4f}")

# %% [markdown]
# The loss of the sum asks the first expert to change. The sum is 3 and the target 2, so both experts should give smaller numbers. This makes the experts **work together**: each makes up for the errors of the other.
#
# With the second loss, the gradient of the first expert is 0: it is right, and stays as it is. The gradient of the second expert is almost 0, too. Its exponential is nearly 0, because it is far from the target, so it has hardly any share in the sum inside the logarithm. So an input teaches the expert that is already near its target. The experts **compete** for the input.
#
# We train two mixtures of three straight lines on our points, one with each loss. What will their lines look like?


# %%
def train_on_points(loss):
    torch.manual_seed(0)
    mixture = Mixture(D=1, E=1, N=3)

    def loss_of_batch(draw):
        rows = torch.randint(len(points.x), (64,), generator=draw)  # B
        outputs, gates = mixture(points.x[rows])  # B N E, B N
        return loss(outputs, gates, points.y[rows])

    train_model(mixture, loss_of_batch, seed=0, steps=1000, rate=0.03)
    return mixture


together = train_on_points(sum_loss)
competing = train_on_points(mixture_loss)
_shown.draw_lines({"work together": together, "compete": competing}, points)

# %% [markdown]
# Each line belongs to one expert. Where this expert has the largest gate, its line is thick and the background has its colour. On the left, the experts work together: the lines miss many of the points, and only the weighted sum roughly follows them. On the right, the experts compete, and each line follows one of the pieces.
#
# So the competing expert with the largest gate could answer alone. Does this hold for other seeds, too? We have trained both kinds with 20 seeds. How much larger than the error of the sum is the error of that single expert?

# %% tags=["nbval-check-output"]
_shown.errors_on_lines()

# %% [markdown]
# If experts compete, the single expert is hardly worse than the sum: its mean error is 0.07, and that of the sum is 0.06. If experts work together, the mean error of the single expert is 0.80, and that of the sum is 0.05. So competing makes experts that can answer alone.
#
# ## Who learns from an input?
#
# If one expert can answer alone, we need not ask the others. Their gates should then be exactly 0. A softmax never gives exactly 0. So Shazeer et al. 2017 keep only the $k$ largest scores, and hide the others as a mask hides words.
#
# Three experts have the scores 1, 3 and 2, and k is 2. Which gates come out?

# %% tags=["nbval-check-output"]
scores = torch.tensor([1.0, 3.0, 2.0])  # N
best = scores.topk(2).indices  # the experts with the two largest scores
keep = torch.zeros(3, dtype=torch.bool)  # N: True means "may answer"
keep[best] = True
gates = scores.masked_fill(~keep, -torch.inf).softmax(-1)  # N
print("keep ", keep)
print("gates", gates)
diagrams.best_experts(scores, gates)

# %% [markdown]
# The first expert gets 0, so it need not even read the input. The other two share the weight by the softmax of 3 and 2, which is 0.731 and 0.269.
#
# An output that is multiplied by 0 gets a gradient of 0. So the first expert gets no gradient from this input. And if a gate is not 0, but tiny? To see it, we treat three outputs, 2, 6 and 4, as numbers that are learned. They make one step, so that their weighted sum comes nearer to the target 5. The gates are 0, 0.9999 and 0.0001. Which outputs change with SGD, which takes the plain gradient, and which change with Adam?

# %% tags=["nbval-check-output"]
gates = torch.tensor([0.0, 0.9999, 0.0001])  # N
for optimizer in (torch.optim.SGD, torch.optim.Adam):
    outputs = torch.tensor([2.0, 6.0, 4.0], requires_grad=True)  # N
    stepper = optimizer([outputs], lr=0.1)
    loss = (gates @ outputs - 5).square() / 2
    loss.backward()
    stepper.step()
    print(f"{optimizer.__name__:5}", outputs.detach())

# %% [markdown]
# With SGD, only the second output changes visibly. With Adam, the third output moves as far as the second, although its gate is 10,000 times smaller. Adam divides a gradient by its usual size (lesson 13), so even a tiny gradient makes a full step. Only the first expert stays where it was: its gate is exactly 0, so it gets no gradient and learns nothing from this input.
#
# ## One expert for each input
#
# We save the most work if k is 1. But how does the gate learn then? It can only learn if the answer changes with its scores.
#
# The best expert's output can be multiplied by the softmax over the single score that is kept. Or it can be multiplied by the expert's probability $p_i$ in the softmax over all scores. In which of the two ways does the gate get a gradient?

# %% tags=["nbval-check-output"]
scores = torch.tensor([1.0, 3.0, 2.0], requires_grad=True)  # N
output = 6.0  # of the best expert, the second
factors = {
    "softmax of the best score": scores[1:2].softmax(-1)[0],  # 1:2 is the second alone
    "softmax of all scores": scores.softmax(-1)[1],
}
for name, factor in factors.items():
    (gradient,) = torch.autograd.grad(factor * output, scores)  # N
    print(f"{name:25}  factor {factor:.3f}  gradient", gradient)

# %% [markdown]
# Only the softmax over all scores gives the gate a gradient. The softmax of a single number is 1 whatever the number is, so it does not change with the score. The probability 0.665 changes with every score.
#
# A **switch** (Fedus et al. 2021) works in this second way. It asks the expert with the largest probability, and multiplies its output by this probability. If the factor is about 0.665, the expert learns to give outputs that are 1.5 times as large:
#
# $$p = \text{softmax}(W x + b) \qquad y = p_i\, o_i(x) \quad\text{with } i = \arg\max_j\, p_j$$
#
# In a Transformer, the inputs are the tokens of a text, so we call them **tokens** from now on. In the code, each expert gets only those tokens of the batch that chose it.


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
# ## Will all experts be asked?
#
# An expert that is never asked learns nothing. So will a switch ask all of its experts? We give it a task with many rules. There are eight languages and 64 words, and each language has its own translation for each word. Here a token is a pair of a language and a word. It has 8 + 64 numbers, with a 1 for the language and a 1 for the word. Where would the 1s be for language 5 and word 12, if we count from 0?

# %% tags=["nbval-check-output"]
world = dictionaries(0, languages=8)
D = 8 + WORDS  # 72: 8 languages and 64 words


def batch(draw, size=64):
    given, wanted = world.batch(draw, size, length=1)  # B 2, B 1
    x = F.one_hot(given, D).sum(1).float()  # B D: two 1s in each row
    translation = 8 + wanted[:, 0]  # B: words come behind the 8 languages
    return x, translation


x, translation = batch(generator(1), size=2)
places = x[0].nonzero().flatten()  # where the first token is not 0
print("1s of the first token:", places.tolist())
print("its translation:", translation[0].item())

# %% [markdown]
# They would be at 5 and at 8 + 12 = 20, as in the first token of this batch.
#
# Eight linear experts should translate these tokens. The output of each has a score for each of 72 symbols. A linear expert adds the scores of the word to those of the language. Suppose that word 12 is translated by symbol 31 in one language and by symbol 45 in another. Then the word gives a high score to both symbols, and a language can only raise a symbol for all words at once. So one expert can hold one language completely, and more languages only in part. Eight experts would be enough.


# %%
def no_loss(p, chosen):  # B N, B: later, another loss takes this place
    return 0.0


def train(second_loss, seed=0):
    torch.manual_seed(seed)
    model = Switch(D, N=8)

    def loss_of_batch(draw):
        x, translation = batch(draw)  # B D, B
        y, p, chosen = model(x)  # B D, B N, B
        return F.cross_entropy(y, translation) + second_loss(p, chosen)

    train_model(model, loss_of_batch, seed, steps=700, rate=0.015)
    return model


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
alone = train(no_loss)
reveal("18.without_balance", round(test("no second loss", alone), 2))

# %% [markdown]
# Most of the words are wrong, and few of the eight experts have work. We say that the mixture has **collapsed**. This is how it can happen: at the beginning, chance makes some experts a little more probable. They are asked and become better, so the gate asks them still more. The other experts are not asked, so they get no gradient and cannot become better. The few cannot hold all eight languages.
#
# ## A balance loss
#
# The gate should spread the tokens over all experts. The **balance loss** of Fedus et al. 2021 (equation 4) asks for this:
#
# $$N \sum_i f_i P_i$$
#
# Here $f_i$ is the share of the tokens that choose expert $i$, and $P_i$ is the mean of its probability over all tokens.
#
# We take six tokens and three experts. Calculate on paper first: what are f and P, and how large is the loss?


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
(gradient,) = torch.autograd.grad(loss, p)  # B N
print("f", F.one_hot(chosen, 3).float().mean(0))
print("P", p.mean(0).detach())
print(f"loss {loss:.2f}")
print("gradient for the first token", gradient[0])

# %% [markdown]
# Four of the six tokens choose the first expert, so f = (4/6, 1/6, 1/6), and P = (0.5, 0.3, 0.2). The loss is 3 · (4/6 · 0.5 + 1/6 · 0.3 + 1/6 · 0.2) = 1.25. If all experts get the same share of the tokens, the loss is 1. The more one expert is asked, and the more probable the gate finds it, the larger the loss.
#
# The gradient comes through P alone, because f is a count. It is largest at the expert that gets the most tokens. So a step lowers the probability of that expert, and another one can win.
#
# We train the switch again, and add a tenth of the balance loss. The picture shows the first 16 words, and each number with its colour names the expert that is chosen. Will each language now go to one expert of its own?


# %%
def weighted_balance_loss(p, chosen):
    return 0.1 * balance_loss(p, chosen)


balanced = train(weighted_balance_loss)
right = test("with the balance loss", balanced)
_shown.draw_choices({"no second loss": alone, "with the balance loss": balanced})

# %% [markdown]
# No: most languages are shared by several experts. The balance loss asks only for equal shares of the tokens. But nearly all experts have work now, and about nine words in ten are right.
#
# ## Other ways to balance
#
# **Your turn**: can you prevent the collapse in a way of your own? Write a line for `mine` that uses `p.mean(0)` alone.


# %%
def mine(p, chosen):  # B N, B
    return 0.0 * p.sum()  # your own line


right = test("with mine", train(mine))

# %% [markdown]
# <details><summary>Answer</summary>
#
# One line to try is `8 * p.mean(0).square().sum()`. It is smallest if all experts have the same mean probability.
#
# </details>
#
# There is another way, too. Wang et al. 2024 add an **offset** to the score of each expert. It changes who is chosen, but not the factor $p_i$. The offset rises after a batch in which the expert got too few tokens, and falls after one with too many. Does this prevent the collapse? The table also has a **fixed gate**, which stays as it was at the beginning. Must the gate learn at all?

# %% tags=["nbval-check-output"]
_shown.ways_to_balance()

# %% [markdown]
# Offsets prevent the collapse as well as the balance loss does.
#
# The fixed gate gets 0.62 of the words right. With every seed, this is better than a gate that learns and collapses, and worse than one that learns and is balanced. So it pays to let the gate learn, if all experts stay at work.
#
# ## Is the right expert asked?
#
# So all experts can be kept at work. But does the gate ask the right one? In the switch with the balance loss, we give all test tokens to each expert. What share will an expert get right of its own tokens, and what share of the tokens of the others?

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
table(rows, ["share of all tokens", "right of its own", "right of the others"])

# %% [markdown]
# Each expert gets most of its own tokens right, and almost none of the others. So gate and experts fit each other: no other expert could answer these tokens. Each has learned only from the tokens that were sent to it.
#
# ## Experts in a Transformer
#
# So each expert can answer alone. What is gained by that? In the feed-forward network of lesson 12, every token uses all parameters. If a switch takes its place, a token uses the parameters of one expert only. So a model can have many parameters with little work per token. In Mixtral 8x7B (Jiang et al. 2024), a token asks two of eight experts, and uses 13 of 47 billion parameters.

# %%
diagrams.switch_layer(new=["gate", "experts"])

# %% [markdown]
# The drawing shows a layer of lesson 12 with a switch. We train a translator with one such layer, for 32 languages and 64 words. It reads a language and six words, and translates each word. Its experts are feed-forward networks, and *8 experts* are trained with the balance loss. We compare them with *one network* of the size of an expert, and with *one wide network* that has eight times as many hidden units. How many words does each get right, and at what cost?

# %% tags=["nbval-check-output"]
predict("18.translators", ...)

# %% tags=["reveals"]
print("Each layer was trained with the same seeds:")
reveal("18.translators", _shown.right_words("one network"))
_shown.compare_layers()

# %% [markdown]
# *One network* gets about half of the words right. The layer with eight experts gets 33 more words in 100 right, at nearly the same work per token.
#
# The wide network has nearly as many parameters as the eight experts together. It gets more words right with every seed, but needs seven times as many multiplications per token.
#
# Without the balance loss, the eight experts get hardly fewer words right. So not every layer of experts needs a balance loss. The next section suggests a reason.
#
# ## What does each expert answer?
#
# How have the experts divided the words among them? We train one translator with 8 experts and the balance loss, for 700 steps, and look at its gate before and after training. For each word, we count in how many of the languages it goes to the same expert. The pictures show 24 of the 64 words in 8 of the 32 languages.

# %% tags=["nbval-check-output"]
predict("18.specialists", ...)

# %% tags=["reveals"]
many = dictionaries(0)  # 32 languages
torch.manual_seed(0)
untrained = Translator(LANGUAGES, WORDS, experts=8)
torch.manual_seed(0)
translator = Translator(LANGUAGES, WORDS, experts=8)  # the same weights
fit_translator(translator, many.batch, steps=700, rate=0.008)
reveal("18.specialists", "some of the words, in all languages")
_shown.draw_translators({"before training": untrained, "after training": translator})

# %% [markdown]
# In most columns of the right picture, one colour prevails: a word goes to the same expert in most of the languages. But this division does not come from training. Before training, the gate divides the words even more strictly, by chance. It reads each word directly, and the language only through attention. Perhaps this is also why the translator needs no balance loss: its gate has spread the words from the start.
#
# ## So: who should answer?
#
# The expert that has learned from inputs of this kind should answer. In our switch, each expert is good at its own tokens and useless for the others.
#
# A model learns to choose while its experts learn to answer. An expert gets better at what it is asked. The gate learns, too, because the answer is multiplied by its probability. But if both are left alone, few experts may end up with all the work. So a balance loss or offsets bring tokens to the others.
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
# - Who should answer? The expert that has learned from inputs of this kind. The gate, which is attention over networks, learns to choose while the experts learn to answer.
# - If experts compete, the one with the largest gate can answer alone. If they work together, its error is much larger on average.
# - An expert with a gate of exactly 0 gets no gradient. With a tiny gate, Adam can still move it by full steps.
# - A switch asks one expert and multiplies its output by its probability, so that the gate can learn. Without a balance loss or offsets, few of its linear experts did all the work.
# - At nearly equal work per token, a layer of experts knows more than one network. At nearly equal parameters, it knows less.
#
# **Exercises**: [open them](../exercises/18_mixture_of_experts_exercises.ipynb)
#
# **Next**: all these networks need many examples. Can a network learn from five? [Lesson 19](19_snail.ipynb) answers this.
