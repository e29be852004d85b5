"""The machine-readable files `run.json`, `findings.jsonl`, `buckets.jsonl` and `parts.jsonl`.

docs/machine-interface.md describes them. If a field changes its meaning, the schema number has to
change.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING

import ciguard
from ciguard.domain.detection import detection_to_json
from ciguard.domain.events import (
    DocumentationChecked,
    Event,
    RunFinished,
    RunStarted,
    TargetUnavailable,
    Warned,
)
from ciguard.domain.findings import TargetSummary, bucket_to_json, target_to_json
from ciguard.domain.parts import PARTS_FILE, gap_to_json, part_to_json
from ciguard.domain.plan import place_to_json, plan_to_json
from ciguard.domain.policy import class_of
from ciguard.domain.value_table import value_table_to_json
from ciguard.reports.files import write_atomically
from ciguard.reports.places import places_of
from ciguard.reports.progress import STATUSES
from ciguard.reports.stored import BUCKETS_FILE, RUN_FILE, RUN_SCHEMA
from ciguard.reports.upgrade import upgrade_of, upgrade_to_json
from ciguard.reports.wording import counts_by_state, in_display_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ciguard.domain.baseline_status import BaselineStatus
    from ciguard.domain.documentation import DocumentationFinding
    from ciguard.domain.findings import Bucket
    from ciguard.domain.values import Json
    from ciguard.reports.contract import Destination

MAX_WARNINGS = 1_000


class JsonReporter:
    """Writes the machine-readable files, each atomically."""

    def __init__(self, destination: Destination) -> None:
        self._folder = destination.folder
        self._sources = destination.sources
        self._started: RunStarted | None = None
        self._started_at = _now()
        self._warnings: list[str] = []
        self._unavailable: dict[str, str] = {}
        self._documentation: list[DocumentationFinding] = []

    def receive(self, event: Event) -> None:
        """See `Reporter`."""
        match event:
            case RunStarted():
                self._started, self._started_at = event, _now()
            case Warned() if len(self._warnings) < MAX_WARNINGS:
                self._warnings.append(event.message)
            case TargetUnavailable():
                self._unavailable[event.target] = event.reason
            case DocumentationChecked():
                self._documentation += event.findings
            case RunFinished():
                self._write(event)
            case _:
                pass

    def close(self) -> None:
        """See `Reporter`."""

    def _write(self, event: RunFinished) -> None:
        buckets = in_display_order(event.buckets)
        reproduced = [bucket for bucket in buckets if bucket.is_met]
        write_atomically(self._folder / "findings.jsonl", _lines(reproduced))
        write_atomically(self._folder / BUCKETS_FILE, _lines(buckets))
        parts = chain(map(part_to_json, event.parts), map(gap_to_json, event.gaps))
        lines = (json.dumps(line) + "\n" for line in parts)
        write_atomically(self._folder / PARTS_FILE, lines)
        run = json.dumps(self._run(event), indent=2, ensure_ascii=True, default=str)
        write_atomically(self._folder / RUN_FILE, run + "\n")

    def _run(self, event: RunFinished) -> dict[str, Json]:
        totals: Counter[str] = Counter(dict.fromkeys(STATUSES, 0))
        for target in event.targets:
            totals.update(target.tally.as_dict())
        target_names = {target.name for target in event.targets}
        plan = self._started.plan if self._started else None
        return {
            "schema": RUN_SCHEMA,
            "ciguard": ciguard.__version__,
            "verdict": event.verdict.value,
            "exit_code": event.exit_code,
            "summary": event.summary,
            "started_at": self._started_at,
            "finished_at": _now(),
            **_plan(self._started),
            "targets": [
                _target(target, event.apis_exercised.get(target.name, 0))
                for target in event.targets
            ],
            "unavailable": {
                name: reason
                for name, reason in self._unavailable.items()
                if name not in target_names
            },
            "outcomes": dict(totals),
            "stages": {stage: round(spent_s, 3) for stage, spent_s in event.stages.items()},
            "buckets": counts_by_state(event.buckets),
            "baseline": _baseline(event.baseline),
            "detection": detection_to_json(event.detection) if event.detection else None,
            "values": value_table_to_json(event.values) if event.values else None,
            "upgrade": upgrade_to_json(upgrade_of(event, plan, self._documentation)),
            "plan": plan_to_json(plan) if plan else None,
            "places": {
                name: place_to_json(place)
                for name, place in places_of(event, plan, self._sources).library_places.items()
            },
            "warnings": self._warnings,
            "parts": [
                {
                    "targets": list(part.targets),
                    "base": list(part.base),
                    "shard": str(part.shard),
                    "verdict": part.verdict.value,
                }
                for part in event.parts
            ],
            "parameters": dict(event.parameters),
        }


def _plan(started: RunStarted | None) -> dict[str, Json]:
    if started is None:
        return {}
    return {
        "levels": list(started.levels),
        "seed": started.seed,
        "budget_s": started.budget_s,
        "jobs": started.jobs,
        "resumed": started.resumed,
        "shard": {"index": started.shard.index, "of": started.shard.of},
    }


def _baseline(status: BaselineStatus | None) -> dict[str, Json] | None:
    if status is None:
        return None
    return {
        "state": status.state.value,
        "updated_at": status.updated_at or None,
        "reasons": list(status.reasons),
    }


def _target(target: TargetSummary, exercised: int) -> dict[str, Json]:
    return {
        **target_to_json(target),
        "apis_exercised": exercised,
        "cases": target.tally.total,
    }


def _lines(buckets: Iterable[Bucket]) -> Iterator[str]:
    for bucket in buckets:
        encoded = {**bucket_to_json(bucket), "class": class_of(bucket.finding).value}
        # The line is ASCII, as some readers end lines at Unicode's line separators.
        yield json.dumps(encoded, sort_keys=True) + "\n"


def _now() -> str:
    return datetime.now(tz=UTC).isoformat(timespec="seconds")
