"""What lesson 20 shows: other attentions number by number, two worlds, promises and who breaks them, and what its tables say."""

import re

import matplotlib.pyplot as plt
import pytest
import sampling
import torch
import torch.nn.functional as F
from faulty_attention import FAULTS
from script_loader import program
from tensors import drawn

from course_utils.data.lookups import KEYS, KINDS, VALUES, Lookups, lookups, most_told, read
from course_utils.data.measured import measured
from course_utils.models import attention_properties, attention_report
from course_utils.models.attention import causal_mask, masked_softmax
from course_utils.models.variants import (
    VARIANTS,
    accuracy,
    alibi,
    delta,
    dot_product,
    fit,
    linear,
    reader,
    sparsemax,
    unit,
)


def given(steps=9):
    return [torch.randn(2, 3, steps, n, generator=drawn(n)).double() for n in (4, 4, 5)]


def test_sparsemax_is_the_nearest_point():
    """Against bisection for the threshold that leaves a sum of 1."""
    scores, mask = 2 * torch.randn(50, 7, generator=drawn()).double(), torch.rand(50, 7, generator=drawn(1)) < 0.7
    found = sparsemax(scores, mask)
    for row, allowed, weights in zip(scores, mask, found, strict=True):
        if not allowed.any():
            assert not weights.any()
            continue
        low, high = row[allowed].min() - 1, row[allowed].max()
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (middle, high) if (row[allowed] - middle).clamp(min=0).sum() > 1 else (low, middle)
        torch.testing.assert_close(weights[allowed], (row[allowed] - low).clamp(min=0), atol=1e-9, rtol=0)
        assert not weights[~allowed].any()


def test_alibi_equals_its_formula_number_by_number():
    query, key, value = given(5)
    weights = VARIANTS["ALiBi"](query, key, value, causal_mask(5))[1]
    for h in range(3):
        scores = [query[0, h, 4] @ key[0, h, j] / 2 - 2 ** (-8 * (h + 1) / 3) * (4 - j) for j in range(5)]
        torch.testing.assert_close(weights[0, h, 4], torch.stack(scores).softmax(-1))


def test_alibi_takes_slopes_of_ones_own():
    query, key, value = given(5)
    own = alibi(query, key, value, causal_mask(5), own=torch.tensor([0.5, 0.0, 0.5]))
    assert torch.equal(own[1][:, 1], dot_product(query, key, value, causal_mask(5))[1][:, 1])
    torch.testing.assert_close(
        own[1][0, 0, 1, :2].log().diff(), (query[0, 0, 1] @ key[0, 0, :2].diff(dim=0).T) / 2 + 0.5
    )


def test_linear_attention_equals_its_formula_number_by_number():
    query, key, value = given()
    contexts = linear(query, key, value, causal_mask(9))[0]
    phi = lambda x: torch.where(x > 0, x + 1, x.exp())  # noqa: E731
    for t in range(9):
        scores = torch.stack([phi(query[1, 2, t]) @ phi(key[1, 2, s]) for s in range(t + 1)])
        torch.testing.assert_close(contexts[1, 2, t], scores / scores.sum() @ value[1, 2, : t + 1])


def test_the_delta_rule_equals_its_formula_step_by_step():
    query, key, value = given()
    contexts, weights = delta(query, key, value, causal_mask(9))
    assert weights is None
    memory = torch.zeros(5, 4).double()
    for t in range(9):
        k, q = (x[1, 2, t] / x[1, 2, t].norm() for x in (key, query))
        memory = memory + torch.outer(value[1, 2, t] - memory @ k, k)
        torch.testing.assert_close(contexts[1, 2, t], memory @ q)


def test_the_delta_rule_without_reading_is_a_linear_attention():
    query, key, value = given()
    contexts = linear(query, key, value, causal_mask(9), phi=unit, divide=False)[0]
    memory = torch.zeros(5, 4).double()
    for t in range(9):
        memory = memory + torch.outer(value[1, 2, t], key[1, 2, t] / key[1, 2, t].norm())
        torch.testing.assert_close(contexts[1, 2, t], memory @ query[1, 2, t] / query[1, 2, t].norm())


