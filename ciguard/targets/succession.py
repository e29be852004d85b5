"""Succession of targets: a target succeeds another one whose packages are older."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from packaging.version import InvalidVersion, Version

from ciguard.errors import CiguardError
from ciguard.targets.target import ActiveEnvironment
from ciguard.targets.target_syntax import read_target

if TYPE_CHECKING:
    from ciguard.targets.target import Package, Target


@lru_cache(maxsize=4096)
def succeeds(later: str, former: str) -> bool:
    """Return whether two targets differ only in that `later` has newer packages.

    False if a target cannot be parsed, or if a package that differs has no pinned version.

    Args:
        later: the name of the target that may be the successor.
        former: the name of the target that `later` may succeed.
    """
    try:
        later_target, former_target = read_target(later), read_target(former)
    except CiguardError:
        return False
    if _without_packages(later_target) != _without_packages(former_target):
        return False
    if len(later_target.packages) != len(former_target.packages):
        return False
    changes = [
        _is_newer(*pair) for pair in zip(later_target.packages, former_target.packages, strict=True)
    ]
    return None not in changes and any(changes)


def _without_packages(target: Target) -> Target:
    return replace(target, packages=())


def _is_newer(later: Package, former: Package) -> bool | None:
    """Return whether `later` is newer, False if equal; None if it is older or not comparable."""
    if later == former:
        return False
    if isinstance(later, ActiveEnvironment) or isinstance(former, ActiveEnvironment):
        return None
    if later.distribution != former.distribution or not (later.version and former.version):
        return None
    try:
        versions = Version(later.version), Version(former.version)
    except InvalidVersion:
        return None
    return True if versions[0] > versions[1] else None
