"""What a page writes line by line is what the package holds for the pages after it: same results, gradients and random numbers."""

import random
import re
from pathlib import Path

import pytest
import torch
from script_loader import program

from course_utils.data.generated_reviews import generate_reviews
from course_utils.data.lookups import lookups, read
from course_utils.data.multi30k import load_multi30k
from course_utils.data.photographs import preprocess
from course_utils.data.recall import recall_at_distance
from course_utils.data.scenes import scenes, things
from course_utils.data.sequences import GIVEN, WANTED, copy
from course_utils.data.sst2 import load_sst2
from course_utils.data.stories import stories
from course_utils.models import (
    captions,
    experts,
    memory,
    sentiment,
    seq2seq,
    sequence_layers,
    train_model,
    turing,
    variants,
)
from course_utils.models.attention import causal_mask
from course_utils.models.attention_properties import PROMISES, broken
from course_utils.models.custom_transformer import share_right
from course_utils.models.minimal import sinusoidal_positions
from course_utils.models.torch_conversion import copy_parameters
from course_utils.models.transformer import FeedForward
from course_utils.translation import scores

ROOT = Path(__file__).parents[1]


def page(name, **known):
    return program("measuring").page(name, **known)


REVIEWS = [["good", "film"], ["a", "bad", "film"], ["film"], ["not", "a", "good", "good", "film"], ["bad"]]
LABELS = torch.tensor([1, 0, 1, 0, 0])


def trained(code, kind, **sizes):
    """Return all that training leaves: the vocabulary, the losses, the parameters, what is right, and the next random number."""
    vocabulary = code.build_vocabulary(REVIEWS)
    ids, mask = code.encode([*REVIEWS, ["new"]], vocabulary)
    torch.manual_seed(3)
    model = kind(len(vocabulary), **sizes)
    losses = code.train(model, ids[:-1], mask[:-1], LABELS, seed=1, epochs=3, batch=2, rate=0.1, weight_decay=0.5)
    right = code.correct(model, ids, mask, torch.tensor([*LABELS, 1]))
    return [vocabulary, losses, right.tolist(), *(p.tolist() for p in model.parameters()), torch.rand(1).item()]


def test_lesson_01_holds_the_sum_of_words_and_its_training():
    shown = page("01_bag_of_words")
    for width in (4, 16):
        assert trained(shown, shown.SumOfWords, width=width) == trained(sentiment, sentiment.SumOfWords, width=width)
    assert shown.build_vocabulary(REVIEWS, 2) == sentiment.build_vocabulary(REVIEWS, 2)


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_lesson_01_reads_reviews_as_the_package_does(split, real_data):
    sentences, labels = page("01_bag_of_words").read_reviews(split)
    expected = load_sst2(split)
    assert sentences == expected.sentences and torch.equal(labels, expected.labels)


def test_lesson_02_draws_the_courses_reviews():
    shown, rng = page("02_weighted_sums"), random.Random(5)
    expected = generate_reviews(50, seed=5)
    assert [shown.draw_review(rng) for _ in range(50)] == list(
        zip(expected.sentences, expected.labels.tolist(), strict=True)
    )


def test_lesson_03_holds_self_attention():
    shown = page("03_queries_keys_values")
    found, expected = (trained(sentiment, kind) for kind in (shown.SelfAttention, sentiment.SelfAttention))
    assert found[0] == expected[0]
    for one, other in zip(found[1:], expected[1:], strict=True):
        torch.testing.assert_close(torch.tensor(one), torch.tensor(other))


def test_lesson_03_measures_the_matrix_free_model_of_its_page():
    shown, measured_model = page("03_queries_keys_values").OneVector, program("projections").model_with
    found, expected = (trained(sentiment, kind) for kind in (shown, lambda size: measured_model("none", size)))
    for one, other in zip(found[1:], expected[1:], strict=True):
        torch.testing.assert_close(torch.tensor(one), torch.tensor(other))


