"""The table of all heads: what it shows at first, in HTML and in words, and what it refuses. In a browser: `test_browser.py`."""

import json
import re

import pytest
import torch

from course_utils.base.errors import CourseError
from course_utils.figures.every_head import every_head
from course_utils.models.head_ablation import weights_of_heads
from course_utils.models.transformer import Transformer

SOURCE, TARGET = ["two", "<b>", "EOS"], ["BOS", "zwei", "Hunde", "laufen"]


@pytest.fixture(scope="module")
def seen():
    torch.manual_seed(0)
    model = Transformer(11, width=8, heads=2, hidden=8, encoder_layers=1, decoder_layers=2).eval()
    return weights_of_heads(model, torch.tensor([[5, 6, 2]]), torch.tensor([[1, 7, 8, 9]]))


def test_every_head_shows_where_all_heads_look_from_a_word(seen):
    sentence, words, rows = every_head(seen, SOURCE, TARGET, asking=1).rows()
    assert sentence == "decoder to the source: where each head looks from “zwei”, in hundredths"
    assert words == SOURCE
    assert list(rows) == [f"layer {layer}, head {head}" for layer in (0, 1) for head in (0, 1)]
    for i, row in enumerate(rows.values()):
        exact = 100 * seen[f"source {i // 2}"][0, i % 2, 1]
        assert row == exact.round().int().tolist() and abs(sum(row) - 100) <= 2


def test_the_page_holds_three_attentions_and_escapes_its_words(seen):
    page = every_head(seen, SOURCE, TARGET)._repr_html_()
    assert "<b>" not in page and "&lt;b&gt;" in page
    assert page.count("<tr>") == 5 and page.count('scope="row"') == 4
    attentions = json.loads(re.search(r"= (\{\"attentions.*\});", page)[1])["attentions"]
    assert {title: (len(one["asks"]), len(one["asked"]), len(one["heads"])) for title, one in attentions.items()} == {
        "decoder to the source": (4, 3, 4),
        "decoder to itself": (4, 4, 4),
        "encoder to itself": (3, 3, 2),
    }
    first = attentions["decoder to itself"]["heads"]["layer 0, head 0"]
    assert [row[i + 1 :] for i, row in enumerate(first)] == [[0] * 3, [0] * 2, [0], []]  # no word sees later ones


def test_the_text_form_names_what_each_head_looks_at_most(seen):
    lines = str(every_head(seen, SOURCE, TARGET, asking=2)).splitlines()
    weights = seen["source 1"][0, 1, 2]
    assert lines[0].startswith("decoder to the source: where each head looks from “Hunde”")
    assert lines[-1] == f"layer 1, head 1: {SOURCE[weights.argmax()]} {100 * weights.max():.0f}"


@pytest.mark.parametrize(
    "source, target, asking, said",
    [
        (SOURCE[:2], TARGET, 0, "source 0 has weights for 4 words that ask and 3 that are asked, but 4 and 2 words"),
        (SOURCE, TARGET[1:], 0, "source 0 has weights for 4 words that ask and 3 that are asked, but 3 and 3 words"),
        (SOURCE, TARGET, 4, "asking must be a place from 0 to 3, not 4"),
        (SOURCE, TARGET, -1, "asking must be a place from 0 to 3, not -1"),
    ],
)
def test_every_head_refuses_inputs_that_do_not_fit(seen, source, target, asking, said):
    with pytest.raises(CourseError, match=said):
        every_head(seen, source, target, asking)
