"""A project whose issues are on GitHub, over several runs."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

from filing_project import RULES, Project, bucket
from tracker_stages import GitHubStage

from ciguard.domain.findings import Bucket, Comparison

if TYPE_CHECKING:
    from pathlib import Path

    from github_server import GitHubServer

FIXED_AFTER = 3
"""Clean runs until a bucket counts as fixed."""


class Repository:
    """A project whose issues are on GitHub, over several runs."""

    def __init__(self, folder: Path, server: GitHubServer) -> None:
        self.stage = GitHubStage(server)
        self.server = server
        self.project = Project(folder)
        self.project.rules = replace(RULES, cap=5, numbered=True)

    def run(self, *compared: Bucket) -> list[str]:
        self.server.clock.sleep(86_400)
        return self.project.run(*compared, tracker=self.stage.tracker())

    def fix(self, *names: str) -> None:
        """Run until the buckets of these APIs count as fixed."""
        for _ in range(FIXED_AFTER):
            self.run(*(bucket(name, Comparison.FIXED) for name in names))

    def lose_baseline(self) -> None:
        shutil.rmtree(self.project.folder / "baseline")

    def states(self) -> dict[int, str]:
        issues = self.server.repository.issues
        return {number: stored.latest["state"] for number, stored in issues.items()}

    def known_issues(self) -> set[str]:
        return {record.issue for record in self.project.store.load().values()}
