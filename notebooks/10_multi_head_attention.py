# %%
import ipywidgets
import torch
from torch import nn

from course_utils import check, predict, reveal
from course_utils.data.measured import measured
from course_utils.data.recall import recall_two
from course_utils.figures import plots
from course_utils.figures.tables import table
from course_utils.figures.widgets import explore
from course_utils.models.attention import causal_mask
from course_utils.models.files import load_pretrained
from course_utils.models.heads import TwoFacts, attentions, fit, weights_of_heads
from course_utils.models.plain import merge_heads, multi_head_attention, split_heads
from course_utils.models.seq2seq import make_batch

torch.set_printoptions(precision=3, sci_mode=False, linewidth=110)

# %% [markdown]
# ## One head, one average
#
# In lesson 09 each word had one query, and so one set of weights and one weighted sum. But a word may need two things at once. A verb needs to know who is acting, and on whom.
#
# Suppose that in "dog bites man" a head finds both nouns and gives each the weight 0.5, as it needs both equally. The value of "dog" is [4, 0], that of "man" [0, 8]. What is the context, on paper? And what is it in "man bites dog"?

# %% tags=["nbval-check-output"]
dog, man = torch.tensor([4.0, 0.0]), torch.tensor([0.0, 8.0])
print("dog bites man:", 0.5 * dog + 0.5 * man, "   man bites dog:", 0.5 * man + 0.5 * dog)

# %% [markdown]
# It is [2, 4] both times. The context shows which two words were found, but not which is which: a sum has no order. Unequal weights would tell them apart, but would leave one of them faint.
#
# Let us test this. A sentence has four pairs of a letter and a digit, each pair one token. A single token then names two of the letters, such as "c, then a", and the model has to give their digits in that order. The model consists of an embedding, one attention and one linear layer. What share of the digits will it get right with one head?

# %% tags=["nbval-check-output"]
predict("10.one_head", ...)

# %% tags=["reveals"]
print("The share of right digits, five seeds each:")
_, runs = measured("two_facts", "answers_right", "heads")
runs = torch.tensor(runs)
reveal("10.one_head", round(runs[:, 0].mean().item(), 2))
plots.bars({"1 head": runs[:, 0], "2 heads": runs[:, 1], "4 heads": runs[:, 2]}, "share of digits right")

# %% [markdown]
# One head gets little more than half of the digits right; two heads, or four, get them all. All three models have the same number of weights: two heads work on half the width each.
#
# Let us train the first two and see where they look. Each row is a head. The last column is the question, and frames mark the two pairs that it asks for. What does the single head do?

