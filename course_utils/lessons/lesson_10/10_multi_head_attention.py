# %%
import ipywidgets
import torch
from IPython.display import display
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from course_utils import check, predict, reveal
from course_utils.base.edits import edited
from course_utils.data.measured import by_seed, measured, measured_once
from course_utils.data.recall import TWO_AT_ONCE, VALUES, recall_two
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import difference, table
from course_utils.figures.widgets import explore
from course_utils.models.attention import causal_mask
from course_utils.models.files import load_pretrained
from course_utils.models.heads import attentions, fit, weights_of_heads
from course_utils.models.seq2seq import make_batch

torch.set_printoptions(precision=3, sci_mode=False, linewidth=110)

# %% [markdown]
# ## One head, one average
#
# In lesson 09 each word had one query, and so one weighted sum. But a word may need two things at once: a verb needs to know who is acting, and on whom.
#
# Suppose that in "dog bites man" attention gives each noun the weight 0.5. The value of "dog" is [4, 0], that of "man" is [0, 8]. Work out the context on paper. And what is it in "man bites dog"?

# %% tags=["nbval-check-output"]
dog, bites, man = torch.tensor([[4.0, 0.0], [0.0, 0.0], [0.0, 8.0]])
print("dog bites man:", 0.5 * dog + 0.5 * man, "   man bites dog:", 0.5 * man + 0.5 * dog)

# %% [markdown]
# The context is [2, 4] both times. A sum does not show which word is which.
#
# ## Several heads, each with projections of its own
#
# **Multi-head attention** (Vaswani et al. 2017, section 3.2.2) makes $H$ weighted sums at once. Each **head** has its own matrices and finds a context $\text{head}_i$ of width $d = D / H$; $W^O$ combines them:
#
# $$\text{MultiHead}(Q, K, V) = \text{Concat}(\text{head}_0, \dots, \text{head}_{H-1})\, W^O \qquad \text{head}_i = \text{Attention}(Q W_i^Q, K W_i^K, V W_i^V)$$
#
# Below, $D = 4$ and $H = 2$. A word's four numbers stand for "dog", for "man", for the verb, and for a place before it (-1) or after it (1; see lesson 11). The query of "bites" is [4, 0] in head 0, [0, 4] in head 1; a key is [1, -1] before the verb, [-1, 1] after it; a value is the first two numbers. What does each head find? ($4 / \sqrt 2 = 2.83$, $e^{2.83} = 16.9$.)

# %% tags=["nbval-check-output"]
dog_first = torch.tensor([[4.0, 0, 0, -1], [0, 0, 1, 0], [0, 8, 0, 1]])  # S D: dog bites man
man_first = torch.tensor([[0, 8.0, 0, -1], [0, 0, 1, 0], [4, 0, 0, 1]])  # S D: man bites dog
W_Q, W_K, W_V = torch.zeros(3, 2, 4, 2)  # H D d each
W_Q[:, 2] = torch.tensor([[4.0, 0.0], [0.0, 4.0]])  # the verb's query is [4, 0] in head 0, [0, 4] in head 1
W_K[:, 3] = torch.tensor([-1.0, 1.0])  # before the verb: [1, -1], after it: [-1, 1]
W_V[:, :2] = torch.eye(2)  # what is taken: "dog" and "man"
W_O = torch.eye(4)  # D D: it leaves the contexts as they are


def attention(Q, K, V):  # T d, S d, S d
    weights = (Q @ K.T / K.shape[-1] ** 0.5).softmax(-1)  # T S
    return weights @ V, weights  # T d


def multi_head(Q, K, V):  # T D, S D, S D
    head, weights = zip(*(attention(Q @ W_Q[i], K @ W_K[i], V @ W_V[i]) for i in range(2)), strict=True)
    return torch.cat(head, -1) @ W_O, head, weights  # T D: Concat(head_0, head_1) W^O


for words, x in (("dog bites man", dog_first), ("man bites dog", man_first)):
    output, head, weights = multi_head(x[1:2], x, x)  # "bites" is the one query, T = 1
    print(f"{words}: weights {weights[0][0]} and {weights[1][0]}")
    print(f"    head_0 {head[0][0]}, head_1 {head[1][0]}, output {output[0]}")

# %%
query = torch.cat([man_first[1] @ W_Q[i] for i in range(2)])  # D
numbers = [[f"{value:.2f}".removesuffix(".00") for value in part.flatten().tolist()] for part in (query, *head, output)]
shares = [part[0].tolist() for part in weights]
diagrams.several_heads(["man", "bites", "dog"], 1, numbers[0], shares, numbers[1:3], numbers[3], ["split", "merge"])

