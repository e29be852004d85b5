"""`ciguard init --upgrade` in real repositories: what is new arrives, and no edit is lost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from command_server import answer
from git_examples import git

from ciguard.actions import RECORD
from ciguard.actions.upgrading import MERGE_SUFFIX

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

OLD, NEW, NEWER = (f"owner/ciguard@{digit * 40}" for digit in "123")
GUARD = ".github/workflows/ciguard.yml"
NIGHTLY = ".github/workflows/ciguard-nightly.yml"
CONFIGURATION = "ciguard.toml"


def _init(folder: Path, action: str, *words: str) -> subprocess.CompletedProcess[str]:
    return answer("init", "--action", action, *words, folder=folder)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a checkout in which an older ciguard has written its files."""
    git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    (tmp_path / "requirements.txt").write_text("torch==2.13.0\n", "utf-8")
    _commit(tmp_path)
    done = _init(tmp_path, OLD)
    assert done.returncode == 0, done.stderr
    _commit(tmp_path)
    return tmp_path


def _commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "a step")


def _edit(path: Path, before: str, after: str) -> None:
    text = path.read_text("utf-8")
    assert before in text
    path.write_text(text.replace(before, after), "utf-8")


def _state(folder: Path) -> dict[str, str]:
    """Return the text of every file that is not git's or the record."""
    files = (path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for path in files
        if path.name != RECORD
    }


def test_upgrade_replaces_unedited_files(project: Path, tmp_path: Path) -> None:
    done = _init(project, NEW, "--upgrade")

    assert done.returncode == 0, done.stderr
    assert done.stdout.count(": upgraded") == 3
    assert "ciguard.toml: unchanged" in done.stdout
    assert OLD.partition("@")[2] not in "".join(_state(project).values())
    fresh = tmp_path.with_name("fresh")
    fresh.mkdir()
    git(fresh, "init", "--quiet", "--initial-branch", "main")
    (fresh / "requirements.txt").write_text("torch==2.13.0\n", "utf-8")
    _commit(fresh)
    _init(fresh, NEW)
    assert _state(project) == _state(fresh)


def test_upgrade_keeps_an_edit_and_updates_the_pins(project: Path) -> None:
    _edit(project / NIGHTLY, "budget: 1h", "budget: 3h")
    _edit(project / CONFIGURATION, 'fail-on = "medium"', 'fail-on = "low"')
    _commit(project)

    done = _init(project, NEW, "--upgrade")

    assert done.returncode == 0, done.stderr
    assert f"{NIGHTLY}: merged: your changes are kept" in done.stdout
    text = (project / NIGHTLY).read_text("utf-8")
    assert "budget: 3h" in text
    assert NEW.partition("@")[2] in text
    assert 'fail-on = "low"' in (project / CONFIGURATION).read_text("utf-8")


def test_upgrade_of_a_shallow_clone_keeps_an_edit_of_the_first_commit(
    project: Path, tmp_path: Path
) -> None:
    _edit(project / NIGHTLY, "budget: 1h", "budget: 3h")
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--amend", "--message", "all at once")
    clone = tmp_path.with_name("clone")
    git(tmp_path, "clone", "--quiet", "--depth", "1", project.as_uri(), str(clone))

    done = _init(clone, NEW, "--upgrade")

    assert done.returncode == 0, done.stderr
    text = (clone / NIGHTLY).read_text("utf-8")
    assert "budget: 3h" in text
    assert NEW.partition("@")[2] in text


def test_added_targets_are_not_a_conflict(project: Path) -> None:
    path = project / CONFIGURATION
    path.write_text('targets = ["torch==2.12.0"]\n' + path.read_text("utf-8"), "utf-8")

    done = _init(project, NEW, "--upgrade")

    assert done.returncode == 0, done.stderr
    assert path.read_text("utf-8").startswith('targets = ["torch==2.12.0"]\n')


OWN = "uses: fork/ciguard/.github/workflows/guard.yml@v9"
WRITTEN = f"uses: owner/ciguard/.github/workflows/guard.yml@{'1' * 40}"


def test_conflict_changes_no_file_and_is_written_beside_it(project: Path) -> None:
    _edit(project / GUARD, WRITTEN, OWN)
    _edit(project / NIGHTLY, "budget: 1h", "budget: 3h")
    before = _state(project)

    done = _init(project, NEW, "--upgrade")
    after = _state(project)
    again = _init(project, NEW, "--upgrade")

    assert (done.returncode, again.returncode) == (2, 2)
    assert f"Resolve the conflicts in {GUARD}{MERGE_SUFFIX}" in done.stderr
    assert _state(project) == after
    marked = after.pop(f"{GUARD}{MERGE_SUFFIX}")
    assert after == before
    assert OWN in marked
    assert f"guard.yml@{'2' * 40}" in marked
    assert "<<<<<<< yours" in marked


