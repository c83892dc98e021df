"""Drawn diagrams: they are sound SVG, say in words all that they show, and nothing in them overlaps or is cut off."""

import base64
import re
import subprocess
import sys
from html import unescape
from itertools import pairwise
from xml.etree import ElementTree

import pytest
import torch

from course_utils.base.errors import CourseError
from course_utils.figures import diagrams
from course_utils.figures.drawing import EDGE, WIDTH, Arrow, Box, Diagram, plain
from course_utils.figures.layout import BETWEEN, Sketch, columns_of, row

HIDDEN = "hidden states: *h*₁ … *h*_S"
SHOWN = {
    "bag of words": diagrams.bag_of_words,
    "three inputs": diagrams.attention,
    "self-attention": diagrams.self_attention,
    "paths": diagrams.paths,
    "positions": diagrams.positions,
    "eight scores": lambda **more: diagrams.attention(choices=diagrams.EIGHT_SCORES, **more),
    "looking back": lambda **more: diagrams.looking_back(["the", "dog", "barks", "EOS"], "le", "chien", **more),
    "several heads": lambda **more: diagrams.several_heads(
        ["dog", "bites", "man"],
        1,
        ["4", "0", "0", "4"],
        [[0.89, 0.05, 0.05], [0.05, 0.05, 0.89]],
        [["3.58", "0.42"], ["0.21", "7.16"]],
        ["3.37", "−6.74", "3.79", "7.58"],
        **more,
    ),
    "looking back at one word": lambda **more: diagrams.looking_back(["hello"], "le", "chien", **more),
    "looking back after the step": lambda **more: diagrams.looking_back(
        ["the", "dog", "barks", "EOS"], "le", "chien", after=True, **more
    ),
    "soft and hard": diagrams.soft_and_hard,
    "transformer": diagrams.transformer,
    "transformer, the paper's names": lambda **more: diagrams.transformer(paper_names=True, **more),
    "sub-layers": diagrams.sublayers,
    "recurrent attention": diagrams.recurrent_attention,
    "memory network": diagrams.memory_hops,
    "captioner": diagrams.captioner,
    "Turing machine": diagrams.turing_machine,
    "a layer with a switch": diagrams.switch_layer,
    "best experts": lambda **more: diagrams.best_experts(
        torch.tensor([1.0, 3.0, 2.0]), torch.tensor([0.0, 0.73, 0.27]), **more
    ),
    "three parts": diagrams.three_parts,
    "SNAIL": diagrams.snail,
    "where a head goes": diagrams.addressing,
    "a small GPT": diagrams.decoder_only,
    "Llama": lambda **more: diagrams.decoder_only(llama=True, **more),
    "a decoder": lambda **more: diagrams.attention("decoder state: *s*_t", HIDDEN, HIDDEN, then="decoder", **more),
}
SVG = "{http://www.w3.org/2000/svg}"


def everything_new(make):
    """The diagram with every part that has a name highlighted."""
    shown = make()
    return make(new=sorted({name for part in [*shown.boxes, *shown.arrows] for name in part.name.split()}))


ALL = {name: make() for name, make in SHOWN.items()}
ALL |= {f"{name}, new": everything_new(make) for name, make in SHOWN.items()}


def test_no_diagram_is_left_out():
    tried = {name for make in SHOWN.values() for name in (make.__name__, *make.__code__.co_names)}
    made = {name for name, one in vars(diagrams).items() if getattr(one, "__module__", "") == diagrams.__name__}
    assert {name for name in made if not name.startswith("_")} <= tried


@pytest.mark.parametrize("shown", ALL.values(), ids=ALL)
def test_a_diagram_is_sound_and_names_itself(shown):
    root = ElementTree.fromstring(shown.svg)
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert root.get("role") == "img" and len(ids) == len(set(ids))
    title, words = root.get("aria-labelledby").split()
    assert {root.find(f"{SVG}title").get("id"), root.find(f"{SVG}desc").get("id")} == {title, words} <= set(ids)
    assert root.find(f"{SVG}title").text == shown.title and root.find(f"{SVG}desc").text == shown.description


@pytest.mark.parametrize("shown", ALL.values(), ids=ALL)
def test_every_tip_has_an_area(shown):
    tips = re.findall(r'class="tip" d="M([^"]+)Z"', shown.svg)
    assert len(tips) == sum(not arrow.dashed for arrow in shown.arrows)
    for tip in tips:
        (x, y), (a, b), (c, d) = (map(float, corner.split()) for corner in tip.split("L"))
        assert abs((a - x) * (d - y) - (c - x) * (b - y)) / 2 == pytest.approx(36, abs=1.5)  # 8 long, 9 wide


@pytest.mark.parametrize("shown", ALL.values(), ids=ALL)
def test_a_diagrams_description_names_every_box_and_what_is_new(shown):
    for words in (part for box in shown.boxes for part in box.text.replace("*", "").split(": ", 1)):
        assert words.replace("\n", " ") in shown.description
    highlighted = [box.text for box in shown.boxes if box.new] + [one.words for one in shown.arrows if one.new]
    for words in map(plain, highlighted):
        assert words and words in shown.description.partition("New here: ")[2]
    assert "*" not in shown.description


