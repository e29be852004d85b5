"""Which code describes a library: the catalogue module of its adapter, and what that imports."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.libraries.library import Library

_PACKAGE = Path(__file__).parents[1]
_DIGITS = 12
_IMPORT = re.compile(
    r"^\s*(?:from (ciguard\.libraries[\w.]*) import (\([^)]*\)|.*)"
    r"|import (ciguard\.libraries[\w.]*))",
    re.MULTILINE,
)
_NAME = re.compile(r"\w+")


def description_version(library: Library) -> str:
    """Return a digest of what describes a library: another one, another catalogue.

    That is `catalogue.py` beside the adapter where there is one, else the adapter, whatever of
    ciguard's own adapters they import, and whose rules read the documentation. How tensors are
    made or errors told apart does not count.
    """
    catalogue = library.adapter.with_name("catalogue.py")
    entry = catalogue if catalogue.is_file() else library.adapter
    return _digest_of(entry, library.documentation)


@cache
def _digest_of(entry: Path, documentation: str) -> str:
    pending = [entry]
    sources: dict[Path, bytes] = {}
    while pending:
        path = pending.pop()
        if path not in sources and path.is_file():
            sources[path] = path.read_bytes()
            pending += _imported(sources[path].decode("utf-8", "replace"))
    digest = hashlib.sha256(f"{documentation}\n".encode())
    for name, source in sorted((path.name, source) for path, source in sources.items()):
        digest.update(f"{name} {len(source)}\n".encode())
        digest.update(source)
    return digest.hexdigest()[:_DIGITS]


def _imported(source: str) -> Iterator[Path]:
    """Yield where the modules may be that a source imports from this room."""
    for package, names, module in _IMPORT.findall(source):
        folder = _PACKAGE.joinpath(*(package or module).split(".")[1:])
        yield folder.with_suffix(".py")
        yield from (folder / f"{name}.py" for name in _NAME.findall(names))
