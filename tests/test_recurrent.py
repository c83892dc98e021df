"""The recurrent translators against torch's own cell in a loop, one sentence and one step at a time, in float64."""

import extent
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from course_utils.base.errors import CourseError
from course_utils.base.trees import map_tensors
from course_utils.data.subwords import BOS, EOS, PAD
from course_utils.models.alignment import ATTENTIONS, make_attention
from course_utils.models.attention import SCORES, masked_softmax
from course_utils.models.recurrent import GRU, Encoder, RecurrentTranslator, reverse_sentences
from course_utils.translation.search import beam_search, greedy

V, D, H, ENCODER = 17, 11, 14, 7  # the scores that multiply states with annotations need H = 2·ENCODER
B, S, T = 5, 7, 3

KINDS = {
    "none": {"attention": "none"},
    "luong": {"attention": "luong", "score": "general"},
    "input feeding": {"attention": "luong", "score": "scaled_dot", "input_feeding": True},
    **{f"bahdanau, {score}": {"attention": "bahdanau", "score": score} for score in SCORES},
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def model_of(kind, seed=0, dtype=torch.float64, dropout=0.0, **changes):
    torch.manual_seed(seed)
    options = {"vocabulary": V, "width": D, "hidden": H, "encoder_hidden": ENCODER, "dropout": dropout, "longest": 13}
    model = RecurrentTranslator(**{**options, **KINDS[kind], **changes}).to(dtype)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2)  # far from the linear middle of tanh, and biases of the gates that tell
    return model


def batch_of(seed=0, number=B, source_size=S, target_size=T):
    """Source B×S with EOS and padding, at least one row full; target B×T that begins with BOS."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, source_size + 1, (number,), generator=generator)
    lengths[number // 2] = source_size
    source = torch.randint(EOS + 1, V, (number, source_size), generator=generator)
    places = torch.arange(source_size)
    source = source.masked_fill(places == lengths[:, None] - 1, EOS).masked_fill(places >= lengths[:, None], PAD)
    target = torch.randint(EOS + 1, V, (number, target_size), generator=generator)
    target[:, 0] = BOS
    return source, target


def parameters_of(attention):
    return dict(attention.named_parameters())


def own_weights(attention, query, annotations):
    """The weights of one query H over one sentence's annotations S×E, by the definitions of `attention.py`."""
    scores = SCORES[attention.name]
    query, annotations, parameters = query[None, None], annotations[None], parameters_of(attention)
    if attention.name == "location_based":
        return scores(query, parameters["weight"][: annotations.shape[1]])[0, 0]
    return scores(query, annotations, **parameters)[0, 0].softmax(-1)


def by_hand(model, source, target):
    """Features T×D and weights T×S of one sentence without padding, with torch's cell, one step after the other."""
    decoder, gru = model.decoder, model.decoder.gru
    words = model.embedding.weight[source] * D**0.5

    def read(encoder, words):
        state, states = words.new_zeros(ENCODER), []
        for word in words:
            state = cell(encoder, encoder.weight_ih_l0, word, state)
            states.append(state)
        return states

    def cell(gru, weight, x, state):
        return torch.gru_cell(x[None], state[None], weight, gru.weight_hh_l0, gru.bias_ih_l0, gru.bias_hh_l0)[0]

    forth, back = read(model.encoder.forward_gru, words), read(model.encoder.backward_gru, words.flip(0))
    annotations = torch.stack([torch.cat(pair) for pair in zip(forth, reversed(back), strict=True)])
    summary = torch.cat([forth[-1], back[-1]])
    state = torch.tanh(model.initial(summary))
    fed, features, all_weights = words.new_zeros(D), [], []
    kind = model.config["attention"]
    for word in model.embedding.weight[target] * D**0.5:
        if kind == "none":
            state, context, weights = cell(gru, gru.weight_ih_l0, torch.cat([word, summary]), state), summary, None
        elif kind == "bahdanau":
            weights = own_weights(decoder.attention, state, annotations)
            context = weights @ annotations
            weight = torch.cat([gru.weight_ih_l0, decoder.context.weight], 1)
            state = cell(gru, weight, torch.cat([word, context]), state)
        else:
            weight, x = gru.weight_ih_l0, word
            if model.config["input_feeding"]:
                weight, x = torch.cat([weight, decoder.feed.weight], 1), torch.cat([word, fed])
            state = cell(gru, weight, x, state)
            weights = own_weights(decoder.attention, state, annotations)
            context = weights @ annotations
        fed = torch.tanh(decoder.merge(torch.cat([context, state] if kind == "luong" else [state, context, word])))
        features.append(fed)
        all_weights.append(weights)
    return torch.stack(features), None if kind == "none" else torch.stack(all_weights)


