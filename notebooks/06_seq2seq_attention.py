# %%
import time

import ipywidgets
import torch

from course_utils import check, predict, reveal
from course_utils.data.measured import measured, measured_once
from course_utils.data.small_world import SMALL, small_world, truth
from course_utils.data.world import World
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table
from course_utils.figures.widgets import explore
from course_utils.models.attention import SCORES
from course_utils.models.files import load_pretrained
from course_utils.models.plain import bahdanau_step, luong_step
from course_utils.models.recurrent import RecurrentTranslator
from course_utils.models.seq2seq import fit, make_batch
from course_utils.translation.scores import alignment_error_rate, exact_shares
from course_utils.translation.translate import align, align_pairs, translate

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## All states instead of the last one
#
# In lesson 05 the encoder had a state after every word, and passed on only the last one. Now it passes on all of them. We call them **annotations** $h_1, \dots, h_S$, as Bahdanau et al. 2014 do, because each of them says something about one word of the source.
#
# A GRU that reads from left to right has not seen what comes after a word. So a second one reads from right to left, and an annotation puts the states of both side by side. Which annotations change, even before any training, when we replace the last word of a sentence?

# %% tags=["nbval-check-output"]
torch.manual_seed(0)
pairs = small_world(20_000, seed=8, order="verb-last")  # sentences of 1 to 12 words
model = RecurrentTranslator(len(pairs.words), width=32, hidden=64, encoder_hidden=32, dropout=0.0)
source = make_batch(pairs.words.encode(["the boy saw girls", "the boy saw houses"]), [[], []])[0]  # B S
annotations, _ = model.encoder(model.embed(source), source != 0)  # B S E
change = (annotations[0] - annotations[1]).abs()  # S E
rows = {"left to right": change[:, :32].amax(1), "right to left": change[:, 32:].amax(1)}
table(rows, ["the", "boy", "saw", "girls, houses", "EOS"], corner="largest change")

# %% [markdown]
# From left to right, the states change from the new word onwards. From right to left, all states up to it change. So each annotation knows the whole sentence, and it knows the words near its own best.
#
# This is the first of two differences from lesson 05. The second is a step that the decoder takes before it writes a word: it chooses among the annotations.

# %%
diagrams.looking_back(new=["attention", "query", "context"])

# %% [markdown]
# The decoder's state, which says what has been written so far, asks where to look. The answer is a weighted sum of the annotations, the context, and it is a new one at each step. The first state of all is made from the encoder's last ones.
#
# ## One look back by hand
#
# The **alignment model** of Bahdanau et al. is a score that you know: the perceptron of lesson 04. The rest is lesson 03, with the state $s_{t-1}$ as query and the annotations as keys and values:
#
# $$e_{tj} = v^\top \tanh(W s_{t-1} + U h_j) \qquad \alpha_{tj} = \frac{\exp e_{tj}}{\sum_k \exp e_{tk}} \qquad c_t = \sum_j \alpha_{tj} h_j$$
#
# Let all widths be 1, $W = U = 1$, $v = 2$, the state -1 and the annotations 0, 1 and 2. What are the scores, the weights and the context, on paper? ($\tanh 1 = 0.762$, $e^{1.523} = 4.586$.)

# %% tags=["nbval-check-output"]
s, h = torch.tensor([[-1.0]]), torch.tensor([[[0.0], [1.0], [2.0]]])  # B H, B S E
W, U, v = torch.ones(1, 1), torch.ones(1, 1), torch.tensor([2.0])  # A H, A E, A
e = torch.tanh((s @ W.T)[:, None] + h @ U.T) @ v  # B S
a = e.softmax(-1)  # B S
c = (a[..., None] * h).sum(1)  # B E
print("scores", e, "weights", a, "context", c)

context, weights = bahdanau_step(s, h, torch.ones(1, 3, dtype=torch.bool), W, U, v)
print("the course's step agrees:", torch.allclose(weights, a) and torch.allclose(context, c))

