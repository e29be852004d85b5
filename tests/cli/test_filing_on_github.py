"""`ciguard run` files on GitHub: the real command against a server on the loopback."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from command_server import answer, environment
from github_repository import NAME, WallClock
from github_server import GRAPHQL, TOKEN, Fault, GitHubServer

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

QUICK = ("--target", "current[planted]", "--budget", "6s", "--issues", f"github:{NAME}")
ESTABLISH = (*QUICK, "--api", "planted.double", "--max-cases", "64")
FIND = (*QUICK, "--api", "planted.checked", "--max-cases", "320")


@pytest.fixture
def server() -> Iterator[GitHubServer]:
    with GitHubServer(clock=WallClock()) as made:
        yield made
    assert made.violations == []


def run(
    folder: Path, server: GitHubServer, *words: str, token: str = TOKEN
) -> subprocess.CompletedProcess[str]:
    given = {"GITHUB_API_URL": server.address(), "GITHUB_TOKEN": token, "CI": "true"}
    return answer("run", *words, folder=folder, variables=environment(**given))


def test_new_bucket_gets_exactly_one_issue(tmp_path: Path, server: GitHubServer) -> None:
    run(tmp_path, server, *ESTABLISH)

    found = run(tmp_path, server, *FIND)
    again = run(tmp_path, server, *FIND)

    assert (found.returncode, again.returncode) == (1, 0), found.stderr + again.stderr
    assert list(server.repository.issues) == [1]
    issue = server.repository.issues[1].latest
    assert issue["labels"] == ("ciguard",)
    assert issue["title"].startswith("planted.checked: ")
    assert "### Reproduce" in issue["body"]
    assert f"issues: 1: {issue['title']}" in found.stdout
    assert TOKEN not in everything(tmp_path) + found.stdout + found.stderr


def test_dry_run_prints_the_issues_that_it_would_file(tmp_path: Path, server: GitHubServer) -> None:
    run(tmp_path, server, *ESTABLISH)

    found = run(tmp_path, server, *FIND, "--dry-run")

    assert "issues: would open planted.checked: " in found.stdout
    # The query asks who we are, which is no change.
    assert {r.method for r in server.requests if r.path != GRAPHQL} == {"GET"}


def test_next_run_files_issues_that_github_rejected(tmp_path: Path, server: GitHubServer) -> None:
    run(tmp_path, server, *ESTABLISH)
    server.gate = lambda _: Fault.PRIMARY_LIMIT

    limited = run(tmp_path, server, *FIND)
    server.gate = lambda _: None
    run(tmp_path, server, *FIND)

    assert limited.returncode == 1, limited.stderr
    assert "issues: 2 tasks wait for the next run" in limited.stdout
    assert list(server.repository.issues) == [1]
    assert not (tmp_path / ".ciguard" / "baseline" / "outbox.jsonl").exists()


def test_rejected_issue_exits_with_3_and_a_remedy(tmp_path: Path, server: GitHubServer) -> None:
    run(tmp_path, server, *ESTABLISH)
    server.repository.may_write = False

    refused = run(tmp_path, server, *FIND)

    assert refused.returncode == 3
    assert (
        "the issues report failed: owner/library: the token lacks the permission" in refused.stderr
    )
    run_json = json.loads((tmp_path / ".ciguard" / "run" / "run.json").read_text("utf-8"))
    assert run_json["buckets"]["new"] == 1


@pytest.mark.parametrize(
    ("words", "token", "message"),
    [
        (("--issues", "github:owner/name"), "", "no token. Set GITHUB_TOKEN or GH_TOKEN"),
        (("--issues", "github:owner"), TOKEN, "not a repository. Write github:owner/name"),
        (("--issues", "gitlab:a/b"), TOKEN, "tracker 'gitlab': no such tracker"),
        (("--issues", "owner/name"), TOKEN, "Write a tracker such as github:owner/name"),
        (
            ("--issue-template", "missing.j2"),
            TOKEN,
            "no such file. Write the path of a Jinja template",
        ),
    ],
)
def test_invalid_issue_settings_are_reported_before_the_campaign(
    tmp_path: Path, server: GitHubServer, words: tuple[str, ...], token: str, message: str
) -> None:
    answer = run(tmp_path, server, *words, token=token)

    assert answer.returncode == 2
    assert message in answer.stderr
    assert server.requests == []


def everything(folder: Path) -> str:
    return "".join(
        path.read_bytes().decode("latin-1") for path in folder.rglob("*") if path.is_file()
    )
