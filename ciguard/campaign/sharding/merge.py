"""Merging of shards: their parts are judged together, like those of a single run.

No case runs. The events are those of a run, so that reports are the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ciguard.baseline import histories
from ciguard.campaign.baseline_status import baseline_status
from ciguard.campaign.budget import Budget
from ciguard.campaign.conclude import Conclusion, conclude, load_baseline
from ciguard.campaign.experience import write_run_snapshot
from ciguard.campaign.parameters import having_shared, parameters_of
from ciguard.campaign.scripts import remote_script_target
from ciguard.campaign.sharding import merged_run
from ciguard.campaign.sharding.parts_file import Folder, read_folder
from ciguard.domain.detection import merged_detection
from ciguard.domain.events import (
    BucketFlaky,
    BucketOpened,
    DocumentationChecked,
    Event,
    RunFinished,
    RunStarted,
    StageFinished,
    TargetReady,
    TargetUnavailable,
    Warned,
)
from ciguard.domain.findings import Confirmation, TargetSummary
from ciguard.domain.parts import functions_of
from ciguard.domain.shards import Shard
from ciguard.domain.value_table import merged_values

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ciguard.baseline import BaselineStore
    from ciguard.campaign.conclude import BaselineSnapshot, IssuePlanner
    from ciguard.campaign.experience import Snapshot
    from ciguard.campaign.history import Publishing
    from ciguard.campaign.sharding.merged_run import MergedRun
    from ciguard.config import Config
    from ciguard.domain.findings import Bucket
    from ciguard.domain.parts import Gap
    from ciguard.domain.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeInput:
    """Results of shards that are judged together."""

    config: Config
    """Settings of the command, completed by those of the parts."""
    run: MergedRun
    """Parts of the campaign, and what is missing."""
    folders: tuple[Folder, ...]
    """Folders that were read."""
    plan: Plan | None = None
    """Plan of the campaign, if any."""


def gather(folders: Sequence[Path], config: Config, plan: Plan | None = None) -> MergeInput:
    """Read the results of shards; `merge` reports everything that is wrong with them.

    Args:
        folders: output folders of shards, or of merges.
        config: settings, with baseline, tracker, policy and output folder.
        plan: plan that names the expected parts.
    """
    read = tuple(map(read_folder, folders))
    merged = merged_run.merge_parts(read, plan)
    base = dict.fromkeys(name for part in merged.parts for name in part.base)
    targets = dict.fromkeys(name for part in merged.parts for name in part.targets)
    config = having_shared(config, merged.parts[0].campaign if merged.parts else {})
    config = replace(
        config,
        base=tuple(base) or config.base,
        targets=tuple(targets) or config.targets,
        budget_s=sum(part.budget_s for part in merged.parts) or config.budget_s,
        jobs=sum(part.jobs for part in merged.parts),
        shard=Shard(),
        part=False,
        resume=False,
    )
    return MergeInput(config=config, run=merged, folders=read, plan=plan)


def merge(
    results: MergeInput,
    *,
    store: BaselineStore | None = None,
    plan_issues: IssuePlanner | None = None,
    publishing: Publishing | None = None,
) -> Iterator[Event]:
    """Judge the parts of a campaign; the last event is `RunFinished`.

    Args:
        results: results of the shards, as `gather` read them.
        store: store of the baseline, if it is open already.
        plan_issues: planner of the issues.
        publishing: files that are written next to the baseline.

    Raises:
        CiguardError: if baseline or output folder are unusable.
    """
    config, merged = results.config, results.run
    baseline = load_baseline(config, store=store, plan_issues=plan_issues, publishing=publishing)
    budget = Budget(config.budget_s)
    yield RunStarted(
        targets=(*config.base, *config.targets),
        levels=config.levels,
        seed=config.seed,
        budget_s=config.budget_s,
        jobs=config.jobs,
        out=str(config.out),
        plan=results.plan,
    )
    yield from (Warned(message=text) for text in merged.warnings)
    ran = merged_run.targets_of(merged.parts)
    yield from (TargetReady(target=target) for target in ran)
    absent = [_absent(gap) for gap in merged.missing]
    yield from (TargetUnavailable(target=target.name, reason=target.not_run) for target in absent)
    yield from _disagreements(ran)
    for library, findings in merged_run.documentation_of(merged.parts).items():
        yield DocumentationChecked(library=library, findings=findings)
    buckets = merged_run.buckets_of(merged.parts)
    yield from _bucket_events(buckets)
    yield StageFinished(stage="merge", spent_s=budget.finish_stage("merge"))
    run = _conclusion(results, baseline, (*ran, *absent), budget)
    conclusion = yield from conclude(run, buckets)
    for library, snapshot in run.used:
        write_run_snapshot(config.out, library, snapshot)
    exercised = merged_run.exercised_by(merged.parts)
    yield RunFinished(
        verdict=conclusion.verdict,
        exit_code=conclusion.exit_code,
        summary=conclusion.summary,
        targets=run.targets,
        buckets=conclusion.buckets,
        stages={**merged_run.stages_of(merged.parts), **budget.stages},
        apis_exercised={name: len(apis) for name, apis in exercised.items()},
        parameters=parameters_of(config),
        parts=merged.parts,
        gaps=merged.missing,
        history=histories(baseline.records),
        baseline=baseline_status(baseline, ran, base=list(run.base), now=datetime.now(UTC)),
        detection=run.detection,
        values=merged_values(part.values for part in merged.parts if part.values),
    )


def _absent(gap: Gap) -> TargetSummary:
    """Return a missing part as a target that did not run, which every report shows."""
    return TargetSummary(
        name=gap.name,
        library="",
        version="",
        python="",
        device="",
        packages={},
        confined_by=(),
        apis=0,
        not_run=gap.reason,
    )


def _disagreements(ran: Sequence[TargetSummary]) -> Iterator[Event]:
    for target in ran:
        if ", " in target.version:
            message = f"{target.name}: the shards ran different versions: {target.version}"
            yield Warned(message=message)


def _bucket_events(buckets: Sequence[Bucket]) -> Iterator[Event]:
    for bucket in buckets:
        if bucket.confirmation is Confirmation.CONFIRMED:
            yield BucketOpened(bucket=bucket)
        elif bucket.confirmation is Confirmation.FLAKY:
            yield BucketFlaky(bucket=bucket)


def _conclusion(
    results: MergeInput,
    baseline: BaselineSnapshot,
    targets: tuple[TargetSummary, ...],
    budget: Budget,
) -> Conclusion:
    parts = results.run.parts
    explored = merged_run.explored_by(parts)
    used_digests = {
        (target.library, progress.learned)
        for part in parts
        for target in part.ran
        for progress in part.explored.values()
        if progress.learned
    }
    snapshots = {
        key: snapshot for folder in results.folders for key, snapshot in folder.snapshots.items()
    }
    used: list[tuple[str, Snapshot]] = [
        (library, snapshots[library, digest])
        for library, digest in sorted(used_digests)
        if (library, digest) in snapshots
    ]
    available = {"", *(snapshot.digest for _, snapshot in used)}
    return Conclusion(
        config=results.config,
        baseline=baseline,
        budget=budget,
        targets=targets,
        base={name for part in parts for name in part.base_names},
        script_targets={target.name: remote_script_target(target) for target in targets},
        replayed=merged_run.replayed_by(parts, baseline.records),
        shown_on=merged_run.shown_on(parts),
        functions=functions_of(part.functions for part in parts),
        # A stream cannot be repeated if its initial experience is lost.
        explored={
            name: (progress, budget_s)
            for name, (progress, budget_s) in explored.items()
            if progress.learned in available
        },
        used=used,
        detection=merged_detection(part.detection for part in parts if part.detection),
    )
