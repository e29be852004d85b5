"""What the runner reports of an event: whose head it is, and of which branch results are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from ciguard.actions.event import WorkflowEvent

if TYPE_CHECKING:
    from pathlib import Path

SHA = "a" * 40
OWN, FORK = "owner/library", "stranger/library"
REPOSITORY = {"default_branch": "main", "full_name": OWN, "url": f"https://api.x/repos/{OWN}"}


def event(folder: Path, name: str, payload: Any, **variables: str) -> WorkflowEvent:
    path = folder / "event.json"
    path.write_text(json.dumps(payload), "utf-8")
    given = {"GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": str(path), "GITHUB_SHA": SHA}
    return WorkflowEvent.of({**given, **variables})


def after(folder: Path, name: str, branch: str, repository: str, **ran: Any) -> WorkflowEvent:
    """Return the event of another workflow's run that has ended."""
    other = {
        "event": name,
        "head_branch": branch,
        "head_sha": SHA,
        "head_repository": {"full_name": repository},
        "pull_requests": [],
        **ran,
    }
    payload = {"repository": REPOSITORY, "workflow_run": other}
    return event(folder, "workflow_run", payload, GITHUB_REF="refs/heads/main")


def test_event_of_a_fork_names_repository_and_branch_of_the_head(tmp_path: Path) -> None:
    judged = after(tmp_path, "pull_request", "change", FORK).pull_request

    assert judged is not None
    assert (judged.number, judged.head, judged.is_from_fork) == (0, SHA, True)
    assert (judged.repository, judged.branch) == (FORK, "change")


def test_number_in_the_event_needs_no_lookup(tmp_path: Path) -> None:
    base = {"repo": {"url": REPOSITORY["url"]}}
    listed = [{"number": 7, "base": base}]

    judged = after(tmp_path, "pull_request", "change", OWN, pull_requests=listed).pull_request

    assert judged is not None
    assert (judged.number, judged.repository, judged.branch) == (7, "", "")


def test_merge_group_has_no_pull_request_to_comment_on(tmp_path: Path) -> None:
    judged = after(tmp_path, "merge_group", "gh-readonly-queue/main/pr-7", OWN).pull_request

    assert judged is not None
    assert (judged.number, judged.repository) == (0, "")


@pytest.mark.parametrize(
    ("repository", "branch", "expected"),
    [
        (OWN, "main", (True, SHA, "refs/heads/main")),
        (OWN, "release", (False, SHA, "refs/heads/release")),
        (FORK, "main", (False, "", "")),
    ],
)
def test_branch_of_another_run_counts_only_in_this_repository(
    tmp_path: Path, repository: str, branch: str, expected: tuple[bool, str, str]
) -> None:
    ran = after(tmp_path, "schedule", branch, repository)

    assert (ran.is_default_branch, ran.commit, ran.ref) == expected


@pytest.mark.parametrize(
    ("name", "ref", "expected"),
    [
        ("push", "refs/heads/main", (SHA, "refs/heads/main")),
        ("schedule", "refs/heads/main", (SHA, "refs/heads/main")),
        ("push", "refs/heads/other", (SHA, "refs/heads/other")),
        ("push", "refs/tags/v1", ("", "")),
        ("pull_request", "refs/pull/7/merge", ("", "")),
        ("issue_comment", "refs/heads/main", ("", "")),
    ],
)
def test_run_has_a_ref_only_for_events_of_branches(
    tmp_path: Path, name: str, ref: str, expected: tuple[str, str]
) -> None:
    ran = event(tmp_path, name, {"repository": REPOSITORY}, GITHUB_REF=ref)

    assert (ran.commit, ran.ref) == expected
