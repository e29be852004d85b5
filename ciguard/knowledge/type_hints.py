"""Type hints as text: `Optional[Tensor]`, `int | tuple[int, int]`, `Literal['mean', 'sum']`."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from ciguard.domain.values import LiteralValue
from ciguard.knowledge.clues import Clue, ClueSource, Structure
from ciguard.knowledge.expressions import expression
from ciguard.knowledge.type_texts import LIST_OF

if TYPE_CHECKING:
    from ciguard.domain.records import ApiRecord, ParameterRecord
    from ciguard.domain.values import Value

_STRUCTURES_BY_NAME = {
    "Tensor": Structure.TENSOR,
    "TensorLike": Structure.TENSOR,
    "Parameter": Structure.TENSOR,
    "int": Structure.INT,
    "SymInt": Structure.INT,
    "_int": Structure.INT,
    "float": Structure.FLOAT,
    "_float": Structure.FLOAT,
    "bool": Structure.BOOL,
    "_bool": Structure.BOOL,
    "str": Structure.STRING,
    "Number": Structure.NUMBER,
    "dtype": Structure.DTYPE,
    "_dtype": Structure.DTYPE,
    "DType": Structure.DTYPE,
    "device": Structure.DEVICE,
    "Device": Structure.DEVICE,
    "DeviceLikeType": Structure.DEVICE,
    "layout": Structure.LAYOUT,
    "_layout": Structure.LAYOUT,
    "memory_format": Structure.FORMAT,
    "Size": Structure.INTS,
    "_size": Structure.INTS,
    "Callable": Structure.OPAQUE,
    "Generator": Structure.OPAQUE,
    "Module": Structure.OPAQUE,
}
_LISTS = {"list", "List", "tuple", "Tuple", "Sequence", "Iterable", "Collection"}
_UNIONS = {"Union", "Optional"}
_SIZE = re.compile(r"_(?:size|ratio|maybe)_(?:any_|opt_)?(\d|any)(?:_t|_opt_t)")
_MAX_CACHED_HINTS = 4096
_BROADCAST = re.compile(r"BroadcastingList(\d)")


def read(record: ApiRecord, parameter: ParameterRecord) -> list[Clue]:
    """Return the clue in a parameter's type hint."""
    del record
    return read_hint(parameter.annotation, ClueSource.ANNOTATION)


def read_hint(text: str, source: ClueSource) -> list[Clue]:
    """Return the clue in a type hint from any source."""
    return [*_clues(text, source)]


@lru_cache(maxsize=_MAX_CACHED_HINTS)
def _clues(text: str, source: ClueSource) -> tuple[Clue, ...]:
    tree = expression(text)
    if tree is None:
        return ()
    hint = _HintVisitor()
    hint.visit(tree)
    structures = tuple(dict.fromkeys(hint.structures))
    if not structures and not hint.allowed and not hint.nullable:
        return ()
    clue = Clue(
        source=source,
        evidence=text,
        structures=structures,
        allowed=tuple(hint.allowed),
        nullable=hint.nullable or None,
        length=hint.length,
    )
    return (clue,)


class _HintVisitor:
    """Visitor that collects the structures and values of one type hint."""

    def __init__(self) -> None:
        self.structures: list[Structure] = []
        self.allowed: list[Value] = []
        self.nullable = False
        self.length: tuple[int, int] | None = None

    def visit(self, node: ast.expr) -> None:
        """Collect the structures and values of a node."""
        match node:
            case ast.Constant(None):
                self.nullable = True
            case ast.Constant(str(text)):
                self._visit_quoted(text)
            case ast.BinOp(left, ast.BitOr(), right):
                self.visit(left)
                self.visit(right)
            case ast.Subscript(value, index):
                self._visit_subscript(_last_name(value), _subscript_items(index))
            case ast.Name() | ast.Attribute():
                self._visit_name(_last_name(node))
            case _:
                pass

    def _visit_quoted(self, text: str) -> None:
        tree = expression(text)
        if tree is not None:
            self.visit(tree)

    def _visit_name(self, name: str) -> None:
        size_match = _SIZE.fullmatch(name)
        if size_match:
            self.structures += [Structure.INTS, Structure.INT]
            if size_match.group(1).isdecimal():
                self.length = (int(size_match.group(1)),) * 2
            self.nullable |= "opt" in name
        elif name in _STRUCTURES_BY_NAME:
            self.structures.append(_STRUCTURES_BY_NAME[name])

    def _visit_subscript(self, name: str, items: list[ast.expr]) -> None:
        """Collect the structures of `NAME[ITEMS]`."""
        if name in _UNIONS:
            self.nullable |= name == "Optional"
            for item in items:
                self.visit(item)
        elif name == "Literal":
            self.allowed += [
                LiteralValue(item.value)
                for item in items
                if isinstance(item, ast.Constant) and not isinstance(item.value, type(...))
            ]
        elif name in _LISTS or _BROADCAST.fullmatch(name):
            self._visit_list(name, items)
        elif name == "Callable":
            self.structures.append(Structure.OPAQUE)

    def _visit_list(self, name: str, items: list[ast.expr]) -> None:
        """Collect the structure of a list or tuple, and its length if it is fixed."""
        inner = _HintVisitor()
        for item in items:
            inner.visit(item)
        self.structures += [LIST_OF[s] for s in inner.structures[:1] if s in LIST_OF]
        broadcast = _BROADCAST.fullmatch(name)
        if broadcast:
            self.structures += inner.structures[:1]
            self.length = (int(broadcast.group(1)),) * 2
        elif name in {"tuple", "Tuple"} and not _has_ellipsis(items):
            self.length = (len(items), len(items))


def _has_ellipsis(items: list[ast.expr]) -> bool:
    return any(isinstance(item, ast.Constant) and item.value is ... for item in items)


def _subscript_items(index: ast.expr) -> list[ast.expr]:
    return list(index.elts) if isinstance(index, ast.Tuple) else [index]


def _last_name(node: ast.expr) -> str:
    match node:
        case ast.Name(name):
            return name
        case ast.Attribute(_, name):
            return name
        case _:
            return ""
