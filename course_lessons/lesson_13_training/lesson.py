# %% [markdown]
# The course's translation model puts "Two young men are playing guitar in front of a red house" into correct German. But tell it that a dog is *not* running on the beach, and in German, the dog runs. Both come out of the same eight minutes of training, before which the model knew nothing. What happened in these minutes, and what had the model learned by the end of them, if not this one word?

# %%
import copy
import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.optim.lr_scheduler import LinearLR
from torch.utils.data import DataLoader

from course_lessons.lesson_13_training import figures
from course_utils import check, predict, reveal
from course_utils.base.progress_bar import with_bar
from course_utils.data.loading import load_captions
from course_utils.data.measured import by_seed
from course_utils.data.small_world import small_world
from course_utils.data.subwords import BOS, EOS, PAD
from course_utils.figures import plots
from course_utils.figures.tables import table
from course_utils.models.custom_transformer import share_right  # lesson 12
from course_utils.models.serialization import load_pretrained
from course_utils.models.transformer import Transformer  # lesson 12's, but faster
from course_utils.translation.translate import translate  # beam search: lesson 07

torch.set_printoptions(precision=3, sci_mode=False, linewidth=110)
torch.set_num_threads(1)  # the tensors are small: more threads would wait

# %% [markdown]
# ## What does training change?
#
# Training changes nothing but the weights. The course's translation model was trained on 29,000 captions, read and written in **subwords**, which are whole words or pieces of rare ones. We compare it with a model of the same size whose weights are random.

# %%
translator, subwords = load_pretrained("transformer-en-de")
untrained, _ = load_pretrained("transformer-en-de")
torch.manual_seed(0)
for weight in untrained.parameters():  # random numbers again
    torch.nn.init.normal_(weight, std=0.1)

captions = [
    "two young men are playing guitar in front of a red house .",
    "A dog is not running on the beach .",
]
for name, model in {"untrained": untrained, "trained": translator}.items():
    for german in translate(model, subwords, captions):
        print(f"{name:9}", german)

# %% [markdown]
# The model with random weights repeats pieces of words. The trained model translates the first caption correctly; the second becomes *A dog runs on the beach*, without the "not".
#
# Training took 3,014 steps, in which the model saw every caption 11 times, in 11 **epochs**. Trained again, the model reached [a BLEU of 36](../docs/measurements.md#what-each-part-of-the-training-is-worth) on captions that it had never seen and 41 on those that it had read 11 times. It has not learned them by heart, then. How did it learn? We first take training apart, using small models that learn in seconds, and then come back to the "not".
#
# ## What does one step do?
#
# In each step, the model reads a **batch** of pairs and predicts every word from the correct words before it, and an **optimizer** updates the weights to reduce the loss. All four lines below were in lesson 05's training loop. Which one computes the gradient, and which one changes the weights?


# %%
def take_step(model, optimizer, loss):
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


# %% [markdown]
# `backward` computes the gradient, which tells us how the loss changes with each weight. `step` changes every weight by an amount controlled by the **learning rate**, and `zero_grad` clears the previous step's gradient. The line in between performs **clipping**, so that one unusual batch cannot move the weights far. If the norm of all gradients together exceeds 1, they are scaled down: [3, 4], whose norm is 5, is divided by 5, whereas [0.3, 0.4] stays as it is.
#
# To watch such steps, we need a task that a model can learn in seconds. We use the invented language from lesson 12, with sentences of up to six words, and a Transformer with one encoder layer and one decoder layer. The training set has 20,000 pairs, read in batches of 64. Another 284 pairs are split evenly between a test set and the **validation set**, which we use to choose learning rates and models.

# %%
pairs = small_world(20_000, seed=1, order="verb-last", longest=6)
sources, targets = pairs.ids()  # a list of word ids for each sentence
others = small_world(600, seed=2, order="verb-last", longest=6)
other_sources, other_targets = others.ids()
read = set(pairs.sources)  # the sentences that the model will read
unread = [i for i, text in enumerate(others.sources) if text not in read]


