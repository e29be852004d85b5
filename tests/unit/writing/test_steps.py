"""Steps of a graph as source text."""

from __future__ import annotations

from dataclasses import replace

import pytest
from graph_examples import CHAIN, PAIR, call, result

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.values import LiteralValue
from ciguard.writing import ScriptSource, writer_of


def source() -> ScriptSource:
    return ScriptSource(writer_of("torch"))


def test_each_step_is_bound_to_a_name_of_its_own() -> None:
    written = source()

    statements = written.steps(CHAIN.steps)

    assert statements == [
        "v1 = torch.exp(x0)",
        "v2 = torch.add(v1, x0)",
        "v3 = torch.stack([v2, x1], 0)",
    ]
    assert written.lifted == ["x0", "x1"]


def test_layers_are_built_before_the_graph() -> None:
    layer = ApiCall(
        api="torch.nn.Softmax",
        kind=CallKind.LAYER,
        arguments=(LiteralValue(-1),),
        inputs=(result(0),),
    )
    written = source()

    statements = written.steps((PAIR, layer, replace(layer, inputs=(result(1),))))

    assert statements == ["v1 = layer1(x0)", "v2 = layer2(v1)"]
    assert "layer2 = torch.nn.Softmax(-1)" in written.assignments


@pytest.mark.parametrize(("item", "text"), [(-1, "v1.sin()"), (0, "v1[0].sin()")])
def test_a_method_of_a_result_is_called_on_it(item: int, text: str) -> None:
    sine = call("torch.Tensor.sin", result(1, item=item), kind=CallKind.METHOD)

    assert source().steps((PAIR, call("torch.chunk", result(0)), sine))[1] == f"v2 = {text}"
