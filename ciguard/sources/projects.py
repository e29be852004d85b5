"""Modules of a project: resolution of names that one module imports from another."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from ciguard.sources.uses import ModuleUses

_SKIPPED_FOLDERS = frozenset({
    "site-packages", "dist-packages", "node_modules", "__pycache__", "venv", "env", "virtualenv",
})  # fmt: skip
"""Names of folders whose files do not belong to a project."""
_MAX_DEPTH = 50
"""Maximum number of modules through which a name is followed."""


class Project:
    """The modules of one checkout, and the names that they import from each other."""

    def __init__(
        self, modules: Mapping[str, ModuleUses], is_foreign: Callable[[str], bool]
    ) -> None:
        """Index the names by which the modules can be imported.

        Args:
            modules: modules by path relative to the root, with forward slashes.
            is_foreign: returns whether a top-level name belongs to another package.
        """
        self._modules = modules
        self._is_foreign = is_foreign
        packages = {path.rpartition("/")[0] for path in modules if path.endswith("/__init__.py")}
        self._by_name: dict[str, str] = {}
        for path in modules:
            for name in _import_names(path, packages):
                self._by_name.setdefault(name, path)
        self._resolved: dict[tuple[str, str], str] = {}
        """Resolved names by the name and the path of the module that uses it."""

    def resolve(self, name: str, path: str, depth: int = 0) -> str:
        """Return the name in another package to which a name refers; empty if it refers to none.

        Args:
            name: qualified name according to the module's imports.
            path: path of the module that uses the name.
            depth: number of modules through which the name has been followed so far.
        """
        if self._is_foreign(name.partition(".")[0]):
            return name
        key = (name, path)
        if key not in self._resolved:
            self._resolved[key] = ""  # so that a cycle of imports ends
            if depth < _MAX_DEPTH:
                self._resolved[key] = self._resolve_in_module(name, path, depth)
        return self._resolved[key]

    def imported_modules(self, path: str) -> set[str]:
        """Return the paths of the project's modules that the module at `path` imports."""
        module = self._modules[path]
        origins = (*module.exports.values(), *module.star_imports)
        paths = {self._project_module(f"{origin}.any", path)[0] for origin in origins}
        return paths - {"", path}

    def _resolve_in_module(self, name: str, path: str, depth: int) -> str:
        """Resolve a name through the project's module that defines or re-exports it."""
        module_path, rest = self._project_module(name, path)
        first, _, tail = rest.partition(".")
        if not module_path or not first:
            return ""
        module = self._modules[module_path]
        origins = [module.exports[first]] if first in module.exports else []
        stars = (star for star in module.star_imports if self._may_follow_star(star, module_path))
        for origin in origins or (f"{star}.{first}" for star in stars):
            full = self.resolve(f"{origin}.{tail}".rstrip("."), module_path, depth + 1)
            if full:
                return full
        return ""

    def _may_follow_star(self, star: str, importer: str) -> bool:
        """Return whether a star import may be followed without an endless loop.

        A module of the project without source, such as a compiled one, resolves to the package
        that contains it, and the package may contain the same star import.
        """
        module_path, rest = self._project_module(f"{star}.any", importer)
        return self._is_foreign(star.partition(".")[0]) or not module_path or rest == "any"

    def _project_module(self, name: str, importer: str) -> tuple[str, str]:
        """Return the path of the module with which a qualified name starts, and the name's rest.

        Both are empty if the name starts with no module of the project.
        """
        beside = re.sub(r"[^/]*$", "", importer).replace("/", ".")
        parts = name.split(".")
        for length in range(len(parts) - 1, 0, -1):
            head = ".".join(parts[:length])
            for candidate in (head, beside + head):
                if candidate in self._by_name:
                    return self._by_name[candidate], ".".join(parts[length:])
        return "", ""


def _import_names(path: str, packages: Collection[str]) -> Iterator[str]:
    """Yield a module's dotted names: from the root, and from the folder above its package.

    Args:
        path: path of the module relative to the root.
        packages: paths of the folders with an `__init__.py`.
    """
    yield module_name(path)
    above = path.rpartition("/")[0]
    while above in packages:
        above = above.rpartition("/")[0]
    yield module_name(path.removeprefix(f"{above}/"))


def module_name(path: str) -> str:
    """Return the dotted name of the module at a path relative to the import root."""
    parts = path.removesuffix(".py").split("/")
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def import_root(folder: Path) -> Path:
    """Return a folder's import root: the nearest folder, itself or above, outside any package."""
    while (folder / "__init__.py").is_file() and folder.name.isidentifier():
        folder = folder.parent
    return folder


def files_below(root: Path, skipped: Collection[str] = ()) -> Iterator[Path]:
    """Yield a project's files in order of their paths, without hidden folders and environments.

    Args:
        root: folder of the project.
        skipped: names of further folders to skip, at any depth.
    """
    for folder, folders, files in os.walk(root):
        parent = Path(folder)
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and name not in _SKIPPED_FOLDERS.union(skipped)
            and not (parent / name / "pyvenv.cfg").exists()
        )
        yield from (parent / name for name in sorted(files))
