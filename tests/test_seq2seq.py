"""The smallest translator and what its lesson shows: the model against torch's cells in a loop, its small world, the measured tables."""

import pytest
import torch
from script_loader import program
from torch import nn

from course_utils.base.errors import CourseError
from course_utils.data.measured import measured
from course_utils.data.small_world import READINGS, small_world, truth, vocabulary
from course_utils.data.subwords import BOS, EOS, PAD, UNK
from course_utils.data.world import World
from course_utils.models.recurrent import RecurrentTranslator
from course_utils.models.seq2seq import CELLS, Seq2Seq, fit, make_batch
from course_utils.translation.scores import bleu
from course_utils.translation.search import beam_search, greedy, translate_all
from course_utils.translation.translate import translate

V, D, H = 17, 5, 7
SOURCES, TARGETS = [[4, 5, 6, 7], [8], [9, 10]], [[11, 12], [13, 14, 15], [16]]
every_cell = pytest.mark.parametrize("cell", CELLS)


def model_of(cell, seed=0):
    torch.manual_seed(seed)
    model = Seq2Seq(V, D, H, cell).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2)  # far from the linear middle of tanh
    return model


def step_by_step(model, cell, source, given):
    """The logits of one pair of lists, with torch's single cell, word by word."""
    logits, s = [], torch.zeros(1, H, dtype=torch.float64)
    for network, words in ((model.encoder, source), (model.decoder, given)):
        one = (nn.GRUCell if cell == "gru" else nn.RNNCell)(D, H).double()
        one.load_state_dict({name.removesuffix("_l0"): value for name, value in network.state_dict().items()})
        for word in words:
            s = one(model.embedding.weight[word][None], s)
            logits.append(model.readout(s))
    return torch.cat(logits)[len(source) :]


@every_cell
def test_a_padded_batch_gives_each_pair_what_single_cells_give(cell):
    model = model_of(cell)
    source, given, _ = make_batch(SOURCES, TARGETS)
    logits = model(source, given)
    for row, (words, wanted) in enumerate(zip(SOURCES, TARGETS, strict=True)):
        alone = step_by_step(model, cell, [*words, EOS], [BOS, *wanted])
        torch.testing.assert_close(logits[row, : len(alone)], alone)


@every_cell
def test_a_search_takes_the_same_steps_as_teacher_forcing(cell):
    model = model_of(cell)
    source, _, _ = make_batch(SOURCES, TARGETS)
    for found in (greedy(model, source, longest=6), beam_search(model, source, width=3, longest=6)):
        for row, translation in enumerate(found):
            words = [*translation.tokens, EOS]
            log_p = model(source[row : row + 1], torch.tensor([[BOS, *translation.tokens]])).log_softmax(-1)[0]
            of_words = log_p[range(len(words)), words].sum().item()
            assert translation.log_probability == pytest.approx(of_words, abs=1e-4)


def test_a_batch_shifts_what_is_given_and_ends_what_is_wanted():
    source, given, wanted = make_batch(SOURCES, TARGETS)
    assert source.tolist() == [[4, 5, 6, 7, EOS], [8, EOS, PAD, PAD, PAD], [9, 10, EOS, PAD, PAD]]
    assert given.tolist() == [[BOS, 11, 12, PAD], [BOS, 13, 14, 15], [BOS, 16, PAD, PAD]]
    assert wanted.tolist() == [[11, 12, EOS, PAD], [13, 14, 15, EOS], [16, EOS, PAD, PAD]]


def test_training_is_the_same_for_the_same_seed_and_learns():
    runs = []
    for _ in range(2):
        torch.manual_seed(0)
        runs.append(fit(Seq2Seq(V, D, H), SOURCES, TARGETS, seed=3, steps=300, batch=8))
    assert runs[0] == runs[1] and runs[0][-1] < 0.3 < 2 < runs[0][0]


