"""What lesson 14 shows: the sensor and the model against loops and equations, the fields that it looks at, and what moves its weights."""

import math

import pytest
import torch
import torch.nn.functional as F
from tensors import drawn

from course_utils.base.errors import CourseError
from course_utils.data.digit_fields import SIDE, digit_fields, digits
from course_utils.models.glimpses import (
    RecurrentAttentionModel,
    convolutional,
    corner,
    evaluate,
    fit,
    glimpse,
    hybrid_loss,
    in_box,
    location_log_probability,
)


def a_model(**more):
    torch.manual_seed(0)
    return RecurrentAttentionModel(size=3, scales=2, features=5, width=7, classes=4, **more)


def test_the_sensor_does_what_its_definition_says():
    """Pixel by pixel: the centre falls on a pixel, patches double, cells are means, and outside there are zeros."""
    image, size = torch.rand(3, 11, 7, generator=drawn()), 2
    locations = torch.tensor([[0.1, -0.3], [-0.97, 0.93], [0.99, 0.99]])
    found = glimpse(image, locations, size, scales=3)
    for picture, (x, y), patches in zip(image, locations.tolist(), found, strict=True):
        for k in range(3):
            side = size * 2**k
            left, top = math.floor((x + 1) / 2 * 7) - side // 2, math.floor((y + 1) / 2 * 11) - side // 2
            for row in range(size):
                for column in range(size):
                    total = 0.0
                    for i in range(top + row * 2**k, top + (row + 1) * 2**k):
                        for j in range(left + column * 2**k, left + (column + 1) * 2**k):
                            total += picture[i, j].item() if 0 <= i < 11 and 0 <= j < 7 else 0.0
                    assert patches[k, row, column].item() == pytest.approx(total / 4**k, abs=1e-6)


def test_corner_places_glimpses_at_the_corner_and_the_middle():
    top, left = corner(torch.tensor([[-1.0, -1.0], [0.0, 0.0]]), height=20, width=10, side=4)
    assert top.tolist() == [-2, 8] and left.tolist() == [-2, 3]


def test_the_model_does_what_its_equations_say():
    model, image = a_model(), torch.rand(2, 9, 13, generator=drawn())
    looks = model(image, looks=3, sigma=0.3, draw=drawn(1))
    again, state = drawn(1), torch.zeros(2, 7)
    for t in range(3):
        location = looks.locations[:, t]
        patches = glimpse(image, location, 3, 2).flatten(1)
        what, where = F.relu(model.what(patches)), F.relu(model.where(location))
        seen = F.relu(model.from_what(what) + model.from_where(where))
        state = model.core(seen, state)
        if t < 2:
            mean = torch.tanh(model.location(state))
            drawn_there = mean + 0.3 * torch.randn(2, 2, generator=again)
            torch.testing.assert_close(looks.locations[:, t + 1], drawn_there.clamp(-1, 1))
            density = torch.distributions.Normal(mean, 0.3).log_prob(drawn_there).sum(-1)
            torch.testing.assert_close(looks.log_probability[:, t], density)
            torch.testing.assert_close(looks.baseline[:, t], model.value(state)[:, 0])
    torch.testing.assert_close(looks.logits, model.action(state))
    assert not looks.locations[:, 0].any()  # first it looks at the centre


def test_a_model_without_spread_looks_at_the_means_every_time():
    model, image = a_model(), torch.rand(2, 9, 13, generator=drawn())
    first, second = model(image, 4), model(image, 4)
    assert torch.equal(first.logits, second.logits) and torch.equal(first.locations, second.locations)
    assert not first.log_probability.any() and first.log_probability.shape == (2, 3)
    assert model(image, 1).log_probability.shape == model(image, 1).baseline.shape == (2, 0)


def test_the_model_sees_nothing_but_its_glimpses():
    model, image = a_model(), torch.rand(1, 40, 40, generator=drawn())
    looks = model(image, 3)
    seen = torch.zeros(40, 40, dtype=torch.bool)
    for location in looks.locations[0]:
        top, left = corner(location[None], 40, 40, 6)
        rows, columns = (slice(max(0, start.item()), start.item() + 6) for start in (top, left))
        seen[rows, columns] = True
    assert torch.equal(model(torch.where(seen, image, 9.0), 3).logits, looks.logits)
    assert not torch.equal(model(torch.where(seen, 9.0, image), 3).logits, looks.logits)


