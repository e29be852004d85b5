"""Candidates of confirmation, with what their repetitions have shown so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.oracles.comparing import is_explained_by_rounding, may_be_rounding

if TYPE_CHECKING:
    from ciguard.domain.findings import Finding
    from ciguard.domain.outcomes import Outcome


@dataclass(slots=True)
class Candidate:
    """A finding that is repeated."""

    key: str
    """Provisional fingerprint with which the finding was proposed."""
    finding: Finding
    findings: list[Finding] = field(default_factory=list)
    """The finding of each repetition."""
    outcomes_by_repetition: list[dict[str, Outcome]] = field(default_factory=list)
    """For each repetition, the outcomes by target."""
    perturbed_outcomes: list[dict[str, Outcome]] = field(default_factory=list)
    """For each repetition, the outcomes by target of the call with perturbed inputs."""


@dataclass(slots=True)
class RepetitionGroup:
    """Candidates that are repeated together, in one worker per target."""

    candidates: list[Candidate]
    targets: tuple[str, ...]
    repetition: int = 0
    outcomes: dict[str, tuple[Outcome, ...]] = field(default_factory=dict)


def explained_by_rounding(candidate: Candidate) -> bool:
    """Return whether rounding errors explain a candidate's difference in values."""
    if not may_be_rounding(candidate.finding):
        return False
    repetitions = [*candidate.outcomes_by_repetition, *candidate.perturbed_outcomes]
    outcomes_by_target = {
        name: [outcomes[name] for outcomes in repetitions] for name in candidate.finding.outcomes
    }
    return is_explained_by_rounding(candidate.findings[-1], outcomes_by_target)
