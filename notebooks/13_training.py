# %%
import tempfile

import ipywidgets
import torch
import torch.nn.functional as F

from course_utils import check, predict, reveal
from course_utils.data.measured import measured
from course_utils.data.small_world import small_world
from course_utils.data.subwords import BOS, EOS, PAD
from course_utils.figures import plots
from course_utils.figures.every_head import every_head
from course_utils.figures.tables import table
from course_utils.figures.widgets import explore
from course_utils.models.files import load_pretrained
from course_utils.models.heads import weights_of_heads
from course_utils.models.seq2seq import make_batch
from course_utils.models.transformer import Dropout, EncoderLayer, Transformer
from course_utils.training.batches import Batches
from course_utils.training.optimizer import orthogonal, schedule

torch.set_printoptions(precision=3, sci_mode=False, linewidth=110)

# %% [markdown]
# ## How large is a step?
#
# Lesson 12 trained a small Transformer in 10 seconds, in a world of forty words. For real sentences the paper has a recipe of six ingredients: an optimizer, a schedule, dropout, label smoothing, batches by tokens, and a readout that is tied to the embedding. We look at each, and then leave one out to see what it is worth.
#
# The optimizer decides how large a step is. Gradient descent, **SGD**, moves each weight by rate × gradient: a weight with a large gradient goes far, one with a tiny gradient hardly moves. Are the gradients of a Transformer equally large? Here are those of an untrained one, for some of its matrices.

# %%
pairs = small_world(64, 1, order="verb-last")
torch.manual_seed(0)
model = Transformer(len(pairs.words), width=32, hidden=64, encoder_layers=2, decoder_layers=2, dropout=0.0)
source, given, wanted = make_batch(*pairs.ids())
F.cross_entropy(model(source, given).flatten(0, 1), wanted.flatten(), ignore_index=PAD).backward()
names = ("readout", "decoder.1.feed_forward.2", "encoder.0.feed_forward.0", "encoder.0.self_attention.query")
sizes = [model.get_submodule(name).weight.grad.square().mean().sqrt().item() for name in names]
table(
    {name: [f"{size:.1e}", f"{size / sizes[0]:.3f}"] for name, size in zip(names, sizes, strict=True)},
    ["size of the gradient", "of the readout's"],
    corner="matrix",
)

# %% [markdown]
# A number in the encoder's query matrix has a gradient about a hundred times smaller than one in the readout. A rate that suits one is far from suiting the other.
#
# **Adam** (Kingma & Ba 2015) keeps two running means for each weight, of its gradients and of their squares. As both start at 0, they are too small at first, and so each is divided by 1 - β to the power of the step t:
#
# $$m \leftarrow \beta_1 m + (1 - \beta_1)\, g, \qquad v \leftarrow \beta_2 v + (1 - \beta_2)\, g^2, \qquad \theta \leftarrow \theta - \text{rate} \cdot \frac{m / (1 - \beta_1^t)}{\sqrt{v / (1 - \beta_2^t)} + \varepsilon}$$
#
# Two weights have the gradients 4 and 0.01, and the rate is 0.1. SGD moves them by 0.4 and 0.001. How far does Adam's first step move the second one? Compute it on paper.

# %% tags=["nbval-check-output"]
predict("13.adam", ...)

# %% tags=["reveals"]
print("How far two steps move two weights whose gradients stay the same:")
reveal("13.adam", 0.1)
for name, kind in (("SGD", torch.optim.SGD), ("Adam", torch.optim.Adam)):
    weights = torch.zeros(2, requires_grad=True)
    optimizer = kind([weights], lr=0.1)
    for step in (1, 2):
        weights.grad = torch.tensor([4.0, 0.01])
        optimizer.step()
        print(f"{name:5} after step {step}:", weights.detach())

# %% [markdown]
# At the first step m / (1 - β₁) is g and the root of v / (1 - β₂) is |g|. So every weight moves by the rate, whatever the size of its gradient. Later it moves less where gradients keep changing their sign, since then m becomes small beside the root of v.
#
# **Muon** (Jordan et al. 2024) goes one step further. It treats a whole matrix at once: most of a gradient points in a few directions, and Muon makes all directions count alike. (It does so to the momentum, a running mean of the gradients.) These are the sizes of a gradient's directions, its singular values, before and after. What does Muon do to the small ones?

# %%
gradient = model.decoder[1].feed_forward[2].weight.grad  # 32 64
with torch.no_grad():
    sizes = [torch.linalg.svdvals(g / g.norm()) for g in (gradient, orthogonal(gradient[None])[0] / 5)]