def make_batch(sources, targets):  # as in lesson 12
    source = [torch.tensor([*ids, EOS]) for ids in sources]
    given = [torch.tensor([BOS, *ids]) for ids in targets]
    wanted = [torch.tensor([*ids, EOS]) for ids in targets]
    sides = (source, given, wanted)
    return [pad_sequence(rows, batch_first=True) for rows in sides]  # B S, B T, B T


def batch_of(sources, targets, rows):
    return make_batch([sources[i] for i in rows], [targets[i] for i in rows])


validation = batch_of(other_sources, other_targets, unread[:142])
test = batch_of(other_sources, other_targets, unread[142:])


def draw_batch(draw, number=20_000):  # from the first so many pairs
    rows = torch.randint(number, (64,), generator=draw).tolist()
    return batch_of(sources, targets, rows)


def loss_on(model, batch, smoothing=0.0):  # smoothing: see below
    source, given, wanted = batch  # B S, B T, B T
    logits = model(source, given).flatten(0, 1)  # B·T V
    words = wanted.flatten()  # B·T
    return F.cross_entropy(logits, words, ignore_index=PAD, label_smoothing=smoothing)


# %% [markdown]
# The simplest optimizer, stochastic gradient descent (**SGD**), subtracts from each weight θ the learning rate times its gradient $g$:
#
# $$\theta \leftarrow \theta - \text{rate} \cdot g$$
#
# We train a model with SGD for 100 steps and let it predict every word of the test sentences from the correct words before it. SGD uses the same learning rate for all weights, but are their gradients the same size? The table shows how large the gradients of four matrices are before training (their root mean square), with the last matrix, the readout, set to 1.


# %%
def new_model(seed, dropout=0.0):
    torch.manual_seed(seed)
    sizes = {"width": 32, "hidden": 64, "encoder_layers": 1, "decoder_layers": 1}
    return Transformer(len(pairs.words), dropout=dropout, **sizes)


def hundred_steps(make_optimizer, rate, seed):
    model = new_model(seed)
    optimizer = make_optimizer(model.parameters(), lr=rate)
    draw = torch.Generator().manual_seed(seed)
    for _ in range(100):
        loss = loss_on(model, draw_batch(draw))
        take_step(model, optimizer, loss)
    return model


right = share_right(hundred_steps(torch.optim.SGD, rate=1.0, seed=0), *test)
print(f"share of words right: {right:.2f}")

# %%
model = new_model(seed=0)
loss_on(model, test).backward()
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
# The model predicts about 70% of the words correctly. But the gradients differ widely: the encoder's query matrix has a gradient less than a hundredth the size of the readout's, and SGD's first step changes it correspondingly less. Would the model learn more if every weight changed by the same amount?
#
# ## How much should each weight move?
#
# Transformers are usually trained with **Adam** (Kingma and Ba, 2015) or a variant of it. Adam divides each weight's gradient by its typical magnitude. For each weight, it maintains two running means, $m$ of its gradients $g$ and $v$ of their squares, in which earlier gradients fade:
#
# $$m \leftarrow \beta_1 m + (1 - \beta_1)\, g \qquad v \leftarrow \beta_2 v + (1 - \beta_2)\, g^2$$
#
# Typical values are β₁ = 0.9 and β₂ = 0.999. Both means start at 0, so they are too small at first. If every gradient is $g$, then $m$ is 0.1 $g$ after one step, 0.19 $g$ after two and $(1 - \beta_1^t)\, g$ after $t$. Adam therefore divides $m$ by $1 - \beta_1^t$ and $v$ by $1 - \beta_2^t$, and ε only prevents division by zero:
#
# $$\theta \leftarrow \theta - \text{rate} \cdot \frac{m / (1 - \beta_1^t)}{\sqrt{v / (1 - \beta_2^t)} + \varepsilon}$$
#
# How differently do the two treat a large and a small gradient? With gradients of 4 and 0.01, SGD at a learning rate of 0.1 moves one weight by 0.4 and the other by 0.001. What will Adam do? The code adds a third weight, whose gradient changes sign.

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
# Adam's first step moves the second weight by 0.1, the learning rate itself. In that step, $m / (1 - \beta_1)$ is $g$ and the square root of $v / (1 - \beta_2)$ is $|g|$. Their quotient is 1 or -1, so every weight moves by the learning rate, unless its gradient is 0. The third weight shows what the mean $m$ is for. Because its gradient changes sign in the second step, $m$ becomes small compared with the square root of $v$, and the weight moves by only 0.005.
#
# Does a model learn more in 100 steps with Adam than with SGD, and if so, because of the rescaling or because of the mean $m$? We compare neither, each alone, and both. SGD with **momentum** uses only the mean: it follows a running sum of gradients, which is ten times $m$. Adam with β₁ = 0 only rescales, because its $m$ is the latest gradient. We have trained five models with each optimizer, at the best of three learning rates for the validation set, and the cell trains one more.


