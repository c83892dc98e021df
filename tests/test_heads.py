"""What lesson 10 shows: the heads of a Transformer taken apart, and the tables about them."""

import pytest
import torch

from course_utils.base.errors import CourseError
from course_utils.models.head_ablation import attentions, switched_off, weights_of_heads
from course_utils.models.transformer import Transformer

SOURCE, TARGET = torch.tensor([[4, 5, 6, 2], [7, 2, 0, 0]]), torch.tensor([[1, 8, 9], [1, 10, 0]])


@pytest.fixture
def model():
    torch.manual_seed(0)
    return Transformer(11, width=12, heads=3, hidden=7, encoder_layers=2, decoder_layers=2).double().eval()


def test_the_weights_of_all_heads_are_those_that_the_model_uses(model):
    seen = weights_of_heads(model, SOURCE, TARGET)
    assert list(seen) == list(attentions(model)) and seen["encoder 1"].shape == (2, 3, 4, 4)
    assert seen["decoder 0"].shape == (2, 3, 3, 3) and seen["source 1"].shape == (2, 3, 3, 4)
    torch.testing.assert_close(seen[f"source {model.aligned_layer}"].mean(1), model.attention(SOURCE, TARGET))
    assert not seen["decoder 1"].triu(1).any() and not seen["encoder 0"][1, :, :, 2:].any()
    assert not any(module._forward_hooks for module in attentions(model).values())


@pytest.mark.parametrize("name", ["encoder 0", "decoder 1", "source 1"])
def test_a_head_that_is_switched_off_adds_nothing(model, name):
    """As if its part of the merged contexts were zeros, which is done here by another way: a hook before W^O."""
    with torch.no_grad():
        before = model(SOURCE, TARGET)
        with switched_off(model, name, 1, 2):
            found = model(SOURCE, TARGET)

        def without(module, inputs):
            context = inputs[0].clone()
            context[..., 4:] = 0.0  # heads 1 and 2 of width 4
            return (context,)

        handle = attentions(model)[name].output.register_forward_pre_hook(without)
        torch.testing.assert_close(found, model(SOURCE, TARGET))
        handle.remove()
        assert not torch.allclose(found, before) and torch.equal(model(SOURCE, TARGET), before)


def test_heads_come_back_after_an_error(model):
    kept = attentions(model)["encoder 0"].output.weight.clone()
    with pytest.raises(ZeroDivisionError), switched_off(model, "encoder 0", 0):
        raise ZeroDivisionError
    assert torch.equal(attentions(model)["encoder 0"].output.weight, kept)


@pytest.mark.parametrize(
    ("name", "head", "sentence"),
    [("encoder 2", 0, "one of encoder 0, encoder 1, decoder 0, .* not 'encoder 2'"), ("source 0", 3, "0 to 2, not 3")],
)
def test_switched_off_refuses_what_the_model_does_not_have(model, name, head, sentence):
    with pytest.raises(CourseError, match=sentence), switched_off(model, name, head):
        pass
