# %%
import ipywidgets
import torch
import torch.nn.functional as F
from IPython.display import display

from course_utils import check, predict, reveal
from course_utils.base.edits import edited
from course_utils.data.measured import measured_once
from course_utils.data.small_world import small_world
from course_utils.data.subwords import BOS, EOS, PAD
from course_utils.figures import diagrams, plots
from course_utils.figures.every_head import every_head
from course_utils.figures.tables import difference, table
from course_utils.figures.widgets import explore
from course_utils.models.assembled import share_right
from course_utils.models.fast import Dropout
from course_utils.models.files import load_pretrained
from course_utils.models.heads import weights_of_heads
from course_utils.models.seq2seq import make_batch
from course_utils.models.transformer import EncoderLayer, Transformer
from course_utils.training.batches import Batches

torch.set_printoptions(precision=3, sci_mode=False, linewidth=110)
torch.set_num_threads(1)  # these tensors are small: several threads would wait for each other

# %% [markdown]
# ## The loop
#
# Each training step draws a **batch** of sentence pairs. `make_batch` turns it into what the encoder reads, what the decoder is given, and what it should write (lesson 05). The decoder is given the right words before each position: this is teacher forcing. The loss is the mean of $-\ln p$ over the right words. `backward` computes its gradient with respect to every weight, and `step` moves the weights against it. Which line says how far?


# %%
def train(model, sources, targets, seed=0, steps=300, size=64):
    draw = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
    losses = []
    model.train()  # dropout is on
    for _ in range(steps):
        rows = torch.randint(len(sources), (size,), generator=draw).tolist()
        source, given, wanted = make_batch([sources[i] for i in rows], [targets[i] for i in rows])
        logits = model(source, given)  # B T V
        loss = F.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()  # dropout is off
    return losses


# %% [markdown]
# The line with `lr` does, the **learning rate**: gradient descent, **SGD**, moves each weight by rate × gradient. (`zero_grad` deletes the gradient of the step before; otherwise the new one would be added to it.)
#
# We train lesson 12's small Transformer. What share of words does it get right, given the right ones before? Below that we compare the gradients of four matrices of an untrained model. Are they about equally large?


# %%
def new_model(dropout=0.0, seed=0):
    torch.manual_seed(seed)
    return Transformer(len(pairs.words), 32, hidden=64, encoder_layers=2, decoder_layers=2, dropout=dropout)


def run(name, train):
    losses = train(model := new_model(), *pairs.ids())
    tried[name] = [sum(losses[-20:]) / 20, share_right(model, *test)]
    return table(tried, ["loss, last 20 steps", "share right"], corner="300 steps, seed 0")


pairs, tried = small_world(20_000, 1, order="verb-last"), {}
test = make_batch(*small_world(300, 2, order="verb-last").ids())  # sentences that it does not learn
display(run("SGD, rate 0.3", train))

model = new_model()
F.cross_entropy(model(*test[:2]).flatten(0, 1), test[2].flatten(), ignore_index=PAD).backward()
names = ("readout", "decoder.1.feed_forward.2", "encoder.0.feed_forward.0", "encoder.0.self_attention.query")
sizes = [model.get_submodule(name).weight.grad.square().mean().sqrt().item() for name in names]
table(
    {name: [size / sizes[0]] for name, size in zip(names, sizes, strict=True)},
    ["size of its gradient"],
    corner="matrix",
)

# %% [markdown]
# A third of the words are wrong. The gradients in the encoder's query matrix are about a hundred times smaller than in the readout (1 here). So with one rate for all, some weights move a hundred times as far as others.
#
# **Adam** (Kingma & Ba 2015) keeps two running means for each weight θ: m of its gradients g, and v of their squares. Both start at 0 and are too small at first, so step t divides them by $1 - \beta^t$ ($\beta_1 = 0.9$, $\beta_2 = 0.999$, and ε is tiny):
#
# $$m \leftarrow \beta_1 m + (1 - \beta_1)\, g, \qquad v \leftarrow \beta_2 v + (1 - \beta_2)\, g^2, \qquad \theta \leftarrow \theta - \text{rate} \cdot \frac{m / (1 - \beta_1^t)}{\sqrt{v / (1 - \beta_2^t)} + \varepsilon}$$
#
# Two weights have the gradients 4 and 0.01, and the rate is 0.1. SGD moves them by 0.4 and 0.001. How far does Adam's first step move the second one?

# %% tags=["nbval-check-output"]
predict("13.adam", ...)

