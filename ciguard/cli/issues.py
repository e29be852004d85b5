"""Creation of the issue filer and its reporter from the settings."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.baseline import open_store
from ciguard.config import SourceKind
from ciguard.errors import ConfigurationError
from ciguard.project import this_project
from ciguard.trackers import (
    PUBLIC,
    Discloser,
    FilingReporter,
    FilingRules,
    IssueDefaults,
    IssueFiler,
    IssueSources,
    IssueTemplate,
    LocalTracker,
    Outbox,
    RetryBudget,
    Tracker,
    open_disclosure,
    open_tracker,
    page_of_repository,
    page_of_run,
)

if TYPE_CHECKING:
    from ciguard.baseline import BaselineStore
    from ciguard.config import Config, EffectiveSettings

_MAX_LOCAL_ISSUES = 10_000
"""Maximum number of issues in a folder, where every bucket gets an issue, even in the first run."""
_MIN_RETRY_BUDGET_S = 60.0
_RETRY_BUDGET_SHARE = 0.04
"""Share of a run's budget that requests to the tracker may take."""


@dataclass(frozen=True, slots=True)
class Issues:
    """The reporter that files issues, its filer, and the store of the baseline."""

    filing: FilingReporter
    filer: IssueFiler
    store: BaselineStore


def filing_of(settings: EffectiveSettings) -> Issues:
    """Return the reporter that files the findings of a run, with its filer and store.

    Raises:
        ConfigurationError: if the tracker or the template cannot be used.
        BaselineError: if the baseline cannot be read.
    """
    config = settings.config
    template = _template(settings)
    store = open_store(config.baseline)
    issue_filer = IssueFiler(_tracker(config), Outbox(store), dry_run=config.dry_run)
    filing = FilingReporter(
        issue_filer,
        store,
        rules=_rules(config),
        sources=IssueSources(
            out=config.out,
            run_page=page_of_run(os.environ),
            repository_page=page_of_repository(os.environ),
            project=this_project(),
            template=template,
        ),
    )
    return Issues(filing, issue_filer, store)


def _tracker(config: Config) -> Tracker:
    if not config.issues:
        return LocalTracker(config.tracker)
    return open_tracker(
        config.issues,
        defaults=_issue_defaults(config),
        retry_budget=_retry_budget(config),
        writes=not config.dry_run,
    )


def _issue_defaults(config: Config) -> IssueDefaults:
    return IssueDefaults(
        label=config.issue_marker, labels=config.issue_labels, assignees=config.issue_assignees
    )


def _retry_budget(config: Config) -> RetryBudget:
    return RetryBudget(max(_MIN_RETRY_BUDGET_S, _RETRY_BUDGET_SHARE * config.budget_s))


def _discloser(config: Config) -> Discloser | None:
    if config.dry_run:
        return None
    return open_disclosure(
        config.issues_security,
        config.issues,
        defaults=_issue_defaults(config),
        retry_budget=_retry_budget(config),
    )


def _rules(config: Config) -> FilingRules:
    if not config.issues:
        return FilingRules(
            cap=_MAX_LOCAL_ISSUES,
            per_day=_MAX_LOCAL_ISSUES,
            policy=config.policy,
            file_first_run=True,
        )
    return FilingRules(
        cap=config.issues_per_run,
        per_day=config.issues_per_day,
        policy=config.policy,
        numbered=config.issues.startswith("github:"),
        withholds_security=config.issues_security != PUBLIC,
        discloser=_discloser(config),
    )


def _template(settings: EffectiveSettings) -> IssueTemplate | None:
    path = settings.config.issue_template
    if path.exists():
        return IssueTemplate(path)
    if settings.sources["issue-template"].kind is SourceKind.DEFAULT:
        return None
    msg = f"issue-template = {path.as_posix()!r}: no such file. Write the path of a Jinja template."
    raise ConfigurationError(msg)
