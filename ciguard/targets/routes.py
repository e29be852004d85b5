"""Where a build for the target's device comes from: the routes to try, in order.

On the usual index, torch for Linux is the CUDA build, several gigabytes; a `cpu` target takes a
CPU build where one can be reached, and a `cuda` target a build that its driver runs.
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
"""Builds that a driver runs, best first, by `cuda_of_driver`; uv knows them by these names.

Not uv's `auto`: it falls back to CPU builds. torch has builds for CUDA 12.8 from 2.7 to 2.11, and
for CUDA 12.6 from 2.6 to 2.14. Those of older releases on the usual index run on these drivers.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallRoute:
    """One way to install a recipe."""

    name: str
    """Shown while it is tried."""
    requirements: tuple[str, ...]
    arguments: tuple[str, ...] = ()
    """For uv, beside the requirements."""
    variables: tuple[tuple[str, str], ...] = ()
    """For uv's environment."""


def routes(recipe: Recipe, links: Sequence[str]) -> Iterator[InstallRoute]:
    """Yield the ways to install a recipe, the best first; the last one is the index's default.

    Args:
        recipe: what to install.
        links: places with wheels beside the index; only folders are looked into.
    """
    chosen = next(filter(_has_device_builds, recipe.requirements), None)
    if chosen is None:
        everything = (*recipe.requirements, *recipe.companions)
        yield InstallRoute(name="the package index", requirements=everything)
        return
    requirement = Requirement(chosen)
    local = sorted(_wheels(requirement, links, python=recipe.python), key=_preference)
    others = tuple(text for text in recipe.requirements if text != chosen) + recipe.companions
    if recipe.cuda is None:
        for version in local[-1:]:
            extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
            pinned = f"{requirement.name}{extras}=={version}"
            yield InstallRoute(name=f"find-links ({pinned})", requirements=(pinned, *others))
    else:
        # A `+cpu` build ranks above the plain one of the same version.
        cpu_builds = [version for version in local if version.local == CPU]
        others += tuple(f"{requirement.name}!={version}" for version in cpu_builds)
    for backend in _CUDA_BACKENDS[recipe.cuda] if recipe.cuda else (CPU,):
        yield InstallRoute(
            name=f"the index of {backend} builds",
            requirements=(chosen, *others),
            arguments=("--torch-backend", backend),
            # It is often out of reach, and there is another way: do not insist.
            variables=(("UV_HTTP_RETRIES", "1"),),
        )
    yield InstallRoute(name="the package index", requirements=(chosen, *others))


def _has_device_builds(requirement: str) -> bool:
    library = library_of_distribution(Requirement(requirement).name)
    return library is not None and library.has_device_builds


def _preference(version: Version) -> tuple[bool, Version]:
    return version.local == CPU, version


def _wheels(requirement: Requirement, links: Sequence[str], *, python: str) -> Iterator[Version]:
    """Yield the versions of wheels in local folders that satisfy the requirement."""
    tags = frozenset(_tags(python))
    folders = [Path(link.removeprefix("file://")) for link in links]
    for path in itertools.chain.from_iterable(folder.glob("*.whl") for folder in folders):
        try:
            name, version, _, wheel_tags = parse_wheel_filename(path.name)
        except InvalidWheelFilename:
            continue  # uv passes over it as well
        is_it = name == canonicalize_name(requirement.name) and not tags.isdisjoint(wheel_tags)
        if is_it and requirement.specifier.contains(version, prereleases=True):
            yield version


def _tags(python: str) -> Iterable[Tag]:
    version = [int(part) for part in python.split(".")[:2]]
    yield from cpython_tags(version)
    yield from compatible_tags(version)
