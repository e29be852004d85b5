"""`ciguard doctor` in real repositories, against the emulated GitHub."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import pytest
from command_server import answer
from git_examples import bare_repository, git
from github_repository import NAME
from github_server import TOKEN, GitHubServer
from github_settings import MERGE_QUEUE, required, runner
from snapshot import assert_matches

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COMMIT = "0123456789abcdef0123456789abcdef01234567"
ACTION = f"owner/ciguard@{COMMIT}"
GUARD = ".github/workflows/ciguard.yml"
NIGHTLY = ".github/workflows/ciguard-nightly.yml"
FILING = ".github/workflows/ciguard-file-issues.yml"
CHECK = "ciguard / Verdict"
STRANGE = "ghs_of_nobody"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a checkout with a remote and what init writes."""
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch", "main")
    git(folder, "remote", "add", "origin", str(bare_repository(tmp_path / "remote")))
    done = answer("init", "--action", ACTION, folder=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def server() -> Iterator[GitHubServer]:
    """Return a GitHub where all is well."""
    with GitHubServer() as made:
        made.settings.rules["main"] = [required(CHECK), MERGE_QUEUE]
        made.settings.workflows = dict.fromkeys((GUARD, NIGHTLY, FILING), "active")
        made.repository.create_label({"name": "ciguard", "color": "b60205"})
        yield made
    assert made.violations == []


def _variables(server: GitHubServer | None, **changed: str) -> dict[str, str]:
    asked = {"GITHUB_API_URL": server.address(), "GITHUB_REPOSITORY": NAME} if server else {}
    project = {"CIGUARD_PROJECT": ACTION, "GITHUB_TOKEN": TOKEN}
    return {**os.environ, **project, **asked, **changed}


def _doctor(folder: Path, server: GitHubServer | None, *words: str, **changed: str) -> str:
    """Return what the command says, its exit status first."""
    done = answer("doctor", *words, folder=folder, variables=_variables(server, **changed))
    assert done.stderr == ""
    return f"exit {done.returncode}\n{done.stdout}"


def _lines(shown: str, subject: str) -> list[str]:
    """Return what is said of a subject, remedies included."""
    found = re.findall(rf"^\w[\w ]{{11}} {subject}: .*\n(?: {{13}}.*\n)?", shown, re.MULTILINE)
    assert found, shown
    return [re.sub(r"\s+", " ", line).strip() for line in found]


def test_doctor_on_a_healthy_repository_warns_only_of_the_missing_baseline(
    project: Path, server: GitHubServer
) -> None:
    shown = _doctor(project, server)

    assert shown.startswith("exit 0\n")
    assert "problem" not in shown
    (baseline,) = _lines(shown, "baseline")
    assert baseline.startswith(
        "warning baseline: there is no baseline in git+origin#ciguard-baseline"
    )
    for subject in ("required check", "schedule", "baseline branch", "label", "permissions"):
        assert _lines(shown, subject)[0].startswith("ok ")
    assert TOKEN not in shown


@pytest.mark.parametrize(
    ("remote", "asked"),
    [
        (f"https://github.com/{NAME}.git", NAME),
        (f"git@github.com:{NAME}.git", NAME),
        (f"https://notgithub.com/{NAME}.git", ""),
    ],
)
def test_doctor_on_a_local_checkout_examines_the_repository_of_its_remote(
    project: Path, server: GitHubServer, remote: str, asked: str
) -> None:
    git(project, "remote", "set-url", "origin", remote)

    shown = _doctor(
        project, server, GITHUB_REPOSITORY="", CIGUARD_BASELINE=str(project / "baseline")
    )

    if asked:
        assert _lines(shown, "repository")[0] == "ok repository: default branch main"
    else:
        assert "GITHUB_REPOSITORY is not set, and no git remote" in _lines(shown, "github")[0]


def test_doctor_offline_matches_its_snapshot(project: Path) -> None:
    shown = _doctor(project, None, "--offline", CIGUARD_CACHE=str(project / "cache"))

    varying = {
        r"system: .*": "system: <system>",
        r"python: .*": "python: <version>",
        r"git: \d.*": "git: <version>",
        r"\w+ +disk: .*\n( {13}.*\n)?": "<disk>\n",
        r"Total: .*": "Total: <counts>",
    }
    for pattern, placeholder in varying.items():
        shown = re.sub(pattern, placeholder, shown)
    assert_matches("doctor-offline", shown, folder=project)


def test_schedule_disabled_by_github_is_a_problem(project: Path, server: GitHubServer) -> None:
    server.settings.workflows[NIGHTLY] = "disabled_inactivity"

    shown = _doctor(project, server)

    assert shown.startswith("exit 1\n")
    (line,) = _lines(shown, "schedule")
    assert "after 60 days without a commit" in line
    assert "gh workflow enable ciguard-nightly.yml" in line


def test_ruleset_that_blocks_the_baseline_is_a_problem(project: Path, server: GitHubServer) -> None:
    parameters = {
        "dismiss_stale_reviews_on_push": False,
        "require_code_owner_review": False,
        "require_last_push_approval": False,
        "required_approving_review_count": 1,
        "required_review_thread_resolution": False,
    }
    rule = {"type": "pull_request", "parameters": parameters}
    server.settings.rules["ciguard-baseline"] = [rule, {"type": "required_signatures"}]

    shown = _doctor(project, server)

    assert shown.startswith("exit 1\n")
    (line,) = _lines(shown, "baseline branch")
    assert "requires a pull request: runs cannot write ciguard-baseline" in line


def test_required_signatures_are_ok_because_the_api_signs(
    project: Path, server: GitHubServer
) -> None:
    server.settings.rules["ciguard-baseline"] = [{"type": "required_signatures"}]

    shown = _doctor(project, server)

    assert shown.startswith("exit 0\n")
    (line,) = _lines(shown, "baseline branch")
    writing = "runs write ciguard-baseline through GitHub's API, which signs the commits"
    assert line == f"ok baseline branch: {writing}"


def test_wrong_required_check_is_a_problem(project: Path, server: GitHubServer) -> None:
    server.settings.rules["main"] = [required("ciguard")]

    shown = _doctor(project, server)

    assert shown.startswith("exit 1\n")
    assert f"Require `{CHECK}` instead." in _lines(shown, "required check")[0]


def test_merge_queue_without_the_required_check_is_a_problem(
    project: Path, server: GitHubServer
) -> None:
    path = project / GUARD
    path.write_text(re.sub(r"\n  merge_group:.*", "", path.read_text("utf-8")), "utf-8")

    shown = _doctor(project, server)

    assert shown.startswith("exit 1\n")
    assert (
        "the merge queue requires ciguard / Verdict, but no workflow reports this check"
        in _lines(shown, "required check")[0]
    )


def test_missing_required_check_label_and_issues_are_warnings(
    project: Path, server: GitHubServer
) -> None:
    server.settings.rules.clear()
    server.repository.labels.clear()
    server.repository.has_issues = False

    shown = _doctor(project, server)

    assert shown.startswith("exit 0\n")
    for subject in ("required check", "label", "issues"):
        assert _lines(shown, subject)[0].startswith("warning ")


def _wants_gpu(project: Path, label: str = "GPU-linux") -> None:
    """Name a runner for a GPU where the nightly workflow calls guard.yml."""
    path = project / NIGHTLY
    text = re.sub(r"( +)mode: batch", rf"\g<0>\n\1gpu-runner: {label}", path.read_text("utf-8"))
    assert "gpu-runner" in text
    path.write_text(text, "utf-8")


@pytest.mark.parametrize(
    ("registered", "expected"),
    [
        (runner("gpu-linux", "a100"), "ok runners: gpu-linux online"),
        (
            runner("gpu-linux", is_online=False),
            "problem runners: no runner with the label gpu-linux is online",
        ),
        (runner("gpu"), "warning runners: this repository has no runner with the label gpu-linux"),
    ],
)
def test_self_hosted_runners_are_checked_by_label(
    project: Path, server: GitHubServer, registered: dict[str, Any], expected: str
) -> None:
    _wants_gpu(project)
    server.settings.runners = [registered]

    assert _lines(_doctor(project, server), "runners")[0].startswith(expected)


def test_runners_on_all_pages_are_checked(project: Path, server: GitHubServer) -> None:
    _wants_gpu(project)
    server.settings.runners = [*(runner("other") for _ in range(150)), runner("gpu-linux")]

    assert _lines(_doctor(project, server), "runners")[0].startswith("ok ")


def test_runner_must_have_all_labels_of_a_list(project: Path, server: GitHubServer) -> None:
    _wants_gpu(project, """'["self-hosted", "a100"]' # the big one""")
    server.settings.runners = [runner("h100")]

    (line,) = _lines(_doctor(project, server), "runners")
    assert line.startswith(
        "warning runners: this repository has no runner with the label a100 + self-hosted"
    )

    server.settings.runners.append(runner("a100"))

    assert _lines(_doctor(project, server), "runners")[0].startswith("ok ")


def test_runners_that_cannot_be_listed_are_reported_by_label(
    project: Path, server: GitHubServer
) -> None:
    _wants_gpu(project)
    server.settings.is_admin = False

    (line,) = _lines(_doctor(project, server), "runners")

    assert line.startswith("not checked runners: gpu-linux: only administrators can list runners")


def test_github_hosted_runners_are_not_checked(project: Path, server: GitHubServer) -> None:
    _wants_gpu(project, "ubuntu-24.04-arm")

    assert "runners:" not in _doctor(project, server)


def test_archived_repository_is_a_problem(project: Path, server: GitHubServer) -> None:
    server.repository.is_archived = True

    assert "Unarchive it." in _lines(_doctor(project, server), "repository")[0]


def test_settings_that_the_token_cannot_read_are_not_checked(
    project: Path, server: GitHubServer
) -> None:
    server.settings.may_read_actions = False

    shown = _doctor(project, server)

    assert shown.startswith("exit 0\n")
    assert _lines(shown, "schedule")[0].startswith("not checked schedule:")


def test_invalid_token_is_reported_without_its_value(project: Path, server: GitHubServer) -> None:
    shown = _doctor(project, server, GITHUB_TOKEN=STRANGE)

    assert shown.startswith("exit 0\n")
    assert "is invalid; create a new token" in _lines(shown, "repository")[0]
    assert STRANGE not in shown


def test_unreachable_github_gets_a_single_request(project: Path) -> None:
    with GitHubServer() as gone:
        address = gone.address()

    shown = _doctor(project, None, GITHUB_API_URL=address, GITHUB_REPOSITORY=NAME)

    assert shown.startswith("exit 0\n")
    assert "GitHub cannot be reached" in _lines(shown, "repository")[0]
    assert "required check" not in shown


@pytest.mark.parametrize(
    ("ref", "subject", "health", "text"),
    [
        ("OWNER/ciguard@COMMIT", "pin", "problem", "a placeholder from the documentation"),
        ("owner/ciguard@v1", "pin", "warning", "controls your workflows"),
        (f"owner/ciguard@{'9' * 40}", "version", "warning", "2 different commits"),
    ],
)
def test_invalid_pin_is_reported(
    project: Path, ref: str, subject: str, health: str, text: str
) -> None:
    path = project / NIGHTLY
    other = ref.replace("@", "/.github/workflows/guard.yml@")
    written = re.sub(r"uses: owner/ciguard\S+", f"uses: {other}", path.read_text("utf-8"))
    path.write_text(written, "utf-8")

    lines = _lines(_doctor(project, None, "--offline"), subject)

    assert [line for line in lines if line.startswith(health) and text in line], lines


def test_workflows_with_another_commit_are_reported(project: Path) -> None:
    shown = _doctor(project, None, "--offline", CIGUARD_PROJECT=f"owner/ciguard@{'9' * 40}")

    assert (
        "use another commit than the installed ciguard (999999999999)"
        in _lines(shown, "version")[0]
    )


def test_missing_permission_is_a_problem(project: Path) -> None:
    path = project / FILING
    path.write_text(re.sub(r"\n *issues: write.*", "", path.read_text("utf-8")), "utf-8")

    shown = _doctor(project, None, "--offline")

    assert shown.startswith("exit 1\n")
    assert "does not grant issues: write" in _lines(shown, "permissions")[0]


def test_unresolved_upgrade_is_a_problem(project: Path) -> None:
    (project / f"{GUARD}.ciguard-merge").write_text("<<<<<<< yours\n", "utf-8")

    assert "left merge conflicts" in _lines(_doctor(project, None, "--offline"), "workflows")[0]


def test_old_baseline_is_a_warning(project: Path) -> None:
    from baseline_examples import record  # noqa: PLC0415

    from ciguard.baseline.store import FolderStore  # noqa: PLC0415

    stored = record()
    FolderStore(project / "kept").save({stored.fingerprint: stored})

    shown = _doctor(project, None, "--offline", CIGUARD_BASELINE=str(project / "kept"))

    assert _lines(shown, "baseline")[0].startswith("warning baseline: ")
    assert "1 buckets, last updated" in _lines(shown, "baseline")[0]


def test_unreachable_remote_is_not_checked(project: Path) -> None:
    git(project, "remote", "set-url", "origin", str(project / "nowhere"))

    shown = _doctor(project, None, "--offline")

    assert shown.startswith("exit 0\n")
    assert _lines(shown, "baseline")[0].startswith("not checked baseline: ")


def test_damaged_baseline_is_a_problem(project: Path) -> None:
    folder = project / "kept"
    folder.mkdir()
    (folder / "buckets.jsonl").write_text("{}\n", "utf-8")

    shown = _doctor(project, None, "--offline", CIGUARD_BASELINE=str(folder))

    assert shown.startswith("exit 1\n")


def test_empty_folder_has_no_workflows_and_no_problem(tmp_path: Path) -> None:
    shown = _doctor(tmp_path, None, "--offline")

    assert "Run `ciguard init` to write them" in _lines(shown, "workflows")[0]
    assert shown.startswith("exit 0\n")


def test_doctor_with_invalid_arguments_exits_with_2(tmp_path: Path) -> None:
    done = answer("doctor", "--baseline", "git+origin#a..b", folder=tmp_path)

    assert done.returncode == 2
