"""One job of many: pushes buckets to a branch, one after the other, and notes what it was told.

    python baseline_pusher.py REMOTE JOB FIRST LAST ACKNOWLEDGED

Bucket n of the job gets its own record; all jobs raise the sighting of one common record.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace

from baseline_examples import NAMES, record, sighting

from ciguard.baseline.git_branch import GitBranchStore
from ciguard.config import GitBranch

COMMON = NAMES[9]


def name_of(job: int, number: int) -> str:
    """Return the fingerprint of a job's bucket."""
    return f"v1:{job:08x}{number:08x}"


def main(remote: str, job: int, first: int, last: int, acknowledged: str) -> None:
    """Push the buckets from `first` until before `last`."""
    store = GitBranchStore(GitBranch(remote), retry_limit_s=600)
    for number in range(first, last):
        name = name_of(job, number)
        common = replace(record(COMMON), aliases=(name,), last_seen=sighting(1 + number % 28))
        store.save({name: record(name), COMMON: common})
        line = os.open(acknowledged, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(line, f"{number}\n".encode())
        os.close(line)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
