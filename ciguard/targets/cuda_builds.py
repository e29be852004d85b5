"""Builds of packages for CUDA targets: extras that install CUDA, and checks that the GPU is used.

On a machine with a GPU, a build without CUDA imports without an error but computes on the CPU.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from ciguard.errors import ProvisioningError
from ciguard.libraries import library_of_distribution
from ciguard.targets.drivers import oldest_driver
from ciguard.targets.target import IndexPackage, Wheel, cpu_builds, is_cpu_version, libraries_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.libraries import CudaExtra
    from ciguard.targets.drivers import Cuda
    from ciguard.targets.target import Target

_UPPER_BOUNDS = frozenset({"<", "<=", "==", "~="})
"""Operators of version specifiers with an upper bound."""
_CUDA_MAJOR_OF_PACKAGE = re.compile(r"nvidia-.+-cu(\d+)")


def refuse_cpu_builds(target: Target) -> None:
    """Raise an error if a CUDA target names a package that is built without CUDA.

    Raises:
        ProvisioningError: if there is such a package; the message also names an alternative.
    """
    for package in cpu_builds(target):
        library = library_of_distribution(package.distribution)
        instead = f", e.g. {library.distributions[0]}" if library else ""
        msg = (
            f"target {target.name!r}: {package} is built for CPUs only. "
            f"Name a package with CUDA{instead}, or write @cpu."
        )
        raise ProvisioningError(msg)


def cuda_extra(package: IndexPackage | Wheel, target: Target, cuda: Cuda) -> str:
    """Return the extra that installs CUDA for a package.

    The result is empty if the package needs no extra, or if its requirement already names one.

    Args:
        package: the package of the target.
        target: the target, for the error message.
        cuda: the newest CUDA version that the driver supports.

    Raises:
        ProvisioningError: if the driver supports none of the CUDA versions for which the release
            has extras.
    """
    library = library_of_distribution(package.distribution)
    if library is None or _has_cuda_extra(package):
        return ""
    released = [extra for extra in library.cuda_extras if _has_extra(package, extra)]
    usable = [extra for extra in released if extra.cuda <= cuda[0]]
    if released and not usable:
        major = released[-1].cuda
        msg = (
            f"target {target.name!r}: {package} needs CUDA {major}, but this machine's NVIDIA "
            f"driver supports CUDA {cuda[0]} at most. Install driver {oldest_driver(major)} or "
            "newer, or name an older release."
        )
        raise ProvisioningError(msg)
    return usable[0].name if usable else ""


def refuse_unusable_builds(target: Target, installed: Mapping[str, str], cuda: Cuda) -> None:
    """Raise an error if a package that was installed for a CUDA target cannot use the GPU.

    Indexes differ: a package's default build may be for the CPU, or for a CUDA version that the
    driver does not support.

    Args:
        target: the target, for the error message.
        installed: versions of the installed distributions, by normalised name.
        cuda: the newest CUDA version that the driver supports.

    Raises:
        ProvisioningError: if there is such a package; the message also says what to try.
    """
    for library in libraries_of(target):
        for name, version in installed.items():
            if library.provides(name) and is_cpu_version(version):
                msg = (
                    f"target {target.name!r}: the index has only {name} {version}, which is built "
                    "for CPUs. Use an index with CUDA builds, or write @cpu."
                )
                raise ProvisioningError(msg)
    for name in installed:
        toolkit = _CUDA_MAJOR_OF_PACKAGE.fullmatch(name)
        if toolkit and int(toolkit[1]) > cuda[0]:
            msg = (
                f"target {target.name!r}: the installed build needs CUDA {toolkit[1]} ({name}), "
                f"but this machine's NVIDIA driver supports CUDA {cuda[0]} at most. Install a "
                "newer driver, or name an older release."
            )
            raise ProvisioningError(msg)


def _has_extra(package: IndexPackage | Wheel, extra: CudaExtra) -> bool:
    """Return whether at least one release that the package's requirement allows has the extra.

    No release has it if the requirement's range ends before the first release with the extra.
    """
    if package.version is not None or not isinstance(package, IndexPackage):
        return extra.is_available_in(package.version)
    specifier = Requirement(package.requirement).specifier
    first_with_extra = next(
        spec.version for spec in SpecifierSet(extra.versions) if spec.operator == ">="
    )
    has_upper_bound = any(spec.operator in _UPPER_BOUNDS for spec in specifier)
    return not has_upper_bound or specifier.contains(first_with_extra, prereleases=True)


def _has_cuda_extra(package: IndexPackage | Wheel) -> bool:
    extras = Requirement(package.requirement).extras if isinstance(package, IndexPackage) else ()
    return any("cuda" in extra.lower() for extra in extras)
