"""Check the repository on GitHub: whether its settings let ciguard work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.actions.checkup.diagnosis import healthy, problem, unknown, warning
from ciguard.config import GitBranch
from ciguard.domain.text import visible
from ciguard.errors import TrackerError, TrackerUnavailableError
from ciguard.project import REPOSITORY, git_output, repository_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from ciguard.actions.checkup.diagnosis import Diagnosis
    from ciguard.actions.checkup.workflows import Workflows
    from ciguard.config import Location
    from ciguard.trackers import RepositorySettings, RepositoryState

_REFUSING = {
    "pull_request": "a pull request",
    "required_status_checks": "checks",
    "update": "no updates",
    "creation": "no creation",
    "merge_queue": "a merge queue",
    "required_deployments": "deployments",
}
"""Requirement of each rule that blocks writing the baseline, by push or through the API."""
_DISABLED = {
    "disabled_inactivity": "GitHub disabled it after 60 days without a commit",
    "disabled_manually": "a user disabled it",
    "disabled_fork": "it is disabled because the repository is a fork",
}


def repository_name(root: Path, environment: Mapping[str, str]) -> str:
    """Return `owner/name` from the environment, else from the remote `origin`; empty if unknown."""
    named = environment.get("GITHUB_REPOSITORY", "")
    if REPOSITORY.fullmatch(named):
        return named
    return repository_of(git_output(root, "remote", "get-url", "origin"))


def examine_hosting(
    settings: RepositorySettings, workflows: Workflows, baseline: Location, *, issue_label: str
) -> Iterator[Diagnosis]:
    """Yield the diagnoses of the repository's settings on GitHub.

    Args:
        settings: the settings of the repository, which are fetched on demand.
        workflows: the workflows of the checkout.
        baseline: the location of the baseline.
        issue_label: the label by which ciguard finds its issues.
    """
    examination = _Examination(settings, workflows, baseline, issue_label)
    for subject, examine in examination.checks().items():
        try:
            yield examine(subject)
        except TrackerUnavailableError as error:
            yield unknown(subject, f"{visible(str(error).partition('.')[0])}; the rest is skipped")
            return
        except TrackerError as error:
            yield unknown(
                subject,
                visible(str(error)),
                "Set GITHUB_TOKEN to a token that can read the repository.",
            )


class _Examination:
    """The checks of one repository."""

    def __init__(
        self,
        settings: RepositorySettings,
        workflows: Workflows,
        baseline: Location,
        issue_label: str,
    ) -> None:
        self._settings = settings
        self._issue_label = issue_label
        self._workflows = workflows
        self._baseline = baseline
        self._known: RepositoryState | None = None

    def checks(self) -> dict[str, Callable[[str], Diagnosis]]:
        """Return the check of each subject."""
        return {
            "repository": self._repository,
            "issues": self._issues,
            "label": self._label,
            "baseline branch": self._baseline_branch,
            "required check": self._required_check,
            "schedule": self._schedule,
            **({"runners": self._runners} if self._workflows.own_runners else {}),
        }

    def _state(self) -> RepositoryState:
        if self._known is None:
            self._known = self._settings.state()
        return self._known

    def _repository(self, subject: str) -> Diagnosis:
        state = self._state()
        if state.is_archived:
            return problem(subject, "it is archived: nothing can be written", "Unarchive it.")
        if state.is_fork:
            return warning(
                subject,
                "it is a fork, in which nightly runs and filing are disabled",
                "Remove the condition from the nightly workflow to enable them here.",
            )
        if state.may_push is False:
            return unknown(subject, "this token can only read; the workflows have their own")
        return healthy(subject, f"default branch {state.default_branch}")

    def _issues(self, subject: str) -> Diagnosis:
        if self._state().has_issues:
            return healthy(subject, "enabled")
        return warning(
            subject,
            "they are disabled, so nothing can be filed",
            "Enable them in the settings, or set `issues: false` where file-issues.yml is called.",
        )

    def _label(self, subject: str) -> Diagnosis:
        if self._settings.has_label(self._issue_label):
            return healthy(subject, self._issue_label)
        return warning(
            subject,
            f"there is no label {self._issue_label}; the first filed issue creates it",
            "If it was renamed, set `issue-marker` to its new name: issues are found by it.",
        )

    def _baseline_branch(self, subject: str) -> Diagnosis:
        if not isinstance(self._baseline, GitBranch):
            return unknown(subject, "the baseline is kept in a folder")
        branch = self._baseline.branch
        kinds = self._settings.rules(branch).kinds
        requirements = [text for kind, text in _REFUSING.items() if kind in kinds]
        if requirements:
            return problem(
                subject,
                f"a ruleset requires {', '.join(requirements)}: runs cannot write {branch}",
                f"Exclude {branch} from the ruleset, or let GitHub Actions bypass it.",
            )
        if "required_signatures" in kinds:
            return healthy(subject, f"runs write {branch} through the API, which signs commits")
        return healthy(subject, f"no ruleset blocks pushes to {branch}")

    def _required_check(self, subject: str) -> Diagnosis:
        wanted = self._workflows.required_check
        if not wanted:
            return unknown(subject, "no workflow calls guard.yml for pull requests")
        rules = self._settings.rules(self._state().default_branch)
        others = [name for name in rules.required_checks if "ciguard" in name and name != wanted]
        if others:
            return problem(
                subject,
                f"{', '.join(map(visible, others))}: not reported for all pull requests",
                f"Require `{wanted}` instead.",
            )
        has_queue = "merge_queue" in rules.kinds
        if (
            has_queue
            and wanted in rules.required_checks
            and not self._workflows.answers_merge_queue
        ):
            return problem(
                subject,
                "the merge queue requires it, but no workflow reports it there",
                "Add the trigger `merge_group:` to the workflow for pull requests.",
            )
        if wanted not in rules.required_checks:
            return warning(
                subject,
                "no ruleset requires the verdict (classic branch protection is not checked)",
                f"Require `{wanted}` to block merges for which it fails.",
            )
        return healthy(subject, wanted)

    def _schedule(self, subject: str) -> Diagnosis:
        nightly = self._workflows.nightly
        if not nightly:
            return unknown(subject, "there is no nightly workflow")
        state = self._settings.workflow_states().get(nightly, "")
        if state in _DISABLED:
            return problem(
                subject,
                f"{nightly}: {_DISABLED[state]}",
                f"Enable it: `gh workflow enable {nightly.rpartition('/')[2]}`.",
            )
        if not state:
            return warning(
                subject, f"{nightly}: GitHub does not list it", "Merge it into the default branch."
            )
        return healthy(subject, f"{nightly} is active")

    def _runners(self, subject: str) -> Diagnosis:
        try:
            registered = self._settings.runners()
        except TrackerUnavailableError:
            raise
        except TrackerError:  # without the permission, GitHub responds with 401, 403 or 404
            return unknown(
                subject,
                f"{_labels_text(self._workflows.own_runners)}: only administrators can list them",
                "Use the GITHUB_TOKEN of an administrator to check this.",
            )
        matching = {
            wanted: [runner for runner in registered if wanted <= runner.labels]
            for wanted in self._workflows.own_runners
        }
        missing = [wanted for wanted, runners in matching.items() if not runners]
        if missing:
            return warning(
                subject,
                f"none of this repository has the label {_labels_text(missing)}",
                "Unless the organisation has one, register it: jobs wait for it for a day.",
            )
        away = [
            wanted
            for wanted, runners in matching.items()
            if not any(runner.is_online for runner in runners)
        ]
        if away:
            return problem(
                subject,
                f"none with the label {_labels_text(away)} is online: jobs wait for a day",
                "Start it, or remove the input that names it.",
            )
        return healthy(subject, f"{_labels_text(list(matching))} online")


def _labels_text(runners: list[frozenset[str]]) -> str:
    """Return labels as text: a comma between runners, a plus between labels of one runner."""
    return visible(", ".join(" + ".join(sorted(labels)) for labels in runners), limit=200)