# %%
def momentum(parameters, lr):
    return torch.optim.SGD(parameters, lr, momentum=0.9)


def adam_without_mean(parameters, lr):
    return torch.optim.Adam(parameters, lr, betas=(0.0, 0.999))


optimizers = {
    "SGD": (torch.optim.SGD, 1.0),
    "SGD with momentum": (momentum, 0.2),
    "Adam, β₁ = 0": (adam_without_mean, 0.01),
    "Adam": (torch.optim.Adam, 0.01),
}
rows = {}
for name, chosen in optimizers.items():
    make_optimizer, rate = chosen
    five = by_seed("optimizers", "test", optimizer=name, rate=rate)  # stored
    here = share_right(hundred_steps(make_optimizer, rate, seed=0), *test)
    rows[name] = {"seeds 0 to 4, stored": five, "seed 0, trained here": here}
    print(f"{name:17} mean {five.mean():.2f}, trained here {here:.2f}")
plots.dots(rows, "share of words right after 100 steps", xlim=(0.4, 1))

# %% [markdown]
# The mean and the rescaling each help on their own, and Adam, which combines them, does best. From here on, we use it for all our models.
#
# ## Do the first steps need a smaller learning rate?
#
# Most training runs follow a **schedule**, which changes the learning rate from step to step. Ours multiplies it by two factors: one decays from 1 to 1/20, as in lesson 05, and the other rises to 1 during the first steps, the **warm-up**.


# %%
def make_schedules(optimizer, steps, warmup):
    schedules = [LinearLR(optimizer, 1.0, 0.05, steps)]
    if warmup:
        schedules.append(LinearLR(optimizer, 1 / warmup, 1.0, warmup))
    return schedules


# %% [markdown]
# What is the warm-up for? In the early steps, Adam's $v$ is based on only a few gradients and may be far off (Liu et al., 2020). And with post-norm (lesson 12), the gradients of the last layers are large at first (Xiong et al., 2020). Is it post-norm that needs the warm-up? We have trained models with six layers on each side and large initial weights, using pre-norm or post-norm, with or without a warm-up of 200 steps.

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
plots.dots(rows, "share of words right after 600 steps, highest rate 0.003")

# %% [markdown]
# Without a warm-up, post-norm fails to learn the task within 600 steps, for each of the five seeds, while the other three combinations succeed. At a learning rate of 0.001, post-norm learns even without a warm-up, for all five seeds: what it can't bear is a high learning rate in the first steps.
#
# ## What helps a model translate new sentences?
#
# A model that sees the same sentences again and again, as the translation model did, may memorise them and translate new ones badly. This is called **overfitting**, and three techniques are meant to prevent it.
#
# The first is **dropout** (Srivastava et al., 2014). During training, it sets each entry in the output of an embedding or sub-layer to 0 with probability p, so the model cannot rely on any single entry. With p = 0.25, what does it do to a vector of ten ones?

# %%
torch.manual_seed(10)
dropout = nn.Dropout(0.25)
ones = torch.ones(10)
print("in training:", dropout(ones))
print("once more:  ", dropout(ones))
dropout.eval()  # the model is used now
print("in use:     ", dropout(ones))

