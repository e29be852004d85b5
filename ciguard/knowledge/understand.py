"""Turns an API's record into constraints on its parameters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ciguard.domain.records import ParameterKind
from ciguard.knowledge import (
    classes,
    defaults,
    doc_phrases,
    doc_types,
    families,
    layers,
    mined,
    names,
    type_hints,
    type_texts,
)
from ciguard.knowledge.api import Api, ConstraintEvidence, Parameter
from ciguard.knowledge.clues import LEAD, Clue, Reader, Structure
from ciguard.knowledge.compose import constraint_of
from ciguard.knowledge.merge import merge
from ciguard.values import Dim, RankOf

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.domain.records import ApiRecord, ParameterRecord

READERS: tuple[Reader, ...] = (
    type_texts.read,
    type_hints.read,
    doc_types.read,
    families.read,
    doc_phrases.read,
    mined.read,
    defaults.read,
    names.read,
    classes.read,
)
"""Readers of all sources. To add a source, add its module and an entry here."""

_REFERENCES = ("dtype_of", "shape_of", "broadcast_with", "axis_of", "index_of", "length_of")
_SHAPED = {Structure.TENSOR, Structure.TENSORS}


def understand(record: ApiRecord) -> Api:
    """Return the API with a constraint on each parameter, and the evidence for it."""
    return _composed(record, _own_clues(record), {})


def from_clues(record: ApiRecord, clues: Mapping[str, tuple[Clue, ...]]) -> Api:
    """Return the API with the constraints that given clues state, by parameter."""
    return _composed(record, clues, {})


def with_learned_clues(api: Api, learned: Mapping[str, Sequence[Clue]]) -> Api:
    """Return the API with further clues, from the outcomes of earlier calls, by parameter."""
    return _composed(api.record, api.clues or _own_clues(api.record), learned)


def _composed(
    record: ApiRecord,
    own_clues: Mapping[str, tuple[Clue, ...]],
    learned: Mapping[str, Sequence[Clue]],
) -> Api:
    merged = {
        name: merge([*clues, *learned[name]] if name in learned else clues)
        for name, clues in own_clues.items()
    }
    clues = {name: clue for name, (clue, _) in merged.items()}
    lead = _leading_tensor(record, clues)
    parameters = tuple(
        _parameter(
            parameter,
            _resolved_clue(parameter.name, clues, lead),
            merged[parameter.name][1],
            unsupported_dtypes=record.lacks,
        )
        for parameter in record.parameters
    )
    return Api(record=record, parameters=parameters, inputs=layers.inputs(record), clues=own_clues)


def _own_clues(record: ApiRecord) -> dict[str, tuple[Clue, ...]]:
    """Return the clues of the library's own sources, by parameter."""
    return {
        parameter.name: tuple([clue for reader in READERS for clue in reader(record, parameter)])
        for parameter in record.parameters
    }


def _leading_tensor(record: ApiRecord, clues: dict[str, Clue]) -> str:
    """Return the first parameter that is certainly a tensor, else the first that may be one."""
    tensor_names = [p.name for p in record.parameters if _SHAPED & set(clues[p.name].structures)]
    required_tensors = [p.name for p in record.parameters if p.required and p.name in tensor_names]
    unknown_names = [
        p.name for p in record.parameters if p.required and not clues[p.name].structures
    ]
    return next(iter([*required_tensors, *tensor_names, *unknown_names]), "")


def _resolved_clue(name: str, clues: dict[str, Clue], lead: str) -> Clue:
    """Return the clue with `LEAD` replaced by the leading tensor, and without dangling references.

    A tensor without a known shape mostly has the leading tensor's shape, or broadcasts with it.
    """
    clue = clues[name]
    resolved_fields: dict[str, Any] = {"shape": _resolved_shape(clue.shape, lead)}
    for field in _REFERENCES:
        target = getattr(clue, field)
        target = lead if target == LEAD else target
        # Drop references to the parameter itself and to parameters of other overloads.
        resolved_fields[field] = "" if target == name or target not in clues else target
    clue = _changed(clue, resolved_fields)
    if not lead or name == lead or clues[lead].structures == (Structure.TENSORS,):
        return clue
    has_known_shape = clue.ndim or clue.shape is not None or clue.shape_of or clue.broadcast_with
    is_tensor = bool(_SHAPED & set(clue.structures)) or not clue.structures
    relations = {}
    if is_tensor and not has_known_shape:
        relations["broadcast_with"] = lead
    if is_tensor and not clue.dtypes and not clue.dtype_of:
        relations["dtype_of"] = lead
    return _changed(clue, relations)


def _changed(clue: Clue, changes: Mapping[str, Any]) -> Clue:
    """Return the clue with other values of some fields; the same clue if no value differs."""
    is_same = all(getattr(clue, name) == value for name, value in changes.items())
    return clue if is_same else replace(clue, **changes)


def _resolved_shape(shape: tuple[Dim, ...] | None, lead: str) -> tuple[Dim, ...] | None:
    """Return the shape with `LEAD` replaced by the leading tensor's name."""
    if shape is None:
        return None
    lead_rank = RankOf(LEAD)
    return tuple(RankOf(lead) if dim == lead_rank else dim for dim in shape)


def _parameter(
    parameter: ParameterRecord,
    clue: Clue,
    evidence: tuple[ConstraintEvidence, ...],
    *,
    unsupported_dtypes: tuple[str, ...],
) -> Parameter:
    """Return the parameter with the constraint that its resolved clue states."""
    is_opaque = clue.structures == (Structure.OPAQUE,)
    is_variadic = parameter.kind is ParameterKind.VAR_KEYWORD
    return Parameter(
        name=parameter.name,
        constraint=constraint_of(clue, unsupported=unsupported_dtypes),
        kind=parameter.kind,
        required=parameter.required,
        is_generated=not is_opaque and not is_variadic,
        evidence=evidence,
    )
