"""Functions of a module that can be annotated, with the annotations that they already have."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.sources import Function

if TYPE_CHECKING:
    from collections.abc import Iterator

_SPECIAL_METHODS = {"__init__", "__call__", "__getitem__"}
"""Special methods with arguments that users choose; other special methods are not annotated."""
_EXCLUDING_DECORATORS = {"generator", "exclude"}


@dataclass(frozen=True, slots=True)
class UnannotatedFunction:
    """A function or method to annotate."""

    name: str
    """Name in the module, with that of its class: `Tokenizer.fit`."""
    node: Function
    """Definition of the function."""
    owner: str
    """Name of the method's class; empty for a function."""
    annotated: dict[str, ast.expr]
    """Existing annotations by argument, such as `ints(min=1)`."""
    is_excluded: bool
    """True if a decorator marks the function as a generator or as excluded."""
    class_doc: str = ""
    """Docstring of the method's class; empty for a function."""
    bases: tuple[str, ...] = ()
    """Names of the bases of the method's class."""

    @property
    def parameters(self) -> dict[str, ast.arg]:
        """Parameters by name, in order, without a method's first, `*args` and `**kwargs`."""
        arguments = self.node.args
        parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        is_bound = self.owner and not _is_static(self.node)
        return {item.arg: item for item in (parameters[1:] if is_bound else parameters)}

    @property
    def docstrings(self) -> list[str]:
        """Docstrings that describe the parameters."""
        of_class = self.class_doc if self.node.name == "__init__" else ""
        return [doc for doc in (ast.get_docstring(self.node), of_class) if doc]

    @property
    def is_public(self) -> bool:
        """True if neither the function nor a class around it is private."""
        parts = self.name.split(".")
        return not any(part.startswith("_") and part not in _SPECIAL_METHODS for part in parts)

    @property
    def positional(self) -> list[str]:
        """Names of the parameters that a caller may pass by position."""
        keyword_only = {item.arg for item in self.node.args.kwonlyargs}
        return [name for name in self.parameters if name not in keyword_only]

    @property
    def defaults(self) -> dict[str, ast.expr]:
        """Defaults by parameter name."""
        arguments = self.node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        with_defaults = positional[len(positional) - len(arguments.defaults) :]
        defaults = dict(zip((item.arg for item in with_defaults), arguments.defaults, strict=True))
        pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        return defaults | {item.arg: value for item, value in pairs if value is not None}

    @property
    def first_line(self) -> int:
        """Line number of the first decorator, or of `def` without decorators, from 1."""
        return min([self.node.lineno, *(item.lineno for item in self.node.decorator_list)])


def subjects_of(tree: ast.Module) -> list[UnannotatedFunction]:
    """Return the functions of a module and the methods of its classes."""
    return list(_functions_in(tree.body, "", None))


def _functions_in(
    body: list[ast.stmt], owner: str, owner_node: ast.ClassDef | None
) -> Iterator[UnannotatedFunction]:
    """Yield the functions and methods in a body; `owner` is the name of its class."""
    class_doc = (ast.get_docstring(owner_node) or "") if owner_node else ""
    bases = tuple(map(ast.unparse, owner_node.bases)) if owner_node else ()
    for node in body:
        if isinstance(node, Function):
            is_special = node.name.startswith("__") and node.name.endswith("__")
            if is_special and node.name not in _SPECIAL_METHODS:
                continue
            name = f"{owner}.{node.name}" if owner else node.name
            annotated = _annotated_arguments(node)
            yield UnannotatedFunction(
                name, node, owner, annotated, _is_excluded(node), class_doc, bases
            )
        elif isinstance(node, ast.ClassDef):
            name = f"{owner}.{node.name}" if owner else node.name
            yield from _functions_in(node.body, name, node)


def _annotated_arguments(node: Function) -> dict[str, ast.expr]:
    """Return the constraints of the arguments that decorators annotate."""
    annotated: dict[str, ast.expr] = {}
    for decorator in node.decorator_list:
        match decorator:
            case ast.Call(
                func=ast.Name(id="arg") | ast.Attribute(attr="arg"), args=args, keywords=keywords
            ):
                annotated |= {item.arg: item.value for item in keywords if item.arg}
                if len(args) > 1 and isinstance(args[0], ast.Constant):
                    annotated[str(args[0].value)] = args[1]
            case _:
                pass
    return annotated


def _is_excluded(node: Function) -> bool:
    decorators = [item.id for item in node.decorator_list if isinstance(item, ast.Name)]
    decorators += [item.attr for item in node.decorator_list if isinstance(item, ast.Attribute)]
    return bool(_EXCLUDING_DECORATORS & set(decorators))


def _is_static(node: Function) -> bool:
    return any(
        isinstance(item, ast.Name) and item.id == "staticmethod" for item in node.decorator_list
    )