# %% [markdown]
# Each head finds its own noun, and the two contexts stay side by side, so the two sentences differ. (The picture shows "man bites dog", with the queries of both heads side by side.) So far $W^O$ has changed nothing. What is it for? Let its third row be [1, 0, 1, 0] and its fourth [0, 1, 0, 1]: then the first two numbers of the output are head_0 plus head_1. With -1 for the first 1 in both rows they are head_0 minus head_1. Work out both for each sentence. Which of them tells who bites?

# %% tags=["nbval-check-output"]
for name, part in (("plus", torch.eye(2)), ("minus", -torch.eye(2))):
    W_O[2:, :2] = part  # what head_1 adds to the first two numbers
    for words, x in (("dog bites man", dog_first), ("man bites dog", man_first)):
        output, _, _ = multi_head(x[1:2], x, x)
        print(f"{words}, head_0 {name} head_1: {output[0, :2]}")

# %% [markdown]
# The sum is the same both times, as with the single head that divided its weight equally. With the minus, the sign of a single number tells who bites: the first one is positive if it is the dog. Without $W^O$, each head could only write into its own part of the output. With it, one number of the output can compare them. **Your turn**: write a $W^O$ whose output is head_1, then head_0.
#
# ## All heads at once
#
# Side by side, $W_0^Q, \dots, W_{H-1}^Q$ are one $D \times D$ matrix: one product makes the queries of all heads, and then they are cut. Keys and values are made in the same way. In which line do the heads part, and in which do they meet again?


# %%
class MultiHead(nn.Module):
    def __init__(self, D, H):
        super().__init__()
        self.H = H
        self.W_Q, self.W_K, self.W_V, self.W_O = (nn.Linear(D, D) for _ in range(4))

    def split(self, x):  # B T D
        B, T, D = x.shape
        return x.view(B, T, self.H, D // self.H).transpose(1, 2)  # B H T d

    def merge(self, head):  # B H T d
        return head.transpose(1, 2).flatten(2)  # B T D: Concat(head_0, …)

    def forward(self, Q, K, V, mask=None):  # B T D, B S D, B S D, B T S
        Q = self.split(self.W_Q(Q))  # B H T d: Q W_i^Q for each head i
        K = self.split(self.W_K(K))  # B H S d: K W_i^K
        V = self.split(self.W_V(V))  # B H S d: V W_i^V
        scores = Q @ K.mT / K.shape[-1] ** 0.5  # B H T S
        if mask is not None:
            scores = scores.masked_fill(~mask[:, None], -torch.inf)  # the same mask for all heads
        weights = scores.softmax(-1)  # B H T S
        return self.W_O(self.merge(weights @ V)), weights  # B T D, B H T S


# %% [markdown]
# They part in `split` and meet in `merge`. With the same parameters, do our loop and PyTorch's `nn.MultiheadAttention` give the same output? (`nn.Linear` holds a matrix transposed. In the library's mask True means that a word must *not* be seen.)


# %% tags=["nbval-check-output"]
def with_parameters(Q, K, V, O, H, Kind=MultiHead):  # for each, the weight D D (transposed) and the bias D
    module = Kind(len(O[0]), H)
    for layer, (weight, bias) in zip((module.W_Q, module.W_K, module.W_V, module.W_O), (Q, K, V, O), strict=True):
        layer.weight.data, layer.bias.data = weight.detach(), bias.detach()
    return module


side_by_side = [torch.cat([*W], 1) for W in (W_Q, W_K, W_V)]  # D D each: [W_0, W_1]
at_once = with_parameters(*((W.T, torch.zeros(4)) for W in (*side_by_side, W_O)), H=2)
same = at_once(man_first[None, 1:2], man_first[None], man_first[None])[0][0]
print("the loop agrees:", torch.allclose(same, output))

torch.manual_seed(0)
theirs = nn.MultiheadAttention(12, 3, batch_first=True)
x, may_see = torch.randn(2, 5, 12), causal_mask(5)  # B T D, T T
blocks = [*zip(theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3), strict=True)]  # D D, D each
blocks.append((theirs.out_proj.weight, theirs.out_proj.bias))
ours = with_parameters(*blocks, H=3)(x, x, x, may_see[None])[0]
library = theirs(x, x, x, attn_mask=~may_see)[0]
print("the library agrees:", torch.allclose(library, ours, atol=1e-5))
print("with our mask as it is, the last word gets", theirs(x, x, x, attn_mask=may_see)[0][0, -1, 0].item())

