"""Check the repository on GitHub for settings that prevent ciguard from working."""

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

_BLOCKING_RULES = {
    "pull_request": "requires a pull request",
    "required_status_checks": "requires checks",
    "update": "forbids updates",
    "creation": "forbids creation",
    "merge_queue": "requires a merge queue",
    "required_deployments": "requires deployments",
}
"""Effect of each kind of rule that blocks writing the baseline, both by push and by the API."""
_DISABLED = {
    "disabled_inactivity": "GitHub disabled this workflow after 60 days without a commit",
    "disabled_manually": "a user disabled this workflow",
    "disabled_fork": "this workflow is disabled because the repository is a fork",
}


def repository_name(root: Path, environment: Mapping[str, str]) -> str:
    """Return `owner/name` of the repository; empty if it is unknown.

    The variable GITHUB_REPOSITORY has precedence over the remote `origin`.
    """
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
            reason = visible(str(error).partition(".")[0])
            yield unknown(subject, f"{reason}; further checks on GitHub are skipped")
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
        """Return the function that checks each subject, by the subject's name."""
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
            return problem(
                subject,
                "the repository is archived, so ciguard cannot write to it",
                "Unarchive it.",
            )
        if state.is_fork:
            return warning(
                subject,
                "the repository is a fork, where nightly runs and issues are disabled",
                "To enable nightly runs and issues, remove the condition "
                "`!github.event.repository.fork` from the nightly workflow.",
            )
        if state.may_push is False:
            return unknown(
                subject, "this token cannot write; the token of the workflows is not checked"
            )
        return healthy(subject, f"default branch {state.default_branch}")

    def _issues(self, subject: str) -> Diagnosis:
        if self._state().has_issues:
            return healthy(subject, "enabled")
        return warning(
            subject,
            "issues are disabled, so ciguard cannot file any",
            "Enable issues in the repository's settings, or set `issues: false` where "
            "file-issues.yml is called.",
        )

    def _label(self, subject: str) -> Diagnosis:
        if self._settings.has_label(self._issue_label):
            return healthy(subject, self._issue_label)
        return warning(
            subject,
            f"there is no label {self._issue_label}; the first filed issue creates it",
            "If the label was renamed, set `issue-marker` to its new name: ciguard finds its "
            "issues by this label.",
        )

    def _baseline_branch(self, subject: str) -> Diagnosis:
        if not isinstance(self._baseline, GitBranch):
            return unknown(subject, "the baseline is in a folder, not on a branch")
        branch = self._baseline.branch
        kinds = self._settings.rules(branch).kinds
        effects = [text for kind, text in _BLOCKING_RULES.items() if kind in kinds]
        if effects:
            return problem(
                subject,
                f"a ruleset {', '.join(effects)}: runs cannot write {branch}",
                f"Exclude {branch} from the ruleset, or let GitHub Actions bypass it.",
            )
        if "required_signatures" in kinds:
            return healthy(
                subject, f"runs write {branch} through GitHub's API, which signs the commits"
            )
        return healthy(subject, f"no ruleset blocks pushes to {branch}")

    def _required_check(self, subject: str) -> Diagnosis:
        check = self._workflows.required_check
        if not check:
            return unknown(subject, "no workflow calls guard.yml for pull requests")
        rules = self._settings.rules(self._state().default_branch)
        others = [name for name in rules.required_checks if "ciguard" in name and name != check]
        if others:
            return problem(
                subject,
                f"{', '.join(map(visible, others))}: required, but not reported for all pull "
                "requests",
                f"Require `{check}` instead.",
            )
        has_queue = "merge_queue" in rules.kinds
        is_required = check in rules.required_checks
        if has_queue and is_required and not self._workflows.runs_in_merge_queue:
            return problem(
                subject,
                f"the merge queue requires {check}, but no workflow reports this check "
                "for merge groups",
                "Add the trigger `merge_group:` to the workflow for pull requests.",
            )
        if not is_required:
            return warning(
                subject,
                f"no ruleset requires {check} (classic branch protection is not checked)",
                f"Require `{check}`, so that a failed check blocks the merge.",
            )
        return healthy(subject, check)

    def _schedule(self, subject: str) -> Diagnosis:
        nightly = self._workflows.nightly
        if not nightly:
            return unknown(subject, "there is no nightly workflow")
        state = self._settings.workflow_states().get(nightly, "")
        if state in _DISABLED:
            return problem(
                subject,
                f"{nightly}: {_DISABLED[state]}",
                f"Enable the workflow: `gh workflow enable {nightly.rpartition('/')[2]}`.",
            )
        if not state:
            return warning(
                subject,
                f"{nightly}: GitHub does not know this workflow",
                "Merge the workflow into the default branch.",
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
                f"{_labels_text(self._workflows.own_runners)}: only administrators can list "
                "runners",
                "Set GITHUB_TOKEN to the token of an administrator.",
            )
        matching = {
            labels: [runner for runner in registered if labels <= runner.labels]
            for labels in self._workflows.own_runners
        }
        missing = [labels for labels, runners in matching.items() if not runners]
        if missing:
            return warning(
                subject,
                f"this repository has no runner with the label {_labels_text(missing)}",
                "Register a runner with this label, unless the organisation has one. "
                "Without such a runner, jobs wait for up to a day.",
            )
        offline = [
            labels
            for labels, runners in matching.items()
            if not any(runner.is_online for runner in runners)
        ]
        if offline:
            return problem(
                subject,
                f"no runner with the label {_labels_text(offline)} is online: jobs wait for up to "
                "a day",
                "Start the runner, or remove the input that names its label.",
            )
        return healthy(subject, f"{_labels_text(list(matching))} online")


def _labels_text(runners: list[frozenset[str]]) -> str:
    """Return labels as text: a comma between runners, a plus between the labels of one runner."""
    return visible(", ".join(" + ".join(sorted(labels)) for labels in runners), limit=200)
