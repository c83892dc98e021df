# %%
import ipywidgets
import torch
import torch.nn.functional as F
from torch import nn

from course_utils import check, predict, reveal
from course_utils.data.measured import measured, measured_at
from course_utils.data.sequences import GIVEN, WANTED, copy
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table
from course_utils.figures.widgets import explore
from course_utils.models import turing

torch.set_printoptions(precision=3, sci_mode=False)


def drawn(seed):
    return torch.Generator().manual_seed(seed)


# %% [markdown]
# ## Can you repeat what you have heard?
#
# In lesson 16 every fact got a memory of its own, before the question came. Now a network must decide for itself what to keep. Can it learn *where* to write it? The task: it hears vectors of six random bits, then a delimiter, then silence, in which it should repeat them. In the example below, how many bits does the network have to hold when the delimiter comes?

# %%
example = copy(drawn(0), batch=1, shortest=5, longest=5)
rows = [*(f"bit {i}" for i in range(1, 7)), "delimiter"]
pictures = {"given": example.given[0, :, :7], "wanted": F.pad(example.wanted[0], (0, 0, 6, 0))}  # wanted in the silence
for ax, (name, bits) in zip(plots.axes(2, width=4.4, height=2.8), pictures.items(), strict=True):
    plots.mask(bits.T > 0, None, rows[: bits.shape[1]], name, ax, xlabel="step", ylabel="")  # a dot for each 1

# %% [markdown]
# Five vectors of six bits should come out again: the network has to hold 30 bits. An LSTM keeps them in its state, and a larger state needs more parameters. A **neural Turing machine** (Graves et al. 2014) gives the LSTM a memory $M$: $N$ positions with $W$ dimensions each. More positions need no more parameters.
#
# ## Reading and writing
#
# A **head** has weights $w$ over the positions, which sum to 1. It reads as attention does. To write, it erases with a vector $e$, whose numbers lie between 0 and 1, and adds a vector $a$ (equations 2 to 4):
#
# $$r = \sum_i w(i)\, M(i) \qquad M(i) \leftarrow M(i) \circ (1 - w(i)\, e) + w(i)\, a$$
#
# A position holds (4, 8), its weight is 0.5, $e$ = (1, 0) and $a$ = (2, 2). What does it hold afterwards?


# %% tags=["nbval-check-output"]
def read(M, w):  # B N W, B N
    return (w[:, None] @ M)[:, 0]  # B W


def write(M, w, e, a):  # B N W, B N, B W, B W
    w = w[:, :, None]  # B N 1
    return M * (1 - w * e[:, None]) + w * a[:, None]  # B N W


M, w = torch.tensor([[[4.0, 8.0], [1.0, 1.0]]]), torch.tensor([[0.5, 0.5]], requires_grad=True)
written = write(M, w, torch.tensor([[1.0, 0.0]]), torch.tensor([[2.0, 2.0]]))
print("written:", written.detach())
print("gradient of the first number:", *torch.autograd.grad(written[0, 0, 0], w))

# %% [markdown]
# Half of the 4 is erased, nothing of the 8, and 1 is added to both: (3, 9). The gradient says that more weight would make the first number smaller. So attention can write, and a write is as differentiable as a read. The question is whether a machine can learn *where* to write, well enough to copy more vectors than it saw in training.
#
# ## Where does a head go?
#
# A computer has addresses: write here, then one position further. How can weights do that? It takes four steps, and the network controls each one. Which of them look at the memory?

# %%
diagrams.addressing()

# %% [markdown]
# Only the first does. By **content**, the head finds the position that resembles a key $k$, with lesson 04's cosine and a strength $\beta$. The **gate** $g$ mixes these weights with those of the step before (equations 5 to 7):
#
# $$w_c = \text{softmax}(\beta \cos(k, M(i))) \qquad w_g = g\, w_c + (1 - g)\, w_\text{before}$$
#
# Take four positions. The key has a cosine of 1 with position 0 and of 0 with the others, and $\beta$ = ln 7. The head was at position 2, and $g$ = 0.5. How much weight does position 2 have after the gate?


# %% tags=["nbval-check-output"]
def by_content(M, before, k, beta, g):  # B N W, B N, B W, B 1, B 1
    content = (beta * F.cosine_similarity(M, k[..., None, :], dim=-1)).softmax(-1)  # B N
    return content, g * content + (1 - g) * before  # B N, B N


