"""The functions of a module that can be annotated, and what stands there already."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.sources import Function

if TYPE_CHECKING:
    from collections.abc import Iterator

_CALLED = {"__init__", "__call__", "__getitem__"}
"""Methods with such names that are called on purpose."""
_APART = {"generator", "exclude"}


@dataclass(frozen=True, slots=True)
class UnannotatedFunction:
    """A function or method to annotate."""

    name: str
    """Path in the module, `Tokenizer.fit`."""
    node: Function
    owner: str
    """Its class; empty for a function."""
    annotated: dict[str, ast.expr]
    """Arguments that have an annotation, with what it says."""
    is_excluded: bool

    @property
    def parameters(self) -> dict[str, ast.arg]:
        """The arguments that a caller gives, in order; not those with stars."""
        arguments = self.node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        is_bound = self.owner and not _is_static(self.node)
        return {item.arg: item for item in (every[1:] if is_bound else every)}

    @property
    def positional(self) -> list[str]:
        """Names of those that may be given by position."""
        apart = {item.arg for item in self.node.args.kwonlyargs}
        return [name for name in self.parameters if name not in apart]

    @property
    def defaults(self) -> dict[str, ast.expr]:
        """What arguments are that a caller may leave out."""
        arguments = self.node.args
        placed = [*arguments.posonlyargs, *arguments.args]
        tail = placed[len(placed) - len(arguments.defaults) :]
        found = dict(zip((item.arg for item in tail), arguments.defaults, strict=True))
        pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        return found | {item.arg: value for item, value in pairs if value is not None}

    @property
    def first_line(self) -> int:
        """Line, from 1, of its first decorator, or of its own."""
        return min([self.node.lineno, *(item.lineno for item in self.node.decorator_list)])


def subjects_of(tree: ast.Module) -> list[UnannotatedFunction]:
    """Return the functions of a module and the methods of its classes."""
    return list(_within(tree.body, ""))


def _within(body: list[ast.stmt], owner: str) -> Iterator[UnannotatedFunction]:
    for node in body:
        if isinstance(node, Function):
            special = node.name.startswith("__") and node.name.endswith("__")
            if special and node.name not in _CALLED:
                continue
            name = f"{owner}.{node.name}" if owner else node.name
            annotated = _annotated(node)
            yield UnannotatedFunction(name, node, owner, annotated, _is_apart(node))
        elif isinstance(node, ast.ClassDef):
            yield from _within(node.body, f"{owner}.{node.name}" if owner else node.name)


def _annotated(node: Function) -> dict[str, ast.expr]:
    found: dict[str, ast.expr] = {}
    for decorator in node.decorator_list:
        match decorator:
            case ast.Call(
                func=ast.Name(id="arg") | ast.Attribute(attr="arg"), args=args, keywords=keywords
            ):
                found |= {item.arg: item.value for item in keywords if item.arg}
                if len(args) > 1 and isinstance(args[0], ast.Constant):
                    found[str(args[0].value)] = args[1]
            case _:
                pass
    return found


def _is_apart(node: Function) -> bool:
    named = [item.id for item in node.decorator_list if isinstance(item, ast.Name)]
    named += [item.attr for item in node.decorator_list if isinstance(item, ast.Attribute)]
    return bool(_APART & set(named))


def _is_static(node: Function) -> bool:
    return any(
        isinstance(item, ast.Name) and item.id == "staticmethod" for item in node.decorator_list
    )