@every_kind
def test_values_and_gradients_are_those_of_a_loop_over_torchs_cell(kind):
    model, (source, target) = model_of(kind), batch_of()
    readers = torch.randn(B, T, D, dtype=torch.float64)

    features = model.features(source, target)
    (features * readers).sum().backward()
    gradients = {name: parameter.grad.clone() for name, parameter in model.named_parameters()}
    weights = model.attention(source, target)
    model.zero_grad()
    for b in range(B):
        row = source[b][source[b] != PAD]
        expected, expected_weights = by_hand(model, row, target[b])
        torch.testing.assert_close(features[b], expected, rtol=0, atol=1e-9)
        if weights is None:
            assert expected_weights is None
        else:
            torch.testing.assert_close(weights[b, :, : len(row)], expected_weights, rtol=0, atol=1e-9)
            assert (weights[b, :, len(row) :] == 0).all()
        (expected * readers[b]).sum().backward()
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(
            gradients[name], parameter.grad, rtol=0, atol=1e-7, msg=lambda m, n=name: f"{n}: {m}"
        )


def test_each_score_has_an_attention_of_its_name():
    assert list(ATTENTIONS) == list(SCORES)


@pytest.mark.parametrize("name", SCORES)
def test_scores_are_those_of_the_definitions(name):
    torch.manual_seed(1)
    A, E, Q = (H, 2 * ENCODER, 3)
    if name in ("additive", "general", "concatenating", "perceptron", "location_based"):
        E = 5
    attention = make_attention(name, A, E, longest=13).double()
    query = torch.randn(B, Q, H, dtype=torch.float64, requires_grad=True)
    annotations = torch.randn(B, S, E, dtype=torch.float64, requires_grad=True)
    ours = attention.scores(query, attention.keys(annotations))
    if name == "location_based":
        ours, theirs = ours.softmax(-1), SCORES[name](query, attention.weight[:S])
    else:
        theirs = SCORES[name](query, annotations, **parameters_of(attention))
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-10)
    readers, inputs = torch.randn_like(theirs), [query, annotations, *attention.parameters()]
    for one, other in zip(
        torch.autograd.grad((ours * readers).sum(), inputs, allow_unused=True),
        torch.autograd.grad((theirs * readers).sum(), inputs, allow_unused=True),
        strict=True,
    ):
        assert (one is None) == (other is None)
        if one is not None:
            torch.testing.assert_close(one, other, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", SCORES)
def test_contexts_are_sums_of_what_may_be_attended(name):
    torch.manual_seed(2)
    attention = make_attention(name, H, 2 * ENCODER, longest=S).double()
    query, annotations = torch.randn(B, T, H).double(), torch.randn(B, S, 2 * ENCODER).double()
    mask = torch.rand(B, S) < 0.6
    mask[:, 3] = True
    contexts, weights = attention(query, attention.prepare(annotations, mask))
    scores = attention.scores(query, attention.keys(annotations))
    torch.testing.assert_close(weights, masked_softmax(scores, mask[:, None]))
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, T).double())
    torch.testing.assert_close(contexts, torch.einsum("bts,bse->bte", weights, annotations))


def test_gru_in_parts_is_torchs_gru():
    torch.manual_seed(3)
    gru, x, state = GRU(D, H).double(), torch.randn(B, T, D).double(), torch.randn(1, B, H).double()
    with torch.no_grad():
        gru.bias_hh_l0.normal_()
    theirs, last = nn.GRU.forward(gru, x, state)
    state = state[0]
    for t, projected in enumerate(gru.project(x).unbind(1)):
        state = gru.step(projected, state)
        torch.testing.assert_close(state, theirs[:, t], rtol=0, atol=1e-12)
    torch.testing.assert_close(state, last[0], rtol=0, atol=1e-12)


def test_sentences_are_reversed_and_padding_stays():
    x = torch.tensor([[1, 2, 3, 8, 9], [1, 2, 3, 4, 5], [1, 6, 7, 8, 9]])
    turned = reverse_sentences(x[..., None], torch.tensor([3, 5, 1]))[..., 0]
    assert turned.tolist() == [[3, 2, 1, 8, 9], [5, 4, 3, 2, 1], [1, 6, 7, 8, 9]]


