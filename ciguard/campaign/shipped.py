"""The constraints that come with ciguard, and when they hold for an environment."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from ciguard.libraries import description_version
from ciguard.project import seeds_folder
from ciguard.targets import Published

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.knowledge import Provenance
    from ciguard.libraries import Library
    from ciguard.targets import Environment, Target

_LOCAL = re.compile(r"\+(?:cpu|cu\d+|rocm[\d.]+|xpu)$")
"""Of a published build: which device it is for. Any other local version is somebody's own build."""


def shipped_folder() -> Path:
    """Return where the files of constraints are."""
    return seeds_folder() / "constraints"


def shipped_files(library: str, folder: Path | None = None) -> list[Path]:
    """Return the shipped files of a library, that of the newest version first."""
    found = []
    for path in (folder or shipped_folder()).glob(f"{library}-*.jsonl"):
        try:
            found.append((Version(path.stem.removeprefix(f"{library}-")), path))
        except InvalidVersion:
            continue  # of a library whose name begins like this one's
    return [path for _, path in sorted(found, reverse=True)]


def shipped_file(target: Target, library: Library, folder: Path | None = None) -> Path | None:
    """Return the shipped file that may hold for a target: that of the exact version it asks for."""
    pinned = pinned_requirement(target, library)
    if not pinned:
        return None
    path = (folder or shipped_folder()) / f"{library.name}-{pinned.partition('==')[2]}.jsonl"
    return path if path.is_file() else None


def public_version(version: str) -> str:
    """Return a library's version without the device that its build is for."""
    return _LOCAL.sub("", version)


def pinned_requirement(target: Target, library: Library) -> str:
    """Return the exact published version of the library that a target asks for; empty if none.

    A nightly, a wheel of a pull request or the active environment may call themselves the same
    version and be another library.
    """
    for package in target.packages:
        if isinstance(package, Published) and library.provides(package.distribution):
            version = package.version
            return f"{canonicalize_name(package.distribution)}=={version}" if version else ""
    return ""


def holds_for(provenance: Provenance, environment: Environment) -> bool:
    """Return whether shipped records say what describing the environment would say."""
    target, library = environment.target, environment.library
    return (
        provenance.library == library.name
        and provenance.requirement == pinned_requirement(target, library) != ""
        and provenance.version == public_version(environment.version)
        and provenance.device == target.device_class
        and provenance.adapter == description_version(library)
    )
