# %%
import torch
import torch.nn.functional as F
from torch import nn

from course_lessons.lesson_17_neural_turing_machines import figures
from course_utils import check, predict, reveal
from course_utils.data.sequences import GIVEN, WANTED, copy
from course_utils.figures import diagrams, plots
from course_utils.figures.tables import table
from course_utils.models.train_model import train_model

torch.set_printoptions(precision=3, sci_mode=False)

# %% [markdown]
# Until now, attention has only *read*: it has computed a weighted sum of vectors. Can attention also *write*, that is, change the vectors it looks at? And can a network learn *where* to write so that it can find things again later?
#
# ## A task that needs a memory
#
# The network receives several vectors of six random bits, one at each step. After a **delimiter**, which marks the end, it should repeat all the vectors in order.
#
# The plot shows five vectors, with a dot for each 1. How many bits does the network have to remember when it reaches the delimiter?

# %%
example = copy(torch.Generator().manual_seed(0), batch=1, shortest=5, longest=5)
figures.draw_copy(example)

# %% [markdown]
# The network has to remember 5 · 6 = 30 bits. A recurrent network stores them in its state and has to learn how to store the first vector, the second, and so on. How should it store a sixth if it has never seen more than five?
#
# A **neural Turing machine** (Graves et al., 2014) has a second place to store them: a **memory** $M$ with $N$ positions, where $M(i)$ is the vector of dimension $W$ at position $i$.
#
# The name refers to Turing's machine of 1936, whose head reads one cell of a tape, writes to it and moves to a neighbouring cell. Here, a **head** is attention over all positions, so it can be partly at several of them.
#
# ## How weights write
#
# A head has a weight $w(i)$ for each position. The weights are between 0 and 1 and sum to 1. To read, a head computes the weighted sum of the positions (equation 2 of the paper):
#
# $$r = \sum_i w(i)\, M(i)$$
#
# To write, a head first erases part of each position and then adds something to it. The **erase vector** $e$, with entries between 0 and 1, determines which entries of a position are erased, and the **add vector** $a$ determines what is added. The weight determines how much is erased and added at position $i$ (equations 3 and 4):
#
# $$M(i) \leftarrow M(i) \circ (1 - w(i)\, e) + w(i)\, a$$
#
# The symbol ∘ denotes elementwise multiplication.
#
# As an example, we use three positions and W = 2. Position 0 contains (4, 8) and has a weight of 0.5. With $e$ = (1, 0) and $a$ = (2, 2), what does position 0 contain after the write?

# %% tags=["nbval-check-output"]
M = torch.tensor([[4.0, 8.0], [1.0, 1.0], [6.0, 6.0]])  # N W
w = torch.tensor([0.5, 0.5, 0.0])  # N
e = torch.tensor([1.0, 0.0])  # W
a = torch.tensor([2.0, 2.0])  # W
for i in range(3):
    erased = M[i] * (1 - w[i] * e)  # W
    print(erased + w[i] * a)

# %% [markdown]
# Position 0 now contains (3, 9): half of the 4 and none of the 8 is erased, and then half of 2 is added to each entry. Position 2 is unchanged because its weight is 0.
#
# Next, we implement reading and writing with tensor operations for a batch of B memories at once. In `write`, `unsqueeze` adds an axis of size 1, so that every weight multiplies every entry of $e$ and $a$.
#
# Does a gradient reach a write's weights? The first entry of position 0 was 4. With an erase entry of 1 and an add entry of 2, it becomes 4 · (1 - w) + 2 · w. Work out its derivative with respect to $w$ before you run the cell.


# %% tags=["nbval-check-output"]
def read(M, w):  # B N W, B N
    w = w.unsqueeze(1)  # B 1 N
    return (w @ M).squeeze(1)  # B 1 W, then B W


def write(M, w, e, a):  # B N W, B N, B W, B W
    w = w.unsqueeze(2)  # B N 1
    e = e.unsqueeze(1)  # B 1 W
    a = a.unsqueeze(1)  # B 1 W
    return M * (1 - w * e) + w * a  # B N W


