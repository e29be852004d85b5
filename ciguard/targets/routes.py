"""Installation routes: the indexes to try, in order, for a build for the target's device.

On PyPI, torch for Linux is a CUDA build of several gigabytes. A `cpu` target gets a CPU build if
one is available, and a `cuda` target gets a build that the driver supports.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from ciguard.libraries import library_of_distribution
from ciguard.targets.target import CPU

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from packaging.version import Version

    from ciguard.targets.drivers import Cuda
    from ciguard.targets.recipe import Recipe

_CUDA_BACKENDS: dict[Cuda, tuple[str, ...]] = {
    (13, 0): ("cu130",),
    (12, 8): ("cu128", "cu126"),
    (12, 0): ("cu126",),
    (11, 0): ("cu118",),
}
"""uv's names for the builds that a driver supports, best first, by result of `cuda_of_driver`.

uv's own `auto` is not used, since it falls back to CPU builds. torch has builds for CUDA 12.8 in
versions 2.7 to 2.11, and for CUDA 12.6 in versions 2.6 to 2.14. These drivers also support the
builds of older releases on PyPI.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallRoute:
    """One way to install a recipe."""

    name: str
    """Name for progress messages."""
    requirements: tuple[str, ...]
    """PEP 508 requirements to install."""
    arguments: tuple[str, ...] = ()
    """Further arguments for uv."""
    variables: tuple[tuple[str, str], ...] = ()
    """Environment variables to set for uv."""


def routes(recipe: Recipe, links: Sequence[str]) -> Iterator[InstallRoute]:
    """Yield the ways to install a recipe, the best first; the last is the default index.

    Args:
        recipe: the recipe to install.
        links: folders and addresses with further wheels; only the folders are searched here.
    """
    device_requirement = next(filter(_has_device_builds, recipe.requirements), None)
    if device_requirement is None:
        requirements = (*recipe.requirements, *recipe.companions)
        yield InstallRoute(name="the package index", requirements=requirements)
        return
    requirement = Requirement(device_requirement)
    local = sorted(_wheels(requirement, links, python=recipe.python), key=_wheel_sort_key)
    other_requirements = (
        tuple(text for text in recipe.requirements if text != device_requirement)
        + recipe.companions
    )
    if recipe.cuda is None:
        for version in local[-1:]:
            extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
            pinned = f"{requirement.name}{extras}=={version}"
            yield InstallRoute(
                name=f"find-links ({pinned})", requirements=(pinned, *other_requirements)
            )
    else:
        # uv would prefer a `+cpu` build to the plain build of the same version.
        cpu_builds = [version for version in local if version.local == CPU]
        other_requirements += tuple(f"{requirement.name}!={version}" for version in cpu_builds)
    for backend in _CUDA_BACKENDS[recipe.cuda] if recipe.cuda else (CPU,):
        yield InstallRoute(
            name=f"the index of {backend} builds",
            requirements=(device_requirement, *other_requirements),
            arguments=("--torch-backend", backend),
            # This index is often unreachable, and there is another route, so retry only once.
            variables=(("UV_HTTP_RETRIES", "1"),),
        )
    yield InstallRoute(
        name="the package index", requirements=(device_requirement, *other_requirements)
    )


def _has_device_builds(requirement: str) -> bool:
    library = library_of_distribution(Requirement(requirement).name)
    return library is not None and library.has_device_builds


def _wheel_sort_key(version: Version) -> tuple[bool, Version]:
    return version.local == CPU, version


def _wheels(requirement: Requirement, links: Sequence[str], *, python: str) -> Iterator[Version]:
    """Yield the versions of the wheels in local folders that satisfy a requirement."""
    tags = frozenset(_tags(python))
    folders = [Path(link.removeprefix("file://")) for link in links]
    for path in itertools.chain.from_iterable(folder.glob("*.whl") for folder in folders):
        try:
            name, version, _, wheel_tags = parse_wheel_filename(path.name)
        except InvalidWheelFilename:
            continue  # uv skips it, too
        is_match = name == canonicalize_name(requirement.name) and not tags.isdisjoint(wheel_tags)
        if is_match and requirement.specifier.contains(version, prereleases=True):
            yield version


def _tags(python: str) -> Iterable[Tag]:
    version = [int(part) for part in python.split(".")[:2]]
    yield from cpython_tags(version)
    yield from compatible_tags(version)
