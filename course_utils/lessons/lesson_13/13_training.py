# %%
from itertools import compress

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
from course_utils.figures.tables import difference, table
from course_utils.models.assembled import share_right
from course_utils.models.fast import Dropout
from course_utils.models.files import load_pretrained
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
table({name: translate(model, subwords, [caption]) for name, model in models.items()}, ["German"], left=["German"])

# %% [markdown]
# Only the weights differ. We ask four things: what one step of training does, which ingredients of a recipe help, how the translator writes, and what it knows in the end.
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
# The line with `lr`, the **learning rate**: stochastic gradient descent, **SGD**, moves each weight against its gradient, by rate × gradient. (`zero_grad` deletes the gradient of the step before; otherwise the new one would be added to it.)
#
# To see a step's lines at work, we train small Transformers, with one layer each in encoder and decoder, on sentences of the small world. `run` trains three, with the seeds 0, 1 and 2. Given the right words before, what share of the words of sentences that they have not read do they get right?


# %%
def new_model(seed, dropout=0.0):
    torch.manual_seed(seed)
    return Transformer(len(pairs.words), 32, hidden=64, encoder_layers=1, decoder_layers=1, dropout=dropout)


def run(name, train):
    models = [new_model(seed) for seed in range(3)]
    losses = torch.tensor([train(model, *ids, seed) for seed, model in enumerate(models)])  # seeds, steps
    tried[name] = losses, torch.tensor([share_right(model, *test) for model in models])


pairs, others = (small_world(count, seed, order="verb-last", longest=6) for count, seed in ((20_000, 1), (600, 2)))
unread = [text not in pairs.sources for text in others.sources]
ids, test, tried = pairs.ids(), make_batch(*(list(compress(side, unread)) for side in others.ids())), {}
run("SGD, 0.6", train)
losses, right = tried["SGD, 0.6"]
print("loss of the first step:", losses[:, 0], "  of the last one:", losses[:, -1], "  seeds 0 to 2")
print("share of words right: ", right)

# %% [markdown]
# The loss falls, but many words are still wrong. A step moves a weight by rate × gradient, so we compare the gradients of four matrices of an untrained model. Are they about equally large?

# %%
model = new_model(seed=0)
F.cross_entropy(model(*test[:2]).flatten(0, 1), test[2].flatten(), ignore_index=PAD).backward()
names = ("readout", "decoder.0.feed_forward.2", "encoder.0.feed_forward.0", "encoder.0.self_attention.query")
sizes = [model.get_submodule(name).weight.grad.square().mean().sqrt() for name in names]
rows = {name: [size / sizes[0]] for name, size in zip(names, sizes, strict=True)}
table(rows, ["gradient's root mean square (readout: 1)"], corner="matrix")

# %% [markdown]
# ## How far should each weight move?
#
# The gradients of the encoder's query matrix are less than a hundredth of the readout's. Perhaps no rate suits both: the query matrix hardly moves, or the readout jumps. **Adam** (Kingma & Ba 2015) keeps two running means for each weight θ: m of its gradients g, and v of their squares. Both start at 0 and are too small at first, so step t divides them by $1 - \beta^t$ ($\beta_1 = 0.9$, $\beta_2 = 0.999$, and ε is tiny):
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
# In the loop, one line changes: `edited` writes it into a copy of `train`. What does it gain? So that the comparison is fair, SGD gets four rates. And is the unequal size of the gradients the reason? In a third loop SGD divides each matrix's gradient by its root mean square.

# %%
with_adam = edited(
    train, "torch.optim.SGD(model.parameters(), lr=0.6)", "torch.optim.Adam(model.parameters(), lr=0.01)"
)
display(difference(train, with_adam, around=1))  # "+" is new, "-" is gone
for rate in (0.2, 1.0, 1.5):
    run(f"SGD, {rate}", edited(train, "lr=0.6", f"lr={rate}"))
lines = """for weight in model.parameters():
            weight.grad /= weight.grad.square().mean().sqrt() + 1e-8
        optimizer.step()"""