@settings(max_examples=20, deadline=None)
@given(lengths=st.lists(st.integers(1, 7), min_size=1, max_size=5), extra=st.integers(0, 3))
def test_encoder_is_torchs_bidirectional_gru_over_packed_sentences(lengths, extra):
    torch.manual_seed(4)
    encoder = Encoder(D, H).double()
    theirs = nn.GRU(D, H, batch_first=True, bidirectional=True).double()
    for name, parameter in encoder.forward_gru.named_parameters():
        getattr(theirs, name).data.copy_(parameter)
    for name, parameter in encoder.backward_gru.named_parameters():
        getattr(theirs, f"{name}_reverse").data.copy_(parameter)
    lengths = torch.tensor(lengths)
    x = torch.randn(len(lengths), int(lengths.max()) + extra, D).double()
    mask = torch.arange(x.shape[1]) < lengths[:, None]
    annotations, summary = encoder(x, mask)
    packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    expected, last = theirs(packed)
    expected, _ = nn.utils.rnn.pad_packed_sequence(expected, batch_first=True, total_length=x.shape[1])
    torch.testing.assert_close(annotations[mask], expected[mask], rtol=0, atol=1e-10)
    torch.testing.assert_close(summary, torch.cat([last[0], last[1]], -1), rtol=0, atol=1e-10)


@every_kind
def test_steps_with_many_hypotheses_equal_teacher_forcing(kind):
    model, (source, _) = model_of(kind).eval(), batch_of(1)
    K = 3
    targets = torch.stack([batch_of(seed)[1] for seed in range(2, 2 + K)], 1)  # B K T
    memory, state = model.start(source)
    map_tensors(lambda t: t if len(t) == B else pytest.fail("memory must begin with B"), memory)
    state = map_tensors(lambda t: t.expand(B, K, *t.shape[2:]), state)
    for t in range(T):
        logits, state, weights = model.step(targets[:, :, t], memory, state)
        map_tensors(lambda x: x if x.shape[:2] == (B, K) else pytest.fail("state must begin with B×K"), state)
        for k in range(K):
            torch.testing.assert_close(logits[:, k], model(source, targets[:, k])[:, t], rtol=0, atol=1e-10)
            if weights is not None:
                expected = model.attention(source, targets[:, k])[:, t]
                torch.testing.assert_close(weights[:, k], expected, rtol=0, atol=1e-10)
    assert (weights is None) == (kind == "none")


@every_kind
def test_neither_padding_nor_batch_mates_nor_the_future_matter(kind):
    model, (source, target) = model_of(kind), batch_of(7)
    features = model.features(source, target)
    padded = torch.cat([source, torch.full((B, 5), PAD)], 1).flip(0)
    torch.testing.assert_close(model.features(padded, target.flip(0)).flip(0), features, rtol=0, atol=1e-10)
    for t in range(T):
        changed = target.clone()
        changed[:, t:] = (changed[:, t:] + 3) % V
        torch.testing.assert_close(model.features(source, changed)[:, :t], features[:, :t], rtol=0, atol=0)
        assert not torch.equal(model.features(source, changed)[:, t], features[:, t])


@every_kind
def test_every_parameter_learns_except_what_softmax_cancels(kind):
    model, (source, target) = model_of(kind), batch_of(8)
    F.cross_entropy(model(source, target).flatten(0, 1), target.flatten()).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all(), name
        if "concatenating" in kind and name == "decoder.attention.weight":
            # W [s; h] adds the same to a state's every score: such attention can't tell one state from another.
            torch.testing.assert_close(parameter.grad[:H], torch.zeros(H).double(), rtol=0, atol=1e-12)
            assert parameter.grad[H:].abs().sum() > 1e-9
        else:
            assert parameter.grad.abs().sum() > 1e-9, name


@pytest.mark.parametrize("kind", ["none", "bahdanau, perceptron", "bahdanau, content_based", "input feeding"])
def test_low_precision_stays_near(kind):
    source, target = batch_of(9)
    exact = model_of(kind).features(source, target)
    for dtype, bound in ((torch.float32, 1e-5), (torch.bfloat16, 0.1)):
        features = model_of(kind, dtype=dtype).features(source, target)
        assert features.dtype == dtype
        assert (features.double() - exact).abs().max() < bound


