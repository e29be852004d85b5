"""`ciguard init --ci`: templates for CI systems that are not GitHub, under their checkers."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from command_server import answer
from git_examples import git
from workflow_checkers import tool

from ciguard.actions import CI_SYSTEMS

if TYPE_CHECKING:
    from pathlib import Path

ACTION = f"owner/ciguard@{'1' * 40}"
SCRIPT = "ci/ciguard.sh"
FILES = {
    "gitlab": ".gitlab/ciguard.gitlab-ci.yml",
    "jenkins": "ci/ciguard.Jenkinsfile",
    "cron": "ci/ciguard.crontab",
}
TOKEN = "BASELINE_PUSH_TOKEN"  # noqa: S105 - the name of a variable


def test_every_ci_system_but_github_has_a_file_of_its_own() -> None:
    assert {"github", *FILES} == set(CI_SYSTEMS)


@pytest.fixture
def written(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    git(tmp_path, "init", "--quiet", "--initial-branch", "trunk")
    done = answer("init", "--ci", request.param, "--action", ACTION, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    return tmp_path


@pytest.mark.parametrize("written", FILES, indirect=True)
def test_the_script_is_bash_that_installs_the_pinned_commit(written: Path) -> None:
    script = written / SCRIPT
    subprocess.run(["/bin/bash", "-n", script], check=True)

    assert f"git+https://github.com/{ACTION}" in script.read_text("utf-8")
    assert not (written / ".github").exists()
    assert (written / "ciguard.toml").is_file()


@pytest.mark.parametrize("words", [[], ["guess"], ["judge"]])
@pytest.mark.parametrize("written", ["cron"], indirect=True)
def test_the_script_ends_otherwise_than_clean_where_it_cannot_know(
    written: Path, words: list[str]
) -> None:
    done = subprocess.run(
        ["/bin/bash", written / SCRIPT, *words],
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    assert done.returncode != 0
    assert "usage" in done.stderr or "the commit that the change starts from" in done.stderr


@pytest.mark.parametrize("written", ["gitlab"], indirect=True)
def test_the_file_for_gitlab_is_valid_by_its_schema(written: Path) -> None:
    path = written / FILES["gitlab"]

    done = tool("check-jsonschema", "--builtin-schema", "vendor.gitlab-ci", path)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("written", ["gitlab"], indirect=True)
def test_only_the_job_that_keeps_the_baseline_is_given_the_token(written: Path) -> None:
    described: dict[str, Any] = yaml.safe_load((written / FILES["gitlab"]).read_text("utf-8"))

    scoped = [name for name, job in described.items() if "environment" in job]

    assert scoped == ["ciguard-baseline"]
    assert described["ciguard-baseline"]["script"] == ["bash ci/ciguard.sh keep"]
    assert TOKEN not in yaml.safe_dump(described)  # GitLab gives it by the environment's scope


@pytest.mark.parametrize("written", ["jenkins"], indirect=True)
def test_only_the_stage_that_keeps_the_baseline_has_credentials(written: Path) -> None:
    text = (written / FILES["jenkins"]).read_text("utf-8")

    stages = re.split(r"\n    stage\(", text)[1:]

    assert [stage.partition("'")[2].partition("'")[0] for stage in stages] == [
        "Judge the change",
        "Fuzz at length",
        "Keep the baseline",
    ]
    assert ["withCredentials" in stage for stage in stages] == [False, False, True]
    assert "branch 'trunk'" in text
    # Groovy would put the branch's name into the script; in single quotes the shell reads it.
    assert re.findall(r"\n +sh (.)", text) == ["'", "'", "'"]
    assert text.count("{") == text.count("}")


@pytest.mark.parametrize("written", ["cron"], indirect=True)
def test_the_line_of_cron_has_five_times_and_no_percent_sign(written: Path) -> None:
    lines = (written / FILES["cron"]).read_text("utf-8").splitlines()
    (line,) = (text for text in lines if "* * *" in text)

    assert re.match(r"\d{1,2} \d \* \* \* cd ", line)
    assert "%" not in line  # cron takes it for the end of the line


@pytest.mark.parametrize("written", ["gitlab"], indirect=True)
def test_an_upgrade_stays_with_the_ci_system(written: Path) -> None:
    newer = ACTION.replace("1", "2")

    done = answer("init", "--upgrade", "--action", newer, folder=written)

    assert done.returncode == 0, done.stderr
    assert f"{SCRIPT}: upgraded" in done.stdout
    assert newer in (written / SCRIPT).read_text("utf-8")
    assert not (written / ".github").exists()
