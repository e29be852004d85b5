"""How findings are attributed to planted defects of layers, and what the table of defects holds."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from layer_findings import JAX, TORCH, layer_case, layer_difference, whole_case
from model_defects import DEFECTS, GROUPS, Defect
from model_recall import Recall, cases_until, has, recall_of

from ciguard.domain.findings import Bucket, Confirmation, Finding
from ciguard.levels.model.kinds import KINDS

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.domain.models import ModelCase
    from ciguard.domain.values import Json

CONV = Defect("wrong-side", "…", ("Conv2D",))
GELU = Defect("exact", "…", (), "gelu")
ELSEWHERE = Defect("swapped", "…", ("Cropping2D",))


def bucket(
    finding: Finding, confirmation: Confirmation = Confirmation.CONFIRMED, name: str = "v1:1"
) -> Bucket:
    return Bucket(fingerprint=name, grouping=(), finding=finding, confirmation=confirmation)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    rows = [
        {"type": "start"},
        {"type": "progress", "streams": {"a": {"cases": 7}}, "counts": {}},
        {"type": "progress", "streams": {"a": {"cases": 11}}, "counts": {"v1:1": 1}},
        {"type": "progress", "streams": {"a": {"cases": 15}}, "counts": {"v1:1": 2, "v1:2": 1}},
    ]
    lines = "\n".join(map(json.dumps, rows))
    (tmp_path / "journal.jsonl").write_text(f"{lines}\n", "utf-8")
    return tmp_path


def recall(results: Path, *buckets: Bucket) -> Recall:
    return recall_of(buckets, (CONV, ELSEWHERE), results, planted=JAX)


def test_a_finding_at_the_layer_on_the_planted_target_finds_its_defect(results: Path) -> None:
    conv, elsewhere = recall(results, bucket(layer_difference())).defects

    assert (conv.is_found, conv.is_right, conv.mutants) == (True, True, 11)
    assert (elsewhere.is_found, elsewhere.is_right, elsewhere.mutants) == (False, False, 0)


def test_a_finding_about_a_whole_model_finds_without_naming_the_layer(results: Path) -> None:
    conv, _ = recall(results, bucket(layer_difference(whole_case()))).defects

    assert (conv.is_found, conv.is_right) == (True, False)


def test_other_layers_other_targets_and_what_is_not_confirmed_count_for_nothing(
    results: Path,
) -> None:
    on_healthy = bucket(replace(layer_difference(), targets=(JAX, TORCH)))
    unsure = bucket(layer_difference(), Confirmation.FLAKY)
    case = layer_case()
    *inputs, layer = case.graph.nodes
    dense = replace(layer, layer="keras.layers.Dense")
    other = replace(case, graph=replace(case.graph, nodes=(*inputs, dense)))
    blamed = bucket(layer_difference(other))

    found = recall(results, on_healthy, unsure, blamed)

    assert [one.is_found for one in found.defects] == [False, False]
    assert found.misplaced == (blamed,)
    assert found.own == (on_healthy,)
    assert found.unsettled == (unsure,)


@pytest.mark.parametrize(
    ("config", "is_there"),
    [
        ({"activation": "gelu"}, True),
        ({"activation": "relu"}, False),
        ({"layer": {"layer": "keras.layers.Dense", "config": {"activation": "gelu"}}}, True),
    ],
)
def test_an_activation_is_found_in_whatever_layer_has_it(
    config: dict[str, Json], *, is_there: bool
) -> None:
    case = layer_case()
    *inputs, layer = case.graph.nodes
    nodes = (*inputs, replace(layer, config=config))

    assert has(replace(case, graph=replace(case.graph, nodes=nodes)), GELU) is is_there


def test_a_wrapped_layer_or_its_cell_counts_as_the_layer() -> None:
    case = layer_case()
    *inputs, layer = case.graph.nodes
    cell = {"layer": "keras.layers.LSTMCell", "config": {"units": 3}}
    nodes = (*inputs, replace(layer, layer="keras.layers.RNN", config={"cell": cell}))
    wrapped: ModelCase = replace(case, graph=replace(case.graph, nodes=nodes))

    assert has(wrapped, Defect("transposed", "…", ("LSTM",)))
    assert not has(wrapped, CONV)


def test_runs_are_counted_until_a_bucket_is_first_met(results: Path) -> None:
    assert cases_until(results / "journal.jsonl") == {"v1:1": 11, "v1:2": 15}


def test_the_table_has_enough_defects_of_layers_that_mutants_are_made_of() -> None:
    known = {kind.name for kind in KINDS}

    assert len(DEFECTS) == len({defect.name for defect in DEFECTS}) >= 24
    assert {layer for defect in DEFECTS for layer in defect.layers} <= known
    assert all(bool(defect.layers) != bool(defect.activation) for defect in DEFECTS)


def test_no_two_defects_of_a_group_are_of_one_layer() -> None:
    for group in GROUPS:
        counts = Counter(layer for defect in group for layer in defect.layers)
        assert max(counts.values()) == 1
