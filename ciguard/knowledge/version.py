"""Version of the constraints: a digest of the code and rules that make them."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
_FURTHER_FILES = (
    "domain/dtypes.py",
    "domain/records.py",
    "domain/values.py",
    "values/codec.py",
    "values/constraints.py",
)
"""Files outside this package that define constraints, without those that only sample or check."""
_DIGEST_LENGTH = 12


@cache
def knowledge_version() -> str:
    """Return a digest of everything that determines the result of `understand`.

    It covers every file of this package, sources and rules. A stored constraint is used only
    while `understand` would return the same constraint.
    """
    rules = (path for path in (_PACKAGE / "knowledge").rglob("*") if _is_source_or_rule(path))
    files = sorted([*rules, *(_PACKAGE / file for file in _FURTHER_FILES)])
    digest = hashlib.sha256()
    for path in files:
        content = path.read_bytes()
        digest.update(f"{path.relative_to(_PACKAGE).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()[:_DIGEST_LENGTH]


def _is_source_or_rule(path: Path) -> bool:
    return path.is_file() and path.suffix != ".pyc"
