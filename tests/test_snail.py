"""What lesson 19 shows: convolutions and blocks step by step, nothing seen too early, the worlds, and what its tables say."""

import math

import pytest
import torch
from tensors import drawn

from course_utils.base.errors import CourseError
from course_utils.data import episodes
from course_utils.data.digit_fields import digits
from course_utils.models.snail import (
    AttentionBlock,
    DenseBlock,
    Snail,
    answers,
    by_examples,
    causal_convolution,
    dilations,
    fit_characters,
    predict_labels,
    read,
)


@pytest.mark.parametrize("dilation", [1, 2, 5, 9])
def test_causal_convolution_equals_its_sum_step_by_step(dilation):
    x, weight, bias = (torch.randn(*shape, generator=drawn()).double() for shape in ((2, 7, 3), (4, 3, 2), (4,)))
    y = causal_convolution(x, weight, bias, dilation)
    for t in range(7):
        expected = bias + x[:, t] @ weight[..., 1].T
        if t >= dilation:
            expected = expected + x[:, t - dilation] @ weight[..., 0].T
        torch.testing.assert_close(y[:, t], expected)


def test_dilations_are_as_many_as_it_takes():
    for steps in range(1, 70):
        reach = [sum(dilations(steps)[:n]) for n in range(len(dilations(steps)) + 1)]
        assert reach[-1] >= steps - 1 and all(r < steps - 1 for r in reach[:-1])


def test_dense_and_attention_blocks_equal_their_formulas():
    torch.manual_seed(0)
    x = torch.randn(1, 4, 3)
    dense, looks = DenseBlock(3, 2, dilation=2), AttentionBlock(3, key=5, value=2)
    f, g = (causal_convolution(x, dense.weights[i], dense.biases[i], 2) for i in range(2))
    assert torch.equal(dense(x)[..., :3], x) and torch.equal(looks(x)[..., :3], x)
    torch.testing.assert_close(dense(x)[..., 3:], f.tanh() / (1 + (-g).exp()))
    for t in range(4):
        scores = [looks.query(x[0, t]) @ looks.key(x[0, s]) / math.sqrt(5) for s in range(t + 1)]
        weights = torch.stack(scores).softmax(0)
        torch.testing.assert_close(looks(x)[0, t, 3:], weights @ looks.value(x[0, : t + 1]))
        torch.testing.assert_close(looks.weights[0, t, : t + 1], weights)


def test_a_model_sees_all_steps_so_far_and_none_to_come():
    torch.manual_seed(0)
    model = Snail(3, 2, steps=9)
    x = torch.randn(2, 9, 3, generator=drawn(), requires_grad=True)
    for t in range(9):
        seen = torch.autograd.grad(model(x)[:, t].square().sum(), x)[0].abs().amax((0, 2)) > 0
        assert seen.tolist() == [s <= t for s in range(9)]


def test_read_gives_each_answer_one_step_later():
    x, y = torch.tensor([[[1.0], [2.0], [3.0]]]), torch.tensor([[[5.0, 6.0], [7.0, 8.0], [9.0, 0.0]]])
    assert read(x, y).tolist() == [[[1, 0, 0], [2, 5, 6], [3, 7, 8]]]


def test_a_changed_label_moves_only_later_answers():
    torch.manual_seed(0)
    model, shown = Snail(69, 5, steps=26), episodes.character_episodes(4, "joined", drawn())
    changed = shown.labels.clone()
    changed[:, 10] = (changed[:, 10] + 1) % 5
    moved = (answers(model, shown) != answers(model, shown._replace(labels=changed))).any(-1).all(0)
    assert not moved[:11].any() and moved[11:].all()


@pytest.mark.parametrize("kind", episodes.KINDS)
def test_character_episodes_have_known_forms_labels_and_counts(kind):
    shown = episodes.character_episodes(40, kind, drawn())
    assert shown.pictures.shape == (40, 26, 64) and 0 <= shown.pictures.min() < shown.pictures.max() <= 1
    assert set(shown.labels.flatten().tolist()) == set(range(5))
    for labels, before in zip(shown.labels.tolist(), shown.before.tolist(), strict=True):
        assert before == [labels[:t].count(label) for t, label in enumerate(labels)]
    again = episodes.character_episodes(40, kind, drawn())
    assert all(torch.equal(one, other) for one, other in zip(shown, again, strict=True))


