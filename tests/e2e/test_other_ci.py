"""What `ciguard init --ci` writes for CI systems that are not GitHub, executed line by line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from action_file import ROOT, parsed
from action_scenarios import AFTER, BEFORE
from ciguard_command import answer, command
from git_examples import bare_repository, git

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ACTION = f"owner/ciguard@{'1' * 40}"
GITLAB = ".gitlab/ciguard.gitlab-ci.yml"
SECRET = "glpat-of-nobody"


def _settings(*targets: str) -> str:
    return f'targets = {json.dumps(targets)}\napi = ["planted.cube"]\nseed = 1\nmax-cases = 160\n'


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return what stands for the pinned commit: wheels of this checkout and of what is guarded."""
    folder = tmp_path_factory.mktemp("wheels")
    words = ["-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder)]
    subprocess.run([sys.executable, *words, ROOT, ROOT / "tests" / "planted"], check=True)
    return " ".join(map(str, sorted(folder.glob("*.whl"))))


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    return bare_repository(tmp_path / "project.git")


@pytest.fixture
def checkout(
    tmp_path: Path,
    remote: Path,
    installed: str,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """Return the checkout of a project that has committed what init writes."""
    monkeypatch.setenv("INSTALL_CIGUARD", installed)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    folder = tmp_path / "checkout"
    git(tmp_path, "clone", "--quiet", str(remote), str(folder))
    (folder / "ciguard.toml").write_text(_settings(BEFORE), "utf-8")
    done = answer(command("init", "--ci", request.param, "--action", ACTION), folder)
    assert done.returncode == 0, done.stderr
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "what init writes")
    git(folder, "push", "--quiet", "origin", "HEAD:refs/heads/main")
    return folder


def _environment(**variables: str) -> dict[str, str]:
    """Return what a job sees: a system's programs, and no ciguard among them."""
    kept = {
        k: v
        for k, v in os.environ.items()
        if k.startswith(("PIP_", "UV_", "SSL_", "HOME", "INSTALL_", "TMP"))
    }
    path = f"{sys.base_prefix}/bin:/usr/bin:/bin"
    names = {"GIT_AUTHOR_NAME": "a", "GIT_COMMITTER_NAME": "a"}
    mails = {"GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_EMAIL": "a@b"}
    short = {"NIGHTLY_BUDGET": "20s", "CIGUARD_BUDGET": "20s", "PIP_NO_COMPILE": "1"}
    short |= {"VIRTUAL_ENV": sys.prefix}  # what the target `current` means
    return {**kept, **names, **mails, **short, "PATH": path, "CI": "true", **variables}


def _bash(
    line: str, folder: Path, variables: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/bash", "-eo", "pipefail", "-c", line],
        cwd=folder,
        env=dict(variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=500,
        check=False,
    )


def _job(described: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a job with what it extends; variables are merged, all else is replaced."""
    job = described[name]
    if "extends" not in job:
        return dict(job)
    parent = _job(described, job["extends"])
    variables = {**parent.get("variables", {}), **job.get("variables", {})}
    return {**parent, **job, "variables": variables}


def _gitlab(
    name: str, folder: Path, remote: Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a job of the file as a runner would: variables are expanded, lines are one script."""
    job = _job(parsed(folder / GITLAB), name)
    of_pipeline = {"CI_PROJECT_URL": remote.with_suffix("").as_uri(), **variables}
    of_job = {
        key: text.replace("${CI_PROJECT_URL}", of_pipeline["CI_PROJECT_URL"])
        for key, text in job["variables"].items()
    }
    return _bash("\n".join(job["script"]), folder, _environment(**of_pipeline, **of_job))


def _opened(checkout: Path, **files: str) -> str:
    """Commit a change on a branch, and return the commit that it starts from."""
    base = git(checkout, "rev-parse", "origin/main")
    git(checkout, "checkout", "--quiet", "-B", "change", base)
    for name, text in files.items():
        (checkout / name.replace("__", ".")).write_text(text, "utf-8")
        git(checkout, "add", name.replace("__", "."))
    git(checkout, "commit", "--quiet", "--message", "a change")
    return base


@pytest.mark.lengthy
@pytest.mark.slow
@pytest.mark.parametrize("checkout", ["gitlab"], indirect=True)
def test_gitlab_jobs_keep_a_baseline_and_compare_with_it(checkout: Path, remote: Path) -> None:
    base = _opened(checkout, app__py="import planted\n")
    early = _gitlab("ciguard", checkout, remote, CI_MERGE_REQUEST_DIFF_BASE_SHA=base)
    git(checkout, "checkout", "--quiet", "--detach", base)
    night = _gitlab("ciguard-nightly", checkout, remote)
    kept = _gitlab("ciguard-baseline", checkout, remote, BASELINE_PUSH_TOKEN=SECRET)
    _opened(checkout, app__py="import planted\n")
    same = _gitlab("ciguard", checkout, remote, CI_MERGE_REQUEST_DIFF_BASE_SHA=base)
    _opened(checkout, ciguard__toml=_settings(BEFORE, AFTER))
    broken = _gitlab("ciguard", checkout, remote, CI_MERGE_REQUEST_DIFF_BASE_SHA=base)
    assert broken.returncode == 1, broken.stdout
    report = json.loads((checkout / ".ciguard/run/gl-code-quality-report.json").read_text("utf-8"))
    _opened(checkout, README__md="words\n")
    words = _gitlab("ciguard", checkout, remote, CI_MERGE_REQUEST_DIFF_BASE_SHA=base)

    assert early.returncode == 0, early.stdout
    assert "There is no baseline yet" in early.stdout
    assert night.returncode == 0, night.stdout
    assert kept.returncode == 0, kept.stdout
    assert git(remote, "rev-parse", "--verify", "refs/heads/ciguard-baseline")
    assert same.returncode == 0, same.stdout
    assert [issue for issue in report if issue["description"].lower().startswith("new")], report
    assert (words.returncode, "Nothing to test." in words.stdout) == (0, True), words.stdout
    for done in (early, night, kept, same, broken, words):
        assert SECRET not in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("checkout", ["cron"], indirect=True)
def test_cron_job_keeps_a_baseline_and_prints_nothing(checkout: Path, remote: Path) -> None:
    git(checkout, "branch", "--quiet", "--set-upstream-to", "origin/main")
    lines = (checkout / "ci" / "ciguard.crontab").read_text("utf-8").splitlines()
    (line,) = (text for text in lines if "* * *" in text)

    done = _bash(line.split(maxsplit=5)[5], checkout, _environment(CHECKOUT=str(checkout)))

    assert (done.returncode, done.stdout) == (0, "")
    assert git(remote, "rev-parse", "--verify", "refs/heads/ciguard-baseline")
