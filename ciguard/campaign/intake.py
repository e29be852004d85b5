"""The intake: findings of executed cases become buckets, each root cause confirmed once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.campaign.rating import Rater
from ciguard.domain.events import BucketFlaky, BucketOpened, Event
from ciguard.domain.findings import Bucket, Confirmation, Finding
from ciguard.domain.outcomes import Frame, Passed, Rejected
from ciguard.domain.policy import Action, Policy
from ciguard.oracles import judge
from ciguard.triage import Buckets, fingerprint

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from ciguard.campaign.group import Group
    from ciguard.campaign.journal import Journal
    from ciguard.campaign.stages.trial import Attributed
    from ciguard.campaign.stream import Executed
    from ciguard.domain.case import Case
    from ciguard.domain.onset import Onset
    from ciguard.oracles import Subject
    from ciguard.triage import Confirmer, Settled

BY_SEVERITY = Policy()
_MAX_CASES = 16
"""Cases of one bucket that are kept."""
_MAX_TRIES = 3
"""Candidates of one provisional fingerprint that are tried before it is flaky for good."""


class Intake:
    """Judges executed cases, proposes what is new to the confirmer, keeps the buckets."""

    def __init__(
        self,
        *,
        confirmer: Confirmer,
        journal: Journal,
        groups: Mapping[str, Group],
        known: Collection[str],
        policy: Policy = BY_SEVERITY,
    ) -> None:
        """Make an intake.

        Args:
            confirmer: repeats candidates.
            journal: where candidates and buckets are noted before anything else happens to them.
            groups: by library.
            known: fingerprints of the baseline: met again, they need no confirmation.
            policy: what is done about findings: some are passed over.
        """
        self._confirmer = confirmer
        self._journal = journal
        self._groups = groups
        self._rater = Rater(groups)
        self._known = frozenset(known)
        self._policy = policy
        self.confirmed = Buckets()
        self.flaky: dict[str, Bucket] = {}
        self._tries: dict[str, int] = {}
        self._waiting: set[str] = set()
        self._confirmed_as: dict[str, str] = {}
        """Provisional fingerprint → the one that the confirmation gave."""
        self.counts: dict[str, int] = {}
        self._aliases: dict[str, set[str]] = {}
        """Keys by older recipes of what fell into a bucket: a recipe may join what was apart."""
        self.shown_on: dict[str, set[tuple[str, ...]]] = {}
        """Fingerprint → the targets of each finding in the bucket."""
        self.cases: dict[str, list[Case]] = {}
        """Fingerprint → the first cases that fell into the bucket."""

    def take(self, executed: Executed, group: Group) -> Iterator[Event]:
        """Judge a batch."""
        subject = group.subject(executed.api)
        names = list(executed.outcomes)
        columns = zip(*executed.outcomes.values(), strict=True)
        for case, row in zip(executed.cases, columns, strict=True):
            if case.api != subject.api:  # programs of a batch are each about an API of their own
                subject = group.subject(case.api)
            if (
                len(row) == 1
                and isinstance(row[0], (Passed, Rejected))
                and not _says(case, subject)
            ):
                continue
            for finding in judge(case, dict(zip(names, row, strict=True)), subject):
                yield from self.propose(finding)

    def accept(self, finding: Finding) -> Iterator[Event]:
        """Fold a finding that is confirmed already into its bucket."""
        if self._policy.action(finding) is Action.OFF:
            return
        key = fingerprint(finding).key
        self.counts[key] = self.counts.get(key, 0) + 1
        self.shown_on.setdefault(key, set()).add(finding.targets)
        if key not in self.confirmed:
            yield self._open(key, finding)

    def propose(self, finding: Finding) -> Iterator[Event]:
        """Fold a finding into its bucket, or have it confirmed first."""
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
        tries = self._tries[key] = self._tries.get(key, 0) + 1
        if tries <= _MAX_TRIES:
            self._waiting.add(key)
            self._journal.candidate(key, finding)
            self._confirmer.propose(key, finding)

    def settle(self, settled: Iterable[Settled]) -> Iterator[Event]:
        """Take what the confirmer found out."""
        for outcome in settled:
            self._waiting.discard(outcome.key)
            if self._policy.action(outcome.finding) is Action.OFF:
                continue  # confirmed as something else than it was proposed as
            if outcome.confirmation is None:
                self.counts.pop(outcome.key, None)
            elif outcome.confirmation is Confirmation.CONFIRMED:
                yield from self._settle_confirmed(outcome)
            elif outcome.confirmation is Confirmation.FLAKY:
                yield from self._settle_flaky(outcome)
            else:
                self._keep(outcome.key, outcome.finding, Confirmation.PENDING)

    def _settle_confirmed(self, settled: Settled) -> Iterator[Event]:
        name = fingerprint(settled.finding)
        if name.key != settled.key:
            self._confirmed_as[settled.key] = name.key
            moved = self.counts.pop(settled.key, 1)
            self.counts[name.key] = self.counts.get(name.key, 0) + moved
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
        """Let a confirmed finding stand for its bucket if it is simpler than the one that does."""
        name = fingerprint(finding)
        whole = self.confirmed.merge(
            Bucket(
                fingerprint=name.key,
                grouping=name.grouping,
                finding=self._rater.rated(finding),
                confirmation=Confirmation.CONFIRMED,
                aliases=name.aliases,
            )
        )
        self._journal.bucket(name.key, whole)

    def explain(self, bucket: Bucket, native_stack: tuple[Frame, ...]) -> None:
        """Note where in native code a confirmed bucket's crash happened."""
        explained = replace(bucket, native_stack=native_stack)
        self.confirmed.replace(explained)
        self._journal.bucket(explained.fingerprint, explained)

    def date(self, bucket: Bucket, onset: Onset) -> None:
        """Note since which release a confirmed bucket shows."""
        dated = replace(bucket, onset=onset)
        self.confirmed.replace(dated)
        self._journal.bucket(dated.fingerprint, dated)

    def attribute(self, attributed: Attributed) -> Iterator[Event]:
        """Note on which sides of a change a confirmed bucket shows."""
        bucket = self.confirmed.get(attributed.key)
        if bucket is None:
            return
        counted = attributed.attribution
        bucket = replace(bucket, attribution=counted)
        shown_on = self.shown_on.setdefault(bucket.fingerprint, set())
        shown_on.update((name,) for name in attributed.shown_on)
        if counted.is_flaky:
            bucket = replace(bucket, confirmation=Confirmation.FLAKY)
            yield BucketFlaky(bucket=bucket)
        self.confirmed.replace(bucket)
        self._journal.bucket(bucket.fingerprint, bucket)

    def doubt(self, key: str) -> None:
        """Let a confirmed bucket wait for its attribution: it is no finding of this run."""
        bucket = self.confirmed.get(key)
        if bucket is not None:  # not in the journal: a resumed run tries it again
            self.confirmed.replace(replace(bucket, confirmation=Confirmation.PENDING))

    def _settle_flaky(self, settled: Settled) -> Iterator[Event]:
        self._groups[settled.finding.library].note(settled.finding)
        met = self.flaky.get(settled.key)
        before = met or self._keep(settled.key, settled.finding, Confirmation.FLAKY)
        bucket = replace(
            before, shown=before.shown + settled.shown, tried=before.tried + settled.tried
        )
        self.flaky[settled.key] = bucket
        self._journal.bucket(settled.key, bucket)
        if met is None:
            yield BucketFlaky(bucket=bucket)

    def _keep(self, key: str, finding: Finding, confirmation: Confirmation) -> Bucket:
        grouping = fingerprint(finding).grouping
        bucket = Bucket(
            fingerprint=key, grouping=grouping, finding=finding, confirmation=confirmation
        )
        self.flaky[key] = bucket
        return bucket

    def recall(self, key: str, bucket: Bucket) -> None:
        """Take over a bucket of an earlier part of the same campaign."""
        self.shown_on.setdefault(bucket.fingerprint, set()).add(bucket.finding.targets)
        if bucket.confirmation is Confirmation.CONFIRMED:
            self.flaky.pop(key, None)
            self.confirmed.merge(bucket)
            self._confirmed_as[key] = bucket.fingerprint
        else:
            self.flaky[key] = bucket
            self._tries[key] = _MAX_TRIES

    def recall_counts(self, counts: Mapping[str, int]) -> None:
        """Take over the counts of an earlier part, as of the batches that are not run again."""
        self.counts.clear()
        for key, count in counts.items():
            name = self._confirmed_as.get(key, key)
            self.counts[name] = self.counts.get(name, 0) + count

    def worst_first(self) -> tuple[Bucket, ...]:
        """Return the confirmed buckets, the gravest first."""
        return self.confirmed.sorted()

    def buckets(self) -> list[Bucket]:
        """Return every bucket, confirmed or not, with its count."""
        every = [*self.confirmed.sorted(), *self.flaky.values()]
        return [
            replace(
                b,
                count=max(1, self.counts.get(b.fingerprint, 1)),
                aliases=tuple(sorted({*b.aliases, *self._aliases.get(b.fingerprint, ())})),
            )
            for b in every
        ]


def _says(case: Case, subject: Subject) -> bool:
    """Return whether an orderly end on one target says anything; of a program it does."""
    is_judged_alone = case.has_verdict_alone or not case.is_api_use
    return is_judged_alone or bool(case.relation) or case.focus in subject.laws