run("SGD divided, 0.005", edited(edited(train, "optimizer.step()", lines), "lr=0.6", "lr=0.005"))
run("Adam, 0.01", with_adam)
too_large = tried.pop("SGD, 1.5")[1]
plots.training({name: tried[name] for name in sorted(tried, key=lambda name: (len(name), name))}, xlim=(0.3, 1.0))
print("SGD, 1.5, share of words right:", too_large)
for name in ("SGD, 1.0", "SGD divided, 0.005"):
    print(f"Adam minus {name}, seed by seed:", tried["Adam, 0.01"][1] - tried[name][1])

# %% [markdown]
# SGD gets fewer words right than Adam at all four rates: 0.2 is slow, 1.5 too large. Divided gradients, at the one rate tried, are hardly better than SGD's best: their unequal sizes are at most a part of the reason. Adam is better with each seed.
#
# ## When should a step be large?
#
# In a **schedule** the rate rises over a **warm-up** and falls afterwards. Vaswani et al. 2017 (equation 3) took, with D the width:
#
# $$\text{rate} = D^{-0.5} \cdot \min(\text{step}^{-0.5},\; \text{step} \cdot \text{warmup}^{-1.5})$$
#
# With D = 32 and `warmup` = 40, what is the rate at step 40? With `warmup` = 1 it falls from the first step on, and from step 40 on it equals the other schedule. How many words will that model get right?

# %% tags=["nbval-check-output"]
predict("13.warm_up", ...)

# %% tags=["reveals"]
lines = """step = len(losses) + 1
        optimizer.param_groups[0]["lr"] = 32**-0.5 * min(step**-0.5, step * 40**-1.5)
        optimizer.step()"""
warmed = edited(with_adam, "optimizer.step()", lines)
print("How many words it gets right, and what the two lines do that are new:")
run("schedule", warmed)
run("schedule, no warm-up", edited(warmed, "40**-1.5", "1**-1.5"))
share = tried["schedule, no warm-up"][1].mean().item()
reveal(
    "13.warm_up",
    "fewer than half" if share < 0.5 else "as many as with SGD" if share < 0.85 else "as many as with Adam",
)
display(difference(with_adam, warmed, around=1))
print("share right, with a warm-up and without:", tried["schedule"][1], tried["schedule, no warm-up"][1])
steps = torch.arange(1.0, 101)
rates = {n: 32**-0.5 * torch.minimum(steps**-0.5, steps * n**-1.5)[None] for n in (40, 1)}
ax = plots.axes(width=6)
plots.curves(steps, {"schedule": rates[40], "schedule, no warm-up": rates[1]}, "step", "learning rate", ax=ax)
_ = ax.set(xticks=[1, 20, 40, 60, 80, 100])
# %% [markdown]
# At step 40 both rates are 1 / √(32 · 40) = 0.028, and they stay equal from then on. Without a warm-up the first rates are up to 6.3 times that, and the last 60 steps do not repair what they have done.
#
# Does the model need a warm-up, then, or only steps that are not too large? A control: the same rates without a warm-up, but never more than 0.028. How many words will it get right? And how many with 0.01 throughout?

# %%
run("no warm-up, at most 0.028", edited(warmed, "step * 40**-1.5", "40**-0.5"))
names = ("schedule, no warm-up", "schedule", "no warm-up, at most 0.028", "Adam, 0.01")
plots.dots({name: {"a dot for each seed": tried[name][1]} for name in names}, "share of words right", xlim=(0.3, 1))
gained = tried["schedule"][1] - tried["no warm-up, at most 0.028"][1]
print("what the warm-up gains over the control, seed by seed:", gained)

# %% [markdown]
# The control is nearly as good: most of what the warm-up does here is to prevent first steps that are far too large. With 0.01 throughout the model is better still, with each seed. (In the paper `warmup` is 4,000. In lesson 12, post-norm needed one at a high rate.)
#
# ## Which sentences should share a batch?
#
# So far a batch held sentences drawn at random, padded to the longest. Vaswani et al. 2017 put sentences of similar length together, about 25,000 source and 25,000 target tokens per batch; so does `Batches`, here with 256. What share is padding if sentences are drawn at random, and what share if they are sorted by length first?

