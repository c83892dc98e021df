"""What lesson 21 shows: tales whose probability is known, a GPT and its cache, the four changes, and what its tables say."""

import math
from collections import Counter
from random import Random

import matplotlib.pyplot as plt
import pytest
import torch
from script_loader import program
from torch import nn

from course_utils.base.errors import CourseError
from course_utils.checks.catalogue import load
from course_utils.data.recall import recall_next
from course_utils.data.tales import CHARACTERS, decode, encode, surprise, tale, tales
from course_utils.figures import diagrams, plots
from course_utils.models import gpt
from course_utils.models.minimal import sinusoidal_positions

ALL = {"norm": "rms", "positions": "rotary", "gated": True, "groups": 2}
EACH = [{}, *({name: value} for name, value in ALL.items()), ALL]


def probabilities(rows=20, V=7):
    return torch.randn(rows, V, generator=torch.Generator().manual_seed(2)).softmax(-1)


@pytest.mark.parametrize("threshold", [0.1, 0.5, 0.9, 1.0])
def test_a_nucleus_is_that_of_the_exercise(threshold):
    for p in probabilities():
        expected = load("21.nucleus").oracle_function(p.double().log(), threshold)
        torch.testing.assert_close(gpt.nucleus(p, threshold), torch.as_tensor(expected).float())


@pytest.mark.parametrize("k", [1, 3, 7])
def test_top_k_keeps_the_k_most_probable(k):
    for p in probabilities():
        largest = p.log().topk(k)
        expected = torch.zeros_like(p).scatter(0, largest.indices, largest.values.softmax(0))
        torch.testing.assert_close(gpt.top_k(p, k), expected)


def test_top_k_keeps_k_of_equal_probabilities(lesson):
    p = torch.tensor([0.1, 0.3, 0.3, 0.3])
    for top_k in (gpt.top_k, lesson.top_k):
        assert torch.equal(top_k(p, 2), torch.tensor([0.0, 0.5, 0.5, 0.0])) and torch.allclose(top_k(p, 9), p)
    for _ in range(2):
        assert lesson.most_probable(torch.zeros(4)).tolist() == [1.0, 0.0, 0.0, 0.0]


def small(**options):
    torch.manual_seed(0)
    return gpt.GPT(11, D=16, H=4, F=24, N=2, longest=12, **options).double()


def some_ids(rows=3, length=9):
    return torch.randint(11, (rows, length), generator=torch.Generator().manual_seed(1))


def test_surprise_is_what_is_left_open():
    found = surprise("cat", {"cat": 1, "cow": 1, "dog": 2})
    assert found == [1.0, 1.0, 0.0] and sum(surprise("dog", {"cat": 1, "cow": 1, "dog": 2})) == 1.0


def test_surprise_of_a_tale_fits_how_often_its_beginning_comes():
    """The first 19 characters: the kind and the letter after it say -log2 of how often this beginning is drawn."""
    draw = Random(0)
    beginnings = Counter(tale(draw)[0][:16] for _ in range(20_000))
    text, bits = tale(Random(5))
    assert sum(bits[:16]) == pytest.approx(-math.log2(beginnings[text[:16]] / 20_000), abs=0.1)
    assert len(bits) == len(text) and min(bits) == 0 and text.endswith("\n")


def test_rows_begin_with_a_line_break_and_are_as_long_as_asked():
    rows = tales(5, 3, length=40)
    assert rows.ids.shape == (5, 41) and rows.bits.shape == (5, 40) and not rows.ids[:, 0].any()
    assert torch.equal(rows.ids, tales(5, 3, length=40).ids) and not torch.equal(rows.ids, tales(5, 4, length=40).ids)
    assert torch.equal(encode(decode(rows.ids[0])), rows.ids[0])
    assert decode(rows.ids[0])[1:].startswith("there was a ")


@pytest.mark.parametrize("options", EACH, ids=str)
def test_a_cache_gives_what_the_whole_text_gives(options):
    model, ids = small(**options), some_ids()
    whole, cache = model(ids), gpt.Cache(2)
    parts = [model(part, cache) for part in ids.split((4, 1, 1, 3), dim=1)]
    torch.testing.assert_close(torch.cat(parts, 1), whole)
    assert len(cache) == 9 and cache.bytes() == 2 * 2 * 3 * (model.layers[0].attention.f.G * 4) * 9 * 8


