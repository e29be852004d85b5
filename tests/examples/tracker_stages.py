"""The trackers that the contract holds for, each with a way to look at what people would see."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

from github_repository import NAME, Clock
from github_server import TOKEN, GitHubServer

from ciguard.trackers import Connection, IssueDefaults, LocalTracker, RetryBudget
from ciguard.trackers.github import GitHubTracker

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.trackers import Tracker
    from ciguard.trackers.contract import Issue


class Stage(Protocol):
    """A place for issues, as a person sees it."""

    clock: Clock

    def tracker(self) -> Tracker:
        """Return the tracker as another job would make it."""

    def text(self, issue: Issue) -> str:
        """Return all that the issue says."""

    def entries(self, issue: Issue) -> list[str]:
        """Return what was said in its history."""

    def silence(self, issue: Issue) -> None:
        """Ask, as a person, to hear no more of it."""

    def count(self) -> int:
        """Return how many issues there are."""


class LocalStage:
    """A folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "issues"
        self.clock = Clock()

    def tracker(self) -> LocalTracker:
        return LocalTracker(self._folder, now=self.clock.now)

    def text(self, issue: Issue) -> str:
        return (self._folder / issue.number).read_text("utf-8")

    def entries(self, issue: Issue) -> list[str]:
        lines = self.text(issue).rpartition("### History\n")[2].splitlines()
        said = [line.partition(" UTC: ")[2] for line in lines]
        return [re.sub("^(closed|reopened): ", "", line) for line in said if line != "opened"]

    def silence(self, issue: Issue) -> None:
        path = self._folder / issue.number
        text = re.sub("ciguard-state: [a-z]+", "ciguard-state: ignored", path.read_text("utf-8"))
        path.write_text(text, "utf-8")

    def count(self) -> int:
        return len(list(self._folder.glob("*.md")))


class GitHubStage:
    """A repository behind real HTTP; people silence an issue by its label."""

    def __init__(self, server: GitHubServer) -> None:
        self.server = server
        self.clock = server.clock

    def tracker(
        self, *, filer: str = "one", budget_s: float = 300.0, defaults: IssueDefaults | None = None
    ) -> GitHubTracker:
        clock = self.clock
        to = Connection(
            repository=NAME,
            api=self.server.address(filer),
            token=TOKEN,
            timeout_s=1,
            pause_s=0,
        )
        retry_budget = RetryBudget(budget_s, clock=clock.monotonic, sleep=clock.sleep)
        return GitHubTracker(to, defaults=defaults, retry_budget=retry_budget, now=clock.now)

    def text(self, issue: Issue) -> str:
        stored = self.server.repository.issues[int(issue.number)]
        said = [comment["body"] for comment in stored.comments]
        return "\n".join([stored.latest["title"], stored.latest["body"], *said])

    def entries(self, issue: Issue) -> list[str]:
        stored = self.server.repository.issues[int(issue.number)]
        return [line for comment in stored.comments for line in comment["body"].split("\n\n")[1:]]

    def silence(self, issue: Issue) -> None:
        state = self.server.repository.issues[int(issue.number)].latest
        self.server.repository.edit_issue(
            int(issue.number), {"labels": (*state["labels"], "ciguard:ignore")}, ""
        )

    def count(self) -> int:
        return len(self.server.repository.issues)


class NotPlannedStage(GitHubStage):
    """The same, where people silence an issue by closing it as not planned."""

    def silence(self, issue: Issue) -> None:
        self.server.repository.edit_issue(
            int(issue.number), {"state": "closed", "state_reason": "not_planned"}, ""
        )