M, before, half = torch.eye(4)[None], torch.eye(4)[[2]], torch.tensor([[0.5]])
content, gated = by_content(M, before, M[:, 0], torch.tensor([[7.0]]).log(), half)
print("w_c:", content, "\nw_g:", gated)

# %% [markdown]
# 0.5 · 0.1 + 0.5 · 1 = 0.55. To go one position *further*, the **kernel** $s$, a weight for each shift, moves all weights along a circle of positions. This blurs them, and $\gamma$ **sharpens** them again (equations 8 and 9):
#
# $$\tilde w(i) = \sum_j w_g(j)\, s(i - j) \qquad w(i) = \tilde w(i)^\gamma \big/ \textstyle\sum_j \tilde w(j)^\gamma$$
#
# The kernel is (0, 0.2, 0.8) for the shifts -1, 0 and +1, and $\gamma$ = 2. How much weight does the shift give to position 3?


# %% tags=["nbval-check-output"]
def by_shift(gated, s, gamma):  # B N, B 3, B 1
    shifted = sum(s[..., [i]] * gated.roll(i - 1, -1) for i in range(3))  # B N
    powers = shifted**gamma  # B N
    return shifted, powers / powers.sum(-1, keepdim=True)  # B N, B N


def address(M, before, k, beta, g, s, gamma):
    content, gated = by_content(M, before, k, beta, g)
    return content, gated, *by_shift(gated, s, gamma)


shifted, sharpened = by_shift(gated, torch.tensor([[0.0, 0.2, 0.8]]), gamma=2)
print("w̃:", shifted, "\nw:", sharpened)

# %% [markdown]
# 0.8 · 0.55 + 0.2 · 0.05 = 0.45, and sharpening makes 0.63 of it. Now try all four steps on eight positions. The head was at position 2 before, and position 5 resembles the key. How do you send it to the position *after* the one that resembles the key?


# %%
def steps_of(gate, strength, shift, gamma):
    M, before = torch.eye(8)[None], torch.eye(8)[[2]]
    s = torch.tensor([[max(0.0, -shift), 1 - abs(shift), max(0.0, shift)]])
    steps = address(M, before, M[:, 5], *torch.tensor([strength, gate]), s, gamma)
    names = ["content", "gated", "shifted", "sharpened"]
    ax = plots.axes(width=5.2, height=2.6)
    plots.weights(torch.cat(steps), range(8), names, "weights after each step", ax, xlabel="position", ylabel="")
    most, place = steps[-1][0].max(0)
    after = ", after the one that resembles the key" if place == 6 else ""
    return f"In the end the largest weight, {most:.2f}, is on position {int(place)}{after}."


head_explorer = explore(
    steps_of,
    gate=ipywidgets.FloatSlider(value=0.0, min=0, max=1, step=0.1),
    strength=ipywidgets.FloatSlider(value=5.0, min=0.5, max=20, step=0.5),
    shift=ipywidgets.FloatSlider(value=0.8, min=-0.9, max=0.9, step=0.1, description="shift: -1 back, +1 on"),
    gamma=ipywidgets.FloatSlider(value=2.0, min=1, max=10, step=0.5),
)
head_explorer

# %% [markdown]
# With these settings the head goes from position 2 to position 3, whatever the memory holds: it **walks**. With a gate of 1, a high strength and a large shift it **jumps** to position 6.
#
# ## The machine
#
# A **controller**, here an LSTM, takes the input and what it read last, and tells both heads what to do; at each step the write head writes first, then the read head reads. Which routes can a bit take from the input to the output, many steps later?

# %%
diagrams.turing_machine()

# %% [markdown]
# A bit can go through the memory, once the write head has put it there and the read head finds it, or through the LSTM's own state.
#
# The controller's commands come out of a linear layer, so they can be any numbers: each is brought into its range. Why may $\gamma$ not be below 1, and why is $s$ a softmax?


# %%
def in_range(commands, W):  # B 2 W+6: for the read head and the write head
    k, beta, g, s, gamma = commands.split([W, 1, 1, 3, 1], -1)
    return k.tanh(), F.softplus(beta), g.sigmoid(), s.softmax(-1), 1 + F.softplus(gamma)


print("w̃ = (0, 0.2, 0.8), γ = 0.5:", by_shift(torch.tensor([[0.0, 0.2, 0.8]]), torch.tensor([[0.0, 1.0, 0.0]]), 0.5)[1])
print("s = (-1, 0, 1):", by_shift(before, torch.tensor([[-1.0, 0.0, 1.0]]), 1)[0])