def test_lesson_15_holds_the_encoder_and_the_loss():
    torch.manual_seed(0)
    encoder = captions.Encoder()
    shown, seen = page("15_captions", encoder=encoder), scenes(6, torch.Generator().manual_seed(0))
    torch.manual_seed(0)
    annotations, expected = shown.Encoder()(seen.images), encoder(seen.images)
    images, which = things(64, torch.Generator().manual_seed(1))
    loss = torch.nn.functional.cross_entropy(encoder.name(encoder.see(images[:, None]).flatten(1)), which)
    torch.testing.assert_close(shown.naming_loss(torch.Generator().manual_seed(1)), loss)
    torch.testing.assert_close(annotations, expected)
    torch.manual_seed(2)
    output = captions.Captioner()(annotations, seen.given)
    torch.testing.assert_close(shown.word_loss(output, seen.wanted), captions.soft_loss(output, seen.wanted))
    image = torch.randint(0, 256, (224, 200, 3), generator=torch.Generator().manual_seed(3))
    assert torch.equal(shown.preprocess(image), preprocess(image))


def test_lesson_10_copies_parameters_as_the_package_does():
    shown = page("10_multi_head_attention")
    theirs, one, other = torch.nn.MultiheadAttention(6, 2), shown.MultiHead(6, 2), shown.MultiHead(6, 2)
    shown.copy_parameters(theirs, one)
    copy_parameters(theirs, other)
    for found, wanted in zip(one.parameters(), other.parameters(), strict=True):
        assert torch.equal(found, wanted)


@pytest.mark.parametrize("k", [1, 2])
def test_lesson_18_holds_the_loss_and_the_layer_of_experts(k):
    shown, draw = page("18_mixture_of_experts"), torch.Generator().manual_seed(0)
    outputs, gates = torch.randn(6, 4, 3, generator=draw), torch.rand(6, 4, generator=draw).softmax(-1)
    target, x = torch.randn(6, 3, generator=draw), torch.randn(2, 70, 5, generator=draw)
    torch.testing.assert_close(
        shown.competing_loss(outputs, gates, target), experts.mixture_loss(outputs, gates, target)
    )
    layer = shown.TopExperts(5, hidden=6, N=4, k=k)
    expected = experts.ExpertsLayer(5, [FeedForward(5, 6) for _ in range(4)], k)
    expected.load_state_dict(layer.state_dict())
    torch.testing.assert_close(layer(x), expected(x))
    layer(x).square().sum().backward()
    expected(x).square().sum().backward()
    for found, wanted in zip(layer.parameters(), expected.parameters(), strict=True):
        torch.testing.assert_close(found.grad, wanted.grad)


@pytest.mark.parametrize("name", ["05_seq2seq", "12_transformer"])
def test_lessons_05_and_12_hold_the_courses_training_loop(name):
    shown = page(name)

    def fit_of_page(model, sources, targets, rate, **drawing):
        if name == "05_seq2seq":
            return shown.fit(model, sources, targets, rate=rate, **drawing)
        return shown.fit(model, shown.draw_batches(sources, targets, **drawing), rate=rate)

    sources, targets = [[4, 5, 6], [7], [8, 9]], [[8], [9, 10, 11, 12], [13]]
    left = []
    for fit in (fit_of_page, seq2seq.fit):
        torch.manual_seed(0)
        model = seq2seq.Seq2Seq(17, width=5, hidden=7)
        losses = fit(model, sources, targets, seed=2, steps=5, batch=2, rate=0.1)
        left.append([losses, *(p.tolist() for p in model.parameters()), torch.rand(1).item()])
    for one, other in zip(*left, strict=True):
        torch.testing.assert_close(torch.tensor(one), torch.tensor(other))


@pytest.mark.parametrize("name", ["05_seq2seq", "12_transformer"])
@pytest.mark.parametrize("targets", [[[8], [9, 10, 11, 12]], [[], []]])
def test_lessons_05_and_12_hold_batches(name, targets):
    sources = [[4, 5, 6], [7]]
    shown, ours = page(name).make_batch(sources, targets), seq2seq.make_batch(sources, targets)
    for found, expected in zip(shown, ours, strict=True):
        assert found.dtype == expected.dtype and torch.equal(found, expected)


