"""Promotion: recorded buckets without an issue, reported like new ones of a run.

The first run on a project may find hundreds of old defects, which are recorded without issues.
Promotion files the most severe ones later, a few at a time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.baseline import State, bucket_of
from ciguard.campaign.scripts import write_scripts
from ciguard.domain.events import RunFinished
from ciguard.domain.findings import Bucket, Comparison, TargetSummary, Verdict
from ciguard.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from ciguard.baseline import BaselineRecord, Records


def promotion(records: Records, *, max_new: int, out: Path) -> RunFinished:
    """Return an event that makes reporters file issues for buckets of the baseline.

    It is the last event of a run in which the most severe buckets without an issue are new.

    Args:
        records: records of the baseline.
        max_new: maximum number of buckets to present as new; the rest are marked as known.
        out: folder in which the reproducers of the new buckets are written.

    Raises:
        OutputError: if the reproducers cannot be written.
    """
    waiting = sorted(
        (record for record in records.values() if record.state is State.OPEN and not record.issue),
        key=lambda record: (
            -record.representative.severity,
            record.representative.api,
            record.fingerprint,
        ),
    )
    chosen = [bucket_of(record, Comparison.NEW) for record in waiting[:max_new]]
    others = [bucket_of(record, Comparison.KNOWN) for record in waiting[max_new:]]
    buckets: tuple[Bucket, ...] = (*write_scripts(chosen, {}, out), *others)
    return RunFinished(
        verdict=Verdict.CLEAN,
        exit_code=ExitCode.CLEAN,
        summary=f"{len(chosen)} of {len(waiting)} recorded buckets without an issue.",
        targets=tuple(_targets(waiting[:max_new])),
        buckets=tuple(replace(bucket, count=1) for bucket in buckets),
        stages={},
        apis_exercised={},
        parameters={},
    )


def _targets(records: Iterable[BaselineRecord]) -> Iterable[TargetSummary]:
    """Yield the targets on which records were seen, each with the latest version."""
    versions: dict[str, tuple[str, str]] = {}
    for record in records:
        for name, version in record.last_seen.versions:
            sighting = (record.last_seen.time, version)
            versions[name] = max(sighting, versions.get(name, sighting))
    for name, (_, version) in sorted(versions.items()):
        yield TargetSummary(
            name=name,
            library="",
            version=version,
            python="",
            device="",
            packages={},
            confined_by=(),
            apis=0,
        )
