# %%
import math
import re
from collections import Counter
from pathlib import Path
from tempfile import mkdtemp

import ipywidgets
import torch
import torch.nn.functional as F
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

from course_utils import check, predict, reveal
from course_utils.base.progress_bar import with_bar
from course_utils.data.generated_reviews import contrast_pairs, generate_reviews
from course_utils.data.loading import review_file
from course_utils.data.reviews import holds_negation
from course_utils.figures import diagrams, plots
from course_utils.figures.widgets import explore

torch.manual_seed(0)
torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# Attention is a weighted sum of vectors. Before we turn to the weights, we look at the plain sum, in which every word counts equally. How many film reviews can a plain sum classify correctly, and which ones is it bound to get wrong, however long we train it?
#
# ## Real reviews
#
# SST-2 contains sentences from film reviews, labelled as positive (1) or negative (0). Each line of a file contains a sentence, a tab and the label. If the download fails, the notebook says so and uses generated reviews, and your numbers will differ.


# %%
def read_reviews(split):
    sentences = []  # a list of words for each review
    labels = []
    with open(review_file(split), encoding="utf-8") as lines:
        for line in lines:
            sentence, label = line.split("\t")
            sentences.append(sentence.split(" "))
            labels.append(int(label))
    return sentences, torch.tensor(labels)


learn_sentences, learn_labels = read_reviews("train")
test_sentences, test_labels = read_reviews("test")
print(len(learn_labels), "reviews to learn from,", len(test_labels), "to test with")
for label, sentence in zip(learn_labels[:2], learn_sentences[:2], strict=True):
    print(label.item(), " ".join(sentence))

# %% [markdown]
# What steps does a simple function take that maps a sentence to the probability that it is positive?

# %%
diagrams.bag_of_words()

# %% [markdown]
# This function takes three steps: each word becomes a vector, the vectors are added up, and logistic regression turns the sum into a probability. B is the number of sentences and D the dimension of the vectors.
#
# ## A sentence as a bag of word vectors
#
# Each word is mapped to an index, and each index to a vector. A **vocabulary** assigns each word an index, starting with the most frequent. Index 0 is reserved for **padding**, which fills shorter sentences up to the length of the longest, and 1 for words outside the vocabulary. **Encoding** a sentence means writing it as a list of indices. Before you run the cell, encode the shorter of its two sentences by hand.


# %% tags=["nbval-check-output"]
def build_vocabulary(sentences, min_count=1):
    counts = Counter(word for sentence in sentences for word in sentence)
    frequent = [word for word in counts if counts[word] >= min_count]
    frequent.sort(key=lambda word: (-counts[word], word))  # ties in alphabetical order
    words = ["<pad>", "<unk>", *frequent]
    return {word: number for number, word in enumerate(words)}


def encode(sentences, vocabulary):
    longest = max(len(sentence) for sentence in sentences)
    ids = torch.zeros(len(sentences), longest, dtype=torch.long)  # B S
    for row, sentence in zip(ids, sentences, strict=True):
        numbers = [vocabulary.get(word, 1) for word in sentence]  # 1: unknown
        row[: len(sentence)] = torch.tensor(numbers)
    return ids, ids != 0  # the numbers and the mask


tiny = [["the", "movie", "was", "really", "good"], ["good", "movie"]]
numbers = build_vocabulary(tiny)
ids, mask = encode(tiny, numbers)  # B S: B sentences, S words in the longest
print(numbers)
print(ids)
print(mask)

# %% [markdown]
# The shorter sentence is padded, and the **mask** is True for words and False for padding.
#
# The simplest way to turn many vectors into one is to add them up:
#
# $$f(x_1, \dots, x_S) = \sum_{s=1}^{S} x_s$$
#
# We make up seven vectors, one for each vocabulary entry, and add up the word vectors of each sentence. Work out both sums on paper.

