"""The packaged action with `check` and `comment`: what it tells a pull request on GitHub."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from action_scenarios import FEW, INPUTS, MATRIX, commit, pull_request, run_of
from github_repository import NAME
from github_server import TOKEN
from runner_protocol import executed_commands

if TYPE_CHECKING:
    from action_runner import Job, Runner
    from github_server import GitHubServer

NUMBER = 7
TELLING = {**INPUTS, **MATRIX, "check": "true", "comment": "true"}


@pytest.fixture
def judged(runner: Runner, server: GitHubServer) -> Runner:
    """Return a runner whose pull request the server knows too."""
    pull_request(runner, requirements__txt="planted==2.0\n", app__py="import planted\n")
    runner.token = TOKEN
    runner.variables = {**FEW, "GITHUB_API_URL": server.address(), "GITHUB_REPOSITORY": NAME}
    for number in range(1, NUMBER + 1):
        server.repository.create_issue({"title": f"pull request {number}"}, "")
    server.repository.heads[NUMBER] = head_of(runner)
    return runner


def head_of(runner: Runner) -> str:
    head: str = runner.event["pull_request"]["head"]["sha"]
    return head


def told_in_the_log(job: Job) -> list[str]:
    told = job.step("Publish on the pull request")
    assert told.outcome == "success", told.log
    return [name for name, _ in executed_commands(told.log)]


@pytest.mark.slow
def test_a_check_run_and_one_comment_follow_the_pull_request(
    judged: Runner, server: GitHubServer
) -> None:
    broken = judged.run(TELLING)
    head = commit(judged.workspace, app__py="import planted  # mended\n")
    judged.event["pull_request"]["head"]["sha"] = server.repository.heads[NUMBER] = head
    mended = judged.run({**TELLING, "api": "planted.double"})

    assert (broken.outputs["verdict"], mended.outputs["verdict"]) == (
        "new-findings",
        "nothing-new",
    ), broken.log + mended.log
    assert told_in_the_log(broken) == told_in_the_log(mended) == []
    assert [run["conclusion"] for run in server.checks.runs] == ["failure", "success"]
    assert [run["head_sha"] for run in server.checks.runs][1] == head
    assert server.checks.runs[0]["output"]["title"].startswith("NEW FINDINGS: ")
    assert server.checks.annotations[server.checks.runs[0]["id"]]
    (comment,) = server.repository.issues[NUMBER].comments
    assert f"Commit {head[:12]}" in comment["body"]
    assert "planted.cube" not in comment["body"]
    for job in (broken, mended):
        assert TOKEN not in job.log + job.summary


@pytest.mark.slow
def test_a_fork_whose_token_only_reads_has_annotations_and_a_notice_instead(
    judged: Runner, server: GitHubServer
) -> None:
    server.checks.may_write = server.repository.may_write = False

    job = judged.run(TELLING)

    assert (job.conclusion, job.outputs["verdict"]) == ("failure", "new-findings"), job.log
    assert "error" in told_in_the_log(job)
    log = job.step("Publish on the pull request").log
    assert "The permission for a check run is missing" in log
    assert "Comment skipped: " in log
    assert server.checks.runs == []
    assert server.repository.issues[NUMBER].comments == []


@pytest.mark.slow
def test_fork_without_a_token_gets_a_verdict(judged: Runner, server: GitHubServer) -> None:
    judged.token = ""

    job = judged.run(TELLING)

    assert (job.conclusion, job.outputs["verdict"]) == ("failure", "new-findings"), job.log
    assert "error" in told_in_the_log(job)
    assert [s.name for s in job.steps if s.outcome == "failure"] == ["Verdict"]
    assert {request.method for request in server.requests} <= {"GET"}
    assert "planted.cube" in job.summary
    assert run_of(job.artifacts["ciguard-1"])["exit_code"] == 1