@pytest.mark.parametrize("split", ["train", "val", "test_2016_flickr"])
def test_lesson_05_reads_captions_as_the_package_does(split, real_data):
    shown, expected = page("05_seq2seq"), load_multi30k(split)
    both = zip(expected.sources, expected.targets, strict=True)
    pairs = [(shown.tokenize(source), shown.tokenize(target)) for source, target in both]
    of_page = "test" if split == "test_2016_flickr" else split
    assert shown.read_pairs(of_page, longest=100) == pairs
    assert shown.read_pairs(of_page) == [pair for pair in pairs if len(pair[0].split()) <= 10] != []


def test_lesson_05_holds_the_share_that_is_right():
    shown = page("05_seq2seq")
    texts = ["a b c", "a c", "a b c d", ""], ["a b c", "a b c", "a b", "a"]
    assert shown.exact_shares(*texts) == scores.exact_shares(*texts)


def test_lesson_06_holds_the_alignment_error_rate():
    shown = page("06_seq2seq_attention").alignment_error_rate
    weights, links = torch.rand(2, 4, 3), [[(0, 0), (2, 1), (2, 2)], [(1, 0), (0, 3)]]
    assert shown(weights, links) == scores.alignment_error_rate(list(weights.numpy()), links)


@pytest.mark.parametrize("name, sizes", [("SelfAttention", (6,)), ("RestrictedSelfAttention", (6, 2))])
def test_lesson_09_holds_the_layers_that_it_counts(name, sizes):
    shown, x = page("09_self_attention"), torch.randn(2, 7, 6)
    theirs, ours = getattr(shown, name)(*sizes), getattr(sequence_layers, name)(*sizes)
    theirs.load_state_dict(ours.state_dict())
    torch.testing.assert_close(theirs(x), ours(x))
    assert shown.multiplications(theirs, x) == sequence_layers.multiplications(ours, x)
    assert torch.equal(shown.causal_mask(5), causal_mask(5))


@pytest.mark.parametrize("distance", [0, 5])
def test_lesson_09_holds_the_pairs_and_the_lstm_of_its_table(distance):
    shown = page("09_self_attention")
    drawn = [torch.Generator().manual_seed(7) for _ in range(2)]
    found, expected = shown.draw_pairs(6, distance, drawn[0]), recall_at_distance(6, 3, distance, drawn[1])
    assert all(map(torch.equal, found, expected))
    x, left = torch.randn(2, 7, 6), []
    for layer in (shown.LSTM, lambda width: sequence_layers.Recurrent(width, torch.nn.LSTM)):
        torch.manual_seed(3)
        left.append(layer(6)(x))
    assert torch.equal(*left)


@pytest.mark.parametrize("bias", [False, True])
def test_lesson_09s_causal_layer_equals_torchs_and_leaks_nothing(bias):
    shown, x = page("09_self_attention"), torch.randn(2, 7, 6)
    layer = shown.CausalSelfAttention(6, 9, dropout=0.5, bias=bias)
    assert ("query.bias" in layer.state_dict()) == bias and layer.state_dict()["mask"].shape == (9, 9)
    assert not torch.equal(layer(x), layer(x))  # dropout is on
    found = layer.eval()(x)
    expected = torch.nn.functional.scaled_dot_product_attention(layer.query(x), layer.key(x), layer.value(x), is_causal=True)  # fmt: skip
    torch.testing.assert_close(found, expected)
    for t in range(1, 7):
        torch.testing.assert_close(layer(torch.cat([x[:, :t], torch.randn(2, 7 - t, 6)], 1))[:, :t], found[:, :t])


