"""A plan in words, for a person at a terminal or in a job's log."""

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

_FEW = 10
_MAX_COMMANDS = 5


def explanation(plan: Plan) -> Iterator[str]:
    """Yield lines that say what is to be tested and why; each begins with a word of ours."""
    yield f"plan: {plan.mode.value}, jobs: {len(plan.jobs)}, rows not run: {len(plan.skipped)}"
    for reason in plan.reasons:
        yield f"  - {visible(reason, limit=1_000)}"
    for job, shards in _rows(plan).items():
        against = f" against {', '.join(job.base)}" if job.base else ""
        cut = f", {shards} shards" if shards > 1 else ""
        where = f"{job.device}, {' '.join(job.runs_on)}{cut}"
        yield f"job: {visible(', '.join(job.targets) + against, limit=600)} ({visible(where)})"
    for row in plan.skipped:
        what = f"{', '.join(row.targets)} on {row.device}"
        yield f"not run: {visible(what, limit=600)}: {visible(row.reason)}"
    if plan.focus:
        more = f", and {len(plan.focus) - _FEW} more" if len(plan.focus) > _FEW else ""
        yield f"first: {visible(', '.join(plan.focus[:_FEW]), limit=600)}{more}"


def commands(plan: Plan, file: Path) -> Iterator[str]:
    """Yield a line per row that says how to run it here, whole: a plan does not set the targets.

    Args:
        plan: what to run.
        file: where it was written.
    """
    rows = list(_rows(plan))
    for job in rows[:_MAX_COMMANDS]:
        words = ["--plan", file.as_posix()]
        if plan.mode is PlanMode.PULL_REQUEST and not job.base:
            words.append("--compare-only")  # with a base a run writes nothing anyway
        words += [word for name in job.base for word in ("--base", name)]
        words += [word for name in job.targets for word in ("--target", name)]
        yield f"run it: {visible('ciguard run ' + shlex.join(words), limit=600)}"
    if len(rows) > _MAX_COMMANDS:
        yield f"run it: likewise the {len(rows) - _MAX_COMMANDS} other rows"


def run_arguments(plan: Plan, file: Path) -> list[str]:
    """Return the options of one `ciguard run` of all jobs; none if the plan has no job.

    Args:
        plan: what to run.
        file: where it was written.
    """
    if not plan.jobs:
        return []
    base = dict.fromkeys(name for job in plan.jobs for name in job.base)
    targets = dict.fromkeys(name for job in plan.jobs for name in job.targets)
    named = [*(f"--base={name}" for name in base), *(f"--target={name}" for name in targets)]
    return [f"--plan={file.as_posix()}", *named]


def _rows(plan: Plan) -> Counter[PlannedJob]:
    """Return the rows of the plan, each with the number of its shards."""
    return Counter(replace(job, name="", shard="") for job in plan.jobs)
