"""The baseline: the buckets already known, their state, and the cases that reproduce them.

`compare` tells what is new, `update` what the default branch learnt, `FolderStore` keeps it.
"""

from ciguard.baseline.comparison import (
    CLEAN_RUNS_UNTIL_FIXED,
    Exercised,
    Records,
    accept,
    compare,
    current,
    establish,
    find_record,
    is_regression,
    merge,
    update,
    with_issues,
)
from ciguard.baseline.record import (
    BaselineRecord,
    Decision,
    Exhibit,
    Sighting,
    State,
    with_exhibit,
)
from ciguard.baseline.store import BaselineStore, FolderStore

__all__ = [
    "CLEAN_RUNS_UNTIL_FIXED",
    "BaselineRecord",
    "BaselineStore",
    "Decision",
    "Exercised",
    "Exhibit",
    "FolderStore",
    "Records",
    "Sighting",
    "State",
    "accept",
    "compare",
    "current",
    "establish",
    "find_record",
    "is_regression",
    "merge",
    "update",
    "with_exhibit",
    "with_issues",
]
