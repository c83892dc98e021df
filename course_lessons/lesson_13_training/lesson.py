# %%
import torch
import torch.nn.functional as F

from course_lessons.lesson_13_training import figures
from course_utils import check, predict, reveal
from course_utils.base.progress_bar import with_bar
from course_utils.data.measured import by_seed
from course_utils.data.small_world import small_world
from course_utils.data.subwords import PAD
from course_utils.figures import plots
from course_utils.figures.tables import table
from course_utils.models.custom_transformer import share_right
from course_utils.models.optimized import Dropout
from course_utils.models.seq2seq import make_batch
from course_utils.models.serialization import load_pretrained
from course_utils.models.transformer import Transformer
from course_utils.translation.translate import translate

torch.set_printoptions(precision=3, sci_mode=False, linewidth=110)
torch.set_num_threads(1)  # the tensors are small: more threads would wait

# %% [markdown]
# In lesson 12, a small Transformer learned an invented language in 200 steps. The course also has a Transformer that translates real captions of photographs from English to German. How was it trained, and what does it know?
#
# We take training apart with small models that learn in seconds, and then test what the translator knows.
#
# ## What does training change?
#
# The course's translator was trained on 29,000 captions. It reads and writes **subwords**, which are words and pieces of rare words. Beside it, we put a model of the same size with random weights. What does each of them make of a caption?

# %%
translator, subwords = load_pretrained("transformer-en-de")
untrained, _ = load_pretrained("transformer-en-de")
torch.manual_seed(0)
for weight in untrained.parameters():  # random numbers again
    torch.nn.init.normal_(weight, std=0.1)

captions = ["two young men are playing guitar in front of a red house ."]
print("untrained:", translate(untrained, subwords, captions))
print("trained:  ", translate(translator, subwords, captions))

# %% [markdown]
# The model with random weights repeats pieces of words. The trained one translates the caption correctly, and differs in nothing but its weights.
#
# The translator has read its captions 11 times, in 11 **epochs**, which took 8 minutes on one processor core. We have trained it once more in the same way. After each reading, we measured its loss and its BLEU, on 1,014 new captions and on as many that it reads. Does it get better at both?

# %%
figures.draw_passes()

# %% [markdown]
# It gets better at both, and most in the first readings. But the two drift apart: in the end it has [a BLEU of 36](../docs/measurements.md#what-each-part-of-the-training-is-worth) on new captions, and of 41 on those that it reads. We come back to this difference.
#
# ## What does one step do?
#
# Between random and trained weights there are 3,014 steps. What happens in each of them? The next loop is given a model, an **optimizer**, which moves the weights, and a list with a rate for each step. Which line sets the rate, and which one moves the weights?


