"""What kind of defect a finding is, and what a project wants done about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from ciguard.domain.corruption import may_corrupt
from ciguard.domain.findings import PairKind, Severity
from ciguard.domain.outcomes import Crashed

if TYPE_CHECKING:
    from ciguard.domain.findings import Finding


class FindingClass(StrEnum):
    """What kind of defect a finding is, the gravest first. The value is its name in settings."""

    SECURITY = "security-crash"
    CRASH = "crash"
    WRONG_RESULT = "wrong-result"
    REGRESSION = "regression"
    INTERNAL_ERROR = "internal-error"
    HANG = "hang"
    EXHAUSTION = "exhaustion"
    ACCEPTED_ILLEGAL = "accepted-illegal"
    REFUSED_LEGAL = "refused-legal"
    FUNCTION = "function-fails"
    APPLICATION = "application-fails"
    PERFORMANCE = "performance"
    CHANGE = "change"
    UNREACHABLE = "unreachable-input"
    DOCUMENTATION = "documentation"
    OTHER = "other"

    @property
    def words(self) -> str:
        """What people read."""
        return _WORDS[self]


_WORDS = {
    FindingClass.SECURITY: "security-relevant crash",
    FindingClass.CRASH: "crash",
    FindingClass.WRONG_RESULT: "wrong result",
    FindingClass.REGRESSION: "regression of behaviour",
    FindingClass.INTERNAL_ERROR: "internal error",
    FindingClass.HANG: "hang",
    FindingClass.EXHAUSTION: "resource exhaustion",
    FindingClass.ACCEPTED_ILLEGAL: "forbidden argument accepted",
    FindingClass.REFUSED_LEGAL: "legal program refused",
    FindingClass.FUNCTION: "function fails",
    FindingClass.APPLICATION: "application fails",
    FindingClass.PERFORMANCE: "performance",
    FindingClass.CHANGE: "change of behaviour",
    FindingClass.UNREACHABLE: "unreachable input",
    FindingClass.DOCUMENTATION: "documentation",
    FindingClass.OTHER: "other",
}
_BY_KIND = {
    ("hang", "slow"): FindingClass.PERFORMANCE,
    ("differential", "refused"): FindingClass.REGRESSION,
    ("differential", "accepted"): FindingClass.CHANGE,
    ("differential", "exception"): FindingClass.CHANGE,
    ("differential", "aliasing"): FindingClass.CHANGE,
    ("function", "mutation"): FindingClass.OTHER,
    ("derivation", "accepted-illegal"): FindingClass.ACCEPTED_ILLEGAL,
}
_BY_ORACLE = {
    "hang": FindingClass.HANG,
    "exhaustion": FindingClass.EXHAUSTION,
    "internal-error": FindingClass.INTERNAL_ERROR,
    "differential": FindingClass.WRONG_RESULT,
    "metamorphic": FindingClass.WRONG_RESULT,
    "boundary": FindingClass.ACCEPTED_ILLEGAL,
    "performance": FindingClass.PERFORMANCE,
    "growth": FindingClass.PERFORMANCE,
    "derivation": FindingClass.REFUSED_LEGAL,
    "function": FindingClass.FUNCTION,
    "application": FindingClass.APPLICATION,
}
_UNDER_A_LAW = {
    "accepted": FindingClass.ACCEPTED_ILLEGAL,
    "refused": FindingClass.CHANGE,
}
"""What one target takes and the other refuses, where the documentation forbids it."""


def class_of(finding: Finding) -> FindingClass:
    """Return what kind of defect a finding is.

    A crash of which no outcome is kept, as in the baseline, counts as an ordinary one. Findings of
    oracles that other packages add are `OTHER`.
    """
    if finding.evidence.unreachable:
        return FindingClass.UNREACHABLE
    if finding.oracle == "crash":
        deaths = [out for out in finding.outcomes.values() if isinstance(out, Crashed)]
        corrupts = any(may_corrupt(death.cause, death.log) for death in deaths)
        return FindingClass.SECURITY if corrupts else FindingClass.CRASH
    if (
        finding.oracle == "differential"
        and finding.kind in _UNDER_A_LAW
        and finding.evidence.source
    ):
        return _UNDER_A_LAW[finding.kind]
    if finding.oracle == "function" and finding.pair is not PairKind.NONE:
        return FindingClass.REGRESSION
    by_oracle = _BY_ORACLE.get(finding.oracle, FindingClass.OTHER)
    return _BY_KIND.get((finding.oracle, finding.kind), by_oracle)


class Action(IntEnum):
    """What is done about a new finding; each includes those before it."""

    OFF = 0
    """Nothing: it is not confirmed, and no report has it."""
    REPORT = 1
    FILE = 2
    FAIL = 3
    """The check fails, too."""

    @property
    def label(self) -> str:
        """The name as people write it."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """One line of the policy."""

    selector: str
    """A class, `ORACLE/KIND` as reports show it, or the name of an API; the latter two are globs:
    one with a slash is the former, one with a dot the latter."""
    action: Action

    def selects(self, finding: Finding) -> bool:
        """Return whether the rule speaks of a finding."""
        if "/" in self.selector:
            return fnmatchcase(f"{finding.oracle}/{finding.kind}", self.selector)
        if "." in self.selector:
            return fnmatchcase(finding.api, self.selector)
        return class_of(finding).value == self.selector

    def __str__(self) -> str:
        """Return it as it may be written on a command line."""
        return f"{self.selector}={self.action.label}"


@dataclass(frozen=True, slots=True)
class Policy:
    """What fails a check, what is filed, what is only reported.

    The last rule that selects a finding decides. Where none does, its severity decides.
    """

    fail_on: Severity = Severity.MEDIUM
    """Least severity that fails a check."""
    rules: tuple[PolicyRule, ...] = ()

    def action(self, finding: Finding) -> Action:
        """Return what is done about a finding once it is confirmed and new."""
        for rule in reversed(self.rules):
            if rule.selects(finding):
                return rule.action
        if finding.severity >= self.fail_on:
            return Action.FAIL
        return Action.FILE if finding.severity >= _FILED else Action.REPORT

    @property
    def files_security(self) -> bool:
        """Whether a rule says by its class that security-relevant crashes are filed."""
        chosen = [r for r in self.rules if r.selector == FindingClass.SECURITY.value]
        return bool(chosen) and chosen[-1].action >= Action.FILE

    @property
    def reads_documentation(self) -> bool:
        """Whether defects of documentation are reported. They belong to no case: none is filed."""
        chosen = [r for r in self.rules if r.selector == FindingClass.DOCUMENTATION.value]
        return not chosen or chosen[-1].action is not Action.OFF


_FILED = Severity.MEDIUM
"""Least severity that is filed where no rule says otherwise."""
