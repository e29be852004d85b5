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
_PULL_REQUESTS = frozenset({"pull_request", "pull_request_target", "merge_group"})
_OF_BRANCHES = frozenset({"push", "schedule", "workflow_dispatch", "repository_dispatch"})
"""Events whose run tests the content of a branch. Others, such as a comment, may run on the default
branch but check out untrusted code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequest:
    """The tested pull request or merge group."""

    base: str
    """Commit or branch of the base; empty if the event does not name it."""
    head: str = ""
    """Newest commit of the pull request, which checks belong to, not the tested merge."""
    number: int = 0
    """Number of the pull request; 0 if the event does not name it, as for a fork's other run."""
    repository: str = ""
    """Repository of the head, `owner/name`; set with `branch` if the number must be looked up."""
    branch: str = ""
    """Branch of the head."""
    is_from_fork: bool = False
    """True if it comes from a fork, whose token can only read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowEvent:
    """The event that started the workflow."""

    name: str = ""
    """Name of the event, such as `push`."""
    is_default_branch: bool = False
    """True for a run of the default branch: only such runs may write what later runs trust."""
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
        """Return the event in a step's environment; an empty one outside of GitHub Actions."""
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
        # Another branch is tested like the pull request that it may become.
        is_judged = not is_default and bool(_BRANCH.fullmatch(default))
        return cls(
            name=name,
            is_default_branch=is_default,
            pull_request=PullRequest(base=f"origin/{default}") if is_judged else None,
            commit=_commit(environment.get("GITHUB_SHA", "")) if is_branch else "",
            ref=ref if is_branch else "",
        )


def _of_another_run(payload: object) -> WorkflowEvent:
    """Return the event of the run that `workflow_run` is about.

    A fork may name its branch like our default branch, so its repository is compared too.
    """
    run = payload.get("workflow_run") if isinstance(payload, dict) else None
    name, branch = _at(run, "event"), _at(run, "head_branch")
    own = _at(payload, "repository", "full_name")
    is_own = bool(own) and _at(run, "head_repository", "full_name") == own
    is_default = bool(branch) and branch == _at(payload, "repository", "default_branch")
    is_pull_request = name in _PULL_REQUESTS
    is_of_branch = is_own and bool(branch) and name in _OF_BRANCHES
    return WorkflowEvent(
        name=name,
        is_default_branch=is_of_branch and is_default,
        pull_request=_pull_request_of_run(payload, is_own=is_own) if is_pull_request else None,
        commit=_commit(_at(run, "head_sha")) if is_of_branch else "",
        ref=_BRANCHES + branch if is_of_branch else "",
    )


def _pull_request_of_run(payload: Any, *, is_own: bool) -> PullRequest:
    run = payload["workflow_run"]
    listed = run.get("pull_requests")
    # Our branch may also be the head of a pull request into a fork, whose number is not ours.
    url = _at(payload, "repository", "url")
    ours = (
        item
        for item in (listed if isinstance(listed, list) else ())
        if _at(item, "base", "repo", "url") == url
    )
    number = _number(next(ours, {}))
    # A merge group has several pull requests, and gets no comment.
    needs_lookup = not number and _at(run, "event") != "merge_group"
    return PullRequest(
        base="",
        head=_commit(_at(run, "head_sha")),
        number=number,
        repository=_at(run, "head_repository", "full_name") if needs_lookup else "",
        branch=_at(run, "head_branch") if needs_lookup else "",
        is_from_fork=not is_own,
    )


def _pull_request(payload: object) -> PullRequest:
    base = _at(payload, "pull_request", "base", "sha") or _at(payload, "merge_group", "base_sha")
    head = _at(payload, "pull_request", "head", "repo", "full_name")
    described = payload.get("pull_request") if isinstance(payload, dict) else None
    return PullRequest(
        base=_commit(base),
        head=_commit(_at(described, "head", "sha")),
        number=_number(described),
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
    ):  # An unreadable event leads to the strictest mode.
        return {}


def _at(payload: Any, *keys: str) -> str:
    for key in keys:
        payload = payload.get(key) if isinstance(payload, dict) else None
    return payload if isinstance(payload, str) else ""