# %% [markdown]
# Most of the weight lies on the third annotation. Another state gets other weights: change it to -3 and run the cell again.
#
# ## What happens to the context
#
# The GRU reads the context beside the vector $y_{t-1}$ of the previous word: $s_t = \mathrm{GRU}([y_{t-1}; c_t], s_{t-1})$. Others have used the same look in other ways:
#
# | | query | what happens to the context |
# | --- | --- | --- |
# | Bahdanau et al. 2014 | $s_{t-1}$, before the step | the cell reads it, and the output does, too |
# | "appended to the input", as in many tutorials | $s_{t-1}$ | the cell reads it; the output reads the state alone |
# | Luong et al. 2015 | $s_t$, after the step | the output reads $a_t = \tanh(W_c [c_t; s_t])$ |
# | Luong et al. with input feeding | $s_t$ | the same, and the next step reads $a_t$ beside the next word |
#
# Which of them can compute all of its states in one call while it is trained?

# %% tags=["nbval-check-output"]
y = torch.tensor([[0.5, -0.5]])  # B D: the vector of the word before
torch.manual_seed(0)
reads_context, reads_word = torch.nn.GRUCell(3, 1), torch.nn.GRUCell(2, 1)
s_next = reads_context(torch.cat([y, context], -1), s)  # Bahdanau: look, then step
print("Bahdanau's next state", s_next.data)
s_next = reads_word(y, s)  # Luong: step, then look
features, weights = luong_step(
    s_next, h, torch.ones(1, 3, dtype=torch.bool), torch.ones(1, 1), torch.ones(2, 2)
)
print("Luong's next state   ", s_next.data, "weights", weights.data, "features", features.data)

# %% [markdown]
# Luong's decoder without input feeding can: its states depend on the words and on nothing that attention finds, so one call of `nn.GRU` over all words computes them. The price is that a step does not know where the previous one looked. Input feeding tells it.
#
# ## Training
#
# The world is that of lesson 05, with one change: in the translation, each verb now goes to the end of its clause. So the words have to change places. Do you expect the third sentence, of 12 words, to come out right this time?

# %%
sources, targets = pairs.ids()
losses = fit(model, sources, targets, seed=0, steps=400, rate=1e-2)
print("loss per word:", [f"{losses[step]:.2f}" for step in (0, 50, 200, 399)])
tried = [
    "our boy helped",
    "young friends saw girls",
    "big boy near my house called old girls and dogs followed friends",
]
for text, right, said in zip(
    tried, truth(tried, "verb-last"), translate(model, pairs.words, tried, width=1), strict=True
):
    print(f"\n{text}\nright  {right}\nmodel  {said}")

# %% [markdown]
# Here is how it does that. Move the slider: at each step you see the weights over the source, and the five words that the decoder finds most probable. Where does it look when it writes the verb, "watched", which becomes "smomu glusor"?

# %%
text = "young friends near the house watched dogs"
(found,) = align_pairs(model, pairs.words, [text], translate(model, pairs.words, [text], width=1))
source, given, _ = make_batch(pairs.words.encode([text]), pairs.words.encode([" ".join(found.target)]))
probabilities = model(source, given).softmax(-1)[0].detach()  # T V


def step_at(step):
    left, right = plots.axes(2, width=5.2, height=3.6)
    before = " ".join(["BOS", *found.target[: step - 1]])
    plots.weights(found.weights[step - 1 : step], found.source, [""], f"{before} …", left, "source words", "")
    best = probabilities[step - 1].topk(5)
    words = [pairs.words.decode([[token]])[0] or "EOS" for token in best.indices.tolist()]
    plots.bars(dict(zip(words, best.values, strict=True)), "probability", ax=right, ylim=(0, 1.1))
    looked = found.source[int(found.weights[step - 1].argmax())]
    return f"Step {step}: it looks most at “{looked}” and writes “{words[0]}”."


step_explorer = explore(step_at, step=ipywidgets.IntSlider(value=7, min=1, max=len(found.target)))
step_explorer

