"""What lesson 17 shows: the machine against its equations, one number after the other, and the sequences that it copies and recalls."""

import pytest
import sampling
import torch
import torch.nn.functional as F
from tensors import drawn

from course_utils.base.errors import CourseError
from course_utils.data.sequences import BITS, GIVEN, WANTED, copy, recall, repeat_copy
from course_utils.models.turing import (
    Computer,
    Machine,
    MachineOutput,
    Recurrent,
    allocation,
    content_weights,
    fit,
    follow_link,
    interpolate,
    loss,
    read,
    sharpen,
    shift,
    temporal_link,
    usage,
    write,
    wrong_bits,
)


def test_the_four_steps_equal_their_formulas_number_by_number():
    generator = drawn()
    memory, key = torch.randn(2, 5, 3, generator=generator), torch.randn(2, 3, generator=generator)
    previous = torch.rand(2, 5, generator=generator).softmax(-1)
    strength, gate, gamma = (torch.tensor(pair) for pair in ([2.0, 0.5], [0.9, 0.2], [1.0, 3.0]))
    kernel = torch.rand(2, 3, generator=generator).softmax(-1)
    content = content_weights(memory, key, strength)
    between = interpolate(content, previous, gate)
    moved = shift(between, kernel)
    sharp = sharpen(moved, gamma)
    for b in range(2):
        scores = [strength[b] * F.cosine_similarity(memory[b, i], key[b], dim=0) for i in range(5)]
        torch.testing.assert_close(content[b], torch.stack(scores).softmax(0))
        for i in range(5):
            assert between[b, i].item() == pytest.approx(
                (gate[b] * content[b, i] + (1 - gate[b]) * previous[b, i]).item(), abs=1e-6
            )
            expected = sum(between[b, j] * kernel[b, (i - j + 1) % 5] for j in range(5) if (i - j + 1) % 5 < 3)
            assert moved[b, i].item() == pytest.approx(expected.item(), abs=1e-6)
            assert sharp[b, i].item() == pytest.approx(
                (moved[b, i] ** gamma[b] / (moved[b] ** gamma[b]).sum()).item(), abs=1e-6
            )
    one = F.one_hot(torch.tensor([4]), 5).float()
    assert shift(one, torch.tensor([[0.0, 0.0, 1.0]])).argmax() == 0  # a circle


def test_read_and_write_equal_their_sums_place_by_place():
    generator = drawn(1)
    memory, weights = torch.randn(2, 4, 3, generator=generator), torch.rand(2, 4, generator=generator)
    erase, add = torch.rand(2, 3, generator=generator), torch.randn(2, 3, generator=generator)
    after = write(memory, weights, erase, add)
    for b in range(2):
        torch.testing.assert_close(read(memory, weights)[b], sum(weights[b, i] * memory[b, i] for i in range(4)))
        for i in range(4):
            torch.testing.assert_close(
                after[b, i], memory[b, i] * (1 - weights[b, i] * erase[b]) + weights[b, i] * add[b]
            )


def test_sharpening_weights_of_zero_has_a_finite_gradient():
    weights = torch.tensor([[0.0, 0.25, 0.75]], requires_grad=True)
    sharpen(weights, torch.tensor([2.0]))[0, 1].backward()
    assert weights.grad.isfinite().all()


@pytest.mark.parametrize("moves", [True, False])
def test_a_machine_equals_its_equations_step_by_step(moves):
    torch.manual_seed(0)
    machine = Machine(4, 3, places=5, width=2, hidden=6, moves=moves).double()
    given = torch.randn(2, 3, 4, generator=drawn(), dtype=torch.float64)
    film = machine(given)
    memory = torch.full((2, 5, 2), 1e-6, dtype=torch.float64)
    heads = [F.one_hot(torch.zeros(2, dtype=torch.long), 5).double()] * 2
    seen, state = memory[:, 0], None
    for t in range(3):
        state = machine.controller(torch.cat([given[:, t], seen], -1), state)
        said = machine.heads(state[0])
        for head in range(2):
            own = said[:, 8 * head : 8 * head + 8]
            w = content_weights(memory, own[:, :2].tanh(), F.softplus(own[:, 2]))
            w = interpolate(w, heads[head], own[:, 3].sigmoid())
            w = shift(w, own[:, 4:7].softmax(-1)) if moves else w
            heads[head] = sharpen(w, 1 + F.softplus(own[:, 7]))
        erase, add = machine.writer(state[0]).split(2, -1)
        memory = write(memory, heads[1], erase.sigmoid(), add.tanh())
        seen = read(memory, heads[0])
        torch.testing.assert_close(film.logits[:, t], machine.readout(torch.cat([state[0], seen], -1)))
        torch.testing.assert_close(film.reads[:, t], heads[0])
        torch.testing.assert_close(film.writes[:, t], heads[1])
        torch.testing.assert_close(film.memory[:, t], memory)


