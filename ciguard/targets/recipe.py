"""Recipe of a target's environment: the exact packages to install, and a key for the cache."""

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
from ciguard.targets.target import ActiveEnvironment, IndexPackage, Wheel, libraries_of

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.libraries import Library
    from ciguard.targets.drivers import Cuda
    from ciguard.targets.target import Target

RECIPE_SCHEMA = 1
"""Version of the build procedure; increase it to rebuild all environments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WheelFile:
    """Wheel to install from a file."""

    package: Wheel
    """Wheel with an absolute path."""
    digest: str
    """Digest of the wheel's content."""
    extra: str = ""
    """Extra of the wheel that installs CUDA; empty if none is needed."""

    @property
    def argument(self) -> str:
        """Argument for uv that installs the wheel."""
        path = self.package.path
        if not self.extra:
            return str(path)
        return f"{self.package.distribution}[{self.extra}] @ {path.as_uri()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """All that determines the content of an environment."""

    requirements: tuple[str, ...]
    """PEP 508 requirements of the target, with extras for CUDA on a `cuda` target."""
    companions: tuple[str, ...]
    """PEP 508 requirements that its libraries need but do not declare."""
    wheels: tuple[WheelFile, ...]
    """Wheels to install from files."""
    device_class: str
    """Device without its number: `cpu` or `cuda`."""
    cuda: Cuda | None
    """Newest CUDA version that the driver supports; None for a `cpu` target."""
    python: str
    """Python version of the target, by default the version that runs ciguard."""

    @property
    def key(self) -> str:
        """Key of the environment: a readable name, and a digest of what determines its content."""
        request = {
            "schema": RECIPE_SCHEMA,
            "requirements": self.requirements,
            "companions": self.companions,
            "wheels": [[file.package.path.name, file.digest] for file in self.wheels],
            "device": self._device,
            "python": self.python,
            "implementation": sys.implementation.name,
            "platform": sysconfig.get_platform(),
        }
        digest = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()[:12]
        names = [file.package.path.name.removesuffix(".whl") for file in self.wheels] + [
            requirement.replace("==", "-") for requirement in self.requirements
        ]
        readable = re.sub(r"[^A-Za-z0-9.+-]+", "_", "_".join(names))[:60]
        return f"{readable}-{self._device}-py{self.python}-{digest}"

    @property
    def _device(self) -> str:
        """Device and CUDA version, e.g. `cuda13.0`; builds differ by both."""
        return self.device_class + ".".join(map(str, self.cuda or ()))


def recipe_of(target: Target, *, cuda: Cuda | None = None) -> Recipe:
    """Return the recipe of a target that is not `current`.

    Args:
        target: the target.
        cuda: the newest CUDA version that the driver supports; None for a `cpu` target.

    Raises:
        ProvisioningError: if one of its wheels cannot be read, or the driver does not support the
            CUDA version of a package.
    """
    published = [package for package in target.packages if isinstance(package, IndexPackage)]
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
    """Return the version to which the target pins the library; None if it is not pinned."""
    for package in target.packages:
        if not isinstance(package, ActiveEnvironment) and library.provides(package.distribution):
            return package.version
    return None


def _companions(target: Target) -> tuple[str, ...]:
    requirements = [
        companion.requirement
        for library in libraries_of(target)
        for companion in library.companions
        if companion.is_needed_by(pinned_version(target, library))
    ]
    return tuple(dict.fromkeys(requirements))


def _requirement(package: IndexPackage, target: Target, cuda: Cuda | None) -> str:
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
    """Return a digest of the wheel's zip directory; reading a gigabyte of content takes too long.

    The directory has the name, size and checksum of every file. A rebuild that changes only the
    files' times has the same digest, so the environment is reused.
    """
    try:
        with zipfile.ZipFile(_resolved(path)) as wheel:
            members = sorted((item.filename, item.file_size, item.CRC) for item in wheel.infolist())
    except (OSError, zipfile.BadZipFile) as error:
        msg = (
            f"target {target.name!r}: cannot read the wheel {path}: {error}. Build the "
            "wheel first, or correct the path, which may be relative to the current "
            "folder."
        )
        raise ProvisioningError(msg) from error
    return hashlib.sha256(repr(members).encode()).hexdigest()
