"""The end of a run: compare with the baseline, write and try reproducers, decide, remember."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ciguard.baseline import (
    Exercised,
    FolderStore,
    Sighting,
    State,
    compare,
    current,
    establish,
    update,
)
from ciguard.campaign.experience import keep_explored
from ciguard.campaign.frontier import Frontier
from ciguard.campaign.scripts import try_scripts, write_scripts
from ciguard.domain import Action, Bucket, Comparison, Confirmation, StageFinished, Verdict
from ciguard.errors import ExitCode
from ciguard.triage import relate

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from ciguard.baseline import BaselineRecord, Records
    from ciguard.campaign.budget import Budget
    from ciguard.campaign.experience import Snapshot
    from ciguard.campaign.group import Member
    from ciguard.config import Config
    from ciguard.domain import Event
    from ciguard.execution import Dispatcher


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What earlier runs have left."""

    store: FolderStore
    records: Records
    is_first: bool
    """There is no baseline yet: this run establishes it."""
    frontier: Frontier

    @property
    def fingerprints(self) -> frozenset[str]:
        """Names of the buckets that are known to reproduce."""
        known = [r for r in self.records.values() if r.state in {State.OPEN, State.ACCEPTED}]
        return frozenset(name for r in known for name in (r.fingerprint, *r.aliases))

    def corpus(self) -> list[BaselineRecord]:
        """Return the records to replay, the gravest first; flaky ones prove nothing."""
        worth = [r for r in current(self.records).values() if r.state is not State.FLAKY]
        return sorted(worth, key=lambda r: (-r.exhibit.severity, r.fingerprint))


def load_memory(config: Config) -> Memory:
    """Read the baseline.

    Raises:
        BaselineError: if it cannot be read; its files are left as they are.
    """
    store = FolderStore(config.baseline)
    is_first = not store.exists()
    return Memory(
        store=store,
        records={} if is_first else store.load(),
        is_first=is_first,
        frontier=Frontier(config.baseline, is_first=is_first),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """What a run has done, for its conclusion."""

    config: Config
    memory: Memory
    dispatcher: Dispatcher
    budget: Budget
    members: Mapping[str, Member]
    replayed: Mapping[str, frozenset[str]]
    """Fingerprint → targets on which its stored case ran."""
    explored: Mapping[str, int]
    """Stream → batches done."""
    explored_in_s: float
    """The budget that is enough to get that far: all of it, unless the cases ran out."""
    used: Mapping[str, Snapshot]
    """What was known from outcomes when the run began, by library."""
    interrupted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """How a run ends."""

    verdict: Verdict
    exit_code: ExitCode
    summary: str
    buckets: tuple[Bucket, ...]


def conclude(run: Conclusion, met: list[Bucket]) -> Generator[Event, None, Decided]:
    """Compare, write and try reproducers, decide, and update the baseline.

    Raises:
        OutputError: if reproducers cannot be written.
        BaselineError: if the baseline cannot be written; what it held is intact.
    """
    exercised = Exercised(
        replayed=run.replayed,
        apis={name: frozenset(member.exercised) for name, member in run.members.items()},
    )
    compared = relate(
        bucket
        for bucket in compare(met, run.memory.records, exercised)
        if run.config.policy.action(bucket.finding) is not Action.OFF
    )
    written = list(write_scripts(compared, run.members, run.config.out))
    if not run.interrupted:
        try:
            written = yield from try_scripts(
                written,
                run.members,
                run.dispatcher,
                until=run.budget.scripts_until,
                case_limit_s=run.config.case_limit_s,
            )
            yield StageFinished(stage="reproduce", spent_s=run.budget.finish_stage("reproduce"))
        except KeyboardInterrupt:
            run = replace(run, interrupted=True)
    decided = decide(run, written)
    if decided.verdict not in {Verdict.INTERRUPTED, Verdict.NOT_RUN}:
        _remember(run, written)
        with suppress(KeyboardInterrupt):  # too late: all is done and remembered
            yield StageFinished(stage="remember", spent_s=run.budget.finish_stage("remember"))
    return decided


def decide(run: Conclusion, buckets: list[Bucket]) -> Decided:
    """Return verdict, exit code and the verdict as one sentence."""
    counted = [
        b
        for b in buckets
        if b.comparison is Comparison.NEW and b.confirmation is Confirmation.CONFIRMED
    ]
    policy = run.config.policy
    failing = [b for b in counted if policy.action(b.finding) is Action.FAIL]
    known = sum(b.comparison in {Comparison.KNOWN, Comparison.ACCEPTED} for b in buckets)
    executed = sum(member.tally.total for member in run.members.values())
    lost = [member.name for member in run.members.values() if member.not_run]
    if run.interrupted:
        verdict, code = Verdict.INTERRUPTED, ExitCode.INTERRUPTED
        text = f"Interrupted after {executed:,} cases: {len(counted)} new buckets so far."
    elif not executed or lost:
        verdict, code = Verdict.NOT_RUN, ExitCode.INTERNAL
        text = f"Not run to the end on {', '.join(lost) or 'any target'}: nothing can be concluded."
    elif run.memory.is_first:
        verdict, code = Verdict.ESTABLISHED, ExitCode.CLEAN
        text = f"Baseline established with {len(counted)} buckets; from now on only new ones count."
    elif failing:
        verdict, code = Verdict.NEW_FINDINGS, ExitCode.FINDINGS
        counts = "which count" if policy.rules else f"of severity {policy.fail_on.label} or above"
        text = f"{len(failing)} new {counts}, {known} known."
    else:
        verdict, code = Verdict.CLEAN, ExitCode.CLEAN
        why = "that only get reported" if policy.rules else f"below {policy.fail_on.label}"
        below = f", {len(counted)} new {why}" if counted else ""
        text = f"Nothing new that counts{below}; {known} known."
    return Decided(verdict=verdict, exit_code=code, summary=text, buckets=tuple(buckets))


def _remember(run: Conclusion, buckets: list[Bucket]) -> None:
    """Update baseline and frontier. What is still pending is not known yet."""
    settled = [b for b in buckets if b.confirmation is not Confirmation.PENDING]
    versions = {name: member.environment.version for name, member in run.members.items()}
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    sighting = Sighting(time=now, versions=tuple(sorted(versions.items())))
    if run.memory.is_first:
        run.memory.store.save(establish(settled, sighting))
    else:
        run.memory.store.save(update(run.memory.records, settled, sighting))
    for library, snapshot in run.used.items():
        keep_explored(run.config.baseline, library, snapshot)
    for name, batches in run.explored.items():
        run.memory.frontier.extend(name, batches, run.explored_in_s)
    run.memory.frontier.save()
