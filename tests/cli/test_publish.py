"""`ciguard publish`: real results of a real run, against a server on the loopback."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from command_server import answer, environment
from github_pulls import Offered
from github_repository import NAME
from github_server import TOKEN, GitHubServer
from runner_protocol import executed_commands

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

RUN = ("run", "--target", "current[planted]", "--budget", "6s", "--max-cases")
ESTABLISH = (*RUN, "64", "--api", "planted.double")
FIND = (*RUN, "320", "--api", "planted.checked", "--compare-only")
HEAD = "a" * 40
PUBLISH = ("publish", "--check", "--head-sha", HEAD)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which a run has found something new."""
    made = tmp_path_factory.mktemp("repository")
    (made / "requirements.txt").write_text("# what we build on\nplanted==1.0\n", "utf-8")
    codes = [ciguard(made, *words).returncode for words in (ESTABLISH, FIND)]
    assert codes == [0, 1]
    return made


@pytest.fixture
def server() -> Iterator[GitHubServer]:
    with GitHubServer() as made:
        made.repository.create_issue({"title": "a pull request"}, "")
        made.repository.heads[1] = HEAD
        yield made
    assert made.violations == []


def ciguard(folder: Path, *words: str, **given: str) -> subprocess.CompletedProcess[str]:
    variables = environment(CI="true", **given)
    return answer(*words, folder=folder, variables=variables)


def publish(
    folder: Path, server: GitHubServer, *words: str, **given: str
) -> subprocess.CompletedProcess[str]:
    there = {
        "GITHUB_API_URL": server.address(),
        "GITHUB_TOKEN": TOKEN,
        "GITHUB_REPOSITORY": NAME,
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_RUN_ID": "77",
    }
    return ciguard(folder, *PUBLISH, *words, **(there | given))


def test_publish_creates_a_check_run_and_a_comment(folder: Path, server: GitHubServer) -> None:
    answer = publish(folder, server, "--comment", "--pull-request", "1")

    assert answer.returncode == 0, answer.stderr
    run = server.checks.runs[0]
    assert (run["status"], run["conclusion"]) == ("completed", "failure")
    assert run["output"]["title"].startswith("NEW FINDINGS: ")
    assert run["details_url"] == f"https://github.com/{NAME}/actions/runs/77"
    assert "```python" in run["output"]["summary"]
    for annotation in server.checks.annotations[run["id"]]:
        assert (annotation["path"], annotation["start_line"]) == ("requirements.txt", 2)
    (comment,) = server.repository.issues[1].comments
    assert f"Commit {HEAD[:12]}" in comment["body"]
    assert TOKEN not in answer.stdout + answer.stderr


def test_publish_without_permission_writes_annotations_to_the_log(
    folder: Path, server: GitHubServer
) -> None:
    server.checks.may_write = False

    refused = publish(folder, server)
    alone = publish(folder, server, GITHUB_TOKEN="")

    for told in (refused, alone):
        assert told.returncode == 0
        assert "The permission for a check run is missing" in told.stdout
        assert "::error file=requirements.txt,line=2,title=NEW " in told.stdout
        assert "checks: write" in told.stderr


def test_publish_of_missing_results_fails_the_check(tmp_path: Path, server: GitHubServer) -> None:
    answer = publish(tmp_path, server)

    assert answer.returncode == 3
    assert server.checks.runs[0]["conclusion"] == "failure"
    assert server.checks.runs[0]["output"]["title"].startswith("NOT RUN")
    assert "does not contain the results of a run" in answer.stderr


FORK = ("--head-repository", "stranger/library", "--head-branch", "change")


