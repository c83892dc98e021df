"""What lesson 12 shows: a Transformer on its page, without each of its parts, and made of a learner's layers."""

import pytest
import torch
from programs import program
from test_tasks import solution_of

from course_utils.base.errors import CourseError
from course_utils.data.measured import measured, measured_once
from course_utils.data.subwords import PAD
from course_utils.models.assembled import Assembled, share_right, train_assembled
from course_utils.models.conversion import from_lesson
from course_utils.models.residual import likeness

SOURCE, TARGET = torch.tensor([[4, 5, 6, 2], [7, 2, 0, 0]]), torch.tensor([[1, 8, 9], [1, 10, 0]])
ENCODER, DECODER = "12.encoder_layer", "12.decoder_layer"


@pytest.fixture(params=[True, False])
def model(request):
    torch.manual_seed(0)
    layers = solution_of(ENCODER), solution_of(DECODER)
    return Assembled(*layers, 11, width=12, heads=3, hidden=7, norm_first=request.param).double().eval()


def test_neither_later_words_nor_padding_matter(model):
    logits = model(SOURCE, TARGET)
    later = TARGET.clone()
    later[0, 1:] = 3
    assert torch.allclose(model(SOURCE, later)[0, :1], logits[0, :1]) and not torch.allclose(
        model(SOURCE, later)[0, 1:], logits[0, 1:]
    )
    assert torch.allclose(model(SOURCE[1:, :2], TARGET[1:, :2]), logits[1:, :2])
    assert not torch.allclose(model(SOURCE.flip(1).clamp(min=3), TARGET), model(SOURCE.clamp(min=3), TARGET))


@pytest.mark.parametrize(
    ("source", "sentence"),
    [([[0, 0]], "has no word"), ([[4, 11]], "0 to 10|vocabulary"), ([[4, -1]], "0 to 10|vocabulary")],
)
def test_bad_input_is_told(model, source, sentence):
    with pytest.raises(CourseError, match=sentence):
        model(torch.tensor(source), torch.tensor([[1]]))


def test_a_size_that_cannot_be_is_told():
    with pytest.raises(CourseError, match="layers must be at least 1, not 0"):
        Assembled(solution_of(ENCODER), solution_of(DECODER), 11, layers=0)


def test_padding_has_no_part_in_the_share():
    wanted = torch.tensor([[3, 4, PAD], [5, PAD, PAD]])
    found = torch.nn.functional.one_hot(torch.tensor([[3, 9, 9], [5, 5, 9]]), 10).double()
    assert share_right(lambda source, given: found, None, None, wanted) == pytest.approx(2 / 3)


@pytest.mark.thorough
def test_right_layers_learn_the_small_world():
    assert train_assembled(solution_of(ENCODER), solution_of(DECODER)) > 0.97


def test_words_become_alike_without_residual_connections():
    alone, joined = likeness(residual=False), likeness(residual=True)
    assert alone.shape == joined.shape == (5, 13) and torch.equal(alone[:, 0], joined[:, 0])
    assert (alone[:, 2:] > 0.99).all() and (joined[:, 6] < 0.6).all()


def test_post_norm_needs_a_warm_up_at_a_high_rate():
    for norm, warmup, rate, learns in (
        ("pre", 0, 0.003, True),
        ("pre", 200, 0.003, True),
        ("post", 0, 0.003, False),
        ("post", 200, 0.003, True),
        ("post", 0, 0.001, True),
    ):
        _, runs = measured("warm_up", "words_right", "rate", norm=norm, warmup=warmup, rate=rate)
        assert len(runs) == 5 and all(run[0] > 0.95 if learns else run[0] < 0.5 for run in runs)


def test_the_program_for_warm_up_measures_a_row():
    ((share,),) = program("warm_up").measure("post", 200, 3e-3, 0, steps=2)
    assert 0 <= share < 0.5


@pytest.fixture
def lesson():
    """What the lesson's page defines."""
    return program("parts").page()


def untrained(lesson, part="nothing", **sizes):
    torch.manual_seed(0)
    model = lesson.Transformer(11, D=12, H=3, F=7, **sizes)
    lesson.take_out(model, part)
    model = model.double().eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight += 0.2 * torch.randn_like(weight)  # so that no bias is 0 and no gain 1
    return model


def test_the_model_on_the_page_computes_what_the_courses_own_does(lesson):
    model = untrained(lesson, N=3)
    fast = from_lesson(model)
    torch.testing.assert_close(fast(SOURCE, TARGET), model(SOURCE, TARGET), rtol=0, atol=1e-12)
    assert sum(p.numel() for p in fast.parameters()) == sum(p.numel() for p in model.parameters())


