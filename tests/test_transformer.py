"""The Transformer against torch's own modules, values and gradients, in float64; and what must hold for it alone."""

import copy
import itertools

import pytest
import sampling
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from tensors import assert_close, assert_same, batch_of, drawn, shaken, tensor

from course_utils.base.errors import CourseError
from course_utils.data.subwords import BOS, EOS, PAD
from course_utils.models import transformer as t
from course_utils.models.torch_conversion import _attention_pairs, _copy, to_torch
from course_utils.training.device import choose_device
from course_utils.translation.search import follow

B, T, S, H = 3, 7, 11, 2
WIDTH, HIDDEN, V = 10, 13, 17

SIZES = st.permutations([2, 3, 5, 7, 11]).map(lambda sizes: dict(zip("BTSHd", sizes, strict=True)))
SEEDS = st.integers(0, 1000)
MASKS = st.sampled_from(["none", "padding", "causal", "both"])
both_norms = pytest.mark.parametrize("norm", ["pre", "post"])
some = settings(max_examples=15, deadline=None)


class PretendedGPU(torch.Tensor):
    """A tensor that claims to be on a GPU, as does all that is computed from it: so the GPU's path runs here."""

    is_cuda = True


def mask_of(kind, B, T, S, seed):
    """A mask that fits B×H×T×S, or None; the first key may always be attended."""
    lengths = torch.randint(1, S + 1, (B,), generator=drawn(seed))
    padding = (torch.arange(S) < lengths[:, None])[:, None, None]
    causal = torch.ones(T, S, dtype=torch.bool).tril(max(0, S - T))
    return {"none": None, "padding": padding, "causal": causal, "both": padding & causal}[kind]


def model_of(seed=0, **changes):
    options = {"vocabulary": V, "width": WIDTH, "heads": H, "hidden": HIDDEN, "encoder_layers": 2, "decoder_layers": 3, "longest": 13}  # fmt: skip
    return shaken(t.Transformer(**options | changes), seed)


# Attention


@some
@given(SIZES, MASKS, SEEDS)
def test_attention_equals_torchs(sizes, kind, seed):
    B, T, S, H, d = sizes.values()
    query, key, value = (
        tensor(B, H, T, d, seed=seed),
        tensor(B, H, S, d, seed=seed + 1),
        tensor(B, H, S, d, seed=seed + 2),
    )
    mask = mask_of(kind, B, T, S, seed)
    context, weights = t.attend(query, key, value, mask)
    inputs = [query, key, value]
    assert_same(context, F.scaled_dot_product_attention(query, key, value, attn_mask=mask), inputs, inputs)
    assert_close(weights.sum(-1), torch.ones(B, H, T, dtype=torch.float64))
    assert weights.min() >= 0 and (mask is None or not weights.masked_fill(mask, 0).any())


@some
@given(SIZES, MASKS, SEEDS)
def test_the_path_of_a_gpu_gives_the_same(sizes, kind, seed):
    B, T, S, H, d = sizes.values()
    inputs = [tensor(B, H, length, d, seed=seed + length) for length in (T, S, S)]
    mask = mask_of(kind, B, T, S, seed)
    slow, _ = t.attend(*inputs, mask)
    fast, nothing = t.attend(*(x.as_subclass(PretendedGPU) for x in inputs), mask)
    assert nothing is None and isinstance(fast, PretendedGPU)
    assert_same(fast.as_subclass(torch.Tensor), slow, inputs, inputs)
    context, weights = t.attend(inputs[0].as_subclass(PretendedGPU), *inputs[1:], mask, need_weights=True)
    assert_close(context.as_subclass(torch.Tensor), slow)
    assert weights.shape == (B, H, T, S)


@both_norms
def test_the_path_of_a_gpu_gives_the_same_in_the_whole_model(norm):
    model, (source, target) = model_of(norm=norm), batch_of(V)
    parameters = list(model.parameters())
    fast = model.features(source.as_subclass(PretendedGPU), target.as_subclass(PretendedGPU))
    assert_same(fast.as_subclass(torch.Tensor), model.features(source, target), parameters, parameters)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize(
    "mask", [None, torch.arange(S)[None] < 5, torch.zeros(1, S, dtype=torch.bool)], ids=["none", "some", "nothing"]
)
@pytest.mark.parametrize(("dtype", "bound"), [(torch.float64, 1e-10), (torch.float32, 1e-3), (torch.bfloat16, 3e-2)])
def test_attention_on_a_gpu_gives_the_same(mask, dtype, bound):
    inputs = [tensor(B, H, length, 8, seed=length).detach() for length in (T, S, S)]
    slow, _ = t.attend(*inputs, mask)
    choose_device("cuda")
    there = [x.to("cuda", dtype).requires_grad_() for x in inputs]
    fast, _ = t.attend(*there, None if mask is None else mask.cuda())
    assert_close(fast.cpu().double(), slow, bound)
    assert all(gradient.isfinite().all() for gradient in torch.autograd.grad(fast.sum(), there))


