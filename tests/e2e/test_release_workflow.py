"""The release workflow from the tag to the moved `v0`; `make` and `gh` only note what is asked."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING

import pytest
from action_file import ROOT, WORKFLOWS, parsed
from action_runner import Trigger
from action_scenarios import git
from checkout_copy import copy_checkout
from surroundings import PROGRAMS
from workflow_runner import GitHub, WorkflowRun

import ciguard

if TYPE_CHECKING:
    from pathlib import Path

    from node_tools import Expressions

WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"
OURS = "somebody/ciguard"
TAG = f"v{ciguard.__version__}"
PACKAGES = [
    f"ciguard-{ciguard.__version__}-py3-none-any.whl",
    f"ciguard-{ciguard.__version__}.tar.gz",
]
BILL = f"release/ciguard-{ciguard.__version__}.cdx.json"
# Refuses what it is asked for the first time where the real one answers 404.
GH = """#!/bin/sh
printf '%s\\n' "$*" >> "$NOTED"
case "$*" in
  "release view "*) echo "$IS_DRAFT"; [ -n "$IS_DRAFT" ]; exit ;;
  "api --silent repos/somebody/ciguard/git/ref/tags/v0") exit "$NO_MOVING_TAG" ;;
esac
"""
MAKE = """#!/bin/sh
printf 'make %s\\n' "$*" >> "$NOTED"
[ "$*" != "$FAILS" ]
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return the repository of the project, tagged on its default branch."""
    folder = copy_checkout(tmp_path / "project")
    changelog = (folder / "CHANGELOG.md").read_text("utf-8")
    heading = f"## {ciguard.__version__} (unreleased)"
    dated = changelog.replace(heading, f"## {ciguard.__version__} (2026-02-03)")
    (folder / "CHANGELOG.md").write_text(dated, "utf-8")
    git(folder, "init", "--quiet", "--initial-branch", "main")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "Release")
    git(folder, "tag", TAG)
    return folder


class Release:
    """The workflow of a tag."""

    def __init__(self, folder: Path, expressions: Expressions, project: Path) -> None:
        self.noted = folder / "noted"
        self._folder = folder
        self._expressions = expressions
        self._project = project

    def of(self, tag: str, *, fork: bool = False, **variables: str) -> WorkflowRun:
        """Push a tag, and return what came of it."""
        usual = {"FAILS": "", "NO_MOVING_TAG": "1", "IS_DRAFT": "", "NOTED": str(self.noted)}
        github = GitHub(
            folder=self._folder / "runs",
            expressions=self._expressions,
            repositories={OURS: self._project},
            workflows_of=OURS,
            commit=git(self._project, "rev-parse", tag),
            variables={"PATH": str(self._programs()), **usual, **variables},
        )
        event = {"repository": {"default_branch": "main", "full_name": OURS, "fork": fork}}
        trigger = Trigger("push", event, ref=f"refs/tags/{tag}", repository=OURS)
        run = WorkflowRun(github, WORKFLOW, trigger, number="1")
        run.start()
        return run

    def _programs(self) -> Path:
        folder = self._folder / "programs"
        folder.mkdir()
        for program in PROGRAMS.iterdir():
            (folder / program.name).symlink_to(program)
        for name, script in {"gh": GH, "make": MAKE}.items():
            (folder / name).unlink(missing_ok=True)
            (folder / name).write_text(script, "utf-8")
            (folder / name).chmod(0o755)
        return folder


@pytest.fixture
def release(tmp_path: Path, expressions: Expressions, project: Path) -> Release:
    return Release(tmp_path, expressions, project)


def results(run: WorkflowRun) -> dict[str, str]:
    return {job: run.result(job) for job in run.jobs}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("no_moving_tag", "request_"),
    [
        (
            "1",
            "POST repos/somebody/ciguard/git/refs --raw-field ref=refs/tags/v0 --raw-field sha={}",
        ),
        (
            "0",
            "PATCH repos/somebody/ciguard/git/refs/tags/v0 --raw-field sha={} --field force=true",
        ),
    ],
)
def test_a_tag_is_tested_built_attested_and_published_in_this_order(
    no_moving_tag: str, request_: str, release: Release, project: Path
) -> None:
    run = release.of(TAG, NO_MOVING_TAG=no_moving_tag)

    commit = git(project, "rev-parse", TAG)
    published = run.artifacts.with_name("pypi")
    attested = [
        json.loads(line)
        for line in run.artifacts.with_name("attested.jsonl").read_text("utf-8").splitlines()
    ]
    assert set(results(run).values()) == {"success"}, run.log
    assert sorted(path.name for path in published.iterdir()) == PACKAGES
    with zipfile.ZipFile(published / PACKAGES[0]) as wheel:
        assert json.loads(wheel.read("ciguard/release.json")) == {
            "repository": OURS,
            "commit": commit,
            "tag": TAG,
        }
    assert [each["subjects"] for each in attested] == [PACKAGES, PACKAGES]
    assert [each["type"] for each in attested] == [
        "https://slsa.dev/provenance/v1",
        "https://cyclonedx.org/bom",
    ]
    assert attested[1]["predicate"]["bomFormat"] == "CycloneDX"
    noted = release.noted.read_text("utf-8").splitlines()
    assert noted == [
        "make test",
        "make test-slow",
        "make release-check",
        f"release view {TAG} --json isDraft --jq .isDraft",
        f"release create {TAG} --draft --verify-tag --title {TAG} --notes-file release/notes.md",
        f"release upload {TAG} --clobber dist/{PACKAGES[0]} dist/{PACKAGES[1]} {BILL}",
        f"release edit {TAG} --draft=false --latest=true",
        "api --silent repos/somebody/ciguard/git/ref/tags/v0",
        f"api --silent --method {request_.format(commit)}",
    ]
    notes = (run.artifacts / "release" / "notes.md").read_text("utf-8")
    assert notes.startswith("- `ciguard run` fuzzes")


@pytest.mark.slow
def test_an_older_release_is_not_the_latest_and_moves_no_tag(
    release: Release, project: Path
) -> None:
    git(project, "tag", "v0.99.0")

    run = release.of(TAG)

    noted = release.noted.read_text("utf-8").splitlines()
    assert (run.result("github"), run.result("moving-tag")) == ("success", "skipped"), run.log
    assert noted[-1] == f"release edit {TAG} --draft=false --latest=false"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("is_draft", "written"), [("true", ["view", "upload", "edit"]), ("false", ["view"])]
)
def test_a_second_attempt_goes_on_and_leaves_a_published_release_alone(
    release: Release, is_draft: str, written: list[str]
) -> None:
    run = release.of(TAG, IS_DRAFT=is_draft)

    noted = release.noted.read_text("utf-8").splitlines()
    assert set(results(run).values()) == {"success"}, run.log
    assert [line.split()[1] for line in noted if line.startswith("release ")] == written
    assert noted[-1].startswith("api --silent --method POST")


def test_package_that_is_already_on_the_index_is_skipped() -> None:
    (step,) = (
        step
        for step in parsed(WORKFLOW)["jobs"]["pypi"]["steps"]
        if step.get("uses", "").startswith("pypa/gh-action-pypi-publish@")
    )

    assert step["with"]["skip-existing"] == "true"


@pytest.mark.slow
def test_nothing_is_published_unless_all_tests_pass(release: Release) -> None:
    run = release.of(TAG, FAILS="release-check")

    assert results(run) == {
        "check": "success",
        "test": "failure",
        "build": "success",
        "attest": "skipped",
        "pypi": "skipped",
        "github": "skipped",
        "moving-tag": "skipped",
    }, run.log
    assert "release" not in {
        line.split()[0] for line in release.noted.read_text("utf-8").splitlines()
    }


def test_a_tag_of_another_version_is_refused(release: Release, project: Path) -> None:
    git(project, "tag", "v9.9.9")

    run = release.of("v9.9.9")

    assert_refused(run, "no section '## 9.9.9 (YYYY-MM-DD)'")
    assert not release.noted.exists()


def test_a_tag_beside_the_default_branch_is_refused(release: Release, project: Path) -> None:
    git(project, "checkout", "--quiet", "-b", "side")
    git(project, "commit", "--quiet", "--allow-empty", "--message", "beside")
    git(project, "tag", "--force", TAG)
    git(project, "checkout", "--quiet", "main")

    assert_refused(release.of(TAG), "The tag is on no commit of main")


def test_a_fork_releases_nothing(release: Release) -> None:
    assert set(results(release.of(TAG, fork=True)).values()) == {"skipped"}


def assert_refused(run: WorkflowRun, message: str) -> None:
    assert message in run.log
    assert results(run).pop("check") == "failure"
    assert {result for job, result in results(run).items() if job != "check"} == {"skipped"}


def test_only_jobs_without_a_checkout_can_write_or_sign() -> None:
    jobs = parsed(WORKFLOW)["jobs"]

    powerful = {name for name, job in jobs.items() if "write" in job["permissions"].values()}

    assert powerful == {"attest", "pypi", "github", "moving-tag"}
    for name in powerful:
        actions = [step.get("uses", "") for step in jobs[name]["steps"]]
        assert not any(action.startswith("actions/checkout@") for action in actions)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_scheduled_workflows_do_nothing_in_forks(path: Path) -> None:
    """Schedules and tags come along with a fork; nobody asked for their runs there."""
    read = parsed(path)
    if not {"schedule", "push"} & set(read["on"]) or "pull_request" in read["on"]:
        return

    first = [job for job in read["jobs"].values() if "needs" not in job]

    assert all("!github.event.repository.fork" in job.get("if", "") for job in first)
