"""Which of a repository's issues are ours, and of which group: by label, by number, by author."""

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
"""Issues of our account that are looked through where the label shows none; the latest first."""
_OVERLAP = timedelta(hours=1)
"""How far two clocks and GitHub's replicas may be apart."""


class IssueIndex:
    """The issues that carry our marker.

    A marker alone proves nothing, since anybody may write one. An issue counts if it has the label,
    which only people with triage access can set, if the baseline knows its number, or if the
    token's own account wrote it.
    """

    def __init__(self, client: GitHubClient, *, label: str, now: Callable[[], datetime]) -> None:
        """Index nothing until the first question.

        Args:
            client: asks GitHub.
            label: of the issues that ciguard files.
            now: the time of day.
        """
        self._client = client
        self._label = label
        self._now = now
        self._filed: dict[int, Filed] = {}
        self._listed: datetime | None = None
        self._numbers: dict[str, int] = {}
        """By fingerprint, the issue that the baseline knows."""
        self._asked: set[int] = set()
        self._gone: set[int] = set()
        """Can be used no more, whatever a listing shows."""
        self._has_searched = False

    def remember(self, numbers: Mapping[str, str]) -> None:
        """Learn anew which numbers the baseline knows, by fingerprint."""
        known = {name: int(number) for name, number in numbers.items() if number.isdecimal()}
        self._numbers = known

    def update(self) -> set[int]:
        """Take up what was filed or changed since the last listing; return the numbers.

        Raises:
            TrackerError: if GitHub refuses, or does not answer in time.
        """
        began = self._now()
        since = NotSet if self._listed is None else self._listed - _OVERLAP
        listed = self._client.repeat(
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
        self._listed = began
        ours = [f for f in listed if _is_issue(f) and f.number not in self._gone]
        self._filed |= {filed.number: filed for filed in ours}
        return {filed.number for filed in listed}

    def issues(self) -> list[Filed]:
        """Return every issue that is known to be ours, in the order of numbers.

        Raises:
            TrackerError: if GitHub refuses, or does not answer in time.
        """
        if self._listed is None:
            self.update()
        return [filed for _, filed in sorted(self._filed.items())]

    def marked(self, names: Iterable[str], *, searches: bool = True) -> list[Filed]:
        """Return the issues of the group with these names, in the order of numbers.

        Args:
            names: of the group and its buckets.
            searches: whether issues of our account count that have not the label.

        Raises:
            TrackerError: if GitHub refuses, or does not answer in time.
        """
        self.issues()
        wanted = self._same_issue(set(names))
        self._recall(wanted)
        if searches and not self._of(wanted):
            self._search()
        return self._of(wanted)

    def get(self, number: str) -> Filed | None:
        """Return one of the issues by its number.

        Raises:
            TrackerError: if GitHub refuses, or does not answer in time.
        """
        self.issues()
        return self._filed.get(int(number)) if number.isdecimal() else None

    def add(self, filed: Filed) -> None:
        """Take up an issue that was just created."""
        self._filed[filed.number] = filed

    def remove(self, filed: Filed) -> None:
        """Forget an issue that is gone."""
        self._filed.pop(filed.number, None)
        self._gone.add(filed.number)

    def _of(self, wanted: set[str]) -> list[Filed]:
        numbers = {self._numbers[name] for name in wanted if name in self._numbers}
        return [filed for filed in self.issues() if _is_of(filed, wanted, numbers)]

    def _same_issue(self, names: set[str]) -> set[str]:
        """Return these fingerprints and the others that the baseline has of the same issue."""
        numbers = {self._numbers[name] for name in names if name in self._numbers}
        return names | {name for name, number in self._numbers.items() if number in numbers}

    def _recall(self, wanted: set[str]) -> None:
        """Ask for the issue that the baseline knows, where the listing does not have it."""
        numbers = {self._numbers[name] for name in wanted if name in self._numbers}
        for number in sorted(numbers - self._filed.keys() - self._asked - self._gone):
            filed = self._fetched(number)
            self._asked.add(number)
            # A transferred issue is answered by the repository where it is now.
            if filed is not None and self._client.is_own(filed.html_url, number):
                self._filed[number] = filed

    def _fetched(self, number: int) -> Filed | None:
        issue = self._client.repository.get_issue(number)

        def complete() -> Filed:
            issue.complete()
            return issue

        try:
            return self._client.repeat(complete, issue=number)
        except TrackerGoneError:
            return None

    def _search(self) -> None:
        """Look through what our own account filed, once: its label may be renamed or removed."""
        if self._has_searched:
            return
        login = self._client.login()
        mine = self._client.repeat(lambda: self._written_by(login)) if login else []
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
    """Return whether an issue is of one of these names; the name of its cause may have changed."""
    mark = marked_with(filed.body or "")
    return mark in wanted or (is_cause_name(mark) and filed.number in numbers)


def _is_issue(filed: Filed) -> bool:
    # Asking whether it is a pull request would be one more request for each.
    return "/pull/" not in filed.html_url
