"""Findings, and buckets of findings with one root cause."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING

from ciguard.domain.attribution import (
    Attribution,
    attribution_from_json,
    attribution_to_json,
)
from ciguard.domain.case import Case, case_from_json, case_to_json
from ciguard.domain.causes import Cause, cause_from_json, cause_to_json
from ciguard.domain.onset import Onset, onset_from_json, onset_to_json
from ciguard.domain.outcomes import (
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


class Severity(IntEnum):
    """How much a finding matters; the order decides what fails a check."""

    INFO = 0
    """Worth knowing, nothing to mend: a newer version accepts more."""
    LOW = 1
    """A clean error of another class, a forbidden argument that is accepted, a slower call."""
    MEDIUM = 2
    """What worked is refused; a limit is met."""
    HIGH = 3
    """Wrong values, an internal error, a hang."""
    CRITICAL = 4
    """The process dies."""

    @property
    def label(self) -> str:
        """The name as people write it."""
        return self.name.lower()


class PairKind(StrEnum):
    """In what two targets differ, for a differential finding."""

    NONE = ""
    """Not a differential finding."""
    SAME = "same"
    """Two targets of one request: a difference is non-determinism."""
    VERSION = "version"
    DEVICE = "device"
    MODE = "mode"
    """One runs calls eagerly, the other compiled or traced."""
    BACKEND = "backend"
    ENVIRONMENT = "environment"
    LIBRARY = "library"
    """Targets of different libraries, each with the call that is equivalent there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a maintainer holds against each other. May hold fuzzed text: escape where shown."""

    expected: str = ""
    observed: str = ""
    law: str = ""
    """The law or documented constraint that was broken, as a sentence; empty where it is none."""
    source: str = ""
    """Where the law stands: the sentence of the documentation, or a reference."""
    breach: str = ""
    """Which arguments are not as documented, and why; empty where the call conforms, and where
    that makes no difference."""
    undefined: str = ""
    """Which arguments of a raw operator are None where it needs a tensor; empty where none is, or
    the defect shows without."""
    unreachable: str = ""
    """Why no program that makes public calls is known to meet the defect; empty where one may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One oracle's verdict on one case, with the evidence."""

    oracle: str
    """Registered name of the oracle: `crash`, `differential`, …"""
    kind: str
    """Defect class within the oracle: `signal`, `hang`, `values`, `dtype`, `status`, …"""
    severity: Severity
    library: str
    api: str
    case: Case
    outcomes: Mapping[str, Outcome]
    """What happened on every target that ran the case, by target name."""
    targets: tuple[str, ...]
    """The targets that show the defect. For a differential finding: (reference, deviating)."""
    pair: PairKind = PairKind.NONE
    detail: str = ""
    """What tells this defect from another of the same kind, for the fingerprint: stable text."""
    message: str
    """One line for a person: what happened. May hold fuzzed text: escape where it is shown."""
    evidence: Evidence = Evidence()


class Confirmation(StrEnum):
    """What came of running a finding again in fresh workers."""

    CONFIRMED = "confirmed"
    """Every repetition showed the same defect."""
    FLAKY = "flaky"
    """Some did not: reported apart, never fails a check, never filed."""
    PENDING = "pending"
    """The budget ended before all repetitions were done, or before what one side of a change
    showed was tried on both."""


