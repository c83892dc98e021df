# %%
import ipywidgets
import torch
from torch import nn
from torch.nn import functional as F

from course_lessons.lesson_19_snail import figures
from course_utils import check, predict, reveal
from course_utils.data import episodes
from course_utils.data.measured import by_seed
from course_utils.figures import diagrams
from course_utils.figures.tables import table
from course_utils.figures.widgets import explore
from course_utils.models.train_model import train_model

torch.set_printoptions(precision=3, sci_mode=False)


def drawn(seed):
    return torch.Generator().manual_seed(seed)


# %% [markdown]
# Until now, each network in this course has learned one task from many examples by changing its weights. Can a network learn a new task from five examples that it only reads? We first see why training on many tasks can teach this, and then build and test such a network.
#
# ## Five examples in a prompt
#
# Nobody has ever trained you for this prompt. What comes next?
#
# > tolo c, karu a, bime e, sedi b, ravo d, karu
#
# After five examples, one of each word, you say a. Large language models can also do this without any change to their weights, which is called **in-context learning** (Brown et al., 2020).
#
# Because our network is small, we give it pictures of handwritten digits instead of words, in five classes: the digits 0 to 4. Each class has a label, one of the letters a to e, which is assigned at random. Each picture's label is shown above it. What is the label of the last picture?

# %%
# one episode of 12 pictures: upright digits that are not used in training
prompt = episodes.character_episodes(1, "upright", drawn(7919), steps=12, part="test")
figures.show_episode(prompt, steps=6)

# %% [markdown]
# The last picture has the label b, because it shows a 3 and the earlier 3 had the label b.
#
# Such a sequence of pictures and labels is called an **episode**. The labels are assigned anew in each episode. Training on many episodes so that the network can handle a new one is called **meta-learning**.
#
# Training does nothing but reduce a loss. Why should that make a network read the labels instead of remembering them?
#
# ## What does training on many tasks teach?
#
# We reduce the task until we can compute the answer by hand. An episode now has a single class: it shows a picture, then the picture's label $y$, which is 1 or -1, and then asks for the label of the same picture. Because there is only one picture, the network need not look at it.
#
# The network has two weights: $w$ can remember a label, and $c$ lets the network read the label shown in the episode. Together they give a score $s$; a positive score stands for label 1:
#
# $$s = w + c\, y \qquad \text{loss} = \log(1 + e^{-y s})$$
#
# The loss is small if $s$ has the same sign as $y$ and is far from 0.
#
# Both weights start at 0. For each weight, work out the gradient for $y = 1$, the gradient for $y = -1$, and their mean.


# %% tags=["nbval-check-output"]
def gradients(labels, w, c):
    w_and_c = torch.tensor([w, c], requires_grad=True)
    y = torch.tensor(labels)  # B: one label for each episode
    s = w_and_c[0] + w_and_c[1] * y  # B: a score for each episode
    losses = (1 + (-y * s).exp()).log()  # B
    losses.mean().backward()
    return w_and_c.grad.tolist()


for labels in ([1.0], [-1.0], [1.0, -1.0]):
    print(f"labels {labels}: gradients {gradients(labels, w=0.0, c=0.0)}")

# %% [markdown]
# At $s = 0$, the derivative of the loss with respect to $s$ is $-y/2$, which is also the gradient of $w$, the first number in each row. This gradient changes sign with the label, so its mean is 0. The gradient of $c$ is $-y/2 \cdot y = -1/2$ for both labels. Reading helps in every episode, but remembering a label helps only in the episodes with that label.
#
# Now we train the two weights for 100 steps, once with only the label 1 and once with both labels. Which of the two networks outputs -1 after reading -1?


# %%
def trained_on(labels):
    w = 0.0
    c = 0.0
    for _ in range(100):
        gradient_w, gradient_c = gradients(labels, w, c)
        w = w - gradient_w
        c = c - gradient_c
    return [w, c, w + c, w - c]  # the weights, then s for y = 1 and for y = -1


