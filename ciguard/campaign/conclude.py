"""Conclusion of a run: compare with the baseline, check reproducers, decide, update."""

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
    merge,
    open_store,
    update,
    with_base_comparison,
)
from ciguard.campaign.covered_functions import added_by_change
from ciguard.campaign.experience import keep_in_baseline
from ciguard.campaign.frontier import Frontier
from ciguard.campaign.history import run_note, update_history
from ciguard.campaign.scripts import write_scripts
from ciguard.config import location_text
from ciguard.domain.events import Event, StageFinished
from ciguard.domain.findings import (
    INCONCLUSIVE,
    Bucket,
    Comparison,
    Confirmation,
    Verdict,
    cause_name,
)
from ciguard.domain.policy import Action
from ciguard.domain.text import visible
from ciguard.errors import BaselineError, ExitCode
from ciguard.oracles import traits_of
from ciguard.triage import apply_reachability, with_causes

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from ciguard.baseline import BaselineRecord, BaselineStore, Records
    from ciguard.campaign.budget import Budget
    from ciguard.campaign.experience import Snapshot
    from ciguard.campaign.history import Publishing
    from ciguard.campaign.scripts import ScriptTarget
    from ciguard.config import Config
    from ciguard.domain.detection import Detection
    from ciguard.domain.findings import TargetSummary
    from ciguard.domain.parts import StreamProgress

Trial: TypeAlias = Callable[[list[Bucket]], Generator[Event, None, list[Bucket]]]
"""Function that runs the reproducers of buckets, and marks those that show the defect."""


_MAX_LISTED = 6
"""Maximum number of targets that are named in the summary."""


IssuePlanner: TypeAlias = Callable[
    [Verdict, tuple[Bucket, ...], Mapping[str, str]], Callable[["Path", "Records"], None]
]
"""Function that plans the issues of a run before the baseline is updated.

It receives the verdict, the buckets, and the versions by target. It returns a function that writes
the planned tasks for the given records into the baseline's folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineSnapshot:
    """The baseline as it was when a run began."""

    store: BaselineStore
    """Store of the baseline."""
    plan_issues: IssuePlanner | None = None
    """Planner of the issues; None for none."""
    records: Records
    """Records by fingerprint."""
    is_first: bool
    """True if there is no baseline yet, so that this run establishes it."""
    frontier: Frontier
    """Progress of earlier runs."""
    publishing: Publishing | None = None
    """Files that are written next to the baseline; None for none."""

    @property
    def fingerprints(self) -> frozenset[str]:
        """Fingerprints of the buckets that are known to be reproducible."""
        return frozenset(
            name
            for record in self.records.values()
            if record.state in {State.OPEN, State.ACCEPTED}
            for name in (record.fingerprint, *record.aliases)
        )

    def corpus(self, *, is_flaky: bool = False) -> list[BaselineRecord]:
        """Return the records to replay, by decreasing severity.

        Args:
            is_flaky: whether to return flaky records instead of the others. They are replayed to
                count how often they show. Hangs are omitted, as each takes its whole timeout.
        """
        records = [
            record
            for record in current(self.records).values()
            if (record.state is State.FLAKY) is is_flaky
            and not (is_flaky and traits_of(record.representative.oracle).takes_whole_timeout)
        ]
        return sorted(
            records, key=lambda record: (-record.representative.severity, record.fingerprint)
        )


def load_baseline(
    config: Config,
    *,
    store: BaselineStore | None = None,
    plan_issues: IssuePlanner | None = None,
    publishing: Publishing | None = None,
) -> BaselineSnapshot:
    """Read the baseline.

    Args:
        config: settings of the run.
        store: store of the baseline, if it is open already.
        plan_issues: planner of the issues.
        publishing: files that are written next to the baseline.

    Raises:
        BaselineError: if the baseline cannot be read; its files are not changed.
    """
    store = store or open_store(config.baseline)
    is_first = not store.exists()
    if is_first and config.compare_only and not config.base:
        msg = (
            f"{location_text(config.baseline)}: there is no baseline to compare with. Run ciguard "
            "on the default branch first, or name the base with --base."
        )
        raise BaselineError(msg)
    return BaselineSnapshot(
        store=store,
        plan_issues=plan_issues,
        records={} if is_first else store.load(),
        is_first=is_first,
        frontier=Frontier(store.folder, is_first=is_first),
        publishing=publishing,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """Results of a run, for its conclusion."""

    config: Config
    """Settings of the run."""
    baseline: BaselineSnapshot
    """Baseline when the run began."""
    budget: Budget
    """Time budget of the run."""
    targets: tuple[TargetSummary, ...]
    """Targets that ran, or should have run."""
    base: Collection[str] = ()
    """Names of the base's targets."""
    script_targets: Mapping[str, ScriptTarget]
    """Targets of reproducers, by name."""
    trial: Trial | None = None
    """Function that checks reproducers; None if no workers are available."""
    replayed: Mapping[str, frozenset[str]]
    """Targets on which a stored case ended well and showed nothing, by fingerprint."""
    shown: Collection[str] = ()
    """Fingerprints of the buckets that their replayed case has shown again."""
    shown_on: Mapping[str, Collection[tuple[str, ...]]] = field(default_factory=dict)
    """Targets of each finding in a bucket, by fingerprint."""
    explored: Mapping[str, tuple[StreamProgress, float]]
    """Progress of each stream, and the budget that suffices for it, in seconds."""
    functions: Mapping[str, str] = field(default_factory=dict)
    """Reasons why the user's functions and programs were not tested; empty texts for the tested."""
    used: Collection[tuple[str, Snapshot]]
    """Libraries, each with its experience when the run began."""
    interrupted: bool = False
    """True if the user interrupted the run."""
    detection: Detection | None = None
    """Planted defects, and which of them oracles have noticed; None if none were planted."""

    @property
    def exercised(self) -> Exercised:
        """Buckets that were replayed, and all targets."""
        targets = frozenset(target.name for target in self.targets)
        return Exercised(replayed=self.replayed, targets=targets)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConclusion:
    """Result of a run."""

    verdict: Verdict
    """Verdict of the run."""
    exit_code: ExitCode
    """Exit code of the command."""
    summary: str
    """Verdict as one sentence."""
    buckets: tuple[Bucket, ...]
    """Buckets of the run and of the baseline, compared."""


