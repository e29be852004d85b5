"""Which layers of a model are to be looked at alone, because targets do not agree on the model.

A run of a model brings back a sample of what every layer computed (`layers` in its result). Where
targets disagree, the layers at which the disagreement grows are suspects, the most suspicious first
(LEMON, section 3.3). A suspect proves nothing: what counts is what it does alone, with the same
input on every target.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from ciguard.domain.models import INPUT, ONE_LAYER, Check, DataSample, LayerGraph, LayerNode
from ciguard.domain.outcomes import Exhausted, Passed, Rejected, Stage
from ciguard.domain.values import ArrayValue, Constant, Uniform
from ciguard.execution import Container, decode_outputs
from ciguard.levels.model.inconsistency import EPSILON, change_rates
from ciguard.levels.model.layer_samples import LayerSample, deviation, layer_samples, part
from ciguard.oracles import elected, inputs_in
from ciguard.oracles.comparing import compare_outputs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.domain.models import Data, ModelCase
    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Output

_MIN_DEVIATION = 1e-5
"""Of a layer's output, relative to its largest sampled element: below that it is rounding."""
_MAX_SUSPECTS = 3
"""Layers that are tried where samples tell which; where nothing tells, all are."""
_NAMED = re.compile(r"\A(?:.{0,60}?: )?layer '([A-Za-z0-9_.\-/>]{1,200})': ")
"""How a worker begins the message of what a layer raised."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSuspicion:
    """A model on which targets disagree."""

    case: ModelCase
    """The run of the whole model."""
    suspects: tuple[str, ...]
    """Names of its layers, in the order in which they are to be looked at."""
    hidden: tuple[str, ...] = ()
    """Layers that take what deviates already: what they make of it tells nothing of them."""
    deviations: tuple[tuple[str, float], ...] = ()
    """R_a of every layer, in the order of the graph, between the two targets that differ most."""
    samples: Mapping[str, LayerSample]
    """What the layers computed on the elected target; empty where no target got to the end."""
    witness: str = ""
    """The elected target, if it got to the end."""


def suspicion(case: ModelCase, outcomes: Mapping[str, Outcome]) -> ModelSuspicion | None:
    """Return what to look at in a model, None where all targets agree or all refuse it.

    Args:
        case: the run of a whole model.
        outcomes: by target.
    """
    tried = {name: outcome for name, outcome in outcomes.items() if _was_tried(outcome)}
    outputs = {
        name: output
        for name, outcome in tried.items()
        if isinstance(outcome, Passed) and (output := decode_outputs(outcome.encoded)) is not None
    }
    if not tried:
        return None
    samples = {name: layer_samples(output) for name, output in outputs.items()}
    witness = _elected(case, outputs) if outputs else ""
    known = samples.get(witness, {})
    deltas = _deltas(samples, witness) if witness else {}
    deviations: tuple[tuple[str, float], ...] = ()
    if len(outputs) < len(tried):
        suspects = _of_ends(case, tried)
    elif case.check is Check.PREDICT:
        deviations, suspects = _deviating_layers(case, deltas, known)
    else:
        suspects = _of_other_checks(case, outputs)
    if not suspects:
        return None
    return ModelSuspicion(
        case=case,
        suspects=suspects,
        hidden=_hidden(case, deltas, known, suspects) if deviations else (),
        deviations=deviations,
        samples=known,
        witness=witness,
    )


def _of_other_checks(case: ModelCase, outputs: Mapping[str, Output]) -> tuple[str, ...]:
    """Return the suspects of a training step, or of a model that was saved."""
    if case.check is Check.SAVE:
        return () if _agrees_on_saving(case, outputs) else _layers(case, is_reversed=True)
    if _agrees_on_training(case, outputs):
        return ()
    return _nearest_first(case, outputs, _layers(case, is_reversed=True))


def isolated(doubt: ModelSuspicion, name: str, data: Sequence[Data] = ()) -> ModelCase:
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
    given = tuple(data) or tuple(
        _like(doubt, source, rows, place) for place, source in enumerate(sources)
    )
    # One tensor that is given twice stays one: its gradient is the sum, however that is shared out.
    known = {source.name: value for source, value in zip(sources, given, strict=True)}
    names = {source: f"x{place}" for place, source in enumerate(known)}
    inputs = tuple(
        LayerNode(
            name=names[source], layer=INPUT, shape=value.shape[1:], dtype=graph.node(source).dtype
        )
        for source, value in known.items()
    )
    layer = replace(
        owner,
        name=ONE_LAYER,
        inputs=tuple(names[source.name] for source in sources),
        as_list=node.as_list,
        shape=node.shape,
        shares="",
    )
    rows = given[0].shape[0] if given else rows
    return replace(
        doubt.case,
        api=node.layer,
        graph=LayerGraph(nodes=(*inputs, layer), outputs=(ONE_LAYER,)),
        data=tuple(known.values()),
        truth=_target(rows, node),
        origin=replace(doubt.case.origin, deviations=doubt.deviations, suspect=name),
    )


_Deltas: TypeAlias = "dict[str, dict[str, float]]"
"""Δ of every layer, by target, against the elected one."""


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
    """Return R_a of every layer against the target that differs most, and the suspects."""
    sources = {node.name: node.inputs for node in case.graph.nodes}
    found: dict[str, float] = {}
    shown: tuple[tuple[str, float], ...] = ()
    for by_layer in deltas.values():
        rates = change_rates(by_layer, sources)
        suspects = {
            name: rates[name]
            for name, delta in by_layer.items()
            if _is_beyond_rounding(delta, reference[name]) and rates.get(name, 0.0) > 1.0
        }
        if suspects and max(suspects.values()) > max(found.values(), default=0.0):
            shown = tuple(
                (node.name, rates[node.name]) for node in case.graph.nodes if node.name in rates
            )
        for name, rate in suspects.items():
            found[name] = max(rate, found.get(name, 0.0))
    ranked = sorted(found, key=lambda name: -found[name])
    return shown, tuple(ranked[:_MAX_SUSPECTS])


def _hidden(
    case: ModelCase,
    deltas: _Deltas,
    reference: Mapping[str, LayerSample],
    suspects: tuple[str, ...],
) -> tuple[str, ...]:
    """Return one layer of each kind that is no suspect and takes what deviates already."""
    deviating = {
        name
        for by_layer in deltas.values()
        for name, delta in by_layer.items()
        if _is_beyond_rounding(delta, reference[name])
    }
    behind = {node.name for node in case.graph.nodes if deviating.intersection(node.inputs)}
    return tuple(name for name in _layers(case) if name in behind and name not in suspects)


def _is_beyond_rounding(delta: float, reference: LayerSample) -> bool:
    return delta > _MIN_DEVIATION * _scale(reference)


def _scale(sample: LayerSample) -> float:
    return max(abs(sample.low), abs(sample.high), EPSILON)


def _elected(case: ModelCase, outputs: Mapping[str, Output]) -> str:
    inputs = inputs_in(case)
    return elected(outputs, lambda one, other: compare_outputs(one, other, inputs) is None)


def _was_tried(outcome: Outcome) -> bool:
    """Return whether a run says something: not of a target that lacks a layer, or the memory."""
    is_unable = isinstance(outcome, Rejected) and outcome.stage is not Stage.CALL
    return not is_unable and not isinstance(outcome, Exhausted)


def _of_ends(case: ModelCase, outcomes: Mapping[str, Outcome]) -> tuple[str, ...]:
    """Return the suspects where not every target got to the end; none if all refuse."""
    if all(isinstance(outcome, Rejected) for outcome in outcomes.values()):
        return ()
    names = {node.name for node in case.graph.nodes if node.layer != INPUT}
    told = [
        found[1]
        for outcome in outcomes.values()
        if (found := _NAMED.match(getattr(outcome, "message", ""))) and found[1] in names
    ]
    # What a layer is given may be the fault of those before it: the nearest come next.
    before = [name for name in _layers(case, is_reversed=True) if _is_before(case, name, told)]
    return tuple(dict.fromkeys([*told, *before])) or _layers(case)


def _is_before(case: ModelCase, name: str, told: Sequence[str]) -> bool:
    order = [node.name for node in case.graph.nodes]
    return bool(told) and order.index(name) < max(map(order.index, told))


def _nearest_first(
    case: ModelCase, outputs: Mapping[str, Output], suspects: tuple[str, ...]
) -> tuple[str, ...]:
    """Put those first that stand where gradients, on their way back, begin to differ.

    Args:
        case: a training step on which targets disagree.
        outputs: of the targets.
        suspects: in the order in which gradients reach them.
    """
    inputs = inputs_in(case)
    first, *others = (_gradients(output) for output in outputs.values())
    differing = {
        key.partition("/")[0]
        for key, gradient in first.items()
        for other in others
        if key not in other or compare_outputs(gradient, other[key], inputs) is not None
    }
    agreeing = {key.partition("/")[0] for key in first} - differing
    places = [place for place, name in enumerate(suspects) if name in differing]
    if not places:
        return suspects
    # The last layer on the way whose own gradients are right may hand on a wrong one.
    right = [place for place, name in enumerate(suspects[: places[0]]) if name in agreeing]
    start = right[-1] if right else 0
    return suspects[start:] + suspects[:start]


def _gradients(output: Output) -> dict[str, Output]:
    found = part(output, "gradients")
    return dict(zip(found.keys, found.items, strict=False)) if isinstance(found, Container) else {}


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
    pairs = [(part(out, "before"), part(out, "after")) for out in outputs.values()]
    return all(
        before is None or after is None or compare_outputs(before, after, inputs) is None
        for before, after in pairs
    )


def _rows_of(case: ModelCase) -> int:
    return case.data[0].shape[0] if case.data and case.data[0].shape else 1


def _like(doubt: ModelSuspicion, source: LayerNode, rows: int, place: int) -> Data:
    """Return numbers of the shape and range that one input of a layer had, others at each place."""
    for node, data in zip(doubt.case.graph.inputs, doubt.case.data, strict=True):
        if node.name == source.name and isinstance(data, DataSample):
            return ArrayValue(
                source.dtype, data.shape, Uniform((data.seed + place) % 65536, 0.0, 1.0)
            )
        if node.name == source.name:
            return data
    sample = doubt.samples.get(source.name)
    low, high = (sample.low, sample.high) if sample is not None else (-1.0, 1.0)
    shape = (rows, *source.shape)
    if low == high:
        return ArrayValue(source.dtype, shape, Constant(low))
    return ArrayValue(source.dtype, shape, Uniform((doubt.case.seed + place) % 65536, low, high))


def _target(rows: int, node: LayerNode) -> ArrayValue:
    return ArrayValue("float32", (rows, *node.shape), Uniform(17, -1.0, 1.0))