tiny_networks = {
    "1": trained_on([1.0]),
    "1 and -1": trained_on([1.0, -1.0]),
}
results = ["w", "c", "score after reading 1", "score after reading -1"]
table(tiny_networks, results, corner="labels in training", digits=2)

# %% [markdown]
# Only the network trained with both labels outputs -1: its $w$ is 0, so it remembers nothing and outputs what it has read. The other network has learned to rely on memory as much as on reading. When it reads -1, the two cancel, and the network is undecided.
#
# Whatever all tasks have in common can go into the weights. When both labels occur, the tasks share the rule *output what you have read*. Whatever differs from task to task has to be read.
#
# ## What does our network read?
#
# In our episodes with five classes, the network reads a picture $x_t$ at each step and has to predict its label $y_t$, which it must not see yet. Along with the picture, it therefore reads $y_{t-1}$, the previous picture's label. A label is a one-hot vector of dimension V = 5: for an a, the 1 is in the first entry, and so on. The function `move_later` delays a sequence by a given number of steps and puts zeros at the beginning.
#
# The first six labels of our prompt are c, d, b, e, a and b. Write down the labels that the network reads at these six steps.


# %% tags=["nbval-check-output"]
def move_later(x, steps):  # B T D
    beginning = torch.zeros_like(x[:, :steps])  # B steps D
    return torch.cat([beginning, x[:, :-steps]], dim=1)  # B T D


def read(x, y):  # B T D, B T V
    return torch.cat([x, move_later(y, 1)], dim=-1)  # B T D+V


y = F.one_hot(prompt.labels, 5).float()  # B T V
prompt_inputs = read(prompt.pictures, y)  # B T D+V: the 64 pixels come first
print(prompt_inputs[0, :6, 64:])  # the labels of the first six steps

# %% [markdown]
# The network reads no label at the first step; after that, it reads each label one step late:
#
# | step | 0 | 1 | 2 | 3 | 4 | 5 |
# | --- | --- | --- | --- | --- | --- | --- |
# | picture read | four | two | three | zero | one | three |
# | label read | none | c | d | b | e | a |
# | label to predict | c | d | b | e | a | b |
#
# ## Which rules should it beat?
#
# Training a network is worthwhile only if it beats simple rules that need no training. The first rule ignores the pictures and predicts the label that has been most frequent so far. The second rule copies the label of the nearest earlier picture, where distance is the sum of squared pixel differences.
#
# We test the rules on 400 new episodes of 26 pictures, from the quarter of the pictures that is held out from training. The table shows the accuracy when the class has been shown once before and when it has been shown five times. Random guessing gives 0.2. How good is the second rule?


# %%
test = episodes.character_episodes(400, "upright", drawn(1), part="test")
columns = ["class shown once", "class shown five times"]


def shares(predicted, shown=test):  # B T
    right = (predicted == shown.labels).float()  # B T
    return [right[shown.before == times].mean().item() for times in (1, 5)]


rows = {
    "most frequent label": shares(episodes.most_frequent(test)),
    "nearest picture": shares(episodes.nearest(test)),
}
copied = episodes.nearest(prompt)  # B T
print("nearest picture, our prompt, step 5:", "abcde"[copied[0, 5]])
table(rows, columns, corner="share of labels right", digits=2)

# %% [markdown]
# When a class has been shown once, the nearest picture has the correct label in about three out of four cases. The first rule does worse than chance there, because a class shown only once is rarely the most frequent.
#
# In our prompt, the second rule wrongly predicts d: pixel by pixel, the last picture is closer to the picture of a 2 than to the earlier picture of a 3.
#
# ## Is attention enough?
#
# To beat the nearest-picture rule, a network has to find a picture of the same class, and finding is what attention does. We therefore begin with one causal attention layer. It appends the context to its input $x_t$, and a linear layer then computes a score for each label:
#
# $$\text{attention}(x)_t = \Big[x_t;\ \sum_{s \le t} \alpha_{ts} v_s\Big] \qquad \alpha_{t} = \underset{s \le t}{\text{softmax}} \frac{q_t \cdot k_s}{\sqrt K}$$
#
# The semicolon in the brackets denotes concatenation. K is the dimension of the queries and keys, and E the dimension of the values.