w.requires_grad_(True)  # from here on, gradients reach w
written = write(M.unsqueeze(0), w.unsqueeze(0), e.unsqueeze(0), a.unsqueeze(0))
print("written:", written[0].detach())  # N W, for B = 1
written[0, 0, 0].backward()
print("gradient:", w.grad)  # N

# %% [markdown]
# The derivative is -4 + 2 = -2: a larger weight would make this entry smaller. The other weights have no influence on it, so their gradients are 0. `write` gives the same result as the loop.
#
# So weights can be used for writing, and gradients reach them. The harder part is finding the right position.
#
# ## How a head chooses its position
#
# In lesson 16, a query found what resembled it. That is not enough for writing, because all positions are alike at the beginning. Turing's machine works differently: it writes to one cell and then moves on to the next.
#
# Our head can do both: it computes its weights in four steps, each of which the network controls. Which of the four steps depend on what the memory contains?

# %%
diagrams.addressing()

# %% [markdown]
# Only the first step depends on what the memory contains. We now compute all four steps for a memory of four positions. The head was previously at position 2, so its old weights are (0, 0, 1, 0).
#
# ### Step 1: content
#
# The head compares a **key** $k$ with every position. The score is the cosine from lesson 04, multiplied by a **strength** $\beta$, and a softmax turns the scores into weights (equations 5 and 6):
#
# $$w_c(i) = \text{softmax}_i\big(\beta \cos(k, M(i))\big)$$
#
# In our example, the key is the vector at position 0, so its cosine with position 0 is 1, and with the others 0. The strength is $\beta = \ln 7$, which makes $e^\beta$ equal to 7. How much weight does position 0 get?


# %% tags=["nbval-check-output"]
def by_content(M, k, beta):  # B N W, B W, B 1
    k = k.unsqueeze(1)  # B 1 W: the same key for all positions
    cosines = F.cosine_similarity(M, k, dim=-1)  # B N
    return (beta * cosines).softmax(-1)  # B N


M = torch.eye(4).unsqueeze(0)  # B N W: four positions at right angles to each other
k = M[:, 0]  # B W: what position 0 contains
beta = torch.tensor([[7.0]]).log()  # B 1
content = by_content(M, k, beta)  # B N
content

# %% [markdown]
# Position 0 gets 7 / (7 + 1 + 1 + 1) = 0.7, and the others get 0.1 each.
#
# ### Step 2: gate
#
# The **gate** $g$, a number between 0 and 1, mixes these weights with the old ones, $w_\text{before}$ (equation 7):
#
# $$w_g = g\, w_c + (1 - g)\, w_\text{before}$$
#
# With a gate of 1, the head goes where the content matches; with a gate of 0, it stays where it was. Calculate position 2's weight for $g = 0.5$.


# %% tags=["nbval-check-output"]
def gate(content, before, g):  # B N, B N, B 1
    return g * content + (1 - g) * before  # B N


before = torch.tensor([[0.0, 0.0, 1.0, 0.0]])  # B N: the head was at position 2
gated = gate(content, before, torch.tensor([[0.5]]))  # B N
gated

# %% [markdown]
# Position 2 gets 0.5 · 0.1 + 0.5 · 1 = 0.55.
#
# ### Step 3: shift
#
# To move the head, a **kernel** $s$ contains three shares that sum to 1: $s(-1)$ of the weight moves one position back, $s(0)$ stays, and $s(1)$ moves one position forward. The positions form a circle, so position 0 follows the last one. In equation 8, position $i$ collects what arrives from all positions $j$:
#
# $$\tilde w(i) = \sum_j w_g(j)\, s(i - j)$$
#
# `roll(1, dims=1)` moves each weight one position forward. Our kernel is (0, 0.2, 0.8): nothing moves back, 0.2 stays and 0.8 moves forward. Calculate position 3's weight.


# %% tags=["nbval-check-output"]
def shift(gated, s):  # B N, B 3
    back, stay, on = s.split(1, dim=1)  # B 1 each
    goes_back = back * gated.roll(-1, dims=1)  # B N
    goes_on = on * gated.roll(1, dims=1)  # B N
    return goes_back + stay * gated + goes_on  # B N


s = torch.tensor([[0.0, 0.2, 0.8]])  # B 3
shifted = shift(gated, s)  # B N
shifted

