"""Which changes can matter to a GPU: device code, what builds it, and the packages it comes from.

In doubt a change counts: a row too many costs minutes, a regression that is missed costs more.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.domain.text import visible
from ciguard.planning.checkout import shown_path
from ciguard.planning.upgrades import changes_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from ciguard.planning.pins import PackagePin
    from ciguard.planning.upgrades import Revision
    from ciguard.planning.uses import Usage

NAMING_GPUS = (
    r"(^|[^a-z0-9]|%2b)("
    r"(lib|py)?cuda|(lib)?cu(blas|dnn|fft|rand|solver|sparse)|cupy|cutlass|cu1[0-9][0-9]"
    r"|nvcc|nvrtc|nvidia|nccl|tensorrt|triton|pallas|rocm"
    r"|hip(ify|cc|rtc|blas|fft|rand|solver|sparse|_runtime|_platform)|gpus?([^a-z0-9]|$))"
)
"""A word that names GPUs, in small letters: means the same to Python and to git."""
_NAMES_GPUS = re.compile(NAMING_GPUS, re.IGNORECASE)
_NATIVE = re.compile(
    r".*\.(cuh?|hip|cl|ptx|cubin|fatbin|c|cc|cpp|cxx|h|hh|hpp|hxx|inc|inl|m|mm|pyx|pxd|f90|rs|so|whl"
    r"|cmake|mk|bzl|bazel|gn)"
    r"|(.*/)?(CMakeLists\.txt|Makefile|meson\.build|BUILD|WORKSPACE)",
    re.IGNORECASE | re.DOTALL,
)
"""Sources of what runs on a device or calls it, what is built of them, and what builds it."""
_JAX_COMPILER = "jaxlib"
"""Holds the compiler that JAX's plugins for GPUs work with."""


def gpu_reasons(
    paths: Sequence[str], naming: Collection[str], revisions: Iterable[Revision], usage: Usage
) -> Iterator[str]:
    """Yield why changed files may matter to a GPU; nothing if none of them does.

    Args:
        paths: of the changed files, documentation left out.
        naming: of the files with a changed line that matches `NAMING_GPUS`.
        revisions: of the requirement files among them.
        usage: what the sources use.
    """
    yield from _requirements(list(revisions))
    for path in paths:
        if _NATIVE.fullmatch(path) or _NAMES_GPUS.search(path):
            yield f"{_shown(path)} may be device code, or build some"
    for path in usage.kernels:
        yield f"the change reaches {_shown(path)}, which may hold kernels"
    for path in usage.annotated:
        yield f"the change reaches annotated functions in {_shown(path)}"
    for path in paths:
        if path in naming:
            yield f"changed lines of {_shown(path)} name a GPU"


def _requirements(revisions: Sequence[Revision]) -> Iterator[str]:
    for change in changes_of(revisions):
        yield f"the requirement of {change.library} differs in {_shown(change.path)}"
    for revision in revisions:
        for package in _repinned(revision):
            yield f"the requirement of {visible(package)} differs in {_shown(revision.path)}"
        if not revision.is_whole:
            yield f"{_shown(revision.path)} was not read"


def _repinned(revision: Revision) -> list[str]:
    """Return the packages that bring code for GPUs, of which other versions are asked for."""
    differing = _written(revision.base) ^ _written(revision.head)
    return sorted({package for package, _ in differing})


def _written(pins: Iterable[PackagePin]) -> set[tuple[str, str]]:
    return {
        (pin.package, str(pin))
        for pin in pins
        if _NAMES_GPUS.search(pin.package) or pin.package == _JAX_COMPILER
    }


def _shown(path: str) -> str:
    return visible(shown_path(path))
