"""What exactly a target's environment is made of, and the key that names it."""

from __future__ import annotations

import hashlib
import json
import platform
import re
import sys
import sysconfig
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.requirements import Requirement

from ciguard.errors import ProvisioningError
from ciguard.targets.cuda_builds import cuda_extra
from ciguard.targets.target import Active, Published, Wheel, libraries_of

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.libraries import Library
    from ciguard.targets.drivers import Cuda
    from ciguard.targets.target import Target

RECIPE_SCHEMA = 1
"""Raised when environments must be built anew because they are built differently."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WheelFile:
    """A file to install."""

    package: Wheel
    """Its path is absolute."""
    digest: str
    """Of its content."""
    extra: str = ""
    """That brings its CUDA; empty for none."""

    @property
    def argument(self) -> str:
        """What uv is given."""
        path = self.package.path
        if not self.extra:
            return str(path)
        return f"{self.package.distribution}[{self.extra}] @ {path.as_uri()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """The exact request that an environment answers."""

    requirements: tuple[str, ...]
    """PEP 508: what the target names, with the extras that bring CUDA on a `cuda` target."""
    companions: tuple[str, ...]
    """PEP 508: what its libraries need beside them."""
    wheels: tuple[WheelFile, ...]
    device_class: str
    cuda: Cuda | None
    """The newest that the driver runs, on which builds depend; None on a `cpu` target."""
    python: str
    """Version asked for, or that of the interpreter that ciguard runs on."""

    @property
    def key(self) -> str:
        """A readable name, then a digest of everything that the environment depends on."""
        asked = {
            "schema": RECIPE_SCHEMA,
            "requirements": self.requirements,
            "companions": self.companions,
            "wheels": [[file.package.path.name, file.digest] for file in self.wheels],
            "device": self._device,
            "python": self.python,
            "implementation": sys.implementation.name,
            "platform": sysconfig.get_platform(),
        }
        digest = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:12]
        named = [file.package.path.name.removesuffix(".whl") for file in self.wheels] + [
            requirement.replace("==", "-") for requirement in self.requirements
        ]
        readable = re.sub(r"[^A-Za-z0-9.+-]+", "_", "_".join(named))[:60]
        return f"{readable}-{self._device}-py{self.python}-{digest}"

    @property
    def _device(self) -> str:
        """The device as it decides about builds, e.g. `cuda13.0`."""
        return self.device_class + ".".join(map(str, self.cuda or ()))


def recipe_of(target: Target, *, cuda: Cuda | None = None) -> Recipe:
    """Return what must be installed for a target that is not `current`.

    Args:
        target: what to install.
        cuda: the newest that the driver runs; None for a `cpu` target.

    Raises:
        ProvisioningError: if one of its wheels cannot be read, or brings a CUDA that the driver
            cannot run.
    """
    published = [package for package in target.packages if isinstance(package, Published)]
    wheels = [package for package in target.packages if isinstance(package, Wheel)]
    return Recipe(
        requirements=tuple(_requirement(package, target, cuda) for package in published),
        companions=_companions(target),
        wheels=tuple(_wheel_file(package, target, cuda) for package in wheels),
        device_class=target.device_class,
        cuda=cuda,
        python=target.python or platform.python_version(),
    )


def pinned_version(target: Target, library: Library) -> str | None:
    """Return the version of the library that the target asks for, None when it is left open."""
    for package in target.packages:
        if not isinstance(package, Active) and library.provides(package.distribution):
            return package.version
    return None


def _companions(target: Target) -> tuple[str, ...]:
    needed = [
        companion.requirement
        for library in libraries_of(target)
        for companion in library.companions
        if companion.is_needed_by(pinned_version(target, library))
    ]
    return tuple(dict.fromkeys(needed))


def _requirement(package: Published, target: Target, cuda: Cuda | None) -> str:
    extra = cuda_extra(package, target, cuda) if cuda else ""
    if not extra:
        return package.requirement
    requirement = Requirement(package.requirement)
    extras = ",".join(sorted({*requirement.extras, extra}))
    return f"{requirement.name}[{extras}]{requirement.specifier}"


def _wheel_file(package: Wheel, target: Target, cuda: Cuda | None) -> WheelFile:
    return WheelFile(
        package=Wheel(_resolved(package.path)),
        digest=_digest(package.path, target),
        extra=cuda_extra(package, target, cuda) if cuda else "",
    )


def _resolved(path: Path) -> Path:
    return path.expanduser().resolve()


def _digest(path: Path, target: Target) -> str:
    """Return a digest of a wheel's content, from its directory: builds of a gigabyte are common.

    The directory holds name, size and checksum of every file; a rebuild that changes nothing but
    times keeps its environment.
    """
    try:
        with zipfile.ZipFile(_resolved(path)) as wheel:
            members = sorted((item.filename, item.file_size, item.CRC) for item in wheel.infolist())
    except (OSError, zipfile.BadZipFile) as error:
        msg = (
            f"target {target.name!r}: the wheel {path} cannot be read: {error}. "
            "Build it first, or correct the path; relative ones start at the current folder."
        )
        raise ProvisioningError(msg) from error
    return hashlib.sha256(repr(members).encode()).hexdigest()
