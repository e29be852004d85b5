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

    from github.Issue import Issue as Filed

    from ciguard.trackers.github_client import GitHubClient

MAX_SEARCHED = 1_000
"""Limit on the issues of our account that are searched if the label finds none, latest first."""
_OVERLAP = timedelta(hours=1)
"""Maximum difference between our clock, GitHub's clock and its replicas."""


class IssueIndex:
    """The issues with our marker.

    Anybody can write a marker. An issue must therefore also have the label, which needs triage
    access, a number in the baseline, or the token's account as its author.
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
        self._filed: dict[int, Filed] = {}
        self._listed: datetime | None = None
        self._numbers: dict[str, int] = {}
        """Numbers of the issues in the baseline, by fingerprint."""
        self._fetched_numbers: set[int] = set()
        self._gone: set[int] = set()
        """Numbers of issues that are unusable, although a listing may still show them."""
        self._has_searched = False

    def remember(self, numbers: Mapping[str, str]) -> None:
        """Replace the issue numbers in the baseline, by fingerprint."""
        self._numbers = {
            name: int(number) for name, number in numbers.items() if number.isdecimal()
        }

    def update(self) -> set[int]:
        """List the issues that were filed or changed since the last listing; return their numbers.

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
        self._filed |= {filed.number: filed for filed in ours}
        return {filed.number for filed in listed}

    def issues(self) -> list[Filed]:
        """Return all of our issues by number.

        Raises:
            TrackerError: if GitHub rejects the request or does not respond in time.
        """
        if self._listed is None:
            self.update()
        return [filed for _, filed in sorted(self._filed.items())]

    def marked(self, names: Iterable[str], *, searches: bool = True) -> list[Filed]:
        """Return the issues of a group by number.

        Args:
            names: the names of the group and its buckets.
            searches: whether to search the issues of our account too, which may lack the label.

        Raises:
            TrackerError: if GitHub rejects the request or does not respond in time.
        """
        self.issues()
        wanted = self._same_issue(set(names))
        self._fetch_known(wanted)
        if searches and not self._matching(wanted):
            self._search()
        return self._matching(wanted)

    def get(self, number: str) -> Filed | None:
        """Return the issue with a number; None if it is not ours.

        Raises:
            TrackerError: if GitHub rejects the request or does not respond in time.
        """
        self.issues()
        return self._filed.get(int(number)) if number.isdecimal() else None

    def add(self, filed: Filed) -> None:
        """Add an issue that was just created."""
        self._filed[filed.number] = filed

    def remove(self, filed: Filed) -> None:
        """Remove an issue that is unusable."""
        self._filed.pop(filed.number, None)
        self._gone.add(filed.number)

    def _matching(self, wanted: set[str]) -> list[Filed]:
        numbers = {self._numbers[name] for name in wanted if name in self._numbers}
        return [filed for filed in self.issues() if _is_of(filed, wanted, numbers)]

    def _same_issue(self, names: set[str]) -> set[str]:
        """Return the names and all other names that the baseline records for the same issues."""
        numbers = {self._numbers[name] for name in names if name in self._numbers}
        return names | {name for name, number in self._numbers.items() if number in numbers}

    def _fetch_known(self, wanted: set[str]) -> None:
        """Fetch the issues in the baseline that the listing does not contain."""
        numbers = {self._numbers[name] for name in wanted if name in self._numbers}
        for number in sorted(numbers - self._filed.keys() - self._fetched_numbers - self._gone):
            filed = self._fetched(number)
            self._fetched_numbers.add(number)
            # GitHub redirects to the new repository of a transferred issue.
            if filed is not None and self._client.is_own(filed.html_url, number):
                self._filed[number] = filed

    def _fetched(self, number: int) -> Filed | None:
        issue = self._client.repository.get_issue(number)

        def complete() -> Filed:
            issue.complete()
            return issue

        try:
            return self._client.retry(complete, issue=number)
        except TrackerGoneError:
            return None

    def _search(self) -> None:
        """Search the issues of our account, once: their label may have been renamed or removed."""
        if self._has_searched:
            return
        login = self._client.login()
        mine = self._client.retry(lambda: self._written_by(login)) if login else []
        self._has_searched = True
        for filed in mine:
            if _is_issue(filed) and filed.user.login == login and filed.number not in self._gone:
                self._filed.setdefault(filed.number, filed)

    def _written_by(self, login: str) -> list[Filed]:
        listing = self._client.repository.get_issues(
            state="all",
            creator=login,  # type: ignore[arg-type]  # documented as a string, too
            sort="updated",
            direction="desc",
        )
        latest = itertools.islice(listing, MAX_SEARCHED)
        return [filed for filed in latest if marked_with(filed.body or "")]


def _is_of(filed: Filed, wanted: set[str], numbers: set[int]) -> bool:
    """Return whether an issue has one of these names, or its cause had another name before."""
    mark = marked_with(filed.body or "")
    return mark in wanted or (is_cause_name(mark) and filed.number in numbers)


def _is_issue(filed: Filed) -> bool:
    # The attribute `pull_request` would need one more request for each.
    return "/pull/" not in filed.html_url
