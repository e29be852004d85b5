"""Explains a plan to users at a terminal or in a job's log."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.plan import PlanMode
from ciguard.domain.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ciguard.domain.plan import Plan, PlannedJob

_MAX_FOCUS = 10
_MAX_COMMANDS = 5


def explanation(plan: Plan) -> Iterator[str]:
    """Yield lines that explain the plan. Each begins with a fixed word, never with user text."""
    yield f"plan: {plan.mode.value}, jobs: {len(plan.jobs)}, skipped rows: {len(plan.skipped)}"
    for reason in plan.reasons:
        yield f"  - {visible(reason, limit=1_000)}"
    for job, shards in _row_counts(plan).items():
        against = f" against {', '.join(job.base)}" if job.base else ""
        shard_count = f", {shards} shards" if shards > 1 else ""
        machine = f"{job.device}, {' '.join(job.runs_on)}{shard_count}"
        yield f"job: {visible(', '.join(job.targets) + against, limit=600)} ({visible(machine)})"
    for row in plan.skipped:
        skipped_row = f"{', '.join(row.targets)} on {row.device}"
        yield f"skipped: {visible(skipped_row, limit=600)}: {visible(row.reason)}"
    if plan.focus:
        suffix = (
            f", and {len(plan.focus) - _MAX_FOCUS} more" if len(plan.focus) > _MAX_FOCUS else ""
        )
        yield f"focus: {visible(', '.join(plan.focus[:_MAX_FOCUS]), limit=600)}{suffix}"


def commands(plan: Plan, file: Path) -> Iterator[str]:
    """Yield one command per row of the matrix, with its targets, which the plan does not set.

    Args:
        plan: the plan.
        file: the path of the plan's file.
    """
    rows = list(_row_counts(plan))
    for job in rows[:_MAX_COMMANDS]:
        words = ["--plan", file.as_posix()]
        if plan.mode is PlanMode.PULL_REQUEST and not job.base:
            words.append("--compare-only")  # a run with a base never writes to the baseline
        words += [word for name in job.base for word in ("--base", name)]
        words += [word for name in job.targets for word in ("--target", name)]
        yield f"run it: {visible('ciguard run ' + shlex.join(words), limit=600)}"
    if len(rows) > _MAX_COMMANDS:
        count = len(rows) - _MAX_COMMANDS
        noun = "row needs" if count == 1 else "rows need"
        yield f"run it: {count} more {noun} such a command, with the targets of the row"


def run_arguments(plan: Plan, file: Path) -> list[str]:
    """Return the options of one `ciguard run` with all jobs; empty if the plan has no job.

    Args:
        plan: the plan.
        file: the path of the plan's file.
    """
    if not plan.jobs:
        return []
    base = dict.fromkeys(name for job in plan.jobs for name in job.base)
    targets = dict.fromkeys(name for job in plan.jobs for name in job.targets)
    options = [*(f"--base={name}" for name in base), *(f"--target={name}" for name in targets)]
    return [f"--plan={file.as_posix()}", *options]


def _row_counts(plan: Plan) -> Counter[PlannedJob]:
    """Return the number of shards of each row: a job without its name and shard."""
    return Counter(replace(job, name="", shard="") for job in plan.jobs)