plots.curves(
    range(1, 33),
    {"the gradient": sizes[0][None], "made orthogonal": sizes[1][None]},
    "direction",
    "singular value",
)

# %% [markdown]
# Before, one direction is far larger than all others; afterwards nearly all have similar sizes. (The last one is 0 in the gradient, and stays so.) The course's Transformers are trained with Muon, but Adam is still the usual choice.
#
# ## When should the step be large?
#
# A **schedule** says so: the rate rises over a warm-up, as in lesson 12, and falls afterwards. Vaswani et al. 2017 (equation 3) took, with D the width:
#
# $$\text{rate} = D^{-0.5} \cdot \min(\text{step}^{-0.5},\; \text{step} \cdot \text{warmup}^{-1.5})$$
#
# The paper's base model has width 512 and a warm-up of 4,000 steps. Move both sliders. When is the rate at its peak, and does a longer warm-up make the peak higher or lower?


# %%
def schedule_at(width, warmup):
    steps = range(1, 20_002, 400)
    peak = (width * warmup) ** -0.5
    rates = [peak * schedule("paper", step - 1, 20_000, warmup) for step in steps]
    label = f"width {width}, warm-up over {warmup:,} steps"
    plots.curves(steps, {label: torch.tensor([rates])}, "step", "learning rate", ax=plots.axes(width=6.5))
    return f"The rate grows up to step {warmup:,}, where it is {peak:.5f}, and falls with the root of the step: it is half of that at step {4 * warmup:,}."


schedule_explorer = explore(
    schedule_at,
    width=ipywidgets.IntSlider(value=512, min=64, max=1024, step=64),
    warmup=ipywidgets.IntSlider(value=4000, min=500, max=8000, step=500),
)
schedule_explorer

# %% [markdown]
# The two terms of the minimum are equal at step = warmup. There the rate is 1 / √(D · warmup), 0.0007 for the paper's base model, so that a longer warm-up makes the peak lower.
#
# ## What keeps it from learning by heart?
#
# **Dropout** sets some numbers to zero while training, each with probability p, and scales the others up so that the mean stays the same. In a Transformer it is applied to what each sub-layer adds to the residual stream, and to the embeddings with their positions. What happens to ten ones with p = 0.4, in training and in use?

# %%
torch.manual_seed(0)
dropout = Dropout(0.4)
print("in training:", dropout(torch.ones(10)))
print("again:      ", dropout(torch.ones(10)))
print("in use:     ", dropout.eval()(torch.ones(10)))

# %% [markdown]
# No layer can rely on a single number, and in use nothing is left out. (The others are scaled by 1 / 0.6 = 1.67. The output has 1.662, because our `Dropout` rounds p.)
#
# **Label smoothing** (Szegedy et al. 2016, section 7) changes what the model is to say. Cross-entropy asks for a probability of 1 for the right word, which only infinite logits give. With smoothing ε, the right word is to get 1 - ε, and the rest is shared by all V words alike, the right one too. Take V = 5 and ε = 0.1: what probabilities should the model give, and what is the lowest loss that it can reach?

# %% tags=["nbval-check-output"]
asked = torch.full((5,), 0.1 / 5)  # V = 5, ε = 0.1
asked[2] += 1 - 0.1  # the right word
print("asked for:", asked)
for name, logits in (("what is asked for", asked.log()), ("more certain", 2 * asked.log())):
    loss = F.cross_entropy(logits[None], torch.tensor([2]), label_smoothing=0.1)
    print(f"{name:17}  {logits.softmax(-1)}  loss {loss:.3f}")

# %% [markdown]
# The right word should get 0.92 and each other one 0.02. A model that says so has a loss of 0.39; one that is more certain has a higher loss, although it is right. So a smoothed loss never gets near 0, and it can't be compared with one that is not smoothed.
#
# ## What is in a batch?
#
# Sentences differ in length, and a batch is padded to its longest one. The paper's batches hold about 25,000 tokens on each side, sentences of like length together. What share of the numbers is padding, if 500 sentences of 1 to 12 words are put together in this way, and what share in random order?

# %%
for by in ("tokens", "sentences"):
    batches = Batches(*small_world(500, 1).ids(), tokens=256, seed=0, by=by)
    shapes = [batches.read(places).source for places in batches.epoch(0)]
    padding = sum((source == PAD).sum().item() for source in shapes) / sum(map(torch.numel, shapes))
    sizes = sorted(len(source) for source in shapes)
    print(f"by {by:10} {len(shapes)} batches of {sizes[0]} to {sizes[-1]} sentences, {padding:.0%} padding")

