"""The reusable workflows, their jobs executed as GitHub would, on events of several kinds."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from action_file import ROOT, parsed
from action_runner import Trigger
from action_scenarios import BEFORE, commit, event, git
from ciguard_command import answer, command
from github_pulls import Offered
from github_repository import NAME
from github_server import TOKEN
from hosted_project import OURS
from planted_wheel import planted_wheel
from runner_protocol import executed_commands
from workflow_runner import GitHub, WorkflowRun

from ciguard.domain.plan import Plan, PlanMode, plan_to_json
from ciguard.trackers.contract import ROLL_UP

if TYPE_CHECKING:
    from pathlib import Path

    from github_server import GitHubServer
    from node_tools import Expressions

GUARD, FILE_ISSUES = (
    ROOT / ".github" / "workflows" / name for name in ("guard.yml", "file-issues.yml")
)
FORK = "stranger/library"
LIBRARY = {"default_branch": "main", "full_name": NAME, "private": True}
SETTINGS = 'api = ["planted.checked"]\nseed = 1\nmax-cases = 160\n'
GIVEN = {"plugins": str(ROOT / "tests" / "planted"), "budget": "10s"}
BUILT = {
    "wheels": "ciguard-wheels",
    "wheel": ".ciguard-wheels/head/*.whl",
    "base_wheel": ".ciguard-wheels/base/*.whl",
}
BROKEN = "if isinstance(n, int) and n > 1000:\n    raise AssertionError('planted')\nreturn n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a repository that is guarded."""
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch", "main")
    commit(folder, ciguard__toml=SETTINGS, app__py="import planted\n")
    return folder


@pytest.fixture
def github(tmp_path: Path, expressions: Expressions, ciguard: Path, project: Path) -> GitHub:
    return GitHub(
        folder=tmp_path / "runs",
        expressions=expressions,
        repositories={"owner/name": project, NAME: project, OURS: ciguard},
        workflows_of=OURS,
        commit=git(ciguard, "rev-parse", "HEAD"),
    )


def opened(project: Path, **files: str) -> Trigger:
    """Open a pull request that changes files; GitHub keeps what it would be once it is merged."""
    base = git(project, "rev-parse", "main")
    git(project, "checkout", "--quiet", "-b", "change")
    head = commit(project, **files)
    git(project, "checkout", "--quiet", "--detach", "main")
    git(project, "merge", "--quiet", "--no-ff", "--message", "merged", "change")
    git(project, "update-ref", "refs/pull/7/merge", "HEAD")
    git(project, "checkout", "--quiet", "main")
    return Trigger(event=event(base, head))


def guarded(github: GitHub, trigger: Trigger, *, number: str = "1", **given: Any) -> WorkflowRun:
    return WorkflowRun(github, GUARD, trigger, number=number, **GIVEN, **given)


def results(run: WorkflowRun) -> dict[str, str]:
    return {job: run.result(job) for job in run.jobs}


@pytest.mark.lengthy
@pytest.mark.slow
def test_lost_row_does_not_pass_until_it_has_run(github: GitHub, project: Path) -> None:
    trigger = opened(project, app__py="import planted  # changed\n")
    run = guarded(github, trigger, shards=2, **BUILT)
    planted_wheel(run.artifacts / "ciguard-wheels" / "base", "1.0", checked="return n")
    planted_wheel(run.artifacts / "ciguard-wheels" / "head", "1.1", checked=BROKEN)

    run.start(lost="-2-of-2")
    lost, told, answered = results(run), run.only("merge"), run.outputs
    run.start()

    assert lost == {"plan": "success", "shard": "cancelled", "merge": "failure"}, told.log
    assert answered["verdict"] == "not-run"
    assert "2/2" in told.summary
    assert results(run) == {"plan": "success", "shard": "success", "merge": "failure"}, run.log
    assert len(run.jobs["shard"]) == 2
    assert run.outputs == {"verdict": "new-findings", "new": "1", "not-run": "0"}
    assert "planted.checked" in run.only("merge").summary
    assert "2/2" not in run.only("merge").summary


def test_documentation_change_runs_no_row_and_passes(github: GitHub, project: Path) -> None:
    run = guarded(github, opened(project, README__md="words\n"), targets=BEFORE, shards=2)

    run.start()

    assert run.only("plan").outputs["job-count"] == "0"
    assert results(run) == {"plan": "success", "shard": "skipped", "merge": "success"}, run.log
    assert run.outputs["verdict"] == "nothing-to-test"
    assert "only documentation changes" in run.only("merge").summary