# %% [markdown]
# Some of the ones become 0, a different selection each time, while the others become 1 / 0.75 = 1.333, which keeps the mean at about 1. When the trained model is used, dropout does nothing: `model.train()` turns it on, and `model.eval()` turns it off.
#
# The second is **label smoothing** (Szegedy et al., 2016). As long as the target probability of the correct word is 1, a model can keep lowering its loss by becoming more and more certain of the words it has seen. With smoothing, the correct word keeps 1 - ε of this probability, and the remaining ε is shared equally among all V words, the correct one included. With V = 5 and ε = 0.1, the target is 0.9 + 0.1 / 5 = 0.92 for the correct word and 0.02 for each other word. The smoothed loss is minus the sum of the model's log probabilities, each multiplied by its target. Guess which model has the lower smoothed loss: one that predicts exactly these targets, or one that is more certain of the correct word.

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
# The model that predicts exactly the targets has the lower smoothed loss, 0.39, and no model can do better. A smoothed loss therefore never reaches 0 and must not be compared with a plain loss.
#
# The third is **weight decay**. **AdamW** (Loshchilov & Hutter, 2019), the usual optimizer of large models, is Adam with one addition: each step also subtracts rate · λ · θ from every weight θ. A weight then stays large only if the loss keeps demanding it.
#
# ## The whole loop
#
# Now we add the new parts to the loop of lesson 05. To detect overfitting, the loop computes a **validation loss** every so many steps, with dropout off, and it keeps a copy of the weights with the lowest one. Why not use the test set for this?


# %%
class BestWeights:
    def __init__(self, model, validation_loss, every=50):
        self.model = model
        self.validation_loss = validation_loss  # a function without arguments
        self.every = every  # steps from one look to the next
        self.losses = []
        self.weights = copy.deepcopy(model.state_dict())

    @torch.no_grad()
    def look(self):
        self.model.eval()  # dropout off
        loss = self.validation_loss().item()
        self.model.train()  # and on again
        if loss < min(self.losses, default=math.inf):
            self.weights = copy.deepcopy(self.model.state_dict())
        self.losses.append(loss)


# %%
def train_model(model, batch_loss, seed, steps, rate, warmup=0, decay=0.0, best=None):
    draw = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=decay)
    schedules = make_schedules(optimizer, steps, warmup)
    losses = []
    model.train()  # dropout on
    for step in with_bar(range(1, steps + 1)):  # shows a bar if it takes long
        loss = batch_loss(draw)
        take_step(model, optimizer, loss)
        losses.append(loss.item())
        for schedule in schedules:
            schedule.step()
        if best and step % best.every == 0:
            best.look()
    if best and best.losses:
        model.load_state_dict(best.weights)
    model.eval()  # dropout off
    return losses


# %% [markdown]
# Choosing by the test loss would spoil the test, because the lowest of several losses looks a little too good.
#
# From here on, this is the course's training loop. It now trains two models on only 300 pairs, one with neither dropout nor weight decay, and the other with both. How will the two losses of each model change?


# %%
def train_on_few(dropout, decay, seed=0):
    model = new_model(seed, dropout)

    def batch_loss(draw):
        return loss_on(model, draw_batch(draw, number=300))

    best = BestWeights(model, lambda: loss_on(model, validation), every=25)
    losses = train_model(model, batch_loss, seed, 300, 0.01, 20, decay, best)
    return model, losses, best.losses


def words_right(trained):
    model, _, validated = trained
    step = 25 * (validated.index(min(validated)) + 1)
    return f"lowest at step {step}, words right {share_right(model, *test):.2f}"


plain = train_on_few(dropout=0.0, decay=0.0)
careful = train_on_few(dropout=0.1, decay=0.1)
figures.draw_losses(plain, careful)
print("neither:", words_right(plain))
print("both:   ", words_right(careful))

# %% [markdown]
# Without dropout and weight decay, the loss on the 300 pairs falls to almost 0. But the validation loss soon stops falling, far above 0: the model overfits. With both, the validation loss falls lower, and the model gets more of the test words right. [Four other seeds](../docs/measurements.md#what-each-part-of-the-training-is-worth) behaved the same way.
#
# ## The same loop on real captions
#
# Can the same loop learn a real language? We train a small Transformer on all 29,000 captions, with everything above and with subwords where lesson 12's model wrote UNK. They come from byte-pair encoding (Sennrich et al., 2016), which starts from bytes and repeatedly merges the most frequent pair of neighbours. Merges follow frequency, not meaning: "softball" becomes *so* and *ftball*.

