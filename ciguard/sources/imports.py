"""What import statements bind: aliases, from-imports, relative ones."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ciguard.sources.names import chain

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

EVERYTHING = "*"
"""Stands for all that a module offers, in the place of a name."""


@dataclass(frozen=True, slots=True)
class Import:
    """One name that a statement binds."""

    local: str
    """What it is called from there on, or `EVERYTHING`."""
    meaning: str
    """Qualified: `torch.nn.Linear` of `from torch.nn import Linear`, `a` of `import a.b`."""
    module: str
    """That is imported, or imported from."""
    is_relative: bool = False


def imports_by(node: ast.AST, package: str = "") -> Iterator[Import]:
    """Yield what a node binds, if it is an import statement.

    Args:
        node: of a module.
        package: dotted name of the folder that the module is in: relative imports start there.
    """
    if isinstance(node, ast.Import):
        for item in node.names:
            root = item.name.partition(".")[0]
            meaning = item.name if item.asname else root
            yield Import(item.asname or root, meaning, item.name)
    elif isinstance(node, ast.ImportFrom):
        module = _absolute(node, package)
        for item in node.names:
            meaning = f"{module}.{item.name}" if module else item.name
            yield Import(item.asname or item.name, meaning, module, bool(node.level))


def imports_in(tree: ast.AST, package: str = "") -> Iterator[Import]:
    """Yield what is imported anywhere in a module."""
    return (one for node in ast.walk(tree) for one in imports_by(node, package))


def _absolute(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".") if package else []
    above = parts[: max(0, len(parts) - node.level + 1)]
    return ".".join([*above, *([node.module] if node.module else [])])


@dataclass(frozen=True, slots=True)
class Imports:
    """What the names of a module mean, wherever in it they are imported."""

    meanings: dict[str, str]
    """Qualified name by name in the module, e.g. `nn` → `torch.nn`."""
    modules: frozenset[str]
    """Everything that is imported, and the modules that it is imported from."""

    def qualified(self, node: ast.AST) -> str:
        """Return the qualified name of `nn.Conv2d` and the like, empty for any other expression.

        What is not imported keeps the name that it has in the module.
        """
        root, parts = chain(node)
        return ".".join((self.meanings.get(root, root), *parts)) if root else ""

    def imported(self, node: ast.AST) -> str:
        """Return likewise the qualified name of what is imported, empty for all else."""
        return self.qualified(node) if chain(node)[0] in self.meanings else ""

    def imports(self, package: str) -> bool:
        """Return whether a package, one of its versions (`vision_v1`), or a part is imported."""
        return any(
            one == package or one.startswith((f"{package}.", f"{package}_v"))
            for one in self.modules
        )

    def with_aliases(self, tree: ast.Module) -> Imports:
        """Return the same with the module's plain aliases, such as `L = keras.layers`."""
        meanings = dict(self.meanings)
        found = replace(self, meanings=meanings)
        for statement in tree.body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=alias)], value=ast.Attribute() as value):
                    if meaning := found.imported(value):  # perhaps by an alias before it
                        meanings.setdefault(alias, meaning)
                case _:
                    pass
        return found


def imports_of(tree: ast.AST, package: str | None = None, beside: Collection[str] = ()) -> Imports:
    """Read what a module imports, anywhere in it; the last import of a name counts.

    Args:
        tree: of the module.
        package: that it is in, empty at the top; without one, relative imports are left out.
        beside: modules in its folder that a script finds by their names alone.
    """
    meanings: dict[str, str] = {}
    modules: set[str] = set()
    for one in imports_in(tree, package or ""):
        if one.is_relative and package is None:
            continue
        is_beside = one.meaning.partition(".")[0] in beside
        before = f"{package}." if is_beside else ""
        modules |= {before + one.meaning, before + one.module}
        meanings[one.local] = before + one.meaning
    return Imports(meanings, frozenset(modules))