# %% [markdown]
# In random order 41 % of the work is done for padding. Counted in tokens, a batch holds many short sentences or few long ones, so that each step costs much the same and little is wasted.
#
# The last ingredient you know: the embedding is also the readout (Press & Wolf 2017).
#
# ## What is each worth?
#
# We change one ingredient at a time in a small Transformer, of width 64 with two layers on each side, which learns 1,500 or 20,000 sentences of the small world in equally many steps. Here it learns 20,000, with dropout and without. Is it better with it?


# %%
def runs(data, pairs, changed):
    """Return the BLEU of greedy translations of the validation set, seed by seed."""
    _, found = measured("ablations", "bleu", "pairs", data=data, pairs=pairs, changed=changed)
    return torch.tensor([run[0] for run in found])


with_dropout, without = runs("world", 20_000, "nothing"), runs("world", 20_000, "no dropout")
rows = {"with dropout": with_dropout, "without": without, "gained without": without - with_dropout}
rows = {name: [f"{bleu:.1f}" for bleu in row] for name, row in rows.items()}
table(rows, [f"seed {seed}" for seed in range(5)], corner="BLEU, 20,000 pairs")

# %% [markdown]
# The worst run without dropout is worse than the best run with it. So do the two hardly differ? They do: without dropout *every* seed is better, by 3 to 7 BLEU. Runs with the same seed share much of what chance decides, such as the order of the sentences, and a subtraction takes it away.
#
# So we compare by **paired differences**, seed by seed. (If a change does nothing, five differences have the same sign once in 16 times.) Each cell shows their mean, lowest and highest. Which change costs most?

# %%
changes = ["SGD in place of Adam", "Muon in place of Adam", "no warm-up", "no dropout"]
changes += ["no label smoothing", "readout not tied", "batches of sentences"]


def gained(change, data, pairs):
    """Return the paired differences of a change, or its own BLEU if nothing is changed."""
    bleu = runs(data, pairs, change)
    return bleu if change == "nothing" else bleu - runs(data, pairs, "nothing")


rows = {
    change: [gained(change, "world", 1500), gained(change, "multi30k", 29_000)]
    for change in ["nothing", *changes]
}
table(rows, ["1,500 pairs", "Multi30k, three seeds"], corner="changed; BLEU gained", digits=1)

# %% [markdown]
# Among 1,500 pairs, each of which comes 53 times and can be learned by heart, no dropout costs most. On Multi30k it gains, but these runs end after three epochs, long before they are done. (Muon has the only rate that was tried there, Adam and SGD the better of two, and in the small world the best of three, by one seed.)
#
# Only Adam pays in both places, and Muon pays more. The recipe was made for a larger model and 4.5 million pairs: measure a part where you use it.
#
# Can this table be made again? We train a row here, "no dropout" with 1,500 pairs, in half a minute. Which BLEU do you expect?

# %%
from course_utils.training.loop import train
from course_utils.training.settings import load_preset, make_settings

torch.set_num_threads(1)  # these tensors are small: several threads would wait for each other
preset = load_preset("transformer", "world")
changed = {"world": {"pairs": 1500}, "epochs": 53, "validate": 53, "rate": 8e-3}
settings = make_settings({**preset, **changed, "model": {**preset["model"], "dropout": 0.0}})
with tempfile.TemporaryDirectory() as folder:
    trainer = train(settings, f"{folder}/run", show=False)
print(f"BLEU {trainer.curves[-1]['val_bleu']:.1f} in {trainer.progress.seconds:.0f} seconds")

# %% [markdown]
# Without dropout our five runs had 73 to 83 BLEU, and this one should lie near them. (Another machine rounds differently.)
#
# ## Smaller, faster, better?
#
# Attention is often praised as smaller, faster and better than recurrent networks. We put this to the test: the Transformer and lesson 06's GRU with attention, both about as large, learn on Multi30k for two epochs, and the GRU for half an epoch more. Three seeds each. Which of the three claims hold?

# %%
rows, bleu = {}, {}
for kind, optimizer in (("transformer", "muon"), ("transformer", "adamw"), ("attention", "adamw")):
    columns = {}
    for column in ("parameters", "tokens", "cpu_seconds", "bleu"):
        _, found = measured("equal_time", column, "epochs", kind=kind, optimizer=optimizer)
        columns[column] = torch.tensor([run[0] for run in found])
    name = {"transformer": "Transformer", "attention": "GRU with attention"}[kind] + f", {optimizer}"
    size, seen = (f"{columns[column].mean() / 1e6:.2f} million" for column in ("parameters", "tokens"))
    a_second = columns["tokens"] / columns["cpu_seconds"]
    rows[name] = [size, seen, f"{columns['cpu_seconds'].mean() / 60:.1f}", f"{a_second.mean():,.0f}"]
    bleu[name] = columns["bleu"]