# %%
for by in ("sentences", "tokens"):
    batches = Batches(*small_world(500, 1).ids(), tokens=256, seed=0, by=by)
    read = [batches.read(places) for places in batches.epoch(0)]
    source, target = (
        sum((x == PAD).sum().item() for x in side) / sum(map(torch.numel, side))
        for side in ([batch.source for batch in read], [batch.given for batch in read])
    )
    print(f"by {by:10} {len(read)} batches, padding of the sources {source:.0%}, of the targets {target:.0%}")

# %% [markdown]
# Sentences are sorted by their targets, which need hardly any padding then; the sources beside them still differ. Do such batches teach as well? We will see below.
#
# ## What if there is little to read?
#
# A model may learn by heart what it reads often. **Dropout** should prevent that: in training it sets each number after an embedding or sub-layer to zero with probability p. **Label smoothing** (Szegedy et al. 2016) asks for less than certainty: the right word should get 1 - ε, and each of the V words ε / V more. What becomes of ten ones with p = 0.25, and what is asked for with V = 5, ε = 0.1?

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
# Dropout drops different numbers each time, scales up what it keeps, and does nothing once the model is used. With smoothing, a model that gives exactly what is asked for has the lowest loss, 0.39. A more certain one has a higher loss, although its most probable word is the same right one. So a smoothed loss cannot be compared with one that is not smoothed.
#
# Now our small model learns only 60 sentences, each about 40 times. For smoothing we change the line that computes the loss; dropout is part of the model. How far apart are its own sentences and new ones, and which of the two helps?

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
# Each model knows nearly all words of its own sentences, and far fewer of new ones: it has learned by heart. Dropout and smoothing gain a little, and neither closes the gap. Is so little more than chance? Even by chance three signs agree in 2 of 8 cases. **Your turn**: what becomes of the gap with 1,000 sentences? Change `side[:60]`.
#
# ## What is each ingredient worth?
#
# So the course has trained larger models for longer, then changed one thing at a time: an **ablation**. BLEU (lesson 07) scores their translations. Here they have two layers each in encoder and decoder and learned 20,000 pairs of the small world, each four times. Are they better with dropout or without?


# %%
def gains(changed, plain):
    """What a change gains with each seed that both have: paired differences."""
    return [changed[seed] - plain[seed] for seed in plain if seed in changed]


def world(changed, pairs=1500):
    return by_seed("ablations", "bleu", changed=changed, data="world", pairs=pairs)


def captions(changed):
    return by_seed("recipe", "bleu", changed=changed)  # of the translator: the mean of three test sets


plain, without = (world(changed, 20_000) for changed in ("nothing", "no dropout"))
rows = {"with dropout": [*plain.values()], "without": [*without.values()], "gained without": gains(without, plain)}
rows = {name: [*row, sum(row) / len(row)] for name, row in rows.items()}
table(rows, [*(f"seed {seed}" for seed in plain), "mean"], corner="BLEU, 20,000 pairs", digits=2)

# %% [markdown]
# The ranges overlap, yet without dropout the model is better with *every* seed, by 3 to 7 BLEU. These are **paired differences**: from each run we subtract that of the same seed. If a change does nothing, all $n$ differences agree in sign by chance one time in $2^{n-1}$: five of them one time in 16.
#
# Now the same model learns 1,500 pairs, each 53 times. What does dropout do if it reads the same sentences again and again?
#
# (The picture shows the recipe's other parts, too: smoothing of 0.1; warm-up; a **tied** readout, whose matrix is also the embedding; batches by tokens; Adam, where **[Muon](../docs/translators.md#optimizers)** makes a matrix's step equally large in all directions. The translator's recipe has Muon.)

# %% tags=["nbval-check-output"]
predict("13.dropout", ...)

