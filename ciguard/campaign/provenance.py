"""Provenance of a library's description: version, build and device."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from ciguard.knowledge import Provenance
from ciguard.libraries import description_version
from ciguard.targets import IndexPackage

if TYPE_CHECKING:
    from ciguard.libraries import Library
    from ciguard.targets import Environment, Target

_LOCAL = re.compile(r"\+(?:cpu|cu\d+|rocm[\d.]+|xpu)$")
"""Local version of a published build, which names its device; others are custom builds."""


def provenance_of(environment: Environment) -> Provenance:
    """Return the provenance of a description made in an environment."""
    library = environment.library
    return Provenance(
        library=library.name,
        version=_LOCAL.sub("", environment.version),
        requirement=pinned_requirement(environment.target, library),
        device=environment.target.device_class,
        adapter=description_version(library),
    )


def pinned_requirement(target: Target, library: Library) -> str:
    """Return the exact published version that a target requests of the library; empty if none.

    A nightly, a wheel of a pull request or the active environment may have the same version number
    but different code.
    """
    for package in target.packages:
        if isinstance(package, IndexPackage) and library.provides(package.distribution):
            version = package.version
            return f"{canonicalize_name(package.distribution)}=={version}" if version else ""
    return ""
