"""The released versions of a library, as uv finds them where it is told to look for packages."""

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
from ciguard.targets.target import Active, Published
from ciguard.targets.uv_command import index_arguments, run_uv, uv_environment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.libraries import Library
    from ciguard.targets.target import Package, Target

_NONE_LEFT = "No solution found"


def released_versions(
    target: Target, library: Library, *, newest: str, oldest: str = ""
) -> Iterator[str]:
    """Yield the versions from `newest` down that have a wheel for the target's interpreter.

    uv is asked for the best version below the last one until it knows none: its indexes, its
    credentials and its rules decide, as they do when the version is installed.

    Raises:
        ProvisioningError: if uv cannot ask.
    """
    name = distribution_of(target, library)
    limits = f",>={oldest}" if oldest else ""
    wanted = f"{name}<={newest}{limits}"
    python = target.python or platform.python_version()
    with tempfile.TemporaryDirectory(prefix="ciguard-releases-") as folder:
        while version := _best(wanted, python=python, folder=Path(folder)):
            yield version
            wanted = f"{name}<{version}{limits}"


def newest_release(requirement: str, *, python: str = "") -> str:
    """Return the newest version that satisfies a requirement and has a wheel; empty without one.

    Args:
        requirement: such as `torch>=2,<2.14`.
        python: interpreter version; empty means the one ciguard runs on.

    Raises:
        ProvisioningError: if uv cannot ask.
    """
    with tempfile.TemporaryDirectory(prefix="ciguard-releases-") as folder:
        return _best(requirement, python=python or platform.python_version(), folder=Path(folder))


def _best(requirement: str, *, python: str, folder: Path) -> str:
    """Return the best version that satisfies a requirement; empty if there is none."""
    asked, answer = folder / "asked.in", folder / "answer.txt"
    asked.write_text(f"{requirement}\n", encoding="utf-8")
    answer.unlink(missing_ok=True)  # what is there is preferred
    resolved = run_uv(
        [
            *("pip", "compile", "--no-deps", "--no-build", "--no-header", "--no-annotate"),
            *("--python-version", python, *index_arguments(os.environ)),
            *("--output-file", str(answer), str(asked)),
        ],
        folder=folder,
        environment=uv_environment(os.environ),
        on_progress=lambda _: None,
    )
    if resolved.is_success:
        pins = [line for line in answer.read_text(encoding="utf-8").splitlines() if "==" in line]
        return Version(pins[0].partition("==")[2].partition(";")[0].strip()).public
    if _NONE_LEFT in resolved.complaint:
        return ""
    msg = f"{requirement}: its versions cannot be listed.\n{resolved.complaint}"
    raise ProvisioningError(msg)


def distribution_of(target: Target, library: Library) -> str:
    """Return the name of the package that holds the library in a target."""
    held = (p.distribution for p in target.packages if not isinstance(p, Active))
    return next((name for name in held if library.provides(name)), library.distributions[0])


def at_version(target: Target, library: Library, version: str) -> Target:
    """Return the same target with another released version of the library."""
    name = distribution_of(target, library)
    return replace(
        target,
        packages=tuple(
            Published(f"{name}{_extras(package)}=={version}")
            if isinstance(package, Active) or library.provides(package.distribution)
            else package
            for package in target.packages
        ),
    )


def _extras(package: Package) -> str:
    asked = Requirement(package.requirement).extras if isinstance(package, Published) else ()
    return f"[{','.join(sorted(asked))}]" if asked else ""
