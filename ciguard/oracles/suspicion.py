"""Which layers of a model are to be looked at alone, because targets do not agree on the model.

A run of a model brings back a sample of what every layer computed (`layers` in its result). Where
targets disagree, the layers at which the disagreement grows are suspects, the most suspicious first
(LEMON, section 3.3). A suspect proves nothing: what counts is what it does alone, with the same
input on every target.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ciguard.domain import (
    INPUT,
    ONE_LAYER,
    ArrayValue,
    Check,
    Constant,
    LayerGraph,
    LayerNode,
    Passed,
    Rejected,
    Stage,
    Uniform,
)
from ciguard.execution import Container, Scalar, Tensor, decode_outputs
from ciguard.levels import EPSILON, change_rates, layer_deviation
from ciguard.oracles.comparison import compare_outputs
from ciguard.oracles.differential import inputs_in
from ciguard.oracles.voting import elected

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from ciguard.domain import Data, ModelCase, Outcome
    from ciguard.execution import Output

_LEAST_DEVIATION = 1e-5
"""Of a layer's output, relative to its largest sampled element: below that it is rounding."""
_MOST_SUSPECTS = 3
"""Layers that are tried where samples tell which; where nothing tells, all are."""
_NAMED = re.compile(r"\A(?:.{0,60}?: )?layer '([A-Za-z0-9_.\-/>]{1,200})': ")
"""How a worker begins the message of what a layer raised."""


@dataclass(frozen=True, slots=True)
class LayerSample:
    """What one target tells of one layer's output."""

    elements: NDArray[Any]
    """At most some dozens, evenly spaced over the output."""
    special: tuple[int, int]
    """How many elements are NaN, and how many infinite."""

    @property
    def low(self) -> float:
        """Least finite element; 0 if there is none."""
        finite = self.elements[np.isfinite(self.elements)]
        return float(finite.min()) if finite.size else 0.0

    @property
    def high(self) -> float:
        """Greatest finite element; 0 if there is none."""
        finite = self.elements[np.isfinite(self.elements)]
        return float(finite.max()) if finite.size else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """A model on which targets disagree."""

    case: ModelCase
    """The run of the whole model."""
    suspects: tuple[str, ...]
    """Names of its layers, in the order in which they are to be looked at."""
    deviations: tuple[tuple[str, float], ...] = ()
    """R_a of every layer, in the order of the graph, between the two targets that differ most."""
    samples: Mapping[str, LayerSample]
    """What the layers computed on the elected target; empty where no target got to the end."""
    witness: str = ""
    """The elected target, if it got to the end."""


def suspicion(case: ModelCase, outcomes: Mapping[str, Outcome]) -> Suspicion | None:
    """Return what to look at in a model, None where all targets agree or all refuse it.

    Args:
        case: the run of a whole model.
        outcomes: by target.
    """
    outputs = {
        name: output
        for name, outcome in outcomes.items()
        if isinstance(outcome, Passed) and (output := decode_outputs(outcome.encoded)) is not None
    }
    samples = {name: layer_samples(output) for name, output in outputs.items()}
    witness = _elected(case, outputs) if outputs else ""
    known = samples.get(witness, {})
    if len(outputs) < len(outcomes):
        suspects = _of_ends(case, outcomes)
        if not suspects:
            return None
        return Suspicion(case=case, suspects=suspects, samples=known, witness=witness)
    if case.check is not Check.PREDICT:
        agrees = _agrees_on_training if case.check is Check.TRAIN else _agrees_on_saving
        if agrees(case, outputs):
            return None
        suspects = _layers(case, is_reversed=True)
        return Suspicion(case=case, suspects=suspects, samples=known, witness=witness)
    deviations, suspects = _deviating_layers(case, samples, witness)
    if not suspects:
        return None
    return Suspicion(
        case=case, suspects=suspects, deviations=deviations, samples=known, witness=witness
    )


def layer_samples(output: Output) -> dict[str, LayerSample]:
    """Return what a run tells of each layer, by name; nothing if it tells nothing of layers."""
    found = _part(output, "layers")
    if not isinstance(found, Container):
        return {}
    samples = {}
    for name, item in zip(found.keys, found.items, strict=False):
        sample = _part(item, "sample")
        if isinstance(sample, Tensor):
            counts = (_count(_part(item, "nan")), _count(_part(item, "inf")))
            samples[name] = LayerSample(sample.elements.astype(np.float64), counts)
    return samples


def isolated(doubt: Suspicion, name: str, data: Sequence[Data] = ()) -> ModelCase:
    """Return the run of one layer alone.

    Args:
        doubt: names the model.
        name: of the layer.
        data: what it is called with; if empty, numbers in the range that its inputs had.
    """
    graph = doubt.case.graph
    node = graph.node(name)
    owner = graph.node(node.shares) if node.shares else node
    sources = [graph.node(source) for source in node.inputs]
    rows = _rows_of(doubt.case)
    given = tuple(data) or tuple(_like(doubt, source, rows) for source in sources)
    inputs = tuple(
        LayerNode(name=f"x{place}", layer=INPUT, shape=value.shape[1:], dtype=source.dtype)
        for place, (source, value) in enumerate(zip(sources, given, strict=True))
    )
    layer = replace(
        owner,
        name=ONE_LAYER,
        inputs=tuple(one.name for one in inputs),
        as_list=node.as_list,
        shape=node.shape,
        shares="",
    )
    rows = given[0].shape[0] if given else rows
    return replace(
        doubt.case,
        api=node.layer,
        graph=LayerGraph(nodes=(*inputs, layer), outputs=(ONE_LAYER,)),
        data=given,
        truth=_target(rows, node),
        origin=replace(doubt.case.origin, deviations=doubt.deviations, suspect=name),
    )


