"""What the runner says about the event that started the workflow."""

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
_PULL_REQUESTS = frozenset({"pull_request", "pull_request_target", "merge_group"})
_OF_BRANCHES = frozenset({"push", "schedule", "workflow_dispatch", "repository_dispatch"})
"""Events whose run is about what a branch holds. A comment, say, runs on the default branch too,
and what it checks out may be anybody's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequest:
    """The pull request, or merge group, that is judged."""

    base: str
    """Commit or branch that it is to be merged into; empty where the event does not say."""
    head: str = ""
    """Its own newest commit, which checks are shown for; not the merge that is tested."""
    number: int = 0
    """0 where the event does not say: it does not for another run's fork."""
    repository: str = ""
    """Where the head is, as `owner/name`; set with `branch` where the number has to be found."""
    branch: str = ""
    is_from_fork: bool = False
    """Its token may only read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowEvent:
    """Why the workflow runs."""

    name: str = ""
    is_default_branch: bool = False
    """Whether what runs is the default branch: nothing else may write what later runs trust."""
    pull_request: PullRequest | None = None
    commit: str = ""
    """What a run without a pull request is about; empty where the event does not say."""
    ref: str = ""
    """The branch of `commit`, such as `refs/heads/main`."""

    @property
    def mode(self) -> PlanMode:
        """What a run for this event is for, where nobody says."""
        return PlanMode.BATCH if self.is_default_branch else PlanMode.PULL_REQUEST

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> WorkflowEvent:
        """Return the event of a step's environment; an empty one outside of GitHub Actions."""
        name = environment.get("GITHUB_EVENT_NAME", "")
        payload = _payload(environment.get("GITHUB_EVENT_PATH", ""))
        if name == "workflow_run":
            return _of_another_run(payload)
        default = _at(payload, "repository", "default_branch")
        ref = environment.get("GITHUB_REF", "")
        is_default = bool(default) and ref == _BRANCHES + default and name in _OF_BRANCHES
        is_pull_request = name in _PULL_REQUESTS
        if is_pull_request:
            return cls(name=name, pull_request=_pull_request(payload))
        is_branch = ref.startswith(_BRANCHES) and name in _OF_BRANCHES
        # Another branch is judged like a pull request that it may become.
        is_judged = not is_default and bool(_BRANCH.fullmatch(default))
        return cls(
            name=name,
            is_default_branch=is_default,
            pull_request=PullRequest(base=f"origin/{default}") if is_judged else None,
            commit=_commit(environment.get("GITHUB_SHA", "")) if is_branch else "",
            ref=ref if is_branch else "",
        )


def _of_another_run(payload: object) -> WorkflowEvent:
    """Return the event of the run whose results are there. A fork may call its branch `main`."""
    ran = payload.get("workflow_run") if isinstance(payload, dict) else None
    name, branch = _at(ran, "event"), _at(ran, "head_branch")
    own = _at(payload, "repository", "full_name")
    is_own = bool(own) and _at(ran, "head_repository", "full_name") == own
    is_default = bool(branch) and branch == _at(payload, "repository", "default_branch")
    is_pull_request = name in _PULL_REQUESTS
    is_of_branch = is_own and bool(branch) and name in _OF_BRANCHES
    return WorkflowEvent(
        name=name,
        is_default_branch=is_of_branch and is_default,
        pull_request=_judged_elsewhere(payload, is_own=is_own) if is_pull_request else None,
        commit=_commit(_at(ran, "head_sha")) if is_of_branch else "",
        ref=_BRANCHES + branch if is_of_branch else "",
    )


def _judged_elsewhere(payload: Any, *, is_own: bool) -> PullRequest:
    ran = payload["workflow_run"]
    listed = ran.get("pull_requests")
    # A branch of ours may be offered to a fork as well: that number is not one of ours.
    here = _at(payload, "repository", "url")
    ours = (
        one
        for one in (listed if isinstance(listed, list) else ())
        if _at(one, "base", "repo", "url") == here
    )
    number = _number(next(ours, {}))
    # A merge group has several pull requests, and no comment.
    is_sought = not number and _at(ran, "event") != "merge_group"
    return PullRequest(
        base="",
        head=_commit(_at(ran, "head_sha")),
        number=number,
        repository=_at(ran, "head_repository", "full_name") if is_sought else "",
        branch=_at(ran, "head_branch") if is_sought else "",
        is_from_fork=not is_own,
    )


def _pull_request(payload: object) -> PullRequest:
    base = _at(payload, "pull_request", "base", "sha") or _at(payload, "merge_group", "base_sha")
    head = _at(payload, "pull_request", "head", "repo", "full_name")
    asked = payload.get("pull_request") if isinstance(payload, dict) else None
    return PullRequest(
        base=_commit(base),
        head=_commit(_at(asked, "head", "sha")),
        number=_number(asked),
        is_from_fork=bool(head) and head != _at(payload, "repository", "full_name"),
    )


def _commit(text: str) -> str:
    return text if _COMMIT.fullmatch(text) else ""


def _number(payload: Any) -> int:
    number = payload.get("number") if isinstance(payload, dict) else None
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
    ):  # What cannot be read says nothing: the strictest mode follows.
        return {}


def _at(payload: Any, *keys: str) -> str:
    for key in keys:
        payload = payload.get(key) if isinstance(payload, dict) else None
    return payload if isinstance(payload, str) else ""
