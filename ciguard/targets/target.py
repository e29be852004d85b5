"""What a target is: packages, device, mode, interpreter and variables that cases run in."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from ciguard.errors import UnknownLibraryError, suggestion
from ciguard.libraries import LIBRARIES, Library, library_of_distribution

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

CPU = "cpu"
EAGER = "eager"


@dataclass(frozen=True, slots=True)
class Published:
    """A package from an index."""

    requirement: str
    """PEP 508 in its normal form, e.g. `torch==2.13.0`."""

    @property
    def distribution(self) -> str:
        """The package's normalised name."""
        return canonicalize_name(Requirement(self.requirement).name)

    @property
    def version(self) -> str | None:
        """The version it is pinned to, None when it is not."""
        pins = [spec for spec in Requirement(self.requirement).specifier if spec.operator == "=="]
        return pins[0].version if pins and not pins[0].version.endswith(".*") else None

    def __str__(self) -> str:
        """Return the requirement."""
        return self.requirement


@dataclass(frozen=True, slots=True)
class Wheel:
    """A package from a file, such as the build of a pull request."""

    path: Path
    """As written: a relative path starts at the current folder when the target is provisioned."""

    @property
    def distribution(self) -> str:
        """The package's normalised name, read from the file's name."""
        return parse_wheel_filename(self.path.name)[0]

    @property
    def version(self) -> str | None:
        """The package's version, read from the file's name."""
        return str(parse_wheel_filename(self.path.name)[1])

    def __str__(self) -> str:
        """Return the path, quoted where it holds spaces."""
        return shlex.quote(os.fspath(self.path))


@dataclass(frozen=True, slots=True)
class Active:
    """The environment that is active where ciguard runs: nothing is installed."""

    library: str = ""
    """Name of the library to test; empty means the first one found there."""

    def __str__(self) -> str:
        """Return `current` or `current[torch]`."""
        return f"current[{self.library}]" if self.library else "current"


Package: TypeAlias = Published | Wheel | Active


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One environment that cases run in. Made by `parse_target`."""

    packages: tuple[Package, ...]
    """What is installed, in the order it was written; `Active` stands alone."""
    device: str = CPU
    """`cpu`, `cuda:0`, `cuda:1`, …"""
    mode: str = EAGER
    """How calls are executed: `eager`, or one of the library's modes, e.g. `compile`."""
    variables: tuple[tuple[str, str], ...] = ()
    """Further environment variables of its workers, sorted by name."""
    python: str = ""
    """Interpreter version, e.g. `3.10`; empty means the one ciguard runs on."""

    @property
    def name(self) -> str:
        """The target as text; `parse_target` makes an equal target of it."""
        device = {CPU: "", "cuda:0": "@cuda"}.get(self.device, f"@{self.device}")
        words = [" + ".join(map(str, self.packages)) + device]
        words += [self.mode] if self.mode != EAGER else []
        words += [f"{key}={shlex.quote(value)}" for key, value in self.variables]
        if self.python:
            words.append(f"python{self.python}")
        return " ".join(words)

    @property
    def is_current(self) -> bool:
        """Whether it is the active environment, so that nothing is installed."""
        return isinstance(self.packages[0], Active)

    @property
    def device_class(self) -> str:
        """The device without its number: what builds of a package differ by."""
        return self.device.partition(":")[0]

    def __str__(self) -> str:
        """Return the target's name."""
        return self.name


def libraries_of(target: Target) -> tuple[Library, ...]:
    """Return the registered libraries among a target's packages, the one under test first.

    A library comes before its backends, whatever order they were written in. `current` alone
    names none: its library is known once the environment has been looked at.

    Raises:
        UnknownLibraryError: if no package is a library that ciguard has an adapter for.
    """
    package = target.packages[0]
    if isinstance(package, Active):
        return (LIBRARIES.items()[package.library],) if package.library else ()
    found = {
        library.name: library
        for library in map(library_of_distribution, distributions(target.packages))
        if library is not None
    }
    if not found:
        raise UnknownLibraryError(_no_library(target))
    backends = {name for library in found.values() for name in library.backends}
    return tuple(sorted(found.values(), key=lambda library: library.name in backends))


def distributions(packages: Iterable[Package]) -> list[str]:
    """Return the normalised names of the packages that are installed."""
    return [package.distribution for package in packages if not isinstance(package, Active)]


def cpu_builds(target: Target) -> list[Published | Wheel]:
    """Return the packages of a target that have no CUDA, whatever its device is."""
    return [
        package
        for package in target.packages
        if not isinstance(package, Active)
        and (_is_for_cpus(package.distribution) or is_cpu_version(package.version or ""))
    ]


def is_cpu_version(version: str) -> bool:
    """Return whether a version is that of a build for CPUs, such as `2.13.0+cpu`."""
    try:
        return Version(version).local == CPU
    except InvalidVersion:
        return False


def _is_for_cpus(distribution: str) -> bool:
    library = library_of_distribution(distribution)
    names = library.cpu_distributions if library else ()
    return any(canonicalize_name(name) == distribution for name in names)


def unique_names(targets: Sequence[Target]) -> list[str]:
    """Return one name per target: a target given again gets ` #2`, ` #3`, … (A/A testing)."""
    seen: dict[str, int] = {}
    names = []
    for target in targets:
        count = seen[target.name] = seen.get(target.name, 0) + 1
        names.append(target.name if count == 1 else f"{target.name} #{count}")
    return names


def _no_library(target: Target) -> str:
    known = [name for library in LIBRARIES.items().values() for name in library.distributions]
    names = distributions(target.packages)
    hint = suggestion(names[0], known)
    return (
        f"target {target.name!r}: no library that ciguard can test among {', '.join(names)}.{hint} "
        "A package that extends a library needs the library beside it, "
        "e.g. './ext.whl + torch==2.13.0'."
    )
