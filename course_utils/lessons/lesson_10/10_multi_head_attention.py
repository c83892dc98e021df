# %%
import ipywidgets
import torch
from torch import nn

from course_utils import check, predict, reveal
from course_utils.data.measured import measured, measured_once
from course_utils.data.recall import TWO_AT_ONCE, VALUES, recall_two
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table
from course_utils.figures.widgets import explore
from course_utils.models.attention import causal_mask
from course_utils.models.conversion import attention_from_torch
from course_utils.models.files import load_pretrained
from course_utils.models.heads import attentions, fit, weights_of_heads
from course_utils.models.seq2seq import make_batch

torch.set_printoptions(precision=3, sci_mode=False, linewidth=110)

# %% [markdown]
# ## One head, one average
#
# In lesson 09 each word had one query, and so one weighted sum. But a word may need two things at once: a verb needs to know who is acting, and on whom.
#
# Suppose that in "dog bites man" attention gives each noun the weight 0.5. The value of "dog" is [4, 0], that of "man" is [0, 8]. What is the context, on paper? And what is it in "man bites dog"?

# %% tags=["nbval-check-output"]
dog, bites, man = torch.tensor([[4.0, 0.0], [0.0, 0.0], [0.0, 8.0]])
print("dog bites man:", 0.5 * dog + 0.5 * man, "   man bites dog:", 0.5 * man + 0.5 * dog)

# %% [markdown]
# It is [2, 4] both times. A sum shows what was found, but not in which order.
#
# ## Split, attend, merge, project
#
# **Multi-head attention** (Vaswani et al. 2017) makes several weighted sums at once. Each of its $H$ **heads** gets a part of every query, key and value, of width $d = D / H$:
#
# $$\text{head}_h = \text{softmax}\left(\frac{Q_h K_h^\top}{\sqrt d}\right) V_h \qquad \text{output} = [\text{head}_0, \dots, \text{head}_{H-1}]\, W_O^\top$$
#
# Below, the word "bites" asks with two heads, and $D = 4$. Each key says whether its word comes before "bites" or after it (lesson 11 shows how). What does each head find? ($4 / \sqrt 2 = 2.83$ and $e^{2.83} = 16.9$.)

# %% tags=["nbval-check-output"]
query = torch.tensor([4.0, 0.0, 0.0, 4.0])  # D: head 0 looks for the noun before, head 1 for the one after
keys = torch.tensor([[1.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 1.0]])  # S D
W_O = torch.tensor([[1.0, 0, -1, 0], [0, 1, 0, -1], [1, 0, 1, 0], [0, 1, 0, 1]])  # D D


def two_heads(*words):
    values = torch.stack(words).repeat(1, 2)  # S D: each head gets all of [4, 0] or [0, 8]
    weights, contexts = [], []
    for q, k, v in zip(query.split(2), keys.split(2, 1), values.split(2, 1), strict=True):  # d, S d, S d
        weights.append((k @ q / 2**0.5).softmax(0))  # S
        contexts.append(weights[-1] @ v)  # d
    merged = torch.cat(contexts)  # D
    return [part.numpy().round(2) for part in (*weights, *contexts, W_O @ merged)]


rows = {"dog bites man": two_heads(dog, bites, man), "man bites dog": two_heads(man, bites, dog)}
names = ("weights of head 0", "weights of head 1", "context of head 0", "context of head 1", "output")
table({name: list(map(str, numbers)) for name, numbers in rows.items()}, names)

# %%
first, second, *contexts, output = rows["dog bites man"]
numbers = [[f"{x:g}" for x in part.tolist()] for part in (query, *contexts, output)]
diagrams.several_heads(
    ["dog", "bites", "man"], 1, numbers[0], [first, second], numbers[1:3], numbers[3], ["split", "merge"]
)

