"""Names that import statements bind, including aliases and relative imports."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ciguard.sources.names import chain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ALL_NAMES = "*"
"""Name that stands for all names of a module."""


@dataclass(frozen=True, slots=True)
class Import:
    """One name that an import statement binds."""

    local: str
    """Bound name, or `ALL_NAMES`."""
    qualified_name: str
    """Full name: `torch.nn.Linear` for `from torch.nn import Linear`, `a` for `import a.b`."""
    module: str
    """Full name of the imported module, or of the module from which the name is imported."""
    is_relative: bool = False
    """True for a relative import, such as `from . import a`."""


def imports_by(node: ast.AST, package: str = "") -> Iterator[Import]:
    """Yield the names that a node binds if it is an import statement.

    Args:
        node: a node of the module's tree.
        package: dotted name of the module's package, for relative imports.
    """
    if isinstance(node, ast.Import):
        for item in node.names:
            root = item.name.partition(".")[0]
            qualified_name = item.name if item.asname else root
            yield Import(item.asname or root, qualified_name, item.name)
    elif isinstance(node, ast.ImportFrom):
        module = _absolute_module(node, package)
        for item in node.names:
            qualified_name = f"{module}.{item.name}" if module else item.name
            yield Import(item.asname or item.name, qualified_name, module, bool(node.level))


def imports_in(tree: ast.AST, package: str = "") -> Iterator[Import]:
    """Yield the names that a module's import statements bind in any scope."""
    return (item for node in ast.walk(tree) for item in imports_by(node, package))


def _absolute_module(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".") if package else []
    above = parts[: max(0, len(parts) - node.level + 1)]
    return ".".join([*above, *([node.module] if node.module else [])])


@dataclass(frozen=True, slots=True)
class Imports:
    """Names that a module imports in any scope."""

    imported_names: dict[str, str]
    """Qualified name by name in the module, e.g. `nn` → `torch.nn`."""
    modules: frozenset[str]
    """Qualified names of all imports, and of the modules from which they are imported."""

    def qualified(self, node: ast.AST) -> str:
        """Return the qualified name of a dotted expression such as `nn.Conv2d`.

        A dotted name that is not imported is returned as written. The result is empty for an
        expression that is not a dotted name.
        """
        root, parts = chain(node)
        return ".".join((self.imported_names.get(root, root), *parts)) if root else ""

    def imported(self, node: ast.AST) -> str:
        """Return the qualified name of an imported expression; empty if it is not imported."""
        return self.qualified(node) if chain(node)[0] in self.imported_names else ""

    def imports(self, package: str) -> bool:
        """Return whether a package, a version (`vision_v1`) or a member of it is imported."""
        return any(
            module == package or module.startswith((f"{package}.", f"{package}_v"))
            for module in self.modules
        )

    def with_aliases(self, tree: ast.Module) -> Imports:
        """Return the imports with the module's simple aliases, such as `L = keras.layers`."""
        imported_names = dict(self.imported_names)
        imports = replace(self, imported_names=imported_names)
        for statement in tree.body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=alias)], value=ast.Attribute() as value):
                    if qualified_name := imports.imported(value):  # may use an alias defined above
                        imported_names.setdefault(alias, qualified_name)
                case _:
                    pass
        return imports


def imports_of(
    tree: ast.AST, package: str | None = None, beside: Mapping[str, str] | None = None
) -> Imports:
    """Return the imports of a module in any scope; of several imports of a name, the last counts.

    Args:
        tree: syntax tree of the module.
        package: dotted name of the module's package, empty at the top level; None to omit relative
            imports.
        beside: top-level modules that are found in a folder of the sources, as a script finds the
            modules beside it → dotted name of that folder.
    """
    imported_names: dict[str, str] = {}
    modules: set[str] = set()
    for item in imports_in(tree, package or ""):
        if item.is_relative and package is None:
            continue
        folder = (beside or {}).get(item.qualified_name.partition(".")[0], "")
        prefix = f"{folder}." if folder else ""
        modules |= {prefix + item.qualified_name, prefix + item.module}
        imported_names[item.local] = prefix + item.qualified_name
    return Imports(imported_names, frozenset(modules))