# %% [markdown]
# Position 3 gets 0.8 · 0.55 from position 2 and keeps 0.2 · 0.05 of its own, which is 0.45 in total.
#
# ### Step 4: sharpen
#
# The gate and the shift have spread the weights out. The last step therefore raises each weight to a power $\gamma$ of 1 or more and divides by the sum (equation 9):
#
# $$w(i) = \frac{\tilde w(i)^\gamma}{\sum_j \tilde w(j)^\gamma}$$
#
# We use $\gamma$ = 2. With a gate of 0.5, does position 3 get more than half of the weight? And where does the head go with a gate of 0 or 1?


# %% tags=["nbval-check-output"]
def sharpen(shifted, gamma):  # B N, B 1
    powers = shifted**gamma  # B N
    return powers / powers.sum(-1, keepdim=True)  # B N


def address(M, before, k, beta, g, s, gamma):
    content = by_content(M, k, beta)  # B N
    gated = gate(content, before, g)  # B N
    shifted = shift(gated, s)  # B N
    return sharpen(shifted, gamma)  # B N


gamma = torch.tensor([[2.0]])  # B 1
for g in (0.0, 0.5, 1.0):
    weights = address(M, before, k, beta, torch.tensor([[g]]), s, gamma)  # B N
    print(f"gate {g}:", weights[0])

# %%
sharpened = sharpen(shifted, gamma)  # B N: with the gate 0.5
figures.draw_steps(before, content, gated, shifted, sharpened)

# %% [markdown]
# The bars show the weights for a gate of 0.5. After each step, the weights are spread over all positions, though unevenly.
#
# With a gate of 0.5, sharpening raises position 3's weight from 0.45 to 0.63. With a gate of 0, position 3 gets 0.94, and the key does not matter. We say that the head **walks**, because it moves on from its old position. With a gate of 1, position 1 gets 0.83, because it follows the position that resembles the key.
#
# ## The machine
#
# The **controller** chooses all these numbers; ours is an LSTM, the recurrent network from lesson 15. At each step, it receives the input and what was read at the previous step. It controls two heads: first one writes, then the other reads. Before you run the cell, think of two ways for a bit to get from the input to a later output.

# %%
diagrams.turing_machine()

# %% [markdown]
# A bit can go through the memory or stay in the LSTM's own state.
#
# The controller computes these numbers with linear layers, whose outputs can be any numbers, so each has to be mapped to its range. A sigmoid gives numbers between 0 and 1, tanh gives numbers between -1 and 1, and a softmax turns three numbers into a kernel. **Softplus** is ln(1 + eˣ), which is always above 0 and close to x when x is large.
#
# `weights_of_head` computes one head's new weights. `split` cuts W + 6 numbers into pieces: W for the key, 3 for the kernel, and 1 for each of the others. `address` is an argument so that we can replace it later.


# %%
H = 64  # width of the controller's state
W = 16  # width of a position


def weights_of_head(address, numbers, M, before):  # B W+6, B N W, B N
    k, beta, g, s, gamma = numbers.split([W, 1, 1, 3, 1], dim=1)
    k = k.tanh()  # B W
    beta = F.softplus(beta)  # B 1
    g = g.sigmoid()  # B 1
    s = s.softmax(-1)  # B 3
    gamma = 1 + F.softplus(gamma)  # B 1
    return address(M, before, k, beta, g, s, gamma)  # B N


# %% [markdown]
# The machine has a controller and three linear layers. `chunk` cuts a layer's output into two halves. There are 8 inputs, `GIVEN`: six bits, the delimiter, and one that only other tasks use. The output consists of six bits, `WANTED`.
#
# `step` does what the diagram shows: both heads compute their weights while the memory is still unchanged. Because writing comes before reading, the read head can read what was written at the same step.


