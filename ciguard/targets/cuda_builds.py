"""Which builds of packages a CUDA target takes: extras that bring CUDA, and what is refused.

A build without CUDA imports without complaint on a machine with a GPU and computes on the CPU.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from ciguard.errors import ProvisioningError
from ciguard.libraries import library_of_distribution
from ciguard.targets.drivers import oldest_driver
from ciguard.targets.target import Published, Wheel, cpu_builds, is_cpu_version, libraries_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.libraries import CudaExtra
    from ciguard.targets.drivers import Cuda
    from ciguard.targets.target import Target

_ENDING = frozenset({"<", "<=", "==", "~="})
"""Operators of a specifier that has an upper end."""
_TOOLKIT_OF_PACKAGE = re.compile(r"nvidia-.+-cu(\d+)")


def refuse_cpu_builds(target: Target) -> None:
    """Refuse a CUDA target that names a package without CUDA.

    Raises:
        ProvisioningError: names the package and what to write instead.
    """
    for package in cpu_builds(target):
        library = library_of_distribution(package.distribution)
        instead = f", e.g. {library.distributions[0]}" if library else ""
        msg = (
            f"target {target.name!r}: {package} is built for CPUs only. "
            f"Name the package with CUDA{instead}, or write @cpu."
        )
        raise ProvisioningError(msg)


def cuda_extra(package: Published | Wheel, target: Target, cuda: Cuda) -> str:
    """Return the extra that brings a package's CUDA; empty if none is needed or one is named.

    Args:
        package: of the target.
        target: for the message.
        cuda: the newest that the driver runs.

    Raises:
        ProvisioningError: if each extra of this release brings a CUDA that the driver cannot run.
    """
    library = library_of_distribution(package.distribution)
    if library is None or _names_cuda(package):
        return ""
    released = [extra for extra in library.cuda_extras if _has_extra(package, extra)]
    usable = [extra for extra in released if extra.cuda <= cuda[0]]
    if released and not usable:
        major = released[-1].cuda
        msg = (
            f"target {target.name!r}: {package} brings CUDA {major}, and this machine's NVIDIA "
            f"driver runs CUDA {cuda[0]} at most. Install driver {oldest_driver(major)} or newer, "
            "or name an older release."
        )
        raise ProvisioningError(msg)
    return usable[0].name if usable else ""


def refuse_unfit_builds(target: Target, installed: Mapping[str, str], cuda: Cuda) -> None:
    """Refuse what was installed for a CUDA target if it cannot use this machine's GPU.

    Indexes differ in what they hold: a package's default build may be for the CPU, or for a
    CUDA that is newer than the driver.

    Args:
        target: for the message.
        installed: version of each distribution, by normalised name.
        cuda: the newest that the driver runs.

    Raises:
        ProvisioningError: names the package and what to try.
    """
    for library in libraries_of(target):
        for name, version in installed.items():
            if library.provides(name) and is_cpu_version(version):
                msg = (
                    f"target {target.name!r}: the index has {name} {version} only, which is built "
                    "for CPUs. Use an index with CUDA builds, or write @cpu."
                )
                raise ProvisioningError(msg)
    for name in installed:
        toolkit = _TOOLKIT_OF_PACKAGE.fullmatch(name)
        if toolkit and int(toolkit[1]) > cuda[0]:
            msg = (
                f"target {target.name!r}: the build that was found brings CUDA {toolkit[1]} "
                f"({name}), and this machine's NVIDIA driver runs CUDA {cuda[0]} at most. Install "
                "a newer driver, or name an older release."
            )
            raise ProvisioningError(msg)


def _has_extra(package: Published | Wheel, extra: CudaExtra) -> bool:
    """Return whether a release that the package's requirement allows has an extra.

    Of a range that ends before the first release with it, none has.
    """
    if package.version is not None or not isinstance(package, Published):
        return extra.is_in(package.version)
    asked = Requirement(package.requirement).specifier
    first = next(spec.version for spec in SpecifierSet(extra.versions) if spec.operator == ">=")
    ends = any(spec.operator in _ENDING for spec in asked)
    return not ends or asked.contains(first, prereleases=True)


def _names_cuda(package: Published | Wheel) -> bool:
    extras = Requirement(package.requirement).extras if isinstance(package, Published) else ()
    return any("cuda" in extra.lower() for extra in extras)
