"""Specification of a target's workers: interpreter, adapter, file access and limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ciguard.domain.values import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Resource limits of one case and of one worker."""

    case_s: float = 5.0
    """Timeout of one case, in seconds; up to three times as long on a starved machine."""
    program_s: float = 60.0
    """Timeout of a case that is a program, in seconds; extended on a starved machine, too."""
    memory_mib: int = 1024
    """Memory that a case may use beyond that of the loaded library."""
    ample_memory_mib: int = 0
    """Memory for cases that are tested for the effect of `memory_mib`; 0 if there is no more."""
    output_mib: int = 64
    """Maximum size of one file, and of a case's output on its standard streams."""
    start_s: float = 300.0
    """Timeout of importing the library, in seconds."""
    cases_per_worker: int = 50000
    """Number of cases after which a worker is replaced, so that leaks do not accumulate."""

    def memory_limit_mib(self, *, is_ample: bool) -> int:
        """Return the memory that a case may use: the usual, or the higher limit."""
        return max(self.memory_mib, self.ample_memory_mib) if is_ample else self.memory_mib


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSpec:
    """One target, with all that is needed to start its workers."""

    name: str
    """Canonical name of the target."""
    python: Path
    """Path of the target's interpreter."""
    adapter: Path
    """Path of the adapter's module."""
    device: str = "cpu"
    """Device that the adapter computes on."""
    mode: str = ""
    """Execution mode of the adapter; empty for eager execution."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Complete environment of the process; nothing is inherited."""
    readable: tuple[Path, ...] = ()
    """Files and folders that workers may read, in addition to the system's."""
    writable: tuple[Path, ...] = ()
    """Folders kept between runs that workers may write, such as a cache of compiled kernels."""
    processes: bool = False
    """True if workers may start processes, as libraries that compile operators do."""
    warm_up: bool = False
    """True if the library survives a fork after use, so that the fork server may call it."""
    relations: bool = False
    """True if cases have metamorphic relations, whose transformations are loaded before a fork."""
    functions: Json = None
    """Settings for running the user's functions; None if no functions are tested.

    `runner` names a module, and each worker's folder has the `links`, by name. The module receives
    all other keys as they are."""
    guard: Path | None = None
    """Path of the memory guard's library; None for workers without it."""
    confine: bool = True
    """True if workers are confined."""
    limits: Limits = field(default_factory=Limits)
    """Resource limits of cases and workers."""