# %%
class AttentionBlock(nn.Module):
    def __init__(self, D, K=32, E=16):
        super().__init__()
        self.query = nn.Linear(D, K)
        self.key = nn.Linear(D, K)
        self.value = nn.Linear(D, E)

    def forward(self, x):  # B T D
        q = self.query(x)  # B T K
        k = self.key(x)  # B T K
        v = self.value(x)  # B T E
        T = x.shape[1]
        causal_mask = torch.ones(T, T, dtype=torch.bool).tril()  # T T: True may look
        scores = q @ k.mT / k.shape[-1] ** 0.5  # B T T
        scores = scores.masked_fill(~causal_mask, -torch.inf)  # B T T
        self.weights = scores.softmax(-1)  # B T T: kept, so that we can look at them
        return torch.cat([x, self.weights @ v], dim=-1)  # B T D+E


# %% [markdown]
# We train the layer for 400 steps, with 32 new episodes per step. The loss is the cross-entropy of the labels, averaged over all pictures except the first of each class, for which no example has been shown yet. With `warmup=20`, the learning rate rises during the first 20 steps.


# %%
def label_scores(model, shown, reader=read):
    y = F.one_hot(shown.labels, 5).float()  # B T V
    return model(reader(shown.pictures, y))  # B T V


@torch.no_grad()
def predict_labels(model, shown, reader=read):
    return label_scores(model, shown, reader).argmax(-1)  # B T


def train(model, reader=read):
    def batch_loss(draw):
        learned = episodes.character_episodes(32, "upright", draw, part="train")
        known = learned.before > 0  # B T: its class was shown before
        scores = label_scores(model, learned, reader)[known]
        return F.cross_entropy(scores, learned.labels[known])

    train_model(model, batch_loss, seed=0, steps=400, rate=0.004, warmup=20)
    return shares(predict_labels(model, test, reader))


# %%
predict("19.without", ...)

# %% tags=["reveals"]
print("Share of labels right, for one attention layer:")
torch.manual_seed(0)
attention_alone = nn.Sequential(AttentionBlock(64 + 5), nn.Linear(64 + 5 + 16, 5))
rows["one attention layer"] = train(attention_alone)
reveal("19.without", round(rows["one attention layer"][1], 2))

# %% [markdown]
# One attention layer is not enough. Even when a class has been shown five times, it is about as good as the rule that ignores the pictures and far worse than the nearest-picture rule.
#
# The table of pictures and labels suggests a reason: at step 5, attention can find the picture of a 3 at step 2. But this picture's label is read one step later, along with the picture of a 0, and nothing at that step says that the previous picture was a 3.
#
# If this is the reason, the same layer should succeed when it also reads the previous picture along with its label. How many labels will it get right?


# %%
def read_pairs(x, y):  # B T D, B T V
    return torch.cat([x, move_later(x, 1), move_later(y, 1)], dim=-1)  # B T 2D+V


torch.manual_seed(0)
with_pairs = nn.Sequential(
    AttentionBlock(2 * 64 + 5),
    nn.Linear(2 * 64 + 5 + 16, 5),
)
rows["one attention layer, pairs given"] = train(with_pairs, read_pairs)
table(rows, columns, corner="share of labels right", digits=2)

# %% [markdown]
# Given the pairs, the layer gets more than nine in ten labels right, even when a class has been shown only once. What was missing, then, was mainly the pairing of each label with its picture.
#
# ## A convolution joins picture and label
#
# We made the pairs by hand, but the network should make them itself. A **causal convolution** combines each step with an earlier step, and its **dilation** is the number of steps back:
#
# $$z_t = W_0\, x_{t - \text{dilation}} + W_1\, x_t + b$$
#
# Before the start of the sequence, $x$ is taken to be 0. Suppose the sequence is 1, 2, 3, the dilation is 1, and matrices and bias are single numbers: $W_0 = 10$, $W_1 = 1$ and $b = 0$. Work out the three results on paper.