# %% [markdown]
# When it is the verb's turn, nearly all of the weight jumps back to it. A source word that becomes two words is looked at twice.
#
# ## The length curve again
#
# In lesson 05 a quarter of the words was wrong at six words already. Here are three decoders that differ in nothing but where they look: one reads the encoder's last states at every step (Cho et al. 2014), one is Bahdanau's, one Luong's with input feeding. Training went up to 12 words. What share of the words is right at 12 words with Bahdanau's decoder, on average over five models?

# %% tags=["nbval-check-output"]
predict("06.twelve", ...)

# %% tags=["reveals"]
own, curves = [], {}
print("Five models of each kind, measured beforehand, and the one that you have trained:")
for setup in ("one vector", "Bahdanau", "Luong"):
    lengths, runs = measured("attention", "words_right", "length", order="verb-last", setup=setup)
    curves[f"{setup}, five models"] = torch.tensor(runs)  # seeds lengths
for length in map(int, lengths):
    test = small_world(100, seed=7, order="verb-last", shortest=length, longest=length)
    own.append(exact_shares(translate(model, test.words, test.sources, width=1), test.targets)[1])
curves["your model"] = torch.tensor([own])
ax = plots.axes(width=6.8, height=4.2)
plots.curves(lengths, curves, "words of the source", "share of right words", ax=ax)
ax.axvline(12, color="0.6", linestyle=":")
reveal("06.twelve", curves["Bahdanau, five models"][:, lengths.index(12)].mean().item())

# %% [markdown]
# Up to 12 words that fall is gone: with attention nearly everything is right, with one vector only two fifths. Bahdanau et al. saw the same from English to French: 17.8 BLEU with one vector, 26.8 with attention, and no fall on long sentences. (Our five models had 600 steps at half the rate; yours did with 400.)
#
# Beyond the dotted line, which marks the longest sentences in training, our picture changes. How far does attention help there?

# %%
rows = {}
for setup in ("one vector", "Bahdanau", "Luong"):
    along, runs = measured("attention", "words_right", "length", order="verb-last", setup=setup)
    rows[setup] = [[run[along.index(length)] for run in runs] for length in (12, 14, 16, 20)]
table(rows, ["12 words", "14 words", "16 words", "20 words"], corner="share right, five seeds", digits=2)

# %%
longer = "your young boys called after big small dogs after friends"
longer += " while friend painted old big young dogs below old house"
(lost,) = align_pairs(model, pairs.words, [longer], translate(model, pairs.words, [longer], width=1))
print("right:", truth([longer], "verb-last")[0])
print("model:", " ".join(lost.target))
plots.weights(lost.weights, lost.source, lost.target, xlabel="20 source words", ylabel="translation")

# %% [markdown]
# The decoder leaves words out, and you can see where: the attention jumps over some words, which get hardly any weight at any step. At 20 words Bahdanau's decoder is no better than one vector here, and Luong's gets a third right. Larger models, trained on up to 16 words, still get 0.89 (Bahdanau) and 0.73 (Luong) of them right at 20 ([measurements](../docs/measurements.md)). So attention removes the limit that one vector set, but not every limit.
#
# ## Does it look where it should?
#
# In this world we know which source word each target word comes from. These known links are framed. Does the largest weight of each row lie in a frame?

# %%
text = "big boy near my house called old girls and dogs followed friends"
(one,) = align_pairs(model, pairs.words, [text], truth([text], "verb-last"))
target, links = World("verb-last", **SMALL).translate(text.split())
marked = [(to, from_) for from_, to in links]
plots.weights(one.weights, one.source, target, xlabel="source words", ylabel="translation", marked=marked)

# %% [markdown]
# In this sentence, all of them do. The diagonal is broken where a verb waits for its object.
#
# The **alignment error rate** (Och & Ney 2003) puts a number on this. Let $A$ be the links from each target word to the source word with the most weight, $S$ the links that are sure and $P$ those that are possible, the sure ones included:
#
# $$\text{AER} = 1 - \frac{|A \cap S| + |A \cap P|}{|A| + |S|}$$
#
# Here all known links are sure. Take four target words, each with one known link, and attention that misses one of them: what is its AER?

