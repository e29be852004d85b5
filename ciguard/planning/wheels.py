"""Targets for a wheel that an earlier job has built, and for its base."""

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
    """Wheels of the change and of its base."""

    head: Path
    """Wheel of the change."""
    base: Path | None = None
    """Wheel of the base; None for the newest release whose version does not exceed the wheel's."""


def wheel_groups(
    wheels: Wheels, companions: tuple[str, ...], newest: Newest
) -> tuple[list[TargetGroup], list[str]]:
    """Return the targets of a wheel and its base, and a sentence on what the base is.

    Args:
        wheels: the wheel of the change, and optionally the wheel of its base.
        companions: the targets of libraries with which an extension is tested.
        newest: a function that returns the newest version that satisfies a requirement.

    Raises:
        PlanError: if the wheel's name is invalid, or the library that it extends is unknown.
    """
    name, version = _name_and_version(wheels.head)
    library = library_of(name)
    base, sentence = _base_target(wheels, name, version, newest)
    # A library without backends is tested alone; an extension needs the library that it extends.
    companion_texts = [""] if library and not library.backends else list(companions)
    if library and library.backends:
        companion_texts = [_backend_of(companions, library.backends)]
    if not companion_texts:
        msg = (
            f"{visible(str(wheels.head))}: {name} is not a known library, and the project requires "
            "none. Use --target to name the library that the wheel extends, e.g. torch==2.13.0."
        )
        raise PlanError(msg)
    groups = [
        TargetGroup(
            targets=(_with_companion(_wheel_target(wheels.head), companion),),
            base=(_with_companion(base, companion),) if base else (),
        )
        for companion in companion_texts
    ]
    return groups, [sentence]


def _base_target(wheels: Wheels, name: str, version: Version, newest: Newest) -> tuple[str, str]:
    """Return the target of the base, empty if there is none, and a sentence on it."""
    wheel_name = visible(wheels.head.name)
    if wheels.base is not None:
        _name_and_version(wheels.base)
        sentence = f"{wheel_name} is compared with the wheel of the base commit."
        return _wheel_target(wheels.base), sentence
    try:
        release = newest(f"{name}<={version.public}")
    except ProvisioningError as error:
        return "", f"{wheel_name} has no base to compare with: {visible(str(error))}"
    if not release:
        return "", f"{wheel_name} has no base to compare with: all releases are newer."
    return f"{name}=={release}", f"{wheel_name} is compared with the release {release}."


def _name_and_version(wheel: Path) -> tuple[str, Version]:
    """Return the package and the version in the file name of a wheel."""
    try:
        name, version, *_ = parse_wheel_filename(wheel.name)
    except InvalidWheelFilename as error:
        msg = f"{visible(str(error))}. Keep the file name that the build gave the wheel."
        raise PlanError(msg) from error
    return name, version


def _wheel_target(wheel: Path) -> str:
    return shlex.quote(os.fspath(wheel))


def _backend_of(companions: tuple[str, ...], backends: tuple[str, ...]) -> str:
    """Return the first backend among the companions, or else the last of the backends."""
    for text in companions:
        for package in text.split(" + "):
            library = library_of(package.partition("=")[0].strip())
            if library and library.name in backends:
                return package
    return backends[-1]


def _with_companion(package: str, other: str) -> str:
    return f"{package} + {other}" if other else package
