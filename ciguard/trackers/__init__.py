"""Trackers: where buckets become issues. One file per tracker; `policy` says what is filed.

`report` writes the text, `plan` and `carry_out` file it; `TRACKERS` holds the trackers by name.
"""

from ciguard.trackers.body import Context, report, roll_up
from ciguard.trackers.contract import TRACKERS, Issue, Report, Tracker, TrackerFactory, marker
from ciguard.trackers.filing import Filing
from ciguard.trackers.local import LocalTracker
from ciguard.trackers.policy import FilingRules, Plan, carry_out, plan

__all__ = [
    "TRACKERS",
    "Context",
    "Filing",
    "FilingRules",
    "Issue",
    "LocalTracker",
    "Plan",
    "Report",
    "Tracker",
    "TrackerFactory",
    "carry_out",
    "marker",
    "plan",
    "report",
    "roll_up",
]
