"""Types as libraries write them: torch's `int[2]?`, TensorFlow's `list(int)`."""

from __future__ import annotations

import re
from dataclasses import dataclass
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
_FEW = 4
_ALIASING = re.compile(r"\([a-z]!?(?:\s*->\s*\*)?\)")
_LIST = re.compile(r"(.+)\[(\d*)\]")
_TENSORFLOW_LIST = re.compile(r"list\((\w+)\)")


@dataclass(frozen=True, slots=True)
class TypeText:
    """A type as read from a schema."""

    structures: tuple[Structure, ...]
    nullable: bool = False
    length: int | None = None


def parse_type(text: str) -> TypeText | None:
    """Read a schema type; None for what is no type that we know."""
    bare = _ALIASING.sub("", text).strip()
    nullable = bare.endswith("?")
    bare = bare.removesuffix("?")
    listed = _TENSORFLOW_LIST.fullmatch(bare)
    if listed:
        return _list_type(listed.group(1), "", nullable=nullable)
    listed = _LIST.fullmatch(bare)
    if listed:
        return _list_type(listed.group(1), listed.group(2), nullable=nullable)
    structure = _SCALARS.get(bare.lower())
    return TypeText((structure,), nullable) if structure else None


def _list_type(item: str, length: str, *, nullable: bool) -> TypeText | None:
    structure = _SCALARS.get(item.removesuffix("?").lower())
    many = LIST_OF.get(structure) if structure else None
    if structure is None or many is None:
        return None
    if not length:
        return TypeText((many,), nullable)
    # torch takes one number where a list of fixed length is asked for, and repeats it.
    return TypeText((many, structure), nullable, int(length))


def read(record: ApiRecord, parameter: ParameterRecord) -> list[Clue]:
    """Read the operator definition or schema behind a parameter."""
    source = ClueSource.OPDEF if record.source == "opdef" else ClueSource.SCHEMA
    clues = []
    parsed = parse_type(parameter.schema_type)
    if parsed:
        clues.append(_type_clue(parsed, parameter, source))
    if parameter.dtypes or parameter.same_dtype_as:
        clues.append(
            Clue(
                source=source,
                evidence=_listed(parameter.dtypes),
                dtypes=parameter.dtypes,
                dtype_of=parameter.same_dtype_as,
            )
        )
    return clues


def _listed(dtypes: tuple[str, ...]) -> str:
    """Return the dtypes for people; the record has them all."""
    more = f", and {len(dtypes) - _FEW} more" if len(dtypes) > _FEW else ""
    return f"dtypes {', '.join(dtypes[:_FEW])}{more}".strip()


def _type_clue(parsed: TypeText, parameter: ParameterRecord, source: ClueSource) -> Clue:
    is_list = any(structure in LIST_OF.values() for structure in parsed.structures)
    length = parameter.length if parameter.length is not None else parsed.length
    least = parameter.minimum if is_list and parameter.minimum is not None else None
    lengths = (length, length) if length is not None else None
    if lengths is None and least is not None:
        # The minimum is nearly always also the length that works (`ksize` has 4 or more: 4).
        lengths = (least, least if least > 1 else least + 3)
    return Clue(
        source=source,
        evidence=parameter.schema_type,
        structures=parsed.structures,
        nullable=parsed.nullable or None,
        length=lengths,
        low=parameter.minimum if not is_list else None,
        allowed=_literals(parameter.allowed) if Structure.STRING in parsed.structures else (),
    )


def _literals(texts: tuple[str, ...]) -> tuple[Value, ...]:
    return tuple(map(LiteralValue, texts))