class Comparison(StrEnum):
    """A bucket of this run, or of the baseline, seen against the other."""

    NEW = "new"
    KNOWN = "known"
    ACCEPTED = "accepted"
    """Known, and somebody said why it may stay."""
    FIXED = "fixed"
    """In the baseline, exercised by this run, and not met any more."""
    FLAKY = "flaky"
    NOT_RUN = "not run"
    """In the baseline, and this run did not get to it. Never shown as clean."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """Findings with one root cause."""

    fingerprint: str
    """`v1:` and 16 hex digits; stable across runs, machines and library builds."""
    grouping: tuple[tuple[str, str], ...]
    """What went into the fingerprint, as (ingredient, text) pairs."""
    finding: Finding
    """The representative: what a person reads and what the reproducer runs."""
    count: int = 1
    """How many findings of this run fell into the bucket."""
    confirmation: Confirmation = Confirmation.PENDING
    comparison: Comparison = Comparison.NEW
    reproducer: str = ""
    """Path of the standalone script, relative to the output folder; empty until written."""
    reproduced: bool = False
    """The script was run and failed in the same way."""
    aliases: tuple[str, ...] = ()
    """Its fingerprints by older recipes."""
    native_stack: tuple[Frame, ...] = ()
    """The library's own native frames of a crash, innermost first, where a debugger told them.
    Evidence, and no part of the fingerprint: that is the same on machines without a debugger."""
    cause: Cause | None = None
    """What it may share with other buckets; None where nothing says that it shares anything."""
    shown: int = 0
    """How many repetitions in fresh workers showed it, where it is flaky."""
    tried: int = 0
    """How many repetitions there were, where it is flaky."""
    issue: str = ""
    """Number of its issue, or path of its file, as the baseline knows it; empty if none."""
    onset: Onset | None = None
    """Since which release it shows; None where nobody has bisected it."""
    attribution: Attribution | None = None
    """How often it shows on head and base of a change; None where they were not tried for it."""

    @property
    def is_met(self) -> bool:
        """Whether this run has findings of it. What only the base shows is fixed, and met."""
        return self.count > 0


BUCKET_SCHEMA = 1


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
            oracle=str(encoded["oracle"]),
            kind=str(encoded["kind"]),
            severity=Severity[encoded["severity"].upper()],
            library=str(encoded["library"]),
            api=str(encoded["api"]),
            case=case_from_json(encoded["case"]),
            outcomes={
                name: outcome_from_json(outcome) for name, outcome in encoded["outcomes"].items()
            },
            targets=tuple(map(str, encoded["targets"])),
            pair=PairKind(encoded["pair"]),
            detail=str(encoded["detail"]),
            message=str(encoded["message"]),
            evidence=evidence_from_json(encoded.get("evidence", {})),
        )
    except (AttributeError, KeyError, TypeError) as error:
        msg = f"not an encoded finding: {error!r}"
        raise ValueError(msg) from error


def evidence_to_json(evidence: Evidence) -> dict[str, str]:
    """Return the JSON form of evidence; what is empty is left out."""
    return {item.name: text for item in fields(Evidence) if (text := getattr(evidence, item.name))}


def evidence_from_json(encoded: Mapping[str, Json]) -> Evidence:
    """Rebuild evidence; keys that are not known are ignored."""
    return Evidence(
        **{item.name: str(encoded[item.name]) for item in fields(Evidence) if item.name in encoded}
    )


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
        msg = f"not an encoded bucket: {error!r}"
        raise ValueError(msg) from error


@dataclass(slots=True)
class Tally:
    """Counts of outcomes by status, for one target. Mutable: a campaign adds to it per case."""

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
    """What a run concludes, in the words people see."""

    ESTABLISHED = "BASELINE ESTABLISHED"
    """There was no baseline; everything found is now in it."""
    CLEAN = "NOTHING NEW"
    NEW_FINDINGS = "NEW FINDINGS"
    """At least one new bucket at or above the failing severity."""
    NOT_RUN = "NOT RUN"
    """No case was executed: nothing can be said, so nothing is."""
    INTERRUPTED = "INTERRUPTED"
    PART = "PART DONE"
    """One part of a campaign ran to its end; `ciguard merge` judges the whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSummary:
    """One target as a run met it."""

    name: str
    library: str
    version: str
    python: str
    device: str
    packages: Mapping[str, str]
    """Installed distributions and their versions."""
    confined_by: tuple[str, ...]
    """Mechanisms that held the workers: `landlock`, `seccomp`, `rlimits` and others."""
    apis: int
    """Size of the catalogue."""
    tally: Tally = field(default_factory=Tally)
    not_run: str = ""
    """Why nothing ran here; empty when something did."""
    unconfined: tuple[str, ...] = ()
    """Names of the attempts that nothing refused here, see `execution.probe_confinement`."""


def target_to_json(target: TargetSummary) -> dict[str, Json]:
    """Return the JSON form of a target, as it is in `run.json` and in a part."""
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


def target_from_json(read: Untrusted) -> TargetSummary:
    """Return the target of a JSON form, which may be hostile.

    Raises:
        ValueError: it is none; the message names the key.
    """
    packages, outcomes = read.inner("packages"), read.inner("outcomes")
    return TargetSummary(
        name=read.text("name"),
        library=read.text("library"),
        version=read.text("version"),
        python=read.text("python"),
        device=read.text("device"),
        packages={name: packages.text(name) for name in packages.members()},
        confined_by=read.names("confined_by"),
        unconfined=read.names("unconfined"),
        apis=read.count("apis"),
        tally=Tally(**{status: outcomes.count(status) for status in Tally().as_dict()}),
        not_run=read.text("not_run"),
    )


def cause_name(bucket: Bucket) -> str:
    """Return the name of a bucket's group: its fingerprint where it is alone."""
    return bucket.cause.name if bucket.cause else bucket.fingerprint
