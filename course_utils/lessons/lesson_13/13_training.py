# %%
import ipywidgets
import torch
import torch.nn.functional as F
from IPython.display import display
from torch.utils.flop_counter import FlopCounterMode

from course_utils import check, predict, reveal
from course_utils.base.edits import edited
from course_utils.data.measured import by_seed, measured_once
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
from course_utils.translation.translate import translate

torch.set_printoptions(precision=3, sci_mode=False, linewidth=110)
torch.set_num_threads(1)  # these tensors are small: several threads would wait for each other

# %% [markdown]
# ## What does training change?
#
# Here are two Transformers of the same size. The course has trained one of them on 29,000 captions of photos, English to German. The other has random weights. What do they make of a caption?

# %%
translator, subwords = load_pretrained("transformer-en-de")
untrained, _ = load_pretrained("transformer-en-de")
torch.manual_seed(0)
for weight in untrained.parameters():
    torch.nn.init.normal_(weight, std=0.1)
caption = "two young men are playing guitar in front of a red house ."
models = {"random weights": untrained, "trained weights": translator}
table({name: translate(model, subwords, [caption]) for name, model in models.items()}, ["German"])

# %% [markdown]
# Only the weights differ. So where do good weights come from, step by step? And what does the translator know in the end?
#
# ## What does one step do?
#
# Each step draws a **batch** of sentence pairs. `make_batch` turns it into what the encoder reads, what the decoder is given, and what it should write (lesson 05). The decoder is given the right words before each position: this is teacher forcing. The loss is the mean of $-\ln p$ over the right words. `backward` computes its gradient with respect to every weight, and `step` moves the weights against it. Which line says how far?


# %%
def train(model, sources, targets, seed=0, steps=100, size=64):
    draw = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.6)
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
# To see a step's lines at work, we train small Transformers, of one layer on each side, on sentences of the small world. `run` trains three, with the seeds 0, 1 and 2. We draw their losses, a mean with a band from the lowest to the highest. Given the right words before, what share of the words of new sentences do they get right?


# %%
def new_model(seed, dropout=0.0):
    torch.manual_seed(seed)
    return Transformer(len(pairs.words), 32, hidden=64, encoder_layers=1, decoder_layers=1, dropout=dropout)


def run(name, train):
    models = [new_model(seed) for seed in range(3)]
    losses = torch.tensor([train(model, *ids, seed) for seed, model in enumerate(models)])  # seeds, steps
    tried[name] = losses, torch.tensor([share_right(model, *test) for model in models])


pairs, tried = small_world(20_000, 1, order="verb-last", longest=6), {}
ids, test = pairs.ids(), make_batch(*small_world(300, 2, order="verb-last", longest=6).ids())
run("SGD", train)
plots.training(tried)

# %% [markdown]
# The loss falls, but many words are still wrong. Does every weight move as it should? SGD moves it by rate × gradient, so we compare the gradients of four matrices of an untrained model. Are they about equally large?

# %%
model = new_model(seed=0)
F.cross_entropy(model(*test[:2]).flatten(0, 1), test[2].flatten(), ignore_index=PAD).backward()
names = ("readout", "decoder.0.feed_forward.2", "encoder.0.feed_forward.0", "encoder.0.self_attention.query")
sizes = [model.get_submodule(name).weight.grad.square().mean().sqrt() for name in names]
rows = {name: [size / sizes[0]] for name, size in zip(names, sizes, strict=True)}
table(rows, ["size of its gradient"], corner="matrix")

# %% [markdown]
# ## How far should each weight move?
#
# The gradients of the encoder's query matrix are less than a hundredth of the readout's (1 here). With one rate for all, it moves less than a hundredth as far. **Adam** (Kingma & Ba 2015) keeps two running means for each weight θ: m of its gradients g, and v of their squares. Both start at 0 and are too small at first, so step t divides them by $1 - \beta^t$ ($\beta_1 = 0.9$, $\beta_2 = 0.999$, and ε is tiny):
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
# At the first step m / (1 - β₁) is g and the root of v / (1 - β₂) is |g|. So every weight moves by the rate, unless its gradient is 0. The third weight's gradient changes its sign: m is then small beside the root of v, and Adam's second step is only 0.005.
#
# In the loop, one line changes: `edited` writes it into a copy of `train`. We also try SGD with **momentum**, which steps along a sum of gradients in which each counts 0.9 times as much as the next: up to a factor, Adam's m without v. Each has the rate, of three, with which seed 0 gets most words right. How far do they get?

