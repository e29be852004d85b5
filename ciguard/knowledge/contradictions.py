"""Contradictions between two sources about one parameter: its type, dtypes, default or rank.

Only explicit statements of the library are compared, never guesses by rules or names. Two sources
agree if some value could satisfy both.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.knowledge import doc_types, type_hints, type_texts
from ciguard.knowledge.clues import Structure as S  # noqa: N817 - keeps the table below readable
from ciguard.knowledge.doc_types import ALIASES, KNOWN_DTYPES
from ciguard.knowledge.expressions import literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ciguard.domain.records import ApiRecord, ParameterRecord

_ALSO_ACCEPTED: dict[S, set[S]] = {
    S.NUMBER: {S.INT, S.FLOAT, S.BOOL, S.TENSOR},
    S.TENSOR: {S.NUMBER, S.INT, S.FLOAT, S.BOOL, S.TENSORS},
    S.INT: {S.INTS, S.FLOAT},
    S.FLOAT: {S.INT},
    S.INTS: {S.INT, S.TENSOR, S.FLOATS, S.SHAPES},
    S.FLOATS: {S.FLOAT, S.INTS, S.TENSOR},
    # torch's hints have `int` for a dtype, as TorchScript represents dtypes by ints.
    S.DTYPE: {S.STRING, S.INT},
    S.DEVICE: {S.STRING, S.INT},
}
"""Structures that do not contradict a structure, since a parameter often accepts them too."""
_DEFAULT = re.compile(
    r"\bdefault(?:s to|s|ed to| value| is| value is|ing to)?\s*[:=]?\s*(?:`{1,2}|\*+)?"
    r"(-?\d+(?:\.\d+)?(?:e-?\d+)?|True|False|None|'[^'`]*'|\"[^\"`]*\")(?![\w(.]*\w)",
    re.IGNORECASE,
)
_OF_TYPE = re.compile(r"(?:of type|of the following types:) ((?:`\w+`(?:, or |, | or )?)+)")
_RANK = re.compile(r"\b(\d)-?D\b")
_SHAPE = re.compile(r"\bshape\b[^.\[(`]{0,12}`?\[(\w[\w, ]*|)\]")


def contradictions(record: ApiRecord, parameter: ParameterRecord) -> Iterator[tuple[str, str]]:
    """Yield each contradiction: a clause for the report, and the documentation that proves it."""
    yield from _type_contradictions(record, parameter)
    yield from _dtype_contradictions(parameter)
    yield from _default_contradictions(parameter)
    yield from _rank_contradictions(parameter)


def _type_contradictions(
    record: ApiRecord, parameter: ParameterRecord
) -> Iterator[tuple[str, str]]:
    """Yield the contradiction between the documented type and the type in the signature, if any."""
    if not parameter.doc_type or not (parameter.schema_type or parameter.annotation):
        return
    documented_structures = [
        s for clue in doc_types.read(record, parameter) for s in clue.structures
    ]
    formal_clues = [*type_texts.read(record, parameter), *type_hints.read(record, parameter)]
    formal_structures = [s for clue in formal_clues for s in clue.structures]
    if not documented_structures or not formal_structures:
        return
    if S.OPAQUE in {*documented_structures, *formal_structures}:
        return
    if not _widened(documented_structures) & _widened(formal_structures):
        formal_type = parameter.schema_type or parameter.annotation
        clause = f"the description has {parameter.doc_type}, but the signature has {formal_type}"
        yield clause, parameter.doc_type


def _widened(structures: Iterable[S]) -> set[S]:
    """Return the structures, and further ones that such parameters often accept too."""
    return {
        accepted
        for structure in structures
        for accepted in (structure, *_ALSO_ACCEPTED.get(structure, ()))
    }


def _dtype_contradictions(parameter: ParameterRecord) -> Iterator[tuple[str, str]]:
    """Yield the contradiction between documented dtypes and those of the operator, if any."""
    match = _OF_TYPE.search(parameter.doc) if parameter.dtypes else None
    if not match:
        return
    words = re.findall(r"`(\w+)`", match.group(1))
    documented_dtypes = {ALIASES.get(word, word) for word in words} & KNOWN_DTYPES
    if documented_dtypes and documented_dtypes.isdisjoint(parameter.dtypes):
        dtype_list = ", ".join(sorted(documented_dtypes))
        yield (
            f"the description has {dtype_list}, but the operator accepts {parameter.dtypes[0]}",
            match.group(),
        )


def _default_contradictions(parameter: ParameterRecord) -> Iterator[tuple[str, str]]:
    """Yield the contradiction between the default in prose and in the signature, if any."""
    text = f"{parameter.doc_type}; {parameter.doc}"
    if not isinstance(parameter.default, str) or "efault" not in text:
        return
    claims = list(_DEFAULT.finditer(text))
    try:
        actual = literal(parameter.default)
    except ValueError:
        return
    # None mostly means that the function chooses a value, and the description states which.
    if actual is None or isinstance(actual, tuple | list | dict):
        return
    if claims and not any(_is_equal_default(actual, claim.group(1)) for claim in claims):
        first = claims[0]
        yield (
            f"the description has default {first.group(1)}, but the signature has {actual!r}",
            first.group(),
        )


def _is_equal_default(actual_value: object, claim: str) -> bool:
    documented_value = literal(claim[0].upper() + claim[1:] if claim[0].isalpha() else claim)
    return bool(actual_value == documented_value) or str(actual_value) == str(documented_value)


def _rank_contradictions(parameter: ParameterRecord) -> Iterator[tuple[str, str]]:
    """Yield the contradiction between rank and shape: `A 4-D tensor of shape [rows, columns]`."""
    if "shape" not in parameter.doc:
        return
    ranks, shapes = set(_RANK.findall(parameter.doc)), _SHAPE.findall(parameter.doc)
    if len(ranks) != 1 or len(shapes) != 1:
        return
    (rank,) = ranks
    sizes = [size for size in shapes[0].split(",") if size.strip()]
    if len(sizes) != int(rank):
        yield f"the description has {rank}-D, but also the shape [{shapes[0]}]", shapes[0]