table(rows, ["parameters", "target tokens", "minutes", "tokens a second"], corner="model")

# %% [markdown]
# Smaller? They have the same size, because we chose them so. Faster? The core was also busy with other work, so these times show only that neither is much faster than the other. (That a Transformer reads all words at once is of use on a GPU.) Better?

# %%
rows = {name: [found, found - bleu["GRU with attention, adamw"]] for name, found in bleu.items()}
rows["GRU with attention, adamw"][1] = ""
table(rows, ["BLEU", "more than the GRU, seed by seed"], corner="model", digits=1)

# %% [markdown]
# With Muon it is, though it has read a fifth less. (GRUs did not gain from Muon: [Measurements](../docs/measurements.md).) With AdamW it is worse, but the GRU had a quarter more text and a third more time.
#
# ## The paper's run
#
# Vaswani et al. 2017 trained their base model, of 65 million weights, for 100,000 steps of 25,000 target tokens. For each token, each weight needs 2 operations, and 4 more for the gradients (Kaplan et al. 2020).
#
# Ours, `transformer-en-de`, has 1.9 million weights, and saw 5.6 million tokens in 498 seconds of one core. How many days would this core need for the paper's?

# %% tags=["nbval-check-output"]
predict("13.days", ...)

# %% tags=["reveals"]
paper, ours = 6 * 65e6 * 25_000 * 100_000, 6 * 1.9e6 * 5_632_803
print("Operations that the paper's base model needed, and ours:")
reveal("13.days", round(paper / (ours / 498) / 86_400))
print(f"{paper:.1e} and {ours:.1e}: {paper / ours:,.0f} times as many")
seen = 25_000 * 100_000 / (4.5e6 * 28)  # the paper has 4.5 million pairs, of about 28 tokens
could = 12 * 3600 * 8 * 9.5e12  # 12 hours of 8 GPUs; the paper counts 9.5e12 operations a second for each
print(f"It saw each pair about {seen:.0f} times. Its GPUs could have done {could:.1e}.")

# %% [markdown]
# It would need nearly three months. The paper's GPUs did it in 12 hours, and less than a third of what they could have done (3.3 · 10¹⁸ in its table 2) went into products with weights.
#
# The same command trains on a laptop and on GPUs:
#
# ```sh
# course train transformer --data multi30k                               # a laptop
# course train transformer --data multi30k --preset gpu                  # one GPU, in bf16
# course train transformer --data multi30k --preset gpu --set compile=true
# torchrun --nproc-per-node 4 -m -- course_utils train transformer --data multi30k --preset gpu
# ```
#
# We have not run the last three on a GPU yet.
#
# ## Writing with a cache
#
# In use, each word needs those before it, and a plain loop reads them all anew at each step. But the decoder's attention is causal: a word's keys and values do not depend on later words. So it can keep them, in a **cache**. Does it write the same words then, and how many operations does it save?

# %%
from torch.utils.flop_counter import FlopCounterMode

model, subwords = load_pretrained("transformer-en-de")
text = "two young men are playing guitar in front of a red house ."
source = make_batch(subwords.encode([text]), [[]])[0]


@torch.no_grad()
def write(cached):
    """Return the most probable words, one by one, and the operations of each step."""
    (memory, cache), words, costs = model.start(source), [BOS], []
    while words[-1] != EOS:
        with FlopCounterMode(display=False) as counter:
            if cached:  # reads the last word, and keeps its keys and values
                logits, cache, _ = model.step(torch.tensor([words[-1:]]), memory, cache)
            else:  # reads all words anew
                logits = model.readout(model.decode(torch.tensor([words]), memory)[0][:, -1:])
        words.append(logits[0, -1].argmax().item())
        costs.append(counter.get_total_flops() / 1e6)
    return words, costs


(words, anew), (same, kept) = write(cached=False), write(cached=True)
print("the same words:", words == same, "  operations saved:", f"{1 - sum(kept) / sum(anew):.0%}")
plots.curves(range(len(anew)), {"anew": [anew], "cache": [kept]}, "step", "million operations")

# %% [markdown]
# The words are the same, and three quarters of the operations are saved. With a cache each step reads one word, makes its query, key and value, and attends to the keys of all words so far. So a step costs nearly the same for the tenth word as for the first.
#
# Move through the steps. On the left is what the cache holds, on the right what comes next. The **temperature** divides the logits before the softmax: what happens to the probabilities when it is small, and when it is large?