def test_new_parts_are_marked_in_the_words_and_in_the_picture():
    shown = diagrams.attention(new=["queries"])
    assert shown.description.endswith("New here: queries (Q).") and shown.svg.count(">new<") == 1
    assert "New here" not in diagrams.attention().description and ">new<" not in diagrams.attention().svg


def test_inputs_with_the_same_text_are_one_box():
    def inputs(shown):
        return [box.name for box in shown.boxes if box.kind == "data" and box.x == 20]

    assert inputs(diagrams.attention()) == ["queries", "keys", "values"]
    assert inputs(ALL["a decoder"]) == ["queries", "keys values"]
    assert inputs(diagrams.self_attention()) == ["queries keys values"]


def test_diagrams_on_one_page_share_no_id():
    ids = [set(re.findall(r'\bid="([^"]+)"', shown.svg)) for shown in ALL.values()]
    assert len(set.union(*ids)) == sum(map(len, ids))


def test_a_notebook_gets_a_picture_with_words():
    shown = diagrams.attention()
    bundle = shown._repr_mimebundle_()
    assert bundle["text/plain"] == f"Attention. {shown.description}"
    (alt,) = re.findall(r'alt="([^"]*)"', bundle["text/html"])
    assert unescape(alt) == bundle["text/plain"]
    (data,) = re.findall(r'base64,([^"]*)"', bundle["text/html"])
    assert base64.b64decode(data).decode() == shown.svg


def test_a_diagram_is_the_same_in_every_process():
    code = "from course_utils.figures.diagrams import *; print(self_attention(new=['residual', 'projections']).svg)"
    again = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=True)
    assert again.stdout.strip() == diagrams.self_attention(new=["residual", "projections"]).svg.strip()


@pytest.mark.parametrize("new", ["queries", ["query"]])
def test_a_part_that_is_not_there_cannot_be_new(new):
    with pytest.raises(CourseError, match=r"parts of this diagram \(context, keys, mask, queries, score"):
        diagrams.attention(new=new)


def test_signs_are_written_safely():
    shown = Diagram("a < b", "x & y", [Box("one", "<b> & *c*", 20, 20, 90, 40)], [Arrow(((110, 40), (200, 40)), "<")])
    assert "a < b" in "".join(ElementTree.fromstring(shown.svg).itertext())
    assert "<b> & c" in "".join(ElementTree.fromstring(shown.svg).itertext())


CROWDED = """() => {
  const found = [], over = (a, b, by) => a.x + by < b.x + b.width && b.x + by < a.x + a.width
    && a.y + by < b.y + b.height && b.y + by < a.y + a.height;
  const texts = [...document.querySelectorAll("text")].map(node => (
    {node, words: node.textContent, box: node.getBBox(), svg: node.ownerSVGElement}));
  for (const one of texts) {
    const {width, height} = one.svg.viewBox.baseVal, {x, y} = one.box;
    if (x < 2 || y < 2 || x + one.box.width > width - 2 || y + one.box.height > height - 2) found.push([one.words, "is cut off"]);
    for (const rect of one.svg.querySelectorAll(".box")) {
      const own = rect.parentNode === one.node.parentNode, room = rect.getBBox();
      if (own && one.words !== "new" && one.box.width > room.width - 4) found.push([one.words, "is too wide for its box"]);
      if (!own && !rect.closest(".frame") && over(one.box, room, 1)) found.push([one.words, "runs into a box"]);
    }
    for (const other of texts)
      if (other !== one && other.svg === one.svg && over(one.box, other.box, 2)) found.push([one.words, other.words]);
  }
  return found;
}"""


