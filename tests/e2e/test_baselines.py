"""A project turns the guard on: old bugs are recorded on a branch, and filed a few at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from ciguard_command import PLANTED, answer, buckets_of, campaign, command
from git_examples import bare_repository, git

if TYPE_CHECKING:
    from pathlib import Path

QUICK = ("--exclude", "*.spin", "--max-cases", "320")
BRANCH = "ciguard-baseline"


def test_a_baseline_on_a_branch_serves_every_clone(tmp_path: Path) -> None:
    remote = bare_repository(tmp_path / "remote.git")
    first, second = tmp_path / "first", tmp_path / "second"
    for clone in (first, second):
        clone.mkdir()
        git(clone, "init", "--quiet")
        git(clone, "remote", "add", "origin", str(remote))
        (clone / "ciguard.toml").write_text('baseline = "git+origin"\n')

    too_early = answer(campaign(*QUICK, "--compare-only"), second)
    established = answer(campaign("init", *QUICK), first)
    assert established.returncode == 0, established.stdout + established.stderr
    tip = git(remote, "rev-parse", BRANCH)
    compared = answer(campaign(*QUICK, "--compare-only"), second)
    compared_tip = git(remote, "rev-parse", BRANCH)
    has_filed = (second / ".ciguard" / "issues").exists()
    again = answer(campaign("init", *QUICK), second)
    updated = answer(campaign(*QUICK), second)
    shown = answer(command("baseline", "show"), second)

    assert too_early.returncode == 2
    assert "there is no baseline to compare with" in too_early.stderr
    assert "BASELINE ESTABLISHED" in established.stdout
    assert not (first / ".ciguard" / "issues").exists()
    assert compared.returncode == 0, compared.stdout
    assert "NOTHING NEW" in compared.stdout
    assert compared_tip == tip
    assert not has_filed
    assert again.returncode == 2
    assert "already contains a baseline" in again.stderr
    assert updated.returncode == 0, updated.stdout
    assert tip in git(remote, "rev-list", BRANCH).splitlines()
    assert not git(remote, "rev-list", "--merges", BRANCH)
    assert f"git+origin#{BRANCH}: " in shown.stdout


@pytest.mark.slow
def test_promote_files_the_most_severe_buckets_first(tmp_path: Path) -> None:
    established = answer(campaign("init", *QUICK), tmp_path)
    assert established.returncode == 0, established.stdout + established.stderr
    issues = tmp_path / ".ciguard" / "issues"
    before = issues.exists()

    promoted = answer(command("baseline", "promote", "--most", "2"), tmp_path)
    filed = sorted(path.name for path in issues.glob("[gv]1-*.md") if "0000000000" not in path.name)
    texts = [(issues / name).read_text("utf-8") for name in filed]
    shown = answer(command("baseline", "show"), tmp_path)
    run = answer(campaign(*QUICK), tmp_path)
    pruned = answer(command("baseline", "prune", "--older-than", "0"), tmp_path)

    assert not before
    assert promoted.returncode == 0, promoted.stderr
    assert len(filed) == 2
    assert all(name in promoted.stdout for name in filed)
    assert all("```python" in text for text in texts), "each with a script to run"
    assert not any("regression" in text.lower() for text in texts)
    assert "critical" in shown.stdout
    assert "2 with an issue" in shown.stdout
    assert run.returncode == 0, run.stdout
    assert pruned.returncode == 0, pruned.stderr
    assert "buckets removed" in pruned.stdout


def test_without_a_baseline_the_head_is_judged_by_its_base(tmp_path: Path) -> None:
    base, head = PLANTED

    same = answer(campaign(*QUICK, "--base", base, targets=(base,)), tmp_path)
    changed = answer(campaign(*QUICK, "--base", base, targets=(head,)), tmp_path)
    buckets = buckets_of(tmp_path / ".ciguard" / "run")

    assert same.returncode == 0, same.stdout
    assert "NOTHING NEW" in same.stdout
    assert changed.returncode == 1, changed.stdout
    assert "NEW FINDINGS" in changed.stdout
    assert buckets
    assert not (tmp_path / ".ciguard" / "baseline").exists()
    assert not (tmp_path / ".ciguard" / "issues").exists()