def test_a_machine_writes_with_the_function_that_it_is_given():
    machine = Machine(4, 3, places=5, width=2, write=lambda memory, weights, erase, add: memory + 1)
    memory = machine(torch.randn(2, 3, 4, generator=drawn())).memory  # B T N W
    torch.testing.assert_close(memory[:, :, 0, 0], torch.tensor([1.0, 2.0, 3.0]).expand(2, 3))


def test_a_copy_is_given_first_and_wanted_afterwards():
    for seed in range(20):
        asked = copy(drawn(seed), 3, 1, 4)
        length = asked.wanted.shape[1]
        assert 1 <= length <= 4 and asked.given.shape == (3, 2 * length + 1, GIVEN)
        assert torch.equal(asked.given[:, :length, :BITS], asked.wanted)
        assert asked.given[:, length, BITS].eq(1).all() and not asked.given[:, length + 1 :].any()
        assert not asked.given[:, :length, BITS:].any() and not asked.given[:, length, :BITS].any()


def test_a_copy_can_be_wanted_several_times():
    times = set()
    for seed in range(40):
        asked = repeat_copy(drawn(seed), 2, 2, 2, most=3)
        wanted = asked.given[:, 2, BITS + 1] * 10
        times.add(round(wanted[0].item()))
        assert asked.wanted.shape[1] == 2 * round(wanted[0].item())
        for start in range(0, asked.wanted.shape[1], 2):
            assert torch.equal(asked.wanted[:, start : start + 2], asked.given[:, :2, :BITS])
    assert times == {1, 2, 3}


def test_the_vector_after_the_one_shown_again_is_wanted():
    asked = recall(drawn(3), batch=50, fewest=4, most=4)
    assert asked.given.shape == (50, 12, GIVEN) and asked.wanted.shape == (50, 1, WANTED)
    assert asked.given[:, [0, 2, 4, 6], BITS].eq(1).all() and not asked.given[:, [0, 2, 4, 6], :BITS].any()
    assert asked.given[:, [8, 10], BITS + 1].eq(1).all() and not asked.given[:, 11].any()
    places = set()
    for given, wanted in zip(asked.given, asked.wanted, strict=True):
        items = [tuple(vector) for vector in given[[1, 3, 5, 7], :BITS].tolist()]
        assert len(set(items)) == 4  # so that there is one answer
        place = items.index(tuple(given[9, :BITS].tolist()))
        assert items[place + 1] == tuple(wanted[0].tolist())
        places.add(place)
    assert places == {0, 1, 2}


def test_recall_and_copy_refuse_too_many_vectors_and_bad_lengths():
    assert recall(drawn(), 1, 64, 64).given.shape[1] == 132
    with pytest.raises(CourseError, match="2 to 64 different vectors to recall, not 65"):
        recall(drawn(), 1, 65, 65)
    with pytest.raises(CourseError, match="in order, not 5 to 4"):
        copy(drawn(), 2, 5, 4)


def test_bits_are_counted_where_an_answer_is_wanted():
    class Says(torch.nn.Module):
        def forward(self, given):
            logits = torch.full((len(given), given.shape[1], WANTED), -9.0)
            return MachineOutput(logits, None, None, None)

    asked = copy(drawn(), 8, 3, 3)
    assert wrong_bits(Says(), asked) == pytest.approx(asked.wanted.mean().item())
    assert loss(Says(), asked).item() == pytest.approx(9 * asked.wanted.mean().item(), abs=0.01)