# %% tags=["reveals"]
muon, changes = "Muon in place of Adam", ("no dropout", "no label smoothing", "no warm-up", "readout not tied")
changes = (*changes, "batches of sentences")
found = {change: torch.tensor(gains(world(change), world("nothing"))) for change in (*changes, muon)}
without = found["no dropout"]
reveal("13.dropout", "it helps" if without.max() < 0 else "it hurts" if without.min() > 0 else "the seeds disagree")
learned = {change: torch.tensor(gains(captions(change), captions("nothing"))) for change in changes}
learned[muon] = -torch.tensor(gains(captions("AdamW in place of Muon"), captions("nothing")))  # its recipe has Muon
marks = {
    f"{change}\nmean {gained.mean():+.1f}, translator {learned[change].mean():+.1f}": {
        "small world, 1,500 pairs": gained,
        "the translator, 29,000 captions": learned[change],
    }
    for change, gained in found.items()
}
ax = plots.axes(width=8, height=4.2)
ax.axvline(0, color="0.3", linewidth=1)
plots.dots(marks, "worse  ←  BLEU gained by the change, a mark for each seed  →  better", ax=ax, xlim=(-16, 10))

# %% [markdown]
# Dropout is worth most here. Dropout, smoothing and Muon gain in both models, with each seed. Batches by tokens cost the small model 5.5 BLEU and the translator nothing; we do not know why. Tying gains in the translator only, warm-up in neither. (The translator: width 128, 11 epochs, beam of 5, three test sets; AdamW in place of Adam in its Muon row.)
#
# ## How does it write?
#
# A plain loop gives the decoder all its words again at each step. But no word sees a later one, so its keys and values stay the same, and the decoder can keep them in a **cache**. How many operations does that save? (Marked is what a step projects.)


# %%
source = make_batch(subwords.encode([caption]), [[]])[0]


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
print("the same words:", words == same, "  the decoder's operations saved:", f"{1 - sum(kept) / sum(again):.0%}")
for name, costs in (("reading all words again", again), ("with a cache", kept)):
    print(f"{name:23} first step {costs[0]:4.1f}, last step {costs[-1]:4.1f} million operations")
diagrams.cached(new=["projected"])

# %% [markdown]
# Without a cache a step grows from 2.4 to 16.6 million operations. With one it stays at 2.4, since only the attention to the kept words grows, and the words are the same. (The encoder reads the caption once, in both cases.)
#
# ## What does it know?
#
# Lesson 10 looked at the translator's heads. The translator has read 29,000 captions and nothing else. The table says how many of them contain one of a sentence's words, and how many contain the whole sentence: only the fifth has been read. Which translations will be right?

# %%
texts = {  # English, one of its words, and what the German says
    "Two dogs are running on the beach .": ("dogs", "Two dogs run on the beach."),
    "The man who wears a red hat is sleeping .": ("wears", "The man who wears a red hat sleeps."),
    "Seven elephants are reading a newspaper .": ("elephants", "Seven elephants read a newspaper."),
    "A dog is not running on the beach .": ("not", "A dog runs on the beach."),
    "A man that is not wearing a shirt is brushing his teeth .": ("not", "A man in a shirt brushes his teeth."),
    "Is the dog running ?": ("?", "The dog runs."),
    "How was your day ?": ("was", "A dogs washes the day."),
    "Attention is all you need .": ("need", "A local youth is all [no word]."),
}
rows = {}
for (text, (word, says)), german in zip(texts.items(), translate(translator, subwords, list(texts)), strict=True):
    ((has_word,),), ((has_all,),) = (measured_once("caption_words", "captions", text=held) for held in (word, text))
    rows[text] = [german, says, f"{word}: {has_word:.0f}", f"{has_all:.0f}"]
table(rows, ["German", "which says", "captions with", "with all of it"], left=["German", "which says"])

# %% [markdown]
# The first three, which it has never read, are right: the plural *rennen*, the verb at the end of the relative clause, the German of "elephants". It turns a question into a statement, and the last two into nonsense. And it drops "not", even in the caption that it has read.
#
# Two sentences prove little. How many of 20 sentences with "not" does it negate?

# %%
who = ("A dog is", "The man is", "A woman is", "Two boys are", "The children are")
does = ("running on the beach", "playing guitar", "wearing a hat", "sitting on a bench")
texts = [[f"{one}{no} {what} ." for one in who for what in does] for no in ("", " not")]
affirmed, denied = (translate(translator, subwords, half) for half in texts)
negations = {"nicht", "kein", "keine", "keinen", "ohne"}
print("the same German with and without not:", sum(map(str.__eq__, affirmed, denied)), "of", len(denied))
print("with a German negation:", sum(not negations.isdisjoint(text.strip(".").split()) for text in denied))
print("What differs:", *(text for text, other in zip(denied, affirmed, strict=True) if text != other), sep="\n")