# %% tags=["nbval-check-output"]
sequence = [1.0, 2.0, 3.0]
for t in range(3):
    earlier = sequence[t - 1] if t >= 1 else 0.0
    print(10 * earlier + 1 * sequence[t])

# %% [markdown]
# The results are 1, then 10 · 1 + 2 = 12, and then 10 · 2 + 3 = 23. From the 12, we can still recover both numbers, the 1 from the previous step and the 2. Matrices can do the same with vectors: if they put the two vectors into different entries, one vector contains both.
#
# In the diagram, A, B and C are classes of pictures. A convolution combines each step with the previous step. Where does the last A find its label?

# %%
diagrams.snail(new=["convolution"])

# %% [markdown]
# The last A finds its label at step 1: after the convolution, this step contains the first A together with its label.
#
# ## SNAIL
#
# Convolutions and attention together make up **SNAIL**, the simple neural attentive learner of Mishra et al. (2018, section 3). A **dense block** has two convolutions: $f$ computes new features, and $g$ is a gate, which determines how much of each feature passes through. The block appends their product to $x$:
#
# $$\text{dense}(x)_t = [x_t;\ \tanh(f_t) \circ \sigma(g_t)]$$
#
# In the code, each convolution is a linear layer, which contains $W_0$ and $W_1$ side by side and reads both steps as one long vector.


# %%
class DenseBlock(nn.Module):
    def __init__(self, D, filters, dilation):
        super().__init__()
        self.f = nn.Linear(2 * D, filters)
        self.g = nn.Linear(2 * D, filters)
        self.dilation = dilation

    def forward(self, x):  # B T D
        earlier = move_later(x, self.dilation)  # B T D
        joined = torch.cat([earlier, x], dim=-1)  # B T 2D
        new = self.f(joined).tanh() * self.g(joined).sigmoid()  # B T filters
        return torch.cat([x, new], dim=-1)  # B T D+filters


# %% [markdown]
# One dense block with a dilation of 1 can make the pairs. SNAIL has several blocks, with dilations of 1, 2, 4 and so on. Each block reads the previous block's output, which lets a step see further back.
#
# **Your turn**: add dilations to the first line. How many does it take for step 15 to see all 16 steps?

# %% tags=["nbval-check-output"]
dilations = [1, 2]
seen = {15}  # the steps that step 15 sees
for dilation in dilations:
    further = {step - dilation for step in seen}
    seen = seen | further  # all steps in either set
print("step 15 sees the steps", sorted(seen))

# %% [markdown]
# <details><summary>Answer</summary>
#
# It takes four: 1, 2, 4 and 8, because 2 · 2 · 2 · 2 = 16.
#
# </details>
#
# Each block doubles the number of steps seen. Because our episodes have 26 steps, our SNAIL has five dense blocks, which reach 32 steps, followed by one attention layer and a linear layer.


# %%
def dense_blocks(D, dilations=(1, 2, 4, 8, 16), filters=32):  # 32 new features each
    blocks = []
    for dilation in dilations:
        blocks.append(DenseBlock(D, filters, dilation))
        D = D + filters
    return nn.Sequential(*blocks)


class Snail(nn.Module):
    def __init__(self, dilations=(1, 2, 4, 8, 16), D=64 + 5, V=5):
        super().__init__()
        self.convolutions = dense_blocks(D, dilations)
        width = D + 32 * len(dilations)  # each block has 32 filters
        self.attention = AttentionBlock(width)
        self.readout = nn.Linear(width + 16, V)

    def forward(self, x):  # B T D
        x = self.convolutions(x)  # B T width
        x = self.attention(x)  # B T width+16
        return self.readout(x)  # B T V


# %% [markdown]
# SNAIL does not receive the pairs. We train the convolutions alone, SNAIL as it is, and SNAIL with only one dense block. Does either half work by itself?