# %%
vectors = torch.tensor([
    [9.0, 9.0],  # padding
    [0.0, 0.0],  # unknown words
    [2.0, 1.0],  # good
    [0.0, 1.0],  # movie
    [1.0, 0.0],  # really
    [0.0, -1.0],  # the
    [1.0, 1.0],  # was
])  # V D: a row for each number  # fmt: skip
by_loop = torch.zeros(2, 2)  # B D
for b, sentence in enumerate(ids):
    for number in sentence:
        if number != 0:
            by_loop[b] += vectors[number]
by_loop

# %% [markdown]
# In the second sentence, "good" $(2, 1)$ plus "movie" $(0, 1)$ gives $(2, 2)$; the padding contributes nothing.
#
# There are two other ways to compute these sums. The first uses the mask: `vectors[ids]` looks up the row of `vectors` for each index. `mask[:, :, None]` adds a trailing axis to the mask, so that multiplying by it sets the padding vectors to zero. The second counts how often each word occurs and multiplies these counts by `vectors`. PyTorch also has a module for such sums, `nn.EmbeddingBag`. Check that all four results agree.

# %% tags=["nbval-check-output"]
fetched = vectors[ids]  # B S D
keep = mask[:, :, None]  # B S 1
by_mask = (fetched * keep).sum(1)  # B D
counts = torch.zeros(2, len(vectors))  # B V
for number in range(1, len(vectors)):  # not padding
    counts[:, number] = (ids == number).sum(1)
by_counts = counts @ vectors  # B D
print(torch.equal(by_loop, by_mask), torch.equal(by_loop, by_counts))
bag = nn.EmbeddingBag.from_pretrained(vectors, mode="sum", padding_idx=0)
print("PyTorch's own module gives the same:", torch.equal(by_loop, bag(ids)))

# %% [markdown]
# The sums are equal, and the counts explain the name **bag of words**: what matters is how often a word occurs, not where.
#
# ## From a sum to a probability
#
# Logistic regression has two learned parameters, a weight vector $w$ and a bias $b$. It first turns the sum into a score and then the score into a probability:
#
# $$p = \sigma\Big(w^\top \sum_s x_s + b\Big), \qquad \sigma(z) = \frac{1}{1 + e^{-z}}$$

# %% tags=["nbval-check-output"]
w = torch.tensor([1.0, -1.0])  # D
b = torch.tensor(-0.5)
score = by_mask @ w + b  # B
print("scores       ", score)
print("probabilities", torch.sigmoid(score))

# %% [markdown]
# Check the second sentence on paper: $1 \cdot 2 - 1 \cdot 2 - 0.5 = -0.5$, and $\sigma(-0.5) = 0.378$.
#
# ## How does the error reach the words?
#
# Training minimises the **cross-entropy** $L$, the negative logarithm of the probability that the model assigns to the true label $y$. We trace its gradient back to the score $z$:
#
# $$L = -y \log p - (1 - y) \log(1 - p)$$
#
# $$\frac{\partial L}{\partial p} = -\frac{y}{p} + \frac{1 - y}{1 - p} = \frac{p - y}{p(1 - p)} \qquad \frac{\partial p}{\partial z} = p(1 - p)$$
#
# The product of these two derivatives is $\partial L / \partial z = p - y$. This difference between the probability and the label is called the **error**. From the score, the error flows back to every word.

# %% tags=["nbval-check-output"]
predict("01.largest_gradient", ...)

# %% tags=["nbval-check-output", "reveals"]
labels = torch.tensor([1.0, 0.0])
x = vectors[ids].clone().requires_grad_()  # B S D
sums = (x * keep).sum(1)  # B D
z = sums @ w + b  # B
loss = F.binary_cross_entropy_with_logits(z, labels)  # logits: scores
loss.backward()
error = (torch.sigmoid(score) - labels) / len(labels)  # B
print("The gradient of each word of the first sentence, and the error times w:")
print(x.grad[0])
print(error[0] * w)
reveal("01.largest_gradient", "all the same")