def test_the_delta_rule_overwrites_and_sums_add():
    key, value = torch.tensor([[[[1.0, 0.0]] * 2]]), torch.tensor([[[[3.0], [5.0]]]])
    assert delta(key, key, value, causal_mask(2))[0].flatten().tolist() == [3, 5]
    assert linear(key, key, value, causal_mask(2))[0].flatten().tolist() == [3, 4]


@pytest.mark.parametrize("kind", KINDS)
def test_lookups_ask_for_values_that_were_told(kind):
    asked = lookups(20, kind, drawn(), 40)
    for b in range(20):
        told = {}
        for key, value, wanted, answer in zip(*(column[b].tolist() for column in asked), strict=True):
            assert not (kind == "once" and key in told)
            told[key] = value
            assert told[wanted] == answer
        assert len(told) == 40 if kind == "once" else len(told) <= 8
    x = read(asked)
    assert x.shape == (20, 40, 2 * KEYS + VALUES) and x.sum(-1).eq(3).all()
    assert torch.equal(x[..., :KEYS].argmax(-1), asked.key) and torch.equal(x[..., -KEYS:].argmax(-1), asked.query)


def test_most_told_gives_the_value_told_most_often():
    key, value = torch.tensor([[5, 5, 6, 5]]), torch.tensor([[3, 2, 7, 3]])
    asked = Lookups(key, value, torch.tensor([[5, 5, 6, 5]]), value)
    assert most_told(asked).tolist() == [[3, 2, 7, 3]]


BREAKS = [
    (VARIANTS["dot product"], ""),
    (VARIANTS["sparsemax"], ""),
    (VARIANTS["ALiBi"], "order"),
    (VARIANTS["linear"], ""),
    (VARIANTS["delta rule"], "rows order"),
    (FAULTS["mask_forgotten"], "leak padding"),
    (FAULTS["mask_after_softmax"], "rows leak padding"),
    (FAULTS["softmax_over_queries"], "rows leak padding"),
    (FAULTS["first_mask_for_all"], "padding apart"),
    (FAULTS["batch_mean_subtracted"], "padding apart"),
    (FAULTS["first_key_favoured"], "order"),
    (FAULTS["exp_overflows"], "large"),
    (FAULTS["keys_without_gradient"], "gradient"),
    (FAULTS["mask_ends_early"], ""),
]


@pytest.mark.parametrize(("attend", "breaks"), BREAKS)
def test_attentions_break_exactly_the_promises_listed(attend, breaks):
    assert set(attention_properties.broken(attend)) == set(breaks.split())
    assert len(BREAKS) == len(VARIANTS) + len(FAULTS)


@pytest.mark.parametrize(
    ("change", "breaks", "says"),
    [
        (lambda contexts, weights: (contexts[..., :2], weights), "shape", r"shape \(3, 2, 7, 2\) and not \(3, 2, 7, 5\)"),
        (lambda contexts, weights: (contexts, weights[:, :1]), "shape", "the weights have the shape"),
        (lambda contexts, weights: (contexts, -weights), "rows", "negative weight"),
        (lambda contexts, weights: (contexts, 2 * weights), "rows", "add up to 2.00"),
        (lambda contexts, weights: (2 * contexts, weights), "rows", "not the weighted sums"),
        (lambda contexts, weights: (contexts.flip(1), weights), "apart", "one head changes another"),
        (lambda contexts, weights: 1 / 0, "leak", "ZeroDivisionError: division by zero"),
        (lambda contexts, weights: (contexts.detach(), weights), "gradient", "the gradient of the query"),
    ],
)  # fmt: skip
def test_a_broken_promise_is_explained(change, breaks, says):
    found = attention_properties.broken(lambda *asked: change(*dot_product(*asked)))
    assert re.search(says, found[breaks]), found


