"""Findings, and buckets of findings with one fingerprint."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING

from ciguard.domain.attribution import Attribution, attribution_from_json, attribution_to_json
from ciguard.domain.case import Case, case_from_json, case_to_json
from ciguard.domain.causes import Cause, cause_from_json, cause_to_json
from ciguard.domain.onset import Onset, onset_from_json, onset_to_json
from ciguard.domain.outcomes import (
    Crashed,
    Frame,
    Outcome,
    outcome_from_json,
    outcome_to_json,
    stack_from_json,
    stack_to_json,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.domain.untrusted import Untrusted
    from ciguard.domain.values import Json

BUCKET_SCHEMA = 1
_FINDING_TEXTS = ("oracle", "kind", "library", "api", "detail", "message")


class Severity(IntEnum):
    """Severity of a finding, in ascending order."""

    INFO = 0
    """Nothing to fix: for example, a newer version accepts more arguments."""
    LOW = 1
    """An exception of another class, an accepted invalid argument, or a slower call."""
    MEDIUM = 2
    """A valid call is rejected, or reaches a resource limit."""
    HIGH = 3
    """Wrong values, an internal error, or a hang."""
    CRITICAL = 4
    """A crash of the process."""

    @property
    def label(self) -> str:
        """The name in lower case, as in settings and reports."""
        return self.name.lower()


class PairKind(StrEnum):
    """Property in which the two targets of a differential finding differ."""

    NONE = ""
    """Not a differential finding."""
    SAME = "same"
    """No property: the targets are equal, so that any difference is non-determinism."""
    VERSION = "version"
    DEVICE = "device"
    MODE = "mode"
    """Execution mode: one target runs the call eagerly, the other one compiled or traced."""
    BACKEND = "backend"
    ENVIRONMENT = "environment"
    LIBRARY = "library"
    """Library: each target runs the equivalent call of its own library."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Expected and observed behaviour, for maintainers.

    May hold fuzzed text: escape it for display.
    """

    expected: str = ""
    observed: str = ""
    law: str = ""
    """The violated invariant or documented constraint, as a sentence; empty if there is none."""
    source: str = ""
    """Source of `law`: a sentence of the documentation, or a reference to a paper."""
    breach: str = ""
    """Arguments that violate the documentation, with reasons; empty if there are none or the
    defect does not depend on them."""
    undefined: str = ""
    """Arguments of a raw operator that are None instead of a tensor; empty if there are none or the
    defect does not depend on them."""
    unreachable: str = ""
    """Reason why public APIs cannot reach the defect; empty if they may reach it."""
    announced: str = ""
    """Sentence of the documentation that announces the difference; empty if none does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A defect that one oracle reports for one case, with the evidence."""

    oracle: str
    """Registered name of the oracle: `crash`, `differential`, …"""
    kind: str
    """Kind of defect within the oracle: `signal`, `hang`, `values`, `dtype`, `status`, …"""
    severity: Severity
    library: str
    api: str
    case: Case
    outcomes: Mapping[str, Outcome]
    """Outcomes of the case by name of the target that ran it."""
    targets: tuple[str, ...]
    """Targets that show the defect. A differential finding has two: the reference, and the target
    that deviates from it."""
    pair: PairKind = PairKind.NONE
    detail: str = ""
    """Text in the fingerprint that distinguishes defects of one kind; equal in all runs."""
    message: str
    """The defect in one line. May hold fuzzed text: escape it for display."""
    evidence: Evidence = Evidence()

    @property
    def loses_device(self) -> bool:
        """True if an error on a device, which it does not survive, shows the defect."""
        outcomes = [self.outcomes.get(name) for name in self.targets[-1:]]
        return any(isinstance(one, Crashed) and one.is_device_error for one in outcomes)


class Confirmation(StrEnum):
    """Result of repeating a finding in fresh workers."""

    CONFIRMED = "confirmed"
    """Every repetition showed the same defect."""
    FLAKY = "flaky"
    """A repetition did not show the defect. The finding is reported separately, never fails a check
    and is never filed."""
    PENDING = "pending"
    """The budget ended before all repetitions on all required targets were complete."""


class Comparison(StrEnum):
    """Status of a bucket relative to the baseline."""

    NEW = "new"
    KNOWN = "known"
    ACCEPTED = "accepted"
    """Known, and accepted by the user for a stated reason."""
    FIXED = "fixed"
    """A bucket of the baseline whose case this run executed without showing the defect."""
    FLAKY = "flaky"
    NOT_RUN = "not run"
    """A bucket of the baseline whose case this run did not execute. Never shown as clean."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """Findings with one fingerprint."""

    fingerprint: str
    """`v1:` and 16 hex digits; stable across runs, machines and library builds."""
    grouping: tuple[tuple[str, str], ...]
    """Texts from which the fingerprint is computed, as (name, text) pairs."""
    finding: Finding
    """The representative finding, which reports show and the reproducer runs."""
    count: int = 1
    """Number of this run's findings in the bucket."""
    confirmation: Confirmation = Confirmation.PENDING
    comparison: Comparison = Comparison.NEW
    reproducer: str = ""
    """Path of the standalone script, relative to the output folder; empty until written."""
    reproduced: bool = False
    """True if the script was run and showed the same defect."""
    aliases: tuple[str, ...] = ()
    """Fingerprints that older versions of the recipe gave the bucket."""
    native_stack: tuple[Frame, ...] = ()
    """Native frames of the library in a crash, innermost first. Not part of the fingerprint."""
    cause: Cause | None = None
    """Root cause that other buckets may share; None if there is no evidence of one."""
    shown: int = 0
    """For a flaky bucket, the number of repetitions in fresh workers that showed the defect."""
    tried: int = 0
    """For a flaky bucket, the number of repetitions in fresh workers."""
    issue: str = ""
    """Number of the bucket's issue, or path of its file, from the baseline; empty without one."""
    onset: Onset | None = None
    """First release that shows the defect; None if it was not bisected."""
    attribution: Attribution | None = None
    """Repetitions on head and base, and how many showed the defect; None if not attributed."""

    @property
    def is_met(self) -> bool:
        """True if this run has findings in the bucket, even if only the base shows them."""
        return self.count > 0


