"""Targets: the packages, device, mode, interpreter and variables with which cases run."""

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
"""Name of the CPU device."""
EAGER = "eager"
"""Name of the mode that executes calls directly."""
GUARDED = "guarded"
"""Name of the mode that executes calls directly, under the memory guard."""

TF32 = "tf32"
"""Name of the mode that executes calls directly, and may round products on a GPU to TF32."""


@dataclass(frozen=True, slots=True)
class IndexPackage:
    """A package from an index."""

    requirement: str
    """PEP 508 requirement in normal form, e.g. `torch==2.13.0`."""

    @property
    def distribution(self) -> str:
        """Normalised name of the package."""
        return canonicalize_name(Requirement(self.requirement).name)

    @property
    def version(self) -> str | None:
        """Version to which the requirement pins the package; None if it is not pinned."""
        pins = [spec for spec in Requirement(self.requirement).specifier if spec.operator == "=="]
        return pins[0].version if pins and not pins[0].version.endswith(".*") else None

    def __str__(self) -> str:
        """Return the requirement."""
        return self.requirement


@dataclass(frozen=True, slots=True)
class Wheel:
    """A package from a file, such as the build of a pull request."""

    path: Path
    """Path as the user wrote it; relative to the working folder when the target is provisioned."""

    @property
    def distribution(self) -> str:
        """Normalised name of the package, from the file's name."""
        return parse_wheel_filename(self.path.name)[0]

    @property
    def version(self) -> str | None:
        """Version of the package, from the file's name."""
        return str(parse_wheel_filename(self.path.name)[1])

    def __str__(self) -> str:
        """Return the path, quoted for a shell if necessary."""
        return shlex.quote(os.fspath(self.path))


@dataclass(frozen=True, slots=True)
class ActiveEnvironment:
    """The active environment of ciguard's user, into which nothing is installed."""

    library: str = ""
    """Name of the library to test; empty for the first library that is installed."""

    def __str__(self) -> str:
        """Return `current` or `current[torch]`."""
        return f"current[{self.library}]" if self.library else "current"


Package: TypeAlias = IndexPackage | Wheel | ActiveEnvironment
"""Package of a target; the active environment takes the place of all packages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One environment in which cases run, as parsed by `parse_target`."""

    packages: tuple[Package, ...]
    """Packages in the order of the text; an `ActiveEnvironment` has no packages beside it."""
    device: str = CPU
    """Device: `cpu`, `cuda:0`, `cuda:1`, …"""
    mode: str = EAGER
    """Execution mode of calls: `eager`, `guarded`, `tf32`, or a mode of the library."""
    variables: tuple[tuple[str, str], ...] = ()
    """Further environment variables of the workers, sorted by name."""
    python: str = ""
    """Version of the interpreter, e.g. `3.10`; empty for the version that runs ciguard."""

    @property
    def name(self) -> str:
        """Canonical text of the target; `parse_target` returns an equal target for it."""
        device = {CPU: "", "cuda:0": "@cuda"}.get(self.device, f"@{self.device}")
        words = [" + ".join(map(str, self.packages)) + device]
        words += [self.mode] if self.mode != EAGER else []
        words += [f"{key}={shlex.quote(value)}" for key, value in self.variables]
        if self.python:
            words.append(f"python{self.python}")
        return " ".join(words)

    @property
    def is_current(self) -> bool:
        """True for the active environment, into which nothing is installed."""
        return isinstance(self.packages[0], ActiveEnvironment)

    @property
    def device_class(self) -> str:
        """Device without its number, `cpu` or `cuda`, for which a package must be built."""
        return self.device.partition(":")[0]

    @property
    def device_number(self) -> int:
        """Number of the device among the GPUs that the job sees; 0 for a CPU."""
        return int(self.device.partition(":")[2] or 0)

    def __str__(self) -> str:
        """Return the target's name."""
        return self.name


def libraries_of(target: Target) -> tuple[Library, ...]:
    """Return the registered libraries among a target's packages, the one under test first.

    A library comes before its backends, whatever their order in the text. The result for `current`
    is empty: its library is known only after an inspection of the environment.

    Raises:
        UnknownLibraryError: if ciguard has an adapter for none of the packages.
    """
    package = target.packages[0]
    if isinstance(package, ActiveEnvironment):
        return (LIBRARIES.items()[package.library],) if package.library else ()
    libraries = {
        library.name: library
        for library in map(library_of_distribution, distributions(target.packages))
        if library is not None
    }
    if not libraries:
        raise UnknownLibraryError(_no_library_message(target))
    backends = {name for library in libraries.values() for name in library.backends}
    return tuple(sorted(libraries.values(), key=lambda library: library.name in backends))


def distributions(packages: Iterable[Package]) -> list[str]:
    """Return the normalised names of the packages that are installed."""
    return [
        package.distribution for package in packages if not isinstance(package, ActiveEnvironment)
    ]


def cpu_builds(target: Target) -> list[IndexPackage | Wheel]:
    """Return the packages of a target that are built without CUDA, whatever the target's device."""
    return [
        package
        for package in target.packages
        if not isinstance(package, ActiveEnvironment)
        and (_is_cpu_distribution(package.distribution) or is_cpu_version(package.version or ""))
    ]


def is_cpu_version(version: str) -> bool:
    """Return whether a version denotes a build for CPUs, such as `2.13.0+cpu`."""
    try:
        return Version(version).local == CPU
    except InvalidVersion:
        return False


def _is_cpu_distribution(distribution: str) -> bool:
    library = library_of_distribution(distribution)
    names = library.cpu_distributions if library else ()
    return any(canonicalize_name(name) == distribution for name in names)


def unique_names(targets: Sequence[Target]) -> list[str]:
    """Return one name per target; a repeated target gets ` #2`, ` #3`, … (A/A testing)."""
    counts: dict[str, int] = {}
    names = []
    for target in targets:
        count = counts[target.name] = counts.get(target.name, 0) + 1
        names.append(target.name if count == 1 else f"{target.name} #{count}")
    return names


def _no_library_message(target: Target) -> str:
    supported = [name for library in LIBRARIES.items().values() for name in library.distributions]
    names = distributions(target.packages)
    hint = suggestion(names[0], supported)
    return (
        f"target {target.name!r}: ciguard cannot test any of {', '.join(names)}.{hint} "
        "To test a package that extends a library, add the library, "
        "e.g. './ext.whl + torch==2.13.0'."
    )