# %%
with_adam = edited(
    train, "torch.optim.SGD(model.parameters(), lr=0.6)", "torch.optim.Adam(model.parameters(), lr=0.01)"
)
display(difference(train, with_adam, around=1))  # "+" is new, "-" is gone
run("SGD with momentum", edited(train, "lr=0.6", "lr=0.2, momentum=0.9"))
run("Adam", with_adam)
plots.training(tried)
for name in ("SGD", "SGD with momentum"):
    print(f"Adam minus {name}, seed by seed:", tried["Adam"][1] - tried[name][1])

# %% [markdown]
# Adam's loss falls fastest, and with each seed it gets more words right than either. **Your turn**: `run` SGD with a rate of your own, and draw it. What happens at a rate of 5?
#
# ## When should a step be large?
#
# In a **schedule** the rate rises over a **warm-up** and falls afterwards. Vaswani et al. 2017 (equation 3) took, with D the width:
#
# $$\text{rate} = D^{-0.5} \cdot \min(\text{step}^{-0.5},\; \text{step} \cdot \text{warmup}^{-1.5})$$
#
# With D = 32 and `warmup` = 40, what is the rate at step 40? With `warmup` = 1 it falls from the first step on, and is the same after step 40. What share of words will that model get right?

# %% tags=["nbval-check-output"]
predict("13.warm_up", ...)

# %% tags=["reveals"]
lines = """step = len(losses) + 1
        optimizer.param_groups[0]["lr"] = 32**-0.5 * min(step**-0.5, step * 40**-1.5)
        optimizer.step()"""
warmed = edited(with_adam, "optimizer.step()", lines)
print("The two lines that are new, the two rates, and what the models learn:")
display(difference(with_adam, warmed, around=1))
run("warm-up", warmed)
run("no warm-up", edited(warmed, "40**-1.5", "1**-1.5"))
reveal("13.warm_up", round(tried["no warm-up"][1].mean().item(), 2))
steps = torch.arange(1.0, 101, 3)
rates = {w: 32**-0.5 * torch.minimum(steps**-0.5, steps * w**-1.5)[None] for w in (40, 1)}
named = {"warm-up": rates[40], "no warm-up": rates[1], "Adam": torch.full_like(rates[1], 0.01)}
plots.curves(steps, named, "step", "learning rate", ax=plots.axes(width=6, height=3))
plots.training({name: tried[name] for name in named})

# %% [markdown]
# The schedules differ in the first 39 steps: at step 40 both rates are 1 / √(32 · 40) = 0.028. Without a warm-up, these steps spoil the model: the first moves nearly every weight by 0.18, and later ones do not repair it. "Adam", at a constant 0.01, needs none: a warm-up is for rates that are too large to begin with.
#
# ## What should a step read?
#
# So far a batch held sentences drawn at random, padded to the longest. Vaswani et al. 2017 put sentences of like length together, some 25,000 tokens a side; so does `Batches`, here with 256. What share of the batches of 500 sentences is padding, at random and then?