# %% [markdown]
# None. Two of them have a word that does not exist, with the English "not" in it. Rarity alone does not explain that: "not" is in 29 captions, an elephant or several in 20. Has it learned nothing from the 29?
#
# A translation shows only what wins. So we give the translator its own German without "not", and look for the place where *nicht* is most probable as the next word. How many times as probable does "not" in the English make it? As a control, three other words take its place.

# %%
((nicht,),) = subwords.encode(["nicht"])


@torch.no_grad()
def most_probable(english):
    """For each sentence the highest probability of "nicht" at any place of the German, given the words before it."""
    source, given, _ = make_batch(subwords.encode(english), subwords.encode(affirmed))
    return translator(source, given).softmax(-1)[..., nicht].amax(1)


without = most_probable(texts[0])
p = {
    word: most_probable([text.replace("not", word) for text in texts[1]])
    for word in ("not", "now", "always", "happily")
}
for word, at_most in p.items():
    of_20 = (p["not"] > at_most).sum()
    print(
        f"{word:8} {(at_most / without).median():4.1f} times (median), at most {at_most.max():.4f}, below not in {of_20}"
    )

# %% [markdown]
# By the median all four words make *nicht* more probable, and "not" does so most: 29 times, and more than "happily" in 15 of 20 sentences. So the translator has noticed it, but *nicht* never wins. **Your turn**: translate sentences of your own.
#
# ## What if only one half is kept?
#
# Most text has no translation. To read it, half a Transformer is enough. **BERT** (Devlin et al. 2019) keeps the encoder, in which each word sees both sides, and guesses hidden words. **GPT** (Radford et al. 2018) keeps the decoder without the attention to a source, which is an encoder with a causal mask, and guesses the next word. If a fifth word comes, do the first four vectors change?

# %%
torch.manual_seed(0)
layer = EncoderLayer(16, heads=2, hidden=32, dropout=0.0, norm="post")
x, everything = torch.randn(1, 5, 16), torch.ones(5, 5, dtype=torch.bool)  # True: may attend
for name, mask in (("BERT", everything), ("GPT", everything.tril())):
    four, five = (layer(x[:, :n], mask[:n, :n]) for n in (4, 5))  # 1 T D
    print(f"{name:5} largest change: {(five[:, :4] - four).abs().max():.5f}")

# %% [markdown]
# BERT's vectors change, so its next layer's keys and values would have to be computed anew. GPT can write with a cache.
#
# ## So: how is it trained, and what does it know?
#
# By a short loop: each step draws a batch, computes the loss and its gradient, and moves weights. What else a recipe holds has to be measured: dropout cost 5 BLEU with 20,000 pairs and gained 10.5 with 1,500. The translator also uses its captions' words and grammar in new sentences. It has noticed *not*, but negated none of our 21 sentences.
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
# - How is it trained, and what does it know? By a short loop; whether another ingredient pays has to be measured. It knows much of what its captions show; but it may notice a word, such as *not*, and still not translate it.
# - Adam divides the mean gradient by the root of the mean square, so its first step moves every weight by the rate. First rates that are too large can spoil a run. A warm-up prevents that, and so do smaller rates.
# - Runs with the same seed are compared by paired differences. By chance five signs agree one time in 16, three one time in 4.
# - Where no word sees a later one, keys and values can be kept: a decoder with a cache writes the same words with fewer operations.
# - GPT keeps the decoder and can write with a cache; BERT keeps the encoder, in which every word sees all others.
#
# **More**: [training on GPUs](../docs/translators.md#gpus-and-several-processes), and [what the paper's run took](../docs/measurements.md#what-the-papers-run-took)
#
# **Exercises**: [open them](../exercises/13_training_exercises.ipynb)
#
# **Next**: attention was not invented for sentences alone. How does a network look at a picture in glimpses? [Where should it look next?](14_glimpses.ipynb)
