"""Trackers, in which buckets become issues. One module per tracker; `policy` says what is filed.

`plan` decides what to file, `report` writes the text of an issue, and `IssueFiler` performs the
tasks. `TRACKERS` holds the trackers by name.
"""

from ciguard.trackers.authoring import IssueSources
from ciguard.trackers.connection import Connection, Terms
from ciguard.trackers.contract import Tracker
from ciguard.trackers.disclosure import PUBLIC, Discloser
from ciguard.trackers.filing import FilingReporter
from ciguard.trackers.issue_filer import IssueFiler
from ciguard.trackers.local import LocalTracker
from ciguard.trackers.outbox import Outbox
from ciguard.trackers.places import open_disclosure, open_tracker, page_of_repository, page_of_run
from ciguard.trackers.policy import FilingRules
from ciguard.trackers.pull_request import (
    find_pull_request,
    publish_check,
    publish_comment,
    pull_request_number,
    repository_of,
    upload_analysis,
)
from ciguard.trackers.repository_settings import RepositorySettings, settings_of
from ciguard.trackers.repository_state import RepositoryState
from ciguard.trackers.retry_budget import RetryBudget
from ciguard.trackers.shown import Analysis, CheckReport, Comment, Head, PullRequestOrigin
from ciguard.trackers.template import IssueTemplate

__all__ = [
    "PUBLIC",
    "Analysis",
    "CheckReport",
    "Comment",
    "Connection",
    "Discloser",
    "FilingReporter",
    "FilingRules",
    "Head",
    "IssueFiler",
    "IssueSources",
    "IssueTemplate",
    "LocalTracker",
    "Outbox",
    "PullRequestOrigin",
    "RepositorySettings",
    "RepositoryState",
    "RetryBudget",
    "Terms",
    "Tracker",
    "find_pull_request",
    "open_disclosure",
    "open_tracker",
    "page_of_repository",
    "page_of_run",
    "publish_check",
    "publish_comment",
    "pull_request_number",
    "repository_of",
    "settings_of",
    "upload_analysis",
]
