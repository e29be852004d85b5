"""The index of ciguard's issues in a repository: by label, by number and by author."""

from __future__ import annotations

import itertools
from datetime import timedelta
from typing import TYPE_CHECKING

from github.GithubObject import NotSet

from ciguard.errors import TrackerGoneError
from ciguard.trackers.contract import marked_with
from ciguard.triage import is_cause_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from github.Issue import Issue as GitHubIssue

    from ciguard.trackers.github_client import GitHubClient

MAX_SEARCHED = 1_000
"""Maximum number of issues by our account that are searched if no issue with the label matches."""
_OVERLAP = timedelta(hours=1)
"""Maximum difference between the clocks of this machine, of GitHub and of GitHub's replicas."""


class IssueIndex:
    """The issues with our marker.

    Any user can write a marker. An issue therefore counts only if it also has the label, which
    needs triage access, if the baseline has its number, or if the token's account is its author.
    """

    def __init__(self, client: GitHubClient, *, label: str, now: Callable[[], datetime]) -> None:
        """Create an empty index, which the first query fills.

        Args:
            client: the client of the repository.
            label: the label of the issues that ciguard files.
            now: a function that returns the current time.
        """
        self._client = client
        self._label = label
        self._now = now
        self._filed: dict[int, GitHubIssue] = {}
        self._listed: datetime | None = None
        self._numbers: dict[str, int] = {}
        """Numbers of the issues that the baseline records, by fingerprint."""
        self._fetched_numbers: set[int] = set()
        self._gone: set[int] = set()
        """Numbers of issues that are unusable, although a listing may still show them."""
        self._has_searched = False

    def remember(self, numbers: Mapping[str, str]) -> None:
        """Set the issue numbers that the baseline records, by fingerprint."""
        self._numbers = {
            name: int(number) for name, number in numbers.items() if number.isdecimal()
        }

    def update(self) -> set[int]:
        """List the issues that changed since the last listing; return their numbers.

        Raises:
            TrackerError: if GitHub rejects the request or does not respond in time.
        """
        started = self._now()
        since = NotSet if self._listed is None else self._listed - _OVERLAP
        listed = self._client.retry(
            lambda: list(
                self._client.repository.get_issues(
                    state="all",
                    labels=[self._label],
                    sort="created",
                    direction="asc",
                    since=since,
                )
            )
        )
        self._listed = started
        ours = [f for f in listed if _is_issue(f) and f.number not in self._gone]
        self._filed |= {github_issue.number: github_issue for github_issue in ours}
        return {github_issue.number for github_issue in listed}

    def issues(self) -> list[GitHubIssue]:
        """Return all of our issues, sorted by number.

        Raises:
            TrackerError: if GitHub rejects the request or does not respond in time.
        """
        if self._listed is None:
            self.update()
        return [github_issue for _, github_issue in sorted(self._filed.items())]

    def marked(self, names: Iterable[str], *, searches: bool = True) -> list[GitHubIssue]:
        """Return the issues of a group, sorted by number.

        Args:
            names: the names of the group and its buckets.
            searches: whether to search the issues of our account too, which may have lost the
                label.

        Raises:
            TrackerError: if GitHub rejects the request or does not respond in time.
        """
        self.issues()
        wanted = self._same_issue(set(names))
        self._fetch_known(wanted)
        if searches and not self._matching(wanted):
            self._search()
        return self._matching(wanted)

    def get(self, number: str) -> GitHubIssue | None:
        """Return the issue with a number; None if ciguard did not file it.

        Raises:
            TrackerError: if GitHub rejects the request or does not respond in time.
        """
        self.issues()
        return self._filed.get(int(number)) if number.isdecimal() else None

    def add(self, github_issue: GitHubIssue) -> None:
        """Add an issue that was just created."""
        self._filed[github_issue.number] = github_issue

    def remove(self, github_issue: GitHubIssue) -> None:
        """Remove an issue that was deleted, transferred or converted, and ignore it from now on."""
        self._filed.pop(github_issue.number, None)
        self._gone.add(github_issue.number)

    def _matching(self, wanted: set[str]) -> list[GitHubIssue]:
        numbers = {self._numbers[name] for name in wanted if name in self._numbers}
        return [
            github_issue for github_issue in self.issues() if _is_of(github_issue, wanted, numbers)
        ]

    def _same_issue(self, names: set[str]) -> set[str]:
        """Return the names and all other names that the baseline records for the same issues."""
        numbers = {self._numbers[name] for name in names if name in self._numbers}
        return names | {name for name, number in self._numbers.items() if number in numbers}

    def _fetch_known(self, wanted: set[str]) -> None:
        """Fetch the issues that the baseline records and that the listing does not contain."""
        numbers = {self._numbers[name] for name in wanted if name in self._numbers}
        for number in sorted(numbers - self._filed.keys() - self._fetched_numbers - self._gone):
            github_issue = self._fetch(number)
            self._fetched_numbers.add(number)
            # GitHub redirects to the new repository of a transferred issue.
            if github_issue is not None and self._client.is_own(github_issue.html_url, number):
                self._filed[number] = github_issue

    def _fetch(self, number: int) -> GitHubIssue | None:
        issue = self._client.repository.get_issue(number)

        def complete() -> GitHubIssue:
            issue.complete()
            return issue

        try:
            return self._client.retry(complete, issue=number)
        except TrackerGoneError:
            return None

    def _search(self) -> None:
        """Search the issues of our account, whose label may have been renamed or removed.

        Only the first call searches.
        """
        if self._has_searched:
            return
        login = self._client.login()
        mine = self._client.retry(lambda: self._issues_by(login)) if login else []
        self._has_searched = True
        for github_issue in mine:
            if (
                _is_issue(github_issue)
                and github_issue.user.login == login
                and github_issue.number not in self._gone
            ):
                self._filed.setdefault(github_issue.number, github_issue)

    def _issues_by(self, login: str) -> list[GitHubIssue]:
        listing = self._client.repository.get_issues(
            state="all",
            creator=login,  # type: ignore[arg-type]  # the documentation also allows a string
            sort="updated",
            direction="desc",
        )
        latest = itertools.islice(listing, MAX_SEARCHED)
        return [github_issue for github_issue in latest if marked_with(github_issue.body or "")]


def _is_of(github_issue: GitHubIssue, wanted: set[str], numbers: set[int]) -> bool:
    """Return whether an issue belongs to a group.

    Args:
        github_issue: the issue.
        wanted: the names of the group and its buckets.
        numbers: the numbers of the group's issues in the baseline. They count only for an issue
            that is named after a cause, because the name of a cause may change.
    """
    mark = marked_with(github_issue.body or "")
    return mark in wanted or (is_cause_name(mark) and github_issue.number in numbers)


def _is_issue(github_issue: GitHubIssue) -> bool:
    # Reading the attribute `pull_request` would send one more request for each issue.
    return "/pull/" not in github_issue.html_url
