"""A plan in words, for a person at a terminal or in a job's log."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain import Plan

_FEW = 10


def explanation(plan: Plan) -> Iterator[str]:
    """Yield lines that say what is to be tested and why; each begins with a word of ours."""
    yield f"plan: {plan.mode.value}, jobs: {len(plan.jobs)}, rows not run: {len(plan.skipped)}"
    for reason in plan.reasons:
        yield f"  - {visible(reason, limit=1_000)}"
    rows = Counter(replace(job, name="", shard="") for job in plan.jobs)
    for job, shards in rows.items():
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
