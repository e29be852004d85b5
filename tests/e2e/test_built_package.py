"""What is built from a checkout serves everything by itself: no clone, no checkout beside it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from action_file import ROOT
from action_scenarios import git
from checkout_copy import copy_checkout

import ciguard

if TYPE_CHECKING:
    from collections.abc import Sequence

BIN = Path(sys.executable).parent
COMMIT = "0123456789abcdef0123456789abcdef01234567"
TAG = f"v{ciguard.__version__}"
RELEASE = {"CIGUARD_PROJECT": f"somebody/ciguard@{COMMIT}", "CIGUARD_RELEASE_TAG": TAG}
HOME = "https://github.com/somebody/ciguard"


def ran(
    words: Sequence[str | Path], folder: Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a command outside of any environment."""
    outer = {name: text for name, text in os.environ.items() if name != "VIRTUAL_ENV"}
    return subprocess.run(
        words,
        cwd=folder,
        env=outer | variables,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


def built(source: Path, folder: Path, *words: str, **variables: str) -> dict[str, Path]:
    """Build into a folder, and return what was built by its ending."""
    done = ran([BIN / "uv", "build", "--out-dir", folder, *words, source], source, **variables)
    assert done.returncode == 0, done.stderr
    return {path.suffix: path for path in folder.iterdir() if path.name.startswith("ciguard")}


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the checkout, in which a build may leave files."""
    return copy_checkout(tmp_path_factory.mktemp("source"))


@pytest.fixture(scope="session")
def release(source: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return source distribution and wheel as the release workflow builds them."""
    epoch = {"SOURCE_DATE_EPOCH": "1700000000"}
    return built(source, tmp_path_factory.mktemp("release"), **RELEASE, **epoch)


def metadata(wheel: Path) -> str:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        return archive.read(name).decode()


def test_the_wheel_holds_every_file_of_the_package(release: dict[str, Path]) -> None:
    tracked = {
        name for name in git(ROOT, "ls-files", "ciguard").splitlines() if (ROOT / name).is_file()
    }

    with zipfile.ZipFile(release[".whl"]) as archive:
        assert tracked <= set(archive.namelist())
        assert json.loads(archive.read("ciguard/release.json")) == {
            "repository": "somebody/ciguard",
            "commit": COMMIT,
            "tag": TAG,
        }


def test_the_page_of_the_package_links_to_the_release(release: dict[str, Path]) -> None:
    text = metadata(release[".whl"])

    assert f"Project-URL: Homepage, {HOME}\n" in text
    assert f"]({HOME}/blob/{TAG}/docs/action.md)" in text
    assert f"uses: somebody/ciguard@{COMMIT} # {TAG}" in text
    assert "](docs/" not in text
    assert "OWNER/" not in text


@pytest.mark.slow
def test_a_build_is_the_same_byte_by_byte_and_the_source_distribution_knows_the_release(
    source: Path, release: dict[str, Path], tmp_path: Path
) -> None:
    epoch = {"SOURCE_DATE_EPOCH": "1700000000"}
    again = built(source, tmp_path / "again", **RELEASE, **epoch)
    with tarfile.open(release[".gz"]) as archive:
        if hasattr(tarfile, "data_filter"):  # Python 3.11.4 and later
            archive.extraction_filter = tarfile.data_filter
        archive.extractall(tmp_path / "unpacked")  # noqa: S202 - we have built it
    (unpacked,) = (tmp_path / "unpacked").iterdir()

    from_source = built(unpacked, tmp_path / "wheel", "--wheel", **epoch)

    assert again.keys() == release.keys() == {".gz", ".whl"}
    assert all(again[kind].read_bytes() == release[kind].read_bytes() for kind in again)
    assert from_source[".whl"].read_bytes() == release[".whl"].read_bytes()


@pytest.mark.slow
def test_a_build_that_is_no_release_names_no_address(source: Path, tmp_path: Path) -> None:
    wheel = built(source, tmp_path, "--wheel")[".whl"]

    with zipfile.ZipFile(wheel) as archive:
        assert "ciguard/release.json" not in archive.namelist()
    assert "Project-URL" not in metadata(wheel)


@pytest.mark.slow
def test_a_tag_of_another_version_builds_nothing(source: Path, tmp_path: Path) -> None:
    variables = RELEASE | {"CIGUARD_RELEASE_TAG": "v99.0"}

    done = ran([BIN / "uv", "build", "--out-dir", tmp_path, source], source, **variables)

    assert done.returncode != 0
    assert f"so its tag is '{TAG}'" in done.stderr
    assert list(tmp_path.glob("ciguard*")) == []


def test_one_command_writes_the_workflows_of_the_release(
    release: dict[str, Path], tmp_path: Path
) -> None:
    git(tmp_path, "init", "--quiet")

    done = ran([BIN / "uvx", "--from", release[".whl"], "ciguard", "init"], tmp_path)

    written = (tmp_path / ".github" / "workflows" / "ciguard.yml").read_text("utf-8")
    assert done.returncode == 0, done.stderr
    assert f"uses: somebody/ciguard/.github/workflows/guard.yml@{COMMIT} # {TAG}\n" in written


@pytest.mark.slow
def test_one_command_runs_a_campaign_on_the_library_beside_it(
    release: dict[str, Path], tmp_path: Path
) -> None:
    tool: list[str | Path] = [
        BIN / "uvx",
        "--from",
        release[".whl"],
        "--with",
        ROOT / "tests" / "planted",
        "ciguard",
    ]
    words = ["run", "--target", "current", "--api", "planted.checked", "--max-cases", "64"]

    done = ran([*tool, *words], tmp_path)

    assert done.returncode == 0, done.stderr
    assert "BASELINE ESTABLISHED" in done.stdout
    sarif = json.loads((tmp_path / ".ciguard" / "run" / "report.sarif").read_text("utf-8"))
    assert sarif["runs"][0]["tool"]["driver"]["informationUri"] == HOME


@pytest.mark.slow
def test_the_active_environment_is_the_users_and_not_that_of_the_tool(
    release: dict[str, Path], tmp_path: Path
) -> None:
    ran([BIN / "uv", "venv", "--quiet", "--python", sys.executable, "users"], tmp_path)
    users = tmp_path / "users" / "bin"
    path = {"PATH": f"{users}:{os.environ['PATH']}"}

    done = ran(
        [BIN / "uvx", "--from", release[".whl"], "ciguard", "run", "--target", "current"],
        tmp_path,
        **path,
    )

    assert done.returncode == 2
    assert f"inspecting {users}/python3\n" in done.stderr + done.stdout