# %% [markdown]
# All words in a sentence get the same gradient, the error times $w$: for the first sentence, $(0.818 - 1)\,w$, divided by 2 because the loss is the mean over two sentences. A word that occurs twice in a sentence gets this gradient twice. For a positive review, $p - y$ is negative, so a step *against* the gradient moves that review's word vectors in the direction of $w$. For a negative review, they move in the opposite direction.
#
# ## Training
#
# In PyTorch, we write our model as a class. Its `nn.Embedding` is the table of word vectors, which is learned too, and its `nn.Linear` contains $w$ and $b$. Check that the class reproduces our scores.


# %% tags=["nbval-check-output"]
class SumOfWords(nn.Module):
    def __init__(self, vocabulary_size, width=16):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, width)  # V D
        self.output = nn.Linear(width, 1)
        nn.init.normal_(self.embedding.weight, std=0.1)
        nn.init.normal_(self.output.weight, std=0.3)

    def forward(self, ids, mask):  # B S, B S
        words = self.embedding(ids) * mask[:, :, None]  # B S D
        return self.output(words.sum(1)).squeeze(-1)  # B: the scores


ours = SumOfWords(len(vectors), width=2)
with torch.no_grad():  # copying numbers is not a training step
    ours.embedding.weight.copy_(vectors)
    ours.output.weight.copy_(w[None])
    ours.output.bias.copy_(b)
    print(torch.equal(ours(ids, mask), score))

# %% [markdown]
# Training consists of six passes through the reviews, called **epochs**; in each, the reviews are shuffled and split into batches of 128. Two settings of the optimizer, AdamW, matter here: the **learning rate** scales the steps and falls to 0 by the end, and the **weight decay** pulls all weights towards 0. How does the loss change from epoch to epoch, and which of five weight decays is best for reviews not used for training?


# %%
def train(
    model, ids, mask, labels, seed, epochs=6, batch=128, rate=0.01, weight_decay=3.0
):  # fmt: skip
    settings = {"lr": rate, "weight_decay": weight_decay, "fused": True}
    optimizer = torch.optim.AdamW(model.parameters(), **settings)
    steps = epochs * math.ceil(len(ids) / batch)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: 1 - s / steps)
    shuffle = torch.Generator().manual_seed(seed)
    losses = []  # the mean loss of each epoch
    for _ in with_bar(range(epochs)):
        total = 0.0
        for rows in torch.randperm(len(ids), generator=shuffle).split(batch):
            longest = mask[rows].sum(1).max()  # only padding follows
            scores = model(ids[rows, :longest], mask[rows, :longest])  # B
            loss = F.binary_cross_entropy_with_logits(scores, labels[rows].float())
            optimizer.zero_grad()  # forgets the gradients of the previous step
            loss.backward()  # computes the gradient of each weight
            optimizer.step()  # changes each weight a little
            schedule.step()  # lowers the learning rate
            total += loss.item() * len(rows)
        losses.append(total / len(ids))
    return losses


# %%
@torch.no_grad()  # only training needs gradients
def correct(model, ids, mask, labels):
    return (model(ids, mask) > 0) == (labels == 1)  # B


vocabulary = build_vocabulary(learn_sentences)
learn_ids, learn_mask = encode(learn_sentences, vocabulary)
torch.manual_seed(0)
model = SumOfWords(len(vocabulary))
for epoch, loss in enumerate(train(model, learn_ids, learn_mask, learn_labels, 0)):
    print(f"epoch {epoch}: mean loss {loss:.3f}")

