"""What mined rules read in a parameter's documentation, as clues.

The rules were learned from the documentation of other versions of these libraries; `mining` says
how. Each clue names the sentence and the rule behind it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from ciguard.domain import dtypes as element_types
from ciguard.domain.values import LiteralValue
from ciguard.knowledge.clues import Clue, ClueSource, Structure
from ciguard.knowledge.mining import Extracted, ParameterText, extract, shipped_rules
from ciguard.knowledge.mining.concrete import is_form
from ciguard.knowledge.shape_texts import shapes_in, without_markup
from ciguard.knowledge.type_texts import LIST_OF
from ciguard.libraries import library_of_api

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.domain.records import ApiRecord, ParameterRecord
    from ciguard.knowledge.mining import MiningRule

_Fields: TypeAlias = dict[str, Any]
_Values: TypeAlias = dict[str, tuple[str, ...]]

_MAX_REMEMBERED = 50_000
_MAX_QUOTED = 120
_FORMULA = re.compile(r":math:`([^`]{0,300})`")
_INTERVAL = re.compile(r"([\[(])(-?[\d.]+|-inf),(-?[\d.]+|inf)([\])])")
_NOT_NEGATIVE = "[0,inf)"
_SURE = 0.8
"""Confidence of a rule that generation follows: a wrong constraint costs more than none."""
_MAX_RANK = 6
_USUAL_RANK = 4
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
_NOT_TEXTS = {"True", "False", "None"}


def read(record: ApiRecord, parameter: ParameterRecord) -> list[Clue]:
    """Read the description and the documented type of a parameter."""
    if not parameter.doc and not parameter.doc_type:
        return []
    library = library_of_api(record.api)
    if library is None or not library.documentation:
        return []
    texts = parameter.doc + parameter.doc_type
    named = tuple(p.name for p in record.parameters if p.name in texts)
    return list(_clues(library.documentation, parameter.doc, parameter.doc_type, named))


@lru_cache(maxsize=_MAX_REMEMBERED)
def _clues(library: str, doc: str, doc_type: str, names: tuple[str, ...]) -> tuple[Clue, ...]:
    """Read one text; APIs of a family share most of theirs."""
    text = ParameterText(
        library=library,
        api="",
        parameter="",
        description=_FORMULA.sub(lambda formula: without_markup(formula.group(1)), doc),
        doc_type=doc_type,
        parameters=names,
    )
    by_sentence: dict[str, list[Extracted]] = {}
    for one in extract(text, shipped_rules(library)):
        by_sentence.setdefault(one.sentence, []).append(one)
    return tuple(clue for found in by_sentence.values() for clue in _clues_of(found))


def _clues_of(extracted: Sequence[Extracted]) -> list[Clue]:
    """Return the clues of one sentence, each with the rule that decided it."""
    values: _Values = {one.field: one.values for one in extracted}
    by_field = {one.field: one for one in extracted}
    kind = by_field.get("structure") or by_field.get("dtype")
    said: list[tuple[Extracted | None, _Fields]] = [
        (kind, _structures(values)),
        (by_field.get("dtype"), _dtypes(values)),
        (by_field.get("shape"), _shape(values)),
        (by_field.get("range"), _range(values)),
        (by_field.get("enum"), _allowed(values)),
    ]
    if ranked := by_field.get("ndim"):
        said.append((ranked, _ranks(values, ranked.rule)))
    return [
        Clue(
            source=ClueSource.MINED_RULE,
            evidence=_quoted(one.sentence),
            rule=str(one.rule),
            **fields,
        )
        for one, fields in said
        if one and fields and one.rule.confidence >= _SURE
    ]


def _quoted(sentence: str) -> str:
    sentence = " ".join(sentence.split())
    return sentence if len(sentence) <= _MAX_QUOTED else sentence[: _MAX_QUOTED - 1] + "…"


def _structures(values: _Values) -> _Fields:
    kinds, dtypes = values.get("structure", ()), values.get("dtype", ())
    scalars = tuple(_SCALARS[name] for name in dtypes if name in _SCALARS)
    ranks = values.get("ndim", ())
    found: list[Structure] = []
    if "tensor" in kinds:
        has_many = "list" in kinds or "tuple" in kinds
        found.append(Structure.TENSORS if has_many else Structure.TENSOR)
    elif "list" in kinds or "tuple" in kinds or "1" in ranks:
        found += [LIST_OF[scalar] for scalar in scalars if scalar in LIST_OF]
    if "dtype" in dtypes and not kinds:
        found.append(Structure.DTYPE)
    if "0" in ranks and "tensor" not in kinds:
        found += scalars
    return {"structures": tuple(dict.fromkeys(found))} if found else {}


def _dtypes(values: _Values) -> _Fields:
    """Return the element types of what is a tensor, or is only known by its element types."""
    names = values.get("dtype", ())
    reference = next((name[1:] for name in names if name.startswith("&")), "")
    is_tensor = values.get("structure", ()) == ("tensor",)
    exact = [
        name
        for given in names
        for name in (_TENSOR_DTYPES.get(given, (given,)) if is_tensor else (given,))
        if name in _KNOWN_DTYPES and (is_tensor or given not in _SCALARS)
    ]
    found: _Fields = {}
    if exact:
        found["dtypes"] = tuple(dict.fromkeys(exact))
    if reference:
        found["dtype_of"] = reference
    return found


def _shape(values: _Values) -> _Fields:
    if values.get("structure", ("tensor",)) != ("tensor",):
        return {}
    for value in values.get("shape", ()):
        if ">" in value or "<" in value:
            continue
        for shape in shapes_in(value):
            if isinstance(shape, int):
                return {"ndim": (shape, max(shape + 1, _USUAL_RANK))}
            return {"shape": shape}
    return {}


def _ranks(values: _Values, rule: MiningRule) -> _Fields:
    """Return the rank that the sentence names.

    A rule that has the rank itself, `( optional ) -> 0`, was learned from parameters that are
    mostly no tensors; of a tensor it says nothing.
    """
    if _shape(values) or not any(is_form(value) for value in rule.values):
        return {}
    texts = values["ndim"]
    ranks = [int(value) for value in texts if value.isdecimal() and int(value) <= _MAX_RANK]
    if ranks:
        return {"ndim": (min(ranks), max(ranks))}
    least = [int(v[2:]) for v in texts if v.startswith(">=") and v[2:].isdecimal()]
    if least and least[0] <= _USUAL_RANK:
        return {"ndim": (least[0], max(least[0] + 1, _USUAL_RANK))}
    return {}


def _range(values: _Values) -> _Fields:
    """Return the ends of a range. `Not negative` alone is left to sources that know more.

    It is what rules say of every size, count and stride, most of which must not be 0 either.
    """
    for value in values.get("range", ()):
        match = _INTERVAL.fullmatch(value)
        if match is None or value == _NOT_NEGATIVE:
            continue
        opening, low, high, closing = match.groups()
        found = {}
        if low != "-inf":
            # An open end next to infinity is said of whole numbers: `positive`.
            found["low"] = float(low) + (1 if opening == "(" and high == "inf" else 0)
        if high != "inf":
            found["high"] = float(high) - (1 if closing == ")" and low == "-inf" else 0)
        return found
    return {}


def _allowed(values: _Values) -> _Fields:
    texts = values.get("enum", ())
    if len(texts) < 2 or any(_is_no_text(text) for text in texts):  # noqa: PLR2004 - a choice
        return {}
    return {"allowed": tuple(LiteralValue(text) for text in texts)}


def _is_no_text(text: str) -> bool:
    return text in _NOT_TEXTS or text in _KNOWN_DTYPES or not text.isidentifier()