@pytest.mark.parametrize("options", EACH, ids=str)
def test_later_characters_change_nothing(options):
    model, ids = small(**options), some_ids()
    before = model(ids)
    ids[:, 5:] = 7
    torch.testing.assert_close(model(ids)[:, :5], before[:, :5])
    assert not torch.allclose(model(ids)[:, 5:], before[:, 5:])


def test_norm_and_gated_network_are_the_equations():
    x = torch.randn(2, 5, 6).double()
    torch.testing.assert_close(gpt.RMSNorm(6).double()(x), nn.RMSNorm(6, eps=1e-5).double()(x))
    network = gpt.SwiGLU(6, 9).double()
    gate, up, down = (p.detach() for p in (network.gate.weight, network.up.weight, network.down.weight))
    z = x @ gate.T
    torch.testing.assert_close(network(x), (z / (1 + (-z).exp()) * (x @ up.T)) @ down.T)
    assert gate.shape == (9, 6)


def test_a_head_uses_its_groups_key_and_value():
    """Grouped queries equal a model of 2017 whose keys and values are repeated for the heads of a group."""
    grouped, whole = gpt.MultiHeadAttention(8, 4, 2).double(), gpt.MultiHeadAttention(8, 4, 4).double()
    with torch.no_grad():
        whole.W_Q.load_state_dict(grouped.W_Q.state_dict())
        whole.W_O.load_state_dict(grouped.W_O.state_dict())
        for name in ("W_K", "W_V"):
            few, many = getattr(grouped, name), getattr(whole, name)
            many.weight.copy_(few.weight.unflatten(0, (2, 2))[[0, 0, 1, 1]].flatten(0, 1))
            many.bias.copy_(few.bias.unflatten(0, (2, 2))[[0, 0, 1, 1]].flatten())
    x, mask = torch.randn(2, 5, 8).double(), torch.ones(5, 5, dtype=torch.bool).tril()
    torch.testing.assert_close(grouped(x, mask), whole(x, mask))


def test_bits_are_those_of_each_next_id():
    model, ids = small(), some_ids()
    logits = model(ids[:, :-1]).log_softmax(-1)
    by_hand = [-logits[b, t, ids[b, t + 1]] / math.log(2) for b in range(3) for t in range(8)]
    torch.testing.assert_close(gpt.bits(model, ids).flatten(), torch.stack(by_hand))
    assert gpt.Recurrent(11, 8, 9)(ids).shape == (3, 9, 11)


def test_training_lowers_the_loss():
    torch.manual_seed(0)
    losses = gpt.fit(gpt.GPT(len(CHARACTERS), D=16, F=32), tales(200, 0).ids, steps=40)
    assert sum(losses[-5:]) < 0.75 * sum(losses[:5])


@pytest.mark.parametrize(
    ("options", "said"),
    [({"norm": "batch"}, "norm must be"), ({"positions": "none"}, "positions must be"), ({"groups": 3}, "multiple")],
)
def test_impossible_models_are_refused(options, said):
    with pytest.raises(CourseError, match=said):
        small(**options)


def test_a_text_longer_than_the_positions_is_refused():
    with pytest.raises(CourseError, match="12 positions"):
        small()(some_ids(length=13))


def test_pictures_of_the_lesson_show_spaces_and_the_causal_mask():
    plots.surprise("a b", {"one": [1.0, 0, 2], "other": [0.5, 1, 1]})
    assert [tick.get_text() for tick in plt.gca().get_xticklabels()] == ["a", "␣", "b"]
    plt.close()
    assert "causal" in diagrams.decoder_only(new=["causal"]).description


@pytest.fixture(scope="module")
def lesson():
    """What the lesson's page defines."""
    return program("measuring").page("21_gpt", train=tales(40, 1))


def test_the_page_numbers_characters_as_the_tales_do(lesson):
    assert lesson.CHARACTERS == CHARACTERS and lesson.encode("Vom. ").equal(encode("Vom. "))
    assert lesson.decode(encode("Vom. ")) == "Vom. "


