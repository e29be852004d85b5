"""What Python itself says when a library's code meets an argument of the wrong kind."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.knowledge.clues import Structure
from ciguard.knowledge.refinement.traits import kind_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.domain.values import Value
    from ciguard.knowledge.refinement.requirements import Fields

_LACKS = re.compile(r"'([\w.]+)' object has no attribute '(\w+)'")
_IS_NOT = re.compile(r"'([\w.]+)' object (?:is not (\w+)|cannot be interpreted as an? (\w+))")
_LENGTH = re.compile(r"object of type '([\w.]+)' has no (len)\(\)")
_OPERANDS = re.compile(r"unsupported operand type\(s\) for \S+: '([\w.]+)' and '([\w.]+)'")
_AMBIGUOUS = re.compile(r"truth value of an? (?:array|Tensor)|Boolean value of Tensor|"
                        r"only (?:\d|one|integer|length)[- ]\S+ (?:arrays|tensors)")  # fmt: skip
_ATTRIBUTES = (
    (r"startswith|endswith|lower|upper|strip|split|encode|format|join|find", Structure.STRING),
    ((r"shape|dtype|ndim|rank|device|size|dim|is_complex|is_floating_point|numpy|get_shape|T|"
     r"to|clone|view|reshape|contiguous|numel|set_shape|requires_grad|layout|is_\w+|sum|mean"),
     Structure.TENSOR),
    (r"append|extend|index|pop|insert", Structure.INTS),
    (r"is_integer|hex|imag|real", Structure.FLOAT),
)  # fmt: skip
_COMPILED = tuple((re.compile(names), structure) for names, structure in _ATTRIBUTES)
_ABILITIES = {
    "iterable": (Structure.INTS, Structure.TENSOR),
    "subscriptable": (Structure.INTS, Structure.TENSOR),
    "len": (Structure.INTS,),
    "integer": (Structure.INT,),
}
_SCALARS = {"int", "float", "bool", "str", "complex", "bytes"}
_KINDS = {"NoneType": ("none",), "dict": ("dict",)}


def structures_missing(text: str, values: Mapping[str, Value]) -> dict[str, Fields]:
    """Return what kind of object a message wants, by the first parameter that has the wrong one.

    Args:
        text: the message.
        values: the arguments of the call, by parameter.
    """
    if _AMBIGUOUS.search(text):
        # A number or a switch was wanted; only a tensor is ambiguous. The last is most often it.
        tensors = [name for name, value in values.items() if kind_of(value) == "tensor"]
        return {tensors[-1]: _SCALAR} if len(tensors) > 1 else {}
    wanted, owner = _wanted(text)
    if not wanted:
        return {}
    kind = owner.rpartition(".")[2]
    for name, value in values.items():
        if _is_of(kind_of(value), kind):
            nullable: Fields = {"nullable": False} if kind == "NoneType" else {}
            return {name: {"structures": wanted, **nullable}}
    return {}


_SCALAR: Fields = {"structures": (Structure.INT, Structure.FLOAT, Structure.BOOL)}


def _wanted(text: str) -> tuple[tuple[Structure, ...], str]:
    found = _LACKS.search(text)
    if found:
        fitting = [s for names, s in _COMPILED if names.fullmatch(found.group(2))]
        return tuple(fitting[:1]), found.group(1)
    found = _IS_NOT.search(text) or _LENGTH.search(text)
    if found:
        ability = next(filter(None, found.groups()[1:]))
        return _ABILITIES.get(ability, ()), found.group(1)
    found = _OPERANDS.search(text)
    if found:
        odd = next((kind for kind in found.groups() if not kind.endswith("Tensor")), "")
        return ((Structure.TENSOR, Structure.NUMBER), odd) if odd in {"list", "str"} else ((), "")
    return (), ""


def _is_of(kind: str, name: str) -> bool:
    if name in _SCALARS:
        return kind == name
    if name in {"list", "tuple"}:
        return kind.startswith(("list of", "empty list"))
    if name.endswith(("Tensor", "Var", "ArrayImpl", "ndarray", "Array")):
        return kind == "tensor"
    return kind in _KINDS.get(name, ())
