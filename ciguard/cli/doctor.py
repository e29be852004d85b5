"""`ciguard doctor`: check the machine, the workflows, the baseline and the repository."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ciguard.cli.options import example, takes_settings
from ciguard.config import CONFINE_ALWAYS, GitBranch, SourceKind
from ciguard.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.actions.checkup import Diagnosis, Workflows
    from ciguard.config import Config, EffectiveSettings, Location

_RETRY_BUDGET_S = 10.0
_TIMEOUT_S = 5
_MAX_TEXT = 600


@click.command(
    short_help="Find and explain problems that keep ciguard from working.",
    epilog=example("ciguard doctor --offline"),
)
@takes_settings("baseline")
@click.option("--offline", is_flag=True, help="Send no requests to GitHub.")
@click.option(
    "--confinement",
    is_flag=True,
    help="Only check which attacks by fuzzed calls this machine blocks; the checks do no harm.",
)
def doctor(settings: EffectiveSettings, *, offline: bool, confinement: bool) -> int:
    """Check this machine, the workflows, the baseline and the settings on GitHub.

    Shows one line for each check, and what to change. Requests to GitHub use the token in
    GITHUB_TOKEN; without a token, only public settings are checked. Exits with 1 if there is a
    problem.
    """
    from ciguard.actions.checkup import Health

    count = dict.fromkeys(Health, 0)
    diagnoses = (
        _confinement(settings.config) if confinement else _diagnoses(settings, offline=offline)
    )
    for diagnosis in diagnoses:
        count[diagnosis.health] += 1
        _show(diagnosis)
    counts = ", ".join(f"{number} {health.value}" for health, number in count.items() if number)
    click.echo(f"Total: {counts}.")
    return ExitCode.FINDINGS if count[Health.PROBLEM] else ExitCode.CLEAN


def _show(diagnosis: Diagnosis) -> None:
    from ciguard.domain.text import visible

    text = visible(diagnosis.text, limit=_MAX_TEXT)
    click.echo(f"{diagnosis.health.value:<12} {diagnosis.subject}: {text}")
    if diagnosis.remedy:
        click.echo(f"{'':<12} {visible(diagnosis.remedy, limit=_MAX_TEXT)}")


def _confinement(config: Config) -> Iterator[Diagnosis]:
    from ciguard.actions.checkup import examine_confinement

    yield from examine_confinement(is_required=config.confine == CONFINE_ALWAYS)


def _diagnoses(settings: EffectiveSettings, *, offline: bool) -> Iterator[Diagnosis]:
    from ciguard.actions.checkup import (
        examine_baseline,
        examine_machine,
        examine_workflows,
        read_workflows,
    )
    from ciguard.project import this_project

    yield from examine_machine()
    workflows = read_workflows(Path.cwd())
    yield from examine_workflows(workflows, this_project())
    baseline = _baseline(settings, workflows)
    yield examine_baseline(baseline, now=datetime.now(UTC))
    yield from _hosting(settings.config, workflows, baseline, offline=offline)


def _baseline(settings: EffectiveSettings, workflows: Workflows) -> Location:
    """Return the location of the baseline that runs use.

    If no setting names a location and the repository has workflows, it is their default branch.
    """
    is_default = settings.sources["baseline"].kind is SourceKind.DEFAULT
    return GitBranch("origin") if is_default and workflows.pins else settings.config.baseline


def _hosting(
    config: Config, workflows: Workflows, baseline: Location, *, offline: bool
) -> Iterator[Diagnosis]:
    from ciguard.actions.checkup import (
        Diagnosis,
        Health,
        examine_hosting,
        repository_name,
    )
    from ciguard.trackers import RetryBudget, repository_of, settings_of

    name = "" if offline else repository_name(Path.cwd(), os.environ)
    if not name:
        reason = (
            "not checked because of --offline"
            if offline
            else "not checked: GITHUB_REPOSITORY is not set, and no git remote is on github.com"
        )
        yield Diagnosis(subject="github", health=Health.UNKNOWN, text=reason)
        return
    to = replace(repository_of(name, os.environ), timeout_s=_TIMEOUT_S)
    settings = settings_of(to, retry_budget=RetryBudget(_RETRY_BUDGET_S))
    yield from examine_hosting(settings, workflows, baseline, issue_label=config.issue_marker)
