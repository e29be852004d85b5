"""Classes of findings, and the policy that decides which findings fail a check or are filed."""

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
    """Class of a finding, most severe first. The value is its name in settings."""

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
    ANNOUNCED = "announced-change"
    UNREACHABLE = "unreachable-input"
    DOCUMENTATION = "documentation"
    OTHER = "other"

    @property
    def words(self) -> str:
        """The class as a phrase for reports."""
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
    FindingClass.ANNOUNCED: "announced change",
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
_DOCUMENTED_LIMIT = {
    "accepted": FindingClass.ACCEPTED_ILLEGAL,
    "refused": FindingClass.CHANGE,
}
"""Classes of differential findings about an input that the documentation forbids, by kind."""


def class_of(finding: Finding) -> FindingClass:
    """Return the class of a finding.

    A crash without a stored outcome, as in the baseline, does not count as security-relevant. The
    class is `OTHER` for oracles of other packages.
    """
    if finding.evidence.unreachable:
        return FindingClass.UNREACHABLE
    if finding.evidence.announced:
        return FindingClass.ANNOUNCED
    if finding.oracle in {"crash", "memory"}:
        crashes = [out for out in finding.outcomes.values() if isinstance(out, Crashed)]
        is_security = any(may_corrupt(crash.cause, crash.log) for crash in crashes)
        is_security |= finding.oracle == "memory"
        return FindingClass.SECURITY if is_security else FindingClass.CRASH
    if (
        finding.oracle == "differential"
        and finding.kind in _DOCUMENTED_LIMIT
        and finding.evidence.source
    ):
        return _DOCUMENTED_LIMIT[finding.kind]
    if finding.oracle == "function" and finding.pair is not PairKind.NONE:
        return FindingClass.REGRESSION
    by_oracle = _BY_ORACLE.get(finding.oracle, FindingClass.OTHER)
    return _BY_KIND.get((finding.oracle, finding.kind), by_oracle)


class Action(IntEnum):
    """Action for a new finding, in ascending order."""

    OFF = 0
    """Ignore the finding: neither confirm nor report it."""
    REPORT = 1
    """Report the finding."""
    FILE = 2
    """Report the finding and file an issue."""
    FAIL = 3
    """Report the finding, file an issue and fail the check."""

    @property
    def label(self) -> str:
        """The name in lower case, as in settings."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """One line of the policy."""

    selector: str
    """A class of findings, a glob of `ORACLE/KIND` (with a slash), or a glob of API names (with a
    dot)."""
    action: Action

    def selects(self, finding: Finding) -> bool:
        """Return whether the rule applies to a finding."""
        if "/" in self.selector:
            return fnmatchcase(f"{finding.oracle}/{finding.kind}", self.selector)
        if "." in self.selector:
            return fnmatchcase(finding.api, self.selector)
        return class_of(finding).value == self.selector

    def __str__(self) -> str:
        """Return the rule in its command-line form, such as `hang=report`."""
        return f"{self.selector}={self.action.label}"


@dataclass(frozen=True, slots=True)
class Policy:
    """Rules that decide which findings fail a check, are filed, or are only reported.

    The last rule that selects a finding decides. If no rule selects it, its severity decides.
    """

    fail_on: Severity = Severity.MEDIUM
    """Minimum severity that fails a check if no rule selects the finding."""
    rules: tuple[PolicyRule, ...] = ()

    def action(self, finding: Finding) -> Action:
        """Return the action for a confirmed new finding."""
        for rule in reversed(self.rules):
            if rule.selects(finding):
                return rule.action
        if finding.severity >= self.fail_on:
            return Action.FAIL
        return Action.FILE if finding.severity >= _MIN_FILED else Action.REPORT

    @property
    def files_security(self) -> bool:
        """True if a rule for the class `security-crash` lets issues for such crashes be filed."""
        rules = [rule for rule in self.rules if rule.selector == FindingClass.SECURITY.value]
        return bool(rules) and rules[-1].action >= Action.FILE

    @property
    def reads_documentation(self) -> bool:
        """True if defects in documentation are reported. They are never filed."""
        rules = [rule for rule in self.rules if rule.selector == FindingClass.DOCUMENTATION.value]
        return not rules or rules[-1].action is not Action.OFF


_MIN_FILED = Severity.MEDIUM
"""Minimum severity of findings that are filed if no rule selects them."""