def conclude(run: Conclusion, found: list[Bucket]) -> Generator[Event, None, RunConclusion]:
    """Compare with the baseline, write and check reproducers, decide, and update the baseline.

    Raises:
        OutputError: if reproducers cannot be written.
        BaselineError: if the baseline cannot be written; its content is unchanged then.
    """
    compared = _consumed(_compared(run, found))
    written = list(write_scripts(compared, run.script_targets, run.config.out))
    if run.trial is not None and not run.interrupted:
        try:
            written = yield from run.trial(written)
            yield StageFinished(stage="reproduce", spent_s=run.budget.finish_stage("reproduce"))
        except KeyboardInterrupt:
            run = replace(run, interrupted=True)
    decided = decide(run, written)
    if decided.verdict not in INCONCLUSIVE:
        if not run.config.is_read_only:
            _update_baseline(run, decided)
        with suppress(KeyboardInterrupt):  # too late: the baseline is updated
            yield StageFinished(stage="remember", spent_s=run.budget.finish_stage("remember"))
    return decided


def _consumed(buckets: list[Bucket]) -> Iterator[Bucket]:
    """Yield the buckets and empty the list, so that a large baseline is not in memory twice."""
    buckets.reverse()
    while buckets:
        yield buckets.pop()


def _compared(run: Conclusion, found: list[Bucket]) -> list[Bucket]:
    """Return the compared buckets of run and baseline that the policy does not ignore."""
    against_baseline = compare(found, run.baseline.records, run.exercised)
    added = added_by_change(
        against_baseline,
        run.baseline.frontier.functions,
        [target for target in run.targets if target.name in run.base],
        run.shown_on,
        run.config.budget_s,
    )
    against_base = with_base_comparison(run.base, against_baseline, run.shown_on, added=added)
    explained = apply_reachability(with_causes(against_base))
    policy = run.config.policy
    return [bucket for bucket in explained if policy.action(bucket.finding) is not Action.OFF]