# %% [markdown]
# Each head finds its own noun, and the two contexts stay side by side. The first two numbers of the output are their difference, the last two their sum. In "man bites dog" the sum is the same, but the difference has the opposite sign.
#
# ## The code
#
# Queries, keys and values come from three learned matrices, which read the *whole* word. The rest is the equation. In which line do the heads part, and in which do they meet again?


# %%
class MultiHead(nn.Module):
    def __init__(self, D, H):
        super().__init__()
        self.H = H
        self.query, self.key, self.value, self.output = (nn.Linear(D, D) for _ in range(4))

    def split(self, x):  # B T D
        B, T, D = x.shape
        return x.view(B, T, self.H, D // self.H).transpose(1, 2)  # B H T d

    def merge(self, contexts):  # B H T d
        return contexts.transpose(1, 2).flatten(2)  # B T D

    def forward(self, x, y, mask=None):  # B T D: words that ask, B S D: words that are asked, B T S
        q, k, v = self.split(self.query(x)), self.split(self.key(y)), self.split(self.value(y))
        scores = q @ k.mT / q.shape[-1] ** 0.5  # B H T S
        if mask is not None:
            scores = scores.masked_fill(~mask[:, None], -torch.inf)  # the same mask for all heads
        weights = scores.softmax(-1)  # B H T S
        return self.output(self.merge(weights @ v)), weights  # B T D, B H T S


# %% [markdown]
# They part in `split` and meet in `merge`. PyTorch has `nn.MultiheadAttention`, and the course has `MultiHeadAttention` in `models/transformer.py`. With the same parameters, do all three give the same output under a causal mask? In the library's mask, True means that a word must *not* be seen.


# %% tags=["nbval-check-output"]
def with_parameters_of(theirs, Attention=MultiHead):
    ours = Attention(theirs.embed_dim, theirs.num_heads)
    blocks = zip(theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3), strict=True)  # D D, D
    for layer, (weight, bias) in zip((ours.query, ours.key, ours.value), blocks, strict=True):
        layer.weight.data, layer.bias.data = weight, bias
    ours.output = theirs.out_proj
    return ours


torch.manual_seed(0)
theirs = nn.MultiheadAttention(12, 3, batch_first=True)
nn.init.normal_(theirs.in_proj_bias)
x, may_see = torch.randn(2, 5, 12), causal_mask(5)  # B T D, T T
course = attention_from_torch(theirs)
output, _ = with_parameters_of(theirs)(x, x, may_see[None])
library, _ = theirs(x, x, x, attn_mask=~may_see)
print("the course agrees:", torch.allclose(course(x, course.project(x), may_see)[0], output, atol=1e-5))
print("the library agrees:", torch.allclose(library, output, atol=1e-5))
print("with our mask as it is:", torch.allclose(theirs(x, x, x, attn_mask=may_see)[0], output, atol=1e-5))
print("the last word then gets", theirs(x, x, x, attn_mask=may_see)[0][0, -1, 0].item())

# %% [markdown]
# All three agree, if the library's mask is inverted. If it is not, nothing warns us, and the last word, which may then see nothing, becomes NaN.
#
# ## Does one head give both facts?
#
# A sentence has four tokens, each a pair of a letter and a digit. A fifth token names two letters, such as `b, c?`, and the model has to give their digits, in order, by one attention and a linear layer. What share will it get right with one head?

# %% tags=["nbval-check-output"]
predict("10.one_head", ...)


# %%
class TwoFacts(nn.Module):
    def __init__(self, H, D=32, Attention=MultiHead):
        super().__init__()
        self.embedding = nn.Embedding(TWO_AT_ONCE, D)
        self.attention = Attention(D, H)
        self.readout = nn.Linear(D, 2 * VALUES)

    def forward(self, tokens):  # B S: the question is the last token
        x = self.embedding(tokens)  # B S D
        context, weights = self.attention(x[:, -1:], x)  # B 1 D, B H 1 S
        logits = self.readout(x[:, -1] + context[:, 0]).unflatten(-1, (2, VALUES))  # B 2 V
        return logits, weights[:, :, 0]