# %%
def train(model, optimizer, rates, seed):
    draw = torch.Generator().manual_seed(seed)
    losses = []
    model.train()  # for training, see "dropout" below
    for rate in with_bar(rates):  # one rate for each step, under a bar if it takes long
        source, given, wanted = draw_batch(draw)  # B S, B T, B T: defined below
        logits = model(source, given).flatten(0, 1)  # B·T V
        right_words = wanted.flatten()  # B·T
        loss = F.cross_entropy(logits, right_words, ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.param_groups[0]["lr"] = rate
        optimizer.step()
        losses.append(loss.item())
    model.eval()  # for use
    return losses


# %% [markdown]
# The line with `"lr"` sets the **learning rate** of this step, and `step` moves the weights. The lines of a step in their order:
#
# | line | what it does |
# | --- | --- |
# | `draw_batch` | draws pairs of sentences at random, which are called a **batch** |
# | `model(…)` | computes the logits of each next word from the right words before it |
# | `cross_entropy` | computes the loss, the mean of $-\ln p$ over the right words without padding |
# | `zero_grad` | deletes the gradient of the step before |
# | `backward` | computes the gradient: for each weight, how the loss changes with it |
# | `clip_grad_norm_` | makes the gradient shorter if it is too long |
# | `"lr"` and `step` | set the rate, and let the optimizer move every weight |
#
# Most of these lines were in the loop of lesson 05, **clipping** among them: all gradients together are one long vector. If its length, the norm, exceeds a limit, the vector is scaled down to the limit. So one unusual batch cannot move the weights far.
#
# Calculate by hand, with a limit of 1: what becomes of the gradient [3, 4], and of [0.3, 0.4]?

# %% tags=["nbval-check-output"]
weights = torch.zeros(2, requires_grad=True)
for gradient in ([3.0, 4.0], [0.3, 0.4]):
    weights.grad = torch.tensor(gradient)
    torch.nn.utils.clip_grad_norm_([weights], 1.0)
    print(gradient, "becomes", weights.grad)

# %% [markdown]
# The norm of [3, 4] is 5, so both numbers are divided by 5. The norm of [0.3, 0.4] is 0.5, which is below the limit, and nothing changes.
#
# To try the loop, we need something that is learned in seconds. We take the small world of lesson 12, with sentences of up to six words, and a Transformer with one layer on each side. It learns from 20,000 pairs, 64 at a step. The test sentences are not among them.

# %%
pairs = small_world(20_000, seed=1, order="verb-last", longest=6)
sources, targets = pairs.ids()  # a list of word ids for each sentence
others = small_world(600, seed=2, order="verb-last", longest=6)
other_sources, other_targets = others.ids()
read = set(pairs.sources)  # the sentences that the model will read
unread = [i for i, text in enumerate(others.sources) if text not in read]
test_sources = [other_sources[i] for i in unread]
test_targets = [other_targets[i] for i in unread]
test = make_batch(test_sources, test_targets)  # source, given, wanted


def draw_batch(draw):
    rows = torch.randint(len(sources), (64,), generator=draw).tolist()
    return make_batch([sources[i] for i in rows], [targets[i] for i in rows])


def new_model(seed):
    torch.manual_seed(seed)
    return Transformer(
        len(pairs.words),
        width=32,
        hidden=64,  # of the feed-forward networks
        encoder_layers=1,
        decoder_layers=1,
        dropout=0.0,  # none yet
    )


# %% [markdown]
# The simplest optimizer is stochastic gradient descent, **SGD**. It moves each weight θ by the rate times its gradient $g$:
#
# $$\theta \leftarrow \theta - \text{rate} \cdot g$$
#
# We train one model with SGD for 100 steps, with a rate of 1. Then it predicts each word of the test sentences from the right words before it.

# %%
model = new_model(seed=0)
optimizer = torch.optim.SGD(model.parameters())
losses = train(model, optimizer, rates=[1.0] * 100, seed=0)
print(f"loss of the first step {losses[0]:.2f}, of the last {losses[-1]:.2f}")
print(f"share of words right: {share_right(model, *test):.2f}")

# %% [markdown]
# The model predicts about seven of ten words correctly.
#
# SGD has the same rate for all weights, but are their gradients equally large? We compare four matrices in a model that is not trained yet. The table shows the root mean square of each matrix's gradient, divided by that of the readout, the last matrix.

# %%
model = new_model(seed=0)
source, given, wanted = test  # B S, B T, B T
logits = model(source, given).flatten(0, 1)  # B·T V
loss = F.cross_entropy(logits, wanted.flatten(), ignore_index=PAD)
loss.backward()
matrices = {
    "readout": model.readout,
    "feed-forward, decoder": model.decoder[0].feed_forward[2],  # its W_2
    "feed-forward, encoder": model.encoder[0].feed_forward[0],  # its W_1
    "queries, encoder": model.encoder[0].self_attention.query,
}


def size(matrix):  # of its gradient: the root mean square
    return matrix.weight.grad.square().mean().sqrt()


rows = {}
for name, matrix in matrices.items():
    rows[name] = [size(matrix) / size(model.readout)]
table(rows, ["size of the gradient, readout = 1"])

# %% [markdown]
# The gradients differ widely: those of the encoder's query matrix are less than a hundredth of the readout's. So in its first step, SGD moves that matrix less than a hundredth as far. Would the model learn more if every weight moved equally far?
#
# ## How far should each weight move?
#
# Most Transformers are trained with **Adam** (Kingma and Ba 2015). Our translator has another optimizer for most of its weights, which has the same aim, so we begin with Adam.
#
# Adam divides the gradient of each weight by its usual size. It keeps two running means for each weight: $m$ of its gradients $g$, and $v$ of their squares. A new gradient counts a little, and earlier ones fade away:
#
# $$m \leftarrow \beta_1 m + (1 - \beta_1)\, g \qquad v \leftarrow \beta_2 v + (1 - \beta_2)\, g^2$$
#
# Usually β₁ is 0.9 and β₂ is 0.999. Both means begin at 0, so they are too small at first. If all gradients are $g$, then $m$ is 0.1 $g$ after one step, and 0.9 · 0.1 $g$ + 0.1 $g$ = 0.19 $g$ after two. After $t$ steps it is $(1 - \beta_1^t)\, g$. So Adam divides $m$ by $1 - \beta_1^t$, and $v$ by $1 - \beta_2^t$:
#
# $$\theta \leftarrow \theta - \text{rate} \cdot \frac{m / (1 - \beta_1^t)}{\sqrt{v / (1 - \beta_2^t)} + \varepsilon}$$
#
# The tiny number ε only prevents a division by 0. Take two weights with the gradients 4 and 0.01, and a rate of 0.1. SGD moves them by 0.4 and 0.001. How far does the first step of Adam move the second one?

# %% tags=["nbval-check-output"]
predict("13.adam", ...)


# %% tags=["reveals"]
def two_steps(Optimizer):
    weights = torch.zeros(3, requires_grad=True)
    optimizer = Optimizer([weights], lr=0.1)
    after = []  # the weights after each step
    for gradient in ([4.0, 0.01, 4.0], [4.0, 0.01, -4.0]):
        weights.grad = torch.tensor(gradient)
        optimizer.step()
        after.append(weights.detach().clone())
    return after


by_sgd = two_steps(torch.optim.SGD)
by_adam = two_steps(torch.optim.Adam)
print("Three weights after one step and after two:")
print("SGD: ", by_sgd[0], by_sgd[1])
print("Adam:", by_adam[0], by_adam[1])
reveal("13.adam", by_adam[0][1].abs())  # after the first step, the second weight

# %% [markdown]
# Adam's first step moves the second weight by 0.1, the rate itself. At the first step, $m / (1 - \beta_1)$ is $g$, and the root of $v / (1 - \beta_2)$ is $|g|$. Their quotient is 1 or -1, so every weight moves by the rate, unless its gradient is 0.
#
# The third weight shows what the mean $m$ is for. Its gradient changes its sign at the second step. Then $m$ is small beside the root of $v$, and Adam moves the weight by only 0.005.
#
# Does Adam learn more than SGD in 100 steps? And is the division the reason, or the mean $m$? We train with neither, with each alone, and with both. SGD with **momentum** has the mean alone: it moves by a running sum of gradients, ten times $m$. Adam with β₁ = 0 has the division alone, since its $m$ is the last gradient.
#
# For each of the four, we have tried three rates on these same test sentences, such as 0.5, 1 and 1.5 for SGD, and take the best. To say how good a single way is, one would choose its rate on other sentences, a **validation set**, because the best of several tries looks a little too good. Each of the four trains five models, with the seeds 0 to 4.


# %%
def momentum(parameters):
    return torch.optim.SGD(parameters, momentum=0.9)


def adam_without_mean(parameters):
    return torch.optim.Adam(parameters, betas=(0.0, 0.999))


def five_seeds(make_optimizer, rates):
    right = []
    for seed in range(5):
        model = new_model(seed)
        optimizer = make_optimizer(model.parameters())
        train(model, optimizer, rates, seed)
        right.append(share_right(model, *test))
    return torch.tensor(right)  # one share for each seed


shares = {
    "SGD": five_seeds(torch.optim.SGD, [1.0] * 100),
    "SGD with momentum": five_seeds(momentum, [0.2] * 100),
    "Adam, β₁ = 0": five_seeds(adam_without_mean, [0.01] * 100),
    "Adam": five_seeds(torch.optim.Adam, [0.01] * 100),
}

# %%
rows = {}
for name, right in shares.items():
    rows[name] = {"a mark for each of five seeds": right}
    print(f"{name:17} mean {right.mean():.2f}")
plots.dots(rows, "share of words right after 100 steps", xlim=(0.4, 1))
gained = shares["Adam"] - shares["Adam, β₁ = 0"]
print("Adam minus Adam with β₁ = 0, seed by seed:", gained)

# %% [markdown]
# The mean and the division each help alone, and Adam, which has both, learns the most. On average, it is a few hundredths ahead of the division alone, but with some seeds hardly at all.
#
# Our translator has Adam only for its embedding, biases and norms. The matrices in its layers have **Muon** (Jordan et al. 2024), which keeps a running mean $m$ of the gradients, too, but treats a whole matrix at once. It writes $m$ as a product $U S V^\top$, its **singular value decomposition**. The numbers in S say how far a step along $m$ would go in each direction of the matrix. Muon leaves S out, and moves the matrix by about rate · $U V^\top$. How far does it go in two directions whose numbers in S are 4 and 0.01?

# %% tags=["nbval-check-output"]
m = torch.tensor([[4.0, 0.0], [0.0, 0.01]])  # of the gradients of a matrix
U, S, V_T = torch.linalg.svd(m)
print("in m:      ", S)
print("with Muon: ", torch.linalg.svdvals(U @ V_T))

# %% [markdown]
# Equally far. Adam makes the steps of all numbers about equally large at first, and Muon those of all directions ([more on it](../docs/translators.md#optimizers)).
#
# ## Do the first steps need a smaller rate?
#
# So far, the rate stayed the same. Most trainings change it from step to step, which is called a **schedule**. The rate of our translator rises over the first 5 % of its steps, which is called a **warm-up**, and then falls. What is the warm-up for?
#
# Vaswani et al. 2017 have a warm-up and post-norm (lesson 12). Is it the post-norm that needs the warm-up? We have trained models of six layers on each side, with large first weights and a rate of 0.003, for 600 steps. They have pre-norm or post-norm, and a warm-up of 200 steps or none. Which of these four ways fails?

# %% tags=["nbval-check-output"]
predict("13.warm_up", ...)

# %% tags=["reveals"]
rows = {}
for norm in ("pre", "post"):
    for steps in (0, 200):
        way = f"{norm}, warm-up" if steps else norm
        which = {"norm": norm, "warmup": steps, "rate": 0.003}
        right = by_seed("warm_up", "words_right", **which)  # five shares
        rows[way] = {"a mark for each of five seeds": right}
        if right.max() < 0.5:
            reveal("13.warm_up", way)
plots.dots(rows, "share of words right after 600 steps")

# %% [markdown]
# Post-norm without a warm-up fails in these 600 steps, with every seed. The other three ways learn the task. At a rate of 0.001, post-norm learns without one, too, with each of five seeds. So with these first weights, it fails at a high rate in the first steps, and a warm-up avoids this. Our translator has pre-norm: does it need its warm-up? We see below.
#
# ## What keeps a model from learning by heart?
#
# The translator has read each caption 11 times, and is better at these captions than at new ones. A model that reads the same sentences again and again may learn them by heart, and translate new ones badly, which is called **overfitting**. Two ingredients should prevent this.
#
# The first is **dropout** (Srivastava et al. 2014). During training, it sets each number after an embedding or a sub-layer to 0 with a probability p. So the model cannot rely on any single number. What becomes of ten ones with p = 0.25?

# %%
torch.manual_seed(9)
dropout = Dropout(0.25)
ones = torch.ones(10)
print("in training:", dropout(ones))
print("once more:  ", dropout(ones))
dropout.eval()  # the model is used now
print("in use:     ", dropout(ones))

# %% [markdown]
# Some of the ones become 0, and not the same ones each time. The others become 1 / 0.75 = 1.333, so that the mean stays about 1. When the model is used, dropout does nothing. In our loop, `model.train()` turns it on, and `model.eval()` off.
#
# The second ingredient is **label smoothing** (Szegedy et al. 2016). So far, the loss asked for a probability of 1 for the right word. So a model could lower its loss for ever by becoming more certain of the words that it has read. With smoothing, the right word should get 1 - ε, and then all V words, the right one too, share ε alike. With V = 5 and ε = 0.1, the right word should get 0.9 + 0.1 / 5 = 0.92, and each other word 0.02. The smoothed loss is minus the sum of the logarithms of the model's probabilities, each multiplied by what is asked.
#
# One model predicts these numbers exactly, and another one is more certain of the right word. Which of them has the lower smoothed loss?

# %% tags=["nbval-check-output"]
models = {
    "as asked": torch.tensor([0.02, 0.02, 0.92, 0.02, 0.02]),
    "more certain": torch.tensor([0.001, 0.001, 0.996, 0.001, 0.001]),
}
right_word = torch.tensor([2])
for name, p in models.items():
    logits = p.log()[None]  # 1 V: softmax makes them p again
    plain_loss = F.cross_entropy(logits, right_word)
    smoothed_loss = F.cross_entropy(logits, right_word, label_smoothing=0.1)
    print(f"{name:13} smoothed loss {smoothed_loss:.2f}, plain loss {plain_loss:.2f}")

# %% [markdown]
# The model that predicts exactly what is asked has the lower smoothed loss, 0.39. One can show that no model has a lower one. So a smoothed loss never reaches 0, and must not be compared with a plain one, such as the loss in our first picture. In the plain loss, the more certain model is better.
#
# ## What is an ingredient worth?
#
# Does dropout make translations better? To find out, one trains with dropout and without, and changes nothing else. This is called an **ablation**.
#
# The course has done it with models of two layers on each side. They learned from 20,000 pairs of a small world, and read each pair 4 times. Are their translations of new sentences better with dropout or without?


# %% tags=["nbval-check-output"]
def world(changed, pairs):  # BLEU (lesson 07), one number for each seed
    return by_seed("ablations", "bleu", data="world", changed=changed, pairs=pairs)


with_dropout = world("nothing", 20_000)
without_dropout = world("no dropout", 20_000)
rows = {
    "with dropout": with_dropout,
    "without dropout": without_dropout,
    "gained without": without_dropout - with_dropout,
}
table(rows, ["seed 0", "seed 1", "seed 2", "seed 3", "seed 4"], corner="BLEU", digits=2)

# %% [markdown]
# These models are better without dropout, by 3 to 7 BLEU, with every seed. The first two rows alone hardly show this, because the seeds differ more than the rows. The last row has the **paired differences**: we subtract two runs with the same seed. They begin with the same weights, read the same batches, and differ in nothing but the dropout.
#
# All five differences have the same sign. Could that be chance? If dropout did nothing, each sign would be like the toss of a coin. With only three seeds, all signs would then be the same one time in 4. With five seeds, this happens one time in 16. That alone proves little, but the differences are also large, and none is near 0.
#
# Now the models learn from only 1,500 pairs for as many steps, so they read each pair 53 times. What does dropout do then?

# %% tags=["nbval-check-output"]
predict("13.dropout", ...)

# %% tags=["reveals"]
gained = world("nothing", 1500) - world("no dropout", 1500)
print("BLEU gained by dropout on new sentences, seed by seed:")
print(gained)
reveal("13.dropout", "it helps" if gained.min() > 0 else "the seeds disagree")
table(figures.by_heart(), ["read", "new"], corner="mean BLEU, sentences", digits=1)

# %% [markdown]
# With 1,500 pairs, dropout helps with every seed. The table shows why, with three of the seeds trained once more. What they have read, the models translate nearly perfectly, with dropout and without: they know it by heart. But without dropout, new sentences are far worse, and with it, this gap is about half as large.
#
# So the same ingredient can harm or help. An ablation shows what an ingredient is worth in its own setting, and no more.
#
# What is true of the course's translator? It was trained again with one thing changed, each time with five seeds:
#
# | row | the translator has | changed to |
# | --- | --- | --- |
# | no dropout | p = 0.1 | p = 0 |
# | Adam in place of Muon | Muon | Adam |
# | readout not tied | the embedding is also the readout (lesson 12) | a matrix of its own |
# | no label smoothing | ε = 0.1 | ε = 0 |
# | no warm-up | a rise over 5 % of the steps, then a fall | only the fall |
# | batches at random | sentences of similar length in a batch | sentences of any length |
#
# Adam had the better of two rates. The rest of the recipe was chosen with Muon, which may favour Muon. BLEU is the mean of the three test sets. If a change costs BLEU, then what was changed helps. Which of the six help?

# %%
rows = figures.recipe_differences()
plots.dots(rows, "BLEU minus that of the whole recipe, same seed", xlim=(-4, 1.5))

# %% [markdown]
# Four of the six help the translator: dropout, Muon, the tied readout and label smoothing. Without one of them it loses about one to three BLEU, with every seed. Each of these losses is larger than any difference in the last two rows, where the seeds disagree. So it does not seem to need its warm-up. Batches of similar length do not change its BLEU clearly, either, but they have less padding.
#
# ## What does the translator know?
#
# It is better at captions that it has read than at new ones: what is hard for it in new ones? Perhaps it is rare words. We sort the 1,000 captions of `test_2017_flickr`, a test set, by their rarest word. How does the BLEU change with the number of captions *read in training* that have this word?

# %% tags=["nbval-check-output"]
columns = ["captions in the test set", "BLEU", "words in a caption"]
table(figures.BY_RAREST_WORD, columns, corner="rarest word is in", digits=1)

# %% [markdown]
# The more captions have the rarest word, the higher the BLEU. It is 44.7 if the rarest word is in 100 captions or more, and 21.0 if it is in none. Captions with rare words are also longer, so rare words may not be the whole reason.
#
# Now we write sentences of our own, which are not among its captions. Which translations will be right?

# %%
texts = [
    "The man who wears a red hat is sleeping .",
    "Seven elephants are reading a newspaper .",
    "Is the dog running ?",
    "A dog is not running on the beach .",
]
translations = translate(translator, subwords, texts)
for text, german in zip(texts, translations, strict=True):
    print(text, "\n   ", german)
for word in ("elephants", "elephant", "?", "not"):
    ids = subwords.encode([word])[0]
    pieces = subwords.tokens(ids)
    print(f"captions with {word!r}: {figures.captions_with(word)}, read as {pieces}")

# %% [markdown]
# The first two translations are right. In the first, "trägt" (wears) stands at the end of its clause, as it must in German. In the second, "elephants" is translated, although only five captions contain this word. But 15 contain "elephant", whose first pieces are the same.
#
# The last two are wrong: the question becomes a statement, *The dog runs*, and "not" is lost. Is this chance, or does the translator know German clauses better than "not"? We write 20 sentences of each kind. How many clauses end with "trägt", and how many sentences with "not" become negative?

# %%
people = ["A dog", "The man", "A woman", "A boy", "The girl"]
things = ["a hat", "glasses", "a red shirt", "a helmet"]
actions = ["running", "playing guitar", "wearing a hat", "sitting on a bench"]
clause_texts = []
not_texts = []
for person in people:
    for thing in things:
        clause_texts.append(f"{person} who wears {thing} is sleeping .")
    for action in actions:
        not_texts.append(f"{person} is not {action} .")

clauses = translate(translator, subwords, clause_texts)
verb_last = [text for text in clauses if "trägt, schläft" in text]
rest = [text for text in clauses if text not in verb_last]
print(f"trägt at the end: {len(verb_last)} of {len(clauses)}, the others: {rest}")
not_german = translate(translator, subwords, not_texts)
negative = figures.negative(not_german)  # those with "nicht", "kein" or "ohne"
print("negative in German:", len(negative), "of", len(not_german))
print(translate(translator, subwords, ["The man who plays guitar is sleeping ."]))

# %% [markdown]
# In 16 clauses, "trägt" stands at the end, as it must. The other four avoid the clause with *mit Brille* (with glasses). With "plays" it fails: *Der Mann spielt Gitarre* says that the man plays guitar, and not that he is asleep. And none of the 20 sentences with "not" becomes negative.
#
# Is "not" too rare? It stands in 29 of the 29,000 captions, and people made 23 of these negative in German. 17 other words, such as "wetsuit" and "evening", stand in 29 captions, too. For each of these we have written two new sentences. In how many of the 34 is the word translated? We look for German stems of each.

# %%
print("in 29 captions:", ", ".join(figures.AS_RARE_AS_NOT))
told = 0
for word in figures.AS_RARE_AS_NOT:
    rare_texts = figures.sentences_with(word)
    for german in translate(translator, subwords, rare_texts):
        if figures.tells(word, german):
            told = told + 1
        else:
            print(f"without {word!r}: {german}")
print("words that are as rare, translated:", told, "of 34")
by_people, ours = figures.NEGATIVE_OF_29  # counted beforehand
print(f"captions with 'not', negative by people: {by_people}, by translator: {ours}")

# %% [markdown]
# It translates nearly all of the other words, in sentences that it has not read. But of the 29 captions with "not", it makes only 4 negative, although it has read each of them 11 times. So rarity alone is not the reason, and we have not found the rest.
#
# **Your turn**: let a second translator, which has read the captions 51 times, translate `not_texts`. You load it with `load_pretrained("transformer-gpu-en-de")`. Does it know "not"?
#
# <details><summary>Answer</summary>
#
# The second translator is better on all test sets, and makes none of the 20 sentences negative.
#
# </details>
#
# ## So: how is it trained, and what does it know?
#
# It is trained by a short loop. Each step draws a batch, computes the loss and its gradient, and moves the weights. What else helps has to be measured. The translator read its captions 11 times, with Muon, dropout, label smoothing and a tied readout. Each of these four was worth about one to three BLEU. About its warm-up the seeds disagree, and dropout harmed small models that read many pairs four times.
#
# The translator knows best what its captions have shown often, as whole words or in pieces. It has learned where "trägt" stands in a German clause, but it has not learned every clause, nor "not". Rarity alone does not explain this: in new sentences, it translates nearly all of the other words that are as rare.
#
# ## Questions
#
# Run a cell to see its question, then replace the dots with a letter in quotes or a number.

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
# - A training step draws a batch, computes the loss and its gradient, clips the gradient, and moves the weights by a rate.
# - Adam divides the mean gradient of each weight by the root of its mean square, so the first step moves every weight by the rate, unless its gradient is 0.
# - What an ingredient is worth is measured by paired differences of runs with the same seed. By chance five signs agree one time in 16, three one time in 4.
# - The translator translates new captions, and is worse at rare words. It put the verb at the end in 16 of our 20 clauses, and negated none of our 20 sentences with "not".
#
# **More**: [training on GPUs](../docs/translators.md#gpus-and-several-processes), and [what the paper's run took](../docs/measurements.md#what-the-papers-run-took)
#
# **Exercises**: [open them](../exercises/13_training_exercises.ipynb)
#
# **Next**: attention was not invented for sentences alone. How does a network look at a picture in glimpses? [Where should it look next?](14_glimpses.ipynb)