@pytest.mark.parametrize("kind, held", [("upright", range(5)), ("held out", range(5, 10))])
def test_a_class_keeps_its_label_only_within_an_episode(kind, held):
    pictures, of = digits()
    of_picture = {bytes(p.flatten().numpy()): d for p, d in zip(pictures, of.tolist(), strict=True)}
    shown, meanings = episodes.character_episodes(30, kind, drawn()), set()
    for b in range(30):
        names = {}
        for picture, label in zip(shown.pictures[b], shown.labels[b].tolist(), strict=True):
            names.setdefault(of_picture[bytes(picture.numpy())], set()).add(label)
        assert all(len(labels) == 1 for labels in names.values()) and set(names) <= set(held)
        meanings.add(tuple(sorted((digit, *labels) for digit, labels in names.items())))
    assert len(meanings) > 20


def test_turned_classes_are_forty_and_joined_ones_have_two_sides():
    pictures, of = digits()
    turned = {  # a picture in each of its eight ways
        bytes(torch.rot90(p.flip(-1) if mirrored else p, quarters, (-2, -1)).flatten().numpy()): (d, mirrored, quarters)
        for p, d in zip(pictures, of.tolist(), strict=True)
        for mirrored in (False, True)
        for quarters in range(4)
        if d < 5
    }
    shown = episodes.character_episodes(60, "turned", drawn())
    ways = {turned[bytes(picture.numpy())] for picture in shown.pictures.flatten(0, 1)}
    assert len(ways) == 40
    for b in range(60):
        pairs = {
            (label, turned[bytes(p.numpy())])
            for p, label in zip(shown.pictures[b], shown.labels[b].tolist(), strict=True)
        }
        assert len(pairs) == len({label for label, _ in pairs}) == len({way for _, way in pairs})
    joined = episodes.character_episodes(60, "joined", drawn()).pictures.flatten(0, 1)
    assert sum(bytes(picture.numpy()) in turned for picture in joined) < 0.3 * len(joined)


def test_an_unknown_kind_of_characters_is_refused():
    with pytest.raises(CourseError, match="upright, turned, joined, held out; there is no 'letters'"):
        episodes.character_episodes(1, "letters", drawn())


def test_an_unknown_part_of_the_pictures_is_refused():
    with pytest.raises(CourseError, match="all, train, test; there is no 'new'"):
        episodes.character_episodes(1, "upright", drawn(), part="new")


@pytest.mark.parametrize("kind", ["upright", "held out"])
def test_no_picture_is_in_training_and_in_the_test(kind):
    own = {}
    for part in episodes.PARTS:
        pictures = episodes.character_episodes(100, kind, drawn(), part=part).pictures.flatten(0, 1)
        own[part] = {bytes(picture.numpy()) for picture in pictures}
    assert not own["train"] & own["test"] and min(len(own["test"]), len(own["train"])) > 100


def test_nearest_equals_a_search_one_by_one():
    shown = episodes.character_episodes(5, "held out", drawn())
    named = episodes.nearest(shown)
    for b in range(5):
        for t in range(1, 26):
            distances = [(shown.pictures[b, t] - shown.pictures[b, s]).square().sum().item() for s in range(t)]
            assert named[b, t] == shown.labels[b, distances.index(min(distances))]


def test_most_frequent_equals_a_count_one_by_one():
    shown = episodes.character_episodes(5, "held out", drawn())
    for labels, named in zip(shown.labels.tolist(), episodes.most_frequent(shown).tolist(), strict=True):
        for t in range(1, 26):
            counts = [labels[:t].count(label) for label in range(5)]
            assert named[t] == counts.index(max(counts))


def test_right_labels_are_counted_by_examples():
    shown = episodes.Episodes(torch.zeros(1, 4, 64), torch.tensor([[3, 3, 3, 1]]), torch.tensor([[0, 1, 2, 0]]))
    assert by_examples(torch.tensor([[0, 3, 1, 1]]), shown, most=2) == [1.0, 0.0]


def test_training_on_characters_lowers_the_loss_and_predicts():
    torch.manual_seed(0)
    labels = Snail(69, 5, 26, filters=16, key=16)
    losses = fit_characters(labels, "upright", steps=200)
    shown = episodes.character_episodes(100, "upright", drawn(1))
    assert sum(losses[-10:]) < 0.4 * sum(losses[:10])
    assert by_examples(predict_labels(labels, shown), shown)[4] > 0.8