# %%
class OneStep(nn.Module):
    def __init__(self, address):
        super().__init__()
        self.address = address
        self.controller = nn.LSTMCell(GIVEN + W, H)
        self.for_heads = nn.Linear(H, 2 * (W + 6))
        self.for_writing = nn.Linear(H, 2 * W)
        self.output = nn.Linear(H + W, WANTED)

    def step(self, x, r, state, M, w_read, w_write):
        # x: B GIVEN, r: B W, M: B N W, w_read and w_write: B N
        state = self.controller(torch.cat([x, r], 1), state)
        h = state[0]  # B H: the first of an LSTM's two vectors
        for_read, for_write = self.for_heads(h).chunk(2, 1)  # B W+6 each
        w_read = weights_of_head(self.address, for_read, M, w_read)  # B N
        w_write = weights_of_head(self.address, for_write, M, w_write)  # B N
        e, a = self.for_writing(h).chunk(2, 1)  # B W each
        M = write(M, w_write, e.sigmoid(), a.tanh())  # B N W
        r = read(M, w_read)  # B W
        logits = self.output(torch.cat([h, r], 1))  # B WANTED: above 0 means 1
        return logits, r, state, M, w_read, w_write


# %% [markdown]
# In the two lines with `weights_of_head`, a head's new weights are computed from its old ones, so it can walk.
#
# Next, we loop over all steps. Both heads begin at position 0, and all positions contain the same small number, which is not 0 because the cosine of a zero vector is undefined.


# %%
class Machine(OneStep):
    N = 32  # positions of the memory

    def forward(self, given):  # B T GIVEN
        B = len(given)
        M = torch.full((B, self.N, W), 1e-6)  # B N W: nothing is written yet
        w_read = torch.zeros(B, self.N)  # B N
        w_read[:, 0] = 1.0  # both heads begin at position 0
        w_write = w_read  # B N
        r = read(M, w_read)  # B W
        state = None  # then the LSTM begins with zeros
        outputs = []
        reads = []
        writes = []
        for x in given.unbind(1):  # B GIVEN: one step after the other
            result = self.step(x, r, state, M, w_read, w_write)
            logits, r, state, M, w_read, w_write = result
            outputs.append(logits)
            reads.append(w_read)
            writes.append(w_write)
        logits = torch.stack(outputs, 1)  # B T WANTED
        reads = torch.stack(reads, 1)  # B T N
        writes = torch.stack(writes, 1)  # B T N
        return logits, reads, writes


# %% [markdown]
# ## Does it learn where to write?
#
# We train the machine to copy sequences of 1 to 5 vectors, with `train_model` from lesson 13. The loss is the cross-entropy of the bits that it should repeat. We then test it on new sequences, including longer ones, and compute the share of wrong bits, which is one half for guessing. We use seed 3 here; other seeds follow.


# %%
def answer(machine, batch):
    logits, _, _ = machine(batch.given)  # B T WANTED
    S = batch.wanted.shape[1]  # the last S steps are wanted
    return logits[:, -S:]  # B S WANTED


def loss_on(machine, batch):
    return F.binary_cross_entropy_with_logits(answer(machine, batch), batch.wanted)


def trained(address, seed, steps=600):
    torch.manual_seed(seed)
    machine = Machine(address)

    def batch_loss(draw):
        return loss_on(machine, copy(draw, batch=16, shortest=1, longest=5))

    losses = train_model(machine, batch_loss, seed, steps, rate=0.02, warmup=20)
    return machine.requires_grad_(False), losses  # no more training


def wrong_share(machine, length, N=32):
    draw = torch.Generator().manual_seed(1)
    test = copy(draw, batch=50, shortest=length, longest=length)
    machine.N = N  # a memory of N positions
    wrong = (answer(machine, test) > 0) != test.wanted.bool()  # B S WANTED
    return wrong.float().mean().item()


# %%
machine, losses = trained(address, seed=3)
every_tenth = torch.tensor(losses).view(-1, 10).mean(1)  # means of 10 steps
plots.curves(range(0, 600, 10), {"loss": every_tenth[None]}, "step", "loss of a bit")
for n in (3, 5, 10, 15):
    print(f"{n:2} vectors: {wrong_share(machine, n):.2f} of the bits wrong")

# %% [markdown]
# The loss starts at ln 2 = 0.69, the value for guessing, falls unevenly to about 0.25, then quickly to almost 0. The machine copies three times as many vectors as in training with almost no mistakes. To see how, we plot both heads' weights while it copies 8 vectors. The vectors arrive in the first 8 steps, and the delimiter at the dashed line. What do the heads do?