def right(model):
    """The share of digits that are right, of first ones and of second ones, and how often both answers are the same digit."""
    tokens, answers, _ = recall_two(1000, 4, torch.Generator().manual_seed(99))
    said = model(tokens)[0].argmax(-1)  # B 2
    same = said[:, 0] == said[:, 1]  # B
    return [(said == answers).float().mean(), *(said == answers).float().mean(0), same.float().mean()]


# %% tags=["reveals"]
print("One model with each number of heads, and five with some of them, trained for longer:")
rows, models = {}, {}
for H in (1, 2, 8, 32):
    torch.manual_seed(0)
    models[H] = TwoFacts(H)
    losses = fit(models[H], steps=500, rate=2e-2)
    rows[f"H = {H}"] = right(models[H])
five = torch.tensor(measured("two_facts", "answers_right", "heads")[1]).T  # three numbers of heads, seeds
reveal("10.one_head", round(five[0].mean().item(), 2))
rows |= {f"H = {H}, five models": [runs, "", "", ""] for H, runs in zip((1, 2, 4), five, strict=True)}
table(rows, ["digits right", "first digit", "second digit", "says one twice"], digits=2)

# %% [markdown]
# One head gets one of the two digits right, and mostly says it twice. Two heads get both right, with as many parameters: each has half of the width. With 32 heads of width 1 it is worse again, at least after 500 steps.
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
    heads = [f"head {h}" for h in range(H)]
    plots.weights(weights, names, heads, f"H = {H}", ax, "the tokens", "", marked=marks)

# %% [markdown]
# The single head divides its weight between both pairs. With two heads, each looks at one of them.
#
# ## Two ways to cut, and one that fails
#
# Here are two other ways to split. The second is shorter, and its shape is right. Which of them still equals the library with the same parameters? Which still learns both facts when it is trained?


# %%
class EverySecond(MultiHead):
    def split(self, x):  # head h gets every H-th number
        B, T, D = x.shape
        return x.view(B, T, D // self.H, self.H).permute(0, 3, 1, 2)  # B H T d

    def merge(self, contexts):
        return contexts.permute(0, 2, 3, 1).flatten(2)  # B T D


class ViewAtOnce(MultiHead):
    def split(self, x):
        B, T, D = x.shape
        return x.view(B, self.H, T, D // self.H)  # B H T d


rows = {}
for Attention in (MultiHead, EverySecond, ViewAtOnce):
    output, _ = with_parameters_of(theirs, Attention)(x, x, may_see[None])
    torch.manual_seed(0)
    model = TwoFacts(2, Attention=Attention)
    losses = fit(model, steps=500, rate=2e-2)
    rows[Attention.__name__] = [torch.allclose(output, library, atol=1e-5), *right(model)[1:3]]
table(rows, ["equals the library", "first digit", "second digit"], digits=2)

# %% [markdown]
# `EverySecond` is another function of the same parameters, but it learns as well: training finds the parameters in either order. `ViewAtOnce` does no better than one head. What does it do to two words?

# %% tags=["nbval-check-output"]
two_words = torch.arange(8.0).view(1, 2, 4)  # B T D: word 0 has the numbers 0 to 3, word 1 has 4 to 7
for Attention in (MultiHead, EverySecond, ViewAtOnce):
    print(f"{Attention.__name__:12} head 1 gets", Attention(4, 2).split(two_words)[0, 1].tolist())

# %% [markdown]
# Head 1 should get a part of each word. With `view` alone it gets all of the second word, cut in two. No error is raised, since the shape is right.
#
# ## Is one head always too few?
#
# Below, a hidden layer of 32 units comes between the head and the readout. How many digits will the model get right? Then remove the line that puts the layer in, and run the cell again: what comes out, and why?

# %%
torch.manual_seed(0)
model = TwoFacts(H=1)
model.readout = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2 * VALUES))
losses = fit(model, steps=1000, rate=1e-2)
print("digits right:", [f"{share:.2f}" for share in right(model)[:3]])
rows = {}
for hidden, name in ((0, "a linear layer alone"), (32, "a hidden layer of 32, too")):
    rows[name] = measured_once("behind", "answers_right", "larger_weight", hidden=hidden)
