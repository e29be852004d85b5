"""Types in operator schemas: torch's `int[2]?`, TensorFlow's `list(int)`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from ciguard.domain.values import LiteralValue
from ciguard.knowledge.clues import Clue, ClueSource, Structure

if TYPE_CHECKING:
    from ciguard.domain.records import ApiRecord, ParameterRecord
    from ciguard.domain.values import Value

_SCALARS = {
    "tensor": Structure.TENSOR,
    "int": Structure.INT,
    "symint": Structure.INT,
    "float": Structure.FLOAT,
    "double": Structure.FLOAT,
    "bool": Structure.BOOL,
    "symbool": Structure.BOOL,
    "str": Structure.STRING,
    "string": Structure.STRING,
    "scalar": Structure.NUMBER,
    "number": Structure.NUMBER,
    "scalartype": Structure.DTYPE,
    "dtype": Structure.DTYPE,
    "type": Structure.DTYPE,
    "layout": Structure.LAYOUT,
    "memoryformat": Structure.FORMAT,
    "device": Structure.DEVICE,
    "shape": Structure.INTS,
    "size": Structure.INTS,
    "func": Structure.OPAQUE,
    "generator": Structure.OPAQUE,
    "dimname": Structure.OPAQUE,
    "storage": Structure.OPAQUE,
    "stream": Structure.OPAQUE,
}
LIST_OF = {
    Structure.TENSOR: Structure.TENSORS,
    Structure.INT: Structure.INTS,
    Structure.INTS: Structure.SHAPES,
    Structure.FLOAT: Structure.FLOATS,
    Structure.NUMBER: Structure.FLOATS,
    Structure.BOOL: Structure.BOOLS,
    Structure.STRING: Structure.STRINGS,
    Structure.DTYPE: Structure.DTYPES,
}
"""Structure of a list, by the structure of its items."""
_MAX_LISTED_DTYPES = 4
_ALIASING = re.compile(r"\([a-z]!?(?:\s*->\s*\*)?\)")
_LIST = re.compile(r"(.+)\[(\d*)\]")
_TENSORFLOW_LIST = re.compile(r"list\((\w+)\)")


@dataclass(frozen=True, slots=True)
class TypeText:
    """Type that was parsed from a schema."""

    structures: tuple[Structure, ...]
    """Structures that a parameter of this type accepts."""
    nullable: bool = False
    """True if a parameter of this type accepts None."""
    length: int | None = None
    """Length of a list, if the type fixes it."""


@lru_cache(maxsize=4096)
def parse_type(text: str) -> TypeText | None:
    """Return the parsed schema type; None if it is not a known type."""
    bare_text = _ALIASING.sub("", text).strip()
    nullable = bare_text.endswith("?")
    bare_text = bare_text.removesuffix("?")
    list_match = _TENSORFLOW_LIST.fullmatch(bare_text)
    if list_match:
        return _list_type(list_match.group(1), "", nullable=nullable)
    list_match = _LIST.fullmatch(bare_text)
    if list_match:
        return _list_type(list_match.group(1), list_match.group(2), nullable=nullable)
    structure = _SCALARS.get(bare_text.lower())
    return TypeText((structure,), nullable) if structure else None


def _list_type(item: str, length: str, *, nullable: bool) -> TypeText | None:
    structure = _SCALARS.get(item.removesuffix("?").lower())
    list_structure = LIST_OF.get(structure) if structure else None
    if structure is None or list_structure is None:
        return None
    if not length:
        return TypeText((list_structure,), nullable)
    # torch accepts one number in place of a list of fixed length, and repeats it.
    return TypeText((list_structure, structure), nullable, int(length))


def read(record: ApiRecord, parameter: ParameterRecord) -> list[Clue]:
    """Return the clues that the operator's definition or schema contains for a parameter."""
    source = ClueSource.OPDEF if record.source == "opdef" else ClueSource.SCHEMA
    clues = []
    type_text = parse_type(parameter.schema_type)
    if type_text:
        clues.append(_type_clue(type_text, parameter, source))
    if parameter.dtypes or parameter.same_dtype_as:
        clues.append(
            Clue(
                source=source,
                evidence=_dtype_list_text(parameter.dtypes),
                dtypes=parameter.dtypes,
                dtype_of=parameter.same_dtype_as,
            )
        )
    return clues


def _dtype_list_text(dtypes: tuple[str, ...]) -> str:
    """Return a text with the first dtypes and the number of the others."""
    suffix = (
        f", and {len(dtypes) - _MAX_LISTED_DTYPES} more" if len(dtypes) > _MAX_LISTED_DTYPES else ""
    )
    return f"dtypes {', '.join(dtypes[:_MAX_LISTED_DTYPES])}{suffix}".strip()


def _type_clue(type_text: TypeText, parameter: ParameterRecord, source: ClueSource) -> Clue:
    """Return the clue for a parsed schema type."""
    is_list = any(structure in LIST_OF.values() for structure in type_text.structures)
    length = parameter.length if parameter.length is not None else type_text.length
    minimum = parameter.minimum if is_list and parameter.minimum is not None else None
    lengths = (length, length) if length is not None else None
    if lengths is None and minimum is not None:
        # The minimum length nearly always works: `ksize` must have 4 or more items, and 4 work.
        lengths = (minimum, minimum if minimum > 1 else minimum + 3)
    return Clue(
        source=source,
        evidence=parameter.schema_type,
        structures=type_text.structures,
        nullable=type_text.nullable or None,
        length=lengths,
        length_of=parameter.same_length_as,
        low=parameter.minimum if not is_list else None,
        allowed=_literals(parameter.allowed) if Structure.STRING in type_text.structures else (),
    )


def _literals(texts: tuple[str, ...]) -> tuple[Value, ...]:
    return tuple(map(LiteralValue, texts))