# %% [markdown]
# Below 1, $\gamma$ would blur the weights. Without a softmax, weights could be negative, and need not sum to 1. Here is the whole machine. `w` holds both heads' weights, and the read head's come first. Find the line in which the old $w$ comes in, so that a head can walk.


# %%
class Machine(nn.Module):
    def __init__(self, address, M, H=64):  # M N W: the memory at the beginning; H: the controller's width
        super().__init__()
        self.address, self.M, W = address, M, M.shape[1]
        self.controller = nn.LSTMCell(GIVEN + W, H)
        self.heads, self.writer = nn.Linear(H, 2 * (W + 6)), nn.Linear(H, 2 * W)
        self.readout = nn.Linear(H + W, WANTED)

    def forward(self, given):  # B T GIVEN
        B, (N, W) = len(given), self.M.shape
        M, w = self.M.expand(B, N, W), torch.eye(N)[0].expand(B, 2, N)  # both heads begin at position 0
        r, state, steps = read(M, w[:, 0]), None, []
        for x in given.unbind(1):
            state = self.controller(torch.cat([x, r], -1), state)
            commands = in_range(self.heads(state[0]).view(B, 2, -1), W)
            *_, w = self.address(M[:, None], w, *commands)  # B 2 N
            e, a = self.writer(state[0]).chunk(2, -1)
            M = write(M, w[:, 1], e.sigmoid(), a.tanh())  # B N W
            r = read(M, w[:, 0])  # B W
            steps.append((self.readout(torch.cat([state[0], r], -1)), *w.unbind(1), M))
        return turing.MachineOutput(*(torch.stack(each, 1) for each in zip(*steps, strict=True)))


# %% [markdown]
# The old $w$ goes into `address`, which may shift it. A `MachineOutput` holds what happens at each step: outputs, both heads' weights, and the memory.
#
# ## Take out the shift
#
# We train two machines to copy 1 to 5 vectors, one as it is and one whose kernel is always (0, 1, 0), which moves nothing. Then we ask both for more vectors than they saw in training. All positions of the memory begin alike, so at first content can't tell them apart. What will the second machine find hard?


# %%
def no_shift(M, before, k, beta, g, s, gamma):
    return address(M, before, k, beta, g, torch.tensor([0.0, 1.0, 0.0]).expand_as(s), gamma)


def mine(M, before, k, beta, g, s, gamma):
    return address(M, before, k, beta, g, s, gamma)  # for later: leave out another step


def trained(address, seed=3):
    torch.manual_seed(seed)
    machine = Machine(address, M=torch.full((32, 16), 1e-6))  # 32 positions, all alike
    turing.fit(machine, lambda draw: copy(draw, 16, 1, 5), seed, steps=450, rate=0.02, falls_late=True)
    return machine.requires_grad_(False)


variants = {"with the shift": address, "without the shift": no_shift}  # later, also "mine": mine
predict("17.no_shift", ...)

# %% tags=["reveals"]
print("Share of wrong bits by length:")
machines = {name: trained(variant) for name, variant in variants.items()}
tests = {f"{n} vectors": copy(drawn(1), 50, n, n) for n in (3, 5, 10, 15)}
wrong = {name: [turing.wrong_bits(machine, test) for test in tests.values()] for name, machine in machines.items()}
reveal("17.no_shift", round(wrong["without the shift"][2], 2))
table(wrong, tests, digits=2)

# %% [markdown]
# With the shift, this machine (seed 3; [not every seed learns](../docs/measurements.md#what-memories-can-do)) copies three times as many vectors as in training almost without mistakes. Without it, there are mistakes within the training range, and many beyond it. Here are the weights of the heads while both machines copy eight vectors: eight steps to hear them, a delimiter at the dashed line, and eight steps of silence. Where do you see the walk?

# %%
longer, heads = copy(drawn(2), 1, 8, 8), {}
for name, machine in machines.items():
    film = machine(longer.given)
    heads |= {f"write head,\n{name}": film.writes[0], f"read head,\n{name}": film.reads[0]}
plots.heads(heads, line=8)
print("with the shift, the vectors are written to", heads["write head,\nwith the shift"][:8].argmax(-1).tolist())

