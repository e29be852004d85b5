"""The end of a run: compare with the baseline, write and try reproducers, decide, remember."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeAlias

from ciguard.baseline import (
    Exercised,
    Sighting,
    State,
    compare,
    current,
    establish,
    known_to,
    merge,
    open_store,
    update,
)
from ciguard.campaign.experience import keep_explored
from ciguard.campaign.frontier import Frontier
from ciguard.campaign.history import keep_history, run_note
from ciguard.campaign.scripts import write_scripts
from ciguard.config import location_text
from ciguard.domain.events import Event, StageFinished
from ciguard.domain.findings import Bucket, Comparison, Confirmation, Verdict, cause_name
from ciguard.domain.policy import Action
from ciguard.errors import BaselineError, ExitCode
from ciguard.oracles import traits_of
from ciguard.triage import with_causes, with_reach

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from ciguard.baseline import BaselineRecord, BaselineStore, Records
    from ciguard.campaign.budget import Budget
    from ciguard.campaign.experience import Snapshot
    from ciguard.campaign.history import Publishing
    from ciguard.campaign.scripts import Site
    from ciguard.config import Config
    from ciguard.domain.findings import TargetSummary
    from ciguard.domain.parts import StreamProgress

Trial: TypeAlias = Callable[[list[Bucket]], Generator[Event, None, list[Bucket]]]
"""Runs the scripts of buckets, and marks those that fail as their finding did."""


_MAX_LISTED = 6
"""Targets that did not run whose names one sentence holds."""


Intends: TypeAlias = Callable[
    [Verdict, tuple[Bucket, ...], Mapping[str, str]], Callable[["Path", "Records"], None]
]
"""Is told verdict, buckets and versions by target before they are remembered; returns what writes
into the baseline's folder what is to be done about the records that it is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What earlier runs have left."""

    store: BaselineStore
    intends: Intends | None = None
    records: Records
    is_first: bool
    """There is no baseline yet: this run establishes it."""
    frontier: Frontier
    publishing: Publishing | None = None

    @property
    def fingerprints(self) -> frozenset[str]:
        """Names of the buckets that are known to reproduce."""
        known = [r for r in self.records.values() if r.state in {State.OPEN, State.ACCEPTED}]
        return frozenset(name for r in known for name in (r.fingerprint, *r.aliases))

    def corpus(self, *, is_flaky: bool = False) -> list[BaselineRecord]:
        """Return the records to replay, the gravest first.

        Args:
            is_flaky: those that are, instead of those that are not. They prove nothing, but how
                often they show is counted; a hang is left out, since it would take its whole limit.
        """
        worth = [
            record
            for record in current(self.records).values()
            if (record.state is State.FLAKY) is is_flaky
            and not (is_flaky and traits_of(record.exhibit.oracle).takes_limit)
        ]
        return sorted(worth, key=lambda r: (-r.exhibit.severity, r.fingerprint))


