"""The script of a layer's run stands on its own: it makes data and weights without ciguard."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

import numpy as np
from layer_findings import layer_case, layer_difference

from ciguard.domain import Sample, SampleKind
from ciguard.execution.worker.fills import elements
from ciguard.execution.worker.layer_weights import arrays
from ciguard.execution.worker.samples import sample
from ciguard.triage import EnvironmentHint, script

CASE = replace(layer_case(), data=(Sample(SampleKind.SINE, 3, (2, 10, 1)),))
CONV = "keras.layers.Conv2D"
DEFINING = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.Assign, ast.AnnAssign)


def definitions(text: str) -> dict[str, Any]:
    """Run what a script defines before it makes a layer, without the library."""
    nodes: list[ast.stmt] = [
        node
        for node in ast.parse(text.partition("\ninputs = ")[0]).body
        if isinstance(node, DEFINING) and "keras" not in ast.unparse(node)
    ]
    names: dict[str, Any] = {}
    exec(compile(ast.Module(nodes, []), "script", "exec"), names)  # noqa: S102 - our own text
    return names


def test_data_of_a_kind_and_weights_are_made_as_workers_make_them() -> None:
    text = script(layer_difference(CASE), environment_hint=EnvironmentHint(install=("keras",)))

    made = definitions(text)

    assert "from ciguard" not in text
    assert np.array_equal(made["sample"]("sine", 3, (2, 10, 1)), sample("sine", 3, (2, 10, 1)))
    fill = ["u", 1, -1.0, 1.0]
    assert np.array_equal(made["elements"](fill, "float32", [3]), elements(fill, "float32", [3]))
    described = [("kernel", (3, 3, 1, 3), "float32"), ("bias", (3,), "float32")]
    theirs, ours = (make(CONV, {"seed": 5}, described) for make in (made["arrays"], arrays))
    assert len(theirs) == len(ours) == len(described)
    assert all(map(np.array_equal, theirs, ours))
