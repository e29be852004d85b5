"""Merging: the parts that shards have left are judged together, as one run would be.

Nothing runs here. The events are those of a run, so that every report is written as for a run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ciguard.baseline import histories
from ciguard.campaign.budget import Budget
from ciguard.campaign.conclude import Conclusion, conclude, load_memory
from ciguard.campaign.experience import note_used
from ciguard.campaign.parameters import having_shared, parameters_of
from ciguard.campaign.scripts import site_elsewhere
from ciguard.campaign.sharding import unite
from ciguard.campaign.sharding.parts_file import Folder, read_folder
from ciguard.campaign.standing import standing_of
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
from ciguard.domain.shards import Shard

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ciguard.baseline import BaselineStore
    from ciguard.campaign.conclude import Intends, Memory
    from ciguard.campaign.experience import Snapshot
    from ciguard.campaign.history import Publishing
    from ciguard.campaign.sharding.unite import MergedRun
    from ciguard.config import Config
    from ciguard.domain.findings import Bucket
    from ciguard.domain.parts import Gap
    from ciguard.domain.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """What is to be judged together."""

    config: Config
    """Of the command, with what the parts have settled."""
    whole: MergedRun
    folders: tuple[Folder, ...]
    plan: Plan | None = None


def gather(folders: Sequence[Path], config: Config, plan: Plan | None = None) -> Merged:
    """Read what shards have left. Whatever is wrong with it is told by `merge`.

    Args:
        folders: results of shards, or of merges.
        config: which baseline, tracker, policy and output folder.
        plan: names the parts that there should be.
    """
    read = tuple(map(read_folder, folders))
    whole = unite.whole_of(read, plan)
    base = dict.fromkeys(name for part in whole.parts for name in part.base)
    asked = dict.fromkeys(name for part in whole.parts for name in part.targets)
    config = having_shared(config, whole.parts[0].campaign if whole.parts else {})
    config = replace(
        config,
        base=tuple(base) or config.base,
        targets=tuple(asked) or config.targets,
        budget_s=sum(part.budget_s for part in whole.parts) or config.budget_s,
        jobs=sum(part.jobs for part in whole.parts),
        shard=Shard(),
        part=False,
        resume=False,
    )
    return Merged(config=config, whole=whole, folders=read, plan=plan)


def merge(
    merged: Merged,
    *,
    store: BaselineStore | None = None,
    intends: Intends | None = None,
    publishing: Publishing | None = None,
) -> Iterator[Event]:
    """Judge the parts of a campaign; the last event is `RunFinished`.

    Args:
        merged: the parts.
        store: which keeps the baseline, if it is open already.
        intends: decides what is to be done about what was found.
        publishing: what is shown of the baseline beside it.

    Raises:
        CiguardError: if baseline or output folder are unusable.
    """
    config, whole = merged.config, merged.whole
    memory = load_memory(config, store=store, intends=intends, publishing=publishing)
    budget = Budget(config.budget_s)
    yield RunStarted(
        targets=(*config.base, *config.targets),
        levels=config.levels,
        seed=config.seed,
        budget_s=config.budget_s,
        jobs=config.jobs,
        out=str(config.out),
        plan=merged.plan,
    )
    yield from (Warned(message=text) for text in whole.warnings)
    ran = unite.targets_of(whole.parts)
    yield from (TargetReady(target=target) for target in ran)
    absent = [_absent(gap) for gap in whole.missing]
    yield from (TargetUnavailable(target=one.name, reason=one.not_run) for one in absent)
    yield from _disagreements(ran)
    for library, findings in unite.documentation_of(whole.parts).items():
        yield DocumentationChecked(library=library, findings=findings)
    met = unite.buckets_of(whole.parts)
    yield from _told(met)
    yield StageFinished(stage="merge", spent_s=budget.finish_stage("merge"))
    run = _conclusion(merged, memory, (*ran, *absent), budget)
    finished = yield from conclude(run, met)
    for library, snapshot in run.used:
        note_used(config.out, library, snapshot)
    exercised = unite.exercised_by(whole.parts)
    yield RunFinished(
        verdict=finished.verdict,
        exit_code=finished.exit_code,
        summary=finished.summary,
        targets=run.targets,
        buckets=finished.buckets,
        stages={**unite.stages_of(whole.parts), **budget.stages},
        apis_exercised={name: len(apis) for name, apis in exercised.items()},
        parameters=parameters_of(config),
        parts=whole.parts,
        gaps=whole.missing,
        history=histories(memory.records),
        baseline=standing_of(memory, ran, base=list(run.base), now=datetime.now(UTC)),
    )


def _absent(gap: Gap) -> TargetSummary:
    """Return what did not run as a target: every report shows that it did not."""
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


def _told(met: Sequence[Bucket]) -> Iterator[Event]:
    for bucket in met:
        if bucket.confirmation is Confirmation.CONFIRMED:
            yield BucketOpened(bucket=bucket)
        elif bucket.confirmation is Confirmation.FLAKY:
            yield BucketFlaky(bucket=bucket)


def _conclusion(
    merged: Merged, memory: Memory, targets: tuple[TargetSummary, ...], budget: Budget
) -> Conclusion:
    parts = merged.whole.parts
    explored = unite.explored_by(parts)
    begun = {
        (target.library, far.learned)
        for part in parts
        for target in part.ran
        for far in part.explored.values()
        if far.learned
    }
    snapshots = {key: one for folder in merged.folders for key, one in folder.snapshots.items()}
    used: list[tuple[str, Snapshot]] = [
        (library, snapshots[library, digest])
        for library, digest in sorted(begun)
        if (library, digest) in snapshots
    ]
    kept = {"", *(snapshot.digest for _, snapshot in used)}
    return Conclusion(
        config=merged.config,
        memory=memory,
        budget=budget,
        targets=targets,
        base={name for part in parts for name in part.base_names},
        sites={target.name: site_elsewhere(target) for target in targets},
        replayed=unite.replayed_by(parts, memory.records),
        shown_on=unite.shown_on(parts),
        # Where a stream began with what nobody can know again, none can repeat it.
        explored={name: far for name, far in explored.items() if far[0].learned in kept},
        used=used,
    )
