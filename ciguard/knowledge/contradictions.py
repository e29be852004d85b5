"""Where two sources say different things of one parameter: its type, dtypes, default, rank.

Only what a library states outright is compared, never what rules or names suggest. Sources agree
as long as one value could satisfy both.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.knowledge import doc_types, type_hints, type_texts
from ciguard.knowledge.clues import Structure as S  # noqa: N817 - a table of them follows
from ciguard.knowledge.doc_types import ALIASES, KNOWN_DTYPES
from ciguard.knowledge.expressions import literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ciguard.domain.records import ApiRecord, ParameterRecord

_ALSO_TAKE: dict[S, set[S]] = {
    S.NUMBER: {S.INT, S.FLOAT, S.BOOL, S.TENSOR},
    S.TENSOR: {S.NUMBER, S.INT, S.FLOAT, S.BOOL, S.TENSORS},
    S.INT: {S.INTS, S.FLOAT},
    S.FLOAT: {S.INT},
    S.INTS: {S.INT, S.TENSOR, S.FLOATS, S.SHAPES},
    S.FLOATS: {S.FLOAT, S.INTS, S.TENSOR},
    # torch's hints say `int` for a dtype, which is what TorchScript makes of it.
    S.DTYPE: {S.STRING, S.INT},
    S.DEVICE: {S.STRING, S.INT},
}
"""What a parameter of one structure is often given too: no contradiction."""
_DEFAULT = re.compile(
    r"\bdefault(?:s to|s|ed to| value| is| value is|ing to)?\s*[:=]?\s*(?:`{1,2}|\*+)?"
    r"(-?\d+(?:\.\d+)?(?:e-?\d+)?|True|False|None|'[^'`]*'|\"[^\"`]*\")(?![\w(.]*\w)",
    re.IGNORECASE,
)
_OF_TYPE = re.compile(r"(?:of type|of the following types:) ((?:`\w+`(?:, or |, | or )?)+)")
_RANK = re.compile(r"\b(\d)-?D\b")
_SHAPE = re.compile(r"\bshape\b[^.\[(`]{0,12}`?\[(\w[\w, ]*|)\]")


def contradictions(record: ApiRecord, parameter: ParameterRecord) -> Iterator[tuple[str, str]]:
    """Yield what is contradictory, as a clause for people and the words that say so."""
    yield from _of_types(record, parameter)
    yield from _of_dtypes(parameter)
    yield from _of_defaults(parameter)
    yield from _of_ranks(parameter)


def _of_types(record: ApiRecord, parameter: ParameterRecord) -> Iterator[tuple[str, str]]:
    if not parameter.doc_type or not (parameter.schema_type or parameter.annotation):
        return
    documented = [s for clue in doc_types.read(record, parameter) for s in clue.structures]
    formal = [*type_texts.read(record, parameter), *type_hints.read(record, parameter)]
    stated = [s for clue in formal for s in clue.structures]
    if not documented or not stated or S.OPAQUE in {*documented, *stated}:
        return
    if not _widened(documented) & _widened(stated):
        formal_type = parameter.schema_type or parameter.annotation
        said = f"the description says {parameter.doc_type}, the signature {formal_type}"
        yield said, parameter.doc_type


def _widened(structures: Iterable[S]) -> set[S]:
    return {wide for one in structures for wide in (one, *_ALSO_TAKE.get(one, ()))}


def _of_dtypes(parameter: ParameterRecord) -> Iterator[tuple[str, str]]:
    found = _OF_TYPE.search(parameter.doc) if parameter.dtypes else None
    if not found:
        return
    words = re.findall(r"`(\w+)`", found.group(1))
    said = {ALIASES.get(word, word) for word in words} & KNOWN_DTYPES
    if said and said.isdisjoint(parameter.dtypes):
        listed = ", ".join(sorted(said))
        yield (
            f"the description says {listed}, the operator takes {parameter.dtypes[0]}",
            (found.group()),
        )


def _of_defaults(parameter: ParameterRecord) -> Iterator[tuple[str, str]]:
    text = f"{parameter.doc_type}; {parameter.doc}"
    if not isinstance(parameter.default, str) or "efault" not in text:
        return
    claims = list(_DEFAULT.finditer(text))
    try:
        actual = literal(parameter.default)
    except ValueError:
        return
    # None mostly stands for "chosen below", and the description says what is chosen.
    if actual is None or isinstance(actual, tuple | list | dict):
        return
    if claims and not any(_is_same(actual, claim.group(1)) for claim in claims):
        first = claims[0]
        yield (
            f"the description says default {first.group(1)}, the signature {actual!r}",
            (first.group()),
        )


def _is_same(actual: object, claim: str) -> bool:
    said = literal(claim[0].upper() + claim[1:] if claim[0].isalpha() else claim)
    return bool(actual == said) or str(actual) == str(said)


def _of_ranks(parameter: ParameterRecord) -> Iterator[tuple[str, str]]:
    """Compare `A 4-D tensor` with `of shape [rows, columns]` in the same description."""
    if "shape" not in parameter.doc:
        return
    ranks, shapes = set(_RANK.findall(parameter.doc)), _SHAPE.findall(parameter.doc)
    if len(ranks) != 1 or len(shapes) != 1:
        return
    (rank,) = ranks
    sizes = [size for size in shapes[0].split(",") if size.strip()]
    if len(sizes) != int(rank):
        yield f"the description says {rank}-D, yet of shape [{shapes[0]}]", shapes[0]
