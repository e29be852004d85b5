"""Which pull request a commit is the head of: for a fork, the event of its run names none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ciguard.domain.text import visible
from ciguard.errors import TrackerError
from ciguard.trackers.github_client import GitHubClient

if TYPE_CHECKING:
    from github.PullRequest import PullRequest

    from ciguard.trackers.connection import Connection
    from ciguard.trackers.patience import Patience
    from ciguard.trackers.shown import PullRequestOrigin


class PullRequests:
    """Pull requests into one repository."""

    def __init__(self, to: Connection, patience: Patience) -> None:
        self._client = GitHubClient(to, patience, needs="pull-requests: read")
        self._repository = to.repository

    def number_of(self, origin: PullRequestOrigin) -> int:
        """Return the number of the open pull request that has exactly this head; 0 if none has.

        GitHub's list of the pull requests of a commit is empty for commits of forks, so the branch
        is what it is asked for. Nothing in the answer is taken for granted: a newer push, another
        repository or another base is another pull request.

        Raises:
            TrackerError: if several have it, or GitHub refuses or does not answer in time.
        """
        owner = origin.repository.partition("/")[0]
        repository = self._client.repository
        listed = self._client.repeat(
            lambda: list(repository.get_pulls(state="open", head=f"{owner}:{origin.branch}"))
        )
        numbers = [pull.number for pull in listed if self._is_of(pull, origin)]
        if len(numbers) > 1:
            shown = ", ".join(f"#{number}" for number in sorted(numbers))
            msg = (
                f"{self._repository}: {visible(origin.branch, limit=100)} is the head of {shown}, "
                "and the run does not report which one it judged. Close all but one of them."
            )
            raise TrackerError(msg)
        return numbers[0] if numbers else 0

    def _is_of(self, pull: PullRequest, origin: PullRequestOrigin) -> bool:
        head, base = pull.head, pull.base
        fork: Any = head.repo  # PyGithub's types do not know that a deleted fork is null
        if fork is None:
            return False
        return (
            pull.state == "open"
            and head.sha == origin.sha
            and head.ref == origin.branch
            and str(fork.full_name).casefold() == origin.repository.casefold()
            and base.repo.full_name.casefold() == self._repository.casefold()
        )
