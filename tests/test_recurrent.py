"""The recurrent translators against torch's own cell in a loop, one sentence and one step at a time, in float64."""

import pytest
import torch
from tensors import batch_of

from course_utils.base.errors import CourseError
from course_utils.base.trees import map_tensors
from course_utils.data.subwords import PAD
from course_utils.models.alignment import ATTENTIONS
from course_utils.models.attention import SCORES
from course_utils.models.recurrent import RecurrentTranslator

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
def test_values_and_gradients_equal_a_loop_over_torchs_cell(kind):
    model, (source, target) = model_of(kind), batch_of(V, 0, B, S, T)
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


@every_kind
def test_steps_with_many_hypotheses_equal_teacher_forcing(kind):
    model, (source, _) = model_of(kind).eval(), batch_of(V, 1, B, S, T)
    K = 3
    targets = torch.stack([batch_of(V, seed, B, S, T)[1] for seed in range(2, 2 + K)], 1)  # B K T
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
def test_features_ignore_padding_batch_mates_and_the_future(kind):
    model, (source, target) = model_of(kind), batch_of(V, 7, B, S, T)
    features = model.features(source, target)
    padded = torch.cat([source, torch.full((B, 5), PAD)], 1).flip(0)
    torch.testing.assert_close(model.features(padded, target.flip(0)).flip(0), features, rtol=0, atol=1e-10)
    for t in range(T):
        changed = target.clone()
        changed[:, t:] = (changed[:, t:] + 3) % V
        torch.testing.assert_close(model.features(source, changed)[:, :t], features[:, :t], rtol=0, atol=0)
        assert not torch.equal(model.features(source, changed)[:, t], features[:, t])


@pytest.mark.parametrize("kind", ["none", "bahdanau, perceptron", "bahdanau, content_based", "input feeding"])
def test_low_precision_stays_near(kind):
    source, target = batch_of(V, 9, B, S, T)
    exact = model_of(kind).features(source, target)
    for dtype, bound in ((torch.float32, 1e-5), (torch.bfloat16, 0.1)):
        features = model_of(kind, dtype=dtype).features(source, target)
        assert features.dtype == dtype
        assert (features.double() - exact).abs().max() < bound


def test_dropout_acts_in_training_alone():
    model, (source, target) = model_of("bahdanau, perceptron", dropout=0.5), batch_of(V, 0, B, S, T)
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
        model(*batch_of(V, 0, B, S, T))