# %% tags=["nbval-check-output"]
from tokenizers import ByteLevelBPETokenizer

training_captions = load_captions("train")  # sources and targets: lists of strings
tokenizer = ByteLevelBPETokenizer(add_prefix_space=True)
tokenizer.train_from_iterator(
    training_captions.sources + training_captions.targets,
    vocab_size=4000,
    special_tokens=["<pad>", "<bos>", "<eos>", "<unk>"],  # their ids are 0 to 3
    show_progress=False,
)


def encode(texts):  # a list of subword ids for each text
    return [row.ids for row in tokenizer.encode_batch(texts)]


print(tokenizer.encode("A man is playing softball.").tokens)  # Ġ is a space
device = "cuda" if torch.cuda.is_available() else "cpu"


def collate(pairs):  # B pairs of lists of subword ids
    english, german = zip(*pairs, strict=True)
    return [part.to(device) for part in make_batch(english, german)]  # B S, B T, B T


def loader_of(split):
    captions = load_captions(split)
    pairs = list(zip(encode(captions.sources), encode(captions.targets), strict=True))
    return DataLoader(pairs, batch_size=64, shuffle=True, collate_fn=collate)


def endless(loader):  # epoch after epoch
    while True:
        yield from loader


# %% [markdown]
# The validation captions come in several batches, which differ in their number of words. Weighting each batch's loss by this number gives the mean over all words.


# %%
def mean_loss(model, batches):  # over all words, however they are batched
    total = 0.0
    number = 0
    for batch in batches:
        words = (batch[2] != PAD).sum()
        total = total + words * loss_on(model, batch)
        number = number + words
    return total / number


def train_on_captions(model, steps, every):
    training = endless(loader_of("train"))
    new_captions = loader_of("val")

    def batch_loss(draw):  # the loader shuffles by itself
        return loss_on(model, next(training), smoothing=0.1)

    best = BestWeights(model, lambda: mean_loss(model, new_captions), every)
    train_model(model, batch_loss, 0, steps, 0.01, 20, 0.1, best)
    return best.losses


@torch.no_grad()
def translate_greedily(model, texts, longest=40):
    source, given, _ = collate([(ids, []) for ids in encode(texts)])  # B S, B 1: BOS
    # each step reads both sides anew: a cache would be faster, but more code
    while given.shape[1] <= longest and not (given == EOS).any(1).all():
        next_id = model(source, given)[:, -1].argmax(-1, keepdim=True)  # B 1
        given = torch.cat([given, next_id], dim=1)  # B T+1
    rows = [row[: [*row, EOS].index(EOS)] for row in given.tolist()]  # up to EOS
    return [text.strip() for text in tokenizer.decode_batch(rows)]


# %% [markdown]
# So that you need not wait, the loop runs for only 60 steps, an eighth of an epoch. What will the model write?


# %%
torch.manual_seed(0)
small = Transformer(4000, 64, 4, 128, 1, 1, dropout=0.1).to(device)
# with lesson 12's class: Transformer(4000, 64, 4, 128, 1, longest=100, dropout=0.1)
validated = train_on_captions(small, steps=60, every=30)
print("validation losses:", *(f"{loss:.2f}" for loss in validated))
texts = [
    "A man is playing guitar.",
    "A woman is reading a book on a bench.",
    "A dog is not running on the beach.",
]
for text in texts:
    print(text, "→", *translate_greedily(small, [text]))
figures.draw_own_loop()