@some
@given(SIZES, SEEDS)
def test_a_fully_masked_query_gets_zeros_and_finite_gradients(sizes, seed):
    B, T, S, H, d = sizes.values()
    inputs = [tensor(B, H, length, d, seed=seed + length) for length in (T, S, S)]
    mask = torch.rand(B, 1, T, S, generator=drawn(seed)) < 0.5
    mask[0, 0, 1] = False
    context, weights = t.attend(*inputs, mask)
    assert not context[0, :, 1].any() and not weights[0, :, 1].any()
    gradients = torch.autograd.grad(context.square().sum(), inputs)
    assert all(gradient.isfinite().all() for gradient in gradients) and not gradients[0][0, :, 1].any()


@pytest.mark.parametrize(("dtype", "bound"), [(torch.float64, 1e-15), (torch.float32, 1e-6), (torch.bfloat16, 0.005)])
def test_rows_of_every_length_have_their_softmax(dtype, bound):
    """Filling rows up to whole vectors changes nothing, whatever is missing to one."""
    for length in range(1, 71):
        scores = (tensor(2, 3, length, seed=length).detach() * 3).to(dtype)
        weights = t.softmax(scores)
        assert weights.shape == scores.shape and weights.dtype == dtype
        torch.testing.assert_close(weights.double(), scores.double().softmax(-1), rtol=0, atol=bound)


def attention_to_torch(ours):
    """Return torch's module with copies of these weights, batch first."""
    weight = ours.output.weight
    theirs = torch.nn.MultiheadAttention(len(weight), ours.heads, batch_first=True).to(weight)
    _copy((mine, other) for other, mine in _attention_pairs(theirs, ours))
    return theirs.train(ours.training)


@some
@given(SIZES, st.sampled_from(["none", "padding", "causal"]), SEEDS)
def test_multi_head_attention_equals_torchs(sizes, kind, seed):
    B, T, S, H, d = sizes.values()
    ours = shaken(t.MultiHeadAttention(H * d, H), seed)
    x, memory, mask = tensor(B, T, H * d, seed=seed), tensor(B, S, H * d, seed=seed + 1), mask_of(kind, B, T, S, seed)
    masks = {} if mask is None else {"padding": {"key_padding_mask": ~mask.flatten(1)}, "causal": {"attn_mask": ~mask}}
    context, weights = ours(x, ours.project(memory), mask)
    expected, expected_weights = attention_to_torch(ours)(x, memory, memory, **masks.get(kind, {}))
    assert_same(context, expected, [x, memory])
    assert_same(weights.mean(1), expected_weights, [x, memory])


# Layers and the model


@both_norms
@pytest.mark.parametrize("positions", sampling.usually(["sinusoidal", "learned", "none"], 1))
@some
@given(seed=SEEDS)
def test_the_whole_model_equals_torchs(norm, positions, seed):
    model, (source, target) = model_of(seed, norm=norm, positions=positions), batch_of(V, seed)
    theirs, embedding, features = to_torch(model), model.embedding, model.features(source, target)
    padding, causal = source == PAD, ~t.cached_causal_mask(T, 0, "cpu")
    masks = {"tgt_mask": causal, "src_key_padding_mask": padding, "memory_key_padding_mask": padding}
    mine, others = [*embedding.parameters()], [*embedding.parameters()]
    for ours, layer in zip(
        [*model.encoder, *model.decoder], [*theirs.encoder.layers, *theirs.decoder.layers], strict=True
    ):
        mine += [*ours.feed_forward.parameters(), *ours.self_attention.output.parameters()]
        others += [*layer.linear1.parameters(), *layer.linear2.parameters(), *layer.self_attn.out_proj.parameters()]
        mine += ours.second.norm.parameters()
        others += layer.norm2.parameters()
    assert_same(features, theirs(embedding(source), embedding(target), **masks), mine, others)
    assert_close(model(source, target), features @ embedding.words.weight.T)