def test_broken_also_tries_promises_of_ones_own():
    def always(attend):
        return "no" if attend is dot_product else None

    assert attention_properties.broken(dot_product, {"always": always}) == {"always": "no"}
    assert attention_properties.broken(linear, {"always": always}) == {}


def test_the_first_cells_attention_is_the_usual_one():
    query, key, value = given()
    contexts, weights = dot_product(query, key, value, causal_mask(9))
    torch.testing.assert_close(contexts, F.scaled_dot_product_attention(query, key, value, is_causal=True))
    torch.testing.assert_close(weights, masked_softmax(query @ key.mT / 2, causal_mask(9)))


@pytest.mark.parametrize("name", sampling.usually(list(VARIANTS), 2))
def test_training_lowers_the_loss(name):
    torch.manual_seed(0)
    model = reader(VARIANTS[name])
    losses = fit(model, "latest", steps=80, length=16)
    assert sum(losses[-10:]) < 0.95 * sum(losses[:10])
    assert accuracy(model, "latest", 16) > 1.3 / VALUES


def test_a_report_holds_each_promise_and_what_is_measured(monkeypatch):
    monkeypatch.setattr("course_utils.models.variants.fit", lambda *args: [])
    monkeypatch.setattr(attention_report, "fit", lambda *args: [])
    done = attention_report.report("mine", delta, seeds=2)
    assert (
        done.promises["order"]
        and not done.promises["leak"]
        and list(done.promises) == list(attention_properties.PROMISES)
    )
    assert {world: torch.tensor(shares).shape for world, shares in done.right.items()} == {
        "once": (2, 3),
        "latest": (2, 3),
    }
    plt.close("all")


def test_an_attention_with_wrong_shapes_is_not_trained(monkeypatch):
    monkeypatch.setattr(
        attention_report, "fit", lambda *args: pytest.fail("an attention with an incorrect shape is trained")
    )
    done = attention_report.report("mine", lambda *asked: (dot_product(*asked)[0][..., :2], dot_product(*asked)[1]))
    assert "shape" in done.promises["shape"] and not done.right


@pytest.mark.parametrize("share", ["90%", 90, None])
def test_a_report_asks_for_shares_before_it_trains(share):
    said = attention_report.report("mine", dot_product, expected={"once": 0.5, "latest": share})
    assert said.startswith(f"What you expect of 'latest' is a share from 0 to 1, such as 0.9, and not {share!r}")


def test_a_report_compares_with_dot_products_of_the_same_seeds():
    first, second = measured("variants", "right", "length", variant="dot product", world="latest")[1][:2]
    shares = {"latest": [[one + 0.5 for one in first], [one + 0.1 for one in second]]}
    said = str(attention_report.Report("mine", {"leak": None, "rows": "it gives no weights"}, shares)).splitlines()
    assert said[:3] == ["mine:", "keeps: leak", "breaks rows: it gives no weights"] and len(said) == 6
    assert said[3].startswith(f"latest, 32 steps: {first[0] + 0.5:.2f}, {second[0] + 0.1:.2f}; ")
    assert all(line.endswith("; minus dot product: +0.50, +0.10 (mean +0.30)") for line in said[3:])
    alone = str(
        attention_report.Report("mine", {}, {"latest": [[one - 0.2 for one in first]]}, {"latest": 0.8})
    ).splitlines()
    assert alone[2].endswith(" (expected 0.80); minus dot product: -0.20")


def test_rows_of_the_table_lack_exactly_what_they_say():
    """This holds the names in the program to its functions."""
    without = program("variants").WITHOUT
    query, key, value = torch.randn(3, 2, 4, 9, 6, generator=drawn()).double()
    mask = causal_mask(9)

    expected = {
        "linear without both": (query @ key.mT).masked_fill(~mask, 0.0) @ value,
        "delta rule without the reading": linear(query, key, value, mask, phi=unit, divide=False)[0],
    }
    for name, contexts in expected.items():
        torch.testing.assert_close(without[name](query, key, value, mask)[0], contexts)