def test_publish_for_a_fork_finds_the_pull_request_by_its_head(
    folder: Path, server: GitHubServer
) -> None:
    server.pulls.offered = [Offered(number=1, sha=HEAD, repository="stranger/library")]

    shown_as = ("--comment", "--sarif", "--name", "ciguard-vision")
    answer = publish(folder, server, *shown_as, *FORK, CIGUARD_PROJECT="owner/ciguard")

    assert answer.returncode == 0, answer.stderr
    (comment,) = server.repository.issues[1].comments
    assert f"Commit {HEAD[:12]}" in comment["body"]
    (analysis,) = server.code_scanning.analyses
    assert (analysis["commit_sha"], analysis["ref"]) == (HEAD, "refs/pull/1/head")
    (run,) = analysis["sarif"]["runs"]
    assert run["automationDetails"]["id"] == "ciguard-vision/"
    assert run["tool"]["driver"]["informationUri"] == "https://github.com/owner/ciguard"
    assert [one["baselineState"] for one in run["results"]].count("new")


def test_publish_of_a_superseded_run_writes_no_comment_and_no_alert(
    folder: Path, server: GitHubServer
) -> None:
    server.pulls.offered = [Offered(number=1, sha="b" * 40, repository="stranger/library")]

    answer = publish(folder, server, "--comment", "--sarif", *FORK)

    assert answer.returncode == 0, answer.stderr
    assert "no open pull request has this head" in answer.stdout
    assert server.repository.issues[1].comments == []
    assert server.code_scanning.analyses == []
    assert len(server.checks.runs) == 1


def test_disabled_code_scanning_is_only_a_warning(folder: Path, server: GitHubServer) -> None:
    server.code_scanning.refusal = (
        "Advanced Security must be enabled for this repository to use code scanning."
    )

    answer = publish(folder, server, "--sarif", "--ref", "refs/heads/main")

    assert answer.returncode == 0, answer.stderr
    (warning,) = [text for name, text in executed_commands(answer.stdout) if name == "warning"]
    assert "code scanning is disabled" in warning
    assert "Advanced Security must be enabled" in warning


def test_results_do_not_decide_where_they_are_published(
    folder: Path, tmp_path: Path, server: GitHubServer
) -> None:
    run = json.loads((folder / ".ciguard/run/run.json").read_text("utf-8"))
    run["repository"], run["parameters"]["issues"] = "evil/name", "github:evil/name"
    run["head_sha"], run["pull_request"] = "b" * 40, 2
    (tmp_path / "run.json").write_text(json.dumps(run), "utf-8")
    buckets = (folder / ".ciguard/run/buckets.jsonl").read_bytes()
    (tmp_path / "buckets.jsonl").write_bytes(buckets)

    answer = publish(folder, server, str(tmp_path))

    assert answer.returncode == 0, answer.stderr
    assert {one["head_sha"] for one in server.checks.runs} == {HEAD}
    assert all(request.path.startswith(f"/repos/{NAME}/") for request in server.requests)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ("publish", "--head-sha", HEAD, "--repository", NAME),
            "add at least one of --check, --comment and --sarif",
        ),
        (
            ("publish", "--comment", "--head-sha", HEAD, "--repository", NAME),
            "--comment needs the pull request",
        ),
        (
            (*PUBLISH, "--repository", "not-a-repository"),
            "not a valid repository. Write owner/name",
        ),
        (
            ("publish", "--sarif", "--head-sha", HEAD, "--repository", NAME),
            "--sarif needs a branch or pull request",
        ),
        (PUBLISH, "Missing option '--repository'"),
        (("publish", "--check", "--repository", NAME), "Missing option '--head-sha'"),
    ],
)
def test_publish_with_missing_options_names_them(
    tmp_path: Path, words: tuple[str, ...], says: str
) -> None:
    answer = ciguard(tmp_path, *words)

    assert answer.returncode == 2
    assert says in answer.stderr


def test_sarif_file_has_the_finding_at_the_requirement(
    folder: Path,
) -> None:
    log = json.loads((folder / ".ciguard/run/report.sarif").read_text("utf-8"))

    new = [one for one in log["runs"][0]["results"] if one["baselineState"] == "new"]
    assert new
    location = new[0]["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "requirements.txt"
    assert location["region"]["startLine"] == 2


def test_run_json_reports_a_current_baseline(folder: Path) -> None:
    run = json.loads((folder / ".ciguard/run/run.json").read_text("utf-8"))

    assert run["baseline"]["state"] == "fresh"
    assert run["baseline"]["updated_at"]