def translator():
    return RecurrentTranslator(V, width=4, hidden=4, encoder_hidden=2)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: Seq2Seq(V, cell="lstm"), "cell must be one of tanh, gru, not 'lstm'"),
        (lambda: Seq2Seq(V, hidden=0), "hidden must be at least 1, not 0"),
        (lambda: Seq2Seq(0), "vocabulary must be at least 1, not 0"),
        (lambda: Seq2Seq(V).encode(torch.tensor([[4, EOS], [PAD, PAD]])), "sentence 1 has no word"),
        (lambda: Seq2Seq(V).encode(torch.tensor([[4, V]])), "between 0 and 16, .* from 4 to 17"),
        (lambda: Seq2Seq(V)(torch.tensor([[4]]), torch.tensor([[-1]])), "between 0 and 16, .* from -1 to -1"),
        (lambda: translator().start(torch.tensor([[4, V]])), "between 0 and 16, .* from 4 to 17"),
        (lambda: translator()(torch.tensor([[4]]), torch.tensor([[V]])), "between 0 and 16, .* from 17 to 17"),
        (lambda: translator().attention(torch.tensor([[4]]), torch.tensor([[-1]])), "between 0 and 16, .* from -1"),
        (lambda: translator()(torch.tensor([[PAD], [4]]), torch.tensor([[1], [1]])), "sentence 0 has no word"),
        (lambda: translate_all(translator(), ["A dog."]), "must be a list of ids, but one is 'A dog.'"),
        (lambda: translate_all(translator(), [3, 4]), "must be a list of ids, but one is 3"),
        (
            lambda: translate(translator(), vocabulary(), "a dog"),
            r"must be a list of texts, not one: write \['a dog'\]",
        ),
        (lambda: vocabulary().encode("a dog"), r"must be a list of texts, not one: write \['a dog'\]"),
        (lambda: bleu(["a", "b"], ["a"]), "there are 2 and 1"),
        (lambda: bleu([], []), "at least one"),
        (lambda: bleu("the cat", "the cat"), "translations must be a list of texts"),
        (lambda: bleu(["the cat"], [["the", "cat"]]), "references must be a list of texts"),
        (lambda: small_world(3, 0, reading="sideways"), "reading must be one of as it is, reversed, twice"),
        (lambda: small_world(3, 0, order="sideways"), "order must be one of monotone"),
        (lambda: small_world(3, 0, shortest=5, longest=4), "1 <= shortest <= longest"),
        (lambda: truth(["the zebra"]), "'zebra' is no word of this world"),
        (
            lambda: measured("weather", "rain", "day"),
            "no table 'weather': there are ablations, all_captions, attention, balance, .*, turing, variants, warm_up",
        ),
        (lambda: measured("length", "rain", "length"), "has no column 'rain': it has order, setup"),
        (lambda: measured("length", "words_right", "length", setup="x"), "nothing in the table 'length' has setup = x"),
    ],
)
def test_bad_input_gets_a_sentence(call, sentence):
    with pytest.raises(CourseError, match=sentence):
        call()


# The small world


def test_the_vocabulary_is_fixed_and_has_the_words_of_all_orders():
    words = vocabulary()
    for order in ("monotone", "verb-last", "reversed"):
        pairs = small_world(300, 0, order, longest=20)
        assert all(UNK not in row for side in pairs.ids() for row in side)
        assert pairs.words.decode([[i] for i in range(4, len(words))]) == words.decode(
            [[i] for i in range(4, len(words))]
        )
    kinds = World(vocabulary=40).words().values()
    assert sum(map(len, kinds)) == 40


@pytest.mark.parametrize("reading", READINGS)
def test_a_reading_changes_the_source_alone(reading):
    plain, read = small_world(50, 4), small_world(50, 4, reading=reading)
    assert read.links == plain.links
    assert read.targets == plain.targets == truth(plain.sources)
    for source, as_it_is in zip(read.sources, plain.sources, strict=True):
        words = as_it_is.split()
        assert source.split() == {"as it is": words, "reversed": words[::-1], "twice": words * 2}[reading]


@pytest.mark.parametrize("order", ["monotone", "verb-last", "reversed"])
def test_links_join_each_target_word_with_its_source_word(order):
    pairs = small_world(50, 4, order)
    for source, target, links in zip(pairs.sources, pairs.targets, pairs.links, strict=True):
        assert sorted(to for _, to in links) == list(range(len(target.split())))
        if order == "monotone":
            said = [truth([word])[0].split() for word in source.split()]
            assert [from_ for from_, _ in sorted(links, key=lambda link: link[1])] == [
                place for place, words in enumerate(said) for _ in words
            ]


# What was measured


@pytest.mark.parametrize("name", ["Seq2Seq", "LookingBack"])
def test_a_sentence_means_the_same_beside_a_longer_one(name):
    """Padding changes nothing: neither what a model writes nor where it looks."""
    page = program("measuring").page({"Seq2Seq": "05_seq2seq", "LookingBack": "06_seq2seq_attention"}[name])
    model = getattr(page, name)(V, D, 6).double()
    source, given, _ = make_batch(SOURCES[:2], TARGETS[:2])
    lengths = (source != PAD).sum(1).tolist()
    assert lengths[0] != lengths[1]  # one of them is padded
    for row, length in enumerate(lengths):
        alone = model(source[row : row + 1, :length], given[row : row + 1])
        torch.testing.assert_close(model(source, given)[row : row + 1], alone)
    if name != "Seq2Seq":
        weights = model.decode(given, *model.encode(source))[2]  # B T S
        assert (weights[(source == PAD)[:, None].expand_as(weights)] == 0).all()
        torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]))


def test_the_deep_model_is_lesson_05s_model_by_default():
    page = program("measuring").page("05_seq2seq")
    first, deep = page.Seq2Seq(V, D, H).double(), program("all_captions").DeepSeq2Seq(V, D, H).double()
    deep.load_state_dict(first.state_dict())
    source, given, wanted = make_batch(SOURCES, TARGETS)
    for model in (first, deep):
        page.loss_of(model(source, given), wanted).backward()
    torch.testing.assert_close(deep(source, given), first(source, given))
    for found, expected in zip(deep.parameters(), first.parameters(), strict=True):
        torch.testing.assert_close(found.grad, expected.grad)