def decide(run: Conclusion, buckets: list[Bucket]) -> RunConclusion:
    """Return the verdict, the exit code and the summary of a run."""
    new = [
        bucket
        for bucket in buckets
        if bucket.comparison is Comparison.NEW and bucket.confirmation is Confirmation.CONFIRMED
    ]
    policy = run.config.policy
    failing = [bucket for bucket in new if policy.action(bucket.finding) is Action.FAIL]
    known = sum(bucket.comparison in {Comparison.KNOWN, Comparison.ACCEPTED} for bucket in buckets)
    executed = sum(target.tally.total for target in run.targets)
    not_run = [target.name for target in run.targets if target.not_run]
    untested = {name: reason for name, reason in run.functions.items() if reason}
    if run.interrupted:
        verdict, code = Verdict.INTERRUPTED, ExitCode.INTERRUPTED
        text = f"Interrupted after {executed:,} cases: {len(new)} new buckets so far."
    elif not_run or not (executed or run.config.is_part):
        verdict, code = Verdict.NOT_RUN, ExitCode.INTERNAL
        text = f"Not run to the end on {_listed(not_run)}: nothing can be concluded."
        text += f" {len(new)} new buckets elsewhere." if new else ""
    elif run.config.is_part:
        verdict, code = Verdict.PART, ExitCode.CLEAN
        text = (
            f"Shard {run.config.shard} is done: {executed:,} cases, {len(new)} new buckets, "
            f"{known} known. `ciguard merge` judges all shards together."
        )
    elif untested and len(untested) == len(run.functions) and not new:
        verdict, code = Verdict.NOT_TESTED, ExitCode.INTERNAL
        name, reason = next(iter(untested.items()))
        text = f"No function was called with valid arguments. {visible(name)}: {reason}."
    elif run.baseline.is_first and not run.config.is_read_only:
        verdict, code = Verdict.ESTABLISHED, ExitCode.CLEAN
        text = f"Baseline established with {_causes(new)}; from now on only new ones count."
    elif failing:
        verdict, code = Verdict.NEW_FINDINGS, ExitCode.FINDINGS
        counts = "which count" if policy.rules else f"of severity {policy.fail_on.label} or above"
        text = f"{_counted(failing)} {counts}, {known} known."
    elif _is_blind(run):
        verdict, code = Verdict.NOT_RUN, ExitCode.INTERNAL
        text = (
            "Nothing new that counts, but the run noticed fewer planted defects than min-detection "
            f"= {run.config.min_detection} demands: nothing can be concluded."
        )
    else:
        verdict, code = Verdict.CLEAN, ExitCode.CLEAN
        reason = "that only get reported" if policy.rules else f"below {policy.fail_on.label}"
        below = f", {len(new)} new {reason}" if new else ""
        text = f"Nothing new that counts{below}; {known} known."
    if untested and verdict not in INCONCLUSIVE:
        count = f"{len(untested)} of {len(run.functions)} functions"
        text += f" NOT TESTED: {count} ({visible(_listed([*untested]))})."
    return RunConclusion(verdict=verdict, exit_code=code, summary=text, buckets=tuple(buckets))


def _is_blind(run: Conclusion) -> bool:
    """Return whether the run noticed too few of the planted defects, if it planted some."""
    return run.detection is not None and 100 * run.detection.rate < run.config.min_detection


def _counted(failing: list[Bucket]) -> str:
    """Return the number of new causes, and that of their buckets if it is larger."""
    causes = len(set(map(cause_name, failing)))
    behind = f" ({len(failing)} buckets)" if causes < len(failing) else ""
    return f"{causes} new{behind}"


def _causes(buckets: list[Bucket]) -> str:
    """Return e.g. `39 causes (60 buckets)`, or `4 buckets` if each has its own cause."""
    causes = len(set(map(cause_name, buckets)))
    counted = f"{len(buckets)} bucket{'' if len(buckets) == 1 else 's'}"
    return f"{causes} causes ({counted})" if causes < len(buckets) else counted


def _update_baseline(run: Conclusion, decided: RunConclusion) -> None:
    """Update the baseline and the frontier, without pending buckets."""
    settled = [
        bucket for bucket in decided.buckets if bucket.confirmation is not Confirmation.PENDING
    ]
    versions = {target.name: target.version for target in run.targets}
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    sighting = Sighting(time=now, versions=tuple(sorted(versions.items())))
    known = run.baseline.records
    exercised = run.exercised
    passed = [name for name in run.replayed if name in known and exercised.covers(known[name])]
    repeated = dict.fromkeys(passed, False) | dict.fromkeys(run.shown, True)
    updated = (
        establish(settled, sighting)
        if run.baseline.is_first
        else update(known, settled, sighting, repeated=repeated)
    )
    plan_issues = run.baseline.plan_issues
    write_tasks = (
        None if plan_issues is None else plan_issues(decided.verdict, decided.buckets, versions)
    )
    note = run_note(decided.verdict, decided.buckets, run.targets, sighting, run.detection)
    stored_last: list[Records] = []

    def change(stored: Records) -> Records:
        merged = merge(updated, stored)
        if write_tasks is not None:
            # Write the tasks before the records: for a known bucket they would never be written.
            write_tasks(run.baseline.store.folder, merged)
        stored_last[:] = [merged]
        return merged

    def write_beside(folder: Path) -> None:
        for library, snapshot in run.used:
            keep_in_baseline(folder, library, snapshot)
        frontier = Frontier(folder, is_first=run.baseline.is_first)
        for name, (progress, budget_s) in run.explored.items():
            frontier.extend(name, progress, budget_s)
        frontier.note(sighting)
        frontier.functions.note(run.functions, run.targets, run.config.budget_s)
        frontier.save()
        update_history(folder, note, stored_last[0], run.baseline.publishing)

    run.baseline.store.change(change, beside=write_beside)


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _MAX_LISTED} more" if len(names) > _MAX_LISTED else ""
    return (", ".join(names[:_MAX_LISTED]) or "any target") + more
