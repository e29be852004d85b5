"""The collector of findings, which judges executed cases and groups findings into buckets."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.campaign.rating import Rater
from ciguard.domain.events import BucketFlaky, BucketOpened, Event
from ciguard.domain.findings import Bucket, Confirmation, Finding, PairKind, Severity
from ciguard.domain.outcomes import Frame, Passed, Rejected
from ciguard.domain.policy import Action, Policy
from ciguard.oracles import judge
from ciguard.triage import Buckets, fingerprint

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from ciguard.campaign.group import Group
    from ciguard.campaign.journal import Journal
    from ciguard.campaign.stages.trial import Attributed
    from ciguard.campaign.stream import ExecutedBatch
    from ciguard.domain.case import Case
    from ciguard.domain.onset import Onset
    from ciguard.oracles import Subject
    from ciguard.triage import ConfirmationResult, Confirmer

BY_SEVERITY = Policy()
_MAX_CASES = 16
"""Maximum number of cases that are kept per bucket."""
_MAX_CANDIDATES = 3
"""Maximum number of candidates per provisional fingerprint, after which it stays flaky."""
_MAX_MINOR = 2
"""Maximum number of candidates among the differences of one kind that an API shows, if they fail no
check by default. Releases have hundreds, such as another exception for each dtype."""


class FindingCollector:
    """Judges executed cases, proposes new findings to the confirmer, and holds the buckets."""

    def __init__(
        self,
        *,
        confirmer: Confirmer,
        journal: Journal,
        groups: Mapping[str, Group],
        known: Collection[str],
        policy: Policy = BY_SEVERITY,
    ) -> None:
        """Create an empty collector.

        Args:
            confirmer: confirmer of the candidates.
            journal: journal to which candidates and buckets are written first.
            groups: groups by library.
            known: fingerprints of the baseline, whose findings need no confirmation.
            policy: policy that decides which findings are ignored.
        """
        self._confirmer = confirmer
        self._journal = journal
        self._groups = groups
        self._rater = Rater(groups)
        self._known = frozenset(known)
        self._policy = policy
        self.confirmed = Buckets()
        """Confirmed buckets."""
        self.flaky: dict[str, Bucket] = {}
        """Flaky and pending buckets, by provisional fingerprint."""
        self._candidates: dict[str, int] = {}
        self._minor: dict[tuple[str, str], set[str]] = {}
        """Fingerprints of the minor differences that were candidates, by API and kind."""
        self._waiting: set[str] = set()
        self._confirmed_as: dict[str, str] = {}
        """Confirmed fingerprints by provisional ones."""
        self.counts: dict[str, int] = {}
        """Number of findings by fingerprint."""
        self._aliases: dict[str, set[str]] = {}
        """Fingerprints of older schemes by fingerprint, as a newer scheme may merge buckets."""
        self.shown_on: dict[str, set[tuple[str, ...]]] = {}
        """Targets of each finding in a bucket, by fingerprint."""
        self.cases: dict[str, list[Case]] = {}
        """First cases of each bucket, by fingerprint."""

    def take(self, executed: ExecutedBatch, group: Group) -> Iterator[Event]:
        """Judge a batch, and propose its findings."""
        subject = group.subject(executed.api)
        names = list(executed.outcomes)
        columns = zip(*executed.outcomes.values(), strict=True)
        for case, row in zip(executed.cases, columns, strict=True):
            if case.api != subject.api:  # each program of a batch is about another API
                subject = group.subject(case.api)
            if (
                len(row) == 1
                and isinstance(row[0], (Passed, Rejected))
                and not _can_show_defect(case, row[0], subject)
            ):
                continue
            for finding in judge(case, dict(zip(names, row, strict=True)), subject):
                yield from self.propose(finding)

    def accept(self, finding: Finding) -> Iterator[Event]:
        """Add a finding that is already confirmed to its bucket."""
        if self._policy.action(finding) is Action.OFF:
            return
        key = fingerprint(finding).key
        self.counts[key] = self.counts.get(key, 0) + 1
        self.shown_on.setdefault(key, set()).add(finding.targets)
        if key not in self.confirmed:
            yield self._open(key, finding)

    def propose(self, finding: Finding) -> Iterator[Event]:
        """Add a finding to its bucket, or propose it to the confirmer first."""
        if self._policy.action(finding) is Action.OFF:
            return
        name = fingerprint(finding)
        key = self._confirmed_as.get(name.key, name.key)
        self.counts[key] = self.counts.get(key, 0) + 1
        if name.aliases:
            self._aliases.setdefault(key, set()).update(name.aliases)
        self.shown_on.setdefault(key, set()).add(finding.targets)
        cases = self.cases.setdefault(key, [])
        if len(cases) < _MAX_CASES:
            cases.append(finding.case)
        if key in self.confirmed or key in self._waiting:
            return
        if not self._known.isdisjoint((key, *name.aliases)):
            yield self._open(key, finding)
            return
        candidates = self._candidates[key] = self._candidates.get(key, 0) + 1
        if candidates <= _MAX_CANDIDATES and not self._is_one_of_many(key, finding):
            self._waiting.add(key)
            self._journal.candidate(key, finding)
            self._confirmer.propose(key, finding)

    def _is_one_of_many(self, key: str, finding: Finding) -> bool:
        """Return whether enough minor differences of the finding's API and kind are candidates."""
        is_difference = finding.pair in {PairKind.VERSION, PairKind.ENVIRONMENT}
        if not is_difference or finding.severity > Severity.LOW:
            return False
        candidates = self._minor.setdefault((finding.api, finding.kind), set())
        if len(candidates) < _MAX_MINOR:
            candidates.add(key)
        return key not in candidates

    def settle(self, settled: Iterable[ConfirmationResult]) -> Iterator[Event]:
        """Process the results of the confirmer."""
        for outcome in settled:
            self._waiting.discard(outcome.key)
            if self._policy.action(outcome.finding) is Action.OFF:
                continue  # the confirmed finding differs from the proposed one
            if outcome.confirmation is None:
                self.counts.pop(outcome.key, None)
            elif outcome.confirmation is Confirmation.CONFIRMED:
                yield from self._settle_confirmed(outcome)
            elif outcome.confirmation is Confirmation.FLAKY:
                yield from self._settle_flaky(outcome)
            else:
                self._keep(outcome.key, outcome.finding, Confirmation.PENDING)

    def _settle_confirmed(self, settled: ConfirmationResult) -> Iterator[Event]:
        name = fingerprint(settled.finding)
        if name.key != settled.key:
            self._confirmed_as[settled.key] = name.key
            count = self.counts.pop(settled.key, 1)
            self.counts[name.key] = self.counts.get(name.key, 0) + count
            shown_on = self.shown_on.pop(settled.key, set())
            self.shown_on.setdefault(name.key, set()).update(shown_on)
            self.cases.setdefault(name.key, []).extend(self.cases.pop(settled.key, ()))
        self.flaky.pop(settled.key, None)
        opened = self.confirmed.get(name.key)
        if opened is None:
            yield self._open(settled.key, settled.finding)
        else:
            self._journal.bucket(settled.key, opened)

    def _open(self, key: str, finding: Finding) -> Event:
        name = fingerprint(finding)
        bucket = Bucket(
            fingerprint=name.key,
            grouping=name.grouping,
            finding=self._rater.rated(finding),
            confirmation=Confirmation.CONFIRMED,
            aliases=name.aliases,
        )
        self.flaky.pop(key, None)
        self.confirmed.merge(bucket)
        self._journal.bucket(key, bucket)
        return BucketOpened(bucket=bucket)

    def simplify(self, finding: Finding) -> None:
        """Make a confirmed finding represent its bucket if it is simpler than the present one."""
        name = fingerprint(finding)
        merged = self.confirmed.merge(
            Bucket(
                fingerprint=name.key,
                grouping=name.grouping,
                finding=self._rater.rated(finding),
                confirmation=Confirmation.CONFIRMED,
                aliases=name.aliases,
            )
        )
        self._journal.bucket(name.key, merged)

    def set_native_stack(self, bucket: Bucket, native_stack: tuple[Frame, ...]) -> None:
        """Record the native stack of a confirmed bucket's crash."""
        explained = replace(bucket, native_stack=native_stack)
        self.confirmed.replace(explained)
        self._journal.bucket(explained.fingerprint, explained)

    def set_onset(self, bucket: Bucket, onset: Onset) -> None:
        """Record the first release that shows a confirmed bucket."""
        dated = replace(bucket, onset=onset)
        self.confirmed.replace(dated)
        self._journal.bucket(dated.fingerprint, dated)

    def set_announced(self, bucket: Bucket, announced: str) -> None:
        """Record how the documentation announces a confirmed bucket, which is harmless then."""
        finding = bucket.finding
        evidence = replace(finding.evidence, announced=announced)
        marked = replace(finding, severity=Severity.INFO, evidence=evidence)
        explained = replace(bucket, finding=marked)
        self.confirmed.replace(explained)
        self._journal.bucket(explained.fingerprint, explained)

    def set_counts(self, bucket: Bucket, finding: Finding, *, is_refuted: bool) -> Iterator[Event]:
        """Record the instructions of a confirmed bucket's call, which may refute its finding."""
        counted = replace(bucket, finding=finding)
        if is_refuted:
            counted = replace(counted, confirmation=Confirmation.FLAKY)
            yield BucketFlaky(bucket=counted)
        self.confirmed.replace(counted)
        self._journal.bucket(counted.fingerprint, counted)

    def set_attribution(self, attributed: Attributed) -> Iterator[Event]:
        """Record on which sides of a change a confirmed bucket shows."""
        bucket = self.confirmed.get(attributed.key)
        if bucket is None:
            return
        attribution = attributed.attribution
        bucket = replace(bucket, attribution=attribution)
        shown_on = self.shown_on.setdefault(bucket.fingerprint, set())
        shown_on.update((name,) for name in attributed.shown_on)
        if attribution.is_flaky:
            bucket = replace(bucket, confirmation=Confirmation.FLAKY)
            yield BucketFlaky(bucket=bucket)
        self.confirmed.replace(bucket)
        self._journal.bucket(bucket.fingerprint, bucket)

    def mark_pending(self, key: str) -> None:
        """Mark a confirmed bucket as pending, as its attribution is unknown in this run."""
        bucket = self.confirmed.get(key)
        if bucket is not None:  # not written to the journal: a resumed run attributes it again
            self.confirmed.replace(replace(bucket, confirmation=Confirmation.PENDING))

    def _settle_flaky(self, settled: ConfirmationResult) -> Iterator[Event]:
        self._groups[settled.finding.library].note_flaky(settled.finding)
        known = self.flaky.get(settled.key)
        previous = known or self._keep(settled.key, settled.finding, Confirmation.FLAKY)
        bucket = replace(
            previous, shown=previous.shown + settled.shown, tried=previous.tried + settled.tried
        )
        self.flaky[settled.key] = bucket
        self._journal.bucket(settled.key, bucket)
        if known is None:
            yield BucketFlaky(bucket=bucket)

    def _keep(self, key: str, finding: Finding, confirmation: Confirmation) -> Bucket:
        grouping = fingerprint(finding).grouping
        bucket = Bucket(
            fingerprint=key, grouping=grouping, finding=finding, confirmation=confirmation
        )
        self.flaky[key] = bucket
        return bucket

    def restore(self, key: str, bucket: Bucket) -> None:
        """Restore a bucket of the interrupted run."""
        self.shown_on.setdefault(bucket.fingerprint, set()).add(bucket.finding.targets)
        if bucket.confirmation is Confirmation.CONFIRMED:
            self.flaky.pop(key, None)
            self.confirmed.merge(bucket)
            self._confirmed_as[key] = bucket.fingerprint
        else:
            self.flaky[key] = bucket
            self._candidates[key] = _MAX_CANDIDATES

    def restore_counts(self, counts: Mapping[str, int]) -> None:
        """Restore the counts of the interrupted run, without batches that run again."""
        self.counts.clear()
        for key, count in counts.items():
            name = self._confirmed_as.get(key, key)
            self.counts[name] = self.counts.get(name, 0) + count

    def by_severity(self) -> tuple[Bucket, ...]:
        """Return the confirmed buckets, by decreasing severity."""
        return self.confirmed.sorted()

    def buckets(self) -> list[Bucket]:
        """Return every bucket, confirmed or not, with its count."""
        return [
            replace(
                bucket,
                count=max(1, self.counts.get(bucket.fingerprint, 1)),
                aliases=tuple(
                    sorted({*bucket.aliases, *self._aliases.get(bucket.fingerprint, ())})
                ),
            )
            for bucket in (*self.confirmed.sorted(), *self.flaky.values())
        ]


def _can_show_defect(case: Case, outcome: Passed | Rejected, subject: Subject) -> bool:
    """Return whether a passed or rejected case can show a defect on a single target.

    A relation and a documented constraint can be violated only by a call that passed.
    """
    if case.has_verdict_alone or not case.is_api_use:
        return True
    is_restricted = bool(case.relation) or case.focus in subject.specifications
    return is_restricted and isinstance(outcome, Passed)