# %%
torch.manual_seed(0)
convolutions_alone = nn.Sequential(dense_blocks(64 + 5), nn.Linear(64 + 5 + 160, 5))
rows["convolutions alone"] = train(convolutions_alone)
torch.manual_seed(0)
model = Snail()
rows["SNAIL"] = train(model)
torch.manual_seed(0)
rows["SNAIL, one dense block"] = train(Snail(dilations=[1]))
table(rows, columns, corner="share of labels right", digits=2)

# %% [markdown]
# After 400 steps, neither half works by itself: each gets fewer than half of the labels right, even when a class has been shown five times. SNAIL, which has both, gets nearly all labels right, even when a class has been shown only once. With one dense block, SNAIL is nearly as good: here it hardly needs the other four, because attention looks back by itself.
#
# We trained each network only once. Do the halves learn the task in 4,000 steps? Most large language models have no convolutions: can two attention layers with positions learn it? We have trained these models with three seeds each; the brackets give the lowest and highest values.

# %%
rows = {}
stored = [
    "two attentions with positions, 400 steps",
    "attention alone, 4,000 steps",
    "convolutions alone, 4,000 steps",
    "SNAIL, 4,000 steps",
    "two attentions with positions, 4,000 steps",
]
for name in stored:  # on the classes of training, one number per seed
    once = by_seed("characters", "own", setup=name, examples=1)
    five_times = by_seed("characters", "own", setup=name, examples=5)
    shown_name = name.replace("two attentions", "two attention layers")
    rows[shown_name] = [once, five_times]
table(rows, columns, corner="share of labels right", digits=2)

# %% [markdown]
# With ten times as many steps, the convolutions have learned most of the task, whereas attention alone has not. Attention is therefore not the only way, but with attention, a network learns the task sooner.
#
# Two attention layers with positions can also learn the task. After 400 steps, they are behind the SNAIL above, but after 4,000 steps they are nearly as good as a SNAIL trained for as long. Like the convolution, the first layer can pass each picture on to the next step. Lesson 22 shows such a pair of layers in a language model.
#
# ## Is it too good to be true?
#
# If a network gets nearly all answers right, does it see the labels it has to predict? A leak test like the one in lesson 09 can tell us: we change the label at step 10 in each episode. Which answers may change then?

# %%
changed = test.labels.clone()  # B T
changed[:, 10] = (changed[:, 10] + 1) % 5  # a different label at step 10
before = predict_labels(model, test, read)  # B T
after = predict_labels(model, test._replace(labels=changed), read)  # B T
share = (before != after).float().mean(0)  # T: of the answers at each step
print(f"changed before step 10: {share[:10].max():.2f} at most")
print(f"changed at step 10:     {share[10]:.2f}")
print(f"changed after step 10:  {share[11:].max():.2f} at most")

# %% [markdown]
# There is no sign that SNAIL sees the label: its answers change only after step 10, when it has read the changed label. Few of them change, because about one in five of the later pictures shows the same class, and most of these also have older examples with unchanged labels.
#
# ## Where does it look?
#
# If SNAIL works as in the diagram, its attention finds the step at which the correct label was read. We return to step 5 of our prompt, where the rule was wrong. Below each picture is its label, with the weight of the step at which this label was read. See how much weight the correct label (framed in red) gets, then move the slider.

# %%
with torch.no_grad():
    scores = model(prompt_inputs)  # B T V
weights = model.attention.weights  # B T T
answers = scores.argmax(-1)  # B T: the label with the highest score


def look_from(step):
    return figures.show_weights(weights, answers, prompt, step)


look_explorer = explore(look_from, step=ipywidgets.IntSlider(value=5, min=5, max=11))
look_explorer

# %% [markdown]
# Nearly all of the weight is on the label of the earlier picture of a 3, and SNAIL says b, as you did.
#
# From 10,000 new episodes of six pictures, we keep those that begin with one example of each class. How often does SNAIL get the sixth label right?

