# %%
import ipywidgets
import torch
import torch.nn.functional as F

from course_utils import check, predict, reveal
from course_utils.data.measured import measured, measured_at
from course_utils.data.sequences import GIVEN, WANTED, copy
from course_utils.figures import diagrams, pictures, plots
from course_utils.figures.tables import table
from course_utils.figures.widgets import explore
from course_utils.models import turing

torch.set_printoptions(precision=3, sci_mode=False)


def drawn(seed):
    return torch.Generator().manual_seed(seed)


# %% [markdown]
# ## Can you repeat what you have heard?
#
# In lesson 16 every fact got a memory of its own, before the question came. Now a network must decide for itself what to keep and where. The task: it hears vectors of six random bits, then a delimiter, then silence, in which it should repeat them. How many bits does the network have to hold when the delimiter comes?

# %%
asked = copy(drawn(0), batch=1, shortest=5, longest=5)
left, right = plots.axes(2, width=3.6, height=2.4)
pictures.picture(asked.given[0].T, "given, one column per step", left)
pictures.picture(asked.wanted[0].T, "wanted at the end", right)

# %% [markdown]
# Thirty. (The two lowest rows are marks: the delimiter, and how often the vectors should come back.) An LSTM keeps them all in its state, whose size is fixed: the bottleneck of lesson 05.
#
# A **neural Turing machine** (Graves et al. 2014) also has a memory: a matrix of $N$ places with $W$ numbers each.
#
# ## Reading and writing
#
# A **head** has weights $w$ over the places, which sum to 1. It reads as attention always does. It writes with two vectors: $e$, from 0 to 1, says what to erase, and $a$ says what to add (equations 2 to 4):
#
# $$r = \sum_i w(i)\, M(i) \qquad M(i) \leftarrow M(i) \circ (1 - w(i)\, e) + w(i)\, a$$
#
# A place holds (4, 8), its weight is 0.5, $e$ = (1, 0) and $a$ = (2, 2). What does it hold afterwards?

# %% tags=["nbval-check-output"]
memory = torch.tensor([[[4.0, 8.0], [1.0, 1.0]]])  # B N W
weights = torch.tensor([[0.5, 0.5]])
print(turing.write(memory, weights, torch.tensor([[1.0, 0.0]]), torch.tensor([[2.0, 2.0]])))

# %% [markdown]
# Half of the 4 is erased, nothing of the 8, and 1 is added to both: (3, 9). A weight of 0 leaves a place untouched, a weight of 1 with $e$ = 1 replaces it. All of this consists of products and sums, so gradients flow through the memory, and a machine can learn from examples what to write.
#
# ## Where does a head go?
#
# A computer has addresses: write here, then one place further. How can weights do that? In four steps, and the network directs each one. Which of them needs to know what the memory holds?

# %%
diagrams.addressing()

# %% [markdown]
# Only the first. By **content**, the head finds the place that resembles a key $k$, with lesson 04's cosine and a strength $\beta$. The **gate** $g$ decides between this and the weights from the step before. The kernel $s$ **shifts** the weights along a circle of places, and $\gamma$ **sharpens** what the shift has blurred (equations 5 to 9):
#
# $$w_c = \text{softmax}(\beta \cos(k, M(i))) \qquad w_g = g\, w_c + (1 - g)\, w_\text{before}$$
#
# $$\tilde w(i) = \sum_j w_g(j)\, s(i - j) \qquad w(i) = \tilde w(i)^\gamma \big/ \textstyle\sum_j \tilde w(j)^\gamma$$
#
# A head stands at place 1 of four. The gate is 0, the kernel (0.1, 0, 0.9) for the shifts -1, 0 and +1, and $\gamma$ = 2. Where is it afterwards?

# %% tags=["nbval-check-output"]
before = F.one_hot(torch.tensor([1]), 4).float()  # places 0 to 3
moved = turing.shift(before, torch.tensor([[0.1, 0.0, 0.9]]))
print("shifted:  ", moved, "\nsharpened:", turing.sharpen(moved, torch.tensor([2.0])))

# %% [markdown]
# At place 2, with 0.81 / 0.82 of its weight. Now try all four steps. The head stood at place 2 before, and place 5 resembles the key. How do you send it to the place *after* the one that resembles the key?


# %%
def steps_of(gate, strength, shift, gamma):
    memory = torch.eye(8)[None]
    kernel = torch.tensor([[max(0.0, -shift), 1 - abs(shift), max(0.0, shift)]])
    content = turing.content_weights(memory, memory[:, 5], torch.tensor([strength]))
    between = turing.interpolate(content, F.one_hot(torch.tensor([2]), 8).float(), torch.tensor([gate]))
    moved = turing.shift(between, kernel)
    steps = [content, between, moved, turing.sharpen(moved, torch.tensor([gamma]))]
    names = ["content", "interpolated", "shifted", "sharpened"]
    ax = plots.axes(width=5.2, height=2.6)
    plots.weights(torch.cat(steps), range(8), names, "weights after each step", ax, xlabel="place", ylabel="")
    most, place = steps[-1][0].max(0)
    return f"In the end the largest weight, {most:.2f}, is on place {int(place)}."


