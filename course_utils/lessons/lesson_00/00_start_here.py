# %% [markdown]
# A notebook consists of text and of **cells** of code. To run a cell, click on it and press Shift + Enter; that also takes you to the next one. Run them in order, from the top: most cells need what those above have computed. The first cell, whose code is folded, finds the course.

# %%
import ipywidgets
import torch

from course_utils import check, hint, predict, progress, reveal, solution
from course_utils.figures import plots
from course_utils.figures.widgets import explore

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# ## Predict, run, see
#
# Each lesson asks you for a guess before it shows a result. Make your guess, run the cell, and compare.
#
# A translator has to decide, before each word that it writes, which words of the sentence to look at. **Attention** is how it does so, and at its heart attention is a **weighted sum**. The easiest example to see is a mix of colours: a colour is a vector of three numbers, the strengths of red, green and blue. We make the green a little dark, so that the numbers in the mix are not all alike. PyTorch calls its arrays **tensors**. A comment at the end of a line gives a letter for each axis.

# %%
names = ["red", "green", "blue"]
colours = torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.8, 0.0], [0.0, 0.0, 1.0]])  # S D: S = 3 vectors of width D = 3
weights = torch.tensor([0.5, 0.5, 0.0])  # S: half red, half green, no blue
colours

# %% [markdown]
# The weighted sum multiplies each vector by its weight and adds up the results:
#
# $$\text{mix} = \sum_{s=1}^{S} w_s \, v_s$$
#
# The next cell computes it with a loop. What will the second number of the result be? Put your guess in place of the dots and run the cell.

# %% tags=["nbval-check-output"]
predict("00.second_number", ...)

# %% tags=["nbval-check-output", "reveals"]
mix = torch.zeros(3)
for w, v in zip(weights, colours, strict=True):
    mix = mix + w * v
print("The mix of the three colours:")
print(mix)
reveal("00.second_number", mix[1])

# %% [markdown]
# These guesses are not graded, but they help you to look closely. What colour is the mix? Run the next cell to see it.

# %%
panels = plots.axes(4, width=1.5, height=1.7)
for ax, name, colour in zip(panels, [*names, "mix"], [*colours, mix], strict=True):
    ax.imshow(colour.reshape(1, 1, 3).numpy())
    ax.set(title=name, xticks=[], yticks=[])

# %% [markdown]
# The mix is a brown: as much of the red as of the dark green. Blue has a weight of 0, so it does not show.
#
# Some pictures have sliders. Which weight of red turns the mix of red and blue into purple?


# %%
def mix_at(red):
    mixed = red * colours[0] + (1 - red) * colours[2]
    shown = {"red": colours[0], "blue": colours[2], "mix": mixed}
    for ax, (name, colour) in zip(plots.axes(3, width=1.5, height=1.7), shown.items(), strict=True):
        ax.imshow(colour.reshape(1, 1, 3).numpy())
        ax.set(title=name, xticks=[], yticks=[])
    return (
        f"Weights {red:.2f} for red and {1 - red:.2f} for blue give ({mixed[0]:.2f}, {mixed[1]:.2f}, {mixed[2]:.2f})."
    )


red_slider = ipywidgets.FloatSlider(value=0.8, min=0, max=1, step=0.05, description="weight of red")
colour_explorer = explore(mix_at, red=red_slider)
colour_explorer

# %% [markdown]
# Equal weights for red and blue give purple. With all the weight on one colour, the sum is that colour. This course is about where such weights come from.
#
# ## The PyTorch that you need, in fifteen minutes
#
# **Shapes.** A tensor has axes, and its shape says how long each of them is. Here S is again the number of vectors and D their width. Summing over an axis removes that axis; axis -1 is the last one.

# %% tags=["nbval-check-output"]
pair = torch.tensor([[1.0, 0.5, 0.0], [0.0, 0.4, 0.2]])  # S D: an orange and a dark green
print(pair.shape)
print(pair.sum(0), pair.sum(0).shape)  # D: over the vectors
print(pair.sum(-1), pair.sum(-1).shape)  # S: over the features

# %% [markdown]
# **Broadcasting.** `shares[:, None]` inserts an axis of length 1. If shapes differ, PyTorch lines them up from the right, adds axes of length 1 on the left where some are missing, and repeats an axis of length 1 as often as needed: S×1 times S×D is S×D, and each vector is multiplied by its own weight.

# %% tags=["nbval-check-output"]
shares = torch.tensor([0.75, 0.25])  # S: three parts of orange, one of green
print(shares[:, None].shape, "times", pair.shape)
scaled = shares[:, None] * pair  # S D
print(scaled)
print(scaled.sum(0))  # D: the weighted sum

# %% [markdown]
# Take `[:, None]` out of the line that computes `scaled` and run the cell: what does PyTorch say? Without it the two weights are lined up with the three features. If S and D were equal, no error would warn you.
#
# **Matrix products.** `shares @ pair` multiplies and adds in one step. Several rows of weights make several mixes at once: T×S times S×D is T×D.