# %% [markdown]
# With the shift, the write head takes one step at each vector, always in the same direction. In the silence it spreads over all positions, and the read head walks over those that were written. Each step is like the last, so it may go on after five. Without the shift, neither head walks: both spread from position 0 over all the others.
#
# Which other step can be left out, and most seeds still learn? Try it in `mine`: put `0 * g` for `g` (no content), `torch.ones_like(g)` for `g` (no old weights) or `torch.ones_like(gamma)` for `gamma` (no sharpening). Add `mine` to `variants`, run that cell and the next two, then predict; one run is a hint only.

# %%
predict("17.other_step", ...)


# %% tags=["reveals"]
def wrong_at(length, setup, task="copy"):
    (runs,) = measured_at("turing", "wrong", "length", [length], setup=setup, task=task)
    return runs  # one for each seed


print("Which parts does copying need? Three seeds of each:")
setups = ("machine", "no content", "no old weights", "no sharpening", "no shifts, random memory")
rows = {setup: {f"{n} vectors": wrong_at(n, setup, "parts") for n in (5, 10)} for setup in setups}
least = min(setups[1:4], key=lambda setup: sum(rows[setup]["10 vectors"]))
reveal("17.other_step", least.removeprefix("no "))
plots.dots(rows, "share of wrong bits; a mark for each seed", xlim=(-0.03, 0.55))

# %% [markdown]
# The whole machine makes hardly any mistakes with these three seeds, so a mark's distance from 0 is the cost of the missing part. Two learn without sharpening. Without the old weights none does: a head must find by content where it was. Without content only shifts move a head, and no seed learned to copy that way. We do not know why: by hand, shifts can even reverse a sequence (exercise `17.backwards`). Without the shift none learns it, even from positions that differ at random.
#
# ## Five seeds, and LSTMs
#
# Does an LSTM go as far? Ours have 256 units and 273,926 parameters, a machine has 28,466:
#
# | model | memory | training | steps | seeds |
# | --- | --- | --- | --- | --- |
# | machine above, also without parts | 32 | copy 1 to 5 | 450 | 1 above, 3 in the dots |
# | machine, without shifts | 64 | copy 1 to 10 | 1,200 | 5 |
# | LSTM; longer | none | copy 1 to 10 | 2,400; 6,000 | 5; 3 |
# | machine; LSTM (later) | 64; none | recall 2 to 6 | 2,000; 4,000 | 5 |
#
# Which LSTMs copy ten vectors, and what happens to them at fifteen?

# %%
setups = ("machine", "LSTM, longer", "LSTM", "no shifts")
rows = {f"{n} vectors": {setup: wrong_at(n, setup) for setup in setups} for n in (10, 15, 20, 40)}
plots.dots(rows, "share of wrong bits; a mark for each seed; a guess has half of them wrong", xlim=(-0.03, 0.55))
for n in (20, 40):
    pairs = zip(wrong_at(n, "machine"), wrong_at(n, "LSTM"), strict=True)
    print(
        f"{n} vectors, the machine and the LSTM of each seed:", *(f"{one:.2f} and {other:.2f};" for one, other in pairs)
    )

# %% [markdown]
# Without shifts, no machine learns to copy ten. The LSTMs that trained longer make few mistakes at ten, and at fifteen many more than the machines with shifts. At 20 the machine beats the LSTM with every seed; at 40 with four, two of them almost perfect, and seed 2 only guesses.
#
# ## Jump and walk
#
# In **associative recall**, a machine hears several vectors, a delimiter before each, then one of them again, and should give the one that followed it. Here a trained machine (seed 0; 16 of its 64 positions) hears six, at steps 1, 3, 5 and so on; at step 13 the second comes again. Where will the read head go?

# %%
rows = {setup: [torch.tensor(wrong_at(n, setup, "recall")) for n in (6, 12)] for setup in ("machine", "LSTM")}
heads = {}
for head in ("write", "read"):
    steps = [measured("recalled", "weight", "position", head=head, step=t)[1][0] for t in range(16)]
    heads[f"{head} head"] = torch.tensor(steps)  # T N
plots.heads(heads, line=12)
print("steps 3 and 5 write to", heads["write head"][[3, 5]].argmax(-1).tolist(), end="; ")
print("at steps 13 to 15 the read head is at", heads["read head"][13:].argmax(-1).tolist())
table(rows, ("6 vectors", "12 vectors"), corner="recall: share of wrong bits", digits=2)

