"""The baseline: the known buckets, their state, and the cases that reproduce them.

`open_store` opens the store of a baseline, `compare` finds new buckets, and `update` returns the
records after a run.
"""

from ciguard.baseline.comparison import (
    Exercised,
    Records,
    accept,
    compare,
    current,
    establish,
    find_record,
    histories,
    merge,
    records_by_any_name,
    records_with_issues,
    update,
    with_base_comparison,
)
from ciguard.baseline.git_command import Git, GitError
from ciguard.baseline.inventory import Inventory, inventory
from ciguard.baseline.opening import open_store
from ciguard.baseline.pruning import prune
from ciguard.baseline.record import (
    TIME_FORMAT,
    BaselineRecord,
    Decision,
    Sighting,
    State,
    bucket_of,
    merge_records,
    with_representative,
)
from ciguard.baseline.runs import MAX_VERSIONS, RunSummary, read_runs, with_run, write_runs
from ciguard.baseline.store import BaselineStore, Change

__all__ = [
    "MAX_VERSIONS",
    "TIME_FORMAT",
    "BaselineRecord",
    "BaselineStore",
    "Change",
    "Decision",
    "Exercised",
    "Git",
    "GitError",
    "Inventory",
    "Records",
    "RunSummary",
    "Sighting",
    "State",
    "accept",
    "bucket_of",
    "compare",
    "current",
    "establish",
    "find_record",
    "histories",
    "inventory",
    "merge",
    "merge_records",
    "open_store",
    "prune",
    "read_runs",
    "records_by_any_name",
    "records_with_issues",
    "update",
    "with_base_comparison",
    "with_representative",
    "with_run",
    "write_runs",
]
