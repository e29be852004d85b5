"""Texts about the origin of a layer's or model's run."""

from __future__ import annotations

import pytest
from finding_examples import call
from layer_findings import layer_case, whole_case

from ciguard.domain.models import Check, GraphOrigin
from ciguard.levels.model.origin import suspect
from ciguard.triage import deviation_text, origin_rows


def found_in(origin: GraphOrigin) -> str:
    return dict(origin_rows(layer_case(origin))).get("Found in", "")


def test_the_origin_of_an_isolated_layer_has_mutant_mutations_and_rate() -> None:
    assert dict(origin_rows(layer_case())) == {
        "Found in": "a mutant of lenet5-mnist (LA conv2d_1: keras.layers.PReLU; GF dense_2), "
        "isolated from 17 layers; R_a 3.2e4 at layer conv_3",
        "Compared": "the outputs (predict)",
    }


@pytest.mark.parametrize(
    ("origin", "text"),
    [
        (GraphOrigin(model=""), ""),
        (GraphOrigin(model="lstm-sine"), "lstm-sine"),
        (GraphOrigin(model="lstm-sine", suspect="lstm_1"), "lstm-sine, isolated from layer lstm_1"),
        (
            GraphOrigin(model="m", deviations=(("a", 2.0),), suspect="a"),
            "m, isolated from 1 layer; R_a 2 at layer a",
        ),
        (
            GraphOrigin(model="m", mutations=tuple("abcdefg")),
            "a mutant of m (a; b; c; d; 3 more)",
        ),
    ],
)
def test_unknown_parts_of_an_origin_are_left_out(origin: GraphOrigin, text: str) -> None:
    assert found_in(origin) == text


def test_the_origin_of_a_whole_model_has_its_number_of_layers() -> None:
    ((_, text), _) = origin_rows(whole_case())

    assert text.endswith("GF dense_2), run whole: 2 layers")


def test_names_are_shortened_and_formatted() -> None:
    origin = GraphOrigin(model="m" * 999, mutations=("x" * 999,), deviations=(("y" * 999, 1.0),))

    ((_, text), _) = origin_rows(layer_case(origin), lambda name: f"<{len(name)}>")

    assert text == "a mutant of <80> (<80>), isolated from 1 layer; R_a 1 at layer <80>"


@pytest.mark.parametrize("check", list(Check))
def test_every_check_has_a_text(check: Check) -> None:
    rows = dict(origin_rows(layer_case(check=check)))

    assert rows["Compared"].endswith(f"({check.value})")


def test_a_call_has_no_origin() -> None:
    assert origin_rows(call()) == []
    assert (call().noun, call().given) == ("call", "arguments")
    assert (layer_case().noun, layer_case().given) == ("run", "inputs")


@pytest.mark.parametrize(
    ("rate", "text"),
    [
        (0.0, "0"),
        (-0.5, "-0.5"),
        (0.25, "0.25"),
        (1e-5, "1e-5"),
        (417.2, "417"),
        (999.6, "1.0e3"),
        (32_000.0, "3.2e4"),
        (-1e120, "-1.0e120"),
        (float("inf"), "infinite"),
        (float("nan"), "unknown"),
    ],
)
def test_a_rate_is_short(rate: float, text: str) -> None:
    assert deviation_text(rate) == text


def test_the_suspect_is_the_stored_layer_else_the_one_of_the_largest_rate() -> None:
    rates = (("a", float("nan")), ("b", 2.0), ("c", 5.0))

    assert suspect(GraphOrigin(model="", deviations=rates, suspect="b")) == "b"
    assert suspect(GraphOrigin(model="", deviations=rates)) == "c"
    assert suspect(GraphOrigin(model="")) == ""
