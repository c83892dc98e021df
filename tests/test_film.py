"""Moving pictures: sound SVG of a bearable size, still where motion is not wanted, and with the lesson's own numbers in them."""

import json
import re
from xml.etree import ElementTree

import pytest
import torch
from repository import ROOT
from script_loader import program

from course_lessons.lesson_02_weighted_sums import figures as of_lesson_02
from course_lessons.lesson_03_queries_keys_values import figures as of_lesson_03
from course_lessons.lesson_05_seq2seq import figures as of_lesson_05
from course_lessons.lesson_06_seq2seq_attention import figures as of_lesson_06
from course_lessons.lesson_09_self_attention import figures as of_lesson_09
from course_lessons.lesson_12_transformer import figures as of_lesson_12
from course_utils.data.small_world import small_world, truth
from course_utils.figures.film import HOLD, ON_BAR, Film, bar, bracketed, number, on_bar, words
from course_utils.figures.looks import products
from course_utils.figures.roles import ROLES, outline
from course_utils.models.seq2seq import Seq2Seq, make_batch

S, H = torch.tensor([-1.0, 1.0]), torch.tensor([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
Z = torch.tanh(S + H).sum(1)
WORDS, X = ["not", "really", "great"], torch.tensor([[0.0, 2.0], [1.0, 1.0], [3.0, 0.0]])
FEATURES = {"great": [3.0, 1, 0, 0], "awful": [-3.0, 1, 0, 0], "not": [0.0, 0, 1, 0], "neutral": [0.0, 0, 0, 1]}
MATRICES = ([[0.0, 0], [0, 10], [10, 0], [0, 10]], [[0.0, 0], [1, 0], [0, 1], [0, 1]], [[-2.0, 0]] + [[0.0, 0]] * 3)
BY_HAND = ({word: torch.tensor(row) for word, row in FEATURES.items()}, *(torch.tensor(rows) for rows in MATRICES))


def three_jobs(sentence):
    features, W_q, W_k, W_v = BY_HAND
    return of_lesson_03.three_jobs(sentence, features, W_q, W_k, torch.cat([W_v, torch.zeros(4, 2)], 1))


def through_one_vector():
    """An untrained model of lesson 05 at "boy called girls": what the page hands to its film."""
    words_of_both, model = small_world(1, 0).words, Seq2Seq(86)
    source, given, _ = make_batch(*(words_of_both.encode([text]) for text in ("boy called girls", "flima kovor droli")))
    with torch.no_grad():
        h, c = model.encoder(model.embedding(source))
        s, _ = model.decoder(model.embedding(given), c)
        return words_of_both, source[0], given[0], h[0], s[0], model.readout(s).softmax(-1)[0]


GROWING = [
    " ".join(["boy called girls and girls followed big dogs near my old houses".split()[i] for i in range(n)])
    for n in range(1, 13)
]
SEEN = through_one_vector()
X_09, W_Q_09 = torch.tensor([[0.0, 1.0], [1.0, 0.0], [-1.0, 0.0]]), torch.tensor([[0.0, 7.0], [7.0, 0.0]])
SCORES_09 = X_09 @ W_Q_09 @ X_09.T / 2**0.5
A_09, C_09 = SCORES_09.softmax(-1), SCORES_09.softmax(-1) @ X_09
WORDS_09, MOVED_09 = ["sad", "dog", "ball"], [0, 2, 1]

FILMS = {
    "two networks": of_lesson_05.two_networks(["boy", "called", "girls"], ["flima", "kovor", "droli"]),
    "one vector": of_lesson_05.one_vector(*SEEN),
    "growing": of_lesson_05.growing(GROWING, truth(GROWING), truth(["boy called girls"] * 12), torch.randn(12, 64)),
    "fixed attention": of_lesson_02.one_look(WORDS, X, X.new_tensor([0, 1])),
    "shared weight": of_lesson_02.shared_weight(WORDS, X[:, 1]),
    "one query": of_lesson_03.one_query(WORDS, X.new_tensor([0, 1]), X, X),
    "three jobs": three_jobs("the film was not great"),
    "three jobs without a not": three_jobs("the film was awful"),
    "three looks": of_lesson_06.three_looks(),
    "all at once": of_lesson_09.all_at_once(WORDS_09, X_09, X_09 @ W_Q_09, X_09, X_09, SCORES_09, A_09, C_09),
    "swapped": of_lesson_09.swapped(WORDS_09, MOVED_09, (C_09, A_09), (C_09[MOVED_09], A_09[MOVED_09][:, MOVED_09])),
    "who is it": of_lesson_09.who_is_it(),
    "one layer": of_lesson_12.one_layer(),
    "four steps": of_lesson_12.four_steps(),
    "one look": of_lesson_06.one_look(["our", "small", "boy"], S, H, Z, Z.softmax(0)),
}
WISHES = of_lesson_02.wishes(WORDS, X, X.new_tensor([1, -1]))  # a still
LARGEST = 60 * 1024  # bytes


def texts(svg):
    """The texts of a picture, in order."""
    found = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    return ["".join(text.itertext()) for text in found]


@pytest.mark.parametrize("film", FILMS.values(), ids=FILMS)
def test_a_film_is_one_sound_svg_without_scripts(film):
    root = ElementTree.fromstring(film.svg)
    assert len(film.svg.encode()) <= LARGEST and "<script" not in film.svg and "http" not in film.svg.split(">", 1)[1]
    assert root.find("{*}title").text == film.title and root.find("{*}desc").text == film.description
    shown = film._repr_mimebundle_()
    assert shown["text/html"].startswith("<img") and film.description in shown["text/plain"]


@pytest.mark.parametrize("film", FILMS.values(), ids=FILMS)
def test_a_film_stands_still_in_print_and_on_request(film):
    assert "@media (prefers-reduced-motion: reduce), print { .m { animation: none !important } }" in film.svg
    hidden = re.findall(r'<g class="m k\d+" opacity="0">(.*?)</g>', film.svg)
    still = film.svg
    for piece in hidden:
        still = still.replace(piece, "", 1)
    assert texts(still) == texts(film.frame())


def test_a_piece_is_there_from_its_start_to_its_end():
    film = Film("A title", 100, 10)
    film.add(words(10, 20, "always"))
    film.add(words(10, 40, "from two"), 2)
    film.add(words(10, 60, "two to five"), 2, 5)
    assert [texts(film.frame(t)) for t in (1, 3, 5)] == [
        ["always"],
        ["always", "from two", "two to five"],
        ["always", "from two"],
    ]
    assert texts(film.frame()) == ["always", "from two", "A title"]


@pytest.mark.parametrize("film", FILMS.values(), ids=FILMS)
def test_a_film_plays_once_from_its_first_frame(film):
    assert "infinite" not in film.svg
    moves = re.findall(r"animation: (.+?)(?:;| })", film.svg.partition("@keyframes")[0])
    begins = [re.match(r"\w+ [\d.]+s (-?[\d.]+)s both", move) for move in moves]
    assert moves and all(begun and float(begun[1]) >= HOLD for begun in begins)
    always = [piece for piece in film.pieces if piece[:3] == (0.0, None, "")]
    assert always and len(texts(film.frame(0))) < len(texts(film.frame()))


@pytest.mark.parametrize("film", FILMS.values(), ids=FILMS)
def test_a_finding_is_written_only_at_the_end(film):
    assert film.title in texts(film.frame())
    assert film.title not in texts(film.frame(film.told - 0.1))
    assert film.told <= film.seconds and all(start <= film.told for start, *_ in film.pieces)


@pytest.mark.parametrize("name", ["fixed attention", "one query", "one look"])
def test_the_first_frame_of_a_look_gives_no_answer(name):
    shown = " ".join(texts(FILMS[name].frame(0)))
    assert not re.search(r"\d\.\d{3}|score|context", shown)


def test_a_piece_that_only_goes_is_there_at_first():
    film = Film("A title", 100, 10)
    film.add(words(10, 20, "zero to five"), 0.0, 5)
    assert f".k0 {{ animation: go 0.24s {HOLD + 5:g}s both }}" in film.svg


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
def test_a_weight_s_number_is_just_above_its_bar(weight):
    (top,) = re.findall(r' y="([\d.]+)"', bar(50, 100, weight, 80))
    (baseline,) = re.findall(r' y="([\d.]+)"', on_bar(50, 100, weight, 80))
    assert float(top) - float(baseline) == pytest.approx(ON_BAR, abs=0.1)


def test_a_product_s_entries_have_the_colours_of_their_roles():
    assert products([0, 2], [3, 1]) == "0·3 + 2·1"
    assert products([0, 2], [3, 1], ("query", "key")) == "[query:0]·[key:3] + [query:2]·[key:1]"


def test_numbers_have_a_true_minus_and_no_minus_zero():
    assert [number(x) for x in (-0.004, -1.5, 2)] == ["0.00", "−1.50", "2.00"]
    assert [bracketed(x, 0) for x in (-1, 1)] == ["(−1)", "1"]


def test_no_two_roles_look_alike():
    shapes = {role: (outline(role, 0, 0, 60, 30), look.fill) for role, look in ROLES.items()}
    assert len(set(shapes.values())) == len(shapes)
    drawn = {outline(role, 0, 0, 60, 30) for role in ("word", "query", "key", "value")}
    assert len(drawn) == 4  # without their colours, too


def test_wishes_add_up_to_the_dot_product():
    shown = [text.replace("−", "-") for text in texts(WISHES.frame())]
    assert "@keyframes" not in WISHES.svg and texts(WISHES.frame(0)) == texts(WISHES.frame())
    assert shown[-4:-1] == ["-2", "0", "3"] == [f"{score:.0f}" for score in X @ X.new_tensor([1, -1])]
    for text in shown:
        if found := re.fullmatch(r"(-?\d) · (-?\d) = (-?\d)", text):
            assert int(found[1]) * int(found[2]) == int(found[3])
    assert sum(" · " in text for text in shown) == 6


def test_the_sum_that_three_looks_shows_can_be_checked_by_eye():
    shown = texts(FILMS["three looks"].frame())
    parts = [re.fullmatch(r"(?:\+ )?([\d.]+) × \(?(−?[\d.]+)\)?", text) for text in shown]
    products = [float(part[1]) * float(part[2].replace("−", "-")) for part in parts if part]
    (total,) = (float(text.removeprefix("= ").replace("−", "-")) for text in shown if text.startswith("= "))
    assert len(products) == 4 and round(sum(products), 2) == total


def test_both_sums_that_one_layer_shows_can_be_checked_by_eye():
    of_context, of_sum = (
        text.split(": ")[1].replace("−", "-").replace("×", "*").split(" = ")
        for text in texts(FILMS["one layer"].frame())
        if text.startswith(("context: ", "sum: "))
    )
    for summands, total in (of_context, of_sum):
        assert set(summands) <= set("0123456789.-+*() ") and round(eval(summands), 2) == float(total)


def test_films_of_lesson_12_show_what_their_model_computes():
    made, lesson = program("boy_called_girl"), program("measuring").page("12_transformer")
    kept = json.loads(of_lesson_12.TINY.read_text(encoding="utf-8"))
    batches = made.Batches()
    model = made.untrained(lesson, batches)
    parameters = {name: torch.tensor(rows, dtype=torch.double) for name, rows in kept["parameters"].items()}
    model.load_state_dict(parameters | dict(model.named_buffers()))
    source, given, wanted = batches.batch(made.DRAWN)
    assert lesson.share_right(model, source, given, wanted) == 1
    found = made.numbers(model, source[:1], given[:1])
    for name, rows in found.items():
        torch.testing.assert_close(rows, torch.tensor(kept[name], dtype=torch.double), rtol=0, atol=1e-4)
    assert found["looks"].argmax(1).tolist()[:3] == made.LOOKED_AT


def test_a_look_shows_the_numbers_that_the_lesson_prints():
    cells = json.loads((ROOT / "notebooks/06_seq2seq_attention.ipynb").read_text(encoding="utf-8"))["cells"]
    (outputs,) = (cell["outputs"] for cell in cells if "\nfigures.one_look(words" in "".join(cell["source"]))
    printed = "".join(outputs[0]["text"])
    for name in ("scores", "weights"):
        for value in re.search(rf"{name}: *tensor\(\[(.*)\]\)", printed)[1].split(", "):
            assert value in "".join(outputs[1]["data"]["text/plain"])


def test_the_one_vector_shows_entries_and_probabilities():
    words_of_both, source, given, h, s, p = SEEN
    shown = texts(FILMS["one vector"].frame())
    states = [*h, h[-1], *s]
    assert [t for t in shown if re.fullmatch(r"−?\d\.\d\d", t)] == [number(x) for state in states for x in state[:4]]
    sure = torch.full_like(p, 0.001)
    sure[:, 28], sure[:, 46], sure[:, 2] = 0.7, 0.19, 0.06
    film = of_lesson_05.one_vector(words_of_both, source, given, h, s, sure)
    assert texts(film.frame()).count("0.70") == texts(film.frame()).count("EOS") - 1 == 4
    assert film.description.count("flima 0.70, kovor 0.19, EOS 0.06") == 4


def test_the_one_vector_says_what_lesson_05_computes():
    cells = json.loads((ROOT / "notebooks/05_seq2seq.ipynb").read_text(encoding="utf-8"))["cells"]
    (film,) = (cell["outputs"] for cell in cells if "figures.one_vector(" in "".join(cell["source"]))
    (printed,) = (cell["outputs"] for cell in cells if "def translate(" in "".join(cell["source"]))
    (written,) = re.findall(r"^boy called girls\n.*\n    model: (.*)", "".join(printed[0]["text"]), re.MULTILINE)
    read = re.findall(r"after (\w+): (\w+) [\d.]+", "".join(film[0]["data"]["text/plain"]))
    assert read == list(zip(["BOS", *written.split()], [*written.split(), "EOS"], strict=True))


def test_a_growing_sentence_frames_each_wrong_word():
    film = of_lesson_05.growing(
        ["boy", "boy called"], ["flima", "flima kovor"], ["flima", "flima droli"], torch.zeros(2, 64)
    )
    assert film.frame().count("stroke-dasharray") == 1 and "1 of 2 words" in film.description


@pytest.mark.parametrize(
    ("sentence", "finding", "total"),
    [("the film was not awful", "“not” finds “awful”", "= +3: a good review"),
     ("the film was awful", "No word asks for “awful”", "= −3: a bad review")],
)  # fmt: skip
def test_a_film_of_jobs_says_who_finds_the_opinion(sentence, finding, total):
    film = three_jobs(sentence)
    assert film.title == finding and total in texts(film.frame())


def test_words_that_ask_at_once_show_the_numbers_of_the_page():
    cells = json.loads((ROOT / "notebooks/09_self_attention.ipynb").read_text(encoding="utf-8"))["cells"]
    for name, film in (("all_at_once", "all at once"), ("swapped", "swapped")):
        (outputs,) = (cell["outputs"] for cell in cells if f"figures.{name}(" in "".join(cell["source"]))
        assert FILMS[film].description in "".join(outputs[-1]["data"]["text/plain"])


def test_sums_of_words_that_ask_at_once_can_be_checked():
    assert torch.equal((A_09 * 1000).round().sum(-1), torch.full((3,), 1000.0))
    total = (A_09.double() * 1000).round() @ X_09.double() / 1000
    assert torch.allclose(total, (C_09.double() * 1000).round() / 1000, atol=1e-9)


def test_swapped_words_have_the_rows_that_attention_gives_them():
    x = X_09[MOVED_09]
    weights = (x @ W_Q_09 @ x.T / 2**0.5).softmax(-1)
    shown = " ".join(filter(None, texts(FILMS["swapped"].frame())))
    for i, old in enumerate(MOVED_09):
        row = [WORDS_09[old], *(number(entry, 3) for entry in [*(weights @ x)[i], *weights[i]])]
        assert " ".join(row) in shown


@pytest.mark.thorough
def test_the_real_head_shows_what_its_model_computes(real_data):
    made, kept = program("who_is_it"), json.loads(of_lesson_09.WHO_IS_IT.read_text(encoding="utf-8"))
    model, tokenizer, _ = made.load_smollm2()
    for (order, end), sentence in zip(made.SHOWN, kept["shown"], strict=True):
        ids, (words_found,), _ = made.encode(tokenizer, order, [("animal", "street")], end)
        row = made.last_rows(model, ids)[made.LAYER, made.HEAD, 0]
        assert words_found == sentence["words"]
        assert torch.allclose(row, torch.tensor(sentence["weights"]), atol=0.01)


@pytest.mark.thorough
def test_three_looks_shows_what_the_page_s_model_computes():
    made = program("three_looks")
    found = made.looks(*made.trained())
    kept = json.loads(of_lesson_06.THREE_LOOKS.read_text(encoding="utf-8"))
    assert torch.allclose(found["weights"], torch.tensor(kept["weights"]), atol=0.03)
    assert torch.allclose(found["annotations"][:, kept["entries"]], torch.tensor(kept["annotations"]), atol=0.05)