# %%
eight = copy(torch.Generator().manual_seed(2), batch=1, shortest=8, longest=8)
_, _, writes = machine(eight.given)  # B T N
weights = writes[0, :8]  # 8 N: of the write head
written_to = weights.argmax(-1)  # 8: where w is largest
print("the vectors are written to", written_to.tolist())
figures.draw_heads(machine, eight)

# %% [markdown]
# The write head moves by one position for each vector. It happens to walk backwards: from position 0 to 31, then to 30, and so on. The read head waits at position 0 until the delimiter, then follows the same path and finds all the vectors in order. Meanwhile, the write head spreads its weight thinly, mostly over positions that are never read.
#
# Does the machine use both the content and the shift? We remove each of them from the trained machine. Without the content, β is 0, so all positions get the same score. Without the shift, the kernel is (0, 1, 0). And with a gate of 0, the content-based weights are not used at all.


# %%
def address_without_content(M, before, k, beta, g, s, gamma):
    return address(M, before, k, 0 * beta, g, s, gamma)


def address_without_gate(M, before, k, beta, g, s, gamma):
    return address(M, before, k, beta, 0 * g, s, gamma)


def address_without_shift(M, before, k, beta, g, s, gamma):
    s = torch.tensor([[0.0, 1.0, 0.0]])  # B 3: all of the weight stays
    return address(M, before, k, beta, g, s, gamma)


ways = (
    address,
    address_without_content,
    address_without_gate,
    address_without_shift,
)
for way in ways:
    machine.address = way
    print(f"{way.__name__}: {wrong_share(machine, 10):.2f} of the bits wrong")
machine.address = address  # as it was

# %% [markdown]
# Without the content or with a gate of 0, the machine copies as well as before, but without the shift, it is hardly better than guessing. This machine's heads therefore walk.
#
# Can a machine learn to copy if a part is missing during training as well? We train one without the shift and then plot ten stored runs of each kind. The table counts the machines that learn to copy (under a fifth of the bits wrong with 10 vectors) and gives the mean shares of wrong bits.

# %%
predict("17.no_shift", ...)

# %% tags=["reveals"]
print("The share of wrong bits without the shift, then ten seeds of each kind:")
without_shift, _ = trained(address_without_shift, seed=3)
reveal("17.no_shift", round(wrong_share(without_shift, 10), 2))
figures.ten_seeds()

# %% [markdown]
# The whole machine learns to copy for eight of the ten seeds, the machine without the shift for none. Without the shift, positions 1 to 31 always get the same weight. Because they are alike at the beginning, no key can tell them apart, and each write changes them in the same way. The 32 positions are worth no more than two.
#
# Without the content, as many machines learn as with it, because copying needs no key. But with a gate of 0, no machine learns in 600 steps, although [seed 3 does in 3,000](../docs/measurements.md#what-more-steps-and-other-rates-change). Without the content, a gate of 1 gives all positions equal weights.
#
# ## How many vectors can it copy?
#
# More room requires no new parameters: no layer's size depends on $N$, so we can change $N$ after training.
#
# **Your turn**: how many vectors will the machine copy with 16, 64 or 128 positions? Run the cell, then try other numbers.

# %%
lengths = (10, 20, 40, 80)
rows = {}
for N in (16, 32, 64, 128):
    rows[f"{N} positions"] = [wrong_share(machine, length, N) for length in lengths]
table(rows, [f"{n} vectors" for n in lengths], "share of wrong bits", digits=2)

# %% [markdown]
# With 10 or 20 vectors, this machine makes almost no mistakes as long as it has clearly more positions than vectors. With fewer positions, it overwrites what it still needs. With 40 or 80 vectors, it makes mistakes even with 128 positions, so room is not all it needs.
#
# What else goes wrong? For 40 vectors and 128 positions, we compare where each vector was written with where the read head looks for it. Does the read head always keep up?