# %%
many = episodes.character_episodes(10_000, "upright", drawn(2), 6, part="test")
# many.before, B T: how often the class of each picture was shown before
shown_before = many.before[:, :5].sum(1)  # B: 0 if no class came again
kept = shown_before == 0  # B: True if the first five have different classes
six = episodes.Episodes(many.pictures[kept], many.labels[kept], many.before[kept])
print("episodes kept:", len(six.labels))
sixth_labels = {
    "SNAIL": predict_labels(model, six, read)[:, 5],
    "nearest picture": episodes.nearest(six)[:, 5],
}
for name, predicted in sixth_labels.items():
    share = (predicted == six.labels[:, 5]).float().mean()
    print(f"{name}: {share:.2f} of the sixth labels are right")

# %% [markdown]
# From five examples, one of each class, SNAIL nearly always labels the next picture correctly. The rule is right in about four out of five cases.
#
# ## What if the digits are new?
#
# So far, the classes have been the same as in training. Now we show the same SNAIL the digits 5 to 9, which it has never seen.

# %%
predict("19.one_example", ...)

# %% tags=["reveals"]
new_digits = episodes.character_episodes(400, "held out", drawn(1))
by_snail = shares(predict_labels(model, new_digits), new_digits)
by_rule = shares(episodes.nearest(new_digits), new_digits)
print("Digits that SNAIL has never seen, where a class was shown once:")
print(f"SNAIL {by_snail[0]:.2f}, the rule {by_rule[0]:.2f}")
reveal("19.one_example", "SNAIL" if by_snail[0] > by_rule[0] else "the rule")

# %% [markdown]
# When a new digit has been shown once, the rule is far ahead: SNAIL gets fewer than half as many labels right. Does its attention fail to find the correct label? We compare how much weight this label gets for old and new digits when a class has been shown once.

# %%
for name, shown in {"0 to 4": test, "5 to 9": new_digits}.items():
    predict_labels(model, shown, read)  # the attention keeps its weights
    weights = model.attention.weights  # B T T
    share = figures.weight_on_right(weights, shown)
    print(f"weight on the right label, digits {name}: {share:.2f}")
equal = torch.ones_like(weights).tril()  # B T T: the same for all steps so far
share = figures.weight_on_right(equal / equal.sum(-1, keepdim=True), new_digits)
print(f"weight on it if all steps so far got the same: {share:.2f}")

# %% [markdown]
# With the new digits, attention can hardly find the correct label any more. SNAIL's weights therefore contain more than a way to find similar pictures: SNAIL compares pictures in a way that suits the digits 0 to 4.
#
# In training, the five classes were the same in all episodes, and as in our tiny network, whatever is the same can go into the weights. The classes should therefore also differ from episode to episode. To get forty classes, we rotate or mirror each of the digits 0 to 4 in eight ways, some of which look alike. To get very many classes, we cut two of these forty along a line and join one side of each into a new picture. The next cell shows an episode with such classes. What is the last label?

# %%
joined = episodes.character_episodes(1, "joined", drawn(5), steps=12)
figures.show_episode(joined, steps=6)

# %% [markdown]
# The last label is a, like the fourth picture's, because both show a ring lying on its side. We have trained SNAIL on five, forty and many classes for 1,500 steps, and on many classes also for 6,000 steps, with three seeds or more. We test each model on episodes of its own kind, with pictures not used in training, and on the digits 5 to 9. For many classes, the test joins pairs of the forty that were never joined in training, so these classes are also new. Do more classes help with the digits 5 to 9?

# %%
kinds = {
    "five classes": "upright",
    "forty classes": "turned",
    "many classes": "joined",
    "many classes, 6,000 steps": "joined",
}
rows = {}
for classes, kind in kinds.items():  # stored: a number for each seed
    own = by_seed("characters", "own", setup=classes, examples=1)
    new = by_seed("characters", "held_out", setup=classes, examples=1)
    same_kind = episodes.character_episodes(400, kind, drawn(1), part="test")
    rule = shares(episodes.nearest(same_kind), same_kind)
    rows[classes] = [own, rule[0], new, by_rule[0]]
