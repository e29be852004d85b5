"""Trackers, which file issues for buckets: a local folder, or GitHub.

The module `policy` decides what is filed, `body` writes the text of an issue, and `issue_filer`
performs the tasks. `TRACKERS` in `contract` holds the trackers by name.
"""

from ciguard.trackers.authoring import IssueSources
from ciguard.trackers.connection import Connection, IssueDefaults
from ciguard.trackers.contract import Tracker
from ciguard.trackers.disclosure import PUBLIC, Discloser
from ciguard.trackers.filing import FilingReporter
from ciguard.trackers.issue_filer import IssueFiler
from ciguard.trackers.local import LocalTracker
from ciguard.trackers.outbox import Outbox
from ciguard.trackers.places import open_disclosure, open_tracker, page_of_repository, page_of_run
from ciguard.trackers.policy import FilingRules
from ciguard.trackers.publication import Analysis, CheckReport, Comment, Head, PullRequestOrigin
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
    "IssueDefaults",
    "IssueFiler",
    "IssueSources",
    "IssueTemplate",
    "LocalTracker",
    "Outbox",
    "PullRequestOrigin",
    "RepositorySettings",
    "RepositoryState",
    "RetryBudget",
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