# %%
machine.N = 128
forty = copy(torch.Generator().manual_seed(1), batch=50, shortest=40, longest=40)
logits, reads, writes = machine(forty.given)
written_to = writes[:, :40].argmax(-1)  # B 40
read_from = reads[:, 41:].argmax(-1)  # B 40: step 40 is the delimiter
behind = read_from - written_to  # B 40: by how many positions
predicted = logits[:, 41:] > 0  # B 40 6
wrong = predicted != forty.wanted.bool()  # B 40 6
not_previous = predicted != forty.wanted.bool().roll(1, 1)  # B 40 6
print("first sequence, behind by", behind[0, ::3].tolist())  # every third vector
print(f"sequences in which it falls behind: {(behind > 0).any(1).sum()} of 50")
print(f"where it keeps up, {wrong[behind == 0].float().mean():.2f} of the bits wrong")
print(f"where it is behind, {wrong[behind > 0].float().mean():.2f} of the bits wrong")
share = not_previous[behind == 1].float().mean()
print(f"one behind, {share:.2f} of the previous vector's bits wrong")

# %% [markdown]
# In most of the sequences, the read head falls behind, often near the end. In the first sequence, it slows down and then hardly moves. While a read head keeps up, almost no bits are wrong; once it is behind, half of the bits are, as with guessing. But where it is one position behind, most bits match the *previous* vector. The vectors are therefore written correctly, but the read head's walk fails.
#
# How many vectors can machines with other seeds copy, or LSTMs with no memory but a larger state? We compare five machines with 64 positions to three LSTMs, all trained to copy 1 to 10 vectors. The table shows how else they differ.


# %%
figures.draw_machine_and_lstm()

# %% [markdown]
# With 10 vectors, machines and LSTMs make few mistakes or none. With 20 vectors, every LSTM gets more than a quarter of the bits wrong, but no machine more than an eighth, although the machines have about a tenth as many parameters. The LSTMs do not lack room, because 20 vectors have only 120 bits, but LSTMs of other sizes may do better.
#
# With 40 vectors, the result depends on the seed: two of the five machines make almost no mistakes, while one is worse than the LSTMs. The paper's machine, trained on 1 to 20 vectors, made very few mistakes with 50. With 120, it repeated one vector, so all later ones came one step late (figure 4).
#
# ## So: can attention write?
#
# Attention can write: with a weight for each position, a head erases and adds, and gradients reach the weights.
#
# A network can also learn where to write. Eight of our ten machines did, as did all five trained on longer sequences. Our machine writes each vector one position further on, and its read head later follows the same path. Because every move is like the previous one, the machine can continue where its training ended, until a move goes wrong. When that happens depends on the seed.
#
# Hardly any model today has heads that walk, but erasing and adding have returned: lesson 20's delta rule erases what its memory contains for a key and adds a new value.
#
# ## Where you will meet this
#
# | here | in papers | in PyTorch |
# | --- | --- | --- |
# | $M$: N×W | memory matrix: N×M (2014), N×W (2016) | none; the package [`dnc`](https://github.com/ixaxaar/pytorch-dnc) has the successor of 2016 |
# | `by_content` | content addressing, $\beta_t$ | `F.cosine_similarity`, then `softmax` |
# | `gate` | interpolation gate, $g_t$ | `torch.lerp` |
# | `shift` | circular convolution, $s_t$ | `F.conv1d`, which does not flip the kernel |

# %% tags=["nbval-check-output"]
circle = F.pad(gated[:, None], (1, 1), mode="circular")  # B 1 N+2
flipped = s.flip(1)[:, None]  # 1 1 3: conv1d expects (out, in, width)
torch.allclose(F.conv1d(circle, flipped)[:, 0], shift(gated, s))

# %% [markdown]
# ## Questions
#
# Run a cell to see its question, then replace the dots with a number or with a letter in quotes.

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
# - Attention can write: at each position, a head erases and adds as much as its weight says.
# - A head can go to what resembles a key or walk on from where it was. Our machine copied by walking, and none of our machines trained without the shift copied ten vectors.
# - A larger memory needs no more parameters.
# - Some seeds get further than others, so one run shows only what is possible.
#
# **Exercises**: [open them](../exercises/17_neural_turing_machines_exercises.ipynb)
#
# **Next**: so far, a single network has answered. [What if there are several, and attention chooses among them?](18_mixture_of_experts.ipynb)
