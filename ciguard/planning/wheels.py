"""A wheel built by an earlier job: the library's own change as a target, against its base."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from ciguard.domain.text import visible
from ciguard.errors import PlanError, ProvisioningError
from ciguard.planning.rows import TargetGroup
from ciguard.planning.upgrades import library_of

if TYPE_CHECKING:
    from pathlib import Path

    from packaging.version import Version

    from ciguard.planning.upgrades import Newest


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheels:
    """What was built of the change and of its base."""

    head: Path
    base: Path | None = None
    """None for the newest release that is not newer than the wheel."""


def wheel_groups(
    wheels: Wheels, companions: tuple[str, ...], newest: Newest
) -> tuple[list[TargetGroup], list[str]]:
    """Return the targets of a wheel, and sentences on what it is compared with.

    Args:
        wheels: of the change, and perhaps of its base.
        companions: targets of the libraries that an extension is tested with.
        newest: answers a requirement with the newest version that satisfies it.

    Raises:
        PlanError: if the wheel's name is none, or it extends no library that is known.
    """
    name, version = _identity(wheels.head)
    library = library_of(name)
    base, sentence = _base(wheels, name, version, newest)
    # A library that needs no backend stands alone; an extension stands on what it extends.
    beside = [""] if library and not library.backends else list(companions)
    if library and library.backends:
        beside = [_backend_of(companions, library.backends)]
    if not beside:
        msg = (
            f"{visible(str(wheels.head))}: {name} is no library that ciguard knows, and the "
            "project requires none: name the one that it extends with --target, e.g. torch==2.13.0."
        )
        raise PlanError(msg)
    groups = [
        TargetGroup(
            targets=(_joined(_text(wheels.head), other),),
            base=(_joined(base, other),) if base else (),
        )
        for other in beside
    ]
    return groups, [sentence]


def _base(wheels: Wheels, name: str, version: Version, newest: Newest) -> tuple[str, str]:
    built = visible(wheels.head.name)
    if wheels.base is not None:
        _identity(wheels.base)
        return _text(wheels.base), f"{built} is held against the build of the base."
    try:
        released = newest(f"{name}<={version.public}")
    except ProvisioningError as error:
        return "", f"{built} has no base to compare with: {visible(str(error))}"
    if not released:
        return "", f"{built} has no base to compare with: no release is as old as it."
    return f"{name}=={released}", f"{built} is held against the release {released}."


def _identity(wheel: Path) -> tuple[str, Version]:
    try:
        name, version, *_ = parse_wheel_filename(wheel.name)
    except InvalidWheelFilename as error:
        msg = f"{visible(str(error))}. Keep the name that the build gave the wheel."
        raise PlanError(msg) from error
    return name, version


def _text(wheel: Path) -> str:
    return shlex.quote(os.fspath(wheel))


def _backend_of(companions: tuple[str, ...], backends: tuple[str, ...]) -> str:
    for text in companions:
        for package in text.split(" + "):
            library = library_of(package.partition("=")[0].strip())
            if library and library.name in backends:
                return package
    return backends[-1]


def _joined(package: str, other: str) -> str:
    return f"{package} + {other}" if other else package
