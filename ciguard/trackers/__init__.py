"""Trackers: where buckets become issues. One file per tracker; `policy` says what is filed.

`plan` decides, `report` writes the text, `Desk` does it; `TRACKERS` holds the trackers by name.
"""

from ciguard.trackers.authoring import Sources
from ciguard.trackers.body import report
from ciguard.trackers.connection import Connection, Terms
from ciguard.trackers.context import Context
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
from ciguard.trackers.disclosure import PUBLIC, Discloser, SecurityCrash
from ciguard.trackers.filing import Filing
from ciguard.trackers.groups import Group, Member, groups_of
from ciguard.trackers.listing import roll_up
from ciguard.trackers.local import LocalTracker
from ciguard.trackers.outbox import Outbox
from ciguard.trackers.patience import Patience
from ciguard.trackers.places import open_disclosure, open_tracker, page_of_repository, page_of_run
from ciguard.trackers.policy import FilingRules, Plan, plan
from ciguard.trackers.pull_request import (
    find_pull_request,
    publish_check,
    publish_comment,
    pull_request_number,
    repository_of,
    upload_analysis,
)
from ciguard.trackers.repository_settings import RepositorySettings, settings_of
from ciguard.trackers.repository_state import BranchRules, RepositoryState, Runner
from ciguard.trackers.shown import GITHUB_ACTIONS, Analysis, Check, Comment, Head, Origin
from ciguard.trackers.template import Template

__all__ = [
    "GITHUB_ACTIONS",
    "PUBLIC",
    "ROLL_UP",
    "TRACKERS",
    "Analysis",
    "BranchRules",
    "Check",
    "Comment",
    "Connection",
    "Context",
    "Desk",
    "Discloser",
    "Filing",
    "FilingRules",
    "Group",
    "Head",
    "Issue",
    "LocalTracker",
    "Member",
    "Origin",
    "Outbox",
    "Patience",
    "Plan",
    "Report",
    "RepositorySettings",
    "RepositoryState",
    "Runner",
    "SecurityCrash",
    "Sources",
    "Template",
    "Terms",
    "Tracker",
    "TrackerFactory",
    "find_pull_request",
    "groups_of",
    "marker",
    "open_disclosure",
    "open_tracker",
    "page_of_repository",
    "page_of_run",
    "plan",
    "publish_check",
    "publish_comment",
    "pull_request_number",
    "report",
    "repository_of",
    "roll_up",
    "settings_of",
    "upload_analysis",
]
