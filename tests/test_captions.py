"""What lesson 15 shows: the captioner against its equations, what it looks at, the scenes it describes, and its losses."""

from functools import partial

import pytest
import torch
import torch.nn.functional as F
from tensors import drawn

from course_utils.base.errors import CourseError
from course_utils.data.scenes import CELL, FIRST, GRID, RELATIONS, THINGS, WORDS, say, scenes, things
from course_utils.data.subwords import BOS, EOS, PAD
from course_utils.models.captions import (
    WIDTH,
    Captioner,
    Encoder,
    Output,
    fit,
    hard_loss,
    score,
    soft_loss,
    words_kept,
)


def a_captioner(**more):
    torch.manual_seed(0)
    return Captioner(words=9, annotation=5, width=3, hidden=7, alignment=4, **more).double()


def some(B=2, L=6, T=4):
    annotations = torch.randn(B, L, 5, generator=drawn(), dtype=torch.float64)
    return annotations, torch.randint(1, 9, (B, T), generator=drawn())


@pytest.mark.parametrize("gate", [True, False])
@pytest.mark.parametrize("hard", [True, False])
def test_a_captioner_does_what_its_equations_say(gate, hard):
    model, (annotations, given) = a_captioner(gate=gate), some()
    output = model(annotations, given, hard)
    for row in range(2):
        a = annotations[row]
        h, c = (torch.tanh(layer(a.sum(0) / 6)) for layer in (model.first_state, model.first_memory))
        for t in range(4):
            look = model.look
            scores = [look.v(torch.tanh(look.key(a[i]) + look.query(h))).item() for i in range(6)]
            weights = torch.tensor(scores, dtype=torch.float64).softmax(0)
            torch.testing.assert_close(output.weights[row, t], weights)
            context = a[int(weights.argmax())] if hard else sum(weights[i] * a[i] for i in range(6))
            if gate:
                context = torch.sigmoid(look.gate(h)) * context
                torch.testing.assert_close(output.gates[row, t], torch.sigmoid(look.gate(h)))
            word = model.embedding(given[row, t])
            h, c = model.lstm(torch.cat([word, context])[None], (h[None], c[None]))
            h, c = h[0], c[0]
            said = model.readout(torch.tanh(word + model.from_state(h) + model.from_look(context)))
            torch.testing.assert_close(output.logits[row, t], said)
    assert (output.places is not None) == hard


def test_a_draw_follows_the_weights():
    model = a_captioner()
    annotations = torch.randn(1, 3, 5, generator=drawn(), dtype=torch.float64).expand(3000, -1, -1)
    output = model(annotations, torch.full((3000, 1), BOS), hard=True, draw=drawn())
    shares = torch.bincount(output.places[:, 0], minlength=3) / 3000
    torch.testing.assert_close(shares.double(), output.weights[0, 0], atol=0.04, rtol=0)
    again = model(annotations, torch.full((3000, 1), BOS), hard=True, draw=drawn())
    assert torch.equal(output.places, again.places)


def test_the_penalty_counts_real_words_and_each_place_once():
    weights = torch.tensor([[[1.0, 0.0], [0.5, 0.5], [9.0, 9.0]]])  # the last word is padding
    output, wanted = Output(torch.zeros(1, 3, 4), weights, None), torch.tensor([[3, EOS, PAD]])
    without, with_it = soft_loss(output, wanted), soft_loss(output, wanted, penalty=2.0)
    assert without.item() == pytest.approx(torch.tensor(4.0).log().item())
    assert (with_it - without).item() == pytest.approx(2 * 0.5)