def test_runner_without_workflow_repository_is_reported(github: GitHub, project: Path) -> None:
    run = guarded(replace(github, workflows_of=""), opened(project, app__py="x = 1\n"))

    run.start()

    assert results(run) == {"plan": "failure", "shard": "skipped", "merge": "failure"}
    (error,) = [text for name, text in executed_commands(run.only("plan").log) if name == "error"]
    assert "job.workflow_repository is empty" in error


@pytest.mark.slow
def test_a_plan_that_cannot_be_kept_is_no_pass_of_another_calls_plan(
    github: GitHub, project: Path
) -> None:
    run = guarded(github, opened(project, app__py="x = 1\n"), targets=BEFORE)
    idle = Plan(mode=PlanMode.PULL_REQUEST, reasons=("nothing to do",))
    of_another_call = run.artifacts / "ciguard-plan-1" / "plan.json"
    of_another_call.parent.mkdir()
    of_another_call.write_text(json.dumps(plan_to_json(idle)), "utf-8")

    run.start()

    assert "an artifact with this name already exists" in run.only("plan").log
    assert results(run) == {"plan": "failure", "shard": "skipped", "merge": "failure"}, run.log
    assert run.outputs["verdict"] == "not-run"
    assert "there is no plan" in run.only("merge").summary


@pytest.mark.lengthy
@pytest.mark.slow
def test_the_push_of_what_init_writes_gives_the_first_pull_request_a_baseline(
    github: GitHub, project: Path, server: GitHubServer
) -> None:
    hub = replace(github, variables={"GITHUB_API_URL": server.address()})
    done = answer(command("init", "--action", f"{OURS}@{github.commit}"), project)
    assert done.returncode == 0, done.stderr
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message", "what init writes")
    written = parsed(project / ".github" / "workflows" / "ciguard-nightly.yml")
    assert written["on"]["push"]["branches"] == ["main"]
    assert set(written["on"]["push"]["paths"]) <= set(git(project, "ls-files").split())
    public = {**LIBRARY, "private": False}
    pushed = Trigger("push", {"repository": public}, "refs/heads/main", NAME)
    mode = written["jobs"]["ciguard"]["with"]["mode"]
    first = guarded(hub, pushed, mode=mode, targets=BEFORE)
    ran = {"id": 1, "event": "push", "head_branch": "main", "head_repository": LIBRARY}
    afterwards = {"repository": public, "workflow_run": {**ran, "conclusion": "success"}}
    after = Trigger("workflow_run", afterwards, "refs/heads/main", NAME, TOKEN)
    filing = WorkflowRun(hub, FILE_ISSUES, after, number="2")

    first.start()
    filing.start()
    run = guarded(
        hub, opened(project, app__py="import planted  # changed\n"), number="3", targets=BEFORE
    )
    run.start()

    assert results(first)["merge"] == "success", first.log
    assert results(filing)["file"] == "success", filing.log
    assert git(project, "rev-parse", "--verify", "ciguard-baseline")
    bodies = [issue.latest["body"] for issue in server.repository.issues.values()]
    assert [text for text in bodies if ROLL_UP not in text] == []  # one list of what was there
    assert run.outputs["verdict"] == "nothing-new", run.log


