"""Which code describes a library: the catalogue module of its adapter, and what that imports."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from typing import TYPE_CHECKING

from ciguard.targets.libraries import ADAPTERS

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.targets.libraries import Library

_DIGITS = 12
_IMPORT = re.compile(
    r"^\s*(?:from ciguard\.targets\.adapters\.(\w+) import"
    r"|from ciguard\.targets\.adapters import ([\w, ]+)|import ciguard\.targets\.adapters\.(\w+))",
    re.MULTILINE,
)


@cache
def _digest_of(entry: Path) -> str:
    pending = [entry]
    sources: dict[Path, bytes] = {}
    while pending:
        path = pending.pop()
        if path in sources or not path.is_file():
            continue
        sources[path] = path.read_bytes()
        for match in _IMPORT.finditer(sources[path].decode("utf-8", "replace")):
            names = next(filter(None, match.groups())).split(",")
            pending += [ADAPTERS / f"{name.split()[0]}.py" for name in names if name.strip()]
    digest = hashlib.sha256()
    for path in sorted(sources, key=lambda path: path.name):
        digest.update(f"{path.name} {len(sources[path])}\n".encode())
        digest.update(sources[path])
    return digest.hexdigest()[:_DIGITS]


def description_version(library: Library) -> str:
    """Return a digest of the code that describes a library: another one, another catalogue.

    That is `<adapter>_catalogue.py` beside the adapter where there is one, else the adapter, and
    whatever of ciguard's own adapters they import. How tensors are made or errors told apart does
    not count.
    """
    adapter = library.adapter
    catalogue = adapter.with_name(f"{adapter.stem}_catalogue.py")
    return _digest_of(catalogue if catalogue.is_file() else adapter)
