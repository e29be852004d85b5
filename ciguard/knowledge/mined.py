"""Clues that mined rules extract from a parameter's documentation.

The rules were learned from the documentation of other versions of these libraries, see `mining`.
Each clue names its sentence and the rule that matched.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from ciguard.domain import dtypes as element_types
from ciguard.domain.values import LiteralValue
from ciguard.knowledge.clues import Clue, ClueSource, Structure
from ciguard.knowledge.mining import ExtractedConstraint, ParameterText, extract, shipped_rules
from ciguard.knowledge.mining.concrete import has_placeholder
from ciguard.knowledge.shape_texts import shapes_in, without_markup
from ciguard.knowledge.type_texts import LIST_OF
from ciguard.libraries import library_of_api

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.domain.records import ApiRecord, ParameterRecord
    from ciguard.knowledge.mining import MiningRule

_Fields: TypeAlias = dict[str, Any]
_Values: TypeAlias = dict[str, tuple[str, ...]]

_MAX_CACHED_TEXTS = 50_000
_MAX_QUOTE_LENGTH = 120
_FORMULA = re.compile(r":math:`([^`]{0,300})`")
_INTERVAL = re.compile(r"([\[(])(-?[\d.]+|-inf),(-?[\d.]+|inf)([\])])")
_NON_NEGATIVE = "[0,inf)"
_SCALAR_NAME = r"(?:float|int|bool|complex|number|scalar)"
_TENSOR_OR_SCALAR = re.compile(
    rf"\bTensors?\W{{1,4}}(?:or|,|\|)\W{{1,4}}(?:an? )?{_SCALAR_NAME}\b(?!\W{{1,3}}Tensor)"
    rf"|\b{_SCALAR_NAME}s?\W{{1,4}}(?:or|,|\|)\W{{1,4}}(?:a )?Tensor\b",
    re.IGNORECASE,
)
_MIN_CONFIDENCE = 0.8
"""Minimum confidence of a rule whose result becomes a clue: a wrong clue is worse than none."""
_MAX_RANK = 6
_TYPICAL_MAX_RANK = 4
_SCALARS = {
    "int": Structure.INT,
    "float": Structure.FLOAT,
    "bool": Structure.BOOL,
    "string": Structure.STRING,
    "numeric": Structure.NUMBER,
}
_TENSOR_DTYPES = {
    "int": ("int32", "int64"),
    "float": ("float32", "float64"),
}
_KNOWN_DTYPES = frozenset((*element_types.NUMERIC, *element_types.BOOLEAN, "string"))
_NOT_STRINGS = {"True", "False", "None"}


def read(record: ApiRecord, parameter: ParameterRecord) -> list[Clue]:
    """Return the clues in the description and the documented type of a parameter."""
    if not parameter.doc and not parameter.doc_type:
        return []
    library = library_of_api(record.api)
    if library is None or not library.documentation:
        return []
    texts = parameter.doc + parameter.doc_type
    mentioned_parameters = tuple(p.name for p in record.parameters if p.name in texts)
    return list(
        _clues(library.documentation, parameter.doc, parameter.doc_type, mentioned_parameters)
    )


@lru_cache(maxsize=_MAX_CACHED_TEXTS)
def _clues(library: str, doc: str, doc_type: str, names: tuple[str, ...]) -> tuple[Clue, ...]:
    """Return the clues in one text; cached, since the APIs of a family share most texts."""
    text = ParameterText(
        library=library,
        api="",
        parameter="",
        description=_FORMULA.sub(lambda formula: without_markup(formula.group(1)), doc),
        doc_type=doc_type,
        parameters=names,
    )
    by_sentence: dict[str, list[ExtractedConstraint]] = {}
    for constraint in extract(text, shipped_rules(library)):
        by_sentence.setdefault(constraint.sentence, []).append(constraint)
    return tuple(
        clue for constraints in by_sentence.values() for clue in _sentence_clues(constraints)
    )


def _sentence_clues(constraints: Sequence[ExtractedConstraint]) -> list[Clue]:
    """Return the clues of one sentence, each with the rule that states it."""
    values: _Values = {constraint.field: constraint.values for constraint in constraints}
    by_field = {constraint.field: constraint for constraint in constraints}
    kind = by_field.get("structure") or by_field.get("dtype")
    candidates: list[tuple[ExtractedConstraint | None, _Fields]] = [
        (kind, _structures(values)),
        (by_field.get("dtype"), {} if _names_scalar(constraints[0].sentence) else _dtypes(values)),
        (by_field.get("shape"), _shape(values)),
        (by_field.get("range"), _range(values)),
        (by_field.get("enum"), _allowed(values)),
    ]
    if rank := by_field.get("ndim"):
        candidates.append((rank, _ranks(values, rank.rule)))
    return [
        Clue(
            source=ClueSource.MINED_RULE,
            evidence=_shortened(constraint.sentence),
            rule=str(constraint.rule),
            **fields,
        )
        for constraint, fields in candidates
        if constraint and fields and constraint.rule.confidence >= _MIN_CONFIDENCE
    ]


def _shortened(sentence: str) -> str:
    sentence = " ".join(sentence.split())
    return (
        sentence if len(sentence) <= _MAX_QUOTE_LENGTH else sentence[: _MAX_QUOTE_LENGTH - 1] + "…"
    )


def _names_scalar(sentence: str) -> bool:
    """Return whether a word such as `float` names a scalar that may stand for a tensor."""
    return _TENSOR_OR_SCALAR.search(sentence) is not None


def _structures(values: _Values) -> _Fields:
    """Return the structures that the extracted values state."""
    kinds, dtypes = values.get("structure", ()), values.get("dtype", ())
    scalars = tuple(_SCALARS[name] for name in dtypes if name in _SCALARS)
    ranks = values.get("ndim", ())
    structures: list[Structure] = []
    if "tensor" in kinds:
        has_many = "list" in kinds or "tuple" in kinds
        structures.append(Structure.TENSORS if has_many else Structure.TENSOR)
    elif "list" in kinds or "tuple" in kinds or "1" in ranks:
        structures += [LIST_OF[scalar] for scalar in scalars if scalar in LIST_OF]
    if "dtype" in dtypes and not kinds:
        structures.append(Structure.DTYPE)
    if "0" in ranks and "tensor" not in kinds:
        structures += scalars
    return {"structures": tuple(dict.fromkeys(structures))} if structures else {}


def _dtypes(values: _Values) -> _Fields:
    """Return the dtypes of a tensor, or of a parameter of which only the dtypes are known."""
    names = values.get("dtype", ())
    reference = next((name[1:] for name in names if name.startswith("&")), "")
    is_tensor = values.get("structure", ()) == ("tensor",)
    dtypes = [
        name
        for documented_name in names
        for name in (
            _TENSOR_DTYPES.get(documented_name, (documented_name,))
            if is_tensor
            else (documented_name,)
        )
        if name in _KNOWN_DTYPES and (is_tensor or documented_name not in _SCALARS)
    ]
    fields: _Fields = {}
    if dtypes:
        fields["dtypes"] = tuple(dict.fromkeys(dtypes))
    if reference:
        fields["dtype_of"] = reference
    return fields


def _shape(values: _Values) -> _Fields:
    """Return the shape, or else the minimum rank, that the extracted values state."""
    if values.get("structure", ("tensor",)) != ("tensor",):
        return {}
    for value in values.get("shape", ()):
        if ">" in value or "<" in value:
            continue
        for shape in shapes_in(value):
            if isinstance(shape, int):
                return {"ndim": (shape, max(shape + 1, _TYPICAL_MAX_RANK))}
            return {"shape": shape}
    return {}


def _ranks(values: _Values, rule: MiningRule) -> _Fields:
    """Return the rank that the sentence states.

    A rule with a fixed rank, such as `( optional ) -> 0`, was learned from parameters that are
    mostly not tensors. Such a rule is ignored, since it does not apply to tensors.
    """
    if _shape(values) or not any(has_placeholder(value) for value in rule.values):
        return {}
    texts = values["ndim"]
    ranks = [int(value) for value in texts if value.isdecimal() and int(value) <= _MAX_RANK]
    if ranks:
        return {"ndim": (min(ranks), max(ranks))}
    minimums = [int(v[2:]) for v in texts if v.startswith(">=") and v[2:].isdecimal()]
    if minimums and minimums[0] <= _TYPICAL_MAX_RANK:
        return {"ndim": (minimums[0], max(minimums[0] + 1, _TYPICAL_MAX_RANK))}
    return {}


def _range(values: _Values) -> _Fields:
    """Return the limits of a range; empty for `[0, inf)`, which is left to better sources.

    Rules extract `[0, inf)` for every size, count and stride, although most must not be 0 either.
    """
    for value in values.get("range", ()):
        match = _INTERVAL.fullmatch(value)
        if match is None or value == _NON_NEGATIVE:
            continue
        opening, low, high, closing = match.groups()
        limits = {}
        if low != "-inf":
            # `positive` becomes `(0, inf)`; it mostly describes integers, so the minimum is 1.
            limits["low"] = float(low) + (1 if opening == "(" and high == "inf" else 0)
        if high != "inf":
            limits["high"] = float(high) - (1 if closing == ")" and low == "-inf" else 0)
        return limits
    return {}


def _allowed(values: _Values) -> _Fields:
    texts = values.get("enum", ())
    if len(texts) < 2 or any(_is_not_a_string(text) for text in texts):  # noqa: PLR2004 - a choice needs two values
        return {}
    return {"allowed": tuple(LiteralValue(text) for text in texts)}


def _is_not_a_string(text: str) -> bool:
    return text in _NOT_STRINGS or text in _KNOWN_DTYPES or not text.isidentifier()
