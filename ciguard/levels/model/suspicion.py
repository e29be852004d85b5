"""Suspicion: the choice of layers that run alone because targets disagree on a model.

A run of a model returns a sample of each layer's output (`layers` in its result). If targets
disagree, the layers at which the deviation grows are suspects, the most suspicious first (LEMON,
section 3.3). A suspicion is no proof: the suspect must also behave differently when it runs alone,
with the same input on every target.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from ciguard.domain.models import (
    INPUT,
    ONE_LAYER,
    Check,
    DataSample,
    LayerGraph,
    LayerNode,
    Weights,
)
from ciguard.domain.outcomes import Exhausted, Passed, Rejected, Stage
from ciguard.domain.values import ArrayValue, Constant, Uniform
from ciguard.execution import Container, decode_outputs
from ciguard.levels.model.inconsistency import EPSILON, change_rates
from ciguard.levels.model.layer_samples import LayerSample, deviation, item_of, layer_samples
from ciguard.oracles import input_precision_of, majority_target
from ciguard.oracles.comparing import compare_outputs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.domain.models import Data, ModelCase
    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Output

_MIN_DEVIATION = 1e-5
"""Minimum deviation of a layer's output, relative to its largest sampled element; smaller
deviations are rounding errors."""
_MAX_SUSPECTS = 3
"""Maximum number of suspects that samples identify; without samples, all layers are suspects."""
_LAYER_IN_MESSAGE = re.compile(r"\A(?:.{0,60}?: )?layer '([A-Za-z0-9_.\-/>]{1,200})': ")
"""Pattern of the start of a worker's message about an exception that a layer raised."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSuspicion:
    """A model on which targets disagree."""

    case: ModelCase
    """The run of the whole model."""
    suspects: tuple[str, ...]
    """Names of the suspected layers, in the order in which they run alone."""
    hidden: tuple[str, ...] = ()
    """Names of layers whose inputs deviate already, so that their outputs prove nothing."""
    deviations: tuple[tuple[str, float], ...] = ()
    """Name and R_a of each layer, in the order of the graph, for the target that deviates most."""
    samples: Mapping[str, LayerSample]
    """Samples of the layers on the elected target, by name; empty if no target passed."""
    witness: str = ""
    """Name of the target that the majority elected; empty if no target passed."""


def suspicion(case: ModelCase, outcomes: Mapping[str, Outcome]) -> ModelSuspicion | None:
    """Return the suspicion about a model; None if all targets agree or all reject the model.

    Args:
        case: the run of a whole model.
        outcomes: the outcomes of the run, by target.
    """
    conclusive = {name: outcome for name, outcome in outcomes.items() if _is_conclusive(outcome)}
    outputs = {
        name: output
        for name, outcome in conclusive.items()
        if isinstance(outcome, Passed) and (output := decode_outputs(outcome.encoded)) is not None
    }
    if not conclusive:
        return None
    samples = {name: layer_samples(output) for name, output in outputs.items()}
    witness = _witness_of(case, outputs) if outputs else ""
    witness_samples = samples.get(witness, {})
    deltas = _deltas(samples, witness) if witness else {}
    deviations: tuple[tuple[str, float], ...] = ()
    if len(outputs) < len(conclusive):
        suspects = _suspects_of_failure(case, conclusive)
    elif case.check is Check.PREDICT:
        deviations, suspects = _deviating_layers(case, deltas, witness_samples)
        if not suspects and case.is_one_layer and not _agrees_on_outputs(case, outputs):
            suspects = _distinct_layers(case)  # samples are parts of the outputs only
    else:
        suspects = _suspects_of_other_checks(case, outputs)
    if not suspects:
        return None
    return ModelSuspicion(
        case=case,
        suspects=suspects,
        hidden=_hidden_layers(case, deltas, witness_samples, suspects) if deviations else (),
        deviations=deviations,
        samples=witness_samples,
        witness=witness,
    )


def _suspects_of_other_checks(case: ModelCase, outputs: Mapping[str, Output]) -> tuple[str, ...]:
    """Return the suspects of a training step, or of a model that was saved and loaded."""
    if case.check is Check.SAVE:
        return () if _agrees_on_saving(case, outputs) else _distinct_layers(case, is_reversed=True)
    if _agrees_on_training(case, outputs):
        return ()
    return _nearest_first(case, outputs, _distinct_layers(case, is_reversed=True))


