"""Of what library, in which build, a description is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from ciguard.knowledge import Provenance
from ciguard.libraries import description_version
from ciguard.targets import Published

if TYPE_CHECKING:
    from ciguard.libraries import Library
    from ciguard.targets import Environment, Target

_LOCAL = re.compile(r"\+(?:cpu|cu\d+|rocm[\d.]+|xpu)$")
"""Of a published build: which device it is for. Any other local version is somebody's own build."""


def provenance_of(environment: Environment) -> Provenance:
    """Return what describing an environment's library is a description of."""
    library = environment.library
    return Provenance(
        library=library.name,
        version=_LOCAL.sub("", environment.version),
        requirement=pinned_requirement(environment.target, library),
        device=environment.target.device_class,
        adapter=description_version(library),
    )


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