# %%
validation_sentences, validation_labels = read_reviews("dev")
validation_ids, validation_mask = encode(validation_sentences, vocabulary)
for decay in (0.03, 0.3, 1.0, 3.0, 10.0):
    found = []
    losses = []
    for seed in (1, 2, 3, 4):
        torch.manual_seed(seed)
        model = SumOfWords(len(vocabulary))
        train(model, learn_ids, learn_mask, learn_labels, seed, weight_decay=decay)
        found.append(correct(model, validation_ids, validation_mask, validation_labels))
        with torch.no_grad():
            scores = model(validation_ids, validation_mask)  # B
        loss = F.binary_cross_entropy_with_logits(scores, validation_labels.float())
        losses.append(loss)
    loss = torch.stack(losses).mean()
    right = torch.stack(found).float().mean()
    print(f"weight decay {decay:5}: validation loss {loss:.3f}, accuracy {right:.3f}")

# %% [markdown]
# The loss falls in every epoch. Of the five values, 3.0 does best on SST-2's **validation** reviews, which, to avoid leakage, are used neither for training nor for the vocabulary. Its accuracy is hardly higher than with less decay, but its loss is far lower than with 0.03: with so little decay, the model becomes too sure of its mistakes. The default, 0.01, would hardly change a weight in our 330 steps. A setting chosen on one set of reviews tends to fit it too well, so we test on others.
#
# We now train five such models with different seeds, which determine all random choices.

# %% tags=["nbval-check-output"]
predict("01.accuracy", ...)


# %% tags=["reveals"]
test_ids, test_mask = encode(test_sentences, vocabulary)
hits = []
for seed in range(5):
    torch.manual_seed(seed)
    model = SumOfWords(len(vocabulary))
    train(model, learn_ids, learn_mask, learn_labels, seed)
    hits.append(correct(model, test_ids, test_mask, test_labels))
hits = torch.stack(hits).float()  # seeds, reviews
accuracy = hits.mean(1)
print("The mean of five runs, the lowest and the highest:")
print(f"test set: {accuracy.mean():.3f}, {accuracy.min():.3f}, {accuracy.max():.3f}")
reveal("01.accuracy", accuracy.mean())

# %% [markdown]
# On SST-2, the models get about four out of five reviews right. Would word order help? Socher et al. (2013) report these results on the same test reviews:
#
# | model | accuracy |
# | --- | --- |
# | word counts (naive Bayes) | 81.8% |
# | averaged word vectors | 80.1% |
# | naive Bayes with word pairs | 83.1% |
# | a network that follows the parse tree | 85.4% |
#
# Word pairs and grammar capture some word order but add only a few percentage points.
#
# What has the last of our five models learned about each word? A word's vector has 16 entries, but $w$ reduces it to a single number:
#
# $$w^\top \sum_s x_s = \sum_s w^\top x_s$$

# %% tags=["nbval-check-output"]
with torch.no_grad():
    table = model.embedding.weight  # V D
    w = model.output.weight[0]  # D
    per_word = table @ w  # V: one number for each word
    from_numbers = (per_word[test_ids] * test_mask).sum(1) + model.output.bias  # B
    by_model = model(test_ids, test_mask)  # B
print("the same scores:", torch.allclose(from_numbers, by_model, atol=1e-4))

# %% [markdown]
# ## Polarity is a direction
#
# A word's contribution to the score, $w^\top x$, is the component of its vector along $w$, times the length of $w$; for a vector perpendicular to $w$, it is 0. In training, positive reviews pushed their words' vectors along $w$ and negative reviews against it, so a word's **polarity**, whether it is positive or negative, becomes a direction. To plot word vectors, we train a second model in which they are two-dimensional. Where will "great", "dull" and "the" point?

# %%
torch.manual_seed(1)
flat = SumOfWords(len(vocabulary), width=2)
train(  # few steps without decay, for longer arrows
    flat, learn_ids, learn_mask, learn_labels, seed=1, epochs=3, weight_decay=0.0
)
shown = ["fun", "dull", "great", "the", "is"]
shown = [word for word in shown if word in vocabulary]
rows = [vocabulary[word] for word in shown]
vectors = flat.embedding.weight[rows]  # a row for each word, D
w = flat.output.weight[0]  # D
plots.directions(vectors, shown, w, direction_name="w")
for word, adds in zip(shown, vectors @ w, strict=True):
    print(f"{word:6} adds {adds:+.2f} to the score")

