"""Trackers: where buckets become issues. One file per tracker; `policy` says what is filed.

`plan` decides, `report` writes the text, `Desk` does it; `TRACKERS` holds the trackers by name.
"""

from ciguard.trackers.body import Context, report, roll_up
from ciguard.trackers.contract import (
    ROLL_UP,
    TRACKERS,
    Issue,
    Report,
    Tracker,
    TrackerFactory,
    marker,
)
from ciguard.trackers.desk import Desk
from ciguard.trackers.filing import Filing, Sources
from ciguard.trackers.local import LocalTracker
from ciguard.trackers.outbox import Outbox
from ciguard.trackers.patience import Patience
from ciguard.trackers.places import Connection, Terms, open_tracker, page_of_run
from ciguard.trackers.policy import FilingRules, Plan, plan
from ciguard.trackers.pull_request import (
    GITHUB_ACTIONS,
    Check,
    Comment,
    Head,
    publish_check,
    publish_comment,
    pull_request_number,
    repository_of,
)
from ciguard.trackers.repository_settings import (
    BranchRules,
    RepositorySettings,
    RepositoryState,
    settings_of,
)
from ciguard.trackers.template import Template

__all__ = [
    "GITHUB_ACTIONS",
    "ROLL_UP",
    "TRACKERS",
    "BranchRules",
    "Check",
    "Comment",
    "Connection",
    "Context",
    "Desk",
    "Filing",
    "FilingRules",
    "Head",
    "Issue",
    "LocalTracker",
    "Outbox",
    "Patience",
    "Plan",
    "Report",
    "RepositorySettings",
    "RepositoryState",
    "Sources",
    "Template",
    "Terms",
    "Tracker",
    "TrackerFactory",
    "marker",
    "open_tracker",
    "page_of_run",
    "plan",
    "publish_check",
    "publish_comment",
    "pull_request_number",
    "report",
    "repository_of",
    "roll_up",
    "settings_of",
]
