"""Tests see the surroundings of tests, whatever the user's are."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from pathlib import Path

import surroundings

from ciguard.config import SourceKind, load_config
from ciguard.targets import cache_folder


def test_environment_holds_no_setting_of_user_or_job() -> None:
    prefixes = ("CIGUARD_", "GITHUB_", "RUNNER_", "ACTIONS_", "GIT_AUTHOR", "GIT_COMMITTER")

    assert [name for name in os.environ if name.startswith(prefixes)] == []
    assert not {"CI", "TESSDATA_PREFIX", "LC_ALL", "PYTHONPATH", "NO_COLOR"} & os.environ.keys()


def test_home_and_caches_are_not_the_users() -> None:
    real = Path(pwd.getpwuid(os.getuid()).pw_dir)

    assert Path.home() != real
    assert not (Path.home() / ".gitconfig").exists()
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        assert Path(os.environ[name]).is_relative_to(
            surroundings.CACHE if name == "XDG_CACHE_HOME" else Path.home()
        )
    assert cache_folder().is_relative_to(surroundings.CACHE)


def test_git_has_no_settings() -> None:
    listed = subprocess.run(
        ["git", "config", "--list"],  # noqa: S607 - the one that tests find
        capture_output=True,
        text=True,
        check=False,
    )

    assert listed.stdout == ""


def test_working_folder_is_empty_and_outside_the_checkout() -> None:
    assert list(Path.cwd().iterdir()) == []
    assert not Path.cwd().is_relative_to(surroundings.ROOT)


def test_undeclared_program_is_not_found() -> None:
    assert shutil.which("git")
    assert shutil.which("tesseract")
    assert shutil.which("perl") is None
    assert shutil.which("node") is None


def test_configuration_of_the_checkout_is_not_found() -> None:
    sources = {source.kind for *_, source in load_config({}, os.environ, folder=Path.cwd()).shown()}

    assert sources == {SourceKind.DEFAULT}


def test_new_files_are_readable_by_others(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o644
