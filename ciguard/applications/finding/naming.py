"""What the names of a module mean: imports, and what it defines itself."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.syntax import dotted_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator


@dataclass(frozen=True, slots=True)
class Names:
    """Of one module."""

    imported: dict[str, str]
    """Qualified name by name in the module, `vision` → `google.cloud.vision`."""
    modules: frozenset[str]
    """Everything that is imported, by its qualified name."""

    def qualified(self, node: ast.AST) -> str:
        """Return the qualified name of `vision.Image` and the like, empty for any other expression.

        What the module defines itself keeps the name that it has there.
        """
        name = dotted_name(node)
        root, *rest = name.split(".")
        return ".".join((self.imported.get(root, root), *rest)) if root else ""

    def imports(self, package: str) -> bool:
        """Return whether a package, one of its versions (`vision_v1`), or a part is imported."""
        return any(
            one == package or one.startswith((f"{package}.", f"{package}_v"))
            for one in self.modules
        )


def named_in(annotation: ast.expr) -> Iterator[ast.expr]:
    """Yield the names that an annotation says a value is of: `a.B` of `"a.B | None"` and the like.

    Nothing of what is in a list or another collection.
    """
    match annotation:
        case ast.Constant(value=str(text)):
            try:
                yield from named_in(ast.parse(text, mode="eval").body)
            except (SyntaxError, ValueError):  # words
                return
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            yield from named_in(left)
            yield from named_in(right)
        case ast.Subscript(value=held, slice=inner) if dotted_name(held).endswith("Optional"):
            yield from named_in(inner)
        case ast.Name() | ast.Attribute():
            yield annotation
        case _:
            return


def names_of(tree: ast.Module, package: str, beside: Collection[str] = ()) -> Names:
    """Read what a module imports, anywhere in it.

    Args:
        tree: of the module.
        package: that it is in, for relative imports; empty at the top.
        beside: modules in its folder that a script finds by their names alone.
    """
    imported: dict[str, str] = {}
    modules: set[str] = set()
    for local, bare in _imports(tree, package):
        is_beside = bare.partition(".")[0] in beside
        meaning = f"{package}.{bare}" if is_beside else bare
        modules.add(meaning)
        if local:
            imported[local] = meaning
    return Names(imported, frozenset(modules))


def _imports(tree: ast.Module, package: str) -> Iterator[tuple[str, str]]:
    """Yield the name that each import binds, and what it means."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=items):
                for item in items:
                    root = item.name.partition(".")[0]
                    yield item.asname or root, item.name if item.asname else root
                    yield "", item.name
            case ast.ImportFrom(module=module, names=items, level=level):
                base = _absolute(module or "", level, package)
                for item in items:
                    yield item.asname or item.name, f"{base}.{item.name}" if base else item.name
            case _:
                pass


def _absolute(module: str, level: int, package: str) -> str:
    if not level:
        return module
    parts = package.split(".") if package else []
    above = parts[: len(parts) - (level - 1)]
    return ".".join([*above, *([module] if module else [])])
