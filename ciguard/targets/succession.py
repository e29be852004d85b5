"""Which target takes the place of another: the same but for newer packages."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from packaging.version import InvalidVersion, Version

from ciguard.errors import CiguardError
from ciguard.targets.target import Active
from ciguard.targets.target_syntax import read_target

if TYPE_CHECKING:
    from ciguard.targets.target import Package, Target


@lru_cache(maxsize=4096)
def succeeds(later: str, former: str) -> bool:
    """Return whether a target is another with newer packages, and alike in everything else.

    A target that is not pinned, or cannot be read, succeeds none.

    Args:
        later: name of the target.
        former: name of the other.
    """
    try:
        one, other = read_target(later), read_target(former)
    except CiguardError:
        return False
    if _without_packages(one) != _without_packages(other):
        return False
    if len(one.packages) != len(other.packages):
        return False
    changes = [_change(*pair) for pair in zip(one.packages, other.packages, strict=True)]
    return None not in changes and any(changes)


def _without_packages(target: Target) -> Target:
    return replace(target, packages=())


def _change(later: Package, former: Package) -> bool | None:
    """Return whether a package is newer; None if it is older, another, or its version unknown."""
    if later == former:
        return False
    if isinstance(later, Active) or isinstance(former, Active):
        return None
    if later.distribution != former.distribution or not (later.version and former.version):
        return None
    try:
        versions = Version(later.version), Version(former.version)
    except InvalidVersion:
        return None
    return True if versions[0] > versions[1] else None