# %% tags=["reveals"]
print("How far two steps move three weights. The gradient of the third changes its sign:")
reveal("13.adam", 0.1)
for name, kind in (("SGD", torch.optim.SGD), ("Adam", torch.optim.Adam)):
    weights = torch.zeros(3, requires_grad=True)
    optimizer = kind([weights], lr=0.1)
    for step, third in ((1, 4.0), (2, -4.0)):
        weights.grad = torch.tensor([4.0, 0.01, third])
        optimizer.step()
        print(f"{name:5} after step {step}:", weights.detach())

# %% [markdown]
# At the first step m / (1 - β₁) is g and the root of v / (1 - β₂) is |g|. So every weight moves by the rate, unless its gradient is 0. The third weight's gradient changes its sign: m is then small beside the root of v, and Adam's second step is 0.005 only.
#
# In the loop, one line changes: `edited` writes it into a copy of `train`, and `difference` shows it. SGD also gets a larger rate, and then a **momentum**, with the best of three rates: it steps along a sum of its gradients, in which each counts 0.9 times as much as the next. Up to a factor, this is Adam's m without v. How far do they get?

# %%
with_adam = edited(
    train, "torch.optim.SGD(model.parameters(), lr=0.3)", "torch.optim.Adam(model.parameters(), lr=0.01)"
)
display(difference(train, with_adam))  # "+" is new, "-" is gone
run("SGD, rate 0.6", edited(train, "lr=0.3", "lr=0.6"))
run("SGD, rate 0.1, momentum", edited(train, "lr=0.3", "lr=0.1, momentum=0.9"))
run("Adam, rate 0.01", with_adam)

# %% [markdown]
# A larger rate helps SGD, momentum helps more, and Adam gets nearly all words right. **Your turn**: `run` SGD with a rate of your own. Does any reach Adam's share? We found none; at 2.5 the weights become `nan` (not a number). Clipping gradients to length 1, as in lesson 12, bounds each step.
#
# ## When should the step be large?
#
# In a **schedule** the rate rises over a **warm-up** and falls afterwards. Vaswani et al. 2017 (equation 3) took, with D the width:
#
# $$\text{rate} = D^{-0.5} \cdot \min(\text{step}^{-0.5},\; \text{step} \cdot \text{warmup}^{-1.5})$$
#
# With D = 32 and `warmup` = 100, what is the rate at step 100? With `warmup` = 1 it falls from the first step on, and is the same after step 100. What share of words will that model get right?

# %% tags=["nbval-check-output"]
predict("13.warm_up", ...)

# %% tags=["reveals"]
lines = """step = len(losses) + 1
        optimizer.param_groups[0]["lr"] = 32**-0.5 * min(step**-0.5, step * 100**-1.5)
        optimizer.step()"""
warmed = edited(with_adam, "optimizer.step()", lines)
print("The two lines that are new, the two schedules, and the runs:")
display(difference(with_adam, warmed, around=1))
steps = torch.arange(1.0, 301, 10)
rates = {w: 32**-0.5 * torch.minimum(steps**-0.5, steps * w**-1.5)[None] for w in (100, 1)}
ax = plots.axes(width=6, height=3.2)
plots.curves(steps, {f"warmup = {w}": rate for w, rate in rates.items()}, "step", "learning rate", ax=ax)
run("Adam, warm-up over 100 steps", warmed)
run("Adam, no warm-up", edited(warmed, "100**-1.5", "1**-1.5"))
reveal("13.warm_up", round(tried["Adam, no warm-up"][1], 2))
table(tried, ["loss, last 20 steps", "share right"], corner="300 steps, seed 0")

# %% [markdown]
# The schedules differ in the first 99 steps: at step 100 both rates are 1 / √(32 · 100) = 0.018. These steps spoil the model: the first moves every weight by 0.18, and two hundred more do not repair that. Lesson 12's pre-norm models needed no warm-up at 0.003; ours needs none at 0.01. A warm-up is for rates that are too large to begin with.
#
# ## What keeps it from learning by heart?
#
# In training, **dropout** sets each number to zero with probability p, and scales the others up to keep the mean. A Transformer applies it to embeddings and to what sub-layers add. What happens to ten ones with p = 0.25, in training and in use?

# %%
torch.manual_seed(4)
dropout = Dropout(0.25)
print("in training:", dropout(torch.ones(10)))
print("again:      ", dropout(torch.ones(10)))
print("in use:     ", dropout.eval()(torch.ones(10)))