# %% [markdown]
# The vectors of "fun" and "great" extend along $w$ (whose arrow is shortened) and that of "dull" far against it, whereas the vector of "the" is very short.
#
# ## What does the model make of a sentence?
#
# For five sentences by Ylipää (2020), we print how much each word adds to the score. Which sentences will the model get wrong?

# %%
sentences = [
    "the movie was really good",
    "i had a great time",
    "this was the worst movie ever",
    "the movie was really great",
    "the movie was not really great",
]
for sentence in sentences:
    score = model.output.bias.item()
    adds = ""
    for word in sentence.split():
        number = per_word[vocabulary.get(word, 1)].item()  # 1: an unknown word
        score += number
        adds += f"  {word} {number:+.2f}"
    print(f"p = {torch.tensor(score).sigmoid():.2f} {adds}")

# %% [markdown]
# On SST-2, the model gets the first and fourth sentences wrong, because "movie", "was" and "really" together outweigh the praise. It therefore gets "the movie was not really great" right for the wrong reason: even without "not", it would call this sentence negative. And "not" adds -0.24 to the score of any sentence that contains it, positive or negative.
#
# ## As in a project
#
# To judge any sentence you type, we train one more model with the same settings. A `Dataset` returns one review at a time, and a `DataLoader` shuffles them and hands 128 at a time to `collate`, which makes a batch. The model and each batch must be on the same **device**: a graphics processor if there is one.


# %%
class ReviewDataset(Dataset):
    def __init__(self, sentences, labels, vocabulary):
        self.sentences = sentences  # lists of words
        self.labels = labels
        self.vocabulary = vocabulary

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):  # one review: the indices of its words, and its label
        ids = [self.vocabulary.get(word, 1) for word in self.sentences[i]]
        return torch.tensor(ids), float(self.labels[i])


def collate(reviews):  # a list of B such pairs
    ids, labels = zip(*reviews, strict=True)
    ids = pad_sequence(ids, batch_first=True)  # B S
    return ids, ids != 0, torch.tensor(labels)  # B S, B S, B


device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(0)
training_set = ReviewDataset(learn_sentences, learn_labels, vocabulary)
validation_set = ReviewDataset(validation_sentences, validation_labels, vocabulary)
batches = DataLoader(training_set, batch_size=128, shuffle=True, collate_fn=collate)
held_out = DataLoader(validation_set, batch_size=128, collate_fn=collate)

# %% [markdown]
# After each epoch, we compute the loss on the validation reviews, and if it is the lowest so far, we save vocabulary and weights. How do the two losses change?


# %%
def loss_on(model, batch):
    ids, mask, labels = [part.to(device) for part in batch]
    return F.binary_cross_entropy_with_logits(model(ids, mask), labels)


@torch.no_grad()
def evaluate(model, batches):
    model.eval()  # switches dropout off, if the model has any
    sums = [len(batch[0]) * loss_on(model, batch).item() for batch in batches]
    return sum(sums) / sum(len(batch[0]) for batch in batches)  # of the reviews


