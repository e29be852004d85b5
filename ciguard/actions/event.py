"""The event that started the workflow, as the runner describes it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ciguard.domain.plan import PlanMode
from ciguard.files import read_text

if TYPE_CHECKING:
    from collections.abc import Mapping

_MAX_BYTES = 32 * 1024 * 1024
_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_BRANCH = re.compile(r"[\w][\w./-]{0,200}", re.ASCII)
_BRANCHES = "refs/heads/"
_PULL_REQUEST_EVENTS = frozenset({"pull_request", "pull_request_target", "merge_group"})
_BRANCH_EVENTS = frozenset({"push", "schedule", "workflow_dispatch", "repository_dispatch"})
"""Events for which a run tests the content of a branch. A run for another event, such as a comment,
may belong to the default branch and still check out untrusted code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequest:
    """The tested pull request or merge group."""

    base: str
    """Commit or branch of the base; empty if the event does not name it."""
    head: str = ""
    """Newest commit of the pull request, to which checks belong; not the tested merge commit."""
    number: int = 0
    """Number of the pull request; 0 if the event does not name it, as in `workflow_run` events of
    forks."""
    repository: str = ""
    """Repository of the head, `owner/name`; empty unless the number must be looked up by it."""
    branch: str = ""
    """Branch of the head; empty unless the number must be looked up by it."""
    is_from_fork: bool = False
    """True if the pull request comes from a fork, where the token of a run can only read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowEvent:
    """The event that started the workflow."""

    name: str = ""
    """Name of the event, such as `push`."""
    is_default_branch: bool = False
    """True for a run of the default branch. Only such runs may write the baseline and caches."""
    pull_request: PullRequest | None = None
    commit: str = ""
    """Tested commit of a run without a pull request; empty if the event does not name it."""
    ref: str = ""
    """Ref of `commit`, such as `refs/heads/main`."""

    @property
    def mode(self) -> PlanMode:
        """Default mode of a run for this event."""
        return PlanMode.BATCH if self.is_default_branch else PlanMode.PULL_REQUEST

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> WorkflowEvent:
        """Return the event that a step's environment names; an empty event outside of a step."""
        name = environment.get("GITHUB_EVENT_NAME", "")
        payload = _payload(environment.get("GITHUB_EVENT_PATH", ""))
        if name == "workflow_run":
            return _event_of_other_run(payload)
        default = _string_at(payload, "repository", "default_branch")
        ref = environment.get("GITHUB_REF", "")
        is_default = bool(default) and ref == _BRANCHES + default and name in _BRANCH_EVENTS
        if name in _PULL_REQUEST_EVENTS:
            return cls(name=name, pull_request=_pull_request(payload))
        is_branch = ref.startswith(_BRANCHES) and name in _BRANCH_EVENTS
        # A branch other than the default branch is tested like a pull request.
        has_base = not is_default and bool(_BRANCH.fullmatch(default))
        return cls(
            name=name,
            is_default_branch=is_default,
            pull_request=PullRequest(base=f"origin/{default}") if has_base else None,
            commit=_commit(environment.get("GITHUB_SHA", "")) if is_branch else "",
            ref=ref if is_branch else "",
        )


def _event_of_other_run(payload: object) -> WorkflowEvent:
    """Return the event of the workflow run that triggered this run by `workflow_run`.

    A fork may have a branch with the name of our default branch, so the repository is checked too.
    """
    run = payload.get("workflow_run") if isinstance(payload, dict) else None
    name, branch = _string_at(run, "event"), _string_at(run, "head_branch")
    repository = _string_at(payload, "repository", "full_name")
    head_repository = _string_at(run, "head_repository", "full_name")
    is_own = bool(repository) and head_repository == repository
    is_default = bool(branch) and branch == _string_at(payload, "repository", "default_branch")
    is_branch = is_own and bool(branch) and name in _BRANCH_EVENTS
    has_pull_request = name in _PULL_REQUEST_EVENTS
    return WorkflowEvent(
        name=name,
        is_default_branch=is_branch and is_default,
        pull_request=_pull_request_of_run(payload, is_own=is_own) if has_pull_request else None,
        commit=_commit(_string_at(run, "head_sha")) if is_branch else "",
        ref=_BRANCHES + branch if is_branch else "",
    )


def _pull_request_of_run(payload: Any, *, is_own: bool) -> PullRequest:
    run = payload["workflow_run"]
    listed = run.get("pull_requests")
    # The list may contain pull requests into forks, whose numbers are not valid here.
    url = _string_at(payload, "repository", "url")
    own_pull_requests = (
        item
        for item in (listed if isinstance(listed, list) else ())
        if _string_at(item, "base", "repo", "url") == url
    )
    number = _pull_request_number(next(own_pull_requests, {}))
    # A merge group has several pull requests, and gets no comment.
    needs_lookup = not number and _string_at(run, "event") != "merge_group"
    return PullRequest(
        base="",
        head=_commit(_string_at(run, "head_sha")),
        number=number,
        repository=_string_at(run, "head_repository", "full_name") if needs_lookup else "",
        branch=_string_at(run, "head_branch") if needs_lookup else "",
        is_from_fork=not is_own,
    )


def _pull_request(payload: object) -> PullRequest:
    pull_request = payload.get("pull_request") if isinstance(payload, dict) else None
    base = _string_at(pull_request, "base", "sha")
    base = base or _string_at(payload, "merge_group", "base_sha")
    head_repository = _string_at(pull_request, "head", "repo", "full_name")
    repository = _string_at(payload, "repository", "full_name")
    return PullRequest(
        base=_commit(base),
        head=_commit(_string_at(pull_request, "head", "sha")),
        number=_pull_request_number(pull_request),
        is_from_fork=bool(head_repository) and head_repository != repository,
    )


def _commit(text: str) -> str:
    """Return the text if it is a commit hash, else an empty string."""
    return text if _COMMIT.fullmatch(text) else ""


def _pull_request_number(pull_request: Any) -> int:
    """Return the number of a pull request in a payload; 0 if it is missing or invalid."""
    number = pull_request.get("number") if isinstance(pull_request, dict) else None
    return number if isinstance(number, int) and number > 0 else 0


def _payload(path: str) -> Any:
    if not path:
        return {}
    try:
        return json.loads(read_text(Path(path), most=_MAX_BYTES))
    except (
        OSError,
        ValueError,
        RecursionError,
    ):  # Without a payload, the run counts as a pull request, which may write nothing.
        return {}


def _string_at(payload: Any, *keys: str) -> str:
    """Return the string below nested keys of a payload; empty if there is none."""
    for key in keys:
        payload = payload.get(key) if isinstance(payload, dict) else None
    return payload if isinstance(payload, str) else ""