# Padding, batch, future, cache


@both_norms
@some
@given(seed=SEEDS, extra=st.integers(0, 2))
def test_a_sentence_does_not_depend_on_its_batch_or_padding(norm, seed, extra):
    model, (source, target) = model_of(norm=norm), batch_of(V, seed)
    together = model.features(source, target)
    attention = model.attention(source, target)
    for b, row in enumerate(source):
        alone = F.pad(row[row != PAD], (0, extra), value=PAD)[None]
        assert_close(model.features(alone, target[b : b + 1])[0], together[b], 1e-12)
        length = int((row != PAD).sum())
        assert_close(model.attention(alone, target[b : b + 1])[0, :, :length], attention[b, :, :length], 1e-12)
        assert not attention[b, :, length:].any()


@both_norms
def test_padding_behind_a_target_changes_nothing_before_it(norm):
    model, (source, target) = model_of(norm=norm), batch_of(V)
    longer = F.pad(target, (0, 2), value=PAD)
    assert_close(model.features(source, longer)[:, :T], model.features(source, target), 1e-12)


@both_norms
def test_no_word_sees_the_future(norm):
    model, (source, target) = model_of(norm=norm), batch_of(V)
    memory, embedded = model.encode(source), []

    def keep(module, inputs, output):
        embedded.append(output)

    with_hook = model.embedding.register_forward_hook(keep)
    features, _ = model.decode(target, memory)
    with_hook.remove()
    for place in range(T):
        (gradient,) = torch.autograd.grad(features[:, place].square().sum(), embedded[0], retain_graph=True)
        assert not gradient[:, place + 1 :].any(), "exactly zero, not almost"
        assert gradient[:, : place + 1].flatten(2).any(-1).all()
    changed = torch.cat([target[:, :4], (target[:, 4:] + 1) % V], 1)
    assert torch.equal(model.features(source, changed)[:, :4], features[:, :4])


def steps(model, source, target):
    """Feed targets B×K×T to `step` one by one: logits B×K×T×V and weights B×K×T×S."""
    memory, state = model.start(source)
    state = follow(state, torch.zeros(target.shape[:2], dtype=torch.long))  # K of the first hypothesis
    outputs = []
    for place in range(target.shape[2]):
        logits, state, weights = model.step(target[:, :, place], memory, state)
        outputs.append((logits, weights))
    return (torch.stack(x, 2) for x in zip(*outputs, strict=True))


@both_norms
@some
@given(seed=SEEDS, hypotheses=st.sampled_from([1, 5]))
def test_step_by_step_with_a_cache_equals_all_at_once(norm, seed, hypotheses):
    model, (source, _) = model_of(norm=norm), batch_of(V, seed)
    _, target = batch_of(V, seed + 1, number=B * hypotheses)
    target = target.view(B, hypotheses, T)
    with torch.no_grad():
        logits, weights = steps(model, source, target)
        for k in range(hypotheses):
            assert_close(logits[:, k], model(source, target[:, k]), 1e-12)
            assert_close(weights[:, k], model.attention(source, target[:, k]), 1e-12)