head_explorer = explore(
    steps_of,
    gate=ipywidgets.FloatSlider(value=0.0, min=0, max=1, step=0.1),
    strength=ipywidgets.FloatSlider(value=5.0, min=0.5, max=20, step=0.5),
    shift=ipywidgets.FloatSlider(value=0.8, min=-0.9, max=0.9, step=0.1),
    gamma=ipywidgets.FloatSlider(value=2.0, min=1, max=10, step=0.5),
)
head_explorer

# %% [markdown]
# Here the head goes from place 2 to place 3. The place after the key's takes a gate of 1, a high strength and a large shift. With the gate at 0 the head walks on from where it was, whatever the memory holds: that is a loop. So a head can jump and walk.
#
# ## The machine
#
# A **controller**, here an LSTM, takes the input and what was read last, and tells both heads what to do. Which way can a bit take from the input to the output, many steps later?

# %%
diagrams.turing_machine()

# %% [markdown]
# Through the memory, once the write head has put it there, or through the LSTM's own state. We train a machine with 64 places to copy 1 to 10 vectors. Then it gets 20 vectors, more than it has ever seen. What share of the bits will be wrong? (Half of them, 0.5, would be chance. An LSTM without such a memory gets 0.33 wrong.)

# %% tags=["nbval-check-output"]
predict("17.twice", ...)

# %% tags=["reveals"]
print("Share of wrong bits by length:")
torch.manual_seed(0)
machine = turing.Machine(GIVEN, WANTED)
losses = turing.fit(machine, copy, steps=1000, rate=1e-2)
lengths = (5, 10, 20, 30, 40)
wrong = [turing.wrong_bits(machine, copy(drawn(1), 50, length, length)) for length in lengths]
reveal("17.twice", round(wrong[2], 2))
table({"wrong bits": wrong}, [f"{length} vectors" for length in lengths], digits=3)

# %% [markdown]
# It copies twice that length almost without mistakes, but not four times. Here are five machines, trained for 1,200 steps, and five LSTMs, trained for 2,400. (An LSTM's state has 256 numbers, the machine's controller 64.) What do you see at 10, and what beyond?

# %%
runs = {}
for setup in ("machine", "LSTM"):
    tried, runs[setup] = measured("turing", "wrong", "length", setup=setup, task="copy")
plots.curves(tried, runs, "vectors to copy (trained on 1 to 10)", "share of wrong bits")

# %% [markdown]
# At 10 no machine makes a mistake, and LSTMs get about a tenth of the bits wrong. At 20, three of five machines still make none; at 40, one makes very few. In the others, presumably, the small errors of many shifts add up. The LSTMs approach chance, since what they have learned for the fifth vector does not help with the eleventh.
#
# ## Watch it copy
#
# What program has the machine learned? Here are the weights of both heads, step by step, for twelve vectors.

# %%
longer = copy(drawn(2), 1, 12, 12)
with torch.no_grad():
    film = machine(longer.given)
left, right = plots.axes(2, width=3.6, height=3.4)
for ax, head, name in ((left, film.writes, "write head"), (right, film.reads, "read head")):
    pictures.picture(head[0, :, :26].T, name, ax)
    ax.set(xlabel="step", ylabel="place", xticks=(0, 12, 24), yticks=(0, 12, 24))

# %% [markdown]
# While vectors come, the write head walks one place further at each step. The read head waits at the first place, reads it at step 13, right after the delimiter, and then walks as well. Nothing in this program depends on how many vectors there are, as long as they fit into 64 places.
#
# Move the slider to see the memory itself, or its first 26 places; middle grey is 0. What does the head write in the silence, from step 13 on?


# %%
def memory_at(step):
    held, ax = film.memory[0, step], plots.axes(width=5, height=3)
    pictures.picture(held[:26].T.sigmoid(), f"memory after step {step}", ax)
    ax.set(xlabel="place", ylabel="number", xticks=(0, 12, 24))
    wrote, seen = int(film.writes[0, step].argmax()), int(film.reads[0, step].argmax())
    return f"Step {step}: the write head is at place {wrote}, the read head at place {seen}."


memory_explorer = explore(memory_at, step=ipywidgets.IntSlider(value=6, min=0, max=24))
memory_explorer

# %% [markdown]
# Each vector gets a place of its own, and in the silence the head goes on writing, which does no harm: nobody reads it.
#
# ## What does it need?
#
# We take away the shift, so that heads can only find places by content or stay. In other runs the memory begins with random numbers instead of a small constant: Collier & Beel (2018) found that this choice decides how well such machines learn. What do you expect of each?

# %%
rows = {}
for setup in ("machine", "no shifts", "random memory"):
    _, steps = measured("turing", "learned_after", "length", setup=setup, task="copy")
    wrong = measured_at("turing", "wrong", "length", (10, 20), setup=setup, task="copy")
    rows[setup] = [*wrong, f"{min(steps)[0]:.0f} to {max(steps)[0]:.0f}"]
rows["no shifts"][2] = "never"
table(rows, ["wrong, 10 vectors", "wrong, 20 vectors", "steps until the loss is below 0.05"], digits=2)