def load_memory(
    config: Config,
    *,
    store: BaselineStore | None = None,
    intends: Intends | None = None,
    publishing: Publishing | None = None,
) -> Memory:
    """Read the baseline.

    Args:
        config: names it.
        store: which keeps it, if it is open already.
        intends: decides what is to be done about what the run finds.
        publishing: what is shown of it beside it.

    Raises:
        BaselineError: if it cannot be read; its files are left as they are.
    """
    store = store or open_store(config.baseline)
    is_first = not store.exists()
    if is_first and config.compare_only and not config.base:
        msg = (
            f"{location_text(config.baseline)}: there is no baseline to compare with. Let a run of "
            "the default branch establish it, or name the base with --base."
        )
        raise BaselineError(msg)
    return Memory(
        store=store,
        intends=intends,
        records={} if is_first else store.load(),
        is_first=is_first,
        frontier=Frontier(store.folder, is_first=is_first),
        publishing=publishing,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """What a run has done, for its conclusion."""

    config: Config
    memory: Memory
    budget: Budget
    targets: tuple[TargetSummary, ...]
    """What ran, or should have."""
    base: Collection[str] = ()
    """Names of the base's targets."""
    sites: Mapping[str, Site]
    trial: Trial | None = None
    """None where no worker is at hand."""
    replayed: Mapping[str, frozenset[str]]
    """Fingerprint → targets on which its stored case ended well, and nothing was found then."""
    shown: Collection[str] = ()
    """Fingerprints of buckets that the replay of their case has shown again."""
    shown_on: Mapping[str, Collection[tuple[str, ...]]] = field(default_factory=dict)
    """Fingerprint → the targets of each finding in the bucket."""
    explored: Mapping[str, tuple[StreamProgress, float]]
    """Stream → how far it got, and the budget that is enough to get there."""
    used: Collection[tuple[str, Snapshot]]
    """Libraries, and what was known of each from outcomes when the run began."""
    interrupted: bool = False

    @property
    def exercised(self) -> Exercised:
        """What was run again, and where."""
        targets = frozenset(target.name for target in self.targets)
        return Exercised(replayed=self.replayed, targets=targets)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConclusion:
    """How a run ends."""

    verdict: Verdict
    exit_code: ExitCode
    summary: str
    buckets: tuple[Bucket, ...]


def conclude(run: Conclusion, met: list[Bucket]) -> Generator[Event, None, RunConclusion]:
    """Compare, write and try reproducers, decide, and update the baseline.

    Raises:
        OutputError: if reproducers cannot be written.
        BaselineError: if the baseline cannot be written; what it held is intact.
    """
    written = list(write_scripts(_taken(_compared(run, met)), run.sites, run.config.out))
    if run.trial is not None and not run.interrupted:
        try:
            written = yield from run.trial(written)
            yield StageFinished(stage="reproduce", spent_s=run.budget.finish_stage("reproduce"))
        except KeyboardInterrupt:
            run = replace(run, interrupted=True)
    decided = decide(run, written)
    if decided.verdict not in {Verdict.INTERRUPTED, Verdict.NOT_RUN}:
        if not run.config.is_read_only:
            _remember(run, decided)
        with suppress(KeyboardInterrupt):  # too late: all is done and remembered
            yield StageFinished(stage="remember", spent_s=run.budget.finish_stage("remember"))
    return decided


def _taken(buckets: list[Bucket]) -> Iterator[Bucket]:
    """Yield the buckets, none of which is kept: a large baseline would be held twice."""
    buckets.reverse()
    while buckets:
        yield buckets.pop()


def _compared(run: Conclusion, met: list[Bucket]) -> list[Bucket]:
    """Return the buckets of run and baseline that the policy wants to see, each compared."""
    against_base = known_to(
        run.base,
        compare(met, run.memory.records, run.exercised),
        run.shown_on,
    )
    with_reasons = with_reach(with_causes(against_base))
    return [b for b in with_reasons if run.config.policy.action(b.finding) is not Action.OFF]


def decide(run: Conclusion, buckets: list[Bucket]) -> RunConclusion:
    """Return verdict, exit code and the verdict as one sentence."""
    counted = [
        b
        for b in buckets
        if b.comparison is Comparison.NEW and b.confirmation is Confirmation.CONFIRMED
    ]
    policy = run.config.policy
    failing = [b for b in counted if policy.action(b.finding) is Action.FAIL]
    known = sum(b.comparison in {Comparison.KNOWN, Comparison.ACCEPTED} for b in buckets)
    executed = sum(target.tally.total for target in run.targets)
    lost = [target.name for target in run.targets if target.not_run]
    if run.interrupted:
        verdict, code = Verdict.INTERRUPTED, ExitCode.INTERRUPTED
        text = f"Interrupted after {executed:,} cases: {len(counted)} new buckets so far."
    elif lost or not (executed or run.config.is_part):
        verdict, code = Verdict.NOT_RUN, ExitCode.INTERNAL
        text = f"Not run to the end on {_listed(lost)}: nothing can be concluded."
        text += f" {len(counted)} new buckets elsewhere." if counted else ""
    elif run.config.is_part:
        verdict, code = Verdict.PART, ExitCode.CLEAN
        text = (
            f"Shard {run.config.shard} is done: {executed:,} cases, {len(counted)} buckets that "
            f"the baseline lacks, {known} known. `ciguard merge` judges all shards together."
        )
    elif run.memory.is_first and not run.config.is_read_only:
        verdict, code = Verdict.ESTABLISHED, ExitCode.CLEAN
        text = f"Baseline established with {_causes(counted)}; from now on only new ones count."
    elif failing:
        verdict, code = Verdict.NEW_FINDINGS, ExitCode.FINDINGS
        counts = "which count" if policy.rules else f"of severity {policy.fail_on.label} or above"
        text = f"{_counted(failing)} {counts}, {known} known."
    else:
        verdict, code = Verdict.CLEAN, ExitCode.CLEAN
        why = "that only get reported" if policy.rules else f"below {policy.fail_on.label}"
        below = f", {len(counted)} new {why}" if counted else ""
        text = f"Nothing new that counts{below}; {known} known."
    return RunConclusion(verdict=verdict, exit_code=code, summary=text, buckets=tuple(buckets))


def _counted(failing: list[Bucket]) -> str:
    """Return how many causes are new, and behind how many buckets where these are more."""
    causes = len(set(map(cause_name, failing)))
    behind = f" ({len(failing)} buckets)" if causes < len(failing) else ""
    return f"{causes} new{behind}"


def _causes(buckets: list[Bucket]) -> str:
    """Return e.g. `39 causes (60 buckets)`, or `4 buckets` where each has a cause of its own."""
    causes = len(set(map(cause_name, buckets)))
    counted = f"{len(buckets)} bucket{'' if len(buckets) == 1 else 's'}"
    return f"{causes} causes ({counted})" if causes < len(buckets) else counted


def _remember(run: Conclusion, decided: RunConclusion) -> None:
    """Update baseline and frontier. What is still pending is not known yet."""
    settled = [b for b in decided.buckets if b.confirmation is not Confirmation.PENDING]
    versions = {target.name: target.version for target in run.targets}
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    sighting = Sighting(time=now, versions=tuple(sorted(versions.items())))
    known = run.memory.records
    exercised = run.exercised
    passed = [name for name in run.replayed if name in known and exercised.covers(known[name])]
    repeated = dict.fromkeys(passed, False) | dict.fromkeys(run.shown, True)
    after = (
        establish(settled, sighting)
        if run.memory.is_first
        else update(known, settled, sighting, repeated=repeated)
    )
    intends = run.memory.intends
    put = None if intends is None else intends(decided.verdict, decided.buckets, versions)
    note = run_note(decided.verdict, decided.buckets, run.targets, sighting)
    stored_last: list[Records] = []

    def changed(stored: Records) -> Records:
        merged = merge(after, stored)
        if put is not None:
            # First what is to be done: for a bucket that is known already nobody would do it.
            put(run.memory.store.folder, merged)
        stored_last[:] = [merged]
        return merged

    def beside(folder: Path) -> None:
        for library, snapshot in run.used:
            keep_explored(folder, library, snapshot)
        frontier = Frontier(folder, is_first=run.memory.is_first)
        for name, (far, budget_s) in run.explored.items():
            frontier.extend(name, far.batches, budget_s)
        frontier.note(sighting)
        frontier.save()
        keep_history(folder, note, stored_last[0], run.memory.publishing)

    run.memory.store.change(changed, beside=beside)


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _MAX_LISTED} more" if len(names) > _MAX_LISTED else ""
    return (", ".join(names[:_MAX_LISTED]) or "any target") + more
