"""Modules of a project: resolution of names that one module imports from another."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from ciguard.sources.uses import ModuleUses

_FOREIGN_FOLDERS = frozenset({
    "site-packages", "dist-packages", "node_modules", "__pycache__", "venv", "env", "virtualenv",
})  # fmt: skip
_MAX_DEPTH = 50
"""Maximum number of modules through which a name is followed."""


class Project:
    """The modules of one checkout, and the names they take from each other."""

    def __init__(
        self, modules: Mapping[str, ModuleUses], is_foreign: Callable[[str], bool]
    ) -> None:
        """Index the names by which the modules can be imported.

        Args:
            modules: modules by path relative to the root, with forward slashes.
            is_foreign: whether a top-level name belongs to another package.
        """
        self._modules = modules
        self._is_foreign = is_foreign
        packages = {path.rpartition("/")[0] for path in modules if path.endswith("/__init__.py")}
        self._by_name: dict[str, str] = {}
        for path in modules:
            for name in _import_names(path, packages):
                self._by_name.setdefault(name, path)
        self._resolved: dict[tuple[str, str], str] = {}
        """Resolved names by (name, path of the module that uses it)."""

    def resolved(self, name: str, path: str, depth: int = 0) -> str:
        """Return the name in another package that a name refers to; empty if there is none.

        Args:
            name: qualified name by the module's imports.
            path: path of the module.
            depth: number of modules through which the name was followed.
        """
        if self._is_foreign(name.partition(".")[0]):
            return name
        key = (name, path)
        if key not in self._resolved:
            self._resolved[key] = ""  # a cycle resolves to nothing
            if depth < _MAX_DEPTH:
                self._resolved[key] = self._resolve_in_module(name, path, depth)
        return self._resolved[key]

    def imported_by(self, path: str) -> set[str]:
        """Return the paths of the project's modules that a module imports."""
        module = self._modules[path]
        origins = (*module.exports.values(), *module.stars)
        paths = {self._own_module(f"{origin}.any", path)[0] for origin in origins}
        return paths - {"", path}

    def _resolve_in_module(self, name: str, path: str, depth: int) -> str:
        """Resolve a name in the project's module that defines or re-exports it."""
        module_path, rest = self._own_module(name, path)
        first, _, tail = rest.partition(".")
        if not module_path or not first:
            return ""
        module = self._modules[module_path]
        origins = [module.exports[first]] if first in module.exports else []
        stars = (star for star in module.stars if self._may_follow_star(star, module_path))
        for origin in origins or (f"{star}.{first}" for star in stars):
            full = self.resolved(f"{origin}.{tail}".rstrip("."), module_path, depth + 1)
            if full:
                return full
        return ""

    def _may_follow_star(self, star: str, importer: str) -> bool:
        """Return whether a star import may be followed.

        A module of the project without source, such as a compiled one, resolves to the package
        that contains it. To follow the import would then never end.
        """
        module_path, rest = self._own_module(f"{star}.any", importer)
        return self._is_foreign(star.partition(".")[0]) or not module_path or rest == "any"

    def _own_module(self, name: str, importer: str) -> tuple[str, str]:
        """Return the path of the project's module in a qualified name, and the rest of the name."""
        beside = re.sub(r"[^/]*$", "", importer).replace("/", ".")
        parts = name.split(".")
        for length in range(len(parts) - 1, 0, -1):
            head = ".".join(parts[:length])
            for candidate in (head, beside + head):
                if candidate in self._by_name:
                    return self._by_name[candidate], ".".join(parts[length:])
        return "", ""


def _import_names(path: str, packages: Collection[str]) -> Iterator[str]:
    """Yield the names of a module: relative to the root, and to the folder above its package."""
    yield module_name(path)
    above = path.rpartition("/")[0]
    while above in packages:
        above = above.rpartition("/")[0]
    yield module_name(path.removeprefix(f"{above}/"))


def module_name(path: str) -> str:
    """Return the dotted name of a module by its path relative to the import root."""
    parts = path.removesuffix(".py").split("/")
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def import_root(folder: Path) -> Path:
    """Return the import root of a folder: the folder above its outermost package."""
    while (folder / "__init__.py").is_file() and folder.name.isidentifier():
        folder = folder.parent
    return folder


def files_below(root: Path, apart: Collection[str] = ()) -> Iterator[Path]:
    """Yield the files of a project in order, without hidden folders and environments.

    Args:
        root: folder of the project.
        apart: names of further folders to skip.
    """
    for folder, folders, files in os.walk(root):
        parent = Path(folder)
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and name not in _FOREIGN_FOLDERS.union(apart)
            and not (parent / name / "pyvenv.cfg").exists()
        )
        yield from (parent / name for name in sorted(files))
