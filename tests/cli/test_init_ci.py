"""`ciguard init --ci`: templates for CI systems that are not GitHub, under their checkers."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from command_server import answer
from git_examples import git
from workflow_checkers import tool

from ciguard.actions import CI_SYSTEMS

ACTION = f"owner/ciguard@{'1' * 40}"
SCRIPT = "ci/ciguard.sh"
FILES = {
    "gitlab": ".gitlab/ciguard.gitlab-ci.yml",
    "jenkins": "ci/ciguard.Jenkinsfile",
    "cron": "ci/ciguard.crontab",
}
TOKEN = "BASELINE_PUSH_TOKEN"


def test_every_other_ci_system_gets_its_own_file() -> None:
    assert {"github", *FILES} == set(CI_SYSTEMS)


@pytest.fixture
def written(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    git(tmp_path, "init", "--quiet", "--initial-branch", "trunk")
    done = answer("init", "--ci", request.param, "--action", ACTION, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    return tmp_path


@pytest.mark.parametrize("written", FILES, indirect=True)
def test_script_is_valid_bash_and_installs_the_pinned_commit(written: Path) -> None:
    script = written / SCRIPT
    subprocess.run(["/bin/bash", "-n", script], check=True)

    assert f"git+https://github.com/{ACTION}" in script.read_text("utf-8")
    assert not (written / ".github").exists()
    assert (written / "ciguard.toml").is_file()


@pytest.mark.parametrize("words", [[], ["guess"], ["judge"]])
@pytest.mark.parametrize("written", ["cron"], indirect=True)
def test_script_with_wrong_usage_fails(written: Path, words: list[str]) -> None:
    done = subprocess.run(
        ["/bin/bash", written / SCRIPT, *words],
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    assert done.returncode != 0
    assert "usage" in done.stderr or "the commit that the change starts from" in done.stderr


def _judge(project: Path, programs: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the script's `judge` with this checkout's ciguard in the place of an installed one."""
    programs.mkdir()
    venv = ".ciguard/venv/bin"
    command = Path(sys.executable).with_name("ciguard")
    (programs / "python3").write_text(
        f"#!/bin/sh\nmkdir -p {venv}\nln -sf /bin/true {venv}/python\n"
        f"ln -sf {shlex.quote(str(command))} {venv}/ciguard\n",
        "utf-8",
    )
    (programs / "python3").chmod(0o755)
    return subprocess.run(
        ["/bin/bash", project / SCRIPT, "judge", "HEAD"],
        env={**os.environ, "PATH": f"{programs}:/usr/bin:/bin", **variables},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def _commit_with_targets(project: Path, targets: str) -> None:
    (project / "ciguard.toml").write_text(f"targets = {targets}\n", "utf-8")
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message", "what init writes")
    (project / "app.py").write_text("import torch\n", "utf-8")
    git(project, "add", "--all")


@pytest.mark.parametrize("written", ["cron"], indirect=True)
def test_unreachable_baseline_does_not_count_as_missing(written: Path, tmp_path: Path) -> None:
    _commit_with_targets(written, '["torch==2.13.0", "torch==2.12.0"]')
    nowhere = (tmp_path / "nowhere").as_uri()

    done = _judge(written, tmp_path / "programs", BASELINE_REPOSITORY=nowhere)

    assert done.returncode == 3, done.stdout + done.stderr
    assert "There is no baseline yet" not in done.stdout
    assert "git ls-remote failed with 128: set BASELINE_REPOSITORY" in done.stderr


@pytest.mark.parametrize("written", ["cron"], indirect=True)
def test_plan_without_runnable_rows_does_not_pass(written: Path, tmp_path: Path) -> None:
    _commit_with_targets(written, '["torch==2.13.0@cuda:0"]')

    done = _judge(written, tmp_path / "programs")

    assert done.returncode == 3, done.stdout + done.stderr
    assert "no runner with a GPU is configured" in done.stdout
    assert "Nothing to test." not in done.stdout


@pytest.mark.parametrize("written", ["gitlab"], indirect=True)
def test_gitlab_file_matches_its_schema(written: Path) -> None:
    path = written / FILES["gitlab"]

    done = tool("check-jsonschema", "--builtin-schema", "vendor.gitlab-ci", path)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("written", ["gitlab"], indirect=True)
def test_only_the_gitlab_job_that_pushes_the_baseline_gets_the_token(written: Path) -> None:
    described: dict[str, Any] = yaml.safe_load((written / FILES["gitlab"]).read_text("utf-8"))

    scoped = [name for name, job in described.items() if "environment" in job]

    assert scoped == ["ciguard-baseline"]
    assert described["ciguard-baseline"]["script"] == ["bash ci/ciguard.sh keep"]
    assert TOKEN not in yaml.safe_dump(described)  # GitLab gives it by the environment's scope


@pytest.mark.parametrize("written", ["jenkins"], indirect=True)
def test_only_the_jenkins_stage_that_pushes_the_baseline_gets_credentials(written: Path) -> None:
    text = (written / FILES["jenkins"]).read_text("utf-8")

    stages = re.split(r"\n    stage\(", text)[1:]

    assert [stage.partition("'")[2].partition("'")[0] for stage in stages] == [
        "Test the change",
        "Run the nightly campaign",
        "Update the baseline",
    ]
    assert ["withCredentials" in stage for stage in stages] == [False, False, True]
    assert "branch 'trunk'" in text
    # Groovy would put the branch's name into the script; in single quotes the shell reads it.
    assert re.findall(r"\n +sh (.)", text) == ["'", "'", "'"]
    assert text.count("{") == text.count("}")


@pytest.mark.parametrize("written", ["cron"], indirect=True)
def test_crontab_line_has_five_time_fields_and_no_percent_sign(written: Path) -> None:
    lines = (written / FILES["cron"]).read_text("utf-8").splitlines()
    (line,) = (text for text in lines if "* * *" in text)

    assert re.match(r"\d{1,2} \d \* \* \* cd ", line)
    assert "%" not in line  # cron takes it for the end of the line


@pytest.mark.parametrize("written", ["gitlab"], indirect=True)
def test_upgrade_keeps_the_ci_system(written: Path) -> None:
    newer = ACTION.replace("1", "2")

    done = answer("init", "--upgrade", "--action", newer, folder=written)

    assert done.returncode == 0, done.stderr
    assert f"{SCRIPT}: upgraded" in done.stdout
    assert newer in (written / SCRIPT).read_text("utf-8")
    assert not (written / ".github").exists()


@pytest.mark.parametrize("written", ["gitlab"], indirect=True)
def test_force_overwrites_files_of_the_recorded_ci_system(written: Path) -> None:
    script = written / SCRIPT
    text = script.read_text("utf-8")
    script.write_text("# mine\n", "utf-8")

    done = answer("init", "--force", "--action", ACTION, folder=written)

    assert done.returncode == 0, done.stderr
    assert script.read_text("utf-8") == text
    assert not (written / ".github").exists()


@pytest.mark.parametrize("written", ["gitlab"], indirect=True)
def test_damaged_record_is_overwritten_only_with_force(written: Path) -> None:
    record = written / ".ciguard-init.json"
    record.write_text("{", "utf-8")

    refused = answer("init", "--action", ACTION, folder=written)
    forced = answer("init", "--force", "--ci", "gitlab", "--action", ACTION, folder=written)

    assert refused.returncode == 2
    assert forced.returncode == 0, forced.stderr
    assert ".ciguard-init.json: cannot be read" in forced.stdout
    assert '"ci": "gitlab"' in record.read_text("utf-8")
