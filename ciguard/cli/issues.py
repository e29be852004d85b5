"""What the settings say about filing, put together."""

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
    Desk,
    Discloser,
    Filing,
    FilingRules,
    IssueSources,
    IssueTemplate,
    LocalTracker,
    Outbox,
    Patience,
    Terms,
    Tracker,
    open_disclosure,
    open_tracker,
    page_of_repository,
    page_of_run,
)

if TYPE_CHECKING:
    from ciguard.baseline import BaselineStore
    from ciguard.config import Config, Effective

_MAX_LOCAL_ISSUES = 10_000
"""Files in a folder disturb nobody: every bucket gets one, those of the first run too."""
_MIN_PATIENCE_S = 60.0
_PATIENCE_SHARE = 0.04
"""Of the budget: what the stages of a run leave to those who report on it."""


@dataclass(frozen=True, slots=True)
class Issues:
    """The listener that files, and the desk that says afterwards what was filed."""

    filing: Filing
    desk: Desk
    store: BaselineStore


def filing_of(settings: Effective) -> Issues:
    """Return what files the findings of a run.

    Raises:
        ConfigurationError: if the tracker or the template cannot be used.
        BaselineError: if the baseline cannot be read.
    """
    config = settings.config
    template = _template(settings)
    store = open_store(config.baseline)
    desk = Desk(_tracker(config), Outbox(store), dry_run=config.dry_run)
    filing = Filing(
        desk,
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
    return Issues(filing, desk, store)


def _tracker(config: Config) -> Tracker:
    if not config.issues:
        return LocalTracker(config.tracker)
    return open_tracker(
        config.issues,
        terms=_terms(config),
        patience=_patience(config),
        writes=not config.dry_run,
    )


def _terms(config: Config) -> Terms:
    return Terms(
        label=config.issue_marker, labels=config.issue_labels, assignees=config.issue_assignees
    )


def _patience(config: Config) -> Patience:
    return Patience(max(_MIN_PATIENCE_S, _PATIENCE_SHARE * config.budget_s))


def _discloser(config: Config) -> Discloser | None:
    if config.dry_run:
        return None
    return open_disclosure(
        config.issues_security,
        config.issues,
        terms=_terms(config),
        patience=_patience(config),
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


def _template(settings: Effective) -> IssueTemplate | None:
    path = settings.config.issue_template
    if path.exists():
        return IssueTemplate(path)
    if settings.sources["issue-template"].kind is SourceKind.DEFAULT:
        return None
    msg = f"issue-template = {path.as_posix()!r}: no such file. Write the path of a template."
    raise ConfigurationError(msg)
