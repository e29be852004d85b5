"""The version of the knowledge: changes whenever code or rules do that constraints are made by."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
_PARTS = (
    "domain/dtypes.py",
    "domain/records.py",
    "domain/values.py",
    "values/codec.py",
    "values/constraints.py",
)
"""What constraints are written in; how they are sampled or checked changes none of them."""
_DIGITS = 12


@cache
def knowledge_version() -> str:
    """Return a digest of everything that decides what `understand` makes of a record.

    Every file of this room counts, sources and rules alike: a stored constraint is used only as
    long as it is what would be read again.
    """
    rules = (path for path in (_PACKAGE / "knowledge").rglob("*") if _counts(path))
    files = sorted([*rules, *(_PACKAGE / part for part in _PARTS)])
    digest = hashlib.sha256()
    for path in files:
        content = path.read_bytes()
        digest.update(f"{path.relative_to(_PACKAGE).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()[:_DIGITS]


def _counts(path: Path) -> bool:
    return path.is_file() and path.suffix != ".pyc"