# %% [markdown]
# Each time different numbers become 0, and in use none does. (The others are scaled by 1 / 0.75 = 1.333.)
#
# **Label smoothing** (Szegedy et al. 2016, section 7) changes what the model is asked for. Cross-entropy asks for a probability of 1 for the right word, which no finite logits give. With smoothing ε, the right word should get 1 - ε, and the rest is shared by all V words, the right one included. For V = 5 and ε = 0.1, which probabilities are asked for, and what is the lowest loss?

# %% tags=["nbval-check-output"]
asked = torch.full((5,), 0.1 / 5)  # V = 5, ε = 0.1
asked[2] += 1 - 0.1  # the right word
print("asked for:", asked)
for name, logits in (("what is asked for", asked.log()), ("more certain", 2 * asked.log())):
    loss = F.cross_entropy(logits[None], torch.tensor([2]), label_smoothing=0.1)
    print(f"{name:17}  {logits.softmax(-1)}  loss {loss:.3f}")

# %% [markdown]
# The right word should get 0.92 and each other word 0.02. A model that gives exactly these probabilities reaches the lowest loss, 0.39. One that is more certain has a higher loss, although its most probable word is also the right one. So a smoothed loss cannot be compared with one that is not smoothed.
#
# Now the model learns only 300 sentences, each about 32 times. Smoothing changes the line of the loss; dropout is part of the model. Which of them helps with new sentences, with each of three seeds?

# %%
smoothed = edited(with_adam, "ignore_index=PAD", "ignore_index=PAD, label_smoothing=0.1")
display(difference(with_adam, smoothed, around=1))
few, rows = [side[:300] for side in pairs.ids()], {}
for name, loop, p in (("neither", with_adam, 0.0), ("smoothing", smoothed, 0.0), ("dropout", with_adam, 0.1)):
    own, new = [], []
    for seed in range(3):
        loop(model := new_model(p, seed), *few, seed, size=32)
        own.append(share_right(model, *make_batch(*few)))
        new.append(share_right(model, *test))
    rows[name] = [sum(own) / 3, *new]
table(rows, ["its own 300, mean", *(f"new, seed {seed}" for seed in range(3))], corner="share right")

# %% [markdown]
# Without either, the model does far better on its own sentences than on new ones: it learns by heart. Smoothing helps with new ones. Dropout does not: with it the model does worse on its own sentences and on new ones. Perhaps 300 steps are too few for it; further down, models that read each sentence 53 times need it.
#
# ## What is in a batch?
#
# A batch is padded to its longest sentence. Vaswani et al. 2017 put sentences of like length together, about 25,000 tokens on each side. The course's `Batches` does so, here with 256 tokens. Of 500 sentences of 1 to 12 words, what share of a batch is padding then, and what share in random order?

# %%
for by in ("tokens", "sentences"):
    batches = Batches(*small_world(500, 1).ids(), tokens=256, seed=0, by=by)
    shapes = [batches.read(places).source for places in batches.epoch(0)]
    padding = sum((source == PAD).sum().item() for source in shapes) / sum(map(torch.numel, shapes))
    sizes = sorted(len(source) for source in shapes)
    print(f"by {by:10} {len(shapes)} batches of {sizes[0]} to {sizes[-1]} sentences, {padding:.0%} padding")

# %% [markdown]
# In random order 41 % of the work is done for padding. Counted in tokens, a batch holds many short sentences or few long ones, and 13 % is padding.
#
# ## What is each worth?
#
# One short run cannot tell. The course has trained a Transformer of width 64, two layers on each side, with all of this, and then changed one thing at a time: an **ablation**. BLEU (lesson 07) scores its greedy translations of a validation set. These models learned 20,000 pairs of the small world, each four times. Are they better with dropout or without?


# %%
def runs(data, pairs, changed):
    """The BLEU of each run, in the order of their seeds."""
    found = measured_once("ablations", "seed", "bleu", data=data, pairs=pairs, changed=changed)
    return torch.tensor([bleu for _, bleu in sorted(zip(*found, strict=True))])


with_dropout, without = runs("world", 20_000, "nothing"), runs("world", 20_000, "no dropout")
rows = {"with dropout": with_dropout, "without": without, "gained without": without - with_dropout}
table(rows, [f"seed {seed}" for seed in range(5)], corner="BLEU, 20,000 pairs", digits=1)

# %% [markdown]
# The ranges overlap, yet without dropout *every* seed is better, by 3 to 7 BLEU. Runs with the same seed share some of what chance decides, such as the order of the sentences, and a subtraction takes that away. So we compare by **paired differences**. If a change does nothing, five of them have the same sign once in 16 times. Their mean says how large the effect is.
#
# Now the models learn 1,500 pairs, each 53 times. [Muon](../docs/translators.md#optimizers) is another optimizer; Adam is here its variant AdamW, and SGD has momentum. Each has the best of three rates with seed 0; Adam's is 0.008. A readout is **tied** if it is also the embedding. Which changes matter?