def deviation(one: LayerSample, other: LayerSample) -> float:
    """Return Δ of a layer between two targets: the mean absolute difference (LEMON, formula 4).

    Infinite where one of them holds NaN or infinities in other places, or is of another size.
    """
    if one.elements.shape != other.elements.shape or one.special != other.special:
        return float("inf")
    return layer_deviation(one.elements, other.elements)


def _deviating_layers(
    case: ModelCase, samples: Mapping[str, Mapping[str, LayerSample]], witness: str
) -> tuple[tuple[tuple[str, float], ...], tuple[str, ...]]:
    """Return R_a of every layer against the target that differs most, and the suspects."""
    reference = samples[witness]
    sources = {node.name: node.inputs for node in case.graph.nodes}
    deltas = {
        target: {
            name: deviation(reference[name], other[name]) for name in reference if name in other
        }
        for target, other in samples.items()
        if target != witness
    }
    found: dict[str, float] = {}
    shown: tuple[tuple[str, float], ...] = ()
    for by_layer in deltas.values():
        rates = change_rates(by_layer, sources)
        suspects = {
            name: rates[name]
            for name, delta in by_layer.items()
            if delta > _LEAST_DEVIATION * _scale(reference[name]) and rates.get(name, 0.0) > 1.0
        }
        if suspects and max(suspects.values()) > max(found.values(), default=0.0):
            shown = tuple(
                (node.name, rates[node.name]) for node in case.graph.nodes if node.name in rates
            )
        for name, rate in suspects.items():
            found[name] = max(rate, found.get(name, 0.0))
    ranked = sorted(found, key=lambda name: -found[name])
    return shown, tuple(ranked[:_MOST_SUSPECTS])


def _scale(sample: LayerSample) -> float:
    return max(abs(sample.low), abs(sample.high), EPSILON)


def _elected(case: ModelCase, outputs: Mapping[str, Output]) -> str:
    inputs = inputs_in(case)
    return elected(outputs, lambda one, other: compare_outputs(one, other, inputs) is None)


def _of_ends(case: ModelCase, outcomes: Mapping[str, Outcome]) -> tuple[str, ...]:
    """Return the suspects where targets end differently; none if all refuse, or none could try."""
    tried = [
        o for o in outcomes.values() if not (isinstance(o, Rejected) and o.stage is not Stage.CALL)
    ]
    if all(isinstance(outcome, Passed) for outcome in tried):
        return ()
    if all(isinstance(outcome, Rejected) for outcome in tried):
        return ()
    names = {node.name for node in case.graph.nodes if node.layer != INPUT}
    told = [
        found[1]
        for outcome in tried
        if (found := _NAMED.match(getattr(outcome, "message", ""))) and found[1] in names
    ]
    return tuple(dict.fromkeys(told)) or _layers(case)


def _layers(case: ModelCase, *, is_reversed: bool = False) -> tuple[str, ...]:
    """Return one layer of each kind and configuration, in the order of the graph or against it."""
    nodes = [node for node in case.graph.nodes if node.layer != INPUT and not node.shares]
    if is_reversed:
        nodes.reverse()
    kinds: dict[str, str] = {}
    for node in nodes:
        kinds.setdefault(f"{node.layer} {sorted(node.config.items(), key=str)}", node.name)
    return tuple(kinds.values())


def _agrees_on_training(case: ModelCase, outputs: Mapping[str, Output]) -> bool:
    inputs = inputs_in(case)
    first, *others = outputs.values()
    return all(compare_outputs(first, other, inputs) is None for other in others)


def _agrees_on_saving(case: ModelCase, outputs: Mapping[str, Output]) -> bool:
    inputs = inputs_in(case)
    pairs = [(_part(out, "before"), _part(out, "after")) for out in outputs.values()]
    return all(
        before is None or after is None or compare_outputs(before, after, inputs) is None
        for before, after in pairs
    )


def _part(output: Output, key: str) -> Output | None:
    if isinstance(output, Container) and key in output.keys:
        return output.items[output.keys.index(key)]
    return None


def _count(output: Output | None) -> int:
    is_number = isinstance(output, Scalar) and output.text.isdigit()
    return int(output.text) if is_number and isinstance(output, Scalar) else 0


def _rows_of(case: ModelCase) -> int:
    return case.data[0].shape[0] if case.data and case.data[0].shape else 1


def _like(doubt: Suspicion, source: LayerNode, rows: int) -> Data:
    """Return numbers of the shape and range that one input of a layer had."""
    for node, data in zip(doubt.case.graph.inputs, doubt.case.data, strict=True):
        if node.name == source.name:
            return data
    sample = doubt.samples.get(source.name)
    low, high = (sample.low, sample.high) if sample is not None else (-1.0, 1.0)
    shape = (rows, *source.shape)
    if low == high:
        return ArrayValue(source.dtype, shape, Constant(low))
    return ArrayValue(source.dtype, shape, Uniform(doubt.case.seed % 65536, low, high))


def _target(rows: int, node: LayerNode) -> ArrayValue:
    return ArrayValue("float32", (rows, *node.shape), Uniform(17, -1.0, 1.0))
