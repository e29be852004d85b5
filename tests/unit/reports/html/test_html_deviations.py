from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from finding_examples import call
from hypothesis import given
from hypothesis import strategies as st
from layer_findings import MUTATIONS, layer_case, whole_case
from report_examples import HOSTILE

from ciguard.domain.models import Check, GraphOrigin
from ciguard.levels.model.origin import suspect
from ciguard.reports.html.deviations import MAX_BARS, NEIGHBOURS, origin_of, shown_indices

RATES = st.lists(st.tuples(st.text(max_size=3), st.floats()), max_size=200)


def test_origin_of_a_layer_case_has_model_mutations_check_and_a_bar_per_layer() -> None:
    section = origin_of(layer_case())

    rows = section["chart"]["rows"]
    assert section["model"] == "lenet5-mnist"
    assert section["mutations"] == [*MUTATIONS]
    assert section["checked"] == "the outputs (predict)"
    assert section["suspect"] == "conv_3 (keras.layers.Conv2D), one of 17 layers"
    assert [row[0] for row in rows[3:7]] == [
        "max_pooling2d",
        "conv2d_2",
        "conv_3",
        "batch_normalization",
    ]
    assert [row[:2] for row in rows if row[3]] == [["conv_3", "3.2e4"]]


def test_bar_length_is_the_power_of_ten_and_zero_has_no_bar() -> None:
    rates = (("a", 0.0), ("b", -3.0), ("c", 9.0), ("d", 99.0), ("e", 9999.0))
    chart = origin_of(layer_case(GraphOrigin(model="m", deviations=rates)))["chart"]

    lengths = [row[2] for row in chart["rows"]]
    assert lengths == pytest.approx([0, 0, 25, 50, 100], abs=0.1)
    assert [text for text, _ in chart["ticks"]] == ["0", "10", "100", "1e3", "1e4"]
    assert chart["ticks"][-1][1] == 100


def test_suspect_is_marked_even_if_another_layer_grew_more() -> None:
    origin = replace(layer_case().origin, suspect="dense_2")

    rows = origin_of(layer_case(origin))["chart"]["rows"]

    assert [row[0] for row in rows if row[3]] == ["dense_2"]


def test_large_model_shows_neighbours_and_largest_layers_and_counts_the_others() -> None:
    rates = tuple((f"layer_{place}", float(place)) for place in range(159))
    origin = GraphOrigin(model="inception", deviations=rates, suspect="layer_20")

    rows = origin_of(layer_case(origin))["chart"]["rows"]

    bars = [row[0] for row in rows if isinstance(row, list)]
    largest = MAX_BARS - 2 * NEIGHBOURS - 1
    assert bars == [f"layer_{place}" for place in (*range(16, 25), *range(159 - largest, 159))]
    assert [row for row in rows if isinstance(row, int)] == [16, 159 - largest - 25]


@given(RATES, st.text(max_size=3))
def test_chart_is_bounded_json_for_any_rates(rates: list[tuple[str, float]], accused: str) -> None:
    origin = GraphOrigin(model="m", deviations=tuple(rates), suspect=accused)

    chart = origin_of(layer_case(origin))["chart"]

    json.dumps(chart, allow_nan=False)
    if not rates:
        assert chart is None
        return
    bars = [row for row in chart["rows"] if isinstance(row, list)]
    assert sum(row if isinstance(row, int) else 1 for row in chart["rows"]) == len(rates)
    assert len(bars) <= MAX_BARS
    assert len(chart["rows"]) <= 2 * MAX_BARS + 1
    assert all(0 <= length <= 100 for _, _, length, _ in bars)
    places = shown_indices(rates, suspect(origin))  # where none is accused, one is chosen
    for place, (_, _, length, _) in zip(places, bars, strict=True):
        rate = rates[place][1]
        assert (length > 0) == (not math.isnan(rate) and rate > 0)


def test_model_without_suspect_and_call_have_no_layer_chart() -> None:
    whole = origin_of(whole_case())

    assert (whole["suspect"], whole["chart"]) == ("", None)
    assert origin_of(call()) is None


def test_a_training_step_names_its_layer_without_a_chart() -> None:
    origin = GraphOrigin(model="lstm-sine", suspect="lstm_1")

    section = origin_of(layer_case(origin, check=Check.TRAIN))

    assert section["suspect"] == "lstm_1 (keras.layers.Conv2D)"
    assert section["checked"] == "loss and gradients of one training step (train)"
    assert section["mutations"] == []
    assert section["chart"] is None


def test_texts_of_an_origin_are_bounded_and_printable() -> None:
    origin = GraphOrigin(
        model=HOSTILE * 9,
        mutations=(HOSTILE * 9,) * 50,
        deviations=((HOSTILE * 9, 1.0),) * 50,
        suspect=HOSTILE * 9,
    )

    section = origin_of(layer_case(origin))

    text = json.dumps(section, ensure_ascii=False)
    assert section["more_mutations"] == 10
    assert text.isprintable()
    assert len(text) < 20_000