def test_lesson_12_numbers_the_tokens_of_raw_strings():
    vocabulary = page("12_transformer", UNK=3).Vocabulary(["A dog runs.", "a DOG", "Dog, a cat."])
    assert vocabulary.tokens == ["PAD", "BOS", "EOS", "UNK", "a", "dog"]
    assert vocabulary.encode(["A dog.", ""]) == [[4, 5, 3], []]
    assert vocabulary.decode([[4, 5, 2, 4], [5]]) == ["a dog", "dog"]


def test_lesson_12_shows_the_packages_masks_positions_and_share():
    shown = page("12_transformer")
    assert torch.equal(shown.causal_mask(5), causal_mask(5))
    assert torch.equal(shown.sinusoidal_positions(70, 12), sinusoidal_positions(70, 12))
    wanted = torch.tensor([[3, 4, 0], [5, 0, 0]])
    logits = torch.nn.functional.one_hot(torch.tensor([[3, 9, 0], [5, 5, 9]]), 10).double()
    for share in (shown.share_right, share_right):
        assert share(lambda source, given: logits, None, None, wanted) == pytest.approx(2 / 3)


@pytest.mark.parametrize("warmup, decay, validated", [(0, 0.0, False), (4, 0.5, False), (4, 0.5, True)])
def test_lesson_13_holds_the_courses_training_loop(warmup, decay, validated):
    left = []
    for code in (page("13_training"), train_model):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Dropout(0.3), torch.nn.Linear(8, 1))
        held_out = torch.rand(9, 3)

        def loss_on(x, model=model):
            return (model(x)[:, 0] - x.prod(1)).square().mean()

        best = code.BestWeights(model, lambda: loss_on(held_out), every=4) if validated else None  # noqa: B023
        losses = code.train_model(
            model, lambda draw: loss_on(torch.rand(5, 3, generator=draw)), 2, 23, 0.5, warmup, decay, best
        )
        assert not model.training
        if validated:
            assert loss_on(held_out).item() == min(best.losses) < max(best.losses)
        weights = [p.tolist() for p in model.parameters()]
        left.append([losses, best and best.losses, weights, torch.rand(1).item()])
    assert left[0] == left[1]


def lesson_13(**more):
    """Return what the page of lesson 13 defines and knows about its small task, as a dict."""
    known = program("small_runs").lesson()[0].hundred_steps.__globals__
    return known | {"device": "cpu"} | more


def code_blocks(path):
    """Return the blocks of Python in a text, without the marks of comments."""
    text = re.sub("^# ?", "", (ROOT / path).read_text(encoding="utf-8"), flags=re.MULTILINE)
    return re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def test_lesson_13s_parts_of_a_batch_add_up_to_its_gradient():
    (code,) = code_blocks("course_lessons/lesson_13_training/lesson.py")
    code = code.replace("device,", '"cpu",')

    def gradient(code):
        known = lesson_13(PAD=0)
        draw = torch.Generator().manual_seed(0)
        known |= {"model": known["new_model"](0), "batch": known["draw_batch"](draw)}
        exec(code, known)
        return torch.cat([weight.grad.flatten() for weight in known["model"].parameters()])

    whole = gradient("loss_on(model, batch).backward()")
    exact = code.replace("torch.bfloat16", "torch.bfloat16, enabled=False")
    equal_parts = exact.replace("share * loss", "loss / 4")
    rounded, exact, equal_parts = (
        ((gradient(each) - whole).norm() / whole.norm()).item() for each in (code, exact, equal_parts)
    )
    assert exact < 1e-5 < rounded < 0.01 < equal_parts < 0.1


@pytest.mark.thorough
def test_hugging_faces_trainer_reaches_the_loss_of_lesson_13(capsys):
    transformers = pytest.importorskip("transformers")
    transformers.logging.set_verbosity_error()
    (code,) = [each for each in code_blocks("docs/translators.md") if "ForTrainer" in each]
    exec(code, lesson_13(PAD=0))
    found = re.findall(r"validation loss (\d\.\d+), share of words right (\d\.\d+)", capsys.readouterr().out)
    (theirs, their_words), (ours, our_words) = (map(float, each) for each in found)
    assert abs(theirs - ours) < 0.06 and min(their_words, our_words) > 0.97