table(rows, ["digits right", "larger of the two weights"], corner="one head, followed by; five models", digits=2)

# %% [markdown]
# With the hidden layer one head is enough. It weights the two pairs less equally, and perhaps that is how the hidden layer tells them apart.
#
# ## Switch off a head
#
# What head $h$ finds goes through its own columns of $W_O$. With zeros there, the head adds nothing (Michel et al. 2019). We switch off head 0 of our model with two heads. What happens to the two digits? And what if you write 1 in place of 0?


# %%
def without(model, *heads):
    """What `right` says while these heads add nothing."""
    W_O = model.attention.output.weight  # D D
    kept = W_O.detach().clone()
    with torch.no_grad():
        for head in heads:
            W_O.unflatten(1, (model.attention.H, -1))[:, head] = 0.0  # D H d: the columns of this head
        shares = right(model)[1:3]
        W_O.copy_(kept)
    return shares


table(
    {"all heads": right(models[2])[1:3], "without head 0": without(models[2], 0)},
    ["first", "second"],
    digits=2,
)

# %% [markdown]
# One digit is down at chance (1/8), and the other one does not suffer: this head is worth one fact, and head 1 the other. Is that so with eight heads, too? We switch off each, and then all that look more at the first letter's pair.

# %%
tokens, _, asked = recall_two(1000, 4, torch.Generator().manual_seed(99))
weights = models[8](tokens)[1]  # B H S
on_asked = weights.gather(2, asked[:, None].expand(-1, 8, -1)).mean(0)  # H 2: on each pair that is asked for
looking = [head for head in range(8) if on_asked[head, 0] > on_asked[head, 1]]
rows = {"all heads": right(models[8])[1:3]}
rows |= {f"without head {head}": without(models[8], head) for head in range(8)}
rows[f"without heads {', '.join(map(str, looking))}"] = without(models[8], *looking)
table(rows, ["first digit", "second digit"], digits=2)

# %% [markdown]
# Whichever head is missing, most digits are still right. Without those that look at the first letter's pair, most first digits are wrong. So what a head is worth depends on the others: where they can do the same, it is not missed.
#
# ## What do trained heads do?
#
# The course ships a Transformer, which lesson 12 will build. It has nine attentions of four heads each: three in its encoder, three in its decoder, and three from the decoder to the source. Which head of its encoder looks mostly at the word before?

# %%
model, subwords = load_pretrained("transformer-en-de")
text = "two young men are playing guitar in front of a red house ."
source, given, _ = make_batch(subwords.encode([text]), [[]])
seen, pieces = weights_of_heads(model, source, given), [*subwords.tokens(source[0, :-1].tolist()), "EOS"]


def head_at(layer, head):
    weights = seen[f"encoder {layer}"][0, head]
    plots.amounts(weights, pieces, pieces, ax=plots.axes(width=9, height=6), unit="weight")
    before = weights.diagonal(-1).mean()
    return f"Encoder, layer {layer}, head {head}: the word before gets {before:.2f} of the weight on average."


controls = {name: ipywidgets.IntSlider(value=2, min=0, max=most) for name, most in (("layer", 2), ("head", 3))}
head_explorer = explore(head_at, **controls)
head_explorer

# %% [markdown]
# Head 2 of layer 2, shown at first, does. Move both sliders to 1, and you will see one that does not. But this is one sentence. Here is the mean weight at each distance from the word, over 300 captions; evenly spread over 15 tokens, as here, it would be 0.07. Which head looks at the words *after*?

# %%
rows = {}
for layer in range(3):
    for head in range(4):
        distances, runs = measured("near", "weight", "distance", attention=f"encoder {layer}", head=head)
        rows[f"layer {layer}, head {head}"] = runs[0]