@pytest.mark.parametrize("cell, layers", [(nn.GRU, 2), (nn.LSTM, 1), (nn.LSTM, 3)])
def test_the_deep_model_passes_on_the_state_of_each_layer(cell, layers):
    """Padding changes nothing, word by word gives what the whole row gives, and dropout acts in training alone."""
    torch.manual_seed(0)
    model = program("all_captions").DeepSeq2Seq(V, D, H, cell, layers, 0.5 * (layers > 1)).double()
    source, given, _ = make_batch(SOURCES, TARGETS)
    assert torch.equal(model(source, given), model(source, given)) == (layers == 1)
    logits, s, steps = model.eval()(source, given), model.encode(source), []
    for words in given.split(1, dim=1):
        scores, s = model.decode(words, s)
        steps.append(scores)
    torch.testing.assert_close(torch.cat(steps, 1), logits)
    for row, length in enumerate((source != PAD).sum(1).tolist()):
        alone = model(source[row : row + 1, :length], given[row : row + 1])
        torch.testing.assert_close(logits[row : row + 1], alone)


def test_lesson_05s_batches_hold_each_pair_once_by_length():
    page = program("measuring").page("05_seq2seq")
    pairs = [(["a"], ["b"] * (i % 7)) for i in range(10)]
    batches = page.batches_by_length(pairs, size=4)
    assert [len(batch) for batch in batches] == [4, 4, 2]
    joined = [pair for batch in batches for pair in batch]
    assert joined == sorted(pairs, key=lambda pair: len(pair[1]))


def test_lesson_05s_vocabulary_gives_each_caption_back():
    vocabulary = program("measuring").page("05_seq2seq").Vocabulary(["a dog . a dog", "a dog . runs .", "runs"])
    assert vocabulary.tokens == ["PAD", "BOS", "EOS", "UNK", "a", "dog", "."]
    rows = vocabulary.encode(["a dog .", "a cat", ""])
    assert rows == [[4, 5, 6], [4, UNK], []]
    padded = [[*row, EOS, PAD, 4] for row in rows]
    assert vocabulary.decode(padded) == ["a dog .", "a UNK", ""]


class _SameLogits(nn.Module):
    """A model that gives every word the logits `scale` · its number: its loss is the same wherever a word stands."""

    def __init__(self, scale):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(scale))

    def forward(self, source, given):
        return (self.scale * torch.arange(float(V))).expand(*given.shape, V)


def test_the_loss_of_captions_is_a_mean_over_words():
    page, evaluate = program("measuring").page("05_seq2seq"), program("all_captions").evaluate
    one_by_one = [make_batch([source], [target]) for source, target in zip(SOURCES, TARGETS, strict=True)]
    found = evaluate(page, _SameLogits(0.3), one_by_one)
    assert found == pytest.approx(evaluate(page, _SameLogits(0.3), [make_batch(SOURCES, TARGETS)]))


def test_training_on_captions_keeps_the_best_weights_of_its_run(tmp_path):
    page = program("measuring").page("05_seq2seq")
    batches, path = [make_batch(SOURCES, TARGETS)], tmp_path / "model.pt"
    torch.save(_SameLogits(9.0).state_dict(), path)  # from an earlier run
    model = _SameLogits(0.0)
    program("all_captions").train_epochs(
        page, model, batches, batches, path, epochs=1, rate=1e6
    )  # no epoch is better than no training
    assert model.scale.item() == 0


def test_the_loss_of_lesson_01_does_not_depend_on_the_batches():
    page = program("measuring").page("01_bag_of_words", device="cpu")
    ids, mask, labels = torch.arange(5)[:, None], torch.ones(5, 1, dtype=torch.bool), torch.tensor([0.0, 1, 1, 1, 1])
    parts = [[part[start:stop] for part in (ids, mask, labels)] for start, stop in ((0, 4), (4, 5), (0, 5))]

    class Score(nn.Module):
        def forward(self, ids, mask):
            return ids[:, 0].float()

    assert page.evaluate(Score(), parts[:2]) == pytest.approx(page.evaluate(Score(), parts[2:]))


def test_lesson_13s_validation_loss_is_a_mean_over_words():
    page, looks = program("measuring").page("13_training"), []
    by_pair = [make_batch([source], [target]) for source, target in zip(SOURCES, TARGETS, strict=True)]
    for batches in (by_pair, [make_batch(SOURCES, TARGETS)]):
        page.train_on_captions.__globals__.update(
            loader_of=lambda split, batches=batches: batches,
            train_model=lambda *of, **more: of[-1].look(),  # its last argument keeps the best weights
        )
        looks += page.train_on_captions(_SameLogits(0.3), steps=1, every=1)
    log_p = (0.3 * torch.arange(float(V))).log_softmax(-1)
    words = [word for target in TARGETS for word in (*target, EOS)]
    assert looks == pytest.approx([-sum(log_p[word].item() for word in words) / len(words)] * 2)