# %% tags=["nbval-check-output"]
known = [(0, 0), (1, 1), (2, 2), (3, 3)]  # (source, target)
weights = torch.eye(4)
weights[3] = weights[2]  # the last target word looks at the third source word
print("one of four is wrong:", alignment_error_rate([weights.numpy()], [known]))

# %% [markdown]
# It is $1 - (3 + 3)/(4 + 4) = 1/4$. A target word without any known link counts in $A$ all the same, as attention always looks somewhere. Now we measure five models of each kind, in both orders of words, and your own model. What do you expect where the order stays the same?

# %%
rows = {}
for order in ("monotone", "verb-last"):
    for setup in ("Bahdanau", "Luong"):
        along, runs = measured("attention", "aer", "length", order=order, setup=setup)
        rows[f"{setup}, {order}"] = [[run[along.index(length)] for run in runs] for length in (4, 8, 12, 16)]
test = small_world(200, seed=7, order="verb-last", shortest=12, longest=12)
own = [pair.weights for pair in align_pairs(model, test.words, test.sources, test.targets)]
print(f"your model at 12 words: {alignment_error_rate(own, test.links):.3f}")
table(rows, ["4 words", "8 words", "12 words", "16 words"], corner="AER, five seeds", digits=3)

# %% [markdown]
# Nobody has told the models which words belong together: they found it, because it helps to predict the next word. Up to 12 words the largest weight misses, on average, at most one word in twenty. For Bahdanau's the order of words makes no difference. Where it stays the same, Luong's weights are more exact; one reason may be that Bahdanau's query has not yet read the word that was written last.
#
# ## Which of the eight scores?
#
# Any score of lesson 04 can take the perceptron's place. We have trained Bahdanau's decoder with each of them in the verb-last order. Which one does worst?

# %% tags=["nbval-check-output"]
predict("06.worst", ...)

# %% tags=["reveals"]
right, rows = {}, {}
for score in SCORES:
    along, runs = measured("scores", "words_right", "length", order="verb-last", setup=score)
    right[score] = [run[along.index(12)] for run in runs]
    aer = measured("scores", "aer", "length", order="verb-last", setup=score)[1]
    rows[score] = [[run[along.index(16)] for run in runs], [run[along.index(12)] for run in aer]]
ax = plots.axes(width=9.6, height=3.8)
plots.bars(
    {name.replace("_", "\n"): values for name, values in right.items()},
    "right at 12 words",
    ax=ax,
    ylim=(0, 1.1),
)
reveal("06.worst", min(right, key=lambda score: sum(right[score])))

# %% [markdown]
# The concatenating score is no better than one vector: the state adds the same number to all scores, so the weights never move (lesson 04). The cosine, content_based, moves them, and does little better. How large can its weights become, among 12 words and EOS?

# %%
sharpest = torch.tensor([1.0] + [-1.0] * 12).softmax(0)[0]
print(f"Among 13 annotations, scores from -1 to 1 can give one of them a weight of {sharpest:.2f} at most.")
table(rows, ["right at 16 words", "AER at 12 words"], corner="five seeds", digits=2)

# %% [markdown]
# The cosine cannot choose. The location-based score looks at a wrong word every fourth time, since it goes by places alone; perhaps its words are saved because annotations know their neighbours. The other five do well at 12 words, and at 16 the dot product and general are ahead. On real sentences, Britz et al. 2017 found our perceptron, which they call additive, slightly ahead of our general.
#
# At 16 words the scaled dot product gets about half as many right as the dot product, which it only divides by √D. Lesson 04 advised to project both sides first. Does that help?

# %%
rows = {}
for setup in ("dot", "scaled_dot", "projected"):
    rows[setup] = measured_once("projected", "words_right", "largest_weight", setup=setup)
table(rows, ["right at 16 words", "mean largest weight"], corner="five seeds", digits=2)

# %% [markdown]
# It does, though the plain dot product stays ahead. √D is meant for entries that are independent and have variance 1. A GRU's states lie between -1 and 1, and the decoder cannot make them larger: divided by √D their scores leave the weights too soft, and the largest is a third on average. Learned projections choose the size of queries and keys, and the weights become sharp again.
#
# ## What it costs
#
# Each target word is scored against each source word. How many scores is that for 50 words into 50? And letter by letter, with six characters for each word and its space?

