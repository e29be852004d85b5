"""History of the runs that wrote a baseline, one line per run.

Records contain only the current state of buckets. The history contains the number of buckets in
each state after every run, and the tested versions. The baseline's HTML page shows it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from ciguard.baseline.record import Sighting, State
from ciguard.domain.findings import Verdict
from ciguard.domain.untrusted import Untrusted
from ciguard.errors import BaselineError
from ciguard.files import parse_json, read_text, replace_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

RUNS = "runs.jsonl"
MAX_RUNS = 1_000
"""Maximum number of stored runs, which is nearly three years of nightly runs."""
MAX_VERSIONS = 100
"""Maximum number of targets whose version a run stores."""
_SCHEMA = 1
_HEADER = json.dumps({"schema": _SCHEMA, "records": "ciguard runs"})
_MAX_BYTES = 32 << 20
_MAX_NAME_LENGTH = 200
_RUN_URL = re.compile(
    r"https://[A-Za-z0-9.-]{1,100}(:[0-9]{1,5})?/[\w.-]{1,100}/[\w.-]{1,100}/actions/runs/[0-9]{1,20}",
    re.ASCII,
)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class RunSummary:
    """One run that wrote the baseline. Summaries sort by time."""

    time: str
    """End of the run, in the format of `Sighting.time`."""
    verdict: Verdict
    cases: int
    """Number of cases executed on all targets."""
    new: int
    """Number of confirmed new buckets."""
    states: tuple[tuple[str, int], ...]
    """Number of records in each state after the run, in the order of `State`."""
    versions: tuple[tuple[str, str], ...] = ()
    """Library version by target, sorted by target; at most `MAX_VERSIONS`."""
    page: str = ""
    """URL of the workflow run; empty for local runs."""
    planted: int = 0
    """Number of planted defects; 0 if none were planted, or an earlier version wrote the line."""
    caught: int = 0
    """Number of planted defects that the run noticed."""

    def count(self, state: State) -> int:
        """Return the number of records in a state."""
        return dict(self.states).get(state.value, 0)


def with_run(runs: Iterable[RunSummary], run: RunSummary) -> tuple[RunSummary, ...]:
    """Return the latest `MAX_RUNS` of the runs and `run`, sorted by time."""
    return tuple(sorted({*runs, run}))[-MAX_RUNS:]


def read_runs(folder: Path) -> tuple[RunSummary, ...]:
    """Return the runs in a baseline's folder, sorted by time.

    Raises:
        BaselineError: if the file cannot be read, or a newer ciguard wrote it.
    """
    path = folder / RUNS
    if not path.exists():
        return ()
    try:
        header, *lines = read_text(path, most=_MAX_BYTES).splitlines()
        _check_schema(Untrusted(parse_json(header), "line 1"))
        return tuple(sorted(set(_runs(lines))))[-MAX_RUNS:]
    except (OSError, ValueError) as error:
        msg = (
            f"{path}: cannot be read: {error}. Restore it from a backup or git, or delete it and "
            "lose the history of runs."
        )
        raise BaselineError(msg) from error


def write_runs(folder: Path, runs: Iterable[RunSummary]) -> None:
    """Write the runs to a baseline's folder.

    Raises:
        OSError: if the file cannot be written.
    """
    lines = (json.dumps(_to_json(run), sort_keys=True) for run in runs)
    replace_file(folder / RUNS, "".join(f"{line}\n" for line in (_HEADER, *lines)))


def _check_schema(header: Untrusted) -> None:
    schema = header.count("schema")
    if schema > _SCHEMA:
        msg = (
            f"a newer version of ciguard wrote this file (schema {schema}; this version reads "
            f"schema {_SCHEMA})"
        )
        raise ValueError(msg)


def _runs(lines: Iterable[str]) -> Iterator[RunSummary]:
    for number, line in enumerate(lines, start=2):
        if line.strip():
            yield _from_json(Untrusted(parse_json(line), f"line {number}"))


def _to_json(run: RunSummary) -> dict[str, object]:
    return {
        "time": run.time,
        "verdict": run.verdict.value,
        "cases": run.cases,
        "new": run.new,
        "states": dict(run.states),
        "versions": dict(run.versions),
        "page": run.page,
        **({"planted": run.planted, "caught": run.caught} if run.planted else {}),
    }


def _from_json(fields: Untrusted) -> RunSummary:
    states, versions = fields.inner("states"), fields.inner("versions")
    page = fields.text("page")
    planted = fields.count("planted") if "planted" in fields.data else 0
    return RunSummary(
        time=Sighting(time=fields.text("time")).time,
        verdict=Verdict(fields.text("verdict")),
        cases=fields.count("cases"),
        new=fields.count("new"),
        states=tuple((name, states.count(name)) for name in map(str, State) if name in states.data),
        versions=tuple(
            (name[:_MAX_NAME_LENGTH], versions.text(name)[:_MAX_NAME_LENGTH])
            for name in islice(sorted(versions.members()), MAX_VERSIONS)
        ),
        page=page if _RUN_URL.fullmatch(page) else "",
        planted=planted,
        caught=min(planted, fields.count("caught")) if planted else 0,
    )