def isolated_run(model: ModelSuspicion, name: str, data: Sequence[Data] = ()) -> ModelCase:
    """Return the run of one layer alone.

    Args:
        model: the suspicion about the model.
        name: the name of the layer.
        data: the inputs of the layer, which then has its weights in the model. If empty, random
            numbers in the range of its inputs in the model, and evenly spaced weights, which a
            short script can write.
    """
    graph = model.case.graph
    node = graph.node(name)
    if graph.masks and tuple(data) == model.case.data and node is graph.nodes[-1]:
        # It ran alone, on masked inputs: without the layers that make the masks, it has none.
        return replace(model.case, api=node.layer, origin=replace(model.case.origin, suspect=name))
    owner = graph.node(node.shares) if node.shares else node
    sources = [graph.node(source) for source in node.inputs]
    rows = _rows_of(model.case)
    values = tuple(data) or tuple(
        _similar_data(model, source, rows, index) for index, source in enumerate(sources)
    )
    # A tensor that is passed twice remains one tensor, whose gradient is a sum.
    value_of = {source.name: value for source, value in zip(sources, values, strict=True)}
    names = {source: f"x{index}" for index, source in enumerate(value_of)}
    inputs = tuple(
        LayerNode(
            name=names[source], layer=INPUT, shape=value.shape[1:], dtype=graph.node(source).dtype
        )
        for source, value in value_of.items()
    )
    layer = replace(
        owner,
        name=ONE_LAYER,
        inputs=tuple(names[source.name] for source in sources),
        as_list=node.as_list,
        weights=owner.weights if data else Weights(plain=True),
        shape=node.shape,
        shares="",
    )
    rows = values[0].shape[0] if values else rows
    return replace(
        model.case,
        api=node.layer,
        graph=LayerGraph(nodes=(*inputs, layer), outputs=(ONE_LAYER,)),
        data=tuple(value_of.values()),
        truth=_expected_output(rows, node),
        origin=replace(model.case.origin, deviations=model.deviations, suspect=name),
    )


_Deltas: TypeAlias = "dict[str, dict[str, float]]"
"""Δ of each layer between the elected target and another target, by the other target."""


def _deltas(samples: Mapping[str, Mapping[str, LayerSample]], witness: str) -> _Deltas:
    reference = samples[witness]
    return {
        target: {
            name: deviation(reference[name], other[name]) for name in reference if name in other
        }
        for target, other in samples.items()
        if target != witness
    }


def _deviating_layers(
    case: ModelCase, deltas: _Deltas, reference: Mapping[str, LayerSample]
) -> tuple[tuple[tuple[str, float], ...], tuple[str, ...]]:
    """Return R_a of each layer for the target that deviates most, and all targets' suspects."""
    sources = {node.name: node.inputs for node in case.graph.nodes}
    max_rates: dict[str, float] = {}
    deviations: tuple[tuple[str, float], ...] = ()
    for by_layer in deltas.values():
        rates = change_rates(by_layer, sources)
        suspects = {
            name: rates[name]
            for name, delta in by_layer.items()
            if _is_beyond_rounding(delta, reference[name]) and rates.get(name, 0.0) > 1.0
        }
        if suspects and max(suspects.values()) > max(max_rates.values(), default=0.0):
            deviations = tuple(
                (node.name, rates[node.name]) for node in case.graph.nodes if node.name in rates
            )
        for name, rate in suspects.items():
            max_rates[name] = max(rate, max_rates.get(name, 0.0))
    ranked = sorted(max_rates, key=lambda name: -max_rates[name])
    return deviations, tuple(ranked[:_MAX_SUSPECTS])


def _hidden_layers(
    case: ModelCase,
    deltas: _Deltas,
    reference: Mapping[str, LayerSample],
    suspects: tuple[str, ...],
) -> tuple[str, ...]:
    """Return one layer of each kind whose inputs deviate already and that is not a suspect."""
    deviating = {
        name
        for by_layer in deltas.values()
        for name, delta in by_layer.items()
        if _is_beyond_rounding(delta, reference[name])
    }
    affected = {node.name for node in case.graph.nodes if deviating.intersection(node.inputs)}
    return tuple(
        name for name in _distinct_layers(case) if name in affected and name not in suspects
    )


def _is_beyond_rounding(delta: float, reference: LayerSample) -> bool:
    return delta > _MIN_DEVIATION * _scale(reference)


def _scale(sample: LayerSample) -> float:
    return max(abs(sample.low), abs(sample.high), EPSILON)


def _witness_of(case: ModelCase, outputs: Mapping[str, Output]) -> str:
    inputs = input_precision_of(case)
    return majority_target(
        outputs, lambda first, second: compare_outputs(first, second, inputs) is None
    )


def _is_conclusive(outcome: Outcome) -> bool:
    """Return whether a run says something about layers: not if it lacked a layer or memory."""
    is_unable = isinstance(outcome, Rejected) and outcome.stage is not Stage.CALL
    return not is_unable and not isinstance(outcome, Exhausted)