def test_hard_loss_equals_its_sum_word_by_word():
    generator = drawn(3)
    logits = torch.randn(2, 3, 5, generator=generator, requires_grad=True)
    scores = torch.randn(2, 3, 4, generator=generator, requires_grad=True)
    places = torch.randint(4, (2, 3), generator=generator)
    wanted = torch.tensor([[3, 4, EOS], [4, EOS, PAD]])
    weights = scores.softmax(-1)
    loss, reward = hard_loss(Output(logits, weights, None, places), wanted, baseline=-1.0, entropy=0.1)
    said, policy, spread, real = 0.0, 0.0, 0.0, 0
    for b in range(2):
        for t in range(3):
            if wanted[b, t] != PAD:
                log_p = logits[b, t].log_softmax(-1)[wanted[b, t]]
                said, real = said + log_p, real + 1
                policy = policy + (log_p.detach() + 1.0) * weights[b, t, places[b, t]].log()
                spread = spread - (weights[b, t] * weights[b, t].log()).sum()
    expected = -(said + policy + 0.1 * spread) / real
    torch.testing.assert_close(loss, expected)
    assert reward == pytest.approx((said / real).item(), abs=1e-6)
    ours, theirs = (torch.autograd.grad(one, (logits, scores), retain_graph=True) for one in (loss, expected))
    torch.testing.assert_close(ours, theirs)


def test_a_caption_says_what_stands_where():
    made = scenes(60, drawn())
    for image, wanted, given, true, named in zip(
        made.images, made.wanted, made.given, made.true, made.named, strict=True
    ):
        words = say(wanted).split()
        assert given[0] == BOS and torch.equal(given[1 : len(words) + 1], wanted[: len(words)])
        assert wanted[len(words)] == EOS and not wanted[len(words) + 1 :].any()
        cells = [divmod(cell, GRID) for cell in true[named].tolist()]
        kinds = [words[i] for i in range(len(words)) if words[i] in THINGS]
        assert 2 <= len(cells) == len(kinds) <= 4 and named.sum() == len(kinds)
        columns = [column for _, column in cells]
        assert columns == sorted(set(columns))  # from left to right, one in each column
        relations = [word for word in words if word in RELATIONS]
        for (row, _), (below, _), relation in zip(cells, cells[1:], relations, strict=False):
            assert relation == ("beside" if row == below else "above" if row < below else "below")
        filled = image.view(GRID, CELL, GRID, CELL).amax((1, 3)) > 0
        assert filled.nonzero().tolist() == sorted(map(list, cells))
    assert WORDS.index("zero") == FIRST and len(set(WORDS)) == len(WORDS)


def test_single_things_are_what_they_are_called():
    images, which = things(40, drawn())
    assert images.shape == (40, CELL, CELL) and which.min() >= 0 and which.max() < len(THINGS)
    crosses = images[which == THINGS.index("cross")]
    assert len(crosses) and all(cross.sum() == 2 * 2 * 8 - 4 for cross in crosses)


@pytest.mark.parametrize(
    ("asked", "says"),
    [({"fewest": few, "most": most}, f"1 to 5 things.*not {few} to {most}") for few, most in ((0, 2), (3, 2), (2, 6))]
    + [({"part": "val"}, "there is no 'val'")],
)
def test_scenes_that_cannot_be_are_told(asked, says):
    with pytest.raises(CourseError, match=says):
        scenes(1, drawn(), **asked)


def test_an_annotation_says_what_and_where():
    torch.manual_seed(0)
    encoder, images = Encoder(), scenes(2, drawn()).images
    found = encoder(images)
    assert found.shape == (2, GRID * GRID, WIDTH) and not found.requires_grad
    cell = found[0].view(GRID, GRID, WIDTH)
    for row in range(GRID):
        for column in range(GRID):
            assert cell[row, column, 64:].tolist() == [float(i == row) for i in range(5)] + [
                float(i == column) for i in range(5)
            ]
    shifted = encoder(images.roll(CELL, dims=2))[0].view(GRID, GRID, WIDTH)
    torch.testing.assert_close(shifted[1:4, 2:4, :64], cell[1:4, 1:3, :64], atol=1e-5, rtol=0)
    assert not encoder(images, places=False)[..., 64:].any()