# %%
given = subwords.tokens(words[:-1])
with torch.no_grad():
    logits = model(source, torch.tensor([words[:-1]]))[0]  # T V


def step_at(step, temperature):
    left, right = plots.axes(2, width=5.2, height=3.2)
    filled = torch.arange(len(given)) < step
    plots.mask(
        filled.expand(3, -1), given, ["layer 0", "layer 1", "layer 2"], "cache", left, "words read", ""
    )
    best = (logits[step - 1] / temperature).softmax(-1).topk(5)
    names = subwords.tokens(best.indices.tolist())
    plots.bars(dict(zip(names, best.values, strict=True)), "probability", "next word", right)
    return f"Step {step} reads {given[step - 1]} and adds its keys and values to the cache. The most probable next word is {names[0]}, with {best.values[0]:.2f}."


cache_explorer = explore(
    step_at,
    step=ipywidgets.IntSlider(value=3, min=1, max=len(given)),
    temperature=ipywidgets.FloatLogSlider(value=1.0, base=10, min=-1, max=1, step=0.1),
)
cache_explorer

# %% [markdown]
# A small temperature gives all to the most probable word, as greedy search does; a large one makes all words alike, and drawing from them gives more varied and worse sentences.
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
table(
    {text: [found] for text, found in zip(texts, translate(model, subwords, texts), strict=True)}, ["German"]
)

# %% [markdown]
# It knows that two dogs "rennen", that the verb of a relative clause goes to its end ("der eine rote Mütze trägt"), and how to say what it has never seen, seven reading elephants. But captions hardly ever say "not", or ask something. There it drops the "not", makes the question a statement, and writes nonsense.
#
# What do its heads look at while it writes? Here is all of its attention: choose one of the three attentions and a word that asks, with the mouse or with Tab and the arrow keys. In which layer does the decoder look at the word that it has to translate *next*?

# %%
target = torch.tensor([words[:-1]])
every_head(weights_of_heads(model, source, target), subwords.tokens(source[0].tolist()), given, asking=3)

# %% [markdown]
# The heads of layer 0 still spread over several words. From layer 1 on most of them look from "Männer" at "playing", which comes next.
#
# ## What BERT and GPT keep
#
# Most later models are one half of the Transformer. **BERT** (Devlin et al. 2019) keeps the encoder, in which each word sees both sides, and learns to guess words that are hidden from it. **GPT** (Radford et al. 2018) keeps the decoder without the attention to a source, and learns to guess the next word. Its mask is causal, so it can write with a cache. Both have 12 layers of width 768. Can we find their sizes, 110 and 117 million, with the layers of this course?

# %% tags=["nbval-check-output"]
layer = EncoderLayer(768, heads=12, hidden=3072, dropout=0.1, norm="post")
in_layers = 12 * sum(p.numel() for p in layer.parameters())
for name, words, places in (("BERT base", 30_522, 512 + 2), ("GPT", 40_478, 512)):
    in_embeddings = (words + places) * 768
    total = in_layers + in_embeddings
    print(
        f"{name:10} {in_layers / 1e6:.1f} in layers + {in_embeddings / 1e6:.1f} in embeddings = {total / 1e6:.1f}"
    )

# %% [markdown]
# A small network on top adds 0.6 million to BERT's 108.9. One layer serves for both: a decoder layer without a source *is* an encoder layer with a causal mask. (BERT's 2 beside 512 positions say which of two sentences a word is in.)
#
# ## So: how is it trained, and what does it know?
#
# It is trained by a recipe; what each part is worth depends on model, data and time. It knows what its data show, here captions.
#
# ## Questions
#
# These five questions test the goals at the top. Run a cell to see its question, then replace the dots with a letter in quotes or a number.

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
# - How is it trained, and what does it know? By a recipe whose parts must be measured, and no more than its data show.
# - Adam divides the mean gradient by the root of the mean square, so at first every weight moves by the rate.
# - Runs with the same seed are compared in pairs: dropout helped in all five where few sentences came again and again, and harmed in all five where there were many.
# - A training run takes about 6 operations for each weight and token: 15,000 times as many for the paper's base model as for ours.
# - GPT keeps the decoder, which writes with a cache, as no word sees later ones; BERT keeps the encoder.
#
# **Exercises**: [open them](../exercises/13_training_exercises.ipynb)
#
# **Next**: attention was not invented for sentences alone. How does a network look at a picture in glimpses? [Where should it look next?](14_glimpses.ipynb)