@pytest.mark.parametrize(
    ("kind", "warmup"), sampling.usually([(Machine, 0), (Machine, 20), (Recurrent, 0), (Computer, 0)], 2)
)
def test_training_lowers_the_loss(kind, warmup):
    torch.manual_seed(0)
    model = kind(GIVEN, WANTED)
    losses = fit(model, lambda draw: copy(draw, 16, 1, 2), steps=60, rate=1e-2, warmup=warmup)
    assert sum(losses[-10:]) < 0.9 * sum(losses[:10])


def test_free_places_come_first_and_fill_up():
    weights = allocation(torch.tensor([[1.0, 0.0, 0.5, 0.0]]))
    assert weights.tolist() == [[0.0, 1.0, 0.0, 0.0]]  # of two free places the first
    used = torch.tensor([0.9, 0.2, 0.5])
    expected = torch.tensor([0.2 * 0.5 * 0.1, 0.8, 0.2 * 0.5])
    torch.testing.assert_close(allocation(used), expected)


def test_a_write_uses_a_place_and_a_free_gate_frees_a_read_one():
    before, wrote = torch.tensor([[0.5, 0.0, 1.0]]), torch.tensor([[0.5, 1.0, 0.0]])
    reads, free = torch.tensor([[[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]]), torch.tensor([[1.0, 0.5]])
    torch.testing.assert_close(usage(before, wrote, reads, free), torch.tensor([[0.75 * 0.5, 1.0, 0.0]]))


def test_links_lead_forward_and_backward_through_the_writes():
    link, precedence = torch.zeros(1, 4, 4), torch.zeros(1, 4)
    places = [2, 0, 3]
    for place in places:
        link, precedence = temporal_link(link, precedence, F.one_hot(torch.tensor([place]), 4).float())
    assert precedence.tolist() == [[0.0, 0.0, 0.0, 1.0]]
    at = F.one_hot(torch.tensor([2]), 4).float()
    forward, backward = follow_link(link, at)
    assert forward.argmax() == 0 and not backward.any()
    assert follow_link(link, forward)[0].argmax() == 3
    assert follow_link(link, F.one_hot(torch.tensor([3]), 4).float())[1].argmax() == 0
    soft = torch.rand(1, 4, generator=drawn()).softmax(-1)
    after, _ = temporal_link(link, precedence, soft)
    for i in range(4):
        for j in range(4):
            kept = (1 - soft[0, i] - soft[0, j]) * link[0, i, j] + soft[0, i] * precedence[0, j]
            assert after[0, i, j].item() == pytest.approx(0.0 if i == j else kept.item(), abs=1e-6)


def by_hand(modes, links=True):
    """What a computer does whose controller has no say: it always writes to free positions, frees nothing, and reads by these modes."""
    torch.manual_seed(0)
    computer = Computer(GIVEN, WANTED, places=6, width=4, links=links)
    with torch.no_grad():
        computer.interface.weight.zero_()
        bias = computer.interface.bias
        bias[:8], bias[8:16] = 1.0, 5.0  # both keys; erase and add
        bias[16:19], bias[19:21], bias[21:] = torch.tensor(modes), 0.0, torch.tensor([-30.0, 30.0, 30.0])
        return computer(torch.zeros(2, 4, GIVEN))


def test_a_computer_writes_to_free_positions_and_reads_by_mode():
    content, forward = [0.0, 60.0, 0.0], [0.0, 0.0, 60.0]
    film = by_hand(content)
    assert film.writes.argmax(-1).tolist() == [[0, 1, 2, 3]] * 2
    torch.testing.assert_close(film.writes.sum(-1), torch.ones(2, 4))
    torch.testing.assert_close(film.reads, by_hand(content, links=False).reads)  # by content, links play no part
    torch.testing.assert_close(film.reads.sum(-1), torch.ones(2, 4))
    assert by_hand(forward).reads.abs().max() < 1e-6  # a head that has read nothing yet has nothing to go on from
    both = by_hand([0.0, 0.0, 0.0]).reads[0]
    assert (both[1, 1] - both[1, 2]).item() == pytest.approx(
        both[0, 0].item() / 3, abs=1e-4
    )  # forward, from position 0