def test_the_page_writes_past_the_models_positions(lesson):
    model = lesson.GPT(len(CHARACTERS), longest=8)
    assert len(lesson.write(model, "the fox", lesson.most_probable, longest=20).replace(" | ", "\n")) <= 20


def test_the_page_begins_a_text_without_a_prompt_by_a_line_break(lesson):
    for write, kind in ((lesson.write, lesson.GPT), (lesson.write_with_cache, lesson.CachedGPT)):
        model = kind(len(CHARACTERS), longest=8)
        assert write(model, "", lesson.most_probable, longest=5) == write(model, "\n", lesson.most_probable, longest=5)


def test_the_page_says_how_much_it_can_write_with_a_cache(lesson):
    model = lesson.CachedGPT(len(CHARACTERS), longest=8)
    with pytest.raises(ValueError, match="with a cache, a text has at most 8 characters"):
        lesson.write_with_cache(model, "the", lesson.most_probable, longest=9)


def test_the_page_defines_the_same_model(lesson):
    torch.testing.assert_close(lesson.sinusoidal_positions(9, 8), sinusoidal_positions(9, 8))
    ours, page, ids = gpt.GPT(11, longest=12), lesson.GPT(11, longest=12), some_ids()
    page.load_state_dict(ours.state_dict())
    torch.testing.assert_close(page(ids), ours(ids))
    cached = lesson.CachedGPT(11, longest=12)
    cached.load_state_dict(page.state_dict())
    cache, dicts = gpt.Cache(2), [{} for _ in page.layers]
    for part in ids.split((4, 1, 4), dim=1):
        torch.testing.assert_close(cached(part, dicts), ours(part, cache))
    torch.testing.assert_close(lesson.bits_of_each(page, ids), gpt.bits(ours, ids))
    for p in probabilities():
        assert torch.equal(lesson.nucleus(p, 0.7), gpt.nucleus(p, 0.7)) and torch.equal(
            lesson.top_k(p, 3), gpt.top_k(p, 3)
        )


def test_the_pages_gpt_2_computes_what_transformers_does(lesson):
    from transformers import GPT2Config, GPT2LMHeadModel

    sizes = {"vocab_size": 11, "n_positions": 9, "n_embd": 12, "n_head": 3, "n_layer": 2}
    theirs = GPT2LMHeadModel(GPT2Config(**sizes, bos_token_id=None, eos_token_id=None)).eval()
    for parameter in theirs.parameters():
        torch.nn.init.normal_(parameter, std=0.5, generator=torch.Generator().manual_seed(0))
    page, ids = lesson.GPT2(theirs.config), some_ids()
    page.load_state_dict(lesson.translated(theirs.transformer.state_dict()))
    expected = theirs(ids).logits
    torch.testing.assert_close(page(ids), expected)
    page.scale = 12**0.5
    assert not torch.allclose(page(ids), expected, atol=0.1)
    page.scale = 1.0
    for activation in (torch.nn.ReLU(), torch.nn.GELU()):
        page.layers[0].feed_forward.f.activation = activation
        assert not torch.allclose(page(ids), expected, atol=1e-4)


def test_the_page_moves_as_a_whole_and_drops_out_when_asked(lesson):
    ids = some_ids()
    for kind, more in ((lesson.GPT, []), (lesson.CachedGPT, [[{}, {}]])):
        moved = kind(11, longest=12).to("meta")  # raises an error if one tensor stays behind
        assert moved(ids.to("meta"), *more).device.type == "meta"
    model, random = lesson.GPT(11, longest=12), torch.get_rng_state()
    assert torch.equal(model.train()(ids), model.eval()(ids)) and torch.equal(torch.get_rng_state(), random)
    dropping = lesson.GPT(11, longest=12, dropout=0.3)
    dropping.load_state_dict(model.state_dict())
    assert torch.equal(dropping.eval()(ids), model(ids)) and not torch.allclose(dropping.train()(ids), model(ids))


def first_weights(kind):
    """Return what a new model draws, and the next random number."""
    torch.manual_seed(4)
    return [*kind(11, D=8, H=2, F=6, longest=12).state_dict().values(), torch.rand(1)]