def test_a_training_too_short_to_be_validated_keeps_its_weights():
    for code in (page("13_training"), train_model):
        model = torch.nn.Linear(3, 1)
        first = model.weight.clone()
        best = code.BestWeights(model, lambda model=model: model(torch.ones(1, 3)).square().mean(), every=4)
        code.train_model(model, lambda draw, model=model: model(torch.ones(1, 3)).mean(), 0, 3, 0.1, best=best)
        assert not torch.equal(model.weight, first)


def test_lesson_16_holds_the_memory_network_and_its_training():
    shown, (_, learned) = page("16_memory_networks"), stories("two facts", number=50, seed=0)
    theirs, ours = shown.MemoryNetwork(hops=2), memory.MemoryNetwork(hops=2)
    theirs.load_state_dict(ours.state_dict())
    shown.fit(theirs, learned, seed=1, steps=6, linear_steps=3)
    memory.fit(ours, learned, seed=1, steps=6, linear_steps=3)
    asked = learned.facts, learned.mask, learned.question
    for found, expected in zip(theirs(*asked), ours(*asked), strict=True):
        torch.testing.assert_close(found, expected)
    assert shown.share_right(theirs, learned) == memory.score(ours, learned).right


def test_lesson_17_holds_the_machine_its_loss_and_its_training():
    shown = page("17_neural_turing_machines", H=64, W=16)
    torch.manual_seed(3)
    ours = turing.Machine(GIVEN, WANTED, places=32)
    torch.manual_seed(3)
    theirs = shown.Machine(shown.address)
    assert all(map(torch.equal, theirs.parameters(), ours.parameters()))
    asked = copy(torch.Generator().manual_seed(0), 4, 3, 3)
    found, expected = theirs(asked.given), ours(asked.given)
    for one, other in zip(found, (expected.logits, expected.reads, expected.writes), strict=True):
        torch.testing.assert_close(one, other)
    torch.testing.assert_close(shown.loss_on(theirs, asked), turing.loss(ours, asked))
    trained, losses = shown.trained(shown.address, seed=3, steps=8)
    expected = turing.fit(ours, lambda draw: copy(draw, 16, 1, 5), seed=3, steps=8, rate=0.02, warmup=20)
    torch.testing.assert_close(torch.tensor(losses), torch.tensor(expected))
    test = copy(torch.Generator().manual_seed(1), 50, 4, 4)
    assert shown.wrong_share(trained, 4) == pytest.approx(turing.wrong_bits(ours, test), abs=0.01)


def test_lesson_20_holds_the_delta_rule_and_the_promises():
    shown, draw = page("20_your_own_attention"), torch.Generator().manual_seed(0)
    query, key, value = (torch.randn(2, 3, 7, n, generator=draw) for n in (4, 4, 5))
    mask = causal_mask(7).repeat(2, 1, 1, 1)
    mask[1, ..., 5:] = False
    for seen in (mask, causal_mask(7)):
        left = []
        for delta in (shown.delta, variants.delta):
            given = [tensor.clone().requires_grad_() for tensor in (query, key, value)]
            contexts, weights = delta(*given, seen)
            assert weights is None
            contexts.square().sum().backward()
            left.append([contexts, *(tensor.grad for tensor in given)])
        for found, expected in zip(*left, strict=True):
            torch.testing.assert_close(found, expected)
    for attend in (shown.delta, shown.mask_after_softmax, shown.linear, variants.alibi):
        assert shown.broken(attend, PROMISES) == broken(attend)


def test_lesson_20_holds_the_model_that_any_attention_fits_into():
    shown = page("20_your_own_attention").Reader(variants.dot_product)
    ours, asked = variants.reader(variants.dot_product), lookups(3, "latest", torch.Generator().manual_seed(0), 12)
    shown.load_state_dict(ours.state_dict())
    torch.testing.assert_close(shown(asked), ours(read(asked)))
