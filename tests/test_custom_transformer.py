"""What lesson 12 shows: a Transformer on its page, without each of its parts, and made of a learner's layers."""

import pytest
import torch
from script_loader import program
from tasks import solution_of

from course_utils.base.errors import CourseError
from course_utils.data.subwords import PAD
from course_utils.models.custom_transformer import Assembled, share_right, train_assembled
from course_utils.models.torch_conversion import _copy, _parameter_pairs
from course_utils.models.transformer import Transformer

SOURCE, TARGET = torch.tensor([[4, 5, 6, 2], [7, 2, 0, 0]]), torch.tensor([[1, 8, 9], [1, 10, 0]])
ENCODER, DECODER = "12.encoder_layer", "12.decoder_layer"


@pytest.fixture(params=[True, False])
def model(request):
    torch.manual_seed(0)
    layers = solution_of(ENCODER), solution_of(DECODER)
    return Assembled(*layers, 11, width=12, heads=3, hidden=7, norm_first=request.param).double().eval()


def test_logits_ignore_later_words_and_padding(model):
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
def test_bad_input_is_refused_in_a_sentence(model, source, sentence):
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


@pytest.fixture
def lesson():
    """What the lesson's page defines."""
    return program("measuring").page("12_transformer")


def test_words_become_alike_without_residual_connections(lesson):
    alone, joined = (torch.stack([lesson.likeness(residual, seed) for seed in range(5)]) for residual in (False, True))
    assert alone.shape == joined.shape == (5, 13) and torch.equal(alone[:, 0], joined[:, 0])
    assert (alone[:, 2:] > 0.99).all() and (joined[:, 6] < 0.6).all()


def untrained(lesson, part="nothing", **sizes):
    torch.manual_seed(0)
    model = lesson.Transformer(11, D=12, H=3, F=7, **sizes)
    lesson.take_out(model, part)
    model = model.double().eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight += 0.2 * torch.randn_like(weight)  # so that no bias is 0 and no gain 1
    return model


def from_lesson(theirs):
    """Return the course's model with copies of the weights of the whole Transformer that lesson 12 writes on its page."""
    vocabulary, width = theirs.embedding.weight.shape
    heads, hidden = theirs.encoder[0].self_attention.f.H, len(theirs.encoder[0].feed_forward.f.W_1.weight)
    layers = (len(theirs.encoder), len(theirs.decoder))
    ours = Transformer(vocabulary, width, heads, hidden, *layers, dropout=0.0, longest=len(theirs.P))
    ours = ours.to(theirs.embedding.weight)
    ours.embedding.positions.copy_(theirs.P)
    _copy(pairs_of_weights(theirs, ours))
    return ours.train(theirs.training)


def pairs_of_weights(theirs, ours):
    yield theirs.embedding.weight, ours.embedding.words.weight
    for side in ("encoder", "decoder"):
        yield from _parameter_pairs(getattr(theirs, f"{side}_norm"), getattr(ours, f"{side}_norm"))
        for layer, mine in zip(getattr(theirs, side), getattr(ours, side), strict=True):
            residuals = [getattr(mine, name) for name in ("first", "second", "third") if hasattr(mine, name)]
            for (name, sublayer), residual in zip(layer.named_children(), residuals, strict=True):
                yield from _parameter_pairs(sublayer.norm, residual.norm)
                if name == "feed_forward":
                    yield from _parameter_pairs(sublayer.f.W_1, mine.feed_forward[0])
                    yield from _parameter_pairs(sublayer.f.W_2, mine.feed_forward[2])
                else:
                    yield from pairs_of_attention(sublayer.f, getattr(mine, name))


def pairs_of_attention(theirs, ours):
    width = len(theirs.W_K.weight)
    yield from _parameter_pairs(theirs.W_Q, ours.query)
    yield theirs.W_K.weight, ours.key_value.weight[:width]
    yield theirs.W_K.bias, ours.key_value.bias[:width]
    yield theirs.W_V.weight, ours.key_value.weight[width:]
    yield theirs.W_V.bias, ours.key_value.bias[width:]
    yield from _parameter_pairs(theirs.W_O, ours.output)


def test_the_model_on_the_page_computes_what_the_courses_does(lesson):
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