def test_each_term_of_the_loss_moves_its_own_weights():
    model, image, label = a_model(), torch.rand(5, 9, 9, generator=drawn()), torch.arange(5) % 4
    looks = model(image, 3, 0.2, drawn(2))
    reward = torch.rand(5, generator=drawn())

    def moved(term):
        model.zero_grad()
        term.backward(retain_graph=True)
        return {name.split(".")[0] for name, p in model.named_parameters() if p.grad is not None and p.grad.any()}

    seeing = {"what", "where", "from_what", "from_where", "core"}
    surprise = reward[:, None] - looks.baseline
    assert moved(F.cross_entropy(looks.logits, label)) == seeing | {"action"}
    assert moved(-(surprise.detach() * looks.log_probability).sum(1).mean()) == seeing | {"location"}
    assert moved(surprise.square().mean()) == {"value"}
    assert moved(hybrid_loss(looks.logits, label, looks.log_probability, reward, looks.baseline)) == seeing | {
        *("action", "location", "value")
    }


def test_location_log_probability_equals_the_gaussian_by_hand():
    found = location_log_probability(torch.tensor([[0.3, 0.0]]), torch.tensor([[0.1, 0.0]]), 0.2)
    assert found.item() == pytest.approx(-0.5 - math.log(2 * math.pi * 0.04))


@pytest.mark.parametrize("clutter", [0, 4])
def test_a_digit_stands_where_it_is_said_to_stand(clutter):
    fields, labels, corners = digit_fields(50, 20, clutter, drawn())
    images, names = digits()
    assert fields.min() >= 0 and fields.max() <= 1 and len({tuple(c) for c in corners.tolist()}) > 30
    for field, label, (row, column) in zip(fields, labels, corners.tolist(), strict=True):
        there = field[row : row + SIDE, column : column + SIDE]
        covered = (there >= images[names == label] - 1e-6).flatten(1).all(1)
        assert covered.any()  # clutter may only make a pixel brighter
        if not clutter:
            assert field.sum().item() == pytest.approx(there.sum().item())


def test_training_and_test_have_different_digits():
    images = digits()[0]
    for part, wrong in (("train", images[-400:]), ("test", images[:-400])):
        fields, _, corners = digit_fields(30, SIDE, 0, drawn(), part)
        assert not corners.any()
        assert not (fields[:, None] == wrong[None]).flatten(2).all(2).any()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: digit_fields(1, 7, 0, drawn()), "at least 8 pixels wide, as a digit is, not 7"),
        (lambda: digit_fields(1, 9, 0, drawn(), "val"), "'train' and 'test'; there is no 'val'"),
        (lambda: RecurrentAttentionModel(scales=0), "scales must be at least 1, not 0"),
    ],
)
def test_bad_input_gets_a_sentence(call, sentence):
    with pytest.raises(CourseError, match=sentence):
        call()


def test_locations_in_a_box_are_found():
    locations = torch.tensor([[0.0, 0.0], [0.0, 0.0], [-0.5, 0.5]])
    assert in_box(locations, torch.tensor([[4, 8], [4, 9], [12, 0]]), 16).tolist() == [True, False, True]


def test_training_teaches_it_what_it_sees():
    """On fields that a single glimpse covers, so that a few steps suffice."""
    torch.manual_seed(0)
    model = RecurrentAttentionModel(size=8, scales=1)
    before = evaluate(model, SIDE, looks=2)[0]
    losses = fit(model, SIDE, looks=2, steps=150)
    assert len(losses) == 150 and before < 0.3 and evaluate(model, SIDE, looks=2)[0] > 0.6


def test_a_convolutional_network_reads_pictures_of_any_size():
    model = convolutional(classes=4)
    assert model(torch.rand(2, 1, 16, 24)).shape == model(torch.rand(2, 1, 32, 8)).shape == (2, 4)