# %%
epochs = 6
classifier = SumOfWords(len(vocabulary)).to(device)
optimizer = torch.optim.AdamW(classifier.parameters(), lr=0.01, weight_decay=3.0)
steps = epochs * len(batches)
schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, total_iters=steps)
path = Path(mkdtemp()) / "classifier.pt"  # in a project: a folder that stays
lowest = math.inf
for epoch in range(epochs):
    classifier.train()  # switches it on again
    losses = []
    for batch in batches:
        loss = loss_on(classifier, batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    new_loss = evaluate(classifier, held_out)
    mean = sum(losses) / len(losses)
    print(f"epoch {epoch}: training loss {mean:.3f}, validation loss {new_loss:.3f}")
    if new_loss < lowest:
        lowest = new_loss
        saved = {"vocabulary": vocabulary, "weights": classifier.state_dict()}
        torch.save(saved, path)

# %%
# a program that loads the file needs `SumOfWords`, `encode` and, below, `judge`
saved = torch.load(path, map_location=device, weights_only=True)
vocabulary = saved["vocabulary"]
classifier = SumOfWords(len(vocabulary)).to(device)
classifier.load_state_dict(saved["weights"])
test_parts = [part.to(device) for part in (test_ids, test_mask, test_labels)]
print(f"test reviews right: {correct(classifier, *test_parts).float().mean():.3f}")

# %% [markdown]
# The training loss keeps falling, whereas the validation loss hardly changes after epoch 2. On the test reviews, the saved model is as good as the five models above.
#
# Does a library do better? scikit-learn's `CountVectorizer` counts the words in each review, and its `LogisticRegression` learns a number for each word. We compare these numbers with ours and, in our class, use them as word vectors of dimension 1. `nn.Embedding.from_pretrained` loads them, as it would load pretrained vectors such as GloVe's.

# %%
counter = CountVectorizer(analyzer=list)  # our reviews are lists of words already
library = make_pipeline(counter, LogisticRegression(max_iter=1000))
library.fit(learn_sentences, learn_labels)
print(f"by scikit-learn:    {library.score(test_sentences, test_labels):.3f}")

theirs = torch.zeros(len(vocabulary), 1)  # V D: 0 for padding and unknown words
words = counter.get_feature_names_out()
for word, number in zip(words, library[1].coef_[0], strict=True):
    theirs[vocabulary[word]] = number
same = SumOfWords(len(vocabulary), width=1)
same.embedding = nn.Embedding.from_pretrained(theirs)  # frozen, unless freeze=False
nn.init.ones_(same.output.weight)
nn.init.constant_(same.output.bias, library[1].intercept_[0])
by_library = torch.tensor(library.decision_function(test_sentences)).float()  # B
with torch.no_grad():
    by_class = same(test_ids, test_mask)  # B
print("the same scores in our class:", torch.allclose(by_class, by_library, atol=1e-4))
for word in ["great", "worst", "not", "movie", "really"]:
    i = vocabulary.get(word, 1)
    print(f"{word:6}  ours {per_word[i]:+.2f}  theirs {theirs[i, 0]:+.2f}")

# %% [markdown]
# scikit-learn gets nearly as many right. Its score has the same form as ours: one number for each word in the review, plus a bias. For these five words, the numbers have the same signs. Which sentences will our classifier get wrong?


# %%
@torch.no_grad()
def judge(text):
    text = text.lower().replace("n't", " n't")  # SST-2 splits "isn't" into "is n't"
    words = re.findall(r"n't|'?\w+|[^\w\s]", text)
    ids, mask = encode([words], vocabulary)  # 1 S, 1 S
    return classifier(ids.to(device), mask.to(device)).sigmoid().item()


# %%
for text in [
    "A touching, brilliant film.",
    "I loved every minute of it!",
    "A dull, stupid mess.",
    "It is not a masterpiece.",
    "Not bad at all.",
]:
    print(f"{judge(text):.2f}  {text}")

# %% [markdown]
# The model judges the first three sentences correctly and the last two, with "not", wrongly.
#
# **Your turn**: which is the shortest sentence that fools the model?
#
# ## What "not" does to a score
#
# Does a fixed contribution from "not" hurt accuracy on positive and negative reviews alike?

# %%
positive = test_labels == 1
negation = holds_negation(test_sentences)  # True or False for each review
split = {
    "positive": positive & ~negation,
    "positive, negation": positive & negation,
    "negative": ~positive & ~negation,
    "negative, negation": ~positive & negation,
}
by_split = {}
for name, rows in split.items():
    label = name.replace(", ", ",\n")
    by_split[f"{label}\n(n = {rows.sum()})"] = hits[:, rows].mean(1)
plots.bars(by_split, "accuracy", title="test reviews", ylim=(0, 1.1))
errors = 1 - hits.mean(0)  # reviews
of_negated = errors[negation].sum() / errors.sum()
print(f"share of all errors that are in reviews with a negation: {of_negated:.2f}")
print(f"share of these reviews in the test set: {negation.float().mean():.2f}")

# %% [markdown]
# No: on SST-2, a negation is associated with lower accuracy on positive reviews but higher accuracy on negative ones. (Negations are "not", "n't", "no", "never" and the like.) But about a quarter of all errors are in reviews with a negation, hardly more than those reviews' share of the test set. Most errors have other causes. Does a negation that helps on one kind of review have to hurt on the other? To find out, we need a task whose rule we know.
#
# ## A toy task with a predictable failure
#
# Each **generated review** contains one opinion word, and in about a quarter of them, a "not" before this word reverses the label.

# %%
toy = generate_reviews(4000, 0, negation=0.25)
toy_test = generate_reviews(2000, 1, negation=0.25)
for sentence, label in zip(toy.sentences[:4], toy.labels[:4], strict=True):
    print(label.item(), " ".join(sentence))
negated = toy_test.negated.float().mean().item()
print(f"{negated:.4f} of the test reviews contain a negation")

# %% [markdown]
# Suppose that a good word adds $g$ to the score, a bad word $h$ and "not" $n$, and that a score above 0 means a positive review. Move the sliders: how many of the four cases can you get right?


# %%
def four_cases(g, h, n):  # plots the scores and returns the line below them
    scores = {"good": g, "bad": h, "not good": g + n, "not bad": h + n}
    bars = {case: [score] for case, score in scores.items()}
    plots.bars(bars, "score", ylim=(-8, 8))
    right = (g > 0) + (h < 0) + (g + n < 0) + (h + n > 0)  # True counts as 1
    return f"Cases that are right: {right} of 4."


sliders = {}
for name, value in {"g": 2.0, "h": -2.0, "n": 0.0}.items():
    sliders[name] = ipywidgets.FloatSlider(value, min=-4, max=4, step=0.5)
case_explorer = explore(four_cases, **sliders)
case_explorer

# %% [markdown]
# You can get three cases right but never all four. The other words and $b$ add the same number $k$ to each score, so we would need $k + g > 0$, $k + h < 0$, $k + g + n < 0$ and $k + h + n > 0$. Adding the first and last inequalities gives $2k + g + h + n > 0$, but adding the other two gives $2k + g + h + n < 0$, a contradiction.
#
# The score therefore gets at least one case wrong, which costs least for a negated case, because plain reviews, those without "not", are more frequent. Each negated case makes up about an eighth of the reviews, so it gets at most about 0.875 of them right.
#
# ## What does training find?
#
# Does training find values that get three cases right? Training does not count errors but minimises the cross-entropy. Half of the reviews with "not" are positive and half negative, so "not" by itself says nothing about the label. If it outweighs "good", every "not bad" becomes an even more confident mistake, which costs more than a correct "not good" gains. The same goes for the other sign, so we expect training to choose 0.

# %% tags=["nbval-check-output"]
predict("01.with_negation", ...)

# %% tags=["reveals"]
names = build_vocabulary(toy.sentences)
toy_ids, toy_mask = encode(toy.sentences, names)
models = []
for seed in range(5):
    torch.manual_seed(seed)
    model = SumOfWords(len(names))
    train(model, toy_ids, toy_mask, toy.labels, seed, weight_decay=0.01)
    models.append(model)


def hits_in(reviews):
    ids, mask = encode(reviews.sentences, names)
    hits = [correct(model, ids, mask, reviews.labels) for model in models]
    return torch.stack(hits).float()  # seeds, reviews


right = hits_in(toy_test)
print("The mean of five runs:")
reveal("01.with_negation", right.mean())

# %% [markdown]
# The accuracy of the trained models equals the share of plain reviews, which is lower than a linear score could reach. If "not" adds 0, a review gets the same score with or without it, so the models should get all plain reviews right and all negated ones wrong.
#
# ## Where any sum must fail
#
# The two reviews in a **contrast pair** contain the same words in different orders and have opposite labels. Because their sums are equal, a model gets exactly one of the two right, whatever it computes from the sum. We generate 500 pairs and print one. In the plot, short black lines mark the expected accuracies. How close do the five runs come?

# %%
one, other = contrast_pairs(500, seed=2)
print(" ".join(one.sentences[0]), "/", " ".join(other.sentences[0]))
in_pairs = torch.cat([hits_in(one), hits_in(other)], 1)  # seeds, reviews
measured = {
    "plain": right[:, ~toy_test.negated].mean(1),
    "negated": right[:, toy_test.negated].mean(1),
    "contrast\npairs": in_pairs.mean(1),
}
expected = {"plain": 1.0, "negated": 0.0, "contrast\npairs": 0.5}
plots.bars(measured, "test accuracy", expected=expected, ylim=(-0.05, 1.15))

# %% [markdown]
# As expected, every run gets all plain reviews right, all negated reviews wrong and one review in each contrast pair right.
#
# For the four cases, the sum contains enough information. The score fails because it is **linear**: $w$ turns each word into one number. Use $(1, 0)$ for "good", $(-1, 0)$ for "bad" and $(0, 1)$ for "not", and call the sum $(u, v)$. The score $u (1 - 2v)$ then gets all four cases right.
#
# ## What can the sum do, and where is it bound to fail?
#
# On real sentences, logistic regression on a sum of word vectors gets about four in five reviews right, but it is bound to fail in two ways. Its linear score gets at most three of "good", "bad", "not good" and "not bad" right. And whatever we compute from the sum, we get one review of each contrast pair wrong.
#
# ## Where you will meet this
#
# | here | in papers | in PyTorch | elsewhere |
# | --- | --- | --- | --- |
# | sum of word vectors | neural bag of words; with the mean and hidden layers, deep averaging network (Iyyer et al., 2015) | `nn.EmbeddingBag`, `mode="sum"`, `padding_idx=0` | fastText (Joulin et al., 2017): the mean, also of n-grams |
# | word vectors trained with the model | pretrained vectors, such as GloVe (Pennington et al., 2014) | `nn.Embedding.from_pretrained(vectors)` | gensim: `downloader.load("glove-wiki-gigaword-50")` |
# | `encode`: ids and mask | tokenization | `nn.utils.rnn.pad_sequence` | Hugging Face: a tokenizer's `input_ids`, and `attention_mask` with 1 for words |
# | `read_reviews`, `ReviewDataset` | | `torch.utils.data.Dataset` | Hugging Face: `datasets.load_dataset` |
#
# ## Questions
#
# Run a cell to see its question, then replace the dots with a number or with a letter in quotes.

# %%
check("01.q1", ...)

# %%
check("01.q2", ...)

# %%
check("01.q3", ...)

# %%
check("01.q4", ...)

# %%
check("01.q5", ...)

# %% [markdown]
# ## Recap
#
# - A sentence becomes a bag of words, the sum of its word vectors; a mask excludes the padding.
# - Logistic regression on the sum learns a direction: the further a word's vector extends along it, the more the word adds to the score.
# - In a linear score, "not" adds one fixed number, so it cannot reverse both "good" and "bad". A sum also ignores word order.
#
# **Exercises**: [open them](../exercises/01_bag_of_words_exercises.ipynb)
#
# **Next**: ["not" should change how much "great" counts. Can a word's weight depend on the other words?](02_weighted_sums.ipynb)