@both_norms
def test_several_words_at_once_after_a_cache_equal_all_at_once(norm):
    model, (source, target) = model_of(norm=norm), batch_of(V)
    memory, parts = model.encode(source), []
    empty = torch.empty(B, H, 0, WIDTH // H, dtype=torch.float64)
    caches = [t.LayerCache(empty, empty, 0) for _ in model.decoder]
    for some_words in target.split([2, 3, 2], 1):
        features, _ = model.decode(some_words, memory, caches)
        parts.append(features)
    assert [cache.words for cache in caches] == [T] * 3
    assert_close(torch.cat(parts, 1), model.features(source, target), 1e-12)


@some
@given(seed=SEEDS)
def test_a_growing_cache_equals_the_pass_over_all_words_at_once(seed):
    """37 words need more room four times; before each of them the hypotheses are dealt out anew."""
    model, (source, _), hypotheses, length = model_of(longest=41), batch_of(V, seed), 3, 37
    generator = drawn(seed)
    with torch.no_grad():
        memory, state = model.start(source)
        words = torch.full((B, 1, 0), BOS)
        for _ in range(length):
            parents = torch.randint(words.shape[1], (B, hypotheses), generator=generator)
            state, words = follow((state, words), parents)
            new = torch.randint(EOS + 1, V, (B, hypotheses), generator=generator)
            words = torch.cat([words, new[..., None]], 2)
            logits, state, _ = model.step(new, memory, state)
            assert [filled for _, _, filled in state] == [words.shape[2]] * 3
        for k in range(hypotheses):
            assert_close(logits[:, k], model(source, words[:, k])[:, -1], 1e-12)


def test_the_cache_is_not_copied_at_each_step():
    model, (source, _) = model_of(longest=41), batch_of(V)
    memory, state = model.start(source)
    places = []
    with torch.no_grad():
        for _ in range(37):
            _, state, _ = model.step(torch.full((B, 1), BOS), memory, state)
            places.append(state[0][0].data_ptr())
    assert sum(old != new for old, new in itertools.pairwise(places)) == 37 // 8


def test_attention_is_that_of_the_aligned_layer():
    model, (source, target) = model_of(), batch_of(V)
    assert model.aligned_layer == 1  # of three
    seen = []
    hook = model.decoder[1].source_attention.register_forward_hook(
        lambda module, inputs, output: seen.append(output[1])
    )
    weights = model.attention(source, target)
    hook.remove()
    assert torch.equal(weights, seen[0].mean(1))
    assert_close(weights.sum(-1), torch.ones(B, T, dtype=torch.float64))


# Positions and dropout


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "none"])
def test_embeddings_are_words_times_root_of_width_plus_positions(positions):
    embedding = shaken(t.Embedding(V, 4, positions, 13, 0.1))
    expected = 2 * embedding.words.weight[[5, 3]] + embedding.positions[[7, 8]]
    assert_close(embedding(torch.tensor([[5, 3]]), start=7)[0], expected, 1e-12)


@pytest.mark.parametrize("positions", ["sinusoidal", "none"])
def test_the_order_of_the_source_matters_only_with_positions(positions):
    model, (source, target) = model_of(positions=positions), batch_of(V)
    source = source.clamp(min=PAD + 1)  # words throughout, so that any may change places
    moved = source[:, torch.randperm(source.shape[1], generator=drawn(0))]
    assert torch.allclose(model(source, target), model(moved, target), atol=1e-9) == (positions == "none")


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_dropout_drops_its_share_and_scales_the_others(p, dtype):
    torch.manual_seed(0)
    n, drop = 2**20 + 5, t.Dropout(p)  # not a multiple of the eight elements of a draw
    kept = drop.kept(torch.ones(n, dtype=dtype)).double()
    share = round(p * 256) / 256
    assert abs(share - p) <= 1 / 512
    assert set(kept.unique().tolist()) == {0.0, torch.tensor(1 / (1 - share)).to(dtype).item()}
    deviation = (share * (1 - share) / n) ** 0.5
    assert abs((kept == 0).double().mean().item() - share) < 5 * deviation
    rounding = 2**-8 if dtype == torch.bfloat16 else 1e-6
    assert abs(kept.mean().item() - 1) < 5 * deviation / (1 - share) + rounding  # unbiased


def test_dropout_of_one_element_says_nothing_about_another():
    torch.manual_seed(1)
    dropped = (t.Dropout(0.3).kept(torch.ones(2**20)) == 0).double()
    again = (t.Dropout(0.3).kept(torch.ones(2**20)) == 0).double()
    deviation = dropped.var() / 2**10  # of the covariance of two independent ones
    for one, other in [(dropped[k:], dropped[: len(dropped) - k]) for k in (*range(1, 18), 64, 256)] + [
        (dropped, again)
    ]:
        covariance = (one * other).mean() - one.mean() * other.mean()
        assert abs(covariance) < 5 * deviation
    by_place = dropped.view(-1, 8).mean(0)  # the eight bytes of a draw
    assert (by_place - round(0.3 * 256) / 256).abs().max() < 5 * (0.21 / 2**17) ** 0.5


@pytest.mark.parametrize("shape", [(2, 3, 5), (7, 1), (1,), (0, 3), ()])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_dropout_added_equals_dropout_then_added(shape, dtype):
    drop, (residual, x) = t.Dropout(0.4), torch.randn(2, *shape).to(dtype)
    torch.manual_seed(2)
    added = drop.add(residual, x)
    torch.manual_seed(2)
    torch.testing.assert_close(added, residual + drop(x), rtol=2**-7 if dtype == torch.bfloat16 else 1e-6, atol=2**-7)
    assert added.dtype == dtype and added.shape == x.shape


