"""Requirements in messages of the Python interpreter about an argument of the wrong type."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from ciguard.knowledge.clues import Structure
from ciguard.knowledge.refinement.requirements import MAX_CACHED_TEXTS
from ciguard.knowledge.refinement.traits import kind_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.domain.values import Value
    from ciguard.knowledge.refinement.requirements import Fields

_LACKS_ATTRIBUTE = re.compile(r"'([\w.]+)' object has no attribute '(\w+)'")
_LACKS_ABILITY = re.compile(
    r"'([\w.]+)' object (?:is not (\w+)|cannot be interpreted as an? (\w+))"
)
_LACKS_LENGTH = re.compile(r"object of type '([\w.]+)' has no (len)\(\)")
_OPERANDS = re.compile(r"unsupported operand type\(s\) for \S+: '([\w.]+)' and '([\w.]+)'")
_NEEDS_SCALAR = re.compile(r"truth value of an? (?:array|Tensor)|Boolean value of Tensor|"
                        r"only (?:\d|one|integer|length)[- ]\S+ (?:arrays|tensors)")  # fmt: skip
_STRUCTURES_BY_ATTRIBUTE = (
    (r"startswith|endswith|lower|upper|strip|split|encode|format|join|find", Structure.STRING),
    ((r"shape|dtype|ndim|rank|device|size|dim|is_complex|is_floating_point|numpy|get_shape|T|"
     r"to|clone|view|reshape|contiguous|numel|set_shape|requires_grad|layout|is_\w+|sum|mean"),
     Structure.TENSOR),
    (r"append|extend|index|pop|insert", Structure.INTS),
    (r"is_integer|hex|imag|real", Structure.FLOAT),
)  # fmt: skip
_ATTRIBUTE_PATTERNS = tuple(
    (re.compile(names), structure) for names, structure in _STRUCTURES_BY_ATTRIBUTE
)
_STRUCTURES_BY_ABILITY = {
    "iterable": (Structure.INTS, Structure.TENSOR),
    "subscriptable": (Structure.INTS, Structure.TENSOR),
    "len": (Structure.INTS,),
    "integer": (Structure.INT,),
}
_SCALARS = {"int", "float", "bool", "str", "complex", "bytes"}
_KINDS = {"NoneType": ("none",), "dict": ("dict",)}


def demanded_structures(text: str, values: Mapping[str, Value]) -> dict[str, Fields]:
    """Return the demanded structures of the first parameter with a wrong type; empty if none.

    Args:
        text: the message, without text that the library adds to every message.
        values: the arguments of the call, by parameter.
    """
    if _needs_scalar(text):
        # A tensor was passed for an expected scalar; mostly it is the last of several tensors.
        tensors = [name for name, value in values.items() if kind_of(value) == "tensor"]
        return {tensors[-1]: _SCALAR} if len(tensors) > 1 else {}
    expected, qualified_type = _expected_structures(text)
    if not expected:
        return {}
    type_name = qualified_type.rpartition(".")[2]
    for name, value in values.items():
        if _matches_type(kind_of(value), type_name):
            nullable: Fields = {"nullable": False} if type_name == "NoneType" else {}
            return {name: {"structures": expected, **nullable}}
    return {}


_SCALAR: Fields = {"structures": (Structure.INT, Structure.FLOAT, Structure.BOOL)}


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def _needs_scalar(text: str) -> bool:
    return _NEEDS_SCALAR.search(text) is not None


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def _expected_structures(text: str) -> tuple[tuple[Structure, ...], str]:
    """Return the structures that a message expects, and the name of the argument's actual type."""
    match = _LACKS_ATTRIBUTE.search(text)
    if match:
        structures = [s for names, s in _ATTRIBUTE_PATTERNS if names.fullmatch(match.group(2))]
        return tuple(structures[:1]), match.group(1)
    match = _LACKS_ABILITY.search(text) or _LACKS_LENGTH.search(text)
    if match:
        ability = next(filter(None, match.groups()[1:]))
        return _STRUCTURES_BY_ABILITY.get(ability, ()), match.group(1)
    match = _OPERANDS.search(text)
    if match:
        wrong_type = next((kind for kind in match.groups() if not kind.endswith("Tensor")), "")
        return (
            ((Structure.TENSOR, Structure.NUMBER), wrong_type)
            if wrong_type in {"list", "str"}
            else ((), "")
        )
    return (), ""


def _matches_type(kind: str, type_name: str) -> bool:
    """Return whether arguments of a kind, see `kind_of`, have the type that a message names."""
    if type_name in _SCALARS:
        return kind == type_name
    if type_name in {"list", "tuple"}:
        return kind.startswith(("list of", "empty list"))
    if type_name.endswith(("Tensor", "Var", "ArrayImpl", "ndarray", "Array")):
        return kind == "tensor"
    return kind in _KINDS.get(type_name, ())
