"""The plan's rows as the matrix of a workflow."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ciguard.domain import Plan

MOST_JOBS = 256
"""Of one workflow run: GitHub refuses a larger matrix."""
HOSTED = "ubuntu-24.04"
"""The runner of a row that asks for none."""


def matrix_of(plan: Plan) -> str:
    """Return the matrix as `fromJSON` reads it; one `include` per row.

    Raises:
        ValueError: if it has more rows than a workflow may have jobs.
    """
    if len(plan.jobs) > MOST_JOBS:
        msg = f"the plan has {len(plan.jobs)} rows; a workflow run has at most {MOST_JOBS} jobs"
        raise ValueError(msg)
    rows = [
        {
            "row": index,
            "name": job.name,
            "shard": job.shard,
            "runs-on": list(job.runs_on) or [HOSTED],
        }
        for index, job in enumerate(plan.jobs)
    ]
    return json.dumps({"include": rows}, separators=(",", ":"))