def _suspects_of_failure(case: ModelCase, outcomes: Mapping[str, Outcome]) -> tuple[str, ...]:
    """Return the suspects of a run that not all targets passed; empty if all targets reject it.

    Layers that messages name come first, then the layers before them, from the last to the first.
    """
    if all(isinstance(outcome, Rejected) for outcome in outcomes.values()):
        return ()
    names = {node.name for node in case.graph.nodes if node.layer != INPUT}
    reported = [
        match[1]
        for outcome in outcomes.values()
        if (match := _LAYER_IN_MESSAGE.match(getattr(outcome, "message", ""))) and match[1] in names
    ]
    before = [
        name
        for name in _distinct_layers(case, is_reversed=True)
        if _is_before(case, name, reported)
    ]
    return tuple(dict.fromkeys([*reported, *before])) or _distinct_layers(case)


def _is_before(case: ModelCase, name: str, reported: Sequence[str]) -> bool:
    order = [node.name for node in case.graph.nodes]
    return bool(reported) and order.index(name) < max(map(order.index, reported))


def _nearest_first(
    case: ModelCase, outputs: Mapping[str, Output], suspects: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the suspects, rotated to start near the first layer whose gradients differ.

    Args:
        case: a training step on which targets disagree.
        outputs: the outputs of the training step, by target.
        suspects: the suspects, in the order in which gradients reach them.
    """
    inputs = input_precision_of(case)
    first, *others = (_gradients(output) for output in outputs.values())
    differing = {
        key.partition("/")[0]
        for key, gradient in first.items()
        for other in others
        if key not in other or compare_outputs(gradient, other[key], inputs) is not None
    }
    agreeing = {key.partition("/")[0] for key in first} - differing
    differing_indices = [index for index, name in enumerate(suspects) if name in differing]
    if not differing_indices:
        return suspects
    # The layer before that one has equal weight gradients, but may pass on a wrong gradient of
    # its input. So the suspects start there.
    agreeing_indices = [
        index for index, name in enumerate(suspects[: differing_indices[0]]) if name in agreeing
    ]
    start = agreeing_indices[-1] if agreeing_indices else 0
    return suspects[start:] + suspects[:start]


def _gradients(output: Output) -> dict[str, Output]:
    gradients = item_of(output, "gradients")
    return (
        dict(zip(gradients.keys, gradients.items, strict=False))
        if isinstance(gradients, Container)
        else {}
    )


def _distinct_layers(case: ModelCase, *, is_reversed: bool = False) -> tuple[str, ...]:
    """Return the names of one layer per class and configuration, in forward or backward order.

    Layers that only make the masks of a single layer are left out.
    """
    passed_over = {node.name for node in (*case.graph.inputs, *case.graph.masks)}
    nodes = [node for node in case.graph.nodes if node.name not in passed_over and not node.shares]
    if is_reversed:
        nodes.reverse()
    kinds: dict[str, str] = {}
    for node in nodes:
        kinds.setdefault(f"{node.layer} {sorted(node.config.items(), key=str)}", node.name)
    return tuple(kinds.values())


def _agrees_on_outputs(case: ModelCase, outputs: Mapping[str, Output]) -> bool:
    inputs = input_precision_of(case)
    first, *others = (item_of(output, "outputs") for output in outputs.values())
    return first is None or all(
        other is None or compare_outputs(first, other, inputs) is None for other in others
    )


def _agrees_on_training(case: ModelCase, outputs: Mapping[str, Output]) -> bool:
    inputs = input_precision_of(case)
    first, *others = outputs.values()
    return all(compare_outputs(first, other, inputs) is None for other in others)


def _agrees_on_saving(case: ModelCase, outputs: Mapping[str, Output]) -> bool:
    inputs = input_precision_of(case)
    pairs = [(item_of(out, "before"), item_of(out, "after")) for out in outputs.values()]
    return all(
        before is None or after is None or compare_outputs(before, after, inputs) is None
        for before, after in pairs
    )


def _rows_of(case: ModelCase) -> int:
    return case.data[0].shape[0] if case.data and case.data[0].shape else 1


def _similar_data(model: ModelSuspicion, source: LayerNode, rows: int, index: int) -> Data:
    """Return data like a layer's input in the model, in shape and range.

    Args:
        model: the suspicion about the model.
        source: the node that computes the input.
        rows: the batch size.
        index: the index of the input, which makes the data of inputs different.
    """
    for node, data in zip(model.case.graph.inputs, model.case.data, strict=True):
        if node.name == source.name and isinstance(data, DataSample):
            return ArrayValue(
                source.dtype, data.shape, Uniform((data.seed + index) % 65536, 0.0, 1.0)
            )
        if node.name == source.name:
            return data
    sample = model.samples.get(source.name)
    low, high = (sample.low, sample.high) if sample is not None else (-1.0, 1.0)
    shape = (rows, *source.shape)
    if low == high:
        return ArrayValue(source.dtype, shape, Constant(low))
    return ArrayValue(source.dtype, shape, Uniform((model.case.seed + index) % 65536, low, high))


def _expected_output(rows: int, node: LayerNode) -> ArrayValue:
    """Return random expected outputs of a layer, for the loss of a training step."""
    return ArrayValue("float32", (rows, *node.shape), Uniform(17, -1.0, 1.0))