# %% [markdown]
# Ours agrees with both, if the library's mask is inverted. If it is not, nothing warns us: then the last word sees nothing, and its output is NaN.
#
# Does `split` need its `transpose`? We take it out, and ask `view` for the shape B H T d at once. `edited` writes that into a copy of the function. Two words come in, and there are two heads.

# %% tags=["nbval-check-output"]
predict("10.split", ...)


# %% tags=["nbval-check-output", "reveals"]
class ViewAtOnce(MultiHead):
    split = edited(MultiHead.split, "T, self.H, D // self.H).transpose(1, 2)", "self.H, T, D // self.H)")


print("The line that changes, and what the second head gets:")
two_words = torch.arange(8.0).view(1, 2, 4)  # B T D: word 0 has the numbers 0 to 3, word 1 has 4 to 7
right_part, part = (Kind(4, 2).split(two_words)[0, 1].tolist() for Kind in (MultiHead, ViewAtOnce))
reveal("10.split", "all of the second word" if part == [[4, 5], [6, 7]] else "a part of each word")
display(difference(MultiHead.split, ViewAtOnce.split, around=0))  # "+" is new, "-" is gone
print("with transpose:", right_part, "  without:", part)
shorter = with_parameters(*blocks, H=3, Kind=ViewAtOnce)(x, x, x, may_see[None])[0]
print("it still equals the library:", torch.allclose(shorter, library, atol=1e-5))

# %% [markdown]
# Head 1 should get a part of each word. With `view` alone it gets all of the second word, cut in two. No error is raised, since the shape is right. **Your turn**: write a `split` that gives head 1 every second number of each word, [[1, 3], [5, 7]].
#
# ## Does one head give both facts?
#
# A sentence has four tokens, each a pair of a letter and a digit. A fifth token names two letters, such as `b, c?`, and the model has to give their digits, in order, with one attention and a linear layer. What share will it get right with one head?

# %% tags=["nbval-check-output"]
predict("10.one_head", ...)


# %%
class TwoFacts(nn.Module):
    def __init__(self, H, D=32, Kind=MultiHead):
        super().__init__()
        self.embedding = nn.Embedding(TWO_AT_ONCE, D)
        self.attention = Kind(D, H)
        self.readout = nn.Linear(D, 2 * VALUES)

    def forward(self, tokens):  # B S: the question is the last token
        x = self.embedding(tokens)  # B S D
        context, weights = self.attention(x[:, -1:], x, x)  # B 1 D, B H 1 S
        logits = self.readout(x[:, -1] + context[:, 0]).unflatten(-1, (2, VALUES))  # B 2 V
        return logits, weights[:, :, 0]


def right(model):
    """The share of digits that are right, of first ones and of second ones, and how often both answers are the same digit."""
    tokens, answers, _ = recall_two(1000, 4, torch.Generator().manual_seed(99))
    answered = model(tokens)[0].argmax(-1)  # B 2
    is_right, same = answered == answers, answered[:, 0] == answered[:, 1]  # B 2, B
    return [is_right.float().mean(), *is_right.float().mean(0), same.float().mean()]


# %% tags=["reveals"]
print("One model with each number of heads, and in the last column five that were trained for longer:")
rows, models = {}, {}
for H in (1, 2):
    five = measured_once("two_facts", "answers_right", heads=H)[0]
    torch.manual_seed(0)
    models[H] = TwoFacts(H)
    losses = fit(models[H], steps=500, rate=2e-2)
    rows[f"H = {H}"] = [sum(p.numel() for p in models[H].parameters()), *right(models[H]), five]
reveal("10.one_head", round(sum(measured_once("two_facts", "answers_right", heads=1)[0]) / 5, 2))
columns = ["parameters", "digits right", "first digit", "second digit", "same digit twice", "digits right, five models"]
table(rows, columns, digits=2)

# %% [markdown]
# With one head, the model mostly gets one of the two digits right (the columns show which) and gives it as both answers. With two heads it gets both right, with no more parameters, since each head is half as wide.
#
# Where do they look? Frames mark the two pairs that are asked for.

