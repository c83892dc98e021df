"""What lesson 10 shows: questions for two facts, the heads of a Transformer taken apart, and the tables about them."""

import runpy
from pathlib import Path

import pytest
import torch
from programs import program

from course_utils.authoring.sources import read_source
from course_utils.base.edits import edited
from course_utils.base.errors import CourseError
from course_utils.data.measured import by_seed, measured
from course_utils.data.recall import KEYS, TWO_AT_ONCE, VALUES, recall_two
from course_utils.models.heads import TwoFacts, attentions, switched_off, weights_of_heads
from course_utils.models.transformer import Transformer

ROOT = Path(__file__).parents[1]
SOURCE, TARGET = torch.tensor([[4, 5, 6, 2], [7, 2, 0, 0]]), torch.tensor([[1, 8, 9], [1, 10, 0]])


def drawn(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def model():
    torch.manual_seed(0)
    return Transformer(11, width=12, heads=3, hidden=7, encoder_layers=2, decoder_layers=2).double().eval()


def test_a_question_for_two_facts_names_both_letters_in_order():
    for pairs in (2, 4, 8):
        tokens, answers, places = recall_two(300, pairs, drawn())
        assert tokens.shape == (300, pairs + 1) and (tokens < TWO_AT_ONCE).all()
        for row, wanted, at in zip(tokens.tolist(), answers.tolist(), places.tolist(), strict=True):
            said = dict(divmod(token, VALUES) for token in row[:pairs])
            first, second = divmod(row[-1] - KEYS * VALUES, KEYS)
            assert len(said) == pairs and first != second and [said[first], said[second]] == wanted
            assert [row[place] // VALUES for place in at] == [first, second]


@pytest.mark.parametrize("pairs", [1, 9])
def test_two_facts_need_two_pairs(pairs):
    with pytest.raises(CourseError, match=f"2 to 8 pairs, .* not {pairs}"):
        recall_two(3, pairs, drawn())


def test_the_model_for_two_facts_has_the_same_size_with_any_number_of_heads():
    sizes = {sum(parameter.numel() for parameter in TwoFacts(heads).parameters()) for heads in (1, 2, 4)}
    logits, weights = TwoFacts(4)(recall_two(7, 3, drawn())[0])
    assert len(sizes) == 1 and logits.shape == (7, 2, VALUES) and weights.shape == (7, 4, 4)
    torch.testing.assert_close(weights.sum(-1), torch.ones(7, 4))


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
def test_what_the_model_does_not_have_cannot_be_switched_off(model, name, head, sentence):
    with pytest.raises(CourseError, match=sentence), switched_off(model, name, head):
        pass


def test_the_tables_hold_all_that_their_program_measures():
    heads = program("heads")
    along, runs = measured("two_facts", "answers_right", "heads")
    assert along == list(heads.HEADS) and len(runs) == 5
    assert all(one < 0.65 and min(two, eight) > 0.97 for one, two, eight in runs)
    for name in (f"{kind} {layer}" for kind in ("encoder", "decoder", "source") for layer in range(3)):
        for state in ("off", "alone"):
            along, runs = measured("heads", "bleu", "head", attention=name, state=state)
            assert along == [0, 1, 2, 3] and len(runs) == 1


def test_two_heads_with_the_same_scores_are_no_better_than_one():
    """After the long training; the short one leaves some of the other changes unfinished, too."""
    heads = program("heads")
    for change in heads.CHANGES:
        for steps, rate in heads.TRAININGS:
            runs = by_seed("changed", "answers_right", change=change, steps=steps, rate=rate)
            assert list(runs) == [0, 1, 2, 3, 4]
            if change == "scores of head 0 for all":
                assert max(runs.values()) < 0.65
            elif steps == 2000:
                assert sorted(runs.values())[1] > 0.97 and min(runs.values()) > (
                    0.75 if change == "no scaling" else 0.97
                )


@pytest.mark.parametrize(
    ("change", "old", "new"),
    [
        ("scores of head 0 for all", "Q @ K.mT", "Q[:, :1] @ K[:, :1].mT"),
        ("queries of head 0 for all", "Q @ K.mT", "Q[:, :1] @ K.mT"),
        ("keys of head 0 for all", "Q @ K.mT", "Q @ K[:, :1].mT"),
        ("values of head 0 for all", "weights @ V", "weights @ V[:, :1]"),
        ("no scaling", " / K.shape[-1] ** 0.5", ""),
        ("no W_O", "self.W_O(self.merge(weights @ V))", "self.merge(weights @ V)"),
    ],
)
def test_the_program_changes_what_the_lesson_changes_in_a_line(tmp_path, change, old, new):
    """With the same weights, the lesson's own class with its line edited computes what the program's does."""
    lesson = "course_utils/lessons/lesson_10/10_multi_head_attention.py"
    (cell,) = (cell.text for cell in read_source(ROOT, lesson) if "class MultiHead(" in cell.text)
    (tmp_path / "lesson.py").write_text(f"import torch\nfrom torch import nn\n{cell}\n", encoding="utf-8")
    MultiHead = runpy.run_path(str(tmp_path / "lesson.py"))["MultiHead"]
    method = "forward" if "self." in old or "weights" in old else "scores"
    Edited = type("Edited", (MultiHead,), {method: edited(getattr(MultiHead, method), old, new)})
    theirs, ours, x = program("heads").Changed(8, 2, change), Edited(8, 2), torch.randn(3, 5, 8)
    for name, layer in (("W_Q", theirs.query), ("W_O", theirs.output)):
        if change != "no W_O" or name == "W_Q":
            getattr(ours, name).load_state_dict(layer.state_dict())
    for layer, part in ((ours.W_K, 0), (ours.W_V, 1)):
        layer.weight.data, layer.bias.data = (p.chunk(2)[part] for p in theirs.key_value.parameters())
    torch.testing.assert_close(ours(x, x, x)[0], theirs(x, theirs.project(x))[0])


def test_a_hidden_layer_behind_one_head_takes_its_sum_apart():
    for hidden, least, most in ((0, 0.5, 0.65), (32, 0.99, 1)):
        assert all(least <= run[0] <= most for run in measured("behind", "answers_right", "hidden", hidden=hidden)[1])
        (*larger,) = (run[0] for run in measured("behind", "larger_weight", "hidden", hidden=hidden)[1])
        (*smaller,) = (run[0] for run in measured("behind", "smaller_weight", "hidden", hidden=hidden)[1])
        assert len(larger) == 5 and (max(larger) < 0.55 if hidden == 0 else min(larger) > 0.6)
        assert len(smaller) == 5 and (min(smaller) > 0.35 if hidden == 0 else max(smaller) < 0.3)


def test_the_table_of_places_agrees_with_the_model():
    """For a head that looks at the word before, on a few sentences of its own."""
    heads = program("heads")
    model, subwords = heads.load_pretrained("transformer-en-de")
    source, given, _ = heads.make_batch(subwords.encode(["two men are playing guitar in front of a red house ."]), [[]])
    weights = weights_of_heads(model, source, given)["encoder 2"][0, 2]
    distances, runs = measured("near", "weight", "distance", attention="encoder 2", head=2)
    assert distances == list(heads.DISTANCES) and runs[0][1] == max(runs[0])
    assert weights.diagonal(-1).mean().item() == pytest.approx(runs[0][1], abs=0.2)


@pytest.mark.thorough
def test_the_program_still_measures_what_the_tables_say():
    heads = program("heads")
    assert [heads.two_facts(count, 0)[0][3] for count in (1, 2)] == pytest.approx(
        measured("two_facts", "answers_right", "heads", seed=0)[1][0][:2], abs=0.05
    )
    _, _, right, larger, _ = heads.behind(32, 0)[0]
    assert right > 0.95 and larger > 0.58