# %%
changes = ["SGD in place of Adam", "Muon in place of Adam", "no warm-up", "no dropout"]
changes += ["no label smoothing", "readout not tied", "batches of sentences"]


def read(data, pairs):
    """A table of what each change gains with each seed; its first row is the BLEU of the runs without a change."""
    plain = runs(data, pairs, "nothing")
    rows = {"nothing, its own BLEU": [*(f"{bleu:.1f}" for bleu in plain), f"{plain.mean():.1f}", ""]}
    for change in changes:
        gained = runs(data, pairs, change) - plain
        one_sign = bool((gained > 0).all() or (gained < 0).all())
        rows[change] = [*(f"{gain:+.1f}" for gain in gained), f"{gained.mean():+.1f}", one_sign]
    columns = [*(f"seed {seed}" for seed in range(len(plain))), "mean", "one sign"]
    return table(rows, columns, corner="BLEU gained by")


read("world", 1500)

# %% [markdown]
# Five of the seven changes have one sign, where chance gives one row in 16. Dropout, which cost BLEU with 20,000 pairs, is now what the model can least do without. Leaving out the warm-up makes no clear difference, perhaps because the rate is far below the 0.18 above. Batches of sentences gain BLEU in as many steps; those by tokens save padding.
#
# So what a part is worth depends on the setting. Here is the same model after three epochs of Multi30k, English to German, where we tried two rates for Adam and SGD and one for Muon. Three signs are equal by chance once in 4 times. One column stands out. Which one, and why?

# %% tags=["nbval-check-output"]
read("multi30k", 29_000)

# %% [markdown]
# With seed 0 every change gains most. All seven are compared with the same run, and that of seed 0 is the worst of the three, which makes every change look good. So seven rows that agree are not seven pieces of evidence. It takes more seeds to tell.
#
# ## Writing with a cache
#
# In use, a plain loop reads all words again at each step. But the decoder's attention is causal: a word's keys and values do not depend on later words. So the decoder can keep them, in a **cache**. What is left to compute for the newest word, and what share of the operations is saved?

# %%
from torch.utils.flop_counter import FlopCounterMode


@torch.no_grad()
def write(cached):
    """Return the most probable words, one by one, and the operations of each step in millions."""
    (memory, cache), words, costs = model.start(source), [BOS], []
    while words[-1] != EOS:
        with FlopCounterMode(display=False) as counter:
            if cached:  # reads the last word, and keeps its keys and values
                logits, cache, _ = model.step(torch.tensor([words[-1:]]), memory, cache)
            else:  # reads all words again
                logits = model.readout(model.decode(torch.tensor([words]), memory)[0][:, -1:])
        words.append(logits[0, -1].argmax().item())
        costs.append(counter.get_total_flops() / 1e6)
    return words, costs


display(diagrams.cached(new=["newest"]))
model, subwords = load_pretrained("transformer-en-de")
source = make_batch(subwords.encode(["two young men are playing guitar in front of a red house ."]), [[]])[0]
(words, again), (same, kept) = write(cached=False), write(cached=True)
print("the same words:", words == same, "  operations saved:", f"{1 - sum(kept) / sum(again):.0%}")
plots.curves(range(len(again)), {"again": [again], "cache": [kept]}, "step", "million operations")

# %% [markdown]
# Without a cache a step grows from 2 to 17 million operations; with one it stays at 2. The words are the same. Only the newest word is projected to a query, a key and a value, and its query is compared with all keys. So a step costs nearly the same for the tenth word as for the first.
#
# One may also draw the next word by its probability. A **temperature** divides the logits before the softmax. Move the sliders: what do a small and a large temperature do?

# %%
given = subwords.tokens(words[:-1])
with torch.no_grad():
    logits = model(source, torch.tensor([words[:-1]]))[0]  # T V


def step_at(step, temperature):
    best = (logits[step - 1] / temperature).softmax(-1).topk(5)
    names = subwords.tokens(best.indices.tolist())
    ax = plots.axes(width=5.2, height=3.2)
    plots.bars(dict(zip(names, best.values, strict=True)), "probability", "next word", ax, ylim=(0, 1.1))
    return f"After “{' '.join(given[:step])}” the most probable next word is {names[0]}, with {best.values[0]:.2f}."


