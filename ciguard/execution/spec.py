"""What the engine needs to know to run workers: where, as what, within which limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ciguard.domain.values import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one case, and one worker, may use."""

    case_s: float = 5.0
    """Time of one case; a starved machine is given up to three times as much."""
    program_s: float = 60.0
    """Time of a case that is a program, whoever runs it and why; starved, as above."""
    memory_mib: int = 1024
    """Memory beyond what the loaded library takes."""
    output_mib: int = 64
    """Size of one file, and of what a case writes to its standard streams."""
    start_s: float = 300.0
    """Time for importing the library."""
    cases_per_worker: int = 50000
    """A worker is replaced after so many cases, so that what leaks does not pile up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSpec:
    """One target as the engine sees it."""

    name: str
    """The target's canonical text."""
    python: Path
    adapter: Path
    device: str = "cpu"
    mode: str = ""
    """One of the adapter's modes of execution; empty for eagerly."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """The whole environment of the process; nothing is inherited."""
    readable: tuple[Path, ...] = ()
    """Files and folders that workers may read, beside the system's."""
    writable: tuple[Path, ...] = ()
    """Folders kept between runs that workers may write: a cache of compiled kernels."""
    processes: bool = False
    """Whether workers may start processes: libraries that compile their operators."""
    warm_up: bool = False
    """Whether the fork server may use the library: where it survives a fork after use."""
    functions: Json = None
    """What runs functions of the user's: `runner`, a module's name, `folder`, where programs lie,
    `parts`, names in it that each worker's own folder links to, and what else the module is told.
    None where none are tested."""
    confine: bool = True
    limits: Limits = field(default_factory=Limits)