# %% tags=["nbval-check-output"]
print(shares @ pair)  # D
recipes = torch.tensor([[0.75, 0.25], [0.5, 0.5], [0.0, 1.0]])  # T S: T = 3 recipes
print(recipes @ pair)  # T D: three mixes
print(recipes.shape, "@", pair.shape, "=", (recipes @ pair).shape)
print((torch.ones(4, 3, 2) @ torch.ones(4, 2, 5)).shape)  # B T D: a batch of four

# %% [markdown]
# A third axis in front is a **batch**: B×T×S times B×S×D is computed separately for each of the B examples. `x.mT` swaps the last two axes.
#
# **Masks.** A mask is a tensor of True and False values, such as the result of a comparison. It can select entries or fill them. What will the sum of the second row be under its mask?

# %% tags=["nbval-check-output"]
predict("00.masked_sum", ...)

# %% tags=["nbval-check-output", "reveals"]
numbers = torch.tensor([[3.0, 1.0, 2.0], [5.0, 4.0, 9.0]])  # B S
mask = torch.tensor([[True, True, True], [True, True, False]])  # B S: only two entries of the second row count
print("The mask at work:")
print(numbers.masked_fill(~mask, 0.0))  # ~ swaps True and False
print((numbers * mask).sum(-1))  # B: True counts as 1, False as 0
print(mask[..., None].shape)  # B S 1: the dots stand for all the other axes
reveal("00.masked_sum", (numbers * mask).sum(-1)[1])

# %% [markdown]
# **Gradients.** PyTorch records what is done with a tensor that has `requires_grad`. `backward()` then stores in `.grad` how fast the result changes with each entry.

# %% tags=["nbval-check-output"]
w = torch.tensor([0.5, 0.5, 0.0], requires_grad=True)  # S
brightness = (w @ colours).sum()  # one number
brightness.backward()
print(w.grad)  # S: how fast the brightness grows with each weight

# %% [markdown]
# Raising the weight of green adds less brightness than raising that of red or blue, because our green is dark. A **loss** is a number that says how wrong a network's answers are. To **train** the network is to lower it: each of its numbers, which are called weights too, takes a small step *against* its gradient. That is all the PyTorch you need to begin.
#
# ## A check tells you what is wrong, and why
#
# Every lesson has an exercise notebook. There you fill in a function, and the cell below it checks what the function computes. How you write it is up to you. An empty function is not counted as wrong:


# %%
def weighted_sum(weights, values):
    raise NotImplementedError


check("00.weighted_sum", weighted_sum, keep=False)

# %% [markdown]
# `keep=False` is for this demonstration: what we try here is not recorded as your work. The next answer has a mistake. Can you find it before you run the cell?


# %%
def weighted_sum(weights, values):
    return (weights[:, None] * values).mean(0)


report = check("00.weighted_sum", weighted_sum, keep=False)

# %% [markdown]
# The report names the mistake and shows the smallest ordinary input, of those tried, that reveals it, with the expected and the received result. `play()` opens that input, so that you can change it and see what comes out. If your function raises an error, the report points to your own line. Here the two lengths do not fit together:


# %%
def weighted_sum(weights, values):
    total = torch.zeros(4)
    for w, v in zip(weights, values, strict=True):
        total += w * v
    return total


report = check("00.weighted_sum", weighted_sum, keep=False)

# %% [markdown]
# ## Hints come one at a time
#
# The first hint gives the idea, the second a worked example, the third the steps. `solution` shows a solution once you have tried: the second cell asks for it too early.

# %%
hint("00.weighted_sum", keep=False)

# %%
solution("01.sum_vectors")

# %% [markdown]
# `progress` shows how far you have come. Your progress is kept in a small file in the course folder, so it survives a restart. Run the cell to see your own table.
#
# `make lab` opens your own copies of the notebooks, in the folder `my_course`. `course update` brings new versions of the lessons without touching your answers, and `course submit 00` writes the file to hand in.

# %% tags=["own-machine"]
progress()

# %% [markdown]
# ## Is everything in place?
#
# Run this cell for a table that shows whether your machine has everything that the course needs. A line that is not ok says what to do.

# %% tags=["own-machine"]
from course_utils import doctor

doctor()

# %% [markdown]
# ## Questions
#
# Every lesson ends with five questions on the goals at its top. Run a cell to see its question, then put a letter in quotes, or a number, in place of the dots.

# %%
check("00.q1", ...)

# %%
check("00.q2", ...)

# %%
check("00.q3", ...)

# %%
check("00.q4", ...)

# %%
check("00.q5", ...)

# %% [markdown]
# ## Recap
#
# - A weighted sum multiplies each vector by its weight and adds up the results: `weights @ values`.
# - Shapes, broadcasting with `None`, `@`, masks and gradients are the PyTorch that you need to begin.
# - The course answers you in three ways: `predict` compares your guess with the result, `check` says what is wrong with your code, and `hint` helps when you are stuck.
#
# **Exercises**: [open them](../exercises/00_start_here_exercises.ipynb)
#
# **Next**: [if a sentence is a sum of its words, what is left of its meaning?](01_bag_of_words.ipynb)