def test_taking_a_part_out_changes_that_part_alone(lesson):
    def changes(model, source=SOURCE, target=TARGET):
        return not torch.allclose(model(source, target)[0, :1], model(SOURCE, TARGET)[0, :1])

    later, swapped, padded = TARGET.clone(), SOURCE.clone(), torch.nn.functional.pad(SOURCE, (0, 2))
    later[0, 1:], swapped[0, :2], other = 3, torch.tensor([5, 4]), SOURCE.clone()
    other[0, 0] = 9
    for part, sees_later, sees_padding, sees_order, sees_source in (
        ("nothing", False, False, True, True),
        ("causal mask", True, False, True, True),
        ("source mask", False, True, True, True),
        ("positions", False, False, False, True),
        ("attention to the source", False, False, False, False),
        *((part, False, False, True, True) for part in ("feed-forward networks", "norms", "residual connections")),
    ):
        model = untrained(lesson, part)
        found = (changes(model, target=later), changes(model, padded), changes(model, swapped), changes(model, other))
        assert found == (sees_later, sees_padding, sees_order, sees_source), part
    kinds = {
        part: [type(module).__name__ for module in untrained(lesson, part).modules()] for part in program("parts").PARTS
    }
    assert all(("LayerNorm" in names) == (part != "norms") for part, names in kinds.items())
    assert all(("FeedForward" in names) == (part != "feed-forward networks") for part, names in kinds.items())
    assert all(("NoResidual" in names) == (part == "residual connections") for part, names in kinds.items())


def test_the_program_for_parts_measures_a_row():
    ((loss, *shares, size, _),) = program("parts").measure("endings", "norms", 0, steps=2, alone=2)
    assert loss > 3 and size > 40_000
    assert len(shares) == 3 and all(0 <= share < 0.3 for share in shares)


def test_the_table_of_parts_shows_what_the_lesson_says():
    def of(world, part):
        return torch.tensor(
            measured_once("parts", "given_right", "written_right", "alone_right", world=world, part=part)
        )

    given, written, alone = whole = of("plain", "nothing")
    assert whole.shape == (3, 5) and whole.min() > 0.9 and given.min() > 0.97
    for part in ("residual connections", "attention to the source", "positions", "causal mask"):
        assert of("plain", part)[1:].max() < 0.5
    copying = "causal mask and attention to the source"
    assert min(of("plain", part)[0].min() for part in ("causal mask", copying)) > 0.97
    (losses,) = measured_once("parts", "loss", world="plain", part="nothing")
    for part in ("source mask", "causal mask", copying):  # none of them shows in the loss
        (found,) = measured_once("parts", "loss", world="plain", part=part)
        assert max(map(abs, map(float.__sub__, found, losses))) < 0.03
    for part in ("residual connections", "attention to the source", "positions"):
        assert of("plain", part)[0].max() < 0.8
    given, written, alone = of("plain", "source mask")
    assert written.min() > 0.9 and (written - alone).min() > 0.1
    assert (whole - of("plain", "norms"))[1].mean().abs() < 0.02
    lost = (whole - of("plain", "feed-forward networks"))[1]
    assert 0.01 < lost.mean() < 0.06 and (lost > 0).sum() >= 4
    whole, deeper = of("endings", "nothing")[1], "feed-forward networks, with three layers"
    lost, still_lost = whole - of("endings", "feed-forward networks")[1], whole - of("endings", deeper)[1]
    assert lost.mean() > still_lost.mean() > 0.02 and min(lost.min(), still_lost.min()) > 0.005
    assert (whole - of("endings", "norms")[1]).mean().abs() < 0.02
    setups = [f"{{}}, 200 steps, rate {rate}" for rate in (0.01, 0.003, 0.03)]
    tried = [[of("plain", setup.format(name)) for setup in setups] for name in ("GRUs with attention", "Transformer")]
    assert all(best[1].min() > other[1].max() + 0.05 for best, *others in tried for other in others)
    (grus, *_), (ours, *_) = tried
    assert (grus - ours)[:2].min() > 0.005 and (grus - ours)[1].min() > 0.05 and ours.shape == (3, 3)
    assert (grus - of("plain", "Transformer, 240 steps, rate 0.01"))[1].min() > 0.02
    six = {
        (part, weights): of("plain", f"{part}, six layers, {weights} weights")[0]
        for part in ("nothing", "norms")
        for weights in ("small", "large")
    }
    assert min(shares.min() for setup, shares in six.items() if setup != ("norms", "large")) > 0.7
    assert six["norms", "large"].max() < 0.2
