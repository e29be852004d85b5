"""Every setting, described once. File, environment and flags meet here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ciguard.domain import Severity

DEFAULT_TARGETS = ("torch==2.13.0", "tensorflow-cpu==2.12.0", "tensorflow-cpu==2.21.0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The effective settings of one command."""

    targets: tuple[str, ...] = DEFAULT_TARGETS
    """Environments that cases run in, e.g. `torch==2.13.0`, `current`, `keras==3.15.1 + jax`."""
    levels: tuple[str, ...] = ("api",)
    """What is tested."""
    api: tuple[str, ...] = ("*",)
    """Globs over API names; a case is generated only for APIs that match one of them."""
    exclude: tuple[str, ...] = ()
    """Globs over API names that are left out."""
    allow: tuple[str, ...] = ()
    """Tags of calls that are left out unless named here: files, network, process, global-state."""
    seed: int = 0
    """Same seed, same cases."""
    budget_s: float = 180.0
    """Wall time of the whole command, provisioning excluded."""
    max_cases: int = 0
    """Stop after this many cases; 0 means that only the budget ends the run."""
    jobs: int = 0
    """Workers per target; 0 means one."""
    out: Path = Path(".ciguard/run")
    """Folder for results."""
    baseline: Path = Path(".ciguard/baseline")
    """Folder of the stored baseline."""
    tracker: Path = Path(".ciguard/issues")
    """Folder of the local tracker."""
    fail_on: Severity = Severity.MEDIUM
    """Least severity of a new finding that fails the run."""
    case_limit_s: float = 0.0
    """Time limit of one case; 0 means the library's own (5 s; more where calls compile)."""
    memory_mib: int = 4096
    """Memory that one worker may allocate."""
    confirmations: int = 3
    """Fresh workers in which a finding must reproduce."""
    resume: bool = False
    """Continue the campaign found in `out`."""
