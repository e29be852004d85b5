"""Search for the pull request of a head commit, which events of forks' runs do not name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ciguard.domain.text import visible
from ciguard.errors import TrackerError
from ciguard.trackers.github_client import GitHubClient

if TYPE_CHECKING:
    from github.PullRequest import PullRequest

    from ciguard.trackers.connection import Connection
    from ciguard.trackers.publication import PullRequestOrigin
    from ciguard.trackers.retry_budget import RetryBudget


class PullRequests:
    """The pull requests into one repository."""

    def __init__(self, connection: Connection, retry_budget: RetryBudget) -> None:
        self._client = GitHubClient(connection, retry_budget, needs="pull-requests: read")
        self._repository = connection.repository

    def number_of(self, origin: PullRequestOrigin) -> int:
        """Return the number of the open pull request with exactly this head; 0 if there is none.

        GitHub does not list pull requests for commits of forks, so the search is by branch. A
        result counts only if its head commit, its head repository and its base match.

        Raises:
            TrackerError: if there are several, or GitHub rejects the request or does not respond
                in time.
        """
        owner = origin.repository.partition("/")[0]
        repository = self._client.repository
        listed = self._client.retry(
            lambda: list(repository.get_pulls(state="open", head=f"{owner}:{origin.branch}"))
        )
        numbers = [pull.number for pull in listed if self._is_of(pull, origin)]
        if len(numbers) > 1:
            shown = ", ".join(f"#{number}" for number in sorted(numbers))
            msg = (
                f"{self._repository}: {visible(origin.branch, limit=100)} is the head of "
                f"several pull requests ({shown}), so ciguard cannot tell which one to "
                "update. Close all of these pull requests but one."
            )
            raise TrackerError(msg)
        return numbers[0] if numbers else 0

    def _is_of(self, pull: PullRequest, origin: PullRequestOrigin) -> bool:
        head, base = pull.head, pull.base
        fork: Any = head.repo  # None for a deleted fork, although PyGithub's types exclude it
        if fork is None:
            return False
        return (
            pull.state == "open"
            and head.sha == origin.sha
            and head.ref == origin.branch
            and str(fork.full_name).casefold() == origin.repository.casefold()
            and base.repo.full_name.casefold() == self._repository.casefold()
        )
