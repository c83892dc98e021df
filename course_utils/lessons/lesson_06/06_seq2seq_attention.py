# %%
import time
from itertools import product

import ipywidgets
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from course_utils import check, predict, reveal
from course_utils.data.measured import measured, measured_at, measured_once
from course_utils.data.small_world import SMALL, small_world, truth
from course_utils.data.subwords import BOS, PAD
from course_utils.data.world import World
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import difference, table
from course_utils.figures.widgets import explore
from course_utils.models.attention import SCORES
from course_utils.models.files import load_pretrained
from course_utils.models.plain import bahdanau_step
from course_utils.models.seq2seq import fit, make_batch
from course_utils.translation import translate as translation
from course_utils.translation.scores import alignment_error_rate, exact_shares
from course_utils.translation.translate import align

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## All states instead of the last one
#
# In lesson 05 the encoder had a state after every word, and passed on only the last one. Now it passes on all of them. Bahdanau et al. 2014 call them **annotations** $h_1, \dots, h_S$, because each says something about one word of the source. As a GRU that reads from left to right has not seen what comes after a word, a second one reads from right to left, and an annotation puts the states of both side by side. What does the decoder do with the annotations before it writes a word?

# %%
diagrams.looking_back(new=["attention", "query", "context"])

# %% [markdown]
# The decoder's state knows what has been written so far. It is the query, and the annotations are keys and values. Their weighted sum, the context, is computed anew at each step.
#
# ## One look back by hand
#
# The score of Bahdanau et al. is one that you know, the perceptron of lesson 04. The rest is lesson 03:
#
# $$e_{tj} = v^\top \tanh(W s_{t-1} + U h_j) \qquad \alpha_{tj} = \frac{\exp e_{tj}}{\sum_k \exp e_{tk}} \qquad c_t = \sum_j \alpha_{tj} h_j$$
#
# Let all widths be 1, $W = U = 1$, $v = 2$, the state -1 and the annotations 0, 2 and 1. Work out the scores, the weights and the context on paper. ($\tanh 1 = 0.762$, $e^{1.523} = 4.586$.)

# %% tags=["nbval-check-output"]
s, h = torch.tensor([[-1.0]]), torch.tensor([[[0.0], [2.0], [1.0]]])  # B H, B S E
W, U, v = torch.ones(1, 1), torch.ones(1, 1), torch.tensor([2.0])  # A H, A E, A
e = torch.tanh((s @ W.T)[:, None] + h @ U.T) @ v  # B S
a = e.softmax(-1)  # B S
c = (a[..., None] * h).sum(1)  # B E
print("scores", e, "weights", a, "context", c)

context, weights = bahdanau_step(s, h, torch.ones(1, 3, dtype=torch.bool), W, U, v)
print("the course's step agrees:", torch.allclose(weights, a) and torch.allclose(context, c))
numbers = {"state": "-1", "states": ["0", "2", "1"], "weights": a[0], "context": f"{c.item():.2f}"}
diagrams.looking_back(["our", "small", "boy"], "glodil", "sliro", **numbers, new=["context"])

# %% [markdown]
# Most of the weight lies on the second annotation, that of "small". A different state gets different weights: change $s$ to -3 and run the cell again.
#
# ## What changes in the model
#
# Here is lesson 05's model, line for line. Which of its lines have to change so that the decoder can look back?


# %%
class Seq2Seq(nn.Module):
    def __init__(self, V, D=32, H=64):  # vocabulary, width of a word vector, width of a state
        super().__init__()
        self.embedding = nn.Embedding(V, D)
        self.encoder = nn.GRU(D, H, batch_first=True)
        self.decoder = nn.GRU(D, H, batch_first=True)
        self.readout = nn.Linear(H, V)

    def encode(self, source):  # B S
        states, _ = self.encoder(self.embedding(source))  # B S H
        last = (source != PAD).sum(1) - 1  # B: the position of EOS
        return states[torch.arange(len(source)), last]  # B H: one vector for each sentence

    def decode(self, given, s):  # B T, B H
        states, _ = self.decoder(self.embedding(given), s[None])  # B T H
        return self.readout(states), states[:, -1]  # B T V, B H

    def forward(self, source, given):
        return self.decode(given, self.encode(source))[0]  # B T V