# %% [markdown]
# Without shifts no machine learns to copy ten vectors: in the silence, nothing tells it what content to look for next. With a random beginning most machines need longer (350 to 1,100 steps in place of 400 to 450), as Collier & Beel report, but on average they then copy no worse.
#
# ## Repeat and recall
#
# Two more of the paper's tasks. In **repeat copy**, a number says how often the vectors should come back: a loop in a loop. In **associative recall**, the machine sees several vectors, then one of them again, and should give the one that followed it. Which of the four steps would you use for recall?

# %%
rows = {}
for task, name, shown in (("repeat", "repeat copy", (10, 20)), ("recall", "recall", (6, 12))):
    for setup in ("machine", "LSTM"):
        rows[f"{name}, {setup}"] = measured_at("turing", "wrong", "length", shown, setup=setup, task=task)
table(rows, ["as long as in training", "twice as long"], corner="share of wrong bits", digits=2)

# %% [markdown]
# The machines learn both tasks and go further; the LSTMs learn neither in twice as many steps. For recall, a head can jump by content to the vector that is shown again and shift to the next one.
#
# ## What is missing?
#
# Nothing tells the machine which places are in use, and nothing frees them. And if a head jumps, the order of writing is lost, as a shift only finds neighbours.
#
# The **differentiable neural computer** (Graves et al. 2016) records how full each place is, $u$. A write can go to free places, the freest $\phi_1$ first, then $\phi_2$ (methods, equation 1):
#
# $$w_a[\phi_j] = (1 - u[\phi_j]) \prod_{i<j} u[\phi_i]$$
#
# Two places have usage 0.5 and 0.2. Which weights do they get?

# %% tags=["nbval-check-output"]
print(turing.allocation(torch.tensor([[0.5, 0.2]])))

# %% [markdown]
# The second is freer and gets 0.8; the first gets half of the remaining 0.2. A write $w$ fills places; a read $r$ with an open gate $f$ frees what it has read:
#
# $$u \leftarrow (u + w - u \circ w) \circ (1 - f\, r)$$
#
# Now take four free places. We write three times, read place 1 and free it, and write twice more. Where do the last two writes go?

# %% tags=["nbval-check-output"]
used, nothing = torch.zeros(1, 4), torch.zeros(1, 1, 4)
link, precedence, written = torch.zeros(1, 4, 4), torch.zeros(1, 4), []
for moment in range(5):
    at = turing.allocation(used)
    read = F.one_hot(torch.tensor([[1]]), 4).float() if moment == 2 else nothing  # 1 1 4
    used = turing.usage(used, at, read, torch.ones(1, 1))
    link, precedence = turing.temporal_link(link, precedence, at)
    written.append(int(at.argmax()))
print("written to:", written, " in use:", used[0].tolist())

# %% [markdown]
# The first goes to place 1, which is free again, and only the second to place 3.
#
# And the order? A matrix $L$ records whether place $i$ was written right after place $j$, and $p$ which was written last:
#
# $$L_{ij} \leftarrow (1 - w_i - w_j)\, L_{ij} + w_i\, p_j \qquad p \leftarrow \Big(1 - \sum_i w_i\Big)\, p + w$$
#
# (The factor forgets the links of a place that is written anew; the diagonal stays 0.) Multiplied by read weights, it leads forward to what was written next; transposed, it leads backward. We start at place 2. Which two places come next?

# %% tags=["nbval-check-output"]
at, way = F.one_hot(torch.tensor([2]), 4).float(), [2]
for _ in range(2):
    at, _ = turing.follow_link(link, at)
    way.append(int(at.argmax()))
print("in the order of writing:", way)

# %% [markdown]
# 1 and then 3, which no shift could follow. Csordás & Schmidhuber (2019) found weak points here, too: a freed place keeps its content, a key is compared with keys and values together, and links blur. With all this mended, the mean error on bAbI fell by 43 %.
#
# ## So: can attention write?
#
# Yes. Weights say where, so a write is as differentiable as a read, and the machine can learn a program that runs longer than in training. But results vary by seed, and each step waits for the one before.
#
# ## Questions
#
# These five questions test the goals at the top. Run a cell to see its question, then replace the dots with a letter in quotes or a number.

# %%
check("17.q1", ...)

# %%
check("17.q2", ...)

# %%
check("17.q3", ...)

# %%
check("17.q4", ...)

# %%
check("17.q5", ...)

# %% [markdown]
# ## Recap
#
# - Can attention write? Yes: a write erases and adds at each place as much as its weight says, and gradients flow through it.
# - A head goes where the content fits, or stays where it was; then it shifts and sharpens: it can jump and walk.
# - A machine that copies ten vectors can copy longer sequences, since it has learned a loop; the LSTMs could not.
# - Allocation says which places are free, temporal links say in which order places were written.
# - Such machines are hard to train: results vary with the seed, and the initial memory decides how fast they learn.
#
# **Exercises**: [open them](../exercises/17_neural_turing_machines_exercises.ipynb)
#
# **Next**: so far one network has answered. What if there are several, and attention chooses among them? [Lesson 18](18_mixture_of_experts.ipynb) answers this.
