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

from ciguard.errors import ProvisioningError
from ciguard.targets.target import Active, Published, Wheel, libraries_of

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.targets.libraries import Library
    from ciguard.targets.target import Target

RECIPE_SCHEMA = 1
"""Raised when environments must be built anew because they are built differently."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """The exact request that an environment answers."""

    requirements: tuple[str, ...]
    """PEP 508: what the target names."""
    companions: tuple[str, ...]
    """PEP 508: what its libraries need beside them."""
    wheels: tuple[tuple[Path, str], ...]
    """Files to install, each with a digest of its content."""
    device_class: str
    python: str
    """Version asked for, or that of the interpreter that ciguard runs on."""

    @property
    def key(self) -> str:
        """A readable name, then a digest of everything that the environment depends on."""
        asked = {
            "schema": RECIPE_SCHEMA,
            "requirements": self.requirements,
            "companions": self.companions,
            "wheels": [[path.name, digest] for path, digest in self.wheels],
            "device": self.device_class,
            "python": self.python,
            "implementation": sys.implementation.name,
            "platform": sysconfig.get_platform(),
        }
        digest = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:12]
        named = [path.name.removesuffix(".whl") for path, _ in self.wheels] + [
            requirement.replace("==", "-") for requirement in self.requirements
        ]
        readable = re.sub(r"[^A-Za-z0-9.+-]+", "_", "_".join(named))[:60]
        return f"{readable}-{self.device_class}-py{self.python}-{digest}"


def recipe_of(target: Target) -> Recipe:
    """Return what must be installed for a target that is not `current`.

    Raises:
        ProvisioningError: if one of its wheels cannot be read.
    """
    published = [str(package) for package in target.packages if isinstance(package, Published)]
    wheels = [package.path for package in target.packages if isinstance(package, Wheel)]
    return Recipe(
        requirements=tuple(published),
        companions=_companions(target),
        wheels=tuple((_resolved(path), _digest(path, target)) for path in wheels),
        device_class=target.device_class,
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
