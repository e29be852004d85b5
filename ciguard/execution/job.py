"""A job: cases for one target; and its result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable

    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome


@dataclass(frozen=True, slots=True)
class Job:
    """Cases for one target, in order."""

    target: str
    key: Hashable
    """The caller's name for it, given back with the result."""
    cases: tuple[bytes, ...]
    """Each the JSON text of `domain.case_to_json`."""
    fresh: bool = False
    """Run in a worker that ran nothing before, and that runs nothing after."""
    most_hangs: int = 0
    """Leave the remaining cases out after so many hangs; 0 runs them all, however long it takes."""
    perturb: int = 0
    """For a fresh worker: fill newly allocated memory with this byte, and seed Python's and numpy's
    generators with it, so that a result that depends on uninitialised memory or on chance shows
    itself. 0 leaves both as they come."""
    limit_s: float = 0.0
    """Time of one case; 0 for the target's own limit."""
    is_careful: bool = False
    """Run the cases one by one, each followed by canaries: one of them may be hostile."""
    tested: tuple[Case, ...] = ()
    """The cases as their level has them, where workers may run others in their place."""
    session: int = 0
    """Measure, see `measurement`, in the worker of this session, which is fresh when it begins.
    0 for an ordinary job."""


@dataclass(frozen=True, slots=True)
class JobResult:
    """What became of a job: one outcome per case, in order; fewer after too many hangs."""

    job: Job
    outcomes: tuple[Outcome, ...]
    elapsed_s: float