# %% [markdown]
# Trained on 2 to 6 vectors, the machines recall among twelve almost without mistakes; the LSTMs get more than a fifth of the bits wrong among six. The read head **jumps** at step 13, to position 4, after the one where the second vector lies. Then it **walks** one step, to the third vector at position 5, and waits there for the answer.
#
# ## Room and order
#
# A memory with four positions takes in 1, 2 and 3. Then 2 is read and not needed any more, and 4 and 5 come. The write head walks on at each number and overwrites what it finds. Which number is lost?

# %% tags=["nbval-check-output"]
one, at, memory = torch.ones(1, 1), torch.eye(4)[[3]], torch.zeros(1, 4, 1)
for number in range(1, 6):
    at = by_shift(at, torch.tensor([[0.0, 0.0, 1.0]]), 1)[1]  # one position on
    memory = write(memory, at, one, number * one)
print("memory:", memory[0, :, 0].tolist())

# %% [markdown]
# 5 has overwritten 1, and 2, which nobody needs, is still there. A **differentiable neural computer** (DNC, Graves et al. 2016) has two parts for this in place of the shift. A position's **usage** $u$ says how full it is. A write fills its share of what is free: $u \leftarrow u + w - uw$. A read whose free gate is 1 empties its share: $u \leftarrow u(1 - w_r)$. **Allocation** sends a write to the freest position $\phi_1$ first (methods, equation 1):
#
# $$w_a[\phi_j] = (1 - u[\phi_j]) \prod_{i<j} u[\phi_i]$$
#
# Three positions have usage 0.9, 0.2 and 0.5. Which weights do they get?

# %% tags=["nbval-check-output"]
used = torch.tensor([0.9, 0.2, 0.5])
weights = turing.allocation(used)
print(weights)
diagrams.allocation(used.tolist(), weights.tolist())

# %% [markdown]
# Position 1 is the freest and takes 0.8 of the weight, position 2 half of the 0.2 that is left, and position 0 a tenth of the rest. Writing wherever there is room loses the order, so **temporal links** $L_{ij}$ say whether position $i$ was written right after position $j$. With a write $w$, $L_{ij} \leftarrow (1 - w_i - w_j)L_{ij} + w_i p_j$, for $i \ne j$, and $p$ says which position was written last. The same five numbers come again; after 3, position 1 is freed. Where do 4 and 5 go, and how do the links lead there?

# %% tags=["nbval-check-output"]
used, nothing, memory = torch.zeros(1, 4), torch.zeros(1, 1, 4), torch.zeros(1, 4, 1)
link, last = torch.zeros(1, 4, 4), torch.zeros(1, 4)  # last: which position was written last
held = [[] for _ in range(4)]
for number in range(1, 6):
    at = turing.allocation(used)
    memory = write(memory, at, one, number * one)
    freed = torch.eye(4)[None, [1]] if number == 3 else nothing  # 1 1 4
    used = turing.usage(used, at, freed, one)
    link, last = turing.temporal_link(link, last, at)
    held[at.argmax()].append(f"{number}")
print("memory:", memory[0, :, 0].tolist())
diagrams.links(link[0].tolist(), ["holds " + ", before it ".join(numbers[::-1]) for numbers in held])

# %% [markdown]
# 4 goes to position 1, the first free one, and 5 to 3. The links lead from 2 to 1 and on to 3, as no single shift does: a read head at $r$ goes on to $L\,r$. Overwriting position 1 lost both its old links, from 0 and to 2. [Without links](../docs/measurements.md#what-memories-can-do), no DNC learned to copy ten.
#
# ## So: can it learn where to write?
#
# Yes. A write is a weighted erase and add, so gradients can teach it. The machine learns a *step*, not places. Of five seeds, two are almost perfect at forty and one only guesses: it goes further, but not reliably.
#
# ## Questions
#
# Run a cell, then replace the dots with a letter in quotes or a number.

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
# - Attention can write: it erases and adds at each position as much as its weight says, and gradients flow through it.
# - A head goes where the content fits, or stays where it was. Then it shifts and sharpens. So it can jump and walk.
# - Without the shift, from positions that are alike or random, no machine learned to copy ten vectors. With it, all five that trained on up to ten did, and from twenty on they differ.
# - Usage says which positions are free, allocation where to write, and temporal links in which order positions were written, until one is overwritten.
# - Writable memories live on: in linear attention (lesson 20) each token writes into a matrix, and the delta rule erases first, as a head does (Schlag et al. 2021).
#
# **Exercises**: [open them](../exercises/17_neural_turing_machines_exercises.ipynb)
#
# **Next**: so far one network has answered. [What if there are several, and attention chooses among them?](18_mixture_of_experts.ipynb)