# %% [markdown]
# The three equations become a small module. The mask keeps the weights off the padding.


# %%
class Attention(nn.Module):
    def __init__(self, H):
        super().__init__()
        self.W, self.U, self.v = nn.Linear(H, H), nn.Linear(H, H, bias=False), nn.Linear(H, 1, bias=False)

    def forward(self, s, h, mask):  # B H, B S H, B S: True at words
        e = self.v(torch.tanh(self.W(s)[:, None] + self.U(h)))[..., 0]  # B S
        a = e.masked_fill(~mask, -torch.inf).softmax(-1)  # B S
        return (a[..., None] * h).sum(1), a  # B H: the context, B S: the weights


# %%
class LookingBack(nn.Module):
    def __init__(self, V, D=32, H=64):  # vocabulary, width of a word vector, width of a state
        super().__init__()
        self.embedding = nn.Embedding(V, D)
        self.encoder = nn.GRU(D, H // 2, batch_first=True, bidirectional=True)
        self.attention = Attention(H)
        self.decoder = nn.GRUCell(D + H, H)
        self.readout = nn.Linear(H + H, V)

    def encode(self, source):  # B S
        mask, words = source != PAD, self.embedding(source)  # B S, B S D
        packed = pack_padded_sequence(words, mask.sum(1), batch_first=True, enforce_sorted=False)
        states, last = self.encoder(packed)
        h, _ = pad_packed_sequence(states, batch_first=True)  # B S H
        return torch.cat([*last], -1), h, mask  # B H: the last state of each direction

    def decode(self, given, s, h, mask):  # B T, B H, B S H, B S
        logits, weights = [], []
        for y in self.embedding(given).unbind(1):  # B D: one word after the other
            c, a = self.attention(s, h, mask)
            s = self.decoder(torch.cat([y, c], -1), s)  # B H
            logits.append(self.readout(torch.cat([s, c], -1)))  # B V
            weights.append(a)
        return torch.stack(logits, 1), s, torch.stack(weights, 1)  # B T V, B H, B T S

    def forward(self, source, given):
        return self.decode(given, *self.encode(source))[0]  # B T V


difference(Seq2Seq, LookingBack)  # "+" is new, "-" is gone

# %% [markdown]
# `encode` reads in both directions, with half the width for each, and also returns all states. (Packing takes the padding out: otherwise the direction that reads from right to left would begin with it.) `last` is 2×B×(H/2), a state for each direction, and `cat` puts the two side by side. `decode` looks back before each step, so it has to go word by word. The cell and the readout also read the context.
#
# ## Training both
#
# The world is that of lesson 05, with one change: in the translation each verb goes to the end of its clause, so words have to change places. Both models get the same batches. Which of them will translate the third sentence, of 12 words?


# %%
@torch.no_grad()
def translate(model, texts, longest=40):
    read = model.encode(make_batch(pairs.words.encode(texts), [[]] * len(texts))[0])
    s, *memory = read if isinstance(read, tuple) else [read]
    y, written = torch.full((len(texts), 1), BOS), []
    for _ in range(longest):
        logits, s, *_ = model.decode(y, s, *memory)
        y = logits.argmax(-1)  # B 1
        written.append(y)
    return pairs.words.decode(torch.cat(written, 1).tolist())


pairs = small_world(20_000, seed=8, order="verb-last")  # sentences of 1 to 12 words
models = {}
for Model in (Seq2Seq, LookingBack):
    torch.manual_seed(0)
    models[Model.__name__] = model = Model(len(pairs.words))
    losses = fit(model, *pairs.ids(), seed=0, steps=400)  # lesson 05's loop
    print(f"{Model.__name__:12}", "loss per word:", [f"{losses[step]:.2f}" for step in (0, 50, 200, 399)])

# %%
tried = ["our boy helped", "young friends saw girls"]
tried += ["big boy near my house called old girls and dogs followed friends"]
for place, (text, right) in enumerate(zip(tried, truth(tried, "verb-last"), strict=True)):
    print(f"\n{text}\n{'right':12} {right}")
    for name, model in models.items():
        print(f"{name:12} {translate(model, tried)[place]}")

# %% [markdown]
# The model that looks back gets all three right. Move the slider to see how: at each step it shows the weights over the source, and the five words that the decoder finds most probable. Where does it look when it writes the verb, "watched", which becomes "smomu glusor"?

# %%
model, text = models["LookingBack"], "young friends near the house watched dogs"
written = translate(model, [text])[0].split()
print(text, " → ", *written)
source, given, _ = make_batch(pairs.words.encode([text]), pairs.words.encode([" ".join(written)]))
logits, _, weights = model.decode(given, *model.encode(source))  # B T V, _, B T S
probabilities, looked, source_words = (
    logits[0].softmax(-1).detach(),
    weights[0].detach(),
    [*text.split(), "EOS"],
)


def step_at(step):
    left, right = plots.axes(2, width=5.2, height=3.6)
    before = " ".join(["BOS", *written[: step - 1]])
    plots.weights(looked[step - 1 : step], source_words, [""], f"{before} …", left, "source words", "")
    best = probabilities[step - 1].topk(5)
    words = [pairs.words.decode([[token]])[0] or "EOS" for token in best.indices.tolist()]
    plots.bars(dict(zip(words, best.values, strict=True)), "probability", ax=right, ylim=(0, 1.1))
    most = source_words[int(looked[step - 1].argmax())]
    return f"Step {step}: it looks most at “{most}” and writes “{words[0]}”."


step_explorer = explore(step_at, step=ipywidgets.IntSlider(value=7, min=1, max=len(written)))
step_explorer

# %% [markdown]
# When it is the verb's turn, most of the weight jumps back to it. For "glusor" it need not look there: that always follows "smomu".
#
# ## The length curve again
#
# We count the share of right words again. Beside your two models the picture shows three kinds that the course has measured, five of each, with 600 steps: one that reads the encoder's last states at every step (Cho et al. 2014), Bahdanau's, and Luong's with input feeding, which is explained below. The first has the same encoder, cell and readout as Bahdanau's, cannot look back, and learns at twice the rate of the other two. What share of the words is right at 12 words with Bahdanau's decoder, on average?

# %% tags=["nbval-check-output"]
predict("06.twelve", ...)

# %% tags=["reveals"]
curves, own = {}, {f"your {name}": [] for name in models}
print("Five models of each kind, measured beforehand, and the two that you have trained:")
for setup in ("one vector", "Bahdanau", "Luong"):
    lengths, runs = measured("attention", "words_right", "length", order="verb-last", setup=setup)
    curves[f"{setup}, five models"] = torch.tensor(runs)  # seeds lengths
for length in map(int, lengths):
    test = small_world(100, seed=7, order="verb-last", shortest=length, longest=length)
    for name, model in models.items():
        own[f"your {name}"].append(exact_shares(translate(model, test.sources), test.targets)[1])
ax = plots.axes(width=7.2, height=4.6)
shares = curves | {name: torch.tensor([run]) for name, run in own.items()}
plots.curves(lengths, shares, "words of the source", "share of right words", ax=ax)
ax.axvline(12, color="0.6", linestyle=":")
reveal("06.twelve", curves["Bahdanau, five models"][:, lengths.index(12)].mean().item())

# %% [markdown]
# Your two curves part after three words, and those of the measured models after six. At 12 words nearly everything is right with attention, and at most two fifths with one vector. Bahdanau et al. saw the same in English to French translation: 17.8 BLEU with one vector, 26.8 with attention, and no fall on long sentences.
#
# Beyond the dotted line, which marks the longest sentences in training, the picture changes. How far does attention help there?

# %%
rows, long = {}, (12, 14, 16, 20)
for setup in ("one vector", "Bahdanau", "Luong"):
    rows[setup] = measured_at("attention", "words_right", "length", long, order="verb-last", setup=setup)
for name, run in own.items():
    rows[f"{name}, one run"] = [run[lengths.index(length)] for length in long]
table(rows, [f"{length} words" for length in long], corner="share right, five seeds", digits=2)

# %%
longer = "your young boys called after big small dogs after friends"
longer += " while friend painted old big young dogs below old house"
lost = translate(model, [longer])[0]
print("right:", truth([longer], "verb-last")[0])
print("model:", lost)
source, given, _ = make_batch(pairs.words.encode([longer]), pairs.words.encode([lost]))
_, _, weights = model.decode(given, *model.encode(source))
weights = weights[0, : len(lost.split()), :20].detach()  # without EOS
missed = [word for word, total in zip(longer.split(), weights.sum(0), strict=True) if total < 0.3]
print("words that get less than 0.3 of the weight in all:", *missed)
plots.weights(weights, longer.split(), lost.split(), xlabel="20 source words", ylabel="translation")

# %% [markdown]
# The decoder leaves words out. From "flime" to "sliro" its weights spread; then it jumps to "old" and loses the words between. At 20 words the measured Bahdanau decoder is no better than one vector. Larger models of a richer world, trained for longer and on up to 16 words, get 0.89 (Bahdanau) and 0.73 (Luong) of the words right at 20 words. For them that is only a quarter more than in training ([measurements](../docs/measurements.md)). So attention removes one limit, not all.
#
# ## Does it look where it should?
#
# In this world we know which source word each target word comes from. These known links are framed. Does the largest weight of each row lie in a frame?


# %%
def weights_of(sources, targets):
    """The weight that each target word gives to each source word, T S for each pair, while the model reads the right translation."""
    source, given, _ = make_batch(pairs.words.encode(sources), pairs.words.encode(targets))
    found = model.decode(given, *model.encode(source))[2].detach()
    lengths = [(len(one.split()), len(other.split())) for one, other in zip(targets, sources, strict=True)]
    return [weights[:T, :S] for weights, (T, S) in zip(found, lengths, strict=True)]  # without EOS and padding


text = tried[2]
target, links = World("verb-last", **SMALL).translate(text.split())
marked = [(to, from_) for from_, to in links]
(weights,) = weights_of([text], [" ".join(target)])
plots.weights(weights, text.split(), target, xlabel="source words", ylabel="translation", marked=marked)

# %% [markdown]
# In this sentence all of them do; with another seed one may miss. The diagonal is broken where a verb waits for its object.
#
# The **alignment error rate** (Och & Ney 2003) puts a number on this. Here $A$, $S$ and $P$ are sets: $A$ has the links from each target word to the source word with the most weight, $S$ the links that are sure, and $P$ those that are possible, the sure ones included:
#
# $$\text{AER} = 1 - \frac{|A \cap S| + |A \cap P|}{|A| + |S|}$$
#
# Here all known links are sure. Four target words have one known link each, and attention misses one of them: what is its AER?

# %% tags=["nbval-check-output"]
known = [(0, 0), (1, 1), (2, 2), (3, 3)]  # (source, target)
weights = torch.eye(4)
weights[3] = weights[2]  # the last target word looks at the third source word
print("one of four is wrong:", alignment_error_rate([weights.numpy()], [known]))

# %% [markdown]
# It is $1 - (3 + 3)/(4 + 4) = 1/4$. A target word without any known link counts in $A$ all the same, as attention always looks somewhere. Now we measure the five models of each kind, in both word orders, and your own model.

# %%
rows, shown, yours = {}, (4, 8, 12, 16), []
for order, setup in product(("monotone", "verb-last"), ("Bahdanau", "Luong")):
    rows[f"{setup}, {order}"] = measured_at("attention", "aer", "length", shown, order=order, setup=setup)
for length in shown:
    test = small_world(200, seed=7, order="verb-last", shortest=length, longest=length)
    found = [weights.numpy() for weights in weights_of(test.sources, test.targets)]
    yours.append(alignment_error_rate(found, test.links))
rows["yours, verb-last, one run"] = yours
table(rows, [f"{length} words" for length in shown], corner="AER, five seeds", digits=3)

# %% [markdown]
# Nobody has told the models which words belong together. They found it out, because it helps to predict the next word. Up to 12 words the largest weight of the measured models misses, on average, at most one word in twenty. Where the order stays the same, Luong's weights are more exact; one reason may be that Bahdanau's query has not yet read the word that was written last.
#
# ## Other decoders that look back
#
# | | query | what happens to the context |
# | --- | --- | --- |
# | Bahdanau et al. 2014, and yours | $s_{t-1}$, before the step | the cell reads it, and the output does, too |
# | "appended to the input", as in many tutorials | $s_{t-1}$ | the cell reads it; the output reads the state alone |
# | Luong et al. 2015 | $s_t$, after the step | the output reads $f_t = \tanh(W_c [c_t; s_t])$ |
# | Luong et al. with input feeding | $s_t$ | the same, and the next step reads $f_t$ beside the next word |
#
# We measured the fourth row, with the general score. Here is the third as code, without its tanh layer and with the perceptron as its score. In which decoder, Bahdanau's or Luong's, do the states stay the same if attention looks elsewhere?


# %% tags=["nbval-check-output"]
class Luong(LookingBack):
    def __init__(self, V, D=32, H=64):
        super().__init__(V, D, H)
        self.decoder = nn.GRU(D, H, batch_first=True)  # it does not read the context

    def decode(self, given, s, h, mask):
        states, _ = self.decoder(self.embedding(given), s[None])  # B T H: all steps in one call
        looks = [self.attention(state, h, mask) for state in states.unbind(1)]
        contexts, weights = (torch.stack(part, 1) for part in zip(*looks, strict=True))  # B T H, B T S
        return self.readout(torch.cat([states, contexts], -1)), states[:, -1], weights


source, given, _ = make_batch(*(side[:8] for side in pairs.ids()))
for Model in (LookingBack, Luong):
    torch.manual_seed(0)
    untrained = Model(len(pairs.words))
    last = untrained.decode(given, *untrained.encode(source))[1]  # B H
    untrained.attention.v.weight.data *= -10  # now it looks elsewhere
    same = torch.allclose(last, untrained.decode(given, *untrained.encode(source))[1], atol=1e-5)
    print(f"{Model.__name__:12} has the same states after the change: {same}")

# %% [markdown]
# Luong's states stay the same. So one call computes all of them in training, but a step does not know where the previous one looked; input feeding tells it.
#
# ## Which of the eight scores wins?
#
# Any score of lesson 04 can take the perceptron's place. The course has trained Bahdanau's decoder with each of them in the verb-last order. Which one does worst?

# %% tags=["nbval-check-output"]
predict("06.worst", ...)

# %% tags=["reveals"]
rows = {}
for score in SCORES:
    right = measured_at("scores", "words_right", "length", (12, 16), order="verb-last", setup=score)
    rows[score] = right + measured_at("scores", "aer", "length", (12,), order="verb-last", setup=score)
print("Five models with each score:")
reveal("06.worst", min(rows, key=lambda score: sum(rows[score][0])))
table(rows, ["right at 12 words", "right at 16 words", "AER at 12 words"], corner="five seeds", digits=2)

# %% [markdown]
# The concatenating score is no better than one vector: the state adds the same number to all scores, so the weights never move (lesson 04). The cosine, content_based, moves them, but cosines are too small to concentrate them (lesson 04). The location-based score goes by positions alone and looks at a wrong word one time in four; perhaps annotations that know their neighbours make up for that. On real sentences, Britz et al. 2017 found the perceptron score slightly ahead of the general one.
#
# At 16 words the scaled dot product gets half as many right as the dot product, from which it differs only by the factor √D. Lesson 04 advised projecting both sides first. Does that help?

# %%
rows = {}
for setup in ("dot", "scaled_dot", "projected"):
    rows[setup] = measured_once("projected", "words_right", "largest_weight", setup=setup)
table(rows, ["right at 16 words", "mean largest weight"], corner="five seeds", digits=2)

# %% [markdown]
# It does, though the plain dot product stays ahead in four of five runs. (These models were trained anew, so their figures differ a little.) √D suits entries that are independent and have variance 1. A GRU's states lie between -1 and 1, and the decoder cannot enlarge them: divided by √D their scores leave the weights too soft, and the largest is a third on average. Learned projections choose the size of queries and keys, and the weights become concentrated again.
#
# ## What a look costs
#
# Each target word is scored against each source word. How many scores is that when 50 words become 50? And how many letter by letter, with six characters for each word and its space?

# %%
print(f"by words: {50 * 50:,} scores    by characters: {300 * 300:,} scores")
microseconds, state = {}, torch.zeros(1, 64)
with torch.inference_mode():
    for S in (10, 50, 300, 2000):
        h, mask = torch.randn(1, S, 64), torch.ones(1, S, dtype=torch.bool)
        began = time.perf_counter()
        for _ in range(200):
            model.attention(state, h, mask)
        microseconds[f"{S} words"] = (time.perf_counter() - began) / 200 * 1e6
table({"microseconds": list(microseconds.values())}, list(microseconds), corner="one look back", digits=0)

# %% [markdown]
# For sentences that is cheap: a look at 50 words costs far less than five times as much as one at 10, because much of it is the overhead of calling PyTorch. For long texts the number of scores grows with the product of both lengths. Waiting costs time, too, as each step needs the state before it; lesson 09 will avoid that.
#
# ## Real sentences
#
# The course ships a model that has learned from 29,000 captions of photos in English and French. Its attention is the one above; the rest is larger, with pieces of words in place of words and a readout that also reads the word before. Which English words does it look at for "vieil"?

# %%
french, subwords = load_pretrained("attention-en-fr")
seen = align(french, subwords, "An old man is sitting next to a swimming pool.")
plots.weights(seen.weights, seen.source, seen.target, xlabel="English", ylabel="French")

# %% [markdown]
# For "vieil" it attends to "old" and to "man". Looking at both makes sense, since the noun decides between "vieux", "vieil" and "vieille". But weights show where a model looks, not what it uses: below, "tree" gets a quarter of the weight for "old", and the form is wrong. What a row lacks to 1 lies on EOS, which the picture leaves out.
#
# Now type sentences of your own, and watch them being translated. The first is there already: is its "old" right, too? What will a model that has read nothing but captions make of "The black dog is not sleeping"?


# %%
def translated(text):
    found = align(french, subwords, text, width=2)
    if found.weights is None:
        plots.axes(width=3, height=1).axis("off")
        return "Type an English sentence."
    plots.weights(found.weights, found.source, found.target, xlabel="English", ylabel="French")
    return f"“{text}” becomes “{' '.join(found.target)}”."


typed = ipywidgets.Text(value="An old tree stands in the snow.", description="English")
print(
    "The black dog is not sleeping: ",
    translation.translate(french, subwords, ["The black dog is not sleeping."])[0],
)
translator = explore(translated, text=typed)
translator

# %% [markdown]
# The tree becomes "un vieux arbre", which should be "un vieil arbre". And the "not" is lost: captions say what is in a photo, and a model cannot translate what it has hardly ever read.
#
# ## What if the decoder could look back, then?
#
# Then a sentence no longer has to fit into one vector. Before each word the decoder computes a new weighted sum of the encoder's states. In sentences of 12 words nearly every word comes out right, and the price is one score for each pair of words.
#
# ## Questions
#
# These five questions test the goals at the top. Run a cell to see its question, then replace the dots with a letter in quotes or a number.

# %%
check("06.q1", ...)

# %%
check("06.q2", ...)

# %%
check("06.q3", ...)

# %%
check("06.q4", ...)

# %%
check("06.q5", ...)

# %% [markdown]
# ## Recap
#
# - What if the decoder could look back? Then long sentences come through, as far as training has prepared for their length.
# - The encoder passes on all of its states. Before each word the decoder takes one more step: score, normalise, sum.
# - Bahdanau's query is the state before the step, and cell and output read the context. Luong's query is the state after it, and the output reads the context.
# - Where the truth is known, and sentences are no longer than in training, the largest weight nearly always lies on the right word. The alignment error rate counts the links that are missing or superfluous.
# - A score whose weights do not depend on the state, or that stays between -1 and 1, is of no use to a decoder.
#
# **Exercises**: [open them](../exercises/06_seq2seq_attention_exercises.ipynb)
#
# **Next**: at each step the most probable word was written. [Is the result the best translation?](07_decoding.ipynb)
