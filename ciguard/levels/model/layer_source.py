"""Source code of one layer's prediction, in the few lines that a person would write.

A run of a whole model names its layers and weights, samples its data and computes gradients
(`run_source`). The prediction of one layer with evenly spaced weights needs none of this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.models import MASKING, Check, DataSample
from ciguard.execution.worker.layer_weights import POSITIVE
from ciguard.levels.model.kinds import KINDS
from ciguard.levels.model.layers import no_weights
from ciguard.levels.model.run_source import data_expression, layer_expression
from ciguard.levels.model.universe import canonical_name
from ciguard.writing import scalar

if TYPE_CHECKING:
    from ciguard.domain.models import ModelCase
    from ciguard.writing import ScriptSource

_WEIGHTLESS = frozenset(kind.public for kind in KINDS if kind.weights is no_weights)
_WEIGHTS = """
{call}  # makes the weights
for weight in layer.weights:
    if "float" in str(weight.dtype):
        low = 0.5 if weight.name.endswith({positive}) else -0.5
        numbers = np.linspace(low, low + 1.0, math.prod(weight.shape), dtype="float32")
        weight.assign(numbers.reshape(weight.shape))
"""


def is_short(case: ModelCase) -> bool:
    """Return whether a case is the prediction of one layer with evenly spaced weights or none."""
    layer = case.graph.nodes[-1]
    return (
        case.is_one_layer
        and case.check is Check.PREDICT
        and not case.training
        and (layer.weights.plain or canonical_name(layer.layer) in _WEIGHTLESS)
        and not any(isinstance(data, DataSample) for data in case.data)
        and all(node.layer == MASKING for node in case.graph.masks)
    )


def layer_statements(case: ModelCase, source: ScriptSource) -> list[str]:
    """Return statements that call the layer and assign its output to `result`.

    Args:
        case: a case for which `is_short` is true.
        source: the script, to which needed imports are added.

    Raises:
        ValueError: if a name in the case is not a Python identifier.
    """
    layer = case.graph.nodes[-1]
    dtype = f", dtype={scalar(case.dtype)}" if case.dtype else ""
    names = {node.name: f"x{index}" for index, node in enumerate(case.graph.inputs)}
    names |= {node.name: names[node.inputs[0]] for node in case.graph.masks}
    inputs = [names[name] for name in layer.inputs]
    joined = ", ".join(inputs)
    call = f"layer([{joined}])" if layer.as_list else f"layer({joined})"
    statements = [
        f"x{index} = {data_expression(data, source)}" for index, data in enumerate(case.data)
    ]
    statements += [
        f"{names[node.name]} = "
        f"{layer_expression(node.layer, node.config, source, dtype)}({names[node.name]})"
        for node in case.graph.masks
    ]
    statements.append(f"layer = {layer_expression(layer.layer, layer.config, source, dtype)}")
    if canonical_name(layer.layer) not in _WEIGHTLESS:
        source.needs_numpy = True
        source.standard.add("math")
        statements.append(_WEIGHTS.strip().format(call=call, positive=POSITIVE))
    return [*statements, f"result = {call}"]
