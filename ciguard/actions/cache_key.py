"""The key under which the environments of targets are cached between jobs.

The key contains all that an environment depends on: exact targets, platform and interpreter. Jittor
compiles its operators for one compiler, Linux kernel and processor model, so the key of a Jittor
environment contains these three too. On another processor, the key's prefix restores the
environment.
"""

from __future__ import annotations

import hashlib
import platform
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.programs import run_program
from ciguard.targets import cache_folder, libraries_of, parse_target

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_COMPILER_LIMIT_S = 10.0
_SCHEMA = "v1"
_EXACT = re.compile(r"==\s*\d")


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheKey:
    """The path and the keys of the cache; all are empty if nothing should be cached."""

    path: str = ""
    key: str = ""
    prefix: str = ""
    """Start of the key that environments on other machines share: the key without processor."""


def cache_key(targets: Iterable[str], environment: Mapping[str, str]) -> CacheKey:
    """Return the cache key for the environments of the targets.

    Only exact versions without CUDA are cached; the key is empty if there are none.

    Args:
        targets: the targets, as the user wrote them.
        environment: the environment variables of the step. GitHub's runners name their image in
            them, and a new image has its interpreters in other folders.

    Raises:
        CiguardError: if a target is malformed.
    """
    exact = sorted({text for text in targets if _EXACT.search(text)})
    # A CUDA build has gigabytes: a few of them would evict all other caches of the repository.
    if not exact or any("@cuda" in text for text in exact):
        return CacheKey()
    machine = f"{platform.system()}-{platform.machine()}-py{platform.python_version()}"
    image = (environment.get("ImageOS", ""), environment.get("ImageVersion", ""))
    prefix = f"ciguard-{_SCHEMA}-{machine}-{_digest(*image, *exact)}-"
    libraries = [library for text in exact for library in libraries_of(parse_target(text))]
    compiles = any(library.needs_cache for library in libraries)
    suffix = _digest(*_compilation_platform()) if compiles else "any"
    return CacheKey(path=str(cache_folder()), key=prefix + suffix, prefix=prefix)


def _compilation_platform() -> tuple[str, ...]:
    return _compiler_version(), platform.release(), _processor()


def _compiler_version() -> str:
    compiler = shutil.which("g++")
    if compiler is None:
        return ""
    return run_program([compiler, "-dumpfullversion"], limit_s=_COMPILER_LIMIT_S).text.strip()


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith("model name")), platform.processor())


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]
