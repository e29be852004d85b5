"""Decides whether changes may matter on a GPU: device code, its build files and its packages.

In doubt, a change matters: an unnecessary job costs minutes, but a missed regression costs more.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.domain.text import visible
from ciguard.planning.checkout import display_path
from ciguard.planning.upgrades import changes_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from ciguard.planning.pins import PackagePin
    from ciguard.planning.upgrades import Revision
    from ciguard.planning.uses import Usage

GPU_WORDS = (
    r"(^|[^a-z0-9]|%2b)("
    r"(lib|py)?cuda|(lib)?cu(blas|dnn|fft|rand|solver|sparse)|cupy|cutlass|cu1[0-9][0-9]"
    r"|nvcc|nvrtc|nvidia|nccl|tensorrt|triton|pallas|rocm"
    r"|hip(ify|cc|rtc|blas|fft|rand|solver|sparse|_runtime|_platform)|gpus?([^a-z0-9]|$))"
)
"""Regular expression for words that refer to GPUs, in lower case; valid in Python and in git."""
_GPU_WORDS_PATTERN = re.compile(GPU_WORDS, re.IGNORECASE)
_NATIVE_FILE = re.compile(
    r".*\.(cuh?|hip|cl|ptx|cubin|fatbin|c|cc|cpp|cxx|h|hh|hpp|hxx|inc|inl|m|mm|pyx|pxd|f90|rs|so|whl"
    r"|cmake|mk|bzl|bazel|gn)"
    r"|(.*/)?(CMakeLists\.txt|Makefile|meson\.build|BUILD|WORKSPACE)",
    re.IGNORECASE | re.DOTALL,
)
"""Paths of native sources, built binaries and build files."""
_JAX_COMPILER_PACKAGE = "jaxlib"
"""Package with the compiler that JAX's GPU plugins use."""


def gpu_reasons(
    paths: Sequence[str],
    gpu_paths: Collection[str],
    changed_requirements: Iterable[Revision],
    usage: Usage,
) -> Iterator[str]:
    """Yield reasons why changed files may matter on a GPU; nothing if they cannot.

    Args:
        paths: the paths of the changed files, without documentation.
        gpu_paths: the paths of files with a changed line that matches `GPU_WORDS`.
        changed_requirements: the changed requirement files, in the base and after the change.
        usage: the files with kernels or annotated functions that the change reaches.
    """
    yield from _requirement_reasons(list(changed_requirements))
    for path in paths:
        if _NATIVE_FILE.fullmatch(path) or _GPU_WORDS_PATTERN.search(path):
            yield f"{_shown(path)} may be device code, or part of its build"
    for path in usage.kernel_files:
        yield f"the change reaches {_shown(path)}, which may contain kernels"
    for path in usage.annotated_files:
        yield f"the change reaches annotated functions in {_shown(path)}"
    for path in paths:
        if path in gpu_paths:
            yield f"changed lines of {_shown(path)} name a GPU"


def _requirement_reasons(revisions: Sequence[Revision]) -> Iterator[str]:
    for change in changes_of(revisions):
        yield f"the requirement of {change.library} differs in {_shown(change.path)}"
    for revision in revisions:
        for package in _changed_gpu_packages(revision):
            yield f"the requirement of {visible(package)} differs in {_shown(revision.path)}"
        if not revision.is_whole:
            yield f"{_shown(revision.path)} was not read"


def _changed_gpu_packages(revision: Revision) -> list[str]:
    """Return the packages with GPU code whose required versions differ."""
    differing_pins = _gpu_pins(revision.base) ^ _gpu_pins(revision.head)
    return sorted({package for package, _ in differing_pins})


def _gpu_pins(pins: Iterable[PackagePin]) -> set[tuple[str, str]]:
    return {
        (pin.package, str(pin))
        for pin in pins
        if _GPU_WORDS_PATTERN.search(pin.package) or pin.package == _JAX_COMPILER_PACKAGE
    }


def _shown(path: str) -> str:
    return visible(display_path(path))