columns = ["own kind: SNAIL", "own kind: rule", "5 to 9: SNAIL", "5 to 9: rule"]
table(rows, columns, corner="class shown once", digits=2)

# %% [markdown]
# More classes help. Where a class was shown once, SNAIL trained on five classes gets about a quarter of the new digits right, hardly more than by guessing. With forty or many classes, it gets more than half right.
#
# On episodes of its own kind, with the five or forty classes that it has learned, SNAIL gets more labels right than the rule. With many classes, each class in the test is new, and after 1,500 steps, SNAIL gets fewer right than the rule. After 6,000 steps, it gets nearly as many right as the rule, and the same goes for the digits 5 to 9. SNAIL has therefore learned to compare pictures of classes that it has never seen, but it is no better than the rule, which needs no training.
#
# ## Can a network learn from five examples?
#
# A network can learn from five examples if it knows the classes. Our SNAIL reads one example of each of five digits that it knows and then nearly always labels the next picture correctly. None of its weights change: what it learns from the examples is which label belongs to which digit.
#
# For new classes, the answer depends on the training. When such a class has been shown once, our SNAIL, trained on five classes, is hardly better than chance. After one example, a SNAIL trained for longer on many classes gets nearly as many labels right as a simple rule. Mishra et al. (2018, table 1) train on 1,200 characters from many alphabets and on their rotations, and report 99% accuracy on new characters, with one example of each of five. Their SNAIL is also larger: it alternates three attention layers with two stacks of dense blocks, and a convolutional network reads each picture. The number of classes may therefore not be the only reason.
#
# In the first prompt, you could compare new words, perhaps because you have read many. What our network could compare depended on its training.
#
# ## Where you will meet this
#
# | here | in papers | in PyTorch | in Hugging Face's `transformers` |
# | --- | --- | --- | --- |
# | convolution on B T D | TCBlock: a stack of dense blocks | `nn.Conv1d` on B D T, pads both ends | `conv1d` in `MambaMixer`: causal, a filter per feature |
# | one example of each of five classes | 1-shot, 5-way | | |
#
# With `padding` equal to the dilation, the first T results of `nn.Conv1d` equal ours:

# %% tags=["nbval-check-output"]
conv = nn.Conv1d(3, 4, kernel_size=2, padding=2, dilation=2)
W_0, W_1 = conv.weight.unbind(-1)  # F D, F D
x = torch.randn(1, 6, 3)  # B T D
ours = move_later(x, 2) @ W_0.T + x @ W_1.T + conv.bias  # B T F
print(torch.allclose(conv(x.mT)[..., :6].mT, ours, atol=1e-6))

# %% [markdown]
# ## Questions
#
# Run a cell to see its question, then replace the dots with a letter in quotes or a number.

# %%
check("19.q1", ...)

# %%
check("19.q2", ...)

# %%
check("19.q3", ...)

# %%
check("19.q4", ...)

# %%
check("19.q5", ...)

# %% [markdown]
# ## Recap
#
# - A network can learn the labels of five known classes from five examples if it was trained on many such tasks. What the tasks have in common can go into its weights, and it has to read the rest.
# - A causal convolution combines each step with an earlier step. With dilations of 1, 2, 4 and so on, each further convolution doubles the number of steps seen.
# - In SNAIL, a convolution carries each picture over to the step at which its label is read, and attention finds this step. One attention layer alone cannot do this, because each label is one step after its picture.
# - On new digits, SNAIL improves with the number of training classes and, for many classes, with longer training. After 6,000 steps, copying the label of the nearest picture was still better, so always compare a network with a simple rule.
# - To find a leak, change one label and see which answers change.
#
# **Exercises**: [open them](../exercises/19_snail_exercises.ipynb)
#
# **Next**: you have seen many kinds of attention. What will your own attention mechanism look like? [Lesson 20](20_your_own_attention.ipynb) asks you to design it.
