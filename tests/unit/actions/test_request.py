"""From inputs and event to what is to be done."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from ciguard.actions import (
    ActionRequest,
    InputError,
    cache_key,
    read_request,
    request_of,
    write_request,
)
from ciguard.actions.steps import scrubbed
from ciguard.domain.plan import PlanMode
from ciguard.levels.function.settings import FUNCTIONS

if TYPE_CHECKING:
    from pathlib import Path

SHA = "0123456789abcdef0123456789abcdef01234567"
REPOSITORY = {"default_branch": "main", "full_name": "owner/name"}


def _request(
    folder: Path, *, event: str = "push", ref: str = "main", **inputs: str
) -> ActionRequest:
    head = {"repo": {"full_name": "somebody/fork"}}
    payload = {"repository": REPOSITORY, "pull_request": {"base": {"sha": SHA}, "head": head}}
    path = folder / "event.json"
    path.write_text(json.dumps(payload), "utf-8")
    environment = {
        "GITHUB_EVENT_NAME": event,
        "GITHUB_EVENT_PATH": str(path),
        "GITHUB_REF": f"refs/heads/{ref}",
        **{f"INPUT_{name.upper()}": value for name, value in inputs.items()},
    }
    return request_of(environment, workspace=folder)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("budget", "10q", "input 'budget' = '10q'"),
        ("task", "gaurd", "Did you mean 'guard'?"),
        ("file_issues", "yes", "input 'file-issues' = 'yes': not a valid choice."),
        ("fail_on", "worst", "input 'fail-on' = 'worst'"),
        ("devices", "cpu, gpu", "Write cpu, cuda, or GPUs by number such as cuda:0, cuda:1."),
        ("shards", "0", "Write a number from 1 to 256."),
        ("config", "absent.toml", "Write the path of ciguard.toml or pyproject.toml"),
        ("artifact", "a/b", "Write a name without the characters / and :."),
        ("budget", "1\n::error::x", r"input 'budget' = '1\\n::error::x'"),
        ("out", "a\n::error::x", r"input 'out' = 'a\\n::error::x'"),
    ],
)
def test_invalid_input_is_named_with_a_remedy(
    name: str, value: str, says: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as caught:
        _request(tmp_path, **{name: value})

    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_task_without_its_required_input_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match="input 'job' is missing, but the task 'shard' needs this input"
    ):
        _request(tmp_path, task="shard", plan="plan.json")


def test_only_the_default_branch_writes(tmp_path: Path) -> None:
    default = _request(tmp_path, file_issues="true")
    other = _request(tmp_path, ref="feature", file_issues="true", mode="batch")
    pull = _request(tmp_path, event="pull_request", file_issues="true")

    assert (default.mode, default.writes, default.files_issues) == (PlanMode.BATCH, True, True)
    assert (other.mode, other.writes, other.files_issues) == (PlanMode.BATCH, False, False)
    assert (pull.mode, pull.writes, pull.files_issues) == (PlanMode.PULL_REQUEST, False, False)


def test_pull_request_is_compared_with_the_commit_in_the_event(tmp_path: Path) -> None:
    judged = _request(tmp_path, event="pull_request").event.pull_request

    assert judged is not None
    assert (judged.base, judged.is_from_fork) == (SHA, True)


@pytest.mark.parametrize(
    ("event", "branch", "repository", "is_trusted"),
    [
        ("schedule", "main", "owner/name", True),
        ("pull_request", "main", "owner/name", False),
        ("push", "main", "somebody/fork", False),
        ("push", "feature", "owner/name", False),
        ("push", "main", "", False),
    ],
)
def test_task_file_writes_only_for_the_default_branch_of_its_repository(
    event: str, branch: str, repository: str, *, is_trusted: bool, tmp_path: Path
) -> None:
    ran = {
        "event": event,
        "head_branch": branch,
        "head_repository": {"full_name": repository} if repository else None,
    }
    path = tmp_path / "event.json"
    path.write_text(json.dumps({"repository": REPOSITORY, "workflow_run": ran}), "utf-8")
    environment = {
        "GITHUB_EVENT_NAME": "workflow_run",
        "GITHUB_EVENT_PATH": str(path),
        "GITHUB_REF": "refs/heads/main",
        "INPUT_TASK": "file",
        "INPUT_RESULTS": "results",
        "INPUT_FILE_ISSUES": "true",
    }

    request = request_of(environment, workspace=tmp_path)

    assert (request.writes, request.files_issues) == (is_trusted, is_trusted)


@pytest.mark.parametrize("event", ["issue_comment", "pull_request_target", "workflow_call", ""])
def test_event_without_a_branch_writes_nothing(event: str, tmp_path: Path) -> None:
    request = _request(tmp_path, event=event, ref="main", file_issues="true")

    assert (request.mode, request.writes) == (PlanMode.PULL_REQUEST, False)


def test_pull_request_of_another_repository_gets_no_comment(tmp_path: Path) -> None:
    here, there = "https://api.invalid/repos/o/n", "https://api.invalid/repos/x/n"
    listed = [
        {"number": number, "base": {"repo": {"url": url}}}
        for number, url in ((3, there), (7, here))
    ]
    ran = {"event": "pull_request", "head_sha": SHA, "pull_requests": listed}
    payload = {"repository": REPOSITORY | {"url": here}, "workflow_run": ran}
    path = tmp_path / "event.json"
    path.write_text(json.dumps(payload), "utf-8")
    environment = {"GITHUB_EVENT_NAME": "workflow_run", "GITHUB_EVENT_PATH": str(path)}

    judged = request_of(environment, workspace=tmp_path).event.pull_request

    assert judged is not None
    assert (judged.number, judged.head) == (7, SHA)


def test_unreadable_event_is_not_the_default_branch(tmp_path: Path) -> None:
    path = tmp_path / "event.json"
    path.write_text("[" * 100_000, "utf-8")

    request = request_of({"GITHUB_EVENT_PATH": str(path)}, workspace=tmp_path)

    assert (request.mode, request.writes) == (PlanMode.PULL_REQUEST, False)


def test_baseline_defaults_to_a_branch(tmp_path: Path) -> None:
    unsaid = _request(tmp_path)
    (tmp_path / "ciguard.toml").write_text('baseline = "known"\n', "utf-8")
    configured = _request(tmp_path)

    assert unsaid.inputs["baseline"] == "git+origin#ciguard-baseline"
    assert "baseline" not in configured.inputs


def test_files_of_functions_are_named_one_per_line_or_between_commas(tmp_path: Path) -> None:
    (tmp_path / "ciguard.toml").write_text('functions = ["configured.py"]\n', "utf-8")
    lines = _request(tmp_path, levels="function", functions="src/**/*.py\nmy model.py\n")
    commas = _request(tmp_path, functions="a.py, $(b).py")

    assert lines.config[FUNCTIONS] == ("src/**/*.py", "my model.py")
    assert commas.config[FUNCTIONS] == ("a.py", "$(b).py")
    assert _request(tmp_path).config[FUNCTIONS] == ("configured.py",)


def test_request_round_trips_without_tokens(tmp_path: Path) -> None:
    secrets = {"github_token": "x" * 9, "security_token": "x" * 9}
    request = _request(tmp_path, budget="10m", targets="torch==2.13.0", **secrets)
    path = tmp_path / "kept" / "request.json"

    write_request(request, path)
    again = read_request(path, {}, workspace=tmp_path)

    assert again.inputs == request.inputs
    assert again.config.budget_s == 600
    assert "x" * 9 not in path.read_text("utf-8")


def test_damaged_request_file_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "request.json"
    path.write_text("[1, 2", "utf-8")

    with pytest.raises(InputError, match="not a valid request file"):
        read_request(path, {}, workspace=tmp_path)


def test_commands_get_neither_tokens_nor_files_of_the_runner() -> None:
    environment = {
        "PATH": "/bin",
        "GITHUB_TOKEN": "x",
        "GH_TOKEN": "x",
        "INPUT_GITHUB_TOKEN": "x",
        "INPUT_SECURITY_TOKEN": "x",
        "CIGUARD_SECURITY_TOKEN": "x",
        "ACTIONS_RUNTIME_TOKEN": "x",
        "ACTIONS_ID_TOKEN_REQUEST_URL": "x",
        "GITHUB_OUTPUT": "x",
        "GITHUB_ENV": "x",
        "GITHUB_ACTIONS": "true",
        "GITHUB_REPOSITORY": "owner/name",
    }

    assert set(scrubbed(environment)) == {"PATH", "GITHUB_ACTIONS", "GITHUB_REPOSITORY"}


def test_cache_is_shared_only_by_equal_targets() -> None:
    one = cache_key(["torch==2.13.0", "jittor==1.3.11.0"], {})
    same = cache_key(["jittor==1.3.11.0", "torch==2.13.0"], {})
    other = cache_key(["torch==2.12.0", "jittor==1.3.11.0"], {})
    elsewhere = cache_key(["torch==2.13.0", "jittor==1.3.11.0"], {"ImageVersion": "20261101.1"})

    assert one == same
    assert one.key.startswith(one.prefix)
    assert len({one.prefix, other.prefix, elsewhere.prefix}) == 3


def test_only_libraries_that_compile_have_the_processor_in_their_key() -> None:
    assert cache_key(["torch==2.13.0"], {}).key.endswith("-any")
    assert not cache_key(["jittor==1.3.11.0"], {}).key.endswith("-any")


@pytest.mark.parametrize("targets", [["current"], ["torch"], ["torch==2.13.0@cuda"]])
def test_inexact_or_large_targets_are_not_cached(targets: list[str]) -> None:
    assert not cache_key(targets, {}).key