step_explorer = explore(
    step_at,
    step=ipywidgets.IntSlider(value=5, min=1, max=len(given)),
    temperature=ipywidgets.FloatLogSlider(value=1.0, base=10, min=-1, max=1, step=0.1),
)
step_explorer

# %% [markdown]
# At temperature 1 two words share most of the probability. A small temperature gives nearly everything to "Gitarre", so that drawing does what greedy search does. A large one makes all words nearly alike.
#
# ## What does it know?
#
# The model has read nothing but 29,000 captions of photos. Some of these sentences are not like captions. Which of them will it get right?

# %%
from course_utils.translation.translate import translate

texts = [
    "Two dogs are running on the beach .",
    "The man who wears a red hat is sleeping .",
    "Seven elephants are reading a newspaper .",
    "A dog is not running on the beach .",
    "Is the dog running ?",
    "How was your day ?",
    "Attention is all you need .",
]
table({text: [found] for text, found in zip(texts, translate(model, subwords, texts), strict=True)}, ["German"])

# %% [markdown]
# It knows that two dogs "rennen", that the verb of a relative clause goes to its end, and how to say something as odd as seven reading elephants. The "not" is lost, the question becomes a statement, and the last two are nonsense. **Your turn**: try sentences of your own.
#
# What do its heads look at while it writes? Choose one of the three attentions and a word that asks, with the mouse or with Tab and the arrow keys. In which layer do most heads look from "Männer" at the word that has to be translated *next*?

# %%
target = torch.tensor([words[:-1]])
every_head(weights_of_heads(model, source, target), subwords.tokens(source[0].tolist()), given, asking=3)

# %% [markdown]
# From "Männer" the heads of layer 0 look at several words. From layer 1 on five of eight look most at "playing", which comes next. Try other words.
#
# ## What BERT and GPT keep
#
# **BERT** (Devlin et al. 2019) keeps the Transformer's encoder, in which each word sees both sides, and learns to guess words that are hidden from it. **GPT** (Radford et al. 2018) keeps the decoder without the attention to a source, and learns to guess the next word. Its mask is causal, so it can write with a cache. BERT base and GPT have 12 layers of width 768. Can we find their sizes, 110 and 117 million parameters, with the layers of this course?

# %% tags=["nbval-check-output"]
layer = EncoderLayer(768, heads=12, hidden=3072, dropout=0.1, norm="post")
in_layers = 12 * sum(p.numel() for p in layer.parameters())
for name, V, positions in (
    ("BERT base", 30_522, 512 + 2),
    ("GPT", 40_478, 512),
):  # + 2: first or second sentence
    in_embeddings = (V + positions) * 768
    total = in_layers + in_embeddings
    print(f"{name:10} {in_layers / 1e6:.1f} in layers + {in_embeddings / 1e6:.1f} in embeddings = {total / 1e6:.1f}")

# %% [markdown]
# Nearly: BERT also has a small network on top. One layer serves both: without a source, a decoder layer *is* an encoder layer with a causal mask.
#
# ## So: how is it trained, and what does it know?
#
# A short loop trains it: each step draws a batch, gives the decoder the right words, computes the loss and its gradient, and moves the weights. What a part of a recipe is worth depends on model and data. The model knows how captions are translated. It failed at our "not" and our question, perhaps because captions hardly need them.
#
# ## Questions
#
# These five questions test the goals at the top. Replace the dots with a letter in quotes or a number.

# %%
check("13.q1", ...)

# %%
check("13.q2", ...)

# %%
check("13.q3", ...)

# %%
check("13.q4", ...)

# %%
check("13.q5", ...)

# %% [markdown]
# ## Recap
#
# - How is it trained, and what does it know? By a short loop; what each part is worth has to be measured. It knows what its data show.
# - Adam divides the mean gradient by the root of the mean square, so its first step moves every weight by the rate. A first rate that is too large can spoil a run, and a warm-up prevents it.
# - Runs with the same seed are compared by paired differences. Five equal signs come by chance once in 16 times, three once in 4 times.
# - Where no word sees a later one, keys and values can be kept: a decoder with a cache writes the same words with fewer operations.
# - GPT keeps the decoder and can write with a cache; BERT keeps the encoder, in which every word sees all others.
#
# **More**: [training on GPUs](../docs/translators.md#gpus-and-several-processes), and [what the paper's run took](../docs/measurements.md#what-the-papers-run-took)
#
# **Exercises**: [open them](../exercises/13_training_exercises.ipynb)
#
# **Next**: attention was not invented for sentences alone. How does a network look at a picture in glimpses? [Where should it look next?](14_glimpses.ipynb)