table(rows, [f"{by:+g}" if by else "itself" for by in distances], corner="mean weight on", digits=2)

# %% [markdown]
# Layer 2 has a head for the word before (head 2) and one for the words after (head 1). In layer 1, head 2 looks one and two words back. Voita et al. 2019 found such heads in larger models.
#
# Are they worth much? We switch off each head and translate the test set; then we leave each head *alone* in its attention. The whole model has 36.7 BLEU. How many points does one missing head cost at most?

# %% tags=["nbval-check-output"]
predict("10.worst", ...)

# %% tags=["reveals"]
print("BLEU lost: with one head off, and with only that one left in its attention")
whole, names, lost = measured("heads", "bleu", "head", state="on")[1][0][0], list(attentions(model)), {}
for state, title in (("off", "without this head"), ("alone", "with this head alone")):
    rows = [measured("heads", "bleu", "head", attention=name, state=state)[1][0] for name in names]
    lost[title] = whole - torch.tensor(rows)  # 9 H
off, alone = lost.values()
reveal("10.worst", round(off.max().item(), 1))
print(f"{int((off < 1).sum())} of the 36 heads cost less than 1 BLEU when they alone are missing.")
for name in ("source 2", "decoder 2"):
    (together, *_), (_, *single) = alone[names.index(name)], off[names.index(name)]
    print(f"Without heads 1 to 3 of “{name}” {together:.1f} are lost; one at a time, they cost {sum(single):.1f}.")
for (title, values), ax in zip(lost.items(), plots.axes(2, width=4.6, height=4.6), strict=True):
    heads, most = [f"head {h}" for h in range(4)], values.max().item()
    plots.amounts(values, heads, names, title, ax, xlabel="", ylabel="", most=most, unit="BLEU lost")

# %% [markdown]
# Most heads cost less than 1 BLEU. A few tenths mean little, since this is one model; and note that each map has its own scale. The head of layer 1 that looks one and two words back costs 1.9, the clearest one for the word before costs less than 1. Three heads can cost more together than one by one (“source 2”), or less (“decoder 2”).
#
# How well does a model translate that was trained with a single head, as wide as the four?

# %%
_, one_head = measured("translated", "bleu", "epochs", positions="sinusoidal", heads=1)
rows = {}
for heads in (1, 2, 4, 8):
    _, found = measured("translated", "bleu", "epochs", positions="sinusoidal", heads=heads)
    gained = [f"{several[0] - one[0]:+.1f}" for several, one in zip(found, one_head, strict=True)]
    rows[f"{heads} head{'s' * (heads > 1)}"] = [
        [run[0] for run in found],
        *(gained if heads > 1 else [""] * 3),
    ]
differences = [f"seed {seed}" for seed in range(3)]
table(rows, ["BLEU", *differences], corner="three epochs; difference to one head", digits=1)

# %% [markdown]
# No number of heads is better than one with all three seeds. But three such different differences could hide a gain of half a point. Perhaps hidden layers (lesson 12) take sums apart. Vaswani et al. 2017 (table 3) lost 0.9 BLEU with one head, in a wider model that was trained for longer.
#
# ## So: why several heads?
#
# One head makes one weighted sum. If only a linear layer follows, it does not keep two facts apart, and two heads do. If more follows, one head can be enough. So the number of heads is a setting to try.
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
# - A hidden layer after a single head can take the sum apart, too, and in our translator three seeds show no gain from several.
# - Split, attend, merge, project: each head works on its part of the width, and $W_O$ combines what they found. In the library's mask True means "must not be seen".
# - What a head looks at can be measured over many sentences: some of ours look at the words before or after.
# - A head that is not missed alone may be missed together with others that can do the same.
#
# **Exercises**: [open them](../exercises/10_multi_head_attention_exercises.ipynb)
#
# **Next**: some heads look at the word before. But self-attention does not notice the order of words, so how can they? Where does the order come from? [Lesson 11](11_positions.ipynb) answers this.
