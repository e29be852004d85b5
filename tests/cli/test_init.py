"""`ciguard init` on repositories of several kinds, and its files under the checkers."""

from __future__ import annotations

import subprocess
import tomllib
from typing import TYPE_CHECKING

import pytest
from action_file import parsed
from command_server import answer
from workflow_checkers import actionlint, language_service, schema, zizmor

if TYPE_CHECKING:
    from pathlib import Path

ACTION = "owner/ciguard@0123456789abcdef0123456789abcdef01234567"

LIBRARY = '[project]\nname = "torch"\nversion = "2.14"\n'


def _repository(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    for words in (["init", "-q", "-b", "trunk"], ["add", "--all"]):
        subprocess.run(["/usr/bin/env", "git", "-C", folder, *words], check=True)
    return folder


def _init(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return answer("init", "--action", ACTION, *words, folder=folder)


def _files(folder: Path) -> dict[Path, str]:
    found = [*folder.glob(".github/workflows/ciguard*"), folder / "ciguard.toml"]
    return {path: path.read_text("utf-8") for path in found}


def test_init_of_a_dependent_project_uses_the_required_targets(tmp_path: Path) -> None:
    _repository(tmp_path, **{"requirements.txt": "tensorflow-cpu==2.21.0\n"})

    done = _init(tmp_path)

    assert done.returncode == 0, done.stderr
    assert "The targets are the versions that the project requires." in done.stdout
    assert "trunk is assumed" in done.stdout
    configured = tomllib.loads((tmp_path / "ciguard.toml").read_text("utf-8"))
    assert configured == {"budget": "3m", "fail-on": "medium"}  # named there, they would go stale
    assert '# targets = ["tensorflow-cpu==2.21.0"]' in (tmp_path / "ciguard.toml").read_text(
        "utf-8"
    )


def test_init_of_a_project_without_requirements_names_default_targets(tmp_path: Path) -> None:
    _repository(tmp_path, **{"README.md": "nothing\n"})

    _init(tmp_path)

    configured = tomllib.loads((tmp_path / "ciguard.toml").read_text("utf-8"))
    assert "torch==2.13.0" in configured["targets"]


def test_init_of_a_library_compares_wheels_that_a_job_builds(tmp_path: Path) -> None:
    _repository(tmp_path, **{"pyproject.toml": LIBRARY})

    assert "This repository builds torch" in _init(tmp_path).stdout
    jobs = {
        name: parsed(tmp_path / ".github" / "workflows" / name)["jobs"]
        for name in ("ciguard.yml", "ciguard-nightly.yml")
    }
    for called in jobs.values():
        assert called["ciguard"]["needs"] == "wheels"
        assert called["ciguard"]["with"]["wheel"] == ".ciguard-wheels/head/*.whl"
    assert jobs["ciguard.yml"]["ciguard"]["with"]["base-wheel"] == ".ciguard-wheels/base/*.whl"


def test_init_uses_the_gpu_runner_of_another_workflow(tmp_path: Path) -> None:
    text = "on: push\njobs:\n  test:\n    runs-on: [self-hosted, gpu-t4]\n"
    _repository(tmp_path, **{".github__workflows__test.yml": text})

    _init(tmp_path)

    called = parsed(tmp_path / ".github" / "workflows" / "ciguard.yml")["jobs"]["ciguard"]["with"]
    assert (called["devices"], called["gpu-runner"]) == ("cpu,cuda", "gpu-t4")


def test_second_init_changes_nothing(tmp_path: Path) -> None:
    _repository(tmp_path, **{"requirements.txt": "torch==2.13.0\n"})
    _init(tmp_path)
    before = _files(tmp_path)

    again = _init(tmp_path)

    assert _files(tmp_path) == before
    assert again.stdout.count(": unchanged") == 4


def test_init_overwrites_edited_files_only_with_force(tmp_path: Path) -> None:
    _repository(tmp_path, **{"ciguard.toml": 'budget = "9m"\n'})

    kept = _init(tmp_path)
    unchanged = (tmp_path / "ciguard.toml").read_text("utf-8")
    _init(tmp_path, "--force")

    assert "ciguard.toml: kept: the file has other content" in kept.stdout
    assert unchanged == 'budget = "9m"\n'
    assert 'budget = "3m"' in (tmp_path / "ciguard.toml").read_text("utf-8")


def test_init_keeps_a_configuration_in_pyproject(tmp_path: Path) -> None:
    _repository(tmp_path, **{"pyproject.toml": '[tool.ciguard]\nbudget = "9m"\n'})

    done = _init(tmp_path)

    assert "The existing configuration in pyproject.toml is kept." in done.stdout
    assert not (tmp_path / "ciguard.toml").exists()


def test_init_rejects_an_invalid_action(tmp_path: Path) -> None:
    _repository(tmp_path)

    done = _init(tmp_path, "--action", "ciguard; rm -rf /")

    assert done.returncode == 2
    assert "Write --action OWNER/NAME@COMMIT" in done.stderr
    assert not (tmp_path / "ciguard.toml").exists()


@pytest.mark.parametrize("text", ["OWNER/ciguard@COMMIT", f"OWNER/ciguard@{'0' * 40}"])
def test_init_rejects_a_placeholder_of_the_documentation(tmp_path: Path, text: str) -> None:
    _repository(tmp_path)

    done = _init(tmp_path, "--action", text)

    assert done.returncode == 2
    assert "a placeholder from the documentation" in done.stderr
    assert not (tmp_path / "ciguard.toml").exists()


def test_init_names_no_unknown_release(tmp_path: Path) -> None:
    _repository(tmp_path)

    _init(tmp_path)

    for path, text in _files(tmp_path).items():
        assert "# v" not in text.replace("actions/", "").partition(f"@{ACTION[-40:]}")[2][:10], path


def test_check_runs_in_a_merge_queue(tmp_path: Path) -> None:
    _repository(tmp_path, **{"pyproject.toml": LIBRARY})

    _init(tmp_path)

    written = parsed(tmp_path / ".github" / "workflows" / "ciguard.yml")
    assert set(written["on"]) == {"pull_request", "merge_group"}


def test_init_warns_of_a_movable_ref(tmp_path: Path) -> None:
    _repository(tmp_path)

    assert "v1 is not a commit" in _init(tmp_path, "--action", "owner/ciguard@v1").stdout


@pytest.fixture(params=["", LIBRARY], ids=["project", "library"])
def written(tmp_path: Path, request: pytest.FixtureRequest) -> list[Path]:
    text = "on: push\njobs:\n  test:\n    runs-on: gpu-t4\n"
    _repository(tmp_path, **{".github__workflows__test.yml": text, "pyproject.toml": request.param})
    _init(tmp_path)
    return sorted((tmp_path / ".github" / "workflows").glob("ciguard*.yml"))


def test_written_workflows_pass_the_checkers(written: list[Path]) -> None:
    assert len(written) == 3
    for done in (zizmor(*written), language_service(*written), *map(schema, written)):
        assert done.returncode == 0, done.stdout + done.stderr
    assert actionlint(*written) == []
