"""Jobs (cases for one target) and their results."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable

    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome


class Priority(Enum):
    """Order of the jobs of one target."""

    URGENT = auto()
    """Overtakes the other jobs, in a lane of its own, and in others that are idle."""
    NORMAL = auto()
    """Runs in order, in the lanes that are not for urgent or long jobs."""
    BACKGROUND = auto()
    """Runs in any lane that no other job needs, except that for long jobs."""
    LONG = auto()
    """Takes its whole timeout, in a lane of its own, and in others that are idle."""


@dataclass(frozen=True, slots=True)
class Job:
    """Cases for one target, in order."""

    target: str
    """Name of the target."""
    key: Hashable
    """Identifier chosen by the caller, returned with the result."""
    cases: tuple[bytes, ...]
    """JSON text of each case, as written by `domain.case_to_json`."""
    fresh: bool = False
    """True to run in a new worker that runs nothing else, before or after."""
    max_hangs: int = 0
    """Number of hangs after which the remaining cases are skipped; 0 never skips any."""
    stops_at_crash: bool = False
    """True to skip the remaining cases after a case that crashes."""
    perturb: int = 0
    """Byte that fills newly allocated memory and seeds the random generators of a fresh worker.

    It reveals results that depend on uninitialised memory or on chance. 0 changes neither."""
    has_ample_memory: bool = False
    """True for a fresh worker with a higher memory limit, see `Limits.ample_memory_mib`."""
    is_synchronous: bool = False
    """True for a fresh worker whose device runs each kernel before the call returns.

    The failing call then raises the device's error itself. A CPU always works so."""
    limit_s: float = 0.0
    """Timeout of one case, in seconds; 0 for the target's own limit."""
    first_limit_s: float = 0.0
    """Preliminary timeout of one case, in seconds, which replaces the others; 0 for none.

    A `Hung` outcome is preliminary, too, and has no stack. The caller runs the case again."""
    slow_cases: frozenset[bytes] = frozenset()
    """Cases that compile or trace their call, whose preliminary timeout is longer."""
    is_careful: bool = False
    """True to run the cases one by one, each followed by canaries, as one may be hostile."""
    tested: tuple[Case, ...] = ()
    """Original cases of the level, if workers run substitutes for them."""
    session: int = 0
    """Measuring session whose worker runs the job (see `measurement`); 0 for an ordinary job.

    A session begins with a fresh worker."""


@dataclass(frozen=True, slots=True)
class JobResult:
    """Result of a job."""

    job: Job
    """Job that was run."""
    outcomes: tuple[Outcome, ...]
    """One outcome per case, in order; fewer if too many cases hung, or one crashed."""
    elapsed_s: float
    """Wall time of the job, in seconds."""
