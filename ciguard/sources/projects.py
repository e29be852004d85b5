"""Modules that import each other: where names come from that one takes from another."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from ciguard.sources.uses import ModuleUses

_NOT_ITS_OWN = frozenset({
    "site-packages", "dist-packages", "node_modules", "__pycache__", "venv", "env", "virtualenv",
})  # fmt: skip
_MAX_DEPTH = 50
"""Modules that a name is followed through."""


class Project:
    """What was read of the modules of one checkout."""

    def __init__(
        self, modules: Mapping[str, ModuleUses], is_foreign: Callable[[str], bool]
    ) -> None:
        """Find out how the modules may be imported.

        Args:
            modules: by path below the root, with slashes.
            is_foreign: says of the first part of a name whether it is followed no further.
        """
        self._modules = modules
        self._is_foreign = is_foreign
        packages = {path.rpartition("/")[0] for path in modules if path.endswith("/__init__.py")}
        self._by_name: dict[str, str] = {}
        for path in modules:
            for name in _names_of(path, packages):
                self._by_name.setdefault(name, path)
        self._followed: dict[tuple[str, str], str] = {}
        """Where a name leads, by name and the module that writes it."""

    def resolved(self, name: str, path: str, depth: int = 0) -> str:
        """Return what a qualified name is outside of the project; empty if it leads nowhere.

        Args:
            name: as a module's imports make it.
            path: of the module.
            depth: modules that it was followed through.
        """
        if self._is_foreign(name.partition(".")[0]):
            return name
        key = (name, path)
        if key not in self._followed:
            self._followed[key] = ""  # what leads back here leads nowhere
            if depth < _MAX_DEPTH:
                self._followed[key] = self._through(name, path, depth)
        return self._followed[key]

    def imported_by(self, path: str) -> set[str]:
        """Return the modules of the project that one imports by name."""
        read = self._modules[path]
        origins = (*read.exports.values(), *read.stars)
        found = {self._own_module(f"{origin}.any", path)[0] for origin in origins}
        return found - {"", path}

    def _through(self, name: str, path: str, depth: int) -> str:
        """Follow a name through the module of the project that it leads into."""
        found, rest = self._own_module(name, path)
        first, _, tail = rest.partition(".")
        if not found or not first:
            return ""
        read = self._modules[found]
        origins = [read.exports[first]] if first in read.exports else []
        stars = (star for star in read.stars if self._offers(star, found))
        for origin in origins or (f"{star}.{first}" for star in stars):
            full = self.resolved(f"{origin}.{tail}".rstrip("."), found, depth + 1)
            if full:
                return full
        return ""

    def _offers(self, star: str, importer: str) -> bool:
        """Return whether a module from which all is imported may be followed.

        One of the project that is not there, such as a compiled one, would lead back into its
        package, again and again.
        """
        found, rest = self._own_module(f"{star}.any", importer)
        return self._is_foreign(star.partition(".")[0]) or not found or rest == "any"

    def _own_module(self, name: str, importer: str) -> tuple[str, str]:
        """Return the module of the project that a name leads into, and what is left of it."""
        beside = re.sub(r"[^/]*$", "", importer).replace("/", ".")
        parts = name.split(".")
        for length in range(len(parts) - 1, 0, -1):
            head = ".".join(parts[:length])
            for candidate in (head, beside + head):
                if candidate in self._by_name:
                    return self._by_name[candidate], ".".join(parts[length:])
        return "", ""


def _names_of(path: str, packages: Collection[str]) -> Iterator[str]:
    """Yield how a module may be imported: from the root, and from above its package."""
    yield module_name(path)
    above = path.rpartition("/")[0]
    while above in packages:
        above = above.rpartition("/")[0]
    yield module_name(path.removeprefix(f"{above}/"))


def module_name(path: str) -> str:
    """Return the dotted name of a module by its path below the folder that it is imported from."""
    parts = path.removesuffix(".py").split("/")
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def import_root(folder: Path) -> Path:
    """Return the folder that modules of one are imported from: above the outermost package."""
    while (folder / "__init__.py").is_file() and folder.name.isidentifier():
        folder = folder.parent
    return folder


def files_below(root: Path, apart: Collection[str] = ()) -> Iterator[Path]:
    """Yield the files of a project in order.

    Args:
        root: its folder. Hidden folders, environments and what was installed are passed over.
        apart: names of other folders that are.
    """
    for folder, folders, files in os.walk(root):
        here = Path(folder)
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and name not in _NOT_ITS_OWN.union(apart)
            and not (here / name / "pyvenv.cfg").exists()
        )
        yield from (here / name for name in sorted(files))
