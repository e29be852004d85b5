"""Promotion: recorded buckets that nobody was told of, presented as if a run had just met them.

A project that turns the guard on meets hundreds of old bugs on day one. They are recorded without
an issue; later the worst of them are handed, a few at a time, to whoever files what is new.
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


def promotion(records: Records, *, most: int, out: Path) -> RunFinished:
    """Return the end of a run whose new buckets are the worst recorded ones without an issue.

    Args:
        records: the baseline.
        most: how many are new; the others without an issue are known.
        out: where the scripts of the new ones are written.

    Raises:
        OutputError: if they cannot be written.
    """
    waiting = sorted(
        (r for r in records.values() if r.state is State.OPEN and not r.issue),
        key=lambda r: (-r.exhibit.severity, r.exhibit.api, r.fingerprint),
    )
    chosen = [bucket_of(record, Comparison.NEW) for record in waiting[:most]]
    others = [bucket_of(record, Comparison.KNOWN) for record in waiting[most:]]
    buckets: tuple[Bucket, ...] = (*write_scripts(chosen, {}, out), *others)
    return RunFinished(
        verdict=Verdict.CLEAN,
        exit_code=ExitCode.CLEAN,
        summary=f"{len(chosen)} of {len(waiting)} recorded buckets without an issue.",
        targets=tuple(_targets(waiting[:most])),
        buckets=tuple(replace(bucket, count=1) for bucket in buckets),
        stages={},
        apis_exercised={},
        parameters={},
    )


def _targets(records: Iterable[BaselineRecord]) -> Iterable[TargetSummary]:
    """Yield the targets on which records were met, with the version that was met last."""
    versions: dict[str, tuple[str, str]] = {}
    for record in records:
        for name, version in record.last_seen.versions:
            seen = (record.last_seen.time, version)
            versions[name] = max(seen, versions.get(name, seen))
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