# %% [markdown]
# After 60 steps, the model only knows which German words are frequent: whatever the caption, it begins with the same words and then repeats itself. It does not yet use the English. Trained for six epochs, nine minutes on one core, the same model reached a [BLEU of 27.7](../docs/measurements.md#what-each-part-of-the-training-is-worth) on the test captions. The course's translation model, which has more than five times as many parameters, reaches 36.7 there after 11 epochs. The figure compares the two on the validation set.
#
# ## What is an ingredient worth?
#
# Does dropout improve translations? To find out, we train with and without it and change nothing else, which is called an **ablation**. We have done this for models with two layers on each side, trained for 4 epochs on 20,000 pairs of an invented language. Guess whether they translate new sentences better with dropout or without.


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
# For every seed, the model is better without dropout, by 3 to 7 BLEU. The first two rows hardly show this, because the differences between seeds are larger. The last row has the **paired differences** between two runs with the same seed, which start with the same weights, see the same batches and differ only in their dropout.
#
# Could it be chance that all five differences have the same sign? If dropout had no effect, each sign would be like a coin toss. With three seeds, all signs would then agree one time in 4; with five seeds, one time in 16. The signs alone therefore prove little, but the differences are also large.
#
# Now we train on only 1,500 pairs for the same number of steps, so the models see each pair 53 times.

# %% tags=["nbval-check-output"]
predict("13.dropout", ...)

# %% tags=["reveals"]
gained = world("nothing", 1500) - world("no dropout", 1500)
print("BLEU gained by dropout on new sentences, seed by seed:")
print(gained)
reveal("13.dropout", "it helps" if gained.min() > 0 else "the seeds disagree")

# %% [markdown]
# With 1,500 pairs, dropout helps for every seed. The models know these pairs [by heart](../docs/measurements.md#what-each-part-of-the-training-is-worth), with and without dropout, but without it they translate new sentences worse. The same ingredient can thus help or hurt: an ablation only shows what an ingredient is worth in one setting.
#
# Which ingredients help the course's translation model, whose loop differs from ours mainly in [its optimizer](../docs/translators.md#optimizers)? We have retrained it with five seeds for each of five changes. Four leave out an ingredient: dropout, the tied readout, label smoothing or the warm-up. The fifth fills batches at random instead of with sentences of similar length. Guess which changes cost BLEU.

# %%
rows = figures.recipe_differences()
plots.dots(rows, "BLEU minus that of the whole recipe, same seed", xlim=(-4, 1.5))

# %% [markdown]
# Dropout, the tied readout and label smoothing help the translation model. Without any one of them, it loses about one to three BLEU for every seed, more than any difference in the last two rows, where the seeds disagree. The model does not seem to need its warm-up, and batches of similar length only reduce padding.
#
# ## What does the translation model know?
#
# We now know how the model was trained, and come back to the word that it lost. What else does it not know? We write four sentences that are not among its training captions. Guess which will be translated correctly.

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
# The first two translations are correct. In the first, "trägt" (wears) is at the end of its relative clause, as German requires. In the second, the model translates "elephants" although only five captions contain this word; but 15 contain "elephant", which begins with the same pieces. The question, however, becomes a statement, *The dog runs*, and "not" is lost again. Is this due to chance, or does the model know relative clauses better than "not"? We write 20 sentences with each.

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
# In 16 translations, "trägt" is at the end of its clause, as it must be. The other four avoid the clause by writing *mit Brille* (with glasses). With "plays", the model fails: *Der Mann spielt Gitarre* leaves out that the man is asleep. And none of the 20 sentences with "not" becomes negative.
#
# Is "not" too rare? It occurs in 29 of the 29,000 captions. Another 17 words, such as "wetsuit" and "evening", also occur in 29 captions, and for each we have written two new sentences. In how many of these 34 does the model translate the word? We look for its German stems.

# %%
print("in 29 captions:", ", ".join(figures.AS_RARE_AS_NOT))
missed = 0
for word in figures.AS_RARE_AS_NOT:
    for german in translate(translator, subwords, figures.sentences_with(word)):
        if not figures.tells(word, german):
            missed = missed + 1
            print(f"without {word!r}: {german}")
print("words that are as rare, translated:", 34 - missed, "of 34")
by_people, ours = figures.NEGATIVE_OF_29  # counted beforehand
print(f"captions with 'not', negative by people: {by_people}, by translator: {ours}")