# %%
print(f"by words: {50 * 50:,} scores    by characters: {300 * 300:,} scores")
decoder, micro = model.decoder, {}
with torch.inference_mode():
    state = torch.zeros(1, 1, 64)
    for S in (10, 50, 300, 2000):
        memory = decoder.prepare(torch.randn(1, S, 64), torch.ones(1, S, dtype=torch.bool), None)
        began = time.perf_counter()
        for _ in range(200):
            decoder.attention(state, memory)
        micro[S] = (time.perf_counter() - began) / 200 * 1e6
table({"microseconds": list(micro.values())}, [f"{S} words" for S in micro], corner="one look back", digits=0)

# %% [markdown]
# For sentences that is little: a look at 50 words costs little more than one at 10, because most of it is the overhead of calling PyTorch. For long texts the number of scores grows with the product of both lengths. Waiting costs time too, as each step needs the state before it; lesson 09 will avoid that.
#
# ## Real sentences
#
# The course ships a small model of Bahdanau's kind that has learned from 29,000 captions of photos in English and French. Which English words does it need for "vieil"?

# %%
french, subwords = load_pretrained("attention-en-fr")
seen = align(french, subwords, "An old man is sitting next to a swimming pool.")
plots.weights(seen.weights, seen.source, seen.target, xlabel="English", ylabel="French")

# %% [markdown]
# It attends to two words at once. It has to know both: "old" becomes "vieux", "vieil" or "vieille", and the noun decides which.
#
# Now type sentences of your own, and watch them being translated. The first is there already: is its "old" right, too?


# %%
def translated(text):
    found = align(french, subwords, text, width=2)
    if found.weights is None:
        plots.axes(width=3, height=1).axis("off")
        return "Type an English sentence."
    plots.weights(found.weights, found.source, found.target, xlabel="English", ylabel="French")
    return f"“{text}” becomes “{' '.join(found.target)}”."


typed = ipywidgets.Text(value="An old tree stands in the snow.", description="English")
translator = explore(translated, text=typed)
translator

# %% [markdown]
# The tree becomes "un vieux arbre", which should be "un vieil arbre".
#
# What will a model that has read nothing but captions make of a "not", and what of "How was your day?"? We also ask how many nats per token the right translation costs it.

# %%
asked = [
    ("The black dog is not sleeping.", "Le chien noir ne dort pas."),
    ("A black and white cat sleeps on a red sofa.", "Un chat noir et blanc dort sur un canapé rouge."),
    ("How was your day?", "Comment se passe ta journée ?"),
]
for english, right in asked:
    source, given, wanted = make_batch(subwords.encode([english]), subwords.encode([right]))
    cost = torch.nn.functional.cross_entropy(french(source, given)[0], wanted[0]).item()
    said = translate(french, subwords, [english])[0]
    print(f"{english}\n  it says  {said}\n  right:   {right} This costs it {cost:.1f} nats per token.")

# %% [markdown]
# The "not" is lost, since captions say what is in a photo. And it invents a scene, "in the dishes of a woman". A model cannot translate what it has hardly ever read.
#
# ## So: what if the decoder could look back?
#
# Then a sentence no longer has to fit into one vector. Before each word the decoder asks for a new sum of the encoder's states. Of sentences of 12 words nearly every word comes out right, and the price is one score for each pair of words.
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
# - The encoder passes on all of its states, and before each word the decoder takes one more step: score, normalise, sum.
# - Bahdanau's query is the state before the step, and cell and output read the context; Luong's is the state after it, and the output reads the context.
# - Where the truth is known, the largest weight lies nearly always on the right word. The alignment error rate counts the links that are missing or too many.
# - A score that does not depend on the state, or that cannot become large, is of no use to a decoder.
#
# **Exercises**: [open them](../exercises/06_seq2seq_attention.ipynb)
#
# **Next**: at each step the most probable word was written. [Is the result the best translation?](07_decoding.ipynb)
