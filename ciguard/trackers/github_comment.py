"""The one comment of a guard on a pull request: found by its marker and author, never twice."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from github import UnknownObjectException

from ciguard.trackers.github_client import GitHubClient

if TYPE_CHECKING:
    from github.Issue import Issue
    from github.IssueComment import IssueComment

    from ciguard.trackers.connection import Connection
    from ciguard.trackers.patience import Patience
    from ciguard.trackers.shown import Comment


class StickyComment:
    """Comments on pull requests of one repository."""

    def __init__(self, to: Connection, patience: Patience) -> None:
        self._client = GitHubClient(to, patience, needs="pull-requests: write")

    def publish(self, comment: Comment) -> str:
        """Write the comment or bring it up to date. A newer head has a newer run: it is left.

        Raises:
            TrackerError: if GitHub refuses, or does not answer in time.
        """
        where = f"comment on #{comment.number}"
        head = self._client.repository.get_git_ref(f"pull/{comment.number}/head")
        if self._client.repeat(lambda: head.object.sha) != comment.head.sha:
            return f"{where} left alone: the pull request has a newer commit"
        issue = self._client.repository.get_issue(comment.number)
        text = f"{_marker(comment)}\n{comment.body}"
        ours = self._ours(issue, comment, comment.author)
        if not ours and not comment.is_news:
            return f"{where} left out: there is nothing to report"
        if not ours:
            made = self._client.create(
                lambda: issue.create_comment(text),
                lambda: next(iter(self._ours(issue, comment, comment.author)), None),
                what=where,
            )
            # The token may write as somebody else than we were told: then an older one is his.
            ours = self._ours(issue, comment, _login(made)) or [made]
        first, *others = ours
        if first.body != text:
            self._client.repeat(lambda: first.edit(text))
        for other in others:
            self._client.repeat(partial(_delete, other))
        return f"{where} is up to date"

    def _ours(self, issue: Issue, comment: Comment, author: str) -> list[IssueComment]:
        """Return the comments with our marker and author, the oldest first."""
        listed = self._client.repeat(lambda: list(issue.get_comments()))
        ours = [
            one for one in listed if _login(one) == author and one.body.startswith(_marker(comment))
        ]
        return sorted(ours, key=lambda one: one.id)


def _marker(comment: Comment) -> str:
    # The name holds no character that could end an HTML comment early but a hyphen.
    return f"<!-- ciguard-status: {comment.head.name.replace('-', '_')} -->"


def _login(one: IssueComment) -> str:
    user: Any = one.user  # PyGithub's types do not say that GitHub may send none
    return "" if user is None else str(user.login)


def _delete(one: IssueComment) -> None:
    try:
        one.delete()
    except UnknownObjectException:
        return  # another job has