# %% [markdown]
# The model translates nearly all of the other words in sentences that it has never seen, even those that contain a rarer piece than *not*, such as *softball*. But it makes only 4 of the 29 captions with "not" negative, although it has seen each of them 11 times. Rarity alone is therefore not the reason. Perhaps the piece is: *notebook* and *notice* also begin with it.
#
# **Your turn**: translate `not_texts` with a second translation model, `load_pretrained("transformer-gpu-en-de")`, which has seen the captions 51 times. Does it know "not"?
#
# <details><summary>Answer</summary>
#
# The second model is better on all test sets but makes none of the 20 sentences negative either.
#
# </details>
#
# ## How is a Transformer trained, and what has it learned?
#
# A Transformer is trained in a short loop. Each step samples a batch, computes the loss and its gradient, clips the gradient and updates the weights, usually with Adam or a variant of it. Which other ingredients help has to be measured. Dropout, label smoothing and a tied readout are each worth about one to three BLEU to the translation model, but dropout hurt small models that saw many pairs only four times.
#
# In its eight minutes, the translation model has learned where "trägt" goes in a German relative clause, and to translate most words that are as rare as "not". But it still fails on another clause and on "not" itself, for which rarity alone is not the reason.
#
# <details><summary>In practice: saving, large batches, GPUs and libraries</summary>
#
# For captions of your own, copy this page's code and, from [lesson 12](12_transformer.ipynb), `Transformer` and its layers. Our class computes the same, with one matrix for keys and values. `torch.save(model.state_dict(), path)` saves the weights, and `model.load_state_dict(torch.load(path, weights_only=True))` loads them into a model of the same size.
#
# If a batch does not fit into memory, the model reads it in parts, because each `backward` adds to the gradient. Each part's loss is a mean over its words, so we multiply it by the part's share of the batch's words. On a GPU, `torch.autocast` lets most layers compute with 16-bit numbers, such as bfloat16.
#
# ```python
# for part in zip(*[side.chunk(4) for side in batch], strict=True):
#     share = (part[2] != PAD).sum() / (batch[2] != PAD).sum()
#     with torch.autocast(device, torch.bfloat16):
#         loss = loss_on(model, part)
#     (share * loss).backward()
# ```
#
# A quarter each instead of these shares would put the gradient off by a few percent, and bfloat16 changes it by less than 1%.
#
# Many projects leave the loop to a class, such as `Trainer` in Hugging Face's `transformers`, which [reaches about the same loss](../docs/translators.md#the-loop-in-a-library) with the same batches.
#
# </details>
#
# ## Where you will meet this
#
# | here | in PyTorch | in Hugging Face's `TrainingArguments` |
# | --- | --- | --- |
# | `make_schedules` | `LinearLR`; half a cosine: `CosineAnnealingLR` | `warmup_steps`, `lr_scheduler_type` |
# | `BestWeights` | | `load_best_model_at_end` |
# | label smoothing | `label_smoothing` | `label_smoothing_factor` |
# | a batch in parts | `step` after several `backward` | `gradient_accumulation_steps` |
# | 16-bit numbers | `torch.autocast(device, torch.bfloat16)` | `bf16=True` |
#
# ## Questions
#
# Run a cell to see its question, then replace the dots with a number or a letter in quotes.

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
# - Adam divides each weight's mean gradient by the root mean square of its gradients. The first step therefore moves every weight by the learning rate, unless its gradient is 0.
# - We measure what an ingredient is worth by the paired differences between runs with the same seed. By chance, five signs agree one time in 16 and three one time in 4.
# - The translation model translates new captions and, in 32 of our 34 sentences, a word as rare as "not". It put the verb last in 16 of our 20 relative clauses and negated none of our 20 sentences with "not".
#
# **More**: [training on GPUs](../docs/translators.md#gpus-and-several-processes) and [what the paper's run took](../docs/measurements.md#what-the-papers-run-took)
#
# **Exercises**: [open them](../exercises/13_training_exercises.ipynb)
#
# **Next**: attention is not only for sentences. When a network looks at a picture in glimpses, [where should it look next?](14_glimpses.ipynb)