# %%
for by, ax in zip(("sentences", "tokens"), plots.axes(2, width=4.4, height=3.6), strict=True):
    batches = Batches(*small_world(500, 1).ids(), tokens=256, seed=0, by=by)
    sources = [batches.read(places).source for places in batches.epoch(0)]
    padding = sum((source == PAD).sum().item() for source in sources) / sum(map(torch.numel, sources))
    sizes = sorted(len(source) for source in sources)
    print(f"by {by:10} {len(sources)} batches of {sizes[0]} to {sizes[-1]} sentences, {padding:.0%} padding")
    shown = sorted(sources, key=len)[len(sources) // 2][:10]  # ten sentences of a batch of middling size
    plots.mask(shown != PAD, title=f"by {by}", ax=ax, xlabel="token (white: padding)", ylabel="sentence")

# %% [markdown]
# At random, 41 % of what is read is padding. By tokens, with many short sentences or few long ones, 13 %.
#
# ## What if there is little to read?
#
# A model may learn by heart what it reads again and again. **Dropout** should prevent that: in training it sets each number of embeddings and sub-layers to zero with probability p, and scales the others up to keep the mean. **Label smoothing** (Szegedy et al. 2016, section 7) asks for less than certainty: the right word should get 1 - ε, and all V words, this one included, share the rest.
#
# What becomes of ten ones with p = 0.25? And what is asked for with V = 5 and ε = 0.1?

# %%
torch.manual_seed(4)
dropout = Dropout(0.25)
print("in training:", dropout(torch.ones(10)))
print("again:      ", dropout(torch.ones(10)))
print("in use:     ", dropout.eval()(torch.ones(10)))

asked = torch.full((5,), 0.1 / 5)  # V = 5, ε = 0.1
asked[2] += 1 - 0.1  # the right word
print("asked for:  ", asked)
for name, logits in (("just that", asked.log()), ("more certain", 2 * asked.log())):
    loss = F.cross_entropy(logits[None], torch.tensor([2]), label_smoothing=0.1)
    print(f"{name:12} {logits.softmax(-1)}  loss {loss:.3f}")

# %% [markdown]
# Dropout takes other numbers each time, scales the rest by 1 / 0.75, and in use does nothing. With smoothing, a model that gives exactly what is asked for has the lowest loss, 0.39. A more certain one has a higher loss, although its most probable word is right, too. So a smoothed loss cannot be compared with one that is not smoothed.
#
# Now our small model learns only 60 sentences, each 40 times. Smoothing changes the line of the loss; dropout is part of the model. How far apart are its own sentences and new ones, and which of the two helps?

# %%
smoothed = edited(with_adam, "ignore_index=PAD", "ignore_index=PAD, label_smoothing=0.1")
display(difference(with_adam, smoothed, around=1))
few, rows = [side[:60] for side in ids], {}
for name, loop, p in (("neither", with_adam, 0.0), ("dropout", with_adam, 0.1), ("smoothing", smoothed, 0.0)):
    own, new = [], []
    for seed in range(3):
        loop(model := new_model(seed, p), *few, seed, size=24)
        own.append(share_right(model, *make_batch(*few)))
        new.append(share_right(model, *test))
    rows[name] = {"its own 60 sentences": own, "new sentences": torch.tensor(new)}
plots.dots(rows, "share of words right, seeds 0 to 2", xlim=(0.5, 1.02))
new = {name: row["new sentences"] for name, row in rows.items()}
for name in ("dropout", "smoothing"):
    print(f"{name} minus neither, new sentences, seed by seed:", new[name] - new["neither"])

# %% [markdown]
# With any of the three the model knows nearly all words of its own sentences, and far fewer of new ones: it has learned by heart. Neither dropout nor smoothing closes the gap here. **Your turn**: 1,000 sentences in place of 60 in the line of `few`. What becomes of the gap?
#
# ## What is each part worth?
#
# Such short runs cannot tell. So the course has trained larger models for longer, with all of this, and then changed one thing at a time: an **ablation**. BLEU (lesson 07) scores their translations. These ones, of width 64 and two layers on each side, learned 20,000 pairs of the small world, each four times. Are they better with dropout or without?


# %%
def gains(changed, plain):
    """What a change gains with each seed that both have: paired differences."""
    return [changed[seed] - plain[seed] for seed in plain if seed in changed]


def world(changed, pairs=1500):
    return by_seed("ablations", "bleu", changed=changed, data="world", pairs=pairs)


plain, without = (world(changed, 20_000) for changed in ("nothing", "no dropout"))
rows = {"with dropout": [*plain.values()], "without": [*without.values()], "gained without": gains(without, plain)}
table(rows, [f"seed {seed}" for seed in plain], corner="BLEU, 20,000 pairs", digits=1)

# %% [markdown]
# The ranges overlap, yet without dropout *every* seed is better, by 3 to 7 BLEU. Runs with the same seed share some of their luck, which a subtraction takes away. So we compare by **paired differences**. If a change does nothing, $n$ of them have one sign once in $2^{n-1}$ times.
#
# Now the same model with 1,500 pairs, each read 53 times, and our translator. [Muon](../docs/translators.md#optimizers) is another optimizer. Its rate and Adam's are the best of three, for the translator Adam's the better of two. A readout is **tied** if it is also the embedding. Is dropout still a loss?


# %%
def captions(changed):
    return by_seed("recipe", "bleu", changed=changed)  # the mean of three test sets


settings, rows = ("small world, 1,500 pairs", "translator, 29,000 captions"), {}
for change in ("no dropout", "no label smoothing", "no warm-up", "readout not tied", "batches of sentences"):
    rows[change] = [gains(of(change), of("nothing")) for of in (world, captions)]
muon = gains(captions("nothing"), captions("AdamW in place of Muon"))  # the translator's recipe has Muon
rows["Muon in place of Adam"] = [gains(world("Muon in place of Adam"), world("nothing")), muon]

ax = plots.axes(width=8, height=4)
marks = {change: dict(zip(settings, found, strict=True)) for change, found in rows.items()}
plots.dots(marks, "BLEU gained, a mark for each seed", ax=ax, xlim=(-16, 10))
ax.axvline(0, color="0.3", linewidth=1)
for name in settings:
    found = {change: torch.tensor(mark[name]) for change, mark in marks.items()}
    same = [f"{change} {d.mean():+.1f}" for change, d in found.items() if d.sign().unique().numel() == 1]
    n = len(marks["no dropout"][name])
    print(f"{name}; seeds: {n}; one sign (by chance one row in {2 ** (n - 1)}), with the mean: {', '.join(same)}")

# %% [markdown]
# In the small world, four of six rows have one sign. Dropout, which cost BLEU with 20,000 pairs, is what the model can least do without with 1,500. Leaving out the warm-up makes no clear difference, perhaps because rates stay far below 0.18.
#
# So what a part is worth depends on the setting. A row of few seeds is a hint and no proof. And all rows share their plain runs: if one of these is bad, every change looks good.
#
# ## How does it write?
#
# In use, a plain loop reads all words again at each step. Must it? The decoder reads four words, then one more. How much do the vectors of the first four change?

# %%
source = make_batch(subwords.encode([caption]), [[]])[0]
with torch.no_grad():
    memory, _ = translator.start(source)
    read = torch.tensor([[BOS, *subwords.encode(["Zwei junge Männer spielen"])[0]]])
    four, five = (translator.decode(read[:, :n], memory)[0] for n in (4, 5))  # 1 T D
print("largest change:", f"{(five[:, :4] - four).abs().max():.5f}")
display(diagrams.cached(new=["projected"]))

# %% [markdown]
# They do not change, because the decoder's attention is causal: no word sees a later one. So a word's keys and values, in every layer, stay what they are, and the decoder can keep them in a **cache**. In the drawing, what is marked is computed in this step. How many operations does a cache save?


# %%
@torch.no_grad()
def write(cached):
    """Return the most probable words, one by one, and the operations of each step in millions."""
    (memory, cache), words, costs = translator.start(source), [BOS], []
    while words[-1] != EOS:
        with FlopCounterMode(display=False) as counter:
            if cached:  # reads the last word, and keeps its keys and values
                logits, cache, _ = translator.step(torch.tensor([words[-1:]]), memory, cache)
            else:  # reads all words again
                logits = translator.readout(translator.decode(torch.tensor([words]), memory)[0][:, -1:])
        words.append(logits[0, -1].argmax().item())
        costs.append(counter.get_total_flops() / 1e6)
    return words, costs


(words, again), (same, kept) = write(cached=False), write(cached=True)
print("the same words:", words == same, "  operations saved:", f"{1 - sum(kept) / sum(again):.0%}")
costs = {"reading all words again": [again], "with a cache": [kept]}
plots.curves(range(1, len(again) + 1), costs, "step", "million operations")

# %% [markdown]
# Without a cache a step grows from 2 to 17 million operations; with one it stays at 2, and the words are the same.
#
# Is the most probable word the only good one? One may also draw it by its probability. A **temperature** divides the logits before the softmax. Move the sliders: what do a small and a large temperature do?

# %%
given = subwords.tokens(words[:-1])
with torch.no_grad():
    logits = translator(source, torch.tensor([words[:-1]]))[0]  # T V


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
# The translator has read 29,000 captions and nothing else. For each sentence we count the captions that hold one of its words. The fifth sentence *is* one of them. Which ones will be right?

# %%
texts = {
    "Two dogs are running on the beach .": "dogs",
    "The man who wears a red hat is sleeping .": "wears",
    "Seven elephants are reading a newspaper .": "elephants",
    "A dog is not running on the beach .": "not",
    "A man that is not wearing a shirt is brushing his teeth .": "not",
    "Is the dog running ?": "?",
    "How was your day ?": "was",
    "Attention is all you need .": "need",
}
rows = {}
for text, found in zip(texts, translate(translator, subwords, list(texts)), strict=True):
    ((number,),) = measured_once("caption_words", "captions", word=texts[text])
    rows[text] = [found, f"{texts[text]}: {number:.0f}"]
table(rows, ["German", "captions with"])

# %% [markdown]
# It knows that two dogs "rennen", that a relative clause ends with its verb, and the German of "elephants", which is in 5 captions. But "not", which is in 29, is lost: the man "in einem Hemd" wears a shirt, although the model has read this caption. Rarity alone does not explain that; perhaps it matters that captions have *nicht*, *kein* or *ohne* for it. **Your turn**: `translate(translator, subwords, [...])` with sentences of your own.
#
# And where do its heads look? Choose an attention and a word that asks, by mouse or keys. In which layer do most heads look from "Männer" at the word to be translated *next*?

# %%
target = torch.tensor([words[:-1]])
every_head(weights_of_heads(translator, source, target), subwords.tokens(source[0].tolist()), given, asking=3)

# %% [markdown]
# In layer 0 they look at several words. From layer 1 on five of eight look most at "playing", which comes next.
#
# ## What could it know if it read more?
#
# Two models have read far more. **BERT** (Devlin et al. 2019) keeps the encoder, in which each word sees both sides, and guesses words that are hidden from it. **GPT** (Radford et al. 2018) keeps the decoder without the attention to a source, and guesses the next word. Its mask is causal, so it can write with a cache. BERT base and GPT have 12 layers of width 768. Can we find their sizes, 110 and 117 million parameters, with the layers of this course?

# %% tags=["nbval-check-output"]
layer = EncoderLayer(768, heads=12, hidden=3072, dropout=0.1, norm="post")
in_layers = 12 * sum(p.numel() for p in layer.parameters())
sizes = {"BERT base": (30_522, 512 + 2), "GPT": (40_478, 512)}  # words, positions; + 2: first or second sentence
for name, (V, positions) in sizes.items():
    in_embeddings = (V + positions) * 768
    total = in_layers + in_embeddings
    print(f"{name:10} {in_layers / 1e6:.1f} in layers + {in_embeddings / 1e6:.1f} in embeddings = {total / 1e6:.1f}")

# %% [markdown]
# Nearly: BERT also has a small network on top. Without a source, a decoder layer *is* an encoder layer with a causal mask.
#
# ## So: how is it trained, and what does it know?
#
# It is trained by a short loop: each step draws a batch, gives the decoder the right words, computes the loss and its gradient, and moves the weights. What else a recipe holds has to be measured for the model at hand. It knows the words and the grammar of its captions, also in new combinations. It does not know *not*, although it has read it.
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
# - How is it trained, and what does it know? By a short loop, whose other parts have to be measured. It knows what its captions show, and not all of that.
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
