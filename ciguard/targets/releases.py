"""Released versions of a library, as uv resolves them with its configured indexes."""

from __future__ import annotations

import os
import platform
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from packaging.version import Version

from ciguard.errors import ProvisioningError
from ciguard.scratch import scratch_prefix
from ciguard.targets.target import ActiveEnvironment, IndexPackage
from ciguard.targets.uv_command import index_arguments, run_uv, uv_environment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.libraries import Library
    from ciguard.targets.target import Package, Target

_NO_SOLUTION = "No solution found"


def released_versions(
    target: Target, library: Library, *, newest: str, oldest: str = ""
) -> Iterator[str]:
    """Yield the versions that have a wheel for the target's interpreter, from `newest` to `oldest`.

    Each is the version that uv prefers among those below the previous one. So uv applies the same
    indexes, credentials and rules as when it installs the version.

    Raises:
        ProvisioningError: if uv cannot query the indexes.
    """
    name = distribution_of(target, library)
    limits = f",>={oldest}" if oldest else ""
    requirement = f"{name}<={newest}{limits}"
    python = target.python or platform.python_version()
    with tempfile.TemporaryDirectory(prefix=scratch_prefix("releases")) as folder:
        while version := _best_version(requirement, python=python, folder=Path(folder)):
            yield version
            requirement = f"{name}<{version}{limits}"


def newest_release(requirement: str, *, python: str = "") -> str:
    """Return the newest version with a wheel that satisfies a requirement; empty if there is none.

    Args:
        requirement: a requirement such as `torch>=2,<2.14`.
        python: the version of the interpreter; by default the version that runs ciguard.

    Raises:
        ProvisioningError: if uv cannot query the indexes.
    """
    with tempfile.TemporaryDirectory(prefix=scratch_prefix("releases")) as folder:
        return _best_version(
            requirement, python=python or platform.python_version(), folder=Path(folder)
        )


def _best_version(requirement: str, *, python: str, folder: Path) -> str:
    """Return the version that uv prefers for a requirement; empty if no version satisfies it."""
    requirement_file, pin_file = folder / "requirement.in", folder / "pin.txt"
    requirement_file.write_text(f"{requirement}\n", encoding="utf-8")
    pin_file.unlink(missing_ok=True)  # uv would prefer the versions in an existing file
    resolution = run_uv(
        [
            *("pip", "compile", "--no-deps", "--no-build", "--no-header", "--no-annotate"),
            *("--python-version", python, *index_arguments(os.environ)),
            *("--output-file", str(pin_file), str(requirement_file)),
        ],
        folder=folder,
        environment=uv_environment(os.environ),
        on_progress=lambda _: None,
    )
    if resolution.is_success:
        pins = [line for line in pin_file.read_text(encoding="utf-8").splitlines() if "==" in line]
        return Version(pins[0].partition("==")[2].partition(";")[0].strip()).public
    if _NO_SOLUTION in resolution.error_output:
        return ""
    msg = f"{requirement}: uv cannot list the versions.\n{resolution.error_output}"
    raise ProvisioningError(msg)


def distribution_of(target: Target, library: Library) -> str:
    """Return the name of the target's package that provides the library.

    If no package does, as for `current`, the result is the library's first distribution.
    """
    names = (p.distribution for p in target.packages if not isinstance(p, ActiveEnvironment))
    return next(
        (distribution for distribution in names if library.provides(distribution)),
        library.distributions[0],
    )


def at_version(target: Target, library: Library, version: str) -> Target:
    """Return the same target with another released version of the library."""
    name = distribution_of(target, library)
    return replace(
        target,
        packages=tuple(
            IndexPackage(f"{name}{_extras(package)}=={version}")
            if isinstance(package, ActiveEnvironment) or library.provides(package.distribution)
            else package
            for package in target.packages
        ),
    )


def _extras(package: Package) -> str:
    extras = Requirement(package.requirement).extras if isinstance(package, IndexPackage) else ()
    return f"[{','.join(sorted(extras))}]" if extras else ""