def finding_to_json(finding: Finding) -> dict[str, Json]:
    """Return the JSON form of a finding, one line of `findings.jsonl`."""
    return {
        "schema": BUCKET_SCHEMA,
        "level": finding.case.level,
        "oracle": finding.oracle,
        "kind": finding.kind,
        "severity": finding.severity.label,
        "library": finding.library,
        "api": finding.api,
        "targets": list(finding.targets),
        "pair": finding.pair.value,
        "detail": finding.detail,
        "message": finding.message,
        "evidence": evidence_to_json(finding.evidence),
        "outcomes": {name: outcome_to_json(out) for name, out in finding.outcomes.items()},
        "case": case_to_json(finding.case),
    }


def finding_from_json(encoded: Json) -> Finding:
    """Rebuild a finding from its JSON form.

    Raises:
        ValueError: if `encoded` is not the JSON form of a finding.
    """
    try:
        return Finding(
            **{key: str(encoded[key]) for key in _FINDING_TEXTS},
            severity=Severity[encoded["severity"].upper()],
            case=case_from_json(encoded["case"]),
            outcomes={name: outcome_from_json(out) for name, out in encoded["outcomes"].items()},
            targets=tuple(map(str, encoded["targets"])),
            pair=PairKind(encoded["pair"]),
            evidence=evidence_from_json(encoded.get("evidence", {})),
        )
    except (AttributeError, KeyError, TypeError) as error:
        msg = f"malformed finding: {error!r}"
        raise ValueError(msg) from error


def evidence_to_json(evidence: Evidence) -> dict[str, str]:
    """Return the JSON form of evidence, without empty fields."""
    return {item.name: text for item in fields(Evidence) if (text := getattr(evidence, item.name))}


def evidence_from_json(encoded: Mapping[str, Json]) -> Evidence:
    """Rebuild evidence from its JSON form; unknown keys are ignored."""
    names = [item.name for item in fields(Evidence)]
    return Evidence(**{name: str(encoded[name]) for name in names if name in encoded})


def bucket_to_json(bucket: Bucket) -> dict[str, Json]:
    """Return the JSON form of a bucket, one line of `buckets.jsonl`."""
    return {
        "fingerprint": bucket.fingerprint,
        **finding_to_json(bucket.finding),
        "count": bucket.count,
        "confirmed": bucket.confirmation is Confirmation.CONFIRMED,
        "confirmation": bucket.confirmation.value,
        "comparison": bucket.comparison.value,
        "reproducer": bucket.reproducer,
        "reproduced": bucket.reproduced,
        "shown": bucket.shown,
        "tried": bucket.tried,
        "grouping": [list(pair) for pair in bucket.grouping],
        "aliases": list(bucket.aliases),
        "native_stack": stack_to_json(bucket.native_stack),
        "cause": cause_to_json(bucket.cause),
        "issue": bucket.issue,
        "since": onset_to_json(bucket.onset),
        "attribution": attribution_to_json(bucket.attribution),
    }