def crowded(chromium, svgs):
    """What a browser finds too wide for its box, cut off, or written over something else."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is missing: pip install -e .[test]")
    with playwright.sync_playwright() as player:
        browser = player.chromium.launch(executable_path=chromium, args=["--headless", "--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 820, "height": 600})
        page.set_content("".join(svgs))
        found = page.evaluate(CROWDED)
        browser.close()
    return found


def lost(shown):
    """Arrows that end at no box, begin at neither a box nor another arrow, or run through a box."""
    boxes = [box for box in shown.boxes if box.name or box.kind != "frame"]
    lines = [pair for arrow in shown.arrows for pair in pairwise(arrow.points)]
    found = []
    for arrow in shown.arrows:
        own = [*pairwise(arrow.points)]
        (first, *_, last), others = arrow.points, [line for line in lines if line not in own]
        if not any(touches(box, first) for box in shown.boxes) and not any(holds(line, first) for line in others):
            found.append(f"from nowhere: {arrow.points}")
        if not any(touches(box, last) for box in shown.boxes) and last[0] != WIDTH - EDGE + 6:
            found.append(f"to nowhere: {arrow.points}")
        for (a, b), (c, d) in own:
            found += [
                f"through {box.text}: {arrow.points}"
                for box in boxes
                if box.text != "+" and box.x + 1 < max(a, c) and min(a, c) < box.right - 1
                if box.y + 1 < max(b, d) and min(b, d) < box.bottom - 1 and (a == c or b == d)
            ]
    return found


def touches(box, point):
    """Whether a point is on the edge of a box."""
    (x, y), near = point, 0.01
    inside = box.x - near <= x <= box.right + near and box.y - near <= y <= box.bottom + near
    return inside and min(abs(x - box.x), abs(x - box.right), abs(y - box.y), abs(y - box.bottom)) <= near


def holds(line, point):
    """Whether a point is on a line."""
    (a, b), (c, d), (x, y) = *line, point
    return min(a, c) <= x <= max(a, c) and min(b, d) <= y <= max(b, d)


@pytest.mark.parametrize("shown", ALL.values(), ids=ALL)
def test_every_arrow_leads_from_box_to_box_and_through_none(shown):
    assert all(box.x >= EDGE and box.right < WIDTH - 4 for box in shown.boxes)  # each ends inside the panel
    assert lost(shown) == []


def test_a_lost_arrow_is_found():
    boxes = [Box("a", "one", 20, 20, 60, 40), Box("b", "two", 120, 20, 60, 40), Box("c", "three", 220, 20, 60, 40)]
    ways = [((80, 40), (220, 40)), ((80, 40), (110, 40)), ((90, 90), (120, 60))]
    found = lost(Diagram("lost", "three boxes", boxes, [Arrow(way) for way in ways]))
    assert [text.partition(":")[0] for text in found] == ["through two", "to nowhere", "from nowhere"]


def placed(*sizes, names="abcdefgh"):
    draw = Sketch("boxes")
    return draw, [draw.step(name, name, *size) for name, size in zip(names, sizes, strict=False)]


def test_a_row_fills_the_width_and_its_columns_share_its_height():
    _, (a, b, c, d) = placed((100, 60), (80, 40), (60, 40), (120, 200))
    row(a, [b, c, None], d, y=30)
    assert (a.x, d.right) == (EDGE, WIDTH - EDGE) and a.middle == d.middle == 130
    assert b.x - a.right == d.x - b.right and b.centre == c.centre
    assert c.middle - b.middle == pytest.approx((200 + BETWEEN) / 3)
    row(a, b, c, x=50, gap=[10, 20])
    assert (a.x, b.x - a.right, c.x - b.right) == (50, 10, 20)


def test_an_arrow_finds_its_way():
    draw, (a, b, c) = placed((100, 60), (100, 100), (60, 40))
    a.at(100, 50), b.at(300, 70), c.at(120, 200)
    draw.arrow(a, b)  # side by side: at the middle of the height in common
    draw.arrow(b, a, at=60)
    draw.arrow(c, a)  # one above the other
    draw.arrow(c, b)  # neither: two bends in the middle between them
    draw.arrow(a, b, over=-20)  # around, from above to above
    draw.arrow(c, b, over=100)  # up and into its side
    assert [arrow.points for arrow in draw.arrows] == [
        ((150, 50), (250, 50)),
        ((250, 60), (150, 60)),
        ((120, 180), (120, 80)),
        ((150, 200), (200, 200), (200, 70), (250, 70)),
        ((100, 20), (100, -20), (300, -20), (300, 20)),
        ((120, 180), (120, 100), (250, 100)),
    ]


def test_a_chain_joins_columns_side_by_side_and_from_and_to_all():
    draw, (a, b, c, d, e, f) = placed(*6 * [(60, 40)])
    row(a, *columns_of([b, d], [c, e]), f)
    draw.chain(a, [b, c], [d, None], f, words=["all", ["one", "two"]], shapes=["", "", "S"])
    assert [(arrow.words, arrow.shape) for arrow in draw.arrows] == [("all", ""), ("all", ""), ("one", ""), ("", "S")]
    ends = [(arrow.points[0][0], arrow.points[-1][0]) for arrow in draw.arrows]
    assert ends == [(a.right, b.x), (a.right, c.x), (b.right, d.x), (d.right, f.x)]


def test_a_diagram_begins_at_its_upper_edge():
    draw, (a, b) = placed((60, 40), (60, 40))
    row(a, b, y=300)
    draw.arrow(a, b, "around", over=280)
    shown = draw.diagram("two boxes")
    assert shown.arrows[0].points[1][1] == EDGE + 12 and shown.boxes[0].y == EDGE + 32
    assert shown.svg.count('height="112"') == 1


def test_parts_of_a_diagram_neither_overlap_nor_are_cut_off(chromium):
    assert crowded(chromium, (shown.svg for shown in ALL.values())) == []


def test_a_crowded_diagram_is_found(chromium):
    boxes = [Box("a", "far too wide for this", 20, 20, 60, 40), Box("b", "second", 90, 20, 80, 40)]
    found = crowded(chromium, [Diagram("crowded", "two boxes", boxes, [Arrow(((300, 5), (900, 5)), "above")]).svg])
    assert {what for _, what in found} >= {"is too wide for its box", "runs into a box", "is cut off"}
