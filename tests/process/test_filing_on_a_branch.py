"""A run that files, with its baseline on a branch: how often it pushes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from filing_project import Project, bucket
from git_examples import bare_repository, git

from ciguard.baseline.git_branch import GitBranchStore
from ciguard.config import GitBranch

if TYPE_CHECKING:
    from pathlib import Path


def test_a_run_writes_a_branch_once_before_it_files_and_once_after(tmp_path: Path) -> None:
    remote = bare_repository(tmp_path / "remote.git")
    project = Project(tmp_path, GitBranchStore(GitBranch(str(remote))))
    project.run()
    commits = "rev-list", "--count", "ciguard-baseline"
    before = int(git(remote, *commits))

    project.run(bucket("torch.a"), bucket("torch.b"))

    assert int(git(remote, *commits)) == before + 2
    first, last = (git(remote, "show", f"ciguard-baseline{n}:buckets.jsonl") for n in ("~1", ""))
    assert (first.count('"issue": ""'), last.count('"issue": ""')) == (2, 0)
    waiting = git(remote, "show", "ciguard-baseline~1:outbox.jsonl")
    assert waiting.count('"task": "file"') == 2
    assert "outbox" not in git(remote, "ls-tree", "--name-only", "ciguard-baseline")