@pytest.mark.slow
def test_nightly_run_files_one_issue_and_reports_rows_without_a_runner(
    github: GitHub, project: Path, server: GitHubServer
) -> None:
    """In a private repository, whose baseline only those can read who log in."""
    earlier = ("--target", BEFORE, "--api", "planted.double", "--max-cases", "16")
    baseline = f"git+{project.as_uri()}#ciguard-baseline"
    done = answer(command("run", *earlier, "--baseline", baseline), project)
    assert done.returncode == 0, done.stderr
    hub = replace(github, variables={"GITHUB_API_URL": server.address()})
    at_night = Trigger("schedule", {"repository": LIBRARY}, "refs/heads/main", NAME)
    run = guarded(hub, at_night, mode="batch", targets=BEFORE, devices="cpu,cuda")
    ran = {"id": 1, "event": "schedule", "head_branch": "main", "head_repository": LIBRARY}
    ran |= {"conclusion": "failure", "head_sha": git(project, "rev-parse", "main")}
    afterwards = {"repository": LIBRARY, "workflow_run": ran}
    after = Trigger("workflow_run", afterwards, "refs/heads/main", NAME, TOKEN)
    filing = WorkflowRun(hub, FILE_ISSUES, after, number="2", sarif=True)

    run.start()
    of_readers = list(server.requests)
    filing.start()
    first = filing.only("file")
    filing.start()
    again = filing.only("file")

    assert results(run) == {"plan": "success", "shard": "success", "merge": "failure"}, run.log
    assert run.outputs["verdict"] == "new-findings"
    notices = [text for name, text in executed_commands(run.only("plan").log) if name == "notice"]
    assert [text for text in notices if "no runner with a GPU" in text], run.log
    assert "no runner with a GPU" in run.only("merge").summary
    assert of_readers == []
    assert (first.conclusion, again.conclusion) == ("success", "success"), first.log + again.log
    assert results(filing)["publish"] == "skipped"
    uploaded = server.code_scanning.analyses
    assert {(one["commit_sha"], one["ref"]) for one in uploaded} == {
        (ran["head_sha"], "refs/heads/main")
    }
    (issue,) = server.repository.issues.values()
    assert issue.latest["title"].startswith("planted.checked: ")
    assert TOKEN not in run.log + first.log + again.log


OF_PULL_REQUESTS = {"pull_request", "merge_group", "pull_request_target"}


def ended(
    event_name: str, conclusion: str | None, *, head: str, repository: str = NAME, branch: str = ""
) -> Trigger:
    """Return the event of a run of the guard that has ended."""
    usual = "change" if event_name in OF_PULL_REQUESTS else "main"
    ran = {
        "id": 1,
        "event": event_name,
        "conclusion": conclusion,
        "head_branch": branch or usual,
        "head_sha": head,
        "head_repository": {"full_name": repository},
        "pull_requests": [],
    }
    payload = {"repository": LIBRARY, "workflow_run": ran}
    return Trigger("workflow_run", payload, "refs/heads/main", NAME, TOKEN)


@pytest.mark.lengthy
@pytest.mark.slow
def test_findings_of_a_pull_request_fail_no_filing_job(
    github: GitHub, project: Path, server: GitHubServer
) -> None:
    hub = replace(github, variables={"GITHUB_API_URL": server.address()})
    trigger = opened(project, app__py="import planted  # changed\n")
    head = git(project, "rev-parse", "change")
    run = guarded(hub, trigger, shards=2, **BUILT)
    planted_wheel(run.artifacts / "ciguard-wheels" / "base", "1.0", checked="return n")
    planted_wheel(run.artifacts / "ciguard-wheels" / "head", "1.1", checked=BROKEN)

    for number in range(1, 8):
        server.repository.create_issue({"title": f"pull request {number}"}, "")
    server.repository.heads[7] = head
    server.pulls.offered = [Offered(number=7, sha=head, repository=FORK)]

    def filed(number: str, conclusion: str, **of: str) -> WorkflowRun:
        after = ended("pull_request", conclusion, **{"head": head, **of})
        filing = WorkflowRun(hub, FILE_ISSUES, after, number=number, sarif=True)
        filing.start()
        return filing

    run.start(lost="-2-of-2")
    incomplete = filed("2", "timed_out")
    without_verdict = list(server.code_scanning.analyses)
    run.start()
    found = filed("3", "failure")
    of_nobody = list(server.repository.issues[7].comments)
    by_a_fork = filed("4", "failure", repository=FORK)
    superseded = filed("5", "cancelled")

    assert run.outputs["verdict"] == "new-findings"
    for filing in (incomplete, found, by_a_fork):
        assert results(filing) == {"file": "skipped", "publish": "success"}, filing.log
    assert results(superseded) == {"file": "skipped", "publish": "skipped"}
    assert [check["conclusion"] for check in server.checks.runs] == ["failure"]
    assert (without_verdict, of_nobody) == ([], [])
    (comment,) = server.repository.issues[7].comments
    assert f"Commit {head[:12]}" in comment["body"]
    (analysis,) = server.code_scanning.analyses
    assert (analysis["commit_sha"], analysis["ref"]) == (head, "refs/pull/7/head")
    assert len(server.repository.issues) == 7


