"""From the record of an API to what is known of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ciguard.domain.records import ParameterKind
from ciguard.knowledge import (
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
)
"""One per source. Another source is one more module and one more entry here."""

_REFERENCES = ("dtype_of", "shape_of", "broadcast_with", "axis_of", "index_of", "length_of")
_SHAPED = {Structure.TENSOR, Structure.TENSORS}


def understand(record: ApiRecord, learned: Mapping[str, Sequence[Clue]] | None = None) -> Api:
    """Return what is known of an API: a constraint per parameter, and who said so.

    Args:
        record: what the library says of the API.
        learned: what earlier calls taught, by parameter.
    """
    heard = learned or {}
    merged = {
        p.name: merge([*_clues(record, p), *heard.get(p.name, ())]) for p in record.parameters
    }
    known = {name: clue for name, (clue, _) in merged.items()}
    lead = _lead(record, known)
    parameters = tuple(
        _parameter(
            parameter,
            _resolved(parameter.name, known, lead),
            merged[parameter.name][1],
            lacks=record.lacks,
        )
        for parameter in record.parameters
    )
    return Api(record=record, parameters=parameters, inputs=layers.inputs(record))


def _clues(record: ApiRecord, parameter: ParameterRecord) -> list[Clue]:
    return [clue for reader in READERS for clue in reader(record, parameter)]


def _lead(record: ApiRecord, known: dict[str, Clue]) -> str:
    """Return the first parameter that is surely a tensor, else the first that may be one."""
    shaped = [p.name for p in record.parameters if _SHAPED & set(known[p.name].structures)]
    required = [p.name for p in record.parameters if p.required and p.name in shaped]
    unsaid = [p.name for p in record.parameters if p.required and not known[p.name].structures]
    return next(iter([*required, *shaped, *unsaid]), "")


def _resolved(name: str, known: dict[str, Clue], lead: str) -> Clue:
    """Replace references to the lead by its name, drop dangling ones, and follow the lead.

    A tensor of whose shape nothing is said most often has, or broadcasts with, the lead's.
    """
    clue = known[name]
    resolved: dict[str, Any] = {"shape": _resolved_shape(clue.shape, lead)}
    for field in _REFERENCES:
        target = getattr(clue, field)
        target = lead if target == LEAD else target
        # Nothing refers to itself, and a parameter of another overload is not there to refer to.
        resolved[field] = "" if target == name or target not in known else target
    clue = replace(clue, **resolved)
    if not lead or name == lead or known[lead].structures == (Structure.TENSORS,):
        return clue
    says_shape = clue.ndim or clue.shape is not None or clue.shape_of or clue.broadcast_with
    is_tensor = bool(_SHAPED & set(clue.structures)) or not clue.structures
    if is_tensor and not says_shape:
        clue = replace(clue, broadcast_with=lead)
    if is_tensor and not clue.dtypes and not clue.dtype_of:
        clue = replace(clue, dtype_of=lead)
    return clue


def _resolved_shape(shape: tuple[Dim, ...] | None, lead: str) -> tuple[Dim, ...] | None:
    if shape is None:
        return None
    at_lead = RankOf(LEAD)
    return tuple(RankOf(lead) if dim == at_lead else dim for dim in shape)


def _parameter(
    parameter: ParameterRecord,
    clue: Clue,
    evidence: tuple[ConstraintEvidence, ...],
    *,
    lacks: tuple[str, ...],
) -> Parameter:
    opaque = clue.structures == (Structure.OPAQUE,)
    variadic = parameter.kind is ParameterKind.VAR_KEYWORD
    return Parameter(
        name=parameter.name,
        constraint=constraint_of(clue, lacks=lacks),
        kind=parameter.kind,
        required=parameter.required,
        is_generated=not opaque and not variadic,
        evidence=evidence,
    )