def test_resolution_is_merged_with_later_edits(project: Path) -> None:
    _edit(project / GUARD, WRITTEN, OWN)
    _edit(project / NIGHTLY, "budget: 1h", "budget: 3h")
    before = _state(project)
    side = project / f"{GUARD}{MERGE_SUFFIX}"
    _init(project, NEW, "--upgrade")
    side.write_text(before[GUARD].replace("@v9", "@v10"), "utf-8")
    _edit(project / GUARD, "# Written by", "# Ours, written by")

    done = _init(project, NEW, "--upgrade")

    assert done.returncode == 0, done.stderr
    text = (project / GUARD).read_text("utf-8")
    assert "@v10" in text
    assert "# Ours, written by" in text
    assert not side.exists()
    assert "budget: 3h" in (project / NIGHTLY).read_text("utf-8")
    settled = _init(project, NEW, "--upgrade")
    assert settled.stdout.count(": unchanged") == 4


def test_resolution_is_merged_with_newer_templates(project: Path) -> None:
    _edit(project / GUARD, WRITTEN, OWN)
    side = project / f"{GUARD}{MERGE_SUFFIX}"
    _init(project, NEW, "--upgrade")
    resolved = (project / GUARD).read_text("utf-8").replace("@v9", "@v10")
    side.write_text(resolved, "utf-8")

    newer = _init(project, NEWER, "--upgrade")
    marked = side.read_text("utf-8")
    side.write_text(resolved, "utf-8")
    done = _init(project, NEWER, "--upgrade")

    assert newer.returncode == 2
    assert "@v10" in marked
    assert f"guard.yml@{'3' * 40}" in marked
    assert done.returncode == 0, done.stderr
    assert (project / GUARD).read_text("utf-8") == resolved
    assert "3" * 40 in (project / NIGHTLY).read_text("utf-8")


def test_upgrade_waits_until_all_conflicts_are_resolved(project: Path) -> None:
    for name in (GUARD, NIGHTLY):
        _edit(project / name, f"guard.yml@{'1' * 40}", "guard.yml@v9")
    _init(project, NEW, "--upgrade")
    own = (project / GUARD).read_text("utf-8")
    (project / f"{GUARD}{MERGE_SUFFIX}").write_text(own, "utf-8")

    waiting = _init(project, NEW, "--upgrade")
    (project / f"{NIGHTLY}{MERGE_SUFFIX}").write_text(
        (project / NIGHTLY).read_text("utf-8"), "utf-8"
    )
    done = _init(project, NEW, "--upgrade")

    assert waiting.returncode == 2
    assert done.returncode == 0, done.stderr
    assert (project / GUARD).read_text("utf-8") == own
    assert list(project.rglob(f"*{MERGE_SUFFIX}")) == []


def test_upgrade_keeps_removed_files_removed_and_writes_new_files(project: Path) -> None:
    (project / NIGHTLY).unlink()
    record = json.loads((project / RECORD).read_text("utf-8"))
    del record["written"][GUARD]  # as if the older ciguard had not known it
    (project / RECORD).write_text(json.dumps(record), "utf-8")
    (project / GUARD).unlink()

    done = _init(project, NEW, "--upgrade")

    assert done.returncode == 0, done.stderr
    assert (
        f"{NIGHTLY}: not written: you removed the file after `ciguard init` wrote it" in done.stdout
    )
    assert f"{GUARD}: written" in done.stdout
    assert not (project / NIGHTLY).exists()


def test_upgrade_does_not_change_a_file_that_init_never_wrote(project: Path) -> None:
    record = json.loads((project / RECORD).read_text("utf-8"))
    del record["written"][GUARD]
    (project / RECORD).write_text(json.dumps(record), "utf-8")
    before = (project / GUARD).read_text("utf-8")

    done = _init(project, NEW, "--upgrade")

    assert f"{GUARD}: kept: there is no record of what `ciguard init` wrote" in done.stdout
    assert (project / GUARD).read_text("utf-8") == before


def test_upgrade_without_a_record_is_rejected(project: Path) -> None:
    (project / RECORD).unlink()

    done = _init(project, NEW, "--upgrade")

    assert done.returncode == 2
    assert "which records what `ciguard init` wrote" in done.stderr


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 9}', '{"schema": 1, "ci": "github"}'])
def test_upgrade_with_a_damaged_record_changes_nothing(project: Path, text: str) -> None:
    (project / RECORD).write_text(text, "utf-8")
    before = _state(project)

    done = _init(project, NEW, "--upgrade")

    assert done.returncode == 2
    assert f"{RECORD}: cannot be read" in done.stderr
    assert _state(project) == before


def test_init_suggests_an_upgrade_without_performing_it(project: Path) -> None:
    before = _state(project)

    done = _init(project, NEW)

    assert done.stdout.count("--upgrade merges your changes into the new text") == 3
    assert _state(project) == before


def test_force_discards_edits_and_excludes_upgrade(project: Path) -> None:
    _edit(project / NIGHTLY, "budget: 1h", "budget: 3h")

    both = _init(project, NEW, "--upgrade", "--force")
    done = _init(project, NEW, "--force")

    assert both.returncode == 2
    assert done.returncode == 0
    assert "budget: 1h" in (project / NIGHTLY).read_text("utf-8")