@pytest.mark.parametrize(
    ("conclusion", "is_filed"),
    [
        ("success", True),
        ("failure", True),
        ("neutral", True),
        ("timed_out", True),
        ("cancelled", False),
        ("skipped", False),
        ("action_required", False),
        ("stale", False),
        ("startup_failure", False),
        (None, False),
    ],
)
@pytest.mark.parametrize("event_name", [*sorted(OF_PULL_REQUESTS), "schedule", "push"])
def test_filing_jobs_are_selected_by_event_and_conclusion(
    expressions: Expressions, event_name: str, conclusion: str | None, *, is_filed: bool
) -> None:
    after = ended(event_name, conclusion, head="a" * 40)

    job = "publish" if event_name in OF_PULL_REQUESTS else "file"
    assert jobs_that_take(after, expressions) == ({job} if is_filed else set())


def jobs_that_take(after: Trigger, expressions: Expressions) -> set[str]:
    """Return the jobs of file-issues.yml whose condition holds after a run."""
    known = {"github": after.context()}
    jobs = parsed(FILE_ISSUES)["jobs"].items()
    return {name for name, job in jobs if expressions.holds(job["if"], known, status="success")}


@pytest.mark.parametrize(
    ("event_name", "branch", "repository"),
    [
        ("push", "topic", NAME),
        ("push", "main", FORK),
        ("schedule", "main", FORK),
        ("workflow_dispatch", "topic", NAME),
        ("issue_comment", "main", NAME),
        ("pull_request_review", "main", FORK),
        ("workflow_run", "main", NAME),
        ("an_event_of_tomorrow", "main", NAME),
    ],
)
def test_a_run_that_the_default_branch_is_not_behind_reaches_no_permission_and_displaces_nothing(
    expressions: Expressions, event_name: str, branch: str, repository: str
) -> None:
    after = ended(event_name, "success", head="a" * 40, branch=branch, repository=repository)

    assert jobs_that_take(after, expressions) == set()
    assert group_of(after, expressions) == f"ciguard-file-issues-{'a' * 40}"


def group_of(after: Trigger, expressions: Expressions) -> str:
    """Return the concurrency group in which file-issues.yml runs after a run."""
    known = {"github": after.context(), "inputs": {"artifact": "ciguard"}}
    return expressions.text(parsed(FILE_ISSUES)["concurrency"]["group"], known)


@pytest.mark.parametrize(
    ("event_name", "group"),
    [
        ("push", "default-branch"),
        ("schedule", "default-branch"),
        ("workflow_dispatch", "default-branch"),
        ("repository_dispatch", "default-branch"),
        *((name, "a" * 40) for name in sorted(OF_PULL_REQUESTS)),
    ],
)
def test_only_runs_of_the_default_branch_wait_for_each_other(
    expressions: Expressions, event_name: str, group: str
) -> None:
    after = ended(event_name, "success", head="a" * 40)

    assert group_of(after, expressions) == f"ciguard-file-issues-{group}"


def test_a_change_of_documentation_leaves_nothing_to_publish_and_nothing_red(
    github: GitHub, project: Path, server: GitHubServer
) -> None:
    hub = replace(github, variables={"GITHUB_API_URL": server.address()})
    run = guarded(hub, opened(project, README__md="words\n"), targets=BEFORE)
    after = ended("pull_request", "success", head=git(project, "rev-parse", "change"))
    filing = WorkflowRun(hub, FILE_ISSUES, after, number="2")

    run.start()
    filing.start()

    assert results(filing) == {"file": "skipped", "publish": "success"}, filing.log
    assert [r.method for r in server.requests if r.method != "GET"] == []


@pytest.mark.slow
@pytest.mark.parametrize(("event_name", "job"), [("pull_request", "publish"), ("schedule", "file")])
def test_run_without_results_is_skipped(
    github: GitHub, project: Path, server: GitHubServer, event_name: str, job: str
) -> None:
    hub = replace(github, variables={"GITHUB_API_URL": server.address()})
    hub.artifacts("1")
    head = git(project, "rev-parse", "main")
    filing = WorkflowRun(hub, FILE_ISSUES, ended(event_name, "failure", head=head), number="2")

    filing.start()

    assert filing.result(job) == "success", filing.log
    assert "the tested workflow run left no results" in filing.only(job).summary
    assert server.repository.issues == {}
    assert [r.method for r in server.requests if r.method != "GET"] == []