def test_dropout_of_all_but_everything_stays_finite():
    assert t.Dropout(0.999).kept(torch.ones(10_000)).isfinite().all()


def test_dropout_rests_in_evaluation_and_at_zero():
    x = torch.randn(5, 7)
    assert t.Dropout(0.5).eval()(x) is x and t.Dropout(0.0)(x) is x
    assert torch.equal(t.Dropout(0.5).eval().add(x, x), x + x)


def test_dropout_acts_where_the_paper_says():
    """Section 5.4: on the output of each sub-layer and on the sums of embeddings and positions, in both stacks."""
    model = model_of(dropout=0.5).train()
    calls = []
    for module in model.modules():
        if isinstance(module, t.Dropout):
            kept = module.kept
            module.kept = lambda x, kept=kept: calls.append(x.shape) or kept(x)
    model.features(*batch_of(V))
    assert calls == [(B, S, WIDTH)] * (1 + 2 * 2) + [(B, T, WIDTH)] * (1 + 3 * 3)


# Precision


# The largest difference between features, over their spread. Over 20 seeds of both norm orders it was 0.057.
BF16_BOUND = 0.17


@both_norms
@pytest.mark.parametrize("seed", range(2))
def test_bf16_stays_within_its_bound(norm, seed):
    torch.manual_seed(seed)
    model = t.Transformer(997, width=64, heads=4, hidden=256, norm=norm, dropout=0.0).eval()
    source, target = batch_of(V, seed, 5, 23, 19)
    with torch.no_grad():
        exact = model.features(source, target)
        low = copy.deepcopy(model).bfloat16().features(source, target)
    assert low.dtype == torch.bfloat16
    assert (low.float() - exact).abs().max() / exact.std() < BF16_BOUND


def test_a_model_in_another_precision_keeps_its_readout_tied():
    for model in (model_of(), model_of().bfloat16(), copy.deepcopy(model_of())):
        assert model.readout.weight is model.embedding.words.weight


def test_an_untied_readout_has_its_own_weights_and_begins_alike():
    torch.manual_seed(0)
    tied = t.Transformer(101, width=64, heads=4, hidden=64, encoder_layers=1, decoder_layers=1)
    torch.manual_seed(0)
    untied = t.Transformer(101, width=64, heads=4, hidden=64, encoder_layers=1, decoder_layers=1, tied=False)
    assert untied.readout.weight is not untied.embedding.words.weight
    assert sum(p.numel() for p in untied.parameters()) == sum(p.numel() for p in tied.parameters()) + 101 * 64
    assert torch.equal(tied.embedding.words.weight, untied.embedding.words.weight)
    assert untied.readout.weight.std().item() == pytest.approx(64**-0.5, rel=0.05)


# Sentences, settings, conversions


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"width": 10, "heads": 3}, "the width must be a multiple of the number of heads, and 10 is not one of 3"),
        ({"width": 9, "heads": 3}, "sinusoidal positions need an even width, not 9"),
        ({"norm": "middle"}, "norm must be pre or post, not 'middle'"),
        ({"positions": "rotary"}, "positions must be sinusoidal or learned or none, not 'rotary'"),
        ({"dropout": 1.0}, "dropout must be at least 0 and less than 1, not 1.0"),
    ],
)
def test_settings_that_do_not_fit_are_told(options, sentence):
    with pytest.raises(CourseError, match=sentence):
        t.Transformer(V, **options)


def test_a_sentence_too_long_is_told():
    model, (source, _) = model_of(), batch_of(V)
    sentence = "a sentence may have at most 13 tokens, not 14: shorten it, or train with a larger `longest`"
    for too_long in (
        (torch.ones(1, 14, dtype=torch.long), source[:1]),
        (source[:1], torch.ones(1, 14, dtype=torch.long)),
    ):
        with pytest.raises(CourseError, match=sentence):
            model(*too_long)
    memory, state = model.start(source[:1])
    for _ in range(13):
        _, state, _ = model.step(torch.full((1, 1), BOS), memory, state)
    with pytest.raises(CourseError, match=sentence):
        model.step(torch.full((1, 1), BOS), memory, state)


def test_logits_of_a_new_model_begin_near_a_spread_of_one():
    torch.manual_seed(0)
    model = t.Transformer(997, width=64).eval()
    assert 0.5 < model(*batch_of(V)).std() < 2