# %%
LETTERS = "abcdefgh"
tokens, answers, places = recall_two(1, 4, torch.Generator().manual_seed(1))
for heads, ax in zip((1, 2), plots.axes(2, width=4.6, height=2.6), strict=True):
    torch.manual_seed(0)
    model = TwoFacts(heads)
    losses = fit(model, steps=500, rate=2e-2)
    weights = model(tokens)[1][0]  # H S
    names = [LETTERS[token // 8] + str(token % 8 + 1) for token in tokens[0, :-1].tolist()]
    names.append(", ".join(LETTERS[i] for i in divmod(int(tokens[0, -1]) - 64, 8)) + "?")
    marks = [(head, int(place)) for head in range(heads) for place in places[0]]
    plots.weights(
        weights, names, [f"head {h}" for h in range(heads)], ax=ax, marked=marks, xlabel="", ylabel=""
    )
    ax.set_title(f"{heads} head{'s' * (heads > 1)}")

# %% [markdown]
# The single head divides its weight between the two pairs. With two heads, each finds one pair, and the two stay apart.
#
# Is one head always too few? In a Transformer, attention is followed by more than one linear layer. We add a hidden layer of 32 numbers after it and train with one head again. How large is the larger of the two weights that this head gives?

# %%
rows = {}
for hidden, name in ((0, "a linear layer alone"), (32, "a hidden layer of 32, too")):
    found = [
        measured("behind", value, "hidden", hidden=hidden)[1] for value in ("answers_right", "larger_weight")
    ]
    rows[name] = torch.tensor(found).mean((1, 2)).tolist()
table(rows, ["share right", "larger weight"], corner="one head, followed by", digits=2)

# %% [markdown]
# Now one head is enough. It gives *unequal* weights to the two pairs, and the hidden layer takes their sum apart. Two heads do not need this.
#
# ## Split, attend, merge, project
#
# **Multi-head attention** (Vaswani et al. 2017) computes queries, keys and values with the full width $D$. Then it *splits* each vector into $H$ parts of width $d = D / H$, *attends* in each head, with scores divided by $\sqrt{d}$, *merges* the results side by side, and *projects* them with a last matrix $W_O$. Each number of a query is made from the *whole* word, so every head has projections of its own.
#
# Words 0 and 1 have the queries [0, 1, 2, 3] and [4, 5, 6, 7]. Which numbers does the second head, head 1, get?

# %% tags=["nbval-check-output"]
x = torch.arange(8.0).view(1, 2, 4)  # B T D: the query of word 0 is 0 to 3, that of word 1 is 4 to 7
print(x)
print(split_heads(x, heads=2))  # B H T d
print("merged again:", torch.equal(merge_heads(split_heads(x, heads=2)), x))

# %% [markdown]
# Head 1 gets the second half of *each* query: 2, 3 and 6, 7. What belongs to a word stays with that word.
#
# The shortest way to write this is a trap. What does head 1 get if we ask for the shape B×H×T×d directly?

# %% tags=["nbval-check-output"]
print("view at once, head 1:           ", x.view(1, 2, 2, 2)[0, 1].tolist())
print("view, then transpose, head 1:   ", x.view(1, 2, 2, 2).transpose(1, 2)[0, 1].tolist())

# %% [markdown]
# `view` fills the new shape number by number, so head 1 gets the whole second word, cut in two. The shape is right, so no error is raised, but what belongs to two words is mixed up. The exercise's check finds this mistake.
#
# ## Does it equal the library's?
#
# PyTorch has `nn.MultiheadAttention`. Our plain version takes weights as arguments, so we pass it the library's. Do the two agree under a causal mask? There is one thing to know: in the library, True in a mask means that a word must *not* be seen.

# %% tags=["nbval-check-output"]
torch.manual_seed(0)
library = nn.MultiheadAttention(12, 3, batch_first=True)
x, may_see = torch.randn(2, 5, 12), causal_mask(5)
parts = (library.in_proj_weight, library.in_proj_bias, library.out_proj.weight, library.out_proj.bias)
ours = multi_head_attention(x, x, x, *parts, heads=3, mask=may_see.expand(2, 5, 5))
for name, mask in (("inverted", ~may_see), ("as it is", may_see)):
    theirs, _ = library(x, x, x, attn_mask=mask)
    equal, last = torch.allclose(ours, theirs, atol=1e-6), theirs[0, -1, 0].item()
    print(f"our mask {name}: {'equal' if equal else 'different'}, and the last word begins with {last:.3f}")

# %% [markdown]
# With the mask inverted the two agree. If we pass it as it is, nothing warns us: each word sees exactly what it should not, and the last one, which may then see nothing, becomes NaN.
#
# ## What do trained heads do?
#
# We open the Transformer that ships with the course, which lesson 12 will build. It has nine attentions of four heads each: one in each of its encoder's three layers, and two in each of its decoder's three layers, to itself and to the source. Which head of the encoder looks mostly at the word before?

# %%
model, subwords = load_pretrained("transformer-en-de")
text = "two young men are playing guitar in front of a red house ."
source, given, _ = make_batch(subwords.encode([text]), [[]])
seen, pieces = weights_of_heads(model, source, given), [*subwords.tokens(source[0, :-1].tolist()), "EOS"]


def head_at(layer, head):
    weights = seen[f"encoder {layer}"][0, head]
    plots.weights(weights, pieces, pieces, ax=plots.axes(width=9, height=6))
    before = weights.diagonal(-1).mean()
    return f"Encoder, layer {layer}, head {head}: the word before gets {before:.2f} of the weight on average."


controls = {
    name: ipywidgets.IntSlider(value=1, min=0, max=most) for name, most in (("layer", 2), ("head", 3))
}
head_explorer = explore(head_at, **controls)
head_explorer

# %% [markdown]
# Head 1 of layer 1, shown at first, does not. Move both sliders to 2, and you will see one that does. But this is one sentence. Before naming a head, we should measure it over many: here is the mean weight that each head gives to places at each distance from the word, over 300 captions. In a caption of 14 tokens, evenly spread weights would be 0.07 everywhere. Can you find a head that looks at the words *after*?

# %%
rows = {}
for layer in range(3):
    for head in range(4):
        distances, runs = measured("near", "weight", "distance", attention=f"encoder {layer}", head=head)
        rows[f"layer {layer}, head {head}"] = runs[0]
table(rows, [f"{by:+g}" if by else "itself" for by in distances], corner="mean weight on", digits=2)

# %% [markdown]
# Layer 2 has a head for the word before (head 2) and one for the words after (head 1). In layer 1, head 3 looks at the word before, less clearly, and head 2 looks one and two words back. Voita et al. 2019 found such heads in larger models.
#
# ## What are they worth?
#
# A head's weights show where it looks, not whether it matters. So we switch off one head at a time, by setting to zero what it adds through $W_O$, and translate the test set (Michel et al. 2019); then we leave each head *alone* in its attention. The whole model, with 36 heads, has 36.7 BLEU. How many points does one missing head cost at most?

# %% tags=["nbval-check-output"]
predict("10.worst", ...)

# %% tags=["reveals"]
print("BLEU lost: with one head off, and with only that one left in its attention")
whole = measured("heads", "bleu", "head", state="on")[1][0][0]
names = list(attentions(model))
lost = {}
for state in ("off", "alone"):
    rows = [measured("heads", "bleu", "head", attention=name, state=state)[1][0] for name in names]
    lost[state] = whole - torch.tensor(rows)  # 9 H
reveal("10.worst", round(lost["off"].max().item(), 1))
titles = ("BLEU lost without this head", "BLEU lost with this head alone")
for values, title, ax in zip(lost.values(), titles, plots.axes(2, width=4.6, height=4.6), strict=True):
    plots.scores(values, [f"head {h}" for h in range(4)], names, title=title, ax=ax, xlabel="", ylabel="")

# %% [markdown]
# No head costs more than 2.5 BLEU points, and 21 of the 36 cost less than one. (With one model, a few tenths mean little.) The clearest head for the word before is among these; the one that looks one and two words back costs 1.9. In the last attention to the source, "source 2", each head costs about two; but with head 0 alone, 9 points are gone: more than the sum of what the three others cost one at a time.
#
# This model was trained with four heads. How well does one translate that was trained with a single head, as wide as the four together?

# %%
_, one_head = measured("translated", "bleu", "epochs", positions="sinusoidal", heads=1)
rows = {}
for heads in (1, 2, 4, 8):
    _, found = measured("translated", "bleu", "epochs", positions="sinusoidal", heads=heads)
    gained = [with_several[0] - with_one[0] for with_several, with_one in zip(found, one_head, strict=True)]
    rows[f"{heads} head{'s' * (heads > 1)}"] = [[run[0] for run in found], gained if heads > 1 else ""]
table(rows, ["BLEU", "more than with one, seed by seed"], corner="three epochs, three seeds", digits=1)

# %% [markdown]
# Several heads gain nothing here that all three seeds share. As above, the layers after an attention can take its sum apart. Vaswani et al. 2017 (table 3) lost 0.9 BLEU with one head, in a model four times as wide and trained to its end; ours stops after three epochs.
#
# ## So: why several heads?
#
# One head makes one weighted sum, which mixes all that it has found. Several heads keep it apart, so that the layers after them need not take it apart.
#
# ## Questions
#
# These five questions test the goals at the top. Run a cell to see its question, then replace the dots with a letter in quotes or a number.

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
# - Why several heads? One head makes one weighted sum, in which two facts are mixed. With two heads they stay apart.
# - Split, attend, merge, project: each head works on its part of the width, and $W_O$ combines what they found.
# - Ours equals the library's, where True in a mask means "must not be seen".
# - What a head looks at can be measured over many sentences: some of ours look at the words before or after.
# - No single head of ours costs more than 2.5 BLEU, but several together do, so switching off one shows little. A small translator trained with one head does as well.
#
# **Exercises**: [open them](../exercises/10_multi_head_attention_exercises.ipynb)
#
# **Next**: some heads look at the word before. But self-attention does not notice the order of words, so how can they? Where does the order come from? [Lesson 11](11_positions.ipynb) answers this.