@pytest.mark.parametrize("kind", ["none", "luong", "bahdanau, perceptron", "input feeding", "bahdanau, location_based"])
def test_translations_do_not_depend_on_the_batch(kind):
    model, (source, _) = model_of(kind, seed=5), batch_of(10, number=11)
    rows = [row[row != PAD][None] for row in source]
    assert [t.tokens for t in greedy(model, source)] == [greedy(model, row)[0].tokens for row in rows]
    together = beam_search(model, source, 3, weights=True)
    for row, translation in zip(rows, together, strict=True):
        (alone,) = beam_search(model, row, 3, weights=True)
        assert alone.tokens == translation.tokens
        assert alone.log_probability == pytest.approx(translation.log_probability, abs=1e-9)
        if kind == "none":
            assert translation.weights is None
        else:
            assert translation.weights.shape == (len(alone.tokens), row.shape[1])
            torch.testing.assert_close(alone.weights, translation.weights)
        logits = model(row, torch.tensor([[BOS, *alone.tokens]])).log_softmax(-1)
        written = torch.tensor([*alone.tokens, EOS])
        assert logits[0].gather(1, written[:, None]).sum().item() == pytest.approx(alone.log_probability, abs=1e-9)


@pytest.mark.parametrize("kind", extent.usually(["input feeding", "none", "luong", "bahdanau, perceptron"], 1))
def test_it_learns_to_turn_sentences_round(kind):
    torch.manual_seed(0)
    model = RecurrentTranslator(9, width=16, hidden=32, encoder_hidden=16, dropout=0.05, **KINDS[kind])
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    words = torch.randint(EOS + 1, 9, (64, 4))
    end, begin = torch.full((64, 1), EOS), torch.full((64, 1), BOS)
    source, turned = torch.cat([words, end], 1), words.flip(1)
    for step in range(160):
        # Smaller and smaller, so that the end does not depend on how sums were rounded on the way.
        optimizer.param_groups[0]["lr"] = 1e-2 * (1 - step / 160)
        logits = model(source, torch.cat([begin, turned], 1))
        loss = F.cross_entropy(logits.flatten(0, 1), torch.cat([turned, end], 1).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    right = [t.tokens == row for t, row in zip(greedy(model, source), turned.tolist(), strict=True)]
    assert sum(right) >= 60


def test_it_can_be_rebuilt_from_its_configuration():
    model = model_of("input feeding", dropout=0.3)
    other = type(model)(**model.config).double()
    other.load_state_dict(model.state_dict())
    source, target = batch_of()
    assert torch.equal(model.eval()(source, target), other.eval()(source, target))
    assert model.config["input_feeding"] is True and model.config["dropout"] == 0.3
    assert other.readout.weight is other.embedding.weight


def test_dropout_acts_in_training_alone():
    model, (source, target) = model_of("bahdanau, perceptron", dropout=0.5), batch_of()
    assert not torch.equal(model.embed(source), model.embed(source))
    assert 0.3 < (model.features(source, target) == 0).double().mean() < 0.7
    model.eval()
    assert not (model.features(source, target) == 0).any()
    assert torch.equal(model(source, target), model(source, target))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"width": 0}, "width must be at least 1, not 0"),
        ({"hidden": -3}, "hidden must be at least 1, not -3"),
        ({"encoder_hidden": 0}, "encoder_hidden must be at least 1, not 0"),
        ({"attention": "loung"}, "attention must be none, bahdanau or luong, not 'loung'"),
        ({"score": "product"}, "score must be one of dot, scaled_dot, .*, not 'product'"),
        ({"score": "dot", "hidden": 13}, "dot needs states and annotations of one width, not 13 and 14"),
        ({"score": "content_based", "hidden": 13}, "content_based needs states"),
        ({"input_feeding": True}, "input feeding belongs to the attention \"luong\", not 'bahdanau'"),
        ({"dropout": 1.0}, "dropout"),
    ],
)
def test_impossible_options_are_named(wrong, message):
    with pytest.raises(CourseError, match=message):
        model_of("bahdanau, perceptron", **wrong)


def test_a_source_longer_than_location_based_knows_is_named():
    model = model_of("bahdanau, location_based", longest=S - 1)
    with pytest.raises(CourseError, match=f"location_based knows {S - 1} source positions, not {S}"):
        model(*batch_of())
