"""The history of a baseline, and the page that shows it, both written with the baseline."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ciguard.baseline import MAX_VERSIONS, RunSummary, State, read_runs, with_run, write_runs
from ciguard.domain.findings import Comparison, Confirmation
from ciguard.files import read_text, replace_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from ciguard.baseline import Records, Sighting
    from ciguard.domain.detection import Detection
    from ciguard.domain.findings import Bucket, TargetSummary, Verdict

PAGE_FILE = "index.html"
PAGE_MARK = '<meta name="generator" content="ciguard">'
"""Mark in every page of ciguard; other pages are not overwritten."""
_MAX_PAGE_BYTES = 16 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Publishing:
    """Files that present a baseline and are written next to it."""

    files: Callable[[Sequence[RunSummary], Records], Mapping[str, str]]
    """Function that returns the files' contents by name, from all runs and records."""
    run_page: str = ""
    """URL of the current workflow run; empty outside of one."""


def run_note(
    verdict: Verdict,
    buckets: Sequence[Bucket],
    targets: Sequence[TargetSummary],
    sighting: Sighting,
    detection: Detection | None,
) -> RunSummary:
    """Return the entry of a run for the history, before its records are merged."""
    return RunSummary(
        time=sighting.time,
        verdict=verdict,
        cases=sum(target.tally.total for target in targets),
        new=sum(
            bucket.comparison is Comparison.NEW and bucket.confirmation is Confirmation.CONFIRMED
            for bucket in buckets
        ),
        states=(),
        versions=sighting.versions[:MAX_VERSIONS],
        planted=detection.planted if detection else 0,
        caught=len(detection.caught) if detection else 0,
    )


def counts_by_state(records: Records) -> tuple[tuple[str, int], ...]:
    """Return the number of records in each state."""
    states = [record.state for record in records.values()]
    return tuple((state.value, states.count(state)) for state in State)


def update_history(
    folder: Path, run: RunSummary, records: Records, publishing: Publishing | None
) -> None:
    """Add a run to the history in a baseline's folder, and write the files that present it.

    Raises:
        BaselineError: if the history cannot be read.
        OSError: if a file cannot be written.
    """
    page = "" if publishing is None else publishing.run_page
    run = replace(run, states=counts_by_state(records), page=page)
    runs = with_run(read_runs(folder), run)
    write_runs(folder, runs)
    if publishing is None:
        return
    for name, text in publishing.files(runs, records).items():
        if name != PAGE_FILE or _is_ours(folder / name):
            replace_file(folder / name, text)


def _is_ours(page: Path) -> bool:
    try:
        return PAGE_MARK in read_text(page, most=_MAX_PAGE_BYTES)
    except FileNotFoundError:
        return True
    except ValueError:
        return False  # not text, or too large for a page of ciguard