# %%
LETTERS = "abcdefgh"
tokens, answers, asked = recall_two(1, 4, torch.Generator().manual_seed(1))
names = [LETTERS[token // 8] + str(token % 8 + 1) for token in tokens[0, :-1].tolist()]
names.append(", ".join(LETTERS[i] for i in divmod(int(tokens[0, -1]) - 64, 8)) + "?")
for H, ax in zip((1, 2), plots.axes(2, width=4.6, height=2.6), strict=True):
    weights = models[H](tokens)[1][0]  # H S
    marks = [(head, int(position)) for head in range(H) for position in asked[0]]
    plots.weights(weights, names, [f"head {h}" for h in range(H)], f"H = {H}", ax, "the tokens", "", marked=marks)

# %% [markdown]
# The single head divides its weight between both pairs. A linear layer then adds up the scores of both digits, and the question's part does not depend on the digits. So the same digit, probably the heavier one, wins in both answers. With two heads, each looks at one pair.
#
# Which line of `forward` makes that possible? We replace one expression (`old`) by another (`new`) and train again: first, both heads get the scores of head 0. A table compares six such changes, with five models each. Which one leaves two heads no better than one, even after 2,000 steps?

# %% tags=["nbval-check-output"]
predict("10.changed", ...)

# %% tags=["reveals"]
old, new = "Q @ K.mT", "Q[:, :1] @ K[:, :1].mT"  # all heads take the scores of head 0


class Changed(MultiHead):
    forward = edited(MultiHead.forward, old, new)


print("The line that changes, and the share of digits right:")
display(difference(MultiHead.forward, Changed.forward, around=0))
torch.manual_seed(0)
changed = TwoFacts(H=2, Kind=Changed)
losses = fit(changed, steps=500, rate=2e-2)
rows = {"your change (one model)": [right(changed)[0], "-"]}
changes = (
    "nothing",
    *(f"{part} of head 0 for all" for part in ("scores", "queries", "keys", "values")),
    "no scaling",
    "no W_O",
)
for name in changes:
    rows[name] = [[*by_seed("changed", "answers_right", change=name, steps=steps).values()] for steps in (500, 2000)]
reveal("10.changed", next(name for name in changes if max(rows[name][1]) < 0.75))
table(rows, ["500 steps", "2,000 steps"], corner="what is changed (two heads, five models)", digits=2)

# %% [markdown]
# With shared scores both heads have the same weights, and so the same mixture: they are as poor as one. With every other change all five models answer everything after 2,000 steps, except for one without the division by √d. (The longer runs have the rate 0.005, the shorter ones 0.02.) Perhaps the linear layer does the work of $W^O$ here.
#
# **Your turn**: write `old` and `new` for another row of the table. And what if the softmax is left out?
#
# ## Is one head always too few?
#
# Below, a hidden layer of 32 units comes between the head and the linear layer. How many digits will the model get right? (Then try 8 units, and 2.)

# %%
torch.manual_seed(0)
hidden = TwoFacts(H=1)
units = 32
hidden.readout = nn.Sequential(nn.Linear(32, units), nn.ReLU(), nn.Linear(units, 2 * VALUES))
losses = fit(hidden, steps=1000, rate=1e-2)
print("digits right: {:.2f}, first digit {:.2f}, second digit {:.2f}".format(*right(hidden)[:3]))
rows = {}
for width, name in ((0, "a linear layer alone"), (32, "a hidden layer of 32, then a linear layer")):
    rows[name] = measured_once("behind", "answers_right", "larger_weight", "smaller_weight", hidden=width)
table(rows, ["digits right", "larger weight", "smaller weight"], corner="one head, then … (five models)", digits=2)

# %% [markdown]
# With the hidden layer one head is enough, and it weights the two pairs less equally. Does the layer tell them apart by that? We change the two weights alone: first we give both the mean of the two, then we swap them. What will the model answer when they are swapped?

# %% tags=["nbval-check-output"]
predict("10.swapped", ...)

# %% tags=["reveals"]
print("The same model, the two weights changed by hand:")
tokens, answers, asked = recall_two(1000, 4, torch.Generator().manual_seed(99))
asked = asked[:, None]  # B 1 2: the positions of the two pairs
head, x = hidden.attention, hidden.embedding(tokens)  # _, B S D
weights = head(x[:, -1:], x, x)[1][:, 0]  # B 1 S
pairs = weights.gather(2, asked)  # B 1 2
rows = {}
mean = pairs.mean(-1, keepdim=True).expand_as(pairs)
for name, new in (("as they are", pairs), ("both the mean", mean), ("swapped", pairs.flip(-1))):
    context = head.W_O(weights.scatter(2, asked, new) @ head.W_V(x))  # B 1 D
    answered = hidden.readout(x[:, -1] + context[:, 0]).unflatten(-1, (2, VALUES)).argmax(-1)  # B 2
    rows[name] = [(answered == wanted).float().mean() for wanted in (answers, answers.flip(-1))]
reveal("10.swapped", round(rows["swapped"][0].item(), 2))
table(rows, ["the right digit", "the other letter's digit"], corner="the two weights", digits=2)

# %% [markdown]
# The layer does tell the digits apart by their weights. With equal weights it is no better than a linear layer, and with swapped weights it gives each letter the other one's digit.
#
# In a Transformer's layers, a hidden layer comes after the attention. So why does everybody use several heads? What do they cost? We count the multiplications in all matrix products, for 16 words of width 256. And how many BLEU points does a translator gain by them after three epochs, compared with one head as wide as all of them? (All learn at the rate of the course's translator, which has four heads.)

# %%
x, rows = torch.randn(1, 16, 256), {}  # B T D
bleu = {H: measured("translated", "bleu", "epochs", positions="sinusoidal", heads=H)[1] for H in (1, 2, 4, 8)}
for H, runs in bleu.items():
    with FlopCounterMode(display=False) as counter:
        MultiHead(256, H)(x, x, x)
    gained = [f"{run[0] - one[0]:+.1f}" if H > 1 else f"({one[0]:.1f})" for run, one in zip(runs, bleu[1], strict=True)]
    rows[f"H = {H}"] = [f"{counter.get_total_flops() // 2:,}", *gained]  # it counts additions, too
columns = ["multiplications", "BLEU more than one head, seed 0", "seed 1", "seed 2"]
table(rows, columns, corner="(in brackets: BLEU of one head)")

# %% [markdown]
# Several heads need no more multiplications. Do they help? Here two or four heads score higher with some seeds and lower with others; eight score lower with two of three. In a larger model, one head was 0.9 BLEU worse than the best number (Vaswani et al. 2017). Today's language models have many heads: Llama 3 8B has 32, which share 8 sets of keys and values (Grattafiori et al. 2024).
#
# ## Switch off a head
#
# What head $i$ finds is multiplied by its own $d$ rows of $W^O$ (in `nn.Linear`, columns). With zeros there, the head adds nothing (Michel et al. 2019). We switch off head 0 of our model with two heads. What happens to the two digits? And without head 1?


# %%
def without(model, *heads):
    """The shares of first and of second digits that are right while these heads add nothing."""
    W_O = model.attention.W_O.weight  # D D, transposed
    kept = W_O.detach().clone()
    with torch.no_grad():
        for head in heads:
            W_O.unflatten(1, (model.attention.H, -1))[:, head] = 0.0  # D H d: the columns of this head
        shares = right(model)[1:3]
        W_O.copy_(kept)
    return shares


rows = {"all heads": right(models[2])[1:3]} | {f"without head {head}": without(models[2], head) for head in range(2)}
table(rows, ["first", "second"], digits=2)

# %% [markdown]
# One digit falls to chance (1/8), and the other stays right: each head carries one fact.
#
# ## What do trained heads do?
#
# The course ships a Transformer, which lesson 12 will build. It has nine attentions of four heads: three in its encoder, three in its decoder, three from there to the source. Which head of its encoder looks most at the word before? Move the sliders to find the largest number below the picture. (Frames mark the token before, and ▁ the beginning of a word.)

# %%
model, subwords = load_pretrained("transformer-en-de")
source, given, _ = make_batch(subwords.encode(["two young men are playing guitar in front of a red house ."]), [[]])
seen, pieces = weights_of_heads(model, source, given), [*subwords.tokens(source[0, :-1].tolist()), "EOS"]


def head_at(layer, head):
    weights = seen[f"encoder {layer}"][0, head]
    ax = plots.axes(width=8, height=5.4)
    plots.amounts(weights, pieces, pieces, ax=ax, unit="weight", most=0.5)
    before = range(len(pieces) - 1), range(1, len(pieces))  # columns, rows
    ax.plot(*before, "s", color=plots.COLOURS[1], fillstyle="none", markersize=17)
    return f"Encoder, layer {layer}, head {head}: the word before gets {weights.diagonal(-1).mean():.2f} on average."


controls = {name: ipywidgets.IntSlider(value=0, min=0, max=most) for name, most in (("layer", 2), ("head", 3))}
head_explorer = explore(head_at, **controls)
head_explorer

# %% [markdown]
# Head 2 of layer 2 does. But this is one sentence. Here is the mean weight at each distance, counted in tokens, over 300 captions. (Spread evenly over the 15 tokens of our sentence, each would get 0.07.) Which head looks at the words *after*?

# %%
nearby = {}
for layer in range(3):
    for head in range(4):
        distances, runs = measured("near", "weight", "distance", attention=f"encoder {layer}", head=head)
        nearby[f"layer {layer}, head {head}"] = runs[0]
names = [f"{by:+g}" if by else "itself" for by in distances]
ax = plots.axes(width=6.4, height=5)
shape = {"xlabel": "distance in tokens", "ylabel": "", "most": 0.5, "unit": "mean weight"}
plots.amounts(torch.tensor([*nearby.values()]), names, list(nearby), ax=ax, **shape)

# %% [markdown]
# Layer 2 has a head for the token before (head 2) and one for those after (head 1). Heads 2 and 3 of layer 1 and head 3 of layer 2 look back, too. Voita et al. 2019 found such heads in larger models.
#
# How much are they worth? We switch off each of the 36 heads and translate the test set again. Where does the loss of a head hurt most?

# %%
whole, names = measured("heads", "bleu", "head", state="on")[1][0][0], list(attentions(model))
lost = {}
for state in ("off", "alone"):  # this head is off, or all others of its attention are
    left = [measured("heads", "bleu", "head", attention=name, state=state)[1][0] for name in names]
    lost[state] = whole - torch.tensor(left)  # 9 H
heads, shape = [f"head {head}" for head in range(4)], {"xlabel": "", "ylabel": "", "unit": "BLEU lost", "most": 2.5}
plots.amounts(lost["off"], heads, names, "without this head", plots.axes(width=5.4, height=4.4), **shape)
print(f"{int((lost['off'] < 1).sum())} of the 36 heads cost less than 1 of the whole model's {whole:.1f} BLEU.")

# %% [markdown]
# Most heads cost less than 1 BLEU in this one model, even the clearest one for the word before. Two others named above, head 2 of layer 1 and head 1 of layer 2, are the costliest of the encoder. The three costliest of all belong to `source 2`, the last attention to the source.
#
# Now we switch off three of its four heads together, so that one is left. Compared with the sum of what these three cost one at a time, will the loss be larger, the same (within half a point), or smaller? And in `decoder 2`, the decoder's last self-attention?

# %% tags=["nbval-check-output"]
predict("10.together", ...)

# %% tags=["reveals"]
print("BLEU lost without three heads of an attention, by the head that is left:")
rows = {}
for name in ("source 2", "decoder 2"):
    off, together = (lost[state][names.index(name)] for state in ("off", "alone"))  # H each
    rows[f"{name}: one at a time, added up"] = off.sum() - off  # H: of the three others
    rows[f"{name}: together"] = together
one_by_one, together, *_ = rows.values()
reveal("10.together", "larger" if (together > one_by_one + 0.5).all() else "the same")
table(rows, [f"head {head} left" for head in range(4)], digits=1)

# %% [markdown]
# In `source 2`, three heads cost more together: perhaps they stand in for each other. In `decoder 2` they cost less, or about the same; we do not know why. A head's worth depends on the others.
#
# ## So: why several heads?
#
# One head makes one weighted sum. If a linear layer follows, two facts stay mixed in it, and two heads keep them apart, if each has scores of its own. If a hidden layer comes after it, as in a Transformer's layers, unequal weights in one head can be enough. Several heads need no more multiplications, and in the paper's model they help.
#
# ## Questions
#
# Run a cell to see its question, then replace the dots with a letter in quotes or a number.

# %%
check("10.q1", ...)

# %%
check("10.q2", ...)

# %%
check("10.q3", ...)

# %%
check("10.q4", ...)

# %%
check("10.q5", ...)

# %% [markdown]
# ## Recap
#
# - Why several heads? One head makes one weighted sum, in which two facts are mixed. Two heads keep them apart, without further parameters.
# - A hidden layer can take a single head's sum apart by its unequal weights, and in our translator three seeds show no clear gain from several heads. They need no more parameters, and no more multiplications in the matrix products.
# - Each head has projections of its own, and $W^O$ combines what they found. In the library's mask True means "must not be seen".
# - What a head looks at can be measured over many sentences. What it is worth depends on which others are there.
#
# **Exercises**: [open them](../exercises/10_multi_head_attention_exercises.ipynb)
#
# **Next**: some heads look at the word before. But self-attention does not notice the order of words, so how can they? Where does the order come from? [Lesson 11](11_positions.ipynb) answers this.
