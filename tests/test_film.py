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
from course_lessons.lesson_06_seq2seq_attention import figures as of_lesson_06
from course_utils.figures.film import Film, bracketed, number, words
from course_utils.figures.roles import ROLES, outline

S, H = torch.tensor([-1.0, 1.0]), torch.tensor([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
Z = torch.tanh(S + H).sum(1)
WORDS, X = ["not", "really", "great"], torch.tensor([[0.0, 2.0], [1.0, 1.0], [3.0, 0.0]])
FEATURES = {"great": [3.0, 1, 0, 0], "awful": [-3.0, 1, 0, 0], "not": [0.0, 0, 1, 0], "neutral": [0.0, 0, 0, 1]}
MATRICES = ([[0.0, 0], [10, 0], [10, 0], [0, 10]], [[0.0, 0], [1, 0], [0, 0], [0, 1]], [[-2 / 3, 0]] + [[0.0, 0]] * 3)
BY_HAND = ({word: torch.tensor(row) for word, row in FEATURES.items()}, *(torch.tensor(rows) for rows in MATRICES))


def three_jobs(sentence):
    features, W_q, W_k, W_v = BY_HAND
    return of_lesson_03.three_jobs(sentence, features, W_q, W_k, torch.cat([W_v, torch.zeros(4, 2)], 1))


FILMS = {
    "wishes": of_lesson_02.wishes(WORDS, X, X.new_tensor([1, -1])),
    "fixed attention": of_lesson_02.one_look(WORDS, X, X.new_tensor([0, 1])),
    "shared weight": of_lesson_02.shared_weight(WORDS, X[:, 1]),
    "one query": of_lesson_03.one_query(WORDS, X.new_tensor([0, 1]), X, X),
    "three jobs": three_jobs("the film was not great"),
    "three jobs without a not": three_jobs("the film was awful"),
    "three looks": of_lesson_06.three_looks(),
    "one look": of_lesson_06.one_look(["our", "small", "boy"], S, H, Z, Z.softmax(0)),
}
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
    assert texts(film.frame()) == ["always", "from two"]


def test_numbers_have_a_true_minus_and_no_minus_zero():
    assert [number(x) for x in (-0.004, -1.5, 2)] == ["0.00", "−1.50", "2.00"]
    assert [bracketed(x, 0) for x in (-1, 1)] == ["(−1)", "1"]


def test_no_two_roles_look_alike():
    shapes = {role: (outline(role, 0, 0, 60, 30), look.fill) for role, look in ROLES.items()}
    assert len(set(shapes.values())) == len(shapes)
    drawn = {outline(role, 0, 0, 60, 30) for role in ("word", "query", "key", "value")}
    assert len(drawn) == 4  # without their colours, too


def test_wishes_add_up_to_the_dot_product():
    shown = [text.replace("−", "-") for text in texts(FILMS["wishes"].frame())]
    assert shown[-3:] == ["-2", "0", "3"] == [f"{score:.0f}" for score in X @ X.new_tensor([1, -1])]
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


def test_a_look_shows_the_numbers_that_the_lesson_prints():
    cells = json.loads((ROOT / "notebooks/06_seq2seq_attention.ipynb").read_text(encoding="utf-8"))["cells"]
    (outputs,) = (cell["outputs"] for cell in cells if "\nfigures.one_look(words" in "".join(cell["source"]))
    printed = "".join(outputs[0]["text"])
    for name in ("scores", "weights"):
        for value in re.search(rf"{name}: *tensor\(\[(.*)\]\)", printed)[1].split(", "):
            assert value in "".join(outputs[1]["data"]["text/plain"])


@pytest.mark.parametrize(
    ("sentence", "finding", "total"),
    [("the film was not awful", "“awful” is found twice: by “not” and by “awful”", "= +1: a good review"),
     ("the film was awful", "“awful” is found once: by “awful”", "= −1: a bad review")],
)  # fmt: skip
def test_a_film_of_jobs_says_who_finds_the_opinion(sentence, finding, total):
    film = three_jobs(sentence)
    assert film.title == finding and total in texts(film.frame())


@pytest.mark.thorough
def test_three_looks_shows_what_the_page_s_model_computes():
    made = program("three_looks")
    found = made.looks(*made.trained())
    kept = json.loads(of_lesson_06.THREE_LOOKS.read_text(encoding="utf-8"))
    assert torch.allclose(found["weights"], torch.tensor(kept["weights"]), atol=0.03)
    assert torch.allclose(found["annotations"][:, kept["entries"]], torch.tensor(kept["annotations"]), atol=0.05)