def bucket_from_json(encoded: Json) -> Bucket:
    """Rebuild a bucket from its JSON form.

    Raises:
        ValueError: if `encoded` is not the JSON form of a bucket.
    """
    try:
        return Bucket(
            fingerprint=str(encoded["fingerprint"]),
            grouping=tuple((str(name), str(text)) for name, text in encoded["grouping"]),
            finding=finding_from_json(encoded),
            count=int(encoded["count"]),
            confirmation=Confirmation(encoded["confirmation"]),
            comparison=Comparison(encoded["comparison"]),
            reproducer=str(encoded["reproducer"]),
            reproduced=bool(encoded["reproduced"]),
            aliases=tuple(map(str, encoded.get("aliases", ()))),
            native_stack=stack_from_json(encoded.get("native_stack", ())),
            cause=cause_from_json(encoded.get("cause")),
            shown=int(encoded.get("shown", 0)),
            tried=int(encoded.get("tried", 0)),
            issue=str(encoded.get("issue", "")),
            onset=onset_from_json(encoded.get("since")),
            attribution=attribution_from_json(encoded.get("attribution")),
        )
    except (IndexError, KeyError, OverflowError, TypeError) as error:
        msg = f"malformed bucket: {error!r}"
        raise ValueError(msg) from error


@dataclass(slots=True)
class Tally:
    """Number of outcomes by status, for one target. Mutable: a campaign counts each case in it."""

    passed: int = 0
    rejected: int = 0
    errored: int = 0
    crashed: int = 0
    hung: int = 0
    exhausted: int = 0

    @property
    def total(self) -> int:
        """Number of executed cases."""
        return sum(self.as_dict().values())

    def as_dict(self) -> dict[str, int]:
        """Return the counts by status."""
        return {name: getattr(self, name) for name in self.__slots__}


class Verdict(StrEnum):
    """Conclusion of a run; the value is its text in reports."""

    ESTABLISHED = "BASELINE ESTABLISHED"
    """There was no baseline. The run created one, with all its findings."""
    CLEAN = "NOTHING NEW"
    NEW_FINDINGS = "NEW FINDINGS"
    """The run has a new bucket that fails the check."""
    NOT_RUN = "NOT RUN"
    """No case was executed, so there is no result."""
    NOT_TESTED = "NOT TESTED"
    """No function of the user was called with valid arguments, so there is no result."""
    INTERRUPTED = "INTERRUPTED"
    PART = "PART DONE"
    """One part of a campaign is complete; `ciguard merge` decides the verdict."""


INCONCLUSIVE = frozenset({Verdict.NOT_RUN, Verdict.NOT_TESTED, Verdict.INTERRUPTED})
"""Verdicts of runs without a complete result, which must not count as a pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSummary:
    """One target of a run: its environment and its outcomes."""

    name: str
    library: str
    version: str
    python: str
    device: str
    packages: Mapping[str, str]
    """Versions of the installed distributions, by name."""
    confined_by: tuple[str, ...]
    """Mechanisms that confine the workers: `landlock`, `seccomp`, `rlimits` and others."""
    apis: int
    """Number of APIs in the catalogue."""
    tally: Tally = field(default_factory=Tally)
    not_run: str = ""
    """Reason why no case ran on the target; empty if at least one case ran."""
    unconfined: tuple[str, ...] = ()
    """Names of forbidden operations that a worker could still execute; see
    `execution.probe_confinement`."""


def target_to_json(target: TargetSummary) -> dict[str, Json]:
    """Return the JSON form of a target, for `run.json` and parts."""
    return {
        "name": target.name,
        "library": target.library,
        "version": target.version,
        "python": target.python,
        "device": target.device,
        "packages": dict(target.packages),
        "confined_by": list(target.confined_by),
        "unconfined": list(target.unconfined),
        "apis": target.apis,
        "outcomes": target.tally.as_dict(),
        "not_run": target.not_run,
    }


def target_from_json(reader: Untrusted) -> TargetSummary:
    """Rebuild a target from untrusted JSON.

    Raises:
        ValueError: if the JSON is not the form of a target; the message names the malformed key.
    """
    packages, outcomes = reader.inner("packages"), reader.inner("outcomes")
    texts = ("name", "library", "version", "python", "device", "not_run")
    return TargetSummary(
        **{key: reader.text(key) for key in texts},
        packages={name: packages.text(name) for name in packages.members()},
        confined_by=reader.names("confined_by"),
        unconfined=reader.names("unconfined"),
        apis=reader.count("apis"),
        tally=Tally(**{status: outcomes.count(status) for status in Tally().as_dict()}),
    )


def cause_name(bucket: Bucket) -> str:
    """Return the name of a bucket's group: that of its cause, or its fingerprint without one."""
    return bucket.cause.name if bucket.cause else bucket.fingerprint
