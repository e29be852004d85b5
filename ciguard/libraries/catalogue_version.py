"""Version of the code that describes a library: its catalogue module and the modules it imports."""

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
_DIGEST_LENGTH = 12
_IMPORT = re.compile(
    r"^\s*(?:from (ciguard\.libraries[\w.]*) import (\([^)]*\)|.*)"
    r"|import (ciguard\.libraries[\w.]*))",
    re.MULTILINE,
)
_NAME = re.compile(r"\w+")


def description_version(library: Library) -> str:
    """Return a digest of the code that describes a library; if it changes, so may the catalogue.

    It covers `catalogue.py` in the adapter's folder, or else the adapter itself. It also covers the
    modules of this package that they import, and the name of the rules for the documentation. It
    does not cover code that builds tensors or classifies errors.
    """
    catalogue = library.adapter.with_name("catalogue.py")
    entry = catalogue if catalogue.is_file() else library.adapter
    return _source_digest(entry, library.documentation)


@cache
def _source_digest(entry: Path, documentation: str) -> str:
    """Return a digest of a file and of all modules that it imports from this package."""
    pending = [entry]
    sources: dict[Path, bytes] = {}
    while pending:
        path = pending.pop()
        if path not in sources and path.is_file():
            sources[path] = path.read_bytes()
            pending += _imported_files(sources[path].decode("utf-8", "replace"))
    digest = hashlib.sha256(f"{documentation}\n".encode())
    for name, source in sorted((path.name, source) for path, source in sources.items()):
        digest.update(f"{name} {len(source)}\n".encode())
        digest.update(source)
    return digest.hexdigest()[:_DIGEST_LENGTH]


def _imported_files(source: str) -> Iterator[Path]:
    """Yield the possible files of the modules that a source imports from this package."""
    for package, names, module in _IMPORT.findall(source):
        folder = _PACKAGE.joinpath(*(package or module).split(".")[1:])
        yield folder.with_suffix(".py")
        yield from (folder / f"{name}.py" for name in _NAME.findall(names))