def test_scores_count_what_they_say():
    """A captioner that knows the truth, and one that looks one word too early."""
    made = scenes(20, drawn())
    looking = F.one_hot(made.true, GRID * GRID).float()  # N T C
    knowing = 9.0 * F.one_hot(made.wanted, len(WORDS)).float()
    for weights, pointing in ((looking, 1.0), (looking.roll(-1, 1), 0.0)):
        found = score(lambda annotations, given, w=weights: Output(knowing, w, None), None, made)
        assert (found.words, found.captions) == (1.0, 1.0)
        assert found.pointing == pytest.approx(
            pointing, abs=0.05
        )  # a thing in cell 0, where weights without a thing lie
    assert found.one_earlier == 1.0


def test_training_lowers_the_loss():
    made, encoder = scenes(24, drawn(), most=2), Encoder()
    annotations = encoder(made.images)
    for more in ({}, {"hard": 0.5}, {"loss": partial(soft_loss, penalty=0.1)}):
        torch.manual_seed(0)
        model = Captioner(hidden=16, alignment=8)
        before = soft_loss(model(annotations, made.given), made.wanted).item()
        losses = fit(model, annotations, made, steps=20, batch=8, rate=2e-2, **more)
        assert len(losses) == 20 and soft_loss(model(annotations, made.given), made.wanted).item() < 0.7 * before


def with_marked_cells():
    """Scenes, annotations that are 1 where a thing is that a word names, those of an empty picture, and each name's picture, word and cell."""
    made = scenes(12, drawn())
    annotations, empty = torch.zeros(12, GRID * GRID, 1), torch.zeros(GRID * GRID, 1)
    picture, word = made.named.nonzero(as_tuple=True)
    true = made.true[picture, word]
    annotations[picture, true] = 1.0
    return made, annotations, empty, picture, word, true


def test_a_name_is_lost_where_its_cell_is_emptied():
    made, annotations, empty, picture, word, true = with_marked_cells()

    def reads(annotations, given):
        """Names what is wanted where all of the picture's things are there, and else padding."""
        whole = annotations[..., 0].sum(1) == made.named.sum(1)[picture]
        wanted = F.one_hot(made.wanted[picture], len(WORDS)).float()
        return Output(wanted * whole[:, None, None], None, None)

    assert words_kept(reads, annotations, made, made.named, None, empty) == 1.0
    assert words_kept(reads, annotations, made, made.named, true, empty) == 0.0
    elsewhere = (annotations[picture, :, 0] == 0).float().argmax(1)  # a cell without a thing
    assert words_kept(reads, annotations, made, made.named, elsewhere, empty) == 1.0
    assert annotations.sum() == len(word), "the annotations stay as they are"


def test_looks_change_the_reading_and_annotations_the_start():
    model, (annotations, given) = a_captioner(), some()
    same = annotations[:, None].repeat(1, 4, 1, 1)
    output = model(annotations, given)
    torch.testing.assert_close(model(annotations, given, looks=same).logits, output.logits)
    later = same.clone()
    later[:, 2] += 1
    changed = model(annotations, given, looks=later)
    torch.testing.assert_close(changed.logits[:, :2], output.logits[:, :2])
    assert (changed.logits - output.logits)[:, 2].abs().max() > 1e-6
    assert (model(annotations + 1, given, looks=same).logits - output.logits).abs().max() > 1e-6


@pytest.mark.parametrize("only", ["start", 1, 0])
def test_a_cell_is_emptied_in_one_place_alone(only):
    """A captioner that names what is wanted where its start, or one of its looks, has not lost a thing."""
    made, annotations, empty, picture, word, true = with_marked_cells()
    things_in = made.named.sum(1)[picture].float()

    def reads(changed, given, looks):
        lost = {"start": changed[..., 0].sum(1) < things_in}
        lost |= {back: looks[range(len(word)), word - back, :, 0].sum(1) < things_in for back in (0, 1)}
        assert {place: bool(found.all()) for place, found in lost.items()} == {
            place: place == only for place in ("start", 0, 1)
        }
        return Output(F.one_hot(made.wanted[picture], len(WORDS)).float(), None, None)

    assert words_kept(reads, annotations, made, made.named, true, empty, only) == 1.0