def test_the_page_draws_the_same_first_weights(lesson):
    assert all(map(torch.equal, first_weights(lesson.GPT), first_weights(gpt.GPT)))


def test_the_page_writes_the_same_text_with_a_cache(lesson):
    model, cached = (kind(len(CHARACTERS), D=16, H=2, longest=20) for kind in (lesson.GPT, lesson.CachedGPT))
    cached.load_state_dict(model.state_dict())
    for adjust in (lesson.most_probable, lesson.from_nucleus, lesson.at_temperature_2):
        text = lesson.write(model, "\nthere", adjust, seed=3, longest=20)
        assert lesson.write_with_cache(cached, "\nthere", adjust, seed=3, longest=20) == text


def test_the_page_trains_in_the_same_way(lesson):
    ours, page = (made(len(CHARACTERS), D=16, F=32).double() for made in (gpt.GPT, lesson.GPT))
    page.load_state_dict(ours.state_dict())
    gpt.fit(ours, tales(40, 1).ids, steps=30)
    lesson.train_on_tales(page, steps=30)
    for one, other in zip(page.parameters(), ours.parameters(), strict=True):
        torch.testing.assert_close(one, other)


def test_induction_scores_of_uniform_attention_are_known(lesson):
    """Weights are one over the words that may be seen, and the last layer copies what its matrices let through."""
    model, scores = lesson.AttentionAlone(2), program("gpt").induction_scores
    with torch.no_grad():
        for layer in model.layers:
            layer.W_Q.weight.zero_(), layer.W_Q.bias.zero_()
        for part in (layer.W_V, layer.W_O, model.readout):
            part.bias.zero_()
        layer.W_V.weight.copy_(torch.eye(64))
        layer.W_O.weight.copy_(torch.eye(64))
        model.embedding.weight.copy_(torch.eye(32, 64))
        model.readout.weight.copy_(torch.eye(32, 64))
    words, answers = recall_next(500, 12, torch.Generator().manual_seed(10_000))
    first = (words[:, :-1] == words[:, -1:]).int().argmax(1)
    _, before, match, copying = scores(model, words, answers)
    assert before == pytest.approx((1 / (first + 2)).mean().item(), abs=1e-3)
    assert match == pytest.approx(1 / 13, abs=1e-3) and copying == 1.0
    model(words, hide=2)
    hidden = model.layers[0].weights
    assert not hidden.diagonal(-2, dim1=2, dim2=3).any() and hidden.diagonal(-1, dim1=2, dim2=3).all()
    assert model.layers[1].weights.diagonal(-2, dim1=2, dim2=3).all()
    model.readout.weight.data = model.readout.weight.data.roll(1, 0)
    assert scores(model, words, answers)[-1] == 0.0


@pytest.mark.parametrize("head", [(0, 1), (1, 0)])
def test_a_copying_head_is_found_and_switched_off(head, monkeypatch):
    """A head that looks at all it may see with equal weights, but for one that is made to look at the letter to copy."""
    benchmark = program("gpt")
    made = gpt.GPT(len(CHARACTERS), longest=64)
    with torch.no_grad():
        for layer in made.layers:
            layer.attention.f.W_Q.weight.zero_()
            layer.attention.f.W_Q.bias.zero_()
        attention = made.layers[head[0]].attention.f
        rows = slice(12 * head[1], 12 * head[1] + 12)
        attention.W_K.weight[rows] = 0
        attention.W_K.bias[rows] = 0
        attention.W_Q.bias[rows] = 1
        attention.W_K.weight[rows] = made.P[26] * 0.5  # keys at position 26 and near it get larger scores
    monkeypatch.setattr(benchmark, "train_longer", lambda seed: (made, 0.0))
    found = {change: row for change, *row in benchmark.measure_copying_heads(0)}
    assert found["nothing"][0] == "{}.{}".format(*head) and found["nothing"][1] == found["switched off"][1] > 0.1
    assert found["switched off"][2] != found["nothing"][2]
    assert abs(found["another capital before it"][1] - found["nothing"][1]) < abs(
        found['without "there"'][1] - found["nothing"][1]
    )
